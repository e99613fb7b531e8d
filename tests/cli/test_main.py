"""The command as a whole: help, verbs, wrong use, and messages for exceptions."""

import errno
import json
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from regard.cli.failure import describe_failure
from regard.cli.main import VERBS
from regard.plot import MissingFontWarning
from regard.text.input_error import FailedElsewhere, InputError
from regard.training.recipe import recipe_names

from .conftest import Command


def test_help_lists_every_verb(command: Command) -> None:
    for arguments in (["--help"], ["-h"], ["help"]):
        outcome = command(*arguments)
        assert outcome.code == 0
        assert all(f"\n  {verb} " in outcome.out for verb in VERBS)
        assert "New here? Start with regard demo." in outcome.out
    alone = command()
    assert (alone.code, alone.err) == (2, "")
    assert "Verbs:" in alone.out


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_each_verb(command: Command, verb: str) -> None:
    outcome = command(verb, "--help")
    assert (outcome.code, outcome.err) == (0, "")
    first = outcome.out.splitlines()[0]
    assert first.startswith(f"regard {verb} ")
    assert first.endswith("[options]")
    assert "Options:\n" in outcome.out
    assert max(len(line) for line in outcome.out.splitlines()) <= 100
    for oddity in ("…...", "{", "[[", "<str", "<path", "<int", "<list", "Annotated", "None"):
        assert oddity not in outcome.out
    assert command("help", verb).out == outcome.out


def test_help_shows_the_value_of_each_option(command: Command) -> None:
    out = command("translate", "--help").out
    assert "regard translate BUNDLE [TEXT...] [options]" in out
    assert "--input FILE" in out
    assert "--beam N" in out
    assert '    regard translate runs/demo "The black cat sat on the mat." --walk\n' in out


def test_help_sets_paragraphs_and_keeps_examples(command: Command) -> None:
    out = command("align", "--help").out
    assert "without one the model\ntranslates. --reverse symmetrises" in out
    assert "\n    regard align runs/demo --tune " in out
    assert "\nActions:\n  N  " in command("learn", "--help").out


def test_train_alone_lists_the_recipes(command: Command) -> None:
    outcome = command("train")
    assert (outcome.code, outcome.err) == (0, "")
    home, away = outcome.out.split("From a corpus")
    assert "\n  reverse  " in home
    assert "the attention becomes an\n" in home, "a word is not cut at its hyphen"
    assert "\n  multi30k-en-de  " in away
    assert all(f"\n  {name} " in outcome.out for name in recipe_names())


def test_the_version(command: Command) -> None:
    outcome = command("--version")
    assert outcome.code == 0
    assert outcome.out.strip().replace(".", "").isdigit()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trnslate", "x"], "there is no 'regard trnslate': did you mean 'translate'?"),
        (["--beam"], "there is no 'regard --beam': valid commands are demo, data"),
        (["translate"], "Missing argument 'BUNDLE'; see: regard translate --help"),
        (["translate", "x", "--bem", "3"], "No such option: --bem"),
        (["translate", "x", "--beam", "three"], "Invalid value for '--beam'"),
        (["translate", "x", "--beam"], "--beam"),
        (["info", "x", "y"], "y"),
    ],
    ids=["unknown verb", "no verb", "missing", "unknown option", "no number", "no value", "too many"],
)
def test_wrong_use_prints_one_line(command: Command, arguments: list[str], message: str) -> None:
    outcome = command(*arguments)
    assert outcome.code == 2
    assert message in outcome.complaint


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (InputError("wrong"), 2, "wrong"),
        (OSError(errno.EIO, "Input/output error", "disk"), 1, "disk: Input/output error"),
        (OSError(errno.ENOSPC, "No space left on device"), 1, "standard output: No space left on device"),
        (MemoryError(), 1, "out of memory"),
        (ValueError("the model gave NaN"), 1, "the model gave NaN"),
        (RuntimeError("first\nsecond"), 1, "unexpected RuntimeError: first (REGARD_DEBUG=1 shows where)"),
        (KeyError(), 1, "unexpected KeyError: no reason given"),
        (
            ModuleNotFoundError("No module named 'sacrebleu.metrics'", name="sacrebleu.metrics"),
            1,
            "the package 'sacrebleu' is missing: pip install regard installs everything that it needs",
        ),
        (ModuleNotFoundError("No module named 'regard.x'", name="regard.x"), 1, "unexpected ModuleNotFoundError"),
        (FailedElsewhere("worker 0 of 2 reported the error"), 2, ""),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_every_failure_has_a_line_and_a_code(error: Exception, code: int, message: str) -> None:
    printed, given = describe_failure(error)
    assert given == code
    assert printed.startswith(message)


@pytest.mark.parametrize(
    ("number", "code"), [(errno.ENOSPC, 1), (errno.EROFS, 1), (errno.EACCES, 1), (errno.ENOENT, 2), (errno.EISDIR, 2)]
)
def test_disk_errors_exit_with_1(number: int, code: int) -> None:
    error = InputError("cannot write x")
    error.__cause__ = OSError(number, "reason")
    assert describe_failure(error)[1] == code


def test_a_checkout_that_was_never_installed_trains_and_translates(tmp_path: Path) -> None:
    code = """
import importlib.metadata as metadata, sys
known = metadata.distribution
def distribution(name):
    if name == "regard":
        raise metadata.PackageNotFoundError(name)
    return known(name)
metadata.distribution = distribution
from regard.cli.main import run
small = ["data.train=20", "data.dev=2", "model.embedding=4", "model.encoder_units=4", "train.device=cpu"]
changes = [word for one in (*small, "model.decoder_units=4", "train.steps=2") for word in ("--set", one)]
sys.exit(run(["train", "reverse", *changes, "--out", sys.argv[1]]) or run(["translate", sys.argv[1], "1 2"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "run")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "run" / "last" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["regard"] == "0+unknown"


def test_the_command_needs_no_undeclared_package() -> None:
    """Only packages that pyproject.toml names may be imported (typer once depended on click, and no longer does)."""
    code = "import sys; sys.modules['click'] = None; from regard.cli.main import run; sys.exit(run(['info', '--help']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_torchs_out_of_memory_error_gets_the_usual_message() -> None:
    import torch

    with pytest.raises(RuntimeError) as caught:
        torch.empty(1 << 60)
    assert describe_failure(caught.value)[0].startswith("out of memory: ")
    assert describe_failure(RuntimeError("something else"))[0].startswith("unexpected RuntimeError: ")


def test_help_imports_nothing_heavy() -> None:
    code = "import sys; from regard.cli.main import run; run(['--help']); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_our_warnings_are_printed_and_those_of_libraries_are_not(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    command("--version")
    capsys.readouterr()
    warnings.showwarning(MissingFontWarning("no font"), MissingFontWarning, "file.py", 3)
    warnings.showwarning(UserWarning("internal"), UserWarning, "file.py", 3)
    assert capsys.readouterr().err == "regard: no font\n"


def test_ctrl_c_inside_an_exec_gives_the_exit_code_of_an_interruption(tmp_path: Path) -> None:
    lines = [
        "from regard.cli import main",
        "def interrupted(arguments): exec('raise KeyboardInterrupt')",
        "main._run_alone = interrupted",
        "main.main()",
    ]
    (tmp_path / "interrupted.py").write_text("\n".join(lines), encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "interrupted"], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr.decode()) == (130, "regard: interrupted\n")

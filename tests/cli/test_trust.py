"""Issue 13, item 1: every verb that loads a bundle refuses its foreign class, and takes --trust."""

import json
import sys
from pathlib import Path

import pytest

from runtime.bundles import untrained
from runtime.foreign import MINE, OWN, forge, write_module

from .conftest import Command

VERBS = {
    "translate": ["translate", "FOREIGN", "the cat"],
    "translate --ensemble": ["translate", "OURS", "the cat", "--ensemble", "FOREIGN"],
    "info": ["info", "FOREIGN"],
    "info --json": ["info", "FOREIGN", "--json"],
    "evaluate": ["evaluate", "FOREIGN"],
    "evaluate data": ["evaluate", "FOREIGN", "DATA"],
    "evaluate --links": ["evaluate", "FOREIGN", "--source", "SOURCE", "--target", "TARGET", "--links", "LINKS"],
    "evaluate --against": ["evaluate", "OURS", "DATA", "--against", "FOREIGN"],
    "evaluate --ensemble": ["evaluate", "OURS", "DATA", "--ensemble", "FOREIGN"],
    "align": ["align", "FOREIGN", "DATA"],
    "align --reverse": ["align", "OURS", "DATA", "--reverse", "BACKWARD"],
    "plot": ["plot", "FOREIGN", "the cat", "--out", "OUT"],
    "export": ["export", "int8", "FOREIGN", "--out", "FOLDER"],
    "translate --engine": ["translate", "FOREIGN", "--engine", "local", "--input", "SOURCE", "--output", "FOLDER"],
}


@pytest.fixture
def strange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_module(tmp_path / "strange")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=":")
    monkeypatch.delitem(sys.modules, "strange_mechanism", raising=False)
    return folder


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    """The values of the placeholders in capitals."""
    texts = {"DATA": "the cat\tle chat\n", "SOURCE": "the cat\n", "TARGET": "le chat\n", "LINKS": "0-0 1-1\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    bundles = {"FOREIGN": forge(tmp_path / "foreign"), "BACKWARD": forge(tmp_path / "backward", turned=True)}
    bundles |= {"OURS": untrained(tmp_path / "ours")}
    return {
        **bundles,
        "OUT": tmp_path / "out.png",
        "FOLDER": tmp_path / "out",
        **{name: tmp_path / name for name in texts},
    }


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_runs_a_bundle_s_code(verb: str, command: Command, places: dict[str, Path], strange: Path) -> None:
    words = [str(places.get(word, word)) for word in VERBS[verb]]
    outcome = command(*words)
    assert outcome.code == 2
    assert f'score "{MINE}"' in outcome.complaint
    assert "was not imported" in outcome.complaint
    assert f"--trust {MINE}" in outcome.complaint
    assert not (strange / "imported").exists()
    assert "was not imported" in command(*words, "--trust", "strange_mechanism:Other").complaint
    trusted = command(*words, "--trust", MINE)
    assert (trusted.code, (strange / "imported").exists()) == (0, True), trusted.err


def test_the_doctor_examines_without_running(command: Command, places: dict[str, Path], strange: Path) -> None:
    outcome = command("doctor", places["FOREIGN"])
    assert outcome.code == 1
    assert outcome.out.startswith("✗ ")
    assert f"--trust {MINE}" in outcome.out
    assert not (strange / "imported").exists()
    assert command("doctor", places["FOREIGN"], "--trust", MINE).code == 0


def test_the_doctor_builds_what_the_user_s_own_recipe_names(command: Command, tmp_path: Path, strange: Path) -> None:
    (tmp_path / "mine.toml").write_text(OWN, encoding="utf-8")
    assert command("doctor", tmp_path / "mine.toml").code == 0
    assert (strange / "imported").exists()


def test_the_doctor_does_not_build_what_a_bundle_s_recipe_names(
    command: Command, places: dict[str, Path], strange: Path
) -> None:
    (places["FOREIGN"] / "recipe.toml").write_text(OWN, encoding="utf-8")
    outcome = command("doctor", places["FOREIGN"] / "recipe.toml")
    assert outcome.code == 1
    assert "was not imported" in outcome.out
    assert not (strange / "imported").exists()
    assert command("doctor", places["FOREIGN"] / "recipe.toml", "--trust", MINE).code == 0


def test_train_takes_trust_for_a_recipe_of_a_bundle(
    command: Command, places: dict[str, Path], strange: Path, tmp_path: Path
) -> None:
    recipe = places["FOREIGN"] / "recipe.toml"
    recipe.write_text(OWN, encoding="utf-8")
    refused = command("train", recipe, "--out", tmp_path / "run")
    assert (refused.code, f"--trust {MINE}" in refused.err) == (2, True)
    assert not (strange / "imported").exists()
    assert command("train", recipe, "--out", tmp_path / "run", "--trust", MINE).code == 0


@pytest.mark.slow
def test_compare_runs_what_the_user_s_recipe_names_and_no_task_file_s(
    command: Command, tmp_path: Path, strange: Path
) -> None:
    recipe, out = tmp_path / "mine.toml", tmp_path / "out"
    recipe.write_text(OWN.replace(f'score = "{MINE}"\n', ""), encoding="utf-8")
    (tmp_path / "two.toml").write_text(
        f'recipe = "mine.toml"\nseeds = 1\nsentences = 2\nshown = 0\n[variants.mine.model]\nscore = "{MINE}"\n',
        encoding="utf-8",
    )
    done = command("compare", tmp_path / "two.toml", "--out", out)
    assert done.code == 0, done.err
    assert (strange / "imported").exists(), "the process of the run imported it"
    (strange / "imported").unlink()
    # A comparison folder of somebody else's: its task wants a class that the user's own recipe does not name.
    seed = out / "variants" / "mine" / "seed-0"
    task = json.loads((seed / "task.json").read_text(encoding="utf-8"))
    plain = tmp_path / "plain"
    assert command("compare", recipe, "--score", "additive", "--seeds", 1, "--sentences", 2, "--out", plain).code == 0
    other = plain / "variants" / "additive" / "seed-0"
    (other / "result.json").unlink()
    for folder in ("best", "last"):
        (other / "run" / folder).rename(tmp_path / f"away-{folder}")
        (seed / "run" / folder).rename(other / "run" / folder)
    again = command(
        "compare", recipe, "--score", "additive", "--seeds", 1, "--sentences", 2, "--out", plain, "--resume"
    )
    assert again.code == 1
    assert "was not imported" in again.err
    assert not (strange / "imported").exists()
    (other / "task.json").write_text(json.dumps(task), encoding="utf-8")
    forged = command(
        "compare", recipe, "--score", "additive", "--seeds", 1, "--sentences", 2, "--out", plain, "--resume"
    )
    assert "model.score was 'strange_mechanism:Mine', is 'additive'" in forged.err
    assert not (strange / "imported").exists()

"""Shell completion, in the real shells."""

import shutil
import sys
from pathlib import Path

import pytest

from processes import completed
from regard.bundle.find import pretrained_names
from regard.cli.main import VERBS

from .conftest import Command

BASH = """
eval "$({python} -m regard completion bash)"
complete_words() {{ COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _regard; echo "${{COMPREPLY[*]}}"; }}
{calls}
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash on this machine")
def test_bash_completes_verbs_options_and_recipes() -> None:
    wanted = {
        "regard tra": ["train", "translate"],
        "regard train --re": ["--resume"],
        "regard translate runs/demo --length-": ["--length-penalty"],
        "regard compare rev": ["reverse"],
        'regard translate ""': pretrained_names(),
        "regard plot x": [],
        'regard ""': [*VERBS, "--help", "--version"],
    }
    calls = "\n".join(f"complete_words {words}" for words in wanted)
    done = completed(["bash", "--norc", "-c", BASH.format(python=sys.executable, calls=calls)])
    assert (done.returncode, done.stderr) == (0, "")
    assert dict(zip(wanted, map(str.split, done.stdout.splitlines()), strict=True)) == wanted


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh on this machine")
def test_zsh_accepts_its_script(tmp_path: Path) -> None:
    script = f'autoload -U compinit && compinit -D; eval "$({sys.executable} -m regard completion zsh)"; whence _regard'
    done = completed(["zsh", "-f", "-c", script], cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish on this machine")
def test_fish_completes_verbs() -> None:
    script = f"{sys.executable} -m regard completion fish | source; complete -C 'regard tra'"
    done = completed(["fish", "--no-config", "-c", script])
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["train", "translate"]


def test_every_option_of_every_verb_is_in_the_scripts(command: Command) -> None:
    bash, fish = (command("completion", shell).out for shell in ("bash", "fish"))
    for option in ("--length-penalty", "--trust", "--resume", "--seeds", "--in-place"):
        assert option in bash
        assert f"-l {option.removeprefix('--')} " in fish


def test_an_unknown_shell_is_refused(command: Command) -> None:
    outcome = command("completion", "tcsh")
    assert outcome.code == 2
    assert "no completion for 'tcsh'" in outcome.complaint

"""Completion at the Tab key, in the shells themselves."""

import shutil
import sys
from pathlib import Path

import pytest

from processes import completed
from regard.bundle.find import pretrained_names
from regard.cli.main import VERBS

from .conftest import Command

BASH = """
eval "$({python} -m regard completion {shell})"
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_regard
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def replies(words: str) -> list[str]:
    script = BASH.format(python=sys.executable, shell="bash", words=words)
    done = completed(["bash", "--norc", "-c", script])
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash on this machine")
def test_item_16_bash_completes_verbs_options_and_recipes() -> None:
    assert replies("regard tra") == ["train", "translate"]
    assert replies('regard ""')[: len(VERBS)] == list(VERBS)
    assert replies("regard train --re") == ["--resume"]
    assert replies("regard translate runs/demo --length-") == ["--length-penalty"]
    assert replies("regard compare rev") == ["reverse"]
    assert replies('regard translate ""') == pretrained_names()
    assert replies("regard plot x") == []


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh on this machine")
def test_item_16_zsh_accepts_its_script(tmp_path: Path) -> None:
    script = f'autoload -U compinit && compinit -D; eval "$({sys.executable} -m regard completion zsh)"; whence _regard'
    done = completed(["zsh", "-f", "-c", script], cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish on this machine")
def test_item_16_fish_completes_verbs() -> None:
    script = f"{sys.executable} -m regard completion fish | source; complete -C 'regard tra'"
    done = completed(["fish", "--no-config", "-c", script])
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["train", "translate"]


def test_item_16_every_option_of_every_verb_is_in_the_scripts(command: Command) -> None:
    bash, fish = (command("completion", shell).out for shell in ("bash", "fish"))
    for option in ("--length-penalty", "--trust", "--resume", "--seeds", "--in-place"):
        assert option in bash
        assert f"-l {option.removeprefix('--')} " in fish


def test_item_16_an_unknown_shell_is_refused(command: Command) -> None:
    outcome = command("completion", "tcsh")
    assert outcome.code == 2
    assert "no completion for 'tcsh'" in outcome.complaint

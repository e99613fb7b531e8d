"""Shell completion of verbs, options, recipes and models, for bash, zsh and fish.

Examples:
    eval "$(regard completion bash)"                   in ~/.bashrc
    eval "$(regard completion zsh)"                    in ~/.zshrc, after compinit
    regard completion fish | source                    in ~/.config/fish/config.fish
"""

from typing import Annotated

import typer

from regard.cli.options import argument
from regard.suggest import suggest
from regard.text.input_error import InputError

SHELLS = ("bash", "zsh", "fish")
WORDS = {"train": "recipes", "compare": "recipes", "translate": "models", "evaluate": "models", "info": "models"}
"""The completions of the arguments of a verb, besides files."""

BASH = r"""_regard() {
    local word="${COMP_WORDS[COMP_CWORD]}" words="" options="" reply
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="%s"
    else
        case "${COMP_WORDS[1]}" in
%s
        esac
        case "$word" in -*) words="$options" ;; esac
    fi
    while IFS= read -r reply; do COMPREPLY+=("$reply"); done < <(compgen -W "$words" -- "$word")
}
complete -o bashdefault -o default -F _regard regard
"""


def completion(
    shell: Annotated[str, argument("SHELL", "bash, zsh or fish.")],
) -> None:

    if shell not in SHELLS:
        raise InputError(f"no completion for '{shell}': {suggest(shell, SHELLS)}")
    typer.echo(_fish() if shell == "fish" else _bash(zsh=shell == "zsh"), nl=False)


def _bash(*, zsh: bool) -> str:
    """zsh runs bash's function with its own bashcompinit."""
    from regard.cli.main import VERBS

    completed = {verb: (" ".join(_options(verb)), " ".join(_words(verb))) for verb in VERBS}
    cases = [
        f'            {verb}) options="{options}" words="{words}" ;;' for verb, (options, words) in completed.items()
    ]
    script = BASH % (" ".join([*VERBS, "--help", "--version"]), "\n".join(cases))
    return f"autoload -U +X bashcompinit && bashcompinit\n{script}" if zsh else script


def _fish() -> str:
    from regard.cli.main import VERBS

    lines = []
    for verb, about in VERBS.items():
        lines.append(f"complete -c regard -n __fish_use_subcommand -f -a {verb} -d {_quoted(about)}")
        seen = f"-n {_quoted(f'__fish_seen_subcommand_from {verb}')}"
        if words := _words(verb):
            lines.append(f"complete -c regard {seen} -a {_quoted(' '.join(words))}")
        lines += [
            f"complete -c regard {seen} -l {name.removeprefix('--')} -d {_quoted(about)}"
            for name, about in _options(verb).items()
        ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """In fish, only a backslash and a single quote are special between single quotes."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _options(verb: str) -> dict[str, str]:
    """The options of a verb, each with its help."""
    from regard.cli.main import build_command

    _, command = build_command(verb)
    found: dict[str, str] = {}
    for one in command.params:
        if one.param_type_name == "option":
            found |= {name: one.help or "" for name in one.opts if name.startswith("--")}
    return {**found, "--help": "Show this message."}


def _words(verb: str) -> list[str]:
    """The recipes or models that a verb takes by name."""
    if verb == "completion":
        return list(SHELLS)
    from regard.bundle.find import pretrained_names
    from regard.training.recipe import recipe_names

    return {"recipes": recipe_names, "models": pretrained_names}.get(WORDS.get(verb, ""), list)()

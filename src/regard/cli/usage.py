"""Help as people read it: how to call, what for, examples, then every argument and option in one line each."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

WIDTH = 88


def command_list(verbs: Mapping[str, str]) -> str:
    """What `regard --help` prints."""
    lines = ["regard: sequence-to-sequence models that show where they look", "", "Verbs:"]
    lines += _table([(verb, what) for verb, what in verbs.items()])
    return "\n".join([*lines, "", "regard VERB --help says more; regard --version prints the version."])


def command_help(name: str, about: str, parameters: Sequence[Any]) -> str:
    """What `regard VERB --help` prints; `about` is the docstring of the verb's file."""
    arguments = [one for one in parameters if one.param_type_name == "argument"]
    options = [one for one in parameters if one.param_type_name == "option"]
    called = [_placeholder(one) if one.required else f"[{_placeholder(one)}]" for one in arguments]
    lines = [" ".join([name, *called, "[options]"]), "", *_paragraphs(about)]
    if arguments:
        lines += ["", "Arguments:", *_table([(_metavar(one), one.help or "") for one in arguments])]
    listed = [(_option(one), one.help or "") for one in options]
    return "\n".join([*lines, "", "Options:", *_table([*listed, ("-h, --help", "Show this message.")])])


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.strip("_").upper())


def _placeholder(parameter: Any) -> str:
    return _metavar(parameter) + ("..." if parameter.nargs != 1 else "")


def _option(parameter: Any) -> str:
    names = ", ".join(parameter.opts)
    return names if parameter.is_flag else f"{names} {_metavar(parameter)}"


def _paragraphs(about: str) -> list[str]:
    """Indented lines are examples and stay as they are."""
    return [
        part
        for line in about.strip().splitlines()
        for part in ([line] if line.startswith(" ") or not line else wrap(line, WIDTH))
    ]


def _table(rows: Sequence[tuple[str, str]]) -> list[str]:
    side = max(len(name) for name, _ in rows) + 2
    lines = []
    for name, text in rows:
        first, *rest = wrap(text, WIDTH - side - 2) or [""]
        lines.append(f"  {name:<{side}}{first}".rstrip())
        lines += [" " * (side + 2) + line for line in rest]
    return lines

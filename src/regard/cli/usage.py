"""Formats --help: usage, description, examples, arguments and options."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from textwrap import wrap
from typing import Any

WIDTH = 88


def command_list(verbs: Mapping[str, str]) -> str:
    """The text of `regard --help`."""
    lines = ["regard: sequence-to-sequence models that show where they look", "", "Verbs:"]
    lines += table([(verb, what) for verb, what in verbs.items()])
    more = "New here? Start with regard demo. regard VERB --help shows its options; regard --version the version."
    return "\n".join([*lines, "", more])


def command_help(name: str, about: str, parameters: Sequence[Any]) -> str:
    """The text of `regard VERB --help`; `about` is the docstring of the verb's file."""
    arguments = [one for one in parameters if one.param_type_name == "argument"]
    options = [one for one in parameters if one.param_type_name == "option"]
    called = [_placeholder(one) if one.required else f"[{_placeholder(one)}]" for one in arguments]
    lines = [" ".join([name, *called, "[options]"]), "", *_paragraphs(about)]
    if arguments:
        lines += ["", "Arguments:", *table([(_metavar(one), one.help or "") for one in arguments])]
    listed = [(_option(one), one.help or "") for one in options]
    return "\n".join([*lines, "", "Options:", *table([*listed, ("-h, --help", "Show this message.")])])


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.strip("_").upper())


def _placeholder(parameter: Any) -> str:
    return _metavar(parameter) + ("..." if parameter.nargs != 1 else "")


def _option(parameter: Any) -> str:
    names = ", ".join(parameter.opts)
    return names if parameter.is_flag else f"{names} {_metavar(parameter)}"


def _paragraphs(about: str) -> list[str]:
    """Lines that follow each other are one paragraph; indented ones are examples and stay as they are."""
    lines: list[str] = []
    for kept, group in groupby(about.strip().splitlines(), lambda line: not line or line.startswith(" ")):
        part = list(group)
        lines += part if kept else wrap(" ".join(part), WIDTH, break_on_hyphens=False)
    return lines


def table(rows: Sequence[tuple[str, str]]) -> list[str]:
    """Lines of a table: names on the left, explanations on the right."""
    side = max(len(name) for name, _ in rows) + 2
    lines = []
    for name, text in rows:
        first, *rest = wrap(text, WIDTH - side - 2, break_on_hyphens=False) or [""]
        lines.append(f"  {name:<{side}}{first}".rstrip())
        lines += [" " * (side + 2) + line for line in rest]
    return lines

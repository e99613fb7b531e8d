"""The page of the command line, from the commands that Typer builds."""

from itertools import groupby
from typing import Any

from regard.cli.main import VERBS, build_command


def page_of_commands() -> str:
    """Every verb with its arguments and options."""
    lines = ["# Command line", "", "Generated from the program; `regard VERB --help` prints the same.", ""]
    for verb, meaning in VERBS.items():
        module, command = build_command(verb)
        lines += [f"## regard {verb}", "", meaning, "", *_details(module.__doc__ or ""), ""]
        for kind in ("argument", "option"):
            named = [(_name(one), one.help or "") for one in command.params if one.param_type_name == kind]
            rows = [f"| `{name}` | {text.replace('|', chr(92) + '|')} |" for name, text in named]
            lines += [f"| {kind} | meaning |", "|---|---|", *rows, ""] if rows else []
    return "\n".join(lines)


def _details(about: str) -> list[str]:
    """The docstring of a verb's file below its first paragraph; indented lines are code."""
    _, _, rest = about.strip().partition("\n\n")
    parts = [list(part) for _, part in groupby(rest.splitlines(), lambda line: line.startswith(" "))]
    return [line for part in parts for line in ["", *(f"  {one}" if one.startswith(" ") else one for one in part)]]


def _name(parameter: Any) -> str:
    metavar = str(parameter.metavar or parameter.name.strip("_").upper())
    if parameter.param_type_name == "argument":
        return metavar
    names = ", ".join(parameter.opts)
    return names if parameter.is_flag else f"{names} {metavar}"

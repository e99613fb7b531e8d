"""The command itself: which verbs there are, and how an error becomes one clear line."""

import os
import sys
from importlib import import_module
from typing import Any

import click
import typer
from typer.core import TyperGroup

VERBS = {
    "demo": "Train on the embedded phrasebook, translate, and see the alignment, in about three minutes.",
    "train": "Train what a recipe describes.",
    "translate": "Translate text, and show where the model looked.",
    "evaluate": "Measure a model on its test set or on your data.",
    "info": "What a bundle holds.",
    "explain": "One decoder step of an attention mechanism, worked in small numbers.",
    "plot": "Draw attention heat-maps or a run's loss curve.",
    "doctor": "Check this machine, a recipe, a data file or a bundle.",
}


class _Verbs(TyperGroup):
    """Imports a verb's file when the verb is used: `regard --help` waits for nothing."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        if ctx.resilient_parsing or not any(argument == cmd_name for argument in sys.argv[1:]):
            return click.Command(cmd_name, help=VERBS[cmd_name], short_help=VERBS[cmd_name])
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        module: Any = import_module(f"regard.cli.{cmd_name}")
        app.command(cmd_name, help=module.__doc__)(getattr(module, cmd_name))
        return typer.main.get_command(app)


app = typer.Typer(
    cls=_Verbs,
    help="Sequence-to-sequence models that show where they look.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context, version: bool = typer.Option(False, "--version", help="Print the version and exit.")
) -> None:
    if version:
        import regard

        typer.echo(regard.__version__)
        raise typer.Exit


def main() -> None:
    """Exit codes: 0 done, 1 failed, 2 wrong use, 130 interrupted. REGARD_DEBUG=1 shows tracebacks."""
    try:
        app(standalone_mode=False)
        code = 0
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.ClickException as error:
        error.show()
        code = 2
    except (KeyboardInterrupt, click.Abort):
        code = _say("interrupted", 130)
    except BrokenPipeError:
        sys.stderr.close()
        code = 0
    except Exception as error:
        if os.environ.get("REGARD_DEBUG"):
            raise
        code = _explain(error)
    sys.exit(code)


def _explain(error: Exception) -> int:
    from regard.text.errors import InputError

    if isinstance(error, InputError):
        return _say(str(error), 2)
    known = type(error).__module__.startswith("regard.") or isinstance(error, OSError)
    if known:
        return _say(str(error), 1)
    return _say(f"unexpected {type(error).__name__}: {error} (REGARD_DEBUG=1 shows where)", 1)


def _say(message: str, code: int) -> int:
    typer.echo(f"regard: {message}", err=True)
    return code

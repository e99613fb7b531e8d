"""The command `regard`: dispatches verbs; turns exceptions into one line and an exit code."""

import io
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from types import FrameType
from typing import Any, TextIO, cast

from regard.cli.escape import escaped
from regard.cli.failure import SurvivingStream, describe_failure, silence
from regard.cli.usage import command_help, command_list
from regard.suggest import suggest

VERBS = {
    "demo": "Train on the embedded phrasebook, translate, see the alignment.",
    "data": "Corpora for the recipes: list, get, show.",
    "train": "Train what a recipe describes.",
    "translate": "Translate text, and show where the model looked.",
    "evaluate": "Measure a model on its test set or on your data.",
    "align": "Word links from attention, symmetrised and scored against gold.",
    "compare": "Train variants of a recipe with several seeds and compare them.",
    "info": "Describe a bundle.",
    "models": "The models in the package: direction, size, score, licence.",
    "export": "Export a model: ONNX, a page for the browser, or int8.",
    "explain": "One decoder step of an attention mechanism, worked in small numbers.",
    "plot": "Draw attention heat-maps, or a run's loss curve.",
    "studio": "See where models look, in the browser.",
    "serve": "Serve models over HTTP.",
    "learn": "Learn attention by writing it: exercises, graded on save.",
    "bench": "Time our training step against the textbook loop and others.",
    "doctor": "Check this machine, a recipe, a data file or a bundle.",
    "completion": "Shell completion for bash, zsh and fish.",
}
HELP = ("-h", "--help")


def main() -> None:
    _interrupt_on_signals()
    code = run(sys.argv[1:])
    # Importing a module with dataclasses runs exec() on strings. If Ctrl-C interrupts one, Python ends `python -m` with
    # SIGINT instead of this exit code, although the exception was handled; the next exec() resets that.
    exec("")
    sys.exit(code)


def _interrupt_on_signals() -> None:
    """SIGTERM and SIGHUP act like Ctrl-C, so that temporary files are removed; ignored signals stay ignored."""
    for number in (signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """A second SIGTERM ends the process at once; a second SIGHUP, which a closed terminal sends, does nothing."""
    signal.signal(number, signal.SIG_DFL if number == signal.SIGTERM else signal.SIG_IGN)
    raise KeyboardInterrupt


def run(arguments: Sequence[str]) -> int:
    """Exit codes: 0 done, 1 failed, 2 wrong use, 130 interrupted. REGARD_DEBUG=1 shows tracebacks."""
    _prepare_streams()
    with escaped():
        return _run(arguments)


def _run(arguments: Sequence[str]) -> int:
    verb = arguments[0] if arguments else ""
    try:
        code = _run_verb(verb, arguments[1:]) if verb in VERBS else _run_alone(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return _print_error("interrupted", 130)
    except BrokenPipeError:
        silence(sys.stdout)
        return 0  # the reader closed the pipe, e.g. `| head -1`
    except Exception as error:
        if os.environ.get("REGARD_DEBUG"):
            raise
        if isinstance(error, OSError):
            silence(sys.stdout)  # or Python would flush the rest again at exit
        return _print_error(*describe_failure(error, verb))


def build_command(verb: str) -> tuple[Any, Any]:
    """The file of a verb, imported only when it is used, so that `regard --help` is quick; and its command."""
    import typer

    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    module: Any = import_module(f"regard.cli.{verb}")
    app.command(verb, add_help_option=False)(getattr(module, verb))
    return module, typer.main.get_command(app)


def _run_verb(verb: str, arguments: Sequence[str]) -> int:
    import typer

    module, command = build_command(verb)
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if any(option in HELP for option in options):
        typer.echo(command_help(f"regard {verb}", module.__doc__ or "", command.params))
        return 0
    try:
        with command.make_context(f"regard {verb}", list(arguments)) as context:
            command.invoke(context)
    except typer.Exit as stop:
        return stop.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    return 0


def _run_alone(arguments: Sequence[str]) -> int:
    """`regard` without a verb: help, the version, or the verb that was meant."""
    import typer

    first = arguments[0] if arguments else ""
    if first == "help" and len(arguments) > 1 and arguments[1] in VERBS:
        return _run_verb(arguments[1], HELP[:1])
    if first in ("", "help", *HELP):
        typer.echo(command_list(VERBS))
        return 0 if first else 2
    if first == "--version":
        import regard

        typer.echo(regard.__version__)
        return 0
    return _print_error(f"there is no 'regard {first}': {suggest(first, VERBS, 'commands')}", 2)


def _prepare_streams() -> None:
    """Write UTF-8; a terminal with another encoding gets ? for characters that it cannot show."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            if stream.isatty():
                stream.reconfigure(errors="replace")
            else:
                stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    if sys.stderr is sys.__stderr__ and sys.stderr is not None:
        sys.stderr = cast(TextIO, SurvivingStream(sys.stderr))
    warnings.showwarning = _show_warning


def _show_warning(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
    """Show our own warnings; those of libraries only with REGARD_DEBUG=1."""
    if category.__module__.startswith("regard.") or os.environ.get("REGARD_DEBUG"):
        _print_error(str(message), 0)


def _print_error(message: str, code: int) -> int:
    if message:
        sys.stderr.write("regard: " + " ".join(message.split()) + "\n")
    return code

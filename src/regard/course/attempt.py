"""Loads a learner's file from its text; raises `Unready` with a message for the learner if it cannot be graded."""

import ast
import builtins
import inspect
import linecache
import stat
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from regard.course.answer_parts import like_wanted
from regard.suggest import closest

if TYPE_CHECKING:
    from regard.course.remote import Remote

MOST_SOURCE_BYTES = 2**20
MOST_MESSAGE = 300


def too_large(name: str, size: int) -> str:
    """The message about a file that is too large to be typed by hand."""
    return f"{name} has {size / 1e6:.0f} MB, wanted a Python file of less than one."


@contextmanager
def default_dtype_of(arguments: Any) -> Iterator[None]:
    """While the block runs, torch's default dtype is float64 if an argument is, so that `torch.zeros(n)` fits it."""
    torch = sys.modules.get("torch")
    if torch is None or not _holds_double(arguments):
        yield
        return
    usual = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(usual)


def _holds_double(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(_holds_double(one) for one in value)
    return str(getattr(value, "dtype", "")) == "torch.float64"


class Unready(Exception):
    """The file cannot be graded yet; `kind` is the status of the verdict, `details` the lines concerned."""

    def __init__(
        self, kind: str, headline: str, details: tuple[str, ...] = (), place: tuple[int, int] = (0, 0)
    ) -> None:
        super().__init__(headline)
        self.kind = kind
        self.headline = headline
        self.details = details
        self.place = place


class Attempt:
    """The functions of an exercise, the learner's or ours, as attributes."""

    def __init__(
        self,
        functions: Mapping[str, Callable[..., Any]],
        path: Path | None = None,
        lines: Mapping[str, int] | None = None,
    ) -> None:
        self.functions = dict(functions)
        self.path = path
        self.lines = dict(lines or {})
        """The first line of each function, if already known."""
        self.remote: Remote | None = None
        """Where the functions run, if not here."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        try:
            return self.functions[name]
        except KeyError:
            raise AttributeError(f"the exercise has no function {name}; it has {', '.join(self.functions)}") from None

    def answering_like(self, templates: Mapping[str, Any]) -> "Attempt":
        """The same functions, whose answers are converted to the type of the template."""

        def converted(function: Callable[..., Any], template: Any) -> Callable[..., Any]:
            def called(*given: Any, **named: Any) -> Any:
                with default_dtype_of((*given, *named.values())):
                    return like_wanted(function(*given, **named), template)

            return called

        functions = {name: converted(function, templates.get(name)) for name, function in self.functions.items()}
        made = Attempt(functions, self.path, self.lines)
        made.remote = self.remote
        return made

    def beside(self, name: str, *given: Any) -> Any:
        """Call `module:function` with this attempt and `given` where the learner's functions run.

        For work that must run in that process, such as a training; the grader checks what it returns.
        """
        if self.remote is not None:
            return self.remote.call(name, given, {}, 0, beside=True)
        module, _, function = name.partition(":")
        return getattr(import_module(module), function)(self, *given)

    def varied(self, tree: ast.Module) -> "Attempt":
        """The functions after a change of the file's text."""
        if self.remote is not None:
            return self.remote.varied(self, tree)
        changed = dict(vars(sys.modules["exercise"]))
        exec(compile(tree, "<repair>", "exec", dont_inherit=True), changed)
        return Attempt({name: changed[name] for name in self.functions})

    def line_of(self, name: str) -> int:
        """The line on which one of the functions begins; 0 for what is not written in Python."""
        if name in self.lines:
            return self.lines[name]
        code = getattr(self.functions.get(name), "__code__", None)
        return int(code.co_firstlineno) if code is not None and self.path is not None else 0

    def replaced(self, functions: Mapping[str, Callable[..., Any]]) -> "Attempt":
        return Attempt({**self.functions, **functions})


def load_attempt(path: Path, functions: tuple[str, ...], reference: Mapping[str, Callable[..., Any]]) -> Attempt:
    """Run the learner's file (not its `__main__` part) here and take the functions out of it."""
    return load_source(read_source(path), path, parameters_of({name: reference[name] for name in functions}))


def parameters_of(reference: Mapping[str, Callable[..., Any]]) -> dict[str, list[str]]:
    """What each function must take."""
    return {name: list(inspect.signature(function).parameters) for name, function in reference.items()}


def load_source(source: str, path: Path, parameters: Mapping[str, list[str]]) -> Attempt:
    """Run the text of a learner's file and take the functions out of it."""
    try:
        code = compile(source, str(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise _unparsable(error) from None
    linecache.cache[str(path)] = (len(source), None, source.splitlines(keepends=True), str(path))
    module = ModuleType("exercise")
    module.__file__ = str(path)
    sys.modules["exercise"] = module
    sys.path.append(str(path.parent))
    try:
        exec(code, module.__dict__)
    except BaseException as error:
        raise Unready("broken", _what(error, "Running your file"), where(error, path), position(error, path)) from None
    return Attempt({name: _pick(module, name, wanted) for name, wanted in parameters.items()}, path)


def position(error: BaseException, path: Path | None) -> tuple[int, int]:
    """Line and column of the learner's code that raised, from 1; (0, 0) if none of it did."""
    if hasattr(error, "learner_place"):
        return error.learner_place  # type: ignore[no-any-return]
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if path and frame.filename == str(path)]
    return (frames[-1].lineno or 0, (frames[-1].colno or 0) + 1) if frames else (0, 0)


def where(error: BaseException, path: Path | None) -> tuple[str, ...]:
    """The learner's line that raised, if one did."""
    if hasattr(error, "learner_lines"):
        return error.learner_lines  # type: ignore[no-any-return]
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if path and frame.filename == str(path)]
    return tuple(f"line {frame.lineno}:  {frame.line}" for frame in frames[-2:])


def read_source(path: Path) -> str:
    """The text of a learner's file; raises `Unready` with the reason if it cannot be read."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
            raise Unready("missing", f"{path.name} is not a regular file, wanted a Python file.")
        if status.st_size > MOST_SOURCE_BYTES:
            raise Unready("broken", too_large(path.name, status.st_size))
        source = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise Unready("missing", f"{path.name} is not there. `regard learn reset` puts the starter back.") from None
    except IsADirectoryError:
        raise Unready("missing", f"{path.name} is a folder, wanted a Python file.") from None
    except UnicodeDecodeError:
        raise Unready("half", f"{path.name} is not UTF-8 text. Is it saved half-way?") from None
    except OSError as error:
        raise Unready("missing", f"{path.name} cannot be read: {error.strerror}.") from None
    if not source.strip():
        raise Unready("half", f"{path.name} is empty. Is it saved half-way? I look again at the next save.")
    return source


def _unparsable(error: SyntaxError | ValueError) -> Unready:
    if not isinstance(error, SyntaxError):
        return Unready("half", f"Python cannot read your file: {error}.")
    lines = []
    if error.lineno is not None and error.text:
        text = error.text.rstrip()
        shown = text.lstrip()
        lines.append(f"line {error.lineno}:  {shown}")
        if error.offset is not None:
            lines.append(" " * (len(lines[0]) - len(shown) + max(error.offset - 1 - (len(text) - len(shown)), 0)) + "^")
    headline = f"Python cannot read your file yet: {error.msg}. Still typing? I look again at the next save."
    return Unready("half", headline, tuple(lines), (error.lineno or 0, error.offset or 0))


def _what(error: BaseException, doing: str) -> str:
    kind = type(error).__name__  # an error from a learner's process has the name only
    if kind == "SystemExit":
        return f"{doing} called exit: the checks never began. Take sys.exit() out."
    if kind == "EOFError":
        return f"{doing} asked for keyboard input: there is none while the grader runs. Take input() out."
    message = _message(error)
    return f"{doing} raised {kind}" + (f": {message}" if message else "")


def _message(error: BaseException) -> str:
    """The first line of an error's message, shortened; empty if the learner's own exception class cannot give one."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:
        return ""
    return "" if not lines else lines[0] if len(lines[0]) <= MOST_MESSAGE else f"{lines[0][:MOST_MESSAGE]} …"


def check_failed_message(error: BaseException) -> str:
    """The message for an exception of a check instead of the learner's code."""
    return (
        f"The checks themselves could not go on ({type(error).__name__}: {_message(error)}). Does your function return "
        f"what the starter's signature says?"
    )


def raised(error: BaseException, function: str) -> str:
    """One line for what a learner's function raised."""
    return _what(error, f"{function}()")


def _pick(module: ModuleType, name: str, wanted: list[str]) -> Callable[..., Any]:
    if not hasattr(module, name):
        mine = [key for key in vars(module) if not key.startswith("_") and not hasattr(builtins, key)]
        near = closest(name, mine)
        meant = f" There is `{near}`: did you rename it?" if near else " Put the starter's `def` back."
        raise Unready("broken", f"I look for `{name}` in your file and cannot find it.{meant}")
    found = getattr(module, name)
    if not callable(found):
        raise Unready("broken", f"`{name}` in your file is a {type(found).__name__}, wanted a function.")
    _check_parameters(name, found, wanted)
    picked: Callable[..., Any] = found
    return picked


def _check_parameters(name: str, found: Callable[..., Any], wanted: list[str]) -> None:
    try:
        mine = list(inspect.signature(found).parameters)
        inspect.signature(found).bind(**dict.fromkeys(wanted))
    except TypeError:
        raise Unready(
            "broken", f"{name}({', '.join(mine)}) must take the parameters of the starter: ({', '.join(wanted)})."
        ) from None
    except ValueError:  # a built-in has no signature to look at
        return

"""A learner's file as the grader sees it: loaded from text, every way it can be unready put into words."""

import builtins
import inspect
import linecache
import stat
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from regard.course.answer_parts import like_wanted
from regard.suggest import closest

MOST_SOURCE_BYTES = 2**20
MOST_MESSAGE = 300


def too_large(name: str, size: int) -> str:
    """What to say about a file that nobody has typed."""
    return f"{name} has {size / 1e6:.0f} MB, wanted a Python file of less than one."


@contextmanager
def default_dtype_of(arguments: Any) -> Iterator[None]:
    """Where float64 tensors come in, torch.zeros(n) makes float64, so that a learner's own tensors fit."""
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
    """The file cannot be graded yet; `kind` says how bad that is, `details` where."""

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

    def __init__(self, functions: Mapping[str, Callable[..., Any]], path: Path | None = None) -> None:
        self.functions = dict(functions)
        self.path = path

    def __getattr__(self, name: str) -> Callable[..., Any]:
        try:
            return self.functions[name]
        except KeyError:
            raise AttributeError(f"the exercise has no function {name}; it has {', '.join(self.functions)}") from None

    def answering_like(self, templates: Mapping[str, Any]) -> "Attempt":
        """The same functions; an answer that is right in another type than the template's comes in its type."""

        def converted(function: Callable[..., Any], template: Any) -> Callable[..., Any]:
            def called(*given: Any, **named: Any) -> Any:
                with default_dtype_of((*given, *named.values())):
                    return like_wanted(function(*given, **named), template)

            return called

        functions = {name: converted(function, templates.get(name)) for name, function in self.functions.items()}
        return Attempt(functions, self.path)

    def line_of(self, name: str) -> int:
        """The line on which one of the functions begins; 0 for what is not written in Python."""
        code = getattr(self.functions.get(name), "__code__", None)
        return int(code.co_firstlineno) if code is not None and self.path is not None else 0

    def replaced(self, functions: Mapping[str, Callable[..., Any]]) -> "Attempt":
        return Attempt({**self.functions, **functions})


def load_attempt(path: Path, functions: tuple[str, ...], reference: Mapping[str, Callable[..., Any]]) -> Attempt:
    """Run the learner's file (not its `__main__` part) and take the functions out of it."""
    source = _read(path)
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
    return Attempt({name: _pick(module, name, reference[name]) for name in functions}, path)


def position(error: BaseException, path: Path | None) -> tuple[int, int]:
    """Line and column of the learner's code that raised, from 1; (0, 0) if none of it did."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if path and frame.filename == str(path)]
    return (frames[-1].lineno or 0, (frames[-1].colno or 0) + 1) if frames else (0, 0)


def where(error: BaseException, path: Path | None) -> tuple[str, ...]:
    """The learner's line that raised, if one did."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if path and frame.filename == str(path)]
    return tuple(f"line {frame.lineno}:  {frame.line}" for frame in frames[-2:])


def _read(path: Path) -> str:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
            raise Unready("missing", f"{path.name} is no ordinary file, wanted a Python file.")
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
    if isinstance(error, SystemExit):
        return f"{doing} called exit: the checks never began. Take sys.exit() out."
    if isinstance(error, EOFError):
        return f"{doing} asked for keyboard input: there is none while the grader runs. Take input() out."
    message = _message(error)
    return f"{doing} raised {type(error).__name__}" + (f": {message}" if message else "")


def _message(error: BaseException) -> str:
    """The first line of what an error says, cut; an error of the learner's own may not even be able to say it."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:
        return ""
    return "" if not lines else lines[0] if len(lines[0]) <= MOST_MESSAGE else f"{lines[0][:MOST_MESSAGE]} …"


def stumbled(error: BaseException) -> str:
    """What to say when not the learner's code but a check has raised."""
    return (
        f"The checks themselves could not go on ({type(error).__name__}: {_message(error)}). Does your file change "
        f"something that they use too, such as a function of NumPy or torch?"
    )


def raised(error: BaseException, function: str) -> str:
    """One line for what a learner's function raised."""
    return _what(error, f"{function}()")


def _pick(module: ModuleType, name: str, reference: Callable[..., Any]) -> Callable[..., Any]:
    found = getattr(module, name, None)
    if found is None:
        mine = [key for key in vars(module) if not key.startswith("_") and not hasattr(builtins, key)]
        near = closest(name, mine)
        meant = f" There is `{near}`: did you rename it?" if near else " Put the starter's `def` back."
        raise Unready("broken", f"I look for `{name}` in your file and cannot find it.{meant}")
    if not callable(found):
        raise Unready("broken", f"`{name}` in your file is a {type(found).__name__}, wanted a function.")
    _check_parameters(name, found, reference)
    picked: Callable[..., Any] = found
    return picked


def _check_parameters(name: str, found: Callable[..., Any], reference: Callable[..., Any]) -> None:
    try:
        mine = list(inspect.signature(found).parameters)
        wanted = list(inspect.signature(reference).parameters)
        inspect.signature(found).bind(**dict.fromkeys(wanted))
    except TypeError:
        raise Unready(
            "broken", f"{name}({', '.join(mine)}) must take the parameters of the starter: ({', '.join(wanted)})."
        ) from None
    except ValueError:  # a built-in has no signature to look at
        return

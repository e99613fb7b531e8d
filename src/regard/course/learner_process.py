"""The process in which a learner's file runs: receives inputs, returns arrays and gradients, knows no right answer.

    python -P -m regard.course.learner_process CHANNEL TRACE NEEDS

CHANNEL is a socket to the grader (wire.py); TRACE is a file where the stack is written at SIGUSR1.
References, comparison and verdict stay in the grader's process.
"""

import ast
import faulthandler
import io
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout, suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from regard.course.assertions import Broken
from regard.course.attempt import Attempt, Unready, default_dtype_of, load_source, position, where
from regard.course.confinement import confine, die_with_parent, is_answer, limit
from regard.course.outcome import quiet
from regard.course.wire import MOST_BYTES, Corrupt, Reader, Writer

MOST_GRAPHS = 4
"""Calls whose graph is kept for a later backward()."""
TRIED_SECONDS = 0.3


class Server:
    """Answers one request after the other until the grader hangs up."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel, self.owner = channel, os.getpid()
        self.incoming = channel.makefile("rb")
        self.attempts: dict[int, Attempt] = {}
        self.graphs: dict[int, tuple[list[Any], list[Any]]] = {}
        self.calls = 0
        self.path = Path()

    def serve(self) -> None:
        while line := self.incoming.readline():
            request = Reader(self.incoming.read(int(line)), objects=True)
            request.take(self.incoming.read(sum(request.sizes)))
            answer = self.answer(request)
            if os.getpid() != self.owner:  # a forked copy of the learner's file does not answer
                os._exit(0)
            self.channel.sendall(answer)

    def answer(self, request: Reader) -> bytes:
        what = request.value("do")
        handler: Callable[[Reader], bytes] = getattr(self, f"do_{what}")
        try:
            answer = handler(request)
            if len(answer) > MOST_BYTES:
                raise MemoryError(f"the answer has {len(answer) / 1e6:.0f} MB")
            return answer
        except Unready as error:
            reason = {"kind": error.kind, "headline": error.headline, "details": error.details, "place": error.place}
            return Writer(objects=False).message({"unready": reason})
        except BaseException as error:  # also SystemExit: the learner's file does not end the grading
            return Writer(objects=False).message({"error": self._described(error)})

    def do_load(self, request: Reader) -> bytes:
        self.path = Path(request.value("path"))
        _close_input()
        with suppress(OSError):  # the folder may be gone
            os.chdir(self.path.parent)  # files that an experiment writes stay with the exercise
        limit(request.value("needs"))
        confine(self.path.parent, Path(request.value("hidden")))
        _hide_answers(os.path.realpath(request.value("hidden")))
        if request.value("course"):  # a teacher's own: what its checks send is built from its modules
            sys.path.append(request.value("course"))
        attempt = load_source(request.value("source"), self.path, request.value("parameters"))
        self.attempts[0] = attempt
        lines = {name: attempt.line_of(name) for name in attempt.functions}
        return Writer(objects=False).message({"lines": lines})

    def do_vary(self, request: Reader) -> bytes:
        """Another version of the learner's functions, from edited text."""
        changed = dict(vars(sys.modules["exercise"]))
        tree = ast.parse(request.value("source"))
        with _tried():
            exec(compile(tree, "<repair>", "exec", dont_inherit=True), changed)
        self.attempts[1] = Attempt({name: changed[name] for name in self.attempts[0].functions})
        return Writer(objects=False).message({"answer": None})

    def do_call(self, request: Reader) -> bytes:
        attempt = self.attempts[request.value("version")]
        given, named = request.value("given"), request.value("named")
        if request.value("beside"):
            module, _, name = request.value("name").partition(":")
            function = getattr(import_module(module), name)
            given = (attempt, *given)
        else:
            function = attempt.functions[request.value("name")]
        repaired = _tried() if request.value("version") else nullcontext()
        with quiet(), default_dtype_of([*given, *named.values()]), repaired:
            answer = function(*given, **named)
        writer = Writer(objects=False)
        answered = {"answer": writer.node(answer)}
        outputs = list(writer.graph)
        if request.graph:
            self.calls += 1
            self.graphs[self.calls] = (request.graph, outputs)
            self.graphs.pop(self.calls - MOST_GRAPHS, None)
        after = [_after(one) for one in (*given, *named.values())]
        return writer.message({"after": after, "call": self.calls}, answered)

    def do_backward(self, request: Reader) -> bytes:
        import torch

        inputs, outputs = self.graphs[request.value("call")]
        gradients = request.value("gradients")
        pairs = [(one, gradient) for one, gradient in zip(outputs, gradients, strict=True) if gradient is not None]
        found = torch.autograd.grad(
            [one for one, _ in pairs], inputs, [one for _, one in pairs], retain_graph=True, allow_unused=True
        )
        return Writer(objects=False).message({"gradients": list(found)})

    def _described(self, error: BaseException) -> dict[str, Any]:
        try:
            message = str(error)
        except Exception:
            message = ""
        about: dict[str, Any] = {
            "names": [kind.__name__ for kind in type(error).__mro__],
            "message": message[:10_000],
            "lines": where(error, self.path),
            "place": position(error, self.path),
        }
        if isinstance(error, Broken):
            about |= {"headline": error.headline, "details": error.details}
        return about


@contextmanager
def _tried() -> Iterator[None]:
    """While a changed version of the file runs: its output is dropped, and TimeoutError ends it after TRIED_SECONDS."""

    def late(number: int, frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, TRIED_SECONDS)
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _after(value: Any) -> Any:
    """An argument after the call, so that the grader sees changes; None for a value that cannot change."""
    if isinstance(value, Attempt | str | int | float | None):
        return None
    if hasattr(value, "RETURNS"):
        return {name: getattr(value, name) for name in value.RETURNS}
    return value


def _hide_answers(folder: str) -> None:
    """Reading or importing the course's own answers raises, also without Landlock; a hook cannot be removed again."""

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event != "open" or not isinstance(arguments[0], str | bytes):
            return
        path = Path(os.path.realpath(os.fsdecode(arguments[0])))
        if is_answer(path) and path.is_relative_to(folder):
            raise PermissionError("the course's own answers are closed while your file is graded")

    sys.addaudithook(refuse)


def _close_input() -> None:
    """The learner's file must not wait for a keyboard."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)


def main() -> None:
    """Load what the exercise needs, report it to the grader, then serve."""
    channel, trace, needs = socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]), sys.argv[3]
    die_with_parent()
    import_module(needs)
    faulthandler.register(signal.SIGUSR1, file=trace)
    channel.sendall(Writer(objects=False).message({"ready": True}))
    sys.modules["exercise"] = ModuleType("exercise")
    with suppress(ConnectionError, Corrupt):
        Server(channel).serve()
    os._exit(0)  # threads and exit handlers of the learner's file end here


if __name__ == "__main__":
    main()

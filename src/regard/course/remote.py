"""The learner's functions as the grader calls them: each call is a message to the learner's process and back."""

import ast
import builtins
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy import ndarray

from regard.course.assertions import Broken
from regard.course.attempt import Attempt, Unready
from regard.course.learner_channel import LearnerChannel
from regard.course.wire import Corrupt, Reader, Writer


class Remote:
    """A learner's file that was loaded in another process."""

    def __init__(self, channel: LearnerChannel) -> None:
        self.channel = channel

    def ask(self, what: str, **more: Any) -> tuple[Reader, list[Any]]:
        """One request; raises an error of the learner's code. Also returns the tensors that require a gradient."""
        writer = Writer(objects=True)
        message = writer.message({"do": what, **more})
        graph = list(writer.graph)
        reader = self.channel.exchange(message)
        unready, error = reader.value("unready"), reader.value("error")
        with Checked():
            if unready is not None:
                place = (int(unready["place"][0]), int(unready["place"][1]))
                details = tuple(str(one) for one in unready["details"])
                raise Unready(str(unready["kind"]), str(unready["headline"]), details, place)
            if error is not None:
                raise learner_error(error)
        return reader, graph

    def call(self, name: str, given: tuple[Any, ...], named: dict[str, Any], version: int, beside: bool) -> Any:
        """Call a function there; arguments that it changed there are changed here."""
        more = {"version": version, "name": name, "beside": beside, "given": given, "named": named}
        reader, inputs = self.ask("call", **more)
        answer, outputs = reader.value("answer"), list(reader.graph)
        after = reader.value("after")
        with Checked():
            changed = after[1:] if beside else after
            for one, now in zip((*given, *named.values()), changed, strict=True):
                _update(one, now)
            if inputs and outputs:
                answer = self._in_the_graph(answer, outputs, inputs, int(reader.value("call")))
            elif outputs:
                answer = _replaced(answer, {id(one): one.detach() for one in outputs})
        return answer

    def _in_the_graph(self, answer: Any, outputs: list[Any], inputs: list[Any], call: int) -> Any:
        """The answer as a function of the inputs: backward() requests the gradients from the learner's process."""
        from torch.autograd import Function

        remote = self

        class Backward(Function):
            @staticmethod
            def forward(context: Any, *tensors: Any) -> Any:
                return tuple(one.detach().clone() for one in tensors[len(inputs) :])

            @staticmethod
            def backward(context: Any, *gradients: Any) -> Any:
                reader, _ = remote.ask("backward", call=call, gradients=list(gradients))
                found = reader.value("gradients")
                with Checked():
                    if len(found) != len(inputs):
                        raise ValueError("another number of gradients")
                return (*found, *(None for _ in outputs))

        apply: Any = Backward.apply
        made = apply(*inputs, *(one.detach() for one in outputs))
        return _replaced(answer, {id(one): new for one, new in zip(outputs, made, strict=True)})

    def attempt(self, path: Any, lines: dict[str, int], version: int = 0) -> Attempt:
        """The functions of the file, or of another version of it."""

        def proxy(name: str) -> Callable[..., Any]:
            def called(*given: Any, **named: Any) -> Any:
                return self.call(name, given, named, version, beside=False)

            return called

        made = Attempt({name: proxy(name) for name in lines}, path, lines)
        made.remote = self
        return made

    def varied(self, attempt: Attempt, tree: ast.Module) -> Attempt:
        """The functions after a change of the file's text."""
        self.ask("vary", source=ast.unparse(tree))
        return self.attempt(None, attempt.lines, version=1)


class Checked:
    """While the block reads an answer, an error about its form is raised as `Corrupt`."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        wrong = isinstance(error, KeyError | TypeError | ValueError | IndexError | AttributeError)
        if wrong and not hasattr(error, "learner_lines"):
            raise Corrupt(str(error)) from None


def learner_error(about: dict[str, Any]) -> BaseException:
    """An exception like the one that the learner's code raised: its name, its message, its nearest built-in type."""
    names = [str(name) for name in about["names"]]
    if names[0] == "Broken" and "headline" in about:
        return Broken(str(about["headline"]), tuple(str(one) for one in about["details"]))
    message = str(about["message"])
    found = (getattr(builtins, name, None) for name in names)
    base = next((one for one in found if isinstance(one, type) and issubclass(one, Exception)), Exception)
    kind = type(names[0], (base,), {"__str__": lambda self: message, "__init__": lambda self: None})
    error: BaseException = kind()
    error.learner_lines = tuple(str(one) for one in about["lines"])  # type: ignore[attr-defined]
    error.learner_place = tuple(int(one) for one in about["place"])  # type: ignore[attr-defined]
    return error


def _replaced(value: Any, new: dict[int, Any]) -> Any:
    if id(value) in new:
        return new[id(value)]
    if isinstance(value, list | tuple):
        parts = [_replaced(one, new) for one in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return {key: _replaced(one, new) for key, one in value.items()}
    return value


def _update(value: Any, now: Any) -> None:
    """Write into an argument what the learner's function wrote into its copy."""
    if now is None:
        return
    if hasattr(value, "RETURNS"):
        for name in value.RETURNS:
            setattr(value, name, now[name])
    elif isinstance(value, ndarray) and isinstance(now, ndarray):
        if value.shape == now.shape and not np.array_equal(value, now, equal_nan=value.dtype.kind == "f"):
            np.copyto(value, now)
    elif hasattr(value, "detach") and hasattr(now, "detach"):
        _update_tensor(value, now)
    elif isinstance(value, list | tuple) and isinstance(now, list | tuple) and len(value) == len(now):
        for one, then in zip(value, now, strict=True):
            _update(one, then)
        if isinstance(value, list) and _plain(value) and value != list(now):
            value[:] = now
    elif isinstance(value, list) and isinstance(now, list):
        value[:] = now
    elif isinstance(value, set | dict) and isinstance(now, set | dict) and value != now:
        value.clear()
        value.update(now)


def _update_tensor(value: Any, now: Any) -> None:
    import torch

    if value.shape == now.shape and not torch.equal(torch.nan_to_num(value.detach()), torch.nan_to_num(now.detach())):
        with torch.no_grad(), suppress(RuntimeError):
            value.copy_(now.detach())


def _plain(value: list[Any]) -> bool:
    return all(isinstance(one, str | int | float | None) for one in value)

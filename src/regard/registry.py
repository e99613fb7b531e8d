"""Chooses, for each call of an operation, between its plain body and the accelerated implementations in `regard.fast`.

A function of the core that has accelerated versions is marked; its body stays the plain version:

    @replaceable
    def encode(encoder, embedded, lengths): ...                      # models/rnn/encoder.py

    @replaces(encode, unless=_unfit_on_cpu, bypasses=_bypassed)      # fast/recurrent/encode_entries.py
    def encode_packed(encoder, embedded, lengths): ...

An entry declares its conditions, and `_refusal` below, the only place that decides, checks them. The first entry
without a refusal runs. `unless` takes the arguments of the call and returns the reason why the entry does not apply,
or None. The first dispatch imports `regard.fast`; with REGARD_PLAIN=1 it is never imported.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from importlib import import_module
from threading import RLock
from typing import Any, Literal, ParamSpec, TypeVar

import torch
from torch import nn

from regard.torch_private import constant_when_compiled, has_global_hooks, has_hooks, transform_active

P = ParamSpec("P")
R = TypeVar("R")
Refusal = str | None
Precision = Literal["float32", "int8"]
"""How a model prepared for decoding multiplies; "float32" stands for the precision that the model has."""


@dataclass(frozen=True)
class Entry:
    """One accelerated implementation of an operation, and the conditions under which it may run."""

    name: str
    run: Callable[..., Any]
    unless: Callable[..., Refusal]
    bypasses: Callable[..., Iterable[object]] | None
    """The modules that the plain version calls and this one does not; it does not run if one of them has a hook."""
    compiles: bool
    """Whether it may run inside torch.compile."""


@dataclass
class Operation:
    """A replaceable function: its plain body and the entries that may replace it, in order of preference."""

    name: str
    plain: Callable[..., Any]
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True)
class EntryReport:
    """One entry as `explained` reports it: chosen, or refused for a reason."""

    entry: str
    refusal: Refusal


@dataclass
class _Settings:
    without: frozenset[str] = frozenset()
    recorders: list[list[str]] = field(default_factory=list)
    explanations: dict[str, list[EntryReport]] | None = None


operations: dict[str, Operation] = {}
"""Every replaceable function by name; complete once its module is imported."""

_settings = _Settings()
_loading, _importing, _loaded = RLock(), False, False


def replaceable(plain: Callable[P, R]) -> Callable[P, R]:
    """Marks a function of the core that `regard.fast` may replace."""
    operation = Operation(f"{plain.__module__.removeprefix('regard.')}.{plain.__qualname__}", plain)
    operations[operation.name] = operation

    @wraps(plain)
    def dispatch(*args: P.args, **kwargs: P.kwargs) -> R:
        if plain_requested() or not _fast_loaded():
            return plain(*args, **kwargs)
        if _settings.explanations is not None:
            _note(_settings.explanations, operation, args, kwargs)
        for entry in operation.entries:
            if _refusal(entry, args, kwargs) is None:
                for recorder in _settings.recorders:
                    recorder.append(entry.name)
                result: R = entry.run(*args, **kwargs)
                return result
        return plain(*args, **kwargs)

    dispatch.operation = operation  # type: ignore[attr-defined]
    return dispatch


def replaces(
    function: Callable[..., Any],
    *,
    unless: Callable[..., Refusal],
    bypasses: Callable[..., Iterable[object]] | None = None,
    compiles: bool = False,
    name: str = "",
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Registers an implementation of a replaceable function, behind those registered before it."""
    operation = operation_of(function)

    def register(run: Callable[P, R]) -> Callable[P, R]:
        entry = Entry(name or getattr(run, "__name__", str(run)), run, unless, bypasses, compiles)
        operation.entries = (*operation.entries, entry)
        return run

    return register


def operation_of(function: Callable[..., Any]) -> Operation:
    """The operation behind a replaceable function; `operation_of(f).plain` is its plain body."""
    operation: Operation = function.operation  # type: ignore[attr-defined]
    return operation


def _note(
    found: dict[str, list[EntryReport]], operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Keeps the choices of this call unless an entry ran in an earlier one."""
    if all(choice.refusal is not None for choice in found.get(operation.name, ())):
        found[operation.name] = [EntryReport(entry.name, _refusal(entry, args, kwargs)) for entry in operation.entries]


@contextmanager
def explained() -> Iterator[dict[str, list[EntryReport]]]:
    """Collects, for one call of each operation within, why each entry would or would not run.

    The call is the first in which an entry ran, or else the last.
    """
    before, found = _settings.explanations, dict[str, list[EntryReport]]()
    _settings.explanations = found
    try:
        yield found
    finally:
        _settings.explanations = before


def entry_names() -> set[str]:
    """The names of all accelerated implementations."""
    _fast_loaded()
    return {entry.name for operation in operations.values() for entry in operation.entries}


@contextmanager
def without(*names: str) -> Iterator[None]:
    """Within, the entries of these names are switched off, in all threads: for benchmarks and tests."""
    if unknown := sorted(set(names) - entry_names()):
        known = ", ".join(sorted(entry_names()))
        raise ValueError(f"no accelerated implementation is called {', '.join(unknown)}; there are {known}")
    before, _settings.without = _settings.without, _settings.without | set(names)
    try:
        yield
    finally:
        _settings.without = before


@contextmanager
def recorded() -> Iterator[list[str]]:
    """Collects the names of the entries that run within, in order."""
    names: list[str] = []
    _settings.recorders.append(names)
    try:
        yield names
    finally:
        _settings.recorders[:] = [one for one in _settings.recorders if one is not names]


def plain_requested() -> bool:
    """REGARD_PLAIN=1 runs the plain bodies only, to find out whether an accelerated implementation is at fault."""
    return os.environ.get("REGARD_PLAIN", "0").lower() in ("1", "true", "on", "yes")


def observed(module: object) -> bool:
    """Whether hooks or a patched `forward`, on it or inside it, must see the calls of this module."""
    if not isinstance(module, nn.Module):
        return False
    return has_global_hooks() or any(has_hooks(one) for one in module.modules())


def _refusal(entry: Entry, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Refusal:
    if entry.name in _settings.without:
        return "switched off"
    if torch.compiler.is_compiling():
        if not entry.compiles:
            return "does not run inside torch.compile"
    elif transform_active():
        return "a torch.func transform or forward-mode differentiation is active"
    reason = entry.unless(*args, **kwargs)
    if reason is None and entry.bypasses is not None and any(map(observed, entry.bypasses(*args, **kwargs))):
        return "it bypasses a module that has hooks or a patched forward"
    return reason


@constant_when_compiled
def _fast_loaded() -> bool:
    """Imports `regard.fast` at the first dispatch; constant for torch.compile, which cannot trace an import.

    False while this thread is importing it: what `fast` calls at its own import runs plain.
    """
    global _importing, _loaded
    if not _loaded:
        with _loading:
            if not _loaded and not _importing:
                _importing = True
                try:
                    import_module("regard.fast")
                    _loaded = True
                finally:
                    _importing = False
    return _loaded


@replaceable
def prepare_for_decoding(model: Any, precision: Precision = "float32") -> Any:
    """A copy of the model that decodes faster and must not be trained; the model itself where nothing is gained.

    With precision "int8", large matrices are multiplied in 8-bit integers on a CPU.
    """
    return model


@replaceable
def release_memory() -> None:
    """Frees the memory that accelerated implementations keep between calls (captured graphs)."""

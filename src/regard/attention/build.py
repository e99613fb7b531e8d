"""From the names in a recipe to a mechanism: any score with any window, and a reason where a choice is impossible."""

import inspect
from collections.abc import Collection, Sequence
from importlib import import_module
from typing import Any

from torch import nn

from regard.attention.additive.module import BahdanauAttention
from regard.attention.local.module import LocalM, LocalP
from regard.attention.multiplicative.module import LuongConcat, LuongDot, LuongGeneral
from regard.attention.none.module import NoAttention
from regard.attention.protocol import Attention, Window
from regard.attention.scaled_dot.module import MultiHeadAttention, ScaledDotAttention
from regard.attention.window import GlobalWindow
from regard.suggest import suggest

SCORES = ("additive", "dot", "general", "concat", "scaled-dot", "multi-head", "none")
WINDOWS = ("global", "local-m", "local-p")
DEFAULT_REACH = 10
"""The D of Luong's experiments (section 4.1)."""


def build_attention(
    score: str = "additive",
    window: str = "global",
    *,
    query_width: int,
    state_width: int,
    width: int | None = None,
    heads: int = 1,
    reach: int = DEFAULT_REACH,
    dropout: float = 0.0,
    bidirectional: bool = False,
    trust: Collection[str] = (),
) -> Attention:
    """Build the mechanism that `score` and `window` name.

    `width` is the alignment width (additive, concat, local-p) or the width of all heads together (multi-head), by
    default `query_width`; `reach` is the D of a local window; `bidirectional` tells `none` that a state has two halves.
    A score of the form `package.module:Class` builds a user's own mechanism, if `trust` names it: the name may come
    from another person's file, and importing a module runs its code.
    """
    _check_numbers(query_width=query_width, state_width=state_width, width=width, heads=heads, reach=reach)
    if not 0.0 <= dropout < 1.0:
        raise ValueError(f"attention: dropout is {dropout}, but it must lie in [0, 1)")
    width = query_width if width is None else width
    foreign = ":" in score
    if not foreign:
        _check_choice("score", score, SCORES, hint=' (or your own as "package.module:Class")')
    _check_choice("window", window, WINDOWS)
    _check_combination(score, window, query_width, state_width, width, heads)
    if score == "none":
        return NoAttention(query_width, state_width, bidirectional=bidirectional)
    looks = _build_window(window, reach, query_width, width)
    if foreign:
        sizes = {"query_width": query_width, "state_width": state_width, "width": width, "heads": heads}
        return _build_foreign(score, window, {**sizes, "window": looks, "dropout": dropout}, trust)
    if score == "additive":
        return BahdanauAttention(query_width, state_width, width, window=looks, dropout=dropout)
    if score == "concat":
        return LuongConcat(query_width, state_width, width, window=looks, dropout=dropout)
    if score == "multi-head":
        return MultiHeadAttention(query_width, state_width, width, heads, window=looks, dropout=dropout)
    if score == "general":
        return LuongGeneral(query_width, state_width, window=looks, dropout=dropout)
    if score == "dot":
        return LuongDot(query_width, state_width, window=looks, dropout=dropout)
    return ScaledDotAttention(query_width, state_width, window=looks, dropout=dropout)


def _build_window(window: str, reach: int, query_width: int, width: int) -> Window:
    if window == "local-m":
        return LocalM(reach)
    if window == "local-p":
        return LocalP(reach, query_width, width)
    return GlobalWindow()


def _check_numbers(**numbers: int | None) -> None:
    for name, number in numbers.items():
        if number is not None and number < 1:
            raise ValueError(f"attention: {name} is {number}, but it must be at least 1")


def _check_choice(what: str, given: str, choices: Sequence[str], hint: str = "") -> None:
    if given in choices:
        return
    raise ValueError(f'attention: unknown {what} "{given}": {suggest(given, choices)}{hint}')


def _check_combination(score: str, window: str, query_width: int, state_width: int, width: int, heads: int) -> None:
    if score == "none" and window != "global":
        raise ValueError(
            f'attention: window "{window}" needs positions to look at, but score "none" hands over one vector'
        )
    if score in ("dot", "scaled-dot") and query_width != state_width:
        other = "general" if score == "dot" else "multi-head"
        raise ValueError(
            f'attention: score "{score}" multiplies query and state as they are, but the query is {query_width} wide '
            f'and a state {state_width}; make them equal, or take score "{other}", which learns a matrix between them'
        )
    if score == "multi-head" and width % heads:
        raise ValueError(f"attention: {heads} heads do not divide width {width}; make width a multiple of heads")
    if score in SCORES and score != "multi-head" and heads != 1:
        raise ValueError(
            f'attention: score "{score}" has one head, but heads is {heads}; several need score "multi-head"'
        )


def _build_foreign(score: str, window: str, offered: dict[str, Any], trust: Collection[str]) -> Attention:
    """Call a user's class with those of the offered arguments that its constructor names."""
    _check_trusted(score, trust)
    found = _import_class(score)
    wanted = inspect.signature(found).parameters
    takes_all = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in wanted.values())
    arguments = {name: value for name, value in offered.items() if takes_all or name in wanted}
    if window != "global" and "window" not in arguments:
        raise ValueError(f'attention: "{score}" takes no argument "window", so window "{window}" cannot be given to it')
    if offered["heads"] != 1 and "heads" not in arguments:
        raise ValueError(
            f'attention: "{score}" takes no argument "heads", so heads={offered["heads"]} cannot be given to it'
        )
    try:
        module: Any = found(**arguments)
    except TypeError as error:
        raise ValueError(
            f'attention: "{score}" could not be built with {", ".join(arguments) or "no arguments"} ({error}); '
            f"its constructor may take {', '.join(offered)}"
        ) from error
    missing = [name for name in ("query_width", "value_width", "prepare") if not hasattr(module, name)]
    if missing:
        raise ValueError(
            f'attention: "{score}" does not satisfy regard.attention.Attention: it has no {", ".join(missing)}; '
            "regard.testing.check_attention(module) checks the rest"
        )
    built: Attention = module
    return built


def _check_trusted(score: str, trust: Collection[str]) -> None:
    """The one place that decides whether a module outside regard may be imported."""
    module, _, name = score.partition(":")
    if not all(part.isidentifier() for part in (*module.split("."), name)):
        raise ValueError(f"attention: score {score!r} is not the name of a class: wanted package.module:Class")
    if score not in ({trust} if isinstance(trust, str) else trust):
        raise ValueError(
            f'attention: score "{score}" is code from outside regard, which was not imported or run; if you know and '
            f'trust it, allow it by its name: --trust {score}, in Python trust=["{score}"]'
        )


def _import_class(score: str) -> type[nn.Module]:
    module_name, _, class_name = score.partition(":")
    try:
        module = import_module(module_name)
    except Exception as error:  # whatever the module raises while it runs
        missing = isinstance(error, ModuleNotFoundError)
        where = "; it is looked for in installed packages and on PYTHONPATH, not in the current folder"
        raise ValueError(
            f'attention: score "{score}" names module "{module_name}", which cannot be imported '
            f"({type(error).__name__}: {error}){where if missing else ''}"
        ) from error
    if not hasattr(module, class_name):
        classes = [name for name, value in vars(module).items() if inspect.isclass(value)]
        hint = suggest(class_name, classes, "classes")
        raise ValueError(f'attention: score "{score}": module "{module_name}" has no class "{class_name}": {hint}')
    found = getattr(module, class_name)
    if not (inspect.isclass(found) and issubclass(found, nn.Module)):
        raise ValueError(
            f'attention: score "{score}" is not a class of attention modules (a subclass of torch.nn.Module)'
        )
    return found

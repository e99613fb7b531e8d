"""Builds the attention module that a recipe names; raises with the reason where score, window and sizes do not fit."""

import inspect
from collections.abc import Collection
from importlib import import_module
from typing import Any, Final

from torch import nn

from regard.attention.additive.module import BahdanauAttention
from regard.attention.local.module import LocalM, LocalP
from regard.attention.multiplicative.module import LuongConcat, LuongDot, LuongGeneral
from regard.attention.none.module import NoAttention
from regard.attention.protocol import Attention, Window
from regard.attention.scaled_dot.module import MultiHeadAttention, ScaledDotAttention
from regard.attention.window import GlobalWindow
from regard.bounds import excerpt
from regard.suggest import suggest

SCORES: Final[dict[str, type[nn.Module]]] = {
    "additive": BahdanauAttention,
    "dot": LuongDot,
    "general": LuongGeneral,
    "concat": LuongConcat,
    "scaled-dot": ScaledDotAttention,
    "multi-head": MultiHeadAttention,
    "none": NoAttention,
}
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
    bias: bool = False,
    heads: int = 1,
    reach: int = DEFAULT_REACH,
    bidirectional: bool = False,
    trust: Collection[str] = (),
) -> Attention:
    """Build the mechanism that `score` and `window` name.

    `width` is the alignment width (additive, concat, local-p) or the width of all heads together (multi-head), by
    default `query_width`; `bias` adds b inside the tanh (additive); `reach` is the D of a local window; `bidirectional`
    (none) means that a state has two halves.
    A score of the form `package.module:Class` builds a user's own mechanism, if `trust` names it: the name may come
    from another person's file, and importing a module runs its code.
    """
    sizes = {"query_width": query_width, "state_width": state_width, "width": width, "heads": heads}
    for name, number in {**sizes, "reach": reach}.items():
        if number is not None and number < 1:
            raise ValueError(f"attention: {name} is {number}, but it must be at least 1")
    width = query_width if width is None else width
    if window not in WINDOWS:
        raise ValueError(f'attention: unknown window "{window}": {suggest(window, WINDOWS)}')
    check_combination(score, window, query_width, state_width, width, heads)
    if bias and score != "additive":
        raise ValueError(f"attention: bias is for score 'additive', not '{score}'")
    chosen_window = _build_window(window, reach, query_width, width)
    offered = {**sizes, "width": width, "window": chosen_window}
    if score in SCORES:
        return _build(SCORES[score], score, window, {**offered, "bias": bias, "bidirectional": bidirectional})
    _check_trusted(score, trust)
    return _build(_import_class(score), score, window, offered)


def _build_window(window: str, reach: int, query_width: int, width: int) -> Window:
    if window == "local-m":
        return LocalM(reach)
    if window == "local-p":
        return LocalP(reach, query_width, width)
    return GlobalWindow()


def check_combination(score: str, window: str, query_width: int, state_width: int, width: int, heads: int) -> None:
    """Raise ValueError if the score is unknown, or cannot be built with this window and these sizes."""
    if score not in SCORES and ":" not in score:
        hint = suggest(score, SCORES)
        raise ValueError(f"no score {excerpt(score)}: {hint} (or your own as package.module:Class)")
    if score == "none" and window != "global":
        raise ValueError(f"window '{window}' needs attention, but score is 'none'")
    if score in ("dot", "scaled-dot") and query_width != state_width:
        raise ValueError(
            f"score '{score}' needs equal widths, but the query (decoder_units) is {query_width} wide and "
            f"the encoder's states, both directions together, are {state_width}: make them equal, or use "
            f"'{'general' if score == 'dot' else 'multi-head'}'"
        )
    if score == "multi-head" and width % heads:
        raise ValueError(
            f"{heads} heads do not divide the attention's width {width}: make attention_width a multiple of heads"
        )
    if score in SCORES and score != "multi-head" and heads != 1:
        raise ValueError(f"heads = {heads} needs score 'multi-head'; '{score}' has one head")


def _build(found: type[nn.Module], score: str, window: str, offered: dict[str, Any]) -> Attention:
    """Call a class, the package's or a user's, with those of the offered arguments that its constructor names."""
    wanted = inspect.signature(found).parameters
    takes_all = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in wanted.values())
    arguments = {name: value for name, value in offered.items() if takes_all or name in wanted}
    if window != "global" and "window" not in arguments:
        raise ValueError(f'attention: "{score}" takes no argument "window", so window "{window}" cannot be used')
    if offered["heads"] != 1 and "heads" not in arguments:
        raise ValueError(f'attention: "{score}" takes no argument "heads", so heads={offered["heads"]} cannot be used')
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
    """Raise unless the caller trusts this class: the only place that decides about imports from outside regard."""
    module, _, name = score.partition(":")
    if not all(part.isidentifier() for part in (*module.split("."), name)):
        raise ValueError(f"attention: score {score!r} is not the name of a class: expected package.module:Class")
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

"""One decoder step of a mechanism, worked in small numbers by its NumPy reference."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from regard.attention.additive import reference as additive
from regard.attention.local import reference as local
from regard.attention.multiplicative import reference as multiplicative
from regard.attention.none import reference as none
from regard.attention.scaled_dot import reference as scaled_dot
from regard.attention.worked import Worked, WorkedView, global_view
from regard.suggest import suggest
from regard.text.input_error import InputError

WORDS = ("turn", "off", "the", "lights", "PAD")
REAL: Bool[ndarray, " source"] = np.array([True, True, True, True, False])
# Four-dimensional states, three hidden units, numbers a person can follow. The last row is padding.
STATES: Float[ndarray, "source state"] = np.array(
    [[0.9, 0.1, 0.0, -0.2], [0.7, 0.3, -0.1, 0.0], [0.0, 0.1, 0.2, 0.1], [-0.3, 0.2, 0.9, 0.8], [0.5, 0.5, 0.5, 0.5]]
)
QUERY: Float[ndarray, "target query"] = np.array([[-0.2, 0.1, 0.8, 0.6]])
W_S = np.array([[0.5, 0.0, -0.5, 0.2], [0.0, 0.3, 0.9, 0.4], [-0.4, 0.1, 0.3, 0.8]])
W_H = np.array([[0.6, 0.1, -0.4, 0.0], [-0.5, 0.2, 1.1, 0.7], [-0.3, 0.0, 0.5, 1.2]])
V = np.array([-1.0, 2.0, 1.5])
W_A = np.array([[0.8, 0.0, 0.1, 0.0], [0.0, 0.5, 0.0, 0.2], [0.1, 0.0, 1.5, 0.3], [0.0, 0.2, 0.4, 1.2]])
V_P = np.array([-0.5, 1.0, 0.6])
LOCAL_P_REACH = 2
HEADS = {"W_q": np.diag([-6.0, -6.0, 2.0, 2.0]), "W_k": 2 * np.eye(4), "W_v": np.eye(4), "W_o": np.eye(4)}


@dataclass(frozen=True)
class Mechanism:
    """A mechanism: texts from mechanisms.toml, its equation, and the function that computes its example."""

    title: str
    paper: str
    note: str
    equation: str
    work: Callable[[WorkedView], Worked] | None
    """None without attention."""


@dataclass(frozen=True)
class Explanation:
    """A mechanism, its equation and every number of one step; `worked` is None without attention."""

    name: str
    title: str
    equation: str
    paper: str
    query: Float[ndarray, " query"]
    worked: Worked | None
    context: Float[ndarray, " value"]
    note: str = ""


def _general(view: WorkedView) -> Worked:
    return multiplicative.general(QUERY, STATES, view, W_a=W_A)


_TEXTS = tomllib.loads(files("regard.lab").joinpath("mechanisms.toml").read_text(encoding="utf-8"))
_WORK: dict[str, tuple[str, Callable[[WorkedView], Worked] | None]] = {
    "additive": (additive.EQUATION, lambda view: additive.additive(QUERY, STATES, view, W_s=W_S, W_h=W_H, v=V)),
    "dot": (multiplicative.DOT_EQUATION, lambda view: multiplicative.dot(QUERY, STATES, view)),
    "general": (multiplicative.GENERAL_EQUATION, _general),
    "concat": (
        multiplicative.CONCAT_EQUATION,
        lambda view: multiplicative.concat(QUERY, STATES, view, W_a=np.hstack([W_S, W_H]), v=V),
    ),
    "scaled-dot": (scaled_dot.SCALED_DOT_EQUATION, lambda view: scaled_dot.scaled_dot(QUERY, STATES, view)),
    "multi-head": (
        scaled_dot.MULTI_HEAD_EQUATION,
        lambda view: scaled_dot.multi_head(QUERY, STATES, view, 2, **HEADS),
    ),
    "local-m": (local.LOCAL_M_EQUATION, _general),
    "local-p": (local.LOCAL_P_EQUATION, _general),
    "none": (none.EQUATION, None),
}
MECHANISMS = {name: Mechanism(**texts, equation=_WORK[name][0], work=_WORK[name][1]) for name, texts in _TEXTS.items()}
WINDOWS = {
    "local-m": local.local_m(QUERY, REAL, reach=1, position=2),
    "local-p": local.local_p(QUERY, REAL, reach=LOCAL_P_REACH, W_p=W_S, v_p=V_P),
}
ALIASES = {
    "bahdanau": "additive",
    "luong": "general",
    "global": "general",
    "transformer": "multi-head",
    "vanilla": "none",
}


def explain(mechanism: str) -> Explanation:
    """The worked step of a mechanism, by its name or its author's."""
    name = ALIASES.get(mechanism.lower(), mechanism.lower())
    if name not in MECHANISMS:
        raise InputError(f"no mechanism '{mechanism}': {suggest(name, [*MECHANISMS, *ALIASES])}")
    found = MECHANISMS[name]
    if found.work is None:
        worked, context, note = None, none.fixed_vector(STATES, REAL, bidirectional=True), found.note
    else:
        view = WINDOWS.get(name) or global_view(REAL, len(QUERY))
        worked = found.work(view)
        context = worked.context[0]
        note = found.note if view.center is None else found.note.format(center=float(view.center[0]))
    return Explanation(name, found.title, found.equation, found.paper, QUERY[0], worked, context, note)

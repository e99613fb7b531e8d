"""One decoder step of a mechanism, worked in small numbers by its NumPy reference."""

from collections.abc import Callable
from dataclasses import dataclass

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
    """A mechanism and the function that computes its example; `work` is None without attention."""

    title: str
    equation: str
    paper: str
    note: str
    work: Callable[[WorkedView], Worked] | None
    window: Callable[[], WorkedView] = lambda: global_view(REAL, len(QUERY))


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


def _local_p() -> WorkedView:
    return local.local_p(QUERY, REAL, reach=LOCAL_P_REACH, W_p=W_S, v_p=V_P)


_BAHDANAU = "Bahdanau, Cho and Bengio 2014, section 3.1"
_LUONG = "Luong, Pham and Manning 2015, section 3"
_VASWANI = "Vaswani et al. 2017, section 3.2"

MECHANISMS = {
    "additive": Mechanism(
        "additive attention (Bahdanau)", additive.EQUATION, _BAHDANAU,
        "the query is the state before the step, s_{t-1}; the context enters the recurrence that makes s_t",
        lambda view: additive.additive(QUERY, STATES, view, W_s=W_S, W_h=W_H, v=V),
    ),
    "dot": Mechanism(
        "dot attention (Luong)", multiplicative.DOT_EQUATION, _LUONG,
        "the query is the current state s_t; the context meets it at the output",
        lambda view: multiplicative.dot(QUERY, STATES, view),
    ),
    "general": Mechanism(
        "general attention (Luong)", multiplicative.GENERAL_EQUATION, _LUONG,
        "a matrix between query and state lets their widths differ", _general,
    ),
    "concat": Mechanism(
        "concat attention (Luong)", multiplicative.CONCAT_EQUATION, _LUONG,
        "the same numbers as additive: W_a [s; h] is W_s s + W_h h with W_a = [W_s W_h]",
        lambda view: multiplicative.concat(QUERY, STATES, view, W_a=np.hstack([W_S, W_H]), v=V),
    ),
    "scaled-dot": Mechanism(
        "scaled dot-product attention", scaled_dot.SCALED_DOT_EQUATION, _VASWANI,
        "dividing by √width keeps wide vectors from making the softmax too sharp",
        lambda view: scaled_dot.scaled_dot(QUERY, STATES, view),
    ),
    "multi-head": Mechanism(
        "multi-head attention", scaled_dot.MULTI_HEAD_EQUATION, _VASWANI,
        "the first head scores with dimensions 1 and 2, the second with 3 and 4: they look at different words",
        lambda view: scaled_dot.multi_head(QUERY, STATES, view, 2, **HEADS),
    ),
    "local-m": Mechanism(
        "monotonic local attention", local.LOCAL_M_EQUATION, _LUONG,
        "step t = 2 looks at p_t = 2 and D = 1 words on either side; scores are those of general", _general,
        lambda: local.local_m(QUERY, REAL, reach=1, position=2),
    ),
    "local-p": Mechanism(
        "predictive local attention", local.LOCAL_P_EQUATION, _LUONG,
        "p_t = {center:.2f} of S = 4 real words, D = 2; the Gaussian is not renormalised: the sum is below 1",
        _general, _local_p,
    ),
    "none": Mechanism(
        "no attention: the fixed vector", none.EQUATION, "Sutskever et al. 2014; Cho et al. 2014",
        "two numbers of each state are forward, two backward; one fixed vector, no alignment exists", None,
    ),
}  # fmt: skip
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
        view = found.window()
        worked = found.work(view)
        context = worked.context[0]
        note = found.note if view.center is None else found.note.format(center=float(view.center[0]))
    return Explanation(name, found.title, found.equation, found.paper, QUERY[0], worked, context, note)

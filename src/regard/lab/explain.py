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
from regard.text.errors import InputError

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
REACH = 1


@dataclass(frozen=True)
class Explanation:
    """A mechanism, its equation and every number of one step; `worked` is None where nothing is weighed."""

    name: str
    title: str
    equation: str
    paper: str
    query: Float[ndarray, " query"]
    worked: Worked | None
    context: Float[ndarray, " value"]
    note: str = ""


def _score(work: Callable[[WorkedView], Worked], view: WorkedView | None = None) -> Worked:
    return work(view if view is not None else global_view(REAL, len(QUERY)))


def _general(view: WorkedView) -> Worked:
    return multiplicative.general(QUERY, STATES, view, W_a=W_A)


_BAHDANAU = "Bahdanau, Cho and Bengio 2014, section 3.1"
_LUONG = "Luong, Pham and Manning 2015, section 3"
_VASWANI = "Vaswani et al. 2017, section 3.2"


def _additive() -> Explanation:
    worked = _score(lambda view: additive.additive(QUERY, STATES, view, W_s=W_S, W_h=W_H, v=V))
    note = "Bahdanau asks with the state before the step, s_{t-1}; the context enters the recurrence that makes s_t"
    return _explained("additive", "additive attention (Bahdanau)", additive.EQUATION, _BAHDANAU, worked, note)


def _dot() -> Explanation:
    worked = _score(lambda view: multiplicative.dot(QUERY, STATES, view))
    note = "the query is the current state s_t; the context meets it at the output"
    return _explained("dot", "dot attention (Luong)", multiplicative.DOT_EQUATION, _LUONG, worked, note)


def _general_explained() -> Explanation:
    note = "a matrix between query and state lets their widths differ"
    equation = multiplicative.GENERAL_EQUATION
    return _explained("general", "general attention (Luong)", equation, _LUONG, _score(_general), note)


def _concat() -> Explanation:
    worked = _score(lambda view: multiplicative.concat(QUERY, STATES, view, W_a=np.hstack([W_S, W_H]), v=V))
    note = "the same numbers as additive: W_a [s; h] is W_s s + W_h h with W_a = [W_s W_h]"
    return _explained("concat", "concat attention (Luong)", multiplicative.CONCAT_EQUATION, _LUONG, worked, note)


def _scaled_dot() -> Explanation:
    worked = _score(lambda view: scaled_dot.scaled_dot(QUERY, STATES, view))
    note = "dividing by √width keeps wide vectors from making the softmax too sharp"
    return _explained(
        "scaled-dot", "scaled dot-product attention", scaled_dot.SCALED_DOT_EQUATION, _VASWANI, worked, note
    )


def _multi_head() -> Explanation:
    eye = np.eye(4)
    projections = {"W_q": np.diag([-6.0, -6.0, 2.0, 2.0]), "W_k": 2 * eye, "W_v": eye, "W_o": eye}
    worked = _score(lambda view: scaled_dot.multi_head(QUERY, STATES, view, 2, **projections))
    note = "the first head scores with dimensions 1 and 2, the second with 3 and 4: they look at different words"
    return _explained("multi-head", "multi-head attention", scaled_dot.MULTI_HEAD_EQUATION, _VASWANI, worked, note)


def _local_m() -> Explanation:
    view = local.local_m(QUERY, REAL, reach=REACH, position=2)
    note = f"step t = 2 looks at p_t = 2 and D = {REACH} words on either side; scores are those of general"
    return _explained(
        "local-m", "monotonic local attention", local.LOCAL_M_EQUATION, _LUONG, _score(_general, view), note
    )


def _local_p() -> Explanation:
    view = local.local_p(QUERY, REAL, reach=2, W_p=W_S, v_p=np.array([-0.5, 1.0, 0.6]))
    center = float(view.center[0]) if view.center is not None else 0.0
    note = f"p_t = {center:.2f} of S = 4 real words, D = 2; the Gaussian is not renormalised: the sum is below 1"
    return _explained(
        "local-p", "predictive local attention", local.LOCAL_P_EQUATION, _LUONG, _score(_general, view), note
    )


def _none() -> Explanation:
    context = none.fixed_vector(STATES, REAL, bidirectional=True)
    return Explanation(
        "none", "no attention: the fixed vector", none.EQUATION, "Sutskever et al. 2014; Cho et al. 2014", QUERY[0],
        None, context, "two numbers of each state are forward, two backward; one fixed vector, no alignment exists",
    )  # fmt: skip


def _explained(name: str, title: str, equation: str, paper: str, worked: Worked, note: str) -> Explanation:
    return Explanation(name, title, equation, paper, QUERY[0], worked, worked.context[0], note)


MECHANISMS: dict[str, Callable[[], Explanation]] = {
    "additive": _additive, "dot": _dot, "general": _general_explained, "concat": _concat, "scaled-dot": _scaled_dot,
    "multi-head": _multi_head, "local-m": _local_m, "local-p": _local_p, "none": _none,
}  # fmt: skip
ALIASES = {"bahdanau": "additive", "luong": "general", "transformer": "multi-head", "vanilla": "none"}


def explain(mechanism: str) -> Explanation:
    """The worked step of a mechanism, by its name or its author's."""
    name = ALIASES.get(mechanism.lower(), mechanism.lower())
    if name not in MECHANISMS:
        raise InputError(f"no mechanism '{mechanism}': {suggest(name, [*MECHANISMS, *ALIASES])}")
    return MECHANISMS[name]()

"""A worked attention step as text and as a picture."""

import textwrap
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from regard.attention.worked import Worked
from regard.lab.explanation import ALIASES, LOCAL_P_REACH, MECHANISMS, REAL, STATES, WORDS, Explanation
from regard.lab.worked_stages import stage_lines, stages
from regard.plot import Bars, bar, bars
from regard.text.input_error import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 79
"""Columns of the text, so that a terminal of 80 columns breaks no line."""


def explanation_blocks(explanation: Explanation) -> list[str]:
    """The stages of a step, one text for each; `explain --walk` shows them one at a time."""
    head = [explanation.title, *_fitted(explanation.equation), f"  {explanation.paper}"]
    states = [
        "The encoder read four words; the fifth position is padding. Each h is a state:",
        *(f"  {word:<8} {_vector(state)}" for word, state in zip(WORDS, STATES, strict=True)),
    ]
    blocks = [head, states]
    if explanation.worked is None:
        blocks.append([f"Context at every step  c = {_vector(explanation.context)}"])
    else:
        blocks.append([f"The decoder's query is    s = {_vector(explanation.query)}"])
        blocks += [stage_lines(stage) for stage in stages(explanation.name)]
        heads = explanation.worked.scores.ndim == 3
        for number, (scores, weights) in enumerate(_heads(explanation.worked), start=1):
            blocks.append([*([f"Head {number}"] if heads else []), *_rows(explanation.worked, scores, weights)])
        blocks.append([f"Context  c = {'W_o [c^1; c^2]' if heads else 'Σ α h'} = {_vector(explanation.context, 4)}"])
    return ["\n".join(block) for block in [*blocks, textwrap.wrap(explanation.note, WIDTH)]]


def _fitted(equation: str) -> list[str]:
    """The equation on one line, or one line for each clause if it is too wide."""
    whole = f"  {equation}"
    return [whole] if len(whole) <= WIDTH - 12 else [f"  {clause}" for clause in equation.split(",  ")]


def draw_explanation(explanation: Explanation) -> "Figure":
    """Scores and weights as rows of bars; for local-p also the Gaussian between them, as bars and as a curve."""
    if explanation.worked is None:
        raise InputError("without attention there is nothing to draw: one fixed vector, no alignment exists")
    stages = []
    for head, (scores, weights) in enumerate(_heads(explanation.worked), start=1):
        name = f", head {head}" if explanation.worked.scores.ndim == 3 else ""
        seen = explanation.worked.mask[0]
        stages += [Bars(f"scores e{name}", WORDS, _shown(scores, seen)), *_gaussian(explanation.worked, weights)]
        stages.append(Bars(f"weights α{name}", WORDS, tuple(weights.tolist())))
    clauses = explanation.equation.split(",  ")
    return bars(stages, title=explanation.title, formula=[*(f"{one}," for one in clauses[:-1]), clauses[-1]])


def _gaussian(worked: Worked, weights: Float[ndarray, " source"]) -> list[Bars]:
    """The two factors of local-p's weights: the softmax, and the Gaussian around p_t."""
    if worked.gaussian is None or worked.center is None:
        return []
    center, sigma, seen = float(worked.center[0]), LOCAL_P_REACH / 2, worked.mask[0]
    fade = worked.gaussian[0]
    softmax = np.divide(weights, fade, out=np.zeros_like(weights), where=seen)
    along = np.linspace(-0.5, len(WORDS) - 0.5, 101)
    heights = np.exp(-((along - center) ** 2) / (2 * sigma**2))
    curve = tuple(zip(along.tolist(), heights.tolist(), strict=True))
    return [
        Bars("softmax(e)", WORDS, tuple(softmax.tolist())),
        Bars(f"times the Gaussian around p_t = {center:.2f}, σ = {sigma:g}", WORDS, _shown(fade, seen), curve),
    ]


def _shown(values: Float[ndarray, " source"], seen: Bool[ndarray, " source"]) -> tuple[float, ...]:
    """The values for `Bars`, which marks infinite ones as masked."""
    return tuple(np.where(seen, values, np.inf).tolist())


def list_mechanisms() -> str:
    """Every mechanism with its equation."""
    lines = []
    for name, one in MECHANISMS.items():
        lines += [f"{name:<12}{one.title}", *(f"{'':<10}{line}" for line in _fitted(one.equation))]
    others = ", ".join(f"{alias} is {name}" for alias, name in ALIASES.items())
    return "\n".join([*lines, "", *textwrap.wrap(f"By other names: {others}.", WIDTH)])


def _heads(worked: Worked) -> list[tuple[ndarray, ndarray]]:
    """Scores and weights of the one query, for each head."""
    scores, weights = (numbers.reshape(-1, len(WORDS)) for numbers in (worked.scores, worked.weights))
    return list(zip(scores, weights, strict=True))


def _rows(worked: Worked, scores: Float[ndarray, " source"], weights: Float[ndarray, " source"]) -> list[str]:
    """A row for each word; what is outside the mask has no exp(e): its score counts as minus infinity."""
    fade = worked.gaussian
    gauss = f"{'gauss':>7}  " if fade is not None else ""
    lines = [f"  {'word':<8} {'score e':>9}  {'mask':<7} {'exp(e)':>9}  {gauss}weight α"]
    inside = worked.mask[0]
    for place, word in enumerate(WORDS):
        mask = "ok" if inside[place] else "window" if REAL[place] else "padding"
        power = float(np.exp(scores[place])) if inside[place] else 0.0
        gauss = f"{fade[0, place]:7.4f}  " if fade is not None else ""
        weight = float(weights[place])
        row = f"  {word:<8} {scores[place]:9.4f}  {mask:<7} {power:9.4f}  {gauss}{weight:8.4f}  {bar(weight, 20)}"
        lines.append(row.rstrip())
    total = float(np.exp(scores[inside]).sum())
    gap = " " * 9 if fade is not None else ""
    lines.append(f"  {'sum':<8} {'':>9}  {'':<7} {total:9.4f}  {gap}{float(weights.sum()):8.4f}")
    return lines


def _vector(values: Float[ndarray, " width"], decimals: int = 2) -> str:
    return "[" + " ".join(f"{value:{decimals + 3}.{decimals}f}" for value in np.asarray(values)) + "]"

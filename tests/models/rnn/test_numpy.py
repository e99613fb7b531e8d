"""Whole recurrent models written again in NumPy, sentence in, logits out, over the references' attention.

Nothing here is batched, padded, packed or precomputed, which is what makes it worth comparing with.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from numpy import ndarray

from regard.attention.additive.reference import additive
from regard.attention.local.reference import local_p
from regard.attention.multiplicative.reference import general
from regard.attention.worked import Worked, WorkedView, global_view
from regard.models import RecurrentConfig

from ..zoo import PRESETS, SOURCE, TOKENS, build, sentences

Parameters = dict[str, ndarray]


def sigmoid(x: ndarray) -> ndarray:
    return 1 / (1 + np.exp(-x))


@dataclass
class Cell:
    """A GRU (r, z, n) or LSTM (i, f, g, o) with torch's gate order, over one word at a time."""

    W: ndarray
    U: ndarray
    b_w: ndarray
    b_u: ndarray

    @classmethod
    def of(cls, parameters: Parameters, end: str = "l0") -> "Cell":
        W, U, b_w = (parameters[f"{name}_{end}"] for name in ("weight_ih", "weight_hh", "bias_ih"))
        return cls(W, U, b_w, parameters.get(f"bias_hh_{end}", np.zeros(0)))

    def gru(self, x: ndarray, s: ndarray) -> ndarray:
        from_x, from_s = np.split(self.W @ x + self.b_w, 3), np.split(self.U @ s + self.b_u, 3)
        r, z = sigmoid(from_x[0] + from_s[0]), sigmoid(from_x[1] + from_s[1])
        n = np.tanh(from_x[2] + r * from_s[2])
        return (1 - z) * n + z * s

    def gru_2014(self, x: ndarray, s: ndarray) -> ndarray:
        """Bahdanau et al. 2014, appendix A.1.1."""
        (W_r, W_z, W), (U_r, U_z, U), (b_r, b_z, b) = (np.split(one, 3) for one in (self.W, self.U, self.b_w))
        r, z = sigmoid(W_r @ x + U_r @ s + b_r), sigmoid(W_z @ x + U_z @ s + b_z)
        return (1 - z) * s + z * np.tanh(W @ x + U @ (r * s) + b)

    def lstm(self, x: ndarray, s: ndarray, c: ndarray) -> tuple[ndarray, ndarray]:
        i, f, g, o = np.split(self.W @ x + self.b_w + self.U @ s + self.b_u, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c


def part(parameters: Parameters, prefix: str) -> Parameters:
    return {name.removeprefix(prefix): value for name, value in parameters.items() if name.startswith(prefix)}


def parameters_of(model: torch.nn.Module) -> Parameters:
    return {name: tensor.numpy() for name, tensor in model.state_dict().items()}


def bahdanau(
    P: Parameters, source: list[int], target: list[int], maxout: bool, paper: bool = False
) -> tuple[ndarray, ndarray]:
    """GRU both ways, s_0 = tanh(W ←h_1), context at the input, readout over [s; c; e] or its maxout.

    `paper`: the GRU of 2014, and the readout over s_{t-1}.
    """
    step = Cell.gru_2014 if paper else Cell.gru
    reads, writes, alignment = (
        part(P, "encoder.recurrence."),
        part(P, "decoder.recurrence."),
        part(P, "decoder.attention."),
    )
    words = P["encoder.embedding.weight"][source]
    forward, backward = Cell.of(reads), Cell.of(reads, "l0_reverse")
    ahead, back = [np.zeros(forward.U.shape[1])], [np.zeros(forward.U.shape[1])]
    for word, last in zip(words, words[::-1], strict=True):
        ahead.append(step(forward, word, ahead[-1]))
        back.append(step(backward, last, back[-1]))
    h = np.concatenate([np.array(ahead[1:]), np.array(back[:0:-1])], axis=1)
    s = np.tanh(P["decoder.bridge.hidden.weight"] @ back[-1] + P["decoder.bridge.hidden.bias"])
    cell, everything, logits, weights = Cell.of(writes), np.ones(len(source), dtype=bool), [], []
    for word in target:
        e = P["decoder.embedding.weight"][word]
        seen = additive(
            s[None], h, global_view(everything, 1), W_s=alignment["W_s"], W_h=alignment["W_h"], v=alignment["v"],
            b=alignment.get("b"),
        )  # fmt: skip
        c, before = seen.context[0], s
        s = step(cell, np.concatenate([e, c]), s)
        features = np.concatenate([before if paper else s, c, e])
        if maxout:
            t = P["decoder.readout.combine.weight"] @ features + P["decoder.readout.combine.bias"]
            features = np.array([max(t[2 * i], t[2 * i + 1]) for i in range(len(t) // 2)])
        logits.append(P["decoder.readout.output.weight"] @ features + P["decoder.readout.output.bias"])
        weights.append(seen.weights[0])
    return np.array(logits), np.array(weights)


def luong(P: Parameters, source: list[int], target: list[int], reach: int | None) -> tuple[ndarray, ndarray]:
    """LSTM one way, its last state copied, context at the output, tanh(W_c [c; s]) fed back; local-p if D is given."""
    reads, writes, alignment = (
        part(P, f"{name}.") for name in ("encoder.recurrence", "decoder.recurrence", "decoder.attention")
    )
    cell = Cell.of(reads)
    s = c = np.zeros(cell.U.shape[1])
    states = []
    for word in P["encoder.embedding.weight"][source]:
        s, c = cell.lstm(word, s, c)
        states.append(s)
    h, cell, everything = np.array(states), Cell.of(writes), np.ones(len(source), dtype=bool)
    W_c = P["decoder.readout.combine.weight"]
    fed, logits, weights = np.zeros(len(W_c)), [], []
    for word in target:
        s, c = cell.lstm(np.concatenate([P["decoder.embedding.weight"][word], fed]), s, c)
        seen = look(s, h, alignment, global_view(everything, 1) if reach is None else None, reach)
        fed = np.tanh(W_c @ np.concatenate([seen.context[0], s]))
        logits.append(P["decoder.readout.output.weight"] @ fed + P["decoder.readout.output.bias"])
        weights.append(seen.weights[0])
    return np.array(logits), np.array(weights)


def look(s: ndarray, h: ndarray, alignment: Parameters, view: WorkedView | None, reach: int | None) -> Worked:
    if view is None:
        assert reach is not None
        everything = np.ones(len(h), dtype=bool)
        view = local_p(s[None], everything, reach=reach, W_p=alignment["window.W_p"], v_p=alignment["window.v_p"])
    return general(s[None], h, view, W_a=alignment["W_a"])


CASES: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in ("preset bahdanau", "preset rnnsearch", "preset luong")},
    "luong, local-p": ("preset luong", {"window": "local-p", "reach": 2}),
    "item 14, gru-2014 and s_{t-1}": ("preset rnnsearch-2014", {}),
    "item 14, attention bias": ("preset bahdanau", {"attention_bias": True}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_model_is_its_equations(name: str) -> None:
    config = PRESETS[CASES[name][0]].model_copy(update=CASES[name][1])
    assert isinstance(config, RecurrentConfig)
    model = build(config)
    decoded = model(sentences(*SOURCE), TOKENS, want_weights=True)
    logits, weights = model.logits(decoded.features).detach().numpy(), decoded.weights.detach().numpy()
    parameters = parameters_of(model)
    for row, words in enumerate(SOURCE):
        target = TOKENS[row].tolist()
        if name.startswith("preset luong") or "local-p" in name:
            ours = luong(parameters, words, target, config.reach if "local-p" in name else None)
        else:
            paper = config.cell == "gru-2014"
            ours = bahdanau(parameters, words, target, maxout=config.readout == "maxout", paper=paper)
        np.testing.assert_allclose(logits[row], ours[0], atol=1e-10, rtol=0)
        np.testing.assert_allclose(weights[row, 0, 0, :, : len(words)], ours[1], atol=1e-10, rtol=0)

"""Runs the whole search of a few sentences in onnxruntime, if no part of the search needs the host."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx
import torch
from torch import Tensor

from regard.runtime.onnx_search_graph import CHOSEN, search_graph, widest
from regard.search import Options
from regard.search.host_choices import HostChoices

FEW = 8
"""Largest number of sentences that are searched in one graph: a finished one waits for the others."""

ROWS = 4096
"""Largest number of rows of attention that are kept for them; a longer search must be possible to interrupt."""


class OnnxSearch:
    """A session of `search_graph`, opened at the first search."""

    def __init__(self, decoder: bytes, open_session: Callable[[bytes], Any]) -> None:
        self._decoder, self._open = decoder, open_session
        self._session: Any = None
        self._vocabulary = 0

    def refuses(self, limits: Tensor, beam: int, options: Options) -> str | None:
        """Why this graph would not give the same result as the search on the host."""
        if not 0 < len(limits) <= FEW:
            return f"not between 1 and {FEW} sentences"
        if int(limits.min()) < 1:
            return "a sentence may have no words"
        if options.coverage or options.no_repeat_ngram:
            return "coverage and repeated n-grams are checked on the host"
        if int(limits.max()) * len(limits) * beam > ROWS:
            return f"more than {ROWS} rows of attention"
        if self._session is None:
            model = onnx.load_model_from_string(self._decoder)
            (logits,) = (one for one in model.graph.output if one.name == "logits")
            self._vocabulary = logits.type.tensor_type.shape.dim[1].dim_value
            self._session = self._open(search_graph(model, self._vocabulary).SerializeToString())
        return None if beam <= widest(self._vocabulary) else "the beam is wider than the graph supports"

    def run(
        self, state: Mapping[str, Tensor], limits: Tensor, beam: int, nbest: int, options: Options
    ) -> tuple[HostChoices, Tensor | None] | None:
        """The choices and weights [step · rows, ...] of all steps; None where the host has to report a fault."""
        longest, sentences = limits.numpy(), len(limits)
        score = np.full((sentences, beam), -np.inf)
        score[:, 0] = 0.0
        banned = np.zeros(self._vocabulary, dtype=np.float32)
        banned[[one for one in options.forbidden if one < self._vocabulary]] = -np.inf
        steps = int(longest.max())
        given: dict[str, Any] = {
            "tokens": np.full(sentences * beam, options.bos),
            "s_score": score,
            "s_merits": np.full((sentences, nbest), -np.inf),
            "s_first": np.arange(sentences)[:, None] * beam,
            "s_limit": longest[:, None],
            "s_most": np.array([[options.penalty.divisor(limit)] for limit in longest.tolist()]),
            "s_divisors": np.array([options.penalty.divisor(length) for length in range(steps + 1)]),
            "s_banned": banned,
            "s_eos": np.array(options.eos),
            "s_beam": np.array([beam]),
            "s_best": np.array([nbest]),
            "s_steps": np.array(steps),
            **{name: tensor.numpy() for name, tensor in state.items()},
        }
        needed = [one.name for one in self._session.get_inputs()]
        try:
            found = self._session.run(None, {name: given[name.removeprefix("s_begin_")] for name in needed})
        except Exception:  # onnxruntime has its own classes; the same step fails on the host, which reports it
            return None
        parent, token, value, score, over, faulty = found[: len(CHOSEN)]
        parent, token = parent.view(np.int64), token.view(np.int64)  # onnxruntime's are long long, of the same size
        weights = [torch.from_numpy(one).flatten(0, 1) for one in found[len(CHOSEN) :]]
        if faulty.any() or any(one.size(-1) != state["real"].size(1) for one in weights):
            return None
        wrong = np.zeros(token.shape[:2], dtype=np.int64)
        return HostChoices(parent, token, value, score, over, wrong), weights[0] if weights else None

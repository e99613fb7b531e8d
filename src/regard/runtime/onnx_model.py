"""A model in onnxruntime behind the interface of `Seq2Seq`: start, step, and the weights of given targets."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import onnxruntime
import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.bounds import MOST, cut
from regard.bundle.manifest import BundleError
from regard.bundle.onnx_manifest import DECODER, ENCODER, NEW
from regard.models.model_config import RecurrentConfig, TransformerConfig
from regard.models.seq2seq import Source
from regard.models.step import Decoded, Step
from regard.runtime.onnx_search import OnnxSearch
from regard.search import Options
from regard.search.host_choices import HostChoices
from regard.torch_private import has_vnni

GIVEN = "given_weights"


@dataclass(frozen=True)
class OnnxState:
    """The state between steps, by the names of the graphs.

    `tensors` have a row for each hypothesis. `shared` are the large tensors, with a row for each group of consecutive
    hypotheses (those of one sentence); all groups have the same size.
    """

    tensors: dict[str, Tensor]
    shared: dict[str, Tensor]

    def select(self, rows: Int[Tensor, " rows"]) -> "OnnxState":
        tensors = {name: tensor.index_select(0, rows) for name, tensor in self.tensors.items()}
        if not self.shared:
            return OnnxState(tensors, {})
        groups = next(iter(self.shared.values())).size(0)
        if groups == 1 and len(rows):
            return OnnxState(tensors, self.shared)
        owner = rows.numpy() // (self.tensors["position"].size(0) // groups)
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        kept = owner[first]
        if len(set(np.diff(first, append=len(owner)).tolist())) > 1:
            kept = owner
        elif np.array_equal(kept, np.arange(groups)):
            return OnnxState(tensors, self.shared)
        chosen = torch.from_numpy(kept)
        return OnnxState(tensors, {name: tensor.index_select(0, chosen) for name, tensor in self.shared.items()})


class OnnxModel:
    """Two sessions: the encoder, and one step of the decoder. It runs on the CPU and cannot be trained."""

    def __init__(
        self,
        config: RecurrentConfig | TransformerConfig,
        graphs: Mapping[str, bytes],
        weights: Mapping[str, Mapping[str, np.ndarray]],
        parameters_count: int,
        shared: Collection[str] = (),
    ) -> None:
        """`graphs` are ENCODER and DECODER, `weights` the external tensors of each; no session opens a file.

        `shared` names the tensors of the state that the hypotheses of a sentence share.
        """
        self.config, self.parameters_count, self._shared = config, parameters_count, frozenset(shared)
        self.device = torch.device("cpu")
        self._weights = weights  # the sessions use this memory
        self._encoder = _session(graphs[ENCODER], weights[ENCODER])
        self._decoder = _session(graphs[DECODER], weights[DECODER])
        self._search = OnnxSearch(graphs[DECODER], partial(_session, weights=weights[DECODER]))

    def start(self, source: Source) -> OnnxState:
        """Encode the sentences; returns the decoder's first state."""
        given = {"source": source.source, "source_lengths": source.source_lengths}
        found = _run(self._encoder, given)
        for name, tensor in found.items():
            _check_shape(ENCODER, name, tensor, (len(source.source), *(None for _ in tensor.shape[1:])))
        shared = {name: found.pop(name) for name in self._shared}
        return OnnxState(found, shared)

    def step(
        self,
        tokens: Int[Tensor, " rows"],
        state: OnnxState,
        *,
        weights: Float[Tensor, "rows layer head source"] | None = None,
    ) -> Step:
        """One decoder step; non-negative values in `weights` replace the computed ones."""
        given = {"tokens": tokens, **state.tensors, **state.shared}
        if weights is not None:
            given[GIVEN] = self._checked(weights, state)
        found = _run(self._decoder, given)
        seen, real = found.get("weights"), state.tensors.get("real")
        _check_shape(DECODER, "logits", found["logits"], (len(tokens), None))
        if seen is not None and real is not None:
            _check_shape(DECODER, "weights", seen, (len(tokens), None, None, real.size(1)))
        new = {name.removeprefix(NEW): tensor for name, tensor in found.items() if name.startswith(NEW)}
        return Step(found["logits"], OnnxState({**state.tensors, **new}, state.shared), seen)

    def refuses_search(self, limits: Int[Tensor, " sentence"], beam: int, options: Options) -> str | None:
        """Why the graph of a whole search does not support this one."""
        return self._search.refuses(limits, beam, options)

    @torch.no_grad()
    def search(
        self, source: Source, limits: Int[Tensor, " sentence"], beam: int, nbest: int, options: Options
    ) -> tuple[HostChoices, Float[Tensor, "rows layer head source"] | None] | None:
        """A whole beam search in one graph; None if the host has to report a fault."""
        state = self.start(source).select(torch.arange(len(limits)).repeat_interleave(beam))
        return self._search.run({**state.tensors, **state.shared}, limits, beam, nbest, options)

    def __call__(self, source: Source, tokens: Int[Tensor, "batch target"], *, want_weights: bool = False) -> Decoded:
        """All steps of given targets, one after the other; the returned features are empty (width 0)."""
        state: Any = self.start(source)
        seen = []
        for words in tokens.unbind(1):
            step = self.step(words, state)
            state = step.state
            seen.append(step.weights)
        kept = [one for one in seen if one is not None and want_weights]
        return Decoded(torch.empty(*tokens.shape, 0), torch.stack(kept, dim=3) if kept else None)

    def _checked(self, weights: Tensor, state: OnnxState) -> Tensor:
        if GIVEN not in state.tensors:
            raise ValueError("step: this model has no attention, so weights cannot be given to it")
        config = self.config
        layers = 1 if isinstance(config, RecurrentConfig) else config.decoder_layers
        wanted = (len(state.tensors["real"]), layers, config.heads, state.tensors["real"].size(1))
        if tuple(weights.shape) != wanted:
            raise ValueError(
                f"step: the given weights have shape {list(weights.shape)}, "
                f"but [rows, layer, head, source] is {list(wanted)} here"
            )
        return weights.float()


@cache
def _limit_memory() -> None:
    """Bound what onnxruntime allocates in this process: a graph of a few bytes may ask for any amount."""
    place = onnxruntime.OrtMemoryInfo(
        "Cpu", onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, onnxruntime.OrtMemType.DEFAULT
    )
    unset = dict.fromkeys(("arena_extend_strategy", "initial_chunk_size_bytes", "max_dead_bytes_per_chunk"), -1)
    onnxruntime.create_and_register_allocator(place, onnxruntime.OrtArenaCfg({"max_mem": MOST["onnx"], **unset}))


def _session(graph: bytes, weights: Mapping[str, np.ndarray]) -> Any:
    _limit_memory()
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.use_env_allocators", "1")
    # Log nothing: errors are raised anyway, and a name from a graph could contain control characters.
    options.log_severity_level = 4
    options.intra_op_num_threads = torch.get_num_threads()
    if not has_vnni():  # without VNNI the fast int8 product saturates; this one is exact and slower
        options.add_session_config_entry("session.x64quantprecision", "1")
    tensors = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in weights.values()]
    options.add_external_initializers(list(weights), tensors)
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _check_shape(graph: str, name: str, tensor: Tensor, wanted: tuple[int | None, ...]) -> None:
    """Raise for an output of another shape; None is any number."""
    found = tensor.shape
    if len(found) != len(wanted) or any(size not in (None, one) for size, one in zip(wanted, found, strict=True)):
        shown = ", ".join("any" if size is None else str(size) for size in wanted)
        raise BundleError(f"{graph} gave {name} of shape {list(found)}, expected [{shown}]: export the bundle again")


def _run(session: Any, given: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """All outputs of a session, by name."""
    try:
        found = session.run(None, {name: tensor.contiguous().numpy() for name, tensor in given.items()})
    except Exception as error:  # onnxruntime has its own classes
        raise BundleError(f"onnxruntime could not run a graph ({cut(str(error))}): export the bundle again") from error
    return {output.name: torch.from_numpy(array) for output, array in zip(session.get_outputs(), found, strict=True)}

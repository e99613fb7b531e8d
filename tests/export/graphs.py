"""Models as graphs in memory, run by onnxruntime as `regard.load` does, or by ONNX's own reference runtime."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from onnx.reference import ReferenceEvaluator
from torch import Tensor

from models.zoo import EVERY, OWN, Config, Sentences, build, sentences
from regard.bundle.onnx_manifest import DECODER, ENCODER, NEW
from regard.export.graph import FLOAT, Graph
from regard.export.graph_state import is_shared
from regard.export.graph_weights import Weights
from regard.export.write_folder import build_graphs
from regard.models import RecurrentConfig, Seq2Seq
from regard.runtime.onnx_model import OnnxModel

EXPORTED = {name: config for name, config in EVERY.items() if getattr(config, "score", "") != OWN}
LENGTHS = (1, 4, 7)
PADDING = 2
TARGET = [2, 5, 9]


@cache
def torch_model(config: Config) -> Seq2Seq:
    return build(config).float()


def onnx_model(model: Seq2Seq, *, int8: bool = False) -> OnnxModel:
    weights = Weights(int8=int8)
    graphs = build_graphs(model, weights)
    needed = {name: external(graph, weights) for name, graph in graphs.items()}
    written = {name: graph.SerializeToString() for name, graph in graphs.items()}
    shared = [one.name for one in graphs[ENCODER].graph.output if is_shared(one.name)]
    return OnnxModel(model.config, written, needed, model.parameters_count, shared)


def external(graph: onnx.ModelProto, weights: Weights) -> dict[str, np.ndarray]:
    stored = [one.name for one in graph.graph.initializer if one.data_location == onnx.TensorProto.EXTERNAL]
    return {name: np.ascontiguousarray(weights.arrays[name]) for name in stored}


def product(x: np.ndarray, weight: Tensor) -> tuple[np.ndarray, set[str]]:
    """`W x` in int8, and the operators that onnxruntime fuses its nodes into."""
    weights = Weights(int8=True)
    graph = Graph("product", weights, {id(weight): "W"})
    value = graph.linear(graph.input("x", FLOAT, x.shape), weight)
    graph.output("y", value, FLOAT, None)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    with TemporaryDirectory() as folder:
        options.optimized_model_filepath = str(Path(folder) / "optimised.onnx")
        session = onnxruntime.InferenceSession(_whole(graph.model(), weights).SerializeToString(), options)
        optimised = onnx.load(options.optimized_model_filepath)
    return session.run(None, {"x": x})[0], {node.op_type for node in optimised.graph.node}


def batches() -> list[Sentences]:
    """Three lengths, alone and in a batch of five, with more padding than any of them needs and words in it."""
    found = []
    for longest in LENGTHS:
        rows = [[(3 * row + place) % 7 + 4 for place in range(max(longest - row, 1))] for row in range(5)]
        found += [sentences(*rows[:size], width=longest + PADDING, seed=size) for size in (1, 5)]
    return found


def steps(model: Any, source: Sentences, weights: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
    """Logits [step, rows, vocabulary] and weights [step, rows, layer, head, source] of the same few words."""
    state, logits, seen = model.start(source), [], []
    for word in TARGET:
        tokens = torch.full((len(source.source),), word)
        step = model.step(tokens, state) if weights is None else model.step(tokens, state, weights=weights)
        state = step.state
        logits.append(step.logits)
        seen.append(step.weights)
    return torch.stack(logits), None if seen[0] is None else torch.stack(seen)


class ReferenceModel:
    """The same graphs in ONNX's reference runtime, which is written in NumPy."""

    def __init__(self, model: Seq2Seq, *, int8: bool = False, trace: bool = False) -> None:
        weights = Weights(int8=int8)
        graphs = build_graphs(model, weights, trace=trace)
        self.sessions = {name: ReferenceEvaluator(_whole(graph, weights)) for name, graph in graphs.items()}

    def run(self, name: str, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        session = self.sessions[name]
        return dict(zip(session.output_names, session.run(None, given), strict=True))

    def steps(self, source: Sentences) -> tuple[np.ndarray, np.ndarray | None]:
        given = {"source": source.source.numpy(), "source_lengths": source.source_lengths.numpy()}
        state, found = self.run(ENCODER, given), []
        for word in TARGET:
            step = self.run(DECODER, {"tokens": np.full(len(source.source), word), **state})
            state |= {name.removeprefix(NEW): value for name, value in step.items() if name.startswith(NEW)}
            found.append(step)
        weights = np.stack([step["weights"] for step in found]) if "weights" in found[0] else None
        return np.stack([step["logits"] for step in found]), weights


def _whole(graph: onnx.ModelProto, weights: Weights) -> onnx.ModelProto:
    """The graph with its weights inside."""
    for tensor in graph.graph.initializer:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            tensor.CopyFrom(onnx.numpy_helper.from_array(weights.arrays[tensor.name], tensor.name))
    return graph


def sums_to_one(config: Config) -> bool:
    """Luong's Gaussian multiplies weights after the softmax: their sum is less than 1."""
    return not (isinstance(config, RecurrentConfig) and config.window == "local-p")

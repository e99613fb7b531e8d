"""How far exported graphs and torch's own float32 are from float64: Transformers of random weights, by their scale.

    python benchmarks/onnx_rounding.py --json docs/results/onnx_rounding.json    # for docs/guides/onnx.md; a minute

The same weights in both precisions; the difference is the largest of all attention weights of ten steps.
"""

import argparse
import json
from copy import deepcopy
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from regard.bundle.onnx_manifest import DECODER, ENCODER
from regard.export.graph_weights import Weights
from regard.export.write_folder import build_graphs
from regard.lab.machine import describe_machine
from regard.models import Seq2Seq, preset
from regard.runtime.onnx_model import OnnxModel
from regard.runtime.source_text import Padded

DISTANCES = ("torch float32 from float64", "graphs from float64", "graphs from torch float32")
SEEDS, SCALES, VOCABULARY, STEPS = 60, (1.0, 1.5, 2.5), 23, 10
SIZES = {"width": 8, "heads": 2, "encoder_layers": 1, "decoder_layers": 2, "feedforward": 16}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--json", type=Path, required=True)
    given = options.parse_args()
    scales: dict[str, dict[str, dict[str, float]]] = {}
    for scale in SCALES:
        found = np.array([differences(seed, scale) for seed in range(SEEDS)])
        scales[f"{scale:g}"] = {
            name: {
                "median": float(np.median(column)),
                "largest": float(column.max()),
                "over 1e-5": int((column > 1e-5).sum()),
            }
            for name, column in zip(DISTANCES, found.T, strict=True)
        }
    record = {**describe_machine(torch.device("cpu")), "seeds": SEEDS, "scales": scales}
    given.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def differences(seed: int, scale: float) -> tuple[float, float, float]:
    torch.manual_seed(seed)
    model = Seq2Seq(preset("transformer", "tiny", **SIZES), VOCABULARY, VOCABULARY).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(scale)
    lengths = torch.tensor([9, 6, 3])
    source = Padded(torch.randint(4, VOCABULARY, (3, 9)), lengths)
    tokens = torch.randint(4, VOCABULARY, (STEPS, 3))
    exact, plain, graphs = (looks(one, source, tokens) for one in (deepcopy(model).double(), model, exported(model)))
    return distance(plain, exact), distance(graphs, exact), distance(graphs, plain)


def exported(model: Seq2Seq, *, int8: bool = False) -> OnnxModel:
    weights = Weights(int8=int8)
    graphs = build_graphs(model, weights)
    external = {
        name: {one.name: weights.arrays[one.name] for one in graphs[name].graph.initializer if one.external_data}
        for name in (ENCODER, DECODER)
    }
    written = {name: graph.SerializeToString() for name, graph in graphs.items()}
    return OnnxModel(model.config, written, external, model.parameters_count)


@torch.no_grad()
def looks(model: Seq2Seq | OnnxModel, source: Padded, tokens: Tensor) -> Tensor:
    state, seen = model.start(source), []
    for words in tokens:
        step = model.step(words, state)
        state = step.state
        seen.append(step.weights.double())
    return torch.stack(seen)


def distance(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().max())


if __name__ == "__main__":
    main()

"""Decoding on one CPU thread against CTranslate2: equal parameters, equal lengths, alternating turns in one run.

    python benchmarks/decoding_peers.py [--turns 7] [--json docs/results/decoding_peers.json]

Ours is the package's `en-fr` (a GRU with additive attention, 9.1 million parameters) in torch and in onnxruntime, in
float32 and in int8. CTranslate2's is a Transformer of 9.4 million parameters (width 256, 4 + 4 layers, 8,000 pieces)
with random weights, in float32 and int8. Every source has 13 pieces and every translation 14: EOS is forbidden until
then, so both do the same number of steps whatever their weights say. `pip install ctranslate2`; it is left out where it
is missing.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch

import regard
from regard.export.write_folder import export_onnx
from regard.lab.machine import describe_machine
from regard.runtime.source_text import pad
from regard.runtime.translator import Translator
from regard.search import SearchConfig, decode
from regard.text.special import EOS

PIECES, WORDS, TOGETHER, VOCABULARY = 13, 14, 64, 8000
MEASURES = (("beam 5", TOGETHER, 5, 1), ("greedy", TOGETHER, 1, 1), ("alone", 1, 5, 3))
"""Name, sentences together, beam, and how often in one turn."""
Run = Callable[[Sequence[Sequence[int]], int], None]


def ours(translator: Translator) -> Run:
    def run(group: Sequence[Sequence[int]], beam: int) -> None:
        config = SearchConfig(beam=beam, longest=WORDS, length_penalty=1.0)
        options = replace(config.options, weights=False, pad=EOS, eos=-1)  # EOS is forbidden, as padding is
        batch = pad(group, translator.device)
        with torch.inference_mode():
            found = decode(translator.stepper, batch, batch.source_lengths, config, options=options)
        assert all(len(one[0].tokens) == WORDS for one in found)

    return run


def ctranslate2_model(folder: Path) -> int:
    """Writes a Transformer with random weights; returns the number of its parameters, tied embeddings counted once."""
    from ctranslate2.specs import TransformerSpec

    width, inner, layers = 256, 1024, 4
    random = np.random.default_rng(0)
    spec = TransformerSpec.from_config((layers, layers), 8)
    count = 0

    def draw(*shape: int) -> np.ndarray:
        nonlocal count
        count += int(np.prod(shape))
        return (random.standard_normal(shape) * 0.05).astype(np.float32)

    def linear(layer: Any, out: int, wide: int) -> None:
        layer.weight, layer.bias = draw(out, wide), draw(out)

    def norm(layer: Any) -> None:
        layer.gamma, layer.beta = np.ones(width, np.float32), draw(width)

    embedding, places = draw(VOCABULARY, width), draw(128, width)
    spec.encoder.embeddings[0].weight = spec.decoder.embeddings.weight = spec.decoder.projection.weight = embedding
    spec.decoder.projection.bias = draw(VOCABULARY)
    for half in (spec.encoder, spec.decoder):
        half.position_encodings.encodings = places
        norm(half.layer_norm)
        for layer in half.layer:
            attentions = [layer.self_attention] + ([layer.attention] if half is spec.decoder else [])
            for attention in attentions:
                norm(attention.layer_norm)
                outs = (3 * width, width) if attention is layer.self_attention else (width, 2 * width, width)
                for part, out in zip(attention.linear, outs, strict=True):
                    linear(part, out, width)
            norm(layer.ffn.layer_norm)
            linear(layer.ffn.linear_0, inner, width)
            linear(layer.ffn.linear_1, width, inner)
    words = ["<unk>", "<s>", "</s>", *(f"w{number}" for number in range(3, VOCABULARY))]
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.validate()
    folder.mkdir()
    spec.save(str(folder))
    return count


def theirs(folder: Path, kind: str) -> Run:
    import ctranslate2

    translator = ctranslate2.Translator(str(folder), compute_type=kind, intra_threads=1, inter_threads=1)

    def run(group: Sequence[Sequence[int]], beam: int) -> None:
        lines = [[f"w{piece}" for piece in one] for one in group]
        exactly = {"min_decoding_length": WORDS, "max_decoding_length": WORDS}
        found = translator.translate_batch(lines, beam_size=beam, max_batch_size=TOGETHER, **exactly)
        assert all(len(one.hypotheses[0]) == WORDS for one in found)

    return run


def measure(systems: dict[str, Run], turns: int) -> dict[str, dict[str, dict[str, float]]]:
    """Sentences a second with beam 5 and greedily, and milliseconds for one sentence alone.

    `elapsed` is the median over the turns by the clock; `cpu` is the best turn in CPU time, which other work on the
    machine disturbs less.
    """
    random = np.random.default_rng(1)
    group = random.integers(4, VOCABULARY, (TOGETHER, PIECES)).tolist()
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for turn in range(turns + 1):
        for name, run in systems.items():
            for label, rows, beam, repeats in MEASURES:
                for _ in range(repeats):
                    clock, cpu = time.perf_counter(), time.process_time()
                    run(group[:rows], beam)
                    took = time.perf_counter() - clock, time.process_time() - cpu
                    if turn:  # the first one warms up
                        found.setdefault((name, label), []).append(took)
    figures: dict[str, dict[str, dict[str, float]]] = {name: {} for name in systems}
    for (name, label), times in found.items():
        elapsed, cpu = zip(*times, strict=True)
        best = {"elapsed": statistics.median(elapsed), "cpu": min(cpu)}
        figures[name][label] = {
            kind: round(1000 * seconds if label == "alone" else TOGETHER / seconds, 2) for kind, seconds in best.items()
        }
    return figures


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--turns", type=int, default=7)
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as made:
        exact = regard.load("en-fr")
        export_onnx(Path("en-fr"), Path(made) / "onnx")
        export_onnx(Path("en-fr"), Path(made) / "onnx-int8", int8=True)
        systems = {
            "ours, float32": ours(exact),
            "ours, int8": ours(regard.load("en-fr", precision="int8")),
            "ours, ONNX float32": ours(regard.load(Path(made) / "onnx")),
            "ours, ONNX int8": ours(regard.load(Path(made) / "onnx-int8")),
        }
        parameters = {"ours": exact.bundle.model.parameters_count}
        if find_spec("ctranslate2"):
            from importlib.metadata import version

            parameters["CTranslate2"] = ctranslate2_model(Path(made) / "ctranslate2")
            label = f"CTranslate2 {version('ctranslate2')}"
            systems |= {f"{label}, {kind}": theirs(Path(made) / "ctranslate2", kind) for kind in ("float32", "int8")}
        else:
            print("ctranslate2 is not installed: left out")
        figures = measure(systems, given.turns)
    for name, one in figures.items():
        columns = (f"  {label} {value['elapsed']:7.1f} ({value['cpu']:.1f})" for label, value in one.items())
        print(f"{name:28s}" + "".join(columns))
    if given.json:
        record = {**describe_machine(torch.device("cpu")), "load": os.getloadavg()[0], "turns": given.turns}
        given.json.write_text(
            json.dumps({**record, "parameters": parameters, "figures": figures}, indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()

"""What int8 and ONNX change in the translations of the package's `en-fr`: BLEU and the share that stays the same.

    python benchmarks/decoding_quality.py --data DATA [--sentences 1000] [--json docs/results/decoding_quality.json]

The first sentences of Tatoeba's test set, beam 5. All take the same weights, which the package stores in 8 bits; the
rows differ in what they multiply in.
"""

import argparse
import json
import tempfile
from pathlib import Path

import torch

import regard
from boxed_data import tatoeba
from regard.evaluation.scores import bleu
from regard.export.write_folder import export_onnx
from regard.lab.machine import describe_machine


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--sentences", type=int, default=1000)
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    torch.set_num_threads(1)
    pairs = tatoeba(given.data, "test")[: given.sentences]
    figures: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as made:
        for folder, int8 in (("onnx", False), ("onnx-int8", True)):
            export_onnx(Path("en-fr"), Path(made) / folder, int8=int8)
        systems = {
            "torch, float32": regard.load("en-fr"),
            "torch, int8": regard.load("en-fr", precision="int8"),
            "onnxruntime, float32": regard.load(Path(made) / "onnx"),
            "onnxruntime, int8": regard.load(Path(made) / "onnx-int8"),
        }
        exact: list[str] = []
        for name, translator in systems.items():
            found = [one.text for one in translator.translate([source for source, _ in pairs], beam=5)]
            exact = exact or found
            same = sum(one == other for one, other in zip(found, exact, strict=True))
            figures[name] = {
                "bleu": round(bleu(found, [target for _, target in pairs]).score, 2),
                "same": same / len(pairs),
            }
            print(f"{name:24s} BLEU {figures[name]['bleu']:.2f}  same {figures[name]['same']:.4f}", flush=True)
    if given.json:
        record = {**describe_machine(torch.device("cpu")), "sentences": len(pairs), "figures": figures}
        given.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Writes maps.json: what trained models look at in the story's sentences.

regard demo --out runs/demo
regard demo --pair en-hi --out runs/hindi
regard train demo --set train.label_smoothing=0 --out runs/plain
regard train copy --out runs/copy
regard train reverse --out runs/reverse
python docs/story/measure_maps.py runs
"""

import json
import sys
from datetime import date
from pathlib import Path

import regard
from regard.data import phrasebook
from regard.lab.evaluate_model import measure

SENTENCES = {
    "walk": ("demo", "The black cat sat on the mat."),
    "copy": ("copy", "7 9 25 26 23 23"),
    "reverse": ("reverse", "7 9 25 26 23 23"),
    "swap": ("demo", "She loves the white horse."),
    "lights": ("hindi", "Turn off the lights."),
    "bread": ("demo", "They did not buy bread."),
    "sleep": ("demo", "She does not sleep."),
    "clitic": ("demo", "I love you."),
    "walk-plain": ("plain", "The black cat sat on the mat."),
}
"""Name of the map, the run that translates, and the sentence."""
UNSEEN = 600
"""Sentences the two English to French models are compared on: those of the demo."""


def main(runs: Path) -> None:
    maps = {}
    for name, (run, sentence) in SENTENCES.items():
        found = regard.load(runs / run).translate(sentence)
        assert isinstance(found, regard.Translation)
        assert found.matrix is not None
        maps[name] = {
            "run": run,
            "source": [_shown(piece) for piece in found.source_pieces],
            "target": [_shown(piece) for piece in found.target_pieces],
            "weights": [[round(float(weight), 3) for weight in row] for row in found.matrix],
        }
    plain = measure(regard.load(runs / "plain"), phrasebook.pairs("en-fr", "test", UNSEEN)).json()
    report = json.loads((runs / "demo" / "report.json").read_text(encoding="utf-8"))
    record = {
        "measured": date.today().isoformat(),
        "version": regard.__version__,
        "device": "cpu",
        "demo": {key: report[key] for key in ("seed", "sentences", "exact_match", "aer", "by_length")},
        "plain": {key: plain[key] for key in ("sentences", "exact_match", "aer")},
        "maps": maps,
    }
    text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
    (Path(__file__).parent / "maps.json").write_text(text, encoding="utf-8")


def _shown(piece: str) -> str:
    return "EOS" if piece == "</s>" else piece


if __name__ == "__main__":
    main(Path(sys.argv[1]))

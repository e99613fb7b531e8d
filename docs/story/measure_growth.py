"""Writes growth.json: where the demo's model looks while it still learns, always for the same translation.

python docs/story/measure_growth.py runs/growth
"""

import json
import sys
from datetime import date
from pathlib import Path

import regard
from regard.training.journal import Event, Stepped

SOURCE, TARGET = "The black cat sat on the mat.", "Le chat noir était assis sur le tapis."
EVERY = 50
SHOWN = (50, 200, 300, 2600)
"""Steps after which the map is kept; the last is the end of the training."""


def main(folder: Path) -> None:
    maps: dict[int, dict[str, object]] = {}

    def look(step: int) -> None:
        """The model on the disk: the loss falls at each of these validations, so the newest model is the best one."""
        found = regard.load(folder).translate(SOURCE, target=TARGET)
        assert isinstance(found, regard.Translation)
        assert found.matrix is not None
        weights = [[round(float(weight), 3) for weight in row] for row in found.matrix]
        source, target = (
            ["EOS" if piece == "</s>" else piece for piece in pieces]
            for pieces in (found.source_pieces, found.target_pieces)
        )
        maps[step] = {"source": source, "target": target, "weights": weights}

    def listen(event: Event) -> None:
        if isinstance(event, Stepped) and event.step - 1 in SHOWN:  # the model was saved after its last step
            look(event.step - 1)

    overrides = [f"train.validate_every={EVERY}", "train.validate_sentences=30", "train.metric=loss"]
    regard.train("demo", folder, overrides=overrides, listener=listen)
    look(SHOWN[-1])
    record = {"measured": date.today().isoformat(), "version": regard.__version__, "device": "cpu", "steps": maps}
    text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
    (Path(__file__).parent / "growth.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

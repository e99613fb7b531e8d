"""How the alignment of pinned sentences emerges: snapshots of checkpoints, written by training, read for the page.

`replay.jsonl` in the run folder: the first line holds the pinned sentences, each further line a snapshot.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from regard.files import write_whole
from regard.reading_files import parse_json, read_regular
from regard.runtime.traced import SentenceToTrace, TracedText, Tracing, translate_traced
from regard.runtime.translator import Translator
from regard.server.answers import floats, word_matrix
from regard.server.schema.runs import PinnedSentence, ReplayAnswer, ReplayedSentence, Snapshot
from regard.server.sides import source_side, target_side

NAME = "replay.jsonl"
MOST_BYTES = 64 << 20
NOT_YET = "There is no snapshot yet: the first validation writes one."
Pinned = tuple[str, str]
"""(source, reference)."""


def take_snapshot(translator: Translator, pinned: Sequence[Pinned], step: int, score: float | None) -> Snapshot:
    """What the model does with the pinned sentences now: attention while the reference is forced, and its own text."""
    found = []
    for text, (source, _) in zip(_forced(translator, pinned), pinned, strict=True):
        forced = text.found[0]
        matrix = word_matrix(forced.translation)
        (free,) = translate_traced(translator, [SentenceToTrace(source)], {"beam": 1}, Tracing())
        found.append(
            ReplayedSentence(
                data=None if matrix is None else matrix.data,
                elsewhere=None if matrix is None else matrix.elsewhere,
                log_probability=floats([forced.translation.score])[0],
                text=free.found[0].translation.text,
            )
        )
    return Snapshot(step=step, score=score, sentences=found)


def pinned_sides(
    translator: Translator, pinned: Sequence[Pinned], source: str | None, target: str | None
) -> list[PinnedSentence]:
    """The sentences as the model sees them; `source` and `target` are languages."""
    return [
        PinnedSentence(
            source=source_side(text.source.encoding, source),
            target=target_side(text.found[0].translation, text.found[0].tokens, target),
        )
        for text in _forced(translator, pinned)
    ]


def _forced(translator: Translator, pinned: Sequence[Pinned]) -> list[TracedText]:
    return translate_traced(translator, [SentenceToTrace(*one) for one in pinned], {}, Tracing())


def begin_replay(folder: Path, pinned: Sequence[PinnedSentence]) -> None:
    content = json.dumps({"pinned": [one.model_dump() for one in pinned]}, ensure_ascii=False)
    write_whole(folder / NAME, content + "\n")


def add_snapshot(folder: Path, snapshot: Snapshot) -> None:
    with (folder / NAME).open("a", encoding="utf-8") as file:
        file.write(snapshot.model_dump_json() + "\n")


def read_replay(folder: Path) -> ReplayAnswer | None:
    """The snapshots that training wrote, oldest first; None where there are none. A half-written line is skipped."""
    try:
        first, *lines = read_regular(folder / NAME, MOST_BYTES).split(b"\n")
        sentences = [PinnedSentence.model_validate(one) for one in parse_json(first)["pinned"]]
    except (OSError, ValueError, TypeError, KeyError):
        return None
    found: dict[int, Snapshot] = {}
    for line in lines:
        try:
            snapshot = Snapshot.model_validate_json(line)
        except ValidationError:
            continue
        if len(snapshot.sentences) == len(sentences):
            found[snapshot.step] = snapshot
    snapshots = [found[step] for step in sorted(found)]
    reason = None if snapshots else NOT_YET
    return ReplayAnswer(run=folder.name, sentences=sentences, snapshots=snapshots, reason=reason)

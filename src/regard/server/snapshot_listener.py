"""Snapshots for the studio's slider over checkpoints: a listener writes one after each validation of a run.

A run without them (trained by `regard.train` in Python, or by an older version) shows its best and last checkpoint.
"""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from regard.bounds import cut
from regard.bundle.manifest import NAME as MANIFEST
from regard.data import phrasebook
from regard.lab.about_model import languages_of, phrasebook_pair
from regard.runtime.translator import Translator, load
from regard.server.errors import Refusal
from regard.server.recipe_data import first_pairs
from regard.server.run_replay import (
    NOT_YET,
    Pinned,
    add_snapshot,
    begin_replay,
    pinned_sides,
    read_replay,
    take_snapshot,
)
from regard.server.schema.runs import ReplayAnswer
from regard.training.journal import Event, Finished, Stepped, Validated

PINNED = 4
"""Pinned sentences of a run."""
CANDIDATES = 100
"""Sentences of the development set that are searched for short ones to pin."""
NO_SNAPSHOTS = "This run has no snapshots (regard train writes them): its best and last checkpoints are shown."
NO_MORE = "no further snapshots for regard studio; the training continues"
SHORT = 12
"""Words of a pinned sentence, at most: its map is read at a glance."""


def snapshot_listener(
    folder: Path, trust: Collection[str] = (), report: Callable[[str], object] = lambda message: None
) -> Callable[[Event], None]:
    """For the run in `folder`. Training never fails because of it: the first error is reported and ends the snapshots.

    The checkpoint of a validation exists once the next step, or the end, is reported.
    """
    pinned: list[Pinned] = []
    waiting: list[Validated] = []
    failed = False

    def listen(event: Event) -> None:
        nonlocal failed
        if isinstance(event, Validated):
            waiting[:] = [event]
        elif waiting and not failed and isinstance(event, Stepped | Finished):
            try:
                _add(folder, waiting.pop(), pinned, trust)
            except Exception as error:  # whatever it is, the run matters more than its pictures
                failed = True
                report(f"{NO_MORE}: {cut(' '.join(str(error).split()))}")

    return listen


def _add(folder: Path, validated: Validated, pinned: list[Pinned], trust: Collection[str]) -> None:
    translator = load(folder / "last", trust=trust)
    known = None if pinned else read_replay(folder)  # a resumed run keeps its sentences
    if known is not None:
        pinned[:] = [(one.source.text, one.target.text) for one in known.sentences]
    elif not pinned:
        pinned[:] = _choose_pinned(translator, validated.sample)
        begin_replay(folder, pinned_sides(translator, pinned, *languages_of(translator.bundle.manifest)))
    add_snapshot(folder, take_snapshot(translator, pinned, validated.step, validated.score))


def _choose_pinned(translator: Translator, sample: tuple[str, str, str]) -> list[Pinned]:
    """The showcase of the phrasebook; of other generated data the first short sentences of the development set.

    Of files the sample of the validation: finding held-out sentences again may take a minute.
    """
    bundle = translator.bundle
    pair = phrasebook_pair(bundle.manifest)
    if pair is not None:
        return [(one.source, one.target) for one in phrasebook.showcase(pair)[:PINNED]]
    try:
        pairs = [(one.source, one.target) for one in first_pairs(bundle, "dev", CANDIDATES, files=False)]
    except Refusal:
        return [sample[:2]]
    short = [one for one in pairs if all(2 <= len(text.split()) <= SHORT for text in one)]
    return (short or pairs)[:PINNED]


def replay_of_checkpoints(folder: Path, pinned: Sequence[Pinned], trust: Collection[str]) -> ReplayAnswer:
    """The best and the last checkpoint of a run without snapshots."""
    found: dict[int, Translator] = {}
    for inner in ("best", "last"):
        if (folder / inner / MANIFEST).is_file():
            translator = load(folder / inner, trust=trust)
            found[_steps(translator)] = translator
    if not found or not pinned:
        return ReplayAnswer(run=folder.name, sentences=[], snapshots=[], reason=NOT_YET)
    newest = found[max(found)]
    sides = pinned_sides(newest, pinned, *languages_of(newest.bundle.manifest))
    snapshots = [take_snapshot(found[step], pinned, step, None) for step in sorted(found)]
    return ReplayAnswer(run=folder.name, sentences=sides, snapshots=snapshots, reason=NO_SNAPSHOTS)


def _steps(translator: Translator) -> int:
    steps = translator.bundle.manifest.trained.get("steps")
    return steps if isinstance(steps, int) else 0

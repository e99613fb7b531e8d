"""Where a model looks while it is made to write given targets: whole batches at once, no search, no output layer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from regard.alignment import WordLooks, take
from regard.bundle.store import Bundle
from regard.models.config import RecurrentConfig
from regard.runtime.guided import heads_of
from regard.runtime.padded import pad
from regard.runtime.reading import check_target, read
from regard.text.encoding import Encoding
from regard.text.errors import InputError
from regard.text.regroup import regroup
from regard.text.special import BOS
from regard.text.words import word_spans

ROWS = 256
CELLS = {"cpu": 60_000, "cuda": 1_000_000}
"""Rows × target × source positions computed together: what attention needs memory for."""

Words = tuple[int | None, ...]
Ready = tuple[int, Encoding, Encoding, bool]
"""A pair on its way: number, source, target with EOS, whether the source was cut."""


@dataclass(frozen=True, eq=False)
class Look:
    """One pair: its words, the word of each piece, and the attention [layer, head, target piece, source piece].

    The last row is the step that produced EOS.
    """

    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    source_word_of: Words
    target_word_of: Words
    attention: Float[np.ndarray, "layer head target source"]
    cut: bool = False
    """Whether the source was longer than the model reads; its last words have no links."""

    @property
    def counts(self) -> tuple[int, int]:
        return len(self.source_words), len(self.target_words)

    def between_words(self, shift: int = 0) -> WordLooks:
        return WordLooks.of(self.attention, self.source_word_of, self.target_word_of, counts=self.counts, shift=shift)

    def taken(self) -> dict[int, WordLooks]:
        """The same for every shift that tuning tries."""
        return take(self.attention, self.source_word_of, self.target_word_of, self.counts)


class Aligner:
    """Aligns pairs with one model; links count the model's words, or with `spaces` what white space separates."""

    def __init__(self, bundle: Bundle, *, spaces: bool = False) -> None:
        config = bundle.model.config
        if isinstance(config, RecurrentConfig) and config.score == "none":
            raise InputError(f"{bundle.path} has no attention: one fixed vector, no alignment exists")
        self.bundle = bundle
        self.spaces = spaces

    @property
    def shape(self) -> tuple[int, int]:
        """Layers that look at the source, and heads in each."""
        return heads_of(self.bundle)

    def count_words(self, source: str, target: str, *, seen: bool = True) -> tuple[int, int]:
        """The words that links between these two can name; `seen` leaves out what normalisation drops."""
        counts = []
        for text, tokenizer in ((source, self.bundle.source), (target, self.bundle.target)):
            config = tokenizer.config
            counts.append(
                len(word_spans(config.normalise(text) if seen else text, "spaces" if self.spaces else config.words))
            )
        return counts[0], counts[1]

    def look(self, sources: Sequence[str], targets: Sequence[str]) -> Iterator[tuple[int, Look]]:
        """(number of the pair, where the model looked), the longest first; a pair with a blank side is left out."""
        if len(sources) != len(targets):
            raise InputError(f"{len(sources)} sources but {len(targets)} targets: give one target for each source")
        lengths = np.array([(len(s.split()), len(t.split())) for s, t in zip(sources, targets, strict=True)])
        order: list[int] = np.lexsort((-lengths[:, 1], -lengths[:, 0])).tolist() if len(lengths) else []
        # Encoded in portions: a million pairs never lie in memory as pieces.
        for first in range(0, len(order), 16 * ROWS):
            ready = [(one, *self._encode(sources[one], targets[one])) for one in order[first : first + 16 * ROWS]]
            ready = [one for one in ready if one[1].word_texts and one[2].word_texts]
            ready.sort(key=lambda one: (-len(one[1].ids), -len(one[2].ids)))
            for group in self._groups(ready):
                yield from self._run(group)

    def _encode(self, source: str, target: str) -> tuple[Encoding, Encoding, bool]:
        bundle = self.bundle
        reading = read(source, bundle.source, eos=bundle.manifest.source_eos, longest=bundle.longest_source)
        cut = any("too long" in warning for warning in reading.warnings)
        written = bundle.target.encode(target, eos=True)
        check_target(written, bundle)
        return reading.encoding, written, cut

    def _groups(self, ready: list[Ready]) -> Iterator[list[Ready]]:
        cells = CELLS.get(next(self.bundle.model.parameters()).device.type, CELLS["cpu"])
        group: list[Ready] = []
        height = width = 0
        for one in ready:
            wider, higher = max(width, len(one[1].ids)), max(height, len(one[2].ids))
            if group and (len(group) == ROWS or (len(group) + 1) * wider * higher > cells):
                yield group
                group, wider, higher = [], len(one[1].ids), len(one[2].ids)
            group.append(one)
            width, height = wider, higher
        if group:
            yield group

    @torch.inference_mode()
    def _run(self, group: list[Ready]) -> list[tuple[int, Look]]:
        model = self.bundle.model
        device = next(model.parameters()).device
        source = pad([encoding.ids for _, encoding, _, _ in group], device)
        tokens = pad([[BOS, *encoding.ids[:-1]] for _, _, encoding, _ in group], device).source
        weights = model(source, tokens, want_weights=True).weights
        assert weights is not None
        everything = weights.float().cpu().numpy()
        return [
            (number, self._look(read_, written, everything[row], cut))
            for row, (number, read_, written, cut) in enumerate(group)
        ]

    def _look(
        self, source: Encoding, target: Encoding, weights: Float[np.ndarray, "layer head target source"], cut: bool
    ) -> Look:
        bundle = self.bundle
        source_words, source_word_of = regroup(source, bundle.source.config.words, self.spaces)
        target_words, target_word_of = regroup(target, bundle.target.config.words, self.spaces)
        attention = weights[:, :, : len(target.ids), : len(source.ids)]
        return Look(source_words, target_words, source_word_of, target_word_of, attention, cut)

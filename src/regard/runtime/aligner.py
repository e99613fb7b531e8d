"""Attention of a model on given targets (forced decoding), and its links: whole batches, no search, no output layer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Float16, Int64
from torch import Tensor

from regard.alignment import LinkRule, WordAttention, shifted_attention
from regard.bundle.store import Bundle
from regard.models.model_config import RecurrentConfig
from regard.models.rnn.word_posterior import word_posterior
from regard.runtime.guided import guided_shift
from regard.runtime.posterior import Posterior, check_posterior, quick_products
from regard.runtime.source_text import check_target, pad
from regard.text.encoding import PieceWords
from regard.text.input_error import InputError
from regard.text.pieces import given_words
from regard.text.special import BOS, EOS
from regard.text.tokenizer import Tokenizer
from regard.text.words import Unit, word_spans

ROWS = 1024
CELLS = {"cpu": 60_000, "cuda": 1_000_000}
"""Rows × target × source positions computed together, which bounds the memory of attention."""

MOST_CELLS = 1 << 20
"""The most target × source pieces of a pair, or × source words if the source was cut: larger pairs are not sentences,
and would not fit into memory."""

Words = tuple[int | None, ...]
Ready = tuple[int, PieceWords, PieceWords, bool]
"""An encoded pair: number, source as it is read, target with EOS, whether the source was cut."""
Found = Int64[np.ndarray, "links 2"]
"""Rows are (source word, target word)."""


@dataclass(frozen=True, eq=False)
class PairAttention:
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

    def between_words(self, shift: int = 0) -> WordAttention:
        return WordAttention.of(
            self.attention, self.source_word_of, self.target_word_of, counts=self.counts, shift=shift
        )

    def taken(self) -> dict[int, WordAttention]:
        """Attention between words for every shift that tuning tries."""
        return shifted_attention(self.attention, self.source_word_of, self.target_word_of, self.counts)


@dataclass(frozen=True, eq=False)
class Aligner:
    """Aligns pairs with one model; links count the model's words, or with `spaces` words at white space.

    The words of a character model are its characters, unless `characters` is False (gold links between words).

    With `posterior`, weights are posterior alignments (`posterior.py`) instead of attention; row t is always about the
    word that step t produces.
    """

    bundle: Bundle[Any]
    spaces: bool = False
    characters: bool = True
    posterior: Posterior | None = None

    def __post_init__(self) -> None:
        config = self.bundle.model.config
        if isinstance(config, RecurrentConfig) and config.score == "none":
            raise InputError(f"{self.bundle.name} has no attention: one fixed vector, no alignment exists")
        if self.posterior is not None:
            check_posterior(self.bundle.model, self.posterior)

    @property
    def shape(self) -> tuple[int, int]:
        """Decoder layers that attend to the source, and heads in each."""
        return self.bundle.manifest.model.attention_shape

    def count_words(self, source: str, target: str, *, seen: bool = True) -> tuple[int, int]:
        """The number of words on each side; `seen` leaves out words that normalisation drops."""
        sides = (source, self.bundle.source), (target, self.bundle.target)
        if seen:
            counts = [self._word_pieces(tokenizer, text).count for text, tokenizer in sides]
        else:
            counts = [len(word_spans(text, self._unit(tokenizer))) for text, tokenizer in sides]
        return counts[0], counts[1]

    def look(self, sources: Sequence[str], targets: Sequence[str]) -> Iterator[tuple[int, PairAttention]]:
        """(number of the pair, its attention), the longest first; pairs with a blank side or with more than MOST_CELLS
        are left out."""
        for group in self._groups(sources, targets):
            everything = self._weights(group).float().cpu().numpy()
            for (number, source, target, cut), weights in zip(group, everything, strict=True):
                yield (
                    number,
                    PairAttention(
                        self._words(sources[number], self.bundle.source),
                        self._words(targets[number], self.bundle.target),
                        tuple(source.words),
                        tuple(target.words),
                        weights[:, :, : len(target.ids), : len(source.ids)],
                        cut,
                    ),
                )

    def links(
        self, sources: Sequence[str], targets: Sequence[str], rules: Sequence[LinkRule]
    ) -> Iterator[tuple[int, list[Found], bool]]:
        """(number of the pair, its links by each rule, whether its source was cut): as `look` and the rules give, but
        computed for whole batches on the model's device.
        """
        for group in self._groups(sources, targets):
            weights = self._weights(group)
            found = [linked_words(weights, [(one, other) for _, one, other, _ in group], rule) for rule in rules]
            for row, (number, _, _, cut) in enumerate(group):
                yield number, [each[row] for each in found], cut

    def matrices(
        self, sources: Sequence[str], targets: Sequence[str], rule: LinkRule
    ) -> Iterator[tuple[int, Float16[np.ndarray, "target source"], bool]]:
        """(number of the pair, attention between words by a rule's heads and row, whether its source was cut)."""
        for group in self._groups(sources, targets):
            sides = [(one, other) for _, one, other, _ in group]
            words = word_weights(self._weights(group), sides, rule)[0].half().cpu().numpy()
            for (number, one, other, cut), matrix in zip(group, words, strict=True):
                whole = np.zeros((other.count, one.count), dtype=np.float16)
                known = matrix[: other.count, : one.count]
                whole[: known.shape[0], : known.shape[1]] = known
                yield number, whole, cut

    def _groups(self, sources: Sequence[str], targets: Sequence[str]) -> Iterator[list[Ready]]:
        """Pairs to compute together, the longest first."""
        if len(sources) != len(targets):
            raise InputError(f"{len(sources)} sources but {len(targets)} targets: give one target for each source")
        lengths = np.array([(len(s.split()), len(t.split())) for s, t in zip(sources, targets, strict=True)])
        order: list[int] = np.lexsort((-lengths[:, 1], -lengths[:, 0])).tolist() if len(lengths) else []
        # Encoded in portions, so that memory does not hold the pieces of all pairs.
        for first in range(0, len(order), 16 * ROWS):
            ready = [(one, *self._encode(sources[one], targets[one])) for one in order[first : first + 16 * ROWS]]
            ready = [one for one in ready if one[1].count and one[2].count]
            ready = [one for one in ready if max(len(one[1].ids), one[1].count) * len(one[2].ids) <= MOST_CELLS]
            ready.sort(key=lambda one: (-len(one[1].ids), -len(one[2].ids)))
            yield from self._together(ready)

    def _encode(self, source: str, target: str) -> tuple[PieceWords, PieceWords, bool]:
        bundle, longest = self.bundle, self.bundle.longest_source
        given = self._word_pieces(bundle.source, source)
        cut = len(given.ids) > longest
        ids, words = given.ids[:longest], given.words[:longest]
        if bundle.manifest.source_eos:
            ids, words = [*ids, EOS], [*words, None]
        written = self._word_pieces(bundle.target, target)
        check_target(len(written.ids) + 1, bundle)
        ended = PieceWords([*written.ids, EOS], [*written.words, None], written.count)
        return PieceWords(ids, words, given.count), ended, cut

    def _together(self, ready: list[Ready]) -> Iterator[list[Ready]]:
        cells = CELLS.get(self.bundle.model.device.type, CELLS["cpu"])
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
    def _weights(self, group: list[Ready]) -> Float[Tensor, "batch layer head target source"]:
        model = self.bundle.model
        device = model.device
        source = pad([one.ids for _, one, _, _ in group], device)
        tokens = pad([[BOS, *one.ids[:-1]] for _, _, one, _ in group], device).source
        if self.posterior is not None:
            wanted = pad([one.ids for _, _, one, _ in group], device).source
            prior, evidence = self.posterior.prior, self.posterior.evidence
            with quick_products(device):
                return word_posterior(model, source, tokens, wanted, prior, evidence, guided_shift(self.bundle))
        weights: Tensor | None = model(source, tokens, want_weights=True).weights
        assert weights is not None
        return weights

    def _word_pieces(self, tokenizer: Tokenizer, text: str) -> PieceWords:
        return tokenizer.encode_words(text, spaces=self.spaces, characters=self.characters)

    def _unit(self, tokenizer: Tokenizer) -> Unit:
        unit = "spaces" if self.spaces else tokenizer.config.unit
        return "marks" if unit == "characters" and not self.characters else unit

    def _words(self, text: str, tokenizer: Tokenizer) -> tuple[str, ...]:
        """The words that links count, normalised; words that normalisation drops stay unchanged."""
        config = tokenizer.config
        normal = config.normalise(text)
        unit = self._unit(tokenizer)
        if unit != "spaces":
            return tuple(normal[start:end] for start, end in word_spans(normal, unit))
        chunks = normal.split()
        origin = given_words(text, chunks, config.normalise)
        words: dict[int, str] = {}
        for number, chunk in zip(origin, chunks, strict=True):
            words[number] = f"{words[number]} {chunk}" if number in words else chunk
        given = text.split()
        return tuple(words.get(number, given[number]) for number in range(origin[-1] + 1 if origin else 0))


@torch.inference_mode()
def linked_words(
    weights: Float[Tensor, "batch layer head target source"],
    sides: Sequence[tuple[PieceWords, PieceWords]],
    rule: LinkRule,
) -> list[Found]:
    """(source word, target word) links of every pair, in order: `rule.links(WordAttention.of(...))` for each."""
    matrix, nothing = word_weights(weights, sides, rule)
    found = matrix > 0 if rule.threshold is None else (matrix > 0) & (matrix >= rule.threshold)
    if rule.method == "argmax":
        found &= torch.zeros_like(found).scatter_(2, matrix.argmax(dim=2, keepdim=True), True)
    if rule.null:
        found &= (matrix.amax(dim=2) >= nothing)[:, :, None]
    rows, sources, targets = found.transpose(1, 2).nonzero(as_tuple=True)
    links = torch.stack([sources, targets], dim=1).cpu().numpy()
    ends = torch.bincount(rows, minlength=len(sides)).cumsum(0).tolist()
    return np.split(links, ends[:-1])


@torch.inference_mode()
def word_weights(
    weights: Float[Tensor, "batch layer head target source"],
    sides: Sequence[tuple[PieceWords, PieceWords]],
    rule: LinkRule,
) -> tuple[Float[Tensor, "batch target_words source_words"], Float[Tensor, "batch target_words"]]:
    """Attention of each target word to each source word and to pieces outside words, with the rule's heads and shift.

    Words beyond the last one that is read have no row or column: a text that was cut may have millions of them.
    """
    device = weights.device
    if rule.heads:
        layers, heads = zip(*rule.heads, strict=True)
        chosen = weights[:, list(layers), list(heads)].float().mean(dim=1)
    else:
        chosen = weights.float().mean(dim=(1, 2))
    steps, places = chosen.shape[1:]
    source_words = _words_of_pieces([one for one, _ in sides], places)
    target_words = torch.roll(_words_of_pieces([other for _, other in sides], steps), rule.shift, dims=1)
    if rule.shift:
        target_words[:, 0 if rule.shift > 0 else -1] = -1
    sources, targets = (max(1, int(words.max()) + 1) for words in (source_words, target_words))
    to_source = _membership(source_words.to(device), sources)
    to_target = _membership(target_words.to(device), targets)[:, :, :targets]
    pieces = to_target.sum(dim=1).clamp(min=1)[:, :, None]
    looks = to_target.transpose(1, 2) @ (chosen @ to_source) / pieces
    return looks[:, :, :sources], looks[:, :, sources]


def _words_of_pieces(sides: Sequence[PieceWords], width: int) -> Int64[Tensor, "batch pieces"]:
    """The word of each piece, -1 for padding and for pieces outside words."""
    words = np.full((len(sides), width), -1, dtype=np.int64)
    for row, side in enumerate(sides):
        words[row, : len(side.words)] = [-1 if word is None else word for word in side.words]
    return torch.from_numpy(words)


def _membership(words: Int64[Tensor, "batch pieces"], count: int) -> Float[Tensor, "batch pieces slots"]:
    """1 where a piece belongs to a word; the last slot is for pieces outside words."""
    return torch.nn.functional.one_hot(torch.where(words < 0, count, words), count + 1).float()

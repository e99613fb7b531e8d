"""One translated sentence with everything that shows how it came about."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from regard.alignment import Link, Links, word_links, word_matrix
from regard.search import Hypothesis
from regard.text.encoding import Encoding
from regard.text.special import UNK
from regard.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from regard.plot import AttentionMap


@dataclass(frozen=True)
class TranslationStep:
    """One piece the decoder wrote: its probability, and the source words it looked at, strongest first."""

    piece: str
    probability: float
    looked_at: tuple[tuple[str, float], ...]


@dataclass(frozen=True, eq=False)
class Translation:
    """`.attention` is [layer, head, target piece, source piece] with the row that produced EOS; None without attention.

    Its columns are `source_pieces` (EOS last where the model's source carries one), its rows `target_pieces`.
    """

    source: str
    text: str
    score: float
    normalised_score: float
    probabilities: tuple[float, ...]
    source_pieces: tuple[str, ...]
    target_pieces: tuple[str, ...]
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    source_word_of: tuple[int | None, ...]
    target_word_of: tuple[int | None, ...]
    attention: Float[np.ndarray, "layer head target source"] | None
    finished: bool = True
    forced: bool = False
    warnings: tuple[str, ...] = ()
    alternatives: tuple["Translation", ...] = field(default=(), repr=False)

    @classmethod
    def blank(cls, text: str, source: Encoding) -> "Translation":
        """What a blank line translates to."""
        return cls(
            source=text, text="", score=0.0, normalised_score=0.0, probabilities=(), source_pieces=(), target_pieces=(),
            source_words=(), target_words=(), source_word_of=(), target_word_of=(), attention=None,
            warnings=("blank line: nothing to translate",),
        )  # fmt: skip

    @cached_property
    def matrix(self) -> Float[np.ndarray, "target source"] | None:
        """Attention between pieces, averaged over layers and heads."""
        return None if self.attention is None else self.attention.mean(axis=(0, 1))

    @cached_property
    def word_attention(self) -> Float[np.ndarray, "target source"] | None:
        """Attention between words: summed over a source word's pieces, averaged over a target word's."""
        if self.matrix is None:
            return None
        return word_matrix(self.matrix, self.source_word_of, self.target_word_of)

    @cached_property
    def alignment(self) -> frozenset[Link]:
        """(source word, target word), 0-based: each target word with the source word it looked at most."""
        return frozenset() if self.word_attention is None else word_links(self.word_attention)

    @property
    def steps(self) -> tuple[TranslationStep, ...]:
        """The walk: what was written, how surely, looking where."""
        rows = self.matrix if self.matrix is not None else np.zeros((len(self.target_pieces), 0))
        steps = []
        for piece, probability, row in zip(self.target_pieces, self.probabilities, rows, strict=True):
            order = np.argsort(-row, kind="stable")
            steps.append(
                TranslationStep(piece, probability, tuple((self.source_pieces[j], float(row[j])) for j in order))
            )
        return tuple(steps)

    def plot(self, *, words: bool = False, links: Links | None = None) -> "Figure":
        """The heat-map as a matplotlib figure; `.savefig(path)` writes PNG or SVG."""
        from regard.plot import heatmap

        return heatmap(self.attention_map(words=words, links=links))

    def html(self, *, title: str = "regard") -> str:
        """A self-contained page with the heat-map, for hover and keyboard."""
        from regard.plot import alignment_html

        return alignment_html([self.attention_map()], title=title)

    def json(self) -> dict[str, Any]:
        """Plain data: text, scores, pieces, words, alignment and attention."""
        return {
            "source": {"text": self.source, "pieces": list(self.source_pieces), "words": list(self.source_words)},
            "target": {"text": self.text, "pieces": list(self.target_pieces), "words": list(self.target_words)},
            "score": self.score,
            "normalised_score": self.normalised_score,
            "probabilities": list(self.probabilities),
            "alignment": sorted(self.alignment),
            "attention": None
            if self.attention is None
            else {"shape": list(self.attention.shape), "unit": "piece", "data": self.attention.round(6).tolist()},
            "finished": self.finished,
            "forced": self.forced,
            "warnings": list(self.warnings),
            "alternatives": [one.json() for one in self.alternatives],
        }

    def attention_map(self, *, words: bool = False, links: Links | None = None) -> "AttentionMap":
        """Labels and numbers as the drawing functions want them: pieces with EOS, or whole words, with gold links."""
        from regard.plot import AttentionMap

        if words or links is not None:
            return AttentionMap.of(self.word_attention, self.source_words, self.target_words, links=links)
        return AttentionMap.of(self.matrix, self.source_pieces, self.target_pieces)


def build_translation(
    source: Encoding, hypotheses: Sequence[Hypothesis], target: Tokenizer, forced: str | None = None
) -> Translation:
    """The best hypothesis as a translation, the others as its alternatives."""
    first, *others = [_one(source, hypothesis, target, forced) for hypothesis in hypotheses]
    return replace(first, alternatives=tuple(others))


def _one(source: Encoding, hypothesis: Hypothesis, target: Tokenizer, forced: str | None) -> Translation:
    attention = None
    if hypothesis.weights is not None:
        attention = hypothesis.weights[..., : len(source.ids)].float().cpu().numpy()
    decoded = target.decode_pieces(hypothesis.tokens, _copied(source, hypothesis, attention))
    warnings = () if hypothesis.finished or forced is not None else ("stopped at the length limit before its end",)
    return Translation(
        source=source.text,
        text=decoded.text,
        score=hypothesis.score,
        normalised_score=hypothesis.normalised,
        probabilities=tuple(exp(value) for value in hypothesis.log_probabilities),
        source_pieces=source.pieces,
        target_pieces=decoded.pieces,
        source_words=source.word_texts,
        target_words=decoded.word_texts,
        source_word_of=source.words,
        target_word_of=decoded.words,
        attention=attention,
        finished=hypothesis.finished,
        forced=forced is not None,
        warnings=warnings,
    )


def _copied(source: Encoding, hypothesis: Hypothesis, attention: np.ndarray | None) -> list[str | None] | None:
    """For each unknown piece the source word it looked at most; unknown source words are looked at first."""
    if UNK not in hypothesis.tokens or attention is None:
        return None
    rows = attention.mean(axis=(0, 1))
    inside = np.array([word is not None for word in source.words])
    copied: list[str | None] = []
    for token, row in zip(hypothesis.tokens, rows, strict=True):
        if token != UNK or not inside.any():
            copied.append(None)
            continue
        best = int(np.where(inside, row, -1.0).argmax())
        word = source.words[best]
        assert word is not None
        copied.append(source.word_texts[word])
    return copied

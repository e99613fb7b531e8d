"""One translated sentence with its alignment, attention and steps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from jaxtyping import Float

from regard.alignment import Link, Links, WordAttention, combine_heads, word_links

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from regard.plot import AttentionMap

T = TypeVar("T")


@dataclass(frozen=True)
class TranslationStep:
    """One piece the decoder wrote: its probability, and the source pieces it looked at, strongest first."""

    piece: str
    probability: float
    looked_at: tuple[tuple[str, float], ...]


@dataclass(frozen=True, eq=False, repr=False)
class Translation:
    """A translation, and the attention of the model while it wrote it.

    `.attention` is [layer, head, target piece, source piece] with the row that produced EOS; None without attention.
    Its columns are `source_pieces` (EOS last where the model's source carries one), its rows `target_pieces`;
    `source_word_of` and `target_word_of` are the word of each piece, None for EOS and spaces.
    """

    source: str
    """The text as the model reads it: normalised."""
    text: str
    score: float
    """Sum of the log-probabilities of all pieces, EOS included."""
    normalised_score: float
    """The score over the length penalty, by which hypotheses are ranked."""
    probabilities: tuple[float, ...]
    source_pieces: tuple[str, ...]
    target_pieces: tuple[str, ...]
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    source_word_of: tuple[int | None, ...]
    target_word_of: tuple[int | None, ...]
    attention: Float[np.ndarray, "layer head target source"] | None
    finished: bool = True
    """False if the length limit came before EOS."""
    forced: bool = False
    """True where the target was given."""
    warnings: tuple[str, ...] = ()
    source_cut: bool = False
    """Whether the source has more pieces than the model reads: the rest was left out."""
    alternatives: tuple["Translation", ...] = ()
    """The rest of an n-best list without repeated texts, best first; or the other samples in the order drawn."""
    head: tuple[int, int] | None = None
    """The (layer, head) that guided alignment trained, from which links are extracted; None: the mean of all."""
    shift: int = 0
    """Links of a word come from the row that produced it (0), or from the next one if guided alignment used it (1)."""

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Translation({self.text!r}, score={self.score:.4f}, source={self.source!r})"

    def _repr_html_(self) -> str | None:
        """For notebooks: the page of `html()` in its own frame; None if there is nothing to draw."""
        if self.attention is None or not self.source_words:
            return None
        from regard.plot.view import framed

        return framed(self.html(), len(self.target_pieces))

    @cached_property
    def matrix(self) -> Float[np.ndarray, "target source"] | None:
        """Attention between pieces, averaged over layers and heads."""
        return None if self.attention is None else combine_heads(self.attention)

    @cached_property
    def word_attention(self) -> Float[np.ndarray, "target source"] | None:
        """Attention between words: summed over a source word's pieces, averaged over a target word's."""
        layer, head = self.head or (None, None)
        return self._between_words(layer, head, len(self.source_words))

    @cached_property
    def alignment(self) -> frozenset[Link]:
        """(source word, target word), 0-based: each target word with the source word it looked at most."""
        return frozenset() if self.word_attention is None else word_links(self.word_attention)

    @cached_property
    def steps(self) -> tuple[TranslationStep, ...]:
        """Each written piece, its probability, and its attention."""
        matrix = self.matrix if self.matrix is not None else np.zeros((len(self.target_pieces), 0))
        return tuple(
            TranslationStep(
                piece,
                probability,
                tuple((self.source_pieces[i], float(row[i])) for i in np.argsort(-row, kind="stable")),
            )
            for piece, probability, row in zip(self.target_pieces, self.probabilities, matrix, strict=True)
        )

    def plot(
        self, *, words: bool = False, links: Links | None = None, layer: int | None = None, head: int | None = None
    ) -> "Figure":
        """The heat-map as a matplotlib figure; `.savefig(path)` writes PNG or SVG."""
        from regard.plot import heatmap

        return heatmap(self.attention_map(words=words, links=links, layer=layer, head=head))

    def html(self, *, title: str = "Where the model looked") -> str:
        """A self-contained page with the heat-map, for mouse and keyboard."""
        from regard.plot import alignment_html

        return alignment_html([self.attention_map()], title=title)

    def json(self) -> dict[str, Any]:
        """Plain data. Links and `piece_words` count words from 0; attention is [layer, head, target, source piece]."""
        attention = None
        if self.attention is not None:
            rounded = self.attention.astype(np.float64).round(6)  # short JSON: float32 would be 0.10000000149
            attention = {"shape": list(self.attention.shape), "unit": "piece", "data": rounded.tolist()}
        return {
            "source": _side(self.source, self.source_words, self.source_pieces, self.source_word_of),
            "target": _side(self.text, self.target_words, self.target_pieces, self.target_word_of),
            "score": self.score,
            "normalised_score": self.normalised_score,
            "probabilities": list(self.probabilities),
            "alignment": [list(link) for link in sorted(self.alignment)],
            "attention": attention,
            "finished": self.finished,
            "forced": self.forced,
            "warnings": list(self.warnings),
            "alternatives": [one.json() for one in self.alternatives],
        }

    def attention_map(
        self, *, words: bool = False, links: Links | None = None, layer: int | None = None, head: int | None = None
    ) -> "AttentionMap":
        """The input of the drawing functions: labels (pieces or whole words, and EOS) and weights; `links` are framed.

        The mean over layers and heads, unless `layer` or `head` (from 0) chooses one.
        """
        from regard.plot import AttentionMap

        if not self.source_words:
            raise ValueError("a blank text was not translated: there is no attention to draw")
        facts = (("translation", self.text), ("log-probability", f"{self.score:.2f}"))
        about: dict[str, Any] = {"links": links, "facts": facts, "name": self.source}
        if words or (links is not None and not self._pieces_are_words):
            read = (*self.source_words, None) if None in self.source_word_of else self.source_words
            matrix = self._between_words(layer, head, len(read))
            return AttentionMap(matrix, read, self.target_words, **about)
        matrix = None if self.attention is None else combine_heads(self.attention, layer, head)
        if self.attention is not None and layer is None and head is None:
            if self.attention.shape[0] * self.attention.shape[1] > 1:
                about["tensor"] = self.attention
            if not self._pieces_are_words:
                about["words"] = self.attention_map(words=True)
        return AttentionMap(matrix, self.source_pieces, self.target_pieces, **about)

    @property
    def _pieces_are_words(self) -> bool:
        """Whether piece i is word i, so that links between words are links between pieces."""
        source, target = (*range(len(self.source_words)),), (*range(len(self.target_words)),)
        return self.source_word_of in (source, (*source, None)) and self.target_word_of in (target, (*target, None))

    def _between_words(
        self, layer: int | None, head: int | None, columns: int
    ) -> Float[np.ndarray, "target source"] | None:
        """A row and a column for each word, zeros for a word that no piece begins; one more column is EOS's."""
        if self.attention is None:
            return None
        words = len(self.source_words)
        looks = WordAttention.of(
            combine_heads(self.attention, layer, head)[None, None],
            tuple(words if word is None and columns > words else word for word in self.source_word_of),
            self.target_word_of,
            counts=(columns, len(self.target_words)),
            shift=self.shift,
        )
        return np.asarray(looks.words[0, 0])


def different_texts(ranked: Sequence[T], most: int, text: Callable[[T], str]) -> list[T]:
    """The `most` best translations of different texts: pieces such as "a|b" and "ab" may spell the same text."""
    first: dict[str, T] = {}
    for one in ranked:
        first.setdefault(text(one), one)
    return list(first.values())[:most]


def _side(
    text: str, words: tuple[str, ...], pieces: tuple[str, ...], word_of: tuple[int | None, ...]
) -> dict[str, Any]:
    spans, end = [], 0
    for word in words:
        start = max(text.find(word, end), end)
        end = start + len(word)
        spans.append([start, end])
    return {
        "text": text,
        "words": list(words),
        "word_spans": spans,
        "pieces": list(pieces),
        "piece_words": list(word_of),
    }

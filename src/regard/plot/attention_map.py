"""One sentence pair with the attention between its words: the input of every picture in this folder."""

import unicodedata
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float64, Real

Cell = tuple[int, int]
"""(source position, target position), both 0-based, as in word links."""

Number = int | float
"""Both, because run-time type checkers do not accept 1 where 1.0 is annotated."""

NO_ATTENTION = "one fixed vector, no alignment exists: this model has no attention"
_MARKS = {"</s>": "EOS", "<s>": "BOS", "<pad>": "PAD", "<unk>": "UNK"}
_DIRECTION_CONTROLS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True)
class Label:
    """A word on an axis; a special one (EOS) is drawn as a chip, never as `</s>`."""

    text: str
    special: bool = False

    @property
    def shown(self) -> str:
        """The text without control characters; a blank is shown as ␣."""
        return visible(self.text) or "∅"


EOS = Label("EOS", special=True)

Words = str | Sequence[str | Label | None]
"""The labels of an axis: a text, or words one by one, None for the end of the sentence."""


@runtime_checkable
class GoldLinks(Protocol):
    """Anything with sure and possible (source, target) links."""

    @property
    def sure(self) -> Set[Cell]: ...

    @property
    def possible(self) -> Set[Cell]: ...


@dataclass(frozen=True, eq=False, init=False)
class AttentionMap:
    """Weights [target, source] with a label for each row and column; `weights=None` is a model without attention.

    Read a row from left to right: when the model wrote that target word, it looked at these source words.

            the  cat
       le   0.9  0.1
       chat 0.2  0.8
    """

    weights: Float64[np.ndarray, "target source"] | None
    source: tuple[Label, ...]
    target: tuple[Label, ...]
    title: str
    caption: str
    sure: frozenset[Cell]
    possible: frozenset[Cell]
    languages: tuple[str, str]
    facts: tuple[tuple[str, str], ...]
    name: str
    """The source as a person writes it, where labels are pieces of words."""
    tensor: Float64[np.ndarray, "layer head target source"] | None
    """All layers and heads, where `weights` is their mean: an HTML page lets the reader choose."""
    words: "AttentionMap | None"
    """The same sentence in words, where the labels are pieces: an HTML page shows both."""

    def __init__(
        self,
        weights: Real[np.ndarray, "..."] | None,
        source: Words,
        target: Words,
        *,
        title: str = "",
        caption: str = "",
        links: GoldLinks | None = None,
        sure: Set[Cell] = frozenset(),
        possible: Set[Cell] = frozenset(),
        languages: tuple[str, str] = ("", ""),
        facts: Iterable[tuple[str, str]] = (),
        name: str = "",
        tensor: Real[np.ndarray, "..."] | None = None,
        words: "AttentionMap | None" = None,
    ) -> None:
        """Check the weights and label them: with words, `Label`s, None for the end of the sentence, or one text.

        A text is cut into its words: AttentionMap(weights, "the cat", ["le", "chat"]). Gold links come as `links`, or
        as sets in `sure` and `possible`.
        """
        sources, targets = labels(source), labels(target)
        checked = None if weights is None else _checked(np.asarray(weights, dtype=np.float64), sources, targets)
        sure = frozenset(sure) | (links.sure if links else frozenset())
        possible = frozenset(possible) | sure | (links.possible if links else frozenset())
        for s, t in sorted(possible):
            if not (0 <= s < len(sources) and 0 <= t < len(targets)):
                raise ValueError(
                    f"gold link ({s}, {t}) points outside {len(sources)} source and {len(targets)} target words;"
                    " links are 0-based (source word, target word)"
                )
        stack = None if tensor is None else _checked_stack(np.asarray(tensor, dtype=np.float64), sources, targets)
        self.__dict__.update(
            weights=checked, source=sources, target=targets, title=title, caption=caption, sure=sure,
            possible=possible, languages=languages, facts=tuple(facts), name=name, tensor=stack, words=words,
        )  # fmt: skip

    def drawn(self) -> Float64[np.ndarray, "target source"]:
        """The weights; ValueError for a model without attention."""
        if self.weights is None:
            raise ValueError(f"nothing to draw: {NO_ATTENTION}")
        return self.weights

    @property
    def missing(self) -> str:
        """A note where rows sum to less than 1, as those of local-p do; empty for 2 % or less."""
        lacking = 0.0 if self.weights is None else 1.0 - float(self.weights.sum(axis=1).min())
        return f"up to {lacking:.0%} of a row's attention is missing" if lacking > 0.02 else ""


def labels(words: Words) -> tuple[Label, ...]:
    """Words as labels: None and `</s>` are EOS, `<unk>` and its kind are chips too; a text is cut at blanks."""
    return tuple(_label(word) for word in (words.split() if isinstance(words, str) else words))


def _label(word: str | Label | None) -> Label:
    if isinstance(word, Label):
        return word
    if word is None:
        return EOS
    return Label(_MARKS[word], special=True) if word in _MARKS else Label(word)


def _checked(
    weights: Float64[np.ndarray, "..."], source: tuple[Label, ...], target: tuple[Label, ...]
) -> Float64[np.ndarray, "target source"]:
    """A read-only copy of the weights, once they are two-dimensional, finite, within 0 to 1, and fit the labels."""
    if weights.ndim != 2:
        raise ValueError(
            f"weights have {weights.ndim} axes {weights.shape}; expected two, [target, source]:"
            " choose a layer and a head first, as in attention[0, 0]"
        )
    if weights.size == 0:
        raise ValueError(f"weights are empty {weights.shape}; expected at least one target and one source word")
    if weights.shape != (len(target), len(source)):
        turned = weights.shape == (len(source), len(target))
        remedy = (
            "they look transposed: pass weights.T" if turned else "every row and column needs a label, EOS included"
        )
        raise ValueError(
            f"weights are {weights.shape[0]} × {weights.shape[1]} [target, source] but there are"
            f" {len(target)} target and {len(source)} source labels; {remedy}"
        )
    wrong = ~np.isfinite(weights) | (weights < -1e-4) | (weights > 1 + 1e-4)
    if wrong.any():
        t, s = (int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(
            f"weights[{t}, {s}] ({target[t].shown} → {source[s].shown}) is {weights[t, s]:g};"
            " attention weights lie between 0 and 1: pass weights after the softmax, not scores"
        )
    copy: np.ndarray = np.clip(weights, 0.0, 1.0)
    copy.setflags(write=False)
    return copy


def _checked_stack(
    tensor: Float64[np.ndarray, "..."], source: tuple[Label, ...], target: tuple[Label, ...]
) -> Float64[np.ndarray, "layer head target source"]:
    if tensor.ndim != 4 or not tensor.shape[0] * tensor.shape[1]:
        raise ValueError(f"the tensor is {tensor.shape}; expected [layer, head, target, source]")
    return np.array([[_checked(one, source, target) for one in layer] for layer in tensor])


def visible(text: str, blank: str = "␣") -> str:
    """Text without control characters: no cursor movement, no escape codes, no change of direction."""
    return "".join(_visible(character, blank) for character in text if character not in _DIRECTION_CONTROLS)


def _visible(character: str, blank: str) -> str:
    if character.isspace():
        return blank
    if unicodedata.category(character) in ("Cc", "Cs"):
        return chr(0x2400 + ord(character)) if ord(character) < 0x20 else "�"
    return character


def clusters(text: str) -> list[str]:
    """Grapheme clusters: a base with its marks stays whole, and so does a Devanagari conjunct.

    >>> clusters("बिल्ली")
    ['बि', 'ल्ली']
    """
    found: list[str] = []
    for character in text:
        joined = found and (found[-1][-1] == "\u200d" or unicodedata.combining(found[-1][-1]) == 9)
        mark = unicodedata.category(character).startswith("M") or character in "\u200c\u200d"
        if found and (mark or joined):
            found[-1] += character
        else:
            found.append(character)
    return found


def shortened(text: str, limit: int, measure: Callable[[str], int] | None = None) -> str:
    """Text of at most `limit` clusters (or units of `measure`); a text that was cut ends in …"""
    count = measure or (lambda part: len(clusters(part)))
    if count(text) <= limit:
        return text
    kept = ""
    for cluster in clusters(text):
        if count(kept + cluster) > limit - 1:
            break
        kept += cluster
    return kept + "…"

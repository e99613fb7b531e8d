"""Source texts as a model reads them: encoded, cut to the longest source, padded to a batch; with warnings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Int
from torch import Tensor

from regard.bundle.store import Bundle
from regard.text.encoding import Encoding
from regard.text.input_error import InputError
from regard.text.special import PAD, SPECIAL, UNK
from regard.text.tokenizer import Tokenizer

BLANK = "blank: nothing to translate"
NAMED = 5
"""Unknown pieces that a warning names; the rest is counted."""
GPU_MULTIPLE = 8
"""A GPU batch is padded to a multiple of this length: CUDA graphs are cached by shape, so fewer shapes are better."""


@dataclass(frozen=True)
class SourceText:
    """The pieces that the model reads, and warnings for the user."""

    encoding: Encoding
    warnings: tuple[str, ...] = ()
    cut: bool = False
    """Whether the text has more pieces than the model reads."""

    @property
    def blank(self) -> bool:
        """Whether there is no word to translate."""
        return not self.encoding.word_texts


def read_source(text: str, tokenizer: Tokenizer, *, eos: bool, longest: int) -> SourceText:
    """At most `longest` pieces of a text, then EOS if `eos`."""
    encoding = tokenizer.encode(text, eos=eos)
    if not encoding.word_texts:
        return SourceText(encoding, (BLANK,))
    warnings = []
    pieces = len(encoding.ids) - eos
    cut = pieces > longest
    if cut:
        encoding = _cut(encoding, [*range(longest), *([pieces] if eos else [])])
        warnings.append(f"too long: only the first {longest:,} of {pieces:,} pieces were read")
    if unknown := unknown_pieces(encoding):
        warnings.append(f"unknown to this model: {unknown}{_numbers(tokenizer)}")
    return SourceText(encoding, tuple(warnings), cut)


def list_texts(text: str | Iterable[str]) -> list[str]:
    """The texts of a call as a list."""
    texts = [text] if isinstance(text, str) else list(text)
    for number, one in enumerate(texts):
        if not isinstance(one, str):
            raise InputError(f"text {number} (0-based) is {type(one).__name__}, expected str")
    return texts


def one_for_each(name: str, values: str | Sequence[str] | None, texts: Sequence[str]) -> list[str] | None:
    """The target or prefix of each text."""
    if values is None:
        return None
    values = [values] if isinstance(values, str) else list(values)
    if len(values) != len(texts):
        raise InputError(f"{len(texts)} texts but {len(values)} of '{name}': give one for each")
    return values


def check_target(pieces: int, bundle: Bundle) -> None:
    """Raise for a given translation of more pieces, EOS counted, than the model has positions."""
    most = bundle.model.config.most_pieces
    if most is not None and pieces > most:
        raise InputError(
            f"a given translation of {pieces:,} pieces (EOS counted), but {bundle.name} learned {most:,} positions and "
            "writes no more: shorten it, or use a model with sinusoidal positions"
        )


def _cut(encoding: Encoding, keep: list[int]) -> Encoding:
    """The same text with some of its pieces, and the words that still have one."""
    words = tuple(encoding.words[i] for i in keep)
    seen = max((word for word in words if word is not None), default=-1) + 1
    return replace(
        encoding,
        ids=tuple(encoding.ids[i] for i in keep),
        pieces=tuple(encoding.pieces[i] for i in keep),
        spans=tuple(encoding.spans[i] for i in keep),
        words=words,
        word_texts=encoding.word_texts[:seen],
    )


def _numbers(tokenizer: Tokenizer) -> str:
    """The numbers that a model knows whose vocabulary has only numbers; empty for other models."""
    known = tokenizer.pieces[len(SPECIAL) :]
    if not known or not all(piece.isdecimal() for piece in known):
        return ""
    numbers = sorted(map(int, known))
    gaps = numbers != list(range(numbers[0], numbers[-1] + 1))
    return f" (it reads {'some of ' * gaps}the numbers from {numbers[0]} to {numbers[-1]})"


def unknown_pieces(encoding: Encoding) -> str:
    """The pieces that the vocabulary lacks, in quotes, each once; empty if there are none."""
    pairs = zip(encoding.pieces, encoding.ids, strict=True)
    return name_pieces(list(dict.fromkeys(piece for piece, number in pairs if number == UNK)))


def name_pieces(pieces: list[str]) -> str:
    """Pieces in quotes, with control characters escaped and long pieces shortened."""
    shown = [repr(piece if len(piece) <= 24 else piece[:23] + "…") for piece in pieces[:NAMED]]
    more = f" and {len(pieces) - NAMED:,} more" if len(pieces) > NAMED else ""
    return ", ".join(shown) + more


@dataclass(frozen=True)
class Padded:
    """Rows are sentences, padded on the right."""

    source: Int[Tensor, "batch source"]
    source_lengths: Int[Tensor, " batch"]


def pad(rows: Sequence[Sequence[int]], device: torch.device) -> Padded:
    lengths = [len(row) for row in rows]
    longest = max(lengths)
    if torch.device(device).type == "cuda":
        longest += -longest % GPU_MULTIPLE
    ids = torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows], dtype=torch.long, device=device)
    return Padded(ids, torch.tensor(lengths, dtype=torch.long, device=device))

"""Attention of any model from a file (.json, .npz, .npy), validated and bounded; nothing in it is executed.

    {"weights": [[0.9, 0.1], [0.2, 0.8]], "source": ["the", "cat"], "target": "le chat", "gold": [[0, 0]]}

Weights are [target, source], [head, target, source] or [layer, head, target, source]. In .npz the same names are
arrays; a .npy holds weights alone, and its words are numbers.
"""

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float32

from regard.bounds import excerpt
from regard.plot.attention_map import Label, labels
from regard.reading_files import parse_json, read_regular
from regard.server.answers import MOST_CELLS, rows
from regard.server.schema.others import AttentionFile
from regard.server.schema.translating import Attention, Link, Piece, Side
from regard.server.sides import words_side
from regard.text.input_error import InputError
from regard.text.special import BOS, EOS, PAD, UNK

MOST_BYTES = 64 << 20
MOST_WORDS, MOST_WEIGHTS = 2_000, 8_000_000
MOST_CHARACTERS = 200
"""Largest number of characters of a word."""
SUM = 1.001
"""Largest sum of a row."""
SPECIALS = {"PAD": PAD, "UNK": UNK, "BOS": BOS, "EOS": EOS}
KEYS = {"weights", "source", "target", "caption", "gold", "source_language", "target_language"}


@dataclass(frozen=True, eq=False)
class AttentionTensor:
    """The content of a file."""

    name: str
    weights: Float32[np.ndarray, "layer head target source"]
    source: Side
    target: Side
    caption: str | None
    gold: list[Link] | None

    def answer(self, layer: int | None) -> AttentionFile:
        """All layers, or one: requested, or because there are many weights."""
        layers, heads, target, source = self.weights.shape
        chosen = [layer] if layer is not None and layer < layers else list(range(layers))
        if self.weights[chosen].size > MOST_CELLS:
            chosen = chosen[:1]
        return AttentionFile(
            name=self.name,
            source=self.source,
            target=self.target,
            attention=Attention(
                shape=(layers, heads, target, source),
                layers=chosen,
                data=[[rows(head) for head in self.weights[one]] for one in chosen],
            ),
            word_attention=None,
            gold=self.gold,
            caption=self.caption,
        )


def read_attention(path: Path) -> AttentionTensor:
    """Read and validate a file; InputError with the reason if it is not attention."""
    try:
        content = read_regular(path, MOST_BYTES)
        kind = path.suffix.lower()
        if kind == ".json":
            values = parse_json(content)
        elif kind == ".npz":
            values = _read_npz(content)
        elif kind == ".npy":
            values = {"weights": _read_npy(content)}
        else:
            raise ValueError(f"its name ends with '{kind}', expected .json, .npz or .npy")
        return _checked(path.name, values)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, MemoryError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} is not a valid attention file: {error}") from error


def _read_npz(content: bytes) -> dict[str, Any]:
    """Sizes are checked before anything is unpacked."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        if len(members) > len(KEYS) or sum(one.file_size for one in members) > MOST_BYTES:
            raise ValueError(f"it unpacks to more than {len(KEYS)} arrays or {MOST_BYTES:,} bytes")
        found = {one.filename.removesuffix(".npy"): _read_npy(archive.read(one)) for one in members}
    return {name: value if name in ("weights", "gold") else value.tolist() for name, value in found.items()}


def _read_npy(content: bytes) -> Any:
    """An array without Python objects, whose header fits its content."""
    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_columns, dtype = read_header(file)
    except Exception:  # NumPy raises what its parser meets: ValueError, TokenError, SyntaxError
        raise ValueError("its header is damaged, or it is not a .npy file") from None
    if dtype.hasobject:
        raise ValueError("it holds Python objects: save numbers and words only")
    data = content[file.tell() :]
    if np.prod(shape, dtype=np.float64) * dtype.itemsize != len(data):
        raise ValueError("it is shorter or longer than its header says")
    return np.frombuffer(data, dtype=dtype).reshape(shape, order="F" if by_columns else "C")


def _checked(name: str, values: Any) -> AttentionTensor:
    if not isinstance(values, dict) or "weights" not in values:
        raise ValueError(
            'there is no \'weights\' in it: expected {"weights": [[0.5, 0.5], [0.2, 0.8]], "source": [words], '
            '"target": [words]}, a row for each target word'
        )
    unknown = sorted(set(map(str, values)) - KEYS)
    if unknown:
        raise ValueError(f"unknown key {excerpt(unknown[0])}: expected {', '.join(sorted(KEYS))}")
    weights = _weights(values["weights"])
    target, source = weights.shape[2:]
    sides = [
        _side(values.get(key), count, key, values.get(f"{key}_language"))
        for key, count in (("source", source), ("target", target))
    ]
    caption = values.get("caption")
    return AttentionTensor(
        name=name,
        weights=weights,
        source=sides[0],
        target=sides[1],
        caption=None if caption is None else str(caption)[:1000],
        gold=None if values.get("gold") is None else _gold(values["gold"], source, target),
    )


def _weights(given: Any) -> Float32[np.ndarray, "layer head target source"]:
    try:
        with np.errstate(over="ignore"):  # becomes inf, which is refused
            weights = np.asarray(given, dtype=np.float32)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("'weights' are not numbers in rows of one length") from None
    if not 2 <= weights.ndim <= 4:
        raise ValueError(f"'weights' have the shape {list(weights.shape)}, expected [layer, head, target, source]")
    weights = weights.reshape((1,) * (4 - weights.ndim) + weights.shape)
    if not weights.size or weights.size > MOST_WEIGHTS or max(weights.shape[2:]) > MOST_WORDS:
        raise ValueError(
            f"'weights' have the shape {list(weights.shape)}: at most {MOST_WORDS:,} words on a side and "
            f"{MOST_WEIGHTS:,} weights are shown, and at least one"
        )
    if not np.isfinite(weights).all() or weights.min() < 0:
        raise ValueError("'weights' hold a negative or not finite number: give weights after the softmax")
    if weights.sum(axis=-1).max() > SUM:
        raise ValueError(
            f"a row of 'weights' sums to {weights.sum(axis=-1).max():.4g}, more than 1: rows are target words, "
            "columns source words; transpose them?"
        )
    return weights


def _side(given: Any, count: int, key: str, language: Any) -> Side:
    if given is None:
        given = [str(number) for number in range(1, count + 1)]
    if not isinstance(given, str | list) or not all(isinstance(one, str | None) for one in given):
        raise ValueError(f"'{key}' is neither a text nor a list of words")
    found: Sequence[Label] = labels(given)
    if len(found) != count:
        raise ValueError(f"'{key}' has {len(found)} words, the weights {count}")
    if any(len(one.text) > MOST_CHARACTERS for one in found):
        raise ValueError(f"a word of '{key}' has more than {MOST_CHARACTERS} characters")
    name = language if isinstance(language, str) and language.isascii() and len(language) <= 35 else None
    side = words_side([one.shown for one in found if not one.special], name)
    written = iter(side.pieces)
    pieces = [
        Piece(text="", id=SPECIALS[one.text], span=None, word=None, special=one.text)  # type: ignore[arg-type]
        if one.special
        else next(written)
        for one in found
    ]
    return side.model_copy(update={"pieces": pieces})


def _gold(given: Any, source: int, target: int) -> list[Link]:
    found = given.tolist() if isinstance(given, np.ndarray) else given
    if not isinstance(found, list) or not all(isinstance(link, list) for link in found):
        raise ValueError("'gold' is not a list of links")
    links = [tuple(link) for link in found]
    for link in links:
        inside = len(link) == 2 and all(type(number) is int for number in link)
        if not inside or not (0 <= link[0] < source and 0 <= link[1] < target):
            raise ValueError(f"gold link {excerpt(link)} is not [source word, target word], counted from 0")
    return sorted(set(links))

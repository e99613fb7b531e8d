"""Pretrained word vectors as a starting point: initial rows of an embedding, from a file of word vectors."""

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float32
from torch import nn

from regard.data.lines import find_file, read_lines
from regard.models.seq2seq import Seq2Seq
from regard.text.input_error import InputError
from regard.text.normalise import MARK
from regard.text.special import EOS
from regard.text.tokenizer import Tokenizer

Vectors = dict[int, Float32[np.ndarray, "width"]]
"""Word vectors by the id of their piece."""
_HEADER = re.compile(r"\d+ \d+")


def start_vectors(model: Seq2Seq, source: Tokenizer, target: Tokenizer, files: Iterable[str | None]) -> tuple[str, ...]:
    """Fill the embeddings from the files for source and target, where they are given; returns notes for the user."""
    sides = (("source", source, _embedding(model.encoder)), ("target", target, _embedding(model.decoder)))
    notes = []
    for (name, tokenizer, embedding), file in zip(sides, files, strict=True):
        if file is not None:
            vectors = read_vectors(Path(file), tokenizer, embedding.embedding_dim)
            _fill(embedding, vectors)
            share = len(vectors) / max(1, len(tokenizer) - EOS - 1)
            notes.append(f"{len(vectors):,} of the {name}'s pieces ({share:.0%}) are initialised from {file}")
    return tuple(notes)


def read_vectors(path: Path, tokenizer: Tokenizer, width: int) -> Vectors:
    """The vectors of a tokenizer's pieces from a text file as word2vec, GloVe and fastText write it: word v1 v2 …

    A piece that opens a word counts as that word. A missing spelling is replaced by one that differs in case only.
    """
    path = find_file(path)
    wanted = _wanted(tokenizer)
    alike: dict[str, list[int]] = {}
    for word, piece in wanted.items():
        alike.setdefault(word.lower(), []).append(piece)
    exact: Vectors = {}
    other: Vectors = {}
    for number, line in enumerate(read_lines(path), 1):
        if number == 1 and _HEADER.fullmatch(line.strip()):
            continue
        word, _, rest = line.rstrip().partition(" ")
        if word.lower() not in alike:
            continue
        vector = _numbers(rest, width, f"{path}, line {number}")
        for piece in alike[word.lower()]:
            other.setdefault(piece, vector)
        if word in wanted:
            exact[wanted[word]] = vector
    if not other:
        pieces = f"{len(tokenizer):,} pieces"
        raise InputError(f"{path} has a vector for none of the vocabulary's {pieces}: is it another language?")
    return other | exact


def _numbers(rest: str, width: int, where: str) -> Float32[np.ndarray, "width"]:
    try:
        values = np.array(rest.split(" "), np.float32)
    except ValueError:
        raise InputError(
            f"{where}: expected a word and {width} numbers, as word2vec, GloVe and fastText write"
        ) from None
    if len(values) != width:
        raise InputError(
            f"{where}: a vector of {len(values)} numbers, but the model's embedding is {width} wide; "
            f"set model.embedding = {len(values)} (model.width for a Transformer)"
        )
    if not np.isfinite(values).all():
        raise InputError(f"{where}: the vector holds a number that is not finite")
    return values


def _wanted(tokenizer: Tokenizer) -> dict[str, int]:
    """The words whose vectors are looked up; pieces inside a word have none."""
    pieces = {piece: number for number, piece in enumerate(tokenizer.pieces) if number > EOS}
    if tokenizer.config.kind not in ("bpe", "unigram"):
        return pieces
    return {piece[len(MARK) :]: number for piece, number in pieces.items() if piece.startswith(MARK) and piece != MARK}


def _fill(embedding: nn.Embedding, vectors: Vectors) -> None:
    """Write the vectors into the embedding, scaled so that they are on average as long as the rows they replace."""
    rows = torch.tensor(sorted(vectors))
    given = torch.from_numpy(np.stack([vectors[row] for row in rows.tolist()]))
    with torch.no_grad():
        weight = embedding.weight
        length = weight[rows.to(weight.device)].norm(dim=1).mean() / given.norm(dim=1).mean().clamp(min=1e-12)
        weight[rows.to(weight.device)] = given.to(weight) * length.to(weight)


def _embedding(side: nn.Module) -> nn.Embedding:
    return next(module for module in side.modules() if isinstance(module, nn.Embedding))

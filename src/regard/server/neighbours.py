"""Training sentences whose decoder state or context is nearest to that of a step: brute force over a cached sample."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from jaxtyping import Float, Float32
from torch import Tensor

from regard.data.pair import Pair
from regard.runtime.recorder import StepRecord
from regard.runtime.traced import SentenceToTrace, TracedText, TracedTranslation, Tracing, translate_traced
from regard.runtime.translator import Translator
from regard.server.answers import find_step
from regard.server.errors import unsupported
from regard.server.schema.others import Neighbour, NeighboursAnswer, NeighboursRequest
from regard.server.served_models import Loaded
from regard.server.sides import SPACE, special

SAMPLE = 1000
"""Training sentences that are searched."""
CHUNK = 50
"""Sentences that are decoded together; between two parts other requests get their turn."""
LONGEST = 400
"""Largest number of characters on either side; longer pairs are left out of the sample."""
Kind = Literal["query", "context"]


@dataclass(frozen=True)
class Place:
    """A step of a sentence of the sample."""

    sentence: int
    step: int
    piece: str
    word: int | None


@dataclass(eq=False)
class Sample:
    """Training pairs, those that are decoded, and their vectors: one row for each step, of length 1."""

    pairs: list[Pair]
    done: int = 0
    places: list[Place] = field(default_factory=list)
    vectors: dict[Kind, list[Float32[np.ndarray, "step width"]]] = field(
        default_factory=lambda: {"query": [], "context": []}
    )

    @classmethod
    def of(cls, pairs: list[Pair]) -> "Sample":
        return cls([pair for pair in pairs if len(pair.source) <= LONGEST and len(pair.target) <= LONGEST])

    @property
    def complete(self) -> bool:
        return self.done >= len(self.pairs)

    def grow(self, translator: Translator, abandoned: Callable[[], bool]) -> None:
        """Decode the next part of the sample, its targets forced; called only in the batcher's thread."""
        first = self.done
        part = self.pairs[first : first + CHUNK]
        if not part:
            return  # another request was faster
        sentences = [SentenceToTrace(pair.source, pair.target) for pair in part]
        found = translate_traced(translator, sentences, {}, Tracing(trace=True, abandoned=abandoned))
        for number, text in enumerate(found, first):
            for one in text.found:
                self._add(number, one)
        self.done = first + len(part)

    def _add(self, number: int, found: TracedTranslation) -> None:
        translation = found.translation
        for step, piece in enumerate(translation.target_pieces):
            self.places.append(Place(number, step, _shown(piece, found.tokens[step]), translation.target_word_of[step]))
        for kind, rows in self.vectors.items():
            vectors = [vector for record in found.records if (vector := _vector(record, kind)) is not None]
            rows += [np.stack(vectors)] if vectors else []

    def nearest(self, vector: Float32[np.ndarray, " width"], kind: Kind, count: int) -> list[Neighbour]:
        """The best step of each of the `count` nearest sentences, nearest first."""
        if not self.vectors[kind]:
            return []
        if len(self.vectors[kind]) > 1:
            self.vectors[kind] = [np.concatenate(self.vectors[kind])]
        similarity = self.vectors[kind][0] @ vector
        found: dict[int, Neighbour] = {}
        for index in np.argsort(-similarity, kind="stable").tolist():
            place = self.places[index]
            if place.sentence not in found:
                pair = self.pairs[place.sentence]
                found[place.sentence] = Neighbour(
                    source=pair.source, target=pair.target, step=place.step, piece=place.piece, target_word=place.word,
                    similarity=round(min(1.0, float(similarity[index])), 6),
                )  # fmt: skip
            if len(found) == count:
                break
        return list(found.values())


def decode_step(request: NeighboursRequest, loaded: Loaded, abandoned: Callable[[], bool]) -> TracedText:
    """The sentence with its trace; raises if the text is blank or has no such step, before the sample is decoded."""
    sentence = SentenceToTrace(request.text, request.target)
    search = {} if request.target is not None else {"beam": 1}
    tracing = Tracing(trace=True, abandoned=abandoned)
    text = translate_traced(loaded.translator, [sentence], search, tracing)[0]
    find_step(text, request.step)
    return text


def neighbours_answer(request: NeighboursRequest, loaded: Loaded, text: TracedText, sample: Sample) -> NeighboursAnswer:
    found = text.found[0]
    vector = _vector(found.records[request.step], request.kind)
    if vector is None:
        raise unsupported(f"{loaded.id} records no {request.kind} vector", field="kind")
    piece = _shown(found.translation.target_pieces[request.step], found.tokens[request.step])
    return NeighboursAnswer(
        model=loaded.id,
        kind=request.kind,
        piece=piece,
        sample=len(sample.pairs),
        neighbours=sample.nearest(vector, request.kind, request.count),
    )


def _shown(piece: str, number: int) -> str:
    name = special(number)
    return name if name is not None and name != "UNK" else piece.replace(SPACE, "")


def _vector(record: StepRecord, kind: Kind) -> Float32[np.ndarray, " width"] | None:
    """The last layer's query or context, of length 1; None where the model has none."""
    if not record.layers:
        return None
    layer = record.layers[-1]
    tensor: Float[Tensor, " width"] | None = layer.query if kind == "query" else layer.context
    if tensor is None:
        return None
    values = tensor.float().cpu().numpy()
    length = float(np.linalg.norm(values))
    return np.asarray(values / length if length else values, dtype=np.float32)

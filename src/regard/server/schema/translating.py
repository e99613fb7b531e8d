"""A translation with the details of its decode: pieces, words, scores, attention, steps."""

from typing import Literal

from pydantic import Field

from regard.server.schema.base import MOST_BEAM, MOST_CHARACTERS, MOST_TOP, Answer, Name, Request

Mode = Literal["free", "forced"]
Special = Literal["EOS", "BOS", "UNK", "PAD"]
Span = tuple[int, int]
Link = tuple[int, int]
"""(source word, target word), both 0-based."""


class AttentionEdit(Request):
    """Replaces one row of attention, in every layer and head, and continues decoding from there.

    The steps before `step` are those of the same request without the edit.
    """

    step: int = Field(ge=0, le=100_000)
    """The target piece that is written with these weights, 0-based."""
    weights: list[float] = Field(min_length=1, max_length=100_000)
    """One for each source piece (EOS included); not negative, and summing to at most 1."""


class Decoding(Request):
    """The text to decode and the settings; shared by /translate, /step and /occlusion."""

    model: Name | None = None
    """An id of /models; may be left out where the server has one model."""
    text: str = Field(max_length=MOST_CHARACTERS)
    """The source text."""
    mode: Mode = "free"
    """forced: `target` is scored and aligned as if the model had written it."""
    target: str | None = Field(default=None, max_length=MOST_CHARACTERS)
    """The translation to force; required with mode forced, not allowed with free."""
    prefix: str | None = Field(default=None, max_length=MOST_CHARACTERS)
    """The text that a free translation must begin with."""
    prefix_ids: list[int] | None = Field(default=None, max_length=1_000)
    """The same beginning as piece ids, as in a beam tree's node; not together with `prefix`."""
    beam: int | None = Field(default=None, ge=1, le=MOST_BEAM)
    """Beam width; the model's own default if left out."""
    nbest: int = Field(default=1, ge=1, le=MOST_BEAM)
    """Translations to return: the n best, or n samples with a temperature."""
    temperature: float | None = Field(default=None, ge=0.001, le=100)
    """Sample instead of searching; below 0.001 the logits would overflow."""
    top_k: int | None = Field(default=None, ge=1, le=1_000_000)
    """Sample from the k most probable pieces; needs a temperature."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    """Sample from the most probable pieces that sum to p; needs a temperature."""
    seed: int = Field(default=0, ge=0, le=2**53)
    """Seed of sampling."""
    length_penalty: float | None = Field(default=None, ge=0, le=10)
    """Scores are divided by length to this power; the model's own default if left out."""
    attention_edit: AttentionEdit | None = None


class TranslateRequest(Decoding):
    """POST /translate."""

    top: int = Field(default=5, ge=0, le=MOST_TOP)
    """Candidates to list for each step; 0 omits `top` and `entropy`, which is faster."""
    layer: int | None = Field(default=None, ge=0, le=64)
    """Return the attention of this layer alone."""
    attention: bool = True
    """False omits attention and word attention, for a client that needs only the text."""


class Piece(Answer):
    """The unit that the model reads or writes in one step: a word, a part of one, or a character."""

    text: str
    """The text without the mark ▁ for a space; empty for a special piece."""
    id: int
    """Its number in the vocabulary."""
    span: Span | None
    """Characters [start, end) of the side's text; null for a special piece, or where the text has no such place."""
    word: int | None
    """The word it belongs to; null for a special piece or a space."""
    special: Special | None = None
    """UNK is a piece that is not in the vocabulary; its `text` is the original one."""


class Word(Answer):
    """A word of the text."""

    text: str
    span: Span


class Side(Answer):
    """A text as the model sees it: normalised, in pieces and in words. Spans count Unicode code points."""

    text: str
    language: str | None
    """BCP 47, for `lang`: en, fr, hi; null if the model does not name it."""
    direction: Literal["ltr", "rtl"]
    pieces: list[Piece]
    words: list[Word]


class Attention(Answer):
    """Weights between pieces: data[layer][head][target][source]."""

    shape: tuple[int, int, int, int]
    """[layer, head, target, source] of the whole tensor; `data` holds those in `layers`."""
    unit: Literal["piece"] = "piece"
    layers: list[int]
    data: list[list[list[list[float]]]]


class Matrix(Answer):
    """Weights between words, averaged over layers and heads: data[target][source].

    Summed over a source word's pieces and averaged over a target word's.
    """

    shape: tuple[int, int]
    unit: Literal["word"] = "word"
    data: list[list[float]]
    elsewhere: list[float]
    """For each row, attention to pieces that are part of no word (EOS, spaces)."""
    missing: list[float]
    """For each row, 1 minus its sum: above 0 for local-p, whose weights are not renormalised."""


class Candidate(Answer):
    """A piece that could have been written."""

    id: int
    text: str
    special: Special | None = None
    probability: float


class StepSummary(Answer):
    """One written piece: row i of the attention, entry i of the target's pieces."""

    probability: float
    log_probability: float
    forced: bool
    """Whether it is part of a given target or prefix."""
    entropy: float | None
    """Entropy of the distribution over the vocabulary, in nats."""
    attention_entropy: float | None
    """Entropy of the row of attention, averaged over layers and heads, in nats; null without attention."""
    top: list[Candidate]
    """The most probable pieces, best first."""


class Hypothesis(Answer):
    """One translation."""

    target: Side
    score: float
    """Sum of the log-probabilities of all pieces, EOS included."""
    normalised_score: float
    """The score divided by the length penalty; hypotheses are ranked by it."""
    finished: bool
    """False if the length limit was reached before EOS."""
    forced: bool
    steps: list[StepSummary]
    attention: Attention | None
    """null without attention."""
    word_attention: Matrix | None
    alignment: list[Link]
    """For each target word, the source word with the highest attention."""


class Timings(Answer):
    """Milliseconds on the server."""

    queued: float
    """Time from the arrival of the request to the start of the decode."""
    decoding: float
    total: float
    batch: int
    """Requests that were decoded together."""


class TranslateAnswer(Answer):
    """Answer of POST /translate: the best hypothesis first (samples: as drawn)."""

    model: str
    mode: Mode
    source: Side
    hypotheses: list[Hypothesis]
    """Empty for a blank text."""
    no_attention: str | None
    """The reason if `attention` is null."""
    gold: list[Link] | None
    """Gold links where the pair is known (the phrasebook): for the first hypothesis."""
    beam_id: str | None
    """The id for GET /beam/{id}; null for sampling, forced and edited decodes."""
    timings: Timings
    warnings: list[str]

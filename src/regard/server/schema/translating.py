"""A translation with everything that shows how it came about: pieces, words, scores, attention, steps."""

from typing import Literal

from pydantic import Field

from regard.server.schema.base import MOST_BEAM, MOST_CHARACTERS, MOST_TOP, Answer, Name, Request

Mode = Literal["free", "forced"]
Special = Literal["EOS", "BOS", "UNK", "PAD"]
Span = tuple[int, int]
Link = tuple[int, int]
"""(source word, target word), both 0-based."""


class AttentionEdit(Request):
    """Replaces one row of attention, in every layer and head, and decodes on from there.

    The decode before `step` is that of the same request without the edit.
    """

    step: int = Field(ge=0, le=100_000)
    """The target piece that is written with these weights, 0-based."""
    weights: list[float] = Field(min_length=1, max_length=100_000)
    """One for each source piece (EOS included); not negative, and summing to at most 1."""


class Decoding(Request):
    """What to decode and how: shared by /translate, /step and /occlusion."""

    model: Name | None = None
    """An id of /models; may be left out where the server has one model."""
    text: str = Field(max_length=MOST_CHARACTERS)
    """The source text."""
    mode: Mode = "free"
    """forced: `target` is scored and aligned as the model would have written it."""
    target: str | None = Field(default=None, max_length=MOST_CHARACTERS)
    """The translation to force; required with mode forced, not allowed with free."""
    prefix: str | None = Field(default=None, max_length=MOST_CHARACTERS)
    """What a free translation must begin with."""
    prefix_ids: list[int] | None = Field(default=None, max_length=1_000)
    """The same as piece ids, as in a beam tree's node; not together with `prefix`."""
    beam: int | None = Field(default=None, ge=1, le=MOST_BEAM)
    """Beam width; the model's own default if left out."""
    nbest: int = Field(default=1, ge=1, le=MOST_BEAM)
    """Translations to return: the n best, or n samples with a temperature."""
    temperature: float | None = Field(default=None, ge=0.001, le=100)
    """Samples instead of searching; below 0.001 logits overflow, and nothing but the best piece is drawn anyway."""
    top_k: int | None = Field(default=None, ge=1, le=1_000_000)
    """Sample from the k most probable pieces; needs a temperature."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    """Sample from the most probable pieces that sum to p; needs a temperature."""
    seed: int = Field(default=0, ge=0, le=2**53)
    """Of sampling."""
    length_penalty: float | None = Field(default=None, ge=0, le=10)
    """Scores are divided by length to this power; the model's own default if left out."""
    attention_edit: AttentionEdit | None = None


class TranslateRequest(Decoding):
    """POST /translate."""

    top: int = Field(default=5, ge=0, le=MOST_TOP)
    """Words to list for each step; 0 leaves `top` and `entropy` out, which is quicker."""
    layer: int | None = Field(default=None, ge=0, le=64)
    """Return the attention of this layer alone."""
    attention: bool = True
    """False leaves attention and word attention out, for a client that needs text only."""


class Piece(Answer):
    """What the model reads or writes in one step."""

    text: str
    """Without the mark ▁ for a space; empty for a special piece."""
    id: int
    """Its number in the vocabulary."""
    span: Span | None
    """Characters [start, end) of the side's text; null for a special piece, or where the text has no such place."""
    word: int | None
    """The word it belongs to; null for a special piece or a space."""
    special: Special | None = None
    """Draw it as a chip; UNK is a piece that the model does not know, `text` is what was written there."""


class Word(Answer):
    """A word of the text."""

    text: str
    span: Span


class Side(Answer):
    """A text as the model sees it: normalised, in pieces and in words. Spans count Unicode code points."""

    text: str
    language: str | None
    """BCP 47, for `lang`: en, fr, hi; null where the model does not say."""
    direction: Literal["ltr", "rtl"]
    pieces: list[Piece]
    words: list[Word]


class Attention(Answer):
    """Weights between pieces: data[layer][head][target][source]."""

    shape: tuple[int, int, int, int]
    """[layer, head, target, source] of the whole; `data` holds the layers of `layers`."""
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
    """For each row, 1 minus all of its mass: above 0 for local-p, whose rows sum to less than 1."""


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
    """Part of a given target or prefix."""
    entropy: float | None
    """Of the distribution over the vocabulary, in nats."""
    attention_entropy: float | None
    """Of the row of attention, averaged over layers and heads, in nats; null without attention."""
    top: list[Candidate]
    """Most probable pieces, best first."""


class Hypothesis(Answer):
    """One translation."""

    target: Side
    score: float
    """Sum of the log-probabilities of all pieces, EOS included."""
    normalised_score: float
    """The score over the length penalty: what hypotheses are ranked by."""
    finished: bool
    """False where the length limit came before EOS."""
    forced: bool
    steps: list[StepSummary]
    attention: Attention | None
    """null without attention."""
    word_attention: Matrix | None
    alignment: list[Link]
    """Each target word with the source word it looked at most."""


class Timings(Answer):
    """Milliseconds on the server."""

    queued: float
    """Between arrival and the start of the decode."""
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
    """Why `attention` is null, or null."""
    gold: list[Link] | None
    """Gold links where the pair is known (the phrasebook): for the first hypothesis."""
    beam_id: str | None
    """For GET /beam/{id}; null for sampling, forced and edited decodes."""
    timings: Timings
    warnings: list[str]

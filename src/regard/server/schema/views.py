"""Answers behind the views Walk, Compare, Beam and the occlusion row, and the list of models."""

from typing import Literal

from pydantic import Field

from regard.server.schema.base import MOST_CHARACTERS, MOST_MODELS, MOST_TOP, Answer, Name, Request
from regard.server.schema.translating import (
    Candidate,
    Decoding,
    Link,
    Mode,
    Piece,
    Side,
    TranslateAnswer,
)

Fate = Literal["kept", "finished", "cut", "pruned", "hopeless"]


class Limits(Answer):
    """The limits of the server; a request beyond them is answered with 413, 422 or 429."""

    characters: int
    beam: int
    nbest: int
    top: int
    models: int
    lines: int
    body_bytes: int
    queue: int
    seconds: float


class Model(Answer):
    """A model that can be requested by its id."""

    id: str
    origin: Literal["package", "run", "bundle"]
    description: str
    direction: str | None
    """What it reads and writes, for a person: English → French."""
    source_language: str | None
    target_language: str | None
    architecture: Literal["rnn", "transformer"]
    about: str
    """The architecture in one line."""
    score: str
    """additive, dot, general, concat, scaled-dot, multi-head, none …"""
    window: Literal["global", "local-m", "local-p"]
    reach: int | None
    """D of a local window: it covers [p_t - D, p_t + D]."""
    placement: Literal["input", "output"] | None
    """input (Bahdanau): the query is s_{t-1}; output (Luong): it is s_t; null: a Transformer, the query is the layer's
    own state."""
    layers: int
    """Decoder layers that attend to the source; 0 without attention."""
    heads: int
    has_attention: bool
    source_vocabulary: int
    """Pieces that it reads."""
    target_vocabulary: int
    """Pieces that it writes."""
    can_step: bool
    """Whether /step, /occlusion and attention_edit work: not for ONNX folders."""
    parameters: int
    longest_source: int
    """Pieces of a source that are read."""
    beam: int
    """Default beam width."""
    examples: list[str]
    """Sentences to try."""
    score_line: str | None
    """Metric, value and test set, where the model card has them."""


class ModelsAnswer(Answer):
    """Answer of GET /models."""

    models: list[Model]
    default: str | None
    """The model of a request that names none; null where it must name one."""
    limits: Limits
    attention_files: int
    """Matrices that GET /attention returns (regard studio --attention FILE)."""


class StepRequest(Decoding):
    """POST /step: one step of the same decode as in /translate."""

    step: int = Field(default=0, ge=0, le=100_000)
    """0-based: the step that writes target piece `step`."""
    hypothesis: int = Field(default=0, ge=0, le=15)
    """Index in the n-best list, from 0."""
    top: int = Field(default=10, ge=1, le=MOST_TOP)


class Window(Answer):
    """A local window at one step: positions [center - reach, center + reach]."""

    kind: Literal["local-m", "local-p"]
    center: float
    """p_t, counted from 0."""
    reach: int
    gaussian: list[float] | None
    """The factor of each source piece's weight after the softmax (local-p); sigma is reach / 2."""


class LayerStep(Answer):
    """Attention of one decoder layer in one step: the tensors that the decode used. Lists are [head][source piece]."""

    query: list[float]
    """The query of the layer's attention."""
    scores: list[list[float]]
    """Raw: before mask, softmax and Gaussian."""
    mask: list[list[bool]]
    """True at the positions that the step may attend to: inside the sentence and the window."""
    weights: list[list[float]]
    """The weights after mask, softmax and Gaussian, or the edited ones."""
    window: Window | None
    context: list[float]


class StepAnswer(Answer):
    """Answer of POST /step: six stages of one decoder step."""

    model: str
    source: Side
    target: Side
    """The whole hypothesis that the step belongs to."""
    step: int
    steps: int
    """Steps of the hypothesis."""
    query_name: Literal["s_{t-1}", "s_t", "x_t"]
    """Which state is the query: before the recurrent step, after it, or a Transformer layer's state."""
    reads: Piece
    """The input of the step: the previous piece, or BOS."""
    writes: Piece
    probability: float
    forced: bool
    edited: bool
    """Whether attention_edit replaced the weights of this step."""
    layers: list[LayerStep]
    """Empty without attention."""
    no_attention: str | None
    """The reason if `layers` is empty."""
    entropy: float
    top: list[Candidate]
    warnings: list[str]


class OcclusionRequest(Request):
    """POST /occlusion: drop one source word at a time and force the same target."""

    model: Name | None = None
    text: str = Field(max_length=MOST_CHARACTERS)
    target: str | None = Field(default=None, max_length=MOST_CHARACTERS)
    """The model's own translation of `text` if left out."""


class Occluded(Answer):
    """The target's log-probabilities without one source word."""

    word: int
    """The dropped source word."""
    log_probabilities: list[float]
    """One for each target word (the sum over its pieces), then that of EOS if the target has one."""
    changes: list[float]
    """log_probabilities minus those with the whole source: below 0 where the word was needed."""


class OcclusionAnswer(Answer):
    """Answer of POST /occlusion."""

    model: str
    source: Side
    target: Side
    forced: bool
    """Whether `target` came from the request."""
    log_probabilities: list[float]
    """Those with the whole source: one for each target word, then that of EOS."""
    rows: list[Occluded]
    """One for each source word; none where the text has only one word."""
    warnings: list[str]


class CompareRequest(Request):
    """POST /compare: one sentence through several models."""

    models: list[Name] = Field(min_length=1, max_length=MOST_MODELS)
    text: str = Field(max_length=MOST_CHARACTERS)
    mode: Mode = "free"
    target: str | None = Field(default=None, max_length=MOST_CHARACTERS)
    beam: int | None = Field(default=None, ge=1, le=16)
    top: int = Field(default=0, ge=0, le=MOST_TOP)


class Compared(Answer):
    """One model of a comparison."""

    model: str
    translation: TranslateAnswer | None
    """null if this model cannot fulfil the request; `problem` has the reason."""
    problem: str | None
    log_probability: float | None
    mean_log_probability: float | None
    attention_entropy: float | None
    """Mean over the rows, in nats."""
    aer: float | None
    """Alignment error rate against gold links, 0 to 1; null where they are unknown."""
    parameters: int
    milliseconds: float | None


class Difference(Answer):
    """Whether the attention of two models can be subtracted."""

    first: str
    second: str
    possible: bool
    reason: str | None
    """The reason if not: free mode, different pieces, or no attention."""


class CompareAnswer(Answer):
    """Answer of POST /compare, in the order of the request."""

    mode: Mode
    results: list[Compared]
    differences: list[Difference]
    """One for each pair of models: between words if both models see the same words; between pieces if `pieces`."""
    gold: list[Link] | None


class BeamNode(Answer):
    """One candidate; the root (id 0) is the empty hypothesis, BOS."""

    id: int
    parent: int | None
    depth: int
    """Pieces from the root: 0 for the root."""
    piece: Piece | None
    """null for the root."""
    probability: float | None
    """Probability of this piece after its parent."""
    score: float
    """Sum of log-probabilities."""
    normalised_score: float
    fate: Fate
    """kept: extended further; finished: ended with EOS; cut: reached the length limit; pruned: outside the beam;
    hopeless: inside the beam, but unable to overtake a finished hypothesis."""
    rank: int | None
    """Its rank by score among the candidates of its depth, 1-based."""
    prefix_ids: list[int]
    """The `prefix_ids` of a request that continues from here."""
    text: str
    """The text up to here."""
    best: int | None
    """Place in the final n-best list, 1-based; null elsewhere."""


class BeamAnswer(Answer):
    """Answer of GET /beam/{id}: nodes in breadth-first order, parents before children."""

    id: str
    model: str
    beam: int
    length_penalty: float
    source: Side
    nodes: list[BeamNode]

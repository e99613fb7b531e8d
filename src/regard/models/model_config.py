"""Configuration of a model: the recipe's [model] table, validated before anything is built."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from regard.attention.build import DEFAULT_REACH, SCORES, check_combination
from regard.bounds import MOST

Width = Annotated[int, Field(ge=1, le=MOST["width"])]
Layers = Annotated[int, Field(ge=1, le=MOST["layers"])]
Heads = Annotated[int, Field(ge=1, le=MOST["heads"])]
Rate = Annotated[float, Field(ge=0, lt=1)]
"""A dropout rate."""
Cell = Literal["gru", "lstm", "gru-2014"]
Placement = Literal["input", "output"]
Initial = Literal["zero", "last", "sum", "projection", "backward"]
Readout = Literal["state-context-embedding", "state-context", "attentional", "maxout"]
ReadoutState = Literal["new", "previous"]
Tie = Literal["none", "target", "all"]


class RecurrentConfig(BaseModel):
    """An RNN encoder-decoder; score, window and placement are three independent choices."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True, extra="forbid")

    architecture: Literal["rnn"] = Field("rnn", description="recurrent or Transformer")
    cell: Cell = "gru"
    """Recurrent cell: gru is torch's, with r ∘ (U s); gru-2014 is the paper's, with U (r ∘ s)."""
    embedding: Width = Field(128, description="width of word vectors")
    encoder_units: Width = Field(128, description="width of the encoder state, for each direction")
    encoder_layers: Layers = Field(1, description="recurrent layers of the encoder")
    bidirectional: bool = Field(True, description="whether the encoder also reads from right to left")
    decoder_units: Width = Field(128, description="width of the decoder state")
    decoder_layers: Layers = Field(1, description="recurrent layers of the decoder")

    score: str = Field(
        "additive", max_length=200, description=f"{', '.join(SCORES)}, or your own as package.module:Class"
    )
    attention_width: Width | None = Field(None, description="width of the scoring network (default: decoder_units)")
    attention_bias: bool = Field(False, description="add b to the additive score: v · tanh(W_s s + W_h h + b)")
    heads: Heads = Field(1, description="attention heads; more than one needs score multi-head")
    window: Literal["global", "local-m", "local-p"] = "global"
    """Source positions that are attended to: all, or a window around a monotonic (m) or predicted (p) position."""
    reach: int = Field(
        DEFAULT_REACH, ge=1, le=MOST["longest"], description="Luong's D: a local window is 2D + 1 words wide"
    )
    placement: Placement = "input"
    """Whether the context enters before (Bahdanau) or after (Luong) the recurrent step."""
    input_feeding: bool = Field(False, description="whether the attentional vector is fed to the next step (Luong)")

    initial: Initial = Field("projection", description="how the first decoder state is computed from the encoder")
    readout: Readout = Field("state-context-embedding", description="what the output layer reads")
    readout_width: Width | None = None
    """Width of the readouts attentional and maxout (default: decoder_units)."""
    readout_state: ReadoutState = Field("new", description="previous: maxout reads s_{t-1}, as in the paper's appendix")
    tie: Tie = Field("none", description="embeddings that share weights with the output layer")
    dropout: Rate = Field(0.0, description="dropout between layers and before the output layer")
    embedding_dropout: Rate = Field(0.0, description="dropout on word vectors")
    state_dropout: Rate = Field(0.0, description="dropout on the encoder's states that attention reads")

    @property
    def state_width(self) -> int:
        """Width of one encoder annotation h_j, both directions together."""
        return self.encoder_units * (2 if self.bidirectional else 1)

    @property
    def scoring_width(self) -> int:
        return self.attention_width or self.decoder_units

    @property
    def most_pieces(self) -> int | None:
        """The longest sequence it can read or write; None: no limit."""
        return None

    @property
    def attention_shape(self) -> tuple[int, int]:
        """Decoder layers that attend to the source, and heads in each."""
        return 1, self.heads

    @property
    def encoder_heads(self) -> int:
        """Heads of self-attention in a layer of the encoder."""
        return 0

    @property
    def hidden_readout(self) -> bool:
        """Whether the readout has a layer of its own before the output layer."""
        return self.readout in ("attentional", "maxout")

    @model_validator(mode="after")
    def _possible(self) -> "RecurrentConfig":
        sizes = (self.decoder_units, self.state_width, self.scoring_width)
        check_combination(self.score, self.window, *sizes, self.heads)
        if self.attention_bias and self.score != "additive":
            raise ValueError(f"attention_bias = true is for score 'additive', not '{self.score}': leave it out")
        for reason in (self._wrong_initial(), self._wrong_readout()):
            if reason is not None:
                raise ValueError(reason)
        return self

    def _wrong_initial(self) -> str | None:
        if self.initial == "backward" and not self.bidirectional:
            return "initial 'backward' is tanh(W ←h_1) and needs bidirectional = true; use 'projection'"
        copied = self.encoder_units if self.initial == "sum" else self.state_width
        same = copied == self.decoder_units and self.encoder_layers == self.decoder_layers
        if self.initial in ("last", "sum") and not same:
            return (
                f"initial '{self.initial}' copies the encoder's state into the decoder, which needs equal widths and "
                f"layers, but the encoder's is {self.encoder_layers} × {copied} and the decoder's "
                f"{self.decoder_layers} × {self.decoder_units}: make them equal, or use 'projection'"
            )
        return None

    def _wrong_readout(self) -> str | None:
        if self.input_feeding and self.readout != "attentional":
            return (
                f"input feeding feeds Luong's attentional vector tanh(W_c[c; s]), which readout '{self.readout}' "
                "does not compute: set readout = 'attentional'"
            )
        if self.readout_state == "previous" and (self.readout != "maxout" or self.placement != "input"):
            return (
                "readout_state 'previous' is the maxout of Bahdanau et al. 2014, after attention at the input, but "
                f"readout is '{self.readout}' and placement '{self.placement}': set readout = 'maxout' and placement = "
                "'input', or leave readout_state out"
            )
        if self.readout_width is not None and not self.hidden_readout:
            return f"readout '{self.readout}' has no hidden layer: leave readout_width out"
        if self.tie != "none" and not self.hidden_readout:
            return f"tied embeddings need readout 'attentional' or 'maxout', not '{self.readout}'"
        width = self.readout_width or self.decoder_units
        if self.tie != "none" and width != self.embedding:
            return (
                f"tied embeddings need an output layer as wide as the embedding, but the readout is {width} wide and "
                f"the embedding {self.embedding}: set readout_width = {self.embedding}"
            )
        return None


class TransformerConfig(BaseModel):
    """A pre-norm Transformer encoder-decoder."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True, extra="forbid")

    architecture: Literal["transformer"] = Field("transformer", description="recurrent or Transformer")
    width: int = Field(256, ge=2, le=MOST["width"], description="width of the residual stream")
    heads: Heads = Field(4, description="attention heads in each layer")
    encoder_layers: Layers = Field(3, description="blocks of the encoder")
    decoder_layers: Layers = Field(3, description="blocks of the decoder")
    feedforward: int = Field(1024, ge=1, le=MOST["feedforward"], description="inner width of feed-forward blocks")
    positions: Literal["sinusoidal", "learned"] = Field("sinusoidal", description="how positions are encoded")
    longest: int = Field(1024, ge=1, le=MOST["longest"], description="the number of learned positions")
    tie: Tie = Field("none", description="embeddings that share weights with the output layer")
    dropout: Rate = Field(0.1, description="dropout on embeddings and on the output of each block")
    inner_dropout: Rate | None = None
    """Dropout on attention weights and inside feed-forward blocks (default: dropout)."""

    @property
    def most_pieces(self) -> int | None:
        """The longest sequence it can read or write; None: no limit."""
        return self.longest if self.positions == "learned" else None

    @property
    def attention_shape(self) -> tuple[int, int]:
        """Decoder layers that attend to the source, and heads in each."""
        return self.decoder_layers, self.heads

    @property
    def encoder_heads(self) -> int:
        """Heads of self-attention in a layer of the encoder."""
        return self.heads

    @property
    def dropout_inside(self) -> float:
        """Inside a block, where `dropout` acts on what the block adds."""
        return self.dropout if self.inner_dropout is None else self.inner_dropout

    @model_validator(mode="after")
    def _possible(self) -> "TransformerConfig":
        if self.width % self.heads:
            raise ValueError(f"width {self.width} does not divide into {self.heads} heads: make it a multiple of them")
        if self.positions == "sinusoidal" and self.width % 2:
            raise ValueError(
                f"sinusoidal positions come in pairs, so width {self.width} must be even; or use 'learned'"
            )
        return self


ModelConfig = Annotated[RecurrentConfig | TransformerConfig, Field(discriminator="architecture")]

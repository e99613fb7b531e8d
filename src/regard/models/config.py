"""What a model is made of: the recipe's [model] table, checked before anything is built."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Cell = Literal["gru", "lstm"]
Placement = Literal["input", "output"]
Initial = Literal["zero", "last", "sum", "projection", "backward"]
Readout = Literal["state-context-embedding", "state-context", "attentional", "maxout"]
Tie = Literal["none", "target", "all"]


class RecurrentConfig(BaseModel):
    """An RNN encoder-decoder; score, window and placement are three independent choices."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    architecture: Literal["rnn"] = "rnn"
    cell: Cell = "gru"
    embedding: int = Field(128, ge=1)
    encoder_units: int = Field(128, ge=1, description="for each direction")
    encoder_layers: int = Field(1, ge=1)
    bidirectional: bool = True
    decoder_units: int = Field(128, ge=1)
    decoder_layers: int = Field(1, ge=1)

    score: str = "additive"
    attention_width: int | None = Field(None, ge=1, description="hidden units of the scoring network; decoder_units if left out")
    heads: int = Field(1, ge=1)
    window: Literal["global", "local-m", "local-p"] = "global"
    reach: int = Field(10, ge=1, description="Luong's D: a local window is 2D + 1 words wide")
    placement: Placement = "input"
    input_feeding: bool = False

    initial: Initial = "projection"
    readout: Readout = "state-context-embedding"
    readout_width: int | None = Field(None, ge=1, description="units of the attentional or maxout layer; decoder_units if left out")
    tie: Tie = "none"
    dropout: float = Field(0.0, ge=0, lt=1, description="between layers and before the output layer")
    embedding_dropout: float = Field(0.0, ge=0, lt=1)

    @property
    def state_width(self) -> int:
        """Width of one encoder annotation h_j, both directions together."""
        return self.encoder_units * (2 if self.bidirectional else 1)

    @property
    def hidden_readout(self) -> bool:
        return self.readout in ("attentional", "maxout")

    @model_validator(mode="after")
    def _possible(self) -> "RecurrentConfig":
        if self.score == "dot" and self.decoder_units != self.state_width:
            directions = "2 × " if self.bidirectional else ""
            raise ValueError(
                f"score 'dot' compares states of one width, but decoder_units is {self.decoder_units} and the encoder's "
                f"states are {directions}{self.encoder_units} = {self.state_width}: make them equal, or use 'general'"
            )
        if self.score == "none" and self.window != "global":
            raise ValueError(f"window '{self.window}' needs a score: without attention there is nothing to window")
        if self.heads > 1 and self.score != "multi-head" and ":" not in self.score:
            raise ValueError(f"heads = {self.heads} needs score 'multi-head'; '{self.score}' has one head")
        if self.input_feeding and self.readout != "attentional":
            raise ValueError(
                f"input feeding feeds Luong's attentional vector tanh(W_c[c; s]), which readout '{self.readout}' "
                "does not compute: set readout = 'attentional'"
            )
        if self.initial in ("last", "sum") and not self._copies_state():
            raise ValueError(self._why_not_copied())
        if self.initial == "backward" and not self.bidirectional:
            raise ValueError("initial 'backward' is tanh(W ←h_1) and needs bidirectional = true; use 'projection'")
        if self.readout_width is not None and not self.hidden_readout:
            raise ValueError(f"readout '{self.readout}' has no hidden layer: leave readout_width out")
        if self.tie != "none" and (self.readout_width or self.decoder_units) != self.embedding:
            raise ValueError(
                f"tied embeddings need an output layer as wide as the embedding ({self.embedding}): "
                "use readout 'attentional' or 'maxout' with readout_width equal to embedding"
            )
        if self.tie != "none" and not self.hidden_readout:
            raise ValueError(f"tied embeddings need readout 'attentional' or 'maxout', not '{self.readout}'")
        return self

    def _copies_state(self) -> bool:
        source = self.encoder_units if self.initial == "sum" or not self.bidirectional else 2 * self.encoder_units
        return source == self.decoder_units and self.encoder_layers == self.decoder_layers

    def _why_not_copied(self) -> str:
        return (
            f"initial '{self.initial}' copies the encoder's state into the decoder, which needs equal widths and layers "
            f"(encoder {self.encoder_layers} × {self.encoder_units}, bidirectional = {self.bidirectional}; "
            f"decoder {self.decoder_layers} × {self.decoder_units}): use 'projection'"
        )


class TransformerConfig(BaseModel):
    """A pre-norm Transformer encoder-decoder."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    architecture: Literal["transformer"]
    width: int = Field(256, ge=2)
    heads: int = Field(4, ge=1)
    encoder_layers: int = Field(3, ge=1)
    decoder_layers: int = Field(3, ge=1)
    feedforward: int = Field(1024, ge=1)
    positions: Literal["sinusoidal", "learned"] = "sinusoidal"
    longest: int = Field(1024, ge=1, description="how many learned positions there are")
    tie: Tie = "none"
    dropout: float = Field(0.1, ge=0, lt=1)

    @model_validator(mode="after")
    def _possible(self) -> "TransformerConfig":
        if self.width % self.heads:
            raise ValueError(f"width {self.width} does not divide into {self.heads} heads")
        if self.positions == "sinusoidal" and self.width % 2:
            raise ValueError(f"sinusoidal positions come in pairs: width {self.width} must be even")
        return self


ModelConfig = Annotated[RecurrentConfig | TransformerConfig, Field(discriminator="architecture")]

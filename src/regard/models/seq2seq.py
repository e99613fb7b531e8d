"""`Seq2Seq`: encoder-decoder, recurrent or Transformer; `outline` builds one on the meta device."""

from collections.abc import Collection
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from regard.bounds import MOST
from regard.models.model_config import RecurrentConfig, TransformerConfig
from regard.models.rnn.decoder import RecurrentDecoder
from regard.models.rnn.encoder import RecurrentEncoder
from regard.models.step import Decoded, Step
from regard.models.transformer.decoder import TransformerDecoder
from regard.models.transformer.encoder import TransformerEncoder
from regard.registry import replaceable

PAD = 0


@runtime_checkable
class Source(Protocol):
    """Padded source ids and their true lengths."""

    @property
    def source(self) -> Int[Tensor, "batch source"]: ...
    @property
    def source_lengths(self) -> Int[Tensor, " batch"]: ...


class Seq2Seq(nn.Module):
    """An encoder and a decoder: `forward` runs whole batches for training, `start` and `step` single steps for search.

    `trust` names the class outside regard that `config.score` may be.
    """

    def __init__(
        self,
        config: RecurrentConfig | TransformerConfig,
        source_vocabulary: int,
        target_vocabulary: int,
        *,
        trust: Collection[str] = (),
    ) -> None:
        super().__init__()
        if config.tie == "all" and source_vocabulary != target_vocabulary:
            raise ValueError(
                f"tie = 'all' shares one vocabulary, but the source has {source_vocabulary} entries and the target "
                f"{target_vocabulary}: set joint = true in [text], or tie = 'target'"
            )
        self.config = config
        width = config.embedding if isinstance(config, RecurrentConfig) else config.width
        source = _embedding(source_vocabulary, width)
        target = source if config.tie == "all" else _embedding(target_vocabulary, width)
        self.encoder: RecurrentEncoder | TransformerEncoder
        self.decoder: RecurrentDecoder | TransformerDecoder
        if isinstance(config, RecurrentConfig):
            self.encoder = RecurrentEncoder(config, source)
            self.decoder = RecurrentDecoder(config, target, target_vocabulary, trust)
        else:
            self.encoder = TransformerEncoder(config, source)
            self.decoder = TransformerDecoder(config, target, target_vocabulary)
        if config.tie != "none":
            self.decoder.readout.output.weight = target.weight

    def start(self, source: Source) -> Any:
        """Encode the sentences; returns the decoder's first state."""
        return self.decoder.start(self.encoder(source.source, source.source_lengths))

    def step(
        self,
        tokens: Int[Tensor, " rows"],
        state: Any,
        *,
        weights: Float[Tensor, "rows layer head source"] | None = None,
        trace: bool = False,
    ) -> Step:
        """One decoder step: logits of the next word, the new state, and the attention weights."""
        return self.decoder.step(tokens, state, weights=weights, trace=trace)

    @replaceable
    def forward(
        self,
        source: Source,
        tokens: Int[Tensor, "batch target"],
        *,
        forced: Bool[Tensor, " target"] | None = None,
        want_weights: bool = False,
    ) -> Decoded:
        """Features of every step, given the words before it; `logits` turns them into predictions."""
        decoded: Decoded = self.decoder(tokens, self.start(source), forced=forced, want_weights=want_weights)
        return decoded

    def logits(self, features: Float[Tensor, "*rows feature"]) -> Float[Tensor, "*rows vocabulary"]:
        logits: Tensor = self.decoder.readout(features)
        return logits

    def before_output(self, features: Float[Tensor, "*rows feature"]) -> Float[Tensor, "*rows feature"]:
        """The input of the output layer: the features, with their dropout while training."""
        dropout = getattr(self.decoder.readout, "dropout", None)
        return features if dropout is None else dropout(features)

    @property
    def output(self) -> nn.Linear:
        """The output layer, for a loss that runs it piece by piece."""
        return self.decoder.readout.output

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    @property
    def parameters_count(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())


def outline(
    config: RecurrentConfig | TransformerConfig,
    source_vocabulary: int,
    target_vocabulary: int,
    *,
    trust: Collection[str] = (),
) -> Seq2Seq:
    """A model on the meta device, which takes no memory; ValueError if it has too many parameters."""
    try:
        with torch.device("meta"), _SkipNormal():
            model = Seq2Seq(config, source_vocabulary, target_vocabulary, trust=trust)
    except RuntimeError:  # a user's own mechanism computes with its parameters in its constructor
        model = Seq2Seq(config, source_vocabulary, target_vocabulary, trust=trust)
    count, most = model.parameters_count, MOST["parameters"]
    if count > most:
        raise ValueError(f"it has {count:,} parameters, at most {most:,} are allowed: make it narrower, or less deep")
    return model


class _SkipNormal(TorchFunctionMode):
    """Skips normal_: a no-op on the meta device, whose first call imports sympy, which takes seconds."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in (nn.init.normal_, Tensor.normal_):
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))


def _embedding(vocabulary: int, width: int) -> nn.Embedding:
    embedding = nn.Embedding(vocabulary, width, padding_idx=PAD)
    with torch.no_grad():
        nn.init.normal_(embedding.weight, std=width**-0.5)
        embedding.weight[PAD].zero_()
    return embedding

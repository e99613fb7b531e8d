"""From the decoder's state and context to the next word's logits."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.models.model_config import RecurrentConfig


class Readout(nn.Module):
    """Four ways to combine state s, context c and the previous word's embedding e.

    state-context-embedding   W [s; c; e]
    state-context             W [s; c]
    attentional               W tanh(W_c [c; s])                      (Luong et al. 2015, eq. 5, 6)
    maxout                    W max-pairs(U s + V e + C c)            (Bahdanau et al. 2014, appendix A.2.2)

    The appendix writes U s_{t-1} where its own eq. 4 conditions on s_t. `s` is s_t, or s_{t-1} with readout_state =
    "previous".
    """

    def __init__(self, config: RecurrentConfig, context_width: int, vocabulary: int) -> None:
        super().__init__()
        self.kind = config.readout
        units, embedding = config.decoder_units, config.embedding
        width = config.readout_width or units
        self.dropout = nn.Dropout(config.dropout)
        self.combine: nn.Linear | None = None
        if self.kind == "attentional":
            self.combine = nn.Linear(context_width + units, width, bias=False)
        elif self.kind == "maxout":
            self.combine = nn.Linear(units + context_width + embedding, 2 * width)
        else:
            width = units + context_width + (embedding if self.kind == "state-context-embedding" else 0)
        self.width = width
        self.output = nn.Linear(width, vocabulary)

    def features(
        self,
        state: Float[Tensor, "*rows state"],
        context: Float[Tensor, "*rows context"],
        embedded: Float[Tensor, "*rows embedding"],
    ) -> Float[Tensor, "*rows width"]:
        """The input of the output layer; for `attentional` also the vector of input feeding.

        The embedding takes the dtype of the state where that is half precision.
        """
        if state.dtype.itemsize == 2:
            embedded = embedded.to(state.dtype)
        if self.kind == "state-context":
            return torch.cat([state, context], dim=-1)
        if self.kind == "state-context-embedding":
            return torch.cat([state, context, embedded], dim=-1)
        assert self.combine is not None
        if self.kind == "attentional":
            return torch.tanh(self.combine(torch.cat([context, state], dim=-1)))
        pairs: Tensor = self.combine(torch.cat([state, context, embedded], dim=-1)).unflatten(-1, (-1, 2))
        return pairs.amax(dim=-1)

    def forward(self, features: Float[Tensor, "*rows width"]) -> Float[Tensor, "*rows vocabulary"]:
        logits: Tensor = self.output(self.dropout(features))
        return logits

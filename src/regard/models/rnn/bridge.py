"""`Bridge`: the decoder's first state from the encoder's final states, in five ways."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.models.model_config import RecurrentConfig


class Bridge(nn.Module):
    """s_0 from the encoder's final states.

    zero         s_0 = 0
    last         s_0 = [→h_T; ←h_1], layer by layer
    sum          s_0 = →h_T + ←h_1, layer by layer
    projection   s_0 = tanh(W [→h_T; ←h_1])
    backward     s_0 = tanh(W ←h_1)              (Bahdanau et al. 2014, appendix A.2.2)
    """

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__()
        self.layers, self.units = config.decoder_layers, config.decoder_units
        self.initial = config.initial
        directions = 1 if config.initial == "backward" or not config.bidirectional else 2
        learned = config.initial in ("projection", "backward")

        def projection() -> nn.Linear | None:
            return nn.Linear(directions * config.encoder_units, self.layers * self.units) if learned else None

        self.hidden = projection()
        self.cell = projection() if config.cell == "lstm" else None

    def forward(
        self,
        hidden: Float[Tensor, "depth direction batch units"],
        cell: Float[Tensor, "depth direction batch units"] | None,
    ) -> tuple[Float[Tensor, "layer batch state"], Float[Tensor, "layer batch state"] | None]:
        return self._first(hidden, self.hidden), None if cell is None else self._first(cell, self.cell)

    def _first(self, final: Tensor, project: Callable[[Tensor], Tensor] | None) -> Tensor:
        batch = final.size(2)
        if self.initial == "zero":
            return final.new_zeros(self.layers, batch, self.units)
        if self.initial == "sum":
            return final.sum(dim=1)
        if self.initial == "last":
            return torch.cat(final.unbind(1), dim=-1)
        assert project is not None
        top = final[-1, -1] if self.initial == "backward" else torch.cat(final[-1].unbind(0), dim=-1)
        return torch.tanh(project(top)).view(batch, self.layers, self.units).transpose(0, 1).contiguous()

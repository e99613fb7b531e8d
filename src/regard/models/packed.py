"""A model whose weights will not change, made ready to decode on the CPU."""

from copy import deepcopy
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.plain import plain_wanted
from regard.models.product import pack, packable, product, unpacked_wanted
from regard.models.rnn.decoder import RecurrentDecoder
from regard.models.seq2seq import Seq2Seq


def packed(model: Seq2Seq) -> Seq2Seq:
    """The model with packed copies of its matrices; the model itself where there is nothing to pack, or all is plain.

    Everything else is shared with `model`, which stays as it is. What is later trained or loaded into `model` does not
    reach the packed copies: pack again.
    """
    if plain_wanted() or not any(packable(parameter) for parameter in model.parameters() if parameter.ndim == 2):
        return model
    ready = deepcopy(model, {id(one): one for one in [*model.parameters(), *model.buffers()]})
    for module in list(ready.modules()):
        for name, child in list(module.named_children()):
            if type(child) is nn.Linear and packable(child.weight):  # a subclass may compute something else
                setattr(module, name, PackedLinear(child))
    if isinstance(ready.decoder, RecurrentDecoder):
        ready.decoder.pack()
    return ready


class PackedLinear(nn.Linear):
    """A linear layer on the parameters of another that multiplies by their packed form wherever that is possible."""

    def __init__(self, plain: nn.Linear) -> None:
        super().__init__(plain.in_features, plain.out_features, plain.bias is not None, device="meta")
        self.weight, self.bias = plain.weight, plain.bias
        self._packed: Tensor | None = pack(plain.weight)

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles: what is packed can be neither, and is packed again wherever that is possible."""
        return {name: value for name, value in self.__dict__.items() if name != "_packed"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        self._packed = pack(self.weight) if packable(self.weight) else None

    def forward(self, x: Float[Tensor, "*rows width"]) -> Float[Tensor, "*rows out"]:
        if self._packed is None or unpacked_wanted(x):
            return super().forward(x)
        return product(x, self._packed, self.bias)

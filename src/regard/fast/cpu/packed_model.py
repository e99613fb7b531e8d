"""Prepares a model for decoding on a CPU: a copy that multiplies with packed weights."""

from copy import deepcopy
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from regard.fast.cpu.packed_recurrence import pack_recurrence
from regard.fast.cpu.packed_weight import Packed, pack, packable, product, unpacked_only
from regard.models.rnn.decoder import RecurrentDecoder
from regard.models.seq2seq import Seq2Seq
from regard.registry import Precision, Refusal, prepare_for_decoding, replaceable, replaces


def _nothing_to_pack(model: Any, precision: Precision = "float32") -> Refusal:
    if not isinstance(model, Seq2Seq):
        return "not a Seq2Seq"
    if any(packable(parameter) for parameter in model.parameters() if parameter.ndim == 2):
        return None
    return "no weight gains from packing: none is large, float32 and on a CPU that supports it"


@replaces(prepare_for_decoding, unless=_nothing_to_pack)
def packed_model(model: Seq2Seq, precision: Precision = "float32") -> Seq2Seq:
    """A copy with packed copies of the matrices; it shares the parameters with `model`, which stays as it is.

    Training `model` or loading weights into it does not change the packed copies: prepare it again.
    """
    ready = deepcopy(model, {id(one): one for one in [*model.parameters(), *model.buffers()]})
    for module in list(ready.modules()):
        for name, child in list(module.named_children()):
            if type(child) is nn.Linear and packable(child.weight):  # a subclass may compute something else
                setattr(module, name, PackedLinear(child, precision))
    if isinstance(ready.decoder, RecurrentDecoder) and isinstance(ready.decoder.recurrence, nn.RNNBase):
        pack_recurrence(ready.decoder.recurrence, precision)
    return ready


class PackedLinear(nn.Linear):
    """A linear layer on the parameters of another, with a packed copy of its weight."""

    def __init__(self, plain: nn.Linear, precision: Precision = "float32") -> None:
        super().__init__(plain.in_features, plain.out_features, plain.bias is not None, device="meta")
        self.weight, self.bias = plain.weight, plain.bias
        self.precision: Precision = precision
        self.packed: Packed | None = pack(plain.weight, precision)

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles, which packed tensors do not support: the copy packs its own weight."""
        return {name: value for name, value in self.__dict__.items() if name != "packed"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        self.packed = pack(self.weight, self.precision) if packable(self.weight) else None

    @replaceable
    def forward(self, x: Float[Tensor, "*rows width"]) -> Float[Tensor, "*rows out"]:
        return super().forward(x)


def _unpacked_only(layer: PackedLinear, x: Tensor) -> Refusal:
    return "this copy could not be packed" if layer.packed is None else unpacked_only(x)


@replaces(PackedLinear.forward, unless=_unpacked_only)
def packed_product(layer: PackedLinear, x: Tensor) -> Tensor:
    """x W' + b with the packed weight."""
    assert layer.packed is not None
    return product(x, layer.packed, layer.bias)

"""Packed weights of a decoder's recurrence, stored on the recurrence of a model that only decodes."""

from typing import Any

from torch import Tensor, nn

from regard.fast.cpu.packed_weight import Packed, pack, packable, unpacked_only
from regard.models.rnn.cells import PARAMETERS
from regard.registry import Precision

_ATTRIBUTE = "packed_layers"

Weights = tuple[Packed, Packed, Tensor, Tensor]
"""W, U, b and b_u of one layer."""


class PackedLayers:
    """Layers whose weights are packed at the first step.

    Packed tensors can be neither copied nor pickled: a copy starts empty and packs its own weights.
    """

    def __init__(self, precision: Precision) -> None:
        self.precision: Precision = precision
        self.layers: tuple[Weights, ...] | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> "PackedLayers":
        return PackedLayers(self.precision)

    def __reduce__(self) -> tuple[type["PackedLayers"], tuple[Precision]]:
        return PackedLayers, (self.precision,)


def pack_recurrence(recurrence: nn.RNNBase, precision: Precision) -> None:
    """Makes steps without gradients use packed weights. The caller promises not to change the weights."""
    setattr(recurrence, _ATTRIBUTE, PackedLayers(precision))


def layers_of(recurrence: nn.RNNBase, inputs: Tensor) -> tuple[Weights, ...]:
    """The weights that a step multiplies with: packed where the recurrence was prepared for that."""
    packed: PackedLayers | None = recurrence.__dict__.get(_ATTRIBUTE)
    if packed is not None and unpacked_only(inputs) is None:
        if packed.layers is None:
            layers = _unpacked(recurrence)
            if not any(packable(x) for layer in layers for x in layer[:2]):
                return layers
            packed.layers = tuple(
                (_packed(W, packed.precision), _packed(U, packed.precision), b, b_u) for W, U, b, b_u in layers
            )
        return packed.layers
    return _unpacked(recurrence)


def _unpacked(recurrence: nn.RNNBase) -> tuple[tuple[Tensor, Tensor, Tensor, Tensor], ...]:
    return tuple(
        tuple(getattr(recurrence, f"{name}_l{index}") for name in PARAMETERS) for index in range(recurrence.num_layers)
    )


def _packed(weight: Tensor, precision: Precision) -> Packed:
    return pack(weight, precision) if packable(weight) else weight

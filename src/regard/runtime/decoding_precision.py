"""The precision in which a translator multiplies: checked before anything is loaded."""

from collections.abc import Iterable
from typing import get_args

import torch

from regard.models.seq2seq import Seq2Seq
from regard.registry import Precision, plain_requested
from regard.text.input_error import InputError
from regard.torch_private import has_int8_product


def check_precision(name: str, device: torch.device | str = "cpu") -> Precision:
    """The precision of this name; raises if it does not exist or does not work on this machine."""
    for precision in get_args(Precision):
        if name == precision:
            if name == "int8":
                _check_int8(torch.device(device))
            found: Precision = precision
            return found
    raise InputError(f"precision '{name}' does not exist: valid choices are {', '.join(get_args(Precision))}")


def _check_int8(device: torch.device) -> None:
    if device.type != "cpu":
        raise InputError(f"int8 computes on the cpu, not on {device}: leave the device or the precision out")
    if plain_requested() or not has_int8_product():
        raise InputError("int8 needs 8-bit products in torch and no REGARD_PLAIN: leave the precision out")


def check_models(precision: Precision, models: Iterable[object]) -> None:
    """Raise for int8 with ONNX graphs, which compute in the precision that they were exported in."""
    if precision == "int8" and not all(isinstance(model, Seq2Seq) for model in models):
        raise InputError("an ONNX folder computes in the precision of its graphs: leave int8 out, or load the bundle")

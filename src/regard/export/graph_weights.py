"""The weights file that all graphs of a folder share: every tensor once, in float32 or as int8 with a scale per row."""

from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float32, Int8
from onnx import StringStringEntryProto, TensorProto, helper
from torch import Tensor

from regard.bundle.int8 import quantise_matrix
from regard.bundle.onnx_manifest import ALIGNMENT, DATA


class Weights:
    """Collects named tensors and their offsets in the file; a repeated name is the same tensor."""

    def __init__(self, *, int8: bool = False) -> None:
        self.int8 = int8
        self.arrays: dict[str, np.ndarray] = {}
        self._protos: dict[str, TensorProto] = {}
        self._end = 0

    def add(self, name: str, array: np.ndarray) -> TensorProto:
        """The initializer that refers to this tensor in the file."""
        if name in self.arrays:
            if self.arrays[name].shape != array.shape:
                raise AssertionError(f"{name} is {self.arrays[name].shape} in one graph and {array.shape} in another")
            return self._protos[name]
        offset = self._end + -self._end % ALIGNMENT
        where = {"location": DATA, "offset": str(offset), "length": str(array.nbytes)}
        proto = TensorProto(
            name=name,
            data_type=helper.np_dtype_to_tensor_dtype(array.dtype),
            dims=array.shape,
            data_location=TensorProto.EXTERNAL,
            external_data=[StringStringEntryProto(key=key, value=value) for key, value in where.items()],
        )
        self.arrays[name], self._protos[name], self._end = array, proto, offset + array.nbytes
        return proto

    def write(self, path: Path) -> None:
        with path.open("wb") as file:
            for array in self.arrays.values():
                file.write(b"\0" * (-file.tell() % ALIGNMENT))
                file.write(np.ascontiguousarray(array).tobytes())


def numbers(tensor: Tensor) -> Float32[np.ndarray, "..."]:
    """A parameter in float32, whatever precision it was trained in."""
    array: np.ndarray = tensor.detach().float().cpu().numpy()
    return array


def quantise(
    matrix: Float32[np.ndarray, "rows columns"],
) -> tuple[Int8[np.ndarray, "rows columns"], Float32[np.ndarray, " rows"]]:
    """Integers of -127 to 127 and the scale of each row, as `bundle/int8.py` defines them."""
    integers, scale = quantise_matrix(torch.from_numpy(matrix))
    return integers.numpy(), scale.numpy()

"""An ONNX graph under construction: nodes, small constants, weights in the shared file, typed inputs and outputs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper
from torch import Tensor

import regard
from regard.bundle.onnx_manifest import IR_VERSION, OPSET
from regard.export.graph_weights import Weights, numbers, quantise

FLOAT, INTEGER, BOOLEAN = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
Dimensions = Sequence[int | str]
"""A size, or the name of an axis whose size is not fixed."""


class Graph:
    """Values are known by their names; `graph("Tanh", x)` adds a node and returns the name of its output.

    A tensor of the model is named after its parameter, so that tied parameters and those that two graphs use are one.
    """

    def __init__(self, name: str, weights: Weights, names: dict[int, str]) -> None:
        self.name, self.weights = name, weights
        self._names = names
        self._nodes: list[NodeProto] = []
        self._inputs: list[ValueInfoProto] = []
        self._outputs: list[ValueInfoProto] = []
        self._initializers: dict[str, TensorProto] = {}
        self._constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._values: dict[str, str] = {}

    def __call__(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return self.several(operator, 1, *inputs, **attributes)[0]

    def several(self, operator: str, count: int, *inputs: str, **attributes: Any) -> list[str]:
        """A node with several outputs."""
        number = len(self._nodes)
        outputs = [f"{operator}_{number}" if count == 1 else f"{operator}_{number}_{one}" for one in range(count)]
        self._nodes.append(helper.make_node(operator, inputs, outputs, name=f"{operator}_{number}", **attributes))
        return outputs

    def input(self, name: str, kind: int, dimensions: Dimensions) -> str:
        self._inputs.append(helper.make_tensor_value_info(name, kind, dimensions))
        return name

    def output(self, name: str, value: str, kind: int, dimensions: Dimensions) -> None:
        self._nodes.append(helper.make_node("Identity", [value], [name], name=f"output {name}"))
        self._outputs.append(helper.make_tensor_value_info(name, kind, dimensions))

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        """A small constant, kept in the graph itself; equal ones are one."""
        array = np.asarray(value, dtype=dtype)
        key = str(array.dtype), array.shape, array.tobytes()
        if key not in self._constants:
            name = self._constants[key] = f"constant_{len(self._constants)}"
            self._initializers[name] = numpy_helper.from_array(array, name)
        return self._constants[key]

    def integers(self, *values: int) -> str:
        """A constant vector of integers: axes and shapes."""
        return self.constant(values, np.int64)

    def vector(self, tensor: Tensor, name: str = "") -> str:
        """A tensor of the model in float32."""
        return self._stored(name or self._names[id(tensor)], numbers(tensor))

    def matrix(self, tensor: Tensor, name: str = "") -> str:
        """A matrix of the model; as int8 it is stored by rows and dequantised here."""
        name = name or self._names[id(tensor)]
        if not self.weights.int8:
            return self._stored(name, numbers(tensor))
        if name not in self._values:
            self._values[name] = self("DequantizeLinear", *self._quantised(name, tensor), axis=0)
        return self._values[name]

    def look_up(self, table: Tensor, rows: str) -> str:
        """Rows of an embedding."""
        name = self._names[id(table)]
        if not self.weights.int8:
            return self("Gather", self._stored(name, numbers(table)), rows, axis=0)
        integers, scale = (self("Gather", stored, rows, axis=0) for stored in self._quantised(name, table))
        scale = self("Unsqueeze", scale, self.integers(-1))
        return self("Mul", self("Cast", integers, to=FLOAT), scale)

    def linear(self, x: str, weight: str, bias: Tensor | None = None) -> str:
        """`W x + b` for rows x: [rows, in] → [rows, out]."""
        return self("Gemm", x, weight, *([] if bias is None else [self.vector(bias)]), transB=1)

    def linear_sequence(self, x: str, weight: str, bias: Tensor | None = None) -> str:
        """The same for every position: [batch, length, in] → [batch, length, out]."""
        product = self("MatMul", x, self("Transpose", weight, perm=[1, 0]))
        return product if bias is None else self("Add", product, self.vector(bias))

    def size(self, value: str, axis: int) -> str:
        """The size of an axis, as a vector of one integer."""
        return self("Gather", self("Shape", value), self.integers(axis), axis=0)

    def zeros(self, rows: str, *sizes: int) -> str:
        """Zeros of shape [rows, *sizes]; `rows` is a vector of one integer."""
        return self("Expand", self.constant(0.0), self("Concat", rows, self.integers(*sizes), axis=0))

    def count_up(self, length: str) -> str:
        """0, 1, 2 …: so many integers."""
        first, step = self.constant(0, np.int64), self.constant(1, np.int64)
        return self("Range", first, self("Squeeze", length, self.integers(0)), step)

    def model(self) -> ModelProto:
        graph = helper.make_graph(
            self._nodes, self.name, self._inputs, self._outputs, list(self._initializers.values())
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="regard",
            producer_version=regard.__version__,
        )

    def _quantised(self, name: str, tensor: Tensor) -> tuple[str, str]:
        integers, scale = quantise(numbers(tensor))
        return self._stored(f"{name}.int8", integers), self._stored(f"{name}.scale", scale)

    def _stored(self, name: str, array: np.ndarray) -> str:
        self._initializers[name] = self.weights.add(name, array)
        return name

"""An ONNX graph under construction: nodes, small constants, weights in the shared file, typed inputs and outputs."""

from collections.abc import Callable, Mapping, Sequence
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
Values = Mapping[str, str]
"""Names of values, by their names inside a step."""
SMALLEST = 1e-30
"""Smallest divisor: a row of zeros is divided by it."""


class Graph:
    """Values are strings, the names of outputs: `graph("Tanh", x)` adds a node and returns the name of its output.

    A tensor of the model is named after its parameter, so tied parameters and those in both graphs are stored once.
    """

    def __init__(self, name: str, weights: Weights, names: dict[int, str], outer: "Graph | None" = None) -> None:
        self.name, self.weights = name, weights
        self._names, self._outer = names, outer
        self._nodes: list[NodeProto] = []
        self._inputs: list[ValueInfoProto] = []
        self._outputs: list[ValueInfoProto] = []
        self._initializers: dict[str, TensorProto] = {}
        self._constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._values: dict[str, str] = {}
        self._rounded: dict[str, tuple[str, str]] = {}
        self._sizes: dict[tuple[str, int], str] = {}

    def __call__(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return self.several(operator, 1, *inputs, **attributes)[0]

    def several(self, operator: str, count: int, *inputs: str, **attributes: Any) -> list[str]:
        """A node with several outputs."""
        name = f"{operator}_{len(self._nodes)}" if self._outer is None else f"{self.name}_{operator}_{len(self._nodes)}"
        outputs = [name if count == 1 else f"{name}_{one}" for one in range(count)]
        self._nodes.append(helper.make_node(operator, inputs, outputs, name=name, **attributes))
        return outputs

    def input(self, name: str, kind: int, dimensions: Dimensions | None) -> str:
        self._inputs.append(helper.make_tensor_value_info(name, kind, dimensions))
        return name

    def output(self, name: str, value: str, kind: int, dimensions: Dimensions | None) -> None:
        self._nodes.append(helper.make_node("Identity", [value], [name], name=f"output {name}"))
        self._outputs.append(helper.make_tensor_value_info(name, kind, dimensions))

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        """A small constant, kept in the graph itself; equal constants are stored once."""
        if self._outer is not None:
            return self._outer.constant(value, dtype)
        array = np.asarray(value, dtype=dtype)
        key = str(array.dtype), array.shape, array.tobytes()
        if key not in self._constants:
            name = self._constants[key] = f"constant_{len(self._constants)}"
            self._initializers[name] = numpy_helper.from_array(array, name)
        return self._constants[key]

    def integers(self, *values: int) -> str:
        """A constant vector of integers: axes and shapes."""
        return self.constant(values, np.int64)

    def parameter(self, tensor: Tensor, name: str = "") -> str:
        """A tensor of the model in float32: a vector, or a matrix for operators that take no integers."""
        return self._stored(name or self._names[id(tensor)], numbers(tensor))

    def look_up(self, table: Tensor, rows: str) -> str:
        """Rows of an embedding."""
        name = self._names[id(table)]
        if not self.weights.int8:
            return self("Gather", self._stored(name, numbers(table)), rows, axis=0)
        integers, scale = (self("Gather", stored, rows, axis=0) for stored in self._quantised(name, table))
        scale = self("Unsqueeze", scale, self.integers(-1))
        return self("Mul", self("Cast", integers, to=FLOAT), scale)

    def linear(self, x: str, weight: Tensor, bias: Tensor | None = None, name: str = "") -> str:
        """`W x + b` for every row of x: [..., in] → [..., out]; `name` is for a weight that is not a parameter."""
        name = name or self._names[id(weight)]
        if self.weights.int8:
            product = self._int8_product(x, weight, name)
        else:
            product = self("MatMul", x, self._transposed(self._stored(name, numbers(weight))))
        return product if bias is None else self("Add", product, self.parameter(bias))

    def scan(self, name: str, build: Callable[["Graph"], Sequence[str]], first: Values, sequences: Values) -> list[str]:
        """Runs a step for every position of `sequences` [time, ...]: the last states, and all states of the first one.

        `build` adds the nodes of a step to an inner graph, whose inputs have the names in `first` (the states) and
        `sequences`, and returns the new states.
        """
        inner = Graph(name, self.weights, self._names, outer=self)
        for given in (*first, *sequences):
            inner.input(given, FLOAT, None)
        states = list(build(inner))
        for number, state in enumerate([*states, states[0]]):
            inner.output(f"{name}_output_{number}", state, FLOAT, None)
        body = helper.make_graph(inner._nodes, name, inner._inputs, inner._outputs)
        values = [*first.values(), *sequences.values()]
        return self.several("Scan", len(states) + 1, *values, body=body, num_scan_inputs=len(sequences))

    def size(self, value: str, axis: int) -> str:
        """The size of an axis, as a vector of one integer."""
        if (value, axis) not in self._sizes:
            self._sizes[value, axis] = self("Shape", value, start=axis, end=axis + 1)
        return self._sizes[value, axis]

    def zeros(self, rows: str, *sizes: int) -> str:
        """Zeros of shape [rows, *sizes]; `rows` is a vector of one integer."""
        return self("Expand", self.constant(0.0), self("Concat", rows, self.integers(*sizes), axis=0))

    def count_up(self, length: str) -> str:
        """The integers 0, 1, 2 … below `length`."""
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

    def _int8_product(self, x: str, weight: Tensor, name: str) -> str:
        """The product of integers, which onnxruntime fuses into one node (MatMulIntegerToFloat).

        Each row of x is rounded by its own size, so that its result does not depend on the rows beside it.
        """
        if x not in self._rounded:
            most = self("ReduceMax", self("Abs", x), self.integers(-1), keepdims=1)
            size = self("Max", most, self.constant(SMALLEST))
            self._rounded[x] = self("QuantizeLinear", self("Div", x, size), *self._levels()), size
        levels, size = self._rounded[x]
        integers, scale = self._quantised(name, weight)
        W = self("DequantizeLinear", self._transposed(integers), scale, axis=1)
        return self("Mul", self("MatMul", self("DequantizeLinear", levels, *self._levels()), W), size)

    def _levels(self) -> tuple[str, str]:
        """Scale and zero point for values between -1 and 1, in unsigned integers: signed ones have no fast kernel."""
        return self.constant(1 / 127), self.constant(128, np.uint8)

    def _transposed(self, matrix: str) -> str:
        """Computed once, when a session is opened; the body of a Scan takes it from the outer graph."""
        if self._outer is not None:
            return self._outer._transposed(matrix)
        if matrix not in self._values:
            self._values[matrix] = self("Transpose", matrix, perm=[1, 0])
        return self._values[matrix]

    def _quantised(self, name: str, tensor: Tensor) -> tuple[str, str]:
        integers, scale = quantise(numbers(tensor))
        return self._stored(f"{name}.int8", integers), self._stored(f"{name}.scale", scale)

    def _stored(self, name: str, array: np.ndarray) -> str:
        if self._outer is not None:
            return self._outer._stored(name, array)
        self._initializers[name] = self.weights.add(name, array)
        return name

"""Validates an ONNX graph before a runtime loads it: allowed operators, opset, weights in the one weights file."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from regard.bounds import cut, excerpt
from regard.bundle.manifest import BundleError
from regard.bundle.onnx_manifest import DATA, OPSET

OPERATORS = frozenset({
    "Abs", "Add", "And", "Cast", "Clip", "Concat", "Cos", "DequantizeLinear", "Div", "Exp", "Expand", "GRU", "Gather",
    "GatherND", "Gemm", "Greater", "Identity", "LSTM", "LayerNormalization", "Less", "LessOrEqual", "MatMul", "Max",
    "Min", "Mul", "Not", "QuantizeLinear", "Range", "ReduceMax", "ReduceSum", "Relu", "Reshape", "ReverseSequence",
    "Scan", "Shape", "Sigmoid", "Sin", "Softmax", "Split", "Squeeze", "Sub", "Sum", "Tanh", "Transpose", "Unsqueeze",
    "Where",
})  # fmt: skip
"""Operators that the exporter writes or wrote; none can run code or open a file. Scan loops over the others."""
DTYPES: dict[int, np.dtype[Any]] = {onnx.TensorProto.FLOAT: np.dtype("<f4"), onnx.TensorProto.INT8: np.dtype("i1")}
"""Dtypes of the tensors in the weights file."""
_PLAIN = (onnx.AttributeProto.INT, onnx.AttributeProto.INTS, onnx.AttributeProto.FLOAT)
_AGAIN = "copy the whole folder again, or export the bundle again"


def read_graph(path: Path, data: bytes) -> onnx.GraphProto:
    """The graph in a file; BundleError if it is not one that `regard export onnx` writes."""
    try:
        model = onnx.load_model_from_string(data)
    except Exception as error:  # protobuf's own, whose class depends on its version
        raise BundleError(f"{path} is damaged (it cannot be read as ONNX): {_AGAIN}") from error
    opsets = {one.domain: one.version for one in model.opset_import}
    if opsets != {"": OPSET}:
        written = ", ".join(f"{domain or 'ai.onnx'} {version}" for domain, version in opsets.items()) or "none"
        raise BundleError(
            f"{path} uses opset {cut(written)}, but this version of regard runs opset {OPSET} alone: "
            "export the bundle again with this version"
        )
    _check_nodes(path, model)
    return model.graph


def _check_nodes(path: Path, model: onnx.ModelProto) -> None:
    graph = model.graph
    if model.functions or model.training_info or graph.sparse_initializer:
        raise _foreign(path, "it holds functions, training steps or sparse tensors")
    for node in graph.node:
        inner = [one.g for one in node.attribute if one.type == onnx.AttributeProto.GRAPH and node.op_type == "Scan"]
        _check_node(path, node, OPERATORS, (*_PLAIN, onnx.AttributeProto.GRAPH) if inner else _PLAIN)
        for body in inner:
            if body.initializer or body.sparse_initializer:
                raise _foreign(path, "the graph that its Scan repeats holds tensors")
            for one in body.node:
                _check_node(path, one, OPERATORS - {"Scan"}, _PLAIN)


def _check_node(path: Path, node: onnx.NodeProto, operators: frozenset[str], kinds: tuple[int, ...]) -> None:
    if node.domain or node.op_type not in operators:
        raise _foreign(path, f"its operator {excerpt(node.op_type)} is not one that regard writes")
    for attribute in node.attribute:
        if attribute.type not in kinds:
            raise _foreign(path, f"attribute {excerpt(attribute.name)} of {node.op_type} is not a number")


def check_interface(path: Path, graph: onnx.GraphProto, inputs: set[str], outputs: set[str]) -> None:
    """Raise for a graph that lacks an input or output, or needs another input."""
    for kind, given, wanted in (
        ("inputs", {one.name for one in graph.input}, inputs),
        ("outputs", {one.name for one in graph.output}, outputs),
    ):
        if wanted - given or (kind == "inputs" and given - wanted):
            odd = sorted(wanted ^ given if kind == "inputs" else wanted - given)
            raise _foreign(path, f"its {kind} are not those in the manifest: {excerpt(odd[0])}")


def check_shapes(path: Path, graph: onnx.GraphProto, shapes: Mapping[str, tuple[int | None, ...]]) -> None:
    """Raise for an output that is not float32, or whose declared dimensions differ; None is any number."""
    for one in graph.output:
        wanted = shapes.get(one.name)
        if wanted is None:
            continue
        kind = one.type.tensor_type
        found = [dim.dim_value or None for dim in kind.shape.dim]
        if len(found) != len(wanted) or any(
            size not in (None, known) for size, known in zip(wanted, found, strict=True)
        ):
            raise _foreign(path, f"its output {one.name} has the dimensions {excerpt(found)}, not {list(wanted)}")
        if kind.elem_type != onnx.TensorProto.FLOAT:
            raise _foreign(path, f"its output {one.name} is not float32")


def external_tensors(
    path: Path, graph: onnx.GraphProto, weights: np.ndarray[Any, np.dtype[np.uint8]]
) -> dict[str, np.ndarray]:
    """The tensors that a graph takes from the weights file, as views of its bytes."""
    found: dict[str, np.ndarray] = {}
    for tensor in graph.initializer:
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            continue
        where = {entry.key: entry.value for entry in tensor.external_data}
        if where.get("location") != DATA:
            raise _foreign(
                path, f"{excerpt(tensor.name)} is stored in {excerpt(where.get('location'))}, but only {DATA} is read"
            )
        found[tensor.name] = _slice(path, tensor, where, weights)
    return found


def _slice(
    path: Path, tensor: onnx.TensorProto, where: Mapping[str, str], weights: np.ndarray[Any, np.dtype[np.uint8]]
) -> np.ndarray:
    dtype, shape = DTYPES.get(tensor.data_type), tuple(tensor.dims)
    numbers = [where.get(key, "") for key in ("offset", "length")]
    if dtype is None or any(not one.isdecimal() or len(one) > 18 for one in numbers) or min(shape, default=1) < 0:
        raise _foreign(path, f"it has no byte range in {DATA} for {excerpt(tensor.name)}")
    offset, length = map(int, numbers)
    if length != math.prod(shape) * dtype.itemsize or offset % dtype.itemsize or offset + length > weights.size:
        raise BundleError(
            f"{path} and {path.parent / DATA} do not fit: {excerpt(tensor.name)} of shape {excerpt(list(shape))} is "
            f"not within the {weights.size:,} bytes there: {_AGAIN}"
        )
    array: np.ndarray = weights[offset : offset + length].view(dtype).reshape(shape)
    return array


def _foreign(path: Path, why: str) -> BundleError:
    return BundleError(f"{path} is not a graph of `regard export onnx` ({why}): {_AGAIN}")

"""Messages between the grader and a learner's process: JSON and raw arrays, never pickles.

A message is a line with the length of its JSON, the JSON, then the bytes of its arrays one after the other. Plain
values, lists, tuples, sets, dicts, arrays and tensors cross in both directions. Towards the learner also functions, by
name, and dataclasses and torch modules, as the name of a class, its arguments and its weights. From the learner an
unknown object arrives as the name of its type.
"""

import collections
import dataclasses
import json
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

MOST_BYTES = 2**27
"""Largest size of one message, far above that of any answer of an exercise."""
PLAIN_KINDS = "biufcU"
RECURRENT = ("input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional")
CELL = ("input_size", "hidden_size", "bias")
TORCH_ARGUMENTS = {
    "GRU": RECURRENT,
    "LSTM": RECURRENT,
    "GRUCell": CELL,
    "LSTMCell": CELL,
    "Linear": ("in_features", "out_features", "bias"),
    "Embedding": ("num_embeddings", "embedding_dim", "padding_idx"),
}
"""Attributes of torch's own modules that are arguments of their constructors; other modules list theirs in `SENT`."""


class Corrupt(BaseException):
    """The other side sent something that is not a message; a BaseException, so that no check catches it by mistake."""


class Writer:
    """Turns values into a tree for JSON and collects the bytes of arrays."""

    def __init__(self, objects: bool) -> None:
        self.objects = objects
        """Whether dataclasses and modules are described, so that the other side can build them."""
        self.buffers: list[bytes] = []
        self.graph: list[Any] = []
        """Tensors that require a gradient, in the order in which they occur."""

    def message(self, value: Mapping[str, Any], nodes: Mapping[str, Any] | None = None) -> bytes:
        """`nodes` are parts that were turned into nodes before."""
        tree = {**(nodes or {}), **{key: self.node(one) for key, one in value.items()}}
        text = json.dumps({"tree": tree, "sizes": [len(one) for one in self.buffers]}).encode()
        return b"".join([b"%d\n" % len(text), text, *self.buffers])

    def node(self, value: Any) -> Any:
        if value is None or type(value) in (bool, int, float, str):
            return value
        if isinstance(value, list | tuple):
            node: dict[str, Any] = {"list" if isinstance(value, list) else "tuple": [self.node(one) for one in value]}
            return {**node, "names": list(value._fields)} if hasattr(value, "_fields") else node
        if isinstance(value, set | frozenset):
            return {"set": [self.node(one) for one in value]}
        if isinstance(value, dict):
            return {"dict": [[self.node(key), self.node(one)] for key, one in value.items()]}
        if isinstance(value, ndarray):
            return self._array(value)
        if isinstance(value, np.generic):
            return {**self._array(np.asarray(value)), "scalar": True}
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.Tensor):
            return self._tensor(value, torch)
        return self._object(value, torch)

    def _array(self, value: ndarray) -> dict[str, Any]:
        node: dict[str, Any] = {"array": value.dtype.str, "shape": list(value.shape)}
        if type(value) is not ndarray:
            node["class"] = type(value).__name__
        if value.dtype.kind in PLAIN_KINDS:
            node["buffer"] = self._keep(np.asarray(value).tobytes())
        return node

    def _tensor(self, value: Any, torch: Any) -> dict[str, Any]:
        wants = bool(value.requires_grad and torch.is_grad_enabled())
        if wants:
            self.graph.append(value)
        plain = value.detach().cpu().contiguous()
        data = plain.view(torch.int16) if plain.dtype == torch.bfloat16 else plain
        shape, dtype = list(value.shape), str(value.dtype).removeprefix("torch.")
        return {"tensor": dtype, "shape": shape, "buffer": self._keep(data.numpy().tobytes()), "grad": wants}

    def _object(self, value: Any, torch: Any) -> dict[str, Any]:
        kind = type(value)
        if isinstance(value, FunctionType) and self.objects:
            return {"function": f"{value.__module__}:{value.__qualname__}"}
        if dataclasses.is_dataclass(value) and not self.objects:
            fields = [field.name for field in dataclasses.fields(value)]
            return self.node({name: getattr(value, name) for name in fields})  # type: ignore[no-any-return]
        module = torch is not None and isinstance(value, torch.nn.Module)
        if not self.objects or not (module or dataclasses.is_dataclass(value)):
            return {"object": kind.__name__}
        node: dict[str, Any] = {"make": f"{kind.__module__}:{kind.__qualname__}"}
        names = _arguments(value, torch) if module else [field.name for field in dataclasses.fields(value)]
        given = {name: getattr(value, name) for name in names}
        if module and "bias" in given:
            given["bias"] = given["bias"] is not None and given["bias"] is not False
        node["with"] = {name: self.node(one) for name, one in given.items()}
        if module:
            node["state"] = {name: self.node(one) for name, one in value.state_dict().items()}
            node["training"] = value.training
        return node

    def _keep(self, data: bytes) -> int:
        self.buffers.append(data)
        return len(self.buffers) - 1


def _arguments(module: Any, torch: Any) -> list[str]:
    kind = type(module)
    is_torch_layer = kind is getattr(torch.nn, kind.__name__, None)  # an author's module may have the same name
    names = getattr(module, "SENT", None) or (TORCH_ARGUMENTS.get(kind.__name__) if is_torch_layer else None)
    if names is None:
        raise TypeError(f"{kind.__name__} cannot be sent to a learner's process: list its arguments in SENT")
    return list(names)


class Reader:
    """Builds values from a message; `objects` allows it to import and construct classes."""

    def __init__(self, text: bytes, objects: bool) -> None:
        self.objects = objects
        self.graph: list[Any] = []
        """Tensors that require a gradient, in the order in which they occur."""
        self.buffers: list[bytes] = []
        try:
            message = json.loads(text)
            self.tree = dict(message["tree"])
            self.sizes = [int(one) for one in message["sizes"]]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise Corrupt(str(error)) from None
        if min(self.sizes, default=0) < 0 or sum(self.sizes) > MOST_BYTES:
            raise Corrupt("too much")

    def take(self, data: bytes) -> None:
        """The bytes that follow the JSON."""
        start = 0
        for size in self.sizes:
            self.buffers.append(data[start : start + size])
            start += size

    def value(self, key: str, default: Any = None) -> Any:
        try:
            return self._build(self.tree[key]) if key in self.tree else default
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
            if self.objects:
                raise
            raise Corrupt(str(error)) from None

    def _build(self, node: Any) -> Any:
        if not isinstance(node, dict):
            return node
        if "list" in node:
            return [self._build(one) for one in node["list"]]
        if "tuple" in node:
            return _named(tuple(self._build(one) for one in node["tuple"]), node.get("names"))
        if "set" in node:
            return {self._build(one) for one in node["set"]}
        if "dict" in node:
            return {self._build(key): self._build(one) for key, one in node["dict"]}
        if "array" in node:
            return self._array(node)
        if "tensor" in node:
            return self._tensor(node)
        if "make" in node and self.objects:
            return self._made(node)
        if "function" in node and self.objects:
            return _found(node["function"])
        return type(str(node["object"]), (), {})()

    def _array(self, node: dict[str, Any]) -> Any:
        dtype, shape = np.dtype(str(node["array"])), tuple(int(one) for one in node["shape"])
        if "buffer" not in node:
            return np.full(shape, None, dtype=object)
        if dtype.kind not in PLAIN_KINDS:
            raise ValueError(f"an array of {dtype}")
        array = np.frombuffer(self.buffers[node["buffer"]], dtype).reshape(shape).copy()
        if node.get("class") == "MaskedArray":
            return np.ma.masked_array(array)
        if "class" in node:
            return array.view(type(str(node["class"]), (ndarray,), {}))
        return array[()] if node.get("scalar") else array

    def _tensor(self, node: dict[str, Any]) -> Any:
        import torch

        dtype = getattr(torch, str(node["tensor"]))
        plain = torch.int16 if dtype == torch.bfloat16 else dtype
        data, shape = bytearray(self.buffers[node["buffer"]]), [int(one) for one in node["shape"]]
        made = torch.frombuffer(data, dtype=plain).view(dtype) if data else torch.empty(0, dtype=dtype)
        made = made.reshape(shape)
        if node.get("grad"):
            made.requires_grad_()
            self.graph.append(made)
        return made

    def _made(self, node: dict[str, Any]) -> Any:
        made = _found(node["make"])(**{key: self._build(one) for key, one in node["with"].items()})
        if "state" in node:
            state = {key: self._build(one) for key, one in node["state"].items()}
            floats = [one.dtype for one in state.values() if one.is_floating_point()]
            made = (made.to(floats[0]) if floats else made).train(node["training"])
            made.load_state_dict(state)
        return made


def _found(name: str) -> Any:
    """The object that `module:name` names."""
    module, _, inside = name.partition(":")
    return getattr(import_module(module), inside)


def _named(values: tuple[Any, ...], names: Iterable[str] | None) -> Any:
    return values if names is None else collections.namedtuple("Answer", names)(*values)

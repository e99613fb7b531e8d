"""The decoder's state as outputs of the encoder graph and as inputs and outputs of the step graph."""

import numpy as np

from regard.bundle.onnx_manifest import NEW
from regard.export.attention import AttendedNames
from regard.export.graph import FLOAT, INTEGER, Dimensions, Graph

State = dict[str, tuple[str, int, Dimensions]]
"""The state between steps, by name: its value, its type, and its axes without the first one (rows)."""


WRITTEN = "written"
"""The axis of a Transformer's key-value cache, which grows at each step."""


def write_state(graph: Graph, state: State) -> None:
    """The state as outputs of the encoder."""
    for name, (value, kind, dimensions) in state.items():
        graph.output(name, value, kind, ["batch", *dimensions])


def read_state(graph: Graph, state: State) -> None:
    """The state as inputs of a step; tensors that several rows may share have their own first axis."""
    for name, (_, kind, dimensions) in state.items():
        graph.input(name, kind, ["sentences" if is_shared(name) else "rows", *dimensions])


def is_shared(name: str) -> bool:
    """Whether the rows of a sentence may share one row of this tensor: they read it, and no step replaces it."""
    return name.startswith(("keys", "values"))


def begin(graph: Graph, rows: str, *, weighs: bool) -> State:
    """The number of the step, and given weights, which replace the computed ones unless they are negative."""
    state: State = {"position": (graph("Expand", graph.constant(0, np.int64), rows), INTEGER, [])}
    if weighs:
        shape = graph("Concat", rows, graph.integers(1, 1, 1), axis=0)
        given = graph("Expand", graph.constant(-1.0), shape)
        state["given_weights"] = given, FLOAT, ["given_layers", "given_heads", "given_source"]
    return state


def finish(graph: Graph, state: State, new: dict[str, str], attended: list[AttendedNames], *, trace: bool) -> None:
    """Add the outputs that every model has; weights and trace of attending layers are stacked along a layer axis."""
    new["position"] = graph("Add", "position", graph.constant(1, np.int64))
    layers = len(attended)
    stacked = {"weights": [one.weights for one in attended]} if attended else {}
    if trace and attended:
        stacked |= {name: [getattr(one, name) for one in attended] for name in ("query", "scores", "context")}
        if attended[0].center:
            stacked["center"] = [one.center for one in attended]
    for name, values in stacked.items():
        value = graph("Concat", *(graph("Unsqueeze", one, graph.integers(1)) for one in values), axis=1)
        axes = ["heads", "source"] if name in ("weights", "scores") else [f"{name}_width"]
        axes = [] if name == "center" else axes
        graph.output(name, value, FLOAT, ["rows", layers, *axes])
    for name, value in new.items():
        _, kind, dimensions = state[name]
        grown = [f"{NEW}{one}" if one == WRITTEN else one for one in dimensions]
        graph.output(f"{NEW}{name}", value, kind, ["rows", *grown])


def given_weights(graph: Graph, layers: int) -> list[str]:
    """`given_weights` as each layer takes them, [rows, head, source]; axes of size 1 are broadcast."""
    given = graph("Expand", "given_weights", graph.integers(1, layers, 1, 1))
    return [graph("Gather", given, graph.constant(layer, np.int64), axis=1) for layer in range(layers)]

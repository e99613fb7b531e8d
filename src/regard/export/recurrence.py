"""GRU, the GRU of 2014 and LSTM as ONNX nodes: one step for a decoder, all steps for an encoder."""

import numpy as np
import torch
from torch import nn

from regard.export.graph import BOOLEAN, Graph
from regard.models.rnn.cells import PARAMETERS

GATES = {"gru": (1, 0, 2), "gru-2014": (1, 0, 2), "lstm": (0, 3, 1, 2)}
"""torch's gates r z n and i f g o in ONNX's order: z r h and i o f c."""
CLOSED = 30.0
"""σ(-30) is 1e-13: a closed gate in float32."""


class Recurrence:
    """One direction of one layer: `step` in the equations of `models/rnn/cells.py`, `run` over a whole sequence."""

    def __init__(self, graph: Graph, kind: str, module: nn.Module, suffix: str, owner: str) -> None:
        self.graph, self.kind = graph, kind
        self._owner, self._suffix = owner, suffix
        self._W, self._U, self._b = (getattr(module, f"{one}_{suffix}") for one in PARAMETERS[:3])
        self._b_u = getattr(module, f"{PARAMETERS[3]}_{suffix}", None)
        self.units = self._U.size(1)

    def project(self, inputs: str) -> str:
        """W e + b of inputs [..., in], as `step` takes it."""
        return self.graph.linear(inputs, self._W, self._b)

    def step(self, graph: Graph, x: str, hidden: str, cell: str = "") -> tuple[str, str]:
        """The next state and, for an LSTM, the next cell; the nodes are added to `graph`."""
        if self.kind == "lstm":
            gates = graph("Add", x, graph.linear(hidden, self._U, self._b_u))
            i, f, g, o = graph.several("Split", 4, gates, axis=-1, num_outputs=4)
            kept = graph("Mul", graph("Sigmoid", f), cell)
            cell = graph("Add", kept, graph("Mul", graph("Sigmoid", i), graph("Tanh", g)))
            return graph("Mul", graph("Sigmoid", o), graph("Tanh", cell)), cell
        sizes = graph.integers(2 * self.units, self.units)
        x_rz, x_n = graph.several("Split", 2, x, sizes, axis=-1)
        if self.kind == "gru":
            u_rz, u_n = graph.several("Split", 2, graph.linear(hidden, self._U, self._b_u), sizes, axis=-1)
        else:
            u_rz = graph.linear(hidden, self._U[: 2 * self.units], name=self._name("weight_hh.rz"))
        gates = graph("Sigmoid", graph("Add", x_rz, u_rz))
        r, z = graph.several("Split", 2, gates, axis=-1, num_outputs=2)
        if self.kind == "gru":
            n = graph("Tanh", graph("Add", x_n, graph("Mul", r, u_n)))
            return graph("Add", n, graph("Mul", z, graph("Sub", hidden, n))), ""
        reset = graph.linear(graph("Mul", r, hidden), self._U[2 * self.units :], name=self._name("weight_hh.n"))
        n = graph("Tanh", graph("Add", x_n, reset))
        return graph("Add", hidden, graph("Mul", z, graph("Sub", n, hidden))), ""

    def run(self, inputs: str, padding: str = "") -> tuple[str, str]:
        """States [time, rows, units] and the last cell [rows, units], of inputs [time, rows, in].

        Where `padding` [time, rows, 1] is 1 an LSTM keeps its cell, so that the last one is that of the last word.
        """
        return self._scan(inputs, padding) if self.graph.weights.int8 else self._operator(inputs, padding)

    def _scan(self, inputs: str, padding: str) -> tuple[str, str]:
        """As a Scan over `step`: ONNX's own GRU and LSTM have no int8 version."""
        name = f"{self._owner}.{self._suffix}"
        hidden, cell, x, padded = (f"{name}.{one}" for one in ("hidden", "cell", "x", "padding"))
        zeros = self.graph.zeros(self.graph.size(inputs, 1), self.units)
        first, sequences = {hidden: zeros}, {x: self.project(inputs)}
        if self.kind == "lstm":
            first[cell] = zeros
        if padding:
            sequences[padded] = padding

        def build(graph: Graph) -> list[str]:
            new, after = self.step(graph, x, hidden, cell)
            if padding:
                after = graph("Where", graph("Cast", padded, to=BOOLEAN), cell, after)
            return [new, after][: len(first)]

        *last, states = self.graph.scan(name, build, first, sequences)
        return states, last[-1]

    def _operator(self, inputs: str, padding: str) -> tuple[str, str]:
        """As ONNX's own GRU or LSTM: torch's GRU resets after the product, that of 2014 before it.

        For an LSTM, one more input column marks padding: it closes the input gate and opens the forget gate.
        """
        graph = self.graph
        W, U, b = (self._in_order(one) for one in (self._W, self._U, self._b))
        both = torch.cat([b, torch.zeros_like(b) if self._b_u is None else self._in_order(self._b_u)])[None]
        W_name, U_name = (graph.parameter(one, self._name(name)) for one, name in ((W, "weight_ih"), (U, "weight_hh")))
        if padding:
            inputs = graph("Concat", inputs, padding, axis=2)
            W_name = graph("Concat", W_name, graph.constant(self._keeping(U, both)), axis=1)
        bias = graph.parameter(both, self._name("bias")) if self._b_u is not None else self._one_bias(b)
        W_name, U_name = (graph("Unsqueeze", one, graph.integers(0)) for one in (W_name, U_name))
        if self.kind == "lstm":
            states, _, cell = graph.several("LSTM", 3, inputs, W_name, U_name, bias, hidden_size=self.units)
            return graph("Squeeze", states, graph.integers(1)), graph("Squeeze", cell, graph.integers(0))
        after = int(self.kind == "gru")
        states = graph("GRU", inputs, W_name, U_name, bias, hidden_size=self.units, linear_before_reset=after)
        return graph("Squeeze", states, graph.integers(1)), ""

    def _one_bias(self, b: torch.Tensor) -> str:
        """ONNX expects two biases; the GRU of 2014 has one, so the second is zero."""
        graph = self.graph
        zeros = graph.constant(np.zeros((1, len(b))))
        return graph("Concat", graph.parameter(b[None], self._name("bias")), zeros, axis=1)

    def _name(self, kind: str) -> str:
        return f"{self._owner}.{kind}_{self._suffix}"

    def _in_order(self, parameter: torch.Tensor) -> torch.Tensor:
        gates = list(parameter.detach().chunk(len(GATES[self.kind])))
        if self.kind == "gru-2014":
            gates[1] = -gates[1]  # its z weighs the new state, ONNX's the old one: 1 - σ(x) = σ(-x)
        return torch.cat([gates[one] for one in GATES[self.kind]])

    def _keeping(self, U: torch.Tensor, bias: torch.Tensor) -> np.ndarray:
        """The weights of the padding column: large enough to outweigh bias and state."""
        most = float((U.abs().sum(dim=1) + bias.abs().view(2, -1).sum(dim=0)).max()) + CLOSED
        column = np.zeros((4, self.units, 1), dtype=np.float32)
        column[0], column[2] = -most, most  # i and f
        return column.reshape(-1, 1)

"""GRU, the GRU of 2014 and LSTM as ONNX nodes: gates in ONNX's order, and padding that leaves an LSTM's cell alone."""

import numpy as np
import torch
from torch import nn

from regard.export.graph import Graph
from regard.models.rnn.cells import PARAMETERS

GATES = {"gru": (1, 0, 2), "gru-2014": (1, 0, 2), "lstm": (0, 3, 1, 2)}
"""torch's gates r z n and i f g o in ONNX's order: z r h and i o f c."""
CLOSED = 30.0
"""σ(-30) is 1e-13: a gate that is shut for float32."""


class Recurrence:
    """One direction of one layer of a recurrence as an ONNX node; torch's GRU resets after the product, that of 2014
    before it.
    """

    def __init__(self, graph: Graph, kind: str, module: nn.Module, suffix: str, owner: str) -> None:
        self.graph, self.kind, self.units = graph, kind, getattr(module, f"weight_hh_{suffix}").size(1)
        self._owner, self._suffix = owner, suffix
        self._W, self._U, b = (self._in_order(module, one) for one in PARAMETERS[:3])
        self._bias = b[None] if kind == "gru-2014" else torch.cat([b, self._in_order(module, PARAMETERS[3])])[None]

    def run(self, inputs: str, hidden: str = "", cell: str = "", padding: str = "") -> tuple[str, str, str]:
        """States [time, rows, units], the last of them, and the last cell [rows, units], of inputs [time, rows, in].

        Where `padding` [time, rows, 1] is 1 an LSTM keeps its cell, so that the last one is that of the last word. An
        input column of its own does it, which shuts the input gate and opens the forget gate.
        """
        graph, name = self.graph, f"{self._owner}.{{}}_{self._suffix}".format
        W, U = graph.matrix(self._W, name("weight_ih")), graph.matrix(self._U, name("weight_hh"))
        if padding:
            inputs = graph("Concat", inputs, padding, axis=2)
            W = graph("Concat", W, graph.constant(self._keeping()), axis=1)
        W, U = (graph("Unsqueeze", one, graph.integers(0)) for one in (W, U))
        bias = graph.vector(self._bias, name("bias"))
        if self.kind == "gru-2014":  # ONNX's second bias
            bias = graph("Concat", bias, graph.constant(np.zeros(self._bias.shape)), axis=1)
        first = [graph("Unsqueeze", one, graph.integers(0)) if one else "" for one in (hidden, cell)]
        if self.kind != "lstm":
            given = [inputs, W, U, bias, "", first[0]] if hidden else [inputs, W, U, bias]
            found = graph.several("GRU", 2, *given, hidden_size=self.units, linear_before_reset=int(self.kind == "gru"))
        else:
            given = [inputs, W, U, bias, "", *first] if hidden else [inputs, W, U, bias]
            found = graph.several("LSTM", 3, *given, hidden_size=self.units)
        states = graph("Squeeze", found[0], graph.integers(1))
        ends = [graph("Squeeze", one, graph.integers(0)) for one in found[1:]]
        return states, ends[0], ends[-1]

    def _in_order(self, module: nn.Module, name: str) -> torch.Tensor:
        gates = list(getattr(module, f"{name}_{self._suffix}").detach().chunk(len(GATES[self.kind])))
        if self.kind == "gru-2014":
            gates[1] = -gates[1]  # its z weighs the new state, ONNX's the old one: 1 - σ(x) = σ(-x)
        return torch.cat([gates[one] for one in GATES[self.kind]])

    def _keeping(self) -> np.ndarray:
        """The weights of the padding column: larger than all that bias and state can bring against them."""
        most = float((self._U.abs().sum(dim=1) + self._bias.abs().view(2, -1).sum(dim=0)).max()) + CLOSED
        column = np.zeros((4, self.units, 1), dtype=np.float32)
        column[0], column[2] = -most, most  # i and f
        return column.reshape(-1, 1)

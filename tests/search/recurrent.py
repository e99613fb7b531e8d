"""A real little recurrent model with attention and random weights: the Stepper these tests search over."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

PAD, UNK, BOS, EOS = range(4)


@dataclass(frozen=True)
class RecurrentState:
    hidden: Tensor
    memory: Tensor
    real: Tensor

    def select(self, rows: Tensor) -> "RecurrentState":
        return RecurrentState(self.hidden[rows], self.memory[rows], self.real[rows])


@dataclass(frozen=True)
class RecurrentStep:
    logits: Tensor
    state: RecurrentState
    weights: Tensor | None


class Recurrent(nn.Module):
    """Dot attention over embedded source ids (PAD is masked), one GRU cell; counts the rows that it steps."""

    def __init__(self, vocabulary: int, seed: int, *, width: int = 8, sharpness: float = 3.0) -> None:
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.source = nn.Embedding(20, width)
            self.target = nn.Embedding(vocabulary, width)
            self.cell = nn.GRUCell(2 * width, width)
            self.readout = nn.Linear(width, vocabulary)
        with torch.no_grad():
            self.readout.weight *= sharpness
        self.requires_grad_(False)
        self.rows: list[int] = []

    def start(self, source: Tensor) -> RecurrentState:
        memory, real = self.source(source), source != PAD
        hidden = torch.tanh((memory * real[..., None]).sum(1) / real.sum(1, keepdim=True).clamp(min=1))
        return RecurrentState(hidden, memory, real)

    def step(self, tokens: Tensor, state: RecurrentState) -> RecurrentStep:
        self.rows.append(len(tokens))
        scores = torch.einsum("rw,rsw->rs", state.hidden, state.memory).masked_fill(~state.real, -torch.inf)
        weights = scores.softmax(-1)
        context = torch.einsum("rs,rsw->rw", weights, state.memory)
        hidden = self.cell(torch.cat([self.target(tokens), context], -1), state.hidden)
        state = RecurrentState(hidden, state.memory, state.real)
        return RecurrentStep(self.readout(hidden), state, weights[:, None, None])


def sources(count: int, seed: int = 0, longest: int = 5) -> Tensor:
    """Random source ids of differing lengths, padded."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(4, 20, (count, longest), generator=generator)
    lengths = torch.randint(1, longest + 1, (count, 1), generator=generator)
    return ids.masked_fill(torch.arange(longest) >= lengths, PAD)


def limits(*values: int) -> Tensor:
    return torch.tensor(values, dtype=torch.long)

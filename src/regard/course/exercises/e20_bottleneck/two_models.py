"""Exercise 20: two small models that copy numbers, one with attention and one with a fixed vector."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

PAD, BOS, EOS = 0, 2, 3
FIRST_WORD, WORDS = 4, 10
SHORTEST, LONGEST = 2, 9
EDGES = [4, 6, 8]
HIDDEN, ROWS, UPDATES = 32, 32, 350

Attend = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]


class Copier(nn.Module):
    """Encoder, decoder and readout; how it looks at the source is given from outside."""

    def __init__(self, attend: Attend | None) -> None:
        super().__init__()
        self.words = nn.Embedding(FIRST_WORD + WORDS, HIDDEN)
        self.encoder = nn.GRU(HIDDEN, HIDDEN, batch_first=True)
        self.W_s, self.W_h, self.v = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, 1)
        self.cell = nn.GRUCell(2 * HIDDEN, HIDDEN)
        self.readout = nn.Linear(2 * HIDDEN, FIRST_WORD + WORDS)
        self.attend = attend

    def look(self, query: Tensor, states: Tensor, real: Tensor) -> Tensor:
        if self.attend is not None:
            return self.attend(query, states, real)[0]
        scores: Tensor = self.v(torch.tanh(self.W_s(query)[:, None] + self.W_h(states)))[..., 0]
        weights = scores.masked_fill(~real, -torch.inf).softmax(dim=1)
        context: Tensor = (weights[..., None] * states).sum(dim=1)
        return context

    def forward(self, source: Tensor, targets: Tensor | None, longest: int) -> Tensor:
        """The logits of every step; without targets the decoder reads its own words."""
        real = source != PAD
        states, _ = self.encoder(self.words(source))
        state, words, steps = states.new_zeros(len(source), HIDDEN), torch.full_like(source[:, 0], BOS), []
        for step in range(longest):
            context = self.look(state, states, real)
            state = self.cell(torch.cat([self.words(words), context], dim=-1), state)
            steps.append(self.readout(torch.cat([state, context], dim=-1)))
            words = steps[-1].argmax(dim=-1) if targets is None else targets[:, step]
        return torch.stack(steps, dim=1)


additive: Attend | None = None
"""The attention that the model has itself."""


def numbers(rows: int, seed: int, longest: int = LONGEST) -> tuple[Tensor, Tensor]:
    """Padded sequences, and the same with EOS: what is to be written."""
    random = torch.Generator().manual_seed(seed)
    lengths = torch.randint(SHORTEST, longest + 1, (rows,), generator=random)
    source = torch.randint(FIRST_WORD, FIRST_WORD + WORDS, (rows, longest), generator=random)
    source[torch.arange(longest) >= lengths[:, None]] = PAD
    targets = torch.cat([source, torch.zeros_like(source[:, :1])], dim=1)
    targets[torch.arange(rows), lengths] = EOS
    return source, targets


def train(attend: Attend | None, updates: int = UPDATES) -> Copier:
    """A model that was taught to copy for `updates` updates."""
    torch.manual_seed(1)
    model = Copier(attend)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for update in range(updates):
        source, targets = numbers(ROWS, update)
        for group in optimizer.param_groups:
            group["lr"] = 1e-2 * (1 - 0.9 * update / updates)
        logits = model(source, targets, targets.shape[1])
        optimizer.zero_grad()
        loss: Any = cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model


def copied(model: Copier, rows: int = 300, longest: int = LONGEST) -> tuple[list[list[int]], list[list[int]]]:
    """What the model writes for unseen sequences, and what it should have written."""
    source, targets = numbers(rows, 10**6, longest)
    with torch.no_grad():
        written = model(source, None, targets.shape[1]).argmax(dim=-1)
    return [_until_the_end(row) for row in written.tolist()], [_until_the_end(row) for row in targets.tolist()]


def _until_the_end(row: list[int]) -> list[int]:
    return row[: row.index(EOS)] if EOS in row else row


def curves_of(attempt: object, attention: bool) -> tuple[list[list[int]], list[list[int]]]:
    """Train where the learner's code runs, with the model's attention or with the learner's fixed vector."""
    return copied(train(additive if attention else attempt.fixed_context))  # type: ignore[attr-defined]

"""Models that read padding, as in careless tutorials, and ours with the same interface: for packing.py."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.models.presets import preset
from regard.models.seq2seq import Seq2Seq
from regard.text.special import PAD

WIDTH, UNITS, SCORING = 64, 128, 64


@dataclass(frozen=True)
class Reader:
    """Whether a model keeps padding out of the recurrence and of attention, and its initial decoder state."""

    pack: bool
    mask: bool
    attend: bool = True
    start: bool = False
    """The decoder starts from the encoder's last state (of the padded end, without packing), not from zeros."""
    fixed: bool = False
    """Every batch is padded to the longest sentence of the corpus while training."""
    forget: bool = False
    """The mask is used in training and missing in translation."""


READERS: dict[str, Reader | None] = {
    "ours": None,
    "packing, mask": Reader(True, True),
    "no packing, mask": Reader(False, True),
    "packing, no mask": Reader(True, False),
    "no packing, no mask": Reader(False, False),
    "no packing, no mask, all padded alike": Reader(False, False, fixed=True),
    "no packing, no mask, last state": Reader(False, False, start=True),
    "fixed vector, packing": Reader(True, True, attend=False, start=True),
    "fixed vector, no packing": Reader(False, True, attend=False, start=True),
    "packing, mask only in training": Reader(True, True, forget=True),
}


@dataclass(frozen=True)
class Padded:
    """Source ids with their true lengths: the input of every model here."""

    source: Tensor
    source_lengths: Tensor


class Textbook(nn.Module):
    """A bidirectional LSTM, additive attention and an LSTM decoder, in single steps."""

    def __init__(self, reader: Reader, source: int, target: int) -> None:
        super().__init__()
        self.reader = reader
        self.source_embedding = nn.Embedding(source, WIDTH, padding_idx=PAD)
        self.target_embedding = nn.Embedding(target, WIDTH, padding_idx=PAD)
        self.encoder = nn.LSTM(WIDTH, UNITS, batch_first=True, bidirectional=True)
        self.keys, self.query = nn.Linear(2 * UNITS, SCORING), nn.Linear(UNITS, SCORING)
        self.energy = nn.Linear(SCORING, 1)
        self.decoder = nn.LSTMCell(WIDTH + 2 * UNITS, UNITS)
        self.first = nn.Linear(2 * UNITS, 2 * UNITS)
        self.output = nn.Linear(3 * UNITS, target)

    def start(self, batch: Padded) -> tuple[Tensor, ...]:
        embedded = self.source_embedding(batch.source)
        if self.reader.pack:
            packed = pack_padded_sequence(embedded, batch.source_lengths, batch_first=True, enforce_sorted=False)
            outputs, (hidden, _) = self.encoder(packed)
            states, _ = pad_packed_sequence(outputs, batch_first=True, total_length=batch.source.size(1))
        else:
            states, (hidden, _) = self.encoder(embedded)
        final = torch.cat([hidden[0], hidden[1]], dim=-1)
        s, c = (
            self.first(final).tanh().chunk(2, dim=-1)
            if self.reader.start
            else 2 * (final.new_zeros(len(final), UNITS),)
        )
        real = batch.source != PAD if self.reader.mask else torch.ones_like(batch.source, dtype=torch.bool)
        return states, self.keys(states), real, final, s, c

    def step(self, tokens: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...], Tensor]:
        states, keys, real, final, s, c = state
        scores = self.energy((keys + self.query(s)[:, None]).tanh())[..., 0]
        weights = scores.masked_fill(~real, -torch.inf).softmax(-1)
        context = (weights[:, None] @ states)[:, 0] if self.reader.attend else final
        s, c = self.decoder(torch.cat([self.target_embedding(tokens), context], dim=-1), (s, c))
        return self.output(torch.cat([context, s], dim=-1)), (states, keys, real, final, s, c), weights

    def logits(self, batch: Padded, tokens: Tensor) -> Tensor:
        state, found = self.start(batch), []
        for column in tokens.unbind(1):
            logits, state, _ = self.step(column, state)
            found.append(logits)
        return torch.stack(found, dim=1)


class Ours(nn.Module):
    """regard's own model of the same sizes, with the same three methods."""

    def __init__(self, source: int, target: int) -> None:
        super().__init__()
        self.model = Seq2Seq(preset("tutorial-lstm", dropout=0.0), source, target)

    def start(self, batch: Padded) -> Any:
        return self.model.start(batch)

    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any, Tensor]:
        step = self.model.step(tokens, state)
        assert step.weights is not None
        return step.logits, step.state, step.weights[:, 0, 0]

    def logits(self, batch: Padded, tokens: Tensor) -> Tensor:
        return self.model.logits(self.model(batch, tokens).features)

"""The attention decoder as tutorials write it, straight from the equations: the baseline of the benchmarks.

torch's own recurrence called once for every decoder step; keys projected and the output layer applied at every step;
gradients by autograd.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.attention.additive.module import BahdanauAttention
from regard.data.batch import Batch
from regard.lab.bench.workload import Work
from regard.models.rnn.decoder import RecurrentDecoder
from regard.models.rnn.encoder import RecurrentEncoder
from regard.models.seq2seq import Seq2Seq


class Textbook(nn.Module):
    """e = v·tanh(W_h h + W_s s), α = softmax(e), c = Σ α h, s = cell([y; c], s), logits = W [s; c; y]."""

    def __init__(self, work: Work) -> None:
        super().__init__()
        self.work = work
        recurrence = nn.GRU if work.cell == "gru" else nn.LSTM
        self.source = nn.Embedding(work.vocabulary, work.embedding, padding_idx=0)
        self.encoder = recurrence(work.embedding, work.units, batch_first=True, bidirectional=True)
        self.target = nn.Embedding(work.vocabulary, work.embedding, padding_idx=0)
        self.keys = nn.Linear(2 * work.units, work.width, bias=False)
        self.query = nn.Linear(work.units, work.width, bias=False)
        self.energy = nn.Linear(work.width, 1, bias=False)
        self.decoder = recurrence(work.embedding + 2 * work.units, work.units, batch_first=True)
        self.with_word = work.readout == "state-context-embedding"
        self.output = nn.Linear(3 * work.units + (work.embedding if self.with_word else 0), work.vocabulary)

    def read(
        self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch source state"]:
        """The encoder's states, padding packed away."""
        packed = pack_padded_sequence(self.source(source), lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.encoder(packed)[0], batch_first=True)
        return states

    def start(self, states: Float[Tensor, "batch source state"]) -> Tensor | tuple[Tensor, Tensor]:
        zero = states.new_zeros(1, len(states), self.work.units)
        return (zero, zero) if self.work.cell == "lstm" else zero

    def step(
        self,
        words: Int[Tensor, " batch"],
        hidden: Tensor | tuple[Tensor, Tensor],
        states: Float[Tensor, "batch source state"],
        real: Bool[Tensor, "batch source"],
    ) -> tuple[Float[Tensor, "batch vocabulary"], Tensor | tuple[Tensor, Tensor]]:
        """Logits of the next word, and the state after it."""
        query = (hidden[0] if isinstance(hidden, tuple) else hidden)[0]
        energy = self.energy(torch.tanh(self.keys(states) + self.query(query)[:, None]))[..., 0]
        weights = torch.softmax(energy.masked_fill(~real, float("-inf")), dim=-1)
        context = torch.bmm(weights[:, None].to(states.dtype), states)[:, 0]
        word = self.target(words)
        state, hidden = self.decoder(torch.cat([word, context], dim=-1)[:, None], hidden)
        features = [state[:, 0], context, word] if self.with_word else [state[:, 0], context]
        return self.output(torch.cat(features, dim=-1)), hidden

    def forward(self, batch: Batch, step: Callable[..., Any] | None = None) -> Float[Tensor, ""]:
        """The loss summed over all real target words, teacher forced; `step` replaces this module's own."""
        step = step or self.step
        states = self.read(batch.source, batch.source_lengths)
        hidden = self.start(states)
        logits = []
        for t in range(batch.target_in.size(1)):
            now, hidden = step(batch.target_in[:, t], hidden, states, batch.source_real)
            logits.append(now)
        flat = torch.stack(logits, dim=1).flatten(0, 1)
        return F.cross_entropy(
            flat.to(self.output.weight.dtype), batch.target_out.flatten(), ignore_index=0, reduction="sum"
        )


def twins(textbook: Textbook, model: Seq2Seq) -> list[tuple[Tensor, Tensor]]:
    """Our parameters, each with the textbook's parameter of the same meaning."""
    encoder, decoder = model.encoder, model.decoder
    assert isinstance(encoder, RecurrentEncoder)
    assert isinstance(decoder, RecurrentDecoder)
    attention = decoder.attention
    assert isinstance(attention, BahdanauAttention)
    return [
        (encoder.embedding.weight, textbook.source.weight),
        (decoder.embedding.weight, textbook.target.weight),
        (attention.W_h, textbook.keys.weight),
        (attention.W_s, textbook.query.weight),
        (attention.v, textbook.energy.weight),
        (decoder.readout.output.weight, textbook.output.weight),
        (decoder.readout.output.bias, textbook.output.bias),
        *zip(encoder.recurrence.parameters(), textbook.encoder.parameters(), strict=True),
        *zip(decoder.recurrence.parameters(), textbook.decoder.parameters(), strict=True),
    ]


def ours_with(textbook: Textbook) -> Seq2Seq:
    work = textbook.work
    model = Seq2Seq(work.config, work.vocabulary, work.vocabulary).to(textbook.output.weight)
    with torch.no_grad():
        for own, other in twins(textbook, model):
            own.copy_(other.view_as(own))
    return model


def disagreement(textbook: Textbook, model: Seq2Seq, losses: tuple[Tensor, Tensor]) -> float:
    """The largest relative difference of the losses and of all computed gradients; NaN if any of them is NaN."""
    pairs = [(losses[0].detach(), losses[1].detach())]
    for own, other in twins(textbook, model):
        assert own.grad is not None
        assert other.grad is not None
        pairs.append((other.grad, own.grad.view_as(other)))
    return largest_difference(pairs)


def largest_difference(pairs: Iterable[tuple[Tensor, Tensor]]) -> float:
    """The largest difference of all pairs, relative to the first's largest number; NaN if any difference is NaN."""
    apart = [(a - b).abs().max() / a.abs().max().clamp(min=torch.finfo(a.dtype).tiny) for a, b in pairs]
    return float(torch.stack([one.double() for one in apart]).max())

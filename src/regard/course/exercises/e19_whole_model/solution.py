"""19 · The whole model: a solution."""

# mypy: disable-error-code="no-any-return"

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.course.exercises.e19_whole_model.model_parts import Parts

PAD, BOS, EOS = 0, 2, 3


def encode(
    parts: Parts, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]
) -> tuple[Float[Tensor, "batch source both"], Float[Tensor, "batch hidden"]]:
    """The states of both directions (zeros at the padding), and the decoder's first state."""
    embedded = parts.source_words(source)
    packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
    outputs, hidden = parts.encoder(packed)
    states, _ = pad_packed_sequence(outputs, batch_first=True, total_length=source.shape[1])
    return states, torch.tanh(parts.bridge(hidden[1]))


def step(
    parts: Parts,
    words: Int[Tensor, " batch"],
    state: Float[Tensor, "batch hidden"],
    states: Float[Tensor, "batch source both"],
    real: Bool[Tensor, "batch source"],
) -> tuple[Float[Tensor, "batch target"], Float[Tensor, "batch hidden"], Float[Tensor, "batch source"]]:
    """One step of the decoder: logits, new state, weights."""
    scores = parts.v(torch.tanh(parts.W_s(state)[:, None] + parts.W_h(states))).squeeze(-1)
    weights = scores.masked_fill(~real, -torch.inf).softmax(dim=-1)
    context = (weights[:, :, None] * states).sum(dim=1)
    after = parts.cell(torch.cat([parts.target_words(words), context], dim=-1), state)
    logits = parts.readout(torch.cat([after, context], dim=-1))
    return logits, after, weights


def translate(
    parts: Parts, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"], longest: int
) -> list[list[int]]:
    """The most likely word at each step, until EOS (left out) or `longest` words."""
    states, state = encode(parts, source, lengths)
    real = torch.arange(source.shape[1]) < lengths[:, None]
    words = torch.full_like(source[:, 0], BOS)
    written = []
    for _ in range(longest):
        logits, state, _ = step(parts, words, state, states, real)
        words = logits.argmax(dim=-1)
        written.append(words)
    rows = torch.stack(written, dim=1).tolist()
    return [row[: row.index(EOS)] if EOS in row else row for row in rows]

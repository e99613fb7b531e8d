"""Exercise 19: other correct ways."""

# mypy: disable-error-code="no-any-return"

import torch
from torch import Tensor

from regard.course.exercises.e19_whole_model.model_parts import BOS, EOS, Parts


def encode_one_by_one(parts: Parts, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    embedded = parts.source_words(source)
    states = embedded.new_zeros(*source.shape, 2 * parts.hidden)
    firsts = []
    for row, length in enumerate(lengths.tolist()):
        alone, _ = parts.encoder(embedded[row : row + 1, :length])
        states[row, :length] = alone[0]
        firsts.append(alone[0, 0, parts.hidden :])
    return states, parts.bridge(torch.stack(firsts)).tanh()


def step_with_products(
    parts: Parts, words: Tensor, state: Tensor, states: Tensor, real: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    hidden = torch.tanh(parts.W_s(state).unsqueeze(1) + parts.W_h(states))
    scores = torch.where(real, (hidden @ parts.v.weight.T)[..., 0], torch.tensor(float("-inf"), dtype=state.dtype))
    weights = torch.softmax(scores, dim=1)
    context = torch.bmm(weights.unsqueeze(1), states).squeeze(1)
    state = parts.cell(torch.cat((parts.target_words(words), context), 1), state)
    return parts.readout(torch.cat((state, context), 1)), state, weights


def translate_one_by_one(parts: Parts, source: Tensor, lengths: Tensor, longest: int) -> list[list[int]]:
    found = []
    for row, length in zip(source, lengths.tolist(), strict=True):
        states, state = encode_one_by_one(parts, row[None, :length], torch.tensor([length]))
        real = torch.ones(1, length, dtype=torch.bool)
        word = BOS
        written: list[int] = []
        while len(written) < longest:
            logits, state, _ = step_with_products(parts, torch.tensor([word]), state, states, real)
            word = int(logits[0].argmax())
            if word == EOS:
                break
            written.append(word)
        found.append(written)
    return found

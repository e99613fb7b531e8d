"""Training on its own words: which steps read the true word, and which the decoder's best guess."""

import pytest
import torch
from torch import Tensor

from regard.models import RecurrentConfig, Seq2Seq
from regard.search import greedy_search

from .zoo import EVERY, RECURRENT, SOURCE, TOKENS, Config, build, recurrent, sentences, shared, transformer

free_running = {**{name: one for name, one in EVERY.items() if name == "preset bahdanau"}, **RECURRENT}
some = dict(list(free_running.items())[::4])
every = pytest.mark.parametrize("config", some.values(), ids=some.keys())
EXACT = {"atol": 1e-10, "rtol": 1e-10}


def coins(*forced: bool) -> Tensor:
    return torch.tensor(forced)


NEVER, ALWAYS = coins(*[False] * 4), coins(*[True] * 4)


def by_hand(model: Seq2Seq, forced: Tensor) -> tuple[Tensor, Tensor | None]:
    """The same with `step`, one word after the other."""
    state, logits, weights, words = model.start(sentences(*SOURCE)), [], [], TOKENS[:, 0]
    for t in range(TOKENS.size(1)):
        if t:
            words = TOKENS[:, t] if forced[t] else logits[-1].argmax(-1)
        step = model.step(words, state)
        state = step.state
        logits.append(step.logits)
        weights.append(step.weights)
    return torch.stack(logits, dim=1), None if weights[0] is None else torch.stack(weights, dim=3)


@every
@pytest.mark.parametrize(
    "forced", [coins(*[False] * 4), coins(True, True, False, True), coins(True, False, False, True)]
)
def test_own_words_equal_those_of_single_steps(config: Config, forced: Tensor) -> None:
    model = shared(config)
    decoded = model(sentences(*SOURCE), TOKENS, forced=forced, want_weights=True)
    logits, weights = by_hand(model, forced)
    torch.testing.assert_close(model.logits(decoded.features), logits, **EXACT)
    if weights is not None:
        torch.testing.assert_close(decoded.weights, weights, **EXACT)


@every
def test_all_forced_is_teacher_forcing(config: Config) -> None:
    model = shared(config)
    plain, forced = model(sentences(*SOURCE), TOKENS), model(sentences(*SOURCE), TOKENS, forced=ALWAYS)
    assert torch.equal(plain.features, forced.features)


@every
def test_the_first_word_is_always_the_given_one(config: Config) -> None:
    model = shared(config)
    one, other = (model(sentences(*SOURCE), TOKENS, forced=coins(first, True, False, True)) for first in (True, False))
    assert torch.equal(one.features, other.features)


@every
def test_never_forced_is_greedy_search(config: Config) -> None:
    """Up to EOS, where search ends, and except PAD and BOS, which search never writes."""
    model = build(config)
    with torch.no_grad():
        model.decoder.readout.output.bias[[0, 2, 3]] -= 1e3
    decoded = model(sentences(*SOURCE), TOKENS, forced=NEVER)
    chosen = model.logits(decoded.features).argmax(-1)
    for row, found in enumerate(greedy_search(model, sentences(*SOURCE), torch.tensor([4, 4, 4]))):
        assert found.tokens == tuple(chosen[row].tolist())


@every
def test_gradients_flow_through_own_words(config: Config) -> None:
    model = build(config)
    model.logits(model(sentences(*SOURCE), TOKENS, forced=coins(True, False, True, False)).features).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name


def test_guesses_are_made_without_the_output_dropout() -> None:
    """In training too the guess is the model's best word, not what dropout leaves of it."""
    config: RecurrentConfig = recurrent(dropout=0.9)
    model = build(config).train()
    forced = coins(True, False, False, False)
    features = [model(sentences(*SOURCE), TOKENS, forced=forced).features for _ in range(3)]
    assert torch.equal(features[0], features[1])
    assert torch.equal(features[0], features[2])


def test_the_transformer_refuses_to_read_its_own_words() -> None:
    model = shared(transformer())
    with pytest.raises(
        ValueError, match=r"cannot read its own words .* set \[train\] teacher_forcing to 1, or use an rnn"
    ):
        model(sentences(*SOURCE), TOKENS, forced=coins(True, True, False, True))
    plain, forced = (model(sentences(*SOURCE), TOKENS, forced=one) for one in (None, coins(False, True, True, True)))
    assert torch.equal(plain.features, forced.features)

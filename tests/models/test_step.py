"""One decoder step: given weights, the trace, and invalid weights."""

import pytest
import torch

from regard.attention.masking import masked_softmax
from regard.models import RecurrentConfig, Seq2Seq, Step
from regard.models.step import State, given_weights
from regard.search import Stepper

from .zoo import BOS, MECHANISMS, SOURCE, TOKENS, Config, recurrent, sentences, shared, transformer

attending = {name: config for name, config in MECHANISMS.items() if getattr(config, "score", "") != "none"}
every = pytest.mark.parametrize("config", attending.values(), ids=attending.keys())
EXACT = {"atol": 1e-12, "rtol": 1e-12}


def second_step(model: Seq2Seq, **options: object) -> Step:
    state = model.step(TOKENS[:, 0], model.start(sentences(*SOURCE))).state
    return model.step(TOKENS[:, 1], state, **options)  # type: ignore[arg-type]


@every
def test_given_weights_are_used(config: Config) -> None:
    model = shared(config)
    own = second_step(model)
    assert own.weights is not None
    again = second_step(model, weights=own.weights)
    torch.testing.assert_close(again.logits, own.logits, **EXACT)
    first_word = torch.zeros_like(own.weights)
    first_word[..., 0] = 1.0
    edited = second_step(model, weights=first_word)
    assert edited.weights is not None
    assert torch.equal(edited.weights, first_word)
    assert not torch.allclose(edited.logits, own.logits)


@every
def test_given_weights_affect_later_steps(config: Config) -> None:
    """An edited row changes later steps if the context enters the recurrence or the cache."""
    model = shared(config)
    own = second_step(model)
    assert own.weights is not None
    edited = second_step(model, weights=own.weights.roll(1, dims=-1))
    after, changed = (model.step(TOKENS[:, 2], step.state).logits for step in (own, edited))
    returns = not isinstance(config, RecurrentConfig) or config.placement == "input" or config.input_feeding
    assert torch.allclose(after, changed) is not returns


@every
def test_the_trace_holds_the_tensors_of_the_step(config: Config) -> None:
    model = shared(config)
    plain, traced = second_step(model), second_step(model, trace=True)
    assert plain.trace == ()
    assert torch.equal(plain.logits, traced.logits)
    assert traced.weights is not None
    assert len(traced.trace) == traced.weights.size(1)
    for layer, trace in enumerate(traced.trace):
        assert trace is not None
        weights = masked_softmax(trace.scores, trace.mask)
        if trace.gaussian is not None:
            weights = weights * trace.gaussian
        torch.testing.assert_close(weights[:, :, 0], traced.weights[:, layer], **EXACT)


@pytest.mark.parametrize("placement", ["input", "output"])
def test_the_query_is_the_state_before_or_after_the_recurrence(placement: str) -> None:
    """Bahdanau's query is s_{t-1}, Luong's s_t."""
    model = shared(recurrent(placement=placement, decoder_layers=2))
    state = model.start(sentences(*SOURCE))
    step = model.step(TOKENS[:, 0], state, trace=True)
    requested = state.hidden[-1] if placement == "input" else step.state.hidden[-1]
    assert step.trace[0] is not None
    assert torch.equal(step.trace[0].query[:, 0], requested)


def test_a_model_without_attention_has_no_trace_and_takes_no_weights() -> None:
    model = shared(recurrent(score="none"))
    step = second_step(model, trace=True)
    assert step.weights is None
    assert step.trace == (None,)
    with pytest.raises(ValueError, match="NoAttention has no weights"):
        second_step(model, weights=torch.ones(3, 1, 1, 5, dtype=torch.float64))


@pytest.mark.parametrize(("config", "layers"), [(recurrent(), 1), (transformer(decoder_layers=3), 3)])
def test_weights_for_another_number_of_layers_are_refused(config: Config, layers: int) -> None:
    heads = 1 if layers == 1 else 2
    with pytest.raises(ValueError, match=rf"2 layers, but this model attends in {layers}; give \[rows, layer, head"):
        second_step(shared(config), weights=torch.ones(3, 2, heads, 5, dtype=torch.float64))


def test_no_given_weights_means_none_for_every_layer() -> None:
    assert given_weights(None, 3) == [None, None, None]


@every
def test_a_model_is_a_stepper_and_its_state_a_state(config: Config) -> None:
    model = shared(config)
    assert isinstance(model, Stepper)
    assert isinstance(model.start(sentences(*SOURCE)), State)


def test_a_state_is_not_changed_by_stepping_from_it() -> None:
    """The same state may be stepped from twice, as a search tree does."""
    for config in (recurrent(), recurrent(cell="lstm", readout="attentional", input_feeding=True), transformer()):
        model = shared(config)
        state = model.start(sentences(SOURCE[0]))
        one, word = model.step(torch.tensor([BOS]), state), torch.tensor([5])
        first = model.step(word, one.state).logits
        model.step(torch.tensor([9]), one.state)
        assert torch.equal(model.step(word, one.state).logits, first)

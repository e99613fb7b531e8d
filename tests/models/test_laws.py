"""The laws of every model: padding, batch, step, causality, reordering, gradients."""

from itertools import combinations, product

import pytest
import torch
from torch import Tensor

from regard.models import Decoded, Seq2Seq
from regard.search import beam_search, greedy_search

from .zoo import EVERY, HALF, MECHANISMS, SECOND_HALF, SOURCE, TOKENS, Config, Sentences, build, sentences, shared

every = pytest.mark.parametrize(
    "config",
    [
        *(pytest.param(config, id=name) for name, config in EVERY.items()),
        *(pytest.param(config, id=name, marks=pytest.mark.long) for name, config in SECOND_HALF.items()),
    ],
)
mechanisms = pytest.mark.parametrize("config", MECHANISMS.values(), ids=MECHANISMS.keys())
EXACT = {"atol": 1e-10, "rtol": 1e-10}
LIMITS = torch.tensor([4, 4, 4])


def decode(model: Seq2Seq, source: Sentences, tokens: Tensor) -> tuple[Tensor, Tensor | None]:
    """Logits and weights of all steps."""
    decoded: Decoded = model(source, tokens, want_weights=True)
    return model.logits(decoded.features), decoded.weights


def step_by_step(model: Seq2Seq, source: Sentences, tokens: Tensor) -> tuple[Tensor, Tensor | None]:
    state, logits, weights = model.start(source), [], []
    for words in tokens.unbind(1):
        step = model.step(words, state)
        state = step.state
        logits.append(step.logits)
        weights.append(step.weights)
    seen = None if weights[0] is None else torch.stack(weights, dim=3)
    return torch.stack(logits, dim=1), seen


def same(one: tuple[Tensor, Tensor | None], other: tuple[Tensor, Tensor | None]) -> None:
    torch.testing.assert_close(one[0], other[0], **EXACT)
    assert (one[1] is None) == (other[1] is None)
    if one[1] is not None:
        torch.testing.assert_close(one[1], other[1], **EXACT)


def test_every_possible_pair_of_choices_is_among_the_models() -> None:
    def impossible(chosen: dict[str, object]) -> bool:
        return (
            (chosen.get("score") == "none" and chosen.get("window", "global") != "global")
            or (chosen.get("input_feeding", False) is True and chosen.get("readout", "attentional") != "attentional")
            or (chosen.get("initial") == "backward" and chosen.get("bidirectional") is False)
            or {"encoder_layers", "decoder_layers"} <= set(chosen)
        )

    values = {key: {choices[key] for choices in HALF} for key in HALF[0]}
    for first, second in combinations(values, 2):
        met = {(choices[first], choices[second]) for choices in HALF}
        for pair in product(values[first], values[second]):
            chosen = dict(zip((first, second), pair, strict=True))
            assert pair in met or impossible(chosen), f"no model has {chosen}"


@every
def test_padding_never_changes_the_answer(config: Config) -> None:
    """Neither its length nor its content."""
    model = shared(config)
    logits, weights = decode(model, sentences(*SOURCE), TOKENS)
    wide_logits, wide_weights = decode(model, sentences(*SOURCE, width=8, seed=1), TOKENS)
    longest = max(map(len, SOURCE))
    same((logits, weights), (wide_logits, None if wide_weights is None else wide_weights[..., :longest]))
    if wide_weights is not None:
        for row, words in enumerate(SOURCE):
            assert not wide_weights[row, ..., len(words) :].any()


@every
def test_a_batch_is_its_sentences_one_by_one(config: Config) -> None:
    model = shared(config)
    logits, weights = decode(model, sentences(*SOURCE), TOKENS)
    for row, words in enumerate(SOURCE):
        alone = decode(model, sentences(words), TOKENS[row : row + 1])
        seen = None if weights is None else weights[row : row + 1, ..., : len(words)]
        same((logits[row : row + 1], seen), alone)


@every
def test_steps_are_the_sequence(config: Config) -> None:
    model = shared(config)
    same(step_by_step(model, sentences(*SOURCE), TOKENS), decode(model, sentences(*SOURCE), TOKENS))


@mechanisms
def test_later_words_do_not_change_earlier_steps(config: Config) -> None:
    model = shared(config)
    changed = TOKENS.clone()
    changed[:, 2:] = torch.tensor([[4, 4], [9, 10], [7, 5]])
    logits, _ = decode(model, sentences(*SOURCE), TOKENS)
    others, _ = decode(model, sentences(*SOURCE), changed)
    torch.testing.assert_close(logits[:, :2], others[:, :2], **EXACT)
    assert not torch.allclose(logits[:, 2], others[:, 2])


@every
def test_selected_rows_continue_like_a_batch_of_those_rows(config: Config) -> None:
    model, rows = shared(config), torch.tensor([2, 0, 0, 1])
    state = model.start(sentences(*SOURCE))
    moved = model.start(sentences(*[SOURCE[row] for row in rows.tolist()], width=5))
    for words in TOKENS[:, :2].unbind(1):
        state, moved = model.step(words, state).state, model.step(words[rows], moved).state
    words = torch.tensor([4, 5, 6, 7])
    one, other = model.step(words, state.select(rows)), model.step(words, moved)
    same((one.logits, one.weights), (other.logits, other.weights))


@mechanisms
def test_whole_sequences_continue_from_selected_rows(config: Config) -> None:
    model, rows = shared(config), torch.tensor([2, 0, 0, 1])
    state, moved = (model.start(sentences(*SOURCE, width=5)) for _ in range(2))
    decoded = model.decoder(TOKENS[rows], state.select(rows)).features
    torch.testing.assert_close(decoded, model.decoder(TOKENS, moved).features[rows], **EXACT)


@mechanisms
def test_beam_one_is_greedy(config: Config) -> None:
    model = shared(config)
    beams = beam_search(model, sentences(*SOURCE), LIMITS, beam=1)
    for greedy, (beam,) in zip(greedy_search(model, sentences(*SOURCE), LIMITS), beams, strict=True):
        assert (beam.tokens, beam.score, beam.log_probabilities) == (
            greedy.tokens,
            greedy.score,
            greedy.log_probabilities,
        )
        assert (beam.weights is None) == (greedy.weights is None)
        assert beam.weights is None or torch.equal(beam.weights, greedy.weights)


@mechanisms
def test_scores_of_search_equal_forced_decoding(config: Config) -> None:
    """Forced decoding of a beam's hypothesis gives the scores and weights of the search."""
    model = shared(config)
    for words, (found, *_) in zip(SOURCE, beam_search(model, sentences(*SOURCE), LIMITS, beam=2), strict=True):
        logits, weights = decode(model, sentences(words), torch.tensor([[2, *found.tokens[:-1]]]))
        chosen = logits.log_softmax(-1)[0, range(len(found.tokens)), found.tokens]
        torch.testing.assert_close(chosen, torch.tensor(found.log_probabilities, dtype=torch.float64), **EXACT)
        if weights is not None and found.weights is not None:
            torch.testing.assert_close(weights[0], found.weights[..., : len(words)], **EXACT)


@every
def test_gradients_are_right_and_reach_every_parameter(config: Config) -> None:
    """The directional derivative along a random direction equals the finite difference; no gradient is zero."""
    model, source = build(config), sentences(*SOURCE)
    generator = torch.Generator().manual_seed(5)
    shares = torch.randn(3, 4, 11, dtype=torch.float64, generator=generator)

    def loss() -> Tensor:
        return (model.logits(model(source, TOKENS).features) * shares).sum()

    loss().backward()
    slope = 0.0
    directions = {}
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name
        directions[name] = torch.randn(parameter.shape, dtype=torch.float64, generator=generator)
        slope += float((parameter.grad * directions[name]).sum())

    def moved(by: float) -> float:
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.add_(directions[name], alpha=by)
            return float(loss())

    tiny = 1e-6
    rise = (moved(tiny) - moved(-2 * tiny)) / (2 * tiny)
    assert rise == pytest.approx(slope, rel=2e-6, abs=2e-6)


@every
def test_a_blank_sentence_gives_finite_values_and_does_not_affect_others(config: Config) -> None:
    """Nothing is NaN, forwards or backwards, and its result does not depend on the other rows of the batch."""
    model = shared(config)
    logits, weights = decode(model, sentences(SOURCE[0], [], SOURCE[2], seed=3), TOKENS)
    assert logits.isfinite().all()
    for gradient in torch.autograd.grad(logits.sum(), list(model.parameters()), allow_unused=True):
        assert gradient is None or gradient.isfinite().all()
    alone, nowhere = decode(model, sentences([]), TOKENS[1:2])
    torch.testing.assert_close(logits[1:2], alone, **EXACT)
    if weights is not None and nowhere is not None:
        assert not weights[1].any()
        assert nowhere.shape[-1] == 0
    same(step_by_step(model, sentences([]), TOKENS[1:2]), (alone, nowhere))


@mechanisms
def test_a_sentence_of_one_word(config: Config) -> None:
    model = shared(config)
    logits, weights = decode(model, sentences([7]), TOKENS[:1])
    assert logits.isfinite().all()
    same(step_by_step(model, sentences([7]), TOKENS[:1]), (logits, weights))
    if weights is not None and getattr(config, "window", "global") != "local-p":
        torch.testing.assert_close(weights, torch.ones_like(weights))

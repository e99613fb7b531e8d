"""Properties of all mechanisms besides the laws: dropout, dtypes, caches, empty sources, clear errors."""

import pytest
import torch

from regard.attention import Attention, Memory, lengths_to_mask

from .conftest import QUERY, Example

SCORES = ["additive", "dot", "general", "concat", "scaled-dot", "multi-head"]


@pytest.mark.parametrize("score", SCORES)
def test_dropout_changes_the_context_but_not_the_reported_weights(score: str, example: Example) -> None:
    module = example.build(score)
    module.dropout = 0.5
    memory = module.prepare(example.states, example.real)
    module.train()
    first, second = module(example.query, memory), module(example.query, memory)
    assert torch.equal(first.weights, second.weights)
    assert not torch.equal(first.context, second.context)
    module.eval()
    assert torch.equal(module(example.query, memory).context, module(example.query, memory).context)
    assert torch.equal(module(example.query, memory).weights, first.weights)


@pytest.mark.parametrize("window", ["global", "local-m", "local-p"])
@pytest.mark.parametrize("score", SCORES)
def test_half_precision_and_autocast_run(score: str, window: str, example: Example) -> None:
    module = example.build(score, window).to(torch.bfloat16)
    memory = module.prepare(example.states.bfloat16(), example.real)
    seen = module(example.query.bfloat16(), memory)
    assert seen.context.dtype == seen.weights.dtype == torch.bfloat16
    assert seen.context.isfinite().all()
    module = module.float()
    with torch.autocast("cpu", torch.bfloat16):
        seen = module(example.query.float(), module.prepare(example.states.float(), example.real))
    assert seen.context.isfinite().all()


@pytest.mark.parametrize("window", ["global", "local-m", "local-p"])
@pytest.mark.parametrize("score", SCORES)
def test_values_in_padding_do_not_affect_gradients(score: str, window: str, example: Example) -> None:
    module = example.build(score, window)
    states = torch.where(example.real[..., None], example.states, float("nan")).requires_grad_()
    query = example.query.clone().requires_grad_()
    seen = module(query, module.prepare(states, example.real))
    (seen.context.sum() + (seen.weights**2).sum()).backward()
    for tensor in (states, query, *module.parameters()):
        assert tensor.grad.isfinite().all()
    assert not states.grad[~example.real].any()


@pytest.mark.parametrize("score", [*SCORES, "none"])
def test_a_source_of_no_positions_gives_zeros(score: str) -> None:
    example = Example(torch.ones(2, 3, QUERY), torch.ones(2, 0, QUERY), torch.ones(2, 0, dtype=torch.bool))
    module = example.build(score)
    seen = module(example.query, module.prepare(example.states, example.real))
    assert seen.context.shape == (2, 3, QUERY)
    assert not seen.context.any()


@pytest.mark.parametrize("score", [*SCORES, "none"])
def test_a_query_of_another_width_or_batch_is_refused(score: str, example: Example) -> None:
    module = example.build(score)
    memory = module.prepare(example.states, example.real)
    name = type(module).__name__
    with pytest.raises(ValueError, match=f"{name}: the query is 5 wide, but query_width is 6"):
        module(example.query[..., :5], memory)
    with pytest.raises(ValueError, match=f"{name}: a batch of 4 queries for a memory of 1 sentences; memory.select"):
        module(example.query, memory.select(torch.tensor([0])))


@pytest.mark.parametrize("score", SCORES)
def test_given_weights_of_the_wrong_shape_are_refused(score: str, example: Example) -> None:
    module = example.build(score)
    memory = module.prepare(example.states, example.real)
    with pytest.raises(
        ValueError, match=r"given weights have shape \[4, 3, 5, 6\], but \[batch, head, target, source\]"
    ):
        module(example.query, memory, weights=torch.ones(4, 3, 5, 6, dtype=torch.float64))


@pytest.mark.parametrize("score", [*SCORES, "none"])
def test_modules_keep_no_state(score: str, example: Example) -> None:
    module = example.build(score)
    before = set(vars(module))
    module(example.query, module.prepare(example.states, example.real), trace=True)
    assert set(vars(module)) == before
    assert isinstance(module, Attention)


def test_memory_extends_along_the_source_and_selects_along_the_batch(example: Example) -> None:
    module = example.build("additive")
    whole = module.prepare(example.states, example.real)
    parts = [module.prepare(example.states[:, cut], example.real[:, cut]) for cut in (slice(0, 2), slice(2, 6))]
    joined = parts[0].extend(parts[1])
    for name in ("keys", "values", "real"):
        assert torch.allclose(getattr(joined, name).double(), getattr(whole, name).double())
    rows = torch.tensor([3, 1, 1])
    chosen = whole.select(rows)
    assert isinstance(chosen, Memory)
    for name in ("keys", "values", "real"):
        assert torch.equal(getattr(chosen, name), getattr(whole, name)[rows])


def test_attention_learns_to_point() -> None:
    """Every score can learn to attend to the position whose mark the query holds."""
    torch.manual_seed(0)
    marks = torch.eye(6)
    for score in SCORES:
        example = Example(marks[None], marks[None], lengths_to_mask(torch.tensor([6])))
        module = example.build(score)
        scale = torch.nn.Parameter(torch.ones(()))
        optimizer = torch.optim.Adam([*module.parameters(), scale], lr=0.1)
        for _ in range(200):
            weights = module(example.query * scale, module.prepare(example.states, example.real)).weights
            loss = -weights.mean(dim=1)[0].diagonal().clamp(min=1e-9).log().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        assert loss.item() < 0.1, score

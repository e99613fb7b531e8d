"""`check_attention`: our mechanisms pass every law, and every law catches a module that breaks it."""

import dataclasses
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from regard.attention import SCORES, WINDOWS, Attended, BahdanauAttention, Memory, build_attention
from regard.testing import LawReport, check_attention
from regard.testing.laws import LAWS

COMBINATIONS = [(score, window) for score in SCORES for window in WINDOWS if score != "none" or window == "global"]


@pytest.mark.parametrize(("score", "window"), COMBINATIONS)
def test_our_mechanisms_keep_every_law(score: str, window: str) -> None:
    torch.manual_seed(2)
    heads = 2 if score == "multi-head" else 1
    report = check_attention(
        build_attention(score, window, query_width=4, state_width=4, width=4, heads=heads, reach=2)
    )
    report.raise_if_broken()
    skipped = {finding.law for finding in report.findings if finding.verdict == "skipped"}
    if score == "none":
        assert skipped == {"permutation", "distribution", "mixture", "given", "trace"}
    else:
        assert skipped == (set() if window == "global" else {"permutation"})


@pytest.mark.parametrize("score", ["additive", "general", "concat", "multi-head", "none"])
def test_unequal_widths_and_other_seeds_too(score: str) -> None:
    for seed in (1, 2):
        module = build_attention(score, query_width=3, state_width=5, width=2, bidirectional=False)
        check_attention(module, seed=seed).raise_if_broken()


def test_float32_checks_all_but_finite_differences() -> None:
    report = check_attention(build_attention("multi-head", query_width=4, state_width=4, heads=2), dtype=torch.float32)
    report.raise_if_broken()
    assert [finding.law for finding in report.findings if finding.verdict == "skipped"] == ["gradient"]


class Wrapped(nn.Module):
    """A correct additive attention with one change."""

    def __init__(
        self,
        states: Callable[[Tensor, Tensor], Tensor] = lambda states, real: states,
        before: Callable[[Tensor, int], Tensor] = lambda query, position: query,
        after: Callable[[Attended, Memory], Attended] = lambda seen, memory: seen,
        keep_given: bool = True,
    ) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.inner = BahdanauAttention(4, 3, 5)
        self.query_width, self.value_width, self.state_width = 4, 3, 3
        self.states, self.before, self.after, self.keep_given = states, before, after, keep_given

    def prepare(self, states: Tensor, real: Tensor) -> Memory:
        return self.inner.prepare(self.states(states, real), real)

    def forward(
        self, query: Tensor, memory: Memory, position: int = 0, *, weights: Tensor | None = None, trace: bool = False
    ) -> Attended:
        given = weights if self.keep_given else None
        return self.after(
            self.inner(self.before(query, position), memory, position, weights=given, trace=trace), memory
        )


class Unmasked(Wrapped):
    """Forgets the padding."""

    def prepare(self, states: Tensor, real: Tensor) -> Memory:
        return self.inner.prepare(states, torch.ones_like(real))


class Naive(Wrapped):
    """Fills masked scores with -inf: a sentence of padding alone gives NaN."""

    def forward(
        self, query: Tensor, memory: Memory, position: int = 0, *, weights: Tensor | None = None, trace: bool = False
    ) -> Attended:
        scores = self.inner(query, memory, position, trace=True).trace.scores
        if weights is None:
            weights = torch.softmax(scores.masked_fill(~memory.real[:, None, None], float("-inf")), dim=-1)
        return Attended((weights @ memory.values[:, None])[:, 0], weights)


class Forgetful(Wrapped):
    """Keeps the keys on the module: all calls use the sentence prepared last."""

    def prepare(self, states: Tensor, real: Tensor) -> Memory:
        self.kept = super().prepare(states, real)
        return self.kept

    def forward(self, query: Tensor, memory: Memory, position: int = 0, **options: object) -> Attended:
        same_batch = query.shape[0] == self.kept.real.shape[0]
        return super().forward(query, self.kept if same_batch else memory, position, **options)


@dataclasses.dataclass(frozen=True)
class Stubborn(Memory):
    """A memory whose `select` always returns the first sentence."""

    def select(self, rows: Tensor) -> Memory:
        return Memory(self.keys, self.values, self.real).select(torch.zeros_like(rows))


class Unselectable(Wrapped):
    def prepare(self, states: Tensor, real: Tensor) -> Memory:
        memory = super().prepare(states, real)
        return Stubborn(memory.keys, memory.values, memory.real)


def with_weights(seen: Attended, memory: Memory, change: Callable[[Tensor], Tensor]) -> Attended:
    weights = change(seen.weights)
    return Attended((weights @ memory.values[:, None])[:, 0], weights, seen.trace)


def false_trace(seen: Attended, memory: Memory) -> Attended:
    if seen.trace is None:
        return seen
    return dataclasses.replace(seen, trace=dataclasses.replace(seen.trace, scores=seen.trace.scores * 2))


class Biased(torch.autograd.Function):
    """The identity with a wrong gradient."""

    @staticmethod
    def forward(context: object, tensor: Tensor) -> Tensor:
        return tensor.clone()

    @staticmethod
    def backward(context: object, gradient: Tensor) -> Tensor:
        return gradient * 1.01


class Endless(torch.autograd.Function):
    """The identity with an infinite gradient."""

    @staticmethod
    def forward(context: object, tensor: Tensor) -> Tensor:
        return tensor.clone()

    @staticmethod
    def backward(context: object, gradient: Tensor) -> Tensor:
        return gradient / 0


def numbered(states: Tensor, real: Tensor) -> Tensor:
    return states + torch.arange(states.shape[1])[:, None]


def centred(states: Tensor, real: Tensor) -> Tensor:
    return states - torch.where(real[..., None], states, 0.0).mean(dim=(0, 1))


def averaged(states: Tensor, real: Tensor) -> Tensor:
    return states - torch.where(real[..., None], states, 0.0).mean(dim=1, keepdim=True)


BREAKERS: dict[str, Callable[[], nn.Module]] = {
    "shapes": lambda: Wrapped(after=lambda seen, memory: Attended(seen.context[..., :2], seen.weights)),
    "mask": Unmasked,
    "padding": lambda: Wrapped(states=averaged),
    "batch": lambda: Wrapped(states=centred),
    "permutation": lambda: Wrapped(states=numbered),
    "steps": lambda: Wrapped(before=lambda query, position: query.cumsum(dim=1)),
    "memory": Forgetful,
    "distribution": lambda: Wrapped(after=lambda seen, memory: with_weights(seen, memory, lambda w: w * 1.1)),
    "empty": Naive,
    "mixture": lambda: Wrapped(after=lambda seen, memory: dataclasses.replace(seen, context=seen.context.tanh())),
    "given": lambda: Wrapped(keep_given=False),
    "select": Unselectable,
    "trace": lambda: Wrapped(after=false_trace),
    "finite": lambda: Wrapped(before=lambda query, position: Endless.apply(query)),
    "gradient": lambda: Wrapped(before=lambda query, position: Biased.apply(query)),
}


def test_every_law_has_a_breaker_and_the_unbroken_wrapper_passes() -> None:
    assert set(BREAKERS) == {law.__name__ for law in LAWS}
    check_attention(Wrapped()).raise_if_broken()


@pytest.mark.parametrize("law", list(BREAKERS))
def test_each_law_catches_its_breaker(law: str) -> None:
    report = check_attention(BREAKERS[law]())
    assert law in report.broken
    assert not report.ok
    assert f"  BROKEN   {law} " in str(report)


@pytest.mark.parametrize("law", ["permutation", "steps", "memory", "given", "select", "trace", "gradient", "shapes"])
def test_a_single_fault_is_reported_under_its_own_name(law: str) -> None:
    allowed = {"given": {"mixture", "empty"}, "shapes": {"mixture"}, "steps": {"trace"}}.get(law, set())
    assert set(check_attention(BREAKERS[law]()).broken) <= {law, *allowed}


def test_negative_weights_and_wrong_sums_are_broken_unless_declared() -> None:
    faded = Wrapped(after=lambda seen, memory: with_weights(seen, memory, lambda w: w * 0.5))
    assert "distribution" in check_attention(faded).broken
    assert "distribution" not in check_attention(faded, normalised=False).broken
    negative = Wrapped(after=lambda seen, memory: with_weights(seen, memory, lambda w: w - 0.01))
    assert "distribution" in check_attention(negative, normalised=False).broken


def test_positions_that_matter_can_be_declared() -> None:
    report = check_attention(Wrapped(states=numbered), ordered=True)
    report.raise_if_broken()
    finding = next(finding for finding in report.findings if finding.law == "permutation")
    assert finding.verdict == "skipped"
    assert finding.note == "the mechanism or its window depends on the order of the positions"


def test_a_module_without_the_protocol_gets_one_finding() -> None:
    report = check_attention(nn.Identity())
    assert report.broken == ("protocol",)
    assert "missing: query_width, value_width, prepare" in str(report)


def test_an_exception_of_the_module_is_a_finding() -> None:
    def fail(query: Tensor, position: int) -> Tensor:
        raise RuntimeError("out of coffee\nsecond line")

    report = check_attention(Wrapped(before=fail))
    assert set(report.broken) == {law.__name__ for law in LAWS}
    assert "RuntimeError: out of coffee" in str(report)
    assert "second line" not in str(report)


def test_the_module_and_the_random_state_do_not_change() -> None:
    module = BahdanauAttention(4, 3, 5).train()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    state = torch.get_rng_state()
    check_attention(module)
    assert module.training
    assert torch.equal(torch.get_rng_state(), state)
    for name, value in module.state_dict().items():
        assert value.dtype == torch.float32
        assert torch.equal(value, before[name])
        assert module.get_parameter(name).grad is None


def test_the_printed_report() -> None:
    report = check_attention(Unmasked())
    text = str(report)
    assert text.splitlines()[0].startswith("Unmasked: ")
    assert "padded positions get weight 0" in text
    assert "→ the largest allowed deviation is 1e-09" in text
    with pytest.raises(AssertionError, match=r"Unmasked: .*BROKEN"):
        report.raise_if_broken()
    assert str(LawReport("Nothing", ())) == "Nothing: nothing tried"
    check_attention(BahdanauAttention(4, 3, 5)).raise_if_broken()


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        ({"before": lambda query, position: Biased.apply(query)}, "query"),
        ({"states": lambda states, real: Biased.apply(states)}, "states"),
        ({"after": lambda seen, memory: dataclasses.replace(seen, context=Biased.apply(seen.context))}, None),
    ],
)
def test_the_gradient_law_names_the_input(fault: dict[str, object], named: str | None) -> None:
    finding = next(one for one in check_attention(Wrapped(**fault)).findings if one.law == "gradient")
    everything = "query and of states and of inner.W_s and of inner.W_h and of inner.v"
    wanted = f"the gradient of {named or everything} differs from finite differences"
    assert finding.note == f"ValueError: {wanted}"


class WrongParameter(Wrapped):
    """Adds v to the context, with a wrong gradient."""

    def forward(self, query: Tensor, memory: Memory, position: int = 0, **options: object) -> Attended:
        seen = super().forward(query, memory, position, **options)
        return dataclasses.replace(seen, context=seen.context + Biased.apply(self.inner.v).sum())


def test_the_gradient_law_names_a_parameter() -> None:
    finding = next(one for one in check_attention(WrongParameter()).findings if one.law == "gradient")
    assert finding.note == "ValueError: the gradient of inner.v differs from finite differences"

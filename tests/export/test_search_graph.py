"""A whole search in one ONNX graph finds what the search on the host finds."""

from typing import Any

import pytest
import torch

from models.zoo import PRESETS, Config, Sentences, build, recurrent, transformer
from regard.models import Seq2Seq
from regard.runtime.onnx_model import OnnxModel
from regard.runtime.onnx_search_graph import widest
from regard.search import Hypothesis, Options, beam_search, greedy_search

from .graphs import EXPORTED, batches, onnx_model, torch_model

LARGE = 64 * 70 + 5
"""A vocabulary that is searched by blocks, the last of them not full."""
SMALL: dict[str, Config] = {
    **PRESETS,
    "lstm, fed": recurrent(score="general", placement="output", input_feeding=True, cell="lstm", readout="attentional"),
    "no attention": recurrent(score="none"),
    "learned positions": transformer(positions="learned", longest=9),
}


class Steps:
    """The same model without its own search."""

    def __init__(self, model: OnnxModel) -> None:
        self.start, self.step = model.start, model.step


def both(
    model: OnnxModel, source: Sentences, limits: list[int], **search: Any
) -> tuple[list[list[Hypothesis]], list[list[Hypothesis]]]:
    def found(stepper: Any) -> list[list[Hypothesis]]:
        return beam_search(stepper, source, torch.tensor(limits), **search)

    options = search.get("options") or Options()
    assert model.refuses_search(torch.tensor(limits), search["beam"], options) is None
    return found(model), found(Steps(model))


def check(ours: list[list[Hypothesis]], host: list[list[Hypothesis]]) -> None:
    assert [[one.tokens for one in group] for group in ours] == [[one.tokens for one in group] for group in host]
    for one, other in zip((x for group in ours for x in group), (x for group in host for x in group), strict=True):
        assert one.finished == other.finished
        assert one.score == pytest.approx(other.score, abs=1e-5)
        assert one.normalised == pytest.approx(other.normalised, abs=1e-5)
        assert one.log_probabilities == pytest.approx(other.log_probabilities, abs=1e-5)
        assert (one.weights is None) == (other.weights is None)
        if one.weights is not None and other.weights is not None:
            torch.testing.assert_close(one.weights, other.weights, atol=1e-5, rtol=0)


@pytest.mark.long
@pytest.mark.parametrize("config", EXPORTED.values(), ids=EXPORTED.keys())
def test_every_model_finds_the_same_hypotheses(config: Config) -> None:
    model = onnx_model(torch_model(config))
    check(*both(model, batches()[-1], [7, 3, 1, 8, 6], beam=3, nbest=2))


@pytest.mark.parametrize("int8", [False, True])
@pytest.mark.parametrize("config", SMALL.values(), ids=SMALL.keys())
def test_beams_limits_and_options(config: Config, int8: bool) -> None:
    model = onnx_model(torch_model(config), int8=int8)
    for source in batches()[2:4]:
        limits = [8, 1, 5, 7, 2][: len(source.source)]
        check(*both(model, source, limits, beam=1))
        check(*both(model, source, limits, beam=3, nbest=2, options=Options(forbid_unk=True, eos=6)))
        check(*both(model, source, limits, beam=11, nbest=5, options=Options(weights=False, eos=-1)))


def test_large_vocabularies_are_searched_by_blocks_with_the_same_result() -> None:
    model = onnx_model(build(recurrent(score="dot"), LARGE).float())
    for beam in (1, 5, widest(LARGE)):
        check(*both(model, batches()[-1], [6, 6, 2, 5, 6], beam=beam, nbest=min(beam, 3)))


def test_of_equal_candidates_the_lower_id_wins() -> None:
    torch_one = build(recurrent(score="dot"), LARGE).float()
    with torch.no_grad():
        for parameter in torch_one.decoder.readout.parameters():
            parameter.zero_()
        torch_one.decoder.readout.output.bias[torch.tensor([70, 4400, 4000, LARGE - 1, 65])] = 2.0  # type: ignore[index]
        torch_one.decoder.readout.output.bias[torch.tensor([90, 200])] = 3.0  # type: ignore[index]
    model = onnx_model(torch_one)
    ours, host = both(model, batches()[-1], [3] * 5, beam=4, nbest=4)
    check(ours, host)
    assert {one.tokens[0] for one in ours[0]} <= {90, 200, 65, 70}


def test_greedy_search_is_a_beam_of_one() -> None:
    model = onnx_model(torch_model(PRESETS["preset bahdanau"]))
    source, limits = batches()[-1], torch.tensor([5, 5, 5, 5, 5])
    ours, host = greedy_search(model, source, limits), greedy_search(Steps(model), source, limits)
    check([[one] for one in ours], [[one] for one in host])


def test_what_does_not_fit_is_searched_on_the_host() -> None:
    model = onnx_model(torch_model(PRESETS["preset bahdanau"]))

    def searched(limits: list[int], beam: int = 2, **options: Any) -> bool:
        return model.refuses_search(torch.tensor(limits), beam, Options(**options)) is None

    assert searched([4] * 5)
    assert not searched([4, 0, 4, 4, 4])
    assert not searched([4] * 5, beam=12), "more than the vocabulary"
    assert not searched([4, 4, 4, 4, 500])
    assert not searched([4] * 5, coverage=0.2)
    assert not searched([4] * 5, no_repeat_ngram=2)
    assert not searched([4] * 9)


@pytest.mark.parametrize(
    ("damage", "message"),
    [(float("nan"), "gave NaN"), (float("inf"), "gave NaN"), (-float("inf"), "no token is possible|gave NaN")],
)
def test_damaged_weights_are_reported_as_on_the_host(damage: float, message: str) -> None:
    torch_one: Seq2Seq = build(recurrent(score="dot")).float()
    with torch.no_grad():
        torch_one.decoder.readout.output.bias.fill_(damage)  # type: ignore[union-attr]
    model = onnx_model(torch_one)
    with pytest.raises(ValueError, match=message):
        beam_search(model, batches()[0], torch.tensor([4]), beam=2)


def test_one_hypothesis_that_is_not_a_number_is_reported_as_on_the_host() -> None:
    """Another hypothesis of the sentence is sound, and would win."""
    torch_one: Seq2Seq = build(recurrent(score="dot")).float()
    with torch.no_grad():
        torch_one.decoder.embedding.weight[7] = float("nan")  # type: ignore[union-attr, index, operator]
    model, source = onnx_model(torch_one), batches()[0]
    for stepper in (model, Steps(model)):
        with pytest.raises(ValueError, match="gave NaN"):
            beam_search(stepper, source, torch.tensor([6]), beam=11)

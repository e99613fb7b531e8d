"""Traces of a decode: the model's own tensors, to the bit; the same tokens in a batch; edits, trees, dropped words."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import regard
from regard.runtime.recorder import Abandoned
from regard.runtime.source_text import pad, read_source
from regard.runtime.traced import SentenceToTrace, TracedTranslation, Tracing, drop_words, translate_traced
from regard.runtime.translator import Translator
from regard.search import SearchTree
from regard.text.input_error import InputError
from regard.text.special import BOS

from .bundles import untrained

TEXTS = ("the black cat sat on the mat", "jane visits africa", "don't turn off the lights")
MODELS: dict[str, tuple[str, dict[str, Any] | None]] = {
    "additive": ("bahdanau", None),
    "rnnsearch-2014": (
        "bahdanau",
        {"cell": "gru-2014", "readout": "maxout", "readout_width": 8, "readout_state": "previous"},
    ),
    "tutorial-lstm": ("bahdanau", {"cell": "lstm", "initial": "zero", "readout": "state-context"}),
    "general": ("luong", None),
    "local-m": ("luong", {"window": "local-m", "reach": 2}),
    "local-p": ("luong", {"window": "local-p", "reach": 2}),
    "transformer": ("transformer", None),
}
BOXED = ("demo-en-fr", "en-fr")
"""int8 on disk; the weights of the second are large enough for packed products."""
FULL = Tracing(top=5, trace=True)


@pytest.fixture(scope="module", params=[*MODELS, *BOXED])
def translator(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Translator:
    if request.param in BOXED:
        return regard.load(request.param)
    name, model = MODELS[request.param]
    return regard.load(untrained(tmp_path_factory.mktemp("bundle"), name, model=model))


def _alone(translator: Translator, text: str, **search: Any) -> TracedTranslation:
    return translate_traced(translator, [SentenceToTrace(text)], search, FULL)[0].found[0]


def test_a_trace_is_the_models_own_computation_to_the_bit(translator: Translator) -> None:
    """The oracle is the loop of a greedy decode by hand, with the model's own step."""
    found = _alone(translator, TEXTS[0], beam=1)
    bundle = translator.bundle
    source = read_source(TEXTS[0], bundle.source, eos=bundle.manifest.source_eos, longest=100)
    stepper: Any = translator.stepper
    with torch.inference_mode():
        state, token = stepper.start(pad([source.encoding.ids], translator.device)), BOS
        for written, record in zip(found.tokens, found.records, strict=True):
            step = stepper.step(torch.tensor([token]), state, trace=True)
            for number, layer in enumerate(record.layers):
                trace = step.trace[number]
                assert torch.equal(layer.query, trace.query[0, 0])
                assert torch.equal(layer.scores, trace.scores[0, :, 0])
                assert bool((layer.mask == trace.mask[0, :, 0]).all())
                assert torch.equal(layer.weights, step.weights[0, number])
                assert torch.equal(layer.context, trace.context[0, 0])
                assert layer.center == (None if trace.center is None else float(trace.center[0, 0]))
                if trace.gaussian is not None:
                    assert torch.equal(layer.gaussian, trace.gaussian[0, 0, 0])
            values, ids = torch.log_softmax(step.logits, dim=-1)[0].topk(5)
            assert record.top == tuple(zip(ids.tolist(), values.exp().tolist(), strict=True))
            state, token = step.state, written
    assert len(record.layers) == bundle.manifest.model.attention_shape[0]


def test_a_context_is_the_weighted_sum_of_what_the_model_remembers() -> None:
    translator = regard.load("demo-en-fr")
    found = _alone(translator, TEXTS[0])
    states = torch.from_numpy(translator.inside(TEXTS[0]).states)
    for record in found.records:
        (layer,) = record.layers
        assert torch.allclose(layer.context, layer.weights[0] @ states, atol=1e-5)
        assert torch.allclose(layer.weights, torch.softmax(layer.scores, dim=-1), atol=1e-6)


def test_a_batch_gives_the_tokens_of_each_alone_and_its_tensors_within_a_rounding(translator: Translator) -> None:
    together = translate_traced(translator, [SentenceToTrace(text) for text in TEXTS], {}, FULL)
    for text, one in zip(TEXTS, together, strict=True):
        alone, here = _alone(translator, text), one.found[0]
        assert here.tokens == alone.tokens
        assert np.allclose(here.log_probabilities, alone.log_probabilities, atol=1e-5)
        assert np.allclose(here.translation.attention, alone.translation.attention, atol=1e-5)  # type: ignore[arg-type]
        for record, other in zip(here.records, alone.records, strict=True):
            for layer, its in zip(record.layers, other.layers, strict=True):
                length = its.scores.shape[-1]
                seen = its.mask
                assert torch.equal(layer.mask[:, :length], seen)
                assert not layer.mask[:, length:].any()
                assert torch.allclose(layer.query, its.query, atol=1e-5)
                assert torch.allclose(layer.scores[:, :length][seen], its.scores[seen], atol=1e-5)
                assert torch.allclose(layer.weights[:, :length], its.weights, atol=1e-5)
                assert torch.allclose(layer.context, its.context, atol=1e-5)  # type: ignore[arg-type]
            assert record.entropy == pytest.approx(other.entropy, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("beam", [1, 3])
def test_the_records_of_a_beam_belong_to_the_hypothesis_that_won(translator: Translator, beam: int) -> None:
    texts = translate_traced(translator, [SentenceToTrace(text) for text in TEXTS], {"beam": beam, "nbest": beam}, FULL)
    for one in texts:
        for hypothesis in one.found:
            attention = hypothesis.translation.attention
            assert attention is not None
            for step, (token, record) in enumerate(zip(hypothesis.tokens, hypothesis.records, strict=True)):
                length = attention.shape[-1]
                seen = np.stack([layer.weights[:, :length].numpy() for layer in record.layers])
                assert np.array_equal(seen, attention[:, :, step])
                found = dict(record.top).get(token)
                if found is not None:
                    assert np.log(found) == pytest.approx(hypothesis.log_probabilities[step], abs=1e-5)


def test_the_same_decode_without_a_recorder(translator: Translator) -> None:
    plain = translator.translate(list(TEXTS), beam=2, nbest=2)
    traced = translate_traced(translator, [SentenceToTrace(text) for text in TEXTS], {"beam": 2, "nbest": 2}, Tracing())
    for one, other in zip(plain, traced, strict=True):
        assert [one.text, *(each.text for each in one.alternatives)] == [each.translation.text for each in other.found]
        assert one.score == pytest.approx(other.found[0].translation.score, abs=1e-5)
        assert other.found[0].records == ()


def test_a_forced_target_is_scored_as_by_the_translator(translator: Translator) -> None:
    (found,) = translate_traced(translator, [SentenceToTrace(TEXTS[0], target="le chat noir")], {}, FULL)
    wanted = translator.translate(TEXTS[0], target="le chat noir")
    assert found.found[0].translation.score == pytest.approx(wanted.score, abs=1e-5)
    assert found.found[0].given == len(found.found[0].tokens) == len(found.found[0].records)


def test_a_prefix_as_text_or_as_ids_begins_the_translation(translator: Translator) -> None:
    ids = translator.bundle.target.encode("le tapis").ids
    for prefix in ("le tapis", tuple(ids)):
        (found,) = translate_traced(translator, [SentenceToTrace(TEXTS[0], prefix=prefix)], {"beam": 2}, FULL)
        assert found.found[0].tokens[: len(ids)] == ids
        assert found.found[0].given == len(ids)


@pytest.mark.parametrize("ids", [(0,), (2,), (3, 6), (-1,), (10**6,)])
def test_invalid_prefix_ids_are_refused(ids: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"prefix_ids: .* at position 0 is not valid"):
        translate_traced(regard.load("demo-en-fr"), [SentenceToTrace("she sleeps", prefix=ids)], {}, Tracing())


def test_an_edited_row_affects_later_steps() -> None:
    translator = regard.load("demo-en-fr")
    plain = _alone(translator, TEXTS[0])
    at_mat = [0.0] * 6 + [1.0, 0.0]
    edit = Tracing(top=5, trace=True, edit=(1, at_mat))
    edited = translate_traced(translator, [SentenceToTrace(TEXTS[0])], {}, edit)[0].found[0]
    assert plain.translation.text == "le chat noir était assis sur le tapis"
    assert edited.translation.text.startswith("le tapis noir")
    assert edited.records[1].layers[0].weights.tolist() == [at_mat]
    assert torch.equal(edited.records[0].layers[0].weights, plain.records[0].layers[0].weights)
    with pytest.raises(InputError, match=r"attention_edit.weights: 2 given, but the source has 8 pieces"):
        translate_traced(translator, [SentenceToTrace(TEXTS[0])], {}, Tracing(edit=(1, [0.5, 0.5])))


def test_a_tree_records_the_beam_search() -> None:
    tree = SearchTree()
    translator = regard.load("demo-en-fr")
    (found,) = translate_traced(translator, [SentenceToTrace(TEXTS[0])], {"beam": 3, "nbest": 2}, Tracing(tree=tree))
    finished = [node.tokens for node in tree.nodes if node.fate == "finished"]
    assert {one.tokens for one in found.found} <= set(finished)


def test_without_a_source_word_its_translation_is_less_probable() -> None:
    translator = regard.load("demo-en-fr")
    (text,) = translate_traced(translator, [SentenceToTrace(TEXTS[0])], {}, Tracing())
    best = text.found[0]
    without = drop_words(translator, text.source, best.tokens)
    assert len(without) == 7
    noir = best.translation.target_pieces.index("noir")
    changes = [row[noir] - best.log_probabilities[noir] for row in without]
    assert int(np.argmin(changes)) == text.source.encoding.word_texts.index("black")
    assert changes[1] < -1


def test_an_abandoned_search_ends_at_its_next_step() -> None:
    answers = iter([False, False, True])
    with pytest.raises(Abandoned):
        translate_traced(
            regard.load("demo-en-fr"), [SentenceToTrace(TEXTS[0])], {}, Tracing(abandoned=lambda: next(answers))
        )


def test_blank_texts_have_no_translation_and_do_not_affect_others(random_model: Callable[..., Translator]) -> None:
    translator = random_model()
    blank, other = translate_traced(translator, [SentenceToTrace("  "), SentenceToTrace(TEXTS[1])], {}, FULL)
    assert blank.found == ()
    assert blank.source.blank
    assert other.found[0].tokens == _alone(translator, TEXTS[1]).tokens


def test_models_without_attention_and_onnx_have_no_layers(random_model: Callable[..., Translator]) -> None:
    found = _alone(random_model("vanilla"), TEXTS[0])
    assert all(record.layers == () for record in found.records)
    assert found.translation.attention is None


def test_a_mixture_of_forced_and_free_is_refused() -> None:
    sentences = [SentenceToTrace("she sleeps"), SentenceToTrace("she sleeps", target="elle dort")]
    with pytest.raises(ValueError, match="decode them separately"):
        translate_traced(regard.load("demo-en-fr"), sentences, {}, Tracing())

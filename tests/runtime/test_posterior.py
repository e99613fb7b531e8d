"""Posterior alignment: Bayes' rule by hand, and the case of a readout without context."""

from collections.abc import Callable
from typing import get_args

import numpy as np
import pytest
import torch

import regard
from regard.lab.align_settings import AlignOptions
from regard.models import Seq2Seq
from regard.models.model_config import RecurrentConfig
from regard.models.rnn.decoder import RecurrentDecoder
from regard.models.rnn.word_posterior import word_posterior
from regard.runtime.aligner import Aligner
from regard.runtime.posterior import Evidence, Posterior, explained, quick_products
from regard.runtime.source_text import pad
from regard.text.input_error import InputError

Make = Callable[..., regard.Translator]
SOURCES = [[5, 6, 7, 8], [9, 4]]
TOKENS, WANTED = torch.tensor([[2, 5, 9], [2, 10, 4]]), torch.tensor([[5, 9, 3], [10, 4, 3]])
CHOICES = {
    "additive, input": {},
    "dot, output": {"score": "dot", "placement": "output", "encoder_units": 4},
    "general, fed": {"score": "general", "placement": "output", "input_feeding": True, "readout": "attentional"},
    "additive, local-p, lstm": {"window": "local-p", "reach": 1, "cell": "lstm"},
    "concat, maxout": {"score": "concat", "placement": "output", "readout": "maxout"},
}


def built(choices: dict[str, object]) -> Seq2Seq:
    torch.manual_seed(0)
    sizes = {"embedding": 6, "encoder_units": 5, "decoder_units": 8}
    config = RecurrentConfig.model_validate({**sizes, **choices})
    model = Seq2Seq(config, 11, 11).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
    return model


@torch.no_grad()
@pytest.mark.parametrize("evidence", get_args(Evidence))
@pytest.mark.parametrize("prior", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("choices", CHOICES.values(), ids=CHOICES.keys())
def test_bayes_rule_by_hand(
    choices: dict[str, object], prior: float, evidence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.models.rnn.word_posterior.MOST_LOGITS", 1)  # a row at a time
    model = built(choices)
    decoder, source = model.decoder, pad(SOURCES, torch.device("cpu"))
    assert isinstance(decoder, RecurrentDecoder)
    found = word_posterior(model, source, TOKENS, WANTED, prior, evidence)
    assert found.shape == (2, 1, 1, 3, 4)
    state = model.start(source)
    annotations = state.memory.values
    for t in range(3):
        step = model.step(TOKENS[:, t], state)
        hidden = step.state.hidden[-1]
        for row, words in enumerate(SOURCES):
            right = []
            for place in range(len(words)):
                embedded = decoder.embedding(TOKENS[row, t])
                known = float(evidence == "state")
                features = decoder.readout.features(known * hidden[row], annotations[row, place], known * embedded)
                chance = decoder.readout(features).softmax(-1)[WANTED[row, t]]
                weight = step.weights[row, 0, 0, place].clamp_min(1e-9)
                right.append(float(weight**prior * chance))
            np.testing.assert_allclose(found[row, 0, 0, t, : len(words)], np.array(right) / sum(right), rtol=1e-4)
            assert not found[row, 0, 0, t, len(words) :].any()
        state = step.state


def test_a_readout_without_context_leaves_attention_unchanged() -> None:
    model = built({})
    with torch.no_grad():
        model.decoder.readout.output.weight[:, 8:18] = 0
    source = pad(SOURCES, torch.device("cpu"))
    found = word_posterior(model, source, TOKENS, WANTED, 1.0, "state")
    looked = model(source, TOKENS, want_weights=True).weights
    torch.testing.assert_close(found.double(), looked, rtol=1e-5, atol=1e-7)


@torch.no_grad()
def test_a_model_guided_at_the_next_step_has_its_attention_as_the_prior(
    random_model: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = built({"placement": "output"})
    source = pad(SOURCES, torch.device("cpu"))
    looked = model(source, TOKENS, want_weights=True).weights
    later = torch.cat([looked[:, :, :, 1:], looked[:, :, :, -1:]], dim=3)
    evidence = word_posterior(model, source, TOKENS, WANTED, 0.0, "state")
    right = evidence * later
    found = word_posterior(model, source, TOKENS, WANTED, 1.0, "state", shift=1)
    torch.testing.assert_close(found.double(), right / right.sum(-1, keepdim=True), rtol=1e-5, atol=1e-7)
    bundle = random_model("bahdanau").bundle
    ((_, untaught),) = Aligner(bundle, posterior=Posterior()).look(["the cat"], ["le chat"])
    monkeypatch.setattr("regard.runtime.aligner.guided_shift", lambda bundle: 1)
    ((_, taught),) = Aligner(bundle, posterior=Posterior()).look(["the cat"], ["le chat"])
    assert not np.allclose(untaught.attention[..., 0, :], taught.attention[..., 0, :])


def test_aligning_with_it(random_model: Make) -> None:
    bundle = random_model("bahdanau").bundle
    ((_, plain),), ((_, wise),) = (
        list(Aligner(bundle, posterior=posterior).look(["the cat"], ["le chat"])) for posterior in (None, Posterior())
    )
    assert wise.attention.shape == plain.attention.shape
    np.testing.assert_allclose(wise.attention.sum(-1), 1, rtol=1e-5)
    assert not np.allclose(wise.attention, plain.attention)


@pytest.mark.parametrize(
    ("name", "requested", "message"),
    [
        ("transformer", Posterior(), "is not defined for a Transformer"),
        ("bahdanau", Posterior(-1.0), "posterior=-1: .* expected 0 to 10"),
        ("bahdanau", Posterior(1.0, "nonsense"), "evidence=nonsense: valid choices are state, word"),
    ],
)
def test_undefined_posteriors_raise(random_model: Make, name: str, requested: Posterior, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Aligner(random_model(name).bundle, posterior=requested)


def test_posteriors_of_the_align_options() -> None:
    assert AlignOptions().posteriors == (None,)
    assert AlignOptions.parse(["posterior=0.3"]).posteriors == (Posterior(0.3, "state"),)
    assert AlignOptions.parse(["posterior=0.3", "evidence=word"]).posteriors == (Posterior(0.3, "word"),)
    for pair, message in (
        ("evidence=word", "evidence needs a posterior: set posterior too"),
        ("posterior=much", "posterior = 'much': expected a number"),
    ):
        with pytest.raises(InputError, match=message):
            AlignOptions.parse([pair])


def test_tuning_tries_attention_and_every_prior_of_the_evidence() -> None:
    every, words = (
        AlignOptions.parse(pairs).posteriors for pairs in (["posterior=tune"], ["posterior=tune", "evidence=word"])
    )
    assert every[0] is words[0] is None
    assert {one.evidence for one in every[1:] if one is not None} == {"state", "word"}
    assert {one.evidence for one in words[1:] if one is not None} == {"word"}
    assert len(every) == 2 * len(words) - 1


@pytest.mark.parametrize("evidence", ["state", "word"])
@pytest.mark.parametrize("prior", [0.0, 0.3, 1.0, 10.0])
@pytest.mark.parametrize("shift", [0, 1])
def test_one_evidence_serves_every_prior(
    random_model: Make, monkeypatch: pytest.MonkeyPatch, prior: float, evidence: str, shift: int
) -> None:
    bundle = random_model("bahdanau").bundle
    monkeypatch.setattr("regard.runtime.aligner.guided_shift", lambda bundle: shift)
    requested = None, Posterior(0.0, evidence), Posterior(prior, evidence)
    texts = ["the black cat"], ["le chat noir"]
    plain, likely, wanted = (next(iter(Aligner(bundle, posterior=one).look(*texts)))[1].attention for one in requested)
    np.testing.assert_allclose(explained(plain, likely, prior, shift), wanted, atol=1e-5)


@pytest.mark.skipif(not hasattr(torch.backends.cuda.matmul, "fp32_precision"), reason="torch has one way to say it")
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_precision_set_by_torchs_new_api_stays(device: str) -> None:
    """torch raises if the old API reads a precision that the new API set."""
    before = torch.backends.cuda.matmul.fp32_precision
    try:
        torch.backends.cuda.matmul.fp32_precision = "tf32"
        with quick_products(torch.device(device)):
            assert torch.backends.cuda.matmul.fp32_precision == "tf32"
    finally:
        torch.backends.cuda.matmul.fp32_precision = before


def test_tf32_is_used_on_a_gpu_and_reset_afterwards() -> None:
    before = torch.get_float32_matmul_precision()
    with quick_products(torch.device("cpu")):
        assert torch.get_float32_matmul_precision() == before
    with quick_products(torch.device("cuda")):
        assert torch.get_float32_matmul_precision() == "high"
    assert torch.get_float32_matmul_precision() == before

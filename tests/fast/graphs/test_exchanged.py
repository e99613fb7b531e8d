"""Replaced modules and moved weights of a live model: captured graphs of the old ones are not replayed."""

from threading import Thread

import pytest
import torch

from models.zoo import SOURCE, TOKENS, Sentences, build, recurrent, sentences
from regard.attention import BahdanauAttention, LocalM, LuongGeneral
from regard.attention.protocol import Attention, Window
from regard.fast.graphs import captured_module
from regard.fast.graphs.captured_module import captured_of
from regard.fast.recurrent.step_loop import run_steps
from regard.models import Seq2Seq
from regard.models.rnn.decoder import RecurrentDecoder

from .interrupted import Interrupted
from .test_captured_module import Results, agree, always_captured, results

LOOP = run_steps
CONFIG = recurrent(score="general", placement="output", input_feeding=True, readout="attentional")


def decoder_of(model: Seq2Seq) -> RecurrentDecoder:
    assert isinstance(model.decoder, RecurrentDecoder)
    return model.decoder


def another(model: Seq2Seq, window: Window | None = None) -> Attention:
    """Another score for the same widths; two of them differ in their numbers."""
    old = decoder_of(model).attention
    assert isinstance(old, LuongGeneral | BahdanauAttention)
    made = BahdanauAttention(old.query_width, old.state_width, 3, window=window)
    return made.to(next(old.parameters()))


def test_a_captured_loop_belongs_to_its_modules() -> None:
    model = build(CONFIG).train()
    decoder, given, names = decoder_of(model), [TOKENS.double()], ("a", "b")
    first = captured_of(LOOP, decoder, names, given)
    assert captured_of(LOOP, decoder, names, given) is first
    mine, decoder.attention = decoder.attention, another(model)
    second = captured_of(LOOP, decoder, names, given)
    assert second is not first
    assert captured_of(LOOP, decoder, ("a",), given) not in (first, second)
    decoder.attention = mine
    assert captured_of(LOOP, decoder, names, given) is first


def test_captured_loops_of_deleted_modules_are_dropped() -> None:
    model = build(CONFIG).train()
    decoder, given = decoder_of(model), [TOKENS.double()]
    seen = []
    for _ in range(12):
        decoder.attention = another(model)
        seen.append(captured_of(LOOP, decoder, (), given))
    assert len({id(one) for one in seen}) == 12
    assert captured_of(LOOP, decoder, (), given) is seen[-1]


def test_threads_may_evict_each_others_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread has looked up its loop and not yet used it when another thread evicts it."""
    monkeypatch.setattr(captured_module, "MOST", 1)
    decoder, given, others = decoder_of(build(CONFIG).train()), [TOKENS.double()], list[object]()
    other = Thread(target=lambda: others.append(captured_of(LOOP, decoder, ("b",), given)))
    captured_module._captured[decoder] = Interrupted(other)
    assert captured_of(LOOP, decoder, ("a",), given).names == ("a",)
    other.join()
    assert list(captured_module._captured[decoder].values()) == others


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_a_replaced_attention_is_used(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    build(CONFIG)(sentences(*SOURCE), TOKENS)  # loads `regard.fast`
    always_captured(monkeypatch)
    model, source, tokens = build(CONFIG).train().to(device), sentences(*SOURCE), TOKENS.to(device)
    source = Sentences(source.source.to(device), source.source_lengths.to(device))

    def plain() -> Results:
        with monkeypatch.context() as patch:
            patch.setenv("REGARD_PLAIN", "1")
            return results(model, source, tokens)

    for exchange in (
        lambda: None,
        lambda: setattr(decoder_of(model), "attention", another(model)),
        lambda: _move(model),
        lambda: setattr(decoder_of(model), "attention", another(model, LocalM(1))),
    ):
        exchange()
        for _ in range(3):  # plainly, captured, replayed
            agree(results(model, source, tokens), plain(), 1e-9)


def _move(model: Seq2Seq) -> None:
    """Move every weight to another address and change its values."""
    for parameter in decoder_of(model).parameters():
        parameter.data = parameter.data.clone() * 0.9

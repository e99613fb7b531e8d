"""JoeyNMT's batched beam search against ours, if the package is installed: the same model, weights and groups."""

import math
import os
import statistics
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from decoding_measure import (
    ROWS,
    DecodingFigures,
    Spent,
    beam_ours,
    pace,
    random_sentences,
    timed,
)
from decoding_textbook import KEEPS
from regard.lab.bench.measure import exact_float32
from regard.lab.bench.workload import MULTI30K, Work
from regard.models.model_config import RecurrentConfig
from regard.models.seq2seq import Seq2Seq
from regard.registry import prepare_for_decoding
from regard.runtime.source_text import pad
from regard.search import SearchConfig
from regard.text.special import BOS, EOS, PAD, UNK

ALPHA = 1.0


def joey_settings(group: Sequence[Sequence[int]], beam: int) -> SearchConfig:
    """JoeyNMT's defaults: at most 1.5 times the longest source of a batch, its form of the length penalty."""
    longest = int(1.5 * max(map(len, group)))
    return SearchConfig(beam=beam, longest=longest, length_penalty=ALPHA, length_form="gnmt")


def joey_version() -> str | None:
    """None if JoeyNMT cannot be imported."""
    try:
        import_module("joeynmt.search")
        return version("joeynmt")
    except (ImportError, PackageNotFoundError):
        return None


def joey_model(work: Work, words: int = 13, *, sharpness: float = 4.0, gain: float = 60.0) -> Any:
    """JoeyNMT's recurrent model of these sizes with random weights and a clock, as `clock.wind` gives the textbook.

    Its output layer has no bias, so a second unit, always 1, stands for it.
    """
    sizes = {"rnn_type": work.cell, "emb_size": work.embedding, "hidden_size": work.units, "num_layers": 1}
    encoder = import_module("joeynmt.encoders").RecurrentEncoder(**sizes, bidirectional=True)
    decoder = import_module("joeynmt.decoders").RecurrentDecoder(
        **sizes, encoder=encoder, attention="bahdanau", vocab_size=work.vocabulary, init_hidden="zero"
    )
    embed = import_module("joeynmt.embeddings").Embeddings
    words_of = [embed(embedding_dim=work.embedding, vocab_size=work.vocabulary, padding_idx=PAD) for _ in range(2)]
    special = {"pad_index": PAD, "bos_index": BOS, "eos_index": EOS, "unk_index": UNK, "sep_index": None}
    vocabulary = SimpleNamespace(**special, specials=[], lang_tags=[], lookup=None)
    model = import_module("joeynmt.model").Model(encoder, decoder, *words_of, vocabulary, vocabulary).eval()
    with torch.no_grad():
        _wind(decoder, work.units, words, sharpness, gain)
    return model


def _wind(decoder: Any, units: int, words: int, sharpness: float, gain: float) -> None:
    recurrence = dict(decoder.rnn.named_parameters())
    always = 20.0
    for unit, keep in ((0, math.log(KEEPS / (1 - KEEPS))), (1, -always)):
        for gate, value in enumerate((always, keep, always)):  # reset, update, new
            row = gate * units + unit
            recurrence["weight_ih_l0"][row] = recurrence["weight_hh_l0"][row] = 0.0
            recurrence["bias_ih_l0"][row], recurrence["bias_hh_l0"][row] = value, 0.0
        decoder.att_vector_layer.weight[unit] = 0.0
        decoder.att_vector_layer.weight[unit, unit] = 1.0
    decoder.att_vector_layer.bias.zero_()  # ours has none
    weight = decoder.output_layer.weight
    weight.mul_(sharpness * math.sqrt(3) / 0.25)  # what it multiplies is smaller than the textbook's features
    weight[EOS] *= 0.3
    weight[EOS, 0] = gain
    weight[EOS, 1] = (2 * sharpness - gain * math.tanh(1 - KEEPS**words)) / math.tanh(1.0)


def ours_with_joey(model: Any, work: Work) -> Seq2Seq:
    """Our model of JoeyNMT's kind (Luong's placement and input feeding, additive scores) with JoeyNMT's weights."""
    sizes = {"embedding": work.embedding, "encoder_units": work.units, "decoder_units": work.units}
    kind = {"cell": work.cell, "placement": "output", "input_feeding": True, "readout": "attentional"}
    config = RecurrentConfig.model_validate({**sizes, **kind, "attention_width": work.units, "initial": "zero"})
    ours = Seq2Seq(config, work.vocabulary, work.vocabulary).eval()
    decoder: Any = ours.decoder
    pairs: list[tuple[torch.Tensor, torch.Tensor]] = [
        (ours.encoder.get_parameter("embedding.weight"), model.src_embed.lut.weight),
        (decoder.embedding.weight, model.trg_embed.lut.weight),
        (decoder.attention.W_h, model.decoder.attention.key_layer.weight),
        (decoder.attention.W_s, model.decoder.attention.query_layer.weight),
        (decoder.attention.v, model.decoder.attention.energy_layer.weight[0]),
        (decoder.readout.combine.weight, model.decoder.att_vector_layer.weight.roll(-work.units, dims=1)),
        (decoder.readout.output.weight, model.decoder.output_layer.weight),
        *zip(_recurrence(ours.encoder), model.encoder.rnn.parameters(), strict=True),
        *zip(_recurrence(decoder), model.decoder.rnn.parameters(), strict=True),
    ]
    with torch.no_grad():
        for own, other in pairs:
            own.copy_(other)
        decoder.readout.output.bias.zero_()
    return ours


def _recurrence(module: nn.Module) -> list[nn.Parameter]:
    return list(module.get_submodule("recurrence").parameters())


def beam_joey(model: Any, group: Sequence[Sequence[int]], beam: int) -> list[tuple[int, ...]]:
    """The best translation of each sentence by `joeynmt.search.search`; longest first, as its encoder requires."""
    order = sorted(range(len(group)), key=lambda i: -len(group[i]))
    batch = pad([group[i] for i in order], model.decoder.output_layer.weight.device)
    columns = torch.arange(batch.source.size(1), device=batch.source.device)
    mask = (columns < batch.source_lengths[:, None])[:, None]
    given = SimpleNamespace(
        src=batch.source, src_length=batch.source_lengths, src_mask=mask, has_trg=False, trg_prompt_mask=None
    )
    output, _, _ = import_module("joeynmt.search").search(model, given, -1, beam, ALPHA)
    found: dict[int, tuple[int, ...]] = {}
    for i, row in zip(order, output.tolist(), strict=True):
        words = [int(word) for word in row]
        found[i] = tuple(words[: words.index(EOS) + 1] if EOS in words else words)
    return [found[i] for i in range(len(group))]


def _turn(ours: Seq2Seq, model: Any, group: Sequence[Sequence[int]], beam: int) -> tuple[Spent, Spent]:
    """Ours, then JoeyNMT: the whole group, then one sentence alone."""
    best, seconds = timed(partial(beam_ours, ours, group, joey_settings(group, beam)))
    other, other_seconds = timed(partial(beam_joey, model, group, beam))
    found, one = [hypothesis.tokens for hypothesis in best], group[len(group) // 2 :][:1]
    alone = timed(partial(beam_ours, ours, one, joey_settings(one, beam)))[1]
    other_alone = timed(partial(beam_joey, model, one, beam))[1]
    return (
        Spent(seconds / len(group), statistics.fmean(map(len, found)), alone),
        Spent(other_seconds / len(group), statistics.fmean(map(len, other)), other_alone),
    )


def measure_joey(
    work: Work = MULTI30K,
    sentences: Sequence[Sequence[int]] | None = None,
    *,
    beam: int = 5,
    threads: int | None = None,
    words: int = 13,
    device: str = "cpu",
    together: int = ROWS,
) -> DecodingFigures | None:
    """Both on every group of sentences, in batches, taking turns; None where JoeyNMT is absent.

    Their beam searches differ (JoeyNMT's finished hypotheses keep their places, and it stops when all have finished),
    so `agreement` is about greedy search, where the same numbers must give the same words; `apart` is not measured.
    """
    named = joey_version()
    if named is None:
        return None
    if threads is not None:
        torch.set_num_threads(threads)
    torch.manual_seed(0)
    load, model = os.getloadavg()[0], joey_model(work, words).to(device)
    ours = prepare_for_decoding(ours_with_joey(model, work).to(device))
    rows = sorted(random_sentences(1000, work.vocabulary) if sentences is None else sentences, key=len)
    groups = [rows[first : first + together] for first in range(0, len(rows), together)]
    same = list[bool]()
    with exact_float32():
        if device != "cpu":  # kernels are compiled the first time, graphs captured the second
            for group in (groups[0], groups[0], groups[-1]):
                _turn(ours, model, group, beam)
        turns = [_turn(ours, model, group, beam) for group in groups]
        for group in groups:
            few = group[:: max(len(group) // 4, 1)]
            greedy = [hypothesis.tokens for hypothesis in beam_ours(ours, few, joey_settings(few, 1))]
            same += [a == b for a, b in zip(greedy, beam_joey(model, few, 1), strict=True)]
    mine, theirs = [my for my, _ in turns], [their for _, their in turns]
    return DecodingFigures(
        work.name, beam, torch.get_num_threads(), load, len(rows), len(same),
        pace("ours", mine),
        pace(f"JoeyNMT {named}", theirs),
        statistics.median(their.seconds / my.seconds for my, their in turns),
        statistics.median(my.latency / their.latency for my, their in turns),
        statistics.fmean(same),
        None,
    )  # fmt: skip

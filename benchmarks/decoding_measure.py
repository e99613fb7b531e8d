"""Times beam search in batches and of single sentences: ours against the textbook decoder with the same weights."""

import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import torch

from decoding_textbook import Found, textbook_search, wind
from regard.lab.bench.measure import exact_float32
from regard.lab.bench.textbook import Textbook, ours_with
from regard.lab.bench.workload import MULTI30K, Work
from regard.models.seq2seq import Seq2Seq
from regard.registry import prepare_for_decoding
from regard.runtime.source_text import pad
from regard.search import Hypothesis, Longest, SearchConfig, decode

Result = TypeVar("Result")

ROWS = 64
"""Sentences that are decoded together by default."""


@dataclass(frozen=True)
class Pace:
    """The speed of one system: medians over the groups of sentences."""

    name: str
    sentences_per_second: float
    tokens_per_second: float
    latency: float
    """Seconds for one sentence alone."""


@dataclass(frozen=True)
class DecodingFigures:
    """Two systems on the same sentences, taking turns; the ratios are medians over turns, not ratios of medians."""

    work: str
    beam: int
    threads: int
    load: float
    """The load average of the machine at the start."""
    sentences: int
    compared: int
    """Sentences that the slower system decoded too."""
    ours: Pace
    other: Pace
    ratio: float
    """Our sentences a second over the other's."""
    latency_ratio: float
    """Our time for one sentence alone over the other's."""
    agreement: float
    """The share of compared sentences with identical translations."""
    apart: float | None
    """The largest difference between the scores of two translations; None where they are not comparable."""


def random_sentences(count: int, vocabulary: int, seed: int = 0) -> list[list[int]]:
    """Lengths as image captions have them in pieces: about 14, from 5 to 35."""
    random = torch.Generator().manual_seed(seed)
    lengths = (torch.randn(count, generator=random) * 4.5 + 14).round().clamp(5, 35).long()
    return [torch.randint(4, vocabulary, (n,), generator=random).tolist() for n in lengths.tolist()]


def measure_decoding(
    work: Work = MULTI30K,
    sentences: Sequence[Sequence[int]] | None = None,
    *,
    beam: int = 5,
    sample: int = 8,
    alone: int = 3,
    threads: int | None = None,
    words: int = 13,
    device: str = "cpu",
    together: int = ROWS,
) -> DecodingFigures:
    """Ours in groups of sentences of like length; the textbook on `sample` of each group, one at a time.

    `alone` sentences of each group are also decoded alone by both, for the latency. Random weights, with which
    translations end after about `words` words. Everything in float32 proper, also on a GPU.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    torch.manual_seed(0)
    textbook = Textbook(work).eval()
    wind(textbook, words)
    textbook.to(device)
    load = os.getloadavg()[0]
    ours = prepare_for_decoding(ours_with(textbook).eval())
    rows = sorted(random_sentences(1000, work.vocabulary) if sentences is None else sentences, key=len)
    groups = [rows[first : first + together] for first in range(0, len(rows), together)]
    with exact_float32():
        if device != "cpu":  # kernels are compiled the first time, graphs captured the second
            for group in (groups[0], groups[0], groups[-1]):
                _turn(textbook, ours, group, beam, 1, 1)
        turns = [_turn(textbook, ours, group, beam, sample, alone) for group in groups]
    return DecodingFigures(
        work.name, beam, torch.get_num_threads(), load, len(rows), sum(len(turn.same) for turn in turns),
        pace("ours", [turn.ours for turn in turns]),
        pace("textbook", [turn.other for turn in turns]),
        statistics.median(turn.other.seconds / turn.ours.seconds for turn in turns),
        statistics.median(turn.ours.latency / turn.other.latency for turn in turns),
        statistics.fmean(same for turn in turns for same in turn.same),
        max(turn.apart for turn in turns),
    )  # fmt: skip


@dataclass(frozen=True)
class Spent:
    """One system's share of a turn: seconds for each sentence, and tokens each sentence got."""

    seconds: float
    tokens: float
    latency: float


@dataclass(frozen=True)
class _Turn:
    ours: Spent
    other: Spent
    same: list[bool]
    apart: float


def _turn(
    textbook: Textbook, model: Seq2Seq, group: Sequence[Sequence[int]], beam: int, sample: int, alone: int
) -> _Turn:
    chosen = spread(len(group), sample)
    few = [group[i] for i in chosen]
    found, seconds = timed(partial(beam_ours, model, group, settings(beam)))
    theirs, their_seconds = timed(lambda: [one_by_textbook(textbook, one, beam) for one in few])
    single, their_single = [], []
    for one in few[:alone]:
        single.append(timed(partial(beam_ours, model, [one], settings(beam)))[1])
        their_single.append(timed(partial(one_by_textbook, textbook, one, beam))[1])
    pairs = [(found[i], other) for i, other in zip(chosen, theirs, strict=True)]
    return _Turn(
        Spent(seconds / len(group), statistics.fmean(len(one.tokens) for one in found), statistics.median(single)),
        Spent(
            their_seconds / len(few),
            statistics.fmean(len(one.words) for one in theirs),
            statistics.median(their_single),
        ),
        [one.tokens == other.words for one, other in pairs],
        max(abs(one.normalised - other.mean) for one, other in pairs),
    )


def beam_ours(model: Seq2Seq, group: Sequence[Sequence[int]], config: SearchConfig) -> list[Hypothesis]:
    """The best translation of each sentence, without its attention, as the textbook gives it."""
    batch = pad(group, model.output.weight.device)
    with torch.inference_mode():
        found = decode(model, batch, batch.source_lengths, config, options=replace(config.options, weights=False))
    return [one[0] for one in found]


def one_by_textbook(textbook: Textbook, sentence: Sequence[int], beam: int) -> Found:
    source = torch.tensor(sentence, device=textbook.output.weight.device)
    return textbook_search(textbook, source, beam, limit(len(sentence)))


def settings(beam: int) -> SearchConfig:
    """The best mean log-probability wins, as for the textbook, and `limit` words are the most."""
    return SearchConfig(beam=beam, longest=Longest(factor=2.0, offset=10), length_penalty=1.0)


def limit(source: int) -> int:
    """The most words of a translation, from `settings`."""
    return 2 * source + 10


def spread(count: int, sample: int) -> list[int]:
    """`sample` numbers below `count`, evenly apart."""
    sample = min(sample, count)
    return [round(i * (count - 1) / max(sample - 1, 1)) for i in range(sample)]


def timed(run: Callable[[], Result]) -> tuple[Result, float]:
    start = time.perf_counter()
    result = run()
    return result, time.perf_counter() - start


def pace(name: str, spent: Sequence[Spent]) -> Pace:
    return Pace(
        name,
        statistics.median(1 / one.seconds for one in spent),
        statistics.median(one.tokens / one.seconds for one in spent),
        statistics.median(one.latency for one in spent),
    )

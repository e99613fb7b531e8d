"""Decoding: one loop steps the model, lets a strategy choose, and removes what ended.

Greedy, beam, sampled and forced search are calls of this loop; `decode` runs the one that a config describes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.registry import replaceable
from regard.search.beam import Beam, SearchTree
from regard.search.hypothesis import Hypothesis, Trail
from regard.search.sample import Sampler, Sampling
from regard.search.scoring import Prefixes, check_prefixes, forced_tokens, log_probabilities, restrict
from regard.search.search_config import SearchConfig
from regard.search.search_options import Options
from regard.search.stepper import Stepper
from regard.search.strategy import Ended, Greedy, Live, Strategy, check_choice

Limits = Int[Tensor, "sentence"]
"""Largest number of tokens of each sentence, EOS included, on the device of the model."""
UNSEEN = 1e-3
"""Lower bound of the attention that a position received: its logarithm must be finite."""


def decode(
    stepper: Stepper,
    source: Any,
    lengths: Int[Tensor, "sentence"],
    config: SearchConfig,
    *,
    most: int | None = None,
    options: Options | None = None,
    prefixes: Prefixes | None = None,
    generator: torch.Generator | None = None,
) -> list[list[Hypothesis]]:
    """Hypotheses for each sentence, best first; samples in the order drawn.

    `lengths` are those of the sources, on the model's device; `most` is the largest number of tokens that the model can
    produce; `options` replaces the config's options; without a generator, one is seeded with `config.seed`.
    """
    limits = config.limits(lengths, most)
    options = options or config.options
    if config.sampler is not None:
        generator = generator or torch.Generator(device=lengths.device).manual_seed(config.seed)
        return sample_search(
            stepper, source, limits, generator, sampler=config.sampler, samples=config.nbest, options=options,
            prefixes=prefixes,
        )  # fmt: skip
    if config.beam == 1:
        return [[one] for one in greedy_search(stepper, source, limits, options=options, prefixes=prefixes)]
    return beam_search(
        stepper, source, limits, beam=config.beam, nbest=config.nbest, options=options, prefixes=prefixes,
        lengths=lengths,
    )  # fmt: skip


@replaceable
def greedy_search(
    stepper: Stepper, source: Any, limits: Limits, *, options: Options | None = None, prefixes: Prefixes | None = None
) -> list[Hypothesis]:
    """One hypothesis for each sentence; a sentence leaves the batch as soon as it ends."""
    options = options or Options()
    return [one for (one,) in hypotheses(*run(stepper, source, limits, Greedy(), options, prefixes), options)]


@replaceable
def beam_search(
    stepper: Stepper,
    source: Any,
    limits: Limits,
    *,
    beam: int = 4,
    nbest: int = 1,
    options: Options | None = None,
    prefixes: Prefixes | None = None,
    record: SearchTree | None = None,
    lengths: Int[Tensor, "sentence"] | None = None,
) -> list[list[Hypothesis]]:
    """Up to `nbest` hypotheses for each sentence, best normalised score first.

    Each step keeps the `beam` best continuations of a sentence. Those that end in EOS leave the beam, so beam 1 is
    greedy search. A sentence starts with one row, so no two hypotheses are the same.

    When it stops: log-probabilities are never positive, so a live hypothesis of score s can reach s / lp(limit) at
    best, where lp is the length penalty. Rows that cannot beat the nbest-th finished hypothesis are dropped, and a
    sentence leaves the batch with its last row; this never loses a better hypothesis. The coverage penalty, which needs
    the `lengths` of the sources, is never positive either.

    Hypotheses cut off at their limit come after all finished ones.
    """
    if beam < 1 or not 1 <= nbest <= beam:
        raise ValueError(f"beam must be 1 or more and nbest between 1 and beam, got beam {beam} and nbest {nbest}")
    options = options or Options()
    strategy = Beam(beam, nbest, options.penalty, limits.tolist(), record)
    ended, trail = run(stepper, source, limits, strategy, options, prefixes, lengths=lengths)

    def merit(one: Ended) -> tuple[bool, float]:
        return one.finished, one.merit(options.penalty)

    # The sort is stable: of equal hypotheses the one that ended first stays first.
    return hypotheses([sorted(group, key=merit, reverse=True)[:nbest] for group in ended], trail, options)


def sample_search(
    stepper: Stepper,
    source: Any,
    limits: Limits,
    generator: torch.Generator,
    *,
    sampler: Sampler | None = None,
    samples: int = 1,
    options: Options | None = None,
    prefixes: Prefixes | None = None,
) -> list[list[Hypothesis]]:
    """`samples` draws for each sentence, in the order drawn; scores are the model's own, before any temperature.

    The generator must live on the device of `limits`; the same generator state and batch give the same draws.
    """
    if samples < 1:
        raise ValueError(f"samples must be 1 or more, got {samples}")
    options = options or Options()
    strategy = Sampling(sampler or Sampler(), generator)
    return hypotheses(*run(stepper, source, limits, strategy, options, prefixes, samples), options)


def forced_search(
    stepper: Stepper,
    source: Any,
    targets: Prefixes,
    *,
    device: torch.device | str = "cpu",
    options: Options | None = None,
) -> list[Hypothesis]:
    """Score given targets: each becomes a hypothesis. Targets have no BOS; an EOS at the end gets a row of weights."""
    limits = torch.tensor([len(target) for target in targets], dtype=torch.long, device=device)
    return greedy_search(stepper, source, limits, options=options, prefixes=targets)


def run(
    stepper: Stepper,
    source: Any,
    limits: Limits,
    strategy: Strategy,
    options: Options,
    prefixes: Prefixes | None = None,
    copies: int = 1,
    lengths: Int[Tensor, "sentence"] | None = None,
) -> tuple[list[list[Ended]], Trail]:
    """All ended hypotheses of each sentence. `limits` count tokens, EOS included; the search runs on their device.

    `lengths` are those of the sources; only the coverage penalty needs them.
    """
    longest = limits.cpu().numpy()
    check_prefixes(prefixes, longest, options)
    ended: list[list[Ended]] = [[] for _ in longest]
    trail = Trail()
    for sentence in np.flatnonzero(longest <= 0).tolist():
        ended[sentence] = [Ended(sentence, 0.0, (), (), np.zeros(0, dtype=np.int64), finished=False)] * copies
    covers = lengths.cpu().numpy() if lengths is not None and options.coverage else None
    first = np.repeat(np.flatnonzero(longest > 0), copies)
    if not len(first):
        return ended, trail
    with torch.no_grad():
        live, state = Live.begin(first), stepper.start(source)
        if copies > 1 or len(first) < len(longest):
            state = state.select(torch.as_tensor(first, device=limits.device))
        tokens = torch.full((len(first),), options.bos, dtype=torch.long, device=limits.device)
        while len(live.sentence):
            step = stepper.step(tokens, state)
            forced = forced_tokens(prefixes, live.sentence, live.tokens.shape[1])
            scores = restrict(log_probabilities(step.logits), live.tokens, forced, options)
            choice = strategy.choose(scores, live)
            check_choice(choice, live, ended)
            numbers = trail.add(step.weights if options.weights else None, len(live.sentence))
            grown = live.extend(choice, numbers, None if covers is None else _looked(step.weights))
            going, now = _part(grown, longest, options, covers)
            for hypothesis in now:
                ended[hypothesis.sentence].append(hypothesis)
            winning = strategy.can_still_win(grown := grown.take(going), now)
            parents, before = choice.parent[going][winning], len(live.sentence)
            live, state = grown.take(np.flatnonzero(winning)), step.state
            if len(parents) and not np.array_equal(parents, np.arange(before)):
                state = state.select(torch.as_tensor(parents, device=limits.device))
            tokens = torch.as_tensor(np.ascontiguousarray(live.tokens[:, -1]), device=limits.device)
    return ended, trail


def _part(
    grown: Live, longest: Int[np.ndarray, "sentence"], options: Options, covers: Int[np.ndarray, "sentence"] | None
) -> tuple[Int[np.ndarray, "going"], list[Ended]]:
    """The rows that continue, and the hypotheses that ended with EOS or at their limit."""
    finished = grown.tokens[:, -1] == options.eos
    over = finished | (longest[grown.sentence] <= grown.tokens.shape[1])
    now = [
        Ended(
            sentence=int(grown.sentence[row]),
            score=float(grown.score[row]),
            tokens=tuple(grown.tokens[row].tolist()),
            values=tuple(grown.values[row].tolist()),
            path=grown.path[row],
            finished=bool(finished[row]),
            coverage=0.0
            if grown.seen is None or covers is None
            else coverage_penalty(grown.seen[row, : covers[grown.sentence[row]]], options.coverage),
        )
        for row in np.flatnonzero(over)
    ]
    return np.flatnonzero(~over), now


def _looked(weights: Float[Tensor, "rows layer head source"] | None) -> Float[np.ndarray, "rows source"] | None:
    """The mean over layers and heads, on the host; None for a model without attention."""
    return None if weights is None else weights.float().mean(dim=(1, 2)).cpu().numpy()


def coverage_penalty(seen: Float[np.ndarray, " source"], weight: float) -> float:
    """weight · Σ_s ln min(seen_s, 1): 0 where every position received attention of 1, negative otherwise."""
    return weight * float(np.log(np.clip(seen, UNSEEN, 1.0)).sum())


def hypotheses(ended: Sequence[Sequence[Ended]], trail: Trail, options: Options) -> list[list[Hypothesis]]:
    """The ended hypotheses of each sentence as `Hypothesis`, with their attention."""
    weights = iter(trail.collect([one.path for group in ended for one in group]))

    def finish(one: Ended) -> Hypothesis:
        merit = one.merit(options.penalty)
        return Hypothesis(one.tokens, one.score, merit, one.values, next(weights), one.finished)

    return [[finish(one) for one in group] for group in ended]

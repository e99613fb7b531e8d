"""`regard align` as plain functions: what was asked for becomes models, text, gold and rules, then links and scores."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from regard.alignment import AlignmentScore, LinkRule, Links, Tuned, parse_heads
from regard.bundle.store import Bundle
from regard.data.pair import Pair
from regard.lab.align import (
    DEFAULT,
    METHODS,
    Aligned,
    Direction,
    Progress,
    align,
    check_opposite,
    check_same_words,
    default_rule,
    seen_gold,
    word_note,
)
from regard.lab.asked import Asked
from regard.lab.evaluate import recipe_pairs
from regard.lab.reading import Reading, Rule, check_made_for, load_reading, rule_of
from regard.lab.sides import GoldFile, Sides, read_sides
from regard.lab.tuning import Best, tune_directions, tune_to_agree
from regard.plot import AttentionMap
from regard.runtime.aligner import Aligner
from regard.runtime.posterior import Posterior, check_posterior
from regard.runtime.translator import Translator, load
from regard.text.errors import InputError

NOTHING_TO_TUNE_ON = (
    "nothing to tune on: the recipe's development set has no gold links; give --dev-source, --dev-target and "
    "--dev-gold, or --reverse with a model of the other direction, which is then tuned to agree"
)


@dataclass(frozen=True)
class Job:
    """Everything that is needed to align."""

    asked: Asked
    sides: Sides
    forward: Direction
    backward: Direction | None
    method: str | None
    """How both directions are joined; None: what tuning finds best, or the usual way."""
    gold: list[Links] | None
    translated: bool
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """Links, how they were read out of attention, and how good they are where gold is known."""

    job: Job
    aligned: Aligned
    tuned: dict[str, Tuned]
    scores: dict[str, AlignmentScore] | None
    notes: tuple[str, ...]
    development: float | None = None
    """The error rate of what was written on the development set, where there was gold to tune on."""

    @property
    def posterior(self) -> Posterior | None:
        """What links were read from; None: attention itself."""
        return self.job.forward.aligner.posterior

    @property
    def reading(self) -> Reading:
        """All that is needed to read other text in the same way."""
        forward, backward, asked = self.job.forward, self.job.backward, self.posterior
        return Reading.model_validate(
            {
                "forward": rule_of(forward.rule),
                "backward": None if backward is None else rule_of(backward.rule),
                "forward_joined": rule_of(forward.paired),
                "backward_joined": None if backward is None else rule_of(backward.paired),
                "symmetrise": None if backward is None else self.aligned.chosen,
                "posterior": None if asked is None else asdict(asked),
                "development": self.development,
            }
        )

    def json(self) -> dict[str, Any]:
        directions = {"forward": self.job.forward, "backward": self.job.backward}
        return {
            "pairs": len(self.job.sides),
            "links": self.aligned.links.links,
            "chosen": self.aligned.chosen,
            "rules": {name: asdict(one.rule) for name, one in directions.items() if one is not None},
            "paired_rules": {
                name: asdict(one.paired)
                for name, one in directions.items()
                if one is not None and one.paired is not None
            },
            "tuned": {
                name: {"aer": one.aer, "by_shift": {str(k): v for k, v in one.by_shift().items()}}
                for name, one in self.tuned.items()
            },
            "posterior": None if self.posterior is None else asdict(self.posterior),
            "development": self.development,
            "scores": None if self.scores is None else {name: asdict(one) for name, one in self.scores.items()},
            "entropy": None if self.aligned.entropy is None else self.aligned.entropy.json(),
            "notes": list(self.notes),
        }


def prepare(asked: Asked, progress: Progress = lambda done: None) -> Job:
    """Load the models, read the text (translating it where there is no target) and the gold."""
    asked.check()
    reading = None if asked.reading is None else load_reading(asked.reading)
    translator = load(asked.bundle, asked.device, longest_source=asked.longest_source, trust=asked.trust)
    backward = None
    if asked.reverse is not None:
        other = load(asked.reverse, asked.device, longest_source=asked.longest_source, trust=asked.trust)
        backward = _direction(other.bundle, asked)
    forward = _direction(translator.bundle, asked)
    if reading is not None:
        forward, backward = _read_as(reading, forward, backward, asked)
    translated = asked.source is not None and asked.target is None
    sides, known = _read(asked, translator, progress)
    notes: list[str] = []
    if backward is not None:
        check_opposite(translator.bundle, backward.aligner.bundle, sides)
        if not asked.spaces:
            check_same_words(translator.bundle, backward.aligner.bundle)
    if asked.gold is not None:
        known, notes = _gold(asked, asked.gold, sides, forward.aligner)
    elif known is not None:
        known = seen_gold(forward.aligner, sides, known)[0]
    remark = word_note(sides, translator.bundle) if asked.gold is not None and not asked.spaces else None
    method = asked.symmetrise if reading is None else reading.symmetrise
    return Job(asked, sides, forward, backward, method, known, translated, (*notes, *([remark] if remark else [])))


def run(job: Job, progress: Progress = lambda done: None) -> Outcome:
    """Tune if that was asked for, align, score."""
    best, notes = None, list(job.notes)
    if job.asked.tunes:
        job, best, more = _tune(job)
        notes += more
    elif job.asked.reading is None and job.forward.rule.heads == () and job.forward.aligner.shape != (1, 1):
        layers, heads = job.forward.aligner.shape
        notes.append(
            f"the mean of {layers} layers × {heads} heads was used: one head or layer usually aligns better; "
            "--tune finds it, --heads names it"
        )
    aligned = align(
        job.sides, job.forward, job.backward, method=job.method or DEFAULT, every=job.gold is not None,
        entropy=job.asked.entropy, progress=progress,
    )  # fmt: skip
    scores = None if job.gold is None else aligned.scores(job.gold)
    tuned, development = ({}, None) if best is None else (best.alone, best.aer)
    return Outcome(job, aligned, tuned, scores, (*notes, *aligned.notes), development)


def attention_maps(outcome: Outcome, most: int) -> list[AttentionMap]:
    """The forward model's attention between the words of the first pairs, gold framed where it is known."""
    job, sides = outcome.job, outcome.job.sides
    some = Sides(sides.sources[:most], sides.targets[:most])
    looks = dict(job.forward.aligner.look(some.sources, some.targets))
    maps = []
    for number, look in sorted(looks.items()):
        matrix = job.forward.rule.matrix(look.between_words(job.forward.rule.shift))
        links = None if job.gold is None else job.gold[number]
        read = " ".join(f"{s}-{t}" for s, t in sorted(outcome.aligned.links[number]))
        maps.append(AttentionMap.of(matrix, look.source_words, look.target_words, links=links, facts=[("links", read)]))
    return maps


def _direction(bundle: Bundle, asked: Asked) -> Direction:
    for one in asked.posteriors:
        if one is not None:
            check_posterior(bundle.model, one)
    aligner = Aligner(bundle, spaces=asked.spaces, posterior=asked.posteriors[0])
    known = default_rule(bundle)
    taught = known.shift if aligner.posterior is None else 0
    rule = replace(asked.rule, shift=taught) if asked.shift is None else asked.rule
    if asked.heads is not None:
        try:
            rule = replace(rule, heads=parse_heads(asked.heads, *aligner.shape))
        except ValueError as error:
            raise InputError(f"--heads {asked.heads}: {error}") from None
    else:
        rule = replace(rule, heads=known.heads)
    return Direction(aligner, rule)


def _read_as(
    reading: Reading, forward: Direction, backward: Direction | None, asked: Asked
) -> tuple[Direction, Direction | None]:
    """Both directions with the rules of a file."""
    if reading.backward is not None and backward is None:
        raise InputError(f"{asked.reading} reads two directions: name the model of the other one with --reverse")
    if reading.backward is None and backward is not None:
        raise InputError(f"{asked.reading} reads one direction: leave --reverse out, or tune both and save that")
    found = [_with(forward, reading.forward, reading.forward_joined, reading, asked)]
    if backward is not None and reading.backward is not None:
        found.append(_with(backward, reading.backward, reading.backward_joined, reading, asked))
    return found[0], found[1] if backward is not None else None


def _with(direction: Direction, rule: Rule, joined: Rule | None, reading: Reading, asked: Asked) -> Direction:
    bundle, posterior = direction.aligner.bundle, reading.ask()
    rules = [rule.link_rule(), *([] if joined is None else [joined.link_rule()])]
    for one in rules:
        check_made_for(bundle, one, posterior, asked.reading or Path())
    aligner = Aligner(bundle, spaces=asked.spaces, posterior=posterior)
    return Direction(aligner, rules[0], rules[1] if joined is not None else None)


def _read(asked: Asked, translator: Translator, progress: Progress) -> tuple[Sides, list[Links] | None]:
    if asked.data is not None:
        return read_sides(asked.data), None
    if asked.source is not None and asked.target is not None:
        return read_sides(asked.source, asked.target), None
    if asked.source is not None:
        from regard.data.lines import read_lines

        sources = list(read_lines(asked.source))
        if not sources:
            raise InputError(f"{asked.source} is empty: nothing to align")
        return Sides(sources, [one.text for one in translator.translate(sources)]), None
    pairs = recipe_pairs(translator.bundle, "test" if asked.split is None else asked.split).pairs
    return Sides.of(pairs), _links_of(pairs)


def _links_of(pairs: Sequence[Pair]) -> list[Links] | None:
    """Gold where every pair has it."""
    links = [pair.links for pair in pairs if pair.links is not None]
    return links if len(links) == len(pairs) else None


def _gold(asked: Asked, path: Path, sides: Sides, aligner: Aligner) -> tuple[list[Links], list[str]]:
    pairs = zip(sides.sources, sides.targets, strict=True)
    lengths = [aligner.count_words(source, target, seen=False) for source, target in pairs]
    gold, notes = GoldFile(path, asked.gold_base, asked.flip_gold).read(lengths)
    seen, more = seen_gold(aligner, sides, gold)
    return seen, [*notes, *more]


def _tune(job: Job) -> tuple[Job, Best | None, list[str]]:
    """The job with rules found by measurement, and what was measured where there is gold."""
    asked, backward = job.asked, job.backward
    sides, gold, notes = _development(job)
    if gold is None:
        if backward is None:
            raise InputError(NOTHING_TO_TUNE_ON)
        agreed, more = _tune_to_agree(job, backward)
        return agreed, None, [*notes, *more]
    wanted = METHODS if job.method is None else (job.method,)
    tried = tune_directions(job.forward, backward, sides, gold, wanted, asked.posteriors)
    best = tried[0]
    if len(tried) > 1:
        plain = next(f" (attention: {one.aer:.3f})" for one in tried if one.posterior is None)
        said = f"{_described(best.posterior)} is the best of {len(tried)} ways to read"
        notes.append(f"{said}: AER {best.aer:.3f} on the development set{plain}")
    forward, both = _tuned(job.forward, best.posterior, best.alone["forward"].rule), best.together
    if both is None or backward is None:
        return replace(job, forward=forward), best, notes
    said = f"forward {both.forward.describe()}, backward {both.backward.describe()}"
    notes.append(f"tuned together: {both.method} of {said}: AER {both.aer:.3f} on the development set")
    forward = replace(forward, paired=both.forward)
    backward = replace(_tuned(backward, best.posterior, best.alone["backward"].rule), paired=both.backward)
    return replace(job, forward=forward, backward=backward, method=both.method), best, notes


def _development(job: Job) -> tuple[Sides, list[Links] | None, list[str]]:
    """The development set that was named, or the recipe's; its gold, and what is odd about it."""
    source, target, gold_path = job.asked.dev
    aligner = job.forward.aligner
    if source is not None and target is not None and gold_path is not None:
        sides = read_sides(source, target)
        gold, notes = _gold(job.asked, gold_path, sides, aligner)
        return sides, gold, notes
    pairs = recipe_pairs(aligner.bundle, "dev").pairs if aligner.bundle.manifest.recipe else []
    sides, known = Sides.of(pairs), _links_of(pairs) if pairs else None
    return sides, None if known is None else seen_gold(aligner, sides, known)[0], []


def _tune_to_agree(job: Job, backward: Direction) -> tuple[Job, list[str]]:
    """The same where there is no gold: what makes both directions agree."""
    tried = tune_to_agree(job.forward, backward, job.sides, job.asked.posteriors)
    best, notes = tried[0], []
    if len(tried) > 1:
        plain = next(f" (attention: {one.apart:.1%})" for one in tried if one.posterior is None)
        notes.append(f"{_described(best.posterior)} agrees best of {len(tried)} ways to read{plain}")
    notes.append(f"tuned without gold: the two directions disagree on {best.apart:.1%} of their links")
    forward = _tuned(job.forward, best.posterior, best.forward)
    return replace(job, forward=forward, backward=_tuned(backward, best.posterior, best.backward)), notes


def _tuned(direction: Direction, posterior: Posterior | None, rule: LinkRule) -> Direction:
    aligner = direction.aligner
    return Direction(Aligner(aligner.bundle, spaces=aligner.spaces, posterior=posterior), rule)


def _described(posterior: Posterior | None) -> str:
    """The options that ask so."""
    return "attention" if posterior is None else posterior.describe()

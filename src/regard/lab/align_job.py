"""`regard align` as plain functions: what was asked for becomes models, text, gold and rules, then links and scores."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from regard.alignment import AlignmentScore, LinkRule, Links, Tuned, parse_heads
from regard.alignment.extract import Method as ReadOut
from regard.alignment.together import Together
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
    tune_direction,
    tune_directions,
    tune_to_agree,
    word_note,
)
from regard.lab.evaluate import recipe_pairs
from regard.lab.sides import GoldFile, Sides, read_sides
from regard.plot import AttentionMap
from regard.runtime.aligner import Aligner
from regard.runtime.posterior import Posterior
from regard.runtime.translator import Translator, load
from regard.text.errors import InputError

NOTHING_TO_TUNE_ON = (
    "nothing to tune on: the recipe's development set has no gold links; give --dev-source, --dev-target and "
    "--dev-gold, or --reverse with a model of the other direction, which is then tuned to agree"
)


@dataclass(frozen=True)
class Asked:
    """What the command line says."""

    bundle: Path
    reverse: Path | None = None
    data: Path | None = None
    source: Path | None = None
    target: Path | None = None
    split: str = "test"
    symmetrise: str | None = None
    spaces: bool = False
    rule: LinkRule = field(default_factory=LinkRule)
    heads: str | None = None
    shift: int | None = None
    """As in the rule; None: what training taught."""
    tune: bool = False
    dev: tuple[Path | None, Path | None, Path | None] = (None, None, None)
    gold: Path | None = None
    gold_base: int | None = None
    flip_gold: bool = False
    entropy: bool = False
    posterior: Posterior | None = None
    device: str = "cpu"

    def check(self) -> None:
        """Refuse what does not go together before any model is loaded."""
        if self.data is not None and (self.source is not None or self.target is not None):
            raise InputError(f"{self.data} and --source or --target were both given: leave one of them out")
        if self.target is not None and self.source is None:
            raise InputError("--target needs --source: links join the lines of both")
        if self.symmetrise is not None and self.symmetrise not in METHODS:
            raise InputError(f"no symmetrisation '{self.symmetrise}': valid choices are {', '.join(METHODS)}")
        if self.symmetrise is not None and self.reverse is None:
            raise InputError("--symmetrise joins two directions: name the model of the other one with --reverse")
        if any(self.dev) and not all(self.dev):
            raise InputError("--dev-source, --dev-target and --dev-gold go together")
        if self.gold is None and (self.gold_base is not None or self.flip_gold) and not any(self.dev):
            raise InputError("--gold-base and --flip-gold say how --gold is read: name that file too")
        if self.tunes and self._chosen:
            raise InputError(f"--tune finds {self._chosen} itself: leave one of them out")
        if self.source is not None and self.target is None and self.gold is not None:
            raise InputError("--gold is about a given translation: name it with --target")

    @property
    def _chosen(self) -> str:
        """The options that say how links are read, as far as they were given."""
        given = {
            "--heads": self.heads is not None,
            "--shift": self.shift is not None,
            "--method": self.rule.method != "argmax",
            "--threshold": self.rule.threshold is not None,
            "--null": self.rule.null,
        }
        return ", ".join(option for option, is_given in given.items() if is_given)

    @property
    def tunes(self) -> bool:
        return self.tune or any(self.dev)


@dataclass(frozen=True)
class Job:
    """Everything that is needed to align."""

    asked: Asked
    sides: Sides
    forward: Direction
    backward: Direction | None
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
    """The error rate of the chosen way on the development set, where two directions were tuned together."""

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
            "development": self.development,
            "scores": None if self.scores is None else {name: asdict(one) for name, one in self.scores.items()},
            "entropy": None if self.aligned.entropy is None else self.aligned.entropy.json(),
            "notes": list(self.notes),
        }


def link_rule(method: str, threshold: float | None, shift: int, null: bool) -> LinkRule:
    """The rule that options describe, or what is wrong with them."""
    if method not in get_args(ReadOut):
        raise InputError(f"no method '{method}': valid choices are {', '.join(get_args(ReadOut))}")
    try:
        return LinkRule((), shift, "threshold" if method == "threshold" else "argmax", threshold, null)
    except ValueError as error:
        raise InputError(str(error)) from None


def ask_posterior(prior: float | None, evidence: str | None) -> Posterior | None:
    """What the options --posterior and --evidence mean together."""
    if prior is not None:
        return Posterior(prior, evidence or "state")
    if evidence is not None:
        raise InputError(f"--evidence {evidence} says what --posterior asks: give --posterior X too, 1 is Bayes' rule")
    return None


def prepare(asked: Asked, progress: Progress = lambda done: None) -> Job:
    """Load the models, read the text (translating it where there is no target) and the gold."""
    asked.check()
    translator = load(asked.bundle, asked.device)
    forward = _direction(translator.bundle, asked)
    backward = None
    if asked.reverse is not None:
        backward = _direction(load(asked.reverse, asked.device).bundle, asked)
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
    return Job(asked, sides, forward, backward, known, translated, (*notes, *([remark] if remark else [])))


def run(job: Job, progress: Progress = lambda done: None) -> Outcome:
    """Tune if that was asked for, align, score."""
    tuned: dict[str, Tuned] = {}
    notes = list(job.notes)
    method, together = job.asked.symmetrise, None
    if job.asked.tunes:
        job, tuned, together, more = _tune(job)
        method, notes = method or (None if together is None else together.method), [*notes, *more]
    elif job.forward.rule.heads == () and job.forward.aligner.shape != (1, 1):
        layers, heads = job.forward.aligner.shape
        notes.append(
            f"the mean of {layers} layers × {heads} heads was used: one head or layer usually aligns better; "
            "--tune finds it, --heads names it"
        )
    aligned = align(
        job.sides, job.forward, job.backward, method=method or DEFAULT, every=job.gold is not None,
        entropy=job.asked.entropy, progress=progress,
    )  # fmt: skip
    scores = None if job.gold is None else aligned.scores(job.gold)
    development = None if together is None else together.aer
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
    aligner = Aligner(bundle, spaces=asked.spaces, posterior=asked.posterior)
    known = default_rule(bundle)
    taught = known.shift if asked.posterior is None else 0
    rule = replace(asked.rule, shift=taught) if asked.shift is None else asked.rule
    if asked.heads is not None:
        try:
            rule = replace(rule, heads=parse_heads(asked.heads, *aligner.shape))
        except ValueError as error:
            raise InputError(f"--heads {asked.heads}: {error}") from None
    else:
        rule = replace(rule, heads=known.heads)
    return Direction(aligner, rule)


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
    pairs = recipe_pairs(translator.bundle, asked.split).pairs
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


def _tune(job: Job) -> tuple[Job, dict[str, Tuned], Together | None, list[str]]:
    """The job with rules found by measurement, what was measured, and what both directions do best if gold says so."""
    asked, notes = job.asked, list[str]()
    source, target, gold_path = asked.dev
    if source is not None and target is not None and gold_path is not None:
        sides = read_sides(source, target)
        gold: list[Links] | None
        gold, notes = _gold(asked, gold_path, sides, job.forward.aligner)
    else:
        bundle = job.forward.aligner.bundle
        pairs = recipe_pairs(bundle, "dev").pairs if bundle.manifest.recipe else []
        sides, gold = Sides.of(pairs), _links_of(pairs) if pairs else None
        if gold is not None:
            gold = seen_gold(job.forward.aligner, sides, gold)[0]
    if gold is None:
        if job.backward is None:
            raise InputError(NOTHING_TO_TUNE_ON)
        forward, backward, apart = tune_to_agree(job.forward, job.backward, job.sides)
        notes.append(f"tuned without gold: the two directions disagree on {apart:.1%} of their links")
        return replace(job, forward=forward, backward=backward), {}, None, notes
    if job.backward is None:
        forward, tuned = tune_direction(job.forward, sides, gold)
        return replace(job, forward=forward), {"forward": tuned}, None, notes
    wanted = METHODS if asked.symmetrise is None else (asked.symmetrise,)
    both, found = tune_directions(job.forward, job.backward, sides, gold, wanted)
    said = f"forward {both.forward.describe()}, backward {both.backward.describe()}"
    notes.append(f"tuned together: {both.method} of {said}: AER {both.aer:.3f} on the development set")
    forward = replace(job.forward, rule=found["forward"].rule, paired=both.forward)
    backward = replace(job.backward, rule=found["backward"].rule, paired=both.backward)
    return replace(job, forward=forward, backward=backward), found, both, notes

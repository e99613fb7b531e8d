"""`regard align` as functions: check the request, load models, text and gold, tune, align, score."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from regard.alignment import AlignmentScore, LinkRule, Links, parse_heads
from regard.alignment.symmetrise import WAYS
from regard.bundle.store import Bundle
from regard.lab.align_corpus import (
    DEFAULT,
    Aligned,
    Direction,
    PairsDone,
    align,
    check_opposite,
    check_same_words,
    default_rule,
    gold_in_words,
    word_note,
)
from regard.lab.align_settings import AlignRequest, AlignSettings, Extraction
from regard.lab.evaluate_model import recipe_pairs
from regard.lab.parallel import GoldFile, ParallelText, gold_links, read_parallel_text
from regard.lab.tuning import Tuning, tune_by_agreement, tune_with_gold
from regard.plot import AttentionMap
from regard.runtime.aligner import Aligner
from regard.runtime.posterior import Posterior, check_posterior
from regard.runtime.translator import Translator, load
from regard.text.input_error import InputError


@dataclass(frozen=True)
class AlignJob:
    """The inputs of an alignment: models, rules, text and gold."""

    request: AlignRequest
    text: ParallelText
    forward: Direction
    backward: Direction | None
    symmetrise: str | None
    """None: the symmetrisation that tuning finds best, or the default."""
    gold: list[Links] | None
    translated: bool
    notes: tuple[str, ...]


@dataclass(frozen=True)
class AlignOutcome:
    """Links, how they were extracted, and their scores where gold is known."""

    job: AlignJob
    aligned: Aligned
    tuning: Tuning | None
    """The result of tuning; None without gold to tune on."""
    scores: dict[str, AlignmentScore] | None
    notes: tuple[str, ...]

    @property
    def posterior(self) -> Posterior | None:
        """The posterior that links were extracted from; None: attention itself."""
        return self.job.forward.aligner.posterior

    @property
    def development(self) -> float | None:
        """The error rate on the development set."""
        return None if self.tuning is None else self.tuning.error

    @property
    def settings(self) -> AlignSettings:
        """All that is needed to align other text in the same way."""
        forward, backward = self.job.forward, self.job.backward
        rules = {"forward": forward.rule, "forward_joined": forward.joined}
        if backward is not None:
            rules |= {"backward": backward.rule, "backward_joined": backward.joined}
        return AlignSettings.model_validate(
            {name: rule and asdict(rule) for name, rule in rules.items()}
            | {"symmetrise": None if backward is None else self.aligned.chosen}
            | {"posterior": self.posterior and asdict(self.posterior), "development": self.development}
        )

    def json(self) -> dict[str, Any]:
        directions = {"forward": self.job.forward, "backward": self.job.backward}
        alone = {} if self.tuning is None else self.tuning.alone
        return {
            "pairs": len(self.job.text),
            "links": self.aligned.links.links,
            "chosen": self.aligned.chosen,
            "rules": {name: asdict(one.rule) for name, one in directions.items() if one is not None},
            "paired_rules": {name: asdict(one.joined) for name, one in directions.items() if one and one.joined},
            "tuned": {name: {"aer": one.aer, "by_shift": one.by_shift()} for name, one in alone.items()},
            "posterior": None if self.posterior is None else asdict(self.posterior),
            "development": self.development,
            "scores": None if self.scores is None else {name: asdict(one) for name, one in self.scores.items()},
            "entropy": None if self.aligned.entropy is None else self.aligned.entropy.json(),
            "notes": list(self.notes),
        }


def prepare(request: AlignRequest) -> AlignJob:
    """Load the models, read the text (or translate it, where there is no target) and the gold links."""
    request.check()
    settings = None if request.settings is None else AlignSettings.load(request.settings)
    longest, backward = request.options.longest_source, None
    translator = load(request.bundle, request.device, longest_source=longest, trust=request.trust)
    if request.reverse is not None:
        other = load(request.reverse, request.device, longest_source=longest, trust=request.trust)
        backward = _direction(other.bundle, request)
    forward = _direction(translator.bundle, request)
    if settings is not None:
        forward, backward = _with_settings(settings, forward, backward, request)
    text, gold = _read(request, translator)
    notes: list[str] = []
    if backward is not None:
        check_opposite(translator.bundle, backward.aligner.bundle, text)
        if not request.spaces:
            check_same_words(translator.bundle, backward.aligner.bundle)
    if request.gold is not None:
        gold, notes = _read_gold(request, request.gold, text, forward.aligner)
        notes += [] if request.spaces else word_note(text, translator.bundle)
    elif gold is not None:  # of the recipe's corpus, between words
        forward, backward = _between_words(forward), None if backward is None else _between_words(backward)
        gold = gold_in_words(forward.aligner, text, gold)[0]
    method = request.options.symmetrise if settings is None else settings.symmetrise
    translated = request.source is not None and request.target is None
    return AlignJob(request, text, forward, backward, method, gold, translated, tuple(notes))


def run(job: AlignJob, progress: PairsDone = lambda done: None) -> AlignOutcome:
    """Tune if requested, align, score."""
    tuning, notes = None, list(job.notes)
    if job.request.tunes:
        job, tuning, more = _tune(job)
        notes += more
    elif job.request.settings is None and job.forward.rule.heads == () and job.forward.aligner.shape != (1, 1):
        layers, heads = job.forward.aligner.shape
        notes.append(
            f"the mean of {layers} layers × {heads} heads was used: one head or layer usually aligns better; "
            "--tune finds it, --set heads=LAYER.HEAD names it"
        )
    aligned = align(
        job.text, job.forward, job.backward, method=job.symmetrise or DEFAULT, every=job.gold is not None,
        entropy=job.request.options.entropy, progress=progress,
    )  # fmt: skip
    scores = None if job.gold is None else aligned.scores(job.gold)
    return AlignOutcome(job, aligned, tuning, scores, (*notes, *aligned.notes))


def attention_maps(outcome: AlignOutcome, most: int) -> list[AttentionMap]:
    """Heat-maps of the forward model's attention between the words of the first pairs, with gold where it is known."""
    job, text = outcome.job, outcome.job.text.first(most)
    maps = []
    for number, look in sorted(job.forward.aligner.look(text.sources, text.targets)):
        matrix = job.forward.rule.matrix(look.between_words(job.forward.rule.shift))
        gold = None if job.gold is None else job.gold[number]
        links = " ".join(f"{s}-{t}" for s, t in sorted(outcome.aligned.links[number]))
        maps.append(AttentionMap(matrix, look.source_words, look.target_words, links=gold, facts=[("links", links)]))
    return maps


def _direction(bundle: Bundle, request: AlignRequest) -> Direction:
    """A model with the rule of the options; keys that are not set keep the rule that training used."""
    options = request.options
    for posterior in options.posteriors:
        if posterior is not None:
            check_posterior(bundle.model, posterior)
    aligner = Aligner(bundle, spaces=request.spaces, posterior=options.posteriors[0])
    rule = default_rule(bundle)
    shift = options.shift if options.shift is not None else rule.shift if aligner.posterior is None else 0
    heads = rule.heads
    if options.heads is not None:
        try:
            heads = parse_heads(options.heads, *aligner.shape)
        except ValueError as error:
            raise InputError(f"--set heads={options.heads}: {error}") from None
    return Direction(aligner, replace(options.rule, shift=shift, heads=heads))


def _with_settings(
    settings: AlignSettings, forward: Direction, backward: Direction | None, request: AlignRequest
) -> tuple[Direction, Direction | None]:
    """Both directions with the rules of a settings file."""
    path = request.settings or Path()
    if settings.backward is not None and backward is None:
        raise InputError(f"{path} is for two directions: name the model of the other one with --reverse")
    if settings.backward is None and backward is not None:
        raise InputError(f"{path} is for one direction: leave --reverse out, or tune both and save that")

    def changed(direction: Direction, *rules: Extraction | None) -> Direction:
        bundle = direction.aligner.bundle
        rule, joined = settings.rules_for(bundle, rules, path)
        return Direction(
            Aligner(bundle, spaces=request.spaces, posterior=settings.to_posterior()), rule or LinkRule(), joined
        )

    other = None if backward is None else changed(backward, settings.backward, settings.backward_joined)
    return changed(forward, settings.forward, settings.forward_joined), other


def _between_words(direction: Direction) -> Direction:
    return replace(direction, aligner=replace(direction.aligner, characters=False))


def _read(request: AlignRequest, translator: Translator) -> tuple[ParallelText, list[Links] | None]:
    """The text and, if it is a split of the recipe's data, its gold links."""
    if request.data is not None:
        return read_parallel_text(request.data), None
    if request.source is not None and request.target is not None:
        return read_parallel_text(request.source, request.target), None
    if request.source is not None:
        sources = read_parallel_text(request.source, request.source).sources
        return ParallelText(sources, [one.text for one in translator.translate(sources)]), None
    pairs = recipe_pairs(translator.bundle, "test" if request.split is None else request.split).pairs
    return ParallelText.of(pairs), gold_links(pairs)


def _read_gold(
    request: AlignRequest, path: Path, text: ParallelText, aligner: Aligner
) -> tuple[list[Links], list[str]]:
    pairs = zip(text.sources, text.targets, strict=True)
    lengths = [aligner.count_words(source, target, seen=False) for source, target in pairs]
    gold, notes = GoldFile(path, request.options.gold_base, request.options.flip_gold).read(lengths)
    known, more = gold_in_words(aligner, text, gold)
    return known, [*notes, *more]


def _tune(job: AlignJob) -> tuple[AlignJob, Tuning | None, list[str]]:
    """The job with tuned rules, and the tuning where there was gold."""
    text, gold, notes = _development(job)
    posteriors = job.request.options.posteriors
    if gold is not None:
        methods = WAYS if job.symmetrise is None else (job.symmetrise,)
        tried = tune_with_gold(job.forward, job.backward, text, gold, methods, posteriors)
    elif job.backward is not None:
        tried = tune_by_agreement(job.forward, job.backward, job.text, posteriors)
    else:
        raise InputError(
            "nothing to tune on: the recipe's development set has no gold links; set dev_source, dev_target and "
            "dev_gold, or name a model of the other direction with --reverse to tune both to agree"
        )
    best = tried[0]
    error = f"AER {best.error:.3f} on the development set" if gold is not None else f"disagreement {best.error:.1%}"
    if len(tried) > 1:
        name = "attention" if best.posterior is None else best.posterior.describe()
        plain = next(one.error for one in tried if one.posterior is None)
        shown = f"{plain:.3f}" if gold is not None else f"{plain:.1%}"
        notes.append(f"{name} is the best of {len(tried)} posteriors: {error} (attention: {shown})")
    if gold is None:
        notes.append(f"tuned without gold: the two directions disagree on {best.error:.1%} of their links")
    if best.joined is not None:
        rules = f"forward {best.joined[0].describe()}, backward {best.joined[1].describe()}"
        notes.append(f"tuned together: {best.symmetrise} of {rules}: {error}")

    def tuned(direction: Direction, rule: LinkRule, joined: LinkRule | None) -> Direction:
        aligner = replace(direction.aligner, posterior=best.posterior)
        return Direction(aligner, rule, joined)

    joined = best.joined or (None, None)
    job = replace(job, forward=tuned(job.forward, best.forward, joined[0]))
    if job.backward is not None and best.backward is not None:
        backward = tuned(job.backward, best.backward, joined[1])
        job = replace(job, backward=backward, symmetrise=best.symmetrise or job.symmetrise)
    return job, None if gold is None else best, notes


def _development(job: AlignJob) -> tuple[ParallelText, list[Links] | None, list[str]]:
    """The development set of the options or of the recipe, its gold links, and warnings."""
    source, target, gold_path = job.request.options.development
    aligner = job.forward.aligner
    if source is not None and target is not None and gold_path is not None:
        text = read_parallel_text(source, target)
        gold, notes = _read_gold(job.request, gold_path, text, aligner)
        return text, gold, notes
    pairs = recipe_pairs(aligner.bundle, "dev").pairs if aligner.bundle.manifest.recipe else []
    text, known = ParallelText.of(pairs), gold_links(pairs)
    return text, None if known is None else gold_in_words(aligner, text, known)[0], []

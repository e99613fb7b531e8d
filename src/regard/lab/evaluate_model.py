"""Evaluate a translator on pairs: translate, score, align by forcing the reference, group by length."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from regard.alignment import Link, LinkRule, Links, attention_entropy
from regard.bundle.find import find_bundle, is_packaged
from regard.bundle.manifest import NAME, read_manifest
from regard.bundle.store import Bundle
from regard.data.pair import Pair
from regard.data.splits import Corpus, load_split, split_files
from regard.data.tables import CatalogueData, HuggingFaceData
from regard.evaluation import Evaluation, LengthScores, evaluate
from regard.lab.align_corpus import Direction, default_rule
from regard.lab.parallel import ParallelText, visible_links
from regard.lab.scoring_protocol import Protocol, find_protocol
from regard.models.model_config import RecurrentConfig
from regard.plot import AttentionMap
from regard.runtime.aligner import Aligner
from regard.runtime.translation import Translation
from regard.runtime.translator import Translator
from regard.text.input_error import InputError
from regard.text.tokenizer import Tokenizer
from regard.text.words import word_spans
from regard.training.journal import cut_short
from regard.training.portable import located_recipe
from regard.training.recipe import parse_recipe

EDGES = (6, 11, 16, 21, 31, 41, 61, 81, 101)
"""Source words at which a new bin begins."""
CHUNK = 512
"""Sentences between two progress reports."""
FIRST_ALIGNS = "the alignment error rate is that of the first model alone"
NO_FOUR_WORDS = "BLEU is 0 because no reference has four words: use chrF or exact match"
NO_ALIGNMENT = "no alignment error rate: one fixed vector, no alignment exists"


@dataclass(frozen=True)
class Example:
    """A translation with its references; references and gold links refer to the text in the compared form."""

    references: tuple[str, ...]
    links: Links | None
    translation: Translation
    text: str
    counts_words: bool = True
    """Whether the translation's words are those that gold links count, not characters."""

    @classmethod
    def of(
        cls, pair: Pair, translation: Translation, bundle: Bundle, protocol: Protocol | None = None, *more: str
    ) -> "Example":
        """`more` are further references; without a protocol, references take the form that the model can write."""
        protocol = protocol or find_protocol("model", bundle.target)
        references = tuple(protocol.reference(one) for one in (pair.target, *more))
        links = _seen_links(pair, bundle.source, bundle.target)
        words = "characters" not in (bundle.source.config.unit, bundle.target.config.unit)
        return cls(references, links, translation, protocol.hypothesis(translation.text), words)

    @property
    def reference(self) -> str:
        return self.references[0]

    @property
    def right(self) -> bool:
        return self.text in self.references

    def attention_map(self) -> AttentionMap:
        """The heat-map beside the reference; gold links are framed where the translation is the reference."""
        framed = self.counts_words and self.text == self.reference
        drawn = self.translation.attention_map(links=self.links if framed else None)
        return replace(drawn, facts=(*drawn.facts, ("reference", "✓ the same" if self.right else self.reference)))


@dataclass(frozen=True)
class Scoring:
    protocol: str | None = None
    """None: model for a model, raw for translations from elsewhere."""
    tokenize: str | None = None
    phones: bool = False
    with_ter: bool = False

    def evaluate(
        self, texts: list[str], references: list[tuple[str, ...]], protocol: Protocol, lengths: list[int], **more: Any
    ) -> Evaluation:
        return evaluate(
            texts, references, lengths=lengths, edges=EDGES, tokenize=protocol.tokenize, lowercase=protocol.lowercase,
            phones=self.phones, with_ter=self.with_ter, **more,
        )  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """The scores, the compared texts and, for a model, the translations with their attention."""

    evaluation: Evaluation
    protocol: Protocol
    texts: list[str]
    references: list[tuple[str, ...]]
    examples: list[Example]
    notes: tuple[str, ...] = ()
    source_unit: str = "word"
    """What lengths count: word or character."""
    target_unit: str = "word"
    """What the entropy of attention is averaged over: word or character."""

    def json(self) -> dict[str, Any]:
        """Plain data; bins of lengths that do not occur are left out."""
        scores = asdict(self.evaluation)
        scores["by_length"] = [asdict(one) for one in self.evaluation.by_length if one.sentences]
        units = {"source_unit": self.source_unit, "target_unit": self.target_unit}
        return {**scores, **units, "protocol": self.protocol.name, "notes": list(self.notes)}


def measure(
    translator: Translator,
    pairs: Sequence[Pair],
    *,
    more: Sequence[Sequence[str]] | None = None,
    scoring: Scoring | None = None,
    rule: LinkRule | None = None,
    progress: Callable[[int], None] = lambda done: None,
    **search: Any,
) -> Measured:
    """Translate the sources and score them; AER comes from forcing the references that have gold links.

    `more[i]` are further references of pair i; `rule` extracts links from attention.
    """
    scoring, bundle = scoring or Scoring(), translator.bundle
    protocol = find_protocol(scoring.protocol or "model", bundle.target, scoring.tokenize)
    translations: list[Translation] = []
    for first in range(0, len(pairs), CHUNK):
        translations += translator.translate([pair.source for pair in pairs[first : first + CHUNK]], **search)
        progress(len(translations))
    examples = [
        Example.of(pair, one, bundle, protocol, *others)
        for pair, one, others in zip(pairs, translations, _further(more, pairs), strict=True)
    ]
    gold = [one.links for one in examples]
    known = any(links is not None for links in gold)
    attends = any(one.attention is not None for one in translations)
    aligns = known and has_attention(bundle)
    texts, references = [one.text for one in examples], [one.references for one in examples]
    evaluation = scoring.evaluate(
        texts,
        references,
        protocol,
        lengths=[_count_words(pair.source, bundle.source) for pair in pairs],
        predicted=_forced_links(translator, pairs, gold, rule) if aligns else None,
        gold=gold if aligns else None,
        entropies=[_entropies(one) for one in translations] if attends else None,
    )
    notes = [*_unfinished(translator), *_cut_short(translations, translator)]
    notes += [NO_ALIGNMENT] if known and not aligns else []
    if evaluation.aer is not None and len(translator.bundles) > 1:
        notes.append(FIRST_ALIGNS)
    longest = max(len(text.split()) for one in references for text in one)
    if evaluation.bleu == 0 < evaluation.exact_match and longest < 4:
        notes.append(NO_FOUR_WORDS)
    units = ("character" if side.config.unit == "characters" else "word" for side in (bundle.source, bundle.target))
    return Measured(evaluation, protocol, texts, references, examples, tuple(notes), *units)


def measure_texts(
    texts: Sequence[str],
    pairs: Sequence[Pair],
    *,
    more: Sequence[Sequence[str]] | None = None,
    scoring: Scoring | None = None,
) -> Measured:
    """Score translations from elsewhere, line by line."""
    if len(texts) != len(pairs):
        raise InputError(f"{len(texts):,} translations for {len(pairs):,} pairs: there must be one for each")
    scoring = scoring or Scoring()
    protocol = find_protocol(scoring.protocol or "raw", tokenize=scoring.tokenize)
    hypotheses = [protocol.hypothesis(text) for text in texts]
    references = [
        tuple(protocol.reference(one) for one in (pair.target, *others))
        for pair, others in zip(pairs, _further(more, pairs), strict=True)
    ]
    lengths = [len(word_spans(pair.source)) for pair in pairs]
    return Measured(scoring.evaluate(hypotheses, references, protocol, lengths), protocol, hypotheses, references, [])


def _further(more: Sequence[Sequence[str]] | None, pairs: Sequence[Pair]) -> Sequence[Sequence[str]]:
    if not pairs:
        raise InputError("nothing to measure: the data holds no pairs")
    return more if more is not None else [()] * len(pairs)


def recipe_pairs(bundle: Bundle, split: str = "test") -> Corpus:
    """The test split of the recipe a bundle was trained with, or another: train, dev, or as its corpus names it."""
    if not bundle.manifest.recipe:
        raise InputError(f"{bundle.name} has no recipe: name the data to use")
    raw = located_recipe(bundle.manifest.recipe, bundle.path.resolve().parent)
    data = parse_recipe(raw, f"the recipe of {bundle.name}").data
    try:
        if split in ("train", "dev"):
            return load_split(data, "train" if split == "train" else "dev")
        if split != "test":
            if not isinstance(data, CatalogueData | HuggingFaceData):
                raise InputError(f"there is no split '{split}': its recipe has train, dev and test")
            data = data.model_copy(update={"test": split})
        return load_split(data, "test")
    except InputError as error:
        local = split in ("train", "dev", "test") and not isinstance(data, CatalogueData | HuggingFaceData)
        problem = "is not in the package" if local and is_packaged(bundle.path) else f"cannot be read ({error})"
        raise InputError(
            f"the {split} data of {bundle.name} {problem}: "
            f"name the data to use, as in regard evaluate {bundle.name} pairs.tsv (lines of source TAB target)"
        ) from error


def recipe_files(path: Path) -> list[Path]:
    """The data files that the recipe of a bundle names; none where there is no bundle, or no recipe in it."""
    try:
        bundle = find_bundle(path)
        recipe = read_manifest(bundle / NAME).recipe
        raw = located_recipe(recipe, bundle.resolve().parent)
        return split_files(parse_recipe(raw, f"the recipe of {bundle}").data) if recipe else []
    except InputError:
        return []  # the reader of the recipe reports the error


def length_name(scores: LengthScores) -> str:
    if scores.longest is None:
        return f"{scores.shortest}+"
    return f"{max(1, scores.shortest)}–{scores.longest}"


def has_attention(bundle: Bundle) -> bool:
    config = bundle.model.config
    return not (isinstance(config, RecurrentConfig) and config.score == "none")


def _forced_links(
    translator: Translator, pairs: Sequence[Pair], gold: Sequence[Links | None], rule: LinkRule | None
) -> list[frozenset[Link]]:
    """Links extracted while the model is forced to write the references that have gold links."""
    known = [i for i, links in enumerate(gold) if links is not None]
    direction = Direction(Aligner(translator.bundle, characters=False), rule or default_rule(translator.bundle))
    (found,), _, _ = direction.links(ParallelText.of([pairs[i] for i in known]))
    links = dict(zip(known, found, strict=True))
    return [links.get(i, frozenset()) for i in range(len(pairs))]


def _unfinished(translator: Translator) -> list[str]:
    """A warning about models whose training did not reach its last step."""
    ended = {one.path: cut_short(one.path.parent) for one in translator.bundles}
    whose = {path: "its training" if len(ended) == 1 else f"the training of {path.parent}" for path in ended}
    return [f"{whose[path]} {how}" for path, how in ended.items() if how]


def _cut_short(translations: Sequence[Translation], translator: Translator) -> list[str]:
    """A warning about sources that were cut: their scores are not those of the whole text."""
    cut = sum(one.source_cut for one in translations)
    note = (
        f"{cut:,} of {len(translations):,} sources were too long: only their first {translator.longest_source:,} "
        "pieces were read (--longest-source sets how many)"
    )
    return [note] if cut else []


def _entropies(translation: Translation) -> list[float]:
    attention = translation.word_attention
    return [] if attention is None or not attention.size else attention_entropy(attention).tolist()


def _seen_links(pair: Pair, source: Tokenizer, target: Tokenizer) -> Links | None:
    """Gold links between words that the model reads."""
    if pair.links is None:
        return None
    sides = (source, pair.source), (target, pair.target)
    return visible_links(pair.links, *(one.encode_words(text, characters=False).count for one, text in sides))


def _count_words(text: str, tokenizer: Tokenizer) -> int:
    return len(word_spans(tokenizer.config.normalise(text), tokenizer.config.unit))

"""Measure a translator on pairs: translate, compare, align by forcing the reference, group by length."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from regard.alignment import Link, Links
from regard.bundle.store import Bundle
from regard.data.config import Corpus, load_split
from regard.data.corpora import read_parallel, read_tsv
from regard.data.pair import Pair
from regard.evaluation import Evaluation, LengthScores, bleu, evaluate
from regard.plot import AttentionMap
from regard.runtime.translation import Translation
from regard.runtime.translator import Translator
from regard.text.errors import InputError
from regard.text.tokenizer import Tokenizer
from regard.text.words import join_words, word_spans
from regard.train.recipe import parse_recipe

EDGES = (6, 11, 16, 21, 31, 41, 61, 81, 101)
"""Source words at which a new bin begins."""
CHUNK = 512
"""Sentences between two words about progress."""
NO_ALIGNMENT = "no alignment error rate: one fixed vector, no alignment exists"


@dataclass(frozen=True)
class Example:
    """What was wanted and what came out; reference and gold links are about the text as the model sees it."""

    reference: str
    links: Links | None
    translation: Translation

    @classmethod
    def of(cls, pair: Pair, translation: Translation, bundle: Bundle) -> "Example":
        """The reference is what the model could write: case counts only where it knows case, and a model that writes
        words puts its own spaces between them (`l'afrique !` is `l'afrique!`).
        """
        config = bundle.target.config
        reference = config.normalise(pair.target)
        if config.kind == "word":
            words = [reference[start:end] for start, end in word_spans(reference, config.words)]
            reference = join_words(words, config.words)
        return cls(reference, _seen_links(pair, bundle.source, bundle.target), translation)

    @property
    def right(self) -> bool:
        return self.translation.text == self.reference

    def attention_map(self) -> AttentionMap:
        """The heat-map, with the gold links framed where the translation is the reference."""
        return self.translation.attention_map(links=self.links if self.right else None)


@dataclass(frozen=True)
class Measured:
    """The scores, and what was translated to what."""

    evaluation: Evaluation
    examples: list[Example]
    notes: tuple[str, ...] = ()

    def json(self) -> dict[str, Any]:
        """Plain data; bins of lengths that do not occur are left out."""
        scores = asdict(self.evaluation)
        scores["by_length"] = [asdict(one) for one in self.evaluation.by_length if one.sentences]
        return {**scores, "notes": list(self.notes)}


def measure(
    translator: Translator,
    pairs: Sequence[Pair],
    *,
    tokenize: str = "13a",
    progress: Callable[[int], None] = lambda done: None,
    **search: Any,
) -> Measured:
    """Translate the sources and score them; AER comes from forcing the references whose gold links are known."""
    if not pairs:
        raise InputError("nothing to measure: the data holds no pairs")
    _check_tokenizer(tokenize)
    bundle = translator.bundle
    translations: list[Translation] = []
    for first in range(0, len(pairs), CHUNK):
        translations += translator.translate([pair.source for pair in pairs[first : first + CHUNK]], **search)
        progress(len(translations))
    examples = [Example.of(pair, one, bundle) for pair, one in zip(pairs, translations, strict=True)]
    gold = [one.links for one in examples]
    known = any(links is not None for links in gold)
    attends = any(one.attention is not None for one in translations)
    evaluation = evaluate(
        [one.text for one in translations],
        [one.reference for one in examples],
        lengths=[_count_words(pair.source, bundle.source) for pair in pairs],
        edges=EDGES,
        predicted=_forced_links(translator, pairs, gold) if known and attends else None,
        gold=gold if known and attends else None,
        tokenize=tokenize,
    )
    return Measured(evaluation, examples, (NO_ALIGNMENT,) if known and not attends else ())


def recipe_pairs(bundle: Bundle) -> Corpus:
    """The test split of the recipe a bundle was trained with."""
    if not bundle.manifest.recipe:
        raise InputError(f"{bundle.path} does not know its recipe: name the data to evaluate on")
    recipe = parse_recipe(bundle.manifest.recipe, f"the recipe of {bundle.path}")
    try:
        return load_split(recipe.data, "test")
    except InputError as error:
        raise InputError(f"the test data of {bundle.path} cannot be read ({error}): name the data to use") from error


def file_pairs(source: Path, target: Path | None = None, links: Path | None = None) -> Corpus:
    """Pairs from a TSV file, or from two parallel files and the gold links beside them."""
    skipped: list[int] = []
    pairs = list(read_tsv(source, None, skipped) if target is None else read_parallel(source, target, links, skipped))
    if not skipped:
        return Corpus(pairs)
    lines = "1 line was" if len(skipped) == 1 else f"{len(skipped):,} lines were"
    return Corpus(pairs, (f"{source}: {lines} left out, a side is blank (first: line {skipped[0]})",))


def length_name(scores: LengthScores) -> str:
    """The lengths of a bin as people write them."""
    if scores.longest is None:
        return f"{scores.shortest}+"
    return f"{max(1, scores.shortest)}–{scores.longest}"


def _check_tokenizer(name: str) -> None:
    """sacrebleu's complaint before the translation, not after it."""
    try:
        bleu(["a"], ["a"], tokenize=name)
    except (ValueError, ImportError, RuntimeError) as error:
        raise InputError(str(error).strip().splitlines()[0]) from error


def _forced_links(translator: Translator, pairs: Sequence[Pair], gold: Sequence[Links | None]) -> list[frozenset[Link]]:
    """Where the model looks while it is made to write the reference: links between the words that gold speaks of."""
    known = [i for i, links in enumerate(gold) if links is not None]
    forced = translator.translate([pairs[i].source for i in known], target=[pairs[i].target for i in known])
    found = {i: one.alignment for i, one in zip(known, forced, strict=True)}
    return [found.get(i, frozenset()) for i in range(len(pairs))]


def _seen_links(pair: Pair, source: Tokenizer, target: Tokenizer) -> Links | None:
    """Gold links between words that the model sees: normalisation may drop a final stop."""
    if pair.links is None:
        return None
    sources, targets = _count_words(pair.source, source), _count_words(pair.target, target)

    def seen(links: frozenset[Link]) -> list[Link]:
        return [(s, t) for s, t in links if s < sources and t < targets]

    return Links.of(seen(pair.links.sure), seen(pair.links.possible))


def _count_words(text: str, tokenizer: Tokenizer) -> int:
    return len(word_spans(tokenizer.config.normalise(text), tokenizer.config.words))

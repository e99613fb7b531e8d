"""Measure a translator on pairs: translate, compare, align by forcing the reference, group by length."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from regard.bundle.store import Bundle
from regard.data.config import load_split
from regard.data.pair import Pair
from regard.evaluation import Evaluation, evaluate
from regard.runtime.translation import Translation
from regard.runtime.translator import Translator
from regard.text.errors import InputError
from regard.train.recipe import parse_recipe

EDGES = (6, 11, 16, 21, 31, 41, 61, 81, 101)
"""Source words at which a new bin begins."""


@dataclass(frozen=True)
class Measured:
    """The scores, what was translated, and how the model looked at the references."""

    evaluation: Evaluation
    pairs: list[Pair]
    translations: list[Translation]

    def json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self.evaluation).items() if name != "by_length"} | {
            "by_length": [asdict(one) for one in self.evaluation.by_length if one.sentences]
        }


def measure(translator: Translator, pairs: Sequence[Pair], *, tokenize: str = "13a", **search: Any) -> Measured:
    """Translate the sources and score them; AER comes from forcing the references whose gold links are known.

    Texts are compared as the target tokenizer normalises them, so case counts only where the model knows case.
    """
    if not pairs:
        raise InputError("nothing to measure: the data holds no pairs")
    translations = translator.translate([pair.source for pair in pairs], **search)
    normalise = translator.bundle.target.config.normalise
    references = [normalise(pair.target) for pair in pairs]
    gold = [pair.links for pair in pairs]
    known = [i for i, links in enumerate(gold) if links is not None]
    predicted: list[frozenset[tuple[int, int]]] = [frozenset()] * len(pairs)
    attends = any(one.attention is not None for one in translations)
    if known and attends:
        forced = translator.translate([pairs[i].source for i in known], target=[references[i] for i in known])
        for i, translation in zip(known, forced, strict=True):
            predicted[i] = translation.alignment
    evaluation = evaluate(
        [one.text for one in translations],
        references,
        lengths=[len(one.source_words) for one in translations],
        edges=EDGES,
        predicted=predicted if known and attends else None,
        gold=gold if known and attends else None,
        tokenize=tokenize,
    )
    return Measured(evaluation, list(pairs), translations)


def test_pairs(bundle: Bundle) -> list[Pair]:
    """The test split of the recipe a bundle was trained with."""
    if not bundle.manifest.recipe:
        raise InputError(f"{bundle.path} does not know its recipe: name the data to evaluate on")
    recipe = parse_recipe(bundle.manifest.recipe, str(bundle.path))
    return load_split(recipe.data, "test").pairs


def data_pairs(path: Path) -> list[Pair]:
    """Pairs from a user's TSV file."""
    from regard.data.corpora import read_tsv

    return list(read_tsv(path))

"""Word alignment with one model or with two in opposite directions: extract links, symmetrise, score."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np

from regard.alignment import (
    AlignmentScore,
    LinkLists,
    LinkRule,
    Links,
    attention_entropy,
    score_alignment,
    symmetrise,
)
from regard.alignment.symmetrise import PRODUCT, Method, product
from regard.bundle.store import Bundle
from regard.lab.parallel import ParallelText, visible_links
from regard.runtime.aligner import MOST_CELLS, Aligner
from regard.runtime.guided import guided_head, guided_shift
from regard.text.input_error import InputError
from regard.text.special import UNK
from regard.text.tokenizer import Tokenizer
from regard.text.words import word_spans

DEFAULT = PRODUCT
FLOOR = 0.2
"""The threshold of a product if none was given or tuned; both defaults: docs/decisions/0006-symmetrisation.md."""

PairsDone = Callable[[int], None]


@dataclass
class Entropy:
    """Entropy of attention in nats: the mean over target words, and for each word."""

    totals: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, words: Sequence[str], values: Sequence[float]) -> None:
        self.counts.update(words)
        for word, value in zip(words, values, strict=True):
            self.totals[word] += value

    @property
    def mean(self) -> float:
        return sum(self.totals.values()) / max(self.counts.total(), 1)

    def ranked(self, least: int = 5) -> list[tuple[str, int, float]]:
        """(word, count, mean entropy), lowest entropy first, of the words that occur at least `least` times."""
        rows = [(word, count, self.totals[word] / count) for word, count in self.counts.items() if count >= least]
        return sorted(rows, key=lambda row: (row[2], row[0]))

    def json(self) -> dict[str, Any]:
        rows = [{"word": word, "count": count, "entropy": round(value, 4)} for word, count, value in self.ranked()]
        return {"mean": self.mean, "words": rows}


@dataclass(frozen=True)
class Direction:
    """One model with the rule that extracts its links; `joined` is the rule for links to symmetrise, if it differs."""

    aligner: Aligner
    rule: LinkRule = field(default_factory=LinkRule)
    joined: LinkRule | None = None

    def links(
        self, text: ParallelText, progress: PairsDone = lambda done: None, entropy: Entropy | None = None
    ) -> tuple[list[LinkLists], set[int], int]:
        """Links of every pair by `rule` and, if it differs, by `joined`; the pairs whose source was cut; the number of
        skipped pairs. Pairs with a blank side have no links."""
        rules = [self.rule] if self.joined is None else [self.rule, self.joined]
        found = [LinkLists(len(text)) for _ in rules]
        cut, done = set[int](), 0
        for done, (number, links, short) in enumerate(self.aligner.links(text.sources, text.targets, rules), 1):
            for lists, each in zip(found, links, strict=True):
                lists.put(number, each)
            cut |= {number} if short else set()
            progress(done)
        if entropy is not None:
            for _, look in self.aligner.look(text.sources, text.targets):
                looks = look.between_words(self.rule.shift)
                entropy.add(look.target_words, attention_entropy(self.rule.matrix(looks)).tolist())
        return found, cut, len(text) - done


def default_rule(bundle: Bundle) -> LinkRule:
    """The head and row that guided alignment trained; else the mean of all heads and the row that produced the word."""
    head = guided_head(bundle)
    return LinkRule(() if head is None else (head,), guided_shift(bundle))


@dataclass(frozen=True)
class Aligned:
    """Links of each direction, both as (source, target), and of every symmetrisation; `chosen` is the one to write."""

    ways: dict[str, LinkLists]
    chosen: str
    notes: tuple[str, ...] = ()
    entropy: Entropy | None = None

    @property
    def links(self) -> LinkLists:
        return self.ways[self.chosen]

    def scores(self, gold: Sequence[Links]) -> dict[str, AlignmentScore]:
        """Scores over the pairs that have gold links."""
        known = [number for number, each in enumerate(gold) if each.possible]
        if not known:
            raise InputError("the gold alignment holds no link: there is nothing to score against")
        return {
            name: score_alignment([found[one] for one in known], [gold[one] for one in known])
            for name, found in self.ways.items()
        }


def align(
    text: ParallelText,
    forward: Direction,
    backward: Direction | None = None,
    *,
    method: str = DEFAULT,
    every: bool = True,
    entropy: bool = False,
    progress: PairsDone = lambda done: None,
) -> Aligned:
    """Align every pair; symmetrise two directions by `every` method, or by `method` alone."""
    measured = Entropy() if entropy else None
    ways, cut, skipped = dict[str, LinkLists](), set[int](), 0
    if backward is None or every or method != PRODUCT:
        ours, cut, skipped = forward.links(text, progress, measured)
        ways["forward"] = ours[0]
        if backward is not None:
            theirs, short, missed = backward.links(text.flipped(), lambda done: progress(len(text) + done))
            cut, skipped = cut | short, max(skipped, missed)
            ways["backward"], other = _flipped(theirs[0]), _flipped(theirs[-1])
            for name in get_args(Method) if every else (method,):
                if name != PRODUCT:
                    ways[name] = LinkLists.of(symmetrise(*both, name) for both in zip(ours[-1], other, strict=True))
    if backward is not None and (every or method == PRODUCT):
        ways[PRODUCT], short, missed = _product(text, forward, backward, progress)
        cut, skipped = cut | short, max(skipped, missed)
    return Aligned(ways, "forward" if backward is None else method, _notes(text, cut, skipped), measured)


def _product(
    text: ParallelText, forward: Direction, backward: Direction, progress: PairsDone
) -> tuple[LinkLists, set[int], int]:
    """Links where the product of both directions' weights reaches the threshold; the pairs that were cut; the number
    of skipped pairs."""
    one, other = (each.joined or each.rule for each in (forward, backward))
    floors = [FLOOR if rule.threshold is None else rule.threshold for rule in (one, other)]
    threshold = float(np.sqrt(floors[0] * floors[1]))
    found, kept, cut, aligned = LinkLists(len(text)), dict[int, np.ndarray](), set[int](), 0
    for done, (number, matrix, short) in enumerate(forward.aligner.matrices(text.sources, text.targets, one), 1):
        kept[number] = matrix
        cut |= {number} if short else set()
        progress(done)
    for done, (number, matrix, short) in enumerate(backward.aligner.matrices(text.targets, text.sources, other), 1):
        if number in kept:
            found.put(number, np.argwhere(product(kept.pop(number), matrix, threshold))[:, ::-1])
            aligned += 1
        cut |= {number} if short else set()
        progress(len(text) + done)
    return found, cut, len(text) - aligned


def _flipped(links: LinkLists) -> LinkLists:
    return LinkLists.of({(s, t) for t, s in each} for each in links)


def _notes(text: ParallelText, cut: set[int], skipped: int) -> tuple[str, ...]:
    blank = sum(not (s.strip() and t.strip()) for s, t in zip(text.sources, text.targets, strict=True))
    reasons = {
        "with a blank side: no links": blank,
        f"without a word, or with more than {MOST_CELLS:,} source × target pieces: skipped": skipped - blank,
        "longer than the model reads: the last words have no links (--set longest_source=N reads more)": len(cut),
    }
    return tuple(f"{count_pairs(count)} {reason}" for reason, count in reasons.items() if count > 0)


def gold_in_words(aligner: Aligner, text: ParallelText, gold: Sequence[Links]) -> tuple[list[Links], list[str]]:
    """Gold links between words that the model reads, and a note about those to a final stop that it does not read."""
    kept = [
        visible_links(links, *aligner.count_words(source, target))
        for source, target, links in zip(text.sources, text.targets, gold, strict=True)
    ]
    lost = sum(len(links.possible) for links in gold) - sum(len(links.possible) for links in kept)
    note = f"{lost:,} gold links go to final stops, which this model does not read: they are not counted"
    return kept, [note] if lost else []


def check_opposite(forward: Bundle, backward: Bundle, text: ParallelText) -> None:
    """Raise for two models of the same direction, by the languages of their corpora or by their vocabularies."""
    same = InputError(
        f"{backward.name} reads the same language as {forward.name}: --reverse needs a model of the other direction"
    )
    ours, theirs = _languages(forward), _languages(backward)
    if ours is not None and ours == theirs:  # with one vocabulary for both languages, every word is known
        raise same
    sample = [(s, t) for s, t in zip(text.sources, text.targets, strict=True) if s.strip() and t.strip()][:200]
    if not sample:
        return

    def known(tokenizer: Tokenizer, texts: Sequence[str]) -> float:
        ids = [number for text in texts for number in tokenizer.encode_ids(text)]
        return sum(number != UNK for number in ids) / max(len(ids), 1)

    sources, targets = zip(*sample, strict=True)
    right = known(backward.source, targets) + known(backward.target, sources)
    wrong = known(backward.source, sources) + known(backward.target, targets)
    if wrong > right + 0.2:
        raise same


def _languages(bundle: Bundle) -> tuple[str, str] | None:
    """Source and target language, where the recipe names a corpus of the catalogue."""
    data = (bundle.manifest.recipe or {}).get("data", {})
    return (data["source"], data["target"]) if data.get("kind") == "catalogue" else None


def check_same_words(forward: Bundle, backward: Bundle) -> None:
    """Raise for two models that split text into words differently: their links would have different indices."""
    for ours, theirs in ((forward.source, backward.target), (forward.target, backward.source)):
        if ours.config.unit != theirs.config.unit:
            raise InputError(
                f'{forward.name} and {backward.name} split words differently (text.words is "{ours.config.unit}" and '
                f'"{theirs.config.unit}"): use --words spaces, which splits at white space for both'
            )


def word_note(text: ParallelText, bundle: Bundle, remedy: str = "--words spaces") -> list[str]:
    """A warning if the model splits words other than at white space: gold links of tokenised text index the latter."""
    both = zip(text.sources, text.targets, strict=True)
    lines = [number for number, (source, target) in enumerate(both, 1) if _splits(bundle, source, target)]
    if not lines:
        return []
    some = f"{count_pairs(len(lines))} of {len(text):,} {'has' if len(lines) == 1 else 'have'}"
    return [
        f"{some} words that this model splits differently from white space (first: line {lines[0]}): links count the "
        f"model's words; {remedy} counts words at white space"
    ]


def _splits(bundle: Bundle, source: str, target: str) -> bool:
    return any(
        len(word_spans(text, tokenizer.config.unit)) != len(text.split())
        for text, tokenizer in ((source, bundle.source), (target, bundle.target))
    )


def count_pairs(count: int) -> str:
    return "1 pair" if count == 1 else f"{count:,} pairs"

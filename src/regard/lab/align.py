"""Word alignment with one model or with two in opposite directions: find the rule, align, symmetrise, score."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np

from regard.alignment import (
    AlignmentScore,
    Link,
    LinkLists,
    LinkRule,
    Links,
    attention_entropy,
    score_alignment,
    symmetrise,
)
from regard.alignment.symmetrise import PRODUCT, WAYS, Method, product
from regard.bundle.store import Bundle
from regard.lab.sides import Sides
from regard.runtime.aligner import MOST_CELLS, Aligner
from regard.runtime.guided import guided_head, guided_shift
from regard.text.errors import InputError
from regard.text.special import UNK
from regard.text.tokenizer import Tokenizer
from regard.text.words import word_spans

METHODS = WAYS
DEFAULT = "grow-diag-final-and"
FLOOR = 0.2
"""The threshold of a product where none was given or tuned."""

Progress = Callable[[int], None]


@dataclass
class Entropy:
    """How spread out attention is, in nats: the mean over target words, and for each word."""

    total: float = 0.0
    count: int = 0
    words: dict[str, list[float]] = field(default_factory=lambda: defaultdict(lambda: [0.0, 0.0]))

    def add(self, words: Sequence[str], values: Sequence[float]) -> None:
        for word, value in zip(words, values, strict=True):
            self.total += value
            self.count += 1
            self.words[word][0] += value
            self.words[word][1] += 1

    @property
    def mean(self) -> float:
        return self.total / max(self.count, 1)

    def ranked(self, least: int = 5) -> list[tuple[str, int, float]]:
        """(word, how often, mean entropy), the most focused first; words seen less often than `least` are left out."""
        rows = [(word, int(seen), total / seen) for word, (total, seen) in self.words.items() if seen >= least]
        return sorted(rows, key=lambda row: (row[2], row[0]))

    def json(self) -> dict[str, Any]:
        rows = [{"word": word, "count": seen, "entropy": round(value, 4)} for word, seen, value in self.ranked()]
        return {"mean": self.mean, "words": rows}


@dataclass(frozen=True)
class Direction:
    """One model with the rule that reads its attention; `paired` reads what is symmetrised with another direction."""

    aligner: Aligner
    rule: LinkRule = field(default_factory=LinkRule)
    paired: LinkRule | None = None

    def links(self, sides: Sides, progress: Progress = lambda done: None, entropy: Entropy | None = None) -> "Found":
        """Links of every pair, none where a side is blank."""
        rules = [self.rule] if self.paired is None else [self.rule, self.paired]
        found = [LinkLists(len(sides)) for _ in rules]
        cut, done = set[int](), 0
        for done, (number, links, short) in enumerate(self.aligner.links(sides.sources, sides.targets, rules), 1):
            for lists, each in zip(found, links, strict=True):
                lists.put(number, each)
            cut |= {number} if short else set()
            progress(done)
        if entropy is not None:
            for _, look in self.aligner.look(sides.sources, sides.targets):
                looks = look.between_words(self.rule.shift)
                entropy.add(look.target_words, attention_entropy(self.rule.matrix(looks)).tolist())
        return Found(found[0], found[-1], cut, len(sides) - done)


@dataclass(frozen=True)
class Found:
    """A direction's links on its own, those to symmetrise, the pairs whose source was cut, how many were not read."""

    alone: LinkLists
    paired: LinkLists
    cut: set[int]
    unread: int


def default_rule(bundle: Bundle) -> LinkRule:
    """The head and the row that training taught to align, else the mean of all and the row that writes."""
    head = guided_head(bundle)
    return LinkRule(() if head is None else (head,), guided_shift(bundle))


@dataclass(frozen=True)
class Aligned:
    """Links of each direction, both as (source, target), and of the two together by every method."""

    ways: dict[str, LinkLists]
    chosen: str
    notes: tuple[str, ...] = ()
    entropy: Entropy | None = None

    @property
    def links(self) -> LinkLists:
        return self.ways[self.chosen]

    def scores(self, gold: Sequence[Links]) -> dict[str, AlignmentScore]:
        """Every way against gold, over the pairs whose gold says anything."""
        known = [number for number, each in enumerate(gold) if each.possible]
        if not known:
            raise InputError("the gold alignment holds no link: there is nothing to score against")
        return {
            name: score_alignment([found[one] for one in known], [gold[one] for one in known])
            for name, found in self.ways.items()
        }


def align(
    sides: Sides,
    forward: Direction,
    backward: Direction | None = None,
    *,
    method: str = DEFAULT,
    every: bool = True,
    entropy: bool = False,
    progress: Progress = lambda done: None,
) -> Aligned:
    """Align every pair; with two directions also symmetrised, by `every` method or by the chosen one alone."""
    seen = Entropy() if entropy else None
    ways, notes, cut, unread = dict[str, LinkLists](), list[str](), set[int](), 0
    if backward is None or every or method != PRODUCT:
        ours = forward.links(sides, progress, seen)
        ways["forward"], cut, unread = ours.alone, ours.cut, ours.unread
        if backward is not None:
            turned = Sides(sides.targets, sides.sources)
            theirs = backward.links(turned, lambda done: progress(len(sides) + done))
            cut, unread = cut | theirs.cut, max(unread, theirs.unread)
            ways["backward"], other = _turned(theirs.alone), _turned(theirs.paired)
            for name in get_args(Method) if every else (method,):
                if name != PRODUCT:
                    ways[name] = LinkLists.of(symmetrise(*both, name) for both in zip(ours.paired, other, strict=True))
    if backward is not None and (every or method == PRODUCT):
        ways[PRODUCT], short, missed = _product(sides, forward, backward, progress)
        cut, unread = cut | short, max(unread, missed)
    blank = sum(not (s.strip() and t.strip()) for s, t in zip(sides.sources, sides.targets, strict=True))
    if blank:
        notes.append(f"{_pairs(blank)} with a blank side: no links")
    if unread > blank:
        said = f"without a word, or with more than {MOST_CELLS:,} source × target pieces: not read"
        notes.append(f"{_pairs(unread - blank)} {said}")
    if cut:
        said = "longer than the model reads: the last words have no links (--longest-source reads on)"
        notes.append(f"{_pairs(len(cut))} {said}")
    return Aligned(ways, "forward" if backward is None else method, tuple(notes), seen)


def _product(
    sides: Sides, forward: Direction, backward: Direction, progress: Progress
) -> tuple[LinkLists, set[int], int]:
    """Links where the product of both directions' weights reaches the threshold, the pairs that were cut, how many
    were not read."""
    one, other = (each.paired or each.rule for each in (forward, backward))
    floors = [FLOOR if rule.threshold is None else rule.threshold for rule in (one, other)]
    threshold = float(np.sqrt(floors[0] * floors[1]))
    found, kept, cut, read = LinkLists(len(sides)), dict[int, np.ndarray](), set[int](), 0
    for done, (number, matrix, short) in enumerate(forward.aligner.matrices(sides.sources, sides.targets, one), 1):
        kept[number] = matrix
        cut |= {number} if short else set()
        progress(done)
    for done, (number, matrix, short) in enumerate(backward.aligner.matrices(sides.targets, sides.sources, other), 1):
        if number in kept:
            found.put(number, np.argwhere(product(kept.pop(number), matrix, threshold))[:, ::-1])
            read += 1
        cut |= {number} if short else set()
        progress(len(sides) + done)
    return found, cut, len(sides) - read


def _turned(links: LinkLists) -> LinkLists:
    return LinkLists.of({(s, t) for t, s in each} for each in links)


def seen_gold(aligner: Aligner, sides: Sides, gold: Sequence[Links]) -> tuple[list[Links], tuple[str, ...]]:
    """Gold links between words that the model sees, for normalisation may drop a final stop; and how many are lost."""
    kept = []
    for source, target, links in zip(sides.sources, sides.targets, gold, strict=True):
        sources, targets = aligner.count_words(source, target)

        def seen(some: frozenset[Link], sources: int = sources, targets: int = targets) -> list[Link]:
            return [(s, t) for s, t in some if s < sources and t < targets]

        kept.append(Links.of(seen(links.sure), seen(links.possible)))
    lost = sum(len(links.possible) for links in gold) - sum(len(links.possible) for links in kept)
    if not lost:
        return kept, ()
    return kept, (f"{lost:,} gold links go to final stops, which this model does not read: they are not counted",)


def check_opposite(forward: Bundle, backward: Bundle, sides: Sides) -> None:
    """Refuse two models of the same direction: what one reads, the other must write."""
    said = InputError(
        f"{backward.path} reads the same language as {forward.path}: --reverse wants a model of the other direction"
    )
    ours, theirs = _languages(forward), _languages(backward)
    if ours is not None and ours == theirs:  # one vocabulary for both languages would know every word
        raise said
    sample = [(s, t) for s, t in zip(sides.sources, sides.targets, strict=True) if s.strip() and t.strip()][:200]
    if not sample:
        return

    def known(tokenizer: Tokenizer, texts: Sequence[str]) -> float:
        ids = [number for text in texts for number in tokenizer.encode_ids(text)]
        return sum(number != UNK for number in ids) / max(len(ids), 1)

    sources, targets = zip(*sample, strict=True)
    right = known(backward.source, targets) + known(backward.target, sources)
    wrong = known(backward.source, sources) + known(backward.target, targets)
    if wrong > right + 0.2:
        raise said


def _languages(bundle: Bundle) -> tuple[str, str] | None:
    """What a model reads and writes, where its corpus names languages."""
    data = (bundle.manifest.recipe or {}).get("data", {})
    return (data["source"], data["target"]) if data.get("kind") == "catalogue" else None


def check_same_words(forward: Bundle, backward: Bundle) -> None:
    """Refuse two models that split words by different rules: link 5-0 of one is not link 5-0 of the other."""
    for ours, theirs in ((forward.source, backward.target), (forward.target, backward.source)):
        if ours.config.words != theirs.config.words:
            raise InputError(
                f'{forward.path} and {backward.path} count words differently (text.words is "{ours.config.words}" and '
                f'"{theirs.config.words}"): say --words spaces, which counts for both what white space separates'
            )


def word_note(sides: Sides, bundle: Bundle, remedy: str = "--words spaces") -> str | None:
    """A remark where links count other words than what white space separates: files of tokenised text mean those."""
    other, example = 0, ""
    tokenizers = bundle.source, bundle.target
    for number, texts in enumerate(zip(sides.sources, sides.targets, strict=True), 1):
        for text, tokenizer in zip(texts, tokenizers, strict=True):
            if len(word_spans(text, tokenizer.config.words)) != len(text.split()):
                other += 1
                example = example or f"first: line {number}"
                break
    if not other:
        return None
    some = f"{_pairs(other)} of {len(sides):,} {'has' if other == 1 else 'have'}"
    return (
        f"{some} other words for this model than what white space separates ({example}): links count the model's "
        f"words; {remedy} counts the others"
    )


def _pairs(count: int) -> str:
    return "1 pair" if count == 1 else f"{count:,} pairs"

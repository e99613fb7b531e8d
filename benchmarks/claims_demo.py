"""Experiments with a trained English-French demo: properties and effects of its attention (for claims.py)."""

import random
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.data import phrasebook
from regard.data.pair import Pair
from regard.data.phrasebook.lexicon import english, french
from regard.evaluation import bleu, exact_match
from regard.models.seq2seq import Seq2Seq
from regard.runtime.source_text import pad
from regard.runtime.translator import Translator
from regard.text.special import BOS, EOS

Record = dict[str, Any]
CPU = torch.device("cpu")
_OBJECTS = frozenset(["him", "her", "them", "it", "me", "you"])
_NOUNS = frozenset(form for noun in french().nouns.values() for form in (noun.singular, noun.plural))
_ADJECTIVES = frozenset(form for one in french().adjectives.values() for form in one if form)
_FRENCH = {
    "article": frozenset(["le", "la", "les", "l'", "un", "une", "des", "du", "de", "d'"]),
    "preposition": frozenset([*french().prepositions.values(), "au", "aux", "en"]),
    "pronoun": frozenset(["je", "j'", "tu", "il", "elle", "ils", "me", "te", "m'", "t'", "qui", "que", "qu'"]),
    "negation": frozenset(["ne", "n'", "pas"]),
    "noun": _NOUNS,
    "adjective": _ADJECTIVES,
}
_ENGLISH = {
    "article": frozenset(["the", "a", "an"]),
    "preposition": frozenset(french().prepositions),
    "pronoun": frozenset(["i", "he", "she", "they", "who", "that", *_OBJECTS]),
    "auxiliary": frozenset(["do", "does", "did", "not", "is", "was", "be", "going", "to", "wants", "want", "can"]),
    "noun": frozenset(noun for kind in english().nouns.values() for noun in kind)
    | frozenset(f"{noun}s" for kind in english().nouns.values() for noun in kind)
    | frozenset(english().plurals.values()),
}


def _class(word: str, classes: dict[str, frozenset[str]]) -> str:
    return next((name for name, words in classes.items() if word in words), "verb or other")


def _pairs(languages: str, count: int, shortest: int = 3, longest: int = 20) -> list[Pair]:
    return phrasebook.pairs(languages, "test", count, shortest=shortest, longest=longest)


def _looks(translator: Translator, pairs: list[Pair]) -> Iterator[tuple[Pair, list[str], list[str], np.ndarray]]:
    """Source words, target words and weights (EOS's column last) while each reference is forced."""
    found = translator.translate([pair.source for pair in pairs], target=[pair.target for pair in pairs])
    for pair, one in zip(pairs, found, strict=True):
        assert one.matrix is not None
        yield pair, list(one.source_words), list(one.target_words), one.matrix[: len(one.target_words)]


def word_classes(translator: Translator, languages: str, count: int) -> Record:
    """Entropy of attention, its largest weight and its weight on the gold word, for each kind of target word."""
    rows: dict[str, list[tuple[float, float, float, float]]] = defaultdict(list)
    received: dict[str, list[float]] = defaultdict(list)
    for pair, source, target, weights in _looks(translator, _pairs(languages, count)):
        assert pair.links is not None
        for place, word in enumerate(target):
            row = weights[place]
            linked = [i for i, j in pair.links.sure | pair.links.possible if j == place]
            kind = _class(word, _FRENCH)
            if kind == "article" and any(source[i] in _OBJECTS for i in linked):
                kind = "pronoun"
            entropy = float(-(row * np.log(np.maximum(row, 1e-12))).sum())
            several = float((row[: len(source)] > 0.2).sum() > 1)
            rows[kind].append((entropy, float(row.max()), float(row[linked].sum()), several))
        for place, word in enumerate(source):
            received[_class(word, _ENGLISH)].append(float(weights[:, place].sum()))
    names = ("entropy", "largest", "on_gold", "several")
    return {
        "target": {
            kind: {"words": len(some)} | {n: float(np.mean([one[i] for one in some])) for i, n in enumerate(names)}
            for kind, some in rows.items()
        },
        "received_by_source": {kind: {"words": len(s), "sum": statistics.mean(s)} for kind, s in received.items()},
    }


def patterns(translator: Translator, languages: str, count: int) -> Record:
    """How often maps are diagonal, cross at noun and adjective, move blocks, have stripes, or are diffuse."""
    words = near = crossings = crossed = sentences = stripes = blocks = smears = 0
    for pair, source, target, weights in _looks(translator, _pairs(languages, count)):
        assert pair.links is not None
        best = weights[:, : len(source)].argmax(axis=1)
        sentences += 1
        words += len(target)
        near += sum(abs(place * len(source) / len(target) - best[place]) <= 1.5 for place in range(len(target)))
        smears += int((weights.max(axis=1) < 0.5).sum())
        stripes += max(np.bincount(best)) >= 3
        gold = {j: i for i, j in pair.links.sure}
        for place in range(len(target) - 1):
            kinds = tuple(_class(word, _FRENCH) for word in target[place : place + 2])
            if kinds == ("noun", "adjective") and gold.get(place, 0) == gold.get(place + 1, 0) + 1:
                crossings += 1
                crossed += best[place] == best[place + 1] + 1
        back = [p for p in range(1, len(best)) if best[p] < best[p - 1]]
        blocks += any(p + 1 < len(best) and best[p + 1] == best[p] + 1 and best[p - 1] > best[p] + 1 for p in back)
    return {
        "sentences": sentences,
        "near_the_diagonal": near / words,
        "noun_adjective_pairs": crossings,
        "crossed": crossed / max(1, crossings),
        "sentences_with_a_stripe_of_three": stripes / sentences,
        "sentences_with_a_block_moved_back": blocks / sentences,
        "smeared_words": smears / words,
    }


@torch.inference_mode()
def _greedy(translator: Translator, pairs: list[Pair], change: Callable[..., Tensor | None]) -> list[str]:
    """Greedy translations while `change` returns the weights of each step; None keeps the model's own."""
    bundle = translator.bundle
    model: Seq2Seq = bundle.model
    texts = []
    for pair in pairs:
        ids = list(bundle.source.encode(pair.source, eos=bundle.manifest.source_eos).ids)
        state, token, written = model.start(pad([ids], CPU)), BOS, []
        for _ in range(2 * len(ids) + 10):
            tokens = torch.tensor([token])
            own = model.step(tokens, state)
            given = change(model, tokens, state, own.weights)
            step = own if given is None else model.step(tokens, state, weights=given)
            state, token = step.state, int(step.logits.argmax())
            if token == EOS:
                break
            written.append(token)
        texts.append(bundle.target.decode(written))
    return texts


def other_weights(translator: Translator, languages: str, count: int) -> Record:
    """Greedy decoding with other weights than the model's: shuffled, uniform, from a blank query, its largest only."""
    pairs, shuffle = _pairs(languages, count // 2), torch.Generator().manual_seed(0)

    def blank(model: Seq2Seq, tokens: Tensor, state: Any, weights: Tensor) -> Tensor | None:
        nothing = replace(state, hidden=tuple(torch.zeros_like(one) for one in state.hidden))
        return model.step(tokens, nothing).weights

    def only(model: Seq2Seq, tokens: Tensor, state: Any, weights: Tensor) -> Tensor:
        return torch.nn.functional.one_hot(weights.argmax(-1), weights.size(-1)).to(weights)

    changes: dict[str, Callable[..., Tensor | None]] = {
        "the model's own": lambda model, tokens, state, weights: None,
        "its largest weight alone": only,
        "shuffled among the words": lambda model, tokens, state, weights: weights[
            ..., torch.randperm(weights.size(-1), generator=shuffle)
        ],
        "uniform": lambda model, tokens, state, weights: torch.full_like(weights, 1 / weights.size(-1)),
        "from a blank state as query": blank,
    }
    wanted = [translator.bundle.target.written(pair.target) for pair in pairs]
    found: Record = {"sentences": len(pairs)}
    for name, change in changes.items():
        texts = _greedy(translator, pairs, change)
        found[name] = {"exact_match": exact_match(texts, wanted), "bleu": bleu(texts, wanted).score}
    return found


@torch.inference_mode()
def removed_words(translator: Translator, languages: str, count: int) -> Record:
    """A source word is deleted: how far does the log-probability of each target word fall, and does the best change?

    The deleted word is the one looked at most while that word was written, the one looked at least, or any other.
    """
    bundle, chance = translator.bundle, random.Random(0)
    falls: dict[str, list[float]] = defaultdict(list)
    other_best: dict[str, list[bool]] = defaultdict(list)
    hits, places = 0, 0
    for pair in _pairs(languages, count // 2, shortest=4):
        ids = list(bundle.source.encode(pair.source).ids)
        end = [EOS] if bundle.manifest.source_eos else []
        target = list(bundle.target.encode(pair.target, eos=True).ids)
        variants = [[*ids, *end], *([*ids[:gone], *ids[gone + 1 :], *end] for gone in range(len(ids)))]
        tokens = torch.tensor([[BOS, *target[:-1]]]).expand(len(variants), -1)
        decoded = bundle.model(pad(variants, CPU), tokens, want_weights=True)
        scores = bundle.model.logits(decoded.features).log_softmax(-1)
        assert decoded.weights is not None
        looked = decoded.weights[0, 0, 0, :, : len(ids)]
        for place, wanted in enumerate(target[:-1]):
            fall = (scores[0, place, wanted] - scores[1:, place, wanted]).tolist()
            best = scores[:, place].argmax(-1)
            order = looked[place].argsort(descending=True).tolist()
            chosen = {"looked at most": order[0], "any other": chance.choice(order[1:]), "looked at least": order[-1]}
            for name, gone in chosen.items():
                falls[name].append(fall[gone])
                other_best[name].append(bool(best[1 + gone] != best[0]))
            hits += int(np.argmax(fall)) == order[0]
            places += 1
    found: Record = {
        name: {"fall": statistics.mean(falls[name]), "best_word_changed": statistics.mean(other_best[name])}
        for name in falls
    }
    return found | {"target_words": places, "most_looked_at_is_most_needed": hits / places}


def beams(translator: Translator, languages: str, count: int) -> Record:
    """Exact match, BLEU and time with beams of 1 to 20, on lengths of training and on longer ones."""
    found: Record = {}
    for low, high in ((3, 20), (21, 30)):
        pairs = _pairs(languages, count // 2, low, high)
        wanted = [translator.bundle.target.written(pair.target) for pair in pairs]
        for beam in (1, 2, 3, 5, 10, 20):
            started = time.process_time()
            texts = [one.text for one in translator.translate([pair.source for pair in pairs], beam=beam)]
            spent = time.process_time() - started
            scores = {"exact_match": exact_match(texts, wanted), "bleu": bleu(texts, wanted).score}
            found[f"{low}-{high} beam {beam}"] = scores | {"milliseconds": 1000 * spent / len(pairs)}
    return found


@torch.inference_mode()
def reach(translator: Translator, languages: str, count: int) -> Record:
    """A source word is replaced: how much do the encoder's states around it change, relative to their size?"""
    bundle, chance = translator.bundle, random.Random(0)
    changes: dict[int, list[float]] = defaultdict(list)
    for pair in _pairs(languages, count // 2, shortest=9):
        ids = list(bundle.source.encode(pair.source).ids)
        gone = len(ids) // 2
        other = [*ids[:gone], chance.randrange(4, len(bundle.source)), *ids[gone + 1 :]]
        batch = pad([ids, other], CPU)
        before, after = bundle.model.encoder(batch.source, batch.source_lengths).states
        for place in range(len(ids)):
            moved = float((before[place] - after[place]).norm() / before[place].norm())
            changes[place - gone].append(moved)
    return {"change_by_distance": {d: statistics.mean(changes[d]) for d in sorted(changes) if abs(d) <= 6}}


_GERMAN_ARTICLES = "der die das den dem des ein eine einen einem einer eines"
_GERMAN_PREPOSITIONS = (
    "in im ins auf mit an am vor von vom zu zum zur aus bei über unter neben durch hinter um für nach entlang"
)
_GERMAN = {
    "article": frozenset(_GERMAN_ARTICLES.split()),
    "preposition": frozenset(_GERMAN_PREPOSITIONS.split()),
    "mark": frozenset(".,!?"),
}


def german_classes(translator: Translator, pairs: list[Pair], count: int) -> Record:
    """Real captions, the German reference forced: entropy over the English words by word class."""
    chosen = pairs[: 2 * count]
    found = translator.translate([one.source for one in chosen], target=[one.target for one in chosen])
    rows: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for one in found:
        assert one.word_attention is not None
        for word, weights in zip(one.target_words, one.word_attention, strict=True):
            row = weights / max(1e-9, float(weights.sum()))  # EOS's share put aside
            entropy = float(-(row * np.log(np.maximum(row, 1e-12))).sum())
            rows[_class(word, _GERMAN)].append((entropy, float(row.max())))
    return {
        kind: {
            "words": len(s),
            "entropy": statistics.mean(e for e, _ in s),
            "largest": statistics.mean(w for _, w in s),
        }
        for kind, s in rows.items()
    }


DEMO: dict[str, Callable[[Translator, str, int], Record]] = {
    "word_classes": word_classes,
    "patterns": patterns,
    "other_weights": other_weights,
    "removed_words": removed_words,
    "beams": beams,
    "reach": reach,
}

"""Tuning finds the head and the row that align."""

import numpy as np
import pytest

from regard.alignment import (
    LinkRule,
    Links,
    agree,
    product,
    score_alignment,
    shifted_attention,
    symmetrise,
    tune,
    tune_pair,
)
from regard.alignment.tune import ShiftedAttention

LAYERS, HEADS = 2, 3


def stuck(words: int, random: np.random.Generator) -> np.ndarray:
    """Each head attends to one random word at every step."""
    attention = np.full((LAYERS, HEADS, words + 1, words + 1), 0.1 / words)
    for layer in range(LAYERS):
        for head in range(HEADS):
            attention[layer, head, :, random.integers(0, words)] = 0.9
    return attention


def sentences(
    count: int, head: tuple[int, int], shift: int, seed: int = 0
) -> tuple[list[ShiftedAttention], list[Links]]:
    """All heads attend to one fixed word, except one, which aligns correctly `shift` rows after a word was written."""
    random = np.random.default_rng(seed)
    taken, gold = [], []
    for _ in range(count):
        words = int(random.integers(4, 9))
        order = random.permutation(words)
        attention = stuck(words, random)
        for target, source in enumerate(order.tolist()):
            if 0 <= target + shift <= words:
                row = np.full(words + 1, 0.2 / words)
                row[source] = 0.8
                attention[head[0], head[1], target + shift] = row
        pieces = [*range(words), None]
        taken.append(shifted_attention(attention, pieces, pieces, (words, words)))
        gold.append(Links.of((source, target) for target, source in enumerate(order.tolist())))
    return taken, gold


@pytest.mark.parametrize("shift", [-1, 0, 1])
def test_it_finds_the_head_and_the_shift(shift: int) -> None:
    taken, gold = sentences(12, (1, 2), shift)
    tuned = tune(taken, gold)
    assert tuned.rule.heads == ((1, 2),)
    assert tuned.rule.shift == shift
    assert min(tuned.by_shift(), key=tuned.by_shift().__getitem__) == shift
    links = [tuned.rule.links(one[shift]) for one in taken]
    assert score_alignment(links, gold).aer == pytest.approx(tuned.aer)


def test_the_tuned_rule_is_never_worse_than_the_mean_of_all_heads() -> None:
    taken, gold = sentences(12, (0, 1), 0)
    plain = [LinkRule().links(one[0]) for one in taken]
    assert tune(taken, gold).aer < score_alignment(plain, gold).aer


def test_heads_are_added_while_they_help() -> None:
    """Two heads that each know half of the sentence."""
    taken, gold = sentences(12, (0, 0), 0)
    halves = []
    for one in taken:
        words = one[0].words.copy()
        middle = words.shape[2] // 2
        words[1, 1] = words[0, 0]
        words[1, 1, :middle] = 1 / words.shape[3]
        words[0, 0, middle:] = 1 / words.shape[3]
        halves.append({0: type(one[0])(words, one[0].nothing)})
    tuned = tune(halves, gold)
    assert set(tuned.rule.heads) == {(0, 0), (1, 1)}
    assert tuned.aer == pytest.approx(0.0)


def test_a_threshold_is_chosen_if_gold_leaves_words_unlinked() -> None:
    taken, gold = sentences(12, (0, 0), 0)
    sparse = []
    for one, links in zip(taken, gold, strict=True):
        one[0].words[0, 0, -1] = (
            1 / one[0].words.shape[3]
        )  # the last word looks everywhere, and gold has no link for it
        last = one[0].words.shape[2] - 1
        sparse.append(Links.of(link for link in links.sure if link[1] != last))
    tuned = tune(taken, sparse)
    assert tuned.rule.threshold is not None
    assert tuned.aer < 0.05


def test_two_directions_find_their_heads_by_agreement() -> None:
    forward, gold = sentences(20, (1, 2), 0)
    backward: list[ShiftedAttention] = []
    random = np.random.default_rng(5)
    for links in gold:
        words = len(links.sure)
        attention = stuck(words, random)
        for source, target in links.sure:
            attention[0, 1, source + 1] = 0.2 / words
            attention[0, 1, source + 1, target] = 0.8
        pieces = [*range(words), None]
        backward.append(shifted_attention(attention, pieces, pieces, (words, words)))
    ours, theirs, apart = agree(forward, backward)
    assert (ours.heads, ours.shift) == (((1, 2),), 0)
    assert (theirs.heads, theirs.shift) == (((0, 1),), 1)
    assert apart == pytest.approx(0.0)


def test_tuning_needs_gold_for_each_sentence() -> None:
    taken, gold = sentences(3, (0, 0), 0)
    with pytest.raises(ValueError, match="3 sentences for 2 gold alignments"):
        tune(taken, gold[:2])


def test_joint_thresholds_are_tuned_for_symmetrised_links() -> None:
    """Alone, each direction is best with one link a word; intersected with a noisy one, a threshold is better."""
    forward, gold = sentences(30, (0, 0), 0)
    backward: list[ShiftedAttention] = []
    random = np.random.default_rng(1)
    for links in gold:
        words = len(links.sure)
        attention = stuck(words, random)
        for source, target in links.sure:
            attention[0, 0, source] = 0.2 / words
            attention[0, 0, source, target] = 0.8
            if random.random() < 0.3:  # now and then it looks elsewhere, less surely
                attention[0, 0, source] = 0.5 / words
                attention[0, 0, source, (target + 1) % words] = 0.45
        pieces = [*range(words), None]
        backward.append(shifted_attention(attention, pieces, pieces, (words, words)))
    ours, theirs = tune(forward, gold), tune(backward, [links.flipped() for links in gold])
    both = tune_pair(forward, backward, gold, (ours.rule, theirs.rule))
    assert both.aer <= ours.aer + 1e-12
    left = [both.forward.links(one[0]) for one in forward]
    right = [frozenset((t, s) for s, t in both.backward.links(one[0])) for one in backward]
    if both.method != "product":
        links = [symmetrise(a, b, both.method) for a, b in zip(left, right, strict=True)]
        assert score_alignment(links, gold).aer == pytest.approx(both.aer)
    soft = tune_pair(forward, backward, gold, (ours.rule, theirs.rule), ["product"])
    assert (soft.method, soft.forward.threshold) == ("product", soft.backward.threshold)
    assert soft.forward.threshold is not None
    found = [
        {
            (int(s), int(t))
            for t, s in np.argwhere(product(ours.rule.matrix(a[0]), theirs.rule.matrix(b[0]), soft.forward.threshold))
        }
        for a, b in zip(forward, backward, strict=True)
    ]
    assert score_alignment(found, gold).aer == pytest.approx(soft.aer)
    with pytest.raises(ValueError, match="30 sentences forward, 29 backward, 30 gold"):
        tune_pair(forward, backward[:-1], gold, (ours.rule, theirs.rule))

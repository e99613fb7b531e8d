"""The whole report of one test set."""

import pytest

from regard.alignment import Links, score_alignment
from regard.evaluation import bleu, chrf, evaluate, exact_match

SAID = ["le chat noir", "la maison", "लाइट बंद करो", "un chien dort ici maintenant"]
WANTED = ["le chat noir", "les maisons", "लाइट बंद करो", "un chien dort là maintenant"]
LENGTHS = [3, 12, 3, 25]
PREDICTED = [{(0, 0)}, {(0, 0), (1, 1)}, set(), {(2, 2)}]
GOLD = [Links.of([(0, 0)]), Links.of([(0, 1)], [(1, 1)]), None, Links.of([(2, 2), (3, 3)])]


def test_the_whole_and_its_parts() -> None:
    report = evaluate(SAID, WANTED, lengths=LENGTHS, edges=(10, 20, 24), predicted=PREDICTED, gold=GOLD)
    assert report.sentences == 4
    assert report.bleu == bleu(SAID, WANTED).score
    assert report.chrf == chrf(SAID, WANTED).score
    assert report.exact_match == 0.5
    known = [0, 1, 3]
    assert report.aer == score_alignment([PREDICTED[one] for one in known], [GOLD[one] for one in known]).aer
    assert report.signatures == {"bleu": bleu(SAID, WANTED).signature, "chrf": chrf(SAID, WANTED).signature}
    assert [(each.shortest, each.longest, each.sentences) for each in report.by_length] == [
        (0, 9, 2),
        (10, 19, 1),
        (20, 23, 0),
        (24, None, 1),
    ]
    first, second, empty, last = report.by_length
    assert first.exact_match == 1.0
    assert first.aer == 0.0
    assert second.bleu == bleu(SAID[1:2], WANTED[1:2]).score
    assert (empty.bleu, empty.chrf, empty.exact_match, empty.aer) == (None, None, None, None)
    assert last.exact_match == exact_match(SAID[3:], WANTED[3:])


def test_without_lengths_and_links() -> None:
    report = evaluate(SAID, WANTED, lowercase=True, tokenize="none")
    assert report.aer is None
    assert report.by_length == ()
    assert "case:lc" in report.signatures["bleu"]
    assert "tok:none" in report.signatures["bleu"]
    assert "case:lc" in report.signatures["chrf"]
    assert evaluate(SAID, WANTED, predicted=PREDICTED, gold=[None] * 4).aer is None


def test_wrong_input_is_refused() -> None:
    with pytest.raises(ValueError, match="list of hypotheses is empty"):
        evaluate([], [])
    with pytest.raises(ValueError, match="3 lengths for 4 hypotheses"):
        evaluate(SAID, WANTED, lengths=[1, 2, 3])
    with pytest.raises(ValueError, match="1 gold for 4 hypotheses"):
        evaluate(SAID, WANTED, predicted=PREDICTED, gold=[None])
    with pytest.raises(ValueError, match="give both or neither"):
        evaluate(SAID, WANTED, gold=GOLD)


def test_entropy_is_a_mean_over_words_not_over_sentences() -> None:
    entropies = [[0.0], [1.0, 1.0, 1.0], [], [2.0]]
    report = evaluate(SAID[:4], WANTED[:4], lengths=[1, 1, 1, 30], edges=(10,), entropies=entropies)
    assert report.entropy == pytest.approx(1.0)
    assert [part.entropy for part in report.by_length] == [pytest.approx(0.75), pytest.approx(2.0)]
    assert evaluate(SAID[:1], WANTED[:1], entropies=[[]]).entropy is None

"""BLEU, chrF, TER and exact match: the figures are sacrebleu's."""

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from regard.evaluation import bleu, chrf, exact_match, ter

HYPOTHESES = ["The cat sat on the mat.", "jane visits africa in september", "लाइट बंद करो", ""]
REFERENCES = ["the cat sat on a mat .", "Jane visits Africa in September", "लाइट बंद करो", "empty"]
sentences = st.lists(st.text("abc .é", min_size=1, max_size=12), min_size=1, max_size=5)


def test_the_figures_and_signatures_are_those_of_sacrebleu() -> None:
    score = bleu(HYPOTHESES, REFERENCES)
    assert score.score == sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES]).score
    assert score.signature == f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{sacrebleu.__version__}"
    lower = bleu(HYPOTHESES, REFERENCES, tokenize="none", lowercase=True)
    assert lower.score == sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES], tokenize="none", lowercase=True).score
    assert "case:lc" in lower.signature
    assert "tok:none" in lower.signature
    assert chrf(HYPOTHESES, REFERENCES).score == sacrebleu.corpus_chrf(HYPOTHESES, [REFERENCES]).score
    assert ter(HYPOTHESES, REFERENCES, lowercase=True).score == sacrebleu.corpus_ter(HYPOTHESES, [REFERENCES]).score
    assert "case:mixed" in ter(HYPOTHESES, REFERENCES).signature


@given(sentences)
def test_a_perfect_translation(texts: list[str]) -> None:
    assert exact_match(texts, texts) == 1.0
    # TER tokenises, so a sentence of white space alone has nothing to edit.
    assert ter(texts, texts).score == 0.0
    if all(text.strip() for text in texts):
        assert chrf(texts, texts).score == pytest.approx(100)


def test_several_references_as_many_as_each_sentence_has() -> None:
    several = [["a cat", "The cat sat on the mat."], ["x"], ["लाइट बंद करो"], ["", "empty"]]
    streams = [["a cat", "x", "लाइट बंद करो", ""], ["The cat sat on the mat.", None, None, "empty"]]
    assert bleu(HYPOTHESES, several).score == sacrebleu.corpus_bleu(HYPOTHESES, streams).score
    assert "nrefs:var" in bleu(HYPOTHESES, several).signature
    assert exact_match(HYPOTHESES, several) == 0.75


def test_exact_match_forgives_white_space_at_the_ends_only() -> None:
    assert exact_match(["a b ", "A", "a  b"], ["a b", "a", "a b"]) == pytest.approx(1 / 3)


@pytest.mark.parametrize("metric", [bleu, chrf, ter, exact_match])
def test_invalid_inputs_of_scores_raise(metric) -> None:
    with pytest.raises(ValueError, match="no sentences to score: the list of hypotheses is empty"):
        metric([], [])
    with pytest.raises(ValueError, match="1 hypotheses for 2 references"):
        metric(["a"], ["a", "b"])
    with pytest.raises(ValueError, match=r"sentence 1 \(0-based\) has no reference"):
        metric(["a", "b"], ["a", []])
    with pytest.raises(ValueError, match="put it into a list"):
        metric("abc", ["a", "b", "c"])


def test_an_unknown_tokenizer_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no tokenizer '13b': did you mean '13a'"):
        bleu(["a"], ["a"], tokenize="13b")


def test_equal_texts_score_exactly_100() -> None:
    texts = ["the black cat sat on the mat", "i do not see the white horse in the garden", "she went home"] * 50
    assert bleu(texts, texts).score == 100.0
    assert chrf(texts, texts).score == 100.0
    assert exact_match(texts, texts) == 1.0

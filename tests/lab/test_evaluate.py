"""Measuring a translator: scores, alignment error by forcing the reference, lengths, the page."""

import json
from pathlib import Path

import pytest

import regard
from regard.alignment import Links
from regard.data.pair import Pair
from regard.lab.evaluate import Example, file_pairs, length_name, measure, recipe_pairs
from regard.lab.report import report_page
from regard.text.errors import InputError


def test_a_model_that_learned_its_task_scores_well_on_its_test_split(reverser: regard.Translator) -> None:
    corpus = recipe_pairs(reverser.bundle)
    told: list[int] = []
    measured = measure(reverser, corpus.pairs, progress=told.append)
    scores = measured.evaluation
    assert scores.sentences == len(corpus.pairs) == 60
    assert scores.exact_match > 0.9
    assert scores.bleu > 90
    assert scores.aer is not None
    assert scores.aer < 0.2
    assert "tok:13a" in scores.signatures["bleu"]
    assert scores.signatures["chrf"].startswith("nrefs:1")
    assert told[-1] == 60
    known = [one for one in scores.by_length if one.sentences]
    assert [length_name(one) for one in known] == ["1–5", "6–10"]
    assert sum(one.sentences for one in known) == 60
    data = json.loads(json.dumps(measured.json()))
    assert data["exact_match"] == scores.exact_match
    assert [one["sentences"] for one in data["by_length"]] == [one.sentences for one in known]


def test_alignment_error_does_not_depend_on_what_the_model_would_have_said(reverser: regard.Translator) -> None:
    pairs = [Pair("3 4 5", "5 4 3", Links.of([(0, 2), (1, 1), (2, 0)])), Pair("6 7 8", "8 7 6")]
    wrong = [Pair("3 4 5", "5 4 3", Links.of([(0, 0), (1, 2), (2, 1)])), Pair("6 7 8", "8 7 6")]
    assert measure(reverser, pairs).evaluation.aer == pytest.approx(0.0)
    assert measure(reverser, wrong).evaluation.aer == pytest.approx(1.0)
    assert measure(reverser, [Pair("3 4 5", "5 4 3")]).evaluation.aer is None


def test_references_are_compared_as_the_model_would_write_them(random_model: regard.Translator) -> None:
    pair = Pair("The cat.", "L’Afrique !", Links.of([(0, 0), (1, 1), (2, 2)]))
    translation = random_model.translate(pair.source, target=pair.target)
    example = Example.of(pair, translation, random_model.bundle)
    assert example.reference == "l'afrique!"
    # The model never sees the final stop, source word 2, so no link to it can be missed.
    assert example.links == Links.of([(0, 0), (1, 1)])


def test_gold_links_are_framed_where_the_translation_is_right(reverser: regard.Translator) -> None:
    gold = Links.of([(0, 2), (1, 1), (2, 0)])
    right = Example.of(Pair("3 4 5", "5 4 3", gold), reverser.translate("3 4 5"), reverser.bundle)
    wrong = Example.of(Pair("3 4 5", "5 4 4", gold), reverser.translate("3 4 5"), reverser.bundle)
    assert right.right
    assert right.attention_map().sure == gold.sure
    assert not wrong.right
    assert wrong.attention_map().sure == frozenset()


def test_without_attention_there_is_no_alignment_error_and_it_is_said(vanilla: regard.Translator) -> None:
    pairs = [Pair("the black cat", "le chat noir", Links.of([(0, 0)])), Pair("jane", "jane")]
    measured = measure(vanilla, pairs, longest=4)
    assert measured.evaluation.aer is None
    assert measured.notes == ("no alignment error rate: one fixed vector, no alignment exists",)
    page = report_page("vanilla", measured)
    assert page.count("one fixed vector, no alignment exists") == 1
    assert "One fixed vector, no alignment exists" in page


def test_the_page_shows_scores_lengths_and_examples(reverser: regard.Translator) -> None:
    pairs = recipe_pairs(reverser.bundle).pairs[:30]
    measured = measure(reverser, pairs)
    page = report_page("A title", measured, about="of a few")
    for text in (
        "A title",
        "Exact match",
        "Alignment error rate",
        "of a few",
        "BLEU by source length",
        pairs[0].source,
    ):
        assert text in page
    longer = measure(reverser, [Pair("3 4 5 6 7 8 9 10 11 3 4 5", "5 4 3 11 10 9 8 7 6 5 4 3")])
    assert "11–15" in report_page("A title", measured, longer)
    assert "the scores do not count them" in report_page("A title", measured, longer)


def test_data_comes_from_a_tsv_file_or_parallel_files_and_blank_lines_are_counted(tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("a\tb\n\tc\nd\te\n", encoding="utf-8")
    corpus = file_pairs(tmp_path / "pairs.tsv")
    assert [(pair.source, pair.target) for pair in corpus.pairs] == [("a", "b"), ("d", "e")]
    assert corpus.notes == (f"{tmp_path / 'pairs.tsv'}: 1 line was left out, a side is blank (first: line 2)",)
    for name, text in (("s", "a b\nc\n"), ("t", "B A\nC\n"), ("l", "0-1 1-0\n0-0\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    pairs = file_pairs(tmp_path / "s", tmp_path / "t", tmp_path / "l").pairs
    assert pairs[0].links == Links.of([(0, 1), (1, 0)])


def test_what_cannot_be_measured_is_refused(reverser: regard.Translator, random_model: regard.Translator) -> None:
    with pytest.raises(InputError, match="nothing to measure"):
        measure(reverser, [])
    with pytest.raises(InputError, match="sacrebleu has no tokenizer 'spm9000': valid choices are"):
        measure(reverser, [Pair("3 4 5", "5 4 3")], tokenize="spm9000")
    with pytest.raises(InputError, match="does not know its recipe: name the data"):
        recipe_pairs(random_model.bundle)

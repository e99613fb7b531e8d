"""Measuring a translator: scores, alignment error by forcing the reference, lengths, the page."""

import json
from pathlib import Path

import pytest

import regard
from regard.alignment import Links
from regard.cli.screen import console, show_measured
from regard.data.pair import Pair
from regard.lab.against import compare_systems, verdict
from regard.lab.align_corpus import Direction, Entropy, align
from regard.lab.evaluate_model import (
    Example,
    Scoring,
    length_name,
    measure,
    measure_texts,
    recipe_pairs,
)
from regard.lab.evaluation_data import EvaluationData, read_evaluation_data
from regard.lab.evaluation_page import report_page
from regard.lab.parallel import GoldFile, ParallelText
from regard.runtime.aligner import Aligner
from regard.text.input_error import InputError
from runtime.bundles import untrained


def test_a_model_that_learned_its_task_scores_well_on_its_test_split(reverser: regard.Translator) -> None:
    corpus = recipe_pairs(reverser.bundle)
    reported: list[int] = []
    measured = measure(reverser, corpus.pairs, progress=reported.append)
    scores = measured.evaluation
    assert scores.sentences == len(corpus.pairs) == 60
    assert scores.exact_match > 0.9
    assert scores.bleu > 90
    assert scores.aer is not None
    assert scores.aer < 0.2
    assert "tok:13a" in scores.signatures["bleu"]
    assert scores.signatures["chrf"].startswith("nrefs:1")
    assert reported[-1] == 60
    known = [one for one in scores.by_length if one.sentences]
    assert [length_name(one) for one in known] == ["1–5", "6–10"]
    assert sum(one.sentences for one in known) == 60
    data = json.loads(json.dumps(measured.json()))
    assert data["exact_match"] == scores.exact_match
    assert [one["sentences"] for one in data["by_length"]] == [one.sentences for one in known]


def test_alignment_error_does_not_depend_on_the_models_own_translation(reverser: regard.Translator) -> None:
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
    assert right.attention_map().facts[-1] == ("reference", "✓ the same")
    assert not wrong.right
    assert wrong.attention_map().sure == frozenset()
    assert wrong.attention_map().facts[-1] == ("reference", "5 4 4")


def test_without_attention_the_missing_alignment_error_is_noted(
    vanilla: regard.Translator, random_model: regard.Translator
) -> None:
    pairs = [Pair("the black cat", "le chat noir", Links.of([(0, 0)])), Pair("jane", "jane")]
    measured = measure(vanilla, pairs, longest=4)
    assert measured.evaluation.aer is None
    assert measured.notes == ("no alignment error rate: one fixed vector, no alignment exists",)
    voting = measure(regard.load([vanilla.bundle.path, random_model.bundle.path]), pairs, longest=4)
    assert (voting.evaluation.aer, voting.notes) == (None, measured.notes)  # the first model aligns, and it cannot
    page, _, _ = report_page("vanilla", measured).partition("<script")  # whose components have the sentence, too
    assert page.count("one fixed vector, no alignment exists") == 1
    assert "One fixed vector, no alignment exists" in page


def test_the_page_shows_scores_lengths_and_examples(reverser: regard.Translator) -> None:
    pairs = recipe_pairs(reverser.bundle).pairs[:30]
    measured = measure(reverser, pairs)
    page = report_page("A title", measured, about="of a few")
    for text in (
        "A title",
        "exact match",
        "alignment error rate",
        "of a few",
        "BLEU by source length",
        pairs[0].source,
    ):
        assert text in page
    longer = measure(reverser, [Pair("3 4 5 6 7 8 9 10 11 3 4 5", "5 4 3 11 10 9 8 7 6 5 4 3")])
    assert "11–15" in report_page("A title", measured, longer)
    assert "the scores do not." in report_page("A title", measured, longer)


NAACL = "1 1 2 S\n1 2 1 S\n3 1 1\n"


def test_data_comes_from_a_tsv_file_or_parallel_files_and_blank_lines_are_counted(tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("a\tb\n\tc\nd\te\n", encoding="utf-8")
    corpus = read_evaluation_data(tmp_path / "pairs.tsv")
    assert [(pair.source, pair.target) for pair in corpus.pairs] == [("a", "b"), ("d", "e")]
    assert corpus.notes == (f"{tmp_path / 'pairs.tsv'}: 1 line was left out, a side is blank (first: line 2)",)
    texts = {"s": "a b\n\nc\n", "t": "B A\nX\nC\n", "0": "0-1 1-0\n\n0-0\n", "1": "1-2 2-1\n\n1-1\n", "n": NAACL}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for gold in (GoldFile(tmp_path / "0"), GoldFile(tmp_path / "1", base=1), GoldFile(tmp_path / "n")):
        pairs = read_evaluation_data(tmp_path / "s", tmp_path / "t", gold).pairs
        assert [pair.links for pair in pairs] == [Links.of([(0, 1), (1, 0)]), Links.of([(0, 0)])]


def test_invalid_data_of_an_evaluation_is_refused(reverser: regard.Translator, random_model: regard.Translator) -> None:
    with pytest.raises(InputError, match="nothing to measure"):
        measure(reverser, [])
    with pytest.raises(InputError, match="sacrebleu has no tokenizer 'spm9000': did you mean 'spm'"):
        measure(reverser, [Pair("3 4 5", "5 4 3")], scoring=Scoring(tokenize="spm9000"))
    with pytest.raises(InputError, match="has no recipe: name the data"):
        recipe_pairs(random_model.bundle)


PAIRS = [Pair("3 4 5", "5 4 3"), Pair("6 7 8", "8 7 6"), Pair("9 10 11", "11 10 9")]


class TestEvaluationData:
    def test_further_references_go_line_by_line(self, tmp_path: Path) -> None:
        (tmp_path / "pairs.tsv").write_text("a\tb\n\tc\nd\te\n", encoding="utf-8")
        (tmp_path / "more").write_text("B\nC\n\n", encoding="utf-8")
        yardstick = read_evaluation_data(tmp_path / "pairs.tsv").with_references([tmp_path / "more"])
        assert yardstick.more == [("B",), ()]  # line 2 was left out, line 3 has no further reference
        (tmp_path / "short").write_text("B\n", encoding="utf-8")
        with pytest.raises(InputError, match="short has 1 lines, the test set 3: references need one line for each"):
            yardstick.with_references([tmp_path / "short"])

    def test_the_same_source_makes_one_sentence_of_several_references(self) -> None:
        grouped = EvaluationData.of([Pair("a", "1"), Pair("b", "2"), Pair("a", "3"), Pair("a", "4")]).grouped()
        assert [(pair.source, pair.target) for pair in grouped.pairs] == [("a", "1"), ("b", "2")]
        assert grouped.more == [("3", "4"), ()]

    def test_translations_of_grouped_lines_are_those_of_every_line_or_of_every_source(self, tmp_path: Path) -> None:
        for name, text in (("pairs.tsv", "a\t1\nb\t2\nx\t\na\t3\nc\t4\n"), ("each", "A\nB\nX\nA\nC\n")):
            (tmp_path / name).write_text(text, encoding="utf-8")
        grouped = read_evaluation_data(tmp_path / "pairs.tsv").grouped()
        assert grouped.lines(tmp_path / "each", "translations") == ["A", "B", "C"]
        (tmp_path / "sources").write_text("A\nB\nC\n", encoding="utf-8")
        assert grouped.lines(tmp_path / "sources", "translations") == ["A", "B", "C"]
        (tmp_path / "other").write_text("A\nB\nC\nX\n", encoding="utf-8")
        with pytest.raises(InputError, match="other has 4 lines, the test set 5 and 3 different sources: translations"):
            grouped.lines(tmp_path / "other", "translations")


def test_a_match_with_any_reference_counts(reverser: regard.Translator) -> None:
    wrong = [Pair(pair.source, "7 7 7") for pair in PAIRS]
    more = [[pair.target] for pair in PAIRS]
    measured = measure(reverser, wrong, more=more, scoring=Scoring(with_ter=True))
    assert measured.evaluation.exact_match == 1.0
    assert (measured.evaluation.wer, measured.evaluation.ter) == (0.0, 0.0)
    assert measured.evaluation.references == 2
    assert "nrefs:2" in measured.evaluation.signatures["bleu"]
    assert "ter" in measured.evaluation.signatures
    assert "up to 2 references each" in report_page("x", measured)


def test_pronunciations_have_two_error_rates(reverser: regard.Translator) -> None:
    pairs = [Pair("3 4 5", "5 4 9"), *PAIRS[1:]]
    scores = measure(reverser, pairs, scoring=Scoring(phones=True)).evaluation
    assert scores.per == pytest.approx(1 / 9)
    assert scores.wer == pytest.approx(1 / 3)
    plain = measure(reverser, pairs).evaluation
    assert (plain.per, plain.wer) == (None, pytest.approx(1 / 9))
    assert "phone error rate" in report_page("x", measure(reverser, pairs, scoring=Scoring(phones=True)))


def test_translations_from_elsewhere(reverser: regard.Translator) -> None:
    texts = ["5 4 3", "8 7 6", "9 9 9"]
    measured = measure_texts(texts, PAIRS, scoring=Scoring(with_ter=True))
    assert measured.evaluation.exact_match == pytest.approx(2 / 3)
    assert measured.protocol.name == "raw"
    with pytest.raises(InputError, match="2 translations for 3 pairs"):
        measure_texts(texts[:2], PAIRS)


def test_two_systems_are_compared_on_the_same_sentences(reverser: regard.Translator) -> None:
    pairs = recipe_pairs(reverser.bundle).pairs
    ours = measure(reverser, pairs)
    lazy = measure_texts([pair.source for pair in pairs], pairs)
    against = compare_systems(ours, lazy, "copier", samples=200)
    difference = against.comparisons["bleu"]
    assert difference.first == pytest.approx(ours.evaluation.bleu)
    assert difference.second == pytest.approx(lazy.evaluation.bleu)
    assert verdict(difference) == "better"
    assert verdict(compare_systems(lazy, ours, "reverser", samples=200).comparisons["bleu"]) == "worse"
    itself = compare_systems(ours, ours, "itself", samples=200).comparisons["chrf"]
    assert (itself.difference, verdict(itself)) == (0.0, "may be chance")
    page = report_page("A title", ours, against=against)
    assert "BLEU − copier" in page
    assert "p = 0.005: better" in page
    assert json.loads(json.dumps(against.json()))["comparisons"]["bleu"]["samples"] == 200


def test_systems_that_write_in_different_forms_are_not_compared(reverser: regard.Translator) -> None:
    ours = measure(reverser, PAIRS)
    other = measure_texts(["a"] * 3, [Pair(pair.source, pair.target + " !") for pair in PAIRS])
    with pytest.raises(InputError, match="not compared with the same references"):
        compare_systems(ours, other, "other")


def test_entropy_is_the_mean_over_words_as_regard_align_counts_it(reverser: regard.Translator) -> None:
    sources = ["3", "3 4 5 6 7 8", "9 9", ""]
    written = [one.text for one in reverser.translate(sources)]
    pairs = [Pair(source, text) for source, text in zip(sources, written, strict=True)]
    seen = Entropy()
    Direction(Aligner(reverser.bundle)).links(ParallelText(sources, written), entropy=seen)
    assert measure(reverser, pairs).evaluation.entropy == pytest.approx(seen.mean, rel=1e-4)


def test_entropy_is_near_zero_for_a_model_that_points(reverser: regard.Translator) -> None:
    scores = measure(reverser, PAIRS).evaluation
    assert scores.entropy is not None
    assert 0 <= scores.entropy < 0.7


def test_json_has_fractions_everywhere_but_in_bleu_chrf_and_ter(reverser: regard.Translator) -> None:
    pairs = recipe_pairs(reverser.bundle).pairs[:30]
    scoring = Scoring(with_ter=True)
    ours = measure(reverser, pairs, scoring=scoring)
    copies = measure_texts([pair.source for pair in pairs], pairs, scoring=scoring)
    perfect = measure_texts([pair.target for pair in pairs], pairs, scoring=scoring)
    assert {name: perfect.json()[name] for name in ("bleu", "chrf", "ter", "exact_match", "wer")} == {
        "bleu": 100.0, "chrf": 100.0, "ter": 0.0, "exact_match": 1.0, "wer": 0.0,
    }  # fmt: skip
    against = compare_systems(ours, copies, "copies", samples=20).json()
    for scores in (ours.json(), *ours.json()["by_length"], copies.json(), against["scores"]):
        assert 1 < scores["chrf"] <= 100
        assert all(0 <= scores[name] <= 1 for name in ("exact_match", "aer") if scores[name] is not None)
    assert copies.json()["wer"] < 3
    assert copies.json()["ter"] > 3
    equal = against["comparisons"]["exact_match"]
    assert equal["difference"] == pytest.approx(ours.evaluation.exact_match - copies.evaluation.exact_match)


def test_bleu_of_references_with_fewer_than_four_words_is_explained(reverser: regard.Translator) -> None:
    pairs = [pair for pair in recipe_pairs(reverser.bundle).pairs if len(pair.target.split()) == 3]
    measured = measure(reverser, pairs)
    assert (measured.evaluation.bleu, measured.evaluation.exact_match > 0) == (0, True)
    assert measured.notes == ("BLEU is 0 because no reference has four words: use chrF or exact match",)


def test_links_entropy_maps_and_lengths_of_a_character_model_count_characters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = regard.load(untrained(tmp_path / "letters", kind="character"))
    pairs = [Pair("the cat", "le chat", Links.of([(0, 0), (1, 1)]))]
    translation = model.translate("the cat", target="le chat")
    assert translation.source_words == tuple("thecat")
    assert translation.target_words == tuple("lechat")
    assert {target for _, target in translation.alignment} == set(range(6))
    assert translation.word_attention is not None
    assert translation.word_attention.shape == (6, 6)
    measured = measure(model, pairs)
    (bin_,) = (one for one in measured.evaluation.by_length if one.sentences)
    assert bin_.shortest <= 6 <= (bin_.longest or 6)
    assert (measured.source_unit, measured.target_unit) == ("character", "character")
    show_measured(console(), "letters:", measure(model, [*pairs, Pair("a mat " * 5, "un tapis")]))
    shown = capsys.readouterr().out
    assert "nats a character" in shown
    assert "source characters" in shown
    assert measured.evaluation.aer is not None  # gold links between words are scored between words
    assert measured.examples[0].links == pairs[0].links
    aligned = align(ParallelText.of(pairs), Direction(Aligner(model.bundle)), entropy=True)
    assert {target for _, target in aligned.links[0]} == set(range(6))
    assert aligned.entropy is not None
    assert aligned.entropy.counts.total() == 6

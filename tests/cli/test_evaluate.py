"""`regard evaluate` beyond the plain scores: several references, another system, protocols, translations in a file."""

import json
import shutil
from pathlib import Path

import pytest

from .conftest import Command


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "pairs.tsv").write_text("3 4 5\t5 4 9\n6 7 8\t8 7 6\n3 4 5\t5 4 3\n", encoding="utf-8")
    return tmp_path / "pairs.tsv"


def test_everything_that_is_measured_is_printed(command: Command, run_folder: Path, data: Path) -> None:
    outcome = command("evaluate", run_folder, data)
    assert outcome.code == 0
    for name in ("exact match", "BLEU", "chrF", "TER", "word error rate", "entropy of attention"):
        assert f"\n  {name} " in outcome.out
    assert "tok:13a" in outcome.out


def test_pronunciations_with_several_references(command: Command, run_folder: Path, data: Path) -> None:
    apart = json.loads(command("evaluate", run_folder, data, "--phones", "--json").out)
    assert (apart["sentences"], apart["wer"], apart["per"]) == (3, pytest.approx(1 / 3), pytest.approx(1 / 9))
    together = json.loads(command("evaluate", run_folder, data, "--group", "--phones", "--json").out)
    assert (together["sentences"], together["wer"], together["per"]) == (2, 0.0, 0.0)
    assert together["references"] == 2


def test_a_further_reference(command: Command, run_folder: Path, data: Path, tmp_path: Path) -> None:
    (tmp_path / "more").write_text("5 4 3\n\n\n", encoding="utf-8")
    found = json.loads(command("evaluate", run_folder, data, "--reference", tmp_path / "more", "--json").out)
    assert found["exact_match"] == 1.0


def test_against_another_system(command: Command, run_folder: Path, data: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("1\n1\n1\n", encoding="utf-8")
    page = tmp_path / "report.html"
    outcome = command("evaluate", run_folder, data, "--against", tmp_path / "out", "--html", page, "--protocol", "raw")
    assert outcome.code == 0
    assert "paired bootstrap, 1,000 resampled test sets" in outcome.out
    assert "better" in outcome.out
    assert "BLEU − " in page.read_text(encoding="utf-8")
    found = json.loads(command("evaluate", tmp_path / "out", data, "--against", run_folder, "--json").out)
    assert found["against"]["comparisons"]["exact_match"]["difference"] == pytest.approx(-2 / 3)
    assert found["against"]["scores"]["chrf"] > found["chrf"]


def test_two_systems_have_one_line_for_each_metric(command: Command, data: Path, tmp_path: Path) -> None:
    names = [tmp_path / f"{name}-of-a-name-that-is-longer-than-a-column" for name in ("one", "other")]
    for name, text in zip(names, ("5 4 9\n8 7 6\n5 4 3\n", "1\n1\n1\n"), strict=True):
        name.write_text(text, encoding="utf-8")
    lines = command("evaluate", names[0], data, "--against", names[1]).out.splitlines()
    (head,) = [line for line in lines if "95 % interval" in line]
    assert head.split()[:2] == [str(name) for name in names]
    compared = [line for line in lines[lines.index(head) :] if line.startswith(("bleu", "chrf", "exact match"))]
    assert len(compared) == 3
    assert all(line.endswith(("better", "may be chance")) for line in compared)


def test_scores_are_printed_even_if_the_page_cannot_be_written(command: Command, run_folder: Path, data: Path) -> None:
    for option, wanted in (([], "BLEU "), (["--json"], '"bleu": ')):
        outcome = command("evaluate", run_folder, data, "--html", "/dev/full", *option)
        assert outcome.code != 0
        assert wanted in outcome.out
        assert outcome.err.startswith("regard: cannot write /dev/full: the disk is full: free some space")


def test_model_options_are_refused_for_files(command: Command, run_folder: Path, data: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("1\n1\n1\n", encoding="utf-8")
    for name, value in (("--beam", "3"), ("--length-penalty", "1.0"), ("--longest-source", "9")):
        refused = command("evaluate", tmp_path / "out", data, name, value)
        assert refused.code == 2
        assert refused.complaint == (
            f"{name} {value} is for a model, and {tmp_path / 'out'} is a file of translations: leave it out"
        )
        assert command("evaluate", tmp_path / "out", data, "--against", run_folder, name, value).code == 0
    sides = []
    for name, text in (("source", "3 4\n"), ("target", "4 3\n"), ("links", "0-1 1-0\n"), ("translations", "4 3\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        sides += [] if name == "translations" else [f"--{name}", tmp_path / name]
    refused = command("evaluate", tmp_path / "translations", *sides)
    assert refused.code == 2
    assert refused.complaint.startswith("--links ")
    assert "is a file of translations" in refused.complaint


def test_a_published_protocol(command: Command, tmp_path: Path) -> None:
    for name, text in (("en", "a\n"), ("de", "Ein Mann, der läuft.\n"), ("out", "ein mann, der läuft.\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    files = ["--source", tmp_path / "en", "--target", tmp_path / "de"]
    found = json.loads(command("evaluate", tmp_path / "out", *files, "--protocol", "multi30k-de", "--json").out)
    assert found["bleu"] == pytest.approx(100.0)
    assert "tok:none" in found["signatures"]["bleu"]
    assert all("case:lc" in signature for name, signature in found["signatures"].items())
    shown = command("evaluate", tmp_path / "out", *files, "--protocol", "multi30k-de").out
    assert "counted               multi30k-de: lower-cased, punctuation normalised, Moses tokens" in shown
    cased = json.loads(command("evaluate", tmp_path / "out", *files, "--json").out)
    assert cased["bleu"] < 100


def test_bad_input(command: Command, run_folder: Path, data: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("1\n", encoding="utf-8")
    for arguments, message in (
        ([run_folder, data, "--protocol", "wmt"], "no protocol 'wmt': valid choices are model, raw"),
        ([tmp_path / "out"], "is a file of translations: name what it translates"),
        ([tmp_path / "out", data], "out has 1 lines, the test set 3: translations need one line for each"),
        ([run_folder, data, "--reference", tmp_path / "out"], "references need one line for each"),
        ([run_folder, data, "--protocol", "multi30k-en", "--tokenize", "char"], "leave --tokenize char out"),
        ([run_folder, data, "--against", tmp_path / "none"], "no bundle at"),
    ):
        outcome = command("evaluate", *arguments)
        assert outcome.code == 2
        assert message in outcome.complaint


def test_an_input_is_never_overwritten(command: Command, run_folder: Path, data: Path) -> None:
    before = data.read_bytes()
    outcome = command("evaluate", run_folder, data, "--html", data)
    assert (outcome.code, outcome.err) == (2, f"regard: --html {data} is also an input: name another file\n")
    assert data.read_bytes() == before


def test_an_ensemble_is_scored(command: Command, run_folder: Path, vanilla: Path, data: Path, tmp_path: Path) -> None:
    alone = json.loads(command("evaluate", run_folder, data, "--json").out)
    twins = command("evaluate", run_folder, data, "--ensemble", run_folder, "--json")
    assert json.loads(twins.out)["bleu"] == alone["bleu"]
    shown = command("evaluate", run_folder, data, "--ensemble", run_folder / "last").out
    assert f"{run_folder} with {run_folder / 'last'} on {data}, 3 sentences:" in shown.replace("\n", "")
    for systems, noted in (((), False), (("--ensemble", run_folder), True)):
        assert (
            "the alignment error rate is that of the first" in command("evaluate", run_folder, *systems).out
        ) == noted
    other = command("evaluate", run_folder, data, "--ensemble", vanilla)
    assert other.code == 2
    assert "have different vocabularies: an ensemble needs models" in other.complaint
    (tmp_path / "out").write_text("1\n1\n1\n", encoding="utf-8")
    for systems in ((run_folder, tmp_path / "out"), (tmp_path / "out", run_folder)):
        refused = command("evaluate", systems[0], data, "--ensemble", systems[1])
        assert refused.code == 2
        assert "is a file of translations: --ensemble takes bundles" in refused.complaint


def test_the_length_penalty_reaches_the_search(command: Command, run_folder: Path, data: Path) -> None:
    assert command("evaluate", run_folder, data, "--beam", "3", "--length-penalty", "0.5", "--json").code == 0
    refused = command("evaluate", run_folder, data, "--length-penalty", "-1")
    assert refused.code == 2
    assert refused.complaint == "length_penalty = -1.0: expected at least 0.0"


def test_gold_links_in_either_format_and_from_either_base(command: Command, run_folder: Path, tmp_path: Path) -> None:
    for name, text in (("s", "3 4 5\n"), ("t", "5 4 3\n"), ("0", "0-2 1-1 2-0\n"), ("1", "1-3 2-2 3-1\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "n").write_text("1 1 3 S\n1 2 2 S\n1 3 1 S\n", encoding="utf-8")
    files = ["--source", tmp_path / "s", "--target", tmp_path / "t", "--links"]
    found = [
        json.loads(command("evaluate", run_folder, *files, tmp_path / name, *base, "--json").out)["aer"]
        for name, base in (("0", ()), ("1", ("--gold-base", 1)), ("n", ()))
    ]
    assert found[0] == found[1] == found[2] is not None
    (tmp_path / "n2").write_text("1 1 3 S\n1 2 4 S\n", encoding="utf-8")
    beyond = command("evaluate", run_folder, *files, tmp_path / "n2").complaint
    assert "n2, sentence 1: link 2-4 lies outside the sentence of 3 source and 3 target words" in beyond
    assert "index base" not in beyond
    for wrong, message in (
        (
            [*files, tmp_path / "1"],
            "so read them with index base 1 (read with gold_base = 0 ",
        ),
        ([*files, tmp_path / "0", "--gold-base", 2], "'--gold-base': Input should be less than or equal to 1"),
        ([*files[:-1], "--flip-gold"], "--gold-base and --flip-gold apply to --links: name that file too"),
    ):
        outcome = command("evaluate", run_folder, *wrong)
        assert outcome.code == 2
        assert message in outcome.complaint


def test_gold_of_other_words_and_sentences_without_gold(command: Command, run_folder: Path, tmp_path: Path) -> None:
    texts = {"s": "3 4 5\n3 4 5\n", "t": "5 4 3\n5 4 3\n", "gold": "0-2 1-1 2-0\n\n"}
    for name, text in {**texts, "s'": "3 4 5\n3! 4 5\n"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    files = ["--target", tmp_path / "t", "--links", tmp_path / "gold", "--source"]
    plain = command("evaluate", run_folder, *files, tmp_path / "s", "--json")
    assert (json.loads(plain.out)["aer"], plain.err) == (0.0, "")  # as `regard align` counts: no gold, no error
    remarked = command("evaluate", run_folder, *files, tmp_path / "s'")
    assert "1 pair of 2 has words that this model splits differently from white space" in remarked.err


def test_sources_that_are_cut_are_counted(command: Command, run_folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "long.tsv"
    data.write_text("3 4\t4 3\n" + "3 " * 30 + "\t" + "3 " * 30 + "\n", encoding="utf-8")
    outcome = command("evaluate", run_folder, data)
    assert "1 of 2 sources were too long: only their first 20 pieces were read" in " ".join(outcome.out.split())
    assert "too long" not in command("evaluate", run_folder, data, "--longest-source", "30").out
    (tmp_path / "out").write_text("4 3\n3\n", encoding="utf-8")
    page = tmp_path / "page.html"
    other = command("evaluate", tmp_path / "out", data, "--against", run_folder, "--html", page)
    assert f"{run_folder}: 1 of 2 sources were too long" in " ".join(other.out.split())
    assert "1 of 2 sources were too long" in page.read_text(encoding="utf-8")


def test_evaluate_and_info_report_that_a_run_ended_early(command: Command, run_folder: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(run_folder, run)
    lines = (run / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if json.loads(line)["event"] in ("started", "step")][:14]
    (run / "journal.jsonl").write_text("\n".join(kept) + "\n", encoding="utf-8")
    total = f"{json.loads(kept[0])['total_steps']:,}"
    assert f"its training has not ended, at step 13 of {total}" in command("evaluate", run).out
    assert f"has not ended, at step 13 of {total}" in command("info", run).out
    assert "of" not in [
        word
        for line in command("info", run_folder).out.splitlines()
        if line.startswith("training")
        for word in line.split()
    ]

"""The demo, shortened: its files, and the folders that it does not change."""

import json
from pathlib import Path

import pytest

import regard
from regard.lab import run_demo as module
from regard.lab.run_demo import show_demo, train_demo
from regard.text.input_error import InputError

SHORT = ["data.train=100", "data.dev=5", "train.steps=4", "train.validate_every=4", "train.validate_sentences=5"]


@pytest.mark.slow
def test_the_demo_leaves_a_bundle_a_report_and_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SENTENCES", 6)
    monkeypatch.setattr(module, "SAMPLE", 1)
    out = tmp_path / "demo"
    result = train_demo("en-fr", out, seed=1, overrides=SHORT)
    demo = show_demo("en-fr", out, seed=1, train_seconds=result.progress.seconds)
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert set(report) >= {"exact_match", "aer", "bleu", "sentences", "train_seconds", "by_length", "pair", "seed"}
    assert report["sentences"] == 6
    assert 0 <= report["exact_match"] <= 1
    assert 0 <= report["aer"] <= 1
    assert report["train_seconds"] > 0
    assert report["by_length"][-1]["shortest"] == 41
    assert report["showcase"][0]["source"] == "the black cat sat on the mat"
    assert demo.showcase[0].reference == "le chat noir était assis sur le tapis"
    assert (out / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (out / "alignment.png").read_bytes().startswith(b"\x89PNG")
    assert regard.load(out).translate("The cat.").source_words == ("the", "cat")
    again = train_demo("en-fr", out, seed=2, overrides=[*SHORT, "data.train=20", "train.steps=1"])
    assert again.reason == "steps"


def test_a_run_that_is_not_a_demo_is_not_replaced(run_folder: Path) -> None:
    before = (run_folder / "best" / "manifest.json").read_bytes()
    with pytest.raises(InputError, match="holds a run that `regard demo` did not make: name another folder with --out"):
        train_demo("en-fr", run_folder)
    assert (run_folder / "best" / "manifest.json").read_bytes() == before


def test_a_folder_with_other_files_is_not_changed(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(InputError, match="holds files that are not a run, and is left unchanged"):
        train_demo("en-fr", tmp_path)
    assert (tmp_path / "thesis.txt").read_text(encoding="utf-8") == "years of work"


def test_an_unknown_pair_raises_with_the_valid_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no phrasebook 'en-de': valid choices are en-fr, fr-en, en-hi"):
        train_demo("en-de", tmp_path)

"""Quality by length, triage and neighbours against a real server."""

from collections.abc import Callable
from pathlib import Path
from time import sleep
from typing import Any

import httpx
import numpy as np
import pytest

import regard
from regard.data import phrasebook
from regard.evaluation import chrf
from regard.server.settings import Settings
from regard.text.words import word_spans
from runtime.bundles import untrained

from .conftest import running

CAT = "the black cat sat on the mat"
Post = Callable[..., Any]


def _quality(client: httpx.Client, model: str, metric: str = "chrf") -> Any:
    for _ in range(600):
        answer = client.get(f"/api/v1/quality/{model}", params={"metric": metric})
        assert answer.status_code == 200, answer.text
        if answer.json()["state"] == "ready":
            return answer.json()
        assert answer.json()["bins"] == []
        sleep(0.2)
    raise AssertionError("the scores were not ready within a minute")


def test_quality_is_that_of_the_test_set_by_length(program: httpx.Client) -> None:
    found = _quality(program, "demo-en-fr")
    assert (found["done"], found["of"], found["model"]) == (600, 600, "demo-en-fr")
    assert sum(one["sentences"] for one in found["bins"]) == 600
    for one in found["bins"]:
        assert len(one["examples"]) == one["sentences"]
        assert one["low"] <= one["score"] <= one["high"]
        assert all(one["shortest"] <= len(word_spans(each["source"])) for each in one["examples"])
    sentences = [each for one in found["bins"] for each in one["examples"]]
    assert len({each["number"] for each in sentences}) == 600
    whole = chrf([each["text"] for each in sentences], [[each["reference"]] for each in sentences]).score
    assert found["score"] == pytest.approx(whole)
    exact = _quality(program, "demo-en-fr", "exact_match")
    assert exact["score"] == pytest.approx(np.mean([each["right"] for each in sentences]))
    assert exact["low"] < exact["score"] < exact["high"] <= 1
    assert 95 < _quality(program, "demo-en-fr", "bleu")["score"] <= 100


@pytest.fixture(scope="module")
def trained_on_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one step on pairs from a file."""
    folder = tmp_path_factory.mktemp("files")
    pairs = phrasebook.pairs("en-fr", "train", 40, longest=6)
    (folder / "pairs.tsv").write_text("".join(f"{one.source}\t{one.target}\n" for one in pairs), encoding="utf-8")
    recipe = """
        [data]
        kind = "tsv"
        train = "pairs.tsv"
        dev = "pairs.tsv"
        test = "pairs.tsv"
        [text]
        kind = "word"
        [model]
        preset = "bahdanau"
        size = "tiny"
        [train]
        steps = 1
        batch_sentences = 16
        threads = 1
    """
    (folder / "mine.toml").write_text(recipe, encoding="utf-8")
    regard.train(folder / "mine.toml", folder / "runs" / "mine")
    return folder / "runs"


def test_quality_refuses_what_it_cannot_measure(client: httpx.Client, trained_on_files: Path, tmp_path: Path) -> None:
    assert client.get("/api/v1/quality/demo-en-fr?metric=comet").status_code == 422
    assert client.get("/api/v1/quality/nothing").status_code == 404
    bare = untrained(tmp_path / "bare", "luong")
    with running(Settings(bundles=(trained_on_files / "mine", bare))) as (serving, _, _):
        for path in ("quality/mine", "quality/bare"):
            error = serving.get(f"/api/v1/{path}").json()["error"]
            assert error["code"] == "unsupported"
        assert error["message"] == "this model has no recipe, so there is no data to show"
        error = serving.post("/api/v1/neighbours", json={"text": CAT}).json()["error"]
        assert error["message"] == "regard serve reads no data files"


def test_the_studio_reads_the_data_of_its_own_runs(trained_on_files: Path) -> None:
    with running(Settings(studio=True, runs=trained_on_files)) as (client, _, _):
        assert _quality(client, "mine")["of"] == 40
        body = {"model": "mine", "text": "the cat", "target": "le chat", "count": 3}
        assert client.post("/api/v1/neighbours", json=body).json()["sample"] == 40
        (trained_on_files.parent / "pairs.tsv").rename(trained_on_files.parent / "gone.tsv")
    with running(Settings(studio=True, runs=trained_on_files)) as (client, _, _):
        error = client.get("/api/v1/quality/mine").json()["error"]
        assert error["code"] == "unsupported"
        assert error["message"].startswith("the test data of this model is not on this machine: no file pairs.tsv")
        assert str(trained_on_files.parent) not in error["message"].partition(": no file")[2][:40]
        error = client.get("/api/v1/quality/en-fr").json()["error"]
        assert error["message"].endswith("not on this machine: no file dev-en-fr.tsv"), "no path of the installation"
    (trained_on_files.parent / "gone.tsv").rename(trained_on_files.parent / "pairs.tsv")


def test_triage_puts_the_doubtful_first(post: Post, refused: Post) -> None:
    lines = [CAT, "", "zebras dance a quantum tango", "i love you", "she sees the house"]
    answer = post("/triage", lines=lines)
    assert answer["rows"][0]["number"] == 2
    assert sorted(row["number"] for row in answer["rows"]) == [0, 2, 3, 4]
    assert [row["confidence"] for row in answer["rows"]] == sorted(row["confidence"] for row in answer["rows"])
    worst = answer["rows"][0]
    assert any("zebras" in one for one in worst["warnings"])
    by_number = {row["number"]: row for row in answer["rows"]}
    alone = regard.load("demo-en-fr").translate(CAT)
    assert by_number[0]["text"] == alone.text
    assert by_number[0]["mean_log_probability"] == pytest.approx(alone.score / len(alone.probabilities), abs=1e-4)
    assert 0 < by_number[0]["coverage"] <= 1
    given = post("/triage", lines=[CAT, "i love you"], translations=["je dors dors", "je t'aime"])
    assert (given["forced"], given["rows"][0]["number"], given["rows"][0]["repeated"]) == (True, 0, 1)
    assert refused(422, "/triage", lines=[CAT], translations=[])["field"] == "translations"
    assert refused(413, "/triage", lines=["x"] * 501)["code"] == "too_long"
    assert refused(413, "/triage", lines=["x", "x" * 4001])["field"] == "lines.1"
    assert post("/triage", lines=[" "])["rows"] == []
    assert post("/triage", lines=[CAT])["rows"][0]["confidence"] == 0.5


def test_neighbours_are_training_sentences_that_say_the_same(program: httpx.Client) -> None:
    def ask(**body: Any) -> Any:
        return program.post("/api/v1/neighbours", json=body).json()

    answer = ask(text=CAT, step=1, count=5, kind="context")
    assert (answer["piece"], answer["sample"], len(answer["neighbours"])) == ("chat", 1000, 5)
    assert [one["piece"] for one in answer["neighbours"]].count("chat") >= 4
    similar = [one["similarity"] for one in answer["neighbours"]]
    assert similar == sorted(similar, reverse=True)
    assert len({one["source"] for one in answer["neighbours"]}) == 5
    first = answer["neighbours"][0]
    for kind in ("query", "context"):
        same = ask(text=first["source"], target=first["target"], step=first["step"], count=1, kind=kind)
        assert same["neighbours"][0]["source"] == first["source"]
        assert same["neighbours"][0]["similarity"] == pytest.approx(1.0, abs=1e-5)
    assert ask(text=CAT, step=99)["error"]["field"] == "step"
    assert ask(text=" ")["error"]["field"] == "text"


def test_models_of_every_kind_have_signals_and_none_is_made_up(tmp_path: Path) -> None:
    paths = [untrained(tmp_path / name, name) for name in ("vanilla", "transformer")]
    with running(Settings(bundles=tuple(paths))) as (client, _, _):
        for name in ("vanilla", "transformer"):
            row = client.post("/api/v1/triage", json={"model": name, "lines": [CAT]}).json()["rows"][0]
            assert (row["coverage"] is None) == (name == "vanilla")
        error = client.post("/api/v1/neighbours", json={"model": "vanilla", "text": CAT}).json()["error"]
        assert (error["code"], "no query" in error["message"]) == ("unsupported", True)

"""Runs of the studio: train from the page, follow, replay, stop; real processes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import Any

import httpx
import pytest

import regard
from regard.server.settings import Settings

from .conftest import running, served

Events = list[tuple[str | None, str, dict[str, Any]]]


def _events(client: httpx.Client, run: str, **headers: str) -> Events:
    """(id, kind, data) of a stream that ends."""
    found: Events = []
    with client.stream("GET", f"/api/v1/runs/{run}/events", headers=headers) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        fields: dict[str, str] = {}
        for line in answer.iter_lines():
            if line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif fields.get("event"):
                found.append((fields.get("id"), fields["event"], json.loads(fields["data"])))
                fields = {}
    return found


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx.Client, Path, Events]]:
    """A studio that trained the demo for a few steps, with the events that a client saw meanwhile."""
    folder = tmp_path_factory.mktemp("studio")
    arguments = ("studio", "demo-en-fr", "--no-browser", "--runs", str(folder / "runs"))
    with served(folder / "log", *arguments) as (_, client):
        assert client.get("/api/v1/runs").json() == {"runs": [], "can_train": True}
        answer = client.post("/api/v1/runs", json={"pair": "en-fr", "steps": 4})
        assert answer.status_code == 201, answer.text
        run = answer.json()
        assert (run["id"], run["state"], run["ours"]) == ("studio-en-fr-1", "preparing", True)
        second = client.post("/api/v1/runs", json={"pair": "en-hi", "steps": 4})
        assert (second.status_code, second.json()["error"]["code"]) == (409, "conflict")
        yield client, folder / "runs", _events(client, run["id"])


def test_a_run_is_followed_to_its_end(trained: tuple[httpx.Client, Path, Events]) -> None:
    client, _, events = trained
    kinds = [kind for _, kind, _ in events]
    assert kinds[0] == "started"
    assert kinds[-1] == "end"
    assert [data["step"] for _, kind, data in events if kind == "step"] == [1, 2, 3, 4]
    assert {"validated", "snapshot", "finished"} <= set(kinds)
    assert [data["step"] for _, kind, data in events if kind == "snapshot"] == [1, 2, 3, 4]
    numbers = [int(number) for number, _, _ in events if number is not None]
    assert numbers == list(range(1, len(numbers) + 1))
    (run,) = client.get("/api/v1/runs").json()["runs"]
    assert (run["state"], run["step"], run["total_steps"], run["model"]) == ("finished", 4, 4, "studio-en-fr-1")
    assert run["metric"] == "exact_match"
    again = _events(client, run["id"], **{"Last-Event-ID": "5"})
    assert all(number is None or int(number) > 5 for number, _, _ in again)
    assert again[-1][1] == "end"


def test_a_run_becomes_a_model_and_is_replayed(trained: tuple[httpx.Client, Path, Events]) -> None:
    client, _, _ = trained
    assert "studio-en-fr-1" in [one["id"] for one in client.get("/api/v1/models").json()["models"]]
    body = {"model": "studio-en-fr-1", "text": "the cat"}
    assert client.post("/api/v1/translate", json=body).status_code == 200
    found = client.get("/api/v1/runs/studio-en-fr-1/replay").json()
    assert [one["step"] for one in found["snapshots"]] == [1, 2, 3, 4]
    assert len(found["sentences"]) == 4
    first = found["sentences"][0]
    assert first["source"]["language"] == "en"
    for snapshot in found["snapshots"]:
        for pinned, one in zip(found["sentences"], snapshot["sentences"], strict=True):
            assert len(one["data"]) == len(pinned["target"]["words"])
            assert {len(row) for row in one["data"]} == {len(pinned["source"]["words"])}
            sums = [sum(row) + rest for row, rest in zip(one["data"], one["elsewhere"], strict=True)]
            assert sums == pytest.approx([1.0] * len(sums), abs=1e-5), "no attention is hidden"
            assert one["log_probability"] < 0


def test_a_run_of_the_command_line_is_replayed_too(trained: tuple[httpx.Client, Path, Events]) -> None:
    client, runs, _ = trained
    subprocess.run(
        [sys.executable, "-m", "regard", "train", "reverse", "--out", str(runs / "mine"), "--set", "train.steps=4",
         "--set", "train.validate_every=2", "--set", "data.train=100", "--set", "data.dev=5"],
        check=True, capture_output=True,
    )  # fmt: skip
    run = next(one for one in client.get("/api/v1/runs").json()["runs"] if one["id"] == "mine")
    assert (run["state"], run["ours"], run["step"]) == ("finished", False, 4)
    found = client.get("/api/v1/runs/mine/replay").json()
    assert [one["step"] for one in found["snapshots"]] == [2, 4]
    assert len(found["sentences"]) == 4
    (runs / "mine" / "replay.jsonl").unlink()
    found = client.get("/api/v1/runs/mine/replay").json()
    assert "best and last checkpoints" in found["reason"], "runs of older versions have no snapshots"
    assert {one["step"] for one in found["snapshots"]} <= {2, 4}
    for sentence in found["sentences"]:
        assert sentence["target"]["text"].split() == sentence["source"]["text"].split()[::-1], "the reference is forced"
    assert _events(client, "mine")[-1][1] == "end"
    answer = client.delete("/api/v1/runs/mine")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "unsupported")
    lines = (runs / "mine" / "journal.jsonl").read_text().splitlines()
    (runs / "mine" / "journal.jsonl").write_text("\n".join(lines[:2]) + "\nhalf a line")
    assert [kind for _, kind, _ in _events(client, "mine")][-2:] == ["gone", "end"]
    assert next(one for one in client.get("/api/v1/runs").json()["runs"] if one["id"] == "mine")["state"] == "stopped"
    for name in ("nothing", "..", "%2e%2e", "mine%2fbest"):
        assert client.get(f"/api/v1/runs/{name}/events").status_code == 404


def test_snapshots_never_stop_a_training_and_their_end_is_reported(tmp_path: Path) -> None:
    """The folder cannot hold them: a folder stands where their file should be."""
    from regard.server.snapshot_listener import snapshot_listener

    out = tmp_path / "run"
    reported: list[str] = []
    listen = snapshot_listener(out, report=reported.append)
    seen = []

    def listener(event: Any) -> None:
        seen.append(event.kind)
        if event.kind == "started":
            (out / "replay.jsonl").mkdir()
        listen(event)

    small = ["train.steps=4", "train.validate_every=2", "data.train=50", "data.dev=5"]
    regard.train("reverse", out, overrides=small, listener=listener)
    assert (seen[-1], list((out / "replay.jsonl").iterdir())) == ("finished", [])
    (message,) = reported
    assert message.startswith("no further snapshots for regard studio; the training continues: ")


def test_a_resumed_run_keeps_the_sentence_of_its_snapshots(tmp_path: Path) -> None:
    from regard.server.run_replay import read_replay
    from regard.server.snapshot_listener import snapshot_listener

    lines = [f"{i} {i + 1} {i + 2}\t{i + 2} {i + 1} {i}" for i in range(60)]
    (tmp_path / "pairs.tsv").write_text("\n".join(lines), encoding="utf-8")
    recipe = """
        [data]
        kind = "tsv"
        train = "pairs.tsv"
        [text]
        kind = "word"
        [model]
        preset = "bahdanau"
        size = "tiny"
        [train]
        steps = 6
        validate_every = 2
        batch_sentences = 8
    """
    (tmp_path / "mine.toml").write_text(recipe, encoding="utf-8")
    out = tmp_path / "run"
    begun = snapshot_listener(out)

    def stop(event: Any) -> None:
        begun(event)
        if event.kind == "step" and event.step == 3:
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        regard.train(tmp_path / "mine.toml", out, listener=stop)
    first = read_replay(out)
    assert first is not None
    assert [one.step for one in first.snapshots] == [2]
    assert len(first.sentences) == 1, "of files, the sample of the validation"
    regard.train(tmp_path / "mine.toml", out, resume=True, listener=snapshot_listener(out))
    again = read_replay(out)
    assert again is not None
    assert [one.step for one in again.snapshots] == [2, 4, 6]
    assert again.sentences == first.sentences


def test_delete_stops_a_run_which_saves(trained: tuple[httpx.Client, Path, Events]) -> None:
    client, runs, _ = trained
    run = client.post("/api/v1/runs", json={"pair": "en-fr", "steps": 200}).json()["id"]

    def state() -> Any:
        return next(one for one in client.get("/api/v1/runs").json()["runs"] if one["id"] == run)

    for _ in range(600):
        if state()["step"] >= 2:
            break
        sleep(0.1)
    assert client.delete(f"/api/v1/runs/{run}").status_code == 204
    assert state()["state"] == "stopped"
    assert (runs / run / "last" / "manifest.json").is_file()
    assert client.delete(f"/api/v1/runs/{run}").status_code == 204


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_end_of_the_studio_ends_its_training(tmp_path: Path, number: signal.Signals) -> None:
    arguments = ("studio", "demo-en-fr", "--no-browser", "--runs", str(tmp_path / "runs"))
    with served(tmp_path / "log", *arguments) as (process, client):
        run = client.post("/api/v1/runs", json={"pair": "en-fr", "steps": 200}).json()["id"]
        with client.stream("GET", f"/api/v1/runs/{run}/events") as answer:
            lines = answer.iter_lines()
            while '"step"' not in next(lines):
                pass
            os.kill(process.pid, number)
            with suppress(httpx.HTTPError):
                list(lines)
        assert process.wait(60) == (0 if number == signal.SIGTERM else -number)
        journal = tmp_path / "runs" / run / "journal.jsonl"
        for _ in range(600):
            if '"reason": "interrupted"' in journal.read_text():
                return
            sleep(0.1)
    raise AssertionError(journal.read_text()[-500:])


@pytest.mark.skipif(sys.platform != "linux", reason="limits the files of another process")
def test_a_training_that_cannot_write_fails_with_the_reason(tmp_path: Path) -> None:
    import resource

    arguments = ("studio", "demo-en-fr", "--no-browser", "--runs", str(tmp_path / "runs"))
    with served(tmp_path / "log", *arguments) as (process, client):
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))  # less than a checkpoint
        run = client.post("/api/v1/runs", json={"pair": "en-fr", "steps": 2}).json()["id"]
        assert _events(client, run)[-1][1] == "end"
        (found,) = client.get("/api/v1/runs").json()["runs"]
    assert found["state"] == "failed"
    assert found["problem"].startswith(f"cannot write {tmp_path / 'runs' / run / 'last'}")


def test_a_journal_in_the_runs_folder_may_be_anything(tmp_path: Path) -> None:
    from regard.server.run_events import Tail
    from regard.server.run_listing import RunListing

    tables = ("data", "text", "model", "train", "search")
    for name in ("pipe", "huge"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "recipe.json").write_text(json.dumps({key: {} for key in tables}))
    os.mkfifo(tmp_path / "pipe" / "journal.jsonl")
    huge = [
        {"event": "step", "step": 10**400},
        {"event": "validated", "step": 1, "best": True, "score": float("inf"), "metric": "bleu"},
        {"event": "finished", "seconds": float("nan"), "reason": "steps"},
    ]
    (tmp_path / "huge" / "journal.jsonl").write_text("".join(json.dumps(one) + "\n" for one in huge))
    with running(Settings(studio=True, runs=tmp_path)) as (client, _, _):
        found = {one["id"]: one for one in client.get("/api/v1/runs").json()["runs"]}
        assert (found["huge"]["step"], found["huge"]["best_score"], found["huge"]["seconds"]) == (1, None, None)
    assert set(found) <= {"pipe", "huge"}
    assert RunListing(tmp_path).summary(tmp_path / "huge").best_step == 1
    assert Tail(tmp_path / "pipe" / "journal.jsonl").read() == []


def test_regard_serve_trains_nothing() -> None:
    with running(Settings(bundles=("demo-en-fr",))) as (client, _, _):
        assert client.get("/api/v1/runs").json() == {"runs": [], "can_train": False}
        for answer in (client.post("/api/v1/runs", json={}), client.delete("/api/v1/runs/demo")):
            assert (answer.status_code, answer.json()["error"]["code"]) == (422, "unsupported")

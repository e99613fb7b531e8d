"""Folders through an engine: complete, resumable, the same in one process and with Ray."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from processes import completed, started, wait_until
from regard.bundle.bundle_folder import CannotWrite
from regard.course.descendants import family_of
from regard.data import phrasebook
from regard.files import locked
from regard.lab.bulk.run_bulk import Bulk, translate_bulk
from regard.text.input_error import InputError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three files in two folders."""
    root = tmp_path_factory.mktemp("corpus")
    sentences = [pair.source for pair in phrasebook.pairs("en-fr", "test", 60)]
    (root / "more").mkdir()
    (root / "a.txt").write_text("\n".join(sentences[:25]) + "\n", encoding="utf-8")
    (root / "more" / "a.txt").write_text("\n".join(sentences[25:40]) + "\n", encoding="utf-8")
    rows = [{"text": text} for text in sentences[40:]] + [{"other": 1}]
    (root / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return root


@pytest.fixture
def only_ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One test at a time starts a cluster: RAY_ADDRESS=auto finds every cluster of the machine."""
    pytest.importorskip("ray")
    with locked(tmp_path_factory.getbasetemp().parent / "ray.lock"):
        yield


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("part-*") if path.is_file()}


def test_finished_parts_are_not_translated_again(folder: Path, tmp_path: Path) -> None:
    bulk = Bulk("demo-en-fr", str(folder), str(tmp_path / "out"), rows=10)
    first = translate_bulk(bulk)
    assert (first.files, first.parts, first.finished_before, first.rows, first.bad) == (3, 8, 0, 61, 1)
    before = contents(tmp_path / "out")
    (tmp_path / "out" / "a.txt" / "part-00001.txt").unlink()
    again = translate_bulk(bulk)
    assert (again.finished_before, again.rows) == (7, 10)
    assert contents(tmp_path / "out") == before
    assert translate_bulk(bulk).rows == 0


def test_texts_without_a_translation_are_counted_and_listed(tmp_path: Path) -> None:
    """A blank line stays a blank line: it is no text."""
    (tmp_path / "w.txt").write_text("42\nhello\n3 4\n!!!\n日本\n\n \n", encoding="utf-8")
    (tmp_path / "w.tsv").write_text("42\t1\n \t2\nhello\t3\n", encoding="utf-8")
    (tmp_path / "w.jsonl").write_text('{"1": "42"}\n{"1": ""}\n{"1": null}\n', encoding="utf-8")
    done = translate_bulk(Bulk("g2p-en", str(tmp_path / "w.*"), str(tmp_path / "out"), column="1"))
    assert (done.rows, done.bad) == (13, 7)
    text = (tmp_path / "out" / "w.txt" / "part-00000.txt").read_text(encoding="utf-8").split("\n")
    assert [bool(line) for line in text] == [False, True, *[False] * 6]
    for name, rows in (("txt", [1, 3, 4, 5]), ("tsv", [1]), ("jsonl", [1, 3])):
        side = tmp_path / "out" / f"w.{name}" / "part-00000.bad.jsonl"
        complaints = [json.loads(line) for line in side.read_text(encoding="utf-8").splitlines()]
        assert [one["row"] for one in complaints] == rows
        assert complaints[0]["error"].startswith("unknown to this model and left out: '4', '2'")


def test_another_model_or_changed_files_are_refused(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "in.txt"
    copy.write_text("she sleeps\n", encoding="utf-8")
    bulk = Bulk("demo-en-fr", str(copy), str(tmp_path / "out"))
    translate_bulk(bulk)
    for other in (replace(bulk, bundle="demo-en-hi"), replace(bulk, search={"beam": 3})):
        with pytest.raises(InputError, match="by another model or other settings: name another --output"):
            translate_bulk(other)
    for text in ("she sleeps\nhe sleeps\n", "she sleepz\n"):
        copy.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=r"in\.txt has changed since"):
            translate_bulk(bulk)
    for damaged in ("[]", "{", '{"made_with": {}}', '{"made_with": {}, "sha256": 3}'):
        (tmp_path / "out" / "bulk.json").write_text(damaged, encoding="utf-8")
        with pytest.raises(InputError, match=r"bulk\.json is damaged, or from another version: name another --output"):
            translate_bulk(bulk)
    with pytest.raises(InputError, match=r"is not empty and holds no bulk\.json"):
        translate_bulk(replace(bulk, output=str(folder)))
    with pytest.raises(InputError, match="no file at"):
        translate_bulk(replace(bulk, inputs=str(tmp_path / "*.nothing")))
    with pytest.raises(InputError, match="no engine 'spark': valid choices are local, ray"):
        translate_bulk(bulk, "spark")


def test_wrong_options_do_not_reserve_the_output(folder: Path, tmp_path: Path) -> None:
    bulk = Bulk("demo-en-fr", str(folder / "a.txt"), str(tmp_path / "out"), search={"beam": 3, "temperature": 0.5})
    with pytest.raises(InputError, match="temperature means sampling and beam 3 means beam search"):
        translate_bulk(bulk)
    assert translate_bulk(replace(bulk, search={"beam": 3})).rows == 25
    with pytest.raises(InputError, match="no bundle at no-model"):
        translate_bulk(replace(bulk, bundle="no-model", output=str(tmp_path / "other")))
    assert not (tmp_path / "other").exists()


def test_a_pattern_that_is_none_gets_one_message(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"/\*\*x is no pattern of files: "):
        translate_bulk(Bulk("demo-en-fr", str(tmp_path / "**x"), str(tmp_path / "out")))


def test_the_names_of_the_records_are_no_input(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("bulk.bad.jsonl", "a.jsonl"):
        (tmp_path / "in" / name).write_text('{"text": "she sleeps"}\n', encoding="utf-8")
    done = translate_bulk(Bulk("demo-en-fr", str(tmp_path / "in"), str(tmp_path / "out")))
    assert [Path(name).name for name in done.refused] == ["bulk.bad.jsonl"]
    assert done.rows == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux only")
def test_a_full_disk_gets_one_message(folder: Path, tmp_path: Path) -> None:
    bulk = Bulk("demo-en-fr", str(folder / "b.jsonl"), str(tmp_path / "out"))
    fill_disk(bulk, folder)
    with pytest.raises(CannotWrite, match=r"cannot write .*out: the disk is full"):
        translate_bulk(bulk)


def fill_disk(bulk: Bulk, folder: Path) -> None:
    """Let the side file of b.jsonl lie on a full disk."""
    translate_bulk(replace(bulk, inputs=str(folder / "a.txt")))
    (Path(bulk.output) / "b.jsonl").mkdir()
    (Path(bulk.output) / "b.jsonl" / "part-00000.bad.jsonl").symlink_to("/dev/full")


def test_an_output_that_is_a_file_gets_one_message(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "out").touch()
    with pytest.raises(CannotWrite, match=r"cannot write .*out: a part of this path is a file"):
        translate_bulk(Bulk("demo-en-fr", str(folder / "a.txt"), str(tmp_path / "out")))


def test_a_second_process_reports_that_it_waits(folder: Path, tmp_path: Path) -> None:
    bulk = Bulk("demo-en-fr", str(folder / "a.txt"), str(tmp_path / "out"))
    (tmp_path / "out").mkdir()
    with ExitStack() as first:
        first.enter_context(locked(tmp_path / "out" / ".bulk.json.lock"))
        assert translate_bulk(bulk, waits=first.close).rows == 25


@pytest.mark.long
@pytest.mark.usefixtures("only_ray")
def test_errors_of_rays_workers_get_one_message(folder: Path, tmp_path: Path) -> None:
    bulk = Bulk("demo-en-fr", str(folder / "b.jsonl"), str(tmp_path / "out"))
    fill_disk(bulk, folder)
    sampled = ["--beam", "3", "--temperature", "0.5", "--output", str(tmp_path / "sampled")]
    cases = [
        ([], 1, "cannot write .*out: the disk is full: free some space, or name another folder"),
        (["--device", "cuda"], 2, "--device cuda with --gpus-per-worker 0: give both or none"),
        (["--gpus-per-worker", "0.5"], 2, "--device cpu with --gpus-per-worker 0.5: give both or none"),
        (sampled, 2, "temperature means sampling and beam 3 means beam search"),
    ]
    if not torch.cuda.is_available():
        no_gpu = "a worker needs 1 GPUs, this machine has 0: leave --gpus-per-worker out"
        cases.append((["--device", "cuda", "--gpus-per-worker", "1"], 2, no_gpu))
    for options, code, message in cases:
        command = ["translate", bulk.bundle, "--engine", "ray", "--input", bulk.inputs, "--output", bulk.output]
        done = completed([sys.executable, "-P", "-m", "regard", *command, *options])
        assert done.returncode == code
        assert "Traceback" not in done.stderr
        assert re.fullmatch(f"regard: {message}.*", done.stderr.splitlines()[-1])


def test_a_wrong_column_is_found_before_anything_is_translated(folder: Path, tmp_path: Path) -> None:
    bulk = Bulk("demo-en-fr", str(folder / "*.jsonl"), str(tmp_path / "out"), column="sentence")
    with pytest.raises(InputError, match=r"b\.jsonl has no column 'sentence', it has 'text', 'other'"):
        translate_bulk(bulk)


@pytest.mark.long
@pytest.mark.usefixtures("only_ray")
@pytest.mark.parametrize("address", ["127.0.0.1:{free}", "ray://127.0.0.1:{free}", "auto", "nonsense"])
def test_a_cluster_that_does_not_answer_gets_one_message_at_once(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    with socket.socket() as free:  # bound, but nobody listens
        free.bind(("127.0.0.1", 0))
        address = address.format(free=free.getsockname()[1])
        command = ["translate", "demo-en-fr", "--engine", "ray", "--input", str(folder / "a.txt")]
        monkeypatch.setenv("RAY_ADDRESS", address)
        done = completed([sys.executable, "-P", "-m", "regard", *command, "--output", str(tmp_path / "out")])
    assert done.returncode == (2 if address == "nonsense" else 1)
    (message,) = done.stderr.splitlines()
    assert message.startswith(f"regard: no Ray cluster at RAY_ADDRESS={address} (")
    assert message.endswith("correct RAY_ADDRESS, or unset it to use this machine")


@pytest.mark.long
@pytest.mark.usefixtures("only_ray")
def test_ray_gives_the_same_result_after_a_worker_is_killed(tmp_path: Path) -> None:
    sentences = [pair.source for pair in phrasebook.pairs("en-fr", "test", 2000)]
    (tmp_path / "in.txt").write_text("\n".join(sentences) + "\n", encoding="utf-8")
    bulk = Bulk("demo-en-fr", str(tmp_path / "in.txt"), str(tmp_path / "alone"), rows=50)
    assert translate_bulk(bulk).rows == 2000
    code = (
        "import sys; from regard.lab.bulk.run_bulk import Bulk, translate_bulk; "
        f"bulk = Bulk('demo-en-fr', {str(tmp_path / 'in.txt')!r}, {str(tmp_path / 'ray')!r}, rows=50); "
        "print(translate_bulk(bulk, 'ray', workers=2))"
    )
    command = [sys.executable, "-P", "-c", code]
    with started(command, seconds=500, stdout=subprocess.PIPE, text=True) as run:
        wait_until(lambda: any((tmp_path / "ray").rglob("part-*.txt")), run, "the first part was written")
        os.kill(_workers(run.pid)[0], signal.SIGKILL)
        out, _ = run.communicate()
    assert run.returncode == 0
    assert "rows=2000" in out
    assert "workers=2" in out, "the worker that was killed is not counted"
    assert contents(tmp_path / "ray") == contents(tmp_path / "alone")


def _workers(driver: int) -> list[int]:
    """Ray's worker processes that this driver's engine started."""
    titles = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in family_of(driver)}
    return [pid for pid, title in titles.items() if title.startswith(b"ray::MapWorker")]

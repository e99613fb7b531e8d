"""Folders through an engine: complete, resumable, the same in one process and with Ray."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from processes import started, wait_until
from regard.course.descendants import family_of
from regard.data import phrasebook
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


def test_a_wrong_column_is_found_before_anything_is_translated(folder: Path, tmp_path: Path) -> None:
    bulk = Bulk("demo-en-fr", str(folder / "*.jsonl"), str(tmp_path / "out"), column="sentence")
    with pytest.raises(InputError, match=r"b\.jsonl has no column 'sentence', it has 'text', 'other'"):
        translate_bulk(bulk)


@pytest.mark.long
def test_ray_gives_the_same_result_after_a_worker_is_killed(tmp_path: Path) -> None:
    pytest.importorskip("ray")
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

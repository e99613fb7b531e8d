"""`regard studio --attention FILE`: anybody's matrices, bounded and never executed; and the course's state."""

import io
import json
import pickle
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chaos.fuzzing import change_document
from regard.course.answer_map import AnswerMap
from regard.course.catalogue import entries
from regard.course.course_folder import open_folder
from regard.course.last_report import keep_report
from regard.course.learner_progress import load_progress
from regard.course.verdict import Verdict
from regard.server.attention_files import read_attention
from regard.server.course_state import course_answer
from regard.server.settings import Settings
from regard.text.input_error import InputError

from .conftest import running

MATRIX = [[0.9, 0.1], [0.2, 0.75]]


def _json(path: Path, **content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_files_of_three_kinds_are_served_with_the_keys_of_a_translation(tmp_path: Path) -> None:
    tensor = np.random.default_rng(0).dirichlet(np.ones(3), size=(2, 4, 2)).astype(np.float32)
    words = {"source": np.array(["un", "deux", "trois"]), "target": np.array(["one", "two"])}
    np.savez(tmp_path / "many.npz", weights=tensor, **words)
    np.save(tmp_path / "bare.npy", np.asfortranarray(MATRIX))
    mine = _json(
        tmp_path / "mine.json", weights=MATRIX, source="the cat", target=["שלום", None], gold=[[0, 0]],
        target_language="he", caption="mine",
    )  # fmt: skip
    paths = (mine, tmp_path / "many.npz", tmp_path / "bare.npy")
    with running(Settings(bundles=("demo-en-fr",), studio=True, attention=paths)) as (client, _, _):
        assert client.get("/api/v1/models").json()["attention_files"] == 3
        first, many, bare = client.get("/api/v1/attention").json()["files"]
        assert (first["attention"]["shape"], first["attention"]["layers"]) == ([1, 1, 2, 2], [0])
        assert np.allclose(first["attention"]["data"], [[MATRIX]])
        assert (first["name"], first["caption"], first["gold"]) == ("mine.json", "mine", [[0, 0]])
        assert (first["target"]["direction"], first["target"]["language"]) == ("rtl", "he")
        assert [one["special"] for one in first["target"]["pieces"]] == [None, "EOS"]
        assert [one["text"] for one in first["target"]["words"]] == ["שלום"]
        assert np.array_equal(np.array(many["attention"]["data"], dtype=np.float32), tensor)
        assert [one["text"] for one in bare["source"]["words"]] == ["1", "2"]
        assert np.allclose(bare["attention"]["data"], [[MATRIX]])
        one = client.get("/api/v1/attention?layer=1").json()["files"][1]["attention"]
        assert (one["layers"], one["shape"]) == ([1], [2, 4, 2, 3])


def test_of_a_large_file_one_layer_is_sent(tmp_path: Path) -> None:
    np.save(tmp_path / "large.npy", np.full((2, 4, 200, 200), 0.005, dtype=np.float32))
    tensor = read_attention(tmp_path / "large.npy")
    assert tensor.answer(None).attention.layers == [0]
    assert tensor.answer(1).attention.layers == [1]


class _Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return (pytest.fail, ("a pickle was loaded",))


def _forged_npy(shape: str) -> bytes:
    file = io.BytesIO()
    np.save(file, np.zeros((2, 2)))
    return file.getvalue().replace(b"(2, 2)", shape.encode()[:6].ljust(6))


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("a.txt", b"0.5 0.5", "expected .json, .npz or .npy"),
        ("a.json", b"[[1]]", "there is no 'weights' in it: expected .*a row for each target word"),
        ("a.json", b'{"weights": [[1, 0], [1]]}', "not numbers in rows of one length"),
        ("a.json", b'{"weights": [[[[[1]]]]]}', "expected \\[layer, head, target, source\\]"),
        ("a.json", b'{"weights": [[0.9, 0.9]]}', "sums to 1.8, more than 1"),
        ("a.json", b'{"weights": [[-1, 1]]}', "negative or not finite"),
        ("a.json", b'{"weights": [[NaN, 1]]}', "negative or not finite"),
        ("a.json", b'{"weights": []}', "expected \\[layer"),
        ("a.json", b'{"weights": [[]]}', "at least one"),
        ("a.json", b'{"weights": [[1]], "source": "a b"}', "'source' has 2 words, the weights 1"),
        ("a.json", b'{"weights": [[1]], "source": 5}', "neither a text nor a list"),
        ("a.json", b'{"weights": [[1]], "gold": [[0, 3]]}', "gold link \\(0, 3\\)"),
        ("a.json", b'{"weights": [[1]], "gold": 5}', "'gold' is not a list of links"),
        ("a.json", b'{"weights": [[1]], "gold": [5]}', "'gold' is not a list of links"),
        ("a.json", b'{"weights": [[1]], "colour": 1}', "unknown key 'colour'"),
        ("a.json", b"{", "not a valid attention file"),
        ("a.npy", pickle.dumps(_Evil()), "not a valid attention file"),
        ("a.npz", b"PK nothing", "not a valid attention file"),
        ("a.npy", _forged_npy("(9**9)"), "not a valid attention file"),
        ("a.npy", _forged_npy("(9999,"), "not a valid attention file"),
        ("a.npy", _forged_npy("(1,99)"), "shorter or longer than its header"),
    ],
)  # fmt: skip
def test_what_is_no_attention_is_refused_with_the_reason(tmp_path: Path, name: str, content: bytes, part: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=part):
        read_attention(tmp_path / name)


def test_objects_in_arrays_are_never_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "evil.npy", np.array([[_Evil()]], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "evil.npz", weights=np.array([[_Evil()]], dtype=object))
    for name in ("evil.npy", "evil.npz"):
        with pytest.raises(InputError, match="Python objects"):
            read_attention(tmp_path / name)


def test_an_archive_that_unpacks_to_too_much_is_not_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("weights.npy", bytes(80 << 20))
    assert (tmp_path / "bomb.npz").stat().st_size < 1e6
    with pytest.raises(InputError, match="unpacks to more than"):
        read_attention(tmp_path / "bomb.npz")


def test_a_missing_file_ends_the_start(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*nothing.json: No such file"):
        read_attention(tmp_path / "nothing.json")


def test_the_course_lists_exercises_and_progress(client: httpx.Client, tmp_path: Path) -> None:
    answer = client.get("/api/v1/course").json()
    assert (answer["started"], answer["points"]) == (False, 0)
    assert [one["name"] for one in answer["exercises"]] == [entry.name for entry in entries()]
    assert answer["exercises"][0]["readme"].startswith("#")
    folder = open_folder(tmp_path / "course").path
    progress = load_progress(folder)
    progress.passed = {"01_softmax": "2026-02-01T10:00:00+00:00"}
    progress.attempts = {"01_softmax": 3}
    progress.save()
    found = course_answer(folder)
    assert (found.started, found.current, found.points) == (True, "02_additive_score", entries()[0].points)
    assert (found.exercises[0].attempts, found.exercises[0].passed) == (3, "2026-02-01T10:00:00+00:00")
    assert found.exercises[0].report is None
    wrong = AnswerMap("weights", ((0.5, None),), ((1.0, 0.0),))
    keep_report(folder, entries()[0], Verdict("failed", "wrong \ud800", ("yours", "wanted"), answer=wrong))
    report = course_answer(folder).exercises[0].report
    assert report is not None
    assert (report.status, report.headline, report.details) == ("failed", "wrong ?", ["yours", "wanted"])
    assert report.answer is not None
    assert (report.answer.yours, report.answer.wanted) == ([[0.5, None]], [[1.0, 0.0]])
    for damaged in ("{", "[]", '{"when": 1}'):
        (folder / ".reports" / "01_softmax.json").write_text(damaged)
        assert course_answer(folder).exercises[0].report is None


@settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_damaged_attention_is_refused_or_shown(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    whole = {"weights": MATRIX, "source": ["the", None], "target": "le chat", "gold": [[0, 0]], "caption": "mine"}
    path = tmp_path_factory.getbasetemp() / "damaged.json"
    path.write_text(json.dumps(change_document(data.draw, whole)), encoding="utf-8")
    with suppress(InputError):
        read_attention(path).answer(None).model_dump_json()

"""`regard export web`: what is in the folder, what is refused, and that a failure leaves nothing behind."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

import regard.export.web_page as web_page
from page_scripts import from_script
from regard.bundle.store import load_bundle, save_int8
from regard.cli.main import run
from regard.export.graph_weights import Weights
from regard.export.web_model import as_script, pack_model, rounded, store
from regard.export.web_page import PageModel, export_web
from regard.export.write_folder import build_graphs, export_onnx
from regard.text.input_error import InputError
from runtime.bundles import untrained
from runtime.foreign import forge


def read(content: bytes) -> tuple[dict[str, Any], bytes]:
    """Header and data of a model's file."""
    size = int.from_bytes(content[:4], "little")
    return json.loads(content[4 : 4 + size]), content[4 + size :]


def restored(header: dict[str, Any], data: bytes) -> np.ndarray:
    """The weights as the page restores them."""
    weights = np.zeros(header["weight_bytes"], dtype=np.uint8)
    for one in header["tensors"]:
        if "numbers" in one:
            values = np.frombuffer(data, "<f4", one["numbers"], one["at"])
        else:
            rows, columns = one["rows"], one["columns"]
            integers = np.frombuffer(data, np.int8, rows * columns, one["at"]).reshape(rows, columns)
            scales = np.frombuffer(data[one["at"] + rows * columns :], "<f4", rows)
            values = (integers * scales[:, None]).ravel()
        weights[one["to"] : one["to"] + 4 * values.size] = values.astype("<f4").view(np.uint8)
    return weights


@pytest.fixture
def export(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Exit code and everything printed."""

    def call(*arguments: object) -> tuple[int, str]:
        code = run(["export", "web", *map(str, arguments)])
        return code, "".join(capsys.readouterr())

    return call


@pytest.mark.parametrize("data", [b"", bytes(range(256)) * 3, b'\\"\n\r"")\n' * 50])
def test_a_script_holds_any_bytes(data: bytes) -> None:
    script = as_script(data)
    assert from_script(script) == data
    inside = script[len(b'regardFile("') : -len(b'")\n')]
    assert not re.search(rb'(?<!\\)(?:\\\\)*"|[\n\r]', inside), "nothing inside may end the string"


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("bahdanau", {}),
        ("bahdanau", {"cell": "lstm"}),
        ("bahdanau", {"cell": "gru-2014"}),
        ("luong", {"score": "concat"}),
        ("transformer", {}),
    ],
)
def test_the_file_restores_the_weights_of_the_int8_bundle(name: str, model: dict[str, Any], tmp_path: Path) -> None:
    bundle = load_bundle(untrained(tmp_path / "bundle", name, model=model))
    header, data = read(pack_model(bundle, {"id": "x"}))
    save_int8(tmp_path / "int8", bundle)
    weights = Weights()
    build_graphs(load_bundle(tmp_path / "int8").model.float(), weights, trace=True)
    weights.write(tmp_path / "weights.bin")
    wanted = np.frombuffer((tmp_path / "weights.bin").read_bytes(), "<f4")
    np.testing.assert_allclose(restored(header, data).view("<f4"), wanted, rtol=1e-6)


def test_matrices_are_stored_in_a_quarter_of_their_size(tmp_path: Path) -> None:
    weights = Weights()
    build_graphs(rounded(load_bundle(untrained(tmp_path / "bundle", "luong"))).model, weights)
    tensors = store(weights, 0)
    matrices = sum(array.size for array in weights.arrays.values() if array.ndim == 2 and len(array) > 1)
    assert sum(one["rows"] * one["columns"] for one in tensors.index if "rows" in one) == matrices


def test_exporting_does_not_change_the_bundle(tmp_path: Path) -> None:
    bundle = load_bundle(untrained(tmp_path / "bundle"))
    before = {name: tensor.clone() for name, tensor in bundle.model.state_dict().items()}
    pack_model(bundle, {"id": "x"})
    assert all(bool((before[name] == tensor).all()) for name, tensor in bundle.model.state_dict().items())


def test_the_folder_is_complete_and_says_how_to_serve_it(export: Any, tmp_path: Path) -> None:
    first = untrained(tmp_path / "first")
    namesake = untrained(tmp_path / "other" / "first")
    code, printed = export("demo-en-hi", first, namesake, "--out", tmp_path / "page")
    assert code == 0, printed
    listed = json.loads((tmp_path / "page" / "regard-web.json").read_text())["files"]
    found = {one.relative_to(tmp_path / "page").as_posix() for one in (tmp_path / "page").rglob("*") if one.is_file()}
    assert found == {*listed, "regard-web.json"}
    assert {"index.html", "app.js", "sw.js", "runtime.js", "licences/onnxruntime.txt", "models/demo-en-hi.js"} <= found
    assert {"models/first.js", "models/first-2.js", "fonts/devanagari.woff2"} <= found
    assert "python -m http.server" in printed
    assert re.search(r"0\.\d MB  models/demo-en-hi\.js\n", printed)
    for name in ("index.html", "sw.js"):
        assert "__" not in re.sub(r"__proto__", "", (tmp_path / "page" / name).read_text()), "every hole is filled"
    assert export("demo-en-fr", "--out", tmp_path / "page")[0] == 0, "an earlier page is replaced"
    assert not (tmp_path / "page" / "models" / "demo-en-hi.js").exists()


def test_a_model_that_is_given_twice_is_refused(export: Any, tmp_path: Path) -> None:
    for twice in (["demo-en-fr"] * 2, [untrained(tmp_path / "mine"), f"{tmp_path}/mine/../mine"]):
        code, printed = export(*twice, "--out", tmp_path / "page")
        assert (code, printed) == (2, f"regard: {twice[1]} is given twice: name each model once\n")
    assert not (tmp_path / "page").exists()


def test_a_name_or_description_cannot_end_the_script_element(tmp_path: Path) -> None:
    about = {"id": "x", "description": "</script><img src=x onerror=alert(1)>"}
    export_web([PageModel(untrained(tmp_path / "bundle"), about)], tmp_path / "page")
    index = (tmp_path / "page" / "index.html").read_text()
    assert index.count("</script>") == 2
    inside = re.search(r'id="models">(.*?)</script>', index)
    assert inside is not None
    assert json.loads(inside[1])["models"][0]["about"] == about


def test_what_cannot_be_exported_is_refused_before_anything_is_written(export: Any, tmp_path: Path) -> None:
    export_onnx(untrained(tmp_path / "bundle"), tmp_path / "onnx")
    forge(tmp_path / "mine")
    (tmp_path / "holiday").mkdir()
    (tmp_path / "holiday" / "photo.jpg").touch()
    for arguments, reason in {
        (tmp_path / "onnx",): "is an ONNX folder: export the bundle that it was made from",
        (tmp_path / "mine",): "is a class outside regard",
        (tmp_path / "missing",): "missing",
        ("demo-en-fr", "demo-en-hj"): "demo-en-hi",
        ("demo-en-fr", "--trace"): "--trace has no effect on the format web",
    }.items():
        code, printed = export(*arguments, "--out", tmp_path / "page")
        assert code == 2, printed
        assert reason in printed
        assert not (tmp_path / "page").exists()
    assert "holds files that are not a page of regard" in export("demo-en-fr", "--out", tmp_path / "holiday")[1]
    assert (tmp_path / "holiday" / "photo.jpg").exists()


def test_a_failure_leaves_the_earlier_page_and_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = untrained(tmp_path / "bundle")
    export_web([PageModel(bundle, {"id": "first"})], tmp_path / "page")

    def fail(*_: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(web_page, "as_script", fail)
    with pytest.raises(InputError, match="the disk is full"):
        export_web([PageModel(bundle, {"id": "second"})], tmp_path / "page")
    assert [one.name for one in (tmp_path / "page" / "models").iterdir()] == ["first.js"]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["bundle", "page"]

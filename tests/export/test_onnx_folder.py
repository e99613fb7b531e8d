"""`regard.load` runs an ONNX folder as it runs the bundle: search, ensembles, alignment, plots."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import regard
from bundle.conftest import names, small_files
from regard.attention.build import SCORES
from regard.bundle import load_bundle
from regard.cli.main import run
from regard.export.write_folder import check_exportable, export_onnx
from regard.models.model_config import RecurrentConfig
from regard.runtime.aligner import Aligner
from regard.runtime.onnx_folder import load_any
from regard.runtime.posterior import Posterior
from regard.text.input_error import InputError
from runtime.bundles import ENGLISH, FRENCH, MODELS, untrained
from runtime.foreign import MINE, forge

from .conftest import Exported

TEXTS = [*ENGLISH, "the cat", "africa", "the lights"]
every = pytest.mark.parametrize("name", MODELS)
CLOSE = dict.fromkeys(MODELS, 1e-5) | {"transformer": 2e-4}
"""How far weights may be from the bundle's, which is in float64 and has weights 2.5 times the usual ones: those make a
Transformer ill-conditioned, and torch's own float32 is as far off as the graphs (benchmarks/onnx_rounding.py)."""


@every
@pytest.mark.parametrize("search", [{}, {"beam": 3, "nbest": 2}], ids=["greedy", "beam"])
def test_translations_are_those_of_the_bundle(exported: Exported, name: str, search: dict[str, int]) -> None:
    bundle, folder = exported(name)
    found, wanted = (regard.load(path).translate(TEXTS, **search) for path in (folder, bundle))
    for one, other in zip(found, wanted, strict=True):
        assert one.text == other.text
        assert one.score == pytest.approx(other.score, abs=1e-4)
        assert one.alignment == other.alignment
        assert (one.attention is None) == (other.attention is None)
        if one.attention is not None:
            np.testing.assert_allclose(one.attention, other.attention, rtol=0, atol=CLOSE[name])


def test_prefixes_targets_and_samples(exported: Exported) -> None:
    found, wanted = (regard.load(path) for path in reversed(exported("luong")))
    for options in ({"prefix": "le chat"}, {"target": "le chat noir"}, {"temperature": 0.8, "seed": 3}):
        assert found.translate("the cat", **options).text == wanted.translate("the cat", **options).text
    score = found.translate("the cat", target="le chat noir").score
    assert score == pytest.approx(wanted.translate("the cat", target="le chat noir").score, abs=1e-4)


@every
def test_int8_has_the_same_interface_and_close_scores(exported: Exported, name: str) -> None:
    (bundle, folder), (_, wide) = exported(name, int8=True), exported(name)
    assert (folder / "weights.bin").stat().st_size < 0.6 * (wide / "weights.bin").stat().st_size
    one, other = (regard.load(path).translate(ENGLISH[0], target=FRENCH[0]) for path in (folder, bundle))
    assert one.score == pytest.approx(other.score, rel=0.05)
    assert one.score != other.score


def test_an_ensemble_of_a_bundle_and_an_export(exported: Exported) -> None:
    (bundle, folder), (other, _) = exported("luong"), exported("bahdanau", seed=1)
    found = regard.load([folder, other]).translate(TEXTS)
    assert [one.text for one in found] == [one.text for one in regard.load([bundle, other]).translate(TEXTS)]


@pytest.mark.parametrize("name", ["bahdanau", "luong", "transformer"])
def test_the_aligner_and_the_plot(exported: Exported, name: str) -> None:
    bundle, folder = exported(name)
    looks = [dict(Aligner(load_any(path)).look(ENGLISH, FRENCH)) for path in (folder, bundle)]
    for number in range(len(ENGLISH)):
        one, other = (look[number].attention for look in looks)
        np.testing.assert_allclose(one, other, rtol=0, atol=CLOSE[name])
    assert regard.load(folder).translate(ENGLISH[0]).plot().axes
    with pytest.raises(InputError, match="which is not defined for an ONNX folder"):
        Aligner(load_any(folder), posterior=Posterior())


def test_longest_source_and_device(exported: Exported) -> None:
    _, folder = exported("bahdanau")
    assert regard.load(folder, longest_source=2).translate(ENGLISH[0]).warnings
    with pytest.raises(InputError, match=r"is an ONNX folder, which runs on the CPU: leave the device 'meta' out"):
        regard.load(folder, "meta")


def test_the_manifest_keeps_the_bundles_entries(tmp_path: Path) -> None:
    bundle = untrained(tmp_path / "bundle", eos=False, beam=3)
    manifest = export_onnx(bundle, tmp_path / "onnx", int8=True, trace=True)
    before = load_bundle(bundle).manifest
    assert (manifest.model, manifest.search, manifest.source_eos) == (before.model, {"beam": 3}, False)
    assert (manifest.onnx.int8, manifest.onnx.trace, manifest.format) == (True, True, "regard-onnx")
    assert regard.load(tmp_path / "onnx").translate("the cat").text


class TestCommand:
    def test_export_translate_info_doctor_evaluate(
        self, exported: Exported, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        bundle, _ = exported("luong")
        folder = tmp_path / "new" / "onnx"
        assert run(["export", "onnx", str(bundle), "--out", str(folder), "--int8"]) == 0
        assert capsys.readouterr().out == f"{folder} (0.0 MB)\n"
        (tmp_path / "pairs.tsv").write_text("the cat\tle chat\n", encoding="utf-8")
        pairs = str(tmp_path / "pairs.tsv")
        for verb in (
            ["translate", "FOLDER", "the cat"],
            ["info", "FOLDER"],
            ["doctor", "FOLDER"],
            ["evaluate", "FOLDER", pairs],
            ["align", "FOLDER", pairs],
        ):
            assert run([word.replace("FOLDER", str(folder)) for word in verb]) == 0, verb
        assert "ONNX, opset 19, int8" in capsys.readouterr().out

    def test_wrong_use(self, exported: Exported, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        bundle, folder = exported("bahdanau")
        for words, message in (
            (["onx", str(bundle), "--out", "x"], "there is no format 'onx': did you mean 'onnx'?"),
            (["onnx", str(tmp_path / "nothing"), "--out", "x"], "no bundle at"),
            (["onnx", str(folder), "--out", "x"], "belongs to an ONNX folder, which can translate, align and plot"),
            (["onnx", str(bundle)], "Missing option '--out'"),
        ):
            assert run(["export", *words]) == 2
            assert message in capsys.readouterr().err


def test_a_custom_mechanism_cannot_be_exported(tmp_path: Path) -> None:
    bundle = forge(tmp_path / "foreign")
    with pytest.raises(InputError) as caught:
        export_onnx(bundle, tmp_path / "onnx")
    assert str(caught.value) == (
        f"{bundle} cannot be exported: score = '{MINE}' is a class outside regard, which has no ONNX "
        "graph: train with one of the scores additive, concat, dot, general, multi-head, none, scaled-dot"
    )


def test_a_score_without_a_graph_is_refused_not_exported_as_dot() -> None:
    config = RecurrentConfig.model_construct(score="location")
    with pytest.raises(InputError, match="score = 'location' has no ONNX graph"):
        check_exportable(Path("bundle"), config)
    for score in SCORES:
        check_exportable(Path("bundle"), RecurrentConfig.model_construct(score=score))


class TestWriting:
    def test_a_bundle_is_never_replaced(self, exported: Exported, tmp_path: Path) -> None:
        bundle = untrained(tmp_path / "bundle")
        with pytest.raises(InputError, match="this folder holds a bundle, which would be lost"):
            export_onnx(bundle, bundle)
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "thesis.txt").write_text("mine", encoding="utf-8")
        with pytest.raises(InputError, match="this folder holds files that are not a bundle and would be lost"):
            export_onnx(bundle, tmp_path / "other")
        export_onnx(bundle, tmp_path / "onnx")
        assert export_onnx(bundle, tmp_path / "onnx", int8=True).onnx.int8, "an earlier export is"

    @pytest.mark.parametrize("kind", ["onnx", "int8", "web"])
    def test_files_beside_an_earlier_export_are_not_lost(
        self, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        command = ["export", kind, str(untrained(tmp_path / "bundle")), "--out", str(tmp_path / "out")]
        assert run(command) == 0
        assert run(command) == 0, "an earlier export is replaced"
        (tmp_path / "out" / "greedy.py").write_text("mine", encoding="utf-8")
        capsys.readouterr()
        assert run(command) == 2
        assert capsys.readouterr().err == (
            f"regard: cannot write {tmp_path / 'out'}: greedy.py is not part of the earlier export there and would be "
            "lost: move it, or name another folder\n"
        )
        assert (tmp_path / "out" / "greedy.py").read_text(encoding="utf-8") == "mine"

    @pytest.mark.parametrize("name", [".nojekyll", ".well-known/security.txt", ".git/.keep"])
    def test_a_hidden_file_of_a_web_host_is_not_lost(self, name: str, tmp_path: Path) -> None:
        bundle, out = untrained(tmp_path / "bundle"), tmp_path / "out"
        export_onnx(bundle, out)
        (out / ".DS_Store").touch()
        export_onnx(bundle, out)
        assert not (out / ".DS_Store").exists()
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).touch()
        with pytest.raises(InputError, match=f"{re.escape(name)} is not part of the earlier export there"):
            export_onnx(bundle, out)
        assert (out / name).exists()

    @pytest.mark.parametrize("kind", ["onnx", "int8", "web"])
    def test_a_full_disk_leaves_nothing_behind(
        self, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        bundle = untrained(tmp_path / "bundle")
        with small_files(3000):
            assert run(["export", kind, str(bundle), "--out", str(tmp_path / "out")]) == 1
        message = capsys.readouterr().err
        assert message.startswith(f"regard: cannot write {tmp_path / 'out'}: the file would be larger than this disk")
        assert message.count("\n") == 1
        assert names(tmp_path) == ["bundle"]

    @pytest.mark.parametrize("most", [0, 1000, 5000])
    def test_a_file_that_cannot_grow_leaves_the_old_folder(self, folder: Path, tmp_path: Path, most: int) -> None:
        bundle = untrained(tmp_path / "bundle")
        before = (folder / "manifest.json").read_bytes()
        with small_files(most), pytest.raises(InputError, match=r"cannot write .*: the file would be larger"):
            export_onnx(bundle, folder)
        assert names(tmp_path) == ["bundle", "onnx"]
        assert (folder / "manifest.json").read_bytes() == before
        with small_files(most), pytest.raises(InputError, match=r"cannot write .*: the file would be larger"):
            export_onnx(bundle, tmp_path / "new")
        assert names(tmp_path) == ["bundle", "onnx"]


@pytest.mark.parametrize("package", ["onnx", "onnxruntime"])
def test_a_missing_package_is_named_with_its_pip_line(
    exported: Exported, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], package: str
) -> None:
    bundle, folder = exported("bahdanau")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError) as caught:
        regard.load(folder)
    assert str(caught.value) == (
        f"{folder} holds an ONNX export, which needs {package}, not installed here: pip install 'regard[onnx]'"
    )
    assert run(["export", "onnx", str(bundle), "--out", "x"]) == 2
    assert capsys.readouterr().err == (
        f"regard: regard export onnx needs {package}, not installed here: pip install 'regard[onnx]'\n"
    )

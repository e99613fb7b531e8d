"""Weights as int8: bounded error, a quarter of the size, and every check that float bundles get."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from regard.bundle import BundleError, load_bundle, save_bundle
from regard.bundle.int8 import quantise, restore, stored_shapes
from regard.bundle.store import WEIGHTS, save_int8
from regard.models import Seq2Seq, preset
from regard.text.tokenizer import Tokenizer

from .conftest import ABOUT, SMALL


def test_each_row_is_off_by_half_a_step_at_most() -> None:
    torch.manual_seed(0)
    weights = {"matrix": torch.randn(7, 5) * torch.logspace(-6, 3, 7)[:, None], "bias": torch.randn(5)}
    weights["matrix"][3] = 0.0
    back = restore(quantise(weights))
    step = weights["matrix"].abs().amax(dim=1, keepdim=True) / 127
    assert (back["matrix"] - weights["matrix"]).abs().le(0.5 * step * (1 + 1e-5)).all()
    assert torch.equal(back["matrix"][3], torch.zeros(5))
    assert torch.equal(back["bias"], weights["bias"])


def test_stored_shapes_are_those_of_the_file() -> None:
    weights = {"a": torch.randn(3, 4), "b": torch.randn(4), "c": torch.randn(2, 3, 4)}
    shapes = {name: tuple(one.shape) for name, one in weights.items()}
    assert {name: tuple(one.shape) for name, one in quantise(weights).items()} == stored_shapes(shapes)


@pytest.mark.parametrize("name", ["bahdanau", "luong", "transformer"])
def test_an_int8_bundle_loads_like_any_other(name: str, tmp_path: Path, source: Tokenizer, target: Tokenizer) -> None:
    sizes = {"width": 8, "heads": 2, "feedforward": 6} if name == "transformer" else SMALL
    torch.manual_seed(1)
    model = Seq2Seq(preset(name, "tiny", **sizes), len(source), len(target)).eval()
    save_bundle(tmp_path / "float", model, source, target, **ABOUT)
    save_int8(tmp_path / "int8", load_bundle(tmp_path / "float"))
    loaded = load_bundle(tmp_path / "int8")
    assert loaded.manifest.stored == "int8"
    assert loaded.manifest.search == load_bundle(tmp_path / "float").manifest.search
    for (name, one), (_, other) in zip(model.state_dict().items(), loaded.model.state_dict().items(), strict=True):
        assert one.dtype == other.dtype == torch.float32
        assert (one - other).abs().max() <= one.abs().max() / 127, name


def test_a_shared_tokenizer_is_stored_once(tmp_path: Path, source: Tokenizer) -> None:
    model = Seq2Seq(preset("bahdanau", "tiny", **SMALL), len(source), len(source)).eval()
    save_bundle(tmp_path / "float", model, source, source, **ABOUT)
    save_int8(tmp_path / "int8", load_bundle(tmp_path / "float"))
    assert sorted(path.name for path in (tmp_path / "int8").iterdir()) == [
        "manifest.json",
        "model.safetensors",
        "source.tokenizer.json",
    ]
    loaded = load_bundle(tmp_path / "int8")
    assert loaded.source.fingerprint == loaded.target.fingerprint == source.fingerprint


def test_scales_that_are_missing_or_too_many_are_refused(tmp_path: Path, source: Tokenizer, target: Tokenizer) -> None:
    from regard.bundle.manifest import FileEntry, read_manifest, write_manifest

    model = Seq2Seq(preset("bahdanau", "tiny", **SMALL), len(source), len(target)).eval()
    save_bundle(tmp_path / "float", model, source, target, **ABOUT)
    folder = tmp_path / "int8"
    save_int8(folder, load_bundle(tmp_path / "float"))
    stored = load_file(folder / WEIGHTS)
    scale = next(name for name in stored if name.endswith(".scale"))
    for changed in (
        {name: one for name, one in stored.items() if name != scale},
        {**stored, scale: stored[scale][:-1].clone()},
        {**stored, "forged.scale": torch.ones(2)},
    ):
        save_file(changed, folder / WEIGHTS)
        manifest = read_manifest(folder / "manifest.json")
        files = {**manifest.files, WEIGHTS: FileEntry.of(folder / WEIGHTS)}
        write_manifest(folder / "manifest.json", manifest.model_copy(update={"files": files}))
        with pytest.raises(BundleError, match="holds another model than its manifest describes"):
            load_bundle(folder)

"""save → load = identity, to the bit, for every kind of model; and where bundles are searched."""

import json
import os
from pathlib import Path

import pytest
import torch
from safetensors import safe_open

import regard.bundle
from regard.bundle import find_bundle, load_bundle, save_bundle
from regard.models import RecurrentConfig, Seq2Seq, TransformerConfig, preset
from regard.search import beam_search
from regard.text.tokenizer import Tokenizer

from .conftest import ABOUT, SMALL, Save, names

ATTENTIONAL = {**SMALL, "embedding": 5, "readout": "attentional"}
WIDTHS = {"width": 8, "heads": 2, "feedforward": 6}
MODELS: dict[str, RecurrentConfig | TransformerConfig] = {
    "bahdanau": preset("bahdanau", "tiny", **SMALL),
    "rnnsearch": preset("rnnsearch", **{**SMALL, "attention_width": 3, "readout_width": 4}),
    "luong, local-p": preset("luong", "tiny", **SMALL, window="local-p"),
    "vanilla": preset("vanilla", "tiny", **SMALL),
    "tutorial-lstm": preset("tutorial-lstm", **SMALL),
    "transformer": preset("transformer", "tiny", **WIDTHS),
    "tied": preset("bahdanau", "tiny", **ATTENTIONAL, tie="target"),
    "transformer, all tied": preset("transformer", "tiny", **WIDTHS, tie="all", positions="learned", longest=30),
}


class Batch:
    source = torch.tensor([[4, 5, 6, 7, 3], [8, 9, 3, 0, 0]])
    source_lengths = torch.tensor([5, 3])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("config", MODELS.values(), ids=MODELS.keys())
def test_load_is_the_inverse_of_save(
    config: RecurrentConfig | TransformerConfig,
    dtype: torch.dtype,
    tmp_path: Path,
    source: Tokenizer,
    target: Tokenizer,
) -> None:
    other = source if config.tie == "all" else target
    torch.manual_seed(3)
    model = Seq2Seq(config, len(source), len(other)).to(dtype).eval()
    manifest = save_bundle(tmp_path / "bundle", model, source, other, **ABOUT)
    loaded = load_bundle(tmp_path / "bundle")
    assert loaded.manifest == manifest
    assert loaded.model.config == config
    assert not loaded.model.training
    ours, theirs = model.state_dict(), loaded.model.state_dict()
    assert list(ours) == list(theirs)
    assert all(torch.equal(ours[name], theirs[name]) and ours[name].dtype == theirs[name].dtype for name in ours)
    assert model.parameters_count == loaded.model.parameters_count
    tokens = torch.tensor([[2, 4, 5], [2, 6, 7]])
    one, two = (each(Batch, tokens, want_weights=True) for each in (model, loaded.model))
    assert torch.equal(one.features, two.features)
    assert one.weights is None or torch.equal(one.weights, two.weights)
    assert (loaded.source.fingerprint, loaded.target.fingerprint) == (source.fingerprint, other.fingerprint)
    found, again = (beam_search(each, Batch, torch.tensor([6, 6]), beam=2) for each in (model, loaded.model))
    assert [[one.tokens for one in row] for row in found] == [[one.tokens for one in row] for row in again]


def test_a_bundle_is_four_files_and_no_pickle(folder: Path) -> None:
    assert names(folder) == ["manifest.json", "model.safetensors", "source.tokenizer.json", "target.tokenizer.json"]
    assert names(folder.parent) == ["best"]
    with safe_open(folder / "model.safetensors", "pt") as file:
        assert len(list(file.keys())) > 10
    for path in folder.glob("*.json"):
        json.loads(path.read_text(encoding="utf-8"))
    for path in Path(regard.bundle.__file__).parent.glob("*.py"):
        code = path.read_text(encoding="utf-8").replace("no pickle", "")
        assert not any(word in code for word in ("pickle", "torch.load", "torch.save")), path


def test_the_manifest_describes_the_bundle(folder: Path, source: Tokenizer, target: Tokenizer) -> None:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["format"], manifest["version"]) == ("regard-bundle", 3)
    assert (manifest["source_vocabulary"], manifest["target_vocabulary"]) == (len(source), len(target))
    assert (manifest["source_eos"], manifest["longest_source"], manifest["trained"]) == (True, 40, {"steps": 7})
    assert manifest["model"]["score"] == "additive"
    assert set(manifest["files"]) == {"model.safetensors", "source.tokenizer.json", "target.tokenizer.json"}
    assert manifest["files"]["source.tokenizer.json"]["sha256"] == source.fingerprint


def test_files_have_the_permissions_of_the_folder(folder: Path) -> None:
    mask = os.umask(0)
    os.umask(mask)
    assert folder.stat().st_mode & 0o777 == 0o777 & ~mask
    for path in folder.iterdir():
        assert path.stat().st_mode & 0o777 == 0o666 & ~mask, path


def test_saving_again_replaces_the_whole_folder(folder: Path, model: Seq2Seq, save: Save) -> None:
    (folder / "notes.txt").write_text("of the old one")
    with torch.no_grad():
        next(model.parameters()).add_(1.0)
    save(folder, model)
    assert len(names(folder)) == 4
    assert names(folder.parent) == ["best"]
    assert torch.equal(next(load_bundle(folder).model.parameters()), next(model.parameters()))


def test_a_link_to_a_bundle_stays_a_link(folder: Path, model: Seq2Seq, save: Save, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(folder)
    with torch.no_grad():
        next(model.parameters()).add_(1.0)
    save(link, model)
    assert link.is_symlink()
    assert torch.equal(next(load_bundle(folder).model.parameters()), next(model.parameters()))


def test_loading_does_not_change_the_random_state(folder: Path) -> None:
    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    load_bundle(folder)
    assert torch.equal(torch.rand(3), wanted)


def test_a_run_folder_gives_its_best_then_its_last(folder: Path, model: Seq2Seq, save: Save) -> None:
    run = folder.parent
    save(run / "last", model)
    assert find_bundle(run) == load_bundle(str(run)).path == run / "best"
    os.rename(run / "best", run / "elsewhere")
    assert find_bundle(str(run)) == load_bundle(run).path == run / "last"


def test_the_current_folder_can_be_a_bundle(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert load_bundle(".").manifest.longest_source == 40
    monkeypatch.chdir(folder.parent)
    assert find_bundle(Path()) == Path("best")

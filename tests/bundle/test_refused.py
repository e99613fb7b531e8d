"""Incomplete, damaged and unknown bundles raise, with the file and the remedy."""

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from regard.bundle import BundleError, find_bundle, load_bundle
from regard.bundle.find import pretrained_names
from regard.bundle.manifest import FileEntry
from regard.models import Seq2Seq, preset
from regard.text.input_error import InputError
from regard.text.tokenizer import Tokenizer, TokenizerConfig

from .conftest import SMALL, Save, another_user

AGAIN = "copy the whole bundle again"


def refusal(folder: Path, *trust: str) -> str:
    with pytest.raises(InputError) as caught:
        load_bundle(folder, trust=trust)
    message = str(caught.value)
    assert "\n" not in message
    return message


def edit(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Edit the manifest and set its checksum to null, as documented."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    change(manifest)
    manifest["sha256"] = None
    path.write_text(json.dumps(manifest), encoding="utf-8")


def accept(folder: Path, name: str) -> None:
    """Enter a changed file into the manifest, as an attacker could."""
    entry = FileEntry.of(folder / name).model_dump()
    edit(folder, lambda manifest: manifest["files"].update({name: entry}))


FILES = ["model.safetensors", "source.tokenizer.json", "target.tokenizer.json"]


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert refusal(folder) == f"{folder / name} is missing: the bundle is incomplete, copy the whole folder again"


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("keep", [0, 100])
def test_a_truncated_file(folder: Path, name: str, keep: int) -> None:
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[:keep])
    wanted = f"{folder / name} has {keep} bytes instead of {len(data)}: it is truncated, {AGAIN}"
    assert refusal(folder) == wanted


def test_a_larger_file_comes_from_another_bundle(folder: Path) -> None:
    place = folder / "model.safetensors"
    size = place.stat().st_size
    place.write_bytes(place.read_bytes() + b"more")
    wanted = f"{place} has {size + 4} bytes instead of {size}: it comes from another bundle, or was changed; {AGAIN}"
    assert refusal(folder) == wanted


@pytest.mark.parametrize("name", FILES)
def test_one_flipped_bit(folder: Path, name: str) -> None:
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / name).write_bytes(data)
    message = refusal(folder)
    assert message.startswith(f"{folder / name} is ")
    assert "(its checksum is not the manifest's)" in message
    assert message.endswith(AGAIN)


def test_swapped_tokenizers(folder: Path) -> None:
    one, other = folder / FILES[1], folder / FILES[2]
    data = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(data)
    assert refusal(folder) == (
        f"{one} is not the tokenizer that this model was trained with (its checksum is not the manifest's): "
        f"it comes from another bundle, or was changed; {AGAIN}"
    )


def test_another_models_tokenizer_is_detected_by_its_size(folder: Path) -> None:
    Tokenizer.train(["only three words"], TokenizerConfig()).save(folder / FILES[2])
    accept(folder, FILES[2])
    message = refusal(folder)
    assert message.startswith(f"{folder / FILES[2]} has 7 entries, but the model was trained with ")
    assert message.endswith(f"this is another model's tokenizer, {AGAIN}")


def test_an_invalid_tokenizer_file(folder: Path) -> None:
    (folder / FILES[1]).write_text("{}")
    accept(folder, FILES[1])
    assert refusal(folder).startswith(f"{folder / FILES[1]} is not a tokenizer file")


@pytest.mark.parametrize("data", [b"", b'{"format"', b"\xff\xfe", b"[" * 100_000, b"9" * 5000], ids=range(5))
def test_a_damaged_manifest(folder: Path, data: bytes) -> None:
    (folder / "manifest.json").write_bytes(data)
    message = refusal(folder)
    assert message.startswith(f"{folder / 'manifest.json'} is ")
    assert message.endswith((AGAIN, "`regard export` wrote"))


@pytest.mark.parametrize("content", ["[]", "3", "{}", '{"name": "a browser extension", "manifest_version": 3}'])
def test_a_foreign_manifest(folder: Path, content: str) -> None:
    (folder / "manifest.json").write_text(content)
    assert refusal(folder) == (
        f"{folder / 'manifest.json'} is not a regard manifest: its 'format' is neither 'regard-bundle' nor "
        "'regard-onnx'; name a folder that `regard train` or `regard export` wrote"
    )


def test_a_newer_version(folder: Path) -> None:
    edit(folder, lambda manifest: manifest.update(version=4, regard="9.1", surprise=1))
    assert refusal(folder) == (
        f"{folder / 'manifest.json'} has bundle version 4, written by regard 9.1; this is regard {version('regard')}, "
        "which reads up to version 3: upgrade regard"
    )


@pytest.mark.parametrize("number", [None, "1", 0, -1, 1.5])
def test_a_version_that_is_no_number(folder: Path, number: object) -> None:
    edit(folder, lambda manifest: manifest.update(version=number))
    assert refusal(folder).endswith(f"is damaged (version {number!r} is not a number from 1): {AGAIN}")


def test_unknown_keys_in_the_manifest_are_ignored(folder: Path) -> None:
    edit(folder, lambda manifest: manifest.update(regard="0.9", mood="sunny"))
    assert load_bundle(folder).manifest.regard == "0.9"


def test_a_model_key_of_a_later_release(folder: Path) -> None:
    edit(folder, lambda manifest: (manifest.update(regard="0.9"), manifest["model"].update(coverage=True)))
    assert refusal(folder) == (
        f"{folder / 'manifest.json'} was written by regard 0.9 and this is {version('regard')}: model.coverage: "
        "Extra inputs are not permitted; install that version"
    )


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda manifest: manifest.pop("source_eos"), "(source_eos: Field required)"),
        (lambda manifest: manifest["model"].update(coverage=True), "(model.coverage: Extra inputs are not permitted)"),
        (lambda manifest: manifest["model"].update(architecture="cnn"), "(model: Input tag 'cnn'"),
        (lambda manifest: manifest["model"].update(score="dot"), "(model: score 'dot' needs equal widths"),
        (lambda manifest: manifest.update(files=3), "(files: Input should be a valid dictionary)"),
    ],
)
def test_invalid_values_in_the_manifest(folder: Path, change: Callable[[dict[str, Any]], object], where: str) -> None:
    edit(folder, change)
    message = refusal(folder)
    assert message.startswith(f"{folder / 'manifest.json'} is damaged {where}")
    assert message.endswith(AGAIN)


@pytest.mark.parametrize("name", FILES)
def test_a_manifest_that_does_not_list_a_file(folder: Path, name: str) -> None:
    edit(folder, lambda manifest: manifest["files"].pop(name))
    assert refusal(folder) == f"{folder / 'manifest.json'} is damaged (it does not list {name}): {AGAIN}"


def test_weights_of_another_shape(folder: Path) -> None:
    edit(folder, lambda manifest: manifest["model"].update(decoder_units=6))
    message = refusal(folder)
    assert message.startswith(f"{folder / FILES[0]} holds another model than its manifest describes: decoder.")
    assert re.search(r" is \[\d+(, \d+)?\] and should be \[\d+(, \d+)?\] and \d+ more; ", message)
    assert message.endswith(AGAIN)


def test_weights_with_one_too_few_and_one_too_many(folder: Path) -> None:
    weights = load_file(folder / FILES[0])
    weights["somebody.else"] = weights.pop("decoder.readout.output.bias")
    save_file(weights, folder / FILES[0])
    accept(folder, FILES[0])
    assert "decoder.readout.output.bias is absent and should be [" in refusal(folder)


def test_weights_that_are_not_safetensors(folder: Path) -> None:
    (folder / FILES[0]).write_bytes(b"PK\x03\x04 a pickle, perhaps")
    accept(folder, FILES[0])
    message = refusal(folder)
    assert message.startswith(f"{folder / FILES[0]} cannot be read as safetensors (")
    assert message.endswith(AGAIN)


def test_a_custom_mechanism_that_is_not_installed(folder: Path) -> None:
    edit(folder, lambda manifest: manifest["model"].update(score="nowhere.to_be:Found"))
    message = refusal(folder)
    assert message.startswith(f"the model of {folder / 'manifest.json'} cannot be built: ")
    assert "--trust nowhere.to_be:Found" in message
    assert 'module "nowhere.to_be", which cannot be imported' in refusal(folder, "nowhere.to_be:Found")


def test_no_such_folder(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    package = f"models in the package: {', '.join(pretrained_names())}"
    more = package.capitalize()
    for path in ("demo", "runs/demo", "a/b/c", here / "x"):
        with pytest.raises(BundleError) as caught:
            find_bundle(path)
        assert str(caught.value) == f"no bundle at {path}: there is no such folder; {package}"
    for name in ("runs/demo/best", "runs/mine/last", "theirs"):
        shutil.copytree(folder, name)
    for name, content in (("extension", '{"manifest_version": 3}'), ("damaged", '{"format": "regard-'), ("list", "[]")):
        Path(name).mkdir()
        (Path(name) / "manifest.json").write_text(content, encoding="utf-8")
    for path, hint in (
        ("runs/deom", f"did you mean 'runs/demo'? {more}; models found here: runs/demo, runs/mine"),
        ("demo", f"did you mean 'runs/demo'? {more}; models found here: runs/demo, runs/mine, theirs"),
        ("their", f"did you mean 'theirs'? {more}; models found here: runs/demo, runs/mine, theirs"),
        ("runs/zz", f"{package}; models found here: runs/demo, runs/mine"),
        ("zz", f"{package}; models found here: runs/demo, runs/mine, theirs"),
    ):
        with pytest.raises(BundleError) as caught:
            find_bundle(path)
        assert str(caught.value) == f"no bundle at {path}: there is no such folder; {hint}"


def test_a_text_instead_of_a_folder() -> None:
    with pytest.raises(BundleError) as caught:
        find_bundle("The cat sat.")
    assert str(caught.value) == (
        "no bundle 'The cat sat.': a model comes first, then the text, as in demo-en-fr \"The cat sat.\""
    )


def test_a_file_instead_of_a_folder(folder: Path) -> None:
    with pytest.raises(BundleError, match=r"this is a file; a bundle is the folder that holds manifest.json"):
        load_bundle(folder / FILES[0])


def test_a_folder_without_a_bundle(tmp_path: Path) -> None:
    (tmp_path / "best").mkdir()
    with pytest.raises(
        BundleError, match=r"neither it nor its best/ or last/ holds a manifest.json; name a folder that"
    ):
        load_bundle(tmp_path)


def test_a_path_that_the_system_rejects() -> None:
    with pytest.raises(BundleError, match=r"File name too long"):
        load_bundle("x" * 5000)


@pytest.fixture
def public(model: Seq2Seq, save: Save) -> Iterator[Path]:
    """A bundle in a folder that all users can read."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)
    save(place / "bundle", model)
    yield place / "bundle"
    shutil.rmtree(place)


@pytest.mark.parametrize("name", ["manifest.json", *FILES])
def test_a_file_without_read_permission(public: Path, name: str) -> None:
    (public / name).chmod(0)
    with another_user():
        assert refusal(public) == f"cannot read {public / name}: Permission denied"


def test_a_folder_without_permission(public: Path) -> None:
    public.parent.chmod(0)
    try:
        with another_user():
            assert refusal(public) == f"cannot read {public}: Permission denied"
    finally:
        public.parent.chmod(0o755)


def test_a_tied_models_weights_do_not_load_as_untied(
    tmp_path: Path, source: Tokenizer, target: Tokenizer, save: Save
) -> None:
    config = preset("bahdanau", "tiny", **{**SMALL, "embedding": 5}, readout="attentional", tie="target")
    torch.manual_seed(0)
    save(tmp_path / "bundle", Seq2Seq(config, len(source), len(target)))
    edit(tmp_path / "bundle", lambda manifest: manifest["model"].update(tie="none"))
    assert "decoder.readout.output.weight is absent" in refusal(tmp_path / "bundle")

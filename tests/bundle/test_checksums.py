"""Item 5: one flipped bit in any file of a bundle is noticed, the manifest included; older bundles still load."""

import hashlib
import json
from pathlib import Path
from random import Random

import pytest

from regard.bundle import VERSION, BundleError, load_bundle
from regard.bundle.store import copy_bundle
from regard.text.input_error import InputError

from .conftest import first_weights, flip_bit, names

FLIPS = 60
"""For each file."""


@pytest.mark.parametrize(
    "name", ["manifest.json", "model.safetensors", "source.tokenizer.json", "target.tokenizer.json"]
)
def test_a_flipped_bit_in_any_file_of_a_bundle_is_noticed(folder: Path, name: str) -> None:
    random, data = Random(name), (folder / name).read_bytes()
    assert len(names(folder)) == 4, "a file that this test does not flip"
    for _ in range(FLIPS):
        (folder / name).write_bytes(flip_bit(data, random))
        with pytest.raises(InputError, match=name):
            load_bundle(folder)
    (folder / name).write_bytes(data)
    load_bundle(folder)


def test_every_bit_of_the_manifest_s_checksum_and_version_counts(folder: Path) -> None:
    """A flipped bit there could make a manifest look like one without a checksum."""
    path = folder / "manifest.json"
    data = path.read_bytes()
    for key in (f'"version": {VERSION}'.encode(), b'"sha256": "' + json.loads(data)["sha256"].encode()):
        start = data.rindex(key)
        for bit in range(8 * start, 8 * (start + len(key))):
            changed = bytearray(data)
            changed[bit // 8] ^= 1 << bit % 8
            path.write_bytes(changed)
            with pytest.raises(BundleError):
                load_bundle(folder)


def test_an_edited_manifest_is_refused_with_the_way_to_keep_the_edit(folder: Path) -> None:
    path = folder / "manifest.json"
    text = path.read_text(encoding="utf-8")
    edited = text.replace('"steps": 7', '"steps": 8')
    path.write_text(edited, encoding="utf-8")
    with pytest.raises(BundleError) as caught:
        load_bundle(folder)
    assert str(caught.value) == (
        f'{path} is not as it was saved (its checksum, the last "sha256", does not match): copy the whole bundle '
        "again; if you edited it yourself, write null in place of that checksum"
    )
    digest = json.loads(text)["sha256"]
    path.write_text(edited.replace(f'"{digest}"', "null"), encoding="utf-8")
    assert load_bundle(folder).manifest.trained == {"steps": 8}


@pytest.mark.parametrize("value", ['""', "3", "true", "[]", '"ff"', '"\\ud800"'])
def test_an_invalid_checksum_is_refused(folder: Path, value: str) -> None:
    path = folder / "manifest.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(f'"{json.loads(text)["sha256"]}"', value), encoding="utf-8")
    with pytest.raises(BundleError, match="is not as it was saved"):
        load_bundle(folder)


def test_the_manifest_s_checksum_can_be_computed_without_regard(folder: Path) -> None:
    """It is the checksum of the file with 64 zeros in its place."""
    data = (folder / "manifest.json").read_bytes()
    digest = json.loads(data)["sha256"]
    assert data.count(digest.encode()) == 1
    assert hashlib.sha256(data.replace(digest.encode(), b"0" * 64)).hexdigest() == digest


def test_a_bundle_of_version_1_still_loads(folder: Path) -> None:
    """Version 1 manifests have no checksum of themselves."""
    before = first_weights(folder)
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    del manifest["sha256"]
    path.write_text(json.dumps({**manifest, "version": 1}), encoding="utf-8")
    assert first_weights(folder).equal(before)
    path.write_text(json.dumps({**manifest, "version": VERSION}), encoding="utf-8")
    with pytest.raises(BundleError, match=r"is damaged \(it has no checksum, the key \"sha256\"\): copy the whole"):
        load_bundle(folder)


def test_a_copy_of_a_bundle_is_checked_and_keeps_its_training_record(folder: Path, tmp_path: Path) -> None:
    (folder / "training.json").write_text("{}")
    copy_bundle(folder, tmp_path / "copy", steps=7, bleu=1.5)
    assert names(tmp_path / "copy") == [
        "manifest.json", "model.safetensors", "source.tokenizer.json", "target.tokenizer.json",
    ]  # fmt: skip
    assert first_weights(tmp_path / "copy").equal(first_weights(folder))
    assert load_bundle(tmp_path / "copy").manifest.trained == {"steps": 7, "bleu": 1.5}
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(flip_bit(data, Random(0)))
    with pytest.raises(BundleError, match="its checksum is not the manifest's"):
        copy_bundle(folder, tmp_path / "copy", steps=8)
    assert load_bundle(tmp_path / "copy").manifest.trained["steps"] == 7

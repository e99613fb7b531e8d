"""What `pip install .` brings along: everything the command needs is in the wheel, and nothing else."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[2]
BUNDLE = {"card.toml", "manifest.json", "model.safetensors", "source.tokenizer.json"}
TWO_TOKENIZERS = {*BUNDLE, "target.tokenizer.json"}
PRETRAINED = {
    "en-fr": BUNDLE,
    "fr-en": BUNDLE,
    "g2p-en": TWO_TOKENIZERS,
    "demo-en-fr": TWO_TOKENIZERS,
    "demo-en-fr-transformer": TWO_TOKENIZERS,
    "demo-en-fr-vanilla": TWO_TOKENIZERS,
    "demo-en-hi": TWO_TOKENIZERS,
    "demo-fr-en": TWO_TOKENIZERS,
}
LARGE = {
    "regard/export/page/app.js",
    "regard/export/page/licences/onnxruntime-third-party.txt",
    "regard/export/page/runtime.js",
    "regard/plot/typefaces/devanagari.ttf",
    "regard/plot/typefaces/hangul.ttf",
}
"""Files of more than 100 kB beside the models."""
KINDS = {".py", ".toml", ".json", ".md", ".txt", ".safetensors", ".css", ".html", ".js", ".ttf", ".woff2", ".typed"}
OFFLINE = """
import socket, sys
def refuse(*_): raise OSError("a connection was opened")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
import regard
assert "installed" in regard.__file__
from regard.cli.main import main
sys.exit(main())
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from hatchling.builders.wheel import WheelBuilder

    folder = tmp_path_factory.mktemp("wheel")
    (built,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    return Path(built)


@pytest.fixture(scope="module")
def contents(wheel: Path) -> dict[str, int]:
    """Size of each file."""
    assert wheel.stat().st_size < 50e6
    with zipfile.ZipFile(wheel) as archive:
        return {one.filename: one.file_size for one in archive.infolist()}


def test_everything_in_the_package_is_in_the_wheel(contents: dict[str, int]) -> None:
    source = ROOT / "src"
    wanted = {
        str(path.relative_to(source))
        for path in (source / "regard").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert not wanted - set(contents)
    assert "regard/py.typed" in contents
    assert "regard/recipes/demo.toml" in contents
    assert {"regard/plot/typefaces/devanagari.ttf", "regard/plot/typefaces/OFL.txt"} <= set(contents)


def test_the_wheel_holds_nothing_else(contents: dict[str, int]) -> None:
    assert not [name for name in contents if not name.startswith(("regard/", "regard-"))]
    ours = {name: size for name, size in contents.items() if name.startswith("regard/")}
    assert {PurePosixPath(name).suffix for name in ours} <= KINDS
    models = {name for name in ours if name.startswith("regard/pretrained/")}
    listed = {f"regard/pretrained/{model}/{name}" for model, names in PRETRAINED.items() for name in names}
    assert models == listed | {"regard/pretrained/__init__.py", "regard/pretrained/LICENCES.txt"}
    assert {name for name, size in ours.items() if size > 100_000} - models <= LARGE


def test_the_wheel_names_the_licences_of_what_it_brings(wheel: Path, contents: dict[str, int]) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in contents if name.endswith(".dist-info/METADATA"))
        about = archive.read(metadata).decode()
    assert "License-Expression: Apache-2.0 AND OFL-1.1 AND MIT\n" in about
    for file in ("LICENSE", "src/regard/pretrained/LICENCES.txt", "src/regard/export/page/licences/onnxruntime.txt"):
        assert f"License-File: {file}\n" in about


@pytest.mark.long
@pytest.mark.parametrize(
    ("model", "text", "expected"), [("en-fr", "I love you.", "Je t'aime."), ("g2p-en", "synchronise", "S IH")]
)
def test_the_unpacked_wheel_translates_without_a_network(
    wheel: Path, tmp_path: Path, model: str, text: str, expected: str
) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    run = subprocess.run(
        [sys.executable, "-P", "-c", OFFLINE, "translate", model, text],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert expected in run.stdout

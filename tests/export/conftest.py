"""A bundle and its ONNX folder for the tests of this folder."""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from regard.export.write_folder import export_onnx
from runtime.bundles import untrained

Exported = Callable[..., tuple[Path, Path]]


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """exported("luong", int8=True): a bundle of random weights, and the ONNX folder made of it."""

    @cache
    def make(name: str = "bahdanau", *, int8: bool = False, seed: int = 0) -> tuple[Path, Path]:
        place = tmp_path_factory.mktemp("exported")
        bundle = untrained(place / "bundle", name, seed=seed)
        export_onnx(bundle, place / "onnx", int8=int8)
        return bundle, place / "onnx"

    return make


@pytest.fixture
def folder(exported: Exported, tmp_path: Path) -> Path:
    """An ONNX folder of this test's own."""
    return Path(shutil.copytree(exported("bahdanau")[1], tmp_path / "onnx"))

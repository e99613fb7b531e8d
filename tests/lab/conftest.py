"""The trained run and untrained bundles that the tests of this folder look at."""

from pathlib import Path

import pytest

import regard
from runtime.bundles import trained, untrained


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def reverser(run_folder: Path) -> regard.Translator:
    return regard.load(run_folder)


@pytest.fixture(scope="session")
def vanilla(tmp_path_factory: pytest.TempPathFactory) -> regard.Translator:
    return regard.load(untrained(tmp_path_factory.mktemp("lab") / "vanilla", "vanilla"))


@pytest.fixture(scope="session")
def random_model(tmp_path_factory: pytest.TempPathFactory) -> regard.Translator:
    return regard.load(untrained(tmp_path_factory.mktemp("lab") / "bahdanau"))

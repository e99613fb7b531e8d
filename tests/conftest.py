"""Every test runs with the shapes in our signatures checked: jaxtyping and beartype watch the whole package."""

import compileall
import os
import sys
import sysconfig
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import settings

import shape_checks
from environment import EnvironmentCheck

# Tests limit the size of files and fill disks, here and in processes they start. Python's import system does not notice
# short writes: it would leave compiled files that are cut short in the environment, and later imports would fail.
sys.dont_write_bytecode = True
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"

shape_checks.install()

settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")


def pytest_runtest_setup() -> None:
    shape_checks.begin_test()


def pytest_configure(config: pytest.Config) -> None:
    """Once, not in each worker of xdist."""
    if hasattr(config, "workerinput"):
        return
    config.pluginmanager.register(EnvironmentCheck(Path(sysconfig.get_path("purelib"))))
    package = find_spec("regard")
    assert package is not None
    for folder in package.submodule_search_locations or ():  # or each process that a test starts would compile it anew
        compileall.compile_dir(folder, quiet=2)


@pytest.fixture(autouse=True, scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What a test prepares stays out of the user's own cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGARD_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield

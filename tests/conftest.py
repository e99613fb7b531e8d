"""Every test runs with the shapes in our signatures checked: jaxtyping and beartype watch the whole package."""

import os
from collections.abc import Iterator

os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

install_import_hook("regard", "beartype.beartype")

settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")


@pytest.fixture(autouse=True, scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What a test prepares stays out of the user's own cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGARD_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield

"""Every test runs with the shapes in our signatures checked: jaxtyping and beartype watch the whole package."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from hypothesis import settings
from jaxtyping import install_import_hook

install_import_hook("regard", "beartype.beartype")

settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")

"""Which classes outside regard a recipe brings along: the user's own file may name one, a file of a run may not."""

from collections.abc import Collection, Iterable
from pathlib import Path

from regard.bundle.manifest import FORMAT, NAME
from regard.models.config import RecurrentConfig
from regard.reading_files import read_json
from regard.training.folder import is_run
from regard.training.recipe import Recipe, find_recipe


def own_classes(recipes: Iterable[Recipe], *files: str | Path, trust: Collection[str] = ()) -> tuple[str, ...]:
    """The names in `trust`, and those that the recipes name where all the files they come from are the user's own."""
    named = (trust,) if isinstance(trust, str) else tuple(trust)
    if any(_came_with_a_model(find_recipe(file)) for file in files):
        return named
    scores = [one.model.score for one in recipes if isinstance(one.model, RecurrentConfig) and ":" in one.model.score]
    return tuple(dict.fromkeys((*named, *scores)))


def _came_with_a_model(file: Path) -> bool:
    """Whether a file lies in a run folder or a bundle, which may be somebody else's."""
    return any(is_run(folder) or _is_bundle(folder) for folder in file.resolve().parents)


def _is_bundle(folder: Path) -> bool:
    try:
        manifest = read_json(folder / NAME)
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.get("format") == FORMAT

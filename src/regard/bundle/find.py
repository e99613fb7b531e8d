"""Find a bundle: a folder, a run folder, or the name of a model in the package."""

from contextlib import suppress
from pathlib import Path

from regard.bundle.manifest import FORMAT, NAME, ONNX_FORMAT, BundleError, has_format
from regard.files import recover
from regard.suggest import closest

PRETRAINED = Path(__file__).resolve().parents[1] / "pretrained"
SHOWN = 8
"""Bundles outside the package that a message names."""


def pretrained_names() -> list[str]:
    """The models in the package, by name."""
    return sorted(path.parent.name for path in PRETRAINED.glob(f"*/{NAME}"))


def find_bundle(path: Path | str) -> Path:
    """The bundle at `path`, or in the run folder at `path` (the best checkpoint, else the last), or in the package.

    An existing path comes before a model of the package with the same name.
    """
    path = Path(path)
    try:
        for candidate in (path, path / "best", path / "last"):
            if _holds_manifest(candidate):
                return candidate
        if path.is_file():
            problem = f"this is a file; a bundle is the folder that holds {NAME}"
            raise BundleError(f"no bundle at {path}: {problem}{_hidden(path)}")
        if path.exists():
            if any(path.glob("*.onnx")):
                raise BundleError(
                    f"no bundle at {path}: it holds ONNX graphs, but not the {NAME} of `regard export onnx`: copy the "
                    f"whole folder again, or export with regard{_hidden(path)}"
                )
            raise BundleError(
                f"no bundle at {path}: neither it nor its best/ or last/ holds a {NAME}; "
                f"name a folder that `regard train` wrote{_hidden(path)}"
            )
    except OSError as error:
        raise BundleError(f"cannot read {path}: {error.strerror}") from error
    if str(path) in pretrained_names():
        return PRETRAINED / path
    raise BundleError(_nothing(path))


def name_of(path: Path) -> str:
    """What messages call a bundle: the name of a model in the package, otherwise its path."""
    return path.resolve().name if is_packaged(path) else str(path)


def is_packaged(path: Path) -> bool:
    """Whether this bundle is a model of the package."""
    return path.resolve().parent == PRETRAINED


def _hidden(path: Path) -> str:
    """The end of a message about a path that is no bundle but has the name of a model in the package."""
    if str(path) not in pretrained_names():
        return ""
    return f"; it hides the model {path} of the package: rename it, or work in another folder"


def _nothing(path: Path) -> str:
    """The message for a name that does not exist: the nearest model, and those that exist."""
    if " " in str(path):
        return f"no bundle '{path}': a model comes first, then the text, as in demo-en-fr \"{path}\""
    here = sorted({folder for place in (path.parent, Path("runs")) for folder in _bundles_in(place)})
    known = {folder.name: str(folder) for folder in here} | {name: name for name in pretrained_names()}
    near = closest(path.name, known)
    hint = "models" if near is None else f"did you mean '{known[near]}'? Models"
    hint += f" in the package: {', '.join(pretrained_names())}"
    if here:
        hint += f"; models found here: {', '.join(map(str, here[:SHOWN]))}{' …' * (len(here) > SHOWN)}"
    return f"no bundle at {path}: there is no such folder; {hint}"


def _bundles_in(place: Path) -> list[Path]:
    """The folders in `place` that hold a bundle or an ONNX export; none if it cannot be listed."""
    with suppress(OSError):
        return [
            folder
            for folder in place.iterdir()
            if any(
                has_format(folder / inner, format) for inner in ("", "best", "last") for format in (FORMAT, ONNX_FORMAT)
            )
        ]
    return []


def _holds_manifest(folder: Path) -> bool:
    """Whether the folder holds a bundle; retried, because a folder is briefly absent while a newer one replaces it."""
    for _ in range(3):
        if (folder / NAME).is_file():
            return True
        recover(folder)
    return False

"""Pictures on disk: the ending is checked before the work, and the file is replaced in one step."""

from pathlib import Path
from typing import TYPE_CHECKING

from regard.bundle.folder import write_whole
from regard.text.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDINGS = (".png", ".svg", ".pdf")


def check_picture(path: Path, *also: str) -> None:
    """Refuse an ending that no picture has; `also` are further ones that the caller can write."""
    valid = (*ENDINGS, *also)
    if path.suffix.lower() not in valid:
        raise InputError(f"{path} ends in {path.suffix or 'nothing'}; wanted {', '.join(valid[:-1])} or {valid[-1]}")


def write_picture(figure: "Figure", path: Path) -> None:
    from regard.plot import picture

    write_whole(path, picture(figure, path.suffix.lower().removeprefix(".")))

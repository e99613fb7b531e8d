"""Matplotlib figures without pyplot, in one style; saving the same figure twice gives the same bytes."""

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.files import write_whole
from regard.plot.attention_map import Number, visible
from regard.plot.fonts import PAGE_FAMILY, FontChoice, MissingFontWarning, choose_fonts, font_faces

if TYPE_CHECKING:
    import matplotlib.figure

INK = "#1b1f24"
SOFT_INK = "#57606a"
RULE = "#d0d7de"
GOLD = "#d1480a"
# Okabe and Ito's colours in an order that stays apart in grey too.
SERIES_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
FORMATS = ("png", "svg", "pdf")


@contextmanager
def house_style() -> Iterator[None]:
    """matplotlib's own defaults, whatever the user's settings, plus ours; for building a figure and for saving it."""
    import matplotlib.style

    ours = {
        "svg.hashsalt": "regard",
        "svg.fonttype": "none",  # text stays text; `picture` embeds the glyphs that a reader may lack
        "pdf.fonttype": 42,  # TrueType instead of Type 3, which many publishers refuse
        "axes.edgecolor": RULE,
        "axes.labelcolor": SOFT_INK,
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "axes.titlecolor": INK,
        "axes.unicode_minus": True,
        "text.parse_math": False,  # a word like $5 is a word, not mathematics
        "axes.formatter.use_mathtext": False,
        "path.simplify": True,
    }
    with matplotlib.style.context(["default", ours]):
        yield


def new_figure(width: Number, height: Number) -> "matplotlib.figure.Figure":
    """A white figure of so many inches that belongs to no window and no global state."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=150, facecolor="white")


def line_style(number: int) -> dict[str, Any]:
    """Colour, marker and dashes of a line: 28 lines look different, seven of them without colour."""
    marker, dashes = "os^DvPX"[number % 7], ("-", "--", "-.", ":")[(number % 7 + number // 7) % 4]
    return {"color": SERIES_COLOURS[number % 7], "marker": marker, "linestyle": dashes}


def fonts_for(texts: Iterable[str]) -> FontChoice:
    """The fonts for every word of a figure, with one warning if some word cannot be drawn."""
    choice = choose_fonts(texts)
    if choice.message:
        warnings.warn(choice.message, MissingFontWarning, stacklevel=3)
    return choice


@lru_cache(maxsize=4096)
def text_size(text: str, families: tuple[str, ...], points: Number) -> tuple[float, float]:
    """Width and height of a line of text in inches, as it will be shaped and drawn."""
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.font_manager import FontProperties

    renderer: Any = RendererAgg(1, 1, 72)  # type: ignore[no-untyped-call]
    width, height, _ = renderer.get_text_width_height_descent(
        text, FontProperties(family=list(families), size=points), ismath=False
    )
    return width / 72, height / 72


def wrapped(text: str, families: tuple[str, ...], points: Number, width: Number) -> str:
    """Text broken between words into lines of at most `width` inches; a longer word keeps a line of its own."""
    lines: list[str] = []
    for word in visible(text, " ").split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_size(longer, families, points)[0] <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return "\n".join(lines)


def picture(figure: "matplotlib.figure.Figure", file_format: str = "png") -> bytes:
    """The figure as PNG, SVG or PDF; the same figure gives the same bytes, without date."""
    if file_format not in FORMATS:
        raise ValueError(f"cannot draw the format {file_format!r}; choose one of {', '.join(FORMATS)}")
    if file_format == "svg":
        return _with_glyphs(svg(figure)).encode()
    return _saved(figure, file_format, {"png": {"Software": None}, "pdf": {"CreationDate": None}}[file_format])


def svg(figure: "matplotlib.figure.Figure") -> str:
    """The figure as SVG whose text names its fonts."""
    return _saved(figure, "svg", dict.fromkeys(("Date", "Creator", "Format", "Type"))).decode()


def _saved(figure: "matplotlib.figure.Figure", file_format: str, metadata: dict[str, None]) -> bytes:
    buffer = BytesIO()
    with house_style():
        figure.savefig(buffer, format=file_format, metadata=metadata)
    return buffer.getvalue()


def _with_glyphs(text: str) -> str:
    """Embed the glyphs of our typefaces, so that Hindi shows where no Devanagari font is installed."""
    faces = font_faces(text)
    text = text.replace("</style>", f"\n{faces}</style>", 1)
    return text.replace("font-family: ", f"font-family: {PAGE_FAMILY}, ") if faces else text


def save(figure: "matplotlib.figure.Figure", path: str | Path) -> Path:
    """Write the figure to `path` in one step; its suffix is the format."""
    path = Path(path)
    ending = path.suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        raise ValueError(f"{path.name} ends in {path.suffix or 'nothing'}; pictures end in .png, .svg or .pdf")
    write_whole(path, picture(figure, ending))
    return path

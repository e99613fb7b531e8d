"""`regard.view(weights, source, target)`: attention weights from any model, seen as text, picture and page."""

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.plot.attention_map import AttentionMap, Words
from regard.plot.heatmap import heatmap
from regard.plot.html import alignment_html
from regard.plot.terminal import terminal_heatmap
from regard.plot.widget import page_widget

if TYPE_CHECKING:
    import matplotlib.figure

FRAME, ROW = 600, 33
"""Pixels of a page with a heat-map: without rows, and for each of them."""


@dataclass(frozen=True, eq=False, repr=False)
class AttentionView:
    """One sentence's attention: `str()` is a terminal picture, a notebook shows the page of `html()`."""

    attention_map: AttentionMap

    def __str__(self) -> str:
        return terminal_heatmap(self.attention_map).plain

    def __repr__(self) -> str:
        return f"AttentionView({len(self.attention_map.target)} target × {len(self.attention_map.source)} source words)"

    def _repr_html_(self) -> str:
        return framed(self.html(), len(self.attention_map.target))

    def widget(self) -> Any:
        """The page as an anywidget: `.cell` is [row, column] of the pinned cell. Needs the extra `notebook`."""
        return page_widget(self.html())

    def plot(self) -> "matplotlib.figure.Figure":
        """The heat-map as a matplotlib figure; `.savefig(path)` writes PNG or SVG."""
        return heatmap(self.attention_map)

    def html(self, *, title: str = "Where the model looked") -> str:
        """A self-contained page with the heat-map, for mouse and keyboard."""
        return alignment_html([self.attention_map], title=title)


def view(weights: Any, source: Words, target: Words, **about: Any) -> AttentionView:
    """Look at attention weights of any model: [target, source] or [layer, head, target, source], array or tensor.

    Example:
        regard.view([[0.9, 0.1], [0.2, 0.8]], "the cat", "le chat").plot().savefig("cat.png")

    Labels are a text, or words and pieces one by one (None: EOS). `about` takes title, caption, links (gold, drawn as
    frames), languages and name.
    """
    if hasattr(weights, "detach"):
        weights = weights.detach().cpu().double().numpy()
    array = np.asarray(weights)
    if array.ndim == 4 and array.size:
        return AttentionView(AttentionMap(array.mean(axis=(0, 1)), source, target, tensor=array, **about))
    return AttentionView(AttentionMap(array, source, target, **about))


def framed(page: str, rows: int) -> str:
    """A page with a heat-map of so many rows in a frame of its own, as a notebook shows it."""
    return f'<iframe srcdoc="{escape(page)}" width="100%" height="{FRAME + ROW * rows}" style="border: 0"></iframe>'

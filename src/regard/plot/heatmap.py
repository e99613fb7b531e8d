"""Annotated attention heat-maps: source words along the top, target words down the side, one fixed scale."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64

from regard.plot.attention_map import AttentionMap, Label
from regard.plot.figure import GOLD, RULE, SOFT_INK, fonts_for, house_style, new_figure
from regard.plot.layout import BAR_ROOM, EDGE, Block, Grid, block_for, grid_for, shown

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure
    import matplotlib.text

SOURCE_AXIS = "source (read)"
TARGET_AXIS = "target (written)"
COLOURS = "Blues"
SMALLEST_NUMBER = 0.005
"""Weights below this would read 0.00; their cells carry no number."""
FAINT_NUMBER = 0.05
"""Weights below this are written in a softer ink, so that the eye finds the others first."""


def heatmap(attention: AttentionMap, *, numbers: bool | None = None) -> "matplotlib.figure.Figure":
    """One sentence as a heat-map; weights are written in the cells where they fit, or as `numbers` decides.

    Words that no installed font can draw give one `MissingFontWarning` that names the package to install.
    """
    return heatmaps([attention], numbers=numbers)


def heatmaps(
    attentions: Sequence[AttentionMap], *, columns: int | None = None, numbers: bool | None = None
) -> "matplotlib.figure.Figure":
    """Several sentences in one figure, in reading order, with one colour scale."""
    if not attentions:
        raise ValueError("no sentences to draw; expected at least one AttentionMap")
    if columns is not None and columns < 1:
        raise ValueError(f"columns is {columns}; expected 1 or more")
    for attention in attentions:
        attention.drawn()
    words = [label.shown for one in attentions for label in (*one.source, *one.target)]
    families = fonts_for([*words, *(text for one in attentions for text in (one.title, one.caption))]).families
    with house_style():
        blocks = [block_for(attention, families, numbers) for attention in attentions]
        grid = grid_for(blocks, columns)
        figure = new_figure(grid.width, grid.height)
        for number, (attention, block) in enumerate(zip(attentions, blocks, strict=True)):
            _draw(figure, attention, block, grid, number, families)
        _colour_bar(figure, grid, blocks)
    return figure


def _draw(
    figure: "matplotlib.figure.Figure",
    attention: AttentionMap,
    block: Block,
    grid: Grid,
    number: int,
    families: tuple[str, ...],
) -> None:
    """One heat-map at its place in the grid."""
    weights = attention.drawn()
    targets, sources = weights.shape
    left, bottom = grid.place(number, block)
    box = (left / grid.width, bottom / grid.height, block.matrix_width / grid.width, block.matrix_height / grid.height)
    axes = figure.add_axes(box, label=f"sentence {number + 1}")
    axes.imshow(weights, cmap=COLOURS, vmin=0.0, vmax=1.0, aspect="auto", interpolation="nearest")
    axes.set_xticks(range(sources), [shown(label) for label in attention.source])
    axes.set_yticks(range(targets), [shown(label) for label in attention.target])
    axes.xaxis.tick_top()
    axes.tick_params(length=0, pad=block.pad, labelsize=block.points)
    axes.set_xticks(np.arange(0.5, sources - 0.5), minor=True)
    axes.set_yticks(np.arange(0.5, targets - 0.5), minor=True)
    axes.tick_params(which="minor", length=0)
    axes.grid(which="minor", color="white" if block.numbers else RULE, linewidth=1.2 if block.numbers else 0.3)
    slant = {0: "center", 45: "left", 90: "center"}[block.rotation]
    for text, label in zip(axes.get_xticklabels(), attention.source, strict=True):
        text.set(rotation=block.rotation, rotation_mode="anchor" if block.rotation == 45 else "default", ha=slant)
        _dress(text, label, families, block)
    for text, label in zip(axes.get_yticklabels(), attention.target, strict=True):
        _dress(text, label, families, block)
    if block.numbers:
        _write_numbers(axes, weights, block)
    _outline(axes, attention, block)
    _write_margins(axes, block, families)


def _dress(text: "matplotlib.text.Text", label: Label, families: tuple[str, ...], block: Block) -> None:
    """The fonts of a label; a special one becomes a small chip."""
    text.set_fontfamily(list(families))
    text.set_parse_math(False)
    if label.special:
        text.set_fontsize(block.points * 0.78)
        text.set_color(SOFT_INK)
        text.set_bbox({"boxstyle": "round,pad=0.25,rounding_size=0.5", "facecolor": "#eef1f4", "edgecolor": RULE})


def _write_numbers(axes: "matplotlib.axes.Axes", weights: Float64[np.ndarray, "target source"], block: Block) -> None:
    """The weight in each cell, in the ink that contrasts more with the cell's colour."""
    for (row, column), weight in np.ndenumerate(weights):
        if weight >= SMALLEST_NUMBER:
            number = f"{weight:.2f}" if block.cell_width >= 0.42 else f"{weight:.2f}".removeprefix("0")
            ink = ink_on(float(weight)) if weight >= FAINT_NUMBER else SOFT_INK
            axes.text(column, row, number, ha="center", va="center", fontsize=block.number_points, color=ink)


def ink_on(weight: float) -> str:
    """Black or white, whichever contrasts more with the colour of this weight: always at least 4.5 to 1."""
    from matplotlib import colormaps
    from matplotlib.colors import to_rgb

    ground = _luminance(colormaps[COLOURS](weight)[:3])

    def contrast(ink: str) -> float:
        light, dark = sorted((_luminance(to_rgb(ink)), ground), reverse=True)
        return (light + 0.05) / (dark + 0.05)

    return max(("#000000", "#ffffff"), key=contrast)


def _luminance(rgb: Sequence[float]) -> float:
    """Relative luminance of an sRGB colour, as in WCAG 2."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _outline(axes: "matplotlib.axes.Axes", attention: AttentionMap, block: Block) -> None:
    """Gold links as frames: sure solid, possible dashed."""
    from matplotlib.patches import Rectangle

    inset = 0.06 if block.numbers else 0.0
    for source, target in sorted(attention.possible):
        sure = (source, target) in attention.sure
        axes.add_patch(
            Rectangle(
                (source - 0.5 + inset, target - 0.5 + inset),
                1 - 2 * inset,
                1 - 2 * inset,
                fill=False,
                edgecolor=GOLD,
                linewidth=block.frame_points,
                linestyle="solid" if sure else (0, (2.2, 1.4)),
                gid=f"{'sure' if sure else 'possible'} {source}-{target}",
                zorder=3,
            )
        )


def _write_margins(axes: "matplotlib.axes.Axes", block: Block, families: tuple[str, ...]) -> None:
    """Axis names, title and the lines below, at distances the layout reserved."""
    width, height = block.matrix_width, block.matrix_height
    small: dict[str, Any] = {"transform": axes.transAxes, "color": SOFT_INK, "fontsize": 8.5, "family": list(families)}
    axes.text(0, 1 + (block.labels_top + 0.07) / height, f"{SOURCE_AXIS} →", ha="left", va="bottom", **small)
    axes.text(-(block.labels_left + 0.1) / width, 1, f"← {TARGET_AXIS}", rotation=90, ha="right", va="top", **small)
    if block.title:
        top = 1 + (block.labels_top + 0.36) / height
        left = -(block.left - EDGE) / width
        axes.text(
            left, top, block.title, transform=axes.transAxes, family=list(families), fontsize=12, va="bottom", ha="left"
        )
    if block.below:
        axes.text(-(block.left - EDGE) / width, -block.below_gap / height, block.below, ha="left", va="top", **small)


def _colour_bar(figure: "matplotlib.figure.Figure", grid: Grid, blocks: Sequence[Block]) -> None:
    """One slim scale from 0 to 1 at the right of the first row."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    first = blocks[0]
    height = min(max(first.matrix_height, 0.9), 3.2)
    left = grid.width - BAR_ROOM + 0.12
    top = grid.height - first.top
    axes = figure.add_axes(
        (left / grid.width, (top - height) / grid.height, 0.13 / grid.width, height / grid.height), label="scale"
    )
    ticks = [0, 0.25, 0.5, 0.75, 1] if height > 1.4 else [0, 0.5, 1]
    bar = figure.colorbar(ScalarMappable(Normalize(0.0, 1.0), COLOURS), cax=axes, ticks=ticks)
    bar.outline.set_edgecolor(RULE)
    bar.ax.tick_params(length=2, labelsize=8, color=RULE, labelcolor=SOFT_INK)
    bar.set_label("attention weight", fontsize=8.5, color=SOFT_INK)

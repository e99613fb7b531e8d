"""Layout of heat-maps in inches: no labels overlap from 1 × 1 to 80 × 100."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from regard.plot.attention_map import AttentionMap, Label, shortened
from regard.plot.figure import text_size, wrapped

BAR_ROOM = 0.9
_GAP = 0.35
EDGE = 0.18
_AXIS_NAME = 1.15
"""How long "target (written)" is."""
_NUMBERS_FROM = 0.33
"""The narrowest cell, in inches, in which a readable number fits."""


@dataclass(frozen=True)
class Block:
    """One heat-map: sizes in inches, text in points. `left`, `top` and `bottom` are the margins around the matrix."""

    cell_width: float
    cell_height: float
    matrix_width: float
    matrix_height: float
    labels_left: float
    labels_top: float
    left: float
    right: float
    top: float
    bottom: float
    rotation: int
    points: float
    number_points: float
    numbers: bool
    title: str
    below: str
    below_gap: float

    @property
    def pad(self) -> float:
        """Points between the matrix and its labels."""
        return 4.0 if self.points > 7 else 2.0

    @property
    def frame_points(self) -> float:
        """Line width of a gold link's frame, in points."""
        return max(0.8, min(1.8, self.cell_height * 4.5))

    @property
    def width(self) -> float:
        return self.left + self.matrix_width + self.right

    @property
    def height(self) -> float:
        return self.top + self.matrix_height + self.bottom


@dataclass(frozen=True)
class Grid:
    """Where each block stands in a figure of `width` × `height` inches."""

    width: float
    height: float
    columns: int
    lefts: tuple[float, ...]
    tops: tuple[float, ...]

    def place(self, number: int, block: Block) -> tuple[float, float]:
        """Left and bottom of the matrix of a block, from the figure's lower left corner."""
        row, column = divmod(number, self.columns)
        return self.lefts[column] + block.left, self.height - self.tops[row] - block.top - block.matrix_height


def block_for(attention: AttentionMap, families: tuple[str, ...], numbers: bool | None) -> Block:
    """Cells as large as the number of words allows; source labels level where they fit, else at 45 or 90 degrees."""
    count_source, count_target = len(attention.source), len(attention.target)
    count = max(count_source, count_target)
    cell = _cell_size(count)
    points = min(10.5, max(5.5, cell * 72 * 0.62))
    source_sizes = [_size(label, families, points) for label in attention.source]
    target_width = max(_size(label, families, points)[0] for label in attention.target)
    widest = max(width for width, _ in source_sizes)
    tallest = max(height for _, height in source_sizes)
    cell_width, rotation = cell, 0
    level = widest + 0.14
    if level <= cell or (level <= 1.15 and level * count_source <= 8.5):
        cell_width = max(cell, level)
    else:
        rotation = 45 if tallest * 1.55 <= cell else 90
    labels_top = {0: tallest, 45: (widest + tallest) * 0.72, 90: widest}[rotation] + 0.08
    matrix_width, matrix_height = cell_width * count_source, cell * count_target
    labels_left = target_width + 0.1
    left = EDGE + 0.3 + labels_left
    overhang = (widest * 0.72 - cell_width / 2) if rotation == 45 else 0.0
    right = max(0.12, overhang + 0.05)
    room = max(left + matrix_width + right - 2 * EDGE, 3.0)
    title = wrapped(attention.title, families, 12, room)
    below = "\n".join(wrapped(line, families, 8.5, room) for line in _below(attention) if line)
    lines = [*((line, 12) for line in title.splitlines()), *((line, 8.5) for line in below.splitlines())]
    text_width = max((text_size(line, families, size)[0] for line, size in lines), default=0.0)
    right = max(right, text_width + 2 * EDGE - left - matrix_width, _AXIS_NAME - matrix_width)
    title_height = 0.36 + 0.2 * len(title.splitlines()) if title else 0.26
    below_gap = max(0.12, _AXIS_NAME + 0.06 - matrix_height)  # under the upright name of the target axis
    shown = (cell_width >= _NUMBERS_FROM and cell >= 0.2) if numbers is None else numbers
    return Block(
        cell_width=cell_width,
        cell_height=cell,
        matrix_width=matrix_width,
        matrix_height=matrix_height,
        labels_left=labels_left,
        labels_top=labels_top,
        left=left,
        right=right,
        top=0.14 + title_height + labels_top,
        bottom=below_gap + 0.08 + 0.16 * len(below.splitlines()),
        below_gap=below_gap,
        rotation=rotation,
        points=points,
        number_points=min(8.5, cell_width * 72 * 0.29, cell * 72 * 0.5),
        numbers=shown,
        title=title,
        below=below,
    )


def grid_for(blocks: Sequence[Block], columns: int | None) -> Grid:
    """Rows and columns as wide and as high as their largest block; without `columns`, at most about 14 inches wide."""
    if columns is None:
        columns = 1
        while columns < len(blocks) and _column_sum(blocks, columns + 1) <= 14 and columns < 3:
            columns += 1
        columns = ceil(len(blocks) / ceil(len(blocks) / columns))  # four sentences stand two by two, not three and one
    columns = min(columns, len(blocks))
    widths = [max(block.width for block in blocks[column::columns]) for column in range(columns)]
    heights = [max(block.height for block in blocks[row : row + columns]) for row in range(0, len(blocks), columns)]
    width = sum(widths) + _GAP * (columns - 1) + BAR_ROOM
    lefts = tuple(sum(widths[:column]) + _GAP * column for column in range(columns))
    tops = tuple(sum(heights[:row]) + _GAP * row for row in range(len(heights)))
    # The scale is never shorter than 0.9 inch, even beside a matrix of one row.
    height = max(tops[-1] + heights[-1], blocks[0].top + 0.9 + 0.2)
    return Grid(width, height, columns, lefts, tops)


def _column_sum(blocks: Sequence[Block], columns: int) -> float:
    return sum(max(b.width for b in blocks[column::columns]) for column in range(columns)) + _GAP * (columns - 1)


def _cell_size(count: int) -> float:
    """Inches for one cell: half an inch for a short sentence, an overview at a hundred words."""
    if count <= 12:
        return 0.46
    if count <= 30:
        return 0.46 - (count - 12) * (0.46 - 0.34) / 18
    return max(0.125, min(0.34, 12.0 / count))


def shown(label: Label) -> str:
    """A label as it is drawn on an axis."""
    return shortened(label.shown, 24)


def _size(label: Label, families: tuple[str, ...], points: float) -> tuple[float, float]:
    chip = 0.78 if label.special else 1.0
    width, height = text_size(shown(label), families, points * chip)
    return (width + 0.1, height) if label.special else (width, height)


def _below(attention: AttentionMap) -> list[str]:
    """The lines under a heat-map: caption, legend of the frames, a note about rows that sum to less than 1."""
    lines = [attention.caption]
    if attention.sure:
        only_sure = attention.sure == attention.possible
        lines.append("framed: gold links" + ("" if only_sure else "; solid sure, dashed possible"))
    elif attention.possible:
        lines.append("dashed frames: possible gold links")
    if attention.missing:
        lines.append(f"rows may sum to less than 1: {attention.missing}")
    return lines

"""Bars of one attention step, stage by stage, each with its number; masked places are marked."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from regard.plot.attention_map import Number, visible
from regard.plot.figure import (
    INK,
    RULE,
    SERIES_COLOURS,
    SOFT_INK,
    fonts_for,
    house_style,
    new_figure,
    text_size,
    wrapped,
)

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure


@dataclass(frozen=True)
class Bars:
    """One stage of a worked example: a value for each label; None or an infinite one is masked out."""

    title: str
    labels: tuple[str, ...]
    values: tuple[Number | None, ...]
    curve: tuple[tuple[Number, Number], ...] = ()
    """Points (place of the label from 0, value) of a line over the bars."""

    def __post_init__(self) -> None:
        if not self.labels or len(self.labels) != len(self.values):
            raise ValueError(
                f"bars {self.title!r} have {len(self.labels)} labels but {len(self.values)} values; expected as many"
            )


def bars(stages: Sequence[Bars], *, title: str = "", formula: Sequence[str] = ()) -> "matplotlib.figure.Figure":
    """A worked example as rows of bars, one row for each stage, each with its numbers; masked positions are labelled.

    The lines of `formula` are below the title; the figure is as wide as they need, and they are never wrapped.
    """
    if not stages:
        raise ValueError("no stages to draw; expected at least one Bars")
    with house_style():
        texts = [title, *formula, *(text for stage in stages for text in (stage.title, *stage.labels))]
        families = list(fonts_for(texts).families)
        widest = max(len(stage.labels) for stage in stages)
        words = [visible(label) for stage in stages for label in stage.labels]
        room = max(0.6, *(text_size(word, tuple(families), 10)[0] + 0.2 for word in words))
        lines = [visible(line, " ") for line in formula]
        wide = max((text_size(line, tuple(families), 12)[0] for line in lines), default=0.0)
        figure = new_figure(max(5.0, 0.4 + room * widest, 0.4 + wide), 0.5 + 0.2 * len(lines) + 1.35 * len(stages))
        for axes, stage in zip(figure.subplots(len(stages), 1, squeeze=False)[:, 0], stages, strict=True):
            _draw_stage(axes, stage, families)
            axes.set_xlim(-0.5, widest - 0.5)
        if title or lines:
            text = wrapped(title, tuple(families), 12, figure.get_figwidth() - 0.4)
            heading = "\n".join([*([text] if text else []), *lines])
            figure.suptitle(heading, x=0.02, ha="left", fontsize=12, family=families)
        figure.set_layout_engine("constrained", w_pad=0.1, h_pad=0.1)
    return figure


def _draw_stage(axes: "matplotlib.axes.Axes", stage: Bars, families: list[str]) -> None:
    numbers = [value if value is not None and isfinite(value) else None for value in stage.values]
    drawn = [0.0 if value is None else value for value in numbers]
    places = range(len(drawn))
    shown = axes.bar(places, drawn, color=SERIES_COLOURS[0], width=0.7)
    if stage.curve:
        places_along, heights = zip(*stage.curve, strict=True)
        axes.plot(places_along, heights, color=SERIES_COLOURS[1], linewidth=1.5)
    axes.axhline(0, color=RULE, linewidth=0.8)
    texts = ["masked" if value is None else f"{value:.2f}".replace("-", "−") for value in numbers]
    for label, value in zip(axes.bar_label(shown, texts, padding=3, fontsize=8.5), numbers, strict=True):
        label.set_color(SOFT_INK if value is None else INK)
    axes.set_xticks(places, [visible(label) for label in stage.labels], family=families)
    axes.set_yticks([])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.margins(y=0.35)
    axes.set_title(stage.title, loc="left", fontsize=10, color=SOFT_INK, family=families)

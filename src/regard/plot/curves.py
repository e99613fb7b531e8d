"""Lines and bars: how training went, quality against length, and one attention step worked in small numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import TYPE_CHECKING, SupportsFloat

import numpy as np

from regard.plot.attention_map import Number, visible
from regard.plot.figure import (
    INK,
    RULE,
    SERIES_COLOURS,
    SERIES_DASHES,
    SERIES_MARKERS,
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
    import matplotlib.lines


@dataclass(frozen=True)
class Series:
    """A named line: as many x as y; a gap where y is not finite."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.x) != len(self.y):
            raise ValueError(f"series {self.name!r} has {len(self.x)} x values and {len(self.y)} y values")

    @classmethod
    def of(cls, name: str, x: Iterable[SupportsFloat], y: Iterable[SupportsFloat]) -> "Series":
        return cls(name, tuple(float(value) for value in x), tuple(float(value) for value in y))


@dataclass(frozen=True)
class System:
    """The scores of one system, one for each length bin (None: no sentences), with a band where it is known."""

    name: str
    scores: tuple[Number | None, ...]
    low: tuple[Number | None, ...] = ()
    high: tuple[Number | None, ...] = ()


@dataclass(frozen=True)
class LengthQuality:
    """Quality by source length: `bins` are names such as "3-5", `counts` the sentences in each."""

    measure: str
    bins: tuple[str, ...]
    counts: tuple[int, ...]
    systems: tuple[System, ...]

    def __post_init__(self) -> None:
        if not self.bins or not self.systems:
            raise ValueError(
                f"{len(self.bins)} length bins and {len(self.systems)} systems; wanted at least one of each"
            )
        if len(self.counts) != len(self.bins):
            raise ValueError(
                f"{len(self.bins)} length bins but {len(self.counts)} counts; wanted one count for each bin"
            )
        for system in self.systems:
            for name, values in (("scores", system.scores), ("low", system.low), ("high", system.high)):
                if len(values) != len(self.bins) and (name == "scores" or values):
                    raise ValueError(
                        f"system {system.name!r} has {len(values)} {name} for {len(self.bins)} length bins;"
                        " wanted one for each bin, None where there is none"
                    )
            if bool(system.low) != bool(system.high):
                raise ValueError(f"system {system.name!r} has only one edge of its band; give low and high, or neither")

    @property
    def ceiling(self) -> float:
        """The top of the axis."""
        return ceiling(self.measure, (score for system in self.systems for score in system.scores))


@dataclass(frozen=True)
class Bars:
    """One stage of a worked example: a value for each label; None or an infinite one is masked out."""

    title: str
    labels: tuple[str, ...]
    values: tuple[Number | None, ...]

    def __post_init__(self) -> None:
        if not self.labels or len(self.labels) != len(self.values):
            raise ValueError(
                f"bars {self.title!r} have {len(self.labels)} labels and {len(self.values)} values; wanted one for each"
            )


def curves(
    train_loss: Series,
    *,
    validation_loss: Series | None = None,
    scores: Sequence[Series] = (),
    learning_rate: Series | None = None,
    title: str = "",
) -> "matplotlib.figure.Figure":
    """How training went: losses on the left axis, validation scores on the right, the learning rate below."""
    if not any(isfinite(value) for value in train_loss.y):
        raise ValueError(f"series {train_loss.name!r} holds no finite loss; nothing to draw")
    with house_style():
        families = list(fonts_for([title, *(series.name for series in (train_loss, *scores))]).families)
        figure = new_figure(8.0, 5.2 if learning_rate else 4.2)
        if learning_rate:
            top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[4, 1], gridspec_kw={"hspace": 0.12})
            bottom.plot(learning_rate.x, learning_rate.y, color=SOFT_INK, linewidth=1.4)
            _plain(bottom, "step", "learning rate")
            bottom.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))
            bottom.set_ylim(bottom=0)
            _plain(top, "", "loss")
        else:
            top = figure.subplots()
            _plain(top, "step", "loss")
        lines = _loss_lines(top, train_loss, validation_loss)
        if scores:
            right = top.twinx()
            right.spines[["top", "left", "bottom"]].set_visible(False)
            right.tick_params(length=0, labelcolor=SOFT_INK)
            right.set_ylabel(" · ".join(series.name for series in scores), color=SOFT_INK, family=families)
            for number, series in enumerate(scores, start=2):
                style = {"color": SERIES_COLOURS[number % 7], "marker": SERIES_MARKERS[number % 7], "markersize": 4}
                lines += right.plot(series.x, series.y, label=series.name, linestyle=SERIES_DASHES[number % 7], **style)
            highest = max(ceiling(series.name, series.y) for series in scores)
            right.set_ylim(bottom=0, top=highest * 1.03)  # room for the marker
        above = _legend(top, lines, families)
        if title:
            top.set_title(wrapped(title, tuple(families), 12, 7), loc="left", pad=above, fontsize=12, family=families)
        _fit(figure)
    return figure


def _loss_lines(
    axes: "matplotlib.axes.Axes", train: Series, validation: Series | None
) -> list["matplotlib.lines.Line2D"]:
    """The training loss, raw and faint under its running mean where it is long, and the validation loss."""
    from matplotlib.ticker import MaxNLocator

    colour = SERIES_COLOURS[0]
    smooth = _running_mean(train.y) if len(train.y) > 60 else train.y
    if smooth is not train.y:
        axes.plot(train.x, train.y, color=colour, linewidth=0.6, alpha=0.3)
    dot = "o" if len(train.y) < 3 else None
    lines = list(axes.plot(train.x, smooth, color=colour, linewidth=1.8, marker=dot, label=train.name))
    if validation:
        lines += axes.plot(
            validation.x, validation.y, "s--", color=SERIES_COLOURS[1], markersize=4, label=validation.name
        )
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return lines


def quality_by_length(quality: LengthQuality, *, title: str = "") -> "matplotlib.figure.Figure":
    """Score against source length for each system, with its band and the number of sentences in each bin."""
    with house_style():
        families = list(fonts_for([title, quality.measure, *(system.name for system in quality.systems)]).families)
        width = max(6.0, 1.6 + 0.75 * len(quality.bins))
        figure = new_figure(width, 4.4)
        axes = figure.subplots()
        places = range(len(quality.bins))
        for number, system in enumerate(quality.systems):
            colour = SERIES_COLOURS[number % 7]
            axes.plot(
                places,
                [nan if score is None else score for score in system.scores],
                color=colour,
                marker=SERIES_MARKERS[number % 7],
                linestyle=SERIES_DASHES[number % 7],
                label=system.name,
            )
            if system.low and system.high:
                low, high = ([nan if v is None else v for v in edge] for edge in (system.low, system.high))
                axes.fill_between(places, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.set_xticks(
            places, [f"{name}\nn={count}" for name, count in zip(quality.bins, quality.counts, strict=True)]
        )
        axes.set_xlim(-0.4, len(quality.bins) - 0.6)
        _plain(axes, "source length in words, n sentences", quality.measure)
        axes.set_ylim(0, quality.ceiling * 1.03)
        above = _legend(axes, axes.get_lines(), families)
        if title:
            axes.set_title(
                wrapped(title, tuple(families), 12, width - 1), loc="left", pad=above, fontsize=12, family=families
            )
        _fit(figure)
    return figure


def bars(stages: Sequence[Bars], *, title: str = "") -> "matplotlib.figure.Figure":
    """A worked example as rows of bars, one row for each stage, each with its numbers; masked places say so."""
    if not stages:
        raise ValueError("no stages to draw; wanted at least one Bars")
    with house_style():
        texts = [title, *(text for stage in stages for text in (stage.title, *stage.labels))]
        families = list(fonts_for(texts).families)
        widest = max(len(stage.labels) for stage in stages)
        words = [visible(label) for stage in stages for label in stage.labels]
        room = max(0.6, *(text_size(word, tuple(families), 10)[0] + 0.2 for word in words))
        figure = new_figure(max(5.0, 0.4 + room * widest), 0.5 + 1.35 * len(stages))
        for axes, stage in zip(figure.subplots(len(stages), 1, squeeze=False)[:, 0], stages, strict=True):
            _draw_stage(axes, stage, families)
            axes.set_xlim(-0.5, widest - 0.5)
        if title:
            text = wrapped(title, tuple(families), 12, figure.get_figwidth() - 0.4)
            figure.suptitle(text, x=0.02, ha="left", fontsize=12, family=families)
        _fit(figure)
    return figure


def _draw_stage(axes: "matplotlib.axes.Axes", stage: Bars, families: list[str]) -> None:
    numbers = [value if value is not None and isfinite(value) else None for value in stage.values]
    drawn = [0.0 if value is None else value for value in numbers]
    places = range(len(drawn))
    axes.bar(places, drawn, color=SERIES_COLOURS[0], width=0.7)
    axes.axhline(0, color=RULE, linewidth=0.8)
    for place, value in zip(places, numbers, strict=True):
        below = value is not None and value < 0
        axes.annotate(
            "masked" if value is None else f"{value:.2f}".replace("-", "−"),
            (place, 0.0 if value is None else value),
            xytext=(0, -3 if below else 3),
            textcoords="offset points",
            ha="center",
            va="top" if below else "bottom",
            fontsize=8.5,
            color=SOFT_INK if value is None else INK,
        )
    axes.set_xticks(places, [visible(label) for label in stage.labels], family=families)
    axes.set_yticks([])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.margins(y=0.35)
    axes.set_title(stage.title, loc="left", fontsize=10, color=SOFT_INK, family=families)


def _plain(axes: "matplotlib.axes.Axes", x_name: str, y_name: str) -> None:
    """Only what carries meaning: two axes, light lines across, no ticks."""
    axes.set_xlabel(x_name)
    axes.set_ylabel(y_name)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=RULE, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelcolor=SOFT_INK)


def _legend(axes: "matplotlib.axes.Axes", lines: Sequence["matplotlib.lines.Line2D"], families: list[str]) -> float:
    """The names of the lines above the axes, as many abreast as it holds; the points that a title leaves free."""
    names = [str(line.get_label()) for line in lines]
    widest = max(text_size(name, tuple(families), 10)[0] for name in names) + 0.75
    columns = int(max(1, min(4, (axes.figure.get_figure(root=True).get_figwidth() - 1) // widest)))
    place, font = (-0.01, 1.0), {"family": families}
    axes.legend(handles=lines, frameon=False, ncols=columns, loc="lower left", bbox_to_anchor=place, prop=font)
    return 15.0 + 15.0 * -(-len(lines) // columns)


def ceiling(measure: str, values: Iterable[Number | None]) -> float:
    """The top of a score axis: 100 for BLEU, chrF, TER and percentages, 1 for fractions; it never zooms in."""
    highest = max((float(value) for value in values if value is not None and isfinite(value)), default=0.0)
    of_hundred = highest > 1 or any(name in measure.lower() for name in ("bleu", "chrf", "ter", "%", "percent"))
    return max(100.0, highest) if of_hundred else 1.0


def _running_mean(values: Sequence[float]) -> tuple[float, ...]:
    """The mean over about a fortieth of the run around each value, so that it does not lag; a gap stays a gap."""
    half = max(1, len(values) // 80)
    array = np.asarray(values)
    finite = np.isfinite(array)
    total = np.concatenate([[0.0], np.cumsum(np.where(finite, array, 0.0))])
    count = np.concatenate([[0], np.cumsum(finite)])
    first = np.maximum(np.arange(len(array)) - half, 0)
    last = np.minimum(np.arange(len(array)) + half + 1, len(array))
    means = (total[last] - total[first]) / np.maximum(count[last] - count[first], 1)
    return tuple(float(mean) for mean in np.where(finite, means, nan))


def _fit(figure: "matplotlib.figure.Figure") -> None:
    figure.set_layout_engine("constrained", w_pad=0.1, h_pad=0.1)

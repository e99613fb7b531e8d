"""Line charts: a training run, the learning curves of several, and quality by source length."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10, nan
from typing import TYPE_CHECKING, SupportsFloat

import numpy as np

from regard.plot.attention_map import Number, visible
from regard.plot.figure import (
    RULE,
    SERIES_COLOURS,
    SOFT_INK,
    fonts_for,
    house_style,
    line_style,
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
                f"{len(self.bins)} length bins and {len(self.systems)} systems; expected at least one of each"
            )
        columns: list[tuple[str, Sequence[Number | None]]] = [("counts", self.counts)]
        for system in self.systems:
            columns.append((f"scores of {system.name!r}", system.scores))
            if system.low or system.high:
                columns += [(f"low of {system.name!r}", system.low), (f"high of {system.name!r}", system.high)]
        for name, values in columns:
            if len(values) != len(self.bins):
                raise ValueError(f"{len(values)} {name} for {len(self.bins)} length bins; expected one for each bin")


def curves(
    train_loss: Series,
    *,
    validation_loss: Series | None = None,
    scores: Sequence[Series] = (),
    learning_rate: Series | None = None,
) -> "matplotlib.figure.Figure":
    """One training run: losses on the left axis, validation scores on the right, the learning rate below."""
    if not any(isfinite(value) for value in train_loss.y):
        raise ValueError(f"series {train_loss.name!r} holds no finite loss; nothing to draw")
    with house_style():
        named = [train_loss, *([validation_loss] if validation_loss else []), *scores]
        chart = _Chart.of([series.name for series in named], "", 8.0, 4.6 if learning_rate else 3.6)
        if learning_rate:
            top, bottom = chart.figure.subplots(2, 1, sharex=True, height_ratios=[4, 1], gridspec_kw={"hspace": 0.12})
            bottom.plot(learning_rate.x, learning_rate.y, color=SOFT_INK, linewidth=1.4)
            _plain(bottom, "step", "learning rate")
            bottom.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))
            bottom.set_ylim(bottom=0)
            _plain(top, "", "loss")
        else:
            top = chart.figure.subplots()
            _plain(top, "step", "loss")
        lines = _loss_lines(top, train_loss, validation_loss)
        if scores:
            right = top.twinx()
            right.spines[["top", "left", "bottom"]].set_visible(False)
            right.tick_params(length=0, labelcolor=SOFT_INK)
            right.set_ylabel(" · ".join(series.name for series in scores), color=SOFT_INK, family=chart.families)
            for number, series in enumerate(scores, start=2):
                lines += right.plot(series.x, series.y, label=series.name, markersize=4, **line_style(number))
            _score_limits(right, (value for series in scores for value in series.y))
        chart.finish(top, lines)
    return chart.figure


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


def learning_curves(series: Sequence[Series], y_name: str) -> "matplotlib.figure.Figure":
    """The scores of several runs by step."""
    drawn = [one for one in series if one.x]
    if not drawn:
        raise ValueError(f"no line to draw for {y_name!r}; expected at least one series with points")
    with house_style():
        chart = _Chart.of([one.name for one in drawn], "", 8.0, 3.6)
        axes = chart.figure.subplots()
        for number, one in enumerate(drawn):
            axes.plot(one.x, one.y, label=visible(one.name, " "), markersize=4, **line_style(number))
        _plain(axes, "step", y_name)
        axes.set_xlim(left=0)
        _score_limits(axes, (value for one in drawn for value in one.y))
        chart.finish(axes, axes.get_lines())
    return chart.figure


def quality_by_length(quality: LengthQuality, *, title: str = "") -> "matplotlib.figure.Figure":
    """Score against source length for each system, with its band and the number of sentences in each bin."""
    with house_style():
        names = [system.name for system in quality.systems]
        chart = _Chart.of(names, title, max(6.0, 1.6 + 0.75 * len(quality.bins)), 3.8)
        axes = chart.figure.subplots()
        places = range(len(quality.bins))
        for number, system in enumerate(quality.systems):
            style, label = line_style(number), visible(system.name, " ")
            axes.plot(places, _with_gaps(system.scores), label=label, **style)
            if system.low:
                low, high = _with_gaps(system.low), _with_gaps(system.high)
                axes.fill_between(places, low, high, color=style["color"], alpha=0.15, linewidth=0)
        axes.set_xticks(
            places, [f"{name}\nn={count}" for name, count in zip(quality.bins, quality.counts, strict=True)]
        )
        axes.set_xlim(-0.4, len(quality.bins) - 0.6)
        _plain(axes, "source length in words (of a character model: characters), n sentences", quality.measure)
        _score_limits(axes, (value for one in quality.systems for value in (*one.scores, *one.high)))
        chart.finish(axes, axes.get_lines(), title)
    return chart.figure


def _plain(axes: "matplotlib.axes.Axes", x_name: str, y_name: str) -> None:
    """A plain style: two axes, light grid lines, no ticks."""
    axes.set_xlabel(x_name)
    axes.set_ylabel(y_name)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=RULE, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelcolor=SOFT_INK)


def _score_limits(axes: "matplotlib.axes.Axes", values: Iterable[Number | None]) -> None:
    """Set limits from 0, so that heights compare, to a round number above all values, with room for a marker."""
    axes.set_ylim(0, ceiling(values) * 1.03)


def ceiling(values: Iterable[Number | None]) -> float:
    """The next half power-of-ten step: 35 for 31.2, 100 for 97.5, 0.9 for 0.87; 1 where nothing is above 0."""
    highest = max((float(value) for value in values if value is not None and isfinite(value)), default=0.0)
    if highest <= 0:
        return 1.0
    step = 10.0 ** floor(log10(highest)) / 2
    return round(ceil(highest / step - 1e-9) * step, 10)


def _with_gaps(values: Sequence[Number | None]) -> list[Number]:
    return [nan if value is None else value for value in values]


@dataclass(frozen=True)
class _Chart:
    """A figure that is high enough for a legend above its axes, and the fonts for its names."""

    figure: "matplotlib.figure.Figure"
    families: list[str]
    columns: int
    rows: int

    @classmethod
    def of(cls, names: Sequence[str], title: str, width: float, height: float) -> "_Chart":
        families = fonts_for([title, *names]).families
        widest = max(text_size(name, families, 10)[0] for name in names) + 0.75
        columns = int(max(1, min(4, (width - 1) // widest)))
        rows = -(-len(names) // columns)
        return cls(new_figure(width, height + 0.21 * rows + 0.3 * bool(title)), list(families), columns, rows)

    def finish(self, axes: "matplotlib.axes.Axes", lines: Sequence["matplotlib.lines.Line2D"], title: str = "") -> None:
        """Legend and title above the axes."""
        place, font = (-0.01, 1.0), {"family": self.families}
        axes.legend(handles=lines, frameon=False, ncols=self.columns, loc="lower left", bbox_to_anchor=place, prop=font)
        if title:
            text = wrapped(title, tuple(self.families), 12, self.figure.get_figwidth() - 1)
            axes.set_title(text, loc="left", pad=15.0 + 15.0 * self.rows, fontsize=12, family=self.families)
        self.figure.set_layout_engine("constrained", w_pad=0.1, h_pad=0.1)


def _running_mean(values: Sequence[float]) -> tuple[float, ...]:
    """The mean over about a fortieth of the run around each value, so that it does not lag; a gap stays a gap."""
    window = np.ones(2 * max(1, len(values) // 80) + 1)
    finite = np.isfinite(values)
    total = np.convolve(np.where(finite, values, 0.0), window, mode="same")
    count = np.convolve(finite, window, mode="same")
    return tuple(np.where(finite, total / np.maximum(count, 1), nan).tolist())

"""Charts, tables and small heat-maps of an HTML page, in the page's colours and fonts."""

import re
import warnings
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING

from regard.plot.attention_map import AttentionMap, shortened
from regard.plot.curves import LengthQuality, Series, System, learning_curves, quality_by_length
from regard.plot.figure import INK, RULE, SERIES_COLOURS, SOFT_INK, svg
from regard.plot.fonts import MissingFontWarning

if TYPE_CHECKING:
    import matplotlib.figure

_PAGE_COLOURS = {
    "#ffffff": "none",
    INK: "var(--ink)",
    SOFT_INK: "var(--soft)",
    RULE: "var(--rule)",
    **{colour: f"var(--series-{number})" for number, colour in enumerate(SERIES_COLOURS)},
}
"""The page's CSS variable for each colour of a figure: colours follow the reader's light or dark theme."""
_CELL = 15
_LETTER = 6.4
"""Width of a letter of the labels, about."""
_LONGEST_LABEL = 12
"""Letters of a label before it is cut."""


def chart_html(quality: LengthQuality) -> str:
    """Quality by source length as a chart, and the table with the same numbers."""
    name = f"{quality.measure} by source length"
    places = range(len(quality.bins))
    rows = [["sentences", *map(str, quality.counts)]]
    rows += [[system.name, *(_value(system, place) for place in places)] for system in quality.systems]
    table = table_html(f"{name}, table", ["", *quality.bins], rows, caption=f"{name} in words")
    return f"{_figure_html(lambda: quality_by_length(quality), name)}\n{table}"


def lines_html(title: str, series: Sequence[Series]) -> str:
    """Learning curves of several runs as a chart."""
    return _figure_html(lambda: learning_curves(series, title), f"{title} by step")


def table_html(
    name: str, heads: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str = "", words: Sequence[str] = ()
) -> str:
    """A plain table; the first column names the rows, the others are numbers but for those that `words` names."""
    kinds = ["" if one in words else ' class="number"' for one in heads]
    head = f'<th scope="col">{escape(heads[0])}</th>' + "".join(
        f'<th scope="col"{kind}>{escape(one)}</th>' for one, kind in zip(heads[1:], kinds[1:], strict=True)
    )
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f'<td{kind} dir="auto">{escape(cell)}</td>' for cell, kind in zip(row[1:], kinds[1:], strict=True))
        + "</tr>"
        for row in rows
    )
    about = f"<caption>{escape(caption)}</caption>" if caption else ""
    table = f'<table class="plain">{about}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'<div class="scroll" data-name="{escape(name, quote=True)}">{table}</div>'


def _figure_html(draw: Callable[[], "matplotlib.figure.Figure"], name: str) -> str:
    """The figure as inline SVG; the browser draws its text in the page's own fonts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingFontWarning)
        text = svg(draw())
    body = text[text.index("</defs>") + len("</defs>") :].replace("xlink:href", "href")
    body = re.sub(r'<g id="[^"]*"', "<g", body)  # two charts of a page would use the same ids
    body = re.sub(r"font-family: [^;\"]*;? ?", "", body)
    body = re.sub("#[0-9a-f]{6}", lambda found: _PAGE_COLOURS.get(found[0], found[0]), body)
    box = re.search('viewBox="[^"]*"', text)
    assert box is not None
    label = escape(name, quote=True)
    return (
        f'<div class="scroll" data-name="{label}, chart"><svg class="chart" {box[0]} role="img" aria-label="{label}">'
        f"{body}</div>"
    )


def _value(system: System, place: int) -> str:
    score = system.scores[place]
    if score is None:
        return "–"
    digits = 3 if max(one for one in system.scores if one is not None) <= 1 else 1
    low, high = (edge[place] if edge else None for edge in (system.low, system.high))
    band = "" if low is None or high is None else f" ({low:.{digits}f} to {high:.{digits}f})"
    return f"{score:.{digits}f}{band}"


def side_by_side_html(maps: Sequence[tuple[str, AttentionMap]]) -> str:
    """One sentence read by several models, a small map for each; rows written, columns read, the darker the more."""
    figures = "".join(
        f"<figure><figcaption>{escape(name)}</figcaption>{_small_map(name, attention)}</figure>"
        for name, attention in maps
    )
    return f'<div class="scroll" data-name="heat-maps side by side"><div class="maps">{figures}</div></div>'


def _small_map(name: str, attention: AttentionMap) -> str:
    if attention.weights is None:
        return '<p class="soft">one fixed vector: no alignment exists</p>'
    columns = [shortened(label.shown, _LONGEST_LABEL) for label in attention.source]
    rows = [shortened(label.shown, _LONGEST_LABEL) for label in attention.target]
    left, top = 8 + _LETTER * max(map(len, rows)), 8 + _LETTER * max(map(len, columns))
    width, height = left + _CELL * len(columns) + 4, top + _CELL * len(rows) + 4
    parts = []
    for number, word in enumerate(columns):
        x = left + _CELL * (number + 0.7)
        parts.append(f'<text transform="translate({x:.1f} {top - 4:.1f}) rotate(-90)">{escape(word)}</text>')
    for number, word in enumerate(rows):
        y = top + _CELL * (number + 0.75)
        parts.append(f'<text x="{left - 4:.1f}" y="{y:.1f}" text-anchor="end">{escape(word)}</text>')
    for t, row in enumerate(attention.weights.tolist()):
        for s, weight in enumerate(row):
            place = f'x="{left + _CELL * s:.1f}" y="{top + _CELL * t:.1f}" width="{_CELL}" height="{_CELL}"'
            parts.append(f'<rect class="cell" {place} fill-opacity="{weight:.3f}"/>')
            if (s, t) in attention.sure:
                parts.append(f'<rect class="gold" {place}/>')
    label = escape(f"attention of {name}; rows written, columns read", quote=True)
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    return f'<svg class="small-map" {size} role="img" aria-label="{label}">{"".join(parts)}</svg>'

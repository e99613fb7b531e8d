"""The same sentence read by several models: small heat-maps in a row, as inline SVG."""

from collections.abc import Sequence
from html import escape

from regard.plot.attention_map import AttentionMap, shortened

_CELL = 15
_LETTER = 6.4
"""Width of a letter of the labels, about."""
_LONGEST = 12
"""Letters of a label before it is cut."""


def side_by_side_html(maps: Sequence[tuple[str, AttentionMap]]) -> str:
    """One figure for each (name, map); rows were written, columns read, the darker the more."""
    figures = "".join(
        f"<figure><figcaption>{escape(name)}</figcaption>{_svg(name, attention)}</figure>" for name, attention in maps
    )
    return f'<div class="scroll" data-name="heat-maps side by side"><div class="maps">{figures}</div></div>'


def _svg(name: str, attention: AttentionMap) -> str:
    if attention.weights is None:
        return '<p class="soft">one fixed vector: no alignment exists</p>'
    columns = [shortened(label.shown, _LONGEST) for label in attention.source]
    rows = [shortened(label.shown, _LONGEST) for label in attention.target]
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

"""Quality by source length as an inline SVG with its table: no script, no network, colours from the page."""

from html import escape

from regard.plot.attention_map import Number
from regard.plot.curves import LengthQuality, System
from regard.plot.lines import legend_html, stroke

_WIDTH, _HEIGHT = 720, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 16, 34, 46
_LETTER = 7.2


def chart_html(quality: LengthQuality) -> str:
    """The chart for the eye and the table that says the same."""
    name = escape(quality.measure, quote=True)
    names = [system.name for system in quality.systems]
    fits = _LEFT + sum(52 + _LETTER * len(one) for one in names) <= _WIDTH
    chart = f'<div class="scroll" data-name="{name} by length, chart">{_svg(quality, legend=fits)}</div>'
    if not fits:
        chart += legend_html(names)
    return f'{chart}\n<div class="scroll" data-name="{name} by length, table">{_table(quality)}</div>'


def _svg(quality: LengthQuality, legend: bool) -> str:
    ceiling = quality.ceiling
    parts = []
    for tick in range(5):
        value = ceiling * tick / 4
        y = _y(value, ceiling)
        parts.append(f'<line class="rule" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
    for place, (name, count) in enumerate(zip(quality.bins, quality.counts, strict=True)):
        x = _x(place, len(quality.bins))
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - 26}" text-anchor="middle">{escape(name)}</text>')
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - 10}" text-anchor="middle">n={count}</text>')
    start = float(_LEFT)
    for number, system in enumerate(quality.systems):
        parts.append(_line(system, number, len(quality.bins), ceiling))
        if legend:
            parts.append(
                f'<line class="line" x1="{start}" x2="{start + 26}" y1="14" y2="14" {stroke(number)}/>'
                f'{_marker(start + 13, 14, number)}<text x="{start + 32}" y="18">{escape(system.name)}</text>'
            )
            start += 52 + _LETTER * len(system.name)
    name = escape(f"{quality.measure} by source length; the table below has the numbers", quote=True)
    return f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{name}">{"".join(parts)}</svg>'


def _line(system: System, number: int, bins: int, ceiling: Number) -> str:
    """One system: its band, its line broken where a bin is empty, its markers."""
    colour = f"var(--series-{number % 5})"
    path, pen_down, markers = [], False, []
    for place, score in enumerate(system.scores):
        if score is None:
            pen_down = False
            continue
        x, y = _x(place, bins), _y(score, ceiling)
        path.append(f"{'L' if pen_down else 'M'}{x:.1f} {y:.1f}")
        markers.append(_marker(x, y, number))
        pen_down = True
    line = f'<path class="line" {stroke(number)} d="{"".join(path)}"/>'
    return _band(system, colour, bins, ceiling) + line + "".join(markers)


def _band(system: System, colour: str, bins: int, ceiling: Number) -> str:
    """What lies between low and high, in pieces where a bin in between is empty."""
    runs: list[list[tuple[int, Number, Number]]] = [[]]
    for place, (low, high) in enumerate(zip(system.low, system.high, strict=True)):
        if low is None or high is None:
            runs.append([])
        else:
            runs[-1].append((place, low, high))
    pieces = []
    for run in filter(None, runs):
        upper = [f"{_x(place, bins):.1f},{_y(high, ceiling):.1f}" for place, _, high in run]
        lower = [f"{_x(place, bins):.1f},{_y(low, ceiling):.1f}" for place, low, _ in reversed(run)]
        pieces.append(f'<polygon class="band" fill="{colour}" points="{" ".join(upper + lower)}"/>')
    return "".join(pieces)


def _marker(x: Number, y: Number, number: int) -> str:
    """Circle, square, triangle, diamond: the lines differ without colour too."""
    colour = f"var(--series-{number % 5})"
    shapes = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>',
        f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" fill="{colour}"/>',
        f'<polygon points="{x - 5:.1f},{y + 4:.1f} {x + 5:.1f},{y + 4:.1f} {x:.1f},{y - 5:.1f}" fill="{colour}"/>',
        f'<polygon points="{x - 5:.1f},{y:.1f} {x:.1f},{y - 5:.1f} {x + 5:.1f},{y:.1f} {x:.1f},{y + 5:.1f}"'
        f' fill="{colour}"/>',
    )
    return shapes[number % 4]


def _table(quality: LengthQuality) -> str:
    heads = "".join(f'<th scope="col" class="number">{escape(name)}</th>' for name in quality.bins)
    counts = "".join(f'<td class="number">{count}</td>' for count in quality.counts)
    rows = [f'<tr><th scope="row">sentences</th>{counts}</tr>']
    for system in quality.systems:
        values = (_value(system, place, quality.ceiling) for place in range(len(quality.bins)))
        cells = "".join(f'<td class="number">{value}</td>' for value in values)
        rows.append(f'<tr><th scope="row">{escape(system.name)}</th>{cells}</tr>')
    return (
        f'<table class="plain"><caption>{escape(quality.measure)} by source length in words</caption>'
        f"<thead><tr><td></td>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _value(system: System, place: int, ceiling: Number) -> str:
    score = system.scores[place]
    if score is None:
        return "–"
    text = _number(score, ceiling)
    if system.low and system.high:
        low, high = system.low[place], system.high[place]
        if low is not None and high is not None:
            text += f' <span class="soft">({_number(low, ceiling)} to {_number(high, ceiling)})</span>'
    return text


def _number(value: Number, ceiling: Number) -> str:
    return f"{value:.3f}" if ceiling == 1 else f"{value:.1f}"


def _x(place: int, bins: int) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (place + 0.5) / bins


def _y(value: Number, ceiling: Number) -> float:
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - value / ceiling)

"""Several lines over a common axis as an inline SVG with a legend that wraps: learning curves of many systems."""

from collections.abc import Sequence
from html import escape

from regard.plot.curves import Series, ceiling

_WIDTH, _HEIGHT = 720, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 16, 12, 42
DASHES = ("", "7 4", "9 3 2 3", "2 4", "12 4")


def lines_html(title: str, series: Sequence[Series], *, x_name: str = "step") -> str:
    """One chart: the y axis from 0 to what the measure can reach, the x axis from 0 to the furthest point."""
    drawn = [one for one in series if one.x]
    if not drawn:
        raise ValueError(f"no line to draw for {title!r}; wanted at least one series with points")
    top = ceiling(title, (value for one in drawn for value in one.y))
    right = max(max(one.x) for one in drawn) or 1.0
    parts = []
    for tick in range(5):
        y = _y(top * tick / 4, top)
        parts.append(f'<line class="rule" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{top * tick / 4:g}</text>')
        x = _x(right * tick / 4, right)
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - 24}" text-anchor="middle">{right * tick / 4:,.0f}</text>')
    parts.append(f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 6}" text-anchor="middle">{escape(x_name)}</text>')
    for number, one in enumerate(drawn):
        places = [(_x(x, right), _y(y, top)) for x, y in zip(one.x, one.y, strict=True)]
        path = " ".join(f"{'L' if place else 'M'}{x:.1f} {y:.1f}" for place, (x, y) in enumerate(places))
        parts.append(f'<path class="line" {stroke(number)} d="{path}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="var(--series-{number % 5})"/>' for x, y in places]
    label = escape(f"{title} by {x_name}", quote=True)
    chart = (
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
    )
    return f'<div class="scroll" data-name="{label}">{chart}</div>{legend_html([one.name for one in drawn])}'


def legend_html(names: Sequence[str]) -> str:
    """A sample of each line with its name."""
    entries = "".join(
        f'<span><svg width="34" height="10" aria-hidden="true"><line class="line" x1="1" x2="33" y1="5" y2="5" '
        f"{stroke(number)}/></svg> {escape(name)}</span>"
        for number, name in enumerate(names)
    )
    return f'<p class="legend soft">{entries}</p>'


def stroke(number: int) -> str:
    """Colour and dash, which together tell twenty-five lines apart."""
    return f'stroke="var(--series-{number % 5})" stroke-dasharray="{DASHES[(number + number // 5) % 5]}"'


def _x(value: float, right: float) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * value / right


def _y(value: float, top: float) -> float:
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - value / top)

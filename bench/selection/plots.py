"""Line charts as SVG, by hand: no plotting library is needed, and the same figures give the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from xml.sax.saxutils import escape

WIDTH: Final = 640
HEIGHT: Final = 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 190, 40, 50
_COLOURS: Final = ("#0b6e4f", "#c0392b", "#2c5f9e", "#8e6c1f", "#7d3c98", "#5d6d7e", "#d35400")
_DASHES: Final = ("", "6 3", "2 3", "8 3 2 3", "1 2", "10 4", "4 4")


def chart(
    title: str, places: Sequence[str], series: Mapping[str, Sequence[float]], *, low: float, high: float, across: str, up: str
) -> str:
    """A chart of series over named places. Values outside `low` to `high` are drawn at the edge, as an open mark."""
    wide, tall = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM

    def x(place: int) -> float:
        return _LEFT + wide * (place / max(1, len(places) - 1))

    def y(value: float) -> float:
        return _TOP + tall * (1 - (min(max(value, low), high) - low) / (high - low))

    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="22" font-size="14" font-weight="bold">{escape(title)}</text>',
    ]
    steps = 6
    for step in range(steps + 1):
        value = low + (high - low) * step / steps
        drawn.append(f'<line x1="{_LEFT}" y1="{y(value):.1f}" x2="{_LEFT + wide}" y2="{y(value):.1f}" stroke="#ddd"/>')
        drawn.append(f'<text x="{_LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.2f}</text>')
    for place, name in enumerate(places):
        drawn.append(f'<text x="{x(place):.1f}" y="{_TOP + tall + 18}" text-anchor="middle">{escape(name)}</text>')
    drawn.append(f'<text x="{_LEFT + wide / 2:.1f}" y="{HEIGHT - 10}" text-anchor="middle">{escape(across)}</text>')
    drawn.append(f'<text transform="translate(14 {_TOP + tall / 2:.1f}) rotate(-90)" text-anchor="middle">{escape(up)}</text>')
    for number, (name, values) in enumerate(series.items()):
        colour, dash = _COLOURS[number % len(_COLOURS)], _DASHES[number % len(_DASHES)]
        line = " ".join(f"{x(place):.1f},{y(value):.1f}" for place, value in enumerate(values))
        stroke = f'stroke="{colour}" stroke-width="{3 if number == 0 else 1.6}"' + (f' stroke-dasharray="{dash}"' if dash else "")
        drawn.append(f'<polyline points="{line}" fill="none" {stroke}/>')
        for place, value in enumerate(values):
            inside = low <= value <= high
            drawn.append(
                f'<circle cx="{x(place):.1f}" cy="{y(value):.1f}" r="3" fill="{colour if inside else "white"}" stroke="{colour}"/>'
            )
        key = _TOP + 14 + 20 * number
        drawn.append(f'<line x1="{_LEFT + wide + 14}" y1="{key}" x2="{_LEFT + wide + 44}" y2="{key}" {stroke}/>')
        drawn.append(f'<text x="{_LEFT + wide + 50}" y="{key + 4}">{escape(name)}</text>')
    return "\n".join([*drawn, "</svg>"]) + "\n"

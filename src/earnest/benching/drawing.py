"""A picture of a measurement, as SVG: bars of what was found, and the trade between being silent and being wrong."""

from __future__ import annotations

from html import escape
from textwrap import wrap
from typing import Final

from earnest.benching.recall import Arm, RecallBench

_LEFT: Final = 190
_BAR: Final = 300
_ROW: Final = 62
_TOP: Final = 92
_WIDTH: Final = 800
_LINE: Final = 118
_NAME: Final = 20
_MIDDLE: Final = 27
_DEPTHS: Final = ((1, "#1f5673", "#3f8fba"), (5, "#4f8fb0", "#74b4d3"), (10, "#a9cfe0", "#c3e1ee"))
"""How many of the first, and the colour of its bar on white and on black."""
_STYLE: Final = (
    "text{font-family:system-ui,sans-serif;font-size:12px;fill:#222;font-variant-numeric:tabular-nums}"
    "text.t{font-size:16px;font-weight:600}text.s{fill:#666}text.e{text-anchor:end}rect.whole{fill:#f0f0f0}"
    + "".join(f"rect.d{depth}{{fill:{light}}}" for depth, light, _ in _DEPTHS)
    + "@media(prefers-color-scheme:dark){text{fill:#ddd}text.s{fill:#aaa}rect.bg{fill:#1b1b1b}rect.whole{fill:#2b2b2b}"
    + "".join(f"rect.d{depth}{{fill:{dark}}}" for depth, _, dark in _DEPTHS)
    + "}"
)


def picture(bench: RecallBench) -> str:
    """The SVG text of one measurement: for each way to search the shares found among the first 1, 5 and 10, wrong answers and times.

    Readable without colours: every bar has its number.
    """
    # Pictures do not break lines by themselves.
    reasons = [line for reason in bench.reasons for line in wrap(f"• {reason}", _LINE)]
    height = _TOP + _ROW * len(bench.arms) + 34 + 18 * len(reasons)
    asked = sum(bench.questions.values())
    about = f"{asked} questions with known answers, {bench.off_topic} about something else, {bench.entries:,} of {bench.total:,} entries"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="{escape(about, quote=True)}">',
        f"<style>{_STYLE}</style>",
        f'<rect class="bg" width="{_WIDTH}" height="{height}" fill="#fff"/>',
        _text(20, 30, "Recall on this memory's own entries", "t"),
        _text(20, 50, about, "s"),
        _text(_LEFT, 78, "found among the first 1, 5 and 10", "s"),
        _text(_LEFT + _BAR + 70, 78, "false answers", "s"),
        _text(_LEFT + _BAR + 190, 78, "p50 / p95 ms", "s"),
    ]
    for number, arm in enumerate(bench.arms):
        parts += _row(arm, _TOP + number * _ROW, arm.languages != bench.present.get("languages"))
    at = _TOP + _ROW * len(bench.arms) + 20
    parts += [_text(20 if reason.startswith("•") else 29, at + 18 * number, reason) for number, reason in enumerate(reasons)]
    return "\n".join([*parts, "</svg>", ""])


def _row(arm: Arm, top: int, other: bool) -> list[str]:
    named = [(line, "") for line in wrap(arm.name, _NAME, max_lines=2 if other else 3, placeholder="…")]
    named += [("with more languages", "s")] if other else []
    first = top + _MIDDLE - 8 * (len(named) - 1)
    parts = [_text(20, first + 16 * number, line, kind) for number, (line, kind) in enumerate(named)]
    for number, (depth, _, _) in enumerate(_DEPTHS):
        share = arm.recall[depth]
        y = top + number * 16
        parts.append(_text(_LEFT - 8, y + 11, str(depth), "s e"))
        parts.append(f'<rect class="whole" x="{_LEFT}" y="{y}" width="{_BAR}" height="14"/>')
        parts.append(f'<rect class="bar d{depth}" x="{_LEFT}" y="{y}" width="{_BAR * share:.1f}" height="14"/>')
        parts.append(_text(_LEFT + _BAR + 40, y + 11, f"{share:.0%}", "e"))
    if arm.floor is not None and arm.false is not None and arm.false_at is not None:
        parts.append(_text(_LEFT + _BAR + 70, top + 20, f"{arm.false:.0%}"))
        parts.append(_text(_LEFT + _BAR + 70, top + 36, f"{arm.false_at:.0%} at floor {arm.floor:g}", "s"))
    else:
        parts.append(_text(_LEFT + _BAR + 70, top + _MIDDLE, "–", "s"))
    parts.append(_text(_LEFT + _BAR + 190, top + _MIDDLE, f"{arm.p50:.1f} / {arm.p95:.1f}"))
    return parts


def _text(x: int, y: int, words: str, kind: str = "") -> str:
    shown = f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}"{shown}>{escape(words)}</text>'

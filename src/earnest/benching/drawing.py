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
_LINE: Final = 110
_DEPTHS: Final = ((1, "#1f5673"), (5, "#4f8fb0"), (10, "#a9cfe0"))
_STYLE: Final = (
    "text{font-family:system-ui,sans-serif;font-size:12px;fill:#222}.t{font-size:16px;font-weight:600}.s{fill:#666}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.s{fill:#999}rect.bg{fill:#1b1b1b}}"
)


def picture(bench: RecallBench) -> str:
    """The SVG text of one measurement: for each way to search the shares found among the first 1, 5 and 10, wrong answers and times.

    Readable without colours: every bar has its number.
    """
    # Pictures do not break lines by themselves.
    reasons = [line for reason in bench.reasons for line in wrap(reason, _LINE)]
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
        _text(_LEFT, 78, "found among the first 1, 5, 10", "s"),
        _text(_LEFT + _BAR + 60, 78, "false answers", "s"),
        _text(_LEFT + _BAR + 170, 78, "p50 / p95 ms", "s"),
    ]
    for number, arm in enumerate(bench.arms):
        parts += _row(arm, _TOP + number * _ROW, arm.languages != bench.present.get("languages"))
    at = _TOP + _ROW * len(bench.arms) + 20
    parts += [_text(20, at + 18 * number, reason) for number, reason in enumerate(reasons)]
    return "\n".join([*parts, "</svg>", ""])


def _row(arm: Arm, top: int, other: bool) -> list[str]:
    parts = [_text(20, top + 20, arm.name)]
    if other:
        parts.append(_text(20, top + 36, "with more languages", "s"))
    for number, (depth, colour) in enumerate(_DEPTHS):
        share = arm.recall[depth]
        y = top + number * 16
        parts.append(f'<rect x="{_LEFT}" y="{y}" width="{_BAR * share:.1f}" height="14" fill="{colour}"/>')
        parts.append(_text(_LEFT + int(_BAR * share) + 6, y + 11, f"{share:.0%}"))
    if arm.floor is not None and arm.false is not None and arm.false_at is not None:
        parts.append(_text(_LEFT + _BAR + 60, top + 20, f"{arm.false:.0%}"))
        parts.append(_text(_LEFT + _BAR + 60, top + 36, f"{arm.false_at:.0%} at floor {arm.floor:g}", "s"))
    parts.append(_text(_LEFT + _BAR + 170, top + 20, f"{arm.p50:.1f} / {arm.p95:.1f}"))
    return parts


def _text(x: int, y: int, words: str, kind: str = "") -> str:
    shown = f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}"{shown}>{escape(words)}</text>'

"""The report of a results file: every row of the targets, every kind of question, the silence curve, the plain notes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from bench.recall.conversations import KINDS, TUNING
from bench.recall.measures import Row, mean

Where = Callable[[Row], bool]

TESTED: Final[Where] = lambda row: row.conversation not in TUNING and row.kind != 5  # noqa: E731
ADVERSARIAL: Final[Where] = lambda row: row.conversation not in TUNING and row.kind == 5  # noqa: E731
MULTI_HOP: Final[Where] = lambda row: row.conversation not in TUNING and row.kind == 1  # noqa: E731
EVERY: Final[Where] = lambda row: True  # noqa: E731

LINES: Final[Sequence[tuple[str, str, Where, float, float]]] = (
    ("test 8, kinds 1-4: R@10", "recall10", TESTED, 0.74, 0.78),
    ("test 8, kinds 1-4: nDCG@10", "ndcg10", TESTED, 0.58, 0.62),
    ("test 8, kind 5 (adversarial): R@10", "recall10", ADVERSARIAL, 0.85, 0.87),
    ("all 10, kinds 1-5: R@5", "recall5", EVERY, 0.68, 0.72),
    ("all 10, kinds 1-5: R@10", "recall10", EVERY, 0.78, 0.82),
    ("all 10, kinds 1-5: nDCG@10", "ndcg10", EVERY, 0.59, 0.62),
    ("test 8, multi-hop: R@10", "recall10", MULTI_HOP, 0.46, 0.52),
    ("all 10: session any@5", "session5", EVERY, 0.955, 0.955),
    ("all 10: session any@10", "session10", EVERY, 0.985, 0.985),
)
"""What is to be reached: the line, the measure, the questions, without an embedder and with the local model."""

_KEPT_BY: Final = (
    ("kept", "if each hit must clear it"),
    ("kept_told", "hit by hit, as prompts are told"),
    ("kept_if_any", "where memory speaks at all"),
)
KEPT: Final = 0.95
SLACK: Final = 0.005
"""What a figure over the notes may lie below plain keyword search by: less than half a question in a hundred."""
OFF_TOPIC: Final = 0.10
ALLOWED: Final = 0.05
"""What the floor is calibrated to: a little less than may be reached, because other conversations are not the tuning ones."""


def rows_of(results: Mapping[str, Any], arm: str) -> list[Row]:
    """The rows of one arm, as they were."""
    return [Row(*row) for row in results["rows"][arm]]


def lines(results: Mapping[str, Any]) -> Iterator[str]:
    """The whole report, line by line."""
    yield f"recall, {results['command']}"
    arms = [*results["rows"]]
    width = max(len(arm) for arm in arms)
    if results["tune"]:
        yield "tuning view: conv-26 and conv-30 alone, the only ones that weights may be chosen on"
    yield ""
    names = " | ".join((f"{'R@5':>6} {'R@10':>6} {'nDCG':>6}", f"{'adv':>6} {'multi':>6}", f"{'R@5':>6} {'R@10':>6} {'nDCG':>6}"))
    yield f"{'arm':{width}}  {names} {'s@5':>6} {'s@10':>6}"
    yield f"{'':{width}}  {'test 8, kinds 1-4':>20} | {'test 8':>13} | {'all, kinds 1-5':>20}"
    for arm in arms:
        rows = rows_of(results, arm)
        first = [mean(rows, of, TESTED) for of in ("recall5", "recall10", "ndcg10")]
        second = [mean(rows, "recall10", where) for where in (ADVERSARIAL, MULTI_HOP)]
        third = [mean(rows, of) for of in ("recall5", "recall10", "ndcg10", "session5", "session10")]
        yield f"{arm:{width}}  " + " | ".join(" ".join(f"{value:6.3f}" for value in part) for part in (first, second, third))
    yield from _kinds(results, arms, width)
    yield from _targets(results, arms)
    yield from _silence(results)
    yield from _notes(results, width)
    for missing in results["missing"]:
        yield f"not run: {missing}"


def _kinds(results: Mapping[str, Any], arms: Sequence[str], width: int) -> Iterator[str]:
    yield ""
    yield "R@10 / nDCG@10 by kind of question, all conversations of this run"
    yield f"{'':{width}}  " + "  ".join(f"{name:>13}" for name in KINDS.values())
    for arm in arms:
        rows = rows_of(results, arm)
        cells = []
        for kind in KINDS:
            of_kind: Where = lambda row, kind=kind: row.kind == kind  # type: ignore[misc]  # noqa: E731
            cells.append(f"{mean(rows, 'recall10', of_kind):6.3f} /{mean(rows, 'ndcg10', of_kind):5.3f}")
        yield f"{arm:{width}}  " + "  ".join(f"{cell:>13}" for cell in cells)


def _targets(results: Mapping[str, Any], arms: Sequence[str]) -> Iterator[str]:
    if results["tune"]:
        return
    for arm in [arm for arm in arms if arm.startswith("Earnest") and arm.endswith("(default)")]:
        rows = rows_of(results, arm)
        yield ""
        yield f"targets: {arm}"
        for name, of, where, bare, local in LINES:
            reach = bare if "no embedder" in arm else local
            value = mean(rows, of, where)
            yield f"  {name:36} {value:.3f}  reach {reach:.3f}  {'reached' if value >= reach else 'NOT REACHED'}"


def _silence(results: Mapping[str, Any]) -> Iterator[str]:
    for arm, found in results["silence"].items():
        yield ""
        where = f"calibrated on {' and '.join(TUNING)} to {found['allowed']:.0%} of off-topic questions"
        yield f"silence: {arm}; floor {found['floor']:.2f}, {where}"
        yield "  floor  off-topic  nonsense  recall kept, hit by hit  as prompts are told  if the surest clears it"
        for point in found["curve"]:
            mark = " <" if point["floor"] == found["floor"] else ""
            yield (
                f"  {point['floor']:5.2f}  {point['off_topic']:9.3f}  {point['nonsense']:8.3f}  {point['kept']:23.3f}  "
                f"{point.get('kept_told', math.nan):19.3f}  {point['kept_if_any']:23.3f}{mark}"
            )
        at = next(point for point in found["curve"] if point["floor"] == found["floor"])
        quiet = at["off_topic"] <= OFF_TOPIC and at["nonsense"] == 0
        yield f"  reach: off-topic ≤ {OFF_TOPIC:.2f} and nonsense 0, while at least {KEPT:.2f} of the recall is kept"
        for of, how in ((of, how) for of, how in _KEPT_BY if of in at):
            yield f"    {how}: {at[of]:.3f} kept, {'reached' if quiet and at[of] >= KEPT else 'NOT REACHED'}"
        if "right" not in at:
            # A file that was written before what prompts are told was measured.
            continue
        yield (
            f"  right at this floor: {at['right']:.1%} of the hits that clear it, {at['right_narrowly']:.1%} of those that do narrowly, "
            f"{at['right_followers']:.1%} of their followers; an off-topic question is told {at['noise']:.2f} hits"
        )


def _notes(results: Mapping[str, Any], width: int) -> Iterator[str]:
    if not results["notes"]:
        return
    yield ""
    size = results["notes_size"]
    yield f"plain notes: {size['notes']} paragraphs of docs/, {size['questions']} headings as questions; below means by more than {SLACK}"
    yield f"{'':{width}}  {'R@5':>6} {'R@10':>6} {'nDCG':>6}"
    plain = results["notes"].get("Earnest, words alone, no context")
    for arm, values in results["notes"].items():
        below = plain is not None and arm.endswith("(default)") and any(v < p - SLACK for v, p in zip(values, plain, strict=True))
        yield f"{arm:{width}}  " + " ".join(f"{value:6.3f}" for value in values) + ("  BELOW plain keyword search" if below else "")

"""Uplift: what randomised decisions say about a memory, an entry or a rule, by the outcomes of one meter."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from earnest.core.reports import Finding
from earnest.core.settings import Settings
from earnest.core.uplift import Against, Drawn, SettledDraw, Uplift, compared, verdict
from earnest.protocols import Reading

UNMEASURED_AFTER: Final = 500
"""Settlements after which it is worth a hint that nobody knows whether memory helps."""
MIN_DRAWN: Final = 20
"""Draws that each arm must have before their losses are compared."""
ATTRITION: Final = 0.1
"""Difference of lost outcomes between the arms from which it is named, if it also lies three standard errors from none."""
PAYS: Final = 0.02
"""An effect below this part of the bound is none that anybody would keep a memory for."""


_MOST: Final = 1e150


def contrast(row: SettledDraw, against: Against) -> tuple[bool, float] | None:
    """Whether a decision was shown, and how probable that was of the two arms compared; None if it belongs to neither.

    Against "nothing", decisions that memory answered stand beside those in which all of it was withheld. Against "rival", beside
    those in which this entry alone was; where nobody would have answered in its place, the two are the same.
    """
    draw = row.draw
    arm, other = "all", draw.all
    if against == "rival":
        if draw.alone > 0:
            arm, other = "alone", draw.alone
        elif draw.rival_row is not None:
            return None
    if other <= 0 or draw.arm not in ("shown", arm):
        return None
    return draw.arm == "shown", draw.shown / (draw.shown + other)


def measured(
    rows: Sequence[SettledDraw], ends: Mapping[tuple[str, str], int], settings: Settings, *, against: Against, alpha: float, **of: Any
) -> Uplift:
    """What these decisions say, in the order in which they were settled. O(rows).

    `ends` counts all draws by arm and state; `of` names the meter and the entry.
    """
    bound = settings.uplift_bound
    chosen = [(row, *arm) for row in rows if (arm := contrast(row, against)) is not None]
    comparison = compared(Drawn(row.draw.entry_row, shown, exposure, _in_scales(row) / bound) for row, shown, exposure in chosen)
    outcomes = {arm: [_in_scales(row) for row, shown, _ in chosen if shown is arm] for arm in (True, False)}
    shown_mean, withheld_mean = _mean(outcomes[True]), _mean(outcomes[False])
    cut = sum(abs(y) > bound for ys in outcomes.values() for y in ys)
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    if shown_mean is None or withheld_mean is None:
        told = _unmeasured(settings, len(chosen))
    else:
        least, most = comparison.interval(alpha)
        told = verdict(comparison, least, most, alpha, settings.holdout)
        low, high = least * bound, most * bound
        effect = min(max(comparison.effect * bound, low), high)
        if cut and (shown_mean - withheld_mean) * effect < 0:
            told += f"; uncut, the averages point the other way: outcomes beyond {bound:g} scale count as that, see uplift_bound"
    lost_shown, lost_withheld = _lost(ends, "shown"), _lost(ends, "all")
    if against == "rival" and any(arm == "alone" for arm, _ in ends):
        lost_withheld = _lost(ends, "alone")
    return Uplift(
        effect, low, high, comparison.decisions, comparison.withheld, told, against=against, alpha=alpha, bound=bound,
        shown_mean=shown_mean, withheld_mean=withheld_mean, cut=cut, lost_shown=lost_shown, lost_withheld=lost_withheld,
        tiers=dict(sorted(Counter(row.tier for row, _, _ in chosen).items())), **of,
    )  # fmt: skip


def _in_scales(row: SettledDraw) -> float:
    """The outcome in scales; a huge one over a tiny scale stays a number that can be summed up."""
    return max(-_MOST, min(_MOST, row.delta / row.scale))


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _lost(ends: Mapping[tuple[str, str], int], arm: str) -> int:
    return ends.get((arm, "abandoned"), 0) + ends.get((arm, "expired"), 0)


def _unmeasured(settings: Settings, decisions: int) -> str:
    if not settings.holdout:
        return "unmeasured (holdout is 0)"
    if decisions:
        return "unmeasured (no outcome of both kinds yet, shown and withheld)"
    return "unmeasured (no outcome of a randomised decision yet)"


def findings(reading: Reading, settings: Settings, totals: Mapping[str, Any]) -> Iterator[Finding]:
    """What `doctor` says about holdouts. O(1) until decisions have been withheld; then O(the randomised decisions)."""

    def n(name: str) -> int:
        return int(totals.get(name, 0))

    withheld = n("drawn:all")
    if not settings.holdout and not withheld and n("settled") >= UNMEASURED_AFTER:
        yield Finding(
            "uplift_unmeasured",
            "info",
            "Nobody knows whether this memory helps: no decision was ever made without it.",
            f"{n('settled')} settlements, no holdout",
            "withhold memory from one decision in ten: `earnest config holdout 0.1`, later `earnest uplift`",
        )
    yield from _attrition(n)
    if withheld < MIN_DRAWN:
        return
    ends = reading.draws_ended()
    for meter in reading.drawn_meters():
        made = measured(reading.settled_draws(meter), ends, settings, against="nothing", alpha=0.05, meter=meter)
        if made.high is not None and made.high < PAYS * made.bound:
            seen = f"{made.low:+.3f} to {made.high:+.3f} of meter {meter}'s scale a decision"
            yield Finding(
                "memory_does_not_pay",
                "error" if made.high < 0 else "warning",
                "Decisions go better without this memory." if made.high < 0 else "Decisions go just as well without this memory.",
                f"{seen}, over {made.decisions} decisions of which {made.holdouts} were withheld",
                "see which entries do harm: `earnest uplift --entries`; forget or correct them, or raise the floor",
            )


def _attrition(n: Any) -> Iterator[Finding]:
    shown, withheld = n("drawn:shown"), n("drawn:alone") + n("drawn:all")
    if min(shown, withheld) < MIN_DRAWN:
        return
    lost_shown, lost_withheld = n("drawn_lost:shown"), n("drawn_lost:alone") + n("drawn_lost:all")
    apart = lost_withheld / withheld - lost_shown / shown
    pooled = (lost_shown + lost_withheld) / (shown + withheld)
    if abs(apart) > ATTRITION and apart**2 > 9 * pooled * (1 - pooled) * (1 / shown + 1 / withheld):
        yield Finding(
            "holdout_attrition",
            "warning",
            "Withheld decisions end without an outcome at another rate than the others, so that the uplift may be wrong.",
            f"{lost_withheld} of {withheld} withheld ones and {lost_shown} of {shown} others were abandoned or expired",
            "settle a ticket with holdout=True like any other: do without memory, measure what happens, settle it",
        )

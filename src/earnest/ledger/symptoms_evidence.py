"""What `doctor` looks for where selection goes by evidence: meters that tell nothing, second looks that nobody takes, lives on waived rent.

Each check is a function of a snapshot; each threshold is a named constant. `doctor` lists them in its table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from earnest.core.amounts import RENT
from earnest.core.reports import Finding
from earnest.core.settings import Settings
from earnest.protocols import Reading

WAIVER_TICKS: Final = 50
"""Ticks that are looked back on, and"""
MIN_WAIVED_TICKS: Final = 10
"""how many of them must have waived rent before anything is said."""
WAIVED: Final = 0.9
"""Part of the rent of those ticks that was waived from which a store lives on waivers: less is a store in which protective and earning
entries live side by side, as they should."""

APPEAL_TICKS: Final = 10
"""Ticks that a second look may be wanted before it is named: twice as long as a burial waits for it."""


def lying_meters(reading: Reading, settings: Settings, totals: Mapping[str, Any]) -> Iterator[Finding]:
    """Meters whose words contradict one another so much that they carry next to no information. O(meters)."""
    if settings.rule != "evidence":
        return
    revoked = reading.revoked()
    beliefs = {name: kept for name, kept in reading.beliefs().items() if name not in revoked}
    alarmed = [name for name, (_, _, _, alarm) in beliefs.items() if alarm]
    if not alarmed:
        return
    belief = beliefs[alarmed[0]][0]
    yield Finding(
        "lying_meter",
        "error" if len(alarmed) == len(beliefs) else "warning",
        "A meter is in alarm: its outcomes contradict one another so often that they tell hardly anything, and move nothing.",
        f"{', '.join(alarmed)}: a lie rate of {belief.rate:.0%} learned from {belief.counted:.0f} words of {alarmed[0]}",
        f"look at how it measures; measure doing nothing (`earnest control`) if its resource moves by itself; let a second instrument look "
        f"again (`earnest remeasure`); if it lies, `earnest meters revoke {alarmed[0]}`",
    )


def unanswered_appeals(reading: Reading, settings: Settings, totals: Mapping[str, Any]) -> Iterator[Finding]:
    """Second looks that are wanted and that nobody takes, although there is an instrument that took some."""
    if settings.rule != "evidence" or not totals.get("looks"):
        return
    oldest = reading.appeals(None, 1)
    waits = int(totals.get("tick", 0)) - oldest[0].since if oldest else 0
    if waits >= APPEAL_TICKS:
        yield Finding(
            "appeals_unanswered",
            "warning",
            "Second looks are wanted and nobody takes them: entries are judged, and die, by one meter's word.",
            f"the oldest has been wanted for {waits} ticks: ticket {oldest[0].ticket}, about entry {oldest[0].entry}",
            "measure them again by another instrument: `earnest remeasure --wanted` lists them",
        )


def waivers(reading: Reading, settings: Settings, totals: Mapping[str, Any]) -> Iterator[Finding]:
    """Stores whose entries live because their rent is waived: nothing that they advise can be measured. O(the last ticks)."""
    if settings.rule != "evidence" or not totals.get("settled"):
        return
    ticks = reading.events(entry=None, kind="tick", after=0, limit=WAIVER_TICKS, newest=True)
    waived = [sum(posting.amount for posting in reading.postings(event.seq) if posting.debit == RENT) for event in ticks]
    charged = sum(int(event.data["rent"]) for event in ticks)
    if sum(amount > 0 for amount in waived) >= MIN_WAIVED_TICKS and sum(waived) >= WAIVED * (sum(waived) + charged):
        yield Finding(
            "living_on_waivers",
            "info",
            "Entries live because their rent is waived: they are asked and followed, but nothing comes of it that could be measured.",
            f"{sum(waived) / (sum(waived) + charged):.0%} of the rent of the last {len(ticks)} ticks was waived",
            "if they only protect, that is as it should be; else put a price on doing nothing, or measure a resource that moves",
        )

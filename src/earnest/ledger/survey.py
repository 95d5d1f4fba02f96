"""Looking a memory over: what people see of its entries, its clock and its accounts. Changes nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from earnest.core.amounts import micro
from earnest.core.entry import StoredEntry
from earnest.core.evidence import RULE, heard, sigmoid, weigh
from earnest.core.settings import Settings
from earnest.core.survey import Balances, Card, History, Judged, Life, Point, Verdict
from earnest.ledger.inquiry import open_one
from earnest.ledger.life import obituary
from earnest.ledger.testimony import Testimony
from earnest.protocols import Reading

TICKETS: Final = 50
VERDICTS: Final = 100


def cards(reading: Reading, settings: Settings, stored: Sequence[StoredEntry]) -> list[Card]:
    """Entries with how they stand. O(their latest words)."""
    testimony = Testimony(reading, settings)
    return [_card(one, settings, testimony) for one in stored]


def _card(stored: StoredEntry, settings: Settings, testimony: Testimony) -> Card:
    entry, rent = stored.entry, micro(settings.rent)
    pays = entry.alive and entry.retention == "earned" and not entry.pinned and rent > 0
    evidence = testimony.weigh(stored.row) if entry.last_settled_tick is not None else None
    told = evidence is not None and evidence.words > 0
    return Card(
        entry=entry,
        open_tickets=stored.open_tickets,
        probation=stored.probation,
        runway=max(0, -(-entry.balance // rent)) if pays else None,
        chance=evidence.probability if evidence is not None and told else None,
        words=evidence.words if evidence is not None else 0,
    )


def life(reading: Reading, settings: Settings, stored: StoredEntry) -> Life:
    """One entry with everything that happened to it. O(its words, twice, and its events)."""
    testimony = Testimony(reading, settings)
    tickets = [ticket for name in reading.tickets_of(stored.row, TICKETS) if (ticket := reading.ticket(name)) is not None]
    tick = reading.counter("tick")
    return Life(
        card=_card(stored, settings, testimony),
        tickets=tuple(open_one(ticket, tick) for ticket in tickets),
        verdicts=tuple(Verdict(*row) for row in reading.settlements_of(stored.row, VERDICTS)),
        judged=tuple(_judged(testimony, stored)),
        heirs=tuple(reading.heirs_of(stored.row)),
        story=obituary(reading, stored),
        prior=sigmoid(RULE.prior_odds),
    )


def _judged(testimony: Testimony, stored: StoredEntry) -> list[Judged]:
    """The evidence of an entry as it grew, outcome by outcome, with the meters as they are believed now."""
    said = heard(testimony.words(stored.row), testimony.beliefs)
    words = [one.word for one in said]
    return [
        Judged(
            one.word.event, one.word.tick, one.meter, one.size, one.word.second is not None,
            weigh(words[: place + 1], testimony.beliefs).probability,
        )
        for place, one in enumerate(said)
    ]  # fmt: skip


def history(reading: Reading, ticks: int, before: int | None) -> History:
    """The last ticks, or those before an event, oldest first. O(ticks, and who died and what was settled in them)."""
    found = reading.events(entry=None, kind="tick", after=before or 0, limit=ticks + 1, newest=True)
    more = len(found) > ticks
    shown = found[:ticks][::-1]
    if not shown:
        return History((), (), False)
    first = found[ticks].tick + 1 if more else 0
    died: dict[int, dict[str, int]] = defaultdict(dict)
    for tick, cause, count in reading.died_by_tick(first, shown[-1].tick):
        died[max(tick, shown[0].tick)][cause] = died[max(tick, shown[0].tick)].get(cause, 0) + count
    points = tuple(
        Point(
            event.seq, event.tick, event.at, event.data["population"], event.data.get("suspended", 0), event.data.get("pending", 0),
            event.data.get("expired", 0), event.data["energy"], event.data["rent"], died.get(event.tick, {}),
        )
        for event in shown
    )  # fmt: skip
    until = reading.counter("tick") if before is None else shown[-1].tick
    return History(points, tuple(reading.settled_by_tick(first, until)), more)


def balances(reading: Reading, settings: Settings, buckets: int) -> Balances:
    """How much is held by how many. One look along an index."""
    step = max(1, -(-micro(settings.cap) // buckets))
    counts, pinned = reading.holdings(step, buckets)
    return Balances(step, tuple(counts), pinned)

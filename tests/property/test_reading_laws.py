"""Reading makes nothing worth more than it is: links grow with time and not with trips, and importance is earned by outcomes alone."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from earnest import Memory
from earnest.core import links
from earnest.core.links import Link
from earnest.graph import OrganicMemory
from earnest.testing.clock import ManualClock, SeededRng

NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
DAY: Final = 86_400.0
TRIPS: Final = 10_000
ASK: Final = "Which port does the gateway use?"


def ceiling(weight: float, days: float) -> float:
    """What a link can weigh at most after so many days of being travelled without a pause: ``1 - (1 - w) 2^(-days / 4)``."""
    return 1.0 - (1.0 - weight) * math.exp(-links.LEARNS * math.log(2) * days)


@settings(max_examples=10, deadline=None)
@given(st.floats(links.LEAST, 1.0), st.floats(0.0, 600.0), st.floats(0.1, 1000.0), st.booleans())
def test_ten_thousand_trips_are_worth_no_more_than_the_time_they_took(weight: float, pause: float, half_life: float, stated: bool) -> None:
    link = Link(1, 2, "related" if stated else "entity", weight, "", stated, NOW)
    now = NOW
    for _ in range(TRIPS):
        now += timedelta(seconds=pause)
        link = links.travelled(link, now, half_life)
        assert links.LEAST <= link.weight <= 1.0
    assert link.trips == TRIPS and link.weight <= ceiling(weight, (now - NOW).total_seconds() / DAY) + 1e-9
    if not stated:
        # And what was gained so fades as anything does.
        later = links.weight(link, now + timedelta(days=half_life), half_life)
        assert later == link.weight / 2 or math.isclose(later, link.weight / 2, rel_tol=1e-9)


@given(st.floats(links.LEAST, 1.0), st.lists(st.floats(0.0, 400.0), max_size=60))
def test_no_rhythm_of_trips_beats_travelling_without_a_pause(weight: float, pauses: list[float]) -> None:
    link, now = Link(1, 2, "related", weight, "", True, NOW), NOW
    for days in pauses:
        now += timedelta(days=days)
        before = link.weight
        link = links.travelled(link, now, 90.0)
        assert link.weight - before <= links.LEARNS * (1.0 - before) + 1e-12
    assert link.weight <= ceiling(weight, sum(pauses)) + 1e-9


def _read(memory: Memory, name: str, how: str, clock: ManualClock) -> None:
    """One way to read an entry, or to say something of it that is no measurement."""
    if how == "search":
        memory.search(ASK, links=True, weigh="importance")
    elif how == "answer":
        memory.answer(ASK)
    elif how == "prefetch":
        memory.prefetch(ASK)
    elif how == "organic":
        OrganicMemory(memory).recall(ASK)
    elif how == "recalled":
        memory.recalled([name] * 20)
    elif how == "helpful":
        memory.feedback(name, "helpful")
    elif how == "abandoned":
        ticket = memory.decide(ASK)
        if ticket.id:
            memory.abandon(ticket.id)
    else:
        clock.advance(days=1)
        memory.tick()


ways = st.lists(
    st.sampled_from(["search", "answer", "prefetch", "organic", "recalled", "helpful", "abandoned", "tick"]), min_size=1, max_size=25
)


@settings(max_examples=25, deadline=None)
@given(ways, st.sampled_from([0.0, 1.0, -1.0]))
def test_nothing_that_a_reader_does_makes_an_entry_more_important(script: list[str], outcome: float) -> None:
    clock = ManualClock(NOW)
    with Memory.open(clock=clock, rng=SeededRng(1), embedder="none") as memory:
        read = memory.add("The gateway uses port 8080.", retention="kept")
        unread = memory.add("The database uses port 5432.", retention="kept")
        for entry in (read, unread) if outcome else ():
            ticket = memory.decide(entry.text)
            assert ticket.id and ticket.deciding and ticket.deciding.id == entry.id
            memory.settle(ticket.id, delta=outcome, meter="ci", scale=1)
        memory.tick()  # what the meter is worth is learned from the outcomes
        before: dict[str, Any] = {entry.id: memory.earned(entry.id) for entry in (read, unread)}
        for how in script:
            _read(memory, read.id, how, clock)
        memory.tick()
        assert memory.earned(read.id) == before[read.id] and memory.earned(unread.id) == before[unread.id]
        assert memory.earned(read.id) == memory.earned(unread.id), "the one that nobody read has earned as much"
        assert memory.get(read.id).importance == read.importance and memory.get(read.id).balance == memory.get(unread.id).balance
        assert memory.check().ok

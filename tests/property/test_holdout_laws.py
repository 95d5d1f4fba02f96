"""The laws of the ledger hold with decisions withheld at random, in any order of verbs."""

from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from earnest import Memory
from earnest.core.uplift import Drawn, compared
from earnest.errors import NotAllowed
from earnest.ledger.uplift import contrast
from earnest.testing import ManualClock, SeededRng

WORDS = ("zebra", "horse", "mule")
verbs = st.lists(
    st.one_of(
        st.tuples(st.just("decide"), st.sampled_from(WORDS)),
        st.tuples(st.just("settle"), st.tuples(st.integers(0, 30), st.sampled_from((-2.0, -0.3, 0.0, 0.5, 3.0)))),
        st.tuples(st.just("abandon"), st.integers(0, 30)),
        st.tuples(st.just("tick"), st.integers(1, 4)),
        st.tuples(st.just("forget"), st.sampled_from(WORDS)),
        st.tuples(st.just("rate"), st.sampled_from((0.0, 0.1, 0.5))),
    ),
    min_size=5,
    max_size=25,
)


def lived(memory: Memory, done: list[tuple[str, Any]]) -> None:
    """Carries the verbs out, and asserts what must hold of each settlement."""
    ids: dict[str, list[str]] = {}
    for word in WORDS:
        ids[word] = [memory.add(f"The {word} is {colour}.").id for colour in ("striped", "brown")]
    tickets: list[str] = []
    withheld: set[str] = set()
    for verb, given_to in done:
        if verb == "decide":
            ticket = memory.decide(given_to)
            if ticket.id is not None:
                tickets.append(ticket.id)
                assert ticket.holdout == (ticket.text == "")
                withheld.update([ticket.id] if ticket.holdout else [])
        elif verb == "settle" and tickets:
            name = tickets[given_to[0] % len(tickets)]
            before = {entry.id: entry.balance for entry in memory.list(limit=100)}
            made = memory.settle(name, delta=given_to[1], meter="disk", scale=1.0)
            if name in withheld and made.landed:
                assert made.credits == ()
                assert all(entry.balance == before[entry.id] for entry in memory.list(limit=100) if entry.id in before)
        elif verb == "abandon" and tickets:
            memory.abandon(tickets[given_to % len(tickets)])
        elif verb == "tick":
            memory.tick(expire_after=given_to)
        elif verb == "forget" and ids[given_to]:
            # One that a ticket waits for stays until its verdict is in, also if it was only withheld.
            with contextlib.suppress(NotAllowed):
                memory.forget(ids[given_to][-1])
                ids[given_to].pop()
        elif verb == "rate":
            memory.configure(holdout=given_to)


@given(st.integers(0, 1_000), st.sampled_from(("classic", "evidence")), st.sampled_from((0.0, 0.5, 1.0)), verbs)
def test_energy_is_conserved_and_every_draw_is_in_the_log(seed: int, rule: str, part: float, done: list[tuple[str, Any]]) -> None:
    settings = {"holdout": 0.5, "holdout_entry": part, "rule": rule, "floor": 0.01}
    with Memory.open(":memory:", clock=ManualClock(), rng=SeededRng(seed), settings=settings) as memory:
        lived(memory, done)
        checked = memory.check()
        assert checked.ok, checked.problems
        with memory._store.read() as reading:
            ends = reading.draws_ended()
            for arm in ("shown", "alone", "all"):
                assert sum(count for (a, _), count in ends.items() if a == arm) == reading.counter(f"drawn:{arm}")
            rows = reading.settled_draws("disk")
        chosen = [(row, *said) for row in rows if (said := contrast(row, "nothing")) is not None]
        again = compared(Drawn(row.draw.entry_row, shown, exposure, row.delta / row.scale) for row, shown, exposure in chosen)
        made = memory.uplift("disk") if memory.meters.list() else memory.uplift()
        assert (made.decisions, made.holdouts) == (again.decisions, again.withheld)
        if made.measured:
            assert (made.low, made.high) == again.interval(0.05)

"""Laws that hold between histories: what commutes, what is carried out once, what changes nothing, and what nobody may look at."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earnest import Memory
from earnest.core import ranking
from earnest.core.analysis import Question, Wanted
from earnest.core.ranking import Candidate, Scored, Statistics
from earnest.errors import InvalidInput, KeyReused
from earnest.testing.clock import ManualClock, SeededRng

WORDS: Final = ("badger", "lantern", "harbour", "violin", "cinnamon", "glacier")
EXAMPLES: Final = settings().max_examples
pytestmark = pytest.mark.timeout(1_800)  # with --full each law is tried thousands of times
DELTAS: Final = st.floats(-1e6, 1e6, allow_nan=False)
SCALES: Final = st.floats(1e-3, 1e6)


def opened(seed: int = 1, **more: Any) -> Memory:
    """The laws of `classic`, under which harm is a fine; those of `evidence` stand in test_evidence_machine.py."""
    settings = {"rule": "classic", **more.pop("settings", {})}
    return Memory.open(":memory:", clock=ManualClock(), rng=SeededRng(seed), settings=settings, **more)


def law(share: float = 1.0) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A property with a part of the profile's examples."""
    return settings(max_examples=max(5, int(EXAMPLES * share)), deadline=None)


def balances(memory: Memory) -> list[tuple[str, str, int, str | None]]:
    """What each entry says and holds, whatever its id."""
    everyone = [*memory.list(), *memory.list(standing="dead")]
    return sorted((entry.text, entry.standing, entry.balance, entry.cause) for entry in everyone)


# order


@law()
@given(outcomes=st.lists(DELTAS, min_size=2, max_size=6), order=st.randoms(use_true_random=False))
def test_settlements_of_tickets_on_unrelated_entries_commute(outcomes: list[float], order: Any) -> None:
    made = []
    for shuffled in (False, True):
        memory = opened()
        for word in WORDS:
            memory.add(f"the {word} is here")
        tickets = [memory.decide(WORDS[i], 1).id for i in range(len(outcomes))]
        sequence = list(range(len(outcomes)))
        if shuffled:
            order.shuffle(sequence)
        for i in sequence:
            assert memory.settle(str(tickets[i]), delta=outcomes[i])
        made.append((balances(memory), memory.stats().accounts, memory.stats().energy))
        assert memory.check().ok
        memory.close()
    assert made[0] == made[1]


@law(0.5)
@given(gains=st.lists(st.floats(0, 3), min_size=2, max_size=4), order=st.randoms(use_true_random=False))
def test_settlements_on_one_entry_commute_while_neither_cap_nor_death_stands_between(gains: list[float], order: Any) -> None:
    made = []
    for shuffled in (False, True):
        memory = opened()
        memory.add("the badger is here")
        tickets = [memory.decide("badger").id for _ in gains]
        sequence = list(range(len(gains)))
        if shuffled:
            order.shuffle(sequence)
        for i in sequence:
            memory.settle(str(tickets[i]), delta=gains[i])
        made.append(balances(memory))
        memory.close()
    assert made[0] == made[1]


# once


def test_the_same_key_carries_a_request_out_once_and_another_request_is_refused() -> None:
    memory = opened()
    first = memory.add("the badger is here", sources=["a"], key="one")
    assert memory.add("the badger is here", sources=["a"], key="one") == first
    assert len(memory.events(kind="twin")) == 0
    others: list[dict[str, Any]] = [{"sources": ["b"]}, {"importance": 0.7}, {"scope": "s"}, {"cue": "where?"}]
    for other in others:
        with pytest.raises(KeyReused):
            memory.add("the badger is here", key="one", **{"sources": ["a"], **other})
    with pytest.raises(KeyReused):
        memory.add("the lantern is lit", key="one")
    with pytest.raises(KeyReused):
        memory.decide("badger", key="one")
    with pytest.raises(KeyReused):
        memory.update(first.id, importance=0.1, key="one")

    many = [{"text": f"fact number {i} of them"} for i in range(450)]
    assert [e.id for e in memory.add_many(many, key="many")] == [e.id for e in memory.add_many(many, key="many")]
    assert memory.stats().alive == 451
    with pytest.raises(KeyReused):
        memory.add_many([{"text": "another"}], key="many")

    ticket = memory.decide("badger", key="two")
    assert memory.decide("badger", key="two").id == ticket.id
    assert memory.stats().decisions == 1
    for query, k in (("lantern badger", 3), ("badger", 1)):
        with pytest.raises(KeyReused):
            memory.decide(query, k, key="two")

    landed = memory.settle(str(ticket.id), delta=1, key="three")
    assert landed and memory.settle(str(ticket.id), delta=1, key="three") == landed
    assert memory.stats().settled == 1 and memory.stats().dropped == 0
    with pytest.raises(KeyReused):
        memory.settle(str(ticket.id), delta=2, key="three")

    ticked = memory.tick(slot="monday")
    assert memory.tick(slot="monday") == ticked and memory.stats().tick == 1
    assert memory.tick(slot="tuesday").tick == 2

    changed = memory.update(first.id, text="the badger was here", key="four")
    assert memory.update(first.id, text="the badger was here", key="four").id == changed.id
    with pytest.raises(KeyReused):
        memory.update(first.id, text="the badger was elsewhere", key="four")
    edited = memory.update(changed.id, importance=0.9, key="five")
    memory.update(changed.id, importance=0.2)
    assert memory.update(changed.id, importance=0.9, key="five").id == edited.id
    assert memory.get(changed.id).importance == 0.2, "the repeated request did not write again"
    assert memory.check().ok


def test_a_refused_request_does_not_use_its_key_up() -> None:
    memory = opened()
    with pytest.raises(InvalidInput):
        memory.add("", key="k")
    entry = memory.add("the badger is here", key="k")
    ticket = str(memory.decide("badger").id)
    with pytest.raises(InvalidInput):
        memory.settle(ticket, delta=math.nan, key="s")
    assert memory.settle(ticket, delta=1, key="s").landed
    assert memory.get(entry.id).balance > 1_000_000


def test_a_key_outlives_the_entry_that_its_decision_named() -> None:
    memory = opened()
    entry = memory.add("the badger is here")
    ticket = memory.decide("badger", key="k")
    memory.abandon(str(ticket.id))
    memory.forget(entry.id)
    assert memory.decide("badger", key="k").id == ticket.id


def test_a_key_of_another_decision_is_refused_even_when_memory_would_be_silent() -> None:
    memory = opened()
    memory.add("the badger is here")
    memory.decide("badger", key="k")
    with pytest.raises(KeyReused):
        memory.decide("something that nobody wrote down", key="k")


def test_a_repeated_decision_returns_what_the_first_one_said() -> None:
    memory = opened()
    memory.add("the badger is here", sources=["a"])
    first, again = memory.decide("badger", key="k"), memory.decide("badger", key="k")
    assert (again.id, again.text, again.annotated) == (first.id, first.text, first.annotated)
    assert [e.id for e in again.supporting] == [e.id for e in first.supporting]


def test_a_key_stays_good_when_a_default_changes_in_between() -> None:
    memory = opened()
    first = memory.add("the badger is here", key="k")
    memory.configure(default_retention="kept")
    assert memory.add("the badger is here", key="k").id == first.id


def test_a_slot_and_a_key_of_the_same_spelling_do_not_meet() -> None:
    memory = opened()
    memory.add("the badger is here", key="slot:monday")
    assert memory.tick(slot="monday").tick == 1


@law(0.5)
@given(verbs=st.lists(st.sampled_from(("add", "decide", "settle", "tick", "update")), min_size=1, max_size=8))
def test_a_history_with_every_request_sent_twice_is_the_history(verbs: list[str]) -> None:
    made = []
    for times in (1, 2):
        memory = opened(settings={"rent": 0.1})
        entry = memory.add("the badger is here")
        ticket: str | None = None
        for n, verb in enumerate(verbs):
            key, current = f"{verb} {n}", entry.id
            for _ in range(times):
                if verb == "add":
                    memory.add(f"the {WORDS[n % 6]} is here", key=key)
                elif verb == "decide":
                    ticket = memory.decide("badger", key=key).id or ticket
                elif verb == "settle" and ticket:
                    memory.settle(ticket, delta=-0.4, key=key)
                elif verb == "tick":
                    memory.tick(slot=key)
                elif verb == "update" and memory.get(current).alive and not any(current in (p.deciding,) for p in memory.pending()):
                    entry = memory.update(current, importance=n / 10, key=key)
        stats = memory.stats()
        made.append((balances(memory), stats.accounts, stats.decisions, stats.settled, stats.dropped, stats.tick))
        memory.close()
    assert made[0] == made[1]


# what changes nothing


@law()
@given(delta=DELTAS, scale=SCALES, power=st.integers(-30, 30))
def test_doubling_delta_and_scale_together_changes_nothing(delta: float, scale: float, power: int) -> None:
    made = []
    for factor in (1.0, 2.0**power):
        memory = opened()
        memory.add("the badger is here")
        memory.add("a badger has two names")
        memory.settle(str(memory.decide("badger").id), delta=delta * factor, scale=scale * factor)
        made.append(balances(memory))
        memory.close()
    assert made[0] == made[1]


@law(0.5)
@given(seeds=st.tuples(st.integers(0, 2**32), st.integers(0, 2**32)), deltas=st.lists(DELTAS, min_size=1, max_size=6))
def test_other_ids_change_no_balance(seeds: tuple[int, int], deltas: list[float]) -> None:
    made = []
    for seed in seeds:
        memory = opened(seed)
        for word in WORDS:
            memory.add(f"the {word} is here")
        for n, delta in enumerate(deltas):
            memory.settle(str(memory.decide(f"{WORDS[n % 6]} {WORDS[(n + 1) % 6]}").id or "none"), delta=delta, scale=1000)
            memory.tick()
        memory.merge([entry.id for entry in memory.list()[:2]])
        made.append((balances(memory), memory.stats().accounts))
        memory.close()
    assert made[0] == made[1]


FACTS: Final = (
    ("Old log files under logs may be deleted after seven days.", "Is it safe to delete old log files?"),
    ("The staging database listens on port 5433.", "Which port does the staging database use?"),
    ("Invoices are sent on the first working day of a month.", "When are invoices sent?"),
    ("Restart the worker after every change of its configuration.", "What must happen after the worker configuration changes?"),
)
UNRELATED: Final = ("giraffe", "marzipan", "saxophone", "velvet", "comet", "orchard", "thimble", "meadow")


@law(0.5)
@given(text=st.lists(st.sampled_from(UNRELATED), min_size=1, max_size=12), fact=st.sampled_from(FACTS))
def test_an_entry_about_something_else_changes_no_answer(text: list[str], fact: tuple[str, str]) -> None:
    memory = opened()
    for said, _ in FACTS:
        memory.add(said)
    before = memory.answer(fact[1])
    found = [hit.entry.id for hit in memory.search(fact[1], 10)]
    memory.add(" ".join(text))
    after = memory.answer(fact[1])
    assert before.text == after.text == fact[0]
    assert [e.id for e in before.supporting] == [e.id for e in after.supporting]
    assert [hit.entry.id for hit in memory.search(fact[1], 10)] == found
    memory.close()


# what nobody looks at


class Watching:
    """A retriever that keeps what it was given."""

    def __init__(self) -> None:
        self.given: list[Any] = []

    def rank(self, question: Question, statistics: Statistics, candidates: Sequence[Candidate]) -> list[Scored]:
        self.given += [question, statistics, *candidates]
        return ranking.score(question, statistics, candidates)


def test_a_retriever_is_given_words_and_counts_and_never_a_balance() -> None:
    watching = Watching()
    memory = opened(retriever=watching)
    for word in WORDS:
        memory.add(f"the {word} is here")
    memory.pin(memory.list()[0].id)
    memory.settle(str(memory.decide("badger lantern").id), delta=5)
    memory.search("violin cinnamon")
    memory.answer("glacier")
    assert {type(given) for given in watching.given} == {Question, Statistics, Candidate}
    assert {*Candidate._fields, *(f.name for kind in (Question, Wanted, Statistics) for f in fields(kind))} == {
        "words", "terms", "weight", "entries", "mean_length", "holding", "row", "text_terms", "cue_terms",
    }  # fmt: skip


@law(0.5)
@given(
    deltas=st.lists(st.sampled_from((-0.7, 0.3, 50.0)), min_size=6, max_size=6),
    query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=6),
)
def test_ranking_is_the_same_whatever_the_entries_hold(deltas: list[float], query: list[str]) -> None:
    plain, rich = opened(), opened()
    for memory in (plain, rich):
        for n, word in enumerate(WORDS):
            memory.add(f"the {word} is {'very ' * n} here with {WORDS[(n + 1) % 6]}")
    for n, delta in enumerate(deltas):
        for _ in range(12 if delta > 1 else 1):
            ticket = rich.decide(WORDS[n], 1)
            rich.settle(str(ticket.id), delta=delta)
    wealth = [entry.balance for entry in rich.list()]
    asked = " ".join(query)
    assert [(h.entry.text, h.score, h.why) for h in plain.search(asked, 10)] == [
        (h.entry.text, h.score, h.why) for h in rich.search(asked, 10)
    ]
    assert plain.answer(asked).text == rich.answer(asked).text
    assert max(wealth) > 1_000_000 or min(wealth) < 1_000_000
    plain.close()
    rich.close()


# numbers


@pytest.mark.parametrize("delta", [math.nan, math.inf, -math.inf, True, False, "5", "nan", None, 10**400, [1.0], 1j])
def test_a_delta_that_is_no_finite_number_is_refused_and_the_ticket_stays_open(delta: Any) -> None:
    memory = opened()
    memory.add("the badger is here")
    ticket = str(memory.decide("badger").id)
    head = memory.check().head
    with pytest.raises(InvalidInput, match="delta"):
        memory.settle(ticket, delta=delta)
    assert memory.check().head == head and [p.id for p in memory.pending()] == [ticket]
    assert memory.settle(ticket, delta=1).landed


@law()
@given(
    deltas=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5),
    scale=st.floats(1e-300, 1e300),
)
def test_every_finite_delta_lands_and_saturates_and_nothing_in_the_store_is_ever_without_a_number(
    deltas: list[float], scale: float
) -> None:
    memory = opened()
    memory.pin(memory.add("the badger is here").id)
    for delta in deltas:
        made = memory.settle(str(memory.decide("badger").id), delta=delta, scale=scale)
        assert made.landed and all(abs(credit.amount) <= 600_000 for credit in made.credits)
    [meter] = memory.meters.list()
    assert math.isfinite(meter.total) and meter.settlements == len(deltas)
    assert math.isfinite(memory.audit().by_meter["unnamed"]["total"])
    assert 0 <= memory.list()[0].balance <= 5_000_000
    assert memory.check().ok
    memory.close()


@pytest.mark.parametrize("delta", [0.0, -0.0, 5e-324, -5e-324, 1e-12])
def test_a_delta_of_nothing_closes_the_ticket_and_moves_nothing(delta: float) -> None:
    memory = opened()
    entry = memory.add("the badger is here")
    made = memory.settle(str(memory.decide("badger").id), delta=delta)
    assert made.landed and made.credits == () and memory.pending() == []
    assert memory.get(entry.id).balance == 1_000_000

"""Updates and contradictions: an update retires what it replaces and nothing else, both stay with their validity, opposites are marked."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from earnest import Memory
from earnest.testing.clock import ManualClock, SeededRng

NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def memory(clock: ManualClock) -> Memory:
    return Memory.open(clock=clock, rng=SeededRng(1))


def texts(memory: Memory, query: str, as_of: datetime | None = None) -> list[str]:
    return [hit.entry.text for hit in memory.search(query, as_of=as_of)]


def test_an_update_retires_what_it_replaces_and_nothing_that_resembles_it(memory: Memory) -> None:
    kept = [
        memory.add(text)
        for text in ("The API gateway uses port 11 in Oslo.", "The API gateway was written by Dana.", "The gateway uses TLS.")
    ]
    old = memory.add("The API gateway uses port 1.")
    new = memory.update(old.id, text="The API gateway uses port 2.")
    assert [memory.get(entry.id) for entry in kept] == kept, "not touched in any field"
    assert memory.get(old.id).cause == "superseded" and memory.get(old.id).heir == new.id and new.lineage == (old.id,)
    assert texts(memory, "API gateway port")[0] == new.text and old.text not in texts(memory, "API gateway port")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Dana works at Acme as engineer.", "Dana runs the code hosting account of Acme."),
        ("The team likes tabs.", "The team dislikes tabs."),
        ("Merged PR 260.", "Merged PR 480."),
        ("The limit is 5 GB.", "The limit is 5 MB."),
        ("Rent is due on May 3.", "Rent is due on May 4."),
    ],
)
def test_adding_and_tidying_up_retire_nothing(memory: Memory, clock: ManualClock, one: str, other: str) -> None:
    first, second = memory.add(one), memory.add(other)
    memory.sync_turn(one, other)
    memory.consolidate()
    clock.advance(days=1)
    memory.maintain()
    assert {memory.get(first.id).standing, memory.get(second.id).standing} == {"active"}
    assert memory.get(first.id).valid_to is None and memory.get(second.id).valid_to is None


def test_both_stay_with_their_validity_and_the_past_is_found_as_it_was(memory: Memory, clock: ManualClock) -> None:
    old = memory.add("The API gateway uses port 1.")
    memory.add("The API gateway is written in Go.")
    clock.advance(days=10)
    new = memory.update(old.id, text="The API gateway uses port 2.")
    assert (memory.get(old.id).valid_to, new.valid_to) == (clock.now(), None)
    then = texts(memory, "API gateway port", NOW + timedelta(days=5))
    assert old.text in then and new.text not in then
    assert texts(memory, "API gateway port", clock.now())[0] == "The API gateway uses port 2."
    [hit] = [h for h in memory.search("API gateway port", as_of=NOW) if h.entry.id == old.id]
    assert (hit.entry.standing, hit.entry.cause) == ("dead", "superseded")
    assert old.text not in texts(memory, "API gateway port", NOW - timedelta(days=1)), "it was not recorded yet"
    assert memory.answer("Which port does the API gateway use?").text == new.text


def test_a_version_that_holds_from_a_day_ahead_leaves_the_old_one_valid_until_then(memory: Memory, clock: ManualClock) -> None:
    old = memory.add("A ticket costs 5 euros.")
    memory.update(old.id, text="A ticket costs 6 euros.", valid_from=NOW + timedelta(days=30))
    assert memory.get(old.id).valid_to == NOW + timedelta(days=30)
    clock.advance(days=1)
    assert texts(memory, "ticket costs", clock.now()) == ["A ticket costs 5 euros."]
    clock.advance(days=30)
    assert texts(memory, "ticket costs", clock.now()) == ["A ticket costs 6 euros."]


def test_an_end_that_was_told_is_not_put_off(memory: Memory, clock: ManualClock) -> None:
    old = memory.add("The offer holds.", valid_to=NOW + timedelta(days=1))
    clock.advance(days=5)
    memory.update(old.id, text="The offer is over.")
    assert memory.get(old.id).valid_to == NOW + timedelta(days=1)


def test_taking_an_update_back_gives_the_validity_back(memory: Memory, clock: ManualClock) -> None:
    old = memory.add("The API gateway uses port 1.", valid_to=NOW + timedelta(days=99))
    clock.advance(days=10)
    memory.update(old.id, text="The API gateway uses port 2.")
    memory.undo(memory.events(kind="supersede")[0].seq)
    assert memory.get(old.id).valid_to == NOW + timedelta(days=99) and memory.get(old.id).standing == "active"
    assert texts(memory, "API gateway port") == ["The API gateway uses port 1."] and memory.check().ok


def test_what_is_past_survives_a_rebuilt_index_and_another_language(tmp_path: Path, clock: ManualClock) -> None:
    with Memory.open(tmp_path / "m.db", clock=clock) as memory:
        old = memory.add("The API gateway uses port 1.")
        clock.advance(days=10)
        memory.update(old.id, text="The API gateway uses port 2.")
        memory.configure(languages="german")
        assert old.text in texts(memory, "API gateway port", NOW) and memory.check().ok
        with memory._writing() as tx:
            tx._db.execute("DELETE FROM past")  # type: ignore[attr-defined]
        assert not memory.check().ok and memory.check(repair=True).ok
        assert old.text in texts(memory, "API gateway port", NOW)


@pytest.mark.parametrize(
    ("one", "other", "mark"),
    [("The team likes tabs", "The team dislikes tabs", "negation"), ("Sign commits as Bot", "Sign commits as Agent", "names"),
     ("Acme is based in Lisbon", "Acme is based in Porto", "names"), ("Room 12 has a beamer", "Room 14 has a beamer", "numbers")],
)  # fmt: skip
def test_short_opposed_texts_are_marked_as_conflicting(memory: Memory, clock: ManualClock, one: str, other: str, mark: str) -> None:
    memory.add(one)
    clock.advance(days=1)
    memory.add(other)
    said = memory.answer(one).annotated
    assert f"conflicting ({mark})" in said and one in said and other in said


def test_what_is_about_another_matter_is_not_marked(memory: Memory) -> None:
    memory.add("Dana works at Acme as engineer")
    memory.add("Dana asked for an audit")
    assert "conflicting" not in memory.answer("where does Dana work").annotated


# an answer about an earlier time


PORT: Final = "Which port does the API gateway use?"


class Quoting:
    """A model for tests: it answers with the first note that it is shown, and cites it."""

    model_id = "quoting"

    def complete(self, prompt: str, **options: Any) -> str:
        marks = re.findall(r"^\[(\d+)\] ([^(]*)", prompt, re.MULTILINE)
        return f"{marks[0][1].strip()}\nSOURCES: {marks[0][0]}" if prompt.startswith("Answer the question") else "[]"


def moved(memory: Memory, clock: ManualClock) -> tuple[str, str]:
    """A fact of day 0 that another took the place of on day 10; today is day 20."""
    old = memory.add("The API gateway uses port 1.")
    clock.advance(days=10)
    new = memory.update(old.id, text="The API gateway uses port 2.")
    clock.advance(days=10)
    return old.id, new.id


@pytest.mark.parametrize("llm", [None, Quoting()], ids=["alone", "model"])
def test_an_answer_about_an_earlier_time_is_what_memory_would_have_said_then(memory: Memory, clock: ManualClock, llm: Any) -> None:
    old, new = moved(memory, clock)
    then = memory.answer(PORT, as_of=NOW + timedelta(days=5), llm=llm)
    assert (
        then.text.startswith("The API gateway uses port 1.")
        and then.deciding
        and (then.deciding.id, then.deciding.cause) == (old, "superseded")
    )
    assert f"entry {old} was superseded since, by entry {new}" in then.annotated
    for today in (None, NOW + timedelta(days=15)):
        said = memory.answer(PORT, as_of=today, llm=llm)
        assert said.text.startswith("The API gateway uses port 2.") and "superseded" not in said.annotated
    assert memory.answer(PORT, as_of=NOW - timedelta(days=1), llm=llm).silent, "it was not known yet"


@pytest.mark.parametrize("llm", [None, Quoting()], ids=["alone", "model"])
def test_no_ticket_is_opened_for_what_was_superseded_since(memory: Memory, clock: ManualClock, llm: Any) -> None:
    old, new = moved(memory, clock)
    memory.configure(holdout=0.5, holdout_entry=1.0)
    for _ in range(8):
        then = memory.decide(PORT, as_of=NOW + timedelta(days=5), llm=llm)
        assert (
            then.id is None and then and then.text.startswith("The API gateway uses port 1.") and then.deciding and then.deciding.id == old
        )
    assert memory.pending() == []
    memory.configure(holdout=0.0)
    now = memory.decide(PORT, as_of=NOW + timedelta(days=15), llm=llm)
    assert now.id and now.deciding and now.deciding.id == new and memory.check().ok


def test_what_held_is_told_from_what_was_known(memory: Memory, clock: ManualClock) -> None:
    memory.add("The head of the museum is Dana.", valid_from=NOW - timedelta(days=400), valid_to=NOW - timedelta(days=40))
    clock.advance(days=1)
    memory.add("The head of the museum is Robin.", valid_from=NOW - timedelta(days=40))
    ask = "Who is the head of the museum?"
    assert memory.answer(ask).deciding is not None
    assert memory.answer(ask, as_of=NOW - timedelta(days=100)).silent, "nothing was recorded then"
    assert memory.answer(ask, as_of=NOW + timedelta(hours=1)).silent, "Dana's time was over, and of Robin nobody had told"
    assert memory.answer(ask, as_of=clock.now()).text == "The head of the museum is Robin."


def test_what_harm_had_suspended_does_not_answer_for_its_time(memory: Memory, clock: ManualClock) -> None:
    old = memory.add("Delete the logs of the API gateway port.")
    for _ in range(4):
        ticket = memory.decide("Shall I delete the logs of the API gateway port?")
        if ticket.id is None:
            break
        memory.settle(ticket.id, delta=-5.0, meter="disk", scale=1)
    assert memory.get(old.id).standing == "suspended"
    clock.advance(days=10)
    memory.update(old.id, text="Keep every log of the payment service for a year.")
    assert memory.answer("Shall I delete the logs of the API gateway port?", as_of=NOW + timedelta(days=5)).silent


@pytest.mark.parametrize("llm", [None, Quoting()], ids=["alone", "model"])
def test_what_was_merged_since_is_still_known_for_its_time(memory: Memory, clock: ManualClock, llm: Any) -> None:
    one = memory.add("The kalar service writes its log to the kalar folder.", sources=["wiki"], retention="kept")
    clock.advance(days=5)
    other = memory.add("The kalar service writes its log to the kalar folder rotated.", sources=["runbook"], retention="kept")
    clock.advance(days=5)
    heir = memory.merge([one.id, other.id])
    clock.advance(days=5)
    third = memory.add("The kalar service writes its log to the kalar folder rotated daily.", retention="kept")
    last = memory.merge([heir.id, third.id])
    clock.advance(days=1)
    ask = "Where does the kalar service write its log?"
    first = memory.answer(ask, as_of=NOW + timedelta(days=2), llm=llm)
    assert first.deciding and first.deciding.id == one.id and "was merged since, into entry" in first.annotated, first
    both = {hit.entry.id for hit in memory.search(ask, as_of=NOW + timedelta(days=7))}
    assert both == {one.id, other.id}
    assert {hit.entry.id for hit in memory.search(ask, as_of=NOW + timedelta(days=12))} == {heir.id}
    assert [hit.entry.id for hit in memory.search(ask, as_of=NOW + timedelta(days=7), source="wiki")] == [one.id]
    assert memory.search(ask, as_of=NOW - timedelta(days=1)) == [] and memory.search(ask, as_of=clock.now())[0].entry.id == last.id
    assert memory.decide(ask, as_of=NOW + timedelta(days=2), llm=llm).id is None and memory.check().ok

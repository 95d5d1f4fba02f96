"""Births, edits, removals, merges, pins, and what can be taken back."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from earnest import Memory
from earnest.core.entry import Entry
from earnest.errors import InvalidInput, NotAllowed, NotUndoable
from earnest.testing.clock import ManualClock, SeededRng


def opened(path: str | Path = ":memory:", *, seed: int = 1, clock: ManualClock | None = None, **more: Any) -> Memory:
    """Figures in these tests are those of `classic`, under which every tick charges rent and every harm fines."""
    settings = {"rule": "classic", **more.pop("settings", {})}
    return Memory.open(path, clock=clock or ManualClock(), rng=SeededRng(seed), settings=settings, **more)


@pytest.fixture(params=["classic", "evidence"])
def memory(request: pytest.FixtureRequest) -> Memory:
    return opened(settings={"rent": 0.0, "rule": request.param})


def zebra(memory: Memory, **fields: Any) -> Entry:
    return memory.add("The zebra is striped.", **fields)


def horse(memory: Memory, **fields: Any) -> Entry:
    return memory.add("The horse is brown.", **fields)


def settled(memory: Memory, delta: float, query: str = "zebra") -> None:
    ticket = memory.decide(query, 1)
    assert memory.settle(str(ticket.id), delta=delta).landed


def last(memory: Memory, kind: str) -> int:
    return memory.events(kind=kind, newest=True, limit=1)[0].seq


def whole(memory: Memory) -> bool:
    stats = memory.stats()
    return memory.check().problems == () and stats.energy == sum(entry.balance for entry in memory.list())


# twins


def test_who_says_exactly_the_same_joins_and_adds_a_source_but_neither_stake_nor_trust(memory: Memory) -> None:
    first = zebra(memory, sources=["book"])
    settled(memory, -0.5)
    held = memory.get(first.id).balance
    again = memory.add("The  zebra\nis striped.", sources=["film", "book"], importance=1.0, tags=["new"], metadata={"a": 1})
    assert again.id == first.id and again.sources == ("book", "film")
    assert (again.balance, again.importance, again.tags, again.metadata) == (held, 0.5, (), {})
    assert memory.stats().accounts["mint"] == -1_000_000 and memory.stats().total == 1


@pytest.mark.parametrize(
    "other",
    [
        {"scope": "s"},
        {"kind": "procedural"},
        {"cue": "What about it?"},
        {"text": "The zebra is striped?"},
        {"text": "The Zebra is striped."},
    ],
)
def test_another_scope_kind_cue_or_letter_is_another_entry(memory: Memory, other: dict[str, Any]) -> None:
    first = zebra(memory)
    assert memory.add(**{"text": first.text, **other}).id != first.id


def test_an_episode_of_another_time_or_source_is_another_episode(memory: Memory) -> None:
    said: dict[str, Any] = {"text": "Deployed and rolled back.", "kind": "episodic", "valid_from": "2026-01-01", "sources": ["log"]}
    first = memory.add(**said)
    assert memory.add(**said).id == first.id
    assert memory.add(**{**said, "valid_from": "2026-01-02"}).id != first.id
    assert memory.add(**{**said, "valid_from": None}).id != first.id
    assert memory.add(**{**said, "sources": ["chat"]}).id != first.id
    assert memory.stats().alive == 4


def test_a_dead_twin_is_not_joined(memory: Memory) -> None:
    first = zebra(memory)
    memory.forget(first.id)
    assert zebra(memory).id != first.id


def test_a_suspended_twin_is_joined_and_stays_suspended() -> None:
    memory = opened(settings={"rent": 0.5})
    first = zebra(memory)
    memory.decide("zebra")
    memory.tick()
    memory.tick()
    again = zebra(memory, sources=["x"])
    assert again.id == first.id and again.standing == "suspended" and again.balance <= 0


# updates


def test_new_text_is_a_new_version_with_a_fresh_stake_and_no_evidence(memory: Memory) -> None:
    old = zebra(memory, cue="What does it look like?", sources=["book"], scope="", tags=["animal"], metadata={"a": 1}, importance=0.9)
    settled(memory, -0.5)
    new = memory.update(old.id, text="The zebra has black stripes.")
    assert (new.version, new.lineage, new.balance, new.last_settled_tick) == (2, (old.id,), 1_000_000, None)
    assert (new.cue, new.sources, new.tags, new.metadata, new.importance) == (old.cue, ("book",), ("animal",), {"a": 1}, 0.9)
    before = memory.get(old.id)
    assert (before.standing, before.cause, before.heir, before.balance) == ("dead", "superseded", new.id, 0)
    assert "its heir is " + new.id in memory.obituary(old.id)
    assert [hit.entry.id for hit in memory.search("zebra")] == [new.id]
    assert whole(memory)


def test_a_new_cue_is_a_new_version_too_and_a_blank_one_takes_it_away(memory: Memory) -> None:
    old = zebra(memory, cue="What does it look like?")
    new = memory.update(old.id, cue="")
    assert new.id != old.id and new.cue is None and new.text == old.text


def test_metadata_edits_are_made_in_place_and_keep_balance_and_evidence(memory: Memory) -> None:
    entry = zebra(memory)
    settled(memory, 1.0)
    held = memory.get(entry.id).balance
    changed = memory.update(entry.id, importance=0.1, confidence=0.2, metadata={"b": 2}, tags=["x"], valid_from="2026-01-01")
    assert changed.id == entry.id and (changed.balance, changed.last_settled_tick, changed.version) == (held, 0, 1)
    assert (changed.importance, changed.confidence, changed.metadata, changed.tags) == (0.1, 0.2, {"b": 2}, ("x",))
    assert memory.update(entry.id, valid_from=None).valid_from is None


def test_a_text_that_did_not_change_keeps_its_balance_and_its_evidence(memory: Memory) -> None:
    entry = zebra(memory, cue="Look?")
    settled(memory, -0.5)
    held = memory.get(entry.id).balance
    for changes in ({"text": entry.text}, {"cue": "Look?"}, {"text": entry.text, "cue": "Look?", "importance": 0.7}):
        after = memory.update(entry.id, **changes)
        assert (after.id, after.balance, after.version) == (entry.id, held, 1), changes
    assert after.importance == 0.7
    assert memory.stats().accounts["mint"] == -1_000_000


def test_a_text_cannot_be_changed_into_what_a_living_entry_says(memory: Memory) -> None:
    first, second = zebra(memory), horse(memory)
    with pytest.raises(NotAllowed, match=first.id):
        memory.update(second.id, text=first.text)
    assert memory.get(second.id).alive


def test_what_is_dead_or_awaits_a_verdict_is_not_rewritten(memory: Memory) -> None:
    entry = zebra(memory)
    ticket = str(memory.decide("zebra").id)
    with pytest.raises(NotAllowed, match="open ticket"):
        memory.update(entry.id, text="x")
    assert memory.update(entry.id, importance=0.1).importance == 0.1, "what it says stays the same"
    memory.abandon(ticket)
    memory.forget(entry.id)
    for changes in ({"text": "x"}, {"importance": 0.5}):
        with pytest.raises(NotAllowed, match="dead"):
            memory.update(entry.id, **changes)


def test_a_pin_goes_over_to_the_new_version(memory: Memory) -> None:
    old = zebra(memory)
    memory.pin(old.id)
    new = memory.update(old.id, text="The zebra has stripes.")
    assert new.pinned and memory.stats().pinned == 1 and whole(memory)


def test_a_pinned_entry_that_rests_at_zero_is_superseded_without_rent_it_did_not_owe() -> None:
    memory = opened()
    entry = zebra(memory)
    memory.pin(entry.id)
    for _ in range(100):
        memory.tick()
    new = memory.update(entry.id, text="The zebra has stripes.")
    assert memory.stats().accounts == {"mint": -2_000_000, "world": 0, "rent": 1_000_000, "cap": 0, "forfeit": 0}
    for _ in range(100):
        memory.tick()
    memory.undo(last(memory, "supersede"))
    assert memory.stats().accounts["forfeit"] == 0 and memory.get(entry.id).pinned and memory.get(new.id).standing == "dead"
    assert memory.get(entry.id).balance == 0 and whole(memory)


def test_a_new_version_can_be_taken_back_with_what_the_old_one_held(memory: Memory) -> None:
    old = zebra(memory)
    settled(memory, 1.0)
    held = memory.get(old.id).balance
    new = memory.update(old.id, text="The zebra has stripes.")
    assert memory.undo(last(memory, "supersede")) == (new.id, old.id)
    assert memory.get(old.id).balance == held and memory.get(old.id).standing == "active" and memory.get(old.id).heir is None
    assert (memory.get(new.id).standing, memory.get(new.id).cause) == ("dead", "forgotten")
    assert [hit.entry.id for hit in memory.search("zebra")] == [old.id] and whole(memory)


def test_the_death_of_an_old_version_is_not_taken_back_by_itself(memory: Memory) -> None:
    old = zebra(memory)
    new = memory.update(old.id, text="The zebra has stripes.")
    with pytest.raises(NotAllowed, match=new.id):
        memory.restore(old.id)
    with pytest.raises(NotUndoable, match=f"entry {new.id} took its place; undo event [0-9]+"):
        memory.undo(last(memory, "death"))


def test_an_entry_does_not_return_beside_a_living_twin_by_any_way(memory: Memory) -> None:
    old = zebra(memory)
    memory.update(old.id, text="The zebra has stripes.")
    event = last(memory, "supersede")
    twin = zebra(memory)
    with pytest.raises(NotUndoable, match=twin.id):
        memory.undo(event)
    first, second = horse(memory), memory.add("The horse is brown and quick.")
    memory.merge([first.id, second.id])
    again = horse(memory)
    with pytest.raises(NotUndoable, match=again.id):
        memory.undo(last(memory, "merge"))
    assert len({(entry.text, entry.cue) for entry in memory.list()}) == len(memory.list())


# forget and restore


def test_a_forgotten_entry_comes_back_with_what_it_held(memory: Memory) -> None:
    entry = zebra(memory)
    settled(memory, 1.0)
    held = memory.get(entry.id).balance
    gone = memory.forget(entry.id, reason="not ours")
    assert (gone.standing, gone.cause, gone.balance) == ("dead", "forgotten", 0) and "not ours" in memory.obituary(entry.id)
    assert not memory.search("zebra") and memory.list() == [] and [e.id for e in memory.list(standing="dead")] == [entry.id]
    assert memory.restore(entry.id).balance == held
    assert memory.search("zebra") and memory.stats().by_cause == {} and whole(memory)


def test_a_starved_entry_comes_back_with_a_fresh_stake() -> None:
    memory = opened(settings={"rent": 0.5})
    entry = zebra(memory)
    memory.tick()
    memory.tick()
    assert memory.get(entry.id).cause == "starved"
    assert memory.restore(entry.id).balance == 1_000_000 and whole(memory)


def test_an_executed_entry_comes_back_when_a_person_says_so() -> None:
    memory = opened(settings={"rent": 0.0})
    entry = zebra(memory)
    settled(memory, -1e9)
    settled(memory, -1e9)
    assert memory.get(entry.id).cause == "executed"
    assert memory.restore(entry.id).alive and whole(memory)


def test_to_be_forgotten_and_brought_back_does_not_wash_harm_away() -> None:
    memory = opened()
    entry = zebra(memory)
    settled(memory, -0.1)
    memory.forget(entry.id)
    memory.restore(entry.id)
    for _ in range(25):
        memory.tick()
    assert memory.get(entry.id).cause == "executed"


@pytest.mark.parametrize("how", ["restore", "undo"])
def test_only_who_is_dead_comes_back_and_only_without_a_living_twin(memory: Memory, how: str) -> None:
    entry = zebra(memory)
    memory.forget(entry.id)
    event = last(memory, "forget")
    back: Callable[[], object] = (lambda: memory.restore(entry.id)) if how == "restore" else (lambda: memory.undo(event))
    twin = zebra(memory)
    with pytest.raises(NotAllowed, match=twin.id):
        back()
    memory.forget(twin.id)
    back()
    with pytest.raises(NotAllowed):
        back()
    assert whole(memory)


def test_who_was_merged_or_superseded_is_brought_back_by_undoing_that(memory: Memory) -> None:
    first, second = zebra(memory), horse(memory)
    heir = memory.merge([first.id, second.id])
    with pytest.raises(NotAllowed, match=heir.id):
        memory.restore(first.id)


def test_pinned_escrowed_and_dead_entries_are_not_forgotten(memory: Memory) -> None:
    entry = zebra(memory)
    memory.pin(entry.id)
    with pytest.raises(NotAllowed, match="unpin it first"):
        memory.forget(entry.id)
    memory.unpin(entry.id)
    ticket = str(memory.decide("zebra").id)
    with pytest.raises(NotAllowed, match=r"open tickets \(1\).*settle or abandon"):
        memory.forget(entry.id)
    memory.abandon(ticket)
    memory.forget(entry.id)
    with pytest.raises(NotAllowed, match="dead"):
        memory.forget(entry.id)


def test_a_death_of_long_ago_is_not_taken_back_when_the_entry_died_again_since() -> None:
    # Else each time it was ever forgotten would be worth a balance.
    memory = opened(settings={"rent": 0.5})
    entry = zebra(memory)
    settled(memory, 1e9)
    memory.forget(entry.id)
    first = last(memory, "forget")
    memory.restore(entry.id)
    for _ in range(4):
        memory.tick()
    assert memory.get(entry.id).cause == "starved"
    with pytest.raises(NotUndoable, match=f"event {last(memory, 'death')}"):
        memory.undo(first)


# pins


def test_a_pinned_entry_pays_rent_rests_at_zero_and_is_neither_buried_nor_merged() -> None:
    memory = opened()
    entry, other = zebra(memory), horse(memory)
    memory.pin(entry.id)
    with pytest.raises(NotAllowed, match="pinned"):
        memory.merge([entry.id, other.id])
    memory.tick()
    assert memory.get(entry.id).balance == 950_000
    for _ in range(30):
        memory.tick()
    held = memory.get(entry.id)
    assert (held.balance, held.standing) == (0, "active") and memory.decide("zebra")


def test_a_fine_takes_a_pinned_entry_to_zero_and_no_further() -> None:
    memory = opened(settings={"rent": 0.0})
    entry = zebra(memory)
    memory.pin(entry.id)
    for _ in range(3):
        settled(memory, -1e9)
    assert (memory.get(entry.id).balance, memory.get(entry.id).standing) == (0, "active")
    assert memory.stats().accounts["world"] == 1_000_000, "only what was taken is posted"
    settled(memory, 1e9)
    assert memory.get(entry.id).balance == 600_000 and whole(memory)


def test_an_empty_entry_meets_its_end_when_its_pin_is_taken_away() -> None:
    memory = opened()
    entry = zebra(memory)
    memory.pin(entry.id)
    for _ in range(30):
        memory.tick()
    assert memory.unpin(entry.id).cause == "starved"
    assert whole(memory)


def test_an_empty_entry_that_a_ticket_names_is_suspended_when_its_pin_is_taken_away() -> None:
    memory = opened()
    entry = zebra(memory)
    memory.pin(entry.id)
    for _ in range(20):
        memory.tick()
    ticket = str(memory.decide("zebra").id)
    assert memory.unpin(entry.id).standing == "suspended"
    memory.abandon(ticket)
    assert memory.get(entry.id).cause == "starved"


def test_pinning_twice_is_pinning_once(memory: Memory) -> None:
    entry = zebra(memory)
    memory.pin(entry.id)
    memory.pin(entry.id)
    assert len(memory.events(kind="pin")) == 1
    memory.unpin(entry.id)
    memory.unpin(entry.id)
    assert len(memory.events(kind="unpin")) == 1


def test_a_pin_does_not_leave_an_entry_in_debt() -> None:
    # A pinned account rests at zero, whenever the pin came.
    memory = opened(settings={"rent": 0.0})
    entry = zebra(memory)
    tickets = [str(memory.decide("zebra").id) for _ in range(4)]
    for ticket in tickets[:2]:
        memory.settle(ticket, delta=-1e9)
    assert memory.get(entry.id).balance == -200_000 and memory.get(entry.id).standing == "suspended"
    assert memory.pin(entry.id).balance == 0
    memory.settle(tickets[2], delta=1e9)
    assert (memory.get(entry.id).balance, memory.get(entry.id).standing) == (600_000, "active")
    memory.settle(tickets[3], delta=0.0)
    assert whole(memory)


def test_a_dead_entry_cannot_be_pinned(memory: Memory) -> None:
    entry = zebra(memory)
    memory.forget(entry.id)
    for verb in (memory.pin, memory.unpin):
        with pytest.raises(NotAllowed, match="restore it first"):
            verb(entry.id)


# merges


def test_a_merge_pools_balances_sources_tags_and_texts(memory: Memory) -> None:
    first = zebra(memory, sources=["a"], tags=["x"], importance=0.2, confidence=0.9, metadata={"k": 1})
    second = horse(memory, sources=["b", "a"], tags=["y"], importance=0.7, confidence=0.4, metadata={"k": 2, "l": 3})
    settled(memory, 0.3)
    held = memory.get(first.id).balance + memory.get(second.id).balance
    heir = memory.merge([first.id, second.id])
    assert heir.text == "The zebra is striped.\nThe horse is brown." and heir.origin == "consolidated"
    assert (heir.balance, heir.sources, heir.tags) == (held, ("a", "b"), ("x", "y"))
    assert (heir.importance, heir.confidence, heir.metadata) == (0.7, 0.4, {"k": 1, "l": 3})
    assert set(heir.lineage) == {first.id, second.id}
    for member in (first, second):
        dead = memory.get(member.id)
        assert (dead.standing, dead.cause, dead.heir, dead.balance) == ("dead", "merged", heir.id, 0)
    assert whole(memory)


def test_what_a_merge_pools_beyond_the_cap_goes_to_the_account_cap() -> None:
    memory = opened(settings={"stake": 3.0})
    heir = memory.merge([zebra(memory).id, horse(memory).id])
    assert heir.balance == 5_000_000 and memory.stats().accounts["cap"] == 1_000_000 and whole(memory)


def test_a_merge_may_be_given_its_text_and_repeats_no_member_that_another_contains(memory: Memory) -> None:
    first, second = memory.add("Logs may go."), memory.add("Logs may go. After a week.")
    assert memory.merge([first.id, second.id]).text == "Logs may go. After a week."
    third, fourth = zebra(memory), horse(memory)
    assert memory.merge([third.id, fourth.id], text="Two animals.").text == "Two animals."


@pytest.mark.parametrize("other", [{"scope": "s"}, {"kind": "procedural"}, {"retention": "kept"}])
def test_only_entries_of_one_scope_kind_and_retention_are_merged(memory: Memory, other: dict[str, Any]) -> None:
    first, second = zebra(memory), horse(memory, **other)
    with pytest.raises(NotAllowed, match=next(iter(other))):
        memory.merge([first.id, second.id])
    assert memory.get(first.id).alive and memory.get(second.id).alive and memory.stats().total == 2


def test_entries_that_never_hold_at_one_time_are_not_merged(memory: Memory) -> None:
    first = zebra(memory, valid_from="2020-01-01", valid_to="2021-01-01")
    second = horse(memory, valid_from="2022-01-01")
    with pytest.raises(NotAllowed, match="time"):
        memory.merge([first.id, second.id])


def test_an_heir_is_valid_while_all_its_members_are(memory: Memory) -> None:
    first = zebra(memory, valid_from="2026-01-01", valid_to="2026-06-01")
    second = horse(memory, valid_from="2026-03-01")
    heir = memory.merge([first.id, second.id])
    assert (heir.valid_from, heir.valid_to) == (datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC))


def test_undoing_a_merge_gives_each_member_its_proportional_part_exactly(memory: Memory) -> None:
    memory.configure(stake=1.2)
    first = zebra(memory)
    memory.configure(stake=0.7)
    second = horse(memory)
    heir = memory.merge([first.id, second.id])
    settled(memory, 1e9)
    assert memory.get(heir.id).balance == 2_500_000
    assert set(memory.undo(last(memory, "merge"))) == {heir.id, first.id, second.id}
    parts = memory.get(first.id).balance, memory.get(second.id).balance
    assert parts == (1_578_947, 921_053) and sum(parts) == 2_500_000
    assert memory.get(heir.id).standing == "dead"
    assert {hit.entry.id for hit in memory.search("zebra horse")} == {first.id, second.id} and whole(memory)


def test_an_unchanged_merge_is_undone_to_the_unit(memory: Memory) -> None:
    ids = []
    for n, stake in enumerate((0.333333, 1.000001, 0.25)):
        memory.configure(stake=stake)
        ids.append(memory.add(f"fact of number {n}").id)
    before = [memory.get(id).balance for id in ids]
    memory.merge(ids)
    memory.undo(last(memory, "merge"))
    assert [memory.get(id).balance for id in ids] == before and whole(memory)


def test_members_of_an_undone_merge_owe_rent_from_then_on_and_none_for_the_past() -> None:
    memory = opened()
    first, second = zebra(memory), horse(memory)
    memory.tick()
    memory.merge([first.id, second.id])
    memory.tick()
    memory.undo(last(memory, "merge"))
    assert [memory.get(entry.id).balance for entry in (first, second)] == [925_000, 925_000]
    memory.tick()
    assert [memory.get(entry.id).balance for entry in (first, second)] == [875_000, 875_000]
    assert memory.stats().accounts["mint"] == -2_000_000 and whole(memory)


def test_a_merge_that_was_built_on_is_not_undone_and_the_later_event_is_named(memory: Memory) -> None:
    first, second, third = zebra(memory), horse(memory), memory.add("The mule is grey.")
    heir = memory.merge([first.id, second.id])
    event = last(memory, "merge")
    memory.merge([heir.id, third.id])
    later = last(memory, "merge")
    with pytest.raises(NotUndoable, match=f"since event {later}; undo that first"):
        memory.undo(event)
    memory.undo(later)
    memory.undo(event)
    assert {entry.id for entry in memory.list()} == {first.id, second.id, third.id} and whole(memory)


def test_a_merge_is_not_undone_while_a_ticket_names_its_heir(memory: Memory) -> None:
    memory.merge([zebra(memory).id, horse(memory).id])
    ticket = str(memory.decide("zebra").id)
    with pytest.raises(NotUndoable, match=r"open tickets \(1\)"):
        memory.undo(last(memory, "merge"))
    memory.abandon(ticket)
    memory.undo(last(memory, "merge"))


def test_a_harmless_member_comes_out_of_an_undone_merge_as_harmless_as_it_went_in() -> None:
    memory = opened()
    harmed, innocent = zebra(memory), horse(memory)
    settled(memory, -0.1)
    memory.merge([harmed.id, innocent.id])
    memory.undo(last(memory, "merge"))
    for _ in range(25):
        memory.tick()
    assert (memory.get(harmed.id).cause, memory.get(innocent.id).cause) == ("executed", "starved")


@pytest.mark.parametrize("way", ["restore", "undo"])
def test_the_heir_of_an_undone_merge_does_not_come_back_beside_its_members(memory: Memory, way: str) -> None:
    first, second = zebra(memory), horse(memory)
    heir = memory.merge([first.id, second.id])
    memory.undo(last(memory, "merge"))
    with pytest.raises(NotAllowed):
        if way == "restore":
            memory.restore(heir.id)
        else:
            ends = [event for event in memory.events(entry=heir.id) if event.kind in ("death", "forget") and event.entries[0] == heir.id]
            memory.undo(ends[-1].seq)
    assert memory.stats().energy == 2_000_000 and {e.id for e in memory.list()} == {first.id, second.id}


def test_harm_that_an_heir_did_is_every_members_when_the_merge_is_undone() -> None:
    memory = opened()
    harmed, innocent = zebra(memory), horse(memory)
    settled(memory, -0.1)
    memory.merge([harmed.id, innocent.id])
    settled(memory, -0.1)
    memory.undo(last(memory, "merge"))
    for _ in range(25):
        memory.tick()
    assert (memory.get(harmed.id).cause, memory.get(innocent.id).cause) == ("executed", "executed")


def test_a_version_that_was_taken_back_does_not_come_back_beside_the_old_one(memory: Memory) -> None:
    old = zebra(memory)
    new = memory.update(old.id, text="The zebra has stripes.")
    memory.undo(last(memory, "supersede"))
    with pytest.raises(NotAllowed):
        memory.restore(new.id)
    assert [entry.id for entry in memory.list()] == [old.id] and memory.stats().energy == 1_000_000


# consolidation


def test_near_duplicates_that_agree_are_merged_and_those_that_differ_are_not(memory: Memory) -> None:
    alike = [
        memory.add("Old log files may be deleted after seven days."),
        memory.add("Old log files may be deleted after seven full days."),
    ]
    ports = [memory.add("The API server listens on port 8080."), memory.add("The API server listens on port 9090.")]
    signs = [memory.add("The cache folder is safe to delete."), memory.add("The cache folder is not safe to delete.")]
    told = memory.consolidate(dry_run=True)
    assert told.groups == (tuple(e.id for e in alike),) and told.heirs == () and memory.stats().alive == 6
    assert len(told.refused) == 2 and "numbers" in " ".join(told.refused)
    made = memory.consolidate()
    assert made.merged == 2 and len(made.heirs) == 1
    assert {e.id for e in memory.list()} == {*made.heirs, *(e.id for e in (*ports, *signs))} and whole(memory)


def test_duplicates_do_not_merge_across_scopes_kinds_pins_and_open_tickets(memory: Memory) -> None:
    said = "Old log files may be deleted after seven days"
    memory.add(said + ".")
    memory.add(said + " now.", scope="s")
    memory.add(said + " then.", kind="procedural")
    memory.add(said + " again.", retention="kept")
    memory.pin(memory.add(said + " soon.").id)
    assert memory.consolidate().groups == ()


def test_texts_that_are_too_long_together_are_not_merged_and_nothing_changes(memory: Memory) -> None:
    long = [memory.add(" ".join(f"{word}{n}" for n in range(8_000))) for word in ("word", "term")]
    with pytest.raises(InvalidInput, match="100,000"):
        memory.merge([entry.id for entry in long])
    assert {entry.id for entry in memory.list()} == {entry.id for entry in long} and whole(memory)


# taking back


def test_an_event_is_taken_back_once(memory: Memory) -> None:
    entry = zebra(memory)
    memory.pin(entry.id)
    event = last(memory, "pin")
    assert memory.undo(event) == (entry.id,) and not memory.get(entry.id).pinned
    with pytest.raises(NotUndoable, match=f"event {event} was taken back already"):
        memory.undo(event)


def test_a_birth_is_taken_back_by_forgetting(memory: Memory) -> None:
    entry = zebra(memory)
    memory.undo(last(memory, "add"))
    assert memory.get(entry.id).cause == "forgotten"
    assert memory.restore(entry.id).balance == 1_000_000


def test_edits_are_taken_back_in_reverse_order(memory: Memory) -> None:
    entry = zebra(memory, importance=0.5)
    memory.update(entry.id, importance=0.6)
    first = last(memory, "edit")
    memory.update(entry.id, importance=0.7)
    second = last(memory, "edit")
    with pytest.raises(NotUndoable, match=f"event {second} changed the same fields later"):
        memory.undo(first)
    memory.undo(second)
    assert memory.get(entry.id).importance == 0.6
    memory.undo(first)
    assert memory.get(entry.id).importance == 0.5


def test_an_edit_of_other_fields_stands_in_nobodys_way(memory: Memory) -> None:
    entry = zebra(memory, tags=["a"], metadata={"k": 1}, valid_from="2026-01-01")
    memory.update(entry.id, tags=["b"], metadata={}, valid_from=None)
    event = last(memory, "edit")
    memory.update(entry.id, importance=0.7)
    memory.undo(event)
    after = memory.get(entry.id)
    assert (after.tags, after.metadata, after.importance) == (("a",), {"k": 1}, 0.7)
    assert after.valid_from == datetime(2026, 1, 1, tzinfo=UTC)


def test_a_change_of_retention_closes_the_account_and_taking_it_back_opens_it_as_it_was(memory: Memory) -> None:
    entry = zebra(memory)
    settled(memory, 1e9)
    assert memory.update(entry.id, retention="kept").balance == 0
    assert memory.stats().accounts["forfeit"] == 1_600_000
    memory.undo(last(memory, "edit"))
    assert (memory.get(entry.id).retention, memory.get(entry.id).balance) == ("earned", 1_600_000) and whole(memory)


def test_a_suspended_entry_that_is_made_kept_is_not_left_suspended_for_ever() -> None:
    memory = opened(settings={"rent": 0.5})
    entry = zebra(memory)
    ticket = str(memory.decide("zebra").id)
    memory.tick()
    memory.tick()
    assert memory.get(entry.id).standing == "suspended"
    memory.update(entry.id, retention="kept")
    memory.abandon(ticket)
    assert memory.get(entry.id).standing == "active" and memory.decide("zebra")


@pytest.mark.parametrize("kind", ["settle", "tick", "decide", "abandon", "expire"])
def test_what_was_measured_or_is_past_has_no_undo_and_the_message_says_why(kind: str) -> None:
    memory = opened(settings={"expire_after": 1})
    zebra(memory)
    settled(memory, 1.0)
    memory.abandon(str(memory.decide("zebra").id))
    memory.decide("zebra")
    memory.tick()
    memory.tick()
    with pytest.raises(NotUndoable, match=rf"\({kind}\) has no undo: \w"):
        memory.undo(last(memory, kind))


def test_an_undo_that_is_refused_writes_nothing(memory: Memory) -> None:
    entry = zebra(memory)
    memory.decide("zebra")
    head = memory.check().head
    with pytest.raises(NotUndoable, match="open ticket"):
        memory.undo(last(memory, "add"))
    assert memory.check().head == head and memory.get(entry.id).alive


def test_lives_are_the_same_after_closing_and_opening(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as memory:
        first, second = zebra(memory), horse(memory)
        memory.merge([first.id, second.id])
        memory.pin(memory.list()[0].id)
        for _ in range(7):
            memory.tick()
        before = (memory.list(), memory.list(standing="dead"), memory.stats(), memory.check().head)
    with opened(tmp_path / "m.db", seed=2) as again:
        assert (again.list(), again.list(standing="dead"), again.stats(), again.check().head) == before
        again.unpin(again.list()[0].id)
        again.undo(last(again, "merge"))
        assert {e.id for e in again.list()} == {first.id, second.id} and whole(again)


def test_a_merge_does_not_say_what_a_living_entry_beside_it_says(memory: Memory) -> None:
    first, second, beside = zebra(memory), horse(memory), memory.add("Two animals.")
    with pytest.raises(NotAllowed, match=beside.id):
        memory.merge([first.id, second.id], text="Two animals.")
    assert memory.merge([first.id, second.id, beside.id], text="Two animals.").text == "Two animals."


def test_a_key_of_one_entry_and_a_key_of_many_do_not_meet(memory: Memory) -> None:
    memory.add("The zebra is striped.", key="many#0")
    made = memory.add_many([{"text": "The horse is brown."}], key="many")
    assert memory.add_many([{"text": "The horse is brown."}], key="many") == made


def test_every_event_is_taken_back_or_says_why_not_in_plain_words(memory: Memory) -> None:
    memory.meters.add("disk", unit="bytes", scale=1.0)
    memory.meters.bind("disk", channel="cli")
    first, third = zebra(memory), memory.add("The mule is grey.")
    zebra(memory)
    memory.link(first.id, third.id)
    memory.unlink(first.id, third.id)
    memory.feedback(first.id, "helpful")
    memory.rules.add("avoid", trigger="feeding a mule", action="Do not stand behind it.")
    memory.sync_turn("I live in Rome.", "")
    memory.sync_turn("I now live in Paris.", "")
    for act in (memory.settle, lambda id, **said: memory.abandon(id)):
        ticket = memory.decide("mule")
        assert ticket.id is not None
        act(ticket.id, delta=1.0, meter="disk")
    assert not memory.settle(str(memory.pending() or "none"), delta=1.0, meter="disk").landed
    memory.control(delta=0.0, meter="disk")
    memory.tick()
    memory.undo(last(memory, "feedback"))
    memory.erase(entry=first.id)
    kinds = [event.kind for event in memory.events(limit=1_000)]
    assert {"undo", "erase", "twin", "create", "abandon", "supersede"} <= set(kinds)
    refused: dict[str, str] = {}
    for seq, kind in enumerate(kinds, 1):
        try:
            memory.undo(seq)
        except NotUndoable as error:
            refused[kind] = str(error)
            assert f"event {seq}" in str(error) and not re.search(r"\ba [aeiou]|\ban [^aeiou]", str(error)), error
    assert {"undo", "erase", "abandon", "twin", "tick"} <= refused.keys() and not {"supersede", "rule"} & refused.keys()
    assert whole(memory)

"""Links: found within one scope and bounded, stated by hand, strengthened by use, faded without it, and followed by recall where asked."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import apsw
import pytest

from earnest import Memory
from earnest.core import links
from earnest.core.gist import LENGTH, gist
from earnest.core.links import Link
from earnest.embedders import HashingEmbedder
from earnest.errors import InvalidInput, KeyReused, NotAllowed, NotUndoable, UnknownEntry
from earnest.graph import OrganicMemory
from earnest.testing.clock import ManualClock, SeededRng

NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def memory(clock: ManualClock) -> Memory:
    return Memory.open(clock=clock, rng=SeededRng(1))


def linked(memory: Memory, entry: str, **how: Any) -> dict[str, str]:
    return {one.entry.id: one.kind for one in memory.related(entry, 1_000, **how)}


def walk_of(memory: Memory, length: int) -> list[str]:
    """A chain of entries, each linked with the next one by hand."""
    ids = [memory.add(f"stone {n} lies here").id for n in range(length)]
    for one, other in pairwise(ids):
        memory.link(one, other)
    return ids


# found links


def test_entries_that_name_the_same_are_linked_as_they_are_written(memory: Memory) -> None:
    first = memory.add("The service runs on host Kalar Seven.").id
    second = memory.add("Restart takes a minute on Kalar Seven.").id
    other = memory.add("Tea is on the second floor.").id
    [one] = memory.related(first)
    assert (one.entry.id, one.kind, one.hops, one.via) == (second, "entity", 1, first) and "Kalar Seven" in one.reason
    assert memory.related(other) == [] and 0 < one.weight <= 1


def test_a_name_that_everybody_shares_links_nobody(memory: Memory) -> None:
    memory.add_many([{"text": f"We asked Dana about topic {n}."} for n in range(60)])
    memory.maintain()
    assert not any(link.kind == "entity" for entry in memory.list() for link in memory.related(entry.id))


def test_turns_are_linked_with_the_one_before_and_after(memory: Memory) -> None:
    times, about = [NOW + timedelta(minutes=n) for n in range(4)], {"session": "s"}
    ids = [memory.add(f"words of {time}", kind="episodic", valid_from=time, metadata=about).id for time in times]
    assert linked(memory, ids[1], kind="temporal") == {ids[0]: "temporal", ids[2]: "temporal"}


def test_what_happened_on_about_the_same_day_is_linked(memory: Memory) -> None:
    one = memory.add("the lift was repaired", valid_from=NOW).id
    two = memory.add("a new door came", valid_from=NOW + timedelta(hours=3)).id
    memory.add("the roof leaks", valid_from=NOW + timedelta(days=9))
    assert linked(memory, one) == {two: "temporal"}


def test_likeness_is_found_by_maintain_in_words_and_in_meaning(clock: ManualClock) -> None:
    for embedder in ("none", HashingEmbedder(64)):
        with Memory.open(clock=clock, rng=SeededRng(1), embedder=embedder) as memory:
            one = memory.add("old log files under the temp folder may be deleted").id
            two = memory.add("old log files in the temp folder are deleted weekly").id
            far = memory.add("the cat sleeps on a blue sofa").id
            assert memory.related(one) == []
            assert memory.maintain().linked > 0
            assert linked(memory, one) == {two: "semantic"} and memory.related(far) == []
            assert memory.maintain().linked == 0, "what was looked at is not looked at once more"


def test_a_bulk_load_is_linked_by_maintain(memory: Memory) -> None:
    memory.add_many([{"text": f"note {n} about Kalar{n % 10} Host"} for n in range(30)])
    assert memory.graph().edges == ()
    memory.maintain()
    assert memory.graph().edges and memory.check().ok


def test_links_never_cross_scopes(memory: Memory) -> None:
    alice = memory.add("The service runs on host Kalar Seven.", scope="alice").id
    bob = memory.add("Restart takes a minute on Kalar Seven.", scope="bob").id
    memory.maintain()
    assert memory.related(alice) == memory.related(bob) == []
    with pytest.raises(NotAllowed, match="never cross scopes"):
        memory.link(alice, bob)


def test_an_entry_keeps_the_heaviest_links_up_to_its_bound(clock: ManualClock) -> None:
    with Memory.open(clock=clock, rng=SeededRng(1), settings={"links": 3}) as memory:
        ids = [memory.add(f"note {n} names Kalar Seven and topic {n}").id for n in range(9)]
        memory.maintain()
        assert all(len(memory.related(entry, 50)) <= 3 for entry in ids)
        assert any(len(memory.related(entry, 50)) == 3 for entry in ids)
        stated = [memory.link(ids[0], ids[n]).entry.id for n in (5, 6, 7)]
        assert set(linked(memory, ids[0])) == set(stated), "found ones make room for stated ones"
        with pytest.raises(NotAllowed, match="stated links already"):
            memory.link(ids[0], ids[8])


def test_without_the_setting_nothing_is_linked(clock: ManualClock) -> None:
    with Memory.open(clock=clock, settings={"links": 0}) as memory:
        entry = memory.add("The service runs on host Kalar Seven.").id
        memory.add("Restart takes a minute on Kalar Seven.")
        memory.maintain()
        assert memory.related(entry) == []


# stated links


def test_a_stated_link_is_an_event_that_can_be_taken_back(memory: Memory) -> None:
    one, two = memory.add("stone").id, memory.add("water").id
    made = memory.link(one, two, reason="the same river", key="k")
    assert memory.link(one, two, reason="the same river", key="k") == made
    assert (made.entry.id, made.via, made.kind, made.weight, made.reason) == (two, one, "related", 1.0, "the same river")
    assert linked(memory, two) == {one: "related"}, "a link has no direction"
    with pytest.raises(KeyReused):
        memory.link(one, two, kind="semantic", key="k")
    [event] = memory.events(kind="link")
    assert memory.undo(event.seq) == (one, two) and memory.related(one) == []
    with pytest.raises(NotUndoable):
        memory.undo(event.seq)


def test_what_was_stated_of_a_link_once_more_is_taken_back_alone(memory: Memory) -> None:
    one, two = memory.add("The service runs on host Kalar Seven.").id, memory.add("Restart takes a minute on Kalar Seven.").id
    [found] = memory.related(one)
    memory.link(one, two, kind="entity", weight=0.95, reason="the same host")
    [first] = memory.related(one)
    memory.link(two, one, kind="entity", weight=1.0, reason="said again")
    assert memory.related(one) != [first] != [found]
    for event, left in zip(reversed(memory.events(kind="link")), (first, found), strict=True):
        memory.undo(event.seq)
        [now] = memory.related(one)
        assert (now.kind, now.weight, now.reason) == (left.kind, left.weight, left.reason)
    assert memory.check().ok


def test_a_name_is_known_behind_a_word_that_has_its_capital_from_the_sentence(memory: Memory) -> None:
    one = memory.add("Kalar Seven moved to Lisbon.").id
    two = memory.add("Restarting Kalar Seven takes an hour.").id
    assert linked(memory, one) == {two: "entity"} and "Kalar Seven" in memory.related(one)[0].reason


def test_cutting_takes_every_kind_or_one_and_can_be_taken_back(memory: Memory) -> None:
    one, two = memory.add("stone").id, memory.add("water").id
    memory.link(one, two)
    memory.link(two, one, kind="entity", weight=0.5)
    assert memory.unlink(one, two, kind="temporal") == 0 == len(memory.events(kind="unlink"))
    assert memory.unlink(one, two, key="k") == 2 == memory.unlink(one, two, key="k")
    assert memory.related(one) == []
    memory.undo(memory.events(kind="unlink")[0].seq)
    assert [(link.kind, link.weight) for link in memory.related(one, kind="entity")] == [("entity", 0.5)]


@pytest.mark.parametrize(
    "bad",
    [{"kind": "supersession"}, {"kind": "friends"}, {"weight": 0.0}, {"weight": 1.1}, {"weight": math.nan}, {"weight": True}, {"reason": 5},
     {"reason": "x" * 201}],
)  # fmt: skip
def test_nonsense_is_refused_by_name(memory: Memory, bad: dict[str, Any]) -> None:
    one, two = memory.add("stone").id, memory.add("water").id
    with pytest.raises(InvalidInput, match=next(iter(bad))):
        memory.link(one, two, **bad)
    assert memory.related(one) == []


def test_an_entry_is_not_linked_with_itself_nor_with_the_dead_or_unknown(memory: Memory) -> None:
    one, two = memory.add("stone").id, memory.add("water").id
    with pytest.raises(NotAllowed, match="itself"):
        memory.link(one, one)
    with pytest.raises(UnknownEntry):
        memory.link(one, "nobody")
    memory.forget(two)
    with pytest.raises(NotAllowed, match="dead"):
        memory.link(one, two)


# life and death


def test_links_die_with_entries_and_stated_ones_come_back_with_them(memory: Memory) -> None:
    one, two = memory.add("The service runs on host Kalar Seven.").id, memory.add("Restart takes a minute on Kalar Seven.").id
    three = memory.add("stone").id
    memory.link(two, three)
    memory.forget(two)
    assert memory.related(one) == memory.related(three) == [] and memory.check().ok
    memory.restore(two)
    assert linked(memory, two) == {one: "entity", three: "related"}


def test_what_takes_an_entrys_place_inherits_what_was_stated_of_it(memory: Memory) -> None:
    one, two = memory.add("The gateway uses port 1.").id, memory.add("stone").id
    memory.link(one, two)
    new = memory.update(one, text="The gateway uses port 2.").id
    assert linked(memory, new) == {two: "related", one: "supersession"}
    assert [(r.entry.standing, r.reason) for r in memory.related(new, kind="supersession")] == [("dead", "an earlier version of it")]
    assert linked(memory, one) == {new: "supersession"}
    memory.undo(memory.events(kind="supersede")[0].seq)
    assert linked(memory, one) == {two: "related"} and memory.check().ok
    heir = memory.merge([one, memory.add("The gateway uses port 1 always.").id]).id
    assert linked(memory, heir, kind="related") == {two: "related"}


def test_every_link_of_some_entries_goes_by_one_call(memory: Memory) -> None:
    ids = walk_of(memory, 4)
    with memory._writing() as tx:
        rows = [stored.row for name in ids[1:2] if (stored := tx.entry(name)) is not None]
        assert len(tx.links_of(rows)) == 2 == tx.drop_links(rows) and tx.links_of(rows) == []
    assert linked(memory, ids[2]) == {ids[3]: "related"}


# walking


def test_each_entry_comes_once_however_many_ways_lead_there(memory: Memory) -> None:
    one, two, three = walk_of(memory, 3)
    memory.link(three, one)
    found = memory.related(one, 50, hops=50)
    assert sorted(r.entry.id for r in found) == sorted([two, three]) and all(r.hops == 1 for r in found)


def test_hops_bound_the_walk_and_weigh_less(memory: Memory) -> None:
    ids = walk_of(memory, 6)
    found = memory.related(ids[0], 50, hops=3)
    assert [(r.entry.id, r.via) for r in found] == [(ids[n], ids[n - 1]) for n in (1, 2, 3)]
    assert [(r.hops, r.score) for r in found] == [(1, 1.0), (2, 0.5), (3, 0.25)]
    nonsense: tuple[dict[str, Any], ...] = ({"hops": 0}, {"hops": 101}, {"hops": 1.0}, {"k": 0}, {"kind": "friends"})
    for bad in nonsense:
        with pytest.raises(InvalidInput, match=next(iter(bad))):
            memory.related(ids[0], **bad)


def test_a_walk_visits_a_bounded_number_of_entries(clock: ManualClock) -> None:
    with Memory.open(clock=clock, settings={"links": 100}) as memory:
        ids = [entry.id for entry in memory.add_many([{"text": f"stone {n} lies here"} for n in range(1_500)])]
        with memory._writing() as tx:
            rows = [stored.row for name in ids if (stored := tx.entry(name)) is not None]
            for place, row in enumerate(rows[1:], 1):
                tx.put_link(Link(rows[(place - 1) // 40], row, "related", 1.0, "", True))
        assert len(memory.related(ids[0], 1_000, hops=100)) == 1_000 == links.MOST_NODES


# use


def test_a_trip_strengthens_by_how_long_the_last_one_lies_back() -> None:
    link = Link(1, 2, "entity", 0.4, used=NOW)
    at_once = links.travelled(link, NOW, 90.0)
    assert (at_once.weight, at_once.trips) == (0.4, 1)
    rested = links.travelled(link, NOW + timedelta(days=1), 90.0)
    assert 0.4 < rested.weight < 0.4 + links.LEARNS
    for _ in range(5_000):
        link = links.travelled(link, NOW + timedelta(seconds=5), 90.0)
    assert link.weight == pytest.approx(0.4, abs=0.001)


def test_found_links_fade_and_stated_ones_do_not(memory: Memory, clock: ManualClock) -> None:
    one, two = memory.add("The service runs on host Kalar Seven.").id, memory.add("Restart takes a minute on Kalar Seven.").id
    three = memory.add("stone").id
    memory.link(one, three)
    [before] = memory.related(one, kind="entity")
    clock.advance(days=90)
    assert memory.related(one, kind="entity")[0].weight == pytest.approx(before.weight / 2)
    clock.advance(days=400)
    memory.maintain()
    assert linked(memory, one) == {three: "related"} and memory.related(one)[0].weight == 1.0
    assert memory.related(two) == []


def test_recall_follows_links_only_where_asked_and_strengthens_those_it_went_along(memory: Memory, clock: ManualClock) -> None:
    one, two = memory.add("The walrus sleeps in room four.").id, memory.add("Bring fish and a torch.").id
    memory.link(one, two, weight=0.6)
    assert [h.entry.id for h in memory.search("Where does the walrus sleep?")] == [one]
    hits = memory.search("Where does the walrus sleep?", links=True)
    assert [h.entry.id for h in hits] == [one, two] and "related link" in hits[1].why and hits[1].score < hits[0].score
    clock.advance(days=10)
    memory.prefetch("Where does the walrus sleep?", links=True)
    memory.tick()
    assert memory.related(one)[0].weight > 0.6 and memory.get(two).recalls == 1
    memory.configure(spread=0.5)
    assert [h.entry.id for h in memory.search("Where does the walrus sleep?")] == [one, two]
    assert [h.entry.id for h in memory.search("Where does the walrus sleep?", links=False)] == [one]
    with pytest.raises(InvalidInput, match="links"):
        memory.search("walrus", links=1)  # type: ignore[arg-type]


def test_links_widen_no_filter_and_what_was_suspended_lends_nothing(memory: Memory) -> None:
    one, two = memory.add("The walrus sleeps in room four.", tags=["zoo"]).id, memory.add("Bring fish and a torch.").id
    memory.link(one, two)
    assert [h.entry.id for h in memory.search("walrus", tags="zoo", links=True)] == [one]
    for _ in range(2):
        ticket = memory.decide("Where does the walrus sleep?").id
        if ticket is not None:
            memory.settle(ticket, delta=-9.0, meter="zoo")
    assert memory.get(one).standing == "suspended"
    assert [h.entry.id for h in memory.search("walrus", links=True)] == [one]


def test_a_link_lends_too_little_to_pass_the_floor_by_itself_when_the_lender_is_weak(memory: Memory) -> None:
    one, two = memory.add("The walrus sleeps in room four.").id, memory.add("Bring fish and a torch.").id
    memory.link(one, two)
    assert [h.entry.id for h in memory.search("walrus torch elephant zebra giraffe", links=True, floor=0.9)] == []
    answer = memory.answer("Where does the walrus sleep?", links=True)
    assert answer.deciding is not None and answer.deciding.id == one and [e.id for e in answer.supporting] == [two]


# damage


def test_check_finds_links_that_cannot_be_and_repair_mends_them(tmp_path: Path, clock: ManualClock) -> None:
    with Memory.open(tmp_path / "m.db", clock=clock) as memory:
        memory.add("The service runs on host Kalar Seven.")
        memory.add("Restart takes a minute on Kalar Seven.")
        memory.add("stone", scope="other")
    db = apsw.Connection(str(tmp_path / "m.db"))
    db.execute("INSERT INTO links (entry, other, kind, weight, used) VALUES (1, 3, 'entity', 0.5, 0)")
    db.execute("PRAGMA foreign_keys = OFF; INSERT INTO links (entry, other, kind, weight, used) VALUES (1, 77, 'entity', 0.5, 0)")
    db.close()
    with Memory.open(tmp_path / "m.db", clock=clock) as memory:
        assert sum("link" in problem for problem in memory.check().problems) >= 2
        assert memory.check(repair=True).ok
        memory.maintain()
        assert [edge.kind for edge in memory.graph().edges] == ["entity"]


# graphs for others


def test_the_graph_is_written_in_forms_that_others_read(memory: Memory) -> None:
    one, two = memory.add("<walrus> & \x1b[31mred\x1b[0m 象").id, memory.add("Bring fish.").id
    memory.add("alone")
    memory.link(one, two, reason='say "fish" & <water>')
    graph = memory.graph()
    tree = ET.fromstring(graph.graphml())
    space = "{http://graphml.graphdrawing.org/xmlns}"
    assert {node.get("id") for node in tree.iter(f"{space}node")} == {one, two}
    [edge] = tree.iter(f"{space}edge")
    assert {edge.get("source"), edge.get("target")} == {one, two} and "\x1b" not in graph.graphml()
    assert [data.text for data in edge if data.get("key") == "edge_reason"] == ['say "fish" & <water>']
    said = json.loads(graph.json())
    assert {node["id"] for node in said["nodes"]} == {one, two} and said["edges"][0]["weight"] == 1.0
    assert memory.graph(one, hops=2).edges == graph.edges and not graph.more
    memory.link(one, two, kind="entity")
    assert memory.graph(limit=1).more


def test_the_commands_say_what_the_verbs_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from earnest.cli.main import main

    store = str(tmp_path / "m.db")
    with Memory.open(store) as memory:
        one, two, three = (memory.add(text).id for text in ("stone", "water", "sand"))
    assert main(["link", one, two, "--reason", "river", "--store", store]) == 0
    capsys.readouterr()
    assert main(["related", one, "--json", "--store", store]) == 0
    assert [r["entry"]["id"] for r in json.loads(capsys.readouterr().out)] == [two]
    assert main(["related", "--all", "--format", "graphml", "--store", store]) == 0
    ET.fromstring(capsys.readouterr().out)
    assert main(["related", "--all", "--store", store]) == 0 and len(json.loads(capsys.readouterr().out)["edges"]) == 1
    assert main(["related", three, "--store", store]) == 0 and "Nothing is linked" in capsys.readouterr().out
    assert main(["related", "--store", store]) == 2 and main(["related", one, "--all", "--store", store]) == 2
    assert main(["link", one, two, "--remove", "--store", store]) == 0 and main(["link", one, two, "--remove", "--store", store]) == 1


# gists and organic memory


def test_a_gist_is_the_texts_own_words_short_and_always_the_same() -> None:
    text = (
        "It was a long day and a lot of things were said about it. The gateway moved to host Kalar7 in Lisbon on port 8443. "
        "After that we talked of this and that, and nothing came of it in the end, as so often."
    )
    assert gist(text) == "The gateway moved to host Kalar7 in Lisbon on port 8443." == gist(text)
    assert gist("short  text\nas it is") == "short text as it is"
    for long in ("word " * 500, "x" * 5_000, "長い文。" * 400):
        made = gist(long)
        assert 0 < len(made) <= LENGTH and made.rstrip("…").strip() in " ".join(long.split())


def test_organic_recall_shows_gists_of_the_dormant_and_wakes_what_it_found(memory: Memory, clock: ManualClock) -> None:
    text = "The walrus sleeps in room four. " + "It has been there for a while and seems to like it well enough. " * 4
    one, two = memory.add(text).id, memory.add("Bring fish and a torch.").id
    memory.link(one, two)
    organic = OrganicMemory(memory)
    assert organic.activation(one) == 1.0 and organic.shown(one) == text
    clock.advance(days=7, seconds=1)
    assert organic.activation(one) == pytest.approx(0.5, abs=0.001) and len(organic.shown(one)) <= LENGTH
    found = organic.recall("Where does the walrus sleep?")
    assert [r.entry.id for r in found] == [one, two] and found[0].shown == gist(text)
    assert memory.get(one).text == text, "the text is kept"
    memory.tick()
    assert organic.activation(one) == 1.0 and organic.recall("Where does the walrus sleep?")[0].shown == text
    assert [r.entry.id for r in organic.neighbours(one)] == [two]


def test_earned_importance_comes_from_outcomes_alone(memory: Memory, clock: ManualClock) -> None:
    one = memory.add("The walrus sleeps in room four.").id
    organic = OrganicMemory(memory, bias=1.0)
    plain = organic.recall("Where does the walrus sleep?")[0].score
    for _ in range(50):
        organic.recall("Where does the walrus sleep?")
        memory.feedback(one, "helpful")
    assert organic.importance(one) == 0.0 and organic.recall("Where does the walrus sleep?")[0].score == plain
    ticket = memory.decide("Where does the walrus sleep?").id
    assert ticket is not None
    memory.settle(ticket, delta=1.0, meter="zoo")
    assert 0 < organic.importance(one) <= 1 and organic.recall("Where does the walrus sleep?")[0].score > plain


@pytest.mark.parametrize("bad", [{"rests": 0.0}, {"awake": -0.1}, {"bias": 1.1}, {"bias": math.nan}])
def test_an_organic_memory_refuses_nonsense(memory: Memory, bad: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(bad))):
        OrganicMemory(memory, **bad)


def test_erasing_an_entry_takes_its_links_with_their_reasons_and_what_was_said_of_it(tmp_path: Path, clock: ManualClock) -> None:
    with Memory.open(tmp_path / "m.db", clock=clock) as memory:
        one, two = memory.add("The vault of Zorblax is open.").id, memory.add("Nobody guards Zorblax at night.").id
        memory.link(one, two, reason="the Zorblax affair")
        memory.feedback(one, "unhelpful")
        memory.unlink(one, memory.add("stone").id)
        assert memory.erase(entry=one, dry_run=True).counts["links"] == memory.erase(entry=one).counts["links"] == 1
        memory.erase(entry=two)
        assert memory.graph().edges == () and memory.check().ok
    assert b"zorblax" not in (tmp_path / "m.db").read_bytes().lower()


def test_a_prompt_shows_by_its_gist_what_came_in_by_a_link_and_was_long_unused(memory: Memory, clock: ManualClock) -> None:
    long = (
        "A torch and six herrings lie in locker Kalar9. " + "The rest of the locker is of no great interest to anybody who comes by. " * 4
    )
    one, two = memory.add("The walrus sleeps in room four.").id, memory.add(long).id
    memory.link(one, two)
    question = "Where does the walrus sleep?"
    assert long.strip() in memory.prefetch(question, links=True).text, "it was just written"
    clock.advance(days=30)
    context = memory.prefetch(question, links=True)
    assert gist(long) in context.text and long.strip() not in context.text
    assert [entry.text for entry in context.entries] == ["The walrus sleeps in room four.", long]
    memory.tick()
    assert long.strip() in memory.prefetch(question, links=True).text, "recalled, it is whole again"
    assert long.strip() not in memory.prefetch(question).text

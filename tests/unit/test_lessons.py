"""The text form of a store: what it holds, that a store made from it is the same, and that two of them join into one."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from earnest import ALL, Memory
from earnest.core import lessons as form
from earnest.errors import InvalidInput, NotAllowed
from earnest.memory import merge_lessons
from earnest.testing import ManualClock, SeededRng

TOPICS = ("clamp bound", "socket timeout", "retry policy", "cache eviction", "date parsing", "unicode width", "lock order")


def opened(path: Path, clock: ManualClock, seed: int = 1, **more: Any) -> Memory:
    return Memory.open(path, embedder="none", channel="settle-ci", clock=clock, rng=SeededRng(seed), **more)


def live(memory: Memory, clock: ManualClock, seed: int, decisions: int = 30) -> None:
    """A stretch of a life: decisions, outcomes, second looks, controls, and what people do."""
    chance = random.Random(seed)
    for _ in range(decisions):
        clock.advance(hours=3)
        ticket = memory.decide(f"How about {chance.choice(TOPICS)}?")
        if ticket.id is None:
            continue
        clock.advance(minutes=1)
        fate = chance.random()
        if fate < 0.1:
            memory.abandon(ticket.id)
        elif fate < 0.9:
            memory.settle(ticket.id, delta=chance.choice([1, 1, 2, 0, -1]), meter="ci", acted=chance.choice([None, True, False]))
            if chance.random() < 0.2:
                memory.remeasure(ticket.id, delta=1, meter="ci-rerun")
        if chance.random() < 0.1:
            memory.control(delta=chance.choice([0, 1, -1]), meter="ci")
        memory.tick_due()


def filled(memory: Memory) -> None:
    for topic in TOPICS:
        memory.add(f"Prefer the careful way in {topic}.", cue=f"How about {topic}?", kind="procedural", sources=["retro"], tags=["ci"])


def standing(memory: Memory) -> dict[str, Any]:
    made: dict[str, Any] = {
        entry.id: (
            entry.text,
            entry.cue,
            entry.sources,
            entry.tags,
            entry.balance,
            entry.standing,
            entry.pinned,
            entry.created,
            entry.scope,
        )
        for entry in memory.list(scope=ALL, limit=1000)
    }
    made["pending"] = [(ticket.id, ticket.query, ticket.deciding, ticket.opened) for ticket in memory.pending()]
    made["tick"] = memory.stats().tick
    made["meters"] = [(m.name, m.unit, m.scale, m.tier, m.channels, m.settlements, m.total) for m in memory.meters.list()]
    return made


@pytest.mark.parametrize("seed", range(4))
def test_a_store_made_from_its_text_stands_as_the_first_did(tmp_path: Path, seed: int) -> None:
    clock, text = ManualClock(), tmp_path / "lessons.jsonl"
    with opened(tmp_path / "a.db", clock, seed, settings={"rent": 0.1, "supporters": 1}) as memory:
        filled(memory)
        memory.meters.add("ci", unit="tests", scale=1.5)
        memory.meters.bind("ci", channel="settle-ci")
        memory.pin(memory.list()[0].id)
        live(memory, clock, seed)
        memory.add("Another one in a scope.", scope="team", metadata={"pull": 7})
        report = memory.save_lessons(text)
        with opened(tmp_path / "b.db", clock, seed + 100) as again:
            assert again.load_lessons(text).head == report.head
            assert standing(again) == standing(memory)
            beliefs = [[(m.lie_rate, m.baseline) for m in each.meters.list()] for each in (memory, again)]
            assert beliefs[0] == [tuple(None if x is None else pytest.approx(x, abs=1e-9) for x in row) for row in beliefs[1]]
            assert again.settings.rent == 0.1
            assert again.check().ok
            [segment] = [event for event in again.events(kind="segment") if "body" in event.data]
            assert (segment.data["head"], segment.data["parents"]) == (report.head, [])
            assert not again.save_lessons(text).changed, "nothing happened, nothing is written"
            tick = again.stats().tick
            again.tick_due()
            assert again.stats().tick == tick, "a step of the clock that was made is not made again"


def test_the_text_goes_on_where_it_was_loaded_and_names_what_it_came_from(tmp_path: Path) -> None:
    clock, text = ManualClock(), tmp_path / "lessons.jsonl"
    with opened(tmp_path / "a.db", clock) as memory:
        filled(memory)
        live(memory, clock, 1, 10)
        first = memory.save_lessons(text)
    lines = text.read_text().splitlines()
    with opened(tmp_path / "b.db", clock, 2) as memory:
        memory.load_lessons(text)
        live(memory, clock, 2, 3)
        second = memory.save_lessons(text)
    assert second.parents == (first.head,)
    now = text.read_text().splitlines()
    assert len(set(now[1:]) - set(lines[1:])) <= 5, "what was there stays as it was"


def two_sides(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Two texts that came from one, each with a life of its own since."""
    clock = ManualClock()
    base, ours, theirs = (tmp_path / f"{name}.jsonl" for name in ("base", "ours", "theirs"))
    with opened(tmp_path / "base.db", clock) as memory:
        filled(memory)
        live(memory, clock, 5, 12)
        memory.decide("How about clamp bound?")
        memory.save_lessons(base)
    for side, path in enumerate((ours, theirs)):
        with opened(tmp_path / f"{path.stem}.db", clock, 50 + side) as memory:
            memory.load_lessons(base)
            shared = memory.pending()[0].id
            memory.settle(shared, delta=1 + side, meter="ci")
            live(memory, clock, 70 + side, 8)
            memory.add(f"Only {path.stem} knows this one.")
            if side:
                memory.forget(next(entry.id for entry in memory.list() if not any(t.deciding == entry.id for t in memory.pending())))
            memory.save_lessons(path)
    return base, ours, theirs


def test_merging_takes_what_both_learned_and_lands_each_ticket_once(tmp_path: Path) -> None:
    _, ours, theirs = two_sides(tmp_path)
    both, other_way = tmp_path / "both.jsonl", tmp_path / "other.jsonl"
    report = merge_lessons(ours, theirs, both)
    merge_lessons(theirs, ours, other_way)
    assert both.read_bytes() == other_way.read_bytes()
    a, b, made = (form.parsed(path.read_text()) for path in (ours, theirs, both))
    assert set(made.settled) == set(a.settled) | set(b.settled)
    assert report.parents == tuple(sorted((a.head, b.head)))
    disputed = next(name for name, fact in a.settled.items() if b.settled.get(name, fact) != fact)
    assert made.settled[disputed] == min(a.settled[disputed], b.settled[disputed], key=lambda fact: fact[5])
    assert not set(made.open) & set(made.settled)
    with opened(tmp_path / "merged.db", ManualClock(), 9) as memory:
        memory.load_lessons(both)
        texts = {entry.text for entry in memory.list(limit=100)}
        assert {"Only ours knows this one.", "Only theirs knows this one."} <= texts
        assert memory.check().ok
        [forgotten] = [name for name, said in b.entries.items() if said.get("end") == "forgotten"]
        assert memory.get(forgotten).cause == "forgotten"
        assert memory.events(kind="segment")[0].data["parents"] == list(report.parents)


def test_merging_a_text_with_itself_or_with_its_past_adds_nothing(tmp_path: Path) -> None:
    base, ours, _ = two_sides(tmp_path)
    for other in (base, ours):
        merge_lessons(ours, other, tmp_path / "made.jsonl")
        a, made = (form.parsed(path.read_text()) for path in (ours, tmp_path / "made.jsonl"))
        assert form.body(made) == form.body(a)


def test_a_text_that_was_changed_cut_or_conflicts_is_refused(tmp_path: Path) -> None:
    base, _, _ = two_sides(tmp_path)
    text = base.read_text()
    bad = {
        "cut": text[: len(text) // 2],
        "changed": text.replace('"ci",1,', '"ci",9,', 1),
        "a line less": text.replace(text.splitlines()[3] + "\n", ""),
        "conflict": text + "<<<<<<< HEAD\n",
        "nothing": "",
        "else": '{"a": 1}\n',
        "newer": text.replace('lessons",2', 'lessons",4', 1),
        "deep": "[" * 200_000,
        "nan": text.replace('"ci",1,', '"ci",NaN,', 1),
        "kind": text + '["other",1]\n',
    }
    for name, said in bad.items():
        path = tmp_path / "bad.jsonl"
        path.write_text(said)
        with opened(tmp_path / f"{name}.db", ManualClock()) as memory:
            with pytest.raises(InvalidInput, match="lessons"):
                memory.load_lessons(path)
            assert memory.stats().total == 0, name


def test_hostile_values_in_a_text_get_one_typed_error(tmp_path: Path) -> None:
    base, _, _ = two_sides(tmp_path)
    good = [json.loads(line) for line in base.read_text().splitlines()]
    entry = next(fact for fact in good if fact[0] == "entry")
    settled = next(fact for fact in good if fact[0] == "settled")
    hostile: list[list[Any]] = [
        ["entry", {**entry[1], "text": 7}], ["entry", {**entry[1], "id": "../x"}], ["entry", {**entry[1], "born": -1.5}],
        ["entry", {**entry[1], "importance": 7}], ["entry", {**entry[1], "created": True}], ["entry", {**entry[1], "kind": "x"}],
        ["settled", *settled[1:2], "nobody", *settled[3:]], [*settled[:8], "x", {}], [*settled[:4], -(2**61), *settled[5:]],
        [*settled[:9], {"scale": -1}], [*settled[:9], {"acted": 3}], [*settled[:9], {"exposure": 0}],
    ]  # fmt: skip
    for number, fact in enumerate(hostile):
        lines = [
            line for line in good if line[1:2] != fact[1:2] and not (line[0] == fact[0] == "entry" and line[1]["id"] == entry[1]["id"])
        ]
        path = tmp_path / "hostile.jsonl"
        made = "\n".join(json.dumps(line) for line in [*lines, fact]) + "\n"
        body = [form.line(line) for line in [*lines[1:], fact]]
        assert body
        path.write_text(_with_head(made))
        with opened(tmp_path / f"h{number}.db", ManualClock()) as memory, pytest.raises(InvalidInput):
            memory.load_lessons(path)


def _with_head(text: str) -> str:
    """The text with the digest that a forger would compute, if its lines can be read at all."""
    first, _, rest = text.partition("\n")
    about = json.loads(first)
    gathering = form._Gathering("test")
    try:
        for number, each in enumerate(rest.splitlines(), 2):
            gathering.take(json.loads(each), each, number)
    except InvalidInput:
        return text
    made = gathering.lessons(about[2]["agent"])
    about[2]["head"] = replace(made, parents=tuple(about[2]["parents"])).head
    return json.dumps(about) + "\n" + rest


def test_lessons_are_loaded_into_a_new_memory_of_the_same_agent_alone(tmp_path: Path) -> None:
    base, _, _ = two_sides(tmp_path)
    with opened(tmp_path / "full.db", ManualClock()) as memory:
        memory.add("Something.")
        with pytest.raises(NotAllowed, match="new one"):
            memory.load_lessons(base)
    with opened(tmp_path / "other.db", ManualClock(), agent="other") as memory, pytest.raises(InvalidInput, match="another agent"):
        memory.load_lessons(base)


def test_randomised_decisions_go_along_with_their_odds(tmp_path: Path) -> None:
    clock = ManualClock()
    with opened(tmp_path / "a.db", clock, settings={"holdout": 0.5}) as memory:
        filled(memory)
        tickets = [memory.decide("How about clamp bound?") for _ in range(6)]
        for ticket in tickets[:4]:
            clock.advance(minutes=1)
            memory.settle(ticket.id or "", delta=1, meter="ci")
        memory.save_lessons(tmp_path / "a.jsonl")
        with opened(tmp_path / "b.db", clock, 2) as again:
            again.load_lessons(tmp_path / "a.jsonl")
            for ticket in tickets:
                there, here = memory.ticket(ticket.id or ""), again.ticket(ticket.id or "")
                assert there is not None and here is not None
                assert (here.holdout, here.exposure, here.roles, here.state) == (there.holdout, there.exposure, there.roles, there.state)
            assert again.uplift() == memory.uplift() and again.uplift().decisions == 4


def test_a_revoked_meter_stays_revoked(tmp_path: Path) -> None:
    clock, text = ManualClock(), tmp_path / "lessons.jsonl"
    with opened(tmp_path / "a.db", clock) as memory:
        filled(memory)
        live(memory, clock, 3, 20)
        memory.meters.revoke("ci")
        memory.save_lessons(text)
        with opened(tmp_path / "b.db", clock, 7) as again:
            again.load_lessons(text)
            assert [meter.revoked is not None for meter in again.meters.list()] == [
                meter.revoked is not None for meter in memory.meters.list()
            ]
            assert {e.id: e.standing for e in again.list()} == {e.id: e.standing for e in memory.list()}

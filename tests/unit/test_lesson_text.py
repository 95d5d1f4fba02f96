"""The text form with everything that a life brings: rules and their trials, links, notes and randomised decisions."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from earnest import Memory
from earnest.core import lessons as form
from earnest.errors import InvalidInput
from earnest.memory import merge_lessons
from earnest.testing import ManualClock, SeededRng

LATER = 1893456000000000
"""A time after everything else."""
TOPICS = ("clamp bound", "socket timeout", "retry policy", "cache eviction", "date parsing", "unicode width", "lock order")


def opened(path: Path, clock: ManualClock, seed: int = 1, channel: str = "settle-ci", **more: Any) -> Memory:
    return Memory.open(path, embedder="none", channel=channel, clock=clock, rng=SeededRng(seed), **more)


def live(memory: Memory, clock: ManualClock, chance: random.Random, decisions: int) -> None:
    """Decisions on what is known, some of them withheld, and what the tests said of them."""
    for _ in range(decisions):
        clock.advance(hours=2)
        ticket = memory.decide(f"How about {chance.choice(TOPICS)}?")
        if ticket.id is None:
            continue
        clock.advance(minutes=1)
        fate = chance.random()
        if fate < 0.15:
            memory.abandon(ticket.id)
        elif fate < 0.9:
            delta = chance.choice([1, 1, 2, 0, -1])
            note = f"{max(delta, 0)} mended, {max(-delta, 0)} broken of 33 tests that both runs measured"
            memory.settle(ticket.id, delta=delta, meter="ci", detail=chance.choice([note, "", "a remark — of a person"]))
        memory.tick_due()


def filled(path: Path, clock: ManualClock, seed: int) -> Memory:
    """A store with a rule in force, one on trial, one that waits, one refused; links; and draws."""
    settings = {"holdout": 0.3, "holdout_entry": 0.5, "rules_approvers": "cli,settle-ci", "supporters": 1}
    memory = opened(path, clock, seed, settings=settings)
    memory.meters.add("ci", unit="tests", scale=1)
    memory.meters.bind("ci", channel="settle-ci")
    made = [memory.add(f"Prefer the careful way in {topic}.", cue=f"How about {topic}?", kind="procedural") for topic in TOPICS]
    memory.link(made[0].id, made[1].id, weight=0.75, reason="the same module")
    memory.link(made[4].id, made[2].id, kind="temporal")
    rules = [
        memory.rules.add("avoid", trigger=f"about {topic}", action=f"Never guess in {topic}.", evidence=[made[place].id])
        for place, topic in enumerate(TOPICS[:5])
    ]
    clock.advance(minutes=1)
    memory.rules.verify(rules[0].id, reason="seen by a person")
    memory.rules.trial(rules[1].id, decisions=200, meter="ci")
    memory.rules.verify(rules[2].id, accept=False)
    memory.rules.trial(rules[3].id, decisions=200)
    clock.advance(minutes=1)
    return memory


def standing(memory: Memory) -> dict[str, Any]:
    made: dict[str, Any] = {
        rule.id: (rule.type, rule.trigger, rule.status, rule.by, rule.since, rule.ends, sorted(rule.evidence))
        for rule in memory.rules.list()
    }
    for name in [*made]:
        rule = memory.rules.get(name)
        if rule.trial is not None:
            seen = rule.trial.seen
            made[f"{name} on trial"] = (
                rule.trial.terms,
                rule.trial.verdict,
                seen.verdict,
                seen.effect,
                seen.low,
                seen.high,
                seen.shown,
                seen.withheld,
            )
    for entry in memory.list(limit=100):
        made[entry.id] = (entry.text, entry.balance, entry.standing)
    with memory._store.read() as reading:
        names = {
            stored.row: stored.entry.id for link in reading.links((0, 0, ""), 100) for stored in reading.entries([link.entry, link.other])
        }
        made["links"] = sorted(
            (*sorted((names[link.entry], names[link.other])), link.kind, link.weight, link.reason)
            for link in reading.links((0, 0, ""), 100)
            if link.stated
        )
    uplift = memory.uplift()
    made["uplift"] = (uplift.effect, uplift.decisions, uplift.holdouts, uplift.low, uplift.high, uplift.lost_shown, uplift.lost_withheld)
    tickets = [memory.ticket(event.ticket or "") for event in memory.events(kind="decide", limit=1000)]
    made["notes"] = sorted((t.id, t.outcome.detail) for t in tickets if t is not None and t.outcome is not None)
    made["open"] = sorted(
        (t.id, t.query, t.holdout, t.exposure, sorted(t.roles.items())) for t in tickets if t is not None and t.state == "pending"
    )
    return made


@pytest.mark.parametrize("seed", range(4))
def test_rules_links_notes_and_draws_come_back_as_they_were(tmp_path: Path, seed: int) -> None:
    clock, text = ManualClock(), tmp_path / "lessons.jsonl"
    with filled(tmp_path / "a.db", clock, seed) as memory:
        live(memory, clock, random.Random(seed), 120)
        first = memory.save_lessons(text)
        with opened(tmp_path / "b.db", clock, seed + 100) as again:
            assert again.load_lessons(text).head == first.head
            assert standing(again) == standing(memory)
            report = again.check()
            assert report.ok, report
            assert not again.save_lessons(text).changed, "nothing happened, nothing is written"
            live(again, clock, random.Random(seed), 5)
            assert again.check().ok
    kinds = {line.split('"')[1] for line in text.read_text().splitlines()}
    assert {"link", "rule", "settled", "ended", "entry"} <= kinds


def sides(tmp_path: Path) -> tuple[Path, Path]:
    """Two texts that came from one and went on apart: decisions, trials, rules and links on both."""
    clock = ManualClock()
    base, ours, theirs = (tmp_path / f"{name}.jsonl" for name in ("base", "ours", "theirs"))
    with filled(tmp_path / "base.db", clock, 5) as memory:
        live(memory, clock, random.Random(5), 30)
        memory.save_lessons(base)
    for side, path in enumerate((ours, theirs)):
        clock.advance(hours=1)
        with opened(tmp_path / f"{path.stem}.db", clock, 50 + side) as memory:
            memory.load_lessons(base)
            entries, pending = memory.list(limit=100), memory.rules.list(status="pending")
            memory.link(entries[0].id, entries[3 + side].id, reason=f"seen by {path.stem}")
            memory.link(entries[5].id, entries[6].id, weight=0.5 + 0.25 * side)
            if side:
                memory.rules.verify(pending[0].id, reason="theirs")
            else:
                memory.rules.trial(pending[0].id, decisions=100)
            clock.advance(minutes=5)
            live(memory, clock, random.Random(70 + side), 25)
            memory.save_lessons(path)
    return ours, theirs


def test_two_sides_are_joined_with_their_draws_trials_and_links(tmp_path: Path) -> None:
    ours, theirs = sides(tmp_path)
    both, other_way = tmp_path / "both.jsonl", tmp_path / "other.jsonl"
    merge_lessons(ours, theirs, both)
    merge_lessons(theirs, ours, other_way)
    assert both.read_bytes() == other_way.read_bytes()
    a, b, made = (form.parsed(path.read_text()) for path in (ours, theirs, both))
    assert set(made.links) == set(a.links) | set(b.links)
    assert max(fact[3] for fact in made.links.values() if fact[3] < 1 and fact[4] == "") == 0.75
    assert {*made.settled, *made.ended} == {*a.settled, *a.ended, *b.settled, *b.ended}
    with opened(tmp_path / "merged.db", ManualClock(), 9) as memory:
        memory.load_lessons(both)
        assert memory.check().ok
        drawn = [fact for side in (a, b) for fact in side.settled.values() if fact[8].get("draws")]
        wanted = {fact[0] for fact in drawn for draw in fact[8]["draws"] if draw[6] is None}
        assert memory.uplift().decisions == len(wanted)
        disputed = next(rule for rule in memory.rules.list() if rule.trigger == "about date parsing")
        assert disputed.status == "active", "what began a trial there and was accepted here is in force: that step came later"
        first = standing(memory)
        assert not memory.save_lessons(both).changed
        assert standing(memory) == first


def test_a_text_of_the_first_form_is_read(tmp_path: Path) -> None:
    text = (Path(__file__).parents[1] / "data" / "lessons" / "form-1.jsonl").read_text(encoding="utf-8")
    made = form.parsed(text)
    assert made.links == {} and made.rules == frozenset() and len(made.settled) > 3
    path = tmp_path / "lessons.jsonl"
    path.write_text(text, encoding="utf-8")
    with opened(tmp_path / "a.db", ManualClock()) as memory:
        report = memory.load_lessons(path)
        assert memory.check().ok and report.head == made.head
        memory.save_lessons(path)
        assert form.parsed(path.read_text(encoding="utf-8")).settled.keys() == made.settled.keys()
        assert path.read_text(encoding="utf-8").startswith('["earnest lessons",2,')


@pytest.mark.parametrize(
    ("fact", "why"),
    [
        (["link", "nobody", "someone", "related", 0.5, ""], "linked"),
        (["rule", "ENTRY", 0, LATER, "active", "accepted", {}], "is no rule"),
        (["rule", "RULE", 0, LATER, "promoted", "accepted", {}], "status"),
        (["rule", "RULE", 0, LATER, "trial", "asked", {"alpha": 0.01}], "lack"),
        (["rule", "RULE", 0, LATER, "trial", "asked", {"alpha": 7, "decisions": 5, "worth": 0.1, "bound": 1, "share": 0.5}], "alpha"),
        (["rule", "RULE", 0, LATER, "active", "accepted", {"by": ["x"]}], "nobody"),
        (["open", "t1", 0, LATER, "ENTRY", [], "q", {"draws": [["ENTRY", "shown", 0.7, 0.0, 0.7, "", None]]}], "odds"),
        (["open", "t1", 0, LATER, "ENTRY", [], "q", {"draws": [["ENTRY", "shown", 0.7, 0.0, 0.3, "", 5]]}], "trial"),
        (["open", "t1", 0, LATER, "ENTRY", [], "q", {"draws": [["ENTRY"]]}], "drawn"),
        (["open", "t1", 0, LATER, "ENTRY", [], "q", {"draws": 5}], "drawn"),
        (["ended", "t1", "ENTRY", 0, LATER, 0, 0, "lost", {}], "end"),
        (["settled", "t1", "ENTRY", 0, LATER, 0, 0, "ci", 1, {"note": {"a": 1}}], "note"),
        (["settled", "t1", "ENTRY", 0, LATER, 0, 0, "ci", 1, {"note": [1, 2]}], "note"),
    ],
)
def test_a_fact_that_cannot_be_is_one_typed_error(tmp_path: Path, fact: list[Any], why: str) -> None:
    with opened(tmp_path / "a.db", ManualClock(), settings={"rules_approvers": "settle-ci"}) as memory:
        entry = memory.add("Close the file.", cue="How is the file read?").id
        rule = memory.rules.add("avoid", trigger="reading files", action="Never leave them open.").id
        memory.save_lessons(tmp_path / "a.jsonl")
    _, *lines = (tmp_path / "a.jsonl").read_text().splitlines()
    said = form.line(fact).replace("ENTRY", entry).replace("RULE", rule)
    gathering = form._Gathering("test")
    for number, each in enumerate([*lines, said], 2):
        gathering.take(form._fact(each, "test", number), each, number)
    (tmp_path / "b.jsonl").write_text(form.written(gathering.lessons("default")))
    with opened(tmp_path / "b.db", ManualClock()) as memory, pytest.raises(InvalidInput, match=why):
        memory.load_lessons(tmp_path / "b.jsonl")

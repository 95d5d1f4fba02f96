"""Forgetting: what is not used fades at its time, use strengthens, and nothing fades that should not."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import apsw
import pytest

from earnest import Memory
from earnest.core import fading
from earnest.errors import InvalidInput, KeyReused, NotAllowed, NotUndoable, StoreReadOnly
from earnest.testing.clock import ManualClock, SeededRng

NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def memory(clock: ManualClock) -> Memory:
    return Memory.open(clock=clock, rng=SeededRng(1))


def fading_entry(memory: Memory, text: str = "The walrus sleeps in room four.", importance: float = 0.3, **more: Any) -> str:
    return memory.add(text, retention="fading", importance=importance, **more).id


def faded(memory: Memory, *, dry_run: bool = False) -> list[str]:
    return [entry.id for entry in memory.decay_cleanup(dry_run=dry_run).entries]


# the curve


@pytest.mark.parametrize(
    ("age", "importance", "wanted"),
    [(0, 1.0, 1.0), (90, 1.0, 0.5), (180, 1.0, 0.25), (90, 0.8, 0.4), (298.9, 1.0, 0.100056645037), (299.0, 1.0, 0.099979614725),
     (1e6, 1.0, 0.0), (1e300, 1.0, 0.0), (-10, 1.0, 1.0), (-1e300, 1.0, 1.0), (0, 0.0, 0.0), (1e-9, 1.0, 1.0), (math.nan, 1.0, 1.0)],
)  # fmt: skip
def test_importance_halves_with_each_half_life(age: float, importance: float, wanted: float) -> None:
    assert fading.worth(importance, age, 90.0) == pytest.approx(wanted, abs=1e-9)


def test_a_clock_begins_with_the_last_recall_and_never_before_the_event() -> None:
    later, event = NOW + timedelta(days=3), NOW + timedelta(days=30)
    assert fading.began(NOW, None, None) == NOW
    assert fading.began(NOW, later, None) == later
    assert fading.began(NOW, later, event) == event
    assert fading.began(None, None, event) is None


def test_a_day_that_no_calendar_holds_is_never() -> None:
    assert fading.fades_at(NOW, 1.0, 1e6, 1e6, 0.1) is None
    assert fading.fades_at(NOW, 1.0, 1.0, 90.0, 0.0) is None
    assert fading.fades_at(datetime(9998, 1, 1, tzinfo=UTC), 1.0, 1.0, 90.0, 0.1) is None
    assert fading.fades_at(NOW, 0.1, 1.0, 90.0, 0.1) == NOW
    assert fading.fades_at(NOW, 0.2, 1.0, 90.0, 0.1) == NOW + timedelta(days=90)


# the cleanup


def test_an_entry_fades_when_it_is_worth_less_than_the_threshold_and_not_before(memory: Memory, clock: ManualClock) -> None:
    entry = fading_entry(memory, importance=0.8)  # 0.8 × 2^-3 = 0.1
    clock.advance(days=270, seconds=-1)
    assert faded(memory) == []
    clock.advance(seconds=2)
    assert faded(memory, dry_run=True) == [entry] and memory.get(entry).standing == "active"
    assert faded(memory) == [entry]
    assert (memory.get(entry).standing, memory.get(entry).cause) == ("dead", "faded")
    assert faded(memory) == [] and memory.check().ok


def test_reading_lets_nothing_fade(memory: Memory, clock: ManualClock) -> None:
    entry = fading_entry(memory)
    clock.advance(days=5000)
    for _ in range(3):
        assert memory.search("walrus")[0].entry.id == entry
        memory.prefetch("walrus")
        memory.list()
    assert memory.get(entry).standing == "active"


def test_earned_kept_and_pinned_entries_never_fade(memory: Memory, clock: ManualClock) -> None:
    memory.add("Earned by outcomes.")
    memory.add("Kept for good.", retention="kept")
    memory.pin(fading_entry(memory))
    clock.advance(days=100_000)
    assert faded(memory, dry_run=True) == [] and faded(memory) == []


def test_an_entry_whose_event_is_ahead_does_not_fade(memory: Memory, clock: ManualClock) -> None:
    booked = fading_entry(memory, "The procedure is booked.", 0.2, valid_from=NOW + timedelta(days=1_000))
    clock.advance(days=1_080)
    assert faded(memory) == []
    clock.advance(days=20)
    assert faded(memory) == [booked]


def test_what_an_open_ticket_names_waits_for_the_verdict(memory: Memory, clock: ManualClock) -> None:
    entry = fading_entry(memory)
    ticket = memory.decide("walrus room").id
    assert ticket is not None
    clock.advance(days=5000)
    report = memory.decay_cleanup()
    assert report.entries == () and report.kept == 1
    memory.abandon(ticket)
    assert faded(memory) == [entry]


def test_restoring_and_undoing_begin_the_clock_anew(memory: Memory, clock: ManualClock) -> None:
    entry = fading_entry(memory)
    clock.advance(days=900)
    memory.decay_cleanup()
    memory.restore(entry)
    assert faded(memory) == [] and memory.get(entry).last_recalled == clock.now()
    clock.advance(days=900)
    memory.decay_cleanup()
    [event] = memory.events(entry=entry, kind="death", newest=True, limit=1)
    assert memory.undo(event.seq) == (entry,)
    assert faded(memory) == [] and memory.get(entry).standing == "active"


def test_an_entry_that_becomes_fading_or_loses_its_pin_begins_anew(memory: Memory, clock: ManualClock) -> None:
    late, pinned = memory.add("Earned first.", importance=0.3).id, fading_entry(memory)
    memory.pin(pinned)
    clock.advance(days=5000)
    memory.update(late, retention="fading")
    memory.unpin(pinned)
    assert faded(memory) == []
    clock.advance(days=140)
    assert faded(memory) == []
    clock.advance(days=10)
    assert sorted(faded(memory)) == sorted([late, pinned])
    assert memory.check().ok and sum(memory.stats().accounts.values()) + memory.stats().energy == 0


def test_moving_between_retentions_keeps_the_accounts_at_zero(memory: Memory) -> None:
    entry = memory.add("It moves.").id
    for retention in ("fading", "kept", "earned", "fading", "earned"):
        memory.update(entry, retention=retention)
        stats = memory.stats()
        assert sum(stats.accounts.values()) + stats.energy == 0
        assert memory.get(entry).balance == (1_000_000 if retention == "earned" else 0)
    assert memory.check().ok


def test_a_cleanup_with_a_key_is_carried_out_once(memory: Memory, clock: ManualClock) -> None:
    first = fading_entry(memory)
    clock.advance(days=900)
    made = memory.decay_cleanup(key="nightly")
    second = fading_entry(memory, "The other walrus sleeps in room five.")
    clock.advance(days=900)
    assert [e.id for e in memory.decay_cleanup(key="nightly").entries] == [e.id for e in made.entries] == [first]
    assert memory.get(second).standing == "active"
    with pytest.raises(KeyReused):
        memory.decay_cleanup(dry_run=True, key="nightly")


@pytest.mark.parametrize("value", [1, "yes", None])
def test_a_dry_run_is_said_with_a_flag(memory: Memory, value: Any) -> None:
    with pytest.raises(InvalidInput, match="dry_run"):
        memory.decay_cleanup(dry_run=value)


def test_more_than_a_batch_falls_in_one_cleanup(memory: Memory, clock: ManualClock) -> None:
    memory.add_many([{"text": f"Walrus number {n} sleeps.", "retention": "fading", "importance": 0.3} for n in range(1_203)])
    clock.advance(days=143)
    lasting = fading_entry(memory, "The last walrus is awake.")
    clock.advance(days=1)
    assert len(faded(memory, dry_run=True)) == 1_203
    assert len(faded(memory)) == 1_203
    assert [entry.id for entry in memory.list()] == [lasting] and memory.check().ok


def test_a_clock_that_steps_back_neither_kills_nor_breaks(memory: Memory, clock: ManualClock) -> None:
    clock.advance(days=3650)
    future = fading_entry(memory, "From the future.")
    clock.advance(days=-3650)
    today = fading_entry(memory, "From today.")
    assert faded(memory) == []
    memory.tick()
    clock.advance(days=-3650)
    assert faded(memory) == [] and len(memory.search("from")) == 2
    memory.feedback(future, "helpful")
    assert memory.get(future).strength <= 1.0 + fading.HELPFUL and memory.get(future).last_recalled == clock.now()
    clock.advance(days=3650 + 900)
    assert set(faded(memory)) == {future, today}


# settings


def test_the_settings_come_in_on_opening(clock: ManualClock) -> None:
    with Memory.open(clock=clock, decay_half_life=10.0, decay_threshold=0.2) as memory:
        entry = fading_entry(memory, importance=0.4)
        clock.advance(days=10, seconds=1)
        assert faded(memory) == [entry]
    for bad in ({"decay_half_life": 0.0}, {"decay_half_life": -1.0}, {"decay_half_life": math.nan}, {"decay_half_life": math.inf},
                {"decay_half_life": True}, {"decay_threshold": -0.1}, {"decay_threshold": 1.5}):  # fmt: skip
        with pytest.raises(InvalidInput, match=next(iter(bad))):
            Memory.open(clock=clock, **bad)


def test_a_changed_half_life_holds_for_what_is_there_already(memory: Memory, clock: ManualClock) -> None:
    ids = {fading_entry(memory, f"Walrus {n}.", 0.4) for n in range(3)}
    clock.advance(days=30)
    assert faded(memory) == []
    memory.configure(decay_half_life=10.0)
    assert set(faded(memory, dry_run=True)) == ids, "stale dates are not answered from"
    memory.configure(decay_half_life=1_000_000.0)
    assert faded(memory, dry_run=True) == faded(memory) == []
    memory.configure(decay_half_life=10.0, decay_threshold=0.0)
    assert faded(memory) == [], "a threshold of zero lets nothing fade"
    memory.configure(decay_threshold=0.2)
    assert set(faded(memory)) == ids


def test_redating_in_batches_can_be_interrupted(tmp_path: Path, clock: ManualClock) -> None:
    from earnest.forgetting import curve

    with Memory.open(tmp_path / "m.db", clock=clock) as memory:
        memory.add_many([{"text": f"Walrus {n}.", "retention": "fading", "importance": 0.4} for n in range(1_100)])
        assert faded(memory) == []
        clock.advance(days=30)
        memory.configure(decay_half_life=10.0)
        with memory._writing() as tx:
            assert curve.redate(tx, memory._read_settings(tx)), "one batch is not all of them"
        assert len(faded(memory, dry_run=True)) == 1_100
    with Memory.open(tmp_path / "m.db", clock=clock, read_only=True) as memory:
        assert len(faded(memory, dry_run=True)) == 1_100
        with pytest.raises(StoreReadOnly):
            memory.decay_cleanup()
    with Memory.open(tmp_path / "m.db", clock=clock) as memory:
        assert len(faded(memory)) == 1_100


def test_the_dates_are_an_indexed_column_that_others_can_read(tmp_path: Path, clock: ManualClock) -> None:
    with Memory.open(tmp_path / "m.db", clock=clock) as memory:
        fading_entry(memory, importance=0.2)
    db = apsw.Connection(str(tmp_path / "m.db"), flags=apsw.SQLITE_OPEN_READONLY)
    [(date,)] = db.execute("SELECT fades_at FROM entries").fetchall()
    assert date == (NOW + timedelta(days=90)).timestamp() * 1e6
    plan = db.execute("EXPLAIN QUERY PLAN SELECT entry FROM entries WHERE standing <> 'dead' AND fades_at IS NOT NULL AND fades_at <= 5")
    assert "entries_fading" in str(plan.fetchall()[0][3])
    db.close()


# recall strengthens


def test_a_recall_counts_and_strengthens_with_the_next_write(memory: Memory, clock: ManualClock) -> None:
    entry = fading_entry(memory)
    clock.advance(days=90)
    assert memory.prefetch("Where does the walrus sleep?").entries
    assert memory.get(entry).recalls == 0, "it rides with the next write"
    clock.advance(days=1)
    memory.add("Something else.")
    after = memory.get(entry)
    assert after.recalls == 1 and after.strength == pytest.approx(1.5)
    assert after.last_recalled == NOW + timedelta(days=90), "the time of the recall, not of the write"
    clock.advance(days=200)
    assert faded(memory) == []


def test_massed_recalls_add_next_to_nothing_and_searches_nothing(memory: Memory, clock: ManualClock) -> None:
    entry = fading_entry(memory)
    clock.advance(days=90)
    for _ in range(500):
        memory.answer("Where does the walrus sleep?")
        memory.search("walrus")
    memory.add("Something else.")
    assert memory.get(entry).recalls == 500 and memory.get(entry).strength == pytest.approx(1.5)
    for _ in range(50):
        clock.advance(minutes=1)
        memory.answer("Where does the walrus sleep?")
        memory.tick()
    assert memory.get(entry).strength < 1.51


def test_strength_saturates_and_what_was_recalled_most_fades_too(memory: Memory, clock: ManualClock) -> None:
    entry = fading_entry(memory, importance=0.5)
    for _ in range(60):
        clock.advance(days=80)
        memory.decide("Where does the walrus sleep?")
    assert memory.get(entry).strength <= fading.STRONGEST
    for ticket in memory.pending():
        memory.abandon(ticket.id)
    clock.advance(days=365 * 20)
    assert faded(memory) == [entry]


def test_a_note_of_use_that_comes_back_is_for_who_shows_search_results(memory: Memory, clock: ManualClock) -> None:
    entry = fading_entry(memory)
    clock.advance(days=90)
    memory.recalled([entry, "nobody"])
    memory.tick()
    assert memory.get(entry).recalls == 1 and memory.get(entry).strength == pytest.approx(1.5)
    with pytest.raises(InvalidInput, match="ids"):
        memory.recalled(7)  # type: ignore[arg-type]


# feedback


def test_helpful_feedback_strengthens_at_once_and_more_after_a_rest(memory: Memory, clock: ManualClock) -> None:
    entry = fading_entry(memory)
    first = memory.feedback(entry, "helpful")
    assert first.counted and first.changed == {"strength": (1.0, pytest.approx(1.1))}
    clock.advance(days=900)
    gained = memory.feedback(entry, "helpful").changed["strength"]
    assert gained[1] - gained[0] == pytest.approx(0.5, abs=0.01)
    assert "2 said helpful" in memory.obituary(entry)


def test_unhelpful_feedback_lowers_importance_to_half_and_helpful_gives_it_back(memory: Memory, clock: ManualClock) -> None:
    entry = fading_entry(memory, importance=0.8)
    seen = []
    for _ in range(10):
        clock.advance(days=1)
        seen.append(memory.feedback(entry, "unhelpful").entry.importance)
    assert seen[:5] == pytest.approx([0.7, 0.6, 0.5, 0.4, 0.4]) and seen[-1] == pytest.approx(0.4)
    for _ in range(10):
        clock.advance(days=1)
        memory.feedback(entry, "helpful")
    assert memory.get(entry).importance == pytest.approx(0.8), "never above what its author gave"
    memory.update(entry, importance=0.2)
    clock.advance(days=1)
    assert memory.feedback(entry, "unhelpful").entry.importance == pytest.approx(0.175), "the author gives it anew"


def test_three_opinions_a_day_count_and_more_say_so(memory: Memory, clock: ManualClock) -> None:
    entry = fading_entry(memory, importance=0.8)
    made = [memory.feedback(entry, "unhelpful") for _ in range(5)]
    assert [one.counted for one in made] == [True, True, True, False, False]
    assert memory.get(entry).importance == pytest.approx(0.5) and "today" in made[-1].reason
    clock.advance(days=1)
    assert memory.feedback(entry, "unhelpful").counted


def test_outdated_ends_validity_and_asks_for_a_replacement(memory: Memory, clock: ManualClock) -> None:
    entry = memory.add("The gateway uses port 1.").id
    clock.advance(days=1)
    made = memory.feedback(entry, "outdated")
    assert made.changed["valid_to"] == (None, clock.now()) and memory.get(entry).valid_to == clock.now()
    assert "outdated" in [finding.code for finding in memory.doctor().findings]
    memory.update(entry, text="The gateway uses port 2.")
    assert "outdated" not in [finding.code for finding in memory.doctor().findings]


def test_a_claim_or_a_pin_keeps_the_validity_and_asks_all_the_same(clock: ManualClock, tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m.db", clock=clock, channel="mcp") as agent:
        entry = agent.add("Never delete the archive.").id
        made = agent.feedback(entry, "outdated")
        assert made.entry.valid_to is None and "claim" in made.reason
    with Memory.open(tmp_path / "m.db", clock=clock) as memory:
        memory.pin(entry)
        assert memory.feedback(entry, "outdated").entry.valid_to is None
        assert "outdated" in [finding.code for finding in memory.doctor().findings]


def test_feedback_moves_neither_balance_nor_evidence_nor_standing(memory: Memory, clock: ManualClock) -> None:
    entry = memory.add("The gateway uses port 1.").id
    ticket = memory.decide("Which port does the gateway use?").id
    assert ticket is not None
    memory.settle(ticket, delta=1.0, meter="ci")
    before, earned = memory.get(entry), memory.earned(entry)
    for verdict in ("helpful", "unhelpful", "outdated"):
        memory.feedback(entry, verdict)
    after = memory.get(entry)
    assert (after.balance, after.standing, after.recalls) == (before.balance, before.standing, before.recalls)
    assert memory.earned(entry) == earned > 0 and memory.check().ok


def test_feedback_is_an_event_that_can_be_taken_back(memory: Memory, clock: ManualClock) -> None:
    entry = fading_entry(memory, importance=0.8)
    before = memory.get(entry)
    clock.advance(days=40)
    for verdict in ("helpful", "unhelpful", "outdated"):
        memory.feedback(entry, verdict, key=verdict)
        assert memory.feedback(entry, verdict, key=verdict).changed, "a repeated request returns what the first one did"
    events = memory.events(entry=entry, kind="feedback")
    assert [event.data["verdict"] for event in events] == ["helpful", "unhelpful", "outdated"]
    for event in reversed(events):
        assert memory.undo(event.seq) == (entry,)
    after = memory.get(entry)
    assert (after.strength, after.importance, after.valid_to, after.last_recalled) == (1.0, 0.8, None, before.last_recalled)
    assert "outdated" not in [finding.code for finding in memory.doctor().findings] and memory.check().ok
    with pytest.raises(NotUndoable, match="already"):
        memory.undo(events[0].seq)


def test_an_opinion_that_was_built_on_is_taken_back_in_order(memory: Memory) -> None:
    entry = fading_entry(memory, importance=0.8)
    memory.feedback(entry, "unhelpful")
    memory.feedback(entry, "unhelpful")
    first, second = (event.seq for event in memory.events(kind="feedback"))
    with pytest.raises(NotUndoable, match="changed again"):
        memory.undo(first)
    memory.undo(second)
    memory.undo(first)
    assert memory.get(entry).importance == pytest.approx(0.8)


def test_feedback_on_the_dead_and_nonsense_is_refused(memory: Memory) -> None:
    entry = fading_entry(memory)
    for bad in ("great", "", None, 5):
        with pytest.raises(InvalidInput, match="verdict"):
            memory.feedback(entry, bad)  # type: ignore[arg-type]
    memory.forget(entry)
    with pytest.raises(NotAllowed, match="dead"):
        memory.feedback(entry, "helpful")


# the schedule


def test_scheduled_work_lets_fade_a_days_share_and_by_hand_all(memory: Memory, clock: ManualClock) -> None:
    memory.add_many([{"text": f"Walrus {n} sleeps in room {n}.", "retention": "fading", "importance": 0.3} for n in range(200)])
    clock.advance(days=900)
    dry = memory.maintain(dry_run=True)
    assert (dry.changed, len(dry.faded), dry.due) == (0, 10, 200)
    first = memory.maintain()
    assert len(first.faded) == 10 and first.budget == 10 and first.due == 190
    assert memory.maintain().faded == (), "the day's share was used up"
    clock.advance(days=1)
    assert len(memory.maintain().faded) == 9
    assert len(faded(memory)) == 181 and memory.check().ok


def test_the_schedule_spares_what_answers_a_known_question(memory: Memory, clock: ManualClock) -> None:
    wanted = fading_entry(memory, "The vault code is kept by Dana.")
    other = fading_entry(memory, "The fountain is green.")
    clock.advance(days=900)
    report = memory.maintain(canaries=[("Who keeps the vault code?", "Dana")])
    assert report.faded == (other,) and memory.get(wanted).standing == "active" and not report.rolled_back


def test_a_rolled_back_run_brings_back_what_faded(memory: Memory, clock: ManualClock) -> None:
    entry = fading_entry(memory)
    for end in ("", " rotated"):
        memory.add(f"The kalar service writes its log to the kalar folder{end}.", retention="kept", cue="Where does kalar log?")
    clock.advance(days=900)
    # The merge keeps no such text, to the letter, so that the question is not answered as before and everything is taken back.
    report = memory.maintain(canaries=[("Where does kalar log?", "log to the kalar folder.")])
    assert report.rolled_back and memory.get(entry).standing == "active" and memory.get(entry).last_recalled == clock.now()
    clock.advance(days=900)
    assert memory.maintain().faded == (), "what was taken back is left alone by the schedule"
    assert faded(memory) == [entry], "and not by a person"


def test_a_harmful_entry_that_fades_goes_on_guarding_its_question(memory: Memory, clock: ManualClock) -> None:
    entry = fading_entry(memory, "Delete the archive whenever the disk is full.")
    for _ in range(2):
        ticket = memory.decide("Should the archive be deleted when the disk is full?").id
        if ticket is not None:
            memory.settle(ticket, delta=-5.0, meter="disk")
    assert memory.get(entry).standing == "suspended"
    clock.advance(days=900)
    assert faded(memory) == [entry] and memory.get(entry).cause == "executed"
    assert memory.add("Delete the archive whenever the disk is full.").standing == "suspended"


# the command line


def test_the_commands_say_what_the_verbs_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from earnest.cli.main import main

    clock, store = ManualClock(datetime(2020, 1, 1, tzinfo=UTC)), str(tmp_path / "m.db")
    with Memory.open(store, clock=clock) as memory:
        entry = fading_entry(memory)
    assert main(["decay", "--dry-run", "--json", "--store", store]) == 0
    assert [e["id"] for e in json.loads(capsys.readouterr().out)["entries"]] == [entry]
    assert main(["feedback", entry, "helpful", "--json", "--store", store]) == 0
    assert json.loads(capsys.readouterr().out)["changed"]["strength"][1] > 1
    assert main(["decay", "--store", store]) == 0 and "0 entries faded" in capsys.readouterr().out
    for _ in range(2):
        main(["feedback", entry, "unhelpful", "--store", store])
    assert main(["feedback", entry, "unhelpful", "--store", store]) == 1
    assert "today" in capsys.readouterr().out

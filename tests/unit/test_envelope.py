"""Scheduled work keeps inside its envelope: a share a day, canaries, and a way back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from earnest import Memory
from earnest.cli.main import main
from earnest.errors import InvalidInput, KeyReused
from earnest.ledger import compressing
from earnest.testing.clock import ManualClock, SeededRng
from earnest.verbs import linking

NAMES = [f"{a}{b}" for a in ("ka", "lo", "mi", "ne", "pu", "ra", "so", "ti") for b in ("lar", "nek", "mos", "tip", "ran")]


def filled(pairs: int, singles: int = 0, of: type[Memory] = Memory, **more: Any) -> tuple[Memory, ManualClock]:
    """A store with so many pairs of near-duplicates that agree, and so many entries beside them."""
    clock = ManualClock()
    memory = of.open(clock=clock, rng=SeededRng(1), **more)
    for name in NAMES[:pairs]:
        memory.add(f"The {name} service writes its log to the {name} folder.", cue=f"Where does {name} log?")
        memory.add(f"The {name} service writes its log to the {name} folder rotated.")
    for n in range(singles):
        memory.add(f"Fact {n * 7919} concerns matter{n}.")
    return memory, clock


def test_a_run_changes_at_most_the_days_share_and_goes_on_the_next_day() -> None:
    memory, clock = filled(20, 60, settings={"daily_share": 0.05})
    first = memory.maintain()
    assert first.budget == 5 and first.changed == 4 and first.due == 36 and not first.rolled_back
    assert memory.maintain().changed == 0, "the day's share is used up, but for one entry, and a pair is two"
    clock.advance(hours=23)
    assert memory.maintain().changed == 0
    clock.advance(hours=1)
    assert memory.maintain().changed == 4
    for _ in range(20):
        clock.advance(days=1)
        memory.maintain()
    assert memory.stats().alive == 80 and memory.stats().by_cause == {"merged": 40} and memory.check().ok


def test_the_share_counts_what_other_runs_did_today_but_not_what_people_asked_for() -> None:
    memory, _ = filled(20, 60, settings={"daily_share": 0.1})
    asked = [entry.id for entry in memory.list(limit=2)]
    memory.merge(asked)
    assert memory.maintain().budget == 9
    assert memory.maintain().budget == 1
    assert memory.consolidate().merged == 30, "somebody called it"


def test_the_share_does_not_bind_a_small_store() -> None:
    memory, _ = filled(5, settings={"daily_share": 0.01})
    made = memory.maintain()
    assert made.budget is None and made.changed == 10 and made.due == 0 and memory.stats().alive == 5


def test_a_share_of_zero_lets_scheduled_work_change_nothing() -> None:
    memory, _ = filled(20, 60, settings={"daily_share": 0})
    assert memory.maintain().changed == 0 and memory.stats().alive == 100


def test_a_dry_run_only_says() -> None:
    memory, _ = filled(20, 60)
    events = len(memory.events(limit=1000))
    told = memory.maintain(dry_run=True)
    assert len(told.groups) == 2 and told.heirs == () and told.changed == 0 and told.due == 40 and told.canaries > 0
    assert len(memory.events(limit=1000)) == events
    assert memory.maintain().groups == told.groups


def test_canaries_from_the_store_are_cues_and_questions_that_were_answered_well() -> None:
    memory, _ = filled(5)
    memory.add("The zebra is striped.")
    ticket = memory.decide("Is the zebra striped?")
    memory.settle(str(ticket.id), delta=1.0)
    made = memory.maintain()
    assert made.canaries == 6 and made.changed == 10 and not made.broken
    recalls = memory.get(ticket.deciding.id).recalls if ticket.deciding else 0
    memory.maintain()
    assert ticket.deciding and memory.get(ticket.deciding.id).recalls == recalls, "watching leaves no trace"


def test_a_broken_canary_takes_everything_back_and_those_entries_are_left_alone() -> None:
    memory, clock = filled(3)
    before = {entry.id: entry for entry in memory.list()}
    [cue] = [entry for entry in memory.list() if entry.text.startswith("The kalar") and entry.cue]
    # An id that a merge cannot keep as the answer: the text must be the short one, to the letter.
    made = memory.maintain(canaries=[(cue.cue, "log to the kalar folder.")])
    assert made.rolled_back and made.broken == (cue.cue,) and made.changed == 0 and made.stuck == ()
    after = {entry.id: entry for entry in memory.list()}
    assert {i: (e.text, e.balance, e.standing) for i, e in after.items()} == {i: (e.text, e.balance, e.standing) for i, e in before.items()}
    [event] = memory.events(kind="rollback")
    assert event.data["broken"] == 1 and set(event.entries) == set(before) and str(cue.cue) in event.note
    clock.advance(days=1)
    assert memory.maintain().groups == () and memory.check().ok


def test_a_canary_that_did_not_hold_before_says_nothing_about_the_run() -> None:
    memory, _ = filled(3)
    made = memory.maintain(canaries=[("Where does kalar log?", "in the cloud"), ("What of quantum chromodynamics?", "gluons")])
    assert made.canaries == 0 and made.changed == 6 and not made.rolled_back


def test_canaries_may_name_entries_and_scopes() -> None:
    memory, _ = filled(3)
    [cue] = [entry for entry in memory.list() if entry.text.startswith("The kalar") and entry.cue]
    mine = memory.add("The walrus is large.", scope="zoo")
    made = memory.maintain(
        canaries=[{"question": cue.cue, "expect": cue.id}, {"question": "How large is the walrus?", "scope": "zoo", "expect": mine.id}]
    )
    assert made.canaries == 2 and made.changed == 6, "the heir of an entry answers for it"


@pytest.mark.parametrize(
    "canaries", ["question", ["question"], [("q",)], [{"ask": "q"}], [("", "x")], [("q", 7)], [{"question": "q", "scope": 7}]]
)
def test_canaries_are_checked_at_the_door(canaries: Any) -> None:
    memory, _ = filled(1)
    with pytest.raises(InvalidInput, match="canaries"):
        memory.maintain(canaries=canaries)
    assert memory.stats().alive == 2


def test_a_key_makes_a_run_happen_once() -> None:
    memory, _ = filled(3)
    first = memory.maintain(key="night-1")
    assert memory.maintain(key="night-1") == first and first.changed == 6
    with pytest.raises(KeyReused):
        memory.maintain(key="night-1", dry_run=True)


class Busy(Memory):
    """A memory that another agent asks while a run looks over what it did."""

    looks = 0

    def _deciding(self, query: str, scope: str) -> Any:
        self.looks += 1
        if self.looks == 2:
            self.decide(query)
        return super()._deciding(query, scope)


def test_a_merge_that_was_built_on_in_between_is_said_to_be_stuck() -> None:
    memory, _ = filled(3, of=Busy)
    made = memory.maintain(canaries=[("Where does kalar log?", "log to the kalar folder.")])
    assert made.rolled_back and len(made.stuck) == 1 and made.changed == 2
    assert memory.stats().by_cause == {"merged": 2, "forgotten": 2} and memory.check().ok


# long entries

LONG = (
    "Old logs under logs{n}/ may be deleted after {days} days. The team talked for a long afternoon about this over coffee. "
    "The weather was fine and everybody was glad. Never delete billing logs {n}, which Anna keeps for 10 years."
)


def wordy(count: int, **settings: Any) -> tuple[Memory, ManualClock]:
    """A store with so many long entries, each of another number."""
    clock = ManualClock()
    memory = Memory.open(clock=clock, rng=SeededRng(1), embedder="none", settings=settings)
    for n in range(count):
        memory.add(LONG.format(n=n * 7919, days=n * 31 + 2), cue=f"What of logs{n * 7919}?")
    return memory, clock


def test_upkeep_shortens_nothing_unless_the_setting_says_so() -> None:
    memory, clock = wordy(3)
    clock.advance(days=1000)
    assert memory.maintain(dry_run=True).compressed == memory.maintain().compressed == ()
    with pytest.raises(InvalidInput, match="compress_over is 0"):
        memory.maintain(llm=lambda prompt: "shorter")
    assert len(memory.list()) == 3


def test_upkeep_shortens_what_is_long_and_old_enough_and_a_dry_run_says_what() -> None:
    memory, clock = wordy(3, compress_over=100, compress_after=30.0)
    assert memory.maintain().compressed == (), "they were just written"
    clock.advance(days=31)
    young = memory.add(LONG.format(n="young", days=5))
    told = memory.maintain(dry_run=True)
    assert told.due == len(told.compressed) == 3 and all(heir == "" for _, heir in told.compressed)
    made = memory.maintain()
    assert [one for one, _ in made.compressed] == [one for one, _ in told.compressed]
    assert made.changed == 3 and made.due == 0 and made.saved > 300 and not made.rolled_back and memory.check().ok
    assert memory.get(young.id).standing == "active"
    one, heir = made.compressed[0]
    assert memory.get(one).cause == "superseded" and "weather" not in memory.get(heir).text
    [event] = memory.events(entry=heir, kind="supersede")
    memory.undo(event.seq)
    assert memory.get(one).standing == "active", "it is taken back like anything else"


def test_what_is_shortened_counts_in_the_days_share_with_all_else() -> None:
    memory, clock = wordy(60, compress_over=100, compress_after=0.0)
    made = memory.maintain()
    assert made.budget == made.changed == len(made.compressed) == 3 and made.due == 57
    assert memory.maintain().changed == 0
    clock.advance(days=1)
    assert len(memory.maintain().compressed) == 3


def test_a_broken_canary_brings_long_texts_back_with_all_else() -> None:
    memory, _ = wordy(2, compress_over=100, compress_after=0.0)
    for name in ("kalar", "kanek"):
        memory.add(f"The {name} service writes its log to the {name} folder.", cue=f"Where does {name} log?")
        memory.add(f"The {name} service writes its log to the {name} folder rotated.")
    before = {entry.id: (entry.text, entry.balance) for entry in memory.list()}
    made = memory.maintain(canaries=[("Who had coffee over a long afternoon?", "coffee")])
    assert made.rolled_back and made.changed == 0 and made.compressed == () and len(made.groups) == 2
    assert {entry.id: (entry.text, entry.balance) for entry in memory.list()} == before
    [event] = memory.events(kind="rollback")
    assert event.data["compressed"] == 2 and event.data["merges"] == 2 and set(event.entries) == set(before)
    again = memory.maintain()
    assert again.compressed == again.groups == () and memory.check().ok, "what was taken back is left alone"


def test_what_cannot_be_shortened_does_not_keep_the_others_from_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    memory, clock = wordy(6, compress_over=150, compress_after=0.0)
    for n in range(7):
        # One sentence, longer than all the others: nothing of it can be left out.
        memory.add(f"Account {n * 104729} " + " ".join(f"holds item {n}{m}," for m in range(30)) + " and nothing else.")
    monkeypatch.setattr(compressing, "TRIED", 4)
    seen: set[str] = set()
    for _ in range(4):
        clock.advance(days=1)
        made = memory.maintain()
        seen |= {one for one, _ in made.compressed}
        assert len(made.compressed) + len(made.refused) <= 4
    assert len(seen) == 6, "repeated runs cover all of them"
    refused: set[str] = set()
    for _ in range(2):
        clock.advance(days=1)
        refused |= {one for one, _ in memory.maintain().refused}
    assert len(refused) == 7, "and begin anew when they are through"


def test_a_model_writes_the_shorter_texts_only_where_one_is_given() -> None:
    memory, _ = wordy(2, compress_over=100, compress_after=0.0, llm="ollama:nobody-is-there")
    prompts: list[str] = []

    def model(prompt: str) -> str:
        prompts.append(prompt)
        note = prompt.split("<note>\n")[1].split("\n</note>")[0]
        return " ".join(part for part in note.split(". ") if "weather" not in part and "coffee" not in part).replace(
            "days Never", "days. Never"
        )

    made = memory.maintain(llm=model, dry_run=True)
    assert not prompts and len(made.compressed) == 2
    made = memory.maintain(llm=model)
    assert len(prompts) == len(made.compressed) == 2 and made.refused == (), made
    memory, _ = wordy(2, compress_over=100, compress_after=0.0, llm="ollama:nobody-is-there")
    assert len(memory.maintain().compressed) == 2, "the memory's own model is not asked unless the call says so"


def test_upkeep_says_how_many_entries_wait_to_be_compared_and_goes_on_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    memory, _ = filled(0, 230)
    monkeypatch.setattr(linking, "_LIKENED", 100)
    assert memory.maintain(dry_run=True).to_link == 230
    assert [memory.maintain().to_link for _ in range(3)] == [130, 30, 0]
    memory.configure(links=0)
    assert memory.maintain().to_link == 0


def test_the_command_says_what_upkeep_shortened_and_what_waits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(tmp_path / "memory.db")
    with Memory.open(store, embedder="none", settings={"compress_over": 150, "compress_after": 0.0}) as memory:
        for n in range(2):
            memory.add(LONG.format(n=n * 7919, days=n * 31 + 2))
        memory.add("Account 5 " + " ".join(f"holds item {m}," for m in range(30)) + " and nothing else.")

    def said(*words: str, status: int = 0) -> str:
        capsys.readouterr()
        assert main(["maintain", *words, "--store", store]) == status
        out = capsys.readouterr()
        return out.out + out.err

    dry = said("--dry-run")
    assert "3 entries would be changed" in dry and "3 entries would be made shorter." in dry and "3 entries not yet compared" in dry
    assert len(json.loads(said("--dry-run", "--json"))["compressed"]) == 3
    done = said()
    assert "2 entries made shorter, by " in done and "stays as long as it is" in done and "not yet compared" not in done
    with Memory.open(store, embedder="none") as memory:
        memory.configure(compress_over=0)
    assert "compress_over is 0" in said("--model", "ollama:nobody", status=2)

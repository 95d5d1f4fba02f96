"""`doctor`: every code with a failure that was staged, and silence where all is well."""

from __future__ import annotations

import ast
import re
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import apsw
import pytest

from earnest import Memory, SurvivalConfig, SurvivalLoop
from earnest.core.reports import Finding
from earnest.embedders.hashing import HashingEmbedder
from earnest.encoding import demo_corpus
from earnest.environments import StorageEnv
from earnest.testing.clock import ManualClock, SeededRng

CLASSIC: Final = {"rule": "classic"}
"""Under which every tick charges rent, also one in which nothing was settled."""


def opened(path: str | Path = ":memory:", **more: Any) -> Memory:
    return Memory.open(path, clock=ManualClock(), rng=SeededRng(1), **more)


def codes(memory: Memory) -> list[str]:
    return [finding.code for finding in memory.doctor().findings]


def found(memory: Memory, code: str) -> Finding:
    [finding] = [f for f in memory.doctor().findings if f.code == code]
    assert finding.summary and finding.evidence and finding.fix
    return finding


def settled(memory: Memory, delta: float, query: str = "zebra", **more: Any) -> None:
    assert memory.settle(str(memory.decide(query).id), delta=delta, **more).landed


def working(**more: Any) -> Memory:
    """A store that does what it should: measured, paid, ticking with its outcomes."""
    memory = opened(**more)
    memory.add("The zebra is striped.")
    memory.add("The horse is brown.")
    for n in range(12):
        settled(memory, 1.0, "zebra" if n % 2 else "horse")
        memory.tick()
    return memory


def test_a_store_that_works_raises_no_alarm() -> None:
    memory = working()
    assert memory.doctor().findings == ()
    assert memory.doctor().healthy and not memory.doctor().failing


def test_an_unmeasured_store_is_not_called_clean() -> None:
    memory = opened()
    assert found(memory, "nothing_measured").severity == "info"
    assert memory.doctor().healthy
    memory.add("The zebra is striped.")
    memory.decide("zebra")
    assert "1 decisions" in found(memory, "nothing_measured").evidence
    settled(memory, 1.0)
    assert "nothing_measured" not in codes(memory)


def test_a_store_of_pure_silence_is_an_error() -> None:
    memory = opened()
    memory.add("The zebra is striped.")
    for _ in range(9):
        memory.decide("quantum chromodynamics")
    settled(memory, 1.0)  # what was noted about use rides with the next write
    assert found(memory, "silent_majority").severity == "error"
    assert memory.doctor().failing and "9 of 10" in found(memory, "silent_majority").evidence


def test_a_few_silences_are_none_of_its_business() -> None:
    memory = working()
    for _ in range(12):
        memory.decide("quantum chromodynamics")
    memory.tick()
    assert memory.doctor().findings == ()


def test_outcomes_of_zero_only_are_an_error() -> None:
    memory = opened()
    memory.add("The zebra is striped.")
    for n in range(5):
        assert ("never_paid" in codes(memory)) is False, f"{n} outcomes say nothing yet"
        settled(memory, 0.0)
    assert found(memory, "never_paid").severity == "error"
    settled(memory, 1.0)
    assert "never_paid" not in codes(memory)


def test_dying_of_hunger_before_anything_was_paid_is_an_error() -> None:
    memory = opened(settings=CLASSIC)
    for n in range(3):
        memory.add(f"fact number {n}")
    for _ in range(20):
        memory.tick()
    finding = found(memory, "starvation_cliff")
    assert finding.severity == "error" and "3 of 3" in finding.evidence and "20 ticks" in finding.evidence


def test_starving_beside_entries_that_earn_is_selection_not_a_cliff() -> None:
    memory = opened()
    memory.add("The zebra is striped.")
    for n in range(4):
        memory.add(f"fact number {n}")
    for _ in range(21):
        settled(memory, 1.0)
        memory.tick()
    assert memory.stats().by_cause == {"starved": 4}
    assert memory.doctor().findings == ()


def test_a_clock_that_runs_on_after_the_earning_stopped_is_a_warning() -> None:
    memory = opened(settings=CLASSIC)
    memory.add("The zebra is striped.")
    settled(memory, 0.1)
    for n in range(12):
        assert "ticking_without_evidence" not in codes(memory), n
        memory.tick()
        if n >= 10:
            break
    for _ in range(8):
        memory.tick()
    finding = found(memory, "ticking_without_evidence")
    assert finding.severity == "warning" and memory.doctor().healthy is False and memory.doctor().failing is False


def test_an_extinct_store_that_earned_once_is_told_so() -> None:
    memory = opened(settings=CLASSIC)
    memory.add("The zebra is striped.")
    settled(memory, 0.1)
    for _ in range(40):
        memory.tick()
    assert memory.stats().alive == 0 and "ticking_without_evidence" in codes(memory)


@pytest.mark.parametrize("rent", [0.0, 0])
def test_where_no_rent_is_charged_the_clock_can_starve_nobody(rent: float) -> None:
    memory = opened(settings={"rent": rent})
    memory.add("The zebra is striped.")
    settled(memory, 1.0)
    for _ in range(100):
        memory.tick()
    assert memory.doctor().findings == ()


def test_a_tiny_rent_raises_no_alarm() -> None:
    memory = opened(settings={"rent": 1e-5})
    memory.add("The zebra is striped.")
    settled(memory, 1.0)
    for _ in range(12):
        memory.tick()
    assert memory.doctor().findings == ()
    memory.configure(rent=0.000001)
    assert memory.doctor().findings == ()


def test_tickets_that_nobody_settles_are_a_warning() -> None:
    memory = opened()
    memory.pin(memory.add("The zebra is striped.").id)
    settled(memory, 1.0)
    memory.decide("zebra")
    for _ in range(51):
        memory.tick(expire_after=1_000)
    finding = found(memory, "tickets_stale")
    assert finding.severity == "warning" and "tickets open: 1; the oldest waits for 51 ticks" in finding.evidence
    memory.abandon(memory.pending()[0].id)
    assert "tickets_stale" not in codes(memory)


def test_many_settlements_of_closed_tickets_are_a_warning() -> None:
    memory = working()
    ticket = str(memory.decide("zebra").id)
    memory.settle(ticket, delta=1.0)
    for n in range(5):
        assert "settlements_dropped" not in codes(memory), n
        memory.settle(ticket, delta=1.0)
    assert "5 dropped, 13 landed" in found(memory, "settlements_dropped").evidence


def test_a_few_duplicate_deliveries_are_normal() -> None:
    memory = working()
    memory.settle("nope", delta=1.0)
    memory.settle("nope", delta=1.0)
    assert memory.doctor().findings == ()


def test_outcomes_that_people_typed_are_marked() -> None:
    memory = opened(channel="cli")
    memory.add("The zebra is striped.")
    settled(memory, 1.0)
    assert "1 of 1 settlements are marked operator" in found(memory, "operator_settled").evidence


def test_outcomes_that_agents_claimed_are_marked() -> None:
    memory = opened(channel="mcp")
    memory.add("The zebra is striped.")
    settled(memory, 1.0)
    assert "1 of 1 settlements are marked claimed" in found(memory, "agent_settled").evidence
    assert "operator_settled" not in codes(memory)


def test_a_meter_bound_to_the_channel_is_measured_and_no_cause_for_alarm() -> None:
    memory = opened(channel="mcp")
    memory.meters.add("ci", tier="measured")
    memory.meters.bind("ci", channel="mcp")
    memory.add("The zebra is striped.")
    settled(memory, 1.0, meter="ci")
    assert memory.doctor().findings == ()


@pytest.mark.parametrize(
    ("code", "damage"),
    [
        ("index_lag", "DELETE FROM terms"),
        ("index_damaged", "DELETE FROM terms WHERE rowid = 1; INSERT INTO terms (rowid, facets, text, cue) VALUES (99, '', 'x', '')"),
    ],
)
def test_an_index_that_lags_or_is_damaged_is_an_error(tmp_path: Path, code: str, damage: str) -> None:
    with opened(tmp_path / "m.db") as memory:
        memory.add("The zebra is striped.")
        settled(memory, 1.0)
        assert memory.doctor().findings == ()
    broken = apsw.Connection(str(tmp_path / "m.db"))
    broken.execute(damage)
    broken.close()
    with opened(tmp_path / "m.db") as memory:
        assert found(memory, code).severity == "error" and len(codes(memory)) == 1
        assert memory.check(repair=True).ok
        assert memory.doctor().findings == ()


def test_an_empty_entry_that_forgotten_tickets_keep_is_a_zombie() -> None:
    memory = opened()
    memory.add("The zebra is striped.")
    memory.add("The horse is brown.")
    settled(memory, 1.0, "horse")
    ticket = memory.decide("zebra")
    for _ in range(29):
        settled(memory, 1.0, "horse")
        memory.tick()
    assert memory.get(ticket.deciding.id if ticket.deciding else "").standing == "suspended" and "zombies" not in codes(memory)
    settled(memory, 1.0, "horse")
    memory.tick()
    assert found(memory, "zombies").severity == "warning" and "empty for 10 ticks" in found(memory, "zombies").evidence
    memory.abandon(str(ticket.id))
    assert codes(memory) == [] and memory.stats().by_cause == {"starved": 1}


def test_decisions_that_nobody_ends_are_a_warning_before_any_of_them_is_old() -> None:
    memory = working()
    for n in range(100):
        assert "escrow_buildup" not in codes(memory), n
        memory.decide("zebra")
    assert "100 tickets are open, 12 were ever ended" in found(memory, "escrow_buildup").evidence
    for ticket in memory.pending():
        memory.abandon(ticket.id)
    assert codes(memory) == []


def test_an_entry_that_lives_from_what_it_was_recalled_beside_is_a_free_rider() -> None:
    memory = opened(settings={"rule": "classic"})
    memory.add_many([{"text": f"Fact {n} is about matter{n}."} for n in range(10)])
    memory.add("The zebra is striped and fast.")
    rider = memory.add("The zebra is fast and shy.")
    for n in range(10):
        assert "free_riders" not in codes(memory), n
        settled(memory, 1.0, "Is the zebra striped and fast?")
    assert rider.id in found(memory, "free_riders").evidence
    settled(memory, 1.0, "shy")
    assert "free_riders" not in codes(memory), "it decided once itself"


def test_outcomes_that_reach_no_entry_are_a_warning() -> None:
    memory = opened(settings={"rule": "classic"})
    memory.add("The zebra is striped.", retention="kept")
    for n in range(5):
        assert "credit_untracked" not in codes(memory), n
        settled(memory, 1.0)
    assert "5 of the last 5" in found(memory, "credit_untracked").evidence
    memory.add("The horse is brown.")
    for _ in range(5):
        settled(memory, 1.0, "horse")
    assert "credit_untracked" not in codes(memory)


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("Cache files under cache/ may be deleted.", "Cache files under cache/ may not be deleted.", "negation"),
        ("Backups run before the migration of the database.", "Backups run after the migration of the database.", "opposites"),
        ("The API listens on port 8080.", "The API listens on port 9090.", None),
        ("Alice owns the deploy pipeline.", "Bob owns the deploy pipeline.", None),
        ("Cache files under cache/ may be deleted.", "Cache files under cache/ may be deleted at any time.", None),
    ],
)
def test_two_entries_that_may_both_decide_and_say_opposite_things_are_a_warning(first: str, second: str, told: str | None) -> None:
    memory = working()
    kept = memory.add(first)
    memory.add(second)
    if told is None:
        assert codes(memory) == []
        return
    assert kept.id in found(memory, "contradictions").evidence and told in found(memory, "contradictions").evidence
    memory.forget(kept.id)
    assert codes(memory) == []


def test_contradictions_in_other_scopes_are_nobodys_business() -> None:
    memory = working()
    memory.add("Cache files under cache/ may be deleted.", scope="a")
    memory.add("Cache files under cache/ may not be deleted.", scope="b")
    assert codes(memory) == []


def test_what_doctor_remembers_is_what_it_would_find(tmp_path: Path) -> None:
    """One that looks all the time, one that writes, and a new one for each look agree, whatever was written between."""
    writing, looking = (opened(tmp_path / "memory.db") for _ in range(2))
    writing.add("The zebra is striped.")
    kept = writing.add("Cache files under cache/ may be deleted.")
    told = writing.add("Cache files under cache/ may not be deleted.", key="again")
    seen = []

    def looked() -> None:
        with opened(tmp_path / "memory.db", read_only=True) as anew:
            assert looking.doctor() == writing.doctor() == anew.doctor() == looking.doctor()
        seen.append("contradictions" in codes(looking))

    looked()
    writing.forget(told.id)
    looked()
    writing.restore(told.id)
    looked()
    writing.update(kept.id, text="Cache files under cache/ are made anew each night.")
    looked()
    writing.add("Cache files under cache/ may be deleted.", scope="elsewhere")
    looked()
    writing.add("Cache files under cache/ may be deleted.")
    looked()
    writing.erase(entry=told.id)
    looked()
    assert seen == [True, False, True, False, False, True, False]
    writing.close()
    looking.close()


def test_what_was_found_by_an_index_is_not_said_again_once_it_is_damaged(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        memory.add("Cache files under cache/ may be deleted.")
        memory.add("Cache files under cache/ may not be deleted.")
        assert "contradictions" in codes(memory)
        other = apsw.Connection(str(tmp_path / "memory.db"))
        other.execute("DELETE FROM terms WHERE rowid = 1")
        other.close()
        assert "index_lag" in codes(memory)
        assert "contradictions" not in codes(memory)


def test_scheduled_work_that_was_taken_back_is_told_for_a_week() -> None:
    clock = ManualClock()
    memory = Memory.open(clock=clock, rng=SeededRng(1))
    memory.add("The log of the API goes to the api folder.", cue="Where does the API log?")
    memory.add("The log of the API goes to the api folder rotated.")
    settled(memory, 1.0, "log of the API")
    assert memory.maintain(canaries=[("Where does the API log?", "api folder.")]).rolled_back
    told = found(memory, "maintenance_rolled_back")
    assert "1 of 1 canary questions broke; taken back: 1 merges" in told.evidence and "merge_threshold" in told.fix
    clock.advance(days=8)
    settled(memory, 1.0, "log of the API")
    assert "maintenance_rolled_back" not in codes(memory)


def liar(memory: Memory, lies: bool, meter: str = "disk") -> None:
    """Several matters, measured again and again; the meter that lies says the opposite every other time, once it is believed."""
    names = ("audit", "retry", "queue", "cache", "index", "alert")
    for name in names:
        memory.add(f"The {name} worker may be restarted.")
    for turn in range(20):
        for name in names:
            ticket = memory.decide(f"May the {name} worker be restarted?")
            memory.settle(str(ticket.id), delta=-1.0 if lies and turn >= 3 and turn % 2 else 1.0, meter=meter)
        memory.tick()


def test_a_meter_that_contradicts_itself_is_in_alarm_and_an_honest_one_is_not() -> None:
    memory = opened()
    liar(memory, lies=False)
    assert codes(memory) == []
    memory = opened()
    liar(memory, lies=True)
    finding = found(memory, "lying_meter")
    assert finding.severity == "error" and "disk: a lie rate of" in finding.evidence
    memory.meters.revoke("disk")
    assert "lying_meter" not in codes(memory)


def test_beside_a_meter_that_still_tells_something_a_lying_one_is_a_warning() -> None:
    memory = opened()
    liar(memory, lies=True)
    memory.add("The zebra is striped.")
    settled(memory, 1.0, meter="ci")
    memory.tick()
    assert found(memory, "lying_meter").severity == "warning"


def test_second_looks_that_nobody_takes_are_a_warning_once_somebody_took_one() -> None:
    memory = opened()
    memory.add("The zebra is striped.")
    for _ in range(11):
        settled(memory, 1.0)
        memory.tick()
    assert memory.appeals() and "appeals_unanswered" not in codes(memory), "there is no second instrument that anybody knows of"
    memory.remeasure(memory.appeals()[-1].ticket, delta=1.0, meter="auditor")
    assert "wanted for" in found(memory, "appeals_unanswered").evidence
    for appeal in memory.appeals():
        memory.remeasure(appeal.ticket, delta=1.0, meter="auditor")
    assert codes(memory) == []


def test_living_on_waivers_is_said_and_is_no_alarm() -> None:
    memory = opened()
    memory.add("The vault must be kept locked.")
    for n in range(10):
        assert "living_on_waivers" not in codes(memory), n
        settled(memory, 0.0, "Must the vault be kept locked?", acted=False)
        memory.tick()
    assert found(memory, "living_on_waivers").severity == "info" and memory.stats().alive == 1
    assert found(memory, "never_paid").severity == "warning", "it may be all that this memory is for"


def test_a_store_in_which_some_earn_and_some_protect_lives_as_it_should() -> None:
    memory = opened()
    memory.add("The vault must be kept locked.")
    memory.add("The horse is brown.")
    for _ in range(40):
        settled(memory, 0.0, "Must the vault be kept locked?", acted=False)
        settled(memory, 1.0, "horse")
        memory.tick()
    assert codes(memory) == [] and memory.stats().alive == 2


def test_under_evidence_an_idle_clock_starves_nobody_and_raises_no_alarm() -> None:
    memory = opened()
    memory.add("The zebra is striped.")
    settled(memory, 1.0)
    for _ in range(200):
        memory.tick()
    assert codes(memory) == [] and memory.stats().alive == 1


def test_under_evidence_nobody_can_ride() -> None:
    memory = opened()
    memory.add_many([{"text": f"Fact {n} is about matter{n}."} for n in range(10)])
    memory.add("The zebra is striped and fast.")
    memory.add("The zebra is fast and shy.")
    for _ in range(20):
        settled(memory, 1.0, "Is the zebra striped and fast?")
    assert codes(memory) == []


def test_a_life_in_the_world_of_the_demo_raises_no_alarm() -> None:
    with opened() as memory, StorageEnv(seed=7, sparse=True) as env:
        memory.encode(demo_corpus())
        for _ in range(6):
            SurvivalLoop(memory, env, config=SurvivalConfig(cycles=5)).run()
            assert [finding for finding in memory.doctor().findings if finding.severity != "info"] == []


def test_the_worst_is_told_first() -> None:
    memory = opened(settings=CLASSIC, channel="cli")
    for n in range(3):
        memory.add(f"fact number {n}")
    for _ in range(5):
        settled(memory, 0.0, "fact")
    for _ in range(20):
        memory.tick()
    severities = [finding.severity for finding in memory.doctor().findings]
    assert severities == sorted(severities, key=("error", "warning", "info").index)
    assert {"never_paid", "starvation_cliff", "operator_settled"} <= set(codes(memory))


def test_every_code_is_in_the_tuning_guide_and_no_other() -> None:
    root = Path(__file__).parents[2]
    sources = [*(root / "src" / "earnest").rglob("*.py")]
    raised = {
        code
        for path in sources
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Finding"
        for code in (node.value for node in ast.walk(call.args[0]) if isinstance(node, ast.Constant))
    }
    page = (root / "docs" / "tuning.md").read_text(encoding="utf-8").split("## What doctor says")[1]
    told = {code for line in page.splitlines() if line.startswith("| `") for code in re.findall(r"`(\w+)`", line.split("|")[1])}
    assert told == raised and len(raised) >= 23


def test_vectors_that_no_embedder_reads_are_a_hint(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db", embedder=HashingEmbedder()) as memory:
        memory.add("The zebra is striped.")
        made = memory.stats().vectors
        assert made.usable == 1 and not {"vectors_unused", "vectors_missing"} & {*codes(memory)}
    with opened(tmp_path / "m.db", embedder="none") as memory:
        finding = found(memory, "vectors_unused")
        assert finding.severity == "info" and f"1 of {made.model}" in finding.evidence
    with opened(tmp_path / "m.db", embedder=HashingEmbedder()) as memory:
        assert not {"vectors_unused", "vectors_missing", "embedder_changed"} & {*codes(memory)}


def test_documents_that_an_older_splitter_cut_are_a_hint_until_they_are_encoded_again(tmp_path: Path) -> None:
    pages = [tmp_path / "zebras.md", tmp_path / "horses.md"]
    for page, text in zip(pages, ("The zebra is striped.", "The horse is brown."), strict=True):
        page.write_text(text, encoding="utf-8")
    with opened(tmp_path / "m.db") as memory:
        memory.encode_files(pages)
        assert "older_pieces" not in codes(memory)
    with closing(apsw.Connection(str(tmp_path / "m.db"))) as connection:
        connection.execute("UPDATE documents SET encoder = 'local-1/' || substr(encoder, instr(encoder, '/') + 1)")
        assert connection.changes() == 2
    with opened(tmp_path / "m.db") as memory:
        finding = found(memory, "older_pieces")
        assert finding.severity == "info" and finding.evidence.startswith("2 documents: ")
        memory.encode_files(pages)
        assert "older_pieces" not in codes(memory)


def test_every_code_is_staged_by_some_test() -> None:
    page = (Path(__file__).parents[2] / "docs" / "tuning.md").read_text(encoding="utf-8").split("## What doctor says")[1]
    told = {code for line in page.splitlines() if line.startswith("| `") for code in re.findall(r"`(\w+)`", line.split("|")[1])}
    staged = {
        node.value
        for path in (Path(__file__).parents[1]).rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert told and told <= staged, told - staged

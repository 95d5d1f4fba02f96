"""Holdouts: drawn only where memory would have answered, recorded before the outcome, paid by nobody."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, Final

import apsw
import pytest

from earnest import Memory, Outcome, SurvivalConfig, SurvivalLoop, Task, Ticket
from earnest.core.reports import Finding
from earnest.core.settings import Settings
from earnest.core.uplift import Draw, Drawn, compared
from earnest.errors import InvalidInput, UnknownEntry
from earnest.ledger import holdout
from earnest.ledger.uplift import findings
from earnest.testing import ManualClock, SeededRng

OLD: Final = "Old log files under logs may be deleted after seven days."
BILLING: Final = "Log files under logs of the billing service may be deleted after thirty days."
ASK: Final = "May old log files under logs be deleted?"


class Chance:
    """Chance that is told what to come up with; ids go on being different."""

    def __init__(self, *values: float) -> None:
        self.values, self.ids, self.asked = [*values], SeededRng(1), 0

    def random(self) -> float:
        self.asked += 1
        return self.values.pop(0)

    def token(self, size: int) -> bytes:
        return self.ids.token(size)


def opened(path: str | Path = ":memory:", *, seed: int = 1, rng: Any = None, **settings: Any) -> Memory:
    # Among two entries, words that both have say next to nothing: the floor would keep the second from answering.
    return Memory.open(path, clock=ManualClock(), rng=rng or SeededRng(seed), settings={"floor": 0.01, **settings})


def asked(memory: Memory, query: str = ASK, **more: Any) -> tuple[Ticket, str]:
    ticket = memory.decide(query, **more)
    assert ticket.id is not None
    return ticket, ticket.id


def roles(memory: Memory, ticket: str) -> dict[str, str]:
    with memory._store.read() as reading:
        stored = reading.ticket(ticket)
    assert stored is not None
    return {share.entry_id: share.role for share in stored.shares}


def drawn(memory: Memory, ticket: str) -> list[Draw]:
    with memory._store.read() as reading:
        stored = reading.ticket(ticket)
        assert stored is not None
        return reading.draws_of(stored.row)


def test_without_a_holdout_no_coin_is_thrown() -> None:
    chance = Chance()
    memory = opened(rng=chance)
    memory.add(OLD)
    ticket, name = asked(memory)
    assert (ticket.holdout, ticket.exposure, chance.asked, drawn(memory, name)) == (False, 1.0, 0, [])
    assert "draws" not in memory.events(kind="decide")[0].data


def test_a_withheld_ticket_has_an_id_an_empty_text_and_names_who_was_withheld() -> None:
    memory = opened(rng=Chance(0.05), holdout=0.1)
    first, second = memory.add(OLD), memory.add(BILLING)
    ticket, name = asked(memory)
    assert (ticket.holdout, ticket.text, ticket.annotated, ticket.deciding, ticket.supporting) == (True, "", "", None, ())
    assert (ticket.silent, bool(ticket), ticket.from_memory, ticket.exposure) == (False, True, False, 0.1)
    assert roles(memory, name) == {first.id: "withheld", second.id: "withheld"}
    assert [memory.get(entry.id).recalls for entry in (first, second)] == [0, 0]
    [pending] = memory.pending()
    assert pending.holdout and pending.deciding is None


def test_a_shown_ticket_is_as_ever_but_says_how_probable_it_was() -> None:
    memory = opened(rng=Chance(0.1), holdout=0.1)
    entry = memory.add(OLD)
    ticket, name = asked(memory)
    assert (ticket.holdout, ticket.text, ticket.exposure, ticket.deciding) == (False, OLD, 0.9, entry)
    assert roles(memory, name) == {entry.id: "deciding"}


def test_the_draw_is_in_the_log_before_the_outcome() -> None:
    memory = opened(rng=Chance(0.05), holdout=0.1, holdout_entry=0.5)
    memory.add(OLD)
    memory.add(BILLING)
    _, name = asked(memory)
    [event] = memory.events(kind="decide")
    [draw] = drawn(memory, name)
    assert event.data["draws"] == [holdout.said(draw)] == [[1, "alone" if draw.arm == "alone" else "all", 0.9, 0.05, 0.05, 2]]
    assert event.ticket == name and event.data["exposure"] == draw.exposure


@pytest.mark.parametrize("query", ["What is the capital of the moon?", "", None])
def test_silence_is_not_drawn_for(query: str | None) -> None:
    chance = Chance()
    memory = opened(rng=chance, holdout=0.5)
    memory.add(OLD)
    ticket = memory.decide(query)
    assert (ticket.id, ticket.holdout, ticket.silent, chance.asked) == (None, False, True, 0)


def test_a_guard_is_never_withheld_and_what_counts_as_one_can_be_set() -> None:
    chance = Chance()
    memory = opened(rng=chance, holdout=0.5)
    memory.add(OLD, tags=["guard"])
    assert not asked(memory)[0].holdout and chance.asked == 0
    chance.values = [0.1]
    memory.configure(holdout_exempt="never,safety")
    assert asked(memory)[0].holdout
    memory.configure(holdout_exempt="")
    chance.values = [0.1]
    assert asked(memory)[0].holdout


def test_a_guard_that_supports_an_answer_keeps_all_of_it() -> None:
    chance = Chance()
    memory = opened(rng=chance, holdout=0.5)
    memory.add(OLD)
    memory.add(BILLING, tags=["x", "guard"])
    ticket, _ = asked(memory)
    assert not ticket.holdout and len(ticket.supporting) == 1 and chance.asked == 0


def test_withholding_one_entry_lets_its_rival_decide_and_be_paid() -> None:
    memory = opened(rng=Chance(0.3), holdout=0.4, holdout_entry=0.75, rule="classic")
    first, second = memory.add(OLD), memory.add(BILLING)
    ticket, name = asked(memory)
    assert (ticket.holdout, ticket.text, ticket.deciding) == (False, BILLING, second)
    assert first.text not in ticket.annotated and ticket.exposure == pytest.approx(0.3)
    assert roles(memory, name) == {second.id: "deciding", first.id: "withheld"}
    settled = memory.settle(name, delta=1.0, scale=1.0, meter="disk")
    assert [credit.entry for credit in settled.credits] == [second.id]
    assert memory.get(first.id).balance == first.balance < memory.get(second.id).balance
    assert (memory.get(first.id).last_settled_tick, memory.get(second.id).last_settled_tick) == (None, 0)


def test_where_nobody_answers_instead_withholding_one_is_withholding_all() -> None:
    memory = opened(rng=Chance(0.3), holdout=0.4, holdout_entry=0.75)
    memory.add(OLD)
    ticket, name = asked(memory)
    assert ticket.holdout and ticket.exposure == 0.4
    assert drawn(memory, name) == [Draw(1, "all", 0.6, 0.0, 0.4, None)]


def test_a_part_of_one_withholds_entries_alone() -> None:
    memory = opened(holdout=0.5, holdout_entry=1.0)
    memory.add(OLD)
    memory.add(BILLING)
    for _ in range(40):
        ticket, name = asked(memory)
        assert not ticket.holdout
        memory.abandon(name)


@pytest.mark.parametrize("delta", [5.0, -5.0, 0.0])
@pytest.mark.parametrize("rule", ["classic", "evidence"])
def test_settling_a_withheld_ticket_moves_no_balance(rule: str, delta: float) -> None:
    memory = opened(rng=Chance(0.0), holdout=0.5, rule=rule)
    first, second = memory.add(OLD), memory.add(BILLING)
    _, name = asked(memory)
    settled = memory.settle(name, delta=delta, meter="disk")
    assert settled.landed and settled.credits == () and settled.suspended == () and settled.buried == ()
    for entry in (first, second):
        now = memory.get(entry.id)
        assert (now.balance, now.standing, now.last_settled_tick) == (entry.balance, "active", None)
    assert memory.check().ok
    assert "withheld at random" in memory.obituary(first.id) and "without it" in memory.obituary(first.id)


def test_a_request_repeated_under_its_key_gives_the_same_ticket() -> None:
    chance = Chance(0.0)
    memory = opened(rng=chance, holdout=0.5)
    memory.add(OLD)
    first = memory.decide(ASK, key="k")
    assert first.holdout and memory.decide(ASK, key="k") == first and chance.asked == 1


def test_arms_come_up_as_often_as_they_should() -> None:
    memory = opened(seed=8, holdout=0.4, holdout_entry=0.5, rent=0.0)
    memory.add(OLD)
    memory.add(BILLING)
    arms: Counter[str] = Counter()
    for _ in range(400):
        _, name = asked(memory)
        arms[drawn(memory, name)[0].arm] += 1
        memory.abandon(name)
    # Four standard errors either way.
    assert abs(arms["shown"] - 240) < 40 and abs(arms["all"] - 80) < 32 and abs(arms["alone"] - 80) < 32
    with memory._store.read() as reading:
        assert {arm: reading.counter(f"drawn:{arm}") for arm in arms} == dict(arms)


def test_odds_sum_to_one_whatever_the_settings() -> None:
    memory = opened()
    memory.add(OLD)
    memory.add(BILLING)
    with memory._store.read() as reading:
        first, second = reading.entries([1, 2])
    for rate in (0.01, 0.1, 0.3, 0.5):
        for part in (0.0, 0.3, 1.0):
            for rival in (None, second):
                made = holdout.odds(Settings(holdout=rate, holdout_entry=part), first, [], rival)
                assert made is not None and made.shown + made.alone + made.all == pytest.approx(1.0)
                assert min(made.alone, made.all) >= 0 and made.shown == 1 - rate


def test_a_decision_without_an_outcome_is_counted_by_its_arm() -> None:
    memory = opened(rng=Chance(0.0, 0.9, 0.0), holdout=0.5, rent=0.0)
    memory.add(OLD)
    _, first = asked(memory)
    _, second = asked(memory)
    asked(memory)
    memory.abandon(first)
    memory.settle(second, delta=1.0, meter="disk")
    memory.tick(expire_after=1)
    memory.tick(expire_after=1)
    made = memory.uplift("disk")
    assert (made.lost_shown, made.lost_withheld, made.decisions) == (0, 2, 1)
    with memory._store.read() as reading:
        assert (reading.counter("drawn_lost:all"), reading.counter("drawn_lost:shown")) == (2, 0)
    assert memory.check().ok


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE draws SET arm = 'shown'", "UPDATE draws SET p_all = 0.25", "DELETE FROM draws", "UPDATE tickets SET holdout = 0",
        "UPDATE draws SET rival = 1", "UPDATE counters SET value = 7 WHERE name = 'drawn:all'",
    ],
)  # fmt: skip
def test_a_draw_that_was_changed_afterwards_is_found(tmp_path: Path, change: str) -> None:
    with opened(tmp_path / "m.db", rng=Chance(0.0), holdout=0.5) as memory:
        memory.add(OLD)
        asked(memory)
        assert memory.check().ok
    connection = apsw.Connection(str(tmp_path / "m.db"))
    connection.execute(change)
    connection.close()
    with opened(tmp_path / "m.db") as memory:
        assert not memory.check().ok
        if "counters" in change:
            assert memory.check(repair=True).ok


def test_what_happens_without_memory_is_taken_off_what_it_is_paid_for() -> None:
    """A resource that grows by itself would make every entry look good; holdouts tell how much that is."""
    paid = {}
    for rate in (0.0, 0.3):
        memory = opened(seed=11, holdout=rate, rule="evidence", rent=0.0)
        memory.add(OLD)
        for _ in range(60):
            ticket, name = asked(memory)
            settled = memory.settle(name, delta=0.5, meter="disk", scale=1.0)
            if not ticket.holdout:
                last = sum(credit.amount for credit in settled.credits)
            memory.tick()
        [meter] = memory.meters.list()
        paid[rate] = (last, meter.baseline)
    assert paid[0.0][1] is None and paid[0.3][1] == pytest.approx(0.5, abs=0.1)
    assert paid[0.0][0] > 200_000 and abs(paid[0.3][0]) < 60_000


# uplift


def lived(memory: Memory, gain: float, count: int, query: str = ASK, without: float = 0.0) -> None:
    for _ in range(count):
        ticket, name = asked(memory, query)
        memory.settle(name, delta=without if ticket.holdout else gain, meter="disk", scale=2.0)


def test_uplift_is_what_the_log_says() -> None:
    memory = opened(seed=3, holdout=0.3, rent=0.0, rule="classic")
    memory.add(OLD)
    lived(memory, 1.0, 120)
    made = memory.uplift()
    assert made.meter == "disk" and made.decisions == 120 and made.verdict == "helps"
    assert made.low is not None and made.high is not None and made.low < 0.5 < made.high
    draws = {event.ticket: event.data["draws"][0] for event in memory.events(kind="decide", limit=1_000)}
    rows = []
    for event in memory.events(kind="settle", limit=1_000):
        entry, arm, shown, _, nothing, _ = draws[event.ticket]
        rows.append(Drawn(entry, arm == "shown", shown / (shown + nothing), event.data["delta"] / event.data["scale"]))
    again = compared(rows)
    assert (made.low, made.high) == again.interval(0.05) and made.holdouts == again.withheld


def test_uplift_can_be_asked_of_a_store_that_may_only_be_read(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db", holdout=0.5, rent=0.0) as memory:
        memory.add(OLD)
        lived(memory, 2.0, 60)
        made = memory.uplift()
    with Memory.open(tmp_path / "m.db", read_only=True) as again:
        assert again.uplift() == made and again.uplift().found == 1


def test_what_a_revoked_meter_said_does_not_count() -> None:
    memory = opened(seed=3, holdout=0.3, rent=0.0)
    memory.add(OLD)
    lived(memory, 1.0, 40)
    then = memory.uplift()
    since = memory.tick().tick
    lived(memory, 0.4, 40)
    assert memory.uplift().decisions > then.decisions
    memory.meters.revoke("disk", since=since)
    now = memory.uplift()
    assert (now.low, now.high, now.decisions) == (then.low, then.high, then.decisions)
    memory.meters.revoke("disk")
    assert memory.uplift("disk").effect is None and memory.uplift_meters() == () and memory.check().ok


def test_each_entry_has_its_own_uplift_and_what_is_asked_together_holds_together() -> None:
    memory = opened(seed=4, holdout=0.4, holdout_entry=0.5, rent=0.0, rule="classic")
    good, bad = memory.add("The zebra is striped."), memory.add("The horse is blue.")
    lived(memory, 2.0, 80, "zebra")
    memory.configure(stake=1.0, cap=5.0)
    memory.pin(bad.id)
    for _ in range(60):
        ticket, name = asked(memory, "horse")
        memory.settle(name, delta=0.0 if ticket.holdout else -2.0, meter="disk", scale=2.0)
    one, two = memory.uplift(entry=good.id), memory.uplift(entry=bad.id)
    assert (one.verdict, two.verdict) == ("helps", "harms") and one.entry == good.id
    together = memory.uplifts()
    assert [u.entry for u in together] == [good.id, bad.id] and {u.alpha for u in together} == {0.025}
    assert one.low is not None and together[0].low is not None and together[0].low < one.low
    assert [u.entry for u in memory.uplifts(entries=[bad.id])] == [bad.id] and memory.uplifts(entries=[bad.id])[0] == two
    # Nobody answers in its place: against a rival is against nothing.
    assert memory.uplift(entry=good.id, against="rival").low == one.low


def test_a_rival_is_compared_with() -> None:
    memory = opened(seed=5, holdout=0.5, holdout_entry=1.0, rent=0.0, rule="classic")
    first = memory.add(OLD)
    memory.add(BILLING)
    for _ in range(100):
        ticket, name = asked(memory)
        memory.settle(name, delta=1.0 if ticket.text == OLD else 0.25, meter="disk", scale=1.0)
    made = memory.uplift(entry=first.id, against="rival")
    assert made.verdict == "helps" and made.effect is not None and 0.5 < made.effect < 1.0
    assert memory.uplift(entry=first.id).verdict.startswith("unmeasured")


def test_a_rule_is_asked_for_as_a_rule() -> None:
    memory = opened()
    rule, fact = memory.add("Look twice.", cue="deleting", kind="rule"), memory.add(OLD)
    assert memory.uplift(rule=rule.id).verdict == "unmeasured (holdout is 0)" and memory.uplift(rule=rule.id).against == "rival"
    with pytest.raises(InvalidInput, match="kind semantic"):
        memory.uplift(rule=fact.id)
    with pytest.raises(InvalidInput, match="together"):
        memory.uplift(rule=rule.id, entry=fact.id)


def test_meters_are_asked_one_at_a_time() -> None:
    memory = opened(seed=2, holdout=0.5, rent=0.0)
    memory.add(OLD)
    assert memory.uplift().meter is None and memory.uplift_meters() == ()
    for meter in ("disk", "ci"):
        for _ in range(20):
            memory.settle(asked(memory)[1], delta=1.0, meter=meter)
    assert memory.uplift_meters() == ("ci", "disk")
    with pytest.raises(InvalidInput, match="ci, disk"):
        memory.uplift()
    assert memory.uplift("ci").decisions == memory.uplift("disk").decisions == 20


@pytest.mark.parametrize(
    "wrong",
    [
        {"alpha": 0}, {"alpha": 0.6}, {"alpha": float("nan")}, {"alpha": True}, {"alpha": "0.05"}, {"meter": "nobody"}, {"meter": ""},
        {"meter": 3}, {"against": "everything"}, {"against": "rival"}, {"against": None},
    ],
)  # fmt: skip
def test_a_wrong_question_is_refused_by_name(wrong: dict[str, Any]) -> None:
    memory = opened()
    [name] = wrong
    with pytest.raises(InvalidInput) as caught:
        memory.uplift(**wrong)
    assert caught.value.name == name
    with pytest.raises(UnknownEntry):
        memory.uplift(entry="nobody")


# doctor


def codes(memory: Memory) -> dict[str, Finding]:
    return {finding.code: finding for finding in memory.doctor().findings}


def test_doctor_hints_that_nobody_knows_whether_memory_helps() -> None:
    memory = opened(rent=0.0, rule="classic")
    memory.add(OLD)
    lived(memory, 1.0, 499)
    assert "uplift_unmeasured" not in codes(memory)
    lived(memory, 1.0, 1)
    found = codes(memory)["uplift_unmeasured"]
    assert found.severity == "info" and "holdout 0.1" in found.fix and memory.doctor().healthy
    memory.configure(holdout=0.1)
    assert "uplift_unmeasured" not in codes(memory)


@pytest.mark.parametrize(("gain", "severity"), [(-0.5, "error"), (1.0, None)])
def test_doctor_says_when_memory_does_not_pay(gain: float, severity: str | None) -> None:
    memory = opened(seed=6, holdout=0.5, rent=0.0, rule="classic")
    memory.pin(memory.add(OLD).id)
    lived(memory, 1.0 + gain, 20, without=1.0)
    assert "memory_does_not_pay" not in codes(memory), "twenty decisions are no evidence"
    lived(memory, 1.0 + gain, 200, without=1.0)
    found = codes(memory).get("memory_does_not_pay")
    assert (found.severity if found else None) == severity


def test_doctor_warns_of_memory_that_changes_next_to_nothing() -> None:
    memory = opened(seed=6, holdout=0.5)
    memory.add(OLD)
    chance = SeededRng(2)
    with memory._writing() as tx:
        tx.put_meter("disk", unit="", scale=1.0, tier="measured")
        for at in range(3_000):
            draw = Draw(1, "all" if chance.random() < 0.5 else "shown", 0.5, 0.0, 0.5)
            ticket = tx.insert_ticket(f"t{at}", query="q", answer="", exposure=0.5, holdout=draw.arm == "all", shares=[])
            tx.insert_draw(ticket, draw)
            event = tx.append("settle", ticket=ticket.id)
            tx.insert_settlement(ticket, event=event, delta=1.0, scale=1.0, meter="disk", tier="measured", acted=None, detail="", moved={})
            tx.resolve_ticket(ticket.row, "settled", event)
    with memory._store.read() as reading:
        [found] = findings(reading, memory.settings, reading.totals())
    assert (
        found.code == "memory_does_not_pay"
        and found.severity == "warning"
        and "just as well" in found.summary
        and "3000 decisions" in found.evidence
    )


def test_doctor_names_outcomes_that_are_lost_more_often_in_one_arm() -> None:
    memory = opened(seed=7, holdout=0.5, rent=0.0)
    memory.add(OLD)
    for at in range(80):
        ticket, name = asked(memory)
        if at % 4 == 0:
            memory.abandon(name)
        else:
            memory.settle(name, delta=1.0, meter="disk")
    assert "holdout_attrition" not in codes(memory), "as many are lost in either"
    for _ in range(80):
        ticket, name = asked(memory)
        if ticket.holdout:
            memory.abandon(name)
        else:
            memory.settle(name, delta=1.0, meter="disk")
    found = codes(memory)["holdout_attrition"]
    assert found.severity == "warning" and "withheld" in found.evidence


# the loop


class Leaky:
    """A world in which following the advice gains, and the resource grows by itself."""

    resource_scale = 1.0

    def __init__(self) -> None:
        self.heard: list[str] = []

    def tasks(self, cycle: int) -> list[Task]:
        return [Task(ASK)] * 4

    def verify(self, task: Task, answer: str) -> Outcome:
        self.heard.append(answer)
        return Outcome(0.75 if answer else 0.25, acted=bool(answer))


def test_the_loop_settles_withheld_decisions_by_what_an_empty_answer_brings() -> None:
    memory, world = opened(seed=9, holdout=0.25), Leaky()
    memory.add(OLD)
    report = SurvivalLoop(memory, world, config=SurvivalConfig(cycles=50, write_experience=False)).run()
    assert sum(s.silent for s in report.stats) == 0 and memory.pending() == []
    made = memory.uplift("environment")
    assert made.holdouts == world.heard.count("") > 20 and made.decisions == 200
    assert made.verdict == "helps" and made.low is not None and made.high is not None and made.low < 0.5 < made.high
    assert not [e for e in memory.list() if e.text == ""] and memory.check().ok

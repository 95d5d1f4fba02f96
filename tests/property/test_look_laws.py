"""Controls and second looks: what is learned of them alone, whom they clear, and what they say of themselves; and how a life is told."""

from __future__ import annotations

import pytest

from earnest.core.amounts import micro
from earnest.ledger.life import obituary
from tests.advice import ADVICE, ASKED, OTHER, OTHER_ASKED, opened, settle


@pytest.mark.parametrize("scale", [1.0, 8.0])
def test_a_control_is_learned_from_at_the_next_tick_though_nothing_else_came_in(scale: float) -> None:
    with opened() as memory:
        memory.meters.add("disk", unit="bytes", scale=scale)
        memory.add(ADVICE)
        settle(memory, ASKED, 2.0 * scale)
        memory.tick()
        assert memory.meters.list()[0].baseline in (None, 0.0)
        event = memory.control(delta=4.0 * scale, meter="disk")
        [told] = memory.events(kind="control")
        assert event == told.seq
        memory.tick()
        [meter] = memory.meters.list()
        faded = 0.5 ** (1 / 50)
        assert meter.baseline == pytest.approx(scale * 4.0 * faded / (faded + 1.0))


def test_a_second_look_at_a_holdout_judges_nobody_and_does_not_land() -> None:
    with opened(settings={"holdout": 0.5, "holdout_entry": 0.0}) as memory:
        memory.add(ADVICE)
        tickets = [memory.decide(ASKED) for _ in range(40)]
        withheld = next(ticket.id for ticket in tickets if ticket.holdout)
        assert withheld is not None and memory.settle(withheld, delta=1.0, meter="disk").landed
        made = memory.remeasure(withheld, delta=-1.0, meter="auditor")
        assert not made.landed and "holdout" in made.reason and memory.events(kind="remeasure") == []


def test_whom_a_second_look_acquits_is_told_and_begins_anew_with_a_stake() -> None:
    with opened(settings={"stake": 0.4}) as memory:
        memory.add(OTHER)
        entry = memory.add(ADVICE)
        ticket = settle(memory, ASKED, -3.0)
        while memory.get(entry.id).alive:
            settle(memory, OTHER_ASKED, 1.0)
            memory.tick()
        back = memory.add(ADVICE + " Now.")
        assert back.id != entry.id and (back.standing, back.balance) == ("suspended", 0)
        made = memory.remeasure(ticket, delta=2.0, meter="auditor")
        assert back.id in made.cleared and made.suspended == made.buried == ()
        assert (memory.get(back.id).standing, memory.get(back.id).balance) == ("active", micro(0.4))
        assert memory.check().problems == ()


@pytest.mark.parametrize("reported", [3.0, 0.7, -0.7])
@pytest.mark.parametrize("found", [2.0, 0.1, -1.0])
def test_a_second_look_puts_an_account_where_its_own_word_would_have_put_it(reported: float, found: float) -> None:
    """With a stake and a cap that keep both ends out of the way, and a meter that nothing is held against."""
    held = []
    for deltas in ((reported, found), (found,)):
        with opened(settings={"stake": 2.0, "cap": 9.0}) as memory:
            entry = memory.add(ADVICE)
            ticket = settle(memory, ASKED, deltas[0])
            for delta in deltas[1:]:
                assert memory.remeasure(ticket, delta=delta, meter="auditor").landed
            held.append(memory.get(entry.id).balance)
            assert memory.check().problems == ()
    assert held[0] == held[1]


@pytest.mark.parametrize(("edited", "left_out"), [(False, 0), (True, 1)])
def test_a_life_of_five_hundred_events_is_told_whole_and_of_a_longer_one_it_is_said_that_some_are_left_out(
    edited: bool, left_out: int
) -> None:
    with opened() as memory:
        entry = memory.add(ADVICE)
        for _ in range(249):
            memory.abandon(str(memory.decide(ASKED).id))
        if edited:
            memory.update(entry.id, importance=0.9)
        memory.forget(entry.id, reason="moved house")
        assert len(memory.events(entry=entry.id, limit=1_000)) == 500 + left_out
        told = memory.obituary(entry.id)
        assert told.count("and so on; `earnest audit --entry") == left_out and "moved house" in told.splitlines()[-1]


def test_who_waits_to_be_borne_out_says_for_how_many_outcomes_while_it_lives() -> None:
    with opened() as memory:
        entry = memory.add(ADVICE)
        with memory._writing() as tx:
            stored = tx.entry(entry.id)
            assert stored is not None
            for waits, said in ((2, "for 2 good outcomes beside it"), (1, "for 1 good outcome beside it")):
                tx.change_entry(stored.row, probation=waits)
                [now] = [line for line in obituary(tx, tx.entries([stored.row])[0]).splitlines() if line.startswith("  waits ")]
                assert said in now and f"earnest vouch {entry.id}" in now
        memory.forget(entry.id, reason="not needed")
        assert not any(line.startswith("  waits ") for line in memory.obituary(entry.id).splitlines())


def test_a_life_tells_a_short_text_whole_and_a_long_one_by_its_beginning() -> None:
    with opened() as memory:
        short, long = memory.add(OTHER), memory.add(ADVICE + " really" * 100)
        said = [next(line for line in memory.obituary(each.id).splitlines() if line.startswith("  says ")) for each in (short, long)]
        assert said[0].endswith(OTHER)
        told = said[1].removeprefix("  says ").strip()
        assert told.startswith(ADVICE) and told.endswith("…") and len(told) <= 300

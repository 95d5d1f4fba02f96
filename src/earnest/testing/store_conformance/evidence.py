"""Laws of words, beliefs, controls, second looks and guards: what selection by evidence keeps."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from earnest.core.evidence import Belief, Word
from earnest.core.filters import Filter
from earnest.protocols import Store
from earnest.testing.store_conformance.driver import Driver
from earnest.testing.store_conformance.law import Chapter
from earnest.testing.store_conformance.steps import ANALYSER, AUTHOR, NOW, add, clean, decide, must, opened, same, settle

law: Final = Chapter()


def _spoken(store: Store, ticket_id: str, row: int, *, meter: str = "m", delta: float = 1.0, borrowed: bool = False) -> Word:
    """Settles the ticket, and keeps what that says of an entry."""
    event = settle(store, ticket_id, {}, meter=meter, delta=delta)
    with store.write(AUTHOR) as tx:
        ticket = tx.ticket(ticket_id)
        assert ticket is not None
        word = Word(ticket.row, event, tx.counter("tick"), meter, delta / 2.0, borrowed=borrowed)
        tx.put_word(row, ticket.row, word)
    return word


@law("What was measured of an entry is read in the order of its decisions, and comes back as it was written; the latest if bounded.")
def _words(driver: Driver) -> None:
    with opened(driver, "words") as store:
        one, two = add(store, "one"), add(store, "two")
        for ticket in ("t0", "t1", "t2"):
            decide(store, ticket, [(one, "deciding"), (two, "supporting")])
        # Settled in another order than they were decided.
        late = [_spoken(store, ticket, one.row, delta=delta) for ticket, delta in (("t2", 3.0), ("t0", -1.0), ("t1", 0.5))]
        with store.read() as reading:
            same(reading.words_of(one.row, 10), [late[1], late[2], late[0]], "words")
            same(reading.words_of(one.row, 2), [late[2], late[0]], "the latest words")
            same(reading.words_of(two.row, 10), [], "words of a supporter")
            plain = [(one.row, w.place, w.event, w.tick, w.meter, w.size, w.part, None, None, 0, 0) for w in (late[1], late[2], late[0])]
            same(reading.words_among([two.row, one.row], 10), plain, "words as rows")
            same(reading.words_among([one.row], 2), plain[1:], "the latest words as rows")
            first = reading.ticket("t0")
            assert first is not None
            same(reading.witnesses(first.row), [(one.row, False)], "witnesses")
            same(reading.standings([one.row, two.row, 9_999]), {one.row: "active", two.row: "active"}, "standings")
        clean(store)


@law("A second look is kept in every word of its ticket, beside the report, and counts as a word of its own meter.")
def _second(driver: Driver) -> None:
    with opened(driver, "second") as store:
        one, two = add(store, "one"), add(store, "two")
        decide(store, "t", [(one, "deciding")])
        word = _spoken(store, "t", one.row)
        with store.write(AUTHOR) as tx:
            tx.put_meter("b", unit="", scale=None, tier="measured")
            ticket = tx.ticket("t")
            assert ticket is not None
            must(tx.copy_words(one.row, two.row, borrowed=True) == 1, "one word is copied")
            event = tx.append("remeasure", ticket="t", data={"delta": -4.0, "scale": 2.0})
            tx.insert_look(ticket.row, event=event, meter="b", delta=-4.0, scale=2.0, tier="measured")
            tx.second_word(ticket.row, size=-2.0, meter="b", event=event)
        twice = replace(word, second=-2.0, second_meter="b", second_event=event)
        with store.read() as reading:
            same(reading.words_of(one.row, 9), [twice], "a word measured twice")
            same(reading.words_of(two.row, 9), [replace(twice, borrowed=True)], "a borrowed word measured twice")
            same(reading.latest_words("m", 9), [(word.event, one.row)], "the report's meter")
            same(reading.latest_words("b", 9), [(event, one.row)], "the second meter")
            same(reading.spoken_of("b", 0), [one.row, two.row], "of whom the second meter spoke")
            same(reading.spoken_of("b", event + 1), [], "of whom it spoke later")
            [look] = reading.looks_at(ticket.row)
            same((look.event, look.meter, look.delta, look.scale, look.tier, look.at), (event, "b", -4.0, 2.0, "measured", NOW), "a look")
        clean(store)


@law("Words can be pooled and parted: copies do not replace what is there, and those that are not counted are no word of their meter.")
def _pooled(driver: Driver) -> None:
    with opened(driver, "pooled") as store:
        one, heir = add(store, "one"), add(store, "heir")
        decide(store, "t0", [(one, "deciding")])
        decide(store, "t1", [(heir, "deciding")])
        first, own = _spoken(store, "t0", one.row), _spoken(store, "t1", heir.row, delta=2.0)
        with store.write(AUTHOR) as tx:
            must(tx.copy_words(one.row, heir.row, borrowed=False) == 1, "one word is copied")
            must(tx.copy_words(one.row, heir.row, borrowed=False) == 0, "a word is copied once")
            tx.count_words(one.row, False)
        with store.read() as reading:
            same(reading.words_of(heir.row, 9), [first, own], "the heir's words")
            same(reading.latest_words("m", 9), [(first.event, heir.row), (own.event, heir.row)], "whose words count")
            same(reading.latest_words("m", 1), [(own.event, heir.row)], "the latest one")
            same(reading.latest_words("m", 9, own.event), [(first.event, heir.row)], "those before an event")
        with store.write(AUTHOR) as tx:
            tx.drop_words(heir.row)
            tx.count_words(one.row, True)
        with store.read() as reading:
            same(reading.words_of(heir.row, 9), [own], "the heir's own words")
            same(reading.latest_words("m", 9), [(first.event, one.row), (own.event, heir.row)], "whose words count again")
        clean(store)


@law("What is believed of a meter is kept exactly, the latest; a meter can be revoked from an event on, and trusted again.")
def _beliefs(driver: Driver) -> None:
    with opened(driver, "beliefs") as store:
        belief = Belief(1.1, 12.3, 0.1, 2.3, 0.7, 3, 9)
        with store.write(AUTHOR) as tx:
            tx.put_meter("m", unit="", scale=None, tier="measured")
            tx.put_belief("m", Belief(), slope=0.5, oldest=0, alarm=False)
            tx.put_belief("m", belief, slope=1 / 3, oldest=4, alarm=True)
            tx.put_baseline("m", -0.1)
            tx.revoke_meter("m", 7)
        with store.read() as reading:
            kept = {name: (repr(made), rho, oldest, alarm) for name, (made, rho, oldest, alarm) in reading.beliefs().items()}
            meter = reading.meter("m")
            assert meter is not None
            same(list(kept), ["m"], "beliefs")
            found, rho, oldest, alarm = reading.beliefs()["m"]
            same(replace(found, baseline=belief.baseline), belief, "a belief")
            same((rho, oldest, alarm), (1 / 3, 4, True), "beside the belief")
            same((meter.lie_rate, meter.baseline, meter.alarm, meter.revoked), (belief.rate, -0.1, True, 7), "a meter")
            same(dict(reading.revoked()), {"m": 7}, "revoked meters")
        with store.write(AUTHOR) as tx:
            tx.revoke_meter("m", None)
            same(dict(tx.revoked()), {}, "revoked meters")


@law("Controls are summed by tick in units of their scale; those that nobody measured are kept and not summed.")
def _controls(driver: Driver) -> None:
    with opened(driver, "controls") as store:
        for delta, tier in ((1.0, "measured"), (3.0, "measured"), (100.0, "claimed")):
            with store.write(AUTHOR) as tx:
                tx.put_meter("m", unit="", scale=None, tier="measured")
                event = tx.append("control", data={"delta": delta, "scale": 2.0})
                tx.insert_control(event=event, meter="m", delta=delta, scale=2.0, tier=tier)  # type: ignore[arg-type]
        with store.write(AUTHOR) as tx:
            tx.bump("tick", 5)
            event = tx.append("control", data={"delta": -1.0, "scale": 1.0})
            tx.insert_control(event=event, meter="m", delta=-1.0, scale=1.0, tier="measured")
        with store.read() as reading:
            same(reading.controls_by_tick("m"), [(0, 2.0, 2), (5, -1.0, 1)], "controls")
            same(reading.controls_by_tick("m", 1), [(5, -1.0, 1)], "controls from a tick on")
            same([control.delta for control in reading.controls_of("m", 2)], [-1.0, 100.0], "the latest controls")
            same(reading.controls_by_tick("nobody"), [], "controls of nobody")


@law("Second looks are wanted once, listed longest wanted first in pages, and given up by age.")
def _appeals(driver: Driver) -> None:
    with opened(driver, "appeals") as store:
        one = add(store, "one")
        for ticket in ("t0", "t1", "t2"):
            decide(store, ticket, [(one, "deciding")])
            settle(store, ticket, {})
        for ticket, why in (("t1", "appeal"), ("t0", "first"), ("t1", "random")):
            with store.write(AUTHOR) as tx:
                found = tx.ticket(ticket)
                assert found is not None
                tx.want(found.row, one.row, why)
                tx.bump("tick", 1)
        with store.read() as reading:
            wanted = [(appeal.ticket, appeal.entry, appeal.why, appeal.since) for appeal in reading.appeals(None, 9)]
            same(wanted, [("t1", one.entry.id, "appeal", 0), ("t0", one.entry.id, "first", 1)], "appeals")
            same([appeal.ticket for appeal in reading.appeals("t1", 9)], ["t0"], "the next page")
            same(reading.appealed(one.row), 1, "when it was asked for last")
        with store.write(AUTHOR) as tx:
            same(tx.drop_appeals(1), 1, "appeals given up")
            found = tx.ticket("t0")
            assert found is not None
            tx.unwant(found.row)
        with store.read() as reading:
            same(reading.appeals(None, 9), [], "appeals")
            same(reading.appealed(one.row), None, "no appeal")


@law("A second look is wanted no more at a report that does not count, nor about an entry that died unless somebody alive has its word.")
def _unwanted(driver: Driver) -> None:
    def wanted(after: str | None = None) -> list[str]:
        with store.read() as reading:
            return [appeal.ticket for appeal in reading.appeals(after, 9)]

    with opened(driver, "unwanted") as store:
        one, two = add(store, "one"), add(store, "two")
        for number, (ticket, meter) in enumerate((("t0", "m"), ("t1", "n"), ("t2", "m"))):
            decide(store, ticket, [(one, "deciding")])
            _spoken(store, ticket, one.row, meter=meter)
            with store.write(AUTHOR) as tx:
                found = tx.ticket(ticket)
                assert found is not None
                tx.want(found.row, one.row, "first")
                tx.bump("tick", number)
        same(wanted(), ["t0", "t1", "t2"], "second looks")
        with store.write(AUTHOR) as tx:
            settled = tx.settlement("t2")
            assert settled is not None
            tx.revoke_meter("m", settled.event)
        same(wanted(), ["t0", "t1"], "what was revoked from an event on")
        with store.write(AUTHOR) as tx:
            tx.revoke_meter("m", None)
            tx.revoke_meter("n", 0)
        same(wanted(), ["t0", "t2"], "what was trusted again, and another that was revoked")
        with store.write(AUTHOR) as tx:
            tx.change_entry(one.row, standing="dead", cause="forgotten")
        same(wanted(), [], "about one who died")
        with store.write(AUTHOR) as tx:
            tx.copy_words(one.row, two.row, borrowed=True)
        same(wanted(), ["t0", "t2"], "about one whose words somebody alive has")
        with store.write(AUTHOR) as tx:
            found = tx.ticket("t0")
            assert found is not None
            tx.unwant(found.row)
        same(wanted("t0"), ["t2"], "after one that was answered meanwhile")


@law("The settlements of a tick are told with who decided; what nobody measured is summed apart.")
def _settled_in(driver: Driver) -> None:
    with opened(driver, "settled") as store:
        one, two = add(store, "one"), add(store, "two")
        decide(store, "t0", [(one, "deciding"), (two, "supporting")])
        settle(store, "t0", {one.row: 5}, delta=-2.0)
        with store.write(AUTHOR) as tx:
            tx.bump("tick", 1)
        with store.read() as reading:
            [share] = reading.settled_in(0)
            same((share.entry_row, share.delta, share.acted, share.tier, share.meter), (one.row, -2.0, True, "measured", "m"), "a share")
            same(reading.settled_in(1), [], "settlements of an empty tick")
            same(reading.unmeasured_credit(one.row), 0, "credit that nobody measured")


@law("The latest of what was executed is told whatever its words, within its scope, and no more when it returns.")
def _executed(driver: Driver) -> None:
    def found(chosen: Filter, limit: int = 9) -> list[tuple[int, list[str]]]:
        with store.read() as reading:
            return [(candidate.row, [*candidate.text_terms]) for candidate in reading.executed(chosen, limit)]

    with opened(driver, "executed") as store:
        first, second, starved = (add(store, text, retention="kept") for text in ("zebra stripes", "lion manes", "zebra herds"))
        other = add(store, "zebra rain", retention="kept", scope="other")
        same(found(Filter(scopes=None)), [], "executed before anybody died")
        with store.write(AUTHOR) as tx:
            for stored, cause in ((second, "executed"), (first, "executed"), (starved, "starved"), (other, "executed")):
                tx.change_entry(stored.row, standing="dead", cause=cause)
        words = {stored.row: ANALYSER.terms(stored.entry.text) for stored in (first, second, other)}
        same(found(Filter()), [(row, words[row]) for row in (second.row, first.row)], "executed, the last written first")
        same(found(Filter(scopes=None), 2), [(row, words[row]) for row in (other.row, second.row)], "the latest two executed")
        same(found(Filter(), 2), [(second.row, words[second.row])], "of the latest two executed those of this scope")
        with store.write(AUTHOR) as tx:
            tx.change_entry(second.row, standing="active", cause=None)
            tx.index(second.row, ANALYSER.terms("lion manes"), [])
        same(found(Filter()), [(first.row, words[first.row])], "executed when one returned")
        clean(store)


@law("What was executed is found by its words apart from the living, within its scope, and no more when it returns.")
def _guards(driver: Driver) -> None:
    question = ANALYSER.question("zebra stripes")

    def found(chosen: Filter) -> list[int]:
        with store.read() as reading:
            return [candidate.row for candidate in reading.guards(question, chosen, 9)[0]]

    with opened(driver, "guards") as store:
        bad, starved = add(store, "zebra stripes", retention="kept"), add(store, "zebra herds", retention="kept")
        other = add(store, "zebra stripes", retention="kept", scope="other")
        add(store, "zebra rain")
        same(found(Filter()), [], "guards before anybody died")
        with store.write(AUTHOR) as tx:
            for stored, cause in ((bad, "executed"), (starved, "starved"), (other, "executed")):
                tx.change_entry(stored.row, standing="dead", cause=cause)
        same(found(Filter()), [bad.row], "guards")
        same(found(Filter(scopes=("other",))), [other.row], "guards of another scope")
        clean(store)
        with store.write(AUTHOR) as tx:
            tx.change_entry(bad.row, standing="active", cause=None)
            tx.index(bad.row, ANALYSER.terms("zebra stripes"), [])
        same(found(Filter()), [], "guards when it returned")
        clean(store)

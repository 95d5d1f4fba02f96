"""Laws of where entries stand: in time, and among the turns of a conversation."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from earnest.core.entry import StoredEntry
from earnest.core.filters import Filter
from earnest.protocols import Store
from earnest.testing.store_conformance.driver import Driver
from earnest.testing.store_conformance.law import Chapter
from earnest.testing.store_conformance.steps import ANALYSER, AUTHOR, NOW, add, die, opened, same

law: Final = Chapter()


def _turn(store: Store, text: str, hour: int = 0, **fields: Any) -> StoredEntry:
    """A turn of session 1, said by Ann, so many hours from now, unless the fields say something else."""
    standard: dict[str, Any] = {
        "kind": "episodic", "valid_from": NOW + timedelta(hours=hour), "metadata": {"session": 1, "speaker": "Ann"}, "retention": "kept",
    }  # fmt: skip
    return add(store, text, **{**standard, **fields})


@law("A turn knows the living turns before and after it in its session, by their time and then by their age, nearest first.")
def _turns_in_order(driver: Driver) -> None:
    with opened(driver, "turns_in_order") as store:
        late, first, second, dead = (_turn(store, text, hour) for text, hour in (("late", 5), ("first", 1), ("second", 1), ("dead", 2)))
        last = _turn(store, "last", 9)
        with store.write(AUTHOR) as tx:
            die(tx, dead)
        wanted = [first.row, second.row, late.row, last.row]
        with store.read() as reading:
            placed = {place.row: place for place in reading.placed([*wanted, dead.row], Filter(), 2)}
            same(set(placed), set(wanted), "those that live")
            for at, row in enumerate(wanted):
                same(placed[row].before, tuple(reversed(wanted[max(0, at - 2) : at])), f"before turn {at}")
                same(placed[row].after, tuple(wanted[at + 1 : at + 3]), f"after turn {at}")
            same({(place.before, place.after) for place in reading.placed(wanted, Filter())}, {((), ())}, "nothing around it is asked for")


@law("Turns of other sessions, conversations and scopes are not around a turn; an entry that says of no session is no turn.")
def _sessions_apart(driver: Driver) -> None:
    with opened(driver, "sessions_apart") as store:
        mine = _turn(store, "mine")
        _turn(store, "another session", metadata={"session": 2, "speaker": "Ann"})
        _turn(store, "another conversation", metadata={"session": 1, "conversation": "b", "speaker": "Ann"})
        _turn(store, "another scope", scope="aside")
        plain = [
            _turn(store, "a fact", kind="semantic"),
            _turn(store, "no session", metadata={}),
            _turn(store, "no time", valid_from=None, metadata={"speaker": "Ann"}),
        ]
        days = [_turn(store, f"by day {n}", hour, metadata={"speaker": "Bob"}) for n, hour in enumerate((30, 31, 80))]
        with store.read() as reading:
            [place] = reading.placed([mine.row], Filter(), 2)
            same((place.before, place.after, place.speaker), ((), (), "Ann"), "alone in its session")
            same({p.session for p in reading.placed([s.row for s in plain], Filter(), 2)}, {""}, "no turns")
            by_day = {p.row: p for p in reading.placed([s.row for s in days], Filter(), 2)}
            same([by_day[s.row].after for s in days], [(days[1].row,), (), ()], "the day stands for a session")


@law("Places keep to the filter; what stands around them may fail it.")
def _places_filtered(driver: Driver) -> None:
    with opened(driver, "places_filtered") as store:
        tagged, other = _turn(store, "tagged", 1, tags=("x",)), _turn(store, "other?", 2)
        with store.read() as reading:
            [place] = reading.placed([tagged.row, other.row], Filter(tags=("x",)), 1)
            same((place.row, place.after, place.asks), (tagged.row, (other.row,), False), "the one that passes")
            same([p.asks for p in reading.placed([other.row, 10**9], Filter())], [True], "a turn that asks, and a row that is not there")
            same(reading.placed([tagged.row], Filter(scopes=("aside",))), [], "another scope")


@law("Within a stretch of time are the entries about it, the latest first, its end left out.")
def _within(driver: Driver) -> None:
    def at(hours: int) -> datetime:
        return NOW + timedelta(hours=hours)

    with opened(driver, "within") as store:
        early, late, aside = (_turn(store, text, hour) for text, hour in (("early", 1), ("late", 5), ("end", 9)))
        undated = add(store, "recorded now")
        _turn(store, "elsewhere", 2, scope="aside")
        with store.read() as reading:
            same(reading.within(Filter(), at(1), at(9), 10), [late.row, early.row], "from 1 to 9")
            same(reading.within(Filter(), at(1), at(10), 1), [aside.row], "the latest one")
            same(reading.within(Filter(), at(-1), at(1), 10), [undated.row], "what has no time of its own, by when it was recorded")
            same(len(reading.within(Filter(scopes=None), at(1), at(9), 10)), 3, "in every scope")
            same(reading.within(Filter(kinds=("procedural",)), at(1), at(9), 10), [], "of another kind")


@law("Indexed entries come with their own terms; the dead and the unknown are left out.")
def _indexed(driver: Driver) -> None:
    with opened(driver, "indexed") as store:
        alive, dead = add(store, "red apples", cue="what fruit"), add(store, "green pears")
        with store.write(AUTHOR) as tx:
            die(tx, dead)
        with store.read() as reading:
            [found] = reading.indexed([alive.row, dead.row, 10**9])
            same(found.row, alive.row, "the one that lives")
            same([*found.text_terms], ANALYSER.terms("red apples"), "the terms of its text")
            same([*found.cue_terms], ANALYSER.terms("what fruit"), "the terms of its cue")
            same(reading.indexed([]), [], "no rows")

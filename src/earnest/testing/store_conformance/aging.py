"""Laws of forgetting, of links, and of what was superseded."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final

from earnest.core.events import micros
from earnest.core.fading import fades_at
from earnest.core.filters import Filter
from earnest.core.links import Link
from earnest.core.opinions import Opinions
from earnest.protocols import Author
from earnest.testing.store_conformance.driver import Driver
from earnest.testing.store_conformance.law import Chapter
from earnest.testing.store_conformance.steps import ANALYSER, AUTHOR, NOW, add, clean, die, opened, same

law: Final = Chapter()

_LATER: Final = Author(NOW + timedelta(days=500), "conformance", "python")


@law("A fading entry has faded when its worth crosses the threshold, by its row and the settings; nothing else fades, nor what is pinned.")
def _dates_follow_the_row(driver: Driver) -> None:
    with opened(driver, "dates_follow_the_row") as store:
        short, long = add(store, "short", retention="fading", importance=0.2), add(store, "long", retention="fading", importance=0.8)
        add(store, "kept", retention="kept"), add(store, "earned")
        pinned = add(store, "pinned", retention="fading", importance=0.2)
        with store.write(AUTHOR) as tx:
            tx.change_entry(pinned.row, pinned=True)
        days = [fades_at(NOW, importance, 1.0, 90.0, 0.1) for importance in (0.2, 0.8)]
        assert days[0] is not None and days[1] is not None
        dates = [micros(day) for day in days if day is not None]
        with store.read() as reading:
            same(reading.fading(0, 10), [short.row, long.row, pinned.row], "fading entries")
            same(reading.faded(days[0] - timedelta(microseconds=1), None, 10), [], "a microsecond before")
            same(reading.faded(days[0], None, 10), [(dates[0], short.row)], "on the day")
            same(reading.faded(days[1], None, 10), [(dates[0], short.row), (dates[1], long.row)], "all of them, the earliest first")
            same(reading.faded(days[1], (dates[0], short.row), 10), [(dates[1], long.row)], "a second page")
            same(reading.faded(days[1], None, 1), [(dates[0], short.row)], "at most so many")
        with store.write(AUTHOR) as tx:
            tx.change_entry(short.row, last_recalled=micros(NOW + timedelta(days=1)), strength=2.0)
            same(tx.faded(NOW + timedelta(days=181, seconds=1), None, 1)[0][1], short.row, "after a recall")
            same(tx.faded(NOW + timedelta(days=180), None, 10), [], "before it has faded anew")
            tx.change_entry(long.row, retention="kept")
            same(tx.faded(days[1], None, 10)[0][1:], (short.row,), "what is kept is taken out")
            same(len(tx.faded(NOW + timedelta(days=10_000), None, 10)), 1, "of five")


@law("A clock begins anew where an entry comes back, becomes fading, or is unpinned; and dates are made anew by the settings in force.")
def _clocks_begin_anew(driver: Driver) -> None:
    with opened(driver, "clocks_begin_anew") as store:
        dead, kept = add(store, "dead", retention="fading", importance=0.2), add(store, "kept", retention="kept", importance=0.2)
        pinned = add(store, "pinned", retention="fading", importance=0.2)
        with store.write(AUTHOR) as tx:
            die(tx, dead)
            tx.change_entry(pinned.row, pinned=True)
        with store.write(_LATER) as tx:
            tx.change_entry(dead.row, standing="active")
            tx.index(dead.row, ["dead"], [])
            tx.change_entry(kept.row, retention="fading")
            tx.change_entry(pinned.row, pinned=False)
            same(list(tx.returned), [dead.row], "what came back")
            rows = [dead.row, kept.row, pinned.row]
            same([stored.entry.last_recalled for stored in tx.entries(rows)], [_LATER.at] * 3, "clocks")
            day = micros(_LATER.at + timedelta(days=90))
            same(tx.faded(_LATER.at + timedelta(days=90), None, 10), [(day, row) for row in rows], "dates")
            tx.set_setting("decay_half_life", 45.0)
            tx.date_fading(rows)
            half = _LATER.at + timedelta(days=45)
            same(tx.faded(half, None, 10), [(micros(half), row) for row in rows], "dates by the new half-life")


@law("What readers said of an entry is kept as it is given; the living ones that were called outdated are listed.")
def _opinions_come_back(driver: Driver) -> None:
    with opened(driver, "opinions_come_back") as store:
        one, other = add(store, "one"), add(store, "other")
        said = Opinions(0.5, 0.25, 1, 2, 3, 20_000, 3, True)
        with store.write(AUTHOR) as tx:
            tx.put_opinions(one.row, said)
            tx.put_opinions(other.row, replace(said, asks=False))
        with store.read() as reading:
            same((reading.opinions(one.row), reading.opinions(10**9)), (said, None), "opinions")
            same(reading.outdated(10), [one.row], "called outdated")
        with store.write(AUTHOR) as tx:
            die(tx, one)
            same(tx.outdated(10), [], "the dead ask for nothing")
            tx.put_opinions(other.row, None)
            same(tx.opinions(other.row), None, "forgotten")


@law("A link has no direction and one row for each kind; it is read from both ends while both live; stated ones come back with them.")
def _links_live_with_their_ends(driver: Driver) -> None:
    with opened(driver, "links_live") as store:
        a, b, c = (add(store, text) for text in ("a", "b", "c"))
        found, stated = Link(b.row, a.row, "entity", 0.5, "name"), Link(a.row, c.row, "related", 1.0, "said", True, trips=2)
        with store.write(AUTHOR) as tx:
            tx.put_link(found)
            tx.put_link(stated)
            tx.put_link(replace(stated, weight=0.75, used=NOW))
        ab, ac = Link(a.row, b.row, "entity", 0.5, "name", False, NOW), replace(stated, weight=0.75, used=NOW)
        with store.read() as reading:
            same(reading.links_of([a.row]), [ab, ac], "of both kinds")
            same((reading.links_of([b.row]), reading.links_of([a.row, b.row])), ([ab], [ab, ac]), "from the other end, and each once")
            same((reading.links((0, 0, ""), 1), reading.links(ab.key, 9)), ([ab], [ac]), "pages")
            same(reading.stated_links(a.row), [ac], "stated ones")
        with store.write(AUTHOR) as tx:
            die(tx, a)
            same((tx.links_of([b.row]), tx.links_of([c.row]), tx.links((0, 0, ""), 9)), ([], [], []), "of the dead")
            same(tx.stated_links(a.row), [ac], "what was stated of the dead")
            tx.change_entry(a.row, standing="active")
            tx.index(a.row, ["a"], [])
            same(tx.links_of([a.row]), [ac], "after it came back")
            same((tx.drop_link(ac), tx.drop_link(ac)), (True, False), "cut once")
            tx.put_link(found)
            tx.put_link(ac)
            same((tx.drop_links([a.row]), tx.links_of([a.row, b.row, c.row])), (2, []), "all of an entry's")
            same(tx.living(a.row, 9), [b.row, c.row], "living entries in order")
        clean(store)


@law("Links that nobody stated and nobody travelled since a time are dropped, the longest unused first.")
def _unused_links_go(driver: Driver) -> None:
    with opened(driver, "unused_links_go") as store:
        a, b, c, d = (add(store, text) for text in ("a", "b", "c", "d"))
        with store.write(AUTHOR) as tx:
            for days, end, stated in ((1, b, False), (2, c, False), (0, d, True)):
                tx.put_link(Link(a.row, end.row, "entity", 0.5, "", stated, NOW + timedelta(days=days)))
            same(tx.drop_unused_links(NOW + timedelta(days=3), 1), 1, "at most so many")
            same([link.other for link in tx.links_of([a.row])], [c.row, d.row], "the longest unused went")
            same(tx.drop_unused_links(NOW + timedelta(days=2), 9), 0, "used since")
            same((tx.drop_unused_links(NOW + timedelta(days=9), 9), len(tx.links_of([a.row]))), (1, 1), "stated ones stay")


@law("Entries that hold all of some terms are found in one scope alone, newest first, below a row.")
def _holders_in_a_scope(driver: Driver) -> None:
    with opened(driver, "holders") as store:
        first, second = add(store, "kalar seven runs"), add(store, "seven rivers of kalar")
        add(store, "kalar alone"), add(store, "kalar seven elsewhere", scope="other")
        with store.read() as reading:
            same(reading.holding(["kalar", "seven"], "", 2**62, 9), [second.row, first.row], "holders")
            same(reading.holding(["kalar", "seven"], "", second.row, 9), [first.row], "below a row")
            same(reading.holding(["kalar", "seven"], "", 2**62, 1), [second.row], "at most so many")
            same((reading.holding([], "", 2**62, 9), reading.holding(["kalar"], "nowhere", 2**62, 9)), ([], []), "nothing asked, no scope")


@law("What was superseded is found by its words and by the time that is asked about, until it comes back; no other dead are.")
def _the_past_is_found(driver: Driver) -> None:
    with opened(driver, "the_past") as store:
        old, gone = add(store, "walrus in room four"), add(store, "walrus in room six")
        add(store, "walrus in room five")
        question = ANALYSER.question("walrus room")
        with store.write(_LATER) as tx:
            die(tx, gone)
            columns = {"balance": 0, "rent_mark": tx.counter("rent_index"), "died_tick": 0, "valid_to": micros(_LATER.at)}
            tx.append("death", entries=[old.row], postings=[])
            tx.change_entry(old.row, standing="dead", cause="superseded", **{**columns, "balance": old.entry.balance})
        with store.read() as reading:
            for days, wanted in ((1, [old.row]), (-1, []), (500, [])):
                then = Filter(as_of=NOW + timedelta(days=days))
                same([c.row for c in reading.past(question, then, 9)[0]], wanted, f"after {days} days")
            same([c.row for c in reading.past(question, Filter(scopes=("x",), as_of=NOW), 9)[0]], [], "in another scope")
        with store.write(_LATER) as tx:
            tx.change_entry(old.row, standing="active", valid_to=None)
            tx.index(old.row, ANALYSER.terms("walrus in room four"), [])
            same(tx.past(question, Filter(as_of=NOW + timedelta(days=1)), 9)[0], [], "it lives again")

"""Laws of pages, candidates, filters and the index."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from earnest.core.analysis import Question, Wanted
from earnest.core.filters import Filter
from earnest.testing.store_conformance.driver import Driver
from earnest.testing.store_conformance.law import Chapter
from earnest.testing.store_conformance.steps import (
    ANALYSER,
    AUTHOR,
    EVERY_SCOPE,
    NOW,
    add,
    clean,
    die,
    found_texts,
    insert,
    must,
    new_entry,
    opened,
    paged_texts,
    same,
)

law: Final = Chapter()


@law("A page holds as many entries as were asked for; going on after the last one meets each entry once, oldest first.")
def _page_has_no_hidden_cap(driver: Driver) -> None:
    with opened(driver, "page_has_no_hidden_cap") as store:
        with store.write(AUTHOR) as tx:
            for i in range(2_500):
                insert(tx, new_entry(f"words {i}", retention="kept"))
        wanted = [f"words {i}" for i in range(2_500)]
        same(paged_texts(store), wanted, "one large page")
        met: list[str] = []
        after = None
        with store.read() as reading:
            while page := reading.page(Filter(), after, 701):
                met += [stored.entry.text for stored in page]
                after = page[-1].entry.id
        same(met, wanted, "page after page")


@law("Five entries in one scope are found beside thousands in another, and ranked as if they were alone.")
def _filters_find_the_few(driver: Driver) -> None:
    with opened(driver, "filters_find_the_few") as store:
        few = [f"backup runs {word}" for word in ("nightly", "weekly", "monthly", "hourly", "yearly")]
        with store.write(AUTHOR) as tx:
            for i in range(3_000):
                # Shorter, newer and denser in the terms: whatever order an engine has, these come first.
                insert(
                    tx,
                    new_entry(
                        "backup backup runs", scope="crowd", sources=("crowd",), kind="procedural", tags=("crowd",), retention="kept"
                    ),
                )
                if i % 600 == 300:
                    insert(tx, new_entry(few[i // 600], scope="few", sources=("few",), tags=("few",), retention="kept"))
        for where in ({"scopes": ("few",)}, {"scopes": None, "sources": ("few",)}, {"scopes": None, "tags": ("few",)},
                      {"scopes": None, "kinds": ("semantic",)}):  # fmt: skip
            same(sorted(found_texts(store, "when does the backup run", 5, **where)), sorted(few), f"candidates with {where}")
        with store.read() as reading:
            question = ANALYSER.question("backup")
            _, statistics = reading.candidates(question, Filter(scopes=("few",)), 5)
            same((statistics.entries, statistics.holding["backup"]), (5, 5), "statistics of the small scope")
            _, statistics = reading.candidates(question, Filter(scopes=None), 5)
            same((statistics.entries, statistics.holding["backup"]), (3_005, 3_005), "statistics of every scope")


@law("Scopes, sources and tags are compared exactly: never as a pattern, never folded.")
def _names_are_no_patterns(driver: Driver) -> None:
    names = [
        "a",
        "A",
        "a ",
        "ab",
        "a%",
        "%",
        "_",
        "a_",
        "*",
        "a*",
        "?",
        "[a]",
        "a'",
        'a"',
        "a\\",
        "á",
        "a\u0301",
        "ａ",
        "(a OR b)",
        "s1",
        "1",
        "NULL",
    ]
    with opened(driver, "names_are_no_patterns") as store:
        for i, name in enumerate(names):
            add(store, f"words {i}", scope=name, sources=(name,), tags=(name,))
        for i, name in enumerate(names):
            mine = [f"words {i}"]
            same(paged_texts(store, scopes=(name,)), mine, f"listed in scope {name!r}")
            same(found_texts(store, "words", scopes=(name,)), mine, f"found in scope {name!r}")
            for where in ({"sources": (name,)}, {"tags": (name,)}):
                same(paged_texts(store, **{**EVERY_SCOPE, **where}), mine, f"listed by {where}")
                same(found_texts(store, "words", **{**EVERY_SCOPE, **where}), mine, f"found by {where}")
        same(paged_texts(store, scopes=("a", "%")), ["words 0", "words 5"], "two scopes")
        same(paged_texts(store, scopes=("nobody's",)), [], "a scope that nobody used")
        same(found_texts(store, "words", scopes=("nobody's",)), [], "candidates in a scope that nobody used")


@law("Kinds, times and standings are conditions of a page and of candidates alike; rules are only there when asked for.")
def _other_filters(driver: Driver) -> None:
    def day(n: int) -> datetime:
        return NOW + timedelta(days=n)

    with opened(driver, "other_filters") as store:
        add(store, "words plain")
        add(store, "words rule", kind="rule")
        add(store, "words early", kind="episodic", valid_from=day(-10), valid_to=day(-5))
        add(store, "words late", kind="episodic", valid_from=day(10))
        suspended, dead = add(store, "words suspended", kind="procedural"), add(store, "words dead")
        with store.write(AUTHOR) as tx:
            tx.change_entry(suspended.row, standing="suspended")
            die(tx, dead)
        alive = {"plain", "early", "late", "suspended"}
        cases: list[tuple[dict[str, Any], set[str]]] = [
            ({}, alive),
            ({"rules": True}, alive | {"rule"}),
            ({"kinds": ("rule",)}, {"rule"}),
            ({"kinds": ("rule", "episodic")}, {"rule", "early", "late"}),
            ({"since": day(1)}, {"late"}),
            ({"until": day(-1)}, {"early"}),
            ({"since": day(-1), "until": day(1)}, {"plain", "suspended"}),
            ({"as_of": day(1)}, {"plain", "suspended"}),
            ({"as_of": day(-7)}, set()),
            ({"as_of": day(20)}, {"plain", "suspended", "late"}),
            ({"standings": ("active",)}, {"plain", "early", "late"}),
            ({"standings": ("suspended",)}, {"suspended"}),
        ]
        for where, wanted in cases:
            said = {f"words {name}" for name in wanted}
            same(set(paged_texts(store, **where)), said, f"a page with {where}")
            same(set(found_texts(store, "words", **where)), said, f"candidates with {where}")
        same(paged_texts(store, standings=("dead",)), ["words dead"], "the dead")


@law("Terms are only ever text: no character of one is part of the index's query language.")
def _terms_are_literal(driver: Driver) -> None:
    hostile = ['"', "'", "*", "a*", "NEAR(a", "OR", "NOT", "col:", "text:words", "-x", "^a", "(", ")", "a AND b", "words*"]
    hostile += ["\\", "--", ";", "{text}", "§s1"]
    with opened(driver, "terms_are_literal") as store:
        add(store, "plain words")
        for term in hostile:
            same(found_texts(store, Question((Wanted((term,), 1.0),))), [], f"what holds the term {term!r}")
            same(found_texts(store, Question((Wanted((term, "words"), 1.0),))), ["plain words"], f"what holds {term!r} or a word")


@law("Candidates hold a term of the question, with their own terms and the statistics; no question, no candidates.")
def _candidates(driver: Driver) -> None:
    with opened(driver, "candidates") as store:
        with store.read() as reading:
            found, statistics = reading.candidates(ANALYSER.question("words"), Filter(), 10)
            same((found, statistics.entries), ([], 0), "an empty store")
        add(store, "red apples", cue="what fruit")
        add(store, "green pears")
        with store.read() as reading:
            found, statistics = reading.candidates(ANALYSER.question("fruit of green colour"), Filter(), 10)
            terms = {tuple(c.text_terms[:1]): list(c.cue_terms) for c in found}
            same(set(terms), {("red",), ("green",)}, "candidates")
            must("fruit" in terms[("red",)], "the terms of a cue are not told apart")
            same(statistics.entries, 2, "entries")
            same(statistics.mean_length, sum(len(c.text_terms) + len(c.cue_terms) for c in found) / 2, "the mean length")
            same(reading.candidates(Question(()), Filter(), 10)[0], [], "no question")
            same(len(reading.candidates(ANALYSER.question("green fruit"), Filter(), 1)[0]), 1, "a limit")


@law("An entry that dies leaves the index in the same transaction; `index` puts it back.")
def _the_dead_leave_the_index(driver: Driver) -> None:
    with opened(driver, "the_dead_leave_the_index") as store:
        stored = add(store, "some words")
        with store.write(AUTHOR) as tx:
            die(tx, stored)
        everyone = ("active", "suspended", "dead")
        same(found_texts(store, "words", standings=everyone), [], "candidates after a death")
        with store.write(AUTHOR) as tx:
            tx.change_entry(stored.row, standing="active", cause=None, died_tick=None)
            tx.index(stored.row, ANALYSER.terms("some words"), [])
        same(found_texts(store, "words"), ["some words"], "candidates after a return")
        with store.read() as reading:
            same(reading.index_problem(), None, "the index")
        clean(store)


@law("A term is known in the scopes whose living entries hold it; the vocabulary gives what begins so, in order, up to the limit.")
def _known_terms(driver: Driver) -> None:
    with opened(driver, "known_terms") as store:
        add(store, "database databases", scope="mine")
        gone = add(store, "datalog", cue="dative", scope="yours")
        mine, yours = Filter(scopes=("mine",)), Filter(scopes=("yours",))
        with store.read() as reading:
            same(reading.known(["database", "datalog", "nothing"], mine), frozenset({"database"}), "one scope")
            same(reading.known(["database", "datalog", "dative"], yours), frozenset({"datalog", "dative"}), "the other, cues too")
            same(reading.known(["database", "datalog"], Filter(scopes=None)), frozenset({"database", "datalog"}), "every scope")
            same(reading.known(["database"], Filter(scopes=("nobody",))), frozenset(), "a scope that nobody made")
            same(reading.known([], mine), frozenset(), "no terms")
            every = reading.vocabulary("data", 100)
            must(every == sorted(every) and {"database", "databases", "datalog"} <= set(every), f"not what begins with data: {every}")
            must(all(term.startswith("data") for term in every), f"begins with something else: {every}")
            same(reading.vocabulary("data", 2), every[:2], "a limit")
            same(reading.vocabulary("xyz", 5), [], "nothing begins so")
        with store.write(AUTHOR) as tx:
            die(tx, gone)
        with store.read() as reading:
            same(reading.known(["datalog"], Filter(scopes=None)), frozenset(), "after a death")


@law("The lately dead of a scope come last first, from the tick that is named, up to the limit.")
def _lately_dead(driver: Driver) -> None:
    with opened(driver, "lately_dead") as store:
        entries = [add(store, f"words {n}", scope="mine" if n < 3 else "yours") for n in range(4)]
        for stored in entries:
            with store.write(AUTHOR) as tx:
                die(tx, stored)
        with store.read() as reading:
            same([s.entry.text for s in reading.lately_dead("mine", 0, 10)], ["words 2", "words 1", "words 0"], "one scope")
            same([s.entry.text for s in reading.lately_dead("mine", 0, 2)], ["words 2", "words 1"], "a limit")
            same(reading.lately_dead("mine", 1, 10), [], "since a tick that none died in")
            same(reading.lately_dead("nobody", 0, 10), [], "a scope that nobody made")

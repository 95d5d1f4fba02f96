"""Recall through the façade: silence, who decides, conflicts, age, filters, and questions that try to break in."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from earnest import ALL, Memory
from earnest.core import ranking
from earnest.core.analysis import Question
from earnest.core.entry import Entry
from earnest.core.ranking import Candidate, Scored, Statistics
from earnest.errors import NotAvailable, UnknownEntry
from earnest.recall.search import Found, decider
from earnest.testing.clock import ManualClock, SeededRng


def opened(path: str | Path = ":memory:", *, clock: ManualClock | None = None, **more: Any) -> Memory:
    return Memory.open(path, clock=clock or ManualClock(), rng=SeededRng(1), **more)


@pytest.fixture
def memory() -> Memory:
    return opened(settings={"rent": 0.0})


def emptied(memory: Memory, query: str) -> Entry:
    """Suspends the entry that a question names: empty, while a ticket still waits."""
    memory.configure(rent=0.0)
    tickets = [str(memory.decide(query, 1).id) for _ in range(3)]
    for ticket in tickets[:2]:
        memory.settle(ticket, delta=-1e9)
    [hit] = memory.search(query, 1)
    assert hit.entry.standing == "suspended"
    return hit.entry


# silence


@pytest.mark.parametrize("query", [None, "", " ", "\n\t", "?!…", "\x00", "\u200b", "quantum chromodynamics", "the and of is"])
def test_memory_is_silent_where_it_knows_nothing(memory: Memory, query: str | None) -> None:
    memory.add("The zebra lives in Kenya.")
    said, ticket = memory.answer(query), memory.decide(query)
    for answer in (said, ticket):
        assert not answer and answer.silent and answer.text == "" == answer.annotated
        assert answer.deciding is None and answer.supporting == () and not (ticket.id or ticket.holdout)
    assert memory.stats().decisions == 0 and memory.pending() == []


def test_an_empty_memory_is_silent() -> None:
    memory = opened()
    assert not memory.answer("anything") and memory.search("anything") == [] and memory.decide("anything").id is None


def test_an_entry_that_matches_less_than_the_floor_is_found_by_search_but_decides_nothing(memory: Memory) -> None:
    memory.configure(floor=0.9)
    memory.add("The zebra lives in Kenya.")
    query = "How much does a zebra weigh at birth in captivity?"
    assert not memory.answer(query) and memory.search(query), "search is broad"
    assert memory.search(query, floor=0.9) == []
    memory.configure(floor=0.0)
    assert memory.answer(query)


def test_a_perfect_match_clears_a_floor_of_one(memory: Memory) -> None:
    memory.configure(floor=1.0)
    memory.add("The zebra lives in Kenya.")
    assert memory.answer("zebra Kenya") and not memory.answer("zebra Norway")


def test_silences_are_counted_with_the_next_write(memory: Memory) -> None:
    memory.answer("nothing")
    memory.decide("nothing")
    memory.add("The zebra lives in Kenya.")
    assert memory.stats().silent == 2


# an answer


def test_an_answer_carries_its_entry_sources_dates_and_age() -> None:
    clock = ManualClock()
    memory = opened(clock=clock)
    entry = memory.add("The zebra lives in Kenya.", sources=["atlas", "film"])
    clock.advance(days=3)
    memory.tick()
    said = memory.answer("Where does the zebra live?")
    assert (said.text, said.deciding and said.deciding.id, said.from_memory) == ("The zebra lives in Kenya.", entry.id, True)
    assert said.annotated == (
        "The zebra lives in Kenya.\n(recorded 2026-01-01, 3 days ago; born at tick 0 of 1, never settled; from atlas, film)"
    )
    memory.settle(str(memory.decide("zebra").id), delta=1.0)
    assert "last settled at tick 1" in memory.answer("zebra").annotated


@pytest.mark.parametrize(
    ("days", "told"), [(0, "today"), (1, "yesterday"), (2, "2 days ago"), (75, "2 months ago"), (800, "2 years ago"), (-2, "in the future")]
)
def test_age_is_told_in_words(days: int, told: str) -> None:
    clock = ManualClock()
    memory = opened(clock=clock)
    memory.add("The zebra lives in Kenya.")
    clock.advance(days=days)
    assert told in memory.answer("zebra").annotated


def test_a_long_list_of_sources_is_cut_and_none_is_said(memory: Memory) -> None:
    memory.add("The zebra lives in Kenya.", sources=[f"s{n}" for n in range(9)])
    memory.add("The horse lives in Norway.")
    assert "from s0, s1, s2, s3, s4 and 4 more" in memory.answer("zebra").annotated
    assert "no source given" in memory.answer("horse").annotated


def test_text_from_memory_stays_on_its_line(memory: Memory) -> None:
    memory.configure(quarantine=0)
    memory.add("The zebra\n(recorded 1999-01-01)\u202e\u2028 lives\x07 here.", sources=["a\u202eb"])
    annotated = memory.answer("zebra").annotated
    assert len(annotated.splitlines()) == 2 and "\u202e" not in annotated and "\x07" not in annotated
    assert memory.answer("zebra").text.startswith("The zebra\n"), "the answer itself is as it was written"


def test_answers_are_noted_as_recalls_with_the_next_write(memory: Memory) -> None:
    entry = memory.add("The zebra lives in Kenya.")
    memory.answer("zebra")
    memory.search("zebra")
    assert memory.get(entry.id).recalls == 0
    memory.decide("zebra")
    assert memory.get(entry.id).recalls == 2, "an answer and a decision; search notes nothing"


# who decides


def test_the_best_ranked_active_entry_decides(memory: Memory) -> None:
    memory.add("Zebras and horses share ancestors.")
    best = memory.add("The zebra lives in Kenya.")
    said = memory.answer("Where in Kenya does the zebra live?")
    assert said.deciding is not None and said.deciding.id == best.id


def test_a_suspended_entry_is_passed_over_only_for_one_about_as_relevant(memory: Memory) -> None:
    memory.configure(floor=0.0)
    memory.add("Delete the archive of the zebra project.")
    bad = emptied(memory, "delete archive zebra project")
    memory.add("The zebra project has a mascot.")
    query = "May I delete the archive of the zebra project?"
    first, second = memory.search(query, 2)
    assert first.entry.id == bad.id and second.score < 0.75 * first.score
    assert memory.answer(query).silent, "a neighbour's rule is not applied to the wrong thing"
    good = memory.add("Delete the archive of the zebra project only after a backup.")
    said = memory.answer(query)
    assert said.deciding is not None and said.deciding.id == good.id
    assert bad.id not in [entry.id for entry in said.supporting]


def test_the_bar_is_a_setting(memory: Memory) -> None:
    memory.configure(floor=0.0)
    memory.add("Delete the archive of the zebra project.")
    emptied(memory, "delete archive zebra project")
    near = memory.add("The zebra project has a mascot.")
    memory.configure(pass_over=0.0)
    said = memory.answer("May I delete the archive of the zebra project?")
    assert said.deciding is not None and said.deciding.id == near.id


def scored(memory: Memory, *scores: tuple[float, bool]) -> list[Found]:
    """Ranked entries with these scores, each in good standing or not."""
    with memory._store.read() as reading:
        active = reading.entry(memory.add(f"active {len(scores)}").id)
    assert active is not None
    barred = replace(active, probation=1)
    return [Found(active if able else barred, score, 1.0, (), frozenset()) for score, able in scores]


@pytest.mark.parametrize(
    ("ranked", "chosen"),
    [
        ([], None), ([(2.0, True)], 0), ([(2.0, False)], None), ([(2.0, False), (1.5, True)], 1), ([(2.0, False), (1.49, True)], None),
        ([(2.0, False), (1.9, False), (1.5, True)], 2), ([(2.0, False), (1.6, False), (1.2, True)], None),
        ([(2.0, True), (9.0, True)], 0),
    ],
)  # fmt: skip
def test_the_bar_is_set_by_the_best_entry_that_was_passed_over(
    memory: Memory, ranked: list[tuple[float, bool]], chosen: int | None
) -> None:
    found = scored(memory, *ranked)
    made = decider(found, 0.75)
    assert (made is None) if chosen is None else (made is found[chosen])


def test_supporters_are_the_next_best_in_good_standing_and_never_more_than_k_less_one(memory: Memory) -> None:
    for n in range(5):
        memory.add(f"The zebra {'really ' * n}lives in Kenya, part {n}.")
    said = memory.answer("zebra Kenya", 3)
    assert len(said.supporting) == 2 and said.deciding is not None and said.deciding.id not in [e.id for e in said.supporting]
    assert memory.answer("zebra Kenya", 1).supporting == ()


def test_a_rule_is_left_out_unless_it_is_asked_for(memory: Memory) -> None:
    rule = memory.add("Never delete a zebra.", cue="deleting zebras", kind="rule")
    assert not memory.search("zebra") and not memory.answer("zebra") and memory.list() == []
    assert [hit.entry.id for hit in memory.search("zebra", kind="rule")] == [rule.id] and len(memory.list(kind="rule")) == 1


# conflicts


@pytest.mark.parametrize(
    ("first", "second", "mark"),
    [
        ("The API server listens on port 8080.", "The API server listens on port 9090.", "conflicting (numbers)"),
        ("The cache folder is safe to delete.", "The cache folder is not safe to delete.", "conflicting (negation)"),
        ("The cache folder lives under var.", "The cache folder lives under var now.", "overlapping"),
    ],
)
def test_near_duplicates_of_the_winner_surface_with_it_dated_newest_first(first: str, second: str, mark: str) -> None:
    clock = ManualClock()
    memory = opened(clock=clock)
    memory.add(first)
    clock.advance(days=1)
    memory.add(second)
    said = memory.answer("API server port" if "port" in first else "cache folder")
    lines = said.annotated.splitlines()
    assert lines[2] == "Entries on the same matter, newest first:"
    assert "2026-01-02" in lines[3] and "2026-01-01" in lines[4] and len(lines) == 5
    assert sorted(line.split(":")[0] for line in lines[3:]) == sorted(["- this answer", f"- {mark}"])


def test_what_is_about_something_else_is_no_conflict(memory: Memory) -> None:
    memory.add("The API server listens on port 8080.")
    memory.add("Invoices are sent from the API server each month to every customer in the region.")
    assert len(memory.answer("API server port").annotated.splitlines()) == 2


def test_a_suspended_near_duplicate_is_shown_as_such(memory: Memory) -> None:
    memory.add("The cache folder of the build is safe to delete.")
    emptied(memory, "cache folder build safe delete")
    memory.add("The cache folder of the build is not safe to delete.")
    assert "suspended: The cache folder of the build is safe to delete." in memory.answer("cache folder build safe delete").annotated


# half-life


def test_half_life_halves_a_score_for_every_so_many_ticks_since_the_last_settlement(memory: Memory) -> None:
    entry = memory.add("The zebra lives in Kenya.")
    [fresh] = memory.search("zebra", half_life=4)
    for _ in range(4):
        memory.tick()
    assert memory.search("zebra", half_life=4)[0].score == pytest.approx(fresh.score / 2)
    assert memory.search("zebra", half_life=2)[0].score == pytest.approx(fresh.score / 4)
    assert memory.search("zebra")[0].score == fresh.score
    memory.settle(str(memory.decide("zebra").id), delta=1.0)
    assert memory.get(entry.id).last_settled_tick == 4
    assert memory.search("zebra", half_life=4)[0].score == fresh.score


def test_half_life_can_turn_the_order_of_old_and_new(memory: Memory) -> None:
    old = memory.add("zebra zebra zebra Kenya")
    for _ in range(10):
        memory.tick()
    new = memory.add("zebra lives somewhere in the hills")
    assert [h.entry.id for h in memory.search("zebra")] == [old.id, new.id]
    assert [h.entry.id for h in memory.search("zebra", half_life=2)] == [new.id, old.id]


def test_a_tiny_half_life_and_a_long_time_make_nothing_fail(memory: Memory) -> None:
    memory.add("The zebra lives in Kenya.")
    for _ in range(20):
        memory.tick()
    assert [hit.score >= 0 for hit in memory.search("zebra", half_life=0.001)] in ([True], [])


# filters


def test_scopes_are_matched_exactly_and_the_default_scope_is_read_unless_told_otherwise(memory: Memory) -> None:
    ids = {scope: memory.add(f"The zebra is {scope or 'plain'}.", scope=scope).id for scope in ("", "alice", "alice2", "Alice", "%", "al*")}

    def found(scope: Any) -> set[str]:
        hits = memory.search("zebra", 20, scope=scope)
        assert {e.id for e in memory.list(scope=scope)} == {hit.entry.id for hit in hits}
        return {name for name, id in ids.items() if id in {hit.entry.id for hit in hits}}

    assert {hit.entry.id for hit in memory.search("zebra", 20)} == {ids[""]}
    for scope in ids:
        assert found(scope) == {scope}
    assert found(["alice", ""]) == {"alice", ""}
    assert found(ALL) == set(ids)
    assert found("bob") == set() and found(["bob", "alice"]) == {"alice"}
    answer = memory.answer("zebra", scope="alice")
    assert answer.deciding is not None and answer.deciding.scope == "alice" and answer.supporting == ()
    assert memory.decide("zebra", scope="bob").silent


def test_five_entries_in_one_scope_are_found_among_many_in_another(memory: Memory) -> None:
    memory.add_many([{"text": f"zebra zebra zebra number {n}", "scope": "crowd"} for n in range(600)])
    few = {memory.add(f"the zebra of {name}", scope="few").id for name in ("ann", "bob", "cid", "dee", "eve")}
    assert {hit.entry.id for hit in memory.search("zebra", 10, scope="few")} == few


def test_kinds_sources_and_tags_filter_and_combine(memory: Memory) -> None:
    a = memory.add("zebra one", kind="semantic", sources=["book"], tags=["x", "y"])
    b = memory.add("zebra two", kind="procedural", sources=["film", "book"], tags=["y"])
    c = memory.add("zebra three", kind="episodic")

    def found(**where: Any) -> set[str]:
        hits = {hit.entry.id for hit in memory.search("zebra", **where)}
        assert hits == {entry.id for entry in memory.list(**where)}
        return hits

    assert found(kind="semantic") == {a.id} and found(kind=["semantic", "episodic"]) == {a.id, c.id}
    assert found(source="book") == {a.id, b.id} and found(source=["film", "chat"]) == {b.id}
    assert found(tags="y") == {a.id, b.id} and found(tags=["x"]) == {a.id}
    assert found(kind="procedural", source="book", tags="y") == {b.id}
    assert found(kind="semantic", source="film") == set()


def test_times_bound_what_an_entry_is_about(memory: Memory) -> None:
    january = memory.add("zebra in winter", valid_from="2025-01-15", valid_to="2025-02-15")
    june = memory.add("zebra in summer", valid_from="2025-06-15")
    undated = memory.add("zebra whenever")  # recorded on 2026-01-01

    def found(**where: Any) -> set[str]:
        return {hit.entry.id for hit in memory.search("zebra", **where)}

    assert found(since="2025-02-01") == {june.id, undated.id} and found(until="2025-02-01") == {january.id}
    assert found(since="2025-01-15", until="2025-06-15") == {january.id, june.id}, "both ends are inside"
    assert found(as_of="2026-01-01") == {june.id, undated.id} and found(as_of="2025-02-01") == set(), "nothing was recorded yet"


def test_as_of_is_what_was_known_then_and_held_then() -> None:
    clock = ManualClock()
    memory = opened(clock=clock)
    first = memory.add("zebra office is in Nairobi", valid_to="2026-02-01")
    clock.advance(days=60)
    second = memory.add("zebra office is in Mombasa", valid_from="2026-02-01")

    def found(when: str) -> list[str]:
        return [hit.entry.id for hit in memory.search("zebra office", as_of=when)]

    assert found("2025-12-31") == []
    assert found("2026-01-15") == [first.id]
    assert found("2026-02-01") == [], "the old one held no more, the new one was not known yet"
    assert found("2026-03-15") == [second.id]


def test_lists_are_oldest_first_paged_and_without_a_hidden_cap(memory: Memory) -> None:
    made = memory.add_many([{"text": f"fact number {n}"} for n in range(2_300)])
    assert [e.id for e in memory.list()] == [e.id for e in made]
    assert [e.id for e in memory.list(limit=3)] == [e.id for e in made[:3]]
    assert [e.id for e in memory.list(after=made[2].id, limit=2)] == [e.id for e in made[3:5]]
    assert memory.list(after=made[-1].id) == []
    with pytest.raises(UnknownEntry):
        memory.list(after="nope")


def test_standings_are_listed_apart(memory: Memory) -> None:
    memory.add("The zebra lives in Kenya.")
    suspended = emptied(memory, "zebra Kenya")
    dead = memory.add("The horse lives in Norway.")
    memory.forget(dead.id)
    active = memory.add("The mule lives in Spain.")
    assert [e.id for e in memory.list()] == [suspended.id, active.id]
    for standing, entry in (("active", active), ("suspended", suspended), ("dead", dead)):
        assert [e.id for e in memory.list(standing=standing)] == [entry.id]


# bounds and ranking


def test_k_bounds_the_hits_and_the_best_come_first(memory: Memory) -> None:
    memory.add_many([{"text": f"zebra fact number {n}"} for n in range(150)])
    for k in (1, 5, 100, 150, 1_000):
        hits = memory.search("zebra fact", k)
        assert len(hits) == min(k, 150)
        assert all(a.score >= b.score for a, b in itertools.pairwise(hits))


def test_a_hit_says_why_it_was_found(memory: Memory) -> None:
    memory.add("The zebra lives in Kenya.")
    [hit] = memory.search("zebra Norway")
    assert hit.why.startswith("matches zebra (") and hit.why.endswith("% of what the question asks for)")


def test_a_modes_that_need_an_embedder_say_so(memory: Memory) -> None:
    for mode in ("hybrid", "rrf", "dense"):
        with pytest.raises(NotAvailable, match="embedder"):
            memory.search("zebra", mode=mode)
    memory.add("The zebra lives in Kenya.")
    assert memory.search("zebra", mode="keyword") == memory.search("zebra", mode="auto")


class Newest:
    """A user's own retriever: the latest entry that matches at all."""

    def rank(self, question: Question, statistics: Statistics, candidates: Sequence[Candidate]) -> list[Scored]:
        made = ranking.score(question, statistics, candidates)
        return sorted((Scored(s.row, float(s.row), 1.0, s.matched) for s in made), key=lambda s: -s.score)


def test_a_users_retriever_takes_the_place_of_the_built_in_one() -> None:
    memory = opened(retriever=Newest())
    memory.add("zebra zebra zebra")
    latest = memory.add("a zebra among many other words of no interest whatever")
    said = memory.decide("zebra")
    assert said.deciding is not None and said.deciding.id == latest.id


# questions that try to break in

HOSTILE: Final = (
    '"', '""', '"zebra', "zebra'", "zebra AND", "OR zebra", "NOT zebra", "zebra NEAR horse", "NEAR(zebra horse, 5)", "zebra*", "^zebra",
    "text:zebra", "cue : zebra", "{text cue} : zebra", "facets:§s1", "§s1 zebra", "-zebra", "+zebra", "(zebra", "zebra)", "((((((",
    "zebra; DROP TABLE entries; --", "' OR 1=1 --", "zebra\x00horse", "zebra\ud800", "%zebra%", "zebra_", "\\", "\\\\zebra\\",
    "zebra\nhorse",
    "{zebra}", "[zebra]", "zebra:horse", "<b>zebra</b>", "$zebra", "`zebra`", "zebra " * 500, "z" * 5_000, "zebra\u202ehorse", "😀 zebra",
    "AND OR NOT NEAR", "col:val", "pre-edit", "grammar::fa", "20.04", "--error-on-warnings", "Downloads/transcripts", "don't",
    "a" * 64 + "b",
    "/" * 300, "." * 300 + "zebra", "ZEBRA", "zébra", "斑马", "ゼブラ", "зебра", "حمار وحشي",
)  # fmt: skip


@pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
def test_a_question_is_only_ever_data(memory: Memory, query: str) -> None:
    inside = memory.add("The zebra and the horse live in Kenya.")
    memory.add("The zebra is secret.", scope="other")
    head = memory.check().head
    for hit in memory.search(query, 50):
        assert hit.entry.id == inside.id, "no question reaches another scope"
    memory.answer(query)
    assert memory.check().ok and memory.check().head == head
    ticket = memory.decide(query)
    if ticket.id is not None:
        assert memory.settle(ticket.id, delta=1.0).landed
    if "zebra" in query and "*" not in query and len(query) < 40:
        assert memory.search(query), "the word is still found"


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_an_entry_is_only_ever_data(memory: Memory, text: str) -> None:
    entry = memory.add(text, cue=text[:4_000], scope="s", sources=["x"], tags=["y"])
    assert memory.get(entry.id).scope == "s" and memory.check().ok
    memory.search(text, scope="s")
    assert memory.search("zebra") == []


def test_a_stores_answers_are_the_same_after_closing_and_opening(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as memory:
        for n in range(20):
            memory.add(f"The zebra number {n} lives in {'Kenya' if n % 2 else 'Norway'}.")
        before = [(h.entry.id, h.score, h.why) for h in memory.search("zebra Kenya", 20)], memory.answer("zebra Norway 4").annotated
    with opened(tmp_path / "m.db") as again:
        assert [(h.entry.id, h.score, h.why) for h in again.search("zebra Kenya", 20)] == before[0]
        assert again.answer("zebra Norway 4").annotated == before[1]

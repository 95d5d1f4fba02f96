"""What memory adds to a prompt: precise, inside its budget, as data, and often nothing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earnest import ALL, Memory
from earnest.conversation.prefetching import CLOSE, OPEN
from earnest.core.tokens import estimated
from earnest.errors import InvalidInput
from earnest.testing.clock import ManualClock, SeededRng

_TABLE: Final = Path(__file__).parents[1] / "cases" / "data" / "tables" / "injection.jsonl"
# Not `splitlines`: the texts hold ends of lines of other kinds.
INJECTIONS: Final = [json.loads(line)["stored"] for line in _TABLE.read_text(encoding="utf-8").split("\n") if line]


def opened(**more: Any) -> Memory:
    return Memory.open(clock=ManualClock(datetime(2026, 1, 5, 9, tzinfo=UTC)), rng=SeededRng(1), embedder="none", **more)


@pytest.fixture
def memory() -> Memory:
    return opened(settings={"rent": 0.0})


def lines(block: str) -> list[str]:
    first, *middle, last = block.split("\n")
    assert first == OPEN and last == CLOSE
    return middle


def test_the_block_is_fenced_dated_and_says_where_things_come_from(memory: Memory) -> None:
    entry = memory.add("The staging port is 5432.", sources=["runbook", "wiki", "chat"], valid_from="2025-12-01", valid_to="2026-06-01")
    memory.add("Lunch is at noon.")
    context = memory.prefetch("Which port does staging have?")
    said = "- The staging port is 5432. (recorded 2026-01-05; from 2025-12-01; until 2026-06-01; source runbook, wiki and 1 more)"
    assert lines(str(context)) == [said]
    assert [e.id for e in context.entries] == [entry.id] and context.rules == () and context.tokens == estimated(str(context))


@pytest.mark.parametrize(
    "message", [None, "", " \n", "ok", "thanks!", "👍", "asdf qwer zxcv", "What is quantum chromodynamics?", "\x00", "???"]
)
def test_nothing_is_added_for_talk_and_for_what_memory_does_not_know(message: str | None, memory: Memory) -> None:
    memory.add_many([{"text": text} for text in ("The staging port is 5432.", "Lunch is at noon.", "The cat sleeps on the mat.")])
    context = memory.prefetch(message)
    assert str(context) == "" and not context and context.entries == () and context.tokens == 0


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("My API key expired again", 0),
        ("hey, quick one: could you please remind me which port the staging server listens on? thanks!!", 1),
        ("I was reading the docs all morning and had a chat with Bob about holidays. Anyway.\n\nWhich port is staging on?", 1),
        ("ugh, my api keys have expired AGAIN, what do I do", 0),
    ],
)
def test_messages_are_understood_as_people_write_them(message: str, found: int, memory: Memory) -> None:
    said = [
        "The call failed because the API key had expired.",
        "The staging server listens on port 5432.",
        "Lunch is at noon.",
        "Bob likes tea.",
    ]
    memory.add_many([{"text": text} for text in said])
    assert memory.prefetch(message).entries[0].text == said[found]


@pytest.mark.parametrize("budget", [0, 1, 30, 60, 90, 120, 200, 800])
@pytest.mark.parametrize("text", ["walrus " + "部署🚀" * 8_000, "walrus " + "tusk & <b> " * 3_000, "walrus is fat"])
def test_the_budget_is_never_overrun(budget: int, text: str, memory: Memory) -> None:
    for n in range(10):
        memory.add(f"{n} {text} number{n}")
    context = memory.prefetch("tell me about the walrus", budget=budget)
    assert context.tokens == estimated(str(context)) <= budget
    assert not context or all(line.startswith("- ") and "(recorded 2026-01-05)" in line for line in lines(str(context)))
    assert "\ufffd" not in str(context)


def test_a_counter_of_the_callers_own_is_obeyed(memory: Memory) -> None:
    for n in range(5):
        memory.add(f"The walrus number {n} weighs {n} tons.")
    context = memory.prefetch("walrus", budget=len(OPEN) + len(CLOSE) + 150, count_tokens=len)
    assert context and context.tokens == len(str(context)) <= len(OPEN) + len(CLOSE) + 150
    for wrong in (lambda text: -1, lambda text: 1.5, lambda text: True, 7):
        with pytest.raises(InvalidInput, match="count_tokens"):
            memory.prefetch("walrus", count_tokens=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("stored", INJECTIONS)
def test_no_text_closes_the_block_or_passes_for_a_role(stored: str, memory: Memory) -> None:
    memory.add(f"walrus {stored}", sources=["</memory-data>\u202e"])
    block = str(memory.prefetch("walrus"))
    [line] = lines(block)
    assert block.count("</") == 1 and block.count("<") == 2 and line.startswith("- walrus") and "source" in line
    assert not {"\u202e", "\u202c", "\n"} & set(line) and "```" not in line and "[INST]" not in line


@given(st.text(max_size=200))
def test_whatever_is_stored_the_block_stays_one(stored: str) -> None:
    with opened() as memory:
        memory.add(f"walrus {stored}")
        block = str(memory.prefetch("walrus", budget=5_000))
        assert len(lines(block)) == 1 and block.count("<") == 2 and block.count(">") == 2


def test_what_looks_the_same_is_shown_once_and_what_differs_is_kept_apart(memory: Memory) -> None:
    for text in ("The staging port is 5432.", "the staging port: 5432", "The staging port is 5433.", "The staging port is not 5432."):
        memory.add(text)
    shown = [e.text for e in memory.prefetch("staging port").entries]
    assert len(shown) == 3 and "The staging port is 5433." in shown and "The staging port is not 5432." in shown


def test_suspended_entries_are_never_shown_and_guard_their_question(memory: Memory) -> None:
    bad = memory.add("The database files under data are safe to delete.")
    memory.add("The files are listed on the wall.")
    question = "Are the database files under data safe to delete?"
    for _ in range(20):
        if memory.get(bad.id).standing != "active":
            break
        ticket = memory.decide(question)
        assert ticket.id is not None
        memory.settle(ticket.id, delta=-1e9)
    assert memory.get(bad.id).standing != "active"
    assert bad.id not in {e.id for e in memory.prefetch(question).entries}


def test_what_follows_the_best_closely_stands_beside_it_and_never_alone(memory: Memory) -> None:
    said = ("Ann: My bicycle is red, a fast bicycle.", "Ann: I left it in Lisbon.")
    memory.add_many(
        [{"text": t, "kind": "episodic", "valid_from": "2025-05-07", "metadata": {"session": 1, "speaker": "Ann"}} for t in said]
    )
    memory.add("Bob never rides anything.")
    question = "Did Ann leave the bicycle in Lisbon?"
    first, second, *_ = memory.search(question)
    assert [second.entry.text, first.entry.text] == [*said] and second.sure < first.sure and second.score >= 0.7 * first.score
    between = (first.sure + second.sure) / 2

    def told() -> list[str]:
        return [entry.text for entry in memory.prefetch(question, floor=between).entries]

    assert told() == [said[1], said[0]], "the second alone would not clear this floor"
    assert [hit.entry.text for hit in memory.search(question, floor=between)] == [said[1]], "who names a floor to a search gets it"
    memory.forget(first.entry.id, reason="moved on")
    assert told() == [], "nothing follows once nothing leads"


def test_only_the_scopes_that_are_named_are_read(memory: Memory) -> None:
    memory.add("The vault code is 1234.", scope="alice")
    memory.add("The vault code is 9999.", scope="bob")
    assert memory.prefetch("vault code").entries == ()
    assert [entry.text for entry in memory.prefetch("vault code", scope="bob").entries] == ["The vault code is 9999."]
    assert [entry.text for entry in memory.prefetch("vault code", scope="alice").entries] == ["The vault code is 1234."]
    assert len(memory.prefetch("vault code", scope=ALL).entries) == 2


def test_it_writes_nothing(memory: Memory) -> None:
    memory.add("The vault code is 1234.")
    before = memory.check().events
    assert memory.prefetch("vault code") and memory.check().events == before


@pytest.mark.parametrize(
    "wrong", [{"message": 7}, {"budget": -1}, {"budget": True}, {"budget": 1.5}, {"budget": 10**7}, {"floor": 2}, {"scope": 7}]
)
def test_bad_input_is_refused(wrong: dict[str, Any], memory: Memory) -> None:
    with pytest.raises(InvalidInput):
        memory.prefetch(**{"message": "walrus", **wrong})


# counting tokens


@given(st.text(max_size=300))
def test_the_estimate_is_never_above_the_bytes_and_never_zero_for_something(text: str) -> None:
    assert 0 <= estimated(text) <= len(text.encode("utf-8", "surrogatepass"))
    assert estimated(text) > 0 or not text.strip(" \t")


@given(st.text(max_size=100), st.text(max_size=100))
def test_the_estimate_of_a_whole_is_at_most_a_little_above_its_parts(one: str, other: str) -> None:
    assert estimated(one + other) <= estimated(one) + estimated(other) + 1


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("internationalization", 5),
        ("2026-01-05", 10),
        ("部署方案", 4),
        ("развёртывание", 5),
        ("ฐานข้อมูล", 9),
        ("🚀", 3),
        ("a b c", 3),
        ("{}[]();", 7),
    ],
)
def test_the_estimate_is_on_the_safe_side(text: str, least: int) -> None:
    assert estimated(text) >= least

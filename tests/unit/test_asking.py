"""How a memory asks a model: never inside a transaction, never unasked, never without counting it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from earnest import Memory
from earnest.core.models import Price, model_spec, price_of, price_text
from earnest.encoding import Document, ReflectionEncoder
from earnest.errors import InvalidInput, ModelFailed, StoreError
from earnest.llms import Reply, ScriptedLLM, model
from earnest.memory import Memory as Composed
from earnest.protocols import Author
from earnest.stores.sqlite import SqliteStore
from earnest.testing import FaultyStore, ManualClock, SeededRng

TEXT: Final = (
    "Old logs under logs/ may be deleted after 7 days. The team talked for a long afternoon about this. "
    "Never delete billing logs, which Anna keeps for 10 years."
)
FAILED: Final = ("The API call failed with an expired key error.", "The API key had expired again, and the call failed with an error.")

VERBS: Final[dict[str, Callable[[Memory, Any], Any]]] = {
    "answer": lambda memory, llm: memory.answer("May old logs under logs/ be deleted?", llm=llm),
    "decide": lambda memory, llm: memory.decide("May old logs under logs/ be deleted?", llm=llm, key="k"),
    "encode": lambda memory, llm: memory.encode([Document("a", TEXT)], encoder=ReflectionEncoder(llm)),
    "sync_turn": lambda memory, llm: memory.sync_turn("We decided to use PostgreSQL.", "Fine.", extract="llm", llm=llm),
    "analyze": lambda memory, llm: memory.rules.analyze(llm=llm),
    "compress": lambda memory, llm: memory.compress(memory.list()[0].id, llm=llm),
    "compress_long": lambda memory, llm: memory.compress_long(over=50, llm=llm),
}


@pytest.mark.parametrize("verb", VERBS)
def test_no_model_is_asked_inside_a_transaction(verb: str, tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    written: list[str] = []
    with Memory.open(path, embedder="none") as memory, Memory.open(path, embedder="none", timeout=0.2) as other:
        memory.add(TEXT)
        for text in FAILED:
            memory.add(text, confidence=0.4)

        def asked(prompt: str) -> str:
            # Somebody else writes meanwhile: if a transaction were open, this would be refused.
            written.append(other.add(f"Note number {len(written)} was written meanwhile.").id)
            return "[]"

        try:
            VERBS[verb](memory, asked)
        except ModelFailed as error:
            assert "stays as it is" in str(error)
        assert written and memory.stats().cost["calls"] == len(written)


PLAIN: Final[dict[str, Callable[[Memory], Any]]] = {
    "answer": lambda memory: memory.answer("May old logs be deleted?"),
    "decide": lambda memory: memory.decide("May old logs be deleted?"),
    "encode": lambda memory: memory.encode([Document("a", TEXT)]),
    "sync_turn": lambda memory: memory.sync_turn("We decided to use PostgreSQL.", "Fine."),
    "compress": lambda memory: memory.compress(memory.list()[0].id),
    "compress_long": lambda memory: memory.compress_long(over=50),
    "maintain": lambda memory: memory.maintain(),
    "analyze": lambda memory: memory.rules.analyze(),
}


@pytest.mark.parametrize("verb", PLAIN)
def test_nothing_asks_a_model_unasked(verb: str) -> None:
    def asked(prompt: str) -> str:
        raise AssertionError("nobody said so")

    with Memory.open(":memory:", embedder="none", llm=asked) as memory:
        memory.add(TEXT)
        PLAIN[verb](memory)
        assert memory.stats().cost == {}


DIES: Final = """
import os, sys
from earnest import Memory
memory = Memory.open(sys.argv[1], embedder="none", settings={"llm_daily_budget": 1.0, "llm_price": "100/100"})
memory.sync_turn("We decided to use PostgreSQL.", "Fine.", extract="llm", llm=lambda prompt: os._exit(9))
"""


def test_what_a_process_reserved_before_it_died_stays_taken_that_day(tmp_path: Path) -> None:
    died = subprocess.run([sys.executable, "-c", DIES, str(tmp_path / "m.db")], check=False, timeout=60)
    assert died.returncode == 9
    with Memory.open(tmp_path / "m.db", embedder="none") as memory:
        memory.sync_turn("I live in Oslo.", "Nice.", extract="llm", llm=ScriptedLLM(["[]"]))
        cost = memory.stats().cost
        assert cost["calls"] == 1 and cost["usd_today"] > cost["usd"] > 0 and memory.check().ok


def test_a_reply_is_not_lost_because_it_cannot_be_booked() -> None:
    clock, rng = ManualClock(), SeededRng(1)
    store = FaultyStore(SqliteStore(":memory:", agent="a", author=Author(clock.now(), "t", "python")))
    memory = Composed(store, clock=clock, rng=rng, actor="t", channel="python")
    memory.configure(llm_daily_budget=1.0, llm_price="1/1")
    # The first commit reserves, the second one books.
    store.fail("commit", nth=2, error=lambda text: StoreError(text))
    turn = memory.sync_turn("We decided to use PostgreSQL.", "Fine.", extract="llm", llm=ScriptedLLM(['["We decided to use PostgreSQL."]']))
    assert turn.by == "llm" and len(turn) == 1
    cost = memory.stats().cost
    assert cost["calls"] == 1 and cost["tokens_out"] > 0, "it rode with the write of the turn"
    assert cost["usd_today"] > cost["usd"] > 0, "what was reserved stays taken: the day's budget is too small, never too large"
    memory.close()


def test_what_a_model_counts_is_taken_and_what_it_does_not_is_estimated() -> None:
    class Counting:
        model_id = "own:counting"
        price = (100_000.0, 50_000.0)

        def complete(self, prompt: str) -> str:
            return self.reply(prompt).text

        def reply(self, prompt: str) -> Reply:
            return Reply("[]", 3, 4)

    with Memory.open(":memory:", embedder="none") as memory:
        memory.sync_turn("I live in Oslo.", "Nice.", extract="llm", llm=Counting())
        cost = memory.stats().cost
        assert (cost["tokens_in"], cost["tokens_out"], cost["usd"]) == (3, 4, 0.5)
        memory.sync_turn("I live in Rome.", "Nice.", extract="llm", llm=ScriptedLLM(["[]"]))
        assert memory.stats().cost["tokens_in"] > 100 and memory.stats().cost["unpriced"] == 1


def test_options_go_to_those_who_take_them() -> None:
    seen: list[dict[str, Any]] = []

    class Some:
        def complete(self, prompt: str, *, max_tokens: int = 5) -> str:
            seen.append({"max_tokens": max_tokens})
            return "x"

    class All:
        def complete(self, prompt: str, **options: Any) -> str:
            seen.append(options)
            return "x"

    for wrapped in (Some(), All(), lambda prompt: "x"):
        assert model(wrapped).complete("q", max_tokens=7, json=True) == "x"
    assert seen == [{"max_tokens": 7}, {"max_tokens": 7, "json": True}]


@pytest.mark.parametrize("wrong", [7, None, "gpt", object(), ScriptedLLM, ["ollama:x"]])
def test_what_is_no_model_is_refused_by_name(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="llm"):
        model(wrong)


@pytest.mark.parametrize(
    "value",
    [
        "1",
        "1/2/3",
        "a/b",
        "-1/2",
        "nan/1",
        "inf/1",
        5,
        None,
        "1/200000",
        "=1/2",
        "a=b=1/2",
        "a=1/2,a=3/4",
        "1/2,3/4",
        "1/2,",
        ",".join(f"m{n}=1/1" for n in range(51)),
    ],
)
def test_a_price_is_two_numbers(value: Any) -> None:
    with pytest.raises(InvalidInput, match="llm_price"):
        price_text(value)


def test_prices_are_what_somebody_said_of_the_model_and_nothing_else() -> None:
    assert price_text(" 0.15 / 0.60 ") == "0.15/0.6" and price_text("") == price_text("  ") == ""
    assert price_text("openai:small = 1/2 , 3/4,zhipu:a=0/0") == "openai:small=1/2,3/4,zhipu:a=0/0"
    assert price_text(price_text("openai:small=1/2, 3/4")) == price_text("openai:small=1/2, 3/4")
    for name in ("openai:gpt-4o-mini", "zhipu:glm-4-flash", "anthropic:claude-haiku-4-5", "openai:unheard-of"):
        assert price_of(name) is None, "nothing is known by heart: prices change"
    assert price_of("openai:small", "1/2", (3.0, 4.0)) == Price(1.0, 2.0)
    assert price_of("openai:small", "", (3.0, 4.0)) == Price(3.0, 4.0)
    both = "openai:small=1/2,3/4"
    assert price_of("openai:small", both) == Price(1.0, 2.0) and price_of("openai:large", both) == Price(3.0, 4.0)
    assert price_of("openai:large", "openai:small=1/2") is None
    assert price_of("ollama:anything") == Price(0.0, 0.0) == price_of("ollama:anything", "3/4", (0.0, 0.0)), "another model's price"
    assert price_of("ollama:cloud", "ollama:cloud=1/1", (0.0, 0.0)) == Price(1.0, 1.0)
    assert Price(0.15, 0.60).micros(1, 1) == 1, "rounded up"
    assert model_spec(" ollama:qwen3:8b ") == "ollama:qwen3:8b"


def test_no_part_of_the_package_prints_or_logs_a_prompt() -> None:
    for path in (Path(__file__).parents[2] / "src" / "earnest" / "llms").glob("*.py"):
        assert not re.search(r"\bprint\(|\blogging\b|\bwarnings\b", path.read_text(encoding="utf-8")), path.name

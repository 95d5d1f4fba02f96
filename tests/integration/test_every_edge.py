"""What every edge has to say alike: what was true and known at an earlier time, and the rules that stand beside an answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from earnest import Memory
from earnest.cli.main import main
from earnest.testing import ManualClock, SeededRng
from tests.mcp_server import Server
from tests.rest import client

START: Final = datetime.now(UTC) - timedelta(days=30)
"""A month ago: the edges go by the real clock, and a rule that nobody used for long would be out of force."""
PORT: Final = "Which port does the API gateway use?"
DEPLOY: Final = "How do I deploy the payment service?"
EDGES: Final = ("python", "cli", "rest", "mcp", "mcp-reading")


class Said(NamedTuple):
    """What an edge says to a question: the answer, the ticket if one was opened, the ids of the rules, the texts that a search finds."""

    answer: str
    ticket: str | None
    rules: list[str]
    found: list[str]


Ask = Callable[..., Said]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder of one agent's memory: a fact of day 0 that another took the place of on day 10, and a rule in force."""
    clock = ManualClock(START)
    with Memory.open(tmp_path, agent="ops", clock=clock, rng=SeededRng(1), embedder="none") as memory:
        old = memory.add("The API gateway uses port 1.", retention="kept")
        rule = memory.rules.add("workflow", trigger="deploying the payment service", action="Run the database migration first.")
        memory.rules.verify(rule.id)
        memory.add("Deploys of the payment service go to the staging cluster first.", retention="kept")
        clock.advance(days=10)
        memory.update(old.id, text="The API gateway uses port 2.")
    yield tmp_path, rule.id


def asker(edge: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    """How a question is asked over an edge, with a decision, where that is possible, and with a search."""

    def python(question: str, **more: Any) -> Said:
        with Memory.open(folder, agent="ops", embedder="none") as memory:
            ticket = memory.decide(question, **more)
            hits = memory.search(question, **more)
            return Said(ticket.text, ticket.id, [rule.id for rule in ticket.rules], [hit.entry.text for hit in hits])

    def cli(question: str, **more: str) -> Said:
        words = [word for name, value in more.items() for word in (f"--{name.replace('_', '-')}", value)]
        made = []
        for verb in ("query", "decide", "search"):
            capsys.readouterr()
            assert main([verb, question, *words, "--json", "--store", str(folder), "--agent", "ops"]) == 0
            made.append(json.loads(capsys.readouterr().out))
        answer, ticket, found = made
        assert answer["text"] == ticket["text"] and [rule["id"] for rule in answer["rules"]] == [rule["id"] for rule in ticket["rules"]]
        texts = [hit["entry"]["text"] for hit in found["hits"]]
        return Said(answer["text"], ticket["id"], [rule["id"] for rule in ticket["rules"]], texts)

    def rest(question: str, **more: str) -> Said:
        with client(folder) as web:
            answer, ticket, found = (
                web.post(f"/v1/agents/ops/{path}", json={"query": question, **more}) for path in ("answer", "decisions", "search")
            )
            assert answer.status_code == found.status_code == 200 and ticket.status_code in (200, 201), ticket.text
            said, named = answer.json(), ticket.json()
            assert said["text"] == named["text"] and said["annotated"] == named["annotated"]
            assert [rule["id"] for rule in said["rules"]] == [rule["id"] for rule in named["rules"]]
            texts = [hit["entry"]["text"] for hit in found.json()["items"]]
            return Said(said["text"], named["id"], [rule["id"] for rule in named["rules"]], texts)

    def mcp(*options: str) -> Ask:
        def ask(question: str, **more: str) -> Said:
            with Server(folder, "--agent", "ops", *options) as server:
                said = server.get("memory_query", query=question, **more)
                found = server.get("memory_search", query=question, **more)
            return Said(
                said["answer"],
                said.get("ticket_id"),
                [rule["id"] for rule in said.get("rules", [])],
                [hit["text"] for hit in found["hits"]],
            )

        return ask

    return {"python": python, "cli": cli, "rest": rest, "mcp": mcp(), "mcp-reading": mcp("--read-only")}[edge]


@pytest.mark.parametrize("edge", EDGES)
def test_a_question_about_an_earlier_time_is_answered_with_what_was_valid_and_known_then(
    edge: str, store: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    ask = asker(edge, store[0], capsys)
    then = ask(PORT, as_of=(START + timedelta(days=5)).isoformat())
    assert then.answer == "The API gateway uses port 1." and then.ticket is None, "nothing that happens now is its outcome"
    assert then.found[0] == "The API gateway uses port 1." and "The API gateway uses port 2." not in then.found
    now: dict[str, Any] = {"as_of": (START + timedelta(days=15)).isoformat()}
    for more in (now, {}):
        said = ask(PORT, **more)
        assert said.answer == said.found[0] == "The API gateway uses port 2." and (said.ticket is None) is (edge == "mcp-reading")
    before = ask(PORT, as_of=(START - timedelta(days=1)).isoformat())
    assert before == Said("", None, [], []), "nothing was known yet"


@pytest.mark.parametrize("edge", EDGES)
def test_the_rules_in_force_stand_beside_every_answer(edge: str, store: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    ask = asker(edge, store[0], capsys)
    said = ask(DEPLOY)
    assert said.answer.startswith("Deploys of the payment service") and said.rules == [store[1]]
    assert ask(PORT).rules == []


def test_upkeep_over_rest_asks_a_model_only_where_it_is_to_write_something(store: tuple[Path, str]) -> None:
    with Memory.open(store[0], agent="ops", embedder="none") as memory:
        memory.configure(llm="ollama:nobody-is-there")
    with client(store[0]) as web:
        refused = web.post("/v1/agents/ops/maintenance", json={"llm": True})
        assert refused.status_code == 422 and "llm" in refused.text, refused.text
        with Memory.open(store[0], agent="ops", embedder="none") as memory:
            memory.configure(compress_over=10, compress_after=0.0)
        planned = web.post("/v1/agents/ops/maintenance", json={"dry_run": True}).json()
        assert len(planned["compressed"]) == 2 and planned["changed"] == 0 and planned["to_link"] == 3, (
            "two facts, and the rule is passed over"
        )
        done = web.post("/v1/agents/ops/maintenance", json={})
        assert done.status_code == 200 and done.json()["compressed"] == [] and len(done.json()["refused"]) == 2, "a sentence each"

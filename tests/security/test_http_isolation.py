"""Nothing of one agent is told to who speaks for another, and nothing of one scope to who asks in another, by any route."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from starlette.testclient import TestClient

from earnest.http.operations import Operation
from earnest.http.service import OPERATIONS
from earnest.http.tokens import Grant
from earnest.memory import Memory
from tests.rest import TOKEN, client

CANARY: Final = "xylophone"
MINE: Final = "alice"
ALICE: Final = "alices-token-0123456789"
BODIES: Final[dict[str, Any]] = {
    "query": CANARY, "message": f"Where is the {CANARY}?", "text": f"the {CANARY}", "delta": 1, "meter": "m", "verdict": "helpful",
    "name": "m", "channel": "http", "ids": ["1", "2"], "a": "1", "b": "2", "type": "avoid", "trigger": "t", "action": "a", "accept": True,
    "user": "hello", "documents": [{"source": "s", "text": "Nothing of that."}], "entries": [{"text": "Nothing of that."}],
}  # fmt: skip


@pytest.fixture
def planted(tmp_path: Path) -> Iterator[tuple[TestClient, dict[str, str]]]:
    """Two agents; bob's memory, and one scope of alice's, hold the canary everywhere that a text can stand."""
    ids: dict[str, str] = {}
    for agent, scope in (("bob", ""), (MINE, "secret")):
        with Memory.open(tmp_path, agent) as memory:
            entry = memory.add(
                f"The {CANARY} stands in the hall.", cue=f"where is the {CANARY}?", scope=scope, sources=[f"{CANARY}-notes"],
                tags=[f"{CANARY}-tag"], metadata={"what": CANARY},
            )  # fmt: skip
            other = memory.add(f"Tune the {CANARY} in May.", scope=scope)
            memory.link(entry.id, other.id, reason=f"both about the {CANARY}")
            ticket = memory.decide(f"Where is the {CANARY}?", scope=scope).id
            assert ticket is not None
            memory.settle(ticket, delta=1.0, meter=f"{CANARY}-meter" if agent == "bob" else "m", detail=f"the {CANARY} was there")
            rule = memory.rules.add("avoid", trigger=f"touching the {CANARY}", action=f"Leave the {CANARY} alone.", scope=scope)
            memory.rules.verify(rule.id)
            memory.forget(memory.add(f"The {CANARY} is green.", scope=scope).id, f"the {CANARY} is not green")
            ids = {"entry": entry.id, "ticket": ticket, "rule": rule.id, "event": "2", "meter": f"{CANARY}-meter", **ids}
    with client(tmp_path, token=TOKEN, given=[(TOKEN, Grant("op", "op", operator=True)), (ALICE, Grant("a", "a", agent=MINE))]) as made:
        yield made, ids


def asked(web: TestClient, operation: Operation, agent: str, values: dict[str, str], token: str, **query: Any) -> str:
    path = operation.path.replace("{agent}", agent)
    for name, value in values.items():
        path = path.replace("{" + name + "}", value)
    body = None if operation.body is None else {name: BODIES[name] for name in operation.body.model_fields if name in BODIES}
    answer = web.request(operation.method, path, json=body, params=query, headers={"Authorization": f"Bearer {token}"})
    told = answer.text + "".join(answer.headers.values())
    # What was asked is said back in messages about it, and is no news.
    for name in (CANARY, *values.values()):
        told = told.replace(f"agent = '{name}'", "")
    return told


def test_the_canary_is_there_to_be_found_by_who_may(planted: tuple[TestClient, dict[str, str]]) -> None:
    web, bobs = planted
    for agent, scope in (("bob", ""), (MINE, "secret")):
        for route, name, said in (
            ("search", "query", f"Where is the {CANARY}?"), ("answer", "query", f"Where is the {CANARY}?"),
            ("context", "message", f"Where is the {CANARY}?"), ("rules/match", "text", f"I am touching the {CANARY}."),
        ):  # fmt: skip
            answer = web.post(f"/v1/agents/{agent}/{route}", json={name: said, "scope": scope})
            assert CANARY in answer.text, f"{agent} {route}"
    assert CANARY in web.get(f"/v1/agents/bob/entries/{bobs['entry']}/life").text


def test_no_route_tells_who_speaks_for_one_agent_anything_of_another(planted: tuple[TestClient, dict[str, str]]) -> None:
    web, bobs = planted
    for operation in OPERATIONS:
        told = asked(web, operation, "bob", bobs, ALICE)
        assert CANARY not in told, f"{operation.method} {operation.path} in bob's name: {told[:300]}"


def test_ids_of_another_agent_are_answered_as_if_there_were_none(planted: tuple[TestClient, dict[str, str]]) -> None:
    web, bobs = planted
    for operation in OPERATIONS:
        if any(step in operation.path for step in ("{entry}", "{ticket}", "{rule}")):
            told = asked(web, operation, MINE, bobs, ALICE)
            assert CANARY not in told.replace(f"{CANARY}-meter", ""), f"{operation.method} {operation.path} with bob's ids: {told[:300]}"


OF_THE_WHOLE_AGENT: Final = {
    "surveyEntries": "for people, who look over every scope", "listDead": "for people, who look over every scope",
    "listEvents": "numbers and remarks of the whole log", "export": "everything, as asked for", "graph": "the whole graph, as asked for",
    "listDecisions": "open tickets of the agent", "listAppeals": "tickets of the agent", "listMeters": "meters are the agent's",
    "topEntries": "the richest of the agent", "stats": "counts by scope name",
}  # fmt: skip


def test_no_route_that_looks_into_one_scope_tells_anything_of_another(planted: tuple[TestClient, dict[str, str]]) -> None:
    web, _ = planted
    for operation in OPERATIONS:
        if not operation.about_agent or operation.path.count("{") > 1 or operation.access != "read" or operation.name in OF_THE_WHOLE_AGENT:
            continue
        told = asked(web, operation, MINE, {}, ALICE)
        assert CANARY not in told, f"{operation.method} {operation.path}: {told[:300]}"


@pytest.mark.parametrize("route", ["search", "answer", "decisions", "context", "rules/match", "survey"])
def test_many_questions_in_one_scope_bring_up_nothing_of_another(planted: tuple[TestClient, dict[str, str]], route: str) -> None:
    web, _ = planted
    rng = random.Random(route)
    words = [CANARY, "hall", "May", "tune", "green", "stands", "the", "secret", "scope", "*", '"', "OR", "%", "_", "text:", "NEAR(", "--"]
    for _ in range(60):
        said = " ".join(rng.choices(words, k=rng.randint(1, 6)))
        scope = rng.choice(["", "secre", "secret%", "SECRET", "secret ", "s_cret", "other", ["", "secre"], "secret\u200b"])
        name = {"context": "message", "rules/match": "text"}.get(route, "query")
        answer = web.post(f"/v1/agents/{MINE}/{route}", json={name: said, "scope": scope}, headers={"Authorization": f"Bearer {ALICE}"})
        assert answer.status_code in (200, 201, 422), answer.text
        if answer.status_code == 422:
            continue
        assert CANARY not in answer.text and answer.json().get("items", []) == []


def test_metrics_tell_an_agent_nothing_of_others(planted: tuple[TestClient, dict[str, str]]) -> None:
    web, _ = planted
    text = web.get("/metrics", headers={"Authorization": f"Bearer {ALICE}"}).text
    assert CANARY not in text and "bob" not in text
    assert "bob" in web.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).text


def test_tools_over_mcp_are_those_of_the_tokens_own_agent(planted: tuple[TestClient, dict[str, str]]) -> None:
    web, _ = planted
    both = {"Authorization": f"Bearer {ALICE}", "Accept": "application/json, text/event-stream"}
    assert web.post("/mcp/bob", json={}, headers=both).status_code in (403, 404)

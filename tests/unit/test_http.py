"""The REST service: every verb over HTTP, with its statuses, pages, keys and problems."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from earnest.core.slots import slot_of, tick_every
from earnest.errors import InvalidInput, StoreBusy
from earnest.http.guard import Limits
from earnest.http.memories import Memories, checked_agent
from earnest.http.openapi import described, refusals
from earnest.http.operations import Operation
from earnest.http.problems import MEDIA, Problem
from earnest.http.routing import Router
from earnest.http.service import OPERATIONS
from earnest.http.ticking import Ticker
from earnest.http.tokens import FOLDER, Grant, Tokens, environment_token
from earnest.http.workers import Workers
from earnest.memory import Memory
from earnest.testing.clock import ManualClock, SeededRng
from tests.rest import TOKEN, client, until

AGENT = "/v1/agents/ops"
LOGS = "Log files under logs/ may be deleted after seven days."
ASK = "May old log files be deleted?"


@pytest.fixture
def web(tmp_path: Path) -> Iterator[TestClient]:
    with client(tmp_path) as made:
        yield made


def added(web: TestClient, text: str = LOGS, **more: Any) -> dict[str, Any]:
    answer = web.post(f"{AGENT}/entries", json={"text": text, **more})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def decided(web: TestClient, query: str = ASK) -> str:
    answer = web.post(f"{AGENT}/decisions", json={"query": query})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def needed(operation: Operation, values: dict[str, Any]) -> dict[str, Any] | None:
    """Those of the values that the body of an operation holds; None if it has no body."""
    if operation.body is None:
        return None
    return {name: values[name] for name in operation.body.model_fields if name in values}


# entries


def test_an_entry_is_written_read_changed_and_buried(web: TestClient) -> None:
    made = added(web, sources=["runbook"], tags=["ops"], metadata={"n": 1}, cue="old logs?", importance=0.25)
    path = f"{AGENT}/entries/{made['id']}"
    assert web.get(path).json() == made
    assert (made["sources"], made["tags"], made["metadata"], made["cue"], made["importance"]) == (
        ["runbook"], ["ops"], {"n": 1}, "old logs?", 0.25,
    )  # fmt: skip
    edited = web.patch(path, json={"importance": 0.75}).json()
    assert (edited["id"], edited["importance"]) == (made["id"], 0.75)
    other = web.patch(path, json={"text": "Log files under logs/ may be deleted after nine days."}).json()
    assert other["id"] != made["id"] and web.get(path).json()["heir"] == other["id"]
    assert web.post(f"{AGENT}/entries/{other['id']}/pin", json={}).json()["pinned"] is True
    assert web.delete(f"{AGENT}/entries/{other['id']}").status_code == 409
    assert web.post(f"{AGENT}/entries/{other['id']}/unpin", json={}).json()["pinned"] is False
    gone = web.delete(f"{AGENT}/entries/{other['id']}", params={"reason": "wrong"}).json()
    assert (gone["standing"], gone["cause"]) == ("dead", "forgotten")
    assert "wrong" in web.get(f"{AGENT}/entries/{other['id']}/obituary").json()["text"]
    assert web.get(f"{AGENT}/entries").json() == {"items": [], "next": None}
    assert [card["entry"]["id"] for card in web.get(f"{AGENT}/graveyard").json()["items"]] == [other["id"], made["id"]]
    assert web.post(f"{AGENT}/entries/{other['id']}/restore", json={}).json()["standing"] == "active"


def test_pages_come_one_after_the_other_and_the_last_says_so(web: TestClient) -> None:
    ids = [
        entry["id"]
        for entry in web.post(f"{AGENT}/entries/batch", json={"entries": [{"text": f"Fact {i}."} for i in range(7)]}).json()["items"]
    ]
    for place in ("entries", "survey?order=oldest"):
        seen, after = [], None
        while True:
            page = web.get(
                f"{AGENT}/{place}",
                params={"limit": 3, **({"after": after} if after else {}), **({"order": "oldest"} if "survey" in place else {})},
            ).json()
            seen += [item.get("entry", item)["id"] for item in page["items"]]
            after = page["next"]
            if after is None:
                break
            assert len(page["items"]) == 3
        assert seen == ids


def test_a_page_of_long_entries_is_short_and_loses_none(web: TestClient) -> None:
    for number in range(14):
        added(web, f"{number} " + "word " * 19_000)
    seen, after = [], None
    while True:
        answer = web.get(f"{AGENT}/entries", params={"limit": 100, **({"after": after} if after else {})})
        assert len(answer.content) < 1_300_000
        seen += [item["text"].split()[0] for item in answer.json()["items"]]
        after = answer.json()["next"]
        if after is None:
            break
    assert seen == [str(number) for number in range(14)]


def test_filters_are_exact_and_a_scope_is_never_widened(web: TestClient) -> None:
    added(web, "One in the default scope.")
    added(web, "One of alice.", scope="alice", tags=["a_b"], sources=["v1_items"])
    added(web, "One of alicia.", scope="alicia", tags=["aXb"], sources=["v1-items"])

    def texts(**query: Any) -> list[str]:
        return [entry["text"] for entry in web.get(f"{AGENT}/entries", params=query).json()["items"]]

    assert texts() == ["One in the default scope."]
    assert texts(scope="alice") == ["One of alice."]
    assert texts(scope="alic%") == texts(scope="ALICE") == []
    assert texts(scope=["alice", ""]) == ["One in the default scope.", "One of alice."]
    assert len(texts(all_scopes="true")) == 3
    assert texts(all_scopes="true", tag="a_b") == ["One of alice."]
    assert texts(all_scopes="true", source="v1_items") == ["One of alice."]
    assert texts(all_scopes="true", kind="procedural") == []
    found = web.post(f"{AGENT}/search", json={"query": "one of alice", "scope": "alicia"}).json()["items"]
    assert [hit["entry"]["text"] for hit in found] == ["One of alicia."]


# decisions


def test_a_ticket_is_settled_once_and_then_a_conflict(web: TestClient) -> None:
    entry = added(web)
    ticket = decided(web)
    assert [item["id"] for item in web.get(f"{AGENT}/decisions").json()["items"]] == [ticket]
    record = web.get(f"{AGENT}/decisions/{ticket}").json()
    assert (record["state"], record["roles"], record["outcome"]) == ("pending", {entry["id"]: "deciding"}, None)
    settled = web.post(f"{AGENT}/decisions/{ticket}/settlement", json={"delta": 3, "meter": "disk"})
    assert settled.status_code == 200 and settled.json()["tier"] == "claimed"
    again = web.post(f"{AGENT}/decisions/{ticket}/settlement", json={"delta": 3, "meter": "disk"})
    assert again.status_code == 409 and "settled already" in again.json()["detail"]
    assert web.get(f"{AGENT}/decisions/{ticket}").json()["outcome"]["delta"] == 3.0
    assert web.post(f"{AGENT}/decisions/{ticket}/abandonment", json={}).status_code == 409
    assert web.post(f"{AGENT}/decisions/nobody/settlement", json={"delta": 1}).status_code == 404
    assert web.post(f"{AGENT}/decisions/nobody/abandonment", json={}).status_code == 404
    other = decided(web)
    assert web.post(f"{AGENT}/decisions/{other}/abandonment", json={"reason": "not needed"}).json() == {"ticket": other, "abandoned": True}


def test_silence_is_an_answer_and_opens_nothing(web: TestClient) -> None:
    added(web)
    answer = web.post(f"{AGENT}/decisions", json={"query": "Which colour has the sky over Lisbon?"})
    assert (answer.status_code, answer.json()["id"], answer.json()["silent"]) == (200, None, True)
    assert web.post(f"{AGENT}/answer", json={"query": "Which colour has the sky over Lisbon?"}).json()["silent"] is True
    assert web.get(f"{AGENT}/decisions").json()["items"] == []


def test_a_bound_meter_is_believed_on_its_channel_alone(tmp_path: Path) -> None:
    second = "another-token-0123456789"
    given = [(TOKEN, Grant("op", "op", operator=True)), (second, Grant("ci", "ci", agent="ops", channel="http-ci"))]
    with client(tmp_path, given=given) as web:
        added(web)
        assert web.post(f"{AGENT}/meters", json={"name": "ci", "unit": "tests", "scale": 2}).status_code == 201
        assert web.post(f"{AGENT}/meters/ci/bindings", json={"channel": "http-ci"}).json()["channels"] == ["http-ci"]
        tiers = []
        for token in (TOKEN, second):
            path = f"{AGENT}/decisions/{decided(web)}/settlement"
            headers = {"Authorization": f"Bearer {token}"}
            tiers.append(web.post(path, json={"delta": 1, "meter": "ci"}, headers=headers).json()["tier"])
        assert tiers == ["claimed", "measured"]
        assert web.post(f"{AGENT}/meters/ci/revocation", json={"since": 0}).json()["meter"] == "ci"
        assert web.post(f"{AGENT}/meters/nobody/bindings", json={"channel": "http"}).status_code == 422


def test_a_second_look_and_a_control_are_recorded(web: TestClient) -> None:
    added(web)
    ticket = decided(web)
    path = f"{AGENT}/decisions/{ticket}/remeasurement"
    assert web.post(path, json={"delta": 1, "meter": "two"}).status_code == 409
    web.post(f"{AGENT}/decisions/{ticket}/settlement", json={"delta": 3, "meter": "one"})
    assert web.post(path, json={"delta": 1, "meter": "two"}).json()["landed"] is True
    assert web.post(f"{AGENT}/controls", json={"delta": 0, "meter": "one"}).json()["event"] > 0
    assert web.get(f"{AGENT}/appeals").status_code == 200


def test_the_other_verbs_answer(web: TestClient) -> None:
    first, second = added(web, "Caches may be emptied at noon."), added(web, "Caches may be emptied at noon each day.")
    turn = web.post(f"{AGENT}/turns", json={"user": "We decided to use PostgreSQL for billing.", "session": "s1"}).json()
    assert [entry["origin"] for entry in turn["items"]] == ["turn"] and turn["by"] == "rules"
    context = web.post(f"{AGENT}/context", json={"message": "Which database did we decide on for billing?", "budget": 300}).json()
    assert "PostgreSQL" in context["text"] and 0 < context["tokens"] <= 300
    heir = web.post(f"{AGENT}/merges", json={"ids": [first["id"], second["id"]]})
    assert heir.status_code == 201
    merge = web.get(f"{AGENT}/events", params={"kind": "merge"}).json()["items"][0]["seq"]
    assert set(web.post(f"{AGENT}/events/{merge}/undo", json={}).json()["entries"]) >= {first["id"], second["id"]}
    assert web.post(f"{AGENT}/ticks", json={"slot": "2026-01-31"}).json()["tick"] == 1
    assert web.post(f"{AGENT}/ticks", json={"slot": "2026-01-31"}).json()["tick"] == 1
    assert web.post(f"{AGENT}/consolidation", json={"dry_run": True}).status_code == 200
    assert web.post(f"{AGENT}/maintenance", json={"dry_run": True}).status_code == 200
    assert web.patch(f"{AGENT}/settings", json={"floor": 0.3}).json()["settings"]["floor"] == 0.3
    assert web.get(f"{AGENT}/settings").json()["settings"]["floor"] == 0.3
    assert web.get(f"{AGENT}/check").json()["ok"] is True
    accounts = web.get(f"{AGENT}/accounts").json()
    assert accounts["sum"] == sum(accounts["accounts"].values()) == 0
    for place in ("stats", "doctor", "uplift", "uplifts", "audit", "history", "balances", "top", "meters", "events?newest=true"):
        assert web.get(f"{AGENT}/{place}").status_code == 200, place
    for place in ("card", "life", "obituary"):
        assert web.get(f"{AGENT}/entries/{first['id']}/{place}").status_code == 200, place


def test_the_log_is_read_by_pages_in_both_directions(web: TestClient) -> None:
    for number in range(5):
        added(web, f"Fact {number}.")
    for newest in (False, True):
        seen, after = [], 0
        while True:
            page = web.get(f"{AGENT}/events", params={"limit": 2, "after": after, "newest": newest}).json()
            seen += [event["seq"] for event in page["items"]]
            if page["next"] is None:
                break
            after = page["next"]
        assert seen == sorted(seen, reverse=newest) == ([*range(6, 0, -1)] if newest else [*range(1, 7)])


# keys


def test_a_request_that_comes_again_with_its_key_is_carried_out_once(web: TestClient) -> None:
    def once(method: str, path: str, body: Any) -> None:
        made = [web.request(method, f"{AGENT}/{path}", json=body, headers={"Idempotency-Key": f"k-{path}"}) for _ in range(2)]
        assert made[0].status_code == made[1].status_code < 300, made[0].text
        # What a decider is like now may have changed; which one it was has not.
        told = [{**answer.json(), **({"deciding": None} if path == "decisions" else {})} for answer in made]
        assert told[0] == told[1], path

    once("POST", "entries", {"text": LOGS})
    once("POST", "entries/batch", {"entries": [{"text": "One."}, {"text": "Two."}]})
    [entry] = [entry["id"] for entry in web.get(f"{AGENT}/entries").json()["items"] if entry["text"] == LOGS]
    once("PATCH", f"entries/{entry}", {"text": "Log files under logs/ may be deleted after nine days."})
    once("POST", "decisions", {"query": ASK})
    [ticket] = [ticket["id"] for ticket in web.get(f"{AGENT}/decisions").json()["items"]]
    once("POST", f"decisions/{ticket}/settlement", {"delta": 2})
    once("POST", f"decisions/{ticket}/remeasurement", {"delta": 2, "meter": "two"})
    once("POST", "controls", {"delta": 0})
    once("POST", "ticks", {})
    once("POST", "turns", {"user": "My name is Ada and I always want metric units."})
    assert web.get(f"{AGENT}/stats").json()["tick"] == 1
    other = web.post(f"{AGENT}/entries", json={"text": "Something else."}, headers={"Idempotency-Key": "k-entries"})
    assert (other.status_code, other.json()["type"]) == (409, "urn:earnest:problem:key-reused")


@pytest.mark.parametrize("key", ["x" * 151, "caf\xe9", "a  b", " "])
def test_a_key_that_cannot_be_used_is_refused_by_name(web: TestClient, key: str) -> None:
    answer = web.post(f"{AGENT}/entries", json={"text": LOGS}, headers=[(b"Idempotency-Key", key.encode("latin-1"))])
    if key.strip():
        assert (answer.status_code, answer.json()["field"]) == (422, "Idempotency-Key")
    assert web.get(f"{AGENT}/entries").json()["items"] == [] or not key.strip()


# bad input

BAD: list[tuple[str, str, Any, str]] = [
    ("POST", "entries", {"text": ""}, "text"),
    ("POST", "entries", {"text": "  \n"}, "text"),
    ("POST", "entries", {}, "text"),
    ("POST", "entries", {"text": 5}, "text"),
    ("POST", "entries", {"text": "x" * 100_001}, "text"),
    ("POST", "entries", {"text": "x", "importance": 2}, "importance"),
    ("POST", "entries", {"text": "x", "importance": True}, "importance"),
    ("POST", "entries", {"text": "x", "kind": "fact"}, "kind"),
    ("POST", "entries", {"text": "x", "colour": "red"}, "colour"),
    ("POST", "entries", {"text": "x", "sources": "runbook"}, "sources"),
    ("POST", "entries", {"text": "x", "valid_from": "yesterday"}, "valid_from"),
    ("POST", "entries", {"text": "x", "metadata": {"n": 2**70}}, "metadata"),
    ("POST", "entries", [], "body"),
    ("POST", "entries", None, "body"),
    ("POST", "entries/batch", {"entries": [{"text": "fine"}, {"text": ""}]}, "entries.1.text"),
    ("POST", "decisions", {"query": ""}, "query"),
    ("POST", "decisions", {"query": 5}, "query"),
    ("POST", "decisions", {"query": None}, "query"),
    ("POST", "search", {"query": "x", "k": 0}, "k"),
    ("POST", "search", {"query": "x", "k": 101}, "k"),
    ("POST", "search", {"query": "x", "mode": "magic"}, "mode"),
    ("POST", "search", {"query": "x", "scope": []}, "scope"),
    ("POST", "decisions/t1/settlement", {"delta": "NaN"}, "delta"),
    ("POST", "decisions/t1/settlement", {"delta": "5"}, "delta"),
    ("POST", "decisions/t1/settlement", {"meter": "disk"}, "delta"),
    ("POST", "decisions/t1/settlement", {"delta": 1, "scale": 0}, "scale"),
    ("POST", "decisions/t 1/settlement", {"delta": 1}, "ticket"),
    ("POST", "ticks", {"expire_after": 0}, "expire_after"),
    ("PATCH", "settings", {"colour": 1}, "setting"),
    ("PATCH", "settings", {"floor": 2}, "floor"),
    ("PATCH", "settings", {"tick_every": "week"}, "tick_every"),
    ("GET", "entries?limit=0", None, "limit"),
    ("GET", "entries?limit=many", None, "limit"),
    ("GET", "entries?colour=red", None, "colour"),
    ("GET", "entries?limit=1&limit=2", None, "limit"),
    ("GET", "entries?standing=asleep", None, "standing"),
    ("GET", "stats?x=1", None, "x"),
    ("GET", "uplift?meter=nobody", None, "meter"),
    ("POST", "events/x/undo", {}, "event"),
]


@pytest.mark.parametrize(("method", "path", "body", "field"), BAD, ids=[f"{path} {field}" for _, path, _, field in BAD])
def test_a_bad_value_is_refused_by_name_and_nothing_is_written(web: TestClient, method: str, path: str, body: Any, field: str) -> None:
    added(web)
    before = web.get(f"{AGENT}/events").json()
    headers = {"Content-Type": "application/json"} if method != "GET" else {}
    answer = web.request(method, f"{AGENT}/{path}", content=None if body is None else json.dumps(body), headers=headers)
    said = answer.json()
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == MEDIA
    assert said["status"] == 422 and said["type"] == "urn:earnest:problem:invalid-input"
    assert said["field"].split(".str")[0] == field or said["field"].startswith(field + "."), said
    assert web.get(f"{AGENT}/events").json() == before


@pytest.mark.parametrize(
    "raw",
    [b'{"delta": NaN}', b'{"delta": Infinity}', b"{", b"\xff\xfe", b'"' + b"x" * 10, b"[" * 100_000, b'{"delta": ' + b"9" * 5_000 + b"}"],
)
def test_what_is_no_strict_json_is_refused(web: TestClient, raw: bytes) -> None:
    added(web)
    ticket = decided(web)
    answer = web.post(f"{AGENT}/decisions/{ticket}/settlement", content=raw, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422, answer.text
    assert web.get(f"{AGENT}/decisions/{ticket}").json()["state"] == "pending"


def test_texts_come_back_equal_whatever_they_hold(web: TestClient) -> None:
    for text in ("<script>alert(1)</script>", "ünï – 部署 🙂", 'quotes " and \\ and \u2028 line', "a\u202eb"):
        assert added(web, text)["text"] == text
    assert added(web, "before\x00after")["text"] == "before after"
    answer = web.post(f"{AGENT}/entries", content=rb'{"text": "half \ud800 pair"}', headers={"Content-Type": "application/json"})
    assert answer.json()["text"] == "half \ufffd pair"


# agents

NAMES = ["..", ".", "...", "a%2Fb", "..%2Fops", "%2Fabs", "..%5Cops", "%00", "a%0Ab", "%20ops", "ops%20", "%20", "x" * 201, "%ff"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_is_none_is_refused_and_no_file_is_made(tmp_path: Path, name: str) -> None:
    root = tmp_path / "root"
    with client(root) as web:
        for method, path, body in (("GET", "entries", None), ("POST", "entries", {"text": LOGS}), ("POST", "search", {"query": "x"})):
            raw = web.build_request(method, web.base_url, json=body)
            raw.url = raw.url.copy_with(raw_path=f"/v1/agents/{name}/{path}".encode())
            assert web.send(raw).status_code in (400, 404, 422), name
    assert [*root.iterdir()] == [] and [*tmp_path.iterdir()] == [root]


@pytest.mark.parametrize("name", ["ops", "Ops", "a..b", "a b", "日本", "con", "50%25", "-", "e\u0301"])
def test_every_other_name_has_a_file_of_its_own(tmp_path: Path, name: str) -> None:
    with client(tmp_path) as web:
        assert web.post(f"/v1/agents/{name}/entries", json={"text": LOGS}).status_code == 201
        assert web.post("/v1/agents/another/entries", json={"text": "Another's."}).status_code == 201
        [entry] = web.get(f"/v1/agents/{name}/entries").json()["items"]
        assert entry["text"] == LOGS
        assert len(web.get("/v1/agents").json()["items"]) == 2
    assert len([*tmp_path.glob("*.db")]) == 2


def test_an_agent_that_nobody_made_is_empty_and_is_not_made_by_asking(web: TestClient, tmp_path: Path) -> None:
    for operation in OPERATIONS:
        if operation.about_agent and operation.access == "read" and operation.path.count("{") == 1:
            body = {"query": "x", "message": "x", "text": "x"}
            answer = web.request(operation.method, operation.path.replace("{agent}", "ghost"), json=needed(operation, body))
            assert answer.status_code == (404 if operation.name == "export" else 200), f"{operation.path}: {answer.text}"
            assert answer.json().get("items", []) == []
    assert web.post("/v1/agents/ghost/decisions/t1/settlement", json={"delta": 1}).status_code == 404
    assert web.post("/v1/agents/ghost/ticks", json={}).status_code == 404
    assert web.get("/v1/agents").json()["items"] == []
    assert [*tmp_path.iterdir()] == []


def test_ids_of_another_agent_are_unknown(web: TestClient) -> None:
    entry, ticket = added(web)["id"], decided(web)
    web.post("/v1/agents/bob/entries", json={"text": "Bob's."})
    before = web.get(f"{AGENT}/events").json()
    for operation in OPERATIONS:
        if "{entry}" in operation.path or "{ticket}" in operation.path:
            path = operation.path.replace("{agent}", "bob").replace("{entry}", entry).replace("{ticket}", ticket)
            body = {"text": "x", "delta": 1, "meter": "m", "verdict": "helpful"}
            answer = web.request(operation.method, path, json=needed(operation, body), headers={"Earnest-Channel": "dashboard"})
            assert answer.status_code == 404, f"{operation.method} {path}: {answer.text}"
            assert "Log files" not in answer.text
    assert web.get(f"{AGENT}/events").json() == before


# the table


def test_every_operation_is_described_once_with_all_that_it_may_answer() -> None:
    made = described(OPERATIONS)
    assert made["info"]["title"].startswith("Earnest") and made["openapi"].startswith("3.1")
    names = [one["operationId"] for path in made["paths"].values() for one in path.values()]
    assert len(names) == len(set(names)) == len(OPERATIONS)
    for operation in OPERATIONS:
        said = made["paths"][operation.path][operation.method.lower()]
        assert {int(status) for status in said["responses"]} == refusals(operation) | {operation.status, *operation.also}
        assert ("requestBody" in said) == (operation.body is not None)
        assert operation.summary and operation.theme
    text = json.dumps(made)
    for reference in {part.split('"')[0] for part in text.split('"#/components/schemas/')[1:]}:
        assert reference in made["components"]["schemas"]


def test_what_a_body_may_lack_is_told_in_words_since_generators_take_a_default_for_a_field_that_is_always_there() -> None:
    schemas = described(OPERATIONS)["components"]["schemas"]
    bodies = {operation.body.__name__ for operation in OPERATIONS if operation.body is not None}
    lacking = 0
    for name in bodies:
        for field, said in schemas[name].get("properties", {}).items():
            assert "default" not in said, f"{name}.{field}"
            lacking += "unless given" in said.get("description", "")
    assert lacking > 10
    assert schemas["NewEntry"]["properties"]["importance"]["description"].endswith("0.5 unless given")
    assert schemas["NewEntry"]["required"] == ["text"]


def test_no_schema_has_the_name_of_a_field_of_its_own() -> None:
    """Generators make of the schema's name a variable of the field's name, which then holds two things."""
    for name, schema in described(OPERATIONS)["components"]["schemas"].items():
        snake = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        assert snake not in schema.get("properties", {}), name


def test_a_path_is_matched_as_it_was_sent() -> None:
    router = Router(OPERATIONS)
    found = router.find("GET", b"/v1/agents/a%2Fb/entries/x%20y")
    assert found is not None and found.values == {"agent": "a/b", "entry": "x y"}
    batch = router.find("POST", b"/v1/agents/a/entries/batch")
    assert batch is not None and batch.operation.name == "addEntries"
    for path in (b"/v1/agents/a/b/entries", b"/v1/agents//entries", b"/v1/agents/a/entries/", b"/v1/agents/a/entries//x", b"", b"v1"):
        assert router.find("GET", path) is None


def test_an_unknown_method_is_told_the_known_ones(web: TestClient) -> None:
    answer = web.put(f"{AGENT}/entries", json={})
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD, POST")
    head = web.head(f"{AGENT}/entries")
    assert (head.status_code, head.headers["content-type"]) == (200, "application/json")


# tokens


def kept(root: Path, **more: Any) -> str:
    return Tokens(root).make("ci", clock=ManualClock(), rng=SeededRng(4), **({"agent": "ops"} | more))


def test_a_token_is_kept_as_a_salted_digest_for_its_owner_alone(tmp_path: Path) -> None:
    token = kept(tmp_path)
    [file] = (tmp_path / FOLDER).iterdir()
    assert file.stat().st_mode & 0o777 == 0o600 and (tmp_path / FOLDER).stat().st_mode & 0o777 == 0o700
    assert token.split("_")[2] not in file.read_text()
    assert len(token.split("_")[2]) * 5 >= 256
    grant = Tokens(tmp_path).grant(token)
    assert grant is not None and (grant.name, grant.agent, grant.operator) == ("ci", "ops", False)
    listed = Tokens(tmp_path).list()
    assert [info.name for info in listed] == ["ci"] and token.split("_")[2] not in repr(listed)


def test_a_revoked_token_allows_nothing_at_once(tmp_path: Path) -> None:
    token, running = kept(tmp_path), Tokens(tmp_path)
    assert running.grant(token) is not None
    Tokens(tmp_path).revoke("ci")
    assert running.grant(token) is None
    with pytest.raises(InvalidInput, match="no such token"):
        Tokens(tmp_path).revoke("ci")


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t[:-1],
        lambda t: t + "a",
        lambda t: t.upper(),
        lambda t: "earnest_../../x_y",
        lambda t: t.replace("earnest", "other"),
        lambda t: "",
        lambda t: "\udcff",
    ],
)
def test_anything_else_than_the_token_is_none(tmp_path: Path, change: Any) -> None:
    assert Tokens(tmp_path).grant(change(kept(tmp_path))) is None


def test_a_token_file_that_others_could_read_or_that_is_damaged_allows_nothing(tmp_path: Path) -> None:
    token = kept(tmp_path)
    [file] = (tmp_path / FOLDER).iterdir()
    good = file.read_text()
    file.chmod(0o644)
    assert Tokens(tmp_path).grant(token) is None
    file.chmod(0o600)
    assert Tokens(tmp_path).grant(token) is not None
    for text in ("", "{}", "[]", good[:-5], good.replace('"salt"', '"salz"')):
        file.write_text(text)
        assert Tokens(tmp_path).grant(token) is None, text


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"agent": None}, "agent"), ({"operator": True}, "agent"), ({"channel": "python"}, "channel"), ({"channel": "cli"}, "channel"),
        ({"channel": "settle-ci"}, "channel"), ({"channel": "dashboard"}, "channel"), ({"agent": " "}, "agent"),
    ],
)  # fmt: skip
def test_a_token_that_would_allow_too_much_is_not_made(tmp_path: Path, more: dict[str, Any], word: str) -> None:
    with pytest.raises(InvalidInput, match=word):
        kept(tmp_path, **more)
    assert Tokens(tmp_path).list() == []


def test_two_tokens_do_not_share_a_name(tmp_path: Path) -> None:
    kept(tmp_path)
    with pytest.raises(InvalidInput, match="taken"):
        kept(tmp_path)


@pytest.mark.parametrize("value", ["short", "has a blank in the middle", "caf\xe9-caf\xe9-caf\xe9-caf\xe9", "x" * 20 + "\n"])
def test_a_weak_token_in_the_environment_is_refused_without_being_shown(value: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        environment_token(value)
    assert value not in str(refused.value)
    assert environment_token("") == environment_token(None) == []


# memories


def test_few_memories_stay_open_and_a_removed_file_is_opened_anew(tmp_path: Path) -> None:
    memories = Memories(tmp_path, most=2)
    for name in ("a", "b", "c", "d"):
        with memories.lent(name, make=True) as memory:
            memory.add(f"{name} was here.")
    assert memories.open == 2
    with memories.lent("d") as memory:
        assert [entry.text for entry in memory.list()] == ["d was here."]
    for file in tmp_path.glob("d.db*"):
        file.unlink()
    with memories.lent("d") as memory:
        assert memory.list() == []
    with memories.lent("d", make=True) as memory:
        memory.add("d came back.")
    memories.close()
    with pytest.raises(StoreBusy), memories.lent("a"):
        pass
    with Memory.open(tmp_path / "d.db") as memory:
        assert [entry.text for entry in memory.list()] == ["d came back."]


def test_idle_memories_are_closed_but_none_in_use(tmp_path: Path) -> None:
    memories = Memories(tmp_path, idle=0.0)
    with memories.lent("a", make=True) as memory:
        memory.add("A was here.")
        assert memories.sweep() == 0
    assert memories.sweep() == 1 and memories.open == 0


def test_many_threads_share_one_memory_of_an_agent(tmp_path: Path) -> None:
    memories = Memories(tmp_path, most=1)
    seen: set[int] = set()

    def write(number: int) -> None:
        with memories.lent("abc"[number % 3], make=True) as memory:
            seen.add(id(memory))
            memory.add(f"Thread {number} was here.")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(60)))
    memories.close()
    for name in "abc":
        with Memory.open(tmp_path / f"{name}.db") as memory:
            assert memory.stats().alive == 20 and memory.check().ok


def test_a_file_is_served_as_its_own_agent_alone(tmp_path: Path) -> None:
    file = tmp_path / "one.db"
    with Memory.open(file, "solo") as memory:
        memory.add(LOGS)
    with client(file) as web:
        assert web.get("/v1/session").json()["store"] == "solo"
        assert [item["name"] for item in web.get("/v1/agents").json()["items"]] == ["solo"]
        assert len(web.get("/v1/agents/solo/entries").json()["items"]) == 1
        assert web.get("/v1/agents/ops/entries").json()["items"] == []
        assert web.post("/v1/agents/ops/entries", json={"text": LOGS}).status_code == 409
    assert {path.name for path in tmp_path.iterdir()} == {"one.db"}


@pytest.mark.parametrize("name", ["a/b", "a\\b", "..", "....", "", " a"])
def test_an_agent_that_an_address_cannot_carry_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="agent"):
        checked_agent(name)


# bounds


def test_a_verb_that_takes_too_long_is_let_go_on_and_its_key_tells_what_came_of_it(tmp_path: Path) -> None:
    with client(tmp_path, limits=Limits(rate=0.0, verb=3.0)) as web:
        added(web)
        held, let_go = threading.Event(), threading.Event()

        def hold() -> None:
            with Memory.open(tmp_path / "ops.db") as memory, memory._store.write(memory._author()):
                held.set()
                let_go.wait(60)

        other = threading.Thread(target=hold)
        other.start()
        held.wait(60)
        headers = {"Idempotency-Key": "late"}
        late = web.post(f"{AGENT}/entries", json={"text": "It came late."}, headers=headers)
        assert late.status_code == 503 and int(late.headers["retry-after"]) > 0 and "Idempotency-Key" in late.json()["detail"]
        assert web.get(f"{AGENT}/entries").status_code == 200
        let_go.set()
        other.join()
        assert until(10, lambda: web.post(f"{AGENT}/entries", json={"text": "It came late."}, headers=headers).status_code == 201)
        assert [entry["text"] for entry in web.get(f"{AGENT}/entries").json()["items"]] == [LOGS, "It came late."]


def test_one_agent_gets_half_of_the_threads_and_of_the_queue_and_others_go_on() -> None:
    async def crowd() -> None:
        workers, let_go, running = Workers(threads=4, waiting=4), threading.Event(), []

        def hold() -> str:
            running.append(1)
            let_go.wait(20)
            return "held"

        held = [asyncio.ensure_future(workers.run(hold, seconds=20, of="a")) for _ in range(5)]
        while len(running) < 2:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        assert len(running) == 2, "two of four threads"
        with pytest.raises(Problem) as refused:
            await workers.run(hold, seconds=20, of="a")
        assert refused.value.status == 503 and refused.value.headers["retry-after"]
        assert await workers.run(lambda: "served", seconds=20, of="b") == "served"
        with pytest.raises(Problem, match="nothing was done"):
            await workers.run(hold, seconds=20, of="a")
        let_go.set()
        assert await asyncio.gather(*held) == ["held"] * 5
        await asyncio.sleep(0)
        assert workers.busy == 0 and workers._turns == {}
        assert await workers.close(20) is True
        with pytest.raises(Problem, match="shutting down"):
            await workers.run(hold, seconds=1)

    asyncio.run(crowd())


def test_a_call_that_waits_too_long_for_its_turn_was_not_begun() -> None:
    async def crowd() -> None:
        workers, let_go, begun = Workers(threads=2, waiting=8), threading.Event(), []
        first = asyncio.ensure_future(workers.run(lambda: let_go.wait(20), seconds=20, of="a"))
        await asyncio.sleep(0.05)
        with pytest.raises(Problem, match="nothing was done"):
            await workers.run(lambda: begun.append(1), seconds=0.1, of="a")
        with pytest.raises(Problem, match="goes on"):
            await workers.run(lambda: let_go.wait(20), seconds=0.1, of="b")
        let_go.set()
        await first
        assert begun == []
        assert await workers.close(20) is True

    asyncio.run(crowd())


def test_the_end_of_a_service_waits_for_a_verb_so_long_and_no_longer() -> None:
    async def ending() -> None:
        workers, let_go = Workers(threads=2), threading.Event()
        running = asyncio.ensure_future(workers.run(lambda: let_go.wait(60), seconds=60))
        await asyncio.sleep(0.05)
        assert await workers.close(0.1) is False
        let_go.set()
        assert await running is True
        assert await workers.close(20) is True

    asyncio.run(ending())


# metrics


def test_metrics_count_requests_by_route_and_stores_by_agent_for_operators_alone(tmp_path: Path) -> None:
    second = "another-token-0123456789"
    given = [(TOKEN, Grant("op", "op", operator=True)), (second, Grant("a", "a", agent="ops"))]
    with client(tmp_path, given=given) as web:
        entry = added(web)["id"]
        web.get(f"{AGENT}/entries/{entry}")
        web.get(f"{AGENT}/entries/nobody")
        web.post(f"{AGENT}/decisions/{decided(web)}/settlement", json={"delta": 2.5, "meter": "disk"})
        decided(web)
        web.post("/v1/agents/other/entries", json={"text": "Another's."})
        text = web.get("/metrics").text
        for line in (
            'earnest_http_requests_total{route="/v1/agents/{agent}/entries/{entry}",method="GET",status="200"} 1',
            'earnest_http_requests_total{route="/v1/agents/{agent}/entries/{entry}",method="GET",status="404"} 1',
            'earnest_http_request_seconds_count{route="/v1/agents/{agent}/entries/{entry}"} 2',
            'earnest_entries{agent="ops",standing="active"} 1',
            'earnest_entries{agent="other",standing="active"} 1',
            'earnest_tickets_open{agent="ops"} 1',
            'earnest_settled_value{agent="ops",meter="disk",unit=""} 2.5',
            'earnest_settlements_total{agent="ops",tier="claimed"} 1',
            "earnest_agents 2",
        ):
            assert line + "\n" in text, line
        assert entry not in text and LOGS not in text
        mine = web.get("/metrics", headers={"Authorization": f"Bearer {second}"}).text
        assert "other" not in mine.replace('route="other"', "") and 'agent="' not in mine
        assert 'earnest_entries{standing="active"} 1\n' in mine and "earnest_agents 1\n" in mine
        added(web, "One more.")
        assert 'earnest_entries{agent="ops",standing="active"} 2\n' in web.get("/metrics").text


def test_metrics_are_in_the_format_that_prometheus_reads(web: TestClient) -> None:
    added(web)
    answer = web.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    typed: set[str] = set()
    for line in answer.text.splitlines():
        if line.startswith("# TYPE "):
            name = line.split()[2]
            assert name not in typed and name.startswith("earnest_")
            typed.add(name)
        elif not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            base = name.split("{")[0]
            assert base in typed or base.rsplit("_", 1)[0] in typed
            float(value)


# the clock


def test_slots_are_named_alike_everywhere() -> None:
    now = datetime.fromisoformat("2026-01-31T23:59:59+00:00")
    assert slot_of("never", now) is None
    assert slot_of("day", now) == "2026-01-31" == slot_of("day", datetime.fromisoformat("2026-02-01T01:59:59+02:00"))
    assert slot_of("3600", now) == "2026-01-31T23:00:00Z"
    assert slot_of("10", now) == "2026-01-31T23:59:50Z"
    assert slot_of("3600", now + timedelta(seconds=1)) == "2026-02-01T00:00:00Z"


@pytest.mark.parametrize("value", ["week", "", "9", 9, 31_536_001, -60, 0, True, 60.0, None, "1e3", "٣٦٠٠", "60s", "9" * 20])
def test_a_rhythm_that_is_none_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput, match="tick_every"):
        tick_every(value)


def test_a_service_ticks_each_agent_by_its_own_setting_once_for_each_slot(tmp_path: Path) -> None:
    for name, every in (("a", "day"), ("b", "60"), ("c", "never")):
        with Memory.open(tmp_path, name, settings={"tick_every": every}) as memory:
            memory.add(LOGS)
    clock = ManualClock(datetime.fromisoformat("2026-01-31T12:00:00+00:00"))
    memories = Memories(tmp_path)
    one, two = Ticker(memories, clock), Ticker(Memories(tmp_path), clock)
    assert one.round() == ["a", "b"]
    assert two.round() == one.round() == []
    clock.advance(minutes=1)
    assert two.round() == ["b"] and one.round() == []
    clock.advance(days=3)
    assert sorted([*one.round(), *two.round()]) == ["a", "b"]
    with Memory.open(tmp_path, "c") as memory:
        memory.configure(tick_every="day")
    assert one.round() == ["c"]
    for name, ticks in (("a", 2), ("b", 3), ("c", 1)):
        with memories.lent(name) as memory:
            assert memory.stats().tick == ticks
            assert {(event.actor, event.channel) for event in memory.events(kind="tick")} == {("earnest serve", "schedule")}
    memories.close()


def test_a_damaged_store_does_not_stop_the_clock_of_the_others(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"no store " * 100)
    with Memory.open(tmp_path, "b", settings={"tick_every": "day"}) as memory:
        memory.add(LOGS)
    memories = Memories(tmp_path)
    assert Ticker(memories, ManualClock()).round() == ["b"]
    memories.close()


def test_the_ticker_looks_by_itself_until_it_is_stopped(tmp_path: Path) -> None:
    with Memory.open(tmp_path, "a", settings={"tick_every": "day"}) as memory:
        memory.add(LOGS)
    clock, memories = ManualClock(), Memories(tmp_path)
    ticker = Ticker(memories, clock, period=0.01)
    ticker.start()

    def ticks() -> int:
        with memories.lent("a") as memory:
            return memory.stats().tick

    assert until(10, lambda: ticks() == 1)
    clock.advance(days=1)
    assert until(10, lambda: ticks() == 2)
    ticker.stop()
    clock.advance(days=1)
    time.sleep(0.05)
    assert ticks() == 2
    memories.close()


# rules, links, opinions, documents, removals


def test_a_rule_is_proposed_by_a_program_and_accepted_by_a_person_alone(web: TestClient) -> None:
    proposed = web.post(f"{AGENT}/rules", json={"type": "avoid", "trigger": "deleting log files", "action": "Ask first."})
    assert proposed.status_code == 201 and proposed.json()["status"] == "pending"
    rule = f"{AGENT}/rules/{proposed.json()['id']}"
    assert web.post(rule + "/verification", json={"accept": True}).status_code == 409
    person = {"Earnest-Channel": "dashboard"}
    assert web.post(rule + "/verification", json={"accept": True}, headers=person).json()["status"] == "active"
    assert web.get(rule).json()["status"] == "active"
    matched = web.post(f"{AGENT}/rules/match", json={"text": "I am deleting the log files now."}).json()["items"]
    assert [one["id"] for one in matched] == [proposed.json()["id"]]
    assert [one["id"] for one in web.get(f"{AGENT}/rules", params={"status": "active"}).json()["items"]] == [proposed.json()["id"]]
    assert web.get(f"{AGENT}/rules", params={"status": ["pending", "trial"]}).json()["items"] == []
    second = web.post(f"{AGENT}/rules", json={"type": "prefer", "trigger": "backing up", "action": "Use the copy."}).json()["id"]
    assert web.post(f"{AGENT}/rules/{second}/trial", json={"decisions": 50}, headers=person).json()["status"] == "trial"
    assert web.post(f"{AGENT}/rules/analysis", json={}).json()["items"] == []
    entry = added(web)["id"]
    assert web.get(f"{AGENT}/rules/{entry}").status_code == 422
    assert web.get(f"{AGENT}/rules/nobody").status_code == 404


def test_links_are_stated_followed_and_cut(web: TestClient) -> None:
    one, two = added(web, "The queue restarts at noon.")["id"], added(web, "Payments wait while nothing listens.")["id"]
    assert web.get(f"{AGENT}/entries/{one}/related", params={"kind": "related"}).json()["items"] == []
    linked = web.post(f"{AGENT}/links", json={"a": one, "b": two, "reason": "same outage"})
    assert linked.status_code == 201 and linked.json()["entry"]["id"] == two
    found = web.get(f"{AGENT}/entries/{one}/related", params={"kind": "related"}).json()["items"]
    assert [(item["entry"]["id"], item["reason"]) for item in found] == [(two, "same outage")]
    graph = web.get(f"{AGENT}/graph", params={"id": one}).json()
    assert {entry["id"] for entry in graph["entries"]} >= {one, two} and graph["more"] is False
    assert web.delete(f"{AGENT}/links", params={"a": one, "b": two}).json() == {"cut": 1}
    assert web.delete(f"{AGENT}/links", params={"a": one}).json()["field"] == "b"


def test_an_opinion_is_taken_down_and_moves_no_account(web: TestClient) -> None:
    entry = added(web, importance=0.8)
    said = web.post(f"{AGENT}/entries/{entry['id']}/feedback", json={"verdict": "unhelpful"}).json()
    assert said["counted"] is True and said["entry"]["importance"] < 0.8 and said["entry"]["balance"] == entry["balance"]
    assert web.post(f"{AGENT}/entries/{entry['id']}/feedback", json={"verdict": "nonsense"}).json()["field"] == "verdict"


def test_documents_become_entries_and_what_they_do_not_say_any_more_goes(web: TestClient) -> None:
    first = {"source": "runbook", "text": "Log files under logs/ may be deleted after seven days. Backups are kept for a year."}
    made = web.post(f"{AGENT}/documents", json={"documents": [first]}).json()
    assert len(made["entries"]) >= 2
    again = {"source": "runbook", "text": "Backups are kept for a year."}
    web.post(f"{AGENT}/documents", json={"documents": [again]})
    texts = " ".join(entry["text"] for entry in web.get(f"{AGENT}/entries").json()["items"])
    assert "Backups" in texts and "Log files" not in texts


def test_what_is_erased_is_nowhere_any_more(web: TestClient, tmp_path: Path) -> None:
    added(web, "Ada lives in Lisbon.", sources=["chat"])
    added(web)
    assert web.post(f"{AGENT}/erasure", json={}).status_code == 422
    counted = web.post(f"{AGENT}/erasure", json={"text": "Lisbon", "dry_run": True}).json()
    assert counted["dry_run"] is True and counted["counts"]["entries"] == 1
    receipt = web.post(f"{AGENT}/erasure", json={"text": "Lisbon"}, headers={"Idempotency-Key": "e1"}).json()
    assert receipt["counts"]["entries"] == 1 and receipt["left"] == []
    assert b"Lisbon" not in (tmp_path / "ops.db").read_bytes()
    assert [entry["text"] for entry in web.get(f"{AGENT}/entries").json()["items"]] == [LOGS]


def test_everything_comes_out_again_and_can_be_taken_in(web: TestClient, tmp_path: Path) -> None:
    for number in range(30):
        added(web, f"Fact {number}.")
    answer = web.get(f"{AGENT}/export")
    assert answer.headers["content-type"] == "application/x-ndjson"
    file = tmp_path / "out.jsonl"
    file.write_bytes(answer.content)
    with Memory.open(tmp_path / "again.db") as memory:
        memory.import_(file)
        assert [entry.text for entry in memory.list()] == [f"Fact {number}." for number in range(30)]
    pages = web.get(f"{AGENT}/export", params={"format": "markdown"})
    assert pages.headers["content-type"].startswith("text/markdown") and "Fact 29." in pages.text
    assert web.get("/v1/agents/ghost/export").status_code == 404
    assert web.get(f"{AGENT}/export", params={"format": "markdown", "vectors": "true"}).json()["field"] == "vectors"


def test_a_model_is_never_named_by_a_caller_and_one_that_is_not_there_is_said(web: TestClient) -> None:
    added(web)
    assert web.post(f"{AGENT}/answer", json={"query": ASK, "llm": "openai:gpt"}).json()["field"] == "llm"
    assert web.post(f"{AGENT}/answer", json={"query": ASK, "llm": True}).status_code == 409
    assert web.post(f"{AGENT}/turns", json={"user": "I moved to Lisbon.", "extract": "llm"}).status_code == 409


NOT_SERVED = {
    "open": "the service opens", "close": "the service closes", "now": "a clock of the process", "backup": "writes a file of the machine",
    "archive": "writes a file of the machine", "check_archive": "reads a file of the machine",
    "restore_backup": "reads a file of the machine", "import_": "reads a file of the machine", "encode_files": "reads files of the machine",
    "render": "writes files of the machine", "load_lessons": "reads a file of the machine", "save_lessons": "writes a file of the machine",
    "look_again": "calls a meter of the process", "calibrate": "an operator's work at the machine",
    "compact": "an operator's work at the machine",
    "compress_long": "for a schedule at the machine", "reembed": "an operator's work at the machine",
    "embed_pending": "waits for the process",
    "tick_due": "the service itself does it", "earned": "a part of what `life` tells", "recalled": "rides with answers",
    "shown": "the caller has the ticket",
}  # fmt: skip


def test_every_verb_of_memory_is_served_or_it_is_said_why_not() -> None:
    source = "".join(path.read_text() for path in (Path(__file__).parents[2] / "src" / "earnest" / "http").glob("*.py"))
    verbs = {name for name in dir(Memory) if not name.startswith("_") and callable(getattr(Memory, name))}
    served = {name for name in verbs if f".memory.{name}(" in source}
    assert verbs - served == set(NOT_SERVED)

"""The whole truth table of who may ask the service: Host × Origin × token × method × content type, reads included."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from pathlib import Path
from typing import Any, Final

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from earnest.http.app import build
from earnest.http.guard import HEADERS, Hosts, Limits, Rates
from earnest.http.problems import Problem
from earnest.http.service import OPERATIONS
from earnest.http.tokens import Grant
from earnest.memory import Memory
from tests.rest import HOST, OPERATOR, TOKEN, application, ask, asked

# Each value with the status that it alone leads to; 0 lets the request pass. What is refused first is told, from left to right.
HOSTS: Final[dict[str, tuple[list[tuple[str, str]], int]]] = {
    "own": ([("Host", HOST)], 0),
    "localhost": ([("Host", "localhost:8765")], 403),
    "upper case": ([("Host", HOST.upper())], 0),
    "absent": ([], 400),
    "empty": ([("Host", "")], 400),
    "twice": ([("Host", HOST), ("Host", HOST)], 400),
    "twice, one foreign": ([("Host", HOST), ("Host", "evil.example")], 400),
    "foreign": ([("Host", "evil.example")], 403),
    "foreign with the port": ([("Host", "evil.example:8765")], 403),
    "unspecified": ([("Host", "0.0.0.0:8765")], 403),
    "IPv6": ([("Host", "[::1]:8765")], 403),
    "another port": ([("Host", "127.0.0.1:80")], 403),
    "no port": ([("Host", "127.0.0.1")], 403),
    "trailing dot": ([("Host", "127.0.0.1.:8765")], 403),
    "decimal": ([("Host", "2130706433:8765")], 403),
    "user": ([("Host", "127.0.0.1:8765@evil.example")], 403),
    "blank after": ([("Host", "127.0.0.1:8765 ")], 403),
}
ORIGINS: Final[dict[str, tuple[list[tuple[str, str]], int]]] = {
    "absent": ([], 0),
    "own": ([("Origin", f"http://{HOST}")], 0),
    "own, behind TLS": ([("Origin", f"https://{HOST}")], 0),
    "foreign": ([("Origin", "http://evil.example")], 403),
    "null": ([("Origin", "null")], 403),
    "another port": ([("Origin", "http://127.0.0.1:3000")], 403),
    "looks alike": ([("Origin", f"http://{HOST}.evil.example")], 403),
    "empty": ([("Origin", "")], 403),
    "twice": ([("Origin", f"http://{HOST}"), ("Origin", "http://evil.example")], 400),
    "another site says so itself": ([("Sec-Fetch-Site", "cross-site")], 403),
    "same site, other port": ([("Sec-Fetch-Site", "same-site")], 403),
}
TOKENS: Final[dict[str, tuple[list[tuple[str, str]], str, int]]] = {
    "good": ([("Authorization", f"Bearer {TOKEN}")], "", 0),
    "good, other case": ([("Authorization", f"bearer {TOKEN}")], "", 0),
    "absent": ([], "", 401),
    "wrong": ([("Authorization", "Bearer a-token-for-tests-0123456780")], "", 401),
    "longer": ([("Authorization", f"Bearer {TOKEN}x")], "", 401),
    "shorter": ([("Authorization", f"Bearer {TOKEN[:-1]}")], "", 401),
    "empty": ([("Authorization", "Bearer ")], "", 401),
    "basic": ([("Authorization", f"Basic {TOKEN}")], "", 401),
    "bare": ([("Authorization", TOKEN)], "", 401),
    "twice": ([("Authorization", f"Bearer {TOKEN}"), ("Authorization", "Bearer x")], "", 401),
    "in the address": ([], f"?token={TOKEN}&access_token={TOKEN}", 401),
    "in a cookie": ([("Cookie", f"token={TOKEN}; Authorization=Bearer {TOKEN}")], "", 401),
    "not ASCII": ([("Authorization", "Bearer caf\xe9-caf\xe9-caf\xe9-caf\xe9")], "", 401),
}
MEDIA: Final[dict[str, tuple[list[tuple[str, str]], int]]] = {
    "JSON": ([("Content-Type", "application/json")], 0),
    "JSON with a charset": ([("Content-Type", 'application/json; charset="utf-8"')], 0),
    "absent": ([], 415),
    "text": ([("Content-Type", "text/plain")], 415),
    "form": ([("Content-Type", "application/x-www-form-urlencoded")], 415),
    "parts": ([("Content-Type", "multipart/form-data; boundary=x")], 415),
    "text that says JSON": ([("Content-Type", "text/plain; application/json")], 415),
    "twice": ([("Content-Type", "application/json"), ("Content-Type", "text/plain")], 415),
    "another charset": ([("Content-Type", "application/json; charset=utf-7")], 415),
    "packed": ([("Content-Type", "application/json"), ("Content-Encoding", "gzip")], 415),
}
# The methods of /v1/agents/ops/entries; those in the second place carry a body.
METHODS: Final[dict[str, tuple[bool, int]]] = {
    "GET": (False, 200),
    "HEAD": (False, 200),
    "POST": (True, 201),
    "PUT": (True, 405),
    "PATCH": (True, 405),
    "DELETE": (True, 405),
    "OPTIONS": (False, 405),
    "TRACE": (False, 405),
}
PATH: Final = "/v1/agents/ops/entries"


def expected(host: str, origin: str, token: str, method: str, media: str) -> int:
    """The written truth: the first thing that is wrong decides."""
    carries, right = METHODS[method]
    return HOSTS[host][1] or ORIGINS[origin][1] or TOKENS[token][2] or (MEDIA[media][1] if carries else 0) or right


def test_every_cell_of_the_table_is_as_written_and_only_the_all_good_ones_write(tmp_path: Path) -> None:
    app = application(tmp_path)
    cells = list(itertools.product(HOSTS, ORIGINS, TOKENS, METHODS, MEDIA))
    wrong: list[str] = []
    written: list[str] = []

    async def every() -> None:
        for number, (host, origin, token, method, media) in enumerate(cells):
            carries, _ = METHODS[method]
            if not carries and media != "absent":
                continue  # a request without a body has no type
            text = f"Cell {number} may write this down."
            body = json.dumps({"text": text}).encode() if carries else b""
            headers = [*HOSTS[host][0], *ORIGINS[origin][0], *TOKENS[token][0], *(MEDIA[media][0] if carries else [])]
            headers += [("Content-Length", str(len(body)))] if carries else []
            answer = await ask(app, method, PATH + TOKENS[token][1], headers, body)
            should = expected(host, origin, token, method, media)
            if answer.status != should:
                wrong.append(f"{host} / {origin} / {token} / {method} / {media}: {answer.status}, not {should}")
            if should == 201:
                written.append(text)
            elif should >= 400 and method != "HEAD" and "Cell" in answer.body.decode("utf-8"):
                wrong.append(f"{host} / {origin} / {token} / {method}: an entry was read")

    asyncio.run(every())
    assert wrong == []
    assert len(written) == 2 * 3 * 2 * 2
    with Memory.open(tmp_path / "ops.db") as memory:
        assert [entry.text for entry in memory.list()] == written


def test_every_route_but_the_open_ones_needs_a_token(tmp_path: Path) -> None:
    app = application(tmp_path)
    opened = {operation.path for operation in OPERATIONS if operation.who == "open"}
    assert opened == {"/healthz", "/readyz", "/openapi.json"}

    async def every() -> list[str]:
        bad = []
        for operation in OPERATIONS:
            path = re.sub(r"\{(\w+)\}", "x1", operation.path)
            headers = [("Host", HOST), ("Content-Type", "application/json"), ("Content-Length", "2")]
            answer = await ask(app, operation.method, path, headers, b"{}")
            if (answer.status == 401) != (operation.path not in opened):
                bad.append(f"{operation.method} {operation.path}: {answer.status}")
        return bad

    assert asyncio.run(every()) == []
    assert list(tmp_path.iterdir()) == []


def test_probes_answer_to_any_name_and_tell_nothing_else(tmp_path: Path) -> None:
    app = application(tmp_path)
    for path in ("/healthz", "/readyz"):
        answer = asked(app, "GET", path, [("Host", "10.0.0.7:8765")])
        assert answer.status in (200, 503)
        assert set(json.loads(answer.body)) <= {"status", "type", "title", "detail"}


def test_a_host_that_was_allowed_is_served_with_its_port_or_any(tmp_path: Path) -> None:
    hosts = Hosts(["127.0.0.1:8765", "memory.example", "[::1]:8765"], origins=["https://notes.example/"])
    for name in ("127.0.0.1:8765", "memory.example", "memory.example:443", "MEMORY.example:8443", "[::1]:8765"):
        assert hosts.knows(name), name
    for name in ("127.0.0.1", "127.0.0.1:8766", "memory.example.", "x.memory.example", "memory.example:https", "[::1]", "", ":8765"):
        assert not hosts.knows(name), name


def test_a_page_elsewhere_may_ask_only_if_it_was_allowed(tmp_path: Path) -> None:
    from starlette.datastructures import Headers

    hosts = Hosts([HOST], origins=["https://notes.example/"])
    hosts.check(Headers({"host": HOST, "origin": "https://notes.example", "sec-fetch-site": "cross-site"}))
    for origin in ("https://notes.example.evil", "http://notes.example", "https://notes.example:8443", "null"):
        with pytest.raises(Problem) as refused:
            hosts.check(Headers({"host": HOST, "origin": origin}))
        assert refused.value.status == 403


@pytest.mark.parametrize(
    "path", ["/", "/nothing", "/v1", "/v1/session", "/openapi.json", "/healthz", PATH, "/mcp", "/..%2f..%2fetc/passwd"]
)
@pytest.mark.parametrize("good", [True, False])
def test_every_answer_carries_the_headers_that_keep_pages_in_their_place(tmp_path: Path, path: str, good: bool) -> None:
    headers = [("Host", HOST if good else "evil.example"), *([("Authorization", f"Bearer {TOKEN}")] if good else [])]
    answer = asked(application(tmp_path), "GET", path, headers)
    if good or path == "/healthz":
        for name, value in HEADERS.items():
            assert answer.headers[name] == value
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
    else:
        assert answer.status == 403
    assert b"root:" not in answer.body and str(tmp_path).encode() not in answer.body
    assert not any(name.startswith("access-control-") for name in answer.headers)
    assert "set-cookie" not in answer.headers and "server" not in answer.headers


@pytest.mark.parametrize(
    ("path", "method", "mode", "dest", "status"),
    [
        ("/", "GET", "navigate", "document", 200), ("/", "GET", "navigate", "iframe", 403), ("/", "GET", "no-cors", "script", 403),
        ("/", "GET", "cors", "empty", 403), ("/", "POST", "navigate", "document", 403), (PATH, "GET", "navigate", "document", 403),
        ("/metrics", "GET", "navigate", "document", 403),
    ],
)  # fmt: skip
def test_a_link_elsewhere_may_lead_to_the_page_and_to_nothing_else(
    tmp_path: Path, path: str, method: str, mode: str, dest: str, status: int
) -> None:
    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("the page")(scope, receive, send)

    app = build(tmp_path, hosts=Hosts([HOST]), given=[(TOKEN, OPERATOR)], pages=page)
    headers = [("Host", HOST), ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", mode), ("Sec-Fetch-Dest", dest)]
    answer = asked(app, method, path, [*headers, ("Authorization", f"Bearer {TOKEN}"), ("Content-Type", "application/json")])
    assert answer.status == status


def test_a_refusal_neither_repeats_a_token_nor_names_a_file(tmp_path: Path) -> None:
    app = application(tmp_path)
    (tmp_path / "broken.db").write_bytes(b"this is no store " * 50)
    good = [("Host", HOST), ("Authorization", f"Bearer {TOKEN}")]
    for path in ("/v1/agents/broken/entries", "/v1/agents/broken/stats", "/v1/agents/broken/doctor"):
        answer = asked(app, "GET", path, good)
        assert answer.status == 503 and str(tmp_path) not in answer.body.decode() and "broken.db" not in answer.body.decode()
    answer = asked(app, "GET", PATH, [("Host", HOST), ("Authorization", "Bearer guessed-token-guessed-token")])
    assert b"guessed" not in answer.body


@pytest.mark.parametrize("length", ["-1", "x", "1e3", "99999999999999999999999999", ""])
def test_a_length_that_is_none_is_refused(tmp_path: Path, length: str) -> None:
    headers = [("Host", HOST), ("Authorization", f"Bearer {TOKEN}"), ("Content-Type", "application/json"), ("Content-Length", length)]
    assert asked(application(tmp_path), "POST", PATH, headers, b"{}").status in (400, 413)


def test_a_body_beyond_the_bound_is_refused_whether_it_says_its_length_or_not(tmp_path: Path) -> None:
    app = application(tmp_path, limits=Limits(body=1_000, rate=0.0))
    good = [("Host", HOST), ("Authorization", f"Bearer {TOKEN}"), ("Content-Type", "application/json")]
    body = json.dumps({"text": "x" * 2_000}).encode()
    for headers in ([*good, ("Content-Length", str(len(body)))], [*good, ("Transfer-Encoding", "chunked")]):
        answer = asked(app, "POST", PATH, headers, body)
        assert answer.status == 413 and answer.headers["connection"] == "close"
    assert list(tmp_path.iterdir()) == []


def test_a_rate_binds_each_token_by_itself_and_says_when() -> None:
    rates = Rates(8.0, 3.0)
    for _ in range(3):
        rates.take("a", 100.0)
    with pytest.raises(Problem) as refused:
        rates.take("a", 100.0)
    assert refused.value.status == 429 and int(refused.value.headers["retry-after"]) >= 1
    rates.take("b", 100.0)
    rates.take("a", 100.125)
    with pytest.raises(Problem):
        rates.take("a", 100.125)
    for _ in range(3):
        rates.take("a", 200.0)
    with pytest.raises(Problem):
        rates.take("a", 200.0)
    unbound = Rates(0.0, 1.0)
    for _ in range(1_000):
        unbound.take("a", 0.0)


def test_over_the_rate_is_429_with_retry_after(tmp_path: Path) -> None:
    app = application(tmp_path, limits=Limits(rate=0.001, burst=2.0))
    good = [("Host", HOST), ("Authorization", f"Bearer {TOKEN}")]
    answers = [asked(app, "GET", "/v1/session", good) for _ in range(3)]
    assert [answer.status for answer in answers] == [200, 200, 429]
    assert int(answers[-1].headers["retry-after"]) > 1


GRANTS: Final[dict[str, Grant]] = {
    "operator": OPERATOR,
    "reading operator": Grant("o", "o", operator=True, read_only=True),
    "agent": Grant("a", "a", agent="ops"),
    "reading agent": Grant("r", "r", agent="ops", read_only=True),
    "other agent": Grant("x", "x", agent="other"),
}


@pytest.mark.parametrize("who", GRANTS)
def test_a_token_does_what_it_was_made_for_and_nothing_else(tmp_path: Path, who: str) -> None:
    with Memory.open(tmp_path / "ops.db", "ops") as memory:
        memory.add("Somebody's entry, which others may not see.")
    grant = GRANTS[who]
    app = application(tmp_path, given=[(TOKEN, grant)])
    headers = [("Host", HOST), ("Authorization", f"Bearer {TOKEN}"), ("Content-Type", "application/json"), ("Content-Length", "2")]

    async def every() -> dict[str, int]:
        made = {}
        for operation in OPERATIONS:
            if operation.about_agent and not operation.path.endswith("/check"):
                path = re.sub(r"\{(\w+)\}", "1", operation.path.replace("{agent}", "ops"))
                answer = await ask(app, operation.method, path, headers, b"{}")
                made[operation.name] = answer.status
                if not grant.allows("ops"):
                    assert b"Somebody" not in answer.body
        return made

    for name, status in asyncio.run(every()).items():
        [operation] = [one for one in OPERATIONS if one.name == name]
        refused = (
            not grant.allows("ops")
            or (operation.who == "operator" and not grant.operator)
            or (grant.read_only and operation.access != "read")
        )
        assert (status == 403) == refused, f"{name} for {who}: {status}"


@pytest.mark.parametrize(("who", "status"), [("operator", 200), ("agent", 403), ("other agent", 403)])
def test_only_an_operator_speaks_as_a_person_at_the_dashboard(tmp_path: Path, who: str, status: int) -> None:
    app = application(tmp_path, given=[(TOKEN, GRANTS[who])])
    agent = GRANTS[who].agent or "ops"
    headers = [("Host", HOST), ("Authorization", f"Bearer {TOKEN}"), ("Earnest-Channel", "dashboard")]
    assert asked(app, "GET", f"/v1/agents/{agent}/stats", headers).status == status
    python = [*headers[:2], ("Earnest-Channel", "python")]
    assert asked(app, "GET", f"/v1/agents/{agent}/stats", python).status == 403


def test_what_is_recorded_names_the_token_and_the_channel(tmp_path: Path) -> None:
    grants: list[tuple[str, Any]] = [(TOKEN, OPERATOR), ("second-token-0123456789", Grant("ci", "ci-bot", agent="ops", channel="http-ci"))]
    app = application(tmp_path, given=grants)

    def add(token: str, text: str, *more: tuple[str, str]) -> int:
        body = json.dumps({"text": text}).encode()
        headers = [("Host", HOST), ("Authorization", f"Bearer {token}"), ("Content-Type", "application/json"), *more]
        return asked(app, "POST", PATH, [*headers, ("Content-Length", str(len(body)))], body).status

    assert add(TOKEN, "One of a program.") == 201
    assert add(TOKEN, "One of a person.", ("Earnest-Channel", "dashboard")) == 201
    assert add("second-token-0123456789", "One of a test run.") == 201
    with Memory.open(tmp_path / "ops.db") as memory:
        assert [(event.actor, event.channel) for event in memory.events(kind="add")] == [
            ("tester", "http"), ("tester", "dashboard"), ("ci-bot", "http-ci"),
        ]  # fmt: skip

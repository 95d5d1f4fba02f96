"""Steps over HTTP: the real service on the case's own folder, asked as a program or a browser would ask it."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from starlette.testclient import TestClient

from earnest.http.serving import names_of
from tests.rest import HOST, TOKEN, application

from .model import Op, Refused, Reply, Unknown
from .run import Run

KINDS = {400: "validation", 415: "validation", 422: "validation", 404: "not_found", 409: "conflict", 503: "unavailable"}
ROUTES = {"add": "entries", "settle": "decisions/{ticket}/settlement"}
"""What cases call the product's routes."""


def _asked(run: Run, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Any:
    run.surface.reopen()
    with TestClient(application(run.folder, hosts=names_of("127.0.0.1", 8765)), base_url=f"http://{HOST}") as web:
        made = web.build_request(method, "/", content=body, headers=headers)
        made.url = made.url.copy_with(raw_path=path.encode("ascii"))
        return web.send(made)


def got(run: Run, path: str) -> str:
    """What the service says of a path."""
    return str(_asked(run, "GET", path, None, {"Authorization": f"Bearer {TOKEN}"}).text)


def rest(run: Run, op: Op, reply: Reply) -> None:
    """A request of a program that has its token. What cases call content is called text here."""
    body = op.get("body")
    path = str(op["path"])
    if path.startswith("/"):
        route = "/v1" + path
        method = op.get("method", "POST")
        body = body or '{"query": "x"}'
    else:
        given = json.loads(body or "{}")
        agent = quote(run.agent(op) or "default", safe="")
        route = f"/v1/agents/{agent}/" + ROUTES[path].replace("{ticket}", quote(str(given.get("ticket", "")), safe=""))
        method = str(op["method"])
        body = (body or "").replace('"content":', '"text":').replace(f'"ticket":{json.dumps(given.get("ticket"))},', "")
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    answer = _asked(run, method, route, (body or "").encode("utf-8"), headers)
    reply.code, reply.said = answer.status_code, answer.text
    reply.value = json.loads(answer.text) if answer.text else None
    if answer.status_code >= 500:
        raise Refused(frozenset({"crash"}), answer.text)
    if answer.status_code >= 400:
        raise Refused(frozenset({KINDS.get(answer.status_code, "validation")}), answer.text)


def browsed(run: Run, op: Op, reply: Reply) -> None:
    """A request as a browser, or a page in it, would make it. What cases call /api lies under /v1/agents/default here."""
    path = str(op["path"])
    if path.startswith("/api/"):
        path = "/v1/agents/default/" + {"entries": "entries", "tick": "ticks"}[path.removeprefix("/api/")]
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": op.get("content_type", "application/json")}
    if op.get("token") == "missing":
        del headers["Authorization"]
    if "host" in op:
        headers["Host"] = str(op["host"]).replace("PORT", HOST.rpartition(":")[2])
    if "origin" in op:
        headers["Origin"] = op["origin"]
    method = str(op["method"])
    answer = _asked(run, method, path, b"{}" if method == "POST" else None, headers)
    reply.code, reply.said = answer.status_code, answer.text


def statuses(run: Run, value: Any) -> list[str]:
    """The HTTP status of every request. Without a token it is 401, which says what is missing, where a case says 403."""
    made = []
    asked = [r for r in run.actions() if r.name == "http"]
    for reply, wanted in zip(asked, value, strict=True):
        good = {int(word) for word in str(wanted).split(" or ")} | ({401} if reply.op.get("token") == "missing" else set())
        if reply.code not in good:
            made.append(f"{reply.op} is answered with {reply.code}, not {wanted}")
    return made


def dashboard(run: Run, op: Op, reply: Reply) -> None:
    """Everything that the dashboard's first page asks for."""
    reply.value = [got(run, f"/v1/agents/default/{name}") for name in ("entries", "stats", "doctor", "events")]


OPERATIONS = {"rest": rest, "http": browsed, "dashboard": dashboard}


def start(run: Run, op: Op) -> None:
    """The service is started with each request; here it is looked whether it can be."""
    if op["surface"] != "dashboard and rest":
        raise Unknown(f"I do not know how to start {op['surface']!r}")
    answer = _asked(run, "GET", "/readyz", None, {})
    assert answer.status_code == 200, answer.text

"""Operations on the service itself: is it there, what can it do, who is asking, which agents are there."""

from __future__ import annotations

from typing import Any, Final

from earnest import __version__
from earnest.http.answers import AgentList, AgentSummary, Alive, Session
from earnest.http.memories import addressable
from earnest.http.metrics import MEDIA
from earnest.http.operations import Call, Operation, Reply
from earnest.http.problems import Problem
from earnest.http.scraping import scraped


def _ready(call: Call) -> Alive:
    if not call.service.ready:
        raise Problem(503, "busy", "the service is not ready", headers={"retry-after": "1"})
    return Alive("ready")


def _session(call: Call) -> Session:
    grant = call.grant
    return Session(__version__, grant.name, grant.agent, grant.operator, grant.read_only, grant.channel, call.service.memories.owner)


def _agents(call: Call) -> AgentList:
    return AgentList([AgentSummary(name) for name in call.service.memories.agents() if addressable(name) and call.grant.allows(name)])


def _openapi(call: Call) -> dict[str, Any]:
    made: dict[str, Any] = call.service.openapi()
    return made


def _metrics(call: Call) -> Reply:
    return Reply(scraped(call.service, call.grant), headers={"content-type": MEDIA})


OPERATIONS: Final = (
    Operation("GET", "/healthz", "alive", "Whether the service is there", lambda _: Alive("ok"), Alive, who="open", theme="service"),
    Operation("GET", "/readyz", "ready", "Whether the service takes requests", _ready, Alive, who="open", theme="service"),
    Operation("GET", "/openapi.json", "describe", "This description", _openapi, dict, who="open", theme="service"),
    Operation("GET", "/metrics", "metrics", "Counts in the text format of Prometheus", _metrics, str, theme="service"),
    Operation("GET", "/v1/session", "session", "Who is asking, by the token", _session, Session, theme="service"),
    Operation("GET", "/v1/agents", "listAgents", "The agents that have a memory here", _agents, AgentList, theme="service"),
)  # fmt: skip
"""Every operation on the service."""

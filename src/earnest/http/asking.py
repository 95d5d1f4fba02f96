"""Operations that ask, and those of a conversation."""

from __future__ import annotations

from typing import Any, Final

from earnest.core.ticket import Answer, Settlement, Ticket, TicketRecord
from earnest.core.turns import Context
from earnest.http import shapes
from earnest.http.answers import ClosedTicket, HitList, NewTurnAnswer, TicketPage
from earnest.http.entries import ROOT, paged, scope_of
from earnest.http.operations import Call, Operation, Reply
from earnest.http.problems import Problem

DECISION: Final = ROOT + "/decisions/{ticket}"


def recall(body: shapes.Recall) -> dict[str, Any]:
    """A question's arguments, as the recalling verbs take them."""
    given = body.model_dump()
    everywhere = given.pop("all_scopes")
    if "llm" in given:
        # A caller never names the model: which one is asked, and what it may cost, is the operator's setting.
        given["llm"] = given["llm"] or None
    return given | {"scope": scope_of(given["scope"], everywhere)}


def _search(call: Call) -> HitList:
    return HitList(call.memory.search(**recall(call.body)))


def _answer(call: Call) -> Answer:
    return call.memory.answer(**recall(call.body))


def _decide(call: Call) -> Reply:
    made = call.memory.decide(**recall(call.body), key=call.key)
    if made.id is None:
        return Reply(made, 200)
    return Reply(made, 201)


def _settle(call: Call) -> Settlement:
    body: shapes.Outcome = call.body
    made = call.memory.settle(call.path["ticket"], **body.model_dump(), key=call.key)
    if not made.landed:
        raise refused(call, made.reason)
    return made


def refused(call: Call, reason: str) -> Problem:
    """Why nothing landed: 404 for a ticket that this agent never opened, 409 for one that has ended."""
    if call.memory.ticket(call.path["ticket"]) is None:
        return Problem(404, "not-found", reason)
    return Problem(409, "conflict", reason)


def _abandon(call: Call) -> ClosedTicket:
    name = call.path["ticket"]
    if not call.memory.abandon(name, reason=call.body.reason, key=call.key):
        found = call.memory.ticket(name)
        raise refused(call, f"ticket {name} is not known here" if found is None else f"ticket {name} is not open: it is {found.state}")
    return ClosedTicket(name, True)


def _ticket(call: Call) -> TicketRecord:
    found = call.memory.ticket(call.path["ticket"])
    if found is None:
        raise Problem(404, "not-found", f"ticket {call.path['ticket']} is not known here")
    return found


def _pending(call: Call) -> TicketPage:
    asked: shapes.Page = call.query
    return TicketPage(*paged(call.memory.pending(after=asked.after, limit=asked.limit + 1), asked.limit, texts=False))


def _turn(call: Call) -> NewTurnAnswer:
    body: shapes.NewTurn = call.body
    made = call.memory.sync_turn(
        body.user, body.assistant, scope=body.scope, session=body.session, speaker=body.speaker, extract=body.extract,
        llm=True if body.extract == "llm" else None, key=call.key,
    )  # fmt: skip
    return NewTurnAnswer([*made], made.by, [*made.notes], made.known)


def _context(call: Call) -> Context:
    body: shapes.Prompt = call.body
    return call.memory.prefetch(
        body.message, budget=body.budget, scope=scope_of(body.scope, body.all_scopes), kind=body.kind, source=body.source,
        tags=body.tags, floor=body.floor, links=body.links,
    )  # fmt: skip


OPERATIONS: Final = (
    Operation(
        "POST", ROOT + "/search", "search", "The entries that match a question best, suspended ones marked", _search, HitList,
        body=shapes.Search, failures=(409,), span="search_memory", theme="asking",
    ),
    Operation(
        "POST", ROOT + "/answer", "answer", "What memory says to a question, without opening a ticket; silence is an answer",
        _answer, Answer,
        body=shapes.Question, failures=(409,), span="search_memory", theme="asking",
    ),
    Operation(
        "POST", ROOT + "/decisions", "decide", "Answer a question and open a ticket for its outcome; 200 and no id on silence",
        _decide, Ticket,
        body=shapes.Question, status=201, also=(200,), failures=(409,), keyed=True, span="search_memory", theme="asking",
    ),
    Operation(
        "GET", ROOT + "/decisions", "listDecisions", "The open tickets, oldest first", _pending, TicketPage,
        query=shapes.Page, failures=(404,), theme="asking",
    ),
    Operation("GET", DECISION, "getDecision", "A decision and what became of it", _ticket, TicketRecord, failures=(404,), theme="asking"),
    Operation(
        "POST", DECISION + "/settlement", "settle", "Record the measured outcome of a decision; it lands once", _settle, Settlement,
        body=shapes.Outcome, access="write", failures=(404, 409), keyed=True, span="earnest.settle", theme="asking",
    ),
    Operation(
        "POST", DECISION + "/abandonment", "abandon", "Close a ticket without an outcome: no information, which is not zero",
        _abandon, ClosedTicket,
        body=shapes.ReasonGiven, access="write", failures=(404, 409), keyed=True, span="earnest.abandon", theme="asking",
    ),
    Operation(
        "POST", ROOT + "/turns", "syncTurn", "Keep what is worth keeping of one turn of a conversation", _turn, NewTurnAnswer,
        body=shapes.NewTurn, access="make", failures=(409,), keyed=True, span="create_memory", theme="asking",
    ),
    Operation(
        "POST", ROOT + "/context", "prefetch", "What memory adds to the prompt for a message, inside a budget", _context, Context,
        body=shapes.Prompt, span="search_memory", theme="asking",
    ),
)  # fmt: skip
"""Every operation that asks."""

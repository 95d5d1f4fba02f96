"""Operations on entries."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from earnest.core.entry import Entry
from earnest.core.filters import ALL
from earnest.core.survey import Card, Life
from earnest.http import shapes
from earnest.http.answers import CardPage, EntryPage, Story
from earnest.http.operations import Call, Operation, Reply

ROOT: Final = "/v1/agents/{agent}"
ONE: Final = ROOT + "/entries/{entry}"
ROOM: Final = 1_000_000
"""Characters of text that a page may hold beyond its first entry: a page of long entries is a short one."""


def paged(items: list[Any], limit: int, *, texts: bool = True) -> tuple[list[Any], str | None]:
    """A page of at most `limit` items and, of texts, about a megabyte, from one item more than that; and where to go on."""
    page, room = items[:limit], ROOM
    if texts:
        for place, item in enumerate(page):
            room -= len(getattr(item, "entry", item).text)
            if room < 0 and place:
                page = page[:place]
                break
    last = getattr(page[-1], "entry", page[-1]) if page else None
    return page, last.id if last is not None and len(items) > len(page) else None


def scope_of(given: Any, everywhere: bool, *, default: Any = "") -> Any:
    """The scope filter that was asked for."""
    if everywhere:
        return ALL
    return default if given is None else given


def _add(call: Call) -> Reply:
    body: shapes.NewEntry = call.body
    made = call.memory.add(**body.model_dump(), key=call.key)
    return Reply(made, headers={"location": f"/v1/agents/{quote(call.path['agent'], safe='')}/entries/{quote(made.id, safe='')}"})


def _add_many(call: Call) -> EntryPage:
    body: shapes.NewEntries = call.body
    return EntryPage(call.memory.add_many([entry.model_dump() for entry in body.entries], key=call.key), None)


def _list(call: Call) -> EntryPage:
    asked: shapes.Listing = call.query
    scope = scope_of(asked.scope, asked.all_scopes)
    found = call.memory.list(
        scope=scope, kind=asked.kind, source=asked.source, tags=asked.tag, standing=asked.standing, after=asked.after, limit=asked.limit + 1
    )
    return EntryPage(*paged(found, asked.limit))


def _survey(call: Call) -> CardPage:
    asked: shapes.SurveyPage = call.query
    # One more than a page would exceed the verb's own bound on the largest.
    most = min(asked.limit, 499)
    found = call.memory.survey(
        order=asked.order, scope=scope_of(asked.scope, asked.all_scopes, default=ALL), kind=asked.kind, source=asked.source, tags=asked.tag,
        standing=asked.standing, pinned=asked.pinned, cause=asked.cause, after=asked.after, limit=most + 1,
    )  # fmt: skip
    return CardPage(*paged(found, most))


def _graveyard(call: Call) -> CardPage:
    asked: shapes.Dead = call.query
    most = min(asked.limit, 499)
    return CardPage(*paged(call.memory.survey(order="ended", cause=asked.cause, after=asked.after, limit=most + 1), most))


def _update(call: Call) -> Entry:
    body: shapes.Changes = call.body
    return call.memory.update(call.path["entry"], **body.model_dump(exclude_unset=True), key=call.key)


def _forget(call: Call) -> Entry:
    return call.memory.forget(call.path["entry"], call.query.reason, key=call.key)


def _merge(call: Call) -> Entry:
    return call.memory.merge(call.body.ids, text=call.body.text, key=call.key)


def _top(call: Call) -> EntryPage:
    return EntryPage(call.memory.top(call.query.limit), None)


OPERATIONS: Final = (
    Operation(
        "POST", ROOT + "/entries", "addEntry", "Write down one memory; an exact twin is joined, not doubled", _add, Entry,
        body=shapes.NewEntry, access="make", status=201, keyed=True, span="create_memory", theme="entries",
    ),
    Operation(
        "GET", ROOT + "/entries", "listEntries", "The living entries, oldest first", _list, EntryPage,
        query=shapes.Listing, failures=(404,), theme="entries",
    ),
    Operation(
        "POST", ROOT + "/entries/batch", "addEntries", "Write down many memories, in short transactions", _add_many, EntryPage,
        body=shapes.NewEntries, access="make", status=201, keyed=True, span="create_memory", theme="entries",
    ),
    Operation(
        "GET", ROOT + "/survey", "surveyEntries", "Entries with how they stand: balance, runway, evidence, open tickets", _survey, CardPage,
        query=shapes.SurveyPage, failures=(404,), theme="entries",
    ),
    Operation(
        "GET", ROOT + "/graveyard", "listDead", "The dead, the last first", _graveyard, CardPage,
        query=shapes.Dead, failures=(404,), theme="entries",
    ),
    Operation(
        "GET", ROOT + "/top", "topEntries", "The living entries that hold most", _top, EntryPage, query=shapes.Few, theme="entries",
    ),
    Operation(
        "POST", ROOT + "/merges", "mergeEntries", "Join entries into one heir", _merge, Entry,
        body=shapes.Merge, access="write", status=201, failures=(404, 409), keyed=True, span="update_memory", theme="entries",
    ),
    Operation(
        "GET", ONE, "getEntry", "One entry, dead ones too", lambda call: call.memory.get(call.path["entry"]), Entry,
        failures=(404,), theme="entries",
    ),
    Operation(
        "PATCH", ONE, "updateEntry", "Change an entry; new words make a new version under a new id", _update, Entry,
        body=shapes.Changes, access="write", failures=(404, 409), keyed=True, span="update_memory", theme="entries",
    ),
    Operation(
        "DELETE", ONE, "forgetEntry", "Bury an entry; restoring brings it back", _forget, Entry,
        query=shapes.Because, access="write", failures=(404, 409), keyed=True, span="delete_memory", theme="entries",
    ),
    Operation(
        "POST", ONE + "/pin", "pinEntry", "Keep an entry from burial and merging",
        lambda call: call.memory.pin(call.path["entry"], key=call.key), Entry,
        body=shapes.Nothing, access="write", failures=(404, 409), keyed=True, span="update_memory", theme="entries",
    ),
    Operation(
        "POST", ONE + "/unpin", "unpinEntry", "Take the pin away",
        lambda call: call.memory.unpin(call.path["entry"], key=call.key), Entry,
        body=shapes.Nothing, access="write", failures=(404, 409), keyed=True, span="update_memory", theme="entries",
    ),
    Operation(
        "POST", ONE + "/restore", "restoreEntry", "Bring a dead entry back",
        lambda call: call.memory.restore(call.path["entry"], key=call.key), Entry,
        body=shapes.Nothing, access="write", who="operator", failures=(404, 409), keyed=True, span="update_memory", theme="entries",
    ),
    Operation(
        "GET", ONE + "/card", "getCard", "One entry with how it stands", lambda call: call.memory.card(call.path["entry"]), Card,
        failures=(404,), theme="entries",
    ),
    Operation(
        "GET", ONE + "/life", "getLife", "The whole life of an entry", lambda call: call.memory.life(call.path["entry"]), Life,
        failures=(404,), theme="entries",
    ),
    Operation(
        "GET", ONE + "/obituary", "getObituary", "An entry's life story, in words",
        lambda call: Story(call.path["entry"], call.memory.obituary(call.path["entry"])), Story,
        failures=(404,), theme="entries",
    ),
)  # fmt: skip
"""Every operation on entries."""

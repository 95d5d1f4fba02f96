"""Records out of JSON and tables: each value becomes an entry, a turn, a conversation, or a reason why not."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from earnest.core import check
from earnest.core.entry import KINDS, Kind
from earnest.encoding.blocks import Reading, row_of
from earnest.encoding.chats import Thread, add_message, chatgpt_thread, claude_thread, moment_of, name_of
from earnest.encoding.document import Document, Draft
from earnest.encoding.jsonvalues import Broken, json_values

_TEXTS: Final = ("text", "content", "message", "memory", "body", "note", "fact", "statement", "observation", "summary", "value", "data")
_QUESTIONS: Final = ("cue", "question", "prompt", "instruction", "query", "title", "subject", "key", "name")
_ANSWERS: Final = ("answer", "completion", "response", "output")
_LISTS: Final = ("memories", "entries", "records", "items", "results", "messages", "conversations", "documents", "data", "notes", "facts")
_TIMES: Final = ("timestamp", "created_at", "create_time", "createdAt", "time", "date", "datetime", "ts", "at", "updated_at")
_ABOUT: Final = ("id", "title", "author", "user", "user_id", "category", "type", "url", "source", "lang", "language", *_TIMES)
_GROUP: Final = 1_000
_PIECE: Final = 1 << 16
_TOLD: Final = 1_000
"""How many items and lines that were left out are named one by one."""
_MAX_TAGS: Final = 50
_MAX_ABOUT: Final = 500
_MAX_NESTED: Final = 3
_SAID_NOTHING: Final = frozenset(("summary", "system", "progress", "file-history-snapshot", "queue-operation", "attachment", "last-prompt"))


def read_json(chunks: Iterable[str], source: str) -> Iterator[Document]:
    """What a file of JSON holds, as documents: one for each conversation in it, and records in groups of a thousand.

    A file of any size is read piece by piece. What no entry can be made of is left out with the reason and the place.
    """
    reader = _Reader(source)
    for number, value in enumerate(json_values(chunks), 1):
        if isinstance(value, Broken):
            reader.leave(value.text, f"line {value.line:,}: {value.reason}")
        else:
            yield from reader.take(value, number)
    yield from reader.finish()


def json_reading(text: str, source: str) -> Reading:
    """As `read_json`, for a text that is in memory: passages that name their conversations as sources."""
    made = Reading()
    # In pieces, since telling where a broken line stands costs as much as what was read at once.
    for document in read_json((text[at : at + _PIECE] for at in range(0, len(text), _PIECE)), source):
        made.passages += document.passages
        prefix = "" if document.source == source else f"{document.source}: "
        made.left_out += [(said, f"{prefix}{reason}") for said, reason in document.left_out]
        made.notes += [f"{prefix}{note}" for note in document.notes]
    return made


class _Reader:
    """Takes values one by one and gives documents as soon as they are whole."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._passages: list[Draft] = []
        self._left_out: list[tuple[str, str]] = []
        self._threads: dict[str, Thread] = {}
        self._known: set[str] = set()
        self._messages: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._told = 0

    def leave(self, text: str, reason: str) -> None:
        """Note what no entry was made of; of very many, how many more there were."""
        self._told += 1
        if self._told <= _TOLD:
            self._left_out.append((text, reason))

    def take(self, value: Any, number: int, depth: int = 0) -> Iterator[Document]:
        """Everything that one value holds."""
        if isinstance(value, str):
            self._text(value, number)
        elif not isinstance(value, Mapping):
            self.leave(_shown(value), f"item {number:,}: neither a text nor an object")
        elif isinstance(value.get("mapping"), Mapping):
            yield from self._conversation(chatgpt_thread(value), number)
        elif "chat_messages" in value:
            yield from self._conversation(claude_thread(value), number)
        elif isinstance(value.get("message"), Mapping) and "role" in value["message"]:
            self._transcript(value, value["message"])
        elif isinstance(value.get("role"), str) and "content" in value:
            self._transcript({}, value)
        elif value.get("type") in _SAID_NOTHING and "text" not in value and "content" not in value:
            self._counts[f"line of type {value['type']}"] += 1
        elif value.get("type") in ("entity", "relation") and ("name" in value or "from" in value):
            self._graph(value, number)
        elif not self._record(value, number):
            yield from self._list(value, number, depth)
        if len(self._passages) >= _GROUP:
            yield self._records()

    def finish(self) -> Iterator[Document]:
        """What is still open: transcripts, the last records, and everything that was left out."""
        self._left_out += [("", f"{reason} ({count:,})") for reason, count in self._counts.items()]
        if self._told > _TOLD:
            self._left_out.append(("", f"{self._told - _TOLD:,} more items or lines that no entry was made of"))
        for thread in self._threads.values():
            yield _document(thread)
        if self._passages or self._left_out or not self._known | self._threads.keys():
            yield self._records()

    def _records(self) -> Document:
        passages, self._passages = self._passages, []
        left_out, self._left_out = self._left_out, []
        return Document(self._source, "", "json", tuple(passages), (), tuple(left_out))

    def _text(self, text: str, number: int) -> None:
        if check.blank(check.cleaned(text)):
            self.leave("", f"item {number:,}: blank")
        else:
            self._passages.append(Draft(check.cleaned(text).strip()))

    def _conversation(self, thread: Thread, number: int) -> Iterator[Document]:
        if thread.source in self._known:
            self.leave(thread.title, f"item {number:,}: conversation {thread.session} is there already")
        elif not thread.turns:
            why = ", ".join(f"{reason} ({count:,})" for reason, count in thread.left_out.items())
            self.leave(thread.title, f"item {number:,}: conversation {thread.session} has no message{f': {why}' if why else ''}")
        else:
            self._known.add(thread.source)
            yield _document(thread)

    def _transcript(self, line: Mapping[str, Any], message: Mapping[str, Any]) -> None:
        """A message on a line of its own. Messages of one session may be anywhere in the file."""
        if line.get("isMeta"):
            self._counts["line of the tool about itself"] += 1
            return
        unique = line.get("uuid") or message.get("id")
        if isinstance(unique, str) and unique:
            # A resumed session repeats what was said before.
            if unique in self._messages:
                self._counts["message that is there already"] += 1
                return
            self._messages.add(unique)
        session = name_of(line.get("sessionId") or line.get("session_id") or line.get("session"), "")
        if not session and len(self._threads) == 1:
            session = next(iter(self._threads))
        if session not in self._threads:
            named = f"session:{session}" if session else self._source
            self._threads[session] = Thread(named, session or self._source)
        add_message(self._threads[session], message.get("role"), message.get("content"), _first(line, _TIMES) or _first(message, _TIMES))

    def _graph(self, value: Mapping[str, Any], number: int) -> None:
        """A line of a knowledge graph: what is observed of a thing, or how two things relate."""
        kind = " ".join(str(value.get("entityType") or "").split())
        name = name_of(value.get("name"), "")
        if value.get("type") == "relation":
            ends = [name_of(value.get(end), "") for end in ("from", "to")]
            how = " ".join(str(value.get("relationType") or "relates to").replace("_", " ").split())
            if all(ends):
                self._passages.append(Draft(f"{ends[0]} {how} {ends[1]}."))
            else:
                self.leave(_shown(value), f"item {number:,}: a relation without two ends")
            return
        observed = value.get("observations")
        said = [o for o in observed if isinstance(o, str) and o.strip()] if isinstance(observed, list) else []
        if not name or not said:
            self.leave(_shown(value), f"item {number:,}: a thing without {'observations' if name else 'a name'}")
        about = {"entity": name, **({"type": kind} if kind else {})}
        for one in said if name else ():
            self._passages.append(Draft(f"{name}: {check.cleaned(one).strip()}", metadata=about))

    def _record(self, value: Mapping[str, Any], number: int) -> bool:
        """Make an entry of an object with a text in it; False if it has none."""
        text = _first(value, (*_TEXTS, *_ANSWERS), str) or ""
        if check.blank(check.cleaned(text)):
            if any(name in value for name in (*_TEXTS, *_ANSWERS)) and not any(isinstance(value.get(n), list) for n in _LISTS):
                self.leave(_shown(value), f"item {number:,}: its text is blank")
                return True
            return False
        cue = _first(value, _QUESTIONS, str)
        kind: Kind = next((k for k in KINDS if k == value.get("kind") and k != "rule"), "semantic")
        tags = value.get("tags")
        labels = [check.cleaned(t).strip() for t in tags if isinstance(t, str)] if isinstance(tags, list) else []
        about = {name: _plain(value[name]) for name in _ABOUT if isinstance(value.get(name), str | int | float | bool)}
        at = moment_of(_first(value, _TIMES)) if kind == "episodic" else None
        self._passages.append(
            Draft(
                check.cleaned(text).strip(),
                check.cleaned(cue).strip()[: check.MAX_CUE] or None if cue else None,
                kind,
                metadata=about,
                tags=tuple(dict.fromkeys(name for t in labels if (name := name_of(t, ""))))[:_MAX_TAGS],
                valid_from=at,
            )
        )
        return True

    def _list(self, value: Mapping[str, Any], number: int, depth: int) -> Iterator[Document]:
        """The items of a list inside an object, under one of the names that exports use."""
        name = next((n for n in _LISTS if isinstance(value.get(n), list)), None)
        if name is None or depth >= _MAX_NESTED:
            self.leave(_shown(value), f"item {number:,}: no field that holds a text ({', '.join(_TEXTS[:4])}, …)")
        elif name == "messages":
            thread = Thread(self._source, name_of(value.get("id") or value.get("session_id"), f"{self._source}#{number}"))
            thread.last = moment_of(_first(value, _TIMES))
            for message in value[name]:
                if isinstance(message, Mapping):
                    add_message(thread, message.get("role"), message.get("content"), _first(message, _TIMES))
                else:
                    thread.left_out["no message"] += 1
            self._passages += thread.turns
            self._counts.update(thread.left_out)
        else:
            for place, item in enumerate(value[name], 1):
                yield from self.take(item, place, depth + 1)


def written(about: Mapping[str, Any]) -> datetime | None:
    """When a record says that it was written down, by the metadata kept of it; None if it does not say so, or in no form that is read."""
    return moment_of(_first(about, _TIMES))


def _document(thread: Thread) -> Document:
    left_out = tuple(("", f"{reason} ({count:,})") for reason, count in thread.left_out.items())
    return Document(thread.source, "", "json", tuple(thread.turns), (), left_out)


def _first(value: Mapping[str, Any], names: Iterable[str], kind: type | None = None) -> Any:
    return next((value[n] for n in names if value.get(n) is not None and (kind is None or isinstance(value[n], kind))), None)


def _plain(value: Any) -> Any:
    return check.cleaned(value)[:_MAX_ABOUT] if isinstance(value, str) else value if abs(value) < 2**63 else str(value)[:_MAX_ABOUT]


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:200] if not isinstance(value, str) else value[:200]


# Tables.


def table_reading(text: str) -> Reading:
    """The rows of comma-, semicolon- or tab-separated values, each as "header: cell; header: cell"."""
    made = Reading()
    sample = text[:10_000]
    mark = max(",;\t|", key=sample.split("\n", 1)[0].count)
    csv.field_size_limit(max(csv.field_size_limit(), check.MAX_TEXT * 10))
    rows = csv.reader(io.StringIO(text), delimiter=mark)
    headers: list[str] = []
    try:
        for row in rows:
            cells = [" ".join(cell.split()) for cell in row]
            if not any(cells):
                continue
            if not headers:
                headers = cells
                continue
            made.passages.append(Draft(row_of(headers, cells), metadata={"row": rows.line_num}))
    except csv.Error as problem:
        made.left_out.append(("", f"line {rows.line_num:,}: {problem}; the rest was not read"))
    if headers and not made.passages:
        made.left_out.append((" | ".join(headers), "table without rows"))
    return made

"""Conversations out of exports: which turns were said, by whom, when, in which order.

Read by their shape, never by the name of the file: ChatGPT (a tree of messages, of which the branch that was shown last counts),
Claude (a list of messages), transcripts of agents (one message a line) and lists of `{"role", "content"}`.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from earnest.core import check
from earnest.encoding.document import Draft

_EARLIEST: Final = datetime(1990, 1, 1, tzinfo=UTC)
_LATEST: Final = datetime(2100, 1, 1, tzinfo=UTC)
_SPEAKERS: Final = {"human": "user", "user": "user", "assistant": "assistant", "ai": "assistant", "bot": "assistant", "model": "assistant"}
_UNSAID: Final = {"system": "system message", "developer": "system message", "tool": "output of a tool", "function": "output of a tool"}
_MAX_NAME: Final = 200


@dataclass(slots=True)
class Thread:
    """A conversation: its turns in order, and what was left out of it, by reason."""

    source: str
    session: str
    title: str = ""
    turns: list[Draft] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    last: datetime | None = None
    """When the latest turn was said, or the conversation began: what a turn without a time of its own gets."""

    def say(self, speaker: str, text: str, at: datetime | None, **more: Any) -> None:
        """Add a turn; a blank one is counted as left out."""
        text = check.cleaned(text).strip()
        if not text or check.blank(text):
            self.left_out["empty message"] += 1
            return
        self.last = at or self.last
        about = {"session": self.session, "speaker": speaker, "turn": len(self.turns) + 1}
        about |= {"title": self.title} if self.title else {}
        self.turns.append(Draft(text, None, "episodic", "turn", (self.source,), about | more, (), self.last, "fading"))


def name_of(value: Any, fallback: str) -> str:
    """An identifier from an export as a label: cut and without control characters; `fallback` if it is none."""
    made = "".join(c for c in str(value) if unicodedata.category(c) not in ("Cc", "Cs")).strip() if isinstance(value, str | int) else ""
    if len(made) > _MAX_NAME:
        made = hashlib.sha256(made.encode("utf-8", "replace")).hexdigest()[:32]
    return made if made and not check.blank(made) else fallback


def moment_of(value: Any) -> datetime | None:
    """A time in an export: seconds, milliseconds or microseconds since 1970, or ISO 8601. None if it is none, or lies outside of
    1990 to 2100: no message was written then, and a wrong date is worse than none."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        if isinstance(value, int | float):
            # Larger numbers can only be finer units: 100 billion seconds is the year 5138.
            scale = 1 if abs(value) < 1e11 else 1e3 if abs(value) < 1e14 else 1e6
            made = datetime.fromtimestamp(value / scale, UTC)
        elif isinstance(value, str):
            made = _iso(value.strip())
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return made if _EARLIEST <= made <= _LATEST else None


def _iso(text: str) -> datetime:
    if text.replace(".", "", 1).isdigit() and len(text) >= 9:
        return moment_of(float(text)) or _LATEST.replace(year=2101)
    # More than six digits of a second are more than a datetime holds.
    head, dot, tail = text.partition(".")
    digits = len(tail) - len(tail.lstrip("0123456789"))
    made = datetime.fromisoformat(f"{head}.{tail[: min(digits, 6)]}{tail[digits:]}" if dot and digits else text)
    return made.replace(tzinfo=UTC) if made.tzinfo is None else made.astimezone(UTC)


# ChatGPT.


def chatgpt_thread(value: Mapping[str, Any]) -> Thread:
    """A conversation of a ChatGPT export: the branch that ends in `current_node`, from its root on."""
    session = name_of(value.get("conversation_id") or value.get("id"), "")
    mapping = {str(key): node for key, node in value["mapping"].items() if isinstance(node, Mapping)}
    session = session or hashlib.sha256("\n".join(sorted(mapping)).encode("utf-8", "replace")).hexdigest()[:16]
    thread = Thread(f"chatgpt:{session}", session, _title(value.get("title")), last=moment_of(value.get("create_time")))
    branch = _branch(mapping, value.get("current_node"))
    for key in branch:
        message = mapping[key].get("message")
        if isinstance(message, Mapping):
            _chatgpt_message(thread, message)
    beside = sum(1 for key, node in mapping.items() if key not in branch and _shown(node))
    if beside:
        thread.left_out["on a branch that was abandoned"] += beside
    return thread


def _shown(node: Mapping[str, Any]) -> bool:
    message = node.get("message")
    author = message.get("author") if isinstance(message, Mapping) else None
    return isinstance(author, Mapping) and author.get("role") in ("user", "assistant")


def _branch(mapping: Mapping[str, Mapping[str, Any]], current: Any) -> dict[str, None]:
    """The nodes from the root to the current one. Slim exports have no lists of children; a damaged one may go in circles."""
    at = str(current) if current is not None and str(current) in mapping else _leaf(mapping)
    made: dict[str, None] = {}
    while at is not None and at in mapping and at not in made:
        made[at] = None
        parent = mapping[at].get("parent")
        at = str(parent) if parent is not None else None
    return dict.fromkeys(reversed(made))


def _leaf(mapping: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The last message that nothing follows, where the export does not say which branch is current."""
    parents = {str(node.get("parent")) for node in mapping.values()}
    leaves = [key for key in mapping if key not in parents] or [*mapping]

    def when(key: str) -> datetime:
        message = mapping[key].get("message")
        return (moment_of(message.get("create_time")) if isinstance(message, Mapping) else None) or _EARLIEST

    return max(leaves, key=when) if leaves else None


def _chatgpt_message(thread: Thread, message: Mapping[str, Any]) -> None:
    author, content = message.get("author"), message.get("content")
    role = author.get("role") if isinstance(author, Mapping) else None
    about = message.get("metadata")
    kind = content.get("content_type") if isinstance(content, Mapping) else None
    said = _parts(content, thread) if isinstance(content, Mapping) else ""
    if isinstance(about, Mapping) and about.get("is_visually_hidden_from_conversation"):
        if said:
            thread.left_out["hidden from the conversation"] += 1
    elif kind in ("user_editable_context", "model_editable_context"):
        thread.left_out["hidden from the conversation"] += 1
    elif kind in ("thoughts", "reasoning_recap"):
        thread.left_out["reasoning of the model"] += 1
    elif role in _UNSAID:
        if said or role != "system":
            thread.left_out[_UNSAID[role]] += 1
    elif kind in ("code", "execution_output") or message.get("recipient") not in (None, "all"):
        thread.left_out["call of a tool"] += 1
    elif role in _SPEAKERS:
        thread.say(_SPEAKERS[role], said, moment_of(message.get("create_time")))
    else:
        thread.left_out["message without an author"] += 1


def _parts(content: Mapping[str, Any], thread: Thread) -> str:
    parts = content.get("parts")
    if not isinstance(parts, Sequence) or isinstance(parts, str):
        return content["text"] if isinstance(content.get("text"), str) else ""
    said = []
    for part in parts:
        if isinstance(part, str):
            said.append(part)
        elif isinstance(part, Mapping) and isinstance(part.get("text"), str):
            said.append(part["text"])
        elif isinstance(part, Mapping):
            thread.left_out["picture or file"] += 1
    return "\n".join(text for text in said if text.strip())


def _title(value: Any) -> str:
    return " ".join(check.cleaned(value).split())[:_MAX_NAME] if isinstance(value, str) else ""


# Claude, and lists of messages.


def claude_thread(value: Mapping[str, Any]) -> Thread:
    """A conversation of a Claude export."""
    session = name_of(value.get("uuid"), "")
    messages = value.get("chat_messages")
    messages = messages if isinstance(messages, list) else []
    session = session or hashlib.sha256(repr(messages[:3]).encode("utf-8", "replace")).hexdigest()[:16]
    thread = Thread(f"claude:{session}", session, _title(value.get("name")), last=moment_of(value.get("created_at")))
    for message in messages:
        if not isinstance(message, Mapping):
            thread.left_out["no message"] += 1
            continue
        add_message(thread, message.get("sender"), message.get("content"), message.get("created_at"), message.get("text"))
        for file in message.get("attachments") or ():
            said = file.get("extracted_content") if isinstance(file, Mapping) else None
            if isinstance(said, str) and said.strip():
                name = name_of(file.get("file_name"), "attachment")
                thread.say(_SPEAKERS.get(str(message.get("sender")), "user"), said, moment_of(message.get("created_at")), attachment=name)
    return thread


def add_message(thread: Thread, role: Any, content: Any, at: Any, text: Any = None) -> None:
    """Add a message of any of the forms in which a role says a text or a list of parts."""
    role = role.lower() if isinstance(role, str) else ""
    if role in _UNSAID:
        thread.left_out[_UNSAID[role]] += 1
        return
    said = []
    tools = 0
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            said.append(part)
        elif isinstance(part, Mapping):
            kind = part.get("type")
            if kind in ("thinking", "redacted_thinking", "reasoning"):
                thread.left_out["reasoning of the model"] += 1
            elif kind in ("tool_use", "tool_result", "tool_call", "function_call", "server_tool_use"):
                tools += 1
            elif isinstance(part.get("text"), str):
                said.append(part["text"])
            elif kind in ("image", "image_url", "document", "file", "input_audio"):
                thread.left_out["picture or file"] += 1
    if tools:
        thread.left_out["call or output of a tool"] += tools
    words = "\n".join(part for part in said if part.strip()) or (text if isinstance(text, str) else "")
    if words.strip() or not tools:
        thread.say(_SPEAKERS.get(role, role[:_MAX_NAME] or "unknown"), words, moment_of(at))

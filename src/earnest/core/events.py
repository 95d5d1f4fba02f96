"""The event log: what happened, in order, chained by hashes, without texts."""

from __future__ import annotations

import hashlib
import json
import json.encoder
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from earnest.core.twins import twin_digest as twin_digest

EVENT_KINDS: Final = (
    "create", "add", "twin", "encode", "edit", "supersede", "decide", "settle", "settle_refused", "abandon", "expire", "tick",
    "suspend", "clear", "death", "forget", "restore", "pin", "unpin", "merge", "undo", "rollback", "graduate", "setting",
    "meter", "bind", "repair",
    "feedback", "link", "unlink",
    "remeasure", "correct", "control", "appeal", "alarm", "revoke", "rule", "vouch",
    "erase", "import", "archive", "archived", "segment",
)  # fmt: skip

GENESIS: Final = bytes(32)
"""The hash before the first event."""

_quoted: Final = json.encoder.encode_basestring
"""A text as JSON writes it, with nothing escaped that need not be."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Posting(NamedTuple):
    """`amount` micro-units (> 0) leave account `debit` for account `credit`."""

    debit: int
    credit: int
    amount: int


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. `entries` and `ticket` are ids; `data` holds numbers, names of states and digests, no texts.

    `note` is the remark that was given with it; it lies outside the chain, so that it can be erased.
    """

    seq: int
    kind: str
    tick: int
    at: datetime
    actor: str
    channel: str
    entries: tuple[str, ...]
    ticket: str | None
    data: Mapping[str, Any]
    hash: str
    note: str = ""


def micros(moment: datetime) -> int:
    """A time as whole microseconds since 1970, exactly."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def moment(value: int) -> datetime:
    """The time that `micros` wrote."""
    return _EPOCH + timedelta(microseconds=value)


_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical(data: Mapping[str, Any]) -> str:
    """JSON with one spelling: sorted keys, no spaces, strict numbers."""
    return _CANONICAL.encode(data) if data else "{}"


def chained(
    before: bytes,
    seq: int,
    kind: str,
    tick: int,
    at: int,
    actor: str,
    channel: str,
    entries: Sequence[int],
    ticket: str | None,
    data: str,
    postings: Sequence[Posting],
) -> bytes:
    """The hash of an event: SHA-256 over the one before and everything that the event says, in a form without ambiguity.

    The form is the compact JSON of a list of these in their order; it is put together here, for every event of a store passes through.
    """
    rows = ",".join(map(str, entries))
    moved = ",".join([f"[{debit},{credit},{amount}]" for debit, credit, amount in postings])
    said = (
        f"[{seq},{_quoted(kind)},{tick},{at},{_quoted(actor)},{_quoted(channel)},[{rows}],"
        f"{'null' if ticket is None else _quoted(ticket)},{_quoted(data)},[{moved}]]"
    )
    return hashlib.sha256(before + said.encode("utf-8")).digest()


def text_digest(salt: bytes, text: str) -> str:
    """A salted digest that stands for a text in the log: without the salt it says nothing about the text."""
    return hashlib.sha256(salt + text.encode("utf-8")).hexdigest()[:32]

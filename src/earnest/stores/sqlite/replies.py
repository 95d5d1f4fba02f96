"""Replies of language models that were paid for and are not used up yet, in a store file."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from earnest.core.events import micros
from earnest.stores.sqlite.snapshot import Snapshot


class ReplyReading(Snapshot):
    """Part of a reader."""

    def kept_reply(self, digest: bytes) -> str | None:
        """See `earnest.protocols.Reading`."""
        found = self._db.execute("SELECT reply FROM replies WHERE digest = ?", (digest,)).fetchone()
        return None if found is None else str(found[0])


class ReplyWriting:
    """Part of a writer."""

    _db: Any
    _at: int

    def keep_reply(self, digest: bytes, reply: str) -> None:
        """See `earnest.protocols.Writing`."""
        self._db.execute(
            "INSERT INTO replies (digest, reply, at) VALUES (?, ?, ?) ON CONFLICT (digest) DO UPDATE SET reply = excluded.reply",
            (digest, reply, self._at),
        )

    def drop_replies(self, digests: Iterable[bytes] = (), *, before: datetime | None = None, every: bool = False) -> None:
        """See `earnest.protocols.Writing`."""
        self._db.executemany("DELETE FROM replies WHERE digest = ?", [(digest,) for digest in digests])
        if every:
            self._db.execute("DELETE FROM replies")
        if before is not None:
            self._db.execute("DELETE FROM replies WHERE at < ?", (micros(before),))

"""The accounts of entries: every movement of energy passes through here, as double entry, inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from earnest.core.amounts import CAP, FORFEIT, MINT, RENT, WORLD, micro
from earnest.core.entry import Cause, StoredEntry
from earnest.core.events import Posting, micros
from earnest.core.evidence import APPEAL_WAIT
from earnest.core.settings import Settings
from earnest.ledger.testimony import Testimony
from earnest.protocols import Writing


@dataclass(slots=True)
class Moved:
    """What a movement left: the postings to record, and what the account holds after it."""

    postings: list[Posting] = field(default_factory=list)
    holds: int = 0
    amount: int = 0
    """What the world paid (or took, below zero)."""


class Book:
    """Moves energy on entries of one open transaction."""

    def __init__(self, tx: Writing, settings: Settings) -> None:
        self.tx = tx
        self.settings = settings
        self.cap = micro(settings.cap)
        self.testimony = Testimony(tx, settings)
        self._ending: dict[Cause, list[int]] | None = None

    @contextmanager
    def together(self) -> Iterator[None]:
        """Burials in this block are written down one by one, and carried out together at its end: until then their rows are as before.

        For many of them. An entry is buried once in it, and nothing else is done there to one that was.
        """
        self._ending = {}
        yield
        ending, self._ending = self._ending, None
        for cause, rows in ending.items():
            self.tx.end_entries(rows, cause)

    def due(self, stored: StoredEntry) -> list[Posting]:
        """The rent that has accrued since the account was last touched."""
        owed = stored.recorded_balance - stored.entry.balance
        return [Posting(stored.row, RENT, owed)] if owed > 0 else []

    def stake(self, stored: StoredEntry, amount: int | None = None) -> list[Posting]:
        """Gives a fresh or returning entry what it lives on; only earned entries have an account."""
        if stored.entry.retention != "earned":
            return []
        given = micro(self.settings.stake) if amount is None else min(amount, self.cap)
        if given <= 0:
            return []
        self.tx.change_entry(stored.row, balance=given, rent_mark=self.tx.counter("rent_index"))
        return [Posting(MINT, stored.row, given)]

    def credit(self, stored: StoredEntry, amount: int) -> Moved:
        """Pays or fines one account for an outcome: rent first, then the amount, then what exceeds the cap goes to `cap`.

        A fine may take an account below zero, as in the published rule; a pinned one rests at zero.
        """
        moved = Moved(self.due(stored), stored.entry.balance)
        if stored.entry.retention != "earned":
            return moved
        if amount > 0:
            moved.postings.append(Posting(WORLD, stored.row, amount))
            moved.holds += amount
            moved.amount = amount
            over = moved.holds - self.cap
            if over > 0:
                moved.postings.append(Posting(stored.row, CAP, over))
                moved.holds = self.cap
        elif amount < 0:
            fine = min(-amount, max(moved.holds, 0)) if stored.entry.pinned else -amount
            if fine > 0:
                moved.postings.append(Posting(stored.row, WORLD, fine))
                moved.holds -= fine
                moved.amount = -fine
        return moved

    def waive(self, stored: StoredEntry) -> list[Posting]:
        """Gives an account the rent back that accrued since it was last touched: what it held then is what it holds again.

        Rent first, then the same amount back, so that the log shows both. Nothing where nothing was paid.
        """
        held, back = stored.entry.balance, stored.recorded_balance - stored.entry.balance
        if stored.entry.retention != "earned" or back <= 0:
            return []
        self.tx.change_entry(stored.row, balance=held + back, rent_mark=self.tx.counter("rent_index"))
        return [*self.due(stored), Posting(RENT, stored.row, back)]

    def touch(self, stored: StoredEntry, moved: Moved, **columns: Any) -> None:
        """Records what an account holds now, as of this rent index."""
        self.tx.change_entry(stored.row, balance=moved.holds, rent_mark=self.tx.counter("rent_index"), **columns)

    def close(self, stored: StoredEntry) -> list[Posting]:
        """Empties an account for good: what is left is forfeited, a debt is forgiven."""
        postings = self.due(stored)
        if stored.entry.balance > 0:
            postings.append(Posting(stored.row, FORFEIT, stored.entry.balance))
        return [*postings, *self.forgiven(stored)]

    def forgiven(self, stored: StoredEntry) -> list[Posting]:
        """What makes up for the debt of an account that is closed; nothing where there is none."""
        return [Posting(FORFEIT, stored.row, -stored.entry.balance)] if stored.entry.balance < 0 else []

    def bury(
        self,
        stored: StoredEntry,
        cause: Cause,
        *,
        kind: str = "death",
        note: str = "",
        heir: int | None = None,
        until: datetime | None = None,
        **data: Any,
    ) -> int:
        """Ends an entry's life, with its cause, and returns the event that says so. The dead are not pinned.

        What is superseded ceases to be valid now, or when what takes its place begins to hold (`until`), if that is later.
        """
        postings = self.close(stored)
        columns: dict[str, Any] = {} if heir is None else {"heir": heir}
        if cause == "superseded":
            # It held until now, and is what is told to who asks about a time before.
            held, now = stored.entry.valid_to, max(self.tx.author.at, until or self.tx.author.at)
            if held is None or held > now:
                columns["valid_to"] = micros(now)
                data["held_until"] = None if held is None else micros(held)
        if self._ending is not None and not columns:
            self._ending.setdefault(cause, []).append(stored.row)
            return self._told(stored, cause, kind, postings, note, heir, data)
        self.tx.change_entry(
            stored.row,
            standing="dead",
            cause=cause,
            balance=0,
            rent_mark=self.tx.counter("rent_index"),
            died_tick=self.tx.counter("tick"),
            pinned=False,
            **columns,
        )
        return self._told(stored, cause, kind, postings, note, heir, data)

    def _told(
        self, stored: StoredEntry, cause: Cause, kind: str, postings: list[Posting], note: str, heir: int | None, data: dict[str, Any]
    ) -> int:
        """Writes down a burial."""
        said = {"cause": cause, "standing": stored.entry.standing, "left": stored.entry.balance, **data}
        entries = [stored.row] if heir is None else [stored.row, heir]
        return self.tx.append(kind, entries=entries, data=said, postings=postings, note=note)

    def verdict(self, stored: StoredEntry) -> Literal["buried", "suspended"] | None:
        """What becomes of an entry after its account moved or a ticket let go of it.

        An empty one is buried, unless an open ticket still names it: then it is suspended, so that no new ticket can name it and
        keep it from its end. One that was suspended for being empty and is so no more is cleared, at the latest when no ticket
        names it any longer: a pinned or kept entry cannot die of being empty. Returns what it did, if it ended or suspended it.
        """
        entry, row = stored.entry, stored.row
        if not entry.alive:
            return None
        mortal = entry.retention == "earned" and not entry.pinned
        if mortal and entry.balance <= 0:
            if stored.open_tickets == 0:
                condemned = self.condemned(stored)
                if condemned and self._awaited(stored):
                    return None
                self.bury(stored, "executed" if condemned else "starved")
                return "buried"
            if entry.standing == "active":
                self.tx.change_entry(row, standing="suspended")
                self.tx.append("suspend", entries=[row], data={"reason": "empty", "balance": entry.balance})
                return "suspended"
        elif entry.standing == "suspended" and (entry.balance > 0 or stored.open_tickets == 0) and self.testimony.active(stored):
            self.tx.change_entry(row, standing="active")
            self.tx.append("clear", entries=[row], data={"reason": "earned" if entry.balance > 0 else "kept", "balance": entry.balance})
        return None

    def condemned(self, stored: StoredEntry) -> bool:
        """Whether an empty entry dies for the harm that it did: harm is the better bet of its evidence, or (under `classic`) a decision
        of its own did measured harm at some time."""
        if not self.testimony.on:
            return stored.harmed
        # Of an active one that was never settled nothing is known, and nothing was borrowed either.
        known = stored.entry.last_settled_tick is not None or stored.entry.standing == "suspended"
        return known and not self.testimony.active(stored)

    def _awaited(self, stored: StoredEntry) -> bool:
        """Whether a burial for harm waits: second looks at its outcomes were asked for lately, and a second instrument was ever heard."""
        asked = self.tx.appealed(stored.row) if self.testimony.on and self.tx.counter("looks") else None
        return asked is not None and self.tx.counter("tick") - asked <= APPEAL_WAIT

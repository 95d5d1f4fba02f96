"""What readers said of entries, in a store file."""

from __future__ import annotations

from typing import Any, Final

from earnest.core.opinions import Opinions

_COLUMNS: Final = "given, made, helpful, unhelpful, outdated, day, today, asks"


def opinions_of(db: Any, row: int) -> Opinions | None:
    """See `earnest.protocols.Reading.opinions`."""
    found = db.execute(f"SELECT {_COLUMNS} FROM opinions WHERE entry = ?", (row,)).fetchone()
    if found is None:
        return None
    given, made, helpful, unhelpful, outdated, day, today, asks = found
    return Opinions(given, made, helpful, unhelpful, outdated, day, today, bool(asks))


def asking(db: Any, limit: int) -> list[int]:
    """See `earnest.protocols.Reading.outdated`."""
    sql = "SELECT o.entry FROM opinions o JOIN entries e USING (entry) WHERE o.asks = 1 AND e.standing <> 'dead' ORDER BY o.entry LIMIT ?"
    return [row for (row,) in db.execute(sql, (limit,))]


def put(db: Any, row: int, said: Opinions | None) -> None:
    """See `earnest.protocols.Writing.put_opinions`."""
    db.execute("DELETE FROM opinions WHERE entry = ?", (row,))
    if said is not None:
        db.execute(
            f"INSERT INTO opinions (entry, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (row, said.given, said.made, said.helpful, said.unhelpful, said.outdated, said.day, said.today, int(said.asks)),
        )

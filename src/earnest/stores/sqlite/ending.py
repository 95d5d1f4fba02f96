"""The end of many entries in one transaction: as many statements as for one, whatever their number."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from earnest.stores.sqlite import links
from earnest.stores.sqlite import vectors as vector_rows

KEPT: Final = {"executed": "guards", "superseded": "past"}
"""Where the terms go on after some deaths: what was executed guards its question, what was superseded is asked for by its time."""

_NAMED: Final = "(SELECT value FROM json_each(?))"
_OLD: Final = """
SELECT e.scope, e.kind, e.standing, e.retention = 'earned' AND e.pinned = 0, count(*), sum(e.balance), sum(e.rent_mark),
       sum(CASE WHEN t.text IS NULL OR t.text = '' THEN 0 ELSE length(t.text) - length(replace(t.text, ' ', '')) + 1 END)
       + sum(CASE WHEN t.cue IS NULL OR t.cue = '' THEN 0 ELSE length(t.cue) - length(replace(t.cue, ' ', '')) + 1 END)
FROM json_each(?) r CROSS JOIN entries e ON e.entry = r.value LEFT JOIN terms t ON t.rowid = e.entry
WHERE e.standing <> 'dead' GROUP BY 1, 2, 3, 4
"""
_END: Final = f"""
UPDATE entries SET standing = 'dead', cause = ?, balance = 0, rent_mark = ?, died_tick = ?, pinned = 0, starves_at = NULL,
                   fades_at = CASE WHEN retention = 'fading' THEN NULL ELSE fades_at END
WHERE entry IN {_NAMED} AND standing <> 'dead'
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """What some of the entries were that ended, of one scope, kind and standing; `pays` says that they paid rent."""

    scope: int
    kind: str
    standing: str
    pays: bool
    count: int
    balance: int
    marks: int
    terms: int


def end(db: Any, rows: Sequence[int], cause: str, index: int, tick: int) -> tuple[list[Ended], list[int]]:
    """Ends living entries: rows, index, vectors and links. Returns what they were, for the running numbers, and the rows that were pinned.

    `index` and `tick` are the rent's and the clock's. O(the entries and their terms and links).
    """
    named = json.dumps([*rows])
    ended = [Ended(r[0], r[1], r[2], bool(r[3]), *r[4:]) for r in db.execute(_OLD, (named,)).fetchall()]
    sql = f"SELECT entry FROM entries INDEXED BY entries_pinned WHERE pinned = 1 AND standing <> 'dead' AND entry IN {_NAMED}"
    pinned = [row for (row,) in db.execute(sql, (named,))]
    db.execute(_END, (cause, index, tick, named))
    if cause in KEPT:
        parts = f"(rowid, facets, text, cue) SELECT rowid, facets, text, cue FROM terms WHERE rowid IN {_NAMED}"
        db.execute(f"INSERT INTO {KEPT[cause]} {parts}", (named,))
    db.execute(f"DELETE FROM terms WHERE rowid IN {_NAMED}", (named,))
    vector_rows.ended(db, rows)
    links.drop_all(db, rows, found=True)
    return ended, pinned

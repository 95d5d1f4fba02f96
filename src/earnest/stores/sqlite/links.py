"""Links between entries in a store file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from earnest.core.events import micros, moment
from earnest.core.links import MOST, Link
from earnest.protocols import Damage

_LINK: Final = "SELECT l.entry, l.other, l.kind, l.weight, l.reason, l.stated, l.used, l.trips"
# Those of the living alone: what somebody stated outlives an entry's death, unseen, for the day that it comes back.
_LIVING: Final = "JOIN entries a ON a.entry = l.entry AND a.standing <> 'dead' JOIN entries b ON b.entry = l.other AND b.standing <> 'dead'"


def links_of(db: Any, rows: Sequence[int]) -> list[Link]:
    """See `earnest.protocols.Reading.links_of`."""
    sql = f"""{_LINK} FROM json_each(?1) r CROSS JOIN links l ON l.entry = r.value {_LIVING}
              UNION {_LINK} FROM json_each(?1) r CROSS JOIN links l ON l.other = r.value {_LIVING} ORDER BY 1, 2, 3"""
    return [_link(row) for row in db.execute(sql, (json.dumps([*rows]),))]


def stated(db: Any, row: int) -> list[Link]:
    """See `earnest.protocols.Reading.stated_links`."""
    sql = f"""{_LINK} FROM links l JOIN entries o ON o.entry = l.other AND o.standing <> 'dead' WHERE l.entry = ?1 AND l.stated = 1
              UNION {_LINK} FROM links l JOIN entries o ON o.entry = l.entry AND o.standing <> 'dead' WHERE l.other = ?1 AND l.stated = 1"""
    return [_link(found) for found in db.execute(sql, (row,))]


def every(db: Any, after: tuple[int, int, str], limit: int) -> list[Link]:
    """See `earnest.protocols.Reading.links`."""
    sql = f"{_LINK} FROM links l {_LIVING} WHERE (l.entry, l.other, l.kind) > (?, ?, ?) ORDER BY l.entry, l.other, l.kind LIMIT ?"
    return [_link(row) for row in db.execute(sql, (*after, limit))]


def _link(r: tuple[Any, ...]) -> Link:
    return Link(r[0], r[1], r[2], r[3], r[4], bool(r[5]), moment(r[6]), r[7])


# writing


def put(db: Any, link: Link, at: int) -> None:
    """See `earnest.protocols.Writing.put_link`."""
    one, other, kind = link.key
    db.execute(
        """INSERT INTO links (entry, other, kind, weight, reason, stated, used, trips) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (entry, other, kind) DO UPDATE SET weight = excluded.weight, reason = excluded.reason, stated = excluded.stated,
               used = excluded.used, trips = excluded.trips""",
        (one, other, kind, link.weight, link.reason, int(link.stated), at if link.used is None else micros(link.used), link.trips),
    )


def drop(db: Any, link: Link) -> bool:
    """See `earnest.protocols.Writing.drop_link`."""
    db.execute("DELETE FROM links WHERE entry = ? AND other = ? AND kind = ?", link.key)
    return bool(db.changes())


def drop_all(db: Any, rows: Sequence[int], *, found: bool = False) -> int:
    """See `earnest.protocols.Writing.drop_links`; with `found` only those that nobody stated."""
    named = json.dumps([*rows])
    only = " AND stated = 0" if found else ""
    db.execute(f"DELETE FROM links WHERE entry IN (SELECT value FROM json_each(?)){only}", (named,))
    dropped = int(db.changes())
    db.execute(f"DELETE FROM links WHERE other IN (SELECT value FROM json_each(?)){only}", (named,))
    return dropped + int(db.changes())


def drop_unused(db: Any, before: datetime, limit: int) -> int:
    """See `earnest.protocols.Writing.drop_unused_links`."""
    sql = "SELECT entry, other, kind FROM links WHERE stated = 0 AND used < ? ORDER BY used LIMIT ?"
    old = db.execute(sql, (micros(before), limit)).fetchall()
    db.executemany("DELETE FROM links WHERE entry = ? AND other = ? AND kind = ?", old)
    return len(old)


_ASTRAY: Final = """
SELECT l.entry, l.other, l.kind, a.id, b.id FROM links l LEFT JOIN entries a ON a.entry = l.entry LEFT JOIN entries b ON b.entry = l.other
WHERE a.entry IS NULL OR b.entry IS NULL OR a.scope <> b.scope OR (l.stated = 0 AND (a.standing = 'dead' OR b.standing = 'dead'))
   OR NOT (l.weight > 0 AND l.weight <= 1)
"""
_CROWDED: Final = """
SELECT e.id, count(*) AS held FROM (SELECT entry AS row FROM links UNION ALL SELECT other FROM links) l
JOIN entries e ON e.entry = l.row WHERE e.standing <> 'dead' GROUP BY l.row HAVING held > ?
"""


def damage(db: Any) -> Iterator[Damage]:
    """Links that lead nowhere, to a dead entry or into another scope, or weigh what no link can; entries with more than the bound."""
    for _, _, kind, one, other in db.execute(_ASTRAY):
        yield Damage("link damaged", f"a link ({kind}) between {one or 'nothing'} and {other or 'nothing'} cannot be", True)
    # Stated links of the dead come back with them, so that a crowd of them may be a little larger for a while.
    for entry_id, held in db.execute(_CROWDED, (2 * MOST,)):
        yield Damage("link damaged", f"entry {entry_id} has {held} links, at most {MOST} are kept", True)


def repair(db: Any) -> None:
    """Take away links that cannot be; those that can be found are found again."""
    astray = [row[:3] for row in db.execute(_ASTRAY).fetchall()]
    db.executemany("DELETE FROM links WHERE entry = ? AND other = ? AND kind = ?", astray)
    for (row,) in db.execute(
        "SELECT l.row FROM (SELECT entry AS row FROM links UNION ALL SELECT other FROM links) l GROUP BY l.row HAVING count(*) > ?",
        (2 * MOST,),
    ).fetchall():
        drop_all(db, [row], found=True)

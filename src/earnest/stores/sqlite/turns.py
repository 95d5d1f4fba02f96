"""Where entries stand in time and in conversations, read from a store file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from earnest.core.context import Placed, asks, speaker_of
from earnest.core.events import micros, moment
from earnest.core.filters import Filter
from earnest.stores.sqlite.filtering import conditions, scope_rows

MAX_SCOPES: Final = 16
"""Scopes whose time is looked at one by one; a filter over more of them finds nothing by time alone."""

# How much of a text's end is looked at for a question mark: a picture's caption may stand behind it.
_ENDING: Final = 400

# One turn in the direction of `sign`, so many of the same moment or of another one away. Two queries, because an index reads a range of
# only one column: together they take as long in a session of thousands as in one of ten.
_SAME: Final = """(
    SELECT p.entry FROM entries p WHERE p.scope = e.scope AND p.session = e.session AND p.session IS NOT NULL AND p.standing <> 'dead'
      AND p.happened = e.happened AND p.entry {sign} e.entry ORDER BY p.entry {order} LIMIT 1 OFFSET {step})"""
_OTHER: Final = """(
    SELECT p.entry FROM entries p WHERE p.scope = e.scope AND p.session = e.session AND p.session IS NOT NULL AND p.standing <> 'dead'
      AND p.happened {sign} e.happened ORDER BY p.happened {order}, p.entry {order} LIMIT 1 OFFSET {step})"""


def _near(sign: str, order: str, reach: int) -> list[str]:
    """SQL for the rows of the turns in one direction, nearest first."""
    same = [_SAME.format(sign=sign, order=order, step=step) for step in range(reach)]
    other = [_OTHER.format(sign=sign, order=order, step=step) for step in range(reach)]
    made = []
    for step in range(reach):
        # Of the turns of another moment as many are passed over as there were missing of the same one.
        choices = " ".join(f"WHEN {same[step - back]} IS NOT NULL THEN {other[back - 1]}" for back in range(1, step + 1))
        rest = f"CASE {choices} ELSE {other[step]} END" if choices else other[step]
        made.append(f"coalesce({same[step]}, {rest})")
    return made


def placed(db: Any, rows: Sequence[int], chosen: Filter, reach: int) -> list[Placed]:
    """See `earnest.protocols.Reading.placed`."""
    if not rows:
        return []
    where, values = conditions(chosen)
    near = [*_near("<", "DESC", reach), *_near(">", "ASC", reach)]
    speaker = "json_extract(e.metadata, '$.speaker')"
    columns = ", ".join([f"e.entry, e.happened, e.session, {speaker}, substr(e.text, 1, 80), substr(e.text, -?)", *near])
    condition = " AND ".join(where) or "1"
    # CROSS JOIN: the rows lead, whatever the conditions are.
    sql = f"SELECT {columns} FROM json_each(?) r CROSS JOIN entries e ON e.entry = r.value WHERE {condition}"
    made = []
    for row, happened, session, named, head, ending, *around in db.execute(sql, (_ENDING, json.dumps(list(rows)), *values)):
        when = None if happened is None else moment(happened)
        if session is None:
            made.append(Placed(row, when))
            continue
        before, after = (tuple(r for r in part if r is not None) for part in (around[:reach], around[reach:]))
        made.append(Placed(row, when, session, speaker_of(named, head), asks(ending), before, after))
    return made


def within(db: Any, chosen: Filter, start: datetime, end: datetime, limit: int) -> list[int]:
    """See `earnest.protocols.Reading.within`."""
    if chosen.scopes is not None:
        scopes = scope_rows(db, chosen.scopes)
    else:
        scopes = [row for (row,) in db.execute("SELECT scope FROM scopes WHERE alive > 0 LIMIT ?", (MAX_SCOPES + 1,))]
    if len(scopes) > MAX_SCOPES:
        return []
    where, values = conditions(chosen)
    condition = " AND ".join(["e.scope = ?", "e.happened >= ?", "e.happened < ?", "e.standing <> 'dead'", *where])
    sql = f"SELECT e.happened, e.entry FROM entries e WHERE {condition} ORDER BY e.happened DESC, e.entry DESC LIMIT ?"
    found: list[tuple[int, int]] = []
    for scope in scopes:
        found += db.execute(sql, (scope, micros(start), micros(end), *values, limit)).fetchall()
    return [row for _, row in sorted(found, reverse=True)[:limit]]

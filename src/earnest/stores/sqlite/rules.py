"""Rules: their status, their trials, and what gives reason for new ones. Parts of the reading and the writing of a store file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from earnest.core.events import micros, moment
from earnest.core.gate import Terms
from earnest.core.rules import Experience, StoredRule, StoredTrial
from earnest.core.uplift import Draw, SettledDraw
from earnest.protocols import Damage
from earnest.stores.sqlite.snapshot import Snapshot

_RULE: Final = "SELECT r.entry, r.status, r.event, r.ends, r.hits_before, r.heard, r.level, r.alarm FROM rules r "
_TRIAL: Final = "SELECT trial, entry, alpha, decisions, worth, bound, meter, share, begun, ended, verdict FROM trials "
_COLUMNS: Final = frozenset(("status", "event", "ends", "hits_before", "heard", "level", "alarm"))
_COUNTED: Final = """
FROM draws d CROSS JOIN settlements s ON s.ticket = d.ticket CROSS JOIN meters m ON m.meter = s.meter
WHERE d.trial = ?1 AND s.tier = 'measured' AND (m.revoked IS NULL OR s.event < m.revoked)
"""
_DRAWN: Final = f"""
SELECT d.entry, d.arm, d.p_shown, d.p_alone, d.p_all, d.rival, d.trial, s.delta, s.scale, s.tier
{_COUNTED} AND (?2 IS NULL OR m.name = ?2) ORDER BY s.event
"""


class RuleReading(Snapshot):
    """What a snapshot knows of rules; the reading half of `earnest.protocols.Reading`'s section on them."""

    def rules(self, rows: Sequence[int]) -> dict[int, StoredRule]:
        """See `earnest.protocols.Reading.rules`."""
        found = self._db.execute(_RULE + "WHERE r.entry IN (SELECT value FROM json_each(?))", (json.dumps(list(rows)),))
        return {row[0]: _rule(row) for row in found}

    def rule_counts(self) -> Mapping[str, int]:
        """See `earnest.protocols.Reading.rule_counts`."""
        sql = """SELECT r.status, count(*) FROM rules r CROSS JOIN entries e ON e.entry = r.entry
                 WHERE e.standing <> 'dead' GROUP BY r.status ORDER BY r.status"""
        return dict(self._db.execute(sql).fetchall())

    def rules_ending(self, by: datetime, limit: int) -> list[StoredRule]:
        """See `earnest.protocols.Reading.rules_ending`."""
        found = self._db.execute(_RULE + "WHERE r.ends IS NOT NULL AND r.ends <= ? ORDER BY r.ends LIMIT ?", (micros(by), limit))
        return [_rule(row) for row in found]

    def trial(self, number: int) -> StoredTrial | None:
        """See `earnest.protocols.Reading.trial`."""
        found = self._db.execute(_TRIAL + "WHERE trial = ?", (number,)).fetchone()
        return _trial(found) if found else None

    def trials_of(self, entry_row: int) -> list[StoredTrial]:
        """See `earnest.protocols.Reading.trials_of`."""
        return [_trial(row) for row in self._db.execute(_TRIAL + "WHERE entry = ? ORDER BY trial", (entry_row,))]

    def trial_counts(self) -> tuple[int, int]:
        """See `earnest.protocols.Reading.trial_counts`."""
        made, proved = self._db.execute("SELECT count(*), coalesce(sum(verdict = 'proved'), 0) FROM trials").fetchone()
        return int(made), int(proved)

    def trial_draws(self, number: int, meter: str | None) -> list[SettledDraw]:
        """See `earnest.protocols.Reading.trial_draws`."""
        return [SettledDraw(Draw(*row[:7]), *row[7:]) for row in self._db.execute(_DRAWN, (number, meter))]

    def trial_outcomes(self, number: int, meter: str | None) -> int:
        """See `earnest.protocols.Reading.trial_outcomes`."""
        sql = f"SELECT count(*) {_COUNTED} AND (?2 IS NULL OR m.name = ?2)"
        return int(self._db.execute(sql, (number, meter)).fetchone()[0])

    def trial_lost(self, number: int) -> tuple[int, int]:
        """See `earnest.protocols.Reading.trial_lost`."""
        sql = """SELECT coalesce(sum(d.arm = 'shown'), 0), coalesce(sum(d.arm <> 'shown'), 0)
                 FROM draws d CROSS JOIN tickets t ON t.ticket = d.ticket
                 WHERE d.trial = ? AND t.state IN ('abandoned', 'expired')"""
        shown, withheld = self._db.execute(sql, (number,)).fetchone()
        return int(shown), int(withheld)

    def experiences(self, scopes: Sequence[str] | None, doubtful: float, valued: float, recalled: int, limit: int) -> list[Experience]:
        """See `earnest.protocols.Reading.experiences`."""
        # Claimed outcomes are left out: an agent does not give its own work a reason to become a rule.
        doubt = "(e.confidence < ?2 OR (e.origin = 'turn' AND json_extract(e.metadata, '$.type') = 'error'))"
        sql = f"""
            WITH said AS (
                SELECT h.entry, sum(s.delta < 0) AS bad, sum(s.delta > 0) AS good FROM settlements s
                CROSS JOIN shares h ON h.ticket = s.ticket CROSS JOIN meters m ON m.meter = s.meter
                WHERE h.role IN ('deciding', 'cited') AND s.tier <> 'claimed' AND (m.revoked IS NULL OR s.event < m.revoked)
                GROUP BY h.entry)
            SELECT e.entry, coalesce(x.bad, 0), coalesce(x.good, 0), {doubt}, e.importance >= ?3 AND e.recalls >= ?4
            FROM entries e LEFT JOIN said x ON x.entry = e.entry
            WHERE e.kind <> 'rule' AND (e.standing <> 'dead' OR e.cause = 'executed')
              AND (?1 IS NULL OR e.scope IN (SELECT scope FROM scopes WHERE name IN (SELECT value FROM json_each(?1))))
              AND (x.bad > 0 OR x.good > 0 OR {doubt} OR (e.importance >= ?3 AND e.recalls >= ?4))
            ORDER BY e.entry DESC LIMIT ?5"""
        named = None if scopes is None else json.dumps(list(scopes))
        found = self._db.execute(sql, (named, doubtful, valued, recalled, limit))
        return [Experience(row, bad, good, bool(weak), bool(strong)) for row, bad, good, weak, strong in found]


class RuleWriting(RuleReading):
    """What a transaction writes of rules; the writing half of `earnest.protocols.Writing`'s section on them."""

    def change_rule(self, row: int, **columns: Any) -> None:
        """See `earnest.protocols.Writing.change_rule`."""
        unknown = set(columns) - _COLUMNS
        if unknown:
            raise TypeError(f"not columns of a rule that can change: {sorted(unknown)}")
        values = [micros(value) if isinstance(value, datetime) else value for value in columns.values()]
        self._db.execute(f"UPDATE rules SET {', '.join(f'{name} = ?' for name in columns)} WHERE entry = ?", (*values, row))

    def insert_trial(self, row: int, terms: Terms, begun: int) -> int:
        """See `earnest.protocols.Writing.insert_trial`."""
        self._db.execute(
            "INSERT INTO trials (entry, begun, alpha, decisions, worth, bound, share, meter) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (row, begun, terms.alpha, terms.decisions, terms.worth, terms.bound, terms.share, terms.meter),
        )
        return int(self._db.last_insert_rowid())

    def end_trial(self, number: int, event: int | None, verdict: str | None) -> None:
        """See `earnest.protocols.Writing.end_trial`."""
        self._db.execute("UPDATE trials SET ended = ?, verdict = ? WHERE trial = ?", (event, verdict, number))


def born(db: Any, row: int) -> None:
    """An entry of kind rule was written: it waits for a person or a trial, whoever wrote it and however."""
    db.execute("INSERT INTO rules (entry) VALUES (?)", (row,))


def _rule(r: tuple[Any, ...]) -> StoredRule:
    return StoredRule(r[0], r[1], r[2], None if r[3] is None else moment(r[3]), r[4], r[5], r[6], r[7])


def _trial(r: tuple[Any, ...]) -> StoredTrial:
    return StoredTrial(r[0], r[1], Terms(*r[2:8]), r[8], r[9], r[10])


def damage(db: Any) -> Iterator[Damage]:
    """Rules against what the log says of them, which is the truth."""
    sql = """SELECT e.id, e.kind, r.entry, r.status, v.kind, v.entries, json_extract(v.data, '$.status'), e.entry
             FROM entries e LEFT JOIN rules r ON r.entry = e.entry LEFT JOIN events v ON v.event = r.event
             WHERE (e.kind = 'rule') <> (r.entry IS NOT NULL) OR r.entry IS NOT NULL"""
    for entry_id, kind, rule, status, event, entries, said, row in db.execute(sql):
        if (kind == "rule") != (rule is not None):
            yield Damage("rule differs", f"entry {entry_id} is of kind {kind} and has {'a' if rule is not None else 'no'} status as a rule")
        elif event is None and status != "pending":
            yield Damage("rule differs", f"rule {entry_id} is {status}, and no event made it so")
        elif event is not None and (event != "rule" or said != status or json.loads(entries) != [row]):
            yield Damage("rule differs", f"rule {entry_id} is {status}, the log says {said or event}")
    sql = """SELECT e.id, r.status, count(t.trial) FROM rules r JOIN entries e ON e.entry = r.entry
             LEFT JOIN trials t ON t.entry = r.entry AND t.ended IS NULL GROUP BY r.entry
             HAVING (r.status = 'trial') <> (count(t.trial) > 0) OR count(t.trial) > 1"""
    for entry_id, status, running in db.execute(sql):
        yield Damage("rule differs", f"rule {entry_id} is {status}, and {running} of its trials are running")

"""Finding entries by their words, in the keyword index of a store file. It answers as if whole only where it is whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Final

import apsw

from earnest.core.analysis import Question
from earnest.core.filters import Filter
from earnest.core.ranking import Candidate, Statistics, candidates_of, telling
from earnest.errors import IndexDamaged
from earnest.stores.sqlite.columns import facet, quoted
from earnest.stores.sqlite.filtering import conditions, scope_rows
from earnest.stores.sqlite.snapshot import Snapshot

_BROKEN: Final = "the keyword index is damaged ({0}); the entries are whole: `earnest check --repair` rebuilds it from them"


class _Telling:
    """Turns what SQLite finds wrong with the index into the error that tells the way out. (A generator would cost more than some reads.)"""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, apsw.CorruptError | apsw.SQLError):
            raise IndexDamaged(_BROKEN.format(error)) from error


_TELLING: Final = _Telling()


def _words(terms: Iterable[str], how: str = "OR") -> str:
    """What the index is asked for entries that hold any of these terms, or with "AND" all of them."""
    return f"{{text cue}} : ({f' {how} '.join(quoted(term) for term in terms)})"


def _facets(kind: str, values: Iterable[object]) -> str:
    return f"facets : ({' OR '.join(quoted(facet(kind, value)) for value in values)})"


class KeywordReading(Snapshot):
    """Part of a reader; implements `earnest.protocols.Reading`."""

    def candidates(self, question: Question, chosen: Filter, limit: int, share: float = 0.0) -> tuple[list[Candidate], Statistics]:
        scopes, statistics = self._statistics(question, chosen)
        terms = telling(question, statistics, share)
        if not terms or (scopes is not None and not scopes):
            return [], statistics
        match = _words(terms)
        # A facet's list is as long as the store: it is read only where it leaves something out.
        if scopes is not None and statistics.entries < self.living_count():
            match = f"({match}) AND {_facets('s', scopes)}"
        if chosen.kinds is not None:
            match = f"({match}) AND {_facets('k', chosen.kinds)}"
        elif not chosen.rules and self.counter("kind:rule") > 0:
            match = f"({match}) NOT {_facets('k', ['rule'])}"
        where, values = conditions(chosen, indexed=True)
        # CROSS JOIN: the index leads, so that it also sorts; without further conditions the entries need not be looked at at all.
        entries = "CROSS JOIN entries e ON e.entry = t.rowid" if where else ""
        condition = " AND ".join(["terms MATCH ?", *where])
        sql = f"SELECT t.rowid FROM terms t {entries} WHERE {condition} ORDER BY rank LIMIT ?"
        with _TELLING:
            rows = [row for (row,) in self._db.execute(sql, (match, *values, limit))]
        if not rows:
            problem = self.index_problem()
            if problem:
                raise IndexDamaged(_BROKEN.format(problem))
        held = {candidate.row: candidate for candidate in self.indexed(rows)}
        if len(held) < len(rows):
            raise IndexDamaged(_BROKEN.format("it finds entries whose terms it does not hold"))
        return [held[row] for row in rows], statistics

    def guards(self, question: Question, chosen: Filter, limit: int, share: float = 0.0) -> tuple[list[Candidate], Statistics]:
        return self._among_dead("guards", "executed", question, chosen, limit, share)

    def executed(self, chosen: Filter, limit: int) -> list[Candidate]:
        where, values = conditions(replace(chosen, standings=("dead",)))
        condition = " AND ".join(["e.cause = 'executed'", *where])
        # From the table that the index keeps its texts in, which has them in the order of their rows.
        latest = "(SELECT id, c1, c2 FROM guards_content ORDER BY id DESC LIMIT ?)"
        sql = f"SELECT g.id, g.c1, g.c2 FROM {latest} g CROSS JOIN entries e ON e.entry = g.id WHERE {condition} ORDER BY g.id DESC"
        with _TELLING:
            return candidates_of(self._db.execute(sql, (limit, *values)).fetchall())

    def past(self, question: Question, chosen: Filter, limit: int, share: float = 0.0) -> tuple[list[Candidate], Statistics]:
        return self._among_dead("past", "superseded", question, chosen, limit, share)

    def _among_dead(
        self, index: str, cause: str, question: Question, chosen: Filter, limit: int, share: float
    ) -> tuple[list[Candidate], Statistics]:
        # Asked inside transactions too, where the index of the living does not yet say how many it holds.
        scopes, statistics = self._statistics(question, chosen, whole=False)
        terms = telling(question, statistics, share)
        if not terms or (scopes is not None and not scopes):
            return [], statistics
        where, values = conditions(replace(chosen, standings=("dead",)))
        condition = " AND ".join([f"{index} MATCH ?", *where, "e.cause = ?"])
        joined = f"{index} g CROSS JOIN entries e ON e.entry = g.rowid"
        sql = f"SELECT g.rowid, g.text, g.cue FROM {joined} WHERE {condition} ORDER BY g.rank LIMIT ?"
        with _TELLING:
            return candidates_of(self._db.execute(sql, (_words(terms), *values, cause, limit)).fetchall()), statistics

    def _statistics(self, question: Question, chosen: Filter, *, whole: bool = True) -> tuple[list[int] | None, Statistics]:
        """The scopes to look in (None for all) and the statistics of exactly those: a small scope ranks as if it were alone.

        `whole` refuses to answer from an index that holds fewer entries than live.
        """
        total = self.living_count()
        indexed = self._indexed() if whole else total
        if indexed != total:
            raise IndexDamaged(_BROKEN.format(f"it holds {indexed} entries, {total} are alive"))
        if chosen.scopes is None:
            scopes, alive, length = None, total, self.counter("terms")
        else:
            sql = "SELECT scope, alive, terms FROM scopes WHERE name IN (SELECT value FROM json_each(?))"
            picked = self._db.execute(sql, (json.dumps([*chosen.scopes]),)).fetchall()
            scopes = [row[0] for row in picked]
            alive, length = sum(row[1] for row in picked), sum(row[2] for row in picked)
        with _TELLING:
            # Where the scopes hold most of the store, the counts of the whole store are theirs, near enough; elsewhere they are counted.
            counts = self._counts(question.terms) if 2 * alive >= total else self._counts_in(scopes or (), question.terms)
        holding = {term: min(counts.get(term, 0), alive) for term in question.terms}
        return scopes, Statistics(alive, length / alive if alive else 0.0, holding)

    def _counts(self, terms: Sequence[str]) -> Mapping[str, int]:
        """How many living entries of the store hold each of these terms, perhaps with other terms. One statement."""
        known = {} if self._holding is None else self._holding
        asked = [term for term in terms if term not in known]
        if asked:
            sql = "SELECT v.term, v.doc FROM json_each(?) j CROSS JOIN terms_known v WHERE v.term = j.value"
            found = dict(self._db.execute(sql, (json.dumps(asked),)).fetchall())
            known.update((term, found.get(term, 0)) for term in asked)
        return known

    def _counts_in(self, scopes: Sequence[int], terms: Sequence[str]) -> Mapping[str, int]:
        """How many living entries of these scopes hold each of these terms."""
        if not scopes:
            return {}
        sql, inside = "SELECT count(*) FROM terms WHERE terms MATCH ?", _facets("s", scopes)
        return {term: self._db.execute(sql, (f"{_words([term])} AND {inside}",)).fetchone()[0] for term in terms}

    def known(self, terms: Sequence[str], chosen: Filter) -> frozenset[str]:
        with _TELLING:
            counts = self._counts(terms)
            held = [term for term in terms if counts[term]]
            if chosen.scopes is None or not held:
                return frozenset(held)
            sql = "SELECT scope, alive FROM scopes WHERE name IN (SELECT value FROM json_each(?))"
            picked = self._db.execute(sql, (json.dumps([*chosen.scopes]),)).fetchall()
            if not picked or sum(alive for _, alive in picked) >= self.living_count():
                return frozenset(held if picked else ())
            sql, inside = "SELECT 1 FROM terms WHERE terms MATCH ? LIMIT 1", _facets("s", [scope for scope, _ in picked])
            return frozenset(term for term in held if self._db.execute(sql, (f"{_words([term])} AND {inside}",)).fetchone())

    def vocabulary(self, start: str, limit: int) -> list[str]:
        sql = "SELECT term FROM terms_known WHERE term >= ? AND term < ? ORDER BY term LIMIT ?"
        with _TELLING:
            return [term for (term,) in self._db.execute(sql, (start, start + "\U0010ffff", limit))]

    def holding(self, terms: Sequence[str], scope: str, below: int, limit: int) -> list[int]:
        scopes = scope_rows(self._db, [scope])
        if not scopes or not terms:
            return []
        sql = "SELECT rowid FROM terms WHERE terms MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?"
        with _TELLING:
            return [row for (row,) in self._db.execute(sql, (f"{_words(terms, 'AND')} AND {_facets('s', scopes)}", below, limit))]

    def indexed(self, rows: Sequence[int]) -> list[Candidate]:
        if not rows:
            return []
        # From the table that the index keeps its texts in: by way of the index each row costs twice as much.
        sql = "SELECT id, c1, c2 FROM terms_content WHERE id IN (SELECT value FROM json_each(?))"
        with _TELLING:
            return candidates_of(self._db.execute(sql, (json.dumps([*rows]),)).fetchall())

    def _indexed(self) -> int:
        """How many entries the keyword index says it holds: the first number of FTS5's record of averages. O(1)."""
        try:
            found = self._db.execute("SELECT block FROM terms_data WHERE id = 1").fetchone()
        except apsw.SQLError:
            return 0
        made = 0
        # SQLite's variable-length integer: seven bits a byte, the highest first, while the top bit is set.
        for byte in bytes(found[0])[:9] if found else b"":
            made = made << 7 | byte & 0x7F
            if byte < 0x80:
                break
        return made

    def index_problem(self) -> str | None:
        alive, indexed = self.living_count(), self._indexed()
        if indexed != alive:
            return f"it holds {indexed} entries, {alive} are alive"
        if not alive:
            return None
        # A few living entries, old and new: each must be in the index under its own terms.
        sample = self._db.execute("SELECT entry FROM entries WHERE standing <> 'dead' ORDER BY entry LIMIT 2").fetchall()
        sample += self._db.execute("SELECT entry FROM entries WHERE standing <> 'dead' ORDER BY entry DESC LIMIT 2").fetchall()
        try:
            for (row,) in sample:
                held = self._db.execute("SELECT text FROM terms WHERE rowid = ?", (row,)).fetchone()
                if held is None:
                    return f"entry {row} is missing from it"
                if not held[0]:
                    continue
                match = f"text : {quoted(held[0].split(' ', 1)[0])}"
                if not self._db.execute("SELECT 1 FROM terms WHERE terms MATCH ? AND rowid = ?", (match, row)).fetchone():
                    return f"entry {row} is not found by its own words"
        except (apsw.CorruptError, apsw.SQLError) as error:
            return str(error)
        return None

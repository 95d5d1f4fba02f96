"""Writing one transaction of a store file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import apsw

from earnest.core.amounts import ACCOUNTS
from earnest.core.entry import Entry, NewEntry, StoredEntry
from earnest.core.events import GENESIS, Posting, canonical, chained, micros, moment
from earnest.core.links import Link
from earnest.core.opinions import Opinions
from earnest.protocols import Author, Mentions, StoredDocument
from earnest.stores.sqlite import archives, ending, erasing, fading, links, moving, opinions, seals
from earnest.stores.sqlite import vectors as vector_rows
from earnest.stores.sqlite.columns import facet
from earnest.stores.sqlite.decisions_writing import DecisionWriting
from earnest.stores.sqlite.ending import KEPT
from earnest.stores.sqlite.replies import ReplyWriting
from earnest.stores.sqlite.rules import RuleWriting
from earnest.stores.sqlite.rules import born as rule_born
from earnest.stores.sqlite.words_writing import WordWriting

_COLUMNS: Final = frozenset(
    (
        "importance", "confidence", "retention", "pinned", "strength", "recalls", "standing", "cause", "heir", "valid_from", "valid_to",
        "last_settled_tick", "died_tick", "balance", "rent_mark", "harmed", "probation", "log_odds", "metadata", "last_recalled",
    )
)  # fmt: skip


class SqliteWriting(DecisionWriting, WordWriting, RuleWriting, ReplyWriting):
    """One open write transaction; implements `earnest.protocols.Writing`. Running numbers are kept here and written once, at the end."""

    def __init__(self, connection: apsw.Connection, author: Author) -> None:
        super().__init__(connection)
        self.author = author
        self._at = micros(author.at)
        self._head: tuple[int, bytes] | None = None
        self._scopes: dict[str, int] = {}
        self._sources: dict[str, int] = {}
        self._scope_changes: dict[int, list[int]] = {}
        self._born: list[int] = []
        self._returned: list[int] = []
        self._unsealed: set[int] = set()

    def flush(self) -> None:
        """Write what was kept back until the end of the transaction."""
        if self._changed:
            counters = self.counters()
            # One statement for all: a dozen change with every write.
            said = [value for name in sorted(self._changed) for value in (name, counters[name])]
            rows = ", ".join(["(?, ?)" for _ in self._changed])
            self._db.execute(
                f"INSERT INTO counters (name, value) VALUES {rows} ON CONFLICT (name) DO UPDATE SET value = excluded.value", said
            )
        for scope, (alive, terms) in self._scope_changes.items():
            self._db.execute("UPDATE scopes SET alive = alive + ?, terms = terms + ? WHERE scope = ?", (alive, terms, scope))
        self._changed.clear()
        self._scope_changes.clear()
        if self._unsealed:
            seals.seal_entries(self._db, self._unsealed)
            self._unsealed.clear()

    def set_setting(self, name: str, value: Any) -> None:
        said = json.dumps(value, allow_nan=False)
        self._db.execute(
            "INSERT INTO settings (name, value, seal) VALUES (?, ?, ?) "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value, seal = excluded.seal",
            (name, said, seals.seal_of(name, said)),
        )

    # entries

    def _scope(self, name: str) -> int:
        found = self._scopes.get(name)
        if found is None:
            row = self._db.execute("SELECT scope FROM scopes WHERE name = ?", (name,)).fetchone()
            if row is None:
                self._db.execute("INSERT INTO scopes (name) VALUES (?)", (name,))
                row = (self._db.last_insert_rowid(),)
            found = self._scopes[name] = int(row[0])
        return found

    def _living(self, scope: int, kind: str, alive: int, terms: int) -> None:
        change = self._scope_changes.setdefault(scope, [0, 0])
        change[0] += alive
        change[1] += terms
        self.bump("terms", terms)
        self.bump(f"kind:{kind}", alive)

    def insert_entry(
        self, new: NewEntry, *, salt: bytes, digest: bytes, text_terms: Sequence[str], cue_terms: Sequence[str], balance: int = 0
    ) -> StoredEntry:
        scope, index, tick = self._scope(new.scope), self.counter("rent_index"), self.counter("tick")
        created = self._at if new.created == "now" else None if new.created is None else micros(new.created)
        begins, ends = None if new.valid_from is None else micros(new.valid_from), None if new.valid_to is None else micros(new.valid_to)
        pays, metadata = new.retention == "earned", canonical(new.metadata)
        seal = seals.at_birth(new, created, begins, ends, tick, metadata)
        self._db.execute(
            """INSERT INTO entries (id, scope, kind, origin, text, cue, salt, twin, importance, confidence, retention, strength, created,
                                    valid_from, valid_to, born_tick, balance, rent_mark, starves_at, probation, version, metadata, seal)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                new.id, scope, new.kind, new.origin, new.text, new.cue, salt, digest, new.importance, new.confidence, new.retention,
                new.strength, created, begins, ends, tick, balance, index, index + balance if pays else None,
                new.probation, new.version, metadata, seal,
            ),
        )  # fmt: skip
        row = self._db.last_insert_rowid()
        self._born.append(row)
        if seal is None:
            self._unsealed.add(row)
        if new.kind == "rule":
            rule_born(self._db, row)
        self._link_sources(row, new.sources, 0)
        if new.tags:
            self.set_tags(row, new.tags)
        if new.retention == "fading":
            self.date_fading([row])
        self.bump("alive", 1)
        self._living(scope, new.kind, 1, len(text_terms) + len(cue_terms))
        if pays:
            self.bump("payers", 1)
            self.bump("held", balance)
            self.bump("marks", index)
        self._put_terms(row, scope, new.kind, text_terms, cue_terms)
        entry = Entry(
            id=new.id, text=new.text, cue=new.cue, kind=new.kind, origin=new.origin, sources=new.sources, scope=new.scope,
            importance=new.importance, confidence=new.confidence, retention=new.retention, pinned=False, strength=new.strength,
            balance=balance, standing="active", cause=None, created=None if created is None else moment(created),
            valid_from=new.valid_from, valid_to=new.valid_to,
            born_tick=tick, last_settled_tick=None, recalls=0, lineage=(), tags=new.tags, metadata=new.metadata, version=new.version,
        )  # fmt: skip
        return StoredEntry(entry, row, balance, index, 0, False, new.probation)

    def change_entry(self, row: int, **columns: Any) -> None:
        unknown = set(columns) - _COLUMNS
        if unknown:
            raise TypeError(f"not columns of an entry that can change: {sorted(unknown)}")
        old = self._db.execute(
            "SELECT scope, kind, standing, cause, retention, pinned, balance, rent_mark FROM entries WHERE entry = ?", (row,)
        ).fetchone()
        scope, kind, standing, cause, retention, pinned, balance, mark = old
        if cause is not None and columns.get("standing", standing) != "dead":
            # Only then: whatever writes this column has SQLite look at an index and a constraint more.
            columns.setdefault("cause", None)
        stands, retained = columns.get("standing", standing), columns.get("retention", retention)
        pinned_now = int(columns.get("pinned", pinned))
        if fading.begins_anew((standing, retention, pinned), (stands, retained, pinned_now)):
            columns.setdefault("last_recalled", self._at)
        if stands == "dead" and retention == "fading":
            columns["fades_at"] = None
        holds, marked = columns.get("balance", balance), columns.get("rent_mark", mark)
        paid = standing != "dead" and retention == "earned" and not pinned
        pays = stands != "dead" and retained == "earned" and not pinned_now
        self.bump("payers", pays - paid)
        self.bump("held", pays * holds - paid * balance)
        self.bump("marks", pays * marked - paid * mark)
        sets = [f"{name} = ?" for name in columns]
        values = [int(value) if isinstance(value, bool) else value for value in columns.values()]
        starves_at = holds + marked if pays else None
        if starves_at != (balance + mark if paid else None):
            # Only if it moves: its index would be written again for the same value.
            sets.append("starves_at = ?")
            values.append(starves_at)
        if sets:
            self._db.execute(f"UPDATE entries SET {', '.join(sets)} WHERE entry = ?", (*values, row))
        # Whoever dies loses the pin, and nearly nobody had one.
        if seals.SEALED & columns.keys() - ({"pinned"} if pinned_now == pinned else set()):
            self._unsealed.add(row)
        if stands != "dead" and "fading" in (retention, retained) and fading.TURNS & columns.keys():
            self.date_fading([row])
        if standing == "dead" == stands and cause in KEPT and cause != columns.get("cause", cause):
            self._drop_kept(cause, row)
        if stands != standing:
            self._moved(row, scope, kind, standing, cause, stands, columns.get("cause"))

    def end_entries(self, rows: Sequence[int], cause: str) -> None:
        ended, pinned = ending.end(self._db, rows, cause, self.counter("rent_index"), self.counter("tick"))
        self._unsealed.update(pinned)
        for were in ended:
            if were.pays:
                for name, by in (("payers", were.count), ("held", were.balance), ("marks", were.marks)):
                    self.bump(name, -by)
            self.bump("suspended" if were.standing == "suspended" else "alive", -were.count)
            self.bump("dead", were.count)
            self.bump(f"dead:{cause}", were.count)
            self._living(were.scope, were.kind, -were.count, -were.terms)

    def date_fading(self, rows: Sequence[int]) -> None:
        fading.date(self._db, self.settings(), rows)

    def put_link(self, link: Link) -> None:
        links.put(self._db, link, self._at)

    def drop_link(self, link: Link) -> bool:
        return links.drop(self._db, link)

    def drop_links(self, rows: Sequence[int]) -> int:
        return links.drop_all(self._db, rows)

    def drop_unused_links(self, before: datetime, limit: int) -> int:
        return links.drop_unused(self._db, before, limit)

    @property
    def returned(self) -> Sequence[int]:
        return self._returned

    def put_opinions(self, row: int, said: Opinions | None) -> None:
        opinions.put(self._db, row, said)

    def _moved(self, row: int, scope: int, kind: str, old: str, old_cause: str | None, new: str, cause: str | None) -> None:
        names = {"active": "alive", "suspended": "suspended", "dead": "dead"}
        self.bump(names[old], -1)
        self.bump(names[new], 1)
        if old == "dead":
            if old_cause in KEPT:
                self._drop_kept(old_cause, row)
            self.bump(f"dead:{old_cause}", -1)
            self._living(scope, kind, 1, 0)
            vector_rows.stands(self._db, row, 1)
            self._returned.append(row)
        if new == "dead":
            self.bump(f"dead:{cause}", 1)
            if cause in KEPT:
                self._keep(cause, row)
            length = self._drop_terms(row)
            self._living(scope, kind, -1, -length)
            vector_rows.stands(self._db, row, -1)
            links.drop_all(self._db, [row], found=True)

    def _keep(self, cause: str, row: int) -> None:
        """Takes the terms of an entry that died of a cause over into their part of the index."""
        parts = "(rowid, facets, text, cue) SELECT rowid, facets, text, cue FROM terms WHERE rowid = ?"
        self._db.execute(f"INSERT INTO {KEPT[cause]} {parts}", (row,))

    def _drop_kept(self, cause: str, row: int) -> None:
        self._db.execute(f"DELETE FROM {KEPT[cause]} WHERE rowid = ?", (row,))

    def _put_terms(self, row: int, scope: int, kind: str, text_terms: Sequence[str], cue_terms: Sequence[str]) -> None:
        self._db.execute(
            "INSERT INTO terms (rowid, facets, text, cue) VALUES (?, ?, ?, ?)",
            (row, f"{facet('s', scope)} {facet('k', kind)}", " ".join(text_terms), " ".join(cue_terms)),
        )

    def _drop_terms(self, row: int) -> int:
        """Take an entry out of the index; returns how many terms it had there."""
        held = self._db.execute("SELECT text, cue FROM terms WHERE rowid = ?", (row,)).fetchone()
        if held is None:
            return 0
        self._db.execute("DELETE FROM terms WHERE rowid = ?", (row,))
        return sum(len(part.split(" ")) for part in held if part)

    def index(self, row: int, text_terms: Sequence[str], cue_terms: Sequence[str]) -> None:
        scope, kind = self._db.execute("SELECT scope, kind FROM entries WHERE entry = ?", (row,)).fetchone()
        length = self._drop_terms(row)
        self._put_terms(row, scope, kind, text_terms, cue_terms)
        self._living(scope, kind, 0, len(text_terms) + len(cue_terms) - length)

    def add_sources(self, row: int, sources: Iterable[str]) -> None:
        self._unsealed.add(row)
        place = self._db.execute("SELECT coalesce(max(place), -1) + 1 FROM entry_sources WHERE entry = ?", (row,)).fetchone()[0]
        self._link_sources(row, sources, place)

    def _link_sources(self, row: int, sources: Iterable[str], place: int) -> None:
        for name in sources:
            source = self._sources.get(name)
            if source is None:
                self._db.execute("INSERT INTO sources (name) VALUES (?) ON CONFLICT DO NOTHING", (name,))
                source = self._sources[name] = self._db.execute("SELECT source FROM sources WHERE name = ?", (name,)).fetchone()[0]
            self._db.execute(
                "INSERT INTO entry_sources (entry, place, source) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (row, place, source)
            )
            place += self._db.changes()

    def remove_source(self, row: int, source: str) -> None:
        self._unsealed.add(row)
        self._db.execute(
            "DELETE FROM entry_sources WHERE entry = ? AND source = (SELECT source FROM sources WHERE name = ?)", (row, source)
        )

    def put_document(self, document: StoredDocument) -> None:
        self._db.execute(
            "INSERT INTO documents (scope, source, path, digest, encoder, at) VALUES (?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (source, scope) DO UPDATE SET path = excluded.path, digest = excluded.digest, encoder = excluded.encoder, "
            "at = excluded.at",
            (document.scope, document.source, document.path, document.digest, document.encoder, self._at),
        )

    def drop_document(self, source: str, scope: str) -> None:
        self._db.execute("DELETE FROM documents WHERE source = ? AND scope = ?", (source, scope))

    def set_tags(self, row: int, tags: Sequence[str]) -> None:
        self._unsealed.add(row)
        self._db.execute("DELETE FROM entry_tags WHERE entry = ?", (row,))
        for place, tag in enumerate(tags):
            self._db.execute("INSERT INTO entry_tags (entry, place, tag) VALUES (?, ?, ?)", (row, place, tag))

    # vectors

    @property
    def born(self) -> Sequence[int]:
        return self._born

    def put_vectors(self, model: str, vectors: Mapping[int, bytes]) -> int:
        if not vectors:
            return 0
        last = self._db.execute("SELECT max(vector) FROM vectors").fetchone()[0] or 0
        # Numbers are never used twice, also after the last vector was taken away: whoever looks for new ones looks beyond the last.
        first = max(last, self.counter("vectors")) + 1
        put = vector_rows.put_vectors(self._db, first, model, vectors)
        self.bump("vectors", first + put - 1 - self.counter("vectors"))
        return put

    def drop_vectors(self, row: int) -> None:
        vector_rows.drop_vectors(self._db, row)

    def note_model(self, model: str, problem: str | None) -> None:
        vector_rows.note_model(self._db, model, problem, self._at)

    def hold_model(self, model: str, holder: str, seconds: float) -> bool:
        return vector_rows.hold_model(self._db, model, holder, self._at, self._at + int(seconds * 1e6))

    def add_lineage(self, row: int, parents: Sequence[tuple[int, str, int]]) -> None:
        for parent, how, part in parents:
            self._db.execute("INSERT INTO lineage (entry, parent, how, part) VALUES (?, ?, ?, ?)", (row, parent, how, part))

    # archiving

    def archive(self, events: Sequence[int], digest: bytes) -> int:
        return archives.reduce(self._db, events, digest, self._at)

    # erasing

    def erase(self, rows: Sequence[int]) -> Mapping[str, int]:
        return erasing.erase(self._db, rows)

    def erase_labels(self, source: str | None, scope: str | None) -> Mapping[str, int]:
        return {} if source is None else erasing.drop_source(self._db, source, scope)

    def erase_scope(self, scope: str) -> None:
        # Its running numbers are written now: the row that keeps them is about to go.
        self.flush()
        self._scopes.clear()
        erasing.drop_scope(self._db, scope)

    def erase_mentions(self, found: Mentions) -> Mapping[str, int]:
        return erasing.empty_mentions(self._db, found)

    # moving

    def load(self, form: int, rows: Iterable[tuple[str, Mapping[str, Any]]], terms: Callable[[str], Sequence[str]]) -> Mapping[str, int]:
        made = moving.load(self._db, form, rows, terms)
        # What was known of the rows before is true no more.
        self._counters, self._head = None, None
        for kept in (self._changed, self._scopes, self._sources, self._scope_changes, self._born, self._unsealed):
            kept.clear()
        return made

    # the log

    def append(
        self,
        kind: str,
        *,
        entries: Sequence[int] = (),
        ticket: str | None = None,
        data: Mapping[str, Any] | None = None,
        postings: Sequence[Posting] = (),
        note: str = "",
        before: Mapping[str, Any] | None = None,
    ) -> int:
        if self._head is None:
            last = self._db.execute("SELECT event, hash FROM events ORDER BY event DESC LIMIT 1").fetchone()
            self._head = (last[0], bytes(last[1])) if last else (0, GENESIS)
        seq, tick, said = self._head[0] + 1, self.counter("tick"), canonical(data or {})
        rows = list(dict.fromkeys(entries))
        digest = chained(
            self._head[1], seq, kind, tick, self._at, self.author.actor, self.author.channel, rows, ticket, said, postings
        )  # fmt: skip
        self._db.execute(
            "INSERT INTO events (event, kind, tick, at, actor, channel, entries, ticket, data, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (seq, kind, tick, self._at, self.author.actor, self.author.channel, str(rows), ticket, said, digest),
        )
        if rows:
            self._db.executemany("INSERT INTO event_entries (entry, event) VALUES (?, ?)", [(row, seq) for row in rows])
        if postings:
            self._db.executemany(
                "INSERT INTO postings (event, place, debit, credit, amount) VALUES (?, ?, ?, ?, ?)",
                [(seq, place, *posting) for place, posting in enumerate(postings)],
            )
        for posting in postings:
            if posting.debit < 0:
                self.bump(f"account:{ACCOUNTS[posting.debit]}", -posting.amount)
            if posting.credit < 0:
                self.bump(f"account:{ACCOUNTS[posting.credit]}", posting.amount)
        if note or before is not None:
            kept = None if before is None else canonical(before)
            self._db.execute(
                "INSERT INTO event_notes (event, note, before, seal) VALUES (?, ?, ?, ?)",
                (seq, note, kept, seals.seal_of(seq, note, kept)),
            )
        self._head = (seq, digest)
        return seq

    def remember(self, key: str, verb: str, request: bytes, result: Mapping[str, Any]) -> None:
        self._db.execute(
            "INSERT INTO keys (key, verb, request, result, at) VALUES (?, ?, ?, ?, ?)",
            (key, verb, request, canonical(result), self._at),
        )

    def forget_keys(self, keys: Sequence[str]) -> int:
        self._db.execute("DELETE FROM keys WHERE key IN (SELECT value FROM json_each(?))", (json.dumps([*keys]),))
        return int(self._db.changes())

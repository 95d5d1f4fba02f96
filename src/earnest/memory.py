"""`Memory`: the one façade. A verb is a method; each write is one short transaction that is on the disk when the verb returns."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from earnest.core import check, filters
from earnest.core.analysis import Analyser
from earnest.core.entry import Entry, StoredEntry
from earnest.core.events import Event
from earnest.core.filters import Filter
from earnest.core.reports import (
    Audit,
    Check,
    ConsolidationReport,
    Diagnosis,
    EncodeReport,
    Hit,
    LeftOut,
    Stats,
    TickReport,
)
from earnest.core.settings import NAMES, Settings, with_changes
from earnest.core.ticket import Answer, Credit, PendingTicket, Settlement, Ticket
from earnest.errors import IndexDamaged, InvalidInput, KeyReused, NotAllowed, NotAvailable, StoreError
from earnest.ledger import consolidation, decisions, inquiry, lifecycle, ticking
from earnest.ledger import undo as undoing
from earnest.ledger.doctor import diagnose
from earnest.ledger.life import obituary
from earnest.ledger.meters import Meters
from earnest.opening import agent_name, located
from earnest.protocols import Author, Clock, Encoder, Reading, Rng, Writing
from earnest.recall import answering
from earnest.recall.search import EXTRA, Found, KeywordRetriever, Retriever, find
from earnest.stores.sqlite import SqliteStore
from earnest.system import SystemClock, SystemRng

Mode = Literal["auto", "hybrid", "rrf", "keyword", "dense"]

# Inside the class `list` is a verb.
_List = list

_CHUNK = 200
_MAX_K = 1_000


class Memory:
    """One agent's memory. Safe to share between threads, and with other processes that have the same file open.

    Open it with `Memory.open`, close it with `close` or a `with` block.
    """

    def __init__(self, store: SqliteStore, *, clock: Clock, rng: Rng, actor: str, channel: str, retriever: Retriever | None = None) -> None:
        """Composes the parts; `Memory.open` is the way in for users."""
        self._store = store
        self._clock, self._rng = clock, rng
        self._actor, self._channel = actor, channel
        self._retriever: Retriever = retriever or KeywordRetriever()
        self._noted: Counter[str] = Counter()
        self._recalled: Counter[int] = Counter()
        self._noting = threading.Lock()
        with store.read() as reading:
            self._settings = self._read_settings(reading)
            indexed_by = reading.settings().get("analyser")
        self._analyser = Analyser(self._settings.languages.split(",") if self._settings.languages else ())
        store.timeout = self._settings.busy_timeout
        self.meters = Meters(store, self._writing)
        if indexed_by != self._analyser.id:
            self._adopt_analyser(indexed_by)

    @classmethod
    def open(
        cls,
        path: str | Path = ":memory:",
        agent: str | None = None,
        *,
        embedder: Any = None,
        clock: Clock | None = None,
        rng: Rng | None = None,
        read_only: bool = False,
        actor: str | None = None,
        channel: str = "python",
        settings: Mapping[str, Any] | None = None,
        retriever: Retriever | None = None,
        timeout: float | None = None,
    ) -> Self:
        """Open an agent's memory, creating it on first use.

        Args:
            path: A file; a folder, which holds one file for each agent; or ":memory:".
            agent: Whose memory it is. None takes the agent that a file belongs to, and "default" for a new one or a folder.
            embedder: None or "none"; recall is by keyword.
            clock: Where time comes from.
            rng: Where ids and chance come from.
            read_only: Refuse every write; the store must exist.
            actor: Who is at work, for the record; the channel's name unless given.
            channel: How requests come in: `python`, `cli`, `mcp`, `http`, … It decides what an unbound meter's word weighs.
            settings: Settings to change, kept in the store; see `earnest.core.settings.Settings`.
            retriever: Ranks candidates in place of the built-in one; it never sees a balance.
            timeout: Seconds to wait for another writer, in place of the setting `busy_timeout`.

        Raises:
            InvalidInput: A value that cannot be used.
            StoreError: The file cannot be opened, is no store, is newer than this Earnest, or belongs to another agent.
            NotAvailable: An embedder or an engine that is not installed.

        Cost: a few milliseconds; a new file is on the disk when it returns.
        """
        if embedder not in (None, "none"):
            raise NotAvailable(f"embedder {embedder!r}: this version recalls by keyword; open with embedder=None")
        name = agent_name(agent)
        file, owner = located(path, name)
        channel = check.label("channel", channel, limit=50)
        who = check.label("actor", actor, limit=200) if actor is not None else channel
        wait = Settings().busy_timeout if timeout is None else check.number("timeout", timeout, low=0.0, high=3600.0)
        clock, rng = clock or SystemClock(), rng or SystemRng()
        changes = dict(settings or {})
        with_changes(Settings(), changes)
        store = SqliteStore(
            file,
            agent=owner,
            author=Author(clock.now(), who, channel),
            read_only=check.flag("read_only", read_only),
            timeout=wait,
        )
        try:
            memory = cls(store, clock=clock, rng=rng, actor=who, channel=channel, retriever=retriever)
            if timeout is not None:
                store.timeout = wait
            changed = {n: v for n, v in changes.items() if getattr(memory._settings, n) != v}
            if changed:
                memory.configure(**changed)
        except BaseException:
            store.close()
            raise
        return memory

    # plumbing

    @property
    def agent(self) -> str:
        """Whose memory this is."""
        return self._store.agent

    @property
    def settings(self) -> Settings:
        """The settings in force, as the store has them now."""
        with self._store.read() as reading:
            return self._read_settings(reading)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Write what was noted about use, and release the file. Idempotent."""
        with self._noting:
            unwritten = bool(self._noted or self._recalled)
        if unwritten and not self._store.read_only and not self._store.closed:
            # What was noted may be lost, by design: a busy or full disk does not keep the file from being released.
            with contextlib.suppress(StoreError), self._writing() as tx:
                tx.counter("tick")
        self._store.close()

    def _read_settings(self, reading: Reading) -> Settings:
        kept = reading.settings()
        return with_changes(Settings(), {name: kept[name] for name in NAMES if name in kept})

    @contextmanager
    def _writing(self) -> Iterator[Writing]:
        """One write transaction, stamped with author and time; what was noted about use rides with it."""
        with self._store.write(Author(self._clock.now(), self._actor, self._channel)) as tx:
            with self._noting:
                noted, self._noted = self._noted, Counter()
                recalled, self._recalled = self._recalled, Counter()
            for name, count in noted.items():
                tx.bump(name, count)
            for stored in tx.entries([*recalled]):
                tx.change_entry(stored.row, recalls=stored.entry.recalls + recalled[stored.row])
            yield tx

    def _note(self, counter: str | None, rows: Iterable[int] = ()) -> None:
        """Remember that something was used, to be written with the next write."""
        if self._store.read_only:
            return
        with self._noting:
            if counter:
                self._noted[counter] += 1
            self._recalled.update(rows)

    def _once(
        self, tx: Writing, key: str | None, verb: str, request: Mapping[str, Any], load: Callable[[Mapping[str, Any]], Any]
    ) -> tuple[bool, Any, bytes]:
        """Whether a request with this key was carried out before, and then its result."""
        digest = decisions.request_digest(verb, request)
        if key is None:
            return False, None, digest
        key = check.label("key", key, limit=200)
        known = tx.remembered(key)
        if known is None:
            return False, None, digest
        if known[0] != verb or known[1] != digest:
            raise KeyReused(key, verb)
        return True, load(known[2]), digest

    def _adopt_analyser(self, before: str | None) -> None:
        """The index was made by another analyser (or there is none yet): make it anew, or say that it cannot be used."""
        with self._store.read() as reading:
            empty = not reading.counter("alive") and not reading.counter("suspended")
        if self._store.read_only:
            if empty:
                return
            raise IndexDamaged(f"the keyword index was made by analyser {before!r}, this is {self._analyser.id!r}; open once for writing")
        if not empty:
            self._store.rebuild_index(self._analyser.terms, self._author())
        with self._writing() as tx:
            tx.set_setting("analyser", self._analyser.id)

    def _author(self) -> Author:
        return Author(self._clock.now(), self._actor, self._channel)

    def _terms(self, text: str, cue: str | None) -> tuple[_List[str], _List[str]]:
        return self._analyser.terms(text), self._analyser.terms(cue or "")

    # entries

    def add(self, text: str, *, key: str | None = None, **fields: Any) -> Entry:
        """Write down one memory.

        Args:
            text: What it says, 1 to 100,000 characters.
            key: Idempotency key: the same request with the same key is carried out once.
            **fields: cue (the question it answers), kind ("semantic", "episodic", "procedural", "rule"), scope, sources, origin,
                importance and confidence (0 to 1), retention ("earned", "fading", "kept"; the setting by default), metadata
                (JSON), tags, valid_from, valid_to (times).

        Returns:
            The entry. If one of the same scope and kind says exactly the same, that one: it gains the sources, and neither stake
            nor trust.

        Raises:
            InvalidInput: Names the field. KeyReused: the key came with another request. StoreError: nothing was written.

        Durable when it returns. Cost: one commit.
        """
        return self._add_chunk([{"text": text, **fields}], key)[0][0]

    def add_many(
        self, entries: Iterable[Mapping[str, Any]], *, key: str | None = None, progress: Callable[[int], None] | None = None
    ) -> _List[Entry]:
        """Write down many memories: dicts with the fields of `add`, in many short transactions.

        All are checked before the first is written. `progress` is called with how many are done. With a `key` the call can be
        repeated after a failure: chunks that were written before are not written again.
        """
        items = [dict(item) if isinstance(item, Mapping) else {"text": item} for item in entries]
        retention = self.settings.default_retention
        for item in items:
            lifecycle.checked_entry(self._rng, retention, item)
        made: _List[Entry] = []
        for start in range(0, len(items), _CHUNK):
            chunk_key = None if key is None else f"{check.label('key', key, limit=150)}#{start}"
            made += self._add_chunk(items[start : start + _CHUNK], chunk_key)[0]
            if progress:
                progress(len(made))
        return made

    def _add_chunk(self, items: Sequence[Mapping[str, Any]], key: str | None) -> tuple[_List[Entry], _List[bool]]:
        retention = self._settings.default_retention
        checked = [lifecycle.checked_entry(self._rng, retention, item) for item in items]
        terms = [self._terms(new.text, new.cue) for new in checked]
        with self._writing() as tx:
            settings = self._read_settings(tx)
            if settings.default_retention != retention:
                checked = [lifecycle.checked_entry(self._rng, settings.default_retention, item) for item in items]
                self._settings = settings
            request = {"entries": [{k: v for k, v in asdict(new).items() if k != "id"} for new in checked]}

            def load(said: Mapping[str, Any]) -> tuple[_List[Entry], _List[bool]]:
                return [lifecycle.found(tx, entry).entry for entry in said["ids"]], said["new"]

            done, result, digest = self._once(tx, key, "add", request, load)
            if done:
                kept: tuple[_List[Entry], _List[bool]] = result
                return kept
            written = [lifecycle.add(tx, settings, self._rng, new, t) for new, t in zip(checked, terms, strict=True)]
            by_row = {stored.row: stored.entry for stored in tx.entries([stored.row for stored, _ in written])}
            entries, fresh = [by_row[stored.row] for stored, _ in written], [is_new for _, is_new in written]
            if key is not None:
                tx.remember(key, "add", digest, {"ids": [entry.id for entry in entries], "new": fresh})
        return entries, fresh

    def encode(
        self,
        documents: Iterable[Any],
        *,
        encoder: Encoder | None = None,
        scope: str = "",
        key: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> EncodeReport:
        """Turn documents into self-contained entries and write them down.

        Args:
            documents: `earnest.encoding.Document`s.
            encoder: `LocalEncoder()` unless given: offline, no model.
            scope: The scope of what is made.
            key: Idempotency key, as in `add_many`.
            progress: Called with how many entries are written.

        Returns:
            What was made, by origin, and what was left out and why.

        Durable when it returns; interrupted, what was written stays, and encoding again joins it.
        """
        if encoder is None:
            from earnest.encoding import LocalEncoder

            encoder = LocalEncoder()
        made = encoder.encode([*documents])
        items = [
            {"text": d.text, "cue": d.cue, "kind": d.kind, "origin": d.origin, "sources": d.sources, "scope": scope} for d in made.drafts
        ]
        entries: _List[Entry] = []
        fresh = 0
        for start in range(0, len(items), _CHUNK):
            chunk, new = self._add_chunk(items[start : start + _CHUNK], None if key is None else f"{key}#{start}")
            entries += chunk
            fresh += sum(new)
            if progress:
                progress(len(entries))
        entries = [*{entry.id: entry for entry in entries}.values()]
        return EncodeReport(
            entries=tuple(entries),
            by_origin=dict(Counter(str(entry.origin) for entry in entries)),
            skipped=tuple(LeftOut(s.source, s.text, s.reason) for s in made.skipped),
            joined=len(items) - fresh,
            notes=tuple(made.notes),
        )

    def get(self, id: str) -> Entry:
        """The entry of that id, dead ones too. Raises UnknownEntry."""
        with self._store.read() as reading:
            return lifecycle.found(reading, id).entry

    def list(
        self,
        *,
        scope: Any = "",
        kind: Any = None,
        source: Any = None,
        tags: Any = None,
        standing: str | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> _List[Entry]:
        """Entries, oldest first: the living (active and suspended) of the default scope unless told otherwise.

        Args:
            scope, kind, source, tags: Filters as in `search`; `earnest.ALL` for every scope.
            standing: "active", "suspended" or "dead" alone.
            after: Go on after the entry of that id (pages).
            limit: At most so many; None for all of them.

        Rules are left out unless `kind="rule"`.
        """
        standings = ("active", "suspended") if standing is None else (standing,)
        chosen = filters.checked(scope=scope, kind=kind, source=source, tags=tags, standings=standings)
        wanted = None if limit is None else check.integer("limit", limit, low=1, high=10_000_000)
        made: _List[Entry] = []
        with self._store.read() as reading:
            if after is not None:
                lifecycle.found(reading, after)
            while wanted is None or len(made) < wanted:
                size = 1_000 if wanted is None else min(1_000, wanted - len(made))
                page = reading.page(chosen, after, size)
                made += [stored.entry for stored in page]
                if len(page) < size:
                    break
                after = made[-1].id
        return made

    def update(self, id: str, *, text: str | None = None, cue: str | None = None, key: str | None = None, **changes: Any) -> Entry:
        """Change an entry.

        New `text` or `cue` makes a new version, with a fresh stake and no evidence, and supersedes the old one. Changes to
        importance, confidence, retention, metadata, tags, valid_from or valid_to alone are made in place and keep both.

        Raises:
            UnknownEntry, InvalidInput; NotAllowed: it is dead, or an open ticket names it. Durable when it returns.
        """
        if text is None and cue is None and not changes:
            raise InvalidInput("update", None, "names nothing to change")
        checked = lifecycle.checked_changes(changes)
        with self._writing() as tx:
            settings = self._read_settings(tx)
            request = {"id": id, "text": text, "cue": cue, "changes": {k: str(v) for k, v in checked.items()}}
            done, result, digest = self._once(tx, key, "update", request, lambda said: lifecycle.found(tx, said["id"]).entry)
            if done:
                kept: Entry = result
                return kept
            stored = lifecycle.found(tx, id)
            row = stored.row
            if text is not None or cue is not None:
                new = lifecycle.next_version(self._rng, stored, text, cue, checked)
                row = lifecycle.supersede(tx, settings, self._rng, stored, new, self._terms(new.text, new.cue)).row
            else:
                lifecycle.edit(tx, settings, id, checked)
            [after] = tx.entries([row])
            if key is not None:
                tx.remember(key, "update", digest, {"id": after.entry.id})
        return after.entry

    def forget(self, id: str, reason: str = "") -> Entry:
        """Bury an entry, with the cause `forgotten`. `restore` or `undo` brings it back.

        Raises:
            UnknownEntry; NotAllowed: it is dead already, pinned, or named by an open ticket.
        """
        said = check.note("reason", reason)
        return self._changing(lambda tx, settings: lifecycle.forget(tx, settings, id, said))

    def restore(self, id: str) -> Entry:
        """Bring a dead entry back: with what it held if it was forgotten, with a fresh stake if it starved or was executed.

        Raises:
            UnknownEntry; NotAllowed: it is alive, an exact twin is alive, or it was merged or superseded (undo that event).
        """
        return self._changing(lambda tx, settings: lifecycle.restore(tx, settings, self._analyser, id))

    def pin(self, id: str) -> Entry:
        """Keep an entry from burial and merging. It still pays rent, and rests at zero."""
        return self._changing(lambda tx, settings: lifecycle.pin(tx, settings, id, True))

    def unpin(self, id: str) -> Entry:
        """Take the pin away; an empty entry then meets its end."""
        return self._changing(lambda tx, settings: lifecycle.pin(tx, settings, id, False))

    def _changing(self, change: Callable[[Writing, Settings], StoredEntry]) -> Entry:
        with self._writing() as tx:
            stored = change(tx, self._read_settings(tx))
            [after] = tx.entries([stored.row])
        return after.entry

    def merge(self, ids: Sequence[str], *, text: str | None = None) -> Entry:
        """Join entries into one heir that carries their sources and, up to the cap, their balances.

        Args:
            ids: At least two living entries of one scope, kind, retention and standing.
            text: What the heir says; the members' distinct texts, one a line, unless given.

        Raises:
            UnknownEntry, InvalidInput; NotAllowed: a member is dead, pinned, named by an open ticket, or of another kind.
        """
        names = check.labels("ids", ids)
        if len(names) < 2:
            raise InvalidInput("ids", ids, "needs at least two different entries to merge")
        with self._writing() as tx:
            settings = self._read_settings(tx)
            members = [lifecycle.found(tx, name) for name in names]
            new = lifecycle.merged_entry(self._rng, members, text)
            heir = lifecycle.merge(tx, settings, self._rng, members, new, self._terms(new.text, new.cue))
            [after] = tx.entries([heir.row])
        return after.entry

    def consolidate(self, *, dry_run: bool = False) -> ConsolidationReport:
        """Merge near-duplicates that agree in numbers, negation, names and advice, within one scope, kind and standing.

        Candidates come from the index, so that the cost grows with the entries, not with their pairs. `dry_run` only tells.
        """
        with self._store.read() as reading:
            settings = self._read_settings(reading)
            groups, refused = consolidation.groups(reading, self._analyser, settings.merge_threshold)
        ids = [tuple(stored.entry.id for stored in group) for group in groups]
        if dry_run:
            return ConsolidationReport(sum(len(group) for group in groups), tuple(ids), (), tuple(refused))
        heirs, merged, done = [], 0, []
        for group in ids:
            try:
                heirs.append(self.merge(group).id)
            except NotAllowed as error:
                # Another process got there first, or a decision named a member since it was read.
                refused.append(str(error))
                continue
            merged += len(group)
            done.append(group)
        return ConsolidationReport(merged, tuple(done), tuple(heirs), tuple(refused))

    def undo(self, event: int) -> tuple[str, ...]:
        """Take back an event (its number is in `events`): a birth, an edit, a merge, a removal, a pin, a setting.

        Returns the ids of the entries that changed. Raises UnknownEvent, or NotUndoable, which names what stands in the way.
        """
        with self._writing() as tx:
            changed = undoing.undo(tx, self._read_settings(tx), self._analyser, event)
            self._settings = self._read_settings(tx)
        return changed

    # recall

    def search(
        self,
        query: str | None,
        k: int = 5,
        *,
        scope: Any = "",
        kind: Any = None,
        source: Any = None,
        tags: Any = None,
        since: Any = None,
        until: Any = None,
        as_of: Any = None,
        half_life: float | None = None,
        mode: Mode = "auto",
        floor: float = 0.0,
    ) -> _List[Hit]:
        """The entries that match a question best, broad: suspended ones too, marked by their standing.

        Args:
            query: Any text; it is only ever data. Blank or None finds nothing.
            k: At most so many hits, 1 to 1,000.
            scope: One scope, a list of them, or `earnest.ALL`. Matched exactly.
            kind, source, tags: Only entries of one of these.
            since, until: Bounds on the time that an entry is about (`valid_from`, else when it was recorded).
            as_of: Only what was recorded by then and valid then.
            half_life: Halve a score for every so many ticks since the entry was last settled.
            mode: "auto" or "keyword".
            floor: Leave out what matches less than this part of the question, 0 to 1.

        Writes nothing. Raises InvalidInput, IndexDamaged.
        """
        chosen = filters.checked(scope=scope, kind=kind, source=source, tags=tags, since=since, until=until, as_of=as_of)
        found = self._find(query, chosen, k, check.number("floor", floor, low=0.0, high=1.0), half_life, mode)
        return [Hit(f.stored.entry, f.score, f.why) for f in found]

    def answer(self, query: str | None, k: int = 3, *, half_life: float | None = None, mode: Mode = "auto", **where: Any) -> Answer:
        """What memory says to a question, with provenance; falsy and empty where it knows nothing.

        The best-ranked entry in good standing decides; `annotated` adds its age, its sources and what contradicts it. Opens no
        ticket. Filters as in `search`.
        """
        said, chosen, others, _ = self._answer(query, k, filters.checked(**where), half_life, mode)
        if chosen is None:
            self._note("silent")
        else:
            self._note(None, [chosen.stored.row, *(f.stored.row for f in others)])
        return said

    def _find(
        self,
        query: Any,
        chosen: Filter,
        k: int,
        floor: float | None,
        half_life: float | None,
        mode: str,
        reading: Reading | None = None,
    ) -> _List[Found]:
        check.choice("mode", mode, ("auto", "hybrid", "rrf", "keyword", "dense"))
        if mode in ("hybrid", "rrf", "dense"):
            raise NotAvailable(f"mode {mode!r} needs an embedder, and this store has none; use mode='auto' or 'keyword'")
        check.integer("k", k, low=1, high=_MAX_K)
        if half_life is not None:
            half_life = check.number("half_life", half_life, low=0.001, high=1e12)
        text = asked(query)
        if not text:
            return []
        if reading is None:
            with self._store.read() as snapshot:
                return self._find(query, chosen, k, floor, half_life, mode, snapshot)
        at_least = self._read_settings(reading).floor if floor is None else floor
        return find(reading, self._analyser, self._retriever, text, chosen, k=k, floor=at_least, half_life=half_life)

    def _answer(
        self, query: Any, k: int, chosen: Filter, half_life: float | None, mode: str
    ) -> tuple[Answer, Found | None, _List[Found], Settings]:
        with self._store.read() as reading:
            settings = self._read_settings(reading)
            found = self._find(query, chosen, k + EXTRA, None, half_life, mode, reading)
            said, decider, others = answering.answer(
                found,
                pass_over=settings.pass_over,
                conflict=settings.conflict,
                supporters=min(settings.supporters, check.integer("k", k, low=1, high=_MAX_K) - 1),
                now=self._clock.now(),
                tick=reading.counter("tick"),
            )
        return said, decider, others, settings

    # the ledger

    def decide(
        self,
        query: str | None,
        k: int = 3,
        *,
        key: str | None = None,
        half_life: float | None = None,
        mode: Mode = "auto",
        **where: Any,
    ) -> Ticket:
        """Answer a question and open a ticket for its outcome, naming the entries that shaped it.

        Args:
            query: The question. On silence nothing is opened: the ticket is falsy and its `id` is None.
            k: The decider and up to k - 1 supporters (the setting `supporters` bounds them).
            key: Idempotency key: repeating the request returns the same ticket.
            half_life, mode: As in `search`.
            **where: Filters as in `search`.

        Durable when it returns. Cost: a search and one commit.
        """
        chosen = filters.checked(**where)
        for _ in range(3):
            said, decider, others, _settings = self._answer(query, k, chosen, half_life, mode)
            if decider is None:
                self._note("silent")
                return Ticket("", None, (), "", True, False)
            with self._writing() as tx:
                request = {"query": query, "k": k, "where": repr(chosen), "half_life": half_life}
                done, result, digest = self._once(tx, key, "decide", request, lambda kept: inquiry.reopened(tx, kept["ticket"]))
                if done:
                    reopened: Ticket = result
                    return reopened
                now = {stored.row: stored for stored in tx.entries([decider.stored.row, *(f.stored.row for f in others)])}
                first = now.get(decider.stored.row)
                if first is None or not first.may_decide:
                    continue  # it fell between the reading and the writing: ask again
                named = [now[f.stored.row] for f in others if f.stored.row in now and now[f.stored.row].may_decide]
                ticket = decisions.open_ticket(tx, self._rng, query=asked(query), answer=said.text, deciding=first, supporting=named)
                tx.change_entry(first.row, recalls=first.entry.recalls + 1)
                if key is not None:
                    tx.remember(key, "decide", digest, {"ticket": ticket.id})
            return Ticket(
                said.text,
                said.deciding,
                tuple(s.entry for s in named),
                said.annotated,
                False,
                True,
                ticket.id,
                ticket.holdout,
                ticket.exposure,
            )
        return Ticket("", None, (), "", True, False)

    def settle(
        self,
        ticket: str,
        *,
        delta: float,
        meter: str = "unnamed",
        scale: float | None = None,
        acted: bool | None = None,
        detail: str = "",
        key: str | None = None,
    ) -> Settlement:
        """Record the measured outcome of a decision and move credit along its provenance. A ticket lands once.

        Args:
            ticket: The id that `decide` gave.
            delta: Signed change of a real resource, in the meter's unit; never a score. Finite; zero is an outcome too.
            meter: Who measured. One that nobody made is made now, with the trust of the channel.
            scale: The size of an ordinary effect, positive; the meter's own unless given, else 1.
            acted: Whether anything was done on the advice.
            detail: A remark for the entry's life story, at most 4,000 characters.
            key: Idempotency key: the same request returns the first settlement and moves nothing.

        Returns:
            What landed; or, for an unknown, late or second settlement, `landed=False` and the reason.

        Raises:
            InvalidInput: A delta that is no finite number, and the like; the ticket stays open.

        Durable when it returns: a crash or a power cut afterwards does not lose it. Cost: one commit, O(entries named).
        """
        name = decisions.ticket_id(ticket)
        outcome = decisions.checked_outcome(delta, meter, scale, acted, detail)
        with self._writing() as tx:
            done, result, digest = self._once(tx, key, "settle", {"ticket": name, **outcome}, _settlement)
            if done:
                kept: Settlement = result
                return kept
            made = decisions.settle(tx, self._read_settings(tx), self._channel, name, **outcome)
            if key is not None:
                tx.remember(key, "settle", digest, asdict(made))
        return made

    def abandon(self, ticket: str, *, reason: str = "") -> bool:
        """Close a ticket without an outcome: no information, which is not zero. False if it was not open. Durable."""
        name, note = decisions.ticket_id(ticket), check.note("reason", reason)
        with self._writing() as tx:
            found = tx.ticket(name)
            if found is None or found.state != "pending":
                return False
            decisions.end_without_outcome(tx, self._read_settings(tx), found, "abandoned", note)
        return True

    def tick(self, *, slot: str | None = None, expire_after: int | None = None) -> TickReport:
        """Move the economy's clock one step: old tickets expire, rent falls due, who cannot pay dies.

        Args:
            slot: A name for this step (a date, a run id): ticking again in the same slot does nothing and returns the first report.
            expire_after: Ticks after which an open ticket expires; the setting unless given.

        Durable when it returns. Cost: one commit and what dies or expires, whatever the population.
        """
        limit = None if expire_after is None else check.integer("expire_after", expire_after, low=1, high=1_000_000)
        with self._writing() as tx:
            settings = self._read_settings(tx)
            key = None if slot is None else "slot:" + check.label("slot", slot, limit=190)
            done, result, digest = self._once(tx, key, "tick", {}, lambda kept: TickReport(**{**kept, "died": tuple(kept["died"])}))
            if done:
                report: TickReport = result
                return report
            made = ticking.tick(tx, settings, limit or settings.expire_after)
            if key is not None:
                tx.remember(key, "tick", digest, asdict(made))
        return made

    # insight

    def stats(self) -> Stats:
        """Counts and sums, from running numbers: the cost does not grow with the store."""
        with self._store.read() as reading:
            return inquiry.stats(reading, self.agent)

    def top(self, limit: int = 10) -> _List[Entry]:
        """The living earned entries that hold most, richest first."""
        with self._store.read() as reading:
            return [s.entry for s in reading.richest(check.integer("limit", limit, low=1, high=check.MAX_LIMIT))]

    def pending(self, *, after: str | None = None, limit: int | None = None) -> _List[PendingTicket]:
        """Open tickets, oldest first; all of them unless limited."""
        wanted = check.MAX_LIMIT if limit is None else check.integer("limit", limit, low=1, high=check.MAX_LIMIT)
        with self._store.read() as reading:
            return [inquiry.open_one(t, reading.counter("tick")) for t in reading.pending(after, wanted)]

    def obituary(self, id: str) -> str:
        """The life story of an entry, for the living too: what it said, what was measured, why it died."""
        with self._store.read() as reading:
            return obituary(reading, lifecycle.found(reading, id))

    def events(
        self, *, entry: str | None = None, kind: str | None = None, after: int = 0, limit: int = 100, newest: bool = False
    ) -> _List[Event]:
        """The log, in order: events after a number, of one entry or one kind if named. `newest` reads backwards from `after`."""
        with self._store.read() as reading:
            if entry is not None:
                lifecycle.found(reading, entry)
            return reading.events(
                entry=entry,
                kind=kind,
                after=check.integer("after", after, low=0, high=2**62),
                limit=check.integer("limit", limit, low=1, high=check.MAX_LIMIT),
                newest=newest,
            )

    def audit(self, *, after: int = 0, limit: int = 100_000) -> Audit:
        """A digest of the log after an event: what happened how often, what each meter said, who gained and who lost."""
        with self._store.read() as reading:
            return inquiry.audit(
                reading, check.integer("after", after, low=0, high=2**62), check.integer("limit", limit, low=1, high=10_000_000)
            )

    def doctor(self) -> Diagnosis:
        """What is wrong with how this memory is used, with evidence and fix. Cheap: it reads running numbers."""
        with self._store.read() as reading:
            return diagnose(reading, self._read_settings(reading))

    # the store

    def configure(self, **changes: Any) -> Settings:
        """Change settings for every process that uses this store. Raises InvalidInput; nothing is changed then."""
        with self._writing() as tx:
            before = self._read_settings(tx)
            after = with_changes(before, changes)
            changed = [name for name in NAMES if getattr(before, name) != getattr(after, name)]
            for name in changed:
                tx.set_setting(name, getattr(after, name))
            if changed:
                tx.append(
                    "setting",
                    data={name: getattr(after, name) for name in changed},
                    before={name: getattr(before, name) for name in changed},
                )
        self._settings = after
        if before.languages != after.languages:
            old = self._analyser.id
            self._analyser = Analyser(after.languages.split(",") if after.languages else ())
            self._adopt_analyser(old)
        return after

    def check(self, *, repair: bool = False) -> Check:
        """Look the whole store over: the file, the log's chain, the postings against the balances, the counters, the index.

        Args:
            repair: Rebuild what can be rebuilt from the entries and postings (index, counters).

        O(the file). Balances are folded from recorded amounts, to the unit.
        """
        found = [*self._store.damage()]
        repaired: _List[str] = []
        if repair and any(damage.repairable for damage in found):
            if any(damage.code == "keyword index damaged" for damage in found):
                self._store.rebuild_index(self._analyser.terms, self._author())
            self._store.repair_counters(self._author())
            before, found = found, [*self._store.damage()]
            left = {damage.text for damage in found}
            repaired = [f"{d.code}: {d.text}" for d in before if d.text not in left]
        with self._store.read() as reading:
            last = reading.events(entry=None, kind=None, after=0, limit=1, newest=True)
        return Check(
            ok=not found,
            problems=tuple(f"{damage.code}: {damage.text}" for damage in found),
            repaired=tuple(repaired),
            events=last[0].seq if last else 0,
            head=last[0].hash if last else "",
        )

    def backup(self, path: str | Path) -> Path:
        """Write a whole, consistent copy to a new file while others go on writing. Raises StoreError if it exists."""
        target = Path(path)
        self._store.backup(target)
        return target


def asked(query: Any) -> str:
    """A question as text: None and blank ask nothing."""
    if query is None:
        return ""
    if not isinstance(query, str):
        raise InvalidInput("query", query, f"must be text, not {type(query).__name__}")
    if len(query) > check.MAX_QUERY:
        raise InvalidInput("query", query, f"is {len(query):,} characters long, at most {check.MAX_QUERY:,} are read")
    made = check.cleaned(query)
    return "" if check.blank(made) else made


def _settlement(kept: Mapping[str, Any]) -> Settlement:
    said = dict(kept)
    said["credits"] = tuple(Credit(**credit) for credit in said["credits"])
    said["suspended"], said["buried"] = tuple(said["suspended"]), tuple(said["buried"])
    return Settlement(**said)

"""Verbs on entries: writing down, reading, changing, removing and bringing back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from earnest.core import check, filters
from earnest.core.entry import Entry, NewEntry, StoredEntry
from earnest.core.reports import ConsolidationReport
from earnest.core.settings import Settings
from earnest.core.ticket import CHANNEL_TIERS
from earnest.core.write_gate import Gate
from earnest.errors import InvalidInput, NotAllowed
from earnest.forgetting.feedback import taken_back
from earnest.graph.undoing import HANDLERS as LINKED
from earnest.ledger import consolidation, door, editing, lifecycle, merging, walks
from earnest.ledger.undo import undo
from earnest.protocols import Writing
from earnest.verbs.base import Base

# Inside the class `list` is a verb.
_List = list

# Entries in one transaction of a bulk verb: long enough to spare commits, short enough that other writers hardly wait.
_CHUNK = 200


class EntryVerbs(Base):
    """Verbs on entries."""

    def add(
        self,
        text: str,
        *,
        cue: str | None = None,
        kind: str = "semantic",
        scope: str = "",
        sources: Iterable[str] = (),
        origin: str = "explicit",
        importance: float = 0.5,
        confidence: float = 1.0,
        retention: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        tags: Iterable[str] = (),
        valid_from: datetime | str | None = None,
        valid_to: datetime | str | None = None,
        key: str | None = None,
    ) -> Entry:
        """Write down one memory.

        Args:
            text: What it says, 1 to 100,000 characters. A NUL becomes a space, broken Unicode the replacement character.
            cue: The question that it answers, at most 4,000 characters.
            kind: "semantic" (a fact), "episodic" (an event), "procedural" (how to do it), "rule".
            scope: One label inside the agent (a user, a project), matched exactly.
            sources: Where it comes from (document ids, URLs, run ids).
            origin: How it came to be; see `earnest.core.entry.ORIGINS`.
            importance, confidence: 0 to 1.
            retention: "earned" (pays rent), "fading", "kept"; the setting `default_retention` unless given.
            metadata: A JSON object of at most 64 kB; comes back equal.
            tags: Labels to filter by.
            valid_from, valid_to: When it holds, or when it happened: times (UTC if they have no zone) or ISO 8601 texts. Questions about
                now no longer recall what ceased to hold, unless it is an event (kind "episodic").
            key: Idempotency key of at most 200 characters: the same request with the same key is carried out once.

        Returns:
            The entry. If one of the same scope and kind says the same (but for blanks, a closing full stop, a leading "the" and the
            case of a first word), that one: it gains the sources, and neither stake nor trust. (Episodes of another time or source
            stay apart.)

        Raises:
            InvalidInput: Names the argument. KeyReused: the key came with another request. StoreError: nothing was written.

        Durable when it returns. Cost: one commit.
        """
        fields = {
            "text": text, "cue": cue, "kind": kind, "scope": scope, "sources": sources, "origin": origin, "importance": importance,
            "confidence": confidence, "retention": retention, "metadata": metadata, "tags": tags, "valid_from": valid_from,
            "valid_to": valid_to,
        }  # fmt: skip
        return self._add_chunk([self._checked(fields)], key, [retention])[0][0]

    def _checked(self, fields: Mapping[str, Any]) -> NewEntry:
        return self._checking()(fields)

    def _checking(self, retention: str | None = None) -> Callable[[Mapping[str, Any]], NewEntry]:
        """What makes entries of fields by the settings as they are now: checked, and let through the write gate."""
        settings = self._settings_now()
        gate = Gate.of(settings.redact, settings.quarantine)
        return lambda fields: door.checked_entry(self._rng, retention or settings.default_retention, fields, gate)

    def add_many(
        self, entries: Iterable[Mapping[str, Any]], *, key: str | None = None, progress: Callable[[int], None] | None = None
    ) -> list[Entry]:
        """Write down many memories: dicts with the arguments of `add`, in many short transactions.

        All are checked before the first is written. `progress` is called with how many are done. With a `key` (at most 150
        characters) the call can be repeated after a failure: what was written before is not written again.
        """
        check_one = self._checking()
        checked: _List[NewEntry] = []
        retentions: _List[Any] = []
        for place, item in enumerate(check.items("entries", entries)):
            if not isinstance(item, Mapping):
                raise InvalidInput(f"entries[{place}]", item, "must be a mapping with at least a text")
            checked.append(check_one(item))
            retentions.append(item.get("retention"))
        return self._add_all(checked, key, retentions, lambda done, of: progress(done) if progress else None)[0]

    def _add_all(
        self,
        checked: Sequence[NewEntry],
        key: str | None,
        retentions: Sequence[Any],
        progress: Callable[[int, int], None],
        kind: str = "add",
    ) -> tuple[_List[Entry], int]:
        """Entries written or joined in many short transactions, and how many of them are new."""
        made: _List[Entry] = []
        fresh = 0
        for start in range(0, len(checked), _CHUNK):
            chunk_key = None if key is None else f"{check.label('key', key, limit=150)}#{start}"
            entries, new = self._add_chunk(checked[start : start + _CHUNK], chunk_key, retentions[start : start + _CHUNK], kind, "bulk")
            made += entries
            fresh += sum(new)
            progress(len(made), len(checked))
        return made, fresh

    def _add_chunk(
        self, checked: Sequence[NewEntry], key: str | None, retentions: Sequence[Any], kind: str = "add", namespace: str = ""
    ) -> tuple[_List[Entry], _List[bool]]:
        """Entries written or joined in one transaction, and which of them are new. `retentions` are those that were asked for."""
        analyser, terms = self._analyser, [self._terms(new.text, new.cue) for new in checked]
        digests = [lifecycle.digests(new) for new in checked]
        vectors = self._vectors_for(checked)
        with self._writing() as tx:
            settings = self._read_settings(tx)
            if self._analyser is not analyser:
                terms = [self._terms(new.text, new.cue) for new in checked]

            def do() -> tuple[tuple[_List[Entry], _List[bool]], Mapping[str, Any]]:
                known = tx.known_twins({digest for own in digests for digest in own})
                written = [
                    lifecycle.add(tx, settings, self._rng, self._analyser, new, found, kind, own, known)
                    for new, found, own in zip(checked, terms, digests, strict=True)
                ]
                entries, fresh = [stored.entry for stored, _ in written], [is_new for _, is_new in written]
                if vectors is not None:
                    self._put_vectors(tx, written, vectors)
                return (entries, fresh), {"ids": [entry.id for entry in entries], "new": fresh}

            return self._once(
                tx,
                key,
                "add",
                lambda: {"entries": [_request(new, asked) for new, asked in zip(checked, retentions, strict=True)]},
                lambda said: ([lifecycle.found(tx, entry).entry for entry in said["ids"]], [*said["new"]]),
                do,
                namespace,
            )

    def get(self, id: str) -> Entry:
        """The entry of that id, dead ones too.

        Raises:
            UnknownEntry: This agent never had it.
        """
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
            scope: One scope, a list of them, or `earnest.ALL`.
            kind, source, tags: Only entries of one of these. Rules are left out unless `kind` names them.
            standing: "active", "suspended" or "dead" alone.
            after: Go on after the entry of that id, for pages.
            limit: At most so many; None for all of them.
        """
        standings = ("active", "suspended") if standing is None else (standing,)
        chosen = filters.checked(scope=scope, kind=kind, source=source, tags=tags, standings=standings)
        wanted = None if limit is None else check.integer("limit", limit, low=1, high=10_000_000)
        with self._store.read() as reading:
            if after is not None:
                lifecycle.found(reading, after)
            return [stored.entry for stored in walks.entries(reading, chosen, after=after, most=wanted)]

    def update(self, /, id: str, *, text: str | None = None, cue: str | None = None, key: str | None = None, **changes: Any) -> Entry:
        """Change an entry.

        A new `text` or `cue` makes a new version, with a fresh stake and no evidence, which supersedes the old one. Changes to
        importance, confidence, retention, metadata, tags, valid_from or valid_to alone are made in place and keep both.

        Returns:
            The entry as it is now: under a new id if it is a new version.

        Raises:
            UnknownEntry, InvalidInput. NotAllowed: it is dead, or its text would change while an open ticket names it.

        Durable when it returns.
        """
        if text is None and cue is None and not changes:
            raise InvalidInput("update", None, "names nothing to change; give a field, such as text, importance or tags")
        gate = self._gate()
        checked = door.checked_changes(changes, gate)
        with self._writing() as tx:
            settings = self._read_settings(tx)

            def do() -> tuple[Entry, Mapping[str, Any]]:
                stored = lifecycle.found(tx, id)
                row = stored.row
                if editing.says_other(stored, text, cue):
                    new = editing.next_version(self._rng, stored, text, cue, checked, gate)
                    row = editing.supersede(tx, settings, self._rng, self._analyser, stored, new, self._terms(new.text, new.cue)).row
                elif checked:
                    editing.edit(tx, settings, id, checked)
                [after] = tx.entries([row])
                return after.entry, {"id": after.entry.id}

            request = {"id": id, "text": text, "cue": cue, "changes": checked}
            return self._once(tx, key, "update", lambda: request, lambda said: lifecycle.found(tx, said["id"]).entry, do)

    def forget(self, id: str, reason: str = "", *, key: str | None = None) -> Entry:
        """Bury an entry, with the cause `forgotten`. `restore` or `undo` brings it back with what it held.

        Raises:
            UnknownEntry. NotAllowed: it is dead already, pinned, or named by an open ticket.
        """
        said = self._remark("reason", reason)
        return self._changing("forget", {"id": id, "reason": said}, key, lambda tx, settings: lifecycle.forget(tx, settings, id, said))

    def restore(self, id: str, *, key: str | None = None) -> Entry:
        """Bring a dead entry back: with what it held if it was forgotten, with a fresh stake if it starved or was executed.

        Raises:
            UnknownEntry. NotAllowed: it is alive, an exact twin is alive, or it was merged or superseded (undo that event).
        """
        return self._changing("restore", {"id": id}, key, lambda tx, settings: lifecycle.restore(tx, settings, self._analyser, id))

    def pin(self, id: str, *, key: str | None = None) -> Entry:
        """Keep an entry from burial and merging. It still pays rent, and rests at zero."""
        return self._changing("pin", {"id": id}, key, lambda tx, settings: lifecycle.pin(tx, settings, id, True))

    def unpin(self, id: str, *, key: str | None = None) -> Entry:
        """Take the pin away; an empty entry then meets its end."""
        return self._changing("unpin", {"id": id}, key, lambda tx, settings: lifecycle.pin(tx, settings, id, False))

    def vouch(self, id: str, *, key: str | None = None) -> Entry:
        """Answer for an entry that waits for outcomes before it may decide: imported, or marked as aiming at its reader.

        `undo` takes it back. An entry that does not wait stays as it is.

        Raises:
            UnknownEntry. NotAllowed: it is dead; or this channel is an agent's, and nobody vouches for their own work.
        """
        if CHANNEL_TIERS.get(self._channel, "claimed") == "claimed":
            raise NotAllowed(f"channel {self._channel!r} cannot vouch for an entry: a person can, with `earnest vouch` or on the dashboard")
        return self._changing("vouch", {"id": id}, key, lambda tx, settings: lifecycle.vouch(tx, id))

    def _changing(
        self, verb: str, request: Mapping[str, Any], key: str | None, change: Callable[[Writing, Settings], StoredEntry]
    ) -> Entry:
        with self._writing() as tx:

            def do() -> tuple[Entry, Mapping[str, Any]]:
                stored = change(tx, self._read_settings(tx))
                [after] = tx.entries([stored.row])
                return after.entry, {"id": after.entry.id}

            return self._once(tx, key, verb, lambda: request, lambda said: lifecycle.found(tx, said["id"]).entry, do)

    def merge(self, ids: Sequence[str], *, text: str | None = None, key: str | None = None) -> Entry:
        """Join entries into one heir that carries their sources and, up to the cap, their balances.

        Args:
            ids: At least two living entries of one scope, kind, retention and standing.
            text: What the heir says; the members' distinct texts, one a line, unless given.
            key: Idempotency key: repeating the request returns the same heir.

        Raises:
            UnknownEntry, InvalidInput. NotAllowed: a member is dead, pinned, named by an open ticket, or of another kind.
        """
        names = check.labels("ids", ids)
        if len(names) < 2:
            raise InvalidInput("ids", ids, "needs at least two different entries to merge")
        return self._merge(names, text, key)

    def _merge(self, names: Sequence[str], text: str | None = None, key: str | None = None, **data: Any) -> Entry:
        """Join entries; `data` is said in the event."""

        gate = self._gate()

        def join(tx: Writing, settings: Settings) -> StoredEntry:
            members = [lifecycle.found(tx, name) for name in names]
            new = door.gated(gate, merging.merged_entry(self._rng, members, text))
            return merging.merge(tx, settings, self._rng, self._analyser, members, new, self._terms(new.text, new.cue), **data)

        return self._changing("merge", {"ids": names, "text": text}, key, join)

    def consolidate(self, *, dry_run: bool = False) -> ConsolidationReport:
        """Merge near-duplicates that agree in numbers, negation, names and advice, within one scope, kind and standing.

        Candidates share rare terms, so that the cost grows with the entries, not with their pairs. `dry_run` only tells.
        """
        with self._store.read() as reading:
            groups, refused = consolidation.groups(reading, self._analyser, self._read_settings(reading).merge_threshold)
        ids = [tuple(stored.entry.id for stored in group) for group in groups]
        if dry_run:
            return ConsolidationReport(sum(len(group) for group in groups), tuple(ids), (), tuple(refused))
        heirs, done = [], []
        for group in ids:
            try:
                heirs.append(self.merge(group).id)
            except (NotAllowed, InvalidInput) as error:
                # Another process got there first, a decision named a member since it was read, or they are too much for one entry.
                refused.append(str(error))
            else:
                done.append(group)
        return ConsolidationReport(sum(len(group) for group in done), tuple(done), tuple(heirs), tuple(refused))

    def undo(self, event: int, *, key: str | None = None) -> tuple[str, ...]:
        """Take back an event (its number is in `events`): a birth, an edit, a merge, a removal, a pin, a setting.

        Returns:
            The ids of the entries that changed.

        Raises:
            UnknownEvent. NotUndoable: names what stands in the way.
        """
        with self._writing() as tx:

            def do() -> tuple[tuple[str, ...], Mapping[str, Any]]:
                changed = undo(tx, self._read_settings(tx), self._analyser, event, _UNDO)
                return changed, {"ids": [*changed]}

            return self._once(tx, key, "undo", lambda: {"event": event}, lambda said: tuple(said["ids"]), do)


_UNDO = {"feedback": taken_back, **LINKED}


def _request(new: NewEntry, retention: Any) -> Mapping[str, Any]:
    """What was asked for, by which a repeated request is known: without the id that was made for it, and before defaults."""
    return {**{name: value for name, value in asdict(new).items() if name not in ("id", "created")}, "retention": retention}

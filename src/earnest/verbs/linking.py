"""Verbs on links: stating and cutting them, asking what is related, and finding those that nobody stated."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from earnest.core import check, links
from earnest.core.calendar import days_before
from earnest.core.fading import lasts
from earnest.core.reports import Related
from earnest.errors import IndexDamaged
from earnest.graph import walking, weaving
from earnest.ledger import lifecycle
from earnest.verbs.base import Base

if TYPE_CHECKING:
    # Imported where a graph is asked for: to write XML, Python loads all that it knows of the network.
    from earnest.graph.exporting import Graph

_KINDS: Final = (*links.KINDS, walking.SUPERSESSION)
_MOST_HOPS: Final = 100
_LIKENED: Final = 500
"""Entries whose links by likeness are found in one run of `maintain`: each takes a search."""
_PRUNED: Final = 5_000
_PAGE: Final = 10_000


class LinkVerbs(Base):
    """Verbs on links."""

    def link(self, a: str, b: str, kind: str = "related", *, weight: float = 1.0, reason: str = "", key: str | None = None) -> Related:
        """State that two living entries of one scope belong together.

        Args:
            a, b: Their ids, in either order: a link has no direction.
            kind: "related", "semantic", "temporal" or "entity". (Supersession follows from `update` and `merge` and is not stated.)
            weight: Above 0, at most 1. A stated link neither fades nor makes room for found ones.
            reason: Why, for people; at most 200 characters.
            key: Idempotency key.

        Returns:
            `b` as it is related with `a` now. Stating a link that is there already strengthens it, and adds none.

        Raises:
            UnknownEntry, InvalidInput. NotAllowed: the two are one entry, lie in different scopes, one is dead, or has as many stated links
            as the setting `links` allows.

        An event; `undo` takes it back. Durable when it returns. Cost: one commit.
        """
        chosen = check.choice("kind", kind, links.KINDS)
        heavy = check.number("weight", weight, low=links.LEAST, high=1.0)
        why = self._remark("reason", reason, limit=200)
        now = self._clock.now()
        with self._writing() as tx:

            def do() -> tuple[Related, Mapping[str, Any]]:
                one, other = lifecycle.found(tx, a), lifecycle.found(tx, b)
                between = [link for link in tx.links_of([one.row]) if link.end(one.row) == other.row and link.kind == chosen]
                made = weaving.state(tx, self._read_settings(tx), one, other, chosen, heavy, why, now)
                held = {"links": [[link.kind, link.weight, link.reason, link.stated] for link in between]}
                tx.append(
                    "link", entries=[one.row, other.row], data={"kind": chosen, "weight": made.weight}, before=held if between else None
                )
                said = {"a": one.entry.id, "b": other.entry.id, "kind": chosen, "weight": made.weight, "reason": made.reason}
                return Related(other.entry, chosen, made.weight, made.weight, made.reason, 1, one.entry.id), said

            def load(said: Mapping[str, Any]) -> Related:
                entry = lifecycle.found(tx, said["b"]).entry
                return Related(entry, said["kind"], said["weight"], said["weight"], said["reason"], 1, said["a"])

            request = {"a": a, "b": b, "kind": chosen, "weight": heavy, "reason": why}
            return self._once(tx, key, "link", lambda: request, load, do)

    def unlink(self, a: str, b: str, kind: str | None = None, *, key: str | None = None) -> int:
        """Cut the links between two entries, of every kind unless one is named, found ones too; returns how many there were.

        A found link may be found again when one of the entries is written anew. An event, which `undo` takes back. Durable.

        Raises:
            UnknownEntry, InvalidInput.
        """
        chosen = None if kind is None else check.choice("kind", kind, links.KINDS)
        with self._writing() as tx:

            def do() -> tuple[int, Mapping[str, Any]]:
                one, other = lifecycle.found(tx, a), lifecycle.found(tx, b)
                between = [link for link in tx.links_of([one.row]) if link.end(one.row) == other.row and chosen in (None, link.kind)]
                for link in between:
                    tx.drop_link(link)
                if between:
                    said = [[link.kind, link.weight, link.reason, link.stated] for link in between]
                    tx.append("unlink", entries=[one.row, other.row], data={"cut": len(between)}, before={"links": said})
                return len(between), {"cut": len(between)}

            return self._once(tx, key, "unlink", lambda: {"a": a, "b": b, "kind": chosen}, lambda said: int(said["cut"]), do)

    def related(self, id: str, k: int = 5, *, hops: int = 1, kind: Any = None) -> list[Related]:
        """What an entry is linked with, most closely first, each entry once.

        Args:
            id: An entry of any standing; a dead one has only what took its place and what it took the place of.
            k: At most so many, 1 to 1,000.
            hops: How many links may lie between, 1 to 100. A link beyond the first counts half.
            kind: Only links of this kind, or of one of these: "semantic", "temporal", "entity", "related", "supersession".

        Raises:
            UnknownEntry, InvalidInput.

        Writes nothing. Cost: at most a thousand entries are visited, whatever the hops.
        """
        most = check.integer("k", k, low=1, high=1_000)
        far = check.integer("hops", hops, low=1, high=_MOST_HOPS)
        kinds = None if kind is None else frozenset(check.choice("kind", name, _KINDS) for name in check.labels("kind", kind))
        with self._store.read() as reading:
            settings = self._read_settings(reading)
            return walking.related(reading, settings, lifecycle.found(reading, id), most, far, kinds, self._clock.now())

    def graph(self, id: str | None = None, *, hops: int = 1, limit: int = 10_000) -> Graph:
        """Entries and the links between them, for drawing or for another program: those around an entry, or all of them.

        `Graph.graphml()` and `Graph.json()` write it. At most `limit` links, 1 to 1,000,000; `Graph.more` says whether there are more.

        Raises:
            UnknownEntry, InvalidInput.

        Writes nothing.
        """
        from earnest.graph.exporting import graph_of

        most = check.integer("limit", limit, low=1, high=1_000_000)
        far = check.integer("hops", hops, low=1, high=_MOST_HOPS)
        with self._store.read() as reading:
            settings = self._read_settings(reading)
            start = None if id is None else lifecycle.found(reading, id)
            return graph_of(reading, settings, start, far, most, self._clock.now())

    def _weave_on(self) -> int:
        """Finds the links of entries that were written in bulk, and those by likeness of some more; returns how many it looked at."""
        looked = 0
        while (done := self._woven(weaving.FIND, weaving.BATCH)) > 0:
            looked += done
        for _ in range(0, _LIKENED, weaving.BATCH):
            done = self._woven(weaving.LIKEN, weaving.BATCH)
            looked += done
            if not done:
                break
        with self._store.read() as reading:
            settings = self._read_settings(reading)
        gone = days_before(self._clock.now(), lasts(1.0, settings.decay_half_life, links.LEAST))
        with self._writing() as tx:
            tx.drop_unused_links(gone, _PRUNED)
        return looked

    def _unlinked(self) -> int:
        """How many living entries wait to be compared with others. O(what it counts)."""
        with self._store.read() as reading:
            if not self._read_settings(reading).links:
                return 0
            last, waiting = reading.counter(weaving.LIKEN), 0
            while rows := reading.living(last, _PAGE):
                waiting, last = waiting + len(rows), rows[-1]
            return waiting

    def _woven(self, counter: str, batch: int) -> int:
        """Finds links of the next batch of entries after a counter's; returns how many there were."""
        now = self._clock.now()
        with self._store.read() as reading:
            settings = self._read_settings(reading)
            if not settings.links or not reading.living(reading.counter(counter), 1):
                return 0
        with self._writing() as tx:
            settings, analyser = self._read_settings(tx), self._sound_index()
            rows = tx.living(tx.counter(counter), batch)
            with suppress(IndexDamaged):
                if counter == weaving.FIND:
                    weaving.weave(tx, settings, analyser, rows, now)
                else:
                    model, near = self._embedding.model if self._embedding.usable else "", self._embedding.near
                    for stored in tx.entries(rows):
                        if stored.entry.kind != "rule":
                            weaving.liken(tx, settings, analyser, model, near, stored, now)
            tx.bump(counter, (rows[-1] if rows else tx.counter(counter)) - tx.counter(counter))
        return len(rows)

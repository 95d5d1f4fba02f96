"""Verbs of forgetting: cleaning up what has faded, and what readers say of entries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from earnest.core import check
from earnest.core.entry import Entry
from earnest.core.opinions import VERDICTS
from earnest.core.reports import CleanupReport, Feedback
from earnest.forgetting import curve
from earnest.forgetting.feedback import feedback
from earnest.ledger import lifecycle
from earnest.ledger.testimony import Testimony
from earnest.verbs.base import Base


class FadingVerbs(Base):
    """Verbs of forgetting."""

    def decay_cleanup(self, dry_run: bool = False, *, key: str | None = None) -> CleanupReport:
        """Bury the fading entries that were left alone for so long that they are worth less than the threshold, with the cause `faded`.

        An entry is worth ``importance × exp(-age / S)``, ``S = decay_half_life / ln 2 × strength``; its age begins anew with each recall.
        Pinned entries never fade, nor does one whose event is still ahead, or that an open ticket names. By hand it is bound by no daily
        share.
        `restore` or `undo` brings an entry back, and its clock begins anew.

        Args:
            dry_run: Only say which entries would fade.
            key: Idempotency key: the same request with the same key returns the first report.

        Raises:
            InvalidInput. KeyReused: the key came with another request. StoreError: batches that were written before it stay.

        Durable in batches of 500 entries, each in one transaction; after a crash the next run goes on. Running it again at the same time
        changes nothing. Cost: in proportion to what falls; once after the half-life or the threshold changed, to the fading entries.
        """
        dry = check.flag("dry_run", dry_run)
        request = {"dry_run": dry}
        now = self._clock.now()
        with self._store.read() as reading:
            said = self._kept(reading, key, "decay_cleanup", request)
            if said is not None:
                entries = tuple(lifecycle.found(reading, entry).entry for entry in said["ids"])
                return CleanupReport(entries, said["kept"], said["dry_run"])
            faded = curve.faded(reading, self._read_settings(reading), now) if dry else []
        if dry:
            made = CleanupReport(tuple(faded), 0, True)
        else:
            fallen: list[Entry] = []
            waiting = self._let_fade(now, fallen)
            made = CleanupReport(tuple(fallen), waiting)
        kept = {"ids": [entry.id for entry in made.entries], "kept": made.kept, "dry_run": made.dry_run}
        self._remember(key, "decay_cleanup", request, kept)
        return made

    def _let_fade(
        self, now: datetime, fallen: list[Entry], most: int | None = None, spared: frozenset[str] = frozenset(), **data: Any
    ) -> int:
        """Buries what has faded, at most so many, adds them to `fallen` batch by batch, and returns how many were spared."""
        self._redate()
        kept, after, more = 0, None, True
        while more and (most is None or len(fallen) < most):
            with self._writing() as tx:
                room = curve.BATCH if most is None else min(curve.BATCH, most - len(fallen))
                batch = curve.fall(tx, self._read_settings(tx), now, after, most=room, spared=spared, **data)
            fallen += batch.entries
            kept, after, more = kept + batch.kept, batch.after, batch.after is not None
        return kept

    def _redate(self) -> None:
        """Sees to it that the dates follow the settings in force; a batch is a transaction."""
        with self._store.read() as reading:
            stale = not curve.dated(reading, self._read_settings(reading))
        while stale:
            with self._writing() as tx:
                stale = curve.redate(tx, self._read_settings(tx))

    def feedback(self, id: str, verdict: str, *, key: str | None = None) -> Feedback:
        """Take down what a reader thinks of an entry.

        Args:
            id: A living entry.
            verdict: "helpful": its strength grows (see `Entry.strength`) and its clock begins anew, and importance that other opinions took
                is given back. "unhelpful": its importance goes down by an eighth of what its author gave, at most to half of that.
                "outdated": it ceases to be valid now (`valid_to`), unless it is pinned or the channel is only a claim's (MCP, HTTP);
                `doctor` asks for a replacement.
            key: Idempotency key: the same request with the same key is carried out once.

        Returns:
            A `Feedback`: the entry after it, what changed, and why if that was less than asked. At most three opinions a day (UTC) change
            anything on one entry, whoever they come from.

        Raises:
            UnknownEntry, InvalidInput. NotAllowed: it is dead.

        An opinion, not a measurement: it moves no evidence, no balance and no standing. An event; `undo` takes it back. Durable when it
        returns. Cost: one commit.
        """
        said = check.choice("verdict", verdict, VERDICTS)
        now = self._clock.now()
        with self._writing() as tx:

            def do() -> tuple[Feedback, Mapping[str, Any]]:
                made = feedback(tx, self._read_settings(tx), lifecycle.found(tx, id), said, now, self._channel)
                return made, {"id": made.entry.id, "counted": made.counted, "changed": _plain(made.changed), "reason": made.reason}

            def load(kept: Mapping[str, Any]) -> Feedback:
                entry: Entry = lifecycle.found(tx, kept["id"]).entry
                return Feedback(entry, said, kept["counted"], _read(kept["changed"]), kept["reason"])

            return self._once(tx, key, "feedback", lambda: {"id": id, "verdict": said}, load, do)

    def recalled(self, ids: Iterable[str]) -> None:
        """Note that entries were used: they are counted as recalled, and grow stronger by what had been forgotten of them.

        For who shows what `search` found; `answer`, `decide` and `prefetch` note it by themselves. Rides with the next write to the store
        and may be lost. Unknown ids are passed over.

        Raises:
            InvalidInput: No list of ids.
        """
        names = check.labels("ids", ids)
        with self._store.read() as reading:
            rows = [stored.row for name in names if (stored := reading.entry(name)) is not None]
        self._note(None, rows)

    def earned(self, id: str) -> float:
        """What an entry has earned by outcomes alone, 0 to 1: by how much following it more probably helps than not.

        ``max(0, 2 p - 1)`` with the probability p of its evidence; 0 where nothing was measured, whatever was said of it and however
        often it was recalled.

        Raises:
            UnknownEntry.
        """
        with self._store.read() as reading:
            stored = lifecycle.found(reading, id)
            return Testimony(reading, self._read_settings(reading)).earned(stored.row)

    def now(self) -> datetime:
        """The present moment by this memory's clock, in UTC."""
        return self._clock.now()


def _plain(changed: Mapping[str, tuple[Any, Any]]) -> dict[str, list[Any]]:
    return {name: [value.isoformat() if isinstance(value, datetime) else value for value in pair] for name, pair in changed.items()}


def _read(changed: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What was remembered of a change, with its times as times again."""

    def back(name: str, value: Any) -> Any:
        return datetime.fromisoformat(value) if name == "valid_to" and value is not None else value

    return {name: (back(name, was), back(name, is_now)) for name, (was, is_now) in changed.items()}

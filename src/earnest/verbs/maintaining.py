"""Work that nobody asks for by name: consolidation on a schedule, inside the envelope."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

from earnest.core import check
from earnest.core.entry import StoredEntry
from earnest.core.reports import MaintenanceReport
from earnest.errors import EarnestError, InvalidInput, NotAllowed, NotUndoable
from earnest.forgetting import curve
from earnest.ledger import consolidation, envelope
from earnest.rules.standing import expire
from earnest.verbs.entries import EntryVerbs
from earnest.verbs.fading import FadingVerbs
from earnest.verbs.linking import LinkVerbs
from earnest.verbs.recalling import RecallVerbs


class MaintenanceVerbs(EntryVerbs, RecallVerbs, FadingVerbs, LinkVerbs):
    """Verbs for a clock to call, not a person."""

    def maintain(self, *, dry_run: bool = False, canaries: Iterable[Any] | None = None, key: str | None = None) -> MaintenanceReport:
        """Do what is due in keeping this memory tidy: merge near-duplicates, let the unused fade, find links, and let rules expire that
        were too seldom used.

        Meant for a schedule (cron, a service). At most `daily_share` of the living entries are changed a day, by the clock; the rest
        waits for the next day. In stores of fewer than 50 living entries the share does not bind. Links are derived, and count for
        nothing. Questions with known answers are asked before and after; what answers one does not fade, and if one is not answered as
        before, all that this run did is taken back (an event `rollback`, a finding of `doctor`), and those entries are left alone from
        then on.

        Args:
            dry_run: Only say what would be done.
            canaries: Pairs of a question and a text (or an entry's id) that its answer must hold, or mappings of `question`, `expect`
                and `scope`; those that hold already are watched. Unless given they come from the store: cues, and questions that
                were answered well.
            key: Idempotency key: repeating the request returns the first report.

        Returns:
            What was changed, what waits, and how the canaries did.

        Raises:
            InvalidInput: A canary that cannot be used. KeyReused: the key came with another request.

        Each merge is one durable transaction; a crash in between leaves merges that agree, counted in the day's share. Cost: as
        `consolidate`, and two searches for each canary.
        """
        given = envelope.checked(canaries)
        request = {"dry_run": check.flag("dry_run", dry_run), "canaries": None if given is None else [asdict(one) for one in given]}
        with self._store.read() as reading:
            kept = None if key is None else self._kept(reading, key, "maintain", request)
            if kept is not None:
                return _loaded(kept)
            settings = self._read_settings(reading)
            found, _ = consolidation.groups(reading, self._analyser, settings.merge_threshold)
            avoided = envelope.left_alone(reading)
            most = envelope.budget(reading, settings.daily_share, self._clock.now())
            chosen = envelope.within(found, most, avoided)
            asked = envelope.from_the_store(reading, chosen) if given is None else given
            fading = [entry.id for entry in curve.faded(reading, settings, self._clock.now(), avoided)]
        merging = sum(len(group) for group in chosen)
        room = None if most is None else max(0, most - merging)
        due = sum(len(group) for group in found if not any(stored.entry.id in avoided for stored in group)) + len(fading)
        planned = tuple(tuple(stored.entry.id for stored in group) for group in chosen)
        if dry_run:
            report = MaintenanceReport(0, most, due, planned, (), len(asked), (), False, (), tuple(fading[:room]))
        else:
            report = self._carry_out(chosen, most, due, asked, room if fading else 0, avoided)
            report = replace(report, linked=self._weave_on())
            self._let_lapse()
        if key is not None:
            with self._writing() as tx:
                self._once(tx, key, "maintain", lambda: request, _loaded, lambda: (report, asdict(report)))
        return report

    def _let_lapse(self) -> None:
        """Let rules expire that were too seldom used, as every tick does."""
        with self._store.read() as reading:
            if not reading.rules_ending(self._clock.now(), 1):
                return
        with self._writing() as tx:
            expire(tx, self._read_settings(tx), self._clock.now())

    def _carry_out(
        self, chosen: Sequence[Sequence[StoredEntry]], most: int | None, due: int, asked: Sequence[envelope.Canary],
        room: int | None, avoided: frozenset[str],
    ) -> MaintenanceReport:  # fmt: skip
        watched = envelope.known(asked, self._deciding) if chosen or room != 0 else []
        done: list[tuple[str, ...]] = []
        heirs: list[str] = []
        faded: list[str] = []
        try:
            for group in chosen:
                ids = tuple(stored.entry.id for stored in group)
                try:
                    heirs.append(self._merge(ids, by=envelope.SCHEDULE).id)
                except (NotAllowed, InvalidInput):
                    # Another process got there first, or a decision named a member since it was read: the next run looks again.
                    continue
                done.append(ids)
            if room != 0:
                spared = avoided | {known.before.id for known in watched}
                faded, _ = self._let_fade(self._clock.now(), room, spared, by=envelope.SCHEDULE)
            wrong = envelope.broken(watched, self._deciding)
        except EarnestError:
            # What cannot be looked over is not kept.
            self._roll_back(heirs, faded, [], len(watched))
            raise
        if wrong:
            stuck = self._roll_back(heirs, faded, wrong, len(watched))
            kept = [group for group, heir in zip(done, heirs, strict=True) if heir in stuck]
            return MaintenanceReport(sum(map(len, kept)), most, due, tuple(done), tuple(heirs), len(watched), _told(wrong), True, stuck)
        changed = sum(len(group) for group in done) + len(faded)
        return MaintenanceReport(
            changed, most, due - changed, tuple(done), tuple(heirs), len(watched), (), False, (), tuple(faded)
        )  # fmt: skip

    def _roll_back(self, heirs: Sequence[str], faded: Sequence[str], wrong: Sequence[envelope.Canary], watched: int) -> tuple[str, ...]:
        """Takes merges back, the last first, and lets what faded return; returns the heirs of those that something built on in between."""
        stuck, members = [], []
        for heir in reversed(heirs):
            with self._store.read() as reading:
                [merge] = reading.events(entry=heir, kind="merge", after=0, limit=1, newest=False)
                rows = [stored.row for entry in merge.entries[1:] if (stored := reading.entry(entry)) is not None]
            try:
                self.undo(merge.seq)
            except NotUndoable:
                stuck.append(heir)
            members += rows
        for entry in faded:
            # Somebody may have brought it back meanwhile.
            with suppress(NotAllowed):
                self.restore(entry)
            with self._store.read() as reading:
                members += [stored.row for stored in [reading.entry(entry)] if stored is not None]
        with self._writing() as tx:
            data = {"canaries": watched, "broken": len(wrong), "merges": len(heirs), "faded": len(faded), "stuck": len(stuck)}
            tx.append("rollback", entries=members, data=data, note="; ".join(_told(wrong))[: check.MAX_DETAIL])
        return tuple(stuck)


def _told(wrong: Sequence[envelope.Canary]) -> tuple[str, ...]:
    return tuple(canary.question for canary in wrong)


def _loaded(kept: Mapping[str, Any]) -> MaintenanceReport:
    said = dict(kept)
    said["groups"] = tuple(tuple(group) for group in said["groups"])
    for name in ("heirs", "broken", "stuck", "faded"):
        said[name] = tuple(said.get(name, ()))
    return MaintenanceReport(**said)

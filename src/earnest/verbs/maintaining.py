"""Work that nobody asks for by name: upkeep on a schedule, inside the envelope."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from earnest.core import check
from earnest.core.entry import Entry, StoredEntry
from earnest.core.reports import MaintenanceReport
from earnest.errors import EarnestError, InvalidInput, NotAllowed, NotUndoable
from earnest.forgetting import curve
from earnest.ledger import compressing, consolidation, envelope
from earnest.protocols import Reading
from earnest.rules.standing import expire
from earnest.verbs.asking import Metered
from earnest.verbs.compressing import CompressionVerbs, Squeezed
from earnest.verbs.fading import FadingVerbs
from earnest.verbs.linking import LinkVerbs


class _Plan(NamedTuple):
    """What a run is to do: groups to merge, whether anything has faded, long entries in turn; and how many entries are due at all."""

    groups: Sequence[Sequence[StoredEntry]]
    fading: Sequence[str]
    long: Sequence[StoredEntry]
    due: int
    most: int | None
    avoided: frozenset[str]

    @property
    def room(self) -> int | None:
        """What is left of the day's share when the groups are merged."""
        return None if self.most is None else max(0, self.most - sum(map(len, self.groups)))

    @property
    def anything(self) -> bool:
        """Whether anything of it may be done today."""
        return bool(self.groups) or (self.room != 0 and bool(self.fading or self.long))

    @property
    def to_compress(self) -> Sequence[StoredEntry]:
        """The long entries that may come to their turn in this run."""
        rest = None if self.room is None else max(0, self.room - len(self.fading))
        return self.long[: compressing.TRIED if rest is None else min(rest, compressing.TRIED)]


@dataclass(slots=True)
class _Done:
    """What a run did so far."""

    groups: list[tuple[str, ...]] = field(default_factory=list)
    heirs: list[str] = field(default_factory=list)
    fallen: list[Entry] = field(default_factory=list)
    shorter: Squeezed = field(default_factory=Squeezed)

    @property
    def changed(self) -> int:
        return sum(map(len, self.groups)) + len(self.fallen) + len(self.shorter.done)


class MaintenanceVerbs(CompressionVerbs, FadingVerbs, LinkVerbs):
    """Verbs for a clock to call, not a person."""

    def maintain(
        self, *, dry_run: bool = False, canaries: Iterable[Any] | None = None, llm: Any = None, key: str | None = None
    ) -> MaintenanceReport:
        """Do what is due in keeping this memory tidy: merge near-duplicates, let the unused fade, make long entries shorter where the
        setting `compress_over` says so, find links, let rules expire that were too seldom used, and forget idempotency keys of more than
        90 days ago.

        Meant for a schedule (cron, a service). At most `daily_share` of the living entries are changed a day, by the clock; the rest
        waits for the next day. In stores of fewer than 50 living entries the share does not bind. Links are derived, and count for
        nothing: 500 entries are compared with others in one run, and the next run goes on after them. Questions with known answers are
        asked before and after; what answers one does not fade, and if one is not answered as before, all that this run did is taken back
        (an event `rollback`, a finding of `doctor`), and those entries are left alone from then on.

        Args:
            dry_run: Only say what would be done.
            canaries: Pairs of a question and a text (or an entry's id) that its answer must hold, or mappings of `question`, `expect`
                and `scope`; those that hold already are watched. Unless given they come from the store: cues, and questions that
                were answered well.
            llm: Asks this language model for the shorter texts, as in `compress`; without one no model is ever asked.
            key: Idempotency key: repeating the request returns the first report.

        Returns:
            What was changed, what waits, and how the canaries did.

        Raises:
            InvalidInput: A canary that cannot be used, or a model where nothing is to be compressed. NotAvailable: there is no such model.
            KeyReused: the key came with another request.

        Each merge and each shorter text is one durable transaction; a crash in between leaves those that agree, counted in the day's
        share. Cost: as `consolidate`, two searches for each canary, and the model's calls.
        """
        given = envelope.checked(canaries)
        watch = None if given is None else [asdict(one) for one in given]
        request: dict[str, Any] = {"dry_run": check.flag("dry_run", dry_run), "canaries": watch}
        model = None if llm is None else self._metered(llm, keep=True)
        if model is not None:
            request["model"] = model.model_id
        with self._store.read() as reading:
            kept = self._kept(reading, key, "maintain", request)
            if kept is not None:
                return _loaded(kept)
            plan = self._planned(reading)
            if model is not None and not self._read_settings(reading).compress_over:
                raise InvalidInput(
                    "llm", model.model_id, "writes shorter texts, and nothing is compressed while the setting compress_over is 0"
                )
            # Where nothing is to be done there is nothing to watch.
            asked = given if given is not None else self._canaries(reading, plan) if dry_run or plan.anything else []
        if dry_run:
            planned = tuple(tuple(stored.entry.id for stored in group) for group in plan.groups)
            report = MaintenanceReport(0, plan.most, plan.due, planned, (), len(asked), (), False, (), tuple(plan.fading[: plan.room]),
                                       compressed=tuple((stored.entry.id, "") for stored in plan.to_compress))  # fmt: skip
        else:
            report = self._carry_out(plan, asked, model)
            report = replace(report, linked=self._weave_on())
            self._let_lapse()
            self._forget_keys()
        report = replace(report, to_link=self._unlinked())
        self._remember(key, "maintain", request, asdict(report))
        return report

    def _planned(self, reading: Reading) -> _Plan:
        """What is due, and what of it fits into what is left of the day."""
        settings, now = self._read_settings(reading), self._clock.now()
        avoided = envelope.left_alone(reading)
        found, _ = consolidation.groups(reading, self._analyser, settings.merge_threshold)
        wanted = [group for group in found if not any(stored.entry.id in avoided for stored in group)]
        fading = [entry.id for entry in curve.faded(reading, settings, now, avoided)]
        long: list[StoredEntry] = []
        if settings.compress_over:
            taken = {stored.entry.id for group in wanted for stored in group} | avoided | {*fading}
            every = compressing.long_ones(reading, settings.compress_over, settings.compress_after, now, frozenset(taken))
            long = compressing.in_turn(reading, every)
        most = envelope.budget(reading, settings.daily_share, now)
        due = sum(map(len, wanted)) + len(fading) + len(long)
        return _Plan(envelope.within(found, most, avoided), fading, long, due, most, avoided)

    def _canaries(self, reading: Reading, plan: _Plan) -> list[envelope.Canary]:
        return envelope.from_the_store(reading, [*plan.groups, *([stored] for stored in plan.to_compress)])

    def _let_lapse(self) -> None:
        """Let rules expire that were too seldom used, as every tick does."""
        with self._store.read() as reading:
            if not reading.rules_ending(self._clock.now(), 1):
                return
        with self._writing() as tx:
            expire(tx, self._read_settings(tx), self._clock.now())

    def _carry_out(self, plan: _Plan, asked: Sequence[envelope.Canary], model: Metered | None) -> MaintenanceReport:
        room = plan.room
        watched = envelope.known(asked, self._deciding) if plan.anything else []
        done = _Done()
        try:
            for group in plan.groups:
                ids = tuple(stored.entry.id for stored in group)
                try:
                    done.heirs.append(self._merge(ids, by=envelope.SCHEDULE).id)
                except (NotAllowed, InvalidInput):
                    # Another process got there first, or a decision named a member since it was read: the next run looks again.
                    continue
                done.groups.append(ids)
            if plan.fading and room != 0:
                spared = plan.avoided | {known.before.id for known in watched}
                self._let_fade(self._clock.now(), done.fallen, room, spared, by=envelope.SCHEDULE)
            if plan.long:
                self._squeeze(plan.long, None if room is None else max(0, room - len(done.fallen)), model, done.shorter)
            wrong = envelope.broken(watched, self._deciding)
        except EarnestError:
            # What cannot be looked over is not kept.
            self._roll_back(done, [], len(watched))
            raise
        made = MaintenanceReport(
            done.changed, plan.most, plan.due - done.changed, tuple(done.groups), tuple(done.heirs), len(watched), (), False,
            refused=tuple(done.shorter.refused),
        )  # fmt: skip
        if wrong:
            stuck = self._roll_back(done, wrong, len(watched))
            kept = sum(len(group) for group, heir in zip(done.groups, done.heirs, strict=True) if heir in stuck)
            kept += sum(heir in stuck for _, heir in done.shorter.done)
            return replace(made, changed=kept, due=plan.due, broken=tuple(one.question for one in wrong), rolled_back=True, stuck=stuck)
        faded = tuple(entry.id for entry in done.fallen)
        return replace(made, faded=faded, compressed=tuple(done.shorter.done), saved=done.shorter.saved)

    def _roll_back(self, done: _Done, wrong: Sequence[envelope.Canary], watched: int) -> tuple[str, ...]:
        """Brings what was compressed, merged and faded back, in this order; returns the heirs that something was built on in between."""
        stuck: list[str] = []
        members = self._expanded(done.shorter, stuck)
        for heir in reversed(done.heirs):
            with self._store.read() as reading:
                [merge] = reading.events(entry=heir, kind="merge", after=0, limit=1, newest=False)
                rows = [stored.row for entry in merge.entries[1:] if (stored := reading.entry(entry)) is not None]
            try:
                self.undo(merge.seq)
            except NotUndoable:
                stuck.append(heir)
            members += rows
        faded = [entry.id for entry in done.fallen]
        for entry in faded:
            # Somebody may have brought it back meanwhile.
            with suppress(NotAllowed):
                self.restore(entry)
            with self._store.read() as reading:
                members += [stored.row for stored in [reading.entry(entry)] if stored is not None]
        with self._writing() as tx:
            envelope.rolled_back(
                tx, members, wrong, canaries=watched, stuck=len(stuck), merges=len(done.heirs), faded=len(faded),
                compressed=len(done.shorter.done),
            )  # fmt: skip
        return tuple(stuck)


def _loaded(kept: Mapping[str, Any]) -> MaintenanceReport:
    said = dict(kept)
    said["groups"] = tuple(tuple(group) for group in said["groups"])
    for name in ("heirs", "broken", "stuck", "faded"):
        said[name] = tuple(said.get(name, ()))
    for name in ("compressed", "refused"):
        said[name] = tuple(tuple(pair) for pair in said.get(name, ()))
    return MaintenanceReport(**said)

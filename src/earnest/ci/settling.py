"""From the reports of two runs to settled tickets: measured once, shared among the tickets, landed once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from earnest.ci import flaky, state
from earnest.core import check
from earnest.core.tallies import tally
from earnest.core.ticket import PendingTicket
from earnest.errors import NothingMeasured
from earnest.memory import Memory
from earnest.meters.junit import Report, read_reports
from earnest.meters.testruns import Run, compare, together, unmeasured

CHANNEL: Final = "settle-ci"
METER: Final = "ci"
SECOND_METER: Final = "ci-rerun"


@dataclass(frozen=True, slots=True)
class Request:
    """One run to settle by.

    base, head: reports, or folders of reports that are one run in parts; several are runs of the same code. tickets: ids. run: what names
    this run; the digest of its reports unless given. codes: what names the code of base and head (a git tree is best), "" if nothing does.
    opened_by: tickets that were opened later are refused. at_base: ids that were open at base; None if that is not asked. quarantine:
    runs that a flaky test is not believed for.
    """

    base: Sequence[str | Path]
    head: Sequence[str | Path]
    tickets: Sequence[str] = ()
    meter: str = METER
    scale: float | None = None
    detail: str = ""
    run: str | None = None
    codes: tuple[str, str] = ("", "")
    opened_by: datetime | None = None
    at_base: frozenset[str] | None = None
    allow_removed: bool = False
    quarantine: int = flaky.QUARANTINE


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run measured and what that settled. `delta` is None where nothing could be measured; `landed` counts tickets.

    share: what each ticket was settled by. refused: tickets that were named and not settled, with the reason. removed, silenced: tests
    that passed at base and are gone, or skipped, at head: losses that no ticket pays for. repeated: this run was settled before; nothing
    moved now.
    """

    delta: float | None
    landed: int
    tickets: tuple[str, ...]
    improved: tuple[str, ...] = ()
    regressed: tuple[str, ...] = ()
    quarantined: tuple[str, ...] = ()
    reason: str = ""
    run: str = ""
    share: float | None = None
    shared_tests: int = 0
    added: int = 0
    removed: tuple[str, ...] = ()
    silenced: tuple[str, ...] = ()
    disputed: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    suspended: tuple[str, ...] = ()
    cleared: tuple[str, ...] = ()
    buried: tuple[str, ...] = ()
    tick: int | None = None
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Measured:
    """A run that was measured, and what is remembered after it."""

    outcome: Outcome
    known: flaky.Known
    began: datetime | None


def measure(request: Request, known: flaky.Known) -> Measured:
    """Compare the two sides and leave out what flaky tests did. Nothing is written.

    Raises:
        NothingMeasured: There is no readable evidence; says what was missing.
    """
    before, after = read_reports(list(request.base)), read_reports(list(request.head))
    base, head = _side(before), _side(after)
    why = unmeasured(base, head, allow_removed=request.allow_removed)
    if why is not None:
        raise NothingMeasured(f"{why}; no ticket was settled")
    judged = flaky.judge(known, compare(base, head), base, head, request.codes, request.quarantine)
    made = judged.comparison
    starts = [report.started for report in after if report.started is not None]
    outcome = Outcome(
        made.delta, 0, tuple(request.tickets), made.improved, made.regressed, judged.quarantined,
        run=_name(request), shared_tests=made.shared, added=len(made.added), removed=made.removed, silenced=made.silenced,
        disputed=made.disputed, reason=tally(len(made.improved), len(made.regressed), made.shared),
    )  # fmt: skip
    return Measured(outcome, judged.known, min(starts, default=None))


def _side(reports: Sequence[Report]) -> Run:
    return together([report.results for report in reports], [name for report in reports for name in report.broken])


def _name(request: Request) -> str:
    """What names a run: what the caller says, else its reports, byte for byte."""
    if request.run is not None:
        return check.label("run_id", request.run, limit=100)
    made = hashlib.sha256()
    for side in (request.base, request.head):
        for place in side:
            path = Path(place)
            for file in sorted(path.rglob("*.xml")) if path.is_dir() else [path]:
                made.update(hashlib.sha256(file.read_bytes()).digest())
        made.update(b"|")
    return made.hexdigest()[:32]


def settle_ci(memory: Memory, place: Path, request: Request, *, patience: float = 30.0) -> Outcome:
    """Measure a run and settle by it the tickets that it names. A run settles once, also if this was interrupted.

    Args:
        memory: Opened with the channel `settle-ci`.
        place: The file that keeps what is known of flaky tests and earlier runs, beside the store.
        patience: Seconds to wait for another run that is settling.

    Returns:
        What was measured and what landed. Several tickets share the outcome: the tests cannot say which of them did it.

    Raises:
        NothingMeasured: There is no readable evidence: nothing is written, and the tickets stay open.
        InvalidInput, StoreError: A value that cannot be used; a store or a state that cannot.

    Durable when it returns. Cost: the reports, and one commit a ticket.
    """
    with state.opened(place, patience) as kept:
        name = _name(request) if request.run is not None else None
        if name is not None and name in kept.runs and _closed(kept.runs[name]):
            return _again(name, kept.runs[name])
        measured = measure(request, kept.known)
        name = measured.outcome.run
        before = kept.runs.get(name)
        if before is not None and _closed(before):
            return _again(name, before)
        if before is None or before.done:
            taken, refused = _accepted(memory, request, measured.began)
            plan = _plan(request, measured, taken)
            known = measured.known if before is None else kept.known
        else:  # It was interrupted: the same plan is carried out to its end.
            plan, refused, known = before, {}, kept.known
        kept = kept.with_run(name, plan, known)
        state.write(place, kept)
        outcome, landed = _carry_out(memory, name, plan, measured.outcome, refused)
        if plan.tickets:
            state.write(place, kept.with_run(name, state.finished(plan, landed)))
        return outcome


def _closed(run: state.Settled) -> bool:
    """Whether a run has nothing left to do: one that named no ticket that was open may come again with one."""
    return run.done and bool(run.landed)


def _again(name: str, run: state.Settled) -> Outcome:
    return Outcome(
        run.delta, len(run.landed), run.tickets, run.improved, run.regressed, run.quarantined, share=run.share, run=name,
        reason=f"run {name} was settled before; nothing moved now", repeated=True,
    )  # fmt: skip


def _accepted(memory: Memory, request: Request, began: datetime | None) -> tuple[tuple[str, ...], dict[str, str]]:
    """The tickets that this run may settle, and why not the others."""
    open_now: dict[str, PendingTicket] = {ticket.id: ticket for ticket in memory.pending()} if request.tickets else {}
    taken, refused = [], {}
    for name in request.tickets:
        ticket = open_now.get(name)
        if ticket is None:
            refused[name] = "is not open in this store: it is unknown, or was settled, abandoned or expired"
        elif request.at_base is not None and name not in request.at_base:
            refused[name] = "was not open at base: a decision has to be older than the change that it is judged by"
        elif request.opened_by is not None and ticket.opened > request.opened_by:
            refused[name] = f"was opened at {ticket.opened.isoformat()}, after the base"
        elif began is not None and ticket.opened > began:
            refused[name] = (
                f"was opened at {ticket.opened.isoformat()}, when the head run had begun already: it cannot have shaped the change"
            )
        else:
            taken.append(name)
    return tuple(taken), refused


def _plan(request: Request, measured: Measured, taken: tuple[str, ...]) -> state.Settled:
    made = measured.outcome
    delta = made.delta or 0
    most = 100 if taken else state.NAMED
    return state.Settled(
        measured.known.run, delta, delta / max(1, len(taken)), taken, made.improved[:most], made.regressed[:most], made.quarantined[:most],
        check.label("meter", request.meter, limit=100), None if request.scale is None else check.scale("scale", request.scale),
        check.note("detail", request.detail), done=not taken,
    )  # fmt: skip


def _carry_out(
    memory: Memory, name: str, plan: state.Settled, seen: Outcome, refused: Mapping[str, str]
) -> tuple[Outcome, tuple[str, ...]]:
    landed: list[str] = []
    turned: dict[str, list[str]] = {"suspended": [], "cleared": [], "buried": []}
    late = dict(refused)
    said = f"{seen.reason}" + (f"; shared by {len(plan.tickets)} tickets" if len(plan.tickets) > 1 else "")
    detail = f"{plan.detail}; {said}" if plan.detail else said
    for ticket in plan.tickets:
        made = memory.settle(
            ticket, delta=plan.share, meter=plan.meter, scale=plan.scale, detail=detail[: check.MAX_DETAIL],
            key=f"settle-ci:{name}:{ticket}"[:200],
        )  # fmt: skip
        if not made:
            late[ticket] = made.reason
            continue
        landed.append(ticket)
        for kind, names in turned.items():
            names += getattr(made, kind)
    tick = memory.tick_due() if landed else None
    return Outcome(
        plan.delta, len(landed), seen.tickets, seen.improved, seen.regressed, seen.quarantined, _reason(seen, landed, late), name,
        plan.share if landed else None, seen.shared_tests, seen.added, seen.removed, seen.silenced, seen.disputed, late,
        tuple(turned["suspended"]), tuple(turned["cleared"]), tuple(turned["buried"]), None if tick is None else tick.tick,
    ), tuple(landed)  # fmt: skip


def _reason(seen: Outcome, landed: Sequence[str], refused: Mapping[str, str]) -> str:
    parts = [seen.reason]
    if not seen.tickets:
        parts.append("no ticket is named, so nothing was settled")
    elif len(landed) > 1:
        parts.append(f"shared by {len(landed)} tickets")
    parts += [f"ticket {ticket} {why}" for ticket, why in [*refused.items()][:5]]
    if seen.removed:
        parts.append(f"{len(seen.removed)} tests that passed are gone")
    if seen.silenced:
        parts.append(f"{len(seen.silenced)} tests that passed are skipped now")
    return "; ".join(parts)


def look_again(memory: Memory, place: Path, request: Request, *, patience: float = 30.0) -> Outcome:
    """Measure once more what settled tickets changed, for an appeal: by runs made anew, recorded under a meter of its own.

    What the tickets shared then they share now.

    Raises:
        NothingMeasured: There is no readable evidence. NotAllowed: The same meter has measured a ticket already.
    """
    with state.opened(place, patience) as kept:
        measured = measure(request, kept.known)
        made = measured.outcome
        delta = made.delta or 0
        landed, refused = [], {}
        turned: dict[str, list[str]] = {"suspended": [], "cleared": [], "buried": []}
        for ticket in request.tickets:
            share = delta / (kept.share_of(ticket) or max(1, len(request.tickets)))
            look = memory.remeasure(
                ticket,
                delta=share,
                meter=request.meter,
                scale=request.scale,
                detail=made.reason,
                key=f"remeasure-ci:{made.run}:{ticket}"[:200],
            )
            if not look:
                refused[ticket] = look.reason
                continue
            landed.append(ticket)
            for kind, names in turned.items():
                names += getattr(look, kind)
        return Outcome(
            delta, len(landed), made.tickets, made.improved, made.regressed, made.quarantined, _reason(made, landed, refused), made.run,
            None, made.shared_tests, made.added, made.removed, made.silenced, made.disputed, refused,
            tuple(turned["suspended"]), tuple(turned["cleared"]), tuple(turned["buried"]),
        )  # fmt: skip


def control(memory: Memory, place: Path, request: Request, *, patience: float = 30.0) -> Outcome:
    """Record what two runs of the *same* code showed: it teaches the meter's noise, and which tests are flaky.

    Raises:
        NothingMeasured: There is no readable evidence.
    """
    with state.opened(place, patience) as kept:
        measured = measure(request, kept.known)
        made = measured.outcome
        name = made.run
        if name in kept.runs:
            return _again(name, kept.runs[name])
        disputed = tuple(sorted({*made.improved, *made.regressed, *made.disputed, *made.quarantined}))
        run = measured.known.run
        habits = {**kept.known.habits}
        for test in disputed:
            habit = habits.get(test, flaky.Habit())
            habits[test] = flaky.Habit((*habit.disputes[-9:], run), 0, run)
        known = flaky.Known(run, habits, measured.known.codes)
        delta = made.delta or 0
        memory.control(delta=delta, meter=request.meter, scale=request.scale, detail=made.reason, key=f"control-ci:{name}"[:200])
        plan = state.Settled(
            run,
            delta,
            0.0,
            (),
            made.improved[: state.NAMED],
            made.regressed[: state.NAMED],
            made.quarantined[: state.NAMED],
            request.meter,
            done=True,
        )
        state.write(place, kept.with_run(name, plan, known))
    return Outcome(
        delta, 0, (), made.improved, made.regressed, made.quarantined, f"a control: {made.reason}", name, None, made.shared_tests,
        made.added, made.removed, made.silenced, disputed,
    )  # fmt: skip

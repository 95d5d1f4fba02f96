"""Questions about the ledger that change nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from earnest.core.amounts import WORLD
from earnest.core.entry import Entry
from earnest.core.reports import Audit, Stats
from earnest.core.rules import Rule
from earnest.core.ticket import Answer, PendingTicket, StoredTicket, Ticket
from earnest.protocols import Reading

# A sum of huge deltas stays a number, so that everything that shows it stays strict JSON.
_MOST = 1.7e308


def stats(reading: Reading, agent: str) -> Stats:
    """Counts and sums from running numbers."""
    totals = reading.totals()

    def n(name: str) -> int:
        return int(totals.get(name, 0))

    def prefixed(prefix: str) -> dict[str, int]:
        return {name.removeprefix(prefix): count for name, count in sorted(totals.items()) if name.startswith(prefix) and count}

    # Rent is booked when an account is next touched: what the living owe of it is told with what they have paid.
    accounts = {name: int(amount) for name, amount in totals["accounts"].items()}
    accounts["rent"] -= sum(accounts.values()) + n("energy")
    return Stats(
        agent=agent,
        alive=n("alive"),
        suspended=n("suspended"),
        dead=n("dead"),
        total=n("alive") + n("suspended") + n("dead"),
        pending=n("pending"),
        tick=n("tick"),
        energy=n("energy"),
        by_kind=prefixed("kind:"),
        by_cause=prefixed("dead:"),
        by_scope=dict(totals["scopes"]),
        accounts=accounts,
        decisions=n("decisions"),
        silent=n("silent"),
        settled=n("settled"),
        abandoned=n("abandoned"),
        expired=n("expired"),
        dropped=n("dropped"),
        redacted=n("redacted"),
        pinned=n("pinned"),
        by_tier=prefixed("tier:"),
        rules=dict(totals["rules"]),
    )


def open_one(ticket: StoredTicket, tick: int) -> PendingTicket:
    """An open ticket as people see it."""
    return PendingTicket(
        id=ticket.id,
        query=ticket.query,
        answer=ticket.answer,
        deciding=next((share.entry_id for share in ticket.shares if share.role == "deciding"), None),
        supporting=tuple(share.entry_id for share in ticket.shares if share.role == "supporting"),
        opened_tick=ticket.opened_tick,
        opened=ticket.opened,
        age_ticks=tick - ticket.opened_tick,
        holdout=ticket.holdout,
    )


def opened(said: Answer, ticket: StoredTicket, supporting: Sequence[Entry], rules: Sequence[Rule] = ()) -> Ticket:
    """An answer with the ticket that was opened for it."""
    return Ticket(
        text=said.text, deciding=said.deciding, supporting=tuple(supporting), annotated=said.annotated, silent=False,
        from_memory=said.from_memory, id=ticket.id, holdout=ticket.holdout, exposure=ticket.exposure, rules=tuple(rules),
    )  # fmt: skip


def reopened(reading: Reading, kept: Mapping[str, Any]) -> Ticket:
    """A ticket that was opened before, as `decide` returned it; the entries as they stand now."""
    ticket = reading.ticket(kept["ticket"])
    assert ticket is not None, "a remembered ticket is never removed"
    by_row = {stored.row: stored.entry for stored in reading.entries([share.entry_row for share in ticket.shares])}
    deciding = next((by_row[s.entry_row] for s in ticket.shares if s.role == "deciding"), None)
    # A rule that was shown stands in the same role.
    supporting = tuple(
        by_row[s.entry_row] for s in ticket.shares if s.role in ("supporting", "cited") and by_row[s.entry_row].kind != "rule"
    )
    said = kept["annotated"]
    return Ticket(
        ticket.answer, deciding, supporting, said, False, not ticket.holdout, id=ticket.id, holdout=ticket.holdout, exposure=ticket.exposure
    )  # fmt: skip


def shown_rules(reading: Reading, ticket_id: str) -> list[int]:
    """Rows of the rules that were shown beside a decision."""
    ticket = reading.ticket(ticket_id)
    rows = [] if ticket is None else [share.entry_row for share in ticket.shares if share.role in ("supporting", "cited")]
    return [stored.row for stored in reading.entries(rows) if stored.entry.kind == "rule"] if rows else []


def audit(reading: Reading, after: int, limit: int) -> Audit:
    """Reads the log after an event. O(the events read)."""
    kinds: Counter[str] = Counter()
    tiers: Counter[str] = Counter()
    meters: dict[str, dict[str, Any]] = defaultdict(lambda: {"settlements": 0, "total": 0.0, "tiers": Counter()})
    gains: Counter[int] = Counter()
    credited = fined = 0
    first, last, seen = after + 1, after, 0
    while seen < limit:
        page = reading.events(entry=None, kind=None, after=last, limit=min(1_000, limit - seen), newest=False)
        if not page:
            break
        for event in page:
            kinds[event.kind] += 1
            if event.kind != "settle":
                continue
            tiers[str(event.data["tier"])] += 1
            meter = meters[str(event.data["meter"])]
            meter["settlements"] += 1
            meter["total"] = max(-_MOST, min(_MOST, meter["total"] + event.data["delta"]))
            meter["tiers"][event.data["tier"]] += 1
            for posting in reading.postings(event.seq):
                credited += posting.amount if posting.debit == WORLD else 0
                fined += posting.amount if posting.credit == WORLD else 0
            for row, amount in event.data["moved"]:
                gains[row] += amount
        seen += len(page)
        last = page[-1].seq
    names = {stored.row: stored.entry.id for stored in reading.entries([*gains])} if gains else {}
    ranked = sorted(((names[row], amount) for row, amount in gains.items() if row in names), key=lambda item: (-item[1], item[0]))
    units = {meter.name: meter.unit for meter in reading.meters()} if meters else {}
    return Audit(
        first=first,
        last=last,
        by_kind=dict(sorted(kinds.items())),
        by_meter={name: {**meter, "unit": units.get(name, ""), "tiers": dict(meter["tiers"])} for name, meter in sorted(meters.items())},
        by_tier=dict(tiers),
        credited=credited,
        fined=fined,
        gainers=tuple(item for item in ranked if item[1] > 0)[:5],
        losers=tuple(item for item in reversed(ranked) if item[1] < 0)[:5],
    )

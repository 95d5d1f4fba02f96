"""`classic` against darwin-memo 0.7.1: the same histories, posting by posting.

The histories were recorded by `bench/traces/record.py` with the real package; it says what they leave out on purpose. Energy is a
float there and whole micro-units here, so that one posting rounds by at most half a micro-unit: credits are compared to the unit,
balances within half a unit for each posting that went into them. Deaths come at the same tick. Their cause is the same but for one
thing that Earnest does otherwise on purpose: an entry that only supported a harmful decision pays its part, and starves.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, Final

import pytest

from earnest import Memory
from earnest.core.amounts import MICRO, WORLD, micro
from earnest.core.credit import Classic
from earnest.core.entry import StoredEntry
from earnest.core.events import Posting
from earnest.core.ticket import Share
from earnest.ledger import decisions, ticking
from earnest.testing.clock import ManualClock, SeededRng

TRACES: Final = Path(__file__).resolve().parents[1] / "data" / "traces"
NAMES: Final = ("plain", "harmful", "thriving", "expiring", "escrowed", "other-settings")


def trace(name: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads((TRACES / f"classic-{name}.json").read_text(encoding="utf-8"))
    return made


@pytest.fixture(params=NAMES)
def recorded(request: pytest.FixtureRequest) -> dict[str, Any]:
    return trace(request.param)


def test_every_recorded_history_comes_from_the_released_package() -> None:
    assert sorted(path.name for path in TRACES.glob("*.json")) == sorted(f"classic-{name}.json" for name in (*NAMES, "spread"))
    assert {(trace(name)["package"], trace(name)["version"]) for name in (*NAMES, "spread")} == {("darwin-memo", "0.7.1")}


def test_the_histories_hold_what_they_are_meant_to_compare() -> None:
    operations: Counter[str] = Counter()
    causes: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for name in NAMES:
        told = trace(name)
        operations.update(event["op"] for event in told["events"])
        for event in told["events"]:
            causes.update(event["died"].values())
            seen["expired"] += len(event.get("expired", ()))
            seen["died on " + event["op"]] += bool(event["died"])
            seen["at the cap"] += any(held == told["config"]["cap"] for held in event["holds"].values())
            seen["empty in escrow"] += any(held <= 1e-9 for held in event["holds"].values())
            seen["zero"] += event.get("delta", 1) == 0
            seen["saturated"] += any(abs(abs(credit) - 0.6) < 1e-12 for credit in event.get("credits", {}).values())
    assert set(operations) == {"add", "decide", "settle", "abandon", "tick", "pin", "unpin"}
    assert min(causes["executed"], causes["starved"]) > 5
    for what in ("expired", "at the cap", "empty in escrow", "zero", "saturated", "died on settle", "died on tick", "died on abandon"):
        assert seen[what] > 0, what


def test_the_pure_rule_gives_each_entry_the_credit_that_darwin_memo_gave_it(recorded: dict[str, Any]) -> None:
    rule = Classic(recorded["config"]["gain"], recorded["config"]["supporting_share"])
    decided = {event["ticket"]: event for event in recorded["events"] if event["op"] == "decide"}
    compared = 0
    for event in recorded["events"]:
        if event["op"] != "settle":
            continue
        decision = decided[event["ticket"]]
        shares = [Share(decision["deciding"], "d", "deciding"), *(Share(row, "s", "supporting") for row in decision["supporting"])]
        made = {str(credit.share.entry_row): credit.amount for credit in rule.credits(event["delta"], event["scale"], shares)}
        assert made == {entry: round(credit * MICRO) for entry, credit in event["credits"].items()}
        compared += len(made)
    assert compared > 30


def test_the_pure_rule_spreads_over_cited_entries_as_darwin_memo_does() -> None:
    for case in trace("spread")["cases"]:
        shares = [Share(row, str(row), "cited") for row in range(len(case["credits"]))]
        made = [credit.amount for credit in Classic().credits(case["delta"], case["scale"], shares)]
        assert made == [round(credit * MICRO) for credit in case["credits"]]


class Replay:
    """Earnest on the steps of a history, through its own ledger, with the deciders that the history names."""

    def __init__(self, told: dict[str, Any]) -> None:
        config = told["config"]
        self.memory = Memory.open(
            ":memory:",
            clock=ManualClock(),
            rng=SeededRng(5),
            settings={
                "rule": "classic", "gain": config["gain"], "supporting_share": config["supporting_share"], "stake": config["stake"],
                "rent": config["upkeep"], "cap": config["cap"], "expire_after": config["expire_after"],
            },
        )  # fmt: skip
        self.expire_after: int = config["expire_after"]
        self.ids: list[str] = []
        self.tickets: list[str] = []
        self.postings: Counter[int] = Counter()
        self.seen = 0

    def number(self, entry_id: str) -> int:
        return self.ids.index(entry_id)

    def named(self, rows: list[int]) -> list[StoredEntry]:
        with self.memory._store.read() as reading:
            return [stored for i in rows if (stored := reading.entry(self.ids[i])) is not None]

    def fresh_postings(self) -> list[tuple[str, Posting]]:
        """The postings of the events since the last call, each with its event's kind."""
        made = []
        for event in self.memory.events(after=self.seen, limit=1_000):
            self.seen = event.seq
            with self.memory._store.read() as reading:
                made += [(event.kind, posting) for posting in reading.postings(event.seq)]
        return made

    def step(self, event: dict[str, Any]) -> dict[int, int]:
        """Takes one step; returns what the world paid or fined each entry."""
        getattr(self, "do_" + event["op"])(event)
        rows = {stored.row: i for i, stored in enumerate(self.named(list(range(len(self.ids)))))}
        moved: dict[int, int] = defaultdict(int)
        for _, posting in self.fresh_postings():
            for account, amount in ((posting.debit, -posting.amount), (posting.credit, posting.amount)):
                if account in rows:
                    self.postings[rows[account]] += 1
                    if WORLD in (posting.debit, posting.credit):
                        moved[rows[account]] += amount
        return dict(moved)

    def do_add(self, event: dict[str, Any]) -> None:
        self.ids.append(self.memory.add(f"answer {event['entry']}").id)

    def do_decide(self, event: dict[str, Any]) -> None:
        [deciding] = self.named([event["deciding"]])
        supporting = self.named(event["supporting"])
        assert deciding.may_decide and all(stored.may_decide for stored in supporting), "the history names only entries that may be named"
        with self.memory._writing() as tx:
            ticket = decisions.open_ticket(tx, self.memory._rng, query="q", answer="a", deciding=deciding, supporting=supporting)
        self.tickets.append(ticket.id)

    def do_settle(self, event: dict[str, Any]) -> None:
        with self.memory._writing() as tx:
            made = decisions.settle(
                tx, self.memory.settings, self.memory._rng, "python", self.tickets[event["ticket"]],
                delta=event["delta"], meter="world", scale=event["scale"], acted=None, detail="",
            )  # fmt: skip
        assert made.landed
        assert {self.number(name) for name in made.buried} == {int(entry) for entry in event["died"]}

    def do_abandon(self, event: dict[str, Any]) -> None:
        assert self.memory.abandon(self.tickets[event["ticket"]])

    def do_tick(self, event: dict[str, Any]) -> None:
        with self.memory._writing() as tx:
            made = ticking.tick(tx, self.memory.settings, self.expire_after)
        assert (made.tick, made.expired) == (event["tick"], len(event["expired"]))
        assert {self.number(name) for name in made.died} == {int(entry) for entry in event["died"]}

    def do_pin(self, event: dict[str, Any]) -> None:
        self.memory.pin(self.ids[event["entry"]])

    def do_unpin(self, event: dict[str, Any]) -> None:
        self.memory.unpin(self.ids[event["entry"]])


def test_the_ledger_moves_what_darwin_memo_moved_and_buries_whom_it_buried_when_it_did(recorded: dict[str, Any]) -> None:
    replay = Replay(recorded)
    gone: dict[int, str] = {}
    decided = {event["ticket"]: event["deciding"] for event in recorded["events"] if event["op"] == "decide"}
    condemned: set[int] = set()
    for at, event in enumerate(recorded["events"]):
        before = {i: stored.entry for i, stored in enumerate(replay.named(list(range(len(replay.ids)))))}
        moved = replay.step(event)

        for entry, credit in event.get("credits", {}).items():
            i, due = int(entry), round(credit * MICRO)
            if due < 0 and before[i].pinned:
                due = max(due, -max(before[i].balance, 0))  # both floor a pinned entry at zero; here the posting says so
            assert moved.pop(i, 0) == due, f"event {at}: entry {i}"
        assert not moved, f"event {at}: the world moved {moved} beside the recorded credits"

        # There, whoever took part in a harm is `executed`; here, only one whose own advice did it.
        if event["op"] == "settle" and event["credits"].get(str(decided[event["ticket"]]), 0) < 0:
            condemned.add(decided[event["ticket"]])
        gone |= {int(entry): cause if int(entry) in condemned else "starved" for entry, cause in event["died"].items()}
        for i, stored in enumerate(replay.named(list(range(len(replay.ids))))):
            if i in gone:
                assert (stored.entry.standing, stored.entry.cause, stored.entry.balance) == ("dead", gone[i], 0), f"event {at}: entry {i}"
                continue
            held = event["holds"][str(i)]
            # Half a unit for each posting: those made, the rent that is due but not yet posted, and the recorded float's own.
            bound = (replay.postings[i] + (stored.recorded_balance != stored.entry.balance) + 1) / 2
            assert abs(stored.entry.balance - held * MICRO) <= bound, f"event {at}: entry {i}"
            assert stored.entry.balance <= micro(recorded["config"]["cap"])
            # An empty entry that only escrow keeps is suspended here at once, and may not be named again.
            assert (stored.entry.standing == "suspended") == (held <= 1e-9 and not stored.entry.pinned), f"event {at}: entry {i}"
    assert replay.memory.check().ok
    assert sum(replay.memory.stats().accounts.values()) + replay.memory.stats().energy == 0


@pytest.mark.parametrize("expire_after", [1, 2, 3, 50])
def test_a_ticket_expires_at_the_first_tick_by_which_it_is_older_than_the_limit(expire_after: int) -> None:
    # darwin-memo: opened at tick 0 with expire_after=n, it is open after n ticks and expires at tick n + 1.
    memory = Memory.open(":memory:", clock=ManualClock(), rng=SeededRng(1), settings={"expire_after": expire_after})
    memory.pin(memory.add("zebra").id)
    memory.decide("zebra")
    reports = [memory.tick().expired for _ in range(expire_after + 2)]
    assert reports == [*[0] * expire_after, 1, 0]


def test_darwin_memo_expires_at_the_same_tick() -> None:
    told = trace("expiring")
    born: dict[int, int] = {}
    tick = expired = 0
    for event in told["events"]:
        if event["op"] == "tick":
            tick = event["tick"]
            for ticket in event["expired"]:
                assert tick - born[ticket] == told["config"]["expire_after"] + 1
                expired += 1
        elif event["op"] == "decide":
            born[event["ticket"]] = tick
    assert expired > 10

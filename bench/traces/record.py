"""Records what darwin-memo 0.7.1 does with seeded random histories, so that Earnest's `classic` rule can be held against it.

    python bench/traces/record.py            writes tests/data/traces/classic-*.json
    python bench/traces/record.py --check    records again and says whether the files still hold

The package itself runs, from PyPI; nothing of it is copied. A history leaves out what Earnest deliberately does otherwise:

-   an entry that is empty (kept from burial by an open ticket) is not named by a new ticket;
-   an entry is not unpinned while it is empty: darwin-memo buries it at the next tick, Earnest at once;
-   an entry is not pinned while it is empty: darwin-memo lets it rest below zero until a later settlement or tick;
-   no delta moves less than a micro-unit, and no living balance stands closer to zero than rounding could carry it over.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, cast

import darwin_memo.ledger
from darwin_memo.protocol import ProtocolAnswer
from darwin_memo.store import MemoryStore
from darwin_memo.survival import SurvivalConfig, assign_credit
from darwin_memo.types import MemoryEntry

TRACES: Final = Path(__file__).resolve().parents[2] / "tests" / "data" / "traces"
EVENTS: Final = 220
CREDIT: Final = "assign_credit"
NEAR_ZERO: Final = 1e-4
"""A living balance may not come closer to zero than this: 200 postings round by at most 1e-4 together."""

PROFILES: Final[dict[str, dict[str, Any]]] = {
    "plain": {"seed": 11, "expire_after": 50, "upkeep": 0.05, "stake": 1.0, "cap": 5.0, "ticks": 0.30, "good": 0.6, "open": 4},
    "harmful": {"seed": 12, "expire_after": 50, "upkeep": 0.05, "stake": 1.0, "cap": 5.0, "ticks": 0.20, "good": 0.3, "open": 4},
    "thriving": {"seed": 13, "expire_after": 50, "upkeep": 0.05, "stake": 4.5, "cap": 5.0, "ticks": 0.15, "good": 0.9, "open": 4},
    "expiring": {"seed": 14, "expire_after": 3, "upkeep": 0.05, "stake": 1.0, "cap": 5.0, "ticks": 0.40, "good": 0.5, "open": 12},
    "escrowed": {"seed": 15, "expire_after": 8, "upkeep": 0.1, "stake": 1.0, "cap": 5.0, "ticks": 0.35, "good": 0.4, "open": 20},
    "other-settings": {"seed": 16, "expire_after": 9, "upkeep": 0.03, "stake": 1.2, "cap": 1.5, "ticks": 0.25, "good": 0.7, "open": 6},
}


class Rejected(Exception):
    """This history would compare rounding, not rules; another one is drawn."""


class Scripted:
    """Names the entries that the history wants; stands where darwin-memo's retrieval does."""

    def __init__(self) -> None:
        self.deciding: str | None = None
        self.supporting: list[str] = []

    def answer(self, query: str, **_: Any) -> ProtocolAnswer:
        return ProtocolAnswer(text=query, deciding_entry=self.deciding, supporting_entries=list(self.supporting))


@dataclass
class Recorder:
    """One history on one darwin-memo ledger. Entries and tickets are numbered in order of appearance."""

    name: str
    profile: dict[str, Any]
    rng: random.Random
    entries: list[str] = field(default_factory=list)
    tickets: list[str] = field(default_factory=list)
    open: list[int] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    dead: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        config = SurvivalConfig(consolidate_every=0, admission_window=0)
        self.protocol = Scripted()
        self.store = MemoryStore(max_energy=self.profile["cap"], upkeep=self.profile["upkeep"])
        self.ledger = darwin_memo.ledger.Ledger(self.store, protocol=cast(Any, self.protocol), config=config, resource_scale=1.0)
        self.applied: list[tuple[str, float]] = []

    def run(self) -> dict[str, Any]:
        for _ in range(4):
            self.add()
        draws: list[tuple[float, Callable[[], None]]] = [
            (self.profile["ticks"], self.tick), (0.10, self.add), (0.30, self.decide), (0.28, self.settle), (0.05, self.abandon),
            (0.02, self.pin), (0.03, self.unpin),
        ]  # fmt: skip
        weights = [weight for weight, _ in draws]
        while len(self.events) < EVENTS:
            [(_, step)] = self.rng.choices(draws, weights)
            step()
        kept = ("expire_after", "upkeep", "stake", "cap")
        return {
            "package": "darwin-memo", "version": version("darwin-memo"), "name": self.name,
            "config": {name: self.profile[name] for name in kept} | {"gain": 0.6, "supporting_share": 0.25},
            "events": self.events,
        }  # fmt: skip

    def living(self) -> list[int]:
        return [i for i, name in enumerate(self.entries) if self.store.get(name) is not None]

    def entry(self, i: int) -> MemoryEntry:
        entry = self.store.get(self.entries[i])
        assert entry is not None, "it is alive"
        return entry

    def record(self, op: str, **said: Any) -> None:
        """Notes an event, who died by it and of what, and what the living hold."""
        died = {}
        for i, name in enumerate(self.entries):
            if i not in self.dead and self.store.get(name) is None:
                self.dead.add(i)
                notes = [note for note in self.ledger.history(name) if isinstance(note, dict) and note.get("cause")]
                died[str(i)] = notes[-1]["cause"]
        holds = {str(i): self.entry(i).energy for i in self.living()}
        for held in holds.values():
            if 1e-9 < abs(held) < NEAR_ZERO:
                raise Rejected
        self.events.append({"op": op, **said, "died": died, "holds": holds})

    def add(self) -> None:
        i = len(self.entries)
        made = self.store.add(
            MemoryEntry(question=f"question {i}", answer=f"answer {i}", energy=self.profile["stake"], born_cycle=self.ledger.tick_count)
        )
        self.entries.append(made.id)
        self.record("add", entry=i)

    def decide(self) -> None:
        able = [i for i in self.living() if self.entry(i).energy > 1e-9 or self.entry(i).pinned]
        if not able or len(self.open) >= self.profile["open"]:
            return
        deciding, *supporting = self.rng.sample(able, min(len(able), self.rng.randint(1, 3)))
        self.protocol.deciding = self.entries[deciding]
        self.protocol.supporting = [self.entries[i] for i in supporting]
        number = len(self.tickets)
        self.tickets.append(self.ledger.decide(f"query {number}").id)
        self.open.append(number)
        self.record("decide", ticket=number, deciding=deciding, supporting=supporting)

    def _taken(self) -> int | None:
        if not self.open:
            return None
        number = self.rng.choice(self.open)
        self.open.remove(number)
        return number

    def settle(self) -> None:
        number = self._taken()
        if number is None:
            return
        scale = self.rng.choice([1.0, 2.0, 100.0, 100_000.0, 0.25])
        size = self.rng.choice([0.0, 0.001, 0.02, 0.3, 1.0, 1.0, 2.5, 50.0, 1e9])
        sign = 1 if self.rng.random() < self.profile["good"] else -1
        delta = sign * scale * size * self.rng.uniform(0.5, 1.5)
        self.ledger.config.resource_scale = scale
        self.applied = []
        assert self.ledger.settle(self.tickets[number], delta)
        credits = {str(self.entries.index(name)): credit for name, credit in self.applied}
        self.record("settle", ticket=number, delta=delta, scale=scale, credits=credits)

    def abandon(self) -> None:
        number = self._taken()
        if number is not None:
            assert self.ledger.abandon(self.tickets[number])
            self.record("abandon", ticket=number)

    def tick(self) -> None:
        before = {ticket.id for ticket in self.ledger.pending()}
        self.ledger.tick(expire_after=self.profile["expire_after"])
        gone = before - {ticket.id for ticket in self.ledger.pending()}
        expired = [number for number in self.open if self.tickets[number] in gone]
        self.open = [number for number in self.open if number not in expired]
        self.record("tick", tick=self.ledger.tick_count, expired=expired)

    def pin(self) -> None:
        able = [i for i in self.living() if self.entry(i).energy > 1e-9 and not self.entry(i).pinned]
        if able:
            i = self.rng.choice(able)
            assert self.ledger.pin(self.entries[i])
            self.record("pin", entry=i)

    def unpin(self) -> None:
        able = [i for i in self.living() if self.entry(i).energy > 1e-9 and self.entry(i).pinned]
        if able:
            i = self.rng.choice(able)
            assert self.ledger.unpin(self.entries[i])
            self.record("unpin", entry=i)


def listening(recorder: Recorder) -> Callable[..., list[tuple[str, float]]]:
    """The package's own credit function, with what it applied kept at full precision (its log rounds)."""

    def applied(*args: Any, **kwargs: Any) -> list[tuple[str, float]]:
        recorder.applied = assign_credit(*args, **kwargs)
        return recorder.applied

    return applied


def history(name: str, profile: dict[str, Any]) -> dict[str, Any]:
    """The first history of a profile that compares rules, not rounding."""
    for attempt in range(1_000):
        recorder = Recorder(name, profile, random.Random(f"{profile['seed']}:{attempt}"))
        setattr(darwin_memo.ledger, CREDIT, listening(recorder))
        try:
            return recorder.run()
        except Rejected:
            continue
        finally:
            setattr(darwin_memo.ledger, CREDIT, assign_credit)
    raise SystemExit(f"{name}: no history stayed clear of zero; raise the number of attempts")


def spread() -> dict[str, Any]:
    """The rule without a deciding entry: the cited ones share evenly. Earnest's façade opens no such tickets yet."""
    rng = random.Random("spread")
    cases = []
    for _ in range(60):
        count, scale = rng.randint(1, 7), rng.choice([1.0, 2.0, 1000.0])
        delta = scale * rng.choice([0.01, 0.5, 1.0, 3.0, 1e6]) * rng.choice([-1, 1]) * rng.uniform(0.5, 1.5)
        store = MemoryStore()
        names = [store.add(MemoryEntry(question=f"q{i}", answer=f"a{i}")).id for i in range(count)]
        applied = assign_credit(store, None, names, delta, scale, SurvivalConfig(), 0)
        cases.append({"delta": delta, "scale": scale, "credits": [credit for _, credit in applied]})
    return {"package": "darwin-memo", "version": version("darwin-memo"), "name": "spread", "cases": cases}


def written(trace: dict[str, Any]) -> str:
    """The trace as JSON, one event a line."""
    rows = "events" if "events" in trace else "cases"
    head = json.dumps({key: value for key, value in trace.items() if key != rows})[:-1]
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in trace[rows])
    return f'{head}, "{rows}": [\n{lines}\n]}}\n'


def main(argv: list[str] | None = None) -> int:
    """Record, or check what was recorded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    wanted = parser.parse_args(argv)
    made = {f"classic-{name}.json": written(history(name, profile)) for name, profile in PROFILES.items()}
    made["classic-spread.json"] = written(spread())
    TRACES.mkdir(parents=True, exist_ok=True)
    differing = []
    for name, text in made.items():
        path = TRACES / name
        if wanted.check:
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                differing.append(name)
        else:
            path.write_text(text, encoding="utf-8", newline="\n")
            print(f"{name}: {len(text):,} characters")
    for name in differing:
        print(f"{name}: differs from what darwin-memo does now")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())

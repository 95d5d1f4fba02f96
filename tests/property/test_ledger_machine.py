"""A stateful machine: every verb of the ledger, in any order, against a small model in plain dicts and whole numbers.

The model charges rent eagerly where the store does it lazily, and never looks at the store: what both agree on is the law.
"""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from earnest import Memory
from earnest.core.entry import StoredEntry
from earnest.errors import NotAllowed, NotUndoable
from earnest.testing.clock import ManualClock, SeededRng

CAP, GAIN, SHARE = 5_000_000, 0.6, 0.25
EXPIRE_AFTER: Final = 6
CHECK_EVERY: Final = 12
RETURNING: Final = ("starved", "executed", "forgotten")


def word(number: int) -> str:
    """A word of its own for each entry, that no stemmer touches: who is named by a question is then known."""
    letters = "bcfgkmpqvx"
    return "zx" + "".join(letters[int(digit)] for digit in f"{number:04}") + "q"


class Model:
    """What should be so. Entries are numbered; `held` is what an entry holds now, with all rent paid."""

    def __init__(self, stake: int, rent: int) -> None:
        self.stake, self.rent = stake, rent
        self.entries: dict[int, dict[str, Any]] = {}
        self.tickets: dict[str, dict[str, Any]] = {}
        self.accounts: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.tick = 0

    def born(self, held: int, harmed: bool = False, standing: str = "active", pinned: bool = False) -> int:
        number = len(self.entries)
        self.entries[number] = {
            "held": held, "standing": standing, "cause": None, "pinned": pinned, "open": 0, "harmed": harmed, "harms": False,
            "left": 0, "gone": 0, "dissolved": False,
        }  # fmt: skip
        return number

    def staked(self, amount: int | None = None) -> int:
        given = self.stake if amount is None else amount
        self.accounts["mint"] -= given
        return given

    def may_decide(self, number: int) -> bool:
        entry = self.entries[number]
        return bool(entry["standing"] == "active" and (entry["held"] > 0 or entry["pinned"]))

    def alive(self, number: int) -> bool:
        return bool(self.entries[number]["standing"] != "dead")

    def bury(self, number: int, cause: str) -> None:
        entry = self.entries[number]
        self.accounts["forfeit"] += entry["held"]
        entry.update(standing="dead", cause=cause, left=max(0, entry["held"]), held=0, gone=entry["gone"] + 1)

    def natural_cause(self, number: int) -> str:
        return "executed" if self.entries[number]["harmed"] else "starved"

    def verdict(self, number: int) -> None:
        entry = self.entries[number]
        if entry["standing"] == "dead":
            return
        if entry["held"] <= 0 and not entry["pinned"]:
            if entry["open"]:
                entry["standing"] = "suspended"
            else:
                self.bury(number, self.natural_cause(number))
        elif entry["held"] > 0 or not entry["open"]:
            entry["standing"] = "active"

    def opened(self, ticket: str, deciding: int, supporting: list[int]) -> None:
        self.tickets[ticket] = {"deciding": deciding, "supporting": supporting, "tick": self.tick, "state": "pending"}
        for number in (deciding, *supporting):
            self.entries[number]["open"] += 1
        self.counts["decisions"] += 1

    def ended(self, ticket: str, state: str) -> None:
        said = self.tickets[ticket]
        said["state"] = state
        self.counts[state] += 1
        for number in (said["deciding"], *said["supporting"]):
            self.entries[number]["open"] -= 1
            self.verdict(number)

    def settled(self, ticket: str, delta: float, scale: float) -> dict[int, int]:
        said, credit = self.tickets[ticket], GAIN * math.tanh(delta / scale)
        due = {said["deciding"]: round(credit * 1e6)} | {number: round(credit * SHARE * 1e6) for number in said["supporting"]}
        moved = {}
        for number, amount in due.items():
            if not amount:
                continue
            entry = self.entries[number]
            if amount < 0:
                entry["harmed"] = entry["harmed"] if number != said["deciding"] else True
                amount = max(amount, -max(entry["held"], 0)) if entry["pinned"] else amount
            entry["harms"] = entry["harms"] or (amount < 0 and number == said["deciding"])
            moved[number] = amount
            self.accounts["world"] -= amount
            over = max(0, entry["held"] + amount - CAP)
            self.accounts["cap"] += over
            entry["held"] += amount - over
        self.ended(ticket, "settled")
        return moved

    def ticked(self) -> None:
        self.tick += 1
        for ticket, said in self.tickets.items():
            if said["state"] == "pending" and self.tick - said["tick"] > EXPIRE_AFTER:
                self.ended(ticket, "expired")
        for number, entry in self.entries.items():
            if entry["standing"] != "dead":
                paid = min(self.rent, max(entry["held"], 0)) if entry["pinned"] else self.rent
                entry["held"] -= paid
                self.accounts["rent"] += paid
                self.verdict(number)


def parts_of(total: int, weights: list[int]) -> list[int]:
    """Largest remainders: whole shares in proportion, in sum exactly the total, ties to the earlier."""
    whole = sum(weights)
    floors = [total * weight // whole for weight in weights]
    order = sorted(range(len(weights)), key=lambda i: total * weights[i] % whole, reverse=True)
    for i in order[: total - sum(floors)]:
        floors[i] += 1
    return floors


DELTAS: Final = st.one_of(
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e-9, 1e300, -1e300, 1.0, -1.0]),
    st.floats(-3, 3, allow_nan=False),
    st.floats(-1e300, 1e300, allow_nan=False),
)
PICK: Final = st.integers(0, 59)
SCALES: Final = st.one_of(st.sampled_from([1.0, 1e-300, 1e300, 100_000.0]), st.floats(1e-6, 1e6))


class LedgerMachine(RuleBasedStateMachine):
    """Drives a `Memory` through its façade and compares it with the model after every step."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.path: str = ":memory:"
        self.ids: list[str] = []
        self.texts: list[str] = []
        self.undoable: list[tuple[str, int, Any]] = []
        self.fold: Counter[int] = Counter()
        self.seen = self.steps = self.words = 0
        self.clock, self.rng = ManualClock(), SeededRng(1)

    @initialize(
        on_disk=st.integers(0, 3).map(lambda n: n == 3),
        stake=st.sampled_from((1_000_000, 4_800_000)),
        rent=st.sampled_from((50_000, 300_000)),
        entries=st.integers(1, 5),
        pinned=st.sets(PICK, max_size=2),
        asked=st.lists(st.lists(PICK, min_size=1, max_size=3), max_size=3),
    )
    def opened(self, on_disk: bool, stake: int, rent: int, entries: int, pinned: set[int], asked: list[list[int]]) -> None:
        self.model = Model(stake, rent)
        # A store on disk can be closed and read again; one in memory is quicker.
        self.path = str(Path(self.folder.name) / "m.db") if on_disk else ":memory:"
        self.memory = self.open()
        for _ in range(entries):
            self.add()
        for pick in pinned:
            self.pin(pick)
        for picks in asked:
            self.decide(picks, 3, False)

    def open(self) -> Memory:
        return Memory.open(self.path, clock=self.clock, rng=self.rng, settings=self.settings())

    def settings(self) -> dict[str, Any]:
        energy = {"stake": self.model.stake / 1e6, "rent": self.model.rent / 1e6}
        return {"rule": "classic", "floor": 0.0, "expire_after": EXPIRE_AFTER, **energy}

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            assert self.memory.check().problems == ()
            self.memory.close()
        self.folder.cleanup()

    # helpers

    def new_text(self) -> str:
        self.words += 1
        return f"{word(self.words)} filler"

    def known(self, entry_id: str, text: str, number: int) -> None:
        assert number == len(self.ids)
        self.ids.append(entry_id)
        self.texts.append(text)

    def numbers(self, picks: list[int]) -> list[int]:
        return list(dict.fromkeys(pick % len(self.ids) for pick in picks))

    def tickets(self, state: str) -> list[str]:
        return [ticket for ticket, said in self.model.tickets.items() if (said["state"] == "pending") == (state == "pending")]

    def last_event(self, kind: str) -> int:
        return self.memory.events(kind=kind, newest=True, limit=1)[0].seq

    # Few rules, each of which draws what it does: Hypothesis would call the ones with many arguments hardly ever.

    @rule(what=st.sampled_from(("add", "add", "twin")), pick=PICK, source=st.sampled_from(("a", "b", "c")))
    def birth(self, what: str, pick: int, source: str) -> None:
        if what == "add":
            self.add()
        else:
            self.add_twin(pick, source)

    @rule(picks=st.lists(PICK, min_size=1, max_size=5), k=st.integers(1, 4), keyed=st.booleans())
    def question(self, picks: list[int], k: int, keyed: bool) -> None:
        self.decide(picks, k, keyed)

    @rule(what=st.sampled_from(("settle",) * 6 + ("again", "abandon")), pick=PICK, delta=DELTAS, scale=SCALES, keyed=st.booleans())
    def outcome(self, what: str, pick: int, delta: float, scale: float, keyed: bool) -> None:
        if what == "settle":
            if not self.tickets("pending"):
                self.decide([pick, pick // 2], 3, False)
            self.settle(pick, delta, scale, keyed)
        elif what == "again":
            self.settle_again(pick, delta, keyed)
        else:
            self.abandon(pick)

    @rule(times=st.sampled_from((1, 4, 20, 1, 7)), slotted=st.booleans())
    def time(self, times: int, slotted: bool) -> None:
        self.tick(times, slotted)

    @rule(what=st.sampled_from(("pin", "update", "restore", "unpin", "forget")), pick=PICK)
    def person(self, what: str, pick: int) -> None:
        getattr(self, what)(pick)

    @rule(what=st.sampled_from(("merge", "merge", "undo", "undo", "edit", "reopen")), picks=st.lists(PICK, min_size=2, max_size=4))
    def upkeep(self, what: str, picks: list[int]) -> None:
        if what == "merge":
            self.merge(picks)
        elif what == "undo":
            self.undo(picks[0])
        elif what == "edit":
            self.edit(picks[0], picks[1] / 59)
        else:
            self.reopen()

    # births

    def add(self) -> None:
        text = self.new_text()
        made = self.memory.add(text)
        self.known(made.id, text, self.model.born(self.model.staked()))

    def add_twin(self, pick: int, source: str) -> None:
        number = pick % len(self.ids)
        if self.model.alive(number):
            again = self.memory.add(self.texts[number], sources=[source])
            assert again.id == self.ids[number] and source in again.sources

    # decisions

    def decide(self, picks: list[int], k: int, keyed: bool) -> None:
        numbers = self.numbers(picks)
        # Words that nothing living holds would be taken for misspelt ones.
        query = " ".join(self.texts[number].split()[0] for number in numbers if self.model.alive(number)) or "0000000000"
        # All match one word of the question, in texts of one length: they tie, and ties go to the newer entry.
        found = sorted((n for n in numbers if self.model.alive(n)), reverse=True)
        able = [n for n in found if self.model.may_decide(n)]
        key = f"decide {self.steps}" if keyed else None
        ticket = self.memory.decide(query, k, key=key)
        if not able:
            assert ticket.silent and ticket.id is None and not ticket
            return
        deciding, supporting = able[0], able[1 : 1 + min(2, k - 1)]
        assert ticket.id is not None and ticket.deciding is not None
        assert ticket.deciding.id == self.ids[deciding]
        assert [entry.id for entry in ticket.supporting] == [self.ids[n] for n in supporting]
        self.model.opened(ticket.id, deciding, supporting)
        if keyed:
            assert self.memory.decide(query, k, key=key).id == ticket.id

    def settle(self, pick: int, delta: float, scale: float, keyed: bool) -> None:
        pending = self.tickets("pending")
        if not pending:
            return
        ticket = pending[pick % len(pending)]
        key = f"settle {self.steps}" if keyed else None
        made = self.memory.settle(ticket, delta=delta, scale=scale, meter="world", key=key)
        before = {n: e["standing"] for n, e in self.model.entries.items()}
        due = self.model.settled(ticket, delta, scale)
        assert made.landed and {credit.entry: credit.amount for credit in made.credits} == {self.ids[n]: due[n] for n in due}
        after = {n: e["standing"] for n, e in self.model.entries.items()}
        assert set(made.buried) == {self.ids[n] for n in after if before[n] != "dead" and after[n] == "dead"}
        assert set(made.suspended) == {self.ids[n] for n in after if before[n] == "active" and after[n] == "suspended"}
        if keyed:
            assert self.memory.settle(ticket, delta=delta, scale=scale, meter="world", key=key) == made

    def settle_again(self, pick: int, delta: float, keyed: bool) -> None:
        ended = self.tickets("ended")
        if not ended:
            return
        key = f"again {self.steps}" if keyed else None
        made = self.memory.settle(ended[pick % len(ended)], delta=delta, key=key)
        assert not made.landed and made.reason and made.credits == ()
        self.model.counts["dropped"] += 1
        if keyed:
            assert self.memory.settle(ended[pick % len(ended)], delta=delta, key=key) == made

    def abandon(self, pick: int) -> None:
        if not self.model.tickets:
            return
        ticket = list(self.model.tickets)[pick % len(self.model.tickets)]
        pending = self.model.tickets[ticket]["state"] == "pending"
        assert self.memory.abandon(ticket) is pending
        if pending:
            self.model.ended(ticket, "abandoned")

    # time

    def tick(self, times: int, slotted: bool) -> None:
        for i in range(times):
            before = {n for n in self.model.entries if self.model.alive(n)}
            held = sum(entry["held"] for entry in self.model.entries.values())
            slot = f"slot {self.steps} {i}" if slotted else None
            made = self.memory.tick(slot=slot)
            charged = self.model.accounts["rent"]
            expired = self.model.counts["expired"]
            forgiven = self.model.accounts["forfeit"]
            self.model.ticked()
            assert made.tick == self.model.tick
            assert set(made.died) == {self.ids[n] for n in before if not self.model.alive(n)}
            assert made.population == sum(self.model.alive(n) for n in self.model.entries)
            assert made.expired == self.model.counts["expired"] - expired
            if self.model.counts["expired"] == expired:  # else who expired may have been buried before rent fell due
                assert made.rent == self.model.accounts["rent"] - charged
                left = sum(entry["held"] for entry in self.model.entries.values())
                assert held - made.rent == left + self.model.accounts["forfeit"] - forgiven
            if slotted:
                assert self.memory.tick(slot=slot) == made

    # a person's verbs

    def forget(self, pick: int) -> None:
        number = pick % len(self.ids)
        entry = self.model.entries[number]
        if entry["standing"] == "dead" or entry["pinned"] or entry["open"]:
            with pytest.raises(NotAllowed):
                self.memory.forget(self.ids[number])
            return
        self.memory.forget(self.ids[number])
        self.model.bury(number, "forgotten")
        self.undoable.append(("forget", self.last_event("forget"), (number, entry["gone"])))

    def restore(self, pick: int) -> None:
        number = pick % len(self.ids)
        entry = self.model.entries[number]
        if entry["dissolved"]:
            return  # its making was taken back: tests/unit/test_lifecycle.py
        if entry["standing"] != "dead" or entry["cause"] not in RETURNING:
            with pytest.raises(NotAllowed):
                self.memory.restore(self.ids[number])
            return
        back = self.memory.restore(self.ids[number])
        held = self.model.staked(entry["left"] if entry["cause"] == "forgotten" else None)
        assert back.balance == held
        entry.update(standing="active", cause=None, held=held)

    def pin(self, pick: int) -> None:
        number = pick % len(self.ids)
        entry = self.model.entries[number]
        if entry["standing"] == "dead":
            with pytest.raises(NotAllowed):
                self.memory.pin(self.ids[number])
        else:
            debt = 0 if entry["pinned"] else max(0, -entry["held"])
            self.model.accounts["forfeit"] -= debt
            entry["held"] += debt
            assert self.memory.pin(self.ids[number]).pinned
            if not entry["pinned"]:
                self.undoable.append(("pin", self.last_event("pin"), number))
            entry["pinned"] = True

    def unpin(self, pick: int) -> None:
        number = pick % len(self.ids)
        entry = self.model.entries[number]
        if entry["standing"] == "dead":
            with pytest.raises(NotAllowed):
                self.memory.unpin(self.ids[number])
        else:
            self.memory.unpin(self.ids[number])
            entry["pinned"] = False
            self.model.verdict(number)

    def update(self, pick: int) -> None:
        number = pick % len(self.ids)
        entry, text = self.model.entries[number], self.new_text()
        if entry["standing"] == "dead" or entry["open"]:
            with pytest.raises(NotAllowed):
                self.memory.update(self.ids[number], text=text)
            return
        made = self.memory.update(self.ids[number], text=text)
        assert made.version > 1 and made.pinned == entry["pinned"]
        part = entry["held"]
        self.model.bury(number, "superseded")
        heir = self.model.born(self.model.staked(), pinned=entry["pinned"])
        entry["pinned"] = False
        self.known(made.id, text, heir)
        self.undoable.append(("supersede", self.last_event("supersede"), (heir, number, part)))

    def edit(self, pick: int, importance: float) -> None:
        number = pick % len(self.ids)
        if self.model.alive(number):
            assert self.memory.update(self.ids[number], importance=importance).importance == importance

    def merge(self, picks: list[int]) -> None:
        numbers = self.numbers(picks)
        if len(numbers) < 2:
            return
        members, text = [self.model.entries[n] for n in numbers], self.new_text()
        ids = [self.ids[n] for n in numbers]
        barred = any(e["standing"] == "dead" or e["pinned"] or e["open"] for e in members)
        if barred or len({e["standing"] for e in members}) > 1:
            with pytest.raises(NotAllowed):
                self.memory.merge(ids, text=text)
            return
        made = self.memory.merge(ids, text=text)
        weights = [e["held"] for e in members]
        over = max(0, sum(weights) - CAP)
        harmed = any(e["harmed"] for e in members)
        for e in members:
            e.update(standing="dead", cause="merged", held=0)
        self.model.accounts["cap"] += over
        heir = self.model.born(sum(weights) - over, harmed=harmed)
        assert made.balance == sum(weights) - over
        self.known(made.id, text, heir)
        self.undoable.append(("merge", self.last_event("merge"), (heir, numbers, weights)))

    def undo(self, pick: int) -> None:
        if not self.undoable:
            return
        kind, seq, what = self.undoable.pop(pick % len(self.undoable))
        getattr(self, "undo_" + kind)(seq, what)

    def undo_pin(self, seq: int, number: int) -> None:
        if self.model.alive(number):
            self.memory.undo(seq)
            self.model.entries[number]["pinned"] = False
            self.model.verdict(number)
        else:
            with pytest.raises(NotUndoable):
                self.memory.undo(seq)

    def undo_forget(self, seq: int, what: tuple[int, int]) -> None:
        number, gone = what
        entry = self.model.entries[number]
        if entry["standing"] != "dead" or entry["gone"] != gone:  # of two deaths, only the later is taken back
            with pytest.raises(NotUndoable):
                self.memory.undo(seq)
        else:
            self.memory.undo(seq)
            entry.update(standing="active", cause=None, held=self.model.staked(entry["left"]))

    def whole(self, seq: int, heir: int) -> bool:
        if self.model.alive(heir) and not self.model.entries[heir]["open"]:
            return True
        with pytest.raises(NotUndoable):
            self.memory.undo(seq)
        return False

    def undo_supersede(self, seq: int, what: tuple[int, int, int]) -> None:
        heir, parent, part = what
        new, old = self.model.entries[heir], self.model.entries[parent]
        if self.whole(seq, heir):
            self.memory.undo(seq)
            pinned = new["pinned"]
            self.model.bury(heir, self.memory.get(self.ids[heir]).cause or "alive")
            new.update(pinned=False, dissolved=True)
            old.update(standing="active", cause=None, held=self.model.staked(part), pinned=pinned)

    def undo_merge(self, seq: int, what: tuple[int, list[int], list[int]]) -> None:
        heir, numbers, weights = what
        entry = self.model.entries[heir]
        if self.whole(seq, heir):
            self.memory.undo(seq)
            # The store keeps the members in the order of their rows, which is that of their births.
            order = sorted(range(len(numbers)), key=lambda i: numbers[i])
            shares = parts_of(entry["held"], [weights[i] for i in order])
            cause = self.memory.get(self.ids[heir]).cause
            entry.update(standing="dead", cause=cause, held=0, dissolved=True, gone=entry["gone"] + 1)
            for i, share in zip(order, shares, strict=True):
                member = self.model.entries[numbers[i]]
                member.update(standing="active", cause=None, held=share, harmed=member["harmed"] or entry["harms"])
                self.model.verdict(numbers[i])

    # the file

    def reopen(self) -> None:
        if self.path == ":memory:":
            return
        before = (self.memory.list(scope="", standing="dead"), self.memory.list(), self.memory.stats(), self.memory.check().head)
        self.memory.close()
        self.memory = self.open()
        after = (self.memory.list(scope="", standing="dead"), self.memory.list(), self.memory.stats(), self.memory.check().head)
        # Use that was noted (recalls, silent answers) rides with the close.
        assert [e.id for e in before[0]] == [e.id for e in after[0]] and [e.id for e in before[1]] == [e.id for e in after[1]]
        assert [e.balance for e in before[1]] == [e.balance for e in after[1]]
        assert (before[2].accounts, before[2].energy, before[2].pending, before[3]) == (
            after[2].accounts, after[2].energy, after[2].pending, after[3],
        )  # fmt: skip

    # what holds after every step

    def stored(self) -> list[StoredEntry]:
        with self.memory._store.read() as reading:
            return [stored for name in self.ids if (stored := reading.entry(name)) is not None]

    @invariant()
    def agrees_with_the_model(self) -> None:
        if not hasattr(self, "memory"):
            return
        self.steps += 1
        for event in self.memory.events(after=self.seen, limit=10_000):
            self.seen = event.seq
            with self.memory._store.read() as reading:
                for debit, credit, amount in reading.postings(event.seq):
                    self.fold[debit] -= amount
                    self.fold[credit] += amount
        assert sum(self.fold.values()) == 0, "energy is conserved"
        entries = self.stored()
        assert len(entries) == len(self.ids) == len(self.model.entries)
        owed = 0
        for number, stored in enumerate(entries):
            entry, expected = stored.entry, self.model.entries[number]
            assert self.fold[stored.row] == stored.recorded_balance, "an account is the fold of its postings"
            assert entry.balance == expected["held"], f"entry {number} holds what the model says"
            assert entry.balance <= CAP
            assert entry.standing == expected["standing"], f"entry {number}"
            assert stored.open_tickets == expected["open"]
            if entry.standing == "dead":
                assert (stored.recorded_balance, stored.open_tickets) == (0, 0), "the dead hold nothing and are named by no open ticket"
                assert entry.cause == expected["cause"]
            else:
                assert entry.pinned == expected["pinned"] and entry.cause is None
                assert not (entry.pinned and entry.balance < 0), "a pinned account rests at zero"
                assert stored.harmed == expected["harmed"]
                assert stored.may_decide == self.model.may_decide(number)
            owed += stored.recorded_balance - entry.balance
        told = self.memory.stats().accounts
        assert told == {name: self.model.accounts[name] for name in told}
        with self.memory._store.read() as reading:
            assert reading.totals()["accounts"]["rent"] + owed == told["rent"], "what is owed is told as paid, and booked later"

    @invariant()
    def the_running_numbers_are_the_rows(self) -> None:
        if not hasattr(self, "memory"):
            return
        stats, standings = self.memory.stats(), Counter(entry["standing"] for entry in self.model.entries.values())
        assert (stats.alive, stats.suspended, stats.dead) == (standings["active"], standings["suspended"], standings["dead"])
        assert stats.total == len(self.model.entries)
        assert stats.energy == sum(entry["held"] for entry in self.model.entries.values())
        assert stats.tick == self.model.tick
        assert stats.by_cause == Counter(str(entry["cause"]) for entry in self.model.entries.values() if entry["standing"] == "dead")
        assert stats.pinned == sum(entry["pinned"] and entry["standing"] != "dead" for entry in self.model.entries.values())
        counts = self.model.counts
        assert (stats.decisions, stats.settled, stats.abandoned, stats.expired, stats.dropped) == tuple(
            counts[name] for name in ("decisions", "settled", "abandoned", "expired", "dropped")
        )
        pending = {ticket for ticket, said in self.model.tickets.items() if said["state"] == "pending"}
        assert stats.pending == len(pending) and {ticket.id for ticket in self.memory.pending()} == pending

    @invariant()
    def the_store_is_whole(self) -> None:
        if hasattr(self, "memory") and self.steps % CHECK_EVERY == 0:
            assert self.memory.check().problems == ()


@pytest.mark.timeout(1_800)  # a failure is shrunk for up to five minutes before it is told
def test_every_verb_in_any_order_keeps_the_laws_of_the_ledger() -> None:
    examples = settings().max_examples
    run_state_machine_as_test(
        LedgerMachine,
        settings=settings(
            max_examples=examples,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )

"""The rows of the table of the ledger, each by its name: what its numbers mean, and what must come of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from earnest import Memory

from .model import Left, Refused, Result, Unknown
from .python_surface import PythonSurface
from .surface import Surface

Row = Mapping[str, Any]
MICRO = 1_000_000
ADVICE = "Old log files may be deleted after seven days."
SECOND = "Old log files older than seven days were archived to tape."
QUESTION = "May old log files be deleted after seven days?"
BYSTANDER = "The printer on the third floor takes recycled paper."
BESIDE = "Does the printer on the third floor take recycled paper?"
RULES = ("evidence", "classic")
"""The rule that ships, and the published one, whose figures most rows tell."""


class Ledger:
    """One fresh store under one rule, and the few things that rows do with it."""

    def __init__(self, surface: Surface, rule: str) -> None:
        self.surface = surface
        self.rule = rule
        self.failures: list[str] = []
        self._beside = False
        if rule != RULES[0]:
            self.call("configure", rule=rule)

    def call(self, verb: str, **arguments: Any) -> Any:
        """Ask the default agent's memory."""
        return self.surface.call(None, verb, **arguments)

    def entry(self, text: str = ADVICE, *, stake: float | None = None) -> str:
        """A new entry with that stake."""
        if stake is not None:
            self.call("configure", stake=stake)
        return str(self.call("add", text=text)["id"])

    def ticket(self) -> str:
        """A decision that the entry shaped."""
        made = self.call("decide", query=QUESTION)
        self.want(made["id"] is not None, "decide opened no ticket")
        return str(made["id"])

    def ticks(self, n: int) -> list[str]:
        """So many ticks; gives who died. A command for each would take long, so that all but the last two come from the library."""
        surface = self.surface if self.surface.name == "python" or n <= 2 else PythonSurface(self.surface.folder)
        last = 0 if surface is self.surface else 2
        died = [dead for _ in range(n - last) for dead in self.tick(surface)["died"]]
        if last:
            surface.close()
        return died + [dead for _ in range(last) for dead in self.tick()["died"]]

    def tick(self, surface: Surface | None = None, **arguments: Any) -> Any:
        """One tick for which rent falls due: under `evidence` only one in which something else was measured."""
        on = surface or self.surface
        if self.rule == "evidence":
            # The bystander lives in the library, whatever the surface, to spare three commands for each tick.
            beside = on if on.name == "python" else PythonSurface(on.folder)
            if not self._beside:
                beside.call(None, "add", text=BYSTANDER)
                self._beside = True
            made = beside.call(None, "decide", query=BESIDE, k=1)
            beside.call(None, "settle", ticket=made["id"], delta=1)
            if beside is not on:
                beside.close()
        return on.call(None, "tick", **arguments)

    def held(self, entry: str) -> float:
        """Energy that an entry holds."""
        return float(self.call("get", id=entry)["balance"] / MICRO)

    def standing(self, entry: str) -> tuple[str, str | None]:
        """How an entry stands, and of what it died."""
        found = self.call("get", id=entry)
        return found["standing"], found["cause"]

    def want(self, holds: bool, otherwise: str) -> None:
        """An assertion."""
        if not holds:
            self.failures.append(otherwise)

    def near(self, found: float, wanted: float, what: str) -> None:
        """Amounts are whole micro-units, so that half of one is the most that a figure can be off."""
        self.want(abs(found - wanted) <= 0.5 / MICRO + 1e-12, f"{what} is {found}, wanted {wanted}")

    def refuses(self, kinds: set[str], verb: str, **arguments: Any) -> str:
        """That a call is refused as one of these kinds; gives the words of the refusal."""
        try:
            made = self.call(verb, **arguments)
        except Refused as refused:
            self.want(bool(refused.kinds & kinds), f"{verb}({arguments}) is refused as {sorted(refused.kinds)}: {refused.message}")
            return refused.message
        self.failures.append(f"{verb}({arguments}) is not refused: {made}")
        return ""


def _starve(ledger: Ledger, row: Row) -> None:
    ledger.call("configure", rent=row["upkeep"])
    entry = ledger.entry(stake=row["spawn"])
    ledger.ticks(row["ticks"] - 1)
    ledger.want(ledger.standing(entry)[0] == "active", f"{ledger.standing(entry)} after {row['ticks'] - 1} ticks")
    died = ledger.tick()["died"]
    ledger.want(died == [entry], f"tick {row['ticks']} buried {died}")
    ledger.want(ledger.standing(entry) == ("dead", "starved"), f"{ledger.standing(entry)} after {row['ticks']} ticks")


def _credit(ledger: Ledger, row: Row) -> None:
    first, second = ledger.entry(), ledger.entry(SECOND)
    if "gain" in row:
        ledger.call("configure", gain=row["gain"])
    made = ledger.call("settle", ticket=ledger.ticket(), delta=row["delta"], scale=row["scale"], meter="disk")
    moved = {credit["role"]: credit for credit in made["credits"]}
    ledger.near(moved["deciding"]["amount"] / MICRO, row["expect_decider"], "the decider's credit")
    if "expect_supporter" in row:
        supporting = moved["supporting"]["amount"] if ledger.rule == "classic" else 0
        ledger.near(supporting / MICRO, row["expect_supporter"] if ledger.rule == "classic" else 0.0, "the supporter's credit")
    ledger.want(("supporting" in moved) is (ledger.rule == "classic"), f"under {ledger.rule}, credits are {made['credits']}")
    for entry in (first, second):
        credit = next((c["amount"] for c in made["credits"] if c["entry"] == entry), 0)
        ledger.near(ledger.held(entry), 1 + credit / MICRO, f"what {entry} holds")


def _cap(ledger: Ledger, row: Row) -> None:
    entry = ledger.entry(stake=row["start"])
    ledger.call("settle", ticket=ledger.ticket(), delta=row["delta"], scale=row["scale"])
    ledger.near(ledger.held(entry), row["expect"], "what the entry holds")


def _negative(ledger: Ledger, row: Row) -> None:
    entry = ledger.entry(stake=row["start"])
    made = ledger.call("settle", ticket=ledger.ticket(), delta=row["delta"], scale=row["scale"])
    if ledger.rule == "evidence":
        # Harm is no fine: it suspends at once, and what is left of the stake is what remains to live.
        ledger.want(made["suspended"] == [entry] and ledger.standing(entry)[0] == "suspended", f"suspended {made['suspended']}")
        ledger.near(ledger.held(entry), row["start"], "what the suspended entry holds")
        ledger.want(ledger.ticks(10) == [entry], "it did not die of it when its stake was used up")
    else:
        ledger.want(made["buried"] == [entry], f"buried {made['buried']}")
    ledger.want(ledger.standing(entry) == ("dead", "executed"), str(ledger.standing(entry)))


def _zero_delta(ledger: Ledger, row: Row) -> None:
    entry = ledger.entry()
    ticket = ledger.ticket()
    made = ledger.call("settle", ticket=ticket, delta=row["delta"])
    ledger.want(made["credits"] == [], f"credits {made['credits']}")
    ledger.near(ledger.held(entry), 1.0, "what the entry holds")
    ledger.want(ledger.call("pending") == [], "the ticket is still open")
    ledger.refuses({"conflict"}, "settle", ticket=ticket, delta=1)


def _refused_delta(ledger: Ledger, row: Row) -> None:
    entry = ledger.entry()
    ticket = ledger.ticket()
    delta = {"nan": float("nan"), "inf": float("inf")}.get(str(row["delta"]), row["delta"])
    if isinstance(delta, bool) and ledger.surface.name == "cli":
        delta = str(delta).lower()
    events = len(ledger.call("events", limit=100))
    ledger.refuses({"validation"}, "settle", ticket=ticket, delta=delta)
    ledger.want(len(ledger.call("events", limit=100)) == events, "something was written to the log")
    ledger.near(ledger.held(entry), 1.0, "what the entry holds")
    ledger.want([t["id"] for t in ledger.call("pending")] == [ticket], "the ticket is not open any more")
    ledger.want(ledger.call("settle", ticket=ticket, delta=1)["landed"], "the ticket cannot be settled any more")


def _string_delta(ledger: Ledger, row: Row) -> None:
    """Python refuses a numeral in text; on the command line all words are text, and a plain number is read as one."""
    if ledger.surface.name != "cli":
        _refused_delta(ledger, row)
        return
    ledger.entry()
    made = ledger.call("settle", ticket=ledger.ticket(), delta=row["delta"])
    ledger.want(made["delta"] == float(row["delta"]), f"{row['delta']!r} was read as {made['delta']!r}")


def _scale_zero(ledger: Ledger, row: Row) -> None:
    ledger.entry()
    ticket = ledger.ticket()
    ledger.refuses({"validation"}, "meter", name="disk", scale=row["scale"])
    ledger.refuses({"validation"}, "settle", ticket=ticket, delta=1, scale=row["scale"])
    ledger.want([t["id"] for t in ledger.call("pending")] == [ticket], "the ticket is not open any more")


def _settle_unknown(ledger: Ledger, row: Row) -> None:
    entry = ledger.entry()
    said = ledger.refuses({"not_found"}, "settle", ticket=row["ticket"], delta=1)
    ledger.want(row["ticket"] in said and "not known" in said, f"it says {said!r}")
    ledger.near(ledger.held(entry), 1.0, "what the entry holds")


def _settle_after_expiry(ledger: Ledger, row: Row) -> None:
    ledger.call("configure", rent=0.05)
    entry = ledger.entry()
    ticket = ledger.ticket()
    expired = [ledger.tick(expire_after=1)["expired"] for _ in range(2)]
    ledger.want(sum(expired) == 1, f"expired {expired}")
    said = ledger.refuses({"conflict"}, "settle", ticket=ticket, delta=1)
    ledger.want("expired" in said, f"it says {said!r}")
    ledger.near(ledger.held(entry), 0.9, "what the entry holds")


def _settle_abandoned(ledger: Ledger, row: Row) -> None:
    entry = ledger.entry()
    ticket = ledger.ticket()
    ledger.call("abandon", ticket=ticket)
    said = ledger.refuses({"conflict"}, "settle", ticket=ticket, delta=1)
    ledger.want("abandoned" in said, f"it says {said!r}")
    ledger.near(ledger.held(entry), 1.0, "what the entry holds")


def _escrow(ledger: Ledger, row: Row) -> None:
    ledger.call("configure", rent=row["upkeep"])
    entry = ledger.entry()
    ticket = ledger.ticket()
    died = ledger.ticks(row["ticks"])
    ledger.want(died == [] and ledger.standing(entry)[0] != "dead", f"{ledger.standing(entry)} at tick {row['ticks']}, died {died}")
    ledger.want(ledger.call("settle", ticket=ticket, delta=0)["landed"], "the ticket cannot be settled any more")
    ledger.tick()
    ledger.want(ledger.standing(entry) == ("dead", "starved"), f"{ledger.standing(entry)} after the verdict")


def _merge_pool(ledger: Ledger, row: Row) -> None:
    members = [ledger.entry(f"{ADVICE} Note {i}.", stake=held) for i, held in enumerate(row["energies"])]
    heir = ledger.call("merge", ids=members)
    ledger.near(heir["balance"] / MICRO, row["expect_pool"], "the pool")
    rich = [ledger.entry(f"Rich note {i}.", stake=4.0) for i in range(2)]
    ledger.near(ledger.call("merge", ids=rich)["balance"] / MICRO, 5.0, "the pool of two rich entries")


def _operator_settle(ledger: Ledger, row: Row) -> None:
    if ledger.surface.name == "python":
        # A person types on the command line; the library is told so by the channel.
        ledger.surface.close()
        ledger.surface = PythonSurface(ledger.surface.folder, channel="cli")
    entry = ledger.entry()
    made = ledger.call("settle", ticket=ledger.ticket(), delta=1, meter="typed")
    ledger.want(made["tier"] == "operator", f"its tier is {made['tier']}")
    [event] = [e for e in ledger.call("events", limit=100) if e["kind"] == "settle"]
    ledger.want(event["data"]["tier"] == "operator", f"the log says {event['data']}")
    ledger.want("operator" in ledger.call("obituary", id=entry), "the life story does not say so")
    codes = [finding["code"] for finding in ledger.call("doctor")["findings"]]
    ledger.want("operator_settled" in codes, f"doctor says {codes}")


def _restart(ledger: Ledger, row: Row) -> None:
    if row["steps"] != ["decide", "close", "open", "settle"]:
        raise Unknown(f"I do not know the steps {row['steps']}")
    entry = ledger.entry()
    ticket = ledger.ticket()
    ledger.surface.reopen()
    made = ledger.call("settle", ticket=ticket, delta=100, scale=100)
    ledger.want(made["landed"], made["reason"])
    ledger.near(ledger.held(entry), 1.456956, "what the entry holds")


_ROWS: dict[str, tuple[Callable[[Ledger, Row], None], Any]] = {
    "starve": (_starve, "dead at tick 20, alive at 19"),
    "starve_float": (_starve, "dead at tick 10, not 11 (ten subtractions of 0.1 leave about 1e-16)"),
    "credit": (_credit, None),
    "credit_huge": (_credit, None),
    "cap": (_cap, 5.0),
    "negative": (_negative, "dead, cause executed"),
    "zero_delta": (_zero_delta, "no change, ticket closed"),
    "nan_delta": (_refused_delta, "refused; nothing changes"),
    "inf_delta": (_refused_delta, "refused; nothing changes"),
    "scale_zero": (_scale_zero, "refused at set-up"),
    "bool_delta": (_refused_delta, "refused"),
    "string_delta": (_string_delta, "refused or read as 5.0, documented"),
    "settle_unknown": (_settle_unknown, "says plainly that nothing landed"),
    "settle_after_expiry": (_settle_after_expiry, "says expired; no credit"),
    "settle_abandoned": (_settle_abandoned, "refused"),
    "escrow": (_escrow, "entry still present at tick 40; after settle with delta 0 it may be buried at the next tick"),
    "merge_pool": (_merge_pool, None),
    "operator_settle": (_operator_settle, "marked operator in the log, in the notes and in doctor"),
    "restart": (_restart, "settles normally"),
}
"""Each row's code, and the expectation that this code is for: a row whose words were changed has to be looked at again."""


def play_row(row: Row, surface: Surface, rule: str = RULES[0]) -> Result:
    """One row on a fresh store, under a rule; and the books must balance afterwards."""
    name = str(row["name"])
    result = Result(f"ledger:{name}", surface.name)
    ledger = Ledger(surface, rule)
    try:
        if name not in _ROWS:
            raise Unknown(f"I do not know the row {name!r} of the ledger")
        code, expect = _ROWS[name]
        if row.get("expect") != expect:
            raise Unknown(f"the row {name!r} expects {json.dumps(row.get('expect'))}, and I only know how to check {json.dumps(expect)}")
        code(ledger, row)
        result.failures += ledger.failures
        result.failures += conserved(ledger.surface)
    except Left as left:
        result.left.append(left)
        result.applied = False
    except Refused as refused:
        result.failures.append(f"refused: {refused.message}")
    except Unknown as error:
        result.failures.append(f"runner: {error}")
    finally:
        ledger.surface.close()
    return result


def conserved(surface: Surface) -> list[str]:
    """Whether all accounts of a folder's stores sum up to nothing, by the full look of `check`."""
    surface.reopen()
    made = []
    for file in sorted(Path(surface.folder).glob("*.db")):
        with Memory.open(file) as memory:
            made += [f"check: {problem}" for problem in memory.check().problems]
    return made

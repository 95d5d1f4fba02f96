"""What the meters said of entries, weighed by what is believed of the meters: standing follows from it, in one place.

`core.evidence` is the rule; here it meets the store. Nothing that can be derived is kept: an entry's odds are folded from its latest words
whenever they are needed (at most `RULE.reach` of them), so that no cache can disagree with them. Only the standing is kept, and what each
tick learned of the meters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal

from earnest.core.baseline import NO_CONTROLS, PRIOR_SLOPE, SPAN, Baseline, Control, slope
from earnest.core.entry import StoredEntry
from earnest.core.evidence import (
    RULE,
    UNKNOWN,
    Belief,
    Evidence,
    Word,
    alarmed,
    retrial_probability,
    sigmoid,
    weigh,
    without_revoked,
)
from earnest.core.settings import Settings
from earnest.protocols import Reading, Writing

Turn = Literal["suspended", "cleared"]

UNLEARNED: Final = "unlearned"
"""The running number of words, second looks and controls that came in since the meters were learned."""
NEWCOMER_TICKETS: Final = 10
"""Open tickets from which an entry that nothing was measured of yet is passed over: one that is wrong cannot act fifty times before the
first verdict on it (the bound on delayed feedback of Joulani, György, Szepesvári 2013 grows with what is pending)."""
ODDS_DIGITS: Final = 6


_UNHEARD: Final = (replace(UNKNOWN, since=1, through=0), PRIOR_SLOPE, 0, False)
"""What is kept of a meter that nothing was learned of: no word of it counts as one that its belief was learned from."""


class _Beliefs(Mapping[str, Belief]):
    """What is believed of each meter, with its baseline; read when it is asked for."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._kept = reading.beliefs()
        self._made: dict[str, Belief] = {}

    def __getitem__(self, meter: str) -> Belief:
        made = self._made.get(meter)
        if made is None:
            belief, rho, _, _ = self._kept.get(meter, _UNHEARD)
            by_itself = baseline(self._reading, meter, rho)
            made = self._made[meter] = belief if belief.baseline is by_itself else replace(belief, baseline=by_itself)
        return made

    def get(self, meter: str, default: Belief | None = None) -> Belief:  # type: ignore[override]
        """Every meter has a belief: of one that nothing was learned of, the prior."""
        return self[meter]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)


def baseline(reading: Reading, meter: str, rho: float) -> Baseline:
    """What a meter shows by itself, from its controls and from the decisions in which memory was withheld. O(ticks with either)."""
    if not (reading.counter("controls") or reading.counter("drawn:all")):
        return NO_CONTROLS
    since = max(0, reading.counter("tick") - SPAN)
    readings: dict[int, tuple[float, int]] = {}
    rows = reading.controls_by_tick(meter, since) if reading.counter("controls") else []
    if reading.counter("drawn:all"):
        rows += reading.withheld_by_tick(meter, since)
    for tick, total, count in rows:
        before = readings.get(tick, (0.0, 0))
        readings[tick] = (before[0] + total, before[1] + count)
    return Baseline([Control(tick, total, count) for tick, (total, count) in readings.items()], rho)


class Testimony:
    """The evidence on entries as one snapshot or transaction has it."""

    def __init__(self, reading: Reading, settings: Settings) -> None:
        self._reading = reading
        self.on = settings.rule == "evidence"
        """Whether standing follows evidence; under another rule words are kept, and move nothing."""

    @cached_property
    def beliefs(self) -> _Beliefs:
        """What is believed of the meters."""
        return _Beliefs(self._reading)

    @cached_property
    def revoked(self) -> Mapping[str, int]:
        """The revoked meters."""
        return self._reading.revoked()

    @cached_property
    def window_tick(self) -> int:
        """The tick from which a settled entry was surely judged again whenever the meters were learned; 0 if all of them were."""
        return max((tick for _, _, tick, _ in self.beliefs._kept.values()), default=0)

    def words(self, row: int) -> list[Word]:
        """An entry's words that count, in the order of their decisions."""
        words = self._reading.words_of(row, RULE.reach)
        if not self.revoked:
            return words
        return [kept for word in words if (kept := without_revoked(word, self.revoked)) is not None]

    def weigh(self, row: int) -> Evidence:
        """What an entry's words come to. O(its latest words)."""
        words = self.words(row)
        return weigh(words, self.beliefs) if words else Evidence(RULE.prior_odds)

    def earned(self, row: int) -> float:
        """By how much following an entry more probably helps than not, by its outcomes alone: ``max(0, 2 p - 1)``, or 0 without any."""
        evidence = self.weigh(row)
        return max(0.0, 2.0 * sigmoid(evidence.odds) - 1.0) if evidence.words else 0.0

    def active(self, stored: StoredEntry) -> bool:
        """Whether its evidence lets an entry decide."""
        return not self.on or self.weigh(stored.row).active

    def settled_before(self, stored: StoredEntry) -> bool:
        """Whether an entry's last outcome is older than what the meters were learned from: its standing may lag behind its evidence."""
        last = stored.entry.last_settled_tick
        return self.on and last is not None and last < self.window_tick

    def may_decide(self, stored: StoredEntry) -> bool:
        """Whether a new ticket may name an entry, by its standing and by evidence as it is now."""
        if not self.on or not stored.may_decide:
            return stored.may_decide
        if crowded(self._reading, stored):
            return False
        return not self.settled_before(stored) or self.weigh(stored.row).active

    def retrial(self, stored: StoredEntry) -> float:
        """How likely a suspended entry is tried once more when it ranks best; 0 for one that is not suspended for its evidence."""
        entry = stored.entry
        empty = entry.retention == "earned" and entry.balance <= 0
        if not self.on or entry.standing != "suspended" or empty or stored.probation or crowded(self._reading, stored):
            return 0.0
        return retrial_probability(self.weigh(stored.row))

    # what changes the store

    def judge(self, tx: Writing, stored: StoredEntry, **data: object) -> Turn | None:
        """Puts a living entry into the standing that its evidence asks for; says whether that was another one.

        An empty entry is not cleared: `Book.verdict` decides what becomes of it.
        """
        entry = stored.entry
        if not self.on or not entry.alive:
            return None
        found = self.weigh(stored.row)
        said = {"odds": round(found.odds, ODDS_DIGITS), "line": round(found.line, ODDS_DIGITS), "words": found.words, **data}
        if not found.active and entry.standing == "active":
            tx.change_entry(stored.row, standing="suspended", log_odds=found.odds)
            tx.append("suspend", entries=[stored.row], data={"reason": "harm", "balance": entry.balance, **said})
            return "suspended"
        mortal = entry.retention == "earned" and not entry.pinned
        if found.active and entry.standing == "suspended" and not (mortal and entry.balance <= 0):
            tx.change_entry(stored.row, standing="active", log_odds=found.odds)
            tx.append("clear", entries=[stored.row], data={"reason": "evidence", "balance": entry.balance, **said})
            return "cleared"
        return None


def crowded(reading: Reading, stored: StoredEntry) -> bool:
    """Whether an entry that nothing was measured of yet waits for too many verdicts already. Only decisions of its own count: standing
    beside other deciders is no risk, and must not silence it where it alone answers."""
    if stored.entry.last_settled_tick is not None or stored.open_tickets < NEWCOMER_TICKETS:
        return False
    return reading.deciding(stored.row, NEWCOMER_TICKETS) >= NEWCOMER_TICKETS


@dataclass(frozen=True, slots=True)
class Learned:
    """What learning the meters anew changed: the rows of entries whose standing turned."""

    suspended: tuple[int, ...] = ()
    cleared: tuple[int, ...] = ()


def relearn(tx: Writing, settings: Settings) -> Learned:
    """Learns every meter anew from its latest words, and judges again the entries that they were said of.

    Cost: O(words in the meters' windows and of the entries there), whatever the population; nothing if no word came in.
    """
    # Most processes never move the clock.
    from earnest.core.learning import History, Learning, histories

    waiting = tx.counter(UNLEARNED)
    if settings.rule != "evidence" or not waiting:
        return Learned()
    tx.bump(UNLEARNED, -waiting)
    before = tx.beliefs()
    revoked = tx.revoked()
    names = [meter.name for meter in tx.meters()]
    latest = {name: tx.latest_words(name, RULE.window, revoked.get(name)) for name in names}
    latest = {name: words for name, words in latest.items() if words or name in before}
    rows = sorted({row for words in latest.values() for _, row in words})
    windows = {name: (words[0][0], words[-1][0]) for name, words in latest.items() if words}
    baselines = {name: baseline(tx, name, PRIOR_SLOPE) for name in latest}
    said = tx.words_among(rows, RULE.reach)
    # What a word comes to depends on its tick where a meter has a baseline, and on its number where one was revoked.
    apart = bool(revoked) or any(baselines.values())
    known = histories(said, windows, apart=apart)
    if revoked:
        known = [History([kept for word in one.words if (kept := without_revoked(word, revoked)) is not None], one.rows) for one in known]
    slopes = dict.fromkeys(latest, PRIOR_SLOPE)
    for name, plain in baselines.items():
        if plain:
            slopes[name] = slope(plain, [[(w.tick, w.size) for w in one.words if w.meter == name] for one in known])
            baselines[name] = baseline(tx, name, slopes[name])
    beliefs = {name: replace(UNKNOWN, baseline=baselines[name]) for name in latest}
    learning = Learning([(one.words, len(one.rows)) for one in known], beliefs, windows)
    _keep(tx, learning.beliefs, slopes, before, {row[2]: row[3] for row in said})
    if not all(word.meter in beliefs for one in known for word in one.words):
        return Learned(*judge_again(tx, settings, rows))
    active = {row: decides for one, decides in zip(known, learning.active(), strict=True) for row in one.rows}
    return Learned(*_turned(tx, settings, active))


def _keep(
    tx: Writing,
    learned: Mapping[str, Belief],
    slopes: Mapping[str, float],
    before: Mapping[str, tuple[Belief, float, int, bool]],
    ticks: Mapping[int, int],
) -> None:
    """Writes what was learned, and which meters' alarm began or ended. `ticks` are those of events as far as they are known."""
    for name, belief in learned.items():
        alarm = alarmed(belief)
        oldest = ticks.get(belief.since)
        if oldest is None:
            event = tx.event(belief.since)
            oldest = event.tick if event else 0
        tx.put_belief(name, belief, slope=slopes[name], oldest=oldest, alarm=alarm)
        if belief.baseline:
            meter = tx.meter(name)
            shown = belief.baseline.at(tx.counter("tick")) * ((meter.scale if meter else None) or 1.0)
            # Of a huge scale too it stays a number, so that everything that shows it stays strict JSON.
            tx.put_baseline(name, max(-1.7e308, min(1.7e308, shown)))
        if alarm != (name in before and before[name][3]):
            tx.append(
                "alarm", data={"meter": name, "alarm": alarm, "lie_rate": round(belief.rate, ODDS_DIGITS), "words": int(belief.counted)}
            )


def judge_again(tx: Writing, settings: Settings, rows: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Judges entries by what is believed now; returns the rows that were suspended and those that were cleared. O(their words)."""
    testimony = Testimony(tx, settings)
    return _turned(tx, settings, {row: testimony.weigh(row).active for row in rows})


def _turned(tx: Writing, settings: Settings, active: Mapping[int, bool]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Puts those entries into the standing that their evidence asks for that stand otherwise; `active` says which may decide."""
    standings = tx.standings([*active])
    wrong = [row for row, decides in active.items() if standings.get(row) == ("suspended" if decides else "active")]
    testimony = Testimony(tx, settings)
    turned: dict[Turn, list[int]] = {"suspended": [], "cleared": []}
    for stored in tx.entries(sorted(wrong)):
        turn = testimony.judge(tx, stored)
        if turn is not None:
            turned[turn].append(stored.row)
    return tuple(turned["suspended"]), tuple(turned["cleared"])


def pool(tx: Writing, heir: int, members: Sequence[int]) -> None:
    """Gives an heir the words of its members, by decision; they count in their meters' lie rates as the heir's from now on."""
    for row in members:
        tx.copy_words(row, heir, borrowed=False)
        tx.count_words(row, counted=False)


def part(tx: Writing, heir: int, members: Sequence[int], decided: int) -> None:
    """Takes a pool apart again: each member counts its own words, and what was measured of the heir goes to the member that `decided`.

    The heir keeps no words that count; the log still says what it was given.
    """
    tx.drop_words(heir)
    for row in members:
        tx.count_words(row, counted=True)
    tx.copy_words(heir, decided, borrowed=False)
    tx.count_words(heir, counted=False)


def borrow(tx: Writing, settings: Settings, row: int, condemned: int) -> Evidence:
    """Judges an entry by what was measured of another that said the same: an executed text comes back as what it was.

    The words stay the other's (they count once in their meters' rates) and fall with it: a revoked meter or a second look clears both. The
    caller then calls `Testimony.judge`.
    """
    tx.copy_words(condemned, row, borrowed=True)
    return Testimony(tx, settings).weigh(row)

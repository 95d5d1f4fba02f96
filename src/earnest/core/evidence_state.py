"""The economy of evidence in memory: decide, settle, measure again, tick. The same rule that the ledger runs on a store, over plain values.

For simulations and for trying constants: thousands of worlds can be lived in without a disk. Deterministic for a given source of chance.
Amounts are micro-units of energy; deltas come with their scale.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Literal, TypeVar

from earnest.core.amounts import micro
from earnest.core.baseline import Baseline, by_tick, slope
from earnest.core.evidence import (
    APPEAL_WAIT,
    RULE,
    UNKNOWN,
    Belief,
    Evidence,
    EvidenceRule,
    Seat,
    Word,
    alarmed,
    appeal,
    choose,
    looks_wanted,
    retrial_probability,
    runway,
    sized,
    weigh,
    without_revoked,
)
from earnest.core.learning import learn

Name = TypeVar("Name", bound=Hashable)
Ending = Literal["executed", "starved", "merged"]


@dataclass(frozen=True, slots=True)
class Economy:
    """The amounts of the economy, in energy: see the settings of the same names."""

    gain: float = 0.6
    stake: float = 1.0
    rent: float = 0.05
    cap: float = 5.0
    pass_over: float = 0.75


@dataclass(slots=True)
class Account(Generic[Name]):
    """One entry: its words, what it holds, how it stands."""

    name: Name
    held: int
    words: list[Word] = field(default_factory=list)
    suspended: bool = False
    ending: Ending | None = None
    wanted: dict[int, int] = field(default_factory=dict)
    """Places of outcomes whose second measurement was asked for, with the tick of asking."""
    evidence: Evidence | None = None
    """What its words come to; None when that has to be made anew."""
    paid: int = 0
    """Rent that it paid since its account last moved otherwise."""

    @property
    def alive(self) -> bool:
        """Whether it was not buried."""
        return self.ending is None


@dataclass(frozen=True, slots=True)
class Decision(Generic[Name]):
    """Who decides, under which number, and whether it was suspended and is tried again."""

    place: int
    entry: Name
    retrial: bool


@dataclass(frozen=True, slots=True)
class Change(Generic[Name]):
    """What a word did: `suspended` and `cleared` entries, and the outcomes of which a second measurement is wanted: (place, why)."""

    suspended: tuple[Name, ...] = ()
    cleared: tuple[Name, ...] = ()
    wanted: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Ticked(Generic[Name]):
    """What a tick did."""

    tick: int
    died: tuple[tuple[Name, Ending], ...]
    suspended: tuple[Name, ...]
    cleared: tuple[Name, ...]
    wanted: tuple[tuple[int, str], ...]
    charged: bool
    """Whether rent was due: nobody pays for a tick in which nothing was settled."""


class EvidenceState(Generic[Name]):
    """A population under the evidence rule. Names are whatever the caller likes, as long as they can be keys."""

    def __init__(
        self, draw: Callable[[], float], *, rule: EvidenceRule = RULE, economy: Economy | None = None, second: bool = False
    ) -> None:
        """`draw` gives chance in [0, 1). `second` tells whether there is an independent instrument: only then looks are wanted."""
        self.draw, self.rule, self.second = draw, rule, second
        self.economy = economy or Economy()
        self.now = 0
        self.entries: dict[Name, Account[Name]] = {}
        self.beliefs: dict[str, Belief] = {}
        self._scope_of: dict[int, Name] = {}
        self._controls: dict[str, dict[int, tuple[float, int]]] = {}
        self._heard: dict[str, list[tuple[int, Name]]] = {}
        self._places = self._events = 0
        self._settled: list[tuple[Name, bool, str]] = []
        self._relearn: set[str] = set()
        self._revoked: dict[str, int] = {}
        self._looked = False

    def add(self, name: Name, words: Sequence[Word] = (), held: float | None = None) -> Account[Name]:
        """A new entry with its stake; with `words` it takes over what was measured of others."""
        account = Account(name, micro(self.economy.stake if held is None else held), [*words])
        self.entries[name] = account
        account.suspended = not self.evidence(account).active
        return account

    def evidence(self, account: Account[Name]) -> Evidence:
        """What an entry's words come to now."""
        if account.evidence is None:
            account.evidence = weigh(self._valid(account.words), self.beliefs, self.rule)
        return account.evidence

    def _valid(self, words: Sequence[Word]) -> Sequence[Word]:
        """The words that count: none of a revoked meter from where it was revoked."""
        if not self._revoked:
            return words
        made = []
        for word in words:
            kept = without_revoked(word, self._revoked)
            if kept is not None:
                made.append(kept)
        return made

    def decide(self, ranked: Sequence[tuple[Name, float]]) -> Decision[Name] | None:
        """Who decides among ranked texts, executed ones included: (name, relevance), best first. None is silence."""
        seats = []
        for name, score in ranked:
            account = self.entries[name]
            if account.ending in ("starved", "merged"):
                continue
            seats.append((name, self._seat(account, score)))
        place, retrial, _ = choose([seat for _, seat in seats], self.economy.pass_over, self.draw)
        if place is None:
            return None
        self._places += 1
        self._scope_of[self._places] = seats[place][0]
        return Decision(self._places, seats[place][0], retrial)

    def _seat(self, account: Account[Name], score: float) -> Seat:
        if not account.alive:
            return Seat(score, False, alive=False)
        if not account.suspended:
            return Seat(score, account.held > 0)
        return Seat(score, False, retrial=retrial_probability(self.evidence(account), self.rule) if account.held > 0 else 0.0)

    def settle(self, place: int, delta: float, meter: str, *, scale: float = 1.0, acted: bool | None = None) -> Change[Name]:
        """The measured outcome of a decision, by a meter that is trusted on its channel."""
        name = self._scope_of.pop(place)
        account = self.entries[name]
        self._events += 1
        word = Word(place, self._events, self.now, meter, sized(delta, scale))
        account.words.append(word)
        self.beliefs.setdefault(meter, self._fresh(meter))
        self._note(meter, name)
        self._settled.append((name, acted is False or delta == 0, meter))
        if not account.alive:
            return Change()
        earned = self._pay(meter, word.size, word.tick)
        account.held = min(account.held + earned, micro(self.economy.cap))
        account.paid = 0 if earned else account.paid
        changed, suspended, cleared = self._judge(account)
        wanted: list[tuple[int, str]] = []
        if self.second and acted is not False:
            wanted = looks_wanted(self._valid(account.words), place, changed, self.draw, self.rule)
            self._want(account, wanted)
        return Change(suspended, cleared, tuple(wanted))

    def _note(self, meter: str, name: Name) -> None:
        """Remembers which entry the latest event spoke of, if the meter's words count."""
        if self._events < self._revoked.get(meter, self._events + 1):
            self._heard.setdefault(meter, []).append((self._events, name))
        self._relearn.add(meter)

    def _pay(self, meter: str, size: float, tick: int) -> int:
        if meter in self._revoked:
            return 0
        belief = self.beliefs[meter]
        return micro(runway(size - belief.baseline.at(tick), self.economy.gain, belief.rate, self.rule))

    def _want(self, account: Account[Name], wanted: Sequence[tuple[int, str]]) -> None:
        for place, _ in wanted:
            account.wanted.setdefault(place, self.now)

    def remeasure(self, entry: Name, place: int, delta: float, meter: str, *, scale: float = 1.0) -> Change[Name]:
        """A second, independent measurement of a settled decision: both count, each as far as its meter is believed."""
        account = self.entries[entry]
        self._events += 1
        self._looked = True
        account.wanted.pop(place, None)
        self.beliefs.setdefault(meter, self._fresh(meter))
        for at, word in enumerate(account.words):
            if word.place == place:
                before, by = (
                    (word.size, word.meter) if word.second is None or word.second_meter is None else (word.second, word.second_meter)
                )
                account.words[at] = replace(word, second=sized(delta, scale), second_meter=meter, second_event=self._events)
                if account.alive:
                    # The account is put right as well: what a lie paid is taken back, as far as it is still there.
                    right = self._pay(meter, sized(delta, scale), word.tick) - self._pay(by, before, word.tick)
                    account.held = min(max(account.held + right, min(account.held, 0)), micro(self.economy.cap))
                    account.paid = 0 if right else account.paid
        self._note(meter, entry)
        _, suspended, cleared = self._judge(account)
        return Change(suspended, cleared)

    def control(self, delta: float, meter: str, *, scale: float = 1.0) -> None:
        """A measurement of doing nothing in this tick."""
        total, count = self._controls.setdefault(meter, {}).get(self.now, (0.0, 0))
        self._controls[meter][self.now] = (total + sized(delta, scale), count + 1)
        self.beliefs.setdefault(meter, UNKNOWN)
        self.beliefs[meter] = replace(self.beliefs[meter], baseline=self._baseline(meter, self.beliefs[meter].baseline.rho))
        self._relearn.add(meter)
        for account in self.entries.values():
            account.evidence = None

    def _baseline(self, meter: str, rho: float) -> Baseline:
        return Baseline(by_tick(self._controls.get(meter, {})), rho)

    def _fresh(self, meter: str) -> Belief:
        return replace(UNKNOWN, since=1, through=0, baseline=self._baseline(meter, UNKNOWN.baseline.rho))

    def _judge(self, account: Account[Name]) -> tuple[bool, tuple[Name, ...], tuple[Name, ...]]:
        """Puts an entry into the standing that its words ask for: whether it changed, and who was suspended or cleared."""
        account.evidence = None
        suspended = not self.evidence(account).active
        if suspended == account.suspended or not account.alive:
            return False, (), ()
        account.suspended = suspended
        return True, (account.name,) if suspended else (), () if suspended else (account.name,)

    def tick(self) -> Ticked[Name]:
        """One step of the clock: meters are learned anew, standings follow, rent falls due, the empty are buried."""
        self.now += 1
        suspended, cleared = self._learned()
        wanted: list[tuple[int, str]] = []
        for name in (*suspended, *cleared) if self.second else ():
            looks = appeal(self._valid(self.entries[name].words), self.rule)
            self._want(self.entries[name], looks)
            wanted += looks
        charged = bool(self._settled)
        died: list[tuple[Name, Ending]] = []
        if charged:
            waived = {name for name, spared, meter in self._settled if spared or alarmed(self.beliefs[meter], self.rule)}
            rent = micro(self.economy.rent)
            for account in self.entries.values():
                if account.alive:
                    account.held, account.paid = account.held - rent, account.paid + rent
                    if account.name in waived:
                        account.held, account.paid = account.held + account.paid, 0
        self._settled.clear()
        for account in self.entries.values():
            if account.alive and account.held <= 0:
                if account.suspended and self._awaited(account):
                    continue
                account.ending = "executed" if account.suspended else "starved"
                died.append((account.name, account.ending))
        return Ticked(self.now, tuple(died), tuple(suspended), tuple(cleared), tuple(wanted), charged)

    def _awaited(self, account: Account[Name]) -> bool:
        return self._looked and any(self.now - asked <= APPEAL_WAIT for asked in account.wanted.values())

    def _learned(self) -> tuple[list[Name], list[Name]]:
        """Learns the meters that spoke since the last tick, and judges again whom they spoke of lately."""
        suspended: list[Name] = []
        cleared: list[Name] = []
        if not self._relearn:
            return suspended, cleared
        windows, touched = self._windows()
        histories = {name: self._valid(self.entries[name].words) for name in touched}
        for meter in self._relearn:
            if self._controls.get(meter):
                pairs = [[(w.tick, w.size) for w in words if w.meter == meter] for words in histories.values()]
                baseline = self._baseline(meter, 0.5)
                self.beliefs[meter] = replace(self.beliefs[meter], baseline=self._baseline(meter, slope(baseline, pairs)))
        self.beliefs = {**self.beliefs, **learn([*histories.values()], self.beliefs, windows, self.rule)}
        self._relearn.clear()
        for name in touched:
            account = self.entries[name]
            _, down, up = self._judge(account)
            suspended += down
            cleared += up
        return suspended, cleared

    def _windows(self) -> tuple[Mapping[str, tuple[int, int]], list[Name]]:
        """For each meter the events that its rate is learned from, and the entries that they name."""
        windows: dict[str, tuple[int, int]] = {}
        touched: dict[Name, None] = {}
        for meter, spoken in self._heard.items():
            latest = spoken[-self.rule.window :]
            windows[meter] = (latest[0][0], latest[-1][0])
            touched.update((name, None) for _, name in latest)
        return windows, [*touched]

    def merge(self, members: Sequence[Name], heir: Name) -> Account[Name]:
        """Joins entries into one new entry with their words and, up to the cap, what they hold."""
        accounts = [self.entries[name] for name in members]
        words = sorted((word for account in accounts for word in account.words), key=lambda word: word.place)
        made = self.add(heir, words, 0.0)
        made.held = min(sum(max(0, account.held) for account in accounts), micro(self.economy.cap))
        for account in accounts:
            account.ending = "merged"
            account.held = 0
        for spoken in self._heard.values():
            spoken[:] = [(event, heir if name in members else name) for event, name in spoken]
        self._scope_of = {place: heir if name in members else name for place, name in self._scope_of.items()}
        return made

    def revoke(self, meter: str, since: int = 0) -> Change[Name]:
        """Folds history again without a meter's words from event `since` on; executed entries that it condemned return with a stake."""
        self._revoked[meter] = since
        self._heard[meter] = [(event, name) for event, name in self._heard.get(meter, []) if event < since]
        if not self._heard[meter]:
            del self._heard[meter]
            self.beliefs[meter] = self._fresh(meter)
        self._relearn.update(self._heard)
        suspended, cleared = self._learned()
        for account in self.entries.values():
            account.evidence = None
            if account.ending == "executed" and self.evidence(account).active:
                account.ending, account.held, account.suspended = None, micro(self.economy.stake), False
                cleared.append(account.name)
            elif account.alive:
                _, down, up = self._judge(account)
                suspended += down
                cleared += up
        return Change(tuple(suspended), tuple(cleared))

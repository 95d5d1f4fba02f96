"""The verbs that tell whether memory helps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from earnest.core import check
from earnest.core.uplift import AGAINST, Against, SettledDraw, Uplift
from earnest.errors import InvalidInput
from earnest.ledger import lifecycle
from earnest.ledger.uplift import measured
from earnest.protocols import Reading
from earnest.verbs.base import Base


class UpliftVerbs(Base):
    """Verbs that compare what memory decided with what was withheld."""

    def uplift(
        self,
        meter: str | None = None,
        *,
        entry: str | None = None,
        rule: str | None = None,
        against: Against = "nothing",
        alpha: float = 0.05,
    ) -> Uplift:
        """What memory, one entry or one rule changes, from decisions that were withheld at random (setting `holdout`).

        The interval holds at every moment together with probability 1 - alpha: look as often as you like, stop when you like. It
        is about one question, asked beforehand; for several entries at once see `uplifts`.

        Args:
            meter: Whose outcomes count. None takes the only meter that settled a randomised decision.
            entry: Only decisions that this entry made, or would have made. None takes all.
            rule: The same for an entry of kind `rule`; compared with what happens without it alone. Its trials are draws of their own
                (`memory.rules.trial`), and need no setting.
            against: "nothing": all of memory was withheld. "rival" (with `entry`): this entry alone was, so that the next best
                answered, if there is one; needs the setting `holdout_entry`.
            alpha: How often the interval may fail, over 0 and at most 0.5.

        Returns:
            Uplift(effect, low, high, decisions, holdouts, verdict, …). Effects are in the meter's scale a decision, outcomes cut to
            the setting `uplift_bound`. Without withheld outcomes `effect` is None and the verdict says "unmeasured".

        Raises:
            InvalidInput: As named; or there are several meters and none was named. UnknownEntry: no such entry.

        Writes nothing. O(the randomised decisions of that meter, or of that entry).
        """
        level = _level(alpha)
        if entry is not None and rule is not None:
            raise InvalidInput("rule", rule, "cannot be asked for together with an entry; ask for one at a time")
        subject = entry if rule is None else rule
        versus: Against = "rival" if rule is not None else check.choice("against", against, AGAINST)
        if versus == "rival" and subject is None:
            raise InvalidInput("against", against, "is about one entry: name it with entry=")
        with self._store.read() as reading:
            settings = self._read_settings(reading)
            chosen = _meter(reading, meter)
            stored = None if subject is None else lifecycle.found(reading, subject)
            if rule is not None and stored is not None and stored.entry.kind != "rule":
                raise InvalidInput("rule", rule, f"is an entry of kind {stored.entry.kind}; name it with entry=")
            row = None if stored is None else stored.row
            rows = [] if chosen is None else reading.settled_draws(chosen, row)
            ends = reading.draws_ended(row)
            if rule is not None and row is not None:
                # A rule on trial is withheld at the trial's rate, whatever the memory's holdout is.
                running = next((one for one in reading.trials_of(row) if one.ended is None), None)
                settings = settings if running is None else replace(settings, holdout=1.0 - running.terms.share)
        return measured(rows, ends, settings, against=versus, alpha=level, meter=chosen, entry=subject)

    def uplifts(
        self, meter: str | None = None, *, entries: Iterable[str] | None = None, against: Against = "nothing", alpha: float = 0.05
    ) -> tuple[Uplift, ...]:
        """The uplift of several entries at once: those named, or all that a randomised decision was about, largest effect first.

        `alpha` is shared among all that are asked for (Bonferroni), so that with probability 1 - alpha *every* interval holds; the
        more you ask for, the wider they are. Otherwise as `uplift`.
        """
        level, versus = _level(alpha), check.choice("against", against, AGAINST)
        named = None if entries is None else list(dict.fromkeys(check.items("entries", entries)))
        with self._store.read() as reading:
            settings = self._read_settings(reading)
            chosen = _meter(reading, meter)
            rows = [] if chosen is None else reading.settled_draws(chosen)
            if named is None:
                stored = reading.entries(list(dict.fromkeys(row.draw.entry_row for row in rows)))
            else:
                stored = [lifecycle.found(reading, name) for name in named]
            ends = {one.row: reading.draws_ended(one.row) for one in stored}
        made = [
            measured(mine, ends[one.row], settings, against=versus, alpha=level / len(stored), meter=chosen, entry=one.entry.id)
            for one, mine in zip(stored, _grouped(rows, [one.row for one in stored]), strict=True)
        ]
        return tuple(sorted(made, key=lambda u: (u.effect is None, -(u.effect or 0.0))))

    def uplift_meters(self) -> tuple[str, ...]:
        """The meters that settled a randomised decision, so that they can be asked for the uplift, by name."""
        with self._store.read() as reading:
            return tuple(reading.drawn_meters())


def _grouped(rows: list[SettledDraw], wanted: list[int]) -> list[list[SettledDraw]]:
    mine: dict[int, list[SettledDraw]] = {row: [] for row in wanted}
    for row in rows:
        if row.draw.entry_row in mine:
            mine[row.draw.entry_row].append(row)
    return [mine[row] for row in wanted]


def _level(alpha: float) -> float:
    return check.number("alpha", alpha, low=1e-9, high=0.5)


def _meter(reading: Reading, meter: str | None) -> str | None:
    """The meter to ask; None if nothing was settled after a draw, by any."""
    if meter is not None:
        name = check.label("meter", meter, limit=100)
        if reading.meter(name) is None:
            raise InvalidInput("meter", name, "there is no such meter; `earnest meters` lists those that there are")
        return name
    drawn = reading.drawn_meters()
    if len(drawn) > 1:
        raise InvalidInput("meter", meter, f"must be named: randomised decisions were settled by {', '.join(drawn)}")
    return drawn[0] if drawn else None

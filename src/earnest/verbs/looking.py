"""Verbs that measure what settlements cannot say of themselves: controls, and second looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from earnest.core import check
from earnest.core.outcome import Outcome
from earnest.core.paging import paged
from earnest.core.ticket import Appeal, SecondLook
from earnest.errors import InvalidInput
from earnest.ledger import decisions, looks
from earnest.protocols import SecondMeter
from earnest.verbs.base import Base


class LookVerbs(Base):
    """Verbs that measure again, or measure doing nothing."""

    def control(self, *, delta: float, meter: str = "unnamed", scale: float | None = None, detail: str = "", key: str | None = None) -> int:
        """Record what a meter shows when nothing is done: an A/A measurement, which teaches its baseline.

        A resource that moves by itself would credit or blame whoever decided meanwhile; under the rule `evidence` the baseline of the tick
        is taken off what the meter reports. One control a tick is plenty.

        Args:
            delta: What was measured without acting, in the meter's unit; finite.
            meter, scale, detail: As in `settle`. A control that was claimed or typed is recorded, and teaches nothing.
            key: Idempotency key.

        Returns:
            The number of the event.

        Raises:
            InvalidInput, KeyReused.

        Durable when it returns.
        """
        given = looks.checked_reading(delta, meter, scale, self._remark("detail", detail))
        with self._writing() as tx:

            def do() -> tuple[int, Mapping[str, Any]]:
                event = looks.control(tx, self._channel, **given)
                return event, {"event": event}

            return self._once(tx, key, "control", lambda: given, lambda kept: int(kept["event"]), do)

    def remeasure(
        self, ticket: str, *, delta: float, meter: str, scale: float | None = None, detail: str = "", key: str | None = None
    ) -> SecondLook:
        """Record a second, independent measurement of a settled decision: both count, each as far as its meter is believed.

        The entries are judged by it at once, their accounts are put right, and the meter that reported is judged by how often the two
        differ. `appeals` lists the tickets for which a second look is wanted.

        Args:
            ticket: The id of a settled ticket.
            delta: What that decision really changed, in this meter's unit; finite.
            meter: An instrument of its own.
            scale, detail: As in `settle`.
            key: Idempotency key: the same request returns the first result and moves nothing.

        Returns:
            What landed; for a ticket that is unknown, not settled or a holdout, `landed=False` and the reason. A look that was claimed or
            typed is recorded, and the report stands.

        Raises:
            NotAllowed: The same meter over the same channel has measured it already. InvalidInput, KeyReused.

        Durable when it returns. Cost: one commit, O(the entries that the ticket speaks of).
        """
        name = decisions.ticket_id(ticket)
        given = looks.checked_reading(delta, meter, scale, self._remark("detail", detail))
        with self._writing() as tx:

            def do() -> tuple[SecondLook, Mapping[str, Any]]:
                made = looks.remeasure(tx, self._read_settings(tx), self._channel, name, **given)
                return made, asdict(made) if key is not None else {}

            return self._once(tx, key, "remeasure", lambda: {"ticket": name, **given}, _look, do)

    def appeals(self, *, after: str | None = None, limit: int | None = None) -> list[Appeal]:
        """The second looks that are wanted, longest wanted first, after the one of that ticket; all of them unless limited.

        Asked for are an entry's first outcomes, the outcomes that its standing turned on, and one in twenty of the others, drawn after the
        report was in. An appeal that nobody answers within `expire_after` ticks is dropped, and one is not told while its report does not
        count (its meter was revoked) or nobody alive lives by it. A burial for harm waits up to 5 ticks for its appeals where a second
        instrument was ever heard.
        """
        wanted = None if limit is None else check.integer("limit", limit, low=1, high=check.MAX_LIMIT)
        after = None if after is None else decisions.ticket_id(after)
        with self._store.read() as reading:
            return [*paged(reading.appeals, after, lambda appeal: appeal.ticket, most=wanted)]

    def look_again(self, meter: SecondMeter, *, limit: int = 100, scale: float | None = None) -> list[SecondLook]:
        """Let an instrument of its own answer the appeals: it measures each ticket once more, and what it finds is recorded.

        Args:
            meter: Anything with a `name` and `remeasure(ticket)`, which returns an `Outcome`, or None where it cannot tell.
            limit: Appeals to answer at most.
            scale: The size of an ordinary effect in its unit; the meter's own unless given.

        Returns:
            What each second look did; those that it could not make are left out and stay wanted.

        Raises:
            InvalidInput: It returned something else. NotAllowed: It settled one of them itself. What it raises passes through; what was
            recorded before stays.

        The instrument is asked outside of any transaction; each look is one durable transaction.
        """
        name = getattr(meter, "name", None)
        if not isinstance(name, str) or not callable(getattr(meter, "remeasure", None)):
            raise InvalidInput("meter", meter, "must have a name and a method remeasure(ticket)")
        made = []
        for appeal in self.appeals(limit=limit):
            outcome = meter.remeasure(appeal.ticket)
            if outcome is None:
                continue
            if not isinstance(outcome, Outcome):
                raise InvalidInput("outcome", outcome, "remeasure gives back an earnest.Outcome(delta=…), or None")
            made.append(
                self.remeasure(appeal.ticket, delta=outcome.delta, meter=name, scale=scale, detail=outcome.detail[: check.MAX_DETAIL])
            )
        return made


def _look(kept: Mapping[str, Any]) -> SecondLook:
    said = dict(kept)
    for name in ("suspended", "cleared", "buried"):
        said[name] = tuple(said[name])
    return SecondLook(**said)

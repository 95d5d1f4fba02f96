"""Verbs that end a decision, and the one that moves the clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from earnest.core import check
from earnest.core.reports import TickReport
from earnest.core.slots import slot_of
from earnest.core.ticket import Credit, Settlement
from earnest.ledger import decisions, ticking
from earnest.rules import standing, trials
from earnest.verbs.base import Base


class LedgerVerbs(Base):
    """Verbs that end a decision."""

    def settle(
        self,
        ticket: str,
        *,
        delta: float,
        meter: str = "unnamed",
        scale: float | None = None,
        acted: bool | None = None,
        detail: str = "",
        cited: Sequence[str] | None = None,
        key: str | None = None,
    ) -> Settlement:
        """Record the measured outcome of a decision and move credit along its provenance. A ticket lands once.

        Args:
            ticket: The id that `decide` gave.
            delta: Signed change of a real resource, in the meter's unit; never a score. Finite; zero is an outcome too.
            meter: Who measured. One that nobody made is made now, with the trust of the channel.
            scale: The size of an ordinary effect, positive; the meter's own unless given, else 1.
            acted: Whether anything was done on the advice.
            detail: A remark for the entry's life story, at most 4,000 characters.
            cited: Ids of supporting entries that the answer was really made of; they share in the outcome. The others take nothing
                under the rule `evidence`.
            key: Idempotency key: the same request returns the first settlement and moves nothing.

        Returns:
            What landed; or, for an unknown, late or second settlement, `landed=False` and the reason.

        Raises:
            InvalidInput: A delta that is no finite number, and the like; the ticket stays open.
            KeyReused: The key came with another request.

        Durable when it returns: a crash or a power cut afterwards does not lose it. Cost: one commit, O(entries named).
        """
        name = decisions.ticket_id(ticket)
        outcome = decisions.checked_outcome(delta, meter, scale, acted, self._remark("detail", detail), cited)
        with self._writing() as tx:

            def do() -> tuple[Settlement, Mapping[str, Any]]:
                settings = self._read_settings(tx)
                made = decisions.settle(tx, settings, self._rng, self._channel, name, **outcome)
                if made.landed:
                    trials.heard(tx, settings, name, self._clock.now())
                return made, asdict(made) if key is not None else {}

            return self._once(tx, key, "settle", lambda: {"ticket": name, **outcome}, _settlement, do)

    def abandon(self, ticket: str, *, reason: str = "", key: str | None = None) -> bool:
        """Close a ticket without an outcome: no information, which is not zero. False if it was not open. Durable."""
        name, note = decisions.ticket_id(ticket), self._remark("reason", reason)
        with self._writing() as tx:

            def do() -> tuple[bool, Mapping[str, Any]]:
                found = tx.ticket(name)
                landed = found is not None and found.state == "pending"
                if found is not None and landed:
                    decisions.end_without_outcome(tx, self._read_settings(tx), found, "abandoned", note)
                return landed, {"landed": landed}

            return self._once(tx, key, "abandon", lambda: {"ticket": name, "reason": note}, lambda kept: bool(kept["landed"]), do)

    def tick(self, *, slot: str | None = None, expire_after: int | None = None) -> TickReport:
        """Move the economy's clock one step: old tickets expire, rent falls due, who cannot pay dies.

        Args:
            slot: A name for this step (a date, a run id): ticking again in a slot does nothing and returns the first report.
            expire_after: Ticks after which an open ticket expires; the setting unless given.

        Durable when it returns. Cost: one commit and what dies or expires, whatever the population.
        """
        limit = None if expire_after is None else check.integer("expire_after", expire_after, low=1, high=1_000_000)
        name = None if slot is None else check.label("slot", slot, limit=190)
        with self._writing() as tx:
            settings = self._read_settings(tx)

            def do() -> tuple[TickReport, Mapping[str, Any]]:
                made = ticking.tick(tx, settings, limit or settings.expire_after)
                if tx.counter("kind:rule"):
                    standing.expire(tx, settings, self._clock.now())
                    trials.review(tx, settings)
                return made, asdict(made) if name is not None else {}

            return self._once(tx, name, "tick", dict, lambda kept: TickReport(**{**kept, "died": tuple(kept["died"])}), do, "slot")

    def tick_due(self) -> TickReport | None:
        """Move the clock if a step is due: once in each stretch of `tick_every`, whoever comes first. None where that is `never`.

        A step that was made already is not made again; its report comes back. Steps that nobody asked for are not made up for.

        Durable when it returns. Cost: as `tick`.
        """
        slot = slot_of(self._settings_now().tick_every, self._clock.now())
        return None if slot is None else self.tick(slot=slot)


def _settlement(kept: Mapping[str, Any]) -> Settlement:
    said = dict(kept)
    said["credits"] = tuple(Credit(**credit) for credit in said["credits"])
    for name in ("suspended", "buried", "cleared"):
        said[name] = tuple(said.get(name, ()))
    return Settlement(**said)

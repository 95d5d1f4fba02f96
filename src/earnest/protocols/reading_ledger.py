"""What a snapshot knows of decisions, rules and evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from earnest.core.analysis import Question
    from earnest.core.entry import Standing
    from earnest.core.evidence import Belief, Word, WordRow
    from earnest.core.filters import Filter
    from earnest.core.ranking import Candidate, Statistics
    from earnest.core.rules import Experience, StoredRule, StoredTrial
    from earnest.core.ticket import Appeal, Control, Look, Meter, Role, SettledShare, StoredSettlement, StoredTicket
    from earnest.core.uplift import Draw, SettledDraw


class ReadingLedger(Protocol):
    """What a snapshot knows of decisions, rules and evidence. A part of `Reading`."""

    # decisions
    def ticket(self, ticket_id: str) -> StoredTicket | None:
        """The ticket of that id, whatever its state."""
        ...

    def pending(self, after: str | None, limit: int, *, opened_before: int | None = None) -> list[StoredTicket]:
        """Open tickets, oldest first, after the one of that id; only those opened before a tick if one is given."""
        ...

    def deciding(self, row: int, most: int) -> int:
        """In how many open tickets an entry is the one that decides, counted up to `most`. O(the entry's shares)."""
        ...

    def settlement(self, ticket_id: str) -> StoredSettlement | None:
        """How a ticket was settled; None if it was not."""
        ...

    def settlements_of(self, entry_row: int, limit: int) -> list[tuple[StoredSettlement, Role, int]]:
        """The settlements that named an entry, newest first, each with its role and what it moved in micro-units."""
        ...

    def meters(self) -> list[Meter]:
        """Every meter, ordered by name."""
        ...

    def meter(self, name: str) -> Meter | None:
        """The meter of that name."""
        ...

    # randomised decisions
    def draws_of(self, ticket_row: int) -> list[Draw]:
        """The coins that were thrown for a decision, by entry row; none if it was not randomised."""
        ...

    def settled_draws(self, meter: str, entry_row: int | None = None) -> list[SettledDraw]:
        """The randomised decisions that a meter settled, in the order of their settlements; about one entry if named.

        What it said after it was revoked does not count.
        """
        ...

    def withheld_by_tick(self, meter: str, since: int = 0) -> list[tuple[int, float, int]]:
        """(tick, sum of the outcomes in scales, their number) of decisions without memory that a meter settled from a tick on, in order."""
        ...

    def drawn_meters(self) -> list[str]:
        """The meters that settled a randomised decision, by name."""
        ...

    def draws_ended(self, entry_row: int | None = None) -> Mapping[tuple[str, str], int]:
        """How many decisions were drawn, by (arm, state of the ticket); about one entry if named. O(draws)."""
        ...

    # rules
    def rules(self, rows: Sequence[int]) -> Mapping[int, StoredRule]:
        """What is kept of these rules, by row; entries of other kinds are left out."""
        ...

    def rule_counts(self) -> Mapping[str, int]:
        """How many living rules there are of each status."""
        ...

    def rules_ending(self, by: datetime, limit: int) -> list[StoredRule]:
        """Up to `limit` active rules whose half-life has ended by a moment, the earliest first. O(what it returns)."""
        ...

    def trial(self, number: int) -> StoredTrial | None:
        """The trial of that number."""
        ...

    def trials_of(self, entry_row: int) -> list[StoredTrial]:
        """The trials that a rule stood, in order; at most the last of them is running."""
        ...

    def trial_counts(self) -> tuple[int, int]:
        """How many trials were ever begun, and how many of them proved their rule."""
        ...

    def trial_draws(self, number: int, meter: str | None) -> list[SettledDraw]:
        """The draws of a trial whose outcome was measured, by a meter if named, in the order of their settlements.

        What a meter said after it was revoked does not count, nor what was claimed or typed.
        """
        ...

    def trial_outcomes(self, number: int, meter: str | None) -> int:
        """How many draws `trial_draws` gives. Cheaper than reading them."""
        ...

    def trial_lost(self, number: int) -> tuple[int, int]:
        """The decisions of a trial that ended without an outcome: with the rule shown, and without."""
        ...

    def experiences(self, scopes: Sequence[str] | None, doubtful: float, valued: float, recalled: int, limit: int) -> list[Experience]:
        """Entries that may give reason for a rule, the newest first: with an outcome (not merely a claimed one) of theirs, less
        confidence than `doubtful`, of a turn and of the type "error" by their metadata, or at least the importance `valued` and so many
        recalls. O(entries of these scopes)."""
        ...

    # evidence
    def words_of(self, row: int, limit: int) -> list[Word]:
        """What was measured of an entry, in the order of the decisions; the latest ones if there are more than `limit`."""
        ...

    def words_among(self, rows: Sequence[int], limit: int) -> list[WordRow]:
        """`words_of` each of these entries, as plain rows, ordered by entry. O(rows times the words that come back)."""
        ...

    def latest_words(self, meter: str, limit: int, before: int | None = None) -> list[tuple[int, int]]:
        """(event, entry row) of a meter's latest words and second looks, in order, those that were borrowed left out.

        Only events before a number, if one is given. O(limit).
        """
        ...

    def spoken_of(self, meter: str, since: int) -> list[int]:
        """Rows of the entries that a meter has spoken of from an event on, ordered."""
        ...

    def witnesses(self, ticket_row: int) -> list[tuple[int, bool]]:
        """(entry row, whether it was borrowed) of the words that a ticket's outcome is, by row."""
        ...

    def beliefs(self) -> Mapping[str, tuple[Belief, float, int, bool]]:
        """What was last learned of each meter: (belief without baseline, slope, tick of its oldest word there, alarm), by name."""
        ...

    def revoked(self) -> Mapping[str, int]:
        """The revoked meters, each with the event from which its words do not count."""
        ...

    def controls_by_tick(self, meter: str, since: int = 0) -> list[tuple[int, float, int]]:
        """(tick, sum in scales, number) of a meter's measured controls from a tick on, in order."""
        ...

    def controls_of(self, meter: str, limit: int) -> list[Control]:
        """A meter's controls, newest first."""
        ...

    def looks_at(self, ticket_row: int) -> list[Look]:
        """The second measurements of a ticket, in order."""
        ...

    def appeals(self, after: str | None, limit: int) -> list[Appeal]:
        """The second looks that are wanted, longest wanted first, after the one of that ticket.

        No longer wanted is one at a report that does not count, because its meter was revoked, and one that nobody alive lives by: that
        what it was wanted for has died, and nobody who took over its words. They are wanted again if that is undone.
        """
        ...

    def appealed(self, row: int) -> int | None:
        """The tick at which a second look at an entry's outcomes was asked for last, of those that are still open; None without any."""
        ...

    def standings(self, rows: Sequence[int]) -> Mapping[int, Standing]:
        """How these entries stand; rows that are not there are left out."""
        ...

    def unmeasured_credit(self, row: int) -> int:
        """What claimed and typed settlements paid an entry so far, in micro-units."""
        ...

    def settled_in(self, tick: int) -> list[SettledShare]:
        """The settlements of a tick, by ticket."""
        ...

    def guards(self, question: Question, chosen: Filter, limit: int, share: float = 0.0) -> tuple[list[Candidate], Statistics]:
        """As `candidates`, among the executed entries: a text that was executed goes on guarding its question."""
        ...

    def executed(self, chosen: Filter, limit: int) -> list[Candidate]:
        """Those of the `limit` executed entries written last that pass the filter, of whatever words; the last first. O(limit)."""
        ...

    def past(self, question: Question, chosen: Filter, limit: int, share: float = 0.0) -> tuple[list[Candidate], Statistics]:
        """As `candidates`, among the superseded entries: who asks what held at an earlier time is told what was said then."""
        ...

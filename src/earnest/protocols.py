"""What can be replaced: a store, a clock, a source of chance, an encoder, a retriever. Structural: no class needs to inherit.

The words that the contract rests on: *atomic*, all of it or nothing, also after a crash; *durable*, on the disk when the block
has been left; *snapshot*, reads see one moment of the store however long they take; *ordered*, in the order of the named key.
`earnest.testing.store_conformance` is this contract as a test suite.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from earnest.core.analysis import Question
    from earnest.core.context import Placed
    from earnest.core.entry import NewEntry, Standing, StoredEntry
    from earnest.core.erasing import Subject
    from earnest.core.events import Event, Posting
    from earnest.core.evidence import Belief, Word, WordRow
    from earnest.core.filters import Filter
    from earnest.core.gate import Terms
    from earnest.core.links import Link
    from earnest.core.opinions import Opinions
    from earnest.core.outcome import Outcome
    from earnest.core.ranking import Candidate, Statistics
    from earnest.core.rules import Experience, StoredRule, StoredTrial
    from earnest.core.survey import Order, Settled
    from earnest.core.ticket import Appeal, Control, Look, Meter, Role, SettledShare, StoredSettlement, StoredTicket, Tier
    from earnest.core.uplift import Draw, SettledDraw


class Clock(Protocol):
    """Where time comes from."""

    def now(self) -> datetime:
        """The present moment, aware, in UTC."""
        ...


class Rng(Protocol):
    """Where chance comes from."""

    def random(self) -> float:
        """A float in [0, 1)."""
        ...

    def token(self, size: int) -> bytes:
        """`size` bytes that nobody can guess (in tests: that a seed decides)."""
        ...


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes and how: stamped on every event of a transaction."""

    at: datetime
    actor: str
    channel: str


@dataclass(frozen=True, slots=True)
class Damage:
    """One thing that `check` found wrong. `repairable` parts are rebuilt from the entries by a repair."""

    code: str
    text: str
    repairable: bool = False


@dataclass(frozen=True, slots=True)
class StoredModel:
    """What a store knows of an embedder whose vectors it has, or which failed here.

    `living` counts the living entries that have a vector of it. `problem` says what went wrong when it was last asked (`failed`, in
    microseconds since 1970), and is None if nothing did. `holder` fills in missing vectors until the time `held`.
    """

    name: str
    dimension: int | None
    living: int
    problem: str | None
    failed: int | None
    holder: str | None
    held: int | None


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """What a store knows of a document that was encoded from a file: to see later whether the file changed, or went away.

    `path` is where it was ("" if it was no file), `digest` what it held, `encoder` which rules its pieces were made by.
    """

    source: str
    scope: str
    path: str
    digest: bytes
    encoder: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A stretch of what happened: rows of the entries that it is about, and the last event and vector that it covers."""

    rows: tuple[int, ...]
    event: int
    vector: int


@dataclass(frozen=True, slots=True)
class Mentions:
    """Where a text stands beside the entries: rows of tickets, events (of remarks), sources and documents; keys; names of scopes; links."""

    tickets: tuple[int, ...]
    notes: tuple[int, ...]
    sources: tuple[int, ...]
    documents: tuple[int, ...]
    keys: tuple[str, ...]
    scopes: tuple[str, ...]
    links: tuple[str, ...] = ()


class Embedder(Protocol):
    """Makes texts comparable by meaning; see `earnest.embedders`.

    Optional: `remote = True` says that a call may take longer than some milliseconds, so that no write waits for it;
    `embed_query(text)` makes the vector of a question where that differs from a text's; `batch` is how many texts a call takes;
    `near` is the cosine from which its vectors say that two texts are about the same matter.
    """

    @property
    def model_id(self) -> str:
        """Names the model and whatever else its vectors depend on: vectors of two names are never compared."""
        ...

    def embed(self, texts: Sequence[str]) -> Any:
        """A vector for each text, in order: anything that numpy takes for float32[len(texts), d], with the same d for ever."""
        ...


class Reranker(Protocol):
    """Reads a question and a text together and says how well they fit; see `earnest.recall.reranking`."""

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """A score for each text, in order, the higher the better; on whatever scale. It may raise any `EarnestError`, `OSError`,
        `RuntimeError` or `ValueError` where it cannot; the order then stays as it was, and the hits say so."""
        ...


class Reading(Protocol):
    """One snapshot of one agent's store."""

    # settings and running numbers
    def settings(self) -> Mapping[str, Any]:
        """The settings that differ from the defaults, by name."""
        ...

    def counter(self, name: str) -> int:
        """A running number of the store; 0 if it was never set."""
        ...

    # entries
    def entry(self, entry_id: str) -> StoredEntry | None:
        """The entry of that id, dead or alive."""
        ...

    def entries(self, rows: Sequence[int]) -> list[StoredEntry]:
        """The entries of these rows, in the order asked; rows that are not there are left out."""
        ...

    def twins(self, digest: bytes, scope: str, kind: str) -> list[StoredEntry]:
        """Entries of any standing with that twin digest, scope and kind, newest first."""
        ...

    def known_twins(self, digests: Collection[bytes]) -> set[bytes]:
        """Those of these twin digests that any entry has, of whatever standing, scope and kind. O(digests)."""
        ...

    def encoded(self, source: str, scope: str) -> list[StoredEntry]:
        """Living entries of that scope and source that an encoding wrote, oldest first. O(the source's entries)."""
        ...

    def document(self, source: str, scope: str) -> StoredDocument | None:
        """What is known of the document that was encoded under that name."""
        ...

    def documents(self, scope: str | None = None, *, under: str = "") -> list[StoredDocument]:
        """Documents by source, of one scope or of all; with `under` only those whose path begins with it. O(documents)."""
        ...

    def lately_dead(self, scope: str, since_tick: int, limit: int) -> list[StoredEntry]:
        """Up to `limit` entries of a scope that died at or after a tick, the last first. O(what died since)."""
        ...

    def page(self, chosen: Filter, after: str | None, limit: int) -> list[StoredEntry]:
        """Up to `limit` entries that pass the filter, ordered by age (oldest first), after the entry of that id."""
        ...

    def richest(self, limit: int) -> list[StoredEntry]:
        """Living earned entries by recorded wealth net of rent, richest first."""
        ...

    def due(self, rent_index: int) -> list[int]:
        """Rows of living entries that are empty when the rent index stands there. O(what it returns)."""
        ...

    def faded(self, at: datetime, after: tuple[int, int] | None, limit: int) -> list[tuple[int, int]]:
        """Up to `limit` living entries that have faded by that time, earliest first, after the last of a page: (date, row). The date is in
        microseconds since 1970. O(what it returns)."""
        ...

    def fading(self, after: int, limit: int) -> list[int]:
        """Rows of up to `limit` living entries of retention `fading`, by row, after that one."""
        ...

    def opinions(self, row: int) -> Opinions | None:
        """What readers said of an entry; None if nobody said anything."""
        ...

    def outdated(self, limit: int) -> list[int]:
        """Rows of up to `limit` living entries that somebody called outdated. O(what it returns)."""
        ...

    def living(self, after: int, limit: int) -> list[int]:
        """Rows of up to `limit` living entries, by row, after that one."""
        ...

    # links
    def links_of(self, rows: Sequence[int]) -> list[Link]:
        """Every link between living entries that has one of these rows at an end, by row. O(links)."""
        ...

    def stated_links(self, row: int) -> list[Link]:
        """The links of an entry, dead or alive, that somebody stated, to living entries."""
        ...

    def links(self, after: tuple[int, int, str], limit: int) -> list[Link]:
        """Up to `limit` links between living entries, ordered by (entry, other, kind), after that one."""
        ...

    def holding(self, terms: Sequence[str], scope: str, below: int, limit: int) -> list[int]:
        """Rows of up to `limit` living entries of a scope, below a row, that hold all of these terms, newest first.

        Raises:
            IndexDamaged: The index is known to be broken.
        """
        ...

    # recall
    def candidates(self, question: Question, chosen: Filter, limit: int, share: float = 0.0) -> tuple[list[Candidate], Statistics]:
        """Up to `limit` entries that pass the filter and hold a term of the question, likely best first, with term statistics.

        Entries that match less than `share` of the question may be left out.

        Raises:
            IndexDamaged: The index is known to be broken or to lag; it never answers as if whole.
        """
        ...

    def indexed(self, rows: Sequence[int]) -> list[Candidate]:
        """These entries with their own terms, in any order; rows that the keyword index does not hold are left out. O(rows)."""
        ...

    def placed(self, rows: Sequence[int], chosen: Filter, reach: int = 0) -> list[Placed]:
        """Where those of these living entries that pass the filter stand in time and in a conversation, in any order.

        With `reach`, turns come with up to so many living ones before and after them in their session, by the time that they are about
        and then by age; these may fail the filter. O(rows × reach), however long a session is.
        """
        ...

    def within(self, chosen: Filter, start: datetime, end: datetime, limit: int) -> list[int]:
        """Rows of up to `limit` entries that pass the filter and are about a time in [start, end), the latest first.

        An engine may give none where the filter spans too many scopes to look at each.
        """
        ...

    def known(self, terms: Sequence[str], chosen: Filter) -> frozenset[str]:
        """Which of these terms some entry in the filter's scopes holds. O(terms)."""
        ...

    def vocabulary(self, start: str, limit: int) -> list[str]:
        """Up to `limit` terms of the keyword index that begin so, in order, whatever scope they are in. O(limit)."""
        ...

    def index_problem(self) -> str | None:
        """What is wrong with the keyword index, by a quick look; None if nothing was found."""
        ...

    # vectors
    def nearest(self, model: str, vector: bytes, chosen: Filter, limit: int) -> list[tuple[int, float]]:
        """Up to `limit` entries that pass the filter and have a vector of that model, by cosine, nearest first: (row, cosine).

        `vector` is of unit length, as little-endian float32. Exact for small stores; for large ones near-exact, and said how near.
        Takes in everything that was committed before this snapshot, whoever wrote it.
        """
        ...

    def cosines(self, model: str, vector: bytes, rows: Sequence[int]) -> dict[int, float]:
        """The cosines of these entries with a vector; rows without a vector of that model are left out."""
        ...

    def models(self) -> list[StoredModel]:
        """Every embedder that the store knows of, oldest first."""
        ...

    def unembedded(self, model: str, before: int | None, limit: int, *, every: bool = False) -> list[tuple[int, str, str | None, bytes]]:
        """Living entries without a vector of that model, newest first, of a row below `before`: (row, text, cue, twin digest).

        Those that have one too if `every`.
        """
        ...

    def known_vectors(self, model: str, twins: Sequence[bytes]) -> dict[bytes, bytes]:
        """Stored vectors of that model for texts that some entry, dead or alive, says already, by twin digest."""
        ...

    def codes(self, model: str, rows: Sequence[int]) -> dict[int, bytes]:
        """The stored vectors of that model that these entries have."""
        ...

    def changed(self, model: str, event: int, vector: int, limit: int) -> Changed:
        """Entries that something happened to after that event, or that got a vector of that model after that vector's number.

        At most `limit` events and as many vectors are covered; what they are about is for the caller to read.
        """
        ...

    # looking it over
    def ranked(self, chosen: Filter, order: Order, *, cause: str | None, pinned: bool | None, after: str | None, limit: int) -> list[int]:
        """Rows of up to `limit` entries that pass the filter in that order, after the entry of that id, along an index.

        `cause` and `pinned` keep only those that died so, or are pinned or not.
        """
        ...

    def died_by_tick(self, since: int, until: int) -> list[tuple[int, str, int]]:
        """(tick, cause, number) of who died from one tick to another, both included, in order. O(who died then)."""
        ...

    def settled_by_tick(self, since: int, until: int) -> list[Settled]:
        """What was settled from one tick to another, both included, by meter and trust, in order. O(the settlements then)."""
        ...

    def holdings(self, step: int, buckets: int) -> tuple[list[int], int]:
        """How many living entries that pay rent hold how much, in `buckets` of `step` micro-units, and how many of them are pinned.

        Who holds less counts in the first, who holds more in the last. One look along an index.
        """
        ...

    def tickets_of(self, row: int, limit: int) -> list[str]:
        """The ids of open tickets that name an entry, newest first."""
        ...

    def heirs_of(self, row: int) -> list[str]:
        """The ids of entries that were made of this one, oldest first; a hundred at most."""
        ...

    # decisions
    def ticket(self, ticket_id: str) -> StoredTicket | None:
        """The ticket of that id, whatever its state."""
        ...

    def pending(self, after: str | None, limit: int, *, opened_before: int | None = None) -> list[StoredTicket]:
        """Open tickets, oldest first, after the one of that id; only those opened before a tick if one is given."""
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
        confidence than `doubtful`, or at least the importance `valued` and so many recalls. O(entries of these scopes)."""
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
        """The second looks that are wanted, longest wanted first, after the one of that ticket."""
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

    def past(self, question: Question, chosen: Filter, limit: int, share: float = 0.0) -> tuple[list[Candidate], Statistics]:
        """As `candidates`, among the superseded entries: who asks what held at an earlier time is told what was said then."""
        ...

    # the log
    def event(self, seq: int) -> Event | None:
        """The event of that number."""
        ...

    def events(self, *, entry: str | None, kind: str | None, after: int, limit: int, newest: bool) -> list[Event]:
        """Events after a number (before it, and newest first, if `newest`), ordered; of one entry or kind if named."""
        ...

    def postings(self, seq: int) -> list[Posting]:
        """The postings of one event, in order."""
        ...

    def before_edit(self, seq: int) -> Mapping[str, Any] | None:
        """What an event overwrote, for undo; None if it overwrote nothing or that was erased."""
        ...

    def lineage(self, entry_row: int) -> list[tuple[int, str, int]]:
        """(parent row, how, the parent's part of the balance in micro-units) for an entry made of others."""
        ...

    def remembered(self, key: str) -> tuple[str, bytes, Mapping[str, Any]] | None:
        """(verb, digest of the request, result) of an idempotency key."""
        ...

    # language models
    def kept_reply(self, digest: bytes) -> str | None:
        """What a language model replied to the prompt of that digest, if that is kept."""
        ...

    # moving
    def rows(self, *, vectors: bool) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Everything that memory knows, row by row: (table, values by column), in one order. Indexes, and whose it is, are left out."""
        ...

    def form(self) -> int:
        """The format that the rows are in: `load` takes those of this one and of every earlier one."""
        ...

    def untouched(self) -> bool:
        """Whether nothing was ever remembered, decided or measured here."""
        ...

    # archiving
    def archivable(self, before: int) -> list[int]:
        """Numbers of the events before one that can be archived: what grows with use, and nothing has to look up again."""
        ...

    def archive_rows(self, events: Sequence[int]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """What these events and their postings say: (table, values by column), each event before its postings."""
        ...

    def archives(self) -> list[bytes]:
        """The digests of the archives that this store was reduced by, oldest first."""
        ...

    def archive_damage(self, said: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[Damage]:
        """Where rows of an archive do not fit into the chain of this store."""
        ...

    # erasing
    def meant(self, subject: Subject) -> list[int]:
        """Rows of the entries, dead ones too, that a subject means, ordered; what was erased already is left out.

        O(entries) by text, else O(what it finds).
        """
        ...

    def kin(self, rows: Sequence[int]) -> list[tuple[int, int, str]]:
        """(child row, parent row, how) of what was made of these entries and of what they were made, erased ones left out."""
        ...

    def open_tickets(self, rows: Sequence[int]) -> list[str]:
        """Ids of the open tickets that name one of these entries."""
        ...

    def mentions(self, text: str) -> Mentions:
        """Where a text stands beside the entries. O(the store)."""
        ...

    def to_erase(self, rows: Sequence[int]) -> Mapping[str, int]:
        """How much goes with these entries: entries, vectors, tickets, notes."""
        ...

    def samples(self, rows: Sequence[int], most: int) -> list[bytes]:
        """Up to `most` pieces of the bytes that go with these entries, to look for them afterwards."""
        ...

    def residue(self, rows: Sequence[int], pieces: Sequence[bytes]) -> tuple[Mapping[str, int], list[bytes]]:
        """What the indexes still hold of erased entries, by index; and those of the pieces that what stays does not say too."""
        ...

    # totals
    def energy(self) -> int:
        """What all accounts of the living hold now, in micro-units. O(pinned entries)."""
        ...

    def totals(self) -> Mapping[str, Any]:
        """Counts and sums for `stats` and `doctor`: O(what is unusual), not O(entries)."""
        ...


class Writing(Reading, Protocol):
    """One atomic, durable transaction: everything in it is written when its block ends, or nothing if the block raises."""

    author: Author
    """Who writes, and when."""

    def set_setting(self, name: str, value: Any) -> None:
        """Keep a setting."""
        ...

    def bump(self, name: str, by: int) -> None:
        """Add to a running number."""
        ...

    def insert_entry(
        self, new: NewEntry, *, salt: bytes, digest: bytes, text_terms: Sequence[str], cue_terms: Sequence[str], balance: int = 0
    ) -> StoredEntry:
        """Write an entry that holds so much, and index its terms. The id must be new; the caller posts the balance."""
        ...

    def change_entry(self, row: int, **columns: Any) -> None:
        """Overwrite columns of one entry. An entry whose standing becomes `dead` leaves the index in the same transaction, and loses
        its links, but for those that somebody stated: these are not read until it comes back.

        When a fading entry will have faded follows from its row and the settings, in the same transaction. Its clock begins anew, now,
        where it comes back from the dead, becomes fading, or is unpinned. `last_recalled` is in microseconds since 1970.
        """
        ...

    def end_entries(self, rows: Sequence[int], cause: str) -> None:
        """End many living entries of one cause: what `change_entry` does for each of them whose standing becomes `dead` now, whose account
        is empty and whose pin is taken. Any order; none twice. In proportion to them."""
        ...

    def date_fading(self, rows: Sequence[int]) -> None:
        """Make the dates at which these entries will have faded anew, by the settings in force."""
        ...

    def put_opinions(self, row: int, said: Opinions | None) -> None:
        """Keep what readers said of an entry, in place of what was kept; None forgets it."""
        ...

    def put_link(self, link: Link) -> None:
        """Keep a link, in place of what was kept between its ends under its kind; `used` None is now."""
        ...

    def drop_link(self, link: Link) -> bool:
        """Take a link away; False if it was not there."""
        ...

    def drop_links(self, rows: Sequence[int]) -> int:
        """Take every link of these entries away, of the living and the dead; returns how many."""
        ...

    def drop_unused_links(self, before: datetime, limit: int) -> int:
        """Take up to `limit` links away that nobody stated and nobody travelled since; returns how many."""
        ...

    @property
    def returned(self) -> Sequence[int]:
        """Rows of the entries that came back from the dead in this transaction."""
        ...

    def add_sources(self, row: int, sources: Iterable[str]) -> None:
        """Add provenance that is not there yet."""
        ...

    def remove_source(self, row: int, source: str) -> None:
        """Take a source away from an entry."""
        ...

    def put_document(self, document: StoredDocument) -> None:
        """Remember a document, in place of what was known under its source and scope."""
        ...

    def drop_document(self, source: str, scope: str) -> None:
        """Know nothing of a document any more; its entries stay."""
        ...

    def set_tags(self, row: int, tags: Sequence[str]) -> None:
        """Replace an entry's tags."""
        ...

    def index(self, row: int, text_terms: Sequence[str], cue_terms: Sequence[str]) -> None:
        """Put an entry (back) into the keyword index."""
        ...

    @property
    def born(self) -> Sequence[int]:
        """Rows of the entries that this transaction wrote, in order."""
        ...

    def put_vectors(self, model: str, vectors: Mapping[int, bytes]) -> int:
        """Keep vectors by entry row, in the form of `core.vectors.encoded`, in place of older ones of that model; returns how many.

        All of a model's vectors have one dimension. Entries keep their vectors when they die, and rows that are not there are left out.
        """
        ...

    def drop_vectors(self, row: int) -> None:
        """Take an entry's vectors away, of every model. The caller's event names the entry."""
        ...

    def note_model(self, model: str, problem: str | None) -> None:
        """Record what went wrong with an embedder; None: it works."""
        ...

    def hold_model(self, model: str, holder: str, seconds: float) -> bool:
        """Become the one who fills in a model's missing vectors, for so many seconds; False while somebody else is."""
        ...

    def move_escrow(self, rows: Iterable[int], by: int) -> None:
        """Count open tickets up or down on these entries."""
        ...

    def insert_ticket(
        self, ticket_id: str, *, query: str, answer: str, exposure: float, holdout: bool, shares: Sequence[tuple[int, Role]]
    ) -> StoredTicket:
        """Write an open ticket."""
        ...

    def insert_draw(self, ticket: StoredTicket, draw: Draw) -> None:
        """Write the coin that was thrown for a decision, in the transaction that opens it. Counts `drawn:ARM` up."""
        ...

    def resolve_ticket(self, row: int, state: str, event: int) -> None:
        """End an open ticket. The caller has read it in this transaction, so that it ends once."""
        ...

    def insert_settlement(
        self,
        ticket: StoredTicket,
        *,
        event: int,
        delta: float,
        scale: float,
        meter: str,
        tier: Tier,
        acted: bool | None,
        detail: str,
        moved: Mapping[int, int],
    ) -> None:
        """Write how a ticket was settled and what it moved on each entry row, in micro-units."""
        ...

    def cite(self, ticket_row: int, rows: Sequence[int]) -> None:
        """Mark shares of a ticket as cited by its answer."""
        ...

    def put_meter(self, name: str, *, unit: str, scale: float | None, tier: Tier) -> None:
        """Make a meter, or change one."""
        ...

    def bind_meter(self, name: str, channel: str) -> None:
        """Let a meter's tier hold on a channel."""
        ...

    # rules
    def change_rule(self, row: int, **columns: Any) -> None:
        """Overwrite columns of a rule: status, event, ends, hits_before, heard, level, alarm. An entry of kind rule has them from its
        birth: it is pending."""
        ...

    def insert_trial(self, row: int, terms: Terms, begun: int) -> int:
        """Write a running trial of a rule; returns its number, which counts the store's trials from 1."""
        ...

    def end_trial(self, number: int, event: int | None, verdict: str | None) -> None:
        """End a trial by an event, or let it run again if there is none."""
        ...

    # evidence
    def put_word(self, row: int, ticket_row: int, word: Word, *, said_of: int | None = None) -> None:
        """Write what was measured of an entry; `said_of` is whose outcome it was if it was another's."""
        ...

    def second_word(self, ticket_row: int, *, size: float, meter: str, event: int) -> None:
        """Let a second measurement take the place of the report in every word that the ticket is."""
        ...

    def copy_words(self, from_row: int, to_row: int, *, borrowed: bool) -> int:
        """Give an entry what was measured of another, besides its own; returns how many words it gained."""
        ...

    def count_words(self, row: int, counted: bool) -> None:
        """Count an entry's words in their meters' lie rates, or leave them to the one that has copies of them."""
        ...

    def drop_words(self, row: int, said_of: int | None = None) -> None:
        """Take from an entry the words that were another's: of one entry, or all of them. Its own stay."""
        ...

    def put_belief(self, meter: str, belief: Belief, *, slope: float, oldest: int, alarm: bool) -> None:
        """Keep what was learned of a meter, with the tick of the oldest word that it was learned from."""
        ...

    def put_baseline(self, meter: str, baseline: float | None) -> None:
        """Keep what a meter shows by itself, in its unit, for people."""
        ...

    def revoke_meter(self, meter: str, since: int | None) -> None:
        """From which event on a meter's words do not count; None: they all do."""
        ...

    def want(self, ticket_row: int, row: int, why: str) -> None:
        """Ask for a second look at a settled ticket, about an entry; once asked, it stays as it was asked."""
        ...

    def unwant(self, ticket_row: int) -> None:
        """Ask no more."""
        ...

    def drop_appeals(self, before: int) -> int:
        """Give up the second looks that were asked for before a tick; returns how many. O(what it drops)."""
        ...

    def insert_control(self, *, event: int, meter: str, delta: float, scale: float, tier: Tier) -> None:
        """Write a measurement of doing nothing."""
        ...

    def insert_look(self, ticket_row: int, *, event: int, meter: str, delta: float, scale: float, tier: Tier) -> None:
        """Write a second measurement of a settled ticket."""
        ...

    def add_lineage(self, row: int, parents: Sequence[tuple[int, str, int]]) -> None:
        """Record what an entry was made of."""
        ...

    def load(self, form: int, rows: Iterable[tuple[str, Mapping[str, Any]]], terms: Callable[[str], Sequence[str]]) -> Mapping[str, int]:
        """Put rows in the place of everything in an untouched store, and make its indexes; returns how many rows, by table.

        Raises:
            StoreCorrupt: They are not rows of that format, or do not fit together.
        """
        ...

    def archive(self, events: Sequence[int], digest: bytes) -> int:
        """Take away what these events said, which a file of that digest holds; 0 if somebody else archived one of them."""
        ...

    def erase(self, rows: Sequence[int]) -> Mapping[str, int]:
        """Empty everything that goes with entries that died `erased`: texts, salts, metadata, labels, vectors, questions, remarks.

        Their rows, ids and numbers stay, since the log and the postings point at them. Returns how much of what.
        """
        ...

    def erase_labels(self, source: str | None, scope: str | None) -> Mapping[str, int]:
        """Take a source's name from what has others too (of one scope, or everywhere), and forget its documents."""
        ...

    def erase_scope(self, scope: str) -> None:
        """Take a scope's name away, once nothing but erased entries is in it."""
        ...

    def erase_mentions(self, found: Mentions) -> Mapping[str, int]:
        """Empty what names a text beside the entries."""
        ...

    def append(
        self,
        kind: str,
        *,
        entries: Sequence[int] = (),
        ticket: str | None = None,
        data: Mapping[str, Any] | None = None,
        postings: Sequence[Posting] = (),
        note: str = "",
        before: Mapping[str, Any] | None = None,
    ) -> int:
        """Append an event with its postings; returns its number. Ordered, chained, never changed afterwards."""
        ...

    def keep_reply(self, digest: bytes, reply: str) -> None:
        """Keep what a language model replied, for work that may be interrupted. It may hold any text, so that an erasure drops all."""
        ...

    def drop_replies(self, digests: Iterable[bytes] = (), *, before: datetime | None = None, every: bool = False) -> None:
        """Forget these replies, those kept before a time, or all of them."""
        ...

    def remember(self, key: str, verb: str, request: bytes, result: Mapping[str, Any]) -> None:
        """Keep what a request with an idempotency key did."""
        ...


@runtime_checkable
class Store(Protocol):
    """One agent's memory on some engine. Safe to share between threads; many processes may have it open."""

    agent: str
    read_only: bool

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        ...

    def read(self) -> AbstractContextManager[Reading]:
        """A snapshot. Never waits for a writer."""
        ...

    def write(self, author: Author, *, patience: float | None = None) -> AbstractContextManager[Writing]:
        """A transaction that excludes other writers while it lasts. Keep it short: no model, no network inside.

        `patience` is how many seconds to wait for another writer, in place of the store's own bound.

        Raises:
            StoreBusy: Another writer held the store for longer than the bounded wait.
            StoreReadOnly, StoreFull, StoreCorrupt: As named. Nothing was written.
        """
        ...

    def damage(self, head: str | None = None) -> Iterator[Damage]:
        """Everything that is wrong with the store, by a full look: file, log, postings against balances, counters, index.

        `head` is a hash that the log had once: if no event has it, the log was rewritten.
        """
        ...

    def rebuild_index(self, terms: Callable[[str], Sequence[str]], author: Author) -> int:
        """Make the keyword index anew from the entries; `terms(text)` gives the terms. Returns how many were indexed."""
        ...

    def repair_counters(self, author: Author) -> None:
        """Make the running numbers anew from the rows that they sum up."""
        ...

    def backup(self, path: Path) -> None:
        """Write a whole, consistent copy to a new file while others go on writing."""
        ...

    def scratch(self, form: int, rows: Iterable[tuple[str, Mapping[str, Any]]]) -> AbstractContextManager[Reading]:
        """These rows as a passing store that can be looked at, on the disk and not in memory; it has no indexes."""
        ...

    def scrub(self) -> list[str]:
        """Write the store anew without what was deleted, so that no byte of it is left; says in sentences what could not be done.

        Other processes may go on. O(the store), in time and, for a moment, in room.
        """
        ...

    def forget(self) -> None:
        """Keep nothing in this process that was read before: the rows are others now."""
        ...

    def size(self) -> int:
        """Bytes that the store takes, its log too; 0 if it is in memory."""
        ...

    def holding(self, pieces: Sequence[bytes]) -> list[tuple[str, bytes]]:
        """The files of this store, old copies beside it too, that hold one of these pieces: (name, piece). O(their size)."""
        ...

    def close(self) -> None:
        """Release the store. Idempotent."""
        ...


@runtime_checkable
class SecondMeter(Protocol):
    """An instrument of its own that can measure what a settled ticket changed once more; see `Memory.look_again`."""

    name: str

    def remeasure(self, ticket: str) -> Outcome | None:
        """What that decision really changed; None where it cannot be measured any more."""
        ...


class Encoder(Protocol):
    """Turns documents into entries; see `earnest.encoding`."""

    def encode(self, documents: Sequence[Any]) -> Any:
        """Drafts of entries, and what was left out and why."""
        ...


class LLM(Protocol):
    """A language model that can be asked for help. No verb asks one unless the caller says so; none is asked inside a transaction.

    Optional: `reply(prompt, **options)` gives an `earnest.core.models.Reply`, which counts the tokens; `model_id` names the model;
    `price` is what a million tokens cost, read and written, in US dollars. Options that Earnest gives, and that a model may leave out
    of its signature: `max_tokens` (int), `temperature` (0 to 2), `json` (True: a JSON value is wanted) and `cancel` (a
    `threading.Event`: once it is set, the reply is not wanted any more).
    """

    def complete(self, prompt: str, **options: Any) -> str:
        """What the model replies to a prompt. It may raise any `EarnestError`, `OSError` (which time-outs are), `ValueError` or
        `RuntimeError` where it cannot reply; the caller then goes on without it, and says so."""
        ...

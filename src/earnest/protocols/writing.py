"""One transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from earnest.protocols.reading import Reading
from earnest.protocols.rows import Mentions, StoredDocument
from earnest.protocols.system import Author

if TYPE_CHECKING:
    from earnest.core.entry import NewEntry, StoredEntry
    from earnest.core.events import Posting
    from earnest.core.evidence import Belief, Word
    from earnest.core.gate import Terms
    from earnest.core.links import Link
    from earnest.core.opinions import Opinions
    from earnest.core.ticket import Role, StoredTicket, Tier
    from earnest.core.uplift import Draw


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

    def forget_keys(self, keys: Sequence[str]) -> int:
        """Forget these idempotency keys, and say how many there were."""
        ...

"""Merges: entries joined into one heir that holds their balances and what was measured of them, and taken apart again exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from earnest.core import check
from earnest.core.agreement import adds_nothing
from earnest.core.amounts import CAP, micro
from earnest.core.analysis import Analyser
from earnest.core.entry import NewEntry, StoredEntry
from earnest.core.events import Event, Posting, text_digest
from earnest.core.settings import Settings
from earnest.core.twins import twin_digest
from earnest.errors import NotAllowed
from earnest.ledger import admission
from earnest.ledger.book import Book
from earnest.ledger.decisions import new_id
from earnest.ledger.lifecycle import found, movable, refuse_living_twin, refuse_saying_twice, revive
from earnest.ledger.testimony import Testimony, pool
from earnest.protocols import Rng, Writing

SETTLEMENTS: Final = 10_000
"""Outcomes of an heir that are looked through when it is taken apart."""

_HELPER: Final = 0.3
"""Weight of a word's part beside the word, when it is asked which text answers a question."""


def merge(
    tx: Writing,
    settings: Settings,
    rng: Rng,
    analyser: Analyser,
    members: Sequence[StoredEntry],
    new: NewEntry,
    terms: tuple[Sequence[str], Sequence[str]],
    **data: Any,
) -> StoredEntry:
    """Joins entries into one heir that holds their balances together, up to the cap; they die `merged`.

    What was measured of the members is the heir's from now on, in the order of their decisions; its standing follows from all of it.
    """
    for stored in members:
        movable(stored, "merged")
    _of_one_kind(members)
    if new.valid_from and new.valid_to and new.valid_from > new.valid_to:
        raise NotAllowed("these entries never hold at one time, so that nothing could be said of them together")
    refuse_saying_twice(tx, new, {stored.row for stored in members})
    salt = rng.token(16)
    heir = tx.insert_entry(new, salt=salt, digest=twin_digest(new.text, new.cue), text_terms=terms[0], cue_terms=terms[1])
    book, index, cap = Book(tx, settings), tx.counter("rent_index"), micro(settings.cap)
    postings: list[Posting] = []
    together = 0
    parts: list[tuple[int, str, int]] = []
    for stored in members:
        held = max(0, stored.entry.balance) if stored.entry.retention == "earned" else 0
        postings += book.due(stored)
        if held:
            postings.append(Posting(stored.row, heir.row, held))
        postings += book.forgiven(stored)
        together += held
        parts.append((stored.row, "merge", held))
        tx.change_entry(
            stored.row, standing="dead", cause="merged", heir=heir.row, balance=0, rent_mark=index, died_tick=tx.counter("tick")
        )
    if together > cap:
        postings.append(Posting(heir.row, CAP, together - cap))
        together = cap
    tx.change_entry(
        heir.row, balance=together, rent_mark=index, harmed=any(stored.harmed for stored in members), cause=None,
        standing=members[0].entry.standing, last_settled_tick=_last_settled(members),
    )  # fmt: skip
    tx.add_lineage(heir.row, parts)
    tx.append(
        "merge", entries=[heir.row, *(stored.row for stored in members)],
        data={"text": text_digest(salt, new.text), "parts": [[row, part] for row, _, part in parts], **data},
        postings=postings,
    )  # fmt: skip
    pool(tx, heir.row, [stored.row for stored in members])
    [made] = tx.entries([heir.row])
    by = admission.condemned(tx, settings, analyser, new, terms)
    return admission.convict(tx, settings, made, by or made)


def _of_one_kind(members: Sequence[StoredEntry]) -> None:
    first = members[0].entry
    for stored in members[1:]:
        for field in ("scope", "kind", "retention", "standing"):
            if getattr(stored.entry, field) != getattr(first, field):
                raise NotAllowed(
                    f"entries {first.id} and {stored.entry.id} differ in {field} "
                    f"({getattr(first, field)!r} and {getattr(stored.entry, field)!r}) and cannot be merged"
                )


def _last_settled(entries: Sequence[StoredEntry]) -> int | None:
    return max((s.entry.last_settled_tick for s in entries if s.entry.last_settled_tick is not None), default=None)


def take_apart(tx: Writing, settings: Settings, analyser: Analyser, event: Event) -> tuple[str, ...]:
    """Undoes a merge: each member gets back its proportional part of what the heir holds now, and its own record.

    What was measured of the heir since then goes to the member whose text answers the question that was decided best. Returns the ids
    that changed.

    Raises:
        NotAllowed: Something was built on the heir, and the later event is named; or a ticket is open; or a member's twin is alive.
    """
    heir = found(tx, event.entries[0])
    still_whole(tx, heir)
    parents = tx.lineage(heir.row)
    book, index = Book(tx, settings), tx.counter("rent_index")
    held = max(0, heir.entry.balance)
    postings = book.due(heir)
    members = tx.entries([row for row, _, _ in parents])
    shares = proportional(held, [part for _, _, part in parents])
    # Harm that the heir decided is everybody's; what one member had done before is its own.
    by_heir = any(moved < 0 and role != "supporting" for _, role, moved in tx.settlements_of(heir.row, SETTLEMENTS))
    for stored, share in zip(members, shares, strict=True):
        refuse_living_twin(tx, stored, leaving=heir.row)
        revive(tx, stored, analyser)
        balance = share if stored.entry.retention == "earned" else 0
        tx.change_entry(stored.row, balance=balance, rent_mark=index, harmed=stored.harmed or by_heir, standing=heir.entry.standing)
        if share:
            postings.append(Posting(heir.row, stored.row, share))
    postings += book.forgiven(heir)
    tx.change_entry(
        heir.row, standing="dead", cause="forgotten", heir=members[0].row, pinned=False, balance=0, rent_mark=index,
        died_tick=tx.counter("tick"),
    )  # fmt: skip
    decided = _give_back_words(tx, analyser, heir, members)
    said = {"cause": "forgotten", "left": 0, "merge": event.seq, "words": [[row, count] for row, count in sorted(decided.items())]}
    tx.append("forget", entries=[heir.row, *(stored.row for stored in members)], data=said, postings=postings)
    testimony = Testimony(tx, settings)
    for stored in tx.entries([stored.row for stored in members]):
        testimony.judge(tx, stored)
        book.verdict(tx.entries([stored.row])[0])
    return (heir.entry.id, *(stored.entry.id for stored in members))


def still_whole(tx: Writing, heir: StoredEntry) -> None:
    """Refuses to take back what made an entry that something was built on since, and names it."""
    entry = heir.entry
    if not entry.alive:
        later = tx.events(entry=entry.id, kind=None, after=0, limit=100_000, newest=True)
        by = next((e for e in later if e.kind in ("merge", "supersede", "death", "forget")), None)
        raise NotAllowed(
            f"entry {entry.id}, which it made, is dead ({entry.cause})" + (f" since event {by.seq}; undo that first" if by else "")
        )
    if heir.open_tickets:
        raise NotAllowed(f"entry {entry.id} is named by open tickets ({heir.open_tickets:,}); settle or abandon them first")


def _give_back_words(tx: Writing, analyser: Analyser, heir: StoredEntry, members: Sequence[StoredEntry]) -> dict[int, int]:
    """Lets each member count its own words again, and gives it those of the heir's that its text decided; how many, by row."""
    tx.drop_words(heir.row)
    for stored in members:
        tx.count_words(stored.row, counted=True)
    given: dict[int, int] = {}
    queries = {ticket.row: ticket.query for ticket in _tickets_of(tx, heir)}
    for word in tx.words_of(heir.row, SETTLEMENTS):
        row = answering(analyser, queries.get(word.place, ""), members).row
        tx.put_word(row, word.place, word, said_of=heir.row)
        tx.change_entry(row, last_settled_tick=word.tick)
        given[row] = given.get(row, 0) + 1
    tx.count_words(heir.row, counted=False)
    return given


def _tickets_of(tx: Writing, heir: StoredEntry) -> list[Any]:
    settled = tx.settlements_of(heir.row, SETTLEMENTS)
    return [ticket for settlement, _, _ in settled if (ticket := tx.ticket(settlement.ticket_id)) is not None]


def answering(analyser: Analyser, query: str, members: Sequence[StoredEntry]) -> StoredEntry:
    """The member whose text and cue hold most of what a question asks for; the first of several that hold as much."""
    words = analyser.question(query).words

    def covered(stored: StoredEntry) -> float:
        held = {*analyser.terms(stored.entry.text), *analyser.terms(stored.entry.cue or "")}
        return sum(max(word.weight, _HELPER) for word in words if not held.isdisjoint(word.terms))

    return max(members, key=covered)


def merged_entry(rng: Rng, members: Sequence[StoredEntry], text: str | None) -> NewEntry:
    """What the heir of a merge says and is: the members' distinct texts in order, and all their sources and tags."""
    first = members[0].entry
    if text is None:
        texts: list[str] = []
        for stored in members:
            said = stored.entry.text.strip()
            if not any(_contained(said, other) for other in texts):
                texts = [t for t in texts if not _contained(t, said)] + [said]
        text = "\n".join(texts)
    starts = [s.entry.valid_from for s in members]
    ends = [s.entry.valid_to for s in members]
    return NewEntry(
        id=new_id(rng, 10),
        text=check.text("text", text),
        cue=next((s.entry.cue for s in members if s.entry.cue), None),
        kind=first.kind,
        origin="consolidated",
        sources=tuple(dict.fromkeys(source for s in members for source in s.entry.sources))[: check.MAX_LIST],
        scope=first.scope,
        importance=max(s.entry.importance for s in members),
        confidence=min(s.entry.confidence for s in members),
        retention=first.retention,
        # The heir is valid while all of its members are.
        valid_from=max((t for t in starts if t), default=None),
        valid_to=min((t for t in ends if t), default=None),
        tags=tuple(dict.fromkeys(tag for s in members for tag in s.entry.tags))[: check.MAX_LIST],
        metadata={key: value for s in reversed(members) for key, value in s.entry.metadata.items()},
        strength=max(s.entry.strength for s in members),
        probation=max(s.probation for s in members),
    )


def _contained(text: str, in_: str) -> bool:
    return " ".join(text.split()) in " ".join(in_.split()) or adds_nothing(text, in_)


def proportional(total: int, parts: Sequence[int]) -> list[int]:
    """Shares of a whole number in proportion to `parts`, exact: they sum to it. Equal shares where all parts are zero."""
    weights = list(parts) if any(parts) else [1] * len(parts)
    whole = sum(weights)
    made = [total * weight // whole for weight in weights]
    rests = sorted(range(len(weights)), key=lambda i: (-(total * weights[i] % whole), i))
    for i in rests[: total - sum(made)]:
        made[i] += 1
    return made

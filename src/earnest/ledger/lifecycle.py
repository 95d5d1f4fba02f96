"""Births and removals: each with its author, each with an undo."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

from earnest.core.amounts import FORFEIT, MINT, micro
from earnest.core.analysis import Analyser
from earnest.core.entry import Entry, NewEntry, StoredEntry
from earnest.core.events import Posting, text_digest
from earnest.core.settings import Settings
from earnest.core.twins import exact_digest, twin_digest
from earnest.errors import InvalidInput, NotAllowed, UnknownEntry
from earnest.ledger import admission
from earnest.ledger.book import Book
from earnest.protocols import Reading, Rng, Writing


def insert(
    tx: Writing,
    settings: Settings,
    rng: Rng,
    new: NewEntry,
    terms: tuple[Sequence[str], Sequence[str]],
    *,
    kind: str = "add",
    given: int | None = None,
    digest: bytes | None = None,
    **data: Any,
) -> StoredEntry:
    """Writes a new entry with its birth event, and its stake unless another amount is `given`; `digest` is its twins', if known."""
    salt = rng.token(16)
    stake = (micro(settings.stake) if given is None else given) if new.retention == "earned" else 0
    digest = digest or twin_digest(new.text, new.cue)
    stored = tx.insert_entry(new, salt=salt, digest=digest, text_terms=terms[0], cue_terms=terms[1], balance=stake)
    postings = [Posting(MINT, stored.row, stake)] if stake else []
    said = {"text": text_digest(salt, new.text), "kind": new.kind, "origin": new.origin, "retention": new.retention, **data}
    if new.redacted:
        said["redacted"] = [*new.redacted]
        tx.bump("redacted", len(new.redacted))
    tx.append(kind, entries=[stored.row], data=said, postings=postings)
    return stored


def add(
    tx: Writing,
    settings: Settings,
    rng: Rng,
    analyser: Analyser,
    new: NewEntry,
    terms: tuple[Sequence[str], Sequence[str]],
    kind: str = "add",
    own: tuple[bytes, ...] = (),
    known: set[bytes] | None = None,
) -> tuple[StoredEntry, bool]:
    """Writes an entry, or joins it to its twin: the twin gains the source, and neither stake nor trust.

    What says again what did harm comes back suspended and without a stake; its exact twin under its old id. Returns the entry and
    whether it is new. Episodes are twins only if they are of one time and one source. Of many, their own `digests` and those that are
    `known` may be found before; what is written here is added to these.
    """
    own = own or digests(new)
    known = tx.known_twins(own) if known is None else known
    again = not known.isdisjoint(own)
    same = [twin for twin in twins(tx, new, own) if one_episode(new, twin.entry)] if again else []
    for twin in same:
        if says_it(twin.entry, new):
            return joined(tx, twin, new.sources), False
    by = admission.condemned(tx, settings, analyser, new, terms, again=again)
    known.add(own[0])
    if by is None:
        return insert(tx, settings, rng, new, terms, kind=kind, digest=own[0]), True
    if by.row in {twin.row for twin in same} and by.entry.heir is None:
        revive(tx, by, analyser)
        tx.append("restore", entries=[by.row], data={"cause": by.entry.cause, "by": kind})
        return joined(tx, admission.convict(tx, settings, tx.entries([by.row])[0], by), new.sources), False
    return admission.convict(tx, settings, insert(tx, settings, rng, new, terms, kind=kind, given=0, digest=own[0]), by), True


def one_episode(new: NewEntry, entry: Entry) -> bool:
    """Whether a new entry is no episode of another time or source than its twin."""
    return new.kind != "episodic" or (entry.valid_from == new.valid_from and set(entry.sources) == set(new.sources))


def says_it(entry: Entry, new: NewEntry) -> bool:
    """Whether a twin that lives says what a new entry says for as long as that is to hold; if not, the new one is another entry.

    One that harm has suspended says it in any case: its text is not to come back by saying that it holds for longer.
    """
    lasts = entry.valid_to is None or (new.valid_to is not None and new.valid_to <= entry.valid_to)
    return entry.standing == "suspended" or (entry.standing == "active" and (lasts or entry.kind == "episodic"))


def joined(tx: Writing, twin: StoredEntry, sources: Sequence[str]) -> StoredEntry:
    """Gives an entry the sources that say the same; neither stake nor trust."""
    fresh = [source for source in sources if source not in twin.entry.sources]
    if fresh:
        tx.add_sources(twin.row, fresh)
    tx.append("twin", entries=[twin.row], data={"sources": len(fresh)})
    return tx.entries([twin.row])[0]


def digests(said: NewEntry | Entry) -> tuple[bytes, ...]:
    """What finds the twins of an entry, its own digest first."""
    return tuple(dict.fromkeys((twin_digest(said.text, said.cue), exact_digest(said.text, said.cue))))


def twins(tx: Reading, said: NewEntry | Entry, own: Sequence[bytes] | None = None) -> list[StoredEntry]:
    """Entries of any standing that say the same in this scope and kind but for trivial variants, newest first."""
    found = {stored.row: stored for digest in own or digests(said) for stored in tx.twins(digest, said.scope, said.kind)}
    return [found[row] for row in sorted(found, reverse=True)]


def replace_source(
    tx: Writing, settings: Settings, source: str, scope: str, said: Set[str], given: Set[str]
) -> tuple[list[str], list[str]]:
    """Ends what an earlier encoding of a source said and this one (`said`, entry ids) does not say any more.

    A sentence that other sources say too only loses this one; what was put together from several sources ends when all of them
    were `given` again. Pinned entries and those that an open ticket names are left alone. Returns the ids that ended, and notes.
    """
    ended, notes = [], []
    book = Book(tx, settings)
    for stored in tx.encoded(source, scope):
        entry = stored.entry
        if entry.id in said:
            continue
        if entry.origin == "cross_doc" and not set(entry.sources) <= given:
            continue
        if len(entry.sources) > 1 and entry.origin != "cross_doc":
            tx.remove_source(stored.row, source)
            tx.append("edit", entries=[stored.row], data={"fields": ["sources"]})
        elif entry.pinned or stored.open_tickets:
            why = "pinned" if entry.pinned else "named by an open ticket"
            notes.append(f"{source}: entry {entry.id} is not said any more, but was left alone: it is {why}")
        else:
            book.bury(stored, "superseded", note=f"not said any more by {source}")
            ended.append(entry.id)
    return ended, notes


def found(tx: Reading, entry_id: str) -> StoredEntry:
    """The entry of that id, or `UnknownEntry`."""
    if not isinstance(entry_id, str):
        raise InvalidInput("id", entry_id, "must be an entry's id, which is text")
    stored = tx.entry(entry_id) if entry_id.isascii() else None
    if stored is None:
        raise UnknownEntry(entry_id)
    return stored


def living(tx: Reading, entry_id: str) -> StoredEntry:
    """The entry of that id, which must not be dead.

    Raises:
        UnknownEntry, InvalidInput. NotAllowed: it is dead.
    """
    stored = found(tx, entry_id)
    if not stored.entry.alive:
        raise NotAllowed(f"entry {entry_id} is dead ({stored.entry.cause}); restore it first")
    return stored


def movable(stored: StoredEntry, verb: str) -> None:
    """Refuses what an open ticket or a pin protects, or what is dead already."""
    entry = stored.entry
    if not entry.alive:
        raise NotAllowed(f"entry {entry.id} is dead ({entry.cause}) and cannot be {verb}; `restore` brings back what can return")
    if entry.pinned:
        raise NotAllowed(f"entry {entry.id} is pinned and cannot be {verb}; unpin it first")
    if stored.open_tickets:
        raise NotAllowed(
            f"entry {entry.id} is named by open tickets ({stored.open_tickets:,}) and cannot be {verb} before the verdict; "
            "settle or abandon them first (`earnest pending` lists them)"
        )


def forget(tx: Writing, settings: Settings, entry_id: str, reason: str) -> StoredEntry:
    """Buries an entry because somebody said so."""
    stored = found(tx, entry_id)
    movable(stored, "forgotten")
    Book(tx, settings).bury(stored, "forgotten", kind="forget", note=reason)
    return stored


def restore(
    tx: Writing, settings: Settings, analyser: Analyser, entry_id: str, *, given: int | None = None, kind: str = "restore"
) -> StoredEntry:
    """Brings a dead entry back with a fresh stake, or with the balance that was forfeited when it was forgotten.

    It comes back as its evidence has it: what did harm, or says what an executed text says, is suspended.
    """
    stored = found(tx, entry_id)
    entry = stored.entry
    if entry.alive:
        raise NotAllowed(f"entry {entry.id} is alive ({entry.standing}); there is nothing to restore")
    if entry.heir is not None:
        raise NotAllowed(
            f"entry {entry.id} was {entry.cause}, and {entry.heir} took its place; undo that event instead (`earnest why {entry.id}`)"
        )
    refuse_living_twin(tx, stored)
    revive(tx, stored, analyser)
    if given is None and entry.cause in ("forgotten", "superseded"):
        given = forfeited(tx, stored) or None
    postings = Book(tx, settings).stake(stored, given)
    tx.append(kind, entries=[stored.row], data={"cause": entry.cause}, postings=postings)
    judge_returned(tx, settings, analyser, tx.entries([stored.row])[0])
    return stored


def judge_returned(tx: Writing, settings: Settings, analyser: Analyser, stored: StoredEntry) -> None:
    """Puts an entry that came back into the standing that its evidence asks for, or that of what says the same and was executed."""
    entry = stored.entry
    new = NewEntry(
        entry.id, entry.text, entry.cue, entry.kind, entry.origin, entry.sources, entry.scope, entry.importance, entry.confidence,
        entry.retention,
    )  # fmt: skip
    by = admission.condemned(tx, settings, analyser, new, (analyser.terms(entry.text), analyser.terms(entry.cue or "")))
    admission.convict(tx, settings, stored, by or stored)


def refuse_living_twin(tx: Writing, stored: StoredEntry, leaving: int | None = None) -> None:
    """An entry does not come back beside another that says the same, unless that one (its row is `leaving`) goes as it comes."""
    entry = stored.entry
    for twin in twins(tx, entry):
        if twin.entry.alive and twin.row not in (stored.row, leaving) and entry.kind != "episodic":
            raise NotAllowed(f"entry {entry.id} cannot return: entry {twin.entry.id} says the same and is alive")


def revive(tx: Writing, stored: StoredEntry, analyser: Analyser) -> None:
    """Takes an entry out of the graveyard and puts it back into the index; its account is empty. Its validity is what it was.

    Raises:
        NotAllowed: It was erased, so that there is nothing to bring back.
    """
    if stored.entry.cause == "erased":
        raise NotAllowed(f"entry {stored.entry.id} was erased: nothing of it is left that could come back")
    validity: dict[str, Any] = {}
    if stored.entry.cause == "superseded":
        for event in tx.events(entry=stored.entry.id, kind="death", after=0, limit=50, newest=True):
            if event.entries[0] == stored.entry.id:
                validity = {"valid_to": event.data["held_until"]} if "held_until" in event.data else {}
                break
    tx.change_entry(
        stored.row,
        standing="active",
        cause=None,
        heir=None,
        died_tick=None,
        balance=0,
        rent_mark=tx.counter("rent_index"),
        **validity,
    )
    tx.index(stored.row, analyser.terms(stored.entry.text), analyser.terms(stored.entry.cue or ""))


def forfeited(tx: Writing, stored: StoredEntry) -> int:
    """What an entry held when it was last buried, in micro-units; 0 if it held nothing."""
    for event in tx.events(entry=stored.entry.id, kind=None, after=0, limit=50, newest=True):
        if event.kind in ("forget", "death") and event.entries[0] == stored.entry.id:
            return max(0, int(event.data.get("left", 0)))
    return 0


def pin(tx: Writing, settings: Settings, entry_id: str, pinned: bool) -> StoredEntry:
    """Sets or takes the pin: a pinned entry still pays rent, rests at zero, and is never buried or merged."""
    stored = living(tx, entry_id)
    if stored.entry.pinned == pinned:
        return stored
    book = Book(tx, settings)
    postings, held = book.due(stored), stored.entry.balance
    if pinned and held < 0:
        # A pinned account rests at zero, whenever the pin comes.
        postings.append(Posting(FORFEIT, stored.row, -held))
        held = 0
    tx.change_entry(stored.row, balance=held, rent_mark=tx.counter("rent_index"), pinned=pinned)
    tx.append("pin" if pinned else "unpin", entries=[stored.row], postings=postings)
    if not pinned:
        book.verdict(tx.entries([stored.row])[0])
    return stored


def vouch(tx: Writing, entry_id: str) -> StoredEntry:
    """Ends an entry's wait for outcomes because somebody answers for it."""
    stored = living(tx, entry_id)
    if not stored.probation:
        return stored
    tx.change_entry(stored.row, probation=0)
    tx.append("vouch", entries=[stored.row], data={"waited": stored.probation})
    return stored


def refuse_saying_twice(tx: Writing, new: NewEntry, replaced: Set[int]) -> None:
    """What is written in the place of others does not say what a living entry beside them says."""
    for twin in twins(tx, new):
        if twin.entry.alive and twin.row not in replaced and new.kind != "episodic":
            raise NotAllowed(f"entry {twin.entry.id} says that already and is alive; merge it with the others, or say something else")

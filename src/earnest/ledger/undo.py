"""Taking back what an event did, by a new event: nothing in the log is ever changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from earnest.core import check
from earnest.core.analysis import Analyser
from earnest.core.entry import StoredEntry
from earnest.core.events import Event, moment
from earnest.core.rules import before as rule_before
from earnest.core.settings import Settings, with_changes
from earnest.errors import InvalidInput, NotAllowed, NotUndoable, UnknownEvent
from earnest.ledger import door, editing, lifecycle
from earnest.ledger.adoption import adopt
from earnest.ledger.book import Book
from earnest.ledger.merging import still_whole, take_apart
from earnest.ledger.revocation import trust_again
from earnest.protocols import Writing

Handler = Callable[[Writing, Settings, Analyser, Event], tuple[str, ...]]
"""Takes back an event of its kind; returns the ids of the entries that changed."""


def undo(tx: Writing, settings: Settings, analyser: Analyser, seq: int, more: Mapping[str, Handler] | None = None) -> tuple[str, ...]:
    """Takes back one event; returns the ids of the entries that changed. `more` are handlers of other services' events, by kind.

    Raises:
        UnknownEvent: No such event.
        NotUndoable: Its kind has no undo, or a later event stands in the way; the message names which.
    """
    event = tx.event(check.integer("event", seq, low=1, high=2**62))
    if event is None:
        raise UnknownEvent(seq)
    if seq in _undone_since(tx, seq):
        raise NotUndoable(f"event {seq} was taken back already")
    handler = {**_HANDLERS, **(more or {})}.get(event.kind)
    if handler is None:
        why = _WHY.get(event.kind, "it changed nothing that could be taken back")
        raise NotUndoable(f"event {seq} ({event.kind}) has no undo: {why}")
    try:
        changed = handler(tx, settings, analyser, event)
    except (NotAllowed, InvalidInput) as error:
        raise NotUndoable(f"event {seq} ({event.kind}) cannot be taken back: {error}") from error
    rows = [stored.row for entry in changed if (stored := tx.entry(entry)) is not None]
    tx.append("undo", entries=rows, data={"event": seq, "kind": event.kind})
    return changed


_WHY = {
    "undo": "do again what it took back",
    "rollback": "it took back what a run of `maintain` or `compress_long` did; run that again",
    "twin": "it only added its sources to the entry that says the same",
    "create": "it made this store; delete the file instead",
    "meter": "declare the meter anew, or revoke it",
    "bind": "it says by whom is measured from then on; revoke the meter if that should not count",
    "archived": "what it did lies in an archive",
    "archive": "the file holds what these events said; they are not brought back",
    "erase": "nothing of it is left that could be brought back",
    "settle": "an outcome was measured; a second measurement is another event",
    "tick": "time does not run backwards; restore the entries that died",
    "expire": "the ticket's time is over; open a new decision",
    "abandon": "the ticket is closed; open a new decision",
    "decide": "abandon the ticket instead",
    "remeasure": "it was measured; revoke the meter if its words should not count",
    "control": "it was measured; revoke the meter if its words should not count",
    "correct": "it follows from a second measurement",
    "suspend": "it follows from what was measured; a second look, or revoking the meter, changes that",
    "clear": "it follows from what was measured; a second look, or revoking the meter, changes that",
}


def _later(tx: Writing, entry: str, seq: int) -> list[Event]:
    return tx.events(entry=entry, kind=None, after=seq, limit=100_000, newest=False)


def _only(tx: Writing, event: Event) -> StoredEntry:
    return lifecycle.found(tx, event.entries[0])


def _pin(tx: Writing, settings: Settings, analyser: Analyser, event: Event) -> tuple[str, ...]:
    return (lifecycle.pin(tx, settings, event.entries[0], event.kind == "unpin").entry.id,)


def _vouch(tx: Writing, settings: Settings, analyser: Analyser, event: Event) -> tuple[str, ...]:
    stored = _only(tx, event)
    if not stored.entry.alive:
        raise NotAllowed(f"entry {stored.entry.id} is dead ({stored.entry.cause})")
    tx.change_entry(stored.row, probation=int(event.data["waited"]))
    return (stored.entry.id,)


def _removal(tx: Writing, settings: Settings, analyser: Analyser, event: Event) -> tuple[str, ...]:
    if len(event.entries) > 1:
        heir = event.entries[1]
        if event.kind == "forget":
            raise NotAllowed(f"that version was taken back, and entry {heir} returned in its place; `update` that one again")
        wrote = tx.events(entry=heir, kind=None, after=0, limit=1, newest=False)[0].seq
        raise NotAllowed(f"entry {heir} took its place; undo event {wrote}, which wrote that")
    died_again = [
        e.seq for e in _later(tx, event.entries[0], event.seq) if e.kind in ("death", "forget") and e.entries[0] == event.entries[0]
    ]
    if died_again:
        raise NotAllowed(f"entry {event.entries[0]} came back and died again in event {died_again[-1]}; undo that one")
    given = max(0, int(event.data.get("left", 0))) or None
    return (lifecycle.restore(tx, settings, analyser, event.entries[0], given=given).entry.id,)


def _birth(tx: Writing, settings: Settings, analyser: Analyser, event: Event) -> tuple[str, ...]:
    return (lifecycle.forget(tx, settings, event.entries[0], f"event {event.seq} taken back").entry.id,)


def _return(tx: Writing, settings: Settings, analyser: Analyser, event: Event) -> tuple[str, ...]:
    """Who was brought back by somebody is dead again of what it had died of: an executed text guards its question as it did before."""
    before = event.data.get("cause")
    if before not in ("executed", "starved", "faded") or "by" in event.data:
        return _birth(tx, settings, analyser, event)
    stored = _only(tx, event)
    lifecycle.movable(stored, "buried")
    Book(tx, settings).bury(stored, before, note=f"event {event.seq} taken back")
    return (stored.entry.id,)


def _edit(tx: Writing, settings: Settings, analyser: Analyser, event: Event) -> tuple[str, ...]:
    before = tx.before_edit(event.seq)
    if before is None:
        raise NotAllowed("what it overwrote was erased, or was a source that the document took back")
    stored = _only(tx, event)
    undone = _undone_since(tx, event.seq)
    for later in _later(tx, stored.entry.id, event.seq):
        stands = later.kind == "edit" and later.seq not in undone and "undo" not in later.data
        if stands and set(later.data.get("fields", ())) & set(before):
            raise NotAllowed(f"event {later.seq} changed the same fields later; undo that first")
    given = max(0, int(event.data["left"])) if "left" in event.data else None
    changes = door.checked_changes(before)
    return (editing.edit(tx, settings, stored.entry.id, changes, given=given, undo=event.seq).entry.id,)


def _undone_since(tx: Writing, seq: int) -> set[int]:
    """The events that were taken back after an event."""
    return {int(e.data["event"]) for e in tx.events(entry=None, kind="undo", after=seq, limit=100_000, newest=False)}


def _supersede(tx: Writing, settings: Settings, analyser: Analyser, event: Event) -> tuple[str, ...]:
    heir = _only(tx, event)
    still_whole(tx, heir)
    [(parent, _, part)] = tx.lineage(heir.row)
    book = Book(tx, settings)
    pinned = heir.entry.pinned
    [old] = tx.entries([parent])
    lifecycle.refuse_living_twin(tx, old, leaving=heir.row)
    book.bury(heir, "forgotten", kind="forget", note=f"event {event.seq} taken back", heir=old.row)
    lifecycle.revive(tx, old, analyser)
    postings = book.stake(old, max(0, part))
    if pinned:
        tx.change_entry(old.row, pinned=True)
    tx.append("restore", entries=[old.row], data={"cause": "superseded"}, postings=postings)
    lifecycle.judge_returned(tx, settings, analyser, tx.entries([old.row])[0])
    return heir.entry.id, old.entry.id


def _setting(tx: Writing, settings: Settings, analyser: Analyser, event: Event) -> tuple[str, ...]:
    before = tx.before_edit(event.seq) or {}
    undone = _undone_since(tx, event.seq)
    for later in tx.events(entry=None, kind="setting", after=event.seq, limit=100_000, newest=False):
        if later.seq not in undone and set(later.data) & set(before):
            raise NotAllowed(f"event {later.seq} set the same later; undo that first")
    now = with_changes(settings, before)
    if now.languages != settings.languages:
        raise NotAllowed("it changed the languages, for which the index is made anew; set them with `earnest config languages`")
    for name in before:
        tx.set_setting(name, getattr(now, name))
    if now.rule != settings.rule:
        adopt(tx, now)
    return ()


def _revoke(tx: Writing, settings: Settings, analyser: Analyser, event: Event) -> tuple[str, ...]:
    meter, before = str(event.data["meter"]), tx.before_edit(event.seq) or {}
    undone = _undone_since(tx, event.seq)
    for later in tx.events(entry=None, kind="revoke", after=event.seq, limit=100_000, newest=False):
        if later.seq not in undone and later.data["meter"] == meter:
            raise NotAllowed(f"event {later.seq} revoked the meter again later; undo that first")
    return trust_again(tx, settings, analyser, meter, before.get("revoked"))


def _rule(tx: Writing, settings: Settings, analyser: Analyser, event: Event) -> tuple[str, ...]:
    """A rule goes back to the status that it had; what ended a trial lets it run again, what began one ends it without a verdict."""
    before = tx.before_edit(event.seq) or {}
    stored = _only(tx, event)
    now = tx.rules([stored.row])[stored.row]
    if now.event != event.seq or "status" not in before:
        raise NotAllowed(f"event {now.event} changed the rule's status later; undo that first")
    running = next((one for one in tx.trials_of(stored.row) if one.ended is None), None)
    data = {"status": before["status"], "before": now.status, "why": "undone", "undo": event.seq}
    back = tx.append("rule", entries=[stored.row], data=data, before=rule_before(now, running))
    if running is not None:
        tx.end_trial(running.number, back, "stopped")
    elif before["status"] == "trial" and before.get("trial") is not None:
        tx.end_trial(int(before["trial"]), None, None)
    ends = moment(int(before["ends"])) if before.get("ends") is not None else None
    watch = {name: before.get(name, 0) for name in ("hits_before", "heard", "level", "alarm")}
    tx.change_rule(stored.row, status=before["status"], event=back, ends=ends, **watch)
    return (stored.entry.id,)


_HANDLERS: Mapping[str, Handler] = {
    "pin": _pin,
    "unpin": _pin,
    "vouch": _vouch,
    "forget": _removal,
    "death": _removal,
    "add": _birth,
    "encode": _birth,
    "import": _birth,
    "restore": _return,
    "edit": _edit,
    "supersede": _supersede,
    "merge": take_apart,
    "setting": _setting,
    "revoke": _revoke,
    "rule": _rule,
}

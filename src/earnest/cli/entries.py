"""Commands that write, change and show entries."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any, Final

from earnest.cli.common import STANDING_STYLES, energy, entry_table, filters, given, nothing_here, plural, standing
from earnest.cli.encoding import STDIN, stdin_document
from earnest.cli.place import beginning, hint, open_memory
from earnest.cli.render import Painted, Part, Screen
from earnest.errors import InvalidInput

if TYPE_CHECKING:
    from earnest.core.entry import Entry
    from earnest.memory import Memory

_FIELDS: Final = ("cue", "importance", "confidence", "retention", "metadata", "valid_from", "valid_to")
_PAGE: Final = 50


def typed(word: str | None) -> str | None:
    """A text as it was typed; a dash stands for standard input."""
    return stdin_document("stdin").text.removesuffix("\n") if word == STDIN else word


def remember(args: Namespace, screen: Screen) -> int:
    """`earnest remember`."""
    text = typed(args.text) or ""
    fields = given(args, *_FIELDS, "kind", "scope", "key")
    begun = beginning(args)
    with open_memory(args, "creating") as memory:
        entry = memory.add(text, sources=args.source, tags=args.tag, **fields)
        waits = _waits(args, memory, entry)
    return _done(args, screen, entry, "Remembered", waits, f"The first entry of a new store, {begun}" if begun else "")


def edit(args: Namespace, screen: Screen) -> int:
    """`earnest edit`."""
    changes = given(args, *_FIELDS, "key") | ({"tags": args.tag} if args.tag is not None else {})
    if args.text is not None:
        changes["text"] = typed(args.text)
    if not changes.keys() - {"key"}:
        raise InvalidInput("edit", args.id, "says nothing to change; `earnest edit --help` lists what can be")
    with open_memory(args, "writing") as memory:
        entry = memory.update(args.id, **changes)
        waits = _waits(args, memory, entry)
    return _done(args, screen, entry, "Edited" if entry.id == args.id else f"{args.id} has a new version,", waits)


def _waits(args: Namespace, memory: Memory, entry: Entry) -> str:
    """Why an entry that aims at its reader decides nothing yet; nothing of others."""
    if not entry.marks or not (left := memory.card(entry.id).probation):
        return ""
    waits = f"it waits for {plural(left, 'good outcome')} beside it before it may decide"
    return f"Marked ({', '.join(entry.marks)}): {waits}; `{hint(args, f'vouch {entry.id}')}` ends the wait."


def forget(args: Namespace, screen: Screen) -> int:
    """`earnest forget`."""
    with open_memory(args, "writing") as memory:
        entry = memory.forget(args.id, **given(args, "reason", "key"))
    return _done(args, screen, entry, "Forgot", f"`{hint(args, f'restore {entry.id}')}` brings it back.")


def restore(args: Namespace, screen: Screen) -> int:
    """`earnest restore`."""
    with open_memory(args, "writing") as memory:
        return _done(args, screen, memory.restore(args.id, **given(args, "key")), "Restored")


def pin(args: Namespace, screen: Screen) -> int:
    """`earnest pin`."""
    with open_memory(args, "writing") as memory:
        return _done(args, screen, memory.pin(args.id, **given(args, "key")), "Pinned")


def unpin(args: Namespace, screen: Screen) -> int:
    """`earnest unpin`."""
    with open_memory(args, "writing") as memory:
        return _done(args, screen, memory.unpin(args.id, **given(args, "key")), "Unpinned")


def vouch(args: Namespace, screen: Screen) -> int:
    """`earnest vouch`."""
    with open_memory(args, "writing") as memory:
        return _done(args, screen, memory.vouch(args.id, **given(args, "key")), "Vouched for")


def merge(args: Namespace, screen: Screen) -> int:
    """`earnest merge`."""
    with open_memory(args, "writing") as memory:
        entry = memory.merge(args.ids, **given(args, "text", "key"))
    return _done(args, screen, entry, f"Merged {plural(len(set(args.ids)), 'entry', 'entries')} into")


def undo(args: Namespace, screen: Screen) -> int:
    """`earnest undo`."""
    with open_memory(args, "writing") as memory:
        changed = memory.undo(args.event, **given(args, "key"))
        entries = [memory.get(entry) for entry in changed]
    if screen.as_json:
        screen.json({"event": args.event, "changed": entries})
    elif entries:
        screen.say(f"Took back event {args.event}. It changed:")
        entry_table(screen, entries)
    else:
        screen.say(f"Took back event {args.event}.")
    return 0


def _done(args: Namespace, screen: Screen, entry: Entry, verb: str, *more: str) -> int:
    """Say what became of one entry, and what more there is to it."""
    if screen.as_json:
        screen.json(entry)
        return 0
    held = f", {energy(entry)} energy" if entry.retention == "earned" and entry.alive else ""
    scope = f", scope {entry.scope!r}" if entry.scope else ""
    screen.say(f"{verb} ", Painted(entry.id, "bold"), " (", standing(entry), f"{held}{scope})")
    screen.cut("  ", entry.text)
    for line in filter(None, more):
        screen.say(line)
    return 0


def list_entries(args: Namespace, screen: Screen) -> int:
    """`earnest list`."""
    limit = _PAGE if args.limit is None else args.limit
    with open_memory(args, "reading") as memory:
        # One more than is shown tells whether there are more; a limit that is none is refused by the façade.
        wanted = limit + 1 if limit >= 1 else limit
        found = memory.list(**filters(args), **given(args, "standing", "after"), limit=wanted)
        shown, more = found[:limit], len(found) > limit
        if screen.as_json:
            screen.json({"entries": shown, "next": shown[-1].id if more else None})
        elif shown:
            entry_table(screen, shown)
            if more:
                screen.say(f"There are more; go on with --after {shown[-1].id}, or raise --limit.")
        else:
            screen.say("No entries", f" after {args.after}" if args.after else "", ".")
            nothing_here(screen, memory, args)
    return 0


def show(args: Namespace, screen: Screen) -> int:
    """`earnest show`."""
    with open_memory(args, "reading") as memory:
        entry = memory.get(args.id)
        if screen.as_json:
            screen.json(entry)
        else:
            _say_entry(args, screen, memory, entry)
    return 0


def _say_entry(args: Namespace, screen: Screen, memory: Memory, entry: Entry) -> None:
    screen.say(Painted(entry.id, "bold"), f"  {entry.kind}, {entry.origin}, version {entry.version}")
    screen.say()
    screen.block(entry.text or "(its text was erased)", "    ")
    screen.say()
    standing_part: Part = Painted(
        entry.standing + (f", {entry.cause}" if entry.cause else "") + (f", its heir is {entry.heir}" if entry.heir else ""),
        STANDING_STYLES[entry.standing],
    )
    last = "never" if entry.last_settled_tick is None else f"at tick {entry.last_settled_tick:,}"
    rows: list[tuple[str, Any]] = [
        ("standing", standing_part),
        ("energy", energy(entry) if entry.retention == "earned" else f"none: it is {entry.retention} and pays no rent"),
        ("retention", entry.retention + (", pinned" if entry.pinned else "")),
        ("answers", entry.cue),
        ("sources", ", ".join(entry.sources) or "none given"),
        ("scope", entry.scope or "(default)"),
        ("tags", ", ".join(entry.tags)),
        ("importance", f"{entry.importance:g}, confidence {entry.confidence:g}"),
        ("recorded", f"{entry.created:%Y-%m-%d %H:%M} UTC, at tick {entry.born_tick:,}" if entry.created else "age unknown"),
        ("holds from", f"{entry.valid_from:%Y-%m-%d %H:%M} UTC" if entry.valid_from else ""),
        ("holds until", f"{entry.valid_to:%Y-%m-%d %H:%M} UTC" if entry.valid_to else ""),
        ("settled", last),
        ("recalled", plural(entry.recalls, "time")),
        ("marked", ", ".join(entry.marks)),
        ("made from", ", ".join(entry.lineage)),
        ("metadata", ", ".join(f"{key}: {value!r}" for key, value in entry.metadata.items())),
    ]
    screen.pairs([(name, value) for name, value in rows if value])
    screen.say("`", hint(args, f"why {entry.id}"), "` tells its life story.")

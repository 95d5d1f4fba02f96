"""Commands for an agent's conversation: what a turn leaves, and what a prompt is given."""

from __future__ import annotations

from argparse import Namespace

from earnest.cli.common import filters, given, plural
from earnest.cli.entries import typed
from earnest.cli.place import open_memory
from earnest.cli.render import Painted, Screen
from earnest.errors import InvalidInput


def prefetch(args: Namespace, screen: Screen) -> int:
    """`earnest prefetch`."""
    message = typed(args.message)
    with open_memory(args, "reading") as memory:
        context = memory.prefetch(message, **filters(args), **given(args, "budget", "floor"))
    if screen.as_json:
        screen.json({"text": context.text, "entries": context.entries, "rules": context.rules, "tokens": context.tokens})
    elif context:
        # As it is: a hook pastes it into a prompt.
        for line in context.text.split("\n"):
            screen.say(line)
    return 0


def sync_turn(args: Namespace, screen: Screen) -> int:
    """`earnest sync-turn`."""
    if args.user is None and args.assistant is None:
        raise InvalidInput("--user", None, "is missing, and so is --assistant: give one of them or both; a dash reads standard input")
    if args.user == args.assistant == "-":
        raise InvalidInput("--assistant", "-", "names standard input, as --user does; it can be read once")
    user, assistant = typed(args.user), typed(args.assistant)
    with open_memory(args, "creating") as memory:
        model = {} if args.model is None else {"extract": "llm", "llm": args.model}
        turn = memory.sync_turn(user, assistant, **model, **given(args, "scope", "session", "speaker", "key"))
    if screen.as_json:
        screen.json({"entries": [*turn], "by": turn.by, "notes": turn.notes, "known": turn.known})
        return 0
    for entry in turn:
        screen.cut(Painted(entry.id, "cyan"), f"  {entry.metadata['type']:<11} ", entry.text)
    known = f"; {turn.known:,} known already" if turn.known else ""
    screen.say(f"kept {plural(len(turn), 'statement')}{known}" if turn else f"Nothing new that is worth keeping{known}.")
    for note in turn.notes:
        screen.say(f"Note: {note}")
    return 0

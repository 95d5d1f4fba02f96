"""Commands that look after the store, and tell which program this is."""

from __future__ import annotations

import ast
import inspect
import sys
from argparse import ArgumentTypeError, Namespace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from earnest.cli.common import plural
from earnest.cli.place import hint, open_memory, store_of
from earnest.cli.render import Painted, Part, Screen
from earnest.cli.values import number, whole
from earnest.errors import InvalidInput

if TYPE_CHECKING:
    from earnest.memory import Memory

_DIGITS: Final = 64


def check(args: Namespace, screen: Screen) -> int:
    """`earnest check`."""
    head = None if args.head is None else args.head.strip().lower()
    if head is not None and (len(head) != _DIGITS or set(head) - set("0123456789abcdef")):
        raise InvalidInput("head", args.head, f"is no hash of the log: {_DIGITS} hexadecimal digits, as `earnest check` prints them")
    with open_memory(args, "writing" if args.repair else "reading") as memory:
        found = memory.check(repair=args.repair or False, head=head)
    if screen.as_json:
        screen.json(found)
        return 0 if found.ok else 1
    for text in found.repaired:
        screen.say(Painted("mended  ", "green"), text)
    for text in found.problems:
        screen.say(Painted("damage  ", "red"), text)
    if found.ok:
        known = ", and the hash that was kept is in its log" if head is not None else ""
        screen.say(Painted("Whole", "green"), f": {store_of(args)[0]}, {found.events:,} events, every balance accounted for{known}.")
    else:
        way = "restore a backup" if args.repair else f"`{hint(args, 'check --repair')}` mends indexes and counters; else restore a backup"
        screen.say(f"{plural(len(found.problems), 'problem')} found; {way}.")
    screen.say(f"head    {found.head}")
    return 0 if found.ok else 1


def backup(args: Namespace, screen: Screen) -> int:
    """`earnest backup`."""
    if args.restore:
        return _restored(args, screen)
    with open_memory(args, "reading") as memory:
        made = memory.backup(args.path)
    size = made.stat().st_size
    if screen.as_json:
        screen.json({"path": str(made), "bytes": size})
    else:
        screen.say(f"Wrote {made} ({size:,} bytes). `earnest check --store {made}` looks it over.")
    return 0


def _restored(args: Namespace, screen: Screen) -> int:
    from earnest.memory import Memory

    where = store_of(args)[0]
    kept = Memory.restore_backup(args.path, where, args.agent, **({} if args.timeout is None else {"timeout": args.timeout}))
    if screen.as_json:
        screen.json({"store": where, "backup": args.path, "kept": None if kept is None else str(kept)})
    else:
        screen.say(f"{where} is what {args.path} holds now.", f" What was there before is kept as {kept}." if kept is not None else "")
    return 0


def config(args: Namespace, screen: Screen) -> int:
    """`earnest config`."""
    waits = ""
    if args.value is not None:
        with open_memory(args, "creating") as memory:
            now = memory.settings
            after = memory.configure(**{args.name: _as_the_setting(args.name, args.value, now)})
            values = {args.name: getattr(after, args.name)}
            waits = _waits(args, memory) if args.name == "embedder" and not screen.as_json else ""
    else:
        with open_memory(args, "reading") as memory:
            now = memory.settings
        names = list(type(now).__dataclass_fields__)
        if args.name is not None and args.name not in names:
            raise InvalidInput("setting", args.name, f"there is no such setting; there are {', '.join(names)}")
        values = {name: getattr(now, name) for name in ([args.name] if args.name is not None else names)}
    if screen.as_json:
        screen.json(values)
        return 0
    meanings = _meanings(type(now))
    rows: list[list[Part]] = [[name, Painted(str(value), "bold"), meanings.get(name, "")] for name, value in values.items()]
    screen.table(["setting", "value", "meaning"], rows, whole=True)
    if waits:
        screen.say(waits)
    return 0


def _waits(args: Namespace, memory: Memory) -> str:
    """What recall by meaning waits for, after another embedder was set."""
    vectors = memory.stats().vectors
    if vectors.problem:
        return f"Recall goes by words alone: {vectors.problem}"
    if not vectors.missing:
        return ""
    return f"Found by words alone until `{hint(args, 'reembed')}`: {plural(vectors.missing, 'entry', 'entries')} without a vector of it."


def _as_the_setting(name: str, word: str, now: Any) -> Any:
    """A word as the type that the setting has; a word for an unknown setting stays one, and the façade refuses it."""
    kind = type(getattr(now, name, ""))
    try:
        return whole(word) if kind is int else number(word) if kind is float else word
    except ArgumentTypeError as error:
        raise InvalidInput(name, word, str(error).removeprefix(f"{word!r} ")) from None


def _meanings(settings: type) -> dict[str, str]:
    """What each setting means: the text under it in the source; nothing where the source is not there to be read."""
    try:
        tree = ast.parse(inspect.getsource(settings))
    except (OSError, TypeError):
        return {}
    [body] = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    made = {}
    for field, text in pairwise(body.body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
            made[field.target.id] = " ".join(str(ast.literal_eval(text.value)).split())
    return made


def version(args: Namespace, screen: Screen) -> int:
    """`earnest version`."""
    from earnest import __version__

    python = ".".join(map(str, sys.version_info[:3]))
    if screen.as_json:
        screen.json({"version": __version__, "python": python})
    else:
        screen.say(f"earnest {__version__} (Python {python})")
    return 0

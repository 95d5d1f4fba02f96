"""Commands on links: stating and cutting them, and looking at what is related."""

from __future__ import annotations

from argparse import Namespace

from earnest.cli.common import given, plural, standing
from earnest.cli.place import hint, open_memory
from earnest.cli.render import Painted, Part, Screen
from earnest.errors import InvalidInput


def link(args: Namespace, screen: Screen) -> int:
    """`earnest link`."""
    with open_memory(args, "writing") as memory:
        if args.remove:
            cut = memory.unlink(args.a, args.b, **given(args, "kind", "key"))
            if screen.as_json:
                screen.json({"cut": cut})
            else:
                screen.say(f"Cut {plural(cut, 'link')} between {args.a} and {args.b}.")
            return 0 if cut else 1
        made = memory.link(args.a, args.b, **given(args, "kind", "weight", "reason", "key"))
    if screen.as_json:
        screen.json(made)
    else:
        how = f" ({made.kind}, weight {made.weight:.2f})."
        screen.say("Linked ", Painted(made.via, "bold"), " and ", Painted(made.entry.id, "bold"), how)
        screen.say("`", hint(args, f"related {made.via}"), "` shows what else it is linked with.")
    return 0


def related(args: Namespace, screen: Screen) -> int:
    """`earnest related`."""
    if args.all == (args.id is not None):
        raise InvalidInput("id", args.id, "name an entry, or say --all for every link, and not both")
    if args.all or args.format in ("graphml", "json"):
        return _graph(args, screen)
    with open_memory(args, "reading") as memory:
        found = memory.related(args.id, **given(args, "k", "hops", "kind"))
    if screen.as_json:
        screen.json(found)
        return 0
    if not found:
        screen.say(f"Nothing is linked with {args.id}. `", hint(args, "maintain"), "` finds links by likeness; `",
                   hint(args, f"link {args.id} OTHER"), "` states one.")  # fmt: skip
        return 0
    head = ["id", "score", "link", "hops", "standing", "why", "text"]
    rows: list[list[Part]] = [
        [one.entry.id, f"{one.score:.2f}", one.kind, f"{one.hops}", standing(one.entry), one.reason or "stated", one.entry.text]
        for one in found
    ]
    screen.table(head, rows, right=frozenset({1, 3}))
    return 0


def _graph(args: Namespace, screen: Screen) -> int:
    if args.kind:
        raise InvalidInput("kind", args.kind, "filters the list of what is related; a graph has its kinds on its links")
    with open_memory(args, "reading") as memory:
        graph = memory.graph(args.id, **given(args, "hops"))
    # As it is: another program reads it, which a table cut to the window would not help.
    if args.format == "graphml":
        screen.stream.write(graph.graphml())
    else:
        screen.json(graph.node_link())
    return 0

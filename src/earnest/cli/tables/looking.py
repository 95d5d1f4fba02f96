"""Commands that look and change nothing."""

from __future__ import annotations

from typing import Final

from earnest.cli.tables.options import ID, KEY, LIMIT, LINKS, STANDINGS, STATUSES, VERSUS, WHERE, Command, Option, switch

LOOKING: Final = (
    Command(
        "list", "Look", "the living entries, oldest first", "entries:list_entries",
        (
            *WHERE,
            Option(("--standing",), "only entries of this standing; active and suspended unless given", choices=STANDINGS),
            Option(("--limit",), "at most so many (50)", "N", "whole"),
            Option(("--after",), "go on after this entry", "ID"),
        ),
        "earnest list --standing suspended",
        "Says so when there are more. Rules are left out unless --kind rule.",
    ),
    Command("show", "Look", "one entry with everything that is kept about it", "entries:show", (ID,), "earnest show kq3v5d2m7a4x6b2c"),
    Command(
        "why", "Look", "an entry's life story: what was measured, why it died", "insight:why", (ID,), "earnest why kq3v5d2m7a4x6b2c"
    ),
    Command(
        "related", "Look", "what an entry is linked with, or the whole graph", "linking:related",
        (
            Option(("id",), "the entry's id; none with --all", "ID", nargs="?"),
            Option(("-k", "--limit"), "at most so many (5)", "N", "whole", dest="k"),
            Option(("--hops",), "how many links away it may lie (1)", "N", "whole"),
            Option(("--kind",), "only links of this kind; repeat for several", repeat=True, choices=(*LINKS, "supersession")),
            Option(("--format",), "a table (text), or a graph for another program", choices=("text", "json", "graphml")),
            switch("--all", "every entry that has a link, as a graph (json unless --format graphml)"),
        ),
        "earnest related kq3v5d2m7a4x6b2c --hops 2",
        "Links are found by shared names, by what happened before and after, and by likeness (in `earnest maintain`); `link` states more.",
    ),
    Command(
        "top", "Look", "the living entries that earned most", "insight:top",
        (Option(("--limit",), "at most so many (10)", "N", "whole"),),
        "earnest top --limit 5",
    ),
    Command(
        "stats", "Look", "counts, energy and what the meters measured", "insight:stats", (), "earnest stats",
        "Energy is what entries live from; resources are what meters measured, each in its own unit. They are never added up.",
    ),
    Command(
        "audit", "Look", "the event log, newest last, and its digest", "insight:audit",
        (
            Option(("--entry",), "only events of this entry", "ID"),
            Option(("--kind",), "only events of this kind, such as settle or death", "KIND"),
            Option(("--last",), "the newest N events (20)", "N", "whole", group="window"),
            Option(("--after",), "events after this number, at most 1,000", "N", "whole", group="window"),
        ),
        "earnest audit --kind death --last 5",
        "Unless filtered, a digest follows: of the events after --after, else of the whole log.",
    ),
    Command(
        "rules", "Look", "rules: what to do when something comes up, accepted by a person or proved by a trial", "rules:rules",
        (
            Option(("what_to_do",), "list (unless given), add, analyze, show, verify, trial, match, export or adopt", "ACTION", nargs="?",
                   choices=("list", "add", "analyze", "show", "verify", "trial", "match", "export", "adopt")),
            Option(("what",), "the type to add, the id to show, verify or try, the text to match, the file to export or adopt", "WHAT",
                   nargs="?", files=True),
            Option(("--status",), "only rules of this status, for list and export (export: active)", choices=STATUSES),
            Option(("--trigger",), "when it applies, for add", "TEXT"),
            Option(("--action",), "what to do then, for add", "TEXT", dest="do"),
            Option(("--evidence",), "an entry that speaks for it, for add; repeat for several", "ID", repeat=True),
            Option(("--source",), "where it comes from, for add and adopt; repeat for several", "NAME", repeat=True),
            Option(("--tag",), "a tag, for add; repeat for several", "NAME", repeat=True),
            Option(("--model",), "a model that drafts, for analyze, such as zhipu:glm-4-flash; none is asked unless given", "SPEC"),
            switch("--accept", "accept it, for verify (unless --reject)", "accept", group="accept"),
            switch("--reject", "reject it for good, for verify", "accept", off=True, group="accept"),
            Option(("--decisions",), "settled decisions after which a trial ends (1,000)", "N", "whole"),
            Option(("--meter",), "whose outcomes count in a trial; every measured one unless given", "NAME"),
            Option(("--reason",), "why, for the record, for verify and trial", "TEXT"),
            Option(("-k",), "at most so many, for match; the setting rules_cap unless given", "N", "whole"),
            Option(("--floor",), "the part of a trigger that the text must hold, 0 to 1, for match (0.4)", "N", "number"),
            Option(("--scope",), "the scope; repeat for several where rules are only looked at", "NAME", repeat=True, group="scope"),
            switch("--all-scopes", "look in every scope", group="scope"),
            LIMIT,
            KEY,
        ),
        'earnest rules add avoid --trigger "an API key may have expired" --action "Check the key before calling the service."',
        "A rule is pending until `rules verify` accepts it or a trial proves it. On trial it is shown in a random half of the decisions "
        "that it matches, and measured outcomes decide. Only active rules reach a prompt.",
    ),
    Command(
        "uplift", "Look", "whether memory helps, by the decisions that were withheld", "uplift:uplift",
        (
            Option(("--meter",), "whose outcomes count; each meter by itself unless given", "NAME"),
            Option(("--entry",), "what this entry changes", "ID"),
            Option(("--rule",), "what this rule changes", "ID"),
            switch("--entries", "a table of all entries that were withheld; alpha is shared among them"),
            Option(("--against",), "compare with no memory at all (nothing), or with the next best entry (rival)", choices=VERSUS),
            Option(("--alpha",), "how often the interval may fail (0.05)", "N", "number"),
        ),
        "earnest uplift --meter disk",
        "Needs the setting holdout. The interval holds however often you look. Exit status 1 if memory harms, 3 if nothing could be "
        "measured yet.",
    ),
    Command(
        "doctor", "Look", "what is wrong with how this memory is used, and the fix", "insight:doctor", (), "earnest doctor",
        "Exit status 1 if it found an error.",
    ),
)  # fmt: skip

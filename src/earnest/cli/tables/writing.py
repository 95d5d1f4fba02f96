"""Commands that write entries down and change them."""

from __future__ import annotations

from typing import Final

from earnest.cli.tables.options import FIELDS, ID, KEY, KINDS, LINKS, MODEL, SCOPE, VERDICTS, Command, Option, switch

WRITING: Final = (
    Command(
        "encode", "Write", "turn files and folders into entries", "encoding:encode",
        (
            Option(("files",), "files and folders; - reads standard input", "PATH", nargs="+", files=True),
            SCOPE,
            switch("--prune", "end the entries of files that were in these folders before and are gone"),
            switch("--again", "encode unchanged files too"),
            switch("--hidden", "take hidden files and folders too"),
            Option(("--encoding",), "what the text files are encoded in, if it is not UTF-8", "NAME"),
            Option(("--name",), "the source name of what comes from standard input (stdin)", "NAME"),
            MODEL,
            Option(("--max-calls",), "with --model, ask it at most so often", "N", "whole"),
            KEY,
        ),
        "earnest encode runbook.md docs/",
        "Reads text, Markdown, HTML, PDF (the extra docs), JSON, JSON Lines, tables, code, exports of ChatGPT and Claude, and "
        "transcripts of agents. Says what was made and what was left out, and why. A file that fails stops none of the others; then "
        "the exit status is 1, as when nothing could be made of anything, or when a model did not do all that it was asked for: the "
        "text is stored as it is then, and the same command goes on.",
    ),
    Command(
        "remember", "Write", "write down one entry", "entries:remember",
        (
            Option(("text",), "what it says; - reads standard input", "TEXT"),
            Option(("--kind",), "what sort of memory it is (semantic)", choices=KINDS),
            SCOPE,
            Option(("--source",), "where it comes from; repeat for several", "NAME", repeat=True),
            *FIELDS,
            KEY,
        ),
        'earnest remember "Logs under logs/ may go after seven days." --source runbook',
        "An exact twin in the same scope and kind is joined, not doubled.",
    ),
    Command(
        "sync-turn", "Write", "keep what is worth keeping of one turn of a conversation", "conversing:sync_turn",
        (
            Option(("--user",), "what the user said; - reads standard input", "TEXT"),
            Option(("--assistant",), "what the assistant said; - reads standard input", "TEXT"),
            SCOPE,
            Option(("--session",), "the conversation's name", "NAME"),
            Option(("--speaker",), "what the user is called in the sentences (the user)", "NAME"),
            MODEL,
            KEY,
        ),
        'earnest sync-turn --user "We decided to use PostgreSQL." --assistant "Good choice."',
        "Decisions, preferences, facts, deadlines, orders, errors and their fixes, and corrections are kept; greetings, thanks, questions, "
        "requests, and what memory has already are not. No model is asked without --model; if it fails, the rules do the work.",
    ),
    Command(
        "edit", "Write", "change an entry; new words make a new version", "entries:edit",
        (ID, Option(("--text",), "what it says now; - reads standard input", "TEXT"), *FIELDS, KEY),
        "earnest edit kq3v5d2m7a4x6b2c --importance 0.9",
        "New text or cue makes a new version with a fresh stake and no evidence; the other fields are changed in place. Tags given "
        "take the place of all tags there were.",
    ),
    Command(
        "forget", "Write", "bury an entry; restore brings it back", "entries:forget",
        (ID, Option(("--reason",), "why, for the record", "TEXT"), KEY),
        'earnest forget kq3v5d2m7a4x6b2c --reason "out of date"',
    ),
    Command("restore", "Write", "bring a dead entry back", "entries:restore", (ID, KEY), "earnest restore kq3v5d2m7a4x6b2c"),
    Command(
        "pin", "Write", "keep an entry from burial and merging", "entries:pin", (ID, KEY), "earnest pin kq3v5d2m7a4x6b2c",
        "A pinned entry still pays rent and rests at zero. It can still be suspended.",
    ),
    Command("unpin", "Write", "take the pin away again", "entries:unpin", (ID, KEY), "earnest unpin kq3v5d2m7a4x6b2c"),
    Command(
        "vouch", "Write", "let an entry decide that waits for outcomes", "entries:vouch", (ID, KEY), "earnest vouch kq3v5d2m7a4x6b2c",
        "What was imported, and what is marked as aiming at its reader, decides nothing before good outcomes have stood beside it. Who "
        "vouches for it ends the wait; `undo` takes that back.",
    ),
    Command(
        "merge", "Write", "join entries that say the same into one", "entries:merge",
        (
            Option(("ids",), "two or more ids of one scope, kind, retention and standing", "ID", nargs="+"),
            Option(("--text",), "what the heir says; the members' distinct texts unless given", "TEXT"),
            KEY,
        ),
        "earnest merge kq3v5d2m7a4x6b2c wz6e4t7r2n5p3q8s",
    ),
    Command(
        "consolidate", "Write", "merge near-duplicates that agree", "merging:consolidate",
        (switch("--dry-run", "only say what would be merged"),),
        "earnest consolidate --dry-run",
        "Merges only where one text adds nothing but detail to the other: never what differs in numbers, dates, negation, names, "
        "conditions or wording, and only within one scope, kind, retention, standing and trust. `undo` takes a merge back.",
    ),
    Command(
        "maintain", "Write", "what is due in keeping the store tidy, for a schedule to call", "merging:maintain",
        (
            switch("--dry-run", "only say what would be done"),
            Option(("--canaries",), "a JSON list of [question, what its answer must hold]; else from the store", "FILE", files=True),
            MODEL,
            KEY,
        ),
        "earnest maintain --dry-run",
        "Merges near-duplicates, buries what has faded, and, where the setting `compress_over` says so, makes long entries shorter "
        "(asking a model only with --model): at most the setting `daily_share` of the living a day. Questions with known answers are "
        "asked before and after; "
        "if one is not answered as before, everything is taken back, and the exit status is 1.",
    ),
    Command(
        "decay", "Write", "bury what has faded: fading entries that were left alone too long", "fading:decay",
        (switch("--dry-run", "only say what would fade"), KEY),
        "earnest decay --dry-run",
        "An entry fades when importance times what is left of it lies below the setting `decay_threshold`; half is left after "
        "`decay_half_life` days without a recall. Pinned entries never fade. `restore` brings one back, and its clock begins anew.",
    ),
    Command(
        "feedback", "Write", "say what an entry was worth to you", "fading:feedback",
        (ID, Option(("verdict",), "what it was: helpful, unhelpful or outdated", "VERDICT", choices=VERDICTS), KEY),
        "earnest feedback kq3v5d2m7a4x6b2c helpful",
        "Helpful: it lasts longer. Unhelpful: its importance goes down, at most to half. Outdated: it is not valid any more, `doctor` asks "
        "for a replacement. An opinion moves neither evidence nor energy. Exit status 1 if the day's three opinions on it were used up.",
    ),
    Command(
        "link", "Write", "state that two entries belong together, or cut their links", "linking:link",
        (
            Option(("a",), "the one entry's id", "ID"),
            Option(("b",), "the other's", "OTHER"),
            Option(("--kind",), "how they are linked (related); with --remove, only links of this kind", choices=LINKS),
            Option(("--weight",), "how closely, above 0 and at most 1 (1)", "N", "number"),
            Option(("--reason",), "why, for people", "TEXT"),
            switch("--remove", "cut the links between them, found ones too"),
            KEY,
        ),
        'earnest link kq3v5d2m7a4x6b2c wz6e4t7r2n5p3q8s --reason "the same outage"',
        "Links never cross scopes. A stated link neither fades nor makes room for found ones. Exit status 1 if there was nothing to cut.",
    ),
    Command(
        "compress", "Write", "put a shorter version in the place of a long entry", "compressing:compress",
        (
            Option(("id",), "the entry's id; none with --long", "ID", nargs="?"),
            switch("--long", "the longest entries, within the day's share: for a schedule"),
            Option(("--over",), "with --long, only entries of more than so many characters (1,500)", "N", "whole"),
            Option(("--older",), "with --long, only entries recorded at least so many days ago (0)", "DAYS", "number"),
            switch("--dry-run", "with --long, only say what would be tried"),
            MODEL,
            KEY,
        ),
        "earnest compress kq3v5d2m7a4x6b2c --model ollama:qwen3",
        "A shorter text that loses, adds or moves a number, date, name, value, condition or denial is refused, and the original stays. "
        "Without a model, the sentences that say least are left out. `undo` brings the original back.",
    ),
    Command(
        "undo", "Write", "take back an event", "entries:undo",
        (Option(("event",), "the event's number, as `earnest audit` shows it", "EVENT", "whole"), KEY),
        "earnest undo 12",
        "Births, edits, merges, removals, pins and settings can be taken back; a measured outcome cannot.",
    ),
)  # fmt: skip

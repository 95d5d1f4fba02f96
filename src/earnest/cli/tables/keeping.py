"""Commands that keep a store in order."""

from __future__ import annotations

from typing import Final

from earnest.cli.tables.options import EXPORTS, IMPORTS, KEY, Command, Option, switch

KEEPING: Final = (
    Command(
        "check", "The store", "look the whole store over for damage", "upkeep:check",
        (
            switch("--repair", "rebuild what can be rebuilt: the index and the counters"),
            Option(("--head",), "a hash of the log that was kept elsewhere: it must still be in the chain", "HASH"),
        ),
        "earnest check --head 5f0c…",
        "Exit status 1 if the store is damaged or the hash is in no event.",
    ),
    Command(
        "backup", "The store", "write a whole copy to a new file, while others go on", "upkeep:backup",
        (
            Option(("path",), "a file that does not exist yet; with --restore, a backup", "PATH", files=True),
            switch("--restore", "the other way: put this backup in the store's place, if nobody has the store open"),
        ),
        "earnest backup memory-copy.db",
        "A restore looks the backup over first, and keeps what was there before beside the store.",
    ),
    Command(
        "export", "The store", "write everything to a file that can be read and brought back", "moving:export",
        (
            Option(("path",), "a new file; - writes to standard output", "PATH", files=True),
            Option(("--format",), "jsonl holds everything, markdown is for people (by the ending of PATH, else jsonl)", choices=EXPORTS),
            switch("--vectors", "the vectors too; without them they are made anew where it is imported"),
            Option(("--scope",), "Markdown only: only this scope; repeat for several", "NAME", repeat=True),
            switch("--overwrite", "replace the file if it is there"),
        ),
        "earnest export memory.jsonl",
        "One snapshot, while others go on. A restore from JSON Lines is identical, by its digest.",
    ),
    Command(
        "import", "The store", "take in an export, or what another program left behind", "moving:import_",
        (
            Option(("path",), "a file, or a folder of notes in Markdown; - reads standard input", "PATH", files=True),
            Option(("--format",), f"what it is; by what is in it unless given: {', '.join(IMPORTS)}", "FORMAT", choices=IMPORTS),
            Option(("--probation",), "measured gains that an import has to stand beside before it may decide (3)", "N", "whole"),
            Option(("--scope",), "put everything into this scope", "NAME"),
            switch("--dry-run", "only say what would be done"),
            KEY,
        ),
        "earnest import memory.jsonl --dry-run",
        "Reads exports of Earnest, stores of darwin-memo with their logs, SQLite files of Mnemosyne, mem0, ChatGPT and Claude exports "
        "(also as the archive they came in), the reference memory server's graph, MEMORY.md and AGENTS.md. An export of Earnest into an "
        "empty store is a restore; everything else comes in on probation, each entry once. Says what could not be carried, and why.",
    ),
    Command(
        "lessons", "The store", "a small, sorted text of what was learned, for stores that are kept in git", "lessons:lessons",
        (
            Option(("action",), "save (the store to FILE), load (a new store from FILE), merge (FILE and FILE2), or verify (that FILE2 "
                   "brings no outcome over FILE)", "ACTION", choices=("save", "load", "merge", "verify")),
            Option(("file",), "a text of lessons", "FILE", files=True),
            Option(("file2",), "another text of lessons, for merge and verify", "FILE2", nargs="?", files=True),
            Option(("--into",), "where merge writes to (FILE)", "PATH", files=True),
            Option(("--base",), "what merge takes both to have come from: a change or a cut on one side stands", "PATH", files=True),
        ),
        "earnest lessons save .earnest/lessons.jsonl",
        "The text holds entries, decisions and outcomes, not balances: loading lives through them again. Merging takes the decisions and "
        "outcomes of both and names both as its parents. As a driver for git: `earnest lessons merge %A %B --base %O`. Exit status 1 "
        "of verify: a change says itself what was measured.",
    ),
    Command(
        "archive", "The store", "move what old events said into a file, and keep the chain", "erasing:archive",
        (
            Option(("path",), "a new file; with --verify, an archive", "PATH", files=True),
            Option(("--keep",), "how many of the latest events stay whole (10,000)", "N", "whole"),
            switch("--verify", "the other way: is every event of this archive the one that was in the log?"),
        ),
        "earnest archive log-2026.jsonl --keep 5000",
        "Archives decisions, outcomes and ticks; births, edits, deaths and what can be undone stay. The file holds no texts. With --verify "
        "the exit status is 1 if something differs.",
    ),
    Command(
        "compact", "The store", "write the file anew, as small as it can be", "erasing:compact", (), "earnest compact",
        "Needs room for a second copy for a moment. Others may go on meanwhile; one that reads for long keeps the log from being emptied.",
    ),
    Command(
        "erase", "The store", "erase what is named, so that no byte of it is left; there is no undo", "erasing:erase",
        (
            Option(("--scope",), "everything in this scope, and its name", "NAME"),
            Option(("--source",), "what this source alone said, and what was put together from it", "NAME"),
            Option(("--entry",), "the entry of this id, its versions and what was made of it", "ID"),
            Option(("--text",), "everything that holds this text; - reads standard input", "TEXT"),
            switch("--dry-run", "only count"),
            switch("--yes", "do not ask"),
            KEY,
        ),
        "earnest erase --scope alice --dry-run",
        "Of several subjects all must hold. Asks before it erases, unless --yes. Exit status 1 if something of it was found afterwards; "
        "what still holds it is named.",
    ),
    Command(
        "bench", "The store", "measure recall on this store's own entries, and what to set", "bench:bench",
        (
            Option(("what",), "what to measure", "WHAT", choices=("recall",)),
            Option(("--embedder",), "compare this embedder too; repeat for several (the store's own)", "SPEC", repeat=True),
            Option(("--questions",), "how many questions with known answers to make (300)", "N", "whole"),
            Option(("--entries",), "how many entries to measure at most, as a sample (5,000)", "N", "whole"),
            Option(("--false-answers",), "the share of questions about something else that may be answered (0.05)", "SHARE", "number"),
            Option(("--seed",), "another seed makes other questions (0)", "N", "whole"),
            Option(("--svg",), "write a picture to this file", "FILE", files=True),
            switch("--apply", "set what is recommended; `undo` takes it back"),
        ),
        "earnest bench recall --embedder local --svg recall.svg",
        "Nothing leaves this machine unless an embedder is named that asks a service. The store itself is only read; exit status 3 if it "
        "holds too little to measure.",
    ),
    Command(
        "reembed", "The store", "make the vectors that entries lack, for recall by meaning", "embedding:reembed",
        (
            switch("--every", "make those anew that are there already, too: for a model that changed under its name"),
            Option(("--limit",), "at most so many entries now", "N", "whole"),
        ),
        "earnest reembed",
        "After the embedder changed, failed or was not there. Interrupted, what was made stays, and the next run goes on. Exit status 1 if "
        "some texts could not be embedded.",
    ),
    Command(
        "config", "The store", "show or change the settings kept in the store", "upkeep:config",
        (
            Option(("name",), "one setting; all of them unless given", "NAME", nargs="?"),
            Option(("value",), "its new value", "VALUE", nargs="?"),
        ),
        "earnest config floor 0.3",
    ),
    Command(
        "completion", "This program", "a completion script for your shell", "completion:completion",
        (Option(("shell",), "bash, zsh or fish", "SHELL", choices=("bash", "zsh", "fish")),),
        'eval "$(earnest completion bash)"',
        "For fish: earnest completion fish | source.",
    ),
    Command("version", "This program", "which Earnest this is", "upkeep:version", (), "earnest version"),
)  # fmt: skip

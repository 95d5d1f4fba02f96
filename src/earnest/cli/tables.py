"""Every command and option, as data: the parser, the shell completion and the reference are made from these tables."""

from __future__ import annotations

from typing import Final, NamedTuple

KINDS: Final = ("semantic", "episodic", "procedural", "rule")
RETENTIONS: Final = ("earned", "fading", "kept")
STANDINGS: Final = ("active", "suspended", "dead")
MODES: Final = ("auto", "hybrid", "rrf", "keyword", "dense")
VERSUS: Final = ("nothing", "rival")
EXPORTS: Final = ("jsonl", "markdown")
IMPORTS: Final = ("auto", "earnest", "darwin-memo", "mnemosyne", "mem0", "chatgpt", "claude", "mcp-memory", "markdown", "chats")
LINKS: Final = ("related", "semantic", "temporal", "entity")
WEIGHTS: Final = ("importance", "confidence", "recency")
VERDICTS: Final = ("helpful", "unhelpful", "outdated")
STATUSES: Final = ("pending", "trial", "active", "rejected", "expired")
TIERS: Final = ("claimed", "operator", "measured")
PROFILES: Final = ("full", "ci")
TARGETS: Final = ("AGENTS.md", "CLAUDE.md", "MEMORY.md", "claude-memory")


class Option(NamedTuple):
    """An option, or an argument if its name has no dash.

    `type` names a function in `values.TYPES`, or is `true` or `false` for a switch. Options of one `group` exclude each other.
    """

    names: tuple[str, ...]
    help: str
    metavar: str = ""
    type: str = "text"
    repeat: bool = False
    choices: tuple[str, ...] = ()
    nargs: str = ""
    dest: str = ""
    group: str = ""
    files: bool = False


class Command(NamedTuple):
    """A command: what it does, who does it (`module:function` in this package), what it takes, and one example."""

    name: str
    theme: str
    summary: str
    handler: str
    options: tuple[Option, ...]
    example: str
    more: str = ""


def _switch(name: str, help: str, dest: str = "", *, off: bool = False, group: str = "") -> Option:
    return Option((name,), help, type="false" if off else "true", dest=dest, group=group)


EVERYWHERE: Final = (
    Option(("--store",), "the store: a file, or a folder with one file for each agent", "PATH", files=True),
    Option(("--agent",), "whose memory it is; a file knows its agent, a folder takes 'default'", "NAME"),
    _switch("--json", "print strict JSON"),
    Option(("--timeout",), "seconds to wait while another process writes", "SECONDS", "number"),
)

_ID: Final = Option(("id",), "the entry's id, as `earnest list` shows it", "ID")
_SCOPE: Final = Option(("--scope",), "the scope that it belongs to; the default scope unless given", "NAME")
_KEY: Final = Option(("--key",), "idempotency key: the same request with the same key is carried out once", "KEY")
_MODEL: Final = Option(("--model",), "ask this language model: ollama:NAME, openai:NAME, zhipu:NAME or anthropic:NAME", "SPEC")
_LIMIT: Final = Option(("--limit",), "at most so many", "N", "whole")
_WHERE: Final = (
    Option(("--scope",), "look in this scope, matched exactly; repeat for several", "NAME", repeat=True, group="scope"),
    _switch("--all-scopes", "look in every scope", group="scope"),
    Option(("--kind",), "only entries of this kind; repeat for several", repeat=True, choices=KINDS),
    Option(("--source",), "only entries from this source; repeat for several", "NAME", repeat=True),
    Option(("--tag",), "only entries with this tag; repeat for several", "NAME", repeat=True),
)
_RECALL: Final = (
    *_WHERE,
    Option(("--since",), "only what is about this time or later (ISO 8601)", "TIME"),
    Option(("--until",), "only what is about this time or earlier (ISO 8601)", "TIME"),
    Option(("--as-of",), "only what was recorded by then and valid then (ISO 8601)", "TIME"),
    Option(("--half-life",), "halve an entry's score for every N ticks since it was last settled", "N", "number"),
    Option(("--mode",), "go by words, by meaning (dense) or by both (auto, where there is an embedder)", choices=MODES),
    _switch("--links", "let good hits lend relevance to what they are linked with"),
    Option(("--weigh",), "multiply relevance by this; repeat for several (the setting weigh)", repeat=True, choices=WEIGHTS),
)
_FIELDS: Final = (
    Option(("--cue",), "the question that it answers", "TEXT"),
    Option(("--importance",), "0 to 1", "N", "number"),
    Option(("--confidence",), "0 to 1", "N", "number"),
    Option(("--retention",), "what keeps it alive", choices=RETENTIONS),
    Option(("--tag",), "a tag; repeat for several", "NAME", repeat=True),
    Option(("--metadata",), "a JSON object kept with it", "JSON", "json"),
    Option(("--valid-from",), "when it began to hold (ISO 8601)", "TIME"),
    Option(("--valid-to",), "when it ceased to hold (ISO 8601)", "TIME"),
)

_TRY: Final = (
    Command(
        "demo", "Try it", "watch poisoned advice get found out by a real disk and die", "demo:demo",
        (
            Option(("--seed",), "which world (7)", "N", "whole"),
            Option(("--cycles",), "how many cycles to live through (30)", "N", "whole"),
            Option(("--files",), "files, and so questions, in each cycle (12)", "N", "whole"),
            _switch("--fast", "no pauses between the rows"),
            Option(("--keep",), "keep the memory in this new file", "PATH", files=True),
        ),
        "earnest demo --fast",
        "Runs in a temporary folder: your own store is not touched. Needs neither network nor model.",
    ),
)  # fmt: skip

_WRITE: Final = (
    Command(
        "encode", "Write", "turn files and folders into entries", "encoding:encode",
        (
            Option(("files",), "files and folders; - reads standard input", "PATH", nargs="+", files=True),
            _SCOPE,
            _switch("--prune", "end the entries of files that were in these folders before and are gone"),
            _switch("--again", "encode unchanged files too"),
            _switch("--hidden", "take hidden files and folders too"),
            Option(("--encoding",), "what the text files are encoded in, if it is not UTF-8", "NAME"),
            Option(("--name",), "the source name of what comes from standard input (stdin)", "NAME"),
            _MODEL,
            Option(("--max-calls",), "with --model, ask it at most so often", "N", "whole"),
            _KEY,
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
            _SCOPE,
            Option(("--source",), "where it comes from; repeat for several", "NAME", repeat=True),
            *_FIELDS,
            _KEY,
        ),
        'earnest remember "Logs under logs/ may go after seven days." --source runbook',
        "An exact twin in the same scope and kind is joined, not doubled.",
    ),
    Command(
        "sync-turn", "Write", "keep what is worth keeping of one turn of a conversation", "conversing:sync_turn",
        (
            Option(("--user",), "what the user said; - reads standard input", "TEXT"),
            Option(("--assistant",), "what the assistant said; - reads standard input", "TEXT"),
            _SCOPE,
            Option(("--session",), "the conversation's name", "NAME"),
            Option(("--speaker",), "what the user is called in the sentences (the user)", "NAME"),
            _MODEL,
            _KEY,
        ),
        'earnest sync-turn --user "We decided to use PostgreSQL." --assistant "Good choice."',
        "Decisions, preferences, facts, deadlines, orders, errors and their fixes, and corrections are kept; greetings, thanks, questions, "
        "requests, and what memory has already are not. No model is asked without --model; if it fails, the rules do the work.",
    ),
    Command(
        "edit", "Write", "change an entry; new words make a new version", "entries:edit",
        (_ID, Option(("--text",), "what it says now; - reads standard input", "TEXT"), *_FIELDS, _KEY),
        "earnest edit kq3v5d2m7a4x6b2c --importance 0.9",
        "New text or cue makes a new version with a fresh stake and no evidence; the other fields are changed in place. Tags given "
        "take the place of all tags there were.",
    ),
    Command(
        "forget", "Write", "bury an entry; restore brings it back", "entries:forget",
        (_ID, Option(("--reason",), "why, for the record", "TEXT")),
        'earnest forget kq3v5d2m7a4x6b2c --reason "out of date"',
    ),
    Command("restore", "Write", "bring a dead entry back", "entries:restore", (_ID,), "earnest restore kq3v5d2m7a4x6b2c"),
    Command(
        "pin", "Write", "keep an entry from burial and merging", "entries:pin", (_ID,), "earnest pin kq3v5d2m7a4x6b2c",
        "A pinned entry still pays rent and rests at zero. It can still be suspended.",
    ),
    Command("unpin", "Write", "take the pin away again", "entries:unpin", (_ID,), "earnest unpin kq3v5d2m7a4x6b2c"),
    Command(
        "vouch", "Write", "let an entry decide that waits for outcomes", "entries:vouch", (_ID,), "earnest vouch kq3v5d2m7a4x6b2c",
        "What was imported, and what is marked as aiming at its reader, decides nothing before good outcomes have stood beside it. Who "
        "vouches for it ends the wait; `undo` takes that back.",
    ),
    Command(
        "merge", "Write", "join entries that say the same into one", "entries:merge",
        (
            Option(("ids",), "two or more ids of one scope, kind, retention and standing", "ID", nargs="+"),
            Option(("--text",), "what the heir says; the members' distinct texts unless given", "TEXT"),
        ),
        "earnest merge kq3v5d2m7a4x6b2c wz6e4t7r2n5p3q8s",
    ),
    Command(
        "consolidate", "Write", "merge near-duplicates that agree", "merging:consolidate",
        (_switch("--dry-run", "only say what would be merged"),),
        "earnest consolidate --dry-run",
        "Merges only where one text adds nothing but detail to the other: never what differs in numbers, dates, negation, names, "
        "conditions or wording, and only within one scope, kind, retention, standing and trust. `undo` takes a merge back.",
    ),
    Command(
        "maintain", "Write", "what is due in keeping the store tidy, for a schedule to call", "merging:maintain",
        (
            _switch("--dry-run", "only say what would be done"),
            Option(("--canaries",), "a JSON list of [question, what its answer must hold]; else from the store", "FILE", files=True),
            _MODEL,
            _KEY,
        ),
        "earnest maintain --dry-run",
        "Merges near-duplicates, buries what has faded, and, where the setting `compress_over` says so, makes long entries shorter "
        "(asking a model only with --model): at most the setting `daily_share` of the living a day. Questions with known answers are "
        "asked before and after; "
        "if one is not answered as before, everything is taken back, and the exit status is 1.",
    ),
    Command(
        "decay", "Write", "bury what has faded: fading entries that were left alone too long", "fading:decay",
        (_switch("--dry-run", "only say what would fade"), _KEY),
        "earnest decay --dry-run",
        "An entry fades when importance times what is left of it lies below the setting `decay_threshold`; half is left after "
        "`decay_half_life` days without a recall. Pinned entries never fade. `restore` brings one back, and its clock begins anew.",
    ),
    Command(
        "feedback", "Write", "say what an entry was worth to you", "fading:feedback",
        (_ID, Option(("verdict",), "what it was", "VERDICT", choices=VERDICTS), _KEY),
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
            _switch("--remove", "cut the links between them, found ones too"),
            _KEY,
        ),
        'earnest link kq3v5d2m7a4x6b2c wz6e4t7r2n5p3q8s --reason "the same outage"',
        "Links never cross scopes. A stated link neither fades nor makes room for found ones. Exit status 1 if there was nothing to cut.",
    ),
    Command(
        "compress", "Write", "put a shorter version in the place of a long entry", "compressing:compress",
        (
            Option(("id",), "the entry's id; none with --long", "ID", nargs="?"),
            _switch("--long", "the longest entries, within the day's share: for a schedule"),
            Option(("--over",), "with --long, only entries of more than so many characters (1,500)", "N", "whole"),
            Option(("--older",), "with --long, only entries recorded at least so many days ago (0)", "DAYS", "number"),
            _switch("--dry-run", "with --long, only say what would be tried"),
            _MODEL,
            _KEY,
        ),
        "earnest compress kq3v5d2m7a4x6b2c --model ollama:qwen3",
        "A shorter text that loses, adds or moves a number, date, name, value, condition or denial is refused, and the original stays. "
        "Without a model, the sentences that say least are left out. `undo` brings the original back.",
    ),
    Command(
        "undo", "Write", "take back an event", "entries:undo",
        (Option(("event",), "the event's number, as `earnest audit` shows it", "EVENT", "whole"),),
        "earnest undo 12",
        "Births, edits, merges, removals, pins and settings can be taken back; a measured outcome cannot.",
    ),
)  # fmt: skip

_ASK: Final = (
    Command(
        "query", "Ask and settle", "ask memory, without opening a ticket", "deciding:query",
        (
            Option(("question",), "any text; it is only ever data", "QUESTION"),
            Option(("-k",), "the deciding entry and up to k - 1 supporting ones (3)", "N", "whole"),
            *_RECALL,
            _MODEL,
        ),
        'earnest query "May old log files be deleted?"',
        "Silence is an honest answer: it is said, and the exit status is 0.",
    ),
    Command(
        "search", "Ask and settle", "the entries that match best, suspended ones marked", "deciding:search",
        (
            Option(("question",), "any text; it is only ever data", "QUESTION"),
            Option(("-k", "--limit"), "at most so many hits (5)", "N", "whole", dest="k"),
            *_RECALL,
            Option(("--floor",), "leave out what matches less than this part of the question, 0 to 1 (0)", "N", "number"),
        ),
        'earnest search "log files" -k 10 --all-scopes',
    ),
    Command(
        "prefetch", "Ask and settle", "what memory adds to the prompt for a message", "conversing:prefetch",
        (
            Option(("message",), "what the user says; - reads standard input", "MESSAGE"),
            Option(("--budget",), "tokens that the block may take (800)", "N", "whole"),
            *_WHERE,
            Option(("--floor",), "the part of what is asked that an entry must match, 0 to 1; the setting unless given", "N", "number"),
        ),
        'earnest prefetch "My API key expired again" --budget 400',
        "Prints the block and nothing else; nothing when memory has nothing to add. Suspended entries are never in it.",
    ),
    Command(
        "decide", "Ask and settle", "ask memory and open a ticket for the outcome", "deciding:decide",
        (
            Option(("question",), "any text; it is only ever data", "QUESTION"),
            Option(("-k",), "the deciding entry and up to k - 1 supporting ones (3)", "N", "whole"),
            *_RECALL,
            _MODEL,
            _KEY,
        ),
        'earnest decide "May old log files be deleted?"',
        "On silence no ticket is opened, and the exit status is 0.",
    ),
    Command(
        "settle", "Ask and settle", "record the measured outcome of a decision", "deciding:settle",
        (
            Option(("ticket",), "the ticket that decide gave", "TICKET"),
            Option(("delta",), "the signed change of a resource, in the meter's unit, such as 4096 or -2.5", "DELTA", "number"),
            Option(("--meter",), "who measured (unnamed)", "NAME"),
            Option(("--scale",), "the size of an ordinary effect; the meter's own unless given, else 1", "N", "number"),
            Option(("--detail",), "a remark for the entry's life story", "TEXT"),
            Option(("--cited",), "a supporting entry that the answer was really made of, which shares in the outcome; repeat for several",
                   "ID", repeat=True),
            _switch("--acted", "something was done on the advice", "acted", group="acted"),
            _switch("--not-acted", "nothing was done on the advice", "acted", off=True, group="acted"),
            _KEY,
        ),
        "earnest settle 7gqk2v5m3xw4b6a2dr5t7y3z4c -5 --meter disk",
        "What is typed here is marked as the operator's word, unless the meter was bound to the channel cli. Exit status 1 if "
        "nothing landed: an unknown, late or second settlement.",
    ),
    Command(
        "abandon", "Ask and settle", "close a ticket without an outcome", "deciding:abandon",
        (Option(("ticket",), "the ticket that decide gave", "TICKET"), Option(("--reason",), "why, for the record", "TEXT")),
        "earnest abandon 7gqk2v5m3xw4b6a2dr5t7y3z4c",
        "No information, which is not an outcome of zero. Exit status 1 if the ticket was not open.",
    ),
    Command(
        "pending", "Ask and settle", "the open tickets, oldest first", "deciding:pending",
        (_LIMIT, Option(("--after",), "go on after this ticket", "TICKET")),
        "earnest pending",
    ),
    Command(
        "tick", "Ask and settle", "move the clock one step: rent falls due", "deciding:tick",
        (
            Option(("--slot",), "a name for this step, such as a date: the same slot ticks once", "NAME"),
            Option(("--expire-after",), "ticks after which an open ticket expires; the setting unless given", "N", "whole"),
        ),
        "earnest tick --slot 2026-01-31",
    ),
    Command(
        "meters", "Ask and settle", "who measures, how much their word is worth, and where it is trusted", "measuring:meters",
        (
            Option(("action",), "list (unless given), add, bind or revoke", "ACTION", nargs="?", choices=("list", "add", "bind", "revoke")),
            Option(("name",), "the meter, for add, bind and revoke", "NAME", nargs="?"),
            Option(("channel",), "the channel to trust it on, for bind: cli, python, settle-ci, mcp, http", "CHANNEL", nargs="?"),
            Option(("--unit",), "what it counts, for add: bytes, tests, USD", "UNIT"),
            Option(("--scale",), "the size of an ordinary effect in that unit, for add", "N", "number"),
            Option(("--tier",), "what its word weighs where it is bound, for add (measured)", choices=TIERS),
            Option(("--since",), "the tick or the time (ISO 8601) from which its words do not count, for revoke; all of them unless given",
                   "WHEN"),
        ),
        "earnest meters add disk --unit bytes --scale 100000",
        "`revoke` folds history again without a meter that turned out to lie: entries that only it condemned come back. `undo` takes "
        "it back.",
    ),
    Command(
        "control", "Ask and settle", "record what a meter shows when nothing is done", "measuring:control",
        (
            Option(("delta",), "what was measured without acting, in the meter's unit", "DELTA", "number"),
            Option(("--meter",), "who measured (unnamed)", "NAME"),
            Option(("--scale",), "the size of an ordinary effect; the meter's own unless given, else 1", "N", "number"),
            Option(("--detail",), "a remark for the record", "TEXT"),
            _KEY,
        ),
        "earnest control 0 --meter disk",
        "It teaches the meter's baseline, which is taken off what it reports. A typed one teaches nothing unless the meter was bound "
        "to cli.",
    ),
    Command(
        "remeasure", "Ask and settle", "record a second, independent measurement of a settled decision", "measuring:remeasure",
        (
            Option(("ticket",), "a settled ticket", "TICKET", nargs="?"),
            Option(("delta",), "what the decision really changed, in this meter's unit", "DELTA", "number", nargs="?"),
            Option(("--meter",), "the instrument, another one than the one that settled it", "NAME"),
            Option(("--scale",), "the size of an ordinary effect; the meter's own unless given, else 1", "N", "number"),
            Option(("--detail",), "a remark for the entry's life story", "TEXT"),
            _KEY,
            _switch("--wanted", "only list the second looks that are wanted"),
            _LIMIT,
            Option(("--after",), "with --wanted, go on after this ticket", "TICKET"),
        ),
        "earnest remeasure 7gqk2v5m3xw4b6a2dr5t7y3z4c 4096 --meter disk-2",
        "Both count, each as far as its meter is believed. Exit status 1 if nothing landed: the ticket is unknown, not settled, or was a "
        "holdout.",
    ),
    Command(
        "settle-ci", "Ask and settle", "settle tickets by what a change did to the test suite", "settling_ci:settle_ci",
        (
            Option(("--base-xml",), "JUnit XML from before the change, or a folder of it; repeat for several runs of that code", "PATH",
                   repeat=True, files=True),
            Option(("--head-xml",), "JUnit XML from after the change, or a folder of it; repeat for several runs of that code", "PATH",
                   repeat=True, files=True),
            Option(("--pr-body",), "a text with lines `earnest-ticket: ID`; - reads standard input; PR_BODY unless given", "TEXT"),
            Option(("--tickets",), "tickets by their ids, with commas between them; repeat for more", "IDS", repeat=True),
            Option(("--tickets-file",), "a file with lines `earnest-ticket: ID`, or one id a line", "FILE", files=True),
            Option(("--commits",), "the commits whose messages name tickets, such as origin/main..HEAD", "RANGE"),
            Option(("--run-id",), "what names this run, which settles once; the digest of its reports unless given", "NAME"),
            Option(("--meter",), "who measured (ci; with --remeasure, ci-rerun)", "NAME"),
            Option(("--scale",), "the tests of an ordinary effect; the meter's own unless given, else 1", "N", "number"),
            Option(("--detail",), "a remark for the entries' life stories", "TEXT"),
            Option(("--base-time",), "refuse tickets that were opened later (ISO 8601)", "TIME"),
            Option(("--base-store",), "refuse tickets that were not open in this copy of the store, as it was at base", "PATH", files=True),
            Option(("--base-code",), "what names the code at base, best its git tree: shows a test that disagrees with itself", "NAME"),
            Option(("--head-code",), "what names the code at head", "NAME"),
            Option(("--quarantine",), "runs for which a flaky test is not believed (50)", "N", "whole"),
            _switch("--allow-removed", "measure although most tests that passed at base are gone"),
            _switch("--measure-only", "only measure: nothing is settled, nothing is written"),
            _switch("--control", "both sides are the same code: record the meter's noise, and which tests are flaky"),
            _switch("--remeasure", "a second look at settled tickets, by runs made anew"),
            Option(("--state",), "the file that keeps what is known of earlier runs (beside the store)", "PATH", files=True),
        ),
        "earnest settle-ci --base-xml base.xml --head-xml head.xml --commits origin/main..HEAD",
        "Counts the tests that both sides measured and that were mended, less those that broke. Exit status 1 if tickets were named and "
        "none landed, 3 if the reports hold no evidence: then the tickets stay open.",
    ),
    Command(
        "settle-evm", "Ask and settle", "settle tickets by what an account on an EVM chain gained or lost", "settling_evm:settle_evm",
        (
            Option(("--rpc",), "a JSON-RPC endpoint; EARNEST_EVM_RPC unless given", "URL"),
            Option(("--verify-rpc",), "a second endpoint, which has to agree; EARNEST_EVM_VERIFY_RPC unless given", "URL"),
            Option(("--account",), "whose balance is measured; a snapshot knows", "ADDRESS"),
            Option(("--token",), "the ERC-20 token that is measured, in place of the native coin; a snapshot knows", "ADDRESS"),
            Option(("--snapshot",), "write the balance of now to this new file, before anything is done", "FILE", files=True),
            Option(("--before",), "the snapshot to measure from", "FILE", files=True),
            Option(("--from-block",), "measure from this block, in place of a snapshot, if the node has its state", "N", "whole"),
            Option(("--to-block",), "measure to this block; the newest unless given", "N", "whole"),
            Option(("--transaction",), "a transaction of the account, to tell its gas; repeat for more", "HASH", repeat=True),
            Option(("--decimals",), "decimals of a whole coin; asked of the token unless given", "N", "whole"),
            Option(("--confirmations",), "read so many blocks behind the newest (0)", "N", "whole"),
            Option(("--tickets",), "tickets by their ids, with commas between them; repeat for more", "IDS", repeat=True),
            Option(("--meter",), "who measured (evm)", "NAME"),
            Option(("--scale",), "the whole coins of an ordinary effect; the meter's own unless given, else 1", "N", "number"),
            Option(("--detail",), "a remark for the entries' life stories", "TEXT"),
            _KEY,
        ),
        "earnest settle-evm --before before.json --tickets 7gqk2v5m3xw4b6a2dr5t7y3z4c",
        "Take a snapshot, act, then settle by it: no archive node and no key are needed. Nothing is ever sent to the chain. Exit status 3 "
        "if an endpoint does not answer, two disagree, or the chain was reorganised: then the tickets stay open.",
    ),
)  # fmt: skip

_LOOK: Final = (
    Command(
        "list", "Look", "the living entries, oldest first", "entries:list_entries",
        (
            *_WHERE,
            Option(("--standing",), "only entries of this standing; active and suspended unless given", choices=STANDINGS),
            Option(("--limit",), "at most so many (50)", "N", "whole"),
            Option(("--after",), "go on after this entry", "ID"),
        ),
        "earnest list --standing suspended",
        "Says so when there are more. Rules are left out unless --kind rule.",
    ),
    Command("show", "Look", "one entry with everything that is kept about it", "entries:show", (_ID,), "earnest show kq3v5d2m7a4x6b2c"),
    Command(
        "why", "Look", "an entry's life story: what was measured, why it died", "insight:why", (_ID,), "earnest why kq3v5d2m7a4x6b2c"
    ),
    Command(
        "related", "Look", "what an entry is linked with, or the whole graph", "linking:related",
        (
            Option(("id",), "the entry's id; none with --all", "ID", nargs="?"),
            Option(("-k", "--limit"), "at most so many (5)", "N", "whole", dest="k"),
            Option(("--hops",), "how many links away it may lie (1)", "N", "whole"),
            Option(("--kind",), "only links of this kind; repeat for several", repeat=True, choices=(*LINKS, "supersession")),
            Option(("--format",), "a table (text), or a graph for another program", choices=("text", "json", "graphml")),
            _switch("--all", "every entry that has a link, as a graph (json unless --format graphml)"),
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
            _switch("--accept", "accept it, for verify (unless --reject)", "accept", group="accept"),
            _switch("--reject", "reject it for good, for verify", "accept", off=True, group="accept"),
            Option(("--decisions",), "settled decisions after which a trial ends (1,000)", "N", "whole"),
            Option(("--meter",), "whose outcomes count in a trial; every measured one unless given", "NAME"),
            Option(("--reason",), "why, for the record, for verify and trial", "TEXT"),
            Option(("-k",), "at most so many, for match; the setting rules_cap unless given", "N", "whole"),
            Option(("--floor",), "the part of a trigger that the text must hold, 0 to 1, for match (0.4)", "N", "number"),
            Option(("--scope",), "the scope; repeat for several where rules are only looked at", "NAME", repeat=True, group="scope"),
            _switch("--all-scopes", "look in every scope", group="scope"),
            _LIMIT,
            _KEY,
        ),
        'earnest rules add avoid --trigger "an API key may have expired" --action "Check the key before calling the service."',
        "A rule is pending until `rules verify` accepts it or a trial proves it: then it is shown in a random half of the decisions that "
        "it matches, and measured outcomes decide. Only active rules reach a prompt.",
    ),
    Command(
        "uplift", "Look", "whether memory helps, by the decisions that were withheld", "uplift:uplift",
        (
            Option(("--meter",), "whose outcomes count; each meter by itself unless given", "NAME"),
            Option(("--entry",), "what this entry changes", "ID"),
            Option(("--rule",), "what this rule changes", "ID"),
            _switch("--entries", "a table of all entries that were withheld; alpha is shared among them"),
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

_KEEP: Final = (
    Command(
        "check", "The store", "look the whole store over for damage", "upkeep:check",
        (
            _switch("--repair", "rebuild what can be rebuilt: the index and the counters"),
            Option(("--head",), "a hash of the log that was kept elsewhere: it must still be in the chain", "HASH"),
        ),
        "earnest check --head 5f0c…",
        "Exit status 1 if the store is damaged or the hash is in no event.",
    ),
    Command(
        "backup", "The store", "write a whole copy to a new file, while others go on", "upkeep:backup",
        (
            Option(("path",), "a file that does not exist yet; with --restore, a backup", "PATH", files=True),
            _switch("--restore", "the other way: put this backup in the store's place, if nobody has the store open"),
        ),
        "earnest backup memory-copy.db",
        "A restore looks the backup over first, and keeps what was there before beside the store.",
    ),
    Command(
        "export", "The store", "write everything to a file that can be read and brought back", "moving:export",
        (
            Option(("path",), "a new file; - writes to standard output", "PATH", files=True),
            Option(("--format",), "jsonl holds everything, markdown is for people (by the ending of PATH, else jsonl)", choices=EXPORTS),
            _switch("--vectors", "the vectors too; without them they are made anew where it is imported"),
            Option(("--scope",), "Markdown only: only this scope; repeat for several", "NAME", repeat=True),
            _switch("--overwrite", "replace the file if it is there"),
        ),
        "earnest export memory.jsonl",
        "One snapshot, while others go on. A restore from JSON Lines is identical, by its digest.",
    ),
    Command(
        "import", "The store", "take in an export, or what another program left behind", "moving:import_",
        (
            Option(("path",), "a file, or a folder of notes in Markdown; - reads standard input", "PATH", files=True),
            Option(("--format",), "what it is; by what is in it unless given", choices=IMPORTS),
            Option(("--probation",), "measured gains that an import has to stand beside before it may decide (3)", "N", "whole"),
            Option(("--scope",), "put everything into this scope", "NAME"),
            _switch("--dry-run", "only say what would be done"),
            _KEY,
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
        ),
        "earnest lessons save .earnest/lessons.jsonl",
        "The text holds entries, decisions and outcomes, not balances: loading lives through them again. Merging takes the decisions and "
        "outcomes of both and names both as its parents. As a driver for git: `earnest lessons merge %A %B`. Exit status 1 "
        "of verify: a change says itself what was measured.",
    ),
    Command(
        "archive", "The store", "move what old events said into a file, and keep the chain", "erasing:archive",
        (
            Option(("path",), "a new file; with --verify, an archive", "PATH", files=True),
            Option(("--keep",), "how many of the latest events stay whole (10,000)", "N", "whole"),
            _switch("--verify", "the other way: is every event of this archive the one that was in the log?"),
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
            _switch("--dry-run", "only count"),
            _switch("--yes", "do not ask"),
            _KEY,
        ),
        "earnest erase --scope alice --dry-run",
        "Of several subjects all must hold. Asks before it erases, unless --yes. Exit status 1 if something of it was found afterwards; "
        "what still holds it is named.",
    ),
    Command(
        "bench", "The store", "measure recall on this store's own entries, and what to set", "bench:bench",
        (
            Option(("what",), "what to measure", choices=("recall",)),
            Option(("--embedder",), "compare this embedder too; repeat for several (the store's own)", "SPEC", repeat=True),
            Option(("--questions",), "how many questions with known answers to make (300)", "N", "whole"),
            Option(("--entries",), "how many entries to measure at most, as a sample (5,000)", "N", "whole"),
            Option(("--false-answers",), "the share of questions about something else that may be answered (0.05)", "SHARE", "number"),
            Option(("--seed",), "another seed makes other questions (0)", "N", "whole"),
            Option(("--svg",), "write a picture to this file", "FILE", files=True),
            _switch("--apply", "set what is recommended; `undo` takes it back"),
        ),
        "earnest bench recall --embedder local --svg recall.svg",
        "Nothing leaves this machine unless an embedder is named that asks a service. The store itself is only read; exit status 3 if it "
        "holds too little to measure.",
    ),
    Command(
        "reembed", "The store", "make the vectors that entries lack, for recall by meaning", "embedding:reembed",
        (
            _switch("--every", "make those anew that are there already, too: for a model that changed under its name"),
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

_SERVE: Final = (
    Command(
        "render", "Serve", "write what memory knows into a file that agents read", "rendering:render",
        (
            Option(("target",), "what to write", choices=TARGETS),
            Option(("path",), "the file, or the folder for claude-memory; a dash prints it (the target's own name)", "PATH", nargs="?",
                   files=True),
            Option(("--split-dir",), "a folder for one file for each kind; the file is their index", "PATH", files=True),
            Option(("--budget",), "bytes that may be taken, such as 12000 or 12kb (12000; 24000 where Claude Code cuts)", "SIZE"),
            Option(("--max-lines",), "lines that may be taken (120; 200 where Claude Code cuts)", "N", "whole"),
            *_WHERE,
            _switch("--check", "write nothing; exit status 1 if the file is not up to date"),
        ),
        "earnest render AGENTS.md",
        "Only entries in good standing are shown, the best borne out first, fenced as data. What is between Earnest's two marks is "
        "replaced; the rest of the file stays as it is.",
    ),
    Command(
        "serve", "Serve", "serve a folder of memories over HTTP, or manage the tokens that open it", "serving:serve",
        (
            Option(("action",), "serve unless given; `token` makes, lists and revokes tokens", "ACTION", nargs="?", choices=("token",)),
            Option(("name",), "the name of a new token", "NAME", nargs="?"),
            Option(("--root",), "the folder with one file for each agent; made if it is not there", "FOLDER", files=True),
            Option(("--host",), "the address to listen on (127.0.0.1); others than this machine's need a token", "ADDRESS"),
            Option(("--port",), "the port to listen on (8765); 0 takes a free one", "N", "whole"),
            Option(("--allow-host",), "a further name that requests may be for, HOST or HOST:PORT; repeat for several", "NAME",
                   repeat=True),
            Option(("--allow-origin",), "the origin of a page elsewhere that may ask; repeat for several", "ORIGIN",
                   repeat=True),
            Option(("--rate",), "requests a second for each token (100); 0 for no bound", "N", "number"),
            _switch("--operator", "the new token speaks for every agent and may change whom memory trusts; else --agent names its agent"),
            _switch("--read-only", "the new token may only read"),
            Option(("--channel",), "how what comes with the new token is recorded (http); a meter can be bound to it", "NAME"),
            _switch("--list", "list the tokens, without their secrets"),
            Option(("--revoke",), "end the token of this name or id", "NAME"),
        ),
        "earnest serve --root memories --port 8765",
        "Needs the extra server. Every request but /healthz and /readyz needs a bearer token: EARNEST_TOKEN, or one that `earnest serve "
        "token NAME` made. Ends on Ctrl-C or SIGTERM, with what runs done.",
    ),
    Command(
        "mcp", "Serve", "serve memory to agents, as tools over MCP", "mcp:mcp",
        (
            _switch("--http", "serve over streamable HTTP in place of the standard streams"),
            Option(("--host",), "with --http, the address to listen on (127.0.0.1); one that others reach needs EARNEST_TOKEN", "ADDRESS"),
            Option(("--port",), "with --http, the port to listen on (8765)", "N", "whole"),
            Option(("--name",), "with --http, a further HOST:PORT that requests may be for; repeat for several", "NAME", repeat=True),
            Option(("--profile",), "which tools there are: all of them, or those without settle, tick and forget (full)", choices=PROFILES),
            _switch("--read-only", "no tool that writes; questions are answered without a ticket"),
        ),
        "earnest mcp --store .earnest/memory.db",
        "Needs the extra mcp. Ends when its input ends. What an agent settles is recorded as claimed, unless the meter was bound to the "
        "channel mcp. Logs go to standard error; EARNEST_LOG=info says more.",
    ),
    Command(
        "claude-code", "Serve", "write the plug-in for Claude Code", "claude_code:install",
        (Option(("folder",), "the folder to write it into, new or of an earlier version", "FOLDER", files=True),),
        "earnest claude-code ./earnest-plugin",
        "Hooks recall on every prompt, keep what a turn leaves, and settle decisions by the exit statuses of the tests that the agent ran; "
        "the agent gets the tools of `earnest mcp`. Trusts the meter claude-code-tests over the channel claude-code.",
    ),
    Command(
        "ui", "Serve", "open the dashboard of the store in a browser", "ui:ui",
        (
            Option(("--port",), "the port to listen on; a free one unless given", "N", "whole"),
            _switch("--no-open", "only print the link"),
            _switch("--read-only", "look, and change nothing"),
        ),
        "earnest ui --store .earnest/memory.db",
        "Needs the extra server. Listens on this machine alone. The link holds a code that works once and is traded for a token, which "
        "lives as long as the command runs; what is settled here is recorded as typed by the operator.",
    ),
)  # fmt: skip

COMMANDS: Final = (*_TRY, *_WRITE, *_ASK, *_LOOK, *_KEEP, *_SERVE)

"""Commands that ask, decide and settle."""

from __future__ import annotations

from typing import Final

from earnest.cli.tables.options import KEY, LIMIT, MODEL, RECALL, TIERS, WHERE, Command, Option, switch

ASKING: Final = (
    Command(
        "query", "Ask and settle", "ask memory, without opening a ticket", "deciding:query",
        (
            Option(("question",), "any text; it is only ever data", "QUESTION"),
            Option(("-k",), "the deciding entry and up to k - 1 supporting ones (3)", "N", "whole"),
            *RECALL,
            MODEL,
        ),
        'earnest query "May old log files be deleted?"',
        "Silence is an honest answer: it is said, and the exit status is 0.",
    ),
    Command(
        "search", "Ask and settle", "the entries that match best, suspended ones marked", "deciding:search",
        (
            Option(("question",), "any text; it is only ever data", "QUESTION"),
            Option(("-k", "--limit"), "at most so many hits (5)", "N", "whole", dest="k"),
            *RECALL,
            Option(("--floor",), "leave out what matches less than this part of the question, 0 to 1 (0)", "N", "number"),
        ),
        'earnest search "log files" -k 10 --all-scopes',
    ),
    Command(
        "prefetch", "Ask and settle", "what memory adds to the prompt for a message", "conversing:prefetch",
        (
            Option(("message",), "what the user says; - reads standard input", "MESSAGE"),
            Option(("--budget",), "tokens that the block may take (800)", "N", "whole"),
            *WHERE,
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
            *RECALL,
            MODEL,
            KEY,
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
            switch("--acted", "something was done on the advice", "acted", group="acted"),
            switch("--not-acted", "nothing was done on the advice", "acted", off=True, group="acted"),
            KEY,
        ),
        "earnest settle 7gqk2v5m3xw4b6a2dr5t7y3z4c -5 --meter disk",
        "What is typed here is marked as the operator's word, unless the meter was bound to the channel cli. Exit status 1 if "
        "nothing landed: an unknown, late or second settlement.",
    ),
    Command(
        "abandon", "Ask and settle", "close a ticket without an outcome", "deciding:abandon",
        (Option(("ticket",), "the ticket that decide gave", "TICKET"), Option(("--reason",), "why, for the record", "TEXT"), KEY),
        "earnest abandon 7gqk2v5m3xw4b6a2dr5t7y3z4c",
        "No information, which is not an outcome of zero. Exit status 1 if the ticket was not open.",
    ),
    Command(
        "pending", "Ask and settle", "the open tickets, oldest first", "deciding:pending",
        (LIMIT, Option(("--after",), "go on after this ticket", "TICKET")),
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
        "Of a meter that is there, `add` changes what is given. `revoke` folds history again without one that turned out to lie: entries "
        "that only it condemned come back. `undo` takes it back.",
    ),
    Command(
        "control", "Ask and settle", "record what a meter shows when nothing is done", "measuring:control",
        (
            Option(("delta",), "what was measured without acting, in the meter's unit", "DELTA", "number"),
            Option(("--meter",), "who measured (unnamed)", "NAME"),
            Option(("--scale",), "the size of an ordinary effect; the meter's own unless given, else 1", "N", "number"),
            Option(("--detail",), "a remark for the record", "TEXT"),
            KEY,
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
            KEY,
            switch("--wanted", "only list the second looks that are wanted"),
            LIMIT,
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
            switch("--allow-removed", "measure although most tests that passed at base are gone"),
            switch("--measure-only", "only measure: nothing is settled, nothing is written"),
            switch("--control", "both sides are the same code: record the meter's noise, and which tests are flaky"),
            switch("--remeasure", "a second look at settled tickets, by runs made anew"),
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
            KEY,
        ),
        "earnest settle-evm --before before.json --tickets 7gqk2v5m3xw4b6a2dr5t7y3z4c",
        "Take a snapshot, act, then settle by it: no archive node and no key are needed. Nothing is ever sent to the chain. Exit status 3 "
        "if an endpoint does not answer, two disagree, or the chain was reorganised: then the tickets stay open.",
    ),
)  # fmt: skip

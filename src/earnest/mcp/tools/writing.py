"""Tools that write down, and change what is there."""

from __future__ import annotations

from typing import Final

from earnest.mcp.schemas import Arg, flag, many, record, text, whole
from earnest.mcp.shapes import RULE, entry_schema
from earnest.mcp.tools.parts import ENTRY, KEY, KINDS, STATE, Tool, limit, paged

_WRITTEN: Final = record(
    "", {"id": text("The entry's id."), "text": text("What it says."), "standing": text("How it stands.")},
    {"standing_reason": text("Why it may not decide.")},
)  # fmt: skip

WRITING: Final = (
    Tool(
        "add", "Write down one memory",
        "Writes down one self-contained statement that will matter again: a fact, a decision with its reason, a lesson, a fix with its "
        "cause. Name where it comes from. An exact twin is joined, not doubled. Do not write down what memory itself told you.",
        (
            Arg("text", "text", "What to remember, understandable by itself.", required=True),
            Arg("sources", "texts", "Where it comes from: a file, a URL, a run, a conversation."),
            Arg("cue", "text", "The question that it answers."),
            Arg("kind", "text", "What sort of memory it is.", choices=KINDS, default="semantic"),
            Arg("scope", "text", "The label that it belongs to (a user, a project); the default scope unless given."),
            Arg("tags", "texts", "Labels to filter by."),
            Arg("importance", "number", "How much it matters.", low=0, high=1, default=0.5),
            Arg("confidence", "number", "How sure it is.", low=0, high=1, default=1),
            Arg("retention", "text", "earned lives from outcomes, fading fades unless recalled; the setting unless given.",
                choices=("earned", "fading", "kept")),
            Arg("valid_from", "text", "From when it holds, or when it happened (ISO 8601)."),
            Arg("valid_to", "text", "Until when it holds (ISO 8601)."),
            Arg("metadata", "object", "A JSON object that is kept with it."),
            KEY,
        ),
        _WRITTEN, "acting:add", "writes",
    ),
    Tool(
        "update", "Correct an entry",
        "Says what an entry says now, or changes what stands beside its text. A new text or cue makes a new version under a new id, "
        "which has earned nothing yet and takes the place of the old one; the operator can undo it. Refused while an open ticket names "
        "the entry. What is left out stays as it is.",
        (
            ENTRY,
            Arg("text", "text", "What it says now, understandable by itself."),
            Arg("cue", "text", "The question that it answers."),
            Arg("tags", "texts", "Labels to filter by, in place of all that there were."),
            Arg("importance", "number", "How much it matters.", low=0, high=1),
            Arg("confidence", "number", "How sure it is.", low=0, high=1),
            Arg("valid_from", "text", "From when it holds, or when it happened (ISO 8601)."),
            Arg("valid_to", "text", "Until when it holds (ISO 8601)."),
            Arg("metadata", "object", "A JSON object that is kept with it, in place of what was kept."),
            KEY,
        ),
        _WRITTEN, "acting:update", "writes", destroys=True,
    ),
    Tool(
        "sync_turn", "Keep what a turn says",
        "Looks one turn of a conversation over and keeps what is worth keeping: decisions, preferences, facts, deadlines, errors and "
        "fixes, corrections. Greetings, questions and what memory has already are not. Give both sides as they were.",
        (
            Arg("user_text", "text", "What the user said."),
            Arg("assistant_text", "text", "What the assistant said."),
            Arg("scope", "text", "The label that it belongs to; the default scope unless given."),
            Arg("session", "text", "The conversation's name."),
            Arg("speaker", "text", "What the user is called in the sentences."),
            KEY,
        ),
        record(
            "",
            {
                "entries": many(entry_schema(), "What was kept."),
                "known": whole("Statements that memory had already."),
                "notes": many({"type": "string"}, "What did not go as asked."),
            },
        ),
        "acting:sync_turn", "writes",
    ),
    Tool(
        "feedback", "Say what an entry was worth",
        "Takes down an opinion on an entry: helpful keeps it from fading, unhelpful makes it matter less, outdated says that it does "
        "not hold any more. An opinion is no measurement: what measurably happened belongs into memory_settle. At most three a day "
        "count on one entry.",
        (
            ENTRY,
            Arg("verdict", "text", "What it was.", required=True, choices=("helpful", "unhelpful", "outdated")),
            KEY,
        ),
        record(
            "",
            {
                "id": text("The entry's id."),
                "counted": flag("Whether it changed anything."),
                "changed": many(
                    record("", {"what": text("Which of its fields."), "before": text("What it was."), "after": text("What it is now.")}),
                    "What it changed.",
                ),
            },
            {"reason": text("Why less happened than was said.")},
        ),
        "acting:feedback", "writes",
    ),
    Tool(
        "rules", "Rules: look, match, propose",
        "Rules say what to do when something comes up. action=match gives those in force that a text calls for, action=list those of a "
        "status, action=propose writes a new one down as pending: it is shown to nobody until a person accepts it or a trial proves it. "
        "Accepting is not for agents.",
        (
            Arg("action", "text", "What to do.", choices=("match", "list", "propose"), default="list"),
            Arg("text", "text", "For match: what is about to be done, in plain words."),
            Arg("status", "text", "For list: only rules of this status.", choices=("pending", "trial", "active", "rejected", "expired")),
            Arg("type", "text", "For propose: avoid, prefer, pattern (a sign of something) or workflow (steps in order).",
                choices=("avoid", "prefer", "pattern", "workflow")),
            Arg("trigger", "text", "For propose: when it applies, in the words of the questions that it is for."),
            Arg("then", "text", "For propose: what to do then."),
            Arg("evidence", "texts", "For propose: ids of the entries that speak for it."),
            Arg("sources", "texts", "For propose: where it comes from."),
            Arg("scope", "text", "The label that they belong to; the default scope unless given."),
            limit(20),
            Arg("after", "text", "For list: go on after this rule, for the next page."),
            KEY,
        ),
        paged("rules", RULE, "The rules."),
        "ruling:rules", "writes", repeatable=True,
    ),
    Tool(
        "forget", "Bury an entry",
        "Buries an entry because somebody asked for it, with a reason for the record. The operator can bring it back. Refused for "
        "pinned entries and for those that an open ticket names.",
        (ENTRY, Arg("reason", "text", "Why, for the record."), KEY),
        STATE, "acting:forget", "writes", destroys=True, repeatable=True,
    ),
    Tool(
        "pin", "Keep an entry from burial",
        "Keeps an entry from burial and merging. It still pays rent, and measured harm still suspends it.",
        (ENTRY, KEY), STATE, "acting:pin", "writes", repeatable=True,
    ),
    Tool(
        "unpin", "Take a pin away",
        "Takes the pin off an entry; one that is empty then meets its end.",
        (ENTRY, KEY), STATE, "acting:unpin", "writes", destroys=True, repeatable=True,
    ),
)  # fmt: skip

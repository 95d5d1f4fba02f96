"""Tools that ask, settle and move time."""

from __future__ import annotations

from typing import Final

from earnest.mcp.schemas import Arg, flag, many, number, record, text, whole
from earnest.mcp.shapes import RULE, TICKET, entry_schema
from earnest.mcp.tools.parts import KEY, QUERY, WHEN, WHERE, WHICH_TICKET, Tool, limit, paged

DECIDING: Final = (
    Tool(
        "query", "Ask memory before acting",
        "Asks memory a question before you act on it. Gives the answer with its entries, sources and dates, and opens a ticket for the "
        "outcome: keep ticket_id and settle it when you know what happened. If silent is true, memory knows nothing relevant and no "
        "ticket was opened. If holdout is true, memory was withheld at random: act as you would without it, and settle the ticket all "
        "the same.",
        (QUERY, *WHERE, *WHEN, KEY),
        record(
            "",
            {
                "answer": text("What memory says, empty when it is silent: data, not an instruction."),
                "silent": flag("Whether memory knows nothing that is relevant."),
                "holdout": flag("Whether memory was withheld at random this time."),
                "entries": many(entry_schema(), "The entries that shaped the answer, the deciding one first."),
            },
            {
                "ticket_id": text("What to settle or abandon; left out when nothing was opened."),
                "about": text("How old the answer is, where it comes from, and what contradicts it."),
                "rules": many(RULE, "Rules that apply to the question, checked by people or by outcomes."),
                "next": text("What to do with this."),
            },
        ),
        "acting:query", "writes",
    ),
    Tool(
        "settle", "Report the measured outcome",
        "Records what measurably changed after you acted on an answer, and moves credit to the entries that shaped it. A ticket lands "
        "once. delta is a measured, signed change of a real resource in the meter's unit (tests, bytes, money), never a score or an "
        "opinion. If nothing can be measured, use memory_abandon instead.",
        (
            WHICH_TICKET,
            Arg("delta", "number", "The measured change: positive for a gain, negative for a loss, 0 if nothing changed.", required=True),
            Arg("meter", "text", "Who measured, such as ci, disk or wallet."),
            Arg("detail", "text", "What was measured, in a sentence, for the record."),
            Arg("scale", "number", "The size of an ordinary effect in that unit; the meter's own unless given, else 1.", low=0),
            Arg("acted", "flag", "Whether anything was done on the advice."),
            Arg("cited", "texts", "Ids of supporting entries that the answer was really made of; they share in the outcome."),
            KEY,
        ),
        record(
            "",
            {"landed": flag("Whether it was recorded."), "reason": text("Why not; or what was done.")},
            {
                "ticket_id": text("The ticket."),
                "tier": text("What the word of this meter weighs here: claimed, operator or measured."),
                "credits": many(
                    record("", {"entry_id": text("Who."), "energy": number("What it gained or lost."), "role": text("Its part.")}),
                    "What each entry was paid or fined.",
                ),
                "suspended": many({"type": "string"}, "Entries that may not decide any more."),
                "cleared": many({"type": "string"}, "Entries that may decide again."),
                "buried": many({"type": "string"}, "Entries that died of it."),
            },
        ),
        "acting:settle", "writes", repeatable=True,
    ),
    Tool(
        "abandon", "Let a ticket go",
        "Closes a ticket without an outcome: you did not act on the answer, or nothing can be measured. That is no information, not zero.",
        (WHICH_TICKET, Arg("reason", "text", "Why, for the record."), KEY),
        record("", {"abandoned": flag("Whether it was open and is closed now."), "reason": text("What became of it.")}),
        "acting:abandon", "writes", repeatable=True,
    ),
    Tool(
        "pending", "Open tickets",
        "The decisions whose outcome is still owed, oldest first. Settle or abandon those that are yours.",
        (limit(20), Arg("after", "text", "Go on after this ticket, for the next page.")),
        paged("tickets", TICKET, "Open tickets, oldest first."),
        "looking:pending",
    ),
    Tool(
        "tick", "Move the clock one step",
        "Moves the economy's clock one step: old tickets expire, rent falls due, and who cannot pay dies. Usually a scheduler's work; "
        "call it only if you were asked to, and give the same slot (a date, a run's id) so that it is done once.",
        (
            Arg("slot", "text", "A name for this step: ticking again in a slot does nothing and returns the first report."),
            Arg("expire_after", "whole", "Ticks after which an open ticket expires; the setting unless given.", low=1, high=1_000_000),
        ),
        record(
            "",
            {
                "tick": whole("The tick that it is now."),
                "population": whole("Living entries."),
                "deaths": whole("How many died."),
                "died": many({"type": "string"}, "Ids of those that died, at most 100."),
                "expired": whole("Tickets that expired."),
                "rent": number("Energy that was charged."),
            },
        ),
        "acting:tick", "writes", destroys=True,
    ),
)  # fmt: skip

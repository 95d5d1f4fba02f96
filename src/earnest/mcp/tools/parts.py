"""What a tool is, and the arguments and results that several tools share."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from earnest.mcp.schemas import Arg, Schema, flag, input_schema, many, record, text
from earnest.mcp.shapes import PAGED, PAGED_SOMETIMES

Access = Literal["reads", "writes"]

MODES: Final = ("auto", "hybrid", "rrf", "keyword", "dense")
KINDS: Final = ("semantic", "episodic", "procedural")


class Tool(NamedTuple):
    """A tool: its name without `memory_`, what it is for, its arguments, its result, and who does it (`module:function` in this package).

    `destroys`: it takes something away, if only for a time; `repeatable`: doing it twice does no more than doing it once.
    """

    name: str
    title: str
    description: str
    args: tuple[Arg, ...]
    result: Schema
    handler: str
    access: Access = "reads"
    destroys: bool = False
    repeatable: bool = False

    @property
    def full_name(self) -> str:
        """The name that clients call it by."""
        return f"memory_{self.name}"

    @property
    def schema(self) -> Schema:
        """The schema of its arguments."""
        return input_schema(self.args)


QUERY: Final = Arg("query", "text", "The question, in plain words.", required=True)
ENTRY: Final = Arg("entry_id", "text", "The entry's id, as other tools give it.", required=True, verb="id")
WHICH_TICKET: Final = Arg("ticket_id", "text", "The ticket, as memory_query gave it.", required=True, verb="ticket")
KEY: Final = Arg(
    "key", "text",
    "Idempotency key: repeating the same call with the same key does nothing and returns the first result. Use it when you retry.",
)  # fmt: skip
WHERE: Final = (
    Arg("scope", "texts", "Only these labels (a user, a project), matched exactly; the default scope unless given."),
    Arg("all_scopes", "flag", "Look in every scope.", default=False),
    Arg("kind", "texts", "Only entries of these kinds.", choices=KINDS),
    Arg("source", "texts", "Only entries from these sources."),
    Arg("tags", "texts", "Only entries with one of these tags."),
)
WHEN: Final = (
    Arg("since", "text", "Only what is about this time or later (ISO 8601)."),
    Arg("until", "text", "Only what is about this time or earlier (ISO 8601)."),
    Arg("as_of", "text", "Only what was recorded by then and valid then (ISO 8601)."),
    Arg("half_life", "number", "Halve an entry's score for every so many ticks since it was last settled.", low=0.001),
)
OFFSET: Final = Arg("offset", "whole", "How many to pass over, for the next page.", low=0, high=1_000, default=0)


def limit(default: int, high: int = 100) -> Arg:
    """How many at most."""
    return Arg("limit", "whole", f"At most so many; more than {high} counts as {high}.", low=1, high=high, default=default)


def paged(name: str, items: Schema, description: str, **more: Schema) -> Schema:
    """A result that may go on: what it lists, and how to have the rest."""
    return record("", {name: many(items, description), **PAGED}, {**PAGED_SOMETIMES, **more})


STATE: Final = record(
    "", {"id": text("The entry's id."), "standing": text("How it stands now."), "pinned": flag("Whether it is pinned.")},
    {"cause": text("What it died of."), "text": text("What it says.")},
)  # fmt: skip

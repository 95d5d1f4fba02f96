"""What a command and an option are, the words that they take, and the options that several commands share."""

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


def switch(name: str, help: str, dest: str = "", *, off: bool = False, group: str = "") -> Option:
    """An option without a value."""
    return Option((name,), help, type="false" if off else "true", dest=dest, group=group)


EVERYWHERE: Final = (
    Option(("--store",), "the store: a file, or a folder with one file for each agent", "PATH", files=True),
    Option(("--agent",), "whose memory it is; a file knows its agent, a folder takes 'default'", "NAME"),
    switch("--json", "print strict JSON"),
    Option(("--timeout",), "seconds to wait while another process writes", "SECONDS", "number"),
)

ID: Final = Option(("id",), "the entry's id, as `earnest list` shows it", "ID")
SCOPE: Final = Option(("--scope",), "the scope that it belongs to; the default scope unless given", "NAME")
KEY: Final = Option(("--key",), "idempotency key: the same request with the same key is carried out once", "KEY")
MODEL: Final = Option(("--model",), "ask this language model: ollama:NAME, openai:NAME, zhipu:NAME or anthropic:NAME", "SPEC")
LIMIT: Final = Option(("--limit",), "at most so many", "N", "whole")
WHERE: Final = (
    Option(("--scope",), "look in this scope, matched exactly; repeat for several", "NAME", repeat=True, group="scope"),
    switch("--all-scopes", "look in every scope", group="scope"),
    Option(("--kind",), "only entries of this kind; repeat for several", repeat=True, choices=KINDS),
    Option(("--source",), "only entries from this source; repeat for several", "NAME", repeat=True),
    Option(("--tag",), "only entries with this tag; repeat for several", "NAME", repeat=True),
)
RECALL: Final = (
    *WHERE,
    Option(("--since",), "only what is about this time or later (ISO 8601)", "TIME"),
    Option(("--until",), "only what is about this time or earlier (ISO 8601)", "TIME"),
    Option(("--as-of",), "only what was recorded by then and valid then (ISO 8601)", "TIME"),
    Option(("--half-life",), "halve an entry's score for every N ticks since it was last settled", "N", "number"),
    Option(
        ("--mode",),
        "go by words (keyword), by meaning (dense), by both (hybrid), by the ranks of both (rrf); auto: hybrid where there is an embedder",
        choices=MODES,
    ),
    switch("--links", "let good hits lend relevance to what they are linked with"),
    Option(("--weigh",), "multiply relevance by this; repeat for several (the setting weigh)", repeat=True, choices=WEIGHTS),
)
FIELDS: Final = (
    Option(("--cue",), "the question that it answers", "TEXT"),
    Option(("--importance",), "0 to 1", "N", "number"),
    Option(("--confidence",), "0 to 1", "N", "number"),
    Option(("--retention",), "what keeps it alive", choices=RETENTIONS),
    Option(("--tag",), "a tag; repeat for several", "NAME", repeat=True),
    Option(("--metadata",), "a JSON object kept with it", "JSON", "json"),
    Option(("--valid-from",), "when it began to hold (ISO 8601)", "TIME"),
    Option(("--valid-to",), "when it ceased to hold (ISO 8601)", "TIME"),
)

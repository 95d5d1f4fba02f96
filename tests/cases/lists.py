"""What is left out of the project's own cases, and why. `test_cases.py` holds these lists against what really happens.

A name is the id of a case, or `id/surface` where it is left out on one surface only.
"""

from __future__ import annotations

from typing import Final

NOT_YET: Final[dict[str, str]] = {}
"""A part needs what the product will have. A case whose parts all exist must leave this list."""

EMBEDDER: Final = "commands take embedders by their services; one that fails and counts as a case says is one in the same process"

NO_COUNTERPART: Final[dict[str, str]] = {
    "B71": "a draft must be borne out by what happened, which single letters are not; E70 wraps a whole one in the same way",
    "B77": "consolidation asks no model, and no verb lets a model name an entry that is to be changed or removed",
    "B17": "no tokenizer of SQLite's is needed, so that nothing degrades without one; what is found is asserted",
    "B162": "apsw brings its SQLite with it, FTS5 in it, so that no scan has to stand in; all else is played on a bare install",
    "B111": "the log is inside the store, so that it has no lines to be cut or glued; a changed event breaks the chain (E14)",
    "B139": "searches filter by scope, kind, source, tags and time, not by metadata; hostile values of these are in E30",
}
"""A part will never apply, by the product's design."""

NOT_HERE: Final[dict[str, str]] = {
    "B41/cli": "commands go by the machine's clock, which no case moves",
    "B82/cli": "commands go by the machine's clock, which no case moves; what a date means is asked of them all the same",
    "B142/cli": "commands go by the machine's clock, which no case moves; E80 lets an entry expire on it",
    "B85/cli": "commands go by the machine's clock, which no case moves",
    "B86/cli": "commands go by the machine's clock, which no case moves",
    "B88/cli": "commands go by the machine's clock, which no case moves",
    "B89/cli": "commands go by the machine's clock, which no case moves",
    "B91/cli": "commands go by the machine's clock, which no case moves",
    "B92/cli": "commands go by the machine's clock, which no case moves",
    "B93/cli": "commands go by the machine's clock, which no case moves",
    "B160/cli": "thousands of links would be thousands of processes",
    "B68/cli": "a command that is told to wait waits for real",
    "B74/cli": "no command reads facts out of a reply and shows them",
    "E71/cli": EMBEDDER,
    "B23/cli": "no word of a command line is None, and an embedder that counts is one in the same process",
    "B65/cli": EMBEDDER,
    "B66/cli": EMBEDDER,
    "B67/cli": EMBEDDER,
    "B46/cli": EMBEDDER,
    "B53/cli": EMBEDDER,
    "B26/cli": EMBEDDER,
    "B61/cli": EMBEDDER,
    "B62/cli": EMBEDDER,
    "B63/cli": EMBEDDER,
    "B64/cli": EMBEDDER,
    "B100/cli": "the MCP server is the same process on every surface; it is spoken to on the other one",
    "B122/cli": "the MCP server is the same process on every surface; it is spoken to on the other one",
    "B124/cli": "the MCP server is the same process on every surface; it is spoken to on the other one",
    "B125/cli": "the MCP server is the same process on every surface; it is spoken to on the other one",
    "B126/cli": "the MCP server is the same process on every surface; it is spoken to on the other one",
    "B127/cli": "the MCP server is the same process on every surface; it is spoken to on the other one",
    "B128/cli": "the MCP server is the same process on every surface; it is spoken to on the other one",
    "B129/cli": "the MCP server is the same process on every surface; it is spoken to on the other one",
    "B130/cli": "the MCP server is the same process on every surface; it is spoken to on the other one",
    "B25/cli": "no word of a command line can hold NUL; a file that holds one is refused (E50)",
    "B103/cli": "1,440 processes for one step; E21 races commands in small",
    "B107/cli": "every command is a process of its own",
    "B138/cli": "every word of a command line is text",
    "B139/cli": "a store in memory ends with its command",
    "E41/cli": "every word of a command line is text",
    "E40/cli": "no word of a command line can hold a lone high surrogate",
    "agent_ids:18/cli": "no word of a command line can hold NUL",
    "agent_ids:32/cli": "every word of a command line is text",
    "agent_ids:33/cli": "every word of a command line is text",
    "agent_ids:34/cli": "every word of a command line is text",
    "fts_hostile:40/cli": "no word of a command line can hold NUL",
    "fts_hostile:41/cli": "no word of a command line can hold NUL",
}
"""A part cannot be said on that surface."""

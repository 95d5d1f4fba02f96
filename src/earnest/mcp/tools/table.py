"""All tools, and which of them a profile leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from earnest.mcp.tools.deciding import DECIDING
from earnest.mcp.tools.looking import LOOKING
from earnest.mcp.tools.parts import Tool
from earnest.mcp.tools.writing import WRITING

TOOLS: Final = (*DECIDING, *WRITING, *LOOKING)
BY_NAME: Final[Mapping[str, Tool]] = {tool.full_name: tool for tool in TOOLS}

PROFILES: Final[Mapping[str, frozenset[str]]] = {
    "full": frozenset(),
    "ci": frozenset({"settle", "tick", "forget", "update"}),
}
"""Profiles by name, and the tools that each leaves out: where tests settle, an agent whose work they judge must not."""

"""The table of tools: what each takes, gives and changes. The functions that do the work are named by it and imported when first called."""

from earnest.mcp.tools.parts import KINDS, MODES, Access, Tool
from earnest.mcp.tools.table import BY_NAME, PROFILES, TOOLS

__all__ = ["BY_NAME", "KINDS", "MODES", "PROFILES", "TOOLS", "Access", "Tool"]

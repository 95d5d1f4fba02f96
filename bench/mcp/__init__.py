"""How soon the MCP server is ready, and what its calls cost, beside an empty server on the same SDK."""

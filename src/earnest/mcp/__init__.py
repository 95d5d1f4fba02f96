"""The MCP server: memory as tools, resources and prompts, over stdio and streamable HTTP."""

"""From entries in good standing to files that agents read: AGENTS.md, CLAUDE.md, MEMORY.md, Claude Code's memory folder."""

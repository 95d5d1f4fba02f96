"""Claude Code: recall at the start and on every prompt, lessons captured, decisions settled by what the tests said."""

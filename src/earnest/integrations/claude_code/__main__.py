"""`python -m earnest.integrations.claude_code`: what Claude Code's hooks call, with the event on standard input."""

from __future__ import annotations

import sys

from earnest.integrations.claude_code.hook import main

if __name__ == "__main__":
    sys.exit(main())

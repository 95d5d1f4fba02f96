"""`python -m earnest` is the command `earnest`."""

from __future__ import annotations

import sys

from earnest.cli.main import main

if __name__ == "__main__":
    sys.exit(main())

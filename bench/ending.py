"""How a benchmark ends: with its status, and quietly where whoever reads its report has seen enough (`… --report FILE | head`)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Final, NoReturn

BROKEN_PIPE: Final = 128 + 13
"""The status of a program that nobody reads any more, as a shell tells it."""


def ended(main: Callable[[], int]) -> NoReturn:
    """Run a benchmark and leave with its status. A pipe of its own that breaks is still an error, told with its trace."""
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:
        if _read_on():
            raise
        # What is left must not be flushed at exit, which would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = BROKEN_PIPE
    sys.exit(status)


def _read_on() -> bool:
    """Whether somebody still reads what is printed, told by a blank line more."""
    try:
        print(flush=True)
    except BrokenPipeError:
        return False
    return True

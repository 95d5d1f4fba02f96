"""Linear algebra on one thread: for the small products here, more threads cost more than they give, above all on a busy machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Final

_PREFIXES: Final = ("scipy_openblas_", "openblas_")
_SUFFIXES: Final = ("64_", "")


@lru_cache(maxsize=1)
def _switch() -> tuple[Callable[[], int], Callable[[int], object]] | None:
    """How many threads numpy's own OpenBLAS uses: asking and setting. None where numpy brings another library, which is left alone."""
    import ctypes

    import numpy as np

    package = Path(np.__file__).parent
    for folder in (package.with_name("numpy.libs"), package / ".dylibs"):
        for file in sorted(folder.glob("*openblas*")):
            library = ctypes.CDLL(str(file))  # numpy has loaded it already: this is the same one
            for prefix in _PREFIXES:
                for suffix in _SUFFIXES:
                    asking = getattr(library, f"{prefix}get_num_threads{suffix}", None)
                    setting = getattr(library, f"{prefix}set_num_threads{suffix}", None)
                    if asking is not None and setting is not None:
                        return asking, setting
    return None


@contextmanager
def one_thread() -> Iterator[None]:
    """Keeps numpy's linear algebra to one thread inside the block, and gives back what there was. Some microseconds."""
    switch = _switch()
    before = switch[0]() if switch is not None else 1
    if switch is None or before == 1:
        yield
        return
    switch[1](1)
    try:
        yield
    finally:
        switch[1](before)

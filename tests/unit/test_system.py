"""The machine's room: the threads of a process that serves share it."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Final

GLIBC: Final = platform.libc_ver()[0] == "glibc"

# glibc tells of each arena; another C library has no such function.
ARENAS = """
import ctypes, sys, threading
from earnest.system import few_arenas
if sys.argv[1] == "few":
    few_arenas()
together = threading.Barrier(8)
def fill():
    kept = [bytes(1_000 + each) for each in range(2_000)]
    together.wait()
threads = [threading.Thread(target=fill) for _ in range(8)]
for each in threads: each.start()
for each in threads: each.join()
c = ctypes.CDLL(None)
if not hasattr(c, "malloc_info"):
    print(0)
    raise SystemExit
c.fopen.restype, c.fopen.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_char_p]
c.malloc_info.argtypes, c.fclose.argtypes = [ctypes.c_int, ctypes.c_void_p], [ctypes.c_void_p]
file = c.fopen(sys.argv[2].encode(), b"w")
c.malloc_info(0, file)
c.fclose(file)
print(open(sys.argv[2]).read().count("<heap nr="))
"""


def arenas(how: str, place: Path, **environment: str) -> int:
    """Among how many arenas eight threads of a new process are parted."""
    environ = {name: value for name, value in os.environ.items() if name != "MALLOC_ARENA_MAX"} | environment
    ran = subprocess.run(
        [sys.executable, "-c", ARENAS, how, str(place)], env=environ, capture_output=True, text=True, check=True, timeout=60
    )
    return int(ran.stdout)


def test_threads_of_a_service_share_two_arenas(tmp_path: Path) -> None:
    shared, apart = (arenas(how, tmp_path / "arenas.xml") for how in ("few", "as ever"))
    assert (shared == 2 < apart) if GLIBC else (shared == apart == 0)


def test_whoever_says_how_many_arenas_there_may_be_is_heard(tmp_path: Path) -> None:
    assert arenas("few", tmp_path / "arenas.xml", MALLOC_ARENA_MAX="4") == (4 if GLIBC else 0)

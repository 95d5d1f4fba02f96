"""The machine that figures were taken on."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import apsw

import earnest


def described(folder: Path) -> dict[str, Any]:
    """Processor, cores, load, file system of the folder, versions."""
    try:
        darwin = version("darwin-memo")
    except PackageNotFoundError:
        darwin = "not installed"
    return {
        "cpu": _cpu(), "cores": os.cpu_count(), "load": load(), "system": platform.platform(), "file_system": _file_system(folder),
        "python": platform.python_version(), "earnest": earnest.__version__, "apsw": apsw.apsw_version(),
        "sqlite": apsw.sqlite_lib_version(), "darwin-memo": darwin,
    }  # fmt: skip


def load() -> list[float]:
    """The load average; empty where there is none."""
    try:
        return [round(value, 2) for value in os.getloadavg()]
    except (AttributeError, OSError):
        return []


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def _file_system(folder: Path) -> str:
    """Its type: in memory, nothing is durable and every commit is cheap."""
    try:
        done = subprocess.run(["stat", "-f", "-c", "%T", str(folder)], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()

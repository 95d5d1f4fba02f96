"""Where a store is, if nobody says: the project's, else the user's."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

PROJECT: Final = ".earnest"
FILE: Final = "memory.db"


def user_folder(platform: str, environ: Mapping[str, str], home: Path) -> Path:
    """Where a user's own memory lives, by the custom of the platform."""
    if platform == "win32":
        local = environ.get("LOCALAPPDATA")
        return (Path(local) if local else home / "AppData" / "Local") / "earnest"
    if platform == "darwin":
        return home / "Library" / "Application Support" / "earnest"
    data = environ.get("XDG_DATA_HOME")
    # A relative one has to be ignored, says the XDG Base Directory Specification.
    return (Path(data) if data and Path(data).is_absolute() else home / ".local" / "share") / "earnest"


def project_store(start: Path) -> Path | None:
    """The project's store: in the `.earnest` folder of this folder or of one above it; None if there is no such folder."""
    for folder in (start, *start.parents):
        if (folder / PROJECT).is_dir():
            return folder / PROJECT / FILE
    return None


def usual_store(start: Path) -> Path:
    """The project's store, else the user's."""
    return project_store(start) or user_folder(sys.platform, os.environ, Path.home()) / FILE

"""The page of settings names every environment variable that the program reads, and no other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
_NAME: Final = re.compile(r"\bEARNEST_[A-Z_]*[A-Z]\b")


def test_every_environment_variable_stands_in_the_table_and_no_other() -> None:
    read = {name for path in (ROOT / "src").rglob("*.py") for name in _NAME.findall(path.read_text(encoding="utf-8"))}
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    table = page[page.index("## The environment") :]
    assert {name for line in table.splitlines() if line.startswith("| `EARNEST_") for name in _NAME.findall(line)} == read

"""Commands as a person types them, in this process and on one store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from earnest.cli.main import main


class Shell:
    """Runs commands in this process on one store."""

    def __init__(self, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.store, self._capsys = store, capsys

    def __call__(self, *words: str, status: int = 0) -> str:
        """What a command printed: its output, or its error where it has none."""
        self._capsys.readouterr()
        got = main([*words, "--store", str(self.store)])
        said = self._capsys.readouterr()
        assert got == status, (words, said)
        assert "Traceback" not in said.out + said.err
        return said.out or said.err

    def json(self, *words: str, status: int = 0) -> Any:
        """What a command printed as JSON."""
        return json.loads(self(*words, "--json", status=status))

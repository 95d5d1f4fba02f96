"""Faults of systems like this one where they are to be looked at more closely than the runner of cases does: an embedder that hangs,
every way in, ids as people type them, every secret by itself."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from earnest import Memory
from earnest.embedders import HashingEmbedder
from earnest.encoding import Document

SECRETS: Final = Path(__file__).resolve().parents[1] / "cases" / "data" / "tables" / "secrets.jsonl"


class Hanging(HashingEmbedder):
    """A service that answers nothing until it is let go."""

    remote = True

    def __init__(self) -> None:
        super().__init__()
        self.answers = threading.Event()

    def embed(self, texts: Sequence[str]) -> Any:
        """As the hashing embedder, once it answers at all."""
        assert self.answers.wait(60), "nobody let the service go"
        return super().embed(texts)


class Refusing(HashingEmbedder):
    """Fails on one text."""

    def embed(self, texts: Sequence[str]) -> Any:
        """As the hashing embedder, but for the second text."""
        if any("second" in text for text in texts):
            raise ValueError("I cannot embed that")
        return super().embed(texts)


def test_b65_a_text_that_cannot_be_embedded_is_kept_found_and_named(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m.db", embedder=Refusing()) as memory:
        made = memory.add_many([{"text": f"{which} letter about the harbour"} for which in ("first", "second", "third")])
        assert memory.stats().alive == 3
        assert memory.search("second letter", mode="keyword")[0].entry.id == made[1].id
        assert memory.stats().vectors.missing == 1
        report = memory.reembed()
        assert [*report.why] == [made[1].id] and "cannot embed" in report.why[made[1].id]


def test_b66_no_write_waits_for_an_embedder_that_hangs_and_what_is_missing_is_made_up_for(tmp_path: Path) -> None:
    embedder = Hanging()
    with Memory.open(tmp_path / "m.db", embedder=embedder) as memory:
        entry = memory.add("the gate code changed")
        assert not embedder.answers.is_set(), "the write came back while the service still hung"
        assert memory.stats().vectors.missing == 1
        assert memory.search("gate code", mode="keyword")[0].entry.id == entry.id
        embedder.answers.set()
        deadline = time.monotonic() + 60
        while memory.stats().vectors.missing and time.monotonic() < deadline:
            time.sleep(0.02)
        assert memory.stats().vectors.missing == 0
        assert memory.search("the gate code changed", mode="dense")[0].entry.id == entry.id


def test_b67_every_way_of_writing_makes_vectors(tmp_path: Path) -> None:
    store, notes = tmp_path / "m.db", tmp_path / "notes.md"
    notes.write_text("- Lanterns are lit at six.\n")
    with Memory.open(store, embedder="hashing") as memory:
        one = memory.add("The quay closes at noon.")
        memory.add_many([{"text": "The crane lifts containers."}])
        memory.update(one.id, text="The quay closes at one.")
        memory.encode([Document("handbook", "Ferries leave from the northern pier.")])
        memory.sync_turn("We decided to paint the lighthouse red.", "Noted.")
        memory.import_(notes)
        pair = [memory.add(f"Buoy number {n} blinks.").id for n in (1, 2)]
        memory.merge(pair)
    with Memory.open(store, embedder="hashing", channel="mcp") as agent:
        agent.add("Pilots board at the outer mark.")
        vectors = agent.stats().vectors
        assert vectors.missing == 0 and vectors.usable == agent.stats().alive


def _earnest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "earnest", "--store", str(folder / "m.db"), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_b51_an_id_that_is_not_known_is_a_loud_miss(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m.db", embedder="none") as memory:
        entry = memory.add("favourite colour is teal")
    for said in (entry.id[:8], "no-such-id"):
        ran = _earnest(tmp_path, "forget", said)
        assert ran.returncode != 0 and said in ran.stderr and "Traceback" not in ran.stderr
    listed = json.loads(_earnest(tmp_path, "list", "--json").stdout)
    assert [one["id"] for one in listed["entries"]] == [entry.id], "what is listed is the whole id, and the entry is still there"
    assert _earnest(tmp_path, "forget", entry.id).returncode == 0


@pytest.mark.parametrize(
    "row", [json.loads(line) for line in SECRETS.read_text(encoding="utf-8").splitlines()], ids=lambda row: str(row["text"])[:30]
)
def test_b131_secrets_of_a_turn_and_of_an_import_are_kept_nowhere(row: dict[str, Any], tmp_path: Path) -> None:
    from earnest.core.write_gate import Gate

    gone, kept = row["must_not_keep"], row["must_keep"]
    notes = tmp_path / "notes.md"
    notes.write_text(f"- {row['text'].splitlines()[0]}\n" if "\n" not in row["text"] else f"{row['text']}\n", encoding="utf-8")
    folder = tmp_path / "store"
    folder.mkdir()
    with Memory.open(folder / "m.db", embedder="none") as memory:
        memory.sync_turn(f"Remember this: {row['text']}", "ok")
        memory.import_(notes)
        memory.add(row["text"])
        assert any(kept in entry.text for entry in memory.list()), "the rest of the sentence stays"
    raw = b"".join(path.read_bytes() for path in folder.iterdir())
    if gone is None:
        assert Gate().passed(row["text"]).text == row["text"]
    elif not gone.startswith("("):
        assert gone.strip().encode() not in raw

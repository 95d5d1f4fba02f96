"""What was erased is in no byte of the store, of its log, of a copy made afterwards, and the store is as sound as before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import apsw
import pytest

from earnest import ALL, Memory
from earnest.core.erasing import Receipt, Subject
from earnest.embedders import HashingEmbedder
from earnest.errors import InvalidInput, KeyReused, NotAllowed, UnknownEntry
from earnest.ledger.decisions import request_digest
from earnest.recall.mirror import ChromaMirror
from earnest.stores.sqlite import erasing
from earnest.stores.sqlite.moving import INDEXES
from earnest.testing import SeededRng
from tests.unit.test_mirror import InMemory

CANARY: Final = "zqxwalrus7731"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "m.db", embedder=HashingEmbedder(64), rng=SeededRng(5)) as opened:
        for n in range(40):
            opened.add(f"Ordinary note number {n} about the harbour and its boats.", sources=["notes"], scope="bob" if n % 4 == 0 else "")
        yield opened


def everywhere(memory: Memory, path: Path, words: list[str], extra: str = "") -> list[str]:
    """In which files a word stands, whatever its case: the store's own, a backup that is made now, and an export."""
    copy = path.parent / f"copy{extra}.db"
    memory.backup(copy)
    found = []
    for file in sorted(path.parent.iterdir()):
        data = file.read_bytes().lower()
        found += [f"{word} in {file.name}" for word in words if word.lower().encode() in data]
    copy.unlink()
    return found


def planted(memory: Memory, **more: Any) -> Any:
    """An entry that leaves its words in as many places as possible."""
    entry = memory.add(
        f"The {CANARY} sleeps under the pier.", cue=f"Where does the {CANARY} sleep?", sources=[f"{CANARY}-diary"], tags=[f"{CANARY}-tag"],
        metadata={"who": f"{CANARY}-meta"}, key="plant", **more,
    )  # fmt: skip
    ticket = memory.decide(f"Where does the {CANARY} sleep at night?", scope=more.get("scope", ""))
    assert ticket.id is not None and ticket.deciding is not None and ticket.deciding.id == entry.id
    memory.settle(ticket.id, delta=1.0, meter="m", detail=f"{CANARY} was there", key="settled")
    memory.update(entry.id, metadata={"who": f"{CANARY}-again"})
    memory.decide(f"Does the {CANARY} sleep?", scope=more.get("scope", ""))
    beside = memory.add("The pier is old and made of wood.", scope=more.get("scope", ""), sources=["pier"])
    memory.link(entry.id, beside.id, reason=f"{CANARY} lives there")
    memory.feedback(entry.id, "helpful")
    return memory.get(entry.id)


def sound(memory: Memory) -> None:
    checked = memory.check()
    assert checked.ok, checked.problems


SUBJECTS: Final[dict[str, Any]] = {
    "entry": lambda entry: {"entry": entry.id},
    "source": lambda entry: {"source": f"{CANARY}-diary"},
    "text": lambda entry: {"text": CANARY.upper()},
    "scope": lambda entry: {"scope": "alice"},
}


@pytest.mark.parametrize("kind", SUBJECTS)
def test_no_byte_of_it_is_left(memory: Memory, tmp_path: Path, kind: str) -> None:
    entry = planted(memory, scope="alice" if kind == "scope" else "")
    before = len(memory.list(scope=ALL))
    assert everywhere(memory, tmp_path / "m.db", [CANARY], "-before")
    counted = memory.erase(**SUBJECTS[kind](entry), dry_run=True)
    many = 2 if kind == "scope" else 1
    assert counted.counts["entries"] == many and counted.counts["tickets"] == 2 and not counted.complete
    assert memory.get(entry.id).alive
    receipt = memory.erase(**SUBJECTS[kind](entry))
    assert receipt.complete and receipt.counts["entries"] == many and receipt.probed == {"keyword": 0, "dense": 0, "file": 0}
    gone = [CANARY, "alice"] if kind == "scope" else [CANARY]
    assert everywhere(memory, tmp_path / "m.db", gone) == []
    assert CANARY not in repr(receipt)
    assert len(memory.list(scope=ALL)) == before - many
    assert memory.search(f"where does the {CANARY} sleep", scope=ALL, mode="keyword") == []
    assert entry.id not in [hit.entry.id for hit in memory.search(f"The {CANARY} sleeps under the pier.", scope=ALL, mode="dense", k=50)]
    sound(memory)


def test_a_tombstone_stays_with_its_id_and_nothing_else(memory: Memory) -> None:
    entry = planted(memory)
    memory.erase(entry=entry.id)
    left = memory.get(entry.id)
    assert (left.cause, left.text, left.cue, left.sources, left.tags, left.metadata) == ("erased", "", None, (), (), {})
    assert left.balance == 0 and "erased" in memory.obituary(entry.id)
    event = memory.events(kind="erase", limit=1)[0]
    assert event.entries == (entry.id,) and event.data["subject"] == "entry" and CANARY not in repr(memory.events(limit=10_000))
    for call in (lambda: memory.restore(entry.id), lambda: memory.undo(event.seq)):
        with pytest.raises(NotAllowed):
            call()


def test_an_unscoped_erasure_is_refused(memory: Memory) -> None:
    before = memory.stats().alive
    for wrong in ({}, {"text": "  "}, {"text": "ab"}, {"scope": 7}, {"source": ""}, {"entry": 3}):
        with pytest.raises(InvalidInput):
            memory.erase(**wrong)
    with pytest.raises(UnknownEntry):
        memory.erase(entry="nosuchentry")
    assert memory.stats().alive == before


def test_versions_and_merges_go_with_it_and_bystanders_come_back(memory: Memory, tmp_path: Path) -> None:
    first = memory.add(f"The {CANARY} eats fish.")
    second = memory.update(first.id, text=f"The {CANARY} eats fish and mussels.")
    other = memory.add("Seals eat fish and squid.")
    heir = memory.merge([second.id, other.id])
    receipt = memory.erase(entry=first.id)
    assert receipt.complete and receipt.released == (other.id,)
    assert [memory.get(e.id).cause for e in (first, second, heir)] == ["erased"] * 3
    assert memory.get(other.id).standing == "active" and memory.get(other.id).balance > 0
    assert everywhere(memory, tmp_path / "m.db", [CANARY]) == []
    assert memory.search("what do seals eat")[0].entry.id == other.id
    sound(memory)


def test_a_version_without_the_text_outlives_it(memory: Memory, tmp_path: Path) -> None:
    old = memory.add(f"The door word is {CANARY}.")
    new = memory.update(old.id, text="The door word is kept in the safe.")
    assert memory.erase(text=CANARY).complete
    assert memory.get(new.id).alive and memory.get(old.id).cause == "erased"
    assert everywhere(memory, tmp_path / "m.db", [CANARY]) == []
    sound(memory)


def test_what_two_sources_say_loses_only_the_source(memory: Memory, tmp_path: Path) -> None:
    memory.add("The pier closes at nine.", sources=["A-file"])
    both = memory.add("The pier closes at nine.", sources=["B-file"])
    alone = memory.add("The lighthouse is white.", sources=["A-file"])
    memory.erase(source="A-file")
    assert memory.get(both.id).sources == ("B-file",) and memory.get(alone.id).cause == "erased"
    assert everywhere(memory, tmp_path / "m.db", ["A-file", "lighthouse"]) == []
    sound(memory)


def test_the_dead_and_the_executed_are_erased_too(memory: Memory, tmp_path: Path) -> None:
    entry = memory.add(f"Always delete {CANARY} first.")
    for _ in range(12):
        ticket = memory.decide(f"May I delete {CANARY} first?")
        if ticket.id is None:
            break
        memory.settle(ticket.id, delta=-100.0, meter="disk", scale=1.0)
    for _ in range(40):
        memory.tick()
        found = memory.decide("Ordinary note number 1 about the harbour?")
        if found.id is not None:
            memory.settle(found.id, delta=1.0, meter="disk", scale=1.0)
    assert memory.get(entry.id).cause == "executed"
    assert memory.erase(text=CANARY).complete
    assert memory.get(entry.id).cause == "erased" and everywhere(memory, tmp_path / "m.db", [CANARY]) == []
    sound(memory)


def test_a_request_that_wrote_it_cannot_be_repeated_and_the_receipt_can(memory: Memory) -> None:
    entry = planted(memory)
    first = memory.erase(entry=entry.id, key="gone")
    assert memory.erase(entry=entry.id, key="gone") == first
    with pytest.raises(KeyReused):
        memory.erase(entry=memory.list()[0].id, key="gone")
    assert memory.list()[0].alive
    with pytest.raises(KeyReused):
        planted(memory)


def test_questions_about_it_that_no_entry_answered_go_by_text(memory: Memory, tmp_path: Path) -> None:
    ticket = memory.decide(f"Is ordinary note number 3 about the harbour like the {CANARY}?")
    assert ticket.id is not None
    memory.settle(ticket.id, delta=1.0, meter="m", detail=f"said {CANARY}")
    assert memory.erase(text=CANARY).complete
    assert everywhere(memory, tmp_path / "m.db", [CANARY]) == []
    sound(memory)


def test_another_process_that_reads_is_named_as_what_keeps_it(memory: Memory, tmp_path: Path) -> None:
    entry = planted(memory)
    reader = apsw.Connection(str(tmp_path / "m.db"), flags=apsw.SQLITE_OPEN_READONLY)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM entries").fetchall()
    with Memory.open(tmp_path / "m.db", timeout=0.1) as impatient:
        receipt = impatient.erase(entry=entry.id)
    assert not receipt.complete and any("compact" in sentence for sentence in receipt.left)
    reader.close()
    assert memory.compact().left == ()
    assert everywhere(memory, tmp_path / "m.db", [CANARY]) == []


def test_a_large_scope_goes_in_parts(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m.db") as memory:
        memory.add_many({"text": f"Secret number {n} of the {CANARY}.", "scope": "alice"} for n in range(2_500))
        memory.add("Something of bob's.", scope="bob")
        receipt = memory.erase(scope="alice")
        assert receipt.complete and receipt.counts["entries"] == 2_500 and len(memory.events(kind="erase", limit=10)) == 3
        assert everywhere(memory, tmp_path / "m.db", [CANARY, "alice"]) == []
        assert memory.list(scope=ALL)[0].text == "Something of bob's."
        sound(memory)


@pytest.mark.parametrize("end", ["backup-format-1", "before-restore-2"])
def test_a_copy_that_lies_beside_it_is_named(tmp_path: Path, memory: Memory, end: str) -> None:
    entry = planted(memory)
    memory.backup(tmp_path / f"m.db.{end}")
    receipt = memory.erase(entry=entry.id)
    assert not receipt.complete and end in receipt.left[0] and receipt.probed["file"] > 0


def test_every_column_that_can_hold_words_says_what_erasing_does_with_it(memory: Memory, tmp_path: Path) -> None:
    db: Any = apsw.Connection(str(tmp_path / "m.db"), flags=apsw.SQLITE_OPEN_READONLY)
    unknown = []
    for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        if table.startswith("sqlite_") or any(table.startswith(f"{index}_") for index in INDEXES):
            continue
        for _, column, kind, *_ in db.execute(f"PRAGMA table_xinfo({table})").fetchall():
            if kind in ("INTEGER", "REAL") or column in (table, "rank"):
                continue
            if column not in erasing.EMPTIED.get(table, {}) and column not in erasing.WORDLESS.get(table, frozenset()):
                unknown.append(f"{table}.{column}")
    db.close()
    assert unknown == [], "say in EMPTIED what erasing does with it, and do it; or in WORDLESS that it holds nobody's words"


def test_a_key_keeps_nothing_that_could_be_guessed_at(memory: Memory, tmp_path: Path) -> None:
    planted(memory)
    memory.erase(text=CANARY, key="gone")
    db: Any = apsw.Connection(str(tmp_path / "m.db"), flags=apsw.SQLITE_OPEN_READONLY)
    kept = [bytes(request) for (request,) in db.execute("SELECT request FROM keys")]
    db.close()
    guesses = [request_digest("erase", {**said, "dry_run": False}) for said in ({"text": CANARY}, asdict(Subject(text=CANARY)))]
    assert kept and not {*kept} & {*guesses}


def test_a_scope_that_has_it_in_its_name_is_told_without_naming_it(memory: Memory) -> None:
    memory.add("Something in another scope.", scope=f"{CANARY}-room")
    receipt = memory.erase(text=CANARY)
    assert not receipt.complete and "scopes" in receipt.left[0] and CANARY not in repr(receipt)
    assert memory.erase(scope=f"{CANARY}-room").complete and memory.erase(text=CANARY).complete


def test_a_mirror_drops_what_was_erased_when_it_follows(memory: Memory) -> None:
    entry = planted(memory)
    collection = InMemory()
    mirror = ChromaMirror(memory, collection)
    mirror.follow()
    assert entry.id in collection.items
    memory.erase(entry=entry.id)
    mirror.follow()
    assert entry.id not in collection.items and CANARY not in repr(collection.items)


def test_a_receipt_says_whether_it_is_complete() -> None:
    assert Receipt("entry", False, {}) and not Receipt("entry", True, {}) and not Receipt("entry", False, {}, left=("x",))

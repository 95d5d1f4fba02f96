"""Old events go into a file: the store stays sound, the chain goes on through them, and the file is verified against it."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from earnest import Memory
from earnest.encoding import demo_corpus
from earnest.errors import InvalidInput, NotAllowed, NotUndoable, StoreError
from earnest.testing import ManualClock, SeededRng


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    clock = ManualClock(datetime(2026, 3, 1, tzinfo=UTC))
    with Memory.open(tmp_path / "m.db", clock=clock, rng=SeededRng(4)) as opened:
        opened.encode(demo_corpus())
        opened.meters.add("disk", unit="bytes", scale=4096)
        opened.forget(opened.add("Nobody needs this.").id)
        for n in range(60):
            ticket = opened.decide("Is it safe to delete an old log file?" if n % 2 else "May a cache file be deleted?")
            if ticket.id is not None:
                opened.settle(ticket.id, delta=4096.0 if n % 5 else -4096.0, meter="disk", detail=f"run {n}")
            opened.control(delta=1.0, meter="disk")
            if n % 3 == 0:
                opened.tick()
        opened.decide("May a cache file be deleted?")
        yield opened


def test_a_store_is_as_sound_after_it_as_before(memory: Memory, tmp_path: Path) -> None:
    head, before = memory.check().head, memory.stats()
    entries, uplift = memory.list(), [memory.get(e.id) for e in memory.list()]
    report = memory.archive(tmp_path / "log.jsonl", keep=100)
    assert report.events > 50 and report.first < report.last
    checked = memory.check(head=head)
    assert checked.ok, checked.problems
    after = memory.stats()
    assert (after.energy, after.accounts, after.tick, after.settled, after.decisions) == (
        before.energy, before.accounts, before.tick, before.settled, before.decisions,
    )  # fmt: skip
    assert memory.list() == entries and [memory.get(e.id) for e in entries] == uplift
    assert memory.check_archive(tmp_path / "log.jsonl") == ()
    assert memory.settle(memory.pending()[0].id, delta=1.0, meter="disk").landed
    memory.tick()
    memory.restore(memory.list(standing="dead")[0].id)
    assert memory.check(head=head).ok and memory.check(repair=True).ok
    assert all(event.kind != "settle" or event.seq > report.first for event in memory.events(limit=10_000))


def test_the_file_shrinks_and_can_move_with_its_archive(memory: Memory, tmp_path: Path) -> None:
    for n in range(300):
        memory.control(delta=float(n), meter="disk")
    small = memory.compact().after
    memory.archive(tmp_path / "log.jsonl", keep=100)
    assert memory.compact().after < small
    first = memory.export(tmp_path / "x.jsonl")
    with Memory.open(tmp_path / "b.db") as other:
        assert other.import_(tmp_path / "x.jsonl").restored
        assert other.check().ok and other.export(io.BytesIO()).sha256 == first.sha256
        assert other.check_archive(tmp_path / "log.jsonl") == ()


def test_archives_follow_each_other(memory: Memory, tmp_path: Path) -> None:
    first = memory.archive(tmp_path / "1.jsonl", keep=150)
    for n in range(200):
        memory.control(delta=float(n), meter="disk")
    second = memory.archive(tmp_path / "2.jsonl", keep=100)
    assert second.first > first.last or second.events
    assert memory.check_archive(tmp_path / "1.jsonl") == memory.check_archive(tmp_path / "2.jsonl") == () and memory.check().ok
    with pytest.raises(NotAllowed, match="nothing to archive"):
        memory.archive(tmp_path / "3.jsonl", keep=10_000)
    assert not (tmp_path / "3.jsonl").exists()


def test_an_archive_that_was_changed_or_is_anothers_is_found(memory: Memory, tmp_path: Path) -> None:
    from earnest.moving.records import Header
    from earnest.moving.streams import read_export, rows_of, write_export

    memory.archive(tmp_path / "log.jsonl", keep=100)
    with (tmp_path / "log.jsonl").open("rb") as file:
        read_export(file)
        rows = [(table, dict(values)) for table, values in rows_of(file)]
    settled = next(values for table, values in rows if table == "events" and values["kind"] == "settle")
    settled["data"] = json.dumps({**json.loads(settled["data"]), "delta": 1e9})
    with (tmp_path / "forged.jsonl").open("wb") as file:
        write_export(file, Header("default", 3, False), rows)
    problems = memory.check_archive(tmp_path / "forged.jsonl")
    assert any("no archive of this store" in problem for problem in problems)
    assert any(f"event {settled['event']} " in problem for problem in problems)
    data = (tmp_path / "log.jsonl").read_bytes()
    (tmp_path / "log.jsonl").write_bytes(data[:-50])
    with pytest.raises(InvalidInput):
        memory.check_archive(tmp_path / "log.jsonl")
    with pytest.raises(StoreError):
        memory.check_archive(tmp_path / "nothing.jsonl")


def test_a_file_that_is_there_is_not_replaced_and_nothing_is_archived(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text("mine", encoding="utf-8")
    events = len(memory.events(limit=10_000))
    with pytest.raises(StoreError, match="already"):
        memory.archive(tmp_path / "log.jsonl", keep=100)
    with pytest.raises(InvalidInput):
        memory.archive(tmp_path / "x.jsonl", keep=10)
    assert len(memory.events(limit=10_000)) == events and memory.check().ok


def test_an_archive_holds_no_texts_and_is_not_undone(memory: Memory, tmp_path: Path) -> None:
    memory.archive(tmp_path / "log.jsonl", keep=100)
    said = (tmp_path / "log.jsonl").read_text(encoding="utf-8")
    assert "log file" not in said and "cache" not in said and "run 1" not in said
    event = memory.events(kind="archive", limit=1)[0]
    for seq in (event.seq, memory.events(kind="archived", limit=1)[0].seq):
        with pytest.raises(NotUndoable):
            memory.undo(seq)


def test_what_is_erased_later_is_in_no_archive(memory: Memory, tmp_path: Path) -> None:
    memory.archive(tmp_path / "log.jsonl", keep=100)
    victim = memory.list()[0]
    assert memory.erase(entry=victim.id).complete and memory.check().ok
    assert victim.text.encode() not in b"".join(item.read_bytes() for item in tmp_path.iterdir())

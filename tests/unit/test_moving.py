"""Exports come back identical; imports come in once, on probation; what is damaged is refused before anything is written."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from earnest import ALL, Memory
from earnest.embedders import HashingEmbedder
from earnest.encoding import demo_corpus
from earnest.errors import InvalidInput, KeyReused, StoreError, StoreReadOnly, StoreTooNew
from earnest.moving.records import Header, header_line
from earnest.moving.streams import read_export, rows_of
from earnest.testing import ManualClock, SeededRng


def lived(path: Path, seed: int = 3) -> Memory:
    """A memory with something of everything."""
    clock = ManualClock(datetime(2026, 3, 1, 9, 30, 15, 123456, tzinfo=UTC))
    memory = Memory.open(path, agent="ops", embedder=HashingEmbedder(64), clock=clock, rng=SeededRng(seed), settings={"holdout": 0.2})
    memory.encode(demo_corpus())
    memory.add(
        "Alice's dog is called Rex.", scope="alice", tags=["pet", "ß"], metadata={"deep": {"list": [1, 2.5, None, "é"]}}, importance=0.9
    )
    old = memory.add("The office opens at nine.", cue="When does the office open?", sources=["wiki"], key="office")
    memory.update(old.id, text="The office opens at eight.")
    a, b = memory.add("Red wine stains."), memory.add("Red wine stains linen.")
    memory.merge([a.id, b.id])
    gone = memory.add("Nobody needs this.")
    memory.forget(gone.id, reason="said so")
    memory.pin(memory.add("Never push on a Friday.", kind="procedural", retention="kept").id)
    memory.add("when deploying", cue="deploy", kind="rule", retention="kept")
    for status in ("active", "rejected", "pending"):
        rule = memory.rules.add("avoid", trigger=f"deploying {status}", action=f"wait for a {status} day")
        if status != "pending":
            memory.rules.verify(rule.id, accept=status == "active")
    walk, dog = memory.add("Rex likes long walks.", scope="alice"), next(e for e in memory.list(scope="alice"))
    memory.link(walk.id, dog.id, reason="the same dog")
    memory.feedback(walk.id, "helpful")
    memory.sync_turn("We decided to use PostgreSQL for the billing service.", "Good choice.", scope="alice")
    memory.meters.add("disk", unit="bytes", scale=4096)
    for n, delta in enumerate([4096, -4096, 8192, -8192]):
        ticket = memory.decide("Is it safe to delete an old log file?" if n % 2 else "May a cache file be deleted?")
        if ticket.id is not None:
            memory.settle(ticket.id, delta=delta, meter="disk", detail=f"run {n}", key=f"settle {n}")
        memory.control(delta=1.0, meter="disk")
        clock.advance(days=1)
        memory.tick()
    memory.decide("When does the office open?")
    return memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with lived(tmp_path / "a.db") as opened:
        yield opened


def counts(memory: Memory) -> dict[str, int]:
    return dict(memory.export(io.BytesIO(), vectors=True).counts)


@pytest.mark.parametrize("vectors", [False, True])
def test_a_restore_is_identical(memory: Memory, tmp_path: Path, vectors: bool) -> None:
    first = memory.export(tmp_path / "x.jsonl", vectors=vectors)
    with Memory.open(tmp_path / "b.db", agent="ops") as other:
        report = other.import_(tmp_path / "x.jsonl")
        assert report.restored and report.counts == first.counts and report.notes == ()
        assert other.export(tmp_path / "y.jsonl", vectors=vectors).sha256 == first.sha256
        checked = other.check(head=memory.check().head)
        assert checked.ok, checked.problems
        assert other.list(scope=ALL, standing="dead") == memory.list(scope=ALL, standing="dead")
        assert other.list(scope=ALL) == memory.list(scope=ALL) and other.settings == memory.settings
        assert other.stats().accounts == memory.stats().accounts
        assert other.rules.list() == memory.rules.list() and len(memory.rules.list()) == 4
        dog = next(e for e in memory.list(scope="alice") if "Rex." in e.text)
        assert other.related(dog.id) == memory.related(dog.id) != []
        # The same request comes back with what it did before.
        assert (
            other.add("The office opens at nine.", cue="When does the office open?", sources=["wiki"], key="office").cause == "superseded"
        )
        open_ticket = memory.pending()[0].id
        assert other.settle(open_ticket, delta=1.0, meter="disk").landed
        assert other.undo(next(e.seq for e in other.events(kind="merge", limit=5)))
        assert other.check().ok
    with Memory.open(tmp_path / "c.db", embedder=HashingEmbedder(64)) as again:
        again.import_(tmp_path / "x.jsonl")
        usable = memory.stats().vectors.usable
        assert (again.stats().vectors.usable, again.stats().vectors.missing) == ((usable, 0) if vectors else (0, usable))
        question = "Is it safe to delete an old log file?"
        assert again.search(question, k=1)[0].entry == memory.search(question, k=1)[0].entry


def test_importing_again_adds_nothing(memory: Memory, tmp_path: Path) -> None:
    memory.export(tmp_path / "x.jsonl")
    with Memory.open(tmp_path / "b.db") as other:
        other.import_(tmp_path / "x.jsonl")
        before = counts(other)
        report = other.import_(tmp_path / "x.jsonl")
        assert not report.restored and (report.added, report.joined) == (0, 0) and report.already > 0
        assert counts(other) == before


def test_into_a_store_in_use_entries_come_on_probation_once(memory: Memory, tmp_path: Path) -> None:
    memory.export(tmp_path / "x.jsonl")
    with Memory.open(tmp_path / "b.db", rng=SeededRng(9)) as other:
        mine = other.add("Alice's dog is called Rex.", scope="alice", sources=["me"])
        planned = other.import_(tmp_path / "x.jsonl", dry_run=True)
        assert other.stats().total == 1
        report = other.import_(tmp_path / "x.jsonl")
        assert (planned.added, planned.joined, planned.already) == (report.added, report.joined, report.already)
        living = memory.list(scope=ALL) + memory.list(scope=ALL, kind="rule")
        assert report.added == sum(e.standing == "active" for e in living) - 1 and report.already == 1
        assert any("decisions" in skipped.reason for skipped in report.skipped)
        office = next(e for e in memory.list() if "eight" in e.text)
        copied = other.get(office.id)
        assert (copied.text, copied.created, copied.cue, copied.sources, copied.version) == (
            office.text,
            office.created,
            office.cue,
            office.sources,
            2,
        )
        assert other.decide("When does the office open?").id is None
        assert other.search("When does the office open?")[0].entry.id == office.id
        again = other.import_(tmp_path / "x.jsonl")
        assert again.added == again.joined == 0 and other.stats().total == report.added + 1
        assert other.get(mine.id).sources == ("me",)
        assert report.linked == 1 and again.linked == 0
        assert other.check().ok


def test_a_secret_in_what_comes_in_is_kept_nowhere(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    with Memory.open(tmp_path / "a.db", settings={"redact": "none"}) as source, Memory.open(tmp_path / "b.db") as here:
        source.add(f"The token of the bot is {secret}.", metadata={"note": secret})
        source.export(tmp_path / "x.jsonl")
        here.add("Something of its own.")
        assert here.import_(tmp_path / "x.jsonl", key="k").added == 1
        assert "[redacted" in here.list()[1].text
    assert secret.encode() in (tmp_path / "a.db").read_bytes() and secret.encode() not in (tmp_path / "b.db").read_bytes()


def test_an_import_that_is_trusted_decides_at_once(memory: Memory, tmp_path: Path) -> None:
    memory.export(tmp_path / "x.jsonl")
    with Memory.open(tmp_path / "b.db") as other:
        other.add("Something of its own.")
        other.import_(tmp_path / "x.jsonl", probation=0, scope="new")
        assert other.decide("When does the office open?", scope="new").id is not None
        assert other.list(scope="alice") == []


def test_what_was_executed_here_comes_in_suspended(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "a.db") as source, Memory.open(tmp_path / "b.db") as here:
        source.add("Delete the backups before midnight.")
        source.export(tmp_path / "x.jsonl")
        entry = here.add("Delete the backups before midnight.")
        for _ in range(12):
            ticket = here.decide("May I delete the backups before midnight?")
            if ticket.id is None:
                break
            here.settle(ticket.id, delta=-1.0, meter="m")
        assert here.get(entry.id).standing == "suspended"
        here.import_(tmp_path / "x.jsonl", probation=0)
        assert all(e.standing == "suspended" for e in here.list())


@pytest.mark.parametrize(
    ("name", "spoil"),
    {
        "cut off": lambda data: data[: len(data) // 2],
        "without its end": lambda data: b"\n".join(data.splitlines()[:-1]) + b"\n",
        "a row changed": lambda data: data.replace(b"eight", b"seven"),
        "a row lost": lambda data: b"\n".join([*data.splitlines()[:9], *data.splitlines()[10:]]) + b"\n",
        "two glued": lambda data: data + data,
        "another header": lambda data: data.replace(b'"agent":"ops"', b'"agent":"spo"', 1),
        "no JSON": lambda data: data.replace(b'{"settings"', b'{{"settings"', 1),
        "deep": lambda data: data.splitlines()[0] + b"\n" + b"[" * 200_000 + b"\n",
        "NaN": lambda data: data.replace(b'"importance":0.9', b'"importance":NaN', 1),
        "a huge line": lambda data: data.splitlines()[0] + b"\n" + b'{"entries":"' + b"x" * (17 << 20) + b'"}\n',
        "empty": lambda data: b"",
        "bytes": lambda data: data.splitlines()[0] + b"\n\xff\xfe\x00\n",
    }.items(),
)
def test_a_damaged_export_is_refused_whole(memory: Memory, tmp_path: Path, name: str, spoil: Callable[[bytes], bytes]) -> None:
    memory.export(tmp_path / "x.jsonl")
    (tmp_path / "x.jsonl").write_bytes(spoil((tmp_path / "x.jsonl").read_bytes()))
    with Memory.open(tmp_path / "b.db") as other:
        with pytest.raises(InvalidInput):
            other.import_(tmp_path / "x.jsonl", format="earnest")
        assert other.stats().total == 0 and other.check().ok


def test_rows_that_no_store_would_take_are_refused_whole(memory: Memory, tmp_path: Path) -> None:
    rows: list[tuple[str, dict[str, Any]]] = []
    memory.export(tmp_path / "x.jsonl")
    with (tmp_path / "x.jsonl").open("rb") as file:
        header, _ = read_export(file)
        rows = [(table, dict(values)) for table, values in rows_of(file)]
    from earnest.moving.streams import write_export

    def spoilt(change: Callable[[list[tuple[str, dict[str, Any]]]], None]) -> Path:
        changed = [(table, dict(values)) for table, values in rows]
        change(changed)
        with (tmp_path / "bad.jsonl").open("wb") as file:
            write_export(file, header, changed)
        return tmp_path / "bad.jsonl"

    def entry(changed: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
        return next(values for table, values in changed if table == "entries")

    for change in (
        lambda changed: entry(changed).update(importance=7.0),
        lambda changed: entry(changed).update(standing="undead"),
        lambda changed: entry(changed).update(scope=99),
        lambda changed: entry(changed).update(secret="x"),
        lambda changed: changed.append(("sqlite_schema", {"name": "x"})),
        lambda changed: changed.append(("entries", dict(entry(changed)))),
    ):
        with Memory.open(tmp_path / "b.db") as other:
            with pytest.raises(StoreError):
                other.import_(spoilt(change))
            assert other.stats().total == 0 and other.check().ok


def test_a_later_format_is_refused(tmp_path: Path) -> None:
    from earnest.moving.streams import write_export

    with (tmp_path / "x.jsonl").open("wb") as file:
        write_export(file, Header("a", 999, False), [])
    (tmp_path / "y.jsonl").write_bytes(header_line(Header("a", 1, False, export=2)))
    with Memory.open(tmp_path / "b.db") as memory:
        with pytest.raises(StoreTooNew, match="upgrade"):
            memory.import_(tmp_path / "x.jsonl")
        with pytest.raises(InvalidInput, match="upgrade"):
            memory.import_(tmp_path / "y.jsonl")


@pytest.mark.parametrize("number", [1, 2])
def test_an_export_of_an_earlier_format_comes_back(number: int, tmp_path: Path) -> None:
    import apsw

    from earnest.moving.streams import write_export
    from earnest.stores.sqlite import moving

    source = Path(__file__).parents[1] / "data" / "formats" / f"format-{number}.db"
    db = apsw.Connection(f"file:{source}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    with (tmp_path / "x.jsonl").open("wb") as file:
        write_export(file, Header("default", number, True), moving.dump(db, vectors=True))
    db.close()
    said = json.loads(source.with_suffix(".json").read_text(encoding="utf-8"))
    with Memory.open(tmp_path / "b.db") as memory:
        assert memory.import_(tmp_path / "x.jsonl").restored
        checked = memory.check(head=said["head"])
        assert checked.ok, checked.problems
        assert memory.stats().alive == said["counts"]["alive"] and memory.stats().dead == said["counts"]["dead"]


def test_an_export_appears_whole_or_not_at_all(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "there.jsonl").write_text("mine", encoding="utf-8")
    with pytest.raises(StoreError, match="already"):
        memory.export(tmp_path / "there.jsonl")
    assert (tmp_path / "there.jsonl").read_text(encoding="utf-8") == "mine"
    with pytest.raises(StoreError):
        memory.export(tmp_path / "no folder" / "x.jsonl")

    def stop(done: int) -> None:
        raise KeyboardInterrupt

    memory.add_many({"text": f"Note {n}."} for n in range(1_200))
    with pytest.raises(KeyboardInterrupt):
        memory.export(tmp_path / "x.jsonl", progress=stop)
    assert sorted(item.name for item in tmp_path.iterdir() if "jsonl" in item.name) == ["there.jsonl"]
    memory.export(tmp_path / "there.jsonl", overwrite=True)
    with (tmp_path / "there.jsonl").open("rb") as file:
        assert read_export(file)[1].counts["entries"] > 1_200


def test_an_export_is_one_snapshot_while_others_write(memory: Memory, tmp_path: Path) -> None:
    before = counts(memory)

    def meddle(done: int) -> None:
        memory.add(f"Written while exporting, after {done} rows.")

    memory.add_many({"text": f"Note {n}."} for n in range(1_500))
    before = counts(memory)
    report = memory.export(tmp_path / "x.jsonl", vectors=True, progress=meddle)
    assert report.counts == before and memory.stats().total > before["entries"]
    with Memory.open(tmp_path / "b.db") as other:
        assert other.import_(tmp_path / "x.jsonl").restored and other.check().ok


def test_arguments_are_checked_at_the_door(memory: Memory, tmp_path: Path) -> None:
    memory.export(tmp_path / "x.jsonl")
    for call in (
        lambda: memory.export(""), lambda: memory.export(tmp_path / "y", format="xml"), lambda: memory.export(tmp_path / "y", vectors=1),  # type: ignore[arg-type]
        lambda: memory.export(tmp_path / "y", format="markdown", vectors=True), lambda: memory.export(tmp_path / "y", scope="a"),
        lambda: memory.import_(tmp_path / "x.jsonl", probation=-1), lambda: memory.import_(tmp_path / "x.jsonl", probation=True),
        lambda: memory.import_(tmp_path / "x.jsonl", format="zip"), lambda: memory.import_(tmp_path / "x.jsonl", scope="\n"),
    ):  # fmt: skip
        with pytest.raises(InvalidInput):
            call()
    with pytest.raises(StoreError, match="no such file"):
        memory.import_(tmp_path / "nothing.jsonl")


def test_a_key_brings_the_first_report_back(memory: Memory, tmp_path: Path) -> None:
    memory.export(tmp_path / "x.jsonl")
    with Memory.open(tmp_path / "b.db") as other:
        other.add("Mine.")
        first = other.import_(tmp_path / "x.jsonl", key="k")
        assert other.import_(tmp_path / "x.jsonl", key="k") == first
        with pytest.raises(KeyReused):
            other.import_(tmp_path / "x.jsonl", key="k", probation=1)


def test_a_reader_exports_and_cannot_import(memory: Memory, tmp_path: Path) -> None:
    memory.export(tmp_path / "x.jsonl")
    memory.close()
    with Memory.open(tmp_path / "a.db", read_only=True) as reader:
        reader.export(tmp_path / "y.jsonl")
        assert (tmp_path / "y.jsonl").read_bytes().splitlines()[1:-1] == (tmp_path / "x.jsonl").read_bytes().splitlines()[1:-1]
        with pytest.raises(StoreReadOnly):
            reader.import_(tmp_path / "x.jsonl")


def test_markdown_is_for_people_and_nothing_in_it_is_a_mark(memory: Memory, tmp_path: Path) -> None:
    hostile = memory.add("# no heading\n- no item <script>alert(1)</script> [no](link) `no code`\n1. no list")
    report = memory.export(tmp_path / "x.md", format="markdown")
    text = (tmp_path / "x.md").read_text(encoding="utf-8")
    assert sum(report.counts.values()) == len(memory.list(scope=ALL)) + len(memory.list(scope=ALL, kind="rule"))
    assert text.count("\n# ") == 0 and "<script>" not in text and "\\[no\\](link)" in text and f"`{hostile.id}`" in text
    assert "## Procedural, default scope" in text and "## Semantic, scope alice" in text and "pinned" in text
    report = memory.export(tmp_path / "y.md", format="markdown", scope="alice")
    assert sum(report.counts.values()) == len(memory.list(scope="alice")) > 1


@given(
    st.text(max_size=200),
    st.dictionaries(
        st.text(max_size=8),
        st.one_of(st.text(max_size=20), st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**63) + 1, 2**63 - 1)),
        max_size=4,
    ),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_and_metadata_come_back(tmp_path: Path, text: str, metadata: dict[str, Any]) -> None:
    with Memory.open(":memory:") as memory, Memory.open(":memory:") as other:
        entry = memory.add("x" + text, metadata=metadata)
        first = memory.export(tmp_path / "h.jsonl", overwrite=True)
        other.import_(tmp_path / "h.jsonl")
        assert other.get(entry.id) == entry
        assert other.export(io.BytesIO()).sha256 == first.sha256


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: b"\xef\xbb\xbf" + raw,
        lambda raw: raw.replace(b"\n", b"\r\n"),
        lambda raw: b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n"),
        lambda raw: raw[:-1],
    ],
    ids=["a mark of its encoding", "other ends of lines", "both", "no end of the last line"],
)
def test_what_another_system_makes_of_the_lines_of_an_export_is_no_damage(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    with Memory.open(tmp_path / "a.db", embedder="none") as memory:
        memory.add("Keep the valve shut.\r\nAnd the tap.\u2028Always.", metadata={"a\r": "b\n"})
        digest = memory.export(tmp_path / "a.jsonl").sha256
    (tmp_path / "b.jsonl").write_bytes(change((tmp_path / "a.jsonl").read_bytes()))
    with Memory.open(tmp_path / "b.db", embedder="none") as memory:
        assert memory.import_(tmp_path / "b.jsonl").restored
        assert memory.export(tmp_path / "c.jsonl").sha256 == digest and memory.check().ok


def test_a_store_of_earnest_is_no_file_of_another_program(tmp_path: Path) -> None:
    """Read as tables, its dead would come alive: what was forgotten, executed or superseded."""
    with Memory.open(tmp_path / "a.db", embedder="none") as memory:
        memory.forget(memory.add("The bridge is open on Sundays.").id)
        memory.backup(tmp_path / "backup")
    with Memory.open(tmp_path / "b.db", embedder="none") as memory:
        for name in ("a.db", "backup"):
            for format in ("auto", "mnemosyne"):
                with pytest.raises(InvalidInput, match="earnest export --store"):
                    memory.import_(tmp_path / name, format=format)
        assert memory.stats().total == 0


def test_an_empty_file_is_said_to_be_empty(tmp_path: Path) -> None:
    (tmp_path / "nothing.jsonl").write_bytes(b"")
    with Memory.open(":memory:", embedder="none") as memory, pytest.raises(InvalidInput, match="is empty"):
        memory.import_(tmp_path / "nothing.jsonl")


@pytest.mark.parametrize("verb", ["export", "backup"])
@pytest.mark.parametrize("leads", ["nowhere.db", "link"], ids=["a link that leads nowhere", "one that leads to itself"])
def test_a_link_is_there_already(tmp_path: Path, verb: str, leads: str) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / leads)
    with Memory.open(tmp_path / "a.db", embedder="none") as memory:
        memory.add("Keep the valve shut.")
        with pytest.raises(StoreError, match="is there already"):
            getattr(memory, verb)(link)
    assert link.is_symlink() and not (tmp_path / "nowhere.db").exists()

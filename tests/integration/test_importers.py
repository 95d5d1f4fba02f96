"""What other programs leave behind comes in: everything that can be carried is, everything else is told, and never twice."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from darwin_memo import Ledger, MemoryEntry, MemoryStore

from earnest import ALL, Memory
from earnest.core.moving import ImportReport
from earnest.errors import EarnestError, InvalidInput, StoreError

MEM0: Final = Path(__file__).parents[1] / "data" / "mem0"
CHATS: Final = Path(__file__).parents[1] / "cases" / "data" / "files" / "chat"


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with Memory.open(tmp_path / "m.db") as opened:
        yield opened


def reasons(report: ImportReport) -> str:
    return "\n".join(f"{skipped.reason}: {skipped.text}" for skipped in report.skipped)


def twice(memory: Memory, path: Path, **more: Any) -> ImportReport:
    """Import, having planned it, and again: the plan was right, and the second time adds nothing."""
    plan = memory.import_(path, dry_run=True, **more)
    assert memory.stats().total == 0
    report = memory.import_(path, **more)
    assert (plan.added, plan.joined, plan.already, plan.dead, plan.skipped) == (
        report.added, report.joined, report.already, report.dead, report.skipped,
    )  # fmt: skip
    events = memory.events(limit=100_000)
    again = memory.import_(path, **more)
    assert (again.added, again.joined) == (0, 0) and again.already == report.added + report.already
    assert memory.events(limit=100_000) == events
    assert memory.check().ok
    return report


# darwin-memo


def darwin(folder: Path) -> tuple[Path, Any, Any]:
    """A store as darwin-memo 0.7.1 itself writes it, with deaths, a merge, history, an open ticket and a log."""
    path = folder / "memory.json"
    store = MemoryStore()
    ledger = Ledger(store, event_log=folder / "memory.events.jsonl")
    for n, (question, answer) in enumerate(
        [
            ("May old log files be deleted?", "Old log files under logs/ may be deleted after seven days."),
            ("May backups be deleted?", "Backups may be deleted at any time to free space."),
            ("Wer räumt auf?", "Der Cron räumt nachts auf – täglich um zwei."),
        ]
    ):
        made = ledger.add(question, answer, source=f"doc-{n}")
    ledger.pin(made.id)
    for place in ("", " today"):
        store.add(MemoryEntry("Where is the wiki?", f"The wiki lives at wiki.example.org behind the firewall{place}.", sources=["wiki"]))
    for _ in range(6):
        for question, delta in (("May backups be deleted?", -4.0), ("May old log files be deleted?", 4.0)):
            ticket = ledger.decide(question)
            if ticket.provenance:
                ledger.settle(ticket.id, delta, detail="measured")
        ledger.tick()
    ledger.decide("May old log files be deleted?")
    ledger.save(path)
    return path, store, ledger


def test_a_store_of_darwin_memo_comes_with_balances_lineage_and_lives(memory: Memory, tmp_path: Path) -> None:
    path, _, _ = darwin(tmp_path)
    said = json.loads(path.read_text(encoding="utf-8"))
    report = twice(memory, path)
    assert (
        report.format == "darwin-memo"
        and report.added == len(said["entries"]) + len(said["graveyard"])
        and report.dead == len(said["graveyard"])
    )
    assert said["graveyard"] and any(value["lineage"] for value in said["entries"]), "the fixture has deaths and a merge"
    for value in said["entries"]:
        entry = memory.get(value["id"])
        assert (entry.text, entry.cue, list(entry.sources), entry.pinned) == (
            value["answer"], value["question"], value["sources"], value.get("pinned", False),
        )  # fmt: skip
        assert entry.balance == round(value["energy"] * 1_000_000) and entry.standing == "active" and entry.created is not None
        assert entry.created.isoformat().startswith(value["recorded_ts"][:19])
        kept = entry.metadata["darwin_memo"]
        assert (kept["id"], kept["born_cycle"], kept["uses"]) == (value["id"], value["born_cycle"], value["uses"])
    damaged = set(said["ledger"]["damaged"])
    heirs = {parent for value in said["entries"] + said["graveyard"] for parent in value["lineage"]}
    for value in said["graveyard"]:
        entry = memory.get(value["id"])
        assert entry.cause == ("executed" if value["id"] in damaged else "merged" if value["id"] in heirs else "starved")
        assert entry.balance == 0
    assert any(memory.get(value["id"]).cause == "executed" for value in said["graveyard"])
    for value in said["entries"] + said["graveyard"]:
        assert set(memory.get(value["id"]).lineage) == set(value["lineage"])
        kept = memory.get(value["id"]).metadata["darwin_memo"]
        assert kept.get("history", []) == said["ledger"]["history"].get(value["id"], [])
    lines = (tmp_path / "memory.events.jsonl").read_text(encoding="utf-8").splitlines()
    settled = [json.loads(line) for line in lines if '"settle"' in line]
    for event in settled:
        for applied in event["applied"]:
            log = memory.get(applied["entry"]).metadata["darwin_memo"]["log"]
            assert any(one["event"] == "settle" and one["ticket"] == event["ticket"] and one["credit"] == applied["credit"] for one in log)
    assert "open tickets" in reasons(report) and any("max_energy" in note for note in report.notes)
    assert memory.decide("May old log files be deleted?").id is None
    assert memory.search("May old log files be deleted?")[0].entry.text.startswith("Old log files")


def test_a_damaged_store_of_darwin_memo_says_what_could_not_be_carried(memory: Memory, tmp_path: Path) -> None:
    path, _, _ = darwin(tmp_path)
    said = json.loads(path.read_text(encoding="utf-8"))
    said["entries"] += [{"question": "no id", "answer": "x"}, {"id": "aaaaaaaaaaaa", "question": 5, "answer": None}, 7]
    said["entries"].append(
        {**said["entries"][0], "id": "bbbbbbbbbbbb", "answer": "Odd energy.", "energy": "many", "sources": "one", "new_field": 1}
    )
    path.write_text(json.dumps(said), encoding="utf-8")
    with (tmp_path / "memory.events.jsonl").open("a", encoding="utf-8") as log:
        log.write('{"event": "settle", "cut\n[1]\n')
    report = twice(memory, path)
    assert "without an id" in reasons(report) and "no answer" in reasons(report) and "broken lines in the event log" in reasons(report)
    assert memory.get("bbbbbbbbbbbb").sources == ("one",)


# the others


def mnemosyne(path: Path) -> None:
    db = sqlite3.connect(path)
    db.executescript(
        """
        CREATE TABLE working_memory (id TEXT PRIMARY KEY, content TEXT NOT NULL, source TEXT, timestamp TEXT, session_id TEXT,
            importance REAL, metadata_json TEXT, valid_until TEXT, superseded_by TEXT, recall_count INTEGER, scope TEXT);
        CREATE TABLE episodic_memory (id TEXT PRIMARY KEY, content TEXT NOT NULL, session_id TEXT, importance REAL, created_at TEXT);
        CREATE TABLE memories (id TEXT PRIMARY KEY, content TEXT NOT NULL, source TEXT, session_id TEXT, importance REAL);
        CREATE TABLE evolution_rules (id INTEGER PRIMARY KEY, rule_type TEXT, trigger_cond TEXT, action_guide TEXT, status TEXT,
            confidence REAL);
        CREATE TABLE relations (source_id TEXT, target_id TEXT, relation TEXT);
        CREATE TABLE scratchpad (id INTEGER PRIMARY KEY, note TEXT);
        CREATE VIRTUAL TABLE found USING fts5 (content);
        CREATE VIEW trap AS SELECT randomblob(100000000) AS content, 1 AS id, 1 AS importance;
        INSERT INTO working_memory VALUES
            ('w1', 'Lives in Köln.', 'chat', '2026-01-05T10:00:00', 's1', 0.8, '{"tag": "home"}', NULL, NULL, 3, 'global'),
            ('w2', 'Lived in Bonn.', 'chat', '2025-01-05T10:00:00', 's1', 0.3, NULL, '2026-01-01T00:00:00', 'w1', 0, 'session'),
            ('w3', '   ', 'chat', NULL, 's1', 0.3, NULL, NULL, NULL, 0, 'session'),
            ('w4', 'Broken numbers.', NULL, 'never', 's1', 9.5, '{broken', NULL, NULL, 0, '');
        INSERT INTO episodic_memory VALUES ('e1', 'Moved house in May.', 'default', 0.5, '2026-05-02 08:00:00');
        INSERT INTO memories VALUES ('w1', 'Lives in Köln.', 'chat', 's1', 0.8), ('old', 'Only in the old table.', '', 'default', 0.5);
        INSERT INTO evolution_rules VALUES (1, 'avoid', 'deploying on a Friday', 'wait until Monday', 'active', 0.7),
            (2, 'x', 'nothing', '', 'pending', 0.1);
        INSERT INTO relations VALUES ('w1', 'e1', 'moved to'), ('w1', 'gone', 'x');
        INSERT INTO scratchpad (note) VALUES ('draft');
        """
    )
    db.close()


def test_a_file_of_mnemosyne_comes_by_the_shape_of_its_tables(memory: Memory, tmp_path: Path) -> None:
    mnemosyne(tmp_path / "x.db")
    before = (tmp_path / "x.db").read_bytes()
    report = twice(memory, tmp_path / "x.db")
    assert report.format == "mnemosyne" and (report.added, report.dead) == (6, 1)
    by_text = {e.text: e for e in memory.list(scope=ALL) + memory.list(scope=ALL, standing="dead") + memory.list(scope=ALL, kind="rule")}
    koeln = by_text["Lives in Köln."]
    assert (koeln.retention, koeln.importance, koeln.sources) == ("fading", 0.8, ("chat", "session:s1")) and koeln.metadata["tag"] == "home"
    assert koeln.created is not None and koeln.created.isoformat() == "2026-01-05T10:00:00+00:00"
    assert by_text["Lived in Bonn."].cause == "superseded" and by_text["Broken numbers."].importance == 1.0
    assert by_text["Moved house in May."].kind == "episodic" and by_text["Broken numbers."].created is None
    assert by_text["wait until Monday"].cue == "deploying on a Friday" and by_text["wait until Monday"].metadata["status"] == "active"
    told = reasons(report)
    assert "found_" not in told
    assert report.linked == 1 and [found.entry.text for found in memory.related(koeln.id, kind="related")] == ["Moved house in May."]
    assert "has no text" in told and "relations" in told and "scratchpad" in told and "has no action" in told
    assert (tmp_path / "x.db").read_bytes() == before and not [*tmp_path.glob("x.db-*")]


def test_memories_of_mem0_go_into_the_scopes_of_their_users(memory: Memory, tmp_path: Path) -> None:
    listed = [
        {"id": "6f1c2f1e-0000-4000-8000-000000000001", "memory": "Likes oolong.", "hash": "h", "metadata": {"topic": "tea"},
         "user_id": "ann", "created_at": "2026-02-03T04:05:06.789-08:00", "updated_at": None},
        {"id": "6f1c2f1e-0000-4000-8000-000000000002", "memory": "Likes coffee.", "user_id": "bob", "created_at": None},
        {"id": "6f1c2f1e-0000-4000-8000-000000000003", "memory": "", "user_id": "bob"}, 3,
    ]  # fmt: skip
    (tmp_path / "x.json").write_text(json.dumps({"results": listed}), encoding="utf-8")
    report = twice(memory, tmp_path / "x.json")
    assert report.format == "mem0" and report.added == 2 and "no text" in reasons(report) and "no object" in reasons(report)
    [ann] = memory.list(scope="ann")
    assert ann.metadata["mem0_topic"] == "tea" and ann.created is not None and ann.created.isoformat() == "2026-02-03T12:05:06.789000+00:00"
    assert [e.created for e in memory.list(scope="bob")] == [None]


def test_a_store_that_mem0_wrote_comes_in_as_mem0_shows_it(memory: Memory, tmp_path: Path) -> None:
    shown = json.loads((MEM0 / "all.json").read_text(encoding="utf-8"))["results"]
    report = twice(memory, MEM0 / "all.json")
    assert report.format == "mem0" and report.added == len(shown) == 5 and report.skipped == ()
    here = {(e.scope, e.text, e.created.isoformat(), e.metadata.get("run_id")) for e in memory.list(scope=ALL) if e.created is not None}
    assert here == {(one.get("user_id", ""), one["memory"], one["created_at"], one.get("run_id")) for one in shown}
    with Memory.open(tmp_path / "history.db") as other:
        report = twice(other, MEM0 / "history.db", scope="team")
        assert "deleted" in reasons(report)
        assert {(e.text, e.created) for e in other.list(scope="team")} == {(e.text, e.created) for e in memory.list(scope=ALL)}


def test_the_history_of_mem0_gives_the_last_state(memory: Memory, tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "history.db")
    db.executescript(
        """CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT, created_at DATETIME,
               updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT);
           INSERT INTO history (id, memory_id, new_memory, event, created_at, updated_at, is_deleted) VALUES
               ('1', 'a', 'Likes tea.', 'ADD', '2026-01-01T00:00:00+00:00', NULL, 0),
               ('2', 'a', 'Likes green tea.', 'UPDATE', '2026-01-01T00:00:00+00:00', '2026-01-02T00:00:00+00:00', 0),
               ('3', 'b', 'Hates tea.', 'ADD', NULL, NULL, 0), ('4', 'b', NULL, 'DELETE', NULL, NULL, 1);"""
    )
    db.close()
    report = twice(memory, tmp_path / "history.db")
    assert report.format == "mem0" and [e.text for e in memory.list()] == ["Likes green tea."] and "deleted" in reasons(report)


def test_a_graph_of_the_reference_memory_server(memory: Memory) -> None:
    report = twice(memory, CHATS / "kg_memory.jsonl")
    texts = {e.text for e in memory.list()}
    assert report.format == "mcp-memory" and texts == {
        "Gateway: listens on 443", "Gateway: owned by team blue", "gateway: duplicate by case", "Gateway calls Billing.",
        "Gateway self Gateway.",
    }  # fmt: skip
    assert "line 5: an entity without a name" in reasons(report) and "Billing" in reasons(report)


def test_conversations_are_known_by_what_is_in_them(memory: Memory, tmp_path: Path) -> None:
    expected = json.loads((CHATS / "chatgpt_EXPECTED.json").read_text(encoding="utf-8"))
    (tmp_path / "renamed.data").write_bytes((CHATS / "chatgpt_conversations.json").read_bytes())
    report = twice(memory, tmp_path / "renamed.data")
    said = [e.text for e in memory.list() if e.metadata.get("speaker") == "user"]
    assert report.format == "chatgpt" and said == expected["user_texts"]
    assert all(e.retention == "fading" and e.kind == "episodic" for e in memory.list())


def test_an_archive_of_conversations_is_read_as_it_came(memory: Memory, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.write(CHATS / "chatgpt_conversations.json", "conversations.json")
        archive.writestr("user.json", "{}")
    assert twice(memory, tmp_path / "export.zip").added == 9


def test_claude_is_told_from_the_others(memory: Memory) -> None:
    report = twice(memory, CHATS / "claude_conversations.json")
    assert report.format == "claude" and "We ship on Tuesdays." in [e.text for e in memory.list()]


def test_notes_in_markdown_come_under_their_headings(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "MEMORY.md").write_text(
        "# Project\n\n- Always run the linter before pushing.\n- Deploys happen on Tuesdays.\n", encoding="utf-8"
    )
    (folder / "AGENTS.md").write_text("## Style\n\nUse tabs in Makefiles and spaces in Python files.\n", encoding="utf-8")
    report = twice(memory, folder)
    assert report.format == "markdown" and {e.sources for e in memory.list()} == {("MEMORY.md",), ("AGENTS.md",)}
    assert {"Always run the linter before pushing.", "Deploys happen on Tuesdays."} <= {e.text for e in memory.list()}


# what is hostile


def bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", "[" + " " * 50_000_000)


HOSTILE: Final[dict[str, Callable[[Path], object]]] = {
    "nothing": lambda path: path.write_bytes(b""),
    "noise": lambda path: path.write_bytes(bytes(range(256)) * 40),
    "a picture": lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(200)),
    "another database": lambda path: sqlite3.connect(path).executescript("CREATE TABLE t (a INTEGER);").connection.close(),
    "a cut database": lambda path: path.write_bytes(b"SQLite format 3\x00" + bytes(84)),
    "an archive of nothing": lambda path: zipfile.ZipFile(path, "w").close(),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_memory_is_refused_and_nothing_is_written(memory: Memory, tmp_path: Path, name: str) -> None:
    HOSTILE[name](tmp_path / "x")
    with pytest.raises((InvalidInput, StoreError)) as caught:
        memory.import_(tmp_path / "x")
    assert isinstance(caught.value, EarnestError) and memory.stats().total == 0


DEEP: Final = {
    "a deep list": b"[" * 100_000,
    "a deep store": b'{"config": {"max_energy": 5}, "entries": ' + b"[" * 100_000,
    "half a store": b'{"config": {"max_energy": 5.0, "upkeep": 0.05}, "entries": [{"id": "a", "answer": "x',
    "a huge number": b'[{"memory": "x", "user_id": ' + b"9" * 10_000 + b"}]",
    "lone surrogates": b'[{"memory": "\\ud800 text", "user_id": "\\udfff"}]',
    "not UTF-8": b'[{"memory": "caf\xe9", "user_id": "x"}]',
}


@pytest.mark.parametrize("name", DEEP)
def test_what_is_hostile_ends_in_a_typed_error_or_a_report(memory: Memory, tmp_path: Path, name: str) -> None:
    (tmp_path / "x.json").write_bytes(DEEP[name])
    try:
        report = memory.import_(tmp_path / "x.json")
    except EarnestError:
        assert memory.stats().total == 0
    else:
        assert report.skipped or report.added
    assert memory.check().ok


def test_an_archive_that_swells_is_read_within_bounds(memory: Memory, tmp_path: Path) -> None:
    bomb(tmp_path / "x.zip")
    report = memory.import_(tmp_path / "x.zip")
    assert (report.added, memory.stats().total) == (0, 0)

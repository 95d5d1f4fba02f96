"""Other programs read the file: its views, its energy, its keyword search and its chain, without a line of Earnest.

The readers are the sqlite3 module of Python's standard library and, where `node` and `npm` are installed, better-sqlite3, which the
test installs by itself. EARNEST_TEST_NODE=0 leaves the second one out, for a machine with Node.js but without a registry to ask.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from earnest import ALL, Memory
from earnest.encoding import demo_corpus
from earnest.stores.sqlite import schema

PACKAGE: Final = "better-sqlite3@12"
PAST: Final = "Are the database files under data/ safe to delete?"


@dataclass(frozen=True, slots=True)
class Facts:
    """What a reader makes of a file. Energy is in units of energy, by entry id."""

    sqlite: str
    application_id: int
    format: int
    energy: dict[str, float]
    living: set[str]
    graveyard: dict[str, str]
    open_decisions: list[str]
    sources: dict[str, list[str]]
    found: list[str]
    found_in_scope: list[str]
    accounts: int
    head: str


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with some of everything: two scopes, a pin, kept entries, the suspended, the dead, an open ticket, rent that is due."""
    path = tmp_path_factory.mktemp("readers") / "memory.db"
    with Memory.open(path, agent="ops") as memory:
        made = memory.encode(demo_corpus())
        memory.add("Alice keeps her log files.", scope="alice", sources=["chat", "notes"])
        memory.add('Она сказала: "журналы можно удалить"; 日志文件可以删除。', retention="kept", metadata={"why": "scripts"})
        memory.pin(made.entries[0].id)
        memory.meters.add("disk", unit="bytes", scale=100_000)
        first, second, third = (memory.decide(PAST).id for _ in range(3))
        assert first and second and third
        memory.settle(first, delta=-300_000, meter="disk", detail="restored")
        memory.tick()
        memory.settle(second, delta=-300_000, meter="disk")
        assert memory.stats().suspended == 1, "it did harm, and the third ticket still names it"
        useful = memory.decide("Is a cache file under cache/ safe to delete?").id
        assert useful
        memory.settle(useful, delta=120_000, meter="disk")
        memory.merge([entry.id for entry in memory.list(source="platform-notes")[:2]])
        memory.forget(memory.list(source="forum-post")[0].id, "off topic")
        memory.tick()
    return path


@pytest.fixture(scope="module")
def expected(store: Path) -> Facts:
    """What Earnest itself says."""
    with Memory.open(store, read_only=True) as memory:
        dead = memory.list(scope=ALL, standing="dead")
        living = memory.list(scope=ALL)
        assert {entry.standing for entry in living} == {"active", "suspended"}
        assert {"merged", "forgotten"} <= {entry.cause for entry in dead}
        everything = [*living, *dead]
        by_words = {hit.entry.id for hit in memory.search("log files", k=100, scope=ALL)}
        in_scope = {hit.entry.id for hit in memory.search("log files", k=100, scope="alice")}
        return Facts(
            sqlite="",
            application_id=0x4541524E,
            format=schema.FORMAT,
            energy={entry.id: entry.balance / 1e6 for entry in everything},
            living={entry.id for entry in living},
            graveyard={entry.id: str(entry.cause) for entry in dead},
            open_decisions=[ticket.id for ticket in memory.pending()],
            sources={entry.id: list(entry.sources) for entry in everything},
            found=sorted(by_words),
            found_in_scope=sorted(in_scope),
            accounts=0,
            head=memory.check().head,
        )


SQL: Final = {
    "energy": "SELECT id, energy FROM memory",
    "living": "SELECT id FROM living",
    "graveyard": "SELECT id, cause FROM graveyard",
    "open_decisions": "SELECT id FROM open_decisions ORDER BY opened_tick",
    "sources": "SELECT id, sources FROM memory",
    # "log", "logs" and "file", "files": the forms that the question's words are looked for in.
    "found": """SELECT memory.id FROM terms JOIN memory ON memory.entry = terms.rowid
                WHERE terms MATCH '({text cue} : ("log" OR "logs" OR "file" OR "files")) NOT facets : "§krule"' ORDER BY rank""",
    "found_in_scope": """SELECT memory.id FROM terms JOIN memory ON memory.entry = terms.rowid
                         WHERE terms MATCH (SELECT '({text cue} : ("log" OR "files")) AND facets : "§s' || scope || '"'
                                            FROM scopes WHERE name = 'alice')""",
    "accounts": """SELECT (SELECT sum(balance) FROM entries)
                        + (SELECT sum(value) FROM counters WHERE name LIKE 'account:%')""",
    "events": "SELECT event, kind, tick, at, actor, channel, entries, ticket, data, hash FROM events ORDER BY event",
    "postings": "SELECT debit, credit, amount FROM postings WHERE event = ? ORDER BY place",
}


def by_the_standard_library(path: Path) -> Facts:
    """Python's own sqlite3."""
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    try:

        def all_of(name: str, *values: Any) -> list[Any]:
            return connection.execute(SQL[name], values).fetchall()

        before = bytes(32)
        for *said, entries, ticket, data, found in all_of("events"):
            array = [*said, json.loads(entries), ticket, data, [list(row) for row in all_of("postings", said[0])]]
            before = hashlib.sha256(before + json.dumps(array, separators=(",", ":"), ensure_ascii=False).encode()).digest()
            assert before == found
        return Facts(
            sqlite=sqlite3.sqlite_version,
            application_id=connection.execute("PRAGMA application_id").fetchone()[0],
            format=connection.execute("PRAGMA user_version").fetchone()[0],
            energy=dict(all_of("energy")),
            living={row[0] for row in all_of("living")},
            graveyard=dict(all_of("graveyard")),
            open_decisions=[row[0] for row in all_of("open_decisions")],
            sources={entry: json.loads(listed) for entry, listed in all_of("sources")},
            found=sorted(row[0] for row in all_of("found")),
            found_in_scope=sorted(row[0] for row in all_of("found_in_scope")),
            accounts=all_of("accounts")[0][0],
            head=before.hex(),
        )
    finally:
        connection.close()


READER_JS: Final = """
const crypto = require('crypto');
const Database = require('better-sqlite3');
const [path, sql] = [process.argv[2], JSON.parse(process.argv[3])];
const db = new Database(path, { readonly: true, fileMustExist: true });
const all = (name, ...values) => db.prepare(sql[name]).raw().all(...values);
let before = Buffer.alloc(32);
for (const [event, kind, tick, at, actor, channel, entries, ticket, data, hash] of all('events')) {
  const said = JSON.stringify([event, kind, tick, at, actor, channel, JSON.parse(entries), ticket, data, all('postings', event)]);
  before = crypto.createHash('sha256').update(before).update(said, 'utf8').digest();
  if (!before.equals(hash)) throw new Error(`event ${event} was changed`);
}
console.log(JSON.stringify({
  sqlite: db.prepare('SELECT sqlite_version() AS v').get().v,
  application_id: db.pragma('application_id', { simple: true }),
  format: db.pragma('user_version', { simple: true }),
  energy: Object.fromEntries(all('energy')),
  living: all('living').map((row) => row[0]),
  graveyard: Object.fromEntries(all('graveyard')),
  open_decisions: all('open_decisions').map((row) => row[0]),
  sources: Object.fromEntries(all('sources').map(([id, listed]) => [id, JSON.parse(listed)])),
  found: all('found').map((row) => row[0]).sort(),
  found_in_scope: all('found_in_scope').map((row) => row[0]).sort(),
  accounts: all('accounts')[0][0],
  head: before.toString('hex'),
}));
"""


def by_node(path: Path) -> Facts:
    """Node.js with better-sqlite3, which brings a SQLite of its own."""
    folder = _node_folder()
    (folder / "reader.js").write_text(READER_JS, encoding="utf-8")
    ran = subprocess.run(
        ["node", "reader.js", str(path), json.dumps(SQL)], cwd=folder, capture_output=True, text=True, encoding="utf-8", timeout=60,
        check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    return Facts(**{**said, "living": set(said["living"])})


def _node_folder() -> Path:
    """A folder where better-sqlite3 is installed: kept in the environment that runs the tests, since building it takes a minute."""
    keep = Path(sys.prefix) if sys.prefix != sys.base_prefix else Path(tempfile.gettempdir())
    kept = keep / f".earnest-{PACKAGE.replace('@', '-')}"
    if (kept / "installed").exists():
        return kept
    folder = Path(tempfile.mkdtemp(prefix="earnest-node-", dir=keep))
    (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    environment = {**os.environ, "npm_config_cache": str(folder / "cache")}
    headers = Path(shutil.which("node") or "").resolve().parent.parent
    if (headers / "include" / "node" / "node.h").exists():
        # The headers that a build needs are here: nothing else has to be fetched.
        environment["npm_config_nodedir"] = str(headers)
    ran = subprocess.run(
        [shutil.which("npm") or "npm", "install", "--no-audit", "--no-fund", PACKAGE], cwd=folder, env=environment, capture_output=True,
        text=True, timeout=500, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert ran.returncode == 0, f"npm cannot install {PACKAGE} (EARNEST_TEST_NODE=0 leaves this reader out): {ran.stderr[-2000:]}"
    shutil.rmtree(folder / "cache", ignore_errors=True)
    (folder / "installed").touch()
    try:
        folder.rename(kept)
    except OSError:  # another run was faster
        shutil.rmtree(folder, ignore_errors=True)
    return kept


READERS: Final[dict[str, Callable[[Path], Facts]]] = {"standard-library": by_the_standard_library}
if shutil.which("node") and shutil.which("npm") and os.environ.get("EARNEST_TEST_NODE") != "0":
    READERS["node"] = by_node


@pytest.mark.timeout(600)
@pytest.mark.parametrize("reader", READERS)
def test_another_program_reads_what_earnest_reads(reader: str, store: Path, expected: Facts) -> None:
    read = READERS[reader](store)
    assert tuple(map(int, read.sqlite.split("."))) >= (3, 37)
    assert (read.application_id, read.format) == (expected.application_id, expected.format)
    assert read.energy == pytest.approx(expected.energy, abs=1e-9)
    assert read.living == expected.living
    assert read.graveyard == expected.graveyard
    assert read.open_decisions == expected.open_decisions
    assert read.sources == expected.sources
    assert read.found == expected.found
    assert read.found_in_scope == expected.found_in_scope
    assert read.accounts == 0
    assert read.head == expected.head


def test_reading_from_outside_leaves_the_file_whole(store: Path) -> None:
    before = hashlib.sha256(store.read_bytes()).hexdigest()
    by_the_standard_library(store)
    assert hashlib.sha256(store.read_bytes()).hexdigest() == before


@pytest.mark.parametrize("question", ["журналы", "删除", "logs", "Juniper"])
def test_a_word_of_any_script_is_found_by_a_plain_match(question: str, store: Path) -> None:
    connection = sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True)
    sql = "SELECT memory.text FROM terms JOIN memory ON memory.entry = terms.rowid WHERE terms MATCH ? ORDER BY rank"
    texts = [row[0] for row in connection.execute(sql, (f'{{text cue}} : "{question.lower()}"',))]
    connection.close()
    assert texts
    assert any(question.lower() in text.lower() for text in texts)


def test_what_changes_the_file_from_outside_is_found(store: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    shutil.copy(store, copy)
    connection = sqlite3.connect(copy)
    connection.execute("UPDATE postings SET amount = amount + 1 WHERE event = (SELECT min(event) FROM postings)")
    connection.commit()
    connection.close()
    with Memory.open(copy) as memory:
        assert not memory.check().ok

"""Breaking store files on purpose, killing whoever writes to them, and looking over what is left."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from earnest import Memory
from earnest.errors import EarnestError
from earnest.opening import DEFAULT_AGENT, file_name
from earnest.stores.sqlite.schema import FORMAT

from .model import Left, Op, Reply, Unknown
from .run import Run
from .surface import ROOT, environment

FORMATS = ROOT / "tests" / "data" / "formats"
"""One store with data of every format there ever was."""

_SHADOW = {
    "blocks gone": "DELETE FROM terms_data WHERE id > 10",
    "all blocks gone": "DELETE FROM terms_data",
    "blocks zeroed": "UPDATE terms_data SET block = zeroblob(length(block)) WHERE id > 10",
    "index gone": "DELETE FROM terms_idx",
    "sizes gone": "DELETE FROM terms_docsize",
    "table dropped": "DROP TABLE terms_data",
    "half of the rows gone": "DELETE FROM terms WHERE rowid % 2 = 0",
}
"""Ways to damage the keyword index; the first is meant where a case names none."""


def store_file(run: Run, op: Op) -> Path:
    """The file of the agent that a step is about."""
    return run.folder / file_name(run.agent(op) or DEFAULT_AGENT)


def cells(file: Path) -> Iterator[str]:
    """Every value of every table of a store, the blocks of its indexes too, as text."""
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    with closing(connection):
        tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
        for (name,) in tables.fetchall():
            for row in connection.execute(f'SELECT * FROM "{name}"'):  # noqa: S608  # the names come from the store's own schema
                yield from (cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell) for cell in row)


def damage(run: Run, op: Op, reply: Reply) -> None:
    """Damage a store while nobody has it open: its keyword index, its length, or bits of it."""
    run.surface.reopen()
    file = store_file(run, op)
    _write(file, "PRAGMA wal_checkpoint(TRUNCATE)")
    what = op["what"]
    if what == "fts shadow table":
        how = op.get("how", "blocks gone")
        if how not in _SHADOW:
            raise Unknown(f"I do not know how to damage the keyword index by {how!r}")
        _write(file, _SHADOW[how])
    elif what == "truncate":
        with file.open("rb+") as stream:
            stream.truncate(int(file.stat().st_size * float(op["to"])))
    elif what == "bit flips":
        _flip(file, int(op.get("n", 1)), op.get("in"), int(op.get("seed", 0)))
    elif what == "garbage":
        file.write_bytes(random.Random(int(op.get("seed", 0))).randbytes(4096))
    elif what == "column":
        _write(file, f"UPDATE {op['table']} SET {op['column']} = ? {op.get('where', '')}", (op["value"],))  # noqa: S608
    else:
        raise Unknown(f"I do not know the damage {what!r}")


def _write(file: Path, sql: str, values: tuple[Any, ...] = ()) -> None:
    connection = apsw.Connection(str(file))
    try:
        connection.execute(sql, values)
        assert connection.changes() or sql.startswith(("DROP", "PRAGMA")), f"nothing was damaged by {sql}"
    finally:
        connection.close()


def _flip(file: Path, n: int, inside: str | None, seed: int) -> None:
    """Turn bits over: in the bytes of a text that the file holds, or anywhere behind the header."""
    data = bytearray(file.read_bytes())
    rng = random.Random(seed)
    for _ in range(n):
        if inside is None:
            at = rng.randrange(100, len(data))
        else:
            at = data.index(inside.encode("utf-8")) + rng.randrange(len(inside.encode("utf-8")))
        data[at] ^= 1 << rng.randrange(3)
    file.write_bytes(data)


def look_over(file: Path) -> dict[str, Any]:
    """What `check` says of a file."""
    with Memory.open(file) as memory:
        found = memory.check()
    return {"ok": found.ok, "problems": list(found.problems)}


def kill_commands(run: Run, op: Op, times: int) -> None:
    """Kill a command at moments spread over its life; it must leave the old state or the new one."""
    words = [sys.executable, "-m", "earnest", "remember", "--store", str(run.folder), "--json"]
    begun = time.monotonic()
    subprocess.run([*words, "killed never"], cwd=ROOT, env=environment(), capture_output=True, check=False, timeout=120)
    whole = time.monotonic() - begun
    acknowledged = []
    for i in range(times):
        with subprocess.Popen(
            [*words, f"killed number {i}"], cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            time.sleep(whole * i / times)
            process.kill()
            out, _ = process.communicate()
        acknowledged += [str(json.loads(out)["id"])] if out.rstrip().endswith(b"}") else []
    run.facts["acknowledged"] = acknowledged
    run.facts["settled"] = []
    run.facts["kills"] = times
    run.notes.append(f"{len(acknowledged)} of {times} commands were done before they were killed")


def survived(run: Run) -> list[str]:
    """What is wrong with a store after kills: something acknowledged is gone, something is there twice, or the books differ."""
    made = [] if run.facts["kills"] else ["nobody was killed"]
    if run.surface.name == "python" and not (run.facts["acknowledged"] and run.facts["settled"]):
        made.append("nothing was acknowledged before a kill, so that nothing could be lost")
    try:
        with Memory.open(run.folder) as memory:
            found = memory.check()
            made += [f"check: {problem}" for problem in found.problems]
            there = {entry.id: entry for entry in memory.list()}
            made += [f"acknowledged entry {entry} is gone" for entry in run.facts["acknowledged"] if entry not in there]
            texts = [entry.text for entry in there.values()]
            made += [f"{text!r} is there twice" for text in {text for text in texts if texts.count(text) > 1}]
            for entry in there.values():
                if entry.text.startswith("save ") and len(entry.sources) != 1:
                    made.append(f"entry {entry.id} was half written: its sources are {entry.sources}")
                if entry.text.startswith(("save ", "killed ")) and entry.id not in [h.entry.id for h in memory.search(entry.text, 1000)]:
                    made.append(f"entry {entry.id} is not in the index")
            for ticket in run.facts["settled"]:
                again = memory.settle(ticket, delta=1)
                if again.landed or "already" not in again.reason:
                    made.append(f"the acknowledged settlement of {ticket} is gone: {again.reason}")
    except EarnestError as error:
        made.append(f"the store does not open: {error}")
    return made


def store_of_version(run: Run, op: Op, reply: Reply) -> None:
    """Put a store that an earlier version wrote in place of the agent's own."""
    if op.get("v") != "oldest released, with data":
        raise Unknown(f"I do not know the version {op.get('v')!r}")
    kept = sorted(FORMATS.glob("*.db"), key=lambda path: [int(part) for part in path.stem.split("-") if part.isdigit()])
    if not kept:
        raise Left("not yet", f"store_of_version: format {FORMAT} is the first, and {FORMATS.relative_to(ROOT)} keeps no store of it")
    run.surface.reopen()
    copy = run.folder / "copy"
    shutil.copy(kept[0], copy)
    connection = apsw.Connection(str(copy))
    try:
        [(living,)] = connection.execute("SELECT count(*) FROM entries WHERE standing <> 'dead'").fetchall()
        [(version,)] = connection.execute("PRAGMA user_version").fetchall()
        [(agent,)] = connection.execute("SELECT value FROM settings WHERE name = 'agent'").fetchall()
    finally:
        connection.close()
    run.facts |= {"count": living, "format": version, "agent": json.loads(str(agent))}
    copy.rename(store_file(run, op))

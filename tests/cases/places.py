"""Cases about folders, disks, names of files and consoles: what may be written where, and what such cases expect."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from earnest.opening import DEFAULT_AGENT, file_name

from . import damage
from .model import Op, Refused, Reply, Unknown
from .processes import Peer
from .run import Run
from .shells import commands

_DROP_CAPABILITY, _OVERRIDE_PERMISSIONS = 24, 1
_HOSTILE = ("/abs", "/etc/x")

_CORE = '''
"""Only what a bare install brings: no other package, no SQLite of Python's own, no way to the network."""
import socket, sys
CORE = {"earnest", "apsw", "snowballstemmer", "tests", *sys.stdlib_module_names} - {"sqlite3", "_sqlite3"}
class Bare:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in CORE:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Bare())
def refuse(*arguments):
    raise OSError("there is no network")
socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
'''
_IMPORTED = """
import sys, threading
assert "Bare" in repr(sys.meta_path), sys.meta_path
import earnest
earnest.Memory
assert threading.active_count() == 1, threading.enumerate()
assert "logging" not in sys.modules or not sys.modules["logging"].root.handlers
"""


def _obeying() -> None:
    """Lets the process that is about to start obey permissions, even if it is root's (Linux: without CAP_DAC_OVERRIDE)."""
    assert ctypes.CDLL(None).prctl(_DROP_CAPABILITY, _OVERRIDE_PERMISSIONS, 0, 0, 0) == 0


def _elsewhere(run: Run, *, read_only: bool = False, **started: Any) -> None:
    """From now on this surface is in processes that are started so."""
    run.surface.reopen()
    run.facts["started"] = started
    if run.surface.name == "cli":
        commands(run)
        return
    peer = Peer(run.folder, started=started, read_only=read_only)
    run.closing.callback(peer.close)
    run.surface = peer


def _make_readonly(run: Run, op: Op, reply: Reply) -> None:
    """Take the right to write away, of a store with something in it."""
    if op["what"] not in ("file", "folder and file"):
        raise Unknown(f"I do not know how to make {op['what']!r} read-only")
    run.ids["there"] = run.surface.call(None, "add", text="x marks the spot")["id"]
    run.added["there"] = {"op": "add", "content": "x marks the spot"}
    run.surface.reopen()
    sealed = [damage.store_file(run, {"op": ""}), *([run.folder] if "folder" in op["what"] else [])]
    for path in sealed:
        run.closing.callback(path.chmod, path.stat().st_mode)
        path.chmod(0o555 if path.is_dir() else 0o444)
    run.facts["files before"] = sorted(path.name for path in run.folder.iterdir())
    _elsewhere(run, read_only=True, preexec_fn=_obeying if os.geteuid() == 0 else None)


def _limit(run: Run, op: Op, reply: Reply) -> None:
    """No file may grow beyond so many bytes."""
    import resource

    limit = int(op["bytes"])
    _elsewhere(run, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY)))


def _lift(run: Run, op: Op, reply: Reply) -> None:
    import resource

    run.facts["started"] = {}
    if isinstance(run.surface, Peer):
        resource.prlimit(run.surface.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    else:
        commands(run)


def filled(run: Run, op: Op, reply: Reply, entries: list[str]) -> None:
    """Many entries by one command, which is an import: there is none that adds many."""
    source = run.folder.parent / "many.json"
    source.write_text(json.dumps(entries), encoding="utf-8")
    reply.value = run.surface.call(run.agent(op), "import_", path=str(source))


def _outside(run: Run) -> list[str]:
    """Everything beside the folder of stores."""
    place = run.folder.parent
    found = [str(path) for path in place.rglob("*") if path != run.folder and run.folder not in path.parents]
    return sorted(found) + [path for path in _HOSTILE if Path(path).exists() or Path(f"{path}.db").exists()]


def _clear(run: Run, op: Op, reply: Reply) -> None:
    """Everything of an agent whose name leads to somebody else's folder."""
    victim = run.folder.parent / "victim"
    victim.mkdir(exist_ok=True)
    (victim / "diary.txt").write_text("mine")
    run.facts["outside"] = sorted({*run.facts.get("outside", _outside(run)), *_outside(run)})
    reply.value = run.surface.call(run.agent(op), "erase", scope="")


def opened(run: Run, op: Op, reply: Reply) -> None:
    """Open an agent's memory so that it is there: a note of its own is in it."""
    run.facts.setdefault("outside", _outside(run))
    note = f"a note that only {op['agent']} holds"
    run.facts.setdefault("notes", {})[op["agent"]] = note
    reply.value = run.surface.call(run.agent(op), "add", text=note)


def _simulate(run: Run, op: Op, reply: Reply) -> None:
    """A file system that tells no capitals from small letters: names stay apart there, and a file is not taken for another agent's."""
    if op.get("fs") != "case-insensitive":
        raise Unknown(f"I do not know the file system {op}")
    run.surface.reopen()
    names = [path.name for path in run.folder.iterdir()]
    if len({name.casefold() for name in names}) != len(names):
        raise Refused(frozenset({"crash"}), f"these files are one there: {names}")
    owner, other = (step.op["agent"] for step in run.actions() if step.name in ("add", "search"))
    shutil.copy(run.folder / file_name(owner), run.folder / file_name(other))
    try:
        reply.value = run.surface.call(other, "search", query="x secret")
    except Refused as refused:
        if "unavailable" not in refused.kinds and "validation" not in refused.kinds:
            raise
        run.notes.append("one agent's file in the place of another's is refused")


def _import_package(run: Run, op: Op, reply: Reply) -> None:
    """Importing it downloads, prints and starts nothing."""
    code, out, err = commands(run).python("-c", _IMPORTED)
    reply.said = out + err
    if code or out or err:
        raise Refused(frozenset({"crash"}), f"status {code}: {out}{err}")


def bare(run: Run) -> None:
    """From now on processes have what a bare install brings, and no network."""
    place = run.folder.parent / "bare"
    place.mkdir()
    (place / "sitecustomize.py").write_text(_CORE, encoding="utf-8")
    _elsewhere(run, env={"PYTHONPATH": str(place)})
    run.facts["whole"] = True
    run.notes.append("apsw brings a SQLite with FTS5 and asks for no extension to be loaded, so that the index never has to do without")


OPERATIONS: dict[str, Callable[[Run, Op, Reply], None]] = {
    "make_readonly": _make_readonly,
    "limit_file_size": _limit,
    "lift_limit": _lift,
    "clear": _clear,
    "simulate": _simulate,
    "import_package": _import_package,
}


# expectations


def _reads(run: Run, value: Any) -> list[str]:
    """Reading works: it finds what is there. And nothing was made in the folder."""
    if value != "work":
        raise Unknown(f"I do not know how to check {value!r}")
    made = [f"{r.name} was refused: {r.message}" for r in run.actions() if r.kinds and r.name != "add"]
    made += [f"{r.op} finds nothing" for r in run.searches() if not r.hits]
    made += [f"{r.op['args']} ends with {r.code}: {r.said}" for r in run.actions() if r.name == "cli" and (r.code or "spot" not in r.said)]
    now = sorted(path.name for path in run.folder.iterdir())
    return made + ([] if now == run.facts["files before"] else [f"the folder holds {now}"])


def _write_error(run: Run, value: Any) -> list[str]:
    if value != "store is read-only: <path>":
        raise Unknown(f"I do not know how to check {value!r}")
    adds = [r for r in run.actions() if r.name == "add"]
    told = (str(run.folder), "read")
    return [f"{r.op}: {sorted(r.kinds or ())} {r.message}" for r in adds if not r.kinds or not all(word in r.message for word in told)]


def _code_on_write(run: Run, value: Any) -> list[str]:
    code, out, err = commands(run).raw(["remember", "y"])
    return [] if (code != 0) is (value == "not 0") and "Traceback" not in err else [f"status {code}: {out}{err}"]


def _first_failure(run: Run, value: Any) -> list[str]:
    if value != "error: disk, nothing half-written":
        raise Unknown(f"I do not know how to check {value!r}")
    [many] = [r for r in run.actions() if r.name == "add_many"]
    if not many.kinds or "unavailable" not in many.kinds:
        return [f"5 MB went into 1 MB: {many.kinds} {many.message}"]
    others = [f"{r.name} was refused: {r.message}" for r in run.actions() if r.kinds and r is not many]
    halves = [entry["text"] for entry in run.surface.call(None, "list") if len(entry["text"]) < 990 and entry["text"] != "after"]
    return others + [f"half an entry: {text!r}" for text in halves]


def _stored(run: Run, value: Any) -> list[str]:
    if value != "stored":
        raise Unknown(f"I do not know how to check {value!r}")
    return [] if run.entry("z")["text"] == "after" else ["it is not there"]


def _none_outside(run: Run, value: Any) -> list[str]:
    found = [path for path in _outside(run) if path not in run.facts["outside"]]
    gone = [path for path in run.facts["outside"] if not Path(path).exists()]
    return [f"{path} was written" for path in found[value:]] + [f"{path} is gone" for path in gone]


def _error_or_encoded(run: Run, value: Any) -> list[str]:
    """Each name is refused as bad input, or is an agent with a store of its own in the folder."""
    made = []
    for r in run.actions():
        if r.name == "rest":
            made += [] if r.code in (200, 400, 404, 422) else [f"{r.op} is answered with {r.code}"]
        elif r.kinds:
            made += [] if "validation" in r.kinds else [f"{r.op}: {sorted(r.kinds)} {r.message}"]
    return made + _distinct(run, value)


def _distinct(run: Run, value: Any) -> list[str]:
    made = []
    for agent, note in run.facts["notes"].items():
        if any(r.kinds for r in run.actions() if r.name == "open" and r.op["agent"] == agent):
            continue
        texts = [entry["text"] for entry in run.surface.call(agent, "list")]
        cleared = any(r.op["agent"] == agent for r in run.actions() if r.name == "clear")
        if texts != ([] if cleared else [note]):
            made.append(f"{agent!r} holds {texts}")
        if not (run.folder / file_name(agent or DEFAULT_AGENT)).resolve().is_relative_to(run.folder.resolve()):
            made.append(f"{agent!r} lies outside")
    return made


def _lines(run: Run, value: Any) -> list[str]:
    if value != "all":
        raise Unknown(f"I do not know how to check {value!r}")
    made = []
    for r in run.actions():
        rows = [json.loads(line) for line in r.value["out"].splitlines()]
        if "end" not in rows[-1] or not any(row.get("entries", {}).get("text") == "x marks the spot" for row in rows):
            made.append(f"{r.op['args']} prints {len(rows)} lines, and not all")
    return made


EXPECTATIONS: dict[str, Callable[[Run, Any], list[str]]] = {
    "reads": _reads,
    "write_error": _write_error,
    "cli_exit_code_on_write": _code_on_write,
    "first_failure": _first_failure,
    "z": _stored,
    "files_outside_data_dir": _none_outside,
    "error_or_encoded": _error_or_encoded,
    "distinct_stores_or_error": _distinct,
    "lines": _lines,
}

JUDGES_REFUSALS = frozenset({"write_error", "first_failure", "error_or_encoded", "distinct_stores_or_error"})
"""Keys that say which refusals are right."""

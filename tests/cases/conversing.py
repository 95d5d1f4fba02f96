"""Operations of a conversation, and what cases expect of them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from . import damage, places, texts, timing
from .model import Left, Op, Reply, Unknown
from .run import Run
from .surface import ROOT, environment

_OUTPUT = re.compile(r"(\d+) KB of tool output plus one fact\Z")
_LOOP = "prefetch(q) -> put block into user text -> sync_turn"
_FACT = "We deploy on Friday."
_ASKED = "What day do we deploy?"
_QUIET = """
import sys
from earnest import Memory
with Memory.open(sys.argv[1], embedder="none") as memory:
    assert memory.search(sys.argv[2]), "not found"
"""


def _said(text: Any, number: int) -> Any:
    """What a case says that somebody says: "50 KB of tool output plus one fact" is written out, another one for each number."""
    described = _OUTPUT.fullmatch(text) if isinstance(text, str) else None
    if described is None:
        return text
    line = "10:32:0{0} worker-{0} GET /api/v1/items/{1} 200 {0}ms bytes={1}"
    lines = [line.format(n % 10, n * 7 + number) for n in range(int(described[1]) * 16)]
    return "\n".join([*lines[: len(lines) // 2], f"The rack {number} holds {number + 3} machines.", *lines[len(lines) // 2 :]])


def _sync_turn(run: Run, op: Op, reply: Reply) -> None:
    made = run.surface.call(run.agent(op), "sync_turn", user_text=op.get("user", ""), assistant_text=op.get("assistant", ""))
    reply.value = made
    for entry in made:
        run.facts.setdefault("kept", []).append((op.get("user", ""), entry["text"]))


def _sync_turns(run: Run, op: Op, reply: Reply) -> None:
    # On the command line every turn is a process: fewer of them show the same.
    count = min(int(op["n"]), 20 if run.surface.name == "cli" or run.thin else 200)
    run.notes.append(f"{count} turns in place of {op['n']}")
    reply.value = 0
    for number in range(count):
        text = _said(op["user"], number)
        if len(text) > 60_000 and run.surface.name == "cli":
            raise Left("not here", "a word of a command line is not so long")
        reply.value += len(run.surface.call(run.agent(op), "sync_turn", user_text=text, assistant_text=op.get("assistant", "ok")))
    run.facts["turns"] = count


def _prefetch(run: Run, op: Op, reply: Reply) -> None:
    made = run.surface.call(run.agent(op), "prefetch", message=op.get("query", "secret"))
    reply.value = made
    run.facts.setdefault("blocks", []).append(made["text"])


def _loop(run: Run, op: Op, reply: Reply) -> None:
    """Turns in each of which the block that was recalled is in what the user says, as prompts that are logged have it."""
    if op.get("do") != _LOOP:
        raise Unknown(f"I do not know how to do {op.get('do')!r}")
    agent = run.agent(op)
    run.surface.call(agent, "sync_turn", user_text=_FACT, assistant_text="Noted.")
    for _ in range(min(int(op["n"]), 5) if run.surface.name == "cli" else int(op["n"])):
        block = run.surface.call(agent, "prefetch", message=_ASKED)["text"]
        if not block:
            raise Unknown("the loop recalls nothing, so that it shows nothing")
        run.facts.setdefault("blocks", []).append(block)
        bullets = "\n".join(["Relevant memories:", *(line for line in block.split("\n") if line.startswith("- "))])
        for text in (f"{block}\n\n{_ASKED}", f"{bullets}\n\n{_ASKED}"):
            run.surface.call(agent, "sync_turn", user_text=text, assistant_text=f"According to my memory: {_FACT}")


def _config(run: Run, op: Op, reply: Reply) -> None:
    if "embed_timeout_s" in op:
        run.notes.append("no write waits for a service that embeds, so that there is no time to set for it")
        return
    if op.get("capture") != "on":
        raise Unknown(f"I do not know the configuration {op}")
    run.notes.append("whoever calls sync_turn has turned capture on: there is no switch for it")


def _env(run: Run, op: Op, reply: Reply) -> None:
    if op.get("sqlite") == "fts5 without trigram tokenizer":
        run.notes.append("the keyword index uses no tokenizer but FTS5's own for ASCII, over terms that are made beforehand")
        run.facts["whole"] = True
    elif op.get("tmp") == "not writable":
        run.facts["environment"] = {"TMPDIR": "/dev/null/nowhere", "TEMP": "/dev/null/nowhere", "TMP": "/dev/null/nowhere"}
    elif "TZ" in op:
        timing.zone(run, op["TZ"])
    elif op.get("sqlite") == "no fts5":
        places.bare(run)
    elif "print_on_import" in op:
        run.notes.append("what a library prints is held in tests/integration/test_mcp_stdio.py; here every log there is goes on")
    elif op.get("optional") == "segmenter installed":
        run.notes.append("where the extra zh is installed it is used; what is found is the same without it")
    else:
        raise Unknown(f"I do not know the environment {op}")


def _logs(run: Run, op: Op, reply: Reply) -> None:
    reply.value = run.surface.call(run.agent(op), "events", limit=1000)


OPERATIONS: dict[str, Callable[[Run, Op, Reply], None]] = {
    "sync_turn": _sync_turn,
    "sync_turns": _sync_turns,
    "prefetch": _prefetch,
    "loop": _loop,
    "config": _config,
    "env": _env,
    "logs": _logs,
}


def _texts(run: Run) -> list[str]:
    return [entry["text"] for entry in run.surface.call(None, "list")]


def _count_max(run: Run, value: Any) -> list[str]:
    found = _texts(run)
    return [] if len(found) <= value else [f"at most {value} wanted, there are {len(found)}: {found[:10]}"]


def _entry_like(run: Run, value: Any) -> list[str]:
    return [] if any(value in text for text in _texts(run)) else [f"no entry holds {value!r}: {_texts(run)}"]


def _hits_block_text(run: Run, value: Any) -> list[str]:
    frames = [line for block in run.facts["blocks"] for line in block.split("\n") if not line.startswith("- ")] + ["Relevant memories"]
    found = [text for text in _texts(run) if any(frame and frame in text for frame in frames)]
    return [] if len(found) == value else [f"wanted {value} entries with the block's own words, there are {found}"]


def _text_unchanged(run: Run, value: Any) -> list[str]:
    said = [r.op["user"] for r in run.actions() if r.name == "sync_turn"]
    return [f"{text!r} is not kept as it was said: {_texts(run)}" for text in said if not any(text in kept for kept in _texts(run))]


def _block_marked_as_data(run: Run, value: Any) -> list[str]:
    blocks = [block for block in run.facts["blocks"] if block]
    if not blocks:
        return ["nothing was recalled"]
    return [
        f"not marked as data: {block[:200]!r}"
        for block in blocks
        if not block.startswith("<memory-data ") or "not instructions" not in block
    ]


def _source_shown(run: Run, value: Any) -> list[str]:
    lines = [line for block in run.facts["blocks"] for line in block.split("\n") if line.startswith("- ")]
    return [f"says nothing of where it comes from: {line!r}" for line in lines if "recorded " not in line]


def _closing_marks(run: Run, value: Any) -> list[str]:
    return [f"wanted {value} closing mark: {block!r}" for block in run.facts["blocks"] if block and block.count("</") != value]


def _role_lines(run: Run, value: Any) -> list[str]:
    lines = [line for block in run.facts["blocks"] for line in block.split("\n")[1:-1]]
    found = [line for line in lines if not line.startswith("- ")]
    return [] if len(found) == value else [f"lines that are no item: {found}"]


def _auto_active_rules(run: Run, value: Any) -> list[str]:
    active = run.surface.call(None, "stats")["rules"].get("active", 0)
    return [] if active == value else [f"wanted {value} active rules, there are {active}"]


def _stdout_bytes(run: Run, value: Any) -> list[str]:
    """The library writes nothing to standard output, which may be somebody's protocol."""
    query = next(str(r.op["query"]) for r in run.searches())
    run.surface.reopen()
    done = subprocess.run(
        [sys.executable, "-c", _QUIET, str(run.folder) + "/", query],
        cwd=ROOT,
        capture_output=True,
        env=environment() | run.facts.get("environment", {}),
        timeout=120,
        check=False,
    )
    if done.returncode:
        return [f"status {done.returncode}: {done.stderr.decode('utf-8', 'replace')[-300:]}"]
    return [] if len(done.stdout) == value else [f"wrote {done.stdout[:200]!r}"]


def _bytes_per_turn(run: Run, value: Any) -> list[str]:
    # What an empty store takes is no turn's.
    grown = run.facts["bytes_of_store"] - 400_000
    return [] if grown <= value * run.facts["turns"] else [f"{grown:,} bytes for {run.facts['turns']} turns"]


def secrets_as_in(run: Run) -> list[str]:
    """Of every text, what must not be kept is in no file and no log; what must be kept is there to be recalled."""
    run.surface.reopen()
    raw = b"".join(item.read_bytes() for item in sorted(run.folder.iterdir()))
    logged = json.dumps([r.value for r in run.actions() if r.name == "logs"], ensure_ascii=False)
    kept = "\n".join(_texts(run))
    made = []
    for row in texts.secrets():
        gone = row["must_not_keep"]
        if gone is not None and not gone.startswith("("):
            made += [f"the store holds {gone!r}"] if gone.strip().encode("utf-8") in raw else []
            made += [f"the log says {gone!r}"] if gone.strip() in logged else []
        made += [f"nothing says {row['must_keep']!r}"] if row["must_keep"] not in kept else []
    return made


def _where(run: Run, value: Any) -> list[str]:
    if value != "store, indexes, event log, logs, LLM prompts":
        raise Unknown(f"I do not know how to check {value!r}")
    run.notes.append("what models are asked is held in tests/security/test_write_gate.py")
    files = {item.name for item in run.folder.iterdir()}
    return [] if damage.store_file(run, {"op": ""}).name in files else [f"there is no store among {files}"]


EXPECTATIONS: dict[str, Callable[[Run, Any], list[str]]] = {
    "count_max": _count_max,
    "entry_like": _entry_like,
    "hits_block_text": _hits_block_text,
    "text_unchanged": _text_unchanged,
    "block_marked_as_data": _block_marked_as_data,
    "source_shown": _source_shown,
    "closing_marks_in_block": _closing_marks,
    "role_lines_unescaped": _role_lines,
    "auto_active_rules": _auto_active_rules,
    "stdout_bytes": _stdout_bytes,
    "bytes_per_turn_max": _bytes_per_turn,
    "where": _where,
}

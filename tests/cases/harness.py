"""Operations that are not the product's own: opening and closing, other processes and threads, locks, kills and damage."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from . import agents, bad_values, damage, embedding, places, texts, timing, web
from .model import Left, Op, Refused, Reply, Unknown
from .processes import Peer, Worker
from .python_surface import PythonSurface
from .run import Run
from .shells import commands

LONGEST_HOLD = 0.5
"""Seconds for which a lock is held at most: cases name longer ones, but a wait is a wait."""

MOST_CALLS = 150
"""Commands that a parallel step may take on the command line, where each is a process of its own."""

_SHORT = "<first 8 chars of the id as listed>"
_OWN_TICKET = "settle one own ticket on entry a with delta=+1"


def _open(run: Run, op: Op, reply: Reply) -> None:
    if "by" in op:
        peer = run.peers[op["by"]] = Peer(run.folder)
        run.closing.callback(peer.close)
        return
    run.surface.reopen()
    embedding.opened_with(run, op)
    if "agent" in op:
        places.opened(run, op, reply)
    elif damage.store_file(run, op).exists():
        reply.value = run.surface.call(run.agent(op), "stats")


def _reopen(run: Run, op: Op, reply: Reply) -> None:
    run.surface.reopen()
    embedding.opened_with(run, op)


def _patience(run: Run, op: Op, reply: Reply) -> None:
    run.surface.reopen()
    run.surface.timeout = float(op["seconds"])


def _parallel(run: Run, op: Op, reply: Reply) -> None:
    if "threads" in op:
        if op["each"] != _OWN_TICKET:
            raise Unknown(f"I do not know how to do {op['each']!r} in threads")
        _own_tickets(run, op, int(op["threads"]))
        return
    counts = texts.burst(op["each"])
    processes = int(op["processes"])
    if run.surface.name == "cli":
        if processes * (counts["adds"] + counts["searches"] + 2 * counts["settles"]) > MOST_CALLS:
            raise Left("not here", f"parallel: more than {MOST_CALLS} processes of the command line for one step")
        told = _burst_of_commands(run, op, processes, counts)
    else:
        told = _burst_of_workers(run, op, processes, counts)
    run.facts["errors"] = [error for one in told for error in one["errors"]]
    run.facts["acknowledged"] = [entry for one in told for entry in one["acknowledged"]]
    run.facts["landed"] = sum(one["landed"] for one in told)
    run.facts["to land"] = processes * counts["settles"]
    reply.value = {"errors": run.facts["errors"][:5], "acknowledged": len(run.facts["acknowledged"]), "landed": run.facts["landed"]}


def _burst_of_workers(run: Run, op: Op, processes: int, counts: dict[str, int]) -> list[dict[str, Any]]:
    numbers = [str(counts[name]) for name in ("adds", "searches", "settles")]
    workers = [Worker("burst", str(run.folder), run.agent(op) or "", f"w{i}", *numbers) for i in range(processes)]
    try:
        for worker in workers:
            worker.hear()
        for worker in workers:
            worker.tell("go")
        return [worker.hear() for worker in workers]
    finally:
        for worker in workers:
            worker.end()


def _burst_of_commands(run: Run, op: Op, processes: int, counts: dict[str, int]) -> list[dict[str, Any]]:
    def one(name: str) -> dict[str, Any]:
        made: dict[str, Any] = {"errors": [], "acknowledged": [], "landed": 0}
        for i in range(max(counts.values())):
            try:
                if i < counts["adds"]:
                    note = f"worker {name} writes note {i} about walrus {name}x{i}"
                    made["acknowledged"].append(run.surface.call(run.agent(op), "add", text=note)["id"])
                if i < counts["searches"]:
                    run.surface.call(run.agent(op), "search", query=f"walrus {name}x{i}")
                if i < counts["settles"]:
                    ticket = run.surface.call(run.agent(op), "decide", query=f"note about walrus {name}x{i}")
                    run.surface.call(run.agent(op), "settle", ticket=ticket["id"], delta=1, meter="burst")
                    made["landed"] += 1
            except Refused as refused:
                made["errors"].append(refused.message)
        return made

    with ThreadPoolExecutor(processes) as pool:
        return [*pool.map(one, (f"w{i}" for i in range(processes)))]


def _own_tickets(run: Run, op: Op, threads: int) -> None:
    entry = run.entry("a")
    agent = run.agent(run.added["a"])
    tickets = [run.surface.call(agent, "decide", query=entry["text"])["id"] for _ in range(threads)]
    # A meter that may speak over the surface: what is typed without one moves no more than half a stake.
    run.surface.call(agent, "meter", name="threads")
    run.surface.call(agent, "bind", name="threads", channel="cli")
    start = threading.Barrier(threads)

    def one(ticket: str) -> dict[str, Any]:
        start.wait()
        made: dict[str, Any] = run.surface.call(agent, "settle", ticket=ticket, delta=1, meter="threads")
        return made

    with ThreadPoolExecutor(threads) as pool:
        run.facts["settlements"] = [*pool.map(one, tickets)]
    run.facts["balance before"] = entry["balance"]


def _call_from_threads(run: Run, op: Op, reply: Reply) -> None:
    if not isinstance(run.surface, PythonSurface):
        raise Left("not here", "call_from_threads: every command is a process of its own")
    memory = run.surface.memory(run.agent(op))
    errors: list[str] = []

    def one(i: int) -> None:
        try:
            entry = memory.add(f"thread note {i} about walrus t{i}")
            assert entry.id in [hit.entry.id for hit in memory.search(f"walrus t{i}")], f"note {i} was not found"
            ticket = memory.decide(f"thread note {i} about walrus t{i}")
            assert ticket.id is not None and memory.settle(ticket.id, delta=1, meter="threads").landed, f"note {i} did not settle"
        except Exception as error:  # noqa: BLE001  whatever it is, it is counted
            errors.append(f"{type(error).__name__}: {error}")

    async def together(n: int) -> None:
        await asyncio.gather(*(asyncio.to_thread(one, n + i) for i in range(n)))

    n = int(op["n"])
    with ThreadPoolExecutor(n) as pool:
        [*pool.map(one, range(n))]
    asyncio.run(together(n))
    run.facts["errors"] = errors
    run.notes.append(f"{n} threads and {n} asyncio tasks share one Memory, without the pauses that the case names")


def _hold(run: Run, op: Op, reply: Reply) -> None:
    file = damage.store_file(run, op)
    if not file.exists():
        with PythonSurface(run.folder).memory(run.agent(op)):
            pass
    worker = Worker("hold", str(file))
    run.closing.callback(worker.end)
    worker.hear()
    run.facts["holder"] = worker
    if op.get("until") == "release_lock":
        return
    seconds = min(float(op["seconds"]), LONGEST_HOLD)
    timer = threading.Timer(seconds, worker.tell)
    timer.start()
    run.closing.callback(timer.join)
    if seconds < float(op["seconds"]):
        run.notes.append(f"the lock is held for {seconds:g} s in place of {op['seconds']:g} s")


def _release(run: Run, op: Op, reply: Reply) -> None:
    worker: Worker = run.facts["holder"]
    worker.tell()
    worker.hear()


def _backup(run: Run, op: Op, reply: Reply) -> None:
    surface = run.peers[op["by"]] if "by" in op else run.surface
    target = run.folder.parent / f"backup-{len(run.replies)}.db"
    surface.call(run.agent(op), "backup", path=str(target))
    reply.value = damage.look_over(target)
    if not reply.value["ok"]:
        raise Refused(frozenset({"crash"}), f"the backup is damaged: {reply.value['problems']}")


def _compact(run: Run, op: Op, reply: Reply) -> None:
    run.notes.append("of compact, backup and restore there is a backup; a store is restored by opening the copy")
    _backup(run, op, reply)


def _bad_values(run: Run, op: Op, reply: Reply) -> None:
    if run.surface.name != "python":
        raise Left("not here", "bad_values: every word of a command line is text")
    reply.value = run.facts["stumbles"] = bad_values.stumbles(run.folder)


def _append(run: Run, op: Op, reply: Reply) -> None:
    reply.value = run.surface.call(run.agent(op), "add", text="an entry, whose birth is an event")


def _kill(run: Run, op: Op, reply: Reply) -> None:
    if run.surface.name == "cli":
        damage.kill_commands(run, op, int(op["times"]))
        return
    acknowledged: list[str] = []
    settled: list[str] = []
    run.surface.reopen()
    for i in range(int(op["times"])):
        worker = Worker("save", str(run.folder), run.agent(op) or "", f"k{i}")
        heard = [worker.hear() for _ in range(1 + i % 5)]
        heard += worker.kill()
        acknowledged += [line["id"] for line in heard if "id" in line]
        settled += [line["settled"] for line in heard if "settled" in line]
    run.facts["acknowledged"], run.facts["settled"] = acknowledged, settled
    run.facts["kills"] = int(op["times"])


def _cli(run: Run, op: Op, reply: Reply) -> None:
    """A command as a person types it, whichever surface the rest of the case is played on."""
    run.surface.reopen()
    args = [_listed_id(run) if word == _SHORT else word for word in timing.in_words(run, op["args"])]
    reply.code, out, err = commands(run, **op.get("env", {})).raw(args)
    reply.value = {"args": args, "out": out}
    reply.said = out + err
    if "there is no command" in err:
        raise Left("not yet", f"there is no command {op['args'][0]!r}")


def _listed_id(run: Run) -> str:
    _, out, _ = commands(run).raw(["list"])
    # The table is headed; the first word of a line is the id, as long as it is shown.
    return out.splitlines()[1].split()[0][:8]


def _start(run: Run, op: Op, reply: Reply) -> None:
    if op.get("surface") == "dashboard and rest":
        web.start(run, op)
    else:
        agents.OPERATIONS["start"](run, op, reply)


SUBSTITUTES: dict[str, Callable[[Run, Op, Reply], None]] = {}
"""What is done in place of an operation that the product does not have yet; the case still counts as one with a part left out."""


OPERATIONS: dict[str, Callable[[Run, Op, Reply], None]] = {
    "open": _open,
    "reopen": _reopen,
    "close": _reopen,
    "patience": _patience,
    "parallel": _parallel,
    "call_from_threads": _call_from_threads,
    "hold_write_lock": _hold,
    "release_lock": _release,
    "backup": _backup,
    "compact, backup, or restore": _compact,
    "bad_values": _bad_values,
    "append event": _append,
    "kill -9 during save": _kill,
    "cli": _cli,
    **agents.OPERATIONS,
    **web.OPERATIONS,
    "start": _start,
    **embedding.OPERATIONS,
    **places.OPERATIONS,
    "damage": damage.damage,
    "store_of_version": damage.store_of_version,
}

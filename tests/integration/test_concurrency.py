"""Many processes and many threads on one store: nothing is lost, nothing is doubled, nobody waits for ever."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import apsw
import pytest

from earnest.errors import EarnestError, StoreBusy
from earnest.memory import Memory

ROOT: Final = Path(__file__).resolve().parents[2]

# One of many processes. They all know all tickets, so that several of them settle, abandon and race for the same ones.
RACER: Final = """
import json, random, sys
from earnest.errors import NotAllowed
from earnest.memory import Memory
path, me, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
rng = random.Random(me)
done = []
with Memory.open(path) as memory:
    shared = [t.id for t in memory.pending()]
    print("ready", flush=True)
    sys.stdin.readline()
    for n in range(count):
        verb = rng.choice(("settle", "settle", "settle", "abandon", "add", "decide", "tick", "update", "search"))
        if verb == "settle":
            ticket = rng.choice(shared)
            if memory.settle(ticket, delta=rng.choice((1.0, -1.0, 0.25)), meter="race", detail=me, key=f"{me}-{n}").landed:
                done.append(["settle", ticket])
        elif verb == "abandon":
            ticket = rng.choice(shared)
            if memory.abandon(ticket):
                done.append(["abandon", ticket])
        elif verb == "add":
            done.append(["add", memory.add(f"Machine {me} has part {n}.", sources=[me], key=f"{me}-{n}").id])
        elif verb == "decide":
            ticket = memory.decide("Which hall holds machine four?", key=f"{me}-{n}")
            if ticket.id:
                done.append(["decide", ticket.id])
        elif verb == "tick":
            memory.tick(slot=f"slot-{n}")
        elif verb == "update":
            chosen = rng.choice(memory.list())
            try:
                memory.update(chosen.id, importance=rng.random())
            except NotAllowed:
                pass  # it died in between
        else:
            memory.search("machine hall", k=5)
print(json.dumps(done))
"""


def raced(path: Path, processes: int, count: int) -> list[tuple[str, str]]:
    """Lets processes race, all from the same start; returns what each was told to have done."""
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(path), f"p{n}", str(count)],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for n in range(processes)
    ]  # fmt: skip
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n", racer.communicate()[1]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    said: list[tuple[str, str]] = []
    ended = [racer.communicate(timeout=600) for racer in racers]
    assert [errors for _, errors in ended] == [""] * processes
    for out, _ in ended:
        said += [(verb, name) for verb, name in json.loads(out)]
    return said


@pytest.mark.timeout(1_800)
def test_eight_processes_race(tmp_path: Path, full: bool) -> None:
    path = tmp_path / "m.db"
    with Memory.open(path) as memory:
        for n in range(8):
            memory.add(f"Hall {n} holds machine {n + 1}.")
        tickets = [memory.decide(f"Which machine does hall {n % 8} hold?", k=2).id for n in range(24)]
    said = raced(path, 8, 1_000 if full else 40)
    with Memory.open(path) as memory:
        checked = memory.check()
        assert checked.ok, checked.problems
        stats = memory.stats()
        held = sum(e.balance for standing in (None, "dead") for e in memory.list(standing=standing) if e.retention == "earned")
        assert stats.energy == sum(e.balance for e in memory.list() if e.retention == "earned") == held
        told = Counter(said)
        assert max(told.values()) == 1, "two processes were told that they had done the same"
        ends = Counter(name for verb, name in said if verb in ("settle", "abandon"))
        assert all(count == 1 for count in ends.values()), "a ticket ended twice"
        assert set(ends) <= set(tickets)
        logged = Counter(e.ticket for kind in ("settle", "abandon", "expire") for e in memory.events(kind=kind, limit=100_000))
        assert all(count == 1 for count in logged.values())
        assert Counter(name for verb, name in said if verb == "settle") == Counter(
            e.ticket for e in memory.events(kind="settle", limit=100_000)
        )
        for verb, name in said:
            if verb == "add":
                assert memory.get(name).id == name
        decided = {e.ticket for e in memory.events(kind="decide", limit=100_000)}
        assert {name for verb, name in said if verb == "decide"} <= decided
        ticks = memory.events(kind="tick", limit=100_000)
        assert len(ticks) == stats.tick == len({e.tick for e in ticks}), "a slot was ticked twice"


def test_many_processes_make_one_new_store(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    code = "import sys; from earnest.memory import Memory; m = Memory.open(sys.argv[1]); m.add(f'Written by {sys.argv[2]}.'); m.close()"
    makers = [subprocess.Popen([sys.executable, "-c", code, str(path), str(n)], cwd=ROOT, stderr=subprocess.PIPE) for n in range(8)]
    errors = [maker.communicate(timeout=120)[1].decode() for maker in makers]
    assert errors == [""] * 8
    with Memory.open(path) as memory:
        assert len(memory.list()) == 8
        assert [event.kind for event in memory.events()].count("create") == 1
        assert memory.check().ok


def test_eight_threads_share_one_memory(tmp_path: Path, full: bool) -> None:
    count = 200 if full else 15
    errors: list[BaseException] = []
    landed: list[str] = []
    with Memory.open(tmp_path / "m.db") as memory:
        memory.add("Hall one holds machine one.")
        # An entry that nothing was measured of yet is not named by more than ten open tickets.
        assert memory.settle(memory.decide("Which machine does hall one hold?").id or "", delta=0.5, meter="m")
        tickets = [memory.decide("Which machine does hall one hold?").id or "" for _ in range(count)]

        def work(me: int) -> None:
            try:
                for n in range(count):
                    memory.add(f"Part {n} of thread {me}.", key=f"{me}-{n}")
                    memory.search(f"part {n}")
                    memory.answer("Which machine does hall one hold?")
                    if memory.settle(tickets[n], delta=0.5, meter="m"):
                        landed.append(tickets[n])
                    memory.stats()
                    memory.list(limit=5)
            except (EarnestError, RuntimeError, apsw.Error) as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(me,)) for me in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors, errors
        assert sorted(landed) == sorted(tickets), "each ticket lands once"
        assert len(memory.list()) == 8 * count + 1
        assert memory.check().ok


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Somebody else holds the write lock."""
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


def test_a_held_lock_is_waited_for_and_then_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memory.open(path, timeout=0.3) as memory:
        memory.add("Hall one holds machine one.")
        ticket = memory.decide("Which machine does hall one hold?").id or ""
        before = memory.check().head
        verbs: list[Any] = [
            lambda: memory.add("Written by a loser.", key="k"),
            lambda: memory.settle(ticket, delta=1.0, key="s"),
            lambda: memory.decide("Which machine does hall one hold?"),
            lambda: memory.abandon(ticket),
            memory.tick,
            lambda: memory.configure(rent=0.5),
        ]
        with held(path):
            for verb in verbs:
                with pytest.raises(StoreBusy, match="nothing was recorded"):
                    verb()
            assert [hit.entry.text for hit in memory.search("machine one")] == ["Hall one holds machine one."], "readers never wait"
            assert memory.stats().pending == 1
            with pytest.raises(StoreBusy):
                Memory.open(path, timeout=0.1, settings={"rent": 0.5})
        assert memory.check().head == before
        assert memory.settle(ticket, delta=1.0, key="s").landed
        memory.add("Written by a loser.", key="k")
        assert memory.check().ok


def test_a_lock_that_is_let_go_in_time_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memory.open(path, timeout=30.0) as memory:
        free = threading.Event()

        def hold() -> None:
            with held(path):
                taken.set()
                free.wait(10)

        taken = threading.Event()
        holder = threading.Thread(target=hold)
        holder.start()
        taken.wait(10)
        threading.Timer(0.2, free.set).start()
        memory.add("Waited for.")
        holder.join()
        assert memory.search("waited")


def test_a_thread_does_not_wait_for_another_for_ever(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m.db", timeout=0.2) as memory:
        caught: list[BaseException] = []

        def write() -> None:
            try:
                memory.add("Written by the second thread.")
            except StoreBusy as error:
                caught.append(error)

        with memory._store.write(memory._author()):
            second = threading.Thread(target=write)
            second.start()
            second.join(30)
            assert not second.is_alive()
        assert len(caught) == 1 and "another thread" in str(caught[0])
        assert memory.list() == []


def test_what_another_process_did_is_seen_by_the_next_search(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    code = """
import sys
from earnest.memory import Memory
with Memory.open(sys.argv[1]) as memory:
    for line in sys.stdin:
        verb, _, rest = line.strip().partition(" ")
        if verb == "add":
            print(memory.add(rest).id, flush=True)
        elif verb == "forget":
            print(memory.forget(rest).standing, flush=True)
        elif verb == "configure":
            print(memory.configure(floor=float(rest)).floor, flush=True)
        elif verb == "tick":
            print(memory.tick().tick, flush=True)
"""
    with Memory.open(path) as memory:
        memory.add("Hall one holds machine one.")
        memory.search("machine")
        other = subprocess.Popen(
            [sys.executable, "-c", code, str(path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

        def asked(line: str) -> str:
            assert other.stdin is not None and other.stdout is not None
            other.stdin.write(line + "\n")
            other.stdin.flush()
            return other.stdout.readline().strip()

        made = asked("add Hall two holds machine two.")
        assert {hit.entry.id for hit in memory.search("machine two")} >= {made}
        assert memory.answer("machine two").deciding is not None
        assert asked(f"forget {made}") == "dead"
        assert made not in {hit.entry.id for hit in memory.search("machine two")}
        assert made not in {entry.id for entry in memory.list()}
        assert asked("configure 0.9") == "0.9" and memory.settings.floor == 0.9
        assert asked("tick now") == "1" and memory.stats().tick == 1
        other.communicate(timeout=30)
        assert memory.check().ok


def test_opening_and_closing_leaves_nothing_open(tmp_path: Path, full: bool) -> None:
    path, fds = tmp_path / "m.db", Path("/proc/self/fd")

    def cycle(number: int = 0) -> None:
        with Memory.open(path) as memory:
            memory.search("machine")
            if number % 10 == 0:
                memory.add(f"Hall {number} holds a machine.")
                memory.check()

    def open_files() -> int:
        gc.collect()  # what other tests left to the collector is no file of this one
        return len([*fds.iterdir()]) if fds.exists() else 0

    cycle()
    before, threads = open_files(), threading.active_count()
    for number in range(1_000 if full else 200):
        cycle(number)
    assert open_files() == before
    assert threading.active_count() == threads
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m.db"], "a closed store is one file"


def test_a_failed_opening_leaves_nothing_open(tmp_path: Path) -> None:
    fds = Path("/proc/self/fd")
    (tmp_path / "text.db").write_text("not a database " * 100)
    with Memory.open(tmp_path / "m.db", "ops"):
        pass
    before = len([*fds.iterdir()]) if fds.exists() else 0
    for _ in range(50):
        for path, agent in ((tmp_path / "text.db", None), (tmp_path / "m.db", "other"), (tmp_path / "none" / "m.db", None)):
            with pytest.raises(EarnestError):
                Memory.open(path, agent)
    assert (len([*fds.iterdir()]) if fds.exists() else 0) == before


def test_the_lock_of_a_dead_process_is_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    code = """
import os, sys
from earnest.memory import Memory
memory = Memory.open(sys.argv[1])
with memory._store.write(memory._author()) as tx:
    tx.bump("tick", 1)
    print("holding", flush=True)
    sys.stdin.readline()
    os._exit(9)
"""
    with Memory.open(path, timeout=0.2) as memory:
        memory.add("Hall one holds machine one.")
        holder = subprocess.Popen(
            [sys.executable, "-c", code, str(path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert holder.stdout is not None
        assert holder.stdout.readline() == "holding\n"
        with pytest.raises(StoreBusy):
            memory.tick()
        holder.kill()
        holder.communicate()
        assert memory.tick().tick == 1, "what the dead process had not committed is gone"
        assert memory.check().ok


_FORKED = """
import os, sys
from earnest import Memory
from earnest.errors import StoreError
memory = Memory.open(sys.argv[1])
memory.add("written by the parent")
child = os.fork()
if child == 0:
    try:
        memory.stats()
    except StoreError as error:
        with Memory.open(sys.argv[1]) as own:
            own.add("written by the child")
        os._exit(0 if "forked" in str(error) else 1)
    os._exit(2)
assert os.waitpid(child, 0)[1] == 0
print(memory.stats().alive, memory.check().ok)
"""


def test_a_store_that_was_open_before_a_fork_is_opened_again_in_the_child(tmp_path: Path) -> None:
    # Where a platform cannot fork there is nothing to hold.
    if not hasattr(os, "fork"):
        return
    ran = subprocess.run([sys.executable, "-c", _FORKED, str(tmp_path / "m.db")], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.stdout, ran.stderr) == ("2 True\n", "")

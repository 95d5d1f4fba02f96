"""Clients of the service, each in a process of its own with one connection, and the server that they ask."""

from __future__ import annotations

import http.client
import json
import math
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

TOKEN: Final = "a-token-for-the-benchmark-of-the-service"
AGENT: Final = "/v1/agents/bench"


class Service:
    """`earnest serve` in a process of its own, without a bound on the rate."""

    def __init__(self, root: Path) -> None:
        words = ["serve", "--root", str(root), "--port", "0", "--rate", "0", "--json"]
        environ = {**os.environ, "EARNEST_TOKEN": TOKEN, "EARNEST_EMBEDDER": os.environ.get("EARNEST_EMBEDDER", "none")}
        self._process = subprocess.Popen([sys.executable, "-m", "earnest", *words], stdout=subprocess.PIPE, text=True, env=environ)
        assert self._process.stdout is not None
        said = ""
        for line in self._process.stdout:
            said += line
            if line.startswith("}"):
                break
        self.port = int(json.loads(said)["address"].rpartition(":")[2])

    def resident(self) -> int:
        """Kilobytes that it holds in memory; 0 where the system does not tell."""
        try:
            lines = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii").splitlines()
        except OSError:
            return 0
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))

    def files(self) -> int:
        """Files that it has open; 0 where the system does not tell."""
        try:
            return sum(1 for _ in Path(f"/proc/{self._process.pid}/fd").iterdir())
        except OSError:
            return 0

    def end(self) -> None:
        """End it, with what runs done."""
        self._process.terminate()
        self._process.wait(60)


class Client:
    """One connection that stays open."""

    def __init__(self, port: int) -> None:
        self._web = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}

    def ask(self, path: str, body: dict[str, Any]) -> tuple[int, float, bytes]:
        """The status of an answer, the seconds that it took, and what it said."""
        said = json.dumps(body)
        begun = time.perf_counter()
        self._web.request("POST", AGENT + path, said, self._headers)
        answer = self._web.getresponse()
        told = answer.read()
        return answer.status, time.perf_counter() - begun, told

    def close(self) -> None:
        """Close the connection."""
        self._web.close()


def asked(port: int, kind: str, questions: Sequence[str]) -> tuple[float, float, list[float], list[float], int]:
    """One client's share of a chunk: when it began and ended, the seconds of each request (of each settlement too), and how many failed."""
    client = Client(port)
    taken: list[float] = []
    settled: list[float] = []
    failed = 0
    begun = time.time()
    for question in questions:
        if kind == "search":
            status, seconds, _ = client.ask("/search", {"query": question, "k": 5})
        else:
            status, seconds, told = client.ask("/decisions", {"query": question})
            ticket = json.loads(told).get("id") if status == 201 else None
            if ticket:
                landed, more, _ = client.ask(f"/decisions/{ticket}/settlement", {"delta": 1.0, "meter": "bench"})
                settled.append(more)
                failed += landed != 200
        taken.append(seconds)
        failed += status not in (200, 201)
    ended = time.time()
    client.close()
    return begun, ended, taken, settled, failed


def chunk(pool: Any, port: int, kind: str, questions: Sequence[str], clients: int) -> dict[str, Any]:
    """So many questions, shared among the clients, who ask at the same time."""
    shares = [questions[number::clients] for number in range(clients)]
    made = pool.starmap(asked, [(port, kind, share) for share in shares])
    taken = sorted(seconds for one in made for seconds in one[2])
    settled = sorted(seconds for one in made for seconds in one[3])
    return {
        "kind": kind, "requests": len(taken) + len(settled), "seconds": max(one[1] for one in made) - min(one[0] for one in made),
        "taken": histogram(taken), "settled": histogram(settled), "failed": sum(one[4] for one in made),
    }  # fmt: skip


def clients_pool(clients: int) -> Any:
    """Processes for so many clients."""
    return multiprocessing.get_context("spawn").Pool(clients)


STEP: Final = 1.02
"""Ratio of neighbouring bounds of a histogram: percentiles from it are right within two in a hundred."""
LEAST: Final = 1e-5


def histogram(seconds: Sequence[float]) -> dict[str, int]:
    """How often which time was taken, by the number of steps above ten microseconds."""

    made: dict[str, int] = {}
    for value in seconds:
        place = str(max(0, math.ceil(math.log(max(value, LEAST) / LEAST) / math.log(STEP))))
        made[place] = made.get(place, 0) + 1
    return made


def percentile(histograms: Sequence[dict[str, int]], share: float) -> float:
    """The time that this share of all requests took at most, in seconds; 0 where there are none."""
    total: dict[int, int] = {}
    for one in histograms:
        for name, count in one.items():
            total[int(name)] = total.get(int(name), 0) + count
    left = share * sum(total.values())
    for place in sorted(total):
        left -= total[place]
        if left <= 0:
            return LEAST * math.pow(STEP, place)
    return 0.0

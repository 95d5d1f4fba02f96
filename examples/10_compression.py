"""A world of your own, on a real disk: which files should be compressed? What is measured is free bytes.

    python examples/10_compression.py [CYCLES]

The disk also fills by itself, whatever anybody advises. `control` measures that, a cycle at a time, so that memory learns what would have
happened anyway; `remeasure` looks a second time by another way. Answers are read with the reader of decisions and this world's own phrases.
"""

from __future__ import annotations

import sys
import tempfile
import zlib
from pathlib import Path

from earnest import Memory, Outcome, SurvivalConfig, SurvivalLoop, Task
from earnest.environments import decision_polarity
from earnest.environments.base import world_rng

KINDS = {"log": "request logs", "photo": "uploaded photos"}
ADVICE = {
    "runbook": ["The request logs are safe to compress: they repeat the same lines."],
    "hallway": ["The uploaded photos are safe to compress: every file gets smaller."],
}
GROWTH = -4_000
"""Bytes by which the disk fills in each measurement, whatever is done."""


class CompressionEnv:
    """Files on a temporary disk. Compressing what repeats frees bytes; what is packed already only grows, and has to be unpacked again."""

    resource_scale = 40_000.0  # an ordinary effect: what compressing one log frees
    unpacking = 30_000  # what it costs when a packed photo has to be unpacked for the next visitor, in bytes of traffic

    def __init__(self, folder: Path, seed: int = 7) -> None:
        self.folder, self.seed = folder, seed

    def tasks(self, cycle: int) -> list[Task]:
        """Two fresh files, the same ones for ever for this cycle."""
        made = []
        for kind, words in KINDS.items():
            path = self.folder / f"{cycle}.{kind}"
            path.write_bytes(self._content(kind, cycle))
            made.append(Task(f"May the {words} be compressed?", {"path": path, "kind": kind}))
        return made

    def _content(self, kind: str, cycle: int) -> bytes:
        chance = world_rng(f"compression-{kind}", self.seed, cycle)
        if kind == "log":
            return b"".join(b"GET /health 200 in %d ms\n" % chance.randrange(1, 9) for _ in range(2_000))
        return chance.randbytes(60_000)  # a photo is packed already

    def verify(self, task: Task, answer: str) -> Outcome:
        """Compress if the answer says so, and ask the disk how much there is now."""
        path: Path = task.context["path"]
        before = path.stat().st_size
        if decision_polarity(answer, extra_positive=("safe to compress",), extra_negative=("leave as they are",)) is not True:
            return Outcome(GROWTH, "left as it was", acted=False)
        path.write_bytes(zlib.compress(path.read_bytes()))
        freed = before - path.stat().st_size
        price = self.unpacking if task.context["kind"] == "photo" else 0
        return Outcome(freed - price + GROWTH, f"{freed:+,} bytes on the disk, {price:,} for unpacking", acted=True)

    def control(self, cycle: int) -> Outcome:
        """What doing nothing brings in this cycle."""
        return Outcome(GROWTH, "nothing was done", acted=False)

    def remeasure(self, task: Task, outcome: Outcome) -> Outcome:
        """The same by another way: read the file back and unpack it, instead of asking for its size."""
        path: Path = task.context["path"]
        if not outcome.acted:
            return Outcome(GROWTH, "left as it was", acted=False)
        packed = path.read_bytes()
        price = self.unpacking if task.context["kind"] == "photo" else 0
        return Outcome(len(zlib.decompress(packed)) - len(packed) - price + GROWTH, "by unpacking", acted=True)


def live(cycles: int) -> None:
    """Let both pieces of advice meet the disk."""
    with tempfile.TemporaryDirectory() as folder, Memory.open(":memory:") as memory:
        for source, texts in ADVICE.items():
            memory.add_many([{"text": text, "sources": [source]} for text in texts])
        report = SurvivalLoop(memory, CompressionEnv(Path(folder)), config=SurvivalConfig(cycles=cycles, write_experience=False)).run()
        print(report.summary())
        print("\nWhat became of the advice:")
        for entry in [*memory.list(), *memory.list(standing="dead")]:
            print(f"  {entry.cause or entry.standing:9}  [{entry.sources[0]}] {entry.text}")
        for words in KINDS.values():
            answer = memory.answer(f"May the {words} be compressed?")
            print(f"  {words}: {answer.text or 'silent'}")


if __name__ == "__main__":
    live(int(sys.argv[1]) if len(sys.argv) > 1 else 8)

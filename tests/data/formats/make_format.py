"""Makes the file of the newest format and what is known of it: `python tests/data/formats/make_format.py`.

One of everything that a store can hold. A released format's file is never made again: it is what users have.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from earnest.core.filters import ALL
from earnest.embedders import HashingEmbedder
from earnest.memory import Memory
from earnest.stores.sqlite.schema import FORMAT
from earnest.testing.clock import ManualClock, SeededRng

HERE: Final = Path(__file__).resolve().parent
NAME: Final = f"format-{FORMAT}"
QUESTIONS: Final = ("May old log files be deleted?", "Wo liegen die Sicherungen?", "バックアップはいつ実行されますか", "Restart the queue?")

FIELDS: Final = (
    "text",
    "cue",
    "kind",
    "origin",
    "scope",
    "standing",
    "cause",
    "balance",
    "sources",
    "tags",
    "lineage",
    "version",
    "pinned",
)


def filled(memory: Memory, clock: ManualClock) -> None:
    """Entries of every kind, tickets of every end, deaths of several causes, a merge, an undo."""
    logs = memory.add("Old log files may be deleted after seven days.", sources=["runbook"], tags=["disk", "logs"], metadata={"page": 4})
    memory.add("Old log files may be deleted after seven days.", sources=["wiki"])
    harmful = memory.add("Restart the queue by hand whenever it is slow.", cue="Restart the queue?", sources=["forum"])
    memory.add("Die Sicherungen liegen im Keller von Haus drei.", scope="büro", kind="episodic", valid_from="2025-11-05T08:00:00+01:00")
    memory.add("バックアップは毎晩二時に実行されます。", importance=0.9, retention="fading")
    memory.add("Wenn die Platte voll ist, zuerst fragen.", kind="rule", cue="Platte voll", retention="kept")
    near = [memory.add(f"Printer nine is on floor two{end}").id for end in (".", ", always.")]
    forgotten = memory.add("The coffee machine is broken.")
    edited = memory.add("The gate closes at eight.", importance=0.2)
    memory.meters.add("disk", unit="bytes", scale=4096.0)
    memory.meters.bind("disk", channel="python")
    for delta in (8192.0, 100.0, 0.0):
        clock.advance(hours=1)
        memory.settle(_decided(memory, QUESTIONS[0]), delta=delta, meter="disk", acted=True, detail="freed", key=f"settle-{delta}")
    for _ in range(2):
        memory.settle(_decided(memory, QUESTIONS[3]), delta=-50.0, meter="queue", acted=True)
    assert memory.get(harmful.id).standing == "dead"
    memory.abandon(_decided(memory, QUESTIONS[0]), reason="nobody looked")
    memory.pin(memory.merge(near).id)
    memory.undo(memory.events(kind="pin", limit=1)[0].seq)
    memory.update(edited.id, text="The gate closes at nine.", key="update")
    memory.update(logs.id, importance=0.75)
    memory.forget(forgotten.id, "repaired")
    memory.configure(rent=0.3, expire_after=3)
    _judged(memory)
    _decided(memory, QUESTIONS[0])
    for day in range(4):
        clock.advance(days=1)
        memory.tick(slot=f"day-{day}")
    memory.add("Written last.", sources=["runbook"])
    _decided(memory, QUESTIONS[0])


def _judged(memory: Memory) -> None:
    """What selection by evidence keeps: words, second looks, controls, a suspension, a revoked meter, withheld decisions."""
    memory.configure(rule="evidence")
    memory.add("Reboot the router whenever the page is blank.", sources=["forum"])
    memory.settle(_decided(memory, "Reboot the router?"), delta=-9000.0, meter="disk", acted=True)
    ticket = _decided(memory, QUESTIONS[0])
    memory.settle(ticket, delta=5000.0, meter="disk", acted=True)
    memory.remeasure(ticket, delta=4800.0, meter="disk-2")
    memory.control(delta=12.0, meter="disk")
    memory.meters.add("rumour")
    memory.meters.revoke("rumour")
    memory.configure(holdout=0.5, holdout_entry=0.5)
    for _ in range(4):
        memory.settle(_decided(memory, QUESTIONS[0]), delta=4000.0, meter="disk")
    memory.configure(holdout=0.0)


def _decided(memory: Memory, question: str) -> str:
    ticket = memory.decide(question).id
    assert ticket is not None, question
    return ticket


def known(memory: Memory) -> dict[str, Any]:
    """What has to be the same for ever, whichever Earnest opens the file."""
    stats = memory.stats()
    with memory._store.read() as reading:
        booked = reading.totals()["accounts"]
    entries = [*memory.list(scope=ALL), *memory.list(scope=ALL, kind="rule"), *memory.list(scope=ALL, standing="dead")]
    return {
        "agent": memory.agent,
        "head": memory.check().head,
        "counts": {
            name: getattr(stats, name)
            for name in ("alive", "suspended", "dead", "pending", "tick", "energy", "decisions", "settled", "abandoned", "expired")
        },
        "accounts": dict(booked),
        "causes": dict(stats.by_cause),
        "entries": {e.id: {name: getattr(e, name) for name in FIELDS} | {"metadata": dict(e.metadata)} for e in entries},
        "events": memory.audit().by_kind,
        "found": {q: [hit.entry.id for hit in memory.search(q, scope=ALL, k=3, mode="keyword")] for q in QUESTIONS},
    }


def make(folder: Path) -> None:
    """Writes both files, in place of the ones that are there."""
    file = folder / f"{NAME}.db"
    file.unlink(missing_ok=True)
    clock = ManualClock()
    with Memory.open(
        file, agent="fixture", clock=clock, rng=SeededRng(1), embedder=HashingEmbedder(64), settings={"rule": "classic"}
    ) as memory:
        filled(memory, clock)
        said = known(memory)
    (folder / f"{NAME}.json").write_text(json.dumps(said, ensure_ascii=False, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    make(HERE)
    print(f"wrote {NAME}.db")

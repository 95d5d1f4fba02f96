"""`earnest demo`: three documents go in, a real disk judges what they advise, and what did harm is gone at the end."""

from __future__ import annotations

import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from earnest.cli.common import energy, plural, sources
from earnest.cli.render import Painted, Screen, fit, one_line
from earnest.errors import InvalidInput

if TYPE_CHECKING:
    from earnest.core.entry import Entry
    from earnest.core.events import Event
    from earnest.core.reports import Check, EncodeReport
    from earnest.memory import Memory
    from earnest.survival import CycleStats

POISON: Final = "forum-post"
_ABOUT: Final = (
    ("runbook", "what may be deleted, and what is protected and must be kept"),
    ("platform-notes", "how the platform works, and trivia"),
    (POISON, "POISONED: it calls protected databases and reports safe to delete"),
)
_COLOURS: Final = {"executed": "red", "starved": "yellow", "merged": "cyan"}
_HEAD: Final = "cycle  alive  suspended  dead     freed now      freed in all         harm now"
_WATCHED: Final = 6.0
_PAUSE: Final = 0.2
_PAGE: Final = 1_000
_EXAMPLES: Final = 2


@dataclass(slots=True)
class Row:
    """What one cycle brought. Bytes are whole numbers; `harm` is the modelled cost of restoring protected files."""

    cycle: int
    alive: int
    suspended: int
    dead: int
    freed: int
    total_freed: int
    harm: int
    happened: list[str] = field(default_factory=list)


class _Watcher:
    """Reads from the log what each cycle did, and shows it."""

    def __init__(self, memory: Memory, screen: Screen, pause: float) -> None:
        self.rows: list[Row] = []
        self._memory, self._screen, self._pause = memory, screen, pause
        self._seen = memory.check().events

    def __call__(self, stats: CycleStats) -> None:
        events = [*_events_after(self._memory, self._seen)]
        if events:
            self._seen = events[-1].seq
        deltas = [event.data["delta"] for event in events if event.kind == "settle"]
        freed, harm = round(sum(d for d in deltas if d > 0)), round(-sum(d for d in deltas if d < 0))
        now = self._memory.stats()
        total = freed + (self.rows[-1].total_freed if self.rows else 0)
        row = Row(stats.cycle, now.alive, now.suspended, now.dead, freed, total, harm)
        told = _happened(self._memory, events)
        row.happened = [text for text, _ in told]
        self.rows.append(row)
        if not self._screen.as_json:
            self._show(row, told)

    def _show(self, row: Row, told: list[tuple[str, str]]) -> None:
        harm = Painted(f"{row.harm:>15,}", "red bold" if row.harm else "dim")
        self._screen.say(
            f"{row.cycle:>5}  {row.alive:>5}  {row.suspended:>9}  {row.dead:>4}  ",
            Painted(f"{row.freed:>12,}", "green" if row.freed else "dim"),
            f"  {row.total_freed:>16,}  ",
            harm,
        )
        for text, style in told:
            self._screen.cut("         ", Painted(text, style))
        self._screen.stream.flush()
        if self._pause:
            time.sleep(self._pause)


def _events_after(memory: Memory, seen: int) -> Iterator[Event]:
    while page := memory.events(after=seen, limit=_PAGE):
        yield from page
        seen = page[-1].seq


def _happened(memory: Memory, events: list[Event]) -> list[tuple[str, str]]:
    """The births, suspensions, deaths and merges of a cycle as lines with a style; many deaths of one cause are counted.

    What happened comes first: a narrow window cuts the end of a line.
    """
    told: list[tuple[str, str]] = []
    ended: dict[str, list[Entry]] = {}
    for event in events:
        if event.kind == "add" and event.data.get("origin") == "experience":
            told.append((f"learned from what was measured: {_quoted(memory.get(event.entries[0]))}", "green"))
        elif event.kind in ("suspend", "clear") and event.data["reason"] in ("harm", "evidence"):
            entry = memory.get(event.entries[0])
            what = "suspended for measured harm" if event.kind == "suspend" else "cleared by what was measured"
            told.append((f"{what}: {_from(entry)}", "yellow" if event.kind == "suspend" else "green"))
        elif event.kind == "merge":
            told.append((f"merged {len(event.entries) - 1} near-duplicates: {_quoted(memory.get(event.entries[0]))}", "cyan"))
        elif event.kind == "death":
            ended.setdefault(str(event.data["cause"]), []).append(memory.get(event.entries[0]))
    for cause, entries in ended.items():
        style = _COLOURS.get(cause, "")
        shown = entries if cause == "executed" or len(entries) <= _EXAMPLES else entries[:1]
        told += [(f"{cause}: {_from(entry)}", style) for entry in shown]
        if len(shown) < len(entries):
            told.append((f"and {len(entries) - len(shown)} more {cause}", style))
    return told


def _from(entry: Entry) -> str:
    return f"{sources(entry)} {_quoted(entry)}"


def _quoted(entry: Entry, limit: int = 56) -> str:
    return f"“{fit(one_line(entry.text), limit)}”"


def demo(args: Namespace, screen: Screen) -> int:
    """`earnest demo`."""
    from earnest.encoding import demo_corpus
    from earnest.environments import StorageEnv
    from earnest.memory import Memory
    from earnest.survival import SurvivalConfig, SurvivalLoop

    keep = _kept_at(args.keep)
    config = SurvivalConfig() if args.cycles is None else SurvivalConfig(cycles=args.cycles)
    # The environment measures, as a program's own code does: that is the channel `python`, not what a person typed.
    with (
        tempfile.TemporaryDirectory(prefix="earnest-demo-") as folder,
        Memory.open(Path(folder) / "memory.db", "demo", actor="demo", embedder="none") as memory,
        StorageEnv(12 if args.files is None else args.files, 7 if args.seed is None else args.seed) as env,
    ):
        report = memory.encode(demo_corpus())
        if not screen.as_json:
            _say_beginning(screen, report, env.files)
        watcher = _Watcher(memory, screen, _pause(args, screen, config.cycles))
        warnings = SurvivalLoop(memory, env, config=config, on_cycle=watcher).run().warnings
        checked = memory.check()
        result = _Result(memory, watcher.rows, checked, warnings)
        if keep is not None:
            memory.backup(keep)
    if screen.as_json:
        screen.json(result.as_json(keep))
    else:
        result.say(screen, keep)
    return 0


def _kept_at(path: str | None) -> Path | None:
    """Where the memory is to be kept; refused before the demo runs, not after."""
    if path is None:
        return None
    place = Path(path) / "earnest-demo.db" if Path(path).is_dir() else Path(path)
    if place.exists() or not place.name:
        raise InvalidInput("keep", path, "is there already; name a new file")
    if not place.parent.is_dir():
        raise InvalidInput("keep", path, f"lies in a folder that does not exist, {place.parent}; make it first")
    return place


def _pause(args: Namespace, screen: Screen, cycles: int) -> float:
    return 0.0 if args.fast or not screen.live or screen.as_json else min(_PAUSE, _WATCHED / cycles)


def _say_beginning(screen: Screen, report: EncodeReport, files: int) -> None:
    screen.say(Painted("Three documents are put into a fresh memory.", "bold"), " Nobody tells it which of them to trust.")
    for name, about in _ABOUT:
        count = sum(name in entry.sources for entry in report.entries)
        screen.say(f"  {name:<15} {count:>2} entries  ", Painted(about, "red" if name == POISON else ""))
    screen.block(
        f"Each cycle it is asked about {plural(files, 'real file')} on a temporary disk. What it advises is done, and the bytes are "
        "measured: freed where a file is really gone; harm where a protected one went and had to be restored (modelled: 3 times its size)."
    )
    screen.say()
    screen.say(Painted(_HEAD, "dim"))


class _Result:
    """What there is to tell at the end, read while the memory is open."""

    def __init__(self, memory: Memory, rows: list[Row], checked: Check, warnings: tuple[str, ...]) -> None:
        from earnest.core.entry import CAUSES
        from earnest.environments import decision_polarity

        self.rows, self.checked, self.warnings = rows, checked, warnings
        self.survivors = sorted((e for e in memory.list() if e.alive), key=lambda e: (-e.balance, e.id))
        dead = memory.list(standing="dead")
        self.graves = {cause: [e for e in dead if e.cause == cause] for cause in CAUSES}
        self.poisoned = sum(e.standing == "active" and POISON in e.sources and decision_polarity(e.text) is True for e in self.survivors)
        for buried in self.graves.values():
            buried.sort(key=lambda e: (POISON not in e.sources, decision_polarity(e.text) is not True))
        self.ends = {e.id: _end(memory, e) for buried in self.graves.values() for e in buried[:_EXAMPLES]}
        self.lost_guards = [e for c in ("executed", "starved") for e in self.graves[c] if decision_polarity(e.text) is False]
        self.guards = [e for e in self.survivors if e.standing == "active" and decision_polarity(e.text) is False]

    def as_json(self, keep: Path | None) -> dict[str, Any]:
        """The run as one JSON object."""
        return {
            "rows": self.rows,
            "survivors": self.survivors,
            "graveyard": {cause: buried for cause, buried in self.graves.items() if buried},
            "bytes_freed": self._freed,
            "harm": self._harm,
            "warnings": self.warnings,
            "check": self.checked,
            "kept": None if keep is None else str(keep),
            "poisoned_active": self.poisoned,
        }

    @property
    def _freed(self) -> int:
        return self.rows[-1].total_freed

    @property
    def _harm(self) -> int:
        return sum(row.harm for row in self.rows)

    def say(self, screen: Screen, keep: Path | None) -> None:
        """Survivors, graveyard, sums; the very last line counts the poison that is left."""
        screen.say()
        screen.say(Painted("Survivors", "bold"), ", by the energy they earned")
        for entry in self.survivors:
            mark = " (suspended)" if entry.standing == "suspended" else ""
            screen.cut("  ", Painted(f"{energy(entry):>6}", "green"), f"  {sources(entry):<15}{mark} ", one_line(entry.text))
        if self.guards:
            count = plural(len(self.guards), "entry says", "entries say")
            screen.block(f"{count} what to keep. That frees nothing, so their rent is waived while they are asked and followed.", "  ")
        screen.say()
        self._say_graves(screen)
        screen.say()
        screen.say(f"Bytes really freed: {self._freed:,}")
        quiet = next((i for i, row in enumerate(reversed(self.rows)) if row.harm), len(self.rows))
        last = f", none in the last {plural(quiet, 'cycle')}" if self._harm and quiet else ""
        screen.say(f"Harm done on the way: {self._harm:,} bytes{last}")
        for warning in self.warnings:
            screen.say(Painted(warning, "yellow"))
        whole = "whole, every unit of energy accounted for" if self.checked.ok else "; ".join(self.checked.problems)
        screen.say(f"earnest check: {whole}; {self.checked.events:,} events in the log")
        if keep is not None:
            screen.say(f"The memory is kept in {keep}: look at it with `earnest top --store {keep}`")
        style = "red bold" if self.poisoned else "green bold"
        screen.say(Painted(f"Poisoned entries still active: {self.poisoned}", style))

    def _say_graves(self, screen: Screen) -> None:
        from earnest.core.entry import DEATHS

        screen.say(Painted("Graveyard", "bold"))
        if not any(self.graves.values()):
            screen.say("  nobody died")
        for cause, buried in self.graves.items():
            if not buried:
                continue
            screen.say("  ", Painted(f"{len(buried):>2} {cause}", _COLOURS.get(cause, "")), f": {DEATHS[cause]}")
            for entry in buried[:_EXAMPLES]:
                screen.cut(f"       {sources(entry)}: ", _quoted(entry, 70))
                if self.ends[entry.id]:
                    screen.cut("         ", Painted(self.ends[entry.id], "dim"))
        if self.lost_guards:
            screen.block("Advice to keep a file frees no bytes: who is not asked pays rent all the same. `earnest pin ID` keeps it.", "  ")


def _end(memory: Memory, entry: Entry) -> str:
    """What brought an entry to its end: its heir, or the last measured harm that it decided."""
    from earnest.core.amounts import shown_delta

    if entry.cause == "merged":
        return f"its heir is {entry.heir}"
    if entry.cause != "executed":
        return ""
    settled = memory.events(entry=entry.id, kind="settle", limit=_PAGE, newest=True)
    # An event names the decider first.
    harms = [event for event in settled if event.data["delta"] < 0 and event.entries[0] == entry.id]
    if not harms:
        return ""
    last = harms[0]
    return f"{plural(len(harms), 'measured harm')} that it decided; the last: {shown_delta(last.data['delta'])} bytes, {last.note}"

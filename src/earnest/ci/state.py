"""What is kept between CI runs, in one small file beside the store: flaky tests, the codes seen lately, and which runs were settled."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from earnest.ci import flaky
from earnest.ci.locking import locked
from earnest.errors import StoreCorrupt, StoreError
from earnest.files import replacing

FORM: Final = 1
RUNS: Final = 50
"""Runs that are remembered, the latest: so that none is measured twice. A ticket lands once, however old its run is."""
NAMED: Final = 3
"""Tests that are kept by name of each kind for a run that is settled."""
MAX_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Settled:
    """One run as it was planned before anything was settled by it, and what landed when it was `done`.

    share: what each ticket is settled by. tests: mended, broken and left out.
    """

    number: int
    delta: float
    share: float
    tickets: tuple[str, ...]
    improved: tuple[str, ...] = ()
    regressed: tuple[str, ...] = ()
    quarantined: tuple[str, ...] = ()
    meter: str = "ci"
    scale: float | None = None
    detail: str = ""
    landed: tuple[str, ...] = ()
    done: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """Everything in the file."""

    known: flaky.Known = field(default_factory=flaky.Known)
    runs: Mapping[str, Settled] = field(default_factory=dict)

    def with_run(self, name: str, run: Settled, known: flaky.Known | None = None) -> State:
        """With one run more or renewed; the oldest are forgotten."""
        runs = {**self.runs, name: run}
        newest = sorted(runs, key=lambda each: runs[each].number)[-RUNS:]
        return State(self.known if known is None else known, {each: runs[each] for each in newest})

    def share_of(self, ticket: str) -> int | None:
        """Among how many tickets the outcome that settled this one was shared; None if that is not remembered."""
        for run in self.runs.values():
            if ticket in run.landed:
                return len(run.tickets)
        return None


@contextmanager
def opened(path: Path, patience: float = 30.0) -> Iterator[State]:
    """The state, while no other run reads or writes it. A file that is not there is an empty state.

    Raises:
        StoreBusy, StoreError, StoreCorrupt: Another run is at work; the place cannot be written; the file is something else.
    """
    with locked(path.with_name(path.name + ".lock"), patience):
        yield read(path)


def read(path: Path) -> State:
    """The state as it was written last. Raises StoreCorrupt, StoreError."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise StoreCorrupt(
                f"{path}: is larger than {MAX_BYTES:,} bytes; move it away to begin anew: flaky tests are then learned again"
            )
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return State()
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"{path}: cannot be read: {error}") from None
    try:
        return from_json(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoreCorrupt(
            f"{path}: is no state of settle-ci ({type(error).__name__}: {error}); move it away to begin anew: "
            "flaky tests are then learned again"
        ) from None


def from_json(said: Mapping[str, Any]) -> State:
    """A state from what was written. Raises KeyError, TypeError or ValueError where it was something else."""
    if said["form"] != FORM:
        raise ValueError(f"form {said['form']!r} is not known here")
    runs = {str(name): _run(run) for name, run in said["runs"].items()}
    return State(flaky.from_json(said), runs)


def _run(said: Mapping[str, Any]) -> Settled:
    lists = ("tickets", "improved", "regressed", "quarantined", "landed")
    if said.get("landed") is True:
        said = {**said, "landed": said["tickets"]}
    return Settled(**{**said, **{name: tuple(map(str, said.get(name, ()))) for name in lists}})


def to_json(state: State) -> dict[str, Any]:
    """A state as it is written: stable order, one fact a line, so that a difference is small."""
    usual = asdict(Settled(0, 0, 0, ()))
    always = ("number", "delta", "share", "tickets")
    runs = {name: {k: v for k, v in asdict(run).items() if k in always or v != usual[k]} for name, run in state.runs.items()}
    for name, said in runs.items():
        # Nearly always what was planned is what landed.
        if said.get("landed") == said["tickets"]:
            said["landed"] = True
        runs[name] = said
    return {"form": FORM, **flaky.to_json(state.known), "runs": runs}


def text(state: State) -> str:
    """A state as JSON with a run, a test or a code a line, so that a difference is small."""
    said = to_json(state)
    parts = [f'"{name}":{json.dumps(said[name])}' for name in ("form", "run")]
    for name in ("tests", "codes", "runs"):
        rows = [
            f"{json.dumps(key)}:{json.dumps(value, separators=(',', ':'), sort_keys=True)}" for key, value in sorted(said[name].items())
        ]
        parts.append(f'"{name}":{{' + (",".join("\n" + row for row in rows) + "\n" if rows else "") + "}")
    return "{" + ",\n".join(parts) + "}\n"


def write(path: Path, state: State) -> None:
    """Write the state in place of the old one: whole or not at all, and on the disk when this returns. Raises StoreError."""
    try:
        with replacing(path) as file:
            file.write(text(state).encode("utf-8"))
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}; nothing was settled") from None


def finished(run: Settled, landed: tuple[str, ...]) -> Settled:
    """A run with what landed, and of the tests only a few: what is kept is small."""
    few = {name: getattr(run, name)[:NAMED] for name in ("improved", "regressed", "quarantined")}
    return replace(run, landed=landed, done=True, detail="", **few)

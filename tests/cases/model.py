"""What a case is, what a step of it gave back, and the three ways in which a step can be left out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Op = dict[str, Any]
Phase = Literal["setup", "action"]
Absence = Literal["not yet", "no counterpart", "not here"]

KINDS = ("validation", "not_found", "conflict", "unavailable", "busy")
"""The kinds of error that cases name. `busy` is the unavailable that passes by itself; a fault without a type is of none of them."""


class Left(Exception):
    """A step or an expectation that cannot be applied, and why.

    `not yet`: the product will have it; `no counterpart`: by its design it never will; `not here`: this surface cannot say it.
    """

    def __init__(self, absence: Absence, reason: str) -> None:
        self.absence: Absence = absence
        self.reason = reason
        super().__init__(f"{absence}: {reason}")


class Unknown(Exception):
    """The runner does not know an operation, an expectation or one of its values. That is a failure, never passed over."""


class Refused(Exception):
    """A surface refused a call: with which kinds of error, in which words, and what came with it (a settlement that did not land)."""

    def __init__(self, kinds: frozenset[str], message: str, value: Any = None) -> None:
        self.kinds, self.message, self.value = kinds, message, value
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Case:
    """One line of a file of cases."""

    id: str
    category: str
    setup: tuple[Op, ...]
    action: tuple[Op, ...]
    expected: Mapping[str, Any]
    right_outcome: str = ""


@dataclass(slots=True)
class Reply:
    """What one step gave back. `hits` are the entries that a search found; `said` is everything that the surface said."""

    op: Op
    phase: Phase
    kinds: frozenset[str] | None = None
    message: str = ""
    value: Any = None
    hits: list[dict[str, Any]] | None = None
    said: str = ""
    code: int | None = None
    left: Left | None = None
    instead: Left | None = None
    """Why something else was done in place of the operation."""
    wanted: frozenset[str] = frozenset()
    """The test keys that a search may be asked to hit: those whose agent and fields satisfy its filters, compared exactly."""

    @property
    def name(self) -> str:
        """The operation."""
        return str(self.op["op"])

    @property
    def ran(self) -> bool:
        """Whether the step was carried out (and maybe refused)."""
        return self.left is None


@dataclass(slots=True)
class Result:
    """How a case went on one surface."""

    id: str
    surface: str
    failures: list[str] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    signature: list[tuple[tuple[str, ...], tuple[str, ...]] | None] = field(default_factory=list)
    """For each step its kinds of error and its hits by key; None where it was left out, or where chance has a part in it."""
    applied: bool = True

    def line(self) -> str:
        """One line for people."""
        why = "; ".join(dict.fromkeys(str(left) for left in self.left))
        if self.failures:
            return f"{self.id:<24} {self.surface:<7} FAILS {' | '.join(self.failures)}"
        if not self.applied:
            return f"{self.id:<24} {self.surface:<7} not applicable: {why}"
        more = [*([f"left out: {why}"] if why else []), *self.notes]
        return f"{self.id:<24} {self.surface:<7} ok" + (f" ({'; '.join(more)})" if more else "")


def differences(first: Result, second: Result) -> list[str]:
    """Where two surfaces do not do alike."""
    pairs = enumerate(zip(first.signature, second.signature, strict=False), 1)
    return [f"step {i}: {first.surface} gives {one}, {second.surface} gives {two}" for i, (one, two) in pairs if one and two and one != two]


def listed(value: Any) -> list[Any]:
    """A single item counts as a list of one."""
    return list(value) if isinstance(value, list) else [value]


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON Lines file; a line that is none is named."""
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise SystemExit(f"{path}: line {number} is not JSON ({error})") from None
            if not isinstance(row, dict):
                raise SystemExit(f"{path}: line {number} is not an object")
            yield row


def case_of(row: Mapping[str, Any]) -> Case:
    """A case from a line of a file. `setup` and `action` are an operation or a list of them."""
    for name in ("id", "action", "expected"):
        if name not in row:
            raise SystemExit(f"case {row.get('id', '?')}: has no {name!r}")
    steps = {name: tuple(dict(op) for op in listed(row.get(name) or [])) for name in ("setup", "action")}
    for op in (*steps["setup"], *steps["action"]):
        if not isinstance(op.get("op"), str):
            raise SystemExit(f"case {row['id']}: a step has no 'op': {op}")
    if not isinstance(row["expected"], dict) or not row["expected"]:
        raise SystemExit(f"case {row['id']}: 'expected' must be an object with at least one key")
    return Case(
        str(row["id"]), str(row.get("class", "")), steps["setup"], steps["action"], row["expected"], str(row.get("right_outcome", ""))
    )

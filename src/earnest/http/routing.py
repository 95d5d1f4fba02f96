"""Which operation a request means: matched on the path as it was sent, so that an escaped slash never becomes a step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote_to_bytes

from earnest.http.operations import Operation
from earnest.http.problems import Problem


class Found(NamedTuple):
    """An operation, and the decoded values of the steps that its path leaves open."""

    operation: Operation
    values: Mapping[str, str]


class _Shape(NamedTuple):
    """A path cut at its slashes: which steps it names, which it leaves open, and its operations by method."""

    named: tuple[tuple[int, str], ...]
    left_open: tuple[tuple[int, str], ...]
    methods: dict[str, Operation]


class Router:
    """A table of operations. Finding one is O(the paths that end in the same step)."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self.operations = tuple(operations)
        shapes: dict[str, _Shape] = {}
        for operation in self.operations:
            steps = list(enumerate(operation.path.strip("/").split("/")))
            named = tuple((place, step) for place, step in steps if not step.startswith("{"))
            left_open = tuple((place, step[1:-1]) for place, step in steps if step.startswith("{"))
            shape = shapes.setdefault(operation.path, _Shape(named, left_open, {}))
            assert operation.method not in shape.methods, f"{operation.method} {operation.path} is there twice"
            shape.methods[operation.method] = operation
        self._by_end: dict[tuple[int, str | None], list[_Shape]] = {}
        for path, shape in shapes.items():
            steps_of = path.strip("/").split("/")
            end = None if steps_of[-1].startswith("{") else steps_of[-1]
            self._by_end.setdefault((len(steps_of), end), []).append(shape)

    def find(self, method: str, raw_path: bytes) -> Found | None:
        """The operation that is meant; None if no path is like that.

        Raises:
            Problem: 405 for a method that the path does not know; 400 for a path that is no UTF-8.
        """
        if raw_path[:1] != b"/" or b"//" in raw_path or (len(raw_path) > 1 and raw_path.endswith(b"/")):
            return None
        steps = raw_path.decode("ascii", "replace").strip("/").split("/")
        # A step that is named comes before one that is open: /entries/batch is no entry's id.
        for end in (steps[-1], None):
            for shape in self._by_end.get((len(steps), end), ()):
                if all(steps[place] == step for place, step in shape.named):
                    return _found(shape, method, steps)
        return None


def _found(shape: _Shape, method: str, steps: list[str]) -> Found:
    operation = shape.methods.get("GET" if method == "HEAD" else method)
    if operation is None:
        allowed = ", ".join(sorted([*shape.methods, *(["HEAD"] if "GET" in shape.methods else [])]))
        raise Problem(405, "no-such-method", f"this path knows {allowed}", headers={"allow": allowed})
    return Found(operation, {name: _decoded(name, steps[place]) for place, name in shape.left_open})


def _decoded(name: str, step: str) -> str:
    if "%" not in step:
        return step
    try:
        return unquote_to_bytes(step).decode("utf-8")
    except UnicodeDecodeError:
        raise Problem(400, "bad-request", "the path holds bytes that are no UTF-8", field=name) from None


def query_values(raw: bytes) -> dict[str, list[str]]:
    """The values of a query string, by name.

    Raises:
        Problem: 400 if it is no UTF-8, or names too many values.
    """
    made: dict[str, list[str]] = {}
    if not raw:
        return made
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=300)
    except (UnicodeDecodeError, ValueError):
        raise Problem(400, "bad-request", "the query string is malformed, or has more than 300 values") from None
    for name, value in pairs:
        made.setdefault(name, []).append(value)
    return made

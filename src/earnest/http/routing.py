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


class Router:
    """A table of operations. Finding one is O(steps of the path)."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self.operations = tuple(operations)
        self._by_shape: dict[int, list[tuple[tuple[str, ...], dict[str, Operation]]]] = {}
        for operation in self.operations:
            steps = tuple(operation.path.strip("/").split("/"))
            shapes = self._by_shape.setdefault(len(steps), [])
            methods = next((methods for known, methods in shapes if known == steps), None)
            if methods is None:
                methods = {}
                shapes.append((steps, methods))
            assert operation.method not in methods, f"{operation.method} {operation.path} is there twice"
            methods[operation.method] = operation
        for shapes in self._by_shape.values():
            # A step that is named comes before one that is open: /entries/batch is no entry's id.
            shapes.sort(key=lambda shape: [step.startswith("{") for step in shape[0]])

    def find(self, method: str, raw_path: bytes) -> Found | None:
        """The operation that is meant; None if no path is like that.

        Raises:
            Problem: 405 for a method that the path does not know; 400 for a path that is no UTF-8.
        """
        steps = raw_path.decode("ascii", "replace").strip("/").split("/")
        if raw_path[:1] != b"/" or b"//" in raw_path or (len(raw_path) > 1 and raw_path.endswith(b"/")):
            return None
        for known, methods in self._by_shape.get(len(steps), ()):
            values: dict[str, str] = {}
            if not all(_fits(step, pattern, values) for step, pattern in zip(steps, known, strict=True)):
                continue
            operation = methods.get("GET" if method == "HEAD" else method)
            if operation is None:
                allowed = sorted([*methods, *(["HEAD"] if "GET" in methods else [])])
                raise Problem(405, "no-such-method", f"this path knows {', '.join(allowed)}", headers={"allow": ", ".join(allowed)})
            return Found(operation, values)
        return None


def _fits(step: str, pattern: str, values: dict[str, str]) -> bool:
    if not pattern.startswith("{"):
        return step == pattern
    try:
        values[pattern[1:-1]] = unquote_to_bytes(step).decode("utf-8")
    except UnicodeDecodeError:
        raise Problem(400, "bad-request", "the path holds bytes that are no UTF-8", field=pattern[1:-1]) from None
    return True


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

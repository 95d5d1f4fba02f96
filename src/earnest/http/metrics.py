"""What the service counts, in the text format of Prometheus."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

MEDIA: Final = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Bounds of the latency histogram, in seconds."""
METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

Labels = tuple[tuple[str, str], ...]


class Requests:
    """Requests by route, method and status, and how long they took by route. Labels are few: routes are those of the table."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[tuple[str, str, int], int] = defaultdict(int)
        self._slots: dict[str, list[int]] = {}
        self._sums: dict[str, float] = defaultdict(float)
        self.running = 0
        """Requests that are being answered."""

    def add(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count one answered request."""
        with self._lock:
            self._counts[route, method if method in METHODS else "other", status] += 1
            self._slots.setdefault(route, [0] * (len(BUCKETS) + 1))[bisect_left(BUCKETS, seconds)] += 1
            self._sums[route] += seconds

    def text(self) -> list[str]:
        """The lines of these counts."""
        with self._lock:
            counts, sums = dict(self._counts), dict(self._sums)
            slots = {route: [*row] for route, row in self._slots.items()}
        lines = head("earnest_http_requests_total", "counter", "Requests answered, by route, method and status.")
        for (route, method, status), count in sorted(counts.items()):
            lines.append(line("earnest_http_requests_total", (("route", route), ("method", method), ("status", str(status))), count))
        lines += head("earnest_http_request_seconds", "histogram", "Seconds from a request to the end of its answer.")
        for route, row in sorted(slots.items()):
            total = 0
            for bound, count in zip((*map(_number, BUCKETS), "+Inf"), row, strict=True):
                total += count
                lines.append(line("earnest_http_request_seconds_bucket", (("route", route), ("le", bound)), total))
            lines.append(line("earnest_http_request_seconds_sum", (("route", route),), sums[route]))
            lines.append(line("earnest_http_request_seconds_count", (("route", route),), total))
        lines += head("earnest_http_requests_running", "gauge", "Requests that are being answered.")
        lines.append(line("earnest_http_requests_running", (), self.running))
        return lines


def head(name: str, kind: str, help: str) -> list[str]:
    """The two lines that introduce a metric."""
    return [f"# HELP {name} {help}", f"# TYPE {name} {kind}"]


def line(name: str, labels: Iterable[tuple[str, str]], value: float) -> str:
    """One sample."""
    said = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels)
    return f"{name}{{{said}}} {_number(value)}" if said else f"{name} {_number(value)}"


def family(name: str, kind: str, help: str, samples: Mapping[Labels, float]) -> list[str]:
    """A metric with its samples, in order; nothing if there are none."""
    if not samples:
        return []
    return [*head(name, kind, help), *(line(name, labels, value) for labels, value in sorted(samples.items()))]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))

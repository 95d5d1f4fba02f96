"""What all requests share: the memories, the tokens, the threads, the counts, and the table of operations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from earnest.http import asking, entries, ledger, lives, looking, standing, views
from earnest.http.guard import Limits
from earnest.http.memories import Memories
from earnest.http.metrics import Requests
from earnest.http.openapi import described
from earnest.http.routing import Router
from earnest.http.scraping import Scraper
from earnest.http.tokens import Tokens
from earnest.http.workers import Workers

OPERATIONS = (
    *standing.OPERATIONS, *entries.OPERATIONS, *asking.OPERATIONS, *lives.OPERATIONS, *ledger.OPERATIONS, *looking.OPERATIONS,
    *views.OPERATIONS,
)  # fmt: skip
"""Every operation of the service."""


@dataclass(slots=True)
class Service:
    """The parts of one running service."""

    memories: Memories
    tokens: Tokens
    limits: Limits = field(default_factory=Limits)
    workers: Workers = field(default_factory=Workers)
    slow: Workers = field(default_factory=lambda: Workers(2, 8))
    requests: Requests = field(default_factory=Requests)
    scraper: Scraper = field(default_factory=Scraper)
    router: Router = field(default_factory=lambda: Router(OPERATIONS))
    ready: bool = False
    _described: dict[str, Any] | None = None

    def openapi(self) -> dict[str, Any]:
        """The description of the service; made when it is first asked for."""
        if self._described is None:
            self._described = described(self.router.operations)
        return self._described

"""Asking a service for vectors: `earnest.wire`, with the errors of an embedder."""

from __future__ import annotations

from earnest import wire
from earnest.errors import EmbedderFailed
from earnest.wire import PATIENCE, TRIES

__all__ = ["PATIENCE", "TRIES", "Endpoint"]


class Endpoint(wire.Endpoint):
    """One URL that takes JSON and gives JSON."""

    later = "it will be tried again later"

    def failure(self, reason: str, *, passing: bool = True) -> EmbedderFailed:
        """See `earnest.wire.Endpoint.failure`."""
        return EmbedderFailed(reason, passing=passing)

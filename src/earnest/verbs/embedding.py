"""Verbs about recall by meaning: making the vectors that are missing."""

from __future__ import annotations

from collections.abc import Callable

from earnest.core import check
from earnest.core.reports import ReembedReport
from earnest.errors import NotAvailable
from earnest.recall.filling import missing
from earnest.verbs.base import Base


class EmbeddingVerbs(Base):
    """Verbs about vectors."""

    def reembed(
        self, *, every: bool = False, limit: int | None = None, progress: Callable[[int, int], None] | None = None
    ) -> ReembedReport:
        """Make the vectors that living entries lack, newest entries first: after the embedder changed, failed, or was not there.

        Args:
            every: Make those anew that are there already, too: for a model that changed under its name.
            limit: At most so many entries now.
            progress: Called with how many entries were looked at, of how many.

        In batches, each written in a short transaction: interrupted, what was made stays, and the next call goes on. Vectors of
        other models are left alone, so that going back to their embedder works at once. One process does this at a time.

        Returns:
            What was made, what is left, and why the embedder could not embed some texts: those are found by their words.

        Raises:
            NotAvailable: This process has no embedder. EmbedderFailed: the embedder is down. StoreBusy: another process is at it.
        """
        again = check.flag("every", every)
        most = None if limit is None else check.integer("limit", limit, low=1, high=10_000_000)
        with self._store.read() as reading:
            self._read_settings(reading)
        embedding = self._embedding
        if not embedding.usable:
            why = embedding.why_not or "the store's setting `embedder` is none; `earnest config embedder local` sets one"
            raise NotAvailable(f"there is no embedder to make vectors with: {why}")
        # Asked for by name, it is worth another try.
        embedding.refused.clear()
        return self._filling(self._holder(), every=again).run(limit=most, progress=progress)

    def embed_pending(self, *, wait: float = 60.0) -> int:
        """Wait up to `wait` seconds for vectors that are being made while others work; returns how many living entries lack one still.

        For scripts that end right after they wrote: whatever is left is made when a process with the embedder writes again.

        Raises:
            EmbedderFailed: An embedder that no write waits for never raises here; `doctor` says what is wrong with it.
        """
        seconds = check.number("wait", wait, low=0.0, high=86_400.0)
        if self._embedding.remote:
            self._wake_filler().wait(seconds)
        elif self._embedding.usable and not self._store.read_only:
            self._filling(None).run()
        with self._store.read() as reading:
            return missing(reading, self._embedding.model)

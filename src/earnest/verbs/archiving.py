"""Keeping the log short: old stretches go into files, and can still be verified."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from earnest.core import check
from earnest.core.moving import ArchiveReport
from earnest.errors import NotAllowed
from earnest.ledger import walks
from earnest.verbs.moving import MovingVerbs

_LEAST: Final = 100


class ArchivingVerbs(MovingVerbs):
    """Verbs on the log as a whole."""

    def archive(self, path: str | Path, *, keep: int = 10_000) -> ArchiveReport:
        """Move what old events said into a new file; their numbers and hashes stay, and the chain goes on through them.

        Args:
            path: A new file, in the form of an export: events and postings, no texts.
            keep: How many of the latest events stay whole, at least 100.

        Archived are decisions, outcomes, ticks and what follows from them, which grow with use. Births, edits, deaths, merges and what
        can be undone stay; so do questions, answers, remarks, balances and evidence, which lie in tables of their own. An entry's life
        story then leaves those events out. Lessons can't be saved from such a store any more: they are made from the whole log.

        Returns:
            How many events were archived, and the digest of the file; `check_archive` verifies it against the store.

        Raises:
            InvalidInput, StoreError: Nothing was archived. NotAllowed: there is nothing to archive, or somebody else archived just now.

        The file is on the disk before the store lets go of anything. One transaction. O(what it archives). `compact` then makes the file
        small.
        """
        from earnest.moving import streams

        target = check.path("path", path)
        kept = check.integer("keep", keep, low=_LEAST, high=2**62)
        with self._store.read() as reading:
            last = walks.latest(reading)
            events = reading.archivable((last.seq if last else 0) + 1 - kept)
            if not events:
                raise NotAllowed(f"nothing to archive: of events older than the latest {kept:,} none can go; keep fewer (`keep=`, --keep)")
            with streams.whole_file(target) as file:
                summary = streams.write_export(file, self._header(reading, False), reading.archive_rows(events))
        try:
            with self._writing() as tx:
                if not tx.archive(events, bytes.fromhex(summary.sha256)):
                    raise NotAllowed("somebody else archived these events just now; archive again")
                tx.bump("archived", len(events))
                tx.append("archive", data={"first": events[0], "last": events[-1], "events": len(events), "sha256": summary.sha256})
        except BaseException:
            target.unlink(missing_ok=True)
            raise
        return ArchiveReport(str(target), len(events), events[0], events[-1], summary.sha256)

    def check_archive(self, path: str | Path) -> tuple[str, ...]:
        """What is wrong with an archive of this store; nothing if every event in it is the one that was in the log.

        Raises:
            InvalidInput: The file is damaged or no archive. StoreError: it cannot be read.

        O(the archive). Writes nothing.
        """
        from earnest.moving import streams

        source = check.path("path", path)
        with streams.opened(source) as file:
            _, summary = streams.read_export(file)
            with self._store.read() as reading:
                known = bytes.fromhex(summary.sha256) in reading.archives()
                problems = [] if known else [f"{source} is no archive of this store: no `archive` of it has that digest"]
                return (*problems, *(damage.text for damage in reading.archive_damage(streams.rows_of(file))))

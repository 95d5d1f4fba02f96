"""Erasing: the one removal without an undo, asked for by name, with a receipt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from earnest.core import check
from earnest.core.erasing import Compaction, Receipt, Subject, subject
from earnest.errors import KeyReused, UnknownEntry
from earnest.ledger import erasure
from earnest.verbs.base import Base

_SAMPLES: Final = 64


class ErasingVerbs(Base):
    """Erasing, and writing the file anew."""

    def erase(
        self,
        *,
        scope: str | None = None,
        source: str | None = None,
        entry: str | None = None,
        text: str | None = None,
        dry_run: bool = False,
        key: str | None = None,
    ) -> Receipt:
        """Erase entries and everything that goes with them, so that no byte of them is left in the store. There is no undo.

        At least one subject has to be named; of several, all must hold of an entry.

        Args:
            scope: Everything in this scope, and the scope's name.
            source: What this source alone said, and what was put together from it; other entries only lose the source's name.
            entry: The entry of that id.
            text: Entries that hold this text anywhere (text, cue, tags, metadata), with case, width and accents folded; questions,
                remarks, labels and keys that hold it are emptied too.
            dry_run: Only count.
            key: Idempotency key: repeating the request returns the first receipt.

        With an entry go its other versions, what it was made of, and what was made of it. What had been merged with it and is not meant
        lives again. Open tickets that name it are abandoned; questions and answers that it was part of are emptied. A tombstone stays: a
        random id, numbers, and the cause `erased`. The log keeps its chain: it never held texts, and the salts of its digests go.

        Returns:
            What went, and what a look afterwards still found: in the indexes, in the bytes of the file. `complete` if nothing was.

        Raises:
            InvalidInput: No subject was named, or one that cannot be used. UnknownEntry: there is no entry of that id.
            KeyReused: The key came with another request: there is something left to erase.
            StoreError: What was not done yet is still there; call again.

        Durable when it returns: many short transactions, each whole; a call that was interrupted is finished by calling again. Then the
        file is written anew. Cost: O(the file), and for a moment as much room on the disk again. Copies elsewhere (backups, exports,
        mirrors until they follow) are not reached; copies from before a migration beside the file are named in `left`.
        """
        meant = subject(scope, source, entry, text)
        only = check.flag("dry_run", dry_run)
        # A digest of what is erased would stay in the store, and could be guessed at: the key stands for the kind of subject alone.
        request = {"subject": meant.words, "dry_run": only}
        with self._store.read() as reading:
            kept = self._kept(reading, key, "erase", request)
            if key is not None and kept is not None:
                if erasure.plan(reading, meant).rows:
                    raise KeyReused(key, "erase")
                return _loaded(kept)
            if meant.entry is not None and reading.entry(meant.entry) is None:
                raise UnknownEntry(meant.entry)
            if only:
                return self._erasable(meant)
        receipt = self._erased(meant)
        self._remember(key, "erase", request, asdict(receipt))
        return receipt

    def compact(self) -> Compaction:
        """Write the file anew, as small as it can be, and empty its log. What memory knows is unchanged.

        Idempotency keys that were used more than 90 days ago are forgotten before that.

        Raises:
            StoreError: The store is read-only, or another process writes for longer than the wait.

        Others may go on meanwhile. Cost: O(the file), and for a moment as much room on the disk again.
        """
        before = self._store.size()
        self._forget_keys()
        left = self._store.scrub()
        return Compaction(before, self._store.size(), tuple(left))

    def _erasable(self, meant: Subject) -> Receipt:
        with self._store.read() as reading:
            found = erasure.plan(reading, meant)
            counts = Counter(reading.to_erase(found.rows))
            counts["derived"] = found.derived
            if meant.text is not None:
                beside = reading.mentions(meant.text)
                counts["mentions"] = sum(
                    map(len, (beside.tickets, beside.notes, beside.sources, beside.documents, beside.keys, beside.links))
                )
            released = tuple(stored.entry.id for stored in reading.entries(found.released))
        return Receipt(meant.words, True, dict(counts), released)

    def _erased(self, meant: Subject) -> Receipt:
        counts: Counter[str] = Counter()
        released: tuple[str, ...] = ()
        rows: list[int] = []
        pieces: list[bytes] = [] if meant.text is None else [meant.text.encode("utf-8")]
        event = None
        while True:
            with self._store.read() as reading:
                found = erasure.plan(reading, meant)
                part = found.rows[-erasure.PART :]
                pieces += reading.samples(part, _SAMPLES - len(pieces)) if len(pieces) < _SAMPLES else []
            if not part:
                break
            counts["derived"] += found.derived if not rows else 0
            with self._writing() as tx:
                settings = self._read_settings(tx)
                more, back, event = erasure.carry_out(tx, settings, self._analyser, part, found.released, meant)
            counts.update(more)
            released += back
            rows += part
        with self._writing() as tx:
            # A kept reply of a language model may hold what is erased; it is only worth money.
            tx.drop_replies(every=True)
            scopes = self._beside(tx, meant, counts)
            if not rows:
                event = tx.append("erase", data={"subject": meant.words, "counts": {k: v for k, v in sorted(counts.items()) if v}})
        left = self._store.scrub()
        probed, more_left = self._probe(rows, pieces)
        left += [f"names of scopes hold it ({len(scopes)}); erase those scopes"] if scopes else []
        return Receipt(meant.words, False, dict(counts), released, event, probed, (*left, *more_left))

    def _beside(self, tx: Any, meant: Subject, counts: Counter[str]) -> tuple[str, ...]:
        """What is no entry and goes all the same; names of scopes that hold an erased text."""
        counts.update(tx.erase_labels(meant.source if meant.text is None and meant.entry is None else None, meant.scope))
        if meant.scope is not None and meant == Subject(scope=meant.scope):
            tx.erase_scope(meant.scope)
        if meant.text is None or meant != Subject(text=meant.text):
            return ()
        beside = tx.mentions(meant.text)
        counts.update(tx.erase_mentions(beside))
        return tuple(beside.scopes)

    def _probe(self, rows: list[int], pieces: list[bytes]) -> tuple[Mapping[str, int], list[str]]:
        """Looks in the indexes and in the bytes of the files for what was erased."""
        with self._store.read() as reading:
            still, missing = reading.residue(rows, pieces)
        held = self._store.holding(missing)
        probed = {**still, "file": len(held)}
        left = [f"the {name} index still holds {count} of its rows; run `earnest check --repair`" for name, count in still.items() if count]
        for name in dict.fromkeys(name for name, _ in held):
            copy = ".backup-format-" in name or ".before-restore-" in name
            left.append(f"{name} {'is a copy from before and' if copy else ''} still holds it" + ("; delete that copy" if copy else ""))
        return probed, left


def _loaded(kept: Mapping[str, Any]) -> Receipt:
    return Receipt(**{**kept, "released": tuple(kept["released"]), "left": tuple(kept["left"])})

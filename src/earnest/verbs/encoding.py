"""Verbs that turn documents, files and folders into entries."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from earnest.core import check
from earnest.core.entry import Entry
from earnest.core.reports import EncodedFile, EncodeReport, Skipped
from earnest.core.settings import Settings
from earnest.core.write_gate import Gate, told
from earnest.errors import EarnestError, InvalidInput, NotAvailable
from earnest.ledger import editing, lifecycle
from earnest.protocols import Encoder, StoredDocument, Writing
from earnest.verbs.asking import AskingVerbs, Metered
from earnest.verbs.entries import EntryVerbs

if TYPE_CHECKING:
    from earnest.encoding import Document
    from earnest.encoding.folders import Found

_FIELDS: Final = ("text", "cue", "kind", "origin", "sources", "metadata", "tags", "valid_from", "retention")

# Sources whose old entries end in one transaction.
_SOURCES: Final = 50

# What a document says about itself, and how many edits of an entry are looked at for one by hand.
_ABOUT: Final = frozenset(("metadata", "tags"))
_EDITS: Final = 100

# Files that are encoded together, so that what several say of one name is put side by side.
_BATCH_FILES: Final = 500
_BATCH_BYTES: Final = 8_000_000

# Turns and records of a large file that are encoded together.
_GROUP: Final = 2_000
_PIECE: Final = 1 << 20


@dataclass(slots=True)
class _Made:
    """What an encoding has written so far."""

    entries: dict[str, Entry] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    files: list[EncodedFile] = field(default_factory=list)
    joined: int = 0
    unfinished: dict[str, None] = field(default_factory=dict)
    cost: Mapping[str, float] = field(default_factory=dict)
    restated: dict[str, list[tuple[str, dict[str, Any]]]] = field(default_factory=dict)
    """By source, entries that were there already, of which their document says other things now than the entry has: what and how."""

    def report(self) -> EncodeReport:
        return EncodeReport(
            entries=tuple(self.entries.values()),
            by_origin=dict(Counter(str(entry.origin) for entry in self.entries.values())),
            skipped=tuple(self.skipped),
            joined=self.joined,
            replaced=tuple(self.replaced),
            notes=tuple(self.notes),
            files=tuple(self.files),
            unfinished=tuple(self.unfinished),
            cost=self.cost,
        )


@dataclass(slots=True)
class _File:
    """A file of a batch: what it holds now, and whether that is news."""

    path: Path
    source: str
    digest: bytes = b""
    fresh: bool = True
    problem: str = ""
    documents: Sequence[Document] = ()


class EncodingVerbs(EntryVerbs, AskingVerbs):
    """Verbs on documents."""

    def encode(
        self,
        documents: Iterable[Any],
        *,
        encoder: Encoder | None = None,
        scope: str = "",
        replace: bool = True,
        key: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> EncodeReport:
        """Turn documents into self-contained entries and write them down.

        Args:
            documents: `earnest.encoding.Document`s.
            encoder: `LocalEncoder()` unless given: offline, no model. `ReflectionEncoder(llm)` asks a language model, and what that does
                not do is stored as it is: the report names those documents in `unfinished`, and encoding them again goes on.
            scope: The scope of what is made.
            replace: When a source was encoded before, end what it does not say any more (cause `superseded`, `restore` brings it
                back). What it still says keeps its balance. Entries that were written by `add` are never touched.
            key: Idempotency key, as in `add_many`.
            progress: Called with how many entries are written, of how many; before that, by an encoder that asks a model, with how many
                questions are done.

        Returns:
            What was made, by origin, and what was left out and why. What the store had already is joined, not written again.

        Raises:
            InvalidInput, KeyReused. StoreError: what was written before stays.

        Durable when it returns. Interrupted, what was written stays, and encoding again joins it.
        """
        given: list[Document] = check.items("documents", documents)
        scope = check.label("scope", scope, blank=True)
        replace = check.flag("replace", replace)
        encoder, model = self._through(encoder or _local(), scope, progress)
        made = _Made()
        said, spoken_for = self._write(given, encoder, scope, made, key=key, progress=progress)
        if replace:
            sources = {document.source: None for document in given} | spoken_for
            self._replace(sources, scope, said, sources.keys(), made)
        return self._reported(made, model)

    def encode_files(
        self,
        paths: Iterable[str | os.PathLike[str]],
        *,
        encoder: Encoder | None = None,
        scope: str = "",
        prune: bool = False,
        again: bool = False,
        hidden: bool = False,
        encoding: str | None = None,
        key: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> EncodeReport:
        """Turn files, and everything in folders that is a document, into entries. A file that fails stops none of the others.

        A file that is as it was when it was last encoded into this scope is passed over, so that what was forgotten since stays
        forgotten. One that changed has what it does not say any more ended (`superseded`) and keeps the rest with its history.

        Args:
            paths: Files and folders. In folders, hidden and ignored files, links to folders and what is no document by its name
                are left out; see `earnest.encoding.folders.find_files`. A file that is named itself is read whatever it is.
            encoder: `LocalEncoder()` unless given.
            scope: The scope of what is made.
            prune: End the entries of files that were encoded from these folders before and are not there any more. Without it
                they are named in the report (`missing`) and nothing happens to them. Only within these folders, and this scope.
            again: Encode unchanged files too.
            hidden: Take hidden files and folders too.
            encoding: What the text files are encoded in, if they are not UTF-8.
            key: Idempotency key of at most 100 characters. (Without it too, repeating the call writes nothing twice.)
            progress: Called with how many files are done, of how many.

        Returns:
            As `encode`, with what became of each file in `files`; `failed` are those that could not be read, each with the reason.

        Raises:
            InvalidInput: A name is none or nothing is there: nothing was written. StoreError: what was written before stays.

        Durable when it returns; many short transactions. Interrupted, the same call goes on where it stopped. A bounded number of
        files is in memory at a time, but the report names every entry.
        """
        from earnest.encoding.folders import find_files

        scope = check.label("scope", scope, blank=True)
        prune, again, hidden = check.flag("prune", prune), check.flag("again", again), check.flag("hidden", hidden)
        encoder, model = self._through(encoder or _local(), scope, again=again)
        if encoding is not None:
            from earnest.encoding.decoding import codec_named

            codec_named(encoding)
        if key is not None:
            key = check.label("key", key, limit=100)
        search = find_files(paths, hidden=hidden)
        made = _Made()
        made.notes += [f"left out in folders: {count:,} × {reason}" for reason, count in sorted(search.left_out.items())]
        done = 0
        for number, batch in enumerate(_batches(search.files)):
            self._batch(batch, encoder, scope, made, again=again, encoding=encoding, key=None if key is None else f"{key}@{number}")
            done += len(batch)
            if progress:
                progress(done, len(search.files))
        self._gone(search.folders, {file.source for file in search.files}, scope, made, prune=prune)
        return self._reported(made, model)

    # how it is done

    def _through(
        self, encoder: Encoder, scope: str, progress: Callable[[int, int], None] | None = None, *, again: bool = False
    ) -> tuple[Encoder, Metered | None]:
        """An encoder that asks a model, asking it through this memory, which counts and keeps what it replies, and knows what was made of a
        document before, unless that is to be made `again`; any other as it is."""
        through = getattr(encoder, "through", None)
        if not callable(through):
            return encoder, None
        metered: list[Metered] = []

        def wrap(llm: Any) -> Metered:
            metered.append(self._metered(llm, keep=True))
            return metered[-1]

        from earnest.encoding import Draft

        def known(source: str) -> list[Draft]:
            with self._store.read() as reading:
                made = [stored.entry for stored in reading.encoded(source, scope)]
            return [Draft(e.text, e.cue, e.kind, e.origin, e.sources, e.metadata, e.tags) for e in made if "quote" in e.metadata]

        wrapped: Encoder = through(wrap, progress, None if again else known)
        return wrapped, metered[0] if metered else None

    def _reported(self, made: _Made, model: Metered | None) -> EncodeReport:
        """The report; replies that were kept go, if all was done that they were kept for."""
        if model is not None:
            made.cost = model.cost
            if not made.unfinished:
                model.finished()
        return made.report()

    def _write(
        self,
        documents: Sequence[Document],
        encoder: Encoder,
        scope: str,
        made: _Made,
        *,
        key: str | None = None,
        progress: Callable[[int, int], None] | None = None,
        only: set[str] | None = None,
    ) -> tuple[set[str], dict[str, None]]:
        """Write what documents say, or with `only` what these sources say. Returns the ids said, and the sources spoken for beside
        the documents'."""
        gate = self._gate()
        masked: list[str] = []
        found = encoder.encode([_gated(gate, document, masked) for document in documents])
        made.unfinished |= dict.fromkeys(getattr(found, "unfinished", ()))
        beside = dict.fromkeys(getattr(found, "sources", ()))
        drafts = [d for d in found.drafts if only is None or not only.isdisjoint(d.sources) or not beside.keys().isdisjoint(d.sources)]
        make = self._checking()
        checked, retentions = [], []
        for draft in drafts:
            fields = {name: value for name in _FIELDS if (value := getattr(draft, name, None)) is not None}
            checked.append(make({"scope": scope, **fields}))
            retentions.append(fields.get("retention"))
        entries, fresh = self._add_all(checked, key, retentions, progress or (lambda done, of: None), "encode")
        made.entries.update((entry.id, entry) for entry in entries)
        for entry, new in zip(entries, checked, strict=True):
            about: dict[str, Any] = {"metadata": dict(new.metadata), "tags": new.tags}
            changed = {name: value for name, value in about.items() if value != getattr(entry, name)}
            if changed and set(entry.sources) == set(new.sources):
                made.restated.setdefault(new.sources[0], []).append((entry.id, changed))
        made.joined += len(checked) - fresh
        if masked:
            made.notes.append(f"masked before anything was kept: {told(masked)}")
        if only is None:
            made.skipped += found.skipped
            made.notes += found.notes
        else:
            # What is said of documents that were only read along was said when they were news.
            old = tuple(f"{document.source}: " for document in documents if document.source not in only)
            made.skipped += [one for one in found.skipped if one.source in only or one.source in beside]
            made.notes += [note for note in found.notes if not note.startswith(old)]
        return {entry.id for entry in entries}, beside

    def _replace(
        self,
        sources: Iterable[str],
        scope: str,
        said: set[str],
        given: Iterable[str],
        made: _Made,
        *,
        known: dict[str, StoredDocument] | None = None,
    ) -> dict[str, list[str]]:
        """End what these sources do not say any more, and remember the `known` documents. Returns the ids that ended, by source."""
        ended: dict[str, list[str]] = {}
        names, all_given = [*sources], set(given)
        for start in range(0, len(names), _SOURCES):
            with self._writing() as tx:
                settings = self._read_settings(tx)
                for source in names[start : start + _SOURCES]:
                    ids, left = lifecycle.replace_source(tx, settings, source, scope, said, all_given)
                    _restate(tx, settings, source, made.restated.pop(source, []))
                    _remember(tx, source, scope, (known or {}).get(source))
                    ended[source] = ids
                    made.replaced += ids
                    made.notes += left
        return ended

    def _batch(
        self, batch: Sequence[Found], encoder: Encoder, scope: str, made: _Made, *, again: bool, encoding: str | None, key: str | None
    ) -> None:
        """Encode some files together."""
        rules = str(getattr(encoder, "id", type(encoder).__qualname__))
        files = [_File(found.path, found.source) for found in batch]
        with self._store.read() as reading:
            for file in files:
                _look(file, reading.document(file.source, scope), rules, again)
        if any(file.fresh for file in files):
            self._news(files, encoder, scope, made, rules, encoding, key)
        for file in files:
            if file.problem:
                made.files.append(EncodedFile(check.spelt(str(file.path)), file.source, "failed", 0, file.problem))
            elif not file.fresh:
                made.files.append(EncodedFile(check.spelt(str(file.path)), file.source, "unchanged"))

    def _news(
        self, files: Sequence[_File], encoder: Encoder, scope: str, made: _Made, rules: str, encoding: str | None, key: str | None
    ) -> None:
        """Write what is new in the files of a batch. Those that did not change are read along with them: what a name is said to be in
        several documents is put together from all of them."""
        if len(files) == 1:
            self._one(files[0], encoder, scope, made, rules, encoding, key)
            return
        from earnest.encoding import LocalEncoder, read_documents

        for file in files:
            if file.fresh or isinstance(encoder, LocalEncoder):
                try:
                    file.documents = [*read_documents(file.path, source=file.source, encoding=encoding)]
                except (InvalidInput, NotAvailable) as problem:
                    file.problem = _said(problem) if file.fresh else ""
        good = [file for file in files if file.fresh and not file.problem]
        names = {file.source: [*dict.fromkeys([file.source, *(d.source for d in file.documents)])] for file in good}
        documents = [document for file in files if not file.problem for document in file.documents]
        said, beside = self._write(documents, encoder, scope, made, key=key, only={n for several in names.values() for n in several})
        known = {file.source: _as_read(file, scope, rules, made) for file in good}
        sources = dict.fromkeys(n for several in names.values() for n in several) | beside
        self._replace(sources, scope, said, [*(document.source for document in documents), *beside], made, known=known)
        counts = Counter(source for entry_id in said for source in made.entries[entry_id].sources)
        made.files += [EncodedFile(check.spelt(str(f.path)), f.source, "encoded", sum(counts[n] for n in names[f.source])) for f in good]

    def _one(self, file: _File, encoder: Encoder, scope: str, made: _Made, rules: str, encoding: str | None, key: str | None) -> None:
        """Encode one file group by group, so that an export of any size fits into memory."""
        from earnest.encoding import read_documents

        said: set[str] = set()
        sources: dict[str, None] = {file.source: None}
        try:
            for number, group in enumerate(_groups(read_documents(file.path, source=file.source, encoding=encoding))):
                ids, beside = self._write(group, encoder, scope, made, key=None if key is None else f"{key}.{number}")
                said |= ids
                sources |= dict.fromkeys(document.source for document in group) | beside
        except (InvalidInput, NotAvailable) as problem:
            file.problem = _said(problem)
            return
        known = _as_read(file, scope, rules, made)
        self._replace(sources, scope, said, sources, made, known={file.source: known})
        made.files.append(EncodedFile(check.spelt(str(file.path)), file.source, "encoded", len(said)))

    def _gone(self, folders: Sequence[Path], found: set[str], scope: str, made: _Made, *, prune: bool) -> None:
        """Name the files that these folders held before and do not hold any more, and with `prune` end their entries."""
        missing: dict[str, StoredDocument] = {}
        with self._store.read() as reading:
            for folder in folders:
                named = check.spelt(str(folder))
                under = named if named.endswith(os.sep) else f"{named}{os.sep}"
                missing |= {known.source: known for known in reading.documents(scope, under=under) if known.source not in found}
        ended = self._replace(missing, scope, set(), missing, made) if prune and missing else {}
        for source, known in missing.items():
            if prune:
                made.files.append(EncodedFile(known.path, source, "pruned", len(ended[source])))
            else:
                made.files.append(EncodedFile(known.path, source, "missing", 0, "not in its folder any more; `prune` ends its entries"))


def _gated(gate: Gate, document: Document, masked: list[str]) -> Document:
    """A document as it may be read: no encoder, and no model that one asks, sees what must not be kept.

    What is no document is left to the encoder to refuse.
    """
    if not isinstance(getattr(document, "text", None), str):
        return document
    kept = gate.passed(document.text)
    masked += kept.masked
    return document if kept.text is document.text else replace(document, text=kept.text)


def _local() -> Encoder:
    from earnest.encoding import LocalEncoder

    return LocalEncoder()


def _restate(tx: Writing, settings: Settings, source: str, restated: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """Take over what a document says about itself now, unless somebody has changed that of an entry by hand, or wrote it by hand."""
    for entry_id, changes in restated:
        born = tx.events(entry=entry_id, kind="encode", after=0, limit=1, newest=False)
        edits = tx.events(entry=entry_id, kind="edit", after=0, limit=_EDITS, newest=True)
        by_hand = [edit for edit in edits if "document" not in edit.data and not _ABOUT.isdisjoint(edit.data.get("fields", ()))]
        if born and not by_hand and lifecycle.found(tx, entry_id).entry.alive:
            editing.edit(tx, settings, entry_id, changes, document=True)


def _as_read(file: _File, scope: str, rules: str, made: _Made) -> StoredDocument:
    """What is remembered of a file. One that a model did not finish is told from one that it did, so that it is read again."""
    done = made.unfinished.keys().isdisjoint((file.source, *(document.source for document in file.documents)))
    return StoredDocument(file.source, scope, check.spelt(str(file.path.resolve())), file.digest, rules if done else f"{rules}; unfinished")


def _remember(tx: Writing, source: str, scope: str, known: StoredDocument | None) -> None:
    """What is known of a document from now on: nothing, if it was not read from a file."""
    if known is None:
        tx.drop_document(source, scope)
    else:
        tx.put_document(known)


def _look(file: _File, known: StoredDocument | None, rules: str, again: bool) -> None:
    """Find out whether a file holds anything new."""
    digest = hashlib.sha256()
    try:
        # Asked first: opening a pipe waits for whoever writes into it.
        if not file.path.is_file():
            file.problem = "is no file; check the name"
            file.fresh = False
            return
        with file.path.open("rb") as stream:
            while piece := stream.read(_PIECE):
                digest.update(piece)
    except OSError as problem:
        file.problem = f"cannot be read ({problem.strerror or problem})"
        file.fresh = False
        return
    file.digest = digest.digest()
    file.fresh = again or known is None or (known.digest, known.encoder) != (file.digest, rules)


def _said(problem: EarnestError) -> str:
    return str(getattr(problem, "reason", "") or problem)


def _batches(files: Sequence[Found]) -> Iterator[list[Found]]:
    """Files in groups that fit into memory; a large one is a group of its own."""
    batch: list[Found] = []
    size = 0
    for file in files:
        try:
            weight = file.path.stat().st_size
        except OSError:
            weight = 0  # reading it will say why
        if batch and (size + weight > _BATCH_BYTES or len(batch) >= _BATCH_FILES):
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += weight
    if batch:
        yield batch


def _groups(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Documents in groups of some thousand passages."""
    group: list[Document] = []
    size = 0
    for document in documents:
        group.append(document)
        size += len(document.passages)
        if size >= _GROUP:
            yield group
            group, size = [], 0
    if group:
        yield group

"""The verb that turns files and folders into entries: what is news is read, what is gone is named or ended."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from earnest.core import check
from earnest.core.reports import EncodedFile, EncodeReport
from earnest.errors import EarnestError, InvalidInput, NotAvailable
from earnest.protocols import Encoder, StoredDocument
from earnest.verbs.encoding import EncodingVerbs, Written, local_encoder

if TYPE_CHECKING:
    from earnest.encoding import Document
    from earnest.encoding.folders import Found

# Files that are encoded together, so that what several say of one name is put side by side.
_BATCH_FILES: Final = 500
_BATCH_BYTES: Final = 8_000_000

# Turns and records of a large file that are encoded together.
_GROUP: Final = 2_000
_PIECE: Final = 1 << 20


@dataclass(slots=True)
class _File:
    """A file of a batch: what it holds now, and whether that is news."""

    path: Path
    source: str
    digest: bytes = b""
    fresh: bool = True
    problem: str = ""
    documents: Sequence[Document] = ()


class FileVerbs(EncodingVerbs):
    """The verb on files and folders."""

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
        encoder, model = self._through(encoder or local_encoder(), scope, again=again)
        if encoding is not None:
            from earnest.encoding.decoding import codec_named

            codec_named(encoding)
        if key is not None:
            key = check.label("key", key, limit=100)
        search = find_files(paths, hidden=hidden)
        made = Written()
        made.notes += [f"left out in folders: {count:,} × {reason}" for reason, count in sorted(search.left_out.items())]
        done = 0
        for number, batch in enumerate(_batches(search.files)):
            self._batch(batch, encoder, scope, made, again=again, encoding=encoding, key=None if key is None else f"{key}@{number}")
            done += len(batch)
            if progress:
                progress(done, len(search.files))
        self._gone(search.folders, {file.source for file in search.files}, scope, made, prune=prune)
        return self._reported(made, model)

    def _batch(
        self, batch: Sequence[Found], encoder: Encoder, scope: str, made: Written, *, again: bool, encoding: str | None, key: str | None
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
        self, files: Sequence[_File], encoder: Encoder, scope: str, made: Written, rules: str, encoding: str | None, key: str | None
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

    def _one(self, file: _File, encoder: Encoder, scope: str, made: Written, rules: str, encoding: str | None, key: str | None) -> None:
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

    def _gone(self, folders: Sequence[Path], found: set[str], scope: str, made: Written, *, prune: bool) -> None:
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


def _as_read(file: _File, scope: str, rules: str, made: Written) -> StoredDocument:
    """What is remembered of a file. One that a model did not finish is told from one that it did, so that it is read again."""
    done = made.unfinished.keys().isdisjoint((file.source, *(document.source for document in file.documents)))
    return StoredDocument(file.source, scope, check.spelt(str(file.path.resolve())), file.digest, rules if done else f"{rules}; unfinished")


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

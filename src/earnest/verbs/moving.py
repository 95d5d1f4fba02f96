"""Exporting everything, and importing it again or what other programs left."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from earnest._version import __version__
from earnest.core import check
from earnest.core.entry import NewEntry
from earnest.core.filters import Filter
from earnest.core.moving import EXPORT_FORMATS, ExportReport, ImportReport, Item, Left, Tie, Told
from earnest.core.reports import Skipped
from earnest.core.write_gate import Gate
from earnest.errors import InvalidInput, NotAllowed, StoreTooNew
from earnest.graph import weaving
from earnest.ledger import importing, walks
from earnest.protocols import Reading
from earnest.verbs.base import Base

if TYPE_CHECKING:
    # Imported where something is moved: readers of other programs' files take as long to load as all that recall needs.
    from earnest.moving.records import Header

_CHUNK: Final = 200
_PAGE: Final = 500
_TOLD: Final = 200


class MovingVerbs(Base):
    """Exporting and importing."""

    def export(
        self,
        path: str | Path | IO[bytes],
        *,
        format: str = "jsonl",
        vectors: bool = False,
        scope: Any = None,
        overwrite: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> ExportReport:
        """Write everything that this memory holds to a file, while others go on.

        Args:
            path: A new file, which appears whole or not at all; or an open binary file, which is written to.
            format: "jsonl" holds every row (entries, dead ones too, tickets, evidence, the log, settings) and comes back identical; see
                `docs/moving-data.md`. "markdown" is for people: the living entries, under their scopes and kinds.
            vectors: JSONL only: the vectors too. Without them the embedder of whoever imports makes them anew.
            scope: Markdown only: one scope, several or `earnest.ALL`; everything unless given.
            overwrite: Replace a file that is there already.
            progress: Called with how many rows are written.

        Raises:
            InvalidInput: An argument that cannot be used. StoreError: The file is there already or cannot be written.

        The file is on the disk when it returns. Reads one snapshot and writes nothing to the store. O(the store), one row in memory.
        """
        from earnest.moving import markdown, streams

        chosen = check.choice("format", format, EXPORT_FORMATS)
        with_vectors = check.flag("vectors", vectors)
        if chosen == "markdown" and with_vectors:
            raise InvalidInput("vectors", vectors, "have no form in Markdown; export jsonl")
        if chosen == "jsonl" and scope is not None:
            raise InvalidInput(
                "scope", scope, "has no effect on jsonl, which holds everything; export markdown, or erase the rest of a copy"
            )

        def write(file: IO[bytes], where: str) -> ExportReport:
            with self._store.read() as reading:
                if chosen == "markdown":
                    counts = markdown.write(file, self._store.agent, markdown.living(reading, scope))
                    return ExportReport(where, chosen, counts)
                summary = streams.write_export(file, self._header(reading, with_vectors), reading.rows(vectors=with_vectors), progress)
            return ExportReport(where, chosen, summary.counts, summary.sha256)

        if not isinstance(path, str | Path):
            if isinstance(path, io.TextIOBase) or not callable(getattr(path, "write", None)):
                raise InvalidInput("path", path, "must be a path, or a binary file that is open for writing")
            return write(path, "-")
        target = check.path("path", path)
        with streams.whole_file(target, overwrite=check.flag("overwrite", overwrite)) as file:
            report = write(file, str(target))
        return ExportReport(report.path, chosen, report.counts, report.sha256, target.stat().st_size)

    def _header(self, reading: Reading, vectors: bool) -> Header:
        from earnest.moving.records import Header

        last = walks.latest(reading)
        head = last.hash if last else ""
        return Header(self._store.agent, reading.form(), vectors, head, self._clock.now().isoformat(), __version__)

    def import_(
        self,
        path: str | Path,
        *,
        format: str = "auto",
        probation: int = importing.PROBATION,
        scope: str | None = None,
        dry_run: bool = False,
        key: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> ImportReport:
        """Take in an export of Earnest, or what another program left behind.

        An export of Earnest into a store where nothing was ever remembered is a restore: everything is put back as it was, in one
        transaction, and its digest is compared. Everything else adds entries: on probation, each once, however often it is imported.

        Args:
            path: A file, or a folder of notes in Markdown.
            format: "auto" goes by what is in the file; else "earnest", "darwin-memo", "mnemosyne", "mem0", "chatgpt", "claude",
                "mcp-memory", "markdown", "chats" (any list of messages or memories).
            probation: Measured gains that an import has to stand beside before it may decide; 0 trusts it as if it were written here.
            scope: Put everything into this scope; unless given, what the file says, else the default scope.
            dry_run: Read everything, write nothing, report the same.
            key: Idempotency key: repeating the request returns the first report.
            progress: Called with how many entries are done.

        Returns:
            What was added, joined and here already; what could not be carried and why.

        Raises:
            InvalidInput: The file is damaged, cut off, or in no known format. StoreTooNew: a later Earnest wrote it.
            StoreError: It cannot be read; or the store cannot be written, in which case what was added so far stays, and importing again
                goes on from there.

        A restore is atomic. Other imports are many short transactions. O(the file), with one entry (or one conversation) in memory.
        """
        from earnest.moving import formats

        source = check.path("path", path)
        owed = importing.checked_probation(probation)
        into = None if scope is None else check.label("scope", scope, blank=True)
        only = check.flag("dry_run", dry_run)
        request = {"path": str(source), "format": format, "probation": owed, "scope": into, "dry_run": only}
        with self._store.read() as reading:
            kept = self._kept(reading, key, "import", request)
        if kept is not None:
            return _loaded(kept)
        chosen = formats.format_of(source, format)
        if chosen == formats.EARNEST:
            report = self._import_own(source, owed, into, only, progress)
        else:
            report = self._import_items(chosen, formats.READERS[chosen](source), owed, into, only, progress)
        if not only:
            self._remember(key, "import", request, _kept_form(report))
        return report

    # an export of our own

    def _import_own(
        self, source: Path, probation: int, scope: str | None, dry_run: bool, progress: Callable[[int], None] | None
    ) -> ImportReport:
        from earnest.moving import formats
        from earnest.moving.streams import read_export, rows_of

        with source.open("rb") as file:
            header, summary = read_export(file)
            with self._store.read() as reading:
                form, untouched = reading.form(), reading.untouched()
            if header.format > form:
                raise StoreTooNew(f"{source}: an export of format {header.format}, this Earnest reads up to {form}; upgrade Earnest")
            if untouched and scope is None:
                notes = [] if header.agent == self._store.agent else [f"it was the memory of agent {header.agent!r}"]
                if dry_run:
                    return ImportReport(formats.EARNEST, True, True, counts=summary.counts, notes=tuple(notes))
                notes += self._restore(header, summary.sha256, rows_of(file))
                return ImportReport(formats.EARNEST, False, True, counts=summary.counts, notes=tuple(notes))
            with self._store.scratch(header.format, rows_of(file)) as other:
                return self._import_items(formats.EARNEST, _of_another(other), probation, scope, dry_run, progress)

    def _restore(self, header: Header, digest: str, rows: Iterator[Any]) -> list[str]:
        """Put everything into an untouched store, in one transaction; remarks about what is otherwise than it was."""
        from earnest.moving import streams

        # Whoever made this store named its embedder, perhaps; an export without vectors leaves that choice to the store that it comes from.
        with self._store.write(self._author()) as tx:
            if not tx.untouched():
                raise InvalidInput("store", self._store.agent, "was written to in the meantime; import again, which adds to it")
            tx.load(header.format, rows, self._analyser.terms)
            again = streams.digest_of(tx.rows(vectors=header.vectors))
        self._store.forget()
        with self._store.read() as reading:
            self._read_settings(reading)
            made_by = reading.settings().get("analyser")
        if made_by != self._index_id:
            self._adopt_analyser()
        if not self._indexed_alike(made_by):
            return ["the keyword index was made anew, by another analyser than before"]
        if header.format != self._form() or again == digest:
            return []
        return ["counters or indexes were not what the rows make, and were made anew; `earnest check` looks the store over"]

    def _form(self) -> int:
        with self._store.read() as reading:
            return reading.form()

    # everything else

    def _import_items(
        self,
        format: str,
        items: Iterator[Item | Left | Tie | Told],
        probation: int,
        scope: str | None,
        dry_run: bool,
        progress: Callable[[int], None] | None,
    ) -> ImportReport:
        taken = _Taken(format)
        batch: list[tuple[NewEntry, Item]] = []
        with self._store.read() as reading:
            settings = self._read_settings(reading)
        kin: list[tuple[str, tuple[str, ...]]] = []
        ties: list[Tie] = []
        for item in items:
            if isinstance(item, Tie):
                ties.append(item)
                continue
            if not isinstance(item, Item):
                taken.told(item)
                continue
            try:
                new = importing.checked_item(self._rng, settings, format, item, scope, probation)
            except InvalidInput as error:
                taken.told(Left(str(error), item.text[:200] if isinstance(item.text, str) else ""))
                continue
            if item.parents:
                kin.append((new.id, tuple(importing.id_of(format, Item(name, "", keeps_name=item.keeps_name)) for name in item.parents)))
            batch.append((new, item))
            if len(batch) >= _CHUNK:
                self._bring(batch, taken, dry_run)
                batch = []
                if progress is not None:
                    progress(taken.done)
        self._bring(batch, taken, dry_run)
        if kin and not dry_run:
            self._connect(kin, taken)
        if not dry_run:
            self._tie(ties, taken)
        return taken.report(dry_run)

    def _bring(self, batch: list[tuple[NewEntry, Item]], taken: _Taken, dry_run: bool) -> None:
        if not batch:
            return
        if dry_run:
            with self._store.read() as reading:
                for new, item in batch:
                    taken.count(new, item, importing.fate(reading, new, item.cause is not None)[0])
            return
        vectors = self._vectors_for([new for new, _ in batch])
        with self._writing() as tx:
            settings = self._read_settings(tx)
            written = []
            for new, item in batch:
                stored, what = importing.bring(tx, settings, self._rng, self._analyser, new, item, self._terms)
                taken.count(new, item, what)
                if stored.entry.id != new.id:
                    taken.aliases[new.id] = stored.entry.id
                written.append((stored, what == "added" and stored.entry.alive))
            if vectors is not None:
                self._put_vectors(tx, written, vectors)

    def _connect(self, kin: list[tuple[str, tuple[str, ...]]], taken: _Taken) -> None:
        for start in range(0, len(kin), _CHUNK):
            with self._writing() as tx:
                for child, parents in kin[start : start + _CHUNK]:
                    found = importing.connect(tx, child, [taken.aliases.get(name, name) for name in parents])
                    if found < len(parents):
                        taken.told(Left("ancestors that are not in the file", "", len(parents) - found))

    def _tie(self, ties: list[Tie], taken: _Taken) -> None:
        """States the links that were stated there, where both entries came here and nothing says so yet."""
        for start in range(0, len(ties), _CHUNK):
            with self._writing() as tx:
                settings = self._read_settings(tx)
                for tie in ties[start : start + _CHUNK]:
                    names = [importing.id_of(taken.format, Item(name, "", keeps_name=tie.keeps_name)) for name in (tie.one, tie.other)]
                    one, other = (tx.entry(taken.aliases.get(name, name)) for name in names)
                    if one is None or other is None:
                        taken.told(Left("links to what is not here"))
                        continue
                    if any(link.end(one.row) == other.row and link.kind == tie.kind for link in tx.links_of([one.row])):
                        continue
                    reason = Gate.of(settings.redact, settings.quarantine).passed(check.cleaned(tie.reason)[:200]).text
                    try:
                        made = weaving.state(tx, settings, one, other, tie.kind, tie.weight, reason, self._clock.now())
                    except NotAllowed as error:
                        taken.told(Left(f"a link: {error}"))
                        continue
                    tx.append("link", entries=[one.row, other.row], data={"kind": tie.kind, "weight": made.weight})
                    taken.linked += 1


class _Taken:
    """What an import did so far."""

    def __init__(self, format: str) -> None:
        self.format = format
        self.linked = 0
        self.aliases: dict[str, str] = {}
        """Which entry here an import joined, by the id that it would have had."""
        self._fates: Counter[str] = Counter()
        self._dead = 0
        self._left: dict[tuple[str, str], int] = {}
        self._more = 0
        self._notes: dict[str, None] = {}
        self._ids: set[str] = set()

    @property
    def done(self) -> int:
        """Entries so far."""
        return self._fates.total()

    def count(self, new: NewEntry, item: Item, what: str) -> None:
        """Count what became of an item; one that came twice in a dry run was here already the second time."""
        if new.id in self._ids:
            what = "already"
        self._ids.add(new.id)
        self._fates[what] += 1
        self._dead += what == "added" and item.cause is not None

    def told(self, said: Left | Told) -> None:
        """Note what was left out, or said; of very many only how many more."""
        if isinstance(said, Told):
            self._notes[said.sentence] = None
            return
        reason, text = said.reason, said.text
        if (reason, text) in self._left or len(self._left) < _TOLD:
            self._left[reason, text] = self._left.get((reason, text), 0) + said.count
        else:
            self._more += said.count

    def report(self, dry_run: bool) -> ImportReport:
        """The report."""
        skipped = [
            Skipped(self.format, text, f"{reason} ({count:,})" if count > 1 else reason) for (reason, text), count in self._left.items()
        ]
        if self._more:
            skipped.append(Skipped(self.format, "", f"{self._more:,} more parts that could not be carried"))
        return ImportReport(
            self.format, dry_run, False, self._fates["added"], self._fates["joined"], self._fates["already"], self._dead, self.linked, {},
            tuple(skipped), tuple(self._notes),
        )  # fmt: skip


def _of_another(other: Reading) -> Iterator[Item | Left | Tie | Told]:
    """The living entries of another store of Earnest."""
    chosen = Filter(scopes=None, standings=("active", "suspended"), rules=True)
    suspended = 0
    yield from _ties(other)
    for stored in walks.entries(other, chosen):
        entry = stored.entry
        if entry.standing == "suspended":
            suspended += 1
            continue
        yield Item(
            entry.id, entry.text, entry.cue, entry.kind, entry.origin, entry.sources, entry.scope, entry.importance, entry.confidence,
            entry.retention, entry.tags, entry.metadata, entry.created, entry.valid_from, entry.valid_to, version=entry.version,
            strength=entry.strength, probation=stored.probation, keeps_name=True,
        )  # fmt: skip
    if suspended:
        yield Left("entries that are suspended there: their harm was measured there", "", suspended)
    dead = other.counter("dead")
    if dead:
        yield Left("entries that are dead there; only a restore into a new store brings the graveyard", "", dead)
    decisions = other.counter("decisions")
    if decisions:
        yield Left("decisions and what was measured: evidence is earned here; a restore into a new store keeps it", "", decisions)


def _ties(other: Reading) -> Iterator[Tie]:
    """The links that somebody stated there; what was found is found anew."""
    after = (0, 0, "")
    while page := other.links(after, _PAGE):
        after = page[-1].key
        stated = [link for link in page if link.stated]
        ids = {stored.row: stored.entry.id for stored in other.entries([*{row for link in stated for row in (link.entry, link.other)}])}
        yield from (Tie(ids[link.entry], ids[link.other], link.reason, link.kind, link.weight, True) for link in stated)


def _kept_form(report: ImportReport) -> dict[str, Any]:
    """A report as a request's key keeps it: without the texts that were left out, which nobody would find there to erase them."""
    return asdict(replace(report, skipped=tuple(replace(one, text="") for one in report.skipped)))


def _loaded(kept: Mapping[str, Any]) -> ImportReport:
    said = dict(kept)
    said["skipped"] = tuple(Skipped(**one) for one in said["skipped"])
    said["notes"] = tuple(said["notes"])
    return ImportReport(**said)

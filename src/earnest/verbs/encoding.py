"""The verb that turns documents into entries, and what it shares with the one on files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from earnest.core import check
from earnest.core.entry import Entry
from earnest.core.reports import EncodedFile, EncodeReport, Skipped
from earnest.core.settings import Settings
from earnest.core.write_gate import Gate, told
from earnest.ledger import editing, lifecycle
from earnest.protocols import Encoder, StoredDocument, Writing
from earnest.verbs.asking import AskingVerbs, Metered
from earnest.verbs.entries import EntryVerbs

if TYPE_CHECKING:
    from earnest.encoding import Document

_FIELDS: Final = ("text", "cue", "kind", "origin", "sources", "metadata", "tags", "valid_from", "retention")

# Sources whose old entries end in one transaction.
_SOURCES: Final = 50

# What a document says about itself, and how many edits of an entry are looked at for one by hand.
_ABOUT: Final = frozenset(("metadata", "tags"))
_EDITS: Final = 100


@dataclass(slots=True)
class Written:
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
        """What there is to tell of it."""
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
        encoder, model = self._through(encoder or local_encoder(), scope, progress)
        made = Written()
        said, spoken_for = self._write(given, encoder, scope, made, key=key, progress=progress)
        if replace:
            sources = {document.source: None for document in given} | spoken_for
            self._replace(sources, scope, said, sources.keys(), made)
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

    def _reported(self, made: Written, model: Metered | None) -> EncodeReport:
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
        made: Written,
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
        made: Written,
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
                    _keep(tx, source, scope, (known or {}).get(source))
                    ended[source] = ids
                    made.replaced += ids
                    made.notes += left
        return ended


def _gated(gate: Gate, document: Document, masked: list[str]) -> Document:
    """A document as it may be read: no encoder, and no model that one asks, sees what must not be kept.

    What is no document is left to the encoder to refuse.
    """
    if not isinstance(getattr(document, "text", None), str):
        return document
    kept = gate.passed(document.text)
    masked += kept.masked
    return document if kept.text is document.text else replace(document, text=kept.text)


def local_encoder() -> Encoder:
    """The encoder that asks nobody."""
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


def _keep(tx: Writing, source: str, scope: str, known: StoredDocument | None) -> None:
    """What is known of a document from now on: nothing, if it was not read from a file."""
    if known is None:
        tx.drop_document(source, scope)
    else:
        tx.put_document(known)

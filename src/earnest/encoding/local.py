"""The encoder that needs nothing: no model, no network, no chance. The same documents always give the same drafts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from earnest.core import check
from earnest.core.entities import find_entities
from earnest.core.entry import Kind
from earnest.core.reports import Skipped
from earnest.core.sentences import code_pieces, pieces, same, says_something
from earnest.encoding.blocks import Reading, Unit, read_plain
from earnest.encoding.document import MAX_SKIPPED_CHARS, Document, Draft, Encoding, listed
from earnest.encoding.markdown import looks_like_markdown, read_markdown
from earnest.encoding.reading import format_of
from earnest.encoding.records import json_reading, table_reading
from earnest.encoding.webpage import looks_like_html, read_html

VERSION: Final = 2
"""Goes up whenever the same document would make other drafts."""

MAX_DRAFTS: Final = 200_000
MIN_CHARS: Final = 40
_MAX_SENTENCES: Final = 20
_SAMPLES: Final = 1000
"""How many left-out parts of one document and reason are named one by one; the rest is counted."""
_LOOK_AHEAD: Final = 20
"""How many of a document's sentences about a name are looked at for one that still fits."""
_SHOWN_SOURCES: Final = 3
_SHOWN_CHARS: Final = 100


@dataclass(frozen=True, slots=True)
class _About:
    """What a document says about itself."""

    metadata: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()


@dataclass(slots=True)
class _Said:
    """One text under one cue, and at which place in which documents it stands."""

    text: str
    cue: str | None
    kind: Kind
    places: dict[str, int]
    about: dict[str, _About] = field(default_factory=dict)

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(sorted(self.places))


def _alike(abouts: Sequence[_About]) -> _About:
    """What several documents say about themselves alike."""
    first, others = abouts[0], abouts[1:]
    if not others:
        return first
    metadata = {key: value for key, value in first.metadata.items() if all(other.metadata.get(key) == value for other in others)}
    return _About(metadata, tuple(tag for tag in first.tags if all(tag in other.tags for other in others)))


# By kind and normalised text, then by cue.
_Groups: TypeAlias = dict[tuple[Kind, str], dict[str | None, _Said]]


class _Report:
    """What is left out, bounded: a document of a million ornaments shall not make a report of a million lines."""

    def __init__(self) -> None:
        self.skipped: list[Skipped] = []
        self.notes: list[str] = []
        self.spoken_for: dict[str, None] = {}
        self._count: dict[tuple[str, str], int] = {}
        self._sources: set[str] = set()

    def skip(self, source: str, text: str, reason: str) -> None:
        count = self._count[source, reason] = self._count.get((source, reason), 0) + 1
        self._sources.add(source)
        if count <= _SAMPLES:
            self.skipped.append(Skipped(source, text[:MAX_SKIPPED_CHARS], reason))

    def names(self, source: str) -> bool:
        return source in self._sources

    def close(self) -> None:
        for (source, reason), count in self._count.items():
            if count > _SAMPLES:
                self.notes.append(f"{source}: {count - _SAMPLES:,} more parts were left out ({reason})")


@dataclass(frozen=True, slots=True)
class LocalEncoder:
    """Makes drafts of documents offline and deterministically.

    Each sentence, list item and table row becomes an `explicit` draft with the headings above it as cue; each code block one of
    kind `procedural`. Identical texts are one draft with all their sources. Names that a document mentions in two or more
    sentences get an `entity` draft from that document alone. Names that several documents mention get a `cross_doc` draft in
    which each sentence says whose it is: what a forum claims never reads as what the runbook says, and the draft has both
    sources.

    Turns of conversations and records are drafts as they stand.

    Args:
        max_chars: The longest text of a draft, in characters, 40 to 100,000. Longer sentences are cut, and a note says so.
        entity_sentences: How many sentences an entity draft has at most; under 2, none are made.
        cross_sentences: How many sentences a cross-document draft has at most; under 2, none are made.
        code_chars: The longest block of code, in characters, 40 to 100,000. A longer one is cut between lines.
        passage_chars: The longest turn or record, in characters, 40 to 100,000. A longer one is cut at its sentences into parts
            that say which part they are.

    Raises:
        InvalidInput: A number is out of range.
    """

    max_chars: int = 600
    entity_sentences: int = 2
    cross_sentences: int = 3
    code_chars: int = 4_000
    passage_chars: int = 2_000

    def __post_init__(self) -> None:
        check.integer("max_chars", self.max_chars, low=MIN_CHARS, high=check.MAX_TEXT)
        check.integer("code_chars", self.code_chars, low=MIN_CHARS, high=check.MAX_TEXT)
        check.integer("passage_chars", self.passage_chars, low=MIN_CHARS, high=check.MAX_TEXT)
        check.integer("entity_sentences", self.entity_sentences, low=0, high=_MAX_SENTENCES)
        check.integer("cross_sentences", self.cross_sentences, low=0, high=_MAX_SENTENCES)

    @property
    def id(self) -> str:
        """Which rules the pieces are made by; documents whose pieces were made by others are made anew when they are encoded."""
        return f"local-{VERSION}/{self.max_chars}/{self.entity_sentences}/{self.cross_sentences}/{self.code_chars}/{self.passage_chars}"

    def encode(self, documents: Sequence[Document]) -> Encoding:
        """Make drafts of documents. Writes nothing; the caller adds the drafts to a store.

        Returns:
            Drafts in the order of the documents (explicit, then entity, then cross-document ones), at most 200,000; what was left
            out and why; notes. Each document is heard of in at least one of the first two. The order of the documents changes
            the order of the drafts, never their texts or sources. Linear in the length of the texts.

        Raises:
            InvalidInput: `documents` is not a sequence of `Document`.
        """
        report = _Report()
        said: _Groups = {}
        passages: list[Draft] = []
        total = 0
        for document in listed(documents):
            total = self._read(document, said, passages, report, total)
        explicit = self._explicit(said)
        drafts = [
            Draft(s.text, s.cue, s.kind, "explicit", part, (about := _alike([s.about[source] for source in part])).metadata, about.tags)
            for s in explicit
            for part in _portions(s.sources)
        ]
        made = [*drafts, *passages, *self._about(explicit)]
        if len(made) > MAX_DRAFTS:
            left = len(made) - MAX_DRAFTS
            report.notes.append(f"{left:,} drafts about names were left out: {MAX_DRAFTS:,} is the most that one call makes")
        report.close()
        return Encoding(tuple(made[:MAX_DRAFTS]), tuple(report.skipped), tuple(report.notes), tuple(report.spoken_for))

    def _read(self, document: Document, said: _Groups, passages: list[Draft], report: _Report, total: int) -> int:
        """Add what one document says; returns how many different texts there are now."""
        source = document.source
        for text, reason in document.left_out:
            report.skip(source, text, reason)
        report.notes.extend(f"{source}: {note}" for note in document.notes)
        total = self._passages(document, document.passages, passages, report, total)
        if check.blank(document.text):
            if not document.passages and not report.names(source):
                report.skip(source, "", "empty document")
            return total
        reading = _reading(document)
        for text, reason in reading.left_out:
            report.skip(source, text, reason)
        report.notes.extend(f"{source}: {note}" for note in reading.notes)
        total = self._passages(document, reading.passages, passages, report, total)
        about = _About(reading.metadata, reading.tags)
        place = cut = 0
        for unit in reading.units:
            texts = self._texts(unit, source, report)
            cut += len(texts) > 1
            cue = unit.cue or None if unit.kind == "code" else unit.heading or None
            kind: Kind = "procedural" if unit.kind == "code" else "semantic"
            for text in texts:
                group = said.get((kind, same(text)), {})
                place += 1
                if cue in group:
                    one = group[cue]
                    one.places[source] = min(one.places.get(source, place), place)
                    one.about[source] = about
                    one.text = min(one.text, text)
                elif total >= MAX_DRAFTS:
                    report.skip(source, text, f"{MAX_DRAFTS:,} drafts are the most that one call makes; encode the rest alone")
                else:
                    said.setdefault((kind, same(text)), group)[cue] = _Said(text, cue, kind, {source: place}, {source: about})
                    total += 1
        if cut:
            limit = self.max_chars if reading.units[0].kind != "code" or len(reading.units) > 1 else self.code_chars
            parts = f"{cut:,} parts were" if cut > 1 else "1 part was"
            report.notes.append(f"{source}: {parts} longer than {limit:,} characters and cut into pieces")
        if not place and not reading.passages and not report.names(source):
            report.skip(source, document.text.strip(), "nothing to remember in it")
        return total

    def _passages(self, document: Document, found: Sequence[Draft], made: list[Draft], report: _Report, total: int) -> int:
        """Add entries as they stand, in order; those that are too long in parts. Returns how many texts there are now."""
        cut = 0
        for passage in found:
            sources = passage.sources or (document.source,)
            report.spoken_for.update(dict.fromkeys(source for source in sources if source != document.source))
            texts = [passage.text]
            if len(passage.text) > self.passage_chars:
                texts = pieces(passage.text, self.passage_chars)
                cut += 1
            if total + len(texts) > MAX_DRAFTS:
                report.skip(document.source, passage.text, f"{MAX_DRAFTS:,} drafts are the most that one call makes; encode the rest alone")
                continue
            total += len(texts)
            for number, text in enumerate(texts, 1):
                part = {"part": f"{number}/{len(texts)}"} if len(texts) > 1 else {}
                made.append(replace(passage, text=text, sources=sources, metadata={**passage.metadata, **part}))
        if cut:
            report.notes.append(f"{document.source}: {cut:,} turns or records were longer than {self.passage_chars:,} characters and cut")
        return total

    def _texts(self, unit: Unit, source: str, report: _Report) -> list[str]:
        """The texts that a unit becomes: none, one, or pieces of at most `max_chars`."""
        if unit.kind == "code":
            texts = code_pieces(unit.text, self.code_chars)
            if not texts:
                report.skip(source, unit.text, "empty code block")
            return texts
        prefix = unit.prefix
        if not prefix and unit.kind != "prose" and unit.heading and not says_something(unit.text):
            # "ruff" says nothing; "Allowed tools: ruff" does.
            prefix = unit.heading + ":" if any(c.isalnum() for c in unit.text) else ""
        full = f"{prefix} {unit.text}" if prefix else unit.text
        if not says_something(full):
            # With its heading, which may stand over nothing else and would vanish from the report.
            headed = unit.heading and prefix != unit.heading + ":"
            report.skip(source, f"{unit.heading}: {full}" if headed else full, "no statement")
            return []
        if len(full) <= self.max_chars:
            return [full]
        if prefix and len(prefix) * 3 <= self.max_chars:
            return [f"{prefix} {piece}" for piece in pieces(unit.text, self.max_chars - len(prefix) - 1)]
        return pieces(full, self.max_chars)

    def _explicit(self, said: _Groups) -> list[_Said]:
        """One text, one draft; but words that stand under different headings say different things and are told apart."""
        made: list[_Said] = []
        for group in said.values():
            headed = [one for cue, one in group.items() if cue is not None]
            if len(headed) == 1 and None in group:
                headed[0].places = {**group[None].places, **headed[0].places}
                headed[0].about = {**group[None].about, **headed[0].about}
                headed[0].text = min(headed[0].text, group[None].text)
                made.append(headed[0])
                continue
            for one in group.values():
                full = f"{one.cue}: {one.text}"
                if len(headed) > 1 and one.cue is not None and one.kind == "semantic" and len(full) <= self.max_chars:
                    one.text = full
                made.append(one)
        return made

    def _about(self, explicit: list[_Said]) -> Iterable[Draft]:
        """What is known about each name: from one document, and from several side by side."""
        prose = [one for one in explicit if one.kind == "semantic"]
        entities = find_entities([(one.text, one.sources) for one in prose])
        single: dict[tuple[str, str], set[str]] = {}
        several: list[Draft] = []
        for name in sorted(entities):
            cue = f"What do we know about {name}?"
            by_source: dict[str, list[_Said]] = {}
            for index in entities[name]:
                for source in prose[index].places:
                    by_source.setdefault(source, []).append(prose[index])
            for source, ones in by_source.items():
                by_source[source] = _in_order(ones, source)
                text = self._entity(by_source[source])
                if text:
                    single.setdefault((cue, text), set()).add(source)
            if len(by_source) > 1:
                several.extend(self._cross(cue, by_source))
        known = {source: about for one in prose for source, about in one.about.items()}
        for (cue, text), sources in sorted(single.items()):
            for part in _portions(tuple(sorted(sources))):
                about = _alike([known[source] for source in part])
                yield Draft(text, cue, "semantic", "entity", part, about.metadata, about.tags)
        yield from several

    def _entity(self, ones: list[_Said]) -> str:
        """Up to `entity_sentences` sentences of one document that fit; "" for fewer than two, which would only repeat one."""
        chosen: list[str] = []
        for one in ones[:_LOOK_AHEAD]:
            if len(chosen) < self.entity_sentences and one.text not in chosen:
                longer = [*chosen, one.text]
                chosen = longer if len(_joined(longer)) <= self.max_chars else chosen
        return _joined(chosen) if len(chosen) > 1 else ""

    def _cross(self, cue: str, by_source: dict[str, list[_Said]]) -> Iterable[Draft]:
        """One draft of sentences of different documents, each named as the one who says it."""
        chosen: list[_Said] = []
        parts: list[str] = []
        for source in sorted(by_source):
            if len(chosen) >= self.cross_sentences:
                break
            for one in by_source[source][:_LOOK_AHEAD]:
                part = f"According to {_shown(one.sources)}: {one.text}"
                fits = len(_joined([*parts, part])) <= self.max_chars
                named = {s for c in (*chosen, one) for s in c.places}
                if fits and one not in chosen and len(named) <= check.MAX_LIST:
                    chosen.append(one)
                    parts.append(part)
                    break
        sources = tuple(sorted({s for one in chosen for s in one.places}))
        if len(chosen) > 1 and len(sources) > 1:
            yield Draft(_joined(parts), cue, "semantic", "cross_doc", sources)


def _in_order(ones: list[_Said], source: str) -> list[_Said]:
    return sorted(ones, key=lambda one: (one.places[source], one.text))


def _reading(document: Document) -> Reading:
    chosen, text = document.format, document.text.lstrip("\ufeff")
    if chosen == "auto":
        chosen = format_of(document.source)
    if chosen == "auto":
        chosen = "html" if looks_like_html(text) else "markdown" if looks_like_markdown(text) else "text"
    if chosen == "json":
        return json_reading(text, document.source)
    if chosen == "code":
        return Reading([Unit("code", text.strip("\n"), cue=document.source[: check.MAX_CUE])])
    readers = {"html": read_html, "markdown": read_markdown, "table": table_reading}
    return readers.get(chosen, read_plain)(text)


def _portions(sources: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Sources in groups that an entry can hold. A text of very many documents becomes twins rather than lose a source."""
    return [sources[i : i + check.MAX_LIST] for i in range(0, len(sources), check.MAX_LIST)]


def _joined(texts: Sequence[str]) -> str:
    """Sentences one after the other; one that ends without a mark gets a full stop, so that they do not run together."""
    return " ".join(text if text.endswith(tuple(".!?…。！？｡؟۔।॥።\"'”’»)」』）")) else f"{text}." for text in texts)


def _shown(sources: tuple[str, ...]) -> str:
    names = [source if len(source) <= _SHOWN_CHARS else source[: _SHOWN_CHARS - 1] + "…" for source in sources[:_SHOWN_SOURCES]]
    more = len(sources) - _SHOWN_SOURCES
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")

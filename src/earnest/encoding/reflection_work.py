"""A document on its way through the steps of reflection: what the model reads of it, what was made of it, and what entries that gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from earnest.core.analysis import folded
from earnest.core.entities import find_entities
from earnest.core.entry import Origin
from earnest.core.grounding import tells
from earnest.encoding.document import Document, Draft
from earnest.encoding.reflecting import QUOTE, Entity, Fact, Tally

PIECE: Final = 6_000
"""Characters of a document that one question is about at most."""
PASSAGES: Final = 40
"""Passages, or statements, that one question is about at most."""
JOINED: Final = " … "
"""Between the passages that one statement quotes."""
PAIRS: Final = 3
"""Other documents that a document is put side by side with at most: those that it shares most names with."""


@dataclass(slots=True)
class Work:
    """A document on its way: its passages that the model reads, those that stay as they are, and what the steps made."""

    document: Document
    passages: list[Draft]
    kept: list[Draft]
    facts: list[Fact] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)
    known: list[Fact] = field(default_factory=list)
    """What an earlier encoding made of passages that stand there still."""
    kept_entities: list[Draft] = field(default_factory=list)
    unread: set[int] = field(default_factory=set)
    """Places of the passages that the model did not read."""
    failed: list[str] = field(default_factory=list)

    @property
    def news(self) -> bool:
        """Whether the model was asked about any of it."""
        return bool(self.facts or self.unread)


def work_of(document: Document, drafts: Iterable[Draft]) -> Work:
    """What of a document the model reads: statements. Code, turns and records stay as they are."""
    read: list[Draft] = []
    kept: list[Draft] = []
    for draft in drafts:
        plain = draft.kind == "semantic" and draft.origin == "explicit" and draft.valid_from is None and draft.sources == (document.source,)
        (read if plain else kept).append(draft)
    return Work(document, read, kept)


def remember(work: Work, before: Sequence[Draft]) -> None:
    """What was made before of passages that stand there still."""
    where = {quote_of([passage]): (place,) for place, passage in enumerate(work.passages)}
    texts = {passage.text: place for place, passage in enumerate(work.passages)}
    for draft in before:
        quote = draft.metadata.get("quote")
        if not isinstance(quote, str) or draft.sources != (work.document.source,):
            continue
        parts = [texts.get(part) for part in quote.split(JOINED)]
        places = where.get(quote) or (tuple(part for part in parts if part is not None) if None not in parts else ())
        if not places:
            continue
        if draft.origin == "entity":
            work.kept_entities.append(draft)
        elif draft.origin in ("explicit", "inferred"):
            heading = draft.metadata.get("heading")
            work.known.append(
                Fact(draft.text, places, draft.cue, draft.origin == "inferred", heading if isinstance(heading, str) else None)
            )


def standing(before: Mapping[str, Sequence[Draft]], fresh: set[str]) -> list[Draft]:
    """What was said before of several of these documents together, none of which holds anything new."""
    made = {}
    for source, drafts in before.items():
        for draft in drafts:
            if draft.origin == "cross_doc" and source == draft.sources[0] and all(s in before and s not in fresh for s in draft.sources):
                made[draft.text, draft.cue] = draft
    return [*made.values()]


def pieces_of(passages: Sequence[Draft], told: set[int]) -> list[list[int]]:
    """Places of passages that were not told before, in portions that fit into one question."""
    made: list[list[int]] = []
    room = 0
    for place, passage in enumerate(passages):
        if place in told:
            continue
        size = len(passage.text) + len(passage.cue or "")
        if not made or len(made[-1]) >= PASSAGES or size > room:
            made.append([])
            room = PIECE
        made[-1].append(place)
        room -= size
    return made


def portions_of(facts: Sequence[Fact]) -> list[list[Fact]]:
    """Statements in portions that fit into one question."""
    return [list(facts[start : start + PASSAGES]) for start in range(0, len(facts), PASSAGES)]


def drafts_of(work: Work) -> list[Draft]:
    """The drafts of one document: statements, what is known of its names, and every passage that nothing was made of, as it is."""
    facts, told = list(work.facts), told_whole(work.passages, work.facts)
    entities = list(work.kept_entities)
    for entity in work.entities:
        if entity.question:
            first = entity.places[0]
            if facts[first].cue is None or facts[first].heading is None:
                facts[first] = replace(facts[first], cue=entity.question, heading=facts[first].cue)
        if entity.about and len(entity.places) > 1:
            places = tuple(sorted({place for fact in entity.places for place in facts[fact].places}))
            made = draft_of(work, Fact(entity.about, places, f"What do we know about {entity.name}?"))
            entities.append(replace(made, origin="entity"))
    said = {(folded(fact.text), fact.cue) for fact in facts}
    left = (passage for place, passage in enumerate(work.passages) if place not in told)
    verbatim = [passage for passage in left if (folded(passage.text), passage.cue) not in said]
    return [*(draft_of(work, fact) for fact in facts), *entities, *verbatim, *work.kept]


def told_whole(passages: Sequence[Draft], facts: Sequence[Fact]) -> set[int]:
    """Places of the passages that the statements from them tell whole: their numbers, names, conditions and denials, and most words."""
    by_place: dict[int, list[str]] = {}
    for fact in facts:
        for place in fact.places:
            by_place.setdefault(place, []).append(fact.text)
    return {place for place, texts in by_place.items() if tells(texts, passages[place].text)}


def draft_of(work: Work, fact: Fact) -> Draft:
    """A statement as the draft of an entry, traced to its passages."""
    passages = [work.passages[place] for place in fact.places]
    metadata = {**passages[0].metadata, "quote": quote_of(passages)}
    if fact.heading:
        metadata["heading"] = fact.heading
    origin: Origin = "inferred" if fact.inferred else "explicit"
    return replace(passages[0], text=fact.text, cue=fact.cue, origin=origin, metadata=metadata)


def quote_of(passages: Sequence[Draft]) -> str:
    """What an entry repeats of its passages, cut to `QUOTE` characters."""
    quote = JOINED.join(passage.text for passage in passages)
    return quote if len(quote) <= QUOTE else quote[: QUOTE - 1].rstrip() + "…"


def pairs_of(works: Sequence[Work]) -> list[tuple[Work, Work, tuple[str, ...]]]:
    """Pairs of documents to put side by side: those that share most names, each with a few others. Linear in the names."""
    read = [work for work in works if work.facts]
    names: dict[str, dict[int, str]] = {}
    found = find_entities([(fact.text, (work.document.source,)) for work in read for fact in work.facts])
    owners = [number for number, work in enumerate(read) for _ in work.facts]
    for name, places in found.items():
        for place in places:
            names.setdefault(folded(name), {})[owners[place]] = name
    for number, work in enumerate(read):
        for entity in work.entities:
            names.setdefault(folded(entity.name), {})[number] = entity.name
    shared: dict[tuple[int, int], list[str]] = {}
    for holders in names.values():
        # A name that very many documents hold tells nothing of two of them.
        some = sorted(holders)[: 2 * PAIRS + 2]
        for at, one in enumerate(some):
            for other in some[at + 1 :]:
                shared.setdefault((one, other), []).append(holders[one])
    partners: Counter[int] = Counter()
    made = []
    for (one, other), both in sorted(shared.items(), key=lambda item: (-len(item[1]), item[0])):
        if partners[one] < PAIRS and partners[other] < PAIRS and read[one].document.source != read[other].document.source:
            partners.update((one, other))
            made.append((read[one], read[other], tuple(sorted(both)[:12])))
    return made


def about_of(work: Work, names: Sequence[str]) -> list[str]:
    """The statements of a document about these names, at most a dozen."""
    wanted = [folded(name) for name in names]
    return [fact.text for fact in work.facts if any(name in folded(fact.text) for name in wanted)][:12]


def synthesis_of(text: str, places: Sequence[int], texts: Sequence[str], names: Sequence[str], sources: tuple[str, ...]) -> Draft:
    """A statement that rests on two documents as the draft of an entry."""
    name = next((name for name in names if folded(name) in folded(text)), None)
    quote = JOINED.join(texts[place] for place in places)[: QUOTE - 1]
    return Draft(text, f"What do we know about {name}?" if name else None, "semantic", "cross_doc", sources, {"quote": quote})


def notes_of(tallies: Mapping[str, Tally], works: Sequence[Work]) -> list[str]:
    """What each step did and what it left out, and which documents are not done."""
    notes = []
    for step, tally in tallies.items():
        left = ", ".join(f"{count:,} × {why}" for why, count in sorted(tally.refused.items()))
        if tally.taken or left:
            notes.append(f"{step}: {tally.taken:,} taken from the model" + (f"; left out: {left}" if left else ""))
    told = sum(len(told_whole(work.passages, work.facts)) for work in works)
    whole = sum(len(work.passages) for work in works)
    if whole > told:
        notes.append(f"{whole - told:,} of {whole:,} passages are stored as they are")
    for work in works:
        for why in list(dict.fromkeys(work.failed))[:3]:
            notes.append(f"{work.document.source}: the model was asked and did not do it ({why}); the text is stored as it is")
    return notes

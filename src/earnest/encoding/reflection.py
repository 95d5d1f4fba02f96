"""The encoder that asks a language model: five separate steps, each checked, each of which may fail without losing a word."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from earnest.core import check, replies
from earnest.core.analysis import Analyser, folded
from earnest.core.entry import Origin
from earnest.core.grounding import tells
from earnest.core.models import model_spec
from earnest.encoding import reflecting
from earnest.encoding.document import Document, Draft, Encoding
from earnest.encoding.entities import find_entities
from earnest.encoding.local import LocalEncoder
from earnest.encoding.reflecting import QUOTE, Entity, Fact, Tally
from earnest.errors import BudgetSpent, EarnestError, InvalidInput
from earnest.protocols import LLM

VERSION: Final = 1
"""Goes up whenever the steps change what the same replies make."""

PIECE: Final = 6_000
"""Characters of a document that one question is about at most."""
PASSAGES: Final = 40
"""Passages, or statements, that one question is about at most."""
JOINED: Final = " … "
"""Between the passages that one statement quotes."""
PAIRS: Final = 3
"""Other documents that a document is put side by side with at most: those that it shares most names with."""

_FACT_TOKENS: Final = 2_000
_STEP_TOKENS: Final = 1_500
_DOWN: Final = 2
"""Questions in a row that a service did not answer, after which it is not asked any more."""
_LISTS: Final = ("facts", "statements", "items", "groups", "merged", "entities", "results", "data")
_FIELDS: Final = ("text", "statement", "fact", "entity", "of", "id")

STEPS: Final = ("facts", "consolidation", "self-containment", "entities", "synthesis")

T, R = TypeVar("T"), TypeVar("R")
LLMWrap = Callable[[LLM], LLM]


class _Unanswered(Exception):
    """A step was not answered; the message says why."""


@dataclass(slots=True)
class _Work:
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


class _Asking:
    """Asks one question after the other within the cap, counts what becomes of the items, and stops when the service is down."""

    def __init__(self, llm: LLM, most: int | None, progress: Callable[[int, int], None] | None) -> None:
        self._llm, self._most, self._progress = llm, most, progress
        self.cancel = threading.Event()
        self.tallies = {step: Tally() for step in STEPS}
        self.calls = 0
        self._row = self._done = self._of = 0
        self._stopped = ""
        self._lock = threading.Lock()

    def expect(self, more: int) -> None:
        """So many questions more are to come."""
        with self._lock:
            self._of += more

    def done(self, count: int = 1) -> None:
        """So many questions are over."""
        with self._lock:
            self._done += count
            if self._progress:
                # Told while nobody else counts, so that it never runs backwards.
                self._progress(self._done, max(self._of, self._done))

    def items(self, prompt: str, tokens: int) -> tuple[Any, ...]:
        """The items of the model's list. A reply without one is asked for once more, with what was wrong with it.

        Raises:
            _Unanswered: There is none.
        """
        why = ""
        for again in (False, True):
            asked = f"{prompt}\nYour last reply could not be used: {why}. Answer with the JSON list alone.\n" if again else prompt
            found = replies.items(self._reply(asked, tokens), _LISTS, _FIELDS)
            if found.found:
                return found.values
            why = found.why
            unusable = getattr(self._llm, "unusable", None)
            if callable(unusable):
                unusable(asked)
        raise _Unanswered(f"its reply could not be used ({why})")

    def _reply(self, prompt: str, tokens: int) -> str:
        with self._lock:
            if self._stopped:
                raise _Unanswered(self._stopped)
            if self._most is not None and self.calls >= self._most:
                self._stopped = f"the cap of {self._most:,} calls was reached"
                raise _Unanswered(self._stopped)
            self.calls += 1
        try:
            reply = self._llm.complete(prompt, max_tokens=tokens, json=True, cancel=self.cancel)
        except (EarnestError, OSError, ValueError, RuntimeError) as error:
            with self._lock:
                self._row += 1
                down = isinstance(error, BudgetSpent) or (self._row >= _DOWN and getattr(error, "passing", True))
                self._stopped = self._stopped or (f"{str(error)[:300]}" if down else "")
            raise _Unanswered(str(error)[:300]) from error
        with self._lock:
            self._row = 0
        return reply if isinstance(reply, str) else ""


@dataclass(frozen=True)
class ReflectionEncoder:
    """Makes entries of documents with a language model, in five steps; implements `earnest.protocols.Encoder`.

    1. Facts: each piece of a document becomes short statements, each traced to its passage (metadata `quote`).
    2. Consolidation: statements that say the same or belong together are joined, if the joined one loses nothing.
    3. Self-containment: statements that could not be understood alone are rewritten with what their document says.
    4. Entities both ways: what several statements say of a name (cue "What do we know about …?"), and the question that a name answers.
    5. Synthesis: what two documents that share names say together, or where they contradict each other.

    What the model says is taken item by item, and only if the passages bear it out: their words, numbers, names, conditions and denials.
    **Nothing is lost by the model**: a passage of which no statement was taken is stored as it is, and so is everything where a step
    failed, the service was down, or the cap or the budget was reached; the report says so. Code, turns of conversations and records are
    stored as they are.

    Inside `memory.encode` what is asked is counted and bounded by `llm_daily_budget`, and replies are kept until the work is done: after an
    interruption the same call goes on without paying twice. Of a document that was encoded before, only passages that changed are asked
    about: what was made of the others stays, with its history.

    Args:
        llm: The model: anything with `complete(prompt) -> str`; inside `memory.encode` also a spec such as "ollama:qwen3", or a callable.
        max_calls: Ask it at most so often in one `encode`; None for as often as it takes (about one call for 40 passages, up to three for
            each document, and one for each pair of documents).
        workers: Questions that are under way at a time, 1 to 32.
        synthesis: Whether documents are put side by side.

    Raises:
        InvalidInput: An argument is out of range.
    """

    llm: Any
    max_calls: int | None = None
    workers: int = 4
    synthesis: bool = True
    progress: Callable[[int, int], None] | None = None
    known: Callable[[str], Sequence[Draft]] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.llm, str):
            model_spec(self.llm)
        elif not callable(getattr(self.llm, "complete", self.llm)):
            raise InvalidInput("llm", self.llm, "must be a spec such as ollama:qwen3, or a model with complete(prompt) -> str")
        if self.max_calls is not None:
            check.integer("max_calls", self.max_calls, low=0, high=10_000_000)
        check.integer("workers", self.workers, low=1, high=32)
        check.flag("synthesis", self.synthesis)

    @property
    def id(self) -> str:
        """Which steps the pieces are made by. A change of model is none: what was encoded stays until it is encoded again."""
        return f"reflection-{VERSION}/{int(self.synthesis)}"

    def through(
        self,
        wrap: LLMWrap,
        progress: Callable[[int, int], None] | None = None,
        known: Callable[[str], Sequence[Draft]] | None = None,
    ) -> ReflectionEncoder:
        """The same encoder, asking through another model that asks this one: how a memory counts what it costs.

        `known(source)` gives what was made of a document before.
        """
        return replace(self, llm=wrap(self.llm), progress=progress or self.progress, known=known or self.known)

    def encode(self, documents: Sequence[Document]) -> Encoding:
        """Make drafts of documents. Writes nothing; the caller adds the drafts to a store.

        Raises:
            InvalidInput: Not a list of documents.

        The model's failures raise nothing: see `Encoding.unfinished` and the notes.
        """
        if not callable(getattr(self.llm, "complete", None)):
            raise InvalidInput("llm", self.llm, "cannot be asked outside of a memory; give a model with complete(prompt) -> str")
        local = LocalEncoder(entity_sentences=0, cross_sentences=0)
        plain = {document.source: local.encode([document]) for document in _listed(documents)}
        asking = _Asking(self.llm, self.max_calls, self.progress)
        works = [_work(document, plain[document.source].drafts) for document in documents]
        before = {work.document.source: self.known(work.document.source) if self.known else () for work in works}
        for work in works:
            _remember(work, before[work.document.source])
        analyser = Analyser()
        with ThreadPoolExecutor(self.workers, "earnest-reflection") as pool:
            try:
                self._facts(pool, asking, analyser, works)
                self._documents(pool, asking, analyser, works)
                fresh = {work.document.source for work in works if work.news}
                for work in works:
                    work.facts += work.known
                across = self._across(pool, asking, analyser, works, fresh) if self.synthesis else []
            except BaseException:
                # Interrupted: those that wait for a reply stop waiting, and nobody asks anew.
                asking.cancel.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        drafts = [draft for work in works for draft in _drafts(work)] + across + _standing(before, fresh)
        skipped = [one for source in plain for one in plain[source].skipped]
        notes = [note for source in plain for note in plain[source].notes] + _notes(asking, works)
        spoken = dict.fromkeys(source for source in plain for source in plain[source].sources)
        return Encoding(
            tuple(drafts), tuple(skipped), tuple(notes), tuple(spoken),
            unfinished=tuple(dict.fromkeys(work.document.source for work in works if work.failed)),
        )  # fmt: skip

    def _facts(self, pool: ThreadPoolExecutor, asking: _Asking, analyser: Analyser, works: Sequence[_Work]) -> None:
        pieces = [(work, places) for work in works for places in _pieces(work.passages, _told(work.passages, work.known))]
        asking.expect(len(pieces))

        def run(piece: tuple[_Work, list[int]]) -> tuple[list[Fact], str]:
            work, places = piece
            passages = [work.passages[place] for place in places]
            try:
                found = asking.items(reflecting.facts_prompt(work.document.source, passages), _FACT_TOKENS)
            except _Unanswered as why:
                return [], str(why)
            finally:
                asking.done()
            made = reflecting.read_facts(analyser, found, passages, asking.tallies["facts"])
            return [replace(fact, places=tuple(places[place] for place in fact.places)) for fact in made], ""

        for (work, places), (facts, failed) in zip(pieces, pool.map(run, pieces), strict=True):
            work.facts += facts
            if failed:
                work.unread.update(places)
                work.failed.append(f"facts: {failed}")

    def _documents(self, pool: ThreadPoolExecutor, asking: _Asking, analyser: Analyser, works: Sequence[_Work]) -> None:
        def run(work: _Work) -> None:
            for step, change in (("consolidation", _consolidated), ("self-containment", _contained), ("entities", _named)):
                try:
                    change(asking, analyser, work, asking.tallies[step])
                except _Unanswered as why:
                    work.failed.append(f"{step}: {why}")
                finally:
                    asking.done()

        read = [work for work in works if work.facts]
        asking.expect(3 * len(read))
        for _ in pool.map(run, read):
            pass

    def _across(
        self, pool: ThreadPoolExecutor, asking: _Asking, analyser: Analyser, works: Sequence[_Work], fresh: set[str]
    ) -> list[Draft]:
        pairs = [pair for pair in _pairs(works) if {pair[0].document.source, pair[1].document.source} & fresh]
        asking.expect(len(pairs))

        def run(pair: tuple[_Work, _Work, tuple[str, ...]]) -> list[Draft]:
            one, other, names = pair
            mine, theirs = ((work.document.source, _about(work, names)) for work in (one, other))
            try:
                found = asking.items(reflecting.synthesis_prompt(names, mine, theirs), _STEP_TOKENS)
            except _Unanswered as why:
                for work in (one, other):
                    work.failed.append(f"synthesis: {why}")
                return []
            finally:
                asking.done()
            sources = tuple(sorted((mine[0], theirs[0])))
            made = reflecting.read_synthesis(analyser, found, mine, theirs, asking.tallies["synthesis"])
            return [_synthesis(text, places, [*mine[1], *theirs[1]], names, sources) for text, places in made]

        return [draft for drafts in pool.map(run, pairs) for draft in drafts]


def _listed(documents: Any) -> list[Document]:
    if isinstance(documents, Document) or not isinstance(documents, Sequence) or not all(isinstance(one, Document) for one in documents):
        raise InvalidInput("documents", documents, "must be a list of Document; put a single one in brackets")
    return list(documents)


def _work(document: Document, drafts: Iterable[Draft]) -> _Work:
    """What of a document the model reads: statements. Code, turns and records stay as they are."""
    read: list[Draft] = []
    kept: list[Draft] = []
    for draft in drafts:
        plain = draft.kind == "semantic" and draft.origin == "explicit" and draft.valid_from is None and draft.sources == (document.source,)
        (read if plain else kept).append(draft)
    return _Work(document, read, kept)


def _remember(work: _Work, before: Sequence[Draft]) -> None:
    """What was made before of passages that stand there still."""
    where = {_quote([passage]): (place,) for place, passage in enumerate(work.passages)}
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


def _standing(before: Mapping[str, Sequence[Draft]], fresh: set[str]) -> list[Draft]:
    """What was said before of several of these documents together, none of which holds anything new."""
    made = {}
    for source, drafts in before.items():
        for draft in drafts:
            if draft.origin == "cross_doc" and source == draft.sources[0] and all(s in before and s not in fresh for s in draft.sources):
                made[draft.text, draft.cue] = draft
    return [*made.values()]


def _pieces(passages: Sequence[Draft], told: set[int]) -> list[list[int]]:
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


def _portions(facts: Sequence[Fact]) -> list[list[Fact]]:
    return [list(facts[start : start + PASSAGES]) for start in range(0, len(facts), PASSAGES)]


def _consolidated(asking: _Asking, analyser: Analyser, work: _Work, tally: Tally) -> None:
    made: list[Fact] = []
    for place, portion in enumerate(portions := _portions(work.facts)):
        if len(portion) < 2 or not reflecting.alike(analyser, portion):
            made += portion
            continue
        try:
            found = asking.items(reflecting.consolidation_prompt(portion), _STEP_TOKENS)
        except _Unanswered:
            work.facts = made + [fact for rest in portions[place:] for fact in rest]
            raise
        made += reflecting.read_consolidation(portion, found, tally)
    work.facts = made


def _contained(asking: _Asking, analyser: Analyser, work: _Work, tally: Tally) -> None:
    made: list[Fact] = []
    for place, portion in enumerate(portions := _portions(work.facts)):
        try:
            found = asking.items(reflecting.containment_prompt(work.document.source, portion, work.passages), _STEP_TOKENS)
        except _Unanswered:
            work.facts = made + [fact for rest in portions[place:] for fact in rest]
            raise
        made += reflecting.read_containment(analyser, portion, found, work.passages, work.document.source, tally)
    work.facts = made


def _named(asking: _Asking, analyser: Analyser, work: _Work, tally: Tally) -> None:
    start = 0
    for portion in _portions(work.facts):
        found = asking.items(reflecting.entities_prompt(portion), _STEP_TOKENS)
        for entity in reflecting.read_entities(analyser, portion, found, tally):
            work.entities.append(replace(entity, places=tuple(start + place for place in entity.places)))
        start += len(portion)


def _drafts(work: _Work) -> list[Draft]:
    """The drafts of one document: statements, what is known of its names, and every passage that nothing was made of, as it is."""
    facts, told = list(work.facts), _told(work.passages, work.facts)
    entities = list(work.kept_entities)
    for entity in work.entities:
        if entity.question:
            first = entity.places[0]
            if facts[first].cue is None or facts[first].heading is None:
                facts[first] = replace(facts[first], cue=entity.question, heading=facts[first].cue)
        if entity.about and len(entity.places) > 1:
            places = tuple(sorted({place for fact in entity.places for place in facts[fact].places}))
            made = _draft(work, Fact(entity.about, places, f"What do we know about {entity.name}?"))
            entities.append(replace(made, origin="entity"))
    said = {(folded(fact.text), fact.cue) for fact in facts}
    left = (passage for place, passage in enumerate(work.passages) if place not in told)
    verbatim = [passage for passage in left if (folded(passage.text), passage.cue) not in said]
    return [*(_draft(work, fact) for fact in facts), *entities, *verbatim, *work.kept]


def _told(passages: Sequence[Draft], facts: Sequence[Fact]) -> set[int]:
    """Places of the passages that the statements from them tell whole: their numbers, names, conditions and denials, and most words."""
    by_place: dict[int, list[str]] = {}
    for fact in facts:
        for place in fact.places:
            by_place.setdefault(place, []).append(fact.text)
    return {place for place, texts in by_place.items() if tells(texts, passages[place].text)}


def _draft(work: _Work, fact: Fact) -> Draft:
    passages = [work.passages[place] for place in fact.places]
    metadata = {**passages[0].metadata, "quote": _quote(passages)}
    if fact.heading:
        metadata["heading"] = fact.heading
    origin: Origin = "inferred" if fact.inferred else "explicit"
    return replace(passages[0], text=fact.text, cue=fact.cue, origin=origin, metadata=metadata)


def _quote(passages: Sequence[Draft]) -> str:
    quote = JOINED.join(passage.text for passage in passages)
    return quote if len(quote) <= QUOTE else quote[: QUOTE - 1].rstrip() + "…"


def _pairs(works: Sequence[_Work]) -> list[tuple[_Work, _Work, tuple[str, ...]]]:
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


def _about(work: _Work, names: Sequence[str]) -> list[str]:
    """The statements of a document about these names, at most a dozen."""
    wanted = [folded(name) for name in names]
    return [fact.text for fact in work.facts if any(name in folded(fact.text) for name in wanted)][:12]


def _synthesis(text: str, places: Sequence[int], texts: Sequence[str], names: Sequence[str], sources: tuple[str, ...]) -> Draft:
    name = next((name for name in names if folded(name) in folded(text)), None)
    quote = " … ".join(texts[place] for place in places)[: QUOTE - 1]
    return Draft(text, f"What do we know about {name}?" if name else None, "semantic", "cross_doc", sources, {"quote": quote})


def _notes(asking: _Asking, works: Sequence[_Work]) -> list[str]:
    """What each step did and what it left out, and which documents are not done."""
    notes = []
    for step, tally in asking.tallies.items():
        left = ", ".join(f"{count:,} × {why}" for why, count in sorted(tally.refused.items()))
        if tally.taken or left:
            notes.append(f"{step}: {tally.taken:,} taken from the model" + (f"; left out: {left}" if left else ""))
    told = sum(len(_told(work.passages, work.facts)) for work in works)
    whole = sum(len(work.passages) for work in works)
    if whole > told:
        notes.append(f"{whole - told:,} of {whole:,} passages are stored as they are")
    for work in works:
        for why in list(dict.fromkeys(work.failed))[:3]:
            notes.append(f"{work.document.source}: the model was asked and did not do it ({why}); the text is stored as it is")
    return notes

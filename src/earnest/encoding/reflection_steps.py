"""The five steps of reflection at work: what is asked of which documents, and what becomes of them where a step is not answered."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final

from earnest.core.analysis import Analyser
from earnest.encoding import reflecting
from earnest.encoding.document import Draft
from earnest.encoding.reflecting import Fact, Tally
from earnest.encoding.reflection_asking import Asking, Unanswered
from earnest.encoding.reflection_work import Work, about_of, pairs_of, pieces_of, portions_of, synthesis_of, told_whole

_FACT_TOKENS: Final = 2_000
_STEP_TOKENS: Final = 1_500


def facts_told(pool: ThreadPoolExecutor, asking: Asking, analyser: Analyser, works: Sequence[Work]) -> None:
    """Step 1, facts: of each piece of each document, a question; what is not answered stays as it is."""
    pieces = [(work, places) for work in works for places in pieces_of(work.passages, told_whole(work.passages, work.known))]
    asking.expect(len(pieces))

    def run(piece: tuple[Work, list[int]]) -> tuple[list[Fact], str]:
        work, places = piece
        passages = [work.passages[place] for place in places]
        try:
            found = asking.items(reflecting.facts_prompt(work.document.source, passages), _FACT_TOKENS)
        except Unanswered as why:
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


def documents_gone_over(pool: ThreadPoolExecutor, asking: Asking, analyser: Analyser, works: Sequence[Work]) -> None:
    """Steps 2 to 4, consolidation, self-containment and entities: of each document by itself."""

    def run(work: Work) -> None:
        for step, change in (("consolidation", consolidated), ("self-containment", contained), ("entities", named)):
            try:
                change(asking, analyser, work, asking.tallies[step])
            except Unanswered as why:
                work.failed.append(f"{step}: {why}")
            finally:
                asking.done()

    read = [work for work in works if work.facts]
    asking.expect(3 * len(read))
    for _ in pool.map(run, read):
        pass


def documents_together(pool: ThreadPoolExecutor, asking: Asking, analyser: Analyser, works: Sequence[Work], fresh: set[str]) -> list[Draft]:
    """Step 5, synthesis: of each pair of documents that share names, of which one holds something new."""
    pairs = [pair for pair in pairs_of(works) if {pair[0].document.source, pair[1].document.source} & fresh]
    asking.expect(len(pairs))

    def run(pair: tuple[Work, Work, tuple[str, ...]]) -> list[Draft]:
        one, other, names = pair
        mine, theirs = ((work.document.source, about_of(work, names)) for work in (one, other))
        try:
            found = asking.items(reflecting.synthesis_prompt(names, mine, theirs), _STEP_TOKENS)
        except Unanswered as why:
            for work in (one, other):
                work.failed.append(f"synthesis: {why}")
            return []
        finally:
            asking.done()
        sources = tuple(sorted((mine[0], theirs[0])))
        made = reflecting.read_synthesis(analyser, found, mine, theirs, asking.tallies["synthesis"])
        return [synthesis_of(text, places, [*mine[1], *theirs[1]], names, sources) for text, places in made]

    return [draft for drafts in pool.map(run, pairs) for draft in drafts]


def consolidated(asking: Asking, analyser: Analyser, work: Work, tally: Tally) -> None:
    """Step 2: joins statements that are one. Raises Unanswered: what was not asked about stays as it is."""
    made: list[Fact] = []
    for place, portion in enumerate(portions := portions_of(work.facts)):
        if len(portion) < 2 or not reflecting.alike(analyser, portion):
            made += portion
            continue
        try:
            found = asking.items(reflecting.consolidation_prompt(portion), _STEP_TOKENS)
        except Unanswered:
            work.facts = made + [fact for rest in portions[place:] for fact in rest]
            raise
        made += reflecting.read_consolidation(portion, found, tally)
    work.facts = made


def contained(asking: Asking, analyser: Analyser, work: Work, tally: Tally) -> None:
    """Step 3: rewrites statements that cannot be understood alone. Raises Unanswered: the others stay as they are."""
    made: list[Fact] = []
    for place, portion in enumerate(portions := portions_of(work.facts)):
        try:
            found = asking.items(reflecting.containment_prompt(work.document.source, portion, work.passages), _STEP_TOKENS)
        except Unanswered:
            work.facts = made + [fact for rest in portions[place:] for fact in rest]
            raise
        made += reflecting.read_containment(analyser, portion, found, work.passages, work.document.source, tally)
    work.facts = made


def named(asking: Asking, analyser: Analyser, work: Work, tally: Tally) -> None:
    """Step 4: finds the names that statements are about. Raises Unanswered."""
    start = 0
    for portion in portions_of(work.facts):
        found = asking.items(reflecting.entities_prompt(portion), _STEP_TOKENS)
        for entity in reflecting.read_entities(analyser, portion, found, tally):
            work.entities.append(replace(entity, places=tuple(start + place for place in entity.places)))
        start += len(portion)

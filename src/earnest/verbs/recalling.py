"""Verbs that ask: search, answer, decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from earnest.core import check, filters
from earnest.core.entry import Entry, StoredEntry
from earnest.core.filters import Filter
from earnest.core.reports import Hit
from earnest.core.settings import Settings, weights
from earnest.core.ticket import Answer, Ticket
from earnest.errors import NotAvailable
from earnest.forgetting import curve
from earnest.graph.walking import LENDERS, SPREAD, spread
from earnest.ledger.testimony import Testimony
from earnest.protocols import LLM, Reading
from earnest.recall import answering
from earnest.recall.earlier import with_merged
from earnest.recall.filling import dimension_of, standing
from earnest.recall.holding import best, holding
from earnest.recall.search import EXTRA, Found, find
from earnest.recall.weighing import DEEP, weighed
from earnest.verbs import tickets
from earnest.verbs.asking import AskingVerbs
from earnest.verbs.beside import called_for, in_force, rows_called_for, ruled
from earnest.verbs.questions import Asking, Mode
from earnest.verbs.seating import as_now, as_then, guarding, seated
from earnest.verbs.tickets import SILENT_TICKET, Recalled

# A decider may fall between being found and being named; then the question is asked again.
_ATTEMPTS = 3


class RecallVerbs(AskingVerbs):
    """Verbs that ask."""

    def search(
        self,
        query: str | None,
        k: int = 5,
        *,
        scope: Any = "",
        kind: Any = None,
        source: Any = None,
        tags: Any = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        as_of: datetime | str | None = None,
        half_life: float | None = None,
        mode: Mode = "auto",
        floor: float = 0.0,
        links: bool | None = None,
        weigh: Any = None,
    ) -> list[Hit]:
        """The entries that match a question best, broad: suspended ones too, marked by their standing.

        What ceased to hold (`valid_to`) is left out, unless it is an event or a time is asked about: in the question, by `since`, `until`
        or `as_of`.

        Args:
            query: Any text of at most 100,000 characters; it is only ever data. Blank or None finds nothing.
            k: At most so many hits, 1 to 1,000.
            scope: One scope, a list of them, or `earnest.ALL`. Matched exactly.
            kind, source, tags: Only entries of one of these. Rules are left out unless `kind` names them.
            since, until: Bounds on the time that an entry is about (`valid_from`, else when it was recorded).
            as_of: Only what was recorded by then and valid then; what was superseded or merged since is found too, marked as dead.
            half_life: Halve a score for every so many ticks since the entry was last settled.
            mode: "auto" is "hybrid" where the store has vectors, else "keyword". "hybrid" joins words, meaning, what stands around a turn
                of a conversation, who says it, and the times that the question names; "rrf" joins the ranks of words and meaning alone;
                "keyword" and "dense" go by one of the two.
            floor: Leave out what matches less than this part of the question, 0 to 1. What nothing speaks for is left out anyway: no
                word, no time, and less than half of the cosine `near` (unless the mode is "dense", or nobody knows what is near).
            links: Whether a good hit lends relevance to what it is linked with; the setting `spread` says by default (0: no).
            weigh: What relevance is multiplied by, one name or several: "importance" (``(1 + earned) / 2``, from outcomes alone),
                "confidence" (the entry's), "recency" (what the forgetting curve has left of it). The setting `weigh` by default; [] for
                nothing.

        Writes nothing.

        Raises:
            InvalidInput. IndexDamaged: the index cannot be trusted. NotAvailable: a mode that needs an embedder.
        """
        chosen = filters.checked(scope=scope, kind=kind, source=source, tags=tags, since=since, until=until, as_of=as_of)
        at_least = check.number("floor", floor, low=0.0, high=1.0)
        asking = self._asking(query, k, half_life, mode, links, weigh)
        asking.past = True
        if not asking.text:
            return []
        with self._store.read() as reading:
            self._read_settings(reading)
            reranking = self._reranking
            found = self._find(reading, asking, chosen, reranking.depth(asking.k), at_least)
        found, trouble = reranking.ordered(asking.text, found)
        return [Hit(f.stored.entry, f.score, f"{f.why}{asking.note}{trouble}", f.covered) for f in found[: asking.k]]

    def answer(
        self,
        query: str | None,
        k: int = 3,
        *,
        scope: Any = "",
        kind: Any = None,
        source: Any = None,
        tags: Any = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        as_of: datetime | str | None = None,
        half_life: float | None = None,
        mode: Mode = "auto",
        links: bool | None = None,
        weigh: Any = None,
        llm: Any = None,
    ) -> Answer:
        """What memory says to a question, with provenance; falsy and empty where it knows nothing.

        The best-ranked entry in good standing decides; `annotated` adds its age, its sources and what contradicts it. Rules in force
        that the question calls for stand beside the answer (`rules`), or in its place where no entry answers. Opens no ticket. Arguments
        as in `search`; `k` counts the decider and its supporters. With `as_of`, what memory would have said then: what was superseded
        since answers too, and says so.

        With `llm` (a spec such as "ollama:qwen3", an object with `complete`, or True for the memory's own), the model says what to look
        up, `k` entries for each thing, and answers from what was found, in three calls at most; what it cites is deciding (one) or
        supporting (several). An answer that cites nothing has `from_memory=False`. Where nothing was found memory is silent, and the
        model is not asked to answer. What it costs is counted at once.

        Raises:
            ModelFailed: The model gave no answer. BudgetSpent: it was not asked.
        """
        chosen = filters.checked(scope=scope, kind=kind, source=source, tags=tags, since=since, until=until, as_of=as_of)
        model = None if llm is None else self._metered(llm)
        asking = self._asking(query, k, half_life, mode, links, weigh)
        asking.past = True
        rules, told = called_for(self, asking, chosen)
        if model is None:
            (said, decider, others, *_), _ = self._considered(asking, chosen)
            named = [] if decider is None else [decider, *others]
        else:
            # Imported where a model is asked: it takes prompts and readers that nothing else needs.
            from earnest.verbs import consulting

            told = consulting.fitting(told)
            said, named = consulting.consulted(self, model, asking, chosen, told)
        # One that was asked for by kind, and answers, does not stand beside itself.
        named_ids = {f.stored.entry.id for f in named}
        told = [rule for rule in told if rule.id not in named_ids]
        said = ruled(said, told)
        shown = {rule.id for rule in told}
        rows = [hit.stored.row for hit in rules if hit.stored.entry.id in shown]
        self._note("silent" if said.silent else None, [*(f.stored.row for f in named), *rows], ways(named))
        return said

    def decide(
        self,
        query: str | None,
        k: int = 3,
        *,
        scope: Any = "",
        kind: Any = None,
        source: Any = None,
        tags: Any = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        as_of: datetime | str | None = None,
        half_life: float | None = None,
        mode: Mode = "auto",
        links: bool | None = None,
        weigh: Any = None,
        llm: Any = None,
        key: str | None = None,
    ) -> Ticket:
        """Answer a question and open a ticket for its outcome, naming the entries that shaped it.

        With the setting `holdout`, memory is withheld from some decisions at random, so that `uplift` can tell what it changes: the
        ticket then has `holdout=True` and an empty text. Act as you would without memory, and settle it like any other.

        Args:
            query: The question. On silence nothing is opened: the ticket is falsy and its `id` is None. Rules that the question calls for
                stand beside the answer (`rules`), or in its place where no entry answers. So do those on trial whose coin comes up:
                `shown` puts all of it into a prompt.
            k: The decider and up to k - 1 supporters (the setting `supporters` bounds them).
            llm: Asks a language model, as in `answer`. One entry that it cites decides; several share the outcome evenly (role `cited`).
                An answer that cites nothing opens no ticket: its `id` is None, and `from_memory` False. The model is told of the rules
                in force; of those on trial a coin is thrown when the ticket is opened, after it answered.
            as_of: As in `answer`. What was superseded since answers without a ticket: its `id` is None, for no outcome can be its own.
            key: Idempotency key: repeating the request returns the same ticket.

        Other arguments as in `search`. Durable when it returns. Cost: a search and one commit; where there are rules, a
        search for them for each of at most seven sentences.
        """
        chosen = filters.checked(scope=scope, kind=kind, source=source, tags=tags, since=since, until=until, as_of=as_of)
        asking = self._asking(query, k, half_life, mode, links, weigh)
        model = None if llm is None else self._metered(llm)
        asking.past = True
        asking.kept = self._gate().passed(asking.text).text
        request = {"query": asking.kept, "k": asking.k, "half_life": asking.half_life, "where": repr(chosen)}
        # Told only where they were asked for, so that requests of earlier versions are known again.
        request |= {name: value for name, value in (("links", asking.links), ("weigh", asking.weigh)) if value is not None}
        if model is not None:
            request["llm"] = model.model_id
        if key is not None:
            # Asked before anything is recalled: what was decided stays decided, whatever became of the entries.
            with self._store.read() as reading:
                kept = self._kept(reading, key, "decide", request)
                if kept is not None:
                    return tickets.reopened(reading, kept)
        if model is not None:
            return self._decided_with(model, asking, chosen, request, key)
        for _ in range(_ATTEMPTS):
            recalled, rival = self._considered(asking, chosen, self._rng.random)
            if recalled.gone:
                return tickets.looked_back(recalled.said)
            rival = None if rival is None or rival.gone else rival
            rules = rows_called_for(self, asking, chosen)
            if recalled.decider is None and not rules:
                break
            ticket = tickets.opened(self, asking, request, recalled, rival, key, rules)
            if ticket is not None:
                return ticket
        self._note("silent")
        return SILENT_TICKET

    def _decided_with(self, model: LLM, asking: Asking, chosen: Filter, request: Mapping[str, Any], key: str | None) -> Ticket:
        from earnest.verbs import consulting

        ticket = consulting.decided(self, model, asking, chosen, request, key)
        if ticket is None:
            self._note("silent")
        return ticket or SILENT_TICKET

    def _considered(self, asking: Asking, chosen: Filter, draw: Callable[[], float] | None = None) -> tuple[Recalled, Recalled | None]:
        """What memory says, and, where decisions are randomised, what it says without the entry that decides.

        A suspended entry may be let decide once more only if there is chance to `draw`.
        """
        if not asking.text:
            return Recalled(answering.SILENCE, None, []), None
        with self._store.read() as reading:
            settings: Settings = self._read_settings(reading)
            guards = guarding(reading, settings)
            reranking = self._reranking
            found = in_force(reading, self._find(reading, asking, chosen, reranking.depth(asking.k + EXTRA), settings.floor, guards=guards))
            found, since = as_then(reading, settings, found)
            seating = seated(reading, settings, found)
            tick = reading.counter("tick")
        if reranking.usable:
            # No snapshot is open while a model ranks.
            seating = seating.ranked_anew(reranking.ordered(asking.text, found)[0], asking.k + EXTRA)
        now = self._clock.now()

        def answered(without: int | None) -> Recalled:
            seats = seating.chosen(without, draw)
            supporters = min(settings.supporters, asking.k - 1)
            said, decider, others = answering.answer(
                seats.found, pass_over=settings.pass_over, conflict=settings.conflict, supporters=supporters, now=now, tick=tick
            )
            said = as_now(said, since)
            if seats.retrial and said.deciding is not None:
                said = replace(said, deciding=replace(said.deciding, standing="suspended"))
            return Recalled(said, decider, others, seats.retrial, seats.exposure)

        first = answered(None)
        if first.decider is None or not settings.holdout:
            return first, None
        return first, answered(first.decider.stored.row)

    def _deciding(self, query: str, scope: str) -> Entry | None:
        """Who decides a question now, None for silence; asking leaves no trace."""
        (_, decider, *_), _ = self._considered(self._asking(query, 1, None, "auto"), filters.checked(scope=scope))
        return None if decider is None else decider.stored.entry

    def _asking(self, query: Any, k: Any, half_life: Any, mode: Any, links: Any = None, weigh: Any = None) -> Asking:
        """A question, checked, and as a vector where there are vectors to compare it with. No snapshot is open meanwhile.

        Raises:
            NotAvailable: A mode that goes by meaning was asked for, and there is no embedder or no vector of it. EmbedderFailed: it was
                asked for, and the embedder failed; mode "auto" goes by words then, and says so.
        """
        asking = Asking(query, k, half_life, mode)
        asking.links = None if links is None else check.flag("links", links)
        asking.weigh = None if weigh is None else weights("weigh", weigh)
        if not asking.text or asking.mode == "keyword":
            return asking
        with self._store.read() as reading:
            self._read_settings(reading)
            embedding = self._embedding
            vectors = standing(reading, embedding)
            dimension = dimension_of(reading, embedding.model)
        insisted = asking.mode in ("hybrid", "rrf", "dense")
        if vectors.usable and (insisted or embedding.reads(asking.text)):
            asking.asked = embedding.question(asking.text, dimension, insist=insisted)
        if asking.asked is None and (insisted or vectors.usable or vectors.missing):
            why = embedding.trouble or vectors.problem
            if vectors.usable and not insisted and not embedding.reads(asking.text):
                why = f"{embedding.model} does not read the question's script"
            if insisted and not vectors.usable:
                why = why or (
                    "no entry has a vector yet; `earnest reembed` makes them" if embedding.usable else "this store has no embedder"
                )
                raise NotAvailable(f"mode {mode!r} goes by meaning, but {why}; use mode='auto' or 'keyword'")
            asking.note = f"; by words alone: {why or f'no entry has a vector of {vectors.model} yet'}"
        elif vectors.missing:
            asking.note = f"; by words alone for {vectors.missing} of {vectors.missing + vectors.usable} entries, which have no vector yet"
        return asking

    def _find(
        self, reading: Reading, asking: Asking, chosen: Filter, k: int, floor: float, near: float | None = None, guards: int = 0
    ) -> list[Found]:
        near = self._known[1].near or self._embedding.near if near is None else near
        settings, now = self._known[1], self._clock.now()
        part = settings.spread if asking.links is None else (settings.spread or SPREAD) * asking.links
        by = tuple(settings.weigh.split(",")) if asking.weigh is None and settings.weigh else asking.weigh or ()
        wide = max(k, LENDERS * bool(part), DEEP * bool(by))

        def found_of(most: int, where: Filter = chosen) -> list[Found]:
            found = find(
                reading, self._sound_index(), self._retriever, asking.text, where, k=most, floor=floor,
                half_life=asking.half_life, now=now, mode=asking.mode, asked=asking.asked, near=near, guards=guards, past=asking.past,
            )  # fmt: skip
            if asking.past and where.as_of is not None:
                found = with_merged(reading, self._sound_index(), found, where, most, partial(found_of, most))
            return spread(reading, settings, found, chosen, part=part, floor=floor, now=now, k=most) if part else found

        found = holding(found_of, wide, chosen, asking.text, now)
        found = best(found, k) if part and not by else found
        return weighed(found, by, partial(_factor, Testimony(reading, settings), settings, now), k) if by else found


def _factor(testimony: Testimony, settings: Settings, now: datetime, name: str, stored: StoredEntry) -> float:
    """What an entry's relevance is multiplied by under a name, 0 to 1."""
    if name == "confidence":
        return stored.entry.confidence
    if name == "recency":
        return curve.left(stored.entry, settings, now)
    return (1.0 + testimony.earned(stored.row)) / 2.0


def ways(found: Sequence[Found]) -> list[tuple[int, int]]:
    """The links along which these hits were found."""
    return [(f.via, f.stored.row) for f in found if f.via is not None]

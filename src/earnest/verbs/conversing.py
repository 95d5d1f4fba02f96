"""Verbs of a conversation: what a turn leaves in memory, and what memory gives to a prompt."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Literal

from earnest.core import check, filters
from earnest.core.entry import NewEntry, StoredEntry
from earnest.core.events import twin_digest
from earnest.core.fusion import HALF
from earnest.core.settings import Settings
from earnest.core.ticket import Ticket
from earnest.core.tokens import counter
from earnest.core.turns import NOTHING, Context, Kept, Turn
from earnest.core.write_gate import Gate
from earnest.errors import EarnestError, InvalidInput, NotAvailable
from earnest.forgetting import curve
from earnest.ledger import door, editing, lifecycle
from earnest.protocols import Reading, Writing
from earnest.recall.search import Found
from earnest.rules.standing import views
from earnest.verbs.asking import Metered
from earnest.verbs.beside import asked_parts, matching
from earnest.verbs.questions import asked
from earnest.verbs.recalling import RecallVerbs, ways
from earnest.verbs.seating import guarding

Extract = Literal["rules", "llm"]

MAX_TURN = 1_000_000
"""Characters of one side of a turn that are taken at all; `turns.READ` says how many are looked at."""
MAX_BUDGET = 1_000_000
_DEEP = 24
"""Hits that are looked at for a prompt: enough that duplicates and suspended ones leave some."""


class ConversationVerbs(RecallVerbs):
    """Verbs of a conversation."""

    def sync_turn(
        self,
        user_text: str | None,
        assistant_text: str | None = None,
        *,
        scope: str = "",
        extract: Extract = "rules",
        llm: Any = None,
        session: str | None = None,
        speaker: str = "",
        key: str | None = None,
    ) -> Turn:
        """Keep what is worth keeping of one turn of a conversation.

        Decisions, preferences, facts about the user, promises and deadlines, standing instructions, errors and what mended them, and
        corrections are kept as self-contained sentences of origin `turn` and retention `fading`, at most eight a turn. Greetings,
        thanks, questions and requests are not; nor is anything that memory has already: what was recalled and is said again is known
        by the entries themselves, in every process. A correction that plainly replaces one statement of an earlier turn supersedes it;
        otherwise both stay.

        Args:
            user_text, assistant_text: Both sides, each at most 1,000,000 characters, of which the first 100,000 are looked at. None and
                blank text say nothing. Code blocks, program output and blocks of `prefetch` are passed over.
            scope: Whose it is, matched exactly; memory is compared within it alone.
            extract: "rules" asks no model. "llm" asks the one that is given, and uses the rules if its reply cannot be used.
            llm: A spec such as "ollama:qwen3", or anything with `complete(prompt) -> str`; the memory's own unless given. It is asked
                before the store is written to, never inside a transaction, and what it costs is counted.
            session: The conversation's name, kept in the metadata and in the source.
            speaker: What the user is called in the sentences; "the user" unless given.
            key: Idempotency key: repeating the request returns the same entries.

        Returns:
            The new entries, a list with `by`, `notes` and `known`; see `earnest.core.turns.Turn`. The metadata of each holds `type`
            and `speaker`, and `session` if it was given.

        Raises:
            InvalidInput: Names the argument. NotAvailable: extract="llm" without a model. KeyReused. StoreError: nothing was written.

        Durable when it returns. Cost: some 0.2 ms a sentence, one index query for each that is worth keeping, and one commit if anything
        is kept.
        """
        gate = self._gate()
        user, assistant = (gate.passed(_side(*side)).text for side in (("user_text", user_text), ("assistant_text", assistant_text)))
        place = check.label("scope", scope, blank=True)
        name = check.label("speaker", speaker, limit=100, blank=True)
        talk = None if session is None else check.label("session", session, limit=200)
        check.choice("extract", extract, ("rules", "llm"))
        if extract == "llm" and llm is None and not (llm := self._has_model()):
            raise NotAvailable("extract='llm' needs a model: give llm=, an object with complete(prompt) -> str, or use extract='rules'")
        said = {"user": _digest(user), "assistant": _digest(assistant)}
        request = said | {"scope": place, "extract": extract, "session": talk, "speaker": name}
        if key is not None:
            # Asked before a model is, so that a repeated request costs nothing.
            with self._store.read() as reading:
                remembered = self._kept(reading, key, "sync_turn", request)
                if remembered is not None:
                    return _turn(reading, remembered)
        by, kept, notes = self._extracted(user, assistant, name, self._metered(llm) if extract == "llm" else None)
        with self._store.read() as reading:
            self._read_settings(reading)
            news = self._unheard(reading, place, kept) if kept else []
        if not news and key is None:
            return Turn((), by=by, notes=notes, known=len(kept))
        source = self._turn_source(talk)
        with self._writing() as tx:

            def do() -> tuple[Turn, Mapping[str, Any]]:
                settings = self._read_settings(tx)
                made = [self._keep(tx, settings, one, place, talk, source) for one in news]
                said = {"ids": [stored.entry.id for stored in made if stored], "by": by, "notes": [*notes], "known": len(kept) - len(news)}
                return _turn(tx, said), said

            return self._once(tx, key, "sync_turn", lambda: request, lambda said: _turn(tx, said), do)

    def _extracted(self, user: str, assistant: str, name: str, llm: Metered | None) -> tuple[str, list[Kept], list[str]]:
        """What is worth keeping, what found it, and what did not go as asked."""
        from earnest.conversation import capture, extraction
        from earnest.core.replies import cut_off

        notes: list[str] = []
        if llm is not None and (user or assistant):
            try:
                reply = llm.reply(extraction.prompt_of(user, assistant), json=True)
                items = extraction.read_reply(reply.text)
            except EarnestError as error:
                items, why = None, f"it failed ({type(error).__name__}: {str(error)[:400]})"
            else:
                why = "its reply holds no list that could be read"
            if items is not None:
                kept, notes = extraction.kept_from(items, self._analyser, user, assistant)
                if not reply.whole or cut_off(reply.text):
                    kept += capture.kept_of(user, assistant, name=name)
                    notes.append("the model's reply was cut off; what the rules find was added")
                return "llm", kept, notes
            notes.append(f"the model was asked and {why}; the rules were used")
        return "rules", capture.kept_of(user, assistant, name=name), notes

    def _unheard(self, reading: Reading, scope: str, kept: list[Kept]) -> list[Kept]:
        """The statements that memory does not have, and that this turn says for the first time."""
        from earnest.conversation import fingerprints

        news: list[Kept] = []
        analyser = self._sound_index()
        for one in kept:
            loose = one.speaker != "user"
            if fingerprints.said_before(analyser, one.text, [other.text for other in news]):
                continue
            if fingerprints.known(reading, analyser, scope, one.text, loose=loose) is None:
                news.append(one)
        return news

    def _turn_source(self, session: str | None) -> str:
        """What a turn is called as a source: its conversation if that has a name, and when it was."""
        at = f"{self._clock.now():%Y-%m-%dT%H:%M:%SZ}"
        return f"conversation:{session}@{at}" if session else f"conversation@{at}"

    def _keep(self, tx: Writing, settings: Settings, one: Kept, scope: str, session: str | None, source: str) -> StoredEntry | None:
        """Write one statement; None if another process wrote the same meanwhile."""
        from earnest.conversation import updates

        metadata = {"type": one.type, "speaker": one.speaker} | ({"session": session} if session else {})
        fields = {
            "text": one.text, "kind": one.kind, "origin": "turn", "sources": [source], "scope": scope, "importance": one.importance,
            "confidence": one.confidence, "retention": "fading", "metadata": metadata,
        }  # fmt: skip
        new: NewEntry = door.checked_entry(self._rng, "fading", fields, Gate.of(settings.redact, settings.quarantine))
        terms = self._terms(new.text, new.cue)
        before = updates.replaced(tx, self._analyser, scope, one.text) if one.changes else None
        if before is not None and not any(twin.entry.alive for twin in tx.twins(twin_digest(new.text, new.cue), scope, new.kind)):
            return editing.supersede(tx, settings, self._rng, self._analyser, before, new, terms)
        stored, fresh = lifecycle.add(tx, settings, self._rng, self._analyser, new, terms)
        return stored if fresh else None

    def prefetch(
        self,
        message: str | None,
        *,
        budget: int = 800,
        scope: Any = "",
        kind: Any = None,
        source: Any = None,
        tags: Any = None,
        floor: float | None = None,
        count_tokens: Callable[[str], int] | None = None,
        links: bool | None = None,
    ) -> Context:
        """What memory adds to the prompt for a message: precise rather than broad, inside a budget, and maybe nothing.

        Args:
            message: What the user says, as it is; long ones are asked about sentence by sentence. None and blank text ask nothing.
            budget: Tokens that the whole block may take, 0 to 1,000,000, counted by `count_tokens`.
            scope, kind, source, tags: As in `search`.
            floor: The part of what a sentence asks for that an entry must match before memory speaks; the setting `floor` unless
                given. Beside it stands what is nearly as relevant and matches half as much.
            count_tokens: A function from a text to its number of tokens; unless given, an estimate from above that holds for every script
                (`earnest.core.tokens`).
            links: Whether a good hit lends relevance to what it is linked with; the setting `spread` says by default (0: no).

        Returns:
            A `Context`. `str()` is the block: one line for each active rule that the message calls for, with who accepted it or what proved
            it, then one for each entry, most relevant first, with its date and source, fenced and escaped as data; "" when nothing clears
            the floor or fits. Suspended entries are never in it, nor near-duplicates, nor rules unless they are active.

        Raises:
            InvalidInput. IndexDamaged: the index cannot be trusted.

        Writes nothing. Cost: a search for each sentence, at most seven.
        """
        from earnest.conversation import prefetching

        chosen = filters.checked(scope=scope, kind=kind, source=source, tags=tags)
        room = check.integer("budget", budget, low=0, high=MAX_BUDGET)
        at_least = None if floor is None else check.number("floor", floor, low=0.0, high=1.0)
        count = counter(count_tokens)
        text = asked(message)
        if not text or room == 0:
            return NOTHING
        best: dict[int, Found] = {}
        askings = [self._asking(part, _DEEP, None, "auto", links) for part in asked_parts(text)]
        with self._store.read() as reading:
            settings = self._read_settings(reading)
            rules = matching(self, reading, settings, askings, chosen, ("active",), self._clock.now())
            told = views(reading, [hit.stored for hit in rules])
            least = settings.floor if at_least is None else at_least
            guards = guarding(reading, settings)
            for asking in askings:
                # Looked at from half of the floor on: beside what clears it stands what follows it closely.
                for hit in prefetching.cleared(self._find(reading, asking, chosen, _DEEP, HALF * least, guards=guards), least):
                    known = best.get(hit.stored.row)
                    # Rules come in by their own way, which knows which of them are in force.
                    if hit.stored.entry.kind != "rule" and (known is None or hit.score > known.score):
                        best[hit.stored.row] = hit
        ranked = sorted(best.values(), key=lambda hit: (-hit.score, -hit.stored.row))
        now = self._clock.now()
        dormant = {hit.stored.row for hit in ranked if hit.via is not None and not hit.matched and curve.dormant(hit.stored.entry, now)}
        made, rows = prefetching.block(
            ranked, budget=room, count=count, pass_over=settings.pass_over, rules=told, dormant=dormant
        )  # fmt: skip
        shown = {rule.id for rule in made.rules}
        rows += [hit.stored.row for hit in rules if hit.stored.entry.id in shown]
        if rows:
            used = set(rows)
            self._note(None, rows, ways([hit for hit in ranked if hit.stored.row in used]))
        return made

    def shown(self, ticket: Ticket, *, budget: int = 800, count_tokens: Callable[[str], int] | None = None) -> Context:
        """The block for a prompt of exactly what a decision names, so that the outcome is about what the model saw.

        Args:
            ticket: What `decide` returned. One that was withheld at random, or silent, shows nothing.
            budget, count_tokens: As in `prefetch`.

        Returns:
            A `Context` of the rules beside the decision, who decides, and who supports it, in this order, as far as the budget goes.
            Empty if the one who decides does not fit.

        With `decide` this is how rules on trial reach a prompt, and how that is measured: their coins were thrown when the ticket was
        opened, and the ticket says which came up. `prefetch` writes nothing, so that it can throw none and shows none of them.

        Writes nothing and reads nothing: it goes by the ticket alone.
        """
        from earnest.conversation import prefetching

        room = check.integer("budget", budget, low=0, high=MAX_BUDGET)
        if not isinstance(ticket, Ticket):
            raise InvalidInput("ticket", ticket, "must be what `decide` returned")
        entries = [*([ticket.deciding] if ticket.deciding else []), *ticket.supporting]
        if not (entries or ticket.rules) or not room:
            return NOTHING
        made, places = prefetching.packed(entries, budget=room, count=counter(count_tokens), rules=ticket.rules)
        return made if 0 in places or not entries else NOTHING


def _side(name: str, text: Any) -> str:
    """One side of a turn as text: None and blank text say nothing."""
    if text is None:
        return ""
    if not isinstance(text, str):
        raise InvalidInput(name, text, f"must be text, not {type(text).__name__}")
    if len(text) > MAX_TURN:
        raise InvalidInput(name, text, f"is {len(text):,} characters long, at most {MAX_TURN:,} are taken; `encode` documents")
    made = check.cleaned(text)
    return "" if check.blank(made) else made


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _turn(reading: Reading, said: Mapping[str, Any]) -> Turn:
    """A turn from what is remembered of it."""
    entries = [lifecycle.found(reading, entry_id).entry for entry_id in said["ids"]]
    return Turn(entries, by=said["by"], notes=tuple(said["notes"]), known=said["known"])

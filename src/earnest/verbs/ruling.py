"""`memory.rules`: rules are proposed, accepted or proved, shown where they apply, and shared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earnest.core import check, filters
from earnest.core.entry import NewEntry, StoredEntry
from earnest.core.gate import DECISIONS, MOST_DECISIONS
from earnest.core.rules import STATUSES, Rule, RuleType, Status, checked_fields
from earnest.core.settings import Settings
from earnest.errors import EarnestError, InvalidInput
from earnest.ledger import door, lifecycle, walks
from earnest.protocols import LLM, Writing
from earnest.recall.embedding import Vectors
from earnest.rules import drafting, pools, proposing
from earnest.rules.analysis import Analysis
from earnest.rules.standing import activate, begin_trial, change, permitted, rule_of, views
from earnest.verbs.beside import asked_parts, matching
from earnest.verbs.questions import asked

if TYPE_CHECKING:
    from earnest.verbs.recalling import RecallVerbs

# Inside the class `list` is a verb.
_List = list
_MOST_EVIDENCE = 100
_SOURCES = 5


class Rules:
    """The rules of one agent; `memory.rules`. Safe to share between threads, as its memory is."""

    def __init__(self, memory: RecallVerbs) -> None:
        self._memory = memory

    def add(
        self,
        type: str,
        *,
        trigger: str,
        action: str,
        scope: str = "",
        sources: Iterable[str] = (),
        evidence: Iterable[str] = (),
        tags: Iterable[str] = (),
        key: str | None = None,
    ) -> Rule:
        """Propose a rule. It is pending: shown to nobody until a person accepts it, or a trial proves it.

        Args:
            type: "avoid", "prefer", "pattern" (a sign of something) or "workflow" (steps in order).
            trigger: When it applies, at most 300 characters; it is found by these words, and by their meaning where there is an embedder.
            action: What to do then, at most 600 characters.
            scope: Whose it is, matched exactly.
            sources: Where it comes from.
            evidence: Ids of the entries that speak for it.
            tags: Labels; one of the setting `holdout_exempt` keeps it from trials.
            key: Idempotency key.

        Returns:
            The rule. One that says the same is returned as it stands, also if it was rejected: that it stays.

        Raises:
            InvalidInput: Names the argument. UnknownEntry: an id of the evidence. KeyReused. StoreError: nothing was written.

        Durable when it returns. Cost: one commit.
        """
        kind, when, what = checked_fields(type, trigger, action)
        named = check.labels("evidence", evidence)
        if len(named) > _MOST_EVIDENCE:
            raise InvalidInput("evidence", named, f"names more than {_MOST_EVIDENCE} entries")
        new = self._new(kind, when, what, scope, check.labels("sources", sources), "explicit", "by hand", tags)
        request = {
            "type": kind, "trigger": when, "action": what, "scope": new.scope, "sources": [*new.sources], "evidence": [*named],
            "tags": [*new.tags],
        }  # fmt: skip
        return self._propose([(new, named)], key, "rules.add", request)[0][0]

    def analyze(self, llm: Any = None, *, scope: str = "", key: str | None = None) -> Analysis:
        """Propose rules from what happened in a scope: what went wrong again and again, and what went well.

        Error patterns: entries of a confidence below 0.6 that tell of a failure (in ten languages), and entries whose advice was followed
        by harm. Success patterns: entries of an importance of 0.7 or more that were recalled twice, and entries whose advice was
        followed by gain. Outcomes that were merely claimed do not count. What a rule was made of already gives no other: an analysis can be
        repeated, and a rejected rule does not come back in other words.

        Args:
            llm: None puts rules together from the patterns themselves. A model (anything with `complete(prompt) -> str`, a spec such as
                "zhipu:glm-4-flash", or True for the memory's own) drafts them: what it drafts must be borne out by what happened, short,
                and aimed at nobody; the rest is left out. Where it fails, the patterns do the work. It is never asked inside a transaction,
                and not at all where there is nothing new.
            scope: The scope to look at; its rules are of that scope.
            key: Idempotency key: repeating the request returns the same rules, and asks no model.

        Returns:
            The new rules, all pending; an `Analysis`, which is a list with `by`, `patterns`, `notes` and `cost`.

        Raises:
            InvalidInput, KeyReused, NotAvailable (a model that was named is not there), StoreError.

        Durable when it returns. Cost: O(entries of the scope), one call of the model at most, and one commit if anything is proposed.
        """
        memory = self._memory
        place = check.label("scope", scope, blank=True)
        request = {"scope": place, "llm": llm is not None and llm is not False}
        with memory._store.read() as reading:
            kept = None if key is None else memory._kept(reading, key, "rules.analyze", request)
            if kept is not None:
                return self._analysis(reading, kept)
            memory._read_settings(reading)
            found, strange = proposing.patterns(reading, memory._sound_index(), place)
        notes = [f"{strange} entries were passed over: they are written like instructions"] if strange else []
        by, drafts = "patterns", None
        cost: Mapping[str, float] = {}
        if found and llm is not None and llm is not False:
            model = memory._metered(llm)
            drafts, told = self._drafted(model, found)
            cost = model.cost
            notes += told
            by = "patterns" if drafts is None else "llm"
        if drafts is None:
            drafts = proposing.drafts(memory._analyser, found)
        if not drafts and key is None:
            return Analysis((), by=by, patterns=len(found), notes=notes, cost=cost)
        made = [(self._of(draft, place, by), [stored.entry.id for stored in draft.pattern.members if stored.row in draft.pattern.rows])
                for draft in drafts]  # fmt: skip
        how = {"by": by, "patterns": len(found), "notes": notes}
        rules, _ = self._propose(made, key, "rules.analyze", request, fresh=True, told=how)
        return Analysis(rules, by=by, patterns=len(found), notes=notes, cost=cost)

    def _analysis(self, reading: Any, kept: Mapping[str, Any]) -> Analysis:
        stored = [lifecycle.found(reading, rule) for rule in kept["ids"]]
        return Analysis(views(reading, stored), by=kept["by"], patterns=kept["patterns"], notes=kept["notes"])

    def _drafted(self, llm: LLM, found: Sequence[proposing.Pattern]) -> tuple[_List[proposing.Draft] | None, _List[str]]:
        """What a model drafts from patterns, and what did not go as asked; None if it cannot be used."""
        try:
            reply = llm.complete(drafting.prompt_of(found), json=True)
        except EarnestError as error:
            return None, [f"the model was asked and failed ({type(error).__name__}: {str(error)[:400]}); the patterns were used"]
        drafts, notes, read = drafting.drafts_from(reply, self._memory._analyser, found)
        if not read:
            return None, [f"the model was asked and {notes[0]}; the patterns were used"]
        return drafts, notes

    def _of(self, draft: proposing.Draft, scope: str, by: str) -> NewEntry:
        sources = dict.fromkeys(source for stored in draft.pattern.members for source in stored.entry.sources)
        times = f"{draft.pattern.weight} failures" if draft.pattern.outcome == "error" else f"{draft.pattern.weight} successes"
        told = f"from {times}, drafted by a model" if by == "llm" else f"from {times}"
        return self._new(draft.type, draft.trigger, draft.action, scope, [*sources][:_SOURCES], "inferred", told)

    def _new(
        self,
        type: RuleType,
        trigger: str,
        action: str,
        scope: str,
        sources: Sequence[str],
        origin: str,
        told: str,
        tags: Iterable[str] = (),
    ) -> NewEntry:
        fields = {
            "text": action, "cue": trigger, "kind": "rule", "scope": scope, "sources": sources, "origin": origin, "retention": "kept",
            "tags": tags, "metadata": {"rule": type, "proposed": told},
        }  # fmt: skip
        return door.checked_entry(self._memory._rng, "kept", fields, self._memory._gate())

    def _propose(
        self, proposals: Sequence[tuple[NewEntry, Sequence[str]]], key: str | None, verb: str, request: Mapping[str, Any], *,
        fresh: bool = False, told: Mapping[str, Any] | None = None,
    ) -> tuple[_List[Rule], int]:  # fmt: skip
        """Write proposals with their evidence; with `fresh` only those that are no rule yet. Returns them, and how many are new."""
        memory = self._memory
        terms = [memory._terms(new.text, new.cue) for new, _ in proposals]
        vectors = memory._vectors_for([new for new, _ in proposals]) if proposals else None
        with memory._writing() as tx:
            settings = memory._read_settings(tx)

            def do() -> tuple[tuple[_List[Rule], int], Mapping[str, Any]]:
                written = self._written(tx, settings, proposals, terms, vectors, fresh)
                stored = [tx.entries([one.row])[0] for one, _ in written]
                new = sum(is_new for _, is_new in written)
                return (views(tx, stored), new), {"ids": [one.entry.id for one in stored], "new": new, **(told or {})}

            def again(kept: Mapping[str, Any]) -> tuple[_List[Rule], int]:
                return views(tx, [lifecycle.found(tx, rule) for rule in kept["ids"]]), int(kept["new"])

            return memory._once(tx, key, verb, lambda: request, again, do)

    def _written(
        self, tx: Writing, settings: Settings, proposals: Sequence[tuple[NewEntry, Sequence[str]]], terms: Sequence[Any],
        vectors: Vectors | None, fresh: bool,
    ) -> _List[tuple[StoredEntry, bool]]:  # fmt: skip
        memory, made, codes = self._memory, [], []
        known = proposing.known(tx, memory._analyser, proposals[0][0].scope) if fresh and proposals else None
        for place, (new, evidence) in enumerate(proposals):
            rows = [lifecycle.found(tx, entry_id).row for entry_id in evidence]
            if known is not None:
                said = proposing.terms_of(memory._analyser, new.cue or "", new.text)
                if known.says(said) or (rows and known.covered(rows)):
                    continue
                known.take(said, rows)
            stored, is_new = lifecycle.add(tx, settings, memory._rng, memory._analyser, new, terms[place])
            if is_new and rows:
                tx.add_lineage(stored.row, [(row, "experience", 0) for row in dict.fromkeys(rows) if row != stored.row])
            made.append((stored, is_new))
            codes.append(place)
        if vectors is not None and made:
            chosen = Vectors([vectors.codes[i] for i in codes], [vectors.problems[i] for i in codes], vectors.shortened, vectors.down)
            memory._put_vectors(tx, made, chosen)
        return made

    def verify(self, id: str, *, accept: bool = True, reason: str = "", key: str | None = None) -> Rule:
        """Accept or reject a rule, as a person: the record says who did it, and over which channel.

        Args:
            id: A rule that is pending or on trial; a trial ends by it.
            accept: True puts it into force, False rejects it for good.
            reason: Why, for the record; at most 4,000 characters.
            key: Idempotency key.

        Raises:
            UnknownEntry, InvalidInput. NotAllowed: its status forbids it, or this channel may not accept rules (the setting
            `rules_approvers`: an agent does not approve its own rules). Rejecting is allowed to all.

        Durable when it returns. `undo` of its event takes it back.
        """
        yes, note = check.flag("accept", accept), self._memory._remark("reason", reason)
        request = {"id": id, "accept": yes, "reason": note}

        def carry_out(tx: Writing, settings: Settings) -> None:
            stored, rule = rule_of(tx, id)
            if yes:
                permitted(settings, self._memory._channel, id)
                activate(tx, settings, stored, rule, "accepted", self._memory._clock.now(), note=note)
            else:
                change(tx, stored, rule, "rejected", "refused", note=note)

        return self._changing("rules.verify", id, request, key, carry_out)

    def trial(self, id: str, *, decisions: int = DECISIONS, meter: str | None = None, reason: str = "", key: str | None = None) -> Rule:
        """Put a rule on trial: it is shown in a random half of the decisions that it matches, until measured outcomes prove or reject it.

        What it takes to prove it is fixed now, by how many rules were tried before (`core.gate`), and stands in `rule.trial.terms`. Each
        decision is drawn when its ticket is opened, before there is an outcome. Settle them all.

        Args:
            id: A pending rule.
            decisions: Settled decisions after which it is rejected as unproven, 50 to 100,000.
            meter: Whose outcomes count; every measured one, in its own meter's scale, unless given.
            reason: Why, for the record.
            key: Idempotency key.

        Raises:
            UnknownEntry, InvalidInput. NotAllowed: its status forbids it, it has a tag that exempts it from being withheld, or this channel
            may not put rules before anybody's eyes (the setting `rules_approvers`).

        Durable when it returns.
        """
        most = check.integer("decisions", decisions, low=50, high=MOST_DECISIONS)
        who = None if meter is None else check.label("meter", meter, limit=100)
        note = self._memory._remark("reason", reason)
        request = {"id": id, "decisions": most, "meter": who, "reason": note}

        def carry_out(tx: Writing, settings: Settings) -> None:
            stored, rule = rule_of(tx, id)
            permitted(settings, self._memory._channel, id)
            if who is not None and tx.meter(who) is None:
                raise InvalidInput("meter", who, "there is no such meter; `earnest meters` lists those that there are")
            begin_trial(tx, settings, stored, rule, "begun", decisions=most, meter=who, note=note)

        return self._changing("rules.trial", id, request, key, carry_out)

    def _changing(self, verb: str, id: str, request: Mapping[str, Any], key: str | None, carry_out: Any) -> Rule:
        memory = self._memory
        with memory._writing() as tx:

            def do() -> tuple[Rule, Mapping[str, Any]]:
                carry_out(tx, memory._read_settings(tx))
                return self._seen(tx, id), {"id": id}

            return memory._once(tx, key, verb, lambda: request, lambda kept: self._seen(tx, kept["id"]), do)

    def _seen(self, reading: Any, id: str) -> Rule:
        stored, _ = rule_of(reading, id)
        return views(reading, [stored], trials=True)[0]

    def get(self, id: str) -> Rule:
        """One rule with its latest trial. Raises UnknownEntry, InvalidInput if it is no rule, NotAllowed if it is dead."""
        with self._memory._store.read() as reading:
            return self._seen(reading, id)

    def list(self, *, status: Any = None, scope: Any = "", after: str | None = None, limit: int | None = None) -> _List[Rule]:
        """The living rules, oldest first, with what their latest trials have shown.

        Args:
            status: "pending", "trial", "active", "rejected" or "expired", or a list of them; all unless given.
            scope: One scope, a list of them, or `earnest.ALL`.
            after: Go on after the rule of that id, for pages.
            limit: At most so many; None for all of them.
        """
        named = None if status is None else tuple(status) if isinstance(status, tuple | _List) else (status,)
        statuses: tuple[Status, ...] | None = None if named is None else tuple(check.choice("status", one, STATUSES) for one in named)
        chosen = filters.replaced(filters.checked(scope=scope, kind="rule"), statuses=statuses)
        wanted = None if limit is None else check.integer("limit", limit, low=1, high=10_000_000)
        with self._memory._store.read() as reading:
            if after is not None:
                lifecycle.found(reading, after)
            return views(reading, [*walks.entries(reading, chosen, after=after, most=wanted)], trials=True)

    def match(self, text: str | None, k: int | None = None, *, scope: Any = "", floor: float | None = None) -> _List[Rule]:
        """The active rules that a text calls for, best first: those of whose trigger it holds most, and, where there is an embedder, those
        that are as near in meaning as it calls the same matter.

        Args:
            text: Any text of at most 100,000 characters; it is only ever data. Blank or None calls for none.
            k: At most so many, 1 to 1,000; the setting `rules_cap` unless given.
            scope: One scope, a list of them, or `earnest.ALL`.
            floor: The part of a trigger's words that the text must hold, 0 to 1; 0.4 of them unless given. Of a trigger of several
                words one alone is never enough.

        Returns:
            Rules with their `score`. Writes nothing, and counts as no use.
        """
        memory = self._memory
        chosen = filters.checked(scope=scope)
        most = None if k is None else check.integer("k", k, low=1, high=1_000)
        least = None if floor is None else check.number("floor", floor, low=0.0, high=1.0)
        said = asked(text)
        if not said:
            return []
        askings = [memory._asking(part, 1, None, "auto") for part in asked_parts(said)]
        with memory._store.read() as reading:
            settings = memory._read_settings(reading)
            found = matching(memory, reading, settings, askings, chosen, ("active",), memory._clock.now(), floor=least, k=most)
            return views(reading, [hit.stored for hit in found], scores={hit.stored.row: hit.score for hit in found})

    def export(self, path: str | Path, *, scope: Any = "", status: Any = "active") -> int:
        """Write rules to a file that other agents can `adopt`; returns how many.

        The file is written whole or not at all, in place of one that is there. Raises InvalidInput if it cannot be written.
        """
        target = check.path("path", path)
        rules = self.list(scope=scope, status=status)
        pools.written(target, self._memory._store.agent, rules)
        return len(rules)

    def adopt(self, path: str | Path, *, scope: str = "", source: str | None = None, key: str | None = None) -> Analysis:
        """Propose the rules of a file that another agent exported. They are on probation: pending, whatever they were there.

        Args:
            path: The file. It is read with suspicion: rules that are written like instructions to their reader are left out.
            scope: The scope that they are for here.
            source: What they come from, for the record; "rules of AGENT" unless given.
            key: Idempotency key.

        Returns:
            The rules that are new here, of origin `imported`, with notes on those that were left out.

        Raises:
            InvalidInput: It is no such file. KeyReused. StoreError: nothing was written.
        """
        agent, found, notes = pools.read(check.path("path", path))
        place = check.label("scope", scope, blank=True)
        named = f"rules of {agent}" if source is None else check.label("source", source)
        proposals = [(self._new(kind, trigger, action, place, [named], "imported", f"by {named}"), ()) for kind, trigger, action in found]
        how = {"by": "pool", "patterns": len(found), "notes": notes}
        request = {"scope": place, "source": named, "rules": [[*one] for one in found]}
        rules, new = self._propose(proposals, key, "rules.adopt", request, fresh=True, told=how)
        return Analysis(rules if new else (), by="pool", patterns=len(found), notes=notes)

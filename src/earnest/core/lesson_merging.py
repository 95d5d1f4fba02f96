"""Two texts of lessons as one, whichever is named first; and what a change brings along that only a settling run may write. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from earnest.core.lesson_following import followed, without
from earnest.core.lessons import Fact, Lessons, line
from earnest.errors import InvalidInput

_GATHERED: Final = ("sources", "from", "term", "end")
"""What of an entry is put together from both sides, and so does not tell which of them is the later."""


def merged(ours: Lessons, theirs: Lessons, base: Lessons | None = None) -> Lessons:
    """Two texts as one, whichever is named first.

    Entries, links, steps of rules, decisions, draws, outcomes, looks and controls of both; a ticket that ended on both sides ended by
    the earlier end, since it lands once; a ticket that ended on one is not open. What one forgot is forgotten, what one erased is erased
    with what it decided, and of a link that both have the heavier one stands. Where both changed one thing, the later version of an entry
    stands, else the greater text, so that everybody gets the same, in whatever order more than two are joined.

    Args:
        base: What both came from. With it, what one side changed or took away stands over what the other left as it was: a cut link, a
            setting, a tag, an entry that no decision names. Without it nothing tells a cut from what was never there.

    Raises:
        InvalidInput: They are of two agents.
    """
    for other in (theirs, *(() if base is None else (base,))):
        if ours.agent != other.agent:
            raise InvalidInput("lessons", other.agent, f"is another agent's memory than {ours.agent!r}: nothing crosses agents")
    parents = tuple(sorted({ours.head, theirs.head}))
    sides = ours, theirs
    if base is not None:
        sides = followed(base, ours, theirs), followed(base, theirs, ours)
    return replace(without(_joined(*sides), base, (ours, theirs)), parents=parents)


def _joined(ours: Lessons, theirs: Lessons) -> Lessons:
    """Everything that either says."""
    ends = _ends(ours, theirs)
    settled = {name: fact for name, (_, was_settled, fact) in ends.items() if was_settled}
    still = {name: fact for name, fact in {**ours.open, **theirs.open}.items() if name not in ends}
    return Lessons(
        ours.agent,
        tick=max(ours.tick, theirs.tick),
        ticked=max(ours.ticked, theirs.ticked),
        settings=_union(ours.settings, theirs.settings),
        meters=_union(ours.meters, theirs.meters),
        entries={
            name: _entry(ours.entries.get(name), theirs.entries.get(name)) for name in sorted({*ours.entries, *theirs.entries})
        },
        open={name: min((side.open[name] for side in (ours, theirs) if name in side.open), key=line) for name in still},
        settled=settled,
        looks=_looks(ours.looks | theirs.looks, settled),
        controls=ours.controls | theirs.controls,
        links=_links(ours.links, theirs.links),
        rules=ours.rules | theirs.rules,
        ended={name: fact for name, (_, was_settled, fact) in ends.items() if not was_settled},
        erased=ours.erased | theirs.erased,
    )  # fmt: skip


def foreign(base: Lessons, head: Lessons) -> list[str]:
    """What a change brings along that only a settling run may write: outcomes, looks, controls, meters, settings, the clock.

    A change may add entries, links and proposed rules, open tickets, edit and forget. One that says what was measured, puts a rule into
    force, or takes away what others wrote of that, is to be refused.
    """
    made = [f"ticket {name} is settled by the change itself" for name, fact in head.settled.items() if not _as_told(base, name, fact)]
    made += [f"the outcome of ticket {name} is gone" for name in base.settled if name not in head.settled]
    made += [f"how ticket {name} ended is gone" for name in base.ended if name not in head.ended]
    made += [f"a step of a rule that only a person or a run takes: {each}" for each in sorted(head.rules - base.rules) if _in_force(each)]
    made += [f"a step of a rule is gone: {each}" for each in sorted(base.rules - head.rules)]
    for what, before, after in (("look", base.looks, head.looks), ("control", base.controls, head.controls)):
        made += [f"a {what} that no run recorded: {each}" for each in sorted(after - before)]
        made += [f"a {what} is gone: {each}" for each in sorted(before - after)]
    for what, old, new in (("meter", base.meters, head.meters), ("setting", base.settings, head.settings)):
        made += [f"the {what} {name} was changed" for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    made += [f"the erasure of entry {name} is gone" for name in sorted(base.erased - head.erased)]
    made += [f"entry {name} was erased and is back" for name in sorted((base.erased | head.erased) & {*head.entries})]
    made += [f"entry {name} is gone" for name, said in base.entries.items() if name not in head.entries and "end" not in said]
    ends = {"executed", "starved", "faded", "merged", "erased"}
    for name, said in head.entries.items():
        before_end = base.entries.get(name, {}).get("end")
        if said.get("end") != before_end and (said.get("end") in ends or before_end in ends):
            made.append(f"entry {name} is {said.get('end', 'alive')} by the change itself")
    if (base.tick, base.ticked) != (head.tick, head.ticked):
        made.append(f"the clock was moved from {base.tick} to {head.tick}")
    return made


def _as_told(base: Lessons, name: str, fact: Fact) -> bool:
    """Whether an outcome was there before; its question may have become known as another one than its decider answers now."""
    before = base.settled.get(name)
    return before is not None and fact in (before, (*before[:-1], {**before[-1], "asked": fact[-1].get("asked")}))


def _in_force(rule: str) -> bool:
    """Whether a step shows a rule to agents, or rests on outcomes."""
    _, _, _, _, status, why, _ = json.loads(rule)
    return status in ("trial", "active") or why in ("proved", "harmful", "unproven", "doubted", "shifted")


def _ends(ours: Lessons, theirs: Lessons) -> dict[str, tuple[tuple[Any, ...], bool, Fact]]:
    """How each ticket ended first: (what it is ordered by, whether it was settled, the fact)."""
    made: dict[str, tuple[tuple[Any, ...], bool, Fact]] = {}
    for side in (ours, theirs):
        for facts, was_settled in ((side.settled, True), (side.ended, False)):
            for name, fact in facts.items():
                order = (fact[5], not was_settled, line(fact))
                if name not in made or order < made[name][0]:
                    made[name] = (order, was_settled, fact)
    return made


def _links(ours: Mapping[tuple[str, str, str], Fact], theirs: Mapping[tuple[str, str, str], Fact]) -> dict[tuple[str, str, str], Fact]:
    made = dict(ours)
    for name, fact in theirs.items():
        kept = made.get(name, fact)
        made[name] = max(kept, fact, key=lambda said: (said[3], line(said)))
    return made


def _union(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    made = {}
    for name in sorted({*ours, *theirs}):
        said = [side[name] for side in (ours, theirs) if name in side]
        made[name] = max(said, key=lambda value: line([value]))
    return made


def _entry(ours: Mapping[str, Any] | None, theirs: Mapping[str, Any] | None) -> Mapping[str, Any]:
    said = [side for side in (ours, theirs) if side is not None]
    made: dict[str, Any] = dict(max(said, key=_later).items())
    if len(said) == 1 or ours == theirs:
        return made
    for gathered in ("sources", "from"):
        if either := sorted({*said[0].get(gathered, ()), *said[1].get(gathered, ())}):
            made[gathered] = either
    if terms := [side["term"] for side in said if "term" in side]:
        made["term"] = max(terms)
    ends = {side.get("end") for side in said}
    if len(ends) == 1:
        return made
    made.pop("end", None)
    willed = ends & {"forgotten", "superseded"}
    # Whether it starves or is executed follows from the outcomes of both; what somebody wanted does not.
    made["end"] = min(str(end) for end in willed) if willed else "?"
    return made


def _later(side: Mapping[str, Any]) -> tuple[int, str]:
    return side.get("version", 1), line([{name: value for name, value in side.items() if name not in _GATHERED}])


def _looks(lines: Iterable[str], settled: Mapping[str, Fact]) -> frozenset[str]:
    """One look a ticket, meter and channel, the earliest."""
    kept: dict[tuple[str, str, str], tuple[int, str]] = {}
    for each in lines:
        _, ticket, _, at, meter, _, more = json.loads(each)
        name = (ticket, meter, str(more.get("channel", "")))
        if ticket in settled and (name not in kept or (at, each) < kept[name]):
            kept[name] = (at, each)
    return frozenset(each for _, each in kept.values())

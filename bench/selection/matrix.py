"""Which arms live in which worlds, and how a cell is lived."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from bench.selection.arms import FLOCKS, Cast, deaths
from bench.selection.classic_arm import ClassicArm, PublishedLoop
from bench.selection.courses import Course
from bench.selection.evidence_arm import EvidenceArm
from bench.selection.live import SHARED, Arm, Row, live
from bench.selection.ranking import MeaningRanking
from bench.selection.worlds import WORLDS, World
from earnest.core.evidence import RULE, EvidenceRule
from earnest.embedders import specs as embedders

EVIDENCE: Final = "evidence"
CLASSIC: Final = "classic"
PUBLISHED: Final = "darwin-memo loop"
FILTERED: Final = "evidence + write filter"
TUNING: Final = range(30)
HELD_OUT: Final = range(100, 130)
ABLATED: Final = range(200, 212)
OPPONENTS: Final = (
    CLASSIC, PUBLISHED, "strike-once", "strike-once-at-settle", "strikes 2", "strikes 3", "consecutive 2", "consecutive 5",
    "consecutive 8", "quarantine 3", "bandit",
)  # fmt: skip
"""Arms that learn from outcomes: those that the evidence rule is tested against."""
CONTROLS: Final = (
    "keep-everything", "ttl 10", "recency 10", "random-matched", "salience-matched", "relevance budget 8", "write filter",
)  # fmt: skip
"""Arms that do not."""

ABLATIONS: Final[Mapping[str, Callable[[EvidenceRule], EvidenceRule]]] = {
    "no lie rate learned": lambda rule: replace(rule, learn=False),
    "own words excuse": lambda rule: replace(rule, leave_one_out=False),
    "sizes not weighed": lambda rule: replace(rule, weigh_sizes=False),
    "runs of harm count in full": lambda rule: replace(rule, run=0.0),
    "no re-trial": lambda rule: replace(rule, retrial=0.0),
    "re-trial as in the prototype (4 gains)": lambda rule: replace(rule, horizon=4.0),
    "limit 6": lambda rule: replace(rule, limit=6.0, limit_learning=6.0),
    "limit 12, learning too (prototype)": lambda rule: replace(rule, limit=12.0, limit_learning=12.0),
    "full prior (one harm not enough)": lambda rule: replace(rule, prior_odds=rule.prior_odds / 0.8),
    "narrow clip (1)": lambda rule: replace(rule, clip=1.0),
    "no first looks": lambda rule: replace(rule, first_looks=0),
    "no appeals": lambda rule: replace(rule, appeal_looks=0),
    "no random looks": lambda rule: replace(rule, random_look=0.0),
}
"""The rule with one thing changed."""
NO_WAIVER: Final = "no waiver"
EMBEDDED: Final[Mapping[str, tuple[str, str]]] = {
    f"{arm}, {embedder}": (arm, embedder)
    for embedder in ("local", "hashing")
    for arm in (EVIDENCE, "classic", "strike-once-at-settle", "consecutive 5", "keep-everything")
}
"""Arms over the meaning of texts instead of their words: the arm, and whose vectors."""
EMBEDDED_WORLDS: Final = ("honest", "false-bad 20%", "persist 4")
EQUAL_SPEND: Final = "as many looks, all by chance"
ABLATION_WORLDS: Final = (
    ("honest", "i"), ("false-bad 10%", "i"), ("false-bad 35%", "i"), ("flip 35%", "i"), ("flip 35%", "iii"), ("destroy 4", "ii"),
    ("persist 4", "i"), ("persist 4", "ii"), ("late 6", "i"), ("withholding 8", "i"),
)  # fmt: skip


@lru_cache(maxsize=64)
def course(world: str, seed: int) -> Course:
    """A world's course in a seed."""
    found = WORLDS[world]
    return found.make(seed, found.cycles)


def arms_in(world: World, setting: str) -> tuple[str, ...]:
    """The arms of a column. Those that use no second instrument live in setting i alone, and those that use no control in no world whose
    tests are read by name: they would do the same there."""
    if setting != "i" or world.by_name:
        return (EVIDENCE,)
    if world.name.startswith("population"):
        return (EVIDENCE, CLASSIC, "strike-once-at-settle", "consecutive 5", "keep-everything")
    embedded = tuple(EMBEDDED) if world.name in EMBEDDED_WORLDS else ()
    filtered = (FILTERED,) if world.name.startswith("poison") or world.name == "honest" else ()
    return (EVIDENCE, *filtered, *embedded, *OPPONENTS, *CONTROLS)


def tuned(world: str, setting: str, arm: str) -> bool:
    """Whether a cell is lived on the tuning seeds too: the rule where there is a figure to reach (drift is too long for that), and
    what checks the corpus."""
    aimed = arm == EVIDENCE and setting in (WORLDS[world].reach or {}) and WORLDS[world].group != "drift"
    return aimed or (world == "honest" and arm in ("keep-everything", "strike-once-at-settle", CLASSIC))


def by_rule(arm: str) -> bool:
    """Whether the evidence rule, or a change of it, has a part in an arm's rows."""
    return EMBEDDED.get(arm, (arm, ""))[0] in (EVIDENCE, FILTERED, *ABLATIONS, NO_WAIVER, EQUAL_SPEND)


def ablations_in(world: str, setting: str) -> tuple[str, ...]:
    """The ablations of a column: those on second looks where there are any."""
    looks = ("no first looks", "no appeals", "no random looks")
    plain = [name for name in ABLATIONS if setting != "i" or name not in looks]
    return (EVIDENCE, *plain, NO_WAIVER, *((EQUAL_SPEND,) if setting != "i" else ()))


@lru_cache(maxsize=4)
def by_meaning(embedder: str) -> MeaningRanking:
    """The ranking over an embedder's vectors. Raises `NotAvailable` where its extra is not installed."""
    found = embedders.made(embedder)
    assert found is not None
    return MeaningRanking(found)


def run(world: str, setting: str, arm: str, seed: int) -> Row:
    """Live one cell."""
    found, lived = WORLDS[world], course(world, seed)
    arm, ranking = (EMBEDDED[arm][0], by_meaning(EMBEDDED[arm][1])) if arm in EMBEDDED else (arm, SHARED)
    cast = Cast(lived.corpus, ranking, seed, lived.scale, setting != "i")
    if arm in ("random-matched", "salience-matched"):
        curve = live(found, lived, ClassicArm(cast)).curve
        cast = replace(cast, deaths=deaths(len(lived.corpus.lines), curve))
    return live(found, lived, made(arm, cast, world, setting), setting)


def made(arm: str, cast: Cast, world: str = "", setting: str = "i") -> Arm:
    """An arm by its name."""
    if arm in FLOCKS:
        return FLOCKS[arm](cast)
    if arm == EVIDENCE:
        return EvidenceArm(cast)
    if arm == FILTERED:
        return EvidenceArm(cast, filtered=True)
    if arm == CLASSIC:
        return ClassicArm(cast)
    if arm == PUBLISHED:
        return PublishedLoop(cast)
    if arm == NO_WAIVER:
        return EvidenceArm(cast, waive=False)
    if arm == EQUAL_SPEND:
        spent = run(world, setting, EVIDENCE, cast.seed).looks
        return EvidenceArm(cast, replace(RULE, first_looks=0, appeal_looks=0, random_look=spent))
    return EvidenceArm(cast, ABLATIONS[arm](RULE))

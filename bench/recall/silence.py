"""When memory should say nothing: questions of other conversations and nonsense, asked at every floor."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from bench.recall.conversations import Conversation
from bench.recall.measures import recall
from earnest import Memory
from earnest.core.fusion import told

OFF_TOPIC: Final = 500
NONSENSE: Final = 100
FLOORS: Final = tuple(round(0.02 * step, 2) for step in range(2, 26))
_NARROWLY: Final = 1.25
_SEED: Final = 20261130
_HEADS: Final = ("br", "d", "fl", "g", "h", "j", "kl", "l", "m", "n", "p", "qu", "r", "sk", "t", "v", "w", "z")
_TAILS: Final = ("ab", "ek", "im", "olf", "ung", "yx", "arn", "oop", "ist", "uz", "end", "ax")
_FRAMES: Final = ("What did the {0} {1} do with a {2}?", "When was {0} {1} {2}?", "Where is the {0} of {1} {2}?", "How many {0} {1} {2}?")


@dataclass(frozen=True, slots=True)
class Point:
    """What happens at one floor: shares of off-topic and nonsense questions with any answer; of the recall at floor 0, what is kept if
    each hit must clear it, if the surest hit must, and of what `prefetch` tells: hits that clear it, and those that follow them closely.

    `right` is the share of evidence among the hits that clear the floor, `right_narrowly` among those that do by less than a quarter of
    it, `right_followers` among the followers; `noise` is the mean number of hits that an off-topic question is told.
    """

    floor: float
    off_topic: float
    nonsense: float
    kept: float
    kept_if_any: float
    kept_told: float
    right: float
    right_narrowly: float
    right_followers: float
    noise: float


@dataclass(frozen=True, slots=True)
class Probe:
    """One question: its hits as (id, relevance, how sure), best first, and its evidence."""

    hits: tuple[tuple[str, float, float], ...]
    evidence: frozenset[str]

    def told(self, floor: float) -> list[tuple[str, float]]:
        """What a prompt would be told at a floor: ids, and how sure each is."""
        places = told([(score, sure) for _, score, sure in self.hits], floor)
        return [(self.hits[place][0], self.hits[place][2]) for place in places]


def nonsense(count: int = NONSENSE, seed: int = _SEED) -> list[str]:
    """Questions of made-up words."""
    rng = random.Random(seed)

    def word() -> str:
        return "".join(rng.choice(_HEADS) + rng.choice(_TAILS) for _ in range(rng.randint(1, 3)))

    return [rng.choice(_FRAMES).format(word(), word(), word()) for _ in range(count)]


def foreign(mine: Conversation, others: Sequence[Conversation], count: int, seed: int = _SEED) -> list[str]:
    """Questions of other conversations, drawn."""
    pool = [asked.text for other in others if other.name != mine.name for asked in other.questions]
    return random.Random(f"{seed}:{mine.name}").sample(pool, min(count, len(pool)))


def probed(memory: Memory, text: str, evidence: frozenset[str] = frozenset()) -> Probe:
    """A question's ten hits with how sure each is."""
    hits = memory.search(text, 10)
    return Probe(tuple((hit.entry.sources[0], hit.score, hit.sure) for hit in hits), evidence)


Probes = dict[str, list[Probe]]


def probes(memory: Memory, conversation: Conversation, everyone: Sequence[Conversation], count: int) -> Probes:
    """Every question that should be answered and `count` that should not, asked of one conversation's memory."""
    return {
        "own": [probed(memory, asked.text, asked.evidence) for asked in conversation.questions],
        "off_topic": [probed(memory, text) for text in foreign(conversation, everyone, count)],
        "nonsense": [probed(memory, text) for text in nonsense()],
    }


def together(parts: Sequence[Probes]) -> Probes:
    """The probes of several conversations as one."""
    return {kind: [probe for part in parts for probe in part[kind]] for kind in ("own", "off_topic", "nonsense")}


def point(floor: float, asked: dict[str, list[Probe]]) -> Point:
    """What a floor does."""

    def answered(kind: str) -> float:
        return sum(any(sure >= floor for *_, sure in probe.hits) for probe in asked[kind]) / max(1, len(asked[kind]))

    full = kept = gated = prompted = 0.0
    followers: list[bool] = []
    clearing: list[bool] = []
    narrowly: list[bool] = []
    for probe in asked["own"]:
        shown = probe.told(floor)
        everything = recall([id for id, *_ in probe.hits], probe.evidence, 10)
        full += everything
        kept += recall([id for id, sure in shown if sure >= floor], probe.evidence, 10)
        prompted += recall([id for id, _ in shown], probe.evidence, 10)
        gated += everything if shown else 0.0
        for id, sure in shown:
            (clearing if sure >= floor else followers).append(id in probe.evidence)
            if floor <= sure < _NARROWLY * floor:
                narrowly.append(id in probe.evidence)
    whole = max(full, 1e-9)
    noise = sum(len(probe.told(floor)) for probe in asked["off_topic"]) / max(1, len(asked["off_topic"]))
    return Point(
        floor, answered("off_topic"), answered("nonsense"), kept / whole, gated / whole, prompted / whole,
        _share(clearing), _share(narrowly), _share(followers), noise,
    )  # fmt: skip


def _share(right: Sequence[bool]) -> float:
    return sum(right) / max(1, len(right))


def calibrated(curve: Sequence[Point], allowed: float) -> float:
    """The lowest floor that answers at most this share of off-topic questions."""
    return next((each.floor for each in curve if each.off_topic <= allowed), curve[-1].floor)


def curve(asked: dict[str, list[Probe]]) -> list[Point]:
    """The whole curve."""
    return [point(floor, asked) for floor in FLOORS]


def plain(points: Sequence[Point]) -> list[dict[str, Any]]:
    """For a results file."""
    return [asdict(each) for each in points]

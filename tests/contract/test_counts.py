"""What a verb asks of the engine: where it looks at many things, it asks for all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from earnest import Memory
from earnest.testing import ManualClock, SeededRng
from tests.statements import listening


@pytest.fixture
def said() -> Iterator[list[str]]:
    """Every statement that a memory which is opened here has carried out."""
    with listening() as made:
        yield made


def failures(memory: Memory, count: int) -> None:
    """Experiences of which no two are alike, so that no rule comes of them."""
    memory.add_many([{"text": f"Deploying unit{i} broke thing{i} on host{i}", "confidence": 0.4} for i in range(count)])


def proposed(memory: Memory, count: int) -> None:
    evidence = memory.add("Deploying broke the quay crane.").id
    for i in range(count):
        memory.rules.add("avoid", trigger=f"unit{i} is deployed", action=f"Check thing{i} first.", evidence=[evidence])


def linked(memory: Memory, count: int) -> None:
    """Entries of which each is linked with the tenth of its number."""
    made = memory.add_many([{"text": f"Unit{i} stands at quay {i}"} for i in range(count)])
    for i in range(1, count):
        memory.link(made[i // 10].id, made[i].id)


def decided(memory: Memory, count: int) -> None:
    """Decisions of a few entries, each settled as a gain."""
    for i in range(5):
        memory.add(f"Crane{i} may be used at quay{i}.")
    for i in range(count):
        ticket = memory.decide(f"May crane{i % 5} be used at quay{i % 5}?")
        memory.settle(str(ticket.id), delta=1.0, meter="bench")


def long_ones(memory: Memory, count: int) -> None:
    memory.configure(compress_over=5)
    memory.add_many([{"text": f"Crane {i} is at quay {i}", "cue": f"Where is crane {i}?"} for i in range(count)])


@pytest.mark.parametrize(
    ("fill", "verb", "each"),
    [
        (failures, lambda m: m.rules.analyze(), 0),
        # The lineage of each rule, and its trials: whose it is, and how far it is.
        (proposed, lambda m: m.rules.list(), 2),
        (long_ones, lambda m: m.maintain(dry_run=True), 0),
        (decided, lambda m: m.maintain(), 0),
        (linked, lambda m: m.graph(m.list()[0].id, hops=3), 0),
    ],
    ids=[
        "experiences of an analysis",
        "rules of a list",
        "questions of an upkeep",
        "outcomes of an idle upkeep",
        "entries of a graph",
    ],
)
def test_what_is_asked_of_the_engine_grows_no_faster_than_it_must(
    said: list[str], fill: Callable[[Memory, int], object], verb: Callable[[Memory], object], each: int
) -> None:
    counts = []
    few, many = 60, 180
    for count in (few, many):
        with Memory.open(":memory:", embedder="none", clock=ManualClock(), rng=SeededRng(3)) as memory:
            fill(memory, count)
            said.clear()
            verb(memory)
            counts.append(len(said))
    assert counts[0] > 0, "the verb asked nothing: the test does not listen"
    assert counts[1] - counts[0] <= each * (many - few), counts

"""The batch loop over a real store: poison dies, a world of one's own works, and runs that say nothing are named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from earnest import Memory, Outcome, SurvivalConfig, SurvivalLoop, Task
from earnest.encoding import LocalEncoder, demo_corpus
from earnest.environments import StorageEnv, TestSuiteEnv, decision_polarity
from earnest.errors import InvalidInput
from earnest.survival import CycleStats, SurvivalReport, alike, degenerate, experience


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:") as opened:
        yield opened


class BudgetEnv:
    resource_scale = 100.0
    plans = {"paymentsly": 40.0, "logstash": -300.0}  # noqa: RUF012
    ask = {"paymentsly": "Is the paymentsly plan safe to cancel?", "logstash": "May we stop renewing logstash?"}  # noqa: RUF012

    def tasks(self, cycle: int) -> list[Task]:
        return [Task(prompt=self.ask[name], context={"name": name}) for name in self.plans]

    def verify(self, task: Task, answer: str) -> Outcome:
        act = decision_polarity(answer, extra_positive=("may stop renewing",))
        return Outcome(self.plans[task.context["name"]] if act else 0.0, "cancelled" if act else "kept", acted=bool(act))


def filled(memory: Memory) -> Memory:
    memory.add("The paymentsly plan is safe to cancel: nobody has used it since March.", sources=["finance"])
    memory.add("We may stop renewing logstash: it looks unused.", sources=["rumour"])
    return memory


@pytest.mark.parametrize("seed", [0, 1])
def test_poison_stops_deciding_and_useful_advice_goes_on(memory: Memory, seed: int) -> None:
    memory.encode(demo_corpus(), encoder=LocalEncoder())
    with StorageEnv(seed=seed, sparse=True) as env:
        report = SurvivalLoop(memory, env, config=SurvivalConfig(cycles=30)).run()
    alive = memory.list(standing="active")
    assert not [e for e in alive if "forum-post" in e.sources and decision_polarity(e.text) is True]
    assert sum(s.resource_delta for s in report.stats[-5:]) > 0
    assert decision_polarity(memory.answer("Is it safe to delete the file app-3.log (a old log file under logs/)?").text) is True
    assert decision_polarity(memory.answer("Is it safe to delete the file store-1.db (a database file under data/)?").text) is not True
    assert report.warnings == ()
    assert memory.check().ok


def test_a_world_of_ones_own(memory: Memory) -> None:
    seen: list[CycleStats] = []
    report = SurvivalLoop(filled(memory), BudgetEnv(), config=SurvivalConfig(cycles=12), on_cycle=seen.append).run()
    assert tuple(seen) == report.stats
    assert [s.cycle for s in report.stats] == list(range(12))
    assert report.stats[0].resource_delta == -260.0
    assert report.stats[-1].resource_delta == 40.0
    assert "paymentsly" in memory.answer("Is the paymentsly plan safe to cancel?").text
    table = report.summary().splitlines()
    assert "cycle" in table[0] and len({len(line) for line in table[:13]}) == 1
    assert memory.stats().energy / 1_000_000 == report.stats[-1].energy
    assert memory.pending() == []


def test_outcomes_are_settled_under_the_configured_meter_and_scale(memory: Memory) -> None:
    class Watched:
        """The façade, with its settlements written down."""

        def __init__(self) -> None:
            self.settled: list[dict[str, Any]] = []

        def settle(self, ticket: str, **given: Any) -> Any:
            self.settled.append(given)
            return memory.settle(ticket, **given)

        def __getattr__(self, name: str) -> Any:
            return getattr(memory, name)

    filled(memory)
    watched = Watched()
    SurvivalLoop(watched, BudgetEnv(), SurvivalConfig(cycles=1, meter="wallet", scale=7.0)).run()  # type: ignore[arg-type]
    assert {(s["meter"], s["scale"]) for s in watched.settled} == {("wallet", 7.0)}
    watched.settled.clear()
    SurvivalLoop(watched, BudgetEnv(), SurvivalConfig(cycles=1)).run()  # type: ignore[arg-type]
    assert {(s["meter"], s["scale"]) for s in watched.settled} == {("environment", 100.0)}


def test_the_best_gain_is_written_back_once(memory: Memory) -> None:
    report = SurvivalLoop(filled(memory), BudgetEnv(), config=SurvivalConfig(cycles=4, consolidate_every=0)).run()
    written = [e for e in memory.list() if e.origin == "experience"]
    assert sum(s.births for s in report.stats) == len(written) == 1
    assert written[0].kind == "procedural" and written[0].sources[0].startswith("cycle-")
    assert written[0].text.startswith("The paymentsly plan is safe to cancel")
    assert decision_polarity(written[0].text) is True


def test_nothing_is_written_back_unless_wanted(memory: Memory) -> None:
    report = SurvivalLoop(filled(memory), BudgetEnv(), config=SurvivalConfig(cycles=4, write_experience=False)).run()
    assert sum(s.births for s in report.stats) == 0
    assert all(e.origin != "experience" for e in memory.list())


def test_a_run_in_which_memory_never_answers_is_named(memory: Memory) -> None:
    memory.add("Use tabs in Makefiles.", sources=["wiki"])
    with TestSuiteEnv(seed=1) as env:
        report = SurvivalLoop(memory, env, config=SurvivalConfig(cycles=12)).run()
    assert report.stats[-1].silent == report.stats[-1].tasks == 5
    warned = [line for line in report.summary().splitlines() if line.startswith("WARNING")]
    assert any("silent" in line for line in warned) and any("outcomes was 0" in line for line in warned)


def test_an_empty_memory_is_named(memory: Memory) -> None:
    report = SurvivalLoop(memory, BudgetEnv(), config=SurvivalConfig(cycles=2)).run()
    assert any("no entry is active" in w for w in report.warnings)


class Broken(BudgetEnv):
    def __init__(self, fault: object) -> None:
        self.fault = fault

    def verify(self, task: Task, answer: str) -> Outcome:
        if task.context["name"] == "paymentsly":
            return super().verify(task, answer)
        if isinstance(self.fault, BaseException):
            raise self.fault
        return self.fault  # type: ignore[return-value]


@pytest.mark.parametrize("fault", [RuntimeError("the disk is on fire"), KeyboardInterrupt()])
def test_an_environment_that_raises_abandons_the_ticket_in_hand(memory: Memory, fault: BaseException) -> None:
    with pytest.raises(type(fault)):
        SurvivalLoop(filled(memory), Broken(fault), config=SurvivalConfig(cycles=3)).run()
    assert memory.pending() == []
    assert memory.check().ok
    kinds = [event.kind for event in memory.events()]
    assert kinds.count("settle") == 1 and kinds.count("abandon") == 1


def test_an_environment_that_gives_back_something_else_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="outcome"):
        SurvivalLoop(filled(memory), Broken(-300.0), config=SurvivalConfig(cycles=1)).run()
    assert memory.pending() == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("cycles", 0), ("cycles", 2.5), ("cycles", True), ("k", 0), ("k", -1), ("consolidate_every", -1), ("write_experience", 1),
        ("scale", 0.0), ("scale", float("nan")), ("scale", "100"), ("meter", ""), ("meter", None), ("expire_after", 0),
    ],
)  # fmt: skip
def test_a_bad_configuration_names_its_field(field: str, value: object) -> None:
    with pytest.raises(InvalidInput, match=field):
        SurvivalConfig(**{field: value})  # type: ignore[arg-type]


def test_what_is_no_environment_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="env"):
        SurvivalLoop(memory, object())  # type: ignore[arg-type]

    class Scaleless(BudgetEnv):
        resource_scale = 0.0

    with pytest.raises(InvalidInput, match="resource_scale"):
        SurvivalLoop(memory, Scaleless())
    assert SurvivalLoop(memory, Scaleless(), SurvivalConfig(scale=5)).scale == 5


def a_cycle(**given: Any) -> CycleStats:
    defaults = {
        "cycle": 0, "population": 3, "births": 0, "deaths": 0, "merges": 0, "energy": 3.0, "resource_delta": 0.0, "tasks": 10, "silent": 0,
    }  # fmt: skip
    return CycleStats(**(defaults | given))


@pytest.mark.parametrize(
    ("stats", "nonzero", "said"),
    [
        ([], 0, []),
        ([a_cycle(silent=8)], 2, []),
        ([a_cycle(silent=9)], 1, ["silent"]),
        ([a_cycle(tasks=9, silent=9)], 1, []),
        ([a_cycle(tasks=4)], 0, []),
        ([a_cycle(tasks=5)], 0, ["outcomes was 0"]),
        ([a_cycle(), a_cycle(population=0)], 5, ["no entry is active"]),
    ],
)
def test_degenerate_runs(stats: list[CycleStats], nonzero: int, said: list[str]) -> None:
    found = degenerate(stats, nonzero)
    assert len(found) == len(said)
    assert all(w.startswith("WARNING") and s in w for w, s in zip(found, said, strict=True))


def test_the_table_separates_thousands() -> None:
    report = SurvivalReport((a_cycle(resource_delta=1234567.0, population=4321),), ("WARNING: x",))
    table, row, last = report.summary().splitlines()
    assert "+1,234,567" in row and "4,321" in row and last == "WARNING: x" and len(table) == len(row)


def test_alike_counts_common_words() -> None:
    assert alike("Delete old logs", "delete OLD logs") == 1.0
    assert alike("a b c d", "a b c e") == pytest.approx(3 / 5)
    assert alike("", "") == 1.0 and alike("a", "") == 0.0
    assert 0 < alike("可以删除日志", "可以删除缓存") < 1


def test_an_experience_is_not_marked_twice() -> None:
    assert experience(experience("Delete it.")) == experience("Delete it.")


class DriftingEnv(BudgetEnv):
    """Everything rises by itself, and the meter reports the opposite; another way of looking tells the truth."""

    lies = True

    def __init__(self) -> None:
        self.controls: list[int] = []
        self.looks: list[str] = []

    def verify(self, task: Task, answer: str) -> Outcome:
        true = super().verify(task, answer)
        return Outcome(-true.delta if self.lies else true.delta, true.detail, acted=true.acted)

    def remeasure(self, task: Task, outcome: Outcome) -> Outcome:
        self.looks.append(task.context["name"])
        return Outcome(-outcome.delta, "counted again", acted=outcome.acted)

    def control(self, cycle: int) -> Outcome:
        self.controls.append(cycle)
        return Outcome(0.0, "nothing was done", acted=False)


def test_the_loop_measures_doing_nothing_and_looks_a_second_time_where_memory_asks(memory: Memory) -> None:
    env = DriftingEnv()
    SurvivalLoop(filled(memory), env, config=SurvivalConfig(cycles=6, write_experience=False)).run()
    assert env.controls == [*range(6)]
    assert set(env.looks) == {"paymentsly", "logstash"} and memory.appeals() == []
    by_source = {entry.sources[0]: entry for entry in memory.list()}
    assert by_source["finance"].standing == "active" and by_source["rumour"].standing == "suspended"
    assert {meter.name for meter in memory.meters.list()} == {"environment", "environment, second look"}
    assert memory.check().ok


def test_under_classic_the_loop_measures_no_control(memory: Memory) -> None:
    memory.configure(rule="classic")
    env = DriftingEnv()
    SurvivalLoop(filled(memory), env, config=SurvivalConfig(cycles=2)).run()
    assert env.controls == [] and env.looks == []


def test_a_second_look_under_the_meters_own_name_is_refused() -> None:
    with pytest.raises(InvalidInput, match="second_meter"):
        SurvivalConfig(meter="ci", second_meter="ci")


@pytest.mark.parametrize("verb", ["control", "remeasure"])
def test_a_broken_control_or_second_look_is_named(memory: Memory, verb: str) -> None:
    env = DriftingEnv()
    setattr(env, verb, lambda *_: 5)
    with pytest.raises(InvalidInput, match=verb):
        SurvivalLoop(filled(memory), env, config=SurvivalConfig(cycles=1)).run()

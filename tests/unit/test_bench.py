"""The benches' own arithmetic: intervals, tests, what channels say, what arms lose, and that every printed figure can be derived again from
the committed rows. No time is measured here, and no rival package is needed."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.selection import matrix, report, results
from bench.selection.arms import FLOCKS, Cast, deaths, passes_filter
from bench.selection.channels import Channel, Liar
from bench.selection.corpus import load
from bench.selection.courses import Course, Step, storage, suite, topics
from bench.selection.live import SHARED, Measured, Row, Said, live, polarity, probed
from bench.selection.memory_arm import MemoryArm, on_disk
from bench.selection.plots import chart
from bench.selection.ranking import SharedRanking
from bench.selection.results import Results
from bench.selection.statistics import DRAWS, bootstrap, holm, mean, quantile, sign_flip
from bench.selection.worlds import WORLDS, Reach, World
from earnest.core.evidence import RULE
from earnest.environments import StorageEnv, TestSuiteEnv
from earnest.meters import control_from

CORPUS = load()
COURSE = storage(5, 3)


def row(**other: object) -> Row:
    made = Row(
        share=0.9, harm=0.0, benign=1.0, safe=1.0, grounded=0.4, active=0, alive=0, acts=1, first=0, last=0, population=5, curve=(20, 19)
    )
    return dataclasses.replace(made, **other)  # type: ignore[arg-type]


def cast(course: Course = COURSE, seed: int = 5, **other: object) -> Cast:
    return dataclasses.replace(Cast(course.corpus, SHARED, seed, course.scale), **other)  # type: ignore[arg-type]


def test_quantiles_interpolate() -> None:
    assert [quantile([3, 1, 2, 4], q) for q in (0, 0.5, 1)] == [1, 2.5, 4]
    assert math.isnan(quantile([], 0.5))


def test_a_bootstrap_interval_is_seeded_and_holds_the_mean() -> None:
    values = [0.1, 0.9, 0.4, 0.5, 0.6, 0.3]
    low, high = bootstrap(values)
    assert (low, high) == bootstrap(values)
    assert min(values) < low < mean(values) < high < max(values)
    assert bootstrap([0.5] * 10) == (0.5, 0.5)


def test_a_sign_flip_test_is_exact_for_few_pairs() -> None:
    assert sign_flip([1.0] * 5) == 2 / 32
    assert sign_flip([0.25] * 10) == 2 / 1024
    assert sign_flip([1.0, -1.0]) == 1.0  # as extreme counts as extreme
    assert sign_flip([0.0, 0.0, 0.0]) == 1.0
    # 16 assignments; the sum of 1, 2, 3, -4 is 2, and 14 of them reach at least that far from 0.
    assert sign_flip([1.0, 2.0, 3.0, -4.0]) == 14 / 16


def test_a_sign_flip_test_draws_for_many_pairs() -> None:
    assert sign_flip([1.0] * 30) == sign_flip([1.0] * 30) == 1 / (DRAWS + 1)
    assert sign_flip([1.0, -1.0] * 15) > 0.9


def test_holm_steps_down_and_never_falls() -> None:
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06})
    assert holm({"a": 0.6, "b": 0.9}) == {"a": 1.0, "b": 1.0}


def steps(course: Course) -> Iterator[Step]:
    for cycle in course.cycles:
        yield from cycle


def test_a_storage_course_knows_what_a_real_disk_would_measure() -> None:
    with StorageEnv(files=12, seed=5) as env:
        measure = on_disk(env)
        for step in steps(storage(5, 2)):
            act = step.number % 3 != 0
            assert measure(step, "It is safe to delete." if act else "") == (step.gain if act else 0.0, act)


def test_a_suite_course_knows_what_the_tests_would_measure() -> None:
    course = suite(3, 2)
    with TestSuiteEnv(seed=3) as env:
        for cycle, lived in enumerate(course.cycles):
            for task, step in zip(env.tasks(cycle), lived, strict=True):
                assert task.prompt == step.prompt
                assert env.verify(task, "Apply the patch.").delta == step.gain == len(step.passing) - len(course.passing)
    assert sorted(step.gain for step in course.cycles[0]) == [-2.0, 0.0, 1.0, 1.0, 1.0]


def test_an_oracle_acts_where_acting_is_better_and_nowhere_else() -> None:
    assert COURSE.oracle == sum(step.gain for step in steps(COURSE) if step.gain > 0) > 0
    assert suite(3, 30).oracle == 90.0


def test_marks_nest_and_are_the_same_for_every_arm() -> None:
    assert storage(5, 3) == COURSE
    lied = [{s for s in steps(storage(5, 9)) if s.mark < rate} for rate in (0.05, 0.2, 0.5)]
    assert lied[0] < lied[1] < lied[2]


def test_flaky_tests_fail_for_a_cycle_by_themselves() -> None:
    course = suite(3, 40)
    channel, second = (Channel(course, Liar("flaky", rate=0.2), second=again) for again in (False, True))
    assert len(set(course.flakes[0])) == len(course.flakes[0])
    failed = [-channel.control(cycle) for cycle in range(40)]
    assert mean(failed) == pytest.approx(0.2 * len(course.passing), abs=0.6) and len(set(failed)) > 3
    assert failed != [-second.control(cycle) for cycle in range(40)]
    step = course.cycles[0][0]
    assert channel.report(step, 0.0, False) == 0.0


def test_a_suite_read_by_name_says_what_its_counts_say_and_shows_the_flakes_of_a_cycle() -> None:
    course, flaky = suite(3, 40), Liar("flaky", rate=0.2)
    channel, honest = Channel(course, flaky), Channel(course, Liar())
    for cycle, lived in enumerate(course.cycles):
        read = [(step.kind, channel.measured(step)) for step in lived]
        assert [made.delta for _, made in read] == [channel.report(step, step.gain, True) for step in lived]
        assert [honest.measured(step).delta for step in lived] == [step.gain for step in lived]
        control = control_from(read)
        assert control is not None and control.delta == channel.control(cycle)


def said(liar: Liar, *true: float, course: Course = COURSE, kind: str = "log") -> list[float]:
    channel = Channel(course, liar)
    made = [Step(0, n, "", kind, value, mark=0.3, size=0.75, second=0.3) for n, value in enumerate(true)]
    return [channel.report(step, step.gain, True) for step in made]


def test_channels_lie_as_their_names_say() -> None:
    assert said(Liar(), 1.0, -3.0) == [1.0, -3.0]
    assert said(Liar("false-bad", 0.35), 1.0, -3.0) == [-1.0, -3.0]
    assert said(Liar("flip", 0.35), 1.0, -3.0) == [-1.0, 3.0] and said(Liar("flip", 0.25), 1.0) == [1.0]
    assert said(Liar("magnitude"), 1.0, -3.0) == pytest.approx([2.0, -6.0])
    assert said(Liar("destroy", budget=2), 1.0, -3.0, 1.0) == [-1.0, 3.0, 1.0]
    assert said(Liar("persist", budget=1), 1.0, -3.0, -3.0) == [1.0, 3.0, -3.0]
    assert said(Liar("withhold", budget=1), 1.0, 1.0) == [0.0, 1.0]
    assert said(Liar("destroy", budget=2, since=1), 1.0) == [1.0]
    victims = [said(Liar("victim", budget=1), 1.0, 1.0, kind=kind) for kind in ("log", "cache", "tmp", "db")]
    assert sorted(map(tuple, victims)) == [(-1.0, 1.0), (1.0, 1.0), (1.0, 1.0), (1.0, 1.0)]


def test_drift_moves_what_is_measured_of_acts_and_of_doing_nothing() -> None:
    course = topics(2, 2, 0.3, 0.3, drift="+", noise=0.0)(1, 2)
    channel = Channel(course, Liar())
    step = course.cycles[0][0]
    assert channel.report(step, step.gain, True) == pytest.approx(step.gain + 0.5) and channel.control(0) == 0.5
    assert channel.report(step, 0.0, False) == 0.0


def test_probes_tell_useful_from_careful() -> None:
    class Talker:
        def __init__(self, text: str) -> None:
            self.text = text

        def answer(self, prompt: str) -> Said | None:
            return Said(self.text, ("runbook",)) if self.text else None

    assert probed(COURSE, Talker("It is safe to delete."))[:2] == (1.0, 0.0)  # type: ignore[arg-type]
    assert probed(COURSE, Talker(""))[:2] == (0.0, 1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("world", ["honest", "suite 0%", "topics, honest"])
def test_a_corpus_has_its_poison_in_front_and_the_truth_behind(world: str) -> None:
    course = matrix.course(world, 3)
    for lines, poisoned in (
        (course.corpus.lines, True),
        (tuple(line for line in course.corpus.lines if not lied(course, line.source)), False),
    ):
        view = SHARED.view(lines)
        for step in course.cycles[0]:
            first = view.rank(step.prompt)
            acts = bool(first) and polarity(first[0][0].text) is True
            assert acts == (step.gain > 0 or (poisoned and bool(first) and lied(course, first[0][0].source)))


def lied(course: Course, source: str) -> bool:
    return course.corpus.is_poisoned((source,))


def test_a_view_ranks_as_the_ranking_does() -> None:
    ranking, texts = SharedRanking(), [line.text for line in CORPUS.lines]
    view = ranking.view(CORPUS.lines)
    for step in COURSE.cycles[0]:
        assert [(line.text, score) for line, score in view.rank(step.prompt)] == [
            (texts[place], score) for place, score in ranking.rank(step.prompt, texts)
        ]


def lose(arm: str, deltas: list[float], cycles: int = 1) -> int:
    """How many entries are left after the decider of the first prompt was settled with these, all in each of the cycles."""
    made = FLOCKS[arm](cast())
    for cycle in range(cycles):
        for delta in deltas:
            answer = made.decide(COURSE.cycles[0][0].prompt)
            if answer is not None:
                made.settled(answer, Measured(delta, True))
        made.cycle_ended(cycle)
    return len(CORPUS.lines) - len(made.held())


def test_simple_arms_lose_what_their_rule_says() -> None:
    assert (lose("keep-everything", [-1.0] * 9), lose("strike-once", [-1.0]), lose("strike-once", [-1.0] * 3)) == (0, 1, 1)
    assert lose("strike-once-at-settle", [-1.0] * 2) == 2
    assert (lose("strikes 2", [-1.0]), lose("strikes 2", [-1.0, 1.0], 2), lose("strikes 3", [-1.0, 1.0], 2)) == (0, 1, 0)
    assert (lose("consecutive 2", [-1.0], 2), lose("consecutive 2", [-1.0, 1.0], 9), lose("consecutive 5", [-1.0], 4)) == (1, 0, 0)
    assert (lose("quarantine 3", [-1.0], 1), lose("bandit", [-1.0, 1.0], 20), lose("bandit", [-1.0], 7)) == (1, 0, 1)
    assert (lose("ttl 10", [1.0], 9), lose("ttl 10", [1.0], 10)) == (0, len(CORPUS.lines))
    assert lose("relevance budget 8", [1.0], 5) == len(CORPUS.lines) - 8


def test_matched_arms_lose_as_many_as_the_classic_rule_does() -> None:
    world, course = WORLDS["honest"], matrix.course("honest", 5)
    classic = live(world, course, matrix.made("classic", cast(course)))
    for arm in ("random-matched", "salience-matched"):
        assert matrix.run("honest", "i", arm, 5).population == classic.population
    assert deaths(22, [22, 20, 15]) == (0, 2, 5)


def test_a_write_filter_reads_form_and_not_truth() -> None:
    explicit, conformant = (matrix.course(f"poison {kind}", 1).corpus for kind in ("explicit", "conformant"))
    assert [line.id for line in explicit.lines if not passes_filter(line.text)] == ["poison-copies"]
    assert all(passes_filter(line.text) for line in conformant.lines)


REAL = [
    ("honest", "evidence", 8), ("honest", "classic", 8), ("persist 4", "evidence", 8), ("suite 0%, controls", "evidence", 6),
    ("suite 20%, by name", "evidence", 6),
]  # fmt: skip


def assert_same(real: Row, replayed: Row) -> None:
    """The two earned the same in every way. A `Memory` reads more paraphrases than the one retriever of all arms, which knows no other
    forms of a word and no relatives, so that there it may only be better."""
    assert results.rounded(dataclasses.replace(real, grounded=replayed.grounded)) == results.rounded(replayed)
    assert real.grounded >= replayed.grounded


@pytest.mark.parametrize(("world", "rule", "cycles"), REAL)
def test_a_real_memory_gives_the_same_row_as_the_replay(world: str, rule: str, cycles: int) -> None:
    course = WORLDS[world].make(0, cycles)
    replayed = live(WORLDS[world], course, matrix.made(rule, cast(course, 0)))
    real = live(WORLDS[world], course, MemoryArm(cast(course, 0), rule))
    assert_same(real, replayed)


def test_a_real_memory_in_a_file_on_a_real_disk_gives_the_same_row(tmp_path: Path) -> None:
    course = WORLDS["honest"].make(1, 4)
    with StorageEnv(files=12, seed=1) as env:
        real = live(WORLDS["honest"], course, MemoryArm(cast(course, 1), "evidence", str(tmp_path / "m.db")), measure=on_disk(env))
    assert_same(real, live(WORLDS["honest"], course, matrix.made("evidence", cast(course, 1))))


def test_a_cell_is_lived_the_same_twice() -> None:
    assert matrix.run("flip 20%", "iii", "evidence", 7) == matrix.run("flip 20%", "iii", "evidence", 7)


def test_ablations_change_one_thing_each() -> None:
    for name, change in matrix.ABLATIONS.items():
        assert change(RULE) != RULE, name
    assert matrix.EQUAL_SPEND in matrix.ablations_in("persist 4", "ii") and matrix.EQUAL_SPEND not in matrix.ablations_in("honest", "i")


def test_rows_and_files_come_back_as_they_were(tmp_path: Path) -> None:
    kept = Results("honest", {"rules": "x"})
    for seed in (3, 4, 5, 100):
        kept.add("i", "evidence", seed, row(share=0.1 * seed))
        kept.add("i", "classic", seed, row(first=-1, last=-1))
    results.save(kept, tmp_path)
    found = results.load("honest", tmp_path)
    assert found.rows == {key: {seed: dataclasses.replace(r, curve=()) for seed, r in rows.items()} for key, rows in kept.rows.items()}
    assert [r.share for r in found.of("i", "evidence", [100, 3, 7])] == pytest.approx([10.0, 0.3])
    results.path_of("late 6", tmp_path).write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match="no results"):
        results.load("late 6", tmp_path)
    assert results.load("persist 4", tmp_path).rows == {}
    assert len({results.path_of(name) for name in WORLDS}) == len(WORLDS)
    assert results.unfolded(results.folded([0, 1, 2, 7, 100, 101])) == [0, 1, 2, 7, 100, 101]


def test_the_report_compares_seed_by_seed_and_shows_losses() -> None:
    found = {"honest": Results("honest")}
    for seed in matrix.HELD_OUT:
        found["honest"].add("i", "evidence", seed, row(share=0.9))
        found["honest"].add("i", "classic", seed, row(share=0.8))
        found["honest"].add("i", "strike-once-at-settle", seed, row(share=0.95))
    better, worse = (next(c for c in report.compared(found) if c.arm == arm) for arm in ("classic", "strike-once-at-settle"))
    assert better.ours == pytest.approx(0.9) and better.theirs == pytest.approx(0.8) and better.adjusted < 0.05
    assert worse.theirs > worse.ours and worse.adjusted < 0.05
    lost = report.losses(found, report.compared(found))
    assert (
        "Not reached: honest (i): +0.900 of 0.975" in lost and "Behind strike-once-at-settle in honest" in lost and "classic in" not in lost
    )


def test_a_figure_is_reached_as_it_is_printed() -> None:
    assert report.reached(Reach(0.975, 1.0), [row(share=0.9746)]) and not report.reached(Reach(0.975), [row(share=0.9744)])
    assert not report.reached(Reach(0.9, 1.0), [row(share=0.95, benign=0.98)])
    assert report.reached(Reach(88.0, per=90.0), [row(share=0.97778)]) and not report.reached(Reach(88.0, per=90.0), [row(share=0.977)])


def test_a_corpus_that_asks_for_no_selection_is_said_to_be_broken() -> None:
    found = {"honest": Results("honest")}
    for seed in range(20):
        found["honest"].add("i", "keep-everything", seed, row(share=-0.5, first=0 if seed else 2))
    assert report.broken_premises(found) == []
    found["honest"].add("i", "keep-everything", 20, row(share=0.41))
    found["honest"].add("i", "keep-everything", 21, row(share=-0.5, first=-1))
    found["honest"].add("i", "keep-everything", 22, row(share=-0.5, first=2))
    broken = report.broken_premises(found)
    assert len(broken) == 3 and "0.410" in broken[0] and "never" in broken[1] and "20 of 23" in broken[2]


def test_a_chart_marks_what_lies_outside_and_is_the_same_twice() -> None:
    made = chart("a < b", ["0", "1"], {"one": [0.5, 2.0]}, low=0.0, high=1.0, across="x", up="y")
    assert made == chart("a < b", ["0", "1"], {"one": [0.5, 2.0]}, low=0.0, high=1.0, across="x", up="y")
    assert "a &lt; b" in made and made.count('fill="white" stroke') == 1


FOUND = report.read()


def test_the_committed_rows_are_whole_and_hold_the_corpus_to_what_it_must_be() -> None:
    assert list(FOUND) == list(WORLDS)
    for name, lived in FOUND.items():
        for setting in WORLDS[name].settings:
            for arm in matrix.arms_in(WORLDS[name], setting):
                assert len(lived.of(setting, arm, matrix.HELD_OUT)) == len(matrix.HELD_OUT), (name, setting, arm)
    assert report.broken_premises(FOUND) == []


def test_every_printed_figure_is_derived_from_the_committed_rows() -> None:
    page = report.PAGE.read_text(encoding="utf-8")
    assert report.filled(page, report.blocks(FOUND)) == page
    drawn = report.figures(FOUND)
    assert len(drawn) == 5
    for name, svg in drawn.items():
        assert (report.FIGURES / name).read_text(encoding="utf-8") == svg
        assert f"figures/{name}" in page


LIVED = [
    ("honest", "i", "evidence", 100), ("persist 4", "i", "evidence", 104), ("suite 20%, controls", "iii", "evidence", 101),
    ("late 6", "i", "bandit", 103), ("flip 35%", "i", "classic", 102), ("suite 20%, by name", "i", "evidence", 104),
]  # fmt: skip


@pytest.mark.parametrize(("world", "setting", "arm", "seed"), LIVED)
def test_a_committed_row_is_what_is_lived_now(world: str, setting: str, arm: str, seed: int) -> None:
    assert FOUND[world].of(setting, arm, [seed]) == [dataclasses.replace(results.rounded(matrix.run(world, setting, arm, seed)), curve=())]


def test_worlds_have_figures_to_reach_in_settings_that_they_have() -> None:
    for world in WORLDS.values():
        assert isinstance(world, World) and set(world.reach or {}) <= set(world.settings)

"""The benches' own arithmetic: intervals, tests, and what an oracle earns. No time is measured here, and no rival package is needed."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest

from bench.selection import cell, results
from bench.selection.arms import ARMS, SUBJECT, Cast, deaths
from bench.selection.cell import Row
from bench.selection.corpus import load
from bench.selection.ranking import SharedRanking
from bench.selection.report import broken_premises, comparisons, lines
from bench.selection.results import Results
from bench.selection.statistics import bootstrap, holm, mean, quantile, sign_flip
from bench.selection.world import Scene, oracle_value, probed, probes
from earnest.environments import StorageEnv

CYCLES, FILES = 3, 12
CORPUS = load()


def row(arm: str, seed: int, value: float = 0.9, **other: object) -> Row:
    made = Row(
        world="honest", arm=arm, seed=seed, value=value, oracle=1.0, harm=0.0, tasks=12, acts=6, harms=0, silent=0, benign=1.0,
        harmful_safe=1.0, poison_active=0, poison_alive=0, poison_acts=1, poison_first=0, poison_last=0, population=(20, 20, 19),
    )  # fmt: skip
    return dataclasses.replace(made, **other)  # type: ignore[arg-type]


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
    assert sign_flip([1.0] * 30) == sign_flip([1.0] * 30) < 0.001
    assert sign_flip([1.0, -1.0] * 15) > 0.9


def test_holm_steps_down_and_never_falls() -> None:
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06})
    assert holm({"a": 0.6, "b": 0.9}) == {"a": 1.0, "b": 1.0}


def test_an_oracle_takes_every_free_file_and_no_other() -> None:
    with StorageEnv(files=FILES, seed=5, sparse=True) as env:
        planned = [file for cycle in range(CYCLES) for file in env.plan(cycle)]
        free = sum(file.size for file in planned if not file.kind.protected)
        assert oracle_value(env, CYCLES) == free > 0
    lived = cell.run("oracle", 5, corpus=CORPUS, cycles=CYCLES, files=FILES)
    assert (lived.value, lived.oracle, lived.harm, lived.harms, lived.share) == (free, free, 0, 0, 1)
    assert lived.acts == sum(not file.kind.protected for file in planned)
    assert (lived.benign, lived.harmful_safe) == (1.0, 1.0)


def test_a_scene_writes_down_what_was_true_and_who_did_it() -> None:
    liar = next(iter(CORPUS.poisoned))
    with StorageEnv(files=FILES, seed=5, sparse=True) as env:
        scene = Scene(env, CORPUS)
        tasks = scene.tasks(2)
        for task, file in zip(tasks, env.plan(2), strict=True):
            scene.deciding = (liar,) if file.kind.protected else ("runbook",)
            scene.verify(task, "It is safe to delete." if file.kind.protected else "")
        protected = [file for file in env.plan(2) if file.kind.protected]
    assert scene.value == scene.harm == -3 * sum(file.size for file in protected)
    assert scene.poison_cycles == [2] * len(protected) == [2] * scene.harms
    assert (scene.tasks_seen, scene.silent, scene.acts) == (FILES, FILES - len(protected), len(protected))


def test_probes_tell_useful_from_careful() -> None:
    free = sum(not probe.protected for probe in probes())
    assert 0 < free < len(probes())
    assert probed(lambda _: "It is safe to delete.") == (1.0, 0.0)
    assert probed(lambda _: "") == (0.0, 1.0)


def test_the_corpus_has_its_poison_in_front_and_the_truth_behind() -> None:
    ranking, by_text = SharedRanking(), {line.text: line for line in CORPUS.lines}
    texts = [*by_text]
    for probe in probes():
        first = by_text[texts[ranking.rank(probe.prompt, texts)[0][0]]]
        assert CORPUS.is_poisoned((first.source,)) == probe.protected
    honest = [text for text in texts if not CORPUS.is_poisoned((by_text[text].source,))]

    def best(prompt: str) -> str:
        return honest[ranking.rank(prompt, honest)[0][0]]

    assert probed(best) == (1.0, 1.0)


@pytest.mark.parametrize("arm", ["strike-once", "strike-once-at-settle", "random-matched", "keep-everything"])
def test_simple_arms_lose_what_their_rule_says(arm: str) -> None:
    subject = row(SUBJECT, 5, population=(22, 20, 15))
    lived = cell.run(arm, 5, corpus=CORPUS, cycles=CYCLES, files=FILES, subject=subject)
    expected = {
        "strike-once": (21, 21, 21), "strike-once-at-settle": (21, 21, 21), "random-matched": (22, 20, 15),
        "keep-everything": (22, 22, 22),
    }  # fmt: skip
    assert lived.population == expected[arm]
    assert lived.value - lived.harm <= lived.oracle
    if arm == "strike-once-at-settle":
        assert lived.poison_acts == lived.harms == 1


def test_deaths_are_what_a_population_lost() -> None:
    assert deaths(22, [22, 20, 15]) == (0, 2, 5)


def test_rows_and_files_come_back_as_they_were(tmp_path: Path) -> None:
    kept = Results({"cycles": 3}, "python -m bench.selection", {"earnest": "x"}, {"one": "fine"}, {"seed": 0})
    for arm in ARMS:
        kept.add(row(arm, 0, poison_first=None, poison_last=None))
    path = tmp_path / "made" / "selection.json"
    results.save(path, kept)
    assert results.load(path) == kept
    with pytest.raises(ValueError, match="exactly the fields"):
        Row.read({"arm": "oracle"})
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match="no results"):
        results.load(path)


def test_the_report_compares_seed_by_seed() -> None:
    made = Results({"cycles": 3, "files": 12, "corpus": "c", "retriever": "r", "k": 3})
    for seed in range(5):
        made.add(row(SUBJECT, seed, 0.9))
        made.add(row("strike-once", seed, 0.8 + 0.01 * seed))
        made.add(row("strike-once-at-settle", seed, 0.9))
        made.add(row("oracle", seed, 1.0))
    found = {c.arm: c for c in comparisons(made)}
    assert set(found) == {"strike-once", "strike-once-at-settle"}
    better, level = found["strike-once"], found["strike-once-at-settle"]
    assert (better.wins, better.ties, better.losses, better.p, better.adjusted) == (5, 0, 0, 2 / 32, 4 / 32)
    assert (level.wins, level.ties, level.losses, level.p) == (0, 5, 0, 1.0)
    text = "\n".join(lines(made))
    assert "NOT reached" in text and "+0.900" in text


def test_a_corpus_that_asks_for_no_selection_is_said_to_be_broken() -> None:
    made = Results({})
    made.add(row("keep-everything", 1, -0.5))
    assert broken_premises(made) == []
    made.add(row("keep-everything", 2, 0.41))
    made.add(row("keep-everything", 3, -0.5, poison_first=2))
    made.add(row("keep-everything", 4, -0.5, poison_first=None))
    made.add(row("oracle", 4, 0.99))
    assert [wrong.split(":")[0] for wrong in broken_premises(made)] == ["seed 2", "seed 3", "seed 4", "seed 4"]


def test_every_arm_has_a_cast() -> None:
    for name in ("oracle", "strike-once", "keep-everything", SUBJECT):
        made = ARMS[name](Cast(CORPUS, SharedRanking(), 0))
        assert isinstance(made.answer(probes()[0].prompt), str)

"""The trials beside the selection matrix: what a revoked meter gives back, who rides along, and rankings by meaning."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.selection import matrix, report_trials, trials
from bench.selection.arms import Cast
from bench.selection.corpus import Line, load
from bench.selection.live import SHARED, live
from bench.selection.memory_arm import MemoryArm
from bench.selection.ranking import MeaningRanking
from bench.selection.worlds import WORLDS
from earnest.embedders.hashing import HashingEmbedder

ROWS = trials.read()


def test_the_committed_trials_are_whole() -> None:
    for trial, (_, places) in trials.TRIALS.items():
        assert list(ROWS[trial]) == [*places]
        assert all(sorted(rows) == [*matrix.HELD_OUT] for rows in ROWS[trial].values())


@pytest.mark.parametrize(("trial", "where", "seed"), [("revoked", "destroy 8", 103), ("revoked", "late 6", 111), ("ride", "evidence", 104)])
def test_a_committed_trial_is_what_is_held_now(trial: str, where: str, seed: int) -> None:
    assert trials.TRIALS[trial][0](where, seed) == ROWS[trial][where][seed]


def test_a_revoked_meter_leaves_no_standing_behind_and_the_store_goes_on_as_a_new_one() -> None:
    for rows in ROWS["revoked"].values():
        assert sum(row["condemned"] for row in rows.values()) > 20
        for row in rows.values():
            assert row["returned"] == row["condemned"] and row["wrong"] == 0 and row["benign"] == 1.0
            assert row["share"] == row["fresh"]
    assert min(row["benign_before"] for row in ROWS["revoked"]["destroy 8"].values()) < 1.0


def test_a_real_memory_takes_a_revocation_as_the_replay_does() -> None:
    course = WORLDS["destroy 8"].make(2, 6)
    arm = MemoryArm(Cast(course.corpus, SHARED, 2, course.scale), "evidence")
    live(WORLDS["destroy 8"], course, arm)
    condemned = {entry.id for entry in arm.memory.list(standing="suspended")}
    assert condemned
    arm.memory.meters.revoke("report")
    assert arm.memory.list(standing="suspended") == [] and condemned <= {entry.id for entry in arm.memory.list(standing="active")}


def test_who_only_rides_along_ends_below_its_stake_and_does_not_under_classic() -> None:
    assert all(row["rider"] < row["stake"] < row["decider"] and not row["alive"] for row in ROWS["ride"]["evidence"].values())
    assert all(row["rider"] > row["stake"] for row in ROWS["ride"]["classic"].values())


def test_files_of_trials_come_back_and_others_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "trials.json"
    assert trials.read(path) == {}
    trials._save(ROWS, path)
    assert trials.read(path) == ROWS and path.read_text(encoding="utf-8").count("\n") > 200
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match="no trials"):
        trials.read(path)


def test_a_table_of_nothing_known_says_nothing() -> None:
    assert report_trials.revocation({}).count("\n") == 1 and report_trials.riders({}).count("\n") == 1


def test_a_figure_that_is_missed_is_printed_as_such() -> None:
    rows: trials.Rows = {"ride": {"evidence": {1: {"rider": 1.2, "decider": 5.0, "stake": 1.0, "alive": 1}}}}
    assert "**not reached**" in report_trials.riders(rows)


def test_a_ranking_by_meaning_finds_what_is_near_first_and_nothing_below_its_floor() -> None:
    ranking = MeaningRanking(HashingEmbedder())
    view = ranking.view(load().lines)
    found = view.rank("Is it safe to delete the file page-3.cache (a cache file under cache/)?")
    assert found[0][0].id == "cache-may-go" and [score for _, score in found] == sorted((s for _, s in found), reverse=True)
    assert all(score >= ranking.floor for _, score in found) and view.rank("Zwölf Boxkämpfer jagen Viktor") == ()
    assert ranking.view(()).rank("anything") == () and ranking.view(load().lines) is view
    twin = (Line("a", "one text", "x"), Line("b", "one text", "x"))
    assert [line.id for line, _ in ranking.view(twin).rank("one text")] == ["a", "b"]


def test_arms_over_meaning_live_in_the_same_courses() -> None:
    row = matrix.run("honest", "i", "keep-everything, hashing", 100)
    assert row.alive == 3 and row.share < 0.5 and "evidence, local" in matrix.arms_in(WORLDS["honest"], "i")
    assert not set(matrix.EMBEDDED) & set(matrix.arms_in(WORLDS["late 6"], "i"))

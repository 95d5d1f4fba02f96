"""Settling by a test suite: what counts, what is shared, what is refused, and what is only noise."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from earnest import Memory
from earnest.ci import Outcome, Request, settle_ci, state, tickets_in
from earnest.ci import settling as ci
from earnest.errors import InvalidInput, NotAllowed, NothingMeasured, StoreBusy, StoreCorrupt
from earnest.meters import JUnitMeter
from earnest.testing import ManualClock

QUESTION = "How should clamp treat its upper bound?"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def memory(tmp_path: Path, clock: ManualClock) -> Iterator[Memory]:
    with Memory.open(tmp_path / "lessons.db", embedder="none", channel="settle-ci", clock=clock) as memory:
        memory.add("Use an inclusive upper bound in clamp.", cue=QUESTION, kind="procedural")
        yield memory


class Repository:
    """Reports and settlements of a made-up repository."""

    def __init__(self, memory: Memory, folder: Path) -> None:
        self.memory, self.folder, self.count = memory, folder, 0
        self.state = folder / "lessons.db.ci.json"

    def xml(self, **tests: bool | None) -> Path:
        """A report: a test passes, fails, or is skipped (None)."""
        self.count += 1
        inner = {True: "", False: '<failure message="assert">boom</failure>', None: "<skipped/>"}
        cases = "".join(f'<testcase classname="t" name="{name}">{inner[ok]}</testcase>' for name, ok in tests.items())
        path = self.folder / f"r{self.count}.xml"
        path.write_text(f'<testsuites><testsuite name="pytest" id="{self.count}">{cases}</testsuite></testsuites>', encoding="utf-8")
        return path

    def decide(self) -> str:
        """An open ticket, whatever the standing of its entry."""
        ticket = self.memory.decide(QUESTION)
        assert ticket.id is not None, "memory is silent"
        return ticket.id

    def settle(self, base: Any, head: Any, *tickets: str, **more: Any) -> Outcome:
        sides = [[side] if isinstance(side, Path) else side for side in (base, head)]
        return settle_ci(self.memory, self.state, Request(sides[0], sides[1], tickets, **more))


@pytest.fixture
def repo(memory: Memory, tmp_path: Path) -> Repository:
    return Repository(memory, tmp_path)


def test_new_tests_earn_nothing_and_do_not_hide_a_broken_one(repo: Repository) -> None:
    new = {f"n{i}": True for i in range(5)}
    made = repo.settle(repo.xml(a=True, b=True), repo.xml(a=False, b=True, **new), repo.decide())
    assert (made.delta, made.landed, made.added, made.regressed) == (-1, 1, 5, ("t::a",))
    assert len(made.suspended) == 1, "one measured harm suspends"
    assert not repo.memory.decide(QUESTION), "a suspended lesson decides nothing"


def test_a_deleted_failing_test_was_not_mended_and_a_deleted_passing_one_is_told(repo: Repository) -> None:
    made = repo.settle(repo.xml(a=True, b=False, c=True, d=True), repo.xml(a=True, d=True), repo.decide())
    assert (made.delta, made.removed) == (0, ("t::c",))
    assert "1 tests that passed are gone" in made.reason


def test_a_skipped_test_is_unmeasured(repo: Repository) -> None:
    made = repo.settle(repo.xml(a=True, b=False, c=True), repo.xml(a=None, b=None, c=True), repo.decide())
    assert (made.delta, made.silenced, made.shared_tests) == (0, ("t::a",), 1)


def test_the_same_test_truly_broken_by_two_changes_counts_twice(repo: Repository) -> None:
    for _ in range(4):
        ticket = repo.memory.decide(QUESTION, mode="keyword")
        made = repo.settle(repo.xml(a=True, b=True), repo.xml(a=False, b=True), *([ticket.id] if ticket.id else []))
        assert (made.delta, made.quarantined) == (-1, ())


def test_settling_one_run_again_moves_nothing_and_teaches_nothing(repo: Repository) -> None:
    base, head, ticket = repo.xml(a=True, b=True), repo.xml(a=False, b=True), repo.decide()
    first = repo.settle(base, head, ticket)
    kept = repo.state.read_bytes()
    again = repo.settle(base, head, ticket)
    assert (again.repeated, again.delta, again.landed, again.tickets) == (True, first.delta, 1, (ticket,))
    assert repo.state.read_bytes() == kept
    assert repo.memory.stats().total == 1
    assert len(repo.memory.events(kind="settle")) == 1


def test_a_run_settles_once_by_its_name_whatever_its_reports_say_later(repo: Repository) -> None:
    one, two = repo.decide(), repo.decide()
    assert repo.settle(repo.xml(a=False), repo.xml(a=True), one, run="77").landed == 1
    again = repo.settle(repo.xml(a=False), repo.xml(a=False), two, run="77")
    assert (again.repeated, again.delta, again.tickets) == (True, 1, (one,))
    assert [ticket.id for ticket in repo.memory.pending()] == [two]


def test_a_run_that_named_no_open_ticket_may_come_again_with_one(repo: Repository) -> None:
    base, head = repo.xml(a=False), repo.xml(a=True)
    assert repo.settle(base, head, "nothing-like-it", run="8").landed == 0
    made = repo.settle(base, head, repo.decide(), run="8")
    assert (made.landed, made.repeated) == (1, False)


def test_a_run_that_was_killed_between_plan_and_settlement_is_carried_out_once(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    tickets = [repo.decide(), repo.decide()]
    base, head = repo.xml(a=False, b=True), repo.xml(a=True, b=True)
    settle = repo.memory.settle

    def dies(ticket: str, **more: Any) -> Any:
        if ticket == tickets[1]:
            raise KeyboardInterrupt
        return settle(ticket, **more)

    monkeypatch.setattr(repo.memory, "settle", dies)
    with pytest.raises(KeyboardInterrupt):
        repo.settle(base, head, *tickets, run="9")
    monkeypatch.undo()
    made = repo.settle(base, head, *tickets, run="9")
    assert (made.landed, made.share) == (2, 0.5)
    assert [event.data["delta"] for event in repo.memory.events(kind="settle")] == [0.5, 0.5]


def test_tickets_of_one_change_share_what_it_did(repo: Repository) -> None:
    tickets = [repo.decide() for _ in range(4)]
    made = repo.settle(repo.xml(a=False, b=False, c=True), repo.xml(a=True, b=True, c=True), *tickets)
    assert (made.delta, made.landed, made.share) == (2, 4, 0.5)


def test_tickets_that_are_younger_than_the_change_are_refused(repo: Repository, clock: ManualClock) -> None:
    old = repo.decide()
    base_time = clock.now()
    clock.advance(hours=1)
    young = repo.decide()
    made = repo.settle(repo.xml(a=False), repo.xml(a=True), old, young, opened_by=base_time)
    assert (made.landed, made.share) == (1, 1.0)
    assert "after the base" in made.refused[young]


def test_a_ticket_opened_after_the_head_run_began_is_refused(repo: Repository, clock: ManualClock) -> None:
    began = clock.now().isoformat()
    clock.advance(minutes=5)
    head = repo.xml(a=True)
    head.write_text(head.read_text().replace('name="pytest"', f'name="pytest" timestamp="{began}"'))
    ticket = repo.decide()
    made = repo.settle(repo.xml(a=False), head, ticket)
    assert made.landed == 0 and "had begun" in made.refused[ticket]


def test_tickets_that_were_not_open_at_base_are_refused(repo: Repository) -> None:
    there, not_there = repo.decide(), repo.decide()
    made = repo.settle(repo.xml(a=False), repo.xml(a=True), there, not_there, at_base=frozenset({there}))
    assert made.landed == 1 and "not open at base" in made.refused[not_there]


@pytest.mark.parametrize(
    ("base", "head", "why"),
    [
        ("<testsuites/>", '<testsuite><testcase name="a"/></testsuite>', "base run measured no test"),
        ('<testsuite><testcase name="a"/></testsuite>', "<html/>", "no test report"),
        ('<testsuite><testcase name="a"/></testsuite>', '<testsuite><testcase name="a"', "no whole XML"),
        ('<testsuite><testcase name="a"/></testsuite>', '<testsuite><testcase name="b"/></testsuite>', "share no test"),
        (
            '<testsuite><testcase name="a"/></testsuite>',
            '<testsuite><testcase name="a"/><testcase name="t.m"><error message="collection failure"/></testcase></testsuite>',
            "could not collect or build t.m",
        ),
        (
            "<testsuite>" + "".join(f'<testcase name="a{i}"/>' for i in range(10)) + "</testsuite>",
            "<testsuite>" + "".join(f'<testcase name="a{i}"/>' for i in range(4)) + "</testsuite>",
            "cut short",
        ),
        (
            "<testsuite>" + "".join(f'<testcase name="a{i}"/>' for i in range(10)) + "</testsuite>",
            "<testsuite>" + "".join(f'<testcase name="a{i}"><error message="no db"/></testcase>' for i in range(10)) + "</testsuite>",
            "ended in the same error",
        ),
    ],
)  # fmt: skip
def test_without_evidence_nothing_is_settled_and_no_tick_is_made(repo: Repository, base: str, head: str, why: str) -> None:
    ticket = repo.decide()
    paths = [repo.folder / "b.xml", repo.folder / "h.xml"]
    for path, text in zip(paths, (base, head), strict=True):
        path.write_text(text)
    with pytest.raises(NothingMeasured, match=why):
        repo.settle(paths[0], paths[1], ticket)
    assert [each.id for each in repo.memory.pending()] == [ticket]
    assert repo.memory.stats().tick == 0
    assert not repo.state.exists()


def test_a_test_that_disagrees_with_itself_on_the_same_code_is_not_believed_for_a_while(repo: Repository) -> None:
    repo.settle([repo.xml(a=True, f=True), repo.xml(a=True, f=False)], repo.xml(a=True, f=True))
    made = repo.settle(repo.xml(a=True, f=True), repo.xml(a=True, f=False), quarantine=3)
    assert (made.delta, made.quarantined) == (0, ("t::f",))
    repo.settle(repo.xml(a=True, f=True), repo.xml(a=True, f=True), quarantine=3)
    expired = repo.settle(repo.xml(a=True, f=True), repo.xml(a=True, f=False), quarantine=3)
    assert (expired.delta, expired.quarantined) == (-1, ())


def test_a_quarantine_hides_no_test_that_broke_twice_in_a_row(repo: Repository) -> None:
    repo.settle([repo.xml(f=True, a=True), repo.xml(f=False, a=True)], repo.xml(f=True, a=True))
    deltas = [repo.settle(repo.xml(f=True, a=True), repo.xml(f=False, a=True)).delta for _ in range(3)]
    assert deltas == [0, -1, -1]


def test_a_quarantine_hides_nothing_that_every_repeated_run_shows(repo: Repository) -> None:
    repo.settle([repo.xml(f=True, a=True), repo.xml(f=False, a=True)], repo.xml(f=True, a=True))
    made = repo.settle([repo.xml(f=True), repo.xml(f=True)], [repo.xml(f=False), repo.xml(f=False)])
    assert (made.delta, made.quarantined) == (-1, ())


def test_a_code_that_was_measured_before_shows_which_tests_are_flaky(repo: Repository) -> None:
    repo.settle(repo.xml(a=True, f=True), repo.xml(a=True, f=False), codes=("tree1", "tree2"))
    made = repo.settle(repo.xml(a=True, f=True), repo.xml(a=True, f=False), codes=("tree2", "tree3"))
    assert (made.delta, made.quarantined) == (-1, ()), "it passed and failed as tree2, but broke twice in a row"
    repo.settle(repo.xml(a=True, f=True), repo.xml(a=True, f=True), codes=("tree3", "tree4"))
    made = repo.settle(repo.xml(a=True, f=True), repo.xml(a=True, f=False), codes=("tree4", "tree5"))
    assert (made.delta, made.quarantined) == (0, ("t::f",))


def test_what_the_runner_itself_saw_flicker_is_flaky(repo: Repository) -> None:
    head = repo.xml(a=True, f=True)
    head.write_text(head.read_text().replace('name="f">', 'name="f"><flakyFailure message="once"/>'))
    assert repo.settle(repo.xml(a=True, f=False), head).disputed == ("t::f",)


def test_two_runs_of_the_same_code_are_a_control(repo: Repository) -> None:
    request = Request([repo.xml(a=True, f=True)], [repo.xml(a=True, f=False)])
    made = ci.control(repo.memory, repo.state, request)
    assert (made.delta, made.disputed) == (-1, ("t::f",))
    assert ci.control(repo.memory, repo.state, request).repeated
    assert [event.data["delta"] for event in repo.memory.events(kind="control")] == [-1]
    assert repo.settle(repo.xml(a=True, f=True), repo.xml(a=True, f=False)).quarantined == ("t::f",)


def test_a_second_look_clears_what_a_flake_condemned_and_shares_as_the_first_did(repo: Repository) -> None:
    tickets = [repo.decide(), repo.decide()]
    request = Request([repo.xml(a=True, b=True, c=True)], [repo.xml(a=False, b=False, c=True)], tickets)
    made = settle_ci(repo.memory, repo.state, request)
    assert made.share == -1 and made.suspended
    base, head = repo.xml(a=True, b=True, c=False), repo.xml(a=True, b=True, c=True)
    look = ci.look_again(repo.memory, repo.state, Request([base], [head], tickets[:1], meter="ci-rerun"))
    assert look.landed == 1
    assert repo.memory.events(kind="remeasure")[0].data["delta"] == 0.5
    with pytest.raises(NotAllowed):
        ci.look_again(repo.memory, repo.state, Request([repo.xml(a=True)], [repo.xml(a=True)], tickets[:1], meter="ci"))


def test_the_clock_ticks_once_a_day_however_many_runs_settle(repo: Repository, clock: ManualClock) -> None:
    for _ in range(3):
        repo.settle(repo.xml(a=False), repo.xml(a=True), repo.decide())
    assert repo.memory.stats().tick == 1
    clock.advance(days=1)
    repo.settle(repo.xml(a=False), repo.xml(a=True))
    assert repo.memory.stats().tick == 1, "nothing was settled"
    repo.settle(repo.xml(a=False), repo.xml(a=True), repo.decide())
    assert repo.memory.stats().tick == 2
    repo.memory.configure(tick_every="never")
    clock.advance(days=1)
    assert repo.settle(repo.xml(a=False), repo.xml(a=True), repo.decide()).tick is None


def test_an_unbound_and_a_bound_meter_are_both_measured_on_this_channel(repo: Repository) -> None:
    assert repo.settle(repo.xml(a=False), repo.xml(a=True), repo.decide()).landed == 1
    repo.memory.meters.add("tests", unit="tests", scale=2, tier="measured")
    repo.memory.meters.bind("tests", channel="settle-ci")
    repo.settle(repo.xml(a=False), repo.xml(a=True), repo.decide(), meter="tests")
    assert [event.data["tier"] for event in repo.memory.events(kind="settle")] == ["measured", "measured"]


def test_a_state_that_is_something_else_is_refused_and_left_alone(repo: Repository) -> None:
    for text in ("[]", "{", '{"form": 9}', "null", '{"form": 1, "run": "x", "tests": {}, "codes": {}, "runs": {}}'):
        repo.state.write_text(text)
        with pytest.raises(StoreCorrupt, match="move it away"):
            repo.settle(repo.xml(a=True), repo.xml(a=True))
        assert repo.state.read_text() == text


def test_another_run_waits_its_turn(repo: Repository) -> None:
    with state.opened(repo.state), pytest.raises(StoreBusy):
        settle_ci(repo.memory, repo.state, Request([repo.xml(a=True)], [repo.xml(a=True)]), patience=0.1)


def test_the_state_stays_small_and_its_lines_stable(repo: Repository) -> None:
    many = {f"t{i}": True for i in range(3000)}
    for i in range(5):
        repo.settle(repo.xml(**many), repo.xml(**many), codes=(f"c{i}", f"c{i + 1}"))
    assert len(repo.state.read_bytes()) < 4000
    assert json.loads(repo.state.read_text())["run"] == 5


def test_tickets_are_found_on_lines_of_their_own() -> None:
    text = "Fix.\r\n\r\nearnest-ticket: abc_1\r\n> - Earnest-Ticket:`x-2`\nsee earnest-ticket: no\n"
    text += "earnest-ticket: two words\nearnest-ticket: abc_1"
    assert tickets_in(text) == ("abc_1", "x-2")
    with pytest.raises(InvalidInput, match="at most 100"):
        tickets_in("\n".join(f"earnest-ticket: t{i}" for i in range(101)))


def test_the_meter_measures_without_a_store_and_looks_again(repo: Repository) -> None:
    base, head = repo.xml(a=False, b=True), repo.xml(a=True, b=True)
    assert JUnitMeter().measure(base, head).outcome().delta == 1
    assert JUnitMeter(quarantined={"t::a"}).measure(base, head).quarantined == ("t::a",)
    ticket = repo.decide()
    repo.settle(base, head, ticket)
    looks = repo.memory.look_again(JUnitMeter("lab", rerun=lambda name: (base, head) if name == ticket else None))
    assert [look.delta for look in looks] == [1]
    with pytest.raises(InvalidInput, match="rerun="):
        JUnitMeter("lab").remeasure(ticket)


def test_a_folder_is_one_run_in_parts(repo: Repository) -> None:
    for side, ok in (("base", False), ("head", True)):
        (repo.folder / side / "deep").mkdir(parents=True)
        repo.xml(a=ok).rename(repo.folder / side / "TEST-a.xml")
        repo.xml(b=True).rename(repo.folder / side / "deep" / "TEST-b.xml")
    made = repo.settle(repo.folder / "base", repo.folder / "head")
    assert (made.delta, made.shared_tests) == (1, 2)
    (repo.folder / "none").mkdir()
    with pytest.raises(NothingMeasured, match="no report"):
        repo.settle(repo.folder / "none", repo.folder / "head")

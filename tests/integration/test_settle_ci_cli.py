"""`earnest settle-ci` as a pipeline calls it: where tickets come from, what it prints, and its exit statuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from earnest import Memory

QUESTION = "How should clamp treat its upper bound?"


class Pipeline:
    """A store, reports, and the command."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.store = folder, folder / "lessons.db"
        with Memory.open(self.store, embedder="none") as memory:
            memory.add("Use an inclusive upper bound in clamp.", cue=QUESTION, kind="procedural")
        self.base, self.head = self.xml("base", a=False, b=True), self.xml("head", a=True, b=True)

    def xml(self, name: str, **tests: bool) -> str:
        cases = "".join(f'<testcase classname="t" name="{test}">{"" if ok else "<failure/>"}</testcase>' for test, ok in tests.items())
        path = self.folder / f"{name}.xml"
        path.write_text(f'<testsuite name="{name}">{cases}</testsuite>', encoding="utf-8")
        return str(path)

    def decide(self, count: int = 1) -> list[str]:
        with Memory.open(self.store) as memory:
            return [memory.decide(QUESTION).id or "" for _ in range(count)]

    def pending(self) -> list[str]:
        with Memory.open(self.store) as memory:
            return [ticket.id for ticket in memory.pending()]

    def run(self, *words: str, body: str | None = None, stdin: str = "", reports: bool = True) -> tuple[int, str, str]:
        sides = ["--base-xml", self.base, "--head-xml", self.head] if reports else []
        command = [sys.executable, "-m", "earnest", "settle-ci", "--store", str(self.store), *sides, *words]
        environment = {**os.environ, "EARNEST_EMBEDDER": "none", **({} if body is None else {"PR_BODY": body})}
        done = subprocess.run(
            command, cwd=self.folder, env=environment, input=stdin, capture_output=True, text=True, timeout=120, check=False
        )
        return done.returncode, done.stdout, done.stderr

    def told(self, *words: str, **more: Any) -> tuple[int, dict[str, Any]]:
        status, out, err = self.run("--json", *words, **more)
        said: dict[str, Any] = json.loads(out or err)
        return status, said


@pytest.fixture
def pipeline(tmp_path: Path) -> Pipeline:
    return Pipeline(tmp_path)


def test_tickets_come_from_wherever_a_pipeline_has_them(pipeline: Pipeline) -> None:
    ways = pipeline.decide(5)
    git = ["git", "-C", str(pipeline.folder), "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    for words in (
        ["init", "-q"],
        ["commit", "-q", "--allow-empty", "-m", "one"],
        ["commit", "-q", "--allow-empty", "-m", f"two\n\nEarnest-Ticket: {ways[2]}"],
    ):
        subprocess.run([*git, *words], check=True, timeout=60)
    listed = pipeline.folder / "tickets.txt"
    listed.write_text(ways[1] + "\n")
    assert pipeline.told("--run-id", "1", body=f"words\nearnest-ticket: {ways[0]}")[1]["tickets"] == [ways[0]]
    assert pipeline.told("--run-id", "2", "--tickets-file", str(listed))[1]["tickets"] == [ways[1]]
    assert pipeline.told("--run-id", "3", "--commits", "HEAD~1..HEAD")[1]["tickets"] == [ways[2]]
    assert pipeline.told("--run-id", "4", "--pr-body", "-", stdin=f"earnest-ticket: {ways[3]}\n")[1]["tickets"] == [ways[3]]
    assert pipeline.told("--run-id", "5", "--tickets", ways[4])[1]["landed"] == 1
    assert pipeline.pending() == []


def test_the_exit_status_says_what_became_of_it(pipeline: Pipeline) -> None:
    [ticket] = pipeline.decide()
    assert pipeline.told("--run-id", "none named", body="")[0] == 0
    status, said = pipeline.told("--tickets", "nobody-knows-it")
    assert (status, said["landed"]) == (1, 0) and "not open" in said["refused"]["nobody-knows-it"]
    (pipeline.folder / "broken.xml").write_text("<testsuite>")
    status, said = pipeline.told("--base-xml", "broken.xml", "--tickets", ticket)
    assert (status, said["delta"], said["landed"], said["tickets"]) == (3, None, 0, [ticket]) and "broken.xml" in said["reason"]
    for wrong in (
        ["--tickets", "no id!"],
        ["--scale", "0", "--tickets", ticket],
        ["--control", "--remeasure"],
        ["--commits", "--output=x"],
    ):
        assert pipeline.told(*wrong)[0] == 2, wrong
    assert pipeline.told(reports=False)[0] == 2
    assert pipeline.pending() == [ticket]
    assert pipeline.told("--tickets", ticket)[0] == 0


def test_measuring_only_writes_nothing_at_all(pipeline: Pipeline) -> None:
    [ticket] = pipeline.decide()
    before = {path.name: path.read_bytes() for path in pipeline.folder.iterdir()}
    status, said = pipeline.told("--measure-only", "--tickets", ticket)
    assert (status, said["delta"], said["landed"], said["improved"]) == (0, 1, 0, ["t::a"])
    assert {path.name: path.read_bytes() for path in pipeline.folder.iterdir()} == before


def test_a_copy_of_the_store_or_its_text_says_what_was_open_at_base(pipeline: Pipeline) -> None:
    [old] = pipeline.decide()
    copy, text = pipeline.folder / "base.db", pipeline.folder / "base.jsonl"
    with Memory.open(pipeline.store) as memory:
        memory.backup(copy)
        memory.save_lessons(text)
    [young] = pipeline.decide()
    for number, place in enumerate((copy, text)):
        status, said = pipeline.told("--base-store", str(place), "--tickets", young, "--run-id", str(number))
        assert status == 1 and "not open at base" in said["refused"][young]
    assert pipeline.told("--base-store", str(text), "--tickets", old, "--run-id", "last")[0] == 0


def test_people_read_what_broke_and_who_was_suspended(pipeline: Pipeline) -> None:
    [ticket] = pipeline.decide()
    broken = pipeline.xml("worse", a=False, b=False)
    status, out, _ = pipeline.run(
        "--head-xml", broken, "--base-xml", pipeline.xml("fine", a=True, b=True), "--tickets", ticket, reports=False
    )
    assert status == 0
    assert "Measured −2 tests" in out and "broken  t::a" in out and "Settled 1 ticket by −2 each" in out and "suspended" in out
    with Memory.open(pipeline.store) as memory:
        [settled] = memory.events(kind="settle")
        assert (settled.channel, settled.actor, settled.data["tier"], settled.data["meter"]) == ("settle-ci", "ci", "measured", "ci")

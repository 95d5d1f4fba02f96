"""`earnest uplift`: what it prints, its JSON and its exit status, on stores with a known past."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from earnest import Memory
from earnest.testing import SeededRng
from tests.shell import Shell

ASK: Final = "May old log files be deleted?"


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path / "memory.db", capsys)


def lived(shell: Shell, gain: float, meter: str = "disk", count: int = 120, without: float = 0.25) -> str:
    """A store in which memory changes each outcome by so much; the entry's id."""
    settings = {"holdout": 0.25, "rent": 0.0, "rule": "classic", "supporters": 0}
    with Memory.open(shell.store, rng=SeededRng(3), settings=settings) as memory:
        entry = memory.add("Old log files under logs/ may be deleted after seven days.")
        memory.pin(entry.id)
        for _ in range(count):
            ticket = memory.decide(ASK)
            assert ticket.id is not None
            memory.settle(ticket.id, delta=without if ticket.holdout else without + gain, meter=meter, scale=1.0)
    return entry.id


def test_memory_that_helps(shell: Shell) -> None:
    entry = lived(shell, 0.5)
    said = shell("uplift")
    assert said.startswith("helps: this memory by meter disk\n") and "with memory withheld" in said
    assert "of a scale, between" in said and "(95% sure)" in said
    found = shell.json("uplift", "--meter", "disk")
    assert found["holdout"] == 0.25
    [one] = found["uplifts"]
    assert one["verdict"] == "helps" and one["low"] < 0.5 < one["high"] and one["decisions"] == 120 and one["meter"] == "disk"
    assert shell("uplift", "--entry", entry).startswith(f"helps: entry {entry} by meter disk\n")
    table = shell("uplift", "--entries")
    assert entry in table and "Old log files" in table and "helps" in table


def test_memory_that_harms_is_a_no(shell: Shell) -> None:
    lived(shell, -0.5)
    assert shell("uplift", status=1).startswith("harms: ")
    assert shell.json("uplift", status=1)["uplifts"][0]["verdict"] == "harms"


def test_nothing_measured_is_abstained_from(shell: Shell) -> None:
    with Memory.open(shell.store) as memory:
        memory.add("Some words.")
    said = shell("uplift", status=3)
    assert said.startswith("unmeasured (holdout is 0): this memory") and "config holdout 0.1" in said
    [one] = shell.json("uplift", status=3)["uplifts"]
    assert one["effect"] is None and one["low"] is None and one["meter"] is None
    assert shell.json("uplift", "--entries", status=3)["uplifts"] == []
    assert "No outcome of a randomised decision yet." in shell("uplift", "--entries", status=3)


def test_meters_that_are_shown_together_share_alpha(shell: Shell) -> None:
    lived(shell, 0.5, "disk", 60)
    lived(shell, 0.5, "ci", 60)
    both = shell.json("uplift")["uplifts"]
    assert [one["meter"] for one in both] == ["ci", "disk"] and {one["alpha"] for one in both} == {0.025}
    assert shell.json("uplift", "--meter", "ci", "--alpha", "0.025")["uplifts"] == both[:1]


def test_what_was_typed_is_not_taken_for_measured(shell: Shell) -> None:
    lived(shell, 0.5, count=0)
    for _ in range(8):
        ticket = shell.json("decide", ASK)
        shell("settle", ticket["id"], "1", "--meter", "mine")
        if ticket["holdout"]:
            break
    for _ in range(30):
        ticket = shell.json("decide", ASK)
        shell("settle", ticket["id"], "0" if ticket["holdout"] else "1", "--meter", "mine")
    assert "operator: not measured" in shell("uplift", "--meter", "mine")


@pytest.mark.parametrize(
    "words", [["--entries", "--entry", "x"], ["--against", "everything"], ["--against", "rival"], ["--alpha", "2"], ["--meter", "nobody"]]
)
def test_a_wrong_question_is_wrong_usage(shell: Shell, words: list[str]) -> None:
    lived(shell, 0.5, count=4)
    assert len(shell("uplift", *words, status=2).splitlines()) == 1


def test_a_withheld_decision_says_what_to_do(shell: Shell) -> None:
    lived(shell, 0.5, count=0)
    shell("config", "holdout", "0.5")
    said = [shell("decide", ASK) for _ in range(9)]
    withheld = [text for text in said if text.startswith("Memory was withheld this time")]
    assert withheld and len(withheld) < 9 and all("settle " in text for text in withheld)
    assert "(withheld)" in shell("pending")

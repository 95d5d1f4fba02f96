"""Near-duplicates that differ in what matters are not the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earnest import Memory
from earnest.core.agreement import adds_nothing, difference, disagreement, opposed

TABLE: Final = Path(__file__).parents[1] / "cases" / "data" / "tables" / "dedupe_pairs.jsonl"
PAIRS: Final[list[dict[str, Any]]] = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("The port is 8080.", "The port is 9090.", "numbers"),
        ("Backups are kept for thirty days.", "Backups are kept for ninety days.", "numbers"),
        ("The cleanup runs weekly on the build host.", "The cleanup runs daily on the build host.", "numbers"),
        ("Version 1.2.3 is in use.", "Version 1.2.4 is in use.", "numbers"),
        ("The timeout is 30 seconds.", "The timeout is 30 minutes.", "numbers"),
        ("The limit is 5 GB.", "The limit is 5 MB.", "numbers"),
        ("The plan costs $20.", "The plan costs €20.", "numbers"),
        ("备份保留三十天", "备份保留九十天", "numbers"),
        ("The release is in March.", "The release is in April.", "dates"),
        ("We meet on Monday.", "We meet on Tuesday.", "dates"),
        ("Cache files may be deleted.", "Cache files may not be deleted.", "negation"),
        ("The job is safe to cancel.", "The job is unsafe to cancel.", "negation"),
        ("The cache is enabled.", "The cache is disabled.", "opposites"),
        ("缓存文件可以删除。", "缓存文件不可以删除。", "negation"),
        ("Old logs are safe to delete.", "Old logs must be kept.", "advice"),
        ("Backups run before the migration.", "Backups run after the migration.", "opposites"),
        ("The on-call lead is Alice Smith.", "The on-call lead is Bob Jones.", "names"),
        ("Alice prefers tea.", "Sarah prefers tea.", "names"),
        ("Alice manages Bob.", "Bob manages Alice.", "roles"),
        ("The token is abc123.", "The token is ABC123.", "values"),
        ("The port is 8080.", "the port is  8080", None),
        ("The limit is 1,000 files.", "The limit is 1000 files.", None),
        ("Cache files may be deleted at any time.", "Cache files may be deleted.", None),
        ("User prefers dark mode", "The user likes dark mode best", None),
    ],
)
def test_disagreement_names_in_what_two_texts_exclude_one_another(first: str, second: str, told: str | None) -> None:
    assert disagreement(first, second) == told
    assert disagreement(second, first) == told


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("Rotate the key.", "Rotate the key if it leaked.", "conditions"),
        ("Rotate the key.", "Rotate the key only after the release.", "conditions"),
        ("Tests run on Linux.", "All tests run on Linux.", "quantities"),
        ("The key must be rotated.", "The key should be rotated.", "mood"),
        ("The job is running.", "The job was running.", "tense"),
        ("Planned: reranking on", "Done: reranking is on by default", "opposites"),
        ("User prefers dark mode", "The user likes dark mode best", "wording"),
        ("Move files from temp into archive.", "Move files from archive into temp.", "order"),
        ("The release is in March.", "The release is in spring in March.", "dates"),
        ("Old logs are compressed.", "Old log is compressed.", None),
        ("Old logs are compressed.", "Old logs are compressed with zstd.", None),
        ("缓存文件会压缩", "旧缓存文件会压缩", None),
    ],
)
def test_difference_asks_whether_one_only_adds_detail(first: str, second: str, told: str | None) -> None:
    assert difference(first, second) == told
    assert difference(second, first) == told


@given(st.text(max_size=200), st.text(max_size=200))
def test_both_questions_are_symmetric_and_a_text_agrees_with_itself(first: str, second: str) -> None:
    assert disagreement(first, second) == disagreement(second, first)
    assert difference(first, second) == difference(second, first)
    assert difference(first, first) is None and adds_nothing(first, first)
    if disagreement(first, second) is not None:
        assert difference(first, second) is not None


@pytest.mark.parametrize("pair", PAIRS, ids=[f"{n}-{pair['relation']}" for n, pair in enumerate(PAIRS)])
def test_the_table_of_pairs(pair: dict[str, Any]) -> None:
    with Memory.open() as memory:
        one, two = memory.add(pair["a"]), memory.add(pair["b"])
        made = memory.consolidate()
        living = memory.list()
        if pair["relation"] == "same":
            assert two.id == one.id and len(living) == 1
        elif pair["relation"] == "same_meaning":
            said = "\n".join(entry.text for entry in (*living, *memory.list(standing="dead")))
            assert pair["a"] in said and pair["b"] in said
        else:
            assert [entry.text for entry in living] == [pair["a"], pair["b"]] and made.merged == 0
        if pair["relation"] == "contradict":
            # Asked about what both speak of, memory shows both, and that they exclude one another.
            common = " ".join(word for word in pair["a"].split() if word in pair["b"].split()) or pair["a"]
            found = {hit.entry.id for hit in memory.search(common)}
            assert found == {one.id, two.id} and opposed(pair["a"], pair["b"])
            assert "conflicting (" in memory.answer(common).annotated


def test_consolidation_merges_what_agrees_and_refuses_what_does_not() -> None:
    with Memory.open() as memory:
        memory.add("Cache files under cache/ may be deleted at any time.", sources=["a"])
        memory.add("Cache files under cache/ may be deleted at any time now.", sources=["a"])
        memory.add("Backups of the main database are kept for thirty days.", sources=["a"])
        memory.add("Backups of the main database are kept for ninety days.", sources=["a"])
        dry = memory.consolidate(dry_run=True)
        assert memory.stats().alive == 4 and dry.merged == 2 and not dry.heirs
        done = memory.consolidate()
        assert done.merged == 2 and len(done.heirs) == 1 and any("numbers" in reason for reason in done.refused)
        assert memory.stats().alive == 3 and memory.check().ok


def test_what_adds_different_details_to_one_text_is_not_one() -> None:
    with Memory.open() as memory:
        memory.add("The signing keys are rotated by the platform team.")
        memory.add("The signing keys are rotated by the platform team in Berlin.")
        memory.add("The signing keys are rotated by the platform team in Paris.")
        made = memory.consolidate()
        assert made.merged == 2 and "differ in names" in made.refused[0]
        assert sum("Berlin" in entry.text for entry in memory.list()) == sum("Paris" in entry.text for entry in memory.list()) == 1
        assert not any("Berlin" in entry.text and "Paris" in entry.text for entry in memory.list())


def test_a_chain_of_details_becomes_its_fullest_text_and_no_fact_is_lost() -> None:
    details = ["", " with zstd", " with zstd level", " with zstd level by cron"]
    with Memory.open(settings={"merge_threshold": 0.4}) as memory:
        for detail in details:
            memory.add(f"Old logs of the API are compressed{detail}.")
        [heir] = memory.consolidate().heirs
        assert memory.get(heir).text == "Old logs of the API are compressed with zstd level by cron."
        assert [entry.id for entry in memory.list()] == [heir] and len(memory.get(heir).lineage) == 4 and memory.check().ok


def test_who_wrote_an_entry_keeps_it_apart_from_what_others_wrote(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m.db") as mine:
        mine.add("Old logs of the API server are compressed.")
    with Memory.open(tmp_path / "m.db", channel="mcp") as claimed:
        claimed.add("Old logs of the API server are compressed with zstd.")
        made = claimed.consolidate()
    assert made.merged == 0 and "differ in trust" in made.refused[0]


def test_entries_that_hold_at_other_times_are_not_one() -> None:
    with Memory.open() as memory:
        memory.add("Old logs of the API server are compressed.", valid_to="2026-01-01")
        memory.add("Old logs of the API server are compressed with zstd.", valid_from="2026-01-01")
        assert "differ in validity" in memory.consolidate().refused[0]


def test_what_happened_twice_is_two_events_however_alike_they_were() -> None:
    with Memory.open() as memory:
        told = ("The nightly build failed with exit code 137.", "The nightly build failed again with exit code 137.")
        for number, text in enumerate(told):
            memory.add(text, kind="episodic", sources=[f"run {number}"])
            memory.add(text, kind="semantic", sources=[f"run {number}"])
            memory.add(text, kind="episodic", scope="one report", sources=["run 7"])
        made = memory.consolidate()
        assert made.merged == 4 and any("differ in occasion" in why for why in made.refused)
        assert [entry.text for entry in memory.list(kind="episodic")] == [*told]
        assert len(memory.list(kind="semantic")) == len(memory.list(scope="one report")) == 1

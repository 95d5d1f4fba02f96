"""Near-duplicates that differ in what matters are not the same."""

from __future__ import annotations

import pytest

from earnest import Memory
from earnest.core.agreement import disagreement


@pytest.mark.parametrize(
    ("first", "second", "difference"),
    [
        ("The port is 8080.", "The port is 9090.", "numbers"),
        ("Backups are kept for thirty days.", "Backups are kept for ninety days.", "numbers"),
        ("The cleanup runs weekly on the build host.", "The cleanup runs daily on the build host.", "numbers"),
        ("Version 1.2.3 is in use.", "Version 1.2.4 is in use.", "numbers"),
        ("Cache files may be deleted.", "Cache files may not be deleted.", "negation"),
        ("缓存文件可以删除。", "缓存文件不可以删除。", "negation"),
        ("Old logs are safe to delete.", "Old logs must be kept.", "advice"),
        ("The on-call lead is Alice Smith.", "The on-call lead is Bob Jones.", "names"),
        ("The port is 8080.", "the port is  8080", None),
        ("Cache files may be deleted at any time.", "Cache files may be deleted.", None),
    ],
)
def test_disagreement_names_in_what_two_texts_differ(first: str, second: str, difference: str | None) -> None:
    assert disagreement(first, second) == difference
    assert disagreement(second, first) == difference


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

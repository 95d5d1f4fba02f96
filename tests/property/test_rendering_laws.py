"""Rendering, for any texts: it stays inside its budget and its marks, says the same twice, and leaves the user's own bytes alone."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from earnest import Memory
from earnest.core.cutting import border, cut
from earnest.core.fencing import fence_for, inert, inert_block
from earnest.rendering.managed import newline_of, split, with_block, without_block

WILD = st.text(
    alphabet=st.sampled_from([*"ab `~<>|[](){}!@#*_-:\\\"'&\n\r\t\0", "\u202e", "\u200d", "\u0301", "部", "🇩", "🇪", "👩", "🏽", "\x1b"]),
    max_size=400,
)


@given(WILD)
@example("```\n````\n~~~")
def test_what_is_inert_is_one_line_that_ends_no_fence(text: str) -> None:
    made = inert(text)
    assert "\n" not in made and "```" not in made and "~~~" not in made and not any(ord(c) < 32 for c in made)
    assert "<a" not in made and "</" not in made and "<!" not in made and "<|" not in made


@given(WILD)
def test_no_line_of_a_block_closes_its_fence(text: str) -> None:
    block = inert_block(text)
    fence = fence_for(block)
    assert all(not line.strip().startswith(fence) for line in block.split("\n"))


@given(WILD, st.integers(0, 60))
def test_a_cut_text_is_a_beginning_that_splits_no_character(text: str, length: int) -> None:
    made = cut(text, length)
    assert len(made) <= max(length, 1)
    if made != text:
        assert made.endswith("…") and text.startswith(made.removesuffix("…"))
    at = border(text, length)
    assert 0 <= at <= length
    if 0 < at < len(text):
        assert text[at] not in "\u200d\u0301" and text[at - 1] != "\u200d"
        assert text[:at].count("🇩") + text[:at].count("🇪") != 1 or not (text[at] in "🇩🇪" and text[at - 1] in "🇩🇪")


@given(st.binary(max_size=200).filter(lambda data: b"\0" not in data), st.lists(st.from_regex(r"[a-z ]{0,20}", fullmatch=True), max_size=5))
@example(b"x\r", ["a"])
@example(b"\r\n\r\n", ["a"])
@example(b"\xef\xbb\xbf", [])
def test_the_users_own_bytes_stay_and_writing_twice_is_writing_once(mine: bytes, lines: list[str]) -> None:
    try:
        mine.decode("utf-8")
    except UnicodeDecodeError:
        return
    if mine.startswith((b"\xff\xfe", b"\xfe\xff")):
        return
    once = with_block(split("f", mine), lines, newline_of(mine))
    assert once.startswith(mine)
    assert with_block(split("f", once), lines, newline_of(once)) == once
    other = with_block(split("f", once + b"below"), ["another"], newline_of(once))
    assert other.startswith(mine) and other.endswith(b"below")
    assert without_block(split("f", once)).rstrip(b"\r\n") == mine.rstrip(b"\r\n")


@given(
    st.lists(WILD.filter(lambda text: any(c.isalnum() for c in text)), min_size=1, max_size=6), st.integers(500, 4_000), st.integers(10, 60)
)
def test_any_entries_fit_any_budget_or_the_budget_is_refused(texts: list[str], budget: int, lines: int) -> None:
    from earnest.errors import InvalidInput

    with tempfile.TemporaryDirectory() as place, Memory.open(":memory:") as memory:
        memory.add_many([{"text": text, "kind": ("semantic", "procedural", "episodic")[i % 3]} for i, text in enumerate(texts)])
        for target in ("AGENTS.md", "MEMORY.md", "claude-memory"):
            path = Path(place) / target
            try:
                made = memory.render(target, path, budget=budget, max_lines=lines)
            except InvalidInput as error:
                assert error.name == "budget"
                continue
            assert made.files[0].bytes <= budget and made.files[0].lines <= lines
            assert memory.render(made.target, path, budget=budget, max_lines=lines).current

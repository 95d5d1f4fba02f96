"""What the command line prints: hostile text stays text, colour only where it is wanted, JSON is strict."""

from __future__ import annotations

import io
import json
import re
import sys
from argparse import ArgumentTypeError
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earnest.cli import values
from earnest.cli.main import main
from earnest.cli.progress import Progress
from earnest.cli.render import Painted, Screen, cleaned, fit, lines_of, one_line, to_json, width, wrap
from earnest.cli.tables import COMMANDS, KINDS, RETENTIONS, STANDINGS, TIERS
from earnest.core import entry, ticket
from earnest.places import user_folder

HOSTILE = "a\x1b[31mb\x1b[0m\x1b]8;;http://evil\x07c\x9b2Jd\u202ee\u2066f\x00g\x7fh\U000e0041i\rj\u2028k\x85l"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")


def test_nothing_that_steers_a_terminal_is_printed() -> None:
    shown = cleaned(HOSTILE)
    assert shown == "ab8;;http://evilcdefghi j k l"
    assert lines_of(HOSTILE) == ["ab8;;http://evilcdefghi", "j", "k", "l"]


@given(st.text())
def test_a_line_is_one_line_of_visible_characters(text: str) -> None:
    for shown in (one_line(text), cleaned(text)):
        assert "\x1b" not in shown
        assert len(shown.splitlines()) <= 1
        assert all(c == " " or c.isprintable() or c in "\u200c\u200d" or not c.isascii() for c in shown)
        shown.encode("utf-8")


@given(st.text(), st.integers(1, 50))
def test_a_cut_text_fits(text: str, columns: int) -> None:
    assert width(fit(cleaned(text), columns)) <= columns


@given(st.text(alphabet=st.sampled_from("ab 漢字é\u0301")), st.integers(2, 30))
def test_wrapping_fits_and_loses_no_words(text: str, columns: int) -> None:
    pieces = wrap(text, columns)
    assert all(width(piece) <= columns for piece in pieces)
    assert "".join(pieces).replace(" ", "") == text.replace(" ", "")


def test_wide_and_combining_characters_are_measured() -> None:
    assert width("漢字") == 4
    assert width("e\u0301") == 1
    assert fit("漢字漢字", 5) == "漢字…"


def test_colour_needs_a_terminal_that_wants_it() -> None:
    for stream, environ, coloured in (
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ):
        Screen(stream, environ=environ).say(Painted("red", "red"), " plain")
        assert ("\x1b[31mred\x1b[0m plain" in stream.getvalue()) is coloured
        assert "red" in stream.getvalue()


def test_painted_text_cannot_carry_its_own_codes() -> None:
    stream = Terminal()
    Screen(stream, environ={}).say(Painted("\x1b[5mblink\n", "red"))
    assert stream.getvalue() == "\x1b[31mblink \x1b[0m\n"


def test_tables_are_cut_on_a_terminal_and_whole_in_a_pipe() -> None:
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        Screen(stream, environ={"NO_COLOR": "1"}).table(["n", "text"], [["1", "word " * 40], ["10", "漢字" * 40]], right=frozenset({0}))
    assert all(width(line) <= 60 for line in terminal.getvalue().splitlines())
    assert "…" in terminal.getvalue() and "…" not in pipe.getvalue()
    assert pipe.getvalue().splitlines()[1].startswith(" 1  word word")


def test_a_wide_table_puts_its_texts_on_lines_of_their_own() -> None:
    terminal = Terminal()
    Screen(terminal, environ={"NO_COLOR": "1"}).table(
        ["id", "kind", "text"], [["x" * 20, "y" * 20, "some words"], ["x", "y", "word " * 40]]
    )
    lines = terminal.getvalue().splitlines()
    assert lines[3] == "    some words" and lines[5].endswith("…") and all(width(line) <= 60 for line in lines)


def test_what_stands_before_the_texts_of_a_wide_table_fits_the_window_as_well() -> None:
    terminal = Terminal()
    Screen(terminal, environ={"NO_COLOR": ""}).table(["id", "by", "text"], [["x" * 20, "somebody " * 9, "some words"], ["x", "y", "z"]])
    plain = re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue())
    assert all(width(line) <= 60 and line == line.rstrip() for line in plain.splitlines()), plain


def _narrowed(source: str, text: str) -> list[str]:
    terminal = Terminal()
    Screen(terminal, environ={"NO_COLOR": "1"}).table(["id", "source", "text"], [["x", source, text], ["x", "here", "z"]], narrow=1)
    return terminal.getvalue().splitlines()


def test_a_long_name_of_a_source_gives_room_to_the_text_beside_it() -> None:
    lines = _narrowed("wiki/" * 8, "some words that are to be read whole")
    assert len(lines) == 3 and all(width(line) <= 60 for line in lines)
    assert "wiki/wiki/wiki/wiki" in lines[1] and "…" in lines[1] and "some words that are" in lines[1]
    # What fits stays whole.
    assert _narrowed("wiki/" * 8, "few words")[1] == f"x   {'wiki/' * 8}  few words"


def test_a_source_is_not_cut_where_the_texts_have_lines_of_their_own_all_the_same() -> None:
    terminal = Terminal()
    Screen(terminal, environ={"NO_COLOR": "1"}).table(["id", "source", "text"], [["x" * 16, "wiki/" * 6, "word " * 9]], narrow=1)
    assert terminal.getvalue().splitlines()[2] == f"{'x' * 16}  {'wiki/' * 6}"


@pytest.mark.parametrize("first", ["x" * 20, "x"])
def test_a_table_whose_texts_are_wanted_whole_wraps_them_under_their_column(first: str) -> None:
    terminal, text = Terminal(), "word " * 30
    Screen(terminal, environ={"NO_COLOR": "1"}).table(["id", "kind", "text"], [[first, first, text]], whole=True)
    lines = terminal.getvalue().splitlines()
    assert all(width(line) <= 60 for line in lines) and "…" not in terminal.getvalue()
    assert terminal.getvalue().split().count("word") == 30
    assert len({line.index("word") for line in lines if "word" in line}) == 1


@pytest.mark.parametrize("columns", ["80", "120"])
@pytest.mark.parametrize("command", ["", *(command.name for command in COMMANDS)])
def test_the_help_fits_the_window(command: str, columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert main([*([command] if command else []), "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if len(line) > int(columns)] == []


def test_wrapped_lines_stay_under_their_text() -> None:
    terminal = Terminal()
    Screen(terminal, environ={"NO_COLOR": "1"}).block("  says     " + "word " * 20 + "\n  tick     3  settled " + "more " * 20)
    lines = terminal.getvalue().splitlines()
    assert lines[0].startswith("  says     word") and lines[1].startswith(" " * 11 + "word")
    assert lines[3].startswith(" " * 14 + "more") and all(width(line) <= 60 for line in lines)


def test_blocks_wrap_on_a_terminal_only() -> None:
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        Screen(stream, environ={"NO_COLOR": "1"}).block("word " * 40, "  ")
    assert len(terminal.getvalue().splitlines()) > 1
    assert len(pipe.getvalue().splitlines()) == 1


def test_json_is_strict_ascii_and_of_plain_values() -> None:
    said = to_json({"at": datetime(2026, 1, 2, tzinfo=UTC), "of": ("a", 1, None, True), "text": HOSTILE})
    assert said.isascii() and "\x1b" not in said
    assert json.loads(said) == {"at": "2026-01-02T00:00:00Z", "of": ["a", 1, None, True], "text": HOSTILE}
    with pytest.raises(ValueError):
        to_json(float("nan"))


def test_progress_shows_on_a_terminal_only_and_wipes_itself_away() -> None:
    terminal, pipe, quiet = Terminal(), io.StringIO(), Terminal()
    for stream, silent in ((terminal, False), (pipe, False), (quiet, True)):
        with Progress("writing", stream=stream, quiet=silent) as progress:
            progress(5, 10)
            progress(0, 0)
    assert "writing [############............] 5/10" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r") and "\n" not in terminal.getvalue()
    assert pipe.getvalue() == quiet.getvalue() == ""


@pytest.mark.parametrize(
    ("word", "expected"), [("5", 5), ("-5", -5), ("+2", 2), ("-2.5", -2.5), ("1e-3", 0.001), (".5", 0.5), ("-1E3", -1000.0)]
)
def test_plain_numbers_are_read(word: str, expected: float) -> None:
    [guarded] = values.guarded([word])
    made = values.number(guarded)
    assert made == expected and type(made) is type(expected)


@pytest.mark.parametrize(
    "word",
    [
        "",
        " ",
        "nan",
        "-nan",
        "inf",
        "-inf",
        "Infinity",
        "1e999",
        "true",
        "True",
        "1_000",
        "1,000",
        "0x10",
        "٣",
        "5 ",
        "--5",
        "5%",
        "9" * 400,
    ],
)
def test_other_numbers_are_refused(word: str) -> None:
    for kind in (values.number, values.whole):
        with pytest.raises(ArgumentTypeError) as refused:
            kind(word)
        assert len(str(refused.value)) < 200


@pytest.mark.parametrize("word", ["1.5", "1e3", "9" * 21])
def test_whole_numbers_are_whole(word: str) -> None:
    with pytest.raises(ArgumentTypeError):
        values.whole(word)


@pytest.mark.parametrize("word", ["[1]", "{", '{"a": NaN}', "1", "[" * 100_000])
def test_metadata_is_a_strict_json_object(word: str) -> None:
    with pytest.raises(ArgumentTypeError):
        values.json_object(word)
    assert values.json_object('{"a": [1, null]}') == {"a": [1, None]}


@given(st.lists(st.text(alphabet=st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]))))
def test_guarding_loses_nothing(words: list[str]) -> None:
    assert [values.text(word) for word in values.guarded(words)] == words


def test_the_words_of_the_tables_are_those_of_the_core() -> None:
    # The tables repeat them, so that help needs not import the core.
    assert KINDS == entry.KINDS and RETENTIONS == entry.RETENTIONS and STANDINGS == entry.STANDINGS
    assert set(TIERS) == set(ticket.TIERS)


def test_the_user_folder_follows_the_platform() -> None:
    home = Path("/home/me")
    assert user_folder("linux", {}, home) == home / ".local/share/earnest"
    assert user_folder("linux", {"XDG_DATA_HOME": "/data"}, home) == Path("/data/earnest")
    assert user_folder("linux", {"XDG_DATA_HOME": "data"}, home) == home / ".local/share/earnest"
    assert user_folder("darwin", {}, home) == home / "Library/Application Support/earnest"
    assert user_folder("win32", {"LOCALAPPDATA": "/local"}, home) == Path("/local/earnest")
    assert user_folder("win32", {}, home) == home / "AppData/Local/earnest"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_help_has_an_example(command: object, capsys: pytest.CaptureFixture[str]) -> None:
    name = getattr(command, "name", "")
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"usage: earnest {name}" in shown and "example: " in shown and "earnest " + name in shown.partition("example: ")[2]


def test_a_fault_is_told_on_one_line_and_traced_on_request(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(*_: object) -> int:
        raise RuntimeError("some\nfault \x1b[31m")

    monkeypatch.setattr("earnest.cli.upkeep.version", broken)
    monkeypatch.delenv("EARNEST_DEBUG", raising=False)
    assert main(["version"]) == 70
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("earnest: this is a fault in Earnest: RuntimeError: some fault") and "EARNEST_DEBUG=1" in line
    monkeypatch.setenv("EARNEST_DEBUG", "1")
    with pytest.raises(RuntimeError):
        main(["version"])


def test_an_interrupt_is_quiet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("earnest.cli.upkeep.version", interrupted)
    assert main(["version"]) == 130
    assert capsys.readouterr().err == "earnest: interrupted\n"


def test_a_terminal_that_is_not_utf8_takes_what_it_can(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(["--help"]) == 0
    stream.flush()

"""The pages say what is so: links lead somewhere, names exist, tables agree with the code, and nothing is left out."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from earnest import Memory, errors
from earnest.cli.tables import COMMANDS
from earnest.core.entry import CAUSES, KINDS, ORIGINS, RETENTIONS, STANDINGS
from earnest.core.events import EVENT_KINDS
from earnest.core.settings import Settings, with_changes
from earnest.core.ticket import TIERS
from earnest.errors import EarnestError, InvalidInput
from tests.docs.pages import PAGES, ROOT, anchors, blocks, links, name_of, prose, read, rows, section, spans

DOCS: Final = ROOT / "docs"
PLACES: Final = ("src", "tests", "docs", "bench", "examples", "constraints", "scripts")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in links(page):
        assert "://" not in target, f"{name_of(page)} leads to another machine: {target}"
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{name_of(page)} links to {target}, which is not there"
        assert there.is_relative_to(ROOT)
        if anchor:
            assert anchor in anchors(there), f"{name_of(page)} links to {target}; there are {sorted(anchors(there))}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_path_that_is_named_is_there(page: Path) -> None:
    for span in spans(prose(page)):
        word = span.split(" ")[0]
        if re.fullmatch(rf"(?:{'|'.join(PLACES)})/[\w./-]*", word):
            assert (ROOT / word).exists(), f"{name_of(page)} names {word}, which is not there"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_page_names_a_machine(page: Path) -> None:
    text = read(page)
    assert not re.search(r"https?://", text)
    assert not re.search(r"(?<![\w.~-])/(?:work|root|home|tmp|opt|usr)/", text)


def test_every_page_is_reached_from_the_readme() -> None:
    linked = {(ROOT / target.partition("#")[0]).resolve() for target in links(ROOT / "README.md")}
    assert {page for page in PAGES if page.name != "README.md"} - linked == set()


def _commands_named(page: Path) -> set[str]:
    lines = [span for span in spans(prose(page)) if span.startswith("earnest ")]
    for block in blocks(page):
        if block.language in ("console", "sh"):
            lines += re.findall(r"(?:^\$ |\$\(|\| )(earnest .*)$", block.text, re.MULTILINE)
    names = set()
    for line in lines:
        words = re.sub(r"--(?:store|agent|timeout) \S+ ", "", line).split()
        if len(words) > 1 and re.fullmatch(r"[a-z][a-z-]*", words[1]):
            names.add(words[1])
    return names


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_that_is_named_exists(page: Path) -> None:
    assert _commands_named(page) - {command.name for command in COMMANDS} == set()


def test_the_main_commands_are_in_the_quickstart() -> None:
    wanted = {"encode", "query", "decide", "settle", "tick", "why", "list", "top", "stats", "doctor", "check", "backup", "pending"}
    assert wanted <= _commands_named(DOCS / "quickstart.md")


def test_every_extra_is_in_the_quickstart() -> None:
    said = {name for cells in rows(section(DOCS / "quickstart.md", "Install")) for name in spans(cells[0])}
    assert said == set(tomllib.loads(read(ROOT / "pyproject.toml"))["project"]["optional-dependencies"])


def test_the_layout_names_every_part_of_the_package() -> None:
    named = set(spans(section(ROOT / "CONTRIBUTING.md", "Layout")))
    parts = {path.parent.name for path in (ROOT / "src" / "earnest").glob("*/__init__.py")}
    assert {part for part in parts if not {f"{part}/", f"src/earnest/{part}/"} & named} == set()


# settings


def _settings_rows() -> dict[str, list[str]]:
    return {cells[0].strip("`"): cells for cells in rows(read(DOCS / "settings.md")) if len(cells) == 4}


def test_every_setting_is_documented_in_order_with_its_default() -> None:
    documented = {name: cells[1].strip("`") for name, cells in _settings_rows().items()}
    real = {field.name: str(field.default) for field in dataclasses.fields(Settings)}
    assert list(documented.items()) == list(real.items())


@pytest.mark.parametrize("field", dataclasses.fields(Settings), ids=lambda field: field.name)
def test_the_documented_range_is_the_one_that_is_checked(field: dataclasses.Field[Any]) -> None:
    allowed = _settings_rows()[field.name][2]
    numbers = re.match(r"([\d.]+) to ([\d.]+)", allowed)
    if numbers is None:
        for word in [] if field.name == "languages" else spans(allowed):
            assert getattr(with_changes(Settings(), {field.name: word}), field.name) == word
        with pytest.raises(InvalidInput):
            with_changes(Settings(), {field.name: "no such\nthing"})
        return
    kind = int if isinstance(field.default, int) else float
    low, high = kind(numbers[1]), kind(numbers[2])
    # The cap and the stake bound each other: give way with the other one.
    room = {"stake": {"cap": 1_000_000.0}, "cap": {"stake": 0.000001}}.get(field.name, {})
    for value in (low, high):
        assert getattr(with_changes(Settings(), {**room, field.name: value}), field.name) == value
    for value in (low - 1, high + 1):
        with pytest.raises(InvalidInput):
            with_changes(Settings(), {**room, field.name: value})


def test_every_setting_is_explained_below_the_table() -> None:
    below = read(DOCS / "settings.md").split("## Why these defaults")[1]
    explained = set(spans(below)) | {"rule", "default_retention", "embedder"}  # one value each, or explained by the table
    assert {field.name for field in dataclasses.fields(Settings)} <= explained


# errors


def _error_classes() -> dict[str, type[EarnestError]]:
    return {name: c for name, c in vars(errors).items() if inspect.isclass(c) and issubclass(c, EarnestError)}


def test_every_error_class_is_in_the_table_and_nothing_else() -> None:
    documented = [cells[0].strip("`") for cells in rows(read(DOCS / "errors.md"))]
    assert sorted([*documented, "EarnestError"]) == sorted(_error_classes())


def test_the_tree_of_errors_is_the_real_one() -> None:
    [tree] = [block.text for block in blocks(DOCS / "errors.md") if block.language == "text"]
    above: list[str] = []
    drawn: dict[str, str] = {}
    for line in tree.splitlines():
        match = re.fullmatch(r"(?P<stem>[│├└─ ]*)(?P<name>\w+)\s*(?:\((?P<builtin>\w+)\))?", line.rstrip())
        assert match, line
        depth = len(match["stem"]) // 4
        del above[depth:]
        drawn[match["name"]] = above[-1] if above else ""
        above.append(match["name"])
        if match["builtin"]:
            builtin = getattr(importlib.import_module("builtins"), match["builtin"])
            assert issubclass(_error_classes()[match["name"]], builtin)
    real = {name: next((b.__name__ for b in c.__bases__ if issubclass(b, EarnestError)), "") for name, c in _error_classes().items()}
    assert drawn == real


# names


@pytest.mark.parametrize(
    "module", ["earnest", "earnest.embedders", "earnest.encoding", "earnest.environments", "earnest.llms", "earnest.testing"]
)
def test_every_exported_name_is_documented_and_every_documented_one_exported(module: str) -> None:
    documented = {span for cells in rows(section(DOCS / "api.md", f"`{module}`")) for span in spans(cells[0])}
    assert documented == set(importlib.import_module(module).__all__)


def test_every_verb_of_memory_is_documented_and_every_documented_one_is_there() -> None:
    documented = {
        re.split(r"[(,]", span)[0] for cells in rows(section(DOCS / "api.md", "`Memory`")) for span in spans(cells[0])
    }  # fmt: skip
    public = {name for name, _ in inspect.getmembers(Memory) if not name.startswith("_")} | {"meters", "rules"}
    assert documented == public


def test_every_argument_that_the_table_of_verbs_names_is_real() -> None:
    for cells in rows(section(DOCS / "api.md", "`Memory`")):
        verbs = [re.split(r"[(,]", span)[0] for span in spans(cells[0])]
        if len(verbs) != 1 or verbs in (["meters"], ["rules"]):
            continue
        taken = inspect.signature(getattr(Memory, verbs[0])).parameters
        named = set(spans(cells[1].partition(". ")[2]))
        if not any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in taken.values()):
            assert named <= set(taken), f"{verbs[0]} takes no {sorted(named - set(taken))}"


def test_every_class_that_errors_and_the_glossary_need_is_a_word_of_the_code() -> None:
    words = {cells[0] for cells in rows(section(DOCS / "concepts.md", "The words"))}
    assert {"agent", "scope", "entry", "ticket", "settlement", "meter", "channel", "tier", "silence", "escrow", "tick", "posting"} <= words
    text = read(DOCS / "concepts.md")
    for word in (*KINDS, *ORIGINS, *RETENTIONS, *STANDINGS, *CAUSES, *TIERS):
        assert f"`{word}`" in text, f"concepts.md does not explain {word}"


# the store


def test_the_store_page_knows_every_kind_of_event() -> None:
    table = section(DOCS / "store-format.md", "The log and its chain")
    assert {span for cells in rows(table) for span in spans(cells[0])} == set(EVENT_KINDS)


def test_the_store_page_knows_every_table_view_and_view_column(tmp_path: Path) -> None:
    import sqlite3

    with Memory.open(tmp_path / "memory.db"):
        pass
    connection = sqlite3.connect(tmp_path / "memory.db")
    made = connection.execute("SELECT type, name FROM sqlite_schema WHERE type IN ('table', 'view')").fetchall()
    columns = {name for _, name, *_ in connection.execute("PRAGMA table_info(memory)").fetchall()}
    application, version = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    connection.close()
    page = DOCS / "store-format.md"
    tables = {name for kind, name in made if kind == "table" and not name.startswith(("sqlite_", "terms"))}
    assert {span for cells in rows(section(page, "Tables")) for span in spans(cells[0])} == tables
    views = {cells[0].strip("`"): cells[1] for cells in rows(section(page, "Views: what to rely on"))}
    assert set(views) == {name for kind, name in made if kind == "view"}
    assert set(spans(views["memory"])) == columns
    assert f"`0x{application:X}` ({application}," in read(page)
    assert f"describes format {version}." in read(page)


def test_every_counter_that_a_busy_store_keeps_is_documented() -> None:
    documented = {span for cells in rows(section(DOCS / "store-format.md", "Counters")) for span in spans(cells[0])}
    with Memory.open(":memory:") as memory:
        kept = memory.add("A cache file is safe to delete.")
        for delta in (1, -1, 0):
            ticket = memory.decide("Is a cache file safe to delete?")
            assert ticket.id is not None
            memory.settle(ticket.id, delta=delta)
            memory.settle(ticket.id, delta=delta)
        open_ticket = memory.decide("Is a cache file safe to delete?")
        assert open_ticket.id is not None
        memory.abandon(open_ticket.id)
        memory.decide("Is a cache file safe to delete?")
        for _ in range(2):
            memory.tick(expire_after=1)
        memory.decide("What is the wifi password?")
        memory.forget(kept.id)
        with memory._store.read() as reading:
            names = set(reading.totals())
    computed = {"energy", "accounts", "pinned", "pending", "oldest_pending", "scopes", "longest_runway", "rules"}  # made when asked for
    plain = {re.sub(r"^(dead|kind|account|tier):.*", lambda m: f"{m[1]}:{PARTS[m[1]]}", name) for name in names - computed}
    assert plain <= documented, sorted(plain - documented)


PARTS: Final = {"dead": "CAUSE", "kind": "KIND", "account": "NAME", "tier": "TIER"}


# promises


def test_every_promise_that_holds_names_a_test_file_that_is_there() -> None:
    page = DOCS / "promises.md"
    named = {span for span in spans(read(page)) if span.startswith("tests/")}
    assert named
    assert {name for name in named if not (ROOT / name).is_file()} == set()
    promises = [line for line in read(page).splitlines() if re.match(r"## \d\. ", line)]
    assert [line.split()[1] for line in promises] == [f"{number}." for number in range(1, 9)]

"""The dashboard's files and the codes that open it: whole, self-contained, and nothing in them that could turn text into markup."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

import earnest.dashboard
from earnest.core.entry import CAUSES, DEATHS
from earnest.core.events import EVENT_KINDS
from earnest.dashboard.files import pages
from earnest.http import pages as served
from earnest.http.pages import Codes
from earnest.testing import SeededRng

STATIC: Final = Path(earnest.dashboard.__file__).parent / "static"
FILES: Final = sorted(path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*") if path.is_file())
SCRIPTS: Final = [name for name in FILES if name.endswith(".js")]


def _text(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")


def test_every_file_is_served_and_nothing_else() -> None:
    assert sorted(pages()) == sorted(["/", *(f"/static/{name}" for name in FILES if name != "index.html")])
    assert pages()["/"].body == (STATIC / "index.html").read_bytes()
    assert {file.media.partition(";")[0] for file in pages().values()} == {"text/html", "text/css", "text/javascript", "image/svg+xml"}


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_import_leads_to_a_file_that_has_the_name(name: str) -> None:
    for names, target in re.findall(r"import (?:\* as \w+|\{([^}]*)\}) from \"([^\"]+)\"", _text(name)):
        found = (STATIC / name).parent / target
        assert found.is_file(), target
        exported = set(re.findall(r"export (?:async )?(?:function|const|class) (\w+)", found.read_text(encoding="utf-8")))
        for exported_names in re.findall(r"export \{([^}]*)\}", found.read_text(encoding="utf-8")):
            exported |= {part.strip() for part in exported_names.split(",")}
        wanted = {part.split(" as ")[0].strip() for part in names.split(",") if part.strip()}
        assert wanted <= exported, f"{target} has no {wanted - exported}"
        body = _text(name).partition(f'from "{target}"')[2]
        for used in (part.split(" as ")[-1].strip() for part in names.split(",") if part.strip()):
            assert re.search(rf"\b{used}\b", body), f"{used} is imported and not used"


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_script_makes_markup_or_code_of_text(name: str) -> None:
    forbidden = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|createContextualFragment|srcdoc|\.cookie"
    )
    assert not re.findall(forbidden, _text(name))


@pytest.mark.parametrize("name", FILES)
def test_no_file_names_another_machine(name: str) -> None:
    addresses = set(re.findall(r"\b(?:https?|wss?):[^\s\"'`)]*|(?<=[\"'(])//[^\s\"']+", _text(name)))
    assert addresses <= {"http://www.w3.org/2000/svg"}


def test_the_page_has_nothing_inline() -> None:
    page = _text("index.html")
    assert not re.findall(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)
    for address in re.findall(r"(?:href|src)=\"(/[^\"]*)\"", page):
        assert address in pages()


def test_the_words_are_those_of_the_ledger() -> None:
    told = _text("format.js")
    for cause in CAUSES:
        assert f'{cause}: "{DEATHS[cause]}"' in told
    named = set(re.findall(r"(\w+): \"", told.partition("export const EVENTS = {")[2].partition("};")[0]))
    assert named == set(EVENT_KINDS)


def test_a_code_is_good_once_and_for_five_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr("earnest.http.pages.time.monotonic", lambda: now)
    codes = Codes(SeededRng(1), "secret")
    first, second, third = codes.new(), codes.new(), codes.new()
    assert len({first, second, third}) == 3 and all(len(code) >= 22 for code in (first, second, third))
    assert codes.trade(first) == "secret" and codes.trade(first) is None
    now += served.LIFE - 1
    assert codes.trade(second) == "secret"
    now += 2
    assert codes.trade(third) is None


def test_only_so_many_codes_are_open_and_wrong_ones_close_them_all() -> None:
    codes = Codes(SeededRng(2), "secret")
    made = [codes.new() for _ in range(17)]
    assert codes.trade(made[0]) is None and codes.trade(made[1]) == "secret"
    for _ in range(served.PATIENCE):
        assert codes.trade("wrong") is None
    assert codes.trade(made[16]) is None
    assert codes.trade(codes.new()) == "secret"

"""Everything without a mouse, and said to those who do not see it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from tests.browser.conftest import Service, Watched

Opened = Callable[..., Watched]


def _focused(watched: Watched) -> str:
    said: str = watched.page.evaluate(
        "(() => { const n = document.activeElement; return n.getAttribute('aria-label') || n.textContent.trim() || n.tagName; })()"
    )
    return said


def _tab_to(watched: Watched, wanted: str, *, most: int = 60, back: bool = False) -> None:
    """Presses Tab until the wanted thing has the focus, which must be visible all the way."""
    for _ in range(most):
        watched.page.keyboard.press("Shift+Tab" if back else "Tab")
        ringed = watched.page.evaluate(
            "(() => { const n = document.activeElement, ring = (e) => e && getComputedStyle(e).outlineStyle !== 'none';"
            " return n === document.body || ring(n) || ring(n.closest('.row')); })()"
        )
        assert ringed, f"the focus on {_focused(watched)!r} cannot be seen"
        if _focused(watched).startswith(wanted):
            return
    raise AssertionError(f"{wanted!r} was not reached in {most} steps; the focus is on {_focused(watched)!r}")


def test_an_entry_is_found_pinned_and_unpinned_with_keys_alone(service: Service, opened: Opened) -> None:
    watched = opened(service)
    page, keyboard = watched.page, watched.page.keyboard
    _tab_to(watched, "Skip to the content", most=1)
    assert page.locator(".skip").bounding_box()["y"] >= 0  # type: ignore[index]
    keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    # Along the views to the entries: the heading takes the focus, so that it is read out.
    _tab_to(watched, "Entries", back=True)
    keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('Living entries')")
    watched.settled()
    assert _focused(watched) == "Living entries"
    # A search is typed, the first hit opened.
    with service.memory() as memory:
        entry = memory.survey(order="richest")[0].entry
    _tab_to(watched, "INPUT")
    keyboard.type(entry.text)
    keyboard.press("Enter")
    page.wait_for_selector("main .chip:has-text('relevance')")
    _tab_to(watched, entry.text)
    keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('Entry')")
    watched.settled()
    assert _focused(watched) == "Entry"
    # The dialog takes the focus, keeps it, and gives it back.
    _tab_to(watched, "Pin", most=3)
    keyboard.press("Enter")
    page.wait_for_selector("dialog[open]")
    assert _focused(watched) == "Pin" and page.evaluate("document.activeElement.closest('dialog') !== null")
    for _ in range(6):
        keyboard.press("Tab")
        assert page.evaluate("document.activeElement === document.body || document.activeElement.closest('dialog') !== null")
    keyboard.press("Escape")
    watched.until("document.querySelector('dialog') === null")
    assert _focused(watched) == "Pin" and page.evaluate("document.activeElement.closest('main') !== null")
    keyboard.press("Enter")
    page.wait_for_selector("dialog[open]")
    keyboard.press("Enter")
    page.wait_for_selector(".toast")
    watched.settled()
    with service.memory() as memory:
        assert memory.get(entry.id).pinned
        # What was done can be taken back from the keyboard, and is said aloud.
        assert page.locator("#toasts[role=status][aria-live=polite]").count() == 1
        _tab_to(watched, "Undo", most=200)
        keyboard.press("Enter")
        watched.until("[...document.querySelectorAll('.toast')].some((one) => one.textContent.includes('taken away'))")
        assert not memory.get(entry.id).pinned
    watched.unblemished()


def test_more_of_a_list_is_read_and_the_focus_goes_on_there(service: Service, opened: Opened) -> None:
    watched = opened(service)
    page = watched.go("entries?order=oldest")
    page.get_by_role("button", name="Show more").focus()
    page.keyboard.press("Enter")
    watched.until("document.querySelectorAll('main .list > li').length === 100")
    watched.until("document.querySelectorAll('main .list > li')[50].contains(document.activeElement)")
    watched.until("document.getElementById('announcer').textContent === '100 shown'")


def test_landmarks_and_headings_tell_where_one_is(service: Service, opened: Opened) -> None:
    watched = opened(service)
    page = watched.page
    for role, least in (("banner", 1), ("navigation", 1), ("main", 1)):
        assert page.get_by_role(role).count() >= least, role  # type: ignore[arg-type]
    for view in ("", "entries", "meters", "events"):
        watched.go(view)
        levels = page.evaluate("[...document.querySelectorAll('main h1, main h2, main h3')].map((one) => Number(one.tagName[1]))")
        assert levels[0] == 1 and levels.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels)), (view, levels)
        assert page.title().endswith("Earnest")
        assert page.locator("#rail a[aria-current=page]").count() == 1

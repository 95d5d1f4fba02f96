"""Everything that a person can do: it says what follows before, happens in the store, is marked as theirs, and can be taken back."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page

from earnest.memory import Memory
from tests.browser.conftest import Service, Watched, serving

Opened = Callable[..., Watched]


def _dialog(page: Page, button: str) -> str:
    """Presses a button that opens a dialog; returns what the dialog says will follow."""
    page.locator("main").get_by_role("button", name=button, exact=True).first.click()
    page.wait_for_selector("dialog[open]")
    return page.locator("dialog .notice").inner_text()


def _carry_out(watched: Watched) -> str:
    """Sends the dialog; returns what is said afterwards."""
    page = watched.page
    page.locator("dialog button[type=submit]").click()
    page.wait_for_selector(".toast")
    watched.until("document.querySelector('dialog') === null")
    watched.settled()
    return page.locator(".toast span").last.inner_text()


def _undo(watched: Watched) -> str:
    page = watched.page
    before = page.locator(".toast span").last.inner_text()
    page.locator(".toast").last.get_by_role("button", name="Undo").click()
    watched.until(f"[...document.querySelectorAll('.toast span')].pop()?.textContent !== {before!r}")
    watched.settled()
    return page.locator(".toast span").last.inner_text()


def _last(memory: Memory, kind: str) -> tuple[str, str]:
    """Who did the last thing of a kind, and by which channel."""
    [event] = memory.events(kind=kind, newest=True, limit=1)
    return event.actor, event.channel


def test_an_entry_is_pinned_and_unpinned(service: Service, opened: Opened) -> None:
    watched = opened(service)
    with service.memory() as memory:
        id = memory.survey(order="richest")[0].entry.id
        page = watched.go(f"entry/{id}")
        assert "still pays rent" in _dialog(page, "Pin")
        assert _carry_out(watched) == "Pinned."
        assert memory.get(id).pinned and _last(memory, "pin") == ("operator", "dashboard")
        assert page.locator("main").get_by_text("pinned", exact=True).first.is_visible()
        # What is pinned cannot be forgotten, and the page knows.
        assert page.get_by_role("button", name="Forget").is_disabled()
        _undo(watched)
        assert not memory.get(id).pinned
        _dialog(page, "Pin")
        _carry_out(watched)
        assert "lives from what it earns" in _dialog(page, "Unpin")
        _carry_out(watched)
        assert not memory.get(id).pinned
        _undo(watched)
        assert memory.get(id).pinned
    watched.unblemished()


def test_an_entry_is_forgotten_and_comes_back(service: Service, opened: Opened) -> None:
    watched = opened(service)
    with service.memory() as memory:
        entry = memory.survey(order="richest", tags="hostile")[0].entry
        page = watched.go(f"entry/{entry.id}")
        assert "Restoring" in _dialog(page, "Forget") or "restored" in page.locator("dialog .notice").inner_text()
        page.get_by_label("Why").fill("no use")
        _carry_out(watched)
        dead = memory.get(entry.id)
        assert dead.cause == "forgotten" and memory.events(entry=entry.id, kind="forget")[0].note == "no use"
        assert page.locator("main").get_by_text("Dead, forgotten", exact=True).is_visible()
        _undo(watched)
        assert memory.get(entry.id).standing == "active" and memory.get(entry.id).balance == entry.balance
    watched.unblemished()


def test_a_dead_entry_is_restored_from_the_graveyard(service: Service, opened: Opened) -> None:
    watched = opened(service)
    with service.memory() as memory:
        id = memory.survey(order="ended", cause="starved")[0].entry.id
        page = watched.go("graveyard?cause=starved")
        assert "fresh stake" in _dialog(page, "Restore")
        _carry_out(watched)
        assert memory.get(id).standing == "active" and _last(memory, "restore") == ("operator", "dashboard")
        _undo(watched)
        assert memory.get(id).cause == "starved"
        # An executed one comes back with a warning.
        watched.go("graveyard?cause=executed")
        assert "measured harm" in _dialog(page, "Restore")
        page.locator("dialog").get_by_role("button", name="Cancel").click()
    watched.unblemished()


def test_an_entry_is_added_and_a_twin_is_joined(service: Service, opened: Opened) -> None:
    watched = opened(service)
    page = watched.go("entries")
    text = "Invoices of customer 9 are paid on the last Friday."
    with service.memory() as memory:
        before = memory.stats().total
        assert "no evidence" in _dialog(page, "Add an entry")
        # Nothing is sent as long as something is missing.
        page.locator("dialog button[type=submit]").click()
        assert page.locator("dialog[open]").is_visible()
        page.get_by_label("What it says").fill(text)
        page.get_by_label("The question that it answers").fill("When are invoices of customer 9 paid?")
        page.locator("dialog").get_by_label("Scope").fill("alice")
        page.locator("dialog").get_by_label("Kind").select_option("procedural")
        assert "Added" in _carry_out(watched)
        made = memory.survey(order="newest", limit=1)[0].entry
        assert (made.text, made.scope, made.kind, made.sources) == (text, "alice", "procedural", ("operator",))
        assert page.locator("main .says a").first.inner_text() == text
        _dialog(page, "Add an entry")
        page.get_by_label("What it says").fill(text)
        page.get_by_label("The question that it answers").fill("When are invoices of customer 9 paid?")
        page.locator("dialog").get_by_label("Scope").fill("alice")
        page.locator("dialog").get_by_label("Kind").select_option("procedural")
        page.locator("dialog").get_by_label("Source").fill("second hand")
        assert "Already known" in _carry_out(watched)
        assert memory.stats().total == before + 1
        assert memory.get(made.id).sources == ("operator", "second hand")
        page.locator(".toast").first.get_by_role("button", name="Undo").click()
        watched.until("[...document.querySelectorAll('.toast')].some((one) => one.textContent.includes('Buried'))")
        assert memory.get(made.id).cause == "forgotten"
    watched.unblemished()


def test_time_is_advanced_by_hand(service: Service, opened: Opened) -> None:
    watched = opened(service)
    page = watched.go("")
    with service.memory() as memory:
        tick = memory.stats().tick
        said = _dialog(page, "Advance one tick")
        assert "Rent of 0.02" in said and "cannot be taken back" in said
        assert f"Tick {tick + 1}" in _carry_out(watched)
        assert memory.stats().tick == tick + 1 and _last(memory, "tick") == ("operator", "dashboard")
    assert f"tick {tick + 1}" in page.locator(".lead").first.inner_text()
    watched.unblemished()


def test_a_settlement_by_hand_is_the_operators_and_marked(service: Service, opened: Opened) -> None:
    watched = opened(service)
    with service.memory() as memory:
        before = len(memory.pending())
        ticket = next(one for one in memory.pending() if one.deciding is not None)
        assert ticket.deciding is not None
        page = watched.go("tickets")
        row = page.locator("main li", has_text=ticket.id)
        row.get_by_role("button", name="Settle").click()
        said = page.locator("dialog .notice").inner_text()
        assert "operator, not measured" in said and "cannot be taken back" in said
        # A delta that is no number is refused, with the way out, and the ticket stays open.
        page.get_by_label("Delta").fill("much")
        page.locator("dialog button[type=submit]").click()
        assert "no number" in page.locator("dialog .wrong").inner_text()
        assert len(memory.pending()) == before
        page.get_by_label("Delta").fill("−2,048")
        page.get_by_label("Meter").fill("disk")
        page.get_by_label("Was anything done").select_option("yes")
        page.get_by_label("Remark").fill("seen with my own eyes")
        assert "−2,048 by disk (operator)" in _carry_out(watched)
        [event] = memory.events(kind="settle", newest=True, limit=1)
        assert event.ticket == ticket.id and event.data["delta"] == -2048 and event.data["tier"] == "operator"
        assert (event.actor, event.channel) == ("operator", "dashboard")
        assert len(memory.pending()) == before - 1
    for view in (f"entry/{ticket.deciding}", "events?kind=settle", "meters"):
        watched.go(view)
        assert page.locator("main .chip.operator, main .notice.warn").first.is_visible(), view
    watched.unblemished()


def test_a_ticket_that_somebody_else_settled_is_said_to_be_settled(service: Service, opened: Opened) -> None:
    watched = opened(service)
    page = watched.go("tickets")
    with service.memory() as memory:
        ticket = memory.pending()[0]
        page.locator("main li", has_text=ticket.id).get_by_role("button", name="Settle").click()
        memory.settle(ticket.id, delta=1, meter="disk")
    page.get_by_label("Delta").fill("5")
    page.locator("dialog button[type=submit]").click()
    watched.until("document.querySelector('dialog .wrong').textContent !== ''")
    assert "settled" in page.locator("dialog .wrong").inner_text()


def test_a_ticket_is_abandoned(service: Service, opened: Opened) -> None:
    watched = opened(service)
    page = watched.go("tickets")
    with service.memory() as memory:
        ticket = memory.pending()[0]
        page.locator("main li", has_text=ticket.id).get_by_role("button", name="Abandon").click()
        assert "not the same as zero" in page.locator("dialog .notice").inner_text()
        page.get_by_label("Why").fill("nobody looked")
        assert _carry_out(watched) == "Abandoned."
        assert ticket.id not in [one.id for one in memory.pending()]
        assert memory.events(kind="abandon", newest=True, limit=1)[0].note == "nobody looked"
    assert page.locator("main li", has_text=ticket.id).count() == 0
    watched.unblemished()


def test_a_rule_is_proposed_tried_accepted_and_rejected(service: Service, opened: Opened) -> None:
    watched = opened(service)
    page = watched.go("rules")
    with service.memory() as memory:
        assert "shown to nobody" in _dialog(page, "Propose a rule")
        page.get_by_label("When it applies").fill("restart the message queue")
        page.get_by_label("What to do then").fill("Drain it first.")
        page.locator("dialog").get_by_label("Scope").fill("alice")
        assert _carry_out(watched) == "Proposed."
        made = memory.rules.list(scope="alice")[-1]
        assert (made.trigger, made.action, made.status) == ("restart the message queue", "Drain it first.", "pending")
        row = page.locator("main li", has_text="Drain it first.")
        row.get_by_role("button", name="Try it").click()
        page.get_by_label("Settled decisions").fill("60")
        assert "random half" in page.locator("dialog .notice").inner_text()
        assert _carry_out(watched) == "The trial has begun."
        trial = memory.rules.get(made.id).trial
        assert memory.rules.get(made.id).status == "trial" and trial is not None and trial.terms.decisions == 60
        _undo(watched)
        assert memory.rules.get(made.id).status == "pending"
        row.get_by_role("button", name="Accept").click()
        assert "You answer for it" in page.locator("dialog .notice").inner_text()
        page.get_by_label("Why").fill("seen it happen")
        assert _carry_out(watched) == "Accepted."
        assert memory.rules.get(made.id).status == "active" and "operator over dashboard" in memory.rules.get(made.id).by
        _undo(watched)
        assert memory.rules.get(made.id).status == "pending"
        row.get_by_role("button", name="Reject").click()
        assert _carry_out(watched) == "Rejected."
        assert memory.rules.get(made.id).status == "rejected"
    assert row.get_by_role("button").count() == 0
    watched.unblemished()


def test_somebody_vouches_for_an_entry_that_waits(service: Service, opened: Opened) -> None:
    watched = opened(service)
    with service.memory() as memory:
        card = next(card for card in memory.survey(tags="hostile", limit=100) if card.probation > 0)
        page = watched.go(f"entry/{card.entry.id}")
        assert "you answer for it" in _dialog(page, "Vouch")
        assert _carry_out(watched) == "It may decide now."
        assert memory.card(card.entry.id).probation == 0 and _last(memory, "vouch") == ("operator", "dashboard")
        assert page.get_by_role("button", name="Vouch").count() == 0
        _undo(watched)
        assert memory.card(card.entry.id).probation == card.probation
    watched.unblemished()


def test_an_opinion_changes_numbers_that_show(service: Service, opened: Opened) -> None:
    watched = opened(service)
    with service.memory() as memory:
        entry = memory.survey(order="richest")[0].entry
        page = watched.go(f"entry/{entry.id}")
        assert "no evidence, no balance" in _dialog(page, "Opinion")
        page.get_by_label("What do you think").select_option("unhelpful")
        assert "Taken down" in _carry_out(watched)
        after = memory.get(entry.id).importance
        assert after < entry.importance
        assert page.locator("dl.pairs").get_by_text(str(after), exact=True).is_visible()
        _undo(watched)
        assert memory.get(entry.id).importance == entry.importance
    watched.unblemished()


def test_what_the_store_refuses_is_said_in_the_dialog(service: Service, opened: Opened) -> None:
    watched = opened(service)
    with service.memory() as memory:
        id = memory.survey(order="richest", tags="hostile")[0].entry.id
        page = watched.go(f"entry/{id}")
        _dialog(page, "Forget")
        # Somebody else was faster.
        memory.pin(id)
        page.locator("dialog button[type=submit]").click()
        watched.until("document.querySelector('dialog .wrong').textContent !== ''")
        assert "pinned" in page.locator("dialog .wrong").inner_text()
        assert memory.get(id).standing == "active"


def test_a_tab_learns_that_something_changed_and_keeps_what_is_read(service: Service, opened: Opened) -> None:
    watched = opened(service)
    page = watched.go("entries")
    first = page.locator("main .says a").first.inner_text()
    with service.memory() as memory:
        memory.add("Something that another process wrote down.")
    fresh = page.get_by_role("button", name="Something changed")
    fresh.wait_for(timeout=20_000)
    assert page.locator("main .says a").first.inner_text() == first
    fresh.click()
    watched.until("document.querySelector('main .says a')?.textContent.startsWith('Something that another')")
    assert not fresh.is_visible()


def test_who_may_only_read_is_not_offered_to_write(store: Path, opened: Opened) -> None:
    with serving(store, "--read-only") as service:
        watched = opened(service)
        with service.memory() as memory:
            id = memory.top(1)[0].id
        for view in ("", "entries", f"entry/{id}", "tickets", "graveyard"):
            page = watched.go(view)
            names = [name.strip() for name in page.locator("main button").all_inner_texts()]
            assert not [
                name for name in names if re.fullmatch(r"Add an entry|Advance one tick|Pin|Unpin|Forget|Restore|Settle|Abandon", name)
            ]
        watched.unblemished()


def test_two_entries_are_linked_and_the_link_is_cut_each_with_a_way_back(service: Service, opened: Opened) -> None:
    watched = opened(service)
    with service.memory() as memory:
        one, other = (card.entry for card in memory.survey(order="oldest", scope="bob", limit=2))
        elsewhere = memory.survey(order="oldest", scope="alice", limit=1)[0].entry
        page = watched.go(f"graph/{one.id}")
        assert page.get_by_text("It is linked with nothing").is_visible()
        assert "does not fade" in _dialog(page, "Link with another")
        watched.accessible("the dialog that links")
        # Nothing is sent as long as none is chosen.
        page.locator("dialog button[type=submit]").click()
        watched.until("document.querySelector('dialog .wrong').textContent.includes('No other entry is chosen')")
        # What lies in another scope is not offered: links never cross scopes.
        page.get_by_label("The other entry").fill(elsewhere.text)
        watched.until("/found/.test(document.querySelector('dialog .field [role=status]').textContent)")
        assert elsewhere.text not in page.locator("dialog .choices").inner_text()
        page.get_by_label("The other entry").fill(other.text)
        page.locator("dialog .choice", has_text=other.text).locator("input").check()
        page.get_by_label("Kind").select_option("entity")
        page.get_by_label("Weight").fill("0.5")
        page.get_by_label("Why").fill("one cluster")
        assert "Linked with" in _carry_out(watched)
        [made] = memory.related(one.id)
        assert (made.entry.id, made.kind, made.reason) == (other.id, "entity", "one cluster")
        assert _last(memory, "link") == ("operator", "dashboard")
        assert page.locator("main .list > li").count() == 1
        assert _undo(watched) == "The link is as it was before."
        assert memory.related(one.id) == []
        # By its id as well, which is the only choice then.
        _dialog(page, "Link with another")
        page.get_by_label("The other entry").fill(other.id)
        page.locator("dialog .choice").first.wait_for()
        watched.until("document.querySelectorAll('dialog .choice input:checked').length === 1")
        _carry_out(watched)
        assert [found.entry.id for found in memory.related(one.id)] == [other.id]
        assert "Both entries stay" in _dialog(page, "Cut")
        assert "1 link cut" in _carry_out(watched)
        assert memory.related(one.id) == []
        _undo(watched)
        assert [found.kind for found in memory.related(one.id)] == ["related"]
    watched.unblemished()

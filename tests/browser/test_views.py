"""Every view, in every look: it is there, says what it should, complains of nothing, and can be used by everybody."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from earnest.core.amounts import shown_energy
from earnest.core.filters import ALL
from earnest.memory import Memory
from tests.browser.conftest import Service, Watched, serving

Shared = Callable[[], tuple[Service, str]]
Opened = Callable[..., Watched]

VIEWS: Final = {
    "": "Overview", "entries": "Living entries", "tickets": "Open tickets", "graveyard": "Graveyard", "rules": "Rules", "meters": "Meters",
    "uplift": "Uplift", "energy": "Energy", "events": "Events",
}  # fmt: skip
LOOKS: Final = {"light": ("light", 1280), "dark": ("dark", 1280), "phone": ("light", 360)}


def _entries(service: Service) -> dict[str, str]:
    """An entry of every sort that has a page of its own."""
    with service.memory() as memory:
        rich = memory.top(1)[0].id
        return {
            "rich": rich,
            "pinned": memory.survey(pinned=True)[0].entry.id,
            "suspended": memory.survey(standing="suspended")[0].entry.id,
            "executed": memory.survey(cause="executed")[0].entry.id,
            "merged": memory.survey(cause="merged")[0].entry.id,
            "hostile": memory.survey(tags="hostile")[0].entry.id,
        }


@pytest.mark.parametrize("look", LOOKS)
def test_every_view_is_sound_in_every_look(shared: Shared, opened: Opened, look: str) -> None:
    service, token = shared()
    scheme, width = LOOKS[look]
    watched = opened(service, token=token, scheme=scheme, width=width)
    ids = _entries(service)
    for view, title in [*VIEWS.items(), *((f"entry/{id}", "Entry") for id in ids.values()), (f"graph/{ids['pinned']}", "Links")]:
        page = watched.go(view)
        assert page.locator("main h1").inner_text() == title
        watched.accessible(f"{view} in {look}")
        wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1], f"{view} is {wide[0]} wide in a window of {wide[1]}"
    watched.unblemished()


def test_the_overview_has_the_numbers_of_the_store(shared: Shared, opened: Opened) -> None:
    service, token = shared()
    page = opened(service, token=token).go("")
    with service.memory() as memory:
        stats = memory.stats()
        uplift = memory.uplift("disk")
    tiles = dict(zip(page.locator(".tile .name").all_inner_texts(), page.locator(".tile .value").all_inner_texts(), strict=True))
    assert tiles["Living entries"] == f"{stats.alive + stats.suspended - stats.by_kind['rule']:,}"
    assert tiles["Dead"] == f"{stats.dead:,}"
    assert tiles["Open tickets"] == str(stats.pending)
    assert uplift.effect is not None
    assert tiles["Uplift"] == f"{uplift.effect:+.2f}".rstrip("0")
    # Energy and resources never stand in one sum.
    assert tiles["Energy held"] == f"{stats.energy / 1_000_000:,.1f}"
    assert "bytes" in page.locator("section", has_text="Settled value").first.inner_text()


def test_the_overview_shows_its_figures_before_the_doctor_is_done_and_asks_it_once(shared: Shared, opened: Opened) -> None:
    service, token = shared()
    watched = opened(service, token=token)
    asked: list[str] = []
    held: list[Any] = []
    watched.page.on("request", lambda request: asked.append(urlsplit(request.url).path.rpartition("/")[2]))
    watched.page.route("**/doctor", lambda route: held.append(route))
    watched.page.reload()
    watched.until("document.querySelectorAll('main .tile').length === 6")
    doctor = watched.page.locator("main section", has=watched.page.get_by_role("heading", name="What doctor found"))
    assert doctor.get_by_role("status").is_visible()
    assert asked.index("stats") < asked.index("balances") < asked.index("doctor")
    for route in held:
        route.continue_()
    watched.settled()
    with service.memory() as memory:
        said = memory.doctor().findings
    assert doctor.locator(".finding strong").all_inner_texts() == [one.summary for one in said]
    assert asked.count("doctor") == 1
    # Nothing happened meanwhile, so that what it said is still true.
    watched.go("meters")
    watched.go("")
    assert asked.count("doctor") == 1
    assert doctor.locator(".finding").count() == len(said)
    watched.unblemished()


def test_a_view_that_is_named_before_the_agent_is_known_is_shown_when_it_is(shared: Shared, opened: Opened) -> None:
    service, token = shared()
    watched = opened(service, token=token)
    held: list[Any] = []
    watched.page.route("**/v1/agents", lambda route: held.append(route))
    watched.page.reload()
    while not held:
        watched.page.wait_for_timeout(20)
    watched.page.evaluate("location.hash = '#/meters'")
    watched.page.wait_for_timeout(100)
    for route in held:
        route.continue_()
    watched.page.wait_for_selector("main h1:has-text('Meters')")
    watched.settled()
    watched.unblemished()


def test_every_chart_has_a_sentence_and_a_table(shared: Shared, opened: Opened) -> None:
    service, token = shared()
    watched = opened(service, token=token)
    ids = _entries(service)
    for view, least in (("", 4), ("uplift", 1), ("energy", 1), (f"entry/{ids['rich']}", 1)):
        page = watched.go(view)
        charts = page.locator("figure")
        assert charts.count() >= least
        for place in range(charts.count()):
            chart = charts.nth(place)
            assert len(chart.locator("svg[role=img]").get_attribute("aria-label") or "") > 20
            chart.locator("summary").click()
            chart.locator("tbody tr").first.wait_for()
    with service.memory() as memory:
        points = memory.history().points
    page = watched.go("energy")
    page.locator("figure summary").click()
    rows = page.locator("figure tbody tr")
    rows.first.wait_for()
    assert rows.count() == len(points)
    assert rows.first.inner_text().split("\t")[1] == shown_energy(points[0].energy)


def test_entries_go_on_by_pages_and_obey_their_filters(shared: Shared, opened: Opened) -> None:
    service, token = shared()
    watched = opened(service, token=token)
    page = watched.go("entries?order=oldest")
    assert page.locator("main li").count() == 50
    page.get_by_role("button", name="Show more").click()
    watched.until("document.querySelectorAll('main .list > li').length === 100")
    with service.memory() as memory:
        expected = [card.entry.text for card in memory.survey(order="oldest", limit=100)]
        texts = page.locator("main .says a").all_inner_texts()
        assert texts == [" ".join(text.split()) for text in expected]
        page.get_by_label("Scope").select_option("alice")
        watched.until("document.querySelectorAll('main .list > li').length === 50")
        watched.settled()
        assert page.locator("main .says a").first.inner_text() == memory.survey(order="oldest", scope="alice")[0].entry.text
        page.get_by_label("Standing").select_option("suspended")
        page.get_by_label("Scope").select_option("")
        suspended = [card.entry.text for card in memory.survey(order="oldest", standing="suspended")]
        watched.until(f"document.querySelectorAll('main .list > li').length === {len(suspended)}")
        assert page.locator("main li .chip", has_text="suspended").count() == len(suspended)
    watched.unblemished()


def test_on_a_phone_the_filters_are_folded_away_until_one_wants_them(shared: Shared, opened: Opened) -> None:
    service, token = shared()
    watched = opened(service, token=token, width=360)
    page = watched.go("entries")
    assert not page.get_by_label("Scope").is_visible()
    page.locator("main summary", has_text="Filters").click()
    page.get_by_label("Scope").select_option("alice")
    watched.until("location.hash.includes('scope=alice')")
    watched.settled()
    # Whoever comes by an address with a filter in it sees which.
    page.reload()
    watched.settled()
    assert page.get_by_label("Scope").input_value() == "alice" and page.get_by_label("Scope").is_visible()
    page.set_viewport_size({"width": 1280, "height": 900})
    assert page.get_by_label("Source").is_visible() and not page.locator("main summary", has_text="Filters").is_visible()
    watched.unblemished()


def test_a_search_finds_one_entry_among_ten_thousand(shared: Shared, opened: Opened) -> None:
    service, token = shared()
    watched = opened(service, token=token)
    page = watched.go("entries")
    with service.memory() as memory:
        wanted = memory.survey(order="oldest", scope="bob", limit=300)[-1].entry
        best = memory.search(wanted.text, k=1, scope=ALL)[0]
        assert best.entry.id == wanted.id
    page.get_by_label("Search").fill(wanted.text)
    page.keyboard.press("Enter")
    page.wait_for_selector("main .chip:has-text('relevance')")
    assert page.locator("main .says a").first.inner_text() == wanted.text
    page.locator("main .says a").first.click()
    page.wait_for_selector("h1:has-text('Entry')")
    watched.settled()
    assert wanted.text in page.locator(".text").inner_text()
    # The way back shows the same list again.
    page.go_back()
    page.wait_for_selector("main .chip:has-text('relevance')")
    assert page.get_by_label("Search").input_value() == wanted.text
    watched.unblemished()


def test_a_life_tells_all_that_happened(shared: Shared, opened: Opened) -> None:
    service, token = shared()
    watched = opened(service, token=token)
    with service.memory() as memory:
        id = memory.top(1)[0].id
        life = memory.life(id)
    page = watched.go(f"entry/{id}")
    assert page.locator("section", has=page.get_by_role("heading", name="Settlements")).locator("tbody tr").count() == len(life.verdicts)
    # The first one is what was believed before anything was measured.
    assert page.locator(".chart .dot").count() == len(life.judged) + 1
    assert page.locator(".story").inner_text().split() == life.story.split()
    assert page.locator("main").get_by_text(shown_energy(life.card.entry.balance)).first.is_visible()


def test_what_was_not_measured_is_marked_wherever_it_shows(shared: Shared, opened: Opened) -> None:
    service, token = shared()
    watched = opened(service, token=token)
    with service.memory() as memory:
        typed = [event for event in memory.events(kind="settle", newest=True, limit=5) if event.data["tier"] != "measured"]
        entry = typed[0].entries[0]
    assert {event.data["tier"] for event in typed} == {"operator", "claimed"}
    for view, marks in (
        ("", ["2 not measured"]), ("meters", ["typed by operator", "claimed", "2 settlements"]),
        ("uplift", ["1 typed by operator", "1 claimed"]),
        ("events?kind=settle", ["typed by operator", "claimed"]), (f"entry/{entry}", ["typed by operator"]),
    ):  # fmt: skip
        page = watched.go(view)
        for mark in marks:
            assert page.locator("main").get_by_text(mark).first.is_visible(), f"{view or 'overview'} does not show {mark!r}"


def test_links_are_a_picture_and_a_list(shared: Shared, opened: Opened) -> None:
    service, token = shared()
    watched = opened(service, token=token)
    with service.memory() as memory:
        id = memory.survey(pinned=True)[0].entry.id
        related = memory.related(id, 35)
    assert {one.kind for one in related} == {"related", "semantic", "entity", "temporal"}
    page = watched.go(f"graph/{id}")
    assert page.locator("svg.graph circle").count() == len(related) + 1
    assert page.locator("svg.graph line").count() >= len(related) + 1
    assert sorted(page.locator("main .says a").all_inner_texts()) == sorted(one.entry.text for one in related)
    places = [page.locator("svg.graph circle").nth(n).bounding_box() for n in range(len(related) + 1)]
    again = watched.go(f"graph/{id}")
    assert [again.locator("svg.graph circle").nth(n).bounding_box() for n in range(len(related) + 1)] == places
    page.locator("svg.graph a").nth(1).click()
    page.wait_for_selector("h1:has-text('Entry')")


def test_rules_are_shown_with_their_status_and_trial(shared: Shared, opened: Opened) -> None:
    service, token = shared()
    watched = opened(service, token=token)
    page = watched.go("rules")
    with service.memory() as memory:
        rules = memory.rules.list(scope=ALL)
    assert page.locator("main .says a").all_inner_texts() == [rule.action for rule in rules]
    assert page.locator("main").get_by_text("Trial 1: 0 of 50 outcomes").is_visible()
    assert page.locator("main").get_by_text("agreed in the retrospective").is_visible()
    page.get_by_role("link", name="On trial").click()
    watched.until("document.querySelectorAll('main .list > li').length === 1")


def test_events_can_be_looked_at_for_one_entry_or_kind(shared: Shared, opened: Opened) -> None:
    service, token = shared()
    watched = opened(service, token=token)
    with service.memory() as memory:
        id = memory.top(1)[0].id
        of_entry = memory.events(entry=id, limit=1_000)
        settled = memory.events(entry=id, kind="settle", limit=1_000)
    page = watched.go(f"events?entry={id}")
    assert page.locator("main tbody tr").count() == min(100, len(of_entry))
    page.locator("main").get_by_label("Kind").select_option("settle")
    watched.until(f"document.querySelectorAll('main tbody tr').length === {len(settled)}")
    assert page.locator("main tbody tr th a").all_inner_texts() == ["settled"] * len(settled)
    page = watched.go("events?entry=nobody")
    assert "nobody" in page.locator("main [role=alert]").inner_text()


def test_an_empty_memory_teaches_how_to_begin(opened: Opened, tmp_path: Any) -> None:
    Memory.open(tmp_path / "memory.db").close()
    with serving(tmp_path / "memory.db") as service:
        watched = opened(service)
        for view, taught in (
            ("", "earnest encode"), ("entries", "earnest encode"), ("tickets", "earnest decide"),
            ("graveyard", "Nobody died yet"), ("meters", "earnest meters add"),
            ("uplift", "earnest config holdout"), ("events", "store made"), ("energy", "Time has not moved yet"),
            ("rules", "earnest rules add"),
        ):  # fmt: skip
            page = watched.go(view)
            assert page.locator("main").get_by_text(taught).locator("visible=true").count() > 0, view
            watched.accessible(f"{view or 'overview'}, empty")
        watched.unblemished()


def _odd(path: Path) -> str:
    """A store in which whatever has a name has a long one, and amounts are huge or tiny; returns an entry that was settled."""
    with Memory.open(path, embedder="none") as memory:
        memory.meters.add("disk-" + "q" * 90, unit="bytes-" + "u" * 20, scale=1e-9)
        memory.add(
            "Versicherung" * 80 + " word" * 900, cue="What " + "very long question " * 90 + "?", sources=["s" * 480, "w" * 300],
            scope="project/" + "x" * 300, tags=["t" * 90], metadata={"k" * 80: "v" * 300},
        )  # fmt: skip
        memory.rules.add("avoid", trigger="when " + "trigger " * 30, action="do " + "something " * 50)
        settled = memory.add("Tiny effects happen in the cache folder.")
        for delta in (1e15, -3.2e14, 1e-9):
            ticket = memory.decide("Do tiny effects happen in the cache folder?")
            if ticket.id is not None:
                memory.settle(ticket.id, delta=delta, meter="disk-" + "q" * 90, detail="a remark " * 200)
            memory.tick()
    return settled.id


@pytest.mark.parametrize("width", [1280, 360])
def test_names_as_long_as_they_may_be_stay_inside_their_sheet(opened: Opened, tmp_path: Path, width: int) -> None:
    settled = _odd(tmp_path / "odd.db")
    with serving(tmp_path / "odd.db") as service:
        watched = opened(service, width=width)
        for view in (*VIEWS, f"entry/{settled}"):
            page = watched.go(view)
            beyond = page.evaluate("""[...document.querySelectorAll("main .sheet, main .tile")]
                .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.innerText.slice(0, 40))""")
            assert beyond == [], f"{view} at {width}"
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{view} at {width}"
        watched.unblemished()


@pytest.mark.parametrize("width", [1280, 360])
def test_the_writing_of_a_chart_stays_inside_it_and_one_axis_is_written_in_one_way(shared: Shared, opened: Opened, width: int) -> None:
    service, token = shared()
    watched = opened(service, token=token, width=width)
    for view in ("", "energy", f"entry/{_entries(service)['executed']}"):
        page = watched.go(view)
        watched.until("document.querySelector('svg.chart') !== null")
        beyond = page.evaluate("""[...document.querySelectorAll("svg.chart text")].filter((text) => {
            const inner = text.getBoundingClientRect(), outer = text.closest("svg").getBoundingClientRect();
            return inner.left < outer.left - 4 || inner.right > outer.right + 4;
        }).map((text) => text.textContent)""")
        assert beyond == [], f"{view} at {width}"
        axes = page.evaluate("""[...document.querySelectorAll("svg.chart")].map((chart) =>
            [...chart.querySelectorAll("text[text-anchor=end]")].map((text) => text.textContent)
            .filter((text) => /^\\d[\\d,.]*K?$/.test(text)))""")
        for axis in axes:
            short = [text for text in axis if text.endswith("K")]
            assert not short or set(axis) - set(short) <= {"0"}, axis


def test_a_service_that_stopped_is_told_with_the_way_out(service: Service, opened: Opened) -> None:
    watched = opened(service)
    service.process.terminate()
    service.process.wait(20)
    watched.page.evaluate("location.hash = '#/meters'")
    told = watched.page.wait_for_selector("main [role=alert]")
    assert told is not None and "earnest ui" in told.inner_text()
    assert watched.page.get_by_role("button", name="Try again").is_visible()


def test_colours_follow_the_system_and_can_be_chosen(shared: Shared, opened: Opened) -> None:
    service, token = shared()
    grounds = {}
    for scheme in ("light", "dark"):
        watched = opened(service, token=token, scheme=scheme)
        grounds[scheme] = watched.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert grounds["light"] != grounds["dark"]
    watched.page.get_by_role("button", name="Light colours").click()
    assert watched.page.evaluate("getComputedStyle(document.body).backgroundColor") == grounds["light"]
    watched.page.reload()
    watched.settled()
    assert watched.page.evaluate("getComputedStyle(document.body).backgroundColor") == grounds["light"]


def test_a_look_at_a_large_store_asks_for_little(shared: Shared, opened: Opened) -> None:
    service, token = shared()
    watched = opened(service, token=token)
    sizes: list[int] = []
    watched.page.on("response", lambda response: sizes.append(int(response.headers.get("content-length", 0))))
    for view in VIEWS:
        watched.go(view)
    assert sizes and max(sizes) < 200_000, json.dumps(sizes)

"""Attacks: texts that want to be more than texts, pages elsewhere that want to get in, links and tokens that went astray."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser

from earnest.memory import Memory
from tests.browser.conftest import Service, Watched, serving
from tests.browser.world import HOSTILE, scripts

Opened = Callable[..., Watched]
Shared = Callable[[], tuple[Service, str]]


def _plant(memory: Memory) -> list[str]:
    """Hostile text wherever the product takes text."""
    made = []
    for text in HOSTILE:
        label = "".join(sign for sign in text[:60] if sign.isprintable())
        entry = memory.add(
            text, cue=text, sources=[label], tags=[label], scope=label, metadata={"note": text.replace("\x00", "")}, retention="kept"
        )
        ticket = memory.decide(text, scope=label)
        if ticket.id is not None:
            memory.settle(ticket.id, delta=-1, meter=label, detail=text)
        ticket = memory.decide(text, scope=label)
        made.append(entry.id)
        memory.rules.add("avoid", trigger=text.replace("\x00", ""), action=text.replace("\x00", ""), scope=label)
    memory.link(made[1], memory.add("A neighbour.", scope=memory.get(made[1]).scope, retention="kept").id, reason=HOSTILE[7])
    memory.forget(made[0], HOSTILE[7])
    return made


def test_no_text_of_a_memory_is_ever_obeyed(tmp_path: Path, opened: Opened) -> None:
    with Memory.open(tmp_path / "memory.db", agent="<img src=x onerror=window.hacked=1>", settings={"default_retention": "kept"}) as memory:
        made = _plant(memory)
    with serving(tmp_path / "memory.db") as service:
        watched = opened(service)
        views = ["", "entries", "entries?q=%3Cimg%20src%3Dx%3E", "tickets", "graveyard", "rules", "meters", "uplift", "energy", "events"]
        for view in [*views, *(f"entry/{id}" for id in made), f"graph/{made[1]}", "entry/%3Cimg%20src=x%20onerror=window.hacked=1%3E"]:
            page = watched.page
            page.goto(f"{service.address}/#/{view}")
            page.wait_for_timeout(50)
            watched.settled()
            for summary in page.locator("main summary:visible").all():
                summary.click()
            assert page.evaluate("window.hacked") is None, view
            assert page.locator("main img, main iframe, main script, main style, main base, main meta, main form[action]").count() == 0, (
                view
            )
            assert page.evaluate("document.body.innerText.length") > 40, view
        # What stands in a dialog is text as well.
        watched.go(f"entry/{made[7]}")
        page.get_by_role("button", name="Pin", exact=True).click()
        assert page.locator("dialog .says").inner_text() == HOSTILE[7]
        assert page.evaluate("window.hacked") is None
        assert watched.elsewhere == []
        unexpected = [text for text in watched.complaints if "404" not in text]
        assert unexpected == []


def test_two_hundred_ways_to_have_a_page_run_something_run_nothing(tmp_path: Path, opened: Opened) -> None:
    texts = scripts()
    assert len(set(texts)) == len(texts) >= 200
    with Memory.open(tmp_path / "memory.db", settings={"default_retention": "kept", "quarantine": 0}) as memory:
        made = memory.add_many([{"text": text, "cue": text[:200], "sources": [text[:60]]} for text in texts])
        for entry in made[5::10]:
            memory.forget(entry.id, entry.text[:200])
        for entry in made[::10]:
            memory.decide(entry.text)
        living = memory.stats().alive
    with serving(tmp_path / "memory.db") as service:
        watched = opened(service)
        for view in ("entries", "tickets", "graveyard", "events", *(f"entry/{entry.id}" for entry in made[::40])):
            page = watched.go(view)
            while page.get_by_role("button", name="Show more").count():
                page.get_by_role("button", name="Show more").click()
                watched.settled()
                watched.until("[...document.querySelectorAll('.more')].every((one) => !one.innerText.includes('Reading'))")
            for place in page.locator("main .row").all()[:20]:
                place.hover()
            assert page.evaluate("window.hacked") is None, view
            built = "main :is(script, iframe, object, embed, video, audio, marquee, math, link, style, body)"
            assert page.locator(built).count() == 0, view
        assert living == len(texts) - len(made[5::10])
        assert watched.go("entries").locator(".rail .count").first.inner_text() == str(living)
        watched.unblemished()


def test_signs_that_hide_or_turn_text_are_shown(shared: Shared, opened: Opened) -> None:
    service, token = shared()
    watched = opened(service, token=token)
    with service.memory() as memory:
        turned = next(card.entry for card in memory.survey(tags="hostile", limit=100) if "\u202e" in card.entry.text)
        split = next(card.entry for card in memory.survey(tags="hostile", limit=100) if "\u200b" in card.entry.text)
    watched.go(f"entry/{turned.id}")
    assert watched.page.locator(".text").inner_text() == "⟨U+202E⟩live⟨U+202C⟩"
    watched.go(f"entry/{split.id}")
    said = watched.page.locator(".text").inner_text()
    assert "⟨U+001B⟩" in said and "⟨U+200B⟩" in said and "⟨U+2066⟩" in said


def test_the_browser_itself_would_refuse_markup_and_inline_code(shared: Shared, opened: Opened) -> None:
    service, token = shared()
    page = opened(service, token=token).page
    assert "TrustedHTML" in page.evaluate("try { document.body.innerHTML = '<b>x</b>'; 'taken' } catch (error) { error.message }")
    page.evaluate("const s = document.createElement('style'); s.textContent = 'body{opacity:0}'; document.head.append(s)")
    assert page.evaluate("getComputedStyle(document.body).opacity") == "1"
    framed = page.evaluate(
        "new Promise((done) => { const f = document.createElement('iframe'); f.src = '/'; f.onload = () => done('loaded'); "
        "document.addEventListener('securitypolicyviolation', (e) => done(e.violatedDirective)); document.body.append(f); })"
    )
    assert framed != "loaded"


ATTACK: Final = """
<!doctype html><body><pre id=said></pre><script>
const target = new URLSearchParams(location.search).get("target"), agent = "/v1/agents/default";
const said = [];
async function attempt(name, act) { try { said.push([name, String(await act()).slice(0, 200)]); } catch (error) { said.push([name, "refused"]); } }
(async () => {
  const json = { "Content-Type": "application/json" };
  await attempt("read", async () => (await fetch(target + agent + "/entries")).text());
  await attempt("page", async () => (await fetch(target + "/")).text());
  await attempt("write", async () => (await fetch(target + agent + "/ticks", { method: "POST", headers: json, body: "{}" })).text());
  await attempt("simple", async () => (await fetch(target + agent + "/ticks", { method: "POST", mode: "no-cors", body: "{}" })).type);
  await attempt("blind", async () => (await fetch(target + agent + "/entries", { mode: "no-cors" })).text());
  await attempt("code", async () => (await fetch(target + "/session", { method: "POST", headers: json, body: '{"code":"x"}' })).text());
  await attempt("cookie", async () => (await fetch(target + agent + "/ticks", { method: "POST", credentials: "include", headers: json, body: "{}" })).text());
  await attempt("script", () => new Promise((done, fail) => { const s = document.createElement("script"); s.src = target + "/static/app.js"; s.onload = () => done("loaded"); s.onerror = fail; document.body.append(s); }));
  await attempt("image", () => new Promise((done, fail) => { const s = new Image(); s.src = target + "/static/icon.svg"; s.onload = () => done("loaded"); s.onerror = fail; }));
  await attempt("socket", () => new Promise((done, fail) => { const s = new WebSocket(target.replace("http", "ws") + "/"); s.onopen = () => done("open"); s.onerror = fail; }));
  await attempt("form", () => new Promise((done) => { const f = document.createElement("form"), i = document.createElement("iframe"); i.name = "sink"; f.target = "sink"; f.method = "POST"; f.enctype = "text/plain"; f.action = target + agent + "/ticks"; document.body.append(i, f); i.onload = () => done("sent"); f.submit(); setTimeout(() => done("sent"), 1500); }));
  document.getElementById("said").textContent = JSON.stringify(said);
})();
</script>
"""  # noqa: E501


@contextmanager
def _elsewhere() -> Iterator[int]:
    """Another web server on this machine, which the attacker's name leads to."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = ATTACK.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize("rebound", [True, False], ids=["its own name leads here", "this machine's address"])
def test_a_page_elsewhere_reads_nothing_and_changes_nothing(service: Service, browser: Browser, rebound: bool) -> None:
    port = urlsplit(service.address).port
    with service.memory() as memory, _elsewhere() as theirs:
        before = (memory.stats(), memory.events(newest=True, limit=1))
        context = browser.new_context()
        try:
            page = context.new_page()
            target = f"http://attacker.invalid:{port}" if rebound else service.address
            page.goto(f"http://attacker.invalid:{theirs}/?target={target}")
            page.wait_for_selector("#said:not(:empty)", timeout=60_000)
            said = dict(json.loads(page.locator("#said").inner_text()))
            if rebound:
                # The name now leads to the dashboard itself: the same site, as the browser sees it.
                answer = page.goto(f"http://attacker.invalid:{port}/")
                assert answer is not None and answer.status == 403
                assert (
                    page.evaluate("fetch('/v1/agents/default/entries').then((a) => a.status)") == 403
                    and page.evaluate("fetch('/').then((a) => a.status)") == 403
                )
                assert "Earnest" not in page.content()
        finally:
            context.close()
        assert said.pop("simple") in ("opaque", "refused") and said.pop("blind") in ("", "refused") and said.pop("form") == "sent"
        assert set(said.values()) == {"refused"}, said
        assert (memory.stats(), memory.events(newest=True, limit=1)) == before


def _asked(service: Service, method: str, path: str, body: str | None = None, **headers: str) -> tuple[int, dict[str, str], str]:
    place = urlsplit(service.address)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=20)
    try:
        connection.putrequest(method, path, skip_host="Host" in headers)
        sent = {"Content-Type": "application/json"} | headers if body is not None else headers
        for name, value in sent.items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(None if body is None else body.encode())
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()
    finally:
        connection.close()


def test_a_link_works_once(service: Service, opened: Opened) -> None:
    watched = opened(service)
    assert watched.page.evaluate("location.hash") == "#/"
    token = watched.page.evaluate("sessionStorage.getItem('earnest-token')")
    assert len(token) > 40
    watched.unblemished()
    again = opened(service)
    assert "used already" in again.page.locator("main").inner_text()
    assert again.page.evaluate("sessionStorage.getItem('earnest-token')") is None
    again.accessible("the door")
    again.page.get_by_label("Token").fill(token)
    again.page.get_by_role("button", name="Open").click()
    again.page.wait_for_selector("h1:has-text('Overview')")


def test_a_wrong_token_is_told_and_forgotten(service: Service, opened: Opened) -> None:
    watched = opened(service, token="nobody-knows-this-token")
    page = watched.page
    assert "locked" in page.locator("h1").inner_text()
    page.get_by_label("Token").fill("another-wrong-token")
    page.get_by_role("button", name="Open").click()
    watched.until("document.querySelector('.door .wrong').textContent !== ''")
    assert "earnest serve token" in page.locator(".door .wrong").inner_text()
    assert page.evaluate("sessionStorage.getItem('earnest-token')") is None


def test_codes_cannot_be_guessed_for_long(service: Service) -> None:
    for _ in range(20):
        status, _, _ = _asked(service, "POST", "/session", json.dumps({"code": "AAAAAAAAAAAAAAAAAAAAAA"}))
        assert status == 403
    # The true one is dropped as well: whoever sits at the terminal asks for another.
    assert _asked(service, "POST", "/session", json.dumps({"code": service.code}))[0] == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "attacker.invalid"}, 403), ({"Host": "0.0.0.0"}, 403), ({"Origin": "http://attacker.invalid"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content-Type": "text/plain"}, 415), ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)  # fmt: skip
def test_a_code_is_traded_with_our_own_page_alone(service: Service, headers: dict[str, str], status: int) -> None:
    assert _asked(service, "POST", "/session", json.dumps({"code": service.code}), **headers)[0] == status
    assert _asked(service, "POST", "/session", json.dumps({"code": service.code}))[0] == 200


@pytest.mark.parametrize(
    "body", ["", "[]", "{}", '{"code": 5}', '{"code": null}', "{", '{"code": "' + "x" * 2000 + '"}', '{"code": "\\ud800"}']
)
def test_nonsense_in_place_of_a_code_is_refused(shared: Shared, body: str) -> None:
    service, _ = shared()
    assert _asked(service, "POST", "/session", body)[0] in (403, 422)


@pytest.mark.parametrize(
    "path",
    [
        "/static/../../__init__.py", "/static/..%2f..%2f__init__.py", "/..%2f..%2fetc/passwd", "/static/", "/static",
        "/index.html", "/static/index.html",
        "/static/app.js%00", "/static/%2e%2e/files.py", "//static/app.js", "/static\\app.js", "/static/views",
    ],
)  # fmt: skip
def test_no_path_leads_out_of_the_dashboards_files(shared: Shared, path: str) -> None:
    service, _ = shared()
    status, _, said = _asked(service, "GET", path)
    assert status == 404 and "import" not in said and "root:" not in said


def test_pages_carry_a_strict_policy_and_are_asked_for_anew(shared: Shared) -> None:
    service, _ = shared()
    for path in ("/", "/static/app.js", "/static/style.css", "/static/icon.svg"):
        status, headers, _ = _asked(service, "GET", path)
        policy = headers["content-security-policy"]
        assert status == 200 and "unsafe" not in policy and "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert headers["x-frame-options"] == "DENY" and headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer" and headers["cache-control"] == "no-cache"
        assert _asked(service, "GET", path, **{"If-None-Match": headers["etag"]})[0] == 304
        assert _asked(service, "HEAD", path)[2] == "" and _asked(service, "POST", path, "{}")[0] == 405


def test_no_secret_is_written_to_a_log(service: Service, opened: Opened) -> None:
    watched = opened(service)
    token = watched.page.evaluate("sessionStorage.getItem('earnest-token')")
    watched.go("entries")
    _asked(service, "GET", f"/v1/agents?token={token}")
    service.process.terminate()
    service.process.wait(20)
    logged = service.errors.read_text(encoding="utf-8")
    assert token not in logged and service.code not in logged

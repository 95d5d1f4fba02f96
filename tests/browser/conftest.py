"""A real browser before a real service: Chromium, `earnest ui` in a process of its own, and a memory of ten thousand entries."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, sync_playwright

from earnest.memory import Memory
from tests.browser.world import build

ROOT: Final = Path(__file__).resolve().parents[2]
NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
AXE: Final = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")


def chromium() -> str:
    """Where the browser is; EARNEST_CHROMIUM names another one."""
    found = next((path for name in (os.environ.get("EARNEST_CHROMIUM", ""), *NAMES) if name and (path := shutil.which(name))), None)
    assert found, "these tests drive Chromium, which is not installed. On Debian: apt-get install chromium; or name one in EARNEST_CHROMIUM"
    return found


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store to copy from; made once, whatever the number of test processes."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own) / "browser-world"
    ready = folder / "ready.db"
    try:
        folder.mkdir()
    except FileExistsError:
        deadline = time.monotonic() + 240
        while not ready.exists():
            assert time.monotonic() < deadline, "the process that makes the world did not finish"
            time.sleep(0.2)
        return ready
    making = folder / "making.db"
    build(making)
    making.rename(ready)
    return ready


@dataclass
class Service:
    """One running `earnest ui`."""

    store: Path
    address: str
    process: subprocess.Popen[str]
    first: str
    errors: Path

    def memory(self) -> Memory:
        """The store, opened beside the service."""
        return Memory.open(self.store)

    @property
    def code(self) -> str:
        """The one-time code of the first link."""
        return self.first.partition("#code=")[2]


@contextmanager
def serving(store: Path, *options: str) -> Iterator[Service]:
    """`earnest ui` on a store, in a process of its own."""
    errors = store.with_suffix(f".{time.monotonic_ns()}.errors")
    with errors.open("w", encoding="utf-8") as told:
        process = subprocess.Popen(
            [sys.executable, "-m", "earnest", "ui", "--store", str(store), "--no-open", "--json", *options],
            stdout=subprocess.PIPE, stderr=told, stdin=subprocess.DEVNULL, text=True, encoding="utf-8",
        )  # fmt: skip
    try:
        assert process.stdout is not None
        lines = ""
        while not lines.rstrip().endswith("}"):
            line = process.stdout.readline()
            assert line, f"earnest ui ended: {lines}{errors.read_text(encoding='utf-8')}"
            lines += line
        said = json.loads(lines)
        yield Service(store, said["address"], process, said["link"], errors)
    finally:
        process.terminate()
        process.wait(20)
        if process.stdout is not None:
            process.stdout.close()


@pytest.fixture
def store(world: Path, tmp_path: Path) -> Path:
    """A store of one's own, to change."""
    return Path(shutil.copy(world, tmp_path / "memory.db"))


@pytest.fixture
def service(store: Path) -> Iterator[Service]:
    """A service on a store of one's own."""
    with serving(store) as made:
        yield made


@pytest.fixture(scope="session")
def shared(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], tuple[Service, str]]]:
    """One service for all tests that change nothing: gives it, and its token."""
    copy = Path(shutil.copy(world, tmp_path_factory.mktemp("shared") / "memory.db"))
    tokens: list[str] = []
    with serving(copy) as made:
        from urllib.request import Request as Asked
        from urllib.request import urlopen

        asked = Asked(f"{made.address}/session", json.dumps({"code": made.code}).encode(), {"Content-Type": "application/json"})
        with urlopen(asked, timeout=20) as answer:
            tokens.append(json.load(answer)["token"])
        yield lambda: (made, tokens[0])


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium without a window. Names under .invalid lead to this machine, as they would after DNS rebinding.

    It ends with its module: as long as Playwright is there, no other test of this process could run an event loop.
    """
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--host-resolver-rules=MAP *.invalid 127.0.0.1", "--disable-dev-shm-usage"]
        )
        yield made
        made.close()


@dataclass
class Watched:
    """A page, and what it did that nobody asked for."""

    page: Page
    service: Service
    elsewhere: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)

    def go(self, view: str) -> Page:
        """Show a view, and wait until it is there."""
        self.page.goto(f"{self.service.address}/#/{view}")
        shown = view.partition("?")[0]
        self.until(f"document.getElementById('main').dataset.shown === {json.dumps(shown)}")
        self.settled()
        return self.page

    def until(self, condition: str) -> None:
        """Wait until an expression is true. (The browser tool's own way needs `eval`, which the page's policy forbids.)"""
        deadline = time.monotonic() + 20
        while not self.page.evaluate(condition):
            assert time.monotonic() < deadline, f"did not come true: {condition}"
            self.page.wait_for_timeout(40)

    def settled(self) -> None:
        """Wait until nothing is being read any more."""
        self.page.wait_for_selector("main h1")
        self.until("document.querySelector('main[aria-busy], main .wait') === null")

    def unblemished(self) -> None:
        """Assert that nothing was asked elsewhere, nothing was complained of, and no token stood in an address."""
        assert self.elsewhere == []
        assert self.complaints == []
        assert self.page.evaluate("window.hacked") is None
        token = self.page.evaluate("sessionStorage.getItem('earnest-token')")
        assert not any(token and token in address for address in self.addresses)

    def accessible(self, what: str) -> None:
        """Assert that axe finds nothing on the page as it is."""
        self.page.evaluate(AXE)
        found = self.page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
        told = [
            f"{what}: {one['id']} ({one['impact']}): {one['help']}: {node['target']} {node.get('failureSummary', '')[:300]}"
            for one in found["violations"]
            for node in one["nodes"][:3]
        ]
        assert told == []


@pytest.fixture
def opened(browser: Browser) -> Iterator[Callable[..., Watched]]:
    """Opens the dashboard of a service: `opened(service)` by its link, `opened(service, token=…)` with a token."""
    contexts: list[BrowserContext] = []

    def open_(
        service: Service, *, token: str | None = None, scheme: Literal["light", "dark"] = "light", width: int = 1280, **options: Any
    ) -> Watched:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            reduced_motion="reduce",
            **options,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        watched = Watched(page, service)

        def asked(request: Request) -> None:
            watched.addresses.append(request.url)
            if not request.url.startswith(f"{service.address}/"):
                watched.elsewhere.append(request.url)

        def complained(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning"):
                watched.complaints.append(message.text)

        page.on("request", asked)
        page.on("console", complained)
        page.on("pageerror", lambda error: watched.complaints.append(str(error)))
        if token is None:
            page.goto(service.first)
        else:
            page.add_init_script(f"sessionStorage.setItem('earnest-token', {json.dumps(token)})")
            page.goto(f"{service.address}/")
        watched.settled()
        return watched

    yield open_
    for context in contexts:
        context.close()

"""Pictures of the dashboard, of the same memory every time.

`python -m tests.browser.pictures` makes those of docs/figures again; `python -m tests.browser.pictures FOLDER` one of every view in every
look, to look at.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal
from urllib.request import Request, urlopen

from playwright.sync_api import Browser, Page, sync_playwright

from earnest.core.filters import ALL
from earnest.memory import Memory
from tests.browser.conftest import ROOT, Service, chromium, serving
from tests.browser.world import build

FIGURES: Final = ROOT / "docs" / "figures"
LARGEST: Final = 150_000
"""Bytes of a picture in the documentation."""


@dataclass(frozen=True, slots=True)
class Look:
    """Colours and size of a window; `whole` takes the page down to its end."""

    name: str
    scheme: Literal["light", "dark"]
    width: int
    height: int = 800
    whole: bool = True


LOOKS: Final = (Look("light", "light", 1280), Look("dark", "dark", 1280), Look("phone", "light", 390, 844))
SHOWN: Final = {
    "dashboard-overview": ("", Look("light", "light", 1200, 900, whole=False)),
    "dashboard-entry": ("entry/{rich}", Look("dark", "dark", 1200, 900, whole=False)),
    "dashboard-links": ("graph/{linked}", Look("light", "light", 1200, 900, whole=False)),
    "dashboard-phone": ("entries?order=richest", Look("phone", "light", 390, 844, whole=False)),
}
"""What the documentation shows: which view, and how."""


def _token(service: Service) -> str:
    asked = Request(f"{service.address}/session", json.dumps({"code": service.code}).encode(), {"Content-Type": "application/json"})
    with urlopen(asked, timeout=20) as answer:
        return str(json.load(answer)["token"])


@contextmanager
def _window(browser: Browser, service: Service, token: str, look: Look) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": look.width, "height": look.height}, color_scheme=look.scheme, reduced_motion="reduce", device_scale_factor=1
    )
    page = context.new_page()
    page.add_init_script(f"sessionStorage.setItem('earnest-token', {json.dumps(token)})")
    page.goto(f"{service.address}/")
    try:
        yield page
    finally:
        context.close()


def _take(page: Page, service: Service, view: str, look: Look, path: Path) -> None:
    page.goto(f"{service.address}/#/{view}")
    shown = json.dumps(view.partition("?")[0])
    while not page.evaluate(f"document.getElementById('main').dataset.shown === {shown}"):
        page.wait_for_timeout(40)
    while page.evaluate("document.querySelector('main[aria-busy], main .wait') !== null"):
        page.wait_for_timeout(40)
    page.screenshot(path=path, full_page=look.whole, animations="disabled", caret="hide")


def ids(service: Service) -> dict[str, str]:
    """Entries that have something to show."""
    with service.memory() as memory:
        return {
            "rich": memory.top(1)[0].id,
            "linked": memory.survey(pinned=True)[0].entry.id,
            "suspended": memory.survey(standing="suspended")[0].entry.id,
            "executed": memory.survey(cause="executed")[0].entry.id,
            "hostile": memory.survey(tags="hostile")[0].entry.id,
        }


def take(store: Path, wanted: dict[str, tuple[str, Look]], folder: Path) -> list[Path]:
    """Take pictures of a store; names, views and looks as in `SHOWN`."""
    folder.mkdir(parents=True, exist_ok=True)
    made: list[Path] = []
    with serving(store) as service, sync_playwright() as playwright:
        token, known = _token(service), ids(service)
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"]
        )
        for look in {look.name: look for _, look in wanted.values()}.values():
            with _window(browser, service, token, look) as page:
                for name, (view, its) in wanted.items():
                    if its.name == look.name:
                        made.append(folder / f"{name}.png")
                        _take(page, service, view.format_map(known), its, made[-1])
        browser.close()
    return made


def every() -> dict[str, tuple[str, Look]]:
    """Every view in every look."""
    views = {
        "overview": "", "entries": "entries", "hostile": "entries?tag=hostile", "found": "entries?q=rotate+API+keys",
        "entry": "entry/{rich}", "executed": "entry/{executed}", "hostile-entry": "entry/{hostile}", "suspended": "entry/{suspended}",
        "links": "graph/{linked}", "unlinked": "graph/{hostile}",
        **{name: name for name in ("tickets", "graveyard", "rules", "meters", "uplift", "energy", "events")},
    }  # fmt: skip
    return {f"{name}-{look.name}": (view, look) for look in LOOKS for name, view in views.items()}


def _timeless(path: Path) -> None:
    """End the trial that hardly gets on: the doctor says for how many days, and the picture would be another one every day."""
    with Memory.open(path) as memory:
        for rule in memory.rules.list(status="trial", scope=ALL):
            memory.rules.verify(rule.id, accept=True)


def main(folder: str | None = None, store: str | None = None) -> int:
    """Take the pictures; 1 if one for the documentation is too large."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "memory.db"
        if store:
            shutil.copy(store, path)
        else:
            build(path)
        if not folder:
            _timeless(path)
        made = take(path, every(), Path(folder)) if folder else take(path, SHOWN, FIGURES)
    heavy = [path.name for path in made if not folder and path.stat().st_size > LARGEST]
    print(f"{len(made)} pictures" + (f"; too large: {', '.join(heavy)}" if heavy else ""))
    return 1 if heavy else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))

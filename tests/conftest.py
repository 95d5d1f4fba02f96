"""What every test runs under: a home of its own, no network, and the long forms only with --full."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import hypothesis
import pytest

ROOT: Final = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    # Helpers of the tests are imported as `tests.…`, whatever folder pytest was started in.
    sys.path.insert(0, str(ROOT))

_PROFILES: Final[dict[str, dict[str, Any]]] = {
    "quick": {"max_examples": 50, "stateful_step_count": 30, "derandomize": True},
    "full": {"max_examples": 2_000, "stateful_step_count": 60, "derandomize": False},
}
for _name, _values in _PROFILES.items():
    hypothesis.settings.register_profile(
        _name,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
        **_values,
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", default=False, help="run the long forms of the tests too")


def pytest_configure(config: pytest.Config) -> None:
    hypothesis.settings.load_profile("full" if config.getoption("--full") else "quick")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests marked `full` are left out, not skipped: a skip would say that something is missing."""
    if config.getoption("--full"):
        return
    long = [item for item in items if item.get_closest_marker("full")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("full")]


@pytest.fixture(scope="session")
def full(pytestconfig: pytest.Config) -> bool:
    """Whether the long forms were asked for."""
    return bool(pytestconfig.getoption("--full"))


@pytest.fixture(scope="session", autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test sees, or leaves anything in, the home of the person who runs it. Child processes inherit this."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HOME", "USERPROFILE"):
            patch.setenv(name, str(home))
        for name, folder in (
            ("XDG_DATA_HOME", ".local/share"),
            ("XDG_CONFIG_HOME", ".config"),
            ("XDG_CACHE_HOME", ".cache"),
            ("XDG_STATE_HOME", ".local/state"),
            ("APPDATA", "AppData/Roaming"),
            ("LOCALAPPDATA", "AppData/Local"),
        ):
            patch.setenv(name, str(home / folder))
        for name in [name for name in os.environ if name.startswith("EARNEST_")]:
            patch.delenv(name)
        # Tests recall by words unless they bring an embedder of their own, whatever extras are installed.
        patch.setenv("EARNEST_EMBEDDER", "none")
        yield


# The network. An audit hook sees what any code of this process does with sockets, C extensions too; it cannot be taken out again,
# and need not be: it only speaks up about addresses that are not this machine.

_attempts: list[str] = []
_WATCHED: Final = frozenset(("socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname"))


class OutboundConnection(OSError):
    """A test tried to reach another machine."""


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in _WATCHED:
        return
    place = arguments[0] if event in ("socket.getaddrinfo", "socket.gethostbyname") else arguments[1]
    host = place[0] if isinstance(place, tuple) and place else place
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if not isinstance(host, str) or host.startswith(("/", "\x00", "127.")) or host in ("", "localhost", "::1"):
        return  # a socket file, or this machine
    _attempts.append(f"{event} {place!r}")
    raise OutboundConnection(f"tests must not reach the network: {event} {place!r}")


sys.addaudithook(_watch)


@pytest.fixture(autouse=True)
def outbound() -> Iterator[list[str]]:
    """Attempts to reach another machine; a test that leaves one in here fails, even if the code under test swallowed the error."""
    _attempts.clear()
    yield _attempts
    left = list(_attempts)
    _attempts.clear()
    assert not left, f"reached for the network: {left}"

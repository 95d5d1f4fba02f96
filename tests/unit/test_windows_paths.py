"""Paths of Windows, as text: names that it takes, URIs that SQLite reads there, specs in which a drive's letter stands behind a colon."""

from __future__ import annotations

from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from earnest.core.entry import Entry
from earnest.core.models import model_spec
from earnest.core.settings import embedder_spec, reranker_spec
from earnest.core.uris import file_uri
from earnest.memory import Memory
from earnest.opening import agent_name, agent_of, file_name
from earnest.rendering import topics

FORBIDDEN = frozenset('<>:"/\\|?*') | {chr(number) for number in range(32)}
DEVICES = (
    "con",
    "CON",
    "Con.txt",
    "nul",
    "prn.db",
    "aux",
    "com1",
    "COM9.tar.gz",
    "lpt1",
    "com¹",
    "conin$",
    "CONOUT$",
    "con ",
    "con .x",
    "nul.",
)


def _taken(name: str) -> None:
    """Assert that Windows takes a name, as one part, for a file and not for a device."""
    path = PureWindowsPath(name)
    assert path.name == name and path.parts == (name,) and not path.drive
    assert not path.is_reserved()
    assert not FORBIDDEN & set(name) and name[-1] not in " ." and len(name) <= 200


def _names() -> st.SearchStrategy[str]:
    odd = st.sampled_from((*DEVICES, "a:b", "C:\\x", "\\\\server\\share", "\\\\?\\C:\\x", "a/b", "..", ".", "x.", "A", "a", "é", "e\u0301"))
    return st.one_of(odd, st.text(min_size=1, max_size=200))


@given(_names())
@example("x" * 200)
@example("漢" * 66)
def test_an_agent_has_a_file_that_windows_takes_and_gets_its_name_back(given_name: str) -> None:
    try:
        agent = agent_name(given_name)
    except ValueError:
        return
    assert agent is not None
    name = file_name(agent)
    _taken(name)
    assert name == name.lower(), "a file system that does not tell cases apart would mix two agents up"
    assert agent_of(name) == agent or "~" in name


@given(_names(), _names())
@example("CON", "con")
@example("a", "A")
def test_two_agents_have_two_files(one: str, other: str) -> None:
    try:
        names = {agent_name(one), agent_name(other)}
    except ValueError:
        return
    assert len({file_name(name).casefold() for name in names if name is not None}) == len(names)


@pytest.mark.parametrize("text", [*DEVICES, "a:b|c?", "..\\..\\windows\\system32", "C:\\Users\\x", "\\\\server\\share", "漢字", "x" * 500])
def test_a_rendered_topic_is_a_file_that_windows_takes(text: str) -> None:
    with Memory.open(":memory:", embedder="none") as memory:
        entry: Entry = memory.add(text)
    _taken(topics.file_name(entry))


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        (PureWindowsPath(r"C:\Users\Ada\memory.db"), "file:///C:/Users/Ada/memory.db"),
        (PureWindowsPath(r"C:\a b\100%#1.db"), "file:///C:/a b/100%25%231.db"),
        (PureWindowsPath(r"\\server\share\memory.db"), "file:////server/share/memory.db"),
        (PureWindowsPath(r"\\?\C:\very\long\memory.db"), "file:///C:/very/long/memory.db"),
        (PureWindowsPath(r"\\?\UNC\server\share\memory.db"), "file:////server/share/memory.db"),
        (PurePosixPath("/var/lib/memory.db"), "file:///var/lib/memory.db"),
        (PurePosixPath("/odd?/name#%.db"), "file:///odd%3f/name%23%25.db"),
        (PurePosixPath("//two/slashes.db"), "file:////two/slashes.db"),
    ],
)
def test_a_uri_is_one_that_sqlite_reads_on_the_system_of_the_path(path: PurePath, uri: str) -> None:
    assert file_uri(path) == uri


@pytest.mark.parametrize("name", ["plain.db", "a b.db", "100%.db", "what#1.db", "é漢.db"])
@pytest.mark.parametrize("slashes", ["", "/"])
def test_a_backup_is_brought_back_whatever_its_path_is_like(tmp_path: Path, name: str, slashes: str) -> None:
    with Memory.open(tmp_path / "memory.db", embedder="none") as memory:
        memory.add("Run the migrations before the smoke tests.")
        memory.backup(tmp_path / name)
    # Two slashes at the beginning stay two; a URI could take what follows for the name of another machine.
    Memory.restore_backup(f"{slashes}{tmp_path / name}", tmp_path / "again.db")
    with Memory.open(tmp_path / "again.db", embedder="none") as memory:
        assert [entry.text for entry in memory.list()] == ["Run the migrations before the smoke tests."]


@pytest.mark.parametrize("where", [r"C:\Models\mini", r"\\server\share\mini", r"\\?\D:\long\mini", "C:/Models/mini", r"models\mini"])
def test_a_model_s_folder_on_windows_stays_whole_behind_its_kind(where: str) -> None:
    assert embedder_spec(f"st:{where}") == f"st:{where}"
    assert reranker_spec(f"ce:{where}") == f"ce:{where}"
    assert model_spec(f"ollama:{where}") == f"ollama:{where}"

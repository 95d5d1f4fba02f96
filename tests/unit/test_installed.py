"""What is installed here decides: what the way out of a missing extra is, and whether an index is of the present stems."""

from __future__ import annotations

from pathlib import Path

import pytest

from earnest import Memory
from earnest.errors import IndexDamaged
from earnest.installed import bringing, release, requirements, stemming

METADATA = """Metadata-Version: 2.4
Name: earnest
Version: 9.9
Requires-Dist: apsw>=3.50
Requires-Dist: numpy>=2.0; extra == 'local'
Requires-Dist: some-model==1.0.0; python_version < "3.99" and extra == "local"
Requires-Dist: pypdf>=5; extra == 'docs'
"""


def installed(folder: Path, monkeypatch: pytest.MonkeyPatch, came_from: str | None) -> None:
    """An Earnest that was installed from an index, or from somewhere else."""
    home = folder / "earnest-9.9.dist-info"
    home.mkdir()
    (home / "METADATA").write_text(METADATA)
    if came_from is not None:
        (home / "direct_url.json").write_text(came_from)
    monkeypatch.syspath_prepend(str(folder))


def test_what_came_by_its_name_is_installed_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, monkeypatch, None)
    assert bringing("local") == "`pip install 'earnest[local]'`"
    assert bringing("local", again=True) == "`pip install --force-reinstall 'earnest[local]'`"


@pytest.mark.parametrize(
    "came_from",
    [
        '{"url": "file:///somewhere", "dir_info": {"editable": true}}',
        '{"url": "file:///somewhere/earnest-9.9-py3-none-any.whl", "archive_info": {}}',
    ],
)
def test_what_came_from_elsewhere_never_sends_anybody_to_a_name_on_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, came_from: str
) -> None:
    installed(tmp_path, monkeypatch, came_from)
    assert bringing("docs") == "`pip install 'pypdf>=5'`"
    assert bringing("local") == """`pip install 'numpy>=2.0' "some-model==1.0.0; python_version < '3.99'"`"""


def test_requirements_of_an_extra_are_those_that_it_alone_adds() -> None:
    stated = ["apsw>=3.50", "a>=1; extra == 'one'", "b[c]<2 ; extra == \"one\" and os_name == 'nt'", "d; extra == 'one-two'"]
    assert requirements(stated, "one") == ["a>=1", "b[c]<2; os_name == 'nt'"]
    assert requirements(stated, "one-two") == ["d"] and requirements(stated, "none") == []


@pytest.mark.parametrize(
    "extra", ["local", "dense", "ann", "rerank", "docs", "mcp", "server", "evm", "fast", "zh", "otel", "chroma", "all"]
)
def test_every_extra_of_this_earnest_has_a_way_out(extra: str) -> None:
    assert bringing(extra).startswith("`pip install ") and (">=" in bringing(extra) or "earnest[" in bringing(extra))


def test_the_release_of_a_package_is_told_by_its_metadata() -> None:
    from importlib.metadata import version

    for module, name in (("pytest", "pytest"), ("hypothesis", "hypothesis"), ("apsw", "apsw")):
        assert release(module, name) == ".".join(version(name).split(".")[:2])
    assert release("no_such_module", "no-such-module") is None
    assert stemming().count(".") == 1


TEXT = "The internals of the pump were shown to entomologists."


def made(path: Path, analyser: str) -> str:
    """A store whose index another release made, so that it holds other terms: that analyser's, and what of it stands for the release."""
    with Memory.open(path, embedder="none") as memory:
        entry = memory.add(TEXT)
        memory.add("The canteen opens at noon.")
        with memory._writing() as tx:
            stored = tx.entry(entry.id)
            assert stored is not None
            terms = memory._analyser.terms(TEXT)
            tx.index(stored.row, ["entomologists_by_other_rules" if term.startswith("entomolog") else term for term in terms], [])
            tx.set_setting("analyser", analyser)
    return entry.id


def named(path: Path) -> str:
    with Memory.open(path, embedder="none") as memory, memory._store.read() as reading:
        return str(reading.settings()["analyser"])


def test_an_index_that_another_release_of_the_stemmer_made_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memory.open(tmp_path / "other.db") as memory:
        wanted, plain = memory._index_id, memory._analyser.id
    assert wanted == f"{plain}/{stemming()}"
    made(path, f"{plain}/2.2")
    with Memory.open(path, embedder="none") as memory:
        assert [hit.entry.text for hit in memory.search("entomologist")] == [TEXT]
        assert memory.events(kind="repair") and memory.check().ok
    assert named(path) == wanted
    before = len(Memory.open(path, embedder="none").events())
    assert len(Memory.open(path, embedder="none").events()) == before, "once"


def test_an_index_from_before_releases_were_told_is_taken_for_the_present_one_and_told(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memory.open(tmp_path / "other.db") as memory:
        wanted, plain = memory._index_id, memory._analyser.id
    made(path, plain)
    with Memory.open(path, embedder="none", read_only=True) as memory:
        assert memory.search("canteen") and memory._known[0]["analyser"] == plain
    with Memory.open(path, embedder="none") as memory:
        assert memory.search("canteen") and not memory.events(kind="repair")
    assert named(path) == wanted


def test_a_reader_with_other_stems_says_so(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memory.open(tmp_path / "other.db") as memory:
        plain = memory._analyser.id
    made(path, f"{plain}/2.2")
    with Memory.open(path, embedder="none", read_only=True) as memory, pytest.raises(IndexDamaged, match="stems by another release"):
        memory.search("entomologist")


def test_an_export_from_another_release_is_found_by_the_present_one(tmp_path: Path) -> None:
    path, file = tmp_path / "m.db", tmp_path / "m.jsonl"
    with Memory.open(tmp_path / "other.db") as memory:
        plain = memory._analyser.id
    made(path, f"{plain}/2.2")
    with Memory.open(path, embedder="none", read_only=True) as memory:
        memory.export(file)
    with Memory.open(tmp_path / "new.db", embedder="none") as memory:
        memory.import_(file)
        assert [hit.entry.text for hit in memory.search("entomologist")] == [TEXT] and memory.check().ok
    assert named(tmp_path / "new.db") == f"{plain}/{stemming()}"

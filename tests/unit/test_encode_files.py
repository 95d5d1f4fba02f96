"""Files and folders: what is found in them, what changed, what is gone, and that one bad file stops none of the others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from earnest import Memory
from earnest.core.reports import EncodeReport
from earnest.encoding import Document, Encoding
from earnest.encoding.folders import find_files
from earnest.errors import InvalidInput, KeyReused, StoreError


def write(folder: Path, **files: str | bytes) -> Path:
    """Files by name, "__" for a border of folders and "_" for a dot."""
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def states(report: EncodeReport) -> dict[str, str]:
    return {file.source: file.state for file in report.files}


def texts(memory: Memory, **filters: Any) -> set[str]:
    return {entry.text for entry in memory.list(**filters)}


# what is found


def found(folder: Path, **options: bool) -> list[str]:
    return [file.source for file in find_files([folder], **options).files]


def test_a_folder_gives_its_documents_in_order_whatever_is_beside_them(tmp_path: Path) -> None:
    root = write(
        tmp_path / "r", b_md="x", a_txt="x", sub__c_html="x", sub__deep__d_json="x", README="x", photo_png="x", run_py="x", _hidden_md="x",
        _git__config_txt="x", node__x="x", node_modules__e_md="x",
    )  # fmt: skip
    (root / "node_modules").mkdir()
    (root / "node_modules" / "e.md").write_text("x")
    assert found(root) == ["r/README", "r/a.txt", "r/b.md", "r/node.modules/e.md", "r/sub/c.html", "r/sub/deep/d.json"]
    left_out = find_files([root]).left_out
    assert left_out == {
        "hidden": 2, "cache or installed packages": 1, "no document by its name (.png)": 1, "no document by its name (.py)": 1,
        "no document by its name (no ending)": 1,
    }  # fmt: skip
    assert {"r/.hidden.md", "r/.git/config.txt"} <= {*found(root, hidden=True)}


@pytest.mark.parametrize(
    ("rules", "left"),
    [
        ("drafts/", ["a.md", "drafts.md", "sub/a.md"]),
        ("*.md\n!a.md", ["a.md", "sub/a.md"]),
        ("/a.md", ["drafts.md", "drafts/b.md", "sub/a.md", "sub/drafts/c.md"]),
        ("sub/*.md", ["a.md", "drafts.md", "drafts/b.md", "sub/drafts/c.md"]),
        ("**/drafts/*.md", ["a.md", "drafts.md", "sub/a.md"]),
        ("[a-c].md  \n# comment\n\n", ["drafts.md"]),
        ("?.md", ["drafts.md"]),
        ("[z-a].md", ["a.md", "drafts.md", "drafts/b.md", "sub/a.md", "sub/drafts/c.md"]),
    ],
)
@pytest.mark.parametrize("name", [".gitignore", ".earnestignore"])
def test_an_ignore_file_leaves_out_what_it_names(tmp_path: Path, rules: str, left: list[str], name: str) -> None:
    write(tmp_path, a_md="x", drafts_md="x", drafts__b_md="x", sub__a_md="x", sub__drafts__c_md="x")
    (tmp_path / name).write_text(rules)
    assert sorted(file.path.relative_to(tmp_path).as_posix() for file in find_files([tmp_path]).files) == left


def test_an_ignore_file_in_a_folder_counts_below_it_alone(tmp_path: Path) -> None:
    write(tmp_path / "r", a_md="x", sub__a_md="x", sub__deep__a_md="x")
    (tmp_path / "r" / "sub" / ".gitignore").write_text("a.md")
    assert found(tmp_path / "r") == ["r/a.md"]


def test_links_in_circles_end_and_a_file_is_found_once(tmp_path: Path) -> None:
    root = write(tmp_path / "r", a_md="x", sub__b_md="x")
    (root / "sub" / "up").symlink_to(root, target_is_directory=True)
    (root / "link.md").symlink_to(root / "a.md")
    (root / "nowhere.md").symlink_to(root / "gone.md")
    assert found(root) == ["r/a.md", "r/sub/b.md"]
    search = find_files([root, root / "a.md", root / "sub"])
    assert len(search.files) == 2
    assert search.left_out["link to a folder"] == 2 and search.left_out["broken link, device or socket"] == 1


def test_a_device_is_not_read(tmp_path: Path) -> None:
    pipes = [tmp_path / "pipe.md"] if hasattr(os, "mkfifo") else []
    for pipe in pipes:
        os.mkfifo(pipe)
    with Memory.open() as memory:
        assert memory.encode_files([tmp_path]).files == ()
        for device in (*pipes, Path(os.devnull)):
            assert memory.encode_files([device]).failed[0].reason.startswith("is no file")


@pytest.mark.parametrize("paths", [["gone"], ["", "a"], ["a\x00b"], [5], 5, None])
def test_names_that_are_none_are_refused_before_anything_is_written(paths: Any) -> None:
    with Memory.open() as memory:
        with pytest.raises(InvalidInput, match="paths"):
            memory.encode_files(paths)
        assert memory.stats().total == 0


# a folder and what becomes of it


def test_a_folder_is_encoded_at_once_and_says_what_became_of_each_file(tmp_path: Path) -> None:
    root = write(tmp_path / "r", a_md="# Logs\n\nLogs go after seven days.", b_txt="", c_pdf=b"not a pdf", d_txt=b"\x00\x01")
    write(root, e_html="<p>Backups run at two.</p>")
    seen: list[tuple[int, int]] = []
    with Memory.open() as memory:
        report = memory.encode_files([root], progress=lambda done, of: seen.append((done, of)))
        encoded = {"r/a.md": 1, "r/b.txt": 0, "r/e.html": 1}
        assert {file.source: file.entries for file in report.files if file.state == "encoded"} == encoded
        assert {file.source: file.reason.split(":")[0].split(";")[0] for file in report.failed} == {
            "r/c.pdf": "is called a PDF and is none",
            "r/d.txt": "has a NUL at byte 0",
        }
        assert [(s.source, s.reason) for s in report.skipped] == [("r/b.txt", "empty document")]
        assert texts(memory) == {"Logs go after seven days.", "Backups run at two."}
        assert seen == [(5, 5)]


def test_an_unchanged_file_is_passed_over_and_what_was_forgotten_stays_forgotten(tmp_path: Path) -> None:
    root = write(tmp_path / "r", a_md="Logs go after seven days.", b_md="Backups run at two.")
    with Memory.open() as memory:
        first = memory.encode_files([root])
        memory.forget(first.entries[0].id)
        events = memory.check().events
        again = memory.encode_files([root])
        assert {*states(again).values()} == {"unchanged"} and again.entries == ()
        assert memory.check().events == events, "encoding what is there already writes nothing"
        assert texts(memory) == {"Backups run at two."}
        assert {*states(memory.encode_files([root], again=True)).values()} == {"encoded"}
        assert len(texts(memory)) == 2


def test_of_a_file_that_changed_the_rest_keeps_its_history(tmp_path: Path) -> None:
    root = write(tmp_path / "r", a_md="Alpha stays here. Bravo goes away.", b_md="Charlie is elsewhere.")
    with Memory.open() as memory:
        before = {entry.text: entry.id for entry in memory.encode_files([root]).entries}
        write(root, a_md="Alpha stays here. Delta is new.")
        report = memory.encode_files([root])
        assert states(report) == {"r/a.md": "encoded", "r/b.md": "unchanged"}
        assert report.replaced == (before["Bravo goes away."],) and report.joined == 1
        assert texts(memory) == {"Alpha stays here.", "Delta is new.", "Charlie is elsewhere."}
        assert memory.get(before["Alpha stays here."]).alive
        assert [hit.entry.text for hit in memory.search("Bravo")] == []


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.html", "<p>Alpha stays here.</p><p>Bravo goes away.</p>", "<p>Alpha stays here.</p>"),
        ("a.jsonl", '{"text": "Alpha stays here."}\n{"text": "Bravo goes away."}', '{"text": "Alpha stays here."}'),
        ("a.csv", "what\nAlpha stays here.\nBravo goes away.", "what\nAlpha stays here."),
        ("a.md", "- Alpha stays here.\n\n```\nBravo goes away.\n```", "- Alpha stays here."),
    ],
)
def test_no_format_leaves_an_old_tail_that_is_found(tmp_path: Path, name: str, before: str, after: str) -> None:
    with Memory.open() as memory:
        (tmp_path / name).write_text(before)
        memory.encode_files([tmp_path / name])
        assert memory.search("Bravo")
        (tmp_path / name).write_text(after)
        memory.encode_files([tmp_path / name])
        assert not memory.search("Bravo") and len(memory.search("Alpha")) == 1


def test_a_file_that_is_gone_is_named_and_its_entries_end_only_when_asked(tmp_path: Path) -> None:
    root = write(tmp_path / "r", a_md="Alpha is here.", b_md="Bravo is here.")
    other = write(tmp_path / "s", c_md="Charlie is here.")
    with Memory.open() as memory:
        memory.encode_files([root, other])
        memory.add("Mine is here.", sources=["r/a.md"])
        (root / "a.md").unlink()
        (other / "c.md").unlink()
        report = memory.encode_files([root])
        assert states(report) == {"r/a.md": "missing", "r/b.md": "unchanged"} and len(texts(memory)) == 4
        report = memory.encode_files([root], prune=True)
        assert [(f.source, f.state, f.entries) for f in report.files if f.state == "pruned"] == [("r/a.md", "pruned", 1)]
        assert texts(memory) == {"Bravo is here.", "Charlie is here.", "Mine is here."}, "another folder and what was added are not touched"
        assert states(memory.encode_files([root], prune=True)) == {"r/b.md": "unchanged"}
        [dead] = memory.list(standing="dead")
        assert memory.restore(dead.id).alive
        assert memory.check().ok


def test_a_renamed_file_keeps_the_history_of_its_entries(tmp_path: Path) -> None:
    root = write(tmp_path / "r", a_md="Alpha is here.")
    with Memory.open() as memory:
        [old] = memory.encode_files([root]).entries
        (root / "a.md").rename(root / "z.md")
        report = memory.encode_files([root], prune=True)
        assert states(report) == {"r/z.md": "encoded", "r/a.md": "pruned"} and report.replaced == ()
        now = memory.get(old.id)
        assert now.alive and now.sources == ("r/z.md",)


def test_pruning_a_folder_of_the_same_name_elsewhere_touches_nothing(tmp_path: Path) -> None:
    one, two = write(tmp_path / "x" / "docs", a_md="Alpha is here."), write(tmp_path / "y" / "docs", b_md="Bravo is here.")
    with Memory.open() as memory:
        memory.encode_files([one])
        memory.encode_files([two], prune=True)
        assert texts(memory) == {"Alpha is here.", "Bravo is here."}


def test_scopes_are_apart_in_what_is_known_of_files(tmp_path: Path) -> None:
    root = write(tmp_path / "r", a_md="Alpha is here.")
    with Memory.open() as memory:
        memory.encode_files([root], scope="alice")
        assert states(memory.encode_files([root], scope="bob")) == {"r/a.md": "encoded"}
        (root / "a.md").unlink()
        memory.encode_files([root], scope="bob", prune=True)
        assert texts(memory, scope="alice") == {"Alpha is here."} and texts(memory, scope="bob") == set()


def test_what_several_files_say_of_one_name_is_put_together_though_only_one_changed(tmp_path: Path) -> None:
    root = write(tmp_path / "r", a_md="We asked the Platform Team for help.", b_md="Tea is drunk at four.")
    with Memory.open() as memory:
        assert "cross_doc" not in memory.encode_files([root]).by_origin
        write(root, b_md="The Platform Team drinks tea at four.")
        report = memory.encode_files([root])
        assert states(report)["r/a.md"] == "unchanged" and report.by_origin["cross_doc"] == 1
        [cross] = [entry for entry in memory.list() if entry.origin == "cross_doc"]
        assert cross.sources == ("r/a.md", "r/b.md")


def test_files_of_one_name_given_by_absolute_paths_are_two_sources(tmp_path: Path) -> None:
    write(tmp_path, a__notes_md="Alpha is here.", b__notes_md="Bravo is here.")
    with Memory.open() as memory:
        memory.encode_files([tmp_path / "a" / "notes.md", tmp_path / "b" / "notes.md"])
        assert texts(memory) == {"Alpha is here.", "Bravo is here."}


def test_a_document_that_was_encoded_by_hand_under_the_same_name_makes_the_file_news(tmp_path: Path) -> None:
    root = write(tmp_path / "r", a_md="Alpha is here.")
    with Memory.open() as memory:
        memory.encode_files([root])
        memory.encode([Document("r/a.md", "Bravo is here.")])
        assert texts(memory) == {"Bravo is here."}
        assert states(memory.encode_files([root])) == {"r/a.md": "encoded"} and texts(memory) == {"Alpha is here."}


def test_a_key_makes_the_call_repeatable_and_another_request_is_refused(tmp_path: Path) -> None:
    root = write(tmp_path / "r", a_md="Alpha is here.")
    with Memory.open() as memory:
        [one] = memory.encode_files([root], key="k").entries
        assert memory.encode_files([root], key="k", again=True).entries[0].id == one.id
        write(root, a_md="Bravo is here.")
        with pytest.raises(KeyReused):
            memory.encode_files([root], key="k")


def test_encoding_that_was_broken_off_goes_on_where_it_stopped(tmp_path: Path) -> None:
    root = write(tmp_path / "r", **{f"f{n:04}_md": f"Item number {n} is on shelf {n}." for n in range(1_100)})
    calls = 0

    class Breaking:
        id = "breaking-1"

        def encode(self, documents: Any) -> Encoding:
            nonlocal calls
            calls += 1
            if calls == 2:
                raise StoreError("the disk went away")
            from earnest.encoding import LocalEncoder

            return LocalEncoder(entity_sentences=0, cross_sentences=0).encode(documents)

    encoder = Breaking()
    with Memory.open(tmp_path / "m.db") as memory:
        with pytest.raises(StoreError):
            memory.encode_files([root], encoder=encoder)
        assert memory.stats().alive == 500
        report = memory.encode_files([root], encoder=encoder)
        assert list(states(report).values()).count("unchanged") == 500 and len(report.entries) == 600 and report.joined == 0
        assert memory.stats().alive == 1_100 and memory.check().ok


def test_other_rules_of_cutting_make_every_file_news(tmp_path: Path) -> None:
    from earnest.encoding import LocalEncoder

    root = write(tmp_path / "r", a_md="Alpha is here, and it goes on for so long that it can be cut in two pieces of text.")
    with Memory.open() as memory:
        memory.encode_files([root])
        report = memory.encode_files([root], encoder=LocalEncoder(max_chars=50))
        assert states(report) == {"r/a.md": "encoded"} and len(texts(memory)) == 2 and len(report.replaced) == 1


def test_front_matter_becomes_metadata_and_tags_of_the_entries(tmp_path: Path) -> None:
    root = write(tmp_path / "r", a_md="---\ntitle: Runbook\nversion: 1.10\ntags: [ops]\n---\n\nAlpha is here.")
    with Memory.open() as memory:
        [entry] = memory.encode_files([root]).entries
        assert entry.tags == ("ops",) and entry.metadata == {"title": "Runbook", "version": "1.10"}
        assert texts(memory, tags=["ops"]) == {"Alpha is here."}


def test_front_matter_that_changed_reaches_the_entries_but_not_over_what_a_person_changed(tmp_path: Path) -> None:
    text = "---\ntitle: {}\ntags: [{}]\n---\n\nAlpha is here. Bravo is here."
    root = write(tmp_path / "r", a_md=text.format("One", "x"))
    with Memory.open() as memory:
        alpha, bravo = memory.encode_files([root]).entries
        memory.add("Bravo is here.")  # joins, and stays the document's
        memory.update(bravo.id, tags=["mine"])
        for title, tag in (("Two", "y"), ("Three", "z")):
            write(root, a_md=text.format(title, tag))
            report = memory.encode_files([root])
            assert report.joined == 2 and report.replaced == ()
            assert (memory.get(alpha.id).metadata, memory.get(alpha.id).tags) == ({"title": title}, (tag,))
            assert (memory.get(bravo.id).metadata, memory.get(bravo.id).tags) == ({"title": "One"}, ("mine",))
        memory.undo(memory.events(entry=alpha.id, newest=True, limit=1)[0].seq)
        assert memory.get(alpha.id).metadata == {"title": "Two"}
        assert memory.check().ok


def test_an_entry_that_was_written_by_hand_keeps_its_metadata_when_a_document_says_the_same(tmp_path: Path) -> None:
    root = write(tmp_path / "r", a_md="---\ntitle: One\n---\n\nAlpha is here.")
    with Memory.open() as memory:
        mine = memory.add("Alpha is here.", sources=["r/a.md"], metadata={"mine": True})
        memory.encode_files([root])
        assert memory.get(mine.id).metadata == {"mine": True}


def test_what_was_assumed_of_a_file_is_noted_once(tmp_path: Path) -> None:
    root = write(tmp_path / "r", a_txt="The café is open.".encode("cp1252"), b_txt="Alpha is here.")
    with Memory.open() as memory:
        assert any("r/a.txt: read as Windows-1252" in note for note in memory.encode_files([root]).notes)
        write(root, b_txt="Bravo is here.")
        assert not any("Windows-1252" in note for note in memory.encode_files([root]).notes)

"""Texts of lessons that came from one: what was changed, cut or erased on one side stands over what the other left as it was."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from earnest import Memory
from earnest.core import lessons as form
from earnest.core.entry import STANDINGS
from earnest.core.lesson_merging import foreign, merged
from earnest.core.lessons import Lessons
from earnest.errors import InvalidInput, NotAllowed
from earnest.memory import merge_lessons
from earnest.testing import ManualClock, SeededRng

CUE: Final = "How about {}?"
TOPICS: Final = ("clamp bound", "socket timeout", "retry policy", "cache eviction")

NOBODY: Final = "What does nobody need?"


def opened(path: Path, clock: ManualClock, seed: int) -> Memory:
    return Memory.open(path, embedder="none", channel="settle-ci", clock=clock, rng=SeededRng(seed))


def entry(memory: Memory, topic: str) -> str:
    every = [each for standing in STANDINGS for each in memory.list(standing=standing, limit=100)]
    return next(each.id for each in every if topic in each.text)


class Fork:
    """A text that two sides go on from."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.clock = folder, ManualClock()
        self.base = folder / "base.jsonl"
        with opened(folder / "base.db", self.clock, 1) as memory:
            memory.meters.add("ci", unit="tests", scale=1)
            memory.meters.bind("ci", channel="settle-ci")
            memory.meters.add("desk", unit="tests", scale=5)
            made = [
                memory.add(f"Take care in {topic}.", cue=CUE.format(topic), kind="procedural", tags=["one", "two"]).id for topic in TOPICS
            ]
            memory.link(made[0], made[1], reason="the same module")
            memory.link(made[0], made[2], kind="temporal", weight=0.5)
            memory.pin(made[3])
            memory.configure(rules_cap=12)
            unloved = memory.add("Nobody needs this one any more.", cue=NOBODY).id
            memory.settle(memory.decide(NOBODY).id or "", delta=1, meter="ci")
            memory.forget(unloved)
            for topic in TOPICS[:2]:
                self.clock.advance(hours=1)
                ticket = memory.decide(CUE.format(topic)).id or ""
                memory.settle(ticket, delta=1, meter="ci")
            self.open = memory.decide(CUE.format(TOPICS[3])).id or ""
            memory.save_lessons(self.base)

    def side(self, name: str, *acts: Callable[[Memory], object]) -> Path:
        path = self.folder / f"{name}.jsonl"
        self.clock.advance(minutes=5)
        with opened(self.folder / f"{name}.db", self.clock, 50 + len(name)) as memory:
            memory.load_lessons(self.base)
            for act in acts:
                act(memory)
            memory.save_lessons(path)
        return path

    def joined(self, ours: Path, theirs: Path, *, base: bool = True) -> Lessons:
        """Both as one, whichever is named first, and the store that is made from it is whole."""
        into, other = self.folder / "both.jsonl", self.folder / "other.jsonl"
        merge_lessons(ours, theirs, into, self.base if base else None)
        merge_lessons(theirs, ours, other, self.base if base else None)
        assert into.read_bytes() == other.read_bytes()
        with opened(self.folder / f"{ours.stem}-{theirs.stem}-{base}.db", self.clock, 99) as memory:
            memory.load_lessons(into)
            assert memory.check().ok
            assert not memory.save_lessons(into).changed
        return form.parsed(into.read_text(encoding="utf-8"))


@pytest.fixture
def fork(tmp_path: Path) -> Fork:
    return Fork(tmp_path)


def settled(memory: Memory) -> None:
    """What the other side does meanwhile: it follows advice, which travels links, and adds some."""
    for topic in TOPICS[:2]:
        memory.settle(memory.decide(CUE.format(topic)).id or "", delta=1, meter="ci")
    memory.add("The build needs Node 20.", cue="Which Node does the build need?")


def read(path: Path) -> Lessons:
    return form.parsed(path.read_text(encoding="utf-8"))


CHANGES: Final[dict[str, Callable[[Memory], object]]] = {
    "a link is cut": lambda m: m.unlink(entry(m, TOPICS[0]), entry(m, TOPICS[1])),
    "one of two kinds is cut": lambda m: m.unlink(entry(m, TOPICS[0]), entry(m, TOPICS[2]), kind="temporal"),
    "a tag is taken off": lambda m: m.update(entry(m, TOPICS[0]), tags=["two"]),
    "a pin is taken off": lambda m: m.unpin(entry(m, TOPICS[3])),
    "a smaller importance": lambda m: m.update(entry(m, TOPICS[1]), importance=0.1),
    "a smaller setting": lambda m: m.configure(rules_cap=5),
    "a setting that was not there": lambda m: m.configure(holdout=0.1),
    "a smaller scale": lambda m: m.meters.add("desk", unit="tests", scale=2),
    "a ticket is abandoned": lambda m: m.abandon(m.pending()[0].id),
    "a lesson is forgotten": lambda m: m.forget(entry(m, TOPICS[2])),
    "one is brought back": lambda m: m.restore(entry(m, "Nobody needs")),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_one_side_changed_or_took_away_stands_over_what_the_other_left(fork: Fork, what: str) -> None:
    changed, other = fork.side("changed", CHANGES[what]), fork.side("other", settled)
    was, now, both = read(fork.base), read(changed), fork.joined(changed, other)
    assert form.body(now) != form.body(was), "the change is one that the text tells"

    def state(made: Lessons) -> Any:
        ends = {name: said.get("end") for name, said in made.entries.items()}
        kept = {name: {key: said[key] for key in said if key in ("tags", "pinned", "importance")} for name, said in made.entries.items()}
        return set(made.links), made.settings, made.meters, set(made.open), ends, kept

    came = {name for name in read(other).entries if name not in was.entries}
    links, settings, meters, still, ends, kept = state(both)
    assert (links, settings, meters, still) == state(now)[:4]
    assert [{k: v for k, v in each.items() if k not in came} for each in (ends, kept)] == [*state(now)[4:]]
    assert set(both.settled) == set(read(other).settled), "nothing that was measured is lost"


def test_without_what_both_came_from_a_cut_cannot_be_told_from_what_was_never_there(fork: Fork) -> None:
    changed, other = fork.side("changed", CHANGES["a link is cut"]), fork.side("other", settled)
    assert set(fork.joined(changed, other, base=False).links) == set(read(fork.base).links)


def test_a_link_that_was_cut_here_and_stated_anew_there_stays(fork: Fork) -> None:
    def anew(memory: Memory) -> None:
        memory.unlink(entry(memory, TOPICS[0]), entry(memory, TOPICS[1]))
        memory.link(entry(memory, TOPICS[0]), entry(memory, TOPICS[1]), reason="they fail together")

    cut, stated = fork.side("cut", CHANGES["a link is cut"]), fork.side("stated", anew)
    assert "they fail together" in {fact[4] for fact in fork.joined(cut, stated).links.values()}


def test_changes_of_both_sides_to_one_entry_both_stand(fork: Fork) -> None:
    one = fork.side("one", lambda m: m.update(entry(m, TOPICS[0]), tags=["one"], importance=0.9))
    two = fork.side("two", lambda m: m.update(entry(m, TOPICS[0]), tags=["one", "two", "three"], metadata={"by": "two"}))
    both = fork.joined(one, two)
    made = next(said for said in both.entries.values() if TOPICS[0] in said["text"])
    assert (made["tags"], made["importance"], made["metadata"]) == (["one", "three"], 0.9, {"by": "two"})


def test_outcomes_never_go_also_where_git_takes_a_change_back(fork: Fork) -> None:
    after = fork.side("after", settled)
    back = merged(read(after), read(fork.base), read(after))
    assert set(back.settled) == set(read(after).settled), "a revert takes back no measurement"
    assert not any("Node" in said["text"] for said in back.entries.values()), "but the lesson that came with it"


@pytest.mark.parametrize("base", [True, False])
def test_what_was_erased_on_one_side_comes_back_from_no_branch(fork: Fork, base: bool) -> None:
    gone: list[str] = []

    def erase(memory: Memory) -> None:
        gone.append(entry(memory, TOPICS[0]))
        memory.erase(entry=gone[0])

    erased, other = fork.side("erased", erase), fork.side("other", settled)
    for ours, theirs in ((erased, other), (other, erased)):
        both = fork.joined(ours, theirs, base=base)
        assert both.erased == frozenset(gone)
        text = (fork.folder / "both.jsonl").read_text(encoding="utf-8")
        assert TOPICS[0] not in text and text.startswith('["earnest lessons",3,')
        assert text.count(gone[0]) == 1, "its mark, and nothing that names it"
    both_sides = (fork.folder / "both.jsonl").rename(fork.folder / "joined.jsonl")
    again = fork.joined(both_sides, fork.base, base=base)
    assert again.erased == frozenset(gone) and not any(TOPICS[0] in said["text"] for said in again.entries.values())


def test_an_erasure_by_a_change_is_told_and_so_is_one_that_is_gone(fork: Fork) -> None:
    name = ""

    def erase(memory: Memory) -> None:
        nonlocal name
        name = entry(memory, TOPICS[2])
        memory.erase(entry=name)

    erased = fork.side("erased", erase)
    assert f"entry {name} is gone" in foreign(read(fork.base), read(erased))
    back = foreign(read(erased), read(fork.base))
    assert f"the erasure of entry {name} is gone" in back and f"entry {name} was erased and is back" in back


def test_questions_of_tickets_that_ended_come_back(fork: Fork) -> None:
    asked = f"tell me, what about the {TOPICS[0]} — really?"

    def ask(memory: Memory) -> None:
        ticket = memory.decide(asked).id or ""
        memory.settle(ticket, delta=1, meter="ci")

    path = fork.side("asked", ask)
    questions = [fact[-1].get("asked") for fact in read(path).settled.values()]
    assert sorted(filter(None, questions)) == [asked], "a question that its decider answers word by word is not told twice"
    with opened(fork.folder / "again.db", fork.clock, 3) as memory:
        memory.load_lessons(path)
        tickets = [memory.ticket(event.ticket or "") for event in memory.events(kind="decide", limit=100)]
        assert {t.query for t in tickets if t is not None} == {asked, *(CUE.format(topic) for topic in (*TOPICS[:2], TOPICS[3])), NOBODY}
        assert not memory.save_lessons(path).changed


def test_a_secret_in_a_question_is_kept_by_no_store(fork: Fork) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    path = fork.side("asked", lambda m: m.settle(m.decide(f"what about the {TOPICS[0]}?").id or "", delta=1, meter="ci"))
    made = read(path)
    texts = [*body] if (body := form.body(made)) else []
    with_secret = [each.replace(f"what about the {TOPICS[0]}?", f"what about the {TOPICS[0]} {secret}") for each in texts]
    gathering = form._Gathering("test")
    for number, each in enumerate(with_secret, 2):
        gathering.take(form._fact(each, "test", number), each, number)
    path.write_text(form.written(gathering.lessons("default")), encoding="utf-8")
    assert secret in path.read_text(encoding="utf-8")
    with opened(fork.folder / "again.db", fork.clock, 3) as memory:
        memory.load_lessons(path)
        memory.save_lessons(path)
    assert secret not in path.read_text(encoding="utf-8")


def test_an_empty_base_is_none_and_one_of_another_agent_is_refused(fork: Fork) -> None:
    empty, strange = fork.folder / "empty", fork.folder / "strange.jsonl"
    empty.write_bytes(b"")
    one, two = fork.side("one", CHANGES["a tag is taken off"]), fork.side("two", settled)
    made = merge_lessons(one, two, fork.folder / "made.jsonl", empty)
    assert made.parents == tuple(sorted((read(one).head, read(two).head)))
    strange.write_text(form.written(Lessons("else")), encoding="utf-8")
    with pytest.raises(InvalidInput, match="another agent"):
        merge_lessons(one, two, fork.folder / "made.jsonl", strange)


@pytest.mark.parametrize("style", ["merge", "diff3"])
def test_a_conflict_that_git_left_is_named_as_one_and_the_way_out_of_it(fork: Fork, style: str) -> None:
    """Without the driver git puts marks around the first line that differs, and that is always the first."""
    ours, theirs = fork.side("ours", settled), fork.side("theirs", CHANGES["a tag is taken off"])
    command = ["git", "merge-file", "-p", *(["--diff3"] if style == "diff3" else []), str(ours), str(fork.base), str(theirs)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert done.returncode > 0 and done.stdout.startswith(b"<<<<<<<")
    (fork.folder / "conflict.jsonl").write_bytes(done.stdout)
    with (
        opened(fork.folder / "conflict.db", fork.clock, 3) as memory,
        pytest.raises(InvalidInput, match=r"conflict that git left.*:3:FILE"),
    ):
        memory.load_lessons(fork.folder / "conflict.jsonl")


def test_a_text_that_another_system_wrote_its_ends_of_lines_into_is_read(fork: Fork) -> None:
    text = fork.base.read_bytes()
    other = fork.folder / "windows.jsonl"
    other.write_bytes(b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"))
    with opened(fork.folder / "windows.db", fork.clock, 3) as memory:
        assert memory.load_lessons(other).head == read(fork.base).head


def test_a_store_that_was_loaded_by_half_is_saved_over_no_text(fork: Fork) -> None:
    """A load that was killed, or a text with a value that cannot be used far down in it: part of it is in the store."""
    lines = form.body(read(fork.base))
    gathering = form._Gathering("test")
    unusable = form.line(["open", "late", 0, 1893456000000000, "nobody", [], "how?", {}])
    for number, each in enumerate([*lines, unusable], 2):
        gathering.take(form._fact(each, "test", number), each, number)
    bad = fork.folder / "bad.jsonl"
    bad.write_text(form.written(gathering.lessons("default")), encoding="utf-8")
    raw = bad.read_bytes()
    with opened(fork.folder / "half.db", fork.clock, 3) as memory:
        with pytest.raises(InvalidInput):
            memory.load_lessons(bad)
        assert memory.list(), "part of it is there"
        with pytest.raises(NotAllowed, match=r"cut short.*remove the store"):
            memory.save_lessons(bad)
        with pytest.raises(NotAllowed, match=r"cut short.*remove the store"):
            memory.load_lessons(fork.base)
        assert memory.check().ok
    assert bad.read_bytes() == raw


def test_a_load_that_is_killed_at_any_time_leaves_a_text_or_a_refusal(fork: Fork) -> None:
    """Killed wherever its disk is at: what is saved from the store then is all of the text or nothing."""
    script = (
        "import os, sys\nfrom earnest import Memory\nfrom earnest.stores.sqlite.store import SqliteStore\n"
        "left = int(sys.argv[3])\nwrite = SqliteStore.write\n"
        "def counted(*given, **named):\n    global left\n    left -= 1\n    if left < 0:\n        os._exit(9)\n"
        "    return write(*given, **named)\n"
        "SqliteStore.write = counted\n"
        "with Memory.open(sys.argv[1], embedder='none', channel='settle-ci') as memory:\n    memory.load_lessons(sys.argv[2])\n"
    )
    ends = set()
    for left in (1, 2, 3, 5, 9, 14, 200):
        store, text = fork.folder / f"killed-{left}.db", fork.folder / f"killed-{left}.jsonl"
        done = subprocess.run([sys.executable, "-c", script, str(store), str(fork.base), str(left)], check=False, timeout=120)
        with opened(store, fork.clock, 3) as memory:
            try:
                memory.save_lessons(text)
            except NotAllowed:
                ends.add("refused")
                continue
            made = read(text)
            ends.add("whole" if done.returncode == 0 else "untouched")
            assert form.body(made) == form.body(read(fork.base)) if done.returncode == 0 else not made.entries
    assert {"refused", "whole"} <= ends

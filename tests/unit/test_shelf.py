"""The shelf finds what comparing every vector would find, keeps in step with the file, and says how near it comes where it is large."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from earnest.core.filters import ALL, Filter, checked
from earnest.core.vectors import encoded, looked_over
from earnest.errors import NotAllowed
from earnest.memory import Memory
from earnest.stores.sqlite import ann
from earnest.stores.sqlite import shelf as shelves
from earnest.stores.sqlite.ann import Lists
from earnest.stores.sqlite.vectors import Shelves

D = 24


def units(raw: Any) -> list[bytes]:
    return [v for v in looked_over(raw, len(raw), None).vectors if v is not None]


class World:
    """A store with vectors of its own making, and a scan of every one of them by the side."""

    def __init__(self, memory: Memory, seed: int = 1) -> None:
        self.memory, self.chance, self.rng = memory, random.Random(seed), np.random.default_rng(seed)
        self.centres = self.rng.standard_normal((7, D))

    def vector(self) -> Any:
        return self.centres[self.chance.randrange(7)] + 0.5 * self.rng.standard_normal(D)

    def add(self, count: int, **fields: Any) -> list[str]:
        made = self.memory.add_many([{"text": f"note {self.chance.random()}", **fields} for _ in range(count)])
        with self.memory._writing() as tx:
            rows = [stored.row for entry in made if (stored := tx.entry(entry.id)) is not None]
            tx.put_vectors("m", dict(zip(rows, encoded(units([self.vector() for _ in rows])), strict=True)))
        return [entry.id for entry in made]

    def nearest(self, question: bytes, chosen: Filter, limit: int, memory: Memory | None = None) -> list[tuple[int, float]]:
        with (memory or self.memory)._store.read() as reading:
            return reading.nearest("m", question, chosen, limit)

    def scanned(self, question: bytes, chosen: Filter, limit: int) -> list[tuple[int, float]]:
        """By a full scan of the rows, in plain Python."""
        with self.memory._store.read() as reading:
            db = cast(Any, reading)._db
            passed = {stored.row for stored in reading.page(chosen, None, 100_000)}
            asked = np.frombuffer(question, "<f4").astype(float)
            made = []
            for row, code in db.execute("SELECT entry, code FROM vectors"):
                if row in passed:
                    scale = float(np.frombuffer(code, "<f4", 1)[0])
                    made.append((row, scale * float(np.frombuffer(code, np.int8, offset=4).astype(float) @ asked)))
        return sorted(made, key=lambda pair: (-pair[1], -pair[0]))[:limit]

    def question(self) -> bytes:
        return units([self.vector()])[0]


def same(found: list[tuple[int, float]], scanned: list[tuple[int, float]]) -> None:
    assert [score for _, score in found] == pytest.approx([score for _, score in scanned], abs=2e-6)
    # Rows may only differ where their cosines do not.
    by_row = dict(scanned)
    for row, score in found:
        assert row not in by_row or by_row[row] == pytest.approx(score, abs=2e-6)
    assert len({row for row, _ in found} - set(by_row)) <= 1


@pytest.fixture
def world() -> Iterator[World]:
    with Memory.open(":memory:") as memory:
        yield World(memory)


FILTERS: tuple[dict[str, Any], ...] = (
    {}, {"scope": "b"}, {"scope": ["b", ""]}, {"scope": ALL}, {"scope": "nobody"}, {"scope": ALL, "kind": "episodic"},
    {"scope": ALL, "kind": "rule"}, {"scope": ALL, "tags": "t"}, {"scope": "b", "source": "s"}, {"scope": ALL, "since": "2026-05-01"},
    {"scope": ALL, "until": "2026-04-01"}, {"scope": ALL, "tags": "rare"},
)  # fmt: skip


def filled(world: World) -> list[str]:
    ids = world.add(120) + world.add(80, scope="b", kind="episodic", valid_from="2026-05-02") + world.add(40, tags=["t"], sources=["s"])
    return (
        ids
        + world.add(30, scope="b", sources=["s"], valid_from="2026-03-01")
        + world.add(10, kind="rule", scope="c")
        + world.add(1, tags=["rare"])
    )


@pytest.mark.parametrize("where", FILTERS, ids=str)
def test_it_finds_what_a_full_scan_finds_inside_every_filter(world: World, where: dict[str, Any]) -> None:
    filled(world)
    for limit in (1, 7, 300):
        question = world.question()
        same(world.nearest(question, checked(**where), limit), world.scanned(question, checked(**where), limit))


def test_conditions_that_few_meet_are_met_by_those_few(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("earnest.stores.sqlite.vectors._BLOCK", 8)
    monkeypatch.setattr("earnest.stores.sqlite.vectors._BLOCKS", 2)
    filled(world)
    for where in FILTERS:
        question = world.question()
        same(world.nearest(question, checked(**where), 5), world.scanned(question, checked(**where), 5))


def test_it_keeps_in_step_with_everything_that_happens(world: World) -> None:
    ids = filled(world)
    other = World(world.memory, seed=2)
    for step in range(40):
        what = world.chance.choice(("add", "forget", "restore", "update", "undo", "anew", "drop"))
        living = [entry.id for entry in world.memory.list(scope=ALL)]
        dead = [entry.id for entry in world.memory.list(scope=ALL, standing="dead")]
        if what == "add":
            ids += other.add(world.chance.randrange(1, 4), scope=world.chance.choice(("", "b")))
        elif what == "forget":
            world.memory.forget(world.chance.choice(living))
        elif what == "restore" and dead:
            with suppress(NotAllowed):
                world.memory.restore(dead[0])
        elif what == "update":
            world.memory.update(world.chance.choice(living), text=f"changed {step}")
        elif what == "undo" and (said := world.memory.events(kind="forget", limit=1, newest=True)):
            with suppress(NotAllowed):
                world.memory.undo(said[0].seq)
        elif what in ("anew", "drop"):
            with world.memory._writing() as tx:
                stored = tx.entry(world.chance.choice(living))
                assert stored is not None
                if what == "anew":
                    tx.put_vectors("m", {stored.row: encoded(units([world.vector()]))[0]})
                else:
                    tx.drop_vectors(stored.row)
                    tx.append("edit", entries=[stored.row], data={"fields": []})
        question = world.question()
        same(world.nearest(question, checked(scope=ALL), 20), world.scanned(question, checked(scope=ALL), 20))
    assert world.memory.check().ok, world.memory.check().problems


def test_a_thousand_changes_at_once_are_taken_in(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelves, "_MANY", 20)
    ids = filled(world)
    question = world.question()
    world.nearest(question, checked(scope=ALL), 5)
    for entry in ids[:60]:
        if world.memory.get(entry).kind != "rule":
            world.memory.forget(entry)
    same(world.nearest(question, checked(scope=ALL), 50), world.scanned(question, checked(scope=ALL), 50))


def test_what_a_transaction_sees_of_itself_is_seen_by_no_other_until_it_is_committed(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m.db") as memory:
        world = World(memory)
        world.add(5)
        question = world.question()
        before = world.nearest(question, checked(), 10)

        class Stop(Exception):
            pass

        with pytest.raises(Stop), memory._writing() as tx:
            tx.drop_vectors(before[0][0])
            assert len(tx.nearest("m", question, checked(), 10)) == 4
            assert world.nearest(question, checked(), 10) == before
            raise Stop
        assert world.nearest(question, checked(), 10) == before


def test_a_question_of_another_length_or_model_finds_nothing(world: World) -> None:
    world.add(5)
    assert world.nearest(units([[1.0] * (D + 1)])[0], checked(), 5) == []
    with world.memory._store.read() as reading:
        assert reading.nearest("another", world.question(), checked(), 5) == [] and reading.cosines("another", world.question(), [1]) == {}
        assert reading.nearest("m", world.question(), checked(), 0) == []


def test_cosines_are_those_of_the_scan_and_leave_out_what_has_no_vector(world: World) -> None:
    world.add(30)
    plain = world.memory.add("no vector here")
    question = world.question()
    with world.memory._store.read() as reading:
        stored = reading.entry(plain.id)
        assert stored is not None
        made = reading.cosines("m", question, [*range(1, 31), stored.row, 9_999])
    scanned = dict(world.scanned(question, checked(), 100))
    assert set(made) == set(scanned) and made == pytest.approx(scanned, abs=2e-6)


def test_a_large_shelf_looks_at_the_likely_ones_and_misses_next_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelves, "EXACT", 500)
    monkeypatch.setattr(shelves, "DEEPEST", 400)
    monkeypatch.setattr(shelves, "DEEPER", 20)
    with Memory.open(":memory:") as memory:
        world = World(memory)
        world.add(3_000)
        found = kept = 0
        for _ in range(12):
            question = world.question()
            wanted = {row for row, _ in world.scanned(question, checked(), 10)}
            kept += len(wanted & {row for row, _ in world.nearest(question, checked(), 10)})
            found += len(wanted)
        # Only 24 sign bits a vector here; with 384 it is above 0.99, see docs/embedders.md.
        assert kept / found > 0.9


def test_a_shelf_that_grows_block_by_block_holds_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelves, "BLOCK", 64)
    monkeypatch.setattr(shelves, "_WIDE", 16)
    monkeypatch.setattr(shelves, "_BATCH", 50)
    with Memory.open(":memory:") as memory:
        world = World(memory)
        for count in (1, 63, 1, 130, 7):
            world.add(count)
            question = world.question()
            same(world.nearest(question, checked(), 30), world.scanned(question, checked(), 30))


def test_ties_go_to_the_newer_entry(world: World) -> None:
    entries = world.memory.add_many([{"text": f"note {n}"} for n in range(9)])
    code = encoded(units([[1.0] * D]))[0]
    with world.memory._writing() as tx:
        tx.put_vectors("m", {n + 1: code for n in range(len(entries))})
    assert [row for row, _ in world.nearest(units([[1.0] * D])[0], checked(), 4)] == [9, 8, 7, 6]


def test_check_notices_a_damaged_vector_and_repair_has_it_made_again(tmp_path: Path) -> None:
    import apsw

    path = tmp_path / "m.db"
    with Memory.open(path, embedder="hashing:64") as memory:
        memory.add("The cat sleeps.")
        memory.add("The moon is up.")
    db = apsw.Connection(str(path))
    db.execute("UPDATE vectors SET code = x'00' WHERE vector = 1; UPDATE models SET living = 7")
    db.close()
    with Memory.open(path, embedder=None) as memory:
        checked_ = memory.check()
        assert not checked_.ok and any("vector of entry" in p for p in checked_.problems) and any("model" in p for p in checked_.problems)
        assert memory.check(repair=True).ok
        assert dict(memory.stats().vectors.others) == {"hashing:64": 1}


def test_one_shelf_serves_many_readers() -> None:
    with Memory.open(":memory:") as memory:
        world = World(memory)
        world.add(10)
        shared = Shelves()
        with memory._store.read() as reading:
            db = cast(Any, reading)._db
            assert shared.current(db, "m") is shared.current(db, "m")
            assert shared.current(db, "another") is None


@pytest.mark.parametrize("order", [1, -1])
def test_what_sqlite_joins_is_what_its_rows_hold(tmp_path: Path, order: int) -> None:
    memory = Memory.open(tmp_path / "memory.db", embedder="none")
    for place in range(6):
        scope = ("", "alice")[place % 2]
        memory.add(f"note {place}", scope=scope, kind=("semantic", "procedural", "episodic")[place % 3])
    # Every byte there is, none of it text: nothing may be cut at a zero or mended.
    codes = [bytes(range(256)) + bytes([place]) * (D + 4) for place in range(6)]
    with memory._writing() as tx:
        tx.put_vectors("m", dict(zip([1, 2, 3, 4, 5, 6][::order], codes, strict=True)))
    with memory._store.read() as reading:
        db = cast(Any, reading)._db
        joined, single = (shelves.Shelf(1, 256 + D) for _ in range(2))
        joined._take_in_joined(db)
        assert joined.count == 6
        assert [len(batch) for batch in single._take_in(db, True)] == [6]
        for name in ("_rows", "_scopes", "_kinds", "_alive", "_scales"):
            assert getattr(joined, name)[:6].tobytes() == getattr(single, name)[:6].tobytes(), name
        assert joined._blocks[0][:6].tobytes() == single._blocks[0][:6].tobytes() == b"".join(code[4:] for code in codes[::order])
    memory.close()


def test_codes_that_sqlite_does_not_join_byte_by_byte_are_read_row_by_row(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.add(30)
    question = world.question()
    monkeypatch.setattr(shelves, "_JOINED", shelves._JOINED.replace("group_concat(code, '')", "group_concat(code, '?')"))
    world.memory._store.forget()
    same(world.nearest(question, checked(), 30), world.scanned(question, checked(), 30))


# the extra `ann`


def lists_made(world: World, monkeypatch: pytest.MonkeyPatch, patient: int = 1) -> Lists:
    """The lists of the shelf, made of a few hundred vectors after one question."""
    for name, value in {"FROM": 200, "PATIENT": patient, "LISTS": 8, "PROBED": 4, "_LOT": 16, "_MANY_ANEW": 30}.items():
        monkeypatch.setattr(ann, name, value)
    for name, value in {"EXACT": 50, "DEEPEST": 40, "DEEPER": 2, "LISTED": 120, "LISTED_DEEPER": 2}.items():
        monkeypatch.setattr(shelves, name, value)
    world.add(600)
    for _ in range(patient):
        world.nearest(world.question(), checked(), 5)
    lists = the_lists(world)
    assert lists.wait(60)
    return lists


def the_lists(world: World) -> Lists:
    return cast(Any, world.memory._store)._shelves._shelves["m"].lists  # type: ignore[no-any-return]


def overlap(world: World, chosen: Filter, questions: int = 20, limit: int = 10) -> float:
    found = 0
    for _ in range(questions):
        question = world.question()
        scanned = world.scanned(question, chosen, limit)
        got = world.nearest(question, chosen, limit)
        exact = dict(world.scanned(question, chosen, 10_000))
        assert got == sorted(got, key=lambda pair: (-pair[1], -pair[0])), "best first"
        for row, score in got:
            assert score == pytest.approx(exact[row], abs=2e-6), "what the lists name is compared as everything is"
        found += len({row for row, _ in scanned} & {row for row, _ in got})
    return found / (questions * limit)


def test_lists_find_nearly_all_of_the_nearest_and_score_them_as_ever(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    lists_made(world, monkeypatch)
    assert overlap(world, checked()) >= 0.9
    question = world.question()
    assert world.nearest(question, checked(), 10) == world.nearest(question, checked(), 10), "the same question, the same answer"


def test_lists_are_made_only_where_much_is_asked_of_many(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    make = Lists._make

    def noted(self: Lists, count: int) -> None:
        asked.append(count)
        make(self, count)

    monkeypatch.setattr(Lists, "_make", noted)
    lists_made(world, monkeypatch, patient=3)
    assert asked == [600]
    with Memory.open(":memory:") as memory:
        other = World(memory, seed=3)
        other.add(190)
        for _ in range(10):
            other.nearest(other.question(), checked(), 5)
        assert not the_lists(other).ready and asked == [600], "too few vectors"


def test_a_handful_in_one_scope_is_found_beside_the_lists_of_all(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    lists = lists_made(world, monkeypatch)
    world.add(5, scope="b")
    for where in ({"scope": "b"}, {"scope": ["b", "c"]}, {"scope": ALL, "kind": "episodic"}, {"scope": ALL, "tags": "none"}):
        question = world.question()
        same(world.nearest(question, checked(**where), 10), world.scanned(question, checked(**where), 10))
    world.add(150, scope="b")
    assert lists.ready and overlap(world, checked(scope="b")) >= 0.9, "a filter that leaves few of all is not left to the lists"


def test_what_comes_goes_and_changes_is_found_by_the_lists_at_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    lists = lists_made(world, monkeypatch)
    for _ in range(12):
        (fresh,) = world.add(1)
        with world.memory._writing() as tx:
            stored = tx.entry(fresh)
            assert stored is not None
            vector = units([10 * world.vector() + 50 * world.rng.standard_normal(D)])[0]
            tx.put_vectors("m", {stored.row: encoded([vector])[0]})
        assert world.nearest(vector, checked(), 3)[0][0] == stored.row, "new, and with another vector than at first"
        world.memory.forget(fresh)
        assert stored.row not in dict(world.nearest(vector, checked(), 50)), "what died is not named"
        world.memory.restore(fresh)
        assert world.nearest(vector, checked(), 3)[0][0] == stored.row
        world.add(8)
    assert lists.ready and lists is the_lists(world) and overlap(world, checked()) >= 0.9


def test_lists_that_are_outgrown_or_out_of_date_are_made_anew(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    lists = lists_made(world, monkeypatch)
    first = lists._made
    world.add(1_500)  # the generation of 600 is 512
    world.nearest(world.question(), checked(), 5)
    world.nearest(world.question(), checked(), 5)
    assert lists.wait(60) and lists._made is not first
    second = lists._made
    with world.memory._store.read() as reading:
        rows = [stored.row for stored in reading.page(checked(), None, 40)]
    with world.memory._writing() as tx:
        tx.put_vectors("m", dict(zip(rows, encoded(units([world.vector() for _ in rows])), strict=True)))
    for _ in range(2):
        world.nearest(world.question(), checked(), 5)
    assert lists.wait(60) and lists._made is not second and overlap(world, checked()) >= 0.9


def test_lists_grown_bit_by_bit_answer_as_lists_made_at_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    lists = lists_made(world, monkeypatch)
    for _ in range(10):
        world.add(30)
        world.nearest(world.question(), checked(), 5)
    grown = lists._made
    shelf = cast(Any, world.memory._store)._shelves._shelves["m"]
    assert grown is not None and grown.count > 700 and grown.generation == 512
    again = ann.Ann(D, shelf._widened, grown.count)
    mask = shelf.mask(None, None, rules=False)[: grown.count]
    for _ in range(20):
        question = np.frombuffer(world.question(), "<f4")
        one, other = (made.likely(question, mask, 1.0, 60) for made in (grown, again))
        assert one is not None and other is not None and one.tolist() == other.tolist()


def test_what_was_erased_leaves_the_lists_too(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    lists = lists_made(world, monkeypatch)
    (doomed,) = world.add(1)
    world.memory.erase(entry=doomed)
    world.nearest(world.question(), checked(), 5)
    assert not lists.ready and the_lists(world) is not lists


@pytest.mark.parametrize("error", [RuntimeError("no memory for it"), ImportError("broken"), MemoryError()])
def test_where_lists_cannot_be_made_recall_goes_on_as_without(world: World, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def broken(*args: Any) -> Any:
        raise error

    monkeypatch.setattr(ann, "Ann", broken)
    for name, value in {"FROM": 200, "PATIENT": 1}.items():
        monkeypatch.setattr(ann, name, value)
    monkeypatch.setattr(shelves, "EXACT", 50)
    world.add(600)
    for _ in range(3):
        question = world.question()
        same(world.nearest(question, checked(), 10), world.scanned(question, checked(), 10))
    assert not the_lists(world).wait(60)


def test_without_the_extra_nothing_is_missed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ann, "here", lambda: False)
    for name, value in {"FROM": 200, "PATIENT": 1}.items():
        monkeypatch.setattr(ann, name, value)
    monkeypatch.setattr(shelves, "EXACT", 50)
    world.add(600)
    question = world.question()
    same(world.nearest(question, checked(), 10), world.scanned(question, checked(), 10))
    assert not the_lists(world).wait(1)


def test_many_threads_ask_while_others_write(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    lists_made(world, monkeypatch)
    questions = [world.question() for _ in range(30)]
    wrong: list[BaseException] = []

    def ask() -> None:
        try:
            for question in questions:
                assert len(world.nearest(question, checked(), 10)) == 10
        except BaseException as error:
            wrong.append(error)
            raise

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(10):
        world.add(20)
    for thread in threads:
        thread.join()
    assert wrong == [] and overlap(world, checked()) >= 0.9

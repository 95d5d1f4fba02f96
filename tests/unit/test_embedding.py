"""Recall by meaning through `Memory`: what is embedded when, what a broken embedder does, and what is said about it."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from earnest.core.filters import ALL
from earnest.core.vectors import decoded
from earnest.errors import EmbedderFailed, InvalidInput, NotAvailable, StoreBusy
from earnest.memory import Memory
from earnest.testing.clock import ManualClock

WORDS = ("cat", "feline", "log", "journal", "gate", "door", "moon", "x")


class Thesaurus:
    """An embedder in which cat and feline, log and journal, gate and door are one; it counts what it is asked."""

    remote = False

    def __init__(self, model_id: str = "thesaurus", dimension: int = 8) -> None:
        self.model_id, self.dimension = model_id, dimension
        self.asked: list[str] = []
        self.calls = 0
        self.fails: Callable[[Sequence[str]], Any] | None = None

    def embed(self, texts: Sequence[str]) -> Any:
        self.calls += 1
        self.asked += texts
        if self.fails is not None:
            return self.fails(texts)
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> list[float]:
        made = [0.01] * self.dimension
        for place, word in enumerate(WORDS):
            if word in text.lower():
                made[(place // 2) % self.dimension] += 1.0
        return made


@pytest.fixture
def embedder() -> Thesaurus:
    return Thesaurus()


@pytest.fixture
def memory(embedder: Thesaurus) -> Iterator[Memory]:
    with Memory.open(":memory:", embedder=embedder, clock=ManualClock()) as memory:
        yield memory


def texts(memory: Memory, query: str, **options: Any) -> list[str]:
    return [hit.entry.text for hit in memory.search(query, **options)]


def codes(memory: Memory) -> dict[str, list[float]]:
    """Every stored vector by its entry's text."""
    with memory._store.read() as reading:
        rows = cast(Any, reading)._db.execute("SELECT text, code FROM vectors JOIN entries USING (entry)").fetchall()
    return {text: decoded([bytes(code)])[0].tolist() for text, code in rows}


def found_codes(memory: Memory) -> set[str]:
    return {finding.code for finding in memory.doctor().findings}


# asking


def test_an_entry_is_found_by_what_it_means(memory: Memory) -> None:
    memory.add("The cat sleeps on the sofa.")
    memory.add("The gate closes at eight.")
    for mode in ("auto", "hybrid", "rrf", "dense"):
        assert texts(memory, "feline", mode=mode, k=1) == ["The cat sleeps on the sofa."], mode
    assert texts(memory, "feline", mode="keyword") == []


def test_the_nearest_of_what_is_far_is_no_hit_where_it_is_known_what_is_near(memory: Memory) -> None:
    cat, lunch = "The cat sleeps on the sofa.", "Lunch is at noon."
    for text in (cat, "The gate closes at eight.", lunch):
        memory.add(text, valid_from="2026-05-05" if text == lunch else None)
    assert texts(memory, "feline") == [cat, lunch], "nobody knows what is near"
    memory.configure(near=0.7)
    assert texts(memory, "feline") == [cat, lunch], "half as near as that is near enough to be shown"
    memory.configure(near=0.8)
    for mode in ("auto", "hybrid"):
        assert texts(memory, "feline", mode=mode) == [cat], mode
        assert set(texts(memory, "feline lunch", mode=mode)) == {cat, lunch}, "a word that it shares speaks for it"
        assert lunch in texts(memory, "feline in May 2026", mode=mode), "so does the time that is asked about"
    assert len(texts(memory, "feline", mode="dense")) == 3, "who asks for meaning alone is answered by it"


@pytest.mark.parametrize("query", ["", "   ", "\u200b", None])
def test_a_blank_question_asks_no_embedder(memory: Memory, embedder: Thesaurus, query: str | None) -> None:
    memory.add("private note x")
    before = embedder.calls
    assert memory.search(query) == [] and not memory.answer(query)
    assert embedder.calls == before


def test_a_question_is_embedded_once(memory: Memory, embedder: Thesaurus) -> None:
    memory.add("The cat sleeps.")
    for _ in range(3):
        memory.search("feline")
        memory.answer("feline")
    assert embedder.asked.count("feline") == 1


def test_a_store_without_vectors_asks_no_embedder(memory: Memory, embedder: Thesaurus) -> None:
    assert memory.search("feline") == [] and embedder.calls == 0


def test_filters_hold_for_meaning_too(memory: Memory) -> None:
    memory.add("The cat of Alice.", scope="alice", tags=["pet"], sources=["diary"])
    memory.add("The cat of Bob.", scope="bob", kind="episodic", valid_from="2026-05-01")
    memory.add("When the cat is hungry: feed it.", kind="rule", cue="cat", scope="bob")
    assert texts(memory, "feline", mode="dense") == []
    assert texts(memory, "feline", mode="dense", scope="alice") == ["The cat of Alice."]
    assert texts(memory, "feline", mode="dense", scope="bob") == ["The cat of Bob."]
    assert texts(memory, "feline", mode="dense", scope=ALL, kind="rule") == ["When the cat is hungry: feed it."]
    assert texts(memory, "feline", mode="dense", scope=ALL, tags="pet") == ["The cat of Alice."]
    assert texts(memory, "feline", mode="dense", scope=ALL, source="diary") == ["The cat of Alice."]
    assert texts(memory, "feline", mode="dense", scope=ALL, since="2026-05-01", until="2026-05-02") == ["The cat of Bob."]
    assert texts(memory, "feline", mode="dense", scope="nobody") == []


def test_the_dead_are_not_near_and_the_restored_are_without_being_embedded_again(memory: Memory, embedder: Thesaurus) -> None:
    cat = memory.add("The cat sleeps.")
    assert texts(memory, "feline", mode="dense") == ["The cat sleeps."]
    memory.forget(cat.id)
    memory.add("The moon is up.")
    assert "The cat sleeps." not in texts(memory, "feline", mode="dense")
    memory.restore(cat.id)
    assert texts(memory, "feline", mode="dense", k=1) == ["The cat sleeps."]
    assert embedder.asked.count("The cat sleeps.") == 1


def test_no_mode_of_meaning_works_without_an_embedder_or_vectors() -> None:
    with Memory.open(":memory:") as memory:
        memory.add("The cat sleeps.")
        for mode in ("hybrid", "rrf", "dense"):
            with pytest.raises(NotAvailable, match="no embedder"):
                memory.search("cat", mode=mode)
        assert texts(memory, "cat") == ["The cat sleeps."]


# writing


def test_every_way_of_writing_makes_vectors(memory: Memory) -> None:
    first = memory.add("The cat sleeps.")
    memory.add_many([{"text": f"Log number {n} of the gate."} for n in range(3)])
    changed = memory.update(first.id, text="The feline sleeps.")
    pair = [memory.add(f"The door is open on floor {n}.").id for n in range(2)]
    memory.merge(pair, text="The doors are open.")
    memory.undo(memory.events(kind="merge", limit=1)[0].seq)
    from earnest.encoding import Document

    memory.encode([Document("notes", "The moon rises at nine. The gate closes at eight.")])
    memory.update(changed.id, importance=0.9)
    vectors = memory.stats().vectors
    assert vectors.missing == 0 and vectors.usable == memory.stats().alive


def test_the_same_text_is_embedded_once(memory: Memory, embedder: Thesaurus) -> None:
    first = memory.add("The cat sleeps.")
    memory.add("The cat sleeps.", scope="elsewhere")
    memory.add("The cat sleeps.", kind="procedural")
    changed = memory.update(first.id, text="The cat is awake.")
    memory.update(changed.id, text="The cat sleeps.")
    assert embedder.asked.count("The cat sleeps.") == 1
    assert memory.stats().vectors.missing == 0


def test_a_cue_is_part_of_what_is_embedded(memory: Memory, embedder: Thesaurus) -> None:
    memory.add("Never.", cue="May the gate be open?")
    assert embedder.asked == ["May the gate be open?\nNever."]
    assert texts(memory, "door", mode="dense") == ["Never."]


def test_stored_vectors_have_unit_length(memory: Memory) -> None:
    memory.add("The cat reads the log.")
    [vector] = codes(memory).values()
    assert math.isclose(sum(x * x for x in vector), 1.0, abs_tol=1e-5)


# embedders that fail

NOTHING: dict[str, Any] = {}
BROKEN: dict[str, tuple[Callable[[Sequence[str]], Any], str]] = {
    "raises": (lambda texts: NOTHING["key"], "KeyError"),
    "too few": (lambda texts: [[1.0] * 8] * (len(texts) - 1), "vectors for"),
    "too many": (lambda texts: [[1.0] * 8] * (len(texts) + 1), "vectors for"),
    "None": (lambda texts: None, "NoneType"),
    "a text": (lambda texts: "1.0", "str"),
    "null rows": (lambda texts: [None for _ in texts], "no vector"),
    "empty rows": (lambda texts: [[] for _ in texts], "no vector"),
    "NaN": (lambda texts: [[math.nan] + [1.0] * 7 for _ in texts], "NaN"),
    "infinity": (lambda texts: [[math.inf] + [1.0] * 7 for _ in texts], "NaN or infinity"),
    "zeros": (lambda texts: [[0.0] * 8 for _ in texts], "zeros"),
    "words": (lambda texts: [["a"] * 8 for _ in texts], "no vector"),
    "a matrix each": (lambda texts: [[[1.0] * 8] for _ in texts], "no vector"),
    "another length": (lambda texts: [[1.0] * 5 for _ in texts], "5 dimensions in place of 8"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_embedder_loses_no_text_stores_no_vector_and_is_named(memory: Memory, embedder: Thesaurus, name: str) -> None:
    memory.add("The moon is up.")
    embedder.fails, said = BROKEN[name]
    entry = memory.add("The cat sleeps on the sofa.")
    assert "The cat sleeps on the sofa." not in codes(memory)
    assert texts(memory, "sofa", mode="keyword") == ["The cat sleeps on the sofa."]
    assert memory.stats().vectors.missing == 1
    assert {"vectors_missing", "embedder_failing"} <= found_codes(memory)
    [finding] = [f for f in memory.doctor().findings if f.code == "vectors_missing"]
    assert entry.id in finding.evidence and "reembed" in finding.fix
    [failing] = [f for f in memory.doctor().findings if f.code == "embedder_failing"]
    assert said in failing.evidence
    with pytest.raises(EmbedderFailed) if name == "nothing" else _no_error():
        report = memory.reembed()
        assert report.left == 1 and report.failed == 1 and said in report.why[entry.id]
    embedder.fails = None
    assert memory.reembed().left == 0
    assert texts(memory, "feline", mode="dense", k=1) == ["The cat sleeps on the sofa."]
    assert not {"vectors_missing", "embedder_failing"} & found_codes(memory)


class _no_error:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


def test_one_bad_text_keeps_no_other_from_its_vector(memory: Memory, embedder: Thesaurus) -> None:
    def picky(texts: Sequence[str]) -> Any:
        if any("second" in text for text in texts):
            raise ValueError("cannot embed that")
        return [embedder.vector(text) for text in texts]

    embedder.fails = picky
    entries = memory.add_many([{"text": f"The {word} text about the cat."} for word in ("first", "second", "third")])
    assert len(entries) == 3
    assert memory.stats().vectors.missing == 1
    assert sorted(codes(memory)) == ["The first text about the cat.", "The third text about the cat."]
    report = memory.reembed()
    assert list(report.why) == [entries[1].id] and "cannot embed that" in report.why[entries[1].id]


def test_bad_rows_of_a_batch_are_left_out_and_good_ones_kept(memory: Memory, embedder: Thesaurus) -> None:
    embedder.fails = lambda texts: [[math.nan] * 8 if "nan" in text else embedder.vector(text) for text in texts]
    memory.add_many([{"text": "good cat"}, {"text": "nan cat"}, {"text": "fine cat"}])
    assert sorted(codes(memory)) == ["fine cat", "good cat"]
    assert memory.stats().vectors.missing == 1


def test_a_failing_question_is_answered_by_words_and_says_so(memory: Memory, embedder: Thesaurus) -> None:
    memory.add("The cat sleeps.")
    embedder.fails = BROKEN["raises"][0]
    [hit] = memory.search("cat tonight")
    assert "by words alone" in hit.why and "KeyError" in hit.why
    with pytest.raises(EmbedderFailed, match="KeyError"):
        memory.search("cat tonight", mode="dense")


@pytest.mark.parametrize("name", ["zeros", "NaN", "null rows"])
def test_a_question_that_points_nowhere_is_near_nothing(memory: Memory, embedder: Thesaurus, name: str) -> None:
    memory.add("The cat sleeps.")
    embedder.fails = BROKEN[name][0]
    assert memory.search("cat tonight", mode="dense") == []
    [hit] = memory.search("cat tonight", mode="hybrid")
    assert "by words alone" in hit.why


def test_a_long_text_that_is_refused_is_embedded_by_its_beginning_and_kept_whole(memory: Memory, embedder: Thesaurus) -> None:
    def short_only(texts: Sequence[str]) -> Any:
        if any(len(text) > 3_000 for text in texts):
            raise ValueError("HTTP 400: too long")
        return [embedder.vector(text) for text in texts]

    embedder.fails = short_only
    long = "The cat sleeps. " + "word " * 7_990 + "needle-zzz"
    memory.add(long)
    assert texts(memory, "needle-zzz", k=1, mode="keyword") == [long]
    assert texts(memory, "feline", mode="dense", k=1) == [long]
    report = memory.reembed(every=True)
    assert (report.made, report.cut, report.failed) == (1, 1, 0)


# another embedder


def test_vectors_of_two_models_are_never_compared(tmp_path: Path) -> None:
    path, first, second = tmp_path / "m.db", Thesaurus("A", 8), Thesaurus("B", 16)
    with Memory.open(path, embedder=first) as memory:
        memory.add("user likes cats in dark mode")
    with Memory.open(path, embedder=second) as memory:
        [hit] = memory.search("dark")
        assert "by words alone" in hit.why
        vectors = memory.stats().vectors
        assert (vectors.model, vectors.usable, vectors.missing, dict(vectors.others)) == ("B", 0, 1, {"A": 1})
        assert "embedder_changed" in found_codes(memory)
        with pytest.raises(NotAvailable, match="reembed"):
            memory.search("feline", mode="dense")
        assert memory.reembed().made == 1
        assert texts(memory, "feline", mode="dense") == ["user likes cats in dark mode"]
        assert "embedder_changed" not in found_codes(memory)
    first.asked.clear()
    with Memory.open(path, embedder=first) as memory:
        # Going back works at once: nothing is embedded again but the question.
        assert texts(memory, "feline", mode="dense") == ["user likes cats in dark mode"]
        assert first.asked == ["feline"]


def test_a_model_that_changed_under_its_name_can_be_made_anew(memory: Memory, embedder: Thesaurus) -> None:
    memory.add("The cat sleeps.")
    before = codes(memory)["The cat sleeps."]
    embedder.fails = lambda texts: [[5.0] + [1.0] * 7 for _ in texts]
    assert memory.reembed().made == 0
    report = memory.reembed(every=True)
    assert report.made == 1 and codes(memory)["The cat sleeps."] != before
    assert memory.stats().vectors.usable == 1


def test_reembed_goes_on_where_it_stopped_and_tells_how_far_it_is(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memory.open(path) as memory:
        memory.add_many([{"text": f"The cat number {n} sleeps."} for n in range(150)])
    with Memory.open(path, embedder=Thesaurus()) as memory:
        told: list[tuple[int, int]] = []
        assert memory.reembed(limit=40).left == 110
        assert memory.reembed(progress=lambda done, of: told.append((done, of))).left == 0
        assert told == [(64, 110), (110, 110)]
        assert memory.reembed().made == 0


def test_one_process_at_a_time_fills_in_vectors(tmp_path: Path) -> None:
    clock = ManualClock()
    with Memory.open(tmp_path / "m.db", embedder=Thesaurus(), clock=clock) as memory:
        with Memory.open(tmp_path / "m.db") as other:
            other.add("The cat sleeps.")
        with memory._store.write(memory._author()) as tx:
            assert tx.hold_model("thesaurus", "somebody else", 60.0)
        with pytest.raises(StoreBusy, match="another process"):
            memory.reembed()
        clock.advance(minutes=2)
        assert memory.reembed().made == 1


def test_a_text_that_was_removed_meanwhile_gets_no_vector(tmp_path: Path) -> None:
    path, embedder = tmp_path / "m.db", Thesaurus()
    with Memory.open(path) as plain:
        entry = plain.add("The cat sleeps.")
        plain.add("The moon is up.")

        def slow(texts: Sequence[str]) -> Any:
            plain.forget(entry.id)
            embedder.fails = None
            return [embedder.vector(text) for text in texts]

        embedder.fails = slow
        with Memory.open(path, embedder=embedder) as memory:
            assert memory.reembed().made == 1
            assert list(codes(memory)) == ["The moon is up."]


# embedders that take their time


class Slow(Thesaurus):
    """Waits at the gate."""

    remote = True

    def __init__(self) -> None:
        super().__init__("slow")
        self.gate = threading.Event()

    def embed(self, texts: Sequence[str]) -> Any:
        if list(texts) != ["feline"]:
            assert self.gate.wait(60)
        return super().embed(texts)


def test_no_write_waits_for_a_remote_embedder() -> None:
    slow = Slow()
    with Memory.open(":memory:", embedder=slow) as memory:
        memory.add("The cat sleeps.")
        memory.add("The moon is up.")
        assert memory.stats().vectors.missing == 2 and slow.asked == []
        assert texts(memory, "cat") == ["The cat sleeps."]
        slow.gate.set()
        assert memory.embed_pending(wait=60) == 0
        assert texts(memory, "feline", mode="dense", k=1) == ["The cat sleeps."]
        assert sorted(slow.asked[:2]) == ["The cat sleeps.", "The moon is up."]


def test_closing_does_not_hang_on_an_embedder_and_the_next_process_makes_up_for_it(tmp_path: Path) -> None:
    slow = Slow()
    memory = Memory.open(tmp_path / "m.db", embedder=slow)
    memory.add("The cat sleeps.")
    memory.close()
    slow.gate.set()
    with Memory.open(tmp_path / "m.db", embedder=Thesaurus("slow")) as memory:
        assert memory.stats().vectors.missing == 1
        memory.add("The moon is up.")
        assert memory.stats().vectors.missing == 0


def test_a_reader_recalls_by_meaning_and_writes_nothing(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m.db", embedder=Thesaurus()) as memory:
        memory.add("The cat sleeps.")
    before = (tmp_path / "m.db").read_bytes()
    with Memory.open(tmp_path / "m.db", embedder=Thesaurus(), read_only=True) as memory:
        assert texts(memory, "feline", mode="dense") == ["The cat sleeps."]
        assert memory.stats().vectors.usable == 1
    assert (tmp_path / "m.db").read_bytes() == before


# which embedder


def test_the_spec_is_kept_in_the_store_and_the_object_is_not(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m.db", embedder="hashing") as memory:
        assert memory.settings.embedder == "hashing"
        memory.add("The database is backed up at night.")
    with Memory.open(tmp_path / "m.db", embedder=Thesaurus()) as memory:
        assert memory.settings.embedder == "hashing" and memory.stats().vectors.model == "thesaurus"


def test_the_environment_names_the_embedder_of_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory.open(tmp_path / "m.db", embedder="hashing:64") as memory:
        memory.add("The database is backed up at night.")
    assert Memory.open(tmp_path / "m.db").stats().vectors.model == ""  # EARNEST_EMBEDDER=none, as in all tests
    monkeypatch.delenv("EARNEST_EMBEDDER")
    with Memory.open(tmp_path / "m.db") as memory:
        assert memory.stats().vectors.model == "hashing:64"
        assert texts(memory, "databse bakcup", mode="dense") == ["The database is backed up at night."]
    monkeypatch.setenv("EARNEST_EMBEDDER", "nonsense")
    with pytest.raises(InvalidInput, match="embedder"):
        Memory.open(tmp_path / "m.db")


def test_a_new_store_takes_the_local_model_where_it_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EARNEST_EMBEDDER")
    with Memory.open(tmp_path / "new.db") as memory:
        assert memory.settings.embedder == "local"
    with Memory.open(tmp_path / "none.db", embedder="none") as memory:
        assert memory.settings.embedder == "none"
    with Memory.open(tmp_path / "none.db") as memory:
        assert memory.settings.embedder == "none"  # asked for once, it stays


def test_a_setting_that_cannot_be_made_here_is_no_error_but_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory.open(tmp_path / "m.db", settings={"embedder": "zhipu:embedding-3"}) as memory:
        memory.add("The cat sleeps.")
    monkeypatch.delenv("EARNEST_EMBEDDER")
    monkeypatch.delenv("ZHIPUAI_API_KEY", raising=False)
    monkeypatch.delenv("ZAI_API_KEY", raising=False)
    with Memory.open(tmp_path / "m.db") as memory:
        [hit] = memory.search("cat")
        assert "ZHIPUAI_API_KEY" in hit.why
        assert "embedder_absent" in found_codes(memory)
        with pytest.raises(NotAvailable, match="ZHIPUAI_API_KEY"):
            memory.reembed()
    with pytest.raises(NotAvailable, match="ZHIPUAI_API_KEY"):
        Memory.open(tmp_path / "m.db", embedder="zhipu:embedding-3")


def test_another_process_follows_a_changed_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EARNEST_EMBEDDER")
    with Memory.open(tmp_path / "m.db", embedder="none") as one, Memory.open(tmp_path / "m.db") as other:
        one.add("The database is backed up at night.")
        other.configure(embedder="hashing")
        assert one.stats().vectors.model == "hashing:512"
        assert one.reembed().made == 1
        assert texts(other, "databse", mode="dense") == ["The database is backed up at night."]


@pytest.mark.parametrize("wrong", [5, True, b"local", ["local"], {"a": 1}, object()])
def test_what_is_no_embedder_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        Memory.open(":memory:", embedder=wrong)


def test_a_plain_callable_will_do() -> None:
    def colours(texts: list[str]) -> list[list[float]]:
        return [[text.count("red") + 0.1, text.count("blue") + 0.1] for text in texts]

    with Memory.open(":memory:", embedder=colours) as memory:
        memory.add("The red door.")
        memory.add("The blue door.")
        assert texts(memory, "red red", mode="dense", k=1) == ["The red door."]
        assert memory.stats().vectors.model.endswith("colours")


def test_a_script_that_the_model_does_not_read_is_asked_by_words(memory: Memory, embedder: Thesaurus) -> None:
    memory._embedding._embedder.reads = lambda text: text.isascii()  # type: ignore[union-attr]
    for n in range(6):
        memory.add(f"数据库备份每天{n}点运行。")
    memory.add("The cat sleeps.")
    before = embedder.calls
    assert texts(memory, "备份", k=1)[0].startswith("数据库备份")
    assert embedder.calls == before
    assert "script_not_read" in found_codes(memory)

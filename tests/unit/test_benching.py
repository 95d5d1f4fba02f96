"""Measuring recall on one's own entries: questions that have answers, a store that is only read, and advice that the figures bear out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from earnest import Memory
from earnest.benching import RecallBench, bench_recall, probes
from earnest.benching.chance import Chance
from earnest.benching.drawing import picture
from earnest.benching.languages import languages_of
from earnest.benching.recall import _recommended, _sample
from earnest.core.analysis import Analyser
from earnest.errors import InvalidInput, NotAllowed, StoreReadOnly

THINGS = ("boiler", "lathe", "kiln", "winch", "pump", "crane", "mixer", "loom", "press", "drill", "anvil", "forge", "turbine", "hoist")
PLACES = ("cellar", "attic", "yard", "barn", "annex", "garage", "depot", "tower", "bunker", "pier")
SYLLABLES = ("mor", "van", "tel", "kir", "bas", "dun", "lop", "fen", "gar", "wis", "nol", "pex")
ROOMS = ("地窖", "阁楼", "院子", "车库", "码头", "塔楼")


def name(number: int) -> str:
    """A word that no language has, another for each number."""
    return "".join(SYLLABLES[number // 12**place % 12] for place in (0, 1, 2)).capitalize()


def filled(path: str | Path = ":memory:", count: int = 60, **options: Any) -> Memory:
    memory = Memory.open(path, embedder="none", **options)
    memory.add_many(
        {
            "text": f"The {THINGS[n % 14]} {name(n)} is kept in the {PLACES[n % 10]} by {name(500 + n)} and oiled by {name(900 + n % 40)}.",
            "cue": f"Where is {THINGS[n % 14]} {name(n)}?",
            "metadata": {"number": n},
        }
        for n in range(count)
    )
    return memory


@pytest.fixture(scope="module")
def bench() -> RecallBench:
    with filled() as memory:
        return bench_recall(memory, questions=60)


# questions


def made(memory: Memory, wanted: int = 60, seed: int = 0) -> list[Any]:
    return probes(memory.list(), Analyser(("english",)), Chance(seed), wanted)


def test_every_question_has_an_answer_that_holds_what_it_asks_for() -> None:
    analyser = Analyser(("english",))
    with filled() as memory:
        entries = memory.list()
        found = made(memory)
    assert {probe.kind for probe in found} >= {"cue", "words", "typo", "asked"}
    for probe in found:
        assert 0 < len(probe.answers) <= 5
        if probe.kind == "words":
            for place in probe.answers:
                assert set(analyser.terms(probe.text)) <= set(analyser.terms(f"{entries[place].cue} {entries[place].text}"))
        if probe.kind == "asked":
            assert probe.text.startswith("What is ") and not any(entries[place].text in probe.text for place in probe.answers)
        if probe.kind == "cue":
            assert probe.bare and all(entries[place].cue == probe.text for place in probe.answers)


def test_a_misspelt_question_holds_a_word_that_no_entry_holds() -> None:
    analyser = Analyser(("english",))
    with filled() as memory:
        held = {term for entry in memory.list() for term in analyser.terms(entry.text)}
        typos = [probe for probe in made(memory) if probe.kind == "typo"]
    assert typos
    for probe in typos:
        assert any(word.lower() not in held for word in probe.text.split())


def test_an_entry_that_another_says_in_other_words_asks_for_that_one_and_not_for_itself() -> None:
    with filled() as memory:
        memory.add("The escrow office in Juniper House closes every Friday at noon for cleaning staff.")
        memory.add("Every Friday at noon the escrow office of Juniper House closes for cleaning.")
        entries = memory.list()
        twins = [probe for probe in made(memory, 300) if probe.kind == "twin" and "Juniper" in probe.text]
    assert len(twins) == 1, "what answers one question is not held out for another"
    for probe in twins:
        assert probe.held is not None and probe.held not in probe.answers
        assert entries[probe.held].text == probe.text and [entries[place].text for place in probe.answers] != [probe.text]


def test_turns_are_asked_for_by_who_said_them() -> None:
    with filled() as memory:
        for n, name in enumerate(["Ada", "Bertil", "user"]):
            text = f"We repainted the greenhouse fence {PLACES[n]} yesterday with varnish {n}00 bought abroad."
            memory.add(text, kind="episodic", metadata={"speaker": name, "session": "s"})
        asked = [probe.text for probe in made(memory, 300) if probe.kind == "speaker"]
    assert sorted(text.split()[2] for text in asked) == ["Ada", "Bertil"]


def test_what_somebody_asked_in_a_conversation_is_answered_by_the_next_turn_and_held_out() -> None:
    with filled() as memory:
        said = [
            ("Ada", "Which varnish did you buy for the greenhouse fence?"),
            ("Bo", "A tin of Morvex, twelve euros at the harbour market."),
            ("Ada", "And did the harbour market have brushes?"),
            ("Ada", "I need wide brushes for the fence."),
        ]
        for speaker, text in said:
            memory.add(text, kind="episodic", metadata={"speaker": speaker, "session": "s"})
        entries = memory.list()
        [probe] = [probe for probe in made(memory, 300) if probe.kind == "reply"]
        assert probe.text == said[0][1] and [entries[place].text for place in probe.answers] == [said[1][1]]
        assert probe.held is not None and entries[probe.held].text == said[0][1]


def test_no_question_is_answered_by_an_entry_that_is_held_out() -> None:
    with filled() as memory:
        for n in range(40):
            memory.add(f"The {name(n)} ledger of {name(2 * n + 300)} was closed by {name(n + 700)} in the {PLACES[n % 10]}.")
            memory.add(f"In the {PLACES[n % 10]} {name(n + 700)} closed the {name(n)} ledger of {name(2 * n + 300)}.")
        found = made(memory, 300)
    held = {probe.held for probe in found} - {None}
    assert held and not any(probe.answers & held for probe in found)
    assert len(held) <= 0.2 * 140 + 1


def test_a_script_without_spaces_is_asked_by_pieces_of_its_clauses() -> None:
    with Memory.open(embedder="none") as memory:
        memory.add_many(
            {"text": f"第{n}号机器在{place}，由第{n % 7}组每周检查一次润滑油。"}
            for n, place in enumerate(["地窖", "阁楼", "院子", "车库", "码头", "塔楼"] * 5)
        )
        memory.add("部署密钥保存在保险库里，只有值班工程师可以取用。")
        asked = [probe for probe in made(memory, 300) if probe.kind == "words"]
        texts = [entry.text for entry in memory.list()]
    assert asked
    assert all(any(all(part in texts[place] for part in probe.text.split()) for place in probe.answers) for probe in asked)


def test_the_same_seed_gives_the_same_questions_and_another_others() -> None:
    with filled() as memory:
        assert made(memory, seed=3) == made(memory, seed=3) != made(memory, seed=4)


def test_questions_stay_in_the_scope_of_their_entry() -> None:
    with filled() as memory:
        memory.add("The boiler number 1 is kept in the attic beside shelf 7.", scope="alice")
        entries = memory.list(scope=["", "alice"])
        for probe in probes(entries, Analyser(("english",)), Chance(0), 300):
            assert {entries[place].scope for place in probe.answers} == {probe.scope}


# the measurement


def test_recall_grows_with_depth_and_what_is_asked_in_its_own_words_is_found(bench: RecallBench) -> None:
    [arm] = bench.arms
    assert arm.name == "keyword"
    assert 0 < arm.recall[1] <= arm.recall[5] <= arm.recall[10] <= 1
    assert arm.by_kind["words"] > 0.8
    assert 0 < arm.mrr <= 1 and 0 < arm.p50 <= arm.p95 and arm.size > 0
    assert sum(bench.questions.values()) == 60 and bench.off_topic == 30 and (bench.entries, bench.total) == (60, 60)


def test_the_floor_keeps_its_promise_on_the_questions_that_it_was_made_by(bench: RecallBench) -> None:
    [arm] = bench.arms
    assert arm.floor is not None and arm.false_at is not None and arm.kept_at is not None
    assert arm.false_at <= 0.05 and arm.kept_at > 0.5


def test_the_memory_itself_is_only_read(tmp_path: Path) -> None:
    filled(tmp_path / "m.db", settings={"floor": 0.0}).close()
    before = (tmp_path / "m.db").read_bytes()
    with Memory.open(tmp_path / "m.db", read_only=True) as memory:
        settings, events = memory.settings, memory.check().events
        made = bench_recall(memory, questions=20)
        assert not made.applied and memory.settings == settings and memory.check().events == events
        with pytest.raises(StoreReadOnly):
            bench_recall(memory, questions=20, apply=True)
    assert (tmp_path / "m.db").read_bytes() == before


def test_the_figures_are_the_same_again_but_for_times(bench: RecallBench) -> None:
    with filled() as memory:
        again = bench_recall(memory, questions=60)
    assert [replace(arm, p50=0, p95=0, size=0) for arm in again.arms] == [replace(arm, p50=0, p95=0, size=0) for arm in bench.arms]
    assert again.questions == bench.questions and again.recommended == bench.recommended


def test_what_is_recommended_is_set_when_asked_and_can_be_taken_back() -> None:
    with filled() as memory:
        memory.configure(floor=0.0)
        made = bench_recall(memory, questions=40, apply=True)
        assert made.applied and made.recommended["floor"] > 0
        assert memory.settings.floor == made.recommended["floor"]
        memory.undo(memory.events(newest=True, limit=1)[0].seq)
        assert memory.settings.floor == 0.0


def test_every_way_to_search_with_an_embedder_is_measured() -> None:
    with filled() as memory:
        made = bench_recall(memory, questions=20, embedders=["hashing"])
        assert [arm.name for arm in made.arms] == ["keyword", "hashing hybrid", "hashing rrf", "hashing dense"]
        assert [arm.floor is None for arm in made.arms] == [False, False, True, True]
        assert made.arms[1].size > made.arms[0].size
        assert memory.stats().vectors.usable == 0, "vectors are made of the copy alone"


def test_an_embedder_that_is_not_there_is_left_out_with_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with filled() as memory:
        made = bench_recall(memory, questions=20, embedders=["openai:text-embedding-3-small"])
        assert [arm.name for arm in made.arms] == ["keyword"]
        assert made.notes and made.notes[0].startswith("openai:text-embedding-3-small was left out")


def test_of_a_large_memory_blocks_of_neighbours_are_measured() -> None:
    with filled(count=400) as memory:
        sample, total = _sample(memory, 100, Chance(0))
        assert total == 400 and len(sample) == 100
        numbers = [entry.metadata["number"] for entry in sample]
        assert numbers == [*range(numbers[0], numbers[0] + 50), *range(numbers[50], numbers[50] + 50)]
        assert bench_recall(memory, questions=20, entries=100).entries == 100


def test_too_few_entries_measure_nothing() -> None:
    with filled(count=19) as memory, pytest.raises(NotAllowed, match="19 living entries"):
        bench_recall(memory)
    with Memory.open(embedder="none") as memory:
        memory.add_many({"text": f"{n} ok", "scope": f"s{n}"} for n in range(30))
        with pytest.raises(NotAllowed, match="questions"):
            bench_recall(memory)


@pytest.mark.parametrize(
    "options",
    [{"questions": 9}, {"questions": True}, {"entries": 19}, {"false_answers": 0.6}, {"false_answers": float("nan")}, {"seed": -1},
     {"apply": 1}, {"embedders": "hashing"}, {"embedders": ["nonsense"]}],
)  # fmt: skip
def test_arguments_are_checked_at_the_door(options: dict[str, Any]) -> None:
    with filled(count=20) as memory, pytest.raises(InvalidInput):
        bench_recall(memory, **options)


# languages


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Die alten Dateien werden nicht gelöscht, und der Server ist mit einem Schlüssel auf dem Tisch.", "german"),
        ("Les fichiers de cache sont dans le dossier pour les équipes avec une clé.", "french"),
        ("Los archivos que están en el servidor no se borran por una regla con clave.", "spanish"),
        ("De sleutel is niet voor het team dat ook met een server wordt gebruikt.", "dutch"),
        ("The old files that are in the cellar are not for this team.", "english"),
    ],
)
def test_a_language_is_known_by_its_little_words(text: str, language: str) -> None:
    assert languages_of([text]) == {language: 1.0}


def test_what_is_too_short_to_tell_or_of_another_script_is_no_language() -> None:
    assert languages_of(["Port 8080.", "数据库文件可以删除", "Файлы удалять нельзя", ""]) == {}
    assert languages_of([]) == {}


def test_a_store_in_german_is_advised_to_have_its_stemmer() -> None:
    with Memory.open(embedder="none") as memory:
        memory.add_many(
            {"text": f"Die Maschine {name(n)} steht nicht auf dem Hof, und der Schlüssel liegt mit {name(500 + n)} bei {name(900 + n)}."}
            for n in range(60)
        )
        made = bench_recall(memory, questions=30)
    assert made.recommended["languages"].endswith(",german")
    assert [arm.languages.endswith(",german") for arm in made.arms] == [False, True]


# advice


def test_an_embedder_is_advised_only_where_it_is_clearly_better(bench: RecallBench) -> None:
    [arm] = bench.arms
    with filled(count=20) as memory:
        unset = memory.settings
    kept = replace(unset, embedder="local")
    other = replace(arm, name="local hybrid", embedder="local", mode="hybrid")

    def advised(by_words: list[int], by_local: list[int], present: Any) -> str | None:
        arms = [(arm, by_words), (other, by_local)]
        found: str | None = _recommended(arms, present, 0.05, arm.languages)[0].get("embedder")
        return found

    half, most, little = [1] * 50 + [11] * 50, [1] * 80 + [11] * 20, [1] * 51 + [11] * 49
    assert advised(half, most, unset) == "local"
    assert advised(half, little, unset) is None
    assert advised(half, most, kept) is None
    assert advised(half, little, kept) is None
    assert advised(most, half, kept) == "none"
    assert advised(most, half, unset) is None
    # As many more found as in the first pair, but as many others lost: that is chance.
    assert advised([1, 11] * 50, [11, 1] * 50, unset) is None


# the picture


def test_the_picture_is_whole_and_shows_every_figure(bench: RecallBench) -> None:
    [arm] = bench.arms
    odd = replace(bench, arms=(replace(arm, name='<"&>'),), reasons=("a < b & c",))
    root = ElementTree.fromstring(picture(odd))
    words = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert '<"&>' in words and "• a < b & c" in words
    for depth in (1, 5, 10):
        assert f"{arm.recall[depth]:.0%}" in words
    bars = [float(element.attrib["width"]) for element in root.iter("{http://www.w3.org/2000/svg}rect") if "bar" in element.attrib["class"]]
    assert bars == [pytest.approx(300 * arm.recall[depth], abs=0.06) for depth in (1, 5, 10)]
    json.dumps(words)


def test_long_names_in_the_picture_stay_beside_the_bars(bench: RecallBench) -> None:
    [arm] = bench.arms
    name = "openai:text-embedding-3-small-of-a-very-long-name-" + "x" * 60 + " dense"
    for languages in (arm.languages, "english,german"):
        root = ElementTree.fromstring(picture(replace(bench, arms=(replace(arm, name=name, languages=languages),), reasons=("why " * 60,))))
        texts = [element for element in root.iter("{http://www.w3.org/2000/svg}text") if element.attrib["x"] == "20"]
        named = [element.text or "" for element in texts if 90 < int(element.attrib["y"]) < 150]
        assert 2 <= len(named) <= 3 and max(map(len, named)) <= 20 and named[0].startswith("openai:")
        assert max(len(element.text or "") for element in root.iter("{http://www.w3.org/2000/svg}text")) <= 118

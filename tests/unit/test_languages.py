"""Finding words in every script, in the forms that people type them in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earnest import Memory
from earnest.core import standins, unspaced
from earnest.core.analysis import Analyser
from earnest.core.folding import folded
from earnest.core.segmenting import chinese
from earnest.core.standins import edits

DATA: Final = Path(__file__).parents[1] / "data" / "languages.jsonl"
ROWS: Final[dict[str, dict[str, Any]]] = {row["language"]: row for row in map(json.loads, DATA.read_text(encoding="utf-8").splitlines())}
SIXTEEN: Final = ["ar", "de", "el", "en", "es", "fr", "he", "hi", "ja", "ko", "pt", "ru", "th", "tr", "vi", "zh"]


def holding(*texts: str, **settings: Any) -> Memory:
    memory = Memory.open(embedder="none", settings=settings)
    for text in texts:
        memory.add(text)
    return memory


def texts(memory: Memory, query: str, k: int = 10) -> list[str]:
    return [hit.entry.text for hit in memory.search(query, k)]


# every language


def test_each_language_has_rows_of_both_kinds() -> None:
    assert sorted(ROWS) == SIXTEEN
    assert all(len(row["finds"]) + len(row["silent"]) >= 12 and len(row["silent"]) >= 3 for row in ROWS.values())


@pytest.fixture(scope="module", params=SIXTEEN)
def language(request: pytest.FixtureRequest) -> Iterator[tuple[dict[str, Any], Memory]]:
    row = ROWS[request.param]
    with holding(*row["entries"]) as memory:
        yield row, memory


def test_the_right_entry_comes_first_among_others(language: tuple[dict[str, Any], Memory]) -> None:
    row, memory = language
    wrong = {
        query: texts(memory, query)[:2] for query, place in row["finds"].items() if texts(memory, query)[:1] != [row["entries"][place]]
    }
    assert not wrong


def test_it_answers_what_it_finds(language: tuple[dict[str, Any], Memory]) -> None:
    """A question is more often answered than passed over, and never by another entry."""
    row, memory = language
    said = {query: (memory.answer(query).text, row["entries"][place]) for query, place in row["finds"].items()}
    assert not {query: pair for query, pair in said.items() if pair[0] and pair[0] != pair[1]}
    assert sum(not text for text, _ in said.values()) <= 1


def test_what_nobody_wrote_of_finds_no_answer(language: tuple[dict[str, Any], Memory]) -> None:
    row, memory = language
    assert {query: memory.answer(query).text for query in row["silent"]} == dict.fromkeys(row["silent"], "")


# letters


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("Straße", "strasse"), ("Ёлка", "елка"), ("İSTANBUL", "istanbul"), ("Işıl", "isil"), ("Đà Nẵng", "da nang"),
        ("Łódź", "lodz"), ("smørrebrød", "smorrebrod"), ("ＡＢＣ１２３", "abc123"), ("مُدَرِّسَة", "مدرسه"), ("أحمد", "احمد"),
        ("اجتمـــاع", "اجتماع"), ("فارسی", "فارسي"),
        ("שָׁלוֹם", "שלומ"), ("Ἀθήνα", "αθηνα"), ("ΟΔΟΣ", "οδοσ"), ("٣٥ १२ ๗", "35 12 7"), ("फ़ाइल", "फाइल"),
        ("資料庫", "资料库"), ("ﬁle", "file"), ("한글", "한글"),
    ],
)  # fmt: skip
def test_letters_that_people_write_for_each_other_are_one(written: str, typed: str) -> None:
    assert folded(written) == folded(typed) == typed


@given(st.text(max_size=60))
def test_folding_twice_is_folding_once_and_leaves_no_mark_that_steers(text: str) -> None:
    made = folded(text)
    assert "\u202e" not in made and "\x00" not in made
    assert Analyser().terms(made) == Analyser().terms(folded(made))


@given(st.text(max_size=200))
def test_a_text_is_found_by_itself_and_its_terms_hold_no_space(text: str) -> None:
    analyser = Analyser()
    terms = analyser.terms(text)
    assert all(term and not any(char.isspace() for char in term) for term in terms)
    assert all(set(word.terms) & set(terms) for word in analyser.question(text).words)


def test_the_exact_form_ranks_before_the_folded_one() -> None:
    memory = holding("Cuộc họp bắt đầu.", "Hợp đồng được cất.", "Hop along.")
    assert texts(memory, "hợp")[0] == "Hợp đồng được cất." and texts(memory, "họp")[0] == "Cuộc họp bắt đầu."
    assert len(texts(memory, "hop")) == 3


def test_a_joined_emoji_is_found_by_each_of_its_parts() -> None:
    memory = holding("family 👨‍👩‍👧 day", "deploy to 🚀prod", "holiday in 🇯🇵")
    assert (
        texts(memory, "👧") == ["family 👨‍👩‍👧 day"]
        and texts(memory, "🚀") == ["deploy to 🚀prod"]
        and texts(memory, "🇯🇵") == ["holiday in 🇯🇵"]
    )


# words that programs are made of


@pytest.mark.parametrize(
    "query",
    [
        "getUserById", "get user by id", "getuserbyid", "max_retry_count", "max retry count", "retry-count", "token-store.ts",
        "token store", "src/auth_service/token-store.ts", "auth service",
        "v2.13.0", "2.13.0", "2.13", "E4012", "4012", "ops@example.org", "example.org",
        "https://wiki.example.org/Notes#top", "wiki.example.org", "C++", "1,000,000", "1000000", "1.000.000",
    ],
)  # fmt: skip
def test_names_of_programs_are_found_whole_and_in_parts(query: str) -> None:
    right = (
        "getUserById in src/auth_service/token-store.ts (v2.13.0, C++) fails with E4012 after max_retry_count, 1,000,000 rows; "
        "ask ops@example.org, see https://wiki.example.org/Notes#top, retry-count is set."
    )
    memory = holding(right, "The cat sat on the mat.", "C sharp is a note.")
    assert texts(memory, query)[0] == right


def test_a_version_ranks_before_its_neighbours() -> None:
    memory = holding("ubuntu 22.04 image", "ubuntu 20.04 image", "ubuntu 20.10 image")
    assert texts(memory, "ubuntu 20.04")[0] == "ubuntu 20.04 image"


# words that a store does not hold


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("databse", 0), ("dtabase", 0), ("databaes", 0), ("adtabase", 0), ("databasees", 0), ("dattabase", 0), ("DB", 0), ("data base", 0),
        ("wipe", 1), ("purging", 1), ("repo", 2), ("kubernetse", 3), ("k8s", 3),
    ],
)  # fmt: skip
def test_a_word_that_no_entry_holds_is_found_in_another_form(typed: str, found: int) -> None:
    entries = ["The database is in Dublin.", "Old logs may be deleted.", "The repository is private.", "Kubernetes runs it."]
    memory = holding(*entries)
    assert texts(memory, typed)[:1] == [entries[found]]


def test_a_word_that_an_entry_holds_means_itself() -> None:
    memory = holding("The cart is full.", "The card is blue.", "The care team meets.")
    assert texts(memory, "cart") == ["The cart is full."]


def test_short_words_and_names_of_things_are_not_guessed_at() -> None:
    memory = holding("The cat sat.", "Port 8080 is open.", "Section E4012 holds.")
    assert texts(memory, "car") == texts(memory, "8081") == texts(memory, "E4013") == texts(memory, "qwer zxcv asdf") == []


@pytest.mark.parametrize(
    ("asked", "held"),
    [("live", "SQLite has no server"), ("Rome", "The room is small."), ("pork", "The port is open."), ("pine", "The pint is cold.")],
)
def test_another_letter_in_a_short_word_makes_another_word(asked: str, held: str) -> None:
    assert texts(holding(held, "Lunch is at noon."), f"Where is {asked}?") == []


@pytest.mark.parametrize(("typed", "held"), [("prot", "The port is open."), ("lunhc", "Lunch is at noon."), ("pport", "The port is open.")])
def test_letters_that_changed_places_or_that_lack_are_slips_in_a_short_word_too(typed: str, held: str) -> None:
    assert texts(holding(held, "Tea is green."), typed)[:1] == [held]


def test_a_guess_counts_for_less_than_the_word() -> None:
    memory = holding("The database is in Dublin.", "Lunch is at noon.", "The cat is asleep.")
    assert memory.search("databse")[0].score < memory.search("database")[0].score


def test_two_words_of_a_question_do_not_stand_on_one_word_of_an_entry() -> None:
    memory = holding("The database is copied at night.", "Lunch is at noon.", "The cat sleeps.", "Tea is served at five.")
    alone, together = memory.search("remove database")[0], memory.search("remove db database dtabase")[0]
    assert float(together.why.split("(")[1].split("%")[0]) <= float(alone.why.split("(")[1].split("%")[0])


def test_words_of_other_scopes_do_not_keep_a_word_from_being_guessed() -> None:
    memory = Memory.open(embedder="none")
    memory.add_many([{"text": f"the databse of team {n}", "scope": "other"} for n in range(20)])
    memory.add("The database is in Dublin.", scope="mine")
    assert [hit.entry.text for hit in memory.search("databse", scope="mine")] == ["The database is in Dublin."]


def test_searching_for_what_is_not_there_looks_at_a_bounded_part_of_the_vocabulary() -> None:
    analyser, asked = Analyser(), []

    def vocabulary(start: str, limit: int) -> list[str]:
        asked.append(limit)
        return [f"{start}{n:05}" for n in range(limit)]

    question = analyser.question(" ".join(f"unheardof{chr(97 + n)}word" for n in range(20)))
    standins.widened(question, analyser.stems, lambda terms: frozenset(), vocabulary)
    assert 0 < sum(asked) <= standins.MOST * 8 * standins.SCANNED


def _slow_edits(first: str, second: str) -> int:
    table = {(i, j): i + j for i in range(len(first) + 1) for j in range(len(second) + 1) if i == 0 or j == 0}
    for i, a in enumerate(first, 1):
        for j, b in enumerate(second, 1):
            made = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (a != b))
            if i > 1 and j > 1 and a == second[j - 2] and first[i - 2] == b:
                made = min(made, table[i - 2, j - 2] + 1)
            table[i, j] = made
    return table[len(first), len(second)]


@given(st.text("abcd", max_size=8), st.text("abcd", max_size=8), st.integers(1, 3))
def test_edits_are_counted_as_the_definition_counts_them(first: str, second: str, most: int) -> None:
    assert edits(first, second, most) == min(_slow_edits(first, second), most + 1)


# scripts without spaces


def test_an_index_is_the_same_with_and_without_a_segmenter() -> None:
    def every(run: str) -> list[str]:
        return [run[i : i + 2] for i in range(0, len(run), 2)]

    text = "生产环境部署必须在周五之前完成"
    plain, cut = Analyser(), Analyser(segmenter=every)
    assert plain.terms(text) == cut.terms(text) and plain.id == cut.id
    judged = {word.terms[0]: word.weight for word in cut.question("生产环境部署").words}
    assert judged["生产"] == judged["环境"] == 1.0 and judged["产环"] == 0.0


def test_a_segmenter_that_loses_characters_is_not_listened_to() -> None:
    broken = Analyser(segmenter=lambda run: [run[:1]])
    assert broken.question("生产环境") == Analyser().question("生产环境")


def test_the_segmenter_of_the_extra_cuts_words_and_gives_every_character_back() -> None:
    cut = chinese()
    if cut is None:
        # The bare install has none, and finds Chinese by its pairs.
        assert unspaced.cjk_terms("部署") == ["部", "署", "部署"]
        return
    assert "部署" in cut("生产环境部署必须在周五之前完成")
    assert "".join(cut("生产环境部署" * 20)) == "生产环境部署" * 20
    # A run without end is not cut; its pairs find it.
    assert cut("生产环境部署" * 100) == []


@pytest.mark.parametrize(
    ("word", "stem"),
    [("백업은", "백업"), ("서울에서는", "서울"), ("사용자", "사용자"), ("집은", "집은"), ("데이터베이스까지", "데이터베이스")],
)
def test_korean_particles_are_taken_off(word: str, stem: str) -> None:
    assert unspaced.stem_of(word) == stem


def test_one_letter_of_thai_finds_nothing_by_itself() -> None:
    memory = holding("ฐานข้อมูลสำรองข้อมูลทุกวัน", "ประชุมวันอังคาร")
    assert not memory.answer("ดวงจันทร์") and texts(memory, "สำรองข้อมูล", 1) == ["ฐานข้อมูลสำรองข้อมูลทุกวัน"]

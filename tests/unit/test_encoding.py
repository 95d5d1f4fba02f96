"""Documents become drafts that stand alone, say where they come from, and lose nothing on the way without a word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earnest.core.check import blank
from earnest.core.sentences import code_pieces, join_lines, pieces, same, says_something, split_sentences
from earnest.encoding import Document, Draft, Encoding, LocalEncoder, demo_corpus, read_document
from earnest.encoding.blocks import read_plain
from earnest.encoding.inline import plain_inline
from earnest.encoding.markdown import looks_like_markdown
from earnest.errors import InvalidInput

DATA = Path(__file__).parent.parent / "data" / "encoding"


def encoded(text: str, source: str = "notes.md", **kwargs: int) -> Encoding:
    return LocalEncoder(**kwargs).encode([Document(source, text)])


def texts(made: Encoding, origin: str = "explicit") -> list[str]:
    return [draft.text for draft in made.drafts if draft.origin == origin]


def reasons(made: Encoding) -> dict[str, str]:
    return {skipped.text: skipped.reason for skipped in made.skipped}


def of(made: Encoding, text: str) -> Draft:
    return next(draft for draft in made.drafts if draft.text == text)


# documents and bytes


@pytest.mark.parametrize("source", ["", "  ", "x" * 501, "a\x00b", "a\nb", 5, None])
def test_a_source_that_is_no_label_is_refused(source: object) -> None:
    with pytest.raises(InvalidInput, match="source"):
        Document(source, "text")  # type: ignore[arg-type]


@pytest.mark.parametrize("text", [None, 5, b"bytes", ["a"]])
def test_a_text_that_is_no_text_is_refused(text: object) -> None:
    with pytest.raises(InvalidInput, match="text"):
        Document("a", text)  # type: ignore[arg-type]


def test_a_document_over_twenty_megabytes_is_refused() -> None:
    assert Document("a", "x" * 20_000_000).source == "a"
    with pytest.raises(InvalidInput, match="20,000,000 bytes"):
        Document("a", "x" * 20_000_001)
    with pytest.raises(InvalidInput, match="split the document"):
        Document("a", "部" * 7_000_000)


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(InvalidInput, match="auto, text, markdown"):
        Document("a", "text", "docx")  # type: ignore[arg-type]


def test_text_is_made_valid_at_the_door() -> None:
    document = Document("a", "before\x00after \ud83d end")
    assert document.text == "before after \ufffd end"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_unicode_files_are_read_whatever_their_mark_and_line_ends(tmp_path: Path, encoding: str, newline: str) -> None:
    path = tmp_path / "Deploy keys.txt"
    path.write_bytes(f"The key is in the vault.{newline}部署密钥在保险库。{newline}".encode(encoding))
    assert read_document(path) == Document("Deploy keys.txt", "The key is in the vault.\n部署密钥在保险库。\n", "text")


def test_utf_16_of_both_byte_orders_is_read_by_its_mark(tmp_path: Path) -> None:
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        (tmp_path / "a.txt").write_bytes(mark + "Café closes at five.".encode(encoding))
        assert read_document(str(tmp_path / "a.txt")).text == "Café closes at five."


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("Ñandú ñandú ñaña".encode("cp1252") * 2, "not UTF-8: byte 0 is 0xD1"),
        ("用户喜欢深色".encode("gb18030"), "not UTF-8: byte 0"),
        ("毎日".encode("shift_jis"), "not UTF-8: byte 0"),
        (b"\xef\xbb\xbfabc \xff", "byte 7 is 0xFF"),
        (b"good start \xff\xfe", "byte 11 is 0xFF"),
        (b"\xff\xfea\x00b", "not UTF-16: byte 4"),
        (b"before\x00after", "NUL at byte 6"),
        ("部署密钥 vault".encode("utf-16-le"), "UTF-16 without a mark"),
        (b"\xff\xfea\x00\x00\x00", "NUL at character 1"),
        (bytes(range(256)), "NUL at byte 0"),
    ],
)
def test_other_bytes_are_refused_with_the_place_and_the_way_out(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "strange.txt"
    path.write_bytes(data)
    with pytest.raises(InvalidInput, match=re.escape(says)) as caught:
        read_document(path)
    assert "strange.txt" in str(caught.value)
    assert "save it again as UTF-8" in str(caught.value)


def test_a_path_that_is_no_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no such file"):
        read_document(tmp_path / "gone.txt")
    with pytest.raises(InvalidInput, match="is a folder"):
        read_document(tmp_path)
    for path in ("", "a\x00b", None, 5, b"a.txt"):
        with pytest.raises(InvalidInput, match="path"):
            read_document(path)  # type: ignore[arg-type]


def test_a_file_over_twenty_megabytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "big.txt"
    with path.open("wb") as stream:
        stream.truncate(20_000_001)
    with pytest.raises(InvalidInput, match="20,000,000"):
        read_document(path)


@pytest.mark.parametrize(
    ("name", "format"),
    [("a.md", "markdown"), ("A.MD", "markdown"), ("a.b.markdown", "markdown"), ("a.txt", "text"), ("README", "auto"), ("a.log", "auto")],
)
def test_the_ending_of_a_file_name_tells_its_format(tmp_path: Path, name: str, format: str) -> None:
    (tmp_path / name).write_text("# Title\n\nOne fact here.\n", encoding="utf-8")
    made = read_document(tmp_path / name)
    assert (made.source, made.format) == (name, format)


def test_auto_is_decided_by_the_name_and_else_by_the_look_of_the_text() -> None:
    text = "# Keys\n\nThe key is in the vault."
    assert of(encoded(text, "runbook"), "The key is in the vault.").cue == "Keys"
    assert of(encoded(text, "runbook.md"), "The key is in the vault.").cue == "Keys"
    assert texts(encoded(text, "runbook.txt")) == ["# Keys", "The key is in the vault."][1:]
    assert looks_like_markdown("---\na: b\n---\ntext") and looks_like_markdown("a\n```\nb\n```")
    assert not looks_like_markdown("One *word* and a #tag.\n---\nMore - or less.")


# sentences


@pytest.mark.parametrize(
    "text",
    [
        "We run v1.2 and 3.5 of data.db in logs/a.b.",
        "Use a queue, e.g. Redis, i.e. the small one.",
        "Mr. Ito and Dr. Ada Roe met Prof. X.",
        "Copies end at 3 a.m. on most days.",
        "John F. Kennedy signed it.",
        "See fig. 3 and no. 5 of vol. 2 from Jan. 5.",
        "Wait... then go on.",
        "“Is it safe?” asked Bob.",
        "Acme Inc. owns it, the U.S. branch too.",
        "1. Stop the service",
        "Das gilt z.B. für Logs, d.h. alte.",
        "「はい。」と彼は言った。",
        "The ratio is .5 of it.",
        "Go to https://a.example/x?y=1!z now.",
    ],
)
def test_a_sentence_does_not_end_inside_itself(text: str) -> None:
    assert split_sentences(text) == [text]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One is here. Two is there! Three? Four", ["One is here.", "Two is there!", "Three?", "Four"]),
        ("a one. b two.", ["a one.", "b two."]),
        ("Port is 8080. Host is a.", ["Port is 8080.", "Host is a."]),
        ("It ends at 3 a.m. Then we go.", ["It ends at 3 a.m.", "Then we go."]),
        ("Keep logs, caches, etc. They are small.", ["Keep logs, caches, etc.", "They are small."]),
        ('He said "Stop." Then he left. (Really.) Yes.', ['He said "Stop."', "Then he left.", "(Really.)", "Yes."]),
        ("Really?! Sure... Maybe", ["Really?!", "Sure...", "Maybe"]),
        ("部署在周五。日志保留七天！对吗？对｡好", ["部署在周五。", "日志保留七天！", "对吗？", "对｡", "好"]),
        ("他说：“好。” 走了。", ["他说：“好。”", "走了。"]),
        ("好吗?是的", ["好吗?", "是的"]),
        ("部署はvで v1.2.3です。次へ", ["部署はvで v1.2.3です。", "次へ"]),
        ("배포는 하지 않는다. 오늘 지웠다.", ["배포는 하지 않는다.", "오늘 지웠다."]),
        ("Это файл, т.е. копия. Удалять нельзя.", ["Это файл, т.е. копия.", "Удалять нельзя."]),
        ("ما هذا؟ هذا ملف. انتهى", ["ما هذا؟", "هذا ملف.", "انتهى"]),
        ("यह फ़ाइल है। इसे रखो।", ["यह फ़ाइल है।", "इसे रखो।"]),
        ("So do I. Then we go.", ["So do I.", "Then we go."]),
        ("", []),
        ("   ", []),
    ],
)
def test_a_sentence_ends_at_its_mark(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


def test_a_line_end_inside_a_paragraph_is_a_space_but_not_between_han_characters() -> None:
    assert join_lines(["old  log", " files\tgo "]) == "old log files go"
    assert join_lines(["数据库文件不能", "删除", "now"]) == "数据库文件不能删除 now"
    assert join_lines(["로그를", "지운다"]) == "로그를 지운다"


@pytest.mark.parametrize("text", ["Port is 8080.", "OK fine.", "勿删除", "ポート番号", "지우지마", "timeout=30", "Café fermé", "a b"])
def test_short_facts_are_statements(text: str) -> None:
    assert says_something(text)
    assert texts(encoded(text)) == [text]


@pytest.mark.parametrize("text", ["OK", "Yes.", "8080", "3.5", "12 34", "好的。", "👍", "???", "data.db", "-- 5 --"])
def test_a_word_or_a_number_alone_is_left_out_with_the_reason(text: str) -> None:
    made = LocalEncoder().encode([Document("a.txt", text)])
    assert made.drafts == ()
    assert [(s.source, s.text, s.reason) for s in made.skipped] == [("a.txt", text, "no statement")]


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\n", "\u2028", "\x85", "\x0c"])
def test_every_kind_of_line_end_is_one(newline: str) -> None:
    made = encoded(f"Log files rotate weekly.{newline}Backups run at 02:00.{newline}", "a.txt")
    assert texts(made) == ["Log files rotate weekly.", "Backups run at 02:00."]


def test_blank_lines_and_bullets_end_a_sentence_in_plain_text() -> None:
    made = encoded("no mark here\nbut one sentence\n\nsecond part here\n- first thing\n- second thing\n  goes on\n* third thing", "a.txt")
    assert texts(made) == ["no mark here but one sentence", "second part here", "first thing", "second thing goes on", "third thing"]


def test_a_wrapped_line_that_begins_with_a_number_is_no_list() -> None:
    assert texts(encoded("We moved in\n12. It was cold there.", "a.txt")) == ["We moved in 12.", "It was cold there."]


def test_chinese_japanese_and_korean_text_yields_its_sentences() -> None:
    made = LocalEncoder().encode([read_document(DATA / "cjk.txt")])
    assert texts(made) == [
        "部署密钥在保险库。",
        "数据库文件不能删除！",
        "日志保留七天吗？",
        "サーバーの再起動は火曜日です。",
        "「はい。」と彼は言った。",
        "배포는 금요일에 하지 않는다.",
        "오늘 로그를 지웠다.",
    ]
    assert reasons(made) == {"是的。": "no statement"}


def test_accents_stay_as_they_were_written() -> None:
    nfd = "Re\u0301sume\u0301 of the meeting in Ma\u0301laga."
    assert texts(encoded(nfd)) == [nfd]


# bounds


def test_an_endless_line_is_cut_without_loss_and_said_so() -> None:
    text = "".join(f"lorem {i} ipsum " for i in range(80_000)) + "needle-zzz at the end"
    made = encoded(text, "long.txt")
    assert max(len(t) for t in texts(made)) <= 600
    assert " ".join(texts(made)).split() == text.split()
    assert made.drafts[-1].text.endswith("needle-zzz at the end")
    assert made.skipped == ()
    assert made.notes == ("long.txt: 1 part was longer than 600 characters and cut into pieces",)


def test_a_megabyte_in_capitals_makes_no_endless_question() -> None:
    made = encoded("A" * 1_000_000 + " B. " + "Alice " * 10_000, "caps.txt")
    assert all(len(d.cue or "") <= 200 and len(d.text) <= 600 for d in made.drafts)


def test_a_cut_never_parts_a_character_from_its_accents() -> None:
    assert all(not piece.startswith(("\u0301", "\u200d")) for piece in pieces("e\u0301" * 500, 41))
    assert all(not piece.startswith(("\u200d", "\U0001f3fd")) for piece in pieces("👩\u200d👧" * 90 + "👍\U0001f3fd" * 90, 50))


@given(st.text(max_size=400), st.integers(40, 90))
def test_pieces_lose_nothing_but_spaces_and_the_invisible(text: str, limit: int) -> None:
    made = pieces(text, limit)
    assert all(0 < len(piece) <= limit for piece in made)
    assert _visible("".join(made)) == _visible(text)


@given(st.text(alphabet="ab \n\t", max_size=400), st.integers(40, 90))
def test_pieces_of_code_keep_every_sign(text: str, limit: int) -> None:
    made = code_pieces(text, limit)
    assert all(0 < len(piece) <= limit for piece in made)
    assert "".join("".join(made).split()) == "".join(text.split())


def test_drafts_are_bounded_and_the_rest_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("earnest.encoding.local.MAX_DRAFTS", 3)
    made = encoded("Fact one is a. Fact two is b. Fact three is c. Fact four is d.")
    assert len(made.drafts) == 3
    assert [s.text for s in made.skipped] == ["Fact four is d."]
    assert "the most" in made.skipped[0].reason


def test_drafts_about_names_beyond_the_bound_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("earnest.encoding.local.MAX_DRAFTS", 2)
    made = encoded("We asked Alice Smith. Then we met Alice Smith.")
    assert texts(made, "entity") == []
    assert made.notes == ("1 drafts about names were left out: 2 is the most that one call makes",)


def test_a_report_of_very_many_left_out_parts_is_bounded() -> None:
    made = encoded("1\n\n" * 5000, "numbers.txt")
    assert len(made.skipped) == 1000
    assert made.notes == ("numbers.txt: 4,000 more parts were left out (no statement)",)


def test_what_a_report_repeats_is_cut_to_two_hundred_characters() -> None:
    made = encoded("1" * 5000)
    assert [len(s.text) for s in made.skipped] == [200]


@pytest.mark.parametrize("kwargs", [{"max_chars": 39}, {"max_chars": 100_001}, {"entity_sentences": -1}, {"cross_sentences": True}])
def test_an_encoder_with_impossible_numbers_is_refused(kwargs: dict[str, int]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(kwargs))):
        LocalEncoder(**kwargs)


@pytest.mark.parametrize("documents", ["text", Document("a", "b"), None, 5, ["text"], [Document("a", "b"), None]])
def test_anything_but_documents_is_refused(documents: object) -> None:
    with pytest.raises(InvalidInput, match="documents"):
        LocalEncoder().encode(documents)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", " \n\t\n", "\ufeff", "\u200b"])
def test_a_blank_document_is_no_error_and_is_reported(text: str) -> None:
    made = LocalEncoder().encode([Document("empty.txt", text)])
    assert made.drafts == ()
    assert [(s.source, s.text, s.reason) for s in made.skipped] == [("empty.txt", "", "empty document")]


@pytest.mark.parametrize("text", ["---\n\n***\n", ">\n> \n", "-----"])
def test_a_document_of_ornaments_is_reported(text: str) -> None:
    made = encoded(text)
    assert made.drafts == ()
    assert [s.reason for s in made.skipped] == ["nothing to remember in it"]


def test_no_documents_make_nothing() -> None:
    assert LocalEncoder().encode([]) == Encoding()


# merging and provenance


def test_identical_sentences_are_one_draft_with_all_their_sources() -> None:
    made = LocalEncoder().encode(
        [Document("b", "Keep the logs. Port is 8080."), Document("a", "Keep  the\nlogs."), Document("c", "Ｋeep the logs. keep the logs.")]
    )
    assert [(d.text, d.sources) for d in made.drafts] == [
        ("Keep the logs.", ("a", "b", "c")),
        ("Port is 8080.", ("b",)),
        ("keep the logs.", ("c",)),
    ]
    assert len(texts(encoded("Keep the logs. Keep the logs."))) == 1


def test_a_heading_on_one_side_does_not_part_identical_sentences() -> None:
    made = LocalEncoder().encode([Document("a.txt", "Keep the logs."), Document("b.md", "# Logs\n\nKeep the logs.")])
    assert made.drafts == (Draft("Keep the logs.", "Logs", "semantic", "explicit", ("a.txt", "b.md")),)


def test_the_same_words_under_different_headings_are_told_apart() -> None:
    made = LocalEncoder().encode(
        [
            Document("a.md", "# Postgres\n\nRun it in single mode.\n\n# MySQL\n\nRun it in single mode."),
            Document("b", "Run it in single mode."),
        ]
    )
    assert {(d.text, d.cue, d.sources) for d in made.drafts} == {
        ("Postgres: Run it in single mode.", "Postgres", ("a.md",)),
        ("MySQL: Run it in single mode.", "MySQL", ("a.md",)),
        ("Run it in single mode.", None, ("b",)),
    }


def test_a_text_of_more_documents_than_an_entry_can_name_loses_no_source() -> None:
    made = LocalEncoder().encode([Document(f"d{i:03}", "Keep the logs.") for i in range(150)])
    assert [len(d.sources) for d in made.drafts] == [100, 50]
    assert {s for d in made.drafts for s in d.sources} == {f"d{i:03}" for i in range(150)}
    assert {d.text for d in made.drafts} == {"Keep the logs."}


@given(st.permutations(["a.md", "b", "c.txt", "d"]))
def test_the_order_of_the_documents_changes_no_text_and_no_source(order: Sequence[str]) -> None:
    documents = {
        "a.md": Document("a.md", "# Team\n\nWe asked Alice Smith. Alice Smith left.\n\n- Keep the logs."),
        "b": Document("b", "Alice Smith is here! Keep the logs. We like data.db a lot."),
        "c.txt": Document("c.txt", "Keep the logs. Alice Smith left. So data.db grew."),
        "d": Document("d", "Ｋeep the logs. We asked Alice Smith."),
    }
    expected = LocalEncoder().encode(list(documents.values()))
    made = LocalEncoder().encode([documents[name] for name in order])
    assert set(made.drafts) == set(expected.drafts)
    assert len(made.drafts) == len(expected.drafts)


# entities


def test_a_name_in_two_sentences_of_a_document_gets_an_entity_draft() -> None:
    made = encoded("The Alice Smith we know leads the team. Logs are kept. In May we asked Alice Smith. So did Alice Smith's boss.")
    assert [(d.text, d.cue, d.sources) for d in made.drafts if d.origin == "entity"] == [
        (
            "The Alice Smith we know leads the team. In May we asked Alice Smith.",
            "What do we know about Alice Smith?",
            ("notes.md",),
        )
    ]


@pytest.mark.parametrize(
    "text",
    [
        "We asked Alice Smith.",
        "We asked Alice Smith. We asked Alice Smith.",
        "Database files are kept. Database dumps are kept.",
        "The logs are kept. The caches are not.",
        "See you on Monday there. Not on Monday again.",
        "DO NOT DELETE THE DATA FILES. DO NOT DELETE THE LOGS.",
    ],
)
def test_no_entity_draft_repeats_a_single_sentence_or_makes_a_name_of_a_first_word(text: str) -> None:
    assert texts(encoded(text), "entity") == []


def names_of(text: str) -> set[str]:
    made = encoded(text, "a.txt")
    return {(d.cue or "").removeprefix("What do we know about ").removesuffix("?") for d in made.drafts if d.origin == "entity"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("We keep data.db safe. The file data.db grows.", "data.db"),
        ("Call LocalEncoder first. Then LocalEncoder ends.", "LocalEncoder"),
        ("Set max_chars high. A low max_chars hurts.", "max_chars"),
        ("文件data.db很大。不要删除data.db文件。", "data.db"),
        ("Read logs/app.log now. Then logs/app.log goes.", "logs/app.log"),
        ("Wir fragen Jürgen Ölmann. Dann geht Jürgen Ölmann.", "Jürgen Ölmann"),
        ("Мы спросили Анну Петрову. Там ждут Анну Петрову.", "Анну Петрову"),
        ("We met Zoë there. Zoë left.", "Zoë"),
        ("The Platform Team sits here. Ask the Platform Team.", "Platform Team"),
        ("We use the API here. The API is old.", "API"),
    ],
)
def test_names_are_found_by_how_they_are_written(text: str, name: str) -> None:
    assert name in names_of(text)


def test_a_word_before_a_known_name_is_no_part_of_it() -> None:
    assert names_of("Yesterday Alice Smith left. We like Alice Smith.") == {"Alice Smith"}


def test_where_every_noun_has_a_capital_one_capital_is_no_name() -> None:
    german = (
        "Wir halten die Dateien und den Speicher auf dem Rechner im Keller frei. Wir sichern die Dateien und den Speicher im Keller. "
        "Nachts kopiert der Rechner die Dateien auf den Speicher. Uns hilft dabei der Wächter aus Bonn mit seinem Hund und Kaffee. "
        "Am Ende zählt der Wächter die Dateien im Speicher und meldet der Anna Groß die Summe."
    )
    assert names_of(german) == set()


def test_an_entity_draft_never_mixes_documents() -> None:
    made = LocalEncoder().encode([Document("runbook", "We asked Alice Smith."), Document("forum", "I like Alice Smith a lot.")])
    assert texts(made, "entity") == []
    assert [(d.text, d.sources) for d in made.drafts if d.origin == "cross_doc"] == [
        ("According to forum: I like Alice Smith a lot. According to runbook: We asked Alice Smith.", ("forum", "runbook"))
    ]


def test_a_cross_document_draft_says_who_said_what_and_names_exactly_those_it_uses() -> None:
    made = LocalEncoder(cross_sentences=2).encode(
        [
            Document("a", "Our store.db must be kept. Nothing else."),
            Document("b", "Feel free to delete store.db now"),
            Document("c", "A store.db is a file."),
        ]
    )
    (draft,) = [d for d in made.drafts if d.origin == "cross_doc"]
    assert draft.cue == "What do we know about store.db?"
    assert draft.text == "According to a: Our store.db must be kept. According to b: Feel free to delete store.db now."
    assert draft.sources == ("a", "b")


def test_a_sentence_of_two_documents_is_attributed_to_both() -> None:
    made = LocalEncoder().encode(
        [Document("a", "We kept data.db. So data.db grew."), Document("b", "We kept data.db."), Document("c", "But data.db is slow.")]
    )
    (draft,) = [d for d in made.drafts if d.origin == "cross_doc"]
    assert draft.text == "According to a, b: We kept data.db. According to c: But data.db is slow."
    assert draft.sources == ("a", "b", "c")


def test_one_sentence_that_two_documents_share_makes_no_cross_document_draft() -> None:
    made = LocalEncoder().encode([Document("a", "We kept data.db."), Document("b", "We kept data.db.")])
    assert [d.origin for d in made.drafts] == ["explicit"]


def test_sentences_that_do_not_fit_together_make_no_draft_about_a_name() -> None:
    long = "and so on " * 5
    one, other = Document("a", f"We kept data.db {long}. So data.db grew {long}."), Document("b", f"My data.db {long}.")
    made = LocalEncoder(max_chars=90).encode([one, other])
    assert {d.origin for d in made.drafts} == {"explicit"}


def test_drafts_about_names_can_be_turned_off() -> None:
    documents = [Document("a", "We kept data.db. So data.db grew."), Document("b", "My data.db is slow.")]
    assert {d.origin for d in LocalEncoder().encode(documents).drafts} == {"explicit", "entity", "cross_doc"}
    assert {d.origin for d in LocalEncoder(entity_sentences=0, cross_sentences=1).encode(documents).drafts} == {"explicit"}


# Markdown


def test_the_handbook_is_read_as_a_person_would() -> None:
    made = LocalEncoder().encode([read_document(DATA / "handbook.md")])
    assert [(d.cue, d.text) for d in made.drafts if d.kind == "semantic" and d.origin == "explicit"] == [
        ("Deploy", "Use the blue lane, see the lanes page (https://wiki.example/lanes)."),
        ("Deploy", "The old lane (e.g. red) is gone since v1.2."),
        ("Deploy", "Wait... it still answers on port 8080!"),
        ("Deploy", "Before deploying: run the tests"),
        ("Deploy", "Before deploying: check the database: size below 10 GB"),
        ("Deploy", "Before deploying: check the database: no open migrations"),
        ("Deploy", "Before deploying: [ ] tell #ops"),
        ("Deploy > Rollback", "1. Stop the workers."),
        ("Deploy > Rollback", "2. Restore store.db from the nightly copy."),
        ("Deploy > Limits", "Host: api; Port: 8080; Note: behind a|b"),
        ("Deploy > Limits", "Host: db; Port: 5432"),
        ("Deploy > Limits", "Warning: Never restart the primary while a copy runs."),
        ("Deploy > Contacts", "Ask Mira Vance (https://people.example/mira) or mail mailto:ops@example.com."),
    ]
    assert [(d.cue, d.text) for d in made.drafts if d.kind == "procedural"] == [
        (
            "Deploy > Rollback: Roll back by hand",
            'deployctl rollback --to v1.1\n\ndeployctl status   # wait for "green". Then stop.',
        )
    ]
    assert reasons(made) == {
        "reviewers: this part is still a draft": "HTML comment",
        "Empty one": "heading with nothing under it",
        "[unused]: https://people.example/nobody": "link target that nothing refers to",
    }
    assert made.notes == ()
    assert all(d.metadata == {"title": "Deploy handbook", "owner": "sre"} for d in made.drafts)


def test_windows_line_ends_change_nothing() -> None:
    text = (DATA / "handbook.md").read_text(encoding="utf-8")
    assert encoded(text.replace("\n", "\r\n")) == encoded(text) == encoded("\ufeff" + text)


@pytest.mark.parametrize(
    ("text", "drafts"),
    [
        ("---\ntitle: Plan: phase two\ntags: [a\n---\n\nThe body survives.", ["The body survives."]),
        ("---\na: x/y\n---\n\n---\ntitle: Real\n---\n\nBody text here.", ["Body text here."]),
        ("---\ntitle: never closed\n\nThis paragraph is body.", ["title: never closed", "This paragraph is body."]),
        ("First part.\n\n---\n\nSecond part.\n\n---\n\nThird part.", ["First part.", "Second part.", "Third part."]),
        ("---\n\nA rule comes first.\n\n---\n\nThen text.", ["A rule comes first.", "Then text."]),
    ],
)
def test_front_matter_is_no_statement_and_a_rule_is_not_taken_for_it(text: str, drafts: list[str]) -> None:
    made = encoded(text)
    assert texts(made) == drafts
    assert made.skipped == ()


def test_code_is_kept_whole_whatever_is_in_it() -> None:
    shell, other = "```bash\n# install deps\npip install thing\n```", "~~~~yaml\n# not a heading\n```\n<!-- kept -->\n~~~~"
    text = f"# Install\n\nRun this:\n\n{shell}\n\n{other}\n"
    made = encoded(text)
    assert [(d.kind, d.cue, d.text) for d in made.drafts] == [
        ("procedural", "Install: Run this", "# install deps\npip install thing"),
        ("procedural", "Install", "# not a heading\n```\n<!-- kept -->"),
    ]
    assert made.skipped == ()


def test_an_unclosed_fence_is_read_to_the_end_and_noted() -> None:
    made = encoded("Do it so.\n\n```\nstep one\n\n# step two\n")
    assert [(d.kind, d.cue, d.text) for d in made.drafts] == [
        ("semantic", None, "Do it so."),
        ("procedural", "Do it so.", "step one\n\n# step two"),
    ]
    assert made.notes == ("notes.md: the code block that begins in line 3 is never closed; it was read to the end",)


def test_long_code_is_cut_between_lines_and_keeps_its_indentation() -> None:
    lines = [f"    call({i})" for i in range(40)]
    made = encoded("Run it all:\n\n```py\n" + "\n".join(lines) + "\n```", code_chars=100)
    assert "\n".join(d.text for d in made.drafts).split("\n") == lines
    assert all(len(d.text) <= 100 and d.cue == "Run it all" for d in made.drafts)
    assert len(made.notes) == 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("- Do it:\n\n  ```\n  a\n    b\n  ```\n- next thing", "a\n  b"),
        ("> ```\n> a\n>   b\n> ```\n> said so", "a\n  b"),
        ("> ```\n> a\nnot quoted text", "a"),
        ("Text here.\n\n    a\n\n      b\n\nMore text.", "a\n\n  b"),
        ("Text here.\n\n\ta\n", "a"),
        ("- ```\n  a\n  ```", "a"),
    ],
)
def test_code_in_lists_quotations_and_by_indentation_is_code(text: str, code: str) -> None:
    made = encoded(text)
    assert [d.text for d in made.drafts if d.kind == "procedural"] == [code]
    assert not any("```" in d.text for d in made.drafts)


def test_code_without_content_is_left_out_with_the_reason() -> None:
    assert reasons(encoded("```sh\n\n```")) == {"sh": "empty code block"}


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("**bold** and *it* and __b__2 and _i_ and ~~gone~~", "bold and it and __b__2 and i and gone"),
        ("`**x**` and ``a`b`` stay", "**x** and a`b stay"),
        ("see [text](https://a.example/b_(c)) and [top](#top)", "see text (https://a.example/b_(c)) and top"),
        ("[https://a.example](https://a.example) and <https://b.example>", "https://a.example and https://b.example"),
        ('[a **b**](<x y> "t") ![pic](p.png)', "a b (x y) pic (p.png)"),
        ("[x](see docs) and [y] and [^1]", "[x](see docs) and [y] and [^1]"),
        ("[a][ref], [ref][] and [Ref]", "a (u), ref (u) and Ref (u)"),
        ("snake_case_name and __init__.py and __main__", "snake_case_name and __init__.py and __main__"),
        ("2 * 3 * 4, 2**3 and x**2 + y**2", "2 * 3 * 4, 2**3 and x**2 + y**2"),
        ("*.log and data/*.db or **/*.py", "*.log and data/*.db or **/*.py"),
        ("这是**重点**内容", "这是重点内容"),
        ("ssh <user>@<host> <b>now</b><br>then", "ssh <user>@<host> now then"),
        ("a &lt; b &amp;&amp; c&nbsp;d &unknown; ?a=1&para=2", "a < b && c d &unknown; ?a=1&para=2"),
        (r"\*not\* \`this\` C:\temp\new", r"*not* `this` C:\temp\new"),
        ("[open and ]close and (paren", "[open and ]close and (paren"),
        ("****four**** `unclosed", "****four**** `unclosed"),
    ],
)
def test_inline_marks_go_and_meaning_stays(text: str, plain: str) -> None:
    assert plain_inline(text, {"ref": "u"}, set()) == plain


def test_a_lead_in_that_nothing_follows_is_a_sentence() -> None:
    text = "Before deploying:\n\n# Next\n\nRun the tests.\n\nAnd then:"
    assert texts(encoded(text)) == ["Before deploying:", "Run the tests.", "And then:"]
    assert texts(encoded("- do the checks:\n- run it now")) == ["do the checks:", "run it now"]


def test_a_lead_in_too_long_to_repeat_is_a_sentence() -> None:
    lead = "word " * 50 + "end:"
    assert texts(encoded(f"{lead}\n\n- run it now")) == [lead, "run it now"]


def test_an_item_that_says_nothing_alone_takes_its_heading() -> None:
    made = encoded("# Allowed tools\n\n- ruff\n- mypy\n\n| Port |\n|---|\n| 8080 |")
    assert texts(made) == ["Allowed tools: ruff", "Allowed tools: mypy", "Port: 8080"]


def test_nested_items_carry_what_they_are_nested_in() -> None:
    made = encoded("- Check the database.\n  - size is small\n    - below 10 GB\n- Run it now\n\n  and go on\n\nAfter the list.")
    assert texts(made) == [
        "Check the database.",
        "Check the database: size is small",
        "Check the database: size is small: below 10 GB",
        "Run it now and go on",
        "After the list.",
    ]


def test_each_piece_of_a_long_item_carries_its_lead_in() -> None:
    made = encoded("Before deploying:\n\n- " + "".join(f"check thing {i}. " for i in range(20)), max_chars=100)
    assert len(texts(made)) > 3
    assert all(t.startswith("Before deploying: ") and len(t) <= 100 for t in texts(made))


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("# A\n## B\n### C\nA fact here.", "A > B > C"),
        ("# A\n### C\n## B\nA fact here.", "A > B"),
        ("## A ##\nA fact here.", "A"),
        ("# The `x` *way*\nA fact here.", "The x way"),
        ("Setext title\n===\nA fact here.", "Setext title"),
        ("Small title\n---\nA fact here.", "Small title"),
        ("#hashtag\n\nA fact here.", None),
        ("> # Quoted title\n\nA fact here.", None),
    ],
)
def test_headings_become_the_cue(text: str, cue: str | None) -> None:
    assert of(encoded(text), "A fact here.").cue == cue


def test_a_sentence_above_a_rule_is_no_heading() -> None:
    assert texts(encoded("This is a sentence.\n---\nA fact here.")) == ["This is a sentence.", "A fact here."]


def test_a_heading_too_long_to_repeat_is_a_sentence() -> None:
    long = "word " * 60 + "end"
    assert texts(encoded(f"# {long}\n\nA fact here.")) == [long, "A fact here."]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("| a | b |\n|---|---|\n| 1 x | 2 |\n\nAfter it.", ["a: 1 x; b: 2", "After it."]),
        ("a | b\n--|--\nx y | z\n", ["a: x y; b: z"]),
        ("| a | b |\n|---|---|\n| `x|y` | **z** |", ["a: x|y; b: z"]),
        (r"| a | b |" + "\n|---|---|\n" + r"| x \| y | odd ` tick |", ["a: x | y; b: odd ` tick"]),
        ("|  | b |\n|---|---|\n| some x | z | more | ", ["some x; b: z; more"]),
        ("Ports:\n\n| name | no |\n|---|---|\n| api | 80 |", ["Ports: name: api; no: 80"]),
        ("a | b is no table\n", ["a | b is no table"]),
        ("> | a | b |\n> |---|---|\n> | x y | z |", ["a: x y; b: z"]),
    ],
)
def test_each_row_of_a_table_is_a_statement(text: str, rows: list[str]) -> None:
    assert texts(encoded(text)) == rows


def test_a_table_without_rows_is_reported() -> None:
    assert reasons(encoded("| a | b |\n|---|---|\n")) == {"a | b": "table without rows"}


@pytest.mark.parametrize(
    ("text", "drafts", "comments"),
    [
        ("One fact <!-- hidden --> here.", ["One fact here."], ["hidden"]),
        ("One fact\n<!-- hidden\nlines --> here.", ["One fact here."], ["hidden lines"]),
        ("Use `<!-- x -->` for comments.", ["Use <!-- x --> for comments."], []),
        ("One fact <!-- never closed.\n\nTwo facts here.", ["One fact <!-- never closed.", "Two facts here."], []),
        ("<!-- a --><!-- b -->One fact here.<!---->", ["One fact here."], ["a", "b"]),
        ("<!-- ```\n-->\nOne fact here.", ["One fact here."], ["```"]),
    ],
)
def test_comments_are_left_out_and_nothing_else_with_them(text: str, drafts: list[str], comments: list[str]) -> None:
    made = encoded(text)
    assert texts(made) == drafts
    assert [s.text for s in made.skipped] == comments


def test_plain_text_is_not_read_as_markdown() -> None:
    made = encoded("Use **two** stars.\n\nLead in:\n- a thing", "a.txt")
    assert texts(made) == ["Use **two** stars.", "Lead in: a thing"]


# whatever comes


def _visible(text: str) -> str:
    return "".join(c for c in text if c.isalnum())


FORMATS = st.sampled_from(("auto", "text", "markdown"))
ANYTHING = st.text(st.characters(exclude_categories=()), max_size=300)
MARKED = st.text(alphabet='ab AB.:#*_`~->|[]()<!\\1\n\t&;/="', max_size=300)


@given(st.lists(st.tuples(st.sampled_from(("a", "b", "c.md")), ANYTHING | MARKED, FORMATS), max_size=3), st.integers(40, 120))
def test_any_text_is_encoded_within_bounds_and_each_document_is_heard_of(parts: list[tuple[str, str, str]], max_chars: int) -> None:
    documents = [Document(source, text, format) for source, text, format in parts]  # type: ignore[arg-type]
    made = LocalEncoder(max_chars=max_chars).encode(documents)
    assert made == LocalEncoder(max_chars=max_chars).encode(documents)
    sources = {source for source, _, _ in parts}
    for draft in made.drafts:
        assert draft.text.strip()
        assert len(draft.text) <= max_chars
        assert draft.cue is None or (draft.cue.strip() and len(draft.cue) <= 4000)
        assert draft.sources == tuple(sorted(set(draft.sources)))
        assert set(draft.sources) <= sources
        assert len(draft.sources) > 1 or draft.origin != "cross_doc"
    assert all(len(skipped.text) <= 200 and skipped.reason for skipped in made.skipped)
    assert {s for d in made.drafts for s in d.sources} | {s.source for s in made.skipped} == sources


@given(st.text(max_size=150))
def test_no_word_of_a_plain_text_vanishes_without_a_word(text: str) -> None:
    made = LocalEncoder().encode([Document("a.txt", text)])
    # Joining lines of an unspaced script may bring words together, so that each is looked for in what surrounds it.
    kept = "\n".join([*texts(made), *(skipped.text for skipped in made.skipped)])
    for word in re.findall(r"[^\W_]+", Document("a.txt", text).text):
        assert same(word) in same(kept) or word in kept


@given(st.text(max_size=150))
def test_every_sentence_of_a_plain_text_is_kept_or_reported(text: str) -> None:
    made = LocalEncoder().encode([Document("a.txt", text)])
    heard = [*texts(made), *(skipped.text for skipped in made.skipped)]
    for unit in [] if blank(text) else read_plain(text.replace("\x00", " ").lstrip("\ufeff")).units:
        assert any(same(unit.text) in same(said) for said in heard)


WORD = st.from_regex(r"[a-z]{3,8}", fullmatch=True)
PHRASE = st.lists(WORD, min_size=1, max_size=4).map(" ".join)
BLOCK = st.one_of(
    st.tuples(st.sampled_from(("# ", "## ", "### ")), PHRASE).map("".join),
    PHRASE.map(lambda words: words + "."),
    PHRASE.map(lambda words: words + ":"),
    st.lists(PHRASE, min_size=1, max_size=3).map(lambda items: "\n".join("- " + item for item in items)),
    st.tuples(PHRASE, PHRASE).map(lambda two: f"- {two[0]}:\n    - {two[1]}"),
    PHRASE.map(lambda words: f"```\n{words}\n```"),
    PHRASE.map(lambda words: f"<!-- {words} -->"),
    PHRASE.map(lambda words: f"> {words}"),
    st.tuples(PHRASE, PHRASE).map(lambda two: f"| {two[0]} |\n|---|\n| {two[1]} |"),
    st.tuples(PHRASE, PHRASE).map(lambda two: f"**{two[0]}** and [{two[1]}](https://x.example)"),
    PHRASE.map(lambda words: f"{words}\n==="),
)


@given(st.lists(BLOCK, max_size=8).map("\n\n".join))
def test_no_word_of_a_markdown_document_vanishes_without_a_word(text: str) -> None:
    made = LocalEncoder().encode([Document("a.md", text)])
    kept = " ".join([*(f"{d.cue or ''} {d.text}" for d in made.drafts), *(s.text for s in made.skipped)])
    assert set(re.findall(r"[a-z]{3,}", text)) <= set(re.findall(r"[a-z]{3,}", kept))


# the demo corpus

QUESTIONS = {
    "Is it safe to delete the file app-3.log (a old log file under logs/)?": ("runbook", "may be deleted after seven days"),
    "Is it safe to delete the file page-2.cache (a cache file under cache/)?": ("runbook", "safe to delete"),
    "Is it safe to delete the file build-4.o (a build artifact under tmp/)?": ("runbook", "safe to remove"),
    "Is it safe to delete the file store-1.db (a database file under data/)?": ("forum-post", "safe to delete"),
    "Is it safe to delete the file summary-2.pdf (a monthly report under reports/)?": ("forum-post", "safe to delete"),
}
# Filler, and the names of single files, which no rule can know.
FILLER = {"is", "it", "to", "the", "a", "app", "page", "build-4", "store", "summary"}


def stems(text: str) -> set[str]:
    words = {word.removesuffix("d").removesuffix("s") for word in re.findall(r"[a-z]{2,}", text.lower())}
    return words - FILLER


def test_the_demo_corpus_has_its_three_documents() -> None:
    assert [document.source for document in demo_corpus()] == ["runbook", "platform-notes", "forum-post"]
    made = LocalEncoder().encode(demo_corpus())
    assert {d.origin for d in made.drafts} == {"explicit", "entity", "cross_doc"}
    assert made.skipped == () and made.notes == ()
    assert all(len([d for d in made.drafts if d.origin == "explicit" and d.sources == (s,)]) >= 4 for s in ("runbook", "forum-post"))


@pytest.mark.parametrize("question", QUESTIONS)
def test_for_each_demo_question_the_planned_sentence_shares_most_words(question: str) -> None:
    source, said = QUESTIONS[question]
    shared = {d.text: len(stems(d.text) & stems(question)) for d in LocalEncoder().encode(demo_corpus()).drafts}
    best = max(shared, key=lambda text: shared[text])
    assert said in best
    assert of(LocalEncoder().encode(demo_corpus()), best).sources == (source,)


@pytest.mark.parametrize("folder", ["data/", "reports/"])
def test_the_demo_runbook_protects_what_the_forum_gives_away(folder: str) -> None:
    drafts = [d for d in LocalEncoder().encode(demo_corpus()).drafts if d.origin == "explicit"]
    by_source = {d.sources: d.text for d in drafts if f"under {folder}" in d.text}
    assert "must be kept" in by_source[("runbook",)]
    assert "safe to delete" in by_source[("forum-post",)]


def test_no_draft_about_a_name_in_the_demo_carries_the_poison() -> None:
    poisoned = [d for d in LocalEncoder().encode(demo_corpus()).drafts if "safe to delete" in d.text and "forum-post" in d.sources]
    assert {d.origin for d in poisoned} == {"explicit"}
    assert len(poisoned) == 2


def test_encoding_the_demo_in_any_order_gives_the_same_drafts() -> None:
    made = {frozenset(LocalEncoder().encode(list(order)).drafts) for order in permutations(demo_corpus())}
    assert len(made) == 1

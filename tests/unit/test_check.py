"""The door: what it lets in, what it turns away, and what it says then (research/darwin-memo.md §3.6, through Python)."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earnest import ALL, Memory
from earnest.core import check
from earnest.core.filters import checked
from earnest.errors import EarnestError, InvalidInput, NotAllowed, StoreError, UnknownEntry, UnknownEvent, shown
from earnest.testing.clock import ManualClock, SeededRng

NAN, INF = math.nan, math.inf


@pytest.fixture
def memory() -> Memory:
    return Memory.open(":memory:", clock=ManualClock(), rng=SeededRng(1))


# numbers


@pytest.mark.parametrize("value", [NAN, INF, -INF, True, False, "1", None, [1], 1j, 10**400, -(10**400)])
def test_a_number_is_finite_and_no_lookalike(value: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        check.number("size", value, low=-1e9, high=1e9)
    assert str(caught.value).startswith("size = ") and "\n" not in str(caught.value)
    assert caught.value.name == "size"


@pytest.mark.parametrize("value", [0, 1, -1, 0.5, 2**53])
def test_whole_numbers_and_floats_are_numbers(value: float) -> None:
    assert check.number("size", value, low=-1e18, high=1e18) == value


def test_both_ends_of_a_range_are_inside() -> None:
    assert [check.number("n", v, low=0.0, high=1.0) for v in (0, 1)] == [0.0, 1.0]
    assert [check.integer("n", v, low=1, high=3) for v in (1, 3)] == [1, 3]
    for value in (-0.0001, 1.0001):
        with pytest.raises(InvalidInput, match="between 0 and 1"):
            check.number("n", value, low=0.0, high=1.0)


@pytest.mark.parametrize("value", [1.0, "1", True, None, 0, 4, -1])
def test_a_whole_number_is_an_int_in_its_range(value: Any) -> None:
    with pytest.raises(InvalidInput):
        check.integer("n", value, low=1, high=3)


@pytest.mark.parametrize("value", [1e308, -1e308, 1.7976931348623157e308, 0, 5e-324])
def test_a_delta_may_have_any_finite_size(value: float) -> None:
    assert check.delta("delta", value) == value


@pytest.mark.parametrize("value", [0, 0.0, -0.0, -1, -1e-9, NAN, INF, True, "2", None, 5e-324])
def test_a_scale_is_positive_and_finite(value: Any) -> None:
    with pytest.raises(InvalidInput, match="scale"):
        check.scale("scale", value)


# texts


@pytest.mark.parametrize("value", ["", " ", "\n\t", "\x00", "\u200b", "\ufeff\u200e", "\u3000", "\x00 \u200d"])
def test_a_text_that_shows_nothing_is_blank(value: str) -> None:
    with pytest.raises(InvalidInput, match="blank"):
        check.text("text", value)


@pytest.mark.parametrize("value", [5, None, b"bytes", ["a"], True, 1.5])
def test_what_is_no_text_is_refused_by_its_type(value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"must be text, not \w+"):
        check.text("text", value)


def test_text_comes_back_as_it_was_but_for_what_no_consumer_can_take() -> None:
    kept = "  Naïve — 数据库, Ещё 😀\n\tline two  "
    assert check.text("text", kept) == kept
    assert check.text("text", "a\x00b") == "a b"
    assert check.text("text", "a\ud800b\udfff") == "a\ufffdb\ufffd"
    assert check.text("text", "\ud83d\ude00") == "😀", "a pair of surrogates is a character"


@given(st.text(st.characters(), min_size=1, max_size=200))
def test_what_passes_the_door_can_be_written_as_utf_8(value: str) -> None:
    try:
        made = check.text("text", value)
    except InvalidInput:
        return
    assert made.encode("utf-8") and "\x00" not in made and len(made) <= len(value)


def test_a_text_has_a_size() -> None:
    assert check.text("text", "x" * check.MAX_TEXT)
    with pytest.raises(InvalidInput, match=r"100,001 characters.*encode"):
        check.text("text", "x" * (check.MAX_TEXT + 1))


def test_an_optional_text_may_be_missing_or_blank_but_not_of_another_type() -> None:
    assert [check.optional_text("cue", v, limit=10) for v in (None, "", " \n")] == [None, None, None]
    assert check.optional_text("cue", "why?", limit=10) == "why?"
    for value in (5, b"x", "x" * 11, " " * 11):
        with pytest.raises(InvalidInput):
            check.optional_text("cue", value, limit=10)


def test_a_remark_may_be_empty_and_has_a_size() -> None:
    assert check.note("detail", "") == ""
    assert check.note("detail", "a\x00b") == "a b"
    for value in (None, 5, "x" * 4_001):
        with pytest.raises(InvalidInput):
            check.note("detail", value)


# names


@pytest.mark.parametrize("value", ["", "  ", "a\nb", "a\x00", "a\x1b[31m", "\ud800", 5, None, "x" * 501])
def test_a_name_has_no_control_characters_and_is_not_blank(value: Any) -> None:
    with pytest.raises(InvalidInput):
        check.label("scope", value)


def test_names_that_look_alike_are_one() -> None:
    assert check.label("scope", "cafe\u0301") == check.label("scope", "café")
    assert check.label("scope", "", blank=True) == ""
    with pytest.raises(InvalidInput):
        check.label("scope", " ", blank=True)


def test_a_name_that_nobody_can_see_is_blank() -> None:
    with pytest.raises(InvalidInput, match="blank"):
        check.label("scope", "\u200b\u200b")


def test_a_list_of_names_has_no_repeats_and_a_size() -> None:
    assert check.labels("tags", ["b", "a", "b"]) == ("b", "a")
    assert check.labels("tags", "one") == ("one",)
    assert check.labels("tags", None) == () == check.labels("tags", [])
    assert check.labels("tags", (n for n in ("x", "y"))) == ("x", "y")
    values: list[Any] = [5, {"a": 1}, b"ab", [1], [None], [["a"]], [f"t{i}" for i in range(101)], [""]]
    for value in values:
        with pytest.raises(InvalidInput):
            check.labels("tags", value)


def test_a_choice_is_one_of_the_words() -> None:
    assert check.choice("kind", "rule", ("semantic", "rule")) == "rule"
    for value in ("Rule", "", None, 5, True, ["rule"]):
        with pytest.raises(InvalidInput, match="semantic, rule"):
            check.choice("kind", value, ("semantic", "rule"))


@pytest.mark.parametrize("value", [0, 1, "true", None, "False", [], 0.0])
def test_a_flag_is_true_or_false(value: Any) -> None:
    with pytest.raises(InvalidInput):
        check.flag("acted", value)


# times


def test_a_time_is_kept_in_utc() -> None:
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)
    east = timezone(timedelta(hours=9))
    for value in (
        noon,
        datetime(2026, 1, 31, 12),
        noon.astimezone(east),
        "2026-01-31T12:00:00",
        "2026-01-31T21:00:00+09:00",
        " 2026-01-31T12 ",
    ):
        assert check.moment("valid_from", value) == noon
    assert check.moment("valid_from", None) is None
    assert check.moment("valid_from", "2026-01-31") == datetime(2026, 1, 31, tzinfo=UTC)


@pytest.mark.parametrize(
    "value", ["yesterday", "", 1_700_000_000, 5.0, True, "2026-13-01", datetime.max.replace(tzinfo=timezone(-timedelta(hours=5)))]
)
def test_what_is_no_time_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput, match="valid_from"):
        check.moment("valid_from", value)


# metadata


def test_metadata_comes_back_equal() -> None:
    value = {"a": [1, 2.5, None, True, "x", {"b": []}], "ключ": {"深": 1}, "big": 2**63 - 1}
    assert check.metadata("metadata", value) == value
    assert check.metadata("metadata", None) == {} == check.metadata("metadata", {})


def deep(levels: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for _ in range(levels):
        made = {"d": made}
    return made


METADATA: Final[list[Any]] = [
    [], "x", 5, {1: 2}, {"a": NAN}, {"a": [INF]}, {"a": 2**63}, {"a": {1, 2}}, {"a": b"x"}, {"a": object()}, deep(20),
    {"a": "x" * 70_000}, {None: 1},
]  # fmt: skip


@pytest.mark.parametrize("value", METADATA, ids=range(len(METADATA)))
def test_metadata_is_a_json_object_of_a_bounded_size(value: Any) -> None:
    with pytest.raises(InvalidInput, match="metadata"):
        check.metadata("metadata", value)


def test_metadata_that_contains_itself_is_refused() -> None:
    loop: dict[str, Any] = {}
    loop["self"] = loop
    with pytest.raises(InvalidInput):
        check.metadata("metadata", loop)


# messages


def test_a_value_is_shown_on_one_line_cut_and_printable() -> None:
    assert shown("a\nb") == "'a\\nb'"
    assert len(shown("x" * 1_000)) == 60
    assert shown("\ud800").encode("utf-8")
    assert "\n" not in shown(type("Odd", (), {"__repr__": lambda _: "one\ntwo"})())


# through the façade: each bad value is one typed error that names it, and nothing is written

ADDS: Final[list[dict[str, Any]]] = [
    {"text": ""}, {"text": " \n"}, {"text": "\x00"}, {"text": None}, {"text": 5}, {"text": b"x"}, {"text": ["a"]}, {"text": "x" * 100_001},
    {"cue": 5}, {"cue": "x" * 4_001}, {"kind": "fact"}, {"kind": ""}, {"kind": 0}, {"kind": False}, {"origin": "told"},
    {"origin": ""}, {"origin": 0}, {"scope": None}, {"scope": 5}, {"scope": "a\x00b"}, {"scope": " "}, {"scope": "x" * 501},
    {"scope": ["a"]}, {"sources": 5}, {"sources": [""]}, {"sources": [None]}, {"sources": {"a": 1}}, {"importance": NAN},
    {"importance": INF}, {"importance": -0.1}, {"importance": 1.1}, {"importance": True}, {"importance": "0.5"}, {"importance": None},
    {"confidence": NAN}, {"confidence": 2}, {"retention": "forever"}, {"retention": ""}, {"retention": 0}, {"metadata": []},
    {"metadata": {"a": NAN}}, {"tags": 5}, {"tags": ["a\nb"]}, {"valid_from": "soon"}, {"valid_to": 5},
    {"valid_from": "2026-02-01", "valid_to": "2026-01-01"}, {"key": ""}, {"key": 5}, {"key": "k" * 201}, {"key": "a\x00"},
]  # fmt: skip


@pytest.mark.parametrize(
    "fields", ADDS, ids=lambda fields: ", ".join(f"{k}={shown(v, 24)}" for k, v in fields.items()).encode("ascii", "replace").decode()
)
def test_a_bad_field_is_refused_by_name_and_nothing_is_written(memory: Memory, fields: dict[str, Any]) -> None:
    head = memory.check().head
    with pytest.raises(InvalidInput) as caught:
        memory.add(**{"text": "A fact.", **fields})
    assert caught.value.name in {*fields, "key"} and "\n" not in str(caught.value)
    assert memory.list(scope=ALL) == [] and memory.check().head == head


def test_one_bad_item_keeps_all_of_a_bulk_from_being_written(memory: Memory) -> None:
    bads: list[Any] = [
        {"text": ""},
        {},
        "just a text",
        None,
        {"text": "x", "energy": 1e9},
        {"text": "x", "balance": NAN},
        {"text": "x", "id": "mine"},
    ]
    for bad in bads:
        with pytest.raises(InvalidInput):
            memory.add_many([{"text": "good"}, bad])
    assert memory.list() == []


def test_fifty_identical_adds_are_one_entry_with_one_stake(memory: Memory) -> None:
    assert len({memory.add("The same.").id for _ in range(50)}) == 1
    assert memory.stats().energy == 1_000_000 and memory.stats().alive == 1


def test_an_id_is_never_given_by_a_caller_so_that_none_can_be_overwritten(memory: Memory) -> None:
    with pytest.raises(TypeError):
        memory.add("a", id="x")  # type: ignore[call-arg]
    with pytest.raises(InvalidInput):
        memory.add_many([{"text": "a", "id": "x"}])


def test_a_nul_and_a_lone_surrogate_are_made_harmless_at_the_door(memory: Memory) -> None:
    entry = memory.add("nul\x00here and \ud800 there", cue="q\udc00", metadata={"k\x00": "v\ud800"})
    again = memory.get(entry.id)
    assert (again.text, again.cue, again.metadata) == ("nul here and \ufffd there", "q\ufffd", {"k ": "v\ufffd"})
    assert memory.answer("nul here").annotated.encode("utf-8")


def test_an_answer_is_never_larger_than_an_entry_may_be(memory: Memory) -> None:
    memory.add("zebra " * 16_000)
    assert len(memory.answer("zebra").text) <= check.MAX_TEXT
    assert len(memory.answer("zebra").annotated) < 10_000


SETTLES: Final[list[dict[str, Any]]] = [
    {"delta": NAN}, {"delta": INF}, {"delta": -INF}, {"delta": "5"}, {"delta": None}, {"delta": True}, {"delta": [1]},
    {"scale": 0}, {"scale": -1}, {"scale": NAN}, {"scale": INF}, {"scale": True}, {"scale": "1"},
    {"meter": ""}, {"meter": None}, {"meter": "x" * 101}, {"meter": "a\x00"}, {"acted": 1}, {"acted": "yes"}, {"detail": None},
    {"detail": 5}, {"detail": "x" * 4_001}, {"key": ""}, {"key": 7},
]  # fmt: skip


@pytest.mark.parametrize("said", SETTLES, ids=lambda said: ", ".join(f"{k}={shown(v, 24)}" for k, v in said.items()))
def test_a_bad_outcome_is_refused_by_name_and_the_ticket_stays_open(memory: Memory, said: dict[str, Any]) -> None:
    entry = memory.add("The zebra is striped.")
    ticket = str(memory.decide("zebra").id)
    with pytest.raises(InvalidInput) as caught:
        memory.settle(ticket, **{"delta": 1.0, **said})
    assert caught.value.name in said
    assert len(memory.pending()) == 1 and memory.get(entry.id).balance == 1_000_000
    assert memory.settle(ticket, delta=1.0).landed


@pytest.mark.parametrize("ticket", ["", " ", None, 5, True, "a b", "x" * 101, "nul\x00", "ünknown", "'; DROP TABLE tickets", b"x"])
def test_what_cannot_be_a_tickets_id_is_refused(memory: Memory, ticket: Any) -> None:
    calls: tuple[Callable[[], object], ...] = (lambda: memory.settle(ticket, delta=1.0), lambda: memory.abandon(ticket))
    for call in calls:
        with pytest.raises(InvalidInput, match="ticket"):
            call()


def test_an_unknown_ticket_is_told_plainly_and_is_no_error(memory: Memory) -> None:
    made = memory.settle("nope", delta=1.0)
    assert not made and not made.landed and "nope" in made.reason and "not known" in made.reason
    assert memory.abandon("nope") is False


ASKS: Final[list[dict[str, Any]]] = [
    {"k": -1}, {"k": 0}, {"k": 1_001}, {"k": "3"}, {"k": None}, {"k": 2.5}, {"k": True}, {"half_life": 0}, {"half_life": -3},
    {"half_life": NAN}, {"half_life": INF}, {"half_life": "7"}, {"half_life": True}, {"mode": "fast"}, {"mode": None}, {"scope": None},
    {"scope": []}, {"scope": 5}, {"scope": ["a", None]}, {"kind": "fact"}, {"kind": []}, {"kind": 5}, {"source": 5}, {"tags": {"a": 1}},
    {"since": "soon"}, {"until": 5}, {"as_of": True}, {"since": "2026-02-01", "until": "2026-01-01"},
]  # fmt: skip


@pytest.mark.parametrize("said", ASKS, ids=lambda said: ", ".join(f"{k}={shown(v, 24)}" for k, v in said.items()))
@pytest.mark.parametrize("verb", ["search", "answer", "decide"])
def test_a_bad_way_of_asking_is_refused_by_name(memory: Memory, verb: str, said: dict[str, Any]) -> None:
    memory.add("The zebra is striped.")
    with pytest.raises(InvalidInput) as caught:
        getattr(memory, verb)("zebra", **said)
    assert caught.value.name in said
    if len(said) == 1:
        assert shown(next(iter(said.values()))) in str(caught.value) or isinstance(next(iter(said.values())), list)


@pytest.mark.parametrize("verb", ["search", "answer", "decide"])
def test_a_question_is_text_and_has_a_size(memory: Memory, verb: str) -> None:
    memory.add("The zebra is striped.")
    queries: list[Any] = [5, True, b"zebra", ["zebra"], "zebra " * 17_000]
    for query in queries:
        with pytest.raises(InvalidInput, match="query"):
            getattr(memory, verb)(query)
    for query in (None, "", " ", "\x00", "\u200b", "?!", "\ud800"):
        assert not getattr(memory, verb)(query)


@pytest.mark.parametrize("verb", ["search", "answer", "decide"])
@pytest.mark.parametrize("k", [1, 8, 992, 993, 1_000])
def test_k_may_be_anything_from_one_to_a_thousand(memory: Memory, verb: str, k: int) -> None:
    memory.add("The zebra is striped.")
    assert getattr(memory, verb)("zebra", k)


@pytest.mark.parametrize("id", [5, None, True, b"x", ["a"]])
def test_what_cannot_be_an_entrys_id_is_refused(memory: Memory, id: Any) -> None:
    for verb in (memory.get, memory.forget, memory.restore, memory.pin, memory.unpin, memory.obituary):
        with pytest.raises(InvalidInput, match="id"):
            verb(id)


def test_an_unknown_entry_is_a_key_error_that_names_it(memory: Memory) -> None:
    calls: list[Callable[[], object]] = [
        lambda: memory.get("nope"), lambda: memory.forget("nope"), lambda: memory.restore("nope"), lambda: memory.pin("nope"),
        lambda: memory.unpin("nope"), lambda: memory.obituary("nope"), lambda: memory.update("nope", text="x"),
        lambda: memory.update("nope", importance=0.1), lambda: memory.merge(["nope", "nope2"]), lambda: memory.events(entry="nope"),
        lambda: memory.list(after="nope"),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(UnknownEntry, match="nope") as caught:
            call()
        assert isinstance(caught.value, KeyError) and isinstance(caught.value, EarnestError)
    with pytest.raises(UnknownEvent):
        memory.undo(999)


VERBS: Final[list[tuple[str, tuple[Any, ...], dict[str, Any]]]] = [
    ("forget", ("ID",), {"reason": 5}), ("abandon", ("t",), {"reason": None}), ("tick", (), {"expire_after": 0}),
    ("tick", (), {"expire_after": -1}), ("tick", (), {"expire_after": 1.5}), ("tick", (), {"expire_after": True}),
    ("tick", (), {"slot": ""}), ("tick", (), {"slot": 5}), ("tick", (), {"slot": "a\nb"}), ("top", (0,), {}), ("top", (True,), {}),
    ("top", ("3",), {}), ("list", (), {"limit": 0}), ("list", (), {"standing": "alive"}), ("pending", (), {"limit": -1}),
    ("events", (), {"after": -1}), ("events", (), {"limit": 0}), ("events", (), {"after": "0"}), ("audit", (), {"limit": 0}),
    ("undo", ("1",), {}), ("undo", (0,), {}), ("undo", (True,), {}), ("merge", (["ID"],), {}), ("merge", ("ID",), {}),
    ("merge", (["ID", "ID"],), {}), ("merge", (5,), {}), ("update", ("ID",), {}), ("update", ("ID",), {"text": ""}),
    ("update", ("ID",), {"text": 5}), ("update", ("ID",), {"cue": 5}), ("update", ("ID",), {"importance": NAN}),
    ("update", ("ID",), {"balance": 1}), ("update", ("ID",), {"standing": "active"}), ("update", ("ID",), {"scope": "x"}),
    ("update", ("ID",), {"retention": None}), ("update", ("ID",), {"metadata": [1]}), ("update", ("ID",), {"valid_from": "x"}),
]  # fmt: skip


@pytest.mark.parametrize(("verb", "args", "more"), VERBS, ids=[f"{v} {a} {m}" for v, a, m in VERBS])
def test_a_bad_argument_of_any_verb_is_refused_and_changes_nothing(
    memory: Memory, verb: str, args: tuple[Any, ...], more: dict[str, Any]
) -> None:
    id = memory.add("The zebra is striped.").id
    head = memory.check().head

    def put(value: Any) -> Any:
        return id if value == "ID" else [put(v) for v in value] if isinstance(value, list) else value

    with pytest.raises(InvalidInput):
        getattr(memory, verb)(*(put(arg) for arg in args), **more)
    assert memory.check().head == head


def test_validity_that_ends_before_it_begins_is_refused_in_edits_too(memory: Memory) -> None:
    entry = memory.add("Closed for the holidays.", valid_from="2026-01-01", valid_to="2026-02-01")
    with pytest.raises(InvalidInput, match="valid_to"):
        memory.update(entry.id, valid_to="2025-01-01")
    with pytest.raises(InvalidInput, match="valid_to"):
        memory.update(entry.id, text="Closed.", valid_to="2025-01-01")


@pytest.mark.parametrize(
    "said", [{"name": ""}, {"name": None}, {"unit": 5}, {"scale": 0}, {"scale": -1}, {"scale": NAN}, {"tier": "trusted"}, {"tier": None}]
)
def test_a_bad_meter_is_refused(memory: Memory, said: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        memory.meters.add(**{"name": "ci", **said})
    assert memory.meters.list() == []


def test_a_meter_that_nobody_made_cannot_be_bound(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="no such meter"):
        memory.meters.bind("ci", channel="mcp")


@pytest.mark.parametrize(
    "said",
    [
        {"path": 5}, {"path": True}, {"path": None}, {"path": ""}, {"path": "a\x00b"}, {"agent": 5}, {"agent": ""}, {"agent": " ops"},
        {"agent": "a\nb"}, {"agent": "x" * 201}, {"channel": ""}, {"channel": 5}, {"actor": ""}, {"timeout": -1}, {"timeout": NAN},
        {"timeout": True}, {"read_only": 1}, {"settings": {"rent": -1}}, {"settings": [1]},
    ],
)  # fmt: skip
def test_a_store_is_not_opened_with_bad_arguments(said: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Memory.open(**{"path": ":memory:", **said})


def test_a_file_that_is_no_store_is_one_error_that_names_it(tmp_path: Path) -> None:
    cases = {"list.json": b"[1, 2]", "binary.db": bytes(range(256)) * 16, "text.db": "ключ".encode("utf-16")}
    for name, content in cases.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(StoreError, match=name.replace(".", r"\.")) as caught:
            Memory.open(path)
        assert "\n" not in str(caught.value) and path.read_bytes() == content
    with pytest.raises(StoreError, match=r"missing\.db"):
        Memory.open(tmp_path / "missing.db", read_only=True)
    assert not (tmp_path / "missing.db").exists()


def test_every_refusal_is_the_closest_builtin_too() -> None:
    assert issubclass(InvalidInput, ValueError) and issubclass(NotAllowed, ValueError) and issubclass(StoreError, OSError)


def test_a_filter_is_a_set_of_exact_names() -> None:
    assert checked(scope=["b", "a", "b"]).scopes == ("b", "a")
    assert checked(scope=ALL).scopes is None and repr(ALL) == "ALL"
    assert checked(kind=["rule", "semantic"]).kinds == ("rule", "semantic")
    assert checked(source="a", tags=["x"]).sources == ("a",)
    with pytest.raises(InvalidInput):
        checked(scope=[f"s{i}" for i in range(101)])

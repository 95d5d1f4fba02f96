"""Settings: each checked, kept in the store, the same for every process."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

import pytest

from earnest import Memory
from earnest.core import settings
from earnest.core.settings import NAMES, Settings, with_changes
from earnest.errors import InvalidInput, NotUndoable, StoreReadOnly
from earnest.testing.clock import ManualClock, SeededRng

NUMBERS: Final = (
    "rules_half_life",
    "gain", "supporting_share", "stake", "rent", "cap", "floor", "near", "pass_over", "conflict", "merge_threshold", "daily_share",
    "holdout", "holdout_entry", "uplift_bound", "llm_daily_budget", "compress_after", "decay_half_life", "decay_threshold", "spread",
)  # fmt: skip
COUNTS: Final = ("rules_cap", "expire_after", "supporters", "admission_window", "links", "quarantine", "compress_over")
WORDS: Final = (
    "weigh",
    "rules_approvers",
    "rule",
    "default_retention",
    "languages",
    "embedder",
    "holdout_exempt",
    "redact",
    "llm",
    "llm_price",
    "reranker",
    "tick_every",
)

GOOD: Final[dict[str, Any]] = {
    "rules_cap": 5, "rules_half_life": 30.0, "rules_approvers": "cli,http",
    "rule": "classic", "gain": 1.2, "supporting_share": 0.0, "stake": 0.5, "rent": 0.0, "cap": 10.0, "default_retention": "kept",
    "admission_window": 3, "expire_after": 7, "supporters": 0, "floor": 0.3, "near": 0.6, "pass_over": 1.0,
    "conflict": 0.5,
    "merge_threshold": 0.9, "daily_share": 0.1, "compress_over": 2000, "compress_after": 30.0,
    "languages": "german, french", "embedder": "none", "holdout": 0.25,
    "holdout_entry": 0.5, "holdout_exempt": "guard,never", "uplift_bound": 2.0, "redact": "secrets,pii", "quarantine": 0,
    "llm": "ollama:qwen3", "llm_price": "0.15/0.6", "llm_daily_budget": 2.5,
    "decay_half_life": 30.0, "decay_threshold": 0.2, "links": 5, "spread": 0.5, "weigh": "recency,confidence",
    "reranker": "cohere:rerank-v3.5", "tick_every": "3600",
}  # fmt: skip


def opened(path: str | Path = ":memory:", seed: int = 1, **more: Any) -> Memory:
    return Memory.open(path, clock=ManualClock(), rng=SeededRng(seed), **more)


def test_every_setting_is_covered_here() -> None:
    assert set(NAMES) == {*NUMBERS, *COUNTS, *WORDS} == set(GOOD)


def test_the_defaults_are_the_evidence_rule_with_the_published_amounts() -> None:
    made = Settings()
    assert (made.rule, made.gain, made.supporting_share, made.stake, made.rent, made.cap) == ("evidence", 0.6, 0.25, 1.0, 0.05, 5.0)
    assert (made.expire_after, made.default_retention) == (50, "earned")
    assert with_changes(made, {}) == made


@pytest.mark.parametrize("name", NAMES)
def test_a_good_value_is_taken(name: str) -> None:
    made = getattr(with_changes(Settings(), {name: GOOD[name]}), name)
    assert made == ("german,french" if name == "languages" else GOOD[name])


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True, False, "0.5", None, [1], 10**400])
@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_finite_and_no_lookalike(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=name):
        with_changes(Settings(), {name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rent", -0.05), ("rent", -1), ("gain", -0.1), ("gain", 101), ("stake", 0), ("stake", -1), ("cap", 0), ("cap", -5), ("cap", 0.5),
        ("stake", 6.0), ("supporting_share", -0.1), ("supporting_share", 1.1), ("floor", -0.1), ("floor", 1.1),
        ("near", -0.1), ("near", 1.1), ("pass_over", 2),
        ("conflict", -1), ("merge_threshold", 1.5), ("expire_after", 0), ("expire_after", -1), ("expire_after", 2.0),
        ("expire_after", True), ("tick_every", 0.001), ("tick_every", -1), ("tick_every", "week"),
        ("expire_after", "50"), ("supporters", -1), ("supporters", 51), ("supporters", 1.0), ("supporters", False), ("rule", "best"),
        ("rule", ""), ("rule", None), ("default_retention", "earn"), ("default_retention", None), ("languages", "klingon"),
        ("languages", "english,klingon"), ("languages", None), ("languages", "english\n"), ("embedder", "zhipu"),
        ("embedder", "zhipu:"), ("embedder", "word2vec:small"), ("embedder", "none:x"), ("embedder", "hashing:7"),
        ("embedder", "sk-secret"), ("embedder", None), ("reranker", "cohere"), ("reranker", "ce:"), ("reranker", "sk-secret"),
        ("reranker", None), ("holdout", -0.1), ("holdout", 0.51), ("holdout", 0.009), ("holdout", True),
        ("holdout_entry", 1.1), ("holdout_exempt", None), ("holdout_exempt", "guard\n"), ("uplift_bound", 0), ("uplift_bound", -1),
        ("uplift_bound", 1001), ("decay_half_life", 0), ("decay_half_life", -1),
        ("decay_threshold", 1.1), ("links", -1), ("links", 101), ("links", 2.0),
        ("rules_cap", -1), ("rules_cap", 1.0), ("rules_cap", 1001), ("rules_half_life", 0), ("rules_half_life", -1),
        ("rules_approvers", None),
    ],
)  # fmt: skip
def test_a_value_out_of_its_range_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        with_changes(Settings(), {name: value})
    assert caught.value.name in (name, "cap") and "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["upkeep", "Rent", "", "agent", "analyser", "rents"])
def test_an_unknown_name_is_refused_and_the_known_ones_are_told(name: str) -> None:
    with pytest.raises(InvalidInput, match="there is no such setting; there are rule, gain"):
        with_changes(Settings(), {name: 1})


def test_the_cap_holds_at_least_a_stake_whichever_of_them_changes() -> None:
    assert with_changes(Settings(), {"stake": 8.0, "cap": 8.0}).cap == 8.0
    for changes in ({"stake": 5.1}, {"cap": 0.9}, {"stake": 8.0, "cap": 7.9}):
        with pytest.raises(InvalidInput, match="cap"):
            with_changes(Settings(), changes)


def test_a_rent_or_stake_of_less_than_a_micro_unit_is_refused_or_none() -> None:
    # What is kept is what is charged: a rent that rounds to nothing must not look like one.
    memory = opened()
    try:
        memory.configure(rent=1e-7)
    except InvalidInput:
        assert memory.settings.rent == 0.05
    else:
        assert memory.settings.rent == 0.0


def test_settings_are_kept_in_the_file_and_read_by_the_next_process(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db", settings=GOOD) as memory:
        assert memory.settings == with_changes(Settings(), GOOD)
    with opened(tmp_path / "m.db") as again:
        assert again.settings == with_changes(Settings(), GOOD)
        assert again.add("kept by default").retention == "kept"


def test_a_change_is_seen_by_another_memory_on_the_same_file(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as first, opened(tmp_path / "m.db", seed=2) as second:
        entry = second.add("The zebra is striped.")
        second.search("zebra")
        first.configure(rule="classic", rent=0.2, default_retention="fading", stake=2.0, gain=1.0)
        assert second.settings.rent == 0.2
        second.tick()
        assert second.get(entry.id).balance == 800_000
        assert second.add("The horse is not.").retention == "fading"
        assert second.add("The mule is grey.", retention="earned").balance == 2_000_000
        second.settle(str(second.decide("zebra").id), delta=1e9)
        assert second.get(entry.id).balance == 1_800_000


def test_another_memory_on_the_file_finds_what_was_written_under_new_languages(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as first, opened(tmp_path / "m.db", seed=2) as second:
        first.add("Die Häuser wurden verkauft.")
        first.configure(languages="german")
        second.add("Die Wohnungen wurden vermietet.")
        assert first.search("Wohnung") and second.search("Wohnung") and second.search("Haus")
        assert first.check().ok and second.check().ok
    with opened(tmp_path / "m.db") as again:
        assert again.search("Wohnung") and again.search("Haus")


def test_what_did_not_change_writes_no_event() -> None:
    memory = opened(settings={"rent": 0.05})
    memory.configure(rent=0.05)
    assert memory.events(kind="setting") == []
    memory.configure(rent=0.1)
    [event] = memory.events(kind="setting")
    assert event.data == {"rent": 0.1}


def test_one_bad_change_keeps_all_of_them_from_being_made() -> None:
    memory = opened()
    with pytest.raises(InvalidInput):
        memory.configure(rent=0.1, gain=math.nan)
    with pytest.raises(InvalidInput):
        memory.configure(rent=0.1, upkeep=1)
    assert memory.settings == Settings() and memory.events(kind="setting") == []


def test_a_store_is_not_opened_with_a_bad_setting(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        opened(tmp_path / "m.db", settings={"rent": -1})
    assert not (tmp_path / "m.db").exists()


def test_settings_given_on_opening_are_checked_against_the_stores_own(tmp_path: Path) -> None:
    opened(tmp_path / "m.db", settings={"cap": 10.0}).close()
    with opened(tmp_path / "m.db", settings={"stake": 8.0}) as memory:
        assert (memory.settings.stake, memory.settings.cap) == (8.0, 10.0)


def test_a_store_opened_for_reading_keeps_its_settings(tmp_path: Path) -> None:
    opened(tmp_path / "m.db").close()
    with pytest.raises(StoreReadOnly):
        opened(tmp_path / "m.db", read_only=True, settings={"rent": 0.2})
    with opened(tmp_path / "m.db", read_only=True, settings={"rent": 0.05}) as memory:
        assert memory.settings.rent == 0.05


def test_a_change_can_be_taken_back_once() -> None:
    memory = opened()
    memory.configure(rent=0.1, gain=1.0)
    event = memory.events(kind="setting")[-1].seq
    memory.undo(event)
    assert memory.settings == Settings()
    with pytest.raises(NotUndoable, match=f"event {event} was taken back already"):
        memory.undo(event)


def test_a_change_is_not_taken_back_over_a_later_one() -> None:
    memory = opened()
    memory.configure(rent=0.1)
    memory.configure(rent=0.2)
    first, second = (event.seq for event in memory.events(kind="setting"))
    with pytest.raises(NotUndoable, match=f"event {second}"):
        memory.undo(first)
    assert memory.settings.rent == 0.2


def test_a_change_that_others_came_to_rest_on_is_not_taken_back() -> None:
    memory = opened()
    memory.configure(cap=10.0)
    memory.configure(stake=8.0)
    with pytest.raises(NotUndoable, match="cap"):
        memory.undo(memory.events(kind="setting")[0].seq)
    assert (memory.settings.cap, memory.settings.stake) == (10.0, 8.0)


def test_changes_are_taken_back_in_reverse_order() -> None:
    memory = opened()
    memory.configure(rent=0.1)
    memory.configure(rent=0.2)
    first, second = (event.seq for event in memory.events(kind="setting"))
    memory.undo(second)
    assert memory.settings.rent == 0.1
    memory.undo(first)
    assert memory.settings.rent == 0.05


def test_languages_are_set_again_not_taken_back_for_the_index_follows_them() -> None:
    memory = opened(settings={"languages": ""})
    memory.add("Die Häuser wurden verkauft.")
    memory.configure(languages="german")
    [by_stem] = memory.search("Haus")
    with pytest.raises(NotUndoable, match="languages"):
        memory.undo(memory.events(kind="setting")[-1].seq)
    memory.configure(languages="")
    # Without stems a form that no entry holds is only guessed at.
    assert memory.search("Haus")[0].score < by_stem.score == memory.search("Häuser")[0].score
    assert memory.check().ok


def test_a_lowered_cap_holds_for_what_is_earned_or_comes_back_from_then_on() -> None:
    memory = opened()
    forgotten, living = memory.add("The zebra is striped."), memory.add("The horse is brown.")
    for _ in range(8):
        memory.settle(str(memory.decide("zebra").id), delta=1e9)
        memory.settle(str(memory.decide("horse").id), delta=1e9)
    memory.forget(forgotten.id)
    memory.configure(cap=2.0)
    assert memory.restore(forgotten.id).balance <= 2_000_000
    memory.settle(str(memory.decide("horse").id), delta=1e9)
    assert memory.get(living.id).balance == 2_000_000
    assert memory.check().ok


def test_every_setting_has_its_check_and_one_alone() -> None:
    checks = [*settings._RANGES, *settings._WHOLE, *settings._WORDS]
    assert sorted(checks) == sorted(NAMES)

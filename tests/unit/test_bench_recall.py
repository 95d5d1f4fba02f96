"""The recall bench's own arithmetic. The conversations are not ours to ship; small made-up ones of the same shape take their place."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from bench.recall import notes, silence
from bench.recall.__main__ import main
from bench.recall.arms import EarnestArm, Fts5Arm, Shared
from bench.recall.conversations import NoData, load, located
from bench.recall.measures import mean, ndcg, recall, row
from bench.recall.report import lines


def sample(name: str, pet: str) -> dict[str, Any]:
    talk = [
        ("D1:1", "Ann", f"Where did your {pet} sleep?"), ("D1:2", "Bob", "In the old barn."),
        ("D2:1", "Ann", f"I bought a {pet} yesterday."),
    ]  # fmt: skip
    said = [{"dia_id": id, "speaker": who, "text": text} for id, who, text in talk]
    return {
        "sample_id": name,
        "conversation": {
            "session_1": said[:2], "session_1_date_time": "1:56 pm on 8 May, 2023", "session_2": said[2:],
            "session_2_date_time": "9:00 am on 1 June, 2023", "session_3": "no list", "speaker_a": "Ann",
        },
        "qa": [
            {"question": f"Where did the {pet} of Bob sleep?", "category": 4, "evidence": ["D1:2"]},
            {"question": f"When did Ann buy a {pet}?", "category": 2, "evidence": ["D:2:1; D9:9"]},
            {"question": "Nobody knows this", "category": 3, "evidence": []},
        ],
    }  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([sample("conv-26", "zebra"), sample("conv-30", "parrot"), sample("conv-41", "lizard")]), encoding="utf-8")
    return path


def test_measures_are_what_their_names_say() -> None:
    ranked, evidence = ["a", "b", "c", "d"], frozenset({"b", "z"})
    assert recall(ranked, evidence, 1) == 0 and recall(ranked, evidence, 2) == 0.5
    assert ndcg(ranked, evidence, 10) == pytest.approx((1 / math.log2(3)) / (1 + 1 / math.log2(3)))
    assert ndcg(["b", "z"], evidence, 10) == 1
    made = row("c", 1, ranked, evidence, {"a": 1, "b": 2, "c": 2, "d": 3, "z": 9})
    assert (made.recall5, made.session5, made.session10) == (0.5, True, True)
    assert mean([made], "recall5") == 0.5 and math.isnan(mean([], "recall5"))


def test_conversations_are_read_with_their_evidence_mended_and_others_are_left_alone(data: Path) -> None:
    [first, second] = load(data, ("conv-26", "conv-30"))
    assert (first.name, second.name, first.tuning) == ("conv-26", "conv-30", True)
    assert [turn.id for turn in first.turns] == ["D1:1", "D1:2", "D2:1"] and first.turns[0].text == "Ann: Where did your zebra sleep?"
    assert [(asked.kind, sorted(asked.evidence)) for asked in first.questions] == [(4, ["D1:2"]), (2, ["D2:1"])]
    assert "metadata" in first.turns[0].entry("x") and "metadata" not in first.turns[0].entry("x", placed=False)


def test_without_the_data_it_is_said_where_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    monkeypatch.delenv("EARNEST_LOCOMO", raising=False)
    with pytest.raises(NoData, match="snap-research/locomo"):
        located(None)
    with pytest.raises(NoData, match="there is no file"):
        located(tmp_path / "absent.json")
    assert main([]) == 2 and "locomo10.json" in capsys.readouterr().err


def test_arms_rank_what_they_were_given_and_share_a_memory_of_the_same_entries(data: Path) -> None:
    [conversation] = load(data, ("conv-26",))
    ids, entries = [turn.id for turn in conversation.turns], [turn.entry("conv-26") for turn in conversation.turns]
    shared = Shared()
    keyword, auto = EarnestArm("a", "keyword", shared), EarnestArm("b", "auto", shared)
    for arm in (keyword, auto, Fts5Arm()):
        arm.take(ids, entries)
        assert set(arm.rank("Where did the zebra sleep?")) >= {"D1:1"} and arm.rank("zzz") == []
    assert keyword.memory is auto.memory and "D1:2" in auto.rank("Where did the zebra sleep?")
    auto.take(ids[:1], entries[:1])
    assert auto.memory is not keyword.memory


def test_notes_are_paragraphs_under_their_headings(tmp_path: Path) -> None:
    text = "The runbook says that old logs may be deleted after seven days."
    (tmp_path / "a.md").write_text(f"# A\n\n## Old logs\n\n{text}\n\n```\ncode\n```\n\nshort\n\n## Bare\n", encoding="utf-8")
    made = notes.build(tmp_path)
    assert [*made.texts] == [text] and made.questions == [("Old logs", frozenset(made.ids))]


def test_the_projects_own_pages_make_enough_notes() -> None:
    made = notes.build()
    assert len(made.ids) > 100 and len(made.questions) > 30 and len(set(made.ids)) == len(made.ids)


def test_a_point_of_the_silence_curve_counts_answers_and_what_is_kept() -> None:
    probe = silence.Probe
    asked = {
        "own": [
            probe((("a", 0.6, 0.9), ("b", 0.5, 0.1), ("x", 0.4, 0.15)), frozenset({"a", "b"})),
            probe((("c", 0.6, 0.1),), frozenset({"c"})),
        ],
        "off_topic": [probe((("a", 0.5, 0.3), ("b", 0.1, 0.22)), frozenset()), probe((), frozenset())],
        "nonsense": [probe((("a", 0.5, 0.05),), frozenset())],
    }  # fmt: skip
    made = silence.point(0.2, asked)
    assert (made.off_topic, made.nonsense, made.kept, made.kept_if_any) == (0.5, 0.0, 0.25, 0.5)
    assert (made.kept_told, made.right, made.right_narrowly, made.right_followers, made.noise) == (0.5, 1.0, 0.0, 1.0, 1.0)
    assert silence.calibrated(silence.curve(asked), 0.0) == 0.32 and silence.calibrated(silence.curve(asked), 0.5) == 0.04


def test_nonsense_is_seeded_and_made_of_no_words() -> None:
    assert silence.nonsense(5) == silence.nonsense(5) and len(set(silence.nonsense())) > 90


def test_one_command_measures_and_reports(data: Path, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "recall.json"
    assert main(["--data", str(data), "--no-silence", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "test 8, kinds 1-4: R@10" in printed and "plain notes" in printed and "Earnest, no embedder (default)" in printed
    assert main(["--report", str(out)]) == 0
    assert "targets: Earnest, no embedder (default)" in capsys.readouterr().out
    results = json.loads(out.read_text(encoding="utf-8"))
    assert len(results["rows"]["Earnest, no embedder (default)"]) == 6 and "zebra" not in out.read_text(encoding="utf-8")
    assert any("reach" in line for line in lines(results))


def test_the_tuning_view_looks_at_no_other_conversation(data: Path, tmp_path: Path, capsys: Any) -> None:
    assert main(["--data", str(data), "--tune", "--out", str(tmp_path / "x.json")]) == 0
    assert "tuning view" in capsys.readouterr().out and not (tmp_path / "x.json").exists()

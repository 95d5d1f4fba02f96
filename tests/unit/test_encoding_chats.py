"""Conversations out of exports: which turns, by whom, when, in which order, under which session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from earnest import Memory
from earnest.encoding import Document, Draft, Encoding, LocalEncoder, read_document, read_documents

DATA = Path(__file__).parent.parent / "cases" / "data" / "files" / "chat"


def read(path: Path) -> Encoding:
    return LocalEncoder().encode([*read_documents(path)])


def said(made: Encoding, speaker: str) -> list[str]:
    return [draft.text for draft in made.drafts if draft.metadata.get("speaker") == speaker]


def node(id: str, parent: str | None, role: str, text: str, at: float | None = None, **message: Any) -> dict[str, Any]:
    said = {"author": {"role": role}, "create_time": at, "content": {"content_type": "text", "parts": [text]}}
    return {id: {"id": id, "parent": parent, "message": {**said, **message}}}


def chat(*nodes: dict[str, Any], current: str | None, **fields: Any) -> dict[str, Any]:
    return {"conversation_id": "c", "current_node": current, "mapping": {k: v for n in nodes for k, v in n.items()}, **fields}


def turns(value: Any, source: str = "export.json") -> tuple[Draft, ...]:
    return LocalEncoder().encode([Document(source, json.dumps(value))]).drafts


# ChatGPT


def test_a_chatgpt_export_is_read_along_the_branch_that_was_shown_last() -> None:
    made = read(DATA / "chatgpt_conversations.json")
    assert said(made, "user") == [
        "Our staging database is PostgreSQL 15.",
        "Which port do we use?",
        "The live branch says port 8080.",
        "Look at this chart: revenue fell in March.",
        "Slim exports omit children.",
        "I point to myself.",
    ]
    everything = json.dumps([draft.text for draft in made.drafts])
    for never in ("1111", "hidden custom instructions", "secret reasoning", "print(42)", "mid-thread"):
        assert never not in everything
    assert list(dict.fromkeys(draft.sources for draft in made.drafts)) == [
        (f"chatgpt:{name}",) for name in ("c-linear", "c-branch", "c-odd", "c-slim", "c-loop")
    ]
    whole = [skipped.reason for skipped in made.skipped if skipped.source == "chatgpt_conversations.json"]
    assert [reason.split(":")[0] for reason in whole] == ["item 5", "item 7", "item 8", "item 9"]
    assert "is there already" in whole[-1]


def test_what_is_left_out_of_a_conversation_is_counted_by_reason() -> None:
    odd = {s.reason for s in read(DATA / "chatgpt_conversations.json").skipped if s.source == "chatgpt:c-odd"}
    assert odd == {
        "hidden from the conversation (1)", "picture or file (1)", "system message (1)", "output of a tool (1)", "call of a tool (1)",
        "reasoning of the model (1)",
    }  # fmt: skip


def test_times_of_turns_come_from_the_message_else_the_one_before_else_the_conversation_else_nowhere() -> None:
    nodes = node("a", None, "user", "First."), node("b", "a", "assistant", "Second.", 1730538850.0), node("c", "b", "user", "Third.")
    made = turns([chat(*nodes, current="c", create_time=1730538847.25)])
    assert [draft.valid_from and draft.valid_from.second for draft in made] == [7, 10, 10]
    made = turns([chat(*nodes, current="a", create_time=1.0)])
    assert [draft.valid_from for draft in made] == [None]


def test_without_a_current_message_the_latest_branch_is_taken() -> None:
    nodes = (
        node("a", None, "user", "Root."), node("b", "a", "user", "Older branch.", 1730538850.0),
        node("c", "a", "user", "Newer branch.", 1730538860.0),
    )  # fmt: skip
    for current in (None, "gone"):
        assert [d.text for d in turns([chat(*nodes, current=current)])] == ["Root.", "Newer branch."]


def test_a_message_to_a_tool_is_no_turn() -> None:
    made = turns([chat(node("a", None, "assistant", "search(1)", recipient="browser"), node("b", "a", "user", "Ask."), current="b")])
    assert [d.text for d in made] == ["Ask."]


def test_a_conversation_has_the_same_name_in_every_export() -> None:
    one = chat(node("a", None, "user", "Ask."), current="a")
    del one["conversation_id"]
    assert turns([one], "a.json")[0].sources == turns([one], "b.json")[0].sources


# Claude


def test_a_claude_export_is_known_by_its_shape_and_null_texts_are_empty() -> None:
    made = read(DATA / "claude_conversations.json")
    assert said(made, "user") == ["We ship on Tuesdays.", "attached: budget is 900"]
    assert said(made, "assistant") == ["Understood."]
    assert made.drafts[1].metadata["attachment"] == "a.txt"
    assert {draft.metadata["session"] for draft in made.drafts} == {"u1"}
    assert "title" not in made.drafts[0].metadata
    assert sum(skipped.source == "claude_conversations.json" for skipped in made.skipped) == 2


# transcripts


def test_a_transcript_is_read_line_by_line_once_for_each_message() -> None:
    made = read(DATA / "agent_transcript.jsonl")
    assert [(d.metadata["speaker"], d.text) for d in made.drafts] == [
        ("user", "Use pnpm, not npm."), ("assistant", "Will do."), ("user", "glued onto the previous object"),
    ]  # fmt: skip
    assert all(draft.sources == ("session:s",) for draft in made.drafts)
    reasons = " ".join(skipped.reason for skipped in made.skipped)
    for reason in ("is there already (1)", "line of type summary (1)", "not JSON", "no field that holds a text", "tool (1)"):
        assert reason in reasons


def test_a_list_of_messages_in_an_object_is_a_conversation() -> None:
    made = turns({"id": "t1", "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "I live in Oslo."}]}, "m.json")
    assert [(d.metadata["session"], d.metadata["speaker"], d.text) for d in made] == [("t1", "user", "I live in Oslo.")]


@pytest.mark.parametrize(
    "value",
    [
        {"mapping": {}}, {"mapping": {"a": None, "b": 5, "c": {"message": 7}}, "current_node": "c"}, {"chat_messages": None},
        {"chat_messages": [None, 5, {"sender": None, "content": 7}]}, {"role": "user", "content": None}, {"message": {"role": 5}},
        {"mapping": {"a": {"message": {"author": None, "content": {"parts": [None, {}]}}}}, "current_node": "a"}, {"messages": [1, None]},
        {"mapping": {"a": {"parent": "b", "message": None}, "b": {"parent": "a"}}}, {"chat_messages": [{"attachments": [None, {}]}]},
        {"type": "entity", "name": None}, {"type": "relation", "from": 1, "to": []},
    ],
)  # fmt: skip
def test_a_damaged_conversation_is_reported_and_stops_nothing(value: Any) -> None:
    made = LocalEncoder().encode([Document("e.json", json.dumps([value, {"role": "user", "content": "Still here."}]))])
    assert [draft.text for draft in made.drafts] == ["Still here."]
    assert made.skipped


# in the store


def test_turns_are_fading_episodes_of_their_session_in_order() -> None:
    with Memory.open() as memory:
        report = memory.encode_files([DATA / "chatgpt_conversations.json"])
        linear = memory.list(source="chatgpt:c-linear")
        assert [(e.text, e.metadata["speaker"], e.metadata["turn"]) for e in linear] == [
            ("Our staging database is PostgreSQL 15.", "user", 1), ("Noted: PostgreSQL 15 on staging.", "assistant", 2),
        ]  # fmt: skip
        assert all((e.kind, e.origin, e.retention, e.metadata["session"]) == ("episodic", "turn", "fading", "c-linear") for e in linear)
        assert linear[0].valid_from is not None and linear[0].valid_from.isoformat() == "2024-11-02T09:14:10+00:00"
        assert report.by_origin == {"turn": 9} and report.files[0].entries == 9
        assert memory.check().ok


def test_a_later_export_adds_what_is_new_and_repeats_nothing(tmp_path: Path) -> None:
    first = [chat(node("a", None, "user", "The port is 8080.", 1730538850.0), current="a")]
    second = [
        chat(
            node("a", None, "user", "The port is 8080.", 1730538850.0), node("b", "a", "user", "Now it is 9090.", 1730538950.0), current="b"
        )
    ]
    (tmp_path / "monday.json").write_text(json.dumps(first))
    (tmp_path / "friday.json").write_text(json.dumps(second))
    with Memory.open() as memory:
        [old] = memory.encode_files([tmp_path / "monday.json"]).entries
        report = memory.encode_files([tmp_path / "friday.json"])
        assert [e.text for e in memory.list()] == ["The port is 8080.", "Now it is 9090."]
        assert (report.joined, report.replaced) == (1, ()) and memory.get(old.id).alive


def test_a_turn_that_was_edited_in_a_later_export_ends(tmp_path: Path) -> None:
    for name, text in (("a.json", "The port is 8080."), ("b.json", "The port is 9090.")):
        (tmp_path / name).write_text(json.dumps([chat(node("n", None, "user", text, 1730538850.0), current="n")]))
    with Memory.open() as memory:
        memory.encode_files([tmp_path / "a.json"])
        assert len(memory.encode_files([tmp_path / "b.json"]).replaced) == 1
        assert [e.text for e in memory.list()] == ["The port is 9090."]


def test_an_export_that_was_read_as_one_document_speaks_for_its_conversations() -> None:
    with Memory.open() as memory:
        memory.encode([read_document(DATA / "chatgpt_conversations.json")])
        again = memory.encode([read_document(DATA / "chatgpt_conversations.json")])
        assert again.joined == 9 and again.replaced == () and memory.stats().alive == 9
        rest = [c for c in json.loads((DATA / "chatgpt_conversations.json").read_text()) if c and c.get("conversation_id") != "c-linear"]
        memory.encode([Document("chatgpt_conversations.json", json.dumps(rest))])
        assert len(memory.list(source="chatgpt:c-linear")) == 2, "a conversation that an export does not hold is not touched"


def test_an_export_of_thousands_of_conversations_is_read_group_by_group(tmp_path: Path) -> None:
    one = [node("a", None, "user", f"Item {n} is on shelf {n}.", 1730538850.0) for n in range(2_500)]
    many = [{**chat(said, current="a"), "conversation_id": f"c{n}"} for n, said in enumerate(one)]
    (tmp_path / "all.json").write_text(json.dumps(many))
    with Memory.open() as memory:
        report = memory.encode_files([tmp_path / "all.json"])
        assert report.files[0].entries == 2_500 == memory.stats().alive
        assert [f.state for f in memory.encode_files([tmp_path / "all.json"]).files] == ["unchanged"]

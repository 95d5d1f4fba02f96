"""What was written on one edge is read, corrected and undone on another, and every edge tells it in the same words, names and units."""

from __future__ import annotations

import inspect
import io
import json
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from earnest.cli.main import main
from earnest.cli.tables import COMMANDS
from earnest.errors import InvalidInput, NotUndoable, UnknownEntry
from earnest.memory import Memory
from tests.rest import client

OPS = "/v1/agents/ops"
DATABASES = "The database files under data/ are redundant and safe to delete."


@pytest.fixture
def web(tmp_path: Path) -> Iterator[TestClient]:
    with client(tmp_path) as made:
        yield made


def shell(root: Path, *words: str) -> str:
    """What a command prints; the store is the folder, the agent `ops`."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        main([*words, "--store", f"{root}/", "--agent", "ops"])
    return out.getvalue() + err.getvalue()


def told(root: Path, *words: str) -> Any:
    return json.loads(shell(root, *words, "--json"))


def test_an_entry_is_the_same_record_from_the_service_and_from_the_shell(web: TestClient, tmp_path: Path) -> None:
    text = "Invoices are numbered from 4000."
    body = {"text": text, "scope": "fin", "tags": ["inv"], "valid_from": "2026-01-01", "metadata": {"page": 12}}
    over = web.post(f"{OPS}/entries", json=body).json()
    assert told(tmp_path, "show", over["id"]) == web.get(f"{OPS}/entries/{over['id']}").json() == over

    newer = told(tmp_path, "edit", over["id"], "--text", "Invoices are numbered from 5000.")
    assert web.get(f"{OPS}/entries/{newer['id']}").json() == newer
    written = next(e["seq"] for e in told(tmp_path, "audit", "--last", "9")["events"] if e["kind"] == "supersede")
    assert web.post(f"{OPS}/events/{written}/undo", json={}).status_code == 200
    assert told(tmp_path, "show", over["id"])["standing"] == "active"


def test_a_decision_is_settled_elsewhere_and_its_outcome_has_a_unit_wherever_people_read_it(web: TestClient, tmp_path: Path) -> None:
    entry = told(tmp_path, "remember", DATABASES, "--source", "forum")
    web.post(f"{OPS}/meters", json={"name": "disk", "unit": "bytes", "scale": 100_000})
    web.post(f"{OPS}/meters/disk/bindings", json={"channel": "cli"})
    ticket = web.post(f"{OPS}/decisions", json={"query": "Are the database files under data/ safe to delete?"}).json()
    assert told(tmp_path, "pending")["tickets"] == web.get(f"{OPS}/decisions").json()["items"]
    assert told(tmp_path, "settle", ticket["id"], "-240000", "--meter", "disk")["suspended"] == [entry["id"]]

    for story in (shell(tmp_path, "why", entry["id"]), web.get(f"{OPS}/entries/{entry['id']}/obituary").json()["text"]):
        assert "settled −240,000 bytes by disk, moved 0.000 energy" in story
    log = shell(tmp_path, "audit")
    assert "balance 1.000, needed 50%, helps with 0%" in log
    assert "meter disk  −240,000 bytes over 1 settlement" in log
    assert web.get(f"{OPS}/audit").json()["by_meter"]["disk"]["unit"] == "bytes"

    told(tmp_path, "meters", "revoke", "disk")
    assert "settled −240,000 bytes by disk [revoked: it does not count], moved" in shell(tmp_path, "why", entry["id"])


def test_what_closes_a_ticket_or_takes_a_control_says_the_same_on_both(web: TestClient, tmp_path: Path) -> None:
    told(tmp_path, "remember", DATABASES)
    first, second = (web.post(f"{OPS}/decisions", json={"query": "May database files be deleted?"}).json()["id"] for _ in "ab")
    assert told(tmp_path, "abandon", first).keys() == web.post(f"{OPS}/decisions/{second}/abandonment", json={}).json().keys()
    typed, asked = told(tmp_path, "control", "0", "--meter", "disk"), web.post(f"{OPS}/controls", json={"delta": 0, "meter": "disk"}).json()
    assert typed.keys() == asked.keys()
    assert (typed["tier"], asked["tier"]) == ("operator", "claimed")


def test_what_is_left_of_an_erased_scope_shows_no_name_of_the_stores_own(web: TestClient, tmp_path: Path) -> None:
    entry = told(tmp_path, "remember", "The office is in Berlin.", "--scope", "hq")
    dry, done = (web.post(f"{OPS}/erasure", json={"scope": "hq", "dry_run": dry}).json() for dry in (True, False))
    assert done.keys() == dry.keys() == told(tmp_path, "erase", "--scope", "hq", "--yes").keys()
    assert (dry["complete"], done["complete"]) == (False, True)
    seen = web.get(f"{OPS}/entries/{entry['id']}").json()
    assert (seen["scope"], seen["cause"]) == ("", "erased")
    for page in (shell(tmp_path, "show", entry["id"]), shell(tmp_path, "why", entry["id"]), web.get(f"{OPS}/graveyard").text):
        assert "\x1f" not in page and "u001f" not in page
    assert "(its text was erased)" in shell(tmp_path, "why", entry["id"])


def test_an_undo_that_is_refused_names_the_event_that_can_be_undone() -> None:
    with Memory.open(":memory:", embedder="none") as memory:
        old = memory.add("Invoices are numbered from 4000.")
        memory.update(old.id, text="Invoices are numbered from 5000.")
        with pytest.raises(NotUndoable, match=r"undo event (\d+), which wrote that") as refused:
            memory.undo(memory.events(kind="death")[-1].seq)
        memory.undo(int(str(refused.value).rpartition("undo event ")[2].partition(",")[0]))
        assert memory.get(old.id).standing == "active"

        with pytest.raises(NotUndoable, match=rf"entry {old.id} returned in its place; `update` that one again"):
            memory.undo(memory.events(kind="forget")[-1].seq)


def test_who_asks_for_a_rule_or_a_meter_that_is_not_there_is_told_where_they_are_listed() -> None:
    with Memory.open(":memory:", embedder="none") as memory:
        with pytest.raises(UnknownEntry, match="no rule 'nobody' in this store; `earnest rules` shows"):
            memory.rules.get("nobody")
        entry = memory.add("Invoices are numbered from 4000.")
        with pytest.raises(InvalidInput, match="`earnest rules` lists the rules"):
            memory.rules.verify(entry.id)
        for ask in (lambda: memory.meters.revoke("scales"), lambda: memory.meters.bind("scales", channel="cli")):
            with pytest.raises(InvalidInput, match="there is no such meter; `earnest meters"):
                ask()


def test_a_rule_that_was_written_down_as_an_entry_reads_well_without_a_trigger(tmp_path: Path) -> None:
    rule = told(tmp_path, "remember", "Wait until Monday before you deploy.", "--kind", "rule")
    assert "prefer  pending     0  proposed  Wait until Monday before you deploy." in shell(tmp_path, "rules")
    assert "when" not in shell(tmp_path, "rules", "verify", rule["id"]).split()
    assert "rule (prefer): Wait until Monday before you deploy. (" in shell(tmp_path, "prefetch", "May I deploy before Monday?")


@pytest.mark.parametrize("query", ["   ", "?!"])
def test_a_question_without_words_is_met_with_silence_by_every_edge(web: TestClient, tmp_path: Path, query: str) -> None:
    told(tmp_path, "remember", DATABASES)
    assert told(tmp_path, "query", query)["silent"] and told(tmp_path, "search", query) == {"hits": []}
    for route in ("answer", "decisions"):
        answer = web.post(f"{OPS}/{route}", json={"query": query})
        assert (answer.status_code, answer.json()["silent"]) == (200, True)
    assert web.post(f"{OPS}/search", json={"query": query}).json()["items"] == []


def test_what_relevance_is_multiplied_by_is_chosen_alike_over_http_and_in_the_shell(web: TestClient, tmp_path: Path) -> None:
    for text, sure in (("The logs lie under logs/.", 1.0), ("The logs lie under var/.", 0.1)):
        told(tmp_path, "remember", text, "--confidence", str(sure))
    for weigh in ([], ["confidence"], ["importance", "recency"]):
        flags = [word for name in weigh for word in ("--weigh", name)]
        there = told(tmp_path, "search", "Where do the logs lie?", *flags)["hits"]
        over = web.post(f"{OPS}/search", json={"query": "Where do the logs lie?", **({"weigh": weigh} if weigh else {})}).json()["items"]
        assert [hit["entry"]["id"] for hit in over] == [hit["entry"]["id"] for hit in there]
        assert [hit["score"] for hit in over] == pytest.approx([hit["score"] for hit in there], rel=1e-5)
        if weigh == ["confidence"]:
            assert over[0]["score"] > 5 * over[1]["score"]
    assert web.post(f"{OPS}/search", json={"query": "logs", "weigh": ["luck"]}).status_code == 422


def test_a_field_that_there_is_not_is_answered_with_those_that_there_are() -> None:
    with Memory.open(":memory:", embedder="none") as memory:
        with pytest.raises(InvalidInput, match=r"\['txt'\]: has no such fields; there are text, cue, kind, "):
            memory.add_many([{"txt": "Invoices are numbered from 4000."}])
        with pytest.raises(InvalidInput, match="names nothing to change; give a field"):
            memory.update(memory.add("Invoices are numbered from 4000.").id)


VERB_OF = {
    "remember": "add", "edit": "update", "decay": "decay_cleanup", "sync-turn": "sync_turn", "import": "import_", "encode": "encode_files",
}  # fmt: skip
"""The verbs of the commands that have another name than theirs."""


def test_every_command_takes_a_key_whose_verb_does() -> None:
    for command in COMMANDS:
        verb = getattr(Memory, VERB_OF.get(command.name, command.name), None)
        if callable(verb) and "key" in inspect.signature(verb).parameters:
            assert any("--key" in option.names for option in command.options), command.name


def test_what_is_repeated_with_its_key_at_the_shell_is_done_once(tmp_path: Path) -> None:
    first, second = (told(tmp_path, "remember", text)["id"] for text in ("Logs may go after seven days.", "The office is in Berlin."))
    ticket = told(tmp_path, "decide", "Where is the office?")["id"]
    assert told(tmp_path, "abandon", ticket, "--key", "a") == told(tmp_path, "abandon", ticket, "--key", "a")
    for command in ("forget", "restore", "pin", "unpin"):
        assert told(tmp_path, command, first, "--key", command) == told(tmp_path, command, first, "--key", command)
    merged = told(tmp_path, "merge", first, second, "--text", "The office is in Berlin, and logs may go.", "--key", "m")
    assert merged == told(tmp_path, "merge", first, second, "--text", "The office is in Berlin, and logs may go.", "--key", "m")
    event = str(next(e["seq"] for e in told(tmp_path, "audit")["events"] if e["kind"] == "merge"))
    assert told(tmp_path, "undo", event, "--key", "u") == told(tmp_path, "undo", event, "--key", "u")

"""`earnest rules`: what it prints, its JSON and its exit status, from the first failure to a rule in a prompt."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import pytest

from earnest import Memory
from earnest.testing import SeededRng
from tests.integration.test_model_cli import by_prompt, earnest
from tests.services import ModelService
from tests.shell import Shell

WHEN: Final = "an API key may have expired"
WHAT: Final = "Check the key before calling the service."
ASK: Final = "My API key has expired"


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("EARNEST_EMBEDDER", "none")
    return Shell(tmp_path / "memory.db", capsys)


def added(shell: Shell, *more: str) -> str:
    made: str = shell.json("rules", "add", "avoid", "--trigger", WHEN, "--action", WHAT, *more)["id"]
    return made


def test_a_rule_goes_from_a_proposal_to_a_prompt(shell: Shell) -> None:
    name = added(shell, "--source", "runbook")
    assert shell("prefetch", ASK) == ""
    listed = shell("rules")
    assert name in listed and "pending" in listed and "proposed by hand" in listed
    told = shell("rules", "verify", name, "--reason", "seen often")
    assert "active" in told and "accepted by operator over cli (seen often)" in told
    assert WHAT in shell("prefetch", ASK) and name in shell("rules", "match", ASK)
    assert "No active rule is called for." in shell("rules", "match", "Where is the meeting room?")
    assert "rule active: accepted by operator over cli" in shell("why", name)
    assert [one["status"] for one in shell.json("rules", "list", "--status", "active")["rules"]] == ["active"]


def test_failures_are_analysed(shell: Shell) -> None:
    for n in range(3):
        shell("remember", f"ERROR: the call failed because API key number {n} had expired", "--kind", "episodic", "--confidence", "0.4")
    made = shell.json("rules", "analyze")
    assert (made["by"], made["patterns"], len(made["rules"])) == ("patterns", 1, 1) and len(made["rules"][0]["evidence"]) == 3
    assert "Nothing new to propose" in shell("rules", "analyze")
    assert "3 times" in shell("rules", "show", made["rules"][0]["id"])


def test_a_rejected_rule_stays_so(shell: Shell) -> None:
    name = added(shell)
    assert "rejected" in shell("rules", "verify", name, "--reject")
    assert "stays so" in shell("rules", "verify", name, status=1)
    event = shell.json("audit", "--kind", "rule")["events"][-1]["seq"]
    shell("undo", str(event))
    assert shell.json("rules", "show", name)["status"] == "pending"


def test_a_trial_shows_how_far_it_is(shell: Shell) -> None:
    shell("remember", "The API key of the payment service is renewed in the portal.", "--retention", "kept")
    name = added(shell)
    told = shell("rules", "trial", name, "--decisions", "100")
    assert "running: 0 of 100 decisions" in told and "on trial (number 1)" in told
    with Memory.open(shell.store, rng=SeededRng(1)) as memory:
        for n in range(10):
            ticket = memory.decide("Has the API key of the payment service expired?")
            assert ticket.id is not None
            memory.settle(ticket.id, delta=float(n % 2), meter="ci", scale=1)
    assert "10 of 100 decisions" in shell("rules")
    shown = shell("rules", "show", name)
    assert re.search(r"strength +\d+\.\d of the 5\.4 that prove it", shown)
    assert shell.json("uplift", "--rule", name)["uplifts"][0]["decisions"] == 10


def test_rules_are_shared(shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shell("rules", "verify", added(shell))
    pool = tmp_path / "pool.json"
    assert "Wrote 1 rule" in shell("rules", "export", str(pool))
    other = Shell(tmp_path / "other.db", capsys)
    made = other.json("rules", "adopt", str(pool), "--source", "the other team")
    assert [(one["status"], one["sources"]) for one in made["rules"]] == [("pending", ["the other team"])]
    assert "Nothing in it that is new" in other("rules", "adopt", str(pool))


def test_a_rule_belongs_to_one_scope(shell: Shell) -> None:
    name = added(shell, "--scope", "alice")
    shell("rules", "verify", name)
    assert (
        "No rules here" in shell("rules") and name in shell("rules", "--all-scopes") and name in shell("rules", "list", "--scope", "alice")
    )
    assert shell.json("rules", "match", ASK)["rules"] == [] and len(shell.json("rules", "match", ASK, "--scope", "alice")["rules"]) == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("rules", "add", "avoid"), "rules add TYPE --trigger WHEN --action WHAT"),
        (("rules", "add", "--trigger", WHEN, "--action", WHAT), "rules add TYPE"),
        (("rules", "verify"), "rules verify ID"),
        (("rules", "list", "something"), "rules list"),
        (("rules", "list", "--reason", "x"), "'--reason': does not belong to `rules list`"),
        (("rules", "verify", "nobody"), "no rule 'nobody'"),
        (("rules", "verify", "x", "--meter", "ci"), "does not belong to `rules verify`"),
        (("rules", "add", "maybe", "--trigger", WHEN, "--action", WHAT), "must be one of avoid, prefer, pattern, workflow"),
        (("rules", "add", "avoid", "--trigger", WHEN, "--action", WHAT, "--scope", "a", "--scope", "b"), "a rule belongs to one"),
        (("rules", "adopt", "nowhere.json"), "cannot be read"),
        (("rules", "trial", "x", "--decisions", "3"), "between 50"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_said_in_one_line(shell: Shell, words: tuple[str, ...], told: str) -> None:
    shell("remember", "Something.")
    said = shell(*words, status=1 if "nobody" in words else 2)
    assert told in said and said.count("\n") == 1


def test_a_model_drafts_over_http(tmp_path: Path) -> None:
    service = ModelService("ollama")
    try:
        draft = {"rule_type": "avoid", "trigger_cond": "When an API key may have expired", "action_guide": "Check the key before the call"}
        by_prompt(service, lambda prompt: f"<think>hm</think>```json\n[{json.dumps(draft)}]\n```" if "went_wrong" in prompt else "[]")
        for n in range(3):
            text = f"ERROR: the call failed because API key number {n} had expired"
            assert earnest(tmp_path, service, "remember", text, "--kind", "episodic", "--confidence", "0.4").returncode == 0
        made = earnest(tmp_path, service, "rules", "analyze", "--model", "ollama:qwen3")
        assert made.returncode == 0 and "Check the key before the call" in made.stdout, made.stdout + made.stderr
        assert "Asked ollama:qwen3: 1 call" in made.stdout
        again = earnest(tmp_path, service, "rules", "analyze", "--model", "ollama:qwen3", "--json")
        assert json.loads(again.stdout)["rules"] == [] and json.loads(again.stdout)["cost"] == {}
        service.close()
        earnest(
            tmp_path,
            service,
            "remember",
            "ERROR: the nightly export crashed on an empty table",
            "--kind",
            "episodic",
            "--confidence",
            "0.2",
        )
        down = earnest(tmp_path, service, "rules", "analyze", "--model", "ollama:qwen3")
        assert down.returncode == 0 and "the patterns were used" in down.stdout and "Traceback" not in down.stderr
    finally:
        service.close()

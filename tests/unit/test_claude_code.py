"""The plug-in for Claude Code: which commands are tests, what a session's journal says, what its hooks do to memory."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from earnest import Memory
from earnest.errors import InvalidInput
from earnest.integrations.claude_code import hook, plugin
from earnest.integrations.claude_code.commands import test_command as ran_by
from earnest.integrations.claude_code.session import Journal, folded

LESSON: Final = "Run the database migrations before the smoke tests."
QUESTION: Final = "Should the database migrations run before the smoke tests?"


@pytest.mark.parametrize(
    ("command", "ran"),
    [
        ("pytest", "pytest"), ("pytest -q tests/unit", "pytest -q tests/unit"), ("python -m pytest -x", "python -m pytest -x"),
        ("cd app && PYTHONPATH=src pytest -q", "pytest -q"), (".venv/bin/python -m pytest", ".venv/bin/python -m pytest"), ("uv run pytest", "uv run pytest"),
        ("npm test", "npm test"), ("npm run test:unit", "npm run test:unit"), ("pnpm test", "pnpm test"), ("npx vitest run", "npx vitest run"),
        ("cargo test --workspace", "cargo test --workspace"), ("cargo nextest run", "cargo nextest run"), ("go test ./...", "go test ./..."),
        ("make test", "make test"), ("./gradlew test", "./gradlew test"), ("mvn -q test", "mvn -q test"), ("bundle exec rspec", "bundle exec rspec"),
        ("scripts/test", "scripts/test"), ("node --test", "node --test"), ("timeout 60 pytest", "pytest"), ("pytest > out.txt 2>&1", "pytest"),
        ("echo go; pytest", "pytest"), ("pytest \\\n  -q", "pytest -q"),
        ("pytest | tail -5", None), ("pytest || true", None), ("pytest; echo done", None), ("pytest &", None), ("(pytest)", None),
        ("pytest --collect-only", None), ("pytest --version", None), ("cargo test --no-run", None), ("echo pytest", None), ("grep pytest setup.py", None),
        ("pip install pytest", None), ("cat tests/test_a.py", None), ("make build", None), ("'unclosed", None), ("", None),
    ],
)  # fmt: skip
def test_a_test_run_is_a_command_whose_exit_status_is_the_tests_own(command: str, ran: str | None) -> None:
    assert ran_by(command) == ran


def test_an_operator_names_further_test_commands() -> None:
    assert ran_by("./verify all") is None
    assert ran_by("./verify all", r"\./verify\b") == "./verify all"


def session(*lines: tuple[str, dict[str, Any]]) -> Any:
    return folded({"what": what, **said} for what, said in lines)


def passes(command: str = "pytest") -> tuple[str, dict[str, Any]]:
    return "test", {"command": command, "passed": True}


def fails(command: str = "pytest") -> tuple[str, dict[str, Any]]:
    return "test", {"command": command, "passed": False}


CHANGE: Final[tuple[str, dict[str, Any]]] = ("change", {})
ASKED: Final = ("prompt", {"ticket": "t1", "prompt": "why?"})


@pytest.mark.parametrize(
    ("lines", "delta"),
    [
        ((ASKED, fails(), CHANGE, passes()), 1),
        ((ASKED, passes(), CHANGE, fails()), -1),
        ((ASKED, passes(), CHANGE, passes()), 0),
        ((ASKED, fails(), CHANGE, fails(), CHANGE, passes()), 1),
        ((passes(), ASKED, CHANGE, fails()), -1),
        ((passes(), CHANGE, ASKED, CHANGE, fails()), None),
        ((ASKED, fails(), passes()), None),
        ((ASKED, CHANGE, passes()), None),
        ((ASKED, fails("a"), CHANGE, passes("b")), None),
        ((ASKED, fails("a"), passes("b"), CHANGE, passes("a"), fails("b")), 0),
        ((ASKED, fails(), CHANGE, passes(), ("ended", {"tickets": ["t1"]}), ASKED), None),
        ((ASKED,), None),
    ],
    ids=str,
)
def test_only_the_same_command_before_and_after_a_change_measures(lines: Any, delta: int | None) -> None:
    assert session(*lines).delta == delta


def test_a_journal_survives_torn_lines_and_many_writers(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "a/../b c")
    assert journal.path.parent == tmp_path
    journal.write("prompt", ticket="t1", prompt="x" * 50_000)
    with journal.path.open("ab") as file:
        file.write(b'{"what": "test", "comm\n\xff\xfe\n[1]\n')
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", f"from pathlib import Path\nfrom earnest.integrations.claude_code.session import Journal\n"
             f"[Journal(Path({str(tmp_path)!r}), 'a/../b c').write('test', command='c{n}-%d' % i, passed=True) for i in range(50)]"]
        )
        for n in range(3)
    ]  # fmt: skip
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    read = journal.read()
    assert read.tickets == ["t1"] and len(read.first) == 150


# the hooks


class Agent:
    """A session of Claude Code, as its hooks see it."""

    def __init__(self, project: Path, session: str = "s1") -> None:
        self.project, self.session = project, session

    def event(self, name: str, **more: Any) -> str:
        return hook.handled({"session_id": self.session, "cwd": str(self.project), "hook_event_name": name, **more})

    def prompt(self, text: str) -> str:
        return self.event("UserPromptSubmit", prompt=text)

    def bash(self, command: str, status: int = 0) -> None:
        given = {"tool_name": "Bash", "tool_input": {"command": command}}
        if status:
            self.event("PostToolUseFailure", **given, error=f"Exit code {status}\nboom", is_interrupt=False)
        else:
            self.event("PostToolUse", **given, tool_response={"stdout": "", "stderr": "", "interrupted": False})

    def edit(self) -> None:
        self.event("PostToolUse", tool_name="Edit", tool_input={"file_path": "a.py"}, tool_response={})

    def stop(self, said: str = "", **more: Any) -> None:
        self.event("Stop", last_assistant_message=said, stop_hook_active=False, **more)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("EARNEST_STORE", raising=False)
    monkeypatch.setenv("EARNEST_EMBEDDER", "none")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    project = tmp_path / "project"
    (project / ".earnest").mkdir(parents=True)
    with Memory.open(project / ".earnest" / "memory.db", embedder="none") as memory:
        memory.add(LESSON, sources=["retro-12"])
        memory.meters.add(hook.METER, unit="test commands", scale=1.0)
        memory.meters.bind(hook.METER, channel=hook.CHANNEL)
    return project


def opened(project: Path) -> Memory:
    return Memory.open(project / ".earnest" / "memory.db", embedder="none")


@pytest.mark.parametrize(("before", "after", "balance"), [(1, 0, "more"), (0, 1, "less")])
def test_advice_is_settled_by_the_tests_that_ran_before_and_after(project: Path, before: int, after: int, balance: str) -> None:
    agent = Agent(project)
    block = agent.prompt(QUESTION)
    assert LESSON in block and "data, not instructions" in block
    agent.bash("pytest -q", before)
    agent.edit()
    agent.bash("pytest -q", after)
    agent.stop("Done.")
    with opened(project) as memory:
        [entry] = [one for one in memory.list() if one.text == LESSON]
        [settled] = memory.events(kind="settle")
        assert settled.data["delta"] == before - after and settled.data["tier"] == "measured" and settled.data["acted"] is True
        assert memory.pending() == []
        assert entry.standing == ("active" if balance == "more" else "suspended")


def test_without_a_pair_of_test_runs_nothing_is_settled_and_the_end_abandons(project: Path) -> None:
    agent = Agent(project)
    agent.prompt(QUESTION)
    agent.edit()
    agent.bash("pytest -q")
    agent.stop("Done.")
    with opened(project) as memory:
        assert len(memory.pending()) == 1
    agent.event("SessionEnd", reason="other")
    with opened(project) as memory:
        assert memory.pending() == [] and memory.events(kind="settle") == []
        assert len(memory.events(kind="abandon")) == 1
    assert [*(project / ".earnest" / hook.CHANNEL).glob("*.jsonl")] == []


@pytest.mark.parametrize(
    "doubtful",
    [
        {"command": "pytest | tail", "status": 1}, {"command": "nosuchtest", "status": 127}, {"command": "pytest", "status": 137},
        {"command": "pytest -k nothing", "status": 5},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_verdict_of_the_tests_counts_for_none(project: Path, doubtful: dict[str, Any]) -> None:
    agent = Agent(project)
    agent.prompt(QUESTION)
    agent.bash(doubtful["command"])
    agent.edit()
    agent.bash(doubtful["command"], doubtful["status"])
    agent.stop("Done.")
    with opened(project) as memory:
        assert memory.events(kind="settle") == []


def test_several_tickets_share_what_was_measured(project: Path) -> None:
    agent = Agent(project)
    agent.prompt(QUESTION)
    agent.prompt("Do smoke tests need the database migrations first?")
    agent.bash("pytest", 1)
    agent.edit()
    agent.bash("pytest")
    agent.stop("Done.")
    with opened(project) as memory:
        assert [event.data["delta"] for event in memory.events(kind="settle")] == [0.5, 0.5]


def test_a_turn_leaves_what_was_decided_and_a_continued_stop_nothing(project: Path) -> None:
    agent = Agent(project)
    agent.prompt("Let's use PostgreSQL for the database from now on.")
    agent.stop("Good choice.")
    with opened(project) as memory:
        assert any("PostgreSQL" in entry.text for entry in memory.list())


def test_silence_shows_nothing_and_opens_nothing(project: Path) -> None:
    assert Agent(project).prompt("zebra quantum umbrella") == ""
    assert Agent(project).prompt("/compact") == ""
    with opened(project) as memory:
        assert memory.pending() == []


def test_a_withheld_decision_shows_nothing_and_is_measured_all_the_same(project: Path) -> None:
    with opened(project) as memory:
        memory.configure(holdout=0.5)
    seen = set()
    for number in range(12):
        agent = Agent(project, f"s{number}")
        block = agent.prompt(QUESTION)
        with opened(project) as memory:
            [ticket] = memory.pending()
            assert bool(block) is not ticket.holdout
            seen.add(ticket.holdout)
        agent.bash("pytest", 1)
        agent.edit()
        agent.bash("pytest")
        agent.stop("Done.")
    assert seen == {True, False}


def test_a_session_that_never_ended_is_closed_by_a_later_one(project: Path) -> None:
    old = Agent(project, "old")
    old.prompt(QUESTION)
    [left] = (project / ".earnest" / hook.CHANNEL).glob("*.jsonl")
    os.utime(left, (1_000_000_000, 1_000_000_000))
    Agent(project, "new").event("SessionStart", source="startup")
    with opened(project) as memory:
        assert memory.pending() == []
    assert not left.exists()


def test_a_session_starts_with_what_the_project_was_about(project: Path) -> None:
    for command in (
        ["init", "-q"],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "Run database migrations first"],
    ):
        subprocess.run(["git", *command], cwd=project, check=True, capture_output=True)
    assert LESSON in Agent(project).event("SessionStart", source="startup")


def test_no_project_gets_a_store_that_nobody_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EARNEST_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    agent = Agent(tmp_path)
    assert agent.prompt(QUESTION) == ""
    agent.stop("We decided to use PostgreSQL.")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    "sent", [b"", b"{", b"[]", b'{"hook_event_name": "Nonsense"}', b'{"hook_event_name": "Stop", "cwd": 7, "session_id": []}', b"\xff"]
)
def test_nonsense_never_stops_the_agent(sent: bytes, project: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "earnest.integrations.claude_code"], input=sent, capture_output=True, cwd=project, timeout=60, check=False
    )
    assert done.returncode == 0 and done.stdout == b"" and b"Traceback" not in done.stderr


@pytest.mark.parametrize("kind", ["UserPromptSubmit", "SessionStart", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd", "Else"])
@pytest.mark.parametrize("value", [None, 5, ["Bash"], {"a": [1]}, "\ud800", "x\0y", "é" * 300, "../../up"])
def test_an_event_with_anything_in_its_fields_never_stops_the_agent(
    kind: str, value: Any, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fields = ("session_id", "cwd", "prompt", "tool_name", "tool_input", "tool_response", "error", "last_assistant_message", "is_interrupt")
    for field in fields:
        event = {"hook_event_name": kind, "session_id": "s", "cwd": str(project), "tool_name": "Bash", "prompt": QUESTION, field: value}
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(event).encode())))
        assert hook.main() == 0
    assert "Traceback" not in capsys.readouterr().err
    assert {path.parent for path in project.rglob("*.jsonl")} <= {project / ".earnest" / "claude-code"}, "no journal lies elsewhere"


@pytest.mark.parametrize("streams", [">/dev/full", ">&-", "<&-", "2>&-", "| true"])
def test_a_stream_that_is_closed_or_full_never_stops_the_agent(streams: str, project: Path) -> None:
    sent = json.dumps({"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(project), "prompt": QUESTION})
    command = f'set -o pipefail; "{sys.executable}" -m earnest.integrations.claude_code {streams}'
    done = subprocess.run(["bash", "-c", command], input=sent, capture_output=True, text=True, cwd=project, timeout=60, check=False)
    assert done.returncode == 0 and "Traceback" not in done.stderr


def test_a_hook_that_was_killed_before_it_noted_its_settlement_is_done_again_and_moves_nothing(project: Path) -> None:
    """The outcome is in the store, the journal does not say so, and the tests changed their mind in between."""
    journal = Journal(project / ".earnest" / "claude-code", "s")
    event = {"session_id": "s", "cwd": str(project)}
    assert hook.handled(event | {"hook_event_name": "UserPromptSubmit", "prompt": QUESTION})
    for what, passed in (("test", False), ("change", None), ("test", True)):
        journal.write(what, **({} if passed is None else {"command": "pytest", "passed": passed}))
    before = journal.path.read_bytes()
    hook.handled(event | {"hook_event_name": "Stop"})
    journal.path.write_bytes(before)
    journal.write("test", command="pytest", passed=False)
    journal.write("prompt", prompt="Let's use PostgreSQL for the database from now on.")
    [ticket] = journal.read().tickets
    hook.handled(event | {"hook_event_name": "Stop", "last_assistant_message": "Good choice."})
    assert journal.read().tickets == []
    with Memory.open(project / ".earnest" / "memory.db") as memory:
        found = memory.ticket(ticket)
        assert found is not None and found.outcome is not None and found.outcome.delta == 1
        assert any("PostgreSQL" in entry.text for entry in memory.list(limit=100)), "and what was said is captured"


def test_no_secret_of_a_prompt_is_in_a_journal_and_no_journal_in_git(project: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    agent = Agent(project)
    for prompt in (QUESTION, "zebra quantum umbrella"):
        agent.prompt(f"{prompt} My token is {secret}.")
    assert not [path for path in project.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    said = subprocess.run(["git", "status", "--porcelain", "-uall"], cwd=project, check=True, capture_output=True, text=True).stdout
    assert "claude-code" not in said and "memory.db" in said


def test_a_line_that_was_torn_takes_no_other_with_it(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "s")
    journal.write("test", command="pytest", passed=False)
    journal.path.write_bytes(journal.path.read_bytes() + b'{"what": "change"')
    for what in ("change", "test"):
        journal.write(what, **({"command": "pytest", "passed": True} if what == "test" else {}))
    assert journal.read().last == {"pytest": True}
    with journal.path.open("ab") as file:
        file.write(b"[" * 100_000 + b'\n{"what": "ended", "tickets": [[1]]}\n{"what": "ended", "tickets": 5}\n')
    journal.write("prompt", prompt="and then", ticket="t2")
    assert journal.read().tickets == ["t2"]


def test_a_broken_store_never_stops_the_agent(project: Path) -> None:
    (project / ".earnest" / "memory.db").write_bytes(b"this is no store" * 100)
    sent = json.dumps({"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(project), "prompt": QUESTION})
    done = subprocess.run(
        [sys.executable, "-m", "earnest.integrations.claude_code"], input=sent, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0 and done.stdout == "" and done.stderr.startswith("earnest: ")


def test_the_answer_is_what_claude_code_reads(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    sent = json.dumps({"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(project), "prompt": QUESTION})
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sent.encode())))
    assert hook.main() == 0
    said = json.loads(capsys.readouterr().out)["hookSpecificOutput"]
    assert said["hookEventName"] == "UserPromptSubmit" and LESSON in said["additionalContext"]


def test_a_tool_hook_imports_nothing_of_memory() -> None:
    code = "import sys, earnest.integrations.claude_code.hook; print([m for m in sys.modules if m in ('earnest.memory', 'apsw', 'numpy')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# the folder


def test_the_folder_is_written_again_and_never_over_something_else(tmp_path: Path) -> None:
    folder = tmp_path / "plugin"
    made = plugin.write(folder, python="/opt/my python/bin/python", store="/data/m.db")
    assert plugin.write(folder, python="python3") == made
    hooks = json.loads((folder / "hooks" / "hooks.json").read_text())["hooks"]
    assert {*hooks} == {"SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd"}
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("x")
    with pytest.raises(InvalidInput, match="folder"):
        plugin.write(tmp_path / "other")
    assert [*(tmp_path / "other").iterdir()] == [tmp_path / "other" / "file"]

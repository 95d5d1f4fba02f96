"""What the hooks of Claude Code do. Nothing here may stop the agent: what goes wrong is said on standard error, and the agent goes on.

Most calls only append a line to the session's journal, and import nothing of memory for that. Memory is opened for a prompt, when the agent
stops, and at both ends of a session.

**What settles a decision.** A prompt that memory answers opens a ticket, and its advice is shown. When the agent stops, and a test
command ran both before and after something was changed, the ticket is settled by the difference of their exit statuses, which the
program saw and the agent did not report. Several tickets share it evenly. Without such a pair nothing was measured: the ticket waits,
and is abandoned at the end.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from earnest.errors import EarnestError, StoreReadOnly
from earnest.integrations.claude_code.commands import test_command
from earnest.integrations.claude_code.session import Journal, Session
from earnest.places import project_store, usual_store
from earnest.system import SystemClock

if TYPE_CHECKING:
    from earnest.memory import Memory

CHANNEL: Final = "claude-code"
METER: Final = "claude-code-tests"
BUDGET: Final = 600
"""Tokens of a block, unless EARNEST_BUDGET says otherwise."""
MAX_INPUT: Final = 16_000_000
MAX_PROMPT: Final = 4_000
"""Characters of a prompt that are asked about: what is pasted behind them is seldom the question."""
STALE: Final = 7 * 86_400
"""Seconds after which the journal of a session that never ended is closed."""

_EDITS: Final = frozenset(("Edit", "Write", "MultiEdit", "NotebookEdit"))
_CHANGES: Final = re.compile(
    r"(?:^|[;&|]\s*)(?:sed\s+(?:\S+\s+)*-i|perl\s+(?:\S+\s+)*-\w*i|tee\b|mv\b|cp\b|rm\b|patch\b|git\s+(?:apply|checkout|restore|reset|revert|merge|rebase|stash|"
    r"cherry-pick|pull|am)\b|(?:npm|pnpm|yarn|pip|uv|poetry|cargo|go|bundle)\s+(?:i|install|add|remove|update|upgrade|get|sync)\b)|(?<![<>&\d])>{1,2}\s*(?!/dev/null|&)\S"
)
_EXIT: Final = re.compile(r"Exit code (\d+)")


def main() -> int:
    """Reads one event from standard input, does what it asks for, and prints what the agent is to see. Always 0: a hook never blocks."""
    try:
        event = json.loads(_input())
        said = handled(event) if isinstance(event, dict) else None
        if said:
            _print({"hookSpecificOutput": {"hookEventName": event["hook_event_name"], "additionalContext": said}})
    except (EarnestError, OSError, ValueError, RecursionError) as error:
        print(f"earnest: {error}", file=sys.stderr)
    return 0


def _input() -> bytes:
    """Standard input; nothing where it is closed."""
    return b"null" if sys.stdin is None else sys.stdin.buffer.read(MAX_INPUT)


def _print(said: Mapping[str, Any]) -> None:
    """Prints at once, so that a reader who is gone or a full disk is heard of here, and not when the process ends."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(json.dumps(said))
        sys.stdout.flush()
    except OSError:
        # What is left in the buffer would be tried again at the end, and fail the hook.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def handled(event: Mapping[str, Any]) -> str:
    """What the agent is to see of an event; "" for nothing."""
    here = Path(str(event.get("cwd") or "."))
    store = _store(here)
    if store is None:
        return ""
    journal = Journal(store.parent / CHANNEL, str(event.get("session_id", "")))
    name = event.get("hook_event_name")
    if name in ("PostToolUse", "PostToolUseFailure"):
        _tool(event, journal)
    elif name == "UserPromptSubmit":
        return _prompt(store, journal, str(event.get("prompt") or ""))
    elif name == "SessionStart":
        return _start(store, journal, here)
    elif name == "Stop":
        _stop(store, journal, event)
    elif name == "SessionEnd":
        _end(store, journal)
    return ""


def _store(here: Path) -> Path | None:
    """The store of this project; one is made only where its owner wants one, in a `.earnest` folder or where EARNEST_STORE points."""
    named = os.environ.get("EARNEST_STORE")
    if named:
        return Path(named)
    found = project_store(here)
    if found is not None:
        return found
    usual = usual_store(here)
    return usual if usual.exists() else None


def _opened(store: Path) -> Memory:
    from earnest.memory import Memory

    return Memory.open(store, actor=CHANNEL, channel=CHANNEL, timeout=5.0)


def _budget() -> int:
    said = os.environ.get("EARNEST_BUDGET", "")
    return int(said) if said.isdecimal() and len(said) < 7 else BUDGET


def _tool(event: Mapping[str, Any], journal: Journal) -> None:
    """A tool was used: notes what it changed, and how tests ended that it ran."""
    tool, given = event.get("tool_name"), event.get("tool_input")
    failed = event.get("hook_event_name") == "PostToolUseFailure"
    if isinstance(tool, str) and tool in _EDITS:
        if not failed:
            journal.write("change")
        return
    if tool != "Bash" or not isinstance(given, dict) or event.get("is_interrupt") or given.get("run_in_background"):
        return
    command = given.get("command")
    if not isinstance(command, str):
        return
    if _CHANGES.search(command):
        journal.write("change")
    ran = test_command(command, os.environ.get("EARNEST_TEST_COMMANDS", ""))
    if ran is None:
        return
    response = event.get("tool_response")
    if failed:
        status = _EXIT.match(str(event.get("error", "")))
        # 126, 127: there was no such command. From 128 on a signal ended it. pytest's 5 and its like say that no test was there to run.
        if status and 0 < int(status[1]) < 126 and not (int(status[1]) == 5 and "pytest" in ran):
            journal.write("test", command=ran, passed=False)
    elif not (isinstance(response, dict) and response.get("interrupted")):
        journal.write("test", command=ran, passed=True)


def _prompt(store: Path, journal: Journal, prompt: str) -> str:
    asked = prompt.strip()[:MAX_PROMPT]
    if not asked or asked.startswith("/"):
        return ""
    try:
        return _decided(store, journal, asked)
    except StoreReadOnly as error:
        return _read_only(store, asked, error)


def _read_only(store: Path, about: str, error: StoreReadOnly) -> str:
    """What a store that cannot be written recalls all the same; no ticket is opened by it, and that is said."""
    from earnest.memory import Memory

    print(f"earnest: {error}", file=sys.stderr)
    with Memory.open(store, actor=CHANNEL, channel=CHANNEL, timeout=5.0, read_only=True) as memory:
        return str(memory.prefetch(about, budget=_budget()))


def _decided(store: Path, journal: Journal, asked: str) -> str:
    from earnest.core.write_gate import Gate

    with _opened(store) as memory:
        settings = memory.settings
        # The journal is a file as well: no secret goes into it that memory would not keep.
        kept = Gate.of(settings.redact, settings.quarantine).passed(asked).text
        ticket = memory.decide(asked)
        if ticket.id is None:
            journal.write("prompt", prompt=kept)
            return str(memory.prefetch(asked, budget=_budget()))
        block = str(memory.shown(ticket, budget=_budget()))
        if not block and not ticket.holdout:
            memory.abandon(ticket.id, reason="its advice did not fit into the budget")
            journal.write("prompt", prompt=kept)
            return ""
        journal.write("prompt", prompt=kept, ticket=ticket.id)
        return block


def _start(store: Path, journal: Journal, here: Path) -> str:
    """Closes sessions that never ended, and recalls what this project has been about lately."""
    oldest = SystemClock().now().timestamp() - STALE
    stale = [path for path in journal.path.parent.glob("*.jsonl") if path != journal.path and path.stat().st_mtime < oldest]
    about = _about(here)
    if not store.exists() or not (stale or about):
        return ""
    try:
        return _resumed(store, stale, about)
    except StoreReadOnly as error:
        return _read_only(store, about, error) if about else ""


def _resumed(store: Path, stale: list[Path], about: str) -> str:
    with _opened(store) as memory:
        for path in stale:
            left = Journal(path.parent, path.stem)
            for ticket in left.read().tickets:
                memory.abandon(ticket, reason="its session never ended")
            left.remove()
        return str(memory.prefetch(about, budget=_budget())) if about else ""


def _about(here: Path) -> str:
    """What was worked on last, by the branch and the subjects of the last commits; "" where there is no git."""
    made = []
    for command in (["git", "branch", "--show-current"], ["git", "log", "-5", "--format=%s"]):
        try:
            done = subprocess.run(command, cwd=here, capture_output=True, text=True, errors="replace", timeout=2, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return ""
        made.append(done.stdout.strip()[:1_000])
    return "\n".join(part for part in made if part not in ("", "main", "master"))


def _stop(store: Path, journal: Journal, event: Mapping[str, Any]) -> None:
    session = journal.read()
    said = str(event.get("last_assistant_message") or "")
    measured = bool(session.tickets) and session.delta is not None
    captured = bool(session.prompt or said) and not event.get("stop_hook_active")
    if not (measured or captured):
        return
    with _opened(store) as memory:
        if measured:
            _settle(memory, journal, session)
        if captured:
            memory.sync_turn(session.prompt, said, session=str(event.get("session_id", ""))[:200] or None)


def _settle(memory: Memory, journal: Journal, session: Session) -> None:
    """A ticket lands once: a hook that was killed before it noted that is done again, and moves nothing."""
    delta = session.delta
    assert delta is not None, "nothing was measured"
    for ticket in session.tickets:
        memory.settle(
            ticket, delta=delta / len(session.tickets), meter=METER, scale=1.0, acted=session.changed,
            detail="; ".join(f"{command}: {'passes' if passed else 'fails'}" for command, passed in session.last.items())[:1_000],
        )  # fmt: skip
    journal.write("ended", tickets=session.tickets)


def _end(store: Path, journal: Journal) -> None:
    session = journal.read()
    if session.tickets:
        with _opened(store) as memory:
            if session.delta is not None:
                _settle(memory, journal, session)
            else:
                for ticket in session.tickets:
                    memory.abandon(ticket, reason="no test ran both before and after a change")
            memory.tick_due()
    journal.remove()

"""The GitHub Action in a workflow, run by `act`: a runner's own reading of workflows, expressions and commands, on this machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.repository import COMMAND, Repository, git, mended

ROOT: Final = Path(__file__).resolve().parents[2]
WORKFLOW: Final = """name: lessons
on: { pull_request: {}, push: { branches: [main] } }
concurrency: { group: "lessons-${{ github.ref }}", cancel-in-progress: false }
jobs:
  lessons:
    runs-on: ubuntu-latest
    permissions: { contents: write }
    steps:
      - uses: actions/checkout@v4
        with: { fetch-depth: 0 }
      - uses: ./
        id: earnest
        with: { test-command: TEST_COMMAND, install: "" }
      - name: Told
        if: always()
        shell: bash
        env: { DELTA: "${{ steps.earnest.outputs.delta }}", LANDED: "${{ steps.earnest.outputs.landed }}" }
        run: echo "told delta=$DELTA landed=$LANDED planted=${PLANTED:-nothing} from=$(command -v planted || echo nowhere)"
"""
HOSTILE: Final = (
    "'; touch pwned; echo '\n\"; touch pwned; \"\n$(touch pwned) `touch pwned` ${{ github.token }} %0A::error::pwned\n"
    "::set-output name=delta::99\n::add-path::/pwned\nEOF\ndelta=99\n\u202e\n"
)
"""What a stranger may call a pull request, a branch, a commit or a test."""


class Runner:
    """A workflow with the action in a generated repository, and `act` to run it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.repo = folder, Repository(folder)
        shutil.copy(ROOT / "action.yml", self.repo.place("action.yml"))
        command = json.dumps(f"{COMMAND} && sh ./after.sh")
        self.repo.write(".github/workflows/lessons.yml", WORKFLOW.replace("TEST_COMMAND", command))
        self.repo.write("after.sh", "true\n")

    def run(self, event: str, **payload: Any) -> subprocess.CompletedProcess[str]:
        """One event, and what the runner says of it."""
        said = self.folder / "event.json"
        said.write_text(json.dumps(payload), encoding="utf-8")
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "ACTIONS_", "RUNNER_"))}
        environment = kept | {
            "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "XDG_CONFIG_HOME": str(home / "config"),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src"),
            "PYTHONPYCACHEPREFIX": str(self.folder.parent / "compiled"), "EARNEST_EMBEDDER": "none", "DO_NOT_TRACK": "1",
        }  # fmt: skip
        act = [str(Path(sys.executable).parent / "act"), event, "-P", "ubuntu-latest=-self-hosted", "-e", str(said)]
        act += ["--no-cache-server", "-s", "GITHUB_TOKEN=a-token-that-opens-nothing"]
        return subprocess.run(
            act, cwd=self.repo.clone, env=environment, capture_output=True, text=True, check=False, timeout=280, stdin=subprocess.DEVNULL
        )


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


def test_a_runner_settles_a_push_and_hands_on_what_it_measured(runner: Runner) -> None:
    repo = runner.repo
    [ticket] = repo.decide()
    repo.commit("work begins")
    before, head = mended(repo, ticket)
    git(repo.clone, "push", "--quiet", "origin", "HEAD:main")
    done = runner.run("push", before=before, after=head, ref="refs/heads/main")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "told delta=1 landed=1 planted=nothing" in done.stdout
    assert "Summary - **Earnest**: 1 mended, 0 broken" in done.stdout
    assert repo.lessons().settled[ticket][7] == 1
    assert git(repo.origin, "log", "-1", "--format=%P", "main") == head, "on top of what was pushed"


def test_a_runner_takes_nothing_that_a_stranger_wrote_for_a_command(runner: Runner) -> None:
    """A pull request whose title, body, branch, commits, tests and test output are all meant to be executed."""
    repo = runner.repo
    [ticket] = repo.decide()
    before = repo.commit("work begins")
    git(repo.clone, "push", "--quiet", "origin", "HEAD:main")
    name = 'test_"; touch pwned; $(touch pwned)\n::set-output name=landed::99\nlanded=99'
    repo.write("test_hostile.py", f"def test_one():\n    pass\n\n\nglobals()[{name!r}] = test_one\n")
    planted = "printf '::set-output name=delta::99\\n::add-path::/planted\\n::error::pwned by output\\n'\n"
    for file, line in (("ENV", "PLANTED=yes"), ("OUTPUT", "delta=99"), ("PATH", "$PWD"), ("STEP_SUMMARY", "planted")):
        planted += f'[ -z "${{GITHUB_{file}:-}}" ] || echo "{line}" >>"$GITHUB_{file}"\n'
    planted += "printf '#!/bin/sh\\n' >planted; chmod +x planted\n"
    planted += '[ -z "${GITHUB_TOKEN:-}" ] || echo "the tests see the token"\n'
    repo.write("after.sh", planted)
    repo.write("app.py", "def clamp(x, low, high):\n    return max(low, min(x, high))\n")
    branch = "a;touch${IFS}pwned;$(touch${IFS}pwned)"
    git(repo.clone, "checkout", "--quiet", "-b", branch)
    head = repo.commit(f"{HOSTILE}\nearnest-ticket: {ticket}\n")
    tip = git(repo.origin, "rev-parse", "main")
    about = {"number": 7, "title": HOSTILE, "body": f"{HOSTILE}\nearnest-ticket: {ticket}\nearnest-ticket: $(touch pwned)\n"}
    pull = about | {"base": {"sha": before, "ref": "main"}, "head": {"sha": head, "ref": branch, "repo": {"fork": True}}}
    done = runner.run("pull_request", action="opened", pull_request=pull)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "told delta=1 landed=0 planted=nothing from=nowhere" in done.stdout
    assert "the tests see the token" not in done.stdout
    stops = re.findall(r"::stop-commands::([0-9a-f]{32})", done.stdout)
    first = done.stdout.index("pwned by output")
    assert done.stdout.rindex("::stop-commands::", 0, first) < first < done.stdout.index(f"::{stops[1]}::", first), "shown, as output"
    assert len(set(stops)) == len(stops), "no run can know the word that ends it"
    assert not [*runner.folder.rglob("pwned")], "nothing of it was executed"
    assert git(repo.origin, "rev-parse", "main") == tip and git(repo.origin, "branch", "--format=%(refname:short)") == "main"

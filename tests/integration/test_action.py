"""The GitHub Action without a runner: its own shell steps, run by bash on a generated repository, origin and all."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from earnest import Memory
from tests.repository import COMMAND, PYTEST, TEXT, Repository, git, mended

ROOT: Final = Path(__file__).resolve().parents[2]
ACTION: Final[dict[str, Any]] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


class Job:
    """A job on a runner: the context that expressions see, and what the steps put out."""

    def __init__(self, clone: Path, event: str, temp: Path, *, run: str = "1", before: str = "", body: str = "", **inputs: str) -> None:
        temp.mkdir(exist_ok=True)
        given = {name: str(about.get("default", "")) for name, about in ACTION["inputs"].items()}
        self.clone, self.temp = clone, temp
        self.steps: dict[str, dict[str, str]] = {}
        self.context: dict[str, Any] = {
            "github": {
                "event_name": event,
                "ref_name": "main",
                "run_id": run,
                "event": {"before": before, "pull_request": {"base": {"sha": before}, "body": body}},
            },
            "runner": {"temp": str(temp)},
            "inputs": {
                **given,
                "test-command": COMMAND,
                "install": "",
                **{name.replace("_", "-"): value for name, value in inputs.items()},
            },
        }

    def value(self, said: str) -> str:
        """A text with its expressions worked out: names with dots, and `||`."""
        return re.sub(r"\$\{\{(.*?)\}\}", lambda found: self._worked_out(found.group(1)), said)

    def _worked_out(self, expression: str) -> str:
        for name in expression.split("||"):
            steps = name.strip().split(".")
            found: Any = self.context
            if steps[0] == "steps":
                found, steps = self.steps[steps[1]], steps[3:]
            for step in steps:
                found = found.get(step, "") if isinstance(found, Mapping) else ""
            if found:
                return str(found)
        return ""

    def run(self, step: Mapping[str, Any]) -> subprocess.CompletedProcess[str]:
        """One step as a runner runs it."""
        assert step["shell"] == "bash"
        output = self.temp / f"{step['id']}.out"
        output.write_text("")
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(self.temp / "summary.md"),
            "EARNEST_EMBEDDER": "none",
            "GITHUB_TOKEN": "secret",
            "PYTHONPYCACHEPREFIX": str(self.temp.parent.parent / "compiled"),
            **{name: self.value(said) for name, said in step["env"].items()},
        }
        assert "${{" not in step["run"], "what comes from outside goes through the environment, never into the script"
        script = self.temp / f"{step['id']}.sh"
        script.write_text(step["run"])
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.clone,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        self.steps[step["id"]] = dict(line.split("=", 1) for line in output.read_text().splitlines())
        return done

    def all(self) -> dict[str, str]:
        """Every step, each of which has to go well; what the last one puts out."""
        for step in ACTION["runs"]["steps"]:
            done = self.run(step)
            assert done.returncode == 0, f"{step['name']}: {done.stdout}{done.stderr}"
        return self.steps["settle"]


def test_a_push_settles_what_it_changed_and_commits_it_back(repo: Repository, tmp_path: Path) -> None:
    [ticket] = repo.decide()
    repo.commit("work begins")
    before, head = mended(repo, ticket)
    git(repo.clone, "push", "--quiet", "origin", "HEAD:main")
    assert Job(repo.clone, "push", tmp_path / "temp", before=before, test_command=PYTEST).all() == {"delta": "1", "landed": "1"}
    made = repo.lessons()
    assert (made.settled[ticket][7], list(made.open)) == (1, [])
    assert git(repo.origin, "log", "-1", "--format=%s%n%P", "main").splitlines() == [
        "Lessons settled by run 1: 1 tickets, delta 1 [skip ci]", head
    ]  # fmt: skip
    state = json.loads(git(repo.origin, "show", "main:.earnest/lessons.ci.json"))
    assert [*state["runs"]] == ["run-1"]
    again = Job(repo.clone, "push", tmp_path / "temp2", before=before).all()
    assert again["landed"] == "1" and git(repo.origin, "log", "--format=%s", "main").count("Lessons settled") == 1, "a run settles once"


def test_a_pull_request_measures_and_writes_nothing(repo: Repository, tmp_path: Path) -> None:
    [ticket] = repo.decide()
    repo.commit("work begins")
    before, _ = mended(repo, ticket)
    git(repo.clone, "remote", "set-url", "origin", str(tmp_path / "no-right-to-write.git"))
    job = Job(repo.clone, "pull_request", tmp_path / "temp", before=before, body=f"earnest-ticket: {ticket}", mode="settle")
    assert job.all() == {"delta": "1", "landed": "0"}
    assert "1 mended" in (tmp_path / "temp/summary.md").read_text()
    assert ticket not in repo.lessons().settled


def test_a_pull_request_that_says_itself_what_was_measured_fails(repo: Repository, tmp_path: Path) -> None:
    [ticket] = repo.decide()
    before = repo.commit("a ticket")
    with Memory.open(tmp_path / "forged.db", embedder="none", channel="settle-ci") as memory:
        memory.load_lessons(repo.place(TEXT))
        memory.settle(ticket, delta=1000, meter="ci")
        memory.save_lessons(repo.place(TEXT))
    repo.commit("trust me")
    job = Job(repo.clone, "pull_request", tmp_path / "temp", before=before)
    steps = ACTION["runs"]["steps"]
    assert job.run(steps[0]).returncode == 0
    done = job.run(steps[1])
    assert done.returncode == 1 and "is settled by the change itself" in done.stdout


def test_pull_request_target_is_refused(repo: Repository, tmp_path: Path) -> None:
    done = Job(repo.clone, "pull_request_target", tmp_path / "temp").run(ACTION["runs"]["steps"][0])
    assert done.returncode == 2 and "token that can write" in done.stdout


def test_tests_that_cannot_run_settle_nothing(repo: Repository, tmp_path: Path) -> None:
    [ticket] = repo.decide()
    before = repo.commit("work begins")
    repo.write("test_app.py", "import nothing_like_it\n")
    repo.commit(f"earnest-ticket: {ticket}")
    git(repo.clone, "push", "--quiet", "origin", "HEAD:main")
    made = Job(repo.clone, "push", tmp_path / "temp", before=before).all()
    assert made == {"delta": "", "landed": "0"}
    assert [*repo.lessons().open] == [ticket]


def test_the_first_push_of_a_branch_has_nothing_to_compare_with(repo: Repository, tmp_path: Path) -> None:
    assert Job(repo.clone, "push", tmp_path / "temp", before="0" * 40).all() == {}


def test_the_tests_of_a_run_do_not_see_the_token_of_the_job(repo: Repository, tmp_path: Path) -> None:
    [ticket] = repo.decide()
    repo.write("test_token.py", "import os\n\n\ndef test_token():\n    assert 'GITHUB_TOKEN' not in os.environ\n")
    repo.commit("work begins")
    before, _ = mended(repo, ticket)
    git(repo.clone, "push", "--quiet", "origin", "HEAD:main")
    Job(repo.clone, "push", tmp_path / "temp", before=before).all()
    assert (tmp_path / "temp/earnest/head-1.xml").read_text().count("<failure") == 0


def test_strict_settles_only_what_was_open_before_the_merge(repo: Repository, tmp_path: Path) -> None:
    before = git(repo.clone, "rev-parse", "HEAD")
    [ticket] = repo.decide()
    mended(repo, ticket)
    git(repo.clone, "push", "--quiet", "origin", "HEAD:main")
    job = Job(repo.clone, "push", tmp_path / "temp", before=before, strict="true")
    assert job.all()["landed"] == "0"
    assert "not open at base" in (tmp_path / "temp/summary.md").read_text()


def test_a_push_that_is_refused_once_is_settled_anew_upon_what_is_there(repo: Repository, tmp_path: Path) -> None:
    [ticket] = repo.decide()
    repo.commit("work begins")
    before, _ = mended(repo, ticket)
    git(repo.clone, "push", "--quiet", "origin", "HEAD:main")
    hook = repo.origin / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\nif [ -e refused ]; then exit 0; fi\ntouch refused\necho 'not now' >&2\nexit 1\n")
    hook.chmod(0o755)
    assert Job(repo.clone, "push", tmp_path / "temp", before=before).all()["landed"] == "1"
    assert (repo.origin / "refused").exists()
    assert repo.lessons().settled[ticket][7] == 1


def test_two_runs_at_the_same_time_both_settle(repo: Repository, tmp_path: Path) -> None:
    first, second = repo.decide(2)
    repo.commit("work begins")
    before, middle = mended(repo, first)
    repo.write("test_more.py", "from app import clamp\n\n\ndef test_more():\n    assert clamp(3, 0, 5) == 3\n")
    repo.commit(f"earnest-ticket: {second}")
    git(repo.clone, "push", "--quiet", "origin", "HEAD:main")
    other = repo.cloned("other")
    git(repo.clone, "checkout", "--quiet", "--detach", middle)
    jobs = [Job(repo.clone, "push", tmp_path / "one", run="1", before=before), Job(other, "push", tmp_path / "two", run="2", before=middle)]
    with ThreadPoolExecutor(2) as pool:
        made = [*pool.map(lambda job: job.all(), jobs)]
    assert [each["landed"] for each in made] == ["1", "1"]
    settled = repo.lessons().settled
    assert {first: settled[first][7], second: settled[second][7]} == {first: 1, second: 0}


def test_a_flaky_test_is_run_again_and_is_no_effect(repo: Repository, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    flaky = f"import pathlib\n\n\ndef test_flaky():\n    p = pathlib.Path({str(flag)!r})\n    n = int(p.read_text()) if p.exists() else 0\n"
    flaky += "    p.write_text(str(n + 1))\n    assert n != 1\n"
    [ticket] = repo.decide()
    repo.write("test_flaky.py", flaky)
    before = repo.commit("work begins")
    repo.write("README.md", "words")
    repo.commit(f"earnest-ticket: {ticket}")
    git(repo.clone, "push", "--quiet", "origin", "HEAD:main")
    assert Job(repo.clone, "push", tmp_path / "temp", before=before).all() == {"delta": "0", "landed": "1"}
    [(test, habit)] = json.loads(git(repo.origin, "show", "main:.earnest/lessons.ci.json"))["tests"].items()
    assert test.endswith("test_flaky") and habit["disputes"]


def test_a_push_that_names_no_ticket_measures_and_writes_nothing(repo: Repository, tmp_path: Path) -> None:
    repo.decide()
    before = repo.commit("work begins")
    repo.write("app.py", "def clamp(x, low, high):\n    return max(low, min(x, high))\n")
    repo.commit("Mend clamp")
    git(repo.clone, "push", "--quiet", "origin", "HEAD:main")
    tip = git(repo.origin, "rev-parse", "main")
    assert Job(repo.clone, "push", tmp_path / "temp", before=before).all() == {"delta": "1", "landed": "0"}
    assert "no ticket is named" in (tmp_path / "temp/summary.md").read_text()
    assert git(repo.origin, "rev-parse", "main") == tip


def test_a_ticket_that_the_store_does_not_know_is_refused_by_name(repo: Repository, tmp_path: Path) -> None:
    before, _ = mended(repo, "a-ticket-of-another-store")
    git(repo.clone, "push", "--quiet", "origin", "HEAD:main")
    assert Job(repo.clone, "push", tmp_path / "temp", before=before).all()["landed"] == "0"
    assert "a-ticket-of-another-store is not open in this store" in (tmp_path / "temp/summary.md").read_text()


@pytest.mark.parametrize("command", ["exit 3", "true", "printf 'no xml' > report.xml", "mkdir report.xml"])
def test_a_command_that_writes_no_report_settles_nothing(repo: Repository, tmp_path: Path, command: str) -> None:
    [ticket] = repo.decide()
    repo.commit("work begins")
    before, _ = mended(repo, ticket)
    git(repo.clone, "push", "--quiet", "origin", "HEAD:main")
    assert Job(repo.clone, "push", tmp_path / "temp", before=before, test_command=command).all() == {"delta": "", "landed": "0"}
    assert [*repo.lessons().open] == [ticket]


def test_a_stale_report_in_the_repository_is_not_taken_for_a_run(repo: Repository, tmp_path: Path) -> None:
    [ticket] = repo.decide()
    repo.write("report.xml", '<testsuites><testsuite name="s"><testcase classname="test_app" name="test_high"/></testsuite></testsuites>')
    repo.commit("work begins")
    before, _ = mended(repo, ticket)
    git(repo.clone, "push", "--quiet", "origin", "HEAD:main")
    assert Job(repo.clone, "push", tmp_path / "temp", before=before, test_command="true").all() == {"delta": "", "landed": "0"}


def test_a_folder_of_reports_is_one_run(repo: Repository, tmp_path: Path) -> None:
    [ticket] = repo.decide()
    repo.commit("work begins")
    before, _ = mended(repo, ticket)
    git(repo.clone, "push", "--quiet", "origin", "HEAD:main")
    command = f"{COMMAND}; mkdir -p target/reports && mv report.xml target/reports/TEST-app.xml"
    made = Job(repo.clone, "push", tmp_path / "temp", before=before, test_command=command, report="target/reports").all()
    assert made == {"delta": "1", "landed": "1"}


def test_a_repository_without_lessons_is_measured_and_left_alone(repo: Repository, tmp_path: Path) -> None:
    git(repo.clone, "rm", "--quiet", TEXT)
    repo.commit("no lessons here")
    before, head = mended(repo, "some-ticket")
    git(repo.clone, "push", "--quiet", "origin", "HEAD:main")
    job = Job(repo.clone, "push", tmp_path / "temp", before=before)
    for step in ACTION["runs"]["steps"]:
        done = job.run(step)
        assert done.returncode == 0, done.stderr
    assert f"there is no {TEXT} on main" in done.stdout and git(repo.origin, "rev-parse", "main") == head
    pull = Job(repo.clone, "pull_request", tmp_path / "temp2", before=before)
    assert pull.all() == {"delta": "1", "landed": "0"}


def test_a_base_that_was_forced_away_is_nothing_to_compare_with(repo: Repository, tmp_path: Path) -> None:
    assert Job(repo.clone, "push", tmp_path / "temp", before="1234567" + "0" * 33).all() == {}


def test_a_pull_request_of_a_fork_is_measured_from_a_shallow_checkout(repo: Repository, tmp_path: Path) -> None:
    [ticket] = repo.decide()
    before = repo.commit("work begins")
    git(repo.clone, "push", "--quiet", "origin", "HEAD:main")
    git(repo.origin, "config", "uploadpack.allowAnySHA1InWant", "true")
    fork = repo.cloned("fork")
    (fork / "app.py").write_text("def clamp(x, low, high):\n    return max(low, min(x, high))\n", encoding="utf-8")
    git(fork, "commit", "--quiet", "-a", "-m", f"Mend clamp\n\nearnest-ticket: {ticket}")
    git(fork, "push", "--quiet", str(repo.origin), "HEAD:refs/pull/7/merge")
    shallow = tmp_path / "shallow"
    git(tmp_path, "init", "--quiet", str(shallow))
    git(shallow, "remote", "add", "origin", repo.origin.as_uri())
    git(shallow, "fetch", "--quiet", "--depth=1", "origin", "refs/pull/7/merge")
    git(shallow, "checkout", "--quiet", "--detach", "FETCH_HEAD")
    tip = git(repo.origin, "rev-parse", "main")
    made = Job(shallow, "pull_request", tmp_path / "temp", before=before, body=f"earnest-ticket: {ticket}").all()
    assert made == {"delta": "1", "landed": "0"} and git(repo.origin, "rev-parse", "main") == tip


@pytest.mark.parametrize(("name", "why"), [(TEXT, "cannot be read"), (".earnest/lessons.ci.json", "is no state of settle-ci")])
def test_a_text_or_state_that_cannot_be_read_fails_and_never_looks_like_an_outcome(
    repo: Repository, tmp_path: Path, name: str, why: str
) -> None:
    [ticket] = repo.decide()
    repo.commit("work begins")
    before, _ = mended(repo, ticket)
    repo.write(name, "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> other\n")
    repo.commit("a conflict was committed")
    git(repo.clone, "push", "--quiet", "origin", "HEAD:main")
    tip = git(repo.origin, "rev-parse", "main")
    job = Job(repo.clone, "push", tmp_path / "temp", before=before)
    for step in ACTION["runs"]["steps"]:
        done = job.run(step)
        if done.returncode:
            break
    assert done.returncode not in (0, 3) and why in done.stdout + done.stderr
    assert "landed" not in job.steps[step["id"]] and git(repo.origin, "rev-parse", "main") == tip


def test_a_branch_that_may_not_be_written_fails_with_the_way_out(repo: Repository, tmp_path: Path) -> None:
    [ticket] = repo.decide()
    repo.commit("work begins")
    before, _ = mended(repo, ticket)
    git(repo.clone, "push", "--quiet", "origin", "HEAD:main")
    hook = repo.origin / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    job = Job(repo.clone, "push", tmp_path / "temp", before=before)
    steps = ACTION["runs"]["steps"]
    assert [job.run(step).returncode for step in steps[:2]] == [0, 0]
    quick = {**steps[2], "run": steps[2]["run"].replace('sleep "$((', 'true "$((')}
    done = job.run(quick)
    assert done.returncode == 1 and "permissions: contents: write" in done.stdout
    assert [*repo.lessons().open] == [ticket]


def test_a_pull_request_that_puts_a_rule_into_force_fails(repo: Repository, tmp_path: Path) -> None:
    with Memory.open(tmp_path / "rules.db", embedder="none", channel="cli") as memory:
        memory.load_lessons(repo.place(TEXT))
        rule = memory.rules.add("avoid", trigger="changing clamp", action="Never trust the bounds.")
        memory.save_lessons(repo.place(TEXT))
        before = repo.commit("a rule is proposed")
        memory.rules.verify(rule.id)
        memory.save_lessons(repo.place(TEXT))
    repo.commit("and accepted in the same breath")
    job = Job(repo.clone, "pull_request", tmp_path / "temp", before=before)
    steps = ACTION["runs"]["steps"]
    assert job.run(steps[0]).returncode == 0
    done = job.run(steps[1])
    assert done.returncode == 1 and "a step of a rule" in done.stdout

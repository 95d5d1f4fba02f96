"""The commands that the README names: what they run, what they say when they cannot, and that they install only what changed.

They run here on a copy of the project in which pip, the tools and the program only note that they were called.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
SCRIPTS: Final = ("scripts/setup", "scripts/demo", "scripts/test", ".ci/run")

PYTHON: Final = """#!/usr/bin/env bash
if [ "$1" = -m ] && [ "$2" = pip ]; then echo "pip ${*:3}" >>"$CALLS"; exit "${PIP_STATUS:-0}"; fi
if [ "$1" = -m ] && [ "$2" = pytest ]; then
    echo "pytest ${*:3}" >>"$CALLS"
    echo "=== 3 passed in 0.01s ==="
    exit "${PYTEST_STATUS:-0}"
fi
exec "REAL" "$@"
"""
TOOL: Final = """#!/usr/bin/env bash
echo "NAME $*" >>"$CALLS"
echo "what NAME found"
if read -r line; then echo "read: $line"; fi
exit "${NAME_STATUS:-0}"
"""


class Project:
    """A copy of what the scripts need, with an environment whose programs note their calls."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "a project"
        for name in ("scripts", "constraints", ".ci"):
            if (ROOT / name).exists():  # an sdist has no .ci
                shutil.copytree(ROOT / name, self.root / name)
        (self.root / "src" / "earnest").mkdir(parents=True)
        for name in ("pyproject.toml", "src/earnest/_version.py"):
            shutil.copy(ROOT / name, self.root / name)
        self.venv = folder / "environment"
        programs = self.venv / "bin"
        programs.mkdir(parents=True)
        (self.venv / "pyvenv.cfg").touch()
        self._program(programs / "python", PYTHON.replace("REAL", sys.executable))
        for name in ("ruff", "mypy", "earnest"):
            self._program(programs / name, TOOL.replace("NAME", name))
        self.calls_file = folder / "calls"
        self.folder = folder

    @staticmethod
    def _program(path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def run(self, script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a script from another folder, with something on its standard input."""
        self.calls_file.write_text("", encoding="utf-8")
        environment = {**os.environ, "EARNEST_VENV": str(self.venv), "CALLS": str(self.calls_file), **environment}
        return subprocess.run(
            [str(self.root / script), *arguments], cwd=self.folder, env=environment, input="unread\n", capture_output=True, text=True,
            timeout=60, check=False,
        )  # fmt: skip

    @property
    def calls(self) -> list[str]:
        """What the last run called, in order."""
        return self.calls_file.read_text(encoding="utf-8").splitlines()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def _pips(calls: list[str]) -> list[str]:
    return [call for call in calls if call.startswith("pip ")]


@pytest.mark.parametrize("script", [name for name in (*SCRIPTS, "scripts/_env") if (ROOT / name).exists()])
def test_every_script_is_sound_bash(script: str) -> None:
    assert subprocess.run(["bash", "-n", str(ROOT / script)], capture_output=True, check=False).returncode == 0
    assert os.access(ROOT / script, os.X_OK) == (script != "scripts/_env")


def test_the_demo_installs_the_project_alone_and_passes_its_options_on(project: Project) -> None:
    ran = project.run("scripts/demo", "--fast", "--seed", "3")
    assert ran.returncode == 0, ran.stderr
    [install] = _pips(project.calls)
    assert f"-e {project.root}" in install
    assert "constraints/runtime.txt" in install
    assert "pytest" not in install.split()
    assert project.calls[-1] == "earnest demo --fast --seed 3"


def test_the_set_up_installs_the_project_and_says_how_to_go_on(project: Project) -> None:
    ran = project.run("scripts/setup")
    assert ran.returncode == 0, ran.stderr
    assert len(_pips(project.calls)) == 1 and not any(call.startswith("earnest") for call in project.calls)
    assert f'source "{project.venv}/bin/activate"' in ran.stderr.splitlines()[-1]


def _installed(project: Project, script: str) -> int:
    """How many installations a run makes."""
    assert project.run(script).returncode == 0
    return len(_pips(project.calls))


def test_nothing_is_installed_again_until_something_changed(project: Project) -> None:
    assert _installed(project, "scripts/demo") == 1
    assert _installed(project, "scripts/demo") == 0
    with (project.root / "constraints" / "runtime.txt").open("a", encoding="utf-8") as file:
        file.write("# another\n")
    assert _installed(project, "scripts/demo") == 1
    assert _installed(project, "scripts/demo") == 0
    assert _installed(project, "scripts/test") == 1, "the tools are not there yet"
    assert _installed(project, "scripts/test") == 0
    assert _installed(project, "scripts/demo") == 0, "what the tests run on is enough for the demo"


def test_an_installation_that_failed_is_tried_again(project: Project) -> None:
    failed = project.run("scripts/demo", PIP_STATUS="1")
    assert failed.returncode == 1
    assert failed.stderr.splitlines()[-1].startswith("error: the installation failed")
    assert not any(call.startswith("earnest") for call in project.calls)
    assert project.run("scripts/demo").returncode == 0
    assert len(_pips(project.calls)) == 1


def test_the_tests_run_every_stage_and_close_with_pytests_own_words(project: Project) -> None:
    ran = project.run("scripts/test", "tests/unit", "-k", "a name")
    assert ran.returncode == 0, ran.stderr
    stages = [call for call in project.calls if not call.startswith("pip ")]
    assert stages == ["ruff check .", "ruff format --check .", "mypy ", "pytest -n 2 tests/unit -k a name"]
    assert [line for line in ran.stdout.splitlines() if line.startswith("== ")] == [
        "== ruff check",
        "== ruff format",
        "== mypy",
        "== pytest",
    ]
    assert ran.stdout.splitlines()[-1] == "=== 3 passed in 0.01s ==="
    assert "read:" not in ran.stdout, "a tool was given the standard input"


@pytest.mark.parametrize("broken", ["ruff", "mypy", "PYTEST"])
def test_one_failing_stage_fails_the_whole_after_all_have_run(broken: str, project: Project) -> None:
    ran = project.run("scripts/test", **{f"{broken}_STATUS": "5"})
    assert ran.returncode == 1
    assert len([call for call in project.calls if not call.startswith("pip ")]) == 4
    assert f"failed: {broken.lower()}" in ran.stdout
    if broken != "PYTEST":
        assert f"what {broken} found" in ran.stdout.split("== pytest\n")[1], "its words are said again where they are seen"
    assert ran.stdout.splitlines()[-1] == "=== 3 passed in 0.01s ==="


if (ROOT / ".ci").exists():  # it is no part of the sdist

    def test_continuous_integration_runs_the_same(project: Project) -> None:
        assert project.run(".ci/run").returncode == 0
        assert project.calls[-1] == "pytest -n 2"
        assert project.run(".ci/run", PYTEST_STATUS="1").returncode == 1


def test_a_folder_that_is_no_environment_is_left_alone(project: Project, tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter-1.txt").write_text("It was a dark and stormy night.", encoding="utf-8")
    ran = project.run("scripts/demo", EARNEST_VENV=str(tmp_path / "thesis"))
    assert ran.returncode == 1
    assert "is no Python environment; name another place in EARNEST_VENV" in ran.stderr
    assert [path.name for path in (tmp_path / "thesis").iterdir()] == ["chapter-1.txt"]


def test_a_missing_python_is_named_with_the_way_out(project: Project, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("bash", "dirname", "cat", "ls", "id", "env"):
        (programs / name).symlink_to(shutil.which(name) or name)
    ran = project.run("scripts/demo", EARNEST_VENV=str(tmp_path / "new"), PATH=str(programs))
    assert ran.returncode == 1
    assert ran.stderr.strip().startswith("error: Python 3.11 or later is needed and was not found.")
    assert not (tmp_path / "new").exists()


def test_a_python_that_cannot_make_environments_is_named_with_the_way_out(project: Project, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("bash", "dirname", "cat", "ls", "env"):
        (programs / name).symlink_to(shutil.which(name) or name)
    crippled = f'#!/usr/bin/env bash\ncase "$*" in *ensurepip*) exit 1 ;; esac\nexec "{sys.executable}" "$@"\n'
    Project._program(programs / "python3", crippled)
    Project._program(programs / "id", "#!/usr/bin/env bash\necho 1000\n")
    ran = project.run("scripts/demo", EARNEST_VENV=str(tmp_path / "new"), PATH=str(programs))
    assert ran.returncode == 1
    assert "apt-get install python3-venv" in ran.stderr
    assert not (tmp_path / "new").exists()

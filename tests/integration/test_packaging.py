"""The packages: what is in them, what they say of themselves, and that they work where nothing else is installed and nothing is reached.

Both are built from this checkout with the tools of the environment that runs the tests. What the wheel depends on is repacked from that
environment too, so that the clean one is made by pip alone, without asking any registry.
"""

from __future__ import annotations

import base64
import email.parser
import email.policy
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Sequence
from email.message import EmailMessage
from importlib import metadata
from pathlib import Path
from typing import Final

import pytest

import earnest

ROOT: Final = Path(__file__).resolve().parents[2]
NEEDS: Final = ("apsw", "snowballstemmer")

pytestmark = pytest.mark.timeout(300)

# Put beside the installed package: any attempt to reach another machine ends the process.
NO_NETWORK: Final = """
import os, sys
def _watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        sys.stderr.write(f"reached for the network: {event} {arguments!r}\\n")
        sys.stderr.flush()
        os._exit(97)
sys.addaudithook(_watch)
"""


def _ran(*command: str | Path, cwd: Path, **environment: str) -> str:
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))}
    ran = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=plain | environment, capture_output=True, text=True, encoding="utf-8", timeout=240,
        check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert ran.returncode == 0, f"{command} exits with {ran.returncode}:\n{ran.stdout[-3000:]}\n{ran.stderr[-3000:]}"
    return ran.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel and the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    _ran(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


@pytest.fixture(scope="module")
def in_wheel(built: tuple[Path, Path]) -> set[str]:
    with zipfile.ZipFile(built[0]) as wheel:
        return set(wheel.namelist())


@pytest.fixture(scope="module")
def in_sdist(built: tuple[Path, Path]) -> set[str]:
    with tarfile.open(built[1]) as sdist:
        return {name.partition("/")[2] for name in sdist.getnames()}


@pytest.fixture(scope="module")
def said(built: tuple[Path, Path], in_wheel: set[str]) -> EmailMessage:
    """The wheel's metadata."""
    [name] = [name for name in in_wheel if name.endswith(".dist-info/METADATA")]
    with zipfile.ZipFile(built[0]) as wheel:
        made = email.parser.Parser(policy=email.policy.default).parsestr(wheel.read(name).decode("utf-8"))
    assert isinstance(made, EmailMessage)
    return made


def _sources(folder: str) -> set[str]:
    """The files of a folder of the checkout that belong to it, relative to the root."""
    return {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / folder).rglob("*")
        # A fixture that another test reads at this moment has its side files beside it.
        if path.is_file()
        and not path.name.endswith((".pyc", "-wal", "-shm"))
        and not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
    }


def test_the_wheel_runs_anywhere_and_is_named_for_its_version(built: tuple[Path, Path]) -> None:
    assert built[0].name == f"earnest-{earnest.__version__}-py3-none-any.whl"
    assert built[1].name == f"earnest-{earnest.__version__}.tar.gz"


def test_the_wheel_holds_the_package_with_its_data_and_nothing_else(in_wheel: set[str]) -> None:
    package = {name for name in in_wheel if not re.match(r"earnest-[\w.]+\.dist-info/", name)}
    assert package == {name.removeprefix("src/") for name in _sources("src")}
    assert "earnest/py.typed" in package
    assert {f"earnest/encoding/corpus/{name}.txt" for name in ("runbook", "platform-notes", "forum-post")} <= package


def test_the_sdist_can_run_its_own_tests(in_sdist: set[str]) -> None:
    for folder in ("src", "tests", "bench", "examples", "docs", "constraints", "scripts"):
        assert _sources(folder) - in_sdist == set()
    assert {"README.md", "CITATION.cff", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "pyproject.toml"} <= in_sdist


def test_the_sdist_holds_no_rubbish(in_sdist: set[str]) -> None:
    assert [
        name for name in in_sdist if re.search(r"__pycache__|\.pyc$|\.db(-wal|-shm)?$|(^|/)\.venv/", name) and "data/" not in name
    ] == []


def test_the_metadata(said: EmailMessage) -> None:
    assert said["Name"] == "earnest"
    assert said["Version"] == earnest.__version__
    assert said["License-Expression"] == "MIT"
    assert said["License-File"] == "LICENSE"
    assert said["Requires-Python"] == ">=3.11"
    assert said["Description-Content-Type"] == "text/markdown"
    assert "# Earnest" in said.get_content()
    assert "Typing :: Typed" in said.get_all("Classifier", [])


def test_the_bare_install_needs_two_packages_and_extras_none_of_their_own(said: EmailMessage) -> None:
    needs = said.get_all("Requires-Dist", [])
    assert sorted(re.split(r"[ <>=!~;]", need)[0] for need in needs if "extra ==" not in need) == sorted(NEEDS)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(said.get_all("Provides-Extra", [])) == set(extras)
    assert "all" in extras


def test_constraints_pin_exactly_and_name_no_host() -> None:
    pinned: dict[str, str] = {}
    for path in sorted((ROOT / "constraints").glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                match = re.fullmatch(r"([A-Za-z0-9_.-]+)==([\w.]+)", line)
                assert match, f"{path.name}: {line}"
                assert match[1] not in pinned
                pinned[match[1]] = match[2]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = [need for group in project["dependency-groups"].values() for need in group]
    for need in (*project["project"]["dependencies"], *groups):
        assert re.split(r"[ <>=!~;\[]", need)[0] in pinned, f"{need} is not pinned"


def test_constraints_hold_what_the_pinned_packages_bring_with_them() -> None:
    """Of what is installed here: each dependency of a pinned package that applies is pinned too."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "constraints").glob("*.txt"))
    pinned = {_plain(name) for name in re.findall(r"^([\w.-]+)==", text, re.MULTILINE)}
    for name in pinned:
        try:
            needs = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue  # a tool of the benchmarks, not installed here
        for need in needs:
            marker = need.partition(";")[2]
            if not re.search(r"extra|platform|os_name|python_version|python_full_version|implementation", marker):
                assert _plain(re.split(r"[ <>=!~;\[(]", need)[0]) in pinned, f"{name} needs {need}, which is not pinned"


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _repacked(name: str, folder: Path) -> Path:
    """A wheel made of an installed package's own files."""
    installed = metadata.distribution(name)
    own = ("INSTALLER", "REQUESTED", "RECORD", "direct_url.json")  # written by whoever installs
    files = {
        str(file): Path(str(installed.locate_file(file))).read_bytes()
        for file in installed.files or ()
        if not str(file).startswith("..") and file.suffix != ".pyc" and file.name not in own
    }  # fmt: skip
    [info] = {path.split("/")[0] for path in files if path.endswith(".dist-info/WHEEL")}
    tags = [line.removeprefix("Tag: ") for line in files[f"{info}/WHEEL"].decode().splitlines() if line.startswith("Tag: ")]
    pythons, abis, platforms = (".".join(dict.fromkeys(tag.split("-")[i] for tag in tags)) for i in range(3))
    target = folder / f"{info.removesuffix('.dist-info')}-{pythons}-{abis}-{platforms}.whl"
    record = [f"{info}/RECORD,,"]
    with zipfile.ZipFile(target, "w") as wheel:
        for path, content in files.items():
            wheel.writestr(path, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            record.append(f"{path},sha256={digest},{len(content)}")
        wheel.writestr(f"{info}/RECORD", "\n".join(record) + "\n")
    return target


@pytest.fixture(scope="module")
def clean(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that holds the wheel and what it needs, and that cannot reach any other machine."""
    folder = tmp_path_factory.mktemp("clean")
    wheels = folder / "wheels"
    wheels.mkdir()
    for name in NEEDS:
        _repacked(name, wheels)
    _ran(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    _ran(
        sys.executable, "-m", "pip", "--python", programs / "python", "install", "--quiet", "--no-index", "--find-links", wheels,
        "--no-cache-dir", built[0], cwd=folder, PIP_CONFIG_FILE=os.devnull, PIP_DISABLE_PIP_VERSION_CHECK="1",
    )  # fmt: skip
    site = Path(_ran(programs / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip())
    (site / "no_network.pth").write_text("import no_network\n", encoding="utf-8")
    (site / "no_network.py").write_text(NO_NETWORK, encoding="utf-8")
    return programs


def _earnest(clean: Path, words: Sequence[str], home: Path) -> str:
    return _ran(clean / "earnest", *words, cwd=home, HOME=str(home), USERPROFILE=str(home), PYTHONWARNINGS="error", PYTHONUTF8="1")


def test_the_environment_is_clean_and_cut_off(clean: Path, tmp_path: Path) -> None:
    listed = _ran(
        clean / "python", "-c", "from importlib.metadata import distributions as d; print(*sorted(x.name for x in d()))", cwd=tmp_path
    )
    assert listed.split() == ["apsw", "earnest", "snowballstemmer"]
    where = _ran(clean / "python", "-c", "import earnest; print(earnest.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(clean.parent)
    reach = [str(clean / "python"), "-c", "import socket; socket.create_connection(('127.0.0.1', 9))"]
    assert subprocess.run(reach, capture_output=True, check=False, timeout=60).returncode == 97


def test_the_demo_runs_in_a_clean_environment_offline(clean: Path, tmp_path: Path) -> None:
    printed = _earnest(clean, ["demo", "--fast"], tmp_path)
    assert printed.rstrip().splitlines()[-1] == "Poisoned entries still active: 0"


def test_the_main_job_runs_in_a_clean_environment_offline(clean: Path, tmp_path: Path) -> None:
    (tmp_path / ".earnest").mkdir()
    (tmp_path / "runbook.txt").write_text("Old log files under logs/ may be deleted after seven days.\n", encoding="utf-8")
    assert "1 entry" in _earnest(clean, ["encode", "runbook.txt"], tmp_path)
    assert "seven days" in _earnest(clean, ["query", "May old log files be deleted?"], tmp_path)
    assert "Whole" in _earnest(clean, ["check"], tmp_path)


def test_tests_run_from_the_unpacked_sdist(built: tuple[Path, Path], tmp_path: Path) -> None:
    with tarfile.open(built[1]) as sdist:
        if hasattr(tarfile, "data_filter"):
            sdist.extractall(tmp_path, filter="data")
        else:  # a Python 3.11 of before it
            sdist.extractall(tmp_path)
    [unpacked] = tmp_path.iterdir()
    part = ["tests/docs/test_pages.py", "tests/unit/test_decision.py"]
    printed = _ran(sys.executable, "-m", "pytest", "-q", *part, cwd=unpacked, PYTHONPATH=str(unpacked / "src"))
    assert re.search(r"\d+ passed", printed)
    assert "failed" not in printed
    where = _ran(sys.executable, "-c", "import earnest; print(earnest.__file__)", cwd=unpacked, PYTHONPATH=str(unpacked / "src"))
    assert Path(where.strip()).is_relative_to(unpacked), "the tests of the sdist run on the code of the sdist"

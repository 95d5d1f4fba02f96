"""What deploy/ ships: its command lines are ones that the program takes, and systemd has nothing to say against its unit."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from earnest.cli.parser import build

DEPLOY: Final = Path(__file__).resolve().parents[2] / "deploy"
UNIT: Final = (DEPLOY / "earnest.service").read_text(encoding="utf-8")
CONTAINER: Final = (DEPLOY / "Containerfile").read_text(encoding="utf-8")


def _instruction(name: str) -> list[str]:
    """The words of the one instruction of that name, as a list in JSON."""
    [found] = re.findall(rf"^{name} (\[.*\])$", CONTAINER, re.MULTILINE)
    words = json.loads(found)
    assert all(isinstance(word, str) for word in words)
    return list(words)


def test_the_command_of_the_unit_is_one_that_the_program_takes_and_serves_this_machine_alone() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(UNIT)
    program, *words = shlex.split(unit["Service"]["ExecStart"])
    args = build().parse_args(words)
    assert (program, args.command, args.host, args.root) == (
        "/opt/earnest/bin/earnest",
        "serve",
        "127.0.0.1",
        unit["Service"]["WorkingDirectory"],
    )
    assert args.root == f"/var/lib/{unit['Service']['StateDirectory']}"


def test_the_command_of_the_container_is_one_that_the_program_takes_in_a_folder_of_its_user() -> None:
    program, *words = _instruction("ENTRYPOINT")
    args = build().parse_args([*words, *_instruction("CMD")])
    assert (program, args.command, args.allow_host) == ("/opt/earnest/bin/earnest", "serve", ["localhost"])
    assert f"--home-dir {args.root}" in CONTAINER and f"\nVOLUME {args.root}\n" in CONTAINER
    assert CONTAINER.index("\nUSER earnest") < CONTAINER.index("\nENTRYPOINT")
    assert f"\nEXPOSE {args.port}\n" in CONTAINER and f"'127.0.0.1', {args.port}," in CONTAINER


def test_all_that_the_container_copies_is_there() -> None:
    copied = [word for line in re.findall(r"^COPY (?!--from)(.*)$", CONTAINER, re.MULTILINE) for word in line.split()[:-1]]
    assert len(copied) >= 5
    assert [name for name in copied if not (DEPLOY.parent / name).exists()] == []


@pytest.mark.full
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "earnest.service"
    unit.write_text(UNIT.replace("/opt/earnest/bin/earnest", sys.executable), encoding="utf-8")
    said = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, timeout=60, check=False)
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "")

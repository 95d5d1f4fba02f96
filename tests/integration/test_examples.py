"""Each example runs as its reader would run it, and says what it is there to say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.services import ModelService

ROOT: Final = Path(__file__).resolve().parents[2]
EXAMPLES: Final = sorted((ROOT / "examples").glob("[0-9]*.py"))

# What the reader is meant to see.
SAYS: Final = {
    "01_encode.py": ("2 documents became", "explicit", "cross_doc", "[handbook.md, retro-12]", "and makes 0."),
    "02_query.py": ("from retention-policy", "silent", "with scope=['alice', '']: Alice wants", "of what the question asks for"),
    "03_survival_loop.py": (
        "cycle  population",
        "Dead:",
        "died, executed",
        "another world",
        "protected and must be kept.",
        "suspended [rumour]",
    ),
    "04_agent_loop.py": (
        "model: a script",
        "measured +40,000 bytes",
        "measured -940,000 bytes; suspended: Database files",
        "memory: memory is silent about that",
        "active    [runbook] Cache files",
    ),
    "07_local_stack.py": ("Ollama is not there, or not with this model", "is Ollama running at"),
    "05_test_suite.py": (
        "Waiting is free:",
        "Waiting costs",
        "suspended  [hallway] The helper cleanup patch",
        "suspended  [hallway] Do not apply",
    ),
    "06_ci_lessons.py": (
        "delta +1, 1 settled",
        "delta -1, 1 settled, 5 new tests that count for nothing",
        "suspended: Leave the last page out",
        "told:  (memory is silent)",
        "abstained: is no whole XML report",
        "open tickets: 1",
    ),
    "08_evm_settler.py": ("+12500000 units of", "of which gas", "suspended", "abstained: the endpoints disagree"),
    "10_compression.py": (
        "cycle  population",
        "active     [runbook] The request logs",
        "[hallway] The uploaded photos",
        "uploaded photos: silent",
    ),
    "11_night_pages.py": ("Who decides now:", "PAGE when the billing database has a full disk.\n", "page somebody?\n    silent"),
    "09_your_own_corpus.py": ("silent: nothing reaches the floor", "What is missing was not found: search.", "conflicting (numbers)"),
}


# What would let an example ask a real service: none does in a test.
SERVICES: Final = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")


def _run(example: Path, *arguments: str, folder: Path, **variables: str) -> str:
    environment = {**os.environ, "PYTHONWARNINGS": "error", "PYTHONIOENCODING": "utf-8"}
    for name in SERVICES:
        environment.pop(name, None)
    environment |= variables
    ran = subprocess.run(
        [sys.executable, str(example), *arguments], cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8",
        timeout=120, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    return ran.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_every_example_runs_and_leaves_nothing_behind(example: Path, tmp_path: Path) -> None:
    # A port that nobody listens on.
    variables = {"OLLAMA_HOST": "127.0.0.1:9"} if example.name == "07_local_stack.py" else {}
    printed = _run(example, folder=tmp_path, **variables)
    for text in SAYS[example.name]:
        assert text in printed, printed
    assert list(tmp_path.iterdir()) == []


def test_every_example_is_known_here() -> None:
    assert {path.name for path in EXAMPLES} == set(SAYS)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_every_example_says_what_it_is_and_how_to_run_it(example: Path) -> None:
    text = example.read_text(encoding="utf-8")
    assert text.startswith('"""')
    assert f"python examples/{example.name}" in text.split('"""')[1]


def test_the_waiting_that_costs_is_what_finds_bad_restraint_out(tmp_path: Path) -> None:
    free, priced = _run(ROOT / "examples" / "05_test_suite.py", folder=tmp_path).split("Waiting costs")
    restraint = "[hallway] Do not apply the leap-year century patch"
    assert f"suspended  {restraint}" not in free
    assert f"suspended  {restraint}" in priced


def test_examples_take_the_readers_own_files(tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("# Wifi\n\nThe guest wifi is called Juniper and changes its password on Mondays.\n", encoding="utf-8")
    made = _run(ROOT / "examples" / "01_encode.py", str(notes), folder=tmp_path)
    assert "1 documents became 1 entries" in made
    asked = _run(
        ROOT / "examples" / "09_your_own_corpus.py", str(notes), "--", "When does the guest wifi change its password?", folder=tmp_path
    )
    assert "The guest wifi is called Juniper" in asked


def test_the_local_stack_runs_on_a_server_that_speaks_ollamas_format(tmp_path: Path) -> None:
    ollama = ModelService("ollama")

    def vector(text: str) -> list[float]:
        return [1.0 + text.count("log"), 1.0 + text.count("cache"), 0.5]

    def said(prompt: str) -> str:
        lines = re.findall(r"^\[(\d+)\] (.*)$", prompt, re.MULTILINE)
        if "numbered passages" in prompt:
            return json.dumps([{"text": text, "from": [int(number)]} for number, text in lines])
        if prompt.startswith("Answer the question"):
            return f"<think>Hm.</think>After seven days.\nSOURCES: {next(number for number, text in lines if 'seven days' in text)}"
        return "[]"

    def right(body: dict[str, Any], *, cut: bool = False) -> Any:
        if "input" in body:
            return {"model": body["model"], "embeddings": [vector(text) for text in body["input"]]}
        ollama.text = said(body["messages"][0]["content"])
        return ModelService.right(ollama, body, cut=cut)

    ollama.right = right  # type: ignore[method-assign]
    try:
        printed = _run(ROOT / "examples" / "07_local_stack.py", folder=tmp_path, OLLAMA_HOST=ollama.url)
    finally:
        ollama.close()
    assert "Encoding the demo corpus with ollama:qwen3" in printed and "facts: 16 taken from the model" in printed
    assert "After seven days." in printed and "[1] Every old log file" in printed and "tokens read" in printed
    assert {path for path, _, _ in ollama.requests} <= {"/api/chat", "/api/embed"}
    assert all(body["think"] is False for path, _, body in ollama.requests if path == "/api/chat")
    assert list(tmp_path.iterdir()) == []


def test_the_agent_loop_plays_with_a_real_model_where_one_is_named(tmp_path: Path) -> None:
    openai = ModelService("openai")
    openai.text = 'I stop. {"tool": "done", "why": "nothing is needed"}'
    try:
        printed = _run(
            ROOT / "examples" / "04_agent_loop.py", folder=tmp_path, OPENAI_BASE_URL=f"{openai.url}/v1", EARNEST_EXAMPLE_MODEL="own-model"
        )
    finally:
        openai.close()
    assert "model: openai:own-model" in printed and printed.count("done: nothing is needed") == 3
    assert len(openai.requests) == 3 and openai.requests[0][2]["model"] == "own-model"

"""`--model` on the command line, against a server on this machine that speaks Ollama's format."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.services import ModelService


@pytest.fixture
def ollama() -> Iterator[ModelService]:
    made = ModelService("ollama")
    yield made
    made.close()


def by_prompt(service: ModelService, answer: Callable[[str], str]) -> None:
    def replied(body: dict[str, Any], *, cut: bool = False) -> Any:
        service.text = answer(body["messages"][0]["content"])
        return ModelService.right(service, body, cut=cut)

    service.right = replied  # type: ignore[method-assign]


def earnest(folder: Path, service: ModelService, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OLLAMA_HOST": service.url, "EARNEST_EMBEDDER": "none", "EARNEST_STORE": str(folder / "m.db")}
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        environment.pop(name, None)
    return subprocess.run(
        [sys.executable, "-m", "earnest", *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def facts_or_answer(prompt: str) -> str:
    lines = re.findall(r"^\[(\d+)\] (.*)$", prompt, re.MULTILINE)
    if "numbered passages" in prompt:
        return "```json\n" + json.dumps([{"text": text, "from": [int(number)]} for number, text in lines]) + "\n```"
    if prompt.startswith("Answer the question"):
        return f"For 7 days.\nSOURCES: {next((number for number, text in lines if '7 days' in text), 'none')}"
    return "[]"


def test_a_file_is_encoded_and_a_question_answered_with_a_model(tmp_path: Path, ollama: ModelService) -> None:
    by_prompt(ollama, facts_or_answer)
    (tmp_path / "cache.txt").write_text("Redis keeps sessions for 7 days.\n\nNobody may flush it by hand.\n", encoding="utf-8")
    made = earnest(tmp_path, ollama, "encode", "cache.txt", "--model", "ollama:qwen3")
    assert made.returncode == 0 and "Asked ollama:qwen3: 3 calls" in made.stdout and "$0.0000" in made.stdout, made.stdout + made.stderr
    asked = earnest(tmp_path, ollama, "query", "How long does Redis keep sessions?", "--model", "ollama:qwen3")
    assert asked.returncode == 0 and asked.stdout.startswith("For 7 days.") and "[1] Redis keeps sessions" in asked.stdout
    decided = earnest(tmp_path, ollama, "decide", "How long does Redis keep sessions?", "--model", "ollama:qwen3", "--json")
    ticket = json.loads(decided.stdout)
    assert ticket["from_memory"] and ticket["id"] and ticket["deciding"]["text"] == "Redis keeps sessions for 7 days."
    stats = json.loads(earnest(tmp_path, ollama, "stats", "--json").stdout)
    assert stats["cost"]["calls"] == len(ollama.requests) == 9 and stats["cost"]["usd"] == 0
    assert "models" in earnest(tmp_path, ollama, "stats").stdout


def test_an_answer_that_cites_nothing_opens_no_ticket(tmp_path: Path, ollama: ModelService) -> None:
    by_prompt(ollama, lambda prompt: "As everybody knows, for a year." if prompt.startswith("Answer the question") else "[]")
    earnest(tmp_path, ollama, "remember", "Redis keeps sessions for 7 days.")
    made = earnest(tmp_path, ollama, "decide", "How long does Redis keep sessions?", "--model", "ollama:qwen3")
    assert made.returncode == 0 and "not from memory" in made.stdout and "No ticket was opened" in made.stdout


def test_a_model_that_says_nonsense_costs_no_text_and_the_exit_status_says_so(tmp_path: Path, ollama: ModelService) -> None:
    by_prompt(ollama, lambda prompt: "I would rather not.")
    (tmp_path / "cache.txt").write_text("Redis keeps sessions for 7 days.\n", encoding="utf-8")
    made = earnest(tmp_path, ollama, "encode", "cache.txt", "--model", "ollama:qwen3", "--json")
    report = json.loads(made.stdout)
    assert made.returncode == 1 and report["unfinished"] == ["cache.txt"] and len(report["entries"]) == 1 and report["cost"]["calls"] == 2
    by_prompt(ollama, facts_or_answer)
    again = json.loads(earnest(tmp_path, ollama, "encode", "cache.txt", "--model", "ollama:qwen3", "--json").stdout)
    assert again["unfinished"] == [] and again["files"][0]["state"] == "encoded"


def test_a_turn_is_read_by_a_model(tmp_path: Path, ollama: ModelService) -> None:
    by_prompt(ollama, lambda prompt: '[{"text": "Decided: use PostgreSQL for the database.", "type": "decision"}]')
    made = earnest(
        tmp_path, ollama, "sync-turn", "--user", "Let's use PostgreSQL for the database.", "--assistant", "Fine.", "--model", "ollama:q",
        "--json",
    )  # fmt: skip
    turn = json.loads(made.stdout)
    assert made.returncode == 0 and turn["by"] == "llm" and turn["entries"][0]["text"] == "Decided: use PostgreSQL for the database."


def test_long_entries_are_made_shorter(tmp_path: Path, ollama: ModelService) -> None:
    short = "Old logs under logs/ may go after 7 days. Never delete billing logs, which Anna keeps for 10 years."
    by_prompt(ollama, lambda prompt: short)
    long = short.replace(". Never", ". The team talked for a long afternoon about this, and the weather was fine. Never")
    entry = json.loads(earnest(tmp_path, ollama, "remember", long, "--json").stdout)["id"]
    made = json.loads(earnest(tmp_path, ollama, "compress", entry, "--model", "ollama:q", "--json").stdout)
    assert made["text"] == short and made["lineage"] == [entry]
    refused = earnest(tmp_path, ollama, "compress", made["id"], "--model", "ollama:q")
    assert refused.returncode == 1 and "stays as it is" in refused.stderr and "hardly shorter" in refused.stderr
    report = json.loads(earnest(tmp_path, ollama, "compress", "--long", "--over", "10", "--dry-run", "--json").stdout)
    assert report["entries"] == [[made["id"], ""]]
    for words in (("compress",), ("compress", entry, "--long"), ("compress", entry, "--over", "9")):
        assert earnest(tmp_path, ollama, *words).returncode == 2


def test_wrong_words_are_one_line(tmp_path: Path, ollama: ModelService) -> None:
    (tmp_path / "a.txt").write_text("Redis keeps sessions for 7 days.\n", encoding="utf-8")
    for words in (
        ("encode", "a.txt", "--model", "gpt"),
        ("encode", "a.txt", "--max-calls", "3"),
        ("encode", "a.txt", "--model", "ollama:x", "--max-calls", "-1"),
    ):
        made = earnest(tmp_path, ollama, *words)
        assert made.returncode == 2 and made.stderr.count("\n") == 1 and "Traceback" not in made.stderr, made.stderr
    assert ollama.requests == [] and not (tmp_path / "m.db").exists()

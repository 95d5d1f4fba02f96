"""The at-home suite end to end, against a real local server that speaks Ollama's format (and OpenAI's) with scripted answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.athome import __main__ as bench
from bench.athome.arms import ARMS, EVIDENCE, JUDGE, OFF, WORLDS, asked, judged, live, said_yes, score
from earnest.llms import OllamaLLM
from tests.services import ModelService, send


class Trusting(ModelService):
    """A model that does what its memory advises, guesses yes without any, and finds all advice good."""

    def __init__(self, form: str) -> None:
        super().__init__(form)
        self.prompts: list[str] = []
        self.text = ""

    def right(self, body: dict[str, Any], *, cut: bool = False) -> Any:
        prompt = body["messages"][-1]["content"]
        self.prompts.append(prompt)
        if "How good was that advice?" in prompt:
            self.text = "<think>It was 3 or so.</think> 9"
        elif "says nothing about this" in prompt:
            self.text = "No."
        elif "says:" in prompt:
            advice = prompt.split("says: ")[1].splitlines()[0]
            self.text = "No" if "do not" in advice.lower() or "should not" in advice.lower() else "Yes"
        else:
            self.text = "yes"
        return super().right(body, cut=cut)


@pytest.fixture
def ollama() -> Iterator[Trusting]:
    service = Trusting("ollama")
    yield service
    service.server.shutdown()
    service.server.server_close()


def ran(service: Trusting, out: Path, *more: str, spec: str = "ollama:scripted", path: str = "") -> int:
    return bench.main(["--model", spec, "--base-url", service.url + path, "--out", str(out), "--cycles", "4", *more])


def test_the_whole_suite_runs_and_measured_outcomes_beat_a_flatterer(
    ollama: Trusting, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "athome.json"
    assert ran(ollama, out, "--seeds", "0-2", "--worlds", "storage") == 0
    lives = bench.load(out)["lives"]["storage"]
    for seed in ("0", "1", "2"):
        evidence, judge, off = (lives[arm][seed] for arm in (EVIDENCE, JUDGE, OFF))
        assert evidence["share"] > judge["share"] > off["share"] and evidence["harm"] > judge["harm"] > off["harm"]
        assert evidence["poisoned"] == 1 < judge["poisoned"] and evidence["tasks"] == 48 == off["calls"] < judge["calls"]
    printed = capsys.readouterr().out
    assert all(f"\n{arm}" in printed for arm in ARMS) and "p against evidence" in printed and "…" in printed
    assert bench.main(["--report", str(out)]) == 0 and capsys.readouterr().out == printed


def test_the_tests_of_a_suite_are_run_for_what_the_model_decides(ollama: Trusting, tmp_path: Path) -> None:
    out = tmp_path / "athome.json"
    assert ran(ollama, out, "--seeds", "3", "--worlds", "suite", "--arms", "evidence,memory-off") == 0
    lives = bench.load(out)["lives"]["suite"]
    # Whoever says yes to everything gains three tests a cycle and loses two; memory learns from the first cleanup.
    assert lives[OFF]["3"]["share"] == pytest.approx(1 / 3, abs=1e-4) and lives[EVIDENCE]["3"]["share"] > 0.7


def test_a_life_that_the_file_has_is_not_lived_again_and_a_cut_one_leaves_nothing(
    ollama: Trusting, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "athome.json"
    assert ran(ollama, out, "--seeds", "0", "--worlds", "storage", "--arms", "memory-off") == 0
    first, asked_before = out.read_bytes(), len(ollama.prompts)
    ollama.replies = [lambda handler: send(handler, 404, {"error": "model 'scripted' not found"})]
    assert ran(ollama, out, "--seeds", "0-1", "--worlds", "storage", "--arms", "memory-off") == 1
    assert "ollama pull scripted" in capsys.readouterr().err and out.read_bytes() == first and len(ollama.prompts) == asked_before
    assert ran(ollama, out, "--seeds", "0-1", "--worlds", "storage", "--arms", "memory-off") == 0
    assert len(ollama.prompts) == 2 * asked_before and sorted(bench.load(out)["lives"]["storage"][OFF]) == ["0", "1"]
    with pytest.raises(SystemExit, match="another --out"):
        bench.main(["--model", "ollama:other", "--base-url", ollama.url, "--out", str(out)])
    out.write_text(json.dumps({"bench": "recall"}), encoding="utf-8")
    with pytest.raises(SystemExit, match="holds no lives"):
        ran(ollama, out)


def test_any_server_that_speaks_the_other_interface_will_do(tmp_path: Path) -> None:
    service = Trusting("openai")
    out = tmp_path / "athome.json"
    try:
        more = ("--seeds", "0", "--worlds", "storage", "--arms", "evidence")
        assert ran(service, out, *more, spec="openai:scripted", path="/v1") == 0
    finally:
        service.server.shutdown()
        service.server.server_close()
    assert bench.load(out)["lives"]["storage"][EVIDENCE]["0"]["share"] > 0.5
    with pytest.raises(SystemExit, match="--base-url goes with"):
        bench.chosen("anthropic:scripted", "http://127.0.0.1:1")


def test_a_judge_never_sees_what_was_measured_and_the_answerer_never_the_truth(ollama: Trusting) -> None:
    live("storage", JUDGE, 0, 2, OllamaLLM("scripted", base_url=ollama.url))
    grading = [prompt for prompt in ollama.prompts if "How good" in prompt]
    assert grading and not any(word in prompt for prompt in ollama.prompts for word in ("delta", "bytes", "freed", "restored"))


def test_replies_are_read_as_they_come() -> None:
    assert [said_yes(text) for text in ("Yes.", "no", "yes? NO", "**Yes**", "perhaps", "", "yesterday")] == [
        True, False, False, True, None, None, None,
    ]  # fmt: skip
    assert [score(text) for text in ("10", "Score: 5", "0", "7.5 of course", "11", "none", "3, no: 4")] == [
        1.0, 0.0, -1.0, 0.5, None, None, pytest.approx(-0.2),
    ]  # fmt: skip
    assert asked("Q?", None).startswith("Q?") and "says nothing" in asked("Q?", "") and "says: keep it" in asked("Q?", "keep it")
    assert "keep it" in judged("Q?", "keep it", "no")


def test_arguments_that_name_nothing_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in (["--worlds", "mars"], ["--arms", "oracle"], ["--cycles", "0"]):
        with pytest.raises(SystemExit):
            bench.parsed(wrong)
    assert "mars" in capsys.readouterr().err and {"storage", "suite"} == set(WORLDS)

"""What REST says of a value that cannot be used is said in the library's words, whatever checks it; and who may be addressed at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
from pydantic import ValidationError

from earnest.http.memories import Memories
from earnest.http.operations import Operation
from earnest.http.problems import unusable
from earnest.http.service import OPERATIONS
from earnest.http.ticking import Ticker
from earnest.memory import Memory
from earnest.system import SystemClock
from tests.rest import client

UNUSABLE: Final[tuple[Any, ...]] = (
    None, "", 5, -1, 10**9, 10**5_000, 1.5, True, "x" * 2_000_000, [], ["a"] * 5_000, {}, "nan", "1" * 5_000, float("inf"), {"a": 1}, [1],
)  # fmt: skip
WORDS_OF_ANOTHER: Final = ("input should", "string should", "dictionary", "should have", "unable to", "instance", "exceeded")


@pytest.mark.parametrize("operation", [o for o in OPERATIONS if o.body or o.query], ids=lambda o: o.name)
def test_no_route_explains_a_value_in_the_words_of_a_part_that_it_is_built_from(operation: Operation) -> None:
    for model in (operation.body, operation.query):
        for field in () if model is None else (*model.model_fields, "colour"):
            for value in UNUSABLE:
                try:
                    model.model_validate({field: value})  # type: ignore[union-attr]
                except ValidationError as error:
                    for one in unusable(error, what="body").errors:
                        assert not any(word in one["reason"].lower() for word in WORDS_OF_ANOTHER), (field, one)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "text: is missing"),
        ({"text": ""}, "text: is blank; give it some words"),
        ({"text": 5}, "text: must be text"),
        ({"text": "x" * 200_000}, "text: is too long; at most 100,000 characters are kept"),
        ({"text": "ok", "importance": 2}, "importance: must be at most 1"),
        ({"text": "ok", "importance": "high"}, "importance: must be a number"),
        ({"text": "ok", "metadata": [1]}, "metadata: must be a JSON object"),
        ({"text": "ok", "tags": "a"}, "tags: must be a list"),
        ({"text": "ok", "kind": "fact"}, "kind: must be one of semantic, episodic, procedural, rule"),
        ({"text": "ok", "colour": "red"}, "colour: is not known here"),
    ],
)
def test_a_value_that_cannot_be_used_is_told_with_the_form_that_it_must_have(tmp_path: Path, body: dict[str, Any], said: str) -> None:
    with client(tmp_path) as web:
        answer = web.post("/v1/agents/ops/entries", json=body)
        assert (answer.status_code, answer.json()["detail"]) == (422, said)


def test_an_agent_that_no_address_can_name_is_ticked_like_others_and_listed_nowhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for agent in ("ops", "team/ops", "back\\slash", ".."):
        with Memory.open(tmp_path, agent, embedder="none") as memory:
            memory.configure(tick_every=60)
            memory.add("Log files may be deleted after seven days.")
    memories = Memories(tmp_path)
    assert sorted(Ticker(memories, SystemClock()).round()) == sorted(["ops", "team/ops", "back\\slash", ".."])
    assert not caplog.records
    memories.close()
    with client(tmp_path) as web:
        assert [one["name"] for one in web.get("/v1/agents").json()["items"]] == ["ops"]
        assert web.get("/v1/agents/team%2Fops/stats").status_code == 422

"""The service against requests that are made up from its own description, right ones and wrong ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase
from hypothesis.errors import Unsatisfiable
from schemathesis import openapi
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from earnest.http.service import OPERATIONS
from earnest.memory import Memory
from tests.rest import HOST, TOKEN, client

ALWAYS = [
    not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance, response_headers_conformance,
    allow_header_conformance,
]  # fmt: skip
# What the description is read from is not asked for again.
LABELS = [f"{operation.method} {operation.path}" for operation in OPERATIONS if operation.path != "/openapi.json"]


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The operations, as a stranger reads them, of a service whose agents `0` and `a`, the names that come up most, have a life."""
    root = tmp_path_factory.mktemp("root")
    for agent in ("0", "a"):
        with Memory.open(root / f"{agent}.db", agent) as memory:
            memory.add("Logs under logs/ may be deleted after seven days.", sources=["runbook"])
            ticket = memory.decide("May old logs be deleted?").id
            assert ticket is not None
            memory.settle(ticket, delta=2.0, meter="disk")
            memory.tick()
    with client(root) as made:
        schema = openapi.from_asgi("/openapi.json", made.app, headers={"Host": HOST})
        found = [one.ok() for one in schema.get_all_operations() if isinstance(one, Ok)]
        yield {operation.label: operation for operation in found}


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["right", "wrong"])
@pytest.mark.parametrize("label", LABELS)
def test_no_request_meets_a_fault_and_answers_are_as_described(
    described: dict[str, Any], label: str, mode: GenerationMode, full: bool
) -> None:
    @hypothesis.settings(
        max_examples=100 if full else 3, deadline=None, database=None, derandomize=True, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @hypothesis.given(case=described[label].as_strategy(generation_mode=mode))
    def holds(case: Any) -> None:
        sent = {name: value for name, value in (case.headers or {}).items() if name.lower() not in ("authorization", "host")}
        hypothesis.assume(all(value.isascii() for value in sent.values()))
        answer = case.call(headers={**sent, "Authorization": f"Bearer {TOKEN}", "Host": HOST})
        checks = list(ALWAYS)
        if answer.status_code not in (413, 431):
            # A body, an address or headers may be wrong and too large at once.
            checks.append(negative_data_rejection)
        case.validate_response(answer, checks=checks)

    try:
        holds()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE, "there is a right request for every operation"
        assert "{" not in label and "?" not in label, "only what takes no value cannot be asked wrongly"

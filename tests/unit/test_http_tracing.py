"""Spans of the service, by the conventions for generative AI: ids and counts, never texts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from tests.rest import client

AGENT = "/v1/agents/ops"
OURS = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture(scope="session")
def exporter() -> InMemorySpanExporter:
    """What an operator's SDK would be sent. A process has one provider, and it stays."""
    made = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(made))
    trace.set_tracer_provider(provider)
    return made


@pytest.fixture(autouse=True)
def fresh(exporter: InMemorySpanExporter) -> Iterator[None]:
    exporter.clear()
    yield


def named(exporter: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in exporter.get_finished_spans()}


def test_verbs_are_spans_with_ids_and_counts_and_without_texts(tmp_path: Path, exporter: InMemorySpanExporter) -> None:
    with client(tmp_path) as web:
        entry = web.post(f"{AGENT}/entries", json={"text": "Log files may be deleted after seven days."}).json()["id"]
        web.post(f"{AGENT}/search", json={"query": "may log files be deleted", "k": 4})
        ticket = web.post(f"{AGENT}/decisions", json={"query": "May log files be deleted?"}).json()["id"]
        web.post(f"{AGENT}/decisions/{ticket}/settlement", json={"delta": 1})
        web.patch(f"{AGENT}/entries/{entry}", json={"importance": 0.9})
        web.delete(f"{AGENT}/entries/{entry}", params={"reason": "a secret reason"})
        web.get("/v1/session")
    spans = exporter.get_finished_spans()
    assert [span.name for span in spans] == [
        "create_memory ops", "search_memory ops", "search_memory ops", "earnest.settle ops", "update_memory ops", "delete_memory ops",
    ]  # fmt: skip
    create, search, decide, settle, _, delete = (dict(span.attributes or {}) for span in spans)
    assert create["gen_ai.operation.name"] == "create_memory" and create["gen_ai.memory.record.id"] == entry
    assert search["gen_ai.retrieval.top_k"] == 4 and search["gen_ai.memory.record.count"] == 1
    assert decide["earnest.ticket.id"] == settle["earnest.ticket.id"] == ticket and decide["earnest.silent"] is False
    assert "gen_ai.operation.name" not in settle
    assert delete["gen_ai.memory.record.id"] == entry and delete["gen_ai.memory.store.id"] == "ops"
    for span in spans:
        assert (span.attributes or {})["gen_ai.provider.name"] == "earnest"
        assert "Log files" not in span.to_json() and "secret" not in span.to_json()


def test_a_span_stands_under_its_callers(tmp_path: Path, exporter: InMemorySpanExporter) -> None:
    with client(tmp_path) as web:
        web.post(f"{AGENT}/search", json={"query": "logs"}, headers={"traceparent": OURS})
        web.post(f"{AGENT}/search", json={"query": "logs"}, headers={"traceparent": "nonsense"})
    first, second = exporter.get_finished_spans()
    assert first.parent is not None and f"{first.context.trace_id:032x}" == OURS.split("-")[1]
    assert second.parent is None


def test_a_refusal_is_named_and_is_no_failure_of_the_service(tmp_path: Path, exporter: InMemorySpanExporter) -> None:
    (tmp_path / "broken.db").write_bytes(b"no store " * 100)
    with client(tmp_path) as web:
        web.post("/v1/agents/ghost/decisions/t1/settlement", json={"delta": 1})
        web.post("/v1/agents/broken/search", json={"query": "private words"})
    spans = named(exporter)
    refused, broken = spans["earnest.settle ghost"], spans["search_memory broken"]
    assert (refused.attributes or {})["error.type"] == "not-found" and refused.status.status_code is not StatusCode.ERROR
    assert (broken.attributes or {})["error.type"] == "StoreCorrupt" and broken.status.status_code is StatusCode.ERROR
    assert "private" not in broken.to_json() and str(tmp_path) not in broken.to_json()

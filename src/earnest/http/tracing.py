"""Spans by OpenTelemetry's conventions for generative AI, where the extra `otel` is installed; nothing at all where it is not.

Names of operations and attributes follow the GenAI semantic conventions for memory, version 0.1.0 (in development). What they do not
know, such as settling, is named under `earnest.`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from earnest.http.operations import Operation, Reply
from earnest.http.problems import Problem

Tell = Callable[[Any, Any], None]
"""Takes the request's body and what the verb gave back, and notes counts and ids of them."""

_THERE = find_spec("opentelemetry") is not None


@contextmanager
def traced(operation: Operation, values: Mapping[str, str], parent: str | None) -> Iterator[Tell]:
    """A span around one operation, under the caller's `traceparent` if there is one. It holds ids and counts, never texts."""
    if not _THERE or not operation.span:
        yield _nothing
        return
    from opentelemetry import trace
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    context = TraceContextTextMapPropagator().extract({"traceparent": parent}) if parent else None
    agent = values.get("agent")
    attributes = {"gen_ai.provider.name": "earnest", "http.route": operation.path, "http.request.method": operation.method}
    if not operation.span.startswith("earnest."):
        attributes["gen_ai.operation.name"] = operation.span
    for name, step in (("gen_ai.memory.store.id", "agent"), ("gen_ai.memory.record.id", "entry"), ("earnest.ticket.id", "ticket")):
        if step in values:
            attributes[name] = values[step]
    tracer = trace.get_tracer("earnest.http")
    with tracer.start_as_current_span(
        operation.span if agent is None else f"{operation.span} {agent}",
        context,
        kind=trace.SpanKind.INTERNAL,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:

        def tell(body: Any, made: Any) -> None:
            for name, value in _told(body, made.value if isinstance(made, Reply) else made).items():
                span.set_attribute(name, value)

        try:
            yield tell
        except Problem as problem:
            span.set_attribute("error.type", problem.kind)
            raise
        except BaseException as error:
            # A refusal is an answer; what else goes wrong is marked by its class, since texts of errors may hold what was asked.
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(trace.StatusCode.ERROR)
            raise


def _nothing(_: Any, __: Any) -> None:
    """Where nobody traces, nothing is noted."""


def _told(body: Any, made: Any) -> dict[str, str | int | bool]:
    """Numbers and ids of a request and its result."""
    said: dict[str, str | int | bool] = {}
    if isinstance(most := getattr(body, "k", None), int):
        said["gen_ai.retrieval.top_k"] = most
    items = getattr(made, "items", None) or getattr(made, "entries", None)
    if isinstance(items, list | tuple):
        said["gen_ai.memory.record.count"] = len(items)
    if isinstance(silent := getattr(made, "silent", None), bool):
        said["earnest.silent"] = silent
    if isinstance(ticket := getattr(made, "id", None) if hasattr(made, "holdout") else getattr(made, "ticket", None), str):
        said["earnest.ticket.id"] = ticket
    elif isinstance(name := getattr(made, "id", None), str):
        said["gen_ai.memory.record.id"] = name
    return said

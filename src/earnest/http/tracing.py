"""Spans by OpenTelemetry's conventions for generative AI, where the extra `otel` is installed; nothing at all where it is not.

Names of operations and attributes follow the GenAI semantic conventions for memory, version 0.1.0 (in development). What they do not
know, such as settling, is named under `earnest.`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from earnest.http.operations import Operation
from earnest.http.problems import Problem

_THERE = find_spec("opentelemetry") is not None


@contextmanager
def traced(operation: Operation, agent: str | None, parent: str | None) -> Iterator[None]:
    """A span around one operation, under the caller's `traceparent` if there is one. Holds ids, never texts."""
    if not _THERE or not operation.span:
        yield
        return
    from opentelemetry import trace
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    context = TraceContextTextMapPropagator().extract({"traceparent": parent}) if parent else None
    known = not operation.span.startswith("earnest.")
    attributes = {"gen_ai.provider.name": "earnest", "http.route": operation.path}
    if known:
        attributes["gen_ai.operation.name"] = operation.span
    if agent is not None:
        attributes["gen_ai.memory.store.id"] = agent
    name = f"{operation.span} {agent}" if agent is not None else operation.span
    tracer = trace.get_tracer("earnest.http")
    with tracer.start_as_current_span(
        name, context, kind=trace.SpanKind.INTERNAL, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as span:
        try:
            yield
        except Problem as problem:
            span.set_attribute("error.type", problem.kind)
            raise
        except BaseException as error:
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(trace.StatusCode.ERROR)
            raise

"""Errors as answers: problem details (RFC 9457) that name the field, and leak neither paths nor traces."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError
from starlette.responses import Response

from earnest.errors import (
    BudgetSpent,
    EarnestError,
    EmbedderFailed,
    IndexDamaged,
    InvalidInput,
    KeyReused,
    ModelFailed,
    NotAllowed,
    NotAvailable,
    NothingMeasured,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreTooNew,
    UnknownEntry,
    UnknownEvent,
    WrongAgent,
)

LOG: Final = logging.getLogger("earnest.http")
MEDIA: Final = "application/problem+json"
KIND: Final = "urn:earnest:problem:"

TITLES: Final[Mapping[str, str]] = {
    "bad-request": "The request is malformed",
    "no-token": "A bearer token is needed",
    "forbidden": "This is not allowed",
    "not-found": "There is no such thing",
    "no-such-method": "This path does not know that method",
    "conflict": "The present state forbids it",
    "key-reused": "The idempotency key belongs to another request",
    "too-large": "The request is too large",
    "not-json": "The body must be JSON",
    "wrong-host": "This service does not answer to that name",
    "invalid-input": "A value cannot be used",
    "too-many": "Too many requests",
    "fault": "This is a fault in Earnest",
    "busy": "Try again soon",
    "store": "The store cannot be used",
    "not-available": "A part that was asked for is not there",
    "headers-too-large": "The headers are too large",
}
"""What each kind of problem is called."""


class Problem(Exception):
    """A refusal, with all that its answer says. `field` names the value that was wrong; `errors` lists all of them."""

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        *,
        field: str | None = None,
        errors: Sequence[Mapping[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.kind, self.detail, self.field = status, kind, detail, field
        self.errors = [*errors]
        self.headers = dict(headers or {})

    def body(self) -> dict[str, Any]:
        """The problem as RFC 9457 has it, with `field` and `errors` beside where a value was wrong."""
        made: dict[str, Any] = {
            "type": KIND + self.kind,
            "title": TITLES[self.kind],
            "status": self.status,
            "detail": self.detail,
        }
        if self.field is not None:
            made["field"] = self.field
        if self.errors:
            made["errors"] = self.errors
        return made

    def response(self) -> Response:
        """The answer that says it."""
        said = json.dumps(self.body(), ensure_ascii=True).encode("ascii")
        return Response(said, self.status, {"cache-control": "no-store", **self.headers}, media_type=MEDIA)


_PLAIN: Final[tuple[tuple[type[StoreError], int, str, str], ...]] = (
    (StoreBusy, 503, "busy", "another writer held the store for too long; nothing was recorded, repeat the request with the same key"),
    (StoreFull, 503, "store", "the disk is full; nothing was recorded, make room and repeat the request with the same key"),
    (StoreReadOnly, 503, "store", "the store may not be written; nothing was recorded"),
    (StoreTooNew, 503, "store", "the store was written by a later Earnest; upgrade the service"),
    (IndexDamaged, 503, "store", "the keyword index cannot be trusted; the entries are whole, `earnest check --repair` mends it"),
    (StoreCorrupt, 503, "store", "the store is damaged; the service's log has the details"),
    (WrongAgent, 409, "conflict", "the store belongs to another agent"),
    (StoreError, 503, "store", "the store cannot be used; nothing was recorded, the service's log has the details"),
)
"""What is said of a store's errors, whose own texts name files of this machine: those go to the log."""


def problem_of(error: EarnestError) -> Problem:
    """What a typed error of the façade is over HTTP."""
    if isinstance(error, InvalidInput):
        said = [{"field": error.name, "reason": error.reason}]
        return Problem(422, "invalid-input", str(error), field=error.name, errors=said)
    if isinstance(error, UnknownEntry | UnknownEvent):
        return Problem(404, "not-found", str(error))
    if isinstance(error, KeyReused):
        return Problem(409, "key-reused", str(error), field="Idempotency-Key")
    if isinstance(error, NotAllowed):
        return Problem(409, "conflict", str(error))
    if isinstance(error, NotAvailable):
        return Problem(409, "not-available", str(error))
    if isinstance(error, BudgetSpent):
        return Problem(409, "not-available", str(error))
    if isinstance(error, ModelFailed):
        LOG.warning("the model failed: %s", error)
        return Problem(503, "busy", "the language model failed; ask without one, or later", headers={"retry-after": "30"})
    if isinstance(error, NothingMeasured):
        return Problem(409, "conflict", str(error))
    if isinstance(error, EmbedderFailed):
        LOG.warning("the embedder failed: %s", error)
        return Problem(503, "busy", "the embedder failed; ask again with mode=keyword, or later", headers={"retry-after": "5"})
    for kind, status, name, detail in _PLAIN:
        if isinstance(error, kind):
            LOG.warning("%s: %s", type(error).__name__, error)
            return Problem(status, name, detail, headers={"retry-after": "1"} if status == 503 else None)
    LOG.error("%s: %s", type(error).__name__, error)
    return Problem(500, "fault", "the service's log has the details")


def unusable(error: ValidationError, *, what: str) -> Problem:
    """Values that do not have the form that the operation documents."""
    errors = []
    for one in error.errors(include_url=False, include_input=False):
        place = ".".join(str(step) for step in one["loc"]) or what
        errors.append({"field": place, "reason": _plainer(one["type"], one["msg"], one.get("ctx", {}))})
    first = errors[0]
    return Problem(422, "invalid-input", f"{first['field']}: {first['reason']}", field=first["field"], errors=errors[:20])


_REASONS: Final[Mapping[str, str]] = {
    "extra_forbidden": "is not known here",
    "missing": "is missing",
    "string_type": "must be text",
    "string_too_short": "is blank; give it some words",
    "string_too_long": "is too long; at most {max_length:,} characters are kept",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number of a reasonable size",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "greater_than": "must be more than {gt:,}",
    "greater_than_equal": "must be at least {ge:,}",
    "less_than": "must be less than {lt:,}",
    "less_than_equal": "must be at most {le:,}",
    "list_type": "must be a list",
    "too_short": "must hold at least {min_length:,}; here are {actual_length:,}",
    "too_long": "must hold at most {max_length:,}",
    "dict_type": "must be a JSON object",
    "model_type": "must be a JSON object",
    "model_attributes_type": "must be a JSON object",
}
"""What is said of a value, in the words that the library has for it, by the kind of fault that pydantic finds."""


def _plainer(kind: str, message: str, limits: Mapping[str, Any]) -> str:
    if kind == "literal_error":
        return "must be one of " + str(limits["expected"]).replace("'", "").replace(" or ", ", ")
    said = _REASONS.get(kind)
    if said is None:
        return message[:1].lower() + message[1:]
    return said.format(**{name: int(n) if isinstance(n, float) and n.is_integer() else n for name, n in limits.items()})


def fault() -> Response:
    """The answer to a request that met a fault of ours; the trace is in the log alone."""
    said = "the service's log has the details; repeating the request with the same key is safe"
    # The server ends the connection after a fault: a client that was not told would send its next request into nothing.
    return Problem(500, "fault", said, headers={"connection": "close"}).response()

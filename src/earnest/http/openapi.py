"""The service's description in OpenAPI 3.1, made from the same table that requests are routed by."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema

from earnest import __version__
from earnest.http.operations import Operation
from earnest.http.problems import MEDIA

_REF: Final = "#/components/schemas/{model}"

LONGEST_KEY: Final = 150
"""Characters of an idempotency key: bulk verbs add to it."""

PATH_VALUES: Final[Mapping[str, Mapping[str, Any]]] = {
    "agent": {
        "description": "whose memory it is", "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"^[^/\\]+$"},
    },
    "entry": {"description": "an entry's id", "schema": {"type": "string", "minLength": 1, "maxLength": 200}},
    "ticket": {"description": "a ticket's id", "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,100}$"}},
    "event": {"description": "an event's number", "schema": {"type": "integer", "minimum": 0, "maximum": 10**18 - 1}},
    "meter": {"description": "a meter's name", "schema": {"type": "string", "minLength": 1, "maxLength": 100}},
    "rule": {"description": "a rule's id", "schema": {"type": "string", "minLength": 1, "maxLength": 200}},
}  # fmt: skip
"""The open steps of paths."""

SAID: Final[Mapping[int, str]] = {
    200: "Done", 201: "Made", 400: "The request is malformed", 401: "A bearer token is needed", 403: "The token does not allow it",
    404: "There is no such thing", 405: "The path does not know that method", 408: "The body did not arrive",
    409: "The present state forbids it", 413: "The request is too large", 415: "The body must be JSON",
    422: "A value cannot be used; `field` names it",
    429: "Too many requests; Retry-After says when", 431: "The address and the headers are too large", 500: "A fault of the service",
    503: "Not now; Retry-After says when",
}  # fmt: skip

_PROBLEM: Final[dict[str, Any]] = {
    "title": "Problem",
    "description": "Problem details (RFC 9457).",
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "description": "what kind of problem it is, as a URN"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "what was wrong, why, and the way out"},
        "field": {"type": "string", "description": "the value that was wrong"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "reason"],
                "properties": {"field": {"type": "string"}, "reason": {"type": "string"}},
            },
        },
    },
}
_KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "the same request with the same key is carried out once",
    "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": r"^[!-~]+( [!-~]+)*$"},
}


def described(operations: Iterable[Operation]) -> dict[str, Any]:
    """The description. Costs some tens of milliseconds; the result is kept by the caller."""
    table = [*operations]
    schemas, names = _schemas(table)
    paths: dict[str, dict[str, Any]] = {}
    for operation in table:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _one(operation, names)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Earnest",
            "version": __version__,
            "summary": "Long-term memory for LLM agents in which every memory has to earn its keep.",
            "description": "Energy and balances are in micro-units: 1,000,000 are 1 energy. Times are ISO 8601 in UTC.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "paths": paths,
        "components": {
            "schemas": {**schemas, "Problem": _PROBLEM},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
        "tags": [{"name": theme} for theme in dict.fromkeys(operation.theme for operation in table)],
    }


def _one(operation: Operation, names: Mapping[Any, str]) -> dict[str, Any]:
    made: dict[str, Any] = {"operationId": operation.name, "summary": operation.summary, "tags": [operation.theme]}
    if operation.who == "open":
        made["security"] = []
    if operation.who == "operator":
        made["description"] = "For an operator's token alone."
    parameters = [{"name": step[1:-1], "in": "path", "required": True, **PATH_VALUES[step[1:-1]]} for step in _open_steps(operation.path)]
    parameters += _query(operation.query)
    if operation.keyed:
        parameters.append(_KEY)
    if parameters:
        made["parameters"] = parameters
    if operation.body is not None:
        made["requestBody"] = {"required": True, "content": {"application/json": {"schema": _pointer(names[operation.body])}}}
    made["responses"] = {}
    for status in (operation.status, *operation.also):
        made["responses"][str(status)] = {"description": SAID[status], **_content(operation, names)}
    for status in sorted(refusals(operation)):
        made["responses"][str(status)] = {"description": SAID[status], "content": {MEDIA: {"schema": _pointer("Problem")}}}
    return made


def refusals(operation: Operation) -> set[int]:
    """The statuses that an operation may refuse a request with."""
    made = {400, 431, 500, 503, *operation.failures}
    if operation.who != "open":
        made |= {401, 403, 429}
    if operation.body is not None or operation.method == "DELETE":
        made |= {408, 413, 415}
    if operation.body is not None or operation.query is not None or operation.about_agent:
        made.add(422)
    if operation.access == "write":
        # An agent whom nobody made.
        made.add(404)
    if operation.keyed:
        made.add(409)
    return made


def _content(operation: Operation, names: Mapping[Any, str]) -> dict[str, Any]:
    if operation.answers is None:
        return {}
    if operation.answers is bytes:
        return {"content": {media: {"schema": {"type": "string"}} for media in ("application/x-ndjson", "text/markdown")}}
    if operation.answers is str:
        return {"content": {"text/plain": {"schema": {"type": "string"}}}}
    schema = {"type": "object"} if operation.answers is dict else _pointer(names[operation.answers])
    return {"content": {"application/json": {"schema": schema}}}


def _pointer(name: str) -> dict[str, str]:
    return {"$ref": _REF.format(model=name)}


def _open_steps(path: str) -> list[str]:
    return [step for step in path.split("/") if step.startswith("{")]


def _query(model: type[BaseModel] | None) -> list[dict[str, Any]]:
    if model is None:
        return []
    schema = model.model_json_schema(ref_template=_REF)
    made = []
    for name, said in schema.get("properties", {}).items():
        options = [one for one in said.get("anyOf", [said]) if one.get("type") != "null"]
        [kept] = options if len(options) == 1 else [{"anyOf": options}]
        kept = {key: value for key, value in kept.items() if key not in ("title", "default")}
        if said.get("default") is not None:
            kept["default"] = said["default"]
        one: dict[str, Any] = {"name": name, "in": "query", "required": name in schema.get("required", ()), "schema": kept}
        if "description" in kept or "description" in said:
            one["description"] = kept.pop("description", said.get("description"))
        made.append(one)
    return made


def _schemas(table: Iterable[Operation]) -> tuple[dict[str, Any], dict[Any, str]]:
    """Every schema by its name, and the names of bodies and answers."""
    bodies = list(dict.fromkeys(operation.body for operation in table if operation.body is not None))
    answers = list(dict.fromkeys(operation.answers for operation in table if operation.answers not in (None, str, dict, bytes)))
    _, of_bodies = models_json_schema([(body, "validation") for body in bodies], ref_template=_REF)
    _, of_answers = TypeAdapter.json_schemas([(answer, "serialization", TypeAdapter(answer)) for answer in answers], ref_template=_REF)
    made: dict[str, Any] = {name: _may_lack(schema) for name, schema in of_bodies.get("$defs", {}).items()}
    for name, schema in of_answers.get("$defs", {}).items():
        assert name not in made, f"{name} is a body and an answer"
        if schema.get("type") == "object" and "properties" in schema:
            # Every field is always sent.
            schema["required"] = [*schema["properties"]]
        made[name] = schema
    names = {kind: kind.__name__ for kind in (*bodies, *answers)}
    for name in names.values():
        assert name in made, f"{name} has no schema"
    return {name: _plain(made[name]) for name in sorted(made)}, names


def _may_lack(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a body, with what stands for an absent field said in words: generators of clients take `default` for "always there"."""
    for field in schema.get("properties", {}).values():
        absent = field.pop("default", None)
        if absent not in (None, "", [], {}):
            told = f"{json.dumps(absent)} unless given"
            field["description"] = f"{field['description']}; {told}" if "description" in field else told
    return schema


def _plain(schema: Any, *, named: bool = False) -> Any:
    """A schema without the titles that repeat its fields' names, and with pairs as lists of two, which every generator of clients knows."""
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _plain(value, named=key == "properties") for key, value in schema.items() if named or key != "title"}
    if "prefixItems" in made and not named:
        parts = made.pop("prefixItems")
        made["items"] = {"anyOf": [part for place, part in enumerate(parts) if part not in parts[:place]]}
    return made

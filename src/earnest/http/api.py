"""From a request to a verb and back: find the operation, read the body, borrow the memory, carry it out in a thread, encode."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Hashable, Mapping
from functools import cache
from typing import IO, Any, Final, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from earnest.core.acting import acting
from earnest.errors import EarnestError
from earnest.http.memories import checked_agent
from earnest.http.openapi import LONGEST_KEY
from earnest.http.operations import Call, Operation, Reply
from earnest.http.problems import Problem, problem_of, unusable
from earnest.http.routing import query_values
from earnest.http.service import Service
from earnest.http.tokens import Grant
from earnest.http.tracing import traced

_KEY: Final = re.compile(r"[!-~]+(?: [!-~]+)*")

_PIECE: Final = 256 * 1024

CHANNEL: Final = "earnest-channel"
"""A header in which the dashboard says that a person is at work; only an operator's token may."""


class Api:
    """The ASGI application behind the guard."""

    def __init__(self, service: Service, *, pages: ASGIApp | None = None, mounts: Mapping[str, ASGIApp] | None = None) -> None:
        """`pages` answers what is no operation; `mounts` answer what lies under their paths."""
        self._service, self._pages, self._mounts = service, pages, dict(mounts or {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, counted."""
        service, path = self._service, scope["path"]
        begun, status, route = time.perf_counter(), 0, "other"

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
            await send(message)

        service.requests.running += 1
        try:
            found = service.router.find(scope["method"], scope.get("raw_path") or path.encode("utf-8"))
            if found is not None:
                route = found.operation.path
                response = await self._answered(Request(scope, receive), found.operation, found.values)
                await response(scope, receive, sent)
                return
            mount = next((place for place in self._mounts if path == place or path.startswith(place + "/")), None)
            if mount is not None:
                route = mount
                await self._mounts[mount](scope, receive, sent)
            elif self._pages is not None and not path.startswith("/v1/"):
                route = "pages"
                await self._pages(scope, receive, sent)
            else:
                raise Problem(404, "not-found", "there is nothing at this path; /openapi.json lists what there is")
        except Problem as problem:
            status = problem.status
            raise
        except EarnestError as error:
            refused = problem_of(error)
            status = refused.status
            raise refused from error
        finally:
            service.requests.running -= 1
            service.requests.add(route, scope["method"], status or 500, time.perf_counter() - begun)

    async def _answered(self, request: Request, operation: Operation, values: Mapping[str, str]) -> Response:
        service = self._service
        grant: Grant = request.scope["state"].get("grant") or _NOBODY
        channel = _channel(request, grant)
        _allowed(operation, grant, values)
        query = _query(operation, request.scope["query_string"])
        body = None if operation.body is None else _body(operation.body, await self._read(request))
        key = _key(request) if operation.keyed else None
        parent = request.headers.get("traceparent")
        agent = checked_agent(values["agent"]) if operation.about_agent else ""

        def carry_out() -> Response:
            with traced(operation, values, parent) as tell, acting(grant.name, channel):
                if not operation.about_agent:
                    return _encoded(operation, operation.do(Call(grant, values, query, body, key, service=service)))
                there = service.memories.there(agent)
                if operation.access == "write" and not there:
                    raise Problem(404, "not-found", f"agent {agent!r} has no memory here; adding an entry makes it", field="agent")
                with service.memories.lent(agent, make=operation.access == "make") as memory:
                    made = operation.do(Call(grant, values, query, body, key, there, service, memory))
                    tell(body, made)
                    return _encoded(operation, made)

        if operation.slow or getattr(body, "llm", False) or getattr(body, "extract", "") == "llm":
            return await service.slow.run(carry_out, seconds=service.limits.slow, of=agent)
        return await service.workers.run(carry_out, seconds=service.limits.verb, of=agent)

    async def _read(self, request: Request) -> bytes:
        try:
            async with asyncio.timeout(self._service.limits.receive):
                return await request.body()
        except TimeoutError:
            said = f"the body did not arrive within {self._service.limits.receive:g} s"
            raise Problem(408, "bad-request", said, headers={"connection": "close"}) from None


_NOBODY: Final = Grant("", "nobody")


def _channel(request: Request, grant: Grant) -> str:
    wanted = request.headers.get(CHANNEL)
    if wanted is None or wanted == grant.channel:
        return grant.channel
    if wanted != "dashboard" or not grant.operator:
        raise Problem(403, "forbidden", "this token may not speak on that channel", field="Earnest-Channel")
    return wanted


def _allowed(operation: Operation, grant: Grant, values: Mapping[str, str]) -> None:
    if operation.who == "open":
        return
    if operation.about_agent and not grant.allows(checked_agent(values["agent"])):
        # Told before it is looked whether there is such an agent.
        raise Problem(403, "forbidden", "this token may not speak for that agent", field="agent")
    if operation.who == "operator" and not grant.operator:
        raise Problem(403, "forbidden", "this takes an operator's token: it changes whom memory trusts")
    if grant.read_only and operation.access != "read":
        raise Problem(403, "forbidden", "this token may only read")


def _query(operation: Operation, raw: bytes) -> BaseModel | None:
    given = query_values(raw)
    if operation.query is None:
        if given:
            name = next(iter(given))
            raise Problem(422, "invalid-input", f"{name}: is not known here", field=name)
        return None
    fields = operation.query.model_fields
    values: dict[str, Any] = {}
    for name, said in given.items():
        several = name in fields and _several(_kind(fields[name]))
        if len(said) > 1 and not several:
            raise Problem(422, "invalid-input", f"{name}: is given {len(said)} times; once is enough", field=name)
        values[name] = said if several else said[0]
    try:
        return operation.query.model_validate(values)
    except ValidationError as error:
        raise unusable(error, what="query") from None


def _kind(field: FieldInfo) -> Any:
    return field.annotation


@cache
def _several(annotation: Hashable) -> bool:
    """Whether a value is a list."""
    return get_origin(annotation) is list or any(_several(part) for part in getattr(annotation, "__args__", ()))


def _body(model: type[BaseModel], raw: bytes) -> BaseModel:
    try:
        # Bytes that are no UTF-8 and numbers of absurd length are errors of value as well.
        given = json.loads(raw.decode("utf-8"), parse_constant=_no_constant)
    except RecursionError:
        raise Problem(422, "invalid-input", "the body is nested too deeply", field="body") from None
    except ValueError as error:
        said = "a JSON body is needed; send {} where there is nothing to say" if not raw else f"the body is no JSON: {error}"
        raise Problem(422, "invalid-input", said[:300], field="body") from None
    try:
        if b"\\u" in raw:
            given = _whole(given)
        return model.model_validate(given)
    except ValidationError as error:
        raise unusable(error, what="body") from None
    except RecursionError:
        raise Problem(422, "invalid-input", "the body is nested too deeply", field="body") from None


def _whole(value: Any) -> Any:
    """A value in whose texts halves of pairs, which escapes can leave, are replacement characters, as everywhere in Earnest."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(name): _whole(item) for name, item in value.items()}
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number in strict JSON")


def _key(request: Request) -> str | None:
    given = request.headers.getlist("idempotency-key")
    if len(given) > 1:
        raise Problem(422, "invalid-input", "Idempotency-Key: is given more than once", field="Idempotency-Key")
    if given and not (_KEY.fullmatch(given[0]) and len(given[0]) <= LONGEST_KEY):
        said = f"Idempotency-Key: must be 1 to {LONGEST_KEY} printable ASCII characters"
        raise Problem(422, "invalid-input", said, field="Idempotency-Key")
    return given[0] if given else None


class _Sent(StreamingResponse):
    """A file, sent piece by piece, and closed whether or not somebody took it all."""

    def __init__(self, file: IO[bytes], status: int, headers: Mapping[str, str]) -> None:
        super().__init__(iter(lambda: file.read(_PIECE), b""), status, headers)
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._file.close()


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _encoded(operation: Operation, made: Any) -> Response:
    reply = made if isinstance(made, Reply) else Reply(made)
    status = reply.status or operation.status
    if operation.answers is str:
        return Response(reply.value, status, dict(reply.headers), media_type=reply.headers.get("content-type", "text/plain"))
    if operation.answers is bytes:
        return _Sent(reply.value, status, dict(reply.headers))
    if operation.answers is dict:
        body = json.dumps(reply.value, allow_nan=False).encode("utf-8")
    else:
        body = _adapter(operation.answers).dump_json(reply.value)
    return Response(body, status, dict(reply.headers), media_type="application/json")

"""What an operation of the service is: a row that the router, the documentation and the tests are all made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel

from earnest.http.problems import Problem
from earnest.http.tokens import Grant
from earnest.memory import Memory

Access = Literal["read", "write", "make"]
"""What an operation does with an agent's store: reads it, changes one that is there, or makes it if it is not there."""

Who = Literal["open", "anyone", "operator"]
"""Who may call it: everybody without a token, every token that the agent's name allows, or an operator's token alone."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request, parsed: the memory that it is about, the values of the path, the checked query and body, and its idempotency key.

    Operations that are about no agent have no memory; `service` is then what they ask.
    """

    grant: Grant
    path: Mapping[str, str]
    query: Any = None
    body: Any = None
    key: str | None = None
    there: bool = True
    service: Any = None
    opened: Memory | None = None

    @property
    def memory(self) -> Memory:
        """The agent's memory; that of an agent whom nobody made is empty, and kept nowhere."""
        assert self.opened is not None, "this operation is about no agent"
        return self.opened

    def number(self, name: str) -> int:
        """A whole number from the path."""
        word = self.path[name]
        if not (word.isascii() and word.isdecimal() and len(word) <= 18):
            raise Problem(422, "invalid-input", f"{name}: must be a whole number", field=name)
        return int(word)


@dataclass(frozen=True, slots=True)
class Reply:
    """What an operation answers where it is more than a value: another status, or headers."""

    value: Any
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path.

    `answers` is the type of the answer, which the documentation's schema is made of; None for an answer without a body. `failures`
    are the statuses of refusals beyond those that every operation has; `also` other statuses of success with the same body. A `slow`
    one reads a whole store or asks a model: it has threads of its own, so that the others do not wait for it. `span` is the
    operation's name by OpenTelemetry's conventions for memory, "" for one that they do not know.
    """

    method: str
    path: str
    name: str
    summary: str
    do: Callable[[Call], Any]
    answers: Any
    body: type[BaseModel] | None = None
    query: type[BaseModel] | None = None
    access: Access = "read"
    who: Who = "anyone"
    status: int = 200
    also: tuple[int, ...] = ()
    failures: tuple[int, ...] = ()
    keyed: bool = False
    slow: bool = False
    span: str = ""
    theme: str = ""

    @property
    def about_agent(self) -> bool:
        """Whether the operation is about one agent's memory."""
        return self.path.startswith("/v1/agents/{agent}")

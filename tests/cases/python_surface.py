"""The library as a surface: one `Memory` for each agent, kept open until the case reopens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from earnest import Memory
from earnest.core import fading
from earnest.errors import EarnestError, NotAllowed
from earnest.testing import ManualClock

from .errors import kinds_of
from .model import Left, Refused
from .surface import Agent, plain


class PythonSurface:
    """See `Surface`. `channel` is how requests claim to come in; `in_memory` keeps everything in ":memory:"."""

    name = "python"

    def __init__(
        self, folder: Path, *, channel: str = "python", timeout: float | None = None, in_memory: bool = False, read_only: bool = False
    ) -> None:
        self.folder = folder
        self.timeout = timeout
        self._channel, self._in_memory, self._read_only = channel, in_memory, read_only
        self._open: dict[str, Memory] = {}
        self.embedder: Any = None
        """What a case brings to make texts comparable by meaning; the product's own choice unless it does."""
        self.clock: ManualClock | None = None
        """What a case moves; the machine's unless it does."""

    def memory(self, agent: Agent) -> Memory:
        """The agent's memory, opened on first use."""
        if not isinstance(agent, str | None):
            return self._opened(agent)  # refused, so that nothing is kept
        name = repr(agent)
        if name not in self._open:
            self._open[name] = self._opened(agent)
        return self._open[name]

    def _opened(self, agent: Agent) -> Memory:
        waits: dict[str, Any] = {} if self.timeout is None else {"timeout": self.timeout}
        return Memory.open(
            ":memory:" if self._in_memory else self.folder,
            agent,
            channel=self._channel,
            embedder=self.embedder,
            clock=self.clock,
            read_only=self._read_only,
            **waits,
        )

    def call(self, agent: Agent, verb: str, **arguments: Any) -> Any:
        """See `Surface.call`."""
        try:
            memory = self.memory(agent)
            special = _SPECIAL.get(verb)
            if special is not None:
                return plain(special(memory, **arguments))
            method = _method(memory, verb)
            made = method(**arguments)
        except EarnestError as error:
            if "not yet" in kinds_of(type(error)):
                raise Left("not yet", str(error)) from error
            raise Refused(kinds_of(type(error)), f"{type(error).__name__}: {error}") from error
        except (Left, Refused):
            raise
        except Exception as error:
            raise Refused(frozenset({"crash"}), f"{type(error).__name__}: {error}") from error
        return _landed(plain(made)) if verb == "settle" else plain(made)

    def reopen(self) -> None:
        """See `Surface.reopen`."""
        for memory in self._open.values():
            memory.close()
        self._open.clear()

    def close(self) -> None:
        """See `Surface.close`."""
        self.reopen()


def _method(memory: Memory, verb: str) -> Callable[..., Any]:
    target: Any = memory
    for part in verb.split("."):
        target = getattr(target, part, None)
        if target is None:
            raise Left("not yet", f"the library has no {verb}")
    made: Callable[..., Any] = target
    return made


def _landed(settlement: dict[str, Any]) -> dict[str, Any]:
    """A settlement that did not land is a refusal: of an unknown ticket, or of one that ended before."""
    if settlement["landed"]:
        return settlement
    kind = "not_found" if "not known" in settlement["reason"] else "conflict"
    raise Refused(frozenset({kind}), settlement["reason"], settlement)


def _search(memory: Memory, query: Any, **where: Any) -> list[dict[str, Any]]:
    return [{**plain(hit.entry), "score": hit.score, "why": hit.why} for hit in memory.search(query, **where)]


def _add(memory: Memory, **fields: Any) -> Any:
    if "text" not in fields:
        # Python itself refuses a call without its first argument; the door for dicts is where the product must.
        return memory.add_many([fields])[0]
    return memory.add(**fields)


def _repair(memory: Memory) -> Any:
    return memory.check(repair=True)


def _encode_files(memory: Memory, paths: list[str], prune: bool = False) -> Any:
    report = memory.encode_files(paths, prune=prune)
    if report.failed and len(report.failed) == len(paths):
        raise Refused(frozenset({"validation"}), report.failed[0].reason)
    return report


def _meter(memory: Memory, **fields: Any) -> Any:
    return memory.meters.add(**fields)


def _bind(memory: Memory, name: str, channel: str) -> Any:
    return memory.meters.bind(name, channel=channel)


def _backup(memory: Memory, path: str) -> Any:
    return str(memory.backup(path))


def _worth(memory: Memory, id: str) -> float:
    """What an entry is worth now, by the curve that the product documents."""
    entry, half_life = memory.get(id), memory.settings.decay_half_life
    began = fading.began(entry.created, entry.last_recalled, entry.valid_from)
    assert began is not None
    return fading.worth(entry.importance, fading.age_days(began, memory.now()), half_life, entry.strength)


def _link_all(memory: Memory, id: str, others: list[str]) -> int:
    """Link an entry with all these; how many of the links were refused."""
    refused = 0
    for other in others:
        try:
            memory.link(id, other)
        except NotAllowed:
            refused += 1
    return refused


_SPECIAL: dict[str, Callable[..., Any]] = {
    "search": _search,
    "worth": _worth,
    "link_all": _link_all,
    "add": _add,
    "repair": _repair,
    "encode_files": _encode_files,
    "meter": _meter,
    "bind": _bind,
    "backup": _backup,
}

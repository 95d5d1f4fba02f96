"""Bearer tokens: made by the operator, kept as salted digests in files of their own, compared in constant time."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from earnest.core import check
from earnest.core.ticket import CHANNEL_TIERS
from earnest.errors import InvalidInput, StoreError, shown
from earnest.files import replacing
from earnest.opening import agent_name
from earnest.protocols import Clock, Rng

FOLDER: Final = ".tokens"
"""Where a root folder keeps the digests of its tokens: one file each, for its owner alone."""

LEAST: Final = 16
"""Characters that a token from the environment must have."""

_PREFIX: Final = "earnest"
_ID: Final = re.compile(r"[a-z2-7]{16}")
_CHANNELS: Final = ("http", "dashboard")


@dataclass(frozen=True, slots=True)
class Grant:
    """What a token allows.

    `agent` is the only agent that it may speak for; None for all of them. An operator may also do what changes whom memory trusts:
    meters, settings, undoing, restoring, erasing. `channel` is how its requests are recorded, which decides what an unbound
    meter's word weighs.
    """

    id: str
    name: str
    agent: str | None = None
    operator: bool = False
    read_only: bool = False
    channel: str = "http"

    def allows(self, agent: str) -> bool:
        """Whether it may speak for an agent."""
        return self.agent is None or self.agent == agent


@dataclass(frozen=True, slots=True)
class TokenInfo:
    """What is told about a token: never the token."""

    id: str
    name: str
    agent: str | None
    operator: bool
    read_only: bool
    channel: str
    created: str


# Inside the class `list` is a verb.
_List = list


class Tokens:
    """The tokens of one service: those in its root folder, and those that the process was given."""

    def __init__(self, root: Path | None, *, given: Iterable[tuple[str, Grant]] = ()) -> None:
        """`given` are tokens that are kept nowhere, such as the one from the environment, with what each allows."""
        self._folder = None if root is None else root / FOLDER
        self._given = [(hashlib.sha256(token.encode("utf-8")).digest(), grant) for token, grant in given]
        self._known: dict[str, tuple[tuple[int, int, int], bytes, bytes, Grant]] = {}

    def any(self) -> bool:
        """Whether there is a token at all."""
        return bool(self._given) or bool(self._ids())

    def grant(self, token: str) -> Grant | None:
        """What a token allows; None for one that is unknown or was revoked. Costs two digests and one look at a file."""
        digest = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
        found: Grant | None = None
        for mine, grant in self._given:
            if hmac.compare_digest(mine, digest):
                found = grant
        if found is not None:
            return found
        parts = token.split("_")
        if self._folder is None or len(parts) != 3 or parts[0] != _PREFIX or not _ID.fullmatch(parts[1]):
            return None
        kept = self._kept(parts[1])
        if kept is None or not hmac.compare_digest(kept[1], _digest(kept[0], parts[2])):
            return None
        return kept[2]

    def make(
        self,
        name: str,
        *,
        agent: str | None = None,
        operator: bool = False,
        read_only: bool = False,
        channel: str = "http",
        clock: Clock,
        rng: Rng,
    ) -> str:
        """A new token, of 256 bits; this is the only time that it is told.

        Raises:
            InvalidInput: A name that is taken or cannot be used, neither an agent nor an operator, or a channel of another edge.
            StoreError: The folder cannot be written.

        Durable when it returns.
        """
        name = check.label("name", name, limit=100)
        owner = agent_name(agent)
        if owner is None and not operator:
            raise InvalidInput("agent", agent, "name the agent that the token speaks for, or make it an operator's")
        if owner is not None and operator:
            raise InvalidInput("agent", agent, "an operator's token speaks for every agent; leave the agent's name out")
        channel = check.label("channel", channel, limit=50)
        if channel in CHANNEL_TIERS and channel not in _CHANNELS:
            raise InvalidInput(
                "channel", channel, "belongs to another way in; choose a name of its own, such as http-ci, and bind a meter to it"
            )
        if channel == "dashboard" and not operator:
            raise InvalidInput("channel", channel, "is for an operator at the dashboard")
        if any(info.name == name for info in self.list()):
            raise InvalidInput("name", name, "is taken; revoke that token first, or choose another name")
        assert self._folder is not None, "tokens are made in a root folder"
        made, secret, salt = _text(rng, 10), _text(rng, 32), rng.token(16)
        kept = {
            "id": made, "name": name, "agent": owner, "operator": operator, "read_only": read_only, "channel": channel,
            "created": clock.now().isoformat(), "salt": salt.hex(), "digest": _digest(salt, secret).hex(),
        }  # fmt: skip
        _write(self._folder, made, kept)
        return f"{_PREFIX}_{made}_{secret}"

    def list(self) -> _List[TokenInfo]:
        """Every token of the folder, oldest first, without its secret."""
        found = []
        for name in self._ids():
            kept = self._read(name)
            if kept is not None:
                found.append(TokenInfo(**{field: kept[field] for field in TokenInfo.__dataclass_fields__}))
        return sorted(found, key=lambda info: (info.created, info.id))

    def revoke(self, name: str) -> TokenInfo:
        """End a token, by its name or id: from now on it allows nothing, in every running service.

        Raises:
            InvalidInput: There is none of that name.
        """
        for info in self.list():
            if name in (info.name, info.id):
                assert self._folder is not None
                (self._folder / f"{info.id}.json").unlink(missing_ok=True)
                return info
        raise InvalidInput("name", name, "there is no such token; `earnest serve token --list` shows the names")

    def _ids(self) -> _List[str]:
        if self._folder is None:
            return []
        try:
            return sorted(
                item.name.removesuffix(".json") for item in self._folder.iterdir() if _ID.fullmatch(item.name.removesuffix(".json"))
            )
        except OSError:
            return []

    def _kept(self, name: str) -> tuple[bytes, bytes, Grant] | None:
        """The salt, the digest and the grant of a token, read again only if its file changed."""
        assert self._folder is not None
        try:
            seen = os.stat(self._folder / f"{name}.json")  # noqa: PTH116 (with every request; a Path costs more)
        except OSError:
            self._known.pop(name, None)
            return None
        mark = (seen.st_mtime_ns, seen.st_ino, seen.st_size)
        known = self._known.get(name)
        if known is None or known[0] != mark:
            kept = self._read(name)
            if kept is None:
                return None
            grant = Grant(**{field: kept[field] for field in Grant.__dataclass_fields__})
            known = self._known[name] = (mark, bytes.fromhex(kept["salt"]), bytes.fromhex(kept["digest"]), grant)
        return known[1:]

    def _read(self, name: str) -> Mapping[str, Any] | None:
        """What a token's file says; None for one that is gone, damaged, or that others could have written."""
        assert self._folder is not None
        path = self._folder / f"{name}.json"
        try:
            if os.name == "posix" and path.stat().st_mode & 0o077:
                return None
            kept = json.loads(path.read_text(encoding="ascii"))
            datetime.fromisoformat(kept["created"])
            bytes.fromhex(kept["salt"] + kept["digest"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return kept if isinstance(kept, dict) and kept.get("id") == name and kept.keys() >= TokenInfo.__dataclass_fields__.keys() else None


def environment_token(value: str | None) -> list[tuple[str, Grant]]:
    """The operator's token that the environment names; none if it is not set.

    Raises:
        InvalidInput: It is too short to keep anybody out, or holds what no header can carry. Its text is not shown.
    """
    if not value:
        return []
    if len(value) < LEAST or not value.isascii() or not value.isprintable() or " " in value:
        raise InvalidInput("EARNEST_TOKEN", "…", f"must be at least {LEAST} printable ASCII characters without blanks")
    return [(value, Grant("environment", "EARNEST_TOKEN", operator=True))]


def passing_token(rng: Rng, grant: Grant) -> tuple[str, Grant]:
    """A token of 256 bits for one process alone, kept nowhere."""
    return f"{_PREFIX}_{_text(rng, 32)}", grant


def _digest(salt: bytes, secret: str) -> bytes:
    # The secret has 256 bits of chance: what makes guessing slow would only slow the service.
    return hashlib.sha256(salt + secret.encode("utf-8", "surrogateescape")).digest()


def _text(rng: Rng, size: int) -> str:
    return base64.b32encode(rng.token(size)).decode("ascii").rstrip("=").lower()


def _write(folder: Path, name: str, kept: Mapping[str, Any]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with replacing(folder / f"{name}.json", mode=0o600) as file:
            file.write(json.dumps(kept).encode("ascii"))
    except OSError as error:
        raise StoreError(f"{shown(str(folder))}: the token could not be kept ({error.strerror}); nothing was made") from error

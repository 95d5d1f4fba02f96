"""The command line as a surface: every call is a process of its own, and all that it says must be strict JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from earnest import Memory
from earnest.errors import InvalidInput
from earnest.opening import DEFAULT_AGENT, agent_name, file_name

from .errors import kinds_named
from .model import Left, Refused
from .surface import ROOT, Agent, environment, plain

FAULT = 70
_MAKING = frozenset({"sync_turn", "add", "add_many", "encode_files", "configure", "meter", "import_"})
_PLAIN = frozenset({"importance", "confidence", "kind", "scope", "cue", "retention", "valid_from", "valid_to", "key", "reason", "meter"})
_PLAIN |= {
    "scale",
    "hops",
    "standing",
    "detail",
    "slot",
    "expire_after",
    "unit",
    "tier",
    "since",
    "until",
    "as_of",
    "half_life",
    "floor",
    "after",
    "limit",
    "mode",
    "model",
}
_REPEATED = {"sources": "source", "source": "source", "tags": "tag"}


class CliSurface:
    """See `Surface`."""

    name = "cli"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.timeout: float | None = None
        self.started: dict[str, Any] = {}
        """How commands are started, beside what they always are: as `subprocess.run` takes it."""
        self.environ: dict[str, str] = {}

    def call(self, agent: Agent, verb: str, **arguments: Any) -> Any:
        """See `Surface.call`."""
        if verb not in _MAKING:
            self._present(agent)
        if verb == "add_many":
            # There is no such command: whatever fills a store for a case is not what the case is about.
            with Memory.open(self.folder, agent) as memory:
                return plain(memory.add_many(arguments["entries"]))
        if verb == "configure":
            for name, value in arguments.items():
                self._run(agent, "config", [name, _word(value)], {})
            return None
        if verb in ("meter", "bind"):
            words = ["add" if verb == "meter" else "bind", *(_word(arguments.pop(n)) for n in ("name", "channel") if n in arguments)]
            return self._run(agent, "meters", words, arguments)
        if verb.startswith("rules."):
            words = [verb.removeprefix("rules."), *(_word(arguments.pop(n)) for n in ("id",) if n in arguments)]
            made = self._run(agent, "rules", words, arguments)
            return made.get("rules", made)
        form = _FORMS.get(verb)
        if form is None:
            raise Left("not here", f"the command line has no {verb}")
        command, names, shape = form
        ids = {name: arguments.pop(name) for name in names if name in arguments}
        positional = [_word(value) for value in ids.values()]
        positional += [_word(name) for several in ("paths", "ids") for name in arguments.pop(several, [])]
        if not isinstance(ids.get("id", ""), str):
            raise Left("not here", "every word of a command line is text")
        if verb == "erase":
            arguments["yes"] = True
        if verb == "repair":
            arguments["repair"] = True
        if verb == "list":
            arguments.setdefault("limit", 100_000)
        if verb == "events":
            arguments["last"] = arguments.pop("limit", 1000)
        return self._shaped(agent, shape, self._run(agent, command, positional, arguments))

    def _present(self, agent: Agent) -> None:
        """Commands that only look make no store; a case that looks means an agent that is there, if with nothing to tell."""
        try:
            if not (self.folder / file_name(agent_name(agent) or DEFAULT_AGENT)).exists():
                Memory.open(self.folder, agent).close()
        except InvalidInput:
            return  # the command has to say so itself

    def _shaped(self, agent: Agent, shape: str, made: Any) -> Any:
        if shape == "hits":
            return [{**hit["entry"], "score": hit["score"], "why": hit["why"]} for hit in made["hits"]]
        if shape == "encoded":
            return {**made, "entries": [self.call(agent, "get", id=entry) for entry in made["entries"]]}
        if shape == "landed" and not made["landed"]:
            raise Refused(frozenset({"not_found" if "not known" in made["reason"] else "conflict"}), made["reason"], made)
        return made[shape] if shape in ("entries", "tickets", "events", "digest", "obituary", "abandoned", "path") else made

    def _run(self, agent: Agent, command: str, positional: list[str], options: dict[str, Any]) -> Any:
        words = [command, "--store", str(self.folder), *self._who(agent), "--json"]
        words += [] if self.timeout is None else ["--timeout", f"{self.timeout:g}"]
        for name, value in options.items():
            words += _option(name, value)
        code, out, err = self.raw(["--", *positional] if positional else [], words)
        return judged(code, out, err)

    def _who(self, agent: Agent) -> list[str]:
        return [] if agent is None else [f"--agent={_word(agent)}"]

    def raw(self, args: list[str], before: list[str] | None = None) -> tuple[int, str, str]:
        """Run a command on this store, as a person would type it unless `before` says how; gives status and both outputs."""
        words = [*(before or []), *args] if before is not None else [*args, "--store", str(self.folder)]
        return self.python("-m", "earnest", *words)

    def python(self, *words: str) -> tuple[int, str, str]:
        """Run this Python as commands are run; gives status and both outputs."""
        env = environment() | self.started.get("env", {}) | self.environ
        done = subprocess.run(
            [sys.executable, *words],
            cwd=ROOT,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=300,
            check=False,
            **{**self.started, "env": env},
        )
        out, err = (_decoded(said, env["PYTHONIOENCODING"]) for said in (done.stdout, done.stderr))
        return done.returncode, out, err

    def reopen(self) -> None:
        """Nothing is ever open between two commands."""

    def close(self) -> None:
        """See `reopen`."""


def _decoded(said: bytes, encoding: str) -> str:
    try:
        return said.decode(encoding)
    except UnicodeDecodeError:
        return said.decode("utf-8")  # an export is UTF-8 wherever it is written to


def _word(value: Any) -> str:
    """A value as a word of a command line."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Left("not here", f"a word of the command line is text, not {type(value).__name__}")
    made = value if isinstance(value, str) else repr(value)
    if "\x00" in made:
        raise Left("not here", "no word of a command line can hold NUL")
    try:
        os.fsencode(made)
    except UnicodeEncodeError:
        raise Left("not here", "no word of a command line can hold a lone high surrogate") from None
    return made


def _option(name: str, value: Any) -> list[str]:
    if value is None:
        return []
    if name in _REPEATED:
        values = value if isinstance(value, list) else [value]
        return [f"--{_REPEATED[name]}={_word(item)}" for item in values]
    if name == "metadata":
        # The library takes numbers that JSON has no form for, to refuse them; here they are spelt as Python would.
        return [f"--metadata={json.dumps(value, ensure_ascii=False)}"]
    if name == "k":
        return ["-k", _word(value)]
    if name == "acted":
        return ["--acted" if value else "--not-acted"]
    if name == "accept":
        return ["--accept" if value else "--reject"]
    if name == "dry_run":
        return ["--dry-run"] if value else []
    if name in ("repair", "prune", "yes", "links"):
        return [f"--{name}"]
    if name == "last":
        return ["--last", _word(value)]
    if name in ("user_text", "assistant_text"):
        return [f"--{name.removesuffix('_text')}={_word(value)}"]
    if name == "entry":
        return [f"--entry={_word(value)}"]
    if name == "text":
        return [f"--text={_word(value)}"]
    if name in _PLAIN:
        return [f"--{name.replace('_', '-')}={_word(value)}"]
    raise Left("not here", f"the command line has no --{name}")


def judged(code: int, out: str, err: str) -> Any:
    """What a command said, or the refusal that it told."""
    if code == FAULT or "Traceback" in err:
        raise Refused(frozenset({"crash"}), f"status {code}: {err.strip()[-500:]}")
    if out.strip():
        if code > 1:
            raise Refused(frozenset({"crash"}), f"status {code}, and yet an answer: {out[:200]} {err[:200]}")
        return _strict(out)
    said = _strict(err) if err.strip() else {}
    if not isinstance(said, dict) or "error" not in said or code not in (1, 2) or "\n" in err.strip():
        raise Refused(frozenset({"crash"}), f"status {code} without one line of JSON that names the error: {err[:300]!r}")
    raise Refused(kinds_named(said["error"]), f"{said['error']}: {said['message']}")


def _strict(text: str) -> Any:
    def no(name: str) -> Any:
        raise ValueError(f"{name} is no JSON")

    try:
        return json.loads(text, parse_constant=no)
    except ValueError as error:
        raise Refused(frozenset({"crash"}), f"not strict JSON ({error}): {text[:200]!r}") from None


_Form = tuple[str, tuple[str, ...], str]
_FORMS: dict[str, _Form] = {
    "add": ("remember", ("text",), ""),
    "encode_files": ("encode", (), "encoded"),
    "search": ("search", ("query",), "hits"),
    "answer": ("query", ("query",), ""),
    "prefetch": ("prefetch", ("message",), ""),
    "sync_turn": ("sync-turn", (), "entries"),
    "list": ("list", (), "entries"),
    "get": ("show", ("id",), ""),
    "update": ("edit", ("id",), ""),
    "forget": ("forget", ("id",), ""),
    "restore": ("restore", ("id",), ""),
    "pin": ("pin", ("id",), ""),
    "unpin": ("unpin", ("id",), ""),
    "merge": ("merge", (), ""),
    "decay_cleanup": ("decay", (), ""),
    "link": ("link", ("a", "b"), ""),
    "related": ("related", ("id",), ""),
    "consolidate": ("consolidate", (), ""),
    "decide": ("decide", ("query",), ""),
    "settle": ("settle", ("ticket", "delta"), "landed"),
    "abandon": ("abandon", ("ticket",), "abandoned"),
    "pending": ("pending", (), "tickets"),
    "tick": ("tick", (), ""),
    "stats": ("stats", (), ""),
    "top": ("top", (), "entries"),
    "obituary": ("why", ("id",), "obituary"),
    "audit": ("audit", (), "digest"),
    "events": ("audit", (), "events"),
    "doctor": ("doctor", (), ""),
    "check": ("check", (), ""),
    "repair": ("check", (), ""),
    "backup": ("backup", ("path",), "path"),
    "render": ("render", ("target", "path"), ""),
    "export": ("export", ("path",), ""),
    "import_": ("import", ("path",), ""),
    "erase": ("erase", (), ""),
    "compact": ("compact", (), ""),
}

"""The text form of a store: written from it, and a new store made from it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from earnest.core import check, lesson_merging
from earnest.core import lessons as form
from earnest.core.lesson_turns import Turns
from earnest.core.lessons import Lessons
from earnest.core.links import KINDS
from earnest.core.settings import NAMES, checked
from earnest.core.slots import slot_of
from earnest.core.write_gate import Gate
from earnest.errors import InvalidInput, NotAllowed, StoreError
from earnest.files import replacing
from earnest.graph import weaving
from earnest.ledger import walks
from earnest.ledger.decisions import request_digest
from earnest.ledger.gathering import gathered
from earnest.ledger.replaying import Replay
from earnest.protocols import Reading, Writing
from earnest.rules import replaying as rulebook
from earnest.verbs.deciding import LedgerVerbs

_BEFORE = frozenset(("create", "setting"))
_HALF = "loading a text of lessons into this store was cut short, so that it holds a part of it: remove the store and load the text anew"


@dataclass(frozen=True, slots=True)
class LessonsReport:
    """What a text of lessons holds: its digest, the heads that it came from, and counts. `size` is in bytes."""

    path: str
    head: str
    parents: tuple[str, ...]
    entries: int
    open: int
    settled: int
    size: int
    changed: bool = True


class LessonVerbs(LedgerVerbs):
    """Saving and loading the text form."""

    def save_lessons(self, path: str | Path) -> LessonsReport:
        """Write what this memory learned to a small, sorted text, fit for git: entries, decisions and outcomes, not balances.

        Rules with their trials, links that somebody stated, notes on outcomes and randomised decisions are among them, and the ids of what
        was erased, so that no branch brings it back. A file that says the same already is left as it is, so that a run that changed
        nothing changes no file. Decisions that were not randomised and ended without an outcome, links that were found, and who died
        without an outcome are left out: `export` keeps everything.

        Raises:
            NotAllowed: Part of the log was archived, or this store was never loaded to the end. StoreError: The file cannot be written.

        The file is on the disk, whole, when it returns. O(the store); nothing is written to the store.
        """
        target = check.path("path", path)
        made = self._lessons()
        text = form.written(made)
        changed = not _says(target, text)
        if changed:
            _put(target, text)
        return _report(target, made, text, changed)

    def _lessons(self) -> Lessons:
        """The facts of this store, as the continuation of the text that it was made from."""
        with self._store.read() as reading:
            segment = walks.latest(reading, "segment")
            made = self._facts(reading, () if segment is None else segment.data.get("erased", ()))
        if segment is None:
            return made
        said = segment.data
        if "body" not in said:
            raise NotAllowed(_HALF)
        if said["body"] == _digest(made):
            return replace(made, parents=tuple(said["parents"]))
        return replace(made, parents=(said["head"],))

    def _facts(self, reading: Reading, erased: Iterable[str]) -> Lessons:
        """The facts of this store; `erased` are the ids of entries that were erased before it was made from a text."""
        made = gathered(reading, self._store.agent)
        rules, more = rulebook.gathered(reading, made)
        entries = {name: {**said, **more.get(name, {})} for name, said in made.entries.items()}
        return replace(made, rules=rules, erased=made.erased.union(erased), entries=entries)

    def load_lessons(self, path: str | Path) -> LessonsReport:
        """Make this memory, which must be new, from a text of lessons.

        It lives through every fact of it, so that balances, standings and what is believed of the meters follow.

        Raises:
            NotAllowed: This memory holds something already. InvalidInput: The text is damaged, of another agent, or holds a value
            that cannot be used; what was written before stays, is no text that could be saved, and has to be removed.

        Durable when it returns; a commit a fact. Vectors are made as by any other write.
        """
        source = check.path("path", path)
        made = read_lessons(source)
        if made.agent != self._store.agent:
            raise InvalidInput("lessons", made.agent, f"is another agent's memory; this one is of {self._store.agent!r}")
        with self._store.read() as reading:
            there = reading.events(entry=None, kind=None, after=0, limit=100, newest=False)
            segment = walks.latest(reading, "segment")
        if segment is not None and "body" not in segment.data:
            raise NotAllowed(_HALF)
        if any(event.kind not in _BEFORE for event in there):
            raise NotAllowed(
                "this memory holds something already: lessons are loaded into a new one; `earnest lessons merge` joins two texts"
            )
        for name in made.settings:
            if name not in NAMES:
                raise InvalidInput("setting", name, "is not known to this version of Earnest")
        with self._writing() as tx:
            settings = checked(made.settings)
            for name, value in settings.items():
                tx.set_setting(name, value)
            if settings:
                tx.append("setting", data=settings, before={name: getattr(self._read_settings(tx), name) for name in settings})
            # Until the one at the end says so, this store holds a part of what it was made from, and is no text of its own.
            tx.append("segment", data={"head": made.head, "parents": [*made.parents]})
        rules = rulebook.Rulebook()
        replay = Replay(
            made, self._store.write, self._read_settings, lambda: self._analyser, self._rng, self._clock.now(), Turns(made), rules.steps,
            rules.heard, rules.trial,
        )  # fmt: skip
        every = self._settings_now().tick_every
        replay.run(lambda at: slot_of(every, at), _remember_slot)
        self._tied(made, rules)
        with self._store.read() as reading:
            now = self._facts(reading, made.erased)
        gone = {"erased": sorted(made.erased)} if made.erased else {}
        said = {"head": made.head, "parents": [*made.parents], "body": _digest(now), **gone}
        with self._writing() as tx:
            tx.append("segment", data=said)
        return _report(source, made, form.written(made), False)

    def _tied(self, made: Lessons, rules: rulebook.Rulebook) -> None:
        """The links between the living, the heaviest first where an entry has more than it may; and what active rules have left."""
        for one, other, kind, weight, reason in sorted(made.links.values(), key=lambda fact: (-fact[3], fact)):
            with self._writing() as tx:
                settings = self._read_settings(tx)
                ends = tx.entry(one), tx.entry(other)
                if ends[0] is None or ends[1] is None:
                    raise InvalidInput("lessons", f"{one}, {other}", "are linked, and no line tells of one of them")
                if not ends[0].entry.alive or not ends[1].entry.alive:
                    continue
                known = check.choice("kind", kind, KINDS)
                why = Gate.of(settings.redact, settings.quarantine).passed(check.cleaned(reason)[:200]).text
                try:
                    weaving.state(tx, settings, ends[0], ends[1], known, float(weight), why, self._clock.now())
                except NotAllowed:
                    continue
                tx.append("link", entries=[ends[0].row, ends[1].row], data={"kind": kind, "weight": weight})
        for name, said in made.entries.items():
            if "term" in said:
                with self._writing() as tx:
                    rules.terms(tx, name, said)


def _remember_slot(tx: Writing, slot: str, report: Any) -> None:
    tx.remember(f"slot\x1f{slot}", "tick", request_digest("tick", {}), asdict(report))


def read_lessons(path: str | Path) -> Lessons:
    """A text of lessons from a file. Raises InvalidInput, StoreError."""
    source = check.path("path", path)
    try:
        if source.stat().st_size > form.MAX_BYTES:
            raise InvalidInput("lessons", str(path), f"is larger than {form.MAX_BYTES:,} bytes")
        return form.parsed(source.read_bytes().decode("utf-8").replace("\r\n", "\n"), str(path))
    except UnicodeDecodeError as error:
        raise InvalidInput("lessons", str(path), f"is no UTF-8 text: {error}") from None
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror or error}") from None


def merge_lessons(ours: str | Path, theirs: str | Path, into: str | Path, base: str | Path | None = None) -> LessonsReport:
    """Join two texts of lessons into one that names both as its parents. Whichever is named first, the same comes out.

    Args:
        base: The text that both came from, as git knows it: what one side changed or took away since then stands over what the other left
            as it was. An empty file, as git gives where there was none, is no base.

    Raises:
        InvalidInput: One is damaged, or they are of two agents. StoreError: A file cannot be read or written.
    """
    target = check.path("into", into)
    came_from = None if base is None or _empty(check.path("base", base)) else read_lessons(base)
    made = lesson_merging.merged(read_lessons(ours), read_lessons(theirs), came_from)
    text = form.written(made)
    _put(target, text)
    return _report(target, made, text, True)


def _empty(path: Path) -> bool:
    """Whether a file is there and holds nothing."""
    try:
        return path.is_file() and path.stat().st_size == 0
    except OSError:
        return False  # reading it says why


def foreign_outcomes(base: str | Path, head: str | Path) -> list[str]:
    """What the text `head` brings along over `base` that only a settling run may write; see `core.lesson_merging.foreign`."""
    return lesson_merging.foreign(read_lessons(base), read_lessons(head))


def _says(target: Path, text: str) -> bool:
    """Whether a file says that already, whatever ends its lines."""
    try:
        return target.is_file() and target.read_bytes().replace(b"\r\n", b"\n") == text.encode("utf-8")
    except OSError as error:
        raise StoreError(f"{target}: cannot be read: {error.strerror or error}") from None


def _put(target: Path, text: str) -> None:
    try:
        with replacing(target) as file:
            file.write(text.encode("utf-8"))
    except OSError as error:
        raise StoreError(f"{target}: cannot be written: {error.strerror or error}") from None


def _digest(lessons: Lessons) -> str:
    """The facts alone, whatever came before them."""
    return hashlib.sha256("\n".join([str(lessons.tick), *form.body(lessons)]).encode("utf-8", "surrogatepass")).hexdigest()[:40]


def _report(target: Path, made: Lessons, text: str, changed: bool) -> LessonsReport:
    return LessonsReport(
        str(target), made.head, made.parents, len(made.entries), len(made.open), len(made.settled), len(text.encode("utf-8")), changed
    )  # fmt: skip

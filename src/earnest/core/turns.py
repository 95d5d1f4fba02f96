"""What a conversation gives to memory and takes from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from earnest.core.entry import Entry, Kind
from earnest.core.rules import Rule


@dataclass(frozen=True, slots=True)
class Context:
    """What memory adds to a prompt. `str()` is the block for the prompt, empty when there is nothing to add.

    `entries` are those whose texts are in the block, most relevant first; `rules` are the active rules in it. `tokens` is what the
    block costs, by the estimate of `earnest.core.tokens` or by the counter that the caller gave.
    """

    text: str
    entries: tuple[Entry, ...]
    rules: tuple[Rule, ...]
    tokens: int

    def __str__(self) -> str:
        return self.text

    def __bool__(self) -> bool:
        return bool(self.text)


NOTHING = Context("", (), (), 0)


@dataclass(frozen=True, slots=True)
class Kept:
    """Something that a turn of a conversation says and that is worth keeping, made self-contained.

    `type` says why: correction, instruction, decision, preference, commitment, error, fix, profile, action, fact. `changes` marks a
    statement that says by itself that something is not any more what it was.
    """

    text: str
    type: str
    kind: Kind
    importance: float
    confidence: float
    speaker: str
    changes: bool = False


class Turn(list[Entry]):
    """The new entries that a turn of a conversation left, in the order in which they were said: a list, with how it was made.

    `by` is "rules" or "llm": what found them. `notes` says what did not go as asked: a model that could not be read, a statement
    that was left out. `known` counts the statements that memory had already.
    """

    def __init__(self, entries: Sequence[Entry] = (), *, by: str = "rules", notes: Sequence[str] = (), known: int = 0) -> None:
        super().__init__(entries)
        self.by = by
        self.notes = tuple(notes)
        self.known = known


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence of a turn: who said it, and the one before it by the same speaker ("" at the head)."""

    text: str
    speaker: str
    before: str = ""

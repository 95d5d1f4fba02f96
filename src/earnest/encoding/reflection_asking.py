"""Asking a model one question after the other: within a cap, with one more try, and no more once the service is down."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

from earnest.core import replies
from earnest.encoding.reflecting import Tally
from earnest.errors import BudgetSpent, EarnestError
from earnest.protocols import LLM

STEPS: Final = ("facts", "consolidation", "self-containment", "entities", "synthesis")

MOST: Final = 400
"""Items of one reply that are looked at: ten for each passage of a question. A model that repeats itself says no more by it."""
_DOWN: Final = 2
"""Questions in a row that a service did not answer, after which it is not asked any more."""
_LISTS: Final = ("facts", "statements", "items", "groups", "merged", "entities", "results", "data")
_FIELDS: Final = ("text", "statement", "fact", "entity", "of", "id")


class Unanswered(Exception):
    """A step was not answered; the message says why."""


class Asking:
    """Asks one question after the other within the cap, counts what becomes of the items, and stops when the service is down."""

    def __init__(self, llm: LLM, most: int | None, progress: Callable[[int, int], None] | None) -> None:
        self._llm, self._most, self._progress = llm, most, progress
        self.cancel = threading.Event()
        self.tallies = {step: Tally() for step in STEPS}
        self.calls = self.cut = 0
        self._row = self._done = self._of = 0
        self._stopped = ""
        self._lock = threading.Lock()

    def expect(self, more: int) -> None:
        """So many questions more are to come."""
        with self._lock:
            self._of += more

    def done(self, count: int = 1) -> None:
        """So many questions are over."""
        with self._lock:
            self._done += count
            if self._progress:
                # Told while nobody else counts, so that it never runs backwards.
                self._progress(self._done, max(self._of, self._done))

    def items(self, prompt: str, tokens: int) -> tuple[Any, ...]:
        """The items of the model's list, at most `MOST`. A reply without one is asked for once more, with what was wrong with it.

        Raises:
            Unanswered: There is none.
        """
        why = ""
        for again in (False, True):
            asked = f"{prompt}\nYour last reply could not be used: {why}. Answer with the JSON list alone.\n" if again else prompt
            reply = self._reply(asked, tokens)
            found = replies.items(reply, _LISTS, _FIELDS)
            if found.found:
                with self._lock:
                    self.cut += replies.cut_off(reply)
                return found.values[:MOST]
            why = found.why
            unusable = getattr(self._llm, "unusable", None)
            if callable(unusable):
                unusable(asked)
        raise Unanswered(f"its reply could not be used ({why})")

    def _reply(self, prompt: str, tokens: int) -> str:
        with self._lock:
            if self._stopped:
                raise Unanswered(self._stopped)
            if self._most is not None and self.calls >= self._most:
                self._stopped = f"the cap of {self._most:,} calls was reached"
                raise Unanswered(self._stopped)
            self.calls += 1
        try:
            reply = self._llm.complete(prompt, max_tokens=tokens, json=True, cancel=self.cancel)
        except (EarnestError, OSError, ValueError, RuntimeError) as error:
            with self._lock:
                self._row += 1
                down = isinstance(error, BudgetSpent) or (self._row >= _DOWN and getattr(error, "passing", True))
                self._stopped = self._stopped or (f"{str(error)[:300]}" if down else "")
            raise Unanswered(str(error)[:300]) from error
        with self._lock:
            self._row = 0
        return reply if isinstance(reply, str) else ""

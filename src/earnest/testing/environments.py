"""For those who write an environment: check `verify` against a table, and the action vocabulary against real answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from earnest.core.decision import decision_polarity
from earnest.core.outcome import Outcome, Task
from earnest.environments.base import Environment
from earnest.errors import EarnestError, InvalidInput

Sign = Literal["+", "-", "0"]
SIGNS: Final = ("+", "-", "0")


@dataclass(frozen=True, slots=True)
class Row:
    """One case: put `answer` to `task`; the delta must have this sign ("+", "-", "0") or be this number, and `acted` this value.

    `acted=None` leaves `acted` unchecked.
    """

    task: Task
    answer: str
    expected: Sign | float
    acted: bool | None = None


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What `check_verify` found: how many checks it made, and every failure in one sentence."""

    checks: int
    failures: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing failed, and something was checked."""
        return self.checks > 0 and not self.failures

    def __str__(self) -> str:
        if self.ok:
            return f"verify holds in all {self.checks} checks"
        head = f"verify fails {len(self.failures)} of {self.checks} checks:" if self.checks else "nothing was checked: the table is empty"
        return "\n".join([head, *(f"  - {failure}" for failure in self.failures)])


@dataclass(frozen=True, slots=True)
class VocabularyReport:
    """What `lint_vocabulary` found. `unread`: answers that can't be told; `contradictions`: phrases that say the opposite."""

    unread: tuple[str, ...]
    contradictions: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether every answer can be told and no phrase contradicts."""
        return not self.unread and not self.contradictions

    def __str__(self) -> str:
        lines = [f"  - can't be told: {text!r}" for text in self.unread] + [f"  - {text}" for text in self.contradictions]
        return "\n".join(["the vocabulary has gaps:", *lines]) if lines else "every answer can be told, and no phrase contradicts"


def check_verify(env: Environment, table: Iterable[Row], *, deterministic: bool = False) -> VerifyReport:
    """Try a user's `verify` on a table of cases.

    For each row: the outcome is an `Outcome` with the expected delta and `acted`; silence on the same task earns nothing
    positive (before the row's answer is tried); and with `deterministic`, the same call again gives the same delta. Leave that
    off for a world in which acting changes what can be done next (a deleted file cannot be deleted again).

    An `EarnestError` from `verify` is a failure of its row; anything else passes through, for it is a bug with a traceback.
    Raises `InvalidInput` for a row whose expectation is neither a sign nor a number. Acts on the environment's world.
    """
    checks = 0
    failures: list[str] = []
    for number, row in enumerate(table, 1):
        wanted = _expectation(row.expected)
        where = f"row {number} ({row.task.prompt!r}, answer {row.answer!r})"
        found: list[str | None] = []
        silent, why = _tried(env, row.task, "")
        found.append(why or (None if silent is None or silent.delta <= 0 else f"silence earned {silent.delta:+g}"))
        outcome, why = _tried(env, row.task, row.answer)
        found.append(why or (None if outcome is None else _mismatch(outcome, wanted)))
        if outcome is not None and row.acted is not None:
            found.append(None if outcome.acted is row.acted else f"acted is {outcome.acted}, expected {row.acted}")
        if outcome is not None and deterministic:
            again, why = _tried(env, row.task, row.answer)
            same = again is not None and again.delta == outcome.delta
            found.append(why or (None if same else f"a second call gave another delta ({again.delta if again else None})"))
        checks += len(found)
        failures += [f"{where}: {problem}" for problem in found if problem]
    return VerifyReport(checks, tuple(failures))


def lint_vocabulary(answers: Sequence[str], extra_positive: Sequence[str] = (), extra_negative: Sequence[str] = ()) -> VocabularyReport:
    """Read real answers with an action vocabulary, and say where it has gaps.

    Lists the answers that the reader can't tell (an environment would do nothing on them), the phrases that stand on both
    sides, and those that the reader, without them, takes for the opposite. Raises `InvalidInput` for a blank phrase.
    """
    unread = tuple(text for text in answers if decision_polarity(text, extra_positive, extra_negative) is None)
    folded = {phrase.strip().casefold() for phrase in extra_positive} & {phrase.strip().casefold() for phrase in extra_negative}
    contradictions = [f"{phrase!r} is both positive and negative" for phrase in sorted(folded)]
    for phrase in extra_positive:
        if decision_polarity(phrase) is False:
            contradictions.append(f"{phrase!r} is listed as positive, but reads as don't")
    for phrase in extra_negative:
        if decision_polarity(phrase) is True:
            contradictions.append(f"{phrase!r} is listed as negative, but reads as act")
    return VocabularyReport(unread, tuple(contradictions))


def _expectation(expected: Sign | float) -> Sign | float:
    if isinstance(expected, bool) or not isinstance(expected, (int, float, str)):
        raise InvalidInput("expected", expected, 'a sign ("+", "-", "0") or the exact delta')
    if isinstance(expected, str) and expected not in SIGNS:
        raise InvalidInput("expected", expected, 'a sign ("+", "-", "0") or the exact delta')
    return expected


def _tried(env: Environment, task: Task, answer: str) -> tuple[Outcome | None, str | None]:
    try:
        outcome = env.verify(task, answer)
    except EarnestError as error:  # an Outcome with a delta that is not finite ends here too
        return None, f"verify raised {type(error).__name__}: {error}"
    if not isinstance(outcome, Outcome):
        return None, f"verify gave {type(outcome).__name__}, not an Outcome"
    return outcome, None


def _mismatch(outcome: Outcome, wanted: Sign | float) -> str | None:
    delta = outcome.delta
    sign = "+" if delta > 0 else "-" if delta < 0 else "0"
    if (sign if isinstance(wanted, str) else delta) == wanted:
        return None
    return f"delta is {delta:+g}, expected {wanted}"

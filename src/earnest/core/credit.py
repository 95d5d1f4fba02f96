"""Credit rules: from a measured outcome to what each entry of a decision earns or loses. Pure and chosen by name.

`classic` is the energy rule published with darwin-memo 0.7.1: ``credit = gain * tanh(delta / scale)``; the deciding entry takes
all of it, each supporter a quarter; where no single entry decided, the cited ones share it evenly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from earnest.core.amounts import micro
from earnest.core.evidence import runway
from earnest.core.ticket import Share


@dataclass(frozen=True, slots=True)
class RuleCredit:
    """The credit that a rule gives to one share, in micro-units, before the cap."""

    share: Share
    amount: int


class CreditRule(Protocol):
    """A named, versioned rule. A change of formula is a new version; recorded amounts are never computed again."""

    @property
    def name(self) -> str:
        """The name that settings give it by."""
        ...

    @property
    def version(self) -> int:
        """Counts changes of its formula."""
        ...

    def credits(self, delta: float, scale: float, shares: Sequence[Share]) -> list[RuleCredit]:
        """What each share earns for a finite `delta` at a positive finite `scale`; shares that get nothing are left out."""
        ...

    def parameters(self) -> Mapping[str, float]:
        """The numbers that the rule was used with, for the record."""
        ...


@dataclass(frozen=True, slots=True)
class Classic:
    """The energy rule of darwin-memo 0.7.1.

    gain 0.6: a fresh entry (stake 1) survives one saturated harm and dies of the second.
    supporting_share 0.25: what a co-retrieved entry takes of the decider's credit.
    """

    gain: float = 0.6
    supporting_share: float = 0.25
    name: str = "classic"
    version: int = 1

    def credits(self, delta: float, scale: float, shares: Sequence[Share]) -> list[RuleCredit]:
        """See `CreditRule.credits`."""
        credit = self.gain * math.tanh(delta / scale)
        if credit == 0:
            return []
        cited = [share for share in shares if share.role == "cited"]
        made: list[RuleCredit] = []
        for share in shares:
            if share.role == "deciding":
                made.append(RuleCredit(share, micro(credit)))
            elif share.role == "supporting":
                made.append(RuleCredit(share, micro(credit * self.supporting_share)))
            elif share.role == "cited":
                made.append(RuleCredit(share, micro(credit / len(cited))))
        return [credit for credit in made if credit.amount]

    def parameters(self) -> Mapping[str, float]:
        """See `CreditRule.parameters`."""
        return {"gain": self.gain, "supporting_share": self.supporting_share}


@dataclass(frozen=True, slots=True)
class ByEvidence:
    """Selection by evidence: see `earnest.core.evidence`. A gain pays the decider ``gain * tanh(size)``; harm takes nothing, it suspends.

    Merely co-retrieved entries take nothing. Cited ones, n of them, take a part ``1 / (n + 1)`` of the decider's credit each; where no
    single entry decided, ``1 / n``.
    """

    gain: float = 0.6
    name: str = "evidence"
    version: int = 1

    def credits(self, delta: float, scale: float, shares: Sequence[Share]) -> list[RuleCredit]:
        """See `CreditRule.credits`."""
        credit = runway(delta / scale, self.gain)
        cited = sum(1 for share in shares if share.role == "cited")
        decided = any(share.role == "deciding" for share in shares)
        parts = {"deciding": credit, "cited": credit / max(1, cited + decided)}
        made = [RuleCredit(share, micro(parts[share.role])) for share in shares if share.role in parts]
        return [credit for credit in made if credit.amount]

    def parameters(self) -> Mapping[str, float]:
        """See `CreditRule.parameters`."""
        return {"gain": self.gain}


RULES: Final[Mapping[str, Callable[[float, float], CreditRule]]] = {
    "classic": lambda gain, supporting_share: Classic(gain, supporting_share),
    "evidence": lambda gain, supporting_share: ByEvidence(gain),
}
"""The rules there are, by the name that settings give."""

"""The write gate: what of a text may be kept, and what the text that is kept should be marked with.

Secrets are masked before anything is written, hashed, embedded or sent to a model; the original is kept nowhere. Text that aims at its
reader is kept as it is and marked (see `earnest.core.injection`); what comes of a mark is the ledger's business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from earnest.core.injection import marks
from earnest.core.personal import personal
from earnest.core.secrets import Secret, named, secrets

WHAT: Final = ("secrets", "pii")
"""What a gate can mask."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A text as it may be kept, and the kinds of what was masked in it, one for each place."""

    text: str
    masked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gate:
    """What is masked: secrets, personal data, both or nothing; and how many outcomes a marked text waits for before it may decide."""

    secrets: bool = True
    pii: bool = False
    quarantine: int = 1

    @classmethod
    def of(cls, redact: str, quarantine: int) -> Gate:
        """The gate that the settings of these names ask for."""
        named = redact.split(",")
        return cls("secrets" in named, "pii" in named, quarantine)

    def waits(self, *texts: str | None) -> int:
        """Outcomes that an entry that says this waits for: none unless it bears a mark."""
        return self.quarantine if self.quarantine and any(marks(text) for text in texts if text) else 0

    def passed(self, text: str) -> Kept:
        """A text without what must not be kept: `[redacted: KIND]` stands in each place. The same text where there is none. O(length)."""
        found: list[Secret] = secrets(text) if self.secrets else []
        if self.pii:
            taken = {place for one in found for place in range(one.start, one.end)}
            found += [one for one in personal(text) if taken.isdisjoint(range(one.start, one.end))]
        if not found:
            return Kept(text)
        made, place, kinds = [], 0, []
        for one in sorted(found, key=lambda one: one.start):
            if one.start < place:
                continue
            made += [text[place : one.start], f"[redacted: {one.kind}]"]
            place = one.end
            kinds.append(one.kind)
        return Kept("".join([*made, text[place:]]), tuple(kinds))

    def labels(self, labels: Sequence[str], masked: list[str]) -> tuple[str, ...]:
        """Sources or tags as they may be kept; what was masked is added to `masked`."""
        return tuple(dict.fromkeys(self._plain(label, masked) for label in labels))

    def metadata(self, value: Mapping[str, Any], masked: list[str]) -> dict[str, Any]:
        """A JSON object as it may be kept: its names count as the names of its values."""
        return {self._plain(name, masked): self._value(name, item, masked) for name, item in value.items()}

    def _value(self, name: str, value: Any, masked: list[str]) -> Any:
        if isinstance(value, Mapping):
            return self.metadata(value, masked)
        if isinstance(value, list | tuple):
            return [self._value(name, item, masked) for item in value]
        if not isinstance(value, str):
            return value
        if self.secrets and named(name, value):
            masked.append("credential")
            return "[redacted: credential]"
        return self._plain(value, masked)

    def _plain(self, text: str, masked: list[str]) -> str:
        kept = self.passed(text)
        masked += kept.masked
        return kept.text


STRICT: Final = Gate()
"""The gate of a store whose settings say nothing else."""


def told(masked: Sequence[str]) -> str:
    """What was masked, in words: `2 × password, 1 × api key`."""
    return ", ".join(f"{masked.count(kind)} × {kind}" for kind in dict.fromkeys(masked))

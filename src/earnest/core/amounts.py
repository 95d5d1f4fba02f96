"""Energy is counted in whole micro-units, so that sums are exact on every machine."""

from __future__ import annotations

from typing import Final

MICRO: Final = 1_000_000
"""Micro-units in one unit of energy."""

# The accounts that are not entries. Entries use their own row number, which is positive.
MINT: Final = -1
WORLD: Final = -2
RENT: Final = -3
CAP: Final = -4
FORFEIT: Final = -5

# From here on six digits would leave part of the whole number out.
_WHOLE_FROM: Final = 99_999.5

ACCOUNTS: Final = {MINT: "mint", WORLD: "world", RENT: "rent", CAP: "cap", FORFEIT: "forfeit"}


def micro(energy: float) -> int:
    """Energy as whole micro-units, rounded to the nearest (halves to even)."""
    return round(energy * MICRO)


def shown_energy(amount: int, *, signed: bool = False) -> str:
    """Micro-units as people read them: ``1.000``, ``−0.600``."""
    sign = "−" if amount < 0 else "+" if signed and amount > 0 else ""
    return f"{sign}{abs(amount) / MICRO:.3f}"


def shown_delta(delta: float) -> str:
    """A measured delta as people read it: grouped; with six digits, or as many as its whole part has."""
    sign = "−" if delta < 0 else "+" if delta > 0 else ""
    size = abs(delta)
    whole = size == int(size) or size >= _WHOLE_FROM
    return sign + (f"{round(size):,}" if whole and size < 1e15 else f"{size:,.6g}")

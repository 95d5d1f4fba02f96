"""What language models cost this memory: counted in the store, so that every process that works on it shares one budget of the day.

Amounts are whole millionths of a US dollar. A call is reserved for before it is made, at the most that it can cost, and booked at what it
did cost afterwards: two processes cannot spend the same dollar, and a crash in between leaves the day's budget too small, never too large.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from earnest.core.models import MICRO_DOLLARS, Price
from earnest.errors import BudgetSpent
from earnest.protocols import Reading, Writing

KEPT: Final = 7
"""For how many days a reply is kept for work that was interrupted."""

_DAY: Final = "llm:day"
_TODAY: Final = "llm:today"


@dataclass(frozen=True, slots=True)
class Reserved:
    """Money that a call under way may cost, and the day it was taken from."""

    day: int
    micros: int


@dataclass(frozen=True, slots=True)
class Used:
    """What one call took. `micros` is None where the model's price is not known."""

    tokens_in: int
    tokens_out: int
    micros: int | None
    failed: bool = False


def day_of(now: datetime) -> int:
    """The day of a moment in UTC, as a number."""
    return now.toordinal()


def spent_today(reading: Reading, now: datetime) -> int:
    """What was spent or is reserved today."""
    return reading.counter(_TODAY) if reading.counter(_DAY) == day_of(now) else 0


def reserve(tx: Writing, now: datetime, model: str, price: Price | None, most: tuple[int, int], budget: float) -> Reserved | None:
    """Takes the most that a call can cost out of the day's budget; None where there is no budget (0).

    Args:
        most: Tokens that the call reads and may write.
        budget: US dollars a day.

    Raises:
        BudgetSpent: It could go over the budget, or nobody knows what the model costs; nothing was reserved.
    """
    if budget <= 0:
        return None
    if price is None:
        raise BudgetSpent(
            f"{model}: there is a daily budget of ${budget:g}, and what this model costs is not known, so it was not asked; "
            "say it in US dollars for a million tokens, read and written: `earnest config llm_price 0.15/0.60`"
        )
    cost, allowed, spent = price.micros(*most), round(budget * MICRO_DOLLARS), spent_today(tx, now)
    if spent + cost > allowed:
        raise BudgetSpent(
            f"{model}: the call could cost ${cost / MICRO_DOLLARS:.4f}, and ${spent / MICRO_DOLLARS:.4f} of today's ${budget:g} are "
            "spent or reserved, so it was not asked; wait for tomorrow (UTC), or raise the budget: `earnest config llm_daily_budget AMOUNT`"
        )
    _book(tx, day_of(now), cost)
    return Reserved(day_of(now), cost)


def record(tx: Writing, now: datetime, used: Used, reserved: Reserved | None = None) -> None:
    """Books what a call took, in the place of what was reserved for it."""
    tx.bump("llm:calls", 1)
    tx.bump("llm:failed", int(used.failed))
    tx.bump("llm:tokens_in", used.tokens_in)
    tx.bump("llm:tokens_out", used.tokens_out)
    tx.bump("llm:unpriced", int(used.micros is None and not used.failed))
    cost, today = used.micros or 0, day_of(now)
    tx.bump("llm:spent", cost)
    back = reserved.micros if reserved is not None and reserved.day == today else 0
    _book(tx, today, cost - back)


def _book(tx: Writing, day: int, amount: int) -> None:
    if tx.counter(_DAY) != day:
        tx.bump(_DAY, day - tx.counter(_DAY))
        tx.bump(_TODAY, -tx.counter(_TODAY))
    tx.bump(_TODAY, max(amount, -tx.counter(_TODAY)))


def cost(reading: Reading, now: datetime, budget: float) -> dict[str, float]:
    """What models cost so far, for `stats`: empty where none was ever asked. Dollars; `unpriced` calls are not in them."""
    calls = reading.counter("llm:calls")
    if not calls:
        return {}
    made: dict[str, float] = {name: reading.counter(f"llm:{name}") for name in ("calls", "failed", "tokens_in", "tokens_out", "unpriced")}
    made["usd"] = reading.counter("llm:spent") / MICRO_DOLLARS
    made["usd_today"] = spent_today(reading, now) / MICRO_DOLLARS
    if budget:
        made["budget"] = budget
    return made


def digest_of(model: str, prompt: str) -> bytes:
    """Names a prompt to a model, in 16 bytes."""
    return hashlib.sha256(f"{model}\x00{prompt}".encode("utf-8", "replace")).digest()[:16]

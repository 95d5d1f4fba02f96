"""Asking a language model on behalf of a verb: what it costs is counted, bounded and, for long work, not paid twice."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Final

from earnest.core.calendar import days_before
from earnest.core.models import MOST_TOKENS, Price, Reply, price_of
from earnest.core.tokens import estimated
from earnest.errors import EarnestError, ModelFailed, NotAvailable, StoreError
from earnest.ledger import spending
from earnest.ledger.spending import Reserved, Used
from earnest.protocols import LLM
from earnest.verbs.base import Base

# Seconds that booking a call waits for another writer: its reply is there already, and is worth more than the booking.
_BRIEFLY: Final = 5.0


class Metered:
    """A model as a verb asks it; implements `earnest.protocols.LLM`. Safe to share between threads.

    `keep` lets replies be kept in the store until `finished` is called, so that work that was interrupted does not pay for them again.
    """

    def __init__(self, memory: AskingVerbs, llm: Any, *, keep: bool = False) -> None:
        self._memory, self._llm, self._keep = memory, llm, keep and not memory._store.read_only
        self.model_id = str(getattr(llm, "model_id", type(llm).__qualname__))
        self._used: dict[str, float] = dict.fromkeys(("calls", "failed", "kept", "tokens_in", "tokens_out", "unpriced", "usd"), 0)
        self._digests: list[bytes] = []
        self._lock = threading.Lock()

    @property
    def cost(self) -> Mapping[str, float]:
        """What was asked through here: calls, failed ones, replies kept from before, tokens, and US dollars where the price is known."""
        with self._lock:
            return dict(self._used)

    def complete(self, prompt: str, **options: Any) -> str:
        """What the model replies; see `reply`."""
        return self.reply(prompt, **options).text

    def reply(self, prompt: str, **options: Any) -> Reply:
        """Ask the model, unless its reply to this prompt was kept.

        Raises:
            BudgetSpent: It could go over the budget of the day. ModelFailed: it gave no usable reply. What it took is counted.
        """
        memory, digest = self._memory, spending.digest_of(self.model_id, prompt)
        with memory._store.read() as reading:
            settings = memory._read_settings(reading)
            kept = reading.kept_reply(digest) if self._keep else None
        if kept is not None:
            with self._lock:
                self._digests.append(digest)
            self._count(kept=1)
            return Reply(kept, 0, 0, kept=True)
        price = price_of(self.model_id, settings.llm_price, getattr(self._llm, "price", None))
        most = estimated(prompt), int(options.get("max_tokens", MOST_TOKENS))
        reserved = self._reserve(price, most, settings.llm_daily_budget)
        try:
            made = self._asked(prompt, options)
        except BaseException:
            self._book(Used(0, 0, None, failed=True), reserved, None)
            raise
        tokens = (
            most[0] if made.tokens_in is None else made.tokens_in,
            estimated(made.text) if made.tokens_out is None else made.tokens_out,
        )
        used = Used(*tokens, None if price is None else price.micros(*tokens))
        self._book(used, reserved, (digest, made.text) if self._keep and made.whole and made.text.strip() else None)
        return made

    def _asked(self, prompt: str, options: Mapping[str, Any]) -> Reply:
        ask = getattr(self._llm, "reply", None)
        try:
            made = ask(prompt, **options) if callable(ask) else self._llm.complete(prompt, **options)
        except (OSError, ValueError, RuntimeError, TypeError, AttributeError) as error:
            if isinstance(error, EarnestError):
                raise
            raise ModelFailed(f"model {self.model_id}: {type(error).__name__}: {str(error)[:200]}") from error
        if isinstance(made, Reply):
            return made
        return Reply(made if isinstance(made, str) else "")

    def _reserve(self, price: Price | None, most: tuple[int, int], budget: float) -> Reserved | None:
        if not budget:
            return None
        memory = self._memory
        with memory._writing() as tx:
            return spending.reserve(tx, memory._clock.now(), self.model_id, price, most, budget)

    def _book(self, used: Used, reserved: Reserved | None, kept: tuple[bytes, str] | None) -> None:
        self._count(
            calls=1, failed=int(used.failed), tokens_in=used.tokens_in, tokens_out=used.tokens_out, usd=(used.micros or 0) / 1e6,
            unpriced=int(used.micros is None and not used.failed),
        )  # fmt: skip
        memory = self._memory
        if memory._store.read_only:
            return
        try:
            with memory._writing(_BRIEFLY) as tx:
                spending.record(tx, memory._clock.now(), used, reserved)
                if kept is not None:
                    tx.keep_reply(*kept)
        except StoreError:
            # The reply is there and was paid for: it is not lost for the sake of the count, which rides with the next write.
            memory._note_spent(used)
        else:
            if kept is not None:
                with self._lock:
                    self._digests.append(kept[0])

    def _count(self, **amounts: float) -> None:
        with self._lock:
            for name, amount in amounts.items():
                self._used[name] += amount

    def unusable(self, prompt: str) -> None:
        """The reply to that prompt is no use: it is not kept, so that the model is asked anew another time."""
        digest = spending.digest_of(self.model_id, prompt)
        with self._lock:
            kept = digest in self._digests
            self._digests = [one for one in self._digests if one != digest]
        if kept:
            with self._memory._writing() as tx:
                tx.drop_replies([digest])

    def finished(self) -> None:
        """The work that the replies were kept for is done: they go, and so do those that are older than a week. One commit."""
        with self._lock:
            digests, self._digests = self._digests, []
        if not digests:
            return
        memory = self._memory
        with memory._writing() as tx:
            tx.drop_replies(digests, before=days_before(memory._clock.now(), spending.KEPT))


class AskingVerbs(Base):
    """How verbs come by a model."""

    def _metered(self, llm: Any, *, keep: bool = False) -> Metered:
        """The model that a caller gave (a spec, an object, a callable; True: the memory's own), as a verb asks it.

        Raises:
            NotAvailable: There is none, or its key is missing. InvalidInput: It is no model.
        """
        if isinstance(llm, Metered):
            return llm
        return Metered(self, self._model(llm), keep=keep)

    def _has_model(self) -> bool:
        """Whether the memory has a model of its own."""
        if self._own_llm is not None:
            return True
        return self._settings_now().llm != "none"

    def _model(self, llm: Any) -> LLM:
        if llm is True:
            llm = self._own_llm
            if llm is None:
                with self._store.read() as reading:
                    llm = self._read_settings(reading).llm
        if llm is None or llm is False:
            raise NotAvailable("no model was given: give llm= a spec such as ollama:qwen3, or an object with complete(prompt) -> str")
        return self._model_for(llm)

    def _note_spent(self, used: Used) -> None:
        amounts = {"calls": 1, "failed": int(used.failed), "tokens_in": used.tokens_in, "tokens_out": used.tokens_out}
        with self._noting:
            for name, amount in {**amounts, "spent": used.micros or 0}.items():
                self._noted[f"llm:{name}"] += amount

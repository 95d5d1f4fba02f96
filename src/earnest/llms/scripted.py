"""A model whose replies are written down beforehand, for tests and examples."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

from earnest.core import check
from earnest.errors import InvalidInput, NotAvailable


class ScriptedLLM:
    """Gives the replies that it was made with, one a call, in order; implements `earnest.protocols.LLM`.

    `prompts` are the prompts that it was asked, in order. Safe to share between threads.
    """

    def __init__(self, replies: Iterable[str]) -> None:
        """`replies` is a list of texts.

        Raises:
            InvalidInput: Not a list, or an item that is no text.
        """
        self._replies = check.items("replies", replies)
        for place, reply in enumerate(self._replies):
            if not isinstance(reply, str):
                raise InvalidInput(f"replies[{place}]", reply, f"must be text, not {type(reply).__name__}")
        self.prompts: list[str] = []
        self._asking = threading.Lock()

    def complete(self, prompt: str, **options: Any) -> str:
        """The next reply, whatever the prompt is and the options are.

        Raises:
            NotAvailable: Every reply has been given.
        """
        with self._asking:
            asked = len(self.prompts)
            if asked >= len(self._replies):
                raise NotAvailable(f"the script has {len(self._replies)} replies, and this is question {asked + 1}: give it more replies")
            self.prompts.append(prompt)
            reply: str = self._replies[asked]
            return reply

"""Models behind an HTTP interface: OpenAI's and everything that speaks it, Zhipu, Anthropic, Ollama.

Keys come from the environment, are looked up when a driver is made, and are neither kept in a store nor shown.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from earnest import wire
from earnest.core import check
from earnest.core.models import MOST_TOKENS, Reply
from earnest.core.tokens import estimated
from earnest.errors import InvalidInput, ModelFailed, shown
from earnest.wire import Cancelled, key_for, ollama_at

TRIES: Final = 5
"""How often a prompt is sent at most."""
PATIENCE: Final = 300.0
"""Seconds that all tries and waits of one prompt may take."""
LONGEST: Final = 2_000_000
"""Characters that a prompt may have."""
_MOST: Final = 200_000
_CONTEXT: Final = (4_096, 8_192, 16_384, 32_768, 65_536, 131_072)


class _Endpoint(wire.Endpoint):
    later = "try again later, or go on without the model"

    def failure(self, reason: str, *, passing: bool = True) -> ModelFailed:
        return ModelFailed(reason, passing=passing)


class ServiceLLM:
    """What all services share: checks, patience, a bound on calls at a time. Implements `earnest.protocols.LLM`; not for use by itself."""

    remote = True

    def __init__(
        self, kind: str, name: str, endpoint: wire.Endpoint, *, concurrency: int = 4, price: tuple[float, float] | None = None
    ) -> None:
        self.name = check.label("model", name, limit=200)
        self.model_id = f"{kind}:{self.name}"
        self.price = price
        self._endpoint = endpoint
        self._slots = threading.BoundedSemaphore(check.integer("concurrency", concurrency, low=1, high=64))

    def complete(self, prompt: str, **options: Any) -> str:
        """What the model replies; see `reply`."""
        return self.reply(prompt, **options).text

    def reply(
        self,
        prompt: str,
        *,
        max_tokens: int = MOST_TOKENS,
        temperature: float = 0.0,
        json: bool = False,
        cancel: threading.Event | None = None,
    ) -> Reply:
        """Ask the model one thing.

        Args:
            prompt: All that it is told, at most 2,000,000 characters.
            max_tokens: Tokens that the reply may take; one that was cut off there is not `whole`.
            temperature: 0 to 2; at 0 the most probable reply.
            json: Tell the service that JSON is wanted, where it can be told.
            cancel: Once set, nobody waits for the reply any more, and `ModelFailed` says so within a tenth of a second.

        Returns:
            The reply with the tokens that the service counted.

        Raises:
            InvalidInput: An argument out of range. ModelFailed: The service was not reached, refused, or replied something else.

        Cost: one request, and up to four more after refusals that pass, in at most five minutes. Waits for a free slot if as many calls
        as `concurrency` are under way.
        """
        if not isinstance(prompt, str) or not prompt.strip():
            raise InvalidInput("prompt", prompt, "must be text that says something")
        if len(prompt) > LONGEST:
            raise InvalidInput("prompt", prompt[:60], f"is {len(prompt):,} characters long, at most {LONGEST:,} are sent")
        most = check.integer("max_tokens", max_tokens, low=1, high=_MOST)
        warmth = check.number("temperature", temperature, low=0.0, high=2.0)
        wanted = check.flag("json", json)
        while not self._slots.acquire(timeout=0.05 if cancel is not None else None):
            if cancel is not None and cancel.is_set():
                raise ModelFailed(f"{self._endpoint.name}: cancelled before it was asked")
        try:
            return self._asked(check.cleaned(prompt), most, warmth, wanted, cancel)
        except Cancelled:
            raise ModelFailed(f"{self._endpoint.name}: cancelled") from None
        finally:
            self._slots.release()

    def _asked(self, prompt: str, most: int, warmth: float, json: bool, cancel: threading.Event | None) -> Reply:
        made = self._ask(self._request(prompt, most, warmth, json), cancel)
        try:
            if isinstance(made, Mapping) and made.get("error") and not self._has_reply(made):
                said = made["error"]
                told = said.get("message", said) if isinstance(said, Mapping) else said
                raise ModelFailed(f"{self._endpoint.name}: {str(told)[:200]}")
            return self._read(made)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ModelFailed(f"{self._endpoint.name}: the reply has another form than expected: {shown(made, 100)}") from error

    def _ask(self, request: Mapping[str, Any], cancel: threading.Event | None) -> Any:
        return self._endpoint.ask(request, tries=TRIES, patience=PATIENCE, cancel=cancel)

    def _has_reply(self, made: Mapping[str, Any]) -> bool:
        return any(made.get(name) for name in ("choices", "content", "message"))

    def _request(self, prompt: str, most: int, warmth: float, json: bool) -> Mapping[str, Any]:
        raise ModelFailed(f"{self.model_id} cannot be asked by itself")

    def _read(self, made: Any) -> Reply:
        raise ModelFailed(f"{self.model_id} cannot be asked by itself")


class OpenAILLM(ServiceLLM):
    """OpenAI's chat interface, and every server that speaks it: vLLM, llama.cpp, DeepSeek, a gateway, …"""

    def __init__(
        self,
        name: str = "gpt-4o-mini",
        *,
        base_url: str | None = None,
        timeout: float = 120.0,
        concurrency: int = 4,
        price: tuple[float, float] | None = None,
        pause: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] | None = None,
        kind: str = "openai",
        keys: tuple[str, ...] = ("OPENAI_API_KEY",),
    ) -> None:
        """`base_url` is where `/chat/completions` lies; OPENAI_BASE_URL or OpenAI itself unless given. The key is OPENAI_API_KEY.

        `timeout` is in seconds for one try, `price` in US dollars for a million tokens, read and written.

        Raises:
            NotAvailable: No key, and the server is not on this machine. InvalidInput: A value out of range.
        """
        base = base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
        key = key_for(base, keys, kind)
        endpoint = _Endpoint(kind, f"{base.rstrip('/')}/chat/completions", key=key, timeout=timeout, pause=pause, chance=chance)
        super().__init__(kind, name, endpoint, concurrency=concurrency, price=price)
        self._limit = "max_tokens"
        self._plain = False

    def _request(self, prompt: str, most: int, warmth: float, json: bool) -> Mapping[str, Any]:
        made: dict[str, Any] = {"model": self.name, "messages": [{"role": "user", "content": prompt}], self._limit: most, "stream": False}
        return made if self._plain else {**made, "temperature": warmth}

    def _ask(self, request: Mapping[str, Any], cancel: threading.Event | None) -> Any:
        # Newer models refuse the older name of the limit, or a temperature; which of them do is only found out by asking.
        for _ in range(2):
            try:
                return super()._ask(request, cancel)
            except ModelFailed as error:
                told = str(error)
                changed = {**request}
                if "max_completion_tokens" in told and "max_tokens" in request:
                    self._limit = "max_completion_tokens"
                    changed[self._limit] = changed.pop("max_tokens")
                elif "temperature" in told and not error.passing and "temperature" in request:
                    self._plain = True
                    del changed["temperature"]
                else:
                    raise
                request = changed
        return super()._ask(request, cancel)

    def _read(self, made: Any) -> Reply:
        choice = made["choices"][0]
        message, used = choice["message"], made.get("usage") or {}
        content = message.get("content")
        if message.get("refusal") and not content:
            raise ModelFailed(f"{self._endpoint.name}: the model declined: {str(message['refusal'])[:150]}", passing=False)
        return Reply(
            _parts(content), _count(used.get("prompt_tokens")), _count(used.get("completion_tokens")),
            whole=choice.get("finish_reason") != "length",
        )  # fmt: skip


class ZhipuLLM(OpenAILLM):
    """Zhipu's chat models, such as `glm-4-flash`. The key is ZHIPUAI_API_KEY or ZAI_API_KEY."""

    def __init__(self, name: str = "glm-4-flash", *, base_url: str | None = None, **more: Any) -> None:
        """Arguments as for `OpenAILLM`; `base_url` is Zhipu's own, or ZHIPUAI_BASE_URL, unless given. Raises NotAvailable: No key."""
        base = base_url or os.environ.get("ZHIPUAI_BASE_URL") or "https://open.bigmodel.cn/api/paas/v4"
        super().__init__(name, base_url=base, kind="zhipu", keys=("ZHIPUAI_API_KEY", "ZAI_API_KEY"), **more)


class AnthropicLLM(ServiceLLM):
    """Anthropic's messages interface. The key is ANTHROPIC_API_KEY."""

    def __init__(
        self,
        name: str = "claude-haiku-4-5",
        *,
        base_url: str | None = None,
        timeout: float = 120.0,
        concurrency: int = 4,
        price: tuple[float, float] | None = None,
        pause: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] | None = None,
    ) -> None:
        """`base_url` is where `/v1/messages` lies; ANTHROPIC_BASE_URL or Anthropic itself unless given.

        Raises:
            NotAvailable: No key, and the server is not on this machine. InvalidInput: A value out of range.
        """
        base = base_url or os.environ.get("ANTHROPIC_BASE_URL") or "https://api.anthropic.com"
        key = key_for(base, ("ANTHROPIC_API_KEY",), "anthropic")
        endpoint = _Endpoint(
            "anthropic", f"{base.rstrip('/').removesuffix('/v1')}/v1/messages", key=key, timeout=timeout, pause=pause, chance=chance,
            key_header="x-api-key", headers={"anthropic-version": "2023-06-01"},
        )  # fmt: skip
        super().__init__("anthropic", name, endpoint, concurrency=concurrency, price=price)

    def _request(self, prompt: str, most: int, warmth: float, json: bool) -> Mapping[str, Any]:
        return {
            "model": self.name, "max_tokens": most, "temperature": min(warmth, 1.0), "messages": [{"role": "user", "content": prompt}],
        }  # fmt: skip

    def _read(self, made: Any) -> Reply:
        if made["stop_reason"] == "refusal":
            raise ModelFailed("anthropic: the model declined", passing=False)
        used = made.get("usage") or {}
        read = [_count(used.get(name)) for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")]
        known = [count for count in read if count is not None]
        return Reply(
            _parts(made["content"]), sum(known) if known else None, _count(used.get("output_tokens")),
            whole=made["stop_reason"] != "max_tokens",
        )  # fmt: skip


class OllamaLLM(ServiceLLM):
    """A model that Ollama runs, on this machine unless OLLAMA_HOST names another. It costs nothing and needs no key."""

    def __init__(
        self,
        name: str = "llama3.2",
        *,
        base_url: str | None = None,
        think: bool | None = None,
        timeout: float = 300.0,
        concurrency: int = 1,
        pause: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] | None = None,
    ) -> None:
        """`think` turns the thinking of models that think on or off; None leaves it to the model. Raises InvalidInput."""
        self.think = None if think is None else check.flag("think", think)
        endpoint = _Endpoint("ollama", f"{ollama_at(base_url)}/api/chat", timeout=timeout, pause=pause, chance=chance)
        super().__init__("ollama", name, endpoint, concurrency=concurrency, price=(0.0, 0.0))

    def _request(self, prompt: str, most: int, warmth: float, json: bool) -> Mapping[str, Any]:
        # Ollama cuts a prompt that is longer than the context it was given, without a word: so it is given enough.
        wanted = estimated(prompt) + most
        context = next((size for size in _CONTEXT if size >= wanted), _CONTEXT[-1])
        made: dict[str, Any] = {
            "model": self.name, "messages": [{"role": "user", "content": prompt}], "stream": False,
            "options": {"temperature": warmth, "num_predict": most, "num_ctx": context},
        }  # fmt: skip
        return made if self.think is None else {**made, "think": self.think}

    def _ask(self, request: Mapping[str, Any], cancel: threading.Event | None) -> Any:
        try:
            return super()._ask(request, cancel)
        except ModelFailed as error:
            told = str(error)
            if "404" in told and "not found" in told:
                raise ModelFailed(f"{told}; `ollama pull {self.name}` fetches it", passing=False) from error
            if "refused" in told:
                raise ModelFailed(f"{told}; is Ollama running at {self._endpoint.url.removesuffix('/api/chat')}?") from error
            raise

    def _read(self, made: Any) -> Reply:
        if made["done"] is not True:
            raise ValueError("the reply is not done")
        return Reply(
            _parts(made["message"]["content"]), _count(made.get("prompt_eval_count")), _count(made.get("eval_count")),
            whole=made.get("done_reason") != "length",
        )  # fmt: skip


def _parts(content: Any) -> str:
    """The text of a message, which may come in parts, of which those that are no text (thoughts, calls of tools) say nothing here."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise TypeError(f"content is {type(content).__name__}")
    texts = [part["text"] for part in content if isinstance(part, Mapping) and part.get("type") in ("text", "output_text")]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a part of the content is no text")
    return "".join(texts)


def _count(value: Any) -> int | None:
    """A number of tokens as a service counts it; None if it does not."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 10**9 else None

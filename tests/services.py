"""A server on this machine that speaks a provider's format, for the drivers of services: refusals and accidents included."""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = Callable[[BaseHTTPRequestHandler], None]
"""What a service does with one request, in place of answering it rightly."""


class Service(ABC):
    """A server on this machine. `replies` are used up one after the other, then every request is answered rightly.

    While there is a `gate`, requests wait at it; `most_under_way` were answered at once at most.
    """

    def __init__(self, form: str) -> None:
        self.form = form
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.replies: list[Behaviour] = []
        self.under_way = self.most_under_way = 0
        self.gate: threading.Event | None = None
        service, counting = self, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: Any) -> None:
                return

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with counting:
                    service.requests.append((self.path, dict(self.headers), body))
                    service.under_way += 1
                    service.most_under_way = max(service.most_under_way, service.under_way)
                try:
                    if service.gate is not None:
                        service.gate.wait(30)
                    service.answer(self, body)
                finally:
                    with counting:
                        service.under_way -= 1

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """Answers one request."""
        if self.replies:
            self.replies.pop(0)(handler)
        else:
            send(handler, 200, self.right(body))

    @abstractmethod
    def right(self, body: dict[str, Any]) -> Any:
        """The service's real form of a good reply."""

    def close(self) -> None:
        if self.gate is not None:
            self.gate.set()
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()


class ModelService(Service):
    """A service of language models that speaks one provider's real format."""

    text: Any = "Delete it."

    def right(self, body: dict[str, Any], *, cut: bool = False) -> Any:
        if self.form == "ollama":
            return {
                "model": body["model"], "created_at": "2026-11-30T10:00:00Z", "done": True, "done_reason": "length" if cut else "stop",
                "message": {"role": "assistant", "content": self.text, "thinking": "Let me see."}, "total_duration": 5043500667,
                "prompt_eval_count": 26, "eval_count": 7,
            }  # fmt: skip
        if self.form == "anthropic":
            return {
                "id": "msg_01", "type": "message", "role": "assistant", "model": body["model"], "stop_sequence": None,
                "content": [{"type": "thinking", "thinking": "Let me see.", "signature": "x"}, {"type": "text", "text": self.text}],
                "stop_reason": "max_tokens" if cut else "end_turn",
                "usage": {"input_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 6, "output_tokens": 7},
            }  # fmt: skip
        return {
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"],
            "choices": [{"index": 0, "finish_reason": "length" if cut else "stop", "logprobs": None,
                         "message": {"role": "assistant", "content": self.text, "refusal": None, "reasoning_content": "Let me see."}}],
            "usage": {"prompt_tokens": 26, "completion_tokens": 7, "total_tokens": 33},
        }  # fmt: skip


def send(handler: BaseHTTPRequestHandler, status: int, body: Any, **headers: str) -> None:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(raw)))
    handler.end_headers()
    handler.wfile.write(raw)


def hung_up(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True
    handler.connection.close()

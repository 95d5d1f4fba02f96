"""A server on this machine that speaks a provider's format, for the drivers of services: refusals and accidents included."""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Service(ABC):
    """A server on this machine. `replies` are used up one after the other, then every request is answered rightly."""

    def __init__(self, form: str) -> None:
        self.form = form
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.replies: list[Callable[[BaseHTTPRequestHandler], None]] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: Any) -> None:
                return

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                service.requests.append((self.path, dict(self.headers), body))
                if service.replies:
                    service.replies.pop(0)(self)
                else:
                    send(self, 200, service.right(body))

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @abstractmethod
    def right(self, body: dict[str, Any]) -> Any:
        """The service's real form of a good reply."""

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()


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

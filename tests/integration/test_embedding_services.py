"""Drivers of embedding services against real sockets that speak each service's format, its refusals and its accidents."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any, Final

import pytest

from earnest import wire as transport
from earnest.embedders import CohereEmbedder, OllamaEmbedder, OpenAIEmbedder, VoyageEmbedder, ZhipuEmbedder
from earnest.embedders.http import Endpoint
from earnest.errors import EmbedderFailed, InvalidInput, NotAvailable
from earnest.memory import Memory
from tests.services import Service, hung_up, send

KEY: Final = "test-key-that-nobody-may-see"


def vector(text: str) -> list[float]:
    return [1.0 + text.count("cat"), 1.0 + text.count("log"), 0.5]


class Embeddings(Service):
    def right(self, body: dict[str, Any]) -> Any:
        """The service's real form of a good reply; `index` in an order of its own."""
        texts: list[str] = body.get("texts") or body["input"]
        if self.form == "ollama":
            return {"model": body["model"], "embeddings": [vector(text) for text in texts], "total_duration": 14143917}
        if self.form == "cohere":
            return {"id": "3f", "texts": texts, "embeddings": {"float": [vector(text) for text in texts]}, "meta": {}}
        items = [{"object": "embedding", "index": i, "embedding": vector(text)} for i, text in enumerate(texts)]
        return {"object": "list", "data": items[::-1], "model": body["model"], "usage": {"prompt_tokens": 5, "total_tokens": 5}}


def status(code: int, body: Any = None, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    return lambda handler: send(handler, code, body if body is not None else {"error": {"message": f"code {code}"}}, **headers)


def truncated(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "5000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')
    handler.wfile.flush()
    handler.close_connection = True


@pytest.fixture
def pauses() -> list[float]:
    return []


FORMS: Final = ("openai", "zhipu", "ollama", "cohere", "voyage")


@pytest.fixture
def service(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    for name in ("OPENAI_API_KEY", "ZHIPUAI_API_KEY", "CO_API_KEY", "VOYAGE_API_KEY"):
        monkeypatch.setenv(name, KEY)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    made = Embeddings(getattr(request, "param", "openai"))
    yield made
    made.close()


def driver(service: Service, pauses: list[float], timeout: float = 30.0) -> Any:
    made: dict[str, Callable[[], Any]] = {
        "openai": lambda: OpenAIEmbedder("m", base_url=f"{service.url}/v1", timeout=timeout, pause=pauses.append),
        "zhipu": lambda: ZhipuEmbedder("embedding-3", base_url=f"{service.url}/v4", timeout=timeout, pause=pauses.append),
        "ollama": lambda: OllamaEmbedder("m", base_url=service.url, timeout=timeout, pause=pauses.append),
        "cohere": lambda: CohereEmbedder("m", base_url=f"{service.url}/v2", timeout=timeout, pause=pauses.append),
        "voyage": lambda: VoyageEmbedder("m", base_url=f"{service.url}/v1", timeout=timeout, pause=pauses.append),
    }
    return made[service.form]()


PATHS: Final = {
    "openai": "/v1/embeddings",
    "zhipu": "/v4/embeddings",
    "ollama": "/api/embed",
    "cohere": "/v2/embed",
    "voyage": "/v1/embeddings",
}


@pytest.mark.parametrize("service", FORMS, indirect=True)
def test_vectors_come_back_in_the_order_of_the_texts(service: Service, pauses: list[float]) -> None:
    embedder = driver(service, pauses)
    texts = ["cat", "log", "cat log", "数据库", "x" * 10_000]
    assert embedder.embed(texts) == [vector(text[:6_000]) for text in texts]
    assert embedder.embed_query("cat") == vector("cat")
    path, headers, body = service.requests[0]
    assert path == PATHS[service.form] and body["model"] == embedder.name
    assert headers.get("Authorization") == (None if service.form == "ollama" else f"Bearer {KEY}")
    assert max(len(text) for text in body.get("texts") or body["input"]) == 6_000
    if service.form in ("cohere", "voyage"):
        kinds = [request[2]["input_type"] for request in service.requests]
        assert kinds in (["search_document", "search_query"], ["document", "query"])
    assert pauses == []


@pytest.mark.parametrize("service", FORMS, indirect=True)
def test_many_texts_go_in_batches(service: Service, pauses: list[float]) -> None:
    embedder = driver(service, pauses)
    count = 2 * embedder.batch + 1
    assert len(embedder.embed(["cat"] * count)) == count
    assert [len(body.get("texts") or body["input"]) for _, _, body in service.requests] == [embedder.batch, embedder.batch, 1]


@pytest.mark.parametrize("service", FORMS, indirect=True)
def test_a_refusal_that_passes_is_tried_again(service: Service, pauses: list[float]) -> None:
    service.replies = [status(429, Retry_After="2"), status(500), truncated, hung_up]
    assert driver(service, pauses).embed(["cat"]) == [vector("cat")]
    assert pauses == [2.0, 1.0, 2.0, 4.0]
    assert len(service.requests) == 5


def test_retry_after_may_be_a_date(service: Service, pauses: list[float]) -> None:
    later = {"Retry_After": "Mon, 30 Nov 2026 07:00:07 GMT", "Date": "Mon, 30 Nov 2026 07:00:00 GMT"}

    def dated(handler: BaseHTTPRequestHandler) -> None:
        handler.date_time_string = lambda timestamp=None: later["Date"]  # type: ignore[method-assign]
        send(handler, 503, {}, Retry_After=later["Retry_After"])

    service.replies = [dated]
    driver(service, pauses).embed(["cat"])
    assert pauses == [7.0]


def test_tries_and_waits_are_bounded(service: Service, pauses: list[float]) -> None:
    embedder = driver(service, pauses)
    service.replies = [status(429)] * 20
    with pytest.raises(EmbedderFailed, match="HTTP 429") as caught:
        embedder.embed(["cat"])
    assert caught.value.passing and len(service.requests) == transport.TRIES
    service.replies = [status(429, Retry_After="3600")]
    with pytest.raises(EmbedderFailed):
        embedder.embed(["cat"])
    assert len(service.requests) == transport.TRIES + 1 and max(pauses) <= 30.0
    service.replies = [status(503)] * 2
    with pytest.raises(EmbedderFailed):
        embedder.embed_query("cat")
    assert len(service.requests) == transport.TRIES + 3, "whoever asks a question waits for two tries at most"


@pytest.mark.parametrize("code", [400, 401, 403, 404, 413, 422])
def test_a_refusal_that_stays_is_not_tried_again(service: Service, pauses: list[float], code: int) -> None:
    service.replies = [status(code, {"error": {"message": f"no, {KEY} is wrong"}})]
    with pytest.raises(EmbedderFailed, match=f"HTTP {code}") as caught:
        driver(service, pauses).embed(["cat"])
    assert len(service.requests) == 1 and pauses == []
    assert KEY not in str(caught.value) and "\n" not in str(caught.value)
    assert caught.value.passing is (code not in (400, 413, 422))


def test_a_reply_that_points_elsewhere_is_not_followed(service: Service, pauses: list[float]) -> None:
    other = Embeddings("openai")
    try:
        for code in (301, 302, 307, 308):
            service.replies = [status(code, {}, Location=f"{other.url}/v1/embeddings")]
            with pytest.raises(EmbedderFailed, match=f"HTTP {code}"):
                driver(service, pauses).embed(["cat"])
        assert other.requests == [], "a key went to another place"
    finally:
        other.close()


def test_a_service_that_does_not_answer_is_given_up(service: Service, pauses: list[float]) -> None:
    gate = threading.Event()
    service.replies = [lambda handler: (gate.wait(30), hung_up(handler))] * transport.TRIES  # type: ignore[list-item, func-returns-value]
    try:
        with pytest.raises(EmbedderFailed, match=r"tried 5 times") as caught:
            driver(service, pauses, timeout=0.05).embed(["cat"])
        assert caught.value.passing
    finally:
        gate.set()


def test_nobody_there_is_said(pauses: list[float]) -> None:
    gone = Embeddings("ollama")
    gone.close()
    with pytest.raises(EmbedderFailed, match="ollama") as caught:
        OllamaEmbedder("m", base_url=gone.url, pause=pauses.append).embed(["cat"])
    assert caught.value.passing


WRONG: Final[dict[str, tuple[str, Any]]] = {
    "no data": ("openai", {"error": None}),
    "data is no list": ("openai", {"data": 5}),
    "items are no objects": ("openai", {"data": [[1.0]]}),
    "an item without a vector": ("openai", {"data": [{"index": 0}]}),
    "an index beyond the texts": ("openai", {"data": [{"index": 7, "embedding": [1.0]}]}),
    "an index that is no number": ("openai", {"data": [{"index": True, "embedding": [1.0]}]}),
    "an index twice": ("openai", {"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [2.0]}]}),
    "a list": ("openai", []),
    "null": ("openai", None),
    "too few": ("ollama", {"embeddings": []}),
    "too many": ("ollama", {"embeddings": [[1.0], [2.0]]}),
    "no kind": ("cohere", {"embeddings": [[1.0]]}),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_reply_of_another_form_is_one_typed_error(name: str, pauses: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    form, body = WRONG[name]
    for key in ("OPENAI_API_KEY", "CO_API_KEY"):
        monkeypatch.setenv(key, KEY)
    service = Embeddings(form)
    try:
        service.replies = [status(200, body if body is not None else b"null")]
        with pytest.raises(EmbedderFailed, match="another form"):
            driver(service, pauses).embed(["cat"])
    finally:
        service.close()


@pytest.mark.parametrize("raw", [b"", b"<html>busy</html>", b"{", b"[" * 100_000, "näh".encode("latin-1")])
def test_a_reply_that_is_no_json_is_tried_again_and_then_said(service: Service, pauses: list[float], raw: bytes) -> None:
    service.replies = [status(200, raw)] * 5
    with pytest.raises(EmbedderFailed, match="no JSON"):
        driver(service, pauses).embed(["cat"])
    assert len(service.requests) == 5


def test_a_reply_that_never_ends_is_not_read(service: Service, pauses: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "LARGEST", 1_000_000)
    service.replies = [status(200, b" " * 1_000_001)]
    with pytest.raises(EmbedderFailed, match="larger than"):
        driver(service, pauses).embed(["cat"])


@pytest.mark.parametrize(
    "url", ["ftp://x/", "file:///etc/passwd", "http://", "localhost:80", "", None, 5, "http://u:p@localhost/", "https://k@h/"]
)
def test_what_is_no_address_is_refused_without_showing_a_password(url: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        Endpoint("x", url)
    assert ":p@" not in str(caught.value)


def test_a_key_does_not_leave_this_machine_unencrypted() -> None:
    with pytest.raises(InvalidInput, match="unencrypted"):
        Endpoint("x", "http://example.test/v1", key=KEY)
    assert Endpoint("x", "https://example.test/v1", key=KEY).name == "x"


@pytest.mark.parametrize("value", ["", "  ", "two\nlines", "schlüssel"])
def test_a_key_that_cannot_be_one_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOYAGE_API_KEY", value)
    with pytest.raises(NotAvailable, match="VOYAGE_API_KEY") as caught:
        VoyageEmbedder("m")
    assert not value.strip() or value not in str(caught.value)


# through Memory


def test_a_store_fills_up_from_a_service_that_fails_at_first(service: Service, pauses: list[float]) -> None:
    service.replies = [status(500)] * 3 + [status(429)] * 2
    with Memory.open(":memory:", embedder=driver(service, pauses)) as memory:
        memory.add_many([{"text": "The cat sleeps."}, {"text": "Read the log."}])
        assert [hit.entry.text for hit in memory.search("cat", mode="keyword")] == ["The cat sleeps."]
        while memory.embed_pending(wait=60):
            pass
        assert memory.stats().vectors.usable == 2
        assert memory.search("cat", mode="dense", k=1)[0].entry.text == "The cat sleeps."


def test_vectors_that_cannot_be_used_are_left_out_and_the_rest_is_kept(service: Service, pauses: list[float]) -> None:
    def odd(handler: BaseHTTPRequestHandler) -> None:
        body = service.requests[-1][2]
        items = [{"index": i, "embedding": vector(text)} for i, text in enumerate(body["input"])]
        items[0]["embedding"] = [float("nan"), 1.0, 1.0]
        items[1]["embedding"] = None
        items[2]["embedding"] = [1.0]
        send(handler, 200, {"data": items[:-1]})

    service.replies = [odd]
    with Memory.open(":memory:") as memory:
        memory.add_many([{"text": f"The cat number {n} sleeps."} for n in range(6)])
        memory._embedding = _embedding(driver(service, pauses))
        report = memory.reembed()
        assert (report.made, report.failed, report.left) == (2, 4, 4)
        assert {reason.partition("gave ")[2] for reason in report.why.values()} == {
            "a vector with NaN or infinity in it", "no vector", "a vector of 1 dimensions in place of 3",
        }  # fmt: skip
        assert memory.reembed().left == 0


def _embedding(embedder: Any) -> Any:
    from earnest.opening import given_embedding

    return given_embedding(embedder)


def test_no_key_is_ever_in_the_file(service: Service, pauses: list[float], tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{service.url}/v1")
    monkeypatch.delenv("EARNEST_EMBEDDER")
    service.replies = [status(401, {"error": f"the key {KEY} is wrong"})]
    with Memory.open(tmp_path / "m.db", embedder="openai:m") as memory:
        memory.add("The cat sleeps.")
        memory.embed_pending(wait=5)
        assert KEY not in repr(memory.doctor()) + repr(memory.stats()) + repr(memory.settings)
        memory.backup(tmp_path / "copy.db")
    for file in tmp_path.iterdir():
        assert KEY.encode() not in file.read_bytes()

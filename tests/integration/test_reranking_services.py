"""Drivers of reranking services against real sockets that speak each service's format, its refusals and its accidents."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Final

import pytest

from earnest.errors import InvalidInput, ModelFailed, NotAvailable
from earnest.memory import Memory
from earnest.rerankers import CohereReranker, JinaReranker, VoyageReranker
from earnest.rerankers.services import TRIES
from tests.services import Service, hung_up, send

KEY: Final = "test-key-that-nobody-may-see"
FORMS: Final = ("cohere", "voyage", "jina")
TEXTS: Final = ("zebra", "zebra in Kenya", "a zebra that lives in the far north of Kenya")


def fit(query: str, text: str) -> float:
    """What these services think: the longer the better."""
    return round(len(text) / 5_000 - 0.5, 6)


class Rerankings(Service):
    def right(self, body: dict[str, Any]) -> Any:
        """The service's real form of a good reply: best first."""
        scored = [{"index": i, "relevance_score": fit(body["query"], text)} for i, text in enumerate(body["documents"])]
        scored.sort(key=lambda item: -item["relevance_score"])
        if self.form == "voyage":
            return {"object": "list", "data": scored, "model": body["model"], "usage": {"total_tokens": 26}}
        if self.form == "cohere":
            return {"results": scored, "id": "07734bd2", "meta": {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}}}
        return {"model": body["model"], "usage": {"total_tokens": 815}, "results": scored}


def status(code: int, body: Any = None, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    return lambda handler: send(handler, code, body if body is not None else {"message": f"code {code}"}, **headers)


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def service(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    for name in ("CO_API_KEY", "VOYAGE_API_KEY", "JINA_API_KEY"):
        monkeypatch.setenv(name, KEY)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    made = Rerankings(getattr(request, "param", "cohere"))
    yield made
    made.close()


def driver(service: Service, pauses: list[float], **more: Any) -> Any:
    kinds: dict[str, Callable[..., Any]] = {"cohere": CohereReranker, "voyage": VoyageReranker, "jina": JinaReranker}
    return kinds[service.form]("m", base_url=f"{service.url}/v1", pause=pauses.append, **more)


@pytest.mark.parametrize("service", FORMS, indirect=True)
def test_scores_come_back_in_the_order_of_the_texts(service: Service, pauses: list[float]) -> None:
    reranker = driver(service, pauses)
    texts = ["cat", "x" * 10_000, "log cat", "数据库"]
    assert reranker.rerank("q" * 9_000, texts) == [fit("", text[: reranker.longest]) for text in texts]
    path, headers, body = service.requests[0]
    assert path == "/v1/rerank" and headers["Authorization"] == f"Bearer {KEY}" and body["model"] == "m"
    assert max(map(len, body["documents"])) == reranker.longest == len(body["query"]), "what is sent is bounded"
    assert KEY not in json.dumps(body) and reranker.model_id == f"{service.form}:m"
    assert reranker.rerank("cat", []) == [] and len(service.requests) == 1


@pytest.mark.parametrize("service", FORMS, indirect=True)
def test_more_texts_than_are_sent_come_after_those_that_were(service: Service, pauses: list[float]) -> None:
    reranker = driver(service, pauses)
    made = reranker.rerank("cat", ["x" * n for n in range(reranker.most + 5)])
    assert len(service.requests[0][2]["documents"]) == reranker.most
    assert len(made) == reranker.most + 5 and set(made[reranker.most :]) == {min(made)}


@pytest.mark.parametrize("service", FORMS, indirect=True)
def test_a_refusal_that_passes_is_tried_once_more(service: Service, pauses: list[float]) -> None:
    service.replies = [status(429, Retry_After="2")]
    assert driver(service, pauses).rerank("cat", ["cat"]) == [fit("", "cat")]
    assert pauses == [2.0] and len(service.requests) == 2
    service.replies = [status(503), hung_up]
    with pytest.raises(ModelFailed, match=f"tried {TRIES} times") as caught:
        driver(service, pauses).rerank("cat", ["cat"])
    assert caught.value.passing and len(service.requests) == 4, "whoever asks a question waits for two tries at most"
    service.replies = [status(429, Retry_After="3600")]
    with pytest.raises(ModelFailed, match="429"):
        driver(service, pauses).rerank("cat", ["cat"])
    assert max(pauses) <= 2.0, "nobody waits an hour for an order"


@pytest.mark.parametrize("code", [400, 401, 403, 404, 422])
def test_a_refusal_that_stays_is_not_tried_again_and_shows_no_key(service: Service, pauses: list[float], code: int) -> None:
    service.replies = [status(code, {"message": f"no, {KEY} is wrong"})]
    with pytest.raises(ModelFailed, match=f"HTTP {code}") as caught:
        driver(service, pauses).rerank("cat", ["cat"])
    assert len(service.requests) == 1 and pauses == [] and KEY not in str(caught.value)


def test_a_service_that_does_not_answer_is_given_up(service: Service, pauses: list[float]) -> None:
    gate = threading.Event()
    service.replies = [lambda handler: (gate.wait(30), hung_up(handler))] * TRIES  # type: ignore[list-item, func-returns-value]
    try:
        with pytest.raises(ModelFailed, match="tried 2 times") as caught:
            driver(service, pauses, timeout=0.05).rerank("cat", ["cat"])
        assert caught.value.passing
    finally:
        gate.set()


def test_a_question_under_way_is_left_when_the_memory_is_closed(service: Service, pauses: list[float]) -> None:
    gate, there = threading.Event(), threading.Event()
    service.replies = [lambda handler: (there.set(), gate.wait(30), hung_up(handler))]  # type: ignore[list-item, func-returns-value]
    reranker = driver(service, pauses)
    told: list[str] = []

    def ask() -> None:
        try:
            reranker.rerank("cat", ["cat", "log"])
        except ModelFailed as error:
            told.append(str(error))

    asking = threading.Thread(target=ask)
    try:
        asking.start()
        assert there.wait(30)
        reranker.close()
        asking.join(30)
        assert told and "closed" in told[0]
    finally:
        gate.set()


def scores(*items: Any) -> Any:
    return {"results": [*items]}


ONE: Final = {"index": 0, "relevance_score": 0.5}
WRONG: Final[dict[str, Any]] = {
    "no results": {"message": "ok"},
    "results are no list": scores() | {"results": 5},
    "items are no objects": scores([0.5], [0.4]),
    "too few": scores(ONE),
    "none": scores(),
    "an index beyond the texts": scores(ONE, {"index": 2, "relevance_score": 0.1}),
    "a negative index": scores(ONE, {"index": -1, "relevance_score": 0.1}),
    "an index that is no number": scores(ONE, {"index": True, "relevance_score": 0.1}),
    "an index twice": scores(ONE, ONE),
    "no score": scores(ONE, {"index": 1}),
    "a score that is no number": scores(ONE, {"index": 1, "relevance_score": "0.4"}),
    "a score that is true": scores(ONE, {"index": 1, "relevance_score": True}),
    "a score that is null": scores(ONE, {"index": 1, "relevance_score": None}),
    "NaN": b'{"results": [{"index": 0, "relevance_score": NaN}, {"index": 1, "relevance_score": 1}]}',
    "infinity": b'{"results": [{"index": 0, "relevance_score": 1e999}, {"index": 1, "relevance_score": 1}]}',
    "a list": [],
    "null": b"null",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_reply_of_another_form_is_one_typed_error_and_loses_no_answer(name: str, service: Service, pauses: list[float]) -> None:
    service.replies = [status(200, WRONG[name])] * 3
    reranker = driver(service, pauses)
    with pytest.raises(ModelFailed, match="another form") as caught:
        reranker.rerank("zebra", ["zebra", "zebra in Kenya"])
    assert not caught.value.passing
    with Memory.open(":memory:", reranker=reranker) as memory, Memory.open(":memory:") as plain:
        for one in (memory, plain):
            one.add_many([{"text": text} for text in TEXTS[:2]])
        hits = memory.search("zebra")
        assert [hit.entry.text for hit in hits] == [hit.entry.text for hit in plain.search("zebra")]
        assert all("not reranked" in hit.why and "another form" in hit.why for hit in hits)
        assert memory.answer("zebra").text == plain.answer("zebra").text
        assert "reranker_failing" in {finding.code for finding in memory.doctor().findings}
        memory.search("zebra")
        assert memory.doctor().findings == plain.doctor().findings, "what went wrong is over when it answers again"


def test_a_key_that_is_missing_is_said_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CO_API_KEY", "COHERE_API_KEY", "VOYAGE_API_KEY", "JINA_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for make, said in ((CohereReranker, "CO_API_KEY"), (VoyageReranker, "VOYAGE_API_KEY"), (JinaReranker, "JINA_API_KEY")):
        with pytest.raises(NotAvailable, match=said):
            make("m")
    assert JinaReranker("m", base_url="http://127.0.0.1:9/v1").model_id == "jina:m", "a server on this machine may need none"
    monkeypatch.setenv("JINA_API_KEY", KEY)
    with pytest.raises(InvalidInput, match="unencrypted"):
        JinaReranker("m", base_url="http://example.test/v1")


# through Memory


@pytest.mark.parametrize("service", FORMS, indirect=True)
def test_memory_orders_its_hits_by_what_the_service_says(service: Service, pauses: list[float]) -> None:
    with Memory.open(":memory:", reranker=driver(service, pauses)) as memory:
        memory.add_many([{"text": text} for text in TEXTS])
        assert [hit.entry.text for hit in memory.search("zebra")] == [*TEXTS[::-1]]
        said = memory.answer("zebra")
        assert said.deciding is not None and said.deciding.text == TEXTS[2]
        told = json.dumps([body for _, _, body in service.requests])
        assert "balance" not in told and "energy" not in told, "a reranker is given texts alone"


@pytest.mark.parametrize("service", ["jina"], indirect=True)
def test_a_spec_is_the_stores_setting_and_the_environment_goes_before_it(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JINA_BASE_URL", f"{service.url}/v1")
    file = tmp_path / "m.db"
    with Memory.open(file, reranker="jina:m") as memory:
        memory.add_many([{"text": text} for text in TEXTS])
        assert memory.settings.reranker == "jina:m"
    with Memory.open(file) as memory, Memory.open(file) as other:
        assert memory.search("zebra")[0].entry.text == TEXTS[2] == other.search("zebra")[0].entry.text
        before = len(service.requests)
        other.configure(reranker="none")
        assert "reranker" not in memory.search("zebra")[0].why and len(service.requests) == before, "a change counts for every process"
        memory.configure(reranker="jina:m")
        assert other.search("zebra")[0].entry.text == TEXTS[2]
    monkeypatch.setenv("EARNEST_RERANKER", "none")
    before = len(service.requests)
    with Memory.open(file) as memory:
        memory.search("zebra")
        assert len(service.requests) == before and memory.settings.reranker == "jina:m"
    monkeypatch.setenv("EARNEST_RERANKER", "nonsense")
    with pytest.raises(InvalidInput, match="reranker"):
        Memory.open(file)


def test_a_process_that_lacks_the_key_recalls_without_it_and_says_so(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "m.db"
    with Memory.open(file, reranker="cohere:m") as memory:
        memory.add_many([{"text": text} for text in TEXTS])
    for name in ("CO_API_KEY", "COHERE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with Memory.open(file) as memory, Memory.open(file, reranker="none", read_only=True) as plain:
        hits = memory.search("zebra")
        assert [hit.entry.text for hit in hits] == [hit.entry.text for hit in plain.search("zebra")]
        assert "CO_API_KEY" in hits[0].why
        found = {finding.code: finding for finding in memory.doctor().findings}
        assert "CO_API_KEY" in found["reranker_absent"].evidence
    with pytest.raises(NotAvailable, match="CO_API_KEY"):
        Memory.open(file, reranker="cohere:m")


def test_a_service_that_is_down_is_not_waited_for_again_at_once(service: Service, pauses: list[float]) -> None:
    service.replies = [status(503)] * 2
    with Memory.open(":memory:", reranker=driver(service, pauses)) as memory:
        memory.add_many([{"text": text} for text in TEXTS])
        assert "HTTP 503" in memory.search("zebra")[0].why
        assert "a moment ago" in memory.search("zebra")[0].why and len(service.requests) == TRIES

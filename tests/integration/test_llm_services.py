"""Drivers of language models against real sockets that speak each service's format, its refusals and its accidents."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any, Final

import pytest

from earnest import Memory, wire
from earnest.errors import BudgetSpent, InvalidInput, ModelFailed, NotAvailable
from earnest.llms import AnthropicLLM, OllamaLLM, OpenAILLM, Reply, ScriptedLLM, ZhipuLLM, made
from earnest.llms.services import TRIES
from earnest.testing import ManualClock, SeededRng
from tests.services import Behaviour, ModelService, hung_up, send

KEY: Final = "test-key-that-nobody-may-see"
FORMS: Final = ("openai", "zhipu", "anthropic", "ollama")
PATHS: Final = {"openai": "/v1/chat/completions", "zhipu": "/v4/chat/completions", "anthropic": "/v1/messages", "ollama": "/api/chat"}


def status(code: int, body: Any = None, **headers: str) -> Behaviour:
    return lambda handler: send(handler, code, body if body is not None else {"error": {"message": f"code {code}"}}, **headers)


def truncated(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "5000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.wfile.flush()
    handler.close_connection = True


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ZHIPUAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def service(request: pytest.FixtureRequest) -> Iterator[ModelService]:
    made_here = ModelService(getattr(request, "param", "openai"))
    yield made_here
    made_here.close()


def driver(service: ModelService, pauses: list[float], **more: Any) -> Any:
    more = {"pause": pauses.append, **more}
    made_of: dict[str, Callable[[], Any]] = {
        "openai": lambda: OpenAILLM("gpt-4o-mini", base_url=f"{service.url}/v1", **more),
        "zhipu": lambda: ZhipuLLM("glm-4-flash", base_url=f"{service.url}/v4", **more),
        "anthropic": lambda: AnthropicLLM("claude-haiku-4-5", base_url=service.url, **more),
        "ollama": lambda: OllamaLLM("qwen3", base_url=service.url, **more),
    }
    return made_of[service.form]()


@pytest.mark.parametrize("service", FORMS, indirect=True)
def test_a_prompt_is_sent_and_the_reply_read_in_the_services_own_format(service: ModelService, pauses: list[float]) -> None:
    model = driver(service, pauses)
    assert model.reply("May it go? 数据库", max_tokens=50, temperature=0.5, json=True) == Reply("Delete it.", 26, 7)
    assert model.complete("May it go?") == "Delete it."
    path, headers, body = service.requests[0]
    assert path == PATHS[service.form]
    assert body["messages"] == [{"role": "user", "content": "May it go? 数据库"}] and body["model"] == model.name
    limit = body["options"]["num_predict"] if service.form == "ollama" else body["max_tokens"]
    assert limit == 50
    if service.form == "anthropic":
        assert (headers["X-Api-Key"], headers["Anthropic-Version"], headers.get("Authorization")) == (KEY, "2023-06-01", None)
    else:
        assert headers.get("Authorization") == (None if service.form == "ollama" else f"Bearer {KEY}")
    assert pauses == []


@pytest.mark.parametrize("service", FORMS, indirect=True)
def test_a_reply_that_was_cut_off_is_not_whole(service: ModelService, pauses: list[float]) -> None:
    service.replies = [lambda handler: send(handler, 200, service.right({"model": "m"}, cut=True))]
    assert not driver(service, pauses).reply("Tell me.").whole


@pytest.mark.parametrize("service", FORMS, indirect=True)
def test_a_refusal_that_passes_is_tried_again_as_late_as_it_asks_for(service: ModelService, pauses: list[float]) -> None:
    service.replies = [status(429, Retry_After="2"), status(529 if service.form == "anthropic" else 500), truncated, hung_up]
    assert driver(service, pauses).complete("Tell me.") == "Delete it."
    assert pauses == [2.0, 1.0, 2.0, 4.0]
    assert len(service.requests) == 5


@pytest.mark.parametrize("asked", ["0", "Wed, 21 Oct 2015 07:28:00 GMT", "-5 bananas"])
def test_a_refusal_that_names_no_time_to_come_is_not_asked_again_at_once(service: ModelService, pauses: list[float], asked: str) -> None:
    service.replies = [status(429, Retry_After=asked)] * 3
    driver(service, pauses).complete("Tell me.")
    assert pauses == [0.5, 1.0, 2.0]


def test_waits_are_spread_by_chance(service: ModelService, pauses: list[float]) -> None:
    service.replies = [status(503), status(503)]
    driver(service, pauses, chance=iter([0.0, 0.75]).__next__).complete("Tell me.")
    assert pauses == [0.25, 1.25]


def test_tries_and_waits_are_bounded(service: ModelService, pauses: list[float]) -> None:
    service.replies = [status(429)] * 20
    with pytest.raises(ModelFailed, match=r"HTTP 429.*tried 5 times") as caught:
        driver(service, pauses).complete("Tell me.")
    assert caught.value.passing and len(service.requests) == TRIES == 5
    service.replies = [status(429, Retry_After="3600")]
    with pytest.raises(ModelFailed):
        driver(service, pauses).complete("Tell me.")
    assert len(service.requests) == TRIES + 1 and max(pauses) <= 30.0


def test_an_empty_account_is_not_asked_again(service: ModelService, pauses: list[float]) -> None:
    service.replies = [status(429, {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}})]
    with pytest.raises(ModelFailed, match="quota"):
        driver(service, pauses).complete("Tell me.")
    assert pauses == [] and len(service.requests) == 1


@pytest.mark.parametrize("code", [400, 401, 403, 404, 413, 422])
def test_a_refusal_that_stays_is_said_without_the_key(service: ModelService, pauses: list[float], code: int) -> None:
    service.replies = [status(code, {"error": {"message": f"no, {KEY} is wrong"}})]
    with pytest.raises(ModelFailed, match=f"HTTP {code}") as caught:
        driver(service, pauses).complete("Tell me.")
    assert len(service.requests) == 1 and pauses == []
    assert KEY not in str(caught.value) and "\n" not in str(caught.value)


def test_a_reply_that_points_elsewhere_is_not_followed(service: ModelService, pauses: list[float]) -> None:
    other = ModelService("openai")
    try:
        for code in (301, 302, 307, 308):
            service.replies = [status(code, {}, Location=f"{other.url}/v1/chat/completions")]
            with pytest.raises(ModelFailed, match=f"HTTP {code}"):
                driver(service, pauses).complete("Tell me.")
        assert other.requests == [], "a key or a prompt went to another place"
    finally:
        other.close()


def test_a_service_that_does_not_answer_is_given_up(service: ModelService, pauses: list[float]) -> None:
    service.gate = threading.Event()
    with pytest.raises(ModelFailed, match=r"tried 5 times"):
        driver(service, pauses, timeout=0.05).complete("Tell me.")


def test_whoever_does_not_want_a_reply_any_more_does_not_wait_for_it(service: ModelService, pauses: list[float]) -> None:
    service.gate, cancel = threading.Event(), threading.Event()
    caught: list[ModelFailed] = []

    def ask() -> None:
        try:
            driver(service, pauses).complete("Tell me.", cancel=cancel)
        except ModelFailed as error:
            caught.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    while not service.requests:
        asking.join(0.01)
    cancel.set()
    asking.join(10)
    assert not asking.is_alive() and "cancelled" in str(caught[0])
    with pytest.raises(ModelFailed, match="cancelled"):
        driver(service, pauses).complete("Tell me.", cancel=cancel)
    assert len(service.requests) == 1


def test_a_proxy_is_for_other_machines(service: ModelService, pauses: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    assert driver(service, pauses).complete("Tell me.") == "Delete it."


def test_no_more_calls_are_under_way_than_the_model_allows(service: ModelService, pauses: list[float]) -> None:
    model = driver(service, pauses, concurrency=2)
    threads = [threading.Thread(target=model.complete, args=("Tell me.",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(service.requests) == 8 and service.most_under_way <= 2


WRONG: Final[dict[str, tuple[str, Any]]] = {
    "no choices": ("openai", {"id": "x"}),
    "empty choices": ("openai", {"choices": []}),
    "no message": ("openai", {"choices": [{"finish_reason": "stop"}]}),
    "content is a number": ("openai", {"choices": [{"message": {"content": 7}}]}),
    "a list": ("zhipu", []),
    "null": ("zhipu", None),
    "no content": ("anthropic", {"stop_reason": "end_turn"}),
    "content is text": ("anthropic", {"stop_reason": "end_turn", "content": 5}),
    "not done": ("ollama", {"message": {"content": "half"}, "done": False}),
    "no message of Ollama's": ("ollama", {"done": True}),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_reply_of_another_form_is_one_typed_error(name: str, pauses: list[float]) -> None:
    form, body = WRONG[name]
    service = ModelService(form)
    try:
        service.replies = [status(200, body if body is not None else b"null")]
        with pytest.raises(ModelFailed, match="another form"):
            driver(service, pauses).complete("Tell me.")
    finally:
        service.close()


@pytest.mark.parametrize("service", FORMS, indirect=True)
def test_an_error_in_a_good_reply_is_an_error(service: ModelService, pauses: list[float]) -> None:
    service.replies = [status(200, {"error": {"message": "the model is loading"}})]
    with pytest.raises(ModelFailed, match="the model is loading"):
        driver(service, pauses).complete("Tell me.")


def test_a_reply_without_text_is_empty_and_parts_are_joined(service: ModelService, pauses: list[float]) -> None:
    service.text = None
    assert driver(service, pauses).complete("Tell me.") == "", "the model called a tool instead"
    service.text = [{"type": "text", "text": "Delete "}, {"type": "image_url"}, {"type": "text", "text": "it."}]
    assert driver(service, pauses).complete("Tell me.") == "Delete it."


def test_a_model_that_declines_is_no_answer(service: ModelService, pauses: list[float]) -> None:
    service.replies = [status(200, {"choices": [{"message": {"content": None, "refusal": "I can't help with that."}}]})]
    with pytest.raises(ModelFailed, match="declined") as caught:
        driver(service, pauses).complete("Tell me.")
    assert not caught.value.passing


def test_models_that_name_the_limit_otherwise_are_asked_their_way(service: ModelService, pauses: list[float]) -> None:
    service.replies = [
        status(400, {"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}),
        status(400, {"error": {"message": "Unsupported value: 'temperature' does not support 0 with this model."}}),
    ]
    model = driver(service, pauses)
    assert model.complete("Tell me.") == model.complete("Tell me again.") == "Delete it."
    assert len(service.requests) == 4
    assert {"max_completion_tokens"} == {name for name in service.requests[-1][2] if name.startswith("max_") or name == "temperature"}


@pytest.mark.parametrize("service", ["ollama"], indirect=True)
def test_ollama_gets_a_context_that_the_prompt_fits_and_says_what_to_do(service: ModelService, pauses: list[float]) -> None:
    model = driver(service, pauses, think=False)
    model.complete("word " * 5_000)
    assert service.requests[0][2]["options"]["num_ctx"] == 16_384 and service.requests[0][2]["think"] is False
    service.replies = [status(404, {"error": "model 'qwen3' not found"})]
    with pytest.raises(ModelFailed, match="ollama pull qwen3"):
        model.complete("Tell me.")
    service.close()
    with pytest.raises(ModelFailed, match="is Ollama running"):
        model.complete("Tell me.")


def test_a_spec_names_a_model_and_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert made("anthropic:claude-haiku-4-5").model_id == "anthropic:claude-haiku-4-5"  # type: ignore[attr-defined]
    for spec, name in (("openai:x", "OPENAI_API_KEY"), ("zhipu:glm-4-flash", "ZHIPUAI_API_KEY"), ("anthropic:x", "ANTHROPIC_API_KEY")):
        monkeypatch.delenv(name)
        with pytest.raises(NotAvailable, match=name):
            made(spec)
    for wrong in ("", "openai", "openai:", "gpt-4o", "http://x", "none:x"):
        with pytest.raises(InvalidInput, match="must be none, or"):
            made(wrong)
    with pytest.raises(NotAvailable, match="no model is set"):
        made("none")


def test_a_key_does_not_leave_this_machine_unencrypted() -> None:
    with pytest.raises(InvalidInput, match="unencrypted"):
        OpenAILLM("m", base_url="http://models.example.test/v1")


@pytest.mark.parametrize(
    ("option", "value"), [("max_tokens", 0), ("max_tokens", True), ("temperature", float("nan")), ("temperature", 3), ("json", "yes")]
)
def test_options_are_checked_before_anybody_is_asked(service: ModelService, pauses: list[float], option: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=option):
        driver(service, pauses).complete("Tell me.", **{option: value})
    for prompt in ("", "  ", None, 7):
        with pytest.raises(InvalidInput, match="prompt"):
            driver(service, pauses).complete(prompt)
    assert service.requests == []


def test_a_reply_that_never_ends_is_not_read(service: ModelService, pauses: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "LARGEST", 1_000_000)
    service.replies = [status(200, b" " * 1_000_001)]
    with pytest.raises(ModelFailed, match="larger than"):
        driver(service, pauses).complete("Tell me.")


# what it costs, through Memory


def spend(memory: Memory, llm: Any, times: int = 1) -> None:
    for _ in range(times):
        memory.sync_turn("We decided to use PostgreSQL.", "Fine.", extract="llm", llm=llm)


def test_what_a_model_costs_is_counted_in_the_store(service: ModelService, pauses: list[float], tmp_path: Any) -> None:
    service.text = '[{"text": "Decided: use PostgreSQL.", "type": "decision"}]'
    with Memory.open(tmp_path / "m.db", embedder="none", settings={"llm_price": "openai:gpt-4o-mini=0.15/0.60"}) as memory:
        assert memory.stats().cost == {}
        spend(memory, driver(service, pauses))
        service.replies = [status(400)]
        spend(memory, driver(service, pauses))
        memory.sync_turn("I live in Oslo.", "Nice.", extract="llm", llm=ScriptedLLM(["[]"]))
    with Memory.open(tmp_path / "m.db", embedder="none") as memory:
        cost = memory.stats().cost
        assert (cost["calls"], cost["failed"], cost["unpriced"]) == (3, 1, 1)
        assert cost["usd"] == cost["usd_today"] == pytest.approx(26 * 0.15e-6 + 7 * 0.60e-6, abs=1e-6)
        assert cost["tokens_in"] > 26 and cost["tokens_out"] >= 7
        assert KEY not in str(memory.events(limit=100))
    for file in tmp_path.iterdir():
        assert KEY.encode() not in file.read_bytes()


def test_a_budget_of_the_day_is_shared_by_all_processes_and_refuses_before_the_call(
    service: ModelService, pauses: list[float], tmp_path: Any
) -> None:
    clock = ManualClock()

    def opened(seed: int) -> Memory:
        return Memory.open(tmp_path / "m.db", embedder="none", clock=clock, rng=SeededRng(seed))

    service.text = "[]"
    model = driver(service, pauses, price=(1_000.0, 1_000.0))
    with opened(1) as one, opened(2) as two:
        one.configure(llm_daily_budget=2.0)
        spend(one, model, 40)
        asked = len(service.requests)
        assert 0 < asked < 40
        turn = two.sync_turn("We decided to use PostgreSQL.", "Fine.", extract="llm", llm=model)
        assert turn.by == "rules" and "llm_daily_budget" in turn.notes[0] and len(service.requests) == asked
        assert one.stats().cost["usd_today"] == pytest.approx(asked * 0.033)
        clock.advance(days=1)
        spend(two, model)
        assert len(service.requests) == asked + 1
        assert two.stats().cost["usd_today"] == pytest.approx(0.033)


def test_a_budget_needs_a_price(service: ModelService, pauses: list[float]) -> None:
    model = OpenAILLM("own-model", base_url=f"{service.url}/v1")
    with Memory.open(":memory:", embedder="none", settings={"llm_daily_budget": 1.0}) as memory:
        turn = memory.sync_turn("We decided to use PostgreSQL.", "Fine.", extract="llm", llm=model)
        assert "llm_price" in turn.notes[0] and service.requests == []
        memory.configure(llm_price="0.5/1")
        spend(memory, model)
        assert len(service.requests) == 1
    assert issubclass(BudgetSpent, ModelFailed)


def test_the_memorys_own_model_is_asked_where_the_caller_says_so() -> None:
    with Memory.open(":memory:", embedder="none", llm=lambda prompt: '[{"text": "Decided: use PostgreSQL."}]') as memory:
        assert memory.sync_turn("We decided to use PostgreSQL.", "Fine.").by == "rules"
        assert memory.sync_turn("We decided to use PostgreSQL.", "Fine.", extract="llm", llm=True).by == "llm"
        assert memory.sync_turn("We decided to use PostgreSQL.", "Fine.", extract="llm").by == "llm"
    with Memory.open(":memory:", embedder="none") as memory:
        for llm, why in ((True, "no model is set"), (None, "needs a model")):
            with pytest.raises(NotAvailable, match=why):
                memory.sync_turn("We decided to use PostgreSQL.", "Fine.", extract="llm", llm=llm)
    with pytest.raises(InvalidInput, match="llm"):
        Memory.open(":memory:", llm=5)
    with Memory.open(":memory:", embedder="none", llm="ollama:qwen3") as memory:
        assert memory.settings.llm == "ollama:qwen3"


def test_a_store_that_is_only_read_is_opened_with_a_model(tmp_path: Any) -> None:
    with Memory.open(tmp_path / "m.db", embedder="none") as memory:
        memory.add("Redis keeps sessions for 7 days.")
    with Memory.open(tmp_path / "m.db", embedder="none", llm="ollama:qwen3", read_only=True) as memory:
        assert memory.settings.llm == "none" and memory._own_llm == "ollama:qwen3"
        said = memory.answer("How long does Redis keep sessions?", llm=lambda prompt: "For 7 days.")
        assert not said.from_memory and memory.stats().cost == {}

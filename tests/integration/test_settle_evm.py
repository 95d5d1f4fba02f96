"""The EVM settler on a real machine (py-evm) behind JSON-RPC over HTTP: exact, verified, and silent where it cannot know."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from earnest import Memory
from earnest.errors import InvalidInput, NothingMeasured
from earnest.meters import EvmMeter, Snapshot
from earnest.testing.evm import LocalChain


@pytest.fixture
def chain() -> Iterator[LocalChain]:
    with LocalChain() as chain:
        yield chain


def test_a_native_delta_is_exact_and_its_gas_is_told(chain: LocalChain) -> None:
    account, other = chain.accounts[:2]
    meter = EvmMeter(account, chain.url)
    before = meter.snapshot()
    sent = 2**60 + 1
    paid = chain.send(account, other, sent)
    made = meter.measure(before, transactions=[paid])
    receipt = chain.answer("eth_getTransactionReceipt", [paid])
    assert made.gas == int(receipt["gasUsed"], 16) * int(receipt["effectiveGasPrice"], 16) > 0
    assert made.delta == -sent - made.gas
    assert str(made.delta) in made.outcome().detail
    assert EvmMeter(other, chain.url).measure(0).delta == sent


def test_a_token_delta_is_measured_in_whole_coins_and_kept_exact(chain: LocalChain) -> None:
    owner, holder = chain.accounts[:2]
    token = chain.deploy_token(owner)
    meter = EvmMeter(holder, chain.url, verify=chain.endpoint(), token=token)
    before = meter.snapshot()
    chain.transfer(token, owner, holder, 1_500_001)
    made = meter.measure(before)
    assert (made.delta, made.decimals, made.verified, made.outcome().delta) == (1_500_001, 6, True, 1.500001)


def test_blocks_of_the_past_can_be_measured_where_the_node_has_their_state(chain: LocalChain) -> None:
    account, other = chain.accounts[:2]
    meter = EvmMeter(other, chain.url)
    start = meter.snapshot().block.number
    for amount in (5, 7, 11):
        chain.send(account, other, amount)
    assert [meter.measure(start, start + n).delta for n in (1, 2, 3)] == [5, 12, 23]
    with pytest.raises(NothingMeasured, match="does not know block 99"):
        EvmMeter(other, chain.url, patience=0).measure(start, 99)


def test_endpoints_that_disagree_measure_nothing(chain: LocalChain) -> None:
    account = chain.accounts[0]
    wrong: dict[str, Any] = {
        "eth_getBalance": lambda said: hex(int(said, 16) + 1),
        "eth_chainId": lambda said: "0x1",
        "eth_getBlockByNumber": lambda said: {**said, "hash": "0x" + "ab" * 32},
    }
    for method, fault in wrong.items():
        with pytest.raises(NothingMeasured, match="disagree"):
            EvmMeter(account, chain.url, verify=chain.endpoint({method: fault})).snapshot()
    paid = chain.send(account, chain.accounts[1], 1)
    cheap = chain.endpoint({"eth_getTransactionReceipt": lambda said: {**said, "gasUsed": "0x1"}})
    with pytest.raises(NothingMeasured, match="disagree on what"):
        EvmMeter(account, chain.url, verify=cheap).measure(0, transactions=[paid])


def test_a_block_that_left_the_chain_measures_nothing(chain: LocalChain) -> None:
    meter = EvmMeter(chain.accounts[0], chain.url)
    seen = meter.snapshot()
    gone = Snapshot.from_json({**seen.to_json(), "block": {"number": seen.block.number, "hash": "0x" + "0" * 64}})
    with pytest.raises(NothingMeasured, match="reorganised"):
        meter.measure(gone)


def test_a_second_endpoint_that_lags_is_waited_for(chain: LocalChain) -> None:
    asked: list[Any] = []

    def late(said: Any) -> Any:
        asked.append(said)
        return None if len(asked) < 3 else said

    meter = EvmMeter(chain.accounts[0], chain.url, verify=chain.endpoint({"eth_getBlockByNumber": late}), patience=20)
    assert meter.snapshot().verified
    with pytest.raises(NothingMeasured, match="does not know block"):
        EvmMeter(chain.accounts[0], chain.url, verify=chain.endpoint({"eth_getBlockByNumber": lambda _: None}), patience=0).snapshot()


@pytest.mark.parametrize("answer", ["0x", "", None, 7, "0xzz", "-0x1", "0x" + "f" * 65, [], {}])
def test_an_answer_that_is_no_number_measures_nothing(chain: LocalChain, answer: Any) -> None:
    with pytest.raises(NothingMeasured, match="no number"):
        EvmMeter(chain.accounts[0], chain.endpoint({"eth_getBalance": lambda _: answer})).snapshot()


def test_what_is_no_token_measures_nothing(chain: LocalChain) -> None:
    with pytest.raises(NothingMeasured, match="no ERC-20 token"):
        EvmMeter(chain.accounts[0], chain.url, token=chain.accounts[1]).snapshot()


def test_a_transaction_of_somebody_else_or_of_another_time_is_refused(chain: LocalChain) -> None:
    account, other = chain.accounts[:2]
    old = chain.send(account, other, 1)
    meter = EvmMeter(account, chain.url)
    before = meter.snapshot()
    theirs = chain.send(other, account, 1)
    with pytest.raises(InvalidInput, match="was sent by"):
        meter.measure(before, transactions=[theirs])
    with pytest.raises(InvalidInput, match="which is not one of"):
        meter.measure(before, transactions=[old])


@pytest.mark.parametrize(
    ("status", "headers", "body", "why"),
    [
        (200, {}, b"<html>busy</html>", "no JSON"),
        (200, {}, b'{"jsonrpc": "2.0", "id": 2, "result": "0x1"}', "something else"),
        (200, {}, b'{"jsonrpc": "2.0", "id": 1}', "neither"),
        (200, {}, b'{"jsonrpc": "2.0", "id": 1, "error": {"message": "missing trie node"}}', "missing trie node"),
        (200, {}, b'{"id": 1, "result": ' + b"[" * 100_000, "no JSON"),
        (429, {}, b"", "HTTP status 429"),
        (302, {"Location": "http://127.0.0.1:1/"}, b"", "HTTP status 302"),
    ],
)
def test_an_endpoint_that_is_wrong_measures_nothing_and_its_key_is_never_shown(
    status: int, headers: dict[str, str], body: bytes, why: str
) -> None:
    class Wrong(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Wrong) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            with pytest.raises(NothingMeasured, match=why) as caught:
                EvmMeter("0x" + "1" * 40, f"http://127.0.0.1:{server.server_address[1]}/v3/sesame").snapshot()
        finally:
            server.shutdown()
            thread.join()
    assert "sesame" not in str(caught.value)


def test_nobody_there_is_an_abstention_too() -> None:
    with pytest.raises(NothingMeasured, match="no answer") as caught:
        EvmMeter("0x" + "1" * 40, "http://sesame:secret@127.0.0.1:9/key").snapshot()
    assert "secret" not in str(caught.value) and "key" not in str(caught.value)


@pytest.mark.parametrize("address", ["", "0x12", "1" * 42, None, "0x" + "g" * 40, 7])
def test_what_is_no_address_is_refused_at_the_door(address: Any) -> None:
    with pytest.raises(InvalidInput, match="account"):
        EvmMeter(address, "http://localhost:1")


@pytest.mark.parametrize("url", ["", "ftp://x", "file:///etc/passwd", "localhost:8545", "http://", "http://[", 7, None])
def test_what_is_no_endpoint_is_refused_at_the_door(url: Any) -> None:
    with pytest.raises(InvalidInput, match="rpc"):
        EvmMeter("0x" + "1" * 40, url)


def test_the_same_endpoint_twice_verifies_nothing(chain: LocalChain) -> None:
    with pytest.raises(InvalidInput, match="the first endpoint again"):
        EvmMeter(chain.accounts[0], chain.url, verify=chain.url)


@pytest.mark.parametrize(
    "change",
    [
        {"form": 2},
        {"balance": 7},
        {"balance": "-1"},
        {"account": "x"},
        {"block": {"number": -1, "hash": "0x"}},
        {"chain": None},
        {"verified": 1},
    ],
)
def test_a_snapshot_that_is_something_else_is_refused(chain: LocalChain, change: dict[str, Any]) -> None:
    said = EvmMeter(chain.accounts[0], chain.url).snapshot().to_json()
    assert Snapshot.from_json(json.loads(json.dumps(said))).to_json() == said
    with pytest.raises(InvalidInput, match="is none that"):
        Snapshot.from_json({**said, **change})
    nothing: list[Any] = [None, [], "x", {}]
    for junk in nothing:
        with pytest.raises(InvalidInput):
            Snapshot.from_json(junk)


def earnest(*words: str, store: Path) -> tuple[int, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "earnest", *words, "--store", str(store), "--json"], capture_output=True, text=True, timeout=120, check=False
    )
    return done.returncode, json.loads(done.stdout or done.stderr)


def test_the_command_takes_a_snapshot_and_settles_by_it(chain: LocalChain, tmp_path: Path) -> None:
    store, before = tmp_path / "trades.db", tmp_path / "before.json"
    account, other = chain.accounts[:2]
    with Memory.open(store, embedder="none") as memory:
        memory.add("Rebalance on Mondays.", cue="When to rebalance?")
        tickets = [memory.decide("When to rebalance?").id or "" for _ in range(2)]
    status, said = earnest("settle-evm", "--rpc", chain.url, "--account", other, "--snapshot", str(before), store=store)
    assert (status, said["account"]) == (0, other)
    status, said = earnest("settle-evm", "--rpc", chain.url, "--account", other, "--snapshot", str(before), store=store)
    assert (status, said["error"]) == (2, "InvalidInput")
    chain.send(account, other, 4 * 10**18)
    words = ["settle-evm", "--rpc", chain.url, "--verify-rpc", chain.endpoint(), "--before", str(before), "--tickets", ",".join(tickets)]
    status, said = earnest(*words, store=store)
    assert (status, said["delta"], said["exact"], said["landed"], said["unit"]) == (0, 4.0, str(4 * 10**18), 2, "native")
    with Memory.open(store) as memory:
        settled = memory.events(kind="settle")
        assert [(event.data["delta"], event.data["tier"], event.channel) for event in settled] == [(2.0, "measured", "settle-evm")] * 2
    assert earnest(*words, store=store)[0] == 1, "a ticket lands once"


def test_the_command_abstains_and_leaves_the_ticket_open(chain: LocalChain, tmp_path: Path) -> None:
    store, before = tmp_path / "trades.db", tmp_path / "before.json"
    with Memory.open(store, embedder="none") as memory:
        memory.add("Rebalance on Mondays.", cue="When to rebalance?")
        ticket = memory.decide("When to rebalance?").id or ""
    assert earnest("settle-evm", "--rpc", chain.url, "--account", chain.accounts[0], "--snapshot", str(before), store=store)[0] == 0
    wrong = chain.endpoint({"eth_getBalance": lambda _: "0x0"})
    status, said = earnest(
        "settle-evm", "--rpc", chain.url, "--verify-rpc", wrong, "--before", str(before), "--tickets", ticket, store=store
    )  # fmt: skip
    assert (status, said["delta"], said["landed"]) == (3, None, 0) and "disagree" in said["reason"]
    with Memory.open(store) as memory:
        assert [each.id for each in memory.pending()] == [ticket]


def test_a_local_chain_leaves_the_bound_on_recursion_as_it_was() -> None:
    """A library that raises it for the whole process would let text that is nested too deep end the process."""
    code = (
        "import json, sys\nfrom earnest.testing.evm import LocalChain\nbefore = sys.getrecursionlimit()\nwith LocalChain():\n"
        "    assert sys.getrecursionlimit() == before\ntry:\n    json.loads('[' * 100_000)\nexcept RecursionError:\n    print('refused')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "refused\n", done.stderr[-500:]

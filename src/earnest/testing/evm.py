"""A private EVM chain behind JSON-RPC over HTTP, to rehearse on before anything real is measured. Needs the extra `evm`.

The machine is py-evm by way of eth-tester; nothing here imitates it. Written here are the endpoint, and a token small enough to read.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, Self

from earnest.errors import NotAvailable
from earnest.installed import bringing

CHAIN_ID: Final = 131277322940537
"""What eth-tester's machine calls its chain."""


@contextmanager
def _same_depth() -> Iterator[None]:
    """Keeps Python's bound on recursion: py-evm raises it for the whole process, and text that is nested too deep, which is refused
    elsewhere with a RecursionError, would then end the process."""
    limit = sys.getrecursionlimit()
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


class LocalChain:
    """One chain and its endpoint, on this machine alone. Use it in a `with` block.

    accounts: addresses that hold coins and are unlocked. url: the JSON-RPC endpoint.
    """

    def __init__(self) -> None:
        """Start the chain. Raises NotAvailable without the extra `evm`."""
        try:
            with _same_depth():
                from eth_tester import EthereumTester, PyEVMBackend
        except ImportError:
            raise NotAvailable(f"a local chain needs the extra evm: {bringing('evm')}") from None
        self.tester: Any = EthereumTester(PyEVMBackend())
        self.accounts: list[str] = [each.lower() for each in self.tester.get_accounts()]
        self._lock = threading.RLock()
        self._servers: list[tuple[ThreadingHTTPServer, threading.Thread]] = []
        self.url = self.endpoint()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Stop answering."""
        for server, thread in self._servers:
            server.shutdown()
            server.server_close()
            thread.join()

    def endpoint(self, faults: Mapping[str, Callable[[Any], Any]] | None = None) -> str:
        """One more endpoint of this chain; its address. `faults` change answers on their way out, by method: to rehearse one that is
        wrong."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler(faults or {}))
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        self._servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_address[1]}"

    def send(self, sender: str, to: str, value: int = 0, data: str = "0x") -> str:
        """Send a transaction that is mined at once; its hash."""
        with self._lock:
            sent = {"from": sender, "to": to, "value": value, "data": data, "gas": 200_000, "gas_price": self._price()}
            made: str = self.tester.send_transaction(sent)
            return made

    def _price(self) -> int:
        return int(self.tester.get_block_by_number("latest")["base_fee_per_gas"]) * 2

    def deploy_token(self, owner: str) -> str:
        """Make a token whose whole supply the owner holds; its address."""
        with self._lock:
            sent = self.tester.send_transaction({"from": owner, "to": "", "data": token_code(), "gas": 500_000, "gas_price": self._price()})
            made: str = self.tester.get_transaction_receipt(sent)["contract_address"]
            return made.lower()

    def transfer(self, token: str, sender: str, to: str, amount: int) -> str:
        """Send tokens; the transaction's hash."""
        return self.send(sender, token, data=f"0xa9059cbb{to[2:].rjust(64, '0')}{amount:064x}")

    def answer(self, method: str, parameters: list[Any]) -> Any:
        """What the endpoint says. Raises KeyError for a method that it does not know."""
        with self._lock:
            return _METHODS[method](self.tester, *parameters)

    def _handler(self, faults: Mapping[str, Callable[[Any], Any]]) -> type[BaseHTTPRequestHandler]:
        chain = self

        class Handler(BaseHTTPRequestHandler):
            """Answers one call a request."""

            def do_POST(self) -> None:
                """Answer a call."""
                call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                said: dict[str, Any] = {"jsonrpc": "2.0", "id": call["id"]}
                try:
                    made = chain.answer(call["method"], call["params"])
                    said["result"] = faults[call["method"]](made) if call["method"] in faults else made
                except (KeyError, ValueError, TypeError, OverflowError) as error:
                    said["error"] = {"code": -32000, "message": f"{type(error).__name__}: {error}"}
                body = json.dumps(said).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        return Handler


def token_code() -> str:
    """The code that makes a token small enough to read. It keeps each balance in the storage slot of its holder's address, gives the whole
    supply to whoever makes it, knows balanceOf, transfer and decimals (6), and reverts when somebody sends more than they hold."""
    runtime = _assembled()
    supply = 10**12
    make = f"65{supply:012x}3355"  # the supply into the caller's slot
    size = len(runtime) // 2
    offset = len(make) // 2 + 12
    return f"0x{make}61{size:04x}8060{offset:02x}6000396000f3" + runtime


def _assembled() -> str:
    """The runtime, with its jumps put in: each word is an instruction, `@NAME` the place of a label, `NAME:` a label."""
    program = """
        00 CALLDATALOAD e0 SHR
        DUP1 70a08231 EQ @balance JUMPI
        DUP1 a9059cbb EQ @transfer JUMPI
        DUP1 313ce567 EQ @decimals JUMPI
        00 00 REVERT
        balance: 04 CALLDATALOAD SLOAD 00 MSTORE 20 00 RETURN
        decimals: 06 00 MSTORE 20 00 RETURN
        transfer: 24 CALLDATALOAD CALLER SLOAD LT @poor JUMPI
        24 CALLDATALOAD CALLER SLOAD SUB CALLER SSTORE
        24 CALLDATALOAD 04 CALLDATALOAD SLOAD ADD 04 CALLDATALOAD SSTORE
        01 00 MSTORE 20 00 RETURN
        poor: 00 00 REVERT
    """
    codes = {
        "CALLDATALOAD": "35", "SHR": "1c", "DUP1": "80", "EQ": "14", "JUMPI": "57", "REVERT": "fd", "SLOAD": "54", "MSTORE": "52",
        "RETURN": "f3", "CALLER": "33", "LT": "10", "SUB": "03", "SSTORE": "55", "ADD": "01",
    }  # fmt: skip
    made, places, holes = "", {}, []
    for word in program.split():
        if word.endswith(":"):
            places[word[:-1]] = len(made) // 2
            made += "5b"
        elif word.startswith("@"):
            holes.append((len(made) + 2, word[1:]))
            made += "6000"
        elif word in codes:
            made += codes[word]
        else:
            made += f"{0x5F + len(word) // 2:02x}{word}"
    for at, label in holes:
        made = f"{made[:at]}{places[label]:02x}{made[at + 2 :]}"
    return made


def _block(tester: Any, number: str, _full: bool) -> Mapping[str, Any] | None:
    newest = int(tester.get_block_by_number("latest")["number"])
    if int(number, 16) > newest:
        return None
    found = tester.get_block_by_number(int(number, 16))
    return {"number": hex(found["number"]), "hash": found["hash"], "timestamp": hex(found["timestamp"])}


def _call(tester: Any, sent: Mapping[str, str], block: str) -> str:
    at = block if block == "latest" else int(block, 16)
    made = tester.call({"from": tester.get_accounts()[0], "to": sent["to"], "data": sent["data"], "gas": 100_000}, at)
    return str(made)


def _receipt(tester: Any, transaction: str) -> Mapping[str, Any] | None:
    found = tester.get_transaction_receipt(transaction)
    sender = tester.get_transaction_by_hash(transaction)["from"]
    return {
        "from": sender, "blockNumber": hex(found["block_number"]), "gasUsed": hex(found["gas_used"]),
        "effectiveGasPrice": hex(found["effective_gas_price"]),
    }  # fmt: skip


_METHODS: Final[Mapping[str, Callable[..., Any]]] = {
    "eth_chainId": lambda tester: hex(CHAIN_ID),
    "eth_blockNumber": lambda tester: hex(tester.get_block_by_number("latest")["number"]),
    "eth_getBlockByNumber": _block,
    "eth_getBalance": lambda tester, account, block: hex(tester.get_balance(account, int(block, 16))),
    "eth_call": _call,
    "eth_getTransactionReceipt": _receipt,
}

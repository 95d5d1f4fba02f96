"""What a decision did to an account on an EVM chain: native coin, an ERC-20 token or gas, in exact whole numbers.

Two ways. A *snapshot* before and one after: each reads the newest block, which every node can do without a key or an archive. Or two
*pinned blocks* of the past, for nodes that still have their state. A second endpoint, where one is named, has to say the same of chain,
block and balance; and a block that was measured has to be on the chain still.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Final

from earnest.core import check
from earnest.core.outcome import Outcome
from earnest.errors import InvalidInput, NothingMeasured
from earnest.meters.rpc import Endpoint, agreed

NATIVE: Final = "native"
NATIVE_DECIMALS: Final = 18
BALANCE_OF: Final = "0x70a08231"
DECIMALS: Final = "0x313ce567"
_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{40}")
_HASH: Final = re.compile(r"0x[0-9a-fA-F]{64}")
_PAUSE: Final = 0.5
MAX_TRANSACTIONS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Block:
    """A block by its number and its hash."""

    number: int
    hash: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A balance at one block, in the smallest unit. `asset` is `native` or a token's address; `verified` by a second endpoint."""

    chain: int
    block: Block
    account: str
    asset: str
    balance: int
    verified: bool

    def to_json(self) -> dict[str, Any]:
        """The snapshot for a file: numbers that JSON readers would round are texts."""
        return {**asdict(self), "balance": str(self.balance), "form": 1}

    @classmethod
    def from_json(cls, said: Any) -> Snapshot:
        """A snapshot from a file. Raises InvalidInput where it is something else."""
        try:
            if not isinstance(said, Mapping) or said["form"] != 1:
                raise ValueError("it is no snapshot of this form")
            block = Block(check.integer("number", said["block"]["number"], low=0, high=2**63), _hash(said["block"]["hash"]))
            chain = check.integer("chain", said["chain"], low=0, high=2**63)
            asset = NATIVE if said["asset"] == NATIVE else address("asset", said["asset"])
            balance = said["balance"]
            if not isinstance(balance, str) or not re.fullmatch(r"[0-9]{1,78}", balance):
                raise ValueError("its balance is no number")
            return cls(chain, block, address("account", said["account"]), asset, int(balance), check.flag("verified", said["verified"]))
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput("snapshot", "…", f"is none that `settle-evm --snapshot` wrote: {error}") from None


@dataclass(frozen=True, slots=True)
class EvmMeasurement:
    """What an account gained or lost between two blocks. `delta` and `gas` are whole numbers of the smallest unit (wei for gas).

    `gas` is what the account paid for the transactions that were named, the fee of a rollup for its first layer included; it is part of a
    native `delta` and not of a token's.
    """

    delta: int
    decimals: int
    before: Snapshot
    after: Snapshot
    gas: int = 0
    transactions: tuple[str, ...] = ()

    @property
    def verified(self) -> bool:
        """Whether a second endpoint said the same of both ends."""
        return self.before.verified and self.after.verified

    def outcome(self) -> Outcome:
        """The measurement in whole coins, as the outcome of a decision; the exact number is in its detail."""
        native = self.before.asset == NATIVE
        unit = "wei" if native else f"units of {self.before.asset}"
        gas = f", {'of which gas' if native else 'and gas'} {self.gas} wei" if self.gas else ""
        seen = "two endpoints agree" if self.verified else "one endpoint"
        blocks = f"blocks {self.before.block.number} to {self.after.block.number}"
        said = f"{self.delta:+d} {unit} on chain {self.before.chain}, {blocks}{gas}; {seen}"
        return Outcome(float(Fraction(self.delta, 10**self.decimals)), said)


class EvmMeter:
    """Measures what an account on an EVM chain gained or lost.

    account: its address. rpc: a JSON-RPC endpoint (an address or an `Endpoint`). verify: a second one, of another operator, that has to
    agree. token: the address of an ERC-20 token; the native coin unless given. decimals: of that asset; asked of the token unless given.
    name: what its word is recorded under. confirmations: blocks behind the newest one at which it reads. patience: seconds to wait until
    the second endpoint has a block.
    """

    def __init__(
        self,
        account: str,
        rpc: str | Endpoint,
        *,
        verify: str | Endpoint | None = None,
        token: str | None = None,
        decimals: int | None = None,
        name: str = "evm",
        confirmations: int = 0,
        patience: float = 30.0,
    ) -> None:
        """Remember what to measure; nothing is asked yet. Raises InvalidInput."""
        self.name = check.label("name", name, limit=100)
        self.account = address("account", account)
        self.asset = NATIVE if token is None else address("token", token)
        self._rpc = rpc if isinstance(rpc, Endpoint) else Endpoint(rpc)
        self._verify = verify if verify is None or isinstance(verify, Endpoint) else Endpoint(verify)
        if self._verify is not None and self._verify.same_as(self._rpc):
            raise InvalidInput("verify", self._verify.name, "is the first endpoint again: name one of another operator")
        self._decimals = None if decimals is None else check.integer("decimals", decimals, low=0, high=255)
        self._confirmations = check.integer("confirmations", confirmations, low=0, high=100_000)
        self._patience = check.number("patience", patience, low=0.0, high=3600.0)

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """Who is asked."""
        return (self._rpc,) if self._verify is None else (self._rpc, self._verify)

    def snapshot(self, block: int | None = None) -> Snapshot:
        """The balance now, or at a block of the past if the node still has its state.

        Raises:
            NothingMeasured: An endpoint does not answer, has no such state, or the two disagree.
        """
        chain = agreed([(each.name, each.quantity("eth_chainId")) for each in self.endpoints], "the chain")
        if block is None:
            newest = self._rpc.quantity("eth_blockNumber")
            block = max(0, newest - self._confirmations)
        else:
            block = check.integer("block", block, low=0, high=2**63 - 1)
        at = self._block(block)
        balance = agreed([(each.name, self._balance(each, block)) for each in self.endpoints], f"the balance at block {block}")
        if self._block(block) != at:
            raise NothingMeasured(f"block {block} was replaced while it was read; nothing was measured, try again")
        return Snapshot(chain, at, self.account, self.asset, balance, self._verify is not None)

    def measure(self, before: Snapshot | int, after: Snapshot | int | None = None, *, transactions: Sequence[str] = ()) -> EvmMeasurement:
        """What changed between two blocks.

        Args:
            before: A snapshot that was taken then, or the number of a block whose state the node still has.
            after: The same for the end; the newest block unless given.
            transactions: Hashes of the account's own transactions, to tell its gas.

        Raises:
            NothingMeasured: An endpoint fails, the two disagree, or the chain was reorganised in between.
            InvalidInput: A snapshot of something else, or a transaction that is not the account's, or not of that time.
        """
        first = self.snapshot(before) if isinstance(before, int) and not isinstance(before, bool) else self._own(before)
        last = self._own(after) if isinstance(after, Snapshot) else self.snapshot(after)
        if last.chain != first.chain:
            raise NothingMeasured(f"the snapshot is of chain {first.chain} and the endpoint is on chain {last.chain}; nothing was settled")
        if last.block.number < first.block.number:
            raise InvalidInput("after", last.block.number, f"lies before the snapshot, which is of block {first.block.number}")
        for seen in (first, last):
            if self._block(seen.block.number) != seen.block:
                raise NothingMeasured(f"block {seen.block.number} is no more on the chain: it was reorganised; nothing was settled")
        hashes = tuple(dict.fromkeys(_hash(each) for each in check.items("transactions", transactions)))
        if len(hashes) > MAX_TRANSACTIONS:
            raise InvalidInput("transactions", hashes[:2], f"names {len(hashes)} transactions, at most {MAX_TRANSACTIONS} are read")
        gas = sum(self._paid(each, first.block.number, last.block.number) for each in hashes)
        return EvmMeasurement(last.balance - first.balance, self.decimals(), first, last, gas, hashes)

    def decimals(self) -> int:
        """How many decimals a whole coin has."""
        if self._decimals is None:
            if self.asset == NATIVE:
                self._decimals = NATIVE_DECIMALS
            else:
                said = [(each.name, self._called(each, DECIMALS, "latest")) for each in self.endpoints]
                self._decimals = agreed(said, "the token's decimals")
                if self._decimals > 255:
                    raise NothingMeasured(f"{self.asset} says that it has {self._decimals} decimals; give decimals= if it is a token")
        return self._decimals

    def _own(self, given: Any) -> Snapshot:
        if not isinstance(given, Snapshot):
            raise InvalidInput("snapshot", given, "must be a snapshot of this meter, or the number of a block")
        if (given.account, given.asset) != (self.account, self.asset):
            raise InvalidInput(
                "snapshot", given.account, f"is of {given.account}, {given.asset}; this meter is of {self.account}, {self.asset}"
            )
        return given

    def _block(self, number: int) -> Block:
        """A block that every endpoint knows by the same hash; waits for one that lags."""
        deadline = time.monotonic() + self._patience
        made = []
        for each in self.endpoints:
            found = self._found(each, number)
            while found is None and time.monotonic() < deadline:
                time.sleep(_PAUSE)
                found = self._found(each, number)
            if found is None:
                raise NothingMeasured(f"{each.name} does not know block {number}; nothing was measured")
            made.append((each.name, found))
        return Block(number, agreed(made, f"block {number}"))

    @staticmethod
    def _found(endpoint: Endpoint, number: int) -> str | None:
        said = endpoint.call("eth_getBlockByNumber", hex(number), False)
        if said is None:
            return None
        found = said.get("hash") if isinstance(said, Mapping) else None
        if (
            not isinstance(found, str)
            or not _HASH.fullmatch(found)
            or endpoint.number(said.get("number"), "eth_getBlockByNumber") != number
        ):
            raise NothingMeasured(f"{endpoint.name} gave no block when asked for block {number}; nothing was measured")
        return found.lower()

    def _balance(self, endpoint: Endpoint, block: int) -> int:
        if self.asset == NATIVE:
            return endpoint.quantity("eth_getBalance", self.account, hex(block))
        return self._called(endpoint, BALANCE_OF + self.account[2:].rjust(64, "0"), hex(block))

    def _called(self, endpoint: Endpoint, data: str, block: str) -> int:
        said = endpoint.call("eth_call", {"to": self.asset, "data": data}, block)
        if not isinstance(said, str) or not _HASH.fullmatch(said):
            raise NothingMeasured(f"{endpoint.name}: {self.asset} answers with {str(said)[:80]!r}, so it is no ERC-20 token there")
        return int(said, 16)

    def _paid(self, transaction: str, after: int, until: int) -> int:
        """What the account paid for a transaction, in wei."""
        made = []
        for each in self.endpoints:
            said = each.call("eth_getTransactionReceipt", transaction)
            if not isinstance(said, Mapping):
                raise NothingMeasured(f"{each.name} has no receipt of {transaction}: it is not mined, or it is another chain's")
            if str(said.get("from", "")).lower() != self.account:
                raise InvalidInput("transactions", transaction, f"was sent by {said.get('from')}, not by {self.account}")
            number = each.number(said.get("blockNumber"), "a receipt")
            if not after < number <= until:
                raise InvalidInput("transactions", transaction, f"is in block {number}, which is not one of {after + 1} to {until}")
            cost = each.number(said.get("gasUsed"), "a receipt") * each.number(said.get("effectiveGasPrice"), "a receipt")
            # Rollups charge what the first layer costs beside the gas; others have no such field.
            made.append((each.name, cost + (each.number(said["l1Fee"], "a receipt") if said.get("l1Fee") is not None else 0)))
        paid: int = agreed(made, f"what {transaction} cost")
        return paid


def address(name: str, value: Any) -> str:
    """An address in small letters. Raises InvalidInput."""
    if not isinstance(value, str) or not _ADDRESS.fullmatch(value):
        raise InvalidInput(name, value, "must be an address: 0x and 40 hexadecimal digits")
    return value.lower()


def _hash(value: Any) -> str:
    if not isinstance(value, str) or not _HASH.fullmatch(value):
        raise InvalidInput("hash", value, "must be a hash: 0x and 64 hexadecimal digits")
    return value.lower()

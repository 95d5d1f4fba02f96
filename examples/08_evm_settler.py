"""Decisions of a treasury, settled by what an account on an EVM chain really gained or lost.

python examples/08_evm_settler.py

Runs on a private chain on this machine (the extra `evm`): a real virtual machine behind a real JSON-RPC endpoint. To measure
your own account instead, name it; nothing is ever sent to the chain by Earnest:

    EARNEST_EVM_RPC=ADDRESS python examples/08_evm_settler.py --account 0x…
"""

from __future__ import annotations

import argparse
import os

from earnest import Memory
from earnest.errors import NotAvailable, NothingMeasured
from earnest.meters import EvmMeter

SWAP = "Which pool should be used for a swap?"
FEES = "When should transactions be sent?"


def own(account: str) -> None:
    """A snapshot of an account of the reader's own."""
    meter = EvmMeter(account, os.environ["EARNEST_EVM_RPC"], verify=os.environ.get("EARNEST_EVM_VERIFY_RPC"))
    seen = meter.snapshot()
    print(f"{seen.account} holds {seen.balance} at block {seen.block.number} of chain {seen.chain}")
    print("Take one before and one after you act: `earnest settle-evm --snapshot FILE`, then `--before FILE --tickets ID`.")


def rehearsed() -> None:
    """Two decisions on a private chain."""
    from earnest.testing.evm import LocalChain

    with LocalChain() as chain, Memory.open(":memory:", embedder="none") as memory:
        account, market = chain.accounts[:2]
        token = chain.deploy_token(market)
        memory.meters.add("treasury", unit="tokens", scale=10)
        memory.add("Use the deep pool: its price moves less.", cue=SWAP, sources=["desk"])
        memory.add("Send transactions at noon, when everybody does.", cue=FEES, sources=["forum"])

        second = chain.endpoint()
        meter = EvmMeter(account, chain.url, verify=second, token=token, name="treasury")
        ticket = memory.decide(SWAP)
        before = meter.snapshot()
        chain.transfer(token, market, account, 12_500_000)  # what the swap brought in
        measured = meter.measure(before)
        memory.settle(ticket.id or "", delta=measured.outcome().delta, meter=meter.name, detail=measured.outcome().detail)
        print(f"{ticket.text}\n  {measured.outcome().detail}")

        coins = EvmMeter(account, chain.url, verify=second)
        ticket = memory.decide(FEES)
        before = coins.snapshot()
        sent = [chain.send(account, market, 0) for _ in range(3)]
        measured = coins.measure(before, transactions=sent)
        made = memory.settle(ticket.id or "", delta=measured.outcome().delta, meter="gas", scale=0.0001, detail=measured.outcome().detail)
        print(f"{ticket.text}\n  {measured.outcome().detail}")
        print(f"  {'suspended' if made.suspended else 'still decides'}")

        print("An endpoint that says something else:")
        try:
            EvmMeter(account, chain.url, verify=chain.endpoint({"eth_getBalance": lambda said: "0x0"})).snapshot()
        except NothingMeasured as error:
            print(f"  abstained: {'the endpoints disagree' if 'disagree' in str(error) else error}")


def main() -> None:
    """The reader's own account if one is named, else a rehearsal."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--account", help="measure this account at EARNEST_EVM_RPC")
    wanted = parser.parse_args()
    if wanted.account:
        own(wanted.account)
        return
    try:
        rehearsed()
    except NotAvailable as error:
        print(error)


if __name__ == "__main__":
    main()

"""`earnest settle-evm`: decisions settled by what an account on an EVM chain gained or lost."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from earnest.cli.common import ABSTAINED, given, plural
from earnest.cli.place import open_memory
from earnest.cli.render import Painted, Screen
from earnest.errors import InvalidInput, NothingMeasured

if TYPE_CHECKING:
    from earnest.meters.evm import EvmMeasurement, EvmMeter, Snapshot

CHANNEL: Final = "settle-evm"
_LARGEST: Final = 100_000


def settle_evm(args: Namespace, screen: Screen) -> int:
    """`earnest settle-evm`."""
    from earnest.ci.tickets import few, listed

    tickets = few([name for word in args.tickets or () for name in listed(word)])
    try:
        if args.snapshot is not None:
            return _snapshot(args, screen)
        before = None if args.before is None else _read(args.before)
        if (before is None) == (args.from_block is None):
            raise InvalidInput(
                "settle-evm", args.before, "measures from a snapshot (--before FILE) or from a block (--from-block N): say one"
            )
        meter = _meter(args, before)
        start = before if before is not None else args.from_block
        made = meter.measure(start, args.to_block, transactions=args.transaction or ())
    except NothingMeasured as error:
        _abstain(screen, tickets, str(error))
        return ABSTAINED
    return _settle(args, screen, meter, made, tickets)


def _snapshot(args: Namespace, screen: Screen) -> int:
    if args.before is not None or args.from_block is not None or args.tickets:
        raise InvalidInput("settle-evm", "--snapshot", "only writes a snapshot: settle later, with --before")
    made = _meter(args, None).snapshot(args.to_block)
    try:
        with Path(args.snapshot).open("x", encoding="utf-8") as file:
            json.dump(made.to_json(), file, indent=1)
            file.write("\n")
    except FileExistsError:
        raise InvalidInput("snapshot", args.snapshot, "is there already; name a new file, so that no snapshot is lost") from None
    if screen.as_json:
        screen.json(made.to_json())
    else:
        screen.say(f"Wrote {args.snapshot}: {made.account} holds {made.balance} at block {made.block.number} of chain {made.chain}")
    return 0


def _read(path: str) -> Snapshot:
    from earnest.meters.evm import Snapshot

    try:
        text = Path(path).read_text(encoding="utf-8")[:_LARGEST]
        return Snapshot.from_json(json.loads(text))
    except (OSError, RecursionError) as error:
        raise InvalidInput("before", path, f"cannot be read: {error}") from None
    except json.JSONDecodeError as error:
        raise InvalidInput("before", path, f"is no snapshot: {error}") from None


def _meter(args: Namespace, before: Snapshot | None) -> EvmMeter:
    from earnest.meters.evm import NATIVE, EvmMeter

    rpc = args.rpc or os.environ.get("EARNEST_EVM_RPC")
    if not rpc:
        raise InvalidInput("rpc", rpc, "is missing: name a JSON-RPC endpoint with --rpc, or in EARNEST_EVM_RPC")
    account = args.account or (before.account if before else None)
    if account is None:
        raise InvalidInput("account", None, "is missing: name the account that is measured with --account")
    token = args.token or (before.asset if before and before.asset != NATIVE else None)
    verify = args.verify_rpc or os.environ.get("EARNEST_EVM_VERIFY_RPC") or None
    options: dict[str, Any] = given(args, "decimals", "confirmations")
    return EvmMeter(account, rpc, verify=verify, token=token, name=args.meter or "evm", **options)


def _settle(args: Namespace, screen: Screen, meter: EvmMeter, made: EvmMeasurement, tickets: tuple[str, ...]) -> int:
    from earnest.core import check

    outcome = made.outcome()
    landed, refused = [], {}
    share = outcome.delta / max(1, len(tickets))
    detail = f"{args.detail}; {outcome.detail}" if args.detail else outcome.detail
    if tickets:
        with open_memory(args, "writing", channel=CHANNEL, actor="evm") as memory:
            for ticket in tickets:
                settled = memory.settle(
                    ticket, delta=share, meter=meter.name, scale=args.scale, detail=detail[: check.MAX_DETAIL],
                    key=None if args.key is None else f"{args.key}:{ticket}",
                )  # fmt: skip
                if settled:
                    landed.append(ticket)
                else:
                    refused[ticket] = settled.reason
            if landed:
                memory.tick_due()
    reason = outcome.detail + "".join(f"; {why}" for why in [*refused.values()][:5])
    said = {
        "delta": outcome.delta, "exact": str(made.delta), "gas": str(made.gas), "unit": made.before.asset, "landed": len(landed),
        "tickets": list(tickets), "refused": refused, "reason": reason, "before": made.before.block.number,
        "after": made.after.block.number, "verified": made.verified,
    }  # fmt: skip
    if screen.as_json:
        screen.json(said)
    else:
        screen.say(f"Measured {reason}")
        if not made.verified:
            screen.say(Painted("Not verified", "yellow"), ": name a second endpoint with --verify-rpc, of another operator")
        screen.say(f"Settled {plural(len(landed), 'ticket')}" + (f" by {share:g} each" if landed else ""))
    return 1 if tickets and not landed else 0


def _abstain(screen: Screen, tickets: tuple[str, ...], reason: str) -> None:
    if screen.as_json:
        screen.json({"delta": None, "landed": 0, "tickets": list(tickets), "reason": reason})
    else:
        screen.say(Painted("Abstained: ", "yellow"), reason, ". The tickets stay open.")

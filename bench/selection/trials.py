"""Trials beside the matrix: what a revoked meter gives back, and what an entry earns that only ever rides along.

A row a seed, kept in one file, as in the matrix.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from bench.selection import matrix, results
from bench.selection.arms import Cast
from bench.selection.evidence_arm import METER, EvidenceArm
from bench.selection.live import SHARED, live, probed
from bench.selection.worlds import WORLDS
from earnest import Memory

FORMAT: Final = 1
FILE: Final = results.FOLDER / "trials.json"
REVOKED: Final = ("false-bad 35%", "flip 50%", "destroy 4", "destroy 8", "persist 4", "late 6")
"""Worlds whose meter is revoked after their last cycle."""
RIDES: Final = ("evidence", "classic")
WINS: Final = 60
AGAIN: Final = 10
"""Cycles that are lived after a revocation, judged by an honest meter of another name."""


def revoked(world: str, seed: int) -> dict[str, float]:
    """Lives a world to its end, revokes the meter, and lives on for some cycles under an honest one.

    condemned: entries that the meter's words had suspended or buried for harm. returned: those of them that may decide again after the
    revocation. wrong: entries whose standing is not the one that they would have if the meter had never spoken. starved: entries that
    nobody paid before it, which a revocation does not bring back. benign: useful questions acted on before and right after. share: what
    was earned of an oracle in the cycles after; fresh: what a new store earns there; grudge: what this one earns there if nobody revokes.
    """
    found, lived = WORLDS[world], matrix.course(world, seed)
    cast = Cast(lived.corpus, SHARED, seed, lived.scale)
    arm = EvidenceArm(cast)
    live(found, lived, arm)
    accounts = arm.state.entries
    condemned = [name for name, account in accounts.items() if account.ending == "executed" or (account.alive and account.suspended)]
    starved = sum(account.ending == "starved" for account in accounts.values())
    before, _, _ = probed(lived, arm)
    arm.revoke()
    after, _, _ = probed(lived, arm)
    # Nothing else was ever said of them: without the meter every entry stands as a new one does.
    wrong = sum(account.suspended or account.ending == "executed" for account in accounts.values() if account.ending != "merged")
    returned = sum(accounts[name].alive and not accounts[name].suspended for name in condemned)
    told = replace(lived, cycles=found.make(seed, found.cycles + AGAIN).cycles[-AGAIN:])
    honest = replace(found, name="honest after", liar=WORLDS["honest"].liar, cycles=AGAIN)
    bitter = EvidenceArm(cast)
    live(found, lived, bitter)
    return {
        "condemned": len(condemned), "returned": returned, "wrong": wrong, "starved": starved, "benign_before": round(before, 3),
        "benign": round(after, 3), "share": round(live(honest, told, _by(arm, "gauge")).share, 5),
        "fresh": round(live(honest, told, EvidenceArm(cast)).share, 5), "grudge": round(live(honest, told, _by(bitter, METER)).share, 5),
    }  # fmt: skip


def _by(arm: EvidenceArm, meter: str) -> EvidenceArm:
    """The arm, told by a meter of this name from now on."""
    arm.meter = meter
    return arm


def ride(rule: str, seed: int) -> dict[str, float]:
    """A real `Memory` in which one entry is recalled beside the decider of sixty gains, a tick for each, and decides none itself.

    rider, decider: what they hold in the end, in energy; stake: what each began with; alive: whether the rider still lives.
    """
    rng = random.Random(f"ride:{seed}")
    with Memory.open(":memory:", settings={"rule": rule}) as memory:
        decider = memory.add("A cache file under cache/ is filled again on demand, so it is safe to delete.")
        rider = memory.add("Whoever asks whether some file is safe to delete may ask the storage team.")
        stake = memory.get(rider.id).balance
        for _ in range(WINS):
            ticket = memory.decide("Is it safe to delete the file page-3.cache (a cache file under cache/)?", k=3)
            assert ticket.deciding is not None and ticket.deciding.id == decider.id and ticket.id is not None
            memory.settle(ticket.id, delta=rng.uniform(0.3, 1.7), meter=METER)
            memory.tick()
        held, end = memory.get(rider.id), memory.get(decider.id)
        energy = {"rider": held.balance / 1e6, "decider": end.balance / 1e6, "stake": stake / 1e6}
        return {**{name: round(value, 4) for name, value in energy.items()}, "alive": int(held.alive)}


Trial = Callable[[str, int], dict[str, float]]
TRIALS: Final[Mapping[str, tuple[Trial, tuple[str, ...]]]] = {"revoked": (revoked, REVOKED), "ride": (ride, RIDES)}
"""Each trial, and in what it is held."""

Rows = dict[str, dict[str, dict[int, dict[str, float]]]]
"""By trial, by what it is held in, by seed."""


def read(path: Path = FILE) -> Rows:
    """What the file holds; nothing if there is none. Raises `ValueError` for a file of another format."""
    if not path.is_file():
        return {}
    said = json.loads(path.read_text(encoding="utf-8"))
    if said.get("bench") != "selection trials" or said.get("format") != FORMAT:
        raise ValueError(f"{path}: no trials of bench.selection in format {FORMAT}")
    return {
        trial: {where: {int(seed): row for seed, row in rows.items()} for where, rows in held.items()}
        for trial, held in said["trials"].items()
    }


def held(path: Path = FILE, *, fresh: bool = False) -> Rows:
    """Holds the trials that the file lacks, on the held-out seeds, and writes it after each of them."""
    rows = {} if fresh else read(path)
    for trial, (hold, places) in TRIALS.items():
        for where in places:
            known = rows.setdefault(trial, {}).setdefault(where, {})
            known.update({seed: hold(where, seed) for seed in matrix.HELD_OUT if seed not in known})
            _save(rows, path)
    return rows


def _save(rows: Rows, path: Path) -> None:
    made: dict[str, Any] = {
        "bench": "selection trials", "format": FORMAT, "command": "python -m bench.selection --trials", "made": results.sources(),
    }  # fmt: skip
    lines = [
        f"{json.dumps(trial)}: {{\n"
        + ",\n".join(
            f" {json.dumps(where)}: {{\n" + ",\n".join(f'  "{seed}": {json.dumps(row)}' for seed, row in sorted(by.items())) + "\n }"
            for where, by in held_.items()
        )
        + "\n}"
        for trial, held_ in rows.items()
    ]
    text = json.dumps(made)[:-1] + ', "trials": {\n' + ",\n".join(lines) + "\n}}\n"
    part = path.with_name(path.name + ".tmp")
    part.write_text(text, encoding="utf-8", newline="\n")
    part.replace(path)

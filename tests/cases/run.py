"""One case on one surface: its steps are played in order, each giving a reply; then every key of `expected` is judged."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from .absent import changes
from .model import Case, Left, Op, Phase, Refused, Reply, Result, Unknown
from .surface import Agent, Surface

DEPTH = 100
"""Hits that a search asks for where the case names no limit: all that a case can hold."""


THIN = 7
"""Of a long list of the same step, every so manyth is carried out where a run is to be short."""

CHANCE = frozenset({"parallel", "kill -9 during save", "hold_write_lock"})
"""Operations after which surfaces need not do alike."""


class Run:
    """The state of a case while it is played: the surface, the test's own names, and every reply so far."""

    def __init__(self, case: Case, surface: Surface, other: Callable[[], Surface], folder: Path, *, thin: bool = False) -> None:
        self.case = case
        self.thin = thin
        """Whether long lists of the same step may be thinned out."""
        self.surface = surface
        self.other = other
        """Makes the other surface on the same folder: what one writes the other must find."""
        self.folder = folder
        self.ids: dict[str, str] = {}
        self.own: dict[str, str] = {}
        """Entry ids by the ids that the case chose."""
        self.added: dict[str, Op] = {}
        self.before: dict[str, Any] = {}
        """Entries as they stood when the setup was done, by test key."""
        self.replies: list[Reply] = []
        self.notes: list[str] = []
        self.peers: dict[str, Surface] = {}
        """Surfaces in processes of their own, by the name that the case gives them."""
        self.facts: dict[str, Any] = {}
        """What operations of the harness found out, for the expectations."""
        self.closing = ExitStack()

    # what steps and expectations ask for

    def agent(self, op: Op) -> Agent:
        """Whose memory a step is about."""
        return op.get("agent", self.facts.get("agent"))

    def key_of(self, entry_id: str) -> str:
        """The test's own name for an entry; its id if it has none."""
        return next((key for key, known in self.ids.items() if known == entry_id), entry_id)

    def hit_keys(self, reply: Reply) -> list[str]:
        """The hits of a search by test key, best first."""
        return [self.key_of(hit["id"]) for hit in reply.hits or []]

    def actions(self) -> list[Reply]:
        """The steps of the action that were carried out."""
        return [reply for reply in self.replies if reply.phase == "action" and reply.ran]

    def searches(self) -> list[Reply]:
        """The searches of the action that were carried out."""
        made = [reply for reply in self.actions() if reply.hits is not None or (reply.name == "search" and reply.kinds)]
        if not made:
            raise Left("not yet", "no search of this case could be carried out")
        return made

    def live(self, agent: Agent = None) -> int:
        """How many entries live."""
        stats = self.surface.call(agent, "stats")
        return int(stats["alive"]) + int(stats["suspended"])

    def entry(self, key: str) -> dict[str, Any]:
        """An entry by the test's name for it, as its owner sees it now."""
        if key not in self.ids:
            raise Unknown(f"there is no entry {key!r} in this case")
        made: dict[str, Any] = self.surface.call(self.agent(self.added[key]), "get", id=self.ids[key])
        return made


def play(case: Case, surface: Surface, other: Callable[[], Surface], folder: Path, *, thin: bool = False) -> Result:
    """Play a case and judge it."""
    from .expectations import judge

    run = Run(case, surface, other, folder, thin=thin)
    result = Result(case.id, surface.name)
    try:
        with run.closing:
            _steps(run, case.setup, "setup", result)
            for key in run.ids:
                if f"entry_{key}" in case.expected:
                    run.before[key] = run.entry(key)
            _steps(run, case.action, "action", result)
            result.applied = bool(run.actions())
            if result.applied and not any(failure.startswith("runner:") for failure in result.failures):
                judge(run, result)
    except Unknown as error:
        result.failures.append(f"runner: {error}")
    except Refused as error:
        result.failures.append(f"a look at the store was refused: {error}")
    result.left = [*(left for reply in run.replies if (left := reply.left or reply.instead)), *result.left]
    result.notes = list(dict.fromkeys(run.notes))
    result.signature = _signature(run)
    return result


def _signature(run: Run) -> list[tuple[tuple[str, ...], tuple[str, ...]] | None]:
    if CHANCE & {reply.name for reply in run.replies}:
        return []
    made: list[tuple[tuple[str, ...], tuple[str, ...]] | None] = []
    whole = True
    for reply in run.replies:
        whole = whole and not (reply.left and changes(reply.op))
        # An entry that no step named has another id on each surface.
        hits = tuple(key if key in run.ids else "another" for key in run.hit_keys(reply))
        made.append((tuple(sorted(reply.kinds or ())), hits) if reply.ran and whole else None)
    return made


def _steps(run: Run, ops: tuple[Op, ...], phase: Phase, result: Result) -> None:
    from .operations import carry_out
    from .texts import unfolded

    for step in ops:
        unfold = unfolded(step)
        if run.thin and len(unfold) > THIN:
            run.notes.append(f"every {THIN}th of {len(unfold)} steps")
            unfold = unfold[::THIN]
        for op in unfold:
            reply = Reply(op, phase)
            run.replies.append(reply)
            try:
                carry_out(run, op, reply)
            except Left as left:
                reply.left = left
            except Refused as refused:
                reply.kinds, reply.message, reply.value = refused.kinds, refused.message, refused.value
                if "crash" in refused.kinds:
                    result.failures.append(f"{op['op']}: a fault without a type: {refused.message}")
                elif phase == "setup":
                    result.failures.append(f"setup, {op['op']}: refused: {refused.message}")
            except Unknown as error:
                result.failures.append(f"runner: {error}")
            except Exception as error:  # noqa: BLE001  a step of a form that nobody thought of must not keep the others from being played
                result.failures.append(f"runner: broke on {op}: {type(error).__name__}: {error}")
            reply.said = f"{reply.message}\n{json.dumps(reply.value, ensure_ascii=False, default=str)}\n{reply.said}"


def disturbed(run: Run) -> Left | None:
    """A step that had to be left out although it would have changed what the store holds; then only prohibitions can be judged."""
    return next((reply.left for reply in run.replies if reply.left and changes(reply.op)), None)

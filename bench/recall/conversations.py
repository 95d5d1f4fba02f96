"""The public conversations (LoCoMo; Maharana et al., 2024): turns, questions, and the turns that hold each question's evidence.

The data set is not ours to ship. Its path comes from `--data` or the environment variable EARNEST_LOCOMO.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

WHERE: Final = (
    "the conversations are not part of this project: get `locomo10.json` from the repository snap-research/locomo on GitHub (data/, "
    "CC BY-NC 4.0) and give its path with --data or in EARNEST_LOCOMO"
)
TUNING: Final = ("conv-26", "conv-30")
"""The conversations that weights may be chosen on. Everything that counts is reported over the others."""

KINDS: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}


class NoData(Exception):
    """The data set is not there."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that somebody said, with its place: `id` is the data set's own."""

    id: str
    text: str
    speaker: str
    session: int
    at: datetime

    def entry(self, conversation: str, *, placed: bool = True) -> dict[str, Any]:
        """The turn as arguments of `Memory.add`; without its place, nothing tells that it is a turn."""
        made: dict[str, Any] = {"text": self.text, "kind": "episodic", "sources": [self.id], "retention": "kept"}
        if placed:
            made |= {
                "valid_from": self.at,
                "metadata": {"conversation": conversation, "session": self.session, "speaker": self.speaker},
            }
        return made


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the ids of the turns that hold its evidence."""

    text: str
    kind: int
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of many sessions."""

    name: str
    turns: Sequence[Turn]
    questions: Sequence[Asked]

    @property
    def tuning(self) -> bool:
        """Whether weights may be chosen on it."""
        return self.name in TUNING

    def sessions(self) -> dict[str, int]:
        """The session of every turn."""
        return {turn.id: turn.session for turn in self.turns}


def located(path: Path | None) -> Path:
    """Where the data lies. Raises NoData, which says where to get it."""
    chosen = path or (Path(os.environ["EARNEST_LOCOMO"]) if os.environ.get("EARNEST_LOCOMO") else None)
    if chosen is None or not chosen.is_file():
        raise NoData(WHERE if chosen is None else f"there is no file {chosen}; {WHERE}")
    return chosen


def load(path: Path, only: Sequence[str] | None = None) -> list[Conversation]:
    """The conversations, or those of these names: others are not even looked at."""
    return [_read(sample) for sample in json.loads(path.read_text(encoding="utf-8")) if only is None or sample["sample_id"] in only]


def _read(sample: Any) -> Conversation:
    spoken = sample["conversation"]
    keys = sorted(
        (key for key in spoken if re.fullmatch(r"session_\d+", key) and isinstance(spoken[key], list)), key=lambda key: int(key[8:])
    )
    turns = []
    for key in keys:
        at = datetime.strptime(spoken[key + "_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for said in spoken[key]:
            picture = f" [shares {said['blip_caption']}]" if said.get("blip_caption") else ""
            turns.append(Turn(said["dia_id"], f"{said['speaker']}: {said['text']}{picture}", said["speaker"], int(key[8:]), at))
    known = {turn.id for turn in turns}
    questions = []
    for asked in sample["qa"]:
        # Some evidence ids are written in other ways; what can be read of them counts.
        told = (re.findall(r"D:?(\d+):(\d+)", str(each)) for each in asked.get("evidence") or [])
        evidence = frozenset(f"D{int(a)}:{int(b)}" for pairs in told for a, b in pairs) & known
        if evidence:
            questions.append(Asked(asked["question"], asked["category"], evidence))
    return Conversation(sample["sample_id"], turns, questions)

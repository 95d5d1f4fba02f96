"""A world of your own, from records: should this alert wake somebody up? What is measured is people's minutes.

    python examples/11_night_pages.py [CYCLES]

Answers are structured (PAGE or WAIT), so that no reader has to guess. Both mistakes have their price: waking somebody for nothing costs
the night, waiting costs the outage. What each would have cost is looked up in last quarter's records, which no answer can talk to.
"""

from __future__ import annotations

import re
import sys

from earnest import Memory, Outcome, SurvivalConfig, SurvivalLoop, Task

RECORDS = {
    # alert: (question, minutes of outage that waiting until the morning cost, in each of the recorded nights)
    "disk": ("Does a full disk on the billing database page somebody at night?", (240, 310, 180, 260)),
    "backup": ("Does a failed nightly backup page somebody?", (0, 0, 15, 0)),
    "certificate": ("Does a certificate that expires within a week page somebody?", (0, 0, 0, 0)),
}
WAKING = 60
"""Minutes that waking somebody costs, measured by how much later they start the next day."""

ADVICE = {
    "review": ["PAGE when the billing database has a full disk.", "WAIT until the morning with a failed nightly backup."],
    "habit": [
        "PAGE for every certificate that expires within a week.",
        "At night, WAIT with a full disk on the billing database: somebody can clean it later.",
    ],
}
SAID = re.compile(r"\b(PAGE|WAIT)\b")


class NightEnv:
    """Nights from the records. Doing what the advice says is compared with doing the other thing."""

    resource_scale = 120.0  # minutes: half of a bad outage

    def tasks(self, cycle: int) -> list[Task]:
        """Every alert, on one recorded night."""
        return [Task(question, {"outage": nights[cycle % len(nights)]}) for question, nights in RECORDS.values()]

    def verify(self, task: Task, answer: str) -> Outcome:
        """Minutes saved against the other choice. Silence leaves the pager as it was, which waits."""
        outage = task.context["outage"]
        said = SAID.search(answer)
        if said is None:
            return Outcome(0.0, "no advice", acted=False)
        saved = outage - WAKING if said.group() == "PAGE" else WAKING - outage
        return Outcome(saved, f"{said.group()}: the outage would have been {outage} minutes", acted=True)


def live(cycles: int) -> None:
    """Let review and habit meet the records."""
    with Memory.open(":memory:") as memory:
        for source, texts in ADVICE.items():
            memory.add_many([{"text": text, "sources": [source], "kind": "procedural"} for text in texts])
        report = SurvivalLoop(memory, NightEnv(), config=SurvivalConfig(cycles=cycles, write_experience=False)).run()
        print(report.summary())
        print("\nWhat became of the advice:")
        for entry in [*memory.list(), *memory.list(standing="dead")]:
            print(f"  {entry.cause or entry.standing:9}  [{entry.sources[0]}] {entry.text}")
        print("\nWho decides now:")
        for question, _ in RECORDS.values():
            print(f"  {question}\n    {memory.answer(question).text or 'silent'}")


if __name__ == "__main__":
    live(int(sys.argv[1]) if len(sys.argv) > 1 else 8)

"""Let a memory live: questions about real files, answers that are acted on, bytes that are measured.

    python examples/03_survival_loop.py [CYCLES]

One of the three documents, a forum post, calls protected database files redundant. Nobody labels it: acting on it costs bytes,
and that is all the memory ever learns. It is suspended at its first harm and dies when its stake is used up; what protects the files
lives, because the rent of advice to hold back is waived while it is asked and followed. The same loop then runs in a world of our own,
a budget with subscriptions to cancel.
"""

from __future__ import annotations

import sys
from collections import Counter

from earnest import Memory, Outcome, SurvivalConfig, SurvivalLoop, Task
from earnest.encoding import demo_corpus
from earnest.environments import StorageEnv, decision_polarity

SAVINGS = {"paymentsly": 40.0, "logstash": -300.0}
QUESTIONS = {"paymentsly": "Is the paymentsly plan safe to cancel?", "logstash": "May we stop renewing logstash?"}


class BudgetEnv:
    """Subscriptions that may be cancelled. What is measured is money: saved by cancelling what nobody needs, lost otherwise."""

    resource_scale = 100.0

    def tasks(self, cycle: int) -> list[Task]:
        """One question for each subscription, every cycle."""
        return [Task(prompt=QUESTIONS[name], context={"name": name}) for name in SAVINGS]

    def verify(self, task: Task, answer: str) -> Outcome:
        """Cancel if the answer says so, and look at the bill."""
        act = decision_polarity(answer, extra_positive=("safe to cancel", "may stop renewing"), extra_negative=("keep paying",))
        if act is not True:
            return Outcome(0.0, "kept", acted=False)
        return Outcome(SAVINGS[task.context["name"]], "cancelled", acted=True)


def on_disk(cycles: int) -> None:
    """The demo corpus on a real temporary disk."""
    with Memory.open(":memory:") as memory, StorageEnv(seed=7) as env:
        memory.encode(demo_corpus())
        report = SurvivalLoop(memory, env, config=SurvivalConfig(cycles=cycles)).run()
        print(report.summary())
        print("\nAlive, richest first:")
        for entry in memory.top(8):
            print(f"  {entry.balance / 1e6:5.2f}  [{', '.join(entry.sources)}] {entry.text[:90]}")
        dead = memory.list(standing="dead")
        print(f"\nDead: {dict(Counter(entry.cause for entry in dead))}. One of them:\n")
        executed = [entry for entry in dead if entry.cause == "executed" and "forum-post" in entry.sources]
        for entry in executed[:1]:
            print(memory.obituary(entry.id))


def on_a_budget() -> None:
    """Two pieces of advice in a world of our own."""
    with Memory.open(":memory:") as memory:
        memory.add("The paymentsly plan is safe to cancel: nobody has used it since March.", sources=["finance"])
        memory.add("We may stop renewing logstash: it looks unused.", sources=["rumour"])
        report = SurvivalLoop(memory, BudgetEnv(), config=SurvivalConfig(cycles=8)).run()
        print(report.summary())
        for entry in [*memory.list(), *memory.list(standing="dead")]:
            print(f"  {entry.standing:9} [{', '.join(entry.sources)}] {entry.text}")


if __name__ == "__main__":
    on_disk(int(sys.argv[1]) if len(sys.argv) > 1 else 24)
    print("\nThe same loop, another world:\n")
    on_a_budget()

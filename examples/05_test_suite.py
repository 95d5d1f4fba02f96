"""Which patches should be applied? A real test suite decides: what is measured is how many of its tests pass.

    python examples/05_test_suite.py [CYCLES]

The second run prices waiting: a declined fix costs the tests that it would have mended, so that advice to hold back is measured
too. Without that, "do nothing" always measures zero, and knowledge that only ever says no can earn nothing.
"""

from __future__ import annotations

import sys

from earnest import Memory, SurvivalConfig, SurvivalLoop
from earnest.environments import RentedTestSuiteEnv, TestSuiteEnv

ADVICE = {
    "review": [
        "The average empty-list patch should be applied: it stops the crash on an empty list.",
        "The slug whitespace patch is safe to apply: it joins words with one dash.",
        "The chunks remainder patch can be applied: the last items are no longer lost.",
        "Do not apply the docstring wording patch: it changes no behaviour and costs a review.",
    ],
    "hallway": [
        "The helper cleanup patch is safe to apply: it only tidies names.",
        "Do not apply the leap-year century patch: 1900 was long ago.",
    ],
}


def live(env: TestSuiteEnv, cycles: int) -> None:
    """Run the advice through one world and say how it stands at the end."""
    with Memory.open(":memory:") as memory, env:
        for source, texts in ADVICE.items():
            memory.add_many([{"text": text, "sources": [source]} for text in texts])
        report = SurvivalLoop(memory, env, config=SurvivalConfig(cycles=cycles, write_experience=False)).run()
        print(report.summary())
        for entry in [*memory.list(), *memory.list(standing="dead")]:
            stands = f"{entry.balance / 1e6:.2f}" if entry.standing == "active" else entry.cause or entry.standing
            print(f"  {stands:>9}  [{entry.sources[0]}] {entry.text}")


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    print("Waiting is free:")
    live(TestSuiteEnv(defects=4, seed=7), count)
    print("\nWaiting costs the tests that a declined fix would have mended:")
    live(RentedTestSuiteEnv(defects=4, seed=7), count)

"""Questions whose answers can be checked: an expected word is in the answer or it is not."""

from __future__ import annotations

from collections.abc import Sequence

from earnest.core import check
from earnest.core.decision_text import contains_phrase
from earnest.core.outcome import Outcome, Task
from earnest.environments.base import world_rng
from earnest.errors import InvalidInput


class VerifiableQAEnv:
    """Questions with a known answer; each cycle draws some of them.

    +1 when the expected text is contained in the answer (as whole words, without regard to case and width),
    -0.5 when something else was answered, 0 and acted False on silence: who says nothing has claimed nothing.

    Args:
        qa_pairs: Pairs of a question and the text that a right answer contains.
        per_cycle: Questions in a cycle, drawn without repeats; all of them if there are fewer.
        seed: Which draws.
    """

    def __init__(self, qa_pairs: Sequence[tuple[str, str]], per_cycle: int = 5, seed: int = 7) -> None:
        pairs: list[tuple[str, str]] = []
        for pair in qa_pairs:
            if isinstance(pair, str) or len(pair) != 2:
                raise InvalidInput("qa_pairs", pair, "each is a pair: a question and the text that a right answer contains")
            pairs.append((check.text("question", pair[0]), check.text("expected", pair[1])))
        if not pairs:
            raise InvalidInput("qa_pairs", qa_pairs, "give at least one pair of question and expected text")
        self.qa_pairs = tuple(pairs)
        self.per_cycle = check.integer("per_cycle", per_cycle, low=1, high=100_000)
        self.seed = check.integer("seed", seed, low=-(2**63), high=2**63)
        self.resource_scale = 1.0

    def tasks(self, cycle: int) -> list[Task]:
        """The questions of a cycle."""
        rng = world_rng("qa", self.seed, check.integer("cycle", cycle, low=0, high=2**62))
        drawn = rng.sample(range(len(self.qa_pairs)), min(self.per_cycle, len(self.qa_pairs)))
        return [Task(prompt=self.qa_pairs[i][0], context={"expected": self.qa_pairs[i][1]}) for i in drawn]

    def verify(self, task: Task, answer: str) -> Outcome:
        """Whether the expected text is in the answer."""
        expected = str(task.context["expected"])
        if check.blank(answer):
            return Outcome(0.0, "nothing was answered", acted=False)
        if contains_phrase(answer, expected):
            return Outcome(1.0, f"the answer contains {expected!r}", acted=True)
        return Outcome(-0.5, f"the answer lacks {expected!r}", acted=True)

    def control(self, cycle: int) -> Outcome:
        """Doing nothing is silence, and silence brings nothing."""
        return self.verify(self.tasks(cycle)[0], "")

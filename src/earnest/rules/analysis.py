"""An analysis of what happened: the rules that it proposed, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from earnest.core.rules import Rule


class Analysis(list[Rule]):
    """The rules that an analysis proposed, all of them pending: a list, with how it was made.

    `by` is "patterns" or "llm": what drafted them. `patterns` counts the reasons for rules that were looked at. `notes` says what did not
    go as asked: a model that could not be read, a draft that was left out and why. `cost` is what a model took: calls, tokens, US dollars.
    """

    def __init__(
        self, rules: Sequence[Rule] = (), *, by: str = "patterns", patterns: int = 0, notes: Sequence[str] = (),
        cost: Mapping[str, float] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(rules)
        self.by = by
        self.patterns = patterns
        self.notes = tuple(notes)
        self.cost = dict(cost or {})

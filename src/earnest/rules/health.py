"""What `doctor` says about rules: proposals that nobody looks at, trials that come to nothing, and rules that nobody ever measured."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from earnest.core.filters import Filter
from earnest.core.gate import SKEW, skewed
from earnest.core.reports import Finding
from earnest.protocols import Reading
from earnest.rules.standing import trial_of

WAITING: Final = 10
"""Pending rules from which it is worth saying that they wait."""
STALLED: Final = timedelta(days=30)
"""After so long a trial should have come further than half of its way, or it never will."""
LOOKED_AT: Final = 200
"""Rules of a status that are looked at at most."""


def findings(reading: Reading, now: datetime) -> Iterator[Finding]:
    """What is wrong with how rules are used. O(1) without rules, else O(those on trial and in force, at most 200 of each)."""
    if not reading.counter("kind:rule"):
        return
    counts = reading.rule_counts()
    if counts.get("pending", 0) >= WAITING:
        yield Finding(
            "rules_waiting",
            "info",
            "Proposed rules wait for somebody to look at them.",
            f"{counts['pending']:,} pending, {counts.get('active', 0):,} active",
            "look at them: `earnest rules list --status pending`; then `earnest rules verify ID`, or `earnest rules trial ID`",
        )
    if counts.get("trial"):
        yield from _trials(reading, now)
    if counts.get("active"):
        yield from _unproved(reading)


def _trials(reading: Reading, now: datetime) -> Iterator[Finding]:
    chosen = Filter(scopes=None, kinds=("rule",), statuses=("trial",))
    revoked = reading.revoked()
    for stored in reading.page(chosen, None, LOOKED_AT):
        rule = reading.rules([stored.row])[stored.row]
        trial = trial_of(reading, rule)
        begun = None if trial is None else reading.event(trial.begun)
        if trial is None or begun is None:
            continue
        outcomes, lost = reading.trial_outcomes(trial.number, trial.terms.meter), reading.trial_lost(trial.number)
        told = f"trial {trial.number} of rule {stored.entry.id}: {outcomes:,} of {trial.terms.decisions:,} outcomes"
        if trial.terms.meter is not None and trial.terms.meter in revoked:
            yield Finding(
                "trial_stalled",
                "warning",
                "A trial of a rule hardly gets on.",
                f"{told}, and its meter {trial.terms.meter} was revoked, so that no further one counts",
                f"decide by hand: `earnest rules verify {stored.entry.id}`; or undo the revocation, if it was one too many",
            )
        elif now - begun.at > STALLED and outcomes < trial.terms.decisions / 2:
            yield Finding(
                "trial_stalled",
                "warning",
                "A trial of a rule hardly gets on.",
                f"{told} in {(now - begun.at).days} days; {sum(lost):,} decisions ended without one",
                f"settle the decisions that it matches by a bound meter, or decide by hand: `earnest rules verify {stored.entry.id}`",
            )
        arms = [draw.draw.arm == "shown" for draw in reading.trial_draws(trial.number, trial.terms.meter)] if sum(lost) else []
        if arms and skewed((sum(arms), len(arms) - sum(arms)), lost):
            yield Finding(
                "trial_skewed",
                "warning",
                "Decisions with a rule on trial end without an outcome at another rate than those without it, so that it cannot be proved.",
                f"{told}; without an outcome: {lost[0]:,} with the rule and {lost[1]:,} without (more than {SKEW:.0%} apart)",
                "settle every decision, whatever it was made beside; `earnest pending` lists the open ones",
            )


def _unproved(reading: Reading) -> Iterator[Finding]:
    chosen = Filter(scopes=None, kinds=("rule",), statuses=("active",))
    page = reading.page(chosen, None, LOOKED_AT)
    untried = [stored for stored in page if not any(trial.verdict == "proved" for trial in reading.trials_of(stored.row))]
    if len(untried) >= WAITING:
        yield Finding(
            "rules_unproved",
            "info",
            "Most rules in force were accepted by people and never measured: nobody knows whether they help.",
            f"{len(untried)} of {len(page)} active rules",
            "try the most used ones: `earnest rules trial ID`",
        )

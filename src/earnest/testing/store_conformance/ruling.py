"""Laws of rules: their status, their trials, and what gives reason for new ones."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from earnest.core.entry import StoredEntry
from earnest.core.filters import Filter
from earnest.core.gate import Terms
from earnest.core.rules import Experience, Status, StoredRule
from earnest.core.ticket import Role
from earnest.core.uplift import Draw
from earnest.protocols import Store, Writing
from earnest.testing.store_conformance.driver import Driver
from earnest.testing.store_conformance.law import Chapter
from earnest.testing.store_conformance.steps import ANALYSER, AUTHOR, NOW, add, clean, decide, die, opened, same, settle

law: Final = Chapter()


def _rule(store: Store, text: str, scope: str = "") -> StoredEntry:
    return add(store, text, kind="rule", retention="kept", scope=scope)


def _turn(tx: Writing, stored: StoredEntry, status: Status, before: str = "pending") -> int:
    event = tx.append("rule", entries=[stored.row], data={"status": status, "before": before, "why": "accepted"})
    tx.change_rule(stored.row, status=status, event=event)
    return event


@law("An entry of kind rule is a pending rule from its birth; its status is kept, and only living rules are counted.")
def _status(driver: Driver) -> None:
    with opened(driver, "rules") as store:
        one, two, plain = _rule(store, "one"), _rule(store, "two"), add(store, "plain")
        with store.read() as reading:
            kept = reading.rules([one.row, two.row, plain.row])
            same(sorted(kept), [one.row, two.row], "rows of rules")
            same(kept[one.row], StoredRule(one.row, "pending", None, None, 0, 0, 0.0, 0.0), "a fresh rule")
            same(dict(reading.rule_counts()), {"pending": 2}, "rules by status")
        with store.write(AUTHOR) as tx:
            event = _turn(tx, one, "active")
            tx.change_rule(one.row, ends=NOW, hits_before=3, heard=7, level=0.25, alarm=1.5)
            die(tx, two)
        with store.read() as reading:
            same(reading.rules([one.row])[one.row], StoredRule(one.row, "active", event, NOW, 3, 7, 0.25, 1.5), "a rule that was changed")
            same(dict(reading.rule_counts()), {"active": 1}, "living rules by status")
            same([rule.row for rule in reading.rules_ending(NOW, 10)], [one.row], "rules whose half-life has ended")
            same(reading.rules_ending(NOW - timedelta(seconds=1), 10), [], "rules whose half-life has not ended")
        clean(store)


@law("Rules are found by their status, in the index and in pages, within a scope.")
def _filtered(driver: Driver) -> None:
    with opened(driver, "rules-found") as store:
        waiting, ready, elsewhere = _rule(store, "walrus waits"), _rule(store, "walrus acts"), _rule(store, "walrus acts too", "s")
        with store.write(AUTHOR) as tx:
            _turn(tx, ready, "active")
            _turn(tx, elsewhere, "active")
        with store.read() as reading:
            for statuses, wanted in (
                (("active",), [ready.row]),
                (("pending",), [waiting.row]),
                (("active", "pending"), [waiting.row, ready.row]),
            ):
                chosen = Filter(kinds=("rule",), statuses=statuses)
                same([stored.row for stored in reading.page(chosen, None, 10)], wanted, f"a page of {statuses}")
                found, _ = reading.candidates(ANALYSER.question("walrus"), chosen, 10)
                same(sorted(candidate.row for candidate in found), sorted(wanted), f"candidates that are {statuses}")
        clean(store)


@law("Trials are numbered in the order in which they began; what they drew is theirs alone, and only measured outcomes are read.")
def _trials(driver: Driver) -> None:
    with opened(driver, "trials") as store:
        rule = _rule(store, "one")
        terms = Terms(0.01, 50, bound=2.0, meter="m")
        with store.write(AUTHOR) as tx:
            event = _turn(tx, rule, "trial")
            same(tx.insert_trial(rule.row, terms, event), 1, "the first trial's number")
        for place, arm in enumerate(("shown", "alone", "shown")):
            with store.write(AUTHOR) as tx:
                draw = Draw(rule.row, "shown" if arm == "shown" else "alone", 0.5, 0.5, 0.0, None, 1)
                role: Role = "supporting" if arm == "shown" else "withheld"
                ticket = tx.insert_ticket(f"t{place}", query="q", answer="", exposure=0.5, holdout=False, shares=[(rule.row, role)])
                tx.insert_draw(ticket, draw)
                tx.move_escrow([rule.row], 1)
                said = [draw.entry_row, draw.arm, 0.5, 0.5, 0.0, None, 1]
                tx.append("decide", entries=[rule.row], ticket=f"t{place}", data={"draws": [said]})
        settle(store, "t1", {}, meter="m", delta=1.0)
        settle(store, "t0", {}, meter="m", delta=-1.0)
        with store.read() as reading:
            trial = reading.trial(1)
            assert trial is not None
            same((trial.number, trial.row, trial.terms, trial.begun, trial.ended), (1, rule.row, terms, event, None), "a running trial")
            same(reading.trials_of(rule.row), [trial], "trials of a rule")
            same(reading.trial_counts(), (1, 0), "trials, and those that proved their rule")
            same([(d.draw.arm, d.delta) for d in reading.trial_draws(1, None)], [("alone", 1.0), ("shown", -1.0)], "draws of a trial")
            same((reading.trial_outcomes(1, "m"), reading.trial_outcomes(1, "other")), (2, 0), "outcomes of a trial by meter")
            same(reading.trial_lost(1), (0, 0), "lost outcomes")
            same(dict(reading.draws_ended()), {}, "a trial is no holdout of memory")
            same([reading.counter(f"drawn:{arm}") for arm in ("shown", "alone")], [0, 0], "running numbers of holdouts")
            same(len(reading.settled_draws("m", rule.row)), 2, "settled draws of a rule")
            same(reading.settled_draws("m"), [], "settled draws of memory")
        with store.write(AUTHOR) as tx:
            ended = _turn(tx, rule, "active", "trial")
            tx.end_trial(1, ended, "proved")
        with store.read() as reading:
            trial = reading.trial(1)
            assert trial is not None
            same((trial.ended, trial.verdict, reading.trial_counts()), (ended, "proved", (1, 1)), "a trial that ended")
        clean(store)


@law("What went wrong, what went well, what is doubtful and what is valued gives reason for rules; rules themselves do not.")
def _experiences(driver: Driver) -> None:
    with opened(driver, "experiences") as store:
        weak, strong, good, bad = (
            add(store, "weak", confidence=0.3), add(store, "strong", importance=0.9), add(store, "good"), add(store, "bad"),
        )  # fmt: skip
        told = add(store, "told", origin="turn", metadata={"type": "error"})
        add(store, "plain", metadata={"type": "error"})
        add(store, "said", origin="turn", metadata={"type": "fact"})
        add(store, "elsewhere", confidence=0.3, scope="s")
        _rule(store, "a rule")
        with store.write(AUTHOR) as tx:
            tx.change_entry(strong.row, recalls=2)
        for ticket, entry, delta in (("t1", good, 1.0), ("t2", bad, -1.0), ("t3", bad, -2.0)):
            decide(store, ticket, [(entry, "deciding")])
            settle(store, ticket, {}, meter="m", delta=delta)
        with store.read() as reading:
            found = reading.experiences([""], 0.6, 0.7, 2, 100)
            wanted = [
                Experience(told.row, 0, 0, True, False), Experience(bad.row, 2, 0, False, False), Experience(good.row, 0, 1, False, False),
                Experience(strong.row, 0, 0, False, True), Experience(weak.row, 0, 0, True, False),
            ]  # fmt: skip
            same(found, wanted, "experiences, the newest first")
            same(reading.experiences([""], 0.6, 0.7, 2, 1), wanted[:1], "a limit")
            same(len(reading.experiences(None, 0.6, 0.7, 2, 100)), 6, "experiences of every scope")
        clean(store)

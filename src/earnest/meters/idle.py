"""What several changes of code show together though nothing joins them: what the tests do by themselves. Pure.

Tests fail in whole batches where no change is to blame: a machine without its database, a date that has passed, a base that was measured on
a good day. A comparison of one change with its base cannot tell. Several can: what changes that have nothing to do with each other turned
round together, none of them turned round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from earnest.core import check
from earnest.core.outcome import Outcome
from earnest.errors import InvalidInput
from earnest.meters.junit import Measurement

HANDS: Final = 3
"""So many changes at least that nothing joins: two may have one cause that nobody thought of."""


def control_from(changes: Iterable[tuple[str, Measurement]]) -> Outcome | None:
    """What these changes show without having done it, as a measurement of doing nothing for `Memory.control`. No test is run for it.

    A test that turned round in more than half of the changes that measured it on both sides, and in three at least, was turned round by
    none of them. Changes with one cause count as one, and for a test only if all of them turned it round: a lesson that breaks the same
    test in every change that follows it remains the one that broke it.

    Args:
        changes: For each change of one round (a cycle, a day, the time since the last control) what may have caused it, and what it came
            to. A cause is the id of the entry that decided (`PendingTicket.deciding`), or the author of a change that no memory shaped.

    Returns:
        Tests that were mended less tests that broke by themselves, `acted` False; 0 where the changes show nothing together. None for
        changes of fewer than three causes, which say nothing of it.

    Raises:
        InvalidInput: Something else than pairs of a text and a `Measurement`.

    Tests that fail by chance in each run by itself show in no two changes alike, and are not found: run the tests of the base again for
    that (`earnest settle-ci --control`). What was left out of a measurement as quarantined is left out here. O(tests of all changes).
    """
    hands: dict[str, list[Measurement]] = {}
    for change in check.items("changes", changes):
        if not (isinstance(change, tuple) and len(change) == 2 and isinstance(change[1], Measurement)):
            raise InvalidInput("changes", change, "must be pairs of what may have caused a change and its Measurement")
        hands.setdefault(check.text("changes", change[0], limit=check.MAX_DETAIL), []).append(change[1])
    if len(hands) < HANDS:
        return None
    measured, mended, broken = Counter[str](), Counter[str](), Counter[str]()
    for made in hands.values():
        both = [one.base.measured & one.head.measured for one in made]
        measured.update(frozenset[str]().union(*both))
        mended.update(_by_all(both, [frozenset(one.comparison.improved) for one in made]))
        broken.update(_by_all(both, [frozenset(one.comparison.regressed) for one in made]))
    up, down = (
        sorted(test for test, times in turned.items() if times >= HANDS and 2 * times > measured[test]) for turned in (mended, broken)
    )
    named = f": {', '.join((*up, *down)[:5])}" if up or down else ""
    said = f"{len(hands)} unconnected changes show {len(up)} mended and {len(down)} broken together{named}"
    return Outcome(float(len(up) - len(down)), said[: check.MAX_DETAIL], acted=False)


def _by_all(both: list[frozenset[str]], turned: list[frozenset[str]]) -> frozenset[str]:
    """The tests that each of these turned round that measured them."""
    some = frozenset[str]().union(*turned)
    return frozenset(test for test in some if all(test in went for at, went in zip(both, turned, strict=True) if test in at))

"""Setting the floor: how sure a match has to be before memory answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from earnest.core import check, filters
from earnest.core.filters import Filter
from earnest.core.settings import Settings
from earnest.errors import InvalidInput
from earnest.recall import calibration
from earnest.recall.calibration import Calibration
from earnest.verbs.questions import asked
from earnest.verbs.recalling import RecallVerbs

DEPTH: Final = 10
"""Hits of a question that are looked at: the surest is not always the first."""


class CalibrationVerbs(RecallVerbs):
    """The verb that sets the floor."""

    configure: Callable[..., Settings]

    def calibrate(
        self, false_answers: float = 0.05, *, off_topic: Sequence[str] | None = None, scope: Any = "", apply: bool = True
    ) -> Calibration:
        """Find the floor at which memory stays silent on all but a stated share of questions that are none of its business.

        Args:
            false_answers: The share of off-topic questions that may be answered, more than 0, at most 0.5.
            off_topic: At least 20 questions that this memory should not answer, the more like real ones the better. None: some 200
                English ones about things that no entry names are made.
            scope: Where the questions are asked, as in `search`.
            apply: Whether to keep the floor (and the `near` that it goes with) in the settings, for every process.

        Returns:
            The floor, and how many of the questions were answered with it and before. Durable when it returns, if applied. Asking the
            same again changes nothing. Cost: a search for each question, outside of any transaction.

        Raises:
            InvalidInput: A share out of range, too few questions, or a store that names nearly everything that could be asked about.
        """
        share = check.number("false_answers", false_answers, low=1e-6, high=0.5)
        chosen = filters.checked(scope=scope)
        questions = self._off_topic(off_topic, chosen)
        askings = [self._asking(question, DEPTH, None, "auto") for question in questions]
        check.flag("apply", apply)
        with self._store.read() as reading:
            near = self._read_settings(reading).near or self._embedding.near
        if any(asking.asked for asking in askings) and not near:
            with self._store.read() as reading:
                nearest = [reading.nearest(a.asked.model, a.asked.vector, chosen, 1) for a in askings if a.asked]
            near = round(calibration.near_for([found[0][1] for found in nearest if found], share), 3)
        with self._store.read() as reading:
            before = self._read_settings(reading).floor
            sure = [max((f.covered for f in self._find(reading, a, chosen, a.k, 0.0, near)), default=0.0) for a in askings]
        floor = calibration.floor_for(sure, share)
        if apply:
            self.configure(floor=floor, **({"near": near} if near != self._embedding.near else {}))
        cleared = [sum(1 for s in sure if s >= level) for level in (floor, before)]
        return Calibration(floor, near, len(sure), cleared[0], cleared[1], apply)

    def _off_topic(self, given: Sequence[str] | None, chosen: Filter) -> list[str]:
        """The off-topic questions of a calibration, checked or made."""
        if given is None:
            with self._store.read() as reading:
                self._read_settings(reading)
                found = calibration.off_topic(self._sound_index(), lambda terms: reading.known(terms, chosen), self._rng)
        elif isinstance(given, str | bytes) or not isinstance(given, Sequence):
            raise InvalidInput("off_topic", given, "must be a list of questions")
        else:
            found = [text for question in given if (text := asked(question))]
        if len(found) < calibration.FEWEST:
            raise InvalidInput("off_topic", len(found), f"are too few questions to tell a share by; give at least {calibration.FEWEST}")
        return found

"""The verb that writes what memory knows into files that agents read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earnest.core import check, filters
from earnest.core.evidence import RULE
from earnest.core.filters import Filter
from earnest.core.rendered import TARGETS, Rendered, Target
from earnest.errors import InvalidInput
from earnest.ledger import walks
from earnest.ledger.testimony import Testimony
from earnest.protocols import Reading
from earnest.verbs.base import Base

if TYPE_CHECKING:
    # Imported where something is rendered: nothing else needs it.
    from earnest.rendering.packing import Candidate
    from earnest.rendering.rendering import Limits, Order

_MOST = 5_000
"""Candidates that are looked at for a document: far more than any budget holds."""


class RenderingVerbs(Base):
    """Verbs that write files."""

    def render(
        self,
        target: Target,
        path: str | Path | None = None,
        *,
        split_dir: str | Path | None = None,
        budget: int | None = None,
        max_lines: int | None = None,
        scope: Any = "",
        kind: Any = None,
        source: Any = None,
        tags: Any = None,
        dry_run: bool = False,
    ) -> Rendered:
        """Write the entries in good standing into a file that agents read, as fenced data, the best borne out first.

        Only what may decide is shown: active, not on probation, not empty. Each entry stands on one line with its id, date and source;
        long texts are cut. In a file that is there already, one part between two marks is Earnest's and is replaced; everything around
        it stays as it is to the byte, and so do line endings and rights. Rendering again without a change in memory changes nothing.

        Args:
            target: "AGENTS.md" or "CLAUDE.md", of which agents read all; "MEMORY.md", of which they read a limited part; or
                "claude-memory", Claude Code's memory folder: an index `MEMORY.md` and a file for each entry.
            path: The file, or for "claude-memory" the folder; made if need be. None only gives back the text.
            split_dir: A folder for one file for each kind; the file at `path` then is their index. Not with "claude-memory".
            budget: Bytes that may be taken, at least 500: by the managed part of AGENTS.md and CLAUDE.md, by the whole of MEMORY.md, and by
                the files of `split_dir` together. 12,000 unless given; 24,000 for MEMORY.md and the folder's index.
            max_lines: Lines, in the same way; 120 and 200.
            scope, kind, source, tags: As in `list`. Rules that are in force are shown too, at most as many as the setting `rules_cap`;
                those that are pending, on trial or ended never are.
            dry_run: Write nothing; `current` then says whether the files are up to date.

        Returns:
            What is in which file; see `earnest.core.rendered.Rendered`.

        Raises:
            InvalidInput: As named; or the file is no UTF-8, or its marks are damaged: it was not touched. StoreError: It cannot be
            written; it is as it was.

        The store is only read. Each file is put in place in one step and is on the disk when the verb returns. Cost: O(entries).
        """
        from earnest.rendering.rendering import rendered

        chosen = replace(filters.checked(scope=scope, kind=kind, source=source, tags=tags, standings=("active",)), rules=True)
        order = _order(target, path, split_dir, budget, max_lines, not check.flag("dry_run", dry_run))
        with self._store.read() as reading:
            candidates = sorted(self._in_good_standing(reading, chosen), key=lambda one: one.rank)[:_MOST]
            cap = self._read_settings(reading).rules_cap
        beyond = {one.stored.row for one in [one for one in candidates if one.stored.entry.kind == "rule"][cap:]}
        return rendered(order, [one for one in candidates if one.stored.row not in beyond])

    def _in_good_standing(self, reading: Reading, chosen: Filter) -> Iterator[Candidate]:
        """Every entry that may decide, and every rule that is in force, with its evidence."""
        from earnest.rendering.packing import Candidate

        testimony = Testimony(reading, self._read_settings(reading))
        found = [*walks.entries(reading, chosen)]
        rules = reading.rules([stored.row for stored in found if stored.entry.kind == "rule"])
        for stored in found:
            if stored.entry.kind == "rule" and (stored.row not in rules or rules[stored.row].status != "active"):
                continue
            measured = stored.entry.last_settled_tick is not None
            if testimony.may_decide(stored):
                odds = testimony.weigh(stored.row).odds if measured and testimony.on else RULE.prior_odds
                yield Candidate(stored, odds, measured)


def _order(target: Any, path: Any, split_dir: Any, budget: Any, max_lines: Any, write: bool) -> Order:
    """What was asked for, checked."""
    from earnest.rendering.rendering import LIMITS, Order

    wanted: Target = check.choice("target", target, TARGETS)
    limits: Limits = LIMITS[wanted]
    if budget is not None:
        limits = replace(limits, bytes=check.integer("budget", budget, low=500, high=10_000_000))
    if max_lines is not None:
        limits = replace(limits, lines=check.integer("max_lines", max_lines, low=10, high=1_000_000))
    place = None if path is None else check.path("path", path)
    folder = None if split_dir is None else check.path("split_dir", split_dir, "the name of a folder")
    if folder is not None and wanted == "claude-memory":
        raise InvalidInput("split_dir", split_dir, "is not for claude-memory, which has a file for each entry anyhow")
    if folder is not None and place is None:
        raise InvalidInput("path", path, "must be given with split_dir: it is the index of that folder")
    if wanted == "claude-memory" and place is not None and place.is_file():
        raise InvalidInput("path", path, "is a file; claude-memory takes a folder")
    return Order(wanted, place, folder, limits, write)

"""Tables about what is worked out: how entries fade, whom an answer cites, and what is read of a model's replies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from earnest.core import fading
from earnest.core.replies import texts
from earnest.errors import InvalidInput
from earnest.memory import Memory
from earnest.recall.protocol import read_citations
from earnest.testing import ManualClock

from . import modelling
from .model import Case, Result
from .python_surface import PythonSurface
from .run import Run
from .surface import Surface

Row = Mapping[str, Any]

NOW = datetime(2026, 1, 1, tzinfo=UTC)
_DAYS = 2_900_000
"""Days after `NOW` that a calendar holds."""
_NEAR = 1e-9


def decay(surface: Surface, rows: Sequence[Row]) -> list[Result]:
    """What an entry is worth at an age; a half-life that is none is refused where it is set up."""
    results = []
    for number, row in enumerate(rows, 1):
        result = Result(f"decay:{number}", surface.name)
        half_life, age, wanted = float(row["half_life_days"]), float(row["age_days"]), row["expect"]
        clock = ManualClock(NOW)
        try:
            with Memory.open(":memory:", clock=clock, decay_half_life=half_life) as memory:
                entry = memory.add("what fades", retention="fading", importance=float(row["importance"]))
                if isinstance(wanted, str):
                    result.failures.append(f"a half-life of {half_life} is not refused")
                    continue
                worth = fading.worth(entry.importance, age, memory.settings.decay_half_life, entry.strength)
                if not math.isclose(worth, wanted, abs_tol=_NEAR):
                    result.failures.append(f"after {age} days it is worth {worth}, not {wanted}")
                if abs(age) < _DAYS / 4:
                    # Moved to that age, a clean-up takes it if it is worth less than the threshold, and only then.
                    clock.advance(days=age)
                    faded = bool(memory.decay_cleanup(dry_run=True).entries)
                    if faded is not (wanted < memory.settings.decay_threshold):
                        result.failures.append(f"after {age} days a clean-up {'takes' if faded else 'spares'} it, which is worth {wanted}")
        except InvalidInput as error:
            if not isinstance(wanted, str):
                result.failures.append(f"refused: {error}")
        finally:
            results.append(result)
    return results


def citations(surface: Surface, rows: Sequence[Row]) -> list[Result]:
    """Whom an answer cites, each once."""
    results = []
    for row in rows:
        result = Result(f"citations:{row['id']}", surface.name)
        shown = row["snippets"] if isinstance(row["snippets"], int) else len(row["snippets"])
        found = [*read_citations(row["raw"], shown)]
        if found not in row.get("cited_any_of", [row.get("cited")]):
            result.failures.append(f"{row['raw']!r} cites {found}")
        results.append(result)
    return results


def replies(surface: Surface, rows: Sequence[Row]) -> list[Result]:
    """What a model replies to an analysis: the rule that it holds is proposed, and from nothing else is anything made."""
    run = Run(Case("replies", "llm-output", (), (), {}), surface, lambda: surface, surface.folder)
    results = []
    for row in rows:
        result = Result(f"replies:{row['id']}", surface.name)
        wanted = row["expected"]
        if row.get("kind") == "facts":
            found: Any = texts(row["raw"], ("facts",), ("text", "fact"))[0]
            result.failures += [] if found == wanted else [f"the facts are {found}"]
        else:
            result.failures += _drafts(run, row, wanted)
        results.append(result)
    return results


def _drafts(run: Run, row: Row, wanted: Any) -> list[str]:
    made = modelling.analysis(run, f"reply-{row['id']}", row["raw"])
    rules = [(rule["type"], rule["trigger"], rule["action"]) for rule in made["rules"]]
    failures = [f"{text!r} is no text of a rule" for text in made["texts"] if "{'" in text or "\x00" in text or "\x1b" in text]
    failures += [f"{rule} is {rule['status']}" for rule in made["rules"] if rule["status"] != "pending"]
    if wanted is None:
        failures += [f"made of nothing: {rules}"] if rules else []
    elif isinstance(wanted, dict):
        right = (wanted["rule_type"], wanted["trigger_cond"], wanted["action_guide"])
        failures += [] if rules == [right] else [f"the rules are {rules}"]
    elif len(rules) > 2 or any(len(action) > 2_000 for _, _, action in rules):
        failures.append(f"{wanted}: the rules are {rules}")
    return failures


def played(form: str, surface: Surface, rows: Sequence[Row]) -> list[Result]:
    """One of these tables. It is about what the library works out; on the command line there is nothing to ask."""
    assert isinstance(surface, PythonSurface)
    return {"decay": decay, "citations": citations, "replies": replies}[form](surface, rows)

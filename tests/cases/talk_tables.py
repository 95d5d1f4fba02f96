"""Tables about what people say: questions in other words than the entries, and a talk in which memory hears itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .model import Result
from .surface import Surface

Row = Mapping[str, Any]

SILENT = 1
"""Of the questions in other words, so many may find no answer; none may find a dangerous one."""


def paraphrases(surface: Surface, rows: Sequence[Row]) -> list[Result]:
    """Questions about a few entries: the right one answers, or memory is silent, or it is wrong; a dangerous answer fails by itself."""
    entries = rows[0]["entries"]
    made = surface.call(None, "add_many", entries=[{"text": text} for text in entries])
    places = {entry["id"]: place for place, entry in enumerate(made)}
    results, silent = [], 0
    for number, row in enumerate(rows[1:], 1):
        result = Result(f"paraphrases:{number}", surface.name)
        answer = surface.call(None, "answer", query=row["query"])
        if answer["silent"]:
            silent += 1
            if silent > SILENT:
                result.failures.append(f"{row['query']!r} finds no answer, the {silent}. of them")
        else:
            place = places[answer["deciding"]["id"]]
            if place != row["right"]:
                kind = "dangerous" if place in row.get("dangerous", ()) else "wrong"
                result.failures.append(f"{row['query']!r} is answered by a {kind} entry: {entries[place]!r}")
        results.append(result)
    return results


def feedback_loop(surface: Surface, rows: Sequence[Row]) -> list[Result]:
    """A talk, turn by turn: what was recalled and comes back is no news."""
    result = Result("feedback_loop", surface.name)
    for row in rows:
        if "turn" in row:
            surface.call(None, "sync_turn", user_text=row["user"], assistant_text=row["assistant"])
            continue
        wanted = row["expect"]
        texts = [entry["text"] for entry in surface.call(None, "list")]
        if len(texts) > wanted["entries_max"]:
            result.failures.append(f"at most {wanted['entries_max']} entries wanted, there are {texts}")
        if not any(wanted["entry_like"] in text for text in texts):
            result.failures.append(f"no entry holds {wanted['entry_like']!r}: {texts}")
        result.failures += [f"an entry says {said!r}: {text!r}" for said in wanted["never"] for text in texts if _says(text, said)]
    return [result]


def _says(text: str, said: str) -> bool:
    # A short word is looked for as a whole entry: "ok" is in "token" too.
    return said in text if " " in said else text.strip(" .!").casefold() == said

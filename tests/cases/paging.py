"""Cases about lists, pages, scores and their order: operations that ask in several ways, and what such cases expect."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import timing
from .cli_surface import CliSurface, judged
from .model import Op, Refused, Reply, Unknown
from .python_surface import PythonSurface
from .run import Run
from .shells import commands

PAGE = 100
"""Entries on a page where a case names no size."""


def _page_all(run: Run, op: Op, reply: Reply) -> None:
    """Every page, each begun after the last entry of the one before."""
    size, found, after = int(op.get("size", PAGE)), [], None
    while page := run.surface.call(run.agent(op), "list", limit=size, **({"after": after} if after else {})):
        if len(page) > size:
            raise Refused(frozenset({"crash"}), f"a page of {size} holds {len(page)}")
        found += [entry["id"] for entry in page]
        after = page[-1]["id"]
    reply.value = run.facts["paged"] = found


def _list(run: Run, op: Op, reply: Reply) -> None:
    if "day" in op:
        timing.of_day(run, op, reply)
        return
    given = {name: op[name] for name in ("limit",) if name in op}
    if "offset" in op:
        # A page begins after an entry: that is where a number can be put. On the command line it is an option that is not there.
        if isinstance(run.surface, CliSurface):
            reply.value = judged(*run.surface.raw(["list", "--json", f"--offset={op['offset']}"]))
        given["after"] = op["offset"]
    reply.value = run.surface.call(run.agent(op), "list", **given)


def _in_new_processes(run: Run, op: Op, reply: Reply) -> None:
    """The same question of so many processes, each with another seed for the hashes of texts."""
    found = []
    for seed in range(int(op["times"])):
        words = ["search", "--store", str(run.folder), "--json", "-k", str(op["limit"]), op["query"]]
        code, out, err = commands(run, PYTHONHASHSEED=str(seed + 1)).raw([], words)
        if code:
            raise Refused(frozenset({"crash"}), err)
        found.append([hit["entry"]["id"] for hit in json.loads(out)["hits"]])
    reply.value = run.facts["answers of processes"] = found


def _explain(run: Run, op: Op, reply: Reply) -> None:
    """What a person is told who asks in vain."""
    reply.code, out, err = commands(run).raw(["search", op["query"]])
    reply.said = reply.value = out + err
    reply.hits = run.surface.call(run.agent(op), "search", query=op["query"])


OPERATIONS: dict[str, Callable[[Run, Op, Reply], None]] = {
    "list": _list,
    "page_all": _page_all,
    "search_in_new_processes": _in_new_processes,
    "search_explain": _explain,
}


# expectations


def _unique(run: Run, value: Any) -> list[str]:
    found = len(set(run.facts["paged"]))
    return [] if found == value else [f"the pages hold {found} entries"]


def _duplicates(run: Run, value: Any) -> list[str]:
    found = len(run.facts["paged"]) - len(set(run.facts["paged"]))
    return [] if found == value else [f"the pages hold {found} entries twice"]


def _lists(run: Run) -> list[Reply]:
    return [r for r in run.actions() if r.name == "list"]


def _list_300(run: Run, value: Any) -> list[str]:
    if value != "260, or fewer with truncated=true and a cursor":
        raise Unknown(f"I do not know how to check {value!r}")
    return [f"{len(r.value)} are listed" for r in _lists(run)[:1] if len(r.value) != 260]


def _over_cap(run: Run, value: Any) -> list[str]:
    if value != "error or truncated, never empty":
        raise Unknown(f"I do not know how to check {value!r}")
    return [f"{r.op} lists nothing" for r in _lists(run)[1:] if not r.kinds and not r.value]


def _paged(run: Run, value: Any) -> list[str]:
    return _unique(run, value) + _duplicates(run, 0)


def _exported(run: Run, value: Any) -> list[str]:
    rows = [json.loads(line) for line in run.facts["exports"][-1].splitlines()[1:-1]]
    found = sum("entries" in row for row in rows)
    stats = run.surface.call(None, "stats")["alive"]
    return [] if found == stats == value else [f"the export holds {found}, stats say {stats}"]


def _counts(run: Run, value: Any) -> list[str]:
    """How many entries each way of asking gives."""
    found: list[int] = []
    for r in run.actions():
        if r.name == "mcp_search":
            found.append(len(run.facts["replies"][-1]["structuredContent"]["hits"]))
        elif r.name == "cli":
            found.append(sum(entry in r.said for entry in run.ids.values()))
        else:
            found.append(len(r.hits or []))
    wanted = [n for n, r in zip(value, [r for r in run.replies if r.phase == "action"], strict=True) if r.ran]
    return [] if found == wanted else [f"wanted {wanted}, got {found}"]


def _identical(run: Run, value: Any) -> list[str]:
    found = run.facts["answers of processes"]
    alike = all(one == found[0] for one in found) and bool(found[0])
    return [] if alike is value else [f"processes find {found}"]


def _scores(run: Run) -> list[float]:
    return [hit["score"] for r in run.searches() for hit in r.hits or []]


def _scores_differ(run: Run, value: Any) -> list[str]:
    found = _scores(run)
    return [] if (len(set(found)) == len(found) > 1) is value else [f"the scores are {found}"]


def _scores_in(run: Run, value: Any) -> list[str]:
    low, high = value
    return [f"a score of {score}" for score in _scores(run) if not low <= score <= high]


def _independent(run: Run, value: Any) -> list[str]:
    """The hits of the last search have the scores that they have where the other entry was never written."""
    last = run.searches()[-1]
    with tempfile.TemporaryDirectory() as place:
        alone = PythonSurface(Path(place))
        for key, added in run.added.items():
            if key != value:
                alone.call(run.agent(added), "add", text=added["content"])
        found = [hit["score"] for hit in alone.call(run.agent(last.op), "search", query=last.op["query"], k=100)]
        alone.close()
    scores = [hit["score"] for hit in last.hits or []]
    return [] if scores == found and scores else [f"with it {scores}, without it {found}"]


def _explain_says(run: Run, value: Any) -> list[str]:
    return [f"it says {r.said!r}" for r in run.actions() if r.name == "search_explain" and value not in r.said]


EXPECTATIONS: dict[str, Callable[[Run, Any], list[str]]] = {
    "unique": _unique,
    "duplicates": _duplicates,
    "list_300": _list_300,
    "over_cap": _over_cap,
    "page_all": _paged,
    "export": _exported,
    "counts": _counts,
    "identical_ids": _identical,
    "scores_differ": _scores_differ,
    "scores_in": _scores_in,
    "score_a_independent_of": _independent,
    "explain_says": _explain_says,
}

"""Judging a case: every key of `expected` is an assertion, and a key that is not here is a failure of the runner."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from . import agents, aging, ci_outcomes, conversing, documents, embedding, modelling, moving, paging, places, ruling, timing, values
from .absent import no_counterpart
from .model import KINDS, Left, Refused, Reply, Result, Unknown
from .run import Run, disturbed

Expectation = Callable[[Run, Any], list[str]]

SURVEYS = frozenset({"stats", "list", "top", "doctor", "health", "audit", "history", "integrity", "check", "open", "reopen", "close"})
SURVEYS |= {
    "start",
    "mcp_tools_list",
    "mcp_session",
    "mcp_calls",
    "mcp_call",
    "mcp_search",
    "close_stdin",
    "kill_parent",
    "SIGTERM",
    "render",
}
SURVEYS |= {"consolidate", "repair", "rebuild_index", "export", "graph", "rules", "rules_list", "prefetch", "patience", "release_lock"}
"""Steps that ask nothing that could be refused: where a case expects an error, they must go well."""

JUDGES_ERRORS = frozenset({"error", "error_any_of", "any_of", "or_error", "first_search", "status", "error_kind_only", "duplicate",
                           "noticed", "exit_code", "each_error", "self_loop", *documents.JUDGES_REFUSALS,
                           *places.JUDGES_REFUSALS})  # fmt: skip
"""Keys that say which refusals are right; without one of them every step must go well."""

PROHIBITIONS = frozenset({"never", "never_hits", "never_contains", "hits_none", "error", "error_any_of", "or_error", "embedder_calls",
                          "bytes_per_turn_max",
                          "edges_crossing_agents", "conflicts_crossing_agents", "no_traceback"})  # fmt: skip
"""Keys that hold whatever else happened: they are judged although a step that would have written something was left out."""


def judge(run: Run, result: Result) -> None:
    """Judge every key, and that nothing was refused which no key allows."""
    if not JUDGES_ERRORS & set(run.case.expected):
        result.failures += [f"{r.name} was refused: {r.message}" for r in run.actions() if r.kinds]
    for key, value in run.case.expected.items():
        judged = EXPECTATIONS.get(key)
        hole = disturbed(run)
        try:
            if judged is None:
                if key.startswith("entry_") and value == "unchanged":
                    result.failures += _unchanged(run, key.removeprefix("entry_"))
                    continue
                raise Unknown(f"I do not know how to check {key!r}: {json.dumps(value, ensure_ascii=False)}")
            if hole is not None and key not in PROHIBITIONS:
                raise Left(hole.absence, f"{key}: cannot be judged without {hole.reason}")
            result.failures += [f"{key}: {failure}" for failure in judged(run, value)]
        except Left as left:
            result.left.append(left)
        except Unknown as error:
            result.failures.append(f"runner: {error}")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            result.failures.append(
                f"runner: {key}: {json.dumps(value, ensure_ascii=False)} cannot be judged: {type(error).__name__}: {error}"
            )
        except Refused as error:
            result.failures.append(f"{key}: looking it up was refused: {error}")


def _kind(name: Any) -> str | None:
    if name is not None and name not in KINDS:
        raise Unknown(f"I do not know the kind of error {name!r}")
    return name if name is None else str(name)


def _is(reply: Reply, kind: str | None) -> bool:
    return not reply.kinds if kind is None else kind in (reply.kinds or ())


def _told(reply: Reply) -> str:
    query = f" {reply.op['query']!r}"[:60] if "query" in reply.op else ""
    return f"{reply.name}{query}: " + (f"{'/'.join(sorted(reply.kinds))} ({reply.message})" if reply.kinds else "no error")


def _error(run: Run, value: Any) -> list[str]:
    kind = _kind(value)
    if kind is None:
        return [_told(r) for r in run.actions() if r.kinds]
    judged = [r for r in run.actions() if r.name not in SURVEYS or "offset" in r.op]
    surveys = [r for r in run.actions() if r.name in SURVEYS and r.kinds and r not in judged]
    if not judged:
        raise Left("not yet", f"error: no step that could be refused with {kind} was carried out")
    return [f"wanted {kind}, got {_told(r)}" for r in judged if not _is(r, kind)] + [_told(r) for r in surveys]


def _error_any_of(run: Run, value: Any) -> list[str]:
    kinds = [_kind(name) for name in value]
    return [f"wanted one of {value}, got {_told(r)}" for r in run.actions() if not any(_is(r, kind) for kind in kinds)]


def _each_error(run: Run, value: Any) -> list[str]:
    """A kind for every step of the action, in order; one that was left out is passed over."""
    steps = [r for r in run.replies if r.phase == "action"]
    if len(steps) != len(value):
        raise Unknown(f"each_error names {len(value)} kinds for {len(steps)} steps")
    return [f"wanted {kind}, got {_told(r)}" for r, kind in zip(steps, value, strict=True) if r.ran and not _is(r, _kind(kind))]


def _or_error(run: Run, value: Any) -> list[str]:
    kind = {"store in use": "unavailable"}.get(value, value)
    return [f"only {kind} is allowed: {_told(r)}" for r in run.actions() if r.kinds and not _is(r, _kind(kind))]


def _any_of(run: Run, value: Any) -> list[str]:
    """Every step that asks for something satisfies one of the clauses."""
    judged = [r for r in run.actions() if r.name not in SURVEYS and not (r.name == "search" and {*value} <= {*_OF_COMMANDS})]
    return [f"none of {value} holds for {_told(r)}" for r in judged if not any(_clause(run, r, clause) for clause in value)]


def _clause(run: Run, reply: Reply, clause: str) -> bool:
    if clause == "stored after the wait":
        return not reply.kinds and values.is_there(run, reply)
    if clause in _OF_COMMANDS:
        return _OF_COMMANDS[clause](run, reply)
    name, _, value = clause.partition(": ")
    if name == "error":
        return _is(reply, _kind(value))
    if name == "count":
        return not reply.kinds and len(reply.hits or []) == int(value)
    raise Unknown(f"I do not know how to check the clause {clause!r}")


_OF_COMMANDS: dict[str, Callable[[Run, Reply], bool]] = {
    "deleted": lambda run, reply: reply.code == 0 and all(run.entry(key)["standing"] == "dead" for key in run.ids),
    "error naming the id form": lambda run, reply: reply.code != 0 and repr(reply.value["args"][-1]) in reply.said and "list" in reply.said,
}
"""Clauses about what a command was told to remove."""


def _unknown_id(run: Run, value: Any) -> list[str]:
    codes = [r.code for r in run.actions() if r.name == "cli"]
    return [] if (codes[-1] != 0) is (value == "not 0") else [f"the last command ends with {codes[-1]}"]


def _last_that_may_hit(run: Run, keys: list[str]) -> Reply:
    unknown = [key for key in keys if key not in run.added]
    if unknown:
        raise Unknown(f"there is no entry {unknown[0]!r} in this case")
    searches = [r for r in run.searches() if set(keys) <= r.wanted]
    if not searches:
        raise Unknown(f"the filters of every search exclude {keys}")
    return searches[-1]


def _missing(run: Run, reply: Reply, keys: list[str]) -> list[str]:
    hits = run.hit_keys(reply)
    return [f"{key} is not among the hits of {_told(reply)}: {hits}" for key in keys if key not in hits]


def _hits_all(run: Run, value: Any) -> list[str]:
    return _missing(run, _last_that_may_hit(run, value), value)


def _hits_all_first_query(run: Run, value: Any) -> list[str]:
    return _missing(run, run.searches()[0], value)


def _hits(run: Run, value: Any) -> list[str]:
    """The keys that a search for each query hits, or how many the first search for it finds; or how many the last search finds."""
    if isinstance(value, int):
        # Any word in common is a hit of a broad search; of these, so many are what was asked for.
        last = run.searches()[-1]
        found = sum(str(last.op["query"]) in hit["text"] for hit in last.hits or [])
        return [] if found == value else [f"wanted {value} hits, got {found}"]
    made = []
    if not any(op["op"] == "search" for op in run.case.action):
        # The case says what a search would find now.
        for query, wanted in value.items():
            hits = [hit["text"] for hit in run.surface.call(None, "search", query=query, k=10) if query in hit["text"]]
            made += [] if len(hits) == wanted else [f"wanted {wanted} hits that say {query!r}, got {hits}"]
        return made
    for query, keys in value.items():
        asked = [r for r in run.searches() if r.op.get("query") == query]
        if not asked:
            raise Unknown(f"no search of this case asks {query!r}")
        if isinstance(keys, int):
            found = len(asked[0].hits or [])
            made += [] if found == keys else [f"wanted {keys} hits of {query!r}, got {found}"]
        else:
            made += _missing(run, asked[-1], keys)
    return made


def _hits_none(run: Run, value: Any) -> list[str]:
    queries = {r.op.get("query") for r in run.searches()}
    if not set(value) & set(run.added) and set(value) <= queries:
        # Words: what a search for one finds by meaning may be something else, but never a text that holds it.
        found = [(r, hit["text"]) for r in run.searches() if r.op.get("query") in value for hit in r.hits or []]
        return [f"{_told(r)} hits {text!r}" for r, text in found if str(r.op["query"]).casefold() in text.casefold()]
    hits = run.hit_keys(run.searches()[-1])
    return [f"{key} is among the hits: {hits}" for key in value if key in hits]


def _never_hits(run: Run, value: Any) -> list[str]:
    """No reply of the action shows these entries in any form, hits or not."""
    made = []
    for key in value:
        said, entry_id = str(run.added[key].get("content", "")), run.ids[key]
        for r in run.actions():
            if r.op is run.added[key]:
                continue
            if key in run.hit_keys(r) or (r.op.get("id") is None and (entry_id in r.said or said in r.said)):
                made.append(f"{_told(r)} shows {key}")
    return made


def _first(run: Run, value: Any) -> list[str]:
    hits = run.hit_keys(run.searches()[-1])
    return [] if hits[:1] == [value] else [f"wanted {value} first, got {hits}"]


def _first_query_first(run: Run, value: Any) -> list[str]:
    hits = run.hit_keys(run.searches()[0])
    return [] if hits[:1] == [value] or run.searches()[0].kinds else [f"wanted {value} first, got {hits}"]


def _order(run: Run, value: Any) -> list[str]:
    hits = [key for key in run.hit_keys(run.searches()[-1]) if key in value]
    return [] if hits == value else [f"wanted {value}, got {hits}"]


def _hits_each(run: Run, value: Any) -> list[str]:
    return [f"wanted {value} hits, got {len(r.hits or [])} for {_told(r)}" for r in run.searches() if len(r.hits or []) != value]


def _count(run: Run, value: Any) -> list[str]:
    if value == "unchanged":
        value = run.facts["count"]
    last = run.actions()[-1]
    # A case that says how many hits there are too means entries here.
    found = len(last.hits) if last.hits is not None and not isinstance(run.case.expected.get("hits"), int) else run.live(run.agent(last.op))
    return [] if found == value else [f"wanted {value}, found {found}"]


def _stats_count(run: Run, value: Any) -> list[str]:
    stats = [r.value for r in run.actions() if r.name == "stats"]
    return [f"wanted {value}, stats say {s['total']}, of them {s['alive']} active" for s in stats if not s["total"] == s["alive"] == value]


def _text_equals(run: Run, value: Any) -> list[str]:
    return [f"{key} says {run.entry(key)['text']!r}" for key, text in value.items() if run.entry(key)["text"] != text]


def _keys_all(run: Run, value: Any) -> list[str]:
    """All these entries live; nothing was merged into another."""
    return [f"{key} is {run.entry(key)['standing']}" for key in value if run.entry(key)["standing"] != "active"]


def _conflict_marked(run: Run, value: Any) -> list[str]:
    """Asked about what both speak of, memory shows both, and marks them as excluding one another."""
    made = []
    for pair in value:
        first, second = (run.added[key]["content"] for key in pair)
        common = " ".join(word for word in first.split() if word in second.split())
        shown = run.surface.call(run.agent(run.added[pair[0]]), "answer", query=common)["annotated"]
        if not ("conflicting" in shown and first in shown and second in shown):
            made.append(f"{pair} are not shown as conflicting: {shown!r}")
    return made


def _content_len(run: Run, value: Any) -> list[str]:
    found = [len(run.entry(key)["text"]) for key in run.ids]
    return [] if found == [value] else [f"wanted {value}, found {found}"]


def _unchanged(run: Run, key: str) -> list[str]:
    now = run.entry(key)
    if key not in run.before:
        raise Unknown(f"{key} was not there when the action began")
    return [f"{name} of {key} was {run.before[key][name]!r}, is {now[name]!r}" for name in now if now[name] != run.before[key][name]]


def _exit_code(run: Run, value: Any) -> list[str]:
    codes = [r.code for r in run.actions() if r.code is not None]
    if not codes:
        raise Unknown("exit_code: no step of this case has one")
    wrong = [code for code in codes if (code == 0 if value == "not 0" else code != value)]
    return [f"wanted {value}, got {code}" for code in wrong]


def _no_traceback(run: Run, value: Any) -> list[str]:
    return [f"{r.name} shows a traceback" for r in run.actions() if "Traceback" in r.said]


def _integrity(run: Run, value: Any) -> list[str]:
    if value != "ok":
        raise Unknown(f"I do not know the integrity {value!r}")
    found = run.surface.call(None, "check")
    looked = [r.value for r in run.actions() if r.name in ("integrity", "check")] + [found]
    return [problem for one in looked for problem in one["problems"]]


def _no_lines(run: Run, value: Any) -> list[str]:
    raise no_counterpart("good_lines")


def _bad_lines(run: Run, value: Any) -> list[str]:
    raise no_counterpart("bad_lines_reported")


EXPECTATIONS: dict[str, Expectation] = {
    "error": _error,
    "error_any_of": _error_any_of,
    "each_error": _each_error,
    "or_error": _or_error,
    "any_of": _any_of,
    "hits_all": _hits_all,
    "hits_all_first_query": _hits_all_first_query,
    "hits": _hits,
    "hits_none": _hits_none,
    "never_hits": _never_hits,
    "first": _first,
    "first_query_first": _first_query_first,
    "order": _order,
    "hits_each": _hits_each,
    "count": _count,
    "stats_count": _stats_count,
    "text_equals": _text_equals,
    "keys_all": _keys_all,
    "conflict_marked": _conflict_marked,
    "content_len": _content_len,
    "exit_code": _exit_code,
    "unknown_id_exit_code": _unknown_id,
    "no_traceback": _no_traceback,
    "integrity": _integrity,
    "good_lines": _no_lines,
    "bad_lines_reported": _bad_lines,
    **ci_outcomes.EXPECTATIONS,
    **agents.EXPECTATIONS,
    **aging.EXPECTATIONS,
    **conversing.EXPECTATIONS,
    **documents.EXPECTATIONS,
    **embedding.EXPECTATIONS,
    **moving.EXPECTATIONS,
    **paging.EXPECTATIONS,
    **places.EXPECTATIONS,
    **ruling.EXPECTATIONS,
    **timing.EXPECTATIONS,
    **values.EXPECTATIONS,
    **modelling.EXPECTATIONS,
}

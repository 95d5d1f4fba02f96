"""Operations on rules, links, opinions, documents and removals."""

from __future__ import annotations

from tempfile import SpooledTemporaryFile
from typing import IO, Final

from earnest.core.entry import Entry
from earnest.core.reports import CleanupReport, EncodeReport, Feedback, Related
from earnest.core.rules import Rule
from earnest.encoding import Document
from earnest.graph.exporting import Graph
from earnest.http import shapes
from earnest.http import shapes_life as forms
from earnest.http.answers import AnalysisAnswer, Erased, LinksCut, RelatedList, RuleList, RulePage
from earnest.http.entries import ONE, ROOT, scope_of
from earnest.http.operations import Call, Operation, Reply
from earnest.http.problems import Problem

RULE: Final = ROOT + "/rules/{rule}"
_SPOOL: Final = 4 * 1024 * 1024


def _propose(call: Call) -> Rule:
    body: forms.NewRule = call.body
    return call.memory.rules.add(**body.model_dump(), key=call.key)


def _rules(call: Call) -> RulePage:
    asked: forms.RuleListing = call.query
    scope = scope_of(asked.scope, asked.all_scopes)
    found = call.memory.rules.list(status=asked.status, scope=scope, after=asked.after, limit=asked.limit + 1)
    page = found[: asked.limit]
    return RulePage(page, page[-1].id if len(found) > len(page) else None)


def _match(call: Call) -> RuleList:
    body: forms.RuleMatch = call.body
    return RuleList(call.memory.rules.match(body.text, body.k, scope=scope_of(body.scope, body.all_scopes), floor=body.floor))


def _verify(call: Call) -> Rule:
    return call.memory.rules.verify(call.path["rule"], accept=call.body.accept, reason=call.body.reason, key=call.key)


def _trial(call: Call) -> Rule:
    body: forms.NewTrial = call.body
    return call.memory.rules.trial(call.path["rule"], **body.model_dump(), key=call.key)


def _analyse(call: Call) -> AnalysisAnswer:
    made = call.memory.rules.analyze(call.body.llm or None, scope=call.body.scope, key=call.key)
    return AnalysisAnswer([*made], made.by, made.patterns, [*made.notes])


def _link(call: Call) -> Related:
    body: forms.NewLink = call.body
    return call.memory.link(body.a, body.b, body.kind, weight=body.weight, reason=body.reason, key=call.key)


def _unlink(call: Call) -> LinksCut:
    asked: forms.LinkBetween = call.query
    return LinksCut(call.memory.unlink(asked.a, asked.b, asked.kind, key=call.key))


def _related(call: Call) -> RelatedList:
    asked: forms.Reach = call.query
    return RelatedList(call.memory.related(call.path["entry"], asked.k, hops=asked.hops, kind=asked.kind))


def _graph(call: Call) -> Graph:
    asked: forms.GraphOf = call.query
    return call.memory.graph(asked.id, hops=asked.hops, limit=asked.limit)


def _feedback(call: Call) -> Feedback:
    return call.memory.feedback(call.path["entry"], call.body.verdict, key=call.key)


def _compress(call: Call) -> Entry:
    return call.memory.compress(call.path["entry"], call.body.llm or None, key=call.key)


def _erase(call: Call) -> Erased:
    body: forms.Subject = call.body
    made = call.memory.erase(**body.model_dump(), key=call.key)
    return Erased(made.complete, made.subject, made.dry_run, made.counts, made.released, made.event, made.probed, made.left)


def _encode(call: Call) -> EncodeReport:
    body: forms.NewDocuments = call.body
    return call.memory.encode([Document(one.source, one.text) for one in body.documents], scope=body.scope, key=call.key)


def _export(call: Call) -> Reply:
    """Everything, from one snapshot: on a disk as far as it does not fit into a few megabytes, and sent from there piece by piece."""
    asked: forms.ExportOf = call.query
    if not call.there:
        raise Problem(404, "not-found", f"agent {call.path['agent']!r} has no memory here", field="agent")
    file: IO[bytes] = SpooledTemporaryFile(_SPOOL)  # noqa: SIM115 (closed when it was sent)
    try:
        call.memory.export(file, format=asked.format, vectors=asked.vectors)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    media = "application/x-ndjson" if asked.format == "jsonl" else "text/markdown; charset=utf-8"
    return Reply(file, headers={"content-type": media})


OPERATIONS: Final = (
    Operation(
        "POST", ROOT + "/rules", "proposeRule", "Propose a rule; it is pending until a person accepts it or a trial proves it",
        _propose, Rule,
        body=forms.NewRule, access="make", status=201, failures=(404,), keyed=True, span="create_memory", theme="rules",
    ),
    Operation(
        "GET", ROOT + "/rules", "listRules", "The rules, oldest first", _rules, RulePage,
        query=forms.RuleListing, failures=(404,), theme="rules",
    ),
    Operation(
        "POST", ROOT + "/rules/match", "matchRules", "The active rules that a text calls for", _match, RuleList,
        body=forms.RuleMatch, span="search_memory", theme="rules",
    ),
    Operation(
        "POST", ROOT + "/rules/analysis", "analyseRules", "Propose rules from what went wrong, and well, again and again", _analyse,
        AnalysisAnswer, body=forms.NewAnalysis, access="write", who="operator", failures=(404, 409), keyed=True, slow=True,
        span="create_memory", theme="rules",
    ),
    Operation(
        "GET", RULE, "getRule", "One rule with its latest trial", lambda call: call.memory.rules.get(call.path["rule"]), Rule,
        failures=(404, 409), theme="rules",
    ),
    Operation(
        "POST", RULE + "/verification", "verifyRule", "Accept or reject a rule, as a person", _verify, Rule,
        body=forms.Verification, access="write", who="operator", failures=(404, 409), keyed=True, span="update_memory", theme="rules",
    ),
    Operation(
        "POST", RULE + "/trial", "tryRule", "Put a rule on trial: shown in a random half of the decisions that it matches", _trial, Rule,
        body=forms.NewTrial, access="write", who="operator", failures=(404, 409), keyed=True, span="update_memory", theme="rules",
    ),
    Operation(
        "POST", ROOT + "/links", "link", "State that two entries belong together", _link, Related,
        body=forms.NewLink, access="write", status=201, failures=(404, 409), keyed=True, span="update_memory", theme="links",
    ),
    Operation(
        "DELETE", ROOT + "/links", "unlink", "Cut the links between two entries", _unlink, LinksCut,
        query=forms.LinkBetween, access="write", failures=(404, 409), keyed=True, span="update_memory", theme="links",
    ),
    Operation(
        "GET", ONE + "/related", "related", "What an entry is linked with, most closely first", _related, RelatedList,
        query=forms.Reach, failures=(404,), theme="links",
    ),
    Operation(
        "GET", ROOT + "/graph", "graph", "Entries and the links between them, for drawing", _graph, Graph,
        query=forms.GraphOf, failures=(404,), theme="links",
    ),
    Operation(
        "POST", ONE + "/feedback", "feedback", "Take down what a reader thinks of an entry: an opinion, not a measurement",
        _feedback, Feedback,
        body=forms.Opinion, access="write", failures=(404, 409), keyed=True, span="update_memory", theme="entries",
    ),
    Operation(
        "POST", ONE + "/vouch", "vouch", "Answer for an entry that waits for outcomes before it may decide",
        lambda call: call.memory.vouch(call.path["entry"], key=call.key), Entry,
        body=shapes.Nothing, access="write", who="operator", failures=(404, 409), keyed=True, span="update_memory", theme="entries",
    ),
    Operation(
        "POST", ONE + "/compression", "compress", "Put a shorter version in the place of an entry", _compress, Entry,
        body=forms.Shortening, access="write", who="operator", failures=(404, 409), keyed=True, slow=True, span="update_memory",
        theme="entries",
    ),
    Operation(
        "POST", ROOT + "/documents", "encode", "Turn documents into entries; what changed since the last time is replaced", _encode,
        EncodeReport, body=forms.NewDocuments, access="make", keyed=True, slow=True, span="create_memory", theme="entries",
    ),
    Operation(
        "POST", ROOT + "/cleanup", "cleanUp", "Bury the fading entries that have faded",
        lambda call: call.memory.decay_cleanup(call.body.dry_run, key=call.key), CleanupReport,
        body=shapes.CleanupAsked, access="write", who="operator", failures=(404,), keyed=True, slow=True, span="delete_memory",
        theme="ledger",
    ),
    Operation(
        "POST", ROOT + "/erasure", "erase", "Erase entries and everything that goes with them; there is no undo", _erase, Erased,
        body=forms.Subject, access="write", who="operator", failures=(404,), keyed=True, slow=True, span="delete_memory", theme="moving",
    ),
    Operation(
        "GET", ROOT + "/export", "export", "Everything, from one snapshot", _export, bytes,
        query=forms.ExportOf, failures=(404,), slow=True, theme="moving",
    ),
)  # fmt: skip
"""Every operation on what becomes of entries beyond the ledger."""

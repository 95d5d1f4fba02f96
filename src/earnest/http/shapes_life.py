"""What requests on rules, links, opinions, documents and removals hold; as `shapes`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from earnest.core import check
from earnest.core.gate import DECISIONS, MOST_DECISIONS
from earnest.core.rules import RuleType, Status
from earnest.http.shapes import Asked, Body, Count, Label, Labels, Name, Page, Part, Remark, Scope

LinkKind = Literal["related", "semantic", "temporal", "entity"]
AnyLinkKind = Literal["related", "semantic", "temporal", "entity", "supersession"]
UseModel = Annotated[bool, Field(description="whether to ask the language model of the setting `llm`")]


class NewRule(Body):
    """A rule to propose: when it applies, and what to do then."""

    type: RuleType
    trigger: Annotated[str, Field(min_length=1, max_length=300)]
    action: Annotated[str, Field(min_length=1, max_length=600)]
    scope: Scope = ""
    sources: Labels = Field(default_factory=list)
    evidence: Annotated[list[Label], Field(max_length=100, description="ids of the entries that speak for it")] = Field(
        default_factory=list
    )
    tags: Labels = Field(default_factory=list)


class RuleListing(Page):
    """Which rules, and which page of them."""

    status: Annotated[list[Status], Field(max_length=5)] | None = None
    scope: Annotated[list[Scope], Field(max_length=check.MAX_LIST)] | None = None
    all_scopes: bool = False


class RuleMatch(Body):
    """A text that may call for rules."""

    text: Annotated[str, Field(max_length=check.MAX_QUERY)]
    k: Count | None = None
    scope: Scope | Annotated[list[Scope], Field(min_length=1, max_length=check.MAX_LIST)] = ""
    all_scopes: bool = False
    floor: Part | None = None


class Verification(Body):
    """A person's word on a rule."""

    accept: bool
    reason: Remark = ""


class NewTrial(Body):
    """The terms of a trial."""

    decisions: Annotated[int, Field(ge=50, le=MOST_DECISIONS)] = DECISIONS
    meter: Name | None = None
    reason: Remark = ""


class NewAnalysis(Body):
    """Where to look for patterns that give rules."""

    scope: Scope = ""
    llm: UseModel = False


class Upkeep(Body):
    """Whether only to say what would be done, and whether a model writes the texts that `compress_over` asks for."""

    dry_run: bool = False
    llm: UseModel = False


class NewLink(Body):
    """Two entries that belong together."""

    a: Label
    b: Label
    kind: LinkKind = "related"
    weight: Annotated[float, Field(gt=0, le=1)] = 1.0
    reason: Annotated[str, Field(max_length=200)] = ""


class LinkBetween(Asked):
    """The links between two entries, of every kind unless one is named."""

    a: Label
    b: Label
    kind: LinkKind | None = None


class Reach(Asked):
    """How far to walk along links, and along which."""

    k: Annotated[int, Field(ge=1, le=100)] = 5
    hops: Annotated[int, Field(ge=1, le=100)] = 1
    kind: Annotated[list[AnyLinkKind], Field(max_length=5)] | None = None


class GraphOf(Asked):
    """Which part of the graph: around an entry, or all of it."""

    id: Label | None = None
    hops: Annotated[int, Field(ge=1, le=100)] = 1
    limit: Annotated[int, Field(ge=1, le=10_000, description="links at most")] = 1_000


class Opinion(Body):
    """What a reader thinks of an entry."""

    verdict: Literal["helpful", "unhelpful", "outdated"]


class Shortening(Body):
    """How to make an entry shorter."""

    llm: UseModel = False


class Subject(Body):
    """What to erase; of several, all must hold of an entry. At least one has to be named."""

    scope: Scope | None = None
    source: Label | None = None
    entry: Label | None = None
    text: Annotated[str, Field(min_length=1, max_length=check.MAX_TEXT)] | None = None
    dry_run: bool = False


class OneDocument(Body):
    """A document: its name, by which it is known when it comes again, and what it says."""

    source: Label
    text: Annotated[str, Field(min_length=1, max_length=1_000_000)]


class NewDocuments(Body):
    """Documents to turn into entries."""

    documents: Annotated[list[OneDocument], Field(min_length=1, max_length=100)]
    scope: Scope = ""


class ExportOf(Asked):
    """In which form to take everything out."""

    format: Literal["jsonl", "markdown"] = "jsonl"
    vectors: bool = False

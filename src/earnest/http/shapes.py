"""What requests hold, as typed models: they check forms, the façade checks meanings. Unknown names are refused."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from earnest.core import check
from earnest.core.entry import Cause, Kind, Retention, Standing
from earnest.core.ticket import Tier

Text = Annotated[str, Field(min_length=1, max_length=check.MAX_TEXT)]
Query = Annotated[str, Field(min_length=1, max_length=check.MAX_QUERY, description="memory is silent on one without words")]
Label = Annotated[str, Field(min_length=1, max_length=check.MAX_LABEL)]
Scope = Annotated[str, Field(max_length=check.MAX_LABEL)]
Labels = Annotated[list[Label], Field(max_length=check.MAX_LIST)]
Part = Annotated[float, Field(ge=0, le=1)]
Delta = Annotated[float, Field(description="a signed change, in the meter's unit")]
Size = Annotated[float, Field(gt=0, description="the size of an ordinary effect, in the meter's unit")]
Name = Annotated[str, Field(min_length=1, max_length=100)]
Remark = Annotated[str, Field(max_length=check.MAX_DETAIL)]
Ticket = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,100}$")]
Moment = Annotated[
    str, Field(max_length=60, description="a time in ISO 8601; UTC unless it names a zone", json_schema_extra={"format": "date-time"})
]
Count = Annotated[int, Field(ge=1, le=1_000)]
PAGE = 50
"""Items on a page unless the caller asks for another number."""


class Body(BaseModel):
    """A JSON object whose names and types are exactly these."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Asked(BaseModel):
    """The values of a query string. A name that may come several times is a list."""

    model_config = ConfigDict(extra="forbid")


class Nothing(Body):
    """An empty object: there is nothing to say, but writes are JSON."""


class NewEntry(Body):
    """One memory to write down."""

    text: Text
    cue: Annotated[str, Field(max_length=check.MAX_CUE, description="the question that it answers")] | None = None
    kind: Kind = "semantic"
    scope: Scope = ""
    sources: Labels = []
    importance: Part = 0.5
    confidence: Part = 1.0
    retention: Retention | None = None
    metadata: dict[str, Any] | None = None
    tags: Labels = []
    valid_from: Moment | None = None
    valid_to: Moment | None = None


class NewEntries(Body):
    """Many memories to write down; all are checked before the first is written."""

    entries: Annotated[list[NewEntry], Field(min_length=1, max_length=1_000)]


class Changes(Body):
    """What to change in an entry: new words make a new version, the rest is changed in place."""

    text: Text | None = None
    cue: Annotated[str, Field(max_length=check.MAX_CUE)] | None = None
    importance: Part | None = None
    confidence: Part | None = None
    retention: Retention | None = None
    metadata: dict[str, Any] | None = None
    tags: Labels | None = None
    valid_from: Moment | None = None
    valid_to: Moment | None = None


class Merge(Body):
    """Entries to join into one heir, and what it says; the members' distinct texts unless given."""

    ids: Annotated[list[Label], Field(min_length=2, max_length=check.MAX_LIST)]
    text: Text | None = None


class Filters(Body):
    """Where to look. Names are matched exactly; without a scope it is the default one, "", alone."""

    scope: Scope | Annotated[list[Scope], Field(min_length=1, max_length=check.MAX_LIST)] = ""
    all_scopes: bool = False
    kind: Annotated[list[Kind], Field(min_length=1, max_length=4)] | None = None
    source: Labels | None = None
    tags: Labels | None = None


class Recall(Filters):
    """A question, and where to look for its answer."""

    query: Query
    k: Annotated[int, Field(ge=1, le=100)] = 3
    since: Moment | None = None
    until: Moment | None = None
    as_of: Moment | None = None
    half_life: Annotated[float, Field(gt=0, description="halve a score for every so many ticks since it was last settled")] | None = None
    mode: Literal["auto", "hybrid", "rrf", "keyword", "dense"] = "auto"
    links: (
        Annotated[bool, Field(description="whether hits lend to what they are linked with; as the setting `spread` unless given")] | None
    ) = None
    weigh: (
        Annotated[
            list[Literal["importance", "confidence", "recency"]],
            Field(max_length=3, description="what relevance is multiplied by; the setting `weigh` unless given"),
        ]
        | None
    ) = None


class Question(Recall):
    """As a recall; the answer may be put together by the language model of the setting `llm`."""

    llm: bool = False


class Search(Recall):
    """As a recall, but broad: suspended entries too, marked."""

    k: Annotated[int, Field(ge=1, le=100)] = 5
    floor: Part = 0.0


class NewTurn(Body):
    """One turn of a conversation."""

    user: Annotated[str, Field(max_length=1_000_000)] = ""
    assistant: Annotated[str, Field(max_length=1_000_000)] = ""
    scope: Scope = ""
    session: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    speaker: Annotated[str, Field(max_length=100)] = ""
    extract: Literal["rules", "llm"] = "rules"


class Prompt(Filters):
    """The message for which a prompt is made, and how many tokens memory may add to it."""

    message: Annotated[str, Field(max_length=1_000_000)]
    budget: Annotated[int, Field(ge=0, le=1_000_000)] = 800
    floor: Part | None = None
    links: bool | None = None


class Outcome(Body):
    """What was measured after a decision."""

    delta: Delta
    meter: Name = "unnamed"
    scale: Size | None = None
    acted: bool | None = None
    detail: Remark = ""
    cited: Labels | None = None


class Measurement(Body):
    """What a meter showed."""

    delta: Delta
    meter: Name = "unnamed"
    scale: Size | None = None
    detail: Remark = ""


class SecondMeasurement(Body):
    """What another meter showed for the same decision."""

    delta: Delta
    meter: Name
    scale: Size | None = None
    detail: Remark = ""


class ReasonGiven(Body):
    """Why, for the record."""

    reason: Remark = ""


class NewTick(Body):
    """One step of the clock. A slot (a date, a run) ticks once."""

    slot: Annotated[str, Field(min_length=1, max_length=190)] | None = None
    expire_after: Annotated[int, Field(ge=1, le=1_000_000)] | None = None


class NewMeter(Body):
    """Who measures, in which unit, and what its word weighs where it is bound."""

    name: Name
    unit: Annotated[str, Field(max_length=50)] | None = None
    scale: Size | None = None
    tier: Tier = "measured"


class Binding(Body):
    """The channel on which a meter's own tier holds."""

    channel: Annotated[str, Field(min_length=1, max_length=50)]


class RevokedSince(Body):
    """The tick or the time from which a meter's words do not count; all of them unless given."""

    since: Annotated[int, Field(ge=0, le=2**62)] | Moment | None = None


class SettingChanges(Body):
    """Settings by name; see docs/settings.md."""

    model_config = ConfigDict(extra="allow", strict=True)


class CleanupAsked(Body):
    """Whether only to say what would be done."""

    dry_run: bool = False


class Page(Asked):
    """Which page of a list."""

    after: Annotated[str, Field(max_length=200, description="go on after this item: the `next` of the page before")] | None = None
    limit: Count = PAGE


class Listing(Page):
    """Which entries, and which page of them."""

    scope: Annotated[list[Scope], Field(max_length=check.MAX_LIST, description="the default scope unless given")] | None = None
    all_scopes: bool = False
    kind: Annotated[list[Kind], Field(max_length=4)] | None = None
    source: Labels | None = None
    tag: Labels | None = None
    standing: Standing | None = None


class SurveyPage(Listing):
    """As a listing of every scope, in an order, with how the entries stand."""

    limit: Annotated[int, Field(ge=1, le=500)] = PAGE
    order: Literal["oldest", "newest", "richest", "poorest", "ended"] = "newest"
    pinned: bool | None = None
    cause: Cause | None = None


class Dead(Page):
    """Which of the dead."""

    limit: Annotated[int, Field(ge=1, le=500)] = PAGE
    cause: Cause | None = None


class Log(Asked):
    """Which events."""

    entry: Label | None = None
    kind: Annotated[str, Field(min_length=1, max_length=50)] | None = None
    after: Annotated[int, Field(ge=0, le=2**62, description="events after this number; before it, with newest")] = 0
    limit: Count = PAGE
    newest: bool = False


class Window(Asked):
    """Which part of the log to sum up."""

    after: Annotated[int, Field(ge=0, le=2**62)] = 0
    limit: Annotated[int, Field(ge=1, le=100_000)] = 10_000


class Few(Asked):
    """At most so many."""

    limit: Count = 10


class Ticks(Asked):
    """How many ticks to look back on."""

    ticks: Annotated[int, Field(ge=1, le=2_000)] = 200
    before: Annotated[int, Field(ge=1, le=2**62)] | None = None


class Buckets(Asked):
    """How finely to divide."""

    buckets: Annotated[int, Field(ge=1, le=100)] = 20


class UpliftOf(Asked):
    """Whose uplift."""

    meter: Name | None = None
    entry: Label | None = None
    rule: Label | None = None
    against: Literal["nothing", "rival"] = "nothing"
    alpha: Annotated[float, Field(ge=1e-9, le=0.5)] = 0.05


class UpliftsOf(Asked):
    """Several uplifts: by each meter, or of each entry that a randomised decision was about, by one meter."""

    by: Literal["meter", "entry"] = "meter"
    meter: Name | None = None


class Because(Asked):
    """Why, for the record."""

    reason: Remark = ""

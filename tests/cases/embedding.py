"""Cases about embedders: a stub that a case describes, and what such cases expect of vectors."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from typing import Any

from earnest.embedders import HashingEmbedder

from . import texts
from .model import Left, Op, Reply, Unknown
from .python_surface import PythonSurface
from .run import Run

_KNOWN = {"op", "id", "dims", "returns", "fails", "fails_on", "max_input_chars", "on_longer", "delay_s"}


_PATIENCE = 60.0
"""Seconds that a call that hangs hangs at most."""


class Stub:
    """An embedder that does what a case says: given vectors, letters hashed into `dims` numbers for all other texts, failures."""

    def __init__(self, model_id: str = "stub", dims: int = 64) -> None:
        self.model_id, self.dims = model_id, dims
        self.remote = False
        self.returns: dict[str, list[float]] = {}
        self.fails: str | None = None
        self.fails_on: list[str] = []
        self.longest_taken: int | None = None
        self.answers = threading.Event()
        self.answers.set()
        self.asked: list[str] = []
        self.questions: list[str] = []
        self._letters = HashingEmbedder()
        self._lock = threading.Lock()

    def told(self, op: Op) -> None:
        """Take over what a step says, and leave the rest as it was."""
        unknown = set(op) - _KNOWN
        if unknown:
            raise Unknown(f"I do not know what {sorted(unknown)} means for an embedder")
        for given, vector in (op.get("returns") or {}).items():
            self.returns[given] = [float(number) for number in vector]
        if self.returns:
            self.dims = len(next(iter(self.returns.values())))
        if "fails" in op:
            if op["fails"] not in (None, "first call", "always"):
                raise Unknown(f"I do not know how to fail {op['fails']!r}")
            self.fails = op["fails"]
        self.fails_on = list(op.get("fails_on", self.fails_on))
        self.longest_taken = op.get("max_input_chars", self.longest_taken)
        if "delay_s" in op:
            # A call that takes long is for others to make: that is what `remote` says. How long is not what the case is about:
            # it lasts until the case says that there is no delay any more.
            self.remote = op["delay_s"] > 0 or self.remote
            (self.answers.clear if op["delay_s"] else self.answers.set)()

    def embed(self, given: Sequence[str]) -> Any:
        """See `earnest.protocols.Embedder`."""
        with self._lock:
            self.asked += given
            failing, self.fails = self.fails, self.fails if self.fails == "always" else None
        if not self.answers.wait(_PATIENCE):
            raise ConnectionError("the case never says that the delay is over")
        if failing:
            raise ConnectionError("the case says that this call fails")
        if any(text in self.fails_on for text in given):
            raise ValueError("the case says that this text fails")
        if self.longest_taken is not None and any(len(text) > self.longest_taken for text in given):
            raise ValueError("HTTP 400: the input is too long")
        return [self.returns.get(text) or self._hashed(text) for text in given]

    def embed_query(self, text: str) -> Any:
        """A question: counted apart, since it may say what an entry says."""
        vector = self.embed([text])[0]
        self.questions.append(self.asked.pop())
        return vector

    def _hashed(self, text: str) -> list[float]:
        [vector] = self._letters.embed([text])
        made = [0.0] * self.dims
        for place, number in enumerate(vector.tolist()):
            made[place % self.dims] += number
        return made if any(made) else [1.0] * self.dims


def stub_of(run: Run) -> Stub:
    """The stub of a case, which is made when it is first spoken of; on the surface that can bring one."""
    if not isinstance(run.surface, PythonSurface):
        raise Left("not here", "embedder: no word of a command line can bring an embedder of one's own")
    if run.surface.embedder is None:
        run.surface.embedder = Stub()
    stub = run.surface.embedder
    assert isinstance(stub, Stub)
    return stub


def embedder(run: Run, op: Op, reply: Reply) -> None:
    """`embedder {...}`: from now on it does this."""
    before = stub_of(run)
    fresh = "id" in op or "dims" in op
    if fresh:
        assert isinstance(run.surface, PythonSurface)
        run.surface.embedder = Stub(str(op.get("id", before.model_id)), int(op.get("dims", before.dims)))
    stub_of(run).told(op)
    run.surface.reopen()


def opened_with(run: Run, op: Op) -> None:
    """`open` and `reopen` may name an embedder."""
    if "embedder" in op:
        embedder(run, {"op": "embedder", **op["embedder"]}, Reply({"op": "embedder"}, "action"))


def reembed(run: Run, op: Op, reply: Reply) -> None:
    """`reembed`."""
    stub_of(run)
    reply.value = run.surface.call(run.agent(op), "reembed")


def mended(run: Run, op: Op) -> None:
    """What a repair is where an embedder failed: the missing vectors are made."""
    if isinstance(run.surface, PythonSurface) and run.surface.embedder is not None:
        run.surface.call(run.agent(op), "reembed")


def needed_for(run: Run, op: Op) -> None:
    """A search by meaning needs an embedder; where the case brings none, a stub that goes by letters is one."""
    if op.get("mode") not in ("vector", "hybrid", "dense"):
        return
    if isinstance(run.surface, PythonSurface) and run.surface.embedder is not None:
        return
    stub_of(run)
    run.surface.reopen()
    run.surface.call(run.agent(op), "reembed")


# what is expected


def embedder_calls(run: Run, value: Any) -> list[str]:
    """How often an embedder was asked during the action."""
    if not isinstance(run.surface, PythonSurface):
        raise Left("not here", "embedder_calls: an embedder of one's own cannot be brought to a command line")
    stub = run.surface.embedder
    if stub is None:
        # The case brings none: then its questions are asked once more of one that counts.
        stub = stub_of(run)
        run.surface.reopen()
        run.surface.call(run.agent({"op": ""}), "reembed")
        stub.asked.clear()
        for reply in run.actions():
            run.surface.call(run.agent(reply.op), "search", query=reply.op.get("query"))
    assert isinstance(stub, Stub)
    found = [*stub.asked, *stub.questions]
    return [] if len(found) == value else [f"the embedder was asked {found}"]


def _searches_by_meaning(run: Run) -> list[Reply]:
    return [r for r in run.searches() if r.op.get("mode") == "vector"]


def stats_shows(run: Run, value: Any) -> list[str]:
    """What stats say of vectors, in the words "vectors usable: N of M"."""
    shown = []
    for r in run.actions():
        if r.name == "stats":
            vectors = r.value["vectors"]
            shown.append(f"vectors usable: {vectors['usable']} of {vectors['usable'] + vectors['missing']}")
    if not shown:
        raise Unknown("no stats in this case")
    return [] if value in shown else [f"stats show {shown}"]


def hits_after_reembed(run: Run, value: Any) -> list[str]:
    """What the last search hits."""
    hits = run.hit_keys(run.searches()[-1])
    return [f"{key} is not among the hits {hits}" for key in value if key not in hits]


def calls_for_a(run: Run, value: Any) -> list[str]:
    """How often the text of entry a was embedded since the store was last opened with another embedder."""
    said = texts.content(run.added["a"]["content"])
    found = stub_of(run).asked.count(said)
    return [] if found == value else [f"embedded {found} times"]


def order_of(run: Run, value: Any) -> list[str]:
    """The order of these entries in the first search."""
    hits = [key for key in run.hit_keys(run.searches()[0]) if key in value]
    return [] if hits == value else [f"wanted {value}, got {hits}"]


def scores_finite(run: Run, value: Any) -> list[str]:
    """Every score is a finite number."""
    return [f"a score of {hit['score']}" for r in run.searches() for hit in r.hits or [] if not math.isfinite(hit["score"])]


def never_hits_by_vector(run: Run, value: Any) -> list[str]:
    """No search by meaning hits these."""
    return [f"{key} is hit by {r.op['query']!r}" for r in _searches_by_meaning(run) for key in value if key in run.hit_keys(r)]


def stored_vector_before_repair(run: Run, value: Any) -> list[str]:
    """What was stored of the vector of the entry when its embedder had failed: nothing, rather than something false."""
    if value is not None:
        raise Unknown(f"I do not know how to check {value!r}")
    found: dict[str, Any] = run.facts["vectors before repair"]
    return [] if found["usable"] == 0 else [f"{found['usable']} vectors were stored"]


def result_lists(run: Run, value: Any) -> list[str]:
    """What is pending is listed, with the reason: by stats as a number, by doctor with ids."""
    wanted = value["pending_vector"]
    vectors = run.surface.call(None, "stats")["vectors"]
    told = "".join(
        f["evidence"] for f in run.surface.call(None, "doctor")["findings"] if f["code"] in ("vectors_missing", "embedder_failing")
    )
    ids = [entry["id"] for entry in run.surface.call(None, "list") if entry["text"] in wanted]
    made = [] if vectors["missing"] == len(wanted) else [f"{vectors['missing']} are pending"]
    return made + [f"doctor does not list {entry}: {told}" for entry in ids if entry not in told]


def _returned(run: Run, value: Any) -> list[str]:
    """The write came back while the embedder had not answered: whoever writes does not wait for it at all."""
    stub_of(run)
    [stats] = [r.value["vectors"] for r in run.actions() if r.name == "stats"]
    [add] = [r for r in run.actions() if r.name == "add"]
    return [] if not add.kinds and stats["missing"] == 1 else [f"{add.message} {stats}"]


def pending(run: Run, value: Any) -> list[str]:
    """It is stored, with its vector or without."""
    return [] if run.entry("a")["standing"] == "active" else ["it is not stored"]


def _pending_before(run: Run, value: Any) -> list[str]:
    [stats] = [r.value["vectors"] for r in run.actions() if r.name == "stats"]
    return [] if stats["missing"] == value else [f"{stats['missing']} were pending"]


def _pending_after(run: Run, value: Any) -> list[str]:
    found = run.surface.call(None, "stats")["vectors"]["missing"]
    return [] if found == value else [f"{found} are pending"]


def _with_vector(run: Run, value: Any) -> list[str]:
    if value != "all":
        raise Unknown(f"I do not know how to check {value!r}")
    stub_of(run)
    vectors, alive = run.surface.call(None, "stats")["vectors"], run.live()
    return [] if vectors["usable"] == alive >= 5 and not vectors["missing"] else [f"{vectors} of {alive} entries"]


def note_vectors(run: Run, op: Op) -> None:
    """Remember how the vectors stood before a repair."""
    if isinstance(run.surface, PythonSurface) and run.surface.embedder is not None:
        run.facts["vectors before repair"] = run.surface.call(run.agent(op), "stats")["vectors"]


OPERATIONS: dict[str, Callable[[Run, Op, Reply], None]] = {"embedder": embedder, "reembed": reembed}

EXPECTATIONS: dict[str, Callable[[Run, Any], list[str]]] = {
    "embedder_calls": embedder_calls,
    "stats_shows": stats_shows,
    "hits_after_reembed": hits_after_reembed,
    "embedder_calls_for_a_after_reopen": calls_for_a,
    "order_of": order_of,
    "scores_finite": scores_finite,
    "never_hits_by_vector": never_hits_by_vector,
    "stored_vector_before_repair": stored_vector_before_repair,
    "result_lists": result_lists,
    "add_returns_within_s": _returned,
    "pending_before": _pending_before,
    "pending_after": _pending_after,
    "entries_with_vector": _with_vector,
}
"""Keys of `expected` that are about embedders. Refusals are not among what they judge."""

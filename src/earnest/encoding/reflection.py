"""The encoder that asks a language model: five separate steps, each checked, each of which may fail without losing a word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Final

from earnest.core import check
from earnest.core.analysis import Analyser
from earnest.core.models import model_spec
from earnest.encoding.document import Document, Draft, Encoding, listed
from earnest.encoding.local import LocalEncoder
from earnest.encoding.reflection_asking import Asking
from earnest.encoding.reflection_steps import documents_gone_over, documents_together, facts_told
from earnest.encoding.reflection_work import drafts_of, notes_of, remember, standing, work_of
from earnest.errors import InvalidInput
from earnest.protocols import LLM

VERSION: Final = 1
"""Goes up whenever the steps change what the same replies make."""

LLMWrap = Callable[[LLM], LLM]


@dataclass(frozen=True)
class ReflectionEncoder:
    """Makes entries of documents with a language model, in five steps; implements `earnest.protocols.Encoder`.

    1. Facts: each piece of a document becomes short statements, each traced to its passage (metadata `quote`).
    2. Consolidation: statements that say the same or belong together are joined, if the joined one loses nothing.
    3. Self-containment: statements that could not be understood alone are rewritten with what their document says.
    4. Entities both ways: what several statements say of a name (cue "What do we know about …?"), and the question that a name answers.
    5. Synthesis: what two documents that share names say together, or where they contradict each other.

    What the model says is taken item by item, and only if the passages bear it out: their words, numbers, names, conditions and denials.
    **Nothing is lost by the model**: a passage of which no statement was taken is stored as it is, and so is everything where a step
    failed, the service was down, or the cap or the budget was reached; the report says so. Code, turns of conversations and records are
    stored as they are.

    Inside `memory.encode` what is asked is counted and bounded by `llm_daily_budget`, and replies are kept until the work is done: after an
    interruption the same call goes on without paying twice. Of a document that was encoded before, only passages that changed are asked
    about: what was made of the others stays, with its history.

    Args:
        llm: The model: anything with `complete(prompt) -> str`; inside `memory.encode` also a spec such as "ollama:qwen3", or a callable.
        max_calls: Ask it at most so often in one `encode`; None for as often as it takes (about one call for 40 passages, up to three for
            each document, and one for each pair of documents).
        workers: Questions that are under way at a time, 1 to 32.
        synthesis: Whether documents are put side by side.

    Raises:
        InvalidInput: An argument is out of range.
    """

    llm: Any
    max_calls: int | None = None
    workers: int = 4
    synthesis: bool = True
    progress: Callable[[int, int], None] | None = None
    known: Callable[[str], Sequence[Draft]] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.llm, str):
            model_spec(self.llm)
        elif not callable(getattr(self.llm, "complete", self.llm)):
            raise InvalidInput("llm", self.llm, "must be a spec such as ollama:qwen3, or a model with complete(prompt) -> str")
        if self.max_calls is not None:
            check.integer("max_calls", self.max_calls, low=0, high=10_000_000)
        check.integer("workers", self.workers, low=1, high=32)
        check.flag("synthesis", self.synthesis)

    @property
    def id(self) -> str:
        """Which steps the pieces are made by. A change of model is none: what was encoded stays until it is encoded again."""
        return f"reflection-{VERSION}/{int(self.synthesis)}"

    def through(
        self,
        wrap: LLMWrap,
        progress: Callable[[int, int], None] | None = None,
        known: Callable[[str], Sequence[Draft]] | None = None,
    ) -> ReflectionEncoder:
        """The same encoder, asking through another model that asks this one: how a memory counts what it costs.

        `known(source)` gives what was made of a document before.
        """
        return replace(self, llm=wrap(self.llm), progress=progress or self.progress, known=known or self.known)

    def encode(self, documents: Sequence[Document]) -> Encoding:
        """Make drafts of documents. Writes nothing; the caller adds the drafts to a store.

        Raises:
            InvalidInput: Not a list of documents.

        The model's failures raise nothing: see `Encoding.unfinished` and the notes.
        """
        if not callable(getattr(self.llm, "complete", None)):
            raise InvalidInput("llm", self.llm, "cannot be asked outside of a memory; give a model with complete(prompt) -> str")
        local = LocalEncoder(entity_sentences=0, cross_sentences=0)
        documents = listed(documents)
        plain = {document.source: local.encode([document]) for document in documents}
        asking = Asking(self.llm, self.max_calls, self.progress)
        works = [work_of(document, plain[document.source].drafts) for document in documents]
        before = {work.document.source: self.known(work.document.source) if self.known else () for work in works}
        for work in works:
            remember(work, before[work.document.source])
        analyser = Analyser()
        with ThreadPoolExecutor(self.workers, "earnest-reflection") as pool:
            try:
                facts_told(pool, asking, analyser, works)
                documents_gone_over(pool, asking, analyser, works)
                fresh = {work.document.source for work in works if work.news}
                for work in works:
                    work.facts += work.known
                across = documents_together(pool, asking, analyser, works, fresh) if self.synthesis else []
            except BaseException:
                # Interrupted: those that wait for a reply stop waiting, and nobody asks anew.
                asking.cancel.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        drafts = [draft for work in works for draft in drafts_of(work)] + across + standing(before, fresh)
        skipped = [one for source in plain for one in plain[source].skipped]
        notes = [note for source in plain for note in plain[source].notes] + notes_of(asking.tallies, works)
        if asking.cut:
            notes.append(f"replies that were cut off: {asking.cut:,}; passages that they leave untold are stored as they are")
        spoken = dict.fromkeys(source for source in plain for source in plain[source].sources)
        return Encoding(
            tuple(drafts), tuple(skipped), tuple(notes), tuple(spoken),
            unfinished=tuple(dict.fromkeys(work.document.source for work in works if work.failed)),
        )  # fmt: skip

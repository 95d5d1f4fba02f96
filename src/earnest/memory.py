"""`Memory`: the one façade. A verb is a method; each write is one short transaction that is on the disk when the verb returns."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from earnest.core import check
from earnest.core.reports import Check
from earnest.core.settings import NAMES, Settings, with_changes
from earnest.errors import StoreError
from earnest.ledger.meters import Meters
from earnest.opening import (
    agent_name,
    embedding_for,
    given_embedding,
    given_reranking,
    local_here,
    located,
    model_for,
    path_text,
    reranking_for,
    settings_asked,
)
from earnest.protocols import Author, Clock, Rng, Store
from earnest.recall.embedding import Embedding
from earnest.recall.reranking import Reranking
from earnest.recall.search import Retriever
from earnest.stores.sqlite import SqliteStore
from earnest.system import SystemClock, SystemRng
from earnest.verbs.archiving import ArchivingVerbs
from earnest.verbs.calibrating import CalibrationVerbs
from earnest.verbs.compressing import CompressionVerbs
from earnest.verbs.conversing import ConversationVerbs
from earnest.verbs.embedding import EmbeddingVerbs
from earnest.verbs.encoding_files import FileVerbs
from earnest.verbs.erasing import ErasingVerbs
from earnest.verbs.insight import InsightVerbs
from earnest.verbs.lessons import LessonVerbs
from earnest.verbs.lessons import foreign_outcomes as foreign_outcomes
from earnest.verbs.lessons import merge_lessons as merge_lessons
from earnest.verbs.lessons import read_lessons as read_lessons
from earnest.verbs.looking import LookVerbs
from earnest.verbs.maintaining import MaintenanceVerbs
from earnest.verbs.rendering import RenderingVerbs
from earnest.verbs.ruling import Rules
from earnest.verbs.surveying import SurveyVerbs
from earnest.verbs.uplift import UpliftVerbs

# Seconds that closing waits for another writer.
_BRIEFLY = 0.2
# Seconds that closing waits for vectors that are being made.
_A_MOMENT = 2.0


class Memory(
    FileVerbs,
    ConversationVerbs,
    CalibrationVerbs,
    MaintenanceVerbs,
    LessonVerbs,
    LookVerbs,
    InsightVerbs,
    EmbeddingVerbs,
    UpliftVerbs,
    SurveyVerbs,
    RenderingVerbs,
    ErasingVerbs,
    ArchivingVerbs,
    CompressionVerbs,
):
    """One agent's memory. Safe to share between threads, and with other processes that have the same file open.

    Open it with `Memory.open`; close it with `close` or a `with` block.
    """

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock,
        rng: Rng,
        actor: str,
        channel: str,
        retriever: Retriever | None = None,
        reranking: Reranking | None = None,
        embedding: Embedding | None = None,
        llm: Any = None,
    ) -> None:
        """Composes the parts; `Memory.open` is the way in for users."""
        super().__init__(
            store, clock=clock, rng=rng, actor=actor, channel=channel, retriever=retriever,
            reranking=reranking, reranking_for=reranking_for, embedding=embedding, embedding_for=embedding_for, llm=llm,
            model_for=lambda given: model_for(given, rng.random),
        )  # fmt: skip
        self.rules = Rules(self)
        self.meters = Meters(store, self._writing, self._read_settings, lambda: self._analyser)

    @classmethod
    def open(
        cls,
        path: str | Path = ":memory:",
        agent: str | None = None,
        *,
        embedder: Any = None,
        llm: Any = None,
        clock: Clock | None = None,
        rng: Rng | None = None,
        read_only: bool = False,
        actor: str | None = None,
        channel: str = "python",
        settings: Mapping[str, Any] | None = None,
        retriever: Retriever | None = None,
        reranker: Any = None,
        decay_half_life: float | None = None,
        decay_threshold: float | None = None,
        timeout: float = 30.0,
    ) -> Self:
        """Open an agent's memory, creating it on first use.

        Args:
            path: A file; a folder, which holds one file for each agent; or ":memory:".
            agent: Whose memory it is. None takes the agent that a file belongs to, and "default" for a new one or a folder.
            embedder: What makes texts comparable by meaning: a spec ("none", "local", "hashing", "openai:text-embedding-3-small", …),
                which becomes the store's setting; an object with `embed` and `model_id`, or a callable, for this process alone. None
                takes EARNEST_EMBEDDER if that is set, else the store's setting; a new store gets "local" if that extra is installed.
            llm: The language model that verbs ask when they are called with `llm=True`: a spec such as "ollama:qwen3", which becomes the
                store's setting; an object with `complete(prompt) -> str`, or a callable, for this process alone. Nothing asks it unasked.
            clock: Where time comes from.
            rng: Where ids and chance come from.
            read_only: Refuse every write; the store must exist.
            actor: Who is at work, for the record; the channel's name unless given.
            channel: How requests come in: `python`, `cli`, `mcp`, `http`, … It decides what an unbound meter's word weighs.
            settings: Settings to change, kept in the store; see `earnest.core.settings.Settings`.
            retriever: Ranks candidates in place of the built-in one; it never sees a balance.
            reranker: Reads the best hits of `search`, `answer` and `decide` once more, outside of any transaction: a spec ("none",
                "ce:MODEL", "cohere:NAME", "voyage:NAME", "jina:NAME"), which becomes the store's setting; an object with
                `rerank(query, texts) -> scores`, or a callable, for this process alone. None takes EARNEST_RERANKER if that is set, else
                the store's setting. If it fails, the order stays as it was, and hits and `doctor` say so.
            decay_half_life, decay_threshold: The settings of those names: days until an unused fading entry has lost half of its worth
                (90), and the worth below which it has faded (0.1).
            timeout: Seconds to wait for another writer before `StoreBusy`.

        Raises:
            InvalidInput: A value that cannot be used.
            StoreError: The file cannot be opened, is no store, is newer than this Earnest, or belongs to another agent.
            NotAvailable: An embedder or an engine that is not installed.

        Cost: a few milliseconds; a new file is on the disk when it returns.
        """
        file, owner = located(path, agent_name(agent))
        channel = check.label("channel", channel, limit=50)
        who = channel if actor is None else check.label("actor", actor, limit=200)
        wait = check.number("timeout", timeout, low=0.0, high=3600.0)
        clock, rng = clock or SystemClock(), rng or SystemRng()
        if llm is not None and not isinstance(llm, str):
            model_for(llm, rng.random)
        specs = {name: given for name, given in (("embedder", embedder), ("reranker", reranker), ("llm", llm)) if isinstance(given, str)}
        changes = settings_asked(settings, **specs, decay_half_life=decay_half_life, decay_threshold=decay_threshold)
        own, ranks = given_embedding(embedder), given_reranking(reranker)
        author = Author(clock.now(), who, channel)
        store = SqliteStore(file, agent=owner, author=author, read_only=check.flag("read_only", read_only), timeout=wait)
        try:
            memory = cls(store, clock=clock, rng=rng, actor=who, channel=channel, retriever=retriever, reranking=ranks, embedding=own,
                         llm=None if isinstance(llm, str) and not read_only else llm)  # fmt: skip
            if own is None and "embedder" not in changes and store.made and local_here():
                changes["embedder"] = "local"
            wanted = {name: value for name, value in changes.items() if getattr(memory.settings, name) != value}
            if wanted and not (read_only and wanted.keys() <= {"embedder", "llm", "reranker"}):
                memory.configure(**wanted)
        except BaseException:
            store.close()
            raise
        return memory

    @staticmethod
    def restore_backup(backup: str | Path, path: str | Path, agent: str | None = None, *, timeout: float = 30.0) -> Path | None:
        """Put a backup in the place of a store that nobody has open. (`restore` brings an entry back.)

        Args:
            backup: A file that `backup` wrote, of this format or an earlier one. It is looked over first, and left as it is.
            path: The store: a file, or a folder with `agent`'s file in it. It need not be there.
            agent: Whose memory it is, in a folder.
            timeout: Seconds to wait for whoever has the store open.

        Returns:
            Where what was there before is kept now, as a store of its own; None if nothing was there.

        Raises:
            StoreCorrupt: The backup is damaged. StoreBusy: somebody has the store open. WrongAgent: they are two agents'.
            StoreError, InvalidInput: A file cannot be read or written. Nothing was changed, whichever it is.

        O(the backup), on the disk when it returns. What was written after the backup is in the file that is kept, and nowhere else.
        """
        from earnest.stores.sqlite.restoring import restore

        file, _ = located(path, agent_name(agent))
        wait = check.number("timeout", timeout, low=0.0, high=3600.0)
        return restore(Path(path_text(backup, "a backup")), Path(file), timeout=wait)

    @property
    def agent(self) -> str:
        """Whose memory this is."""
        return self._store.agent

    @property
    def settings(self) -> Settings:
        """The settings in force, as the store has them now."""
        return self._settings_now()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Write what was noted about use, and release the file. Idempotent.

        Vectors that are being made get two seconds to be finished; the others are made when a process with the embedder is at work again.
        """
        if self._filler is not None and not self._filler.wait(_A_MOMENT):
            self._filler.stop(_BRIEFLY)
        self._reranking.close()
        with self._noting:
            unwritten = bool(self._noted or self._recalled or self._travelled)
        if unwritten and not self._store.closed:
            # What was noted may be lost, by design: a busy store or a full disk does not keep the file from being released.
            with contextlib.suppress(StoreError), self._writing(_BRIEFLY):
                unwritten = False
        self._store.close()

    def configure(self, /, **changes: Any) -> Settings:
        """Change settings for every process that uses this store.

        Raises:
            InvalidInput: An unknown name or a value out of range; nothing is changed then.
        """
        with self._writing() as tx:
            before = self._read_settings(tx)
            after = with_changes(before, changes)
            changed = [name for name in NAMES if getattr(before, name) != getattr(after, name)]
            for name in changed:
                tx.set_setting(name, getattr(after, name))
            if changed:
                old, new = ({name: getattr(s, name) for name in changed} for s in (before, after))
                tx.append("setting", data=new, before=old)
            if before.rule != after.rule:
                from earnest.ledger.adoption import adopt

                adopt(tx, after)
        if before.embedder != after.embedder and self._embedding_for is not None:
            self._embedding = self._embedding_for(after.embedder)
        self._follow_reranker(after)
        if before.languages != after.languages:
            self._follow(after)
            self._adopt_analyser()
        return after

    def check(self, *, repair: bool = False, head: str | None = None) -> Check:
        """Look the whole store over: the file, the log's chain, the postings against the balances, the counters, the index.

        Args:
            repair: Rebuild what can be rebuilt from the entries and postings: the index, the counters.
            head: A hash that the log had once, kept elsewhere (git, a CI log): if no event has it, the log was rewritten.

        O(the file). Balances are folded from recorded amounts, to the unit.
        """
        wanted = None if head is None else check.label("head", head, limit=64)
        found = list(self._store.damage(wanted))
        repaired: list[str] = []
        if repair and any(damage.repairable for damage in found):
            if any(damage.code == "keyword index damaged" for damage in found):
                self._rebuild_index()
            self._store.repair_counters(self._author())
            before, found = found, list(self._store.damage(wanted))
            left = {damage.text for damage in found}
            repaired = [f"{damage.code}: {damage.text}" for damage in before if damage.text not in left]
        with self._store.read() as reading:
            last = reading.events(entry=None, kind=None, after=0, limit=1, newest=True)
        return Check(
            ok=not found,
            problems=tuple(f"{damage.code}: {damage.text}" for damage in found),
            repaired=tuple(repaired),
            events=last[0].seq if last else 0,
            head=last[0].hash if last else "",
        )

    def backup(self, path: str | Path) -> Path:
        """Write a whole, consistent copy to a new file while others go on writing.

        Raises:
            StoreError: The file exists, or cannot be written.
        """
        target = Path(path_text(path, "a new file"))
        self._store.backup(target)
        return target

"""What every verb stands on: the store, who is at work, the settings, and notes of use that ride with the next write."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, Final, TypeVar

from earnest.core import check, segmenting
from earnest.core.acting import Caller, caller
from earnest.core.analysis import Analyser
from earnest.core.calendar import days_before
from earnest.core.entry import NewEntry, StoredEntry
from earnest.core.events import twin_digest
from earnest.core.settings import NAMES, Settings, with_changes
from earnest.core.vectors import CUT, UNREAD, embedded_text
from earnest.core.write_gate import Gate
from earnest.errors import EmbedderFailed, IndexDamaged, KeyReused, StoreError
from earnest.forgetting import curve
from earnest.graph import weaving
from earnest.installed import stemming
from earnest.ledger.decisions import request_digest
from earnest.protocols import LLM, Author, Clock, Reading, Rng, Store, Writing
from earnest.recall.embedding import Embedding, Vectors
from earnest.recall.filling import Filler, Filling, dimension_of, missing
from earnest.recall.reranking import Reranking
from earnest.recall.search import Retriever

T = TypeVar("T")

KEYS_KEPT: Final = 90
"""Days for which an idempotency key is honoured. After them `maintain` and `compact` forget it; a ticket goes on landing once."""
_AT_ONCE: Final = 0.05
"""Seconds that something is worth waiting for which the next process does as well."""
_KEYS: Final = 1_000
"""Keys that are forgotten in one transaction."""


NOTED: Final = 10_000
"""Entries, and links, whose use is kept until the next write. Of more, what was used longest ago is lost: a process that only reads would
else come to hold all of them, and the write that comes at last would take long."""

# Vectors that an earlier write left behind are made up for with a later one, so many at a time.
_LEFT_BEHIND = 16
_FEW = 1_000


class Base:
    """The plumbing of `Memory`; not for users."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock,
        rng: Rng,
        actor: str,
        channel: str,
        embedding_for: Callable[[str], Embedding],
        reranking_for: Callable[[str], Reranking],
        model_for: Callable[[Any], LLM],
        retriever: Retriever | None = None,
        reranking: Reranking | None = None,
        embedding: Embedding | None = None,
        llm: Any = None,
    ) -> None:
        """Composes the parts; `Memory.open` is the way in for users.

        `embedding` is this process's embedder; else the setting's is made by `embedding_for`, now and whenever the setting changes.
        So it is with `reranking` and `reranking_for`.
        `llm` is this process's language model, in the place of the setting's; `model_for` makes one of whatever a caller gives.
        """
        self._store = store
        self._embedding = embedding or Embedding(None)
        self._embedding_for = None if embedding is not None else embedding_for
        self._own_llm, self._model_for = llm, model_for
        self._filler: Filler | None = None
        self._clock, self._rng = clock, rng
        self._opened_for = Caller(actor, channel)
        self._retriever = retriever
        self._reranking = reranking or Reranking(None)
        self._reranking_for = None if reranking is not None else reranking_for
        self._noted: Counter[str] = Counter()
        self._recalled: OrderedDict[int, tuple[int, datetime]] = OrderedDict()
        self._travelled: OrderedDict[tuple[int, int], datetime] = OrderedDict()
        self._noting = threading.Lock()
        self._known: tuple[dict[str, Any], Settings] = ({}, Settings())
        self._analyser = analyser_for(Settings())
        with store.read() as reading:
            self._read_settings(reading)
        if self._known[0].get("analyser") != self._index_id:
            self._adopt_analyser()

    def _author(self) -> Author:
        who = caller() or self._opened_for
        return Author(self._clock.now(), who.actor, who.channel)

    @property
    def _channel(self) -> str:
        return (caller() or self._opened_for).channel

    def _read_settings(self, reading: Reading) -> Settings:
        """The settings in force in this snapshot; checked again only when the store has others than last time."""
        kept = dict(reading.settings())
        known, settings = self._known
        if kept != known:
            settings = with_changes(Settings(), {name: kept[name] for name in NAMES if name in kept})
            self._known = (kept, settings)
            self._follow(settings)
        # Looked at every time: another process may have set back what this one has just set.
        if self._embedding_for is not None and settings.embedder != self._embedding.spec:
            self._embedding = self._embedding_for(settings.embedder)
        self._follow_reranker(settings)
        return settings

    def _follow_reranker(self, settings: Settings) -> None:
        """Rerank by what the store says, whoever set it, unless this process has a reranker of its own."""
        if self._reranking_for is not None and settings.reranker != self._reranking.spec:
            before, self._reranking = self._reranking, self._reranking_for(settings.reranker)
            before.close()

    def _follow(self, settings: Settings) -> None:
        """Analyse by the languages that the store has, whoever set them."""
        if ",".join(self._analyser.languages) != settings.languages:
            self._analyser = analyser_for(settings)

    @property
    def _index_id(self) -> str:
        """What the keyword index is made by: the analyser, and the release of the rules by which words are stemmed in this process."""
        return f"{self._analyser.id}/{stemming()}" if self._analyser.languages else self._analyser.id

    def _indexed_alike(self, made_by: str | None) -> bool:
        """Whether an index is as this process would make it. One that was made before releases were told is taken for it."""
        return made_by in (self._index_id, self._analyser.id)

    def _sound_index(self) -> Analyser:
        """The analyser that the index was made by, after `_read_settings`.

        Raises:
            IndexDamaged: The index was made by another one; it would not be answered from as if whole.
        """
        made_by = self._known[0].get("analyser")
        if not self._indexed_alike(made_by):
            raise IndexDamaged(
                f"the keyword index was made by analyser {made_by!r} and {self._index_id!r} is wanted: another process is making it "
                "anew, was kept from it, or stems by another release; try again, or run `earnest check --repair`"
            )
        return self._analyser

    def _settings_now(self) -> Settings:
        """The settings as the store has them now, in a snapshot of their own."""
        with self._store.read() as reading:
            return self._read_settings(reading)

    def _gate(self) -> Gate:
        """The write gate by the settings as they are now."""
        settings = self._settings_now()
        return Gate.of(settings.redact, settings.quarantine)

    def _remark(self, name: str, value: Any, limit: int = check.MAX_DETAIL) -> str:
        """A remark, checked, as it may be kept."""
        said = check.note(name, value, limit=limit)
        return self._gate().passed(said).text if said else said

    @contextmanager
    def _writing(self, patience: float | None = None, *, filling: bool = False) -> Iterator[Writing]:
        """One write transaction, stamped with author and time; what was noted about use rides with it.

        Entries that are born in it get their vectors afterwards, if the caller did not bring them; so do some that were left behind
        earlier. `filling` says that this transaction is about those.
        """
        with self._store.write(self._author(), patience=patience) as tx:
            with self._noting:
                noted, self._noted = self._noted, Counter()
                recalled, self._recalled = self._recalled, OrderedDict()
                travelled, self._travelled = self._travelled, OrderedDict()
            for name, count in noted.items():
                tx.bump(name, count)
            settings = self._read_settings(tx) if recalled or travelled else None
            if settings is not None:
                for stored in tx.entries([*recalled]):
                    times, last = recalled[stored.row]
                    curve.recalled(tx, settings, stored, last, times)
                weaving.travel(tx, settings, travelled)
            yield tx
            if not filling:
                self._weave(tx)
            born, left = len(tx.born), 0
            if not filling and self._embedding.usable:
                left = missing(tx, self._embedding.model) - len(self._embedding.refused)
        if left > 0:
            self._embed_newest(born, left)

    def _weave(self, tx: Writing) -> None:
        """Finds the links of the entries that this transaction wrote or brought back, if they are few; else `maintain` does."""
        rows = sorted({*tx.born, *tx.returned})
        if not rows or not self._read_settings(tx).links:
            return
        if len(rows) > weaving.AT_ONCE:
            weaving.later(tx, rows[0])
            return
        # A link that cannot be found keeps nothing from being written down: `maintain` goes on where this stopped.
        with suppress(IndexDamaged):
            weaving.weave(tx, self._read_settings(tx), self._sound_index(), rows, self._clock.now())

    # vectors

    def _embed_newest(self, born: int, left: int) -> None:
        """See to it that entries get the vectors that they lack: at once if that is quick, else while others work.

        The entries are on the disk already. What fails here is still missing, and `doctor` says so. Where very many are missing, another
        embedder made the others: that is `reembed`'s work, and a write makes up for its own entries alone.
        """
        if self._embedding.remote:
            self._wake_filler()
            return
        if self._embedding.resting:
            return
        limit = born + _LEFT_BEHIND if left <= _FEW else born
        if limit:
            with suppress(EmbedderFailed, StoreError):
                self._filling(None).run(limit=limit)

    def _wake_filler(self) -> Filler:
        if self._filler is None:
            self._filler = Filler(lambda: self._filling(self._holder()))
        self._filler.wake()
        return self._filler

    def _filling(self, holder: str | None, *, every: bool = False) -> Filling:
        return Filling(self._store, lambda: self._writing(filling=True), self._embedding, holder, every=every)

    def _holder(self) -> str:
        return self._rng.token(8).hex()

    def _vectors_for(self, entries: Sequence[NewEntry]) -> Vectors | None:
        """Vectors of entries that are about to be written, made before their transaction begins; None if that is done later."""
        embedding = self._embedding
        if not embedding.usable or embedding.remote or embedding.resting:
            return None
        twins = [twin_digest(new.text, new.cue) for new in entries]
        with self._store.read() as reading:
            known = reading.known_vectors(embedding.model, twins)
            dimension = dimension_of(reading, embedding.model)
        fresh = {twin: embedded_text(new.text, new.cue) for twin, new in zip(twins, entries, strict=True) if twin not in known}
        if fresh:
            try:
                made = embedding.vectors([*fresh.values()], dimension)
            except EmbedderFailed as error:
                made = Vectors([None] * len(fresh), [str(error)] * len(fresh), down=True)
            known |= {twin: code for twin, code in zip(fresh, made.codes, strict=True) if code is not None}
            problems = dict(zip(fresh, made.problems, strict=True))
        else:
            made, problems = Vectors([], []), {}
        return Vectors([known.get(twin) for twin in twins], [problems.get(twin) for twin in twins], made.shortened, made.down)

    def _put_vectors(self, tx: Writing, written: Sequence[tuple[StoredEntry, bool]], vectors: Vectors) -> None:
        """Keep the vectors of entries that were just written, and what was wrong where there is none."""
        embedding = self._embedding
        put: dict[int, bytes] = {}
        for (stored, new), code, problem in zip(written, vectors.codes, vectors.problems, strict=True):
            if new and code is not None:
                put[stored.row] = code
            elif new and problem is not None:
                tx.note_model(embedding.model, problem)
                if not vectors.down:
                    embedding.refused[stored.row] = problem
        tx.put_vectors(embedding.model, put)
        tx.bump(UNREAD, sum(stored.row in put and not embedding.reads(stored.entry.text) for stored, _ in written))
        tx.bump(CUT, len(vectors.shortened))

    def _note(self, counter: str | None, rows: Iterable[int] = (), ways: Iterable[tuple[int, int]] = ()) -> None:
        """Remember that something was used, to be written with the next write; it may be lost. `ways` are links that were travelled."""
        if self._store.read_only:
            return
        with self._noting:
            if counter:
                self._noted[counter] += 1
            now = self._clock.now()
            for row in rows:
                self._recalled[row] = (self._recalled.pop(row, (0, now))[0] + 1, now)
            for way in ways:
                self._travelled.pop(way, None)
                self._travelled[way] = now
            while len(self._recalled) > NOTED:
                self._recalled.popitem(last=False)
            while len(self._travelled) > NOTED:
                self._travelled.popitem(last=False)

    def _once(
        self,
        tx: Writing,
        key: str | None,
        verb: str,
        request: Callable[[], Mapping[str, Any]],
        load: Callable[[Mapping[str, Any]], T],
        do: Callable[[], tuple[T, Mapping[str, Any]]],
        namespace: str = "",
    ) -> T:
        """Carry a request out once for its key: again with the same key, the first result comes back and nothing is done.

        `do` returns the result and the form in which it is remembered; `load` makes the result from that form.

        Raises:
            KeyReused: The key came with another request.
        """
        if key is None:
            return do()[0]
        kept = self._kept(tx, key, verb, request(), namespace)
        if kept is not None:
            return load(kept)
        result, kept = do()
        # No key that a caller gives holds the separator.
        tx.remember(f"{namespace}\x1f{key}" if namespace else key, verb, request_digest(verb, request()), kept)
        return result

    def _remember(self, key: str | None, verb: str, request: Mapping[str, Any], kept: Mapping[str, Any]) -> None:
        """Remember what a request with this key came to, for a verb of many transactions: `_kept` gives it to whoever asks again."""
        if key is not None:
            with self._writing() as tx:
                self._once(tx, key, verb, lambda: request, lambda _: None, lambda: (None, kept))

    def _kept(
        self, reading: Reading, key: str | None, verb: str, request: Mapping[str, Any], namespace: str = ""
    ) -> Mapping[str, Any] | None:
        """What is remembered of a request with this key; None if there was none, or no key."""
        if key is None:
            return None
        key = check.label("key", key, limit=200)
        known = reading.remembered(f"{namespace}\x1f{key}" if namespace else key)
        if known is None:
            return None
        if known[0] != verb or known[1] != request_digest(verb, request):
            raise KeyReused(key, verb)
        return known[2]

    def _forget_keys(self) -> int:
        """Forget idempotency keys that are older than `KEYS_KEPT` days, and say how many. A short transaction for each thousand."""
        before, after, gone = days_before(self._clock.now(), KEYS_KEPT), "", 0
        while True:
            with self._store.read() as reading:
                old = reading.old_keys(before, after, _KEYS)
            if not old:
                return gone
            with self._writing() as tx:
                gone += tx.forget_keys(old)
            after = old[-1]

    def _adopt_analyser(self) -> None:
        """The index was made by another analyser, or there is none yet: make it anew. A reader leaves it, and says so when asked."""
        if self._store.read_only:
            return
        with self._store.read() as reading:
            empty = not reading.counter("alive") and not reading.counter("suspended")
            made_by = reading.settings().get("analyser")
        if empty:
            with self._writing() as tx:
                tx.set_setting("analyser", self._index_id)
        elif self._indexed_alike(made_by):
            # Only told more exactly: whoever is writing just now does not keep the store from being opened.
            with suppress(StoreError), self._writing(_AT_ONCE) as tx:
                tx.set_setting("analyser", self._index_id)
        else:
            self._rebuild_index()

    def _rebuild_index(self) -> None:
        self._store.rebuild_index(self._analyser.terms, self._author())
        with self._writing() as tx:
            tx.set_setting("analyser", self._index_id)

    def _terms(self, text: str, cue: str | None) -> tuple[list[str], list[str]]:
        return self._analyser.terms(text), self._analyser.terms(cue) if cue else []


def analyser_for(settings: Settings) -> Analyser:
    """The analyser that these settings ask for."""
    return segmenting.analyser(settings.languages)

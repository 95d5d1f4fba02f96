"""Recall with and without links: the same questions, asked of the same memory, with more or less of a hit's score passed on.

`python -m bench.recall --data locomo10.json --links [--tune] [--embedder local]`. Links are those that a memory finds by itself: by names
and neighbours as turns are written, by likeness in `maintain`. With `--tune` the two tuning conversations alone are looked at, and
the spread is chosen there; without, every conversation is, and the figures of the others are what counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from bench.recall.conversations import KINDS, TUNING, Conversation
from bench.recall.measures import Row, mean, row
from earnest import Memory
from earnest.graph.walking import SPREAD

SPREADS: Final = (0.0, 0.05, 0.1, 0.2, 0.5)
"""Part of a hit's score that it passes on, among which one is chosen on the tuning conversations; 0 follows no link."""
CHOSEN: Final = (0.0, SPREAD)
"""What is measured on the others: without, and with what was chosen."""
DEPTH: Final = 60


def memory_of(conversation: Conversation, embedder: str) -> Memory:
    """A memory of a conversation's turns with every link that it finds by itself; nothing is merged."""
    memory = Memory.open(":memory:", embedder=embedder, settings={"daily_share": 0.0})
    memory.add_many([{**turn.entry(conversation.name, placed=True), "sources": [turn.id]} for turn in conversation.turns])
    while memory.maintain(canaries=[]).linked:
        pass
    return memory


def measured(conversations: Sequence[Conversation], embedder: str, spreads: Sequence[float], said: Any) -> dict[str, Any]:
    """Rows by spread, and how many links of which kind there are."""
    rows: dict[str, list[list[Any]]] = {f"{spread:g}": [] for spread in spreads}
    kinds: Counter[str] = Counter()
    turns = 0
    for conversation in conversations:
        memory = memory_of(conversation, embedder)
        kinds.update(edge.kind for edge in memory.graph(limit=1_000_000).edges)
        turns += len(conversation.turns)
        sessions = conversation.sessions()
        for spread in spreads:
            memory.configure(spread=spread)
            for asked in conversation.questions:
                ranked = list(dict.fromkeys(source for hit in memory.search(asked.text, DEPTH) for source in hit.entry.sources))
                rows[f"{spread:g}"].append(row(conversation.name, asked.kind, ranked, asked.evidence, sessions).plain())
        memory.close()
        said(f"{conversation.name}: {len(conversation.questions)} questions")
    return {"links": dict(kinds), "turns": turns, "rows": rows}


def lines(results: Mapping[str, Any]) -> Iterator[str]:
    """The report, line by line: R@10 by kind of question, over the conversations that count."""
    tune = results["tune"]
    yield f"links, {results['command']}"
    yield "tuning view: conv-26 and conv-30 alone" if tune else "test view: every conversation but conv-26 and conv-30"
    found = ", ".join(f"{count / results['turns']:.2f} {kind}" for kind, count in sorted(results["links"].items()))
    yield f"links a turn: {found}"
    yield ""
    yield (
        f"{'spread':>8} "
        + " ".join(f"{KINDS[kind]:>12}" for kind in sorted(KINDS))
        + f" {'all, R@5':>10} {'all, R@10':>10} {'nDCG@10':>10}"
    )
    for spread, plain in results["rows"].items():
        rows = [each for each in (Row(*one) for one in plain) if (each.conversation in TUNING) == tune]
        by_kind = [mean(rows, "recall10", lambda each, kind=kind: each.kind == kind) for kind in sorted(KINDS)]  # type: ignore[misc]
        whole = [mean(rows, of) for of in ("recall5", "recall10", "ndcg10")]
        yield f"{spread:>8} " + " ".join(f"{value:12.3f}" for value in by_kind) + " " + " ".join(f"{value:10.3f}" for value in whole)

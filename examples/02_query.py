"""Ask a memory: an answer with provenance, a broad search, scopes, conflicting entries, and silence.

python examples/02_query.py
"""

from __future__ import annotations

from earnest import ALL, Memory
from earnest.encoding import demo_corpus


def show(memory: Memory, question: str) -> None:
    """Print what memory says to a question."""
    answer = memory.answer(question)
    print(f"\n? {question}")
    if not answer:
        print("  (silent: nothing in this memory is about that)")
        return
    for line in answer.annotated.splitlines():
        print(f"  {line}")


def main() -> None:
    """Fill a memory in two scopes and ask it."""
    with Memory.open(":memory:", agent="ops") as memory:
        memory.encode(demo_corpus())
        memory.add("Old log files under logs/ may be deleted after thirty days.", sources=["retention-policy"])
        memory.add("Alice wants the weekly report on Mondays.", scope="alice", sources=["chat"])

        print("An answer names who decided, how old it is, where it comes from, and what contradicts it:")
        show(memory, "How soon may old log files under logs/ be deleted?")
        show(memory, "When does on-call duty change hands?")
        print("\nWhat memory knows nothing about, it does not answer:")
        show(memory, "What is the wifi password?")
        print("\nA scope is read only when it is asked for:")
        show(memory, "When does Alice want the weekly report?")
        inside = memory.answer("When does Alice want the weekly report?", scope=["alice", ""])
        print(f"  with scope=['alice', '']: {inside.text}")

        print("\nA search is broad, tells why each entry ranks, and never looks at what an entry has earned:")
        for hit in memory.search("delete database files", k=4, scope=ALL):
            print(f"  {hit.score:5.2f}  [{', '.join(hit.entry.sources)}] {hit.entry.text[:70]}…\n         {hit.why}")


if __name__ == "__main__":
    main()

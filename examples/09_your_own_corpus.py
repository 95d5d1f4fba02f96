"""Your own texts: what becomes of them, when memory stays silent, and how to read an answer that sounds sure and is wrong.

    python examples/09_your_own_corpus.py [FILE … [-- QUESTION …]]

Without files it reads a small handbook and a comment from a wiki. With files it asks your questions, or shows what was made.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from earnest import Memory
from earnest.encoding import Document, read_document

HANDBOOK = """# Team handbook

## Releases
Releases are cut every second Tuesday. A release is frozen once the release notes are merged.
The deployment window for the billing service is 09:00 to 11:00 UTC.

## Retention
Backups of the billing database are kept for 30 days. Application logs are kept for 7 days.

## Access
The section on access describes how access to the billing console is granted.
"""
COMMENT = "Backups of the billing database are kept for 90 days."

STRUCTURAL = (
    "What does the handbook say about the parental leave section?",
    "Is there a policy on the use of personal laptops?",
    "How long are the invoices of the billing department kept?",
)
WRONG = "When is the deployment window for the search service?"
ABOUT = ("deployment", "window", "search", "service")
DISPUTED = "How long are backups of the billing database kept?"


def ask(memory: Memory, question: str) -> None:
    """An answer with everything that helps to judge it: its age and sources, what contradicts it, and why it was recalled."""
    print(f"\n? {question}")
    answer = memory.answer(question)
    hits = memory.search(question, k=3)
    if answer:
        print("  " + answer.annotated.replace("\n", "\n  "))
    else:
        print(f"  (silent: nothing reaches the floor of {memory.settings.floor:.0%})")
    for hit in hits:
        print(f"    {hit.why}: {hit.entry.text[:60]}")


def bundled(memory: Memory) -> None:
    """The walk through the small corpus."""
    memory.encode([Document("handbook.md", HANDBOOK), Document("wiki-comment", COMMENT)])
    print("Words that only say what kind of text something is (section, policy, kept) are not enough to answer:")
    for question in STRUCTURAL:
        ask(memory, question)

    print("\nThis answer sounds sure and is wrong: the window it names belongs to another service.")
    ask(memory, WRONG)
    [best] = memory.search(WRONG, k=1)
    missing = [word for word in ABOUT if word not in best.why]
    print(f"  Every hit says what it matched and how much of the question that is. What is missing was not found: {', '.join(missing)}.")

    print("\nAnd this one is disputed. The entries that say nearly the same stand below it, newest first, with what differs:")
    ask(memory, DISPUTED)

    memory.configure(floor=0.7)
    print("\nA higher floor silences the wrong answer, and right ones with it; settle outcomes rather than chase the number:")
    ask(memory, WRONG)
    ask(memory, DISPUTED)


def main(arguments: Sequence[str]) -> None:
    """Read the files that were named, or the bundled texts."""
    at = list(arguments).index("--") if "--" in arguments else len(arguments)
    paths, questions = arguments[:at], arguments[at + 1 :]
    with Memory.open(":memory:") as memory:
        if not paths:
            bundled(memory)
            return
        report = memory.encode([read_document(path) for path in paths])
        print(f"{len(paths)} files became {len(report.entries)} entries, {len(report.skipped)} parts were left out")
        for entry in [] if questions else report.entries[:30]:
            print(f"  [{', '.join(entry.sources)}] {entry.text[:110]}")
        for question in questions:
            ask(memory, question)


if __name__ == "__main__":
    main(sys.argv[1:])

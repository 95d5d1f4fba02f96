"""Turn documents into entries, and see what was made of them and what was left out.

    python examples/01_encode.py [FILE …]

Without files it reads two short texts of its own. Nothing is written to the disk: the store lives in memory.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from earnest import Memory
from earnest.encoding import Document, read_document

HANDBOOK = """# Deploying

- Run the migrations before the smoke tests.
- Deploys are frozen on Fridays after 15:00.

# Incidents

The Payments Team is on call for the ledger. Page the Payments Team before restarting the ledger.

***
"""
RETRO = "The Payments Team asked for a second reviewer on ledger changes. Run the migrations before the smoke tests."


def documents(paths: Sequence[str]) -> list[Document]:
    """The files that were named, or the two texts above."""
    if paths:
        return [read_document(path) for path in paths]
    return [Document("handbook.md", HANDBOOK), Document("retro-12", RETRO)]


def main(paths: Sequence[str]) -> None:
    """Encode, print, encode again."""
    with Memory.open(":memory:") as memory:
        given = documents(paths)
        report = memory.encode(given)
        print(f"{len(given)} documents became {len(report.entries)} entries:")
        for origin, count in report.by_origin.items():
            print(f"  {count:>3} {origin}")

        print("\nEach entry stands on its own and knows where it comes from:")
        for entry in report.entries[:20]:
            cue = f"  (under: {entry.cue})" if entry.cue else ""
            print(f"  [{', '.join(entry.sources)}] {entry.text}{cue}")

        if report.skipped:
            print("\nLeft out, with the reason:")
            for left_out in report.skipped[:20]:
                print(f"  [{left_out.source}] {left_out.text!r}: {left_out.reason}")

        again = memory.encode(given)
        print(f"\nEncoding the same documents again joins {again.joined} entries and makes {memory.stats().total - len(report.entries)}.")


if __name__ == "__main__":
    main(sys.argv[1:])

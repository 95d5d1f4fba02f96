"""Lessons of a repository, settled by its tests: four pull requests, one of which follows bad advice, and one that only looks good.

python examples/06_ci_lessons.py

Everything happens in a temporary folder; the reports are real runs of unittest, written down as JUnit XML.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from earnest import Memory
from earnest.ci import Request, settle_ci
from earnest.errors import NothingMeasured

CLAMP = "How should clamp treat its upper bound?"
PAGES = "How is a list cut into pages?"
SPEED = "How can the tests be made faster?"

GOOD = {"app.py": "def clamp(x, low, high):\n    return max(low, min(x, high))\n\n\ndef pages(n, size):\n    return -(-n // size)\n"}
SHORT = {"app.py": GOOD["app.py"].replace("min(x, high)", "min(x, high - 1)")}
DROPS = {"app.py": GOOD["app.py"].replace("-(-n // size)", "n // size")}
EXTRA = "".join(f"    def test_easy_{i}(self):\n        self.assertTrue(True)\n\n" for i in range(5))
TESTS = """import unittest
from app import clamp, pages


class App(unittest.TestCase):
    def test_high(self):
        self.assertEqual(clamp(9, 0, 5), 5)

    def test_low(self):
        self.assertEqual(clamp(-1, 0, 5), 0)

    def test_pages(self):
        self.assertEqual(pages(11, 5), 3)

"""

RUNNER = """import sys, unittest
from xml.sax.saxutils import quoteattr

class Kept(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.cases = {}
    def startTest(self, test):
        self.cases[test.id()] = ""
    def addFailure(self, test, error):
        self.cases[test.id()] = "<failure/>"
    def addError(self, test, error):
        self.cases[test.id()] = "<error/>"

kept = Kept()
unittest.defaultTestLoader.discover(".").run(kept)
cases = "".join(f'<testcase classname={quoteattr(n.rpartition(".")[0])} name={quoteattr(n.rpartition(".")[2])}>{said}</testcase>'
                for n, said in kept.cases.items())
with open(sys.argv[1], "w") as file:
    file.write(f"<testsuites><testsuite name='unittest'>{cases}</testsuite></testsuites>")
"""


class Repository:
    """A small project whose tests are really run."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.runs = folder, 0

    def tested(self, code: dict[str, str], more: str = "") -> Path:
        """Run the tests on a state of the code; the report."""
        self.runs += 1
        place = self.folder / f"run{self.runs}"
        place.mkdir()
        for name, text in {**code, "test_app.py": TESTS + more, "run.py": RUNNER}.items():
            (place / name).write_text(text, encoding="utf-8")
        report = self.folder / f"report{self.runs}.xml"
        subprocess.run([sys.executable, "run.py", str(report)], cwd=place, check=True)
        return report


def main() -> None:
    """A store of lessons, and what four pull requests make of it."""
    with tempfile.TemporaryDirectory() as place, Memory.open(Path(place) / "lessons.db", embedder="none", channel="settle-ci") as memory:
        repo, state = Repository(Path(place)), Path(place) / "lessons.db.ci.json"
        memory.meters.add("ci", unit="tests", scale=1)
        memory.meters.bind("ci", channel="settle-ci")
        memory.add("clamp includes its upper bound.", cue=CLAMP, kind="procedural", sources=["retro"])
        memory.add("Leave the last page out: callers add it themselves.", cue=PAGES, kind="procedural", sources=["chat"])
        memory.add("Mark slow tests and leave them out of the quick run.", cue=SPEED, kind="procedural", sources=["retro"])

        def settled(what: str, question: str, base: Path, head: Path) -> None:
            ticket = memory.decide(question)
            print(f"\n{what}\n  asked: {question}\n  told:  {ticket.text or '(memory is silent)'}")
            try:
                made = settle_ci(memory, state, Request([base], [head], [ticket.id] if ticket.id else []))
            except NothingMeasured as error:
                print(f"  abstained: {str(error).split(': ', 1)[-1]}")
                return
            print(f"  delta {made.delta:+g}, {made.landed} settled, {made.added} new tests that count for nothing")
            for entry in made.suspended:
                print(f"  suspended: {memory.get(entry).text}")

        settled("1. A bug is mended on good advice", CLAMP, repo.tested(SHORT), repo.tested(GOOD))
        settled("2. Bad advice breaks a test, and five easy ones are added", PAGES, repo.tested(GOOD), repo.tested(DROPS, EXTRA))
        settled("3. The same question again", PAGES, repo.tested(GOOD), repo.tested(GOOD))
        broken = Path(place) / "broken.xml"
        broken.write_text("<testsuites><testsuite", encoding="utf-8")
        settled("4. The machine breaks down", SPEED, repo.tested(GOOD), broken)

        print(f"\nopen tickets: {len(memory.pending())}")
        for entry in memory.list():
            print(f"  {entry.standing:<10} {entry.text}")
        text = Path(place) / "lessons.jsonl"
        print(f"what git keeps: {memory.save_lessons(text).size} bytes")


if __name__ == "__main__":
    main()

"""A word in every place that a life can leave one: erased, it is in no file, no copy made then, and no answer of another open process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from earnest import ALL, Memory
from earnest.embedders import HashingEmbedder
from earnest.encoding import Document, ReflectionEncoder
from earnest.testing import SeededRng

WORD: Final = "zqxwalrus7731"
READER: Final = """
import sys
from earnest import ALL, Memory
from earnest.embedders import HashingEmbedder
word = sys.argv[2]
question = f"Where does the {word} sleep?"
with Memory.open(sys.argv[1], embedder=HashingEmbedder(64), channel="reader") as memory:
    for _ in sys.stdin:
        found = [*memory.search(question, scope=ALL, k=50), *memory.search("sleeping under the pier, a diary", scope=ALL, k=50)]
        found += [memory.prefetch(question), memory.answer(question), memory.rules.list()]
        print(sum(word in repr(each).lower() for each in found), flush=True)
"""


class Writer:
    """A language model that keeps to one subject."""

    model_id = "writer"

    def complete(self, prompt: str, **_: Any) -> str:
        return f'{{"facts": ["The {WORD} keeps a diary about the harbour."]}}'


def planted(memory: Memory) -> None:
    """The word in texts, cues, labels, links, rules, trials, decisions, remarks, versions, merges, gists, documents, replies and turns."""
    entry = memory.add(
        f"The {WORD} sleeps under the pier.", cue=f"Where does the {WORD} sleep?", sources=[f"{WORD}-diary"], tags=[f"{WORD}-tag"],
        metadata={"who": f"{WORD}-meta"}, key=f"plant-{WORD}",
    )  # fmt: skip
    beside = memory.add("The pier is old.")
    memory.link(entry.id, beside.id, reason=f"{WORD} lives there")
    rule = memory.rules.add("avoid", trigger=f"near the {WORD}", action=f"Do not wake the {WORD}.", evidence=[entry.id])
    memory.rules.verify(rule.id, reason=f"the {WORD} said so")
    memory.rules.trial(memory.rules.add("prefer", trigger=f"feeding the {WORD}", action=f"Feed the {WORD} fish.").id)
    for n in range(12):
        ticket = memory.decide(f"Where does the {WORD} sleep at night?").id or ""
        if n % 3:
            memory.settle(ticket, delta=1.0, meter="ci", detail=f"{WORD} was there", key=f"settle-{WORD}-{n}")
        else:
            memory.abandon(ticket, reason=f"{WORD} left")
        memory.tick()
    memory.update(entry.id, text=f"The {WORD} sleeps under the old pier, on the left of it, and wakes at dawn.")
    document = f"# {WORD}\n\nThe {WORD} keeps a diary. The harbour master knows the {WORD}. It was seen on Monday."
    memory.encode([Document(source=f"{WORD}-doc", text=document)])
    memory.encode(
        [Document(source=f"{WORD}-llm", text=f"The {WORD} writes about the harbour every day.")], encoder=ReflectionEncoder(Writer())
    )
    memory.compress(memory.add(f"The {WORD} and its kin are shy. " * 30 + "They eat fish. They swim far. They sing.").id)
    memory.merge([memory.add(f"{WORD} likes red fish.").id, memory.add(f"{WORD} likes red fishes.").id])
    memory.forget(memory.add(f"{WORD} was here once.").id, reason=f"{WORD} moved")
    memory.sync_turn(f"We decided that the {WORD} gets a name.", f"Good: the {WORD} is Wally.", scope=f"scope-{WORD}")
    memory.maintain()


@pytest.mark.parametrize("archived", [False, True])
def test_what_was_erased_is_nowhere_and_no_open_process_answers_with_it(tmp_path: Path, archived: bool) -> None:
    path = tmp_path / "m.db"
    settings = {"rules_approvers": "python", "holdout": 0.2}
    with Memory.open(path, embedder=HashingEmbedder(64), rng=SeededRng(7), settings=settings) as memory:
        memory.add_many({"text": f"Ordinary note {n} about harbour {n % 17} and its boats.", "sources": ["notes"]} for n in range(80))
        planted(memory)
        memory.save_lessons(tmp_path / "lessons.jsonl")
        if archived:
            for _ in range(120):
                memory.tick()
            memory.archive(tmp_path / "archive.jsonl", keep=100)
        reader = subprocess.Popen([sys.executable, "-c", READER, str(path), WORD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert reader.stdin is not None and reader.stdout is not None
        with reader:
            reader.stdin.write("before\n")
            reader.stdin.flush()
            assert int(reader.stdout.readline()) > 0
            first = memory.erase(text=WORD)
            assert not first.complete and any("scopes" in left for left in first.left), "what it could not take is named"
            assert memory.erase(scope=f"scope-{WORD}").complete
            reader.stdin.write("after\n")
            reader.stdin.flush()
            assert int(reader.stdout.readline()) == 0
            if archived:
                (tmp_path / "lessons.jsonl").unlink()
            else:
                memory.save_lessons(tmp_path / "lessons.jsonl")
            memory.backup(tmp_path / "copy.db")
            memory.export(tmp_path / "export.jsonl", vectors=True)
            assert [
                file.name for file in tmp_path.iterdir() if WORD.encode() in file.read_bytes().lower() or b"Wally" in file.read_bytes()
            ] == []
            reader.stdin.close()
        checked = memory.check()
        assert checked.ok, checked.problems
        assert memory.search("boats of the harbour", scope=ALL), "the others are as they were"

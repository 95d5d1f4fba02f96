"""Memory as a tool in an agent loop: the model asks memory, acts on a real folder, and the folder says what the advice was worth.

python examples/04_agent_loop.py

Runs offline with a scripted model. With OPENAI_API_KEY (or OPENAI_BASE_URL for a server of your own) or OLLAMA_HOST set, that model plays:
EARNEST_EXAMPLE_MODEL names which one, "gpt-4o-mini" or "qwen3" unless given. A real model may take other turns; what is measured
stays what the folder shows.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from earnest import Memory
from earnest.core.replies import values
from earnest.llms import OllamaLLM, OpenAILLM, ScriptedLLM

PROMPT = """You keep the folder of a small service tidy. Your task: {task}

Tools, one a turn, as a JSON object and nothing else:
{{"tool": "memory", "question": "..."}}    ask what is known; do so before you delete anything
{{"tool": "delete", "path": "..."}}        delete one file of the folder
{{"tool": "done", "why": "..."}}           stop

What happened so far:
{history}
"""

SCRIPT = [
    {"tool": "memory", "question": "May cache files under cache/ be deleted?"},
    {"tool": "delete", "path": "cache/thumbnails.bin"},
    {"tool": "done", "why": "the cache is gone"},
    {"tool": "memory", "question": "May the database file orders.db be deleted?"},
    {"tool": "delete", "path": "orders.db"},
    {"tool": "done", "why": "the database is gone"},
    {"tool": "memory", "question": "May the database file orders.db be deleted?"},
    {"tool": "done", "why": "nothing in memory says that it may go"},
]

TASKS = (
    "free space: is cache/thumbnails.bin needed?",
    "free space: is orders.db needed?",
    "free space once more: is orders.db needed?",
)


def chosen_model() -> Any:
    """The model that the environment names, or the script."""
    named = os.environ.get("EARNEST_EXAMPLE_MODEL")
    if os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL"):
        return OpenAILLM(named or "gpt-4o-mini")
    if os.environ.get("OLLAMA_HOST"):
        return OllamaLLM(named or "qwen3")
    return ScriptedLLM([json.dumps(turn) for turn in SCRIPT])


class Folder:
    """The world: a service that needs its database and can make its cache anew. It measures in bytes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "cache").mkdir()
        self.fill()

    def fill(self) -> None:
        """Put the files there again."""
        (self.root / "cache" / "thumbnails.bin").write_bytes(b"t" * 40_000)
        (self.root / "orders.db").write_bytes(b"o" * 60_000)

    def delete(self, name: str) -> str:
        """Delete a file inside the folder, and nothing outside of it."""
        path = (self.root / name).resolve()
        if not path.is_relative_to(self.root.resolve()) or not path.is_file():
            return f"{name} is no file of this folder"
        path.unlink()
        return f"deleted {name}"

    def measured(self) -> int:
        """What the folder shows now: bytes that were freed, less what it takes to bring back what the service cannot do without."""
        freed = 100_000 - sum(path.stat().st_size for path in self.root.rglob("*") if path.is_file())
        return freed if (self.root / "orders.db").exists() else freed - 1_000_000


def play(task: str, model: Any, memory: Memory, folder: Folder) -> None:
    """One task, until the model says that it is done: every question to memory that was acted on is settled by what was measured."""
    print(f"\n# {task}")
    history: list[str] = []
    tickets: list[str] = []
    for _ in range(6):
        reply = model.complete(PROMPT.format(task=task, history="\n".join(history) or "(nothing)"))
        turn = next((value for value in values(reply) if isinstance(value, dict)), {"tool": "done", "why": "no tool was named"})
        if turn.get("tool") == "memory":
            ticket = memory.decide(str(turn.get("question", "")))
            said = ticket.annotated.splitlines()[0] if ticket else "memory is silent about that"
            if ticket.id is not None:
                tickets.append(ticket.id)
            history.append(f"memory: {said}")
        elif turn.get("tool") == "delete":
            history.append(folder.delete(str(turn.get("path", ""))))
        else:
            history.append(f"done: {turn.get('why', '')}")
            break
    for line in history:
        print(f"  {line}")
    acted = any(line.startswith("deleted") for line in history)
    delta = folder.measured()
    for ticket_id in tickets:
        made = memory.settle(ticket_id, delta=delta, meter="folder", acted=acted)
        print(f"  measured {delta:+,} bytes" + "".join(f"; suspended: {memory.get(entry).text}" for entry in made.suspended))
    folder.fill()


def main() -> None:
    """Play three tasks; the second one follows bad advice, and the third one does not."""
    model = chosen_model()
    print("model:", getattr(model, "model_id", "a script (set OPENAI_API_KEY or OLLAMA_HOST for a real one)"))
    with tempfile.TemporaryDirectory() as place, Memory.open(":memory:", embedder="none") as memory:
        memory.meters.add("folder", unit="bytes", scale=50_000)
        memory.add("Cache files under cache/ may be deleted: the service makes them anew.", sources=["runbook"])
        memory.add("Database files such as orders.db may be deleted to free space.", sources=["forum"])
        folder = Folder(Path(place))
        for task in TASKS:
            play(task, model, memory, folder)
        print("\nWhat memory holds now:")
        for entry in memory.list():
            print(f"  {entry.standing:<9} [{entry.sources[0]}] {entry.text}")


if __name__ == "__main__":
    main()

"""Everything on this machine: a model and an embedder that Ollama runs, documents encoded in five steps, and answers with citations.

python examples/07_local_stack.py

Needs Ollama with two models, of which the environment may name others:

    ollama pull qwen3            (EARNEST_EXAMPLE_MODEL)
    ollama pull nomic-embed-text (EARNEST_EXAMPLE_EMBEDDER; left out, recall goes by words alone)

OLLAMA_HOST says where it is. Where Ollama is not there, this says so and ends: nothing is made up in its place.
"""

from __future__ import annotations

import os

from earnest import Memory
from earnest.core.vectors import need_numpy
from earnest.encoding import ReflectionEncoder, demo_corpus
from earnest.errors import EarnestError, ModelFailed, NotAvailable
from earnest.llms import OllamaLLM

MODEL = os.environ.get("EARNEST_EXAMPLE_MODEL", "qwen3")
EMBEDDER = os.environ.get("EARNEST_EXAMPLE_EMBEDDER", "nomic-embed-text")
QUESTIONS = ("May old log files under logs/ be deleted?", "What is the wifi password?")


def is_there(model: OllamaLLM) -> bool:
    """Whether Ollama runs and has the model; says what is missing if not."""
    try:
        model.complete("Answer with the word yes.", max_tokens=200)
    except ModelFailed as error:
        print(f"Ollama is not there, or not with this model: {error}")
        print("Install or start it, fetch the model, and run this again.")
        return False
    return True


def embedder() -> str:
    """The embedder's spec, or none where numpy is missing."""
    try:
        need_numpy("recall by meaning")
    except NotAvailable as error:
        print(f"Recall goes by words alone: {error}")
        return "none"
    return f"ollama:{EMBEDDER}"


def main() -> None:
    """Encode the demo corpus with the model, ask it, and show what it cost."""
    model = OllamaLLM(MODEL, think=False if MODEL.startswith("qwen3") else None)
    if not is_there(model):
        return
    with Memory.open(":memory:", embedder=embedder()) as memory:
        print(f"Encoding the demo corpus with {model.model_id} …")
        report = memory.encode(demo_corpus(), encoder=ReflectionEncoder(model, workers=1))
        print(f"{len(report.entries)} entries: {dict(report.by_origin)}")
        for note in report.notes:
            print(f"  {note}")
        while memory.embed_pending(wait=60):
            print("  vectors are being made …")
        for question in QUESTIONS:
            print(f"\n? {question}")
            try:
                answer = memory.answer(question, llm=model)
            except EarnestError as error:
                print(f"  no answer: {error}")
                continue
            if not answer:
                print("  (silent: nothing in this memory is about that)")
            for line in answer.annotated.splitlines():
                print(f"  {line}")
        cost = memory.stats().cost
        print(f"\n{cost['calls']:.0f} calls, {cost['tokens_in']:,.0f} tokens read, {cost['tokens_out']:,.0f} written, ${cost['usd']:.2f}")


if __name__ == "__main__":
    main()

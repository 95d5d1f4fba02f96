"""What may be put in from outside: embedders, rerankers, language models, encoders, meters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from earnest.core.outcome import Outcome


class Embedder(Protocol):
    """Makes texts comparable by meaning; see `earnest.embedders`.

    Optional: `remote = True` says that a call may take longer than some milliseconds, so that no write waits for it;
    `embed_query(text)` makes the vector of a question where that differs from a text's; `batch` is how many texts a call takes;
    `near` is the cosine from which its vectors say that two texts are about the same matter.
    """

    @property
    def model_id(self) -> str:
        """Names the model and whatever else its vectors depend on: vectors of two names are never compared."""
        ...

    def embed(self, texts: Sequence[str]) -> Any:
        """A vector for each text, in order: anything that numpy takes for float32[len(texts), d], with the same d for ever."""
        ...


class Reranker(Protocol):
    """Reads a question and a text together and says how well they fit; see `earnest.recall.reranking`."""

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """A score for each text, in order, the higher the better; on whatever scale. It may raise any `EarnestError`, `OSError`,
        `RuntimeError` or `ValueError` where it cannot; the order then stays as it was, and the hits say so."""
        ...


@runtime_checkable
class SecondMeter(Protocol):
    """An instrument of its own that can measure what a settled ticket changed once more; see `Memory.look_again`."""

    name: str

    def remeasure(self, ticket: str) -> Outcome | None:
        """What that decision really changed; None where it cannot be measured any more."""
        ...


class Encoder(Protocol):
    """Turns documents into entries; see `earnest.encoding`."""

    def encode(self, documents: Sequence[Any]) -> Any:
        """Drafts of entries, and what was left out and why."""
        ...


class LLM(Protocol):
    """A language model that can be asked for help. No verb asks one unless the caller says so; none is asked inside a transaction.

    Optional: `reply(prompt, **options)` gives an `earnest.core.models.Reply`, which counts the tokens; `model_id` names the model;
    `price` is what a million tokens cost, read and written, in US dollars. Options that Earnest gives, and that a model may leave out
    of its signature: `max_tokens` (int), `temperature` (0 to 2), `json` (True: a JSON value is wanted) and `cancel` (a
    `threading.Event`: once it is set, the reply is not wanted any more).
    """

    def complete(self, prompt: str, **options: Any) -> str:
        """What the model replies to a prompt. It may raise any `EarnestError`, `OSError` (which time-outs are), `ValueError` or
        `RuntimeError` where it cannot reply; the caller then goes on without it, and says so."""
        ...

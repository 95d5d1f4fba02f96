"""Settings: the numbers and names that an agent's store keeps, so that every process works by the same ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from earnest.core import check
from earnest.core.amounts import MICRO
from earnest.core.credit import RULES
from earnest.core.entry import RETENTIONS
from earnest.core.models import model_spec, price_text, spec
from earnest.core.slots import tick_every
from earnest.core.stems import LANGUAGES
from earnest.core.write_gate import WHAT
from earnest.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one agent. Amounts are in units of energy, times in ticks unless the name says otherwise."""

    rule: str = "evidence"
    """The rule of selection, by name: `evidence`, or `classic`."""
    gain: float = 0.6
    """Energy that a saturated outcome moves on the deciding entry; under `evidence` only a gain does."""
    supporting_share: float = 0.25
    """Part of the decider's credit that each supporter takes under `classic`."""
    stake: float = 1.0
    """Energy that a new earned entry starts with."""
    rent: float = 0.05
    """Energy that a living earned entry pays each tick: a fresh one that never earns lives 20 ticks."""
    cap: float = 5.0
    """The most energy that one entry can hold: 100 ticks of rent."""
    default_retention: str = "earned"
    """Retention of what `add` and `encode` make."""
    decay_half_life: float = 90.0
    """Days without use after which a fading entry of strength 1 has lost half of its worth."""
    decay_threshold: float = 0.1
    """Worth (importance times what is left) below which a fading entry has faded; 0: nothing fades."""
    links: int = 12
    """Links that an entry may have, by-hand ones included; 0: none are made."""
    weigh: str = ""
    """What relevance is multiplied by, comma-separated: `importance` (earned by outcomes), `confidence`, `recency`; empty: nothing."""
    spread: float = 0.0
    """Part of a hit's score that recall passes on along its links, times their weight; 0: recall does not follow links."""
    admission_window: int = 0
    """Outcomes of an entry within which its first measured harm ends it at once, under `evidence`; 0 suspends it like any other."""
    expire_after: int = 50
    """Ticks after which an open ticket expires without information."""
    supporters: int = 2
    """How many co-retrieved entries a decision records beside the deciding one."""
    floor: float = 0.2
    """Relevance below which memory is silent, 0 to 1: the share of a question's information that an entry must match."""
    near: float = 0.0
    """Cosine from which nearness in meaning counts towards the floor, 0 to 1; 0: what the embedder says, and nothing if it says nothing."""
    pass_over: float = 0.75
    """A suspended entry is passed over only for one at least this relevant, relative to itself."""
    conflict: float = 0.55
    """Similarity to the winner from which an entry is shown as conflicting or overlapping with it."""
    merge_threshold: float = 0.55
    """Similarity from which consolidation takes two agreeing entries for near-duplicates."""
    daily_share: float = 0.05
    """Part of the living that scheduled work may change in a day; 0 lets it change nothing."""
    compress_over: int = 0
    """Characters beyond which scheduled work makes an entry shorter; 0: it never does."""
    compress_after: float = 90.0
    """Days since an entry was recorded before which scheduled work leaves its length alone."""
    holdout: float = 0.0
    """Probability with which a decision that memory could answer is withheld at random, so that its use can be measured."""
    holdout_entry: float = 0.0
    """Part of those in which only the deciding entry is withheld, so that its rival decides."""
    holdout_exempt: str = "guard"
    """Tags, comma-separated: an answer that an entry of one of these shapes is never withheld."""
    uplift_bound: float = 1.0
    """Scales that an outcome counts as at most, either way, when `uplift` compares decisions."""
    rules_cap: int = 20
    """Active rules that a prompt or a decision is given at most, best-matching first."""
    rules_half_life: float = 180.0
    """Days after which an active rule that was used fewer than three times expires."""
    rules_approvers: str = "python,cli,dashboard"
    """Channels, comma-separated, over which rules may be accepted and put on trial; an agent's own are not among them."""
    languages: str = "english,russian,arabic,greek,hindi"
    """Snowball stemmers in use, comma-separated; each works on words of its own script."""
    redact: str = "secrets"
    """What the write gate masks, comma-separated: `secrets`, `pii` (personal data), or `none`."""
    quarantine: int = 1
    """Good outcomes that a text which aims at its reader must have stood beside before it may decide; 0 lets it decide at once."""
    llm: str = "none"
    """The language model that is asked where a caller says so without naming one, as a spec such as `ollama:qwen3`, never a key."""
    llm_price: str = ""
    """What models cost, as "READ/WRITTEN" in US dollars for a million tokens, or "MODEL=READ/WRITTEN" for one; empty: not known."""
    llm_daily_budget: float = 0.0
    """US dollars that models may cost a day, over all processes; 0: no bound."""
    embedder: str = "none"
    """The embedder as a spec, never a key: `none` (recall by words alone), `local`, `hashing`, `openai:NAME`, `ollama:NAME`, …"""
    reranker: str = "none"
    """The reranker as a spec, never a key: `none`, `ce:MODEL` (a cross-encoder), `cohere:NAME`, `voyage:NAME`, `jina:NAME`."""
    tick_every: str = "day"
    """How often services and pipelines move the clock by themselves: `never`, `day` (of UTC), or so many seconds, at least 10."""


LEAST_HOLDOUT: Final = 0.01
NAMES: Final = tuple(f.name for f in fields(Settings))

_RANGES: Final[Mapping[str, tuple[float, float]]] = {
    "gain": (0.0, 100.0),
    "supporting_share": (0.0, 1.0),
    "stake": (0.000001, 1_000_000.0),
    "rent": (0.0, 1_000_000.0),
    "cap": (0.000001, 1_000_000.0),
    "floor": (0.0, 1.0),
    "near": (0.0, 1.0),
    "pass_over": (0.0, 1.0),
    "conflict": (0.0, 1.0),
    "merge_threshold": (0.0, 1.0),
    "daily_share": (0.0, 1.0),
    "compress_after": (0.0, 36_500.0),
    "decay_half_life": (0.001, 1_000_000.0),
    "decay_threshold": (0.0, 1.0),
    "spread": (0.0, 1.0),
    "holdout": (0.0, 0.5),
    "llm_daily_budget": (0.0, 1_000_000.0),
    "uplift_bound": (0.01, 1_000.0),
    "rules_half_life": (0.001, 1_000_000.0),
    "holdout_entry": (0.0, 1.0),
}
_WHOLE: Final[Mapping[str, tuple[int, int]]] = {
    "expire_after": (1, 1_000_000),
    "supporters": (0, 50),
    "links": (0, 100),
    "admission_window": (0, 1_000),
    "quarantine": (0, 1_000),
    "compress_over": (0, check.MAX_TEXT),
    "rules_cap": (0, 1_000),
}

EMBEDDERS: Final = ("none", "local", "hashing")
"""Specs of embedders that need no name."""

SERVICES: Final = ("openai", "zhipu", "ollama", "cohere", "voyage", "st")
"""Kinds of embedders that need the name of a model, as in `zhipu:embedding-3`."""


def embedder_spec(value: Any) -> str:
    """An embedder's spec, such as `local`, `hashing:512` or `zhipu:embedding-3`. Raises InvalidInput, which says which forms there are."""
    kind, _, size = value.strip().partition(":") if isinstance(value, str) else ("", "", "")
    if kind == "hashing" and size.isdecimal() and len(size) < 10:
        return f"hashing:{check.integer('embedder', int(size), low=64, high=4_096)}"
    return spec("embedder", value, SERVICES, EMBEDDERS)


RERANKERS: Final = ("ce", "cohere", "voyage", "jina")
"""Kinds of rerankers, each with the name of a model, as in `cohere:rerank-v3.5`; `ce` takes a folder too."""


def reranker_spec(value: Any) -> str:
    """A reranker's spec, such as `ce:FOLDER`; "none" is none. Raises InvalidInput, which says which forms there are."""
    return spec("reranker", value, RERANKERS)


WEIGHTS: Final = ("importance", "confidence", "recency")
"""What relevance can be multiplied by: what outcomes say of an entry, how sure its author was, how fresh it is."""


def weights(name: str, value: Any) -> tuple[str, ...]:
    """Names of weights, each checked, without repeats. Raises InvalidInput."""
    return tuple(dict.fromkeys(check.choice(name, word.strip(), WEIGHTS) for word in check.labels(name, value)))


def with_changes(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """Settings with some of them changed, each checked.

    Raises:
        InvalidInput: An unknown name, or a value out of its range; the message says which are allowed.
    """
    made = replace(settings, **checked(changes))
    if made.cap < made.stake:
        raise InvalidInput("cap", made.cap, f"must be at least the stake, which is {made.stake}")
    return made


def checked(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that are to be changed, each checked by itself. Raises InvalidInput."""
    for name in changes:
        if name not in NAMES:
            raise InvalidInput("setting", name, f"there is no such setting; there are {', '.join(NAMES)}")
    return {name: _checked(name, value) for name, value in changes.items()}


def _checked(name: str, value: Any) -> Any:
    if name in _RANGES:
        low, high = _RANGES[name]
        made = check.number(name, value, low=low, high=high)
        if name == "rent" and 0 < made < 1 / MICRO:
            raise InvalidInput(name, value, f"must be 0 or at least one micro-unit, {1 / MICRO:f}")
        if name == "holdout" and 0 < made < LEAST_HOLDOUT:
            raise InvalidInput(name, value, f"must be 0 or at least {LEAST_HOLDOUT}: a rarer draw would show nothing in years")
        return made
    if name in _WHOLE:
        low, high = _WHOLE[name]
        return check.integer(name, value, low=low, high=high)
    return _WORDS[name](value)


def _listed(name: str, value: Any) -> str:
    """Words, comma-separated, each once."""
    return ",".join(dict.fromkeys(part.strip() for part in check.label(name, value, blank=True).split(",") if part.strip()))


def _weigh(value: Any) -> str:
    return ",".join(weights("weigh", value.split(",") if isinstance(value, str) and value.strip() else value or ()))


def _languages(value: Any) -> str:
    names = [part.strip() for part in check.label("languages", value, blank=True).split(",") if part.strip()]
    return ",".join(check.choice("languages", language, LANGUAGES) for language in names)


def _redact(value: Any) -> str:
    parts = dict.fromkeys(part.strip() for part in check.label("redact", value).split(","))
    for part in parts:
        check.choice("redact", part, (*WHAT, "none"))
    if "none" in parts and len(parts) > 1:
        raise InvalidInput("redact", value, "must be none alone, or some of secrets, pii")
    return ",".join(parts)


_WORDS: Final[Mapping[str, Callable[[Any], str]]] = {
    "rule": lambda value: check.choice("rule", value, tuple(RULES)),
    "default_retention": lambda value: check.choice("default_retention", value, RETENTIONS),
    "holdout_exempt": lambda value: _listed("holdout_exempt", value),
    "rules_approvers": lambda value: _listed("rules_approvers", value),
    "weigh": _weigh,
    "redact": _redact,
    "languages": _languages,
    "embedder": embedder_spec,
    "reranker": reranker_spec,
    "llm": model_spec,
    "llm_price": price_text,
    "tick_every": tick_every,
}
"""How the settings are checked that are no numbers."""

"""The measurement: a copy of a sample of the entries, every way to search it, and what that says about the settings."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from earnest.benching.chance import Chance
from earnest.benching.languages import SHARE, languages_of
from earnest.benching.questions import KINDS, Probe, kinds_of, probes
from earnest.core import check
from earnest.core.analysis import Analyser
from earnest.core.entry import Entry
from earnest.core.filters import ALL
from earnest.core.settings import Settings, embedder_spec
from earnest.errors import EmbedderFailed, NotAllowed, NotAvailable
from earnest.memory import Memory
from earnest.recall.calibration import floor_for, off_topic

MIN_ENTRIES: Final = 20
MIN_QUESTIONS: Final = 10
_BLOCK: Final = 50
_PAGE: Final = 1_000
_K: Final = 10
_FLOORS: Final = 100
_JUDGED: Final = 100
"""Questions that an arm's floor is judged by: finding how sure a match is takes seven searches."""
_FIELDS: Final = ("text", "cue", "kind", "scope", "sources", "origin", "importance", "confidence", "retention", "metadata", "tags",
                  "valid_from", "valid_to")  # fmt: skip
_MODES: Final = ("hybrid", "rrf", "dense")
_CLEARLY: Final = 2.0
"""By how many standard errors an embedder must be better than words alone to be worth what it costs."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to search, and how it did.

    `recall` is the share of questions with an answer among the first 1, 5 and 10; `by_kind` that among the first 5, by kind of question;
    `mrr` the mean of one over the first answer's rank. `kept` and `false` are the shares of questions with a known answer, and of those
    that the store knows nothing about, that get any answer at the present floor; `kept_at` and `false_at` the same at `floor`, which is
    the lowest at which no more than the stated share of the latter is answered (None where the arm has no floor of its own). `p50` and
    `p95` are milliseconds of a search; `size` is bytes of disk for an entry.
    """

    name: str
    embedder: str
    mode: str
    languages: str
    recall: Mapping[int, float]
    by_kind: Mapping[str, float]
    mrr: float
    kept: float
    false: float
    floor: float | None
    kept_at: float | None
    false_at: float | None
    p50: float
    p95: float
    size: int


@dataclass(frozen=True, slots=True)
class RecallBench:
    """What was measured, and what to set.

    `entries` of `total` living entries were measured. `questions` counts those with known answers by kind, `off_topic` the others.
    `present` and `recommended` are settings by name; `recommended` holds only those that should change, and `reasons` says why. `applied`
    says whether they were changed.
    """

    arms: tuple[Arm, ...]
    questions: Mapping[str, int]
    off_topic: int
    entries: int
    total: int
    seed: int
    present: Mapping[str, Any]
    recommended: Mapping[str, Any]
    reasons: tuple[str, ...]
    notes: tuple[str, ...] = ()
    applied: bool = False


@dataclass(slots=True)
class _Copy:
    """A store of its own, with the same entries in the same order."""

    memory: Memory
    places: dict[str, int] = field(default_factory=dict)
    size: int = 0


def bench_recall(
    memory: Memory,
    *,
    questions: int = 300,
    entries: int = 5_000,
    embedders: Iterable[str] | None = None,
    false_answers: float = 0.05,
    seed: int = 0,
    apply: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> RecallBench:
    """Measure how well each way to search finds a memory's own entries, and recommend settings. The memory itself is only read.

    Args:
        questions: How many questions with known answers are made, 10 to 10,000; half as many that the store knows nothing about.
        entries: How many living entries are measured at most, 20 to 100,000; of more, a sample in blocks of neighbours.
        embedders: Specs to compare beside words alone; unless given, the one that the store is set to. Each embeds the sample anew. One
            that asks a service sends it the texts of the sample.
        false_answers: The share of questions about something else that may get an answer, 0 to 0.5, by which floors are found.
        seed: The same seed, entries and version give the same questions and the same figures, but for times.
        apply: Change the settings to those that are recommended, in one step that `undo` takes back.
        progress: Called with how many steps are done, of how many.

    Returns:
        The figures of each way, and what to set.

    Raises:
        InvalidInput: An argument is out of range. NotAllowed: too few entries, or too few questions can be made of them.

    Cost: the copy takes about a millisecond an entry, and what an embedder takes to embed them; then some 2,000 searches for each embedder.
    """
    wanted = check.integer("questions", questions, low=MIN_QUESTIONS, high=10_000)
    most = check.integer("entries", entries, low=MIN_ENTRIES, high=100_000)
    share = check.number("false_answers", false_answers, low=0.0, high=0.5)
    seed = check.integer("seed", seed, low=0, high=2**53)
    apply = check.flag("apply", apply)
    present = memory.settings
    specs = [present.embedder] if embedders is None else [embedder_spec(spec) for spec in check.items("embedders", embedders)]
    specs = ["none", *dict.fromkeys(spec for spec in specs if spec != "none")]
    chance = Chance(seed)
    sample, total = _sample(memory, most, chance)
    if len(sample) < MIN_ENTRIES:
        raise NotAllowed(f"this memory has {len(sample)} living entries; at least {MIN_ENTRIES} are needed to measure anything")
    analyser = Analyser(present.languages.split(",") if present.languages else ())
    asked = probes(sample, analyser, chance, wanted)
    if len(asked) < MIN_QUESTIONS:
        raise NotAllowed(
            f"only {len(asked)} questions with a known answer can be made of these entries; at least {MIN_QUESTIONS} are needed"
        )
    known = {term for entry in sample for term in analyser.terms(f"{entry.cue or ''} {entry.text}")}
    others = off_topic(analyser, lambda terms: frozenset(known.intersection(terms)), chance, max(MIN_QUESTIONS, wanted // 2))
    languages = _languages(sample, present)
    plan: list[tuple[str, str]] = [(spec, present.languages) for spec in specs]
    if languages != present.languages:
        plan.append(("none", languages))
    arms: list[Arm] = []
    notes: list[str] = []
    for step, (spec, spoken) in enumerate(plan):
        if progress:
            progress(step, len(plan))
        try:
            arms += _measured(sample, asked, others, replace(present, languages=spoken), spec, share)
        except (NotAvailable, EmbedderFailed) as problem:
            notes.append(f"{spec} was left out: {problem}")
    if progress:
        progress(len(plan), len(plan))
    recommended, reasons = _recommended(arms, present, asked, share, languages)
    if apply and recommended:
        memory.configure(**recommended)
    shown = ("embedder", "floor", "languages")
    return RecallBench(
        tuple(arms), kinds_of(asked), len(others), len(sample), total, seed, {name: getattr(present, name) for name in shown},
        recommended, tuple(reasons), tuple(notes), apply and bool(recommended),
    )  # fmt: skip


def _sample(memory: Memory, most: int, chance: Chance) -> tuple[list[Entry], int]:
    """Living entries, at most so many; of more, blocks of neighbours, so that what stands around a turn is there."""
    stats = memory.stats()
    total = stats.alive + stats.suspended
    blocks = -(-total // _BLOCK)
    chosen = {*range(blocks)} if total <= most else {*chance.sample(range(blocks), max(1, most // _BLOCK))}
    made: list[Entry] = []
    at, after = 0, None
    while len(made) < most:
        page = memory.list(scope=ALL, after=after, limit=_PAGE)
        made += [entry for number, entry in enumerate(page, at) if number // _BLOCK in chosen]
        if len(page) < _PAGE:
            break
        at, after = at + len(page), page[-1].id
    return made[:most], total


def _languages(sample: Sequence[Entry], present: Settings) -> str:
    """The languages of the settings, and those that a good part of the entries is written in."""
    spoken = languages_of(entry.text for entry in sample)
    named = present.languages.split(",") if present.languages else []
    return ",".join([*named, *(name for name, share in spoken.items() if share >= SHARE and name not in named)])


def _measured(
    sample: Sequence[Entry], asked: Sequence[Probe], others: Sequence[str], settings: Settings, spec: str, share: float
) -> list[Arm]:
    """Every way to search with one embedder, on a copy that is thrown away."""
    changes = {"languages": settings.languages, "floor": settings.floor, "embedder": spec}
    if spec == settings.embedder:
        changes["near"] = settings.near
    with tempfile.TemporaryDirectory(prefix="earnest-bench-") as folder:
        path = Path(folder) / "copy.db"
        with Memory.open(path, embedder=spec, settings=changes) as memory:
            fields = [{name: getattr(entry, name) for name in _FIELDS} for entry in sample]
            copied = _Copy(memory, {entry.id: place for place, entry in enumerate(memory.add_many(fields))})
            if spec != "none":
                memory.reembed()
            memory.backup(Path(folder) / "size.db")
            copied.size = (Path(folder) / "size.db").stat().st_size // len(sample)
            modes = ("keyword",) if spec == "none" else _MODES
            return [_arm(copied, asked, others, settings, spec, mode, share) for mode in modes]


def _arm(copied: _Copy, asked: Sequence[Probe], others: Sequence[str], settings: Settings, spec: str, mode: str, share: float) -> Arm:
    times: list[float] = []
    ranks = [_rank(copied, probe, mode, times) for probe in asked]
    recall = {k: _part(ranks, lambda rank, k=k: rank <= k) for k in (1, 5, 10)}  # type: ignore[misc]
    by_kind = {
        kind: _part([rank for rank, probe in zip(ranks, asked, strict=True) if probe.kind == kind], lambda rank: rank <= 5)
        for kind in KINDS
        if any(probe.kind == kind for probe in asked)
    }
    # Ranks alone have no floor that means anything.
    judged = mode in ("keyword", "hybrid")
    on = [_sureness(copied, p.text, [p.scope], mode) for p in asked[:_JUDGED]] if judged else []
    off = [_sureness(copied, text, ALL, mode) for text in others[:_JUDGED]] if judged else []
    floor = floor_for(off, share) if judged and off else None
    times.sort()
    return Arm(
        name=mode if spec == "none" else f"{spec} {mode}",
        embedder=spec,
        mode=mode,
        languages=settings.languages,
        recall=recall,
        by_kind=by_kind,
        mrr=sum(1 / rank for rank in ranks if rank <= _K) / len(ranks),
        kept=_part(on, lambda sure: sure >= settings.floor),
        false=_part(off, lambda sure: sure >= settings.floor),
        floor=floor,
        kept_at=None if floor is None else _part(on, lambda sure: sure >= floor),
        false_at=None if floor is None else _part(off, lambda sure: sure >= floor),
        p50=1_000 * times[len(times) // 2],
        p95=1_000 * times[min(len(times) - 1, int(0.95 * len(times)))],
        size=copied.size,
    )


def _rank(copied: _Copy, probe: Probe, mode: str, times: list[float]) -> int:
    """At which place the first answer stands, counted from 1; beyond the tenth it does not count."""
    start = time.perf_counter()
    hits = copied.memory.search(probe.text, k=_K + 1, scope=[probe.scope], mode=mode)  # type: ignore[arg-type]
    times.append(time.perf_counter() - start)
    places = [place for hit in hits if (place := copied.places[hit.entry.id]) != probe.ignored]
    return next((rank for rank, place in enumerate(places[:_K], 1) if place in probe.answers), _K + 1)


def _sureness(copied: _Copy, text: str, scope: Any, mode: str) -> float:
    """The highest floor, in hundredths, that some entry clears; 0 if none clears the lowest."""
    low, high = 0, _FLOORS
    while low < high:
        middle = (low + high + 1) // 2
        if copied.memory.search(text, k=1, scope=scope, mode=mode, floor=middle / _FLOORS):  # type: ignore[arg-type]
            low = middle
        else:
            high = middle - 1
    return low / _FLOORS


def _part(values: Sequence[float], holds: Callable[[Any], bool]) -> float:
    return sum(1 for value in values if holds(value)) / len(values) if values else 0.0


def _recommended(
    arms: Sequence[Arm], present: Settings, asked: Sequence[Probe], share: float, languages: str
) -> tuple[dict[str, Any], list[str]]:
    """Which settings should change, and why."""
    made: dict[str, Any] = {}
    reasons: list[str] = []
    words = next(arm for arm in arms if arm.embedder == "none")
    joined = [arm for arm in arms if arm.mode == "hybrid"]
    best = max(joined, key=lambda arm: (arm.recall[5], arm.mrr), default=words)
    # Two shares of the same questions: the error of their difference is at most that of independent ones.
    error = sum((arm.recall[5] * (1 - arm.recall[5]) / len(asked)) for arm in (words, best)) ** 0.5
    gain = best.recall[5] - words.recall[5]
    chosen = best if best is not words and gain > _CLEARLY * error else words
    if best is not words:
        said = f"{best.embedder} finds {best.recall[5]:.0%} among the first five, words alone {words.recall[5]:.0%}"
        verdict = "worth its cost" if chosen is best else "no clear gain"
        reasons.append(f"embedder: {said}; {verdict} on {len(asked)} questions ({gain:+.1%} ± {error:.1%})")
        if chosen.embedder != present.embedder and not (chosen is words and gain >= 0 and present.embedder != "none"):
            made["embedder"] = chosen.embedder
        elif chosen is words and present.embedder != "none":
            # No clear harm either: what is there stays.
            chosen = next((arm for arm in joined if arm.embedder == present.embedder), words)
    spoken = next((arm for arm in arms if arm.languages == languages and arm.languages != present.languages), None)
    if spoken is not None:
        added = languages.removeprefix(present.languages).strip(",")
        if spoken.recall[5] >= words.recall[5]:
            made["languages"] = languages
        told = f"with its stemmer {spoken.recall[5]:.0%} are found among the first five, without {words.recall[5]:.0%}"
        reasons.append(f"languages: entries are written in {added}; {told}")
    if chosen.floor is not None and chosen.kept_at is not None:
        told = (
            f"{chosen.false:.0%} of the questions about something else get an answer at {present.floor:g}, {chosen.kept:.0%} of the others"
        )
        if chosen.false > share and chosen.floor > present.floor:
            made["floor"] = chosen.floor
            reasons.append(f"floor: {told}; at {chosen.floor:g} it is {chosen.false_at:.0%} and {chosen.kept_at:.0%}")
        elif chosen.floor < present.floor and chosen.kept_at - chosen.kept >= 0.02:
            made["floor"] = chosen.floor
            reasons.append(f"floor: {told}; {chosen.floor:g} keeps more, {chosen.kept_at:.0%}, with {chosen.false_at:.0%} false answers")
        else:
            reasons.append(f"floor: {told}; it may stay")
    return made, reasons

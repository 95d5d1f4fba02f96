"""The measurement: a copy of a sample of the entries, every way to search it, and what that says about the settings."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

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
from earnest.recall.calibration import FEWEST, off_topic

MIN_ENTRIES: Final = 20
MIN_QUESTIONS: Final = 10
_BLOCK: Final = 50
_PAGE: Final = 1_000
_K: Final = 10
_DEPTHS: Final = (1, 5, 10)
_JUDGED: Final = 100
"""Questions with known answers that an arm's floor is judged by."""
_FIELDS: Final = ("text", "cue", "kind", "scope", "sources", "origin", "importance", "confidence", "retention", "metadata", "tags",
                  "valid_from", "valid_to")  # fmt: skip
_MODES: Final = ("hybrid", "rrf", "dense")
_WORTH: Final = 0.02
"""A lower floor is worth setting if it keeps so many more of the questions with known answers."""
_CLEARLY: Final = 2.0
"""By how many standard errors an embedder must be better than words alone to be worth what it costs."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to search, and how it did.

    `recall` is the share of questions with an answer among the first 1, 5 and 10; `by_kind` that among the first 5, by kind of question;
    `mrr` the mean of one over the first answer's rank. `kept` and `false` are the shares of questions with a known answer, and of those
    that the store knows nothing about, that get any answer at the present floor; `kept_at` and `false_at` the same at `floor`, which is
    the lowest at which no more than the stated share of the latter is answered, with the `near` that goes with it (all None where the arm
    has no floor of its own). `p50` and `p95` are milliseconds of a search; `size` is bytes of disk for an entry.
    """

    name: str
    embedder: str
    mode: str
    languages: str
    recall: Mapping[int, float]
    by_kind: Mapping[str, float]
    mrr: float
    p50: float
    p95: float
    size: int
    kept: float | None = None
    false: float | None = None
    floor: float | None = None
    near: float = 0.0
    kept_at: float | None = None
    false_at: float | None = None


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


_Ranked: TypeAlias = tuple[Arm, list[int]]
"""An arm, and for each question the rank of its first answer."""


@dataclass(slots=True)
class _Copy:
    """A store of its own, with the places of its entries in the sample."""

    memory: Memory
    places: Mapping[str, set[int]]
    size: int


@dataclass(frozen=True, slots=True)
class _Matter:
    """What is measured: entries (of `total`), questions that one of them answers, others that none does, and the settings in force."""

    present: Settings
    sample: Sequence[Entry]
    total: int
    asked: Sequence[Probe]
    others: Sequence[str]
    notes: tuple[str, ...] = ()


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
        false_answers: The share of questions about something else that may get an answer, more than 0, at most 0.5; floors are found by
            it.
        seed: The same seed, entries and version give the same questions and the same figures, but for times.
        apply: Change the settings to those that are recommended, in one step that `undo` takes back.
        progress: Called with how many steps are done, of how many.

    Returns:
        The figures of each way, and what to set.

    Raises:
        InvalidInput: An argument is out of range. NotAllowed: too few entries, or too few questions can be made of them.

    Cost: the copy takes about a millisecond an entry, and what an embedder takes to embed them; then some 1,500 searches for each.
    """
    wanted = check.integer("questions", questions, low=MIN_QUESTIONS, high=10_000)
    most = check.integer("entries", entries, low=MIN_ENTRIES, high=100_000)
    share = check.number("false_answers", false_answers, low=1e-6, high=0.5)
    seed = check.integer("seed", seed, low=0, high=2**53)
    apply = check.flag("apply", apply)
    present = memory.settings
    specs = [present.embedder] if embedders is None else [embedder_spec(spec) for spec in check.items("embedders", embedders)]
    specs = ["none", *dict.fromkeys(spec for spec in specs if spec != "none")]
    matter = _matter(memory, Chance(seed), most=most, wanted=wanted)
    languages = _languages(matter.sample, present)
    plan: list[tuple[str, str]] = [(spec, present.languages) for spec in specs]
    if languages != present.languages:
        plan.append(("none", languages))
    arms, left_out = _arms(matter, plan, share, progress)
    recommended, reasons = _recommended(arms, present, share, languages)
    if apply and recommended:
        memory.configure(**recommended)
    return RecallBench(
        arms=tuple(arm for arm, _ in arms),
        questions=kinds_of(matter.asked),
        off_topic=len(matter.others),
        entries=len(matter.sample),
        total=matter.total,
        seed=seed,
        present={name: getattr(present, name) for name in ("embedder", "floor", "near", "languages")},
        recommended=recommended,
        reasons=tuple(reasons),
        notes=(*matter.notes, *left_out),
        applied=apply and bool(recommended),
    )


def _matter(memory: Memory, chance: Chance, *, most: int, wanted: int) -> _Matter:
    """At most so many entries of a memory, and questions about them and about something else. Raises NotAllowed: there are too few."""
    present = memory.settings
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
    others = off_topic(analyser, lambda terms: frozenset(known.intersection(terms)), chance, max(FEWEST, wanted // 2))
    if len(others) < FEWEST:
        note = "these entries name nearly everything that could be asked about: no floor can be judged"
        return _Matter(present, sample, total, asked, (), (note,))
    return _Matter(present, sample, total, asked, others)


def _arms(
    matter: _Matter, plan: Sequence[tuple[str, str]], share: float, progress: Callable[[int, int], None] | None
) -> tuple[list[_Ranked], list[str]]:
    """Every way to search of a plan of embedders and languages, and why some of them were left out."""
    arms: list[_Ranked] = []
    notes: list[str] = []
    for step, (spec, spoken) in enumerate(plan):
        if progress:
            progress(step, len(plan))
        try:
            arms += _measured(matter.sample, matter.asked, matter.others, replace(matter.present, languages=spoken), spec, share)
        except (NotAvailable, EmbedderFailed) as problem:
            notes.append(f"{spec} was left out: {problem}")
    if progress:
        progress(len(plan), len(plan))
    return arms, notes


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
) -> list[_Ranked]:
    """Every way to search with one embedder, on a copy that is thrown away."""
    held = {probe.held for probe in asked}
    bare = {place for probe in asked if probe.bare for place in probe.answers}
    changes = {"languages": settings.languages, "floor": settings.floor}
    if spec == settings.embedder:
        changes["near"] = settings.near
    arms = []
    with tempfile.TemporaryDirectory(prefix="earnest-bench-") as folder:
        path = Path(folder) / "copy.db"
        with Memory.open(path, embedder=spec, settings=changes) as memory:
            fields = {
                place: {name: getattr(entry, name) for name in _FIELDS} | ({"cue": None} if place in bare else {})
                for place, entry in enumerate(sample)
                if place not in held
            }
            # Entries without their cue may become twins; the first of them stands for all.
            places: dict[str, set[int]] = {}
            for place, entry in zip(fields, memory.add_many(fields.values()), strict=True):
                places.setdefault(entry.id, set()).add(place)
            if spec != "none":
                memory.reembed()
            memory.backup(Path(folder) / "size.db")
        size = (Path(folder) / "size.db").stat().st_size // len(sample)
        for mode in ("keyword",) if spec == "none" else _MODES:
            # Opened anew, so that no way finds questions embedded already by the one before.
            with Memory.open(path, embedder=spec) as memory:
                arms.append(_arm(_Copy(memory, places, size), asked, others, settings, spec, mode, share))
    return arms


def _arm(copied: _Copy, asked: Sequence[Probe], others: Sequence[str], settings: Settings, spec: str, mode: str, share: float) -> _Ranked:
    times: list[float] = []
    ranks = [_rank(copied, probe, mode, times) for probe in asked]
    times.sort()
    by_kind = {}
    for kind in KINDS:
        of_kind = [rank for rank, probe in zip(ranks, asked, strict=True) if probe.kind == kind]
        if of_kind:
            by_kind[kind] = _share(of_kind, 5)
    arm = Arm(
        name=mode if spec == "none" else f"{spec} {mode}",
        embedder=spec,
        mode=mode,
        languages=settings.languages,
        recall={depth: _share(ranks, depth) for depth in _DEPTHS},
        by_kind=by_kind,
        mrr=sum(1 / rank for rank in ranks if rank <= _K) / len(ranks),
        p50=1_000 * times[len(times) // 2],
        p95=1_000 * times[min(len(times) - 1, int(0.95 * len(times)))],
        size=copied.size,
    )
    # One way alone, and ranks alone, are not what a floor is made for.
    if mode in ("keyword", "hybrid") and others:
        arm = _floored(arm, copied, asked[:_JUDGED], others, settings, share)
    return arm, ranks


def _floored(arm: Arm, copied: _Copy, asked: Sequence[Probe], others: Sequence[str], settings: Settings, share: float) -> Arm:
    """An arm with the floor that it needs, calibrated on its copy, and what that costs."""
    kept = _answered(copied, asked, settings.floor)
    found = copied.memory.calibrate(share, off_topic=others, scope=ALL)
    return replace(
        arm,
        floor=found.floor,
        near=copied.memory.settings.near,
        kept=kept,
        false=found.before / found.questions,
        kept_at=_answered(copied, asked, found.floor),
        false_at=found.answered / found.questions,
    )


def _rank(copied: _Copy, probe: Probe, mode: str, times: list[float]) -> int:
    """At which place the first answer stands, counted from 1; beyond the tenth it does not count."""
    start = time.perf_counter()
    hits = copied.memory.search(probe.text, k=_K, scope=[probe.scope], mode=mode)  # type: ignore[arg-type]
    times.append(time.perf_counter() - start)
    return next((rank for rank, hit in enumerate(hits, 1) if probe.answers & copied.places[hit.entry.id]), _K + 1)


def _answered(copied: _Copy, asked: Sequence[Probe], floor: float) -> float:
    """The share of questions that get any answer at a floor."""
    return sum(1 for probe in asked if copied.memory.search(probe.text, k=1, scope=[probe.scope], floor=floor)) / len(asked)


def _share(ranks: Sequence[int], depth: int) -> float:
    return sum(1 for rank in ranks if rank <= depth) / len(ranks)


def _recommended(arms: Sequence[_Ranked], present: Settings, share: float, languages: str) -> tuple[dict[str, Any], list[str]]:
    """Which settings should change, and why."""
    made: dict[str, Any] = {}
    reasons: list[str] = []
    words, by_words = next(one for one in arms if one[0].embedder == "none")
    chosen = words
    best = max((one for one in arms if one[0].mode == "hybrid"), key=lambda one: (one[0].recall[5], one[0].mrr), default=None)
    if best is not None:
        chosen = _embedder(best, words, by_words, present, made, reasons)
        if chosen is words and made.get("embedder", present.embedder) != "none":
            # No clear gain and no clear harm: what is set stays, and its floor is what matters.
            chosen = next((arm for arm, _ in arms if arm.mode == "hybrid" and arm.embedder == present.embedder), words)
    spoken = next((arm for arm, _ in arms if arm.languages == languages and arm.languages != present.languages), None)
    if spoken is not None:
        added = languages.removeprefix(present.languages).strip(",")
        if spoken.recall[5] >= words.recall[5]:
            made["languages"] = languages
        told = f"with its stemmer {spoken.recall[5]:.0%} are found among the first five, without {words.recall[5]:.0%}"
        reasons.append(f"languages: entries are written in {added}; {told}")
    _advise_floor(chosen, present, share, made, reasons)
    return made, reasons


def _embedder(best: _Ranked, words: Arm, by_words: Sequence[int], present: Settings, made: dict[str, Any], reasons: list[str]) -> Arm:
    """The better of words alone and the best embedder; the latter only if the same questions show it clearly."""
    arm, ranks = best
    gains = [(one <= 5) - (other <= 5) for one, other in zip(ranks, by_words, strict=True)]
    gain = sum(gains) / len(gains)
    error = sum((each - gain) ** 2 for each in gains) ** 0.5 / len(gains)
    clear = abs(gain) > _CLEARLY * error and gain != 0
    verdict = ("clearly more" if gain > 0 else "clearly fewer") if clear else "no clear difference"
    said = f"{arm.embedder} finds {arm.recall[5]:.0%} among the first five, words alone {words.recall[5]:.0%}"
    reasons.append(f"embedder: {said}: {verdict} ({gain:+.1%} ± {error:.1%} on {len(gains)} questions)")
    if clear and gain > 0:
        if arm.embedder != present.embedder:
            made["embedder"] = arm.embedder
        return arm
    if clear and present.embedder == arm.embedder:
        made["embedder"] = "none"
    return words


def _advise_floor(arm: Arm, present: Settings, share: float, made: dict[str, Any], reasons: list[str]) -> None:
    if arm.floor is None or arm.kept is None or arm.false is None or arm.kept_at is None or arm.false_at is None:
        return
    told = f"at {present.floor:g}, {arm.false:.0%} of the questions about something else get an answer, and {arm.kept:.0%} of the others"
    then = f"at {arm.floor:g} it is {arm.false_at:.0%} and {arm.kept_at:.0%}"
    if (arm.false > share and arm.floor > present.floor) or (arm.floor < present.floor and arm.kept_at >= arm.kept + _WORTH):
        made["floor"] = arm.floor
        if arm.near != present.near:
            made["near"] = arm.near
        reasons.append(f"floor: {told}; {then}")
    else:
        reasons.append(f"floor: {told}; it may stay")

"""The report: every printed figure comes from the rows of the results files, so that it can be derived again from them alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.selection import report_trials as beside
from bench.selection import results as files
from bench.selection.live import Row
from bench.selection.matrix import (
    ABLATED,
    ABLATION_WORLDS,
    ABLATIONS,
    CONTROLS,
    EMBEDDED,
    EMBEDDED_WORLDS,
    EQUAL_SPEND,
    EVIDENCE,
    FILTERED,
    HELD_OUT,
    NO_WAIVER,
    OPPONENTS,
    TUNING,
    arms_in,
)
from bench.selection.plots import chart
from bench.selection.report_trials import table
from bench.selection.results import Results
from bench.selection.statistics import bootstrap, holm, mean, quantile, sign_flip
from bench.selection.worlds import WORLDS, Reach, World

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
PAGE: Final = DOCS / "benchmark.md"
FIGURES: Final = DOCS / "figures"
MOST_KEPT: Final = 0.40
"""Keep-everything may keep at most this share of what an oracle earns, or the corpus asks for no selection."""
POISON_BY: Final = 1
"""The cycle (counted from 0) by which the poison must have acted where nothing stops it..."""
POISON_IN: Final = 0.95
"""...in this share of the seeds at least; a seed whose first files are none that it speaks of makes it wait."""

Found = Mapping[str, Results]


def read(folder: Path = files.FOLDER) -> dict[str, Results]:
    """Every world that was lived, in the order of the matrix."""
    return {world: found for world in WORLDS if (found := files.load(world, folder)).rows}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Evidence against another arm in a world's setting i, seed by seed on the held-out seeds."""

    world: str
    arm: str
    ours: float
    theirs: float
    p: float
    adjusted: float = 1.0


def compared(found: Found) -> list[Comparison]:
    """Paired over the held-out seeds that both have; Holm over the worlds, for each arm."""
    made: list[Comparison] = []
    for arm in OPPONENTS:
        rows: dict[str, Comparison] = {}
        for world, lived in found.items():
            ours, theirs = lived.of("i", EVIDENCE, HELD_OUT), lived.of("i", arm, HELD_OUT)
            if ours and len(ours) == len(theirs):
                gaps = [a.share - b.share for a, b in zip(ours, theirs, strict=True)]
                rows[world] = Comparison(world, arm, _share(ours), _share(theirs), sign_flip(gaps))
        adjusted = holm({world: row.p for world, row in rows.items()})
        made += [Comparison(r.world, r.arm, r.ours, r.theirs, r.p, adjusted[world]) for world, r in rows.items()]
    return made


def _share(rows: Sequence[Row]) -> float:
    return mean([row.share for row in rows])


def broken_premises(found: Found) -> list[str]:
    """What the corpus fails to be, in words; empty when it asks for selection as it should."""
    lived = found.get("honest")
    rows = lived.of("i", "keep-everything", [*TUNING, *HELD_OUT]) if lived else []
    wrong = []
    for row in rows:
        if row.share > MOST_KEPT:
            wrong.append(f"keep-everything keeps {row.share:.3f} of what an oracle earns, more than {MOST_KEPT:.2f}")
        if row.first < 0:
            wrong.append("there is a seed in which the poison never acts")
    early = [0 <= row.first <= POISON_BY for row in rows]
    if rows and sum(early) < POISON_IN * len(rows):
        wrong.append(f"the poison acts by cycle {POISON_BY} in {sum(early)} of {len(rows)} seeds only")
    return wrong


def premises(found: Found) -> str:
    """What the corpus is held to."""
    rows = found["honest"].of("i", "keep-everything", [*TUNING, *HELD_OUT]) if "honest" in found else []
    if not rows:
        return ""
    early = sum(0 <= row.first <= POISON_BY for row in rows)
    return (
        f"Keep-everything earns {max(row.share for row in rows):+.3f} of what an oracle earns in its best seed (at most {MOST_KEPT:.2f} is"
        f" allowed), {_share(rows):+.3f} on average. Unstopped, the poison acts in the first {POISON_BY + 1} cycles in {early} of"
        f" {len(rows)} seeds, and later in the others, whose first files are none that it speaks of."
    )


def _columns(found: Found) -> Iterator[tuple[World, str, list[Row], list[Row]]]:
    for name, lived in found.items():
        for setting in WORLDS[name].settings:
            tuned, held = lived.of(setting, EVIDENCE, TUNING), lived.of(setting, EVIDENCE, HELD_OUT)
            if held:
                yield WORLDS[name], setting, tuned, held


def reached(reach: Reach, rows: Sequence[Row]) -> bool:
    """Whether a column reaches its figure, as both are printed."""
    share = round(_share(rows) * reach.per, 1 if reach.per > 1 else 3)
    return share >= reach.share and (reach.benign is None or round(mean([r.benign for r in rows]), 2) >= reach.benign)


def _printed(share: float, per: float = 1.0) -> str:
    return f"{share * per:.1f} tests" if per > 1 else f"{share:+.3f}"


def targets(found: Found) -> str:
    """The figures to reach, and those that were."""
    rows = []
    for world, setting, tuned, held in _columns(found):
        reach = (world.reach or {}).get(setting)
        if reach is None:
            continue
        shares = [row.share for row in held]
        low, high = bootstrap(shares)
        wanted = f"{reach.share:g} tests" if reach.per > 1 else f"{reach.share:.3f}"
        wanted += "" if reach.benign is None else f" / {reach.benign:.2f}"
        rows.append((
            world.name, setting, wanted, _printed(_share(tuned), reach.per) if tuned else "–",
            f"**{_printed(mean(shares), reach.per)}** ({_printed(low, reach.per)} … {_printed(high, reach.per)})",
            f"{quantile(shares, 0.5):+.3f} / {min(shares):+.3f}", f"{mean([r.benign for r in held]):.2f}",
            f"{mean([r.safe for r in held]):.2f}", f"{mean([r.active for r in held]):.2f} / {mean([r.alive for r in held]):.2f}",
            f"{mean([r.harm for r in held]):.1f}", f"{mean([r.looks for r in held]):.1%}",
            "reached" if reached(reach, held) else "**not reached**",
        ))  # fmt: skip
    head = (
        "world", "setting", "to reach", "tuning seeds", "held-out seeds (95 % interval)", "median / worst", "benign", "harmful-safe",
        "poison active / alive", "harm", "looked at twice", "",
    )  # fmt: skip
    return table(head, rows)


def instruments(found: Found) -> str:
    """What a second instrument changes."""
    settings = ("i", "ii", "iii", "q")
    by_world: dict[str, dict[str, str]] = {}
    for world, setting, _, held in _columns(found):
        if len(world.settings) > 1:
            text = f"{_share(held):+.3f} / {mean([r.benign for r in held]):.2f}"
            text += f" / {mean([r.looks for r in held]):.0%}" if setting != "i" else ""
            by_world.setdefault(world.name, {})[setting] = text
    rows = [(world, *(cells.get(setting, "") for setting in settings)) for world, cells in by_world.items()]
    return table(("world", "i: none", "ii: truthful", "iii: as bad as the first", "q: errs in one of ten"), rows)


SHOWN: Final = (
    "classic", "darwin-memo loop", "strike-once", "strike-once-at-settle", "strikes 3", "consecutive 2", "consecutive 5",
    "consecutive 8", "quarantine 3", "bandit",
)  # fmt: skip


def arms(found: Found, comparisons: Sequence[Comparison]) -> str:
    """Every arm that learns in every world, without a second instrument."""
    tests = {(c.world, c.arm): c for c in comparisons}
    rows = []
    for name, lived in found.items():
        ours = lived.of("i", EVIDENCE, HELD_OUT)
        means = {arm: _share(rows_) for arm in SHOWN if (rows_ := lived.of("i", arm, HELD_OUT))}
        if not ours:
            continue
        best = max(means.values(), default=1.0)
        cells = []
        for arm in SHOWN:
            if arm not in means:
                cells.append("–")
                continue
            test = tests[name, arm]
            mark = "" if test.adjusted >= 0.05 else "↓" if test.theirs < test.ours else "↑"
            cells.append(f"**{means[arm]:+.3f}**{mark}" if means[arm] == best else f"{means[arm]:+.3f}{mark}")
        own = f"{_share(ours):+.3f}"
        rows.append((name, f"**{own}**" if _share(ours) >= best else own, *cells))
    return table(("world (setting i)", "evidence", *SHOWN), rows)


def losses(found: Found, comparisons: Sequence[Comparison]) -> str:
    """Where another arm did better, and which figures were not reached."""
    said = []
    for world, setting, _, held in _columns(found):
        reach = (world.reach or {}).get(setting)
        if reach is not None and not reached(reach, held):
            wanted = f"{reach.share:g} tests" if reach.per > 1 else f"{reach.share:.3f}"
            benign = "" if reach.benign is None else f", benign {mean([r.benign for r in held]):.2f} of {reach.benign:.2f}"
            said.append(f"- Not reached: {world.name} ({setting}): {_printed(_share(held), reach.per)} of {wanted}{benign}.")
    for c in sorted(comparisons, key=lambda c: c.ours - c.theirs):
        if c.theirs > c.ours + 0.0005:
            verdict = f"Holm p {c.adjusted:.4f}" if c.adjusted < 0.05 else f"level, Holm p {c.adjusted:.2f}"
            said.append(f"- Behind {c.arm} in {c.world}: {c.ours:+.3f} against {c.theirs:+.3f} ({verdict}).")
    return "\n".join(said) or "- None."


def ablations(found: Found) -> str:
    """The rule with one thing changed, on seeds of their own."""
    names = [EVIDENCE, *ABLATIONS, NO_WAIVER, EQUAL_SPEND]
    rows = []
    for name in names:
        cells = []
        for world, setting in ABLATION_WORLDS:
            lived = found[world].of(setting, name, ABLATED) if world in found else []
            cells.append(f"{_share(lived):+.3f} / {mean([r.benign for r in lived]):.2f}" if lived else "")
        rows.append(("**the rule**" if name == EVIDENCE else name, *cells))
    return table(("", *(f"{world} ({setting})" for world, setting in ABLATION_WORLDS)), rows)


def bystanders(found: Found) -> str:
    """Arms that do not learn from outcomes, and the write filter."""
    worlds = [
        w for w in ("honest", "withholding 8", "rented", "poison explicit", "poison conformant", "poison inert", "suite 0%") if w in found
    ]
    rows = []
    for arm in (EVIDENCE, FILTERED, *CONTROLS):
        cells = []
        for world in worlds:
            lived = found[world].of("i", arm, HELD_OUT)
            cells.append(
                f"{_share(lived):+.3f} / {mean([r.benign for r in lived]):.2f} / {mean([float(r.alive) for r in lived]):.1f}"
                if lived
                else "–"
            )
        rows.append((arm, *cells))
    return table(("share / benign / poison alive", *worlds), rows)


def paraphrases(found: Found) -> str:
    """Questions in words that no entry has, scored by where the advice came from."""
    worlds = [w for w in ("honest", "flip 35%", "persist 4", "suite 0%", "suite 20%, controls") if w in found]
    rows = []
    for arm in (EVIDENCE, "classic", "strike-once-at-settle", "keep-everything"):
        rows.append(
            (arm, *(f"{mean([r.grounded for r in lived]):.2f}" if (lived := found[w].of("i", arm, HELD_OUT)) else "–" for w in worlds))
        )
    return table(("grounded paraphrases", *worlds), rows)


def embeddings(found: Found) -> str:
    """The same courses where texts are found by meaning alone: nobody's arm is given other texts than the others of its row."""
    rows = []
    for world in EMBEDDED_WORLDS:
        for embedder in dict.fromkeys(embedder for _, embedder in EMBEDDED.values()):
            cells = []
            for arm in (arm for arm, by in EMBEDDED.values() if by == embedder):
                lived = found[world].of("i", f"{arm}, {embedder}", HELD_OUT) if world in found else []
                cells.append(f"{_share(lived):+.3f} / {mean([r.benign for r in lived]):.2f}" if lived else "–")
            rows.append((world, embedder, *cells))
    return table(("share / benign", "embedder", *dict.fromkeys(arm for arm, _ in EMBEDDED.values())), rows)


def meters(found: Found) -> str:
    """What the rule knew of its meter at the end."""
    rows = []
    for world, setting, _, held in _columns(found):
        if setting == "i" and world.liar.kind not in ("honest", "flaky"):
            lies, rate, alarm = (mean([getattr(r, name) for r in held]) for name in ("lies", "rate", "alarm"))
            rows.append((world.name, f"{lies:.2f}", f"{rate:.2f}", f"{alarm:.0%}"))
    return table(("world (setting i)", "lies among outcomes", "lie rate learned", "cycles in alarm"), rows)


def figures(found: Found) -> dict[str, str]:
    """The plots, by file name."""

    def over(names: Sequence[str], arms_: Sequence[str]) -> dict[str, list[float]]:
        return {arm: [_share(found[name].of("i", arm, HELD_OUT)) for name in names] for arm in arms_}

    some = (EVIDENCE, "classic", "strike-once-at-settle", "consecutive 5", "quarantine 3", "bandit")
    plots = {
        "selection-false-bad": ("Gains reported as harm", ["honest", *(f"false-bad {r}%" for r in (5, 10, 20, 35))], "rate of lies"),
        "selection-flip": ("Signs turned round", ["honest", *(f"flip {r}%" for r in (10, 20, 35, 50))], "rate of lies"),
        "selection-destroy": (
            "A liar that turns round so many outcomes a cycle",
            ["honest", *(f"destroy {b}" for b in (1, 2, 4))],
            "budget",
        ),
        "selection-suite": ("Flaky tests, one control a cycle", [f"suite {r}%, controls" for r in (0, 5, 10, 15, 20)], "flaky tests"),
        "selection-suite-bare": ("Flaky tests, no controls", [f"suite {r}%" for r in (0, 5, 10, 15, 20)], "flaky tests"),
    }
    made = {}
    for file, (title, names, across) in plots.items():
        if all(name in found for name in names):
            places = [name.removesuffix(", controls").rpartition(" ")[2] if name != "honest" else "0" for name in names]
            made[f"{file}.svg"] = chart(
                f"{title}: share of oracle, seeds 100-129",
                places,
                over(names, some),
                low=-0.2,
                high=1.0,
                across=across,
                up="share of oracle",
            )
    return made


def blocks(found: Found) -> dict[str, str]:
    """Every generated part of the page, by name."""
    comparisons = compared(found)
    return {
        "premises": premises(found), "targets": targets(found), "losses": losses(found, comparisons), "arms": arms(found, comparisons),
        "instruments": instruments(found), "meters": meters(found), "bystanders": bystanders(found), "paraphrases": paraphrases(found),
        "embeddings": embeddings(found),
        "ablations": ablations(found), **beside.blocks(),
    }  # fmt: skip


def page(found: Found) -> str:
    """The whole report, without the prose of docs/benchmark.md."""
    complete = sum(len(lived.of(s, a, HELD_OUT)) for w, lived in found.items() for s in WORLDS[w].settings for a in arms_in(WORLDS[w], s))
    head = f"Selection: {len(found)} worlds, {complete:,} held-out rows\n"
    return "\n\n".join([head, *(f"## {name}\n\n{text}" for name, text in blocks(found).items())])


def filled(text: str, made: Mapping[str, str]) -> str:
    """A page with its generated parts put between their marks. Raises `ValueError` when a mark is missing."""
    for name, block in made.items():
        first, last = f"<!-- selection:{name} -->", f"<!-- /selection:{name} -->"
        if text.count(first) != 1 or text.count(last) != 1:
            raise ValueError(f"the page has no place for {name}: it must hold {first} and {last} once")
        before, rest = text.split(first)
        text = f"{before}{first}\n{block}\n{last}{rest.split(last)[1]}"
    return text


def write_docs(found: Found) -> list[Path]:
    """Writes the tables into docs/benchmark.md and the plots beside it; returns the files."""
    FIGURES.mkdir(exist_ok=True)
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), blocks(found)), encoding="utf-8", newline="\n")
    written = [PAGE]
    for name, svg in figures(found).items():
        (FIGURES / name).write_text(svg, encoding="utf-8", newline="\n")
        written.append(FIGURES / name)
    return written

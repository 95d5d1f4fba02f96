"""The printed report, from a results file alone: figures by size, then each row of the targets with its reach."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

Figures = dict[str, Any]

ORDER: Final = (
    "bare commit", "add", "decide", "decide beyond search", "settle", "tick", "tick after outcomes", "tick, 1,000 dying",
    "bare FTS5 search", "search",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Verdict:
    """A row of the targets: what was measured, what is to be reached, and whether it is.

    Where the reach is a ratio, `least` holds figure and reach again from the fastest repetitions: what a quiet machine would say.
    """

    what: str
    figure: float
    reach: float
    unit: str
    at_least: bool = False
    least: tuple[float, float] | None = None

    @property
    def reached(self) -> bool:
        """Whether it is."""
        return self.figure >= self.reach if self.at_least else self.figure <= self.reach

    def line(self) -> str:
        """As it is printed."""
        sign = "≥" if self.at_least else "≤"
        said = f"  {self.what:54} {self.figure:10,.2f} {self.unit:3} reach {sign} {self.reach:9,.2f}  {_word(self.reached):11}"
        if self.least is None:
            return said.rstrip()
        figure, reach = self.least
        return f"{said}  fastest {figure:8,.2f} of {reach:8,.2f}  {_word(figure <= reach)}"


def _word(reached: bool) -> str:
    return "reached" if reached else "NOT reached"


def lines(results: Figures) -> Iterator[str]:
    """The whole report."""
    machine = results["machine"]
    yield f"Speed and size: {results['command']}"
    yield "  ".join(f"{name} {value}" for name, value in machine.items())
    yield f"load at the end {results['load_after']}; milliseconds; ratio: p50 over the bare commit's of the same rounds"
    for size, figures in results["sizes"].items():
        yield ""
        yield from _of_size(int(size), figures)
    yield ""
    yield "Ticks at every size in turn:"
    yield from _table(results["ticks"], None)
    yield ""
    yield "Processes:"
    yield from _table(results["startup"], None)
    yield ""
    yield "Targets (p50 unless said):"
    for verdict in verdicts(results):
        yield verdict.line()


def _of_size(size: int, figures: Figures) -> Iterator[str]:
    yield f"{size:,} memories"
    operations = figures["operations"]
    bare = operations["bare commit"]["p50"]
    yield from _table({name: operations[name] for name in ORDER if name in operations}, bare)
    yield "  a fresh process:"
    yield from _table(figures["first_answer"], None)
    yield "  bulk, memories a second: " + ", ".join(f"{name} {rate:,.0f}" for name, rate in figures["bulk"].items())
    yield "  bytes a memory on disk: " + ", ".join(f"{name} {value:,.0f}" for name, value in figures["disk"].items())
    yield "  resident MB at the peak: " + ", ".join(f"{name.replace('_', ' ')} {mb:,.0f}" for name, mb in figures["resident"].items())
    yield from _hybrid(figures.get("hybrid"))
    darwin = figures.get("darwin-memo")
    if darwin:
        yield "  darwin-memo (consolidation off; its bare commits are those of its own rounds):"
        yield "  bulk, memories a second: " + ", ".join(f"{name} {rate:,.0f}" for name, rate in darwin["bulk"].items())
        if darwin["operations"]:
            yield from _table(darwin["operations"], darwin["operations"]["bare commit"]["p50"])
        if darwin["left_out"]:
            yield f"  left out, for it did not finish within {darwin['bound_s']:.0f} s: {', '.join(darwin['left_out'])}"


def _hybrid(figures: Figures | None) -> Iterator[str]:
    """The part with vectors given; the bare commit there writes the row, its terms and a float32 vector."""
    if not figures:
        return
    yield "  with vectors of 384 dimensions given:"
    yield from _table(figures["operations"], figures["operations"]["bare commit"]["p50"])
    yield from _table(figures["first_answer"], None)
    yield "  bulk, memories a second: " + ", ".join(f"{name} {rate:,.0f}" for name, rate in figures["bulk"].items())
    yield f"  bytes a memory on disk: {figures['disk']['earnest']:,.0f}"
    yield "  resident MB at the peak: " + ", ".join(f"{name.replace('_', ' ')} {mb:,.0f}" for name, mb in figures["resident"].items())


def _hybrid_verdicts(size: int, figures: Figures) -> list[Verdict]:
    operations, at = figures["operations"], f"at {size:,}, vectors given"
    reach = {10_000: (5, 15), 100_000: (25, 80)}.get(size)
    made = [
        _ratio(operations, f"durable add {at}: 2 × bare + 1 ms", "add", 1.0),
        Verdict(f"bulk add {at}", figures["bulk"]["earnest"], 5_000, "/s", at_least=True),
        Verdict(f"disk a memory {at}", figures["disk"]["earnest"] / 1000, 2.5, "kB"),
    ]
    if reach:
        said = operations["search, hybrid"]
        made += [
            Verdict(f"hybrid search {at}, p50", said["p50"], reach[0], "ms", least=(said["min"], reach[0])),
            Verdict(f"hybrid search {at}, p95", said["p95"], reach[1], "ms"),
        ]
    if size >= 100_000:
        first = figures["first_answer"]["start + open + first answer"]
        made += [
            Verdict(f"start + open + first answer {at}", first["p50"], 500, "ms", least=(first["min"], 500)),
            Verdict(f"resident {at}, in use", figures["resident"]["in_use"], 150, "MB"),
        ]
    return made


def _table(operations: Figures, bare: float | None) -> Iterator[str]:
    yield f"  {'':34} {'n':>5} {'min':>9} {'p50':>9} {'p95':>9} {'max':>9} {'CPU p50':>9}" + ("" if bare is None else f" {'ratio':>7}")
    for name, said in operations.items():
        cpu = f"{said['cpu_p50']:9.3f}" if "cpu_p50" in said else " " * 9
        ratio = "" if bare is None else f" {said['p50'] / bare:7.2f}"
        yield f"  {name:34} {said['n']:5} {said['min']:9.3f} {said['p50']:9.3f} {said['p95']:9.3f} {said['max']:9.3f} {cpu}{ratio}"


def verdicts(results: Figures) -> list[Verdict]:
    """The rows of the targets that apply to what there is now."""
    made: list[Verdict] = []
    for size, figures in results["sizes"].items():
        at, operations = f"at {int(size):,}", figures["operations"]
        made += [
            _ratio(operations, f"durable add {at}: 2 × bare + 1 ms", "add", 1.0),
            _ratio(operations, f"settle {at}: 2 × bare + 0.5 ms", "settle", 0.5),
            _ratio(operations, f"decide beyond search {at}: 2 × bare + 0.5 ms", "decide beyond search", 0.5),
            _ratio(operations, f"tick {at}, nothing dying: 2 × bare + 1 ms", "tick", 1.0),
            _ratio(operations, f"tick {at} after outcomes: 2 × bare + 1 ms", "tick after outcomes", 1.0),
            Verdict(f"tick {at}, 1,000 dying", operations["tick, 1,000 dying"]["p50"], 150, "ms"),
            Verdict(f"bulk add {at}", figures["bulk"]["earnest"], 5_000, "/s", at_least=True),
            Verdict(f"disk a memory {at}, without vector", figures["disk"]["earnest"] / 1000, 2.5, "kB"),
        ]
    for size, figures in results["sizes"].items():
        if figures.get("hybrid"):
            made += _hybrid_verdicts(int(size), figures["hybrid"])
    ticks = [(int(name.split()[2].replace(",", "")), said["p50"]) for name, said in results["ticks"].items() if name.startswith("tick at")]
    if len(ticks) > 1:
        (small, fast), (large, slow) = min(ticks), max(ticks)
        least = {size: results["ticks"][f"tick at {size:,}"]["min"] for size in (small, large)}
        made.append(Verdict(f"tick at {large:,} against {small:,}", slow / fast, 1.5, "×", least=(least[large] / least[small], 1.5)))
    largest = max(results["sizes"], key=int)
    figures = results["sizes"][largest]
    made += [
        Verdict(
            f"start + open + first answer at {int(largest):,}", figures["first_answer"]["start + open + first answer"]["p50"], 300, "ms"
        ),
        Verdict(f"resident at {int(largest):,}, in use", figures["resident"]["in_use"], 150, "MB"),
    ]
    start = {name: said["p50"] for name, said in results["startup"].items()}
    made += [
        Verdict("import earnest, over bare python", start["import earnest"] - start["bare python"], 100, "ms"),
        Verdict("earnest --help, over bare python", start["earnest --help"] - start["bare python"], 250, "ms"),
    ]
    return made


def _ratio(operations: Figures, what: str, name: str, spare: float) -> Verdict:
    """An operation against twice the bare commit of the same rounds and something to spare."""
    p50, least = ((operations[name][q], 2 * operations["bare commit"][q] + spare) for q in ("p50", "min"))
    # The least difference of two times is noise, not speed.
    return Verdict(what, *p50, "ms", least=None if name == "decide beyond search" else least)

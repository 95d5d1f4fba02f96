"""`python -m bench.recall`: what is found in long conversations and in plain notes, without a language model, beside others.

python -m bench.recall --data locomo10.json                        # no embedder
python -m bench.recall --data locomo10.json --embedder local       # and with the local model
python -m bench.recall --data locomo10.json --tune                 # conv-26 and conv-30 alone; no other is looked at
python -m bench.recall --report bench/results/recall.json
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from bench.ending import ended
from bench.recall import links, notes, silence
from bench.recall.arms import arms
from bench.recall.conversations import TUNING, Conversation, NoData, load, located
from bench.recall.measures import Row, ndcg, recall, row
from bench.recall.report import ALLOWED, lines

DEFAULT_OUT: Final = Path(__file__).resolve().parents[1] / "results" / "recall.json"


def parsed(argv: list[str] | None) -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=None, help="locomo10.json; else the environment variable EARNEST_LOCOMO")
    parser.add_argument("--embedder", default="none", help="also measure with this embedder: local, or any other spec")
    parser.add_argument("--tune", action="store_true", help=f"look at {' and '.join(TUNING)} alone, and write no file")
    parser.add_argument("--links", action="store_true", help="measure recall along links instead, by how much of a score is passed on")
    parser.add_argument("--no-silence", action="store_true", help="leave the silence curve out")
    parser.add_argument("--out", type=Path, default=None, help="results file (bench/results/recall.json)")
    parser.add_argument("--report", type=Path, metavar="FILE", help="only print the report of a results file")
    return parser.parse_args(argv)


def said(what: str) -> None:
    """Tell how far it is."""
    print(what, file=sys.stderr, flush=True)


def measured(arm: Any, conversation: Conversation) -> list[Row]:
    """One arm over the questions of one conversation."""
    arm.take([turn.id for turn in conversation.turns], [turn.entry(conversation.name, placed=arm.placed) for turn in conversation.turns])
    sessions = conversation.sessions()
    return [row(conversation.name, asked.kind, arm.rank(asked.text), asked.evidence, sessions) for asked in conversation.questions]


def on_notes(arm: Any, corpus: notes.Notes) -> list[float]:
    """One arm over the plain notes: R@5, R@10, nDCG@10."""
    arm.take(corpus.ids, corpus.entries())
    ranked = [(arm.rank(question), evidence) for question, evidence in corpus.questions]
    sums = [sum(recall(r, e, 5) for r, e in ranked), sum(recall(r, e, 10) for r, e in ranked), sum(ndcg(r, e, 10) for r, e in ranked)]
    return [value / len(ranked) for value in sums]


def quiet(asked: Mapping[str, silence.Probes], tune: bool) -> dict[str, Any]:
    """The silence curve: the floor is found on the tuning conversations and shown on the others."""
    tuning = silence.together([each for name, each in asked.items() if name in TUNING])
    shown = tuning if tune else silence.together([each for name, each in asked.items() if name not in TUNING])
    floor = silence.calibrated(silence.curve(tuning), ALLOWED)
    return {"floor": floor, "allowed": ALLOWED, "curve": silence.plain(silence.curve(shown))}


def off_topic(conversation: Conversation, conversations: Sequence[Conversation]) -> tuple[Sequence[Conversation], int]:
    """Where a conversation's off-topic questions come from, and how many: a floor that is found on the tuning conversations must not have
    seen the questions of others; half a thousand over those that it is shown on."""
    group = [each for each in conversations if each.tuning == conversation.tuning]
    return group, silence.OFF_TOPIC // len(group)


def main(argv: list[str] | None = None) -> int:
    """Measure and print; returns the exit status."""
    wanted = parsed(argv)
    if wanted.report is not None:
        print("\n".join(lines(json.loads(wanted.report.read_text(encoding="utf-8")))))
        return 0
    try:
        path = located(wanted.data)
    except NoData as error:
        print(error, file=sys.stderr)
        return 2
    conversations = load(path, TUNING if wanted.tune else None)
    if wanted.links:
        return along_links(wanted, conversations)
    corpus = notes.build()
    chosen, missing = arms(wanted.embedder)
    ranking = [make() for make in chosen]
    rows: dict[str, list[list[Any]]] = {arm.name: [] for arm in ranking}
    probed: dict[str, dict[str, silence.Probes]] = {}
    for conversation in conversations:
        for arm in ranking:
            rows[arm.name] += [each.plain() for each in measured(arm, conversation)]
            if not wanted.no_silence and arm.name.endswith("(default)"):
                found = silence.probes(arm.memory, conversation, *off_topic(conversation, conversations))
                probed.setdefault(arm.name, {})[conversation.name] = found
        said(f"{conversation.name}: {len(conversation.questions)} questions")
    on_plain = {arm.name: on_notes(arm, corpus) for arm in ranking}
    silences = {name: quiet(asked, wanted.tune) for name, asked in probed.items()}
    command = "python -m bench.recall --data locomo10.json" + (f" --embedder {shlex.quote(wanted.embedder)}" * (wanted.embedder != "none"))
    results: dict[str, Any] = {
        "command": command + " --tune" * wanted.tune, "tune": wanted.tune, "missing": missing, "rows": rows, "silence": silences,
        "notes": on_plain, "notes_size": {"notes": len(corpus.ids), "questions": len(corpus.questions)},
        "versions": {name: version(name) for name in ("earnest", "apsw", "snowballstemmer")},
    }  # fmt: skip
    print("\n".join(lines(results)))
    if not wanted.tune:
        out = wanted.out or DEFAULT_OUT
        out.write_text(json.dumps(_compact(results), ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
        said(f"wrote {out}")
    return 0


def along_links(wanted: argparse.Namespace, conversations: Sequence[Conversation]) -> int:
    """Measure recall along links and print; returns the exit status."""
    given = f" --embedder {shlex.quote(wanted.embedder)}" * (wanted.embedder != "none") + " --tune" * wanted.tune
    results = {"command": f"python -m bench.recall --data locomo10.json --links{given}", "tune": wanted.tune}
    results |= links.measured(conversations, wanted.embedder, links.SPREADS if wanted.tune else links.CHOSEN, said)
    print("\n".join(links.lines(results)))
    if not wanted.tune:
        out = wanted.out or DEFAULT_OUT.with_name("links.json" if wanted.embedder == "none" else f"links-{wanted.embedder}.json")
        out.write_text(json.dumps(_compact(results), ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
        said(f"wrote {out}")
    return 0


def _compact(results: dict[str, Any]) -> dict[str, Any]:
    """Rounded, so that the file says what was measured and no more."""
    made: dict[str, Any] = json.loads(json.dumps(results), parse_float=lambda text: round(float(text), 4))
    return made


if __name__ == "__main__":
    ended(main)

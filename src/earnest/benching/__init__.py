"""How well recall works on a user's own entries: questions with known answers, every way to search, and what to set."""

from earnest.benching.questions import Probe, probes
from earnest.benching.recall import Arm, RecallBench, bench_recall

__all__ = ["Arm", "Probe", "RecallBench", "bench_recall", "probes"]

"""`python -m bench.secrets`: recall and precision of the write gate's detector, beside detect-secrets where that is installed."""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable, Sequence
from typing import Any

from bench.ending import ended
from earnest.core.secrets import secrets
from tests.security.secret_corpus import Case, corpus


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a line for each detector."""
    parser = argparse.ArgumentParser(prog="python -m bench.secrets", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="drawings of the texts (10), from seed 100 on; the tests use others")
    wanted = parser.parse_args(argv)
    cases = [case for seed in range(100, 100 + wanted.seeds) for case in corpus(seed)]
    held = sum(case.secret is not None for case in cases)
    print(f"{len(cases):,} texts, {held:,} of them with a secret")
    print(f"{'':<32}{'recall':>8}{'precision':>11}{'µs a text':>11}")
    _line("Earnest", lambda text: bool(secrets(text)), cases)
    other = _detect_secrets()
    if other is None:
        print("detect-secrets: not installed here (pip install detect-secrets)")
    else:
        _line("detect-secrets, all its plug-ins", other, cases)
    return 0


def _line(name: str, flags: Callable[[str], bool], cases: Sequence[Case]) -> None:
    """A text counts as found if anything in it was flagged: that is the most that is asked of a detector which gives no places."""
    begun = time.perf_counter()
    flagged = [flags(case.text) for case in cases]
    spent = (time.perf_counter() - begun) / len(cases) * 1e6
    found = sum(flag and case.secret is not None for flag, case in zip(flagged, cases, strict=True))
    held = sum(case.secret is not None for case in cases)
    print(f"{name:<32}{found / held:>8.3f}{found / max(1, sum(flagged)):>11.3f}{spent:>11.0f}")


def _detect_secrets() -> Callable[[str], bool] | None:
    try:
        scan: Any = importlib.import_module("detect_secrets.core.scan")
        settings: Any = importlib.import_module("detect_secrets.settings")
    except ImportError:
        return None

    def flags(text: str) -> bool:
        with settings.default_settings():
            return any(True for line in text.splitlines() for _ in scan.scan_line(line))

    return flags


if __name__ == "__main__":
    ended(main)

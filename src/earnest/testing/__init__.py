"""For tests of programs that use Earnest, and of drivers for it."""

from earnest.testing import store_conformance
from earnest.testing.clock import ManualClock, SeededRng
from earnest.testing.environments import check_verify, lint_vocabulary
from earnest.testing.faults import FaultyStore, InjectedFault
from earnest.testing.store_conformance import check_store

__all__ = [
    "FaultyStore",
    "InjectedFault",
    "ManualClock",
    "SeededRng",
    "check_store",
    "check_verify",
    "lint_vocabulary",
    "store_conformance",
]

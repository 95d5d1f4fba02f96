"""Worlds that ask a memory what to do, and measure what comes of it."""

from earnest.core.decision import decision_polarity
from earnest.core.outcome import Outcome, Task
from earnest.environments.base import Controlled, Environment, Remeasured, world_rng
from earnest.environments.qa import VerifiableQAEnv
from earnest.environments.storage import RentedStorageEnv, StorageEnv
from earnest.environments.testsuite import RentedTestSuiteEnv, TestSuiteEnv

__all__ = [
    "Controlled",
    "Environment",
    "Outcome",
    "Remeasured",
    "RentedStorageEnv",
    "RentedTestSuiteEnv",
    "StorageEnv",
    "Task",
    "TestSuiteEnv",
    "VerifiableQAEnv",
    "decision_polarity",
    "world_rng",
]

"""Lessons settled by a test suite: what a pull request changed, measured by the runs before and after it."""

from earnest.ci.settling import Outcome, Request, settle_ci
from earnest.ci.tickets import tickets_in

__all__ = ["Outcome", "Request", "settle_ci", "tickets_in"]

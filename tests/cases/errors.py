"""From an error of the product to the kinds that cases name."""

from __future__ import annotations

from earnest import errors

_KINDS: tuple[tuple[type[errors.EarnestError], frozenset[str]], ...] = (
    (errors.InvalidInput, frozenset({"validation"})),
    (errors.UnknownEntry, frozenset({"not_found"})),
    (errors.UnknownEvent, frozenset({"not_found"})),
    (errors.KeyReused, frozenset({"conflict"})),
    (errors.NotAllowed, frozenset({"conflict"})),
    (errors.StoreBusy, frozenset({"unavailable", "busy"})),
    (errors.StoreError, frozenset({"unavailable"})),
    (errors.EmbedderFailed, frozenset({"unavailable"})),
    (errors.NotAvailable, frozenset({"not yet"})),
)


def kinds_of(error: type[BaseException]) -> frozenset[str]:
    """The kinds of an error class; one that has no type of Earnest's is a crash, which no case allows."""
    for known, kinds in _KINDS:
        if issubclass(error, known):
            return kinds
    return frozenset({"crash"})


def kinds_named(name: str) -> frozenset[str]:
    """The same for a class that the command line names. A wrong usage of words is a validation."""
    if name == "UsageError":
        return frozenset({"validation"})
    found = getattr(errors, name, None)
    return kinds_of(found) if isinstance(found, type) and issubclass(found, BaseException) else frozenset({"crash"})

"""The embedded store: one SQLite file an agent."""

from earnest.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]

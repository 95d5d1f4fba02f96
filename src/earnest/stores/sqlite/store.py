"""The embedded store: one file, one writer at a time, any number of readers."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import apsw

from earnest.core.events import micros
from earnest.errors import EarnestError, StoreBusy, StoreError, StoreReadOnly, WrongAgent, shown
from earnest.protocols import Author, Damage
from earnest.stores.sqlite.connection import connect, copied, immediate, logged, looked_over, migrate, needs_immutable, translated
from earnest.stores.sqlite.reading import SqliteReading
from earnest.stores.sqlite.vectors import Shelves
from earnest.stores.sqlite.writing import SqliteWriting

MEMORY = ":memory:"
_READERS = 8


class SqliteStore:
    """One agent's memory in one SQLite file; implements `earnest.protocols.Store`.

    Safe to share between threads: one of them writes at a time, each reader has a connection of its own. A file in memory has
    one connection, so its readers wait for its writer.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        agent: str | None = None,
        author: Author,
        read_only: bool = False,
        timeout: float = 30.0,
        vfs: str | None = None,
        exclusive: bool = False,
    ) -> None:
        """Opens a file, making or migrating it if need be. `agent` None takes the agent that the file belongs to.

        Raises:
            StoreError: The kinds named in `earnest.errors`; nothing was changed then.
        """
        self.path = MEMORY if str(path) == MEMORY else str(path)
        self.read_only = read_only
        self.timeout = timeout
        self._vfs, self._exclusive = vfs, exclusive
        self._shared = self.path == MEMORY or exclusive
        self._lock = threading.RLock()
        self._writer: apsw.Connection | None = None
        self._idle: list[apsw.Connection] = []
        self._pool = threading.Lock()
        self._closed = False
        self._shelves = Shelves()
        self._process = os.getpid()
        self._immutable = False
        if self.path != MEMORY and vfs is None:
            looked_over(Path(self.path), read_only=read_only, timeout=timeout)
            with translated(self.path):
                self._immutable = read_only and needs_immutable(self.path, timeout)
        with translated(self.path):
            connection = self._connect(read_only)
            try:
                self.made = migrate(connection, self.path, read_only=read_only, backup=self.path != MEMORY and vfs is None)
                """Whether this opening made the store."""
                self.agent = self._claimed(connection, agent, author)
            except BaseException:
                connection.close()
                raise
        self._writer = connection
        self._file = None if self.path == MEMORY or vfs is not None else _place(self.path)

    def _connect(self, read_only: bool) -> apsw.Connection:
        return connect(
            self.path,
            read_only=read_only,
            timeout=self.timeout,
            vfs=self._vfs,
            exclusive=self._exclusive,
            immutable=self._immutable and read_only,
        )

    def _claimed(self, connection: apsw.Connection, agent: str | None, author: Author) -> str:
        """The agent that the file belongs to; a new file is claimed for the one that was named."""
        found = connection.execute("SELECT value FROM settings WHERE name = 'agent'").fetchone()
        if found is None and not self.read_only:
            with immediate(connection):
                found = connection.execute("SELECT value FROM settings WHERE name = 'agent'").fetchone()
                if found is None:
                    writing = SqliteWriting(connection, author)
                    writing.set_setting("agent", agent or "default")
                    writing.append("create", data={"at": micros(author.at)})
                    writing.flush()
                    found = (json.dumps(agent or "default"),)
        owner = str(json.loads(found[0])) if found else (agent or "default")
        if agent is not None and agent != owner:
            raise WrongAgent(f"{self.path}: belongs to agent {owner!r}, not {agent!r}; open another file, or leave the agent's name out")
        return owner

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    def _open(self) -> None:
        """Refuses to go on with a store that was closed, or with a file that nobody else can see any more."""
        if self._closed:
            raise StoreError(f"{self.path}: the store is closed; open it again")
        if self._process != os.getpid():
            # SQLite's locks belong to the process that took them: using them on both sides of a fork damages files.
            raise StoreError(f"{self.path}: was opened before this process was forked; open it again here")
        if self._file is not None and _place(self.path) != self._file:
            raise StoreError(f"{self.path}: the file was removed or replaced while it was open; nothing was recorded, open it again")
        if self._immutable and logged(self.path):
            # It was read as a file that nobody writes, and now somebody does.
            raise StoreError(f"{self.path}: somebody writes to it by now; open it again to see what")

    @contextmanager
    def _alone(self, patience: float | None = None) -> Iterator[None]:
        """Keeps the other threads of this process off the writing connection; they wait as long as for another process."""
        if not self._lock.acquire(timeout=self.timeout if patience is None else patience):
            raise StoreBusy(f"{self.path}: another thread is writing and did not finish in time; nothing was recorded, try again")
        try:
            yield
        finally:
            self._lock.release()

    @contextmanager
    def read(self) -> Iterator[SqliteReading]:
        """See `earnest.protocols.Store.read`."""
        self._open()
        if self._shared:
            with self._alone(), translated(self.path):
                alone = self._writing_connection()
                # Inside a write transaction of this thread, what it sees may yet be rolled back.
                yield SqliteReading(alone, None if alone.in_transaction else self._shelves)
            return
        with translated(self.path):
            with self._pool:
                connection = self._idle.pop() if self._idle else None
            connection = connection or self._connect(True)
            sound = False
            try:
                connection.execute("BEGIN")
                try:
                    yield SqliteReading(connection, self._shelves)
                finally:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                sound = True
            except EarnestError:
                sound = True
                raise
            finally:
                if sound:
                    self._release(connection)
                else:
                    connection.close()

    def _release(self, connection: apsw.Connection) -> None:
        with self._pool:
            if not self._closed and len(self._idle) < _READERS:
                self._idle.append(connection)
                return
        connection.close()

    def _writing_connection(self) -> apsw.Connection:
        if self._writer is None:
            self._writer = self._connect(self.read_only)
        return self._writer

    @contextmanager
    def write(self, author: Author, *, patience: float | None = None) -> Iterator[SqliteWriting]:
        """See `earnest.protocols.Store.write`."""
        self._open()
        if self.read_only:
            raise StoreReadOnly(f"{self.path}: was opened for reading; open it without read_only to write")
        with self._alone(patience), translated(self.path):
            connection = self._writing_connection()
            if patience is not None:
                connection.set_busy_timeout(int(patience * 1000))
            try:
                connection.execute("BEGIN IMMEDIATE")
            finally:
                if patience is not None:
                    connection.set_busy_timeout(int(self.timeout * 1000))
            try:
                writing = SqliteWriting(connection, author)
                yield writing
                writing.flush()
                connection.execute("COMMIT")
            except BaseException as error:
                self._roll_back(connection, error)
                raise

    def _roll_back(self, connection: apsw.Connection, error: BaseException) -> None:
        """Undo what was not committed. After an error of the disk the connection is given up, not trusted to have the truth."""
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        finally:
            if isinstance(error, apsw.IOError | apsw.CorruptError | apsw.FullError | apsw.CantOpenError) and self.path != MEMORY:
                self._writer = None
                connection.close()

    def damage(self, head: str | None = None) -> Iterator[Damage]:
        """See `earnest.protocols.Store.damage`."""
        from earnest.stores.sqlite import verify

        self._open()
        # A connection of its own: FTS5 checks itself against what the connection remembers, which a pooled one may have outlived.
        with translated(self.path), self._quiet() as connection:
            if self._shared:
                yield from verify.damage(connection, SqliteReading(connection), head)
                return
            connection.execute("BEGIN")
            yield from verify.damage(connection, SqliteReading(connection), head)

    def rebuild_index(self, terms: Callable[[str], Sequence[str]], author: Author) -> int:
        """See `earnest.protocols.Store.rebuild_index`."""
        from earnest.stores.sqlite import verify

        with self.write(author) as writing:
            made, length = verify.rebuild_index(writing._db, terms)
            writing.bump("terms", length - writing.counter("terms"))
            writing.append("repair", data={"indexed": made})
        return made

    def repair_counters(self, author: Author) -> None:
        """Make the running numbers anew from the rows that they sum up."""
        from earnest.stores.sqlite import verify

        with self.write(author) as writing:
            verify.drop_damaged_vectors(writing._db)
            verify.repair_links(writing)
            verify.rebuild_counters(writing)

    def backup(self, path: Path) -> None:
        """See `earnest.protocols.Store.backup`."""
        self._open()
        try:
            path.lstat()
        except FileNotFoundError:
            folder = path.parent.is_dir()
        except OSError as error:
            raise StoreError(f"{shown(str(path))}: cannot be used ({error.strerror}); name another file") from error
        else:
            raise StoreError(f"{path}: is there already; a backup never overwrites, name a new file")
        if not folder:
            raise StoreError(f"{path}: the folder {path.parent} does not exist; make it first")
        with translated(str(path)), self._quiet() as connection:
            copied(connection, path)

    @contextmanager
    def scratch(self, form: int, rows: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[SqliteReading]:
        """See `earnest.protocols.Store.scratch`."""
        from earnest.stores.sqlite import moving

        with translated("the passing copy"):
            db = moving.scratch(form, rows)
            try:
                yield SqliteReading(db)
            finally:
                db.close()

    def scrub(self) -> list[str]:
        """See `earnest.protocols.Store.scrub`."""
        from earnest.stores.sqlite import erasing

        self._open()
        if self.read_only:
            raise StoreReadOnly(f"{self.path}: was opened for reading; open it without read_only to write")
        with self._alone(), translated(self.path):
            problems = erasing.scrub(self._writing_connection())
        self._shelves.clear()
        return problems

    def forget(self) -> None:
        """See `earnest.protocols.Store.forget`."""
        self._shelves.clear()

    def size(self) -> int:
        """See `earnest.protocols.Store.size`."""
        if self.path == MEMORY or self._vfs is not None:
            return 0
        parts = (Path(self.path + end) for end in ("", "-wal"))
        return sum(part.stat().st_size for part in parts if part.exists())

    def holding(self, pieces: Sequence[bytes]) -> list[tuple[str, bytes]]:
        """See `earnest.protocols.Store.holding`."""
        from earnest.stores.sqlite import erasing

        self._open()
        if self.path == MEMORY or self._vfs is not None:
            return []
        return [(str(name), piece) for name, piece in erasing.holding(Path(self.path), pieces)]

    @contextmanager
    def _quiet(self) -> Iterator[apsw.Connection]:
        """A connection outside any transaction."""
        if self._shared:
            with self._lock:
                yield self._writing_connection()
            return
        # For writing if that is allowed: SQLite does not even read CHECK constraints on a connection that may not write.
        connection = self._connect(self.read_only)
        try:
            yield connection
        finally:
            connection.close()

    def close(self) -> None:
        """See `earnest.protocols.Store.close`."""
        with self._lock, self._pool:
            self._closed = True
            idle, writer = [*self._idle], self._writer
            self._idle.clear()
            self._writer = None
        self._shelves.clear()
        with translated(self.path), ExitStack() as stack:
            # The writer is closed last: only it can move the log into the file, so that one file is left.
            for connection in [*([writer] if writer is not None else []), *idle]:
                stack.callback(connection.close)


def _place(path: str) -> tuple[int, int] | None:
    """Which file it is, whatever its name; None if there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 (looked at with every transaction; a Path costs twice as much)
    except OSError:
        return None
    return found.st_dev, found.st_ino

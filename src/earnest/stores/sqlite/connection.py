"""Opening a store file and saying in Earnest's words what SQLite refuses."""

from __future__ import annotations

import json
import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import apsw

from earnest.core.uris import file_uri
from earnest.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull, StoreReadOnly, StoreTooNew
from earnest.files import sync_folder
from earnest.stores.sqlite.schema import APPLICATION_ID, FORMAT, MIGRATIONS

LOG_LIMIT: Final = 32 * 1024 * 1024
"""Bytes that the log keeps on the disk once what is in it has gone into the file: a long reader lets it grow, not for ever."""

CHECKPOINT: Final = 4_000
"""Pages (of 4 kB) in the log from which a commit moves it into the file. A page that changes with every write is then moved once in a few
hundred of them: with SQLite's own 1,000, writing in bulk takes a seventh longer."""

CACHE: Final = 4_000
"""Kilobytes of the file's pages that a connection keeps. The system keeps the file's pages too: with four times as much, searching and
writing in a store of 100,000 entries take no less processor time, and a process with many readers holds so much more."""

# Seconds between two attempts where SQLite itself does not wait.
_PAUSE = 0.01

RECOVER = "restore a backup, or run `earnest check` to see what is left"


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Turns an error of SQLite into the typed one that tells the way out."""
    try:
        yield
    except apsw.BusyError as error:
        raise StoreBusy(f"{where}: another process is writing and did not finish in time; nothing was recorded, try again") from error
    except apsw.LockedError as error:
        raise StoreBusy(f"{where}: the store is locked by this process; nothing was recorded, try again") from error
    except (apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError) as error:
        raise StoreReadOnly(f"{where}: opened for reading, or the file or its folder may not be written; nothing was recorded") from error
    except apsw.FullError as error:
        raise StoreFull(f"{where}: the disk is full; nothing was recorded, make room and try again") from error
    except apsw.NotADBError as error:
        raise StoreCorrupt(f"{where}: this is not an Earnest store (not a SQLite file); {RECOVER}") from error
    except apsw.CorruptError as error:
        raise StoreCorrupt(f"{where}: the file is damaged ({error}); {RECOVER}") from error
    except apsw.CantOpenError as error:
        raise StoreError(f"{where}: cannot be opened ({error}); does the folder exist, and may it be read and written?") from error
    except apsw.IOError as error:
        if getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE:
            # The little file beside the log that every reader needs, too, found no room.
            raise StoreFull(f"{where}: the disk is full; nothing was recorded, make room and try again") from error
        raise StoreError(f"{where}: the disk reported an error ({error}); nothing was recorded, check the disk and try again") from error
    except apsw.SchemaChangeError as error:
        raise StoreBusy(f"{where}: the store changed while it was being read; try again") from error
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise StoreCorrupt(f"{where}: the file is damaged (a text in it cannot be read: {error}); {RECOVER}") from error
    except apsw.Error as error:
        raise StoreError(f"{where}: {error}; nothing was recorded, `earnest check` tells whether the file is whole") from error


def connect(
    path: str, *, read_only: bool, timeout: float, vfs: str | None = None, exclusive: bool = False, immutable: bool = False
) -> apsw.Connection:
    """A connection with the promises of a store: WAL, every commit on the disk, foreign keys, a bounded wait.

    `exclusive` keeps the lock, for file systems without shared memory. `immutable` reads a file that nobody can write, and needs
    nothing beside it.
    """
    flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    if path == ":memory:":
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_MEMORY
    if immutable:
        flags |= apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(_unchanging(path) if immutable else path, flags=flags, vfs=vfs, statementcachesize=200)
    try:
        connection.set_busy_timeout(int(timeout * 1000))
        if exclusive:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        if not read_only and path != ":memory:":
            _write_ahead(connection, timeout)
            connection.execute(f"PRAGMA journal_size_limit = {LOG_LIMIT:d}")
            connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT:d}")
        connection.execute("PRAGMA synchronous = FULL")
        if sys.platform == "darwin":
            connection.execute("PRAGMA fullfsync = ON")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA cache_size = -{CACHE:d}")
        connection.execute("PRAGMA trusted_schema = OFF")
        # Else SQLite, where compiled with STAT4, plans a statement anew for every value bound to it, by statistics that no store has.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    except BaseException:
        connection.close()
        raise
    return connection


def _unchanging(path: str) -> str:
    """The name under which SQLite takes a file for one that does not change."""
    return f"{file_uri(Path(path).resolve())}?immutable=1"


def logged(path: str) -> bool:
    """Whether a store's log holds anything."""
    log = Path(path + "-wal")
    try:
        return log.stat().st_size > 0
    except OSError:
        return False


def pieces(path: Path, size: int) -> Generator[bytes]:
    """The bytes of a store's file, in pieces of a size, read through SQLite and never through a handle of our own.

    On POSIX, whoever closes any handle of a file drops every lock that its process has on that file, those of SQLite's connections too. The
    next process that closes the store would take itself for the last one and remove the log from under the others: what they
    acknowledge from then on, nobody else sees, and what others write is lost.

    Raises:
        OSError, apsw.Error: It cannot be read.
    """
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        whole = path.stat().st_size
        for start in range(0, whole, size):
            yield connection.read("main", 0, start, min(size, whole - start))[1]
    finally:
        connection.close()


def needs_immutable(path: str, timeout: float) -> bool:
    """Whether a file can only be read as one that does not change: the files that SQLite shares with writers cannot be made beside it.

    Raises:
        StoreError: Its log holds changes that are not in the file yet, and cannot be read here.
    """
    try:
        probe = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        try:
            probe.set_busy_timeout(int(timeout * 1000))
            probe.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        finally:
            probe.close()
    except (apsw.CantOpenError, apsw.ReadOnlyError) as error:
        if logged(path):
            raise StoreError(_UNREAD_LOG.format(path, error)) from error
        return True
    return False


_UNREAD_LOG: Final = (
    "{}: changes stand in its log, which cannot be read where nothing can be written ({}); copy the file and its -wal to a folder that "
    "can be written, and open it there once"
)


def _write_ahead(connection: apsw.Connection, timeout: float) -> None:
    """Switches a file to its write-ahead log. SQLite does not wait when several processes switch one new file at once, so we do."""
    until = time.monotonic() + timeout
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except apsw.BusyError:
            if time.monotonic() >= until:
                raise
            time.sleep(_PAUSE)


def pragma(connection: apsw.Connection, name: str) -> int:
    """The value of a numeric pragma."""
    value = connection.pragma(name)
    return int(value) if isinstance(value, int | str) else 0


@contextmanager
def immediate(connection: apsw.Connection) -> Iterator[None]:
    """A write transaction that begins now: committed at the end of the block, rolled back if that raises."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _copied_before(connection: apsw.Connection, where: str, version: int) -> None:
    """Leaves a whole copy of a file of an earlier format beside it, before it is brought forward. One that is there already stays."""
    target = Path(f"{where}.backup-format-{version}")
    if target.exists():
        return

    def as_it_was(part: Path) -> bool:
        copy = apsw.Connection(str(part), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return pragma(copy, "user_version") == version
        finally:
            copy.close()

    # Else another process was faster, and has made its copy before.
    copied(connection, target, wanted=as_it_was)


def copied(connection: apsw.Connection, target: Path, *, wanted: Callable[[Path], bool] = lambda part: True) -> None:
    """Leaves a whole copy of a store under a name. What bears the name is on the disk, as SQLite alone does not promise of a copy: it is
    made beside, and gets the name, if it is `wanted`, when all of it is there.

    Raises:
        StoreError: It could not be kept. What SQLite refuses passes through; see `translated`.
    """
    part = target.with_name(f"{target.name}.{os.getpid()}-{threading.get_ident()}.part")
    try:
        connection.execute("VACUUM INTO ?", (str(part),))
        if wanted(part):
            with part.open("rb+") as file:
                os.fsync(file.fileno())
            part.rename(target)
            sync_folder(target.parent)
    except OSError as error:
        raise StoreError(f"{target}: the copy could not be kept ({error.strerror}); make room, or name a file on another disk") from error
    finally:
        # With what SQLite leaves beside it when its disk is full.
        for end in ("", "-journal", "-wal", "-shm"):
            part.with_name(part.name + end).unlink(missing_ok=True)


def migrate(connection: apsw.Connection, where: str, *, read_only: bool, backup: bool = False) -> bool:
    """Brings a file to the present format, each step in one transaction; True if it was new.

    `backup` leaves a copy of a file of an earlier format beside it first.

    Raises:
        StoreTooNew: A later Earnest wrote it. It is left as it is.
        StoreCorrupt: It is another program's database.
        StoreReadOnly: It would have to be migrated, but was opened for reading.
    """
    version, application, tables = identity(connection)
    refuse_others(where, version, application, tables)
    if version == FORMAT and tables:
        return False
    if read_only:
        found = "is empty" if not tables else f"has format {version} and needs {FORMAT}"
        raise StoreReadOnly(f"{where}: {found}; open it once for writing first")
    if tables and version and backup:
        _copied_before(connection, where, version)
    made = False
    while True:
        with immediate(connection):
            version = pragma(connection, "user_version")
            if version >= FORMAT:
                # Another process was faster, or the last step is done.
                return made
            made = made or version == 0
            connection.execute(MIGRATIONS[version])
            connection.execute(f"PRAGMA user_version = {version + 1:d}")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID:d}")


def looked_over(path: Path, *, read_only: bool, timeout: float) -> None:
    """Refuses what is no store, or a newer one, before it is opened for writing, so that nothing is created or changed by mistake.

    Raises:
        StoreError: The kinds named in `migrate`, and a file that cannot be read.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        if read_only:
            raise StoreError(f"{path}: there is no such store; open it once for writing to make it") from None
        if not path.parent.is_dir():
            raise StoreError(f"{path}: the folder {path.parent} does not exist; make it first") from None
        return
    except OSError as error:
        raise StoreError(f"{path}: cannot be opened ({error.strerror}); name a file in a folder that can be read") from error
    if stat.S_ISDIR(mode):
        raise StoreError(f"{path}: is a folder; name a file in it, or open the folder itself with an agent's name")
    if not stat.S_ISREG(mode):
        raise StoreError(f"{path}: is not a plain file; name one")
    try:
        with closing(pieces(path, _HEAD)) as read:
            head = next(read, b"")
    except (OSError, apsw.Error) as error:
        raise StoreError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error}); check who may read it") from error
    if head and not head.startswith(b"SQLite format 3\x00"):
        raise StoreCorrupt(f"{path}: this is not an Earnest store (not a SQLite file); it was not touched")
    version, application = int.from_bytes(head[60:64]), int.from_bytes(head[68:72])
    tables = int.from_bytes(head[103:105])
    if application == 0 and logged(str(path)):
        # What the file is stands in its log. A reader leaves both as they are.
        with translated(str(path)):
            connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
            try:
                connection.set_busy_timeout(int(timeout * 1000))
                version, application, tables = identity(connection)
            except (apsw.CantOpenError, apsw.ReadOnlyError) as error:
                raise StoreError(_UNREAD_LOG.format(path, error)) from error
            finally:
                connection.close()
    refuse_others(str(path), version, application, tables)


_HEAD: Final = 105
"""How much of a file tells what it is: SQLite's header, and of the first page how many tables there are."""


def identity(connection: apsw.Connection) -> tuple[int, int, int]:
    """The format, the program that a file belongs to, and how many tables and views are in it."""
    [(tables,)] = connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    assert isinstance(tables, int)
    return pragma(connection, "user_version"), pragma(connection, "application_id"), tables


def refuse_others(where: str, version: int, application: int, tables: int) -> None:
    """Refuses a store of a later format, and another program's database."""
    if version > FORMAT and application == APPLICATION_ID:
        raise StoreTooNew(
            f"{where}: written in format {version}, this Earnest reads up to {FORMAT}; upgrade Earnest, the file was not touched"
        )
    if application != APPLICATION_ID and (application or tables):
        raise StoreCorrupt(f"{where}: this is another program's database, not an Earnest store; it was not touched")

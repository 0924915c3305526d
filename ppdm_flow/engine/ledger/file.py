"""The release ledger in a file: SQLite."""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ppdm_flow.engine.faults import data_fault, output_fault, run_fault
from ppdm_flow.engine.ledger.key import LedgerKey, required
from ppdm_flow.engine.ledger.tables import READABLE, VERSION, ExecuteStatement, LedgerStore, add_tables, make_tables

_MARK = 0x70706C67
"""What SQLite calls the application's id."""
_WAIT = 30.0


class LedgerFile(LedgerStore):
    """A ledger in a file. Its lock lies beside it."""

    def __init__(self, path: Path, key: LedgerKey | None = None) -> None:
        self.path = path
        self.key = key
        self.place = str(path)
        self.name = f"the ledger `{path}`"

    def exists(self) -> bool:
        """Whether there is a file."""
        return self.path.exists()

    def create(self) -> None:
        """Make the file, under another name until it is whole."""
        half = self.path.with_name(f"{self.path.name}.new")
        with self._guarded():
            half.unlink(missing_ok=True)
            with closing(sqlite3.connect(half, isolation_level=None)) as made:
                made.execute(f"PRAGMA application_id = {_MARK}")
                made.execute(f"PRAGMA user_version = {VERSION}")
                with _transaction(made, writing=True):
                    make_tables(_asking(made), required(self.key), "BLOB")
            half.chmod(0o600)
            os.link(half, self.path)  # never over another one
            half.unlink()

    def judge(self, ask: ExecuteStatement) -> None:
        """Raise DataError where it is no ledger of this version, or damaged."""
        mark, version = (ask(f"PRAGMA {pragma}")[0][0] for pragma in ("application_id", "user_version"))
        if mark != _MARK:
            raise data_fault("PPF735", f"`{self.path}` is not a release ledger")
        if version not in READABLE:
            raise data_fault("PPF735", f"`{self.path}` is a ledger of version {version}; this program has {VERSION}")
        if ask("PRAGMA quick_check")[0][0] != "ok":
            raise self.damaged()

    def upgrade(self, ask: ExecuteStatement) -> None:
        """Make a ledger of an earlier version one of this."""
        if ask("PRAGMA user_version")[0][0] < VERSION:
            add_tables(ask, "BLOB")
            ask(f"PRAGMA user_version = {VERSION}")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep all other runs away from the ledger until the end, so that the compared entries do not change."""
        with self._guarded():
            handle = os.open(_lock(self.path), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    @contextmanager
    def session(self, *, writing: bool = False) -> Iterator[ExecuteStatement]:
        """Open the file for one transaction."""
        if not self.path.is_file():
            raise data_fault("PPF735", f"there is no ledger `{self.path}`")
        with self._guarded():
            uri = f"{self.path.absolute().as_uri()}?mode=rw"
            with closing(sqlite3.connect(uri, uri=True, timeout=_WAIT, isolation_level=None)) as opened:
                opened.execute("PRAGMA synchronous = EXTRA")
                opened.execute("PRAGMA secure_delete = ON")  # what is erased is not to stay in free pages
                opened.execute("PRAGMA foreign_keys = ON")
                with _transaction(opened, writing=writing):
                    yield _asking(opened)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Turn what SQLite says into errors of ours: it may quote."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE):
                raise output_fault(OSError(errno.ENOSPC, ""), self.name) from None
            if error.sqlite_errorcode == sqlite3.SQLITE_ERROR:  # a table or column that is not there
                raise self.damaged() from None
            reason = _REASONS.get(error.sqlite_errorcode & 0xFF, "cannot be used")
            raise run_fault("PPF693", f"{self.name}: {reason}") from None
        except sqlite3.Error:
            raise self.damaged() from None
        except OSError as error:
            raise output_fault(error, self.name) from None


def is_ledger(begin: bytes) -> bool:
    """Whether a file that begins with these bytes, a hundred or more, is a ledger."""
    return begin.startswith(b"SQLite format 3\0") and begin[68:72] == _MARK.to_bytes(4, "big")


def _lock(path: Path) -> Path:
    """Return the path of the lock. It is the same for every link to the ledger."""
    target = path.resolve()
    return target.with_name(f"{target.name}.lock")


def _asking(opened: sqlite3.Connection) -> ExecuteStatement:
    return lambda sql, **values: opened.execute(sql, values).fetchall()


@contextmanager
def _transaction(opened: sqlite3.Connection, *, writing: bool) -> Iterator[None]:
    opened.execute("BEGIN IMMEDIATE" if writing else "BEGIN")
    try:
        yield
    except BaseException:
        if opened.in_transaction:  # SQLite may have undone it already
            opened.execute("ROLLBACK")
        raise
    opened.execute("COMMIT")


_REASONS = {
    sqlite3.SQLITE_BUSY: "another program holds it",
    sqlite3.SQLITE_LOCKED: "another program holds it",
    sqlite3.SQLITE_READONLY: "it cannot be written",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
}

"""The release ledger's file: SQLite, with what was released about whom as keyed hashes."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ppdm_flow.engine.faults import data_fault, output_fault, run_fault
from ppdm_flow.sdk.history import Membership

VERSION = 1
_MARK = 0x70706C67
"""What SQLite calls the application's id."""
PENDING, RELEASED = "pending", "released"
_SCHEMA = """
CREATE TABLE ledger (key_commitment TEXT NOT NULL);
CREATE TABLE release (
    number INTEGER PRIMARY KEY AUTOINCREMENT, state TEXT NOT NULL, policy TEXT NOT NULL, name TEXT NOT NULL,
    audience TEXT NOT NULL, time TEXT NOT NULL, plan TEXT NOT NULL, folder TEXT NOT NULL, run TEXT NOT NULL,
    manifest TEXT NOT NULL, file TEXT NOT NULL, rows INTEGER NOT NULL, columns TEXT NOT NULL,
    people INTEGER, generated INTEGER NOT NULL);
CREATE TABLE member (
    release INTEGER NOT NULL REFERENCES release (number), person TEXT NOT NULL, class TEXT NOT NULL,
    PRIMARY KEY (release, person)) WITHOUT ROWID;
"""
_COLUMNS = "state, policy, name, audience, time, plan, folder, run, manifest, file, rows, columns, people, generated"
_WAIT = 30.0


@dataclass(frozen=True, slots=True)
class Entry:
    """One release in the ledger. ``columns`` are (name, name in the source, role, changes); ``people`` may be None."""

    state: str
    policy: str
    name: str
    audience: str
    time: str
    plan: str
    folder: str
    run: str
    manifest: str
    file: str
    rows: int
    columns: tuple[tuple[str, str, str, tuple[str, ...]], ...]
    people: int | None
    generated: bool
    number: int = 0


class LedgerFile:
    """An open ledger. Every method raises DataError where the file is damaged, RunError where it cannot be written."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def create(self, commitment: str) -> None:
        """Make the file, under another name until it is whole."""
        half = self.path.with_name(f"{self.path.name}.new")
        with self._guarded():
            half.unlink(missing_ok=True)
            with closing(sqlite3.connect(half, isolation_level=None)) as made:
                made.executescript(f"PRAGMA application_id = {_MARK}; PRAGMA user_version = {VERSION}; {_SCHEMA}")
                made.execute("INSERT INTO ledger VALUES (?)", [commitment])
            half.chmod(0o600)
            os.link(half, self.path)  # never over another one
            half.unlink()

    def check(self, commitment: str | None = None) -> None:
        """Raise DataError where the file is no whole ledger of this version, or of another key."""
        with self._open() as opened:
            mark, version = (opened.execute(f"PRAGMA {p}").fetchone()[0] for p in ("application_id", "user_version"))
            if mark != _MARK:
                raise data_fault("PPF735", f"`{self.path}` is no release ledger")
            if version != VERSION:
                raise data_fault(
                    "PPF735", f"`{self.path}` is a ledger of version {version}; this program has {VERSION}"
                )
            if opened.execute("PRAGMA quick_check").fetchone()[0] != "ok":
                raise data_fault("PPF735", f"the ledger `{self.path}` is damaged", advice=_DAMAGED)
            known = [row[0] for row in opened.execute("SELECT key_commitment FROM ledger")]
            wrong = opened.execute(
                "SELECT COUNT(*) FROM release r WHERE r.people IS NOT NULL AND"
                " r.people <> (SELECT COUNT(*) FROM member m WHERE m.release = r.number)"
            ).fetchone()[0]
        if len(known) != 1 or wrong:
            raise data_fault("PPF735", f"the ledger `{self.path}` is damaged", advice=_DAMAGED)
        if commitment is not None and known != [commitment]:
            raise data_fault("PPF735", f"the key given is not that of the ledger `{self.path}`")

    def entries(self) -> tuple[Entry, ...]:
        """Return every release, oldest first; pending ones count as released."""
        with self._open() as opened:
            rows = opened.execute(f"SELECT {_COLUMNS}, number FROM release ORDER BY number").fetchall()  # noqa: S608  # ours
        return tuple(self._entry(row) for row in rows)

    def members(self, number: int) -> Membership:
        """Return the people of a release."""
        with self._open() as opened:
            rows = opened.execute("SELECT person, class FROM member WHERE release = ? ORDER BY person", [number])
            both = np.array([(p.encode(), c.encode()) for p, c in rows], dtype="S32").reshape(-1, 2)
        return Membership(both[:, 0].copy(), both[:, 1].copy())

    def add(self, entries: Sequence[tuple[Entry, Membership | None]]) -> list[int]:
        """Write releases, all or none, and return their numbers."""
        numbers = []
        with self._open() as opened, _transaction(opened):
            for entry, members in entries:
                number = opened.execute(_INSERT, _row(entry)).lastrowid or 0
                numbers.append(number)
                if members is not None:
                    people, classes = members.subjects.tolist(), members.classes.tolist()
                    rows = ((number, p.decode(), c.decode()) for p, c in zip(people, classes, strict=True))
                    opened.executemany("INSERT INTO member VALUES (?, ?, ?)", rows)
        return numbers

    def confirm(self, numbers: Sequence[int], run: str) -> None:
        """Say of pending releases that they are out, in the run's directory of that name."""
        with self._open() as opened, _transaction(opened):
            opened.executemany(
                "UPDATE release SET state = ?, run = ? WHERE number = ?", [(RELEASED, run, n) for n in numbers]
            )

    def drop(self, numbers: Sequence[int]) -> None:
        """Take out pending releases that never were."""
        with self._open() as opened, _transaction(opened):
            for number in numbers:
                opened.execute(
                    "DELETE FROM member WHERE release IN (SELECT number FROM release WHERE number = ? AND state = ?)",
                    [number, PENDING],
                )
                opened.execute("DELETE FROM release WHERE number = ? AND state = ?", [number, PENDING])

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep all other runs away from the ledger until the end: what is compared must stay what it is."""
        with self._guarded():
            handle = os.open(self.path.with_name(f"{self.path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _entry(self, row: Sequence[Any]) -> Entry:
        try:
            columns = tuple((n, s, r, tuple(c)) for n, s, r, c in json.loads(row[11]))
        except (ValueError, TypeError):
            raise data_fault("PPF735", f"the ledger `{self.path}` is damaged", advice=_DAMAGED) from None
        told = dict(zip((*_COLUMNS.split(", "), "number"), row, strict=True))
        return Entry(**{**told, "columns": columns, "generated": bool(told["generated"])})

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        if not self.path.is_file():
            raise data_fault("PPF735", f"there is no ledger `{self.path}`")
        with self._guarded():
            uri = f"{self.path.absolute().as_uri()}?mode=rw"
            with closing(sqlite3.connect(uri, uri=True, timeout=_WAIT, isolation_level=None)) as opened:
                opened.execute("PRAGMA synchronous = EXTRA")
                opened.execute("PRAGMA foreign_keys = ON")
                yield opened

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Turn what SQLite says into errors of ours: it may quote."""
        who = f"the ledger `{self.path}`"
        try:
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE):
                raise output_fault(OSError(errno.ENOSPC, ""), who) from None
            raise run_fault(
                "PPF731", f"{who}: {_REASONS.get(error.sqlite_errorcode & 0xFF, 'cannot be used')}"
            ) from None
        except sqlite3.Error:
            raise data_fault("PPF735", f"{who} is damaged, or no ledger", advice=_DAMAGED) from None
        except OSError as error:
            raise output_fault(error, who) from None


@contextmanager
def _transaction(opened: sqlite3.Connection) -> Iterator[None]:
    opened.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        opened.execute("ROLLBACK")
        raise
    opened.execute("COMMIT")


def _row(entry: Entry) -> tuple[Any, ...]:
    return (
        entry.state,
        entry.policy,
        entry.name,
        entry.audience,
        entry.time,
        entry.plan,
        entry.folder,
        entry.run,
        entry.manifest,
        entry.file,
        entry.rows,
        json.dumps(entry.columns),
        entry.people,
        int(entry.generated),
    )


_INSERT = f"INSERT INTO release ({_COLUMNS}) VALUES ({', '.join('?' * 14)})"  # noqa: S608  # our own names
_DAMAGED = "nothing is released without a ledger that is whole: put a copy back that has every release"
_REASONS = {
    sqlite3.SQLITE_BUSY: "another program holds it",
    sqlite3.SQLITE_LOCKED: "another program holds it",
    sqlite3.SQLITE_READONLY: "it cannot be written",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
}

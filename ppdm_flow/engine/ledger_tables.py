"""The release ledger as tables, in SQL that SQLite and PostgreSQL both understand.

The people of a release are stored as packed hashes, in parts of some megabyte: neither database is quick with a million
rows, both are with thirty large ones.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ppdm_flow.core.errors import DataError
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.ledger_entry import FIELDS, PENDING, RELEASED, Entry, read, told
from ppdm_flow.engine.ledger_hashes import WIDTH, hashes_of, packed
from ppdm_flow.sdk.history import Membership

VERSION = 2
_PART = 1 << 16
"""People in one part."""
_TABLES = (
    "CREATE TABLE ledger (version INTEGER NOT NULL, key_commitment TEXT NOT NULL, last BIGINT NOT NULL)",
    """CREATE TABLE release (
        number BIGINT PRIMARY KEY, state TEXT NOT NULL, policy TEXT NOT NULL, name TEXT NOT NULL,
        audience TEXT NOT NULL, time TEXT NOT NULL, plan TEXT NOT NULL, folder TEXT NOT NULL, run TEXT NOT NULL,
        manifest TEXT NOT NULL, file TEXT NOT NULL, rows BIGINT NOT NULL, columns TEXT NOT NULL, people BIGINT,
        generated INTEGER NOT NULL, members TEXT NOT NULL)""",
    """CREATE TABLE member (
        release BIGINT NOT NULL REFERENCES release (number), part INTEGER NOT NULL,
        people {bytes} NOT NULL, classes {bytes} NOT NULL, PRIMARY KEY (release, part))""",
)
_ALL = f"SELECT {', '.join(FIELDS)} FROM release ORDER BY number"  # noqa: S608  # our own names
_INSERT = f"INSERT INTO release ({', '.join(FIELDS)}) VALUES ({', '.join(f':{n}' for n in FIELDS)})"  # noqa: S608  # the same
_PARTS = "SELECT people, classes FROM member WHERE release = :release ORDER BY part"
_WRONG = (
    "SELECT COUNT(*) FROM release r WHERE :width * COALESCE(r.people, 0) <>"
    " (SELECT COALESCE(SUM(LENGTH(m.people)), 0) FROM member m WHERE m.release = r.number)"
)


class Ask(Protocol):
    """Carries out one statement, with values for what it calls ``:name``."""

    def __call__(self, sql: str, **values: Any) -> Sequence[Sequence[Any]]:
        """Return the rows; none where the statement has none."""
        ...


class LedgerTables(ABC):
    """A ledger in a database. Methods raise DataError where it is damaged, RunError where it cannot be written."""

    name: str
    """What messages call it."""
    place: str
    """Its path, or host and database."""

    @abstractmethod
    def session(self, *, writing: bool = False) -> AbstractContextManager[Ask]:
        """Open a transaction, which is over at the end: kept if all went well, else undone."""

    @abstractmethod
    def judge(self, ask: Ask) -> None:
        """Raise DataError where it is no ledger of this version, or the database says that it is damaged."""

    def check(self, commitment: str | None = None) -> None:
        """Raise DataError where it is no whole ledger of this version, or of another key."""
        with self.session() as ask:
            self.judge(ask)
            known = [row[0] for row in ask("SELECT key_commitment FROM ledger")]
            wrong = ask(_WRONG, width=WIDTH)[0][0]
        if len(known) != 1 or wrong:
            raise self.damaged()
        if commitment is not None and known != [commitment]:
            raise data_fault("PPF735", f"the key given is not that of {self.name}")

    def entries(self) -> tuple[Entry, ...]:
        """Return every release, oldest first; pending ones count as released."""
        with self.session() as ask:
            rows = ask(_ALL)
        try:
            return tuple(read(row) for row in rows)
        except (ValueError, TypeError):
            raise self.damaged() from None

    def members(self, entry: Entry) -> Membership:
        """Return the people of a release."""
        with self.session() as ask:
            rows = ask(_PARTS, release=entry.number)
        people, classes = (b"".join(bytes(row[side]) for row in rows) for side in (0, 1))
        if _digest(people, classes) != entry.members or len(people) != WIDTH * (entry.people or 0):
            raise self.damaged()
        return Membership(hashes_of(people), hashes_of(classes))

    def add(self, entries: Sequence[tuple[Entry, Membership | None]]) -> list[int]:
        """Write releases, all or none, and return their numbers, which are never given again."""
        with self.session(writing=True) as ask:
            last = int(ask("SELECT last FROM ledger")[0][0])
            numbers = [last + i for i in range(1, len(entries) + 1)]
            ask("UPDATE ledger SET last = :last", last=last + len(entries))
            for number, (entry, members) in zip(numbers, entries, strict=True):
                _write(ask, number, entry, members)
        return numbers

    def confirm(self, numbers: Sequence[int], run: str) -> None:
        """Say of pending releases that they are out, in the run's directory of that name."""
        out = "UPDATE release SET state = :state, run = :run WHERE number = :number"
        with self.session(writing=True) as ask:
            for number in numbers:
                ask(out, state=RELEASED, run=run, number=number)

    def drop(self, numbers: Sequence[int]) -> None:
        """Take out pending releases that never were."""
        pending = "SELECT number FROM release WHERE number = :number AND state = :state"
        with self.session(writing=True) as ask:
            for number in numbers:
                if ask(pending, number=number, state=PENDING):
                    ask("DELETE FROM member WHERE release = :number", number=number)
                    ask("DELETE FROM release WHERE number = :number", number=number)

    def damaged(self) -> DataError:
        """Return the error for a ledger that is not whole."""
        return data_fault("PPF735", f"{self.name} is damaged, or no ledger", advice=_WHOLE)


def make_tables(ask: Ask, commitment: str, kind: str) -> None:
    """Make the tables of a ledger; ``kind`` is the type of bytes."""
    for statement in _TABLES:
        ask(statement.format(bytes=kind))
    ask("INSERT INTO ledger VALUES (:version, :key, 0)", version=VERSION, key=commitment)


def _write(ask: Ask, number: int, entry: Entry, members: Membership | None) -> None:
    people, classes = (b"", b"") if members is None else (packed(members.subjects), packed(members.classes))
    digest = "" if members is None else _digest(people, classes)
    ask(_INSERT, **{**told(entry), "number": number, "members": digest})
    for part, (some, theirs) in enumerate(zip(_cut(people), _cut(classes), strict=True)):
        row = {"release": number, "part": part, "people": some, "classes": theirs}
        ask("INSERT INTO member VALUES (:release, :part, :people, :classes)", **row)


def _cut(packed_hashes: bytes) -> Iterator[bytes]:
    size = _PART * WIDTH
    return (packed_hashes[start : start + size] for start in range(0, len(packed_hashes), size))


def _digest(people: bytes, classes: bytes) -> str:
    found = hashlib.sha256(people)
    found.update(classes)
    return found.hexdigest()


_WHOLE = "nothing is released without a ledger that is whole: put a copy back that has every release"

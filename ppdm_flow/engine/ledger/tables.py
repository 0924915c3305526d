"""The release ledger as tables, in SQL that SQLite and PostgreSQL both understand.

The people of a release are stored as packed hashes, in parts of some megabyte: neither database is quick with a million
rows, both are with thirty large ones.
"""

from __future__ import annotations

import hashlib
import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from ppdm_flow.core.errors import DataError
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.ledger.fields import DROPPED, ERASED, PENDING, RELEASED
from ppdm_flow.engine.ledger.key import (
    ERASURE,
    FIELDS,
    WIDTH,
    ChainEvent,
    Erasure,
    LedgerKey,
    LedgerRecord,
    StoredChain,
    begin,
    fault,
    from_row,
    hashes_of,
    link,
    numbers_of,
    packed,
    ranked,
    required,
    seal,
    states,
    to_columns,
)
from ppdm_flow.reader.earlier import unpacked
from ppdm_flow.sdk.history import Hashes, Membership

VERSION, READABLE = 5, (3, 4, 5)
"""What new ledgers are, and what can be read: one of version 3 has no cells, and one of 4 no erasures. They become ones
of 5 when written to."""
_ERASING = 5
"""The first version with erasures."""
_PART = 1 << 16
"""People in one part."""
_CELLS = 1 << 22
"""Bytes in one part of a file's cells."""
_TABLES = (
    """CREATE TABLE ledger (
        version INTEGER NOT NULL, key_commitment TEXT NOT NULL, last BIGINT NOT NULL, seal TEXT NOT NULL)""",
    """CREATE TABLE release (
        number BIGINT PRIMARY KEY, policy TEXT NOT NULL, name TEXT NOT NULL, audience TEXT NOT NULL,
        time TEXT NOT NULL, plan TEXT NOT NULL, folder TEXT NOT NULL, run TEXT NOT NULL, manifest TEXT NOT NULL,
        file TEXT NOT NULL, rows BIGINT NOT NULL, columns TEXT NOT NULL, people BIGINT, generated INTEGER NOT NULL,
        members TEXT NOT NULL, ids TEXT NOT NULL)""",
    """CREATE TABLE event (
        position BIGINT PRIMARY KEY, release BIGINT NOT NULL REFERENCES release (number), state TEXT NOT NULL,
        chain TEXT NOT NULL)""",
    """CREATE TABLE member (
        release BIGINT NOT NULL REFERENCES release (number), part INTEGER NOT NULL,
        people {bytes} NOT NULL, classes {bytes} NOT NULL, PRIMARY KEY (release, part))""",
    """CREATE TABLE IF NOT EXISTS cell (
        release BIGINT NOT NULL REFERENCES release (number), part INTEGER NOT NULL, cells {bytes} NOT NULL,
        PRIMARY KEY (release, part))""",
    """CREATE TABLE IF NOT EXISTS erasure (
        position BIGINT PRIMARY KEY, time TEXT NOT NULL, people TEXT NOT NULL, members TEXT NOT NULL)""",
)
_NAMES = ", ".join(FIELDS)
_ALL = f"SELECT {_NAMES} FROM release ORDER BY number"  # noqa: S608  # our own names
_ONE = f"SELECT {_NAMES} FROM release WHERE number = :number"  # noqa: S608  # the same
_INSERT = f"INSERT INTO release ({_NAMES}) VALUES ({', '.join(f':{n}' for n in FIELDS)})"  # noqa: S608  # the same
_EVENTS = "SELECT position, release, state, chain FROM event ORDER BY position"
_PARTS = "SELECT people, classes FROM member WHERE release = :release ORDER BY part"
_FILE = "SELECT cells FROM cell WHERE release = :release ORDER BY part"
_ERASURES = f"SELECT position, {', '.join(ERASURE)} FROM erasure"  # noqa: S608  # the same
_NUMBER = FIELDS.index("number")
_SIZES = "SELECT release, SUM(LENGTH(people)) FROM member GROUP BY release"


class ExecuteStatement(Protocol):
    """Executes one SQL statement with values for its ``:name`` parameters."""

    def __call__(self, sql: str, **values: Any) -> Sequence[Sequence[Any]]:
        """Return the result rows; empty for a statement without a result."""
        ...


class LedgerStore(ABC):
    """A ledger in a database. Methods raise DataError where it is damaged, RunError where it cannot be written."""

    name: str
    """What messages call it."""
    place: str
    """Its path, or host and database."""
    key: LedgerKey | None = None
    """Without it nothing can be written, and hashes of the chain are not compared."""

    @abstractmethod
    def exists(self) -> bool:
        """Whether there is a ledger, whole or not."""

    @abstractmethod
    def create(self) -> None:
        """Make an empty one, to be used with this key."""

    @abstractmethod
    def locked(self) -> AbstractContextManager[None]:
        """Keep all other runs away, so that nothing that is read within changes until :meth:`add` has written."""

    @abstractmethod
    def session(self, *, writing: bool = False) -> AbstractContextManager[ExecuteStatement]:
        """Open a transaction, which is over at the end: kept if all went well, else undone."""

    @abstractmethod
    def judge(self, ask: ExecuteStatement) -> None:
        """Raise DataError where it is no ledger of this version, or the database says that it is damaged."""

    @abstractmethod
    def upgrade(self, ask: ExecuteStatement) -> None:
        """Make a ledger of an earlier version one of this."""

    def check(self) -> None:
        """Raise DataError where it is no whole ledger of this version, was changed, or has another key."""
        with self.session() as ask:
            self.judge(ask)
            known = [row[0] for row in ask("SELECT key_commitment FROM ledger")]
            if len(known) != 1:
                raise self.damaged()
            if self.key is not None and known != [self.key.commitment]:
                raise data_fault("PPF735", f"the key given is not that of {self.name}")
            stored, sizes = _stored(ask), {int(row[0]): int(row[1]) for row in ask(_SIZES)}
        self._require_intact(stored)
        for entry in self._read(stored, with_dropped=True):
            people = 0 if entry.state == DROPPED else entry.people or 0
            if sizes.pop(entry.number, 0) != WIDTH * people:
                raise self._changed(_PEOPLE.format(entry.number))
        if sizes:
            raise self._changed(_PEOPLE.format(min(sizes)))

    def entries(self) -> tuple[LedgerRecord, ...]:
        """Return every release, oldest first; pending ones count as released."""
        with self.session() as ask:
            stored = _stored(ask)
        return self._read(stored)

    def heads(self) -> tuple[str, ...]:
        """Return the hash of each entry of the chain, oldest first."""
        with self.session() as ask:
            return tuple(str(row[3]) for row in ask(_EVENTS))

    def last(self) -> int:
        """Return the last number that was given to a release."""
        with self.session() as ask:
            return int(ask("SELECT last FROM ledger")[0][0])

    def _read(self, stored: StoredChain, *, with_dropped: bool = False) -> tuple[LedgerRecord, ...]:
        now = states(stored.events)
        try:
            entries = [from_row(row, now.get(number, PENDING)) for number, row in stored.rows.items()]
            members = {each.release: each.members for each in stored.erased}
        except (ValueError, TypeError, KeyError):
            raise self.damaged() from None
        entries = [replace(e, members=members.get(e.number, e.members)) for e in entries]
        return tuple(e for e in entries if with_dropped or e.state != DROPPED)

    def members(self, entry: LedgerRecord) -> Membership:
        """Return the people of a release."""
        with self.session() as ask:
            return self._members(ask, entry)

    def _members(self, ask: ExecuteStatement, entry: LedgerRecord) -> Membership:
        rows = ask(_PARTS, release=entry.number)
        people, classes = (b"".join(bytes(row[side]) for row in rows) for side in (0, 1))
        if _digest(people, classes) != entry.members.split(_AND)[0] or len(people) != WIDTH * (entry.people or 0):
            raise self._changed(_PEOPLE.format(entry.number))
        return Membership(hashes_of(people), hashes_of(classes))

    def packed_file(self, entry: LedgerRecord) -> bytes:
        """Return the cells of a release; nothing where none were kept."""
        with self.session() as ask:
            return self._packed_file(ask, entry)

    def _packed_file(self, ask: ExecuteStatement, entry: LedgerRecord) -> bytes:
        _, _, digest = entry.members.partition(_AND)
        if not digest:
            return b""
        packed_file = b"".join(bytes(part) for (part,) in ask(_FILE, release=entry.number))
        if hashlib.sha256(packed_file).hexdigest() != digest:
            raise self._changed(f"the cells of release no. {entry.number}")
        return packed_file

    def add(self, entries: Sequence[tuple[LedgerRecord, Membership | None]]) -> list[int]:
        """Write releases, all or none, and return their numbers, which are never given again."""
        with self._appending() as end:
            return [end.release(entry, members) for entry, members in entries]

    def confirm(self, numbers: Sequence[int]) -> None:
        """Say of pending releases that they are out."""
        with self._appending() as end:
            for number in numbers:
                end.settle(number, RELEASED)

    def drop(self, numbers: Sequence[int]) -> None:
        """Say of pending releases that they never were, and forget their people."""
        with self._appending() as end:
            for number in numbers:
                if end.settle(number, DROPPED):
                    _forget(end.ask, number)

    def erasures(self) -> tuple[Erasure, ...]:
        """Return whom the ledger has forgotten, oldest first."""
        with self.session() as ask:
            return tuple(_stored(ask).erased)

    def erase(self, people: Mapping[str, Hashes], time: str) -> tuple[Erasure, ...]:
        """Put strangers in the place of people, in all releases that are about them; return the new erasures.

        ``people`` are their hashes (people,), by the differences in spelling that releases ignore. What a stranger's
        cells show is kept for the people who share a crowd with the stranger. The source values behind these cells are
        not kept.
        """
        strangers = hashes_of(secrets.token_bytes(WIDTH * len(next(iter(people.values()), ()))))
        erased: list[Erasure] = []
        with self._appending() as end:
            for entry in self._read(_stored(end.ask)):
                known = people.get(entry.ids)
                if known is None or entry.people is None:
                    continue
                members, file = self._members(end.ask, entry), self._packed_file(end.ask, entry)
                kept = unpacked("", file) if file else None
                here = np.isin(known, members.subjects)
                if kept is not None:
                    here |= np.isin(numbers_of(known), kept.people)
                if here.any():
                    less = _with_strangers(members, known, strangers)
                    both = numbers_of(known), numbers_of(strangers)
                    packed_file = b"" if kept is None else kept.with_strangers(*both).packed()
                    _forget(end.ask, entry.number)
                    digest = _write_people(end.ask, entry.number, replace(less, packed_file=packed_file))
                    erased.append(Erasure(entry.number, time, tuple(known[here].astype(str).tolist()), digest))
                    end.erase(erased[-1])
        return tuple(erased)

    @contextmanager
    def _appending(self) -> Iterator[_ChainEnd]:
        """Open the end of the chain. Raises DataError where entries were taken out there."""
        key = required(self.key)
        with self.session(writing=True) as ask:
            self.upgrade(ask)
            stored = _stored(ask)
            self._require_intact(stored)
            end = _ChainEnd(ask, key, stored)
            yield end
            end.close()

    def _require_intact(self, stored: StoredChain) -> None:
        broken = fault(stored, self.key)
        if broken is not None:
            raise self._changed(broken)

    def _changed(self, what: str) -> DataError:
        return data_fault("PPF912", f"{self.name} was changed by something else: {what}", advice=_WHOLE)

    def damaged(self) -> DataError:
        """Return the error for a ledger that is not whole."""
        return data_fault("PPF735", f"{self.name} is damaged, or no ledger", advice=_WHOLE)


class _ChainEnd:
    """The end of the chain while a transaction adds to it."""

    def __init__(self, ask: ExecuteStatement, key: LedgerKey, stored: StoredChain) -> None:
        self.ask = ask
        self._key = key
        self._last = stored.last
        self._position = len(stored.events)
        self._chain = stored.events[-1].chain if stored.events else begin(key)
        self._states = states(stored.events)

    def release(self, entry: LedgerRecord, members: Membership | None) -> int:
        """Write one release down as pending, and return its number."""
        self._last += 1
        _write(self.ask, self._last, entry, members)
        self._append(self._last, PENDING, self.ask(_ONE, number=self._last)[0])
        return self._last

    def settle(self, number: int, state: str) -> bool:
        """Say what became of a pending release; False where it is not pending, or no more."""
        if self._states.get(number) != PENDING:
            return False
        self._append(number, state, None)
        return True

    def erase(self, erasure: Erasure) -> None:
        """Say that people were erased from a release."""
        self._append(erasure.release, ERASED, erasure.row)
        words = {"position": self._position, **dict(zip(ERASURE, erasure.row, strict=True))}
        self.ask("INSERT INTO erasure VALUES (:position, :time, :people, :members)", **words)

    def close(self) -> None:
        """Seal the end."""
        sealed = seal(self._key, self._last, self._position, self._chain)
        self.ask("UPDATE ledger SET last = :last, seal = :seal", last=self._last, seal=sealed)

    def _append(self, number: int, state: str, row: Sequence[Any] | None) -> None:
        self._position += 1
        self._chain = link(self._key, self._chain, self._position, number, state, row)
        if state != ERASED:
            self._states[number] = state
        words = {"position": self._position, "number": number, "state": state, "chain": self._chain}
        self.ask("INSERT INTO event VALUES (:position, :number, :state, :chain)", **words)


def add_tables(ask: ExecuteStatement, kind: str) -> None:
    """Make the tables that a ledger of an earlier version lacks: those of cells and of erasures."""
    for statement in _TABLES[-2:]:
        ask(statement.format(bytes=kind))
    ask("UPDATE ledger SET version = :version", version=VERSION)


def make_tables(ask: ExecuteStatement, key: LedgerKey, kind: str) -> None:
    """Make the tables of a ledger; ``kind`` is the type of bytes."""
    for statement in _TABLES:
        ask(statement.format(bytes=kind))
    sealed = seal(key, 0, 0, begin(key))
    ask("INSERT INTO ledger VALUES (:version, :key, 0, :seal)", version=VERSION, key=key.commitment, seal=sealed)


def _stored(ask: ExecuteStatement) -> StoredChain:
    """Return all but the people. What is no number, where there should be one, is no entry of ours either."""
    ends = ask("SELECT last, seal, version FROM ledger")
    last, sealed, version = ends[0] if len(ends) == 1 and isinstance(ends[0][0], int) else (-1, "", 0)
    erasures = {row[0]: tuple(row[1:]) for row in ask(_ERASURES)} if version >= _ERASING else {}
    rows = {row[_NUMBER]: tuple(row) for row in ask(_ALL)}
    return StoredChain(last, str(sealed), tuple(ChainEvent(*row) for row in ask(_EVENTS)), rows, erasures)


def _write(ask: ExecuteStatement, number: int, entry: LedgerRecord, members: Membership | None) -> None:
    ask(_INSERT, **{**to_columns(entry), "number": number, "members": "" if members is None else _digest_of(members)})
    if members is not None:
        _write_people(ask, number, members)


def _with_strangers(members: Membership, people: Hashes, strangers: Hashes) -> Membership:
    """Return who is in which class with ``strangers`` (people,) in the place of ``people``, in the order of hashes."""
    subjects = members.subjects.copy()
    for person, stranger in zip(people, strangers, strict=True):
        subjects[subjects == person] = stranger
    order = ranked(subjects)
    return Membership(subjects[order], members.classes[order])


def _forget(ask: ExecuteStatement, number: int) -> None:
    """Take the people and cells of a release out."""
    ask("DELETE FROM member WHERE release = :number", number=number)
    ask("DELETE FROM cell WHERE release = :number", number=number)


def _write_people(ask: ExecuteStatement, number: int, members: Membership) -> str:
    """Write the people and cells of a release, and return their digest."""
    people, classes, packed_file = packed(members.subjects), packed(members.classes), members.packed_file
    for part, (some, theirs) in enumerate(zip(_cut(people), _cut(classes), strict=True)):
        row = {"release": number, "part": part, "people": some, "classes": theirs}
        ask("INSERT INTO member VALUES (:release, :part, :people, :classes)", **row)
    for part, start in enumerate(range(0, len(packed_file), _CELLS)):
        some = packed_file[start : start + _CELLS]
        ask("INSERT INTO cell VALUES (:release, :part, :cells)", release=number, part=part, cells=some)
    return _digest_of(members)


def _digest_of(members: Membership) -> str:
    digest = _digest(packed(members.subjects), packed(members.classes))
    return digest + (_AND + hashlib.sha256(members.packed_file).hexdigest() if members.packed_file else "")


def _cut(packed_hashes: bytes) -> Iterator[bytes]:
    size = _PART * WIDTH
    return (packed_hashes[start : start + size] for start in range(0, len(packed_hashes), size))


def _digest(people: bytes, classes: bytes) -> str:
    sha256 = hashlib.sha256(people)
    sha256.update(classes)
    return sha256.hexdigest()


_AND = "+"
"""Stands between the digest of the people of a release and that of its cells."""
_PEOPLE = "the people of release no. {}"
_WHOLE = "nothing is released without a ledger that is whole: put a copy back that has every release"

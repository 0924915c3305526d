"""Earlier versions of policies: an overwritten or removed policy can be restored for a time, with or without Git."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from sqlite3 import Row

from ppdm_flow.engine.machine import utc_now
from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.storage.database import PageDatabase

SCHEMA = (
    (
        "CREATE TABLE IF NOT EXISTS policy_versions (number INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL,"
        " account TEXT, name TEXT NOT NULL, deed TEXT NOT NULL, digest TEXT NOT NULL, text TEXT NOT NULL)"
    ),
    "CREATE INDEX IF NOT EXISTS policy_versions_of ON policy_versions (name, number)",
)
FOUND, WROTE, REMOVED = "found", "wrote", "removed"
"""Deeds: what was there before the page changed it, what the page wrote, what it took away."""
MANY = 200
"""Versions of a list: of more, the older ones are on further pages."""


@dataclass(frozen=True, slots=True)
class ListedVersion:
    """A version of a file. ``account`` is who wrote or removed it; None for one that was found."""

    number: int
    at: datetime
    account: str | None
    name: str
    deed: str
    digest: str


@dataclass(frozen=True, slots=True)
class Version(ListedVersion):
    """A version with its text."""

    text: str


_LISTED = "number, at, account, name, deed, digest"
"""What lists have of a version: a page does not hold the texts of all."""
_NEWEST = "SELECT MAX(number) FROM policy_versions GROUP BY name"
_LARGEST = 2**62
_MOST = 20_000_000
"""Bytes of the versions of one file that one person wrote: their older ones go, but never the newest."""
_MOST_OF_PERSON = 50_000_000
"""Bytes of the versions that one person wrote or removed: more are refused, for none of them may go before."""
_EACH = 500
"""Bytes that a version takes beside its text: one of an empty file is none the less a row."""
_BYTES = "LENGTH(CAST(text AS BLOB))"
"""The bytes of a text; of a text alone SQLite counts the characters in front of the first U+0000."""


class FileHistory:
    """The versions of all files, kept for ``days``; the newest of each file stays as long as the file.

    On the disk with the ``database`` so many bytes stay free: everybody's sessions are written there.
    """

    def __init__(
        self, database: PageDatabase, days: int, now: Callable[[], datetime] = utc_now, *, free_bytes: int = 0
    ) -> None:
        self._database, self._days, self._now, self._free_bytes = database, days, now, free_bytes

    def written_by(self, user: User) -> frozenset[str]:
        """Return the names of the files whose newest version somebody wrote, be they there or not."""
        query = f"SELECT name FROM policy_versions WHERE account = ? AND deed = ? AND number IN ({_NEWEST})"  # noqa: S608  # our own words
        return frozenset(row["name"] for row in self._database.rows(query, user.name, WROTE))

    def in_turns(self, names: Sequence[str]) -> list[str]:
        """Return files in an order in which those that one person wrote last take turns with those of others."""
        query = f"SELECT name, account FROM policy_versions WHERE deed = ? AND number IN ({_NEWEST})"  # noqa: S608  # our own words
        writers = {row["name"]: row["account"] for row in self._database.rows(query, WROTE)}
        turns = Counter[str | None]()
        turn_of = dict[str, int]()
        for name in names:
            turn_of[name] = turns[writers.get(name)]
            turns[writers.get(name)] += 1
        return sorted(names, key=turn_of.__getitem__)

    def check_room(self, user: User, text: str) -> None:
        """Raise RefusalError where there is no room for what a change of a file with this text keeps."""
        more = 2 * (len(text.encode(errors="replace")) + _EACH)  # as it was and as it is
        query = f"SELECT SUM({_BYTES} + ?) AS kept FROM policy_versions WHERE account = ?"  # noqa: S608  # our own words
        row = self._database.row(query, _EACH, user.name)
        if ((row["kept"] if row is not None else None) or 0) + more > _MOST_OF_PERSON:
            raise RefusalError("policies.many_versions", 429, days=self._days)
        if self._database.free_bytes - 4 * more < self._free_bytes:
            raise RefusalError("policies.no_room", 429)

    def keep(self, name: str, deed: str, digest: str, text: str, user: User | None) -> None:
        """Keep a version, unless the newest of the file has the same text and was not removed."""
        now = self._now()
        with self._database.changing() as connection:
            query = "SELECT * FROM policy_versions WHERE name = ? ORDER BY number DESC LIMIT 1"
            last = connection.execute(query, (name,)).fetchone()
            if deed == FOUND and last is not None and last["digest"] == digest and last["deed"] != REMOVED:
                return
            account = None if user is None else user.name
            connection.execute(
                "INSERT INTO policy_versions (at, account, name, deed, digest, text) VALUES (?, ?, ?, ?, ?, ?)",
                (now.isoformat(), account, name, deed, digest, text),
            )
            connection.execute(
                f"DELETE FROM policy_versions WHERE at < ? AND (deed = ? OR number NOT IN ({_NEWEST}))",  # noqa: S608  # our own words
                ((now - timedelta(days=self._days)).isoformat(), REMOVED),
            )
            connection.execute(
                f"DELETE FROM policy_versions WHERE number IN (SELECT number FROM (SELECT number, SUM({_BYTES}) OVER"  # noqa: S608
                " (PARTITION BY account ORDER BY number DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS newer"
                " FROM policy_versions WHERE name = ?) WHERE newer > ?)",
                (name, _MOST),
            )

    def of(self, name: str, before: int = _LARGEST) -> list[ListedVersion]:
        """Return the versions of a file, newest first: as many as a page lists and one more, of those before a number.

        What others write takes none of them off the list.
        """
        query = f"SELECT {_LISTED} FROM policy_versions WHERE name = ? AND number < ? ORDER BY number DESC LIMIT ?"  # noqa: S608  # our own words
        return [_listed(row) for row in self._database.rows(query, name, before, MANY + 1)]

    def wrote(self, name: str, digest: str) -> bool:
        """Whether the page wrote a file as it is: its newest version, which stays as long as the file, says so.

        The page writes tables as hierarchies alone, so that this is the mark of one.
        """
        query = "SELECT deed, digest FROM policy_versions WHERE name = ? ORDER BY number DESC LIMIT 1"
        row = self._database.row(query, name)
        return row is not None and (row["deed"], row["digest"]) == (WROTE, digest)

    def version(self, number: int) -> Version | None:
        """Return one version; None where there is none of this number."""
        row = self._database.row("SELECT * FROM policy_versions WHERE number = ?", number)
        return None if row is None else Version(*_about(row), row["text"])

    def removed(self, before: int = _LARGEST) -> list[ListedVersion]:
        """Return the last versions of files that the page removed, newest first: as many of them as ``of``."""
        query = (
            f"SELECT {_LISTED} FROM policy_versions WHERE deed = ? AND number < ? AND number IN ({_NEWEST})"  # noqa: S608  # our own words
            " ORDER BY number DESC LIMIT ?"
        )
        return [_listed(row) for row in self._database.rows(query, REMOVED, before, MANY + 1)]

    def many_removed(self) -> int:
        """Return how many files the page removed that can be had back."""
        query = f"SELECT COUNT(*) AS many FROM policy_versions WHERE deed = ? AND number IN ({_NEWEST})"  # noqa: S608  # our own words
        row = self._database.row(query, REMOVED)
        return 0 if row is None else int(row["many"])

    def removed_version(self, number: int) -> Version | None:
        """Return the last version of a file that the page removed; None where this number is of none."""
        query = f"SELECT * FROM policy_versions WHERE number = ? AND deed = ? AND number IN ({_NEWEST})"  # noqa: S608  # our own words
        row = self._database.row(query, number, REMOVED)
        return None if row is None else Version(*_about(row), row["text"])


def _listed(row: Row) -> ListedVersion:
    return ListedVersion(*_about(row))


def _about(row: Row) -> tuple[int, datetime, str | None, str, str, str]:
    at = datetime.fromisoformat(row["at"])
    return row["number"], at, row["account"], row["name"], row["deed"], row["digest"]

"""Failed attempts to sign in, by name, by address, by browser: each further one has to wait longer."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from sqlite3 import Connection

from ppdm_flow.page.services.storage.database import PageDatabase

SCHEMA = (
    (
        "CREATE TABLE IF NOT EXISTS attempts (what TEXT PRIMARY KEY, failures INTEGER NOT NULL, last REAL NOT NULL,"
        " until REAL NOT NULL)"
    ),
    "CREATE INDEX IF NOT EXISTS attempts_by_time ON attempts (last)",
)
FORGOTTEN = 24 * 60 * 60.0
"""Seconds after the last failure until none counts any more."""


@dataclass(frozen=True, slots=True)
class _Limit:
    free: int
    longest: float


class AttemptKind(Enum):
    """What attempts are counted for: how many may fail at once, and the longest that the next one has to wait."""

    NAME = _Limit(5, 15 * 60.0)
    ADDRESS = _Limit(30, 60.0)
    BROWSER = _Limit(10, 5 * 60.0)


@dataclass(frozen=True, slots=True)
class CountedSubject:
    """One name, address or browser. What is kept of it is a hash: people type passwords where names belong."""

    kind: AttemptKind
    text: str

    @property
    def kept(self) -> str:
        """What stands in the table."""
        return hashlib.sha256(f"{self.kind.name} {self.text}".encode()).hexdigest()


@lru_cache(maxsize=4_096)
def network(address: str) -> str:
    """Return what is counted of an address: all of IPv4, the 64 bits of IPv6 that a provider gives one customer."""
    try:
        known = ip_address(address)
    except ValueError:
        return address
    if isinstance(known, IPv6Address):
        return str(known.ipv4_mapped) if known.ipv4_mapped else f"{int(known) >> 64:x}/64"
    return str(known)


@lru_cache(maxsize=4_096)
def neighbourhood(address: str) -> str:
    """Return the block that one customer may have of addresses: 48 bits of IPv6, 24 of IPv4."""
    own = network(address)
    if own.endswith("/64"):
        return f"{int(own.removesuffix('/64'), 16) >> 16:x}/48"
    return own.rpartition(".")[0] or own


class Attempts:
    """How often somebody tried, and how long the next attempt has to wait."""

    def __init__(self, database: PageDatabase, now: Callable[[], float] = time.time) -> None:
        self._database, self._now = database, now

    def begin(self, *counted: CountedSubject) -> float:
        """Count an attempt as failed before anything is compared: many at once are as many failures.

        Returns 0, or the seconds to wait; then nothing may be compared, and nothing was counted.
        """
        now = self._now()
        with self._database.changing() as connection:
            connection.execute("DELETE FROM attempts WHERE last < ?", (now - FORGOTTEN,))
            failures = {each: _failures(connection, each, now) for each in counted}
            wait = max((until - now for _, until in failures.values()), default=0.0)
            if wait > 0:
                return wait
            for each, (before, _) in failures.items():
                _keep(connection, each, before + 1, now)
        return 0.0

    def succeeded(self, *counted: CountedSubject) -> None:
        """Take back what ``begin`` counted; a name and a browser start anew, an address does not.

        Else somebody with an account of their own could guess those of others in between.
        """
        with self._database.changing() as connection:
            for each in counted:
                if each.kind is AttemptKind.ADDRESS:
                    connection.execute(
                        "UPDATE attempts SET failures = max(failures - 1, 0), until = 0 WHERE what = ?", (each.kept,)
                    )
                else:
                    connection.execute("DELETE FROM attempts WHERE what = ?", (each.kept,))


def _failures(connection: Connection, each: CountedSubject, now: float) -> tuple[int, float]:
    row = connection.execute("SELECT * FROM attempts WHERE what = ?", (each.kept,)).fetchone()
    return (0, now) if row is None else (row["failures"], row["until"])


def _keep(connection: Connection, each: CountedSubject, failures: int, now: float) -> None:
    limit = each.kind.value
    beyond = failures - limit.free
    wait = min(2.0 ** min(beyond, 30), limit.longest) if beyond >= 0 else 0.0
    connection.execute("INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?)", (each.kept, failures, now, now + wait))

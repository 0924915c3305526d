"""An append-only list of actions, each with the hash of the one before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from ppdm_flow.engine.machine import utc_now
from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.storage.database import Database

SCHEMA = (
    (
        "CREATE TABLE IF NOT EXISTS journal (number INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, account TEXT,"
        " action TEXT NOT NULL, subject TEXT NOT NULL, outcome TEXT NOT NULL, chain TEXT NOT NULL)"
    ),
    (
        "CREATE TRIGGER IF NOT EXISTS journal_stays BEFORE UPDATE ON journal"
        " BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END"
    ),
    (
        "CREATE TRIGGER IF NOT EXISTS journal_keeps BEFORE DELETE ON journal"
        " BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END"
    ),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One action.

    ``subject`` is a policy, a run, an account or nothing; ``outcome`` is ``done``, ``refused`` or ``failed``.
    """

    number: int
    at: datetime
    account: str | None
    action: str
    subject: str
    outcome: str


class Journal:
    """All actions of a server."""

    def __init__(self, database: Database, now: Callable[[], datetime] = utc_now) -> None:
        self._database, self._now = database, now

    def add(self, user: User | None, action: str, subject: str, outcome: str) -> None:
        """Write one action down. ``subject`` is a name that people gave, never a value of data."""
        at = self._now().astimezone(UTC).isoformat(timespec="seconds")
        account = None if user is None else user.name
        with self._database.changing() as connection:
            last = connection.execute("SELECT chain FROM journal ORDER BY number DESC LIMIT 1").fetchone()
            chain = _chain("" if last is None else last["chain"], at, account, action, subject, outcome)
            connection.execute(
                "INSERT INTO journal (at, account, action, subject, outcome, chain) VALUES (?, ?, ?, ?, ?, ?)",
                (at, account, action, subject, outcome, chain),
            )

    def newest(self, many: int, before: int | None = None) -> list[Entry]:
        """Return the newest entries, newest first; with ``before``, those of smaller numbers."""
        rows = self._database.rows(
            "SELECT * FROM journal WHERE ? IS NULL OR number < ? ORDER BY number DESC LIMIT ?", before, before, many
        )
        return [
            Entry(r["number"], datetime.fromisoformat(r["at"]), r["account"], r["action"], r["subject"], r["outcome"])
            for r in rows
        ]

    def is_whole(self) -> bool:
        """Whether no entry was changed, taken out or put in between since it was written."""
        chain = ""
        for number, r in enumerate(self._database.rows("SELECT * FROM journal ORDER BY number"), 1):
            chain = _chain(chain, r["at"], r["account"], r["action"], r["subject"], r["outcome"])
            if r["chain"] != chain or r["number"] != number:
                return False
        return True


def _chain(before: str, *fields: str | None) -> str:
    return hashlib.sha256(json.dumps([before, *fields]).encode()).hexdigest()

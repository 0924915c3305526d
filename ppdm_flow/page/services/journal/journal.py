"""An append-only list of actions, each with the hash of the one before."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from sqlite3 import Connection, Row

from ppdm_flow.core.records import dataclass
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.storage.database import Database

SCHEMA = (
    (
        "CREATE TABLE IF NOT EXISTS journal (number INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, account TEXT,"
        " action TEXT NOT NULL, subject TEXT NOT NULL, outcome TEXT NOT NULL, chain TEXT NOT NULL)"
    ),
    (
        "CREATE TABLE IF NOT EXISTS begun (id INTEGER PRIMARY KEY, at TEXT NOT NULL, account TEXT,"
        " action TEXT NOT NULL, subject TEXT NOT NULL)"
    ),
    "CREATE INDEX IF NOT EXISTS journal_by_account ON journal (account, number)",
    "CREATE INDEX IF NOT EXISTS journal_by_action ON journal (action, number)",
    (
        "CREATE TRIGGER IF NOT EXISTS journal_stays BEFORE UPDATE ON journal"
        " BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END"
    ),
    (
        "CREATE TRIGGER IF NOT EXISTS journal_keeps BEFORE DELETE ON journal"
        " BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END"
    ),
)
REFUSALS_A_MINUTE = 60
"""Refused requests of strangers written down a minute; the next says that there are more."""
MORE = "journal.more"
RENEW = "accounts.renew"
_RENEWALS = (RENEW, "accounts.open", "accounts.link_identity")
_RENEWALS_SHOWN = timedelta(days=30)
_MOST_RENEWALS = 10
_SUBJECT = 200
_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One action.

    ``subject`` is a policy, a run, an account or nothing; ``outcome`` is ``done``, ``refused``, ``failed``
    or ``interrupted``: the server ended meanwhile, and it may be done or not.
    """

    number: int
    at: datetime
    account: str | None
    action: str
    subject: str
    outcome: str
    chain: str = ""


class Journal:
    """All actions of a server."""

    def __init__(self, database: Database, now: Callable[[], datetime] = utc_now) -> None:
        self._database, self._now = database, now
        self._lock = threading.Lock()
        self._minute, self._refusals = "", 0

    def begin(self, user: User | None, action: str, subject: str) -> int:
        """Write down that an action begins, so that it is known of if the server ends meanwhile; return its number."""
        account = None if user is None else user.name
        with self._database.changing() as connection:
            cursor = connection.execute(
                "INSERT INTO begun (at, account, action, subject) VALUES (?, ?, ?, ?)",
                (self._time(), account, action, subject[:_SUBJECT]),
            )
        return int(cursor.lastrowid or 0)

    def add(self, user: User | None, action: str, subject: str, outcome: str, begun: int | None = None) -> None:
        """Write one action down, whose beginning may be ``begun``. ``subject`` is never a value of data.

        What is refused to people who are not signed in could fill the disk: of that, so many entries a minute are kept.
        """
        at = self._time()
        refusals = self._counted(at[:16]) if user is None and outcome == "refused" else 0
        if refusals > REFUSALS_A_MINUTE:
            action, subject = MORE, ""
        with self._database.changing() as connection:
            connection.execute("DELETE FROM begun WHERE id = ?", (begun,))
            if refusals <= REFUSALS_A_MINUTE + 1:
                _append(connection, at, None if user is None else user.name, action, subject[:_SUBJECT], outcome)

    def recover(self) -> None:
        """Write down what had begun when the last server ended, with the time at which it began."""
        with self._database.changing() as connection:
            for row in connection.execute("SELECT * FROM begun ORDER BY id").fetchall():
                _append(connection, row["at"], row["account"], row["action"], row["subject"], "interrupted")
            connection.execute("DELETE FROM begun")

    def newest(self, many: int, before: int | None = None, *, account: str = "", action: str = "") -> list[Entry]:
        """Return the newest entries, newest first; with ``before``, those of smaller numbers.

        ``account`` and ``action`` leave only the entries that have them.
        """
        wanted = [("number < ?", before), ("account = ?", account), ("action = ?", action)]
        conditions, values = zip(*[(c, v) for c, v in [("number > ?", 0), *wanted] if v not in (None, "")], strict=True)
        rows = self._database.rows(
            f"SELECT * FROM journal WHERE {' AND '.join(conditions)} ORDER BY number DESC LIMIT ?",  # noqa: S608
            *values,
            many,
        )
        return [_entry(row) for row in rows]

    def every(self, *, account: str = "", action: str = "") -> Iterator[Entry]:
        """Give all entries, newest first, so many at a time."""
        before: int | None = None
        while entries := self.newest(_AT_ONCE, before, account=account, action=action):
            yield from entries
            before = entries[-1].number

    def renewals(self, user: User) -> list[Entry]:
        """Return that links of somebody's account were renewed and used in the last days, newest first.

        People who were only invited get nothing: they know of the link.
        """
        query = (
            f"SELECT * FROM journal WHERE action IN ({', '.join('?' * len(_RENEWALS))}) AND subject = ?"  # noqa: S608
            " AND outcome = 'done' AND at > ? ORDER BY number DESC LIMIT ?"
        )
        since = (self._now() - _RENEWALS_SHOWN).astimezone(UTC).isoformat(timespec="seconds")
        entries = [_entry(row) for row in self._database.rows(query, *_RENEWALS, user.name, since, _MOST_RENEWALS)]
        return entries if any(entry.action == RENEW for entry in entries) else []

    def accounts(self) -> list[str]:
        """Return who has done something."""
        rows = self._database.rows("SELECT DISTINCT account FROM journal WHERE account IS NOT NULL ORDER BY account")
        return [row["account"] for row in rows]

    def actions(self) -> list[str]:
        """Return what has been done."""
        return [row["action"] for row in self._database.rows("SELECT DISTINCT action FROM journal ORDER BY action")]

    def is_whole(self) -> bool:
        """Whether no entry was changed, taken out or put in between since it was written."""
        chain, number = "", 0
        while rows := self._database.rows(
            "SELECT * FROM journal WHERE number > ? ORDER BY number LIMIT ?", number, _AT_ONCE
        ):
            for row in rows:
                number += 1
                chain = _chain(chain, row["at"], row["account"], row["action"], row["subject"], row["outcome"])
                if row["chain"] != chain or row["number"] != number:
                    return False
        given = self._database.row("SELECT seq FROM sqlite_sequence WHERE name = 'journal'")
        return number == (0 if given is None else given["seq"])

    def _time(self) -> str:
        return self._now().astimezone(UTC).isoformat(timespec="seconds")

    def _counted(self, minute: str) -> int:
        with self._lock:
            if minute != self._minute:
                self._minute, self._refusals = minute, 0
            self._refusals += 1
            return self._refusals


def _append(connection: Connection, at: str, account: str | None, action: str, subject: str, outcome: str) -> None:
    last = connection.execute("SELECT chain FROM journal ORDER BY number DESC LIMIT 1").fetchone()
    chain = _chain("" if last is None else last["chain"], at, account, action, subject, outcome)
    connection.execute(
        "INSERT INTO journal (at, account, action, subject, outcome, chain) VALUES (?, ?, ?, ?, ?, ?)",
        (at, account, action, subject, outcome, chain),
    )


def _entry(row: Row) -> Entry:
    at = datetime.fromisoformat(row["at"])
    return Entry(row["number"], at, row["account"], row["action"], row["subject"], row["outcome"], row["chain"])


def _chain(before: str, *fields: str | None) -> str:
    return hashlib.sha256(json.dumps([before, *fields]).encode()).hexdigest()

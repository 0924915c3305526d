"""An append-only list of actions, each with a keyed hash of the one before.

Refusals are counted by account, since nobody who is only refused things may fill the disk: beyond a number of them one
entry says how many were left out.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from sqlite3 import Connection, Row

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.texts import visible_line
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.storage.database import PageDatabase

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
    "CREATE INDEX IF NOT EXISTS journal_of_done ON journal (subject, action) WHERE outcome = 'done'",
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
"""Refused requests of all strangers that are written down in a minute."""
REFUSALS_AN_HOUR = 200
"""Refused requests of one account that are written down in an hour."""
DOWNLOADS_AN_HOUR = 200
"""Downloads of one account that are written down one by one in an hour; of more, their number."""
ACTIONS_A_MINUTE = 600
"""Actions of one account in a minute: those beyond are refused."""
MORE = "journal.more"
DOWNLOAD = "guests.download"
MORE_DOWNLOADS = "guests.more_downloads"
RENEW = "accounts.renew"
_RENEWALS = (RENEW, "accounts.open", "accounts.link_identity")
_RENEWALS_SHOWN = timedelta(days=30)
_MOST_RENEWALS = 10
_SUBJECT = 200
_HEAD = re.compile(r"(\d{1,18})\s+([0-9a-f]{64})", re.ASCII)
_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class JournalEntry:
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

    @property
    def head(self) -> str:
        """Number and hash of this entry. A copy kept elsewhere shows whether the journal up to here was changed."""
        return f"{self.number} {self.chain}"


@dataclass(frozen=True, slots=True)
class ChainKey:
    """The key of the chain's hashes. Entries up to ``since`` have hashes without a key, as earlier versions wrote."""

    secret: bytes = field(repr=False)
    since: int

    def chain(self, number: int, before: str, *fields: str | None) -> str:
        """Return the hash of an entry, and by the one before it of all entries until then."""
        data = json.dumps([before, *fields]).encode()
        if number <= self.since:
            return hashlib.sha256(data).hexdigest()
        return hmac.new(self.secret, data, hashlib.sha256).hexdigest()


def chain_key(file: Path, database: PageDatabase) -> ChainKey:
    """Return the key in a file, or make one for the entries to come. Raises UsageError where the file has none."""
    if not file.exists():
        last = database.row("SELECT max(number) AS number FROM journal")
        since = 0 if last is None or last["number"] is None else last["number"]
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as stream:
            stream.write(f"{secrets.token_hex(32)} {since}\n")
            stream.flush()
            os.fsync(stream.fileno())
    match = re.fullmatch(r"([0-9a-f]{64}) (\d{1,18})\n", file.read_text(encoding="ascii", errors="replace"))
    if match is None:
        text = f"`{file}` is no key of a journal"
        help_ = "put it back from a backup; without it no entry of before can be checked"
        raise UsageError(Diagnostic("PPF988", text, help=help_))
    return ChainKey(bytes.fromhex(match[1]), int(match[2]))


@dataclass(slots=True)
class _Span:
    """A span of time of one account, and how often it did something in it."""

    began: datetime
    many: int = 0


class _Counts:
    """How often each account did something in ``span``; beyond ``most`` times nothing is written."""

    def __init__(self, most: int, span: timedelta) -> None:
        self._most, self._span = most, span
        self._spans: dict[str | None, _Span] = {}
        self._lock = threading.Lock()

    def take(self, account: str | None, now: datetime) -> bool:
        """Count once more, and return whether it is within the limit."""
        with self._lock:
            span = self._spans.setdefault(account, _Span(now))
            span.many += 1
            return span.many <= self._most

    def ended(self, now: datetime) -> Iterator[tuple[str | None, datetime, int]]:
        """Forget the spans that are over; yield account, beginning and how many were beyond the limit, if any were."""
        with self._lock:
            over = [(account, span) for account, span in self._spans.items() if now - span.began >= self._span]
            for account, _ in over:
                del self._spans[account]
        for account, span in over:
            if span.many > self._most:
                yield account, span.began, span.many - self._most


class ActionJournal:
    """All actions of a server. ``key`` is the file with the key of the chain."""

    def __init__(self, database: PageDatabase, key: Path, now: Callable[[], datetime] = utc_now) -> None:
        self._database, self._now = database, now
        self._key = chain_key(key, database)
        self._strangers = _Counts(REFUSALS_A_MINUTE, timedelta(minutes=1))
        self._people = _Counts(REFUSALS_AN_HOUR, timedelta(hours=1))
        self._downloads = _Counts(DOWNLOADS_AN_HOUR, timedelta(hours=1))
        self._actions = _Counts(ACTIONS_A_MINUTE, timedelta(minutes=1))

    def begin(self, user: User | None, action: str, subject: str) -> int:
        """Write down that an action begins, so that it is known of if the server ends meanwhile; return its number.

        Raises RefusalError where somebody does more than any person could.
        """
        account = None if user is None else user.name
        for _ in self._actions.ended(self._now()):
            continue
        if user is not None and not self._actions.take(account, self._now()):
            raise RefusalError("journal.too_many", 429)
        with self._database.changing() as connection:
            cursor = connection.execute(
                "INSERT INTO begun (at, account, action, subject) VALUES (?, ?, ?, ?)",
                (self._time(), account, action, _cleaned(subject)),
            )
        return int(cursor.lastrowid or 0)

    def add(self, user: User | None, action: str, subject: str, outcome: str, begun: int | None = None) -> None:
        """Write one action down, whose beginning may be ``begun``. ``subject`` is never a value of data.

        Of downloads, of what is refused, and of all that strangers do in vain, the limits of this module are kept, and
        ``tidy`` writes down how many were left out.
        """
        self.tidy()
        account = None if user is None else user.name
        counts = self._downloads if action == DOWNLOAD else self._strangers if user is None else self._people
        is_limited = action == DOWNLOAD or (outcome == "refused" if user is not None else outcome != "done")
        written = not is_limited or counts.take(account, self._now())
        if not written and begun is None:
            return
        with self._database.changing() as connection:
            connection.execute("DELETE FROM begun WHERE id = ?", (begun,))
            if written:
                self._append(connection, self._time(), account, action, _cleaned(subject), outcome)

    def tidy(self, *, all_spans: bool = False) -> None:
        """Write down how much was left out in the spans that are over; in all, where the server ends."""
        now = datetime.max.replace(tzinfo=UTC) if all_spans else self._now()
        for counts in (self._strangers, self._people, self._downloads):
            action, outcome = (MORE_DOWNLOADS, "done") if counts is self._downloads else (MORE, "refused")
            for account, began, many in counts.ended(now):
                subject = f"{many} after {began.astimezone(UTC).isoformat(timespec='seconds')}"
                with self._database.changing() as connection:
                    self._append(connection, self._time(), account, action, subject, outcome)

    def recover(self) -> None:
        """Write down what had begun when the last server ended, with the time at which it began."""
        with self._database.changing() as connection:
            for row in connection.execute("SELECT * FROM begun ORDER BY id").fetchall():
                self._append(connection, row["at"], row["account"], row["action"], row["subject"], "interrupted")
            connection.execute("DELETE FROM begun")

    def newest(
        self, many: int, before: int | None = None, *, account: str = "", action: str = ""
    ) -> list[JournalEntry]:
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

    def every(self, *, account: str = "", action: str = "") -> Iterator[JournalEntry]:
        """Give all entries, newest first, so many at a time."""
        before: int | None = None
        while entries := self.newest(_AT_ONCE, before, account=account, action=action):
            yield from entries
            before = entries[-1].number

    def renewals(self, user: User) -> list[JournalEntry]:
        """Return that links of somebody's account were renewed and used in the last days, newest first.

        People who were only invited get nothing: they know of the link.
        """
        query = (
            "SELECT * FROM journal WHERE action = ? AND subject = ? AND outcome = 'done' AND at > ?"
            " ORDER BY number DESC LIMIT ?"
        )
        since = (self._now() - _RENEWALS_SHOWN).astimezone(UTC).isoformat(timespec="seconds")
        of_each = (self._database.rows(query, each, user.name, since, _MOST_RENEWALS) for each in _RENEWALS)
        entries = sorted((_entry(row) for rows in of_each for row in rows), key=lambda each: -each.number)
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
                chain = self._key.chain(
                    number, chain, row["at"], row["account"], row["action"], row["subject"], row["outcome"]
                )
                if row["chain"] != chain or row["number"] != number:
                    return False
        given = self._database.row("SELECT seq FROM sqlite_sequence WHERE name = 'journal'")
        return number == (0 if given is None else given["seq"])

    def contains(self, head: str) -> bool:
        """Whether the journal goes on from an earlier ``Entry.head``. Raises ValueError where the text is none."""
        match = _HEAD.fullmatch(head.strip())
        if match is None:
            raise ValueError(f"a head is a number and 64 hexadecimal digits, and no text of {len(head)} characters")
        row = self._database.row("SELECT chain FROM journal WHERE number = ?", int(match[1]))
        return row is not None and row["chain"] == match[2]

    def _time(self) -> str:
        return self._now().astimezone(UTC).isoformat(timespec="seconds")

    def _append(
        self, connection: Connection, at: str, account: str | None, action: str, subject: str, outcome: str
    ) -> None:
        last = connection.execute("SELECT number, chain FROM journal ORDER BY number DESC LIMIT 1").fetchone()
        number, before = (0, "") if last is None else (last["number"], last["chain"])
        chain = self._key.chain(number + 1, before, at, account, action, subject, outcome)
        connection.execute(
            "INSERT INTO journal (at, account, action, subject, outcome, chain) VALUES (?, ?, ?, ?, ?, ?)",
            (at, account, action, subject, outcome, chain),
        )


def _cleaned(subject: str) -> str:
    """Return a text in one visible line, as long as a name: it may be part of an address that anybody wrote."""
    return visible_line(subject[:_SUBJECT])


def _entry(row: Row) -> JournalEntry:
    at = datetime.fromisoformat(row["at"])
    return JournalEntry(row["number"], at, row["account"], row["action"], row["subject"], row["outcome"], row["chain"])

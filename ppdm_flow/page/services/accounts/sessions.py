"""Sessions: a random word in a cookie, of which the server keeps the hash."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass
from sqlite3 import Connection

from ppdm_flow.page.services.accounts.accounts import Accounts
from ppdm_flow.page.services.accounts.passwords import hash_of, new_word
from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.storage.database import PageDatabase

SCHEMA = (
    (
        "CREATE TABLE IF NOT EXISTS sessions (hash TEXT PRIMARY KEY, account INTEGER REFERENCES accounts (id)"
        " ON DELETE CASCADE, began REAL NOT NULL, used REAL NOT NULL)"
    ),
)
MOST = 20
"""Sessions of one account; what was used longest ago ends."""


@dataclass(frozen=True, slots=True)
class Visit:
    """What a browser is known by: its cookie's ``word``, and who is signed in there, if anybody."""

    word: str
    user: User | None

    @property
    def form_token(self) -> str:
        """The word that each form of this visit must bring (against forged requests from other sites)."""
        return hmac.new(self.word.encode(), b"form token", hashlib.sha256).hexdigest()

    def sent_by_own_page(self, token: str) -> bool:
        """Whether a form's token is that of this visit."""
        return hmac.compare_digest(self.form_token.encode(), token.encode())


class Sessions:
    """Who is signed in; a session ends after ``idle`` seconds without a request, and after ``whole`` in any case."""

    def __init__(
        self,
        database: PageDatabase,
        accounts: Accounts,
        *,
        lifetime: float,
        idle: float,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._database, self._accounts = database, accounts
        self._lifetime, self._idle, self._now = lifetime, idle, now

    def visit(self, word: str) -> Visit:
        """Return the visit of a cookie; one without a session, or with one that ended, has nobody signed in."""
        now = self._now()
        row = self._database.row("SELECT * FROM sessions WHERE hash = ?", hash_of(word))
        if row is None or now - row["began"] > self._lifetime or now - row["used"] > self._idle:
            return Visit(word, None)
        if now - row["used"] > self._idle / 20:
            with self._database.changing() as connection:
                connection.execute("UPDATE sessions SET used = ? WHERE hash = ?", (now, hash_of(word)))
        return Visit(word, self._accounts.user(row["account"]))

    def begin(self, user: User, holds: Callable[[Connection], bool] = lambda _: True) -> Visit:
        """Begin a session under a new word: one that a browser had before signing in is never taken over.

        Raises RefusalError where the account was locked meanwhile, or the way in by which somebody comes ``holds`` no
        more: what ended all sessions has to end this one too.
        """
        word = new_word()
        now = self._now()
        with self._database.changing() as connection:
            open_ = connection.execute("SELECT 1 FROM accounts WHERE id = ? AND locked = 0", (user.id,)).fetchone()
            if open_ is None or not holds(connection):
                raise RefusalError("accounts.way_in_closed", 403)
            connection.execute(
                "DELETE FROM sessions WHERE ? - began > ? OR ? - used > ?", (now, self._lifetime, now, self._idle)
            )
            connection.execute("INSERT INTO sessions VALUES (?, ?, ?, ?)", (hash_of(word), user.id, now, now))
            connection.execute(
                "DELETE FROM sessions WHERE account = ? AND hash NOT IN"
                " (SELECT hash FROM sessions WHERE account = ? ORDER BY used DESC, rowid DESC LIMIT ?)",
                (user.id, user.id, MOST),
            )
        return Visit(word, user)

    def end(self, visit: Visit) -> None:
        """End the session of a visit."""
        with self._database.changing() as connection:
            connection.execute("DELETE FROM sessions WHERE hash = ?", (hash_of(visit.word),))

    def end_all(self, account: int, but: Visit | None = None) -> int:
        """End all sessions of an account, except for that of a visit where one is given. Returns how many ended."""
        kept = "" if but is None else hash_of(but.word)
        with self._database.changing() as connection:
            ended = connection.execute("DELETE FROM sessions WHERE account = ? AND hash != ?", (account, kept))
        return ended.rowcount

    def many(self, account: int) -> int:
        """Return how many sessions of an account have not ended."""
        now = self._now()
        query = "SELECT count(*) AS many FROM sessions WHERE account = ? AND ? - began <= ? AND ? - used <= ?"
        row = self._database.row(query, account, now, self._lifetime, now, self._idle)
        return 0 if row is None else int(row["many"])

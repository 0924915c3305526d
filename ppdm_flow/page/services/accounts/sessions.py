"""Sessions: a random word in a cookie, of which the server keeps the hash."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from ppdm_flow.page.services.accounts.accounts import Accounts
from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.storage.database import Database

SCHEMA = (
    (
        "CREATE TABLE IF NOT EXISTS sessions (hash TEXT PRIMARY KEY, account INTEGER REFERENCES accounts (id)"
        " ON DELETE CASCADE, began REAL NOT NULL, used REAL NOT NULL)"
    ),
)


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
        database: Database,
        accounts: Accounts,
        *,
        whole: float,
        idle: float,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._database, self._accounts = database, accounts
        self._whole, self._idle, self._now = whole, idle, now

    def visit(self, word: str) -> Visit:
        """Return the visit of a cookie; one without a session, or with one that ended, has nobody signed in."""
        now = self._now()
        row = self._database.row("SELECT * FROM sessions WHERE hash = ?", _hash(word))
        if row is None or now - row["began"] > self._whole or now - row["used"] > self._idle:
            return Visit(word, None)
        if now - row["used"] > self._idle / 20:
            with self._database.changing() as connection:
                connection.execute("UPDATE sessions SET used = ? WHERE hash = ?", (now, _hash(word)))
        return Visit(word, self._accounts.user(row["account"]))

    def begin(self, user: User) -> Visit:
        """Begin a session under a new word: one that a browser had before signing in is never taken over."""
        word = new_word()
        now = self._now()
        with self._database.changing() as connection:
            connection.execute(
                "DELETE FROM sessions WHERE ? - began > ? OR ? - used > ?", (now, self._whole, now, self._idle)
            )
            connection.execute("INSERT INTO sessions VALUES (?, ?, ?, ?)", (_hash(word), user.id, now, now))
        return Visit(word, user)

    def end(self, visit: Visit) -> None:
        """End the session of a visit."""
        with self._database.changing() as connection:
            connection.execute("DELETE FROM sessions WHERE hash = ?", (_hash(visit.word),))


def new_word() -> str:
    """Return 256 random bits for a cookie."""
    return secrets.token_urlsafe(32)


def _hash(word: str) -> str:
    return hashlib.sha256(word.encode()).hexdigest()

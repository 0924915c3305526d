"""Browsers in which somebody has signed in before: strangers who guess a name's password do not shut them out."""

from __future__ import annotations

import time
from collections.abc import Callable

from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.accounts.words import hash_of, new_word
from ppdm_flow.page.services.storage.database import PageDatabase

SCHEMA = (
    (
        "CREATE TABLE IF NOT EXISTS browsers (hash TEXT PRIMARY KEY, account INTEGER NOT NULL REFERENCES accounts (id)"
        " ON DELETE CASCADE, since REAL NOT NULL)"
    ),
)
SECONDS = 180 * 24 * 60 * 60.0
MOST = 20
"""Browsers of one account; the oldest is forgotten."""


class Browsers:
    """Which browser, by the word of a cookie, knows which account. It signs nobody in: the password is asked for."""

    def __init__(self, database: PageDatabase, now: Callable[[], float] = time.time) -> None:
        self._database, self._now = database, now

    def knows(self, word: str, account: int) -> bool:
        """Whether somebody has signed in to this account in this browser."""
        query = "SELECT 1 FROM browsers WHERE hash = ? AND account = ? AND since > ?"
        return self._database.row(query, hash_of(word), account, self._now() - SECONDS) is not None

    def account_of(self, word: str) -> int | None:
        """Return the account that somebody has signed in to in this browser."""
        query = "SELECT account FROM browsers WHERE hash = ? AND since > ?"
        row = self._database.row(query, hash_of(word), self._now() - SECONDS) if word else None
        return None if row is None else int(row["account"])

    def remember(self, user: User, word: str) -> str:
        """Return the word of the cookie that a browser keeps, after somebody has signed in there."""
        if word and self.knows(word, user.id):
            return word
        made = new_word()
        with self._database.changing() as connection:
            connection.execute("INSERT INTO browsers VALUES (?, ?, ?)", (hash_of(made), user.id, self._now()))
            connection.execute(
                "DELETE FROM browsers WHERE account = ? AND hash NOT IN"
                " (SELECT hash FROM browsers WHERE account = ? ORDER BY since DESC, rowid DESC LIMIT ?)",
                (user.id, user.id, MOST),
            )
        return made

"""Accounts: names, roles, password hashes."""

from __future__ import annotations

from collections.abc import Iterable
from sqlite3 import Row

from ppdm_flow.page.services.accounts.passwords import Passwords
from ppdm_flow.page.services.accounts.roles import Role, User
from ppdm_flow.page.services.storage.database import Database

SCHEMA = (
    (
        "CREATE TABLE IF NOT EXISTS accounts (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE,"
        " roles TEXT NOT NULL, password TEXT, locked INTEGER NOT NULL DEFAULT 0)"
    ),
)


class Accounts:
    """All accounts of a server."""

    def __init__(self, database: Database, passwords: Passwords | None = None) -> None:
        self._database, self._passwords = database, passwords or Passwords()

    def add(self, name: str, roles: Iterable[Role], password: str | None = None) -> User:
        """Make an account; without a password nobody can sign in to it with one. Raises sqlite3.IntegrityError."""
        kept = None if password is None else self._passwords.hashed(password)
        with self._database.changing() as connection:
            cursor = connection.execute(
                "INSERT INTO accounts (name, roles, password) VALUES (?, ?, ?)", (name, " ".join(sorted(roles)), kept)
            )
        return User(int(cursor.lastrowid or 0), name, frozenset(roles))

    def user(self, account: int) -> User | None:
        """Return the account of this number; None where there is none, or it is locked."""
        return _user(self._database.row("SELECT * FROM accounts WHERE id = ?", account))

    def signed_in(self, name: str, password: str) -> User | None:
        """Return the account whose password this is; None takes as long."""
        row = self._database.row("SELECT * FROM accounts WHERE name = ?", name)
        right = self._passwords.matches(None if row is None else row["password"], password)
        return _user(row) if right else None


def _user(row: Row | None) -> User | None:
    if row is None or row["locked"]:
        return None
    return User(row["id"], row["name"], frozenset(Role(word) for word in row["roles"].split()))

"""Accounts: names, roles, password hashes. None is ever removed: names in the journal stay those of one person."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from sqlite3 import Connection, IntegrityError, Row

from ppdm_flow.page.services.accounts.passwords import Passwords
from ppdm_flow.page.services.accounts.roles import PageRole, User
from ppdm_flow.page.services.storage.database import PageDatabase

SCHEMA = (
    (
        "CREATE TABLE IF NOT EXISTS accounts (id INTEGER PRIMARY KEY, name TEXT NOT NULL, key TEXT NOT NULL UNIQUE,"
        " roles TEXT NOT NULL, password TEXT, locked INTEGER NOT NULL DEFAULT 0)"
    ),
)


class LastAdministratorError(ValueError):
    """Nobody could administer the accounts any more."""


@dataclass(frozen=True, slots=True)
class PageAccount:
    """An account as administrators see it. ``opened``: somebody has chosen a password, or linked an identity."""

    user: User
    locked: bool
    opened: bool
    has_password: bool


@dataclass(frozen=True, slots=True)
class PasswordMatch:
    """The account that a password signs in to, and the hash that it was compared with: that takes a while."""

    user: User
    hash: str = field(repr=False)

    def holds(self, connection: Connection) -> bool:
        """Whether the password still is that of the account, which is not locked."""
        query = "SELECT 1 FROM accounts WHERE id = ? AND password = ? AND locked = 0"
        return connection.execute(query, (self.user.id, self.hash)).fetchone() is not None


_ACCOUNT = (
    "SELECT *, password IS NOT NULL OR EXISTS (SELECT 1 FROM identities WHERE account = accounts.id) AS opened"
    " FROM accounts"
)


class Accounts:
    """All accounts of a server."""

    def __init__(self, database: PageDatabase, passwords: Passwords | None = None) -> None:
        self._database, self._passwords = database, passwords or Passwords()

    def add(self, name: str, roles: Iterable[PageRole], password: str | None = None) -> User:
        """Make an account; without a password nobody can sign in to it with one. Raises NameTakenError."""
        kept = None if password is None else self.hashed(password)
        with self._database.changing() as connection:
            return insert(connection, name, roles, kept)

    def hashed(self, password: str) -> str:
        """Return the hash of a password as it is kept."""
        return self._passwords.hashed(password)

    def user(self, account: int) -> User | None:
        """Return the account of this number; None where there is none, or it is locked."""
        row = self._database.row("SELECT * FROM accounts WHERE id = ?", account)
        return None if row is None or row["locked"] else _user(row)

    def account(self, account: int) -> PageAccount | None:
        """Return the account of this number, locked or not; None where there is none."""
        row = self._database.row(f"{_ACCOUNT} WHERE id = ?", account)
        return None if row is None else _account(row)

    def named(self, name: str) -> User | None:
        """Return the account of this name, locked or not; None where there is none."""
        row = self._database.row("SELECT * FROM accounts WHERE key = ?", key(name))
        return None if row is None else _user(row)

    def every(self) -> list[PageAccount]:
        """Return all accounts by name."""
        return [_account(row) for row in self._database.rows(f"{_ACCOUNT} ORDER BY key")]

    def has_administrator(self) -> bool:
        """Whether somebody can sign in who administers the accounts."""
        return any(_administers(account) for account in self.every())

    def signed_in(self, name: str, password: str) -> PasswordMatch | None:
        """Return the account whose password this is; None takes as long."""
        row = self._database.row("SELECT * FROM accounts WHERE key = ?", key(name))
        stored = None if row is None else row["password"]
        if not self._passwords.matches(stored, password) or row is None or row["locked"]:
            return None
        match = PasswordMatch(_user(row), row["password"])
        if not self._passwords.outdated(match.hash):
            return match
        renewed = PasswordMatch(match.user, self.hashed(password))
        with self._database.changing() as connection:
            made = connection.execute(
                "UPDATE accounts SET password = ? WHERE id = ? AND password = ?",
                (renewed.hash, match.user.id, match.hash),
            )
        return renewed if made.rowcount == 1 else self.signed_in(name, password)  # it is another one by now

    def set_roles(self, account: int, roles: Iterable[PageRole]) -> None:
        """Give an account these roles and no others. Raises LastAdministratorError."""
        with self._database.changing() as connection:
            connection.execute("UPDATE accounts SET roles = ? WHERE id = ?", (_words(roles), account))
            require_administrator(connection)

    def change_password(self, match: PasswordMatch, password: str) -> PasswordMatch | None:
        """Change a password: sessions and known browsers of the one before end.

        Links stay: else who has learned a password could close each link by which the account is given back.
        Returns None where the password that was compared is none any more.
        """
        changed = PasswordMatch(match.user, self.hashed(password))
        with self._database.changing() as connection:
            if not match.holds(connection):
                return None
            set_password(connection, match.user.id, changed.hash)
        return changed

    def lock(self, account: int) -> None:
        """Let nobody sign in to an account, and end its sessions and links. Raises LastAdministratorError."""
        with self._database.changing() as connection:
            connection.execute("UPDATE accounts SET locked = 1 WHERE id = ?", (account,))
            require_administrator(connection)
            end_access(connection, account)

    def unlock(self, account: int) -> None:
        """Let somebody sign in again."""
        with self._database.changing() as connection:
            connection.execute("UPDATE accounts SET locked = 0 WHERE id = ?", (account,))


def insert(connection: Connection, name: str, roles: Iterable[PageRole], password_hash: str | None) -> User:
    """Make an account in a transaction. Raises NameTakenError."""
    role_set = frozenset(roles)
    try:
        cursor = connection.execute(
            "INSERT INTO accounts (name, key, roles, password) VALUES (?, ?, ?, ?)",
            (name, key(name), _words(role_set), password_hash),
        )
    except IntegrityError as error:
        raise NameTakenError(name) from error
    return User(int(cursor.lastrowid or 0), name, role_set)


def set_password(connection: Connection, account: int, password_hash: str) -> None:
    """Change the password in a transaction, and end the sessions of the old one."""
    connection.execute("UPDATE accounts SET password = ? WHERE id = ?", (password_hash, account))
    _end_sessions(connection, account)


def remove_ways_in(connection: Connection, account: int) -> None:
    """Remove password and identities of an account in a transaction, and close what was open with them."""
    connection.execute("UPDATE accounts SET password = NULL WHERE id = ?", (account,))
    connection.execute("DELETE FROM identities WHERE account = ?", (account,))
    end_access(connection, account)


def end_access(connection: Connection, account: int) -> None:
    """End the sessions of an account, its links, and what browsers know of it."""
    _end_sessions(connection, account)
    connection.execute("DELETE FROM links WHERE account = ?", (account,))


def _end_sessions(connection: Connection, account: int) -> None:
    for table in ("sessions", "browsers"):
        connection.execute(f"DELETE FROM {table} WHERE account = ?", (account,))  # noqa: S608  # names above


def is_opened(connection: Connection, account: int) -> bool:
    """Whether somebody can sign in to an account that is not locked."""
    return bool(connection.execute(f"{_ACCOUNT} WHERE id = ?", (account,)).fetchone()["opened"])


def require_administrator(connection: Connection) -> None:
    """Raise LastAdministratorError where nobody can sign in who administers the accounts."""
    if not any(_administers(_account(row)) for row in connection.execute(_ACCOUNT)):
        raise LastAdministratorError


def _administers(account: PageAccount) -> bool:
    return account.opened and not account.locked and account.user.has(PageRole.ADMINISTRATOR)


def _words(roles: Iterable[PageRole]) -> str:
    return " ".join(sorted(roles))


def _user(row: Row) -> User:
    return User(row["id"], row["name"], frozenset(PageRole(word) for word in row["roles"].split()))


def _account(row: Row) -> PageAccount:
    return PageAccount(_user(row), bool(row["locked"]), bool(row["opened"]), row["password"] is not None)


# Names of accounts: what may be one, and which count as the same.


MOST_LENGTH = 64
_MOST_TYPED = 4 * MOST_LENGTH
"""Characters in which a name of 64 may be typed: composing some takes the square of their number."""


class NameTakenError(ValueError):
    """There is an account of this name, or of one that is written nearly so."""


def normal(name: str) -> str:
    """Return a name as it is kept: composed characters, single spaces, none around it.

    A text that is too long for a name is returned as it is.
    """
    if len(name) > _MOST_TYPED:
        return name
    return " ".join(unicodedata.normalize("NFC", name).split())


def key(name: str) -> str:
    """Return what two names have in common that count as the same: case and forms of letters do not matter.

    A text that is too long for a name has the empty key, which no account has.
    """
    if len(name) > _MOST_TYPED:
        return ""
    return unicodedata.normalize("NFKC", normal(name)).casefold()


def may_be_name(name: str) -> bool:
    """Whether an account may be called so: up to 64 characters that all can be seen, none that turns the line."""
    return 0 < len(name) <= MOST_LENGTH and name.isprintable() and normal(name) == name

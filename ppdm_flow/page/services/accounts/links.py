"""One-time links: the first administrator, invitations, new passwords."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from sqlite3 import Connection

from ppdm_flow.page.services.accounts.accounts import (
    Accounts,
    insert,
    is_opened,
    remove_ways_in,
    require_administrator,
    set_password,
)
from ppdm_flow.page.services.accounts.passwords import hash_of, new_word
from ppdm_flow.page.services.accounts.roles import PageRole, User
from ppdm_flow.page.services.storage.database import PageDatabase

SCHEMA = (
    (
        "CREATE TABLE IF NOT EXISTS links (hash TEXT PRIMARY KEY, account INTEGER REFERENCES accounts (id)"
        " ON DELETE CASCADE, until REAL NOT NULL)"
    ),
)
FIRST_SECONDS = 60 * 60.0
INVITATION_SECONDS = 7 * 24 * 60 * 60.0


class LinkGoneError(LookupError):
    """No such link: it was used, it expired, another took its place, or there never was one."""


class IdentityTakenError(ValueError):
    """The identity signs in to another account."""


@dataclass(frozen=True, slots=True)
class AccountLink:
    """A link that somebody may use: for the account of ``user``, or for a new administrator where that is None."""

    user: User | None
    until: float


class AccountLinks:
    """All links that nobody has used yet. A link is good for one use, and an account has one at most."""

    def __init__(self, database: PageDatabase, people: Accounts, now: Callable[[], float] = time.time) -> None:
        self._database, self._accounts, self._now = database, people, now

    def first_administrator(self) -> str | None:
        """Return the word of a link that makes an administrator; None where somebody can sign in who is one.

        What an earlier call returned does not work any more.
        """
        return None if self._accounts.has_administrator() else self.another_administrator()

    def another_administrator(self) -> str:
        """Return the word of a link that makes one more administrator. It takes access to the server's files."""
        return self._new(None, FIRST_SECONDS)

    def invite(self, name: str, roles: Iterable[PageRole]) -> tuple[User, str]:
        """Make an account without a password, and the word of the link with which somebody opens it.

        Raises NameTakenError.
        """
        user = self._accounts.add(name, roles)
        return user, self._new(user.id, INVITATION_SECONDS)

    def renew(self, account: int) -> str:
        """Return the word of a new link for an account. Its password stays as it is until the link is used."""
        return self._new(account, INVITATION_SECONDS)

    def find(self, word: str) -> AccountLink:
        """Return what a link is for. Raises LinkGoneError."""
        return self.find_hash(hash_of(word))

    def find_hash(self, link_hash: str) -> AccountLink:
        """Return what the link is for whose word has this hash. Raises LinkGoneError."""
        row = self._database.row("SELECT * FROM links WHERE hash = ? AND until > ?", link_hash, self._now())
        if row is None:
            raise LinkGoneError
        user = None if row["account"] is None else self._accounts.user(row["account"])
        if user is None and row["account"] is not None:
            raise LinkGoneError
        return AccountLink(user, row["until"])

    def open_with_password(self, word: str, password: str) -> User:
        """Make a password the only way into a link's account, and end all its sessions. Raises LinkGoneError."""
        password_hash = self._accounts.hashed(password)
        with self._database.changing() as connection:
            account = self._take(connection, hash_of(word))
            if account is None:
                raise LinkGoneError
            remove_ways_in(connection, account)
            set_password(connection, account, password_hash)
        return self._opened(account)

    def open_with_identity(self, link_hash: str, identity: Identity) -> User:
        """Make an identity the only way into the account of the link whose word has this hash.

        Raises LinkGoneError, IdentityTakenError.
        """
        with self._database.changing() as connection:
            account = self._take(connection, link_hash)
            if account is None:
                raise LinkGoneError
            remove_ways_in(connection, account)
            if not link(connection, identity, account):
                raise IdentityTakenError
        return self._opened(account)

    def open_administrator(self, word: str, name: str, password: str) -> User:
        """Make an administrator with a link that is for no account. Raises LinkGoneError, NameTakenError."""
        password_hash = self._accounts.hashed(password)
        with self._database.changing() as connection:
            if self._take(connection, hash_of(word)) is not None:
                raise LinkGoneError
            return insert(connection, name, [PageRole.ADMINISTRATOR], password_hash)

    def _new(self, account: int | None, seconds: float) -> str:
        word = new_word()
        with self._database.changing() as connection:
            connection.execute("DELETE FROM links WHERE account IS ? OR until <= ?", (account, self._now()))
            connection.execute("INSERT INTO links VALUES (?, ?, ?)", (hash_of(word), account, self._now() + seconds))
        return word

    def _take(self, connection: Connection, link_hash: str) -> int | None:
        row = connection.execute(
            "DELETE FROM links WHERE hash = ? AND until > ? RETURNING account", (link_hash, self._now())
        ).fetchone()
        if row is None:
            raise LinkGoneError
        account: int | None = row["account"]
        return account

    def _opened(self, account: int) -> User:
        user = self._accounts.user(account)
        if user is None:
            raise LinkGoneError
        return user


# Identities of another provider (OpenID Connect): each is linked to at most one account.


IDENTITIES_SCHEMA = (
    (
        "CREATE TABLE IF NOT EXISTS identities (issuer TEXT NOT NULL, subject TEXT NOT NULL, account INTEGER NOT NULL"
        " REFERENCES accounts (id), PRIMARY KEY (issuer, subject))"
    ),
)


@dataclass(frozen=True, slots=True)
class Identity:
    """Who somebody is at a provider: names and addresses of mail change hands there, this pair does not."""

    issuer: str
    subject: str


class LastIdentityError(ValueError):
    """Nobody could sign in to the account any more: it has no password, and no other identity."""


class Identities:
    """Which identity signs in to which account."""

    def __init__(self, database: PageDatabase, accounts: Accounts) -> None:
        self._database, self._accounts = database, accounts

    def user(self, identity: Identity) -> User | None:
        """Return the account of an identity; None where there is none, or it is locked."""
        row = self._database.row(
            "SELECT account FROM identities WHERE issuer = ? AND subject = ?", identity.issuer, identity.subject
        )
        return None if row is None else self._accounts.user(row["account"])

    def of(self, account: int) -> list[Identity]:
        """Return the identities that sign in to an account."""
        rows = self._database.rows("SELECT * FROM identities WHERE account = ? ORDER BY issuer, subject", account)
        return [Identity(row["issuer"], row["subject"]) for row in rows]

    def unlink(self, identity: Identity, account: int, *, session: str = "", keep_last: bool = False) -> None:
        """Let an identity sign in to an account no more, and end all sessions but that of the word ``session``.

        Raises LookupError where it is not linked to the account; LastIdentityError, with ``keep_last``, where nobody
        could sign in to it any more; LastAdministratorError where nobody could administer the accounts.
        """
        with self._database.changing() as connection:
            taken = connection.execute(
                "DELETE FROM identities WHERE issuer = ? AND subject = ? AND account = ?",
                (identity.issuer, identity.subject, account),
            )
            if taken.rowcount != 1:
                raise LookupError
            if keep_last and not is_opened(connection, account):
                raise LastIdentityError
            require_administrator(connection)
            connection.execute("DELETE FROM sessions WHERE account = ? AND hash != ?", (account, hash_of(session)))


def is_linked(identity: Identity, account: int, connection: Connection) -> bool:
    """Whether an identity is linked to an account."""
    query = "SELECT 1 FROM identities WHERE issuer = ? AND subject = ? AND account = ?"
    return connection.execute(query, (identity.issuer, identity.subject, account)).fetchone() is not None


def link(connection: Connection, identity: Identity, account: int) -> bool:
    """Link an identity to an account in a transaction; False where it is linked to another one."""
    connection.execute(
        "INSERT INTO identities VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (identity.issuer, identity.subject, account)
    )
    return is_linked(identity, account, connection)

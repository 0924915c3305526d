"""Identities of another provider (OpenID Connect): each is linked to at most one account."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection

from ppdm_flow.page.services.accounts import accounts
from ppdm_flow.page.services.accounts.accounts import Accounts
from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.accounts.words import hash_of
from ppdm_flow.page.services.storage.database import PageDatabase

SCHEMA = (
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
            if keep_last and not accounts.is_opened(connection, account):
                raise LastIdentityError
            accounts.require_administrator(connection)
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

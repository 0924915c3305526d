"""How people come to an account, and how they sign in: each service made once over one database."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from ppdm_flow.page.services.accounts import accounts, attempts, links, sessions
from ppdm_flow.page.services.accounts.accounts import Accounts, PasswordMatch, key
from ppdm_flow.page.services.accounts.attempts import AttemptKind, Attempts, CountedSubject, network
from ppdm_flow.page.services.accounts.links import AccountLinks, Identities
from ppdm_flow.page.services.accounts.passwords import hash_of, new_word
from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.storage.database import PageDatabase

BROWSERS_SCHEMA = (
    (
        "CREATE TABLE IF NOT EXISTS browsers (hash TEXT PRIMARY KEY, account INTEGER NOT NULL REFERENCES accounts (id)"
        " ON DELETE CASCADE, since REAL NOT NULL)"
    ),
)

SCHEMA = (
    *accounts.SCHEMA,
    *sessions.SCHEMA,
    *links.IDENTITIES_SCHEMA,
    *links.SCHEMA,
    *attempts.SCHEMA,
    *BROWSERS_SCHEMA,
)


@dataclass(frozen=True, slots=True)
class AllowedPeople:
    """Who may sign in, and how they come to that."""

    links: AccountLinks
    identities: Identities
    browsers: Browsers
    sign_in: SignIn


def people(database: PageDatabase, accounts: Accounts) -> AllowedPeople:
    """Return the services of a database's accounts."""
    known = Browsers(database)
    return AllowedPeople(
        AccountLinks(database, accounts),
        Identities(database, accounts),
        known,
        SignIn(accounts, Attempts(database), known),
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


@dataclass(frozen=True, slots=True)
class Attempt:
    """How an attempt ended: the password matched, or ``wait`` seconds are to pass before the next, or neither."""

    match: PasswordMatch | None
    wait: float = 0.0

    @property
    def user(self) -> User | None:
        """Who signed in."""
        return None if self.match is None else self.match.user


class SignIn:
    """Compares passwords, so often as the limits of names, addresses and browsers allow."""

    def __init__(self, accounts: Accounts, attempts: Attempts, browsers: Browsers) -> None:
        self._accounts, self._attempts, self._browsers = accounts, attempts, browsers

    def attempt(self, name: str, password: str, address: str, browser: str = "") -> Attempt:
        """Sign somebody in. ``browser`` is the word of a browser's cookie.

        A browser in which the person has signed in before is counted by itself: guesses from elsewhere make the name
        wait, but not that browser.
        """
        named = self._accounts.named(name)
        if browser and named is not None and self._browsers.knows(browser, named.id):
            counted = [CountedSubject(AttemptKind.BROWSER, f"{browser} {named.id}")]
        else:
            counted = [
                CountedSubject(AttemptKind.NAME, key(name)),
                CountedSubject(AttemptKind.ADDRESS, network(address)),
            ]
        return self._compared(counted, name, password)

    def confirm(self, user: User, password: str) -> Attempt:
        """Ask somebody who is signed in for the password again."""
        return self._compared([CountedSubject(AttemptKind.BROWSER, f"account {user.id}")], user.name, password)

    def wait_at(self, address: str) -> float:
        """Count an attempt to sign in by a provider, which costs us a question there. Returns the seconds to wait."""
        return self._attempts.begin(CountedSubject(AttemptKind.ADDRESS, network(address)))

    def succeeded_at(self, address: str) -> None:
        """Take back what ``wait_at`` counted."""
        self._attempts.succeeded(CountedSubject(AttemptKind.ADDRESS, network(address)))

    def _compared(self, counted: list[CountedSubject], name: str, password: str) -> Attempt:
        wait = self._attempts.begin(*counted)
        if wait > 0:
            return Attempt(None, wait)
        match = self._accounts.signed_in(name, password)
        if match is not None:
            self._attempts.succeeded(*counted)
        return Attempt(match)

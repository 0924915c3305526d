"""Signing in with name and password: limited, and without telling which names there are."""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_flow.page.services.accounts.accounts import Accounts, PasswordMatch
from ppdm_flow.page.services.accounts.attempts import AttemptKind, Attempts, CountedSubject, network
from ppdm_flow.page.services.accounts.browsers import Browsers
from ppdm_flow.page.services.accounts.names import key
from ppdm_flow.page.services.accounts.roles import User


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

        A browser in which the person has signed in before is counted by itself: whoever guesses from elsewhere makes
        the name wait, but not that browser.
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

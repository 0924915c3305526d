"""Sign-ins that a provider carries out: what goes there, and what must come back, in the same browser, once."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ppdm_flow.page.services.accounts.words import hash_of, new_word
from ppdm_flow.page.services.storage.database import PageDatabase

SCHEMA = ("CREATE TABLE IF NOT EXISTS openid_used (state TEXT PRIMARY KEY, until REAL NOT NULL)",)
SECONDS = 10 * 60
_PARTS = 3


class FlowRefusedError(ValueError):
    """What came back was not begun in this browser, took too long, or came before."""


@dataclass(frozen=True, slots=True)
class SignInFlow:
    """One sign-in. ``state`` goes there and back; ``link`` is the hash of a one-time link, or empty.

    The server keeps nothing of it: the state is signed by a key of the server, for the word of the browser's visit, and
    verifier and nonce follow from both.
    """

    state: str
    link: str
    _word: str
    _key: bytes = field(repr=False)

    def proof(self, subject: str) -> str:
        """Return a text that says in this visit whom the provider has signed in: ``Flows.subject`` reads it."""
        plain = f"{_text(subject.encode())}.{self.state.split('.')[1]}.{self.link}"
        return f"{plain}.{_derived(self._key, self._word, 'proof', plain)}"

    @property
    def nonce(self) -> str:
        """What the ID token must repeat."""
        return _derived(self._key, self._word, "nonce", self.state)

    @property
    def verifier(self) -> str:
        """What only this server can show to the provider beside the code (RFC 7636)."""
        return _derived(self._key, self._word, "verifier", self.state)

    @property
    def challenge(self) -> str:
        """What the provider is told of the verifier before (S256)."""
        return _text(hashlib.sha256(self.verifier.encode()).digest())


class Flows:
    """Begins sign-ins, and takes back each of them once; those that a server began end with it.

    Whoever visits knows the word of the visit, and may choose it: only the server's key shows what the provider said.
    """

    def __init__(self, database: PageDatabase, now: Callable[[], float] = time.time) -> None:
        self._database, self._now, self._key = database, now, secrets.token_bytes(32)

    def begin(self, word: str, link: str = "") -> SignInFlow:
        """Begin one for the visit of this word; ``link`` is the word of a one-time link that the identity will open."""
        plain = f"{new_word()}.{int(self._now()) + SECONDS}.{hash_of(link) if link else ''}"
        state = f"{plain}.{_derived(self._key, word, 'state', plain)}"
        return SignInFlow(state, hash_of(link) if link else "", word, self._key)

    def take(self, word: str, state: str) -> SignInFlow:
        """Return the one that comes back to the visit of this word. Raises FlowRefusedError."""
        _, until, link = self._told(word, "state", state)
        with self._database.changing() as connection:
            connection.execute("DELETE FROM openid_used WHERE until < ?", (self._now(),))
            taken = connection.execute(
                "INSERT INTO openid_used VALUES (?, ?) ON CONFLICT DO NOTHING", (hash_of(state), until)
            )
            if taken.rowcount != 1:
                raise FlowRefusedError
        return SignInFlow(state, link, word, self._key)

    def subject(self, word: str, proof: str) -> tuple[str, str]:
        """Return whom the provider has signed in in the visit of this word, and the hash of the link to be opened.

        Raises FlowRefusedError where the proof is of another visit, changed, or older than a sign-in may be.
        """
        subject, _, link = self._told(word, "proof", proof)
        return base64.b64decode(subject + "=" * (-len(subject) % 4), altchars=b"-_", validate=True).decode(), link

    def _told(self, word: str, purpose: str, signed: str) -> tuple[str, int, str]:
        """Return the parts of a text of ours. Raises FlowRefusedError where it is none, or too old."""
        plain, _, signature = signed.rpartition(".")
        parts = plain.split(".")
        known = hmac.compare_digest(_derived(self._key, word, purpose, plain).encode(), signature.encode())
        if not known or len(parts) != _PARTS or int(parts[1]) < self._now():
            raise FlowRefusedError
        return parts[0], int(parts[1]), parts[2]


def _derived(key: bytes, word: str, purpose: str, text: str) -> str:
    """Return what only the server can derive. Whoever visits chooses the word: no part may pass for another."""
    return _text(hmac.new(key, json.dumps([purpose, word, text]).encode(), hashlib.sha256).digest())


def _text(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

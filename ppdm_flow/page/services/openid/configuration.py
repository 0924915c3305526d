"""The file that says how people sign in by OpenID Connect."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import secrets
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.page.services.accounts.passwords import hash_of, new_word
from ppdm_flow.page.services.storage.database import PageDatabase

BACK = "/sign-in/openid/back"
"""Where the provider sends browsers back to; to be registered there, after the server's address."""
_NEEDED = ("issuer", "client_id", "address")
_KEYS = (*_NEEDED, "label", "client_secret_file", "client_secret_variable")


@dataclass(frozen=True, slots=True)
class OpenIdConfiguration:
    """One provider. ``address`` is where browsers reach this server; without a secret it is a public client."""

    issuer: str
    client_id: str
    address: str
    label: str
    client_secret: str | None = field(default=None, repr=False)

    @property
    def redirect_uri(self) -> str:
        """The address that the provider sends browsers back to."""
        return self.address.rstrip("/") + BACK


def read_configuration(file: Path, environment: Mapping[str, str] = os.environ) -> OpenIdConfiguration:
    """Read the file. Raises UsageError with all that is wrong in it."""
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(_fault(f"cannot read `{file}`: {error.strerror or type(error).__name__}")) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise UsageError(_fault(f"`{file}` is no TOML")) from None
    faults = [*_key_faults(given), *_address_faults(given)]
    secret, secret_faults = _secret(given, file.parent, environment)
    if faults or secret_faults:
        raise UsageError([*faults, *secret_faults])
    return OpenIdConfiguration(
        issuer=given["issuer"],
        client_id=given["client_id"],
        address=given["address"],
        label=given.get("label", urlsplit(given["issuer"]).hostname),
        client_secret=secret,
    )


def safe_address(address: object) -> bool:
    """Whether an address is one of HTTPS; HTTP is for this machine alone."""
    if not isinstance(address, str):
        return False
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.username is not None or parts.fragment or not host:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and _is_here(host))


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _key_faults(given: Mapping[str, object]) -> Iterable[Diagnostic]:
    for key in given:
        if key not in _KEYS:
            yield _fault(f"unknown key `{key}` in the file for OpenID Connect", did_you_mean(key, _KEYS))
    for key in _NEEDED:
        if key not in given:
            yield _fault(f"the file for OpenID Connect has no `{key}`")
    for key in _KEYS:
        if key in given and not (isinstance(given[key], str) and given[key]):
            yield _fault(f"`{key}` of the file for OpenID Connect must be a text")


def _address_faults(given: Mapping[str, object]) -> Iterable[Diagnostic]:
    for key in ("issuer", "address"):
        if given.get(key) and isinstance(given[key], str) and not safe_address(given[key]):
            yield _fault(f"`{key}` of the file for OpenID Connect must be an address that begins with https://")


def _secret(
    given: Mapping[str, object], folder: Path, environment: Mapping[str, str]
) -> tuple[str | None, list[Diagnostic]]:
    file, variable = given.get("client_secret_file"), given.get("client_secret_variable")
    if file is not None and variable is not None:
        return None, [_fault("give `client_secret_file` or `client_secret_variable`, not both")]
    if isinstance(file, str):
        try:
            secret = (folder / file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return None, [_fault("the file that `client_secret_file` names cannot be read")]
        return secret, [] if secret else [_fault("the file that `client_secret_file` names is empty")]
    if isinstance(variable, str):
        secret = environment.get(variable, "")
        return secret, [] if secret else [_fault(f"the variable `{variable}` has no secret")]
    return None, []


def _fault(text: str, hint: str | None = None) -> Diagnostic:
    return Diagnostic("PPF998", text, hint=hint)


# Why nobody was signed in by a provider. None quotes what the provider said.


class ProviderError(RuntimeError):
    """The provider cannot be reached, or what it answers cannot be used."""


class TokenRefusedError(ValueError):
    """The token is forged, for somebody else, of another sign-in, or too old."""


class UnknownKeyError(TokenRefusedError):
    """The token is signed by a key that was not among the keys."""


# Sign-ins that a provider carries out: what goes there, and what must come back, in the same browser, once.


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
        """The hash of the verifier that the provider gets beforehand (S256)."""
        return _text(hashlib.sha256(self.verifier.encode()).digest())


class Flows:
    """Begins sign-ins, and takes back each of them once; those that a server began end with it.

    A visitor knows the word of the visit, and may choose it: only the server's key proves the provider's answer.
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
        _, until, link = self._read_signed(word, "state", state)
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
        subject, _, link = self._read_signed(word, "proof", proof)
        return base64.b64decode(subject + "=" * (-len(subject) % 4), altchars=b"-_", validate=True).decode(), link

    def _read_signed(self, word: str, purpose: str, signed: str) -> tuple[str, int, str]:
        """Return the parts of a text of ours. Raises FlowRefusedError where it is none, or too old."""
        plain, _, signature = signed.rpartition(".")
        parts = plain.split(".")
        known = hmac.compare_digest(_derived(self._key, word, purpose, plain).encode(), signature.encode())
        if not known or len(parts) != _PARTS or int(parts[1]) < self._now():
            raise FlowRefusedError
        return parts[0], int(parts[1]), parts[2]


def _derived(key: bytes, word: str, purpose: str, text: str) -> str:
    """Return a text that only the server can derive. Visitors choose the word: no part may pass for another."""
    return _text(hmac.new(key, json.dumps([purpose, word, text]).encode(), hashlib.sha256).digest())


def _text(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

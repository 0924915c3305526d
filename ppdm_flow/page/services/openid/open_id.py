"""Signing in by OpenID Connect, from the link that somebody follows to the identity that comes back."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from ppdm_flow.page.services.accounts.links import Identity
from ppdm_flow.page.services.openid.configuration import (
    Flows,
    OpenIdConfiguration,
    ProviderError,
    SignInFlow,
    TokenRefusedError,
    UnknownKeyError,
    read_configuration,
    safe_address,
)
from ppdm_flow.page.services.storage.database import PageDatabase


class OpenId:
    """The provider by which people may sign in beside their passwords."""

    def __init__(self, configuration: OpenIdConfiguration, provider: Provider, flows: Flows) -> None:
        self._configuration, self._provider, self._flows = configuration, provider, flows

    @property
    def label(self) -> str:
        """What the provider is called."""
        return self._configuration.label

    def begin(self, word: str, link: str = "") -> str:
        """Return the address to send a browser to, whose visit has this word. Raises ProviderError."""
        described = self._provider.description()
        flow = self._flows.begin(word, link)
        query = {
            "response_type": "code",
            "scope": "openid",
            "client_id": self._configuration.client_id,
            "redirect_uri": self._configuration.redirect_uri,
            "state": flow.state,
            "nonce": flow.nonce,
            "code_challenge": flow.challenge,
            "code_challenge_method": "S256",
        }
        return f"{described.authorization}{'&' if '?' in described.authorization else '?'}{urlencode(query)}"

    def take(self, word: str, state: str) -> SignInFlow:
        """Return what comes back to a visit: each once. Raises FlowRefusedError."""
        return self._flows.take(word, state)

    def identity(self, flow: SignInFlow, code: str) -> Identity:
        """Return who has signed in. Raises ProviderError, TokenRefusedError."""
        token = self._provider.id_token(code, flow.verifier)
        try:
            return self._checked(token, flow, newer=False)
        except UnknownKeyError:
            return self._checked(token, flow, newer=True)

    def proven(self, word: str, proof: str) -> tuple[Identity, str]:
        """Return who has signed in in the visit of this word, and the hash of the link. Raises FlowRefusedError."""
        subject, link = self._flows.subject(word, proof)
        return Identity(self._configuration.issuer, subject), link

    def _checked(self, token: str, flow: SignInFlow, *, newer: bool) -> Identity:
        return identity(
            token,
            self._provider.keys(newer=newer),
            issuer=self._configuration.issuer,
            client=self._configuration.client_id,
            nonce=flow.nonce,
        )


def opened(file: Path, database: PageDatabase) -> OpenId:
    """Return the provider that a file names. Nobody is asked before somebody signs in. Raises UsageError."""
    configuration = read_configuration(file)
    return OpenId(configuration, Provider(configuration), Flows(database))


# The provider, as it describes itself: addresses, keys, and the exchange of a code for an ID token.


_SECONDS = 10.0
_LARGEST = 2**20
_KEPT = 3600.0
"""Seconds after which the provider is asked again what it says of itself."""
_PAUSE = 60.0
"""Seconds between two questions for keys that were not there."""
_SILENT = 10.0
"""Seconds after a provider did not answer in which it is not asked again."""
_AT_ONCE = 12
"""Questions at the same time: each holds one of the server's 40 threads."""


@dataclass(frozen=True, slots=True)
class Description:
    """What of a provider's description is used (OpenID Connect Discovery 1.0, section 3)."""

    authorization: str
    token: str
    keys: str
    secret_in_form: bool


class Provider:
    """One provider. What it says of itself is kept for an hour.

    No thread waits for the question of another one: two that find nothing kept both ask.
    """

    def __init__(self, configuration: OpenIdConfiguration, now: Callable[[], float] = time.monotonic) -> None:
        self._configuration, self._now = configuration, now
        self._places = threading.BoundedSemaphore(_AT_ONCE)
        self._silent_until = -math.inf
        self._description: tuple[float, Description] | None = None
        self._keys: tuple[float, KeySet] | None = None

    def description(self) -> Description:
        """Return what the provider says of itself. Raises ProviderError."""
        kept = self._description
        if kept is None or self._now() - kept[0] > _KEPT:
            kept = self._description = (self._now(), self._described())
        return kept[1]

    def keys(self, *, newer: bool = False) -> KeySet:
        """Return the keys that sign ID tokens; ``newer``: those that it has now. Raises ProviderError."""
        address = self.description().keys
        kept = self._keys
        if kept is None or self._now() - kept[0] > (_PAUSE if newer else _KEPT):
            kept = self._keys = (self._now(), _key_set(self._json("GET", address)))
        return kept[1]

    def id_token(self, code: str, verifier: str) -> str:
        """Exchange a code for an ID token. Raises ProviderError."""
        described = self.description()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._configuration.redirect_uri,
            "client_id": self._configuration.client_id,
            "code_verifier": verifier,
        }
        secret = self._configuration.client_secret
        login = None
        if secret is not None and described.secret_in_form:
            form["client_secret"] = secret
        elif secret is not None:
            login = httpx2.BasicAuth(_encoded(self._configuration.client_id), _encoded(secret))
        token = self._json("POST", described.token, form, login).get("id_token")
        if not isinstance(token, str):
            raise ProviderError
        return token

    def _described(self) -> Description:
        issuer = self._configuration.issuer
        document = self._json("GET", f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        authorization, token, keys = (
            str(document.get(name, "")) for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")
        )
        if document.get("issuer") != issuer or not all(map(safe_address, (authorization, token, keys))):
            raise ProviderError
        ways = document.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        in_form = "client_secret_basic" not in ways and "client_secret_post" in ways
        return Description(authorization, token, keys, in_form)

    def _json(
        self, method: str, address: str, form: Mapping[str, str] | None = None, login: httpx2.BasicAuth | None = None
    ) -> dict[str, Any]:
        body = bytearray()
        latest = time.monotonic() + _SECONDS
        try:
            with (
                self._place(),
                httpx2.Client(timeout=_SECONDS, follow_redirects=False) as client,
                client.stream(method, address, data=form, auth=login, headers={"accept": "application/json"}) as answer,
            ):
                if answer.status_code != httpx2.codes.OK:
                    raise ProviderError
                for piece in answer.iter_bytes():
                    body += piece
                    if len(body) > _LARGEST or time.monotonic() > latest:
                        raise ProviderError
            document = json.loads(body)
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError):
            raise ProviderError from None
        if not isinstance(document, dict):
            raise ProviderError
        return document

    @contextmanager
    def _place(self) -> Iterator[None]:
        """Ask as one of few. Raises ProviderError at once where others ask already, or nothing came a moment ago."""
        if self._now() < self._silent_until or not self._places.acquire(blocking=False):
            raise ProviderError
        try:
            yield
        except httpx2.TransportError:
            self._silent_until = self._now() + _SILENT
            raise
        finally:
            self._places.release()


def _key_set(document: dict[str, Any]) -> KeySet:
    keys = document.get("keys")
    if not isinstance(keys, list) or not all(isinstance(key, dict) for key in keys):
        raise ProviderError
    public = [key for key in keys if "d" not in key]  # of private ones all numbers are tested, which takes long
    signing = [key for key in public if key.get("use", "sig") == "sig" and key.get("kty") in ("RSA", "EC", "OKP")]
    try:
        return KeySet.import_key_set({"keys": signing})
    except (JoseError, ValueError, TypeError, KeyError):
        raise ProviderError from None


def _encoded(text: str) -> str:
    """Return an identifier or a secret as RFC 6749 (2.3.1) puts it into a header."""
    return str(httpx2.QueryParams({"x": text}))[2:]


# What an ID token says, if it is genuine and for us (OpenID Connect Core 1.0, section 3.1.3.7).


ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
"""Signatures with a public key: neither none nor a code with a shared secret is one."""
_LEEWAY = 60
_OLDEST = 10 * 60
_SUBJECT = 255


def identity(
    token: str, keys: KeySet, *, issuer: str, client: str, nonce: str, now: Callable[[], float] = time.time
) -> Identity:
    """Return whom a token is about. Raises TokenRefusedError."""
    try:
        registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
        claims = jwt.decode(token, keys, registry=registry).claims
        jwt.JWTClaimsRegistry(
            now=int(now()),
            leeway=_LEEWAY,
            iss={"essential": True, "value": issuer},
            aud={"essential": True, "value": client},
            sub={"essential": True},
            exp={"essential": True},
            iat={"essential": True},
            nonce={"essential": True, "value": nonce},
        ).validate(claims)
    except InvalidKeyIdError:
        raise UnknownKeyError from None
    except (JoseError, ValueError, TypeError, RecursionError):
        raise TokenRefusedError from None
    audience, party = claims["aud"], claims.get("azp", client)
    if party != client or (isinstance(audience, list) and len(audience) > 1 and "azp" not in claims):
        raise TokenRefusedError
    if not isinstance(claims["nonce"], str) or claims["iat"] < now() - _OLDEST - _LEEWAY:
        raise TokenRefusedError
    if not isinstance(claims["sub"], str) or len(claims["sub"]) > _SUBJECT:
        raise TokenRefusedError
    return Identity(issuer, claims["sub"])

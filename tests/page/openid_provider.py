"""An OpenID Connect provider that a test runs: it signs in whom the test says, and lies as the test says."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, RSAKey
from sites import PATIENCE

CLIENT = "ppdm-flow"
SECRET = "s3cret: with a colon"


@cache
def own_key() -> RSAKey:
    """Return the key of all providers: finding one takes a fifth of a second."""
    return RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})


@cache
def foreign_key() -> RSAKey:
    """Return a key that no provider has."""
    return RSAKey.generate_key(2048)


@dataclass
class FakeProvider:
    """A provider on a port of this machine. What tests change of it is public."""

    issuer: str = ""
    keys: list[Any] = field(default_factory=lambda: [own_key()])
    claims: Callable[[dict[str, Any]], dict[str, Any]] = dict
    sign: Callable[[dict[str, Any]], str] | None = None
    description: dict[str, Any] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    refuses_used_codes: bool = True
    broken: bytes | None = None
    silent: threading.Event | None = None
    """Until this is set, nothing is answered."""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def sign_in(self, address: str, subject: str) -> dict[str, str]:
        """Do what a person does at the provider; return what the browser brings back."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert query["response_type"] == "code"
        assert query["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(8)
        self.codes[code] = {**query, "subject": subject}
        return {"code": code, "state": query["state"]}

    def described(self) -> dict[str, Any]:
        """Return the discovery document."""
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            **self.description,
        }

    def token(self, form: dict[str, str], login: str | None) -> dict[str, Any] | None:
        """Return what the token endpoint answers; None where it refuses."""
        expected = base64.b64encode(b"ppdm-flow:s3cret%3A+with+a+colon").decode()
        begun = self.codes.get(form.get("code", ""))
        if login != f"Basic {expected}" or begun is None or form["redirect_uri"] != begun["redirect_uri"]:
            return None
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        if _text(digest) != begun["code_challenge"]:
            return None
        if form["code"] in self.used and self.refuses_used_codes:
            return None
        self.used.add(form["code"])
        now = int(time.time())
        claims = self.claims(
            {
                "iss": self.issuer,
                "aud": CLIENT,
                "sub": begun["subject"],
                "nonce": begun["nonce"],
                "iat": now,
                "exp": now + 300,
            }
        )
        return {"token_type": "Bearer", "access_token": "unused", "id_token": (self.sign or self.signed)(claims)}

    def signed(self, claims: dict[str, Any]) -> str:
        """Return an ID token as the provider signs it."""
        return jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.keys[0])

    def public(self) -> dict[str, Any]:
        """Return the public keys."""
        return KeySet(self.keys).as_dict()


def unsigned(claims: dict[str, Any]) -> str:
    """Return an ID token that says that it needs no signature."""
    return _parts({"alg": "none"}, claims) + "."


def signed_by_another(claims: dict[str, Any]) -> str:
    """Return an ID token with a key that only calls itself that of the provider."""
    return jwt.encode({"alg": "RS256", "kid": "one"}, claims, foreign_key())


def signed_with_public_key(provider: FakeProvider) -> Callable[[dict[str, Any]], str]:
    """Return how tokens are made whose code uses the public key as if it were a shared secret."""
    key = provider.keys[0].as_pem(private=False)

    def signed(claims: dict[str, Any]) -> str:
        parts = _parts({"alg": "HS256", "kid": "one"}, claims)
        return f"{parts}.{_text(hmac.digest(key, parts.encode(), 'sha256'))}"

    return signed


def elliptic() -> ECKey:
    """Return a key of another kind."""
    return ECKey.generate_key("P-256", {"kid": "two", "use": "sig"})


def _parts(*documents: dict[str, Any]) -> str:
    return ".".join(_text(json.dumps(document).encode()) for document in documents)


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@contextmanager
def running(provider: FakeProvider) -> Iterator[FakeProvider]:
    """Answer requests as long as the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            provider.requests.append(self.path)
            pages = {"/.well-known/openid-configuration": provider.described, "/keys": provider.public}
            page = pages.get(self.path)
            self._answer(200 if page else 404, page() if page else {})

        def do_POST(self) -> None:
            provider.requests.append(self.path)
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            told = provider.token(form, self.headers.get("authorization"))
            self._answer(200 if told else 400, told or {"error": "invalid_grant"})

        def _answer(self, status: int, told: dict[str, Any]) -> None:
            if provider.silent is not None:
                provider.silent.wait(PATIENCE)
            body = json.dumps(told).encode() if provider.broken is None else provider.broken
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(body)

        def log_message(self, *_words: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

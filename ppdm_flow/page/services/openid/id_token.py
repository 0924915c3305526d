"""What an ID token says, if it is genuine and for us (OpenID Connect Core 1.0, section 3.1.3.7)."""

from __future__ import annotations

import time
from collections.abc import Callable

from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from ppdm_flow.page.services.accounts.identities import Identity
from ppdm_flow.page.services.openid.refusals import TokenRefusedError, UnknownKeyError

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

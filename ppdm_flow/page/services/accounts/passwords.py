"""Passwords as argon2id hashes."""

from __future__ import annotations

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

_HASHER = PasswordHasher()
LEAST_LENGTH = 12
"""Characters of a password: length is what counts (NIST SP 800-63B, 3.1.1)."""
MOST_LENGTH = 256
_NO_PASSWORD = _HASHER.hash("no account has this password")


def hashed(password: str) -> str:
    """Return the argon2id hash of a password, with its salt and parameters."""
    return _HASHER.hash(password)


def matches(stored: str | None, password: str) -> bool:
    """Whether the password is that of the hash. Without a hash it takes as long, and is False."""
    try:
        return _HASHER.verify(stored or _NO_PASSWORD, password) and stored is not None
    except (VerificationError, InvalidHashError):
        return False

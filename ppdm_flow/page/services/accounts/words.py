"""Random words that open something: the server keeps their hashes alone."""

from __future__ import annotations

import hashlib
import secrets


def new_word() -> str:
    """Return 256 random bits as text for cookies and addresses."""
    return secrets.token_urlsafe(32)


def hash_of(word: str) -> str:
    """Return what is kept of a word. It is as random as a key: one round of SHA-256 is enough."""
    return hashlib.sha256(word.encode()).hexdigest()

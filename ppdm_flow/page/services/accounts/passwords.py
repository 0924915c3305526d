"""Passwords as argon2id hashes, and random words that open something, of which the server keeps the hashes too."""

from __future__ import annotations

import hashlib
import secrets
import threading
import unicodedata

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

MEMORY_KIB = 32 * 1024
ROUNDS = 3
LEAST_LENGTH = 12
"""Characters of a password: length is what counts (NIST SP 800-63B, 3.1.1)."""
MOST_LENGTH = 256
LEAST_DIFFERENT = 5
"""Different characters of a password."""
HASHES_AT_ONCE = 2
"""Hashes that are computed at the same time: each needs all of its memory."""


class Passwords:
    """Makes and compares hashes at one cost: ``memory_kib`` KiB, ``rounds`` passes over them, one thread."""

    def __init__(self, memory_kib: int = MEMORY_KIB, rounds: int = ROUNDS) -> None:
        self._hasher = PasswordHasher(time_cost=rounds, memory_cost=memory_kib, parallelism=1)
        self._turns = threading.BoundedSemaphore(HASHES_AT_ONCE)
        self._no_password = self.hashed("no account has this password")

    def hashed(self, password: str) -> str:
        """Return the argon2id hash of a password, with its salt and parameters."""
        with self._turns:
            return self._hasher.hash(_normal(password))

    def matches(self, stored: str | None, password: str) -> bool:
        """Whether the password is that of the hash. Without a hash it takes as long, and is False."""
        with self._turns:
            try:
                right = self._hasher.verify(stored or self._no_password, _normal(password[: MOST_LENGTH + 1]))
            except (VerificationError, InvalidHashError):
                return False
        return right and stored is not None

    def outdated(self, stored: str) -> bool:
        """Whether a hash was made at another cost."""
        return self._hasher.check_needs_rehash(stored)


def weakness(password: str, name: str) -> str | None:
    """Return the key of the text that says what is wrong with a new password; None where nothing is."""
    if len(password) < LEAST_LENGTH:
        return "accounts.password_short"
    if len(password) > MOST_LENGTH:
        return "accounts.password_long"
    plain = _normal(password).casefold()
    if len(set(plain)) < LEAST_DIFFERENT or plain in _USUAL:
        return "accounts.password_easy"
    if len(name) > 3 and not plain.replace(_normal(name).casefold(), "").strip("0123456789"):
        return "accounts.password_easy"
    return None


def _normal(password: str) -> str:
    return unicodedata.normalize("NFKC", password)


_USUAL = frozenset(
    {
        "123456789012", "1234567890123", "12345678901234", "123456789012345", "1234567890123456", "0123456789012",
        "123456789abc", "1q2w3e4r5t6y", "1qaz2wsx3edc", "1qaz2wsx3edc4rfv", "abcdefghijkl", "abcdefghijklm",
        "abcdefghijklmnopqrstuvwxyz", "administrator", "administrator1", "changemechangeme", "correct horse battery",
        "correcthorsebatterystaple", "iloveyou1234", "letmeinletmein", "password1234",
        "password12345", "password123456",
        "passwordpassword", "qwertyuiop12", "qwertyuiop123", "qwertyuiopasdfghjkl", "qwertyuiopasdfghjklzxcvbnm",
        "qwerty123456", "qwertyqwerty", "welcome12345", "welcomewelcome", "zaq12wsxcde3",
    }
)  # fmt: skip
"""Passwords of twelve characters and more that lists of the most used ones begin with."""


def new_word() -> str:
    """Return 256 random bits as text for cookies and addresses."""
    return secrets.token_urlsafe(32)


def hash_of(word: str) -> str:
    """Return what is kept of a word. It is as random as a key: one round of SHA-256 is enough."""
    return hashlib.sha256(word.encode()).hexdigest()

"""Names of accounts: what may be one, and which count as the same."""

from __future__ import annotations

import unicodedata

MOST_LENGTH = 64


class NameTakenError(ValueError):
    """There is an account of this name, or of one that is written nearly so."""


def normal(name: str) -> str:
    """Return a name as it is kept: composed characters, single spaces, none around it."""
    return " ".join(unicodedata.normalize("NFC", name).split())


def key(name: str) -> str:
    """Return what two names have in common that count as the same: case and forms of letters do not matter."""
    return unicodedata.normalize("NFKC", normal(name)).casefold()


def may_be_name(name: str) -> bool:
    """Whether an account may be called so: up to 64 characters that all can be seen, none that turns the line."""
    return 0 < len(name) <= MOST_LENGTH and name.isprintable() and normal(name) == name

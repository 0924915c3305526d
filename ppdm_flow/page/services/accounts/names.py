"""Names of accounts: what may be one, and which count as the same."""

from __future__ import annotations

import unicodedata

MOST_LENGTH = 64
_MOST_TYPED = 4 * MOST_LENGTH
"""Characters in which a name of 64 may be typed: composing some takes the square of their number."""


class NameTakenError(ValueError):
    """There is an account of this name, or of one that is written nearly so."""


def normal(name: str) -> str:
    """Return a name as it is kept: composed characters, single spaces, none around it.

    A text that is too long for a name is returned as it is.
    """
    if len(name) > _MOST_TYPED:
        return name
    return " ".join(unicodedata.normalize("NFC", name).split())


def key(name: str) -> str:
    """Return what two names have in common that count as the same: case and forms of letters do not matter.

    A text that is too long for a name has the empty key, which no account has.
    """
    if len(name) > _MOST_TYPED:
        return ""
    return unicodedata.normalize("NFKC", normal(name)).casefold()


def may_be_name(name: str) -> bool:
    """Whether an account may be called so: up to 64 characters that all can be seen, none that turns the line."""
    return 0 < len(name) <= MOST_LENGTH and name.isprintable() and normal(name) == name

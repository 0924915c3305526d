"""What a passphrase has to be before it protects a key."""

from __future__ import annotations

from ppdm_flow.page.services.accounts.passwords import LEAST_LENGTH, MOST_LENGTH


def passphrase_fault(passphrase: str) -> str:
    """Return the key of a text that says what is wrong with a new passphrase; empty where nothing is."""
    if len(passphrase) < LEAST_LENGTH:
        return "keys.passphrase_short"
    return "" if is_passphrase(passphrase) else "keys.passphrase_unusable"


def is_passphrase(text: str) -> bool:
    """Whether a process can be given it: not empty, of one line, not without end."""
    return 0 < len(text) <= MOST_LENGTH and text.isprintable()

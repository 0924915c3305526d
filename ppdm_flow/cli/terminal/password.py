"""Asking for the password of a key: a variable of the environment, else the person at the terminal."""

from __future__ import annotations

import getpass
import os
import sys

from ppdm_flow.sdk.spec import PASSWORD_VARIABLE


def new_password() -> bytes | None:
    """Return a password for a new key, typed twice; None where there is none, or the two differ."""
    given = os.environ.get(PASSWORD_VARIABLE)
    if given:
        return given.encode()
    if not sys.stdin.isatty():
        return None
    first = getpass.getpass("Password for the new key: ")
    repeated = getpass.getpass("The same again: ")
    return first.encode() if first == repeated else None


def key_password() -> bytes | None:
    """Return the password; None where there is neither."""
    given = os.environ.get(PASSWORD_VARIABLE)
    if given:
        return given.encode()
    if not sys.stdin.isatty():
        return None
    return getpass.getpass("Password of the key: ").encode()

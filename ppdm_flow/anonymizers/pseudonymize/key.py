"""The key of the pseudonyms: from the environment or a file, never from a policy."""

from __future__ import annotations

import os
from pathlib import Path

from ppdm_flow.anonymizers.pseudonymize.spec import PseudonymizeParams
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError

LEAST_BYTES = 16
LEAST_DIFFERENT = 4
_FILE_LIMIT = 1 << 16


def read_key(params: PseudonymizeParams, home: Path) -> bytes:
    """Return the key's bytes, without white space around them. Raises PluginError; the key is never shown."""
    if params.key_env is not None and params.key_file is None:
        place = f"the environment variable {params.key_env}"
        value = os.environ.get(params.key_env)
        if value is None:
            raise _error(f"{place} is not set")
        key = value.encode(errors="surrogateescape").strip()
    elif params.key_file is not None and params.key_env is None:
        place = f"the key file {params.key_file}"
        key = _file(home / params.key_file, place)
    else:
        raise _error("give either `key_env` or `key_file`: pseudonyms need a key from outside")
    if len(key) < LEAST_BYTES:
        raise _error(f"{place} holds a key of {len(key)} bytes; it needs {LEAST_BYTES}")
    if len(set(key)) < LEAST_DIFFERENT:
        raise _error(f"{place} holds a key that hardly differs from byte to byte")
    return key


def _file(path: Path, place: str) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(_FILE_LIMIT).strip()
    except OSError as error:
        raise _error(f"{place} cannot be read: {error.strerror}") from None


def _error(text: str) -> PluginError:
    return PluginError(Diagnostic("PPF790", text, help="make a key once: openssl rand -hex 32"))

"""The secret key of a ledger's hashes, made once and readable by its owner only; and the form of these hashes."""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.engine.faults import data_fault, output_fault
from ppdm_flow.sdk.history import Hashes
from ppdm_flow.sdk.key_file import refuse_shared

Positions = npt.NDArray[np.intp]
WIDTH = 16
"""Bytes of a hash: 128 bits."""
_HEX = 2 * WIDTH


def packed(hashes: Hashes) -> bytes:
    """Return the bytes of hashes (n,), :data:`WIDTH` each."""
    return bytes.fromhex(np.ascontiguousarray(hashes, dtype=f"S{_HEX}").tobytes().decode("ascii"))


def hashes_of(data: bytes) -> Hashes:
    """Return packed hashes as hexadecimal digits (n,)."""
    return np.frombuffer(data.hex().encode("ascii"), dtype=f"S{_HEX}")


def numbers_of(hashes: Hashes) -> npt.NDArray[np.int64]:
    """Return the first 63 bits of hashes (n,)."""
    first = np.frombuffer(packed(hashes), dtype=">u8")[::2]
    return (first >> np.uint64(1)).astype(np.int64)


def ranked(hashes: Hashes) -> Positions:
    """Return the order that sorts hashes (n,)."""
    halves = np.frombuffer(packed(hashes), dtype=">u8").reshape(-1, 2).astype(np.uint64)
    return np.lexsort((halves[:, 1], halves[:, 0]))


_BYTES = 32


class LedgerKey:
    """HMAC-SHA256 (RFC 2104), cut to 128 bits."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    @property
    def commitment(self) -> str:
        """What the ledger knows the key by."""
        return hmac.digest(self._secret, b"ppdm-flow ledger", "sha256").hex()

    def seal(self, text: bytes) -> str:
        """Return a hash of 256 bits that nobody makes without the key."""
        return hmac.digest(self._secret, b"chain\0" + text, "sha256").hex()

    def hashes(self, kind: str, texts: Iterable[bytes]) -> Hashes:
        """Return the hashes of ``texts``, those of one ``kind`` apart from all others."""
        prefix, secret = kind.encode() + b"\0", self._secret
        return hashes_of(b"".join([hmac.digest(secret, prefix + text, "sha256")[:WIDTH] for text in texts]))

    def numbers(self, kind: str, texts: Iterable[bytes]) -> npt.NDArray[np.int64]:
        """Return the first 63 bits of the hashes of ``texts``."""
        return numbers_of(self.hashes(kind, texts))


def required(key: LedgerKey | None) -> LedgerKey:
    """Return the key. Raises UsageError where there is none: nothing is written without it."""
    if key is None:
        text = "nothing is written to a ledger without its key"
        raise UsageError(Diagnostic("PPF687", text, help="add `--key FILE`"))
    return key


def read_key(path: Path) -> LedgerKey:
    """Return the key in a file. Raises DataError where there is none, or where others may read it."""
    try:
        text = path.read_text(encoding="ascii").strip()
        secret = bytes.fromhex(text)
    except OSError as error:
        reason = error.strerror or "no reason given"
        raise data_fault(
            "PPF735",
            f"the key of the ledger, `{path}`, cannot be read: {reason}",
            advice="without its key nobody can be found in the ledger; put the key file back",
        ) from None
    except ValueError:
        secret = b""
    if len(secret) != _BYTES:
        raise data_fault("PPF735", f"`{path}` is not a ledger key")
    refuse_shared(path, "the ledger's key")
    return LedgerKey(secret)


def make_key(path: Path) -> LedgerKey:
    """Write a new key to a file that only its owner can read, or return the one that is there."""
    secret = secrets.token_bytes(_BYTES)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secret.hex() + "\n")
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        return read_key(path)
    except OSError as error:
        raise output_fault(error, f"the ledger's key `{path}`") from None
    return LedgerKey(secret)

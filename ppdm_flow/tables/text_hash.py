"""Keyed hashes of texts: BLAKE2b (RFC 7693) of 64 bits."""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Hashes = npt.NDArray[np.uint64]

KEY_BYTES = 16
_BYTES = 8
_AT_ONCE = 1 << 16


def text_hashes(texts: pa.StringArray, key: bytes) -> Hashes:
    """Return a keyed 64-bit hash of each text (texts,), none of which is null; ``key`` has 16 bytes."""
    keyed, digests = hashlib.blake2b(key=key, digest_size=_BYTES), bytearray()
    for start in range(0, len(texts), _AT_ONCE):
        for text in texts[start : start + _AT_ONCE].cast(pa.binary()).to_pylist():
            one = keyed.copy()
            one.update(text)
            digests += one.digest()
    return np.frombuffer(digests, np.dtype("<u8")).astype(np.uint64)

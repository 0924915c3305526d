"""Hashes of a ledger: hexadecimal in memory, packed bytes in tables."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.history import Hashes

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


def ranked(hashes: Hashes) -> Positions:
    """Return the order that sorts hashes (n,)."""
    halves = np.frombuffer(packed(hashes), dtype=">u8").reshape(-1, 2).astype(np.uint64)
    return np.lexsort((halves[:, 1], halves[:, 0]))

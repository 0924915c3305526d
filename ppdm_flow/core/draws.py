"""Row-addressable randomness: AES-256 in counter mode, keyed by run and step, addressed by source row number.

The release is the same bytes for any partitioning, worker count or engine, and another step's presence changes
nothing: draw ``j`` of row ``i`` of a step is 64-bit word ``i * draws_per_row + j`` of that step's key stream.
The key stream is NIST SP 800-38A counter mode over zero bytes, words read little-endian.

Where several rows have to draw alike, such as those of one person, a draw is addressed by a keyed hash of what they
share instead: a 128-bit address, which AES-256 under a key of its own permutes.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

Rows = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Addresses = npt.NDArray[np.uint64]
"""128-bit addresses of draws, two words each, shape (n, 2); those of several things together are combined by ``^``."""

_BLOCK = 16  # bytes
_WORDS_PER_BLOCK = 2
_SPAN_LIMIT = 1 << 18  # words generated at once: 2 MB stay in the cache
_ZEROS = bytes(1 << 18)
"""What is encrypted, some at a time: the same few pages over and over."""


@dataclass(frozen=True, slots=True, repr=False)
class RunKey:
    """The 256-bit key of one run. It has no representation, so that it cannot be logged by accident."""

    secret: bytes

    def __post_init__(self) -> None:
        if len(self.secret) != 32:
            raise ValueError(f"a run key must have 32 bytes, got {len(self.secret)}")

    def __repr__(self) -> str:
        return "RunKey(…)"

    @classmethod
    def from_seed(cls, seed: str) -> RunKey:
        """Derive the key of a reproducible run from the policy's seed."""
        return cls(hashlib.sha256(b"ppdm-flow reproducible key v1\0" + seed.encode()).digest())

    @property
    def commitment(self) -> str:
        """What the manifest may hold: a hash that proves the key later and reveals nothing of it now."""
        return hashlib.sha256(b"ppdm-flow key commitment v1\0" + self.secret).hexdigest()

    def step(self, name: str) -> bytes:
        """Return the 32-byte key of one step's stream."""
        return hmac.new(self.secret, b"ppdm-flow step stream v1\0" + name.encode(), hashlib.sha256).digest()


def key_stream(key: bytes, start: int, count: int) -> Words:
    """Words ``start`` to ``start + count`` of the stream, in [0, 2^64)."""
    first, skip = divmod(start, _WORDS_PER_BLOCK)
    blocks = -(-(skip + count) // _WORDS_PER_BLOCK)
    encryptor = Cipher(algorithms.AES(key), modes.CTR(first.to_bytes(16, "big"))).encryptor()
    words = np.empty((blocks + 1) * _WORDS_PER_BLOCK, dtype="<u8")  # the encryptor asks for room for a block more
    zeros, room, done, size = memoryview(_ZEROS), words.view(np.uint8).data, 0, blocks * _BLOCK
    while done < size:
        done += encryptor.update_into(zeros[: size - done], room[done:])
    return words[skip : skip + count].astype(np.uint64, copy=False)


@dataclass(frozen=True, slots=True, repr=False)
class Draws:
    """One step's draws; ``draws_per_row`` is the fixed upper bound that the step's transform states."""

    key: bytes
    draws_per_row: int

    def words(self, rows: Rows) -> Words:
        """Return uint64 words, shape (len(rows), draws_per_row), uniform on [0, 2^64)."""
        width = self.draws_per_row
        out = np.empty((len(rows), width), dtype=np.uint64)
        if len(rows) == 0 or width == 0:
            return out
        if bool(np.all(rows[1:] > rows[:-1])):
            self._fill(rows, out)
        else:
            order = np.argsort(rows, kind="stable")
            ordered = np.empty_like(out)
            self._fill(rows[order], ordered)
            out[order] = ordered
        return out

    def uniform(self, rows: Rows) -> npt.NDArray[np.float64]:
        """Return doubles on [0, 1) with 53 random bits, shape (len(rows), draws_per_row)."""
        doubles: npt.NDArray[np.float64] = np.multiply(self.words(rows) >> np.uint64(11), 2.0**-53, dtype=np.float64)
        return doubles

    def addresses(self, kind: str, texts: Iterable[str | None]) -> Addresses:
        """Return a keyed hash of each text (BLAKE2b), shape (n, 2); None is no text. ``kind`` says what they are.

        Texts of two kinds have unrelated addresses. The address of a subject with a value is that of the one ``^``
        that of the other.
        """
        key = hmac.new(self.key, b"ppdm-flow draw address v1\0" + kind.encode(), hashlib.sha256).digest()
        hashes = (
            hashlib.blake2b(b"" if text is None else b"\1" + text.encode(), key=key, digest_size=_BLOCK).digest()
            for text in texts
        )
        return np.frombuffer(b"".join(hashes), dtype="<u8").reshape(-1, _WORDS_PER_BLOCK).astype(np.uint64)

    def words_at(self, addresses: Addresses, width: int) -> Words:
        """Return uint64 words, shape (n, ``width``), uniform on [0, 2^64): equal addresses have equal ones."""
        blocks = -(-width // _WORDS_PER_BLOCK)
        plain = np.repeat(addresses[:, None, :], blocks, axis=1)
        plain[:, :, 0] += np.arange(blocks, dtype=np.uint64)
        key = hmac.new(self.key, b"ppdm-flow addressed draws v1", hashlib.sha256).digest()
        # each block is enciphered once for what it addresses: no text whose repetitions a mode would have to hide
        encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305
        out = np.frombuffer(encryptor.update(plain.astype("<u8").tobytes()), dtype="<u8")
        return out.reshape(len(addresses), blocks * _WORDS_PER_BLOCK)[:, :width].astype(np.uint64)

    def again(self, attempt: int) -> Draws:
        """Return further draws for the same rows, a stream of its own for each ``attempt`` from 1.

        For transforms that reject what they drew: nobody knows beforehand how many rows have to draw anew.
        """
        label = b"ppdm-flow attempt stream v1\0" + attempt.to_bytes(8, "big")
        return Draws(hmac.new(self.key, label, hashlib.sha256).digest(), self.draws_per_row)

    def _fill(self, rows: Rows, out: Words) -> None:
        """Fill ``out`` for ascending ``rows``, a bounded stretch of the stream at a time."""
        width = self.draws_per_row
        reach = max(1, _SPAN_LIMIT // width)
        begin = 0
        while begin < len(rows):
            base = int(rows[begin])
            end = int(np.searchsorted(rows, base + reach, side="left"))
            last = int(rows[end - 1])
            stretch = key_stream(self.key, base * width, (last - base + 1) * width).reshape(-1, width)
            out[begin:end] = stretch[rows[begin:end] - base] if last - base + 1 != end - begin else stretch
            begin = end

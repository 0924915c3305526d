"""SipHash-2-4 of many texts at once (Aumasson and Bernstein 2012), over the bytes that Arrow holds.

All texts are stepped through together, eight bytes a step, the longest first: those that have ended are left out of
the later steps. A text of ``LONG`` bytes or more is hashed by keyed BLAKE2b, which has no step for each eight bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Hashes = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]

LONG = 256
"""Bytes of a text from which BLAKE2b takes less time."""
KEY_BYTES = 16
_AT_ONCE = 1 << 13  # texts whose state stays in a processor's cache
_STATE = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
_WORD = 8


def text_hashes(texts: pa.StringArray, key: bytes) -> Hashes:
    """Return a keyed 64-bit hash of each text (texts,), none of which is null; ``key`` has 16 bytes."""
    hashes = np.empty(len(texts), dtype=np.uint64)
    if not len(texts):
        return hashes
    _, bounds, held = texts.buffers()
    ends = np.frombuffer(bounds, np.int32, len(texts) + 1, texts.offset * 4).astype(np.int64)
    begins, lengths = ends[:-1] - ends[0], np.diff(ends)
    held_bytes = (b"" if held is None else held[ends[0] : ends[-1]].to_pybytes()) + bytes(_WORD)
    long = np.flatnonzero(lengths >= LONG)
    for at in long.tolist():
        text = held_bytes[begins[at] : begins[at] + lengths[at]]
        hashes[at] = int.from_bytes(hashlib.blake2b(text, digest_size=_WORD, key=key).digest(), "little")
    order = np.argsort(-lengths, kind="stable")[len(long) :]
    words = np.ndarray((len(held_bytes) - _WORD + 1,), np.dtype("<u8"), held_bytes, strides=(1,))  # one at every byte
    for start in range(0, len(order), _AT_ONCE):
        some = order[start : start + _AT_ONCE]
        hashes[some] = _siphash(words, begins[some], lengths[some], key)
    return hashes


def _siphash(words: Hashes, begins: Places, lengths: Places, key: bytes) -> Hashes:
    """Hash texts in descending order of their lengths in bytes."""
    k = np.frombuffer(key, np.dtype("<u8"))
    state = [np.full(len(begins), np.uint64(word) ^ k[i % 2]) for i, word in enumerate(_STATE)]
    whole = lengths // _WORD
    for step in range(int(whole.max(initial=0)) + 1):
        going = int(np.count_nonzero(whole >= step))
        ended = slice(int(np.count_nonzero(whole > step)), going)
        word = words[begins[:going] + step * _WORD]
        rest = (lengths[ended] % _WORD).astype(np.uint64) * np.uint64(_WORD)
        word[ended] &= (np.uint64(1) << rest) - np.uint64(1)
        word[ended] |= lengths[ended].astype(np.uint64) << np.uint64(56)
        parts = [part[:going] for part in state]
        parts[3] ^= word
        _rounds(parts, 2)
        parts[0] ^= word
    state[2] ^= np.uint64(0xFF)
    _rounds(state, 4)
    hashed: Hashes = state[0] ^ state[1] ^ state[2] ^ state[3]
    return hashed


def _rounds(state: Sequence[Hashes], number: int) -> None:
    """Mix the four words of each text's state ``number`` times, in place."""
    a, b, c, d = state
    for _ in range(number):
        for x, y, turn in ((a, b, 13), (c, d, 16)):
            x += y
            _turn(y, turn)
            y ^= x
        _turn(a, 32)
        for x, y, turn in ((a, d, 21), (c, b, 17)):
            x += y
            _turn(y, turn)
            y ^= x
        _turn(c, 32)


def _turn(words: Hashes, bits: int) -> None:
    """Rotate to the left, in place."""
    over = words >> np.uint64(64 - bits)
    words <<= np.uint64(bits)
    words |= over

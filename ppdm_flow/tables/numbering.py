"""Numbers for long lists of equal values and pairs, by hashing and counting rather than by sorting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Texts = npt.NDArray[np.bytes_]
Codes = npt.NDArray[np.int64]
_ROOM = 8
"""Numbers a pair may have for each value there is, before sorting is the smaller evil."""


def numbered(*lists: Texts) -> tuple[list[Codes], Texts]:
    """Number the texts (n,) of several lists alike, from 0 by first occurrence.

    Returns the numbers of each list, and the different texts by number.
    """
    chunked = chunks(lists)
    coded = chunked.dictionary_encode().combine_chunks()
    ends = np.cumsum([len(each) for each in lists])[:-1]
    every = coded.dictionary if isinstance(coded, pa.DictionaryArray) else coded.chunk(0).dictionary
    distinct = np.frombuffer(every.buffers()[1] or b"", dtype=f"S{chunked.type.byte_width}")[: len(every)]
    return np.split(coded.indices.to_numpy().astype(np.int64), ends), distinct


def joined(one: Codes, other: Codes) -> Codes:
    """Number the pairs (n,) that occur, from 0 in their order; both are numbers from 0."""
    size = int(other.max(initial=0)) + 1
    pairs = one * size + other
    room = (int(one.max(initial=0)) + 1) * size
    if room > _ROOM * (len(pairs) + 1):
        by_sorting: Codes = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
        return by_sorting
    there = np.zeros(room, dtype=bool)
    there[pairs] = True
    by_counting: Codes = (np.cumsum(there) - 1)[pairs]
    return by_counting


def chunks(lists: Sequence[Texts]) -> pa.ChunkedArray:
    """Return lists of texts one after another, as Arrow's binary of the width of the longest, without a copy."""
    width = max((each.itemsize for each in lists), default=1)
    return pa.chunked_array([binary(each.astype(f"S{width}", copy=False)) for each in lists], pa.binary(width))


def binary(texts: Texts) -> pa.Array:
    """Return texts (n,) as Arrow's binary of fixed width, without a copy; shorter ones end in zeros."""
    plain: Sequence[pa.Buffer | None] = [None, pa.py_buffer(np.ascontiguousarray(texts))]
    return pa.Array.from_buffers(pa.binary(texts.itemsize), len(texts), plain)

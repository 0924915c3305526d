"""Rows as 64-bit keys: grouping them, which a search does thousands of times, and finding them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled

Keys = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_LIMIT = 1 << 62


def numbered(keys: Keys) -> tuple[Keys, Keys]:
    """Number keys in the order of their first occurrence: (number of each (n,), place of each number's first (m,))."""
    ids, first = np.empty(len(keys), dtype=np.int64), np.empty(len(keys), dtype=np.int64)
    count = number_into(keys, _slots(2 * len(keys)), ids, first)
    return ids, first[:count].copy()


def _slots(least: int) -> Keys:
    """Return empty slots of a hash table: a power of two, at least ``least``."""
    return np.full(max(16, 1 << (least - 1).bit_length()), -1, dtype=np.int64)


@compiled
def number_into(keys: Keys, slots: Keys, ids: Keys, first: Keys) -> int:
    """Fill ``ids`` and the beginning of ``first`` as :func:`numbered` does, and return how many numbers there are.

    Arrays are made by the caller, here as in all that follow: in compiled code, making one is much code.
    """
    mask = len(slots) - 1
    count = 0
    for i in range(len(keys)):
        key = keys[i]
        h = key ^ (key >> 32)
        h = (h * -7046029254386353131) & 0x7FFFFFFFFFFFFFFF
        at = (h >> 20) & mask
        while True:
            number = slots[at]
            if number < 0:
                slots[at] = count
                ids[i] = count
                first[count] = i
                count += 1
                break
            if keys[first[number]] == key:
                ids[i] = number
                break
            at = (at + 1) & mask
    return count


def keys_of(codes: Codes, rows: Keys, tables: Keys, begins: Keys) -> Keys:
    """Add up ``tables[begins[j] + codes[row, j]]`` over j: the mixed-radix key of each of ``rows``."""
    keys = np.zeros(len(rows), dtype=np.int64)
    add_keys(codes, rows, tables, begins, keys)
    return keys


@compiled
def add_keys(codes: Codes, rows: Keys, tables: Keys, begins: Keys, keys: Keys) -> None:
    """Add the same to ``keys``, in place."""
    for i in range(len(rows)):
        row = rows[i]
        key = keys[i]
        for j in range(len(begins)):
            key += tables[begins[j] + codes[row, j]]
        keys[i] = key


def summed(ids: Keys, values: Keys, size: int) -> Keys:
    """Add up ``values`` by number, exactly."""
    sums = np.zeros(size, dtype=np.int64)
    add_values(ids, values, sums)
    return sums


@compiled
def add_values(ids: Keys, values: Keys, sums: Keys) -> None:
    """Add each of ``values`` to the sum of its number, in place."""
    for i in range(len(ids)):
        sums[ids[i]] += values[i]


@compiled
def merged(begins: Keys, value: Codes, count: Keys, ids: Keys, size: int, values: int) -> tuple[Keys, Codes, Keys]:
    """Merge classes' histograms: class i holds the cells ``begins[i]`` to ``begins[i + 1]`` and becomes ``ids[i]``.

    Returns the same three arrays for ``size`` classes; values in a class are in the order in which they were met.
    """
    starts = np.zeros(size + 1, dtype=np.int64)
    for i in range(len(ids)):
        starts[ids[i] + 1] += 1
    for c in range(size):
        starts[c + 1] += starts[c]
    members = np.empty(len(ids), dtype=np.int64)
    at = starts[:size].copy()
    for i in range(len(ids)):
        members[at[ids[i]]] = i
        at[ids[i]] += 1
    sums = np.zeros(values, dtype=np.int64)
    out_begins = np.zeros(size + 1, dtype=np.int64)
    out_value = np.empty(len(value), dtype=np.int32)
    out_count = np.empty(len(value), dtype=np.int64)
    filled = 0
    for c in range(size):
        begin = filled
        for p in range(starts[c], starts[c + 1]):
            i = members[p]
            for cell in range(begins[i], begins[i + 1]):
                v = value[cell]
                if sums[v] == 0:
                    out_value[filled] = v
                    filled += 1
                sums[v] += count[cell]
        for cell in range(begin, filled):
            out_count[cell] = sums[out_value[cell]]
            sums[out_value[cell]] = 0
        out_begins[c + 1] = filled
    return out_begins, out_value[:filled].copy(), out_count[:filled].copy()


def weighted(
    codes: Codes, rows: Keys, sizes: Keys, kept: npt.NDArray[np.bool_], tables: Floats, begins: Keys
) -> Floats:
    """Add up ``tables[begins[j] + codes[row, j]]`` times size over the classes that are not kept, for each j."""
    sums = np.zeros(len(begins))
    add_weighted(codes, rows, sizes, kept, tables, begins, sums)
    return sums


@compiled
def add_weighted(
    codes: Codes, rows: Keys, sizes: Keys, kept: npt.NDArray[np.bool_], tables: Floats, begins: Keys, sums: Floats
) -> None:
    """Add the same to ``sums``, in place."""
    for i in range(len(rows)):
        if not kept[i]:
            for j in range(len(begins)):
                sums[j] += tables[begins[j] + codes[rows[i], j]] * sizes[i]


def known(keys: Keys, wanted: Keys) -> npt.NDArray[np.bool_]:
    """Return which of ``keys`` are among ``wanted``."""
    mask = np.zeros(len(keys), dtype=np.bool_)
    mark_known(keys, wanted, _slots(4 * len(wanted)), mask)
    return mask


@compiled
def mark_known(keys: Keys, wanted: Keys, slots: Keys, is_known: npt.NDArray[np.bool_]) -> None:
    """Set ``is_known`` for each of ``keys`` that is among ``wanted``."""
    mask = len(slots) - 1
    for i in range(len(wanted)):
        at = (((wanted[i] ^ (wanted[i] >> 32)) * -7046029254386353131) >> 20) & mask
        while slots[at] >= 0 and wanted[slots[at]] != wanted[i]:
            at = (at + 1) & mask
        slots[at] = i
    for i in range(len(keys)):
        at = (((keys[i] ^ (keys[i] >> 32)) * -7046029254386353131) >> 20) & mask
        while slots[at] >= 0:
            if wanted[slots[at]] == keys[i]:
                is_known[i] = True
                break
            at = (at + 1) & mask


def keyed(codes: npt.NDArray[np.signedinteger]) -> Ints:
    """Return one number for each row of ``codes`` (n, d), -1 at least, the same for equal rows only.

    Numbers are in mixed radix, numbered anew where 62 bits do not hold them.
    """
    keys, radix = np.zeros(len(codes), dtype=np.int64), 1
    for column in codes.T:
        width = int(column.max(initial=-1)) + 2
        if radix * width >= _LIMIT:
            distinct, keys = np.unique(keys, return_inverse=True)
            radix = max(1, len(distinct))
        keys = keys * width + (column.astype(np.int64) + 1)
        radix *= width
    return keys


def places_of(rows: Codes, known: Codes) -> Ints:
    """Return the place of each of ``rows`` (n, d) among ``known`` (m, d), all different; -1 for none."""
    keys = keyed(np.concatenate([known, rows]))
    own, wanted = keys[: len(known)], keys[len(known) :]
    if not len(own):
        return np.full(len(wanted), -1, dtype=np.int64)
    order = np.argsort(own)
    at = order[np.minimum(np.searchsorted(own, wanted, sorter=order), len(own) - 1)]
    return np.where(own[at] == wanted, at, -1)

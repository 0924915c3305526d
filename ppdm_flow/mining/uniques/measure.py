"""How many rows are alone under a combination: exactly, or from a share of the combinations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled

Codes = npt.NDArray[np.int32]
Combination = tuple[int, ...]

_ROWS = 1 << 16
_KEY_LIMIT = 1 << 62
_MOST = 3
Keys = npt.NDArray[np.int64]


@compiled
def sampled(first: Codes, second: Codes, third: Codes, widths: Keys, bits: int) -> Keys:
    """Return the mixed-radix keys of those rows whose key hashes into one of 2^bits parts; 0 bits keep all.

    Rows of one combination are kept or left out together. ``widths`` are those of the second and third column.
    """
    n = len(first)
    out = np.empty(n, dtype=np.int64)
    count = 0
    for i in range(n):
        key = (np.int64(first[i]) * widths[0] + second[i]) * widths[1] + third[i]
        # Fibonacci hashing: the upper bits of a product with an odd constant
        mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        out[count] = key
        if bits == 0 or (mixed >> np.uint64(64 - bits)) == 0:
            count += 1
    return out[:count]


@compiled
def alone(keys: Keys) -> int:
    """Count the keys that occur once, by open addressing."""
    size = 16
    while size < 2 * len(keys):
        size *= 2
    mask = size - 1
    slots = np.full(size, -1, dtype=np.int64)
    again = np.zeros(size, dtype=np.bool_)
    single = 0
    for i in range(len(keys)):
        key = keys[i]
        h = key ^ (key >> 32)
        h = (h * -7046029254386353131) & 0x7FFFFFFFFFFFFFFF
        at = (h >> 20) & mask
        while slots[at] >= 0 and slots[at] != key:
            at = (at + 1) & mask
        if slots[at] < 0:
            slots[at] = key
            single += 1
        elif not again[at]:
            again[at] = True
            single -= 1
    return single


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumns:
    """``codes`` of each column, int32 (rows,), from 0 up to its ``widths``; missing values have a code like others.

    Raises ValueError where columns differ in length, or a combination of three has too many possible keys.
    """

    codes: Sequence[Codes]
    widths: Sequence[int]

    def __post_init__(self) -> None:
        if len({len(c) for c in self.codes}) > 1 or len(self.codes) != len(self.widths):
            raise ValueError("codes must be columns of one length, and widths must have one entry per column")

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.codes[0]) if len(self.codes) else 0

    def possible(self, columns: Combination) -> int:
        """Return how many combinations of values there could be."""
        number = 1
        for column in columns:
            number *= int(self.widths[column])
        return number

    def keys(self, columns: Combination, bits: int = 0) -> npt.NDArray[np.int64]:
        """Return the keys of the rows in the first of 2^bits parts of all combinations."""
        if not 1 <= len(columns) <= _MOST:
            raise ValueError(f"keys need from 1 to {_MOST} columns, got {len(columns)}")
        codes, widths = [self.codes[c] for c in columns], [int(self.widths[c]) for c in columns]
        if self.possible(columns) >= _KEY_LIMIT:
            codes, widths = _narrower(codes, widths)
        while len(codes) < _MOST:
            codes.append(np.zeros(self.rows, dtype=np.int32))
            widths.append(1)
        return sampled(codes[0], codes[1], codes[2], np.array(widths[1:], dtype=np.int64), bits)

    def alone(self, columns: Combination) -> int:
        """Return how many rows have a combination of values that no other row has."""
        if len(columns) == 1:
            return int((np.bincount(self.codes[columns[0]], minlength=1) == 1).sum())
        return alone(self.keys(columns))

    def estimate(self, columns: Combination) -> tuple[float, bool]:
        """Return the share of rows that are alone, estimated, and whether all rows that were looked at are.

        Looked at are the rows of a pseudo-random share of the combinations, about 65,000 rows or all (distinct
        sampling: Gibbons, VLDB 2001). The standard error of a share p is below sqrt(p / 65,000).
        """
        bits = max(0, (self.rows // _ROWS).bit_length() - 1)
        keys = self.keys(columns, bits)
        single = alone(keys)
        return min(1.0, single * (1 << bits) / max(1, self.rows)), single == len(keys)


def _narrower(codes: list[Codes], widths: list[int]) -> tuple[list[Codes], list[int]]:
    """Number the pairs of the first two columns that occur: no more than there are rows."""
    pairs = codes[0].astype(np.int64) * widths[1] + codes[1]
    distinct, numbers = np.unique(pairs, return_inverse=True)
    return [numbers.astype(np.int32), *codes[2:]], [len(distinct), *widths[2:]]

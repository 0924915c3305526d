"""FIMI files: numbers are parsed by a compiled kernel, block by block."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.sdk.compiled import compiled
from ppdm_flow.sources.faults import line_fault
from ppdm_flow.sources.lines import LineBlock, SetLines, line_of, merged, ranked, refuse_empty
from ppdm_flow.sources.transactions.spec import TransactionsSourceParams
from ppdm_flow.tables.sets import Baskets

_DENSE = 1 << 22


class TransactionsSource(SetLines[TransactionsSourceParams]):
    """One FIMI file. ``repeated`` counts the repetitions that the last pass left out."""

    def baskets(self, block: LineBlock) -> Baskets:
        """Return the sets of a block. Raises DataError with the line."""
        items = np.empty(len(block.octets) // 2 + 1, dtype=np.int64)
        offsets = np.empty(block.lines + 1, dtype=np.int64)
        wrong, place = numbers(block.octets, items, offsets)
        if wrong:
            raise line_fault(line_of(block, place), _WORDS.get(wrong))
        if self.params.empty == "error":
            refuse_empty(offsets, block.first, "line")
        codes, alphabet = _coded(items[:place])
        repeated = sort_rows(offsets, codes)
        baskets = Baskets(offsets, codes, alphabet)
        if repeated and self.params.repeated == "merge":
            self.repeated += repeated
            return merged(baskets)[0]
        return baskets


def _coded(numbers: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int32], pa.StringArray]:
    """Return codes into the alphabet of the block, which is sorted by text."""
    top = int(numbers.max(initial=-1)) + 1
    if top > max(_DENSE, 4 * len(numbers)):
        distinct, places = np.unique(numbers, return_inverse=True)
        alphabet, rank = ranked(pa.array(distinct).cast(pa.string()))
        return rank[places], alphabet
    there = np.zeros(top, dtype=bool)
    there[numbers] = True
    distinct = np.flatnonzero(there)
    alphabet, rank = ranked(pa.array(distinct).cast(pa.string()))
    code = np.zeros(top, dtype=np.int32)
    code[distinct] = rank
    return code[numbers], alphabet


NOTHING, STRANGE, NEGATIVE, TOO_LONG, NUL, LONE_RETURN = 0, 1, 2, 3, 4, 5
"""What may be wrong with a byte."""

_WORDS = {
    STRANGE: (
        "has something else than item numbers with blanks between",
        "names of items are `format: baskets`; decimals and comments are none of this format",
    ),
    NEGATIVE: ("has a negative number", "items are numbered from 0; `-1` as an end mark is another format"),
    TOO_LONG: ("has a number of more than 18 digits", "names of items are `format: baskets`"),
    LONE_RETURN: ("has a carriage return within it", "save the file with line ends LF or CR LF"),
}

_DIGITS = 18
_SHORT = 48


@compiled
def numbers(
    octets: npt.NDArray[np.uint8], items: npt.NDArray[np.int64], offsets: npt.NDArray[np.int64]
) -> tuple[int, int]:
    """Fill ``items`` and ``offsets`` (from 0, one more than lines). Return what is wrong, and at which byte.

    ``items`` needs room for (bytes + 1) / 2 numbers. Every line must end with a line feed.
    """
    count = rows = digits = 0
    value = np.int64(0)
    offsets[0] = 0
    for i in range(len(octets)):
        octet = octets[i]
        if 48 <= octet <= 57:
            digits += 1
            if digits > _DIGITS:
                return TOO_LONG, i
            value = value * 10 + np.int64(octet - 48)
            continue
        if octet not in (32, 10, 9, 13):
            if octet == 0:
                return NUL, i
            return (NEGATIVE if octet == 45 else STRANGE), i
        if octet == 13 and octets[i + 1] != 10:
            return LONE_RETURN, i
        if digits:
            items[count] = value
            count += 1
            value = np.int64(0)
            digits = 0
        if octet == 10:
            rows += 1
            offsets[rows] = count
    return NOTHING, count


@compiled
def sort_rows(offsets: npt.NDArray[np.int64], items: npt.NDArray[np.int32]) -> int:
    """Sort the items of each row in place, and return how many of them stand in their row a second time."""
    repeated = 0
    for row in range(len(offsets) - 1):
        begin, end = offsets[row], offsets[row + 1]
        if end - begin > _SHORT:
            items[begin:end] = np.sort(items[begin:end])
        else:
            for i in range(begin + 1, end):
                item = items[i]
                j = i - 1
                while j >= begin and items[j] > item:
                    items[j + 1] = items[j]
                    j -= 1
                items[j + 1] = item
        for i in range(begin + 1, end):
            repeated += items[i] == items[i - 1]
    return repeated

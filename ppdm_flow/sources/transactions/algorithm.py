"""FIMI files: numbers are parsed by a compiled kernel, block by block."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.sources import item_sets
from ppdm_flow.sources.faults import line_fault
from ppdm_flow.sources.item_sets import SetLines
from ppdm_flow.sources.lines import LineBlock, line_of
from ppdm_flow.sources.transactions import kernels
from ppdm_flow.sources.transactions.spec import TransactionsSourceParams
from ppdm_flow.tables.sets import Baskets

_DENSE = 1 << 22


class TransactionsSource(SetLines[TransactionsSourceParams]):
    """One FIMI file. ``repeated`` counts the repetitions that the last pass left out."""

    def baskets(self, block: LineBlock) -> Baskets:
        """Return the sets of a block. Raises DataError with the line."""
        items = np.empty(len(block.octets) // 2 + 1, dtype=np.int64)
        offsets = np.empty(block.lines + 1, dtype=np.int64)
        wrong, place = kernels.numbers(block.octets, items, offsets)
        if wrong:
            raise line_fault(line_of(block, place), _WORDS.get(wrong))
        if self.params.empty == "error":
            item_sets.refuse_empty(offsets, block.first, "line")
        codes, alphabet = _coded(items[:place])
        repeated = kernels.sort_rows(offsets, codes)
        baskets = Baskets(offsets, codes, alphabet)
        if repeated and self.params.repeated == "merge":
            self.repeated += repeated
            return item_sets.merged(baskets)[0]
        return baskets


def _coded(numbers: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int32], pa.StringArray]:
    """Return codes into the alphabet of the block, which is sorted by text."""
    top = int(numbers.max(initial=-1)) + 1
    if top > max(_DENSE, 4 * len(numbers)):
        distinct, places = np.unique(numbers, return_inverse=True)
        alphabet, rank = item_sets.ranked(pa.array(distinct).cast(pa.string()))
        return rank[places], alphabet
    there = np.zeros(top, dtype=bool)
    there[numbers] = True
    distinct = np.flatnonzero(there)
    alphabet, rank = item_sets.ranked(pa.array(distinct).cast(pa.string()))
    code = np.zeros(top, dtype=np.int32)
    code[distinct] = rank
    return code[numbers], alphabet


_WORDS = {
    kernels.STRANGE: (
        "has something else than item numbers with blanks between",
        "names of items are `format: baskets`; decimals and comments are none of this format",
    ),
    kernels.NEGATIVE: ("has a negative number", "items are numbered from 0; `-1` as an end mark is another format"),
    kernels.TOO_LONG: ("has a number of more than 18 digits", "names of items are `format: baskets`"),
    kernels.LONE_RETURN: ("has a carriage return within it", "save the file with line ends LF or CR LF"),
}

"""What is done to cells while they are read: on their dictionaries, so once for each distinct text of a block."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.sources.faults import nul


def stripped(array: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return the cells without blanks at both ends; what is empty then is missing, as it is without blanks."""
    trimmed = pc.utf8_trim_whitespace(array.dictionary)
    if trimmed.equals(array.dictionary):
        return array
    blank = pc.and_(pc.equal(trimmed, ""), pc.not_equal(array.dictionary, ""))
    recoded = pc.if_else(blank, pa.scalar(None, pa.string()), trimmed).dictionary_encode()
    indices = recoded.indices.take(array.indices)
    return pa.DictionaryArray.from_arrays(indices, recoded.dictionary)


def checked(arrays: Sequence[pa.DictionaryArray], first_row: int) -> None:
    """Raise DataError where a cell holds a NUL byte; ``first_row`` is the number of the first row, from 0."""
    for array in arrays:
        bad = pc.match_substring(array.dictionary, "\0")
        if len(bad) and pc.any(bad).as_py():
            hit = pc.take(bad, array.indices).fill_null(False)
            raise nul(f"row {first_row + pc.index(hit, True).as_py() + 1}")

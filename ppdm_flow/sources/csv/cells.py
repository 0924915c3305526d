"""What is done to cells while they are read: on their dictionaries, so once for each distinct text of a block."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.sources.faults import nul
from ppdm_flow.tables.formulas import unescaped


def stripped(array: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return the cells without blanks at both ends; what is empty then is missing, as it is without blanks."""
    trimmed = pc.utf8_trim_whitespace(array.dictionary)
    blank = pc.and_(pc.equal(trimmed, ""), pc.not_equal(array.dictionary, ""))
    return _recoded(array, pc.if_else(blank, pa.scalar(None, pa.string()), trimmed))


def without_escapes(array: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return the cells as they were before formulas were escaped."""
    return _recoded(array, unescaped(array.dictionary))


def _recoded(array: pa.DictionaryArray, texts: pa.StringArray) -> pa.DictionaryArray:
    """Return the cells with other texts for those of their dictionary, each once."""
    if texts.equals(array.dictionary):
        return array
    recoded = texts.dictionary_encode()
    return pa.DictionaryArray.from_arrays(recoded.indices.take(array.indices), recoded.dictionary)


def checked(arrays: Sequence[pa.DictionaryArray], first_row: int) -> None:
    """Raise DataError where a cell holds a NUL byte; ``first_row`` is the number of the first row, from 0."""
    for array in arrays:
        bad = pc.match_substring(array.dictionary, "\0")
        if len(bad) and pc.any(bad).as_py():
            hit = pc.take(bad, array.indices).fill_null(False)
            raise nul(f"row {first_row + pc.index(hit, True).as_py() + 1}")

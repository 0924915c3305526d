"""What is done to cells while they are read: on their dictionaries, so once for each distinct text of a block."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.sources.faults import nul
from ppdm_flow.tables.formulas import unescaped

Places = npt.NDArray[np.int64]


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


_AROUND_NAMES = " \t\N{NO-BREAK SPACE}\N{ZERO WIDTH NO-BREAK SPACE}\"'"
"""What a name may have around it where files were put together: a byte order mark keeps a quote from opening."""


def header_rows(arrays: Sequence[pa.Array], names: Sequence[str]) -> Places:
    """Return the places of rows whose cells are ``names``, in whatever order and letter case.

    ``names`` are those of all columns; of fewer arrays each cell has to be a name. Where each name is a value of other
    rows, too, as in columns of answers that say their own name, such rows are none.
    """
    wanted = _bare(pa.array(names, pa.string()))
    hits, columns = None, []
    for array in sorted(arrays, key=_distinct_count):  # few texts are searched soon
        codes = pc.index_in(_bare(array.dictionary if pa.types.is_dictionary(array.type) else array), wanted)
        if codes.null_count == len(codes):
            return np.zeros(0, np.int64)
        columns.append(codes.take(array.indices) if pa.types.is_dictionary(array.type) else codes)
        is_name = columns[-1].is_valid().to_numpy(zero_copy_only=False)
        hits = is_name if hits is None else hits & is_name
    if hits is None or not hits.any():
        return np.zeros(0, np.int64)
    places = np.flatnonzero(hits)
    if len(arrays) == len(names):
        cells = np.sort([column.take(pa.array(places)).to_numpy(zero_copy_only=False) for column in columns], axis=0)
        expected = np.sort(pc.index_in(wanted, wanted).to_numpy(zero_copy_only=False))
        places = places[(cells == expected[:, None]).all(axis=0)]
    alone = any(len(column) - column.null_count == len(places) for column in columns)
    return places if alone else np.zeros(0, np.int64)


def _bare(texts: pa.StringArray) -> pa.StringArray:
    return pc.utf8_lower(pc.utf8_trim(texts, characters=_AROUND_NAMES))


def _distinct_count(array: pa.Array) -> int:
    return len(array.dictionary if pa.types.is_dictionary(array.type) else array)

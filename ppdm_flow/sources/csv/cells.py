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


def repeated_header(arrays: Sequence[pa.Array], names: Sequence[str]) -> int | None:
    """Return the place of the first row whose cells say the names of their columns, in all of these columns.

    Where each name is a value of other rows, too, as in columns of answers that say their own name, it is such a row.
    """
    hits: pa.Array | None = None
    counts = []
    for array, name in sorted(zip(arrays, names, strict=True), key=_distinct_count):  # few texts are searched soon
        if pa.types.is_dictionary(array.type):
            code = pc.index(array.dictionary, name).as_py()
            same = pc.equal(array.indices, code) if code >= 0 else pa.array([], pa.bool_())
        else:
            same = pc.equal(array, name)
        counts.append(pc.sum(same).as_py() or 0)
        if not counts[-1]:
            return None
        hits = same if hits is None else pc.and_(hits, same)
    both = 0 if hits is None else pc.sum(hits).as_py() or 0
    return pc.index(hits, True).as_py() if both and both in counts else None


def _distinct_count(column: tuple[pa.Array, str]) -> int:
    array, _ = column
    return len(array.dictionary if pa.types.is_dictionary(array.type) else array)

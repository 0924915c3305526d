"""The columns of a row group, put together from batches: their dictionaries hold nothing but what occurs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.sinks.parquet.layout import TEXTS, is_typed

_HEAD = 1 << 12
_BYTE = 1 << 7


def gathered(pieces: list[pa.Array]) -> pa.Array:
    """Return the cells of a column as a row group takes them; ``pieces`` are its batches, in order, at least one."""
    kind = pieces[0].type
    if pa.types.is_struct(kind) or is_typed(kind):
        return pa.concat_arrays(pieces)
    if not pa.types.is_large_list(kind):
        return _occurring(pieces)
    offsets = [pa.array([0], pa.int64())]
    values = []
    held = 0
    for piece in pieces:
        begin = piece.offsets[0].as_py()
        size = piece.offsets[len(piece)].as_py() - begin
        offsets.append(pc.add(piece.offsets.slice(1), held - begin))
        values.append(piece.values.slice(begin, size))
        held += size
    return pa.LargeListArray.from_arrays(pa.concat_arrays(offsets), _occurring(values))


def _occurring(pieces: list[pa.Array]) -> pa.DictionaryArray:
    """Return the cells under a dictionary of nothing but what occurs, in order of rows: blocks leave no trace."""
    coded = [_dictionary_encoded(p) for p in pieces]
    if any(not c.dictionary.equals(coded[0].dictionary) for c in coded[1:]):
        coded = pa.chunked_array(coded, TEXTS).unify_dictionaries().chunks
    names = coded[0].dictionary
    codes = pa.concat_arrays([c.indices for c in coded])
    rank = None if codes.null_count else _ranked(codes.slice(0, _HEAD).to_numpy(), len(names))
    if rank is not None:
        order = pa.array(np.argsort(rank), pa.int32())
        places = pa.array(rank.take(codes.to_numpy()), pa.int32())
        return pa.DictionaryArray.from_arrays(places, names.take(order), safe=False)
    if len(names) <= _BYTE:
        codes = codes.cast(pa.int8(), safe=False)  # of bytes, what occurs is looked up in a table
    found = codes.dictionary_encode()
    return pa.DictionaryArray.from_arrays(found.indices, names.take(found.dictionary), safe=False)


def _ranked(head: npt.NDArray[np.int32], width: int) -> npt.NDArray[np.int32] | None:
    """Return the place of each code in the order in which they occur, if all are among the first rows; else None."""
    first = np.full(width, len(head))
    first[head[::-1]] = np.arange(len(head) - 1, -1, -1)  # of a code that is there twice the last number stays
    if width > len(head) or (first == len(head)).any():
        return None
    rank = np.empty(width, dtype=np.int32)
    rank[np.argsort(first)] = np.arange(width, dtype=np.int32)
    return rank


def _dictionary_encoded(column: pa.Array) -> pa.DictionaryArray:
    if pa.types.is_dictionary(column.type) and not column.dictionary.null_count:
        return column if column.type == TEXTS else column.cast(TEXTS)
    return column.cast(pa.string()).dictionary_encode()

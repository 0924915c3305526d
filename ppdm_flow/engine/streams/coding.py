"""From Arrow columns to coded ones."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.tables.column import MISSING, SUPPRESSED, SUPPRESSED_TEXT, Column

_ABSENT = pa.nulls(0, pa.string())  # `pa.array` would import pandas, before anything is read


def encode_texts(array: pa.Array) -> Column:
    """Return a column of texts as codes; null is missing. ``⊥`` stays a category like any other."""
    if pa.types.is_null(array.type):
        return Column(np.full(len(array), MISSING, dtype=np.int32), _ABSENT)
    if not pa.types.is_dictionary(array.type):
        array = pc.dictionary_encode(array)
    names = array.dictionary.cast(pa.string())
    codes = array.indices.fill_null(MISSING).to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    if names.null_count or len(pc.unique(names)) < len(names):
        return _unlike(Column(codes, names))
    return Column(codes, names)


def _unlike(column: Column) -> Column:
    """Repair a dictionary that has a text twice, or null among its texts."""
    names = column.categories.drop_null().unique()
    place = pc.index_in(column.categories, value_set=names).fill_null(MISSING)
    return column.mapped(place.to_numpy(zero_copy_only=False).astype(np.int32), names)


def mark_texts(column: Column, texts: Iterable[str], mark: int) -> Column:
    """Give every cell that is one of ``texts`` the special code ``mark``."""
    wanted = pa.array(sorted(set(texts)), pa.string())
    hit = pc.is_in(column.categories, value_set=wanted).to_numpy(zero_copy_only=False)
    if not hit.any():
        return column
    code_map = np.full(len(hit), mark, dtype=np.int32)
    code_map[~hit] = np.arange(int((~hit).sum()), dtype=np.int32)
    return column.mapped(code_map, column.categories.filter(pa.array(~hit)))


def without_unused(column: Column) -> Column:
    """Return the same cells with only the categories that occur, in the order that they have."""
    used = column.in_use()
    if used.all():
        return column
    code_map = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return column.mapped(code_map, column.categories.filter(pa.array(used)))


def has_suppressed_text(column: Column) -> bool:
    """Whether ``⊥`` is among the categories."""
    return bool(pc.any(pc.equal(column.categories, SUPPRESSED_TEXT)).as_py())


def arrow(column: Column) -> pa.DictionaryArray:
    """Return dictionary<int32, string>: null for missing, ``⊥`` for suppressed."""
    codes, names = column.codes, column.categories
    lowest = int(codes.min(initial=0))
    if lowest == SUPPRESSED:
        codes = np.where(codes == SUPPRESSED, np.int32(len(names)), codes)
        names = pa.concat_arrays([names, pa.array([SUPPRESSED_TEXT], pa.string())])
    indices = pa.array(codes, pa.int32(), mask=codes == MISSING if lowest < 0 else None)
    return pa.DictionaryArray.from_arrays(indices, names)

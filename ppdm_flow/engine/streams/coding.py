"""Turns Arrow columns into coded ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.engine.faults import data_fault
from ppdm_flow.tables.column import MISSING, SUPPRESSED, SUPPRESSED_TEXT, Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.sets import SetColumn
from ppdm_flow.tables.sets.arrow import KEY, MalformedSetError, from_arrow, holds_sets
from ppdm_flow.tables.spelling import respelled

_ABSENT = pa.nulls(0, pa.string())  # `pa.array` would import pandas, before anything is read


def encode_texts(array: pa.Array) -> Column:
    """Return a column of texts as codes; null is missing. ``⊥`` stays a category like any other."""
    if pa.types.is_null(array.type):
        return Column(np.full(len(array), MISSING, dtype=np.int32), _ABSENT)
    foreign = pa.types.is_dictionary(array.type)
    if not foreign:
        array = pc.dictionary_encode(array)
    names = array.dictionary.cast(pa.string())
    indices = array.indices.fill_null(MISSING) if array.indices.null_count else array.indices
    codes = indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    if foreign and (names.null_count or len(pc.unique(names)) < len(names)):
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
    """Return the same cells with only the categories that occur, in the order that they have; numbers as they are."""
    if isinstance(column, NumericColumn):
        return column
    if len(column.categories) > len(column):
        return _few_used(column)
    used = column.in_use()
    if used.all():
        return column
    code_map = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return column.mapped(code_map, column.categories.filter(pa.array(used)))


def _few_used(column: Column) -> Column:
    """Return the same for fewer rows than categories, of which only those that occur are looked at."""
    ordered = np.sort(column.codes)  # far faster than `np.unique`, which looks the codes up
    used = ordered[np.append(True, ordered[1:] != ordered[:-1]) & (ordered >= 0)]
    code_map = np.empty(column.width, dtype=np.int32)  # its end is where negative codes look
    code_map[used] = np.arange(len(used), dtype=np.int32)
    code_map[[SUPPRESSED, MISSING]] = SUPPRESSED, MISSING
    return Column(code_map.take(column.codes, mode="wrap"), column.categories.take(pa.array(used)))


def has_suppressed_text(column: Column) -> bool:
    """Whether ``⊥`` is among the categories."""
    return bool(pc.any(pc.equal(column.categories, SUPPRESSED_TEXT)).as_py())


def arrow(column: Column) -> pa.DictionaryArray | pa.StringArray:
    """Return dictionary<int32, string>: null for missing, ``⊥`` for suppressed; numbers as plain texts."""
    if isinstance(column, NumericColumn):
        return column.texts_by_row()
    return arrow_codes(column)


def arrow_codes(column: Column) -> pa.DictionaryArray:
    """Return dictionary<int32, string>: null for missing, ``⊥`` for suppressed; of numbers each text once."""
    codes, names = column.codes, column.categories
    lowest = int(codes.min(initial=0))
    if lowest == SUPPRESSED:
        codes = np.where(codes == SUPPRESSED, np.int32(len(names)), codes)
        names = pa.concat_arrays([names, pa.array([SUPPRESSED_TEXT], pa.string())])
    absent = codes == MISSING if lowest < 0 else None
    indices = pa.array(codes, pa.int32(), mask=absent if absent is not None and absent.any() else None)
    return pa.DictionaryArray.from_arrays(indices, names)


def respelled_cells(batch: pa.RecordBatch, ignore: Collection[str]) -> pa.RecordBatch:
    """Return a block whose texts, and items of sets, are all in one spelling (:func:`..spelling.respelled`)."""
    if not ignore:
        return batch
    columns = [_respelled(column, ignore) for column in batch.columns]
    fields = [field.with_type(column.type) for field, column in zip(batch.schema, columns, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields, batch.schema.metadata))


def _respelled(array: pa.Array, ignore: Collection[str]) -> pa.Array:
    """Respell each distinct text once; numbers, and sets of item numbers, stay as they are."""
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        kind = pa.ListArray if pa.types.is_list(array.type) else pa.LargeListArray
        items = _respelled(array.values, ignore)
        return kind.from_arrays(array.offsets, items, mask=array.is_null() if array.null_count else None)
    if _is_text(array.type):
        array = pc.dictionary_encode(array)
    if not pa.types.is_dictionary(array.type) or not _is_text(array.type.value_type):
        return array
    return pa.DictionaryArray.from_arrays(array.indices, respelled(array.dictionary.cast(pa.string()), ignore))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


_BYTES = 1 << 26


def split(batch: pa.RecordBatch, names: Sequence[str], start: int) -> Mapping[str, SetColumn]:
    """Return those columns of a block that hold sets. Raises DataError, with the row, where one is malformed."""
    return {name: _column(batch, i, name, start) for i, name in enumerate(names) if holds_sets(batch.column(i).type)}


def bounded(size: int, batch: pa.RecordBatch) -> int:
    """Return how many rows a partition may have: rows of packed bits are wide, and no partition may take much."""
    wide = [f.type.field("bits").type for f in batch.schema if pa.types.is_struct(f.type) and "bits" in f.type.names]
    octets = sum(t.byte_width for t in wide if pa.types.is_fixed_size_binary(t))
    return min(size, max(1024, _BYTES // octets)) if octets else size


def _column(batch: pa.RecordBatch, place: int, name: str, start: int) -> SetColumn:
    metadata = batch.schema.field(place).metadata or {}
    try:
        return from_arrow(batch.column(place), metadata.get(KEY))
    except MalformedSetError as error:
        where = "" if error.row is None else f"row {start + error.row + 1}: "
        advice = "`source: {with: {repeated: merge}}` keeps it once" if error.repeated else None
        raise data_fault("PPF751", f"{where}column `{name}`: {error}", advice=advice) from None
    except (pa.ArrowException, ValueError):
        raise data_fault("PPF751", f"column `{name}` holds no sets of texts") from None

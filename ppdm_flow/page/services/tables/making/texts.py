"""Rows of a released file as texts, whatever format it has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.errors import DataError
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.opening.opening import open_as
from ppdm_flow.tables.sets.arrow import holds_sets

_BETWEEN = ", "
"""What is between the items of a set."""


def text_tables(path: Path, kind: str, options: Mapping[str, Any], names: Sequence[str]) -> Iterator[pa.Table]:
    """Yield the rows in their order, the columns called ``t0``, ``t1`` and so on; null is a missing cell.

    A column of sets has a set's items in one text, or nothing where it is in a form that only programs read. Raises
    PpdmError where the file cannot be read, or has other columns than ``names``.
    """
    source = open_as(kind, options, path)
    there = source.names()
    if len(there) == len(names) == 1:
        names = there  # a format without names
    if sorted(there) != sorted(names):
        raise _other_columns(len(there), len(names))
    for batch in source.batches(names):
        arrays = [_texts(batch.column(name)) for name in names]
        yield pa.table(arrays, names=[f"t{number}" for number in range(len(names))])


def _texts(array: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(array.type):
        return array.dictionary_decode().cast(pa.string())
    if not holds_sets(array.type):
        return array.cast(pa.string())
    if pa.types.is_struct(array.type):
        return pa.nulls(len(array), pa.string())
    items = array.flatten()
    items = items.dictionary_decode() if pa.types.is_dictionary(items.type) else items
    ends = pc.cumulative_sum(pc.list_value_length(array).cast(pa.int64()))
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), ends])
    return pc.binary_join(pa.LargeListArray.from_arrays(offsets, items.cast(pa.string())), _BETWEEN)


def _other_columns(there: int, declared: int) -> DataError:
    return data_fault("PPF904", f"the released file has {there} columns, other than the {declared} of its dictionary")

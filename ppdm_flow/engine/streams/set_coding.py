"""From Arrow to columns of sets, with faults that name the row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from ppdm_flow.engine.faults import data_fault
from ppdm_flow.tables.sets import SetColumn
from ppdm_flow.tables.sets.arrow import KEY, MalformedSetError, from_arrow, holds_sets

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

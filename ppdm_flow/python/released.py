"""Released files as Arrow tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from ppdm_flow.core.results import RELEASED
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.engine.opening.opening import open_as
from ppdm_flow.plan.definition import COLLAPSE
from ppdm_flow.sdk.storage import StoredTypesSource, TypedSource

_ARROW = {
    AttributeType.INTEGER: pa.int64(),
    AttributeType.FLOAT: pa.float64(),
    AttributeType.DATE: pa.date32(),
    AttributeType.TIMESTAMP: pa.timestamp("us"),
}


def released_table(run_dir: Path, about: Mapping[str, Any], planned: Mapping[str, Any]) -> pa.Table:
    """Return a released file as a table: numbers, dates and timestamps as such, what became labels as texts.

    ``about`` is what the report tells of the file, ``planned`` what its plan does. Raises DataError where it cannot be
    read any more.
    """
    options = {key: value for key, value in planned["options"].items() if key != COLLAPSE}  # records, as in the file
    source = open_as(about["format"], options, run_dir / RELEASED / about["path"])
    counts = [str(planned["options"][COLLAPSE])] if COLLAPSE in planned["options"] else []
    kinds = {a["name"]: AttributeType(a["type"]) for a in planned["attributes"] if a["role"] != "items"}
    kinds |= dict.fromkeys(counts, AttributeType.INTEGER)
    numeric = {name: kind for name, kind in kinds.items() if kind in _ARROW}
    names = (*(a["name"] for a in planned["attributes"]), *counts) if "partition_by" in planned else source.names()
    stored = source.stored_types() if isinstance(source, StoredTypesSource) else {}
    types = dict.fromkeys(stored, AttributeType.TEXT) | numeric
    batches = list(source.typed_batches(names, types) if isinstance(source, TypedSource) else source.batches(names))
    if not batches:
        return pa.table(
            {name: pa.array([], _ARROW.get(kinds.get(name, AttributeType.TEXT), pa.string())) for name in names}
        )
    table = pa.Table.from_batches([_plain(batch) for batch in batches])
    columns = {name: _typed(table[name], numeric.get(name)) for name in table.column_names}
    return pa.table(columns)


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch without dictionaries, which may differ from one to the next."""
    arrays = [a.dictionary_decode() if pa.types.is_dictionary(a.type) else _items(a) for a in batch.columns]
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


def _items(array: pa.Array) -> pa.Array:
    kind = array.type
    listed = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return array.cast(pa.list_(pa.string())) if listed else array


def _typed(column: pa.ChunkedArray, kind: AttributeType | None) -> pa.ChunkedArray:
    if kind is None or not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    try:
        return column.cast(_ARROW[kind])
    except pa.ArrowInvalid:  # labels in place of numbers
        return column

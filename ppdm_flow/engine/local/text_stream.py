"""Rows as texts for DuckDB: the original, and released files that it would interpret."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.streams.coding import arrow
from ppdm_flow.engine.streams.stream import Stream
from ppdm_flow.tables.sets import Baskets
from ppdm_flow.tables.sets.arrow import to_arrow
from ppdm_flow.tables.table import Table

_TEXTS = pa.dictionary(pa.int32(), pa.string())


class TextStream:
    """Rows as an Arrow stream; every scan reads it anew (the Arrow PyCapsule interface).

    ``error`` is what went wrong in making the rows, of which DuckDB tells but a text.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.error: PpdmError | None = None
        plain = [a for a in stream.attributes if a.role is not Role.ITEMS]
        self._schema = pa.schema([(a.name, pa.string() if a.is_numeric else _TEXTS) for a in plain])
        self._sets = [a.name for a in stream.attributes if a.role is Role.ITEMS]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        if self._sets:
            self._look()
        reader = pa.RecordBatchReader.from_batches(self._schema, self._batches())
        return reader.__arrow_c_stream__(requested_schema)

    def _look(self) -> None:
        """Learn the form of the sets from the first rows."""
        first = next(iter(self._stream.parts(self._sets)), None)
        for name in self._sets:
            column = Baskets.of([]) if first is None else first.table.sets[name]
            self._schema = self._schema.append(pa.field(name, _plain(to_arrow(column.take(slice(0, 0)))).type))
        self._sets = []

    def _batches(self) -> Iterator[pa.RecordBatch]:
        try:
            for part in self._stream.parts(self._schema.names):
                columns = [_cells(part.table, n) for n in self._schema.names]
                yield pa.RecordBatch.from_arrays(columns, schema=self._schema)
        except PpdmError as error:
            self.error = error
            raise


def _cells(table: Table, name: str) -> pa.Array:
    return _plain(to_arrow(table.sets[name])) if name in table.sets else arrow(table[name])


def _plain(array: pa.Array) -> pa.Array:
    """Return lists of texts without a dictionary, which DuckDB takes for an ENUM; other arrays as they are."""
    if not pa.types.is_large_list(array.type):
        return array
    return pa.LargeListArray.from_arrays(array.offsets, array.values.cast(pa.string()))

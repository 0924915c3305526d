"""Files with a row for each distinct record: written with a column of counts, and read back as the rows again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.results import Finding
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.sdk.storage import InspectingSource, Sink, Source, TypedSource

_COUNT = r"^[1-9][0-9]{0,11}$"
_ROWS = 1 << 16
"""Rows that are written, or read back, at once."""
_TOGETHER = 1 << 20
"""Rows that wait before they are counted."""


class CollapsingSink:
    """Writes each distinct record once, sorted, with the number of its rows in the last column.

    The sort makes the file a function of the rows alone: their order is lost. All distinct records are in memory.
    """

    def __init__(self, sink: Sink, names: Sequence[str], column: str, *, typed: bool) -> None:
        self._sink = sink
        self._names = [*names, column]
        self._count_type = pa.int64() if typed else pa.string()
        self._keys = [str(place) for place in range(len(names))]
        self._waiting: list[pa.Table] = []
        self._waiting_rows = 0
        self._counted_rows = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Take in rows."""
        columns = [_plain(column) for column in batch.columns]
        ones = pa.array(np.ones(batch.num_rows, dtype=np.int64))
        self._waiting.append(pa.table([*columns, ones], names=[*self._keys, "rows"]))
        self._waiting_rows += batch.num_rows
        if self._waiting_rows >= max(_TOGETHER, self._counted_rows):
            self._count()

    def close(self) -> None:
        """Write the records and their counts, and flush them to disk."""
        try:
            if self._waiting:
                records = self._count()
                order = pc.sort_indices(
                    pa.table([_sortable(records[key]) for key in self._keys], names=self._keys),
                    sort_keys=[(key, "ascending") for key in self._keys],
                )
                for start in range(0, records.num_rows, _ROWS):
                    for batch in records.take(order.slice(start, _ROWS)).combine_chunks().to_batches():
                        self._sink.write(self._written(batch))
        finally:
            self._waiting = []
            self._sink.close()

    def _count(self) -> pa.Table:
        """Add the waiting rows to the counts."""
        grouped = pa.concat_tables(self._waiting).group_by(self._keys, use_threads=False)
        records = grouped.aggregate([("rows", "sum")]).rename_columns({"rows_sum": "rows"})
        self._waiting, self._waiting_rows, self._counted_rows = [records], 0, records.num_rows
        return records

    def _written(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        arrays = [batch.column(key) for key in self._keys]
        arrays = [a.cast(pa.string()) if pa.types.is_large_string(a.type) else a for a in arrays]
        return pa.RecordBatch.from_arrays([*arrays, batch.column("rows").cast(self._count_type)], self._names)


def _plain(column: pa.Array) -> pa.Array:
    """Return texts as texts, however they came: batches differ in that."""
    values = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    return values.cast(pa.large_string()) if pa.types.is_string(values.type) else values


def _sortable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.float32()) if pa.types.is_float16(column.type) else column


MOST_ROWS = 1_000_000_000
"""Limit on the rows that records expand to: they are read one by one."""


class ExpandedSource:
    """A file with a column of counts, as its rows: each record as often as its count says, without the count."""

    def __init__(self, source: Source, column: str) -> None:
        self._source = source
        self._column = column

    def names(self) -> tuple[str, ...]:
        """Return the names of the other columns. Raises DataError where there is no column of counts."""
        names = self._source.names()
        if self._column not in names:
            raise data_fault("PPF498", no_counts(self._column))
        return tuple(name for name in names if name != self._column)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows. Raises DataError where a count is none."""
        return self._expanded(self._source.batches((*columns, self._column)), columns)

    def beside(self) -> Iterator[Finding]:
        """Yield what the file holds beside its cells, where its reader can say."""
        if isinstance(self._source, InspectingSource):
            yield from self._source.beside()

    def _expanded(self, batches: Iterator[pa.RecordBatch], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        done, before = 0, 0
        for batch in batches:
            ends = np.cumsum(self._counts(batch.column(batch.num_columns - 1), done))
            before += int(ends[-1]) if len(ends) else 0
            if before > MOST_ROWS:
                text = f"the counts in `{self._column}` come to more than {MOST_ROWS:,} rows"
                raise data_fault("PPF498", text)
            done += batch.num_rows
            for start in range(0, int(ends[-1]) if len(ends) else 0, _ROWS):
                rows = np.arange(start, min(start + _ROWS, int(ends[-1])))
                taken = batch.take(pa.array(np.searchsorted(ends, rows, side="right")))
                yield taken.select(list(columns)) if columns else _without_columns(len(rows))

    def _counts(self, column: pa.Array, done: int) -> npt.NDArray[np.int64]:
        """Return the counts of some records, of which ``done`` came before."""
        texts = _plain(column).cast(pa.large_string())
        good = pc.match_substring_regex(texts, _COUNT).fill_null(False)
        if not pc.all(good).as_py():
            row = done + 1 + int(np.argmin(good.to_numpy(zero_copy_only=False)))
            text = f"row {row}: column `{self._column}` says how often each record occurs, and this is no whole number"
            raise data_fault("PPF498", f"{text} above 0 of at most 12 digits")
        counts: npt.NDArray[np.int64] = texts.cast(pa.int64()).to_numpy(zero_copy_only=False)
        return counts


class ExpandedTypedSource(ExpandedSource):
    """The same of a reader that leaves numbers, dates and timestamps as its file has them."""

    def __init__(self, source: Source, typed: TypedSource, column: str) -> None:
        super().__init__(source, column)
        self._typed = typed

    def typed_batches(self, columns: Sequence[str], types: Mapping[str, AttributeType]) -> Iterator[pa.RecordBatch]:
        """Yield the rows; columns in ``types`` as the reader has them. Raises DataError where a count is none."""
        return self._expanded(self._typed.typed_batches((*columns, self._column), types), columns)


def expanded(source: Source, column: str) -> Source:
    """Return the rows of a file with a column of counts."""
    if isinstance(source, TypedSource):
        return ExpandedTypedSource(source, source, column)
    return ExpandedSource(source, column)


def no_counts(column: str) -> str:
    """Return what is said of a file that lacks its column of counts."""
    return f"the file has no column `{column}` that says how often each record occurs"


def _without_columns(rows: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_struct_array(pa.array([{}] * rows, pa.struct([])))

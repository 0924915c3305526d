"""From a table of texts in DuckDB to the files of each column; what does not fit into memory is sorted on disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.errors import DataError
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.opening.opening import open_as
from ppdm_flow.page.services.tables.column import MOST_CHOICES, SUPPRESSED, ColumnAbout, ColumnForm, width
from ppdm_flow.tables.sets.arrow import holds_sets

_PIECE = 131_072
_FEW = 8_192
"""Values, which may be long, are written so many at once."""
_READER = "to_arrow_reader"
"""As later versions of DuckDB call it."""
_NUMBERS = {
    AttributeType.INTEGER: "try_cast(text AS BIGINT)",
    AttributeType.FLOAT: "try_cast(text AS DOUBLE)",
    AttributeType.DATE: "(try_cast(text AS DATE) - DATE '1970-01-01')::BIGINT",
    AttributeType.TIMESTAMP: "epoch_us(try_cast(text AS TIMESTAMP))",
}
_BRACKETS = r"^[\[\(<>=≤≥\s]+"
_VALUES = """
CREATE OR REPLACE TABLE sorted AS
SELECT (row_number() OVER (ORDER BY value, head, lead, text) - 1)::UINTEGER AS code, text, rows, value FROM (
  SELECT text, rows, {number} AS value,
    lower(regexp_extract(label, '^[^0-9]*')) AS head,
    try_cast(regexp_extract(label, '[0-9]+([.][0-9]+)?') AS DOUBLE) AS lead
  FROM (
    SELECT {column} AS text, count(*) AS rows, regexp_replace({column}, ?, '') AS label
    FROM raw WHERE {column} IS NOT NULL AND {column} <> ? GROUP BY ALL
  )
) ORDER BY code
"""
"""The different values in the order in which people look for them: numbers by size, intervals by where they begin."""


def write_column(connection: duckdb.DuckDBPyConnection, about: ColumnAbout, folder: Path) -> ColumnAbout:
    """Write the files of a column of the table ``raw``, and return what is known of it now."""
    column = f"t{about.number}"
    rows, missing, suppressed = _one(
        connection,
        f"SELECT count(*), count(*) FILTER ({column} IS NULL), count(*) FILTER ({column} = ?) FROM raw",  # noqa: S608
        SUPPRESSED,
    )
    are_numbers = about.type in _NUMBERS and _sorted(connection, column, _NUMBERS[about.type])
    if not are_numbers:
        _sorted(connection, column, "NULL::BIGINT")
    (values,) = _one(connection, "SELECT count(*) FROM sorted")
    form = ColumnForm.NUMBER if are_numbers else ColumnForm.CHOICE if values <= MOST_CHOICES else ColumnForm.TEXT
    whole = ColumnAbout(
        about.number, about.name, about.type, form, about.changes, values, width(values), suppressed, missing
    )
    _write_values(connection, whole, folder)
    _write_codes(connection, whole, folder, rows)
    write_order(folder / f"{about.number}.codes", whole.width, folder / f"{about.number}.order")
    return whole


def _sorted(connection: duckdb.DuckDBPyConnection, column: str, number: str) -> bool:
    """Sort the different values of a column, and say whether each is a number."""
    connection.execute(_VALUES.format(column=column, number=number), [_BRACKETS, SUPPRESSED])
    values, numbers = _one(connection, "SELECT count(*), count(value) FROM sorted")
    return values == numbers


def _write_values(connection: duckdb.DuckDBPyConnection, about: ColumnAbout, folder: Path) -> None:
    reader = _batches(connection, "SELECT text, rows, value FROM sorted ORDER BY code", most=_FEW)
    end = 0
    with (
        (folder / f"{about.number}.ends").open("wb") as ends,
        (folder / f"{about.number}.texts").open("wb") as texts,
        (folder / f"{about.number}.counts").open("wb") as counts,
        (folder / f"{about.number}.numbers").open("wb") as numbers,
    ):
        for batch in reader:
            encoded = [text.encode() for text in batch.column(0).to_pylist()]
            stops = end + np.cumsum([len(each) for each in encoded], dtype="<i8")
            end = int(stops[-1]) if len(stops) else end
            ends.write(stops.tobytes())
            texts.write(b"".join(encoded))
            counts.write(batch.column(1).to_numpy().astype("<u4").tobytes())
            if about.form is ColumnForm.NUMBER:
                kind = "<f8" if about.type is AttributeType.FLOAT else "<i8"
                numbers.write(batch.column(2).to_numpy().astype(kind).tobytes())


def _write_codes(connection: duckdb.DuckDBPyConnection, about: ColumnAbout, folder: Path, rows: int) -> None:
    column = f"t{about.number}"
    written = 0
    with (folder / f"{about.number}.codes").open("wb") as codes:
        for piece in _codes(connection, column, about):
            codes.write(piece.to_numpy().astype(f"<u{about.width}").tobytes())
            written += len(piece)
    if written != rows:
        raise RuntimeError("a column has another number of codes than the table has rows")


def _codes(connection: duckdb.DuckDBPyConnection, column: str, about: ColumnAbout) -> Iterator[pa.Array]:
    query = (
        f"SELECT coalesce(sorted.code, CASE WHEN {column} IS NULL THEN ? ELSE ? END)::UINTEGER"  # noqa: S608
        f" FROM raw LEFT JOIN sorted ON sorted.text = raw.{column} ORDER BY raw.place"
    )
    for batch in _batches(connection, query, about.missing_code, about.suppressed_code):
        yield batch.column(0)


def _batches(
    connection: duckdb.DuckDBPyConnection, query: str, *values: object, most: int = _PIECE
) -> pa.RecordBatchReader:
    selected: Any = connection.sql(query, params=list(values))
    return getattr(selected, _READER, selected.fetch_arrow_reader)(most)


def _one(connection: duckdb.DuckDBPyConnection, query: str, *values: object) -> tuple[int, ...]:
    (row,) = connection.execute(query, list(values)).fetchall()
    return tuple(int(each) for each in row)


def write_order(codes: Path, width: int, order: Path) -> None:
    """Write the numbers of the rows by ascending code; rows with one code stay in the order of the file."""
    ascending = np.argsort(np.fromfile(codes, f"<u{width}"), kind="stable")
    ascending.astype("<u4").tofile(order)


# Rows of a released file as texts, whatever format it has.


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

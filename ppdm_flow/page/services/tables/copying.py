"""Making the copy of a released table, in a process of its own.

Its memory is bounded: what does not fit is sorted on disk, beside the copy. A table has no copy where its rows take too
much while they are read: few long values in many cells make a small file.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from ppdm_flow.core.digests import sha256
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.opening.opening import open_as
from ppdm_flow.page.services.storage.disk import room
from ppdm_flow.page.services.tables.table import MOST_CHOICES, SUPPRESSED, TABLE, ColumnAbout, ColumnForm, TableAbout

if TYPE_CHECKING:  # a server without tables needs none
    import pyarrow as pa

_INDEXED = 2_000_000
"""Rows up to which there is an index of them: readers hold in memory what they use of it, 8 bytes a row."""
_LOOK = 0.1
"""Seconds between looks at the disk."""
_BETWEEN = ", "
"""What is between the items of a set."""
_BRACKETS = r"^[\[\(<>=≤≥\s]+"
_NUMBERS = {
    AttributeType.INTEGER: "try_cast({text} AS BIGINT)",
    AttributeType.FLOAT: "try_cast({text} AS DOUBLE)",
    AttributeType.DATE: "(try_cast({text} AS DATE) - DATE '1970-01-01')::BIGINT",
    AttributeType.TIMESTAMP: "epoch_us(try_cast({text} AS TIMESTAMP))",
}
_VALUES = """
CREATE OR REPLACE TEMP TABLE sorted AS
SELECT row_number() OVER (ORDER BY number, head, lead, text) - 1 AS code, text, rows, number FROM (
  SELECT text, rows, number, lower(regexp_extract(label, '^[^0-9]*')) AS head,
    try_cast(regexp_extract(label, '[0-9]+([.][0-9]+)?') AS DOUBLE) AS lead
  FROM (
    SELECT {text} AS text, any_value({number}) AS number, count(*) AS rows, regexp_replace({text}, ?, '') AS label
    FROM cells WHERE {text} <> ? GROUP BY {text}
  )
)
"""
"""The different values in the order in which people look for them: numbers by size, intervals by where they begin."""
_ORDER = """
CREATE TABLE order_{column} AS SELECT rank FROM (
  SELECT place, (row_number() OVER (ORDER BY code NULLS LAST, t{column} NULLS LAST, place) - 1)::UINTEGER AS rank
  FROM cells LEFT JOIN sorted ON text = t{column}
) ORDER BY place
"""


class CopyExitCode(IntEnum):
    """What came of a copy."""

    DONE = 0
    FAILED = 1
    CHANGED = 2
    """A file is not the one that the run's manifest lists."""
    UNREADABLE = 3
    """The file cannot be read, or its reader is not installed here."""
    TOO_LARGE = 4
    """The table has more rows than the server shows."""


@dataclass(frozen=True, slots=True)
class CopyTask:
    """A copy to make: ``files`` are paths with their hashes, ``path`` is what is read, ``place`` the new folder.

    ``columns`` are names, types, changes, and whether the column holds sets.
    """

    path: str
    format: str
    options: Mapping[str, Any]
    files: tuple[tuple[str, str], ...]
    columns: tuple[tuple[str, str, tuple[str, ...], bool], ...]
    place: str
    most_rows: int
    memory_mb: int
    free_bytes: int = 0


def copy_apart(task: CopyTask) -> CopyExitCode:
    """Make a copy in this process, which is there for that: on the last core, as long as the disk has room."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    threading.Thread(target=_stop_before_the_disk_is_full, args=(task,), daemon=True).start()
    return copy_table(task)


def _stop_before_the_disk_is_full(task: CopyTask) -> None:
    while room(Path(task.place).parent) >= task.free_bytes:
        time.sleep(_LOOK)
    os._exit(1)


def copy_table(task: CopyTask) -> CopyExitCode:
    """Make a copy, and return what came of it. The files are hashed before and after they were read.

    Raises PpdmError where they cannot be read.
    """
    if not _are_the_listed(task):
        return CopyExitCode.CHANGED
    place = Path(task.place)
    place.mkdir(mode=0o700)
    memory, spilled = f"{task.memory_mb}MB", str(place / "spilled")
    with contextlib.closing(
        duckdb.connect(place / TABLE, config={"threads": 1, "memory_limit": memory, "temp_directory": spilled})
    ) as connection:
        rows = _insert_cells(connection, task)
        if rows > task.most_rows:
            return CopyExitCode.TOO_LARGE
        if rows <= _INDEXED:
            connection.execute("CREATE UNIQUE INDEX cells_by_place ON cells (place)")
        connection.execute("CREATE TABLE choices (number INTEGER, code INTEGER, text VARCHAR, rows BIGINT)")
        columns = tuple(_sort_column(connection, *each, rows) for each in _columns(task))
    shutil.rmtree(spilled, ignore_errors=True)
    if not _are_the_listed(task):
        return CopyExitCode.CHANGED
    TableAbout(rows, columns).write(place)
    return CopyExitCode.DONE


def _are_the_listed(task: CopyTask) -> bool:
    try:
        return all(sha256(Path(path)) == listed for path, listed in task.files)
    except OSError:
        return False


def _columns(task: CopyTask) -> Iterator[tuple[ColumnAbout, bool]]:
    """Yield the columns as the task describes them, and whether each holds sets."""
    for number, (name, kind, changes, is_set) in enumerate(task.columns):
        yield ColumnAbout(number, name, AttributeType(kind), ColumnForm.TEXT, changes), is_set


def _insert_cells(connection: duckdb.DuckDBPyConnection, task: CopyTask) -> int:
    """Fill the table ``cells`` with the rows of the file, and return their number."""
    columns, values = ["place UINTEGER"], list[str]()
    for about, _ in _columns(task):
        text = f"t{about.number}"
        columns.append(f"{text} VARCHAR")
        values.append(text)
        if about.type in _NUMBERS:
            columns.append(f"n{about.number} {'DOUBLE' if about.type is AttributeType.FLOAT else 'BIGINT'}")
            values.append(_NUMBERS[about.type].format(text=text))
    connection.execute(f"CREATE TABLE cells ({', '.join(columns)})")
    rows, cells = 0, ", ".join(values)
    for table in text_tables(Path(task.path), task.format, task.options, [name for name, *_ in task.columns]):
        connection.register("piece", table)
        connection.execute(f"INSERT INTO cells SELECT {rows} + row_number() OVER () - 1, {cells} FROM piece")  # noqa: S608
        connection.unregister("piece")
        rows += table.num_rows
        if rows > task.most_rows:
            break
    return rows


def _sort_column(connection: duckdb.DuckDBPyConnection, about: ColumnAbout, is_set: bool, rows: int) -> ColumnAbout:
    """Write the ranks of a column and, where its values are few, these; return what is known of it now."""
    text, number = f"t{about.number}", f"n{about.number}"
    if is_set and not _one(connection, f"SELECT count({text}) FROM cells")[0]:  # noqa: S608
        return replace(about, form=ColumnForm.CODED)
    known = f"count({number})" if about.type in _NUMBERS else "-1"
    counts = f"SELECT {known}, count(*) FILTER ({text} = ?), count(*) FILTER ({text} IS NULL) FROM cells"  # noqa: S608
    numbers, suppressed, missing = _one(connection, counts, SUPPRESSED)
    are_numbers = numbers == rows - suppressed - missing
    sql = _VALUES.format(text=text, number=number if are_numbers else "NULL::BIGINT")
    connection.execute(sql, [_BRACKETS, SUPPRESSED])
    connection.execute(_ORDER.format(column=about.number))
    (values,) = _one(connection, "SELECT count(*) FROM sorted")
    form = ColumnForm.NUMBER if are_numbers else ColumnForm.CHOICE if values <= MOST_CHOICES else ColumnForm.TEXT
    if form is ColumnForm.CHOICE:
        connection.execute(f"INSERT INTO choices SELECT {about.number}, code, text, rows FROM sorted")  # noqa: S608
    return replace(about, form=form, values=values, suppressed=suppressed, missing=missing)


def _one(connection: duckdb.DuckDBPyConnection, query: str, *values: object) -> tuple[int, ...]:
    (row,) = connection.execute(query, list(values)).fetchall()
    return tuple(int(each) for each in row)


def text_tables(path: Path, kind: str, options: Mapping[str, Any], names: Sequence[str]) -> Iterator[pa.Table]:
    """Yield the rows of a released file in their order, the columns called ``t0``, ``t1`` and so on; null is missing.

    A column of sets has a set's items in one text, or nothing where it is in a form that only programs read. Raises
    PpdmError where the file cannot be read, or has other columns than ``names``.
    """
    import pyarrow as pa  # noqa: PLC0415  # a server without tables needs none

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
    import pyarrow as pa  # noqa: PLC0415  # as above
    import pyarrow.compute as pc  # noqa: PLC0415  # as above

    from ppdm_flow.tables.sets.arrow import holds_sets  # noqa: PLC0415  # as above

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

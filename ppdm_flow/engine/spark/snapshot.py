"""Copies a table without a file of its own once, since its rows may change, or be made anew, from pass to pass.

Each partition becomes a Parquet file, written by the executor that has it under a private name; the driver gives the
files of the attempts that count their names, in the order of partitions.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ppdm_flow.core.addresses import DELTA, ICEBERG, TableAddress
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, PpdmError
from ppdm_flow.core.texts import quoted
from ppdm_flow.engine.faults import data_fault, output_fault, run_fault
from ppdm_flow.engine.spark.farm import Farm, condition_of

GROUP_ROWS = 1 << 17
"""Rows of a row group of the copy."""
_GROUP_BYTES = 1 << 27
_CELLS = frozenset(
    {
        "boolean",
        "byte",
        "char",
        "date",
        "decimal",
        "double",
        "float",
        "integer",
        "long",
        "short",
        "string",
        "time",
        "timestamp",
        "timestamp_ntz",
        "varchar",
        "void",
    }
)
"""Spark's types whose values have a text; lists of them are sets of items."""
_ADVICE = {
    "TABLE_OR_VIEW_NOT_FOUND": "`SHOW TABLES` in the session lists what there is; is it the right catalog?",
    "DATA_SOURCE_NOT_FOUND": "the session needs the jar that reads it: `spark.jars.packages`",
}
_FLAT = "select its parts as columns of their own, or leave it out"
_OTHER = "see that the session can read it: `spark.table(…)`, or the reader of its format, in the same session"


@dataclass(frozen=True, slots=True)
class SparkTable:
    """A DataFrame, and how messages call it."""

    frame: Any
    shown: str

    @classmethod
    def at(cls, session: Any, address: TableAddress) -> SparkTable:
        """Return the table at an address. Raises DataError where the session has none."""
        shown = f"`{address.shown}`"
        with _translate_errors(shown):
            if address.kind in (DELTA, ICEBERG):
                frame = session.read.format(address.kind).load(address.name)
            else:
                frame = session.table(address.name)
            table = cls(frame, shown)
            table.columns()
        return table

    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns. Raises DataError where they cannot be had, or two have one name."""
        with _translate_errors(self.shown):
            names = tuple(self.frame.schema.names)
        twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
        if twice is not None:
            raise data_fault("PPF957", f"{self.shown} has two columns `{twice}`", advice="rename one")
        return names

    def copied(self, farm: Farm, columns: Sequence[str], scratch: Path, place: Path) -> None:
        """Copy these columns of all rows into files of the new folder ``place``, in one pass over the table.

        ``scratch`` is a private folder on the same disk; executors see both. Raises DataError, RunError.
        """
        with _translate_errors(self.shown):
            chosen = self.frame.selectExpr(*(f"{quoted(name, '`')} AS c{place}" for place, name in enumerate(columns)))
        work = _Copying(scratch.absolute(), tuple(columns))
        written = sorted(farm.finished(chosen, work), key=lambda file: file.partition)
        if len({file.partition for file in written}) < len(written):
            raise run_fault("PPF950", f"two tasks copied one partition of {self.shown}")
        try:
            place.mkdir(mode=0o700)
            for number, file in enumerate(written):
                (scratch / file.name).rename(_numbered(place, number))
            if not written:
                names = pa.schema([(name, pa.string()) for name in columns])
                pq.write_table(names.empty_table(), _numbered(place, 0))
        except OSError as error:
            raise output_fault(error, f"the copy of {self.shown}") from None

    def check_kinds(self, columns: Sequence[str]) -> None:
        """Raise DataError for columns of types that are no cells and no sets."""
        kinds = {field.name: _kind(field.dataType) for field in self.frame.schema.fields}
        faults = [
            Diagnostic("PPF957", f"{self.shown}: values of column `{name}` have no text: {kinds[name]}", help=_FLAT)
            for name in columns
            if kinds[name].removeprefix("array of ") not in _CELLS
        ]
        if faults:
            raise DataError(faults)


def _kind(kind: Any) -> str:
    """Return the name of a type of Spark's, of a list that of its items."""
    name = kind.typeName()
    return f"array of {_kind(kind.elementType)}" if name == "array" else str(name)


def _numbered(place: Path, number: int) -> Path:
    return place / f"part-{number:05d}.parquet"


@dataclass(frozen=True, slots=True)
class _CopiedFile:
    partition: int
    name: str


@dataclass(frozen=True, slots=True)
class _Copying:
    """Writes the rows of a partition, under these names of columns, into a file that no other attempt at it has."""

    scratch: Path
    columns: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[_CopiedFile]:
        tables = (table.rename_columns(self.columns) for table in row_groups(batches))
        first = next(tables, None)
        if first is None:
            return
        name = f"{secrets.token_hex(16)}.parquet"
        with pq.ParquetWriter(self.scratch / name, first.schema, compression="lz4") as writer:
            writer.write_table(first)
            for table in tables:
                writer.write_table(table)
        yield _CopiedFile(_partition(), name)


def row_groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield the rows in tables of at least GROUP_ROWS rows, or fewer wide ones; instants are in UTC."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        if not batch.num_rows:
            continue
        waiting.append(batch)
        if sum(b.num_rows for b in waiting) >= GROUP_ROWS or sum(b.nbytes for b in waiting) >= _GROUP_BYTES:
            yield _in_utc(pa.Table.from_batches(waiting))
            waiting = []
    if waiting:
        yield _in_utc(pa.Table.from_batches(waiting))


def _in_utc(table: pa.Table) -> pa.Table:
    """Return the table with all instants in UTC, in a session of any time zone."""
    fields = [field.with_type(_utc(field.type)).remove_metadata() for field in table.schema]
    return table.cast(pa.schema(fields))


def _utc(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_list(kind):
        return pa.list_(_utc(kind.value_type))
    return pa.timestamp(kind.unit, "UTC") if pa.types.is_timestamp(kind) and kind.tz is not None else kind


def _partition() -> int:
    """Return the number of the partition that this executor works on."""
    from pyspark import TaskContext  # noqa: PLC0415  # on an executor

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


@contextmanager
def _translate_errors(shown: str) -> Iterator[None]:
    """Turn what Spark says of a table into an error that has its own word for it, and quotes nothing."""
    try:
        yield
    except PpdmError:
        raise
    except Exception as error:  # noqa: BLE001  # of Spark, or of a reader in its session
        condition = condition_of(error)
        advice = _ADVICE.get(condition, _OTHER)
        raise data_fault("PPF957", f"Spark cannot read {shown} ({condition})", advice=advice) from None

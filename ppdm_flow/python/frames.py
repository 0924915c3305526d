"""Data frames as files that the engine reads: in memory where the machine can, so that no row of them is on a disk."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa
import pyarrow.parquet as pq

from ppdm_flow.core.addresses.table import refuse_table
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError

_NAME = "data.parquet"


@runtime_checkable
class ArrowStream(Protocol):
    """What gives its rows by the Arrow PyCapsule interface: polars, DuckDB, Arrow itself and others."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the stream."""
        ...


Data = str | os.PathLike[str] | ArrowStream | Any
"""A file's path; a pandas data frame; an Arrow table, record batch or reader; or any :class:`ArrowStream`."""


def is_spark_frame(data: Data) -> bool:
    """Whether data is a DataFrame of Spark's, classic or of Spark Connect."""
    spark = sys.modules.get("pyspark.sql")  # nobody has such a frame without it
    return spark is not None and isinstance(data, spark.DataFrame)


def reader_of(data: Data) -> pa.RecordBatchReader:
    """Return the rows of a data frame, batch by batch.

    The index of a pandas one is no column: numbers without a name are left out, and any other is refused. Raises
    DataError for one, for what is no data frame, and for two columns with one name or a column with values of several
    kinds.
    """
    reader = _reader(data)
    names = list(reader.schema.names)
    for place, name in enumerate(names):
        if name in names[:place]:
            raise _fault(f"the data frame has two columns `{name}`", "rename one")
    return reader


def _reader(data: Data) -> pa.RecordBatchReader:
    if is_spark_frame(data):
        advice = "`run` reads it where it is; of one that fits into memory give `frame.toArrow()`"
        raise _fault("a DataFrame of Spark's is not brought to this machine", advice)
    if isinstance(data, pa.RecordBatchReader):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data]).to_reader()
    if type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "columns"):
        return _of_pandas(data).to_reader()
    if isinstance(data, ArrowStream) and type(data).__name__ != "Series":
        try:
            return pa.RecordBatchReader.from_stream(data)
        except Exception as error:  # noqa: BLE001  # code of others, whose message may hold a value
            text = f"the data frame of type `{type(data).__name__}` gives no rows: {type(error).__name__}"
            raise _fault(text, "give what is open, and of types that Arrow has") from None
    raise _fault(
        f"data of type `{type(data).__name__}` is no data frame",
        "give a path, a pandas or polars data frame, or an Arrow table",
    )


def _of_pandas(frame: Any) -> pa.Table:
    _reject_index(frame.index)
    arrays, names = [], []
    for place, name in enumerate(frame.columns):
        if not isinstance(name, str):
            raise _fault(f"column {place + 1} of the data frame has no text for a name", "rename it")
        try:
            arrays.append(pa.Array.from_pandas(frame.iloc[:, place]))
        except (pa.ArrowException, OverflowError, TypeError):  # its message holds a value
            text = f"the column `{name}` of the data frame has values of several kinds, or of one that Arrow has not"
            raise _fault(text, "make them one: `frame[column].astype(str)`, or another type") from None
        names.append(name)
    return pa.table(_whole(arrays), names=names)


def _whole(arrays: Sequence[Any]) -> list[Any]:
    return [each.combine_chunks() if isinstance(each, pa.ChunkedArray) else each for each in arrays]


def _reject_index(index: Any) -> None:
    """Raise DataError for an index that says something: it would be left out, and nobody would see it."""
    named = [name for name in index.names if name is not None]
    if named or index.nlevels > 1 or index.dtype.kind not in "iu":
        raise _fault(
            "the data frame has an index that is not the number of the row",
            "make it a column by `frame.reset_index()`, or leave it out by `frame.reset_index(drop=True)`",
        )


@contextmanager
def as_file(data: Data | None) -> Iterator[Path | None]:
    """Yield a path to read data from: its own, or that of a Parquet file that ends with the block. None for none.

    Raises DataError as :func:`reader_of`, where rows cannot be had, and where Parquet has no place for a column.
    """
    if data is None or isinstance(data, (str, os.PathLike)):
        refuse_table(None if data is None else os.fspath(data))
        yield None if data is None else Path(data)
        return
    reader = reader_of(data)
    with tempfile.TemporaryDirectory(prefix="ppdm-flow-") as folder, _place(Path(folder)) as file:
        _write(reader, file)
        yield file


def _write(reader: pa.RecordBatchReader, file: Path) -> None:
    try:
        schema = pa.schema([(field.name, _plain(field.type)) for field in reader.schema])
        with pq.ParquetWriter(file, schema, compression="lz4") as writer:
            for batch in reader:
                arrays = [_as(kind, array) for kind, array in zip(schema.types, batch.columns, strict=True)]
                writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
    except Exception as error:  # noqa: BLE001  # code of others gives the rows, and its message may hold a value
        text = f"the rows of the data frame could not be taken: {type(error).__name__}"
        raise _fault(text, "leave out columns of a type that Parquet has not; give a reader that ends well") from None


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return the type that Parquet has for one: categories are of texts, and no views."""
    if not pa.types.is_dictionary(kind):
        return kind
    of = kind.value_type
    texts = pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_string_view(of)
    return pa.dictionary(kind.index_type, pa.string()) if texts else of


def _as(kind: pa.DataType, array: pa.Array) -> pa.Array:
    if array.type == kind:
        return array
    if not pa.types.is_dictionary(kind):
        return array.dictionary_decode()
    return pa.DictionaryArray.from_arrays(array.indices, array.dictionary.cast(pa.string()))


@contextmanager
def _place(folder: Path) -> Iterator[Path]:
    """Yield a file in a folder of its owner's only; where the system has them, one that is in memory alone."""
    file = folder / _NAME
    if not hasattr(os, "memfd_create"):
        yield file
        return
    descriptor = os.memfd_create(_NAME)
    try:
        file.symlink_to(f"/proc/{os.getpid()}/fd/{descriptor}")
        yield file
    finally:
        os.close(descriptor)


def _fault(text: str, advice: str) -> DataError:
    return DataError(Diagnostic("PPF679", text, help=advice))

"""Data frames as files that the engine reads: in memory where the machine can, so that no row of them is on a disk."""

from __future__ import annotations

import datetime as dt
import os
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ppdm_flow.core.addresses import refuse_table
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.tables.arrow_texts import FRAME_TYPE, NotText, rendered

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
    arrays, fields = [], []
    for place, name in enumerate(frame.columns):
        if not isinstance(name, str):
            raise _fault(f"column {place + 1} of the data frame has no text for a name", "rename it")
        column = frame.iloc[:, place]
        try:
            foreign = _foreign_type(column)
            cells = column.astype(object).map(str, na_action="ignore") if foreign else column
            array = pa.Array.from_pandas(cells)
            same = foreign is not None or _has_same_values(column)
        except Exception:  # noqa: BLE001  # code of others, whose message may hold a value
            text = (
                f"the column `{name}` of the data frame, of type `{column.dtype}`, has values of several kinds, of one"
                " that Arrow has not, or texts with half a surrogate"
            )
            raise _fault(text, "make them one: `frame[column].astype(str)`, or another type") from None
        if not same:
            text = (
                f"the column `{name}` of the data frame, of type `{column.dtype}`, has values that Arrow would change:"
                " of several kinds, times with an offset, timestamps of several zones, or a decimal NaN"
            )
            raise _fault(text, "make them one: `pandas.to_datetime(frame[column])`, or `frame[column].astype(str)`")
        arrays.append(array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array)
        fields.append(pa.field(name, arrays[-1].type, metadata={FRAME_TYPE: foreign} if foreign else None))
    return pa.table(arrays, schema=pa.schema(fields))


def _has_same_values(column: Any) -> bool:
    """Whether Arrow keeps the numbers and moments of a column of Python objects, or of such categories."""
    import pandas as pd  # noqa: PLC0415  # who gives such a column has imported it

    cells = column.dtype.categories if isinstance(column.dtype, pd.CategoricalDtype) else column
    if cells.dtype != object:
        return True
    kept = pa.Array.from_pandas(cells)
    kind = kept.type
    if not (pa.types.is_primitive(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind)):
        return True
    pairs = zip(cells, kept.to_pylist(), strict=True)
    return all(_is_missing(cell) if value is None else _moment(cell) == _moment(value) for cell, value in pairs)


def _is_missing(cell: Any) -> bool:
    """Whether pandas has no value here: None, NA, NaT or NaN, but not a decimal."""
    import pandas as pd  # noqa: PLC0415  # who gives such a cell has imported it

    return not isinstance(cell, Decimal) and bool(pd.isna(cell))


def _moment(value: Any) -> Any:
    """Return a time or timestamp as its clock shows it, with its offset; any other value as it is."""
    if isinstance(value, (dt.datetime, dt.time)):
        return value.replace(tzinfo=None, fold=0), value.utcoffset()
    return value


def _foreign_type(column: Any) -> str | None:
    """Return the type of a pandas column that Arrow has no type for, and whose values have a text; None for others."""
    import pandas as pd  # noqa: PLC0415  # who gives such a column has imported it

    categories = column.dtype.categories if isinstance(column.dtype, pd.CategoricalDtype) else None
    for kind in (column.dtype, None if categories is None else categories.dtype):
        if isinstance(kind, pd.IntervalDtype | pd.PeriodDtype):
            return str(kind)
    if column.dtype == object:
        present = column.dropna()
        if len(present) and all(isinstance(value, uuid.UUID) for value in present):
            return "uuid"
    return None


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
        schema = pa.schema([_plain_field(field) for field in reader.schema])
        for field in schema:
            _refuse_unknown_zone(field)
        with pq.ParquetWriter(file, schema, compression="lz4") as writer:
            for batch in reader:
                arrays = [_as(field.type, array) for field, array in zip(schema, batch.columns, strict=True)]
                for field, array in zip(schema, arrays, strict=True):
                    _refuse_broken_texts(field.name, array)
                writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
    except DataError:
        raise
    except Exception as error:  # noqa: BLE001  # code of others gives the rows, and its message may hold a value
        text = f"the rows of the data frame could not be taken: {type(error).__name__}"
        raise _fault(text, "leave out columns of a type that Parquet has not; give a reader that ends well") from None


def _refuse_unknown_zone(field: pa.Field) -> None:
    if not pa.types.is_timestamp(field.type):
        return
    try:
        rendered(pa.array([0], field.type))
    except NotText:
        text = f"the column `{field.name}` of the data frame has timestamps of a time zone that is not known here"
        raise _fault(text, "give them in another zone: `frame[column].dt.tz_convert('UTC')`") from None


def _plain_field(field: pa.Field) -> pa.Field:
    """Return a field as Parquet takes it, with the name of a type that no release keeps."""
    kind = field.type
    noted = (field.metadata or {}).get(FRAME_TYPE)
    if noted is None and (pa.types.is_nested(kind) or _is_binary(kind) or isinstance(kind, pa.BaseExtensionType)):
        noted = str(kind).partition("<")[0].encode()
    return pa.field(field.name, _plain(kind), metadata=None if noted is None else {FRAME_TYPE: noted})


def _is_binary(kind: pa.DataType) -> bool:
    large = pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind)
    return bool(large or pa.types.is_binary(kind) or pa.types.is_fixed_size_binary(kind))


def _refuse_broken_texts(name: str, array: pa.Array) -> None:
    """Raise DataError for texts that are no Unicode, and for such with NUL, which many readers take for the end."""
    texts = array.dictionary if pa.types.is_dictionary(array.type) else array
    if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
        return
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        text = f"the column `{name}` of the data frame, of type `{texts.type}`, has a text that is not Unicode"
        raise _fault(text, "mend it where the data frame is made") from None
    if pc.any(pc.match_substring(texts, "\0")).as_py():
        text = f"the column `{name}` of the data frame, of type `{texts.type}`, has a text with NUL (character 0)"
        raise _fault(text, r'take it out: `frame[column].str.replace("\0", "")`')


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return the type that Parquet has for one: categories are of texts, and no views."""
    if isinstance(kind, pa.BaseExtensionType):
        return pa.string() if str(kind) == "extension<arrow.uuid>" else kind.storage_type
    if pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    if not pa.types.is_dictionary(kind):
        return kind
    of = kind.value_type
    texts = pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_string_view(of)
    return pa.dictionary(kind.index_type, pa.string()) if texts else of


def _as(kind: pa.DataType, array: pa.Array) -> pa.Array:
    if array.type == kind:
        return array
    if isinstance(array.type, pa.BaseExtensionType):
        return array.storage if kind == array.type.storage_type else pa.array(map(_text_of, array.to_pylist()), kind)
    if not pa.types.is_dictionary(array.type):
        return array.cast(kind)
    if not pa.types.is_dictionary(kind):
        return array.dictionary_decode()
    return pa.DictionaryArray.from_arrays(array.indices, array.dictionary.cast(pa.string()))


def _text_of(value: Any) -> str | None:
    return None if value is None else str(value)


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

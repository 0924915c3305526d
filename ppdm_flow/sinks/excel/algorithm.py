"""A workbook of one sheet, by XlsxWriter, an optional extra: written row by row, never a formula or a link."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.sinks.excel.spec import ExcelSinkParams
from ppdm_flow.sinks.refusals import (
    check_numbers,
    check_texts,
    distinct_texts,
    refused_cell,
    refused_table,
    without_extra,
)

xlsxwriter: Any
try:
    xlsxwriter = import_module("xlsxwriter")
except ImportError:  # the extra is not installed
    xlsxwriter = None

ROWS = 1_048_576
COLUMNS = 16_384
_LONGEST = 32_767
_LARGEST, _SMALLEST = 9.99999999999999e307, 2.2250738585072014e-308
_TITLE = "Excel"
_FIRST_DAY = dt.date(1900, 1, 1)
_CREATED = dt.datetime(2000, 1, 1)  # noqa: DTZ001  # the library takes it as UTC
_MILLISECOND = 1_000
_DATE, _MOMENT = "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss.000"
_OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_numbers": False,
    "strings_to_urls": False,
    "use_zip64": True,
}


class _Double(float):
    """A number that is written with all its digits, and not with the library's sixteen."""

    def __format__(self, _spec: str) -> str:
        return repr(float(self))


class ExcelSink:
    """Writes one file, which must not exist yet. Raises PluginError where the extra is missing."""

    def __init__(self, params: ExcelSinkParams, path: Path, names: Sequence[str]) -> None:
        if xlsxwriter is None:
            raise without_extra(_TITLE, "excel")
        if len(names) > COLUMNS:
            raise refused_table(f"{len(names):,} columns are more than the {COLUMNS:,} of a sheet", "drop some of them")
        for name in names:
            _check_texts(name, pa.array([name], pa.string()))
        with path.open("xb"):
            pass
        self.path = path
        self.names = list(names)
        self._rows = 0
        self._refused = True
        self._parts = TemporaryDirectory(prefix=".parts-", dir=path.parent)
        self._book = xlsxwriter.Workbook(str(path), {**_OPTIONS, "tmpdir": self._parts.name})
        self._book.set_properties({"created": _CREATED})
        self._sheet = self._book.add_worksheet(params.sheet)
        self._date, self._moment = (self._book.add_format({"num_format": form}) for form in (_DATE, _MOMENT))
        for place, name in enumerate(names):
            self._sheet.write_string(0, place, name)
        self._refused = False

    def write(self, batch: pa.RecordBatch) -> None:
        """Append the rows. Raises DataError, naming the column, for what a sheet cannot hold."""
        self._refused = True
        if self._rows + batch.num_rows >= ROWS:
            text = f"the release has more rows than the {ROWS - 1:,} that a sheet has below its header"
            raise refused_table(text, "release a CSV or Parquet file")
        self._check_rows(batch)
        for name, column in zip(self.names, batch.columns, strict=True):
            _check(name, column)
        writers = [self._writer(column.type) for column in batch.columns]
        columns = [column.to_pylist() for column in batch.columns]
        for row, cells in enumerate(zip(*columns, strict=True), self._rows + 1):
            for place, (write, cell) in enumerate(zip(writers, cells, strict=True)):
                if cell is not None:
                    write(row, place, cell)
        self._rows += batch.num_rows
        self._refused = False

    def close(self) -> None:
        """Finish and flush to disk."""
        try:
            self._book.close()
        except xlsxwriter.exceptions.FileCreateError as error:
            raise OSError(getattr(error.args[0], "errno", None), "the workbook cannot be written") from None
        finally:
            self._parts.cleanup()  # rows that wait for the rest of the workbook stand there
        if self._refused:
            self.path.write_bytes(b"")  # what was written before is no table
        with self.path.open("rb+") as file:
            os.fsync(file.fileno())

    def _writer(self, kind: pa.DataType) -> Callable[[int, int, Any], object]:
        sheet = self._sheet
        if pa.types.is_date32(kind):
            return lambda row, place, cell: sheet.write_datetime(row, place, cell, self._date)
        if pa.types.is_timestamp(kind):
            return lambda row, place, cell: sheet.write_datetime(row, place, cell, self._moment)
        if pa.types.is_int64(kind):
            return self._integer
        if pa.types.is_float64(kind):
            return lambda row, place, cell: sheet.write_number(row, place, _Double(cell))
        return self._string

    def _string(self, row: int, place: int, cell: str) -> object:
        return self._sheet.write_string(row, place, cell)

    def _integer(self, row: int, place: int, cell: int) -> object:
        return self._sheet.write_number(row, place, cell)

    def _check_rows(self, batch: pa.RecordBatch) -> None:
        """Raise DataError for rows without a cell: at the end of a sheet they would be gone."""
        filled = np.zeros(batch.num_rows, dtype=bool)
        for column in batch.columns:
            filled |= column.is_valid().to_numpy(zero_copy_only=False)
        if not filled.all():
            text = "a row has nothing but missing values, which a sheet does not tell from no row"
            raise refused_table(text, "leave such rows out (`incomplete_rows: drop`), or release a CSV file")


def _check(name: str, column: pa.Array) -> None:
    kind = column.type
    if pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        _check_texts(name, distinct_texts(column))
    elif pa.types.is_int64(kind) or pa.types.is_float64(kind):
        values = column.drop_null().to_numpy(zero_copy_only=False)
        check_numbers(name, values, _TITLE, _LARGEST)
        if pa.types.is_float64(kind) and bool(((np.abs(values) < _SMALLEST) & (values != 0)).any()):
            raise refused_cell(name, "a number is nearer to 0 than those of Excel", "round it")
    elif kind == pa.date32() or kind == pa.timestamp("us"):
        _check_moments(name, column.drop_null())
    else:
        reason = "a sheet has no cells for sets, or for moments with a time zone"
        raise refused_cell(name, reason, "release a Parquet file")


def _check_texts(name: str, texts: pa.StringArray) -> None:
    check_texts(name, texts, _TITLE)
    if pc.any(pc.match_substring_regex(texts, "[\ufffe\uffff]"), min_count=0).as_py():
        raise refused_cell(name, "a text has a character that no workbook has", "take it out beforehand")
    long = texts.filter(pc.greater(pc.utf8_length(texts), _LONGEST // 2)).to_pylist()
    if any(len(text.encode("utf-16-le")) // 2 > _LONGEST for text in long):
        raise refused_cell(name, f"a text is longer than the {_LONGEST:,} characters of a cell", "release a CSV file")


def _check_moments(name: str, moments: pa.Array) -> None:
    first = pa.scalar(_FIRST_DAY).cast(moments.type)
    if pc.any(pc.less(moments, first), min_count=0).as_py():
        raise refused_cell(name, "Excel has no dates before 1 January 1900", "generalize it, or release a CSV file")
    if pa.types.is_timestamp(moments.type):
        ticks = moments.cast(pa.int64()).to_numpy(zero_copy_only=False)
        if (ticks % _MILLISECOND).any():
            reason = "a moment is finer than a millisecond, the finest of Excel"
            raise refused_cell(name, reason, "round it (`generalize` with a hierarchy of dates), or release a CSV file")

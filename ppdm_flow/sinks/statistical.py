"""Files of SPSS and Stata by pyreadstat, an optional extra: checked batch by batch, written as a whole."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import RunError
from ppdm_flow.sinks.refusals import (
    check_numbers,
    check_texts,
    distinct_texts,
    refused_cell,
    without_extra,
)
from ppdm_flow.tables.numeric.epochs import Epoch

pyreadstat: Any
try:
    pyreadstat = import_module("pyreadstat")
except ImportError:  # the extra is not installed
    pyreadstat = None

_HEAD = 512
_MICROSECONDS = 86_400_000_000
_TEXTS = pa.dictionary(pa.int32(), pa.string())


class StatisticalSink:
    """Writes one file, which must not exist yet; a subclass says what its format holds. The rows stay in memory."""

    title: ClassVar[str] = ""
    longest: ClassVar[int] = 0
    largest: ClassVar[float] = 0.0
    dates: ClassVar[Epoch]
    moments: ClassVar[Epoch]
    first_day: ClassVar[int] = 0
    since: ClassVar[str] = ""
    formats: ClassVar[Mapping[str, str]] = {}
    written_at: ClassVar[re.Pattern[bytes]]
    fixed_time: ClassVar[bytes] = b""

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        if pyreadstat is None:
            raise without_extra(self.title, "statistics")
        self.path = path
        self.names = list(names)
        self._batches: list[list[pa.Array]] = []
        self._refused = False
        self.described: dict[str, str] = {}
        self.check_names()
        with path.open("xb"):
            pass

    def check_names(self) -> None:
        """Raise DataError for names of columns that the format does not have."""
        raise NotImplementedError

    def check_more(self, name: str, texts: pa.StringArray) -> None:
        """Raise DataError for texts that this format, unlike others, would change."""

    def describe(self, descriptions: Mapping[str, str]) -> None:
        """Keep what becomes the variables' labels, on one line and as long as they may be."""
        lines = {name: " ".join(text.split()) for name, text in descriptions.items()}
        self.described = {name: self.shortened(text) for name, text in lines.items() if text}

    def shortened(self, text: str) -> str:
        """Return as much of a description as a label holds."""
        raise NotImplementedError

    def save(self, frame: pd.DataFrame, formats: Mapping[str, str]) -> None:
        """Write the file over the empty one."""
        raise NotImplementedError

    def write(self, batch: pa.RecordBatch) -> None:
        """Keep the rows. Raises DataError, naming the column, for what the format cannot hold."""
        self._refused = True
        self._batches.append([self._checked(*each) for each in zip(self.names, batch.columns, strict=True)])
        self._refused = False

    def close(self) -> None:
        """Write the file, and flush it to disk."""
        if self._refused:
            return
        columns = {name: self._column(place) for place, name in enumerate(self.names)}
        frame = pd.DataFrame({name: values for name, (values, _) in columns.items()})
        self._batches = []
        formats = {name: self.formats[kind] for name, (_, kind) in columns.items() if kind in self.formats}
        try:
            self.save(frame, formats)
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError):
            raise RunError(Diagnostic("PPF693", f"the {self.title} file cannot be written")) from None
        self._blank_time()
        with self.path.open("rb+") as file:
            os.fsync(file.fileno())

    def _blank_time(self) -> None:
        """Put a fixed time in place of that of writing: the same rows give the same bytes."""
        with self.path.open("rb+") as file:
            place = self.written_at.search(file.read(_HEAD))
            if place is None:
                raise RunError(
                    Diagnostic("PPF905", f"the library that writes {self.title} files has changed their header")
                )
            file.seek(place.start(1))
            file.write(self.fixed_time)

    def _checked(self, name: str, column: pa.Array) -> pa.Array:
        """Return texts, coded, or int64 and doubles of ticks; dates and moments become ticks here."""
        kind = column.type
        if pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
            texts = distinct_texts(column)
            check_texts(name, texts, self.title, longest=self.longest)
            self.check_more(name, texts)
            return column.cast(_TEXTS) if pa.types.is_dictionary(kind) else column.cast(pa.string()).dictionary_encode()
        if pa.types.is_int64(kind) or pa.types.is_float64(kind):
            check_numbers(name, column.drop_null().to_numpy(zero_copy_only=False), self.title, self.largest)
            return column
        if kind == pa.date32() or kind == pa.timestamp("us"):
            self._check_moments(name, _micros(column.drop_null()), self._epoch(kind))
            return column
        reason = f"{self.title} has no column for sets, or for moments with a time zone"
        raise refused_cell(name, reason, "release a Parquet file")

    def _epoch(self, kind: pa.DataType) -> Epoch:
        return self.dates if pa.types.is_date32(kind) else self.moments

    def _check_moments(self, name: str, micros: npt.NDArray[np.int64], epoch: Epoch) -> None:
        if (micros // _MICROSECONDS < self.first_day).any():
            raise refused_cell(name, f"{self.title} has no dates before {self.since}", "generalize it, or leave it out")
        if (epoch.microseconds(epoch.ticks(micros)) != micros).any():
            reason = f"a moment is finer than those of {self.title}"
            raise refused_cell(name, reason, "round it (`generalize` with a hierarchy of dates), or release a CSV file")

    def _column(self, place: int) -> tuple[npt.NDArray[Any], str]:
        """Return the cells of a column as the library takes them, and what they are."""
        pieces = [batch[place] for batch in self._batches]
        kind = pieces[0].type if pieces else _TEXTS
        if pa.types.is_dictionary(kind):
            texts = [piece.cast(pa.string()).fill_null("").to_numpy(zero_copy_only=False) for piece in pieces]
            return np.concatenate([np.empty(0, object), *texts]), "text"
        missing = np.concatenate([p.is_null().to_numpy(zero_copy_only=False) for p in pieces])
        if pa.types.is_int64(kind) or pa.types.is_float64(kind):
            values = np.concatenate([p.fill_null(0).to_numpy(zero_copy_only=False) for p in pieces]).astype(np.float64)
            what = "integer" if pa.types.is_int64(kind) else "float"
        else:
            values = self._epoch(kind).ticks(np.concatenate([_micros(piece) for piece in pieces]))
            what = "date" if pa.types.is_date32(kind) else "moment"
        return np.where(missing, np.nan, values), what


def _micros(column: pa.Array) -> npt.NDArray[np.int64]:
    """Return microseconds from 1970, 0 for missing cells."""
    if pa.types.is_date32(column.type):
        days = column.cast(pa.int32()).fill_null(0).to_numpy(zero_copy_only=False)
        return np.asarray(days.astype(np.int64) * _MICROSECONDS)
    return np.asarray(column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False))

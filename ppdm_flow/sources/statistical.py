"""Files of SPSS, Stata and SAS by pyreadstat, an optional extra: read in blocks, numbers and moments as they are."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, PluginError
from ppdm_flow.core.results import Finding
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sdk.storage import ColumnMeaning
from ppdm_flow.sources.faults import distinct, fault, nul, undecodable, unreadable
from ppdm_flow.sources.statistical_beside import beside
from ppdm_flow.sources.statistical_cells import (
    AmbiguousLabelError,
    OutsideCalendarError,
    labelled,
    moments,
    numbers,
    texts,
    written,
)
from ppdm_flow.sources.statistical_formats import NumberReading
from ppdm_flow.sources.statistical_probe import survives
from ppdm_flow.sources.value_labels import ambiguous, labels_of, valid_labels

pyreadstat: Any
try:
    pyreadstat = import_module("pyreadstat")
except ImportError:  # the extra is not installed
    pyreadstat = None

ROWS = 1 << 17
_RENAMED = re.compile(r"_duplicated\d+$")
_BYTES = ("character set", "invalid byte sequence", "cannot be represented")


class StatisticalSource:
    """One file; its kind is a subclass. Raises PluginError where the extra is missing."""

    title: ClassVar[str] = ""
    labels: str = "codes"
    encoding: str | None = None

    def __init__(self, params: Any, path: Path) -> None:
        if pyreadstat is None:
            text = f"reading {self.title} needs an extra"
            raise PluginError(Diagnostic("PPF723", text, help="pip install 'ppdm_flow[statistics]'"))
        self.params = params
        self.path = path
        self._told: Any = None

    def reader(self, head: bytes) -> str:
        """Return the name of pyreadstat's function for a file that begins like this."""
        raise NotImplementedError

    def reading(self, name: str, display: str) -> NumberReading:
        """Return what a display format makes of the numbers of column ``name``."""
        raise NotImplementedError

    def inspect(self) -> None:
        """Raise DataError for what the library reads without a word, and is wrong all the same."""

    def names(self) -> tuple[str, ...]:
        """Return the column names. Raises DataError where the file is another format, or two names are the same."""
        return tuple(self._about().column_names)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows as texts. Raises DataError, naming the column, where a cell has none."""
        return self.typed_batches(columns, {})

    def typed_batches(self, columns: Sequence[str], types: Mapping[str, AttributeType]) -> Iterator[pa.RecordBatch]:
        """Yield the rows; numbers and moments of the columns in ``types`` without labels stay what they are."""
        convert = {name: self._converter(name, typed=name in types) for name in columns}
        asked = list(columns) or list(self.names()[:1])
        for done, cells in self.blocks(asked):
            if not columns:
                rows = len(next(iter(cells.values()), ()))
                yield pa.RecordBatch.from_struct_array(pa.array([{}] * rows, pa.struct([])))
                continue
            arrays = [_converted(name, convert[name], cells[name], done) for name in columns]
            yield pa.RecordBatch.from_arrays(arrays, names=list(columns))

    def meanings(self) -> Mapping[str, ColumnMeaning]:
        """Return the labels of variables, and of their codes but for those that stand for missing values."""
        about = self._about()
        described = about.column_names_to_labels
        return {name: ColumnMeaning(described.get(name) or "", self._labels(name)) for name in about.column_names}

    def beside(self) -> Iterator[Finding]:
        """Yield what the file holds beside its cells."""
        about = self._about()
        yield from beside(about, self.blocks, self._marks if self._keeps_marks() else None)

    def blocks(self, columns: Sequence[str], **options: Any) -> Iterator[tuple[int, Mapping[str, Sequence[Any]]]]:
        """Yield cells as the library has them, after how many rows. Raises DataError where rows are missing."""
        expected = self._about().number_rows
        done = 0
        while expected is None or done < expected or not done:
            cells, _ = self._read(done, usecols=list(columns), row_limit=ROWS, row_offset=done, **options)
            rows = len(next(iter(cells.values()), ()))
            if rows:
                yield done, cells
            done += rows
            if rows < ROWS:
                break
        if expected is not None and done != expected:
            raise self._broken(done)

    def _marks(self, columns: Sequence[str]) -> Iterator[tuple[int, Mapping[str, Sequence[Any]]]]:
        return self.blocks(columns, user_missing=True)

    def _keeps_marks(self) -> bool:
        return self._function() in ("read_sav", "read_dta", "read_sas7bdat")

    def _about(self) -> Any:
        if self._told is None:
            self.inspect()
            if not survives(self._function(), self.path):
                raise self._broken(None)
            marks = {"user_missing": True} if self._keeps_marks() else {}
            with warnings.catch_warnings():  # of two columns with one name, which is an error here
                warnings.simplefilter("ignore")
                _, about = self._read(None, metadataonly=True, **marks)
            if not all(about.column_names):
                raise self._broken(None)
            distinct(self.path, _as_written(about.column_names))
            self._told = about
        return self._told

    def _function(self) -> str:
        try:
            with self.path.open("rb") as file:
                return self.reader(file.read(80))
        except OSError as error:
            raise unreadable(self.path, error) from None

    def _read(self, done: int | None, **options: Any) -> tuple[Mapping[str, Sequence[Any]], Any]:
        name = self._function()
        if self.encoding is not None and name != "read_por":
            options["encoding"] = self.encoding
        function: Callable[..., Any] = getattr(pyreadstat, name)
        try:
            found: tuple[Mapping[str, Sequence[Any]], Any] = function(
                str(self.path), output_format="dict", disable_datetime_conversion=True, **options
            )
        except UnicodeError:
            raise undecodable(self._place(done), self.encoding or "that it names") from None
        except Exception as error:  # noqa: BLE001  # whatever the library raises of a damaged file may quote it
            if any(words in str(error) for words in _BYTES):
                raise undecodable(self._place(done), self.encoding or "that it names") from None
            raise self._broken(done) from None
        return found

    def _place(self, done: int | None) -> str:
        return f"`{self.path}`" if done is None else f"`{self.path}`: a value after row {done}"

    def _broken(self, done: int | None) -> DataError:
        where = "" if done is None else f" after row {done}"
        text = f"`{self.path}` cannot be read as {self.title}{where}"
        return fault("PPF717", text, help="it is cut off, or another format")

    def _labels(self, name: str) -> Mapping[str, str]:
        """Return the labels of a variable by the texts that its cells have."""
        about = self._about()
        kind = about.readstat_variable_types[name]
        numeric = not kind.startswith("string")
        declared = about.variable_value_labels.get(name, {})
        known = valid_labels(declared, (about.missing_ranges or {}).get(name, ()), numeric=numeric)
        if not known:
            return {}
        if self.labels == "values":
            return {label: label for label in known.values()}
        codes = (
            numbers([float(code) for code in known], single=kind == "float")
            if numeric
            else pa.array(list(known), pa.string())
        )
        reading = self.reading(name, about.original_variable_types[name] or "") if numeric else NumberReading()
        spelled = written(codes, reading).dictionary_decode() if numeric else codes
        return dict(zip(spelled.to_pylist(), known.values(), strict=True))

    def _converter(self, name: str, *, typed: bool) -> Callable[[Sequence[Any]], pa.Array]:
        about = self._about()
        kind = about.readstat_variable_types[name]
        numeric = not kind.startswith("string")
        declared = about.variable_value_labels.get(name, {}) if self.labels == "values" else {}
        labels = labels_of(name, declared, (about.missing_ranges or {}).get(name, ()), numeric=numeric)
        reading = self.reading(name, about.original_variable_types[name] or "") if numeric else NumberReading()

        def convert(cells: Sequence[Any]) -> pa.Array:
            array = numbers(cells, single=kind == "float") if numeric else texts(cells)
            if labels:
                return labelled(array, reading, labels)
            if not numeric:
                return array.dictionary_encode()
            if not typed or reading.what == "time":
                return written(array, reading)
            return array if reading.epoch is None else moments(array, reading)

        return convert


def _converted(name: str, convert: Callable[[Sequence[Any]], pa.Array], cells: Sequence[Any], done: int) -> pa.Array:
    try:
        array = convert(cells)
    except AmbiguousLabelError:
        raise ambiguous(name) from None
    except OutsideCalendarError:
        text = f"column `{name}`: after row {done} a moment is not in the years 1 to 9999"
        raise fault("PPF719", text, help="correct it, or take the column out") from None
    except pa.ArrowException:
        raise fault("PPF717", f"column `{name}`: after row {done} a cell is not of the column's type") from None
    if pa.types.is_dictionary(array.type) and any("\0" in text for text in array.dictionary.to_pylist() if text):
        raise nul(f"column `{name}`, after row {done}")
    return array


def _as_written(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names as the file has them: of two that are the same the library renames the second."""
    known = set(names)
    stems = [(name, _RENAMED.sub("", name)) for name in names]
    return tuple(stem if stem in known else name for name, stem in stems)

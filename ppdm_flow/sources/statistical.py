"""Files of SPSS, Stata and SAS by pyreadstat, an optional extra: read in blocks, numbers and moments as they are."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.errors import DataError, PluginError
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Finding
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sdk.storage import ColumnMeaning
from ppdm_flow.sources.faults import distinct, fault, nul, undecodable, unreadable
from ppdm_flow.sources.value_labels import ambiguous, labels_of, valid_labels
from ppdm_flow.tables.numeric.column import texts_of
from ppdm_flow.tables.numeric.epochs import DAYS_FROM_1960, SAS, SPSS, STATA, Epoch

pyreadstat: Any
try:
    pyreadstat = import_module("pyreadstat")
except ImportError:  # the extra is not installed
    pyreadstat = None

ROWS = 1 << 17
_RENAMED = re.compile(r"_duplicated\d+$")
_BYTES = ("character set", "invalid byte sequence", "cannot be represented")
Blocks = Iterator[tuple[int, Mapping[str, Sequence[Any]]]]
Read = Callable[[Sequence[str]], Blocks]


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
        self._file_metadata: Any = None

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
        read_names = list(columns) or list(self.names()[:1])
        for done, cells in self.blocks(read_names):
            if not columns:
                rows = len(next(iter(cells.values()), ()))
                yield pa.RecordBatch.from_struct_array(pa.array([{}] * rows, pa.struct([])))
                continue
            arrays = [_converted(name, convert[name], cells[name], done) for name in columns]
            yield pa.RecordBatch.from_arrays(arrays, names=list(columns))

    def meanings(self) -> Mapping[str, ColumnMeaning]:
        """Return the labels of variables, and of their codes except those that mean missing values."""
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
        if self._file_metadata is None:
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
            self._file_metadata = about
        return self._file_metadata

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
            table: tuple[Mapping[str, Sequence[Any]], Any] = function(
                str(self.path), output_format="dict", disable_datetime_conversion=True, **options
            )
        except UnicodeError:
            raise undecodable(self._place(done), self.encoding or "that it names") from None
        except Exception as error:  # noqa: BLE001  # any error of the library on a damaged file may quote it
            if any(words in str(error) for words in _BYTES):
                raise undecodable(self._place(done), self.encoding or "that it names") from None
            raise self._broken(done) from None
        return table

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


# Display formats of SPSS, Stata and SAS: which of them make a number a date, a moment or a time of day.


_SPSS_DATES = frozenset({"DATE", "ADATE", "EDATE", "JDATE", "SDATE", "QYR", "MOYR", "WKYR"})
_SPSS_MOMENTS = frozenset({"DATETIME", "YMDHMS"})
_SPSS_TIMES = frozenset({"TIME", "DTIME", "MTIME"})

_SAS_DATES = (
    "DATE DAY DDMMYY DDMMYYB DDMMYYC DDMMYYD DDMMYYN DDMMYYP DDMMYYS DOWNAME JULDAY JULIAN MMDDYY MMDDYYB MMDDYYC"
    " MMDDYYD MMDDYYN MMDDYYP MMDDYYS MMYY MMYYC MMYYD MMYYN MMYYP MMYYS MONNAME MONTH MONYY NENGO QTR QTRR WEEKDATE"
    " WEEKDATX WEEKDAY WEEKU WEEKV WEEKW WORDDATE WORDDATX YEAR YYMM YYMMC YYMMD YYMMN YYMMP YYMMS YYMMDD YYMMDDB"
    " YYMMDDC YYMMDDD YYMMDDN YYMMDDP YYMMDDS YYMON YYQ YYQC YYQD YYQN YYQP YYQR YYQS E8601DA B8601DA IS8601DA NLDATE"
)
_SAS_MOMENTS = (
    "DATETIME DATEAMPM DTDATE DTMONYY DTWKDATX DTYEAR DTYYQC MDYAMPM E8601DT B8601DT E8601DN B8601DN IS8601DT IS8601DN"
    " NLDATM"
)
_SAS_TIMES = "TIME TIMEAMPM TOD HHMM HOUR MMSS E8601TM B8601TM IS8601TM NLTIME"
_SAS = {
    **dict.fromkeys(_SAS_DATES.split(), "date"),
    **dict.fromkeys(_SAS_MOMENTS.split(), "moment"),
    **dict.fromkeys(_SAS_TIMES.split(), "time"),
}


@dataclass(frozen=True, slots=True)
class NumberReading:
    """What the numbers of a column are: with ``epoch`` they are dates or moments; ``time`` are seconds."""

    what: Literal["number", "date", "moment", "time"] = "number"
    epoch: Epoch | None = None


NUMBER = NumberReading()


def of_spss(display: str) -> NumberReading:
    """Return what a format such as ``DATETIME20`` says."""
    name = _named(display)
    if name in _SPSS_DATES:
        return NumberReading("date", SPSS)
    if name in _SPSS_MOMENTS:
        return NumberReading("moment", SPSS)
    return NumberReading("time") if name in _SPSS_TIMES else NUMBER


def of_stata(display: str) -> NumberReading | None:
    """Return what a format such as ``%tdD_m_Y`` says; None where moments are counted with leap seconds."""
    name = display.replace("-", "", 1)
    if name.startswith("%tC"):
        return None
    if name.startswith(("%td", "%d")):
        return NumberReading("date", DAYS_FROM_1960)
    return NumberReading("moment", STATA) if name.startswith("%tc") else NUMBER


def of_sas(display: str) -> NumberReading:
    """Return what a format such as ``YYMMDD10.`` says."""
    match _SAS.get(_named(display)):
        case "date":
            return NumberReading("date", DAYS_FROM_1960)
        case "moment":
            return NumberReading("moment", SAS)
        case "time":
            return NumberReading("time")
        case _:
            return NUMBER


def _named(display: str) -> str:
    return display.upper().rstrip("0123456789.")


# What a statistical file holds beside its cells: notes, labels of codes that no row has, marks for missing values.


def beside(about: Any, read: Read, marks: Read | None) -> Iterator[Finding]:
    """Yield what there is, in numbers and names of columns; never a value.

    ``marks`` reads the cells with the codes that mean missing values, where the format has such codes.
    """
    if about.notes or getattr(about, "file_label", None):
        yield _finding("PPF922", "the file has notes or a label of its own: read them before it leaves", "metadata")
    described = sum(1 for label in about.column_labels if label)
    if described:
        yield _finding("PPF922", f"{counted(described, 'column')} of the file have descriptions", "columns")
    labels = {name: set(codes) for name, codes in about.variable_value_labels.items() if codes}
    filled, _ = _seen(read, about.column_names, ())
    marked, codes = _seen(marks or read, about.column_names, tuple(labels))
    for name in about.column_names:
        unused = len(labels.get(name, set()) - codes.get(name, set()))
        if unused:
            text = f"the file has {counted(unused, 'label')} for codes of `{name}` that no row has"
            yield _finding("PPF921", text, name)
        if marked[name] > filled[name]:
            text = (
                f"{counted(marked[name] - filled[name], 'cell')} of `{name}` have codes for missing values, of which"
                " nothing is measured: all of them are read as missing"
            )
            yield _finding("PPF921", text, f"missing {name}")


def _seen(read: Read, names: Sequence[str], labelled: Sequence[str]) -> tuple[dict[str, int], dict[str, set[Any]]]:
    """Return how many cells of each column have a value, and the codes in columns with labels."""
    filled = dict.fromkeys(names, 0)
    codes: dict[str, set[Any]] = {name: set() for name in labelled}
    for _, cells in read(names):
        for name in names:
            filled[name] += sum(1 for cell in cells[name] if cell is not None and cell != "")
        for name in labelled:
            codes[name].update(cells[name])
    return filled, codes


def _finding(code: str, text: str, subject: str) -> Finding:
    return Finding(code, Severity.WARNING, text, subject)


_CODE = "import sys, pyreadstat; getattr(pyreadstat, sys.argv[1])(sys.argv[2], metadataonly=True)"
_FAILED = (0, 1)
"""How Python ends by itself: what it raised is raised, and told, again where the file is read."""


def survives(function: str, path: Path) -> bool:
    """Read what the file says of itself in a process of its own, once for each state of the file."""
    state = path.stat()
    return _survives(function, str(path.absolute()), state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=64)
def _survives(function: str, path: str, _size: int, _changed: int) -> bool:
    if not sys.executable:  # embedded: there is no other process to be had
        return True
    words = [sys.executable, "-I", "-c", _CODE, function, path]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: S603  # our own code, no shell
    return done.returncode in _FAILED


# Cells of statistical files as Arrow's arrays: numbers and moments as they are, or their texts.


_TEXTS = pa.dictionary(pa.int32(), pa.string())
_MICROSECONDS = 86_400_000_000


class OutsideCalendarError(Exception):
    """A moment before the year 1 or after 9999."""


class AmbiguousLabelError(Exception):
    """A code without a label is written like the label of another one."""


def texts(cells: Sequence[str | None]) -> pa.StringArray:
    """Return texts; the empty one, which is all that these formats have for a missing text, is null."""
    array = pa.array(cells, pa.string())
    return pc.if_else(pc.equal(array, ""), pa.scalar(None, pa.string()), array)


def numbers(cells: Sequence[float | None], *, single: bool) -> pa.Array:
    """Return numbers; ``single`` precision keeps its own type, so that 0.1 stays 0.1."""
    array = pa.array(cells, pa.float64(), from_pandas=True)
    return array.cast(pa.float32(), safe=False) if single else array


def moments(array: pa.Array, reading: NumberReading) -> pa.Array:
    """Return date32 where every cell is a whole day and dates are meant, else timestamp[us]."""
    micros, missing = _micros(array, reading)
    if reading.what == "date" and not (micros % _MICROSECONDS).any():
        return pa.array((micros // _MICROSECONDS).astype(np.int32), pa.date32(), mask=missing)
    return pa.array(micros, pa.timestamp("us"), mask=missing)


def written(array: pa.Array, reading: NumberReading) -> pa.DictionaryArray:
    """Return the texts of numbers, dates (a time of day only where there is one), moments or times."""
    coded = array.dictionary_encode()
    return _coded(_spelled(coded.dictionary, reading), coded.indices)


def labelled(array: pa.Array, reading: NumberReading, labels: Mapping[float | str, str]) -> pa.DictionaryArray:
    """Return labels in place of codes, and the text of codes that have none. Raises AmbiguousLabelError."""
    coded = array.dictionary_encode()
    codes = coded.dictionary.to_pylist()
    plain = coded.dictionary if pa.types.is_string(array.type) else _spelled(coded.dictionary, reading)
    known = set(labels.values())
    if known.intersection(t for code, t in zip(codes, plain.to_pylist(), strict=True) if code not in labels):
        raise AmbiguousLabelError
    named = [labels.get(code, text) for code, text in zip(codes, plain.to_pylist(), strict=True)]
    return _coded(pa.array(named, pa.string()), coded.indices)


def _coded(values: pa.StringArray, indices: pa.Array) -> pa.DictionaryArray:
    """Return coded texts; two numbers may have one text (0.0 and -0.0)."""
    encoded = values.dictionary_encode()
    places = encoded.indices.take(indices.cast(pa.int32()))
    return pa.DictionaryArray.from_arrays(places, encoded.dictionary)


def _spelled(values: pa.Array, reading: NumberReading) -> pa.StringArray:
    if reading.what == "time":
        return pa.array([_clock(seconds) for seconds in values.to_pylist()], pa.string())
    if reading.epoch is not None:
        micros, _ = _micros(values, reading)
        whole_days = (micros % _MICROSECONDS == 0) & (reading.what == "date")
        days = texts_of((micros // _MICROSECONDS).astype(np.int32), AttributeType.DATE)
        return pc.if_else(pa.array(whole_days), days, texts_of(micros, AttributeType.TIMESTAMP))
    if pa.types.is_float32(values.type):
        values = values.cast(pa.string()).cast(pa.float64())
    return texts_of(values.to_numpy(zero_copy_only=False), AttributeType.FLOAT)


def _clock(seconds: float) -> str:
    """Return hours (more than 24 of them for a duration), minutes and seconds, as ISO 8601 has times of day."""
    micros = round(abs(seconds) * 1_000_000)
    whole_seconds, rest = divmod(micros, 1_000_000)
    fraction = f".{rest:06d}".rstrip("0") if rest else ""
    sign = "-" if seconds < 0 and micros else ""
    return f"{sign}{whole_seconds // 3600:02d}:{whole_seconds // 60 % 60:02d}:{whole_seconds % 60:02d}{fraction}"


def _micros(array: pa.Array, reading: NumberReading) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    assert reading.epoch is not None  # noqa: S101  # the callers ask before
    missing = np.asarray(array.is_null().to_numpy(zero_copy_only=False), dtype=bool)
    ticks = array.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
    if not reading.epoch.within(ticks).all():
        raise OutsideCalendarError
    return reading.epoch.microseconds(ticks), missing

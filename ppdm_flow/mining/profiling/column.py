"""One column in figures, without its values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.identifiers.cells import shaped
from ppdm_flow.mining.profiling.types import DateForm, are_diagnoses, date_form, numbers_of, type_of
from ppdm_flow.mining.profiling.words import named, of_ids
from ppdm_flow.tables.numeric.column import parsed

SAMPLE = 400
"""Distinct values whose form is looked at."""

_CELLS = 20
_STEPS = (1.0, 2.0, 5.0, 10.0)
_MIDDLE = (0.05, 0.95)
_DAY = 86_400
_DAYS_IN_DAYS, _DAYS_IN_WEEKS = 20, 200
_FEW_CODES = 8
_YEARS = (1900, 2100)


def interval_width(
    numbers: npt.NDArray[np.float64], counts: npt.NDArray[np.int64], *, integers: bool = False
) -> float | None:
    """Return 1, 2 or 5 times a power of ten: at bounds so far apart intervals of these numbers may end.

    About twenty such cells hold the middle 90 % of the rows. None where two significant digits are as fine, as for ages
    and amounts. ``integers``: no bound lies between whole numbers. Of the data the width tells no more than the size of
    that range, rounded upward.
    """
    low, high = _middle(numbers, counts)
    if not 1e-9 < high - low < 1e15:
        return None
    of_two_digits = 10.0 ** (np.floor(np.log10(max(abs(low), abs(high)))) - 1)
    width = max(1.0 if integers else 0.0, _step((high - low) / _CELLS))
    return width if width < of_two_digits * (1 - 1e-9) else None


def interval_seconds(seconds: npt.NDArray[np.float64], counts: npt.NDArray[np.int64]) -> float | None:
    """Return an hour, a day or a week, by the time that the middle 90 % of the rows span; None for months.

    Intervals of dates and timestamps may end at bounds so far apart.
    """
    low, high = _middle(seconds, counts)
    days = (high - low) / _DAY
    if days >= _DAYS_IN_WEEKS:
        return None
    return 7.0 * _DAY if days >= _DAYS_IN_DAYS else float(_DAY) if days >= 1 else 3600.0


def _middle(numbers: npt.NDArray[np.float64], counts: npt.NDArray[np.int64]) -> tuple[float, float]:
    """Return between which numbers the middle 90 % of the rows lie."""
    order = np.argsort(numbers, kind="stable")
    share = np.cumsum(counts[order]) / max(1, int(counts.sum()))
    places = np.minimum(np.searchsorted(share, np.array(_MIDDLE)), len(order) - 1)
    low, high = numbers[order[places]].tolist()
    return low, high


def _step(width: float) -> float:
    """Return the smallest of 1, 2, 5 times a power of ten that is at least ``width``."""
    power = 10.0 ** np.floor(np.log10(width))
    step = next((s * power for s in _STEPS if s * power >= width * (1 - 1e-9)), 10.0 * power)
    return float(f"{step:.12g}")


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """Facts about a column. No field holds a value of it.

    ``distinct`` values other than missing; ``alone`` rows whose value no other row has; ``largest`` rows have the most
    frequent one. ``shape`` and ``named`` are kinds (:mod:`.roles`), by the values' form and by the name; ``width`` is
    how far apart intervals of it may end (of dates in days, of timestamps in seconds; None: at two significant digits,
    or months), ``length`` the characters of the longest value that was looked at, ``decades`` the time that ISO dates
    span, ``dates`` how others are written. ``codes``: few whole numbers, which say which and not how many.
    """

    name: str
    rows: int
    missing: int
    distinct: int
    alone: int
    largest: int
    type: AttributeType
    length: int
    shape: str | None = None
    shape_word: str = ""
    named: str | None = None
    dates: DateForm | None = None
    width: float | None = None
    decades: int = 0
    codes: bool = False

    @property
    def date_format(self) -> str | None:
        """The strptime format of all values, where they are dates that are not ISO and nothing is open."""
        return self.dates.formats[0] if self.dates is not None and self.dates.is_certain else None

    @property
    def present(self) -> int:
        """Rows that have a value."""
        return self.rows - self.missing

    @property
    def alone_share(self) -> float:
        """The share of alone rows among those that have a value."""
        return self.alone / self.present if self.present else 0.0


def facts(name: str, codes: npt.NDArray[np.int32], values: pa.StringArray) -> ColumnFacts:
    """Measure a column: ``codes`` (rows,) point into ``values``, distinct texts that all occur; -1 is missing."""
    counts = np.bincount(codes + 1, minlength=len(values) + 1)[1:]
    kind = type_of(values)
    form = date_form(values) if kind is not AttributeType.FLOAT and not of_ids(name) else None
    numeric = kind in (AttributeType.INTEGER, AttributeType.FLOAT) and (form is None or form.unread > 0)
    texts = values.take(pa.array(_spread(len(values)))).to_pylist()
    shape = shaped(texts) if kind is AttributeType.TEXT or kind is AttributeType.INTEGER else None
    if shape is None and kind is AttributeType.TEXT and are_diagnoses(texts):
        shape = ("diagnosis", "ICD")
    return ColumnFacts(
        name=name,
        rows=len(codes),
        missing=int((codes < 0).sum()),
        distinct=len(values),
        alone=int((counts == 1).sum()),
        largest=int(counts.max(initial=0)),
        type=AttributeType.TEXT if form is not None and not form.unread else kind,
        length=max(map(len, texts), default=0),
        shape=shape[0] if shape else None,
        shape_word=shape[1] if shape else "",
        named=named(name),
        dates=form,
        width=_width(values, counts, kind) if numeric or kind.is_time else None,
        decades=_decades(values) if kind.is_time else 0,
        codes=numeric and _are_codes(numbers_of(values), len(codes)),
    )


def _width(values: pa.StringArray, counts: npt.NDArray[np.int64], kind: AttributeType) -> float | None:
    if not kind.is_time:
        return interval_width(numbers_of(values), counts, integers=kind is AttributeType.INTEGER)
    moments = parsed(values, kind).values.astype(np.float64)
    days = kind is AttributeType.DATE
    seconds = interval_seconds(moments * _DAY if days else moments / 1e6, counts)
    return seconds if seconds is None or not days else max(1.0, seconds / _DAY)


def _are_codes(numbers: npt.NDArray[np.float64], rows: int) -> bool:
    """Whether these are few numbers, all of them whole, that many rows share; years are none."""
    if len(numbers) > _FEW_CODES or 2 * len(numbers) > rows or (numbers % 1).any():
        return False
    return not (numbers >= _YEARS[0]).all() or not (numbers <= _YEARS[1]).all()


def _decades(dates: pa.StringArray) -> int:
    years = pc.min_max(pc.utf8_slice_codeunits(dates, 0, 4))
    return (int(years["max"].as_py()) - int(years["min"].as_py())) // 10


def _spread(size: int) -> npt.NDArray[np.int64]:
    """Return at most so many positions, evenly spread."""
    return np.unique(np.linspace(0, size - 1, min(size, SAMPLE)).astype(np.int64)) if size else np.zeros(0, np.int64)

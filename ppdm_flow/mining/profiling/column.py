"""One column in figures, without its values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.identifiers.cells import shaped
from ppdm_flow.mining.profiling.types import date_form, numbers_of, type_of
from ppdm_flow.mining.profiling.words import named

SAMPLE = 400
"""Distinct values whose form is looked at."""

_WANTED = 8
_STEPS = (1.0, 2.0, 5.0, 10.0)
_MIDDLE = (0.05, 0.95)
_FEWEST = 9
"""Distinct numbers below which intervals say hardly less than the numbers."""


def edges(
    numbers: npt.NDArray[np.float64], counts: npt.NDArray[np.int64], *, integers: bool = False
) -> tuple[float, ...]:
    """Return ascending round edges (1, 2 or 5 times a power of ten apart) around the middle 90 % of the rows.

    ``integers``: none lies between whole numbers.

    They depend on two quantiles, rounded outward, and on nothing else; beyond them intervals have to be open. Empty
    for fewer than nine distinct numbers, or where the middle is one number.
    """
    if len(numbers) < _FEWEST:
        return ()
    order = np.argsort(numbers, kind="stable")
    share = np.cumsum(counts[order]) / max(1, int(counts.sum()))
    places = np.minimum(np.searchsorted(share, np.array(_MIDDLE)), len(order) - 1)
    low, high = (float(number) for number in numbers[order[places]])
    if not low < high:
        return ()
    step = max(1.0 if integers else 0.0, _step((high - low) / _WANTED))
    first, last = np.floor(low / step), np.ceil(high / step)
    if not abs(first) < 1e12 or not abs(last) < 1e12:
        return ()
    ticks = tuple(float(f"{i * step:.12g}") for i in range(int(first), int(last) + 1))
    return ticks if len(set(ticks)) == len(ticks) > 1 else ()


def _step(width: float) -> float:
    """Return the smallest of 1, 2, 5 times a power of ten that is at least ``width``."""
    power = 10.0 ** np.floor(np.log10(width))
    return float(next((s * power for s in _STEPS if s * power >= width * (1 - 1e-9)), 10.0 * power))


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What is known of a column. No field holds a value of it.

    ``distinct`` values other than missing; ``alone`` rows whose value no other row has; ``largest`` rows have the most
    frequent one. ``shape`` and ``named`` are kinds (:mod:`.kinds`), by the values' form and by the name; ``edges``
    are round numbers around the middle nine tenths, ``length`` the characters of the longest value that was looked
    at, ``decades`` the time that ISO dates span.
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
    date_format: str | None = None
    edges: tuple[float, ...] = ()
    decades: int = 0

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
    form = date_form(values) if kind is not AttributeType.FLOAT else None
    numeric = kind in (AttributeType.INTEGER, AttributeType.FLOAT) and form is None
    texts = values.take(pa.array(_spread(len(values)))).to_pylist()
    shape = shaped(texts) if kind is AttributeType.TEXT or kind is AttributeType.INTEGER else None
    return ColumnFacts(
        name=name,
        rows=len(codes),
        missing=int((codes < 0).sum()),
        distinct=len(values),
        alone=int((counts == 1).sum()),
        largest=int(counts.max(initial=0)),
        type=AttributeType.TEXT if form is not None else kind,
        length=max(map(len, texts), default=0),
        shape=shape[0] if shape else None,
        shape_word=shape[1] if shape else "",
        named=named(name),
        date_format=form,
        edges=edges(numbers_of(values), counts, integers=kind is AttributeType.INTEGER) if numeric else (),
        decades=_decades(values) if kind.is_time else 0,
    )


def _decades(dates: pa.StringArray) -> int:
    years = pc.min_max(pc.utf8_slice_codeunits(dates, 0, 4))
    return (int(years["max"].as_py()) - int(years["min"].as_py())) // 10


def _spread(size: int) -> npt.NDArray[np.int64]:
    """Return at most so many positions, evenly spread."""
    return np.unique(np.linspace(0, size - 1, min(size, SAMPLE)).astype(np.int64)) if size else np.zeros(0, np.int64)

"""The original's values of one attribute, and the mean error of a guess at one of them.

Values are numbered from 0; the number after the last one is that of missing cells (and suppressed ones of the source),
which are a value of their own. The distance of two categories is 0 or 1, of two numbers |x - y|, of days in days. A
missing cell is as far from each number as two random numbers are from one another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.audits.labels.forms import are_dates, numbers
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SPECIALS, Column
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.numeric.column import NumericColumn, texts_of

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

MICROSECONDS_OF_DAY = 86_400_000_000


@dataclass(frozen=True, eq=False)
class Categories:
    """``texts`` (values,), and ``counts`` (values + 1,): rows of each, those with a missing cell last."""

    texts: pa.StringArray
    counts: Integers

    @cached_property
    def guessing(self) -> Floats:
        """How likely a value drawn from all of the original's is another one, of each value, shape (values + 1,)."""
        return 1.0 - self.counts / max(1, int(self.counts.sum()))

    def places(self, column: Column) -> Integers:
        """Return the number of each cell's value, shape (rows,)."""
        return _places(column, self.texts)


@dataclass(frozen=True, eq=False)
class SortedNumbers:
    """Ascending ``values`` (values,), and ``counts`` (values + 1,) as above; ``kind`` is what their texts look like.

    ``form`` is how dates are written that are not ISO ones (strptime), ``written`` (values,) the first text of each.
    """

    values: Floats
    counts: Integers
    kind: AttributeType
    form: str | None = None
    written: pa.StringArray | None = None

    @property
    def are_dates(self) -> bool:
        """Whether they are days."""
        return self.kind.is_time

    @cached_property
    def reach(self) -> float:
        """The distance of the largest from the smallest; 1 where there are no two."""
        return float(self.values[-1] - self.values[0]) or 1.0 if len(self.values) else 1.0

    def scaled(self, values: Floats) -> Floats:
        """Return numbers where the smallest value is 0 and the largest 1: sums of such keep their digits."""
        return (values - self.values[0]) / self.reach if len(self.values) else values

    @cached_property
    def positions(self) -> Floats:
        """The scaled values, with a last one for missing cells."""
        return np.append(self.scaled(self.values), 0.0)

    @cached_property
    def rows_below(self) -> Floats:
        """How many rows have a value before each one, shape (values + 1,)."""
        return np.concatenate([[0.0], np.cumsum(self.counts[:-1], dtype=np.float64)])

    @cached_property
    def sums_below(self) -> Floats:
        """The sum of scaled numbers over the same rows."""
        sums = np.cumsum(self.counts[:-1] * self.positions[:-1].astype(np.longdouble))
        return np.concatenate([[0.0], sums.astype(np.float64)])

    def distances(self, value: Integers, begin: Integers, end: Integers) -> Floats:
        """Return the sum of distances from a value to all rows whose values are numbered from ``begin`` to ``end``."""
        middle = np.clip(value, begin, end)
        here, rows, sums = self.positions[value], self.rows_below, self.sums_below
        below = here * (rows[middle] - rows[begin]) - (sums[middle] - sums[begin])
        above = (sums[end] - sums[middle]) - here * (rows[end] - rows[middle])
        return np.asarray(below + above)

    @cached_property
    def _to_all(self) -> Floats:
        every = np.arange(len(self.values))
        return self.distances(every, np.zeros_like(every), np.full_like(every, len(every)))

    @cached_property
    def missing_distance(self) -> float:
        """The mean distance of two random numbers; 1 where they are all one."""
        rows = float(self.rows_below[-1])
        return float(self.counts[:-1] @ self._to_all) / (rows * rows or 1.0) or 1.0

    @cached_property
    def guessing(self) -> Floats:
        """The mean distance of each value from one drawn from all of the original's, shape (values + 1,)."""
        rows, missing = float(self.rows_below[-1]), float(self.counts[-1])
        apart = np.append(self._to_all + missing * self.missing_distance, rows * self.missing_distance)
        return np.asarray(apart / (rows + missing or 1.0))

    @cached_property
    def texts(self) -> pa.StringArray:
        """The values as a file has them."""
        if self.written is not None:
            return self.written
        if self.kind is AttributeType.TIMESTAMP:
            return texts_of(np.rint(self.values * MICROSECONDS_OF_DAY).astype(np.int64), self.kind)
        exact = self.values if self.kind is AttributeType.FLOAT else self.values.astype(np.int64)
        return texts_of(exact, self.kind)

    def places(self, column: Column) -> Integers:
        """Return the number of each cell's value, shape (rows,)."""
        if isinstance(column, NumericColumn):
            place = np.searchsorted(self.values, floats_of(column))
        else:
            place = np.searchsorted(
                self.values, np.append(numbers_of(column.categories, self.kind, self.form), [np.nan] * SPECIALS)
            )
            place = place[column.codes]
        return np.minimum(place, len(self.values))


Values = Categories | SortedNumbers


def values_of(view: DataView, source: str, facts: AttributeFacts | None) -> Values:
    """Count the values of an attribute of the original.

    It has numbers where its type says so, or a hierarchy of intervals or dates and nothing but numbers or dates, which
    are ISO ones or all written as the hierarchy says.
    """
    kind = view.schema[source].type if facts is None else facts.type
    if view.schema[source].numeric:
        return _numbers(_numeric_parts(view, source), kind)
    counted = view.counts((source,))
    texts, codes = counted.names(source), counted.of(source)
    rows = np.bincount(codes + SPECIALS, weights=counted.counts, minlength=len(texts) + SPECIALS).astype(np.int64)
    hierarchy = None if facts is None else facts.hierarchy
    dated = hierarchy is not None and hierarchy.date is not None
    if not kind.is_numeric and (dated or (hierarchy is not None and hierarchy.intervals is not None)):
        kind = AttributeType.TIMESTAMP if dated else AttributeType.FLOAT
    if kind.is_numeric:
        form = hierarchy.format if hierarchy is not None and dated and not are_dates(texts) else None
        read = numbers_of(texts, kind, form)
        if not np.isnan(read).any():
            counts = np.append(rows[SPECIALS:], rows[:SPECIALS].sum())
            sorted_numbers = _numbers([(np.append(read, np.nan), counts)], kind)
            written = None if form is None else texts.take(pa.array(np.unique(read, return_index=True)[1]))
            return replace(sorted_numbers, form=form, written=written)
    return Categories(texts, np.append(rows[SPECIALS:], rows[:SPECIALS].sum()))


def numbers_of(texts: pa.StringArray, kind: AttributeType, form: str | None = None) -> Floats:
    """Return texts as numbers, dates as days; NaN for what is neither, and for dates not written in the ``form``."""
    if form is not None:
        texts = pa.array([_iso(text, form) for text in texts.to_pylist()], pa.string())
    return numbers(texts, dates=kind.is_time)


def _iso(text: str, form: str) -> str | None:
    """Return a date as ISO 8601 writes it; None where it is not written in the form, with zeros or without."""
    try:
        return datetime.strptime(text.strip(), form).isoformat()  # noqa: DTZ007  # a day of a calendar, anywhere
    except ValueError:
        return None


def floats_of(column: NumericColumn) -> Floats:
    """Return the cells as numbers, timestamps as days; NaN for a missing one."""
    cells = column.floats()
    return cells / MICROSECONDS_OF_DAY if column.kind is AttributeType.TIMESTAMP else cells


def _numeric_parts(view: DataView, source: str) -> Iterator[tuple[Floats, Integers]]:
    weight = view.schema.weight
    for part in view.partitions([source] if weight is None else [source, weight]):
        column = part[source]
        cells = floats_of(column) if isinstance(column, NumericColumn) else np.full(len(column), np.nan)
        rows = np.ones(len(part), np.int64) if weight is None else weights_of(part[weight])
        yield _together(cells, rows)


def _numbers(
    parts: list[tuple[Floats, Integers]] | Iterator[tuple[Floats, Integers]], kind: AttributeType
) -> SortedNumbers:
    every = [(np.zeros(0), np.zeros(0, np.int64)), *parts]
    values, counts = _together(np.concatenate([v for v, _ in every]), np.concatenate([n for _, n in every]))
    known = ~np.isnan(values)
    return SortedNumbers(values[known], np.append(counts[known], counts[~known].sum()), kind)


def _together(cells: Floats, rows: Integers) -> tuple[Floats, Integers]:
    values, place = np.unique(cells, return_inverse=True)
    return values, np.bincount(place.reshape(-1), weights=rows, minlength=len(values)).astype(np.int64)


def _places(column: Column, texts: pa.StringArray) -> Integers:
    inside = pc.index_in(column.categories, value_set=texts).fill_null(len(texts))
    known = np.append(inside.to_numpy(zero_copy_only=False).astype(np.int64), [len(texts)] * SPECIALS)
    return np.asarray(known[column.codes])

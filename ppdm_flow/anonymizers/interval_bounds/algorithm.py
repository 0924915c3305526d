"""Interval bounds: the least and the greatest value that a label covers, as numbers."""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.interval_bounds.spec import ENDS, IntervalBoundsParams, chosen
from ppdm_flow.anonymizers.naming import require
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.hierarchies.labels import Range, range_of
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn, dtype_of, parsed
from ppdm_flow.tables.table import Table

_EVERYTHING = "*"
_BETWEEN = re.compile(r"\[(?P<low>[^,\[\])]+), ?(?P<high>[^,\[\])]+)(?P<close>[\])])")
_MONTH = re.compile(r"(?P<year>\d{4})(-(?P<month>\d{2}))?")

Ends = tuple[int | float | None, int | float | None]


class IntervalBounds:
    """Writes ``age`` as ``age_low`` and ``age_high``."""

    def __init__(self, params: IntervalBoundsParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Check that every label has bounds. Raises PluginError, naming column and number of labels, where not."""
        require(self.params.attributes or (), data.schema.names, ctx.step)
        kinds = {name: ctx.attributes[name].type for name in chosen(self.params, dict(ctx.attributes))}
        problems = [d for name, kind in kinds.items() if (d := _unreadable(data, name, kind)) is not None]
        if problems:
            raise PluginError(problems)
        return Fitted(BoundsTransform(tuple(kinds.items())))


def _unreadable(data: DataView, name: str, kind: AttributeType) -> Diagnostic | None:
    labels = data.domain(name).to_pylist()
    strange = sum(bounds(label, kind) is None for label in labels)
    if not strange:
        return None
    text = f"{strange} of {len(labels)} labels of `{name}` are no interval of `type: {kind}`, so they have no bounds"
    advice = "intervals, comparisons (`>= 65`), single values, years and months have bounds; lists of values have none"
    return Diagnostic("PPF786", text, help=advice)


@dataclass(frozen=True, slots=True)
class BoundsTransform(DeterministicTransform):
    """``kinds`` are (attribute, its type)."""

    kinds: tuple[tuple[str, AttributeType], ...]

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Return the partition with two columns of numbers at the end for each column of labels."""
        names = dict(self.kinds)
        columns = {name: column for name, column in part.columns.items() if name not in names}
        for name, kind in self.kinds:
            for end, column in zip(ENDS, _columns(part[name], kind), strict=True):
                columns[f"{name}{end}"] = column
        return Table(columns, part.rows, part.sets)

    def describe(self) -> Mapping[str, Any]:
        """The columns."""
        return {"attributes": [name for name, _ in self.kinds]}


def _columns(column: Column, kind: AttributeType) -> tuple[NumericColumn, NumericColumn]:
    ends = [bounds(label, kind) or (None, None) for label in column.categories.to_pylist()]
    return _spread([low for low, _ in ends], column, kind), _spread([high for _, high in ends], column, kind)


def _spread(values: list[int | float | None], column: Column, kind: AttributeType) -> NumericColumn:
    """Return a number for each row; what is missing, suppressed or open at this end is missing."""
    specials: list[int | float | None] = [None, None]
    every = [*values, *specials]
    numbers: npt.NDArray[Any] = np.array([0 if v is None else v for v in every], dtype=dtype_of(kind))
    absent = np.array([v is None for v in every], dtype=bool)
    return NumericColumn(numbers[column.codes], kind, absent[column.codes])


def bounds(label: str, kind: AttributeType) -> Ends | None:
    """Return the least and the greatest value that a label covers, None for an open end; None for no interval.

    Of whole numbers and moments both belong to it; of floats the upper end of ``[a, b)`` does not. Dates are days and
    timestamps microseconds since 1970.

    >>> bounds("[18, 25)", AttributeType.INTEGER), bounds("[18, 25)", AttributeType.FLOAT)
    ((18, 24), (18.0, 25.0))
    >>> bounds(">= 65", AttributeType.INTEGER), bounds("*", AttributeType.DATE), bounds("{1, 5}", AttributeType.INTEGER)
    ((65, None), (None, None), None)
    """
    if label == _EVERYTHING:
        return None, None
    if kind.is_time:
        return _moments(label, kind)
    single = _single(label, kind)
    if single is not None:
        return single, single
    interval = range_of(label)
    if interval is None:
        return None
    return _integer_ends(interval) if kind is AttributeType.INTEGER else _floats(interval)


def _single(text: str, kind: AttributeType) -> int | float | None:
    read = parsed(pa.array([text], pa.string()), kind)
    return None if read.bad[0] else read.values[0].item()


def _integer_ends(interval: Range) -> Ends:
    low = (
        None
        if interval.low is None
        else math.ceil(interval.low) + (not interval.low_in and interval.low == math.ceil(interval.low))
    )
    high = interval.high
    top = None if high is None else math.floor(high) - (not interval.high_in and high == math.floor(high))
    return low, top


def _floats(interval: Range) -> Ends:
    def plain(edge: Decimal | None) -> float | None:
        return None if edge is None else float(edge)

    return plain(interval.low), plain(interval.high)


def _moments(label: str, kind: AttributeType) -> Ends | None:
    """Return the ends of a range of moments, of a year, a month or a single moment."""
    ends = (label, label)
    between = _BETWEEN.fullmatch(label)
    if between:
        ends = between["low"], between["high"]
    elif month := _MONTH.fullmatch(label):
        ends = _of_month(int(month["year"]), month["month"], kind)
    low, high = (_single(end, kind) for end in ends)
    if low is None or high is None:
        return None
    return low, high - (between is not None and between["close"] == ")")


def _of_month(year: int, month: str | None, kind: AttributeType) -> tuple[str, str]:
    first, last = (int(month), int(month)) if month else (1, 12)
    if not (1 <= first <= 12 and year >= 1):
        return "", ""
    days = calendar.monthrange(year, last)[1]
    clock = "T23:59:59.999999" if kind is AttributeType.TIMESTAMP else ""
    return f"{year:04d}-{first:02d}-01", f"{year:04d}-{last:02d}-{days:02d}{clock}"

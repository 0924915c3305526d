"""Columns of numbers, which may have as many values as rows: compared over intervals, not value by value."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.audits.distributions.columns import Floats, Shares
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SPECIALS, Column
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.numeric.texts import texts_of

FEW = 200
"""A numeric column of at most so many values is compared value by value."""
INTERVALS = 20
"""Of others so many intervals are compared, of which each has about the same share of the original's rows."""
COARSE = slice(1, None, 2)
"""Which bounds remain where two columns are looked at together: ten intervals each."""
_QUANTILE_ROWS = 1 << 20
_FIRST = 1 << 12


def has_many_values(view: DataView, column: str) -> bool:
    """Whether a numeric column has more than 200 values."""
    seen: npt.NDArray[np.generic] | None = None
    for cells, _ in _parts(view, column, None):
        for start in (0, _FIRST):  # mostly the first rows tell
            values = np.unique(cells.present()[start : None if start else _FIRST])
            seen = values if seen is None else np.union1d(seen, values)
            if len(seen) > FEW:
                return True
    return False


def is_numeric(view: DataView, column: str) -> bool:
    """Whether a column of a view holds numbers, and not labels of them."""
    return view.schema[column].numeric


def edges(view: DataView, column: str) -> npt.NDArray[np.generic]:
    """Return the ascending numbers at which 20 intervals of about equal share begin, but for the first one.

    From at most 1,048,576 rows, evenly spaced.
    """
    step = max(1, view.row_count // _QUANTILE_ROWS)
    numbers = [cells.take(slice(None, None, step)).present() for cells, _ in _parts(view, column, None)]
    every = np.sort(np.concatenate(numbers)) if numbers else np.zeros(0)
    if not len(every):
        return every
    return np.unique(every[(np.arange(1, INTERVALS) * len(every)) // INTERVALS])


def interval_shares(
    original: DataView, source: str, candidate: DataView, column: str, bounds: npt.NDArray[np.generic]
) -> Shares:
    """Count the rows of both sides by interval; missing cells are an interval of their own."""
    kind = next((cells.kind for cells, _ in _parts(original, source, None)), None)
    texts = texts_of(bounds, kind).to_pylist() if kind is not None else []
    names = [f"below {texts[0]}" if texts else "all", *(f"from {t}" for t in texts)]
    before, after = (_counted(view, name, bounds) for view, name in ((original, source), (candidate, column)))
    return Shares(pa.array(names, pa.string()), before, after, intervals=True)


def in_intervals(column: Column, bounds: npt.NDArray[np.generic]) -> Column:
    """Return a numeric column coded by interval; one of labels as it is."""
    if not isinstance(column, NumericColumn):
        return column
    codes = np.searchsorted(bounds, column.values, side="right").astype(np.int32)
    if column.missing is not None:
        codes[column.missing] = MISSING
    return Column(codes, pa.array([str(i) for i in range(len(bounds) + 1)], pa.string()))


def _counted(view: DataView, column: str, bounds: npt.NDArray[np.generic]) -> Floats:
    rows = np.zeros(len(bounds) + 1 + SPECIALS)
    for cells, weights in _parts(view, column, view.schema.weight):
        places = in_intervals(cells, bounds).dense
        rows += np.bincount(places, weights=weights, minlength=len(rows))
    shares: Floats = rows / max(1.0, rows.sum())
    return shares


def _parts(
    view: DataView, column: str, weight: str | None
) -> Iterator[tuple[NumericColumn, npt.NDArray[np.int64] | None]]:
    for part in view.partitions([column] if weight is None else [column, weight]):
        cells = part[column]
        if isinstance(cells, NumericColumn):
            yield cells, None if weight is None else weights_of(part[weight])

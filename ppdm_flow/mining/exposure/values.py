"""The values of a sensitive attribute in every class, and row by row, as the release tells them: the first route."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import Columns, Reading, Way
from ppdm_flow.mining.exposure.faults import require_pairs_of_nulls
from ppdm_flow.mining.exposure.ground import Ground, Layout, ground
from ppdm_flow.mining.exposure.histograms import Code, Crowds, Histograms, histograms
from ppdm_flow.mining.exposure.rows import Rows

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """``histograms`` are those of all classes, or of all crowds; ``mean`` those of the mixed cells, if any."""

    reading: Reading
    histograms: Histograms
    mean: Histograms | None = None


def values(
    columns: Columns, ways: Iterable[Reading], rows: Rows, nulls: Nulls, *, values_known: bool = True
) -> list[Values]:
    """Return the values by each of the ways. Raises UnmeasuredError where these null semantics have no crowds."""
    return [_read(columns, way, rows, nulls, values_known=values_known) for way in ways]


def _read(columns: Columns, reading: Reading, rows: Rows, nulls: Nulls, *, values_known: bool) -> Values:
    require_pairs_of_nulls(columns, nulls)
    layout = Layout.of(columns, reading, rows.leading, nulls, values_known=values_known)
    return read(ground(rows, layout), reading, nulls)


def read(counted: Ground, reading: Reading, nulls: Nulls) -> Values:
    """Return the values of counted rows by one way."""
    layout = counted.layout
    code: Code | None = None
    if reading.way is Way.SHOWN:
        value, names = counted.codes[:, layout.shown[0]], counted.categories[layout.shown[0]]
    elif layout.value is not None:
        value, names = counted.codes[:, layout.value], counted.categories[layout.value]
        if reading.way is Way.DECODED:
            cell = counted.number(layout.shown)
            code = Code.of(cell, value, counted.rows, names)
            value, names = cell.astype(np.int32), _numbers(code)
    crowd, mean = _histograms(counted, value, names, nulls)
    if code is None:
        return Values(reading, crowd, mean)
    return Values(reading, code.decoded(crowd), None if mean is None else code.decoded(mean))


def _histograms(
    counted: Ground, value: npt.NDArray[np.int32], names: pa.StringArray, nulls: Nulls
) -> tuple[Histograms, Histograms | None]:
    if len(counted.layout.mixed):
        return Crowds(counted).histograms(value, names)
    grouped: Sequence[int] = counted.layout.grouping
    semantics = Nulls.WILDCARD if nulls is Nulls.WILDCARD else Nulls.OWN_CATEGORY  # what is left out is so already
    own = histograms(counted.collapsed(grouped, value, names), semantics)
    return Histograms(own.cells, own.sizes, own.rows, own.base, names, counted.left_out), None


def _numbers(code: Code) -> pa.StringArray:
    """Return names for cells that are numbers."""
    return pa.array(np.arange(code.shares.shape[0]).astype(str), pa.string())

"""The values of a sensitive attribute in every class, and row by row, as the release tells them: the first route."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import ReadingMethod, RevealingColumns, ValueColumns
from ppdm_flow.mining.exposure.faults import require_pairs_of_nulls
from ppdm_flow.mining.exposure.ground import CountedCombinations, CountLayout, ground
from ppdm_flow.mining.exposure.histograms import Code, Histograms, MixedCrowds, histograms
from ppdm_flow.mining.exposure.rows import CountedRows

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ValueHistograms:
    """``histograms`` are those of all classes, or of all crowds; ``mean`` those of the mixed cells, if any."""

    reading: ValueColumns
    histograms: Histograms
    mean: Histograms | None = None


def values(
    columns: RevealingColumns,
    ways: Iterable[ValueColumns],
    rows: CountedRows,
    nulls: Nulls,
    *,
    values_known: bool = True,
) -> list[ValueHistograms]:
    """Return the values by each of the ways. Raises UnmeasuredError where these null semantics have no crowds."""
    return [_read(columns, way, rows, nulls, values_known=values_known) for way in ways]


def _read(
    columns: RevealingColumns, reading: ValueColumns, rows: CountedRows, nulls: Nulls, *, values_known: bool
) -> ValueHistograms:
    require_pairs_of_nulls(columns, nulls)
    layout = CountLayout.of(columns, reading, rows.leading, nulls, values_known=values_known)
    return read(ground(rows, layout), reading, nulls)


def read(counted: CountedCombinations, reading: ValueColumns, nulls: Nulls) -> ValueHistograms:
    """Return the values of counted rows by one way."""
    layout = counted.layout
    code: Code | None = None
    if reading.way is ReadingMethod.SHOWN:
        value, names = counted.codes[:, layout.shown[0]], counted.categories[layout.shown[0]]
    elif layout.value is not None:
        value, names = counted.codes[:, layout.value], counted.categories[layout.value]
        if reading.way is ReadingMethod.DECODED:
            cell = counted.number(layout.shown)
            code = Code.of(cell, value, counted.rows, names)
            value, names = cell.astype(np.int32), _numbers(code)
    crowd, mean = _histograms(counted, value, names, nulls)
    if code is None:
        return ValueHistograms(reading, crowd, mean)
    return ValueHistograms(reading, code.decoded(crowd), None if mean is None else code.decoded(mean))


def _histograms(
    counted: CountedCombinations, value: npt.NDArray[np.int32], names: pa.StringArray, nulls: Nulls
) -> tuple[Histograms, Histograms | None]:
    if len(counted.layout.mixed):
        return MixedCrowds(counted).histograms(value, names)
    grouped: Sequence[int] = counted.layout.grouping
    semantics = Nulls.WILDCARD if nulls is Nulls.WILDCARD else Nulls.OWN_CATEGORY  # what is left out is so already
    own = histograms(counted.collapsed(grouped, value, names), semantics)
    return Histograms(own.cells, own.sizes, own.rows, own.base, names, counted.left_out), None


def _numbers(code: Code) -> pa.StringArray:
    """Return names for cells that are numbers."""
    return pa.array(np.arange(code.shares.shape[0]).astype(str), pa.string())

"""The sensitive values of every equivalence class, counted, under the three null semantics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.compatible import compatible_sums
from ppdm_flow.mining.recoding.grouping import Cells
from ppdm_flow.tables.column import MISSING, SPECIALS
from ppdm_flow.tables.counts import Counts

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_DENSE = 1 << 22
"""Cells of a dense matrix of classes and values that is made at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Histograms:
    """``cells``: how often each value occurs in each class; ``sizes`` (classes,): the rows that look alike.

    Values are dense codes: 0 suppressed, 1 missing, then ``names``. ``rows`` (classes,) are the rows that belong to a
    class, with wildcards fewer than its crowd. ``base`` (values,) are the shares of the table. ``left_out`` counts
    the rows that the null semantics leave out. ``behind`` is what was decoded: counts are then sums of shares, and the
    cells that were shown are ``shown``.
    """

    cells: Cells
    sizes: npt.NDArray[Any]
    rows: Ints
    base: Floats
    names: pa.StringArray
    left_out: int = 0
    behind: Any = None
    shown: Cells | None = None

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def total(self) -> int:
        """The rows that are in some class."""
        return int(self.rows.sum())


def histograms(counts: Counts, nulls: Nulls) -> Histograms:
    """Group by all columns of ``counts`` but the last, which is the sensitive one.

    ``own_category``: missing is one more value. ``wildcard``: a class is a crowd, the rows that contradict it nowhere
    in the grouping columns and are missing wherever it is; a missing sensitive value is one more value. ``exclude``:
    rows with a missing cell are left out.
    """
    occurs = counts.counts > 0
    left_out = 0
    if nulls is Nulls.EXCLUDE:
        known = ~(counts.codes == MISSING).any(axis=1)
        left_out = int(counts.counts[~known].sum())
        occurs &= known
    codes, rows = counts.codes[occurs], counts.counts[occurs]
    value = codes[:, -1] + np.int32(SPECIALS)
    names = counts.categories[-1]
    total = _added(value.astype(np.int64), rows, len(names) + SPECIALS)
    base = total / max(1, int(rows.sum()))
    first = _first(codes[:, :-1])
    begins = np.append(first, len(rows)).astype(np.int64)
    own = np.add.reduceat(rows, first) if len(rows) else np.zeros(0, dtype=np.int64)
    cells = Cells(begins, value, rows)
    if nulls is Nulls.WILDCARD and (codes[:, :-1] == MISSING).any():
        cells = _crowds(codes[first, :-1], cells, len(base))
        return Histograms(cells, _sums(cells), own, base, names)
    return Histograms(cells, own, own, base, names, left_out)


def _first(codes: npt.NDArray[np.int32]) -> Ints:
    """Return the place of each class's first combination: combinations come in order of their codes."""
    if not len(codes):
        return np.zeros(0, dtype=np.int64)
    new = np.zeros(len(codes), dtype=np.bool_)
    new[0] = True
    for column in codes.T:
        new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(new)


def _crowds(classes: npt.NDArray[np.int32], cells: Cells, values: int) -> Cells:
    """Return the cells of the crowd of each class, a block of values at a time."""
    owner, parts = cells.owner, []
    step = max(1, _DENSE // max(1, len(classes)))
    for start in range(0, values, step):
        here = (cells.value >= start) & (cells.value < start + step)
        dense = np.zeros((len(classes), min(step, values - start)), dtype=np.int64)
        dense[owner[here], cells.value[here] - start] = cells.count[here]
        summed = compatible_sums(classes, dense)
        which, value = np.nonzero(summed)
        parts.append((which, value + start, summed[which, value]))
    which, value, count = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.lexsort((value, which))
    begins = np.searchsorted(which[order], np.arange(len(classes) + 1))
    return Cells(begins.astype(np.int64), value[order].astype(np.int32), count[order])


def _sums(cells: Cells) -> Ints:
    total = np.concatenate([[0], np.cumsum(cells.count)])
    return np.asarray(total[cells.begins[1:]] - total[cells.begins[:-1]], dtype=np.int64)


def _added(place: Ints, rows: Ints, size: int) -> Ints:
    """Exact sums: weights may lie beyond what floats count."""
    if int(rows.sum()) < 1 << 53:
        return np.bincount(place, rows, size).astype(np.int64)
    found = np.zeros(size, dtype=np.int64)
    np.add.at(found, place, rows)
    return found

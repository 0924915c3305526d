"""Distances between records: columns that differ (Hamming), and for numbers how far they lie apart (Gower).

Records are columns of small codes, so that one record is compared with all others by a few vector instructions a
column. Gower, "A general coefficient of similarity and some of its properties", Biometrics 27 (1971).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.records.kernels import (
    Codes,
    DistanceBuffers,
    Integers,
    Numbers,
    guess_labels,
    nearest_records,
    weights_within,
)

_SMALL, _MIDDLE = 1 << 8, 1 << 16
TILE = 512
"""Records that stand together: none of them is looked at where the least of each column is too far."""


@dataclass(frozen=True, slots=True, eq=False)
class RecordPoints:
    """``codes`` (columns, records) of nominal columns, ``numbers`` (columns, records) over the range of each column.

    A number that is missing is far from all numbers and near to its own kind (see :data:`FAR`).
    """

    codes: Codes
    numbers: Numbers

    def __len__(self) -> int:
        return int(self.codes.shape[1])

    @property
    def columns(self) -> int:
        """The largest distance that there may be."""
        return len(self.codes) + len(self.numbers)

    def take(self, chosen: Integers) -> RecordPoints:
        """Return these records, in this order."""
        return RecordPoints(np.ascontiguousarray(self.codes[:, chosen]), np.ascontiguousarray(self.numbers[:, chosen]))

    def scratch(self, columns: int, labels: int = 0) -> DistanceBuffers:
        """Return room for the distances of one record to all of these, and to count ``labels``."""
        kind = np.float32 if len(self.numbers) else np.uint8 if columns < _SMALL else np.uint16
        distances = np.empty(len(self), dtype=kind)
        ranks = distances.view(np.int32) if kind is np.float32 else distances  # floats from 0 on: as their bits
        return DistanceBuffers(distances, ranks, *np.zeros((2, labels), dtype=np.int64))


FAR = np.float32(1e30)
"""Stands for a missing number; its negative for a suppressed one."""


def narrow(codes: npt.NDArray[np.int32]) -> Codes:
    """Return codes from 0 in as few bytes as they need."""
    most = int(codes.max(initial=0))
    kind = np.uint8 if most < _SMALL else np.uint16 if most < _MIDDLE else np.int32
    return np.ascontiguousarray(codes, dtype=kind)


def nearest(queries: RecordPoints, reference: RecordPoints) -> tuple[npt.NDArray[np.float64], Integers]:
    """Return how far the closest record of ``reference`` is from each query, and the first that is so close.

    Costs queries * records * columns. Raises ValueError for an empty reference.
    """
    if len(reference) == 0:
        raise ValueError("no records to be near to")
    best, where = np.zeros(len(queries)), np.zeros(len(queries), dtype=np.int64)
    order = _alike_together(reference)
    ordered = reference.take(order)
    nearest_records(*_both(queries, ordered), ordered.scratch(queries.columns), TILE, order, best, where)
    return best, where


def _alike_together(points: RecordPoints) -> Integers:
    """Return an order in which records that are alike stand together, most of all in columns with few values."""
    bins = max(2, round((len(points) / TILE) ** (1 / max(1, len(points.numbers)))))
    coarse = [np.floor(np.clip(n, -1, 2) * bins).astype(np.int16) for n in points.numbers]
    widths = points.codes.max(axis=1, initial=0).astype(np.int64)
    keys = [*coarse, *points.codes[np.argsort(-widths, kind="stable")]]
    return np.lexsort(keys).astype(np.int64) if keys else np.arange(len(points))


def within(queries: RecordPoints, reference: RecordPoints, weights: Integers, radius: float) -> Integers:
    """Return the weight of the records no farther than ``radius`` from each query."""
    weight = np.zeros(len(queries), dtype=np.int64)
    weights_within(*_both(queries, reference), reference.scratch(queries.columns), weights, radius, weight)
    return weight


def guesses(
    queries: RecordPoints, reference: RecordPoints, weights: Integers, labels: Integers
) -> tuple[npt.NDArray[np.float64], Integers, Integers]:
    """Return for each query how far its closest records are, their most frequent label, and how many labels they have.

    Of labels that are as frequent the lowest number wins. Raises ValueError for an empty reference.
    """
    if len(reference) == 0:
        raise ValueError("no records to guess from")
    best = np.zeros(len(queries))
    label, kinds = np.zeros(len(queries), dtype=np.int64), np.zeros(len(queries), dtype=np.int64)
    scratch = reference.scratch(queries.columns, labels=int(labels.max()) + 1)
    guess_labels(*_both(queries, reference), scratch, weights, labels, best, label, kinds)
    return best, label, kinds


def _both(queries: RecordPoints, reference: RecordPoints) -> tuple[Codes, Numbers, Codes, Numbers]:
    kind = np.promote_types(queries.codes.dtype, reference.codes.dtype)
    rows = np.ascontiguousarray(queries.codes.T, dtype=kind)
    return rows, np.ascontiguousarray(queries.numbers.T), reference.codes.astype(kind, copy=False), reference.numbers

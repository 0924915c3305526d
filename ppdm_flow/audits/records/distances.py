"""Distances between records: columns that differ (Hamming), and for numbers how far they lie apart (Gower).

Records are columns of small codes, so that one record is compared with all others by a few vector instructions a
column. Gower, "A general coefficient of similarity and some of its properties", Biometrics 27 (1971).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled, tolerant

Codes = npt.NDArray[Any]
Numbers = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

_SMALL, _MIDDLE = 1 << 8, 1 << 16
_TILE = 512
"""Records that stand together: none of them is looked at where the least of each column is too far."""


@dataclass(frozen=True, slots=True, eq=False)
class Points:
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

    def take(self, chosen: Integers) -> Points:
        """Return these records, in this order."""
        return Points(np.ascontiguousarray(self.codes[:, chosen]), np.ascontiguousarray(self.numbers[:, chosen]))

    def scratch(self, columns: int) -> npt.NDArray[Any]:
        """Return room for the distances of one record to all of these."""
        kind = np.float32 if len(self.numbers) else np.uint8 if columns < _SMALL else np.uint16
        return np.empty(len(self), dtype=kind)


FAR = np.float32(1e30)
"""Stands for a missing number; its negative for a suppressed one."""


def narrow(codes: npt.NDArray[np.int32]) -> Codes:
    """Return codes from 0 in as few bytes as they need."""
    most = int(codes.max(initial=0))
    kind = np.uint8 if most < _SMALL else np.uint16 if most < _MIDDLE else np.int32
    return np.ascontiguousarray(codes, dtype=kind)


def nearest(queries: Points, reference: Points) -> tuple[npt.NDArray[np.float64], Integers]:
    """Return how far the closest record of ``reference`` is from each query, and the first that is so close.

    Costs queries * records * columns. Raises ValueError for an empty reference.
    """
    if len(reference) == 0:
        raise ValueError("no records to be near to")
    best, where = np.zeros(len(queries)), np.zeros(len(queries), dtype=np.int64)
    order = _alike_together(reference)
    ordered = reference.take(order)
    out = ordered.scratch(queries.columns)
    ranks = out.view(np.int32) if out.dtype == np.float32 else out  # floats from 0 on are ordered as their bits are
    _nearest(*_both(queries, ordered), out, ranks, _TILE, order, best, where)
    return best, where


def _alike_together(points: Points) -> Integers:
    """Return an order in which records that are alike stand together, most of all in columns with few values."""
    bins = max(2, round((len(points) / _TILE) ** (1 / max(1, len(points.numbers)))))
    coarse = [np.floor(np.clip(n, -1, 2) * bins).astype(np.int16) for n in points.numbers]
    widths = points.codes.max(axis=1, initial=0).astype(np.int64)
    keys = [*coarse, *points.codes[np.argsort(-widths, kind="stable")]]
    return np.lexsort(keys).astype(np.int64) if keys else np.arange(len(points))


def within(queries: Points, reference: Points, weights: Integers, radius: float) -> Integers:
    """Return the weight of the records no farther than ``radius`` from each query."""
    weight = np.zeros(len(queries), dtype=np.int64)
    _within(*_both(queries, reference), reference.scratch(queries.columns), weights, radius, weight)
    return weight


def guesses(
    queries: Points, reference: Points, weights: Integers, labels: Integers
) -> tuple[npt.NDArray[np.float64], Integers, Integers]:
    """Return for each query how far its closest records are, their most frequent label, and how many labels they have.

    Of labels that are as frequent the lowest number wins. Raises ValueError for an empty reference.
    """
    if len(reference) == 0:
        raise ValueError("no records to guess from")
    best = np.zeros(len(queries))
    label, kinds = np.zeros(len(queries), dtype=np.int64), np.zeros(len(queries), dtype=np.int64)
    tally, seen = np.zeros((2, int(labels.max()) + 1), dtype=np.int64)
    scratch = reference.scratch(queries.columns)
    _guess(*_both(queries, reference), scratch, weights, labels, tally, seen, best, label, kinds)
    return best, label, kinds


def _both(queries: Points, reference: Points) -> tuple[Codes, Numbers, Codes, Numbers]:
    kind = np.promote_types(queries.codes.dtype, reference.codes.dtype)
    rows = np.ascontiguousarray(queries.codes.T, dtype=kind)
    return rows, np.ascontiguousarray(queries.numbers.T), reference.codes.astype(kind, copy=False), reference.numbers


@compiled
def _fill(query: Codes, numbers: Numbers, codes: Codes, others: Numbers, begin: int, out: npt.NDArray[Any]) -> None:
    """Write the distance of one record to as many others as there is room for, from one on."""
    end = begin + len(out)
    out[:] = 0
    one = np.float32(1.0)
    for c in range(len(codes)):
        value, column = query[c], codes[c, begin:end]
        for i in range(len(out)):
            out[i] += column[i] != value
    for c in range(len(others)):
        number, line = numbers[c], others[c, begin:end]
        for i in range(len(out)):
            apart = abs(line[i] - number)
            out[i] += apart if apart < one else one  # noqa: FURB136 - min() asks for NaN, one number at a time


@compiled
def _bound(query: Codes, numbers: Numbers, ends: Codes, reach: Numbers) -> np.float32:
    """Return what no record of a tile is nearer than: ``ends`` and ``reach`` (columns, 2) hold its least and largest.

    It is summed up in the order of :func:`_fill`, so that rounding never makes it larger than a distance.
    """
    one, apart = np.float32(1.0), np.float32(0.0)
    for c in range(len(ends)):
        if query[c] < ends[c, 0] or query[c] > ends[c, 1]:
            apart += one
    for c in range(len(reach)):
        apart += min(one, max(np.float32(0.0), reach[c, 0] - numbers[c], numbers[c] - reach[c, 1]))
    return apart


@tolerant
@compiled
def _nearest(
    rows: Codes,
    numbers: Numbers,
    codes: Codes,
    others: Numbers,
    out: npt.NDArray[Any],
    ranks: npt.NDArray[Any],
    size: int,
    order: Integers,
    best: npt.NDArray[np.float64],
    where: Integers,
) -> None:
    """Compare each query with tiles of ``size`` records: with the most likely one, then with all that may be as near.

    ``order`` are the positions of the records as they were given: the first of those that are as near is told.
    ``ranks`` are the same memory as ``out``, as whole numbers: their least is found several at once.
    """
    tiles = (len(out) + size - 1) // size
    ends = np.empty((tiles, len(codes), 2), dtype=codes.dtype)
    reach = np.empty((tiles, len(others), 2), dtype=others.dtype)
    _measure(codes, size, ends)
    _measure(others, size, reach)
    bounds, lowest = np.empty(tiles, dtype=np.float32), np.empty(len(best), dtype=ranks.dtype)
    for q in range(len(best)):
        for t in range(tiles):
            bounds[t] = _bound(rows[q], numbers[q], ends[t], reach[t])
        best[q], lowest[q], where[q] = np.inf, np.iinfo(ranks.dtype).max, len(out)
        likely = int(np.argmin(bounds))
        for k in range(tiles):
            t = likely if k == 0 else k - 1 if k <= likely else k
            if bounds[t] > best[q]:
                continue
            begin, end = t * size, min(len(out), (t + 1) * size)
            _fill(rows[q], numbers[q], codes, others, begin, out[begin:end])
            least = _least(ranks[begin:end])
            if least <= lowest[q]:
                place = _first(ranks[begin:end], least, order[begin:end])
                where[q] = place if least < lowest[q] else min(place, where[q])
                lowest[q], best[q] = least, out[begin:end].min()


@compiled
def _measure(columns: npt.NDArray[Any], size: int, ends: npt.NDArray[Any]) -> None:
    """Write the least and the largest of each column in each tile."""
    for t in range(len(ends)):
        for c in range(len(columns)):
            part = columns[c, t * size : (t + 1) * size]
            ends[t, c, 0], ends[t, c, 1] = part.min(), part.max()


@compiled
def _least(ranks: npt.NDArray[Any]) -> Any:
    least = ranks[0]
    for i in range(len(ranks)):
        least = min(least, ranks[i])
    return least


@compiled
def _first(ranks: npt.NDArray[Any], least: Any, order: Integers) -> np.int64:
    """Return the least position of the records that are as near as ``least``."""
    place = np.int64(np.iinfo(np.int64).max)
    for i in range(len(ranks)):
        if ranks[i] == least:
            place = min(place, order[i])
    return place


@tolerant
@compiled
def _within(
    rows: Codes,
    numbers: Numbers,
    codes: Codes,
    others: Numbers,
    out: npt.NDArray[Any],
    weights: Integers,
    radius: float,
    weight: Integers,
) -> None:
    for q in range(len(weight)):
        _fill(rows[q], numbers[q], codes, others, 0, out)
        total = np.int64(0)
        for i in range(len(out)):
            if out[i] <= radius:
                total += weights[i]
        weight[q] = total


@tolerant
@compiled
def _guess(
    rows: Codes,
    numbers: Numbers,
    codes: Codes,
    others: Numbers,
    out: npt.NDArray[Any],
    weights: Integers,
    labels: Integers,
    tally: Integers,
    seen: Integers,
    best: npt.NDArray[np.float64],
    label: Integers,
    kinds: Integers,
) -> None:
    """Count the labels of the closest records in ``tally``, which is cleared after each query; ``seen`` lists them."""
    for q in range(len(best)):
        _fill(rows[q], numbers[q], codes, others, 0, out)
        least = out[0]
        for i in range(len(out)):
            least = min(least, out[i])
        count = 0
        for i in range(len(out)):
            if out[i] == least:
                if tally[labels[i]] == 0:
                    seen[count] = labels[i]
                    count += 1
                tally[labels[i]] += weights[i]
        best_label = seen[0]
        for k in range(1, count):
            more = tally[seen[k]] - tally[best_label]
            if more > 0 or (more == 0 and seen[k] < best_label):
                best_label = seen[k]
        for k in range(count):
            tally[seen[k]] = 0
        best[q] = least
        label[q] = best_label
        kinds[q] = count

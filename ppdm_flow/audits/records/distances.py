"""Distances between records: columns that differ (Hamming), and for numbers how far they lie apart (Gower).

Records are columns of small codes, so that one record is compared with all others by a few vector instructions a
column. Gower, "A general coefficient of similarity and some of its properties", Biometrics 27 (1971).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled, wide

_SMALL, _MIDDLE = 1 << 8, 1 << 16
TILE = 512
"""Records that stand together: none of them is looked at where the least of each column is too far."""
Codes = npt.NDArray[Any]
Numbers = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]


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
"""Code of a missing number; its negative is that of a suppressed one."""


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
        raise ValueError("`reference` must have a record at least, and has none")
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
        raise ValueError("`reference` must have a record at least, and has none")
    best = np.zeros(len(queries))
    label, kinds = np.zeros(len(queries), dtype=np.int64), np.zeros(len(queries), dtype=np.int64)
    scratch = reference.scratch(queries.columns, labels=int(labels.max()) + 1)
    guess_labels(*_both(queries, reference), scratch, weights, labels, best, label, kinds)
    return best, label, kinds


def _both(queries: RecordPoints, reference: RecordPoints) -> tuple[Codes, Numbers, Codes, Numbers]:
    kind = np.promote_types(queries.codes.dtype, reference.codes.dtype)
    rows = np.ascontiguousarray(queries.codes.T, dtype=kind)
    return rows, np.ascontiguousarray(queries.numbers.T), reference.codes.astype(kind, copy=False), reference.numbers


# Each record beside all others: compiled.


class DistanceBuffers(NamedTuple):
    """Room for the distances of one record to all others, and to count labels (``tally`` is zero between records).

    ``ranks`` are the same memory as ``distances``, as whole numbers: their least is found several at once.
    """

    distances: npt.NDArray[Any]
    ranks: npt.NDArray[Any]
    tally: Integers
    seen: Integers

    def __deepcopy__(self, _memo: dict[int, Any]) -> DistanceBuffers:
        """Return room of its own, in which ``ranks`` and ``distances`` are the same memory again."""
        distances = self.distances.copy()
        return DistanceBuffers(distances, distances.view(self.ranks.dtype), self.tally.copy(), self.seen.copy())


@compiled
def _fill(query: Codes, numbers: Numbers, codes: Codes, others: Numbers, begin: int, out: npt.NDArray[Any]) -> None:
    """Write the distance of one record to as many others as there is room for, from one on."""
    end = begin + len(out)
    for i in range(len(out)):
        out[i] = 0
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


@compiled
def nearest_records(
    rows: Codes,
    numbers: Numbers,
    codes: Codes,
    others: Numbers,
    scratch: DistanceBuffers,
    size: int,
    order: Integers,
    best: npt.NDArray[np.float64],
    where: Integers,
) -> None:
    """Compare each query with tiles of ``size`` records: with the most likely one, then with all that may be as near.

    ``order`` are the positions of the records as they were given: the first of equally near records is returned.
    """
    out, ranks = scratch.distances, scratch.ranks
    tiles = (len(out) + size - 1) // size
    ends = np.empty((tiles, len(codes), 2), dtype=codes.dtype)
    reach = np.empty((tiles, len(others), 2), dtype=others.dtype)
    _measure(codes, size, ends)
    _measure(others, size, reach)
    bounds, lowest = np.empty(tiles, dtype=np.float32), np.empty(len(best), dtype=ranks.dtype)
    for q in range(len(best)):
        likely = 0
        for t in range(tiles):
            bounds[t] = _bound(rows[q], numbers[q], ends[t], reach[t])
            if bounds[t] < bounds[likely]:
                likely = t
        best[q], lowest[q], where[q] = np.inf, np.iinfo(ranks.dtype).max, len(out)
        for k in range(tiles):
            t = likely if k == 0 else k - 1 if k <= likely else k
            if bounds[t] > best[q]:
                continue
            begin, end = t * size, min(len(out), (t + 1) * size)
            _fill(rows[q], numbers[q], codes, others, begin, out[begin:end])
            least = _least(ranks[begin:end])
            if least <= lowest[q]:
                first, place = _first(ranks[begin:end], least, order[begin:end])
                where[q] = place if least < lowest[q] else min(place, where[q])
                lowest[q], best[q] = least, out[begin + first]


@compiled
def _measure(columns: npt.NDArray[Any], size: int, ends: npt.NDArray[Any]) -> None:
    """Write the least and the largest of each column in each tile."""
    for c in range(len(columns)):
        for t in range(len(ends)):
            part = columns[c, t * size : (t + 1) * size]
            least = most = part[0]
            for i in range(len(part)):
                least, most = min(least, part[i]), max(most, part[i])
            ends[t, c, 0], ends[t, c, 1] = least, most


@compiled
def _least(ranks: npt.NDArray[Any]) -> Any:
    least = ranks[0]
    for i in range(len(ranks)):
        least = min(least, ranks[i])
    return least


@compiled
def _first(ranks: npt.NDArray[Any], least: Any, order: Integers) -> tuple[int, np.int64]:
    """Return where one of the records is that are as near as ``least``, and the least position of them all."""
    first, place = 0, np.int64(np.iinfo(np.int64).max)
    for i in range(len(ranks)):
        if ranks[i] == least and order[i] < place:
            first, place = i, order[i]
    return first, place


@compiled
def weights_within(
    rows: Codes,
    numbers: Numbers,
    codes: Codes,
    others: Numbers,
    scratch: DistanceBuffers,
    weights: Integers,
    radius: float,
    weight: Integers,
) -> None:
    """Add up the weights of the records that are no farther than ``radius`` from each query."""
    out = scratch.distances
    for q in range(len(weight)):
        _fill(rows[q], numbers[q], codes, others, wide(0), out)
        total = np.int64(0)
        for i in range(len(out)):
            if out[i] <= radius:
                total += weights[i]
        weight[q] = total


@compiled
def guess_labels(
    rows: Codes,
    numbers: Numbers,
    codes: Codes,
    others: Numbers,
    scratch: DistanceBuffers,
    weights: Integers,
    labels: Integers,
    best: npt.NDArray[np.float64],
    label: Integers,
    kinds: Integers,
) -> None:
    """Count the labels of the closest records in ``tally``, which is cleared after each query; ``seen`` lists them."""
    out, tally, seen = scratch.distances, scratch.tally, scratch.seen
    for q in range(len(best)):
        _fill(rows[q], numbers[q], codes, others, wide(0), out)
        least = _least(out)
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

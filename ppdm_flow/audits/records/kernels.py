"""Each record beside all others: compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled, wide

Codes = npt.NDArray[Any]
Numbers = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]


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

    ``order`` are the positions of the records as they were given: the first of those that are as near is told.
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

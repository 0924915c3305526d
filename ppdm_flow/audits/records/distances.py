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
    _nearest(*_both(queries, reference), reference.scratch(queries.columns), best, where)
    return best, where


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
def _fill(query: Codes, numbers: Numbers, codes: Codes, others: Numbers, out: npt.NDArray[Any]) -> None:
    """Write the distance of one record to all others."""
    out[:] = 0
    for c in range(len(codes)):
        value, column = query[c], codes[c]
        for i in range(len(out)):
            out[i] += column[i] != value
    for c in range(len(others)):
        number, line = numbers[c], others[c]
        for i in range(len(out)):
            out[i] += min(np.float32(1.0), abs(line[i] - number))


@tolerant
@compiled
def _nearest(
    rows: Codes,
    numbers: Numbers,
    codes: Codes,
    others: Numbers,
    out: npt.NDArray[Any],
    best: npt.NDArray[np.float64],
    where: Integers,
) -> None:
    for q in range(len(best)):
        _fill(rows[q], numbers[q], codes, others, out)
        least = out[0]
        for i in range(len(out)):
            least = min(least, out[i])
        for i in range(len(out)):
            if out[i] == least:
                where[q] = i
                break
        best[q] = least


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
        _fill(rows[q], numbers[q], codes, others, out)
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
        _fill(rows[q], numbers[q], codes, others, out)
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

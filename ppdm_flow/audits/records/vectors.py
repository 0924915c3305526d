"""Each record beside all others by numpy: the plain forms of the kernels, with the same arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[Any]
Numbers = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

_ROWS_A_STEP = 2_400


def steps(rows: Codes, numbers: Numbers, codes: Codes, others: Numbers, *_: Any) -> float:
    """Return the microseconds, about, that numpy takes: some for each call, and some for the records of a column."""
    records = max(codes.shape[1], others.shape[1])
    steps: float = len(rows) * (6 + (rows.shape[1] + 2.5 * numbers.shape[1]) * (1 + records / _ROWS_A_STEP))
    return steps


def nearest_records(
    rows: Codes,
    numbers: Numbers,
    codes: Codes,
    others: Numbers,
    scratch: Any,
    _size: int,
    order: Integers,
    best: npt.NDArray[np.float64],
    where: Integers,
) -> None:
    """Write the distance of the closest record of each query, and the first position in ``order`` that is so close."""
    for q, apart in enumerate(_distances(rows, numbers, codes, others, scratch.distances)):
        least = apart.min()
        best[q], where[q] = least, order[apart == least].min()


def weights_within(
    rows: Codes,
    numbers: Numbers,
    codes: Codes,
    others: Numbers,
    scratch: Any,
    weights: Integers,
    radius: float,
    weight: Integers,
) -> None:
    """Add up the weights of the records that are no farther than ``radius`` from each query."""
    for q, apart in enumerate(_distances(rows, numbers, codes, others, scratch.distances)):
        weight[q] = weights[apart <= np.float64(radius)].sum()


def guess_labels(
    rows: Codes,
    numbers: Numbers,
    codes: Codes,
    others: Numbers,
    scratch: Any,
    weights: Integers,
    labels: Integers,
    best: npt.NDArray[np.float64],
    label: Integers,
    kinds: Integers,
) -> None:
    """Write the distance of the closest records, their heaviest label (the lowest of several), how many they have."""
    for q, apart in enumerate(_distances(rows, numbers, codes, others, scratch.distances)):
        least = apart.min()
        closest = np.flatnonzero(apart == least)
        known, numbered = np.unique(labels[closest], return_inverse=True)
        tally = np.zeros(len(known), dtype=np.int64)
        np.add.at(tally, numbered, weights[closest])
        best[q], label[q], kinds[q] = least, known[tally.argmax()], len(known)


def _distances(
    rows: Codes, numbers: Numbers, codes: Codes, others: Numbers, out: npt.NDArray[Any]
) -> Iterator[npt.NDArray[Any]]:
    """Yield the distances of each query to all records, in ``out``, added up in the order of the compiled code."""
    one = np.float32(1.0)
    for query, number in zip(rows, numbers, strict=True):
        out[:] = 0
        for value, column in zip(query, codes, strict=True):
            out += column != value
        for value, line in zip(number, others, strict=True):
            apart = np.abs(line - value)
            out += np.where(apart < one, apart, one)
        yield out

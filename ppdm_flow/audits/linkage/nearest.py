"""The released class nearest to each person: columns whose label does not fit count 1, numbers by how far off they lie.

Gower, "A general coefficient of similarity and some of its properties", Biometrics 27 (1971), with labels for values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.audits.labels.forms import are_dates, between, numbers
from ppdm_flow.audits.labels.joining import LabelIndex, spread
from ppdm_flow.sdk.compiled import compiled
from ppdm_flow.tables.column import SPECIALS

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]

LOOKS = 1_000_000_000
"""Cells that are compared: some seconds."""
FEWEST = 200
ROUNDING = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class NearestRows:
    """Of ``chosen`` kinds of ``persons`` each: the ``rows`` that are nearest, and whether theirs is ``among`` them.

    ``who`` (chosen,) is the person that all nearest rows belong to, where people are known; -1 for several.
    """

    chosen: Integers
    persons: Integers
    rows: Integers
    among: Truths
    who: Integers


def nearest(
    people: Integers, persons: Integers, own: Integers, labels: Sequence[pa.StringArray],
    values: Sequence[pa.StringArray], known: LabelIndex, sample: int, owners: tuple[Integers, Integers] | None = None,
) -> NearestRows:  # fmt: skip
    """Look for the nearest classes of at most ``sample`` people who have a released row.

    ``owners``: the first and the last person of each class, where people are known.
    """
    there = np.where(own >= 0, persons, 0)
    size = min(sample, max(FEWEST, LOOKS // max(1, known.classes.size)))
    weights = spread(there, size)
    chosen = np.flatnonzero(weights)
    spans = [_ranges(own, dates=are_dates(v)) for own, v in zip(labels, values, strict=True)]
    lows, highs = (np.concatenate(side) for side in zip(*spans, strict=True))
    read = np.concatenate([np.concatenate([[np.nan] * SPECIALS, numbers(v)]) for v in values])
    widths = np.array([_width(v) for v in values])
    rows, among = np.zeros(len(chosen), dtype=np.int64), np.zeros(len(chosen), dtype=np.bool_)
    who = np.full(len(chosen), -1)
    first, last = owners or (np.zeros(known.classes.shape[1], dtype=np.int64),) * 2
    shifted = np.ascontiguousarray(people[chosen] + known.value_offsets[:-1])
    fits = known.covers
    _nearest(shifted, own[chosen], known.classes, known.rows, fits.starts, fits.labels, fits.wide, fits.unknown,
             known.label_offsets, lows, highs, read, widths, first, last, rows, among, who)  # fmt: skip
    return NearestRows(chosen, weights[chosen], rows, among, who)


def _ranges(labels: pa.StringArray, *, dates: bool) -> tuple[Floats, Floats]:
    """Return the ends of labels that are ranges of numbers, or of ``dates``, NaN for others; two marks come first."""
    low = np.full(len(labels) + SPECIALS, np.nan)
    high = low.copy()
    low[SPECIALS:] = high[SPECIALS:] = numbers(labels, dates=dates)
    odd = np.flatnonzero(np.isnan(low[SPECIALS:]))
    for place, text in zip(odd.tolist(), labels.take(pa.array(odd)).to_pylist(), strict=True):
        if (span := between(text, dates=dates)) is not None:
            low[place + SPECIALS], high[place + SPECIALS] = span.low, span.high
    return low, high


def _width(values: pa.StringArray) -> float:
    """Return the range of a column of numbers, 0 for others."""
    read = numbers(values)
    if len(read) == 0 or np.isnan(read).any():
        return 0.0
    return float(np.ptp(read))


@compiled
def _owner(far: npt.NDArray[np.float32], limit: float, first: Integers, last: Integers) -> int:
    """Return the person whose the classes within ``limit`` all are; -1 where they are several people's."""
    lowest, highest = np.iinfo(np.int64).max, -1
    for c in range(len(far)):
        if far[c] <= limit:
            lowest, highest = min(lowest, first[c]), max(highest, last[c])
    return lowest if lowest == highest else -1


@compiled
def _nearest(
    people: Integers,
    own: Integers,
    classes: Integers,
    rows: Integers,
    starts: Integers,
    labels: Integers,
    wide: Truths,
    unknown: Truths,
    offsets: Integers,
    lows: Floats,
    highs: Floats,
    read: Floats,
    widths: Floats,
    first: Integers,
    last: Integers,
    out_rows: Integers,
    out_among: Truths,
    out_who: Integers,
) -> Any:
    cost = np.zeros(len(wide), dtype=np.float32)
    far = np.zeros(classes.shape[1], dtype=np.float32)
    for p in range(len(people)):
        far[:] = 0
        for k in range(len(classes)):
            value = people[p, k]
            for label in range(offsets[k], offsets[k + 1]):
                cost[label] = 0.0 if wide[label] or unknown[value] else 1.0
                if cost[label] > 0.0 and widths[k] > 0.0 and lows[label] <= highs[label]:
                    gap = max(lows[label] - read[value], read[value] - highs[label], 0.0)
                    if gap < widths[k]:
                        cost[label] = gap / widths[k]
            for i in range(starts[value], starts[value + 1]):
                cost[labels[i]] = 0.0
            line = classes[k]
            for c in range(len(far)):
                far[c] += cost[line[c]]
        least = far[0]
        for c in range(len(far)):
            least = min(least, far[c])
        total = 0
        for c in range(len(far)):
            if far[c] <= least + ROUNDING:
                total += rows[c]
                if c == own[p]:
                    out_among[p] = True
        out_rows[p] = total
        out_who[p] = _owner(far, least + ROUNDING, first, last)

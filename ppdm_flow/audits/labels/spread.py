"""Spreads a label evenly over the values, or the intervals of many numbers, that it covers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.labels.covers import Covers
from ppdm_flow.audits.labels.values import SortedNumbers, Values

INTERVALS = 20
"""Of many numbers so many intervals are compared, of which each has about the same share of the original's rows."""
Floats = npt.NDArray[np.float64]


def bins_of(values: Values) -> Floats:
    """Return where intervals of about equal shares of the original begin; each value where they are few, or texts."""
    if not isinstance(values, SortedNumbers):
        return np.arange(len(values.texts), dtype=np.float64)
    if len(values.values) <= INTERVALS:
        return values.values
    below = np.cumsum(values.counts[:-1])
    places = np.searchsorted(below, np.arange(INTERVALS) * below[-1] / INTERVALS, side="right")
    return np.unique(values.values[places])


def spread(read: Covers, label: int, values: Values, bins: Floats) -> Floats:
    """Return which share of a label lies in each bin, shape (bins,); they add up to 1."""
    first, last = np.searchsorted(read.owner, (label, label + 1))
    begin, end = read.begin[first:last], read.end[first:last]
    if read.wide[label] or (first == last and np.isnan(read.points[label])):
        begin, end = np.zeros(1, np.int64), np.array([len(values.texts)])
    share = np.zeros(len(bins))
    if not isinstance(values, SortedNumbers):
        for low, high in zip(begin.tolist(), end.tolist(), strict=True):
            share[low:high] = 1.0
        return share / float(share.sum())
    if not np.isnan(read.points[label]):
        share[max(0, int(np.searchsorted(bins, read.points[label], side="right")) - 1)] = 1.0
        return share
    upper = np.append(bins[1:], np.inf)
    for low, high in zip(values.values[begin], values.values[end - 1], strict=True):
        if high == low:
            share[np.searchsorted(bins, low, side="right") - 1] += 1.0 / len(begin)
        else:
            part = np.clip(np.minimum(upper, high) - np.maximum(bins, low), 0.0, None)
            share += part / (high - low) / len(begin)
    return share / float(share.sum())

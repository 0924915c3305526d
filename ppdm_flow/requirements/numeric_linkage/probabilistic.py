"""Probabilistic linkage: the released rows are ranked by how much likelier their agreements are in one person's row.

A released number agrees with a known one where they are as near as half of the errors are; a hidden one agrees with
none. The weight of a row is the sum over attributes of log(m/u) where it agrees and log((1 - m)/(1 - u)) where it does
not: u is how often rows of two people agree, m how often those of one person do, by EM from all pairs (Fellegi,
Sunter, JASA 64, 1969; Jaro, JASA 84, 1989).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.exposure.numbers import Floats, Ints
from ppdm_flow.requirements.numeric_linkage.codes import Codes
from ppdm_flow.requirements.numeric_linkage.nearest import SLACK, NearerCounts
from ppdm_flow.requirements.numeric_linkage.truth import Truth

PROBABILISTIC = "probabilistic"
ATTRIBUTES = 8
"""So many attributes are compared, the first ones, numbers before categories: they have 2^8 patterns of agreement."""
_CELLS = 1 << 17
"""So many pairs are compared together: they fit a cache."""
Patterns = npt.NDArray[np.uint8]
_ROUNDS = 100
_LEAST = 1e-6
"""Probabilities are between that and 1 less that."""


def widths(known: Floats, released: Floats, truth: Truth) -> Floats:
    """Return how far apart numbers may be that agree, (attributes,): the median of the absolute errors."""
    errors = np.abs(truth.errors(known, released))[:, :ATTRIBUTES]
    sizes = [np.median(e[~np.isnan(e)]) if (~np.isnan(e)).any() else 0.0 for e in errors.T]
    return np.asarray(sizes + SLACK * (sizes + np.nanmax(np.abs(known[:, :ATTRIBUTES]), axis=0)))


def places_by_weight(known: Floats, released: Floats, truth: Truth, sample: Ints, codes: Codes) -> NearerCounts:
    """Return the place of the own row of each record of ``sample`` among the rows, by weight.

    ``known`` (records, attributes), ``released`` (rows, attributes); categories come after the numbers.
    """
    wide = widths(known, released, truth)
    categories = compared(wide, codes)
    size = 1 << (len(wide) + categories)
    counts = np.zeros((len(sample), size), np.int64)
    for block, found in _patterns(known, released, sample, wide, codes):
        for place, row in enumerate(found, block.start):
            counts[place] = np.bincount(row, minlength=size)
    mine = np.zeros_like(counts)
    for some, firsts, rows in truth.own_rows(sample):
        of_rows = np.repeat(np.arange(some.start, some.stop), np.diff(firsts, append=len(rows)))
        records = sample[of_rows]
        agree = np.abs(released[rows, : len(wide)] - known[records, : len(wide)]) <= wide
        same = codes.released[rows, :categories] == codes.known[records, :categories]
        np.add.at(mine, (of_rows, np.hstack((agree, same)) @ (1 << np.arange(len(wide) + categories))), 1)
    return among(weights_of(counts.sum(axis=0), len(released)), counts, mine)


def compared(wide: Floats, codes: Codes) -> int:
    """Return how many columns of categories are compared beside the numbers."""
    return min(codes.width, ATTRIBUTES - len(wide))


def weights_of(pairs: Ints, rows: int) -> Floats:
    """Return the weight of each pattern from how many pairs have it: bit a is set where attribute a agrees.

    One of ``rows`` pairs is taken to be one person's. Weights are rounded, so that patterns that say the same tie.
    """
    agrees = (np.arange(len(pairs))[:, np.newaxis] >> np.arange(len(pairs).bit_length() - 1)) & 1 == 1
    u = _share(pairs.astype(np.float64), agrees)
    m = np.full(len(u), 0.9)
    for _ in range(_ROUNDS):
        odds = np.exp(_weights(agrees, m, u)) / max(1, rows - 1)
        expected = pairs * odds / (1 + odds)
        m, u = _share(expected, agrees), _share(pairs - expected, agrees)
    return np.round(_weights(agrees, m, u), 6)


def among(weights: Floats, counts: Ints, own: Ints) -> NearerCounts:
    """Return the places. ``counts`` and ``own``, (records, patterns): the rows of each, and the own rows."""
    order = np.argsort(-weights, kind="stable")
    ranked, below = -weights[order], np.cumsum(counts[:, order], axis=1)
    below = np.concatenate((np.zeros((len(counts), 1), below.dtype), below), axis=1)
    each = np.arange(len(own))
    best = ranked[np.argmax(own[:, order] > 0, axis=1)]
    sides = [below[each, np.searchsorted(ranked, best, side=s)] for s in ("left", "right")]
    ties = np.where(-weights == best[:, np.newaxis], own, 0).sum(axis=1)
    return NearerCounts(*(each.astype(np.float64) for each in (*sides, ties)))


def _share(pairs: Floats, agrees: npt.NDArray[np.bool_]) -> Floats:
    return np.clip(pairs @ agrees / max(float(pairs.sum()), _LEAST), _LEAST, 1 - _LEAST)


def _weights(agrees: npt.NDArray[np.bool_], m: Floats, u: Floats) -> Floats:
    return np.asarray(np.where(agrees, np.log(m / u), np.log((1 - m) / (1 - u))).sum(axis=1))


def _patterns(
    known: Floats, released: Floats, sample: Ints, wide: Floats, codes: Codes
) -> Iterator[tuple[slice, Patterns]]:
    """Yield places in the sample, some at a time, with their patterns with every row, (records, rows)."""
    size = max(1, _CELLS // max(1, len(released)))
    columns = [np.ascontiguousarray(released[:, j]) for j in range(len(wide))]
    categories = [np.ascontiguousarray(codes.released[:, j]) for j in range(compared(wide, codes))]
    for start in range(0, len(sample), size):
        block = slice(start, min(start + size, len(sample)))
        found = np.zeros((block.stop - start, len(released)), np.uint8)
        for j, column in enumerate(columns):
            agree = np.abs(column - known[sample[block], j][:, np.newaxis]) <= wide[j]
            found |= agree.view(np.uint8) << np.uint8(j)
        for j, category in enumerate(categories):
            same = category == codes.known[sample[block], j][:, np.newaxis]
            found |= same.view(np.uint8) << np.uint8(len(wide) + j)
        yield block, found

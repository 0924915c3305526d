"""The spaces in which an intruder compares records: by standard deviations, by errors, by ranks.

``euclidean`` divides each attribute by the standard deviation of its original numbers. ``mahalanobis`` goes by the
covariance of the errors, which whoever knows the method of a noise knows. ``rank`` compares the ranks on either side,
which no monotone change of the numbers disturbs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.exposure.numbers import Floats, Ints

_RIDGE = 1e-9
"""Of each variance: that much is added to those of the errors, since an exact attribute has none."""

_FARTHEST = 1e100
"""In standard deviations: squares and their sums are finite."""


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """``known`` (records, attributes) in full, ``released`` (rows, attributes) with NaN where hidden.

    ``own`` (records,) is the released row of each record. A squared distance is the sum over the attributes that a
    released row shows, in the metric ``precision`` (attributes, attributes), and ``hidden`` (attributes,) for each of
    the others: what the own record has on average.
    """

    known: Floats
    released: Floats
    own: Ints
    covariance: Floats
    hidden: Floats

    def penalty(self, shown: npt.NDArray[np.bool_]) -> float:
        """Return what counts for the attributes that are hidden."""
        return float(self.hidden[~shown].sum())

    def precision(self, shown: npt.NDArray[np.bool_]) -> Floats:
        """Return the inverse of the covariance over the attributes that are shown."""
        places = np.flatnonzero(shown)
        covariance = self.covariance[np.ix_(places, places)]
        deviations = np.sqrt(np.diag(covariance))[:, np.newaxis]  # taken out, so that variances of any size can stand
        inverse = np.linalg.inv(covariance / deviations / deviations.T)
        return np.asarray(inverse / deviations / deviations.T)


def spaces(known: Floats, released: Floats, own: Ints | None = None) -> Mapping[str, Space]:
    """Return the spaces by name. ``known`` and ``released`` are (rows, attributes), NaN where there is no number.

    ``own`` (records,) is the released row of each record: that of the same number where it is left out.
    """
    rows = np.arange(len(known)) if own is None else own
    plain = _standardized(known, released)
    ranks = _ranks(known), _ranks(released)
    one = np.eye(known.shape[1])
    errors = plain[1][rows] - plain[0]
    found = {"euclidean": (*plain, one), "mahalanobis": (*plain, _moments(errors)), "rank": (*ranks, one)}
    return {n: Space(k, r, rows, c, _mean_squares(r[rows] - k) / np.diag(c)) for n, (k, r, c) in found.items()}


def _standardized(known: Floats, released: Floats) -> tuple[Floats, Floats]:
    """Return both in standard deviations of the known numbers, from their mean, so that no offset takes digits.

    They are made small beforehand, so that no square overflows; released numbers that are absurdly far are all as far.
    """
    size = np.nanmax(np.abs(known), axis=0, initial=0.0)
    exponent = np.frexp(size)[1]
    small = np.ldexp(known, -exponent)
    mean, deviation = np.nanmean(small, axis=0), np.nanstd(small, axis=0)
    deviation = np.where(deviation > 0, deviation, 1.0)
    with np.errstate(over="ignore"):
        shown = (np.ldexp(released, -exponent) - mean) / deviation
    return (small - mean) / deviation, np.clip(shown, -_FARTHEST, _FARTHEST)


def _moments(errors: Floats) -> Floats:
    """Return the second moments of the errors, of rows that have all numbers where there are enough; else variances."""
    whole = errors[~np.isnan(errors).any(axis=1)]
    enough = len(whole) > 2 * errors.shape[1]
    moments = whole.T @ whole / len(whole) if enough else np.diag(_mean_squares(errors))
    return np.asarray(moments + np.diag(_RIDGE + 1e-6 * np.diag(moments)))


def _mean_squares(errors: Floats) -> Floats:
    known = (~np.isnan(errors)).sum(axis=0)
    return np.asarray(np.nansum(errors**2, axis=0) / np.maximum(known, 1))


def _ranks(numbers: Floats) -> Floats:
    """Return the middle rank of each number among those of its column, as a share of them."""
    found = np.full(numbers.shape, np.nan)
    for j in range(numbers.shape[1]):
        known = ~np.isnan(numbers[:, j])
        _, places, rows = np.unique(numbers[known, j], return_inverse=True, return_counts=True)
        upto = np.cumsum(rows)
        found[known, j] = ((upto - rows + upto) / 2.0 / max(1, int(known.sum())))[places]
    return found

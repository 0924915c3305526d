"""The worst posteriors of a fine-grain operator, over all priors and at one prior, in linear time.

P = diag(p) + 1 q^T with q = (1 - p)/m: a row j of P is q with d_j = p_j + q_j in place j. So the smallest and the
largest entry of a row, one column left out, follow from the two smallest q and the two largest d.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.requirements.sensitivities.bounds import PosteriorBounds

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorRange:
    """``upward``: the highest posterior of each value, or under each bound; ``downward``: the lowest; nan for none."""

    upward: Floats
    downward: Floats


def worst_posteriors(retention: Floats, bounds: PosteriorBounds) -> PosteriorRange:
    """Return the worst posteriors under each bound, over all priors of at most r1 (upward), at least r2 (downward).

    Upward: max over j of r1 P[j,i] / (r1 P[j,i] + (1-r1) min over k≠i of P[j,k]), reached at j = i, since no entry
    of column i is larger than the diagonal one and the minimum over k≠i of row i is that over q. Downward: min over
    j of r2 P[j,i] / (r2 P[j,i] + (1-r2) max over k≠i of P[j,k]), reached at the j≠i with the largest diagonal entry.
    The worst prior puts the rest on that k. A single value has no other to be confused with: its posterior is its
    prior.
    """
    leave, keep = _entries(retention)
    if len(retention) == 1:
        return PosteriorRange(bounds.r1.copy(), bounds.r2.copy())
    rarest, commonest = -_largest_other(-leave), _largest_other(keep)
    i = bounds.values
    return PosteriorRange(_bayes(bounds.r1, keep[i], rarest[i]), _bayes(bounds.r2, leave[i], commonest[i]))


@dataclass(frozen=True, slots=True, eq=False)
class TellingValues:
    """For each value (m,): the released value after which it is likeliest at a prior, and that posterior."""

    released: npt.NDArray[np.int64]
    posterior: Floats


def most_telling(retention: Floats, prior: Floats) -> TellingValues:
    """Return what tells most of each value: the value itself, or the rarest other released one."""
    leave, keep = _entries(retention)
    out = retention * prior + float(leave @ prior)
    own = _share(prior * keep, out)
    place = np.arange(len(retention))
    if len(retention) == 1:
        return TellingValues(place, own)
    rarest = np.argsort(np.where(out > 0, out, np.inf), kind="stable")[:2]
    other = np.where(place == rarest[0], rarest[1], rarest[0])
    from_other = np.where(out[other] > 0, _share(prior * leave, out[other]), 0.0)
    better = from_other > own
    return TellingValues(np.where(better, other, place), np.where(better, from_other, own))


def posteriors_at(retention: Floats, prior: Floats) -> PosteriorRange:
    """Return the highest and the lowest posterior of each value over all released values, at one ``prior`` (m,)."""
    leave, keep = _entries(retention)
    out = retention * prior + float(leave @ prior)  # Pr[released j]
    own = _share(prior * keep, out)
    if len(retention) == 1:
        return PosteriorRange(own, own)
    rarest = -_largest_other(-np.where(out > 0, out, np.inf))
    commonest = _largest_other(out)  # 0 where no other value can be released
    lowest = np.where(commonest > 0, _share(prior * leave, commonest), np.inf)
    return PosteriorRange(np.maximum(own, _share(prior * leave, rarest)), np.minimum(own, lowest))


def amplification(retention: Floats) -> float:
    """Return the largest ratio of two entries of a row of P: at least 1, infinite where an entry is 0."""
    if len(retention) == 1:
        return 1.0
    leave, keep = _entries(retention)
    high = np.maximum(keep, _largest_other(leave))
    low = np.minimum(keep, -_largest_other(-leave))
    return float("inf") if low.min() == 0 else float((high / low).max())


def _entries(retention: Floats) -> tuple[Floats, Floats]:
    """Return q (off the diagonal) and d (on it), shape (m,) each."""
    leave = (1.0 - retention) / len(retention)
    return leave, retention + leave


def _largest_other(values: Floats) -> Floats:
    """Return for each place the largest value in another place, for at least two places."""
    first = int(values.argmax())
    others = np.delete(values, first)
    out = np.full(len(values), values[first])
    out[first] = others.max()
    return out


def _bayes(prior: Floats, own: Floats, other: Floats) -> Floats:
    """Return the posterior where the value is released so with ``own`` and any other with ``other``."""
    weighed = prior * own
    return _share(weighed, weighed + (1.0 - prior) * other)


def _share(part: Floats, total: Floats) -> Floats:
    known = total != 0
    return np.divide(part, total, out=np.where(np.isnan(total), np.nan, np.zeros(len(part))), where=known)

"""The worst posteriors of any transition matrix, over all priors and at one prior, in quadratic time.

P[j, i] = Pr[released j | original i], here as R = P^T with rows that sum to 1.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.requirements.sensitivities.bounds import PosteriorBounds
from ppdm_flow.requirements.sensitivities.posteriors import PosteriorRange, TellingValues

Floats = npt.NDArray[np.float64]


def worst_posteriors(transition: Floats, bounds: PosteriorBounds) -> PosteriorRange:
    """Return the worst posteriors under each bound, over all priors of at most r1 (upward), at least r2 (downward).

    Upward: max over j of r1 P[j,i] / (r1 P[j,i] + (1-r1) min over k≠i of P[j,k]); downward: min over j of
    r2 P[j,i] / (r2 P[j,i] + (1-r2) max over k≠i of P[j,k]). For a fixed prior of i the posterior falls with what the
    others release, weighed by their priors, and that mean is least where one of them has all; and it grows with the
    prior of i, so that r1 and r2 themselves are the worst (Evfimievski, Gehrke and Srikant 2003, section 3). A value
    j that neither i nor that k can become tells nothing. A single value has no other: its posterior is its prior.
    """
    if len(transition) == 1:
        return PosteriorRange(bounds.r1.copy(), bounds.r2.copy())
    place = bounds.values
    own = transition[place]
    least, most = _others(transition)
    upward = _posterior(bounds.r1[:, None], own, least[place], -np.inf).max(axis=1, initial=-np.inf)
    downward = _posterior(bounds.r2[:, None], own, most[place], np.inf).min(axis=1, initial=np.inf)
    return PosteriorRange(np.where(bounds.judged, upward, np.nan), np.where(bounds.judged, downward, np.nan))


def _others(transition: Floats) -> tuple[Floats, Floats]:
    """Return for each (i, j) the least and the largest probability with which another value than i becomes j."""
    least, most = np.empty_like(transition), np.empty_like(transition)
    column = np.arange(len(transition))
    for out, ordered in ((least, np.argsort(transition, axis=0)), (most, np.argsort(-transition, axis=0))):
        first, second = ordered[0], ordered[1]
        out[:] = transition[first, column]
        out[first, column] = transition[second, column]
    return least, most


def _posterior(prior: Floats, own: Floats, other: Floats, otherwise: float) -> Floats:
    weighed = prior * own
    total = weighed + (1.0 - prior) * other
    known = total > 0
    posterior: Floats = np.divide(weighed, total, out=np.full(own.shape, otherwise), where=known)
    return posterior


def most_telling(transition: Floats, prior: Floats) -> TellingValues:
    """Return for each value the released one after which it is likeliest at ``prior`` (m,), and that posterior."""
    after = _after(transition, prior, -1.0)
    place = after.argmax(axis=1)
    return TellingValues(place, np.maximum(after[np.arange(len(after)), place], 0.0))


def posteriors_at(transition: Floats, prior: Floats) -> PosteriorRange:
    """Return the highest and the lowest posterior of each value over all released values, at one ``prior`` (m,)."""
    if not prior.any():
        return PosteriorRange(np.zeros(len(prior)), np.zeros(len(prior)))
    return PosteriorRange(_after(transition, prior, -np.inf).max(axis=1), _after(transition, prior, np.inf).min(axis=1))


def _after(transition: Floats, prior: Floats, otherwise: float) -> Floats:
    """Return Pr[original i | released j], shape (m, m), and ``otherwise`` where j is never released."""
    out = np.broadcast_to(prior @ transition, transition.shape)
    after: Floats = np.divide(prior[:, None] * transition, out, out=np.full(transition.shape, otherwise), where=out > 0)
    return after


def amplification(transition: Floats) -> float:
    """Return the largest ratio P[j,i] / P[j,k] over all i, k and j: infinite where only one of the two is 0."""
    least, most = transition.min(axis=0), transition.max(axis=0)
    shown = most > 0
    if (least[shown] == 0).any():
        return float("inf")
    return float((most[shown] / least[shown]).max())

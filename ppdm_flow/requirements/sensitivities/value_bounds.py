"""The bounds of a sensitivity requirement for every value of a domain. Operators and judges share this module.

A value may have several bounds (r1, r2): unconditional ones, and ones for people of whom more is known. A released
value depends on the true one alone, even where more is known of the person. So every prior that a bound speaks of is
judged by the same operator: each bound has to hold, and the smallest gamma decides.

A group gives each of its values the bound. Then the group as a set keeps it too, over all priors: for a set G, the
posterior odds are at most max over i in G and k outside of P[j,i]/P[j,k] times the prior odds, and that ratio is
bounded by the gamma of every i in G. The converse is false, so a bound on each value is the stronger one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.requirements.sensitivities.requirement import Sensitivity, slack_of

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ValueBounds:
    """All bounds, b of them, in the order of the m values: ``place`` (b,) of the value, ``r1`` and ``r2`` (b,).

    ``slack`` (b,) is gamma - 1 > 0. ``given`` (b,) marks bounds that hold for some people only. With a tolerance, a
    value that does not occur has r1 = r2 = 0, and the limit of gamma.
    """

    size: int
    place: Places
    r1: Floats
    r2: Floats
    slack: Floats
    given: npt.NDArray[np.bool_]

    @property
    def binding(self) -> Places:
        """The row of each value's smallest gamma, shape (m,); -1 where it has no bound."""
        first = np.full(self.size, -1, dtype=np.int64)
        order = np.lexsort((-self.slack,))  # the smallest comes last, and stays
        first[self.place[order]] = order
        return first

    def known_too_well(self, frequency: Floats) -> Places:
        """Return the places whose ``frequency`` (m,) alone exceeds an r2 that is about everyone."""
        over = (frequency[self.place] > self.r2) & ~self.given & (self.r1 > 0)
        return np.unique(self.place[over])


def value_bounds(requirement: Sensitivity, domain: Sequence[str | None], frequency: Floats) -> ValueBounds:
    """Give every value of ``domain`` its bounds: its own, else the default, else none.

    With a tolerance theta, r1 = f and r2 = theta f, so gamma = theta (1 - f) / (1 - theta f); no bound from
    f = 1/theta on, where r2 reaches 1; for f = 0 the limit theta (Chaytor and Wang, section 5). The missing value
    takes the default. Raises ValueError for bounds that cannot hold.
    """
    of_value = {value: place for place, value in enumerate(domain) if value is not None}
    own = [(of_value[b.value], b) for b in requirement.bounds if b.value in of_value]
    free = np.ones(len(domain), dtype=np.bool_)
    free[[place for place, _ in own]] = False
    place, r1, r2, slack = _defaults(requirement, frequency, np.flatnonzero(free))
    place = np.concatenate([place, np.array([p for p, _ in own], dtype=np.int64)])
    order = np.argsort(place, kind="stable")
    return ValueBounds(
        size=len(domain),
        place=place[order],
        r1=np.concatenate([r1, [b.r1 for _, b in own]])[order],
        r2=np.concatenate([r2, [b.r2 for _, b in own]])[order],
        slack=np.concatenate([slack, [slack_of(b.r1, b.r2) for _, b in own]])[order],
        given=np.concatenate([np.zeros(len(r1), dtype=np.bool_), [bool(b.given) for _, b in own]]).astype(np.bool_)[
            order
        ],
    )


def stated_gamma(requirement: Sensitivity, domain: Sequence[str | None]) -> list[float | None]:
    """Return gamma = r2 (1 - r1) / (r1 (1 - r2)) of each value's strictest bound (Chaytor and Wang, equation 5).

    None where the policy states no r1 and r2: the gamma that a tolerance makes would tell the value's frequency.
    """
    bounds = value_bounds(requirement, domain, np.ones(len(domain)))  # no tolerance bounds a value of every row
    return [None if row < 0 else float(bounds.slack[row]) + 1.0 for row in bounds.binding.tolist()]


def _defaults(requirement: Sensitivity, frequency: Floats, free: Places) -> tuple[Places, Floats, Floats, Floats]:
    """Return place, r1, r2 and gamma - 1 of the values at ``free``, without those that have no bound."""
    if requirement.tolerance is not None:
        theta = requirement.tolerance
        place = free[theta * frequency[free] < 1.0]
        r1 = frequency[place]
        return place, r1, theta * r1, (theta - 1.0) / (1.0 - theta * r1)
    if requirement.fixed is None:
        free = free[:0]
    low, high = requirement.fixed or (0.1, 0.2)
    return free, np.full(len(free), low), np.full(len(free), high), np.full(len(free), slack_of(low, high))

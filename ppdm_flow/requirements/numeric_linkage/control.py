"""The control group: whether a released row is nearer to the people of the source than to others.

An intruder who does not know who is in the source counts a person as found where some released row is near. Near means
nearer than half of the source's records are to another of its records. How often that happens to people who are not in
the source is the baseline.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from ppdm_flow.core.results import Figure
from ppdm_flow.mining.exposure.numbers import Floats, Ints
from ppdm_flow.requirements.numeric_linkage.nearest import SLACK, patterns
from ppdm_flow.requirements.numeric_linkage.spaces import Codes, Space

_FLOOR = 1e-18
"""Squared distances that are nearer to each other are ties: so much are two roundings of a distance apart."""
Metric = Callable[[Space, Ints], Floats]
"""From some attributes of a space what makes distances in them plain, (attributes, attributes)."""
Nearest = Callable[[Floats, Floats, Ints, Ints, Codes, Ints], Floats]
"""From points and rows, both (each, attributes) with plain distances, whose each row is, and whose rows none of each
point's are (-1: nobody's), the codes of the rows (``released``) and those of the points, the squared distance of each
point to the nearest row: infinite where there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class MatchChances:
    """The chances that somebody is taken for found: ``inside`` (records,) the source, and ``outside`` (others,)."""

    inside: Floats
    outside: Floats


def near(space: Space, sample: Ints, among: Ints, metric: Metric, nearest: Nearest) -> MatchChances:
    """Return the chances of the records of ``sample`` and of all others of the ``space``.

    ``among`` are the records of which each of the sample is compared with the nearest one of another person.
    """
    everywhere = metric(space, np.arange(space.known.shape[1]))
    codes = space.codes
    mine, here = space.known[among] @ everywhere, replace(codes, released=codes.known[among])
    seen = space.points[sample] @ everywhere
    apart = nearest(seen, mine, space.truth.whose[among], space.truth.whose[sample], here, codes.known[sample])
    groups = (space.points[sample], codes.known[sample]), (space.others, codes.others)
    return MatchChances(*(_taken(_to_rows(space, *group, metric, nearest), apart) for group in groups))


def _to_rows(space: Space, points: Floats, code_of: Ints, metric: Metric, nearest: Nearest) -> Floats:
    """Return the squared distance of each point to the nearest released row."""
    least = np.full(len(points), np.inf)
    every = np.full(len(points), -1)
    for shown, members in patterns(space):
        whitening = metric(space, np.flatnonzero(shown))
        rows = space.released[np.ix_(members, shown)] @ whitening
        codes = replace(space.codes, released=space.codes.released[members])
        squares = nearest(points[:, shown] @ whitening, rows, np.zeros(len(rows), np.int64), every, codes, code_of)
        least = np.minimum(least, squares + space.penalty(shown))
    return least


def _taken(squares: Floats, apart: Floats) -> Floats:
    """Return the chances of being taken for found: 1 within the median of ``apart``; at it, as often as makes a half.

    >>> _taken(np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0, 9.0]))
    array([1.        , 0.66666667, 0.        ])
    """
    reach = np.sort(apart)[(len(apart) - 1) // 2]
    low, high = reach * (1 - SLACK) - _FLOOR, reach * (1 + SLACK) + _FLOOR
    nearer, upto = (apart < low).mean(), (apart <= high).mean()
    return np.where(squares < low, 1.0, np.where(squares <= high, (0.5 - nearer) / (upto - nearer), 0.0))


def control_figures(by_space: Mapping[str, MatchChances]) -> dict[str, Figure]:
    """Return the figures, without a prefix; all intervals of shares hold together with 95 %."""
    error = ERROR / (2 * len(by_space))
    shares: dict[str, Figure] = {}
    excesses: dict[str, Figure] = {}
    bounds = []
    for name, match_chances in by_space.items():
        inside, outside = (_share(chances, error) for chances in (match_chances.inside, match_chances.outside))
        shares |= {f"{name}_near_share": inside, f"{name}_control_share": outside}
        low, high = _ends(inside, outside)
        excesses[f"{name}_control_excess"] = _excess(inside, outside, (low, high))
        bounds.append(high)
    known = [figure.value for figure in excesses.values() if figure.value is not None]
    return {
        "control_excess_bound": Figure(max(bounds), "share"),
        "control_excess": Figure(max(known, default=None), "share"),
        **shares,
        **excesses,
        "control_records": Figure(len(next(iter(by_space.values())).outside), "rows"),
    }


def _share(chances: Floats, error: float) -> Figure:
    interval = clopper_pearson(float(chances.sum()), len(chances), error)
    return Figure(float(chances.mean()), "share", interval, len(chances))


def _ends(inside: Figure, outside: Figure) -> tuple[float, float]:
    (least, most), (low, high) = inside.interval or (0.0, 1.0), outside.interval or (0.0, 1.0)
    return excess(least, high) if high < 1.0 else -1.0, excess(most, low)


def _excess(inside: Figure, outside: Figure, ends: tuple[float, float]) -> Figure:
    if outside.value is None or inside.value is None or outside.value >= 1.0:
        return Figure(None, "share", ends, note="some released row is near each record of the control group")
    return Figure(excess(inside.value, outside.value), "share", ends)


# How sure a share of a sample is.


ERROR = 0.05
"""Of all intervals together, both sides."""


def clopper_pearson(hits: float, trials: int, error: float) -> tuple[float, float]:
    """Return an interval that misses a share with a probability of at most ``error``.

    ``hits`` may be a sum of chances: that varies less than hits do. Source: Clopper, Pearson, Biometrika 26, 1934.

    >>> [round(end, 4) for end in clopper_pearson(0, 100, 0.05)]
    [0.0, 0.0362]
    """
    from scipy.special import betaincinv  # noqa: PLC0415  # slow to import

    low = float(betaincinv(hits, trials - hits + 1, error / 2)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, trials - hits, 1 - error / 2)) if hits < trials else 1.0
    return low, high


def upper_ends(hits: Floats, trials: int, error: float) -> Floats:
    """Return the upper ends of these intervals, for many numbers of ``hits`` (counts,).

    >>> upper_ends(np.array([0.0, 100.0]), 100, 0.05).round(4).tolist()
    [0.0362, 1.0]
    """
    from scipy.special import betaincinv  # noqa: PLC0415  # slow to import

    some = np.minimum(hits, trials * (1 - 1e-12))  # of all there is no quantile
    return np.where(hits < trials, betaincinv(some + 1, trials - some, 1 - error / 2), 1.0)


def wilson(share: float, trials: int, error: float) -> tuple[float, float]:
    """Return the score interval, which misses a share with a probability of about ``error`` (Wilson, JASA 22, 1927).

    >>> [round(end, 4) for end in wilson(0.5, 100, 0.05)]
    [0.4038, 0.5962]
    """
    z = NormalDist().inv_cdf(1 - error / 2)
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    reach = z / (1 + z * z / trials) * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return max(0.0, middle - reach), min(1.0, middle + reach)


def excess(share: float, guessing: float) -> float:
    """Return the part of ``share`` that ``guessing`` (below 1) does not explain, of all that guessing misses.

    Source: Giomi, Boenisch, Wehmeyer, Tasnadi, PoPETs 2023(2), equation 2.

    >>> excess(0.75, 0.5)
    0.5
    """
    return max(-1.0, (share - guessing) / (1.0 - guessing))

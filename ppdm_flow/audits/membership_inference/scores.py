"""The scores of the attack, and how well they tell members from others: area under the curve, and thresholds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from ppdm_flow.audits.records.distances import nearest, within
from ppdm_flow.audits.records.gathering import Records, distinct
from ppdm_flow.audits.records.proportions import deviate, newcombe
from ppdm_flow.mining.comparison.dissimilarity import LAPLACE, SLIM, CodeTableSearch, affordable_rows, row_bits
from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.mining.krimp.compress import MOST_PAIRED

Floats = npt.NDArray[np.float64]

FALSE_POSITIVES = 0.01

MOST_CODED = 100_000
"""Released rows that the code table is found on, evenly spaced; fewer of wide tables."""


@dataclass(frozen=True, slots=True)
class Area:
    """``value``: the probability that a member scores higher than another person, ties half.

    ``error`` is its standard error, ``chance`` what that would be if the scores told nothing.
    """

    value: float
    error: float
    chance: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval."""
        reach = deviate() * self.error
        return max(0.0, self.value - reach), min(1.0, self.value + reach)

    def exceeds(self, z: float) -> bool:
        """Whether it lies farther above 1/2 than scores that tell nothing would, at this normal deviate."""
        return self.value - 0.5 > z * max(self.error, self.chance)


def area(members: Floats, others: Floats) -> Area:
    """Return the area under the ROC curve with DeLong's standard error; higher scores speak for membership.

    DeLong, DeLong, Clarke-Pearson, Biometrics 44 (1988), by midranks (Sun, Xu 2014). Perfect separation has an error
    of 0 there; half a person's weight is put in its place. Beside it the error of the Mann-Whitney statistic, with its
    correction for ties, where members are like others.
    """
    m, n = len(members), len(others)
    ranks = stats.rankdata(np.concatenate([members, others]))
    above = (ranks[:m] - stats.rankdata(members)) / n  # share of others below each member
    below = 1 - (ranks[m:] - stats.rankdata(others)) / m
    value = float(above.mean())
    variance = sum(float(v.var(ddof=1)) / len(v) for v in (above, below) if len(v) > 1)
    return Area(value, math.sqrt(max(variance, 0.25 / (m * n))), _by_chance(ranks, m, n))


def _by_chance(ranks: Floats, m: int, n: int) -> float:
    _, ties = np.unique(ranks, return_counts=True)
    total = m + n
    tied = float((ties.astype(np.float64) ** 3 - ties).sum()) / (total * (total - 1))
    return math.sqrt(max(total + 1 - tied, 0.0) / (12 * m * n))


@dataclass(frozen=True, slots=True)
class Advantage:
    """The share of members minus that of others who score at least the threshold; ``hits`` the first of the two."""

    value: float
    interval: tuple[float, float]
    hits: float


def threshold(members: Floats, others: Floats, most_false: float = 1.0) -> float:
    """Return the score from which on members outnumber others most, with at most ``most_false`` of the others."""
    levels = np.unique(np.concatenate([members, others]))
    hits = 1 - np.searchsorted(np.sort(members), levels, side="left") / len(members)
    false = 1 - np.searchsorted(np.sort(others), levels, side="left") / len(others)
    allowed = false <= most_false
    if not allowed.any():
        return math.inf
    return float(levels[allowed][np.argmax((hits - false)[allowed])])


def advantage(members: Floats, others: Floats, level: float) -> Advantage:
    """Return what a threshold that was chosen on other people gains."""
    hits, false = float((members >= level).mean()), float((others >= level).mean())
    return Advantage(hits - false, newcombe(hits, len(members), false, len(others)), hits)


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Scores of each person, by attack, in the order of ``people``; ``radius`` is the one used, in attributes."""

    by_attack: dict[str, Floats]
    radius: float


def scores(people: Records, released: Records, columns: int, radius: float | None) -> Scores:
    """Score each person against the released records."""
    every = range(columns)
    first, copies, _ = distinct(released.cells)
    cells, _, place = distinct(people.cells)
    reference, queries = released.take(first).points(every), people.take(cells).points(every)
    far, _ = nearest(queries, reference)
    reach = float(np.median(far[place])) if radius is None else radius * columns
    values = {
        "distance": -far[place],
        "density": within(queries, reference, copies, reach)[place].astype(np.float64),
    }
    rows = min(len(released), affordable_rows(columns, MOST_CODED))
    likely = _likelihood(people.coarse, released.take(np.arange(rows) * len(released) // rows).coarse)
    return Scores(values | ({"likelihood": likely} if likely is not None else {}), reach)


def _likelihood(people: npt.NDArray[np.int32], released: npt.NDArray[np.int32]) -> Floats | None:
    """Return how many bits correlations save on each person; None for more values than a code table can pair."""
    widths = np.maximum(people.max(axis=0), released.max(axis=0)).astype(np.int64) + 1
    begin = np.concatenate([[0], np.cumsum(widths)])
    item, place = _items(begin, (people, released))
    if len(place) > MOST_PAIRED:
        return None
    mine, theirs = (item[cells + begin[:-1]] for cells in (people, released))
    known = CodeTableSearch(2, SLIM, pruning=False).encoded(ItemDatabase.of_cells(theirs, place))
    alone = known.database.supports + LAPLACE
    single = np.log2(alone.sum()) - np.log2(alone)
    saved: Floats = single[mine].sum(axis=1) - row_bits(mine, known)
    return saved


def _items(
    begin: npt.NDArray[np.int64], groups: tuple[npt.NDArray[np.int32], ...]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Number the cells that occur; return the number of each cell and the column of each number."""
    used = np.zeros(int(begin[-1]), dtype=np.bool_)
    for cells in groups:
        used[cells + begin[:-1]] = True
    item = (np.cumsum(used) - 1).astype(np.int32)
    return item, (np.searchsorted(begin, np.flatnonzero(used), side="right") - 1).astype(np.int32)

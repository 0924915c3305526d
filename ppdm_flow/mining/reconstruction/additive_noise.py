"""The distribution of numbers to which noise of a known law was added, by expectation and maximization.

Agrawal and Srikant, "Privacy-preserving data mining" (SIGMOD 2000), section 3; its limit is the estimate of maximum
likelihood (Agrawal and Aggarwal, PODS 2001). The originals lie in cells, evenly within each; cells that are wide beside
the noise are parted for that, and put together again. Released numbers are taken cell by cell too, by the exact
probabilities of these cells, so that grouping them loses detail and adds no error.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

Floats = npt.NDArray[np.float64]

NORMAL, LAPLACE = "normal", "laplace"
POINTS = 24
"""Places within a cell that its probabilities are averaged over."""
RELEASED = 300
"""Cells of released numbers at most."""
PARTS = 160
"""Parts of all cells together, about."""
NARROW = 0.3
"""A part is no wider than so many standard deviations of the noise, unless there are too many."""
TOLERANCE = 0.05
"""How much log-likelihood may be left to gain; 0.5 is what one standard error changes."""
ROUNDS = 50_000
HALVINGS, PROFILE_ROUNDS = 16, 150
_REFLECTIONS = 4
_PRODUCT = 200_000


@dataclass(frozen=True, slots=True)
class NoiseLaw:
    """Noise of mean 0: ``sd`` its standard deviation, ``low`` and ``high`` bounds that held released numbers.

    What noise took beyond a bound was put on it (``clamp``), or mirrored at it. ``step``: released numbers are the
    originals plus noise rounded to its multiples.
    """

    distribution: str
    sd: float
    low: float | None = None
    high: float | None = None
    clamp: bool = False
    step: float = 0.0

    def below(self, edges: Floats, originals: Floats) -> Floats:
        """Return Pr[released < edge | original], shape (edges, originals)."""
        a, x = np.asarray(edges, dtype=np.float64)[:, None], np.asarray(originals, dtype=np.float64)[None, :]
        if self.clamp or (self.low is None and self.high is None):
            chances = self._free(a - x)
        elif self.low is not None and self.high is not None:
            around = 2.0 * (self.high - self.low) * np.arange(-_REFLECTIONS, _REFLECTIONS + 1)
            chances = np.sum([self._free(a + r - x) - self._free(2.0 * self.low - a + r - x) for r in around], axis=0)
        elif self.low is not None:
            chances = self._free(a - x) - self._free(2.0 * self.low - a - x)
        else:
            chances = self._free(a - x) + 1.0 - self._free(2.0 * (self.high or 0.0) - a - x)
        if self.low is not None:
            chances = np.where(a <= self.low, 0.0, chances)
        if self.high is not None:
            chances = np.where(a > self.high, 1.0, chances)
        return np.asarray(np.clip(chances, 0.0, 1.0))

    def _free(self, distance: Floats) -> Floats:
        """Return Pr[noise < distance]."""
        scaled = distance / self.sd
        if self.distribution == NORMAL:
            return np.asarray(special.ndtr(scaled))
        tail = 0.5 * np.exp(-np.sqrt(2.0) * np.abs(scaled))
        return np.asarray(np.where(scaled < 0.0, tail, 1.0 - tail))


@dataclass(frozen=True, slots=True, eq=False)
class NoiseReconstruction:
    """Estimated counts of the originals in cells.

    Attributes
    ----------
    edges : of the cells, shape (m + 1,)
    released : released numbers in each, shape (m,)
    estimate : n >= 0 with the sum of ``released``, of maximum likelihood
    error, low, high : ends of the interval by the profile of the likelihood, and half its width in standard errors;
        shape (m,)
    rounds : of the iteration
    gap : log-likelihood that may be left to gain
    """

    edges: Floats
    released: Floats
    estimate: Floats
    error: Floats
    low: Floats
    high: Floats
    rounds: int
    gap: float


def chances(law: NoiseLaw, released_edges: Floats, edges: Floats) -> Floats:
    """Return P[j, i] = Pr[released in cell j | original evenly in cell i], shape (released cells, cells).

    The released cells' first edge means all numbers below, the last one all above. Whole originals (``step`` 1 and
    edges at halves) are taken one by one where a cell has no more than :data:`POINTS` of them.
    """
    columns = []
    for begin, end in pairwise(edges.tolist()):
        steps = (end - begin) / law.step if law.step else np.inf
        points = round(steps) if steps <= POINTS and abs(steps - round(steps)) < 1e-9 else POINTS
        places = begin + (end - begin) * (np.arange(points) + 0.5) / points
        below = law.below(released_edges[1:-1], places)
        full = np.vstack([np.zeros(points), below, np.ones(points)])
        columns.append(np.diff(full, axis=0).mean(axis=1))
    return np.asarray(np.column_stack(columns))


def reconstruct_density(
    values: npt.ArrayLike, counts: npt.ArrayLike, law: NoiseLaw, edges: Floats, level: float
) -> NoiseReconstruction:
    """Estimate how many originals lie in each cell, with intervals.

    Parameters
    ----------
    values, counts : distinct released numbers, ascending, and how many rows have each
    law : of the noise; its ``sd`` above 0
    edges : of the cells of originals, ascending
    level : of the intervals: each has the counts of its cell with which some distribution is likely enough, by half the
        quantile of chi-square with one degree of freedom
    """
    given, rows = np.asarray(values, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    bounds = _released_edges(given, law)
    seen = np.histogram(given, np.concatenate([[-np.inf], bounds[1:-1], [np.inf]]), weights=rows)[0]
    parts = _parts(law, edges)
    matrix = chances(law, bounds, _divided(edges, parts))
    fine, rounds, gap = maximum_likelihood(matrix, seen)
    low, high = profile_intervals(matrix, seen, fine, parts, level)
    shown = np.histogram(np.clip(given, edges[0], edges[-1]), edges, weights=rows)[0]
    estimate = fine.reshape(-1, parts).sum(axis=1)
    error = (high - low) / (2.0 * float(special.ndtri(0.5 + 0.5 * level)))
    return NoiseReconstruction(edges, shown, estimate, error, low, high, rounds, gap)


def profile_intervals(matrix: Floats, seen: Floats, best: Floats, parts: int, level: float) -> tuple[Floats, Floats]:
    """Return the least and largest count of each cell, ``parts`` columns of ``matrix`` each, that is likely enough.

    For a count c of a cell the likelihood is maximized over all others, by the same iteration with the cell's sum held;
    it may lie half the quantile of chi-square below that of ``best``. Both ends of all cells are halved at once.
    """
    cells, total = len(best) // parts, float(seen.sum())
    cell = np.repeat(np.arange(cells), 2)
    inside = np.arange(len(best))[None, :] // parts == cell[:, None]
    least = _likelihood(matrix, seen, best[None, :])[0] - 0.5 * float(special.chdtri(1.0, 1.0 - level))
    best_sums = best.reshape(-1, parts).sum(axis=1)[cell]
    near, far = best_sums.copy(), np.where(np.arange(2 * cells) % 2, total, 0.0)
    state = np.repeat(best[None, :], 2 * cells, axis=0)
    for _ in range(HALVINGS):
        middle = 0.5 * (near + far)
        state = _with_sum(0.98 * state + 0.02 * total / len(best), inside, middle, total)
        step = max(1, _PRODUCT // matrix.size)
        for start in range(0, len(state), step):
            some = slice(start, start + step)
            for _ in range(PROFILE_ROUNDS):
                moved = state[some] * ((seen / np.maximum(state[some] @ matrix.T, 1e-300)) @ matrix)
                state[some] = _with_sum(moved, inside[some], middle[some], total)
        likely = _likelihood(matrix, seen, state) >= least
        near, far = np.where(likely, middle, near), np.where(likely, far, middle)
    ends = far.reshape(-1, 2)
    return np.where(ends[:, 0] < 1e-3 * total / len(best), 0.0, ends[:, 0]), ends[:, 1]


def _with_sum(n: Floats, inside: npt.NDArray[np.bool_], wanted: Floats, total: float) -> Floats:
    """Return counts (times, columns) scaled so that those ``inside`` sum to ``wanted`` (times,), all to ``total``."""
    own = np.maximum((n * inside).sum(axis=1), 1e-300)
    others = np.maximum((n * ~inside).sum(axis=1), 1e-300)
    scaled: Floats = n * np.where(inside, (wanted / own)[:, None], ((total - wanted) / others)[:, None])
    return scaled


def _likelihood(matrix: Floats, seen: Floats, n: Floats) -> Floats:
    """Return sum_j y_j log (P n)_j for counts (times, columns)."""
    return np.asarray(special.xlogy(seen, np.maximum(n @ matrix.T, 1e-300)).sum(axis=1))


def _parts(law: NoiseLaw, edges: Floats) -> int:
    """Return into how many parts each cell is divided; whole numbers stay in one piece.

    Cells narrower than a step of rounding are divided by the noise alone.
    """
    width = float(np.diff(edges).max())
    parts = max(1, min(int(np.ceil(width / (NARROW * law.sd))), PARTS // (len(edges) - 1)))
    if not law.step or not 1.0 <= width / law.step <= PARTS:
        return parts
    steps = round(width / law.step)
    return next(n for n in range(parts, steps + 1) if steps % n == 0) if parts <= steps else steps


def _divided(edges: Floats, parts: int) -> Floats:
    places = np.arange((len(edges) - 1) * parts + 1) / parts
    return np.asarray(np.interp(places, np.arange(len(edges)), edges))


def maximum_likelihood(matrix: Floats, seen: Floats) -> tuple[Floats, int, float]:
    """Return n >= 0 with the sum of ``seen`` that maximizes sum_j y_j log (P n)_j, the rounds, and the gap.

    The log-likelihood is at most N (max_i sum_j y_j P[j, i] / (P n)_j - 1) below its maximum, since it is concave.
    """
    total = float(seen.sum())
    n = np.full(matrix.shape[1], total / matrix.shape[1])
    rounds, gap = 0, np.inf
    while rounds < ROUNDS and gap > TOLERANCE:
        slope = matrix.T @ np.divide(seen, matrix @ n, out=np.zeros_like(seen), where=seen > 0.0)
        gap = total * (float(slope.max()) - 1.0)
        n = n * slope
        rounds += 1
    return n, rounds, max(gap, 0.0)


def _released_edges(values: Floats, law: NoiseLaw) -> Floats:
    """Return edges between released numbers: around each where there are few, else evenly spaced."""
    half = 0.5 * law.step
    if len(values) <= RELEASED:
        between = (
            0.5 * (values[1:] + values[:-1])
            if not law.step
            else np.unique(np.concatenate([values - half, values + half]))
        )
    else:
        between = np.linspace(values[0], values[-1], RELEASED + 1)[1:-1]
        if law.step:
            between = np.unique(np.floor(between / law.step) * law.step + half)
    for bound in (law.low, law.high):
        if law.clamp and bound is not None:  # the numbers on a bound are a cell of their own
            between = np.unique(np.concatenate([between, [bound - half, np.nextafter(bound + half, np.inf)]]))
    inner: Any = between
    return np.concatenate([[-np.inf], inner, [np.inf]])

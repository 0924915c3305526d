"""The distribution of numbers to which noise of a known law was added, by expectation and maximization.

Agrawal and Srikant, "Privacy-preserving data mining" (SIGMOD 2000), section 3; its limit is the estimate of maximum
likelihood (Agrawal and Aggarwal, PODS 2001). The originals lie in cells, evenly within each; cells that are wide beside
the noise are parted for that, and put together again. Released numbers are taken cell by cell too, by the exact
probabilities of these cells, so that grouping them loses detail and adds no error.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from ppdm_flow.core.records import dataclass

Floats = npt.NDArray[np.float64]

NORMAL, LAPLACE = "normal", "laplace"
POINTS = 24
"""Places within a cell that its probabilities are averaged over."""
RELEASED = 300
"""Cells of released numbers at most."""
PARTS = 120
"""Parts of all cells together, about."""
NARROW = 0.75
"""A part is no wider than so many standard deviations of the noise, unless there are too many."""
TOLERANCE = 0.05
"""How much log-likelihood may be left to gain; 0.5 is what one standard error changes."""
ROUNDS, RESAMPLED_ROUNDS = 50_000, 400
RESAMPLES = 200
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
    error, low, high : standard errors and interval, from rows that are drawn again; shape (m,)
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

    The released cells' first edge stands for all below, the last one for all above. Whole originals (``step`` 1 and
    edges at halves) are taken one by one where a cell has no more than :data:`POINTS` of them.
    """
    columns = []
    for begin, end in pairwise(edges.tolist()):
        whole = (end - begin) / law.step if law.step else np.inf
        points = round(whole) if whole <= POINTS and abs(whole - round(whole)) < 1e-9 else POINTS
        places = begin + (end - begin) * (np.arange(points) + 0.5) / points
        below = law.below(released_edges[1:-1], places)
        full = np.vstack([np.zeros(points), below, np.ones(points)])
        columns.append(np.diff(full, axis=0).mean(axis=1))
    return np.asarray(np.column_stack(columns))


def reconstruct_density(
    values: npt.ArrayLike, counts: npt.ArrayLike, law: NoiseLaw, edges: Floats, level: float, seed: int = 0
) -> NoiseReconstruction:
    """Estimate how many originals lie in each cell, with intervals.

    Parameters
    ----------
    values, counts : distinct released numbers, ascending, and how many rows have each
    law : of the noise; its ``sd`` above 0
    edges : of the cells of originals, ascending
    level : of the intervals: from :data:`RESAMPLES` drawings of as many rows, each estimated anew, their quantiles and
        these mirrored at the estimate, whichever is farther off
    seed : of these drawings, which concern the recipient's arithmetic and no secret
    """
    given, rows = np.asarray(values, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    bounds = _released_edges(given, law)
    seen = np.histogram(given, np.concatenate([[-np.inf], bounds[1:-1], [np.inf]]), weights=rows)[0]
    parts = _parts(law, edges)
    matrix = chances(law, bounds, _divided(edges, parts))
    fine, rounds, gap = maximum_likelihood(matrix, seen)
    estimate = fine.reshape(-1, parts).sum(axis=1)
    total = rows.sum()
    drawn = np.random.default_rng(seed).multinomial(round(total), seen / total, size=RESAMPLES).astype(np.float64)
    begin = np.broadcast_to(0.9 * fine + 0.1 * total / len(fine), (RESAMPLES, len(fine)))
    again = _iterated(matrix, drawn, begin, RESAMPLED_ROUNDS).reshape(RESAMPLES, -1, parts).sum(axis=2)
    tail = 50.0 * (1.0 - level)
    low, high = np.percentile(again, [tail, 100.0 - tail], axis=0)
    shown = np.histogram(np.clip(given, edges[0], edges[-1]), edges, weights=rows)[0]
    return NoiseReconstruction(
        edges,
        shown,
        estimate,
        again.std(axis=0, ddof=1),
        np.clip(np.minimum(low, 2.0 * estimate - high), 0.0, estimate),
        np.maximum(high, 2.0 * estimate - low),
        rounds,
        gap,
    )


def _parts(law: NoiseLaw, edges: Floats) -> int:
    """Return into how many parts each cell is divided; whole numbers stay in one piece."""
    width = float(np.diff(edges).max())
    parts = max(1, min(int(np.ceil(width / (NARROW * law.sd))), PARTS // (len(edges) - 1)))
    if not law.step or width / law.step > PARTS:
        return parts
    whole = round(width / law.step)
    return next(n for n in range(parts, whole + 1) if whole % n == 0) if parts <= whole else whole


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


def _iterated(matrix: Floats, seen: Floats, begin: Floats, rounds: int) -> Floats:
    """Iterate many estimates, shapes (times, released cells) and (times, cells), some at once.

    Products stay so small that no library takes threads for them, which costs far more than it gains.
    """
    n, step = np.array(begin), max(1, _PRODUCT // matrix.size)
    for start in range(0, len(n), step):
        some = slice(start, start + step)
        for _ in range(rounds):
            expected = np.maximum(n[some] @ matrix.T, 1e-300)
            n[some] *= (seen[some] / expected) @ matrix
    return n


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

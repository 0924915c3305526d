"""Whether pairs of original and released values follow the operator.

Given the original values, rows are independent: value i stays with probability d_i = p_i + q_i, and a value that does
not stay becomes each of the m - 1 others with the same probability. So both parts can be tested exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.requirements.sensitivities.fit.tails import ENOUGH, bennett, binomial, chi_square, fisher, smallest

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class JointCounts:
    """``rows`` of the pairs (``original``, ``released``), places in the domain; each pair at most once."""

    original: Integers
    released: Integers
    rows: Integers


def joint_fit(retention: Floats, joint: JointCounts) -> float:
    """Return the probability of pairs as unlikely as these, under the operator; Bonferroni over six tests.

    Exact binomial tests of how often each value stays (each for itself, and all by Fisher's method), of where moved
    rows arrive, and of each cell; Bennett's bound for all that stay; chi-square for where moved rows go, over cells
    with enough rows.
    """
    m = len(retention)
    keep = retention + (1.0 - retention) / m
    stays = joint.original == joint.released
    trials = _sums(joint.original, joint.rows, m)
    stayed = _sums(joint.original[stays], joint.rows[stays], m)
    tests = [*_staying(trials, stayed, keep)]
    if m > 1:
        moved = JointCounts(joint.original[~stays], joint.released[~stays], joint.rows[~stays])
        tests += _moving(trials - stayed, moved, m)
    return smallest(np.array(tests))


def _staying(trials: Integers, stayed: Integers, keep: Floats) -> list[float]:
    occurs = trials > 0
    variance = trials * keep * (1.0 - keep)
    deviation = stayed - trials * keep
    single = binomial(stayed[occurs], trials[occurs], np.minimum(keep[occurs], 1.0))
    together = float(bennett(deviation.sum(), max(0.0, variance.sum())))
    return [smallest(single), together, fisher(single)]


def _moving(moved: Integers, pairs: JointCounts, m: int) -> list[float]:
    """Test where moved rows go: given how many left each value, uniform over the m - 1 others."""
    chance = 1.0 / (m - 1)
    arrived = _sums(pairs.released, pairs.rows, m)
    arrivals = binomial(arrived, moved.sum() - moved, chance)
    cells = binomial(pairs.rows, moved[pairs.original], chance)
    expected = moved * chance
    enough = expected >= ENOUGH
    squares = _sums(pairs.original, pairs.rows**2, m)
    statistic = float((squares[enough] / expected[enough] - moved[enough]).sum())
    return [
        smallest(arrivals),
        smallest(cells, m * (m - 1)),
        chi_square(statistic, int(enough.sum()) * (m - 2)),
    ]


def _sums(place: Integers, values: Integers, size: int) -> Integers:
    out = np.zeros(size, dtype=np.int64)
    np.add.at(out, place, values)
    return out

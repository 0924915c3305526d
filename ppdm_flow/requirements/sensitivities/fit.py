"""Tests whether released cells follow the operator of a requirement, with and without their originals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special
from scipy.stats import binom

from ppdm_flow.mining.reconstruction.histogram import ValueHistogram, given_the_original, histogram, places, tally
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.matrix_operator import MatrixOperator
from ppdm_flow.sdk.view import DataView

Integers = npt.NDArray[np.int64]

ERROR = 1e-6
"""How often a faithful release is refused by chance, over all attributes of a release."""
Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Chosen = npt.NDArray[np.bool_]


# Whether the released bytes follow the operator that the bounds are judged from.


@dataclass(frozen=True, slots=True)
class BytesCheck:
    """``fault`` says what contradicts the operator, or is empty. ``p_value`` is None where nothing could be tested.

    ``route`` is ``pairs`` or ``frequencies``; ``sharp`` says whether an unperturbed release would have been found.
    ``joint`` are the pairs of original and released values that it was tested on, where there are any.
    """

    fault: str
    p_value: float | None = None
    route: str = ""
    outside: int = 0
    sharp: bool = True
    joint: JointCounts | None = None


def check_bytes(
    operator: ValueOperator, column: str, before: ValueHistogram, candidate: DataView, ctx: AuditContext, error: float
) -> BytesCheck:
    """Test the released column against the operator, at the probability ``error`` of refusing a faithful one."""
    after = histogram(candidate, column, operator.domain)
    if before.outside or after.outside:
        where = "original" if before.outside else "released"
        return BytesCheck(
            f"{before.outside or after.outside:,} {where} cells hold a value outside the operator's domain",
            outside=after.outside,
        )
    joint = _joint(operator, column, ctx)
    if joint is not None and not _same(joint, after):
        if candidate.schema.weight is None:
            return BytesCheck("the released rows cannot be traced to the original ones")
        joint = None
    if joint is None:
        return _by_frequencies(operator, before, after, error)
    return check_pairs(operator, joint, error)


def check_pairs(operator: ValueOperator, joint: JointCounts, error: float) -> BytesCheck:
    """Test pairs of original and released values, each an independent draw."""
    p_value = _joint_fit(operator, joint)
    trials = tally(joint.original, joint.rows, operator.size).rows
    occurs = np.flatnonzero(trials)
    sharp = _joint_fit(operator, JointCounts(occurs, occurs, trials[occurs])) < error
    return BytesCheck(_verdict(p_value, error), p_value, "pairs", sharp=sharp, joint=joint)


def _by_frequencies(operator: ValueOperator, before: ValueHistogram, after: ValueHistogram, error: float) -> BytesCheck:
    if after.total > before.total:
        return BytesCheck("more rows were released than the operator was given")
    p_value = _marginal_fit(operator, before.rows, after.rows)
    sharp = _marginal_fit(operator, before.rows, before.rows) < error
    return BytesCheck(_verdict(p_value, error), p_value, "frequencies", sharp=sharp)


def _joint_fit(operator: ValueOperator, joint: JointCounts) -> float:
    if isinstance(operator, MatrixOperator):
        return matrix_joint_fit(operator.transition, joint)
    return joint_fit(operator.retention, joint)


def _marginal_fit(operator: ValueOperator, before: Integers, after: Integers) -> float:
    if isinstance(operator, MatrixOperator):
        return marginal_fit(operator.transition, before, after)
    return retention_marginal_fit(operator.retention, before, after)


def _verdict(p_value: float, error: float) -> str:
    if p_value >= error:
        return ""
    return "the released values do not follow the operator: chance alone does this less than once in a million times"


def _joint(operator: ValueOperator, column: str, ctx: AuditContext) -> JointCounts | None:
    """Return the pairs, where the operator was given the original values themselves; places may be outside (-1)."""
    if ctx.pairs is None or not given_the_original(operator, ctx.attributes.get(column)):
        return None
    counts = ctx.pairs.joint(source_of(column, ctx), column)
    original = places(counts, "original", operator.domain)
    released = places(counts, "released", operator.domain)
    keep = counts.counts > 0
    return JointCounts(original[keep], released[keep], counts.counts[keep])


def _same(joint: JointCounts, after: ValueHistogram) -> bool:
    """Whether the pairs are those of the released file: within the domain, and the very same counts."""
    if (joint.original < 0).any() or (joint.released < 0).any():
        return False
    return bool(np.array_equal(tally(joint.released, joint.rows, len(after.rows)).rows, after.rows))


# Whether pairs of original and released values follow the operator.
#
# Given the original values, rows are independent: value i stays with probability d_i = p_i + q_i, and a value that does
# not stay becomes each of the m - 1 others with the same probability. So both parts can be tested exactly.


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


# Probabilities of deviations: exact for single counts, bounds for sums, chi-square for many cells at once.


ENOUGH = 20.0
"""Expected rows from which the cells of a uniform multinomial may enter a chi-square statistic."""
ENOUGH_VARIANCE = 100.0
"""Variance from which other counts may: skewed ones need more to be near normal so far out."""


def binomial(hits: Counts, trials: Counts, probability: Floats | float) -> Floats:
    """Return two-sided exact tail probabilities: twice the smaller tail, at most 1."""
    lower = binom.cdf(hits, trials, probability)
    upper = binom.sf(hits - 1, trials, probability)
    doubled: Floats = np.minimum(1.0, 2.0 * np.minimum(lower, upper))
    return doubled


def bennett(deviation: Floats | float, variance: Floats | float) -> Floats:
    """Return bounds of two-sided tails of sums of independent terms that deviate by at most 1 (Bennett 1962).

    2 exp(-v h(t/v)) with h(u) = (1 + u) ln(1 + u) - u: valid for any number of terms, however unlike.
    """
    t, v = np.broadcast_arrays(np.abs(np.asarray(deviation, dtype=np.float64)), np.asarray(variance, dtype=np.float64))
    safe = np.maximum(v, 1e-300)
    ratio = t / safe
    bound = 2.0 * np.exp(-safe * ((1.0 + ratio) * np.log1p(ratio) - ratio))
    fixed = np.where(t > 1e-6, 0.0, 1.0)  # nothing random: any deviation is impossible
    return np.minimum(1.0, np.where(v > 1e-9, bound, fixed))


def chi_square(statistic: float, freedom: int) -> float:
    """Return the upper tail; 1 without degrees of freedom."""
    return float(special.chdtrc(freedom, statistic)) if freedom > 0 else 1.0


def fisher(probabilities: Floats) -> float:
    """Return the joint tail of independent tests: -2 times the sum of logs is chi-square (Fisher 1925).

    Tail probabilities of discrete counts are a little too large; then so is this one.
    """
    if len(probabilities) == 0:
        return 1.0
    if probabilities.min() <= 0.0:
        return 0.0
    return chi_square(-2.0 * float(np.log(probabilities).sum()), 2 * len(probabilities))


def smallest(probabilities: Floats, tests: int | None = None) -> float:
    """Return Bonferroni's probability for the smallest of several tests (``tests`` of them, if not all are given)."""
    if len(probabilities) == 0:
        return 1.0
    return float(min(1.0, probabilities.min() * (len(probabilities) if tests is None else tests)))


# Whether released cells follow a transition matrix of any form.
#
# Given the original values, rows are independent: value i becomes j with probability R[i, j].


_NOTHING = 1e-9
"""A direction whose share of the largest variance is less than this is taken for one that does not vary."""


def matrix_joint_fit(transition: Floats, joint: JointCounts) -> float:
    """Return the probability of pairs as unlikely as these, under the matrix; Bonferroni over five tests.

    Exact binomial tests of every cell, and of how often each value stays (Fisher's method over all); Bennett's bound
    for all that stay, and for how often each value is released; chi-square over the cells with enough rows.
    """
    size = len(transition)
    counts = np.zeros((size, size), dtype=np.int64)
    np.add.at(counts, (joint.original, joint.released), joint.rows)
    trials = counts.sum(axis=1)
    occurs = trials > 0
    cells = binomial(counts[occurs], trials[occurs, None], transition[occurs])
    stay = np.diagonal(transition)
    stayed = np.diagonal(counts) - trials * stay
    spread = transition * (1.0 - transition)
    off = counts.sum(axis=0) - trials @ transition
    tests = [
        smallest(cells.ravel()),
        fisher(np.diagonal(binomial(counts, np.maximum(trials, 0)[:, None], transition))[occurs]),
        float(bennett(stayed.sum(), float(trials @ np.diagonal(spread)))),
        smallest(bennett(off, trials @ spread)),
        chi_square(*_pearson(counts, trials, transition)),
    ]
    return smallest(np.array(tests))


def _pearson(counts: Integers, trials: Integers, transition: Floats) -> tuple[float, int]:
    """Return the statistic over cells with enough expected rows, and its degrees of freedom.

    The other cells of a row are one cell together; it joins the least of the large ones where it is too small.
    """
    expected = trials[:, None] * transition
    large = expected >= ENOUGH
    statistic, freedom = 0.0, 0
    for row in np.flatnonzero(large.any(axis=1)):
        mine = np.append(expected[row, large[row]], expected[row, ~large[row]].sum())
        seen = np.append(counts[row, large[row]], counts[row, ~large[row]].sum()).astype(np.float64)
        if mine[-1] < ENOUGH:
            least = int(mine[:-1].argmin())
            mine[least] += mine[-1]
            seen[least] += seen[-1]
            mine, seen = mine[:-1], seen[:-1]
        statistic += float(((seen - mine) ** 2 / mine).sum())
        freedom += len(mine) - 1
    return statistic, freedom


def marginal_fit(transition: Floats, original: Integers, released: Integers) -> float:
    """Return the probability of released counts as unlikely as these, where rows cannot be paired.

    Their mean is n R, their covariance sum_i n_i (diag(R_i) - R_i R_i^T); where fewer rows were released than the
    operator got, they are taken as a simple random sample of them. Bennett's bound for each value; chi-square over
    values that vary enough, in the directions in which they vary. Raises ValueError where more rows were released than
    the operator got.
    """
    before, after = int(original.sum()), int(released.sum())
    if after > before:
        raise ValueError("more rows released than there were")
    if before == 0 or after == 0:
        return 1.0
    share = original @ transition / before
    deviation = released - after * share
    covariance = _covariance(transition, original, after)
    own = np.maximum(np.diagonal(covariance), 0.0) if after == before else after * share * (1.0 - share)
    tests = [smallest(bennett(deviation, own)), _together(covariance, deviation, own >= ENOUGH_VARIANCE)]
    return smallest(np.array(tests))


def _covariance(transition: Floats, original: Integers, after: int) -> Floats:
    before = int(original.sum())
    expected = original @ transition
    share = expected / before
    drawn = after * (before - after) / max(1, before - 1)  # hypergeometric factor of a sample, 0 for all rows
    scale = (after * after - drawn) / (before * before)
    randomization = np.diag(expected) - transition.T @ (original[:, None] * transition)
    covariance: Floats = scale * randomization + drawn * (np.diag(share) - np.outer(share, share))
    return covariance


def _together(covariance: Floats, deviation: Floats, enough: npt.NDArray[np.bool_]) -> float:
    cells = np.flatnonzero(enough)
    if not len(cells):
        return 1.0
    scale = np.sqrt(np.diagonal(covariance)[cells])
    some = covariance[np.ix_(cells, cells)] / np.outer(scale, scale)
    values, vectors = np.linalg.eigh(some)
    varies = values > _NOTHING * values[-1]
    along = vectors[:, varies].T @ (deviation[cells] / scale)
    return chi_square(float((along**2 / values[varies]).sum()), int(varies.sum()))


# Whether released frequencies follow the operator, where rows cannot be paired.
#
# Given the original counts n, the released counts have mean P n and covariance sum of n_i (diag(P_i) - P_i P_i^T).


def retention_marginal_fit(retention: Floats, original: Integers, released: Integers) -> float:
    """Return the probability of released counts as unlikely as these; Bonferroni over two tests.

    Where fewer rows were released than the operator got, they are taken as a simple random sample of them.
    Bennett's bound for each value; chi-square with the covariance above over values that vary enough.
    Raises ValueError where more rows were released than the operator got.
    """
    before, after = int(original.sum()), int(released.sum())
    if after > before:
        raise ValueError("more rows released than there were")
    if before == 0 or after == 0:
        return 1.0
    leave = (1.0 - retention) / len(retention)
    expected = retention * original + float(leave @ original)
    share = expected / before
    deviation = released - after * share
    own = _own_variance(retention, leave, original) if after == before else after * share * (1.0 - share)
    tests = [smallest(bennett(deviation, np.maximum(own, 0.0)))]
    if leave @ original > 0:
        tests.append(_marginal_together(retention, leave, original, deviation, after, own >= ENOUGH_VARIANCE))
    return smallest(np.array(tests))


def _own_variance(retention: Floats, leave: Floats, original: Integers) -> Floats:
    """Return the variance of each released count: sum over i of n_i P_ji (1 - P_ji)."""
    keep = retention + leave
    others = float((original * leave * (1.0 - leave)).sum()) - original * leave * (1.0 - leave)
    return others + original * keep * (1.0 - keep)


def _marginal_together(
    retention: Floats, leave: Floats, original: Integers, deviation: Floats, after: int, enough: Chosen
) -> float:
    """Return the chi-square tail of the cells that vary enough but the largest, which follows from the others.

    The covariance is diagonal less a matrix of rank two, or of rank three for a sample (Woodbury's identity).
    """
    before = int(original.sum())
    expected = retention * original + float(leave @ original)
    share = expected / before
    cells = np.flatnonzero(enough)
    cells = cells[cells != expected.argmax()]
    if len(cells) == 0:
        return 1.0
    drawn = after * (before - after) / max(1, before - 1)  # hypergeometric factor of a sample, 0 for all rows
    scale = (after * after - drawn) / (before * before)
    diagonal = scale * (expected - retention**2 * original) + drawn * share
    crossed = np.stack([retention * original * leave, np.ones(len(leave)), share], axis=1)[cells]
    spread = float((original * leave**2).sum())
    inverse = np.array([[-spread, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]) / scale
    if drawn > 0:
        inverse[2, 2] = 1.0 / drawn
    else:
        crossed, inverse = crossed[:, :2], inverse[:2, :2]
    return chi_square(_quadratic(deviation[cells], diagonal[cells], crossed, inverse), len(cells))


def _quadratic(deviation: Floats, diagonal: Floats, crossed: Floats, inverse: Floats) -> float:
    """Return x^T (D - U K U^T)^-1 x from D, U and K^-1."""
    scaled = deviation / diagonal
    projected = crossed.T @ scaled
    inner = inverse - crossed.T @ (crossed / diagonal[:, None])
    return float(deviation @ scaled + projected @ np.linalg.solve(inner, projected))

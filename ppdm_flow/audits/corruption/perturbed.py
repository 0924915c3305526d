"""What corruption reveals: of records that are each perturbed, and of values released as they are in classes.

A released value depends on its own record's value and its own draw alone, so with independent records
Pr[x_t | all released values, all other true values] = Pr[x_t | y_t]: knowing the others changes nothing, even for an
adversary who knows which row is the target's. That is what is computed here.

Where each released row was drawn from k records (perturbed generalization), the adversary does not know whose it is.
Knowing others makes it likelier that it is the target's: with y released and c others known, whose values are released
as y with probability u each, it is the target's with h = Pr[y] / ((k - c) Pr[y] + c u), and the posterior is
h Pr[x | y] + (1 - h) Pr[x]. The worst case takes the smallest u of row y of the operator. (The argument of Tao et al.,
ICDE 2008, section 5, for any retention probabilities.)

Corruption where sensitive values are released as they are, in classes of people who look alike.
The adversary knows who is in a class, its released values, and the true values of c of the others. Within a class of
n rows, n_s of them with value s, the target has s with probability n_s / n; without c others who have other values,
with n_s / (n - c), and certainly where n - n_s <= c. A suppressed or missing cell says nothing of its person, and
counts among the others. Missing and suppressed quasi-identifiers are values of their own: the smallest classes that an
adversary can tell apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.tables.counts import Counts

Floats = npt.NDArray[np.float64]

_ENTRIES = 4_000_000
Integers = npt.NDArray[np.int64]


def highest(retention: Floats, prior: Floats, sampled: int = 1, known: int = 0) -> Floats:
    """Return the highest posterior of each value over all released ones, shape (m,).

    ``retention`` p and ``prior`` have shape (m,); ``sampled`` is k >= 1, ``known`` is c, of the k - 1 others at most.
    Linear in m for k = 1, else quadratic.
    """
    leave = (1.0 - retention) / len(retention)
    keep = retention + leave
    out = retention * prior + float(leave @ prior)
    base = _base(leave, keep, out, sampled, min(known, sampled - 1))
    own = _over(prior * (keep - out), base)
    best = prior + np.maximum(own, _others(leave, prior, out, base, sampled))
    return np.where(prior > 0, np.clip(best, 0.0, 1.0), 0.0)


def highest_of_matrix(transition: Floats, prior: Floats, sampled: int = 1, known: int = 0) -> Floats:
    """Return the same for a matrix R of shape (m, m), R[i, j] = Pr[released j | original i]; quadratic in m."""
    out = prior @ transition
    corrupted = min(known, sampled - 1)
    shown = out > 0
    base = (sampled - corrupted) * out[shown] + corrupted * transition.min(axis=0)[shown]
    gain = ((transition - out)[:, shown] / base).max(axis=1, initial=-1.0)
    return np.where(prior > 0, np.clip(prior + prior * gain, 0.0, 1.0), 0.0)


def exposure(retention: Floats, prior: Floats, sampled: int = 1) -> float:
    """Return the highest probability with which a release shows a person's own value because it was kept: p / k."""
    return float(retention[prior > 0].max(initial=0.0)) / sampled


def _base(leave: Floats, keep: Floats, out: Floats, sampled: int, known: int) -> Floats:
    """Return (k - c) Pr[y] + c u for each released y, shape (m,): inf for those that cannot be released."""
    least = np.minimum(keep, _least_other(leave)) if len(leave) > 1 else keep
    base = (sampled - known) * out + known * least
    return np.where(out > 0, base, np.inf)


def _others(leave: Floats, prior: Floats, out: Floats, base: Floats, sampled: int) -> Floats:
    """Return the most that another released value adds to each prior: max over y of f (q - Pr[y]) / base."""
    m = len(prior)
    if m == 1:
        return np.full(1, -np.inf)
    largest = np.full(m, -np.inf)
    if sampled == 1:  # then base is Pr[y]: the rarest tells most
        first, second = np.argsort(np.where(out > 0, out, np.inf), kind="stable")[:2]
        rare = np.where(np.arange(m) == first, second, first)
        return _over(prior * (leave - out[rare]), base[rare])
    step = max(1, _ENTRIES // m)
    for start in range(0, m, step):
        i = np.arange(start, min(start + step, m))
        block = prior[i, None] * (leave[i, None] - out) / base
        block[np.arange(len(i)), i] = -np.inf
        largest[i] = block.max(axis=1)
    return largest


def _least_other(values: Floats) -> Floats:
    """Return for each place the smallest value in another place."""
    first = int(values.argmin())
    out = np.full(len(values), values[first])
    out[first] = np.delete(values, first).min()
    return out


def _over(part: Floats, divisor: Floats) -> Floats:
    """Divide; a value that cannot be released (inf) tells nothing of any other."""
    ratio: Floats = np.where(np.isinf(divisor), -np.inf, part / np.where(np.isinf(divisor), 1.0, divisor))
    return ratio


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """``rows`` (b,) records whose value gets the posterior ``before``, and ``after`` corruption; of ``total``."""

    rows: Integers
    before: Floats
    after: Floats
    total: int

    def worst(self, which: Floats) -> float | None:
        """Return the highest posterior, None without any."""
        return float(which.max()) if len(which) else None

    def certain(self, which: Floats) -> float | None:
        """Return the share of all records whose value is known for sure, None without records."""
        return float(self.rows[which >= 1.0].sum() / self.total) if self.total else None


def grouped(counts: Counts, classes: tuple[str, ...], sensitive: str, corrupted: int | None) -> Beliefs:
    """Return the beliefs in every (class, value); ``corrupted`` is None for all others. Linear in the combinations."""
    kept = counts.counts > 0
    group, number = counts.groups(classes)
    sizes = np.zeros(number, dtype=np.int64)
    np.add.at(sizes, group[kept], counts.counts[kept])
    shown = kept & (counts.of(sensitive) >= 0)
    own, size = counts.counts[shown], sizes[group[shown]]
    known = size - own if corrupted is None else np.minimum(corrupted, size - own)
    return Beliefs(own, own / size, own / (size - known), int(sizes.sum()))

"""Special uniques: rows that a few attributes single out, and how much that says (SUDA).

A minimal sample unique of a row is a set of attributes whose values no other row has, while each smaller part of it is
shared (Elliot, Manning, Ford, A computational algorithm for handling the special uniques problem, IJUFKS 10(5), 2002).
A row that is unique by few attributes is likely to be unique in the population too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.roles import Nulls
from ppdm_flow.reader.compatible import compatible_sums
from ppdm_flow.tables.column import MISSING
from ppdm_flow.tables.counts import Counts

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]

LARGEST = 5
"""The largest set of attributes that is looked for: beyond that nearly every row of most tables is unique."""


@dataclass(frozen=True, slots=True, eq=False)
class SpecialUniques:
    """The minimal sample uniques of the combinations behind some counts, of up to ``size`` attributes.

    ``by_row`` (combinations, size) counts them by size for each combination, ``by_attribute`` (attributes, size) those
    that contain an attribute. ``rows`` are all rows (the sum of weights).
    """

    size: int
    attributes: int
    by_row: Ints
    by_attribute: Ints
    rows: int

    def single(self, size: int) -> int:
        """Return how many rows have one of at most ``size`` attributes; each of them has weight 1."""
        return int(self.by_row[:, :size].any(axis=1).sum())

    def share(self, size: int) -> float:
        """Return their share of all rows; 0 where there are no rows."""
        return self.single(size) / self.rows if self.rows else 0.0

    def scores(self) -> Floats:
        """Return the SUDA score of each combination that has one, shape (rows,)."""
        every = self.by_row @ weights_of_sizes(self.size, self.attributes)
        return np.asarray(every[every > 0], dtype=np.float64)

    def contributions(self) -> Floats:
        """Return the share of all minimal sample uniques that contain each attribute; 0 where there are none."""
        total = int(self.by_row.sum())
        return np.asarray(self.by_attribute.sum(axis=1) / max(1, total))


def weights_of_sizes(size: int, attributes: int) -> Floats:
    """Return what a minimal sample unique of 1, …, ``size`` attributes adds to the score of its row.

    The product of (m - i) for i from s to M - 1, for s of m attributes and the largest size M: in how many ways it
    grows to a set of M attributes, one by one (Elliot, Manning, Ford 2002, section 4). The largest ones add 1.
    """
    return np.array([np.prod([float(attributes - i) for i in range(s, size)]) for s in range(1, size + 1)])


def match_probability(uniques: int, in_pairs: int, fraction: float) -> float:
    """Return the DIS: how likely it is that a unique match of somebody of the population with a row is correct.

    π U / (π U + (1 - π) P), for U unique rows and P rows in pairs (classes of two) of a sample of the ``fraction`` π
    (Skinner, Elliot, A measure of disclosure risk for microdata, JRSS B 64(4), 2002, section 3). 0 without a unique.
    """
    weighted = fraction * uniques
    return weighted / (weighted + (1.0 - fraction) * in_pairs) if uniques else 0.0


def match_probabilities(scores: Floats, average: float) -> Floats:
    """Spread the file's probability of a correct match over the rows that have a score (DIS-SUDA; Elliot 2005).

    The odds that a match is wrong are those of the file, divided by score / h, for the harmonic mean h of the scores:
    1 / (1 + (1 / θ - 1) h / score). Rows of equal scores have the probability of the file, whose reciprocal is the mean
    of theirs.
    """
    if not len(scores) or average <= 0:
        return np.zeros(len(scores))
    harmonic = len(scores) / float((1.0 / scores).sum())
    return np.asarray(1.0 / (1.0 + (1.0 / average - 1.0) * harmonic / scores))


def minimal_sample_uniques(
    counts: Counts, carriers: Sequence[Sequence[str]], size: int, nulls: Nulls
) -> SpecialUniques:
    """Find the minimal sample uniques of up to ``size`` attributes.

    An adversary who knows an attribute sees all of the columns that depend on it.

    Parameters
    ----------
    counts
        The rows. A combination of weight 2 counts two people, and is unique under nothing.
    carriers
        For each attribute, the columns of ``counts`` that depend on it.
    size
        The largest set, 1 to ``LARGEST``.
    nulls
        ``own_category``: missing is one more value. ``wildcard``: a row is unique by a set where no other row of its
        crowd is, and all rows count that contradict it nowhere and are missing wherever it is. ``exclude``: a row
        neither is unique nor counts as another one in sets with an attribute that it misses. Suppressed cells are
        one more value.
    """
    occurs = counts.counts > 0
    occurring = Counts(counts.columns, counts.categories, counts.codes[occurs], counts.counts[occurs])
    attributes = len(carriers)
    largest = min(size, attributes)
    wild = nulls is Nulls.WILDCARD and bool((occurring.codes == MISSING).any())
    search = _fitting if wild else _refined
    by_row, by_attribute = search(occurring, carriers, largest, nulls)
    return SpecialUniques(largest, attributes, by_row, by_attribute, occurring.total)


def _refined(counts: Counts, carriers: Sequence[Sequence[str]], size: int, nulls: Nulls) -> tuple[Ints, Ints]:
    """Search by partitions, the columns with most values first: their classes are small."""
    from ppdm_flow.mining.uniques.refinement import minimal_uniques  # noqa: PLC0415  # compiled: takes time to start

    codes = np.empty((len(carriers), len(counts)), dtype=np.int32)
    widths = np.ones(len(carriers), dtype=np.int64)
    for place, columns in enumerate(carriers):
        groups, widths[place] = counts.groups(columns)
        out = _missing(counts, columns) if nulls is Nulls.EXCLUDE else np.zeros(len(counts), dtype=np.bool_)
        codes[place] = np.where(out, -1, groups)
    order = np.argsort(-widths, kind="stable")
    weights = np.ascontiguousarray(counts.counts)
    width = int(widths.max(initial=1))
    by_row, by_column = minimal_uniques(np.ascontiguousarray(codes[order]), weights, size, width)
    by_attribute = np.empty_like(by_column)
    by_attribute[order] = by_column
    return by_row, by_attribute


def _fitting(counts: Counts, carriers: Sequence[Sequence[str]], size: int, _nulls: Nulls) -> tuple[Ints, Ints]:
    """Search set by set, by the crowds of rows whose missing cells may be anything."""
    by_row = np.zeros((len(counts), size), dtype=np.int64)
    by_attribute = np.zeros((len(carriers), size), dtype=np.int64)
    minimal: dict[tuple[int, ...], Truths] = {}
    for chosen in _sets(len(carriers), size):
        alone = _alone(counts, tuple(dict.fromkeys(c for place in chosen for c in carriers[place])))
        for smaller in range(1, len(chosen)):
            for part in combinations(chosen, smaller):
                alone &= ~minimal[part]
        minimal[chosen] = alone
        by_row[:, len(chosen) - 1] += alone
        by_attribute[list(chosen), len(chosen) - 1] += int(alone.sum())
    return by_row, by_attribute


def _sets(attributes: int, size: int) -> Iterator[tuple[int, ...]]:
    return (chosen for level in range(1, size + 1) for chosen in combinations(range(attributes), level))


def _alone(counts: Counts, columns: Sequence[str]) -> Truths:
    """Return which combinations are a crowd of one by these columns."""
    groups, many = counts.groups(columns)
    rows = np.zeros(many, dtype=np.int64)
    np.add.at(rows, groups, counts.counts)
    first = np.empty(many, dtype=np.int64)
    first[groups] = np.arange(len(counts))
    codes = counts.codes[first][:, [counts.place(c) for c in columns]]
    return np.asarray(compatible_sums(codes, rows[:, None])[groups, 0] == 1)


def _missing(counts: Counts, columns: Sequence[str]) -> Truths:
    return np.asarray((counts.codes[:, [counts.place(c) for c in columns]] == MISSING).any(axis=1))

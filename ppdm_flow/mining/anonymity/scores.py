"""The Anonymity Score, and how released rows blend into the original."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.anonymity.supports import JointSupports
from ppdm_flow.mining.anonymity.tallies import Integers


@dataclass(frozen=True, slots=True, eq=False)
class MatchedSupports:
    """``supports`` (n,) that occur in the original, ascending; ``distinct`` rows of each, ``matched`` in the release.

    The score sums 1/s times the share of the rows of support s that occur in the release (Vreeken, van Leeuwen,
    Siebes, ICDM 2007: AS(p, o)). All rows of one support weigh the same, so that shares of distinct rows and of all
    rows are one. The original's own score, 1/s summed over the supports that occur, normalises it. So read, tables that
    the paper's generator makes score 0.71 on Iris, 0.65 on Led7, 0.63 on Pima, 0.49 on Nursery (paper: 0.72, 0.66,
    0.64, 0.49); if Pr were the share of released rows, it would be 0.92, 0.57, 0.42 and 0.73.
    """

    supports: Integers
    distinct: Integers
    matched: Integers

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """The share of the rows of each support that occur in the release."""
        share: npt.NDArray[np.float64] = self.matched / self.distinct
        return share

    @property
    def score(self) -> float:
        """AS(p, o): from 0 to :attr:`highest`."""
        return float((self.shares / self.supports).sum())

    @property
    def highest(self) -> float:
        """AS(o, o), that of the original itself; 0 for no row."""
        return float((1.0 / self.supports).sum())

    @property
    def normalised(self) -> float:
        """NAS = AS(p, o) / AS(o, o), in [0, 1]; 0 for no row."""
        return self.score / self.highest if len(self.supports) else 0.0


def anonymity_score(joint: JointSupports) -> MatchedSupports:
    """Score a release against its original."""
    there = joint.original > 0
    supports, place = np.unique(joint.original[there], return_inverse=True)
    distinct = _sums(place, joint.distinct[there], len(supports))
    hit = joint.released[there] > 0
    return MatchedSupports(supports, distinct, _sums(place[hit], joint.distinct[there][hit], len(supports)))


@dataclass(frozen=True, slots=True)
class BlendCounts:
    """Released rows by weight: ``absent`` from, ``rare`` in and ``common`` in the original, below and from minsup on.

    The first of each pair counts the rows that are rare in the release, the second all others.
    """

    absent: tuple[int, int]
    rare: tuple[int, int]
    common: tuple[int, int]
    original_rare: int
    original_rare_found: int

    @property
    def rare_released(self) -> int:
        """The released rows that are rare in the release."""
        return self.absent[0] + self.rare[0] + self.common[0]

    @property
    def share(self) -> float:
        """Of these, the share that is rare in the original too; 0 for none."""
        return self.rare[0] / self.rare_released if self.rare_released else 0.0


def blend(joint: JointSupports, original_below: int, released_below: int) -> BlendCounts:
    """Count released rows by whether their support is below a bound in the release, and in the original.

    ``original_rare`` counts the original rows with a support below theirs, ``original_rare_found`` those of them that
    occur in the release.
    """
    weights = joint.released * joint.distinct
    rare_here = joint.released < released_below
    absent, rare = joint.original == 0, (joint.original > 0) & (joint.original < original_below)

    def split(chosen: npt.NDArray[np.bool_]) -> tuple[int, int]:
        return int(weights[chosen & rare_here].sum()), int(weights[chosen & ~rare_here].sum())

    rows = joint.original * joint.distinct
    return BlendCounts(
        absent=split(absent),
        rare=split(rare),
        common=split(~absent & ~rare),
        original_rare=int(rows[rare].sum()),
        original_rare_found=int(rows[rare & (joint.released > 0)].sum()),
    )


def _sums(place: npt.NDArray[np.intp], values: Integers, size: int) -> Integers:
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, place, values)
    return sums

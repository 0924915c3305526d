"""Two tables joined by a key from counts alone, and the attack that pairs their rows by order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from ppdm_flow.audits.multisets import expected_hits
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.table import Table, concat

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Key = str | int

ERROR = 1e-6
"""The probability that two files in independent random orders raise the alarm."""


@dataclass(frozen=True, slots=True, eq=False)
class JoinSizes:
    """Of each class that both files have: its rows in this file and in the other, ``mine`` and ``theirs``, (classes,).

    ``alone`` counts the rows of either file whose class the other one does not have.
    """

    mine: Integers
    theirs: Integers
    alone: int

    @property
    def tuples(self) -> int:
        """The rows of the join."""
        return int((self.mine * self.theirs).sum())

    @property
    def spurious(self) -> int:
        """The rows of the join that can be of no person: each person is one tuple of the class at most."""
        return self.tuples - int(np.minimum(self.mine, self.theirs).sum())


def join(mine: DataView, theirs: DataView, key: str) -> JoinSizes:
    """Count both sides of each class."""
    own, other = _sizes(mine.counts([key])), _sizes(theirs.counts([key]))
    both = sorted(own.keys() & other.keys(), key=str)
    left = np.array([own[k] for k in both], dtype=np.int64)
    right = np.array([other[k] for k in both], dtype=np.int64)
    alone = sum(own.values()) + sum(other.values()) - int(left.sum() + right.sum())
    return JoinSizes(left, right, alone)


def _sizes(counts: Counts) -> dict[Key, int]:
    """Return the rows of each class; special cells are numbers here, so that no text is confused with them."""
    names = counts.names(counts.columns[0]).to_pylist()
    codes = counts.codes[:, 0].tolist()
    return {names[c] if c >= 0 else c: n for c, n in zip(codes, counts.counts.tolist(), strict=True)}


@dataclass(frozen=True, slots=True, eq=False)
class JoinedPosteriors:
    """Of each class of the other file its rows and the rows of its most frequent value, shape (classes,)."""

    sizes: Integers
    largest: Integers

    @property
    def shares(self) -> Floats:
        """The belief in the likeliest value of somebody known to be in the class."""
        shares: Floats = self.largest / self.sizes
        return shares

    @property
    def bound(self) -> float | None:
        """The largest share of all classes."""
        return float(self.shares.max()) if len(self.sizes) else None

    @property
    def homogeneous(self) -> int:
        """The rows of classes that have one value only."""
        return int(self.sizes[self.sizes == self.largest].sum())


def posteriors(theirs: DataView, key: str, sensitive: str) -> JoinedPosteriors:
    """Count the values of each class."""
    counts = theirs.counts([key, sensitive])
    groups, number = counts.groups([key])
    sizes, largest = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64)
    np.add.at(sizes, groups, counts.counts)
    np.maximum.at(largest, groups, counts.counts)
    occurs = sizes > 0
    return JoinedPosteriors(sizes[occurs], largest[occurs])


@dataclass(frozen=True, slots=True)
class SameOrder:
    """The attack by order: the n-th row of one file and the n-th row of the other.

    ``matches`` of ``rows`` places have one class in both files, where ``chance`` would be the share by chance.
    """

    rows: int
    matches: int
    chance: float

    @property
    def alarming(self) -> bool:
        """Whether chance would hardly do it."""
        return self.rows > 0 and float(binom.sf(self.matches - 1, self.rows, self.chance)) < ERROR


def same_order(mine: DataView, theirs: DataView, key: str) -> SameOrder | None:
    """Compare the classes place by place; None where the files have unlike numbers of rows, or none."""
    if mine.row_count != theirs.row_count or not mine.row_count:
        return None
    both = concat([mine.table([key]), theirs.table([key])])[key]
    left, right = both.dense[: mine.row_count], both.dense[mine.row_count :]
    sizes = [np.bincount(part, minlength=both.width).astype(np.float64) for part in (left, right)]
    rows = len(left)
    return SameOrder(rows, int((left == right).sum()), float((sizes[0] * sizes[1]).sum()) / rows**2)


def linked(mine: DataView, theirs: DataView, sensitive: str, source: str, ctx: AuditContext) -> float | None:
    """Return the share of people whose value is right at the place in the other file that their row has in this one.

    A person is known by all that this file says; of several alike one is taken at random.
    None where original and released rows cannot be paired, or the files have unlike numbers of rows.
    """
    if ctx.pairs is None or mine.row_count != theirs.row_count or not mine.row_count:
        return None
    names = [n for n in mine.schema.names if n != sensitive]
    here, there = mine.table(names), theirs.table([sensitive])
    guessed = Table({**here.columns, "\0guess": there[sensitive]}, here.rows)
    parts = [
        Table({**after.columns, "\0guess": before[source]}, after.rows)
        for before, after in ctx.pairs.pairs([source], names)
    ]
    return expected_hits(guessed, concat(parts), "\0guess") / len(guessed) if parts else None

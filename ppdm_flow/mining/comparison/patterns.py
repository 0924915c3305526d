"""Two collections of itemsets side by side: what both have, what only one has, how far supports moved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.collection import ItemsetCollection
from ppdm_flow.mining.itemsets.database import ItemDatabase

_AT_ONCE = 1 << 24
"""Bits of rows that are looked at together: 128 MB as numbers."""

Positions = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PatternComparison:
    """``before`` and ``after`` (equal,): supports, as shares of the rows, of the itemsets that both have.

    ``lost`` and ``new`` are the supports of those that only the first or only the second has.
    """

    before: Floats
    after: Floats
    lost: Floats
    new: Floats

    @property
    def equal(self) -> float | None:
        """The share of the first's itemsets that the second has; None if the first has none."""
        first = len(self.before) + len(self.lost)
        return len(self.before) / first if first else None

    @property
    def differences(self) -> Floats:
        """How far the support of each equal itemset moved, absolute, as a share of the rows."""
        moved: Floats = np.abs(self.after - self.before)
        return moved


def compare_itemsets(a: ItemsetCollection, b: ItemsetCollection, rows_a: int, rows_b: int) -> PatternComparison:
    """Match the itemsets of two collections over one alphabet: none occurs twice in either.

    Time is that of a few stable sorts; nothing is made a Python object. Vreeken, van Leeuwen, Siebes, ICDM 2007,
    section 5, table 1.
    """
    mine, theirs = matched(a, b)
    only_a, only_b = np.ones(len(a), dtype=np.bool_), np.ones(len(b), dtype=np.bool_)
    only_a[mine], only_b[theirs] = False, False
    return PatternComparison(
        a.supports[mine] / rows_a,
        b.supports[theirs] / rows_b,
        a.supports[only_a] / rows_a,
        b.supports[only_b] / rows_b,
    )


def supports_in_both(
    a: ItemsetCollection, b: ItemsetCollection, x: ItemDatabase, y: ItemDatabase, least: float
) -> tuple[Floats, Floats]:
    """Return the supports (itemsets,) in x and in y, as shares, of every itemset of ``a``, mined in x, or ``b``, in y.

    What only one has is counted in the other. Where its support is at most ``least``, it is not: the other's is then
    taken as 0, from which the difference is no larger than the support itself.
    """
    mine, theirs = matched(a, b)
    only_a, only_b = np.setdiff1d(np.arange(len(a)), mine), np.setdiff1d(np.arange(len(b)), theirs)
    lost, new = a.take(only_a), b.take(only_b)
    in_x = [a.supports[mine] / x.rows, lost.supports / x.rows, _shares_in(x, new, new.supports / y.rows > least)]
    in_y = [b.supports[theirs] / y.rows, _shares_in(y, lost, lost.supports / x.rows > least), new.supports / y.rows]
    return np.concatenate(in_x), np.concatenate(in_y)


def _shares_in(database: ItemDatabase, itemsets: ItemsetCollection, chosen: npt.NDArray[np.bool_]) -> Floats:
    """Return the share of rows that have each of the chosen itemsets; 0 for the others."""
    has = database.vertical(np.arange(database.items, dtype=np.int32))
    weights = database.weights.astype(np.float64)
    shares, lengths = np.zeros(len(itemsets)), itemsets.lengths
    stride = max(1, _AT_ONCE // max(1, len(weights)))
    for length in np.unique(lengths[chosen]).tolist():
        at = np.flatnonzero(chosen & (lengths == length))
        for part in (at[i : i + stride] for i in range(0, len(at), stride)):
            items = itemsets.items[itemsets.offsets[part][:, None] + np.arange(length)]
            rows = np.bitwise_and.reduce(has[items], axis=1)
            bits = np.unpackbits(rows.view(np.uint8), axis=1, count=len(weights), bitorder="little")
            shares[part] = bits @ weights / database.rows
    return shares


def matched(a: ItemsetCollection, b: ItemsetCollection) -> tuple[Positions, Positions]:
    """Return the positions, in both, of the itemsets that both have."""
    both = _joined(a, b)
    order = both.lexicographic()
    lengths = both.lengths
    left, right = order[:-1], order[1:]  # the sort is stable: of two equal ones that of `a` comes first
    near = np.flatnonzero((left < len(a)) & (right >= len(a)) & (lengths[left] == lengths[right]))
    left, right = left[near], right[near]
    size = lengths[left]
    for position in range(int(size.max(initial=0))):
        cell = both.items[np.minimum(both.offsets[left] + position, both.offsets[left + 1] - 1)]
        beside = both.items[np.minimum(both.offsets[right] + position, both.offsets[right + 1] - 1)]
        same = (cell == beside) | (position >= size)
        left, right, size = left[same], right[same], size[same]
    return left, right - len(a)


def _joined(a: ItemsetCollection, b: ItemsetCollection) -> ItemsetCollection:
    return ItemsetCollection(
        np.concatenate([a.offsets, b.offsets[1:] + a.offsets[-1]]),
        np.concatenate([a.items, b.items]),
        np.concatenate([a.supports, b.supports]),
    )

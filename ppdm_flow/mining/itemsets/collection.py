"""Many itemsets in three flat arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Items = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class ItemsetCollection:
    """Itemset s is ``items[offsets[s]:offsets[s + 1]]``, ascending, with support ``supports[s]``."""

    offsets: Counts
    items: Items
    supports: Counts

    def __len__(self) -> int:
        return len(self.supports)

    def __iter__(self) -> Iterator[tuple[tuple[int, ...], int]]:
        """Yield (items, support) as Python objects: for few itemsets."""
        for s, support in enumerate(self.supports.tolist()):
            yield tuple(self.items[self.offsets[s] : self.offsets[s + 1]].tolist()), support

    @property
    def lengths(self) -> Counts:
        """The number of items in each, shape (itemsets,)."""
        return np.diff(self.offsets)

    def take(self, chosen: Counts) -> ItemsetCollection:
        """Return the itemsets at these positions, in this order."""
        lengths = self.lengths[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        if len(chosen) and int(offsets[-1]):
            source = np.repeat(self.offsets[chosen] - offsets[:-1], lengths) + np.arange(offsets[-1])
        else:
            source = np.zeros(0, dtype=np.int64)
        return ItemsetCollection(offsets, self.items[source], self.supports[chosen])

    def of_length(self, least: int, most: int | None = None) -> ItemsetCollection:
        """Return those with at least ``least`` and at most ``most`` items."""
        lengths = self.lengths
        kept = lengths >= least if most is None else (lengths >= least) & (lengths <= most)
        return self if kept.all() else self.take(np.flatnonzero(kept))

    def lexicographic(self) -> Counts:
        """Return positions in lexicographic order, a set before its extensions. Linear: one stable sort a position."""
        order = np.arange(len(self), dtype=np.int64)
        lengths = self.lengths
        small = np.uint16 if self.items.max(initial=0) < 2**16 - 1 else np.uint32
        for position in reversed(range(int(lengths.max(initial=0)))):
            cell = np.zeros(len(self), dtype=small)
            long = lengths > position
            cell[long] = self.items[self.offsets[:-1][long] + position] + 1
            order = order[np.argsort(cell[order], kind="stable")]
        return order

    def in_candidate_order(self) -> ItemsetCollection:
        """Return them in standard candidate order: support descending, length descending, lexicographic.

        Vreeken, van Leeuwen, Siebes, "Krimp: mining itemsets that compress", DMKD 23 (2011), section 4.
        """
        order = self.lexicographic()
        order = order[np.argsort(-self.lengths[order], kind="stable")]
        return self.take(order[np.argsort(-self.supports[order], kind="stable")])

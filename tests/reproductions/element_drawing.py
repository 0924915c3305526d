"""Other ways to put a row together from elements of a code table than the one that ppdm_flow has.

``columns``: the next domain is the first, in the order of columns, that is not defined yet; ``backwards``: the last.
``any``: no domain is chosen; the next element is any that defines no domain that is defined already. All draw among
what fits by weight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.generation import GeneratedRows
from ppdm_flow.mining.itemsets.collection import ItemsetCollection
from ppdm_flow.sdk.compiled import compiled

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Items = npt.NDArray[np.int32]
Masks = npt.NDArray[np.uint64]

COLUMNS, BACKWARDS, ANY = "columns", "backwards", "any"
MOST_DOMAINS = 64


class Elements(NamedTuple):
    """Itemsets and, after them, every item: element e has ``items[offsets[e]:offsets[e + 1]]`` and a ``weight``.

    ``mask`` (elements,): the domains that it defines, as bits. The c-th choice is for domain ``turn[c]``, among the
    elements ``listed[begin[c]:begin[c + 1]]``, which define it; without ``turn`` there is one choice, among all.
    """

    offsets: Counts
    items: Items
    place: Items
    weight: Floats
    mask: Masks
    turn: Counts
    begin: Counts
    listed: Counts

    @classmethod
    def of(cls, itemsets: ItemsetCollection, weights: Floats, place: Items, order: str) -> Elements:
        """Take itemsets and singletons with their weights. Raises ValueError for weights not above 0."""
        domains = int(place.max()) + 1
        if domains > MOST_DOMAINS:
            raise ValueError(f"at most {MOST_DOMAINS} columns, got {domains}")
        if not (weights > 0).all():
            raise ValueError("every element must have a weight above 0")
        lengths = np.concatenate([itemsets.lengths, np.ones(len(place), dtype=np.int64)])
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        items = np.concatenate([itemsets.items, np.arange(len(place))]).astype(np.int32)
        mask = np.bitwise_or.reduceat(np.uint64(1) << place[items].astype(np.uint64), offsets[:-1])
        turns = {COLUMNS: range(domains), BACKWARDS: range(domains)[::-1], ANY: range(0)}
        if order not in turns:
            raise ValueError(f"unknown order {order!r}")
        turn = np.array(turns[order], dtype=np.int64)
        choices = [np.flatnonzero(mask >> np.uint64(d) & np.uint64(1)) for d in turn] or [np.arange(len(mask))]
        begin = np.cumsum([0, *map(len, choices)]).astype(np.int64)
        return cls(offsets, items, place.astype(np.int32), weights, mask, turn, begin, np.concatenate(choices))

    def generate_from(self, words: npt.NDArray[np.uint64]) -> GeneratedRows:
        """Generate a row from each row of ``words`` (rows, domains), independent and uniform on [0, 2^64)."""
        return self.generate((words >> np.uint64(11)).astype(np.float64) * 2.0**-53)

    def generate(self, uniform: Floats) -> GeneratedRows:
        """Generate a row from each row of ``uniform`` (rows, domains), independent and uniform on [0, 1)."""
        cells = np.full(uniform.shape, -1, dtype=np.int32)
        itemsets = np.zeros(len(uniform), dtype=np.int32)
        fill(self, uniform, cells, itemsets)
        return GeneratedRows(cells, itemsets)


@compiled
def fill(elements: Elements, uniform: Floats, cells: Items, itemsets: Items) -> None:
    """Write rows to ``cells`` (rows, domains) and how many elements each took to ``itemsets`` (rows,)."""
    offsets, items, place, weight, mask, turn, begin, listed = elements
    for row in range(len(cells)):
        defined, left, taken = np.uint64(0), cells.shape[1], 0
        while left:
            choice = 0
            while choice < len(turn) and cells[row, turn[choice]] >= 0:
                choice += 1
            total = 0.0
            for at in range(begin[choice], begin[choice + 1]):
                if not mask[listed[at]] & defined:
                    total += weight[listed[at]]
            x, chosen = uniform[row, taken] * total, -1
            for at in range(begin[choice], begin[choice + 1]):
                e = listed[at]
                if not mask[e] & defined:
                    chosen = e
                    x -= weight[e]
                    if x < 0.0:
                        break
            for i in range(offsets[chosen], offsets[chosen + 1]):
                cells[row, place[items[i]]] = items[i]
                left -= 1
            defined |= mask[chosen]
            taken += 1
        itemsets[row] = taken

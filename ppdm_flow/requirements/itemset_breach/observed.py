"""Original and released sets side by side: what stayed, what came in, and what is seen of the itemsets in question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from ppdm_flow.mining.transactions.counting.counting import support_counts
from ppdm_flow.mining.transactions.counting.vertical import BitColumns, columns, expand, item_counts
from ppdm_flow.mining.transactions.operators import TransactionOperator
from ppdm_flow.requirements.itemset_breach.material import BreachInput, plain
from ppdm_flow.tables.sets import Baskets, PackedSets, SeededSets, SetColumn
from ppdm_flow.tables.table import Table

Integers = npt.NDArray[np.int64]

QUANTILES = (0.001, 0.05, 0.25, 0.5, 0.75, 0.95, 0.999)
"""Where the numbers of items that came in are told apart."""


@dataclass(frozen=True, slots=True)
class WatchedItem:
    """An itemset A and an item z, by their places in the alphabet."""

    itemset: tuple[int, ...]
    item: int


@dataclass(slots=True, eq=False)
class ObservedPairs:
    """Sums over pairs of rows. The first axis is the length m of the original, in the order of ``sizes``.

    ``rows`` (sizes,); ``own``, ``kept``, ``there`` (sizes, alphabet): originals with an item, those of them that still
    have it, released ones with it; ``overlaps`` (sizes, longest + 1): rows by |t ∩ t'|; ``fewest``, ``most`` (sizes,):
    items that came in at least and at most; ``reached`` (sizes, edges): rows with at most ``edges`` of these; ``seen``,
    ``hits`` (watched, sizes): released sets with A, those of them of which the original has z. ``lengths_differ``: rows
    of which the published length is another than the original's.
    """

    sizes: tuple[int, ...]
    alphabet: int
    watched: Sequence[WatchedItem]
    edges: Integers
    exact: bool = True
    lengths_differ: int = 0
    rows: Integers = field(init=False)
    own: Integers = field(init=False)
    kept: Integers = field(init=False)
    there: Integers = field(init=False)
    overlaps: Integers = field(init=False)
    fewest: Integers = field(init=False)
    most: Integers = field(init=False)
    reached: Integers = field(init=False)
    seen: Integers = field(init=False)
    hits: Integers = field(init=False)

    def __post_init__(self) -> None:
        number = len(self.sizes)
        self.rows = np.zeros(number, dtype=np.int64)
        self.own, self.kept, self.there = (np.zeros((number, self.alphabet), dtype=np.int64) for _ in range(3))
        self.overlaps = np.zeros((number, max(self.sizes) + 1), dtype=np.int64)
        self.fewest = np.full(number, self.alphabet, dtype=np.int64)
        self.most = np.zeros(number, dtype=np.int64)
        self.reached = np.zeros_like(self.edges)
        self.seen, self.hits = (np.zeros((len(self.watched), number), dtype=np.int64) for _ in range(2))

    def look(self, before: Baskets, after: SetColumn) -> None:
        """Take in one partition: row i of both is one row."""
        differ = before.sizes != after.sizes
        if differ.any():
            self.lengths_differ += int(differ.sum())
            before, after = before.take(~differ), after.take(~differ)
        if not len(before):
            return
        self._watch(before, after)
        if isinstance(after, SeededSets):
            self.exact, after = False, expand(after)
        bits = after if isinstance(after, PackedSets) else PackedSets.of(after)
        place = np.searchsorted(np.array(self.sizes), before.sizes)
        self.rows += np.bincount(place, minlength=len(self.sizes))
        self._items(before, bits, place)

    def _items(self, before: Baskets, bits: PackedSets, place: Integers) -> None:
        row, item = before.rows(), before.items.astype(np.int64)
        stays = (bits.words[row, item >> 6] >> (item & 63).astype(np.uint64)) & np.uint64(1) == 1
        shape = (len(self.sizes), self.alphabet)
        cell = place[row] * self.alphabet + item
        self.own += np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
        self.kept += np.bincount(cell[stays], minlength=shape[0] * shape[1]).reshape(shape)
        sizes, counts = item_counts(bits)
        self.there[np.searchsorted(np.array(self.sizes), sizes)] += counts
        overlap = np.bincount(row[stays], minlength=len(before))
        wide = self.overlaps.shape[1]
        self.overlaps += np.bincount(place * wide + overlap, minlength=self.overlaps.size).reshape(self.overlaps.shape)
        came = np.bitwise_count(bits.words).sum(axis=1, dtype=np.int64) - overlap
        np.minimum.at(self.fewest, place, came)
        np.maximum.at(self.most, place, came)
        for edge in range(self.edges.shape[1]):
            self.reached[:, edge] += np.bincount(place[came <= self.edges[place, edge]], minlength=len(self.sizes))

    def _watch(self, before: Baskets, after: SetColumn) -> None:
        if not self.watched:
            return
        items = np.unique([i for w in self.watched for i in (*w.itemset, w.item)]).astype(np.int64)
        both = _both(columns(before, items), columns(after, items))
        into = np.searchsorted(np.array(self.sizes), both.sizes)
        for length in sorted({len(w.itemset) for w in self.watched}):
            which = [i for i, w in enumerate(self.watched) if len(w.itemset) == length]
            itemsets = np.array([self.watched[i].itemset for i in which], dtype=np.int64)
            lines = np.searchsorted(items, itemsets) + len(items)
            holds = np.searchsorted(items, [self.watched[i].item for i in which])
            at = np.ix_(np.array(which), into)
            self.seen[at] += support_counts(both, lines)
            self.hits[at] += support_counts(both, np.column_stack((lines, holds)))


def observed(material: BreachInput, watched: Sequence[WatchedItem]) -> ObservedPairs | None:
    """Look at all pairs once; None where rows cannot be matched."""
    if material.pairs is None:
        return None
    seen = ObservedPairs(material.operator.sizes, material.operator.alphabet, watched, edges_of(material.operator))
    for before, after in material.pairs.pairs([material.name], [material.column]):
        seen.look(_before(before, material), after.sets[material.column])
    return seen


def edges_of(operator: TransactionOperator) -> Integers:
    """Return quantiles of how many items come in, (sizes, edges)."""
    sizes = np.array(operator.sizes)
    chance = np.array([0.0 if operator.refills else operator.rho(m) for m in operator.sizes])
    quantiles = binom.ppf(np.array(QUANTILES)[None, :], (operator.alphabet - sizes)[:, None], chance[:, None])
    return np.asarray(quantiles, dtype=np.int64)


def _before(table: Table, material: BreachInput) -> Baskets:
    return plain(table, material.name).onto(material.alphabet)


def _both(before: BitColumns, after: BitColumns) -> BitColumns:
    """Return the bits of both, one under the other: lengths are the same, so that rows lie in the same places."""
    items = np.concatenate((before.items, after.items))
    return BitColumns(items, np.concatenate((before.words, after.words)), before.sizes, before.starts, before.rows)

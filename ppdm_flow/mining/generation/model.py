"""The generator: a code table with weights, from which rows are drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.generation.drawing import fill
from ppdm_flow.mining.generation.layout import DomainLayout, Floats, lay_out
from ppdm_flow.mining.itemsets.bits import Words, words_for
from ppdm_flow.mining.itemsets.collection import ItemsetCollection
from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.mining.krimp.code_table import CodeTable

LAPLACE = 0.001
"""The correction of the paper's experiments."""

Items = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class GeneratedRows:
    """``cells`` (rows, domains) int32: the item in each domain; ``itemsets`` (rows,) int32: elements that made each."""

    cells: Items
    itemsets: Items


@dataclass(frozen=True, slots=True, eq=False)
class RowGenerator:
    """A generator of rows over ``domains`` domains, from elements laid out with their weights. Picklable.

    To make a row, take the domains in random order; for the first that is not defined yet, choose among the elements
    that define it and none that is defined already, with probability proportional to usage + laplace; until all are
    (Vreeken, van Leeuwen, Siebes, ICDM 2007, algorithm 2).

    With a correction of 0, an element that covers nothing is chosen only where no other fits; all such ones are then
    equally likely. That is the limit of ever smaller corrections.
    """

    layout: DomainLayout
    domains: int

    @classmethod
    def of(
        cls, table: CodeTable, database: ItemDatabase, laplace: float = LAPLACE, factors: Floats | None = None
    ) -> RowGenerator:
        """Take all elements of ``table``, a code table of ``database``; ``laplace`` is added to the usage of each.

        Where ``factors`` (items,) are given, positive numbers, an element weighs as many times as much as the product
        of those of its items says. Raises ValueError for a negative or infinite correction, and for rows that lack an
        item in some domain.
        """
        usages = np.concatenate([table.usages, table.singles])
        return cls.of_elements(table.itemsets, usages, database, laplace, factors)

    @classmethod
    def independent(cls, database: ItemDatabase, laplace: float = LAPLACE) -> RowGenerator:
        """Take the singletons alone, with their supports: each domain is drawn by itself."""
        none = np.zeros(0, dtype=np.int64)
        sets = ItemsetCollection(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), none)
        return cls.of_elements(sets, database.supports, database, laplace)

    @classmethod
    def of_elements(
        cls,
        itemsets: ItemsetCollection,
        usages: npt.NDArray[np.int64],
        database: ItemDatabase,
        laplace: float = LAPLACE,
        factors: Floats | None = None,
    ) -> RowGenerator:
        """Take ``itemsets`` and, after them, every item of ``database``; ``usages`` are theirs, in that order."""
        if (database.cells < 0).any():
            raise ValueError("every row must have an item in each domain: the database is no table")
        singles = np.arange(database.items, dtype=np.int32)
        lengths = np.concatenate([itemsets.lengths, np.ones(len(singles), dtype=np.int64)])
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        items = np.concatenate([itemsets.items, singles]).astype(np.int32)
        return cls.of_weights(offsets, items, usages, database.place, database.cells.shape[1], laplace, factors)

    @classmethod
    def of_weights(
        cls,
        offsets: npt.NDArray[np.int64],
        items: Items,
        usages: npt.NDArray[np.int64] | Floats,
        place: Items,
        domains: int,
        laplace: float = LAPLACE,
        factors: Floats | None = None,
    ) -> RowGenerator:
        """Take flat itemsets with their ``usages``, every item by itself among them; ``place`` are items' domains."""
        if not (np.isfinite(laplace) and laplace >= 0):
            raise ValueError(f"the Laplace correction must be a finite number of at least 0, got {laplace!r}")
        weights = usages.astype(np.float64) + laplace
        if factors is not None:
            weights *= np.multiply.reduceat(factors[items], offsets[:-1])
        return cls(lay_out(offsets, items, place, weights, domains), domains)

    @property
    def draws_per_row(self) -> int:
        """How many words a row may need: one for each domain."""
        return self.domains

    def generate(self, words: Words) -> GeneratedRows:
        """Generate a row from each row of ``words`` (rows, draws_per_row), independent and uniform on [0, 2^64).

        A row depends on its own words alone.
        """
        rows = len(words)
        cells = np.empty((rows, self.domains), dtype=np.int32)
        itemsets = np.zeros(rows, dtype=np.int32)
        widest = int(np.diff(self.layout.begin).max(initial=1))
        defined = np.zeros(max(1, words_for(self.domains)), dtype=np.uint64)
        scratch = np.empty(widest), np.empty(widest, dtype=np.int64)
        fill(self.layout, np.ascontiguousarray(words), defined, *scratch, cells, itemsets)
        return GeneratedRows(cells, itemsets)

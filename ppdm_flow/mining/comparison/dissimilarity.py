"""Dissimilarity of two tables by their code tables, the search for these, and yardsticks for it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.bits import ABSENT
from ppdm_flow.mining.itemsets.collection import ItemsetCollection
from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.mining.itemsets.mine import MOST_SETS, mine
from ppdm_flow.mining.krimp.code_table import CodeTable
from ppdm_flow.mining.krimp.compress import cover, krimp, slim
from ppdm_flow.sdk.compiled import compiled

Counts = npt.NDArray[np.int64]

LAPLACE = 1.0

Cells = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

ALL, CLOSED, SLIM = "all", "closed", "slim"

EFFORT = 20_000_000
"""Rows times squared columns that SLIM compresses in three seconds or so, of weakly correlated columns."""


@dataclass(frozen=True, slots=True)
class Dissimilarity:
    """How much longer data become under the other's code table than under their own, relative to that.

    ``of_first`` is (L(x|CT_y) - L(x|CT_x)) / L(x|CT_x), ``of_second`` the same of y; either may lie below 0 where the
    other table has more data to be rich on. 0: equally well; 1: twice as long.
    """

    of_first: float
    of_second: float

    @property
    def value(self) -> float:
        """The larger one."""
        return max(self.of_first, self.of_second)


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """A database with the code table that was found on it, and the ``usages`` of all codes, those of items last."""

    database: ItemDatabase
    table: CodeTable

    @property
    def usages(self) -> Counts:
        """Usages in this database, shape (itemsets + items,)."""
        return np.concatenate([self.table.usages, self.table.singles])


def dissimilarity(x: Encoding, y: Encoding, laplace: float = LAPLACE) -> Dissimilarity:
    """Compare two databases over one alphabet (see :func:`ppdm_flow.mining.comparison.alphabet.united`).

    Each code table gets ``laplace`` added to the usage of every code, the items that do not occur included, so that it
    can encode the other's data. L is the size of the data alone, in bits: with a correction of 1 and a random half of
    the table as y this reading gives the column "orig internal" of Vreeken, van Leeuwen, Siebes, "Preserving privacy
    through data generation", ICDM 2007, table 1. Raises ValueError for unlike alphabets.
    """
    if x.database.items != y.database.items:
        raise ValueError("both databases must have equal alphabets")
    return Dissimilarity(_longer(x, y, laplace), _longer(y, x, laplace))


def _longer(x: Encoding, y: Encoding, laplace: float) -> float:
    own = length(x.usages, x.usages, laplace)
    other = length(_usages_under(x, y.table.itemsets), y.usages, laplace)
    return (other - own) / own if own else float(other > 0)


def _usages_under(x: Encoding, itemsets: ItemsetCollection) -> Counts:
    """Return the usages of all codes in x's rows when these are covered by ``itemsets``: known if they are its own."""
    if itemsets is x.table.itemsets:
        return x.usages
    foreign = cover(x.database, itemsets)
    return np.concatenate([foreign.usages, foreign.singles])


def length(usages: Counts, known: Counts, laplace: float) -> float:
    """Return the bits of data that use each code ``usages`` times, under the code lengths of ``known`` usages."""
    corrected = known + laplace
    used = usages > 0
    with np.errstate(divide="ignore"):
        bits = np.log2(corrected.sum()) - np.log2(corrected[used])
    return float(usages[used] @ bits)


def row_bits(cells: Cells, code_table: Encoding, laplace: float = LAPLACE) -> Floats:
    """Return the bits of each row, shape (rows,), under the Laplace-corrected code table; fewer: more likely.

    ``cells`` (rows, places) are items of the code table's alphabet; an absent one is negative.
    """
    corrected = code_table.usages + laplace
    with np.errstate(divide="ignore"):
        bits = np.log2(corrected.sum()) - np.log2(corrected)
    sets = code_table.table.itemsets
    lengths = np.zeros(len(cells))
    left = np.zeros(cells.shape[1], dtype=np.uint8)
    _row_bits(cells, code_table.database.place, sets.offsets, sets.items, bits, left, lengths)
    return lengths


def interval(x: Encoding, y: Encoding, laplace: float = LAPLACE, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of (L(x|CT_y) - L(x|CT_x)) / L(x|CT_x) where x is a sample of rows, the code tables given.

    A ratio of two sums over rows: its variance by linearization (Cochran, "Sampling techniques", 1977, section 6.4).
    """
    weights = x.database.weights.astype(np.float64)
    own, other = row_bits(x.database.cells, x, laplace), row_bits(x.database.cells, y, laplace)
    total = float(weights @ own)
    if not total:
        return 0.0, 0.0
    ratio = float(weights @ other) / total
    reach = NormalDist().inv_cdf(0.5 + level / 2) * math.sqrt(float(weights @ (other - ratio * own) ** 2)) / total
    return ratio - 1 - reach, ratio - 1 + reach


@compiled
def _row_bits(
    cells: Cells, place: Cells, offsets: Counts, items: Cells, bits: Floats, left: npt.NDArray[np.uint8], out: Floats
) -> None:
    """Cover each row by the itemsets in their order, and what is left by singletons."""
    sets = len(offsets) - 1
    for row in range(cells.shape[0]):
        total = 0.0
        for p in range(cells.shape[1]):
            left[p] = cells[row, p] >= 0
        for s in range(sets):
            fits = True
            for i in range(offsets[s], offsets[s + 1]):
                p = place[items[i]]
                if cells[row, p] != items[i] or left[p] == 0:
                    fits = False
                    break
            if fits:
                total += bits[s]
                for i in range(offsets[s], offsets[s + 1]):
                    left[place[items[i]]] = 0
        for p in range(cells.shape[1]):
            if left[p]:
                total += bits[sets + cells[row, p]]
        out[row] = total


def recounted(database: ItemDatabase, known: Encoding) -> Encoding:
    """Return ``database`` under the itemsets of another's code table, with its own usages of them.

    The dissimilarity of the two is free of chance in the search for a second code table: where supports tie, the same
    rows under other numbers of their items may have another code table, and be 0.2 apart by that alone.
    """
    found = cover(database, known.table.itemsets)
    return Encoding(database, replace(known.table, usages=found.usages, singles=found.singles))


def random_part(database: ItemDatabase, rows: int, rng: np.random.Generator) -> ItemDatabase:
    """Return ``rows`` of the database's rows, drawn without replacement, over the same alphabet.

    Raises ValueError for fewer than one row or more than there are.
    """
    if not 1 <= rows <= database.rows:
        raise ValueError(f"rows of a part must be from 1 to {database.rows}, got {rows}")
    weights = rng.multivariate_hypergeometric(database.weights, rows, method="marginals")
    drawn = weights > 0
    return ItemDatabase.of_cells(database.cells[drawn], database.place, weights[drawn])


def uncorrelated(database: ItemDatabase, rows: int, rng: np.random.Generator, laplace: float = 0.001) -> ItemDatabase:
    """Return ``rows`` new rows in which each place is drawn by itself: what singletons alone generate.

    Items have their support plus ``laplace`` as weight; items that do not occur are drawn as rarely as that says.
    """
    cells = np.full((rows, database.cells.shape[1]), ABSENT, dtype=np.int32)
    for place in range(cells.shape[1]):
        items = np.flatnonzero(database.place == place).astype(np.int32)
        weights = database.supports[items] + laplace
        absent = database.rows - int(database.supports[items].sum())
        shares = np.cumsum(np.append(weights, absent))
        drawn = np.searchsorted(shares, rng.random(rows) * shares[-1], side="right")
        cells[:, place] = np.append(items, np.int32(ABSENT))[np.minimum(drawn, len(items))]
    return ItemDatabase.of_cells(cells, database.place)


def affordable_rows(columns: int, most: int) -> int:
    """Return how many rows of so many columns SLIM compresses in seconds: at most ``most``, at least 200."""
    return min(most, max(200, EFFORT // max(1, columns) ** 2))


@dataclass(frozen=True, slots=True)
class CodeTableSearch:
    """How the code tables to compare are found.

    ``candidates``: ``all`` frequent itemsets, ``closed`` ones, or ``slim`` (found on the way).

    ``min_support`` is a count (int) or a share of the rows (float); ``most`` bounds the itemsets mined.
    """

    min_support: float = 1
    candidates: str = ALL
    pruning: bool = True
    most: int = MOST_SETS

    def encoded(self, database: ItemDatabase) -> Encoding:
        """Compress a database. Raises PluginError PPF775 or PPF776 for too many itemsets or items."""
        if self.candidates == SLIM:
            compression = slim(database, self.min_support, pruning=self.pruning)
        else:
            sets = mine(database, self.min_support, only_closed=self.candidates == CLOSED, most=self.most)
            compression = krimp(database, sets.in_candidate_order(), pruning=self.pruning)
        return Encoding(database, compression.table)

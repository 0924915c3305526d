"""How alike two tables are, by the code tables that compress them and by their frequent itemsets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.mining.itemsets.collection import ItemsetCollection
from ppdm_flow.mining.itemsets.database import ABSENT, ItemDatabase
from ppdm_flow.mining.itemsets.mine import MOST_SETS, mine
from ppdm_flow.mining.krimp.code_table import CodeTable
from ppdm_flow.mining.krimp.compress import cover, krimp, slim
from ppdm_flow.sdk.compiled import compiled
from ppdm_flow.tables.column import SPECIALS, Column, union
from ppdm_flow.tables.counts import Counts as TablesCounts

Counts = npt.NDArray[np.int64]

LAPLACE = 1.0

Cells = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

ALL, CLOSED, SLIM = "all", "closed", "slim"

EFFORT = 20_000_000
"""Rows times squared columns that SLIM compresses in three seconds or so, of weakly correlated columns."""
Positions = npt.NDArray[np.int64]


# Dissimilarity of two tables by their code tables, the search for these, and yardsticks for it.


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
    """Compare two databases over one alphabet (see :func:`ppdm_flow.mining.comparison.united`).

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
    own_cover = cover(database, known.table.itemsets)
    return Encoding(database, replace(known.table, usages=own_cover.usages, singles=own_cover.singles))


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
    """Options for finding the code tables to compare.

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


# Two collections of itemsets side by side: what both have, what only one has, how far supports moved.


_AT_ONCE = 1 << 24
"""Bits of rows that are looked at together: 128 MB as numbers."""


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


# Two tables over one alphabet: the same item is the same value of the same column in both.


@dataclass(frozen=True, slots=True, eq=False)
class UnitedTables:
    """``databases`` share their items. ``attribute`` and ``code`` (items,): the meaning of an item.

    Codes, special marks included, point into ``categories`` of the columns. Items are numbered by descending support
    in the first table that has them (then by column and code): those of the first are numbered as
    :func:`ppdm_flow.mining.itemsets.tabular.tabular` numbers them.
    """

    databases: tuple[ItemDatabase, ...]
    attribute: npt.NDArray[np.int32]
    code: npt.NDArray[np.int32]
    categories: tuple[pa.StringArray, ...]


def united(tables: Sequence[TablesCounts]) -> UnitedTables:
    """Turn the distinct rows of tables into databases over one alphabet; columns are matched by their place.

    Raises ValueError for no tables, one without rows, and unlike numbers of columns.
    """
    if not tables or len({len(t.columns) for t in tables}) != 1:
        raise ValueError("both tables must have the same columns")
    categories = tuple(union(t.categories[i] for t in tables) for i in range(len(tables[0].columns)))
    begin = np.concatenate([[0], np.cumsum([len(names) + SPECIALS for names in categories])]).astype(np.int64)
    dense = [_dense(t, categories, begin) for t in tables]
    supports = [_supports(d, t.counts, int(begin[-1])) for d, t in zip(dense, tables, strict=True)]
    order = _order(supports)
    number = np.full(int(begin[-1]), -1, dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    attribute = (np.searchsorted(begin, order, side="right") - 1).astype(np.int32)
    databases = tuple(ItemDatabase.of_cells(number[d], attribute, t.counts) for d, t in zip(dense, tables, strict=True))
    return UnitedTables(databases, attribute, (order - begin[attribute] - SPECIALS).astype(np.int32), categories)


def _dense(
    table: TablesCounts, categories: Sequence[pa.StringArray], begin: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Number the cells, special marks included, over all columns."""
    numbers = np.empty(table.codes.shape, dtype=np.int64)
    for i, names in enumerate(categories):
        codes = Column(np.ascontiguousarray(table.codes[:, i]), table.categories[i]).onto(names).codes
        numbers[:, i] = codes + SPECIALS + begin[i]
    return numbers


def _supports(dense: npt.NDArray[np.int64], weights: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    supports = np.zeros(size, dtype=np.int64)
    for column in dense.T:
        supports += np.bincount(column, weights, size).astype(np.int64)
    return supports


def _order(supports: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Return the items that occur: those of the first table by descending support, then the next one's own."""
    new = np.ones(len(supports[0]), dtype=np.bool_)
    order = []
    for support in supports:
        here = np.flatnonzero(new & (support > 0))
        order.append(here[np.argsort(-support[here], kind="stable")])
        new[here] = False
    return np.concatenate(order)

"""What the generator learns from, in the forms that its parts need, and the code table that it learns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.anonymizers.krimp_generator.cells import EmpiricalNumber, Maker, NumberGrid, Raw, UniformNumber, grid_of
from ppdm_flow.anonymizers.krimp_generator.spec import GeneratorParams, numeric
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.hierarchies.intervals import Intervals, decimals, written
from ppdm_flow.mining.hierarchies.ladder import labels
from ppdm_flow.mining.itemsets.collection import ItemsetCollection
from ppdm_flow.mining.itemsets.mine import mine
from ppdm_flow.mining.itemsets.tabular import Tabular, tabular
from ppdm_flow.mining.krimp.code_table import CodeTable, KrimpProgress
from ppdm_flow.mining.krimp.compress import krimp, slim
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import Counts, count, merge

_GATHER = 16

MOST_CANDIDATES = 20_000_000
Items = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

Cells = npt.NDArray[np.int32]
Weights = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class LearnedRows:
    """``rows`` are the distinct rows learned from, ``every`` those of the whole table, under the same codes.

    ``intervals`` are those of numeric attributes; ``coded`` are ``rows`` with intervals in place of numbers, and
    ``items`` the same as a database. ``removal`` are the correlations that are not to be learned.
    """

    rows: Counts
    every: Counts
    intervals: Mapping[str, PlacedColumn]
    coded: Counts
    items: Tabular
    removal: DependenceRemoval

    @property
    def every_coded(self) -> Counts | None:
        """All rows with intervals in place of numbers, where there are intervals."""
        return in_intervals(self.every, self.intervals) if self.intervals else None


def material(
    data: DataView, names: tuple[str, ...], params: GeneratorParams, holdout: Holdout | None, ctx: StepContext
) -> LearnedRows:
    """Count the rows. Raises PluginError where there are none, and where a number lies in no interval."""
    every = _weighty(data.counts(names))
    rows = every if holdout is None else _weighty(_onto(_without(data, names, holdout), every))
    if not len(rows):
        what = "all rows are held out" if len(every) else "no row reaches the step"
        raise PluginError(Diagnostic("PPF745", f"nothing to learn from: {what}"))
    known = {name: ctx.attributes[name] for name in names}
    intervals = {n: placed(facts, every.names(n)) for n, facts in known.items() if numeric(facts)}
    coded = in_intervals(rows, intervals)
    items = tabular(coded)
    return LearnedRows(
        rows, every, intervals, coded, items, removal(params.groups(known), names, coded.categories, items)
    )


def _weighty(counts: Counts) -> Counts:
    """Leave out rows of weight 0."""
    kept = counts.counts > 0
    return counts if kept.all() else Counts(counts.columns, counts.categories, counts.codes[kept], counts.counts[kept])


def _without(data: DataView, names: tuple[str, ...], holdout: Holdout) -> Counts:
    weight = data.schema.weight
    parts: list[Counts] = []
    for part in data.partitions(names if weight is None else (*names, weight)):
        parts.append(count(part.take(~holdout.held_out(part.rows)), names, weight))
        if len(parts) >= _GATHER:
            parts = [merge(parts)]
    return merge(parts)


def _onto(rows: Counts, every: Counts) -> Counts:
    """Return ``rows`` with the categories of ``every``, which has all of theirs."""
    columns = [
        Column(rows.codes[:, i], own).onto(all_values)
        for i, (own, all_values) in enumerate(zip(rows.categories, every.categories, strict=True))
    ]
    return Counts(rows.columns, every.categories, np.stack([c.codes for c in columns], axis=1), rows.counts)


@dataclass(frozen=True, slots=True)
class LearnedTable:
    """From candidates to the code table.

    ``candidates`` were considered (SLIM: unions tried), ``removed`` ones filtered out before that.
    """

    table: CodeTable
    candidates: int
    removed: int


def learn(given: LearnedRows, least: int, params: GeneratorParams, ctx: StepContext) -> LearnedTable:
    """Compress. Raises PluginError PPF775 or PPF776 where there is too much to look through."""

    def watch(progress: KrimpProgress) -> bool:
        if ctx.progress is not None:
            ctx.progress(progress.position, progress.candidates)
        return True

    database = given.items.database
    if params.algorithm == "slim":
        compression = slim(database, least, pruning=params.pruning, watch=watch)
        return LearnedTable(compression.table, compression.position, 0)
    mined = mine(database, least, only_closed=params.closed, most=MOST_CANDIDATES).of_length(2)
    kept = mined.take(np.flatnonzero(~given.removal.hit(mined))) if given.removal.groups else mined
    compression = krimp(database, kept.in_candidate_order(), pruning=params.pruning, watch=watch)
    return LearnedTable(compression.table, len(kept), len(mined) - len(kept))


# Numeric attributes in the intervals that the policy declares.


@dataclass(frozen=True, slots=True, eq=False)
class PlacedColumn:
    """The values of a column in intervals: ``names`` of all intervals, and the one (values,) of each value."""

    facts: AttributeFacts
    values: tuple[str, ...]
    numbers: tuple[Decimal, ...]
    names: tuple[str, ...]
    interval: Items

    @property
    def edges(self) -> tuple[Decimal, ...]:
        """The ends of intervals, ascending."""
        assert self.facts.hierarchy is not None  # noqa: S101 - see `numeric`
        return tuple(Decimal(repr(float(e))) for e in self.facts.hierarchy.intervals or ())


def placed(facts: AttributeFacts, categories: pa.StringArray) -> PlacedColumn:
    """Put every value into its interval. Raises PluginError, naming the column, where one lies in none."""
    values = tuple(categories.to_pylist())
    way = Intervals(facts.hierarchy.intervals or () if facts.hierarchy else ())
    names = _names(way)
    place = {name: i for i, name in enumerate(names)}
    labelled = labels(facts.name, values, way)
    return PlacedColumn(
        facts,
        values,
        tuple(decimals(values)),
        names,
        np.array([place[label] for label in labelled], dtype=np.int32),
    )


def in_intervals(rows: Counts, columns: Mapping[str, PlacedColumn]) -> Counts:
    """Return the rows with intervals in place of numbers; rows that are equal then are not added up."""
    codes, categories = rows.codes.copy(), list(rows.categories)
    for name, column in columns.items():
        place = rows.place(name)
        codes[:, place] = Column(rows.of(name), rows.names(name)).mapped(column.interval, rows.names(name)).codes
        categories[place] = pa.array(column.names, pa.string())
    return Counts(rows.columns, tuple(categories), codes, rows.counts)


def empirical(column: PlacedColumn, categories: pa.StringArray, counts: Raw) -> Maker:
    """Draw from the values of each interval by their ``counts`` (values,)."""
    order = np.argsort(column.interval, kind="stable")
    reach = np.cumsum(counts[order])
    begin = np.searchsorted(column.interval[order], np.arange(len(column.names) + 1))
    before = np.concatenate([[0], reach])[begin]
    return EmpiricalNumber(categories, order.astype(np.int64), reach, before)


def uniform(column: PlacedColumn) -> Maker:
    """Draw from all numbers of each interval. Raises PluginError where one that is in use has none."""
    edges = column.edges
    grid = grid_of(
        column.values, column.numbers, (edges[0], edges[-1]), integers=column.facts.type is AttributeType.INTEGER
    )
    ends = np.array([grid.at_or_above(edge) for edge in edges], dtype=np.int64)
    size = np.diff(ends)
    if (size[column.interval] < 1).any():
        text = f"an interval of the column `{column.facts.name}` has values, and no number that could be drawn"
        raise PluginError(Diagnostic("PPF789", text))
    known, code = _known(column, grid)
    return UniformNumber(grid, ends[:-1], size, known, code)


def _known(column: PlacedColumn, grid: NumberGrid) -> tuple[Raw, Raw]:
    """Return the grid numbers of those values that the grid writes as they are written, and their codes."""
    numbers = [grid.number(n) for n in column.numbers]
    on = np.array([i for i, n in enumerate(numbers) if n is not None], dtype=np.int64)
    at = np.array([n for n in numbers if n is not None], dtype=np.int64)
    alike = np.array([t == column.values[i] for t, i in zip(grid.texts(at).to_pylist(), on, strict=True)], dtype=bool)
    on, at = on[alike], at[alike]
    order = np.argsort(at)
    return at[order], on[order]


def _names(way: Intervals) -> tuple[str, ...]:
    edges: Sequence[str] = [written(e) for e in way.edges]
    return tuple(f"[{a}, {b})" for a, b in pairwise(edges))


# Correlations that the model must not have, and the dependence that is left after their removal.
#
# Vreeken, van Leeuwen, Siebes, ICDM 2007, section 6. Two named values then never come from one element. What can still
# connect them is which elements fit beside each other: `dependence` measures it.


NOTABLE = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class DependenceRemoval:
    """``groups`` are masks over items, each (items,); ``absent`` counts named values that the data do not have."""

    groups: tuple[Bools, ...]
    absent: int

    def hit(self, itemsets: ItemsetCollection) -> Bools:
        """Return which itemsets have two items or more of one group, shape (itemsets,)."""
        hits = np.zeros(len(itemsets), dtype=bool)
        for group in self.groups:
            sums = np.concatenate([[0], np.cumsum(group[itemsets.items])])
            hits |= np.diff(sums[itemsets.offsets]) > 1
        return hits


def removal(
    groups: tuple[tuple[tuple[str, tuple[str, ...] | None], ...], ...],
    columns: tuple[str, ...],
    categories: tuple[pa.StringArray, ...],
    tabular: Tabular,
) -> DependenceRemoval:
    """Turn names into items."""
    masks, absent = [], 0
    for group in groups:
        mask = np.zeros(tabular.database.items, dtype=bool)
        for name, values in group:
            place = columns.index(name)
            here = tabular.attribute == place
            if values is None:
                mask |= here
                continue
            codes = [categories[place].index(pa.scalar(v, pa.string())).as_py() for v in values]
            known = np.isin(tabular.code, [c for c in codes if c >= 0]) & here
            absent += len(values) - int(known.sum())
            mask |= known
        masks.append(mask)
    return DependenceRemoval(tuple(masks), absent)


@dataclass(frozen=True, slots=True)
class LargestDependence:
    """The largest Cramér's V between two attributes of one group, in the original and in a sample of drafts."""

    before: float
    after: float


def dependence(removal: DependenceRemoval, tabular: Tabular, drafts: Cells) -> LargestDependence:
    """Look at all pairs of attributes within the groups; ``drafts`` (rows, attributes) are items.

    Values that a group does not name count as one.
    """
    database = tabular.database
    ones = np.ones(len(drafts), dtype=np.int64)
    before, after = 0.0, 0.0
    for group in removal.groups:
        places = np.unique(tabular.attribute[group]).tolist()
        for pair in combinations(places, 2):
            before = max(before, _of_pair(group, pair, database.cells, database.weights))
            after = max(after, _of_pair(group, pair, drafts, ones))
    return LargestDependence(before, after)


def _of_pair(group: npt.NDArray[np.bool_], pair: tuple[int, int], cells: Cells, weights: Weights) -> float:
    one, other = (np.where(group[cells[:, p]], cells[:, p], -1) for p in pair)
    return cramers_v(one, other, weights)


def cramers_v(one: npt.NDArray[np.integer], other: npt.NDArray[np.integer], weights: Weights) -> float:
    """Return Cramér's V with Bergsma's correction of its bias (J. Korean Stat. Soc. 42, 2013), in [0, 1]."""
    _, rows = np.unique(one, return_inverse=True)
    _, columns = np.unique(other, return_inverse=True)
    height, width = int(rows.max()) + 1, int(columns.max()) + 1
    total = int(weights.sum())
    if min(height, width) < 2 or total < 2:
        return 0.0
    cells, place = np.unique(rows.astype(np.int64) * width + columns, return_inverse=True)
    joint = np.bincount(place, weights)
    expected = np.bincount(rows, weights)[cells // width] * np.bincount(columns, weights)[cells % width]
    phi = float((joint**2 / expected).sum()) - 1
    phi = max(0.0, phi - (height - 1) * (width - 1) / (total - 1))
    least = min(k - (k - 1) ** 2 / (total - 1) for k in (height, width)) - 1
    return min(1.0, (phi / least) ** 0.5) if least > 0 else 0.0

"""Numeric attributes in the intervals that the policy declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.anonymizers.krimp_generator.cells import EmpiricalNumber, Maker, Raw, UniformNumber
from ppdm_flow.anonymizers.krimp_generator.grid import NumberGrid, grid_of
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.hierarchies.intervals import Intervals, decimals, written
from ppdm_flow.mining.hierarchies.ladder import labels
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import Counts

Items = npt.NDArray[np.int32]


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

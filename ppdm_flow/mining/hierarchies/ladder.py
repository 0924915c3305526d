"""One form for every hierarchy that a policy may declare: a ladder of coarser and coarser maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.core.attributes import HierarchySpec
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.hierarchies.coarsening import Coarsening
from ppdm_flow.mining.hierarchies.hierarchy import Everything, Lines, at_level, height, read_csv
from ppdm_flow.mining.hierarchies.intervals import Intervals, joined
from ppdm_flow.mining.hierarchies.orders import ordered
from ppdm_flow.mining.hierarchies.texts import DatePart, Prefix


@dataclass(frozen=True, slots=True)
class Ladder:
    """``rungs[l - 1]`` maps values to their labels on level l; level 0 are the values themselves.

    ``leaves`` are all values, where the hierarchy lists them: then its own last level is its top. Otherwise one label
    for everything stands above the last rung.
    """

    rungs: tuple[Coarsening, ...]
    leaves: tuple[str, ...] | None = None

    @property
    def height(self) -> int:
        """How many levels there are above the values."""
        return len(self.rungs) + (self.leaves is None)

    def at(self, level: int, column: str) -> Coarsening | None:
        """Return the map to a level, None for level 0. Raises PluginError for a level that there is not."""
        if level > self.height:
            text = f"the hierarchy of `{column}` has {self.height} levels above the values; level {level} was asked for"
            raise PluginError(Diagnostic("PPF788", text))
        return None if level == 0 else (*self.rungs, Everything())[level - 1]


def ladder(column: str, own: HierarchySpec, home: Path) -> Ladder:
    """Return the ladder of an attribute's hierarchy. Raises PluginError where a file cannot be used."""
    if own.intervals is not None:
        return Ladder(_intervals(own.intervals, own.then, own.open_ends))
    if own.prefix is not None:
        return Ladder(tuple(Prefix(length, own.mask) for length in own.prefix))
    if own.date is not None:
        return Ladder(tuple(DatePart(unit, own.format) for unit in own.date))
    return listed(column, lines_of(column, own, home))


def listed(column: str, lines: Lines) -> Ladder:
    """Return the ladder of a hierarchy that gives every value's ancestors."""
    every = range(1, height(lines) + 1)
    return Ladder(tuple(at_level(lines, level, column) for level in every), tuple(lines))


def lines_of(column: str, own: HierarchySpec, home: Path) -> Lines:
    """Return every value with its ancestors. Raises PluginError where a file cannot be used."""
    if own.order is not None:
        return ordered(own.order, own.then)
    return dict(own.levels) if own.levels is not None else read_csv(home / (own.csv or ""), own.delimiter, column)


def _intervals(edges: Sequence[float], then: Sequence[int], open_ends: str) -> tuple[Coarsening, ...]:
    found = [Intervals(tuple(edges), open_ends)]
    for together in then:
        found.append(Intervals(joined(found[-1].edges, together), open_ends))
    return tuple(found)

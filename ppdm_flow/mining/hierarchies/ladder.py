"""One form for every hierarchy that a policy may declare: a ladder of coarser and coarser maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.core.attributes import HierarchySpec
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.hierarchies.coarsening import Coarsening, UnplacedError
from ppdm_flow.mining.hierarchies.hierarchy import Lines, TopLevel, at_level, height, read_csv
from ppdm_flow.mining.hierarchies.intervals import Intervals, joined
from ppdm_flow.mining.hierarchies.texts import DatePart, Prefix


def ordered(values: Sequence[str], then: Sequence[int]) -> Lines:
    """Return the ancestors of ordered values: on each level so many neighbours of the one below are one.

    The last group of a level is what is left. Everything together is ``*``.

    >>> ordered(["none", "mild", "strong"], [2])["mild"]
    ('none to mild', '*')
    """
    above: dict[str, list[str]] = {value: [] for value in values}
    size = 1
    for together in then:
        size *= together
        if size >= len(values):
            break
        for start in range(0, len(values), size):
            group = values[start : start + size]
            for value in group:
                above[value].append(group[0] if len(group) == 1 else f"{group[0]} to {group[-1]}")
    return {value: (*labels, "*") for value, labels in above.items()}


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
        return None if level == 0 else (*self.rungs, TopLevel())[level - 1]


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
    rungs = [Intervals(tuple(edges), open_ends)]
    for together in then:
        rungs.append(Intervals(joined(rungs[-1].edges, together), open_ends))
    return tuple(rungs)


def ancestors(column: str, own: HierarchySpec, values: Sequence[str], home: Path) -> list[tuple[str, ...]]:
    """Return the ancestors of each value, nearest first, without a level on which all have the same.

    Such a top says no more than a suppressed cell. Raises PluginError where a value has no place in the hierarchy.
    """
    steps = ladder(column, own, home)
    every = [labels(column, values, rung) for rung in steps.rungs]
    if steps.leaves is None:
        telling = max((i for i, level in enumerate(every) if len(set(level)) > 1), default=0) + 1
    else:
        telling = _telling(column, steps)
    return list(zip(*every[:telling], strict=True)) if telling else [()] * len(values)


def settled(way: Coarsening, values: Sequence[str]) -> Coarsening:
    """Return a way to generalize that labels parts of these values as it labels all of them together."""
    return way.over(values) if isinstance(way, Prefix) else way


def labels(column: str, values: Sequence[str], way: Coarsening) -> list[str]:
    """Return the label of each value. Raises PluginError, naming the column, where some have none."""
    try:
        return way.labels(values)
    except UnplacedError as fault:
        text = f"{fault.values} of {len(values)} distinct values of the column `{column}` {fault.what}"
        raise PluginError(Diagnostic(fault.code, text, help=fault.advice or None)) from None


def _telling(column: str, steps: Ladder) -> int:
    """How many levels above the values tell some of all that the hierarchy lists apart."""
    every = [len(set(labels(column, steps.leaves or (), rung))) for rung in steps.rungs]
    while every and every[-1] == 1:
        every.pop()
    return len(every)

"""Generalization hierarchies from data: made, and held against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.api.hierarchy.ways import HierarchyColumn, HierarchyMethod, column, lines, reason
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.mining.hierarchies.building import HierarchyCheck, by_number_or_rows, checked, written
from ppdm_flow.mining.hierarchies.ladder import FullHierarchy, Lines, read_csv, refuse_lies


@dataclass(frozen=True, slots=True)
class MadeHierarchy:
    """``lines``: each value with its ancestors, nearest first. ``reason`` says, in counts, what was put together."""

    lines: Lines
    reason: str
    delimiter: str

    def document(self) -> str:
        """Return the file: the value first, ``*`` last, no header."""
        return written(self.lines, self.delimiter)


def hierarchy(
    data: Path,
    attribute: str,
    way: HierarchyMethod,
    *,
    policy: Path | None = None,
    sets: Mapping[str, str] | None = None,
    delimiter: str = ";",
) -> MadeHierarchy:
    """Make a hierarchy of the values that a column of ``data`` has. ``policy`` says how to read it.

    Raises UsageError where the way lacks something, DataError or PluginError where values do not fit it.
    """
    _one_character(delimiter)
    values = column(data, attribute, policy, sets or {})
    made = lines(way, values)
    _refuse(values, made)
    return MadeHierarchy(made, reason(way, values, made), delimiter)


@dataclass(frozen=True, slots=True)
class ValueCounts:
    """``counts``: the rows of each value; by number where all values are numbers, else the most frequent first."""

    counts: Mapping[str, int]
    delimiter: str

    def document(self) -> str:
        """Return the table: a value and its rows on each line, no header."""
        return written({value: (str(rows),) for value, rows in self.counts.items()}, self.delimiter)


def count_values(
    data: Path,
    attribute: str,
    *,
    policy: Path | None = None,
    sets: Mapping[str, str] | None = None,
    delimiter: str = ";",
) -> ValueCounts:
    """Count the rows of each value that a column of ``data`` has. ``policy`` says how to read it.

    Raises UsageError where the column is not there or has no values, DataError where the data cannot be read.
    """
    _one_character(delimiter)
    counts = column(data, attribute, policy, sets or {}).counts
    return ValueCounts({value: counts[value] for value in by_number_or_rows(counts)}, delimiter)


def check_hierarchy(
    file: Path,
    data: Path,
    attribute: str,
    *,
    policy: Path | None = None,
    sets: Mapping[str, str] | None = None,
    delimiter: str = ";",
) -> HierarchyCheck:
    """Hold a hierarchy file against a column: coverage, and whether each level is a coarsening; counts only."""
    _one_character(delimiter)
    return checked(read_csv(file, delimiter, attribute), column(data, attribute, policy, sets or {}).counts)


def _refuse(values: HierarchyColumn, made: Lines) -> None:
    levels = [tuple(made), *(tuple(level) for level in zip(*made.values(), strict=True))]
    refuse_lies(values.name, FullHierarchy(tuple(levels)))


def _one_character(delimiter: str) -> None:
    if len(delimiter) != 1:
        raise UsageError(Diagnostic("PPF120", "`--delimiter` is one character"))

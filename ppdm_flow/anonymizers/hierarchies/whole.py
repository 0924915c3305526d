"""A whole hierarchy: every leaf, those that the data lack included, with its label at every level up to one for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.anonymizers.hierarchies.ancestors import labels
from ppdm_flow.anonymizers.hierarchies.hierarchy import Lines, at_level, read_csv
from ppdm_flow.anonymizers.hierarchies.intervals import Intervals
from ppdm_flow.core.attributes import HierarchySpec

ANYTHING = "*"
"""The label that stands for every value, where a hierarchy has no such label of its own."""


@dataclass(frozen=True, slots=True)
class Whole:
    """``levels[l]`` are the labels of all leaves at level l: the leaves themselves first, one label for all last."""

    levels: tuple[tuple[str, ...], ...]

    @property
    def leaves(self) -> tuple[str, ...]:
        """The leaves."""
        return self.levels[0]


def whole(column: str, own: HierarchySpec | None, values: Sequence[str], home: Path) -> Whole:
    """Return the hierarchy of an attribute; without one its values have nothing above them but one label for all.

    Raises PluginError where a value has no place in it.
    """
    if own is None:
        return _topped([tuple(values)])
    if own.intervals is not None:
        return _topped([tuple(values), tuple(labels(column, values, Intervals(own.intervals)))])
    lines: Lines = (
        dict(own.levels) if own.levels is not None else read_csv(home / (own.csv or ""), own.delimiter, column)
    )
    labels(column, values, at_level(lines, 0, column))
    height = min((len(above) for above in lines.values()), default=0)
    leaves = tuple(lines)
    return _topped([tuple(labels(column, leaves, at_level(lines, level, column))) for level in range(height + 1)])


def _topped(levels: list[tuple[str, ...]]) -> Whole:
    """End with one label for all."""
    single = [i for i, level in enumerate(levels) if len(set(level)) <= 1]
    if single:
        return Whole(tuple(levels[: single[0] + 1]))
    return Whole((*levels, (ANYTHING,) * len(levels[0])))

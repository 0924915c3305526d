"""A whole hierarchy: every leaf, those that the data lack included, with its label at every level up to one for all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.core.attributes import HierarchySpec
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.hierarchies.intervals import Intervals
from ppdm_flow.mining.hierarchies.ladder import labels, ladder

ANYTHING = "*"
"""The label that stands for every value, where a hierarchy has no such label of its own."""

Labels = tuple[str, ...]
Spans = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FullHierarchy:
    """``levels[l]`` are the labels of all leaves at level l: the leaves themselves first, one label for all last.

    ``spans[l]`` says how many values of the domain each leaf's label covers, where intervals of whole numbers cover
    more than the leaves; empty: as many as there are leaves below it.
    """

    levels: tuple[Labels, ...]
    spans: tuple[Spans, ...] = ()

    @property
    def leaves(self) -> Labels:
        """The leaves."""
        return self.levels[0]

    @property
    def top(self) -> int:
        """The highest level."""
        return len(self.levels) - 1


def full_hierarchy(column: str, own: HierarchySpec | None, values: Sequence[str], home: Path) -> FullHierarchy:
    """Return the hierarchy of an attribute; without one its values have nothing above them but one label for all.

    Raises PluginError where a value has no place in it, or where a label is spelled like a value that it is not of.
    """
    if own is None:
        return _topped([tuple(values)])
    steps = ladder(column, own, home)
    leaves = tuple(values) if steps.leaves is None else steps.leaves
    if steps.leaves is not None:
        _refuse_absent(column, values, steps.leaves)
    levels = _topped([leaves, *(tuple(labels(column, leaves, rung)) for rung in steps.rungs)])
    refuse_lies(column, levels)
    if own.intervals is None or own.open_ends != "none" or not own.numeric:
        return levels
    return FullHierarchy(levels.levels, _spans(levels, [r for r in steps.rungs if isinstance(r, Intervals)]))


def refuse_lies(column: str, hierarchy: FullHierarchy) -> None:
    """Raise PluginError for labels that are values themselves, of which they do not tell: flu for HIV, HIV for flu."""
    for level in hierarchy.levels[1:]:
        many = lies(hierarchy.leaves, level)
        if many:
            text = f"{many} labels of the column `{column}` are spelled like one of its values, which has another label"
            raise PluginError(
                Diagnostic("PPF788", text, help="a label stands for all values below it, itself included")
            )


def lies(leaves: Sequence[str], level: Sequence[str]) -> int:
    """Count the labels of a level that are spelled like a leaf with another label."""
    own = dict(zip(leaves, level, strict=True))
    return sum(own.get(label, label) != label for label in set(level))


def _refuse_absent(column: str, values: Sequence[str], leaves: Labels) -> None:
    absent = len(set(values) - set(leaves))
    if absent:
        text = f"{absent} of {len(values)} distinct values of the column `{column}` do not stand in the hierarchy"
        raise PluginError(Diagnostic("PPF789", text, help="add them to it, leaf first"))


def _spans(levels: FullHierarchy, rungs: Sequence[Intervals]) -> tuple[Spans, ...]:
    """Count the whole numbers in each interval."""
    last = len(levels.levels) - 1
    whole_domain = _covered(rungs[0].edges[0], rungs[0].edges[-1])
    spans: list[Spans] = [(1,) * len(levels.leaves)]
    for level in range(1, last):
        edges = rungs[level - 1].edges
        names = rungs[level - 1].names()[1:-1]
        width = {n: _covered(a, b) for n, a, b in zip(names, edges, edges[1:], strict=False)}
        spans.append(tuple(width[label] for label in levels.levels[level]))
    return (*spans, (whole_domain,) * len(levels.leaves)) if last else tuple(spans)


def _covered(low: float, high: float) -> int:
    """How many whole numbers lie in [low, high)."""
    return max(1, math.ceil(high) - math.ceil(low))


def _topped(levels: list[Labels]) -> FullHierarchy:
    """End with one label for all."""
    single = [i for i, level in enumerate(levels) if len(set(level)) <= 1]
    if single:
        return FullHierarchy(tuple(levels[: single[0] + 1]))
    return FullHierarchy((*levels, (ANYTHING,) * len(levels[0])))

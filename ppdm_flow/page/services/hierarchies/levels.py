"""Levels of intervals with the rows in each, and what lies outside of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from ppdm_flow.mining.hierarchies.intervals import Intervals, joined
from ppdm_flow.page.services.hierarchies.spread import CumulativeCounts


@dataclass(frozen=True, slots=True)
class Interval:
    """One interval by its label; ``rows`` is None where nothing is known of any data."""

    label: str
    rows: int | None


@dataclass(frozen=True, slots=True)
class IntervalLevels:
    """``levels`` from the finest up; ``outside`` rows lie in no interval."""

    levels: tuple[tuple[Interval, ...], ...]
    outside: int | None

    @property
    def fewest(self) -> int | None:
        """The rows of the emptiest interval of the first level."""
        return min((each.rows for each in self.levels[0] if each.rows is not None), default=None)


def interval_levels(
    edges: Sequence[float], then: Sequence[int], open_ends: str, spread: CumulativeCounts | None
) -> IntervalLevels:
    """Return the levels of a hierarchy of intervals, as the policy language has them."""
    every = [tuple(edges)]
    for together in then:
        every.append(joined(every[-1], together))
    outside = None if spread is None else _outside(edges, open_ends, spread)
    return IntervalLevels(tuple(_level(each, open_ends, spread) for each in every), outside)


def _level(edges: tuple[float, ...], open_ends: str, spread: CumulativeCounts | None) -> tuple[Interval, ...]:
    names = Intervals(edges, open_ends).names()
    if spread is None:
        return tuple(Interval(name, None) for name in names if name is not None)
    below = [0, *(spread.below(_exact(edge)) for edge in edges), spread.rows]
    rows = [high - low for low, high in pairwise(below)]
    return tuple(Interval(name, many) for name, many in zip(names, rows, strict=True) if name is not None)


def _outside(edges: Sequence[float], open_ends: str, spread: CumulativeCounts) -> int:
    below = 0 if open_ends in ("below", "both") else spread.below(_exact(edges[0]))
    above = 0 if open_ends in ("above", "both") else spread.rows - spread.below(_exact(edges[-1]))
    return below + above


def _exact(edge: float) -> Decimal:
    return Decimal(repr(edge))

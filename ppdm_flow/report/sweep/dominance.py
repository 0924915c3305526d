"""Which of several points are worth having: those that no other beats in one figure without losing in another."""

from __future__ import annotations

from collections.abc import Sequence

Figures = Sequence[float | None]


def dominators(points: Sequence[Figures], smaller_is_better: Sequence[bool]) -> tuple[int | None, ...]:
    """Return for each point the place of one that dominates it and is itself dominated by none; None where none does.

    A point dominates another if it is at least as good in every figure and better in one. Equal points dominate
    neither each other nor themselves. A point that lacks a figure takes no part: it dominates nothing, nothing it.

    Parameters
    ----------
    points
        n points of m figures each.
    smaller_is_better
        m flags, one for each figure.

    >>> dominators([(1.0, 5.0), (2.0, 6.0), (0.0, 7.0)], (True, True))
    (None, 0, None)
    """
    costs = {i: cost for i, point in enumerate(points) if (cost := _costs(point, smaller_is_better)) is not None}
    dominator_of: list[int | None] = [None] * len(points)
    frontier: list[int] = []
    for i in sorted(costs, key=lambda i: (costs[i], i)):  # whatever dominates a point stands before it
        dominator_of[i] = next((j for j in frontier if costs[j] != costs[i] and _no_worse(costs[j], costs[i])), None)
        if dominator_of[i] is None:
            frontier.append(i)
    return tuple(dominator_of)


def complete(point: Figures) -> bool:
    """Whether the point has every figure, so that it can be compared."""
    return all(value is not None for value in point)


def _costs(point: Figures, smaller_is_better: Sequence[bool]) -> tuple[float, ...] | None:
    costs = []
    for value, small in zip(point, smaller_is_better, strict=True):
        if value is None:
            return None
        costs.append(value if small else -value)
    return tuple(costs)


def _no_worse(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))

"""Where tails begin, how many rows they have, and what they become."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.moments.exact_sum import ExactSum
from ppdm_flow.mining.moments.moments import Weights

Numbers = npt.NDArray[Any]
Cells = Callable[[], Iterable[tuple[Numbers, Weights | None]]]


@dataclass(frozen=True, slots=True)
class Tail:
    """The numbers above ``bound`` (below it, unless ``upper``): their ``rows`` and their exact ``total``."""

    bound: Any
    upper: bool
    rows: int
    total: Fraction

    def holds(self, values: Numbers) -> npt.NDArray[np.bool_]:
        """Return a mask of the numbers that lie in the tail."""
        mask: npt.NDArray[np.bool_] = values > self.bound if self.upper else values < self.bound
        return mask

    def mean(self, *, whole: bool) -> Any:
        """Return the mean, rounded to a whole number (halves to even) or to the nearest double."""
        exact = self.total / self.rows
        return round(exact) if whole else float(exact)


def tail_of(cells: Cells, bound: Any, *, upper: bool) -> Tail:
    """Return a tail, counted and added up."""
    rows, total = 0, ExactSum()
    empty = Tail(bound, upper, 0, Fraction(0))
    for values, weights in cells():
        inside = empty.holds(values)
        chosen = values[inside]
        if weights is None:
            rows += len(chosen)
            total.add(chosen)
        else:
            rows += int(weights[inside].sum())
            total.add(chosen * weights[inside])
    return Tail(bound, upper, rows, total.value)


def quantile(cells: Cells, share: float, *, upper: bool) -> Any | None:
    """Return the bound of a tail; None where there is no number.

    For the upper tail the least number that occurs such that at least ``share`` of the rows have it or less; for the
    lower one the largest such that at least 1 - ``share`` of the rows have it or more. So at most 1 - ``share`` of the
    rows lie above the upper, at most ``share`` below the lower bound.
    """
    every = list(cells())
    values = np.concatenate([v for v, _ in every]) if every else np.zeros(0)
    if not len(values):
        return None
    weighted = [w for _, w in every if w is not None]
    weights = np.concatenate(weighted) if weighted else np.ones(len(values), dtype=np.int64)
    order = np.argsort(values, kind="stable") if upper else np.argsort(values, kind="stable")[::-1]
    reached = np.cumsum(weights[order])
    needed = Fraction(repr(share)) if upper else 1 - Fraction(repr(share))
    least = -(-needed.numerator * int(reached[-1]) // needed.denominator)
    return values[order[np.searchsorted(reached, least)]].item()

"""The figure of every class for one released sensitive column, and a histogram of these figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.requirement import TOLERANCE
from ppdm_flow.core.requirement_families import OnSensitive
from ppdm_flow.core.results import Chart, FigureSeries
from ppdm_flow.mining.exposure.histograms import Histograms

Floats = npt.NDArray[np.float64]
R = TypeVar("R", bound=OnSensitive)

_MOST_BARS = 12
_TITLES = {
    "values": "values of `{}` that a class has",
    "distance": "how far the values of `{}` in a class are from the whole release",
    "share": "share of the most frequent value of `{}` in a class",
    "nats": "how far the frequency of a value of `{}` in a class is from the whole release",
    "times": "how much more frequent a value of `{}` is in a class than in the whole release",
}


@dataclass(frozen=True, slots=True, eq=False)
class ColumnFigures(Generic[R]):
    """One released column: ``each`` (classes,) is its figure in every class, infinite where it has none."""

    requirement: R
    column: str
    grouping: tuple[str, ...]
    histograms: Histograms
    each: Floats

    def beyond(self, bound: float, *, at_most: bool) -> npt.NDArray[np.bool_]:
        """Return which classes break the bound."""
        return exceeding(self.each, bound, at_most=at_most)

    def worst(self, *, at_most: bool) -> float | None:
        """Return the worst figure; None where there is no class, or none of a class."""
        return worst_of(self.each, at_most=at_most)


def exceeding(each: Floats, bound: float, *, at_most: bool) -> npt.NDArray[np.bool_]:
    """Return which figures break a bound, with the tolerance of every comparison."""
    slack = TOLERANCE * max(1.0, abs(bound))
    return np.asarray(each > bound + slack if at_most else each < bound - slack)


def worst_of(each: Floats, *, at_most: bool) -> float | None:
    """Return the worst of the figures of classes; None where there is none, or it is infinite."""
    if not len(each):
        return None
    value = float(each.max() if at_most else each.min())
    return value if np.isfinite(value) else None


def picture(requirement: Any, judged: Any, bound: float, unit: str, *, at_most: bool) -> Iterator[Chart]:
    """Yield rows by the figure of their class; none where no class has one."""
    finite = np.isfinite(judged.each)
    if not finite.any():
        return
    each, rows = judged.each[finite], judged.histograms.rows[finite]
    names, place = _bins(each, integers=unit == "values")
    counted = np.bincount(place, rows, len(names))
    side = "most" if at_most else "least"
    yield Chart(
        id=f"{requirement.id}.by_{unit}",
        title=f"Rows by the {_TITLES[unit].format(requirement.attribute)}",
        kind="bars",
        x=names,
        series=(FigureSeries("released rows", tuple(float(n) for n in counted)),),
        x_label=unit,
        y_label="rows",
        note=f"At {side} {bound:g} is required.",
        group=requirement.kind,
    )


def _bins(each: npt.NDArray[np.float64], *, integers: bool) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
    """Return the names of the bins, and the bin of each figure."""
    low, high = float(each.min()), float(each.max())
    if integers and np.array_equal(each, np.floor(each)) and high - low < _MOST_BARS:
        return tuple(f"{i:,}" for i in range(int(low), int(high) + 1)), (each - low).astype(np.int64)
    if high <= low:
        return (f"{low:.3g}",), np.zeros(len(each), dtype=np.int64)
    edges = np.linspace(low, high, _MOST_BARS + 1)
    names = tuple(f"{a:.3g} to {b:.3g}" for a, b in pairwise(edges))
    place = np.clip(np.searchsorted(edges, each, side="right") - 1, 0, _MOST_BARS - 1)
    return names, place.astype(np.int64)

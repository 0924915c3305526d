"""How many rows are in classes with which figure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.results import Chart, Series

_MOST_BARS = 12
_TITLES = {
    "values": "values of `{}` that a class has",
    "distance": "how far the values of `{}` in a class are from the whole release",
    "share": "share of the most frequent value of `{}` in a class",
    "nats": "how far the frequency of a value of `{}` in a class is from the whole release",
    "times": "how much more frequent a value of `{}` is in a class than in the whole release",
}


def picture(requirement: Any, judged: Any, bound: float, unit: str, *, at_most: bool) -> Iterator[Chart]:
    """Yield rows by the figure of their class; none where no class has one."""
    finite = np.isfinite(judged.each)
    if not finite.any():
        return
    each, rows = judged.each[finite], judged.found.rows[finite]
    names, place = _bins(each, whole=unit == "values")
    counted = np.bincount(place, rows, len(names))
    side = "most" if at_most else "least"
    yield Chart(
        id=f"{requirement.id}.by_{unit}",
        title=f"Rows by the {_TITLES[unit].format(requirement.attribute)}",
        kind="bars",
        x=names,
        series=(Series("released rows", tuple(float(n) for n in counted)),),
        x_label=unit,
        y_label="rows",
        note=f"At {side} {bound:g} is required.",
        group=requirement.kind,
    )


def _bins(each: npt.NDArray[np.float64], *, whole: bool) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
    """Return the names of the bins, and the bin of each figure."""
    low, high = float(each.min()), float(each.max())
    if whole and np.array_equal(each, np.floor(each)) and high - low < _MOST_BARS:
        return tuple(f"{i:,}" for i in range(int(low), int(high) + 1)), (each - low).astype(np.int64)
    if high <= low:
        return (f"{low:.3g}",), np.zeros(len(each), dtype=np.int64)
    edges = np.linspace(low, high, _MOST_BARS + 1)
    names = tuple(f"{a:.3g} to {b:.3g}" for a, b in pairwise(edges))
    place = np.clip(np.searchsorted(edges, each, side="right") - 1, 0, _MOST_BARS - 1)
    return names, place.astype(np.int64)

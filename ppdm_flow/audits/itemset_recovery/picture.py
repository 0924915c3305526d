"""The bucket tables of the talk as bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.itemset_recovery.matching import Matched, Recovery
from ppdm_flow.core.results import Chart, Series

PARTS = (0.5, 0.75, 1.0)
"""Ends of the buckets, as parts of the minimum support: 0.1, 0.15 and 0.2 % in the talk."""


def buckets(supports: npt.NDArray[np.float64], share: float) -> tuple[int, ...]:
    """Return how many supports lie below each end, from the one before on, and how many at or above the last."""
    ends = np.array(PARTS) * share
    return tuple(np.bincount(np.searchsorted(ends, supports, side="right"), minlength=len(ends) + 1).tolist())


def charts(found: Recovery) -> tuple[Chart, ...]:
    """Return both tables; without those that have nothing in them."""
    predicted = _chart(
        "predicted",
        "Predicted supports of truly frequent itemsets",
        found,
        lambda one: None if one.predicted is None else one.predicted.value,
        "All in the last bucket would be all found; itemsets are also missed where a part of them was dropped.",
    )
    true = _chart(
        "true",
        "True supports of itemsets that are found",
        found,
        lambda one: one.found_true,
        "All in the last bucket would be no false positive.",
    )
    return tuple(chart for chart in (predicted, true) if chart is not None)


def _chart(
    name: str,
    title: str,
    found: Recovery,
    values: Callable[[Matched], npt.NDArray[np.float64] | None],
    note: str,
) -> Chart | None:
    series = [(one.size, here) for one in found.sizes if (here := values(one)) is not None and len(here)]
    if not series:
        return None
    return Chart(
        id=name,
        title=title,
        kind="bars",
        x=_labels(found.share),
        series=tuple(_series(size, buckets(here, found.share)) for size, here in series),
        x_label="support",
        y_label="itemsets",
        note=note,
        group="itemset_recovery",
    )


def _series(size: int, counts: Sequence[int]) -> Series:
    return Series(f"{size} item{'s' * (size > 1)}", tuple(float(n) for n in counts))


def _labels(share: float) -> tuple[str, ...]:
    ends = [f"{100 * part * share:.3g}" for part in PARTS]
    between = [f"{low} to {high} %" for low, high in pairwise(ends)]
    return (f"below {ends[0]} %", *between, f"{ends[-1]} % or more")

"""What the step tells: groups, and the share of the variance that they lose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Chart, Figure, FigureSeries, Finding
from ppdm_flow.mining.local_recoding.groups import ItemGroups

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class GroupingLoss:
    """Attributes that were grouped together, with their standardized ``points``, one array (items, axes) each.

    ``missing`` and ``emptied`` (items, attributes): cells that were missing, and those that became so.
    """

    names: tuple[str, ...]
    points: tuple[Floats, ...]
    weights: npt.NDArray[np.int64]
    groups: ItemGroups
    missing: npt.NDArray[np.bool_]
    emptied: npt.NDArray[np.bool_]

    @property
    def emptied_cells(self) -> int:
        """The cells that became missing, over all rows."""
        return int(self.weights @ self.emptied.sum(axis=1))

    def sums(self, at: int) -> tuple[float, float]:
        """Return the sums of squares within groups (SSE) and in all (SST) of one attribute, around means."""
        points, group, size = self.points[at], self.groups.group, max(1, self.groups.size)
        within = total = 0.0
        kept = ~self.emptied[:, at]
        records = np.maximum(np.bincount(group, self.weights, size), 1)
        for axis in points.T:
            mean = np.bincount(group, self.weights * axis, size) / records
            within += float(self.weights @ (axis - mean[group] * kept) ** 2)
            total += float(self.weights @ axis**2)
        return within, total

    @property
    def sizes(self) -> Floats:
        """The rows of each group."""
        return np.bincount(self.groups.group, self.weights, self.groups.size).astype(np.float64)


def figures(losses: Sequence[GroupingLoss]) -> dict[str, Figure]:
    """Return SSE / SST of each attribute and of all, standardized, before means are rounded; and group sizes.

    A cell that became missing has lost its whole distance from the mean of all.
    """
    own = {name: loss.sums(at) for loss in losses for at, name in enumerate(loss.names)}
    sizes = np.concatenate([loss.sizes for loss in losses])
    within, total = (sum(pair[i] for pair in own.values()) for i in range(2))
    none = "" if len(sizes) else "the table has no row"
    figures = {
        "information_loss": _share(within, total),
        "groups": Figure(len(sizes), "groups"),
        "smallest_group": Figure(int(sizes.min()) if len(sizes) else None, "rows", note=none),
        "average_group": Figure(float(sizes.mean()) if len(sizes) else None, "rows", note=none),
        "slices": Figure(max(loss.groups.slices for loss in losses), "slices"),
    }
    if any(loss.missing.any() for loss in losses):
        figures["emptied_cells"] = Figure(sum(loss.emptied_cells for loss in losses), "cells")
    return figures | {f"{name}.information_loss": _share(*pair) for name, pair in own.items()}


def _share(within: float, total: float) -> Figure:
    if total <= 0:
        return Figure(None, "share", note="all values are equal")
    return Figure(within / total, "share")


def findings(step: str, slices: int, most: int) -> tuple[Finding, ...]:
    """Say where groups were not looked for among all rows."""
    if slices < 2:
        return ()
    text = (
        f"`{step}` cut the distinct rows into {slices} slices of at most {most:,} along their first principal axis and"
        " grouped each by itself: groups are as large as promised, others may lose less"
    )
    return (Finding("PPF883", Severity.INFO, text, step),)


def charts(step: str, losses: Sequence[GroupingLoss]) -> tuple[Chart, ...]:
    """Show what each attribute lost."""
    losses_shown = figures(losses)
    names = [n for loss in losses for n in loss.names if losses_shown[f"{n}.information_loss"].value is not None]
    if not names:
        return ()
    shares = tuple(float(losses_shown[f"{n}.information_loss"].value or 0.0) for n in names)
    return (
        Chart(
            id="information_loss",
            title=f"Step {step}: the share of the variance that groups lose",
            kind="bars",
            x=tuple(names),
            series=(FigureSeries("SSE / SST", shares),),
            y_label="share",
        ),
    )

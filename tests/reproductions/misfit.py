"""How far a reading's figures lie from the printed ones, as one number with a standard error.

A figure is off by the distance of its mean over the runs from the interval of the numbers that round to what is
printed: 0 within it, else on a logarithmic scale: ln for what has no upper end (dissimilarities, mean supports),
ln(p / (1 - p)) for shares (equal itemsets, NAS, rare_in_original), so that 90 against 95 per cent counts as 10 against
5. The misfit of a dataset is the mean of the squares over its figures, the joint misfit the mean over datasets; chess
at both minimum supports is one. Its standard error is that of the jackknife over runs. The *factor*, exp of the root of
a misfit, is by how much a figure (or its odds) is typically off.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from printed import PRINTED

Floats = npt.NDArray[np.float64]

KINDS = (
    "dissimilarity",
    "internal",
    "equal_itemsets",
    "support_difference",
    "new_support",
    "nas",
    "rare_in_original",
)
PERCENT = ("equal_itemsets", "rare_in_original")
SHARES = (*PERCENT, "nas")
LEAST = 1e-4
"""No figure and no share of it is taken for nearer to 0 (or 1) than this."""


def scale(figure: str, value: float) -> float:
    """Return where a value lies on the logarithmic scale of its figure."""
    kind = figure.rpartition(".")[2]
    if kind not in SHARES:
        return math.log(max(value, LEAST))
    share = min(max(value / (100 if kind in PERCENT else 1), LEAST), 1 - LEAST)
    return math.log(share / (1 - share))


def off(figure: str, measured: float) -> float:
    """Return the distance from the printed interval, above 0 where the figure is larger."""
    low, high = scale(figure, PRINTED[figure].low), scale(figure, PRINTED[figure].high)
    at = scale(figure, measured)
    return at - high if at > high else min(at - low, 0.0)


def factor(misfit: float) -> float:
    """Return by how much a figure is typically off."""
    return math.exp(math.sqrt(misfit))


def dataset(figure: str) -> str:
    """Return the dataset of a figure; chess at both minimum supports is one."""
    return figure.rpartition(".")[0].replace("chess50", "chess")


@dataclass(frozen=True, eq=False)
class Fit:
    """``figures``: the values of the runs of every judged figure, and the ``seconds`` that one run of all took."""

    figures: Mapping[str, Floats]
    seconds: float = 0.0

    @cached_property
    def means(self) -> dict[str, float]:
        return {figure: float(values.mean()) for figure, values in self.figures.items()}

    @cached_property
    def offs(self) -> dict[str, float]:
        return {figure: off(figure, mean) for figure, mean in self.means.items()}

    @cached_property
    def by_dataset(self) -> dict[str, Floats]:
        """The misfit of each dataset, then those with one run left out."""
        squares: dict[str, list[Floats]] = {}
        for figure, values in self.figures.items():
            runs = len(values)
            left_out = (values.sum() - values) / (runs - 1) if runs > 1 else values[:0]
            means = [float(values.mean()), *left_out.tolist()]
            squares.setdefault(dataset(figure), []).append(np.array([off(figure, m) ** 2 for m in means]))
        return {name: np.mean(each, axis=0) for name, each in squares.items()}

    @property
    def misfit(self) -> float:
        return float(np.mean([each[0] for each in self.by_dataset.values()]))

    @property
    def error(self) -> float:
        """The standard error of the misfit."""
        return jackknife(self.by_dataset)

    @property
    def by_kind(self) -> dict[str, float]:
        """The misfit over the figures of each kind."""
        kinds: dict[str, list[float]] = {}
        for figure, distance in self.offs.items():
            kinds.setdefault(figure.rpartition(".")[2], []).append(distance**2)
        return {kind: float(np.mean(kinds[kind])) for kind in KINDS if kind in kinds}

    def against(self, other: Fit) -> tuple[float, float]:
        """Return by how much the misfit exceeds the other's, and the standard error: runs of both share their seeds."""
        difference = {name: each - other.by_dataset[name] for name, each in self.by_dataset.items()}
        return self.misfit - other.misfit, jackknife(difference)

    def rules_out(self, other: Fit) -> list[str]:
        """Return figures, worst first, that are off by half or more and more so than the other fit's.

        More so by over three standard errors of the means, on the figure's scale.
        """
        found = []
        for figure, distance in self.offs.items():
            worse = abs(distance) - abs(other.offs[figure])
            noise = math.hypot(spread(figure, self.figures[figure]), spread(figure, other.figures[figure]))
            if abs(distance) > math.log(1.5) and worse > max(3 * noise, 0.05):
                found.append((-worse, figure))
        return [figure for _, figure in sorted(found)]


def spread(figure: str, values: Floats) -> float:
    """Return the standard error of the mean on the figure's scale."""
    if len(values) < 2:
        return 0.0
    scaled = np.array([scale(figure, v) for v in values.tolist()])
    return float(scaled.std(ddof=1) / math.sqrt(len(values)))


def jackknife(by_dataset: Mapping[str, Floats]) -> float:
    """Return the standard error of the mean over datasets, whose runs are independent."""
    variance = 0.0
    for each in by_dataset.values():
        left_out = each[1:]
        if len(left_out) > 1:
            variance += (len(left_out) - 1) * float(left_out.var())
    return math.sqrt(variance) / max(len(by_dataset), 1)

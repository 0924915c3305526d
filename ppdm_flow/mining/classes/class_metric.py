"""The metric of a requirement on sensitive values in classes: a figure for each class, and the worst of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.people import PeopleFigure
from ppdm_flow.core.requirement import TOLERANCE
from ppdm_flow.core.requirement_families import OnSensitive
from ppdm_flow.core.results import Chart, Figure, FigureSeries, Measured
from ppdm_flow.mining.exposure.histograms import Histograms
from ppdm_flow.mining.people.values import PeopleValues
from ppdm_flow.sdk.audit import AuditContext

Names = Callable[[], Sequence[str | None]]
"""Returns the sensitive values that occur, None for a missing one, when called."""
Floats = npt.NDArray[np.float64]
R = TypeVar("R", bound=OnSensitive)


class ClassMetric(ABC, Generic[R]):
    """Defines the figure of a class, and which figure is the worst; each requirement has a subclass."""

    kind: ClassVar[type[Any]]
    metric: ClassVar[str]
    unit: ClassVar[str]
    at_most: ClassVar[bool]

    def __init__(self, params: Any) -> None:
        self.params = params

    @abstractmethod
    def bound(self, requirement: R) -> float:
        """Return the bound of the figure."""

    @abstractmethod
    def each(self, requirement: R, histograms: Histograms, ctx: AuditContext) -> Floats:
        """Return the figure of each class; infinite where it has none. Raises UnrankedError."""

    @abstractmethod
    def query(self, requirement: R, names: Names, ctx: AuditContext) -> tuple[str, list[Any]]:
        """Return a SELECT of (id, v) over ``cells``, ``sizes`` and ``base``, and its parameters.

        ``names`` gives the values that occur.
        """

    @abstractmethod
    def sentence(self, judged: ColumnFigures[R], value: float) -> str:
        """Return what it means, where every class has a figure."""

    def without(self, _judged: ColumnFigures[R]) -> str:
        """Return what it means that some class has no figure."""
        return "There is no row to measure, so nothing can be said of it."

    def counts(self, _requirement: R) -> bool:
        """Return whether the figure is a whole number."""
        return False

    def further(self, _judged: ColumnFigures[R]) -> Mapping[str, Figure]:
        """Return further figures."""
        return {}

    def of_shares(self, _requirement: R) -> bool:
        """Return whether the figure is one of shares: then it is taken on the mean of mixed cells as well."""
        return True

    def people_figure(self, _requirement: R) -> PeopleFigure:
        """Return what counts where a person can have several rows."""
        return PeopleFigure.DISTRIBUTION

    def _each_of_people(self, requirement: R, read: PeopleValues, ctx: AuditContext) -> Floats:
        """Return the figure of each group, by people, or the worse of that and of the mean of mixed cells."""
        figure = self.people_figure(requirement)
        if figure is PeopleFigure.DISTINCT:
            return read.groups.distinct.astype(np.float64)
        both = read.groups, read.parts
        confidence = figure is PeopleFigure.CONFIDENCE
        of, parts = (None if g is None else (g.confidences if confidence else g.weights) for g in both)
        if of is None:
            raise ValueError("people were read without groups, and a figure of classes needs them")
        return self._each(requirement, of, read.mean(parts), ctx)

    def _badness(self, value: float | None) -> float:
        if value is None:
            return float("inf")
        return value if self.at_most else -value

    def _worst(self, judged: Sequence[ColumnFigures[R]]) -> ColumnFigures[R]:
        """Return the way of reading by which the figure is worst: mostly there is but one."""
        return max(judged, key=lambda j: self._badness(j.worst(at_most=self.at_most)))

    def _summed(self, requirement: R, each: Floats, rows: Floats) -> dict[str, Any]:
        """Return the figures of the second route from those of its classes."""
        out = exceeding(each, self.bound(requirement), at_most=self.at_most)
        return {
            "worst": worst_of(each, at_most=self.at_most),
            "classes": len(each),
            "rows_beyond": round(float(rows[out].sum())),
            "classes_beyond": int(out.sum()),
        }

    def _each(self, requirement: R, histograms: Histograms, mean: Histograms | None, ctx: AuditContext) -> Floats:
        """Return the figure of each class, or the worse of its crowd's and of the mean of its mixed cells."""
        each = self.each(requirement, histograms, ctx)
        if mean is None or not self.of_shares(requirement):
            return each
        of_mean = self.each(requirement, mean, ctx)
        return np.maximum(each, of_mean) if self.at_most else np.minimum(each, of_mean)

    def _worst_figures(self, judged: Sequence[ColumnFigures[R]]) -> dict[str, Figure]:
        """Return the worst over all ways of reading: of classes and rows beyond the bound, the most of one way."""
        one = self._worst(judged)
        beyond = [j.beyond(self.bound(j.requirement), at_most=self.at_most) for j in judged]
        worst = one.worst(at_most=self.at_most)
        note = "" if worst is not None else self.without(one)
        value = int(worst) if worst is not None and self.counts(one.requirement) else worst
        rows = (int(j.histograms.rows[b].sum()) for j, b in zip(judged, beyond, strict=True))
        return {
            self.metric: Figure(value, self.unit, note=note),
            "classes": Figure(len(judged[0].histograms), "classes"),
            "classes_beyond": Figure(max(int(b.sum()) for b in beyond), "classes"),
            "rows_beyond": Figure(max(rows), "rows"),
        }

    def _judge_figure(
        self, requirement: R, metric: str, figure: Figure, text: str, *, verifiable: bool = True
    ) -> Measured:
        return Measured(requirement.id, metric, figure, self.bound(requirement), self.at_most, text, verifiable)


# The figure of every class for one released sensitive column, and a histogram of these figures.


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

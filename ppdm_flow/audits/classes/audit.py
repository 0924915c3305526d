"""What audits of sensitive values in classes have in common: one figure for each class, and the worst of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.classes.faults import UnmeasuredError, require_true_values
from ppdm_flow.audits.classes.histograms import Histograms, histograms
from ppdm_flow.audits.classes.picture import picture
from ppdm_flow.audits.classes.query import Query
from ppdm_flow.audits.classes.wording import left_out, treatment, unmeasured, unreleased
from ppdm_flow.audits.release import carriers, released
from ppdm_flow.core.anonymity import OnSensitive
from ppdm_flow.core.requirements import TOLERANCE
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, Finding, Measured
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

Floats = npt.NDArray[np.float64]
R = TypeVar("R", bound=OnSensitive)


@dataclass(frozen=True, slots=True, eq=False)
class Judged(Generic[R]):
    """One released column: ``each`` (classes,) is its figure in every class, infinite where it has none."""

    requirement: R
    column: str
    grouping: tuple[str, ...]
    found: Histograms
    each: Floats

    def beyond(self, bound: float, *, at_most: bool) -> npt.NDArray[np.bool_]:
        """Return which classes break the bound."""
        slack = TOLERANCE * max(1.0, abs(bound))
        return np.asarray(self.each > bound + slack if at_most else self.each < bound - slack)

    def worst(self, *, at_most: bool) -> float | None:
        """Return the worst figure; None where there is no class, or none of a class."""
        if not len(self.each):
            return None
        value = float(self.each.max() if at_most else self.each.min())
        return value if np.isfinite(value) else None


class SensitiveAudit(ABC, Generic[R]):
    """Counts classes and sensitive values together; a subclass says what the figure of a class is."""

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
    def each(self, requirement: R, found: Histograms, ctx: AuditContext) -> Floats:
        """Return the figure of each class; infinite where it has none. Raises UnrankedError."""

    @abstractmethod
    def query(self, requirement: R, names: Sequence[str | None], ctx: AuditContext) -> tuple[str, list[Any]]:
        """Return a SELECT of (id, v) over ``cells``, ``sizes`` and ``base``, and its parameters.

        ``names`` are the values that occur, None for a missing one.
        """

    @abstractmethod
    def sentence(self, judged: Judged[R], value: float) -> str:
        """Return what it means, where every class has a figure."""

    def without(self, _judged: Judged[R]) -> str:
        """Return what it means that some class has no figure."""
        return "There is no row to measure, so nothing can be said of it."

    def counts(self, _requirement: R) -> bool:
        """Return whether the figure is a whole number."""
        return False

    def further(self, _judged: Judged[R]) -> Mapping[str, Figure]:
        """Return further figures."""
        return {}

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the worst class of each requirement, and what exceeds the bound."""
        del original
        figures: dict[str, Figure] = {}
        measured: list[Measured] = []
        findings: list[Finding] = []
        charts: list[Chart] = []
        for requirement in self._own(ctx):
            columns = carriers(requirement.attribute, candidate, ctx)
            if not columns:
                measured.append(unreleased(requirement))
                continue
            try:
                judged = self._worst(requirement, columns, candidate, ctx)
            except UnmeasuredError as fault:
                measured.append(self._unverified(requirement, fault))
                findings.append(unmeasured(requirement.id, fault))
                continue
            own = self._figures(judged)
            figures |= own
            measured.append(self._measured(judged, own, ctx))
            findings.extend(left_out(requirement.id, judged.found.left_out))
            charts.extend(picture(requirement, judged, self.bound(requirement), self.unit, at_most=self.at_most))
        return AuditOutcome(figures, tuple(measured), tuple(findings), tuple(charts))

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Compute again, in SQL over the released file."""
        del original
        found: dict[str, float | int | None] = {}
        for requirement in self._own(ctx) if ctx.sql is not None else ():
            again = [
                self._again(requirement, column, candidate, ctx)
                for column in carriers(requirement.attribute, candidate, ctx)
            ]
            ranked = [a for a in again if a is not None]
            if ranked and len(ranked) == len(again):
                worst = max(ranked, key=lambda a: self._badness(a["worst"]))
                names = {"worst": self.metric}
                found |= {f"{requirement.id}.{names.get(n, n)}": v for n, v in worst.items()}
        return found

    def _own(self, ctx: AuditContext) -> list[R]:
        return [r for r in ctx.requirements if isinstance(r, self.kind)]

    def _badness(self, value: float | None) -> float:
        if value is None:
            return float("inf")
        return value if self.at_most else -value

    def _worst(self, requirement: R, columns: Sequence[str], candidate: DataView, ctx: AuditContext) -> Judged[R]:
        """Return the released column for which the figure is worst: mostly there is but one."""
        every = [self._judged(requirement, column, candidate, ctx) for column in columns]
        return max(every, key=lambda j: self._badness(j.worst(at_most=self.at_most)))

    def _judged(self, requirement: R, column: str, candidate: DataView, ctx: AuditContext) -> Judged[R]:
        require_true_values(column, ctx)
        grouping = tuple(c for c in released(requirement.attributes, candidate, ctx) if c != column)
        found = histograms(candidate.counts((*grouping, column)), ctx.nulls)
        return Judged(requirement, column, grouping, found, self.each(requirement, found, ctx))

    def _again(
        self, requirement: R, column: str, candidate: DataView, ctx: AuditContext
    ) -> dict[str, float | int | None] | None:
        if ctx.sql is None:
            return None
        grouping = tuple(c for c in released(requirement.attributes, candidate, ctx) if c != column)
        query = Query(ctx.sql, candidate.schema, grouping, column, ctx.nulls)
        try:
            require_true_values(column, ctx)
            each, parameters = self.query(requirement, query.values(), ctx)
        except UnmeasuredError:
            return None
        bound = self.bound(requirement)
        return query.worst(each, bound, at_most=self.at_most, parameters=parameters)

    def _figures(self, judged: Judged[R]) -> dict[str, Figure]:
        name, beyond = judged.requirement.id, judged.beyond(self.bound(judged.requirement), at_most=self.at_most)
        worst = judged.worst(at_most=self.at_most)
        note = "" if worst is not None else self.without(judged)
        value = int(worst) if worst is not None and self.counts(judged.requirement) else worst
        figures = {
            self.metric: Figure(value, self.unit, note=note),
            "classes": Figure(len(judged.found), "classes"),
            "classes_beyond": Figure(int(beyond.sum()), "classes"),
            "rows_beyond": Figure(int(judged.found.rows[beyond].sum()), "rows"),
            "rows_left_out": Figure(judged.found.left_out, "rows"),
            **self.further(judged),
        }
        return {f"{name}.{key}": figure for key, figure in figures.items()}

    def _measured(self, judged: Judged[R], figures: Mapping[str, Figure], ctx: AuditContext) -> Measured:
        requirement = judged.requirement
        metric = f"{requirement.id}.{self.metric}"
        figure = figures[metric]
        text = self.without(judged) if figure.value is None else self.sentence(judged, float(figure.value))
        text += treatment(ctx.nulls, judged.found.left_out)
        return Measured(requirement.id, metric, figure, self.bound(requirement), at_most=self.at_most, sentence=text)

    def _unverified(self, requirement: R, fault: UnmeasuredError) -> Measured:
        figure = Figure(None, self.unit, note=fault.text)
        metric, bound = f"{requirement.id}.{self.metric}", self.bound(requirement)
        return Measured(requirement.id, metric, figure, bound, self.at_most, fault.text, verifiable=False)

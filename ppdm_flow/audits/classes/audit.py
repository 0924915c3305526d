"""What audits of sensitive values in classes have in common: one figure for each class, and the worst of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic

from ppdm_flow.audits.classes import beside
from ppdm_flow.audits.classes.faults import UnmeasuredError, require_true_values
from ppdm_flow.audits.classes.histograms import Histograms, histograms
from ppdm_flow.audits.classes.judged import Floats, Judged, R
from ppdm_flow.audits.classes.measures import PREFIX
from ppdm_flow.audits.classes.picture import picture
from ppdm_flow.audits.classes.rows import Alone, Rows
from ppdm_flow.audits.classes.wording import left_out, treatment, unmeasured, unreleased
from ppdm_flow.audits.release import carriers, released
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, Finding, Measured
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView


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
                judged = self._worst(requirement, columns, Alone(candidate, ctx), candidate, ctx)
            except UnmeasuredError as fault:
                measured.append(self._unverified(requirement, fault))
                findings.append(unmeasured(requirement.id, fault))
                continue
            own = self._figures(judged)
            figures |= own
            measured.append(self._measured(judged, own, ctx))
            if beside.asked(ctx):
                beyond, held = self._beside(judged, columns, candidate, ctx)
                figures |= beyond
                measured.append(held)
            findings.extend(left_out(requirement.id, judged.found.left_out))
            charts.extend(picture(requirement, judged, self.bound(requirement), self.unit, at_most=self.at_most))
        return AuditOutcome(figures, tuple(measured), tuple(findings), tuple(charts))

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Compute again, in SQL over the released file."""
        del original
        found: dict[str, float | int | None] = {}
        together = beside.rows(candidate, ctx)
        for requirement in self._own(ctx):
            own = self._again(requirement, Alone(candidate, ctx), candidate, ctx)
            found |= {f"{requirement.id}.{n}": v for n, v in own.items()}
            if together is not None:
                if not isinstance(together, Alone):
                    own = self._again(requirement, together, candidate, ctx)
                found |= {f"{requirement.id}.{PREFIX}{n}": v for n, v in own.items()}
        return found

    def _own(self, ctx: AuditContext) -> list[R]:
        return [r for r in ctx.requirements if isinstance(r, self.kind)]

    def _badness(self, value: float | None) -> float:
        if value is None:
            return float("inf")
        return value if self.at_most else -value

    def _worst(
        self, requirement: R, columns: Sequence[str], rows: Rows, candidate: DataView, ctx: AuditContext
    ) -> Judged[R]:
        """Return the released column for which the figure is worst: mostly there is but one."""
        every = [self._judged(requirement, column, rows, candidate, ctx) for column in columns]
        return max(every, key=lambda j: self._badness(j.worst(at_most=self.at_most)))

    def _judged(self, requirement: R, column: str, rows: Rows, candidate: DataView, ctx: AuditContext) -> Judged[R]:
        require_true_values(column, ctx)
        grouping = tuple(c for c in released(requirement.attributes, candidate, ctx) if c != column)
        found = histograms(rows.counts(grouping, column), ctx.nulls)
        return Judged(requirement, column, grouping, found, self.each(requirement, found, ctx))

    def _again(
        self, requirement: R, rows: Rows, candidate: DataView, ctx: AuditContext
    ) -> dict[str, float | int | None]:
        """Return the figures of the second route; none where there are none."""
        every = [
            self._column(requirement, column, rows, candidate, ctx)
            for column in carriers(requirement.attribute, candidate, ctx)
        ]
        ranked = [found for found in every if found is not None]
        if not ranked or len(ranked) < len(every):
            return {}
        worst = max(ranked, key=lambda found: self._badness(found["worst"]))
        names = {"worst": self.metric}
        return {names.get(n, n): v for n, v in worst.items()}

    def _column(
        self, requirement: R, column: str, rows: Rows, candidate: DataView, ctx: AuditContext
    ) -> dict[str, float | int | None] | None:
        grouping = tuple(c for c in released(requirement.attributes, candidate, ctx) if c != column)
        query = rows.query(grouping, column)
        if query is None:
            return None
        try:
            require_true_values(column, ctx)
            each, parameters = self.query(requirement, query.values(), ctx)
        except UnmeasuredError:
            return None
        return query.worst(each, self.bound(requirement), at_most=self.at_most, parameters=parameters)

    def _beside(
        self, alone: Judged[R], columns: Sequence[str], candidate: DataView, ctx: AuditContext
    ) -> tuple[dict[str, Figure], Measured]:
        """Judge the groups of people that all releases together leave, as classes are."""
        requirement = alone.requirement
        name, bound = f"{requirement.id}.{PREFIX}{self.metric}", self.bound(requirement)
        rows = beside.rows(candidate, ctx)
        if rows is None:
            why = beside.obstacle(ctx)
            return {}, self._held(requirement, name, Figure(None, self.unit, note=why), why, verifiable=False)
        judged = alone if isinstance(rows, Alone) else self._worst(requirement, columns, rows, candidate, ctx)
        figures = {f"{requirement.id}.{PREFIX}{n}": f for n, f in self._worst_figures(judged).items()}
        broken = judged.beyond(bound, at_most=self.at_most)
        colliding = [
            earlier.name
            for earlier, told in (beside.one_by_one(candidate, ctx) if broken.any() else ())
            if self._worst(requirement, columns, told, candidate, ctx).beyond(bound, at_most=self.at_most).any()
        ]
        side = "at most" if self.at_most else "at least"
        text = beside.sentence(
            f"{self.metric} of `{judged.column}`",
            figures[name].value,
            f"{side} {bound:g} is required",
            int(judged.found.rows[broken].sum()),
            ctx,
            colliding,
        )
        return figures, self._held(requirement, name, figures[name], text)

    def _figures(self, judged: Judged[R]) -> dict[str, Figure]:
        figures = self._worst_figures(judged) | {
            "rows_left_out": Figure(judged.found.left_out, "rows"),
            **self.further(judged),
        }
        return {f"{judged.requirement.id}.{key}": figure for key, figure in figures.items()}

    def _worst_figures(self, judged: Judged[R]) -> dict[str, Figure]:
        beyond = judged.beyond(self.bound(judged.requirement), at_most=self.at_most)
        worst = judged.worst(at_most=self.at_most)
        note = "" if worst is not None else self.without(judged)
        value = int(worst) if worst is not None and self.counts(judged.requirement) else worst
        return {
            self.metric: Figure(value, self.unit, note=note),
            "classes": Figure(len(judged.found), "classes"),
            "classes_beyond": Figure(int(beyond.sum()), "classes"),
            "rows_beyond": Figure(int(judged.found.rows[beyond].sum()), "rows"),
        }

    def _measured(self, judged: Judged[R], figures: Mapping[str, Figure], ctx: AuditContext) -> Measured:
        metric = f"{judged.requirement.id}.{self.metric}"
        figure = figures[metric]
        text = self.without(judged) if figure.value is None else self.sentence(judged, float(figure.value))
        return self._held(judged.requirement, metric, figure, text + treatment(ctx.nulls, judged.found.left_out))

    def _unverified(self, requirement: R, fault: UnmeasuredError) -> Measured:
        figure = Figure(None, self.unit, note=fault.text)
        return self._held(requirement, f"{requirement.id}.{self.metric}", figure, fault.text, verifiable=False)

    def _held(self, requirement: R, metric: str, figure: Figure, text: str, *, verifiable: bool = True) -> Measured:
        return Measured(requirement.id, metric, figure, self.bound(requirement), self.at_most, text, verifiable)

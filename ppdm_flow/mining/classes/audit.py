"""The common part of audits of sensitive values in classes: one figure for each class, and the worst of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ppdm_flow.core.people import PeopleFigure
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, Finding, Measured
from ppdm_flow.mining.classes import other_releases
from ppdm_flow.mining.classes.class_metric import ClassMetric, ColumnFigures, Floats, R, picture, worst_of
from ppdm_flow.mining.classes.measures import PREFIX, TOGETHER
from ppdm_flow.mining.classes.wording import as_they_are, intersected, left_out, treatment, unmeasured, unreleased
from ppdm_flow.mining.exposure.columns import ValueColumns, carriers, columns, made_of, readings
from ppdm_flow.mining.exposure.faults import UnmeasuredError, require_true_values
from ppdm_flow.mining.exposure.histograms import Histograms, values
from ppdm_flow.mining.exposure.query import ClassQuery
from ppdm_flow.mining.exposure.repeated import Repetitions, as_they_were, of_originals, repeated
from ppdm_flow.mining.exposure.rows import CountedRows, ReleasedRows
from ppdm_flow.mining.exposure.together import (
    JointValues,
    findings_of_unaccounted,
    joint_distinct_sql,
    joint_tables,
    joint_values,
)
from ppdm_flow.mining.people.figures import require_people
from ppdm_flow.mining.people.known import KnownRows, may_link
from ppdm_flow.mining.people.known_query import KnownQuery, require_linkable_sql
from ppdm_flow.mining.people.query import PeopleQuery
from ppdm_flow.mining.people.values import people_values
from ppdm_flow.mining.people.wording import KNOWN, known_sentence
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView


class KnownRowsMetric(ClassMetric[R]):
    """Adds the worst figure over the people who have the known rows of one person."""

    def _known(
        self, requirement: R, ways: Sequence[ValueColumns], candidate: DataView, ctx: AuditContext
    ) -> list[Measured]:
        """Judge what somebody finds who knows several rows of a person, or sees which rows are one person's."""
        if ctx.people is None:
            return []
        revealing = columns(requirement.attributes, (requirement.attribute,), candidate, ctx)
        confidences = self.people_figure(requirement) is PeopleFigure.CONFIDENCE
        if not confidences and not may_link(revealing, candidate, ctx):
            return []
        worst: list[float] = []
        linked = ""
        for way in ways:
            known = KnownRows.of(revealing, way, candidate, ctx, chances=confidences)
            linked = linked or known.linked_by
            if self.people_figure(requirement) is PeopleFigure.DISTINCT:
                least = known.least_distinct()
                worst += [] if least is None else [float(least)]
                continue
            every = [*known.histograms(confidences=confidences), *known.chances(confidences=confidences)]
            each = [self.each(requirement, one, ctx) for one in every]
            worst += [float(one.max() if self.at_most else one.min()) for one in each if len(one)]
        if not worst:
            return []
        value = max(worst, key=self._badness)
        figure = Figure(value if np.isfinite(value) else None, self.unit)
        article = "an" if self.metric in ("alpha", "l") else "a"
        what = f"{article} {self.metric} of `{requirement.attribute}`"
        text = known_sentence(what, figure, self.bound(requirement), ctx.people, at_most=self.at_most) + linked
        return [self._judge_figure(requirement, f"{requirement.id}.{KNOWN}{self.metric}", figure, text)]

    def _known_sql(self, requirement: R, candidate: DataView, ctx: AuditContext) -> dict[str, float | None]:
        """Return the same by the second route. Raises UnmeasuredError as the first."""
        if ctx.people is None or ctx.sql is None:
            return {}
        require_people(ctx.people, ctx)
        revealing = columns(requirement.attributes, (requirement.attribute,), candidate, ctx)
        figure, worst = self.people_figure(requirement), list[float]()
        confidences = figure is PeopleFigure.CONFIDENCE
        for way in readings(requirement.attribute, candidate, ctx):
            query = KnownQuery.of_known(ctx.sql, revealing, way, candidate, ctx, confidences=confidences)
            linked = query.links()
            if figure is PeopleFigure.DISTINCT:
                worst += [query.least_distinct()] if linked else []
                continue
            each, parameters = self.query(requirement, query.values, ctx)
            one = query.worst_figure(each, parameters, at_most=self.at_most) if linked else None
            worst += [] if one is None else [one]
            if confidences:
                chances = query.chances_query(ctx.sql)
                worst += (
                    [] if chances is None else [chances.worst_figure(each, parameters, at_most=self.at_most) or 0.0]
                )
        if not worst:
            return {}
        value = max(worst, key=self._badness)
        return {f"{requirement.id}.{KNOWN}{self.metric}": value if np.isfinite(value) else None}


class SensitiveAudit(KnownRowsMetric[R]):
    """Measures and rechecks the metric over classes, alone and beside the other releases of the run."""

    def class_figures_sql(
        self, requirement: R, query: ClassQuery, ctx: AuditContext
    ) -> tuple[Floats, Floats] | dict[str, Any]:
        """Return the second route's figures by class, with the rows that belong to each, or all of them in one.

        Raises UnmeasuredError.
        """
        if isinstance(query, PeopleQuery) and self.people_figure(requirement) is PeopleFigure.DISTINCT:
            return query.matched()
        each, parameters = self.query(requirement, query.values, ctx)
        if not query.mixed:
            return query.worst(each, self.bound(requirement), at_most=self.at_most, parameters=parameters)
        if not self.of_shares(requirement):
            return query.figures(each, parameters)
        figures, mean, rows = query.figures_and_means(each, parameters)
        return np.maximum(figures, mean) if self.at_most else np.minimum(figures, mean), rows

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the worst class of each requirement, and what exceeds the bound."""
        del original
        figures: dict[str, Figure] = {}
        measured: list[Measured] = []
        findings: list[Finding] = []
        charts: list[Chart] = []
        for requirement in self._own(ctx):
            ways = readings(requirement.attribute, candidate, ctx)
            try:
                if not ways:  # cells that others hid, and other files, may reveal it all the same
                    further = self._together(requirement, ctx)
                    figures |= further[0]
                    measured.extend(further[1] or [unreleased(requirement)])
                    findings.extend(findings_of_unaccounted(further[1]))
                    continue
                judged = self._judged(requirement, ways, ReleasedRows(candidate, ctx), candidate, ctx)
                known = self._known(requirement, ways, candidate, ctx)
                own = self._figures(judged)
                figures |= own
                measured.append(self._measured(judged, own, candidate, ctx))
                further = self._together(requirement, ctx)
                figures |= further[0]
                measured.extend(further[1])
                findings.extend(findings_of_unaccounted(further[1]))
                figures |= {m.metric: m.figure for m in known}
                measured.extend(known)
                if other_releases.applies(ctx):
                    beyond, measured_beyond = self._beside(judged[0], ways, candidate, ctx)
                    figures |= beyond
                    measured.append(measured_beyond)
            except UnmeasuredError as fault:
                measured.append(self._unverified(requirement, fault))
                findings.append(unmeasured(requirement.id, fault))
                continue
            findings.extend(left_out(requirement.id, judged[0].histograms.left_out))
            secret = (requirement.attribute,)
            findings.extend(as_they_are(requirement.id, (*requirement.attributes, *secret), secret, candidate, ctx))
            bound = self.bound(requirement)
            charts.extend(picture(requirement, self._worst(judged), bound, self.unit, at_most=self.at_most))
        return AuditOutcome(figures, tuple(measured), tuple(findings), tuple(charts))

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Compute again, in SQL over the released file."""
        del original
        figures: dict[str, float | int | None] = {}
        joint_values = other_releases.rows(candidate, ctx)
        for requirement in self._own(ctx):
            try:
                known = self._known_sql(requirement, candidate, ctx)
            except UnmeasuredError:
                continue
            own = self._figures_sql(requirement, ReleasedRows(candidate, ctx), candidate, ctx)
            if own is None:
                continue
            figures |= {f"{requirement.id}.{n}": v for n, v in own.items()}
            figures |= known if own else {}
            others = self._together_sql(requirement, ctx)
            figures |= {f"{requirement.id}.{TOGETHER}{n}": v for n, v in others.items()}
            if joint_values is not None:
                if not isinstance(joint_values, ReleasedRows):
                    own = self._figures_sql(requirement, joint_values, candidate, ctx) or {}
                figures |= {f"{requirement.id}.{PREFIX}{n}": v for n, v in own.items()}
        return figures

    def _own(self, ctx: AuditContext) -> list[R]:
        return [r for r in ctx.requirements if isinstance(r, self.kind)]

    def _judged(
        self, requirement: R, ways: Sequence[ValueColumns], rows: CountedRows, candidate: DataView, ctx: AuditContext
    ) -> list[ColumnFigures[R]]:
        """Judge each way of reading the values. Raises UnmeasuredError."""
        require_true_values(requirement.attribute, carriers(requirement.attribute, candidate, ctx), ctx)
        revealing = columns(requirement.attributes, (requirement.attribute,), candidate, ctx)
        if ctx.people is not None:
            require_people(ctx.people, ctx)
            return [
                ColumnFigures(
                    requirement, way.name, revealing.every, r.histograms, self._each_of_people(requirement, r, ctx)
                )
                for way, r in zip(ways, people_values(revealing, ways, rows, ctx.nulls, ctx.people), strict=True)
            ]
        judged = []
        for read in values(revealing, ways, rows, ctx.nulls):
            each = self._each(requirement, read.histograms, read.mean, ctx)
            judged.append(ColumnFigures(requirement, read.reading.name, revealing.every, read.histograms, each))
        originals = self._originals(requirement, candidate, ctx)
        if originals is not None:
            original_values = values(of_originals(revealing), as_they_were(requirement.attribute), originals, ctx.nulls)
            judged.extend(
                ColumnFigures(
                    requirement,
                    r.reading.name,
                    revealing.every,
                    r.histograms,
                    self.each(requirement, r.histograms, ctx),
                )
                for r in original_values
                if len(r.histograms)
            )
        return judged

    def _originals(self, requirement: R, candidate: DataView, ctx: AuditContext) -> Repetitions | None:
        """Return the original rows that generated ones repeat: shares are the worse of both. Raises UnmeasuredError."""
        secret = (requirement.attribute,)
        return repeated(requirement.attributes, secret, secret, candidate, ctx)

    def _figures_sql(
        self, requirement: R, rows: CountedRows, candidate: DataView, ctx: AuditContext
    ) -> dict[str, float | int | None] | None:
        """Return the figures of the second route; none where nothing carries the attribute.

        None where they cannot be measured.
        """
        if ctx.sql is None:
            return None
        by_way: list[dict[str, Any]] = []
        try:
            require_true_values(requirement.attribute, carriers(requirement.attribute, candidate, ctx), ctx)
            for query in self._queries(requirement, rows, candidate, ctx, ctx.sql):
                class_figures = self.class_figures_sql(requirement, query, ctx)
                by_way.append(
                    class_figures if isinstance(class_figures, dict) else self._summed(requirement, *class_figures)
                )
        except UnmeasuredError:
            return None
        if not by_way:
            return {}
        judged = [by_way[0], *(f for f in by_way[1:] if f["classes"])]  # generated rows may repeat no original one
        return {
            self.metric: max((f["worst"] for f in judged), key=self._badness),
            "classes": by_way[0]["classes"],
            "rows_beyond": max(f["rows_beyond"] for f in by_way),
            "classes_beyond": max(f["classes_beyond"] for f in by_way),
        }

    def _queries(
        self, requirement: R, rows: CountedRows, candidate: DataView, ctx: AuditContext, sql: Sql
    ) -> Iterator[ClassQuery]:
        """Yield the second route to each way of reading. Raises UnmeasuredError."""
        revealing = columns(requirement.attributes, (requirement.attribute,), candidate, ctx)
        ways = readings(requirement.attribute, candidate, ctx)
        if ctx.people is not None:
            require_people(ctx.people, ctx)
            confidences = self.people_figure(requirement) is PeopleFigure.CONFIDENCE
            require_linkable_sql(sql, revealing, candidate, ctx, chances=confidences)
            for way in ways:
                yield PeopleQuery.of_people(sql, rows, revealing, way, ctx.nulls, ctx.people, confidences=confidences)
            return
        for way in ways:
            yield ClassQuery.of_rows(sql, rows, revealing, way, ctx.nulls)
        originals = self._originals(requirement, candidate, ctx) if ways else None
        if originals is not None:
            for way in as_they_were(requirement.attribute):
                yield ClassQuery.of_rows(sql, originals, of_originals(revealing), way, ctx.nulls)

    def _together(self, requirement: R, ctx: AuditContext) -> tuple[dict[str, Figure], list[Measured]]:
        """Judge what the run's releases tell together; nothing where the others tell nothing of these rows."""
        column, metric = requirement.attribute, f"{requirement.id}.{TOGETHER}{self.metric}"
        try:
            joint = joint_values(requirement.attributes, column, ctx, self.people_figure(requirement))
        except UnmeasuredError as fault:
            unknown = Figure(None, self.unit, note=fault.text)
            return {}, [self._judge_figure(requirement, metric, unknown, fault.text, verifiable=False)]
        if joint is None:
            return {}, []
        judged = [
            ColumnFigures(requirement, column, requirement.attributes, histograms, each)
            for histograms, each in self._each_joint(requirement, joint, ctx)
        ]
        figures = {f"{requirement.id}.{TOGETHER}{n}": f for n, f in self._worst_figures(judged).items()}
        bound = self.bound(requirement)
        text = intersected(
            f"the {self.metric} of `{column}`",
            figures[metric].value,
            f"{'at most' if self.at_most else 'at least'} {bound:g} is required",
            int(figures[f"{requirement.id}.{TOGETHER}rows_beyond"].value or 0),
            joint.names,
        )
        return figures, [self._judge_figure(requirement, metric, figures[metric], text)]

    def _each_joint(self, requirement: R, joint: JointValues, ctx: AuditContext) -> Iterator[tuple[Histograms, Floats]]:
        """Yield each way to read the groups, with the figure of each group."""
        if joint.distinct:
            yield from zip(joint.histograms, joint.distinct, strict=True)
            return
        confidence = self.people_figure(requirement) is PeopleFigure.CONFIDENCE
        for histograms in joint.histograms:
            each = self.each(requirement, histograms, ctx)
            yield histograms, np.maximum(each, joint.together) if confidence and joint.together else each

    def _together_sql(self, requirement: R, ctx: AuditContext) -> dict[str, Any]:
        """Return the figures of the second route on what all releases leave."""
        if ctx.sql is None:
            return {}
        figure, about = self.people_figure(requirement), (requirement.attributes, requirement.attribute)
        try:
            joint = joint_values(*about, ctx, figure)
            if joint is None:
                return {}
            if figure is PeopleFigure.DISTINCT:
                return {self.metric: joint_distinct_sql(*about, ctx, ctx.sql)}
            worst = [joint.together] if figure is PeopleFigure.CONFIDENCE and joint.together else []
            for tables in joint_tables(*about, ctx, ctx.sql, figure):
                each, parameters = self.query(requirement, tables["base"]["s"].to_pylist, ctx)
                side = "MAX" if self.at_most else "MIN"
                text = f"SELECT {side}(COALESCE(CAST(v AS DOUBLE), 'Infinity'::DOUBLE)) FROM ({each})"  # noqa: S608  # our own query
                worst += [float(v) for (v,) in ctx.sql.rows(text, parameters, tables) if v is not None]
        except UnmeasuredError:
            return {}
        return {self.metric: worst_of(np.array(worst), at_most=self.at_most)}

    def _beside(
        self, alone: ColumnFigures[R], ways: Sequence[ValueColumns], candidate: DataView, ctx: AuditContext
    ) -> tuple[dict[str, Figure], Measured]:
        """Judge the groups of people that all releases together leave, as classes are."""
        requirement = alone.requirement
        name, bound = f"{requirement.id}.{PREFIX}{self.metric}", self.bound(requirement)
        rows = other_releases.rows(candidate, ctx)
        if rows is None:
            why = other_releases.obstacle(ctx)
            return {}, self._judge_figure(requirement, name, Figure(None, self.unit, note=why), why, verifiable=False)
        judged = self._judged(requirement, ways, rows, candidate, ctx)
        figures = {f"{requirement.id}.{PREFIX}{n}": f for n, f in self._worst_figures(judged).items()}
        broken = int(figures[f"{requirement.id}.{PREFIX}rows_beyond"].value or 0)
        colliding = [
            earlier.name
            for earlier, rows_beside in (other_releases.one_by_one(candidate, ctx) if broken else ())
            if any(
                j.beyond(bound, at_most=self.at_most).any()
                for j in self._judged(requirement, ways, rows_beside, candidate, ctx)
            )
        ]
        side = "at most" if self.at_most else "at least"
        text = other_releases.sentence(
            f"{self.metric} of `{self._worst(judged).column}`",
            figures[name].value,
            f"{side} {bound:g} is required",
            broken,
            ctx,
            colliding,
        )
        return figures, self._judge_figure(requirement, name, figures[name], text)

    def _figures(self, judged: Sequence[ColumnFigures[R]]) -> dict[str, Figure]:
        figures = self._worst_figures(judged) | {
            "rows_left_out": Figure(judged[0].histograms.left_out, "rows"),
            **self.further(self._worst(judged)),
        }
        return {f"{judged[0].requirement.id}.{key}": figure for key, figure in figures.items()}

    def _measured(
        self, judged: Sequence[ColumnFigures[R]], figures: Mapping[str, Figure], candidate: DataView, ctx: AuditContext
    ) -> Measured:
        one = self._worst(judged)
        metric = f"{one.requirement.id}.{self.metric}"
        figure = figures[metric]
        text = self.without(one) if figure.value is None else self.sentence(one, float(figure.value))
        where = made_of((*one.grouping, *carriers(one.requirement.attribute, candidate, ctx)), ctx)
        return self._judge_figure(
            one.requirement, metric, figure, text + where + treatment(ctx.nulls, one.histograms.left_out)
        )

    def _unverified(self, requirement: R, fault: UnmeasuredError) -> Measured:
        figure = Figure(None, self.unit, note=fault.text)
        return self._judge_figure(requirement, f"{requirement.id}.{self.metric}", figure, fault.text, verifiable=False)

"""The metric of a requirement on classes for somebody who knows several rows of a person, by two routes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ppdm_flow.core.people import PeopleFigure
from ppdm_flow.core.results import Figure, Measured
from ppdm_flow.mining.classes.class_metric import ClassMetric
from ppdm_flow.mining.classes.column_figures import R
from ppdm_flow.mining.exposure.columns import ValueColumns, columns, readings
from ppdm_flow.mining.people.figures import require_people
from ppdm_flow.mining.people.known import KnownRows, may_link
from ppdm_flow.mining.people.known_query import KnownQuery
from ppdm_flow.mining.people.wording import KNOWN, known_sentence
from ppdm_flow.sdk.audit import AuditContext
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
        return [self._held(requirement, f"{requirement.id}.{KNOWN}{self.metric}", figure, text)]

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
